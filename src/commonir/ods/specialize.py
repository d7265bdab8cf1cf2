"""Replaces symbolic dimensions by numbers or other expressions.

Types and attributes are rewritten without inference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeGuard

from commonir.base.diagnostics import InternalError
from commonir.ir.operation import Block, Operation
from commonir.ir.types import SparseTensorType, TensorType, Type
from commonir.ods.operation import Op
from commonir.symbolic import Dim, DimExpr, substitute


def specialize(block: Block, dims: Mapping[str, Dim]) -> None:
    """Replaces symbols by name in the types and attributes of a block and everything nested in it."""
    for value in block.arguments:
        value.retype(specialized_type(value.type, dims))
    for op in [op for outer in block.operations for op in outer.walk()]:
        for value in (*op.results, *(a for region in op.regions for b in region.blocks for a in b.arguments)):
            value.retype(specialized_type(value.type, dims))
        if not isinstance(op, Op):
            continue
        changed = {n: new for n, v in op.stored_attributes.items() if (new := _attribute(v, dims)) is not v}
        if changed:
            _replace(op, op.with_attributes(**changed))


def specialized_type(type: Type, dims: Mapping[str, Dim]) -> Type:
    """Returns a type with symbols replaced by name, also in its parts."""
    if type.parts:
        return type.with_parts(tuple([specialized_type(part, dims) for part in type.parts]))
    if isinstance(type, SparseTensorType):
        dense = specialized_type(type.dense, dims)
        return SparseTensorType(type.element, dense.shape) if isinstance(dense, TensorType) else type
    if not isinstance(type, TensorType) or type.shape is None or type.is_static:
        return type
    return type.with_shape(tuple([None if d is None else substitute(d, dims) for d in type.shape]))


def _attribute(value: object, dims: Mapping[str, Dim]) -> object:
    """Returns an attribute with symbols replaced; the same object when it has none."""
    if isinstance(value, DimExpr):
        return substitute(value, dims)
    if isinstance(value, TensorType):
        return specialized_type(value, dims)
    if not is_tuple(value):
        return value
    parts = [_attribute(v, dims) for v in value]
    return tuple(parts) if any(a is not b for a, b in zip(parts, value, strict=True)) else value


def is_tuple(value: object) -> TypeGuard[tuple[object, ...]]:
    """Returns whether an attribute is a tuple of attributes."""
    return isinstance(value, tuple)


def _replace(op: Operation, new_op: Operation) -> None:
    if op.parent is None:
        raise InternalError(f"{op.name} is not in a block")
    op.parent.insert_before(op, new_op)
    for old, new in zip(op.results, new_op.results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()
