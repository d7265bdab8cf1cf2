"""Infers dims that a program of MLIR leaves unknown from what its operations are lowered to.

Result types of MLIR's operations are declared, and `?` is all that they say of a dim. Definitions state what operations
mean in terms of the core, and the shape rules of the core are exact. Changes only types.
"""

from __future__ import annotations

from collections.abc import Mapping

from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, Type, symbols_of
from commonir.ods import MlirOp
from commonir.passes.infer_shapes import infer_shapes
from commonir.passes.lower import core_types


def infer_all_shapes(module: Module) -> None:
    """Fills in the types of all values of a module, in place, also where operations declare unknown dims."""
    types: Mapping[Value, Type] = core_types(module) if any(_lacks_dims(op) for op in module.nested()) else {}
    for value, type in types.items():
        value.retype(_with_dims(value.type, type))
    infer_shapes(module, symbols_of(types.values()))


def _lacks_dims(op: object) -> bool:
    return isinstance(op, MlirOp) and any(
        isinstance(r.type, TensorType) and None in (r.type.shape or ()) for r in op.results
    )


def _with_dims(declared: Type, inferred: Type) -> Type:
    if not isinstance(declared, TensorType) or not isinstance(inferred, TensorType) or declared.shape is None:
        return declared
    if inferred.shape is None or len(inferred.shape) != len(declared.shape) or None not in declared.shape:
        return declared
    pairs = zip(declared.shape, inferred.shape, strict=True)
    return declared.with_shape(tuple([i if d is None else d for d, i in pairs]))
