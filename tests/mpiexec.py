"""Runs Python in several processes under `mpiexec`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.oracles import find_program, require_package

_ROOT = Path(__file__).parents[1]
_SECONDS = 120
"""The time that any of these runs may take at most on a slow machine; those that fail end within a few."""

_ENVIRONMENT = {
    "PYTHONPATH": os.pathsep.join([str(_ROOT / "src"), str(_ROOT)]),
    # What Open MPI asks for: it refuses to run as root, and more processes than cores.
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "COLUMNS": "200",
}


class Ended(NamedTuple):
    """The end of a command: status, output and time."""

    status: int
    out: str
    err: str
    seconds: float


def mpiexec(count: int, arguments: Sequence[str]) -> list[str]:
    """The command that starts processes of Python."""
    require_package("mpi4py")
    beside = Path(sys.executable).parent / "mpiexec"
    return [find_program("mpiexec", (str(beside), "mpiexec")), "-n", str(count), sys.executable, *arguments]


def started(count: int, arguments: Sequence[str]) -> subprocess.Popen[str]:
    environment = {**os.environ, **_ENVIRONMENT}
    pipe = subprocess.PIPE
    command = mpiexec(count, arguments)
    return subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


def ended(process: subprocess.Popen[str], since: float) -> Ended:
    try:
        out, err = process.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        pytest.fail(f"it does not end; so far: {out}{err}")
    return Ended(process.returncode, out, err, time.monotonic() - since)


def run(count: int, arguments: Sequence[str]) -> Ended:
    since = time.monotonic()
    return ended(started(count, arguments), since)
