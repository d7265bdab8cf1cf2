"""Names and types of results from MLIR's C++, of operations that are only defined by records here.

Source: MLIR memref, vector, bufferization, gpu and smt dialects, as mlir-opt 22 prints them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from commonir.ir.attributes import DenseArrayAttr, attribute_text
from commonir.ir.types import MemRefType, Type, VectorType, boolean, index
from commonir.ods.definition import Definition


def _with_dimension(op: Definition) -> tuple[str, ...]:
    """Returns `thread_id_x` for the axis x of an operation of gpu."""
    axis = re.search(r"\b([xyz])\b", attribute_text(op.properties["dimension"]))
    return (op.name.removeprefix("gpu.") + (f"_{axis[1]}" if axis else ""),)


def _prefix(op: Definition) -> tuple[str, ...]:
    prefix: object = op.field_value(op.layout.by_name["namePrefix"])
    return (prefix if isinstance(prefix, str) else "",)


def _truth(op: Definition) -> tuple[str, ...]:
    return ("true" if op.field_value(op.layout.by_name["value"]) else "false",)


def _bits(op: Definition) -> tuple[str, ...]:
    """Returns `c5_bv8` for five as a vector of eight bits."""
    code = re.search(r"<(-?\d+)>", attribute_text(op.properties["value"]))
    width = re.search(r"<(\d+)>", str(op.results[0].type))
    return (f"c{code[1]}_bv{width[1]}" if code and width else "",)


Names = tuple[str, ...]
"""A name for each declared result; "" for a number."""

RESULT_NAMES: Mapping[str, Names | Callable[[Definition], Names]] = MappingProxyType(
    {
        **dict.fromkeys(
            [
                f"gpu.{name}"
                for name in (
                    *("block_dim", "block_id", "cluster_block_id", "cluster_dim", "cluster_dim_blocks", "cluster_id"),
                    *("global_id", "grid_dim", "thread_id"),
                )
            ],
            _with_dimension,
        ),
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
        "smt.bv.constant": _bits,
        "smt.constant": _truth,
        "smt.declare_fun": _prefix,
        "vector.vscale": ("vscale",),
    }
)
"""The names of the results of operations, some by their attributes."""


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


def _shuffled(op: Definition) -> tuple[Type, ...] | None:
    type, mask = op.operands[0].type if op.operands else None, op.properties.get("mask")
    if not isinstance(type, VectorType) or not isinstance(mask, DenseArrayAttr):
        return None
    return (VectorType(type.element, (len(mask.values), *type.shape[1:]), (False, *type.scalable[1:])),)


def _elements(op: Definition) -> tuple[Type, ...] | None:
    type = op.operands[0].type if op.operands else None
    return (type.element,) * type.count if isinstance(type, VectorType) else None


RESULT_TYPES: Mapping[str, Callable[[Definition], tuple[Type, ...] | None]] = MappingProxyType(
    {
        "memref.distinct_objects": _operand_types,
        "memref.extract_strided_metadata": _strided_metadata,
        "bufferization.dealloc": _bools_of_retained,
        "vector.shuffle": _shuffled,
        "vector.to_elements": _elements,
    }
)
"""The types of results that the texts of operations omit."""
