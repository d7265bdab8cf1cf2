"""Operations fused into one: parts as exporters write them, compared in onnxruntime, and parts that must stay."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import commonir as cir
from commonir.base.diagnostics import Diagnostics
from commonir.cli.main import main

from tests.passes.node_text import nodes_of

_RNG = np.random.default_rng(11)
_NEWEST = 24


def _floats(*shape: int) -> Any:
    return _RNG.standard_normal(shape).astype(np.float32)


NUMBERS = {
    "half": 0.5, "one": 1, "two": 2, "three": 3, "root2": math.sqrt(2), "inverse_root2": math.sqrt(0.5),
    "k": math.sqrt(2 / math.pi), "c": 0.044715, "ck": 0.044715 * math.sqrt(2 / math.pi), "quick": 1.702,
    "epsilon": 1e-5, "nearly_root2": 1.415, "small": 1e-12, "minus_half": -0.5, "slope": 0.2,
    "thousand": 1000,
}  # fmt: skip
WEIGHTS = {
    "g": _floats(8), "b": _floats(8), "rows": _floats(5, 1), "more": _floats(1, 5, 1),
    "last": np.array([-1], np.int64), "channels": np.array([1], np.int64), "both": np.array([1, 2], np.int64),
    "spatial": np.array([2, 3], np.int64), "all": np.array([-3, -2, -1], np.int64),
    "factors": _floats(3, 1, 1), "offsets": _floats(1, 3, 1, 1),
    "grouped": np.array([0, 2, -1], np.int64), "grouped5": np.array([-1, 2, 3, 4, 5], np.int64),
    "behind": np.array([2, 3, 4], np.int64), "whole": np.array([0, 6, 4, 5], np.int64),
    "ones2": np.ones(2, np.float32), "zeros2": np.zeros(2, np.float32), "g2": _floats(2), "tall": _floats(4, 1),
    "factors6": _floats(6, 1, 1), "offsets6": _floats(1, 6, 1, 1),
}  # fmt: skip
ROWS = ["N", 5, 8]
IMAGE = ["N", 3, 5, 6]
GROUPED = ["N", 6, 4, 5]

GELU_ERF = "a = Div x root2\ne = Erf a\nf = Add e one\nm = Mul x f\ny = Mul m half"
LAYER_NORM = """m = ReduceMean x last
    d = Sub x m
    s = Pow d two
    v = ReduceMean s last
    w = Add v epsilon
    r = Sqrt w
    q = Div d r
    t = Mul q g
    y = Add t b"""
INSTANCE_NORM = """m = ReduceMean x spatial
    d = Sub x m
    s = Mul d d
    v = ReduceMean s spatial
    w = Add v epsilon
    r = Sqrt w
    q = Div d r
    t = Mul q factors
    y = Add t offsets"""
GROUP_NORM = """h = Reshape x grouped
    i = InstanceNormalization h ones2 zeros2 epsilon=0.001
    n = Shape x
    r = Reshape i n
    t = Mul r factors6
    y = Add t offsets6"""
GROUP_NORM_OF_PARTS = f"h = Reshape x grouped5\n{INSTANCE_NORM.partition('    t =')[0]}r2 = Reshape q whole".replace(
    "spatial", "behind").replace("Mean x", "Mean h").replace("Sub x", "Sub h")  # fmt: skip
MISH = "s = Softplus x\nt = Tanh s\ny = Mul x t"
RMS_NORM = "s = Pow x two\nv = ReduceMean s last\nw = Add v epsilon\nr = Sqrt w\nq = Div x r\ny = Mul g q"

# name: nodes, shape of x, the operator that remains
FUSED: dict[str, tuple[str, list[Any], str]] = {
    "gelu of torch": (GELU_ERF, ROWS, "Gelu"),
    "gelu of keras": (
        "a = Mul x inverse_root2\ne = Erf a\nf = Add one e\nh = Mul half x\ny = Mul h f", ROWS, "Gelu",
    ),
    "gelu with the factor inside": (
        "a = Mul x inverse_root2\ne = Erf a\nh = Mul e half\nf = Add h half\ny = Mul f x", ROWS, "Gelu",
    ),
    "gelu multiplied out": (
        "a = Div x root2\ne = Erf a\nh = Mul x half\np = Mul h e\ny = Add p h", ROWS, "Gelu",
    ),
    "gelu by tanh with a power": (
        ("p = Pow x three\nq = Mul p c\ns = Add x q\nt = Mul s k\nu = Tanh t\nf = Add u one\nh = Mul x half\n"
        "y = Mul h f"), ROWS, "Gelu",
    ),
    "gelu by tanh with products": (
        "p = Mul x x\nq = Mul p ck\ns = Add q k\nt = Mul x s\nu = Tanh t\nf = Add u one\nh = Mul f half\ny = Mul x h",
        ROWS, "Gelu",
    ),
    "silu": ("s = Sigmoid x\ny = Mul x s", ROWS, "Swish"),
    "silu as a quotient": ("n = Neg x\ne = Exp n\nd = Add e one\ny = Div x d", ROWS, "Swish"),
    "layer_norm of torch": (LAYER_NORM, ROWS, "LayerNormalization"),
    "layer_norm without scale and shift": (
        ("m = ReduceMean x last\nd = Sub x m\ns = Mul d d\nv = ReduceMean s last\nw = Add v epsilon\nr = Sqrt w\n"
        "y = Div d r"), ROWS, "LayerNormalization",
    ),
    "layer_norm of keras": (
        ("m = ReduceMean x last\nd = Sub x m\ns = Mul d d\nv = ReduceMean s last\nw = Add v epsilon\nr = Sqrt w\n"
        "i = Reciprocal r\np = Mul i g\nn = Mul m p\no = Sub b n\nt = Mul x p\ny = Add t o"), ROWS,
        "LayerNormalization",
    ),
    "layer_norm with repeated differences": (
        ("m = ReduceMean x last\nd = Sub x m\nc1 = Sub x m\ns = Pow c1 two\nv = ReduceMean s last\n"
        "w = Add epsilon v\nr = Pow w minus_half\nq = Mul d r\nt = Mul q g\ny = Add t b"), ROWS, "LayerNormalization",
    ),
    "layer_norm of mean squares": (
        ("m = ReduceMean x last\nn = Mul m m\ns = Mul x x\nu = ReduceMean s last\nv = Sub u n\nw = Add v epsilon\n"
        "r = Sqrt w\nd = Sub x m\nq = Div d r\nt = Mul q g\ny = Add t b"), ROWS, "LayerNormalization",
    ),
    "layer_norm with axes that are dropped": (
        ("m = ReduceMean x last keepdims=0\nn = Unsqueeze m last\nd = Sub x n\ns = Mul d d\nv = ReduceMean s last\n"
        "w = Add v epsilon\nr = Sqrt w\nq = Div d r\ny = Mul q g"), ROWS, "LayerNormalization",
    ),
    "layer_norm in wider numbers": (
        ("x2 = Cast x to=11\nm = ReduceMean x2 last\nd = Sub x2 m\ns = Mul d d\nv = ReduceMean s last\n"
        "e2 = Cast epsilon to=11\nw = Add v e2\nr = Sqrt w\nq = Div d r\nc1 = Cast q to=1\nt = Mul c1 g\n"
        "y = Add t b"), ROWS, "LayerNormalization",
    ),
    "rms_norm of torch": (RMS_NORM, ROWS, "RMSNormalization"),
    "rms_norm by a reciprocal": (
        ("s = Mul x x\nv = ReduceMean s last\nw = Add v epsilon\nr = Sqrt w\ni = Reciprocal r\nq = Mul x i\n"
        "y = Mul q g"), ROWS, "RMSNormalization",
    ),
    "instance_norm of keras": (INSTANCE_NORM, IMAGE, "InstanceNormalization"),
    "instance_norm by a reciprocal root": (
        ("m = ReduceMean x spatial\nd = Sub x m\ns = Mul d d\nv = ReduceMean s spatial\nw = Add v epsilon\n"
        "r = Sqrt w\ni = Reciprocal r\np = Mul i factors\nn = Mul m p\no = Sub offsets n\nt = Mul x p\n"
        "y = Add t o"), IMAGE, "InstanceNormalization",
    ),
    "instance_norm without scale and shift": (
        INSTANCE_NORM.partition("\n    t =")[0].replace("q =", "y ="), ["N", 3, "H", 6], "InstanceNormalization",
    ),
    "instance_norm along one axis": (
        LAYER_NORM.replace(" g", " rows").replace(" b", " more"), ROWS, "InstanceNormalization",
    ),
    "group_norm of torch": (GROUP_NORM, GROUPED, "GroupNormalization"),
    "group_norm of sizes that are not known": (GROUP_NORM, ["N", 6, "H", "W"], "GroupNormalization"),
    "group_norm of a known size": (GROUP_NORM, [2, 6, 4, 5], "GroupNormalization"),
    "group_norm of its parts": (
        f"{GROUP_NORM_OF_PARTS}\nt = Mul factors6 r2\ny = Add offsets6 t", GROUPED, "GroupNormalization",
    ),
    "group_norm without a shift": (f"{GROUP_NORM_OF_PARTS}\ny = Mul factors6 r2", GROUPED, "GroupNormalization"),
    "group_norm without a scale": (f"{GROUP_NORM_OF_PARTS}\ny = Add r2 offsets6", GROUPED, "GroupNormalization"),
    "group_norm without scale and shift": (
        GROUP_NORM_OF_PARTS.replace("r2 =", "y ="), [3, 6, 4, 5], "GroupNormalization",
    ),
    "hard_swish of torch": (
        "a = Add x three\nl = Max a zero\nc1 = Min l six\nm = Mul x c1\ny = Div m six", ROWS, "HardSwish",
    ),
    "hard_swish of its parts": ("s = HardSigmoid x alpha=0.16666667\ny = Mul s x", ROWS, "HardSwish"),
    "mish of torch": (MISH, ROWS, "Mish"),
    "mish with a logarithm": ("e = Exp x\np = Add e one\ns = Log p\nt = Tanh s\ny = Mul t x", ROWS, "Mish"),
    "rms_norm without scale": (
        "s = Mul x x\nv = ReduceMean s last\nw = Add v small\nr = Pow w minus_half\ny = Mul x r", ROWS,
        "RMSNormalization",
    ),
}  # fmt: skip

# name: nodes, the operators that remain, the beginning of a note
STAYS: dict[str, tuple[str, str, str]] = {
    "gelu with another constant": (
        GELU_ERF.replace("root2", "nearly_root2"), "Div Erf Add Mul Mul",
        "gelu: 1 place looks like it, and stays: 'y': it differs by 1.3e-04, and at most 1e-05 is rounding",
    ),
    "gelu with an inner value that is an output": (
        GELU_ERF.replace("e = Erf a", "z = Erf a").replace("Add e", "Add z"), "Div Erf Add Mul Mul",
        "gelu: 1 place looks like it, and stays: 'y': 'z' inside of it is used elsewhere",
    ),
    "gelu with another use of an inner value": (
        GELU_ERF.replace("y = ", "u = ") + "\ny = Add u f", "Div Erf Add Mul Mul Add",
        "gelu: 1 place looks like it, and stays: 'u': 'f' inside of it is used elsewhere",
    ),
    "zeros in place of NaN after gelu": (
        GELU_ERF.replace("y = ", "u = ") + "\ni = IsNaN u\ny = Where i zero u", "Gelu IsNaN Where", "",
    ),
    "silu of another value": ("n = Neg x\ns = Sigmoid n\ny = Mul x s", "Neg Sigmoid Mul", ""),
    "silu that is bounded": ("s = Sigmoid x\nm = Min s half\ny = Mul x m", "Sigmoid Min Mul", ""),
    "mish of another base": (
        "e = Exp x\np = Add e two\ns = Log p\nt = Tanh s\ny = Mul t x", "Exp Add Log Tanh Mul", "",
    ),
    "mish of another value": ("n = Neg x\ns = Softplus n\nt = Tanh s\ny = Mul x t", "Neg Softplus Tanh Mul", ""),
    "layer_norm along different axes": (
        LAYER_NORM.replace("Mean x last", "Mean x channels"), "ReduceMean Sub RMSNormalization Add", "",
    ),
    "a scale of another axis after layer_norm": (
        LAYER_NORM.replace("Mul q g", "Mul q rows"), "InstanceNormalization Add", "",
    ),
    "layer_norm along an axis that is not the last": (
        LAYER_NORM.replace("last", "channels").replace(" g", " rows").replace(" b", " more"),
        "ReduceMean Sub Pow ReduceMean Add Sqrt Div Mul Add",
        "layer_norm: 1 place looks like it, and stays: 'y': onnx has no single operation for it",
    ),
    "layer_norm with an unbiased variance": (
        LAYER_NORM.replace("v = ReduceMean s last", "n = ReduceSum s last\nv = Div n seven"),
        "ReduceMean Sub Pow ReduceSum Div Add Sqrt Div Mul Add", "",
    ),
    "instance_norm with an unbiased variance": (
        LAYER_NORM.replace("v = ReduceMean s last", "n = ReduceSum s last\nv = Div n seven")
        .replace(" g", " rows").replace(" b", " more"),
        "ReduceMean Sub Pow ReduceSum Div Add Sqrt Div Mul Add", "",
    ),
    "a scale of another axis after group_norm": (
        GROUP_NORM.replace("factors6", "tall"), "GroupNormalization Mul Add", "",
    ),
    "group_norm with a scale of groups": (
        GROUP_NORM.replace("ones2", "g2"), "Reshape InstanceNormalization Reshape Mul Add", "",
    ),
    "group_norm with an inner value that is an output": (
        GROUP_NORM.replace("i =", "z =").replace("Reshape i", "Reshape z"),
        "Reshape InstanceNormalization Reshape Mul Add",
        "group_norm: 1 place looks like it, and stays: 'y': 'z' inside of it is used elsewhere",
    ),
    "group_norm with an unbiased variance": (
        f"{GROUP_NORM_OF_PARTS}\nt = Mul factors6 r2\ny = Add offsets6 t".replace(
            "v = ReduceMean s behind", "v2 = ReduceSum s behind\nv = Div v2 seven"),
        "Reshape ReduceMean Sub Mul ReduceSum Div Add Sqrt Div Reshape Mul Add", "",
    ),
    "rms_norm with the root of a sum": (
        RMS_NORM.replace("ReduceMean", "ReduceSum"), "Pow ReduceSum Add Sqrt Div Mul",
        "l2_norm: 1 place looks like it, and stays: 'q': onnx has no single operation for it",
    ),
    "l2_norm with a least norm": (
        "n = ReduceL2 x last\nm = Max n small\ny = Div x m", "ReduceL2 Max Div",
        "l2_norm: 1 place looks like it, and stays: 'y': onnx has no single operation for it",
    ),
    "rms_norm of a variance that is chosen where it is large": (
        RMS_NORM.replace(
            "v = ReduceMean s last", "v0 = ReduceMean s last\nh = Greater v0 thousand\nv = Where h one v0"),
        "Pow ReduceMean Greater Where Add Sqrt Div Mul", "",
    ),
    "rms_norm of an absolute value": (
        RMS_NORM.replace("Div x r", "Div a r").replace("s =", "a = Abs x\ns ="),
        "Abs Pow ReduceMean Add Sqrt Div Mul", "",
    ),
}  # fmt: skip


def _save(path: Path, text: str, shape: list[Any], opset: int = _NEWEST, element: int = TensorProto.FLOAT) -> None:
    nodes = nodes_of(text)
    outputs = ["y", *[o for n in nodes for o in n.output if o == "z"]]
    infos = [helper.make_tensor_value_info(n, element, s) for n, s in (("x", shape), *[(o, None) for o in outputs])]
    numbers = {**NUMBERS, "zero": 0, "six": 6, "seven": 7}
    values = {n: np.float32(v) for n, v in numbers.items()} | WEIGHTS
    used = {i for n in nodes for i in n.input}
    stored = [numpy_helper.from_array(np.asarray(v), n) for n, v in values.items() if n in used]
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:], stored)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10), path)


def _outputs(path: Path, shape: list[Any]) -> Sequence[Any]:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    x = np.random.default_rng(0).standard_normal([2 if isinstance(n, str) else n for n in shape]).astype(np.float32) * 3
    return onnxruntime.InferenceSession(str(path), options).run(None, {"x": x})


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("name", FUSED)
def test_parts_become_one_operator_with_the_same_outputs_in_onnxruntime(name: str, tmp_path: Path) -> None:
    text, shape, operator = FUSED[name]
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    _save(before, text, shape)
    cir.save(cir.optimize(cir.load(before), fuse="all"), after)
    assert Counter(node.op_type for node in onnx.load(after).graph.node) == {operator: 1}
    for expected, result in zip(_outputs(before, shape), _outputs(after, shape), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5, strict=True)


@pytest.mark.parametrize("name", STAYS)
def test_parts_that_compute_something_else_stay(name: str, tmp_path: Path) -> None:
    text, left, note = STAYS[name]
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    shape = GROUPED if "grouped" in text else ROWS
    _save(before, text, shape)
    findings = Diagnostics()
    cir.save(cir.optimize(cir.load(before), fuse="all", findings=findings), after)
    assert Counter(node.op_type for node in onnx.load(after).graph.node) == Counter(left.split())
    notes = [d.message for d in findings if d.code.id == "N0605"]
    assert [n.startswith(note) for n in notes] == [True] if note else not notes
    for expected, result in zip(_outputs(before, shape), _outputs(after, shape), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5, strict=True)


@pytest.mark.parametrize(
    ("text", "opset", "note"),
    [
        (GELU_ERF, 17, "gelu: 1 place looks like it, and stays: 'y': it needs opset20, and the program has opset17"),
        (
            RMS_NORM.replace("ReduceMean s last", "ReduceMean s axes=[-1]"), 17,
            "rms_norm: 1 place looks like it, and stays: 'y': it needs opset23, and the program has opset17",
        ),
        (GROUP_NORM, 18, "group_norm: 1 place looks like it, and stays: 'y': it needs opset21, and"),
        (MISH, 17, "mish: 1 place looks like it, and stays: 'y': it needs opset18,"),
        ("s = Sigmoid x\ny = Mul x s", 20, "silu: 1 place looks like it, and stays: 'y': it needs opset24, and"),
    ],
    ids=("gelu", "rms_norm", "group_norm", "mish", "silu"),
)  # fmt: skip
def test_a_note_names_the_operator_set_that_is_needed(text: str, opset: int, note: str, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    _save(path, text, GROUPED if "grouped" in text else ROWS, opset)
    findings = Diagnostics()
    names = [op.name for op in cir.optimize(cir.load(path)).walk()]
    assert [op.name for op in cir.optimize(cir.load(path), fuse="all", findings=findings).walk()] == names
    assert [d.message.startswith(note) for d in findings if d.code.id == "N0605"] == [True]


def test_names_choose_recognitions(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    _save(path, GELU_ERF.replace("y =", "p =") + "\ns = Sigmoid p\ny = Mul p s", ROWS)
    fused = {
        names: {op.name for op in cir.optimize(cir.load(path), fuse=names).walk()} & {"onnx.Gelu", "onnx.Swish"}
        for names in ("all", "gelu", "silu,gelu", "-gelu", "layer_norm", "-gelu,-silu")
    }
    both, gelu, silu, none = {"onnx.Gelu", "onnx.Swish"}, {"onnx.Gelu"}, {"onnx.Swish"}, set[str]()
    assert list(fused.values()) == [both, gelu, both, silu, none, none]
    with pytest.raises(cir.DiagnosticError, match="no recognition is called 'gelo'") as raised:
        cir.optimize(cir.load(path), fuse="gelo")
    assert raised.value.diagnostics[0].help == "did you mean 'gelu'?"


CORE_ML = {
    "quick gelu": "mil.gelu",
    "gelu of torch": "mil.gelu", "gelu by tanh with a power": "mil.gelu", "silu as a quotient": "mil.silu",
    "layer_norm of torch": "mil.layer_norm", "layer_norm of keras": "mil.layer_norm",
    "layer_norm without scale and shift": "mil.layer_norm", "l2_norm": "mil.l2_norm",
    "l2_norm by a reciprocal root": "mil.l2_norm", "l2_norm of torch": "mil.l2_norm",
    "instance_norm along one axis": "mil.instance_norm",
}  # fmt: skip


NOT_IN_ONNX = {
    "quick gelu": "a = Mul x quick\ns = Sigmoid a\ny = Mul x s",
    "l2_norm": "s = Mul x x\nv = ReduceSum s all\nw = Add v epsilon\nr = Sqrt w\ny = Div x r",
    "l2_norm of torch": "n = ReduceL2 x all\nm = Max n small\nd = Shape x\ne = Expand m d\ny = Div x e",
    "l2_norm by a reciprocal root": "v = ReduceSumSquare x all\nw = Add v epsilon\nr = Pow w minus_half\ny = Mul x r",
}  # fmt: skip


@pytest.mark.parametrize("name", CORE_ML)
def test_conversions_to_core_ml_fuse_what_it_has(name: str, tmp_path: Path) -> None:
    text = NOT_IN_ONNX[name] if name in NOT_IN_ONNX else FUSED[name][0]
    _save(tmp_path / "m.onnx", text, [2, 5, 8])
    source = cir.load(tmp_path / "m.onnx")
    program = cir.convert(source, "coreml", target="iOS17", fuse="all")
    names = [op.name for op in program.main.body.operations]
    assert [n for n in names if n not in ("mil.const", "mil.return", "mil.output")] == [CORE_ML[name]]
    x = np.random.default_rng(0).standard_normal((2, 5, 8)).astype(np.float32) * 3
    (expected,) = _outputs(tmp_path / "m.onnx", [2, 5, 8])
    result: Any = cir.run(program, {"x": x})["y"]
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5, strict=True)


def test_a_scale_that_is_computed_stays_outside_of_core_ml_s_layer_norm(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    _save(path, LAYER_NORM, [2, 5, 8])
    model = onnx.load(path)
    (scale,) = [t for t in model.graph.initializer if t.name == "g"]
    model.graph.initializer.remove(scale)
    model.graph.input.append(helper.make_tensor_value_info("g", TensorProto.FLOAT, [8]))
    onnx.save(model, path)
    names = Counter(op.name for op in cir.convert(cir.load(path), "coreml", fuse="layer_norm").walk())
    assert (names["mil.layer_norm"], names["mil.mul"], names["mil.add"]) == (1, 1, 1)


def test_halves_between_casts_are_fused_in_half_precision(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    half = TensorProto.FLOAT16
    _save(path, f"x2 = Cast x to=1\n{RMS_NORM.replace(' x ', ' x2 ').replace('y = Mul g q', 'c1 = Cast q to=10')}"
        "\nh = Cast g to=10\ny = Mul h c1", ROWS, element=half)  # fmt: skip
    names = Counter(op.name for op in cir.optimize(cir.load(path), fuse="all").walk())
    assert names["onnx.RMSNormalization"] == 1
    assert not names.keys() & {"onnx.Cast", "onnx.Mul", "onnx.Div"}


def test_the_command_line_fuses_all_or_what_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = str(tmp_path / "m.onnx"), str(tmp_path / "out.onnx")
    _save(Path(path), GELU_ERF, ROWS, 17)
    assert main(["opt", path, "--fuse", "-o", out]) == 0
    assert "'y': it needs opset20, and the program has opset17" in capsys.readouterr().err
    assert main(["convert", path, "--opset", "20", "--fuse", "--check", "-o", out]) == 0
    assert [node.op_type for node in onnx.load(out).graph.node] == ["Gelu"]
    assert main(["convert", path, "--opset", "20", "--fuse=-gelu", "-o", out, "--force"]) == 0
    assert len(onnx.load(out).graph.node) == 5
    assert main(["opt", path, "--fuse=gelo", "-o", str(tmp_path / "none.onnx")]) == 2
    assert "did you mean 'gelu'?" in capsys.readouterr().err


def test_a_slice_to_a_computed_stop_beside_what_is_fused_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    nodes = (
        f"s = Shape x start=0 end=1\nrow = Slice numbers first s first\n{GELU_ERF.replace('y =', 'u =')}\ny = Add u row"
    )
    _save(path, nodes, [8, "N", 8])
    model = onnx.load(path)
    values = {"numbers": np.arange(64, dtype=np.float32).reshape(8, 8), "first": np.zeros(1, np.int64)}
    model.graph.initializer.extend([numpy_helper.from_array(v, n) for n, v in values.items()])
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "B"
    onnx.save(model, path)
    names = Counter(op.name for op in cir.optimize(cir.load(path), passes="fuse").walk())
    assert (names["onnx.Gelu"], names["onnx.Slice"]) == (1, 1)


def test_nodes_that_are_not_sorted_are_fused_in_another_operator_set(tmp_path: Path) -> None:
    path, after = tmp_path / "m.onnx", tmp_path / "after.onnx"
    _save(path, GELU_ERF, ROWS, 17)
    model = onnx.load(path)
    nodes = [*model.graph.node][::-1]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    onnx.save(model, path)
    cir.save(cir.convert(cir.load(path), "onnx", opset=20, fuse="gelu"), after)
    assert [node.op_type for node in onnx.load(after).graph.node] == ["Gelu"]
    np.testing.assert_allclose(_outputs(after, ROWS)[0], _outputs(path, ROWS)[0], rtol=1e-5, atol=1e-5, strict=True)
