"""The cost of operations: every one is reported once, with what it gives and what it computes, on any engine."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import commonir as cir
from commonir import api
from commonir.base.diagnostics import DiagnosticError, ExitStatus
from commonir.ir.module import Module

from tests.command_lines import command_lines
from tests.faults import model
from tests.oracles import oracle
from tests.passes.rank_programs import program as program_of_ranks
from tests.runtime.ranks.programs import pipeline_program

PROGRAM = """
ml_program.func @main(%x: tensor<8x16xf32>) -> (tensor<8x4xf32>) {
  %w = core.constant {value = dense<0.5> : tensor<16x4xf32>} : tensor<16x4xf32>
  %p = core.matmul %x, %w : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %n = core.neg %p : tensor<8x4xf32>
  %y = core.add %n, %p : tensor<8x4xf32>
  ml_program.return %y : tensor<8x4xf32>
}
"""
LOOP = """
func.func @main(%n: index, %x: f32) -> f32 {
  %a = arith.constant 0 : index
  %b = arith.constant 1 : index
  %r = scf.for %i = %a to %n step %b iter_args(%v = %x) -> (f32) {
    %w = arith.addf %v, %x : f32
    scf.yield %w : f32
  }
  %y = arith.mulf %r, %x : f32
  return %y : f32
}
"""


def _program(text: str = PROGRAM) -> Module:
    return cir.loads(text, format="mlir")


@pytest.mark.parametrize("engine", ["numpy", "reference"])
def test_operations_are_reported_in_order_with_what_they_give_and_compute(engine: str) -> None:
    profile = api.profile(_program(), engine=engine, repeat=3)
    reported = [(e.name, e.operation, e.size_bytes, e.flops) for e in profile.entries]
    size = 8 * 4 * 4
    # A product of m x k by k x n takes 2 m n k; 8 x 4 numbers are negated and added.
    assert reported == [
        ("p", "core.matmul", size, 2 * 8 * 4 * 16),
        ("n", "core.neg", size, 32),
        ("y", "core.add", size, 32),
    ]
    assert (profile.engine, profile.function, profile.repeat) == (engine, "main", 3)


def test_times_are_of_runs() -> None:
    profile = api.profile(_program(), engine="numpy", warmup=0, repeat=4)
    assert 0 < profile.least_seconds <= profile.seconds
    assert profile.first_seconds > 0
    assert profile.call_seconds > 0
    for entry in profile.entries:
        assert 0 < entry.least_seconds <= entry.seconds


def test_memory_is_that_of_values_needed_at_once() -> None:
    # The input is needed until p is there; then p and n, then n, p and y.
    assert api.profile(_program(), engine="numpy").peak_bytes == max(8 * 16 * 4 + 128, 3 * 128)


def test_loops_are_one_operation() -> None:
    profile = api.profile(_program(LOOP), {"n": np.array(5), "x": np.array(2, np.float32)}, engine="numpy", repeat=1)
    assert [(e.name, e.operation) for e in profile.entries] == [("r", "scf.for"), ("y", "arith.mulf")]


@pytest.mark.slow_cases("llama_stateful_fp16")
@pytest.mark.parametrize("network", ["bert_fp16", "llama_stateful_fp16", "detector_iOS15"])
def test_every_named_value_of_a_network_is_reported_by_its_own_operation(network: str) -> None:
    program = model(network)
    profile = api.profile(program, engine="numpy", repeat=1, warmup=0)
    own = {r.name: op.name for op in program.main.body.operations for r in op.results}
    assert profile.entries
    assert all(own.get(e.name, e.operation) == e.operation for e in profile.entries)
    assert len({e.name for e in profile.entries}) == len(profile.entries)


@pytest.mark.slow
def test_another_engine_runs_the_operations_of_a_format_as_they_are() -> None:
    oracle("onnxruntime")
    profile = api.profile(cir.load("examples/transformer.onnx"), engine="onnxruntime", repeat=1)
    assert {"onnx.Gemm", "onnx.LayerNormalization"} <= {e.operation for e in profile.entries}


def test_ranks_compute_send_and_wait() -> None:
    # Each rank but the last sends 3 tensors of 4 numbers; the last one only receives.
    text = pipeline_program(3)
    profile = api.profile(_program(text), engine="numpy", repeat=2, warmup=0)
    assert [(r.rank, r.messages, r.sent_bytes) for r in profile.ranks] == [(0, 3, 48), (1, 3, 48), (2, 0, 0)]
    for rank in profile.ranks:
        times = rank.compute_seconds + rank.send_seconds + rank.wait_seconds
        assert rank.seconds == pytest.approx(times)
        assert all(b.start == pytest.approx(a.start + a.seconds) for a, b in pairwise(rank.steps))
    assert profile.parallel_seconds == max(rank.seconds for rank in profile.ranks)
    # The last rank cannot end before the first has sent its last message.
    sent = [step.start + step.seconds for step in profile.ranks[0].steps if step.kind == "send"]
    assert profile.ranks[2].seconds >= max(sent)
    assert profile.ranks[0].wait_seconds == 0
    for name in ("core.add", "core.mul"):
        assert sum(e.operation == name for e in profile.entries) == text.count(name)
    assert {e.rank for e in profile.entries} == {0, 1, 2}


def test_ranks_wait_at_barriers_for_the_last() -> None:
    lines = ["core.barrier", "%y = core.add %x, %x : tensor<4xf32>", "core.barrier"]
    profile = api.profile(_program(program_of_ranks([lines] * 2)), repeat=1, warmup=0)
    assert [[s.kind for s in r.steps if s.kind != "compute"] for r in profile.ranks] == [["barrier"] * 2] * 2
    ends = [[s.start + s.seconds for s in r.steps if s.kind == "barrier"] for r in profile.ranks]
    assert ends[0] == pytest.approx(ends[1])


def test_engines_that_run_ranks_in_processes_are_refused() -> None:
    with pytest.raises(DiagnosticError, match="processes of their own"):
        api.profile(_program(pipeline_program(2)), engine="mpi")


def test_memory_over_time_and_its_peak_are_reported() -> None:
    profile = api.profile(_program(), engine="numpy", repeat=1)
    # After the product x and p are there, then p and n, then n, p and y.
    assert [e.live_bytes for e in profile.entries] == [512 + 128, 256, 384]
    assert profile.peak_values == {"x": 512, "p": 128}
    # Operands, results and weights: 8 x 16, 16 x 4 and 8 x 4 numbers, then two and three times 8 x 4.
    assert [e.moved_bytes for e in profile.entries] == [4 * (128 + 64 + 32), 256, 3 * 128 - 128 + 128]


def test_engines_are_compared_by_operation_and_layer() -> None:
    names = [f"/net/layers.{layer}/{op}/Neg_output_{n}" for layer in range(4) for op in "ab" for n in range(6)]
    lines = ["ml_program.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>) {"]
    for n, name in enumerate(names):
        before = "%x" if n == 0 else f"%v{n - 1}"
        lines.append(f'  %v{n} = core.neg {before} : tensor<4xf32> loc("{name}")')
    lines += [f"  ml_program.return %v{len(names) - 1} : tensor<4xf32>", "}"]
    compared = cir.profile_engines(_program("\n".join(lines)), engines=["numpy", "reference"], repeat=1)
    assert [p.engine for p in compared.profiles] == ["numpy", "reference"]
    (row,) = compared.operations
    assert (row.name, row.counts) == ("core.neg", (48, 48))
    assert row.ratio == row.seconds[1] / row.seconds[0]
    expected = {f"net/layers.{layer}/{op}" for layer in range(4) for op in "ab"}
    assert {row.name.removeprefix("net/") for row in compared.layers} == {n.removeprefix("net/") for n in expected}
    assert sum(row.seconds[0] for row in compared.layers) == pytest.approx(row.seconds[0])


def test_page_needs_nothing_and_escapes_names(tmp_path: Path) -> None:
    compared = cir.profile_engines(_program(), engines=["numpy", "reference"], repeat=1)
    path = tmp_path / "p.html"
    api.save_profile(compared, path, title="<script>alert(1)</script>")
    page = path.read_text("utf-8")
    assert "<script" not in page
    assert "default-src 'none'" in page
    assert not re.search(r"(src|href|url\()\s*=?\s*[\"']?(https?:)?//", page)
    assert {"Time by operation", "Roofline", "Memory over time", "Slowest operations"} <= set(
        re.findall(r"<h2>([^<]*)</h2>", page)
    )
    with pytest.raises(DiagnosticError, match="HTML page"):
        api.save_profile(compared, tmp_path / "p.txt")


@pytest.mark.slow
def test_onnxruntime_times_operations_in_ordinary_runs() -> None:
    oracle("onnxruntime")
    compared = cir.profile_engines(cir.load("examples/transformer.onnx"), engines=["numpy", "onnxruntime"], repeat=2)
    own = compared.profiles[1]
    assert own.method == "engine"
    known = {e.name: e for e in compared.profiles[0].entries}
    shared = [e for e in own.entries if e.name in known]
    assert len(shared) > len(own.entries) / 2
    assert all((e.operation, e.flops) == (known[e.name].operation, known[e.name].flops) for e in shared)
    layers = {row.name for row in compared.layers if all(row.seconds)}
    assert {"h.0/attn", "h.1/mlp"} <= {"/".join(name.split("/")[-2:]) for name in layers}


def test_command_lists_the_slowest_and_writes_a_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, trace = tmp_path / "m.mlir", tmp_path / "trace.json"
    path.write_text(PROGRAM)
    run = command_lines(capsys)
    done = run("profile", str(path), "--engine", "numpy", "--repeat", "2", "--trace", str(trace))
    assert done.status == ExitStatus.YES
    assert done.out.startswith("main on numpy: ")
    events = json.loads(trace.read_text())["traceEvents"]
    assert [event["args"]["value"] for event in events] == ["p", "n", "y"]
    assert all(b["ts"] == pytest.approx(a["ts"] + a["dur"]) for a, b in pairwise(events))
    document = json.loads(run("profile", str(path), "--engine", "numpy", "--json").out)
    assert document["schema"] == "commonir.profile/1"
    assert [entry["name"] for entry in document["result"]["entries"]] == ["p", "n", "y"]
