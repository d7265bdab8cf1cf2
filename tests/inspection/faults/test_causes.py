"""Likely causes of differences: models and copies with one planted fault, and some with faults that are not known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import NodeProto, helper, numpy_helper

import commonir as cir
from commonir.ir.module import Module
from commonir.reports import Divergence

Array = NDArray[Any]
_FLOAT, _HALF = 1, 10

SHAPE = (2, 3, 8, 8)


def seeded(seed: int, shape: Sequence[int]) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


WEIGHTS = seeded(1, (4, 3, 3, 3))
CONSTANTS: Mapping[str, Array] = {
    "two": np.float32(2) * np.ones(1, np.float32),
    "weights": WEIGHTS,
    "transposed": np.ascontiguousarray(WEIGHTS.transpose(0, 1, 3, 2)),
    "other": seeded(2, (4, 3, 3, 3)),
    "ones": np.ones(8, np.float32),
    "scales": np.array([1, 1, 2, 2], np.float32),
    "square": seeded(3, (8, 8)),
    "last": np.arange(7, -1, -1),
}


def node(type: str, *operands: str, **attributes: Any) -> NodeProto:
    """The node in the middle, of the value `pre` and constants."""
    return helper.make_node(type, ["pre", *operands], ["mid"], **attributes)


def model(
    middle: Sequence[NodeProto], shape: Sequence[int] = SHAPE, renamed: Mapping[str, str] | None = None
) -> Module:
    """A product, nodes that compute `mid`, and its magnitude; `renamed` gives constants other names."""
    names = renamed or {}
    used = {n for m in middle for n in m.input} | {"two"}
    arrays = [numpy_helper.from_array(a, names.get(n, n)) for n, a in CONSTANTS.items() if n in used]
    for m in middle:
        m.input[:] = [names.get(n, n) for n in m.input]
    nodes = [
        helper.make_node("Mul", ["x", "two"], ["pre"]),
        *middle,
        helper.make_node("Abs", ["mid"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", _FLOAT, shape)],
        [helper.make_tensor_value_info("y", _FLOAT, None)],
        arrays,
    )
    content = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    return cir.loads(content.SerializeToString(), format="onnx")


def divergence(a: Module, b: Module, rtol: float = 1e-5) -> Divergence:
    found = cir.compare(a, b, {"x": seeded(4, SHAPE) * 2}, rtol=rtol).first_divergence
    assert found is not None
    return found


def cause(a: Module, b: Module, rtol: float = 1e-5) -> str:
    """The kind and the text of the cause, nothing if none fits."""
    found = divergence(a, b, rtol).cause
    return "" if found is None else f"{found.kind}: {found.text}"


PADS = {"pads": [1, 1, 1, 1]}

ATTRIBUTES = [
    ("axis", node("Softmax", axis=1), node("Softmax", axis=3), "axis is 1"),
    ("gelu", node("Gelu"), node("Gelu", approximate="tanh"), "approximate is 'none'"),
    (
        "epsilon",
        node("LayerNormalization", "ones", epsilon=1e-5),
        node("LayerNormalization", "ones", epsilon=1e-2),
        "epsilon is 1e-05 in the first program and 0.01 in the second",
    ),
    (
        "resize",
        node("Resize", "", "scales", mode="linear"),
        node("Resize", "", "scales", mode="linear", coordinate_transformation_mode="asymmetric"),
        "coordinate_transformation_mode is 'half_pixel'",
    ),
    (
        "two attributes",
        node("Resize", "", "scales", mode="linear"),
        node("Resize", "", "scales", mode="cubic", coordinate_transformation_mode="asymmetric"),
        "mode is 'linear' in the first program and 'cubic' in the second; with those",
    ),
    ("padding", node("Conv", "weights", **PADS), node("Conv", "weights", pads=[2, 2, 0, 0]), "pads is (1, 1, 1, 1)"),
    (
        "average",
        node("AveragePool", kernel_shape=[3, 3], count_include_pad=1, **PADS),
        node("AveragePool", kernel_shape=[3, 3], **PADS),
        "count_include_pad is True",
    ),
]


@pytest.mark.parametrize(("first", "second", "text"), [a[1:] for a in ATTRIBUTES], ids=[a[0] for a in ATTRIBUTES])
def test_attribute_that_differs_is_the_cause(first: NodeProto, second: NodeProto, text: str) -> None:
    found = cause(model([first]), model([second]))
    assert found.startswith("attributes: attribute")
    assert text in found
    assert "of the second the first agrees" in found


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        (node("Gelu"), node("Gelu", approximate="tanh"), "onnx.Gelu with approximate = 'tanh' instead of 'none'"),
        (node("Softmax", axis=1), node("Softmax", axis=3), "onnx.Softmax with axis = 3 instead of 1"),
        (
            node("LayerNormalization", "ones", epsilon=1e-5),
            node("LayerNormalization", "ones", epsilon=1e-2),
            "onnx.LayerNormalization with epsilon = 0.01 instead of 1e-05",
        ),
    ],
)
def test_conventions_are_tried_where_the_other_program_has_another_form(
    first: NodeProto, second: NodeProto, text: str
) -> None:
    other = cir.convert(model([second]), "mil")
    assert cause(model([first]), other) == f"attributes: {text} computes what the second program does"


def test_constants_that_differ_are_compared() -> None:
    first = model([node("Conv", "weights", **PADS)])
    transposed = model([node("Conv", "transposed", **PADS)], renamed={"transposed": "weights"})
    other = model([node("Conv", "other", **PADS)], renamed={"other": "weights"})
    agrees = "; with that of the second program the first agrees"
    assert (
        cause(first, transposed)
        == f"constants: the constant 'weights' differs: its axes are permuted by [0, 1, 3, 2]{agrees}"
    )
    assert cause(first, other) == f"constants: the constant 'weights' differs{agrees}"


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (
            [node("Gather", "last", axis=3)],
            [node("Identity")],
            "layout: the second result is the first in reverse along axis 3",
        ),
        (
            [
                helper.make_node("Relu", ["pre"], ["r"]),
                helper.make_node("Transpose", ["r"], ["mid"], perm=[0, 1, 3, 2]),
            ],
            [node("Relu")],
            "attributes: onnx.Transpose with perm = (0, 1, 2, 3) instead of (0, 1, 3, 2)",
        ),
        ([node("Round")], [node("Floor")], "rounding: the first rounds 'pre' half to even, the second down"),
        ([node("Ceil")], [node("Floor")], "rounding: the first rounds 'pre' up, the second down"),
        (
            [node("Gelu")],
            [
                helper.make_node("Mul", ["pre", "slope"], ["scaled"]),
                helper.make_node("Sigmoid", ["scaled"], ["gate"]),
                helper.make_node("Mul", ["pre", "gate"], ["mid"]),
            ],
            "approximation: the first computes the exact gelu of 'pre', the second its sigmoid approximation",
        ),
    ],
    ids=["reverse", "permutation", "round", "ceil", "gelu"],
)
def test_causes_that_results_show(first: list[NodeProto], second: list[NodeProto], expected: str) -> None:
    a, b = model(first), _with_slope(second)
    assert cause(a, b).startswith(expected)


def _with_slope(nodes: list[NodeProto]) -> Module:
    slope = helper.make_node("Constant", [], ["slope"], value_float=1.702)
    return model([slope, *nodes] if any("slope" in n.input for n in nodes) else nodes)


def test_other_padding_is_seen_at_the_border() -> None:
    padded = [
        helper.make_node("Constant", [], ["ends"], value_ints=[0, 0, 1, 1, 0, 0, 1, 1]),
        helper.make_node("Pad", ["pre", "ends"], ["padded"], mode="reflect"),
        helper.make_node("Conv", ["padded", "weights"], ["mid"]),
    ]
    found = cause(model([node("Conv", "weights", **PADS)]), model(padded))
    assert found == "border: only elements within 1 of the ends of axes 2, 3 differ, as with other padding"


def test_rounding_to_narrower_types_is_precision() -> None:
    product = [node("MatMul", "square")]
    half = [
        helper.make_node("Cast", ["pre"], ["narrow"], to=_HALF),
        helper.make_node("Cast", ["square"], ["narrow_square"], to=_HALF),
        helper.make_node("MatMul", ["narrow", "narrow_square"], ["half"]),
        helper.make_node("Cast", ["half"], ["mid"], to=_FLOAT),
    ]
    assert cause(model(product), model(half)).startswith("precision: the second computes in f16")
    converted = cir.convert(model(product), "onnx", precision="float16")
    assert cause(model(product), converted) == "precision: the second is the first rounded to f16"


def test_overflow_of_a_mask_is_tested_with_finite_numbers() -> None:
    def masked(type: int) -> Module:
        # 0 times the lowest number is 0, and 0 times -inf is NaN.
        dtype = np.float16 if type == _HALF else np.float32
        with np.errstate(over="ignore"):
            mask = np.triu(np.full((4, 4), -3.4e38, np.float32), 1).astype(dtype)
        graph = helper.make_graph(
            [helper.make_node("Mul", ["x", "mask"], ["mid"]), helper.make_node("Softmax", ["mid"], ["y"])],
            "g",
            [helper.make_tensor_value_info("x", type, [4, 4])],
            [helper.make_tensor_value_info("y", type, [4, 4])],
            [numpy_helper.from_array(mask, "mask")],
        )
        content = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
        return cir.loads(content.SerializeToString(), format="onnx")

    found = cir.compare(masked(_FLOAT), masked(_HALF), {"x": np.zeros((4, 4), np.float32)}).first_divergence
    assert found is not None
    assert found.cause is not None
    assert found.cause.text == (
        "'mask' has infinities in the second program; with the largest numbers of f16 instead it agrees"
    )


def test_operations_that_amplify_small_differences_are_not_faults() -> None:
    def cancelling(factor: float) -> Module:
        nodes = [
            helper.make_node("Constant", [], ["factor"], value_floats=[float(factor)]),
            helper.make_node("Constant", [], ["big"], value_floats=[1000.0]),
            helper.make_node("Mul", ["pre", "factor"], ["scaled"]),
            helper.make_node("Add", ["scaled", "big"], ["sum"]),
            helper.make_node("Sub", ["sum", "big"], ["mid"]),
        ]
        return model(nodes)

    found = cir.compare(
        cancelling(1), cancelling(1.0005), {"x": seeded(4, SHAPE)}, rtol=1e-5, atol={"scaled": 1, "*": 1e-4}
    )
    first = found.first_divergence
    assert first is not None
    assert first.cause is not None
    assert (first.name, first.cause.kind) == ("mid", "operands")
    assert first.cause.text.startswith("it amplifies small differences of 'sum'")


@pytest.mark.parametrize(
    ("first", "second"),
    [("Exp", "Sin"), ("Relu", "Tanh"), ("Relu", "LeakyRelu"), ("Sigmoid", "Softplus"), ("Abs", "Neg"), ("Sin", "Cos")],
)
def test_no_cause_is_named_where_none_fits(first: str, second: str) -> None:
    assert cause(model([node(first)]), model([node(second)])) == ""


@pytest.mark.parametrize("elements", [np.s_[:], np.s_[0, 1, 4, 4], np.s_[0, 0, 0, 0]], ids=["all", "inside", "corner"])
@pytest.mark.parametrize("scale", [1e-2, 1.0])
def test_noise_has_no_known_cause(elements: tuple[int, ...], scale: float) -> None:
    values = np.zeros(SHAPE, np.float32)
    values[elements] = seeded(5, SHAPE)[elements] * scale
    noise = [
        helper.make_node("Constant", [], ["noise"], value=numpy_helper.from_array(values)),
        helper.make_node("Relu", ["pre"], ["clean"]),
        helper.make_node("Add", ["clean", "noise"], ["mid"]),
    ]
    assert cause(model([node("Relu")]), model(noise)) == ""


def test_causes_do_not_follow_from_what_decides() -> None:
    """With a threshold that most elements keep, some places differ by chance and others do not."""
    half = cir.convert(model([node("MatMul", "square")]), "onnx", precision="float16")
    found = cir.compare(model([node("MatMul", "square")]), half, metric="max-abs:2e-3").first_divergence
    assert found is not None
    assert found.cause is not None
    assert found.cause.kind == "precision"


def test_the_path_leads_from_the_divergence_to_the_output() -> None:
    tail = [
        helper.make_node("Relu", ["start"], ["a"]),
        helper.make_node("Sigmoid", ["a"], ["b"]),
        helper.make_node("Tanh", ["start"], ["aside"]),
        helper.make_node("Add", ["b", "aside"], ["mid"]),
    ]
    starts = [helper.make_node(t, ["pre"], ["start"]) for t in ("Exp", "Sin")]
    first, second = (model([start, *tail]) for start in starts)
    found = divergence(first, second)
    assert (found.name, found.path) == ("start", ("start", "aside", "mid", "y"))


def test_explaining_can_be_left_out() -> None:
    found = cir.compare(model([node("Exp")]), model([node("Sin")]), explain=False).first_divergence
    assert found is not None
    assert (found.cause, found.path) == (None, ())
