"""Programs of StableHLO's own tests that say what they give: read, checked, run here, and compared.

A program calls `check.expect_eq` or `check.expect_close` on what it computes and what is expected. Such a check is
taken out of the program, and what it compares is returned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from commonir.base.diagnostics import DiagnosticError
from commonir.ods import Dialects
from commonir.ods.verify import verify
from commonir.passes.lower import lower
from commonir.runtime.numpy_engine.engine import NumpyEngine
from commonir.text.parser import parse_module

Array = NDArray[Any]

_CHECKED = re.compile(
    r" *stablehlo\.custom_call @check\.expect_(?:close|eq|almost_eq)\((%[\w#]+), (%[\w#]+)\).*: \((.*)\) -> .*\n"
)
_MAIN = re.compile(r"(func\.func public @main\(\)) -> .* \{\n")


class Outcome(NamedTuple):
    """The outcome of a program: `equal`, or at which step it failed, and why."""

    step: str
    detail: str = ""


def programs(folder: Path) -> Iterator[Path]:
    """The programs of a folder, in order of their names."""
    yield from sorted(folder.glob("*.mlir"))


def operation_of(path: Path) -> str:
    """Returns what a program is about, as its name says it."""
    return re.split(r"_(?:b?float|u?int|complex|bool|[0-9])", path.stem)[0]


def returning_both(text: str) -> str | None:
    """The program with what it checks as its results, in pairs; None for one that checks nothing."""
    match = list(_CHECKED.finditer(text))
    if not match:
        return None
    types = ", ".join([m[3] for m in match])
    values = ", ".join([f"{m[1]}, {m[2]}" for m in match])
    last = match[-1].end()
    end = text.index("\n", text.index("return", last)) + 1
    body = f"{text[: match[0].start()]}    return {values} : {types}\n{text[end:]}"
    return _MAIN.sub(lambda m: f"{m[1]} -> ({types}) {{\n", body)


def run(text: str) -> Outcome:
    """Runs a program and compares what it gives with what it says."""
    source = returning_both(text)
    if source is None:
        return Outcome("nothing checked")
    step = "read"
    try:
        module = parse_module(source, Dialects())
        step = "verify"
        diagnostics = verify(module, Dialects())
        if diagnostics:
            return Outcome(step, str(diagnostics[0]))
        step = "lower"
        module.entry = "main"
        lowered = lower(module)
        step = "run"
        results = list(NumpyEngine().prepare(lowered).run({}).values())
    except DiagnosticError as error:
        return Outcome(step, str(error.diagnostics[0]))
    compared = [_compared(ours, theirs) for ours, theirs in zip(results[::2], results[1::2], strict=True)]
    return next((c for c in compared if c.step != "equal"), Outcome("equal"))


def _compared(ours: Array, theirs: Array) -> Outcome:
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return Outcome("compare", f"{ours.dtype}{ours.shape} is not {theirs.dtype}{theirs.shape}")
    if ours.dtype.kind not in "fc" and "float" not in ours.dtype.name:
        return Outcome("equal") if (ours == theirs).all() else Outcome("compare", _difference(ours, theirs))
    wide = [a.astype(np.complex128 if a.dtype.kind == "c" else np.float64) for a in (ours, theirs)]
    tolerance = 1e-3 if ours.dtype.itemsize > 2 else 2e-2
    if np.allclose(*wide, rtol=tolerance, atol=tolerance, equal_nan=True):
        return Outcome("equal")
    return Outcome("compare", _difference(*wide))


def _difference(ours: Array, theirs: Array) -> str:
    wrong = ~np.isclose(ours, theirs, equal_nan=True)
    return f"{int(wrong.sum())} of {wrong.size} differ, such as {ours[wrong][:3]} for {theirs[wrong][:3]}"


__all__ = ["Outcome", "operation_of", "programs", "returning_both", "run"]
