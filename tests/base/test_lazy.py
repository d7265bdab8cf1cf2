"""Modules that are loaded when something of them is used."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from threading import Barrier, Thread

import pytest

from commonir.base.lazy import LazyModule, lazy_pattern

from tests.cli.conftest import environment

NAME = "module_loaded_late"
LOADS_NO_CORE = """
import sys
from commonir.ods import Dialects
names = sys.argv[1:]
dialects = Dialects()
found = [dialects.get(name) for name in names]
assert all(dialect is not None and dialect.operations for dialect in found)
print(*[name for name in sys.modules if name.startswith("commonir.dialects.core")])
"""
READS_TEXT = """
import sys
from commonir.ods import Dialects, verify
from commonir.text.parser import parse_module
from commonir.text.printer import print_module
text = '''
func.func @f(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  %0 = arith.constant 1.5 : f32
  %1 = tosa.add %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = arith.addf %1, %1 : tensor<2xf32>
  return %2 : tensor<2xf32>
}
'''
dialects = Dialects()
module = parse_module(text, dialects)
assert not verify(module, dialects)
assert "tosa.add" in print_module(module) and "tosa.add" in print_module(module, generic=True)
print(*[name for name in sys.argv[1:] if name in sys.modules])
"""
# Each takes as long to load as several modules of ours, or leads to many of them.
NOT_FOR_TEXTS = (
    *("threading", "weakref", "inspect", "dataclasses", "pathlib", "binascii", "mmap"),
    *("commonir.notation", "commonir.ir.interface", "commonir.dialects.core"),
)
MLIR = (
    *("arith", "builtin", "cf", "chlo", "complex", "func", "index", "linalg", "math", "ml_program", "scf", "shape"),
    *("stablehlo", "tensor", "tosa", "ub"),
)


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"{NAME}.py").write_text("LIMIT = 3\n\ndef double(x):\n    return 2 * x\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, NAME, raising=False)


def test_naming_a_function_does_not_load_its_module_and_calling_it_does() -> None:
    late = LazyModule(NAME)
    double = late.double
    assert NAME not in sys.modules
    assert callable(double)
    assert double(21) == 42
    assert late.double is sys.modules[NAME].double


def test_other_members_load_the_module() -> None:
    assert LazyModule(NAME).LIMIT == 3


def test_a_member_that_is_not_there_is_an_attribute_error() -> None:
    late = LazyModule(NAME)
    with pytest.raises(AttributeError, match="MISSING"):
        _ = late.MISSING
    with pytest.raises(AttributeError, match="missing"):
        _ = late.missing


def test_two_threads_may_load_one_module() -> None:
    late, barrier, result = LazyModule(NAME), Barrier(2), list[object]()
    double = late.double
    assert callable(double)

    def call() -> None:
        barrier.wait()
        result.append(double(4))

    threads = [Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert result == [8, 8]


def test_a_late_pattern_is_as_any_other() -> None:
    late, plain = lazy_pattern(r"(a)\s*b", re.IGNORECASE), re.compile(r"(a)\s*b", re.IGNORECASE)
    assert late.sub(r"\1", "A  b, ab") == plain.sub(r"\1", "A  b, ab") == "A, a"
    assert late.fullmatch("ab x") is None
    assert late.pattern == plain.pattern
    with pytest.raises(re.error):
        lazy_pattern("(").match("")


def test_dialects_of_mlir_do_not_load_the_core() -> None:
    done = subprocess.run([sys.executable, "-c", LOADS_NO_CORE, *MLIR], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_reading_checking_and_printing_a_text_loads_little() -> None:
    command = [sys.executable, "-S", "-c", READS_TEXT, *NOT_FOR_TEXTS]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment())
    assert done.stdout.split() == []
