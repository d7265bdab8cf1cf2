"""llvm-tblgen, the oracle of the TableGen tests, and the TableGen files that come with MLIR.

`LLVM_TBLGEN` and `MLIR_INCLUDE` say where they are; without, they are looked for under Debian's names of llvm-22 and
libmlir-22-dev. Expected results are never stored: the oracle runs.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.oracles import find_program, report_missing

_FOLDERS = ("/usr/lib/llvm-22/bin", "/opt/homebrew/opt/llvm@22/bin")


@cache
def llvm_tblgen() -> str:
    """The program; skips the test when it is not installed."""
    names = [os.environ.get("LLVM_TBLGEN", ""), "llvm-tblgen-22", *(f"{folder}/llvm-tblgen" for folder in _FOLDERS)]
    return find_program("llvm-tblgen", names)


@cache
def mlir_include() -> Path:
    """The folder that holds `mlir/IR/OpBase.td`; skips the test when it is not installed."""
    named = os.environ.get("MLIR_INCLUDE")
    folder = Path(named) if named else Path(os.path.realpath(llvm_tblgen())).parent.parent / "include"
    return folder if (folder / "mlir/IR/OpBase.td").is_file() else report_missing("the TableGen files of MLIR")


def oracle_text(path: str | os.PathLike[str], arguments: Sequence[str] = ()) -> str | None:
    """Returns the JSON that the oracle prints for a file; None when it fails."""
    command = [llvm_tblgen(), "--dump-json", *arguments, os.fspath(path)]
    run = subprocess.run(command, capture_output=True, check=False, timeout=60)
    return run.stdout.decode() if run.returncode == 0 else None


def first_difference(ours: object, theirs: object, path: str = "") -> str | None:
    """Where two JSON values differ first, and how."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted({*ours, *theirs}):
            if key not in ours or key not in theirs:
                return f"{path}.{key}: only {'the oracle' if key in theirs else 'this reader'} has it"
            result = first_difference(ours[key], theirs[key], f"{path}.{key}")
            if result is not None:
                return result
        return None
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = enumerate(zip(ours, theirs, strict=True))
        return next((each for i, (a, b) in pairs if (each := first_difference(a, b, f"{path}[{i}]"))), None)
    if ours == theirs and type(ours) is type(theirs):
        return None
    return f"{path}: {json.dumps(ours)[:200]}, the oracle has {json.dumps(theirs)[:200]}"
