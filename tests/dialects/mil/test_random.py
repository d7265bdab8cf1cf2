"""Random numbers: their distributions, and what a seed decides."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from commonir.dialects import core
from commonir.dialects.core import random_numbers
from commonir.ir import tensor, types
from commonir.ir.operation import Value
from commonir.runtime.engine import EngineOptions
from commonir.runtime.numpy_engine.engine import ENGINE as NUMPY

from tests.conversions.programs import core_module
from tests.conversions.running import converted, run_onnx
from tests.dialects.mil.single_operations import ENGINES, Given, Program, definition_of, f16, f32, i32

COUNT = 40_000
# Six standard errors: a right generator fails once in 500 million draws.
LIMIT = 6 / math.sqrt(COUNT)

ENGINE = pytest.mark.parametrize("engine", ENGINES)


def program(name: str, **inputs: Given) -> Program:
    return Program(definition_of(name, "CoreML5"), {"shape": i32([COUNT]), **inputs})


def drawn(name: str, engine: str = "numpy", **inputs: Given) -> Any:
    (result,) = program(name, **inputs).results(engine)
    return result


@ENGINE
def test_uniform_numbers_fill_the_interval_evenly(engine: str) -> None:
    x = drawn("random_uniform", engine, low=f32(-1), high=f32(3), seed=5)
    assert x.dtype == np.float32
    assert x.min() >= -1
    assert x.max() < 3
    shares = np.histogram(x, 8, (-1, 3))[0] / COUNT
    assert np.abs(shares - 1 / 8).max() < LIMIT / 2
    assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < LIMIT


def test_uniform_numbers_never_reach_the_end_in_half_precision() -> None:
    x = drawn("random_uniform", low=f16(0), high=f16(1), seed=6)
    assert x.dtype == np.float16
    assert x.max() < 1


def test_uniform_numbers_of_an_empty_interval_are_its_start() -> None:
    assert set(drawn("random_uniform", low=f32(2), high=f32(2), seed=1)) == {2}


@ENGINE
def test_normal_numbers_have_the_moments_of_the_distribution(engine: str) -> None:
    x = drawn("random_normal", engine, mean=f32(2), stddev=f32(0.5), seed=7)
    z = (x.astype(np.float64) - 2) / 0.5
    # Moments of the standard normal distribution, and the variances of their estimates.
    for power, moment, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs((z**power).mean() - moment) < LIMIT * math.sqrt(variance)
    assert abs((np.abs(z) < 1).mean() - 0.6826894921) < LIMIT


@ENGINE
def test_bernoulli_is_one_as_often_as_requested(engine: str) -> None:
    x = drawn("random_bernoulli", engine, prob=f16(0.25), seed=8)
    assert x.dtype == np.float16
    assert set(x) == {0, 1}
    assert abs(x.astype(np.float64).mean() - 0.25) < LIMIT
    assert drawn("random_bernoulli", engine, seed=9).dtype == np.float32


@ENGINE
@pytest.mark.parametrize(
    ("mode", "numbers"), [("logits", np.log([[1, 2, 5], [6, 1, 1]])), ("probs", [[1, 2, 5], [6, 1, 1]])]
)
def test_positions_are_drawn_as_often_as_their_probabilities_say(mode: str, numbers: Any, engine: str) -> None:
    inputs: dict[str, Given] = {"x": f32(numbers), "mode": mode, "size": COUNT, "seed": 10}
    (x,) = Program(definition_of("random_categorical", "CoreML5"), inputs).results(engine)
    assert (x.dtype, x.shape) == (np.float32, (2, COUNT))
    shares = np.stack([np.bincount(row.astype(np.int64), minlength=3) / COUNT for row in x])
    assert np.abs(shares - np.array([[1, 2, 5], [6, 1, 1]]) / 8).max() < LIMIT


def test_what_has_no_probability_is_never_drawn() -> None:
    inputs: dict[str, Given] = {"x": f32([0, 1, 0]), "mode": "probs", "size": 1000, "seed": 11}
    (x,) = Program(definition_of("random_categorical", "CoreML5"), inputs).results("numpy")
    assert set(x) == {1}


@pytest.mark.parametrize("name", ["random_uniform", "random_normal", "random_bernoulli"])
def test_a_seed_decides_the_numbers(name: str) -> None:
    first = drawn(name, "numpy", seed=12)
    np.testing.assert_array_equal(first, drawn(name, "reference", seed=12))
    assert (first != drawn(name, "numpy", seed=13)).any()
    executable = NUMPY.prepare(program(name, seed=12).lowered())
    for _ in range(2):
        np.testing.assert_array_equal(first, executable.run({})["y0"])


def test_numbers_are_made_of_the_bits_of_philox() -> None:
    # Known answers of the authors for a counter and a key of 0; numpy counts up before it draws.
    known = [0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B]
    assert np.random.Philox(key=0, counter=2**256 - 1).random_raw(4).tolist() == known
    x = random_numbers.uniform(12, (3,), 0.0, 1.0, np.dtype(np.float64))
    assert x.tolist() == [(v >> 11) / 2**53 for v in np.random.Philox(key=12).random_raw(3).tolist()]


@ENGINE
def test_numbers_without_a_seed_differ_from_run_to_run_unless_the_run_has_one(engine: str) -> None:
    module = program("random_normal").lowered()
    free = ENGINES[engine].prepare(module)
    assert (free.run({})["y0"] != free.run({})["y0"]).any()
    seeded = [ENGINES[engine].prepare(module, options=EngineOptions(seed=s)).run({})["y0"] for s in (1, 1, 2)]
    np.testing.assert_array_equal(seeded[0], seeded[1])
    assert (seeded[0] != seeded[2]).any()


def test_two_operations_without_a_seed_differ_in_a_run_with_one() -> None:
    shape = core.vector((4,))
    module = core_module(lambda: (core.random_uniform(shape), core.random_uniform(shape)), {})
    a, b = NUMPY.prepare(module, options=EngineOptions(seed=3)).run({}).values()
    assert (a != b).any()


def test_numbers_without_a_seed_differ_from_round_to_round() -> None:
    def build(x: Value) -> tuple[Value, ...]:
        body = core.nested([tensor(types.f32)], lambda _: (core.random_uniform(core.vector((2,))),))
        return core.scan((), (x,), body)

    module = core_module(build, {"x": tensor(types.f32, 2)})
    (y,) = NUMPY.prepare(module).run({"x": np.zeros(2, np.float32)}).values()
    assert y.shape == (2, 2)
    assert (y[0] != y[1]).any()


@pytest.mark.parametrize(("name", "mean", "variance"), [("random_uniform", 0.5, 1 / 12), ("random_normal", 0, 1)])
@pytest.mark.parametrize("flexible", [False, True])
def test_converted_numbers_have_the_distribution(name: str, mean: float, variance: float, flexible: bool) -> None:
    inputs = Program(
        definition_of(name, "CoreML5"), {"shape": i32([COUNT]), "seed": 3}, computed=("shape",) if flexible else ()
    )
    (x,) = run_onnx(converted(inputs.lowered(), 18), inputs.inputs)
    assert x.shape == (COUNT,)
    assert abs(x.mean() - mean) < LIMIT * math.sqrt(variance)
    assert abs(x.var() - variance) < LIMIT * 2 * variance


def test_functions_that_numbers_are_made_with_are_those_of_the_library() -> None:
    x = np.linspace(1e-12, 1, 100_001)
    logarithm, cosine = random_numbers._logarithm, random_numbers._cosine_of_turns
    np.testing.assert_allclose(logarithm(x), np.log(x), rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(cosine(x[:-1]), np.cos(2 * np.pi * x[:-1]), atol=1e-14)
