"""Base classes of structured operations of the linalg dialect: maps, iterators, checks, meaning.

Source: MLIR linalg dialect, structured operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import ClassVar

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core, lifting
from commonir.dialects.mlir.linalg.access import plain_dim
from commonir.dialects.mlir.linalg.bodies import Create
from commonir.dialects.mlir.linalg.meaning import meaning
from commonir.dialects.mlir.linalg.structured import Structured
from commonir.ir.affine import AffineMap, AffineMapAttr
from commonir.ir.attributes import ArrayAttr, Attribute, DialectAttr, StringAttr
from commonir.ir.operation import Region, Value
from commonir.ir.types import MemRefType, TensorType, Type, VectorType, i64
from commonir.ods import MlirOp, attr_types, attribute, non_negative, operand, result, traits
from commonir.ods.mlir_attr_types import dialect_enumeration, typed_integer
from commonir.ods.type_constraints import AnyType, Index
from commonir.ods.type_rules import NO_SHAPE, NoShape, element_of, shape_of

MEMOIZED = "linalg.memoized_indexing_maps"
"""Where upstream keeps the maps of an operation that has them by its name; only the generic form shows it."""


class IteratorType(Enum):
    """Iterator types: a parallel dimension has points in the result, a reduction dimension has none."""

    PARALLEL = "parallel"
    REDUCTION = "reduction"


class TypeFn(Enum):
    """Conversions of integers, signed or unsigned."""

    CAST_SIGNED = "cast_signed"
    CAST_UNSIGNED = "cast_unsigned"


def _maps(attr: Attribute) -> tuple[AffineMap, ...]:
    if not isinstance(attr, ArrayAttr):
        raise ValueError(f"expected an array of affine maps, found {attr!r}")
    result = [v.map for v in attr.values if isinstance(v, AffineMapAttr)]
    if len(result) != len(attr.values):
        raise ValueError(f"expected affine maps, found {attr!r}")
    return tuple(result)


def _to_map(value: object) -> AffineMap:
    if not isinstance(value, AffineMap):
        raise ValueError(f"expected an affine map, found {value!r}")
    return value


def maps_attribute(maps: Sequence[AffineMap]) -> ArrayAttr:
    """Maps in storage form."""
    return ArrayAttr(tuple([AffineMapAttr(m) for m in maps]))


affine_maps = attr_types.AttrType[tuple[AffineMap, ...]](
    "affine maps", attr_types.sequence_of(_to_map, "affine maps"), maps_attribute, _maps
)


def _iterator(attr: Attribute) -> IteratorType:
    word = attr.body if isinstance(attr, DialectAttr) else attr.value if isinstance(attr, StringAttr) else ""
    try:
        return IteratorType(word)
    except ValueError:
        raise ValueError(f"unexpected iterator_type ({word or attr})") from None


def _to_iterator(value: object) -> IteratorType:
    if not isinstance(value, IteratorType):
        raise ValueError(f"expected a kind of iterator, found {value!r}")
    return value


def _iterators(attr: Attribute) -> tuple[IteratorType, ...]:
    if not isinstance(attr, ArrayAttr):
        raise ValueError(f"expected an array of iterator types, found {attr!r}")
    return tuple([_iterator(v) for v in attr.values])


iterator_type = dialect_enumeration(IteratorType, "linalg.iterator_type")
iterators = attr_types.AttrType[tuple[IteratorType, ...]](
    "iterator types",
    attr_types.sequence_of(_to_iterator, "kinds of iterators"),
    lambda v: ArrayAttr(tuple([iterator_type.to_attribute(i) for i in v])),
    _iterators,
)
type_function = dialect_enumeration(TypeFn, "linalg.type_fn")


def operand_shape(type: Type) -> tuple[object, ...] | None:
    """Returns the shape that maps see: () for scalars and also vectors, which are elements; None for unknown ranks."""
    shape = () if isinstance(type, VectorType) else shape_of(type)
    return () if isinstance(shape, NoShape) else shape


def operand_element(type: Type) -> Type:
    """Returns the type of the body's argument for an operand: a vector is an element itself."""
    return type if isinstance(type, VectorType) else element_of(type)


class LinalgOp(MlirOp):
    """Base of the operations of the linalg dialect."""


class StructuredOp(LinalgOp, traits=(traits.PureOnTensors,)):
    """Base of operations that compute elements by a scalar program over an iteration space."""

    has_kind: ClassVar[bool] = False

    @property
    def read(self) -> tuple[Value, ...]:
        """The inputs, which the first field declares."""
        return self.operands[: self.segment_sizes[0]]

    @property
    def written(self) -> tuple[Value, ...]:
        """Returns the initial values, one for each result."""
        return self.operands[self.segment_sizes[0] :]

    @property
    def body(self) -> Region:
        """The scalar program."""
        return self.regions[0] if self.regions else Region()

    def indexing(self) -> tuple[AffineMap, ...]:
        """The map of each operand."""
        raise NotImplementedError

    def iterator_kinds(self) -> tuple[IteratorType, ...]:
        """The kind of each dimension of the iteration space."""
        raise NotImplementedError

    # -- text of those whose name says the body

    def has_default_maps(self) -> bool:
        """Returns whether the maps are those of the named operation."""
        return True

    @classmethod
    def completed(
        cls,
        attributes: Mapping[str, Attribute],
        inputs: Sequence[Type],  # noqa: ARG003  for overrides
        outputs: Sequence[Type],  # noqa: ARG003  for overrides
    ) -> dict[str, Attribute]:
        """Attributes that a text states, with those that it leaves out."""
        return dict(attributes)

    @classmethod
    def body_for(
        cls, inputs: Sequence[Type], outputs: Sequence[Type], attributes: Mapping[str, Attribute], create: Create
    ) -> Region:
        """The body on elements of some types. Raises: DiagnosticError (E0503), ValueError when there is none."""
        raise NotImplementedError

    # -- checks

    def verify(self) -> Iterator[Diagnostic]:
        wrong = list(self._wrong_operands())
        yield from wrong
        if not wrong:
            wrong = list(self._wrong_maps())
            yield from wrong
        if not wrong:
            yield from self._wrong_shapes()
        yield from self._wrong_body()
        yield from self._wrong_results()

    def _wrong_operands(self) -> Iterator[Diagnostic]:
        types = [v.type for v in (*self.read, *self.written)]
        shaped = [t for t in types if shape_of(t) is not NO_SHAPE and not isinstance(t, VectorType)]
        is_buffer = [isinstance(t, MemRefType) for t in shaped]
        if any(is_buffer) and not all(is_buffer):
            yield self.violated("expected to have pure tensor or buffer semantics")
        if any(shape_of(t) is None for t in shaped):
            yield self.violated("expected operands of known rank")

    def _wrong_maps(self) -> Iterator[Diagnostic]:
        maps, loops = self.indexing(), len(self.iterator_kinds())
        operands = (*self.read, *self.written)
        if len(maps) != len(operands):
            message = f"expected the number of indexing_map ({len(maps)}) to be equal to the number of input/output"
            yield self.violated(f"{message} operands ({len(operands)})")
            return
        for n, (v, m) in enumerate(zip(operands, maps, strict=True)):
            rank = len(operand_shape(v.type) or ())
            if m.symbols:
                yield self.violated(f"unexpected symbols in indexing_map #{n}")
            elif m.dims != loops:
                yield self.violated(f"expected indexing_map #{n} to have {loops} dim(s) to match the number of loops")
            elif len(m.results) != rank:
                yield self.violated(
                    f"expected operand rank ({rank}) to match the result rank of indexing_map #{n} ({len(m.results)})"
                )
        mentioned = {plain_dim(e) for m in maps for e in m.results}
        if any(d not in mentioned for d in range(loops)):
            yield self.violated("expected the shape-to-loops map to be non-null")

    def _wrong_shapes(self) -> Iterator[Diagnostic]:
        """Returns operands whose static dims contradict the iteration space of the other operands."""
        operands = [(v, operand_shape(v.type)) for v in (*self.read, *self.written)]
        maps = self.indexing()
        sizes: dict[int, object] = {}
        for (_, shape), m in zip(operands, maps, strict=True):
            for e, size in zip(m.results, shape or (), strict=True):
                d = plain_dim(e)
                if d is not None:
                    sizes.setdefault(d, size)
        last = [n - 1 for d in range(len(self.iterator_kinds())) if isinstance(n := sizes.get(d), int)]
        if len(last) != len(self.iterator_kinds()) or -1 in last:
            return
        for n, ((_, shape), m) in enumerate(zip(operands, maps, strict=True)):
            for axis, (e, size) in enumerate(zip(m.results, shape or (), strict=True)):
                d = plain_dim(e)
                if d is not None and size == sizes[d]:
                    continue
                try:
                    ends = e.evaluate([0] * len(last)), e.evaluate(last)
                except ZeroDivisionError:
                    yield self.violated(f"expression #{axis} in indexing_map #{n} divides by zero")
                    continue
                if not isinstance(size, int):
                    continue
                least, most = min(ends), max(ends) + 1
                where = f"inferred input/output operand #{n} has shape's dimension #{axis} to be"
                if least < 0:
                    yield self.violated(f"unexpected result less than 0 at expression #{axis} in indexing_map #{n}")
                elif plain_dim(e) is not None and most != size:
                    yield self.violated(f"{where} {most}, but found {size}")
                elif most > size:
                    yield self.violated(f"{where} greater than or equal to {most}, but found {size}")

    def _wrong_body(self) -> Iterator[Diagnostic]:
        if len(self.body.blocks) != 1:
            yield self.malformed("expects to have 1 region with 1 block")
            return
        block, operands = self.body.block, (*self.read, *self.written)
        if len(block.arguments) != len(operands):
            yield self.malformed(
                "expected as many non-induction variable region arguments as the number of input/output operands"
            )
            return
        for n, (a, v) in enumerate(zip(block.arguments, operands, strict=True)):
            if a.type is not operand_element(v.type):
                message = f"expected type of bb argument #{n} ('{a.type}') to match element or self type of the"
                yield self.malformed(f"{message} corresponding operand ('{operand_element(v.type)}')")
        if not isinstance(block.last, Yield):
            yield self.malformed("expects the region to end with linalg.yield")

    def _wrong_results(self) -> Iterator[Diagnostic]:
        tensors = [v for v in self.written if isinstance(v.type, TensorType)]
        if len(self.results) != len(tensors):
            message = f"expected the number of tensor results ({len(self.results)}) to be equal to the number of output"
            yield self.violated(f"{message} tensors ({len(tensors)})")
            return
        for n, (r, v) in enumerate(zip(self.results, tensors, strict=True)):
            if r.type is not v.type:
                message = f"expected type of operand #{len(self.read) + n} ('{v.type}') to match type of corresponding"
                yield self.violated(f"{message} result ('{r.type}')")

    # -- meaning

    def infer_results(self) -> tuple[Type, ...] | None:
        if hasattr(self, "results"):
            return None
        return tuple([v.type for v in self.written if isinstance(v.type, TensorType)])

    def computed(self, inputs: tuple[Value, ...], outputs: tuple[Value, ...], body: Region) -> tuple[Value, ...]:
        """The results, for lowered operands and a lowered scalar program."""
        is_reduced = tuple([k is not IteratorType.PARALLEL for k in self.iterator_kinds()])
        return meaning(Structured(inputs, outputs, self.indexing(), is_reduced, body.block))


class Yield(
    LinalgOp,
    name="linalg.yield",
    traits=(traits.Pure, traits.Terminator),
    assembly="($values^)? attr-dict (`:` type($values)^)?",
):
    """Yields the elements that the enclosing operation writes."""

    values: tuple[Value, ...] = operand(AnyType, variadic=True)

    def verify(self) -> Iterator[Diagnostic]:
        holder = self.parent_op
        if not isinstance(holder, StructuredOp):
            yield self.violated("expected parent op with LinalgOp interface")
            return
        expected = holder.written
        if len(self.values) != len(expected):
            message = f"expected number of yield values ({len(expected)}) to match the number of inits / outs operands"
            yield self.violated(f"{message} of the enclosing LinalgOp ({len(self.values)})")
            return
        for n, (v, out) in enumerate(zip(self.values, expected, strict=True)):
            if v.type is not element_of(out.type):
                message = f"type of yield operand {n + 1} ('{v.type}') doesn't match the element type of the enclosing"
                yield self.violated(f"{message} {holder.name} op ('{element_of(out.type)}')")

    def reference(self, values: tuple[Value, ...]) -> core.Yield:
        return core.Yield(values)


class Index_(  # noqa: N801  `Index` is a type
    LinalgOp, name="linalg.index", traits=(traits.Pure,), assembly="$dim attr-dict `:` type($result)"
):
    """The index of the current iteration along a dimension of the enclosing operation. C1: the dimension is less than
    the number of loops of the enclosing operation.
    """

    dim: int = attribute(typed_integer(i64), check=non_negative)
    result_: Value = result(Index)

    def verify(self) -> Iterator[Diagnostic]:
        holder = self.parent_op
        if not isinstance(holder, StructuredOp):
            yield self.violated("expected parent op with LinalgOp interface")
        elif self.dim >= len(holder.iterator_kinds()):
            message = f"expected dim ({self.dim}) to be lower than the number of loops"
            yield self.violated(f"{message} ({len(holder.iterator_kinds())}) of the enclosing LinalgOp")

    def reference(self) -> Value:
        return lifting.LoopIndex(self.dim)
