"""The driver distinguishes right, refused, wrong and broken, and reports each."""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.oracles import oracle
from tests.pool import judge_all
from tests.wild import alone
from tests.wild.files import Case, WildFile, cases_in
from tests.wild.outcomes import Outcome, Verdict

onnx = oracle("onnx")
oracle("onnxruntime")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model, the same model again, one of an unknown operator, and a file that is not a model."""
    helper = onnx.helper
    info = helper.make_tensor_value_info
    for name, operator in (("good", "Relu"), ("again", "Relu"), ("unknown", "NoSuchOperator")):
        graph = helper.make_graph(
            [helper.make_node(operator, ["x"], ["y"])], "g", [info("x", 1, ["n", 3])], [info("y", 1, ["n", 3])]
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(model, tmp_path / f"{name}.onnx")
    (tmp_path / "broken.onnx").write_bytes(b"\x08\x09nothing")
    return tmp_path


def test_each_content_is_judged_once(folder: Path) -> None:
    (folder / "folder.onnx").mkdir()
    names = [case.file.name for case in cases_in([folder], ["run"])]
    assert names == ["again.onnx", "broken.onnx", "unknown.onnx"]


def test_verdicts(folder: Path) -> None:
    from tests.wild.stages import Judge  # noqa: PLC0415  needs the oracle

    judge = Judge(memory_bytes=0)
    verdicts = {(c.file.name, c.stage): judge(c).verdict for c in cases_in([folder], ["load", "run", "opt", "oldest"])}
    assert verdicts["again.onnx", "run"] is verdicts["again.onnx", "opt"] is Verdict.RIGHT
    assert verdicts["again.onnx", "oldest"] is Verdict.RIGHT
    assert verdicts["broken.onnx", "load"] is Verdict.REFUSED
    assert verdicts["unknown.onnx", "run"] is Verdict.OTHERS


def test_another_result_is_wrong(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import commonir  # noqa: PLC0415

    from tests.wild.stages import Judge  # noqa: PLC0415

    class Executable:
        def run(self, inputs: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]]]) -> dict[str, object]:
            return {"y": inputs["x"] + 1}

    monkeypatch.setattr(commonir, "prepare", lambda module: Executable())
    (case,) = cases_in([folder], ["run"], "again*")
    outcome = Judge(memory_bytes=0)(case)
    assert outcome.verdict is Verdict.WRONG
    assert "differs in" in outcome.reason


@pytest.mark.parametrize(
    ("opset", "body", "verdict"),
    [
        # onnxruntime reports this in a run.
        (17, "y = LpNormalization <axis = 2> (x)", Verdict.RIGHT),
        # Both refuse these.
        (17, "k = Constant <value = int64 {2}> () y, i = TopK (x, k)", Verdict.RIGHT),
        (17, "s = Constant <value_ints = [2, 3]> () y = ConstantOfShape <value = float {2.0}> (s)", Verdict.RIGHT),
        # onnxruntime's optimization removes the fault.
        (8, "m = MatMul (x, v) t = Transpose (m) y = BatchNormalization (t, w, w, w, w)", Verdict.RIGHT),
        # Neither checks this.
        (
            18,
            'i = Cast <to = 7> (x) y = ScatterElements <reduction = "any"> (x, i, x)',
            Verdict.OTHERS,
        ),
    ],
)
def test_faults_that_others_find_late_or_never_are_not_disagreements(
    opset: int, body: str, verdict: Verdict, tmp_path: Path
) -> None:
    from tests.wild.stages import Judge  # noqa: PLC0415  needs the oracle

    path = tmp_path / "m.onnx"
    text = f"""<ir_version: 8, opset_import: ["" : {opset}]> g (float[2,3] x) => (float[M,N] y)
        <float[3] w = {{1, 1, 1}}, float[3,3] v = {{1, 2, 3, 4, 5, 6, 7, 8, 9}}> {{ {body} }}"""
    onnx.save(onnx.parser.parse_model(text), path)
    outcome = Judge(memory_bytes=0)(Case(WildFile(path, "m.onnx"), "check"))
    assert outcome.verdict is verdict, outcome.reason


def test_what_onnxruntime_computes_in_two_ways_is_not_wrong(tmp_path: Path) -> None:
    """onnxruntime does not use the statistics of a batch where nothing takes them."""
    from tests.wild.stages import Judge  # noqa: PLC0415

    helper, info = onnx.helper, onnx.helper.make_tensor_value_info
    channels = np.ones(8, np.float32)
    names = ("scale", "bias", "mean", "variance")
    node = helper.make_node(
        "BatchNormalization", ["x", *names], ["y", "running_mean", "running_variance"], training_mode=1
    )
    weights = [onnx.numpy_helper.from_array(channels, name) for name in names]
    graph = helper.make_graph([node], "g", [info("x", 1, [5, 8])], [info("y", 1, [5, 8])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    onnx.save(model, tmp_path / "normalized.onnx")
    (case,) = cases_in([tmp_path], ["run"])
    outcome = Judge(memory_bytes=0)(case)
    assert outcome.verdict is Verdict.OTHERS, outcome.reason
    assert outcome.reason.startswith(("onnxruntime without optimization", "onnx's evaluator"))


def test_inputs_without_a_rank_get_one_that_onnxruntime_takes(tmp_path: Path) -> None:
    from tests.wild.stages import Judge  # noqa: PLC0415  needs the oracle

    info = onnx.helper.make_tensor_value_info
    node = onnx.helper.make_node("MatMul", ["x", "x"], ["y"])
    graph = onnx.helper.make_graph([node], "g", [info("x", 1, None)], [info("y", 1, None)])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "m.onnx")
    (case,) = cases_in([tmp_path], ["run"])
    assert Judge(memory_bytes=0)(case).verdict is Verdict.RIGHT


@pytest.mark.parametrize("dims", [["n", 3], [None, 3]], ids=["named", "unnamed"])
def test_dynamic_dims_get_ranges_for_core_ml(dims: list[str | int | None], tmp_path: Path) -> None:
    from tests.wild.stages import Judge  # noqa: PLC0415  needs the oracle

    info = onnx.helper.make_tensor_value_info
    node = onnx.helper.make_node("Relu", ["x:0"], ["y"])
    graph = onnx.helper.make_graph([node], "g", [info("x:0", 1, dims)], [info("y", 1, dims)])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "m.onnx")
    (case,) = cases_in([tmp_path], ["coreml"])
    outcome = Judge(memory_bytes=0)(case)
    assert outcome.verdict is Verdict.RIGHT, outcome.reason


def test_what_exceeds_the_memory_of_the_driver_is_not_a_crash(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.wild import stages  # noqa: PLC0415  needs the oracle

    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(stages, "compare_all", fail)
    (case,) = cases_in([folder], ["run"], "again*")
    assert stages.Judge(memory_bytes=0)(case).verdict is Verdict.OTHERS


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("print('commonir'); print('onnxruntime'); os.kill(os.getpid(), 11)", Verdict.OTHERS),
        pytest.param("print('onnxruntime'); time.sleep(60)", Verdict.OTHERS, marks=pytest.mark.slow),
        ("print('onnxruntime'); print('commonir'); os.kill(os.getpid(), 11)", Verdict.CRASH),
        ("print('onnxruntime')", Verdict.CRASH),
    ],
)
def test_process_that_onnxruntime_alone_ends_too_is_a_fault_of_others(
    body: str, verdict: Verdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = [sys.executable, "-c", f"import os, sys, time; sys.stdout.reconfigure(line_buffering=True); {body}"]
    monkeypatch.setattr(alone, "command_for", lambda path: command)
    case = Case(WildFile(Path("m.onnx"), "m.onnx"), "run")
    assert alone.ended_by(case, "the process ended with status -11", 4.0).verdict is verdict


@pytest.mark.slow
def test_what_does_not_end_is_ended() -> None:
    ends = judge_all([60.0], partial(partial, time.sleep), lambda case, reason: reason, limit_seconds=2.0)
    assert list(ends) == ["no end within 2 s"]


def test_reasons_of_one_kind() -> None:
    case = Case(WildFile(Path("x.onnx"), "x.onnx"), "run")
    one, other = [Outcome(case, Verdict.WRONG, f"'x{n}' has {n} elements") for n in (1, 2)]
    assert one.kind_of_reason == other.kind_of_reason == "_ has # elements"


def test_programs_that_say_what_they_compute_are_run(tmp_path: Path) -> None:
    from tests.wild.stages import Judge  # noqa: PLC0415  needs the oracle

    path = tmp_path / "m.mlir"
    verdicts: list[Verdict] = []
    for expected in ("3", "4"):
        path.write_text(f"""
            func.func @main() {{
              %a = stablehlo.constant dense<1> : tensor<i32>
              %b = stablehlo.constant dense<2> : tensor<i32>
              %c = stablehlo.add %a, %b : tensor<i32>
              check.expect_eq_const %c, dense<{expected}> : tensor<i32>
              return
            }}
        """)
        verdicts.append(Judge(memory_bytes=0)(Case(WildFile(path, "m.mlir"), "run")).verdict)
    assert verdicts == [Verdict.RIGHT, Verdict.WRONG]
