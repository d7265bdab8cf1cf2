"""Shapes of convolutions, pooling, resampling, attention and signals as expressions in the sizes of their inputs.

The shapes expected follow from the formulas of the standard, by hand.
"""

from __future__ import annotations

import pytest
from onnx import parser

from commonir.formats.onnx.read import loads
from commonir.ir.types import TensorType
from commonir.ods import Dialects
from commonir.passes.infer_shapes import infer_shapes
from commonir.symbolic import Dim, parse

_X, _W = "float[N,4,H,W] x", "float[6,4,3,3] w"
_PAIRS = "kernel_shape = [3, 3], strides = [2, 2]"
_CACHE = "float[B,8,L,64] q, float[B,2,S,64] k, float[B,2,S,64] v, float[B,2,P,64] p"

_CASES = [
    (
        f"{_X}, {_W}",
        "z = Conv<strides = [2, 2], pads = [1, 1, 1, 1]>(x, w)",
        "N; 6; floor((H + 1)/2); floor((W + 1)/2)",
    ),
    (f"{_X}, {_W}", 'z = Conv<strides = [2, 3], auto_pad = "SAME_UPPER">(x, w)', "N; 6; ceil(H/2); ceil(W/3)"),
    (f"{_X}, {_W}", 'z = Conv<auto_pad = "SAME_LOWER">(x, w)', "N; 6; H; W"),
    (f"{_X}, float[4,6,3,3] w", 'z = ConvTranspose<strides = [2, 3], auto_pad = "SAME_UPPER">(x, w)', "N; 6; 2*H; 3*W"),
    (f"{_X}, float[4,6,4,4] w", "z = ConvTranspose<strides = [2, 2], pads = [1, 1, 1, 1]>(x, w)", "N; 6; 2*H; 2*W"),
    (_X, f"z = MaxPool<{_PAIRS}, ceil_mode = 1>(x)", "N; 4; floor(H/2); floor(W/2)"),
    (_X, f"y, z = MaxPool<{_PAIRS}>(x)", "N; 4; floor((H - 1)/2); floor((W - 1)/2)"),
    (_X, f'z = AveragePool<{_PAIRS}, auto_pad = "SAME_LOWER">(x)', "N; 4; ceil(H/2); ceil(W/2)"),
    (_X, f"z = LpPool<{_PAIRS}, pads = [1, 0, 1, 0]>(x)", "N; 4; floor((H + 1)/2); floor((W - 1)/2)"),
    (_X, "z = GlobalMaxPool(x)", "N; 4; 1; 1"),
    (f"{_X}, int64[N,4,H,W] i", f"z = MaxUnpool<{_PAIRS}>(x, i)", "N; 4; 2*H + 1; 2*W + 1"),
    (_X, "s = Constant<value_floats = [1.0, 1.0, 2.0, 3.0]>() z = Resize(x, , s)", "N; 4; 2*H; 3*W"),
    (
        _X,
        's = Constant<value_floats = [1.0, 1.0, 0.5, 0.75]>() z = Resize<mode = "cubic">(x, , s)',
        "N; 4; floor(H/2); floor(3*W/4)",
    ),
    (
        _X,
        's = Constant<value_ints = [32]>() z = Resize<mode = "linear", axes = [-1]>(x, , , s)',
        "N; 4; H; 32",
    ),
    (f"{_X}, float[N,A,B,2] g", "z = GridSample(x, g)", "N; 4; A; B"),
    (f"{_X}, float[N,18,A,B] o, {_W}", "z = DeformConv(x, w, o)", "N; 6; A; B"),
    (f"{_X}, float[R,4] r, int64[R] i", "z = RoiAlign<output_height = 7, output_width = 5>(x, r, i)", "R; 4; 7; 5"),
    (_CACHE, "z = Attention<is_causal = 1>(q, k, v, , p, p)", "B; 8; L; 64"),
    (_CACHE, "y, z = Attention<is_causal = 1>(q, k, v, , p, p)", "B; 2; P + S; 64"),
    (_CACHE, "y, a, b, z = Attention(q, k, v, , p, p)", "B; 8; L; P + S"),
    ("float[S,B,8] x, float[1,16,8] w, float[1,16,4] r", "z = LSTM<hidden_size = 4>(x, w, r)", "S; 1; B; 4"),
    ("float[B,M,K] x, float[B,K,N] y", 'z = Einsum<equation = "...mk,...kn->...mn">(x, y)', "B; M; N"),
    (
        "float[B,T,1] x, float[400] w",
        "s = Constant<value_int = 160>() z = STFT(x, s, w)",
        "B; floor((T - 400)/160) + 1; 201; 2",
    ),
    ("float[B,T,1] x", "z = DFT<onesided = 1>(x)", "B; floor(T/2) + 1; 2"),
]


@pytest.mark.parametrize(("inputs", "body", "expected"), _CASES, ids=[c[1] for c in _CASES])
def test_sizes_are_expressions_in_those_of_the_inputs(inputs: str, body: str, expected: str) -> None:
    opset = 23 if "Attention" in body else 22
    model = parser.parse_model(
        f'<ir_version: 11, opset_import: ["" : {opset}]> probe ({inputs}) => (float z) {{ {body} }}'
    )
    model.graph.output[0].ClearField("type")
    module, diagnostics = loads(model.SerializeToString(), Dialects())
    assert not diagnostics
    infer_shapes(module)
    (z,) = module.function(None).outputs
    assert isinstance(z.type, TensorType)
    expected_value: tuple[Dim, ...] = tuple([parse(d.strip()) for d in expected.split(";")])
    assert z.type.shape == expected_value
