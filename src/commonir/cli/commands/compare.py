"""`cir compare`: two programs, or one on two engines, value by value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from commonir.base import codes
from commonir.base.diagnostics import ExitStatus
from commonir.base.text import plural
from commonir.base.tuples import NamedTuple
from commonir.cli.answer import Answer
from commonir.cli.choices import parse_sizes
from commonir.cli.columns import Column
from commonir.cli.options import (
    PATH,
    collected_as,
    function_option,
    resize_option,
    seed_option,
    sizes_option,
    time_limit_option,
    tolerance_options,
)
from commonir.cli.session import Session, verb
from commonir.cli.terminal import Style, Terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonir.reports import Comparison, Divergence, ValueDifference

_METRICS = ("close", "max-abs", "max-rel", "rmse", "cosine")
_SHOWN = 10
_NAMES_SHOWN = 6


class CompareOptions(NamedTuple):
    """The options of `cir compare`."""

    engines: str | None
    function: str | None
    atol: float | None
    rtol: float | None
    metric: str
    repro: str | None
    seed: int
    sizes: tuple[str, ...]
    is_resizing: bool
    time_limit: float | None
    is_complete: bool


@verb(opens=True)
@click.argument("models", metavar="A [B] [INPUT]...", nargs=-1, required=True)
@click.option(
    "--engines",
    metavar="NAME[,NAME]",
    help="The engine of A and that of B; of one program alone, the two to compare.  [default: numpy for two programs, "
    "reference,numpy for one]",
)
@function_option("Compare this function")
@tolerance_options()
@click.option(
    "--metric",
    type=click.Choice(_METRICS),
    default="close",
    show_default=True,
    help="What decides whether two values agree.",
)
@click.option("--repro", metavar="DIR", type=PATH, help="Save the first divergence as a small reproducer.")
@seed_option()
@sizes_option()
@resize_option
@time_limit_option
@click.option("--all", "is_complete", is_flag=True, help="List every value instead of the worst.")
@collected_as(CompareOptions)
def compare(session: Session, models: tuple[str, ...], *, options: CompareOptions) -> Answer:
    """Run two programs, or one on two engines, on the same inputs and compare value by value.

    Values are matched by name, which conversions keep, and compared one after another in little memory. The first
    diverging operation is the first, in program order, whose operands agree and whose result does not. Values inside
    of loops and branches are compared by the results of the loop or branch. Exit status 1 when a value differs.

    Without --rtol the relative tolerance of a value follows from the narrowest floating-point type it is computed in,
    and without --atol the absolute one is that part of its largest magnitude. NaN equals NaN, an infinity one of the
    same sign. Integers, booleans and strings must be equal.

    \b
    INPUT is as in `cir run`:
      NAME=@file.npy, NAME=@file.npz:KEY, @file.npz, NAME=@photo.png,
      NAME=f32[1,3,8,8]:randn, NAME=3, NAME=true
    """
    paths = [text for text in models if not _is_input(text)]
    if not 1 <= len(paths) <= 2:
        raise click.UsageError(f"expected one or two models, found {len(paths)}")
    names = _engine_names(options.engines, len(paths))
    dimensions = parse_sizes(options.sizes, "--set")
    with session.progress(f"reading {paths[0]}") as progress:
        texts = [text for text in models if _is_input(text)]
        called = [session.called(session.load(path), options.function, texts) for path in paths]
        programs, (_, function, texts) = [program for program, _, _ in called], called[0]
        given = session.inputs(programs[0], texts, function=function, seed=options.seed, resize=options.is_resizing)
        found = session.api.compare(
            programs[0],
            programs[1] if len(programs) > 1 else None,
            given,
            engines=names,
            function=function,
            seed=options.seed,
            dims=dimensions,
            rtol=options.rtol,
            atol=options.atol,
            metric=options.metric,
            repro=options.repro,
            options=session.api.engine_options(time_limit_seconds=options.time_limit),
            findings=session.findings,
            tell=progress.step,
        )
    if not found.is_within:
        session.findings.add(codes.OUTPUTS_DIFFER, _what_differs(found), file=paths[-1])
    result = {"first_divergence": found.first_divergence and found.first_divergence.to_json(), **found.to_json()}
    status = ExitStatus.YES if found.is_within else ExitStatus.NO
    return Answer(result, lambda out: _write(found, out, is_complete=options.is_complete), status)


def _what_differs(found: Comparison) -> str:
    count = sum(not value.is_within for value in found.values)
    if count:
        return f"{plural(count, 'value')} of {len(found.values)} differ beyond the tolerance"
    wrong = [value.name for value in found.whole if not value.is_within]
    return f"outputs differ when the programs run as a whole: {_listed(wrong)}"


def _is_input(text: str) -> bool:
    return text.startswith("@") or "=" in text


def _engine_names(text: str | None, models: int) -> tuple[str, ...]:
    names = tuple([name.strip() for name in text.split(",")]) if text is not None else ()
    least = 2 if models == 1 else 1
    if text is not None and not least <= len(names) <= 2:
        expected = "two engines" if least > 1 else "one or two engines"
        raise click.UsageError(f"'--engines': expected {expected}, as in `--engines reference,onnxruntime`")
    return names


def _write(found: Comparison, out: Terminal, *, is_complete: bool) -> None:
    differing = [value for value in found.values if not value.is_within]
    counts = f"{plural(len(found.values), 'value')} compared, {len(differing)} differ"
    out.line(f"{found.engines[0]} against {found.engines[1]}: {counts}", Style.STRONG)
    for names, side in ((found.only_first, "first"), (found.only_second, "second")):
        if names:
            out.line(f"only in the {side}: {plural(len(names), 'value')} ({_listed(names)})")
    shown = found.values if is_complete else sorted(found.values, key=_severity, reverse=True)[:_SHOWN]
    if len(shown) < len(found.values):
        out.line("the worst:")
    numbers = [Column(title, is_number=True) for title in ("largest error", "relative", "rmse", "cosine", "allowed")]
    columns = [Column("value"), Column("operation"), Column("type"), *numbers, Column("")]
    out.table(columns, [_row(value) for value in shown], indent=2)
    fused = [value for value in found.whole if not value.is_within]
    if fused:
        out.line("all values agree in pieces; as a whole, where an engine computes operations together:", Style.STRONG)
        out.table(columns, [_row(value) for value in fused], indent=2)
    if found.first_divergence is not None:
        _write_divergence(found.first_divergence, out)
        others = [divergence.name for divergence in found.divergences[1:]]
        if others:
            out.line(f"{plural(len(others), 'further divergence')} with operands that agree: {_listed(others)}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMES_SHOWN]) + (", ..." if len(names) > _NAMES_SHOWN else "")


def _write_divergence(divergence: Divergence, out: Terminal) -> None:
    out.line(f"first divergence: {divergence.operation} '{divergence.name}'", Style.STRONG)
    out.line(f"  computed from {_listed(divergence.inputs) or 'constants alone'}, which agree")
    if len(divergence.operations) > 1:
        out.line(f"  between them: {_listed(divergence.operations)}")
    if divergence.operations != divergence.other_operations:
        out.line(f"  in the other program: {_listed(divergence.other_operations)}")
    if divergence.constants:
        out.line(f"  constants that differ: {_listed(divergence.constants)}")
    match divergence.is_isolated:
        case True:
            out.line("  it differs on its own too, on the same inputs")
        case False:
            out.line("  on its own it agrees: it amplifies small differences of its operands")
        case None:
            pass
    if divergence.folder is not None:
        out.line(f"  reproducer: {divergence.folder}")


def _severity(value: ValueDifference) -> tuple[bool, float]:
    if value.absolute is None:
        return not value.is_within, math.inf
    allowed = value.atol or value.rtol
    return not value.is_within, value.absolute / allowed if allowed else value.absolute


def _row(value: ValueDifference) -> tuple[str, ...]:
    types = value.type if value.type == value.other_type else f"{value.type}, {value.other_type}"
    numbers = (value.absolute, value.relative, value.rmse)
    cosine = "" if value.cosine is None else f"{value.cosine:.6g}"
    allowed = f"{value.atol:.2g} + {value.rtol:.2g} |y|" if value.atol else "none"
    return (
        value.name,
        value.operation,
        types,
        *("" if n is None else f"{n:.2g}" for n in numbers),
        cosine,
        allowed,
        _verdict(value),
    )


def _verdict(value: ValueDifference) -> str:
    if value.is_within:
        return "ok"
    elements = f": {value.beyond:,} of {value.count:,}" if value.beyond and value.count > 1 else ""
    at = f" at {list(value.at)}" if value.at else ""
    return "differs" + at + (f": {value.note}" if value.note else elements)


command = compare
