"""Lists of tensors of one shape in the mil dialect.

In the core a list is one tensor whose first axis numbers the elements. An unknown dim of the elements (a name in the
program) is 0 until the first element is written. The length in the type of a list is its initial length, even if it may
change.
Source: MIL operation reference, control_flow.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.mil.base import MilOp
from commonir.dialects.mil.control import WhileLoop
from commonir.dialects.mil.elementwise import DATA_TYPE
from commonir.dialects.mil.operands import BASIC, STRING, Condition, DataType, converted, rank_of, same_size
from commonir.dialects.mil.shape import Identity
from commonir.ir.data import Data
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import ListType, TensorType, Type, i32, i64, tensor
from commonir.notation import NotationError
from commonir.ods import (
    are_compatible,
    attr_types,
    constraint,
    known_data,
    known_dims,
    one_of,
    operand,
    parameter,
    result,
    traits,
)
from commonir.ods.operand_shapes import ranked_shape
from commonir.symbolic import Dim

_HELD = one_of(DataType.BOOL, DataType.FP16, DataType.FP32, DataType.INT32)


class MakeList(MilOp, name="mil.make_list", traits=(traits.Pure,)):
    """Creates a list of init_length zero elements, one by default; its length may change with dynamic_length.

    A dim of elem_shape is a number, or a name for a dim that is known when the first element is written.
    """

    init_length: Value | None = operand("i32[]", default=None, by_value=True)
    dynamic_length: bool = parameter(attr_types.flag, spec="i1[]", default=True)
    elem_shape: tuple[Value, ...] = operand("any", variadic=True, default=(), constant=True)
    dtype: DataType = parameter(DATA_TYPE, spec=STRING, default=DataType.FP32, check=_HELD)
    output: Value = result("any")

    @constraint("C1")
    def _has_sizes(self) -> bool:
        """dims of elem_shape are non-negative numbers or names."""
        return all(_size_of(known_data(v)) != -1 for v in self.elem_shape)

    def trace_key(self) -> object:
        return tuple([known_data(v) for v in self.elem_shape])

    @property
    def _sizes(self) -> tuple[int | None, ...]:
        return tuple([_size_of(known_data(v)) for v in self.elem_shape])

    def infer(self) -> tuple[Type, ...]:
        known = (1,) if self.init_length is None else known_dims(self.init_length)
        return (ListType(tensor(self.dtype.element, *self._sizes), None if known is None else known[0]),)

    def reference(self, init_length: Value | None, elem_shape: tuple[Value, ...]) -> Value:  # noqa: ARG002  known by their contents
        count = (1,) if init_length is None else known_dims(init_length)
        sizes = tuple([n or 0 for n in self._sizes])
        element = self.dtype.element
        zero = core.scalar(0.0 if element.is_float else False if element.kind == "bool" else 0, element)
        if count is not None or init_length is None:
            return core.fill(zero, (*(count or (1,)), *sizes))
        none = core.fill(zero, (0, *sizes))
        return core.dynamic_pad(none, _vector(len(sizes) + 1), _vector(len(sizes) + 1, _position(init_length)))


def _size_of(data: Data | None) -> int | None:
    """A dim of elements: None if it is not known yet, -1 if it is invalid."""
    if data is None or data.count != 1:
        return -1
    (value,) = data.values()
    if isinstance(value, str):
        return None
    return value if isinstance(value, int) and value >= 0 else -1


class OfList(MilOp):
    """Base class of operations that read or write a list."""

    ls: Value = operand("any")

    @constraint("C1")
    def _reads_list(self) -> bool:
        """ls is a list of tensors."""
        return isinstance(self.ls.type, ListType) and isinstance(self.ls.type.element, TensorType)

    @property
    def element(self) -> TensorType:
        """The type of its elements."""
        type = self.ls.type
        if not isinstance(type, ListType) or not isinstance(type.element, TensorType):
            raise NotationError(f"expected a list of tensors, found {type}", label="C1")
        return type.element

    def grown(self, ls: Value, count: Value, sizes: tuple[Value, ...]) -> Value:
        """Returns the tensor of a list, with at least `count` elements if its length may change."""
        rank = rank_of(ls)
        axes = [n for n, d in enumerate(self.element.shape or ()) if d is None]
        built = _made_by(self.ls)
        is_fixed = built is not None and not built.dynamic_length
        first = core.scalar(0, i64)
        if not is_fixed:
            first = core.maximum(core.sub(count, core.dim(ls, 0)), first)
        more = {n + 1: core.sub(sizes[n], core.dim(ls, n + 1)) for n in axes}
        if is_fixed and not more:
            return ls
        return core.dynamic_pad(ls, _vector(rank), _vector(rank, first, more))


def _made_by(ls: Value) -> MakeList | None:
    """Returns the operation that made a list which may have been written to and carried through loops; None when it is
    not found.
    """
    value = ls
    while True:
        owner = value.owner
        match owner:
            case MakeList():
                return owner
            case ListWrite() | ListScatter():
                value = owner.ls
            case Identity():
                value = owner.x
            case WhileLoop():
                value = owner.loop_vars[owner.results.index(value)]
            case Block(parent=Region(parent=WhileLoop(loop_vars=given))):
                value = given[value.index]
            case _:
                return None


def _vector(rank: int, first: Value | None = None, more: dict[int, Value] | None = None) -> Value:
    """A number for each axis, 0 where none is given."""
    arguments = {**(more or {}), **({} if first is None else {0: first})}
    parts = [core.unsqueeze(arguments.get(n, core.scalar(0, i64)), (0,)) for n in range(rank)]
    return core.concat(tuple(parts), 0)


def _position(value: Value) -> Value:
    """A position as a number of rank 0."""
    return core.reshape(converted(value, i64), ())


class ListLength(OfList, name="mil.list_length", traits=(traits.Pure,)):
    """The number of elements of a list."""

    output: Value = result("i32[]")

    def infer(self) -> tuple[Type, ...]:
        return (tensor(i32),)

    def reference(self, ls: Value) -> Value:
        return core.dim(ls, 0, i32)


class ListWrite(OfList, name="mil.list_write", traits=(traits.Pure,)):
    """A copy of a list with one element replaced; a list of dynamic length grows by zeros if it is too short."""

    index: Value = operand("i32[*]")
    value: Value = operand("T[*]")
    output: Value = result("any")
    T = BASIC

    @constraint("C2")
    def _fits(self) -> bool:
        """value is one of its elements."""
        return are_compatible(self.value.type, self.element)

    def infer(self) -> tuple[Type, ...]:
        return (self.ls.type,)

    def reference(self, ls: Value, index: Value, value: Value) -> Value:
        at = _position(index)
        sizes = tuple([core.dim(value, n) for n in range(rank_of(value))])
        grown = self.grown(ls, core.add(at, core.scalar(1, i64)), sizes)
        return core.scatter_nd(grown, core.reshape(at, (1, 1)), core.unsqueeze(value, (0,)))


class ListRead(OfList, name="mil.list_read", traits=(traits.Pure,)):
    """Reads one element of a list."""

    index: Value = operand("i32[*]")
    output: Value = result("any")

    def infer(self) -> tuple[Type, ...]:
        return (self.element,)

    def reference(self, ls: Value, index: Value) -> Value:
        return core.gather(ls, core.reshape(index, ()), 0)


class ListGather(OfList, name="mil.list_gather", traits=(traits.Pure,)):
    """Gathers elements of a list into one tensor."""

    indices: Value = operand("i32[k]")
    output: Value = result("any")

    def infer(self) -> tuple[Type, ...]:
        return (self.element.with_shape((ranked_shape(self.indices)[0], *(self.element.shape or ()))),)

    def reference(self, ls: Value, indices: Value) -> Value:
        return core.gather(ls, indices, 0)


class ListScatter(OfList, name="mil.list_scatter", traits=(traits.Pure,)):
    """A copy of a list with some elements replaced; a list of dynamic length grows by zeros if it is too short."""

    indices: Value = operand("i32[k]")
    value: Value = operand("T[*]")
    output: Value = result("any")
    T = BASIC

    @constraint("C2")
    def _fits(self) -> Condition:
        """value has an element of ls for each of indices."""
        sizes = ranked_shape(self.value)
        if not sizes or not are_compatible(_rest(self.value), self.element):
            return False
        return same_size(sizes[0], ranked_shape(self.indices)[0], "number of elements")

    def infer(self) -> tuple[Type, ...]:
        return (self.ls.type,)

    def reference(self, ls: Value, indices: Value, value: Value) -> Value:
        at = converted(indices, i64)
        last = core.reduce_max(at, (0,), False)
        sizes = tuple([core.dim(value, n) for n in range(1, rank_of(value))])
        grown = self.grown(ls, core.add(last, core.scalar(1, i64)), sizes)
        return core.scatter_nd(grown, core.unsqueeze(at, (1,)), value)


def _rest(value: Value) -> TensorType:
    """The type of the slices of a tensor along its first axis."""
    type = core.tensor_type(value)
    sizes: tuple[Dim | None, ...] = ranked_shape(value)
    return type.with_shape(sizes[1:])
