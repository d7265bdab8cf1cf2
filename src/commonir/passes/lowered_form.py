"""The form of lowered modules: which operations need no lowering, and which may be left to engines."""

from __future__ import annotations

from commonir.dialects.mlir import ml_program
from commonir.ir.operation import Operation
from commonir.ir.types import TensorType
from commonir.ods import Form, Op, infer, traits
from commonir.passes.lowered_globals import is_lowered_global
from commonir.passes.order_subgraphs import is_ordered_by_tokens

TARGET_DIALECTS = frozenset({"core", "ml_program", "builtin"})


def may_be_deferred(op: Op) -> bool:
    """Returns whether what an operation is lowered to may depend on dims that are known when it runs.

    That of an operation of MLIR with static types does not, and what combines elements in a region is of this sort.
    """
    is_static = op.infers_types and all(
        isinstance(v.type, TensorType) and v.type.is_static for v in (*op.operands, *op.results)
    )
    return bool(op.results) and not op.regions and not op.has_trait(traits.ConstantLike) and not is_static


def is_elementary(op: Operation) -> bool:
    """Returns whether engines can run an operation of any dialect: its reference is a kernel or an algorithm."""
    return isinstance(op, Op) and op.form in (Form.KERNEL, Form.ALGORITHM)


def is_lowered(op: Operation) -> bool:
    """Returns whether an operation has the form of lowered modules."""
    if op.name.partition(".")[0] not in TARGET_DIALECTS or is_ordered_by_tokens(op):
        return False
    if isinstance(op, ml_program.Func):
        return all(op.core_type(t) is t for t in (*op.function_type.inputs, *op.function_type.results))
    return not isinstance(op, ml_program.Global | ml_program.GlobalUse) or _is_lowered_use(op)


def _is_lowered_use(op: ml_program.Global | ml_program.GlobalUse) -> bool:
    """Returns whether a global or a use of one has the form of lowered modules."""
    if isinstance(op, ml_program.Global):
        return is_lowered_global(op)
    type = op.moved_type
    return len(op.global_) == 1 and isinstance(type, TensorType) and type.shape is not None and None not in type.shape


def takes_sizes_to_fit(op: Op) -> bool:
    """Returns whether inferred types assume that dims are compatible, which engines check when the operation runs.

    Such an operation is not removed even if it is unused, because other types may depend on the assumption.
    """
    if not op.has_trait(traits.Broadcastable) or all(
        isinstance(v.type, TensorType) and v.type.is_static for v in op.operands
    ):
        return False
    return any(c.is_broadcast for c in infer(op).constraints)
