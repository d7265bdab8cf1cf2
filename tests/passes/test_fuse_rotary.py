"""Rotary embeddings made of their parts, as exporters write them, compared in onnxruntime and onnx's evaluator."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import commonir as cir
from commonir.base.diagnostics import Diagnostics

from tests.passes.node_text import nodes_of

SHAPES: dict[str, list[Any]] = {
    "x": ["B", 2, "S", 8], "wide": ["B", 2, "S", 12], "rows": ["B", "S", 2, 8], "f": ["B", "S", 4], "f1": [1, "S", 4],
    "c": ["B", 1, "S", 8], "s": ["B", 1, "S", 8], "fixed": [2, 3, 6, 8],
}  # fmt: skip
_ANGLES = np.linspace(0, 5, 24, dtype=np.float32).reshape(1, 6, 4)
_INTEGERS = {
    "zero": [0], "one": [1], "two": [2], "four": [4], "eight": [8], "twelve": [12], "last": [-1],
    "halves": [4, 4], "parts": [8, 4], "apart": [0, 0, 0, 4, 2], "together": [0, 0, 0, 8], "ones": [1, 1],
    "doubled": [0, 0, 8], "pairs": [1, 1, 1, 2],
}  # fmt: skip
VALUES: dict[str, Any] = {n: np.array(v, np.int64) for n, v in _INTEGERS.items()} | {
    "cosines": np.cos(np.concatenate([_ANGLES, _ANGLES], -1)), "sines": np.sin(np.concatenate([_ANGLES, _ANGLES], -1)),
}  # fmt: skip

_FULL = "e = Concat {f} {f} axis=-1\nc0 = Cos e\ns0 = Sin e\nc = Unsqueeze c0 {heads}\ns = Unsqueeze s0 {heads}\n"
_HALF = "c0 = Cos f\ns0 = Sin f\nc = Unsqueeze c0 one\ns = Unsqueeze s0 one\n"
_TWICE = (
    "c0 = Cos f\ns0 = Sin f\nc1 = Unsqueeze c0 last\ns1 = Unsqueeze s0 last\nc2 = Expand c1 pairs\n"
    "s2 = Expand s1 pairs\n"
    "c3 = Reshape c2 doubled\ns3 = Reshape s2 doubled\nc = Unsqueeze c3 one\ns = Unsqueeze s3 one\n"
)
_ROTATE_HALF = (
    "m = Mul {x} c\na = Slice {x} zero four last\nb = Slice {x} four eight last\nn = Neg b\nr = Concat n a axis=-1\n"
    "t = Mul r s\ny = Add m t"
)
_PAIRS = "a = Slice {x} zero eight last two\nb = Slice {x} one eight last two\n"
_HALVES = "a b = Split {x} halves axis=-1\n"
_TURNED = "p = Mul a c\nq = Mul b s\nu = Sub p q\nv = Mul b c\nw = Mul a s\nz = Add v w\n"

# name: nodes, attributes of the result
FUSED: dict[str, tuple[str, dict[str, int]]] = {
    "rotate half, as Llama": (_FULL.format(f="f", heads="one") + _ROTATE_HALF.format(x="x"), {}),
    "one position for all batches": (_FULL.format(f="f1", heads="one") + _ROTATE_HALF.format(x="x"), {}),
    "heads behind positions": (_FULL.format(f="f", heads="two") + _ROTATE_HALF.format(x="rows"), {}),
    "constant angles": (_ROTATE_HALF.format(x="fixed").replace(" c\n", " cosines\n").replace(" s\n", " sines\n"), {}),
    "other order of operands": (
        (_FULL.format(f="f", heads="one") + "a b = Split x halves axis=-1\nn = Neg b\nr = Concat n a axis=-1\n"
        "t = Mul s r\nm = Mul c x\ny = Add t m"), {},
    ),
    "halves apart": (_HALF + _HALVES.format(x="x") + _TURNED + "y = Concat u z axis=-1", {}),
    "a part of each head": (
        (_FULL.format(f="f", heads="one") + "h k = Split wide parts axis=-1\n"
        + _ROTATE_HALF.format(x="h").replace("y =", "g =") + "\ny = Concat g k axis=-1"), {"rotary_embedding_dim": 8},
    ),
    "adjacent elements, as GPT-J": (
        (_TWICE + _PAIRS.format(x="x") + "n = Neg b\nn1 = Unsqueeze n last\na1 = Unsqueeze a last\n"
        "r1 = Concat n1 a1 axis=-1\nr = Reshape r1 together\nm = Mul x c\nt = Mul r s\ny = Add m t"),
        {"interleaved": 1},
    ),
    "adjacent elements apart": (
        (_HALF + _PAIRS.format(x="x") + _TURNED + "u1 = Unsqueeze u last\nz1 = Unsqueeze z last\n"
        "k = Concat u1 z1 axis=-1\ny = Reshape k together"), {"interleaved": 1},
    ),
}  # fmt: skip
STAYS = {
    "angles that differ between halves": _ROTATE_HALF.format(x="x"),
    "the other direction": _FULL.format(f="f", heads="one")
    + _ROTATE_HALF.format(x="x").replace("n = Neg b\nr = Concat n a", "n = Neg a\nr = Concat b n"),
    "pairs of the wrong kind": _TWICE + _ROTATE_HALF.format(x="x"),
    "products of two tensors": _FULL.format(f="f", heads="one") + _ROTATE_HALF.format(x="x").replace(
        "m = Mul x c", "x2 = Exp x\nm = Mul x2 c"),
}  # fmt: skip


def _save(path: Path, text: str, opset: int = 23) -> dict[str, Any]:
    nodes = nodes_of(text)
    used, defined = {i for n in nodes for i in n.input}, {o for n in nodes for o in n.output}
    shapes = {n: s for n, s in SHAPES.items() if n in used - defined}
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in shapes.items()]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    stored = [numpy_helper.from_array(v, n) for n, v in VALUES.items() if n in used]
    graph = helper.make_graph(nodes, "g", inputs, outputs, stored)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10), path)
    rng = np.random.default_rng(2)
    dims = {n: [{"B": 3, "S": 5}[d] if isinstance(d, str) else d for d in s] for n, s in shapes.items()}
    return {n: rng.standard_normal(s).astype(np.float32) for n, s in dims.items()}


def _onnxruntime(path: Path, inputs: dict[str, Any]) -> Any:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options).run(None, inputs)[0]


@pytest.mark.parametrize("name", FUSED)
def test_parts_become_a_rotary_embedding_with_the_same_outputs(name: str, tmp_path: Path) -> None:
    text, attributes = FUSED[name]
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    inputs = _save(before, text)
    cir.save(cir.optimize(cir.load(before), fuse="rotary_embedding"), after)
    nodes = onnx.load(after).graph.node
    assert not {n.op_type for n in nodes} & {"Mul", "Add", "Sub", "Neg"}
    (node,) = [n for n in nodes if n.op_type == "RotaryEmbedding"]
    assert {a.name: a.i for a in node.attribute if a.i} == attributes
    expected = _onnxruntime(before, inputs)
    np.testing.assert_allclose(_onnxruntime(after, inputs), expected, rtol=1e-5, atol=1e-6, strict=True)
    evaluator: Any = ReferenceEvaluator(str(after))
    (evaluated,) = evaluator.run(None, inputs)
    np.testing.assert_allclose(evaluated, expected, rtol=1e-5, atol=1e-6, strict=True)


@pytest.mark.parametrize("name", STAYS)
def test_other_products_with_angles_stay(name: str, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    _save(path, STAYS[name])
    names = Counter(op.name for op in cir.optimize(cir.load(path), fuse="all").walk())
    assert (names["onnx.RotaryEmbedding"], names["onnx.Mul"]) == (0, 2)


def test_queries_and_keys_share_prepared_angles(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    text = _FULL.format(f="f", heads="one") + _ROTATE_HALF.format(x="x").replace("y =", "y1 =")
    second = "".join(
        f"{line.partition(' =')[0]}k = {line.partition('= ')[2]}\n" for line in _ROTATE_HALF.format(x="x1").splitlines()
    )
    for n in "abnrtm":
        second = second.replace(f" {n} ", f" {n}k ").replace(f" {n}\n", f" {n}k\n")
    _save(path, f"{text}\nx1 = Exp x\n{second}y = Add y1 yk")
    names = Counter(op.name for op in cir.optimize(cir.load(path), fuse="rotary_embedding").walk())
    assert (names["onnx.RotaryEmbedding"], names["onnx.Slice"], names["onnx.Split"]) == (2, 2, 0)


def test_a_note_names_the_operator_set_of_rotary_embedding(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    _save(path, FUSED["rotate half, as Llama"][0], 20)
    findings = Diagnostics()
    cir.optimize(cir.load(path), fuse="all", findings=findings)
    (note,) = [d.message for d in findings if d.code.id == "N0605"]
    expected = "rotary_embedding: 1 place looks like it, and stays: 'y': it needs opset23, and the program has opset20"
    assert note == expected
