"""Simpler forms of ONNX operators that core operations cannot express."""

from __future__ import annotations

from commonir.dialects.onnx.arithmetic import Add
from commonir.dialects.onnx.contraction import Gemm, MatMul
from commonir.ir.module import Function
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, bf16, f16, f32, f64
from commonir.ods import Op
from commonir.ods.patterns import version_number
from commonir.ods.rules import Editor, Rules
from commonir.ods.type_rules import dims_of

_RANK = 2
_FLOATS = (f16, bf16, f32, f64)
_FIRST_OPSET = 7
"""The first opset whose Gemm broadcasts its third operand."""


def _is_bias(bias: Value, product: Value) -> bool:
    """Returns whether a value can be broadcast to a product, which is a matrix."""
    own, expected = dims_of(bias.type), dims_of(product.type)
    if own is None or expected is None or len(expected) != _RANK or len(own) > _RANK:
        return False
    pairs = zip(own, expected[_RANK - len(own) :], strict=True)
    return all(n == 1 or (n is not None and n == m) for n, m in pairs)


def _opset_of(op: Op) -> str:
    parent = op.parent_op
    while parent is not None and not isinstance(parent, Function):
        parent = parent.parent_op
    return "" if parent is None else parent.operation_set


def _affine_product(op: Add, editor: Editor) -> bool:
    """Replaces a product of matrices and the bias that is added to it by one operator. Runtimes may begin its sums with
    the bias.
    """
    from commonir.dialects.onnx import DIALECT  # noqa: PLC0415  the dialect names its rules

    version, type = _opset_of(op), op.results[0].type
    if not version or version_number(version) < _FIRST_OPSET or not isinstance(type, TensorType):
        return False
    definition = DIALECT.find(Gemm.name, version)
    for product, bias in ((op.operands[0], op.operands[1]), (op.operands[1], op.operands[0])):
        before = product.owner
        if definition is None or not isinstance(before, MatMul) or len(product.users) != 1:
            continue
        ranks = [len(dims_of(v.type) or ()) for v in before.operands]
        if ranks == [_RANK, _RANK] and type.element in _FLOATS and product.type is type and _is_bias(bias, product):
            a, b = before.operands
            return editor.substitute(op, definition.build({"A": a, "B": b, "C": bias}, (type,)))
    return False


RULES = Rules(rounding={Add: (_affine_product,)})
