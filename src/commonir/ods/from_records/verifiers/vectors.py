"""Checks of operations of the vector dialect on vectors alone.

Where upstream compares the sizes of dimensions and not whether they are scalable, so do these checks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from commonir.ir.affine import AffineDim, AffineMap, AffineMapAttr
from commonir.ir.attributes import ArrayAttr, Attribute, attribute_text
from commonir.ir.types import DYNAMIC, ElementType, Type, VectorType
from commonir.ods.definition import Definition
from commonir.ods.from_records.verifiers.values import (
    Verifier,
    combining_kind,
    counts_of,
    shape_of,
    type_of,
    values_of,
)
from commonir.ods.type_rules import element_of

Extent = tuple[int, bool]
"""The size of a dimension, and whether it is scalable."""

_OF_INTEGERS = frozenset({"and", "maxsi", "maxui", "minsi", "minui", "or", "xor"})
_OF_FLOATS = frozenset({"maximumf", "maxnumf", "minimumf", "minnumf"})
_POISON = -1


def extents_of(type: Type) -> list[Extent]:
    """Returns the dimensions of a vector; [] of other types."""
    return list(zip(type.shape, type.scalable, strict=True)) if isinstance(type, VectorType) else []


def vector_of(element: Type, extents: Sequence[Extent]) -> Type:
    """Returns the vector of some dimensions; its element if there are none."""
    if not extents or not isinstance(element, ElementType):
        return element
    return VectorType(element, tuple([n for n, _ in extents]), tuple([s for _, s in extents]))


def sizes_of(type: Type) -> list[int]:
    """Returns the sizes of the dimensions of a vector; [] of other types."""
    return [size for size, _ in extents_of(type)]


def shown(extents: Sequence[Extent]) -> str:
    """Returns dimensions as text: `2x[4]`."""
    return "x".join([f"[{n}]" if is_scalable else str(n) for n, is_scalable in extents])


def _wrong_kind(op: Definition, element: Type) -> Iterator[str]:
    """Yields an error if elements cannot be combined as an operation says."""
    name = combining_kind(op)
    is_float = isinstance(element, ElementType) and element.is_float
    if name in (_OF_INTEGERS if is_float else _OF_FLOATS):
        yield f"unsupported type '{element}' for kind '{name}'"


def _wrong_elements(op: Definition) -> Iterator[str]:
    """Yields an error if the element types of operands and results differ."""
    elements = {element_of(v.type): None for v in (*op.operands, *op.results)}
    if len(elements) > 1:
        yield f"operands and results have one element type, found {', '.join(map(str, elements))}"


def _broadcast(op: Definition) -> Iterator[str]:
    yield from _wrong_elements(op)
    if not isinstance(type_of(op, "source"), ElementType):
        yield f"source type '{type_of(op, 'source')}' is not a vector"
    source, target = extents_of(type_of(op, "source")), extents_of(type_of(op, "vector"))
    if len(source) > len(target):
        yield "source rank higher than destination rank"
        return
    for own, other in zip(source, target[len(target) - len(source) :], strict=True):
        if own not in ((1, False), other):
            yield f"dimension mismatch ({shown([own])} vs. {shown([other])})"


def _bits(element: Type) -> int:
    return element.width if isinstance(element, ElementType) else 0


def _bitcast(op: Definition) -> Iterator[str]:
    source, result = type_of(op, "source"), type_of(op, "result")
    before, after = extents_of(source), extents_of(result)
    for n, (own, other) in enumerate(zip(before[:-1], after[:-1], strict=False)):
        if own[0] != other[0]:
            yield f"dimension size mismatch at: {n}"
    last = (before or [(1, False)])[-1], (after or [(1, False)])[-1]
    if _bits(element_of(source)) * last[0][0] != _bits(element_of(result)) * last[1][0]:
        yield "source/result bitwidth of the minor 1-D vectors must be equal"


def _shape_cast(op: Definition) -> Iterator[str]:
    yield from _wrong_elements(op)
    source, result = type_of(op, "source"), type_of(op, "result")
    if isinstance(source, VectorType) and isinstance(result, VectorType):
        if source.count != result.count:
            yield f"source/result number of elements must match, found {source.count} and {result.count}"
        if sum(source.scalable) != sum(result.scalable):
            yield "source/result number of scalable dims must match"


def _wrong_position(positions: Sequence[int], extents: Sequence[Extent]) -> Iterator[str]:
    for n, (at, (size, _)) in enumerate(zip(positions, extents, strict=False)):
        if at not in (DYNAMIC, _POISON) and not 0 <= at < size:
            yield f"expected position attribute #{n} to be a non-negative integer smaller than {size}, found {at}"


def _wrong_dynamic(op: Definition, positions: Sequence[int]) -> Iterator[str]:
    if positions.count(DYNAMIC) != len(values_of(op, "dynamic_position")):
        yield "the number of dynamic positions is not that of the values"


def _extract(op: Definition) -> Iterator[str]:
    source, positions = type_of(op, "source"), counts_of(op, "static_position")
    extents = extents_of(source)
    if len(positions) > len(extents):
        yield "expected position attribute of rank no greater than vector rank"
        return
    yield from _wrong_position(positions, extents)
    yield from _wrong_dynamic(op, positions)
    result, expected = type_of(op, "result"), vector_of(element_of(source), extents[len(positions) :])
    is_single = shape_of(result) in ((), (1,)) and not isinstance(expected, VectorType)
    if result is not expected and not (is_single and element_of(result) is expected):
        yield f"expected the result type '{expected}', found '{result}'"


def _insert(op: Definition) -> Iterator[str]:
    yield from _wrong_elements(op)
    value, target, positions = type_of(op, "valueToStore"), type_of(op, "dest"), counts_of(op, "static_position")
    extents, own = extents_of(target), extents_of(value)
    if len(positions) + len(own) != len(extents):
        yield "expected position attribute rank + source vector rank to match dest vector rank"
        return
    # Upstream compares only the ranks: a vector of another size is accepted.
    yield from _wrong_position(positions, extents)
    yield from _wrong_dynamic(op, positions)


def _wrong_strides(strides: Sequence[int]) -> Iterator[str]:
    if any(n != 1 for n in strides):
        yield f"expected strides to be 1, found {list(strides)}"


def _extract_slice(op: Definition) -> Iterator[str]:
    yield from _wrong_elements(op)
    source = type_of(op, "source")
    offsets, sizes, strides = (counts_of(op, name) for name in ("offsets", "sizes", "strides"))
    extents = extents_of(source)
    if not len(offsets) == len(sizes) == len(strides):
        yield "expected offsets, sizes and strides to have same size"
        return
    if len(offsets) > len(extents):
        yield "expected offsets to have no more entries than the rank of the vector"
        return
    yield from _wrong_strides(strides)
    for n, (offset, size, (whole, is_scalable)) in enumerate(zip(offsets, sizes, extents, strict=False)):
        if not 0 <= offset < whole or not size >= 1 or offset + size > whole:
            yield f"slice along dimension {n} is out of bounds: {offset} to {offset + size} of {whole}"
        if is_scalable and size != whole:
            yield f"expected size at idx={n} to match the corresponding base size for a scalable dimension"
    taken = [(size, whole[1]) for size, whole in zip(sizes, extents, strict=False)]
    expected, result = [*taken, *extents[len(sizes) :]], type_of(op, "result")
    if extents_of(result) != expected:
        yield f"expected a result of {shown(expected)} elements, found '{result}'"


def _insert_slice(op: Definition) -> Iterator[str]:
    yield from _wrong_elements(op)
    source, target = extents_of(type_of(op, "valueToStore")), extents_of(type_of(op, "dest"))
    offsets, strides = counts_of(op, "offsets"), counts_of(op, "strides")
    if len(offsets) != len(target):
        yield "expected offsets of same size as destination vector rank"
    elif len(strides) != len(source):
        yield "expected strides of same size as source vector rank"
    elif len(source) > len(target):
        yield "expected source rank to be no greater than destination rank"
    else:
        yield from _wrong_strides(strides)
        lead = [(1, False)] * (len(target) - len(source))
        for n, (offset, own, whole) in enumerate(zip(offsets, [*lead, *source], target, strict=True)):
            if not offset >= 0 or offset + own[0] > whole[0]:
                yield f"slice along dimension {n} is out of bounds: {offset} to {offset + own[0]} of {whole[0]}"
            if n >= len(lead) and own[1] is not whole[1]:
                yield f"expected dimension {n} to be scalable in both vectors or in none"


def _outer_product(op: Definition) -> Iterator[str]:
    lhs, rhs, result = (sizes_of(type_of(op, name)) for name in ("lhs", "rhs", "result"))
    if len(lhs) != 1 or len(rhs) > 1:
        yield "expected 1-d vectors, or a scalar as operand #2"
    elif result != [*lhs, *rhs]:
        yield f"expected a result of the sizes {[*lhs, *rhs]}, found '{type_of(op, 'result')}'"
    elif rhs and extents_of(type_of(op, "lhs"))[0][1] and not extents_of(type_of(op, "rhs"))[0][1]:
        yield "expected either both or only #2 operand dim to be scalable"
    elements = {element_of(type_of(op, name)) for name in ("lhs", "rhs", "result")}
    if len(elements) > 1:
        yield "operands and result have one element type"
    for value in values_of(op, "acc"):
        if value.type is not type_of(op, "result"):
            yield f"expected operand #3 of same type as result type, found '{value.type}'"
    yield from _wrong_kind(op, element_of(type_of(op, "result")))


def _reduction(op: Definition) -> Iterator[str]:
    yield from _wrong_elements(op)
    rank = len(extents_of(type_of(op, "vector")))
    if rank > 1:
        yield f"unsupported reduction rank: {rank}"
    yield from _wrong_kind(op, type_of(op, "dest"))


def _multi_reduction(op: Definition) -> Iterator[str]:
    yield from _wrong_elements(op)
    source, result, dims = type_of(op, "source"), type_of(op, "dest"), counts_of(op, "reduction_dims")
    extents = extents_of(source)
    expected = vector_of(element_of(source), [e for n, e in enumerate(extents) if n not in dims])
    if result is not expected:
        yield f"destination type '{result}' is incompatible with source type '{source}', expected '{expected}'"
    yield from _wrong_kind(op, element_of(result))


def _scan(op: Definition) -> Iterator[str]:
    source, initial = type_of(op, "source"), type_of(op, "initial_value")
    at: object = op.field_value(op.layout.by_name["reduction_dim"])
    sizes = sizes_of(source)
    if not isinstance(at, int) or not 0 <= at < len(sizes):
        yield f"reduction dimension {at} has to be less than {len(sizes)}"
        return
    expected = [size for n, size in enumerate(sizes) if n != at]
    if sizes_of(initial) != expected or element_of(initial) is not element_of(source):
        yield f"incompatible initial value '{initial}', expected the sizes {expected}"
    yield from _wrong_kind(op, element_of(source))


def maps_of(op: Definition, name: str = "indexing_maps") -> list[AffineMap]:
    """Returns the affine maps of an array attribute."""
    value = op.properties.get(name)
    items: Sequence[Attribute] = value.values if isinstance(value, ArrayAttr) else ()
    return [v.map for v in items if isinstance(v, AffineMapAttr)]


def _contract(op: Definition) -> Iterator[str]:
    names = ("lhs", "rhs", "acc")
    types = [type_of(op, name) for name in names]
    maps, iterators = maps_of(op), op.properties.get("iterator_types")
    words = [attribute_text(v) for v in iterators.values] if isinstance(iterators, ArrayAttr) else []
    if len(maps) != len(names):
        yield "expected an indexing map for each vector operand"
        return
    if element_of(types[0]) is not element_of(types[1]) or types[2] is not type_of(op, "result"):
        yield "the operands have one element type, and the accumulator the type of the result"
    sizes: dict[int, int] = {}
    for n, (each, type) in enumerate(zip(maps, types, strict=True)):
        dims = [e.position for e in each.results if isinstance(e, AffineDim)]
        if each.symbols or each.dims != len(words):
            yield f"expected indexing map {n} to have {len(words)} number of inputs and no symbols"
            return
        own = sizes_of(type)
        if len(each.results) != len(own):
            yield f"expected indexing map {n} to have {len(own)} number of outputs"
            return
        if len(dims) != len(each.results) or len(set(dims)) != len(dims):
            yield f"expected indexing map {n} to be a projected permutation of its inputs"
            return
        for dim, size in zip(dims, own, strict=True):
            if sizes.setdefault(dim, size) != size:
                yield f"dimension {dim} has the sizes {sizes[dim]} and {size}"
    reduced = [n for n, word in enumerate(words) if "reduction" in word]
    used = [{e.position for e in each.results if isinstance(e, AffineDim)} for each in maps]
    if not any(n in used[0] and n in used[1] for n in reduced):
        yield "expected at least one contracting dimension pair"
    if any(n in used[2] for n in reduced):
        yield "a contracted dimension cannot be one of the result"
    yield from _wrong_kind(op, element_of(type_of(op, "result")))


def _transpose(op: Definition) -> Iterator[str]:
    yield from _wrong_elements(op)
    source, result = sizes_of(type_of(op, "vector")), sizes_of(type_of(op, "result"))
    permutation = counts_of(op, "permutation")
    if len(source) != len(result):
        yield f"vector result rank mismatch: {len(result)}"
    elif sorted(permutation) != list(range(len(source))):
        yield f"expected a permutation of {len(source)} dimensions, found {list(permutation)}"
    elif result != [source[n] for n in permutation]:
        yield f"dimension size mismatch: expected {[source[n] for n in permutation]}"


def _shuffle(op: Definition) -> Iterator[str]:
    yield from _wrong_elements(op)
    first, second, result = (extents_of(type_of(op, name)) for name in ("v1", "v2", "vector"))
    mask = counts_of(op, "mask")
    if len(first) != len(second) or (len(first) != len(result) and first):
        yield "rank mismatch"
        return
    if first[1:] != second[1:] or result[1:] != first[1:]:
        yield "dimension mismatch"
    lengths = [(shape or [(1, False)])[0][0] for shape in (first, second)]
    if not mask or result[:1] != [(len(mask), False)]:
        yield f"invalid mask length {len(mask)}"
    for n, index in enumerate(mask):
        if index != _POISON and not 0 <= index < sum(lengths):
            yield f"mask index #{n} out of range"


def _create_mask(op: Definition) -> Iterator[str]:
    rank = len(extents_of(type_of(op, "result")))
    if len(op.operands) != (rank or 1):
        yield "must specify an operand for each result vector dimension"


def _constant_mask(op: Definition) -> Iterator[str]:
    extents, sizes = extents_of(type_of(op, "result")), counts_of(op, "mask_dim_sizes")
    if not extents:
        if len(sizes) != 1 or sizes[0] not in (0, 1):
            yield "array attr must be either 0 or 1 for 0-D vectors"
        return
    if len(sizes) != len(extents):
        yield "must specify array attr of size equal vector result rank"
        return
    for n, (size, (whole, is_scalable)) in enumerate(zip(sizes, extents, strict=True)):
        if not 0 <= size <= whole:
            yield f"array attr of size out of bounds of vector result dimension size {n}"
        if is_scalable and size not in (0, whole):
            yield "only supports 'none set' or 'all set' scalable dimensions"
    if 0 in sizes and any(sizes):
        yield "expected all mask dim sizes to be zeros, as a result of conjunction with zero mask dim"


def _elements(op: Definition) -> Iterator[str]:
    """Checks a vector that is made of, or taken apart into, its elements."""
    vectors = [v.type for v in (*op.operands, *op.results) if isinstance(v.type, VectorType)]
    scalars = [v.type for v in (*op.operands, *op.results) if not isinstance(v.type, VectorType)]
    if len(vectors) == 1 and (len(scalars) != vectors[0].count or set(scalars) - {vectors[0].element}):
        yield f"the elements are those of '{vectors[0]}', found {len(scalars)}"


def _interleave(op: Definition) -> Iterator[str]:
    source, result = type_of(op, "lhs"), type_of(op, "result")
    extents = extents_of(source) or [(1, False)]
    expected = [*extents[:-1], (2 * extents[-1][0], extents[-1][1])]
    if extents_of(result) != expected or element_of(source) is not element_of(result):
        yield f"expected a result of {shown(expected)} elements, found '{result}'"


def _deinterleave(op: Definition) -> Iterator[str]:
    extents = extents_of(type_of(op, "source"))
    if not extents or extents[-1][0] % 2:
        yield "the trailing dimension of the source vector has an even number of elements"
        return
    expected = [*extents[:-1], (extents[-1][0] // 2, extents[-1][1])]
    for result in op.results:
        if extents_of(result.type) != expected or element_of(result.type) is not element_of(type_of(op, "source")):
            yield f"expected results of {shown(expected)} elements, found '{result.type}'"


def _scalable_part(op: Definition) -> Iterator[str]:
    part = type_of(op, "result") if op.name == "vector.scalable.extract" else type_of(op, "valueToStore")
    at: object = op.field_value(op.layout.by_name["pos"])
    count = part.count if isinstance(part, VectorType) else 1
    if isinstance(at, int) and at % count:
        yield f"position {at} is not a multiple of the length {count} of '{part}'"


def _print(op: Definition) -> Iterator[str]:
    if "stringLiteral" in op.properties and op.operands:
        yield "`source` is not set when printing strings"


VERIFIERS: Mapping[str, Verifier] = MappingProxyType(
    {
        "vector.bitcast": _bitcast,
        "vector.broadcast": _broadcast,
        "vector.constant_mask": _constant_mask,
        "vector.contract": _contract,
        "vector.create_mask": _create_mask,
        "vector.deinterleave": _deinterleave,
        "vector.extract": _extract,
        "vector.extract_strided_slice": _extract_slice,
        "vector.from_elements": _elements,
        "vector.insert": _insert,
        "vector.insert_strided_slice": _insert_slice,
        "vector.interleave": _interleave,
        "vector.multi_reduction": _multi_reduction,
        "vector.outerproduct": _outer_product,
        "vector.print": _print,
        "vector.reduction": _reduction,
        "vector.scalable.extract": _scalable_part,
        "vector.scalable.insert": _scalable_part,
        "vector.scan": _scan,
        "vector.shape_cast": _shape_cast,
        "vector.shuffle": _shuffle,
        "vector.to_elements": _elements,
        "vector.transpose": _transpose,
    }
)
