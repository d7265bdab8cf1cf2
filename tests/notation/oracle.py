"""Computes kernels one element at a time, with numpy's own functions for views: an oracle for tests."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from commonir.notation import (
    Access,
    Apply,
    Cast,
    Const,
    Dilated,
    Expr,
    Flat,
    Fold,
    Join,
    Kernel,
    Padded,
    Position,
    Tensor,
    piece_extents,
    ranges,
)
from commonir.symbolic import Dim, evaluate

Array = Any
"""A numpy array; tests do not follow its element type."""

SCALARS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "maximum": max,
    "minimum": min,
    "exp": math.exp,
    "negative": lambda a: -a,
    "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "equal": lambda a, b: a == b,
    "select": lambda c, a, b: a if c else b,
}
STARTS: dict[str, float] = {"add": 0.0, "multiply": 1.0, "maximum": -math.inf, "minimum": math.inf}


class ReadOutside(Exception):
    """A read outside the tensor."""


class Reader:
    """Evaluates a kernel with concrete extents, recording what is read."""

    def __init__(self, arrays: Mapping[str, Array], extents: Mapping[str, int]) -> None:
        self.arrays = arrays
        self.extents = dict(extents)
        self.seen: dict[Tensor, Array] = {}

    def through_views(self, tensor: Tensor) -> Array:
        """The operand as its views show it."""
        if tensor not in self.seen:
            x = self.arrays[tensor.name]
            for view, _ in tensor.steps:
                x = apply_view(view, x)
            self.seen[tensor] = x
        return self.seen[tensor]

    def element(self, tensor: Tensor, at: tuple[int, ...]) -> Any:
        x = self.through_views(tensor)
        if any(not 0 <= p < n for p, n in zip(at, x.shape, strict=True)):
            raise ReadOutside(f"{tensor.name}{list(at)} of shape {x.shape}")
        return x[at].item()

    def value(self, e: Expr, env: Mapping[str, int]) -> Any:
        match e:
            case Const(value=v):
                return v
            case Position(at=p):
                return evaluate(p, env)
            case Access(tensor=t, at=at):
                return self.element(t, tuple(self.position(p, env) for p in at))
            case Apply(fn=fn, args=args):
                return SCALARS[fn](*(self.value(a, env) for a in args))
            case Cast(body=body):
                return self.value(body, env)
            case Fold(fn=fn, over=over, body=body):
                out: Any = STARTS[fn]
                for inner in self.points(over):
                    out = SCALARS[fn](out, self.value(body, {**env, **inner}))
                return out
            case Join():
                return self.piece(e, env)
            case _:
                raise TypeError(e)

    def position(self, p: Dim | Expr, env: Mapping[str, int]) -> int:
        return int(self.value(p, env)) if isinstance(p, Expr) else evaluate(p, env)

    def piece(self, e: Join, env: Mapping[str, int]) -> Any:
        at = env[e.along]
        for size, p in zip(piece_extents(e, self.extents), e.pieces, strict=True):
            assert isinstance(size, int)
            if at < size:
                return self.value(p, {**env, e.along: at})
            at -= size
        raise ReadOutside(f"position {env[e.along]} of a join")

    def points(self, over: tuple[str, ...]) -> Iterator[dict[str, int]]:
        for at in itertools.product(*(range(self.extents[i]) for i in over)):
            yield dict(zip(over, at, strict=True))


def apply_view(view: Padded | Dilated | Flat, x: Array) -> Array:
    match view:
        case Flat():
            return x.reshape(-1)
        case Dilated(factors=factors):
            spread = np.zeros([max((n - 1) * f + 1, 0) for n, f in zip(x.shape, factors, strict=True)], x.dtype)
            spread[tuple(slice(None, None, f) for f in factors)] = x
            return spread
        case Padded(before=before, after=after, mode=mode, fill=fill):
            low, high = [evaluate(p, {}) for p in before], [evaluate(p, {}) for p in after]
            widths = [(max(b, 0), max(a, 0)) for b, a in zip(low, high, strict=True)]
            x = np.pad(x, widths, mode, constant_values=fill) if mode == "constant" else np.pad(x, widths, mode)
            cut = [slice(max(-b, 0), n - max(-a, 0)) for b, a, n in zip(low, high, x.shape, strict=True)]
            return x[tuple(cut)]


def run(kernel: Kernel, arrays: Mapping[str, Array], inputs: Mapping[str, Dim] | None = None) -> Array:
    """The result of a kernel whose shapes are numbers."""
    extents, constraints = ranges(kernel, inputs)
    assert not constraints
    numbers = {i: n for i, n in extents.items() if isinstance(n, int)}
    reader = Reader(arrays, numbers)
    axes = [None if isinstance(a, int) else str(a) for a in kernel.axes]
    out = np.zeros([1 if a is None else numbers[a] for a in axes])
    for at in np.ndindex(*out.shape):
        out[at] = reader.value(kernel.body, {a: p for a, p in zip(axes, at, strict=True) if a is not None})
    return out
