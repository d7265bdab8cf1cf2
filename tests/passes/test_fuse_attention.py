"""Attention made of its parts, as exporters write them: in ONNX compared in onnxruntime, in Core ML by our engine."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import commonir as cir
from commonir.base.diagnostics import Diagnostics
from commonir.ir.types import TensorType

from tests.conversions.running_mil import load_in_coremltools
from tests.passes.node_text import nodes_of

_RNG = np.random.default_rng(3)
SHAPES: dict[str, list[Any]] = {
    "q": ["B", 2, 4, 8], "k": ["B", 2, 6, 8], "v": ["B", 2, 6, 5], "m": ["B", 1, 1, 6], "allowed": ["B", 1, 4, 6],
    "k_rows": ["B", 6, 2, 8], "biases": [1, 2, 4, 6], "q_flat": ["N", 4, 8], "k_flat": ["N", 6, 8],
    "v_flat": ["N", 6, 5], "m_flat": ["N", 1, 6], "q_heads": [6, 4, 8], "k_heads": [6, 6, 8], "v_heads": [6, 6, 5],
    "alibi": [6, 1, 6], "k_few": ["B", 1, 6, 8], "v_few": ["B", 1, 6, 5],
    "q_four": ["B", 4, 4, 8], "q_one": [1, 2, 4, 8], "padding": ["B", 1, 1, 6],
}  # fmt: skip
NUMBERS = {
    "scale": 8**-0.5, "root": 8**0.5, "quarter": 8**-0.25, "zero": 0, "minus": -10000,
    "least": np.finfo(np.float32).min, "never": -math.inf, "low": -1000, "high": 1000,
}  # fmt: skip
CAUSAL = np.where(np.tri(4, 6, dtype=bool), 0, -math.inf).astype(np.float32)
VALUES: dict[str, Any] = {
    "causal": CAUSAL,
    "lower": np.tri(4, 6, dtype=bool),
    "strictly_lower": np.tri(4, 6, -1, dtype=bool),
    "before": np.array([1], np.int64),
    "tiled": np.array([1, 2, 1, 1, 1], np.int64),
    "k_four": np.array([0, 4, 6, 8], np.int64),
    "v_four": np.array([0, 4, 6, 5], np.int64),
    "axes": np.array([-1], np.int64),
    "apart": np.array([-1, 2, 4, 6], np.int64),
    "together": np.array([-1, 4, 6], np.int64),
    "twice": np.array([1, 1, 2, 1, 1], np.int64),
    "new": np.array([2], np.int64),
    "k_all": np.array([0, 2, 6, 8], np.int64),
    "q_joined": np.array([-1, 4, 8], np.int64),
    "k_joined": np.array([-1, 6, 8], np.int64),
    "v_joined": np.array([-1, 6, 5], np.int64),
    "k_apart": np.array([-1, 2, 8, 6], np.int64),
    "v_all": np.array([0, 2, 6, 5], np.int64),
}

# name: nodes, operators that remain
FUSED: dict[str, tuple[str, str]] = {
    "scale as a quotient, mask added": (
        ("t = Transpose k perm=[0,1,3,2]\ns = MatMul q t\nd = Div s root\na = Add d m\nw = Softmax a axis=-1\n"
        "y = MatMul w v"), "Expand Attention",
    ),
    "scale of the query, no mask": (
        "t = Transpose k perm=[0,1,3,2]\nr = Mul q scale\ns = MatMul r t\nw = Softmax s axis=-1\ny = MatMul w v",
        "Attention",
    ),
    "scale of both, transposed from rows": (
        ("t = Transpose k_rows perm=[0,2,3,1]\nr = Mul q quarter\nu = Mul t quarter\ns = MatMul r u\n"
        "a = Add s causal\nw = Softmax a axis=-1\ny = MatMul w v"), "Attention Transpose",
    ),
    "a product after the mask": (
        ("t = Transpose k perm=[0,1,3,2]\ns = MatMul q t\nd = Mul s scale\na = Where allowed d least\n"
        "w = Softmax a axis=-1\ny = MatMul w v"), "Attention Where",
    ),
    "a guard against rows without keys": (
        ("t = Transpose k perm=[0,1,3,2]\ns = MatMul q t\nd = Mul s scale\na = Where allowed d never\n"
        "w = Softmax a axis=-1\ni = IsNaN w\ng = Where i zero w\ny = MatMul g v"), "Attention",
    ),
    "softmax of its parts": (
        ("t = Transpose k perm=[0,1,3,2]\ns = MatMul q t\nd = Mul s scale\nh = ReduceMax d axes keepdims=1\n"
        "e = Sub d h\np = Exp e\nu = ReduceSum p axes keepdims=1\nw = Div p u\ny = MatMul w v"), "Attention",
    ),
    "a causal mask chosen, and one for padding added": (
        ("t = Transpose k perm=[0,1,3,2]\ns = MatMul q t\nd = Div s root\nc = Where lower d minus\na = Add c m\n"
        "w = Softmax a axis=-1\ny = MatMul w v"), "Add Attention",
    ),
    "two masks added": (
        ("t = Transpose k perm=[0,1,3,2]\ns = MatMul q t\nc = Add s biases\na = Add m c\nw = Softmax a axis=-1\n"
        "y = MatMul w v"), "Add Attention",
    ),
    "a mask before the scale, and one after it": (
        ("t = Transpose k perm=[0,1,3,2]\ns = MatMul q t\nc = Add s biases\nd = Mul c scale\na = Add d m\n"
        "w = Softmax a axis=-1\ny = MatMul w v"), "Mul Add Attention",
    ),
    "heads and batches in one axis": (
        ("t = Transpose k_flat perm=[0,2,1]\nr = Mul q_flat scale\ns = MatMul r t\nw = Softmax s axis=-1\n"
        "y = MatMul w v_flat"), "Attention",
    ),
    "heads and batches in one axis, with a mask": (
        ("t = Transpose k_flat perm=[0,2,1]\nr = Mul q_flat scale\ns = MatMul r t\na = Add s m_flat\n"
        "w = Softmax a axis=-1\ny = MatMul w v_flat"), "Expand Unsqueeze Attention",
    ),
    "heads apart for the mask, as OPT": (
        ("t = Transpose k_heads perm=[0,2,1]\nr = Mul q_heads scale\ns = MatMul r t\nh = Reshape s apart\n"
        "a = Add h causal\nf = Reshape a together\nw = Softmax f axis=-1\ny = MatMul w v_heads"),
        "Reshape Reshape Reshape Reshape Attention",
    ),
    "a bias of each head and position, and heads apart for the mask, as Bloom": (
        ("t = Transpose k_heads perm=[0,2,1]\ns = MatMul q_heads t\nd = Mul s scale\nb = Add alibi d\n"
        "h = Reshape b apart\na = Add h causal\nw = Softmax a axis=-1\nf = Reshape w together\ny = MatMul f v_heads"),
        "Reshape Reshape Reshape Reshape Reshape Add Attention",
    ),
    "heads of a batch of any size joined, and apart for the mask, as Bloom": (
        ("q1 = Reshape q q_joined\nk1 = Reshape k k_joined\nv1 = Reshape v v_joined\nt = Transpose k1 perm=[0,2,1]\n"
        "s = MatMul q1 t\nd = Mul s scale\nh = Reshape d apart\na = Add h m\nw = Softmax a axis=-1\n"
        "f = Reshape w together\ny = MatMul f v1"),
        "Expand Attention Reshape",
    ),
    "grouped queries, as Llama": (
        ("k1 = Unsqueeze k_few new\nk2 = Expand k1 twice\nk3 = Reshape k2 k_all\nv1 = Unsqueeze v_few new\n"
        "v2 = Expand v1 twice\nv3 = Reshape v2 v_all\nt = Transpose k3 perm=[0,1,3,2]\ns = MatMul q t\n"
        "d = Mul s scale\na = Add d causal\nw = Softmax a axis=-1\ny = MatMul w v3"), "Attention",
    ),
    "grouped queries, and batches and heads of keys in one axis, as dynamo": (
        ("k1 = Unsqueeze k_few new\nk2 = Expand k1 twice\nk3 = Reshape k2 k_joined\nv1 = Unsqueeze v_few new\n"
        "v2 = Expand v1 twice\nv3 = Reshape v2 v_all\nt = Transpose k3 perm=[0,2,1]\nk4 = Reshape t k_apart\n"
        "r = Mul q quarter\nu = Mul k4 quarter\ns = MatMul r u\nw = Softmax s axis=-1\ny = MatMul w v3"),
        "Attention",
    ),
    "heads repeated in another order": (
        ("k1 = Unsqueeze k before\nk2 = Expand k1 tiled\nk3 = Reshape k2 k_four\nv1 = Unsqueeze v before\n"
        "v2 = Expand v1 tiled\nv3 = Reshape v2 v_four\nt = Transpose k3 perm=[0,1,3,2]\ns = MatMul q_four t\n"
        "d = Mul s scale\nw = Softmax d axis=-1\ny = MatMul w v3"),
        "Unsqueeze Unsqueeze Expand Expand Reshape Reshape Attention",
    ),
    "one head of keys": (
        ("t = Transpose k_few perm=[0,1,3,2]\ns = MatMul q t\nd = Mul s scale\nw = Softmax d axis=-1\n"
        "y = MatMul w v_few"), "Attention",
    ),
    "scores that are bounded by the least number, with two masks": (
        ("t = Transpose k perm=[0,1,3,2]\ns = MatMul q t\nd = Mul s scale\nc = Where lower d least\nb = Max c least\n"
        "a = Add b m\nw = Softmax a axis=-1\ny = MatMul w v"), "Add Attention",
    ),
}  # fmt: skip
STAYS: dict[str, tuple[str, str]] = {
    "rows without keys that are NaN": (
        ("t = Transpose k perm=[0,1,3,2]\ns = MatMul q t\nd = Mul s scale\na = Where allowed d never\n"
        "w = Softmax a axis=-1\ny = MatMul w v"),
        "attention: 1 place looks like it, and stays: 'y': onnx has no single operation for it",
    ),
    "weights that are an output": (
        "t = Transpose k perm=[0,1,3,2]\ns = MatMul q t\nd = Mul s scale\nz = Softmax d axis=-1\ny = MatMul z v",
        "attention: 1 place looks like it, and stays: 'y': 'z' inside of it is used elsewhere",
    ),
    "softmax along another axis": (
        "t = Transpose k perm=[0,1,3,2]\ns = MatMul q t\nd = Mul s scale\nw = Softmax d axis=-2\ny = MatMul w v", "",
    ),
    "a mask of another number of masked scores": (
        ("t = Transpose k perm=[0,1,3,2]\ns = MatMul q t\nc = Add s biases\na = Mul c m\nw = Softmax a axis=-1\n"
        "y = MatMul w v"), "",
    ),
    "a mask that multiplies": (
        "t = Transpose k perm=[0,1,3,2]\ns = MatMul q t\nd = Mul s m\nw = Softmax d axis=-1\ny = MatMul w v", "",
    ),
    "scores that are limited": (
        ("t = Transpose k perm=[0,1,3,2]\ns = MatMul q t\nd = Mul s scale\na = Clip d low high\nw = Softmax a axis=-1\n"
        "y = MatMul w v"), "",
    ),
    "scores that are bounded, with two masks": (
        ("t = Transpose k perm=[0,1,3,2]\ns = MatMul q t\nc = Add s m\nd = Where lower c least\na = Max d low\n"
        "w = Softmax a axis=-1\ny = MatMul w v"), "",
    ),
    "scores divided by zero": (
        ("t = Transpose k perm=[0,1,3,2]\ns = MatMul q t\nc = Add s m\nd = Add c biases\na = Div d zero\n"
        "w = Softmax a axis=-1\ny = MatMul w v"), "",
    ),
    "a query of all batches": (
        ("t = Transpose k perm=[0,1,3,2]\ns = MatMul q_one t\nd = Mul s scale\nw = Softmax d axis=-1\n"
        "y = MatMul w v"), "",
    ),
    "rows of padding that are NaN": (
        ("t = Transpose k perm=[0,1,3,2]\ns = MatMul q t\nd = Mul s scale\na = Where padding d never\n"
        "w = Softmax a axis=-1\ny = MatMul w v"),
        "attention: 1 place looks like it, and stays: 'y': onnx has no single operation for it",
    ),
}  # fmt: skip


def _save(path: Path, text: str, opset: int = 23, batch: Any = "B", joined: Any = "N") -> dict[str, list[int]]:
    nodes = nodes_of(text)
    used = {i for n in nodes for i in n.input}
    named = {"B": batch, "N": joined}
    shapes = {n: [named[d] if isinstance(d, str) else d for d in s] for n, s in SHAPES.items() if n in used}
    kind = {"allowed": TensorProto.BOOL, "padding": TensorProto.BOOL}
    inputs = [helper.make_tensor_value_info(n, kind.get(n, TensorProto.FLOAT), s) for n, s in shapes.items()]
    outputs = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("y", "z") if n == "y" or "z = " in text
    ]
    values = {n: np.float32(v) for n, v in NUMBERS.items()} | VALUES
    stored = [numpy_helper.from_array(np.asarray(v), n) for n, v in values.items() if n in used]
    graph = helper.make_graph(nodes, "g", inputs, outputs, stored)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10), path)
    return {n: [{"B": 2, "N": 6}[d] if isinstance(d, str) else d for d in s] for n, s in shapes.items()}


def _inputs(shapes: dict[str, list[int]]) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    out: dict[str, Any] = {n: rng.standard_normal(s).astype(np.float32) for n, s in shapes.items()}
    if "allowed" in out:
        out["allowed"] = out["allowed"] > 0
        out["allowed"][0, 0, 1] = False
    if "padding" in out:
        out["padding"] = out["padding"] > 0
        out["padding"][0] = False
    return out


def _outputs(path: Path, inputs: dict[str, Any]) -> Any:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options).run(None, inputs)


@pytest.mark.parametrize("name", FUSED)
def test_parts_become_attention_with_the_same_outputs_in_onnxruntime(name: str, tmp_path: Path) -> None:
    text, left = FUSED[name]
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    inputs = _inputs(_save(before, text))
    cir.save(cir.optimize(cir.load(before), fuse="attention"), after)
    assert Counter(node.op_type for node in onnx.load(after).graph.node) == Counter(left.split())
    for expected, result in zip(_outputs(before, inputs), _outputs(after, inputs), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5, strict=True)


@pytest.mark.parametrize("name", STAYS)
def test_other_products_of_matrices_stay(name: str, tmp_path: Path) -> None:
    text, note = STAYS[name]
    path = tmp_path / "m.onnx"
    _save(path, text)
    findings = Diagnostics()
    names = Counter(op.name for op in cir.optimize(cir.load(path), fuse="attention", findings=findings).walk())
    assert (names["onnx.MatMul"], names["onnx.Attention"]) == (2, 0)
    notes = [d.message for d in findings if d.code.id == "N0605"]
    assert [n.startswith(note) for n in notes] == [True] if note else not notes


@pytest.mark.parametrize("name", ["scale of the query, no mask", "scale as a quotient, mask added"])
def test_a_note_names_the_operator_set_of_attention(name: str, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    _save(path, FUSED[name][0], opset=17)
    findings = Diagnostics()
    cir.optimize(cir.load(path), fuse="all", findings=findings)
    (note,) = [d.message for d in findings if d.code.id == "N0605"]
    assert note == "attention: 1 place looks like it, and stays: 'y': it needs opset23, and the program has opset17"


# Core ML has no attention with fewer heads of keys: repeating one takes more operations than the parts.
IN_CORE_ML = [name for name in FUSED if name != "one head of keys"]


def _in_core_ml(name: str, path: Path) -> tuple[cir.Module, dict[str, Any]]:
    """Returns the Core ML program for a model that is saved, and inputs: Core ML has no bools as inputs."""
    inputs = _inputs(_save(path, FUSED[name][0], batch=2, joined=6))
    program = cir.convert(cir.load(path), "coreml", target="iOS18", fuse="all")
    names = Counter(op.name for op in program.walk())
    assert (names["mil.scaled_dot_product_attention"], names["mil.matmul"], names["mil.softmax"]) == (1, 0, 0)
    return program, {n: v.astype(np.int32) if v.dtype == bool else v for n, v in inputs.items()}


@pytest.mark.fast_every(4)
@pytest.mark.parametrize("name", IN_CORE_ML)
def test_core_ml_attention_computes_the_same(name: str, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    program, inputs = _in_core_ml(name, path)
    fed = {n: v.astype(bool) if n in ("allowed", "padding") else v for n, v in inputs.items()}
    result: Any = cir.run(program, inputs)["y"]
    np.testing.assert_allclose(result, _outputs(path, fed)[0], rtol=1e-5, atol=1e-5, strict=True)


@pytest.mark.slow  # coremltools takes seconds to load
@pytest.mark.parametrize("name", IN_CORE_ML)
def test_coremltools_infers_the_types_of_attention_in_core_ml(name: str, tmp_path: Path) -> None:
    program, _ = _in_core_ml(name, tmp_path / "m.onnx")
    function = load_in_coremltools(program, tmp_path).functions["main"]
    (attention,) = [op for op in function.operations if op.op_type == "scaled_dot_product_attention"]
    (own,) = [op for op in program.walk() if op.name == "mil.scaled_dot_product_attention"]
    values = (*own.operands, *own.results, *program.main.outputs)
    shapes = [v.type.shape for v in values if isinstance(v.type, TensorType)]
    operands = [attention.inputs[n] for n in ("query", "key", "value", "attn_mask") if attention.inputs.get(n)]
    assert [tuple(v.shape) for v in (*operands, *attention.outputs, *function.outputs)] == shapes


def test_masks_of_one_structure_and_other_contents_are_distinguished(tmp_path: Path) -> None:
    path, fused = tmp_path / "m.onnx", tmp_path / "fused.onnx"
    part = (
        "t{n} = Transpose k perm=[0,1,3,2]\ns{n} = MatMul {q} t{n}\nd{n} = Mul s{n} scale\n"
        "c{n} = Where {mask} d{n} minus\na{n} = Add c{n} m\nw{n} = Softmax a{n} axis=-1\ny{n} = MatMul w{n} v\n"
    )
    # The first query of the strictly lower one has no keys: scores of -10000 give their mean.
    text = part.format(n=1, q="q", mask="strictly_lower") + "e = Exp q\n" + part.format(n=2, q="e", mask="lower")
    inputs = _inputs(_save(path, text + "y = Add y1 y2"))
    cir.save(cir.optimize(cir.load(path), fuse="attention"), fused)
    names = Counter(node.op_type for node in onnx.load(fused).graph.node)
    assert (names["Attention"], names["Softmax"]) == (1, 1)
    np.testing.assert_allclose(_outputs(fused, inputs)[0], _outputs(path, inputs)[0], rtol=1e-5, atol=1e-5)


_GUARDED = (
    "t = Transpose k perm=[0,1,3,2]\ns = MatMul q t\nd = Mul s scale\n{masked}\nw = Softmax a axis=-1\n"
    "i = IsNaN w\ng = Where i zero w\ny = MatMul g v"
)


@pytest.mark.parametrize("masked", ["a = Add d m", "a = Where padding d never"], ids=("added", "chosen"))
def test_core_ml_attention_gives_0_for_queries_without_keys_where_they_are_guarded(masked: str, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    inputs = _inputs(_save(path, _GUARDED.format(masked=masked), batch=2))
    if "m" in inputs:
        inputs["m"][0] = -math.inf
    program = cir.convert(cir.load(path), "coreml", target="iOS18", fuse="all")
    assert [op.name for op in program.walk()].count("mil.scaled_dot_product_attention") == 1
    expected = _outputs(path, inputs)[0]
    assert not expected[0].any()
    assert expected[1].all()
    # Core ML has no bools as inputs.
    fed = {n: v.astype(np.int32) if v.dtype == bool else v for n, v in inputs.items()}
    result: Any = cir.run(program, fed)["y"]
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5, strict=True)
