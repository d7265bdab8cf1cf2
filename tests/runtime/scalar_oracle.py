"""Kernels evaluated element by element in Python numbers: slow, and obviously what the notation says."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from commonir.notation import (
    Access,
    Apply,
    Cast,
    Const,
    Expr,
    Fold,
    Join,
    Kernel,
    Position,
    Update,
    identity,
    name_of,
    piece_extents,
    resolve,
)
from commonir.symbolic import Dim, substitute_indices

Number = Any


def _safe(fn: Callable[[float], float]) -> Callable[[float], float]:
    def call(x: float) -> float:
        try:
            return fn(x)
        except (ValueError, OverflowError):
            return math.nan

    return call


def _divide(a: Number, b: Number) -> Number:
    return a / b if b else math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a)


def _larger(a: Number, b: Number) -> Number:
    return math.nan if math.isnan(a) or math.isnan(b) else max(a, b)


def _smaller(a: Number, b: Number) -> Number:
    return math.nan if math.isnan(a) or math.isnan(b) else min(a, b)


def _wrapped(a: int) -> int:
    """The number that the last 32 bits of another one stand for."""
    return (a + 2**31) % 2**32 - 2**31


PYTHON: Mapping[str, Callable[..., Number]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": _divide,
    "floor_divide": lambda a, b: math.floor(a / b) if isinstance(a, float) else a // b,
    "truncated_divide": lambda a, b: int(a / b),
    "remainder": lambda a, b: a % b,
    "truncated_remainder": lambda a, b: math.fmod(a, b) if isinstance(a, float) else int(math.fmod(a, b)),
    "power": operator.pow,
    "maximum": _larger,
    "minimum": _smaller,
    "negative": operator.neg,
    "absolute": abs,
    "sign": lambda a: (a > 0) - (a < 0),
    "exp": math.exp,
    "exp2": lambda a: 2.0**a,
    "log": _safe(math.log),
    "sqrt": _safe(math.sqrt),
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
    "asinh": math.asinh,
    "acosh": math.acosh,
    "atanh": math.atanh,
    "erf": math.erf,
    "floor": math.floor,
    "ceil": math.ceil,
    "round": round,
    "truncate": math.trunc,
    "is_nan": math.isnan,
    "is_inf": math.isinf,
    "logical_and": lambda a, b: a and b,
    "logical_or": lambda a, b: a or b,
    "logical_xor": operator.ne,
    "logical_not": operator.not_,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "bitwise_not": operator.inv,
    "shift_left": lambda a, b: _wrapped(a << b) if 0 <= b < 32 else 0,
    "shift_right": lambda a, b: a >> b if 0 <= b < 32 else -(a < 0),
    "less": operator.lt,
    "less_equal": operator.le,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}


def scalar_result(kernel: Kernel, extents: Mapping[str, int], arrays: Mapping[str, np.ndarray[Any, Any]]) -> Any:
    """The result of a kernel, in double precision."""

    def number(p: Dim, env: Mapping[str, int]) -> int:
        result = substitute_indices(p, dict(env))
        assert isinstance(result, int)
        return result

    def value(e: Expr, env: dict[str, int]) -> Number:
        match e:
            case Const(value=v):
                return v
            case Position(at=p):
                return number(p, env)
            case Cast(body=body):
                v = value(body, env)
                return bool(v) if e.dtype.kind == "bool" else int(v) if e.dtype.is_integer else float(v)
            case Apply(fn="select", args=(c, a, b)):
                return value(a, env) if value(c, env) else value(b, env)
            case Apply(fn=fn, args=args):
                return PYTHON[fn](*[value(a, env) for a in args])
            case Fold(fn=fn, over=over, body=body):
                out = identity(fn, e.dtype)
                for point in itertools.product(*[range(extents[i]) for i in over]):
                    out = PYTHON[fn](out, value(body, env | dict(zip(over, point, strict=True))))
                return out
            case Join(along=i, pieces=pieces):
                offset = env[i]
                others = {n: m for n, m in extents.items() if n != i}
                for p, size in zip(pieces, piece_extents(e, others), strict=True):
                    assert isinstance(size, int)
                    if offset < size:
                        return value(p, env | {i: offset})
                    offset -= size
            case Update(fn=fn, over=over, at=at, body=body, start=start):
                here = [env[a] if a else 0 for a in axes]
                out = value(start, env)
                for point in itertools.product(*[range(extents[i]) for i in over]):
                    inner = dict(zip(over, point, strict=True))
                    where = [int(value(p, inner)) if isinstance(p, Expr) else number(p, inner) for p in at]
                    if where == here:
                        new = value(body, inner)
                        out = new if fn is None else PYTHON[fn](out, new)
                return out
            case Access(tensor=tensor, at=at):
                where = [int(value(p, env)) if isinstance(p, Expr) else number(p, env) for p in at]
                real, guards = resolve(tensor, where)
                for g in guards:
                    p, bound = number(g.position, env), number(g.bound, env)
                    if not (0 <= p < bound if g.kind == "inside" else p % bound == 0):
                        return g.fill
                return arrays[tensor.name][tuple([number(p, env) for p in real])].item()
            case _:
                raise TypeError(e)
        raise IndexError(e)

    axes = ["" if isinstance(a, int) else name_of(a) for a in kernel.axes]
    out = np.empty([extents[a] if a else 1 for a in axes])
    for point in np.ndindex(*out.shape):
        out[point] = value(kernel.body, {a: p for a, p in zip(axes, point, strict=True) if a})
    return out
