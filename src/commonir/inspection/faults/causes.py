"""Likely causes of a difference, each tested on the numbers.

A cause is named only if a computation confirms it: what the first program would compute with the cause agrees with the
second, or the other way round. Names of operations and values are never looked at.

Causes in the order in which they are tried; the first that holds is named:

- constants: with the constant of the second program, the first computes the same;
- attributes: with the attribute of the second program, or another value that the attribute may have (a mode, an axis,
  an epsilon, a convention), the first computes the same;
- overflow: with the largest numbers of its type instead of infinities among its operands, the second computes the same;
- layout: the results agree after a permutation of axes, a reversal or a shift by one along an axis;
- border: all elements agree but those near the ends of some axes;
- rounding: both are roundings of the same numbers to integers in different modes;
- approximation: both are known forms of the same function of an operand;
- operands: on the operands of the first program, the second computes the same;
- precision: the second has only numbers of a narrower type, and differs by its rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of, name_of
from commonir.base.diagnostics import DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.comparing.divergence import Side
from commonir.comparing.measures import Measures, Tolerance, largest_number, measure, overflow_limit
from commonir.inspection.faults.alternatives import alternatives, counterpart_attributes, with_alternative
from commonir.inspection.faults.isolating import Isolated, part_of
from commonir.ir.module import Module
from commonir.ir.types import TensorType
from commonir.ods import Op
from commonir.reports import Cause
from commonir.runtime.engine import EngineOptions

Array = NDArray[Any]

_NARROW = ("f16", "bf16")
_UNITS = 8.0
"""The root of the mean square error, in units in the last place, up to which a difference is one of precision."""

_IMPROVEMENT = 8.0
"""How many times smaller a cause makes the error that it explains."""

_BORDER_SHARE = 0.25
"""The share of elements near the ends that other padding changes at least; others may be zero, as after a Relu."""

_MAX_ELEMENTS = 1 << 22
"""Larger values are not permuted and shifted."""

_MAX_ALTERNATIVES = 96


class Evidence(NamedTuple):
    """The operations at fault on both sides, the tolerance within which a cause makes their results agree, and the
    names of constants that differ.
    """

    first: Isolated
    second: Isolated
    tolerance: Tolerance
    constants: Sequence[str]
    options: EngineOptions

    @property
    def expected(self) -> Array:
        """The value of the first program."""
        return np.asarray(self.first.result)

    @property
    def actual(self) -> Array:
        """The value of the second program."""
        return np.asarray(self.second.result)

    @property
    def error(self) -> float:
        """The root of the mean square error of the results; inf where they cannot be compared."""
        result = measure(self.expected, self.actual, self.tolerance)
        return result.rmse if isinstance(result, Measures) else math.inf

    def agree(self, expected: Array, actual: Array) -> bool:
        """Returns whether two arrays agree within the tolerance of the value, and much better than the results do;
        infinities only with infinities.
        """
        result = measure(np.asarray(expected), np.asarray(actual), self.tolerance)
        return isinstance(result, Measures) and result.is_within and result.rmse <= self.error / _IMPROVEMENT

    def computed(
        self, part: Isolated, module: Module | None = None, inputs: Mapping[str, Array] | None = None
    ) -> Array:
        """Returns the result of a side for a changed program or other inputs."""
        side = Side(part.module if module is None else module, part.side.engine)
        arrays = {**side.initial, **(part.inputs if inputs is None else inputs)}
        outputs = side.engine.prepare(side.module, side.function.symbol_name, self.options).run(arrays)
        return np.asarray(next(iter(outputs.values())))


def likely_cause(evidence: Evidence) -> Cause | None:
    """Returns the first cause that the numbers confirm; None if none does."""
    for kind, test in _TESTS.items():
        try:
            text = test(evidence)
        except DiagnosticError:
            continue
        if text:
            return Cause(kind, text)
    return None


# -- what the programs say


def _constants(evidence: Evidence) -> str:
    first = evidence.first
    for name in evidence.constants:
        own, other = (_constant(part, name) for part in (first, evidence.second))
        if own is None or other is None:
            continue
        sources = (*first.inputs, name)
        part = part_of(first.side, sources, first.name, {})
        if evidence.agree(evidence.computed(first, part, {**first.inputs, name: other}), evidence.actual):
            relation = _relation(own, other)
            return f"the constant '{name}' differs{relation}; with that of the second program the first agrees"
    return ""


def _constant(part: Isolated, name: str) -> Array | None:
    for op in part.side.function.body.operations:
        if op.results and op.first_name == name and (data := op.constant_data()) is not None:
            return np.asarray(data.array())
    return None


def _relation(first: Array, second: Array) -> str:
    for axes in permutations(range(first.ndim)) if first.ndim <= 4 else ():
        if axes != tuple(range(first.ndim)) and np.array_equal(first.transpose(axes), second):
            return f": its axes are permuted by {list(axes)}"
    if first.shape == second.shape and first.dtype.kind == "f":
        for type in _NARROW:
            if np.array_equal(_rounded(first, type), second.astype(np.float64)):
                return f": it is rounded to {type}"
    return ""


def _attributes(evidence: Evidence) -> str:
    module, other = evidence.first.module, evidence.second.module
    counterparts = list(_operations(other))
    found: list[tuple[float, str]] = []
    for number, op in enumerate(_operations(module)):
        counterpart = counterparts[number] if number < len(counterparts) else None
        changes = counterpart_attributes(op, counterpart) if counterpart is not None else ()
        for change in changes:
            if _error(evidence, number, change.values) is not None:
                return change.text
        for change in islice(alternatives(op), _MAX_ALTERNATIVES if _size(evidence) <= _MAX_ELEMENTS else 0):
            error = _error(evidence, number, change.values)
            if error is not None:
                found.append((error, change.text))
    # Of several numbers, such as epsilons, the one that fits best.
    return min(found, key=lambda entry: entry[0])[1] if found else ""


def _size(evidence: Evidence) -> int:
    return sum(np.asarray(a).size for a in (*evidence.first.inputs.values(), evidence.expected))


def _error(evidence: Evidence, number: int, values: Mapping[str, object]) -> float | None:
    """Returns the error of the first program with other attributes of an operation, None if it is not small."""
    changed = with_alternative(evidence.first.module, number, values)
    result = None if changed is None else _attempt(evidence, changed)
    if result is None or not evidence.agree(result, evidence.actual):
        return None
    found = measure(result, evidence.actual, evidence.tolerance)
    return found.rmse if isinstance(found, Measures) else None


def _operations(module: Module) -> Iterator[Op]:
    return (op for op in module.main.body.operations if isinstance(op, Op))


def _attempt(evidence: Evidence, module: Module) -> Array | None:
    try:
        with np.errstate(all="ignore"):
            return evidence.computed(evidence.first, module)
    except Exception:  # noqa: BLE001  an alternative that makes no sense may be refused anywhere
        return None


# -- overflow


def _overflow(evidence: Evidence) -> str:
    expected, actual = evidence.expected, evidence.actual
    second = evidence.second
    if expected.shape != actual.shape or not _is_float(actual):
        return ""
    type = name_of(actual.dtype)
    differs = ~np.isfinite(actual.astype(np.float64)) & np.isfinite(expected.astype(np.float64))
    if not differs.any():
        return ""
    magnitudes = np.abs(expected[differs].astype(np.float64))
    if np.isinf(actual[differs].astype(np.float64)).all() and (magnitudes >= overflow_limit(type)).all():
        return f"numbers up to {magnitudes.max():.3g} overflow in {type}, which ends at {largest_number(type):.6g}"
    changed = {n: _finite(a) for n, a in second.inputs.items() if _has_infinity(a)}
    known = {name: _constant(second, name) for name in _constant_names(second)}
    constants = {n: _finite(a) for n, a in known.items() if a is not None and _has_infinity(a)}
    if not changed and not constants:
        return ""
    module = part_of(second.side, (*second.inputs, *constants), second.name, {}) if constants else None
    result = evidence.computed(second, module, {**second.inputs, **changed, **constants})
    if not evidence.agree(expected, result):
        return ""
    names = ", ".join(f"'{name}'" for name in (*changed, *constants))
    return f"{names} has infinities in the second program; with the largest numbers of {type} instead it agrees"


def _constant_names(part: Isolated) -> list[str]:
    return [op.first_name for op in part.module.main.body.operations if op.results and op.constant_data() is not None]


def _has_infinity(array: Array) -> bool:
    return _is_float(array) and bool(np.isinf(np.asarray(array).astype(np.float64)).any())


def _finite(array: Array) -> Array:
    largest = largest_number(name_of(array.dtype))
    return np.clip(array.astype(np.float64), -largest, largest).astype(array.dtype)


# -- places


def _layout(evidence: Evidence) -> str:
    expected, actual = evidence.expected, evidence.actual
    if expected.size != actual.size or not 1 < expected.size <= _MAX_ELEMENTS or _is_constant(expected):
        return ""
    axes = range(expected.ndim)
    for order in permutations(axes) if expected.ndim <= 5 else ():
        moved = expected.transpose(order)
        if list(order) == list(axes):
            continue
        if moved.shape == actual.shape and evidence.agree(moved, actual):
            return f"the second result is the first with its axes permuted by {list(order)}"
        if expected.shape == actual.shape and evidence.agree(moved.reshape(actual.shape), actual):
            return f"the elements of the second result are those of the first with its axes permuted by {list(order)}"
    if expected.shape != actual.shape:
        same = evidence.agree(expected.reshape(actual.shape), actual)
        return "the results have the same elements in order, in another shape" if same else ""
    for axis in axes:
        size = expected.shape[axis]
        if size > 1 and evidence.agree(np.flip(expected, axis), actual):
            return f"the second result is the first in reverse along axis {axis}"
        for by in (1, -1):
            if size > 3 and evidence.agree(_cut(expected, axis, by), _cut(actual, axis, -by)):
                return f"the second result is the first shifted by {-by} along axis {axis}, as other padding does"
    return ""


def _cut(array: Array, axis: int, by: int) -> Array:
    """Returns an array without its first element along an axis, or without the last one for a negative number."""
    return np.take(array, range(1, array.shape[axis]) if by > 0 else range(array.shape[axis] - 1), axis)


def _is_constant(array: Array) -> bool:
    return bool((array == array.reshape(-1)[0]).all())


def _border(evidence: Evidence) -> str:
    expected, actual = evidence.expected, evidence.actual
    if expected.shape != actual.shape or not 1 < expected.size <= _MAX_ELEMENTS or expected.ndim < 3:
        return ""
    spatial = [axis for axis in range(expected.ndim) if expected.shape[axis] >= 5]
    for width, count in product((1, 2, 3), (1, 2, 3)):
        for axes in (c for c in (tuple(spatial[n : n + count]) for n in range(len(spatial))) if len(c) == count):
            inside = tuple(
                slice(width, -width) if axis in axes and expected.shape[axis] > 3 * width else slice(None)
                for axis in range(expected.ndim)
            )
            used = [axis for axis in axes if inside[axis] != slice(None)]
            if len(used) < count or not expected[inside].size or _is_constant(expected[inside]):
                continue
            border = np.ones(expected.shape, np.bool_)
            border[inside] = False
            share = np.count_nonzero(expected[border] != actual[border]) / np.count_nonzero(border)
            if share >= _BORDER_SHARE and evidence.agree(expected[inside], actual[inside]):
                listed = ", ".join(map(str, axes))
                ends = f"axes {listed}" if count > 1 else f"axis {listed}"
                return f"only elements within {width} of the ends of {ends} differ, as with other padding"
    return ""


# -- numbers


def _half_away(x: Array) -> Array:
    return np.sign(x) * np.floor(np.abs(x) + 0.5)


_ROUNDINGS: Mapping[str, Callable[[Array], Array]] = {
    "half to even": np.rint,
    "half away from zero": _half_away,
    "half up": lambda x: np.floor(x + 0.5),
    "half down": lambda x: np.ceil(x - 0.5),
    "toward zero": np.trunc,
    "down": np.floor,
    "up": np.ceil,
}


def _erf(x: Array) -> Array:
    return np.vectorize(math.erf, otypes=[np.float64])(x)


_FORMS: Mapping[str, Callable[[Array], Array]] = {
    "the exact gelu": lambda x: 0.5 * x * (1 + _erf(x / math.sqrt(2))),
    "its tanh approximation": lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "its sigmoid approximation": lambda x: x / (1 + np.exp(-1.702 * x)),
}
_MAX_FORM_ELEMENTS = 1 << 16


def _rounding(evidence: Evidence) -> str:
    expected, actual = evidence.expected, evidence.actual
    if expected.shape != actual.shape or expected.dtype.kind == "O":
        return ""
    e, a = expected.astype(np.float64), actual.astype(np.float64)
    if not np.isfinite(e).all() or not np.isfinite(a).all() or (a == e).all() or (np.abs(a - e) > 1).any():
        return ""
    for name, x in _operands_like(evidence):
        for first, second in permutations(_ROUNDINGS, 2):
            if np.array_equal(_ROUNDINGS[first](x), e) and np.array_equal(_ROUNDINGS[second](x), a):
                return f"the first rounds '{name}' {first}, the second {second}"
    return ""


def _operands_like(evidence: Evidence) -> Iterator[tuple[str, Array]]:
    """Yields the operands of the first program that have the shape of the result, in double precision."""
    for name, array in evidence.first.inputs.items():
        array = np.asarray(array)
        if array.shape == evidence.expected.shape and _is_float(array):
            yield name, array.astype(np.float64)


def _approximation(evidence: Evidence) -> str:
    if evidence.expected.size > _MAX_FORM_ELEMENTS or evidence.expected.shape != evidence.actual.shape:
        return ""
    for name, x in _operands_like(evidence):
        with np.errstate(all="ignore"):
            values = {form: function(x) for form, function in _FORMS.items()}
        fits = [
            next((form for form, value in values.items() if evidence.agree(value, side.astype(np.float64))), None)
            for side in (evidence.expected, evidence.actual)
        ]
        if fits[0] and fits[1] and fits[0] != fits[1]:
            return f"the first computes {fits[0]} of '{name}', the second {fits[1]}"
    return ""


def _operands(evidence: Evidence) -> str:
    first, second = evidence.first, evidence.second
    if not set(second.inputs) <= set(first.inputs):
        return ""
    changed = [n for n, a in second.inputs.items() if not _are_equal(first.inputs[n], a)]
    if not changed:
        return ""
    own = {n: np.asarray(first.inputs[n]).astype(np.asarray(a).dtype) for n, a in second.inputs.items()}
    if not evidence.agree(evidence.expected, evidence.computed(second, inputs=own)):
        return ""
    listed = ", ".join(f"'{name}'" for name in changed)
    return f"it amplifies small differences of {listed}: on the operands of the first program the second agrees"


def _are_equal(first: Array, second: Array) -> bool:
    return np.array_equal(first, second, equal_nan=_is_float(first) and _is_float(second))


def _precision(evidence: Evidence) -> str:
    expected, actual = evidence.expected, evidence.actual
    if expected.shape != actual.shape or not _is_float(expected) or not _is_float(actual):
        return ""
    e, a = expected.astype(np.float64), actual.astype(np.float64)
    if not np.isfinite(e).all() or not np.isfinite(a).all():
        return ""
    root = math.sqrt(float(np.mean(e**2)))
    for type in _NARROW:
        has_type = type in _float_types(evidence.second) and type not in _float_types(evidence.first)
        is_rounded = _are_equal(_rounded(a, type), a) and not _are_equal(_rounded(e, type), e)
        if not root or not (has_type or is_rounded):
            continue
        if is_rounded and _are_equal(_rounded(e, type), a):
            return f"the second is the first rounded to {type}"
        units = math.sqrt(float(np.mean((a - e) ** 2))) / (root * _unit(type))
        if units <= _UNITS:
            how = f"computes in {type}" if has_type else f"has only numbers of {type}"
            return f"the second {how}, and differs by {units:.1g} of its units in the last place"
    return ""


def _float_types(part: Isolated) -> set[str]:
    """Returns the element types of what a side computes."""
    values = [v for op in part.module.main.walk() for v in op.results]
    return {v.type.element.name for v in values if isinstance(v.type, TensorType) and v.type.element.kind == "float"}


def _unit(type: str) -> float:
    one = np.array(1.0).astype(dtype_of(type))
    after = (one.view("u2") + 1).view(one.dtype)
    return float(after.astype(np.float64)) - 1


def _rounded(array: Array, type: str) -> Array:
    with np.errstate(over="ignore"):
        return array.astype(dtype_of(type)).astype(np.float64)


def _is_float(array: Array) -> bool:
    return name_of(np.asarray(array).dtype).startswith(("f", "bf"))


_TESTS: Mapping[str, Callable[[Evidence], str]] = {
    "constants": _constants,
    "attributes": _attributes,
    "overflow": _overflow,
    "layout": _layout,
    "border": _border,
    "rounding": _rounding,
    "approximation": _approximation,
    "operands": _operands,
    "precision": _precision,
}
