"""The cost of operations: every one is reported once, with what it gives and what it computes, on any engine."""

from __future__ import annotations

import json
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
    profile = api.profile(_program(), warmup=0, repeat=4)
    assert 0 < profile.least_seconds <= profile.seconds
    assert profile.first_seconds > 0
    assert profile.call_seconds > 0
    for entry in profile.entries:
        assert 0 < entry.least_seconds <= entry.seconds


def test_memory_is_that_of_values_needed_at_once() -> None:
    # The input is needed until p is there; then p and n, then n, p and y.
    assert api.profile(_program()).peak_bytes == max(8 * 16 * 4 + 128, 3 * 128)


def test_loops_are_one_operation() -> None:
    profile = api.profile(_program(LOOP), {"n": np.array(5), "x": np.array(2, np.float32)}, repeat=1)
    assert [(e.name, e.operation) for e in profile.entries] == [("r", "scf.for"), ("y", "arith.mulf")]


@pytest.mark.slow_cases("llama_stateful_fp16")
@pytest.mark.parametrize("network", ["bert_fp16", "llama_stateful_fp16", "detector_iOS15"])
def test_every_named_value_of_a_network_is_reported_by_its_own_operation(network: str) -> None:
    program = model(network)
    profile = api.profile(program, repeat=1, warmup=0)
    own = {r.name: op.name for op in program.main.body.operations for r in op.results}
    assert profile.entries
    assert all(own.get(e.name, e.operation) == e.operation for e in profile.entries)
    assert len({e.name for e in profile.entries}) == len(profile.entries)


@pytest.mark.slow
def test_another_engine_runs_the_operations_of_a_format_as_they_are() -> None:
    oracle("onnxruntime")
    profile = api.profile(cir.load("examples/transformer.onnx"), engine="onnxruntime", repeat=1)
    assert {"onnx.Gemm", "onnx.LayerNormalization"} <= {e.operation for e in profile.entries}


def test_programs_of_ranks_are_refused() -> None:
    program = api.shard(cir.load("examples/transformer.onnx"), 2)
    with pytest.raises(DiagnosticError, match="programs of several ranks cannot be profiled"):
        api.profile(program)


def test_command_lists_the_slowest_and_writes_a_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, trace = tmp_path / "m.mlir", tmp_path / "trace.json"
    path.write_text(PROGRAM)
    run = command_lines(capsys)
    done = run("profile", str(path), "--repeat", "2", "--trace", str(trace))
    assert done.status == ExitStatus.YES
    assert done.out.startswith("main on numpy: ")
    events = json.loads(trace.read_text())["traceEvents"]
    assert [event["args"]["value"] for event in events] == ["p", "n", "y"]
    assert all(b["ts"] == pytest.approx(a["ts"] + a["dur"]) for a, b in pairwise(events))
    document = json.loads(run("profile", str(path), "--json").out)
    assert document["schema"] == "commonir.profile/1"
    assert [entry["name"] for entry in document["result"]["entries"]] == ["p", "n", "y"]
