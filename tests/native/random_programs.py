"""Random programs of core operations, compiled whole and compared with the interpreter.

`python -m tests.native.random_programs --seconds 600 --first 100000` runs new ones, in processes of their own,
and prints the seeds that differ or end a process.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.dialects.core.resize import ResizeMode
from commonir.dialects.core.shape import PadMode
from commonir.ir.data import data_of
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, bf16, f16, f32, i32
from commonir.native.engine import ENGINE as NATIVE
from commonir.runtime.engine import Engine
from commonir.runtime.interpreter.engine import ENGINE as REFERENCE
from commonir.runtime.numpy_engine.engine import ENGINE as NUMPY
from commonir.symbolic import Dim, symbol

from tests.runtime.programs import program

Array = NDArray[Any]
Shape = tuple[int, ...]

MOST_ELEMENTS = 20_000
"""Of one value, so that the interpreter takes milliseconds."""

_BATCH = 40


class Program(NamedTuple):
    """A program, inputs for it, and whether its results are rounded to half precision somewhere."""

    module: Module
    inputs: Mapping[str, Array]
    has_halves: bool


class _Drawing:
    """Draws operations one after another; shapes of values are those of the inputs that are drawn with them."""

    def __init__(self, seed: int) -> None:
        self.r = np.random.default_rng(seed)
        self.has_halves = False
        # What is computed from a size that is a symbol has unknown sizes, so few operations need to know them.
        self.is_symbolic = self.chance(0.25)
        self.values: list[tuple[Value, Shape]] = []

    def chance(self, of: float) -> bool:
        return bool(self.r.random() < of)

    def int(self, low: int, high: int) -> int:
        """Returns a number from low to high, both included."""
        return int(self.r.integers(low, high + 1))

    def one_of(self, items: Sequence[Any]) -> Any:
        return items[self.int(0, len(items) - 1)]

    def shape(self) -> Shape:
        while True:
            most = self.one_of((5, 9, 20, 40))
            shape = tuple([self.int(1, most) for _ in range(self.one_of((1, 2, 2, 3, 3, 4, 4)))])
            if np.prod(shape) <= MOST_ELEMENTS // 4:
                return shape

    def constant(self, *shape: int) -> Value:
        array = self.r.standard_normal(shape) / max(1, int(np.prod(shape[1:]))) ** 0.5
        return core.constant(data_of(f32, shape, array.astype(np.float32).ravel().tolist()))

    def value(self) -> tuple[Value, Shape]:
        """Returns one of the values, mostly a late one."""
        at = len(self.values) - 1 - int(self.r.geometric(0.5) - 1)
        return self.values[max(at, 0)]

    def step(self) -> None:
        x, s = self.value()
        drawn = self.one_of(_STEPS)(self, x, s)
        if drawn is not None and 0 < np.prod(drawn[1]) <= MOST_ELEMENTS:
            self.values.append(drawn)


Drawn = tuple[Value, Shape] | None


def _elementwise(d: _Drawing, x: Value, s: Shape) -> Drawn:
    fn = d.one_of((core.relu, core.tanh, core.sigmoid, core.gelu, core.silu, core.neg, core.abs, core.sin, core.erf))
    return fn(x), s


def _bounded(d: _Drawing, x: Value, s: Shape) -> Drawn:
    low = -d.int(1, 3) / 2
    return core.clip(x, low, low + 2.0), s


def _with_constant(d: _Drawing, x: Value, s: Shape) -> Drawn:
    sizes = [n if d.chance(0.5) else 1 for n in s]
    sizes = sizes[d.int(0, len(s)) :]
    if d.is_symbolic:
        sizes = [1 for _ in sizes]
    return d.one_of((core.add, core.mul, core.sub, core.maximum))(x, d.constant(*sizes)), s


def _with_value(d: _Drawing, x: Value, s: Shape) -> Drawn:
    same = [y for y, t in d.values if t == s]
    return d.one_of((core.add, core.mul, core.sub, core.minimum))(x, d.one_of(same)), s


def _selected(d: _Drawing, x: Value, s: Shape) -> Drawn:
    return core.select(core.greater(x, d.constant()), core.mul(x, d.constant()), core.neg(x)), s


def _transposed(d: _Drawing, x: Value, s: Shape) -> Drawn:
    perm = tuple([int(n) for n in d.r.permutation(len(s))])
    return core.transpose(x, perm), tuple([s[p] for p in perm])


def _reshaped(d: _Drawing, x: Value, s: Shape) -> Drawn:
    if d.is_symbolic:
        return core.reshape(x, (-1,)), (int(np.prod(s)),)
    shape, rest = list[int](), int(np.prod(s))
    while rest > 1 and len(shape) < 3:
        n = d.one_of([n for n in range(1, rest + 1) if rest % n == 0])
        shape.append(n)
        rest //= n
    shape.append(rest)
    return core.reshape(x, tuple(shape)), tuple(shape)


def _reduced(d: _Drawing, x: Value, s: Shape) -> Drawn:
    axes = tuple(sorted({d.int(0, len(s) - 1) for _ in range(d.int(1, 2))}))
    keep = d.chance(0.6) or len(axes) == len(s)
    shape = tuple([1 if n in axes else size for n, size in enumerate(s) if keep or n not in axes])
    return d.one_of((core.reduce_mean, core.reduce_max, core.reduce_min, core.reduce_mean))(x, axes, keep), shape


def _reduced_and_used(d: _Drawing, x: Value, s: Shape) -> Drawn:
    axis = d.int(0, len(s) - 1)
    return core.sub(x, d.one_of((core.reduce_mean, core.reduce_max))(x, (axis,), True)), s


def _normalized(d: _Drawing, x: Value, s: Shape) -> Drawn:
    axis = d.int(0, len(s) - 1)
    match d.int(0, 3):
        case 0:
            return core.softmax(x, axis), s
        case 1:
            return core.layer_norm(x, None, None, (axis,), 1e-2), s
        case 2:
            return core.rms_norm(x, None, (axis,), 1e-2), s
        case _:
            return core.log_softmax(x, axis), s


def _summed_up_to(d: _Drawing, x: Value, s: Shape) -> Drawn:
    axis = d.int(0, len(s) - 1)
    return core.tanh(core.cumsum(x, axis, d.chance(0.5), d.chance(0.5))), s


def _sliced(d: _Drawing, x: Value, s: Shape) -> Drawn:
    if d.is_symbolic:
        return None
    starts = [d.int(0, n - 1) for n in s]
    stops = [d.int(a + 1, n) for a, n in zip(starts, s, strict=True)]
    steps = [d.one_of((1, 1, 2, 3)) for _ in s]
    shape = tuple([-(-(b - a) // c) for a, b, c in zip(starts, stops, steps, strict=True)])
    return core.slice(x, tuple(starts), tuple(stops), tuple(steps)), shape


def _padded(d: _Drawing, x: Value, s: Shape) -> Drawn:
    before, after = tuple([d.int(0, 2) for _ in s]), tuple([d.int(0, 2) for _ in s])
    mode = d.one_of((PadMode.CONSTANT, PadMode.CONSTANT, PadMode.EDGE))
    shape = tuple([a + n + b for a, n, b in zip(before, s, after, strict=True)])
    return core.pad(x, before, after, mode, d.one_of((0.0, 0.0, 0.5))), shape


def _joined(d: _Drawing, x: Value, s: Shape) -> Drawn:
    axis = d.int(0, len(s) - 1)
    others = [
        (y, t) for y, t in d.values if len(t) == len(s) and all(n == axis or a == b for n, (a, b) in _pairs(s, t))
    ]
    y, t = d.one_of(others)
    parts = [(x, s), (y, t), (x, s)][: d.int(2, 3)]
    size = sum([shape[axis] for _, shape in parts])
    return core.concat(tuple([v for v, _ in parts]), axis=axis), (*s[:axis], size, *s[axis + 1 :])


def _pairs(s: Shape, t: Shape) -> list[tuple[int, tuple[int, int]]]:
    return list(enumerate(zip(s, t, strict=True)))


def _tiled(d: _Drawing, x: Value, s: Shape) -> Drawn:
    repeats = tuple([d.one_of((1, 1, 2, 3)) for _ in s])
    return core.tile(x, repeats), tuple([n * m for n, m in zip(s, repeats, strict=True)])


def _reversed(d: _Drawing, x: Value, s: Shape) -> Drawn:
    return core.reverse(x, (d.int(0, len(s) - 1),)), s


def _broadcast(d: _Drawing, x: Value, s: Shape) -> Drawn:
    if d.is_symbolic or len(s) > 3:
        return None
    lead = d.int(2, 4)
    return core.broadcast_to(x, (lead, *s)), (lead, *s)


def _gathered(d: _Drawing, x: Value, s: Shape) -> Drawn:
    if d.is_symbolic:
        return None
    axis, count = d.int(0, len(s) - 1), d.int(1, 20)
    positions = core.constant(data_of(i32, (count,), [d.int(-s[axis], s[axis] - 1) for _ in range(count)]))
    return core.gather(x, positions, axis), (*s[:axis], count, *s[axis + 1 :])


def _rounded(d: _Drawing, x: Value, s: Shape) -> Drawn:
    d.has_halves = True
    return core.cast(core.cast(x, d.one_of((f16, bf16))), f32), s


def _product(d: _Drawing, x: Value, s: Shape) -> Drawn:
    if len(s) < 2 or d.is_symbolic:
        return None
    columns = d.int(1, 50)
    match d.int(0, 2):
        case 0:
            return core.matmul(x, d.constant(s[-1], columns)), (*s[:-1], columns)
        case 1:
            return core.linear(x, d.constant(columns, s[-1]), d.constant(columns)), (*s[:-1], columns)
        case _:
            scaled = core.mul(x, core.constant(data_of(f32, (), [float(s[-1]) ** -0.5])))
            return core.matmul(scaled, x, transpose_b=True), (*s[:-1], s[-2])


def _attention(d: _Drawing, x: Value, s: Shape) -> Drawn:
    if len(s) < 3:
        return None
    return core.attention(x, x, x, scale=0.3), s


def _windows(d: _Drawing, x: Value, s: Shape) -> Drawn:
    if len(s) < 3 or d.is_symbolic:
        return None
    kernel = tuple([d.int(1, min(3, n)) for n in s[2:]])
    strides = tuple([d.one_of((1, 1, 2)) for _ in kernel])
    pads = tuple([(d.int(0, k - 1), d.int(0, k - 1)) for k in kernel])
    sizes = tuple([(n + a + b - k) // t + 1 for n, k, t, (a, b) in zip(s[2:], kernel, strides, pads, strict=True)])
    ones = (1,) * len(kernel)
    match d.int(0, 4):
        case 0:
            return core.max_pool(x, kernel, strides, ones, pads), (*s[:2], *sizes)
        case 1:
            return core.average_pool(x, kernel, strides, ones, pads, False, True), (*s[:2], *sizes)
        case 2:
            weight = d.constant(s[1], 1, *kernel)
            return core.conv(x, weight, None, strides, ones, pads, s[1]), (*s[:2], *sizes)
        case _:
            filters = d.int(1, 40)
            weight, bias = d.constant(filters, s[1], *kernel), d.constant(filters) if d.chance(0.5) else None
            return core.conv(x, weight, bias, strides, ones, pads), (s[0], filters, *sizes)


def _stretched(d: _Drawing, x: Value, s: Shape) -> Drawn:
    if len(s) < 3 or d.is_symbolic:
        return None
    if d.chance(0.5):
        sizes = tuple([d.int(1, 2 * n) for n in s[2:]])
        mode = d.one_of((ResizeMode.NEAREST, ResizeMode.LINEAR))
        return core.resize(x, sizes, mode), (*s[:2], *sizes)
    kernel, filters = tuple([d.int(1, 3) for _ in s[2:]]), d.int(1, 20)
    strides = tuple([d.int(1, 3) for _ in kernel])
    sizes = tuple([(n - 1) * t + k for n, t, k in zip(s[2:], strides, kernel, strict=True)])
    return core.conv_transpose(x, d.constant(s[1], filters, *kernel), None, strides), (s[0], filters, *sizes)


_Step = Callable[[_Drawing, Value, Shape], Drawn]

_STEPS: tuple[_Step, ...] = (
    *[_elementwise, _with_constant, _with_value] * 3,
    *[_windows, _product] * 3,
    *[_transposed, _reshaped, _normalized, _reduced, _sliced, _padded, _joined] * 2,
    *[_bounded, _selected, _reduced_and_used, _summed_up_to, _tiled, _reversed, _broadcast, _gathered, _rounded],
    *[_attention, _stretched],
)


# Sizes may have the names of indices that kernels use.
_INDEX_NAMES = ("n", "k", "m", "c0", "i0", "i1")


def random_program(seed: int) -> Program:
    """Returns the program of a seed."""
    d = _Drawing(seed)
    shapes = [d.shape() for _ in range(d.int(1, 2))]
    arrays = {f"x{n}": d.r.standard_normal(s).astype(np.float32) for n, s in enumerate(shapes)}

    names = chain(_INDEX_NAMES, map(str, count()))

    def type_of(shape: Shape) -> TensorType:
        dims: list[Dim] = [symbol(next(names)) if d.is_symbolic and n > 1 else n for n in shape]
        return TensorType(f32, tuple(dims))

    def build(*inputs: Value) -> Sequence[Value]:
        d.values = list(zip(inputs, shapes, strict=True))
        for _ in range(d.int(3, 14)):
            d.step()
        made = [v for v, _ in d.values[len(shapes) :]] or [core.relu(d.values[0][0])]
        return tuple(dict.fromkeys([made[-1], *[v for v in made if d.chance(0.2)]]))

    types = {name: type_of(shape) for name, shape in zip(arrays, shapes, strict=True)}
    return Program(program(build, types), arrays, d.has_halves)


def differences(seed: int, engines: Sequence[Engine] = (NATIVE, NUMPY)) -> list[str]:
    """Returns how results of engines differ from those of the interpreter; an operation may refuse its operands."""
    try:
        p = random_program(seed)
    except DiagnosticError:
        return []
    expected, refusal = _outcome(REFERENCE, p)
    out: list[str] = []
    for engine in engines:
        actual, refused = _outcome(engine, p)
        if refused != refusal:
            out.append(f"seed {seed}: {engine.name}: {refused or 'runs'}, reference: {refusal or 'runs'}")
        for name, e in expected.items():
            a = actual.get(name)
            if a is not None and not _is_close(a, e, has_halves=p.has_halves):
                out.append(f"seed {seed}: {engine.name}: {name} {_difference(a, e)}")
    return out


def _outcome(engine: Engine, p: Program) -> tuple[dict[str, Array], str]:
    try:
        return engine.prepare(p.module).run(p.inputs), ""
    except DiagnosticError as error:
        return {}, error.diagnostics[0].code.id


def _is_close(a: Array, e: Array, *, has_halves: bool) -> bool:
    if a.shape != e.shape or a.dtype != e.dtype:
        return False
    scale = float(np.max(np.abs(e), initial=1.0, where=np.isfinite(e)))
    tolerance = (0.05 if has_halves else 2e-4) * scale
    return bool(np.allclose(a, e, rtol=0, atol=tolerance, equal_nan=True))


def _difference(a: Array, e: Array) -> str:
    if a.shape != e.shape or a.dtype != e.dtype:
        return f"{a.dtype}{a.shape}, reference: {e.dtype}{e.shape}"
    return (
        f"{a.shape} differs by {np.nanmax(np.abs(a - e), initial=0.0):.3g} of {np.nanmax(np.abs(e), initial=0.0):.3g}"
    )


def _run_batch(first: int, count: int) -> list[str]:
    """Returns the faults of programs from a seed on, which run in a process of their own."""
    code = f"from tests.native.random_programs import print_differences as p; p({first}, {count})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    out = [line for line in lines if not line.startswith("at ")]
    if done.returncode:
        out.append(f"seed {lines[-1][3:] if lines else first} ends its process: {done.returncode} {done.stderr[-300:]}")
    return out


def print_differences(first: int, count: int) -> None:
    """Prints each seed before it runs, and what is wrong with it."""
    for seed in range(first, first + count):
        print(f"at {seed}", flush=True)
        for line in differences(seed):
            print(line, flush=True)


def main() -> int:
    """Runs programs for some time; returns 1 if something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.native.random_programs", description=__doc__)
    parser.add_argument("--first", type=int, default=1000, metavar="N", help="the seed of the first program")
    parser.add_argument(
        "--seconds", type=float, default=60.0, metavar="S", help="begin no more of them after this time"
    )
    arguments = parser.parse_args()
    start, seed, wrong = time.monotonic(), arguments.first, 0
    while time.monotonic() - start < arguments.seconds:
        for line in _run_batch(seed, _BATCH):
            wrong += 1
            print(line, flush=True)
        seed += _BATCH
    print(f"{seed - arguments.first} programs from seed {arguments.first} on, {wrong} differences")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
