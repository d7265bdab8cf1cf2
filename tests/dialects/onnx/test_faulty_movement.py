"""Operands and attributes that the standard does not allow are refused with a code and a reason, never computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray

import commonir as cir
from commonir.base.diagnostics import DiagnosticError

from tests.conversions.running import run_onnx
from tests.dialects.onnx.onnx_programs import program, run_here

Array = NDArray[Any]


def _longs(*values: Any) -> Array:
    return np.asarray(values, np.int64)


def _texts(*values: str) -> Array:
    return np.asarray(values, object)


X = np.ones((2, 3, 4), np.float32)
ONE = np.asarray(1, np.int64)
IMAGE = np.ones((1, 4, 2, 2), np.float32)
_NGRAMS = 'mode = "TF", min_gram_length = 1, max_gram_length = 1, max_skip_count = 0, ngram_indexes = [0]'

FAULTS: list[tuple[int, str, dict[str, Array], str]] = [
    (13, "z = Flatten<axis = 5>(x)", {"x": X}, "axis 5 of a tensor of rank 3"),
    (18, "z = Split<axis = 1>(x, s)", {"x": X, "s": _longs(2)}, "sum of the sizes: expected 3, found 2"),
    (18, "z = Split<num_outputs = 0>(x)", {"x": X}, "neither sizes nor a number of pieces is given"),
    (7, "z = Slice<starts = [1, 2], ends = [3]>(x)", {"x": X}, "not as many of each: 2 starts, 1 ends"),
    (13, "z = Slice(x, o, o, o, t)", {"x": X, "o": _longs(1), "t": _longs(0)}, "a step is 0"),
    (13, "z = Gather(x, i)", {"x": X, "i": _longs(5)}, "position 5 on axis 0"),
    (13, "z = GatherElements(x, i)", {"x": X[0], "i": _longs([7])}, "position 7 on axis 0"),
    (13, "z = GatherND(x, i)", {"x": X, "i": np.zeros((2, 7), np.int64)}, "rows of 7 indices into rank 3"),
    (13, "z = ScatterElements(x, i, i)", {"x": _longs(1, 2), "i": _longs(5)}, "position 5 on axis"),
    (16, 'z = ScatterND<reduction = "max">(x, i, u)',
     {"x": X, "i": _longs([1]), "u": X[:1]}, "the reduction 'max' is one of opset 18"),
    (18, "z = Pad(x, p)", {"x": X, "p": _longs(-5, 0, 0, 0, 0, 0)}, "cut more than there is"),
    (18, 'z = Pad<mode = "wrap">(x, p)', {"x": X, "p": _longs(1, 0, 0, 0, 0, 0)}, "the mode 'wrap' is one of opset 19"),
    (11, "z = OneHot(i, d, v)", {"i": _longs(1), "d": _longs(-3), "v": _longs(0, 1)}, "must be at least 0, found -3"),
    (11, "z, i = TopK(x, k)", {"x": X, "k": _longs(9)}, "k: expected at most 4, found 9"),
    (11, "z, i = TopK(x, k)", {"x": X, "k": ONE}, "operand 'K': expected rank 1 (i64[1]), found rank 0"),
    (11, "z, i = TopK(x, k)", {"x": X, "k": _longs(1, 1)}, "operand 'K': dimension 0 of i64[1]: expected 1, found 2"),
    (18, "z = CenterCropPad(x, s)", {"x": X, "s": _longs(-1, 2, 3)}, "sizes [-1, 2, 3] are not all at least 0"),
    (9, "z = ConstantOfShape(s)", {"s": _longs(-1, 2)}, "expected at least 0, found -1"),
    (9, "z = ConstantOfShape<value = int64 {7}>(s)", {"s": _longs(1, 2)},
     "attribute 'value' must be a vector of one element, found tensor<i64>"),
    (13, "z = Tile(x, r)", {"x": X, "r": _longs(2)}, "repeats for 1 axes of a tensor of rank 3"),
    (9, "z = EyeLike(x)", {"x": X}, "expected a matrix, found rank 3"),
    (13, "z = Unsqueeze(x, a)", {"x": X, "a": _longs(0, 0)}, "axes [0, 0] name one axis twice"),
    (13, "z = Squeeze(x, a)", {"x": X, "a": _longs(0)}, "axis 0: expected 1, found 2"),
    (14, "z = Reshape(x, s)", {"x": X, "s": _longs(-2, 1)}, "-2 is not a size"),
    (13, "z = Expand(x, s)", {"x": X, "s": _longs(2, 2, 2)}, "axis -2 is 3 in input and 2 in shape"),
    (13, "z = Concat<axis = 9>(x, x)", {"x": X}, "axis 9 of a tensor of rank 3"),
    (13, "z = Transpose<perm = [0, 0, 1]>(x)", {"x": X}, "does not name each of 3 axes once"),
    (11, "s = SequenceConstruct(x, x) z = SequenceAt(s, p)", {"x": X, "p": ONE * 5}, "position 5 in a list of 2"),
    (11, "s = SequenceEmpty() z = ConcatFromSequence<axis = 0>(s)", {"x": X}, "no tensors to join"),
    (11, "s = SplitToSequence(x, n) z = SequenceAt(s, n)", {"x": X, "n": ONE * 0}, "pieces of size 0"),
    (15, "o = Optional<type = float[2]>() z = OptionalGetElement(o)", {"x": X}, "the value is absent"),
    (26, "z = BitCast<to = 7>(x)", {"x": X}, "both types have the same width"),
    (9, "z = Cast<to = 1>(x)", {"x": _texts("hello")}, "could not convert string to float: 'hello'"),
    (24, "z = TensorScatter(x, u, i)", {"x": X, "u": X[:, :2], "i": _longs(5, 5)}, "position 5 on axis"),
    (13, "z = DepthToSpace<blocksize = 3>(x)", {"x": IMAGE}, "channels of input modulo block squared"),
    (14, "z = Trilu(x)", {"x": X[0, 0]}, "expected matrices, found rank 1"),
    (11, "z = Unique<axis = 7>(x)", {"x": X}, "axis 7 of a tensor of rank 3"),
    (10, "z = ReverseSequence(x, n)", {"x": X, "n": _longs(9, 9, 9)}, "position 8 on axis 0"),
    (20, 'z = RegexFullMatch<pattern = "(a">(x)', {"x": _texts("a")}, "a '(' without a ')'"),
    (10, "z = StringNormalizer(x)", {"x": np.full((2, 2), "a", object)}, "the operand has one axis, or two"),
    (9, f"z = TfIdfVectorizer<{_NGRAMS}, ngram_counts = [5], pool_int64s = [1]>(x)", {"x": _longs(1)}, "starts do not"),
    (12, "z = Constant<value_int = 1, value_float = 2.0>()", {"x": X}, "exactly one attribute must be given, found 2"),
]  # fmt: skip


@pytest.mark.parametrize("engine", ["numpy", "reference"])
@pytest.mark.parametrize(("opset", "body", "inputs", "reason"), FAULTS, ids=[f"{f[0]}-{f[1][:50]}" for f in FAULTS])
def test_faults_are_refused_with_their_reason(
    opset: int, body: str, inputs: dict[str, Array], reason: str, engine: str
) -> None:
    model = program(opset, body, inputs, ["z"], ir_version=10)
    with pytest.raises(DiagnosticError) as caught:
        run_here(model, inputs, engine)
    assert reason in str(caught.value)


@pytest.mark.parametrize("k", ["{2}", "[1] {2}", "[2] {2, 1}", "[1, 1] {2}"])
def test_form_of_k_that_onnxruntime_refuses_is_a_finding(k: str) -> None:
    _assert_onnxruntime_finds_the_same(f"k = Constant<value = int64{k}>() z, i = TopK(x, k)")


@pytest.mark.parametrize("value", ["{2.0}", "[1] {2.0}", "[2] {2.0, 1.0}", "[1, 1] {2.0}"])
def test_form_of_a_fill_that_onnxruntime_refuses_is_a_finding(value: str) -> None:
    _assert_onnxruntime_finds_the_same(
        f"s = Constant<value_ints = [2, 3, 4]>() z = ConstantOfShape<value = float{value}>(s)"
    )


def _assert_onnxruntime_finds_the_same(body: str) -> None:
    text = f"""<ir_version: 8, opset_import: ["" : 13]> g (float[2, 3, 4] x) => (float[a, b, c] z) {{ {body} }}"""
    content = onnx.parser.parse_model(text).SerializeToString()
    try:
        run_onnx(content, {"x": X})
    except Exception as error:  # noqa: BLE001  its exceptions have no common class of its own
        is_refused, reason = True, str(error)
    else:
        is_refused, reason = False, ""
    assert bool(cir.verify(cir.loads(content, format="onnx"))) is is_refused, reason
