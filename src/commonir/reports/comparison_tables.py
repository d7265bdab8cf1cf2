"""Writes comparisons as text: what decides, the worst values, and where the programs first diverge."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from commonir.base.text import plural
from commonir.reports.columns import NODE, Column, type_text
from commonir.reports.layout import ReportWriter, Style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonir.reports import Comparison, Divergence, ValueDifference

_SHOWN = 10
_NAMES_SHOWN = 6
_PATH_SHOWN = 12
_PATH_COLUMNS = [
    Column("value"),
    Column("operation"),
    *[Column(title, is_number=True) for title in ("largest error", "relative", "SNR dB")],
    Column(""),
]


def difference_of(comparison: Comparison) -> str:
    """Returns the message for programs that do not agree."""
    deciding = [value for value in comparison.values if comparison.all_decide or value.is_output]
    wrong = [value for value in deciding if not value.is_within]
    if wrong:
        kind = "value" if comparison.all_decide else "output"
        return f"{_share(len(wrong), len(deciding), kind)} beyond the tolerance: {_listed([v.name for v in wrong])}"
    names = [value.name for value in comparison.whole if not value.is_within]
    return f"outputs differ when the programs run as a whole: {_listed(names)}"


def write_comparison(comparison: Comparison, out: ReportWriter, *, is_complete: bool) -> None:
    """Writes a comparison: outputs first, then the worst inner values, all of them if it shall be complete."""
    outputs = [value for value in comparison.values if value.is_output]
    inner = [value for value in comparison.values if not value.is_output]
    sections = ((outputs, "output"), (inner, "inner value" if outputs else "value"))
    parts = [_verdict_on(values, title) for values, title in sections if values]
    out.line(f"{comparison.engines[0]} against {comparison.engines[1]}: {', '.join(parts)}", Style.STRONG)
    for names, side in ((comparison.only_first, "first"), (comparison.only_second, "second")):
        if names:
            out.line(f"only in the {side}: {plural(len(names), 'value')} ({_listed(names)})")
    for values, title in sections:
        shown = values if is_complete else sorted(values, key=_severity, reverse=True)[:_SHOWN]
        if len(shown) < len(values):
            out.line(f"the worst of {len(values):,} {title}s:")
        if shown:
            out.table(_columns(title), [_row(value) for value in shown], indent=2)
    if comparison.is_within and not all(value.is_within for value in inner):
        out.line("the outputs decide; with `--values all` the inner values do, too")
    fused = [value for value in comparison.whole if not value.is_within]
    if fused:
        out.line("all values agree when the programs run in pieces; when they run as a whole:", Style.STRONG)
        out.table(_columns("output"), [_row(value) for value in fused], indent=2)
    if comparison.first_divergence is not None:
        write_divergence(comparison, comparison.first_divergence, out)
        others = [divergence.name for divergence in comparison.divergences[1:]]
        if others:
            out.line(f"{plural(len(others), 'further divergence')} with operands that agree: {_listed(others)}")


def _verdict_on(values: Sequence[ValueDifference], kind: str) -> str:
    wrong = sum(not value.is_within for value in values)
    if wrong:
        return _share(wrong, len(values), kind)
    return f"all {len(values):,} {kind}s agree" if len(values) > 1 else f"1 {kind} agrees"


def _share(wrong: int, count: int, kind: str) -> str:
    if count == 1:
        return f"the {kind} differs"
    if wrong == count:
        return f"all {count:,} {kind}s differ"
    return f"{wrong:,} of {count:,} {kind}s {'differs' if wrong == 1 else 'differ'}"


def _columns(title: str) -> list[Column]:
    numbers = [Column(title, is_number=True) for title in ("largest error", "relative", "SNR dB", "cosine", "allowed")]
    return [Column(title), NODE, Column("operation", is_optional=True), Column("type"), *numbers, Column("")]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMES_SHOWN]) + (", ..." if len(names) > _NAMES_SHOWN else "")


def write_divergence(comparison: Comparison, divergence: Divergence, out: ReportWriter) -> None:
    """Writes where two programs first diverge, its likely cause, and the error on the way to an output."""
    node = f" of node '{divergence.node}'" if divergence.node else ""
    out.line(f"first divergence: {divergence.operation} '{divergence.name}'{node}", Style.STRONG)
    by_name = {value.name: value for value in comparison.values}
    operands = [_operand(name, by_name.get(name)) for name in divergence.inputs]
    agree = "which agrees" if len(operands) == 1 else "which agree"
    out.line(f"  computed from {_listed(operands)}, {agree}" if operands else "  computed from constants only")
    if len(divergence.operations) > 1:
        out.line(f"  between them: {_listed(divergence.operations)}")
    if divergence.operations != divergence.other_operations:
        out.line(f"  in the other program: {_listed(divergence.other_operations)}")
    if divergence.constants:
        out.line(f"  constants that differ: {_listed(divergence.constants)}")
    match divergence.is_isolated:
        case True:
            out.line("  it also differs in isolation, on the same inputs")
        case False:
            out.line("  in isolation it agrees: it amplifies small differences of its operands")
        case None:
            pass
    if divergence.cause is not None:
        out.line(f"  likely cause ({divergence.cause.kind}): {divergence.cause.text}")
    elif divergence.path:
        out.line("  none of the known causes fits the numbers")
    path = [by_name[name] for name in divergence.path if name in by_name]
    if len(path) > 1:
        out.line("  the error on the way to the output:")
        shown = path if len(path) <= _PATH_SHOWN else [*path[: _PATH_SHOWN // 2], *path[-_PATH_SHOWN // 2 :]]
        out.table(_PATH_COLUMNS, [_path_row(value) for value in shown], indent=4)
        if len(shown) < len(path):
            out.line(f"    {len(path) - len(shown):,} values in the middle are left out")
    if divergence.folder is not None:
        out.line(f"  reproducer: {divergence.folder}")


def _operand(name: str, value: ValueDifference | None) -> str:
    """Returns the name of an operand with its error, if it has one."""
    return f"{name} (error {value.absolute:.2g})" if value is not None and value.absolute else name


def _path_row(value: ValueDifference) -> tuple[str, ...]:
    numbers = ("" if n is None else f"{n:.2g}" for n in (value.absolute, value.relative))
    snr = "" if value.snr is None else f"{value.snr:.1f}"
    return (value.name, value.operation, *numbers, snr, "" if value.is_within else "differs")


def _severity(value: ValueDifference) -> tuple[bool, float]:
    if value.absolute is None:
        return not value.is_within, math.inf
    allowed = value.atol or value.rtol
    return not value.is_within, value.absolute / allowed if allowed else value.absolute


def _row(value: ValueDifference) -> tuple[str, ...]:
    types = ", ".join(dict.fromkeys([type_text(value.type), type_text(value.other_type)]))
    snr = "" if value.snr is None else f"{value.snr:.1f}"
    cosine = "" if value.cosine is None or math.isnan(value.cosine) else f"{value.cosine:.6g}"
    return (
        value.name,
        value.node or value.other_node,
        value.operation,
        types,
        *("" if n is None else f"{n:.2g}" for n in (value.absolute, value.relative)),
        snr,
        cosine,
        _allowed(value),
        _verdict(value),
    )


def _allowed(value: ValueDifference) -> str:
    is_float = value.type.startswith(("f", "bf", "complex"))
    parts = [f"{value.atol:.2g}"] if value.atol else []
    return " + ".join([*parts, f"{value.rtol:.2g} |y|"] if value.rtol and is_float else parts) or "none"


def _verdict(value: ValueDifference) -> str:
    if value.is_within:
        return f"ok, {plural(value.overflows, 'overflow')}" if value.overflows else "ok"
    elements = f": {value.beyond:,} of {value.count:,}" if value.beyond and value.count > 1 else ""
    at = f" at {list(value.at)}" if value.at else ""
    failed = "; ".join(reason for reason in value.failed if reason)
    return "differs" + at + (f": {value.note or failed}" if value.note or failed else elements)
