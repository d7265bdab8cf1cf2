"""Checks of operations of the vector dialect that read and write memory, and of masked regions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from commonir.ir.affine import AffineConstant, AffineDim, AffineMap, AffineMapAttr
from commonir.ir.attributes import ArrayAttr
from commonir.ir.operation import Operation
from commonir.ir.types import MemRefType, TensorType, Type, VectorType
from commonir.ods.definition import Definition
from commonir.ods.from_records.verifiers.values import (
    Verifier,
    shape_of,
    strides_of,
    type_of,
    values_of,
    wrong_indices,
)
from commonir.ods.from_records.verifiers.vectors import Extent, extents_of, maps_of, shown, sizes_of
from commonir.ods.type_rules import element_of

_MASKABLE = frozenset(
    {
        *("vector.contract", "vector.gather", "vector.multi_reduction", "vector.outerproduct", "vector.reduction"),
        *("vector.transfer_read", "vector.transfer_write"),
    }
)


def _moved(op: Definition) -> Type:
    """Returns the type of the vector that is read or written."""
    names = ("valueToStore", "result", "vector")
    return type_of(op, next(name for name in names if any(f.spelling == name for f in op.layout.by_name.values())))


def _wrong_element(op: Definition) -> Iterator[str]:
    base, vector = type_of(op, "base"), _moved(op)
    if element_of(base) is not element_of(vector):
        yield f"base and vector element types should match, found '{base}' and '{vector}'"


def _plain(op: Definition) -> Iterator[str]:
    """Checks `vector.load` and `vector.store`."""
    base, vector = type_of(op, "base"), _moved(op)
    if not isinstance(base, MemRefType):
        return
    layout = strides_of(base)
    is_single = isinstance(vector, VectorType) and vector.count == 1 and not any(vector.scalable)
    if not is_single and (layout is None or (layout[0] and layout[0][-1] != 1)):
        yield "most minor memref dim must have unit stride"
    if isinstance(base.element, VectorType):
        if base.element is not vector:
            yield f"base memref and vector types should match, found '{base}' and '{vector}'"
    else:
        yield from _wrong_element(op)
    if (
        base.shape is not None
        and not isinstance(base.element, VectorType)
        and len(base.shape) < len(extents_of(vector))
    ):
        yield f"'{base}' has a lower rank than '{vector}'"
    yield from wrong_indices(op, "base")


def _masked(op: Definition) -> Iterator[str]:
    """Checks accesses of which a mask selects the elements."""
    yield from _wrong_element(op)
    yield from wrong_indices(op, "base", "offsets" if op.name in ("vector.gather", "vector.scatter") else "indices")
    vector = _moved(op)
    for name in ("mask", "indices"):
        if any(f.spelling == name and not f.variadic for f in op.layout.by_name.values()):
            other = type_of(op, name)
            if sizes_of(other) != sizes_of(vector):
                yield f"expected '{vector}' to have the shape of its {name}, '{other}'"
    if any(f.spelling == "pass_thru" for f in op.layout.by_name.values()) and type_of(op, "pass_thru") is not vector:
        yield f"expected pass_thru of same type as the result, found '{type_of(op, 'pass_thru')}'"


def _transfer(op: Definition) -> Iterator[str]:
    base, vector, attr = type_of(op, "base"), _moved(op), op.properties.get("permutation_map")
    shape = shape_of(base)
    if shape is None or not isinstance(base, MemRefType | TensorType):
        yield f"requires source to be a memref or ranked tensor type, found '{base}'"
        return
    if not isinstance(attr, AffineMapAttr) or not isinstance(vector, VectorType):
        return
    order = attr.map
    inner = extents_of(element_of(base))
    if not inner and element_of(base) is not vector.element:
        yield f"requires source and vector element types to match, found '{base}' and '{vector}'"
    if order.dims != len(shape):
        yield "requires a permutation_map with input dims of the same rank as the source type"
    elif order.symbols:
        yield "requires permutation_map without symbols"
    elif len(order.results) != len(vector.shape) - len(inner):
        yield "requires a permutation_map with result dims of the same rank as the vector type"
    elif not _is_projection(order):
        yield "requires a projected permutation_map (at most one dim or the zero constant can appear in each result)"
    elif "read" not in op.name and any(isinstance(e, AffineConstant) for e in order.results):
        yield "should not have broadcast dimensions"
    else:
        yield from _wrong_mask(op, order, vector)
    in_bounds = op.properties.get("in_bounds")
    if isinstance(in_bounds, ArrayAttr) and len(in_bounds.values) != len(order.results):
        yield f"expects the in_bounds attr of same rank as permutation_map results: {len(order.results)}"
    yield from wrong_indices(op, "base")
    expected = [base] if isinstance(base, TensorType) and "read" not in op.name else []
    if "read" not in op.name and [r.type for r in op.results] != expected:
        yield "expected one result of the type of a tensor that is written, and none for a memref"
    if "read" in op.name and type_of(op, "padding") is not element_of(base):
        yield f"requires formal padding and source of the same elemental type, found '{type_of(op, 'padding')}'"


def _is_projection(order: AffineMap) -> bool:
    dims = [e.position for e in order.results if isinstance(e, AffineDim)]
    zeros = [e for e in order.results if e is AffineConstant(0)]
    return len(dims) + len(zeros) == len(order.results) and len(set(dims)) == len(dims)


def _wrong_mask(op: Definition, order: AffineMap, vector: VectorType) -> Iterator[str]:
    for mask in values_of(op, "mask"):
        if extents_of(mask.type) != mask_extents(order, vector):
            yield f"inferred mask type and mask operand type '{mask.type}' don't match"


def _type_cast(op: Definition) -> Iterator[str]:
    source, result = type_of(op, "memref"), type_of(op, "result")
    if not isinstance(source, MemRefType) or not isinstance(result, MemRefType) or source.shape is None:
        return
    if source.layout is not None:
        yield "expects operand to be a memref with identity layout"
    if result.layout is not None:
        yield "expects result to be a memref with identity layout"
    if source.memory_space is not result.memory_space:
        yield "expects result in same memory space"
    inner, outer = result.element, result.shape or ()
    if not isinstance(inner, VectorType) or element_of(inner) is not source.element:
        yield f"expects a result of vectors with elements of '{source}', found '{result}'"
    elif (*outer, *inner.shape) != source.shape:
        yield "expects concatenated result and operand shapes to be equal"


def _mask(op: Definition) -> Iterator[str]:
    operations = [each for block in op.regions[0].blocks for each in block.operations]
    if not operations or operations[-1].name != "vector.yield":
        yield "expects a terminator within the mask region"
        return
    *inside, last = operations
    if len(inside) > 1:
        yield "expects only one operation to mask"
    elif inside and inside[0].name not in _MASKABLE:
        yield f"expects a MaskableOpInterface within the mask region, found {inside[0].name}"
    elif inside:
        yield from _wrong_masking(op, inside[0], last)
    passed = values_of(op, "passthru")
    if passed and inside and inside[0].name != "vector.transfer_read":
        yield f"doesn't expect a passthru argument for {inside[0].name}"
    if passed and [r.type for r in op.results] != [passed[0].type]:
        yield "expects passthru type to match the result type"


def _masked_extents(inner: Operation) -> list[Extent] | None:
    """Returns the dimensions of the mask of an operation: those of its loops."""
    if not isinstance(inner, Definition):
        return None
    match inner.name:
        case "vector.reduction":
            return extents_of(type_of(inner, "vector"))
        case "vector.multi_reduction":
            return extents_of(type_of(inner, "source"))
        case "vector.gather" | "vector.outerproduct":
            return extents_of(type_of(inner, "result"))
        case "vector.contract":
            sizes: dict[int, Extent] = {}
            for each, name in zip(maps_of(inner), ("lhs", "rhs", "acc"), strict=False):
                own = extents_of(type_of(inner, name))
                pairs = zip(each.results, own, strict=False)
                sizes |= {e.position: extent for e, extent in pairs if isinstance(e, AffineDim)}
            return [sizes[n] for n in sorted(sizes)]
        case _:
            attr = inner.properties.get("permutation_map")
            return None if not isinstance(attr, AffineMapAttr) else mask_extents(attr.map, _moved(inner))


def mask_extents(order: AffineMap, vector: Type) -> list[Extent]:
    """Returns the dimensions of the mask of a transfer: those of the vector in the order of the source."""
    pairs = zip(order.results, extents_of(vector), strict=False)
    sizes = {e.position: extent for e, extent in pairs if isinstance(e, AffineDim)}
    return [sizes[n] for n in sorted(sizes)] or [(1, False)]


def _wrong_masking(op: Definition, inner: Operation, last: Operation) -> Iterator[str]:
    shape = _masked_extents(inner)
    if shape is not None and extents_of(type_of(op, "mask")) != shape:
        yield f"expects a mask of {shown(shape)} for the masked operation, found '{type_of(op, 'mask')}'"
    types = [r.type for r in op.results]
    if [r.type for r in inner.results] != types or [v.type for v in last.operands] != types:
        yield "expects the results of the mask region to be those of the masked operation"


VERIFIERS: Mapping[str, Verifier] = MappingProxyType(
    {
        **dict.fromkeys(("vector.load", "vector.store"), _plain),
        **dict.fromkeys(
            [
                f"vector.{name}"
                for name in ("compressstore", "expandload", "gather", "maskedload", "maskedstore", "scatter")
            ],
            _masked,
        ),
        **dict.fromkeys(("vector.transfer_read", "vector.transfer_write"), _transfer),
        "vector.mask": _mask,
        "vector.type_cast": _type_cast,
    }
)
