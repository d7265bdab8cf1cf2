"""Overlays: colour the operations of a drawing by a number of a report, such as time or error, or by its findings.

A report names values and nodes; operations are found by these names (`ir/lookup.py`), those of findings by their paths.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import ceil, inf, isfinite, log, log10
from pathlib import PurePath
from typing import Generic, TypeVar

from commonir.base.codes import WRONG_OVERLAY
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Severity
from commonir.base.text import format_bytes, format_seconds, plural
from commonir.base.tuples import NamedTuple
from commonir.inspection.viewing.styles import NO_FIGURE, SCALE
from commonir.ir.lookup import operations_by_name
from commonir.ir.module import Function, Module
from commonir.ir.operation import Operation
from commonir.ods import Op, traits
from commonir.ods.verify import path_of
from commonir.reports import Comparison, Profile, ProfileComparison, ProfileEntry, ValueDifference

Overlaid = Comparison | Profile | ProfileComparison | Sequence[Diagnostic]
"""Reports that colour a drawing."""

_DOUBLING, _DECADE = 2.0, 10.0
_HELP = "draw the model that the report is about"
_NO_ENTRIES = "`iree` times only the whole program; time it on `numpy` or `onnxruntime`"
_SEVERITIES = {Severity.NOTE: SCALE[1], Severity.WARNING: SCALE[3], Severity.ERROR: SCALE[6]}
_MOST_LISTED = 8
_LEAST_SHARE = 0.2
"""A report with a smaller share of names that the program has is about another; engines name what they fuse anew."""
_POSITION = re.compile(r"(node|operations)\[\d+\]")
"""The part of a path that is an operation."""
E = TypeVar("E")


class Highlight(NamedTuple):
    """The figures or findings of a report for an operation: the style of the colour, a short text, lines for the panel.

    `value` orders highlights; `frame` is the style of a frame around the box, "" for none.
    """

    style: str
    value: float
    text: str
    lines: tuple[str, ...] = ()
    frame: str = ""


class Overlay(NamedTuple):
    """Highlights of operations; `legend` has the label of each style, `combined` returns that of a folded group.

    `summary` says what it shows, `notes` what of the report has no place in the drawing.
    """

    title: str
    summary: str
    legend: Mapping[str, str]
    highlights: Mapping[Operation, Highlight]
    combined: Callable[[Sequence[Highlight]], Highlight]
    notes: tuple[str, ...] = ()


def overlays_of(reports: Sequence[Overlaid], modules: Sequence[Module]) -> tuple[Overlay, ...]:
    """Returns the overlays of reports on the programs of a drawing, of which the second is the other of a comparison.

    Raises: DiagnosticError (E0809) for a report that names nothing in the programs.
    """
    return tuple([overlay for report in reports for overlay in _overlays(report, modules)])


def _overlays(report: Overlaid, modules: Sequence[Module]) -> Iterator[Overlay]:
    match report:
        case Comparison():
            yield _errors(report, modules)
        case ProfileComparison():
            # An engine that compiles operations into each other times none.
            profiles = [profile for profile in report.profiles if profile.entries] or report.profiles
            yield from [_times(profile, modules) for profile in profiles]
            yield from [memory for profile in profiles for memory in _memory(profile, modules)][:1]
        case Profile():
            yield _times(report, modules)
            yield from _memory(report, modules)
        case _:
            yield _findings(report, modules)


# -- scales


class _Scale:
    """Steps whose upper bounds differ by a factor, up to a largest value."""

    def __init__(self, top: float, factor: float, text: Callable[[float], str]) -> None:
        self._top = top
        self._factor = factor
        self._text = text

    def style(self, value: float) -> str:
        """Returns the style of a value; those beyond the ends have that of the end."""
        if value >= self._top:
            return SCALE[-1]
        below = log(self._top / value, self._factor) if value > 0 else inf
        # A bound itself, which rounding may put on either side, is in the lower step.
        return SCALE[max(0, len(SCALE) - 1 - int(below + 1e-9))] if isfinite(below) else SCALE[0]

    def legend(self) -> dict[str, str]:
        """Returns the upper bound of each step."""
        return {style: self._text(self._top / self._factor**n) for n, style in enumerate(reversed(SCALE))}


# -- profiles


def _times(profile: Profile, modules: Sequence[Module]) -> Overlay:
    places = _profiled(profile, modules)
    found = {op: sum([entry.seconds for entry in entries]) for op, entries in places.found.items()}
    scale = _Scale(max(found.values()), _DOUBLING, format_seconds)
    total = sum([e.seconds for e in profile.entries]) or 1.0

    def highlight(seconds: float, *lines: str) -> Highlight:
        return Highlight(scale.style(seconds), seconds, format_seconds(seconds), lines)

    def total_of(inner: Sequence[Highlight]) -> Highlight:
        return highlight(sum([each.value for each in inner]))

    def one(op: Operation) -> Highlight:
        share = f"{format_seconds(found[op])}, {found[op] / total:.1%} of all operations"
        return highlight(found[op], share, *[line for entry in places.found[op] for line in _rates(entry)])

    title = f"time on {profile.engine}"
    rest = sum([entry.seconds for entry in places.missing])
    slowest = max(found, key=lambda op: found[op])
    name = slowest.first_name or slowest.name
    highlights = {op: one(op) for op in found}
    return Overlay(
        title,
        f"slowest {name} with {format_seconds(found[slowest])}{_missing(places, rest / total)}",
        _legend(scale, highlights),
        highlights,
        total_of,
    )


def _rates(entry: ProfileEntry) -> Iterator[str]:
    if entry.flops and entry.seconds:
        yield f"{entry.flops / entry.seconds / 1e9:.3g} GFLOP/s"
    if entry.moved_bytes:
        yield f"{format_bytes(entry.moved_bytes)} moved"


def _memory(profile: Profile, modules: Sequence[Module]) -> Iterator[Overlay]:
    """Yields the overlay of the memory that values need at once, if the profile has it."""
    places = _profiled(profile, modules)
    found = {op: max([entry.live_bytes or 0 for entry in entries]) for op, entries in places.found.items()}
    if not any(found.values()):
        return
    scale = _Scale(max(found.values()), _DOUBLING, lambda size: format_bytes(round(size)))

    def highlight(size: float) -> Highlight:
        text = format_bytes(round(size))
        return Highlight(scale.style(size), size, text, (f"{text} of values needed at once when it ends",))

    def most_of(inner: Sequence[Highlight]) -> Highlight:
        return highlight(max([each.value for each in inner]))

    highlights = {op: highlight(size) for op, size in found.items()}
    summary = f"{format_bytes(max(found.values()))} at most"
    yield Overlay("memory at once", summary, _legend(scale, highlights), highlights, most_of)


def _profiled(profile: Profile, modules: Sequence[Module]) -> _Places[ProfileEntry]:
    return _places(
        profile.entries,
        modules,
        profile.function,
        lambda e, _: ((e.name, e.node), (e.operation,)),
        f"the profile of '{profile.function}' on {profile.engine}",
    )


# -- comparisons


def _errors(comparison: Comparison, modules: Sequence[Module]) -> Overlay:
    # In place of an engine, stored values have the path of their file.
    first, second = [PurePath(engine).name for engine in comparison.engines]
    places = _places(
        comparison.values,
        modules,
        comparison.function,
        lambda v, side: (
            (v.name, *((v.other_node, v.node) if side else (v.node, v.other_node))),
            (v.operation, v.other_operation),
        ),
        f"the comparison of {first} and {second}",
    )
    errors = [error for value in comparison.values if (error := _error(value)) and isfinite(error)]
    scale = _Scale(10.0 ** ceil(log10(max(errors, default=1e-6)) - 1e-9), _DECADE, _power_text)
    divergence = comparison.first_divergence
    path = {name: n for n, name in enumerate(divergence.path if divergence is not None else ())}

    def one(value: ValueDifference) -> Highlight:
        error = _error(value)
        lines = [*_error_lines(value)]
        frame = ""
        if value.name in path:
            frame = "onpath"
            lines.append(f"step {path[value.name] + 1} of {len(path)} from the first divergence to the output")
        if divergence is not None and value.name == divergence.name:
            frame = "differs"
            lines.insert(0, "first divergence" + (f": {divergence.cause.text}" if divergence.cause is not None else ""))
        style = NO_FIGURE if error is None else scale.style(error)
        return Highlight(style, -1.0 if error is None else error, _error_text(value, error), tuple(lines), frame)

    title = "relative error" if first == second else f"relative error, {second} against {first}"
    worst = f"largest {max(errors):.2g}" if errors else "all equal"
    where = "" if divergence is None else f", first divergence {divergence.name}"
    each = {op: [one(value) for value in values] for op, values in places.found.items()}
    highlights = {op: _worst(found) for op, found in each.items()}
    return Overlay(
        title,
        f"{worst}{where}{_missing(places)}",
        _legend(scale, highlights) | _frames(highlights),
        highlights,
        _worst,
    )


def _power_text(power: float) -> str:
    return f"{power:g}" if power >= 1e-3 else f"1e{round(log10(power))}"


def _error(value: ValueDifference) -> float | None:
    """Returns the root of the mean square of the error, relative to that of the value; None where none is known."""
    return None if value.snr is None or value.snr != value.snr else 10.0 ** (-value.snr / 20)


def _error_text(value: ValueDifference, error: float | None) -> str:
    number = "not compared" if error is None else f"error {error:.2g}" if error else "equal"
    return number if value.is_within else f"{number}, differs"


def _error_lines(value: ValueDifference) -> Iterator[str]:
    if value.absolute is not None:
        yield f"largest error {value.absolute:.3g}" + (f" at {list(value.at)}" if value.at else "")
    numbers = {"relative": value.relative, "rmse": value.rmse, "cosine": value.cosine, "SNR in dB": value.snr}
    yield ", ".join([f"{name} {number:.6g}" for name, number in numbers.items() if number is not None])
    if value.type != value.other_type:
        yield f"{value.type} against {value.other_type}"
    if not value.is_within:
        yield value.note or f"beyond the tolerance: {value.beyond:,} of {value.count:,} elements"


def _worst(inner: Sequence[Highlight]) -> Highlight:
    """Returns the largest error, with the frame of whichever has one."""
    frames = {each.frame for each in inner}
    return max(inner, key=lambda each: each.value)._replace(frame=min(frames - {""}, default=""))


# -- findings


def _findings(findings: Sequence[Diagnostic], modules: Sequence[Module]) -> Overlay:
    paths: dict[str, Operation] = {}
    for module in modules:
        for op in module.nested():
            # The end of a function may have no path of its own.
            paths.setdefault(path_of(op), op)
    placed: dict[Operation, list[Diagnostic]] = {}
    elsewhere: list[Diagnostic] = []
    for finding in findings:
        boxes = _boxes_at(finding.where, paths)
        for op in boxes:
            placed.setdefault(op, []).append(finding)
        if not boxes:
            elsewhere.append(finding)
    lost = [finding.where for finding in elsewhere if _POSITION.search(finding.where)]
    if lost and not placed:
        raise _not_about(f"the report of {plural(len(findings), 'finding')}", lost)
    highlights = {op: _highlight_of(found) for op, found in placed.items()}
    severities = {finding.severity for finding in findings}
    rest = len(elsewhere) - _MOST_LISTED
    return Overlay(
        "findings",
        _severities(findings) or "none",
        {style: severity.value for severity, style in _SEVERITIES.items() if severity in severities},
        highlights,
        _most_severe,
        (*map(_line_of, elsewhere[:_MOST_LISTED]), *([f"and {plural(rest, 'finding')} more"] if rest > 0 else [])),
    )


def _boxes_at(where: str, paths: Mapping[str, Operation]) -> list[Operation]:
    """Returns the operation at a path or around it, of a constant those that use it; none for a function."""
    while where and where not in paths:
        where = where.rpartition(".")[0]
    op = paths.get(where)
    if op is None or isinstance(op, Function):
        return []
    if isinstance(op, Op) and op.has_trait(traits.ConstantLike):
        return list(dict.fromkeys([user for result in op.results for user in result.users]))
    return [op]


def _line_of(finding: Diagnostic) -> str:
    return f"{finding.severity.value}[{finding.code.id}]: {finding.message}"


def _severities(findings: Sequence[Diagnostic]) -> str:
    counts = Counter([finding.severity for finding in findings])
    return ", ".join([plural(counts[s], s.value) for s in reversed(_SEVERITIES) if counts[s]])


def _highlight_of(findings: Sequence[Diagnostic]) -> Highlight:
    ranks = [*_SEVERITIES]
    worst = max(findings, key=lambda f: ranks.index(f.severity))
    text = f"{worst.severity.value} {worst.code.id}" if len(findings) == 1 else _severities(findings)
    lines = [line for finding in findings for line in (_line_of(finding), finding.advice) if line]
    return Highlight(_SEVERITIES[worst.severity], ranks.index(worst.severity), text, tuple(lines))


def _most_severe(inner: Sequence[Highlight]) -> Highlight:
    worst = max(inner, key=lambda f: f.value)
    text = worst.text if len(inner) == 1 else f"findings at {len(inner):,} operations"
    return worst._replace(text=text, lines=())


# -- places


class _Places(NamedTuple, Generic[E]):
    """The entries of a report by the operations that they are about, and those that are about none."""

    found: Mapping[Operation, Sequence[E]]
    missing: Sequence[E]


def _places(
    entries: Sequence[E],
    modules: Sequence[Module],
    function: str,
    names: Callable[[E, int], tuple[Sequence[str], Sequence[str]]],
    what: str,
) -> _Places[E]:
    """Returns the entries of a report by the operations of the programs that they are about.

    `names` returns the names of an entry in the program of a number, and the kinds of operation that it is said to be.
    Raises: DiagnosticError (E0809) when there are none, or nearly all are about others.
    """
    if not entries:
        raise DiagnosticError(Diagnostic(WRONG_OVERLAY, f"{what} has no operations", help=_NO_ENTRIES))
    found: dict[Operation, list[E]] = {}
    missing = dict(enumerate(entries))
    for side, module in enumerate(modules):
        functions = module.defined_functions
        called = [functions[function]] if function in functions else list(functions.values())
        known = {name: op for f in called for name, op in operations_by_name(f).items()}
        for n, entry in enumerate(entries):
            texts, kinds = names(entry, side)
            op = next((known[text] for text in texts if text in known), None)
            if op is not None and _may_be(op, kinds):
                found.setdefault(op, []).append(entry)
                missing.pop(n, None)
    if len(entries) - len(missing) < max(1, _LEAST_SHARE * len(entries)):
        shown = [text for entry in missing.values() for text in names(entry, 0)[0] if text]
        raise _not_about(what, shown)
    return _Places(found, list(missing.values()))


def _may_be(op: Operation, kinds: Sequence[str]) -> bool:
    """Returns whether an operation is of one of some kinds, or of another dialect than all of these."""
    dialect = op.name.partition(".")[0]
    return op.name in kinds or all(kind.partition(".")[0] != dialect for kind in kinds)


def _not_about(what: str, names: Sequence[str]) -> DiagnosticError:
    example = f", such as {names[0]}" if names else ""
    message = f"{what} names operations that this program does not have{example}"
    return DiagnosticError(Diagnostic(WRONG_OVERLAY, message, help=_HELP))


def _missing(places: _Places[E], share: float | None = None) -> str:
    """Returns how many entries have no place, and what share of the time they take."""
    if not places.missing:
        return ""
    return f"; {plural(len(places.missing), 'value')} not drawn" + (f", {share:.0%} of the time" if share else "")


def _legend(scale: _Scale, highlights: Mapping[Operation, Highlight]) -> dict[str, str]:
    used = {highlight.style for highlight in highlights.values()}
    lowest = min([n for n, style in enumerate(SCALE) if style in used], default=0)
    bounds = scale.legend()
    steps = {style: bounds[style] for style in SCALE[lowest:]}
    first = next(iter(steps))
    return {**steps, first: f"up to {steps[first]}", NO_FIGURE: "no figure"}


def _frames(highlights: Mapping[Operation, Highlight]) -> dict[str, str]:
    labels = {"differs": "first divergence", "onpath": "on the path to the output"}
    used = {highlight.frame for highlight in highlights.values()}
    return {style: label for style, label in labels.items() if style in used}
