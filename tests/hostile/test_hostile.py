"""Changed models end in a result or a diagnostic, and the fuzzer reports what does not.

The same ones each time: a few here, more in the slow test; `python -m tests.hostile --count 20000` is a long run.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.hostile import stages
from tests.hostile.cases import Mutant, Seed, mutants, write_mutant
from tests.hostile.mutations import (
    Field,
    changed_archive,
    changed_array_header,
    changed_json,
    changed_message,
    changed_tensor_file,
    changed_text,
    message_bytes,
    mutated,
    parsed_message,
)
from tests.hostile.seeds import ROOT, operator_seeds, repository_seeds, result_seeds, seed_of
from tests.hostile.stages import CASE_SECONDS, Judge, ended
from tests.pool import judge_all
from tests.wild.outcomes import Verdict

FAULTS = (Verdict.CRASH, Verdict.HANG)
SLOW_CASES = 60


def _seed(name: str) -> Seed:
    return seed_of(ROOT / name, name)


FEW = (
    "examples/common_ir/imports.cir.json",
    "examples/common_ir/weights.safetensors",
    "tests/models/kinds/accumulator.mlpackage",
    "tests/ods/from_records/probe.td",
    "tests/text/cases/blocks.mlir",
)


@pytest.mark.slow_cases("*.td")
@pytest.mark.parametrize("name", FEW)
def test_changed_models_end_in_a_result_or_a_diagnostic(name: str) -> None:
    judge = Judge(limits_memory=False)
    seed = _seed(name)
    outcomes = [o for n in range(2) for o in judge(Mutant(seed, n, seed.main_file()))]
    assert [o for o in outcomes if o.verdict in FAULTS] == []


@pytest.mark.slow
def test_many_changed_models_end_in_a_result_or_a_diagnostic() -> None:
    # Models that are built take longer than all else here.
    seeds = [*repository_seeds(), *operator_seeds(every=10)]
    cases = mutants(seeds, seeds, SLOW_CASES)
    outcomes = [o for judged in judge_all(cases, Judge, ended, limit_seconds=CASE_SECONDS) for o in judged]
    assert [o for o in outcomes if o.verdict in FAULTS] == []


def test_a_case_is_the_same_each_time(tmp_path: Path) -> None:
    seed = _seed("examples/transformer.onnx")
    case = Mutant(seed, 7, seed.main_file())
    one, other = [write_mutant(case, tmp_path / name).read_bytes() for name in ("a", "b")]
    assert one == other != seed.entry.read_bytes()


def _raise(error: BaseException) -> Callable[..., None]:
    def stage(*_: object) -> None:
        raise error

    return stage


@pytest.mark.parametrize("error", [KeyError("x"), RecursionError(), SystemExit(1)])
def test_every_exception_but_a_diagnostic_is_a_fault(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    monkeypatch.setattr(stages, "_stages_of", lambda *_: [("load", _raise(error))])
    seed = _seed("examples/transformer.onnx")
    (outcome,) = Judge(limits_memory=False)(Mutant(seed, 0, seed.main_file()))
    assert outcome.verdict is Verdict.CRASH


def test_a_stage_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    def forever(*_: object) -> None:
        while True:
            pass

    monkeypatch.setattr(stages, "STAGE_SECONDS", 0.02)
    monkeypatch.setattr(stages, "_stages_of", lambda *_: [("load", forever)])
    seed = _seed("examples/transformer.onnx")
    (outcome,) = Judge(limits_memory=False)(Mutant(seed, 0, seed.main_file()))
    assert outcome.verdict is Verdict.HANG


def test_reports_and_inputs_fit_their_model(tmp_path: Path) -> None:
    stage_of = {"profile": "overlay", "profiles": "overlay", "compare": "overlay", "check": "overlay"}
    stage_of |= {"nested": "inputs", "inputs": "stored", "outputs": "stored"}
    seeds = {seed.entry.name.partition(".")[0]: seed for seed in result_seeds(tmp_path / "results")}
    assert seeds.keys() == stage_of.keys()
    for name, seed in seeds.items():
        dict(stages._stages_of(seed.entry, seed.model, random.Random(0)))[stage_of[name]](seed.entry, [])
    assert len(json.loads(seeds["check"].entry.read_text("utf-8"))["diagnostics"]) > 0


# -- changes


def test_a_message_is_the_same_when_nothing_is_changed() -> None:
    content = _seed("examples/transformer.onnx").entry.read_bytes()
    fields = parsed_message(content)
    assert fields is not None
    assert message_bytes(fields) == content


def test_a_message_is_changed_as_a_message() -> None:
    content = message_bytes([Field(1, 0, 5), Field(2, 2, [Field(1, 2, b"name")]), Field(3, 5, b"abcd")])
    results = {changed_message(content, content, random.Random(n)) for n in range(60)}
    assert len(results) > 30
    assert all(parsed_message(r) is not None for r in results if r)


@pytest.mark.parametrize(
    ("change", "content"),
    [
        (changed_json, b'{"a": [1, 2, {"b": "c"}], "d": null}'),
        (changed_text, b"func.func @f(%x: tensor<4xf32>) {\n  return\n}\n"),
    ],
)
def test_texts_are_changed(change: Callable[[bytes, bytes, random.Random], bytes], content: bytes) -> None:
    assert len({change(content, content, random.Random(n)) for n in range(60)}) > 25


def test_headers_of_arrays_keep_their_length(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(3))
    content = (tmp_path / "x.npy").read_bytes()
    changed = [changed_array_header(content, content, random.Random(n)) for n in range(20)]
    assert all(c.endswith(content[-24:]) and c[:6] == content[:6] for c in changed)
    header = json.dumps({"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    tensors = len(header).to_bytes(8, "little") + header + b"abcd"
    for n in range(20):
        result = changed_tensor_file(tensors, tensors, random.Random(n))
        assert result[8 + int.from_bytes(result[:8], "little") :] == b"abcd"


def test_archives_stay_archives(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=np.arange(3), y=np.arange(4))
    content = (tmp_path / "x.npz").read_bytes()
    changed = {changed_archive(content, content, random.Random(n)) for n in range(20)}
    assert len(changed) > 10
    assert sum(c.startswith(b"PK\x03\x04") for c in changed) > 10


def test_any_bytes_can_be_changed() -> None:
    for content in (b"", b"\0", b"{", b"PK\x03\x04", b"\x93NUMPY", b"\xff" * 9):
        for n in range(20):
            assert isinstance(mutated(content, b"other", random.Random(n)), bytes)
