"""Tensors that are joined lie where the result has them: between guard pages, against the interpreter."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest

from commonir.dialects import core
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, f32
from commonir.llvm.compiler import host_target
from commonir.native.compiling import generated_program
from commonir.native.engine import ENGINE as NATIVE
from commonir.runtime.engine import EngineOptions
from commonir.runtime.interpreter.engine import ENGINE as REFERENCE
from commonir.runtime.kernel_graph.control import program_of
from commonir.symbolic import Dim, symbol

from tests.native.graphs import Width, available_widths, graph_of
from tests.native.images import RANDOM, check, weights
from tests.oracles import require_package
from tests.runtime.programs import program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="guard pages are made as POSIX has them")

require_package("llvmlite")


def _conv(x: Value, channels: int, size: int = 1) -> Value:
    pad = size // 2
    return core.conv(x, weights(channels, _channels(x), size, size), pads=((pad, pad), (pad, pad)))


def _channels(x: Value) -> int:
    shape = x.type.shape if isinstance(x.type, TensorType) else None
    assert shape is not None
    assert isinstance(shape[1], int)
    return shape[1]


def _image_program(inner: Callable[[Value], Value], height: Dim, width: Dim) -> Module:
    """Returns a program with operations on a value of 8 channels, which a convolution reads."""

    def build(x: Value) -> Value:
        return _conv(inner(core.tanh(_conv(x, 8, 3))), 2)

    return program(build, {"x": TensorType(f32, (1, 3, height, width))})


def _padded_reads(x: Value) -> Value:
    """Zeros around a part, and around the whole."""
    y = core.tanh(_conv(x, 16, 3))
    return core.add(_conv(core.concat((y, _conv(x, 8)), axis=1), 8, 3), _conv(y, 8, 3))


def _nested(x: Value) -> Value:
    y = core.concat((_conv(x, 4), core.relu(x)), axis=1)
    return core.concat((core.tanh(_conv(y, 6)), y, _conv(x, 3)), axis=1)


def _several_times(x: Value) -> Value:
    y = core.tanh(_conv(x, 4))
    return core.concat((y, y, core.concat((_conv(x, 2), y), axis=1)), axis=1)


def _halves(x: Value) -> Value:
    """Both halves of a tensor, and what is computed from the second one."""
    first, second = core.split(core.tanh(_conv(x, 8)), axis=1, sizes=(4, 4))
    return core.concat((first, second, _conv(second, 4, 3)), axis=1)


JOINS: dict[str, Callable[[Value], Value]] = {
    "two": lambda x: core.concat((_conv(x, 5), core.tanh(x)), axis=1),
    "padded reads": _padded_reads,
    "joins of joins": _nested,
    "a tensor several times": _several_times,
    "halves": _halves,
    "along rows": lambda x: core.concat((core.tanh(x), core.relu(x), _conv(x, 8, 3)), axis=2),
}


@pytest.mark.fast_every(12)
@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize("size", [(9, 14), (20, 33)])
@pytest.mark.parametrize("name", JOINS)
def test_joins_agree_with_the_interpreter(name: str, size: tuple[int, int], width: Width) -> None:
    check(_image_program(JOINS[name], *size), (1, 3, *size), {}, width, size[0])


@pytest.mark.fast_every(6)
@pytest.mark.parametrize("name", JOINS)
def test_joins_of_images_of_any_size_agree_with_the_interpreter(name: str) -> None:
    module = _image_program(JOINS[name], symbol("h"), symbol("w"))
    for height, columns in [(3, 4), (17, 30)]:
        check(module, (1, 3, height, columns), {"h": height, "w": columns}, "host", height)


@pytest.mark.fast_every(6)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", JOINS)
def test_programs_with_joins_run_again_and_again_in_one_memory(name: str, threads: int) -> None:
    module = _image_program(JOINS[name], symbol("h"), symbol("w"))
    prepared = NATIVE.prepare(module, None, EngineOptions(threads=threads))
    for size in [(8, 9), (20, 33), (8, 9), (20, 33)]:
        inputs = {"x": RANDOM.standard_normal((1, 3, *size)).astype(np.float32)}
        (expected,) = REFERENCE.prepare(module).run(inputs).values()
        np.testing.assert_allclose(prepared.run(inputs)["y0"], expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("name", "kernels"), [("padded reads", 0), ("halves", 0), ("a tensor several times", 2), ("two", 1)]
)
def test_what_lies_in_its_place_is_not_copied(name: str, kernels: int) -> None:
    graph = graph_of(_image_program(JOINS[name], 20, 33))
    assert graph is not None
    calls = generated_program(program_of(graph), host_target()).program.calls
    assert sum(c.origins[-1][0] == "core.concat" for c in calls) == kernels


def test_a_result_of_the_program_has_memory_of_its_own() -> None:
    def build(x: Value) -> list[Value]:
        y = core.tanh(_conv(x, 8, 3))
        z = core.concat((y, _conv(y, 8, 3)), axis=1)
        return [y, z, _conv(z, 2)]

    module = program(build, {"x": TensorType(f32, (1, 3, 9, 14))})
    inputs = {"x": RANDOM.standard_normal((1, 3, 9, 14)).astype(np.float32)}
    expected = REFERENCE.prepare(module).run(inputs)
    actual = NATIVE.prepare(module).run(inputs)
    for name, array in expected.items():
        np.testing.assert_allclose(actual[name], array, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_tensors_of_symbolic_sizes_are_joined_along_any_axis(axis: int) -> None:
    names = ("a", "b", "c")
    types = {x: TensorType(f32, (*[symbol(x) if k == axis else k + 3 for k in range(3)], 6)) for x in names}

    def build(*inputs: Value) -> Value:
        joined = core.concat(tuple([core.reduce_sum(x, (3,)) for x in inputs]), axis)
        return core.sub(joined, core.reduce_max(joined, (0, 1, 2), keep_dims=True))

    sizes = [[n if k == axis else k + 3 for k in range(3)] for n in (2, 5, 1)]
    inputs = {x: RANDOM.standard_normal((*n, 6)).astype(np.float32) for x, n in zip(names, sizes, strict=True)}
    joined = np.concatenate([x.sum(3) for x in inputs.values()], axis)
    (actual,) = NATIVE.prepare(program(build, types)).run(inputs).values()
    np.testing.assert_allclose(actual, joined - joined.max(), rtol=1e-5, atol=1e-5)
