"""Compares a program with arrays that are expected of it, and arrays by name with each other.

Expected arrays come from another run, machine or framework. Their names are those of outputs, also elements of lists
such as `scores[0]`, or of values inside; other names are reported, and what has no expectation is not compared.
Outputs are those of an ordinary run; values inside are computed piece by piece (`piecewise.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import flat_values, name_of
from commonir.base.codes import NOTHING_TO_COMPARE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.comparing.comparison import default_rtol
from commonir.comparing.divergence import (
    EXACT,
    Precision,
    Side,
    precisions,
    probabilities,
    roots,
    same_names,
    single_divergence,
    value_difference,
)
from commonir.comparing.measures import Requirements, overflow_limit
from commonir.comparing.piecewise import PIECE_BYTES, is_constant
from commonir.ir.operation import Value
from commonir.reports import Comparison, ValueDifference
from commonir.runtime.engine import EngineOptions

Array = NDArray[np.generic]

STORED = "stored"
"""The name of the side that did not run."""


def computed_values(
    side: Side, inputs: Mapping[str, Array], pattern: str, options: EngineOptions
) -> Iterator[tuple[str, Array]]:
    """Yields the values inside a function whose names match a pattern, one after another, without its inputs and
    constants.

    Raises: DiagnosticError (E0714 when there is none).
    """
    inside = {n: v for n, v in side.values.items() if not is_constant(v)}
    chosen = {n: v for n, v in inside.items() if fnmatchcase(n, pattern)}
    if inside and not chosen:
        message = f"no value inside has a name like '{pattern}'"
        help = did_you_mean(pattern, inside) or f"the names are {', '.join(list(inside)[:6])}"
        raise DiagnosticError(Diagnostic(NOTHING_TO_COMPARE, message, help=help))
    yield from zip(chosen, side.run(inputs, options, PIECE_BYTES).values(list(chosen.values())), strict=True)


class _Expected(NamedTuple):
    """An expectation: the name in the program, the stored name, the value in the program where it is one."""

    name: str
    stored: str
    value: Value | None


def compare_with_stored(
    side: Side,
    inputs: Mapping[str, Array],
    stored: Mapping[str, Array],
    required: Requirements,
    options: EngineOptions,
    *,
    ran: Mapping[str, Array] | None = None,
    all_decide: bool = False,
    on_progress: Callable[[str], None] = lambda _: None,
) -> Comparison:
    """Runs a program on inputs and compares outputs and values inside with stored arrays. Given the outputs of a run
    (`ran`), compares only these.

    Raises: DiagnosticError (E0714 when no name is shared, and what running raises).
    """
    if ran is None:
        on_progress("running")
        ran = side.engine.prepare(side.module, side.function.symbol_name, options).run(inputs)
        inside = {n: v for n, v in side.values.items() if not is_constant(v)}
    else:
        inside = {}
    outputs = flat_values(ran)[0]
    known = {**dict.fromkeys(outputs), **inside, **{n: v for n, v in side.outputs.items() if n in outputs}}
    expected = [_Expected(own, name, known[own]) for own, name in same_names(known, stored)]
    if not expected:
        raise _nothing_shared(list(stored), list(known))
    inner = [e for e in expected if e.name not in outputs]
    position = {v: n for n, v in enumerate(v for op in side.function.body.operations for v in op.results)}
    inner.sort(key=lambda e: position.get(e.value, -1) if e.value is not None else -1)
    precision = precisions(side.function)
    differences: list[ValueDifference] = []
    run = side.run(inputs, options, PIECE_BYTES) if inner else None
    arrays = run.values([e.value for e in inner if e.value is not None]) if run is not None else iter(())
    for e, array in zip(inner, arrays, strict=True):
        differences.append(_difference(side, e, stored[e.stored], array, precision, required))
        on_progress(f"comparing values: {len(differences)} of {len(expected)}")
    for e in expected:
        if e.name in outputs:
            found = _difference(side, e, stored[e.stored], outputs[e.name], precision, required)
            differences.append(found.replaced(is_output=True))
    values = {e.name: e.value for e in expected if e.value is not None}
    wrong = {d.name for d in differences if not d.is_within}
    shared = set(values.values())
    first = roots(side.function, values, wrong) if inner else []
    by_name = {d.name: d for d in differences}
    used = {e.stored for e in expected}
    return Comparison(
        engines=(STORED, side.engine.name),
        function=side.source.symbol_name,
        values=tuple(differences),
        outputs=tuple([e.name for e in expected if e.name in outputs]),
        only_first=tuple([name for name in stored if name not in used]),
        only_second=tuple([name for name in outputs if name not in by_name]),
        divergences=tuple([single_divergence(side, values[n], by_name[n], shared) for n in first]),
        peak_values=() if run is None else (run.peak.values,),
        peak_bytes=() if run is None else (run.peak.size_bytes,),
        all_decide=all_decide or not any(d.is_output for d in differences),
    )


def compare_stored(
    expected: Mapping[str, Array], actual: Mapping[str, Array], required: Requirements, engines: tuple[str, str]
) -> Comparison:
    """Compares arrays by name; all that both sides have decide. Raises: DiagnosticError (E0714)."""
    pairs = list(same_names(expected, actual))
    if not pairs:
        raise _nothing_shared(list(expected), list(actual))
    differences: list[ValueDifference] = []
    for name, other in pairs:
        precision = _stored_precision(expected[name]).joined(_stored_precision(actual[other]))
        tolerance = required.of(name, precision.rtol, precision.largest)
        differences.append(value_difference(name, ("", ""), expected[name], actual[other], tolerance))
    names = {name for name, _ in pairs}, {other for _, other in pairs}
    return Comparison(
        engines=engines,
        function="",
        values=tuple(differences),
        outputs=(),
        only_first=tuple([name for name in expected if name not in names[0]]),
        only_second=tuple([name for name in actual if name not in names[1]]),
        divergences=(),
        peak_values=(),
        peak_bytes=(),
        all_decide=True,
    )


def _difference(
    side: Side,
    expected: _Expected,
    stored: Array,
    array: Array,
    precision: Mapping[Value, Precision],
    required: Requirements,
) -> ValueDifference:
    own = EXACT if expected.value is None else precision.get(expected.value, EXACT)
    own = own.joined(_stored_precision(stored)).joined(_stored_precision(np.asarray(array)))
    tolerance = required.of(expected.name, own.rtol, own.largest)
    op_names = side.operation_name(expected.name), ""
    if expected.name in side.labelled:
        stored, array = probabilities(stored, array)
    found = value_difference(expected.name, op_names, stored, array, tolerance)
    return found.replaced(node=side.node_name(expected.name))


def _stored_precision(array: Array) -> Precision:
    name = name_of(array.dtype)
    is_float = name.startswith(("f", "bf", "complex"))
    return Precision(default_rtol([name]), overflow_limit(name)) if is_float else EXACT


def _nothing_shared(stored: list[str], known: list[str]) -> DiagnosticError:
    near = did_you_mean(stored[0], known) if stored else None
    return DiagnosticError(
        Diagnostic(
            NOTHING_TO_COMPARE,
            "no stored array has the name of an output or of a value inside",
            notes=[f"stored: {', '.join(stored[:6]) or 'nothing'}{', ...' if len(stored) > 6 else ''}"],
            help=near or f"the names are {', '.join(known[:6])}; save arrays under these names",
        )
    )
