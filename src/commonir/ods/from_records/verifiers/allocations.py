"""Checks of operations of memref and bufferization that make buffers, and of accesses to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from commonir.ir.affine import AffineMapAttr, StridedLayoutAttr
from commonir.ir.attributes import DataAttr, SparseAttr, SymbolRefAttr, TypeAttr, UnitAttr
from commonir.ir.operation import Operation
from commonir.ir.types import ElementType, MemRefType, TensorType, Type, index
from commonir.ods.definition import Definition
from commonir.ods.from_records.verifiers.values import (
    Verifier,
    are_same,
    combining_kind,
    dynamic_count,
    nearest_symbol,
    numbers,
    shape_of,
    type_of,
    values_of,
    wrong_indices,
    wrong_sizes,
)
from commonir.ods.type_rules import element_of

_SCOPES = frozenset(
    {
        *("func.func", "gpu.func", "gpu.launch", "llvm.func", "memref.alloca_scope", "scf.for", "scf.forall"),
        *("scf.parallel", "affine.for", "affine.parallel", "async.func", "emitc.func", "spirv.func", "shape.func"),
    }
)
"""Operations in whose regions memory is allocated until they end (`AutomaticAllocationScope`)."""


def _access(op: Definition) -> Iterator[str]:
    return wrong_indices(op, "memref")


def _symbol_count(type: MemRefType) -> int:
    """Returns the number of symbols of the layout of a buffer, which are values of its allocation."""
    match type.layout:
        case AffineMapAttr(map=layout):
            return layout.symbols
        case StridedLayoutAttr(strides=strides, offset=offset):
            return sum(n is None for n in (*strides, offset))
        case _:
            return 0


def _allocation(op: Definition) -> Iterator[str]:
    type = type_of(op, "memref")
    yield from wrong_sizes(op, "dynamicSizes", type)
    symbols, expected = len(values_of(op, "symbolOperands")), _symbol_count(type) if isinstance(type, MemRefType) else 0
    if symbols != expected:
        yield f"symbol operand count does not equal memref symbol count: expected {expected}, got {symbols}"


def _alloca(op: Definition) -> Iterator[str]:
    yield from _allocation(op)
    if op.parent is not None and not any(each.name in _SCOPES for each in op.ancestors()):
        yield "requires an ancestor op with AutomaticAllocationScope trait"


def _realloc(op: Definition) -> Iterator[str]:
    source, result = type_of(op, "source"), type_of(op, "result")
    if not isinstance(source, MemRefType) or not isinstance(result, MemRefType):
        return
    for type in (source, result):
        if type.layout is not None:
            yield f"unsupported layout of '{type}'"
    if source.memory_space is not result.memory_space:
        yield f"different memory spaces of '{source}' and '{result}'"
    if source.element is not result.element:
        yield f"different element types of '{source}' and '{result}'"
    needed, given = dynamic_count(result.shape), len(values_of(op, "dynamicResultSize"))
    if needed != given:
        yield f"{'missing' if needed else 'unnecessary'} dimension operand for result type '{result}'"


def _get_global(op: Definition) -> Iterator[str]:
    reference = op.properties.get("name")
    if not isinstance(reference, SymbolRefAttr) or op.parent is None:
        return
    found = nearest_symbol(op, reference.path[-1]) if len(reference.path) == 1 else None
    if found is None or found.name != "memref.global":
        yield f"'{reference.path[-1]}' does not reference a valid global memref"
        return
    declared, result = _declared_type(found), type_of(op, "result")
    if declared is not None and declared is not result:
        yield f"result type '{result}' does not match type '{declared}' of the global memref @{reference.path[-1]}"


def _declared_type(op: Operation) -> Type | None:
    type = op.attribute_dictionary.get("type")
    return type.type if isinstance(type, TypeAttr) else None


def _global(op: Definition) -> Iterator[str]:
    type, value = _declared_type(op), op.properties.get("initial_value")
    if not isinstance(type, MemRefType) or dynamic_count(type.shape) or type.shape is None:
        yield f"type should be static shaped memref, but got '{type}'"
        return
    if value is None or isinstance(value, UnitAttr):
        return
    if not isinstance(value, DataAttr | SparseAttr):
        yield f"initial value should be a unit or elements attribute, but got {value}"
        return
    if element_of(value.type) is not type.element:
        yield f"initial value has elements of '{element_of(value.type)}', expected '{type.element}'"
    if shape_of(value.type) != type.shape:
        yield f"initial value has type '{value.type}', expected the shape of '{type}'"


_FLOATS = frozenset({"addf", "maximumf", "maxnumf", "minimumf", "minnumf", "mulf"})
_INTEGERS = frozenset({"addi", "andi", "maxs", "maxu", "mins", "minu", "muli", "ori", "xori"})


def _atomic(op: Definition) -> Iterator[str]:
    yield from _access(op)
    name, type = combining_kind(op), type_of(op, "value")
    is_float = isinstance(type, ElementType) and type.is_float
    if name in _FLOATS and not is_float:
        yield f"with kind '{name}' expects a floating-point type, found {type}"
    if name in _INTEGERS and (is_float or type is index):
        yield f"with kind '{name}' expects an integer type, found {type}"


def _generic_atomic(op: Definition) -> Iterator[str]:
    # Upstream does not compare the number of indices with the rank.
    region, type = op.regions[0], type_of(op, "result")
    arguments = region.blocks[0].arguments if region.blocks else ()
    if [a.type for a in arguments] != [type]:
        yield f"expected a single entry argument of type '{type}'"


def _atomic_yield(op: Definition) -> Iterator[str]:
    parent, type = op.parent_op, op.operands[0].type
    if parent is not None and parent.results and parent.results[0].type is not type:
        yield f"types mismatch between yield op: '{type}' and its parent: '{parent.results[0].type}'"


def _scope_return(op: Definition) -> Iterator[str]:
    parent, types = op.parent_op, [v.type for v in op.operands]
    if parent is not None and [r.type for r in parent.results] != types:
        shown = ", ".join(map(str, types)), ", ".join([str(r.type) for r in parent.results])
        yield f"returns ({shown[0]}), but the scope has results ({shown[1]})"


def _alignment(op: Definition) -> Iterator[str]:
    alignment: object = op.field_value(op.layout.by_name["alignment"])
    if isinstance(alignment, int) and (alignment <= 0 or alignment & (alignment - 1)):
        yield "alignment must be power of 2"


def _distinct(op: Definition) -> Iterator[str]:
    if not op.operands:
        yield "expected at least one operand"
    elif [v.type for v in op.operands] != [v.type for v in op.results]:
        yield "the types of results are those of the operands"


# -- bufferization


def _alloc_tensor(op: Definition) -> Iterator[str]:
    type, copied, sizes = type_of(op, "result"), values_of(op, "copy"), values_of(op, "dynamic_sizes")
    if copied and sizes:
        yield "dynamic sizes not needed when copying a tensor"
    if not copied:
        yield from wrong_sizes(op, "dynamic_sizes", type)
    elif copied[0].type is not type:
        yield f"expected that `copy` and return type match, found '{copied[0].type}' and '{type}'"


def _dealloc(op: Definition) -> Iterator[str]:
    if len(values_of(op, "memrefs")) != len(values_of(op, "conditions")):
        yield "must have the same number of conditions as memrefs to deallocate"
    if len(values_of(op, "retained")) != len(op.results):
        yield "must have the same number of updated conditions (results) as retained operands"


def _materialize(op: Definition) -> Iterator[str]:
    source, target = type_of(op, "source"), type_of(op, "dest")
    is_memory = isinstance(target, MemRefType)
    if not isinstance(target, TensorType | MemRefType):
        yield f"'dest' must be a tensor or a memref, found {target}"
        return
    if is_memory and op.results:
        yield "memref 'dest' implies zero results"
    if not is_memory and [r.type for r in op.results] != [target]:
        yield "tensor 'dest' implies exactly one result of its type"
    has_restrict, is_writable = (name in op.properties for name in ("restrict", "writable"))
    if has_restrict and not is_memory:
        yield "'restrict' is valid only for memref destinations"
    if is_writable is not is_memory:
        yield "'writable' must be specified if and only if the destination is of memref type"
    shapes = shape_of(source), shape_of(target)
    if shapes[0] is None or shapes[1] is None:
        return
    pairs = zip(numbers(shapes[0]), numbers(shapes[1]), strict=False)
    if len(shapes[0]) != len(shapes[1]) or not all(are_same(a, b) for a, b in pairs):
        yield "source/destination shapes are incompatible"


VERIFIERS: Mapping[str, Verifier] = MappingProxyType(
    {
        "memref.alloc": _allocation,
        "memref.alloca": _alloca,
        "memref.alloca_scope.return": _scope_return,
        "memref.assume_alignment": _alignment,
        "memref.atomic_rmw": _atomic,
        "memref.atomic_yield": _atomic_yield,
        "memref.distinct_objects": _distinct,
        "memref.generic_atomic_rmw": _generic_atomic,
        "memref.get_global": _get_global,
        "memref.global": _global,
        "memref.load": _access,
        "memref.prefetch": _access,
        "memref.realloc": _realloc,
        "memref.store": _access,
        "bufferization.alloc_tensor": _alloc_tensor,
        "bufferization.dealloc": _dealloc,
        "bufferization.materialize_in_destination": _materialize,
    }
)
