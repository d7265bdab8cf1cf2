"""Calls of numpy that compute into existing arrays: functions of elements, reductions, running values, choices.

Floating-point rules are those of numpy; sums may be formed in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.runtime.interpreter.array_functions import ARRAY_FUNCTIONS, FOLD_FUNCTIONS
from commonir.runtime.limits import OutOfRange

Array = NDArray[Any]
Step = Callable[[], object]

CLIPPED_SIZE = 4096
"""From this many elements on, `numpy.clip` is faster than a ufunc in spite of its overhead."""

# erf(x) = tanh(x * P(x^2)): least-squares fit of P to atanh(erf(x)) / x on [0, 4.6], weighted toward the largest error
# of erf; absolute error 1.3e-7 in single precision over all x. The leading coefficient is positive, so no argument
# needs clipping. Highest power first.
ERF_COEFFICIENTS = (
    1.58898907e-07,
    -5.98484489e-06,
    8.97084584e-05,
    -0.000625710757,
    -0.000184391936,
    0.102765484,
    1.12837971,
)


def map_steps(fn: str, inputs: Sequence[Array], out: Array) -> list[Step]:
    """Returns the calls that compute a scalar function of arrays that broadcast to the result."""
    function = ARRAY_FUNCTIONS[fn]
    match fn:
        case "maximum" | "minimum" if inputs[0].dtype.kind == "f" and inputs[1].size == 1 and out.size >= CLIPPED_SIZE:
            # Unlike `clip`, these two ufuncs have no vectorized loop for a scalar operand.
            bound, infinity = inputs[1].reshape(()), out.dtype.type(np.inf)
            limits = (bound, infinity) if fn == "maximum" else (-infinity, bound)
            return [partial(np.clip, inputs[0], *limits, out)]
        case _ if isinstance(function, np.ufunc):
            return [partial(function, *inputs, out=out)]
        case _:
            return [partial(_store, function, tuple(inputs), out)]


def _store(function: Callable[..., Array], inputs: tuple[Array, ...], out: Array) -> None:
    out[...] = function(*inputs)


def selection_steps(inputs: Sequence[Array], out: Array, flags: Array, codes: Array) -> list[Step]:
    """Returns the steps that choose elements of one array where a condition holds, of another one elsewhere.

    Copying under a mask takes up to ten times as long where the mask changes often, because of mispredicted branches:
    such elements are chosen by operations on their bits, `b ^ ((a ^ b) & -mask)`, with scratch memory for them.
    """
    condition, a, b = inputs
    are_full = all(x.size == 1 or (x.shape == out.shape and x.strides[-1] == x.itemsize) for x in (a, b))
    if out.size < CLIPPED_SIZE or condition.shape != out.shape or not are_full or out.strides[-1] != out.itemsize:
        return [partial(_store, np.where, (condition, a, b), out)]
    first, second = [x.view(flags.dtype) for x in (a, b)]
    return [
        partial(np.subtract, 0, condition, out=flags, dtype=flags.dtype),
        partial(np.bitwise_xor, first, second, out=codes),
        partial(np.bitwise_and, codes, flags, out=codes),
        partial(np.bitwise_xor, codes, second, out=out.view(flags.dtype)),
    ]


def reduction_steps(fn: str, source: Array, axes: tuple[int, ...], out: Array) -> list[Step]:
    """Returns a fold along axes; a sum of floats along the last ones is a faster product with a vector of ones."""
    last = axes == tuple(range(source.ndim - len(axes), source.ndim))
    if fn == "add" and last and source.dtype.kind == "f" and source.flags.c_contiguous and out.flags.c_contiguous:
        rows = max(out.size, 1)
        ones = np.ones(source.size // rows, source.dtype)
        return [partial(np.matmul, source.reshape(rows, -1), ones, out=out.reshape(rows))]
    return [partial(FOLD_FUNCTIONS[fn].reduce, source, axes, source.dtype, out)]


def running_steps(fn: str, source: Array, axis: int, reverse: bool, exclusive: bool, out: Array) -> list[Step]:
    """Returns the combination of the elements up to each position along an axis.

    `reverse` starts from the end, `exclusive` leaves out the element itself.
    """
    order = tuple(slice(None, None, -1) if d == axis and reverse else slice(None) for d in range(source.ndim))
    source, result = source[order], out[order]
    accumulate = FOLD_FUNCTIONS[fn].accumulate
    if not exclusive:
        return [partial(accumulate, source, axis, source.dtype, result)]
    before = (slice(None),) * axis
    first, others = result[(*before, slice(0, 1))], result[(*before, slice(1, None))]
    body = source[(*before, slice(None, -1))]
    start = FOLD_FUNCTIONS[fn].identity
    return [partial(np.copyto, first, start, "unsafe"), partial(accumulate, body, axis, source.dtype, others)]


def check_positions(positions: Array, bound: int, description: str) -> None:
    """Checks positions that were read from data. Raises: OutOfRange."""
    if positions.size == 1:  # as in most loops; reductions take twenty times as long
        low = high = positions.item()
    else:
        low, high = positions.min(initial=0), positions.max(initial=0)
    if low < 0 or high >= bound:
        raise OutOfRange(f"position {low if low < 0 else high} on {description}, which has size {bound}")
