"""Results of operators that move, index, convert and give elements, in each version, against onnxruntime.

The backend suite of onnx has cases for the newest versions; these are for all that are current from opset 7 on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from tests.dialects.onnx.onnx_programs import assert_same, program, run_here, run_with_evaluator, run_with_onnxruntime

Array = NDArray[Any]


class Case(NamedTuple):
    """A program of one operator set, and the values of its inputs."""

    opset: int
    body: str
    inputs: dict[str, Array]
    outputs: tuple[str, ...] = ("z",)


def _floats(*shape: int) -> Array:
    return np.random.default_rng(len(shape) + 7 * sum(shape)).standard_normal(shape).astype(np.float32)


def _longs(*values: Any) -> Array:
    return np.asarray(values[0] if len(values) == 1 else values, np.int64)


def _texts(*values: str) -> Array:
    return np.asarray(values, object)


X = _floats(2, 3, 4)
M = _floats(3, 4)
IMAGE = _floats(1, 8, 2, 3)
_AT = _longs([[0, 2], [1, 0]])
_ROWS = _longs([[0, 1], [2, 3]])

CASES = [
    Case(7, "z = Flatten<axis = 2>(x)", {"x": X}),
    Case(9, "z = Flatten<axis = 0>(x)", {"x": X.astype(np.float64)}),
    Case(11, "z = Flatten<axis = -1>(x)", {"x": X}),
    Case(13, "z = Flatten(x)", {"x": X}),
    Case(9, "z = Compress<axis = 1>(x, c)", {"x": X, "c": np.array([True, False, True])}),
    Case(9, "z = Compress(x, c)", {"x": X, "c": np.array([False, True, True])}),
    Case(11, "z = Compress<axis = -1>(x, c)", {"x": X, "c": np.array([True, True])}),
    Case(9, "z = EyeLike<k = 1>(x)", {"x": M}),
    Case(9, "z = EyeLike<k = -1, dtype = 7>(x)", {"x": M}),
    Case(10, "z = ReverseSequence<batch_axis = 0, time_axis = 1>(x, n)", {"x": X, "n": _longs(2, 3)}),
    Case(10, "z = ReverseSequence(x, n)", {"x": X, "n": _longs(1, 2, 0)}),
    Case(9, "z = Scatter<axis = 1>(x, i, u)", {"x": M, "i": _AT, "u": _floats(2, 2)}),
    Case(10, "z = Scatter(x, i, u)", {"x": M, "i": _AT, "u": _floats(2, 2)}),
    Case(11, "z = ScatterElements<axis = -1>(x, i, u)", {"x": M, "i": _AT - 1, "u": _floats(2, 2)}),
    Case(13, "z = ScatterElements<axis = 1>(x, i, u)", {"x": M, "i": _AT.astype(np.int32), "u": _floats(2, 2)}),
    Case(16, 'z = ScatterElements<reduction = "add">(x, i, u)', {"x": M, "i": _AT, "u": _floats(2, 2)}),
    Case(18, 'z = ScatterElements<reduction = "max">(x, i, u)', {"x": M, "i": _AT, "u": _floats(2, 2)}),
    Case(11, "z = ScatterND(x, i, u)", {"x": M, "i": _ROWS, "u": _floats(2)}),
    Case(13, "z = ScatterND(x, i, u)", {"x": X, "i": _longs([[1], [0]]), "u": _floats(2, 3, 4)}),
    Case(16, 'z = ScatterND<reduction = "mul">(x, i, u)', {"x": M, "i": _ROWS, "u": _floats(2)}),
    Case(18, 'z = ScatterND<reduction = "min">(x, i, u)', {"x": M, "i": _ROWS, "u": _floats(2)}),
    Case(7, "z = Gather<axis = 1>(x, i)", {"x": X, "i": _AT}),
    Case(11, "z = Gather<axis = -1>(x, i)", {"x": X, "i": _AT - 1}),
    Case(13, "z = Gather(x, i)", {"x": X, "i": np.asarray(1, np.int32)}),
    Case(9, "z = Gather(x, i)", {"x": _texts("a", "bc", "d"), "i": _AT}),
    Case(11, "z = GatherElements<axis = 1>(x, i)", {"x": M, "i": _AT}),
    Case(13, "z = GatherElements<axis = -2>(x, i)", {"x": M, "i": -_AT}),
    Case(11, "z = GatherND(x, i)", {"x": X, "i": _longs([[0, 1], [1, 2]])}),
    Case(12, "z = GatherND<batch_dims = 1>(x, i)", {"x": X, "i": _longs([[1], [2]])}),
    Case(9, "z = NonZero(x)", {"x": (X > 0).astype(np.float32)}),
    Case(13, "z = NonZero(x)", {"x": X > 0}),
    Case(9, "z = OneHot(i, d, v)", {"i": _longs(0, 2, 5), "d": _longs(3), "v": np.array([0.5, 2], np.float32)}),
    Case(11, "z = OneHot<axis = 0>(i, d, v)", {"i": _longs(-1, 2), "d": _longs([4]), "v": _longs(7, 9)}),
    Case(7, "z, i = TopK<k = 2, axis = 1>(x)", {"x": X}, ("z", "i")),
    Case(10, "z, i = TopK<axis = -1>(x, k)", {"x": X, "k": _longs([3])}, ("z", "i")),
    Case(11, "z, i = TopK<largest = 0>(x, k)", {"x": X, "k": _longs([2])}, ("z", "i")),
    Case(11, "z = CumSum<exclusive = 1>(x, a)", {"x": X, "a": np.asarray(1, np.int32)}),
    Case(14, "z = CumSum<reverse = 1>(x, a)", {"x": X, "a": _longs(-1)}),
    Case(14, "z = Trilu<upper = 0>(x, k)", {"x": M, "k": _longs(1)}),
    Case(14, "z = Trilu(x)", {"x": M}),
    Case(7, "z, y = Split<axis = 1, split = [1, 2]>(x)", {"x": X}, ("z", "y")),
    Case(7, "z, y = Split(x)", {"x": X}, ("z", "y")),
    Case(11, "z, y = Split<axis = -1>(x)", {"x": X}, ("z", "y")),
    Case(13, "z, y = Split<axis = 1>(x, s)", {"x": X, "s": _longs(2, 1)}, ("z", "y")),
    Case(13, "z, y = Split<axis = 2>(x)", {"x": X}, ("z", "y")),
    Case(18, "z, y = Split<axis = 1, num_outputs = 2>(x)", {"x": X}, ("z", "y")),
    Case(7, "z = Squeeze<axes = [0, 2]>(x)", {"x": _floats(1, 3, 1, 2)}),
    Case(7, "z = Squeeze(x)", {"x": _floats(1, 3, 1, 2)}),
    Case(11, "z = Squeeze<axes = [-2]>(x)", {"x": _floats(1, 3, 1, 2)}),
    Case(13, "z = Squeeze(x, a)", {"x": _floats(1, 3, 1, 2), "a": _longs([0])}),
    Case(11, "z = Squeeze<axes = [0, -4]>(x)", {"x": _floats(1, 3, 1, 2)}),
    Case(13, "z = Squeeze(x, a)", {"x": _floats(1, 3, 1, 2), "a": _longs(2, 0, -2)}),
    Case(13, "z = Squeeze(x)", {"x": _floats(1, 3, 1, 2)}),
    Case(11, "z = Squeeze<axes: ints = []>(x)", {"x": _floats(1, 3, 1, 2)}),
    Case(13, "a = Constant<value = int64[0] {}>() z = Squeeze(x, a)", {"x": _floats(1, 3, 1, 2)}),
    Case(13, "z = Squeeze(x, a)", {"x": _floats(1, 3, 1, 2), "a": _longs([])}),
    Case(7, "z = Unsqueeze<axes = [0, 3]>(x)", {"x": M}),
    Case(11, "z = Unsqueeze<axes = [-1]>(x)", {"x": M}),
    Case(13, "z = Unsqueeze(x, a)", {"x": M, "a": _longs(1, -1)}),
    Case(7, "z = Slice<starts = [1], ends = [9]>(x)", {"x": X}),
    Case(7, "z = Slice<axes = [1, 2], starts = [0, -3], ends = [2, -1]>(x)", {"x": X}),
    Case(10, "z = Slice(x, s, e, a, t)",
         {"x": X, "s": _longs([3]), "e": _longs([0]), "a": _longs([2]), "t": _longs([-2])}),
    Case(11, "z = Slice(x, s, e, a)", {"x": X, "s": _longs(0, 1), "e": _longs(-1, 2**62), "a": _longs(-1, 0)}),
    Case(13, "z = Slice(x, s, e)", {"x": X, "s": np.array([0, 1], np.int32), "e": np.array([1, 3], np.int32)}),
    Case(7, "z = Pad<pads = [0, 1, 0, 2, 0, 0], value = 1.5>(x)", {"x": X}),
    Case(7, 'z = Pad<pads = [0, 2, 1, 0, 0, 2], mode = "reflect">(x)', {"x": X}),
    Case(7, 'z = Pad<pads = [0, 1, -1, 2, 0, 0], mode = "edge">(x)', {"x": X}),
    Case(11, "z = Pad(x, p, c)", {"x": X, "p": _longs(0, 1, 0, 2, 0, 0), "c": np.asarray(-2.5, np.float32)}),
    Case(13, 'z = Pad<mode = "edge">(x, p)', {"x": X, "p": _longs(1, 0, 0, 0, 0, 1)}),
    Case(13, "z = Pad(x, p, c)", {"x": M.astype(np.float64), "p": _longs(0, -1, 0, 2), "c": np.asarray(np.inf)}),
    Case(18, "z = Pad(x, p, , a)", {"x": X, "p": _longs(1, 2), "a": _longs([-1])}),
    Case(19, 'z = Pad<mode = "wrap">(x, p)', {"x": X, "p": _longs(0, 2, 1, 0, 1, 3)}),
    Case(7, "z = Tile(x, r)", {"x": M, "r": _longs(2, 3)}),
    Case(8, "z = Expand(x, s)", {"x": _floats(3, 1), "s": _longs(2, 1, 4)}),
    Case(9, "z = ConstantOfShape(s)", {"s": _longs(2, 3)}),
    Case(9, "z = ConstantOfShape<value = int64[1] {7}>(s)", {"s": _longs(2, 3)}),
    Case(7, "z = Identity(x)", {"x": X}),
    Case(7, "z = Shape(x)", {"x": X}),
    Case(15, "z = Shape<start = -2, end = 9>(x)", {"x": X}),
    Case(7, "z = Size(x)", {"x": X}),
    Case(7, "z = Reshape(x, s)", {"x": X, "s": _longs(0, -1)}),
    Case(14, "z = Reshape<allowzero = 1>(x, s)", {"x": _floats(0, 3), "s": _longs(3, 0)}),
    Case(7, "z = Transpose(x)", {"x": X}),
    Case(13, "z = Transpose<perm = [1, 2, 0]>(x)", {"x": X}),
    Case(7, "z = Concat<axis = 1>(x, y)", {"x": X, "y": _floats(2, 1, 4)}),
    Case(11, "z = Concat<axis = -1>(x, y)", {"x": X, "y": _floats(2, 3, 1)}),
    Case(7, "z = DepthToSpace<blocksize = 2>(x)", {"x": IMAGE}),
    Case(11, 'z = DepthToSpace<blocksize = 2, mode = "CRD">(x)', {"x": IMAGE}),
    Case(7, "z = SpaceToDepth<blocksize = 2>(x)", {"x": _floats(1, 2, 4, 6)}),
    Case(11, "z = Range(a, b, d)", {"a": _longs(2), "b": _longs(11), "d": _longs(3)}),
    Case(11, "z = Range(a, b, d)", {n: np.asarray(v, np.float32) for n, v in (("a", 1), ("b", -1), ("d", -0.3))}),
    Case(7, "z = Upsample<scales = [1.0, 1.0, 2.0, 3.0]>(x)", {"x": IMAGE}),
    Case(7, 'z = Upsample<mode = "linear", scales = [1.0, 1.0, 2.0, 2.0]>(x)', {"x": IMAGE}),
    Case(9, "z = Upsample(x, s)", {"x": IMAGE, "s": np.array([1, 1, 1.5, 2], np.float32)}),
    Case(7, "z = Cast<to = 7>(x)", {"x": 3 * X}),
    Case(9, "z = Cast<to = 1>(x)", {"x": _texts("1.5", "-INF", "nan", "1e-3")}),
    Case(9, "z = Cast<to = 8>(x)", {"x": _longs(3, -12, 0)}),
    Case(13, "z = Cast<to = 9>(x)", {"x": np.array([0, 0.5, -2], np.float32)}),
    Case(13, "z = Cast<to = 3>(x)", {"x": np.array([200, -300, 5], np.int16)}),
    Case(15, "z = CastLike(x, y)", {"x": 3 * X, "y": np.zeros(1, np.int32)}),
    Case(9, (
        'z = TfIdfVectorizer<mode = "TFIDF", min_gram_length = 1, max_gram_length = 2, max_skip_count = 1,'
        "ngram_counts = [0, 2], ngram_indexes = [0, 2, 1], pool_int64s = [2, 3, 5, 6], weights = [0.5, 2.0, 3.0]>(x)"
    ), {"x": _longs([[2, 5, 6], [3, 2, 2]])}),
    Case(11, "z, i, n, c = Unique<axis = 1>(x)", {"x": _longs([[2, 1, 2], [3, 0, 3]])}, ("z", "i", "n", "c")),
    Case(11, "z, i, n, c = Unique<sorted = 0>(x)", {"x": np.array([2, 1, 1, 3, 4, 3], np.float32)},
         ("z", "i", "n", "c")),
    Case(11, "s = SequenceConstruct(x, y) z = SequenceAt(s, p)", {"x": X, "y": M, "p": _longs(-1)}),
    Case(11, "s = SequenceConstruct(x, y, x) n = SequenceErase(s, p) z = SequenceAt(n, p) c = SequenceLength(n)",
         {"x": X, "y": M, "p": _longs(1)}, ("z", "c")),
    Case(11, "s = SequenceEmpty() t = SequenceInsert(s, x) u = SequenceInsert(t, y, p)"
             "z = ConcatFromSequence<axis = 1>(u)",
         {"x": M, "y": _floats(3, 1), "p": _longs(0)}),
    Case(11, "s = SplitToSequence<axis = 1>(x, n) z = SequenceAt(s, p) c = SequenceLength(s)",
         {"x": X, "n": _longs(2), "p": _longs(1)}, ("z", "c")),
    Case(11, "s = SplitToSequence<keepdims = 0>(x) z = ConcatFromSequence<axis = -1, new_axis = 1>(s)", {"x": X}),
    Case(15, "o = Optional(x) z = OptionalGetElement(o) h = OptionalHasElement(o)", {"x": X}, ("z", "h")),
]  # fmt: skip


def _name(case: Case) -> str:
    return f"{case.opset}-{case.body.partition('= ')[2][:60]}"


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("engine", ["numpy", "reference"])
@pytest.mark.parametrize("case", [pytest.param(c, id=_name(c)) for c in CASES])
def test_versions_mean_what_onnxruntime_computes(case: Case, engine: str) -> None:
    model = program(case.opset, case.body, case.inputs, case.outputs)
    assert_same(run_here(model, case.inputs, engine), run_with_onnxruntime(model, case.inputs))


# What onnxruntime lacks, or computes otherwise.
EVALUATED = [
    Case(10, 'z = StringNormalizer<case_change_action = "UPPER", stopwords = ["an"]>(x)',
         {"x": _texts("an", "Ox", "AN")}),
    Case(28, "z = Compress<axis = 0>(x, c)", {"x": X, "c": np.array([False, True])}),
    Case(24, 'z = TensorScatter<mode = "circular">(x, u, i)', {"x": X, "u": _floats(2, 2, 4), "i": _longs(2, 0)}),
    Case(24, "z = TensorScatter<axis = 1>(x, u)", {"x": X, "u": _floats(2, 2, 4)}),
    Case(18, "z = CenterCropPad<axes = [-1, 0]>(x, s)", {"x": X, "s": _longs(7, 1)}),
    Case(26, "z = CumProd<exclusive = 1>(x, a)", {"x": X, "a": _longs(1)}),
    Case(26, "z = BitCast<to = 6>(x)", {"x": X}),
    Case(20, "z = StringConcat(x, y)", {"x": _texts("a", "b"), "y": _texts("c")}),
    Case(20, 'z, n = StringSplit<delimiter = "-", maxsplit = 1>(x)', {"x": _texts("a-b-c", "", "d")}, ("z", "n")),
    Case(20, 'z = RegexFullMatch<pattern = "a+[0-9]{2}">(x)', {"x": _texts("aa12", "a1", "b12")}),
    Case(18, "h = OptionalHasElement() z = OptionalGetElement(x)", {"x": X}, ("h", "z")),
]  # fmt: skip


@pytest.mark.parametrize("engine", ["numpy", "reference"])
@pytest.mark.parametrize("case", [pytest.param(c, id=_name(c)) for c in EVALUATED])
def test_versions_mean_what_the_evaluator_of_onnx_computes(case: Case, engine: str) -> None:
    model = program(case.opset, case.body, case.inputs, case.outputs, ir_version=10)
    assert_same(run_here(model, case.inputs, engine), run_with_evaluator(model, case.inputs))


# -- conversions between all element types

_SIMPLE = (-2.5, 0, 0.5, 7)
_TYPES: dict[str, tuple[float, ...]] = {
    **dict.fromkeys(("FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ"), _SIMPLE),
    **dict.fromkeys(("FLOAT8E5M2", "FLOAT8E5M2FNUZ", "FLOAT6E2M3", "FLOAT6E3M2"), _SIMPLE),
    "FLOAT8E8M0": (0.25, 1, 2, 4), "FLOAT4E2M1": (-2, 0, 0.5, 6), "INT8": (-3, 0, 1, 7), "INT16": (-300, 0, 1, 7),
    "INT32": (-70000, 0, 1, 7), "INT64": (-(2**40), 0, 1, 7), "UINT8": (0, 1, 7, 200), "UINT16": (0, 1, 7, 65000),
    "UINT32": (0, 1, 7, 2**31), "UINT64": (0, 1, 7, 2**40), "INT4": (-8, 0, 1, 7), "UINT4": (0, 1, 7, 15),
    "INT2": (-2, -1, 0, 1), "UINT2": (0, 1, 2, 3), "BOOL": (False, True, True, False), "STRING": (-2, 0, 1, 7),
}  # fmt: skip
"""Some values of each element type, as numbers."""
_UNSIGNED = ("UINT8", "UINT16", "UINT32", "UINT64", "UINT4", "UINT2", "FLOAT8E8M0")
_SATURATED = ("FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ")


def _dtype(name: str) -> np.dtype[Any]:
    return helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(name))


def _numbers(source: str, to: str) -> list[float]:
    """Numbers of a type of which the standard says what they become in another."""
    result = list(_TYPES[source])
    if "INT" not in source and to in _UNSIGNED:
        result = [abs(v) for v in result]
    if to == "FLOAT8E8M0":
        return [v for v in result if v > 0]
    return result


def _converted(numbers: list[float], source: str, to: str) -> list[Any]:
    """Returns the converted numbers, by the conversions of numpy and ml_dtypes from types that hold all of them."""
    if to == "STRING":
        of_float = source.startswith("FLOAT") or source in ("DOUBLE", "BFLOAT16")
        if source == "BOOL":
            # As onnxruntime writes them; numpy has True and False.
            return [str(int(v)) for v in numbers]
        return [str(float(v)) if of_float else str(v) for v in numbers]
    if to == "BOOL":
        return [v != 0 for v in numbers]
    if "INT" in to:
        return np.asarray([int(v) for v in numbers], np.int64).astype(_dtype(to)).astype(np.int64).tolist()
    if to == "FLOAT8E8M0":
        return numpy_helper.to_float8e8m0(np.asarray(numbers, np.float32)).astype(np.float64).tolist()
    wide = np.asarray(numbers, np.float64)
    if to in _SATURATED:
        most = float(str(ml_dtypes.finfo(_dtype(to)).max))
        wide = np.clip(wide, -most, most)
    with np.errstate(over="ignore"):
        return wide.astype(np.float32 if to != "DOUBLE" else np.float64).astype(_dtype(to)).astype(np.float64).tolist()


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("engine", ["numpy", "reference"])
@pytest.mark.parametrize("source", _TYPES)
def test_every_type_converts_to_every_other(source: str, engine: str) -> None:
    for to in _TYPES:
        numbers = _numbers(source, to)
        x = _texts(*map(str, numbers)) if source == "STRING" else np.asarray(numbers).astype(_dtype(source))
        model = program(28, f"z = Cast<to = {TensorProto.DataType.Value(to)}>(x)", {"x": x}, ("z",), ir_version=14)
        (result,) = run_here(model, {"x": x}, engine)
        where = f"{source} to {to}: {result}"
        assert result.dtype == _dtype(to), where
        if to not in ("STRING", "BOOL"):
            result = result.astype(np.int64 if "INT" in to else np.float64)
        assert result.tolist() == _converted(numbers, source, to), where
