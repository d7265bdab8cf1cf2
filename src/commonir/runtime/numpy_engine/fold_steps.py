"""Folds: a running value, a product of matrices, shifted views combined element by element, or a reduction."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.notation import Access, Apply, Const, Expr, Fold, Position, free, identity, index, put, walk
from commonir.runtime.numpy_engine.array_steps import Step, reduction_steps, running_steps
from commonir.runtime.numpy_engine.contraction_steps import Factor, contraction_steps
from commonir.runtime.numpy_engine.element_reads import ElementReads
from commonir.runtime.numpy_engine.operands import Block, Operand, Read
from commonir.runtime.values import compute_dtype
from commonir.symbolic import Dim, coefficient, names, plain

Array = NDArray[Any]

UNROLLED_POINTS = 256
"""A fold over a window of at most this many elements is computed from as many shifted views."""

FEW_POINTS = 16
"""Up to this many elements, numpy combines shifted views faster than it reduces along an axis."""

FEW_PRODUCTS = 1 << 12
"""Up to this many products of integers, converting them to floats takes as long as it saves."""


def is_product(e: Fold) -> bool:
    """Returns whether a fold sums products of factors with different indices."""
    factors = factors_of(e.body) if e.fn == "add" and e.body.dtype.kind != "bool" else []
    dependent = [set(free(f)) for f in factors if set(free(f)) & set(e.over)]
    return len(dependent) > 2 or (len(dependent) == 2 and dependent[0] != dependent[1])


def factors_of(e: Expr) -> list[Expr]:
    """Returns the factors of a product."""
    if isinstance(e, Apply) and e.fn == "multiply":
        return [f for a in e.args for f in factors_of(a)]
    return [e]


class FoldSteps(ElementReads):
    """Records folds."""

    def fold(self, e: Fold) -> Operand:
        """Returns a fold in one of its forms."""
        running = self._running(e)
        if running is not None:
            return running
        if is_product(e):
            return self._contraction(factors_of(e.body), e.over)
        if self._is_windowed(e):
            return self._unrolled(e)
        return self._reduced(e.fn, self.operand(e.body), e.over)

    def _reduced(self, fn: str, x: Operand, over: Sequence[str]) -> Operand:
        """Returns elements combined along axes."""
        inside = tuple([n for n, i in enumerate(x.axes) if i in over])
        axes = tuple([i for i in x.axes if i not in over])
        times = prod(self.shape_of([i for i in over if i not in x.axes]))
        if inside:
            source = x
            x = self.record(axes, x.dtype, [x], lambda b, out: reduction_steps(fn, source.array(b), inside, out))
        return self._repeated(fn, x, times) if fn in ("add", "multiply") else x

    def _repeated(self, fn: str, x: Operand, times: int) -> Operand:
        """Returns so many equal elements combined."""
        if times == 1:
            return x
        return self.apply("multiply" if fn == "add" else "power", [x, self.number(times, x.dtype)], x.dtype)

    def _running(self, e: Fold) -> Operand | None:
        """Returns a fold of the elements on one side of an index as a running value along it; None for others."""
        match e:
            case Fold(
                over=(j,),
                body=Apply(
                    fn="select", args=(Apply(fn=relation, args=(Position(at=p), Position(at=q))), x, Const(value=v))
                ),
            ):
                pass
            case _:
                return None
        first, second = plain(p), plain(q)
        bound = second if first == j else first
        if relation not in ("less", "less_equal") or bound is None or j not in (first, second) or first == second:
            return None
        if bound in free(x) or self.extents.get(bound) != self.extents[j] or v != identity(e.fn, e.dtype):
            return None
        source = self.operand(put(x, {j: index(bound)}))
        if bound not in source.axes:
            return None
        axis = source.axes.index(bound)

        def bind(block: Block, out: Array) -> list[Step]:
            return running_steps(e.fn, source.array(block), axis, first == bound, relation == "less", out)

        return self.record(source.axes, source.dtype, [source], bind)

    # -- windows

    def _is_windowed(self, e: Fold) -> bool:
        """Returns whether a fold has few elements, which shifted views give faster than a reduction along axes."""
        points = prod(self.shape_of(e.over))
        if points > UNROLLED_POINTS or any(isinstance(x, Fold) for x in walk(e.body)):
            return False
        at = [p for a in walk(e.body) if isinstance(a, Access) for p in a.at if not isinstance(p, Expr)]
        return any(self._overlaps(p, e.over, points) for p in at)

    def _overlaps(self, p: Dim, over: Sequence[str], points: int) -> bool:
        """Returns whether a position moves by less than a window from one element of the result to the next."""
        factors = {i: abs(c) for i in names(p) if isinstance(c := coefficient(p, i, is_index=True), int)}
        outer = [c for i, c in factors.items() if i not in over]
        spans = [c * self.extents[i] for i, c in factors.items() if i in over]
        return bool(outer and spans) and (points <= FEW_POINTS or min(outer) < max(spans))

    def _unrolled(self, e: Fold) -> Operand:
        """Returns the body at each point of the window, combined one after another."""
        out: Expr | None = None
        for point in itertools.product(*(range(self.extents[i]) for i in e.over)):
            piece = put(e.body, dict(zip(e.over, point, strict=True)))
            out = piece if out is None else Apply(e.fn, (out, piece))
        assert out is not None
        return self.operand(out)

    # -- contractions

    def _contraction(self, factors: Sequence[Expr], over: Sequence[str]) -> Operand:
        """Returns a sum of a product of several factors, contracted from the left."""
        exact = self._exact(factors, over)
        if exact is not None:
            return exact
        left = self.operand(factors[0])
        for n, f in enumerate(factors[1:], 1):
            right = self.operand(f)
            later = {i for g in factors[n + 1 :] for i in free(g)}
            left = self._product(left, right, [i for i in (*left.axes, *right.axes) if i not in over or i in later])
        absent = [i for i in over if not any(i in free(f) for f in factors)]
        return self._repeated("add", left, prod(self.shape_of(absent)))

    def _exact(self, factors: Sequence[Expr], over: Sequence[str]) -> Operand | None:
        """Returns a sum of products of integers, which are floats until all are added; None if that is not exact."""
        dtype = compute_dtype(factors[0].dtype)
        terms = prod(self.shape_of(over))
        if dtype.kind not in "iu" or len(factors) != 2 or any(i not in free(f) for f in factors for i in over):
            return None
        remaining = [i for f in factors for i in free(f) if i not in over]
        if prod(self.shape_of(self.sorted(remaining))) * terms <= FEW_PRODUCTS:
            return None
        floats = self.memory.ranges.exact_dtype((factors[0], factors[1]), terms, dtype)
        if floats is None:
            return None
        a, b = [self._as_floats(f, floats) for f in factors]
        return self.converted(self._product(a, b, remaining), dtype)

    def _as_floats(self, e: Expr, dtype: np.dtype[Any]) -> Operand:
        """Returns integers as floats, converted before windows of them are read."""
        x = self.operand(e)
        if not isinstance(e, Access) or not isinstance(x, Read):
            return self.converted(x, dtype)
        base = self.reads.as_floats(e.tensor.name, dtype).reshape(-1)
        return Read(base, x.start, x.steps, x.axes, x.shape, is_constant=x.is_constant)

    def _product(self, a: Operand, b: Operand, remaining: Sequence[str]) -> Operand:
        """Returns the products of two factors, summed over all but the remaining indices."""
        kept = self.sorted(remaining)
        alone = [[i for i in x.axes if i not in kept and i not in y.axes] for x, y in ((a, b), (b, a))]
        x, y = [self._reduced("add", f, over) if over else f for f, over in zip((a, b), alone, strict=True)]
        if set(x.axes) <= set(kept):
            return self.apply("multiply", [x, y], x.dtype)

        def factor(f: Operand, block: Block) -> Factor:
            return Factor(f.array(block), f.axes, isinstance(f, Read) and f.is_constant)

        def bind(block: Block, out: Array) -> list[Step]:
            return contraction_steps(factor(x, block), factor(y, block), out, kept, self.extents)

        return self.record(kept, x.dtype, [x, y], bind)
