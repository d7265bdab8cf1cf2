"""Values and types of an operation by the names of its record, and facts of shapes that several checks need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from commonir.ir.affine import AffineMapAttr, StridedLayoutAttr
from commonir.ir.attributes import ArrayAttr, Attribute, DenseArrayAttr, IntegerAttr, StringAttr
from commonir.ir.module import Module
from commonir.ir.operation import Operation, Value
from commonir.ir.types import DYNAMIC, MemRefType, Shape, TensorType, Type, VectorType
from commonir.ods.definition import Definition

Verifier = Callable[[Definition], Iterator[str]]

Count = int | None
"""A number, None if it is only known when the program runs."""

T = TypeVar("T")


def values_of(op: Definition, spelling: str) -> tuple[Value, ...]:
    """Returns the values of operands or results by the name in the record."""
    field = next(f for f in op.layout.by_name.values() if f.spelling == spelling)
    result: object = op.field_value(field)
    if isinstance(result, Value):
        return (result,)
    return tuple([v for v in result if isinstance(v, Value)]) if isinstance(result, tuple) else ()  # pyright: ignore[reportUnknownVariableType]


def type_of(op: Definition, spelling: str) -> Type:
    """Returns the type of the only value of a field."""
    return values_of(op, spelling)[0].type


def counts_of(op: Definition, spelling: str) -> tuple[int, ...]:
    """Returns the integers of an array attribute; () if it is absent."""
    return integers_of(op.properties.get(spelling))


def integers_of(value: Attribute | None) -> tuple[int, ...]:
    """Returns the integers of an attribute that lists some."""
    match value:
        case DenseArrayAttr(values=values):
            return tuple([int(v) for v in values])
        case ArrayAttr(values=values):
            return tuple([v.value for v in values if isinstance(v, IntegerAttr)])
        case _:
            return ()


def groups_of(op: Definition, spelling: str) -> tuple[tuple[int, ...], ...]:
    """Returns the lists of integers of an array attribute."""
    value = op.properties.get(spelling)
    return tuple([integers_of(v) for v in value.values]) if isinstance(value, ArrayAttr) else ()


def shape_of(type: Type) -> Shape | None:
    """Returns the shape of a tensor, vector or buffer; () of other types, None if the rank is unknown."""
    return type.shape if isinstance(type, TensorType | VectorType | MemRefType) else ()


def rank_of(type: Type) -> int | None:
    """Returns the rank; None if it is unknown."""
    shape = shape_of(type)
    return None if shape is None else len(shape)


def dynamic_count(shape: Shape | None) -> int:
    """Returns the number of dimensions that are not numbers."""
    return sum(not isinstance(d, int) for d in shape or ())


def numbers(shape: Iterable[object]) -> list[Count]:
    """Returns dimensions as numbers, None for others."""
    return [d if isinstance(d, int) else None for d in shape]


def static(entries: Iterable[int]) -> list[Count]:
    """Returns the entries of a list of sizes, None for those that are operands."""
    return [None if n == DYNAMIC else n for n in entries]


def product(factors: Iterable[Count]) -> Count:
    """Returns the product of numbers; None if one is unknown and none is zero."""
    out: Count = 1
    for n in factors:
        if n == 0 or out == 0:
            out = 0
        else:
            out = None if n is None or out is None else out * n
    return out


def total(terms: Iterable[Count]) -> Count:
    """Returns the sum of numbers; None if one is unknown."""
    known = list(terms)
    return None if None in known else sum([n for n in known if n is not None])


def strides_of(type: MemRefType) -> tuple[list[Count], Count] | None:
    """Returns the strides and the offset of a buffer of known rank; None if its layout is not strided."""
    if type.shape is None:
        return None
    match type.layout:
        case None:
            return row_major(type.shape), 0
        case StridedLayoutAttr(strides=strides, offset=offset):
            return list(strides), offset
        case AffineMapAttr(map=layout) if len(layout.results) == 1 and not layout.symbols:
            return _linear(len(type.shape), lambda point: layout.evaluate(point)[0])
        case _:
            return None


def row_major(shape: Shape) -> list[Count]:
    """Returns the strides of elements without gaps."""
    return [product(numbers(shape[n + 1 :])) for n in range(len(shape))]


def _linear(rank: int, at: Callable[[Sequence[int]], int]) -> tuple[list[Count], Count] | None:
    """Returns the coefficients of a function that is linear at some points; None if it is not."""
    origin = at([0] * rank)
    strides = [at([int(m == n) for m in range(rank)]) - origin for n in range(rank)]
    for probe in ([3 + 2 * n for n in range(rank)], [17 - 3 * n for n in range(rank)]):
        if at(probe) != origin + sum(a * b for a, b in zip(probe, strides, strict=True)):
            return None
    return list(strides), origin


def are_same(first: Count, second: Count) -> bool:
    """Returns whether two numbers may be equal: an unknown one may be any."""
    return first is None or second is None or first == second


def wrong_indices(op: Definition, base: str, indices: str = "indices") -> Iterator[str]:
    """Yields an error unless there is an index for each dimension of a tensor or buffer."""
    rank, count = rank_of(type_of(op, base)), len(values_of(op, indices))
    if rank is not None and count != rank:
        yield f"incorrect number of indices, expected {rank} but got {count}"


def wrong_sizes(op: Definition, sizes: str, type: Type) -> Iterator[str]:
    """Yields an error unless there is a value for each dynamic dimension of a type."""
    count, expected = len(values_of(op, sizes)), dynamic_count(shape_of(type))
    if count != expected:
        yield f"incorrect number of dynamic sizes, has {count}, expected {expected}"


def combining_kind(op: Definition) -> str:
    """Returns how an operation combines numbers, such as `addf`: its attribute `kind`."""
    kind: object = op.field_value(op.layout.by_name["kind"])
    return str(getattr(kind, "value", kind))


def nearest_symbol(op: Operation, name: str) -> Operation | None:
    """Returns the symbol of a name in the innermost module around an operation."""
    holder = next((each for each in op.ancestors() if isinstance(each, Module)), None)
    symbols = () if holder is None else holder.body.operations
    return next((each for each in symbols if each.attribute_dictionary.get("sym_name") is StringAttr(name)), None)


def wrong_groups(groups: Sequence[Sequence[int]], expanded: Shape, collapsed: Shape) -> Iterator[str]:
    """Yields errors of groups of dimensions, each of which is one dimension of the other shape."""
    if len(groups) != len(collapsed):
        yield f"collapsed rank ({len(collapsed)}) inconsistent with number of reassociation groups ({len(groups)})"
        return
    flat = [n for group in groups for n in group]
    if flat != list(range(len(expanded))):
        yield f"expanded rank ({len(expanded)}) inconsistent with the reassociation {[list(g) for g in groups]}"
        return
    for n, (group, size) in enumerate(zip(groups, collapsed, strict=True)):
        merged = product([d if isinstance(d, int) else None for d in [expanded[i] for i in group]])
        stated = size if isinstance(size, int) else None
        if merged != stated:
            shown = "a dynamic dim" if merged is None else str(merged)
            yield f"collapsed dim {n} of size {'?' if stated is None else stated} must equal its group, {shown}"
