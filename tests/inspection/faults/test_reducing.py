"""Reduction to the smallest part on which something fails: planted faults in core, ONNX and Core ML programs."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper

import commonir as cir
from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostics
from commonir.dialects import core
from commonir.inspection.faults.failing_commands import FailingCommand, Failure
from commonir.inspection.faults.failing_conversions import FailingConversion
from commonir.inspection.faults.reducing import Mode, Part, planned_runs
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import f32, tensor

from tests.command_lines import command_lines
from tests.conversions.programs import core_module

Inputs = Mapping[str, NDArray[np.generic]]


def chain(length: int) -> Module:
    """A chain of additions x0 = x + x, x1 = x0 + x0, ..."""

    def build(x: Value) -> Value:
        for n in range(length):
            x = core.add(x, x)
            x.name = f"x{n}"
        return x

    return core_module(build, {"x": tensor(f32, 2)})


class HasAll:
    """A condition: a part has the operations of some results. Counts its trials."""

    def __init__(self, *names: str) -> None:
        self.names, self.runs = set(names), 0

    def __call__(self, module: Module, inputs: Inputs) -> bool:
        del inputs
        self.runs += 1
        return self.names <= {v.name for op in module.main.body.operations for v in op.results}


@pytest.mark.parametrize("mode", ["bisect", "linear"])
@pytest.mark.parametrize("at", [0, 1, 6, 12])
def test_single_operation_is_found_within_the_planned_runs(at: int, mode: str) -> None:
    fails = HasAll(f"x{at}")
    part = cir.reduce(chain(13), fails, mode=mode)
    assert part is not None
    assert part.operations == (f"core.add 'x{at}'",)
    assert fails.runs <= planned_runs(13, Mode(mode))


def test_inputs_of_the_part_are_values_of_the_whole_run() -> None:
    part = cir.reduce(chain(5), HasAll("x3"), {"x": np.array([1, 2], np.float32)})
    assert part is not None
    assert {n: a.tolist() for n, a in part.inputs.items()} == {"x2": [8.0, 16.0]}  # doubled three times
    assert cir.run(part.module, part.inputs)["x3"].tolist() == [16.0, 32.0]


def test_operations_that_fail_together_stay_together() -> None:
    part = cir.reduce(chain(9), HasAll("x2", "x5"))
    assert part is not None
    assert part.operations == tuple([f"core.add 'x{n}'" for n in (2, 3, 4, 5)])


def test_branches_and_outputs_that_are_not_needed_are_cut_off() -> None:
    def build(x: Value, y: Value) -> tuple[Value, Value]:
        names = {"a": core.exp(x), "b": core.tanh(y)}
        names["c"] = core.mul(names["a"], names["b"])
        names["d"] = core.add(names["c"], names["a"])
        for name, value in names.items():
            value.name = name
        return names["c"], names["d"]

    module = core_module(build, {"x": tensor(f32, 2), "y": tensor(f32, 2)})
    part = cir.reduce(module, HasAll("a", "c"))
    assert part is not None
    assert part.operations == ("core.exp 'a'", "core.mul 'c'")
    assert {v.name for v in part.module.main.inputs} == {"x", "b"}
    assert list(part.module.main.output_names) == ["c"]


def test_a_failure_that_larger_parts_hide_is_found_by_the_linear_search() -> None:
    def fails(module: Module, inputs: Inputs) -> bool:
        del inputs
        names = {v.name for op in module.main.body.operations for v in op.results}
        return "x7" in names or ("x1" in names and "x4" not in names)

    part = cir.reduce(chain(8), fails, mode="linear")
    assert part is not None
    assert part.operations == ("core.add 'x1'",)


def test_nothing_is_found_where_nothing_fails() -> None:
    assert cir.reduce(chain(3), lambda *_: False) is None
    with pytest.raises(cir.DiagnosticError, match="'bisect' and 'linear', not 'fast'"):
        cir.reduce(chain(3), HasAll("x0"), mode="fast")


def test_each_smaller_part_is_handed_over_so_that_an_interrupt_loses_nothing() -> None:
    kept: list[Part] = []

    class Interrupted(HasAll):
        def __call__(self, module: Module, inputs: Inputs) -> bool:
            if self.runs == 4:
                raise KeyboardInterrupt
            return super().__call__(module, inputs)

    with pytest.raises(KeyboardInterrupt):
        cir.reduce(chain(16), Interrupted("x2"), on_smaller=kept.append)
    assert [len(part.operations) for part in kept] == [8, 4]


@pytest.mark.slow
def test_operation_of_a_core_ml_package_is_found() -> None:
    program = cir.load(Path(__file__).parents[3] / "examples" / "mobilenet.mlpackage")
    part = cir.reduce(program, HasAll("input_183"))
    assert part is not None
    assert part.operations == ("mil.mul 'input_183'",)
    assert cir.run(part.module, part.inputs)["input_183"].size


# -- commands

PYTHON = shlex.join([sys.executable, "-I", "-S", "-c"])


@pytest.mark.parametrize(
    ("code", "failure", "fails"),
    [
        ("raise SystemExit(0)", Failure(), False),
        ("raise SystemExit(3)", Failure(), True),
        ("raise SystemExit(3)", Failure(codes=(3, 4)), True),
        ("raise SystemExit(3)", Failure(codes=(1,)), False),
        ("print('bad shape')", Failure(text=re.compile("bad .ha")), True),
        ("print('good')", Failure(text=re.compile("bad")), False),
        ("print('bad'); raise SystemExit(2)", Failure(codes=(1,), text=re.compile("bad")), False),
        ("import sys; raise SystemExit(not sys.argv[1].endswith('model.mlir'))", Failure(), False),
        (
            "import sys, zipfile; raise SystemExit(zipfile.ZipFile(sys.argv[2]).namelist() != ['x.npy'])",
            Failure(),
            False,
        ),
    ],
)
def test_what_counts_as_a_failure(code: str, failure: Failure, fails: bool) -> None:
    command = FailingCommand(f"{PYTHON} {shlex.quote(code)} {{}} {{inputs}}", failure)
    assert command(chain(1), {"x": np.zeros(2, np.float32)}) is fails


def test_command_that_takes_too_long_is_stopped_with_its_children() -> None:
    code = f"import subprocess; subprocess.run({[sys.executable, '-I', '-S', '-c', 'import time; time.sleep(60)']})"
    command = FailingCommand(f"{PYTHON} {shlex.quote(code)} {{}}", Failure(seconds=0.1))
    assert not command(chain(1), {})
    assert command.stopped == 1


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("check", "does not take the model"),
        ("'check {}", "cannot be split into words"),
        ("no-such-command-anywhere {}", "cannot start 'no-such-command-anywhere'"),
    ],
)
def test_commands_that_cannot_run_are_refused(command: str, message: str) -> None:
    with pytest.raises(cir.DiagnosticError, match=message):
        FailingCommand(command)(chain(1), {})


class Refuses:
    """A conversion that refuses operations by name, and short programs, all with one code."""

    def __init__(self, *names: str, least: int = 0) -> None:
        self.names, self.least = names, least

    def __call__(self, module: Module) -> None:
        found = Diagnostics()
        operations = [op for op in module.main.body.operations if op.name in self.names]
        for op in operations:
            found.add(UNSUPPORTED_CONVERSION, f"{op.name} '{op.first_name}' of {op.results[0].type} has no rule for it")
        if len(list(module.main.body.operations)) < self.least:
            found.add(UNSUPPORTED_CONVERSION, "a value inside is an output")
        found.raise_errors()


def _three_kinds() -> Module:
    def build(x: Value) -> Value:
        for n, op in enumerate((core.exp, core.tanh, core.sin, core.tanh)):
            x = op(x)
            x.name = f"x{n}"
        return x

    return core_module(build, {"x": tensor(f32, 2)})


@pytest.mark.parametrize(
    ("text", "expected"),
    [(None, "core.tanh 'x1'"), ("core.sin", "core.sin 'x2'"), ("of tensor<2xf32> has", "core.tanh 'x1'")],
)
def test_reduction_keeps_to_one_fault_of_a_conversion(text: str | None, expected: str) -> None:
    pattern = None if text is None else re.compile(text)
    fails = FailingConversion(Refuses("core.tanh", "core.sin", least=4), "onnx", pattern)
    part = cir.reduce(_three_kinds(), fails)
    assert part is not None
    # One of both `tanh`: a name is not part of a fault.
    assert part.operations in ((expected,), (expected.replace("x1", "x3"),))


def test_a_conversion_without_the_fault_does_not_fail() -> None:
    assert cir.reduce(_three_kinds(), FailingConversion(Refuses("core.tanh"), "onnx", re.compile("core.cos"))) is None
    assert cir.reduce(_three_kinds(), FailingConversion(Refuses(), "onnx")) is None


def test_names_dims_and_numbers_are_not_part_of_a_fault() -> None:
    def refuse(module: Module) -> None:
        found = Diagnostics()
        for text in messages[len(list(module.main.body.operations)) :]:
            found.add(UNSUPPORTED_CONVERSION, text)
            break
        found.raise_errors()

    messages = [
        "",
        "input 'a' is tensor<1x?xf32>, and 2 are expected",
        "input 'b' is tensor<3x\"N\"xf32>, and 12 are expected",
        "input 'b' is tensor<3x4xf16>, and 12 are expected",
    ]
    fails = FailingConversion(refuse, "onnx")
    programs = [core_module(lambda x, n=n: chained(x, n), {"x": tensor(f32, 2)}) for n in range(3)]
    assert [fails(program, {}) for program in programs] == [True, True, False]


def chained(x: Value, length: int) -> Value:
    """Returns the last of some additions."""
    for _ in range(length):
        x = core.add(x, x)
    return x


def test_lists_among_inputs_of_a_part_are_stored_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = command_lines(capsys)
    model = tmp_path / "pieces.onnx"
    nodes = [
        helper.make_node("SplitToSequence", ["x"], ["pieces"]),
        helper.make_node("ConcatFromSequence", ["pieces"], ["y"], axis=0),
    ]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 2]) for name in "xy")
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", [x], [y]), ir_version=9), model)
    out = str(tmp_path / "part.onnx")
    assert run("reduce", str(model), "--fails", "convert:tosa", "--fail-text", "list_concat", "-o", out).status == 0
    assert [op.name for op in cir.load(out).main.body.operations][:1] == ["onnx.ConcatFromSequence"]
    assert run("run", out, f"@{tmp_path}/part_inputs.json").status == 0
