"""Slices, splits and concatenations that follow each other, and operations that are repeated or undone: what remains
is written out, and onnxruntime computes the same bits for both models.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto

import commonir as cir

from tests.passes.small_models import Case, check, ints, node, outputs_of, save
from tests.work_counts import calls_of

BOUNDS = {"n0": ints(0), "n1": ints(1), "n2": ints(2), "n3": ints(3), "n4": ints(4), "end": ints(2**63 - 1)}
TWO_SLICES = [node("Slice", "x n0 n2 n1", "a"), node("Slice", "x n2 end n1", "b")]
SPLIT = [node("Split", "x", "a b c", axis=1)]
JOINED = [node("Neg", "x", "n"), node("Concat", "x n", "c", axis=1)]
CASES: dict[str, Case] = {
    "slices that are all of a tensor become one split": Case(
        [*TWO_SLICES, node("Relu", "a", "y"), node("Abs", "b", "z")], BOUNDS, ["N", 4],
        {"Split": 1, "Relu": 1, "Abs": 1}, "y z",
    ),
    "slices of unequal parts become one split": Case(
        [node("Slice", "x n0 n1 n1", "a"), *TWO_SLICES[1:], node("Slice", "x n1 n2 n1", "d"),
         node("Neg", "a", "y"), node("Abs", "b", "z"), node("Relu", "d", "w")], BOUNDS, ["N", 4],
        {"Split": 1, "Neg": 1, "Relu": 1, "Abs": 1}, "y z w",
    ),
    "slices of what is also put together become one split": Case(
        [*TWO_SLICES, node("Concat", "x b", "c", axis=1), node("Relu", "a", "y"), node("Abs", "c", "z")], BOUNDS,
        ["N", 4], {"Split": 1, "Concat": 1, "Relu": 1, "Abs": 1}, "y z",
    ),
    "slices that leave a part out stay": Case(
        [node("Slice", "x n0 n1 n1", "a"), *TWO_SLICES[1:], node("Neg", "a", "y"), node("Abs", "b", "z")],
        BOUNDS, ["N", 4], {"Slice": 2, "Neg": 1, "Abs": 1}, "y z",
    ),
    "slices of an axis of unknown size stay": Case(
        [node("Slice", "x n0 n2 n1", "a"), node("Slice", "x n2 end n1", "b"), node("Neg", "a", "y"),
         node("Abs", "b", "z")], BOUNDS, [2, "N"], {"Slice": 2, "Neg": 1, "Abs": 1}, "y z",
    ),
    "slices that are outputs become one split": Case(
        [node("Slice", "x n0 n2 n1", "y"), node("Slice", "x n2 end n1", "z")], BOUNDS, ["N", 4], {"Split": 1}, "y z",
    ),
    "all parts of a split put together are gone": Case(
        [*SPLIT, node("Concat", "a b c", "d", axis=-1), node("Relu", "d", "y")], {}, ["N", 6], {"Relu": 1},
    ),
    "all parts of a split with another use are the tensor": Case(
        [*SPLIT, node("Concat", "a b c", "d", axis=1), node("Relu", "d", "y"), node("Neg", "b", "z")], {}, [2, 6],
        {"Split": 1, "Relu": 1, "Neg": 1}, "y z",
    ),
    "some parts of a split become one slice": Case(
        [*SPLIT, node("Concat", "b c", "d", axis=1), node("Relu", "d", "y")], {}, [2, 6], {"Slice": 1, "Relu": 1},
    ),
    "some parts of a split with another use stay": Case(
        [*SPLIT, node("Concat", "b c", "d", axis=1), node("Relu", "d", "y"), node("Neg", "a", "z")], {}, [2, 6],
        {"Split": 1, "Concat": 1, "Relu": 1, "Neg": 1}, "y z",
    ),
    "parts put together in another order stay": Case(
        [*SPLIT, node("Concat", "b a c", "d", axis=1), node("Relu", "d", "y")], {}, [2, 6],
        {"Split": 1, "Concat": 1, "Relu": 1},
    ),
    "parts put together along another axis stay": Case(
        [*SPLIT, node("Concat", "a b c", "d", axis=0), node("Relu", "d", "y")], {}, [2, 6],
        {"Split": 1, "Concat": 1, "Relu": 1},
    ),
    "parts among other operands are the tensor": Case(
        [*SPLIT, node("Neg", "x", "n"), node("Concat", "n a b c n", "d", axis=1), node("Relu", "d", "y")], {}, [2, 6],
        {"Neg": 1, "Concat": 1, "Relu": 1},
    ),
    "slices put together are gone": Case(
        [*TWO_SLICES, node("Concat", "a b", "d", axis=1), node("Relu", "d", "y")], BOUNDS, ["N", 4], {"Relu": 1},
    ),
    "a slice of a concatenation that is an operand is this one": Case(
        [*JOINED, node("Slice", "c n2 n4 n1", "d"), node("Relu", "d", "y")], BOUNDS, ["N", 2], {"Neg": 1, "Relu": 1},
    ),
    "a slice within an operand of a concatenation is one of this": Case(
        [*JOINED, node("Slice", "c n3 n4 n1", "d"), node("Relu", "d", "y")], BOUNDS, [3, 2],
        {"Neg": 1, "Slice": 1, "Relu": 1},
    ),
    "a slice across operands of a concatenation stays": Case(
        [*JOINED, node("Slice", "c n1 n3 n1", "d"), node("Relu", "d", "y")], BOUNDS, [3, 2],
        {"Neg": 1, "Concat": 1, "Slice": 1, "Relu": 1},
    ),
    "a split into operands of a concatenation is gone": Case(
        [*JOINED, node("Split", "c", "d e", axis=1), node("Relu", "d", "y"), node("Abs", "e", "z")], {}, ["N", 2],
        {"Neg": 1, "Relu": 1, "Abs": 1}, "y z",
    ),
    "a split at other places than a concatenation stays": Case(
        [*JOINED, node("Split", "c s", "d e", axis=1), node("Relu", "d", "y"), node("Abs", "e", "z")],
        {"s": ints(1, 3)}, ["N", 2], {"Neg": 1, "Concat": 1, "Split": 1, "Relu": 1, "Abs": 1}, "y z",
    ),
    "signs that change twice stay as they are": Case(
        [node("Neg", "x", "a"), node("Neg", "a", "b"), node("Relu", "b", "y"), node("Abs", "a", "z")], {}, ["N"],
        {"Relu": 1, "Neg": 1, "Abs": 1}, "y z",
    ),
    "rounding once is enough": Case(
        [node("Floor", "x", "a"), node("Floor", "a", "b"), node("Abs", "b", "c"), node("Abs", "c", "d"),
         node("Ceil", "d", "e"), node("Neg", "e", "y")], {}, ["N"], {"Floor": 1, "Abs": 1, "Ceil": 1, "Neg": 1},
    ),
    "a limit within others is enough": Case(
        [node("Relu", "x", "a"), node("Relu", "a", "b"), node("Clip", "b low high", "c"),
         node("Clip", "c high top", "d"), node("Neg", "d", "y")],
        {"low": np.float32(-1), "high": np.float32(2), "top": np.float32(6)}, ["N"], {"Clip": 1, "Neg": 1},
    ),
    "limits without common values stay": Case(
        [node("Clip", "x low high", "a"), node("Clip", "a two three", "b"), node("Neg", "b", "y")],
        {"low": np.float32(-1), "high": np.float32(1), "two": np.float32(2), "three": np.float32(3)}, ["N"],
        {"Clip": 2, "Neg": 1},
    ),
    "a limit whose first has another use stays": Case(
        [node("Relu", "x", "a"), node("Clip", "a low high", "b"), node("Neg", "b", "y"), node("Abs", "a", "z")],
        {"low": np.float32(0), "high": np.float32(2)}, ["N"], {"Relu": 1, "Clip": 1, "Neg": 1, "Abs": 1}, "y z",
    ),
    "selections by a negation select the other way": Case(
        [node("Less", "x one", "c"), node("Not", "c", "d"), node("Not", "d", "e"), node("Not", "e", "f"),
         node("Where", "f x one", "a"), node("Where", "e a a", "b"), node("Neg", "b", "y")],
        {"one": np.float32(1)}, ["N"], {"Less": 1, "Where": 1, "Neg": 1},
    ),
    "a transposition with another use need not be undone": Case(
        [node("Transpose", "x", "t", perm=[1, 2, 0]), node("Transpose", "t", "u", perm=[2, 0, 1]),
         node("Relu", "u", "y"), node("Neg", "t", "z")], {}, [2, 3, 4], {"Transpose": 1, "Relu": 1, "Neg": 1}, "y z",
    ),
    "a shape with another use need not be undone": Case(
        [node("Reshape", "x s", "t"), node("Reshape", "t r", "u"), node("Relu", "u", "y"), node("Neg", "t", "z")],
        {"s": ints(0, 12), "r": ints(-1, 3, 4)}, ["N", 3, 4], {"Reshape": 1, "Relu": 1, "Neg": 1}, "y z",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_fewer_operations_compute_the_same_bits(name: str, tmp_path: Path) -> None:
    check(CASES[name], tmp_path)


def test_parts_of_integers_are_parts_too(tmp_path: Path) -> None:
    check(CASES["some parts of a split become one slice"]._replace(element=TensorProto.INT32), tmp_path)


@pytest.mark.parametrize("kind", ["slices", "parts", "pairs"])
def test_work_grows_with_the_program(kind: str, tmp_path: Path) -> None:
    def calls(count: int) -> int:
        path = tmp_path / f"{kind}{count}.onnx"
        save(path, _large(kind, count))
        module = cir.load(path)
        result = [module]
        calls = calls_of(lambda: result.append(cir.optimize(module)))
        assert sum(cir.summarize(result[-1]).operations.values()) < count * 2.6
        return calls

    calls(10)
    assert calls(120) < 6 * calls(30)


def _large(kind: str, count: int) -> Case:
    """Returns a model with many operations that depend on one tensor, or on each other."""
    match kind:
        case "slices":
            bounds = {f"n{n}": ints(n) for n in range(count + 1)}
            nodes = [node("Slice", f"x n{n} n{n + 1} n1", f"a{n}") for n in range(count)]
            nodes += [node("Neg", f"a{n}", f"b{n}") for n in range(count)]
            nodes.append(node("Sum", " ".join([f"b{n}" for n in range(count)]), "y"))
            return Case(nodes, bounds, ["N", count], {})
        case "parts":
            names = " ".join([f"a{n}" for n in range(count)])
            nodes = [node("Split", "x", names, axis=1), node("Concat", names, "b", axis=1), node("Neg", "b", "y")]
            return Case(nodes, {}, ["N", count], {})
        case _:
            nodes = []
            last = "x"
            for n in range(count // 4):
                nodes += [*[node("Neg", last, f"a{n}"), node("Neg", f"a{n}", f"b{n}")]]
                nodes += [node("Split", f"b{n}", f"c{n} d{n}", axis=1), node("Concat", f"c{n} d{n}", f"e{n}", axis=1)]
                nodes += [node("Exp", f"e{n}", f"f{n}")]
                last = f"f{n}"
            return Case([*nodes, node("Neg", last, "y")], {}, ["N", 4], {})


def _common_ir(name: str, folder: Path) -> tuple[cir.Module, cir.Module]:
    """Returns a case as a graph of Common IR, before and after it is optimized, both saved and loaded again."""
    save(folder / "m.onnx", CASES[name])
    module = cir.convert(cir.load(folder / "m.onnx"), "common_ir")
    out: list[cir.Module] = []
    for n, each in enumerate((module, cir.optimize(module))):
        path = folder / f"{n}.cir"
        cir.save(each, path, format="common_ir")
        out.append(cir.load(path))
    return out[0], out[1]


@pytest.mark.parametrize(
    "name",
    [*[n for n in CASES if "become" in n], "a limit within others is enough", "slices that leave a part out stay"],
)
def test_graphs_of_common_ir_are_combined_too(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    before, after = _common_ir(name, tmp_path)
    assert not [d for d in cir.verify(after) if d.is_error]
    assert cir.summarize(after).operations == {f"onnx.{operator}": count for operator, count in case.left.items()}
    x = np.random.default_rng(0).standard_normal([n if isinstance(n, int) else 2 for n in case.shape]).astype("f4")
    expected = outputs_of(tmp_path / "m.onnx", case, x)
    for name_of, value in zip(case.outputs.split(), expected, strict=True):
        assert np.asarray(cir.run(after, {"x": x})[name_of]).tobytes() == value.tobytes()
        assert np.asarray(cir.run(before, {"x": x})[name_of]).tobytes() == value.tobytes()
