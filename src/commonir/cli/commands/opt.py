"""`cir opt`: simplifies a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commonir.base import codes
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.cli.agreement import Agreement, differences, write_agreement
from commonir.cli.answer import Answer
from commonir.cli.help import BareOptions
from commonir.cli.legalizing import Legality, legality_options
from commonir.cli.options import (
    BARE_FUSE,
    CHECK,
    ExternalData,
    SizeType,
    completed,
    external_data_options,
    files_option,
    fuse_option,
    output_option,
    seed_option,
    time_limit_option,
    unregistered_option,
)
from commonir.cli.programs import program_argument
from commonir.cli.session import Session, verb
from commonir.cli.terminal import Terminal
from commonir.cli.writing import check_output, written_of
from commonir.reports.columns import Column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commonir import Module
    from commonir.api import Array, Dialect, Rewrite
    from commonir.cli.limits import TimeLeft
    from commonir.reports import JsonValue, OutputError, RuleReport, Summary


def _list_passes(context: click.Context, _: click.Parameter, is_requested: bool) -> None:
    """Writes the list of `--list-passes` and exits."""
    if not is_requested or context.resilient_parsing:
        return
    from commonir import api  # noqa: PLC0415  help needs none of it

    out = Terminal()
    for entry in api.passes():
        out.line(f"{entry.name}: {entry.summary}")
        for option in entry.options:
            out.line(f"  {option.name} ({option.type}): {option.summary}")
    context.exit()


class Opt(BareOptions):
    """`cir opt`, whose `--fuse` may stand alone."""

    bare = BARE_FUSE


@verb(
    "cir opt model.onnx -o small.onnx",
    "cir opt model.mlir -o out.mlir --passes canonicalize,cse",
    cls=Opt,
    opens=True,
)
@program_argument("M")
@output_option(renews="model")
@click.option(
    "--passes",
    metavar="NAMES",
    help="Run these passes instead of `simplify`. They are separated by commas, with options as in"
    " `sccp{max-fold-bytes=0}`.",
    shell_complete=completed("passes"),
)
@click.option(
    "--pass-pipeline",
    metavar="PIPELINE",
    help="Passes as mlir-opt writes them. For example `builtin.module(canonicalize,cse)`.",
)
@click.option(
    "--level",
    type=click.Choice(["exact", "fast"]),
    default="exact",
    help="With `fast`, results may be rounded differently, as by folding normalizations into convolutions.",
)
@fuse_option
@click.option(
    "--keep-initializer-inputs",
    "keep_inputs",
    is_flag=True,
    help="Keep inputs that have default values. Otherwise they become constants, as weights that are listed as inputs.",
)
@click.option(
    "--list-passes",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_passes,
    help="List the passes and their options. Those of installed packages are among them.",
)
@files_option(
    "--rules",
    "rule_files",
    help="Apply the rules of a TableGen file first. M may use operations that the file defines.",
)
@click.option(
    "--unambiguous",
    "is_unambiguous",
    is_flag=True,
    help="Refuse ambiguous rules. They match the same operation and are equally discriminating.",
)
@click.option(
    "--explain",
    "is_explained",
    is_flag=True,
    help="Show how often rules were applied, and why not. Also for the passes simplify and fold-all-reduce.",
)
@legality_options
@click.option(
    "--max-fold-bytes",
    "growth",
    metavar="SIZE",
    type=SizeType(),
    help="By how much folding may enlarge a constant, such as 64K. The default is 1 % of all constants, together.",
)
@click.option(
    "--check/--no-check", "is_checked", default=True, help="Compare the outputs with those of M before writing."
)
@unregistered_option
@seed_option("Seed of the inputs.", CHECK)
@time_limit_option(CHECK)
@external_data_options
def opt(
    session: Session,
    model: str,
    *,
    output: str,
    passes: str | None,
    pass_pipeline: str | None,
    level: str,
    fuse: str | None,
    keep_inputs: bool,
    rule_files: tuple[str, ...],
    is_unambiguous: bool,
    is_explained: bool,
    legality: Legality | None,
    growth: int | None,
    is_checked: bool,
    allow_unregistered: bool,
    seed: int,
    time_limit: float | None,
    external: ExternalData,
) -> Answer:
    """Write an equivalent program in the same format with fewer operations.

    Operations with constant inputs and known shapes are computed; no-ops, duplicates and unused operations are
    removed. Nothing is written if outputs differ. With --allow-unregistered, a program with unknown operations is
    written without comparing outputs. With --legalize-to, operations are replaced by those of other dialects instead,
    through any number of rules: those of --rules, references of operations, and conversions.
    """
    check_output(session, output)
    chosen = _passes(passes, pass_pipeline, is_default=level == "exact" and fuse is None and not keep_inputs)
    options = _Options(chosen, level, fuse, keep_inputs, growth)
    reports: list[RuleReport] = []
    rewrites, dialects = _rules(session, rule_files, unambiguous=is_unambiguous)
    with session.limited_time(time_limit) as left, session.progress(f"reading {model}") as progress:
        before = session.load(model, dialects=dialects)
        progress.step("simplifying" if legality is None else "legalizing")
        explanations = reports if is_explained else None
        after = _changed(session, before, options, rewrites, dialects, legality, explanations)
        if is_explained and not reports and legality is None:
            raise _nothing_to_explain()
        errors: tuple[OutputError, ...] | None = None
        if is_checked and not (allow_unregistered and _has_unknown(session, before)):
            progress.step("checking")
            errors = _check(session, before, after, seed, left, may_lack_inputs=chosen is None)
        progress.step(f"writing {output}")
        reported = _explained(legality, reports) if is_explained else {}
        reported["check"] = None if errors is None else [[error.to_json() for error in errors]]
        summaries = session.api.summarize(before), session.api.summarize(after)
        answer = written_of(session, after, summaries, output, external, **reported)

    def write(out: Terminal) -> None:
        answer.write(out)
        if output != "-":
            _write_counts(out, *summaries)
            if errors:
                write_agreement(Agreement([errors], session.api.engine_for_one_run(), None), "", out)
        _write_reports(session.err if output == "-" else out, reports, legality if is_explained else None)

    return Answer(answer.result, write, answer.status)


def _passes(passes: str | None, pipeline: str | None, *, is_default: bool) -> str | None:
    """Returns the passes that users name.

    Raises: click.UsageError for two forms of them, or if the options of the default passes are not their defaults.
    """
    if passes is not None and pipeline is not None:
        raise click.UsageError("--passes and --pass-pipeline cannot be combined")
    if (passes, pipeline) != (None, None) and not is_default:
        raise click.UsageError("--level, --fuse and --keep-initializer-inputs belong to the default passes")
    return passes if pipeline is None else pipeline


class _Options(NamedTuple):
    """Options of the optimization."""

    passes: str | None
    level: str
    fuse: str | None
    keep_inputs: bool
    growth: int | None


def _changed(
    session: Session,
    program: Module,
    options: _Options,
    rules: Sequence[Rewrite],
    dialects: Sequence[Dialect],
    legality: Legality | None,
    reports: list[RuleReport] | None,
) -> Module:
    """Returns a program with operations that are legal, by the rules and others, or else an optimized one; with passes
    that users name, both.
    """
    if legality is None:
        return _optimized(session, program, options, rules, reports)
    legalized = legality.legalized(session, program, rules, dialects)
    return legalized if options.passes is None else _optimized(session, legalized, options, (), reports)


def _optimized(
    session: Session,
    program: Module,
    options: _Options,
    rules: Sequence[Rewrite],
    reports: list[RuleReport] | None,
) -> Module:
    return session.api.optimize(
        program,
        passes=options.passes,
        level=options.level,
        fuse=options.fuse,
        keep_initializer_inputs=options.keep_inputs,
        rules=rules,
        max_growth_bytes=options.growth,
        reports=reports,
        findings=session.findings,
    )


def _explained(legality: Legality | None, reports: Sequence[RuleReport]) -> dict[str, JsonValue]:
    """Returns the reports on rules and paths for the JSON output."""
    paths: dict[str, JsonValue] = {} if legality is None else legality.to_json()
    return {"rules": [r.to_json() for r in reports], **paths}


def _has_unknown(session: Session, program: Module) -> bool:
    """Returns whether a program cannot run because of operations that nothing defines, and reports that."""
    names = session.api.unregistered(program)
    if names:
        message = f"outputs are not compared: nothing defines {', '.join(names)}"
        session.findings.extend([Diagnostic(codes.NOT_COMPARED, message)])
    return bool(names)


def _nothing_to_explain() -> click.UsageError:
    return click.UsageError("--explain needs rules (--rules FILE), the pass simplify, or the pass fold-all-reduce")


def _rules(session: Session, files: Sequence[str], *, unambiguous: bool) -> tuple[list[Rewrite], Sequence[Dialect]]:
    """Returns the rules of files, and the dialects of the session with those that the files define."""
    rewrites: list[Rewrite] = []
    dialects = session.dialects
    for path in files:
        loaded = session.api.load_rules(path, session.include_dirs, dialects=dialects, unambiguous=unambiguous)
        rewrites += loaded.rewrites
        dialects = loaded.dialects
    return rewrites, dialects


def _write_reports(out: Terminal, reports: Sequence[RuleReport], legality: Legality | None) -> None:
    for report in reports:
        times = "time" if report.applied == 1 else "times"
        noun = "rule" if report.place else "pass"
        out.line(f"{noun} {report.name}: applied {report.applied:,} {times}")
        for mismatch in report.mismatches:
            more = f" and {mismatch.count - 1:,} more" if mismatch.count > 1 else ""
            out.line(f"  not to {mismatch.where}{more}: {mismatch.reason}")
        if report.others:
            out.line(f"  nor to {report.others:,} more, for other reasons")
    if legality is not None:
        legality.write(out)


def _write_counts(out: Terminal, before: Summary, after: Summary) -> None:
    """Writes how many operations of each name there are before and afterwards."""
    counts = _counts(before), _counts(after)
    names = sorted({*counts[0], *counts[1]})
    rows = [(n, f"{counts[0].get(n, 0):,}", f"{counts[1].get(n, 0):,}") for n in names]
    columns = [Column("operation"), Column("before", is_number=True), Column("after", is_number=True)]
    out.table(columns, rows, indent=2)


def _counts(summary: Summary) -> dict[str, int]:
    total: dict[str, int] = {}
    for function in summary.functions:
        for name, number in function.operations.items():
            total[name] = total.get(name, 0) + number
    return total


def _check(
    session: Session, before: Module, after: Module, seed: int, left: TimeLeft, *, may_lack_inputs: bool
) -> tuple[OutputError, ...]:
    """Returns the errors of the outputs of all functions; inputs of the program before may be constants of the other
    one. Raises: OUTPUTS_DIFFER.
    """
    api = session.api
    rtol = api.default_rtol(api.summarize(before).element_types)
    notes: list[str] = []
    errors: list[OutputError] = []
    try:
        # Lowers each program once for all functions.
        programs = [api.lower(program, defer=True) for program in (before, after)]
        names = [api.runs(program) for program in programs]
        for name in [n for n in names[0] if n in names[1]]:
            inputs = api.random_inputs(programs[0], function=name, seed=seed)
            other = api.random_inputs(programs[1], function=name, seed=seed)
            is_part = may_lack_inputs and other.keys() <= inputs.keys()
            renamed = {k: inputs[k] for k in other} if is_part else _named_as(other, inputs)
            expected, result = (
                api.run(
                    program,
                    arrays,
                    function=name,
                    seed=seed,
                    options=api.engine_options(time_limit_seconds=left.seconds),
                )
                for program, arrays in zip(programs, (inputs, renamed), strict=True)
            )
            # Outputs of MLIR are named after the returned values, and these may have changed.
            named = dict(zip(expected, result.values(), strict=True))
            of = "" if name is None else f" of '{name}'"
            compared = api.compare_outputs(expected, named, rtol=rtol)
            errors += compared
            notes += differences(compared, of)
    except DiagnosticError as error:
        help = "--no-check writes the program without running it"
        raise DiagnosticError(*[d.advised(help) for d in error.diagnostics]) from None
    if notes:
        help = "write it with --no-check, and find the difference with `cir compare`"
        message = "the new program computes different outputs; nothing is written"
        raise DiagnosticError(Diagnostic(codes.OUTPUTS_DIFFER, message, notes=notes, help=help))
    return tuple(errors)


def _named_as(other: Mapping[str, Array], inputs: Mapping[str, Array]) -> Mapping[str, Array]:
    """Inputs by the names of others in their order, where they have other names: those of ARK are often numbers.

    Raises: OUTPUTS_DIFFER where there are not as many.
    """
    if other.keys() == inputs.keys():
        return inputs
    if len(other) != len(inputs):
        notes = (f"before: {', '.join(inputs) or 'none'}", f"after: {', '.join(other) or 'none'}")
        message = "the simplified program has other inputs; nothing is written"
        raise DiagnosticError(Diagnostic(codes.OUTPUTS_DIFFER, message, notes=notes))
    return dict(zip(other, inputs.values(), strict=True))


command = opt
