"""Findings of references speak of the operation that has the reference, and of its operands.

The names of operands are those of ONNX's schemas.
"""

from __future__ import annotations

import re

import onnx as onnx_package
import pytest

import commonir as cir
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.dialects import core, onnx
from commonir.ir.operation import Value
from commonir.ir.types import f32, tensor

CASES = {
    "y = Conv(a, w)": "onnx.Conv: channels of X: expected 3, found 5",
    "y = ConvTranspose(a, w)": "onnx.ConvTranspose: operand 'W': dimension c: expected 5, found 4",
    "y = Conv(m, w)": "onnx.Conv: the ranks of X and W do not fit: tensor<2x6xf32> and tensor<4x3x3x3xf32>",
    "y = Add(m, n)": "onnx.Add: axis -2 is 2 in A and 4 in B, which do not broadcast",
    "y = MatMul(m, n)": "onnx.MatMul: size of the summed axes: expected 4, found 6",
    "y = Concat <axis = 0> (m, n)": "onnx.Concat: axis 1: expected 3, found 6",
    "y = LayerNormalization(m, v)": "onnx.LayerNormalization: axis -1 is 6 in X and 4 in Scale, which do not broadcast",
    'y = Einsum <equation = "ij,jk->ik"> (m, n)': "onnx.Einsum: index j over axis 0 of Inputs[1]: expected 4, found 6",
    "y = Transpose <perm = [0, 0]> (m)": "onnx.Transpose: perm [0, 0] does not name each of 2 axes once",
    "y = MaxPool <kernel_shape = [3]> (a)": "onnx.MaxPool: a kernel of 1 axis for 2 spatial axes",
}
"""Nodes with what is wrong with them, of `a` of type float[1,5,8,8] and others."""


def messages(node: str) -> list[Diagnostic]:
    """Returns the errors of a node."""
    inputs = "float[1,5,8,8] a, float[4,3,3,3] w, float[2,6] m, float[4,3] n, float[4] v"
    text = f'<ir_version: 9, opset_import: ["" : 18]>\ng ({inputs}) => (float y) {{\n  {node}\n}}'
    return [d for d in cir.verify(cir.loads(text, format="onnxtxt")) if d.is_error]


@pytest.mark.parametrize("node", CASES)
def test_messages_name_the_operator_of_the_file_and_its_operands(node: str) -> None:
    found = messages(node)[0]
    assert found.message == CASES[node]
    operator = re.findall(r"= (\w+)", node)[0]
    formal = {i.name for i in onnx_package.defs.get_schema(operator).inputs}
    assert set(re.findall(r"operand '(\w+)'|(?:channels of|(?: in|of)) ([A-Z]\w*)", found.message)) <= {
        (name, "") if quoted else ("", name) for name in formal for quoted in (True, False)
    }


def test_operands_are_listed_with_their_values_and_types() -> None:
    (found,) = messages("y = Conv(a, w)")
    assert found.notes == ("operands: X 'a': tensor<1x5x8x8xf32>, W 'w': tensor<4x3x3x3xf32>",)
    assert found.where == "graph.node[0] 'y'"


def test_own_constraints_keep_their_labels_and_name_their_page() -> None:
    with pytest.raises(DiagnosticError) as caught:
        core.conv(Value(tensor(f32, 1, 5, 8, 8)), Value(tensor(f32, 4, 3, 3, 3)))
    (found,) = caught.value.diagnostics
    assert (found.message, found.help) == (
        "core.conv: C1: channels of x: expected 3, found 5",
        "`cir ops core.conv` explains it",
    )


def test_an_unknown_argument_gets_a_suggestion() -> None:
    x = Value(tensor(f32, 1, 3, 8, 8))
    with pytest.raises(TypeError, match=r"onnx\.Conv: 'stride' is not an argument: did you mean 'strides'\?"):
        onnx.Conv(x, x, stride=(2, 2))  # pyright: ignore[reportCallIssue]  what is tested
