"""Rewriting of 100,000 operations against mlir-opt and xDSL: `python -m benchmarks.rewriting`, the package installed.

Of each thirteen operations of the program one adds zero, one multiplies by one, and two transpose back and forth; the
others are constants and operations that stay, in functions of 1,000 operations. Three rules that say so are applied by
the greedy driver, and the whole pass `canonicalize` is run; both are held against what mlir-opt reports for its pass
`canonicalize` on one thread, and the whole commands against each other. xDSL, where it is installed, canonicalizes a
tenth of its arithmetic. What we leave is what mlir-opt leaves.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from commonir.api import optimize
from commonir.base.collecting import no_collection
from commonir.dialects.mlir import arith, tosa
from commonir.dialects.mlir.number_rules import ONE, ZERO
from commonir.ir.cloning import clone
from commonir.ir.module import Module
from commonir.ods import Dialects
from commonir.ods.terms import Rewrite, term, variables
from commonir.rewrite.greedy import rewrite
from commonir.rewrite.rule_set import RuleSet
from commonir.text.parser import parse_module
from commonir.text.printer import Naming, print_module

from benchmarks.harness import measure_process, report

OPERATIONS = 100_000
PER_FUNCTION = 1000
TARGET_RATIO = 1.0
TARGET_PASS_RATIO = 10.0
"""The whole pass tries every rule of every dialect and computes constants by references."""
_ROUNDS = 3
_OPTIONS = ("--canonicalize", "--mlir-disable-threading")


def program(operations: int) -> str:
    """Returns the text of a program of so many operations."""
    return "\n".join([_function(n) for n in range(operations // PER_FUNCTION)])


_MATRIX, _TURNED = "tensor<2x3xf32>", "tensor<3x2xf32>"
_PERMS = "perms = array<i32: 1, 0>"
_GROUP = (
    "%zero{n} = arith.constant 0 : i32",
    "%a{n} = arith.addi %x{n}, %zero{n} : i32",
    "%one{n} = arith.constant 1 : i32",
    "%b{n} = arith.muli %a{n}, %one{n} : i32",
    "%x{m} = arith.subi %b{n}, %x0 : i32",
    "%c{n} = arith.cmpi slt, %x{m}, %b{n} : i32",
    "%d{n} = arith.addf %f{n}, %f0 : f32",
    "%e{n} = arith.mulf %d{n}, %f{n} : f32",
    "%f{m} = arith.select %c{n}, %d{n}, %e{n} : f32",
    "%u{n} = tosa.transpose %t{n} {{" + _PERMS + "}} : (" + _MATRIX + ") -> " + _TURNED,
    "%v{n} = tosa.transpose %u{n} {{" + _PERMS + "}} : (" + _TURNED + ") -> " + _MATRIX,
    "%w{n} = tosa.tanh %v{n} : (" + _MATRIX + ") -> " + _MATRIX,
    "%t{m} = tosa.add %w{n}, %t0 : (" + _MATRIX + ", " + _MATRIX + ") -> " + _MATRIX,
)


def _function(number: int) -> str:
    lines = [f"func.func @f{number}(%x0: i32, %f0: f32, %t0: {_MATRIX}) -> (i32, f32, {_MATRIX}) {{"]
    groups = PER_FUNCTION // len(_GROUP)
    for n in range(groups):
        lines += ["  " + line.format(n=n, m=n + 1) for line in _GROUP]
    lines += [f"  return %x{groups}, %f{groups}, %t{groups} : i32, f32, {_MATRIX}", "}"]
    return "\n".join(lines)


def rules() -> list[Rewrite]:
    """Returns the three rules."""
    x, p, q = variables("x p q")
    cancel = term(tosa.Transpose, term(tosa.Transpose, x, p), q) >> x
    return [
        term(arith.AddI, x, ZERO) >> x,
        term(arith.MulI, x, ONE) >> x,
        cancel.where("one undoes the other", _cancel, p, q),
    ]


def _cancel(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    return [first[n] for n in second] == list(range(len(first)))


class _Theirs(NamedTuple):
    """Seconds of mlir-opt: its pass alone, and the whole command."""

    pass_seconds: float
    command_seconds: float


def _mlir_opt(path: Path) -> _Theirs:
    command = ["mlir-opt-22", *_OPTIONS, str(path), "-o", "/dev/null"]
    done = subprocess.run([*command, "--mlir-timing"], capture_output=True, text=True, check=True)
    match = re.search(r"([\d.]+) \([^)]*\)\s+Canonicalizer", done.stderr)
    if match is None:
        raise RuntimeError(f"mlir-opt printed no time for its pass:\n{done.stderr}")
    return _Theirs(float(match[1]), measure_process(command).cpu_seconds)


def _ours(path: Path) -> float:
    command = [
        sys.executable,
        "-m",
        "commonir",
        "opt",
        str(path),
        "-o",
        f"{path}.out.mlir",
        "--no-check",
        "--passes",
        "canonicalize",
    ]
    return measure_process(command).cpu_seconds


def _timed(module: Module, work: Callable[[Module], object]) -> float:
    """Returns the least time of some runs, each on a copy of a program of which all operations are made: mlir-opt's
    are.
    """
    times: list[float] = []
    for _ in range(_ROUNDS):
        copy = clone(module)
        for _ in copy.walk():
            pass
        with no_collection():
            start = time.perf_counter()
            work(copy)
            times.append(time.perf_counter() - start)
    return min(times)


def _apply(rules: RuleSet) -> Callable[[Module], object]:
    return lambda module: rewrite(module, rules)


def _canonicalize(module: Module) -> object:
    return optimize(module, passes=["canonicalize"])


def _copy(module: Module) -> object:
    return clone(module)


def _xdsl_seconds(operations: int) -> float | None:
    """Returns the seconds of xDSL for parsing and for canonicalizing a program without tensors, which it lacks."""
    command = shutil.which("xdsl-opt")
    if command is None:
        return None
    lines = [line for line in program(operations).splitlines() if "tosa" not in line]
    text = re.sub(r", %t\d+", "", "\n".join(lines)).replace(f", {_MATRIX}", "").replace(f": {_MATRIX}", "")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.mlir"
        path.write_text(text, "utf-8")
        return measure_process([command, str(path), "-p", "canonicalize", "-o", str(Path(folder) / "out")]).cpu_seconds


def main() -> int:
    """Prints ratios and figures."""
    text = program(OPERATIONS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.mlir"
        path.write_text(text, "utf-8")
        module = parse_module(text, Dialects())
        # Its operations are made before they are rewritten: that is what reading costs.
        for _ in module.nested():
            pass
        expected = subprocess.run(["mlir-opt-22", *_OPTIONS, str(path)], capture_output=True, text=True, check=True)
        if print_module(optimize(module, passes=["canonicalize"]), elide=None, naming=Naming.MLIR) != expected.stdout:
            print("rewriting: what we leave is not what mlir-opt leaves MISSED")
            return 1
        theirs = min([_mlir_opt(path) for _ in range(_ROUNDS)])
        by_rules = _timed(module, _apply(RuleSet(rules())))
        # The pass works on a copy of its own, which is not its work.
        whole_pass = _timed(module, _canonicalize) - _timed(module, _copy)
        command = _ours(path)
    print(
        f"rewriting: {OPERATIONS / by_rules:,.0f} operations a second by three rules, {OPERATIONS / whole_pass:,.0f}"
        f" by the pass; mlir-opt {OPERATIONS / theirs.pass_seconds:,.0f}"
    )
    baseline = theirs.pass_seconds
    checks = [
        report("rewriting: three rules to the pass of mlir-opt", by_rules / baseline, " times", TARGET_RATIO),
        report("rewriting: `canonicalize` to that of mlir-opt", whole_pass / baseline, " times", TARGET_PASS_RATIO),
    ]
    print(f"rewriting: whole command {command:.3g} s, mlir-opt {theirs.command_seconds:.3g} s")
    xdsl = _xdsl_seconds(OPERATIONS // 10)
    if xdsl is not None:
        print(f"rewriting: xDSL takes {xdsl:.3g} s for the arithmetic in a tenth of it, parsing included")
    return 0 if all(checks) else 1


if __name__ == "__main__":
    sys.exit(main())
