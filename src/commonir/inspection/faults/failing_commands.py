"""Runs a command on parts of a program, and decides whether it fails on them.

The command is a list of words and runs without a shell. `{}` in a word stands for the path of the model, `{inputs}` for
that of an `.npz` archive with its inputs. Each run has a folder of its own.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from commonir.base.codes import WRONG_USAGE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.inspection.faults.reproduce import save_arrays, write_model
from commonir.ir.module import Module

Array = NDArray[np.generic]

MODEL, INPUTS = "{}", "{inputs}"


class Failure(NamedTuple):
    """The condition of failing: an exit status other than 0, one of `codes`, an output in which `text` is found; of the
    last two, both. A run that takes longer than `seconds` is stopped and does not count.
    """

    codes: tuple[int, ...] = ()
    text: re.Pattern[str] | None = None
    seconds: float | None = None


class FailingCommand:
    """A condition for a `Reducer`."""

    def __init__(self, command: str, failure: Failure = Failure()) -> None:  # noqa: B008  immutable
        """Raises: DiagnosticError (E0901) for a command that cannot be split into words, or does not use the model."""
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise _usage(f"the command cannot be split into words: {error}", "close quotes as for a shell") from None
        if not any(MODEL in word for word in self._words):
            help = "write `{}` where the path of the model belongs: `--fails 'python check.py {}'`"
            raise _usage("the command does not take the model", help)
        self._failure = failure
        self.stopped = 0
        """How many runs took too long."""

    def __call__(self, module: Module, inputs: Mapping[str, Array]) -> bool:
        """Returns whether the command fails on a model.

        Raises: DiagnosticError (E0901) when it cannot be started.
        """
        with TemporaryDirectory(prefix="commonir-") as folder:
            model = write_model(module, Path(folder), "model")
            arrays = Path(folder) / "inputs.npz"
            if any(INPUTS in word for word in self._words):
                save_arrays(arrays, inputs)
            return self._fails(self.words(os.path.join(folder, model), str(arrays)))

    def words(self, model: str, inputs: str) -> list[str]:
        """Returns the words of the command for files."""
        return [word.replace(INPUTS, inputs).replace(MODEL, model) for word in self._words]

    def _fails(self, words: Sequence[str]) -> bool:
        code, output = self._run(words)
        if code is None:
            self.stopped += 1
            return False
        failure = self._failure
        if failure.text is not None and failure.text.search(output) is None:
            return False
        if failure.codes:
            return code in failure.codes
        return failure.text is not None or code != 0

    def _run(self, words: Sequence[str]) -> tuple[int | None, str]:
        """Returns the exit status, None if the command took too long, and its output."""
        try:
            process = subprocess.Popen(  # noqa: S603  what the user asks for
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            raise _usage(f"cannot start '{words[0]}': {reason}", "a shell is `sh -c 'COMMAND'`") from None
        try:
            output, _ = process.communicate(timeout=self._failure.seconds)
        except subprocess.TimeoutExpired:
            _stop(process)
            return None, ""
        except BaseException:
            _stop(process)
            raise
        return process.returncode, output.decode("utf-8", "replace")


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ends a command and the processes that it started."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.communicate()


def _usage(message: str, help: str) -> DiagnosticError:
    return DiagnosticError(Diagnostic(WRONG_USAGE, message, help=help))
