"""onnxruntime alone on a model whose case ended without an outcome: whether the fault is its own.

`python -m tests.wild.alone MODEL` says before each step whose it is, so that the last line names what never returned.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import commonir

from tests.onnx_suite.evaluators import onnxruntime_runner
from tests.wild.files import Case
from tests.wild.outcomes import Outcome, Verdict, ended

_THEIRS, _OURS = "onnxruntime", "commonir"


def main() -> None:
    """Prepares a model and runs it once."""
    path = Path(sys.argv[1])
    print(_THEIRS, flush=True)
    run = onnxruntime_runner(path)
    print(_OURS, flush=True)
    inputs = commonir.random_inputs(commonir.load(path))
    print(_THEIRS, flush=True)
    run(inputs)
    print(_OURS, flush=True)


def command_for(path: Path) -> list[str]:
    """Returns the command that runs a model in a process of its own."""
    return [sys.executable, "-m", "tests.wild.alone", str(path)]


def ended_by(case: Case, reason: str, limit_seconds: float) -> Outcome:
    """The outcome of a case whose process ended or was ended: of others, where onnxruntime alone does the same."""
    if case.file.path.suffix != ".onnx":
        return ended(case, reason)
    try:
        done = subprocess.run(command_for(case.file.path), capture_output=True, timeout=limit_seconds, check=False)
        output, how = done.stdout, f"ends with status {done.returncode}" if done.returncode < 0 else ""
    except subprocess.TimeoutExpired as error:
        output, how = error.stdout or b"", f"does not end within {limit_seconds:g} s"
    if how and output.split()[-1:] == [_THEIRS.encode()]:
        return Outcome(case, Verdict.OTHERS, f"onnxruntime alone {how}")
    return ended(case, reason)


if __name__ == "__main__":
    main()
