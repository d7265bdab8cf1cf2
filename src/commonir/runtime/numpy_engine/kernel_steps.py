"""Turns the loops of a kernel into numpy calls on fixed arrays, block by block.

Blocks are ranges of the first axes of the result; what they compute in between stays in the cache. Blocks of one shape
have the same instructions (`recording.py`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.ir.types import ElementType, bf16, f16
from commonir.notation import (
    Access,
    Apply,
    Cast,
    Const,
    Expr,
    Fold,
    Position,
    Visit,
    free,
    index,
    mapped,
    put,
    walk,
    with_children,
)
from commonir.runtime.interpreter.array_functions import round_to_half
from commonir.runtime.interpreter.evaluation import rounds_to_half
from commonir.runtime.kernel_graph.loop_kernel import LoopKernel, simplified
from commonir.runtime.numpy_engine.array_steps import ERF_COEFFICIENTS, Step, selection_steps
from commonir.runtime.numpy_engine.fold_steps import FoldSteps, is_product
from commonir.runtime.numpy_engine.kernel_reads import KernelReads
from commonir.runtime.numpy_engine.operands import Block, Fixed, Memory, NotPlanned, Operand
from commonir.runtime.numpy_engine.recording import numbers
from commonir.runtime.values import compute_dtype

Array = NDArray[Any]

BLOCK_ELEMENTS = 1 << 16
"""Elements of an array in a block; a few such arrays stay in the second-level cache."""


def kernel_steps(loops: LoopKernel, out: Array, memory: Memory) -> list[Step]:
    """Returns the steps that compute the loops of a kernel, none of which is empty, into a contiguous array.

    Raises: NotPlanned.
    """
    reads = KernelReads(memory)
    kernel = simplified(reads.without_views(loops), {})
    kernel = kernel._replace(body=_sharing_axes(kernel))
    steps: list[Step] = []
    recorded: dict[tuple[int, ...], KernelSteps] = {}
    for ranges in _blocks(kernel):
        shape = tuple([hi - lo for lo, hi in ranges.values()])
        recorder = recorded.get(shape)
        if recorder is None:
            extents = {**numbers(kernel.extents), **dict(zip(ranges, shape, strict=True))}
            recorder = recorded[shape] = KernelSteps(kernel, extents, memory, reads)
            recorder.finish(kernel, out)
        steps += recorder.steps({i: lo for i, (lo, _) in ranges.items() if lo})
    return [*reads.before, *steps]


def _sharing_axes(kernel: LoopKernel) -> Expr:
    """Returns the body with folds over axes of the result where these have the same range.

    What a fold computes and the result needs again is then one array: the exponentials of a softmax.
    """

    def shared(e: Expr, visit: Visit) -> Expr:
        if isinstance(e, Fold):
            for k in e.over:
                used = {*free(e), *e.over}
                same = [a for a in kernel.axes if a not in used and kernel.extents[a] == kernel.extents[k]]
                if same and not any(same[-1] in x.over for x in walk(e.body) if isinstance(x, Fold)):
                    over = tuple([same[-1] if i == k else i for i in e.over])
                    e = Fold(e.fn, over, put(e.body, {k: index(same[-1])}))
        return with_children(e, visit)

    return mapped(kernel.body, shared)


def _blocks(kernel: LoopKernel) -> Iterator[dict[str, tuple[int, int]]]:
    """Yields the ranges of the axes in each block."""
    extents, folds = numbers(kernel.extents), kernel.folds()
    full = {a: (0, extents[a]) for a in kernel.axes}
    maps = sum([isinstance(e, Apply | Cast | Fold) for e in walk(kernel.body)])
    largest = max([prod([extents[i] for i in free(e)]) for e in walk(kernel.body)], default=1)
    count = -(-largest // BLOCK_ELEMENTS)
    if maps < 2 or count <= 1 or any(is_product(e) for e in folds):
        yield full
        return
    cut: dict[str, int] = {}
    for a in kernel.axes:
        if count <= 1 or any(a in e.over for e in folds):
            break
        parts = min(count, extents[a])
        cut[a] = -(-extents[a] // parts)
        count = -(-count // parts)
    choices = [[(lo, min(lo + n, extents[a])) for lo in range(0, extents[a], n)] for a, n in cut.items()]
    for ranges in itertools.product(*choices):
        yield {**full, **dict(zip(cut, ranges, strict=True))}


class KernelSteps(FoldSteps):
    """Records the expressions of a kernel."""

    def recorded(self, e: Expr) -> Operand:
        """Records an expression. Raises: NotPlanned."""
        match e:
            case Const(value=v):
                return self.number(v, compute_dtype(e.dtype))
            case Position(at=at):
                return self.positions(at, compute_dtype(e.dtype))
            case Access():
                return self.access(e)
            case Cast(body=body):
                return self._cast(body, e.dtype)
            case Apply(fn="power", args=(x, Const(value=2 | 3 as n))):
                # numpy takes twenty times as long for a power.
                base = self.operand(x)
                square = self.apply("multiply", [base, base], base.dtype)
                return square if n == 2 else self.apply("multiply", [square, base], base.dtype)
            case Apply(fn=fn, args=args):
                return self._function(fn, [self.operand(a) for a in args], compute_dtype(e.dtype))
            case Fold():
                return self.fold(e)
            case _:
                raise NotPlanned(type(e).__name__)

    def _function(self, fn: str, args: Sequence[Operand], dtype: np.dtype[Any]) -> Operand:
        if all(isinstance(a, Fixed) for a in args):
            return self.apply(fn, args, dtype)
        if fn == "erf" and dtype == np.float32:
            return self._erf(args[0])
        if fn == "select" and dtype.itemsize in (4, 8):
            return self._selection(args, dtype)
        return self.apply(fn, args, dtype)

    def _erf(self, x: Operand) -> Operand:
        """Returns the error function by its approximation in single precision."""
        first, *inner, last = [self.number(c, x.dtype) for c in ERF_COEFFICIENTS]
        square = self.apply("multiply", [x, x], x.dtype)
        p = self.apply("multiply", [square, first], x.dtype)
        for c in inner:
            p = self.apply("multiply", [self.apply("add", [p, c], x.dtype), square], x.dtype)
        p = self.apply("multiply", [self.apply("add", [p, last], x.dtype), x], x.dtype)
        return self.apply("tanh", [p], x.dtype)

    def _selection(self, args: Sequence[Operand], dtype: np.dtype[Any]) -> Operand:
        """Returns a choice between two operands, which needs scratch memory."""
        axes = self.sorted([i for a in args for i in a.axes])
        flags, codes = [self.record(axes, np.dtype(f"i{dtype.itemsize}"), [], lambda _, __: []) for _ in range(2)]

        def bind(block: Block, out: Array) -> list[Step]:
            arrays = [self.aligned(a, axes, block) for a in args]
            return selection_steps(arrays, out, flags.array(block), codes.array(block))

        return self.record(axes, dtype, [*args, flags, codes], bind)

    def _cast(self, body: Expr, to: ElementType) -> Operand:
        """Returns a conversion. Between half and single precision there is none, as both are computed in single."""
        x = self.operand(body)
        expected = compute_dtype(to)
        if rounds_to_half(body, to):
            if to is f16 and x.dtype == expected:
                return self.record(x.axes, expected, [x], lambda b, out: [partial(round_to_half, x.array(b), out)])
            x = self.converted(x, dtype_of(to.name))
        elif to.is_integer and body.dtype in (f16, bf16):
            # It is rounded before it is converted to an integer.
            x = self.converted(x, dtype_of(body.dtype.name))
        return self.converted(x, expected)
