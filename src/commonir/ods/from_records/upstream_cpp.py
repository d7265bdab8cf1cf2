"""Names and types of results from MLIR's C++, of operations that are only defined by records here.

Source: MLIR memref and bufferization dialects, as mlir-opt 22 prints them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from commonir.ir.types import MemRefType, Type, boolean, index
from commonir.ods.definition import Definition

RESULT_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "memref.alloc": ("alloc",),
        "memref.alloca": ("alloca",),
        "memref.assume_alignment": ("assume_align",),
        "memref.cast": ("cast",),
        "memref.collapse_shape": ("collapse_shape",),
        "memref.dim": ("dim",),
        "memref.expand_shape": ("expand_shape",),
        "memref.extract_aligned_pointer_as_index": ("intptr",),
        "memref.extract_strided_metadata": ("base_buffer", "offset", "sizes", "strides"),
        "memref.memory_space_cast": ("memspacecast",),
        "memref.reinterpret_cast": ("reinterpret_cast",),
        "memref.reshape": ("reshape",),
        "memref.subview": ("subview",),
        "memref.transpose": ("transpose",),
        "memref.view": ("view",),
    }
)
"""The names of the results of operations, one for each declared result."""


def _operand_types(op: Definition) -> tuple[Type, ...]:
    return tuple([v.type for v in op.operands])


def _bools_of_retained(op: Definition) -> tuple[Type, ...]:
    retained = op.field_value(op.layout.by_name["retained"])
    return (boolean,) * len(retained)


def _strided_metadata(op: Definition) -> tuple[Type, ...] | None:
    type = op.operands[0].type if op.operands else None
    if not isinstance(type, MemRefType) or type.rank is None:
        return None
    base = MemRefType(type.element, (), None, type.memory_space)
    return (base, *[index] * (1 + 2 * type.rank))


RESULT_TYPES: Mapping[str, Callable[[Definition], tuple[Type, ...] | None]] = MappingProxyType(
    {
        "memref.distinct_objects": _operand_types,
        "memref.extract_strided_metadata": _strided_metadata,
        "bufferization.dealloc": _bools_of_retained,
    }
)
"""The types of results that the texts of operations omit."""
