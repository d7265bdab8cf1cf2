"""`cir compare`: compares two programs, or one program on two engines, value by value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from commonir.base import codes
from commonir.base.diagnostics import ExitStatus
from commonir.base.text import plural
from commonir.base.tuples import NamedTuple
from commonir.cli.answer import Answer
from commonir.cli.choices import parse_dims
from commonir.cli.columns import NODE, Column
from commonir.cli.options import (
    PATH,
    collected_as,
    dims_option,
    function_option,
    resize_option,
    seed_option,
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
    dims: tuple[str, ...]
    is_resizing: bool
    time_limit: float | None
    is_complete: bool


@verb(opens=True)
@click.argument("models", metavar="A [B] [INPUT]...", nargs=-1, required=True)
@click.option(
    "--engines",
    metavar="NAME[,NAME]",
    help="The engines of A and B, or the two engines for a single program.  [default: numpy for two programs, "
    "reference,numpy for one]",
)
@function_option("Compare this function")
@tolerance_options()
@click.option(
    "--metric",
    type=click.Choice(_METRICS),
    default="close",
    show_default=True,
    help="The measure that decides whether two values agree.",
)
@click.option("--repro", metavar="DIR", type=PATH, help="Save the first divergence as a small reproducer.")
@seed_option()
@dims_option()
@resize_option
@time_limit_option
@click.option("--all", "is_complete", is_flag=True, help="List all values instead of the worst.")
@collected_as(CompareOptions)
def compare(session: Session, models: tuple[str, ...], *, options: CompareOptions) -> Answer:
    """Run two programs, or one on two engines, on the same inputs and compare value by value.

    Values are matched by name; conversions preserve names. The first diverging operation is the first, in program
    order, whose operands agree and whose result does not. Loops and branches are compared by their results. Exit
    status 1 when a value differs.

    The default of --rtol follows from the narrowest floating-point type of the computation; the default of --atol is
    this tolerance times the largest magnitude of the value. NaN equals NaN, and an infinity equals an infinity of the
    same sign. Integers, bools and strings must be equal.

    \b
    INPUT is as in `cir run`:
      NAME=@file.npy, NAME=@file.npz:KEY, @file.npz, NAME=@photo.png,
      NAME=@file.json, @file.json, NAME=f32[1,3,8,8]:randn, NAME=3, NAME=true,
      NAME=[1,2]
    """
    paths = [text for text in models if not _is_input(text)]
    if not 1 <= len(paths) <= 2:
        raise click.UsageError(f"expected one or two models, found {len(paths)}")
    names = _engine_names(options.engines, len(paths))
    dims = parse_dims(options.dims, "--set")
    with session.progress(f"reading {paths[0]}") as progress:
        texts = [text for text in models if _is_input(text)]
        called = [session.called(session.load(path), options.function, texts) for path in paths]
        programs, (_, function, texts) = [program for program, _, _ in called], called[0]
        inputs = session.inputs(programs[0], texts, function=function, seed=options.seed, resize=options.is_resizing)
        comparison = session.api.compare(
            programs[0],
            programs[1] if len(programs) > 1 else None,
            inputs,
            engines=names,
            function=function,
            seed=options.seed,
            dims=dims,
            rtol=options.rtol,
            atol=options.atol,
            metric=options.metric,
            repro=options.repro,
            options=session.api.engine_options(time_limit_seconds=options.time_limit),
            findings=session.findings,
            on_progress=progress.step,
        )
    if not comparison.is_within:
        session.findings.add(codes.OUTPUTS_DIFFER, _difference(comparison), file=paths[-1])
    first = comparison.first_divergence
    result = {"first_divergence": first and first.to_json(), **comparison.to_json()}
    status = ExitStatus.YES if comparison.is_within else ExitStatus.NO
    return Answer(result, lambda out: _write(comparison, out, is_complete=options.is_complete), status)


def _difference(comparison: Comparison) -> str:
    count = sum(not value.is_within for value in comparison.values)
    if count:
        return f"{plural(count, 'value')} of {len(comparison.values)} differ beyond the tolerance"
    wrong = [value.name for value in comparison.whole if not value.is_within]
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


def _write(comparison: Comparison, out: Terminal, *, is_complete: bool) -> None:
    differing = [value for value in comparison.values if not value.is_within]
    counts = f"{plural(len(comparison.values), 'value')} compared, {len(differing)} differ"
    out.line(f"{comparison.engines[0]} against {comparison.engines[1]}: {counts}", Style.STRONG)
    for names, side in ((comparison.only_first, "first"), (comparison.only_second, "second")):
        if names:
            out.line(f"only in the {side}: {plural(len(names), 'value')} ({_listed(names)})")
    shown = comparison.values if is_complete else sorted(comparison.values, key=_severity, reverse=True)[:_SHOWN]
    if len(shown) < len(comparison.values):
        out.line("the worst:")
    numbers = [Column(title, is_number=True) for title in ("largest error", "relative", "rmse", "cosine", "allowed")]
    columns = [Column("value"), NODE, Column("operation"), Column("type"), *numbers, Column("")]
    out.table(columns, [_row(value) for value in shown], indent=2)
    fused = [value for value in comparison.whole if not value.is_within]
    if fused:
        out.line("all values agree when the programs run in pieces; when they run as a whole:", Style.STRONG)
        out.table(columns, [_row(value) for value in fused], indent=2)
    if comparison.first_divergence is not None:
        _write_divergence(comparison.first_divergence, out)
        others = [divergence.name for divergence in comparison.divergences[1:]]
        if others:
            out.line(f"{plural(len(others), 'further divergence')} with operands that agree: {_listed(others)}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMES_SHOWN]) + (", ..." if len(names) > _NAMES_SHOWN else "")


def _write_divergence(divergence: Divergence, out: Terminal) -> None:
    node = f" of node '{divergence.node}'" if divergence.node else ""
    out.line(f"first divergence: {divergence.operation} '{divergence.name}'{node}", Style.STRONG)
    out.line(f"  computed from {_listed(divergence.inputs) or 'constants only'}, which agree")
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
        value.node or value.other_node,
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
