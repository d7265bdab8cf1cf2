"""Transpositions that move through operations: what remains is written out, and onnxruntime computes the same bits."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest

import commonir as cir

from tests.passes.small_models import Case, check, ints, node, outputs_of, save
from tests.work_counts import calls_of

RNG = np.random.default_rng(3)
LAST, FIRST = [0, 2, 3, 1], [0, 3, 1, 2]
"""From channels after the batch to channels at the end, and back."""


def _first(name: str, to: str) -> onnx.NodeProto:
    return node("Transpose", name, to, perm=FIRST)


def _last(name: str, to: str) -> onnx.NodeProto:
    return node("Transpose", name, to, perm=LAST)


def _floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


SHAPE = [2, 3, 4, 5]
CASES: dict[str, Case] = {
    "elementwise operations between two": Case(
        [_last("x", "a"), node("Relu", "a", "b"), node("Mul", "b s", "c"), node("HardSwish", "c", "d"),
         _first("d", "e"), node("Neg", "e", "y")],
        {"s": np.float32(2)}, ["N", 3, "H", "W"], {"Relu": 1, "Mul": 1, "HardSwish": 1, "Neg": 1},
    ),
    "elementwise operations on axes of size 1": Case(
        [_last("x", "a"), node("Relu", "a", "b"), node("Add", "b s", "c"), _first("c", "y")],
        {"s": _floats(3)}, [1, 3, 4, 1], {"Relu": 1, "Add": 1},
    ),
    "constants are transposed": Case(
        [_last("x", "a"), node("Mul", "a s", "b"), node("Add", "t b", "c"), _first("c", "y")],
        {"s": _floats(3), "t": _floats(4, 5, 3)}, SHAPE, {"Mul": 1, "Add": 1},
    ),
    "a constant with another use is not copied": Case(
        [_last("x", "a"), node("Mul", "a s", "b"), _first("b", "y"), node("Neg", "s", "n"), node("Mul", "n x", "z")],
        {"s": _floats(5)}, [2, 5, 4, 5], {"Mul": 2}, "y z",
    ),
    "two operands of one order": Case(
        [_last("x", "a"), node("Neg", "x", "n"), _last("n", "b"), node("Max", "a b", "c"), _first("c", "y")],
        {}, SHAPE, {"Neg": 1, "Max": 1},
    ),
    "a transposition after all operands moves behind": Case(
        [_last("x", "a"), node("Neg", "x", "n"), _last("n", "b"), node("Max", "a b", "y")],
        {}, SHAPE, {"Neg": 1, "Max": 1, "Transpose": 1},
    ),
    "one transposition stays where it is": Case(
        [_last("x", "a"), node("Relu", "a", "b"), node("Neg", "b", "y")], {}, SHAPE,
        {"Transpose": 1, "Relu": 1, "Neg": 1},
    ),
    "two transpositions that are not inverse are one": Case(
        [_last("x", "a"), node("Relu", "a", "b"), _last("b", "y")], {}, SHAPE, {"Transpose": 1, "Relu": 1},
    ),
    "a value that is an output in this order keeps it": Case(
        [_last("x", "a"), node("Relu", "a", "y"), _first("y", "z")], {}, SHAPE, {"Transpose": 1, "Relu": 1}, "y z",
    ),
    "an operand in another order has one of its own": Case(
        [_last("x", "a"), node("Reshape", "x s", "r"), node("Add", "a r", "c"), _first("c", "y")],
        {"s": ints(2, 4, 5, 3)}, SHAPE, {"Transpose": 1, "Reshape": 1, "Add": 1},
    ),
    "largest elements, concatenation and split": Case(
        [_last("x", "a"), node("ReduceMax", "a", "b", axes=[1, 2]), node("Sub", "a b", "c"),
         node("Concat", "a c", "d", axis=3), node("Split", "d s", "e f", axis=-1), _first("e", "y"), _first("f", "z")],
        {"s": ints(2, 4)}, SHAPE, {"ReduceMax": 1, "Sub": 1, "Concat": 1, "Split": 1}, "y z",
    ),
    "padding and slices": Case(
        [_last("x", "a"), node("Pad", "a p", "b", mode="reflect"), node("Slice", "b n1 n3 n2 n2", "c"),
         _first("c", "y")],
        {"p": ints(0, 1, 2, 0, 0, 1, 0, 0), "n1": ints(1), "n2": ints(2), "n3": ints(7)}, SHAPE,
        {"Pad": 1, "Slice": 1},
    ),
    "an axis that goes": Case(
        [_last("x", "a"), node("ReduceMax", "a", "b", axes=[1, 2], keepdims=0), node("Neg", "b", "y")], {}, SHAPE,
        {"ReduceMax": 1, "Neg": 1},
    ),
    "sums of floats stay": Case(
        [_last("x", "a"), node("Softmax", "a", "b", axis=-1), _first("b", "y")], {}, SHAPE,
        {"Transpose": 2, "Softmax": 1},
    ),
    "an operation that reads all axes in order stays": Case(
        [_last("x", "a"), node("Reshape", "a s", "b"), _first("b", "y")],
        {"s": ints(2, 4, 15, 2)}, [2, 6, 4, 5], {"Transpose": 2, "Reshape": 1},
    ),
    "quantization and back": Case(
        [_last("x", "a"), node("QuantizeLinear", "a s z", "q"), node("DequantizeLinear", "q s z", "d"),
         _first("d", "y")],
        {"s": np.float32(0.1), "z": np.uint8(3)}, SHAPE, {"QuantizeLinear": 1, "DequantizeLinear": 1},
    ),
    "a branch in the old order has one of its own": Case(
        [_last("x", "a"), node("Relu", "a", "b"), node("Neg", "b", "c"), _first("c", "y"), node("Abs", "b", "d"),
         _first("d", "z"), node("Flatten", "b", "w")],
        {}, SHAPE, {"Relu": 1, "Neg": 1, "Abs": 1, "Transpose": 1, "Flatten": 1}, "y z w",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_fewer_transpositions_compute_the_same_bits(name: str, tmp_path: Path) -> None:
    check(CASES[name], tmp_path)


def test_operation_may_fold_while_it_is_looked_at(tmp_path: Path) -> None:
    # The checker infers no shape for this Resize.
    nodes = [_last("x", "a"), node("Resize", "a", "y", mode="nearest", nearest_mode="ceil")]
    nodes[1].input.extend(["", "r"])
    case = Case(nodes, {"r": np.array([1, 0.6, 0.6, 1], np.float32)}, SHAPE, {"Resize": 1, "Transpose": 1})
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    save(before, case)
    cir.save(cir.optimize(cir.load(before)), after)
    assert Counter(n.op_type for n in onnx.load(after).graph.node) == case.left
    np.testing.assert_array_equal(outputs_of(after, case)[0], outputs_of(before, case)[0])


def test_sums_may_move_where_rounding_may_differ(tmp_path: Path) -> None:
    case = CASES["sums of floats stay"]
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    save(before, case)
    cir.save(cir.optimize(cir.load(before), level="fast"), after)
    assert Counter(n.op_type for n in onnx.load(after).graph.node) == {"Softmax": 1}
    np.testing.assert_allclose(outputs_of(after, case)[0], outputs_of(before, case)[0], rtol=1e-6)


def _long(kind: str, count: int) -> Case:
    """Returns a model with many operations between transpositions."""
    nodes: list[onnx.NodeProto] = []
    last = "x"
    if kind == "one zone":
        nodes.append(_last("x", "a"))
        last = "a"
    for n in range(count // 5):
        if kind == "many zones":
            nodes += [_last(last, f"a{n}"), node("Exp", f"a{n}", f"b{n}"), _first(f"b{n}", f"c{n}")]
            nodes += [node("Flatten", f"c{n}", f"d{n}"), node("Reshape", f"d{n} s", f"e{n}")]
        elif kind == "one zone":
            nodes += [node("Exp", last, f"a{n}"), node("Neg", f"a{n}", f"b{n}"), _first(f"b{n}", f"c{n}")]
            nodes += [node("Neg", f"c{n}", f"o{n}"), node("Add", f"b{n} a", f"e{n}")]
        else:
            nodes += [_last(last, f"a{n}"), node("Exp", f"a{n}", f"b{n}"), node("Softmax", f"b{n}", f"c{n}")]
            nodes += [node("Neg", f"c{n}", f"d{n}"), node("Exp", f"d{n}", f"e{n}")]
        last = f"e{n}"
    outputs = [last, *[f"o{n}" for n in range(count // 5) if kind == "one zone"]]
    return Case([*nodes, node("Sum", " ".join(outputs), "y")], {"s": ints(2, 3, 3, 3)}, [2, 3, 3, 3], {})


@pytest.mark.parametrize(("kind", "left"), [("many zones", 0), ("one zone", 1), ("no gain", 2)])
def test_work_grows_with_the_program(kind: str, left: int, tmp_path: Path) -> None:
    def calls(count: int) -> int:
        path = tmp_path / f"{count}.onnx"
        save(path, _long(kind, count))
        module = cir.load(path)
        result = [module]
        calls = calls_of(lambda: result.append(cir.optimize(module)))
        assert cir.summarize(result[-1]).operations.get("onnx.Transpose", 0) == (left if left < 2 else count // 5)
        return calls

    calls(5)
    assert calls(40) < 6 * calls(10)


def test_programs_whose_dialect_builds_no_constants_keep_transpositions_around_them(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    save(path, CASES["constants are transposed"])
    program = cir.convert(cir.load(path), "coreml")
    result = cir.optimize(program)
    inputs = cir.random_inputs(program, seed=0)
    for expected, found in zip(cir.run(program, inputs).values(), cir.run(result, inputs).values(), strict=True):
        assert expected.tobytes() == found.tobytes()
