"""Core operations from compressed tensors to their elements, and from elements to integers of few bits.

They are not folded although their operands are constant, so that a program keeps its compressed form until an engine
prepares it: `constant_data` is decoded when it is read. Blocks: an operand with a value for each block of elements has
the rank of what it belongs to and divides each of its sizes. Numbers are computed in single precision and rounded once.
Source: Core ML MIL operation reference, compression; ONNX operator reference, QuantizeLinear and DequantizeLinear.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from commonir.base.codes import EXECUTION_FAILED
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.dialects.core.base import FLOATS, CoreOp, accumulator, function, tensor_type
from commonir.ir.data import ArrayData, Data, DeferredData
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, Type, boolean, u1
from commonir.notation import (
    Constraint,
    Expr,
    Index,
    Kernel,
    NotationError,
    Tensor,
    call,
    cast,
    indices,
    lift,
    limits,
    require,
)
from commonir.ods import (
    all_integers,
    attr_types,
    attribute,
    constraint,
    element_type,
    known_data,
    operand,
    positive,
    result,
    traits,
)
from commonir.symbolic import Dim, floor_div, largest, modulo, smallest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]

POSITIONS = all_integers
REALS = FLOATS | all_integers
MASKS = element_type(boolean, u1)


class Decoded(CoreOp, traits=(traits.Pure,)):
    """A tensor that is stored compressed: constant when its operands are."""

    @abstractmethod
    def decoded(self, *arrays: Array | None) -> Array:
        """The elements, for arrays of the operands. Raises: ValueError when they contradict each other."""

    def constant_data(self) -> Data | None:
        type = self.results[0].type
        operands = [None if v is None else known_data(v) for v in self.grouped_operands() if not isinstance(v, tuple)]
        is_known = all(d is not None or v is None for d, v in zip(operands, self.grouped_operands(), strict=True))
        if not is_known or not isinstance(type, TensorType) or not type.is_static:
            return None
        name, decode = self.name, self.decoded

        def compute() -> Data:
            try:
                return ArrayData(type, decode(*[None if d is None else d.array() for d in operands]))
            except ValueError as error:
                raise DiagnosticError(Diagnostic(EXECUTION_FAILED, f"{name}: {error}")) from None

        return DeferredData(type, compute)


def _block_position(at: Dim, size: Dim, count: Dim, what: str, label: str) -> tuple[Dim, tuple[Constraint, ...]]:
    """The block of an element along an axis, and what has to hold of symbolic sizes."""
    if count == 1:
        return 0, ()
    if count == size:
        return at, ()
    if isinstance(count, int) and isinstance(size, int) and 0 < count <= size and size % count == 0:
        return floor_div(at, size // count), ()
    if not isinstance(count, int):
        # An empty axis has nothing to look up.
        block = largest(floor_div(size, largest(count, 1)), 1)
        needed = require(modulo(size, largest(count, 1)), "==", 0, f"blocks of {what}", label=label)
        return floor_div(at, block), needed + require(count, ">=", smallest(size, 1), f"blocks of {what}", label=label)
    if isinstance(size, int):
        raise NotationError(f"{count} blocks of {what} along an axis of size {size}", label=label)
    return at, require(count, "==", size, f"blocks of {what}", label=label)


def _of_block(
    values: Tensor, at: tuple[Index, ...], shape: tuple[Dim, ...], label: str
) -> tuple[Expr, tuple[Constraint, ...]]:
    """The value that belongs to the block of an element."""
    if values.rank == 0:
        return values[()], ()
    if values.rank != len(shape):
        raise NotationError(f"blocks of rank {values.rank} for rank {len(shape)}", label=label)
    where: list[Dim] = []
    needed: tuple[Constraint, ...] = ()
    for i, n, g in zip(at, shape, values.shape, strict=True):
        position, more = _block_position(i, n, g, values.name, label)
        where.append(position)
        needed += more
    return values[tuple(where)], needed


class Dequantize(Decoded, name="core.dequantize"):
    """Linear dequantization: scale * (x - zero_point), with a scale and a zero point for each block; zero_point is 0 by
    default.

    C1: scale and zero_point are scalars, or have the rank of x and dims that divide those of x.
    """

    x: Value = operand("Q[s*]")
    scale: Value = operand("T[*]")
    zero_point: Value | None = operand("Z[*]", default=None)
    y: Value = result("T[s*]")
    Q = REALS
    T = FLOATS
    Z = REALS

    def reference(self, x: Tensor, scale: Tensor, zero_point: Tensor | None) -> Kernel:
        at = indices("i", x.rank)
        wide = accumulator(scale.dtype)
        factor, needed = _of_block(scale, at, x.shape, "C1")
        steps = cast(x[at], wide)
        if zero_point is not None:
            offset, more = _of_block(zero_point, at, x.shape, "C1")
            steps, needed = steps - cast(offset, wide), needed + more
        sizes = dict(zip(at, x.shape, strict=True))
        return cast(steps * cast(factor, wide), scale.dtype).by(*at).where(sizes, needed)

    def decoded(self, *arrays: Array | None) -> Array:
        from commonir.dialects.core.decoding import scaled_in_blocks  # noqa: PLC0415  loads numpy

        x, scale, zero_point = arrays
        assert x is not None
        assert scale is not None
        return scaled_in_blocks(x, scale, zero_point)


class Quantize(CoreOp, name="core.quantize", traits=(traits.Pure,)):
    """Linear quantization: round(x / scale) + zero_point as an integer, saturated to its range; halves are rounded to
    even.

    C1: scale and zero_point are scalars, or have the rank of x and dims that divide those of x.
    """

    x: Value = operand("T[s*]")
    scale: Value = operand("T[*]")
    element: ElementType = attribute(attr_types.element)
    zero_point: Value | None = operand("Q[*]", default=None)
    y: Value = result("Q[s*]")
    T = FLOATS
    Q = all_integers

    def reference(self, x: Tensor, scale: Tensor, zero_point: Tensor | None) -> Kernel:
        at = indices("i", x.rank)
        wide = accumulator(x.dtype)
        factor, needed = _of_block(scale, at, x.shape, "C1")
        steps = call("round", cast(x[at], wide) / cast(factor, wide))
        if zero_point is not None:
            offset, more = _of_block(zero_point, at, x.shape, "C1")
            steps, needed = steps + cast(offset, wide), needed + more
        low, high = limits(self.element)
        limited = call("minimum", call("maximum", steps, lift(low, wide)), lift(high, wide))
        return cast(limited, self.element).by(*at).where(dict(zip(at, x.shape, strict=True)), needed)


class TableLookup(Decoded, name="core.table_lookup"):
    """Looks up each element as an index in a table; blocks of elements have tables of their own.

    tables has the shape [g.., n, v]: the number of blocks along each axis of positions, the number of entries, and the
    size of an entry. Entries of several elements lie along vector_axis, which becomes v times as long.

    C1: tables has two axes more than positions, and numbers of blocks that divide the dims of positions. C2: entries of
    several elements have a vector_axis, one of the axes of positions; it and the dims of tables are static.
    """

    positions: Value = operand("I[*]")
    tables: Value = operand("T[*]")
    vector_axis: int | None = attribute(attr_types.integer, default=None)
    y: Value = result("T[*]")
    I = POSITIONS  # noqa: E741  a type variable
    T = REALS

    def reference(self, positions: Tensor, tables: Tensor) -> Kernel:
        rank = positions.rank
        if tables.rank != rank + 2:
            raise NotationError(f"tables of rank {tables.rank} for positions of rank {rank}", label="C1")
        axis, size = _vector_axis(self.vector_axis, tables.shape, rank)
        at = indices("i", rank)
        shape = [n * size if k == axis else n for k, n in enumerate(positions.shape)]
        sources: list[Dim] = [floor_div(i, size) if k == axis else i for k, i in enumerate(at)]
        entry: Dim = 0 if axis is None else modulo(at[axis], size)
        where: list[Dim] = []
        needed: tuple[Constraint, ...] = ()
        for k, (n, g) in enumerate(zip(positions.shape, tables.shape, strict=False)):
            block, more = _block_position(sources[k], n, g, "tables", "C1")
            where.append(block)
            needed += more
        y = tables[(*where, positions[tuple(sources)], entry)]
        return y.by(*at).where(dict(zip(at, shape, strict=True)), needed)

    def decoded(self, *arrays: Array | None) -> Array:
        from commonir.dialects.core.decoding import looked_up_in_blocks  # noqa: PLC0415  loads numpy

        positions, tables = arrays
        assert positions is not None
        assert tables is not None
        return looked_up_in_blocks(positions, tables, self.vector_axis)


def _vector_axis(axis: int | None, tables: tuple[Dim | None, ...], rank: int) -> tuple[int | None, int]:
    """The axis along which entries lie, if any, and their size. Raises: NotationError."""
    size = tables[-1]
    if not isinstance(size, int) or (axis is None and size != 1) or (axis is not None and not -rank <= axis < rank):
        raise NotationError(f"entries of {size} elements along axis {axis} of rank {rank}", label="C2")
    return (None, 1) if axis is None or size == 1 else (axis % rank, size)


class SparseToDense(Decoded, name="core.sparse_to_dense"):
    """Expands sparse values: the values in order where mask is 1, and zeros elsewhere.

    There are as many values as ones; this is checked when the values are read.
    """

    mask: Value = operand("M[s*]")
    values: Value = operand("T[n]")
    y: Value = result("T[s*]")
    M = MASKS
    T = REALS

    def reference(self, mask: Array, values: Array) -> Array:
        return self.decoded(mask, values)

    def decoded(self, *arrays: Array | None) -> Array:
        from commonir.dialects.core.decoding import spread_out  # noqa: PLC0415  loads numpy

        mask, values = arrays
        assert mask is not None
        assert values is not None
        return spread_out(values, mask)


class SparseTableLookup(Decoded, name="core.sparse_table_lookup"):
    """Looks up table entries for the elements where mask is 1, in the order of these elements.

    Blocks and vector_axis are as in `core.table_lookup`, with the axes of mask.
    """

    mask: Value = operand("M[s*]")
    positions: Value = operand("I[n]")
    tables: Value = operand("T[*]")
    vector_axis: int | None = attribute(attr_types.integer, default=None)
    y: Value = result("T[*]")
    I = POSITIONS  # noqa: E741  a type variable
    M = MASKS
    T = REALS

    @constraint("C1")
    def tables_have_blocks(self) -> object:
        """Tables have two axes more than mask, and their sizes divide its sizes."""
        mask, tables = tensor_type(self.mask).shape, tensor_type(self.tables).shape
        return mask is None or tables is None or (len(tables) == len(mask) + 2 and _divide(tables, mask))

    @constraint("C2")
    def has_vector_axis(self) -> object:
        """Entries of several elements have a vector_axis, one of the axes of mask, and a static size."""
        mask, tables = tensor_type(self.mask).shape, tensor_type(self.tables).shape
        if mask is not None and tables is not None:
            _vector_axis(self.vector_axis, tables, len(mask))
        return True

    def infer(self) -> tuple[Type, ...]:
        (count,), tables = tensor_type(self.positions).shape or (None,), tensor_type(self.tables)
        size = (tables.shape or (None,))[-1]
        return (tables.with_shape((None if count is None or size is None else count * size,)),)

    def reference(self, mask: Array, positions: Array, tables: Array) -> Array:
        return self.decoded(mask, positions, tables)

    def decoded(self, *arrays: Array | None) -> Array:
        from commonir.dialects.core.decoding import looked_up_where  # noqa: PLC0415  loads numpy

        mask, positions, tables = arrays
        assert mask is not None
        assert positions is not None
        assert tables is not None
        return looked_up_where(mask, positions, tables, self.vector_axis)


class SparseDequantize(Decoded, name="core.sparse_dequantize"):
    """Dequantizes the values of a sparse tensor: scale * (value - zero_point), with a scale and a zero point for each
    block.
    """

    mask: Value = operand("M[s*]")
    values: Value = operand("Q[n]")
    scale: Value = operand("T[*]")
    zero_point: Value | None = operand("Z[*]", default=None)
    y: Value = result("T[n]")
    Q = REALS
    M = MASKS
    T = FLOATS
    Z = REALS

    @constraint("C1")
    def scales_have_blocks(self) -> object:
        """Scale and zero_point have the rank of mask and sizes that divide its sizes."""
        mask = tensor_type(self.mask).shape
        shapes = [tensor_type(v).shape for v in (self.scale, self.zero_point) if v is not None]
        if mask is None:
            return True
        return all(s is None or (len(s) == len(mask) and _divide(s, mask)) for s in shapes)

    def reference(self, mask: Array, values: Array, scale: Array, zero_point: Array | None) -> Array:
        return self.decoded(mask, values, scale, zero_point)

    def decoded(self, *arrays: Array | None) -> Array:
        from commonir.dialects.core.decoding import scaled_where  # noqa: PLC0415  loads numpy

        mask, values, scale, zero_point = arrays
        assert mask is not None
        assert values is not None
        assert scale is not None
        return scaled_where(mask, values, scale, zero_point)


class RepeatMask(Decoded, name="core.repeat_mask"):
    """A mask with each element repeated along an axis. C1: axis is one of the axes of mask."""

    mask: Value = operand("M[*]")
    count: int = attribute(attr_types.integer, check=positive)
    axis: int = attribute(attr_types.integer)
    y: Value = result("M[*]")
    M = MASKS

    def reference(self, mask: Tensor) -> Kernel:
        if not -mask.rank <= self.axis < mask.rank:
            raise NotationError(f"axis {self.axis} of a mask of rank {mask.rank}", label="C1")
        axis, at = self.axis % mask.rank, indices("i", mask.rank)
        where: list[Dim] = [floor_div(i, self.count) if k == axis else i for k, i in enumerate(at)]
        shape = [n * self.count if k == axis else n for k, n in enumerate(mask.shape)]
        return mask[tuple(where)].by(*at).where(dict(zip(at, shape, strict=True)))

    def decoded(self, *arrays: Array | None) -> Array:
        from commonir.dialects.core.decoding import repeated  # noqa: PLC0415  loads numpy

        (mask,) = arrays
        assert mask is not None
        return repeated(mask, self.count, self.axis)


def _divide(counts: tuple[Dim | None, ...], sizes: tuple[Dim | None, ...]) -> bool:
    """Returns whether numbers of blocks divide sizes, as far as both are fixed."""
    pairs = [(g, n) for g, n in zip(counts, sizes, strict=False) if isinstance(g, int) and isinstance(n, int)]
    return all(g > 0 and n % g == 0 for g, n in pairs)


dequantize = function(Dequantize)
quantize = function(Quantize)
table_lookup = function(TableLookup)
sparse_to_dense = function(SparseToDense)
sparse_table_lookup = function(SparseTableLookup)
sparse_dequantize = function(SparseDequantize)
repeat_mask = function(RepeatMask)
