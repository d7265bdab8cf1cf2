"""Checks of operations of memref that view a buffer under another type."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from commonir.ir.affine import AffineDim, AffineMapAttr
from commonir.ir.types import DYNAMIC, MemRefType, Shape, TensorType, Type
from commonir.ods.definition import Definition
from commonir.ods.from_records.verifiers.values import (
    Count,
    Verifier,
    are_same,
    counts_of,
    groups_of,
    numbers,
    product,
    shape_of,
    static,
    strides_of,
    total,
    type_of,
    values_of,
    wrong_groups,
    wrong_sizes,
)
from commonir.ods.type_rules import element_of

Layout = tuple[list[Count], Count]


def _space_of(type: Type) -> object:
    return type.memory_space if isinstance(type, MemRefType) else None


def _are_castable(a: MemRefType, b: MemRefType) -> bool:
    if a.element is not b.element or a.memory_space is not b.memory_space:
        return False
    if a.shape is None or b.shape is None:
        return (a.shape is None) is not (b.shape is None)
    if len(a.shape) != len(b.shape):
        return False
    if not all(are_same(m, n) for m, n in zip(numbers(a.shape), numbers(b.shape), strict=True)):
        return False
    if a.layout is b.layout:
        return True
    first, second = strides_of(a), strides_of(b)
    if first is None or second is None:
        return False
    pairs = [(first[1], second[1]), *zip(first[0], second[0], strict=True)]
    return all(are_same(m, n) for m, n in pairs)


def _cast(op: Definition) -> Iterator[str]:
    source, result = type_of(op, "source"), type_of(op, "dest")
    if isinstance(source, MemRefType) and isinstance(result, MemRefType) and not _are_castable(source, result):
        yield f"operand type '{source}' and result type '{result}' are cast incompatible"


def _space_cast(op: Definition) -> Iterator[str]:
    source, result = type_of(op, "source"), type_of(op, "dest")
    if isinstance(source, MemRefType) and isinstance(result, MemRefType):
        before, after = (source.element, source.shape, source.layout), (result.element, result.shape, result.layout)
        if before != after:
            yield f"operand type '{source}' and result type '{result}' are cast incompatible"


def _same_layout(result: MemRefType, shape: Shape | None, layout: Layout | None) -> bool:
    """Returns whether a type has a shape and, if both are strided, a layout."""
    own = strides_of(result)
    return result.shape == shape and (own is None or layout is None or own == layout)


def _wrong_contents(source: MemRefType, result: MemRefType) -> Iterator[str]:
    if source.element is not result.element or source.memory_space is not result.memory_space:
        yield f"element types or memory spaces of '{source}' and '{result}' differ"


def _wrong_layout(
    source: MemRefType, result: MemRefType, regrouped: Callable[[Sequence[Count]], list[Count] | None]
) -> Iterator[str]:
    """Checks the layout of a buffer with merged or split dimensions, for which `regrouped` returns the strides."""
    if source.layout is None:
        if not _same_layout(result, result.shape, strides_of(MemRefType(result.element, result.shape))):
            yield f"expected a result without layout, found {result}"
        return
    before = strides_of(source)
    if before is None:
        return
    strides = regrouped(before[0])
    if strides is None:
        yield "invalid source layout map or collapsing non-contiguous dims"
    elif not _same_layout(result, result.shape, (strides, before[1])):
        yield f"expected strides {strides} and offset {before[1]}, found {result}"


def _expand(op: Definition) -> Iterator[str]:
    source, result = type_of(op, "src"), type_of(op, "result")
    if not isinstance(source, MemRefType) or not isinstance(result, MemRefType):
        return
    if source.shape is None or result.shape is None:
        return
    groups, sizes = groups_of(op, "reassociation"), numbers(result.shape)
    faults = list(wrong_groups(groups, result.shape, source.shape))
    stated = counts_of(op, "static_output_shape")
    if len(stated) != len(result.shape):
        faults.append(f"expected number of static shape bounds to be equal to the output rank ({len(result.shape)})")
    elif stated.count(DYNAMIC) != len(values_of(op, "output_shape")):
        faults.append("mismatch in dynamic dims in output_shape and static_output_shape")
    for n, (size, expected) in enumerate(zip(sizes, static(stated), strict=False)):
        if size is not None and expected is not None and size != expected:
            faults.append(f"invalid output shape provided at pos {n}")
    yield from faults or _wrong_layout(source, result, lambda strides: _expanded(groups, sizes, strides))
    yield from _wrong_contents(source, result)


def _expanded(groups: Sequence[Sequence[int]], sizes: Sequence[Count], strides: Sequence[Count]) -> list[Count]:
    """Returns the strides of split dimensions."""
    return [
        product([stride, *[sizes[m] for m in group[n + 1 :]]])
        for group, stride in zip(groups, strides, strict=True)
        for n in range(len(group))
    ]


def _collapse(op: Definition) -> Iterator[str]:
    source, result = type_of(op, "src"), type_of(op, "result")
    if not isinstance(source, MemRefType) or not isinstance(result, MemRefType):
        return
    if source.shape is None or result.shape is None:
        return
    groups, sizes = groups_of(op, "reassociation"), numbers(source.shape)
    faults = list(wrong_groups(groups, source.shape, result.shape))
    yield from faults or _wrong_layout(source, result, lambda strides: _collapsed(groups, sizes, strides))
    yield from _wrong_contents(source, result)


def _collapsed(groups: Sequence[Sequence[int]], sizes: Sequence[Count], strides: Sequence[Count]) -> list[Count] | None:
    """Returns the strides of merged dimensions; None if a group is known not to be contiguous."""
    result: list[Count] = []
    for group in groups:
        kept = list(group)
        while len(kept) > 1 and sizes[kept[-1]] == 1:
            kept.pop()
        last = kept[-1] if kept else None
        result.append(1 if last is None else strides[last] if sizes[last] is not None or len(kept) == 1 else None)
    for group, first in zip(groups, result, strict=True):
        stride = first
        for n in reversed(group[1:]):
            stride = product([stride, sizes[n]])
            if sizes[n - 1] != 1 and not are_same(stride, strides[n - 1]):
                return None
    return result


def _mixed_lists(op: Definition) -> dict[str, list[Count]]:
    """Returns the offsets, sizes and strides of an operation, None for those that are operands."""
    return {what: static(counts_of(op, f"static_{what}s")) for what in ("offset", "size", "stride")}


def _wrong_dynamic(op: Definition, lists: Mapping[str, Sequence[Count]]) -> Iterator[str]:
    for what, entries in lists.items():
        count = sum(n is None for n in entries)
        if count != len(values_of(op, f"{what}s")):
            yield f"expected {count} dynamic {what} values"


def _subview(op: Definition) -> Iterator[str]:
    source, result = type_of(op, "source"), type_of(op, "result")
    if not isinstance(source, MemRefType) or not isinstance(result, MemRefType):
        return
    if source.shape is None or result.shape is None:
        return
    lists = _mixed_lists(op)
    for what, entries in lists.items():
        if len(entries) != len(source.shape):
            yield f"expected {len(source.shape)} {what} values, got {len(entries)}"
            return
    yield from _wrong_dynamic(op, lists)
    yield from _wrong_contents(source, result)
    yield from _out_of_bounds(numbers(source.shape), lists["offset"], lists["size"], lists["stride"])
    before, own = strides_of(source), strides_of(result)
    if before is None:
        return
    strides = [product(pair) for pair in zip(before[0], lists["stride"], strict=True)]
    offset = total([before[1], *[product(pair) for pair in zip(before[0], lists["offset"], strict=True)]])
    found = numbers(result.shape)
    if not _is_reduced(lists["size"], strides, found, None if own is None else own[0]):
        shown = f"sizes {lists['size']} and strides {strides}"
        yield f"expected result type to have {shown}, or a rank-reduced version, but got '{result}'"
    elif own is not None and own[1] != offset:
        yield f"expected result type to have offset {offset}, but got '{result}'"


def _out_of_bounds(
    shape: Sequence[Count], offsets: Sequence[Count], sizes: Sequence[Count], strides: Sequence[Count]
) -> Iterator[str]:
    for n, (whole, offset, size, stride) in enumerate(zip(shape, offsets, sizes, strides, strict=True)):
        if whole is None or offset is None:
            continue
        if offset >= whole:
            yield f"offset {n} is out-of-bounds: {offset} >= {whole}"
        elif size is not None and stride is not None and size and offset + (size - 1) * stride >= whole:
            yield f"slice along dimension {n} runs out-of-bounds: {offset + (size - 1) * stride} >= {whole}"


def _is_reduced(
    sizes: Sequence[Count], strides: Sequence[Count], other: Sequence[Count], other_strides: Sequence[Count] | None
) -> bool:
    """Returns whether a shape with strides is another one without some of its dimensions of size 1."""
    reached = {0}
    for n, size in enumerate(sizes):
        after: set[int] = set()
        for at in reached:
            fits = at < len(other) and other[at] == size
            if fits and (other_strides is None or other_strides[at] == strides[n]):
                after.add(at + 1)
            if size == 1:
                after.add(at)
        reached = after
    return len(other) in reached


def _transpose(op: Definition) -> Iterator[str]:
    source, result, permutation = type_of(op, "in"), type_of(op, "result"), op.properties.get("permutation")
    if not isinstance(source, MemRefType) or not isinstance(result, MemRefType) or source.shape is None:
        return
    exprs = permutation.map.results if isinstance(permutation, AffineMapAttr) else ()
    order = [e.position for e in exprs if isinstance(e, AffineDim)]
    if sorted(order) != list(range(len(source.shape))) or len(exprs) != len(order):
        yield "expected a permutation map of the rank of the input"
        return
    before = strides_of(source)
    layout = None if before is None else ([before[0][n] for n in order], before[1])
    if not _same_layout(result, tuple([source.shape[n] for n in order]), layout):
        yield f"result type '{result}' is not equivalent to the transposed input type"


def _view(op: Definition) -> Iterator[str]:
    source, result = type_of(op, "source"), type_of(op, "result")
    if not isinstance(source, MemRefType) or not isinstance(result, MemRefType):
        return
    for type in (source, result):
        if type.layout is not None:
            yield f"unsupported map for type '{type}'"
    if source.memory_space is not result.memory_space:
        yield f"different memory spaces of '{source}' and '{result}'"
    yield from wrong_sizes(op, "sizes", result)


def _reinterpret(op: Definition) -> Iterator[str]:
    source, result = type_of(op, "source"), type_of(op, "result")
    if not isinstance(result, MemRefType) or result.shape is None:
        return
    lists = _mixed_lists(op)
    if len(lists["offset"]) != 1 or {len(lists["size"]), len(lists["stride"])} != {len(result.shape)}:
        yield f"expected one offset and {len(result.shape)} sizes and strides, as the rank of the result type"
        return
    yield from _wrong_dynamic(op, lists)
    if element_of(source) is not result.element:
        yield f"different element types of source type '{source}' and result type '{result}'"
    if _space_of(source) is not result.memory_space:
        yield f"different memory spaces of source type '{source}' and result type '{result}'"
    own = strides_of(result)
    if own is None:
        yield f"expected result type to have strided layout but found '{result}'"
        return
    for what, stated, found in (
        ("size", lists["size"], numbers(result.shape)),
        ("offset", lists["offset"], [own[1]]),
        ("stride", lists["stride"], own[0]),
    ):
        for n, (expected, actual) in enumerate(zip(stated, found, strict=True)):
            if actual is not None and actual != expected:
                shown = "dynamic" if expected is None else expected
                yield f"expected result type with {what} = {shown} instead of {actual} in dim = {n}"


def _reshape(op: Definition) -> Iterator[str]:
    source, result, shape = type_of(op, "source"), type_of(op, "result"), type_of(op, "shape")
    if element_of(source) is not element_of(result):
        yield "element types of source and destination memref types should be the same"
    for type in (source, result):
        if isinstance(type, MemRefType) and type.layout is not None:
            yield f"'{type}' should have identity affine map"
    found = shape_of(result)
    length = (shape_of(shape) or (None,))[0]
    if found is None:
        return
    if not isinstance(length, int):
        yield "cannot use shape operand with dynamic length to reshape to statically-ranked memref type"
    elif length != len(found):
        yield "length of shape operand differs from the result's memref rank"


def _between_tensor_and_buffer(op: Definition) -> Iterator[str]:
    """Checks that the tensor of a buffer has its shape and elements."""
    (source,), (result,) = op.operands, op.results
    types = source.type, result.type
    tensor = next((t for t in types if isinstance(t, TensorType)), None)
    buffer = next((t for t in types if isinstance(t, MemRefType)), None)
    if tensor is None or buffer is None:
        return
    if tensor.element is not buffer.element or tensor.shape != buffer.shape:
        yield f"specified tensor and buffer types match, found '{tensor}' and '{buffer}'"


VERIFIERS: Mapping[str, Verifier] = MappingProxyType(
    {
        "memref.cast": _cast,
        "memref.collapse_shape": _collapse,
        "memref.expand_shape": _expand,
        "memref.memory_space_cast": _space_cast,
        "memref.reinterpret_cast": _reinterpret,
        "memref.reshape": _reshape,
        "memref.subview": _subview,
        "memref.transpose": _transpose,
        "memref.view": _view,
        "bufferization.to_buffer": _between_tensor_and_buffer,
        "bufferization.to_tensor": _between_tensor_and_buffer,
    }
)
