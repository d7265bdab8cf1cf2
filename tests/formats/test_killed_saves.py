"""A process that is killed between any two system calls of a save leaves the old output or the new one, or a program
that is refused with what to do; never one that computes other numbers. The next save removes what it left.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import commonir as cir
from commonir.ir.module import Module

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a forked process")

_CALLS = ("open", "rename", "replace", "unlink", "link", "mkdir", "rmdir", "fsync", "close", "remove")
_MOST_CALLS = 500
_SIDE = 8
_OLD, _NEW = 1.0, 2.0
_REPLACED = {"E0102", "E0111", "E0277", "E0279", "E0301"}
"""Codes of files that are replaced while they are read; E0279 of weights that have not got their name yet."""


def _program(factor: float) -> Module:
    """A product of the input with a constant matrix."""
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    weight = onnx.numpy_helper.from_array(np.full((_SIDE, _SIDE), factor, np.float32), "w")
    info = [helper.make_tensor_value_info(name, 1, [1, _SIDE]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", info[:1], info[1:], [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return cir.loads(model.SerializeToString(), format="onnx")


def _save_external(program: Module, path: Path) -> None:
    cir.save(program, path, external_data=True, external_threshold=1)


def _save_each(program: Module, path: Path) -> None:
    cir.save(program, path, external_data="each", external_threshold=1)


_FORMS: dict[str, tuple[str, str | None, Callable[[Module, Path], object]]] = {
    "onnx": ("m.onnx", None, _save_external),
    "onnx each": ("m.onnx", None, _save_each),
    "onnx inside": ("m.onnx", None, cir.save),
    "common_ir": ("m.cir.json", "common_ir", _save_external),
    "mil": ("m.mil", "mil", cir.save),
    "coreml": ("m.mlpackage", "mil", cir.save),
    "ark": ("m.ark.json", "ark", cir.save),
}


def _scaled(factor: float) -> Module:
    """A product of the input with a number, sharded between two ranks, which have no weights."""
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    number = onnx.numpy_helper.from_array(np.array(factor, np.float32), "c")
    info = [helper.make_tensor_value_info(name, 1, [2, _SIDE]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Mul", ["x", "c"], ["y"])], "g", info[:1], info[1:], [number])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    program = cir.loads(model.SerializeToString(), format="onnx")
    return cir.convert(program, "ark", ranks=2, parallel="data")


def _factors(path: Path) -> set[float]:
    """The factors of the ranks of a program; none when it is refused."""
    try:
        program = cir.load(path.with_name("m.rank0.ark.json"))
    except cir.DiagnosticError as error:
        assert [d.code.id for d in error.diagnostics] == ["E0277"]
        return set()
    ones = {name: np.ones_like(array) for name, array in cir.random_inputs(program).items()}
    return {float(array.flat[0]) for array in cir.run(program, ones).values()}


def _programs(form: str) -> tuple[Path, list[Module], Callable[[Module, Path], object]]:
    name, target, save = _FORMS[form]
    programs = [_program(factor) for factor in (_OLD, _NEW)]
    return Path(name), [p if target is None else cir.convert(p, target) for p in programs], save


def _killed(save: Callable[[], object], at: int) -> bool:
    """Calls a function in a process that is killed before one of its system calls; False when it has fewer."""
    process = os.fork()
    if process == 0:
        status = 1
        try:
            count = 0

            def counted(call: Callable[..., object]) -> Callable[..., object]:
                def called(*args: Any, **options: Any) -> object:
                    nonlocal count
                    count += 1
                    if count > at:
                        os.kill(os.getpid(), signal.SIGKILL)
                    return call(*args, **options)

                return called

            for name in _CALLS:
                setattr(os, name, counted(getattr(os, name)))
            save()
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(process, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def _files(folder: Path) -> list[str]:
    return sorted([p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()])


def _factor(path: Path) -> float | None:
    """The factor of the program at a path; None when it is refused."""
    try:
        program = cir.load(path)
    except cir.DiagnosticError as error:
        assert "did not end" in str(error)
        return None
    return _factor_of(program)


def _factor_of(program: Module) -> float:
    (output,) = cir.run(program, {program.inputs[0].name or "": np.ones((1, _SIDE), np.float32)}).values()
    assert np.all(output == output.flat[0])
    return float(output.flat[0]) / _SIDE


def _read_factor(path: Path) -> float:
    return _factor_of(cir.load(path))


def _check(form: str, folder: Path, places: range) -> int:
    """Kills a save at some of its system calls, and returns how many of them it has at least."""
    name, (old, new), save = _programs(form)
    for at in places:
        path = folder / str(at) / name
        path.parent.mkdir(parents=True)
        save(old, path)
        expected = _files(path.parent)
        if not _killed(lambda p=path: save(new, p), at):
            return at
        factor = _factor(path)
        assert factor in ((_OLD, _NEW, None) if form == "ark" else (_OLD, _NEW)), (form, at)
        save(new, path)
        assert _factor(path) == _NEW
        if form != "onnx each":
            assert _files(path.parent) == expected, (form, at)
    return places.stop


@pytest.mark.parametrize("at", [0, 8, 14])
def test_a_killed_save_leaves_the_old_or_the_new_model(tmp_path: Path, at: int) -> None:
    _check("onnx", tmp_path, range(at, at + 1))


@pytest.mark.slow
@pytest.mark.parametrize("form", list(_FORMS))
def test_a_save_killed_between_system_calls_leaves_a_whole_program(tmp_path: Path, form: str) -> None:
    count = _check(form, tmp_path, range(_MOST_CALLS))
    assert 5 < count < _MOST_CALLS


@pytest.mark.slow
def test_a_killed_save_leaves_no_mixture_of_ranks(tmp_path: Path) -> None:
    old, new = _scaled(_OLD), _scaled(_NEW)
    found: list[set[float]] = []
    for at in range(_MOST_CALLS):
        path = tmp_path / str(at) / "m.ark.json"
        path.parent.mkdir()
        cir.save(old, path)
        expected = _files(path.parent)
        if not _killed(lambda p=path: cir.save(new, p), at):
            break
        found.append(_factors(path))
        cir.save(new, path)
        assert _factors(path) == {_NEW}
        assert _files(path.parent) == expected
    assert {tuple(f) for f in found} == {(_OLD,), (_NEW,), ()}


@pytest.mark.slow
@pytest.mark.parametrize("form", list(_FORMS))
def test_a_save_killed_at_any_moment_leaves_a_whole_program(tmp_path: Path, form: str) -> None:
    name, (old, new), save = _programs(form)
    rng = random.Random(form)
    for n in range(50):
        path = tmp_path / str(n) / name
        path.parent.mkdir()
        save(old, path)
        process = os.fork()
        if process == 0:
            while True:
                save(new, path)
                save(old, path)
        time.sleep(0.03 * rng.random())
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        assert _factor(path) in ((_OLD, _NEW, None) if form == "ark" else (_OLD, _NEW))


def _write(save: Callable[[Module, Path], object], program: Module, path: Path, times: int) -> int:
    """Saves a program several times in a process of its own, and returns its number."""
    process = os.fork()
    if process == 0:
        status = 1
        try:
            for _ in range(times):
                save(program, path)
            status = 0
        finally:
            os._exit(status)
    return process


@pytest.mark.slow
@pytest.mark.parametrize("form", list(_FORMS))
def test_two_writers_take_turns_and_a_reader_sees_one_or_the_other(tmp_path: Path, form: str) -> None:
    name, programs, save = _programs(form)
    path = tmp_path / name
    save(programs[0], path)
    expected = _files(tmp_path)
    writers = [_write(save, program, path, 50) for program in programs]
    seen: list[float] = []
    while writers:
        process, status = os.waitpid(writers[0], os.WNOHANG)
        if process:
            # No save failed.
            assert status == 0
            del writers[0]
        try:
            seen.append(_read_factor(path))
        except cir.DiagnosticError as error:
            # What was loaded has been replaced before it was read: its error says so.
            assert {d.code.id for d in error.diagnostics} <= _REPLACED
    assert seen
    assert set(seen) <= {_OLD, _NEW}
    assert _read_factor(path) in (_OLD, _NEW)
    assert _files(tmp_path) == expected


def test_two_threads_save_one_after_the_other(tmp_path: Path) -> None:
    name, programs, save = _programs("onnx")
    path = tmp_path / name

    def write(program: Module) -> None:
        for _ in range(3):
            save(program, path)

    with ThreadPoolExecutor(len(programs)) as pool:
        list(pool.map(write, programs))
    assert _read_factor(path) in (_OLD, _NEW)
    assert _files(tmp_path) == ["m.onnx", "m.onnx.data"]
