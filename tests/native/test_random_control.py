"""Random nests of loops and branches: the compiled ones, and those of numpy, against the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from commonir.dialects import core
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, f32, i32
from commonir.native.engine import ENGINE as NATIVE
from commonir.runtime.engine import EngineOptions
from commonir.runtime.interpreter.engine import ENGINE as REFERENCE
from commonir.runtime.numpy_engine.engine import ENGINE as NUMPY
from commonir.symbolic import symbol

from tests.native.regions import region
from tests.oracles import require_package
from tests.runtime.programs import constant, program

require_package("llvmlite")

ROW, COUNT = TensorType(f32, (4,)), TensorType(i32, ())

LENGTHS = (0, 1, 3, 2)


class RandomControl:
    """Builds values of one type from others; `sequences` are what loops may read slices of.

    If it `sorts`, it has operations that are not kernels, so that loops and branches with them run block by block.
    """

    def __init__(self, seed: int, *, sorts: bool) -> None:
        self._random = np.random.default_rng(seed)
        self._sorts = sorts

    def _below(self, n: int) -> int:
        return int(self._random.integers(0, n))

    def _of(self, values: Sequence[Value]) -> Value:
        return values[self._below(len(values))]

    def values(
        self, count: int, known: Sequence[Value], sequences: Sequence[Value], depth: int, first: Sequence[Value] = ()
    ) -> tuple[Value, ...]:
        """Returns new values, some of `first`, and some that are known."""
        known, sequences = list(known), list(sequences)
        for _ in range(1 + self._below(3)):
            known += self._computed(known, sequences, depth)
        sources = [first or known, known, known[-4:], known[-4:]]
        return tuple([self._of(sources[self._below(4)]) for _ in range(count)])

    def _computed(self, known: list[Value], sequences: list[Value], depth: int) -> Sequence[Value]:
        a, b = self._of(known), self._of(known)
        simple: list[Callable[[], Value]] = [
            lambda: core.add(a, b),
            lambda: core.tanh(core.mul(a, b)),
            lambda: core.softmax(a, 0),
            lambda: core.sub(a, core.scalar(0.5, f32)),
            lambda: constant(self._random.standard_normal(4).astype(np.float32)),
        ]
        if self._sorts:
            simple.append(lambda: core.top_k(a, 4, 0)[0])
        kind = self._below(len(simple) + 3 * (depth > 0))
        if kind < len(simple):
            return [simple[kind]()]
        outside, count = [*known, *sequences], 1 + self._below(3)
        initial = tuple([self._of(known) for _ in range(count)])

        def values(number: int, *arguments: Value) -> tuple[Value, ...]:
            return self.values(number, [*known, *arguments], sequences, depth - 1, arguments)

        if kind == len(simple):
            condition = core.less(core.reduce_sum(a, (0,)), core.scalar(float(self._random.normal()), f32))
            return core.if_(condition, *[region(lambda: values(count), outside=outside) for _ in range(2)])
        if kind == len(simple) + 1:
            read = tuple([self._of(sequences) for _ in range(1 + self._below(2))])
            number, types = count + self._below(3), [ROW] * (count + len(read))
            body = region(lambda *arguments: values(number, *arguments), *types, outside=outside)
            results = core.scan(initial, read, body, bool(self._below(2)))
            sequences += results[count:]
            return results[:count]
        limit, one = core.scalar(self._below(4), i32), core.scalar(1, i32)
        types = [COUNT, *[ROW] * count]
        test = region(lambda n, *_: (core.less(n, limit),), *types, outside=outside)
        body = region(lambda n, *rows: (core.add(n, one), *values(count, *rows)), *types, outside=outside)
        return core.while_((core.scalar(0, i32), *initial), test, body)[1:]


def random_control(seed: int, *, sorts: bool) -> Module:
    rows = TensorType(f32, (symbol("n", 0), 4))
    build = RandomControl(seed, sorts=sorts).values
    return program(lambda x, y, h, g: build(3, [h, g], [x, y], 3), {"x": rows, "y": rows, "h": ROW, "g": ROW})


@pytest.mark.fast_every(4)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("sorts", [False, True], ids=["kernels", "other operations too"])
def test_nests_of_loops_and_branches_agree_with_the_interpreter(seed: int, *, sorts: bool) -> None:
    module = random_control(seed, sorts=sorts)
    reference = REFERENCE.prepare(module)
    executables = [NATIVE.prepare(module, options=EngineOptions(threads=n)) for n in (1, 2)]
    executables.append(NUMPY.prepare(module, options=EngineOptions(plan_ahead=True)))
    random = np.random.default_rng(seed)
    for length in LENGTHS:
        shapes = {"x": (length, 4), "y": (length, 4), "h": (4,), "g": (4,)}
        inputs = {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
        expected = reference.run(inputs)
        for executable in executables:
            for name, actual in executable.run(inputs).items():
                np.testing.assert_allclose(actual, expected[name], rtol=1e-4, atol=1e-5)
