"""The indices of the elements that a named operation reads and writes, in one line.

`I[n, w*s0 + k*d0, c] K[k, c, f] -> O[n, w, f]` says of each operand how the dimensions of the iteration space index it.
`s0` and `d0` stand for the first stride and dilation; an operand without brackets is a scalar. Dimensions of the result
come first, then the others in order of appearance, unless the order is stated. What the result does not mention is
reduced.
Source: MLIR linalg dialect, named operations (OpDSL).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from commonir.base.tuples import NamedTuple
from commonir.ir.affine import AffineConstant, AffineDim, AffineExpr, AffineMap

_OPERAND = re.compile(r"(\w+)(?:\[([^\]]*)\])?")
_TERM = re.compile(r"([a-z]+\d*)(?:\*([sd])(\d))?$")


class FormulaStep(NamedTuple):
    """A dimension in an index, with what it is multiplied by: nothing, or a stride or dilation of a number."""

    dim: int
    factor: str
    number: int


class Formula:
    """The indices of the operands of an operation.

    `windows` is how many strides and dilations there are.
    """

    __slots__ = ("dims", "inputs", "is_reduced", "operands", "windows")

    def __init__(self, text: str, order: str = "") -> None:
        read, _, written = text.partition("->")
        arguments = [*_operands(read), *_operands(written)]
        names = [t.group(1) for _, indices in reversed(arguments) for i in indices for t in _terms(i)]
        out = [t.group(1) for i in arguments[-1][1] for t in _terms(i)]
        others = [t.group(1) for _, indices in arguments[:-1] for i in indices for t in _terms(i)]
        self.dims: tuple[str, ...] = tuple(order.split()) or tuple(dict.fromkeys([*out, *others]))
        if {*names} != {*self.dims}:
            raise ValueError(f"'{text}' has other dimensions than '{order}'")
        self.is_reduced = tuple([d not in out for d in self.dims])
        self.inputs = len(arguments) - 1
        self.operands: tuple[tuple[tuple[FormulaStep, ...], ...], ...] = tuple(
            [tuple([self._index(i) for i in indices]) for _, indices in arguments]
        )
        steps = [s for o in self.operands for i in o for s in i]
        self.windows = max([s.number + 1 for s in steps if s.factor], default=0)

    def _index(self, text: str) -> tuple[FormulaStep, ...]:
        return tuple(
            [FormulaStep(self.dims.index(t.group(1)), t.group(2) or "", int(t.group(3) or 0)) for t in _terms(text)]
        )

    def maps(self, strides: Sequence[int] = (), dilations: Sequence[int] = ()) -> tuple[AffineMap, ...]:
        """The indexing maps for some strides and dilations."""
        return _maps(self, tuple(strides), tuple(dilations))


@lru_cache(1 << 10)
def _maps(formula: Formula, strides: tuple[int, ...], dilations: tuple[int, ...]) -> tuple[AffineMap, ...]:
    factors = {"s": strides, "d": dilations}

    def index(steps: tuple[FormulaStep, ...]) -> AffineExpr:
        total: AffineExpr = AffineConstant(0)
        for step in steps:
            factor = factors[step.factor][step.number] if step.factor else 1
            total = total + AffineDim(step.dim) * AffineConstant(factor)
        return total

    return tuple([AffineMap(len(formula.dims), 0, [index(i) for i in operand]) for operand in formula.operands])


def _operands(text: str) -> list[tuple[str, list[str]]]:
    match = [(m.group(1), m.group(2) or "") for m in _OPERAND.finditer(text)]
    return [(name, [i.strip() for i in indices.split(",") if i.strip()]) for name, indices in match]


def _terms(index: str) -> list[re.Match[str]]:
    match = [_TERM.match(part.strip()) for part in index.split("+")]
    whole = [m for m in match if m is not None]
    if len(whole) != len(match):
        raise ValueError(f"'{index}' is not an index")
    return whole
