"""Kernels as mathematical text, for generated documentation and messages."""

from __future__ import annotations

from commonir.notation.expressions import (
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
    Kernels,
    Padded,
    Position,
    Tensor,
    Update,
)
from commonir.notation.functions import CALL, FOLDS, FUNCTIONS, Number
from commonir.symbolic import Dim

FOLD_PRECEDENCE = 4
"""A fold reaches as far as the products that follow its sign."""

_RIGHT_BOUND = frozenset({"subtract", "divide", "remainder", "truncated_remainder", "shift_left", "shift_right"})
"""Functions that are not associative: a right operand of the same precedence needs parentheses."""


def formula(kernel: Kernel | Kernels, results: str | tuple[str, ...] = "y") -> str:
    """Returns the kernel as mathematics, `y[m, n] = Σ_{k} a[m, k]·b[k, n]`; one line for each result."""
    kernels = (kernel,) if isinstance(kernel, Kernel) else kernel
    names = (results,) if isinstance(results, str) else results
    if len(names) != len(kernels):
        names = tuple(f"{names[0]}{n}" for n in range(len(kernels)))
    return "\n".join(
        f"{name}[{', '.join(map(str, k.axes))}] = {math(k.body)}" for name, k in zip(names, kernels, strict=True)
    )


def math(e: Expr) -> str:
    """Returns the expression as one line of mathematics."""
    return _written(e)[0]


def _written(e: Expr) -> tuple[str, int]:
    """Returns the text of an expression and how tightly it binds."""
    match e:
        case Const(value=v):
            out = _number(v)
            return out, FUNCTIONS["negative"].precedence if out.startswith("-") else CALL
        case Position(at=p):
            out = str(p)
            return out, CALL if out.isidentifier() else FUNCTIONS["add"].precedence
        case Access(tensor=tensor, at=at):
            return f"{tensor.name}{_marks(tensor)}[{', '.join(map(_coordinate, at))}]", CALL
        case Cast(body=body):
            return f"{e.dtype}({math(body)})", CALL
        case Fold(fn=fn, over=over, body=body):
            return f"{FOLDS[fn].symbol}_{{{', '.join(over)}}} {_operand(body, FOLD_PRECEDENCE + 1)}", FOLD_PRECEDENCE
        case Join(along=along, pieces=pieces):
            return f"join_{{{along}}}({', '.join(map(math, pieces))})", CALL
        case Update(fn=fn, over=over, at=at, body=body, start=start):
            place = f"[{', '.join(map(_coordinate, at))}]"
            new = math(body) if fn is None else FUNCTIONS[fn].form.format(place, _operand(body, CALL))
            return f"{math(start)}, then for {', '.join(over)}: {place} := {new}", 0
        case Apply(fn=fn, args=args):
            row = FUNCTIONS[fn]
            if row.precedence == CALL:
                return row.form.format(*map(math, args)), CALL
            tighter = [row.precedence + (n > 0 and fn in _RIGHT_BOUND) for n in range(len(args))]
            if fn == "power":
                tighter[0] += 1
            return row.form.format(*map(_operand, args, tighter)), row.precedence
        case _:
            raise TypeError(f"no text for {type(e).__name__}")


def _operand(e: Expr, precedence: int) -> str:
    out, binds = _written(e)
    return out if binds >= precedence else f"({out})"


def _coordinate(p: Dim | Expr) -> str:
    return math(p) if isinstance(p, Expr) else str(p)


def _marks(tensor: Tensor) -> str:
    """Returns one mark for each view: padded, dilated, flat."""
    marks = {Padded: "⁺", Dilated: "↑", Flat: "♭"}
    return "".join(marks[type(view)] for view, _ in tensor.steps)


def _number(value: Number) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    out = f"{value:.9g}" if isinstance(value, float) else str(value)
    return {"inf": "∞", "-inf": "-∞"}.get(out, out)
