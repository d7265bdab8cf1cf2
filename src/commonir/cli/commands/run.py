"""`cir run`: runs a program on given or random inputs."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import click

import commonir
from commonir.base import codes
from commonir.base.diagnostics import ExitStatus
from commonir.base.text import plural
from commonir.base.tuples import NamedTuple
from commonir.cli.answer import Answer
from commonir.cli.choices import parse_dims
from commonir.cli.options import (
    ENGINES,
    OUTPUT,
    PATH,
    OutputPath,
    Tolerance,
    collected_as,
    completed,
    computing_options,
    dims_option,
    extern_option,
    function_option,
    memory_limit_option,
    repro_option,
    resize_option,
    seed_option,
    time_limit_option,
    tolerance_options,
)
from commonir.cli.programs import inputs_arguments
from commonir.cli.ranks import check_sharding, ranks_options
from commonir.cli.saving import Ran, check_suffixes, save_outputs, save_runs
from commonir.cli.session import Session, verb
from commonir.cli.stored_runs import run_stored, stored_model_of
from commonir.cli.terminal import Style, Terminal
from commonir.reports import Comparison
from commonir.reports.columns import Column, type_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonir.api import Array, Port, StoredModel
    from commonir.api.running import FastMath
    from commonir.cli.arrays import ArraySummary
    from commonir.cli.limits import TimeLeft
    from commonir.reports import JsonValue

_TOP_CLASSES = 5
_RANDOM_SHOWN = 12
_EXPECT = "With --expect"

Probabilities = Mapping[str, Mapping[str, float]]


class RunOptions(NamedTuple):
    """The options of `cir run`."""

    engine: str | None
    function: str | None
    seed: int
    dims: tuple[str, ...]
    is_resizing: bool
    sets: int | None
    steps: int | None
    state: str | None
    save_state: str | None
    ranks: int | None
    parallel: str | None
    externs: tuple[str, ...]
    threads: int
    fast_math: FastMath
    time_limit: float | None
    mem_limit: int | None
    save: str | None
    save_inputs: str | None
    save_all: str | None
    values: str
    expect: str | None
    atol: Tolerance
    rtol: Tolerance
    repro: str | None


@verb(
    "cir run model.onnx image=@image.npy --save outputs.npz",
    "cir run model.mlpackage image=@cat.png --resize",
    "cir run model.onnx x=f32[1,3,8,8]:randn --seed 1",
    opens=True,
)
@inputs_arguments
@click.option(
    "--engine",
    metavar="NAME",
    help="Run with this engine; `cir doctor` lists them. The default is numpy for a single run, and for --steps native"
    " where it is installed.",
    shell_complete=completed("engines"),
)
@function_option("Run this function")
@seed_option()
@dims_option()
@resize_option
@click.option(
    "--steps",
    metavar="N",
    type=click.IntRange(min=1),
    help="Run N times, keeping state. An input with an additional leading axis has one slice for each step; outputs "
    "are stacked in the same way.",
)
@click.option("--state", metavar="FILE", type=PATH, help="Read the initial states from this archive.")
@click.option(
    "--save-state",
    metavar="FILE",
    type=OutputPath(renews="state"),
    help="Write the final states to this archive. It may be that of --state.",
)
@ranks_options
@extern_option
@computing_options
@time_limit_option(ENGINES)
@memory_limit_option
@click.option(
    "--save",
    metavar="FILE",
    type=OUTPUT,
    help="Write the outputs to an .npz, .safetensors or .json file. JSON is that of polygraphy, for maps and the like"
    " values by name. Names of several sets are set0/NAME. An image output is written to a .png file; NAME=FILE.png"
    " selects the output.",
)
@click.option(
    "--save-inputs",
    metavar="FILE",
    type=OUTPUT,
    help="Write all inputs to such a file. An archive may be that of --save.",
)
@click.option(
    "--sets",
    metavar="N",
    type=click.IntRange(min=1),
    help="Run on N sets of random inputs. Files may also have several sets: set0/NAME, or those of polygraphy.",
)
@click.option("--save-all", metavar="FILE", type=OUTPUT, help="Write inputs, inner values and outputs to an archive.")
@click.option(
    "--values",
    metavar="GLOB",
    default="*",
    help="With --save-all: only inner values of these names.",
)
@click.option(
    "--expect",
    metavar="FILE",
    type=PATH,
    help="Compare the outputs with saved ones, on the inputs in FILE.",
)
@tolerance_options(_EXPECT)
@repro_option(_EXPECT)
@collected_as(RunOptions)
def run(session: Session, model: str, inputs: tuple[str, ...], *, options: RunOptions) -> Answer:
    """Run a program and summarize its outputs. Missing inputs have their default values, or seeded random values.

    \b
    INPUT is one of
      NAME=@file.npy               an array
      NAME=@file.npz:KEY           an array of an .npz or .safetensors archive
      @file.npz                    all arrays of an archive, by name
      NAME=@file.json, @file.json  a value, or the values of all inputs by name,
                                   also as polygraphy saves them
      NAME=@photo.png              a PNG or JPEG image, for an image input
      NAME=@photo.png:FORM         the same for a tensor, (pixel*scale-mean)/std:
                                   nchw,rgb,scale=1/255,mean=0.5/0.4/0.4,std=0.2
                                   with nhwc, chw, hwc, hw; bgr, gray; resize,
                                   resize=WIDTHxHEIGHT
      NAME=f32[1,3,8,8]:randn      generated: randn, rand, zeros, ones, iota,
                                   randint(low,high) or a number
      NAME=3, NAME=-1.5, NAME=true the value of a scalar input
      NAME=[1,2], NAME={"a":1}     a value as JSON: arrays for tensors, lists and
                                   tuples, objects for maps

    A program of ranks may be named by a folder, by the file of one rank, or by the files of all.

    For a Common IR file, --function also takes a function that it declares or imports, by its name or by
    domain.library.name. INPUT can then also be the value of an attribute of this function: NAME=3, NAME=[1,2] or
    NAME=text.
    """
    check_sharding(options.ranks, options.parallel)
    check_suffixes(options)
    _check_reproducible(options)
    stored = stored_model_of(session, model, options)
    answer = None if stored is None else _answer_of_stored(session, stored, inputs, options)
    if answer is not None:
        return answer
    # Processes that run together report together who waits for whom, which takes longer than a watch would wait.
    is_watched = not session.api.runs_together(options.engine)
    with (
        session.limited_memory(options.mem_limit),
        session.limited_time(options.time_limit, is_watched=is_watched) as left,
    ):
        return _run_all(session, model, inputs, options, left, stored)


def _answer_of_stored(
    session: Session, stored: StoredModel, inputs: tuple[str, ...], options: RunOptions
) -> Answer | None:
    """Runs the stored program of a model; None for what needs the model."""
    ran = run_stored(session, stored, inputs, options)
    if ran is None:
        return None
    saved: dict[str, str] = {}
    if options.save is not None:
        saved["outputs"] = options.save
        save_outputs(session, options.save, ran.outputs, {})
    result = _Result(
        outputs=_summaries(session, ran.outputs),
        random=_summaries(session, {} if inputs else ran.inputs),
        seed=options.seed,
        saved=saved,
    )
    return Answer(result.to_json(), result.write, ExitStatus.YES)


def _run_all(
    session: Session,
    model: str,
    inputs: tuple[str, ...],
    options: RunOptions,
    left: TimeLeft,
    stored_model: StoredModel | None,
) -> Answer:
    """Runs a program on all sets of inputs."""
    stored = session.stored
    expected = [()] if options.expect is None else [(run,) for run in stored.read_stored(options.expect)]
    api, arrays = session.api, session.arrays
    with session.progress(f"reading {model}") as progress, api.together(options.engine) as is_reporting:
        source = session.with_externs(session.load(model), options.externs)
        program, function, texts = session.called(source, options.function, inputs)
        if program is not source or len(session.findings):
            # Findings are reported each time.
            stored_model = None
        sets = session.input_sets(program, texts, function=function, seed=options.seed, resize=options.is_resizing)
        given: list[Mapping[str, Array]] = [
            {**api.stored_inputs(program, with_run, function=function), **known} if with_run else known
            for _, with_run, known in stored.of_each_set(expected, sets)
        ]
        given *= _count_of_sets(options, len(given))
        dims = parse_dims(options.dims, "--set")
        initial: Mapping[str, Array] = (
            {} if options.state is None else arrays.parse_inputs([f"@{options.state}"], seed=options.seed)
        )
        progress.step(f"running {model}")
        runs = [
            _run(
                session,
                program,
                function,
                known,
                options.seed + n,
                dims,
                commonir.State(initial),
                options,
                left,
                stored_model,
            )
            for n, known in enumerate(given)
        ]
    if not is_reporting:
        # Another process writes the answer.
        raise click.exceptions.Exit(0)
    if options.steps is None:
        session.findings.extend(
            d.located(file=model) for ran in runs for d in api.shape_mismatches(program, ran.outputs, function=function)
        )
    return _answer(session, runs, options, [run.values for part in expected for run in part])


def _run(
    session: Session,
    program: commonir.Module,
    function: str | None,
    inputs: Mapping[str, Array],
    seed: int,
    dims: Mapping[str, int],
    state: commonir.State,
    options: RunOptions,
    left: TimeLeft,
    stored: StoredModel | None,
) -> Ran:
    """Runs a program as the options say."""
    api = session.api
    ran = api.run_steps(
        program,
        inputs,
        steps=options.steps,
        engine=options.engine,
        function=function,
        seed=seed,
        dims=dims,
        state=state,
        options=api.engine_options(
            threads=options.threads,
            memory_limit_bytes=options.mem_limit,
            time_limit_seconds=left.seconds,
            fast_math=options.fast_math,
        ),
        ranks=options.ranks,
        parallel=options.parallel,
        findings=session.findings,
        stored=stored if stored is not None and (stored.compiles or options.steps is not None) else None,
    )
    return Ran(program, function, inputs, ran.inputs, ran.outputs, state, ran.engine)


def _count_of_sets(options: RunOptions, stored: int) -> int:
    """Returns how many sets of inputs to draw for each of those in files.

    Raises: UsageError for options that do not go with several sets, each of which runs on its own.
    """
    if options.sets is not None and (stored > 1 or options.expect is not None):
        raise click.UsageError("'--sets' draws sets of inputs, and these are stored")
    count = stored * (options.sets or 1)
    for name, value in {"--steps": options.steps, "--save-state": options.save_state}.items():
        if count > 1 and value is not None:
            raise click.UsageError(f"'{name}' takes one set of inputs, and there are {count}")
    return options.sets or 1


def _answer(
    session: Session, runs: Sequence[Ran], options: RunOptions, expected: Sequence[Mapping[str, Array]]
) -> Answer:
    """Saves outputs and states as the options say, compares outputs, and returns the answer of runs on one set of
    inputs, or on several.
    """
    api, numbered = session.api, session.stored.numbered
    program, function = runs[0].program, runs[0].function
    ports = api.output_ports(program, function=function)
    flat = [api.flat_arrays(program, ran.outputs, function=function) for ran in runs]
    outputs = [arrays for arrays, _ in flat]
    saved = save_runs(session, runs, outputs, options)
    shown = [_random_inputs(session, ran) for ran in runs]
    comparison = None
    if expected:
        parts = [
            _compared(session, ran, arrays, of_run, options)
            for ran, arrays, of_run in zip(runs, outputs, expected, strict=True)
        ]
        comparison = Comparison.of_sets(parts)
        comparison = comparison.replaced(engines=(options.expect, comparison.engines[1]))
        if not comparison.is_within:
            from commonir.reports.comparison_tables import difference_of  # noqa: PLC0415  few runs compare

            advice = "these inputs were random: give those that the saved outputs were computed from"
            help = advice if any(shown) else None
            session.findings.add(codes.OUTPUTS_DIFFER, difference_of(comparison), file=options.expect, help=help)
    others = [api.flat_arrays(program, drawn, function=function)[0] for drawn in shown]
    result = _Result(
        outputs=_summaries(session, numbered(outputs)),
        empty=list(numbered([dict.fromkeys(empty) for _, empty in flat])),
        probabilities={} if options.steps else numbered([_by_label(arrays, ports) for arrays in outputs]),
        states=_summaries(session, numbered([ran.state for ran in runs])),
        random=_summaries(session, numbered(others)),
        seed=options.seed,
        saved=saved,
        comparison=comparison,
        is_rounded=options.fast_math == "bf16",
    )
    is_within = comparison is None or comparison.is_within
    return Answer(result.to_json(), result.write, ExitStatus.YES if is_within else ExitStatus.NO)


def _random_inputs(session: Session, ran: Ran) -> Mapping[str, Array]:
    """Returns the inputs of a run that were drawn at random."""
    taken = session.api.input_ports(ran.program, function=ran.function)
    # `NAME` stands for the inputs of that name of all ranks.
    given = {name for name in ran.drawn if name in ran.given or (not taken and name.partition(".")[2] in ran.given)}
    return {n: a for n, a in ran.drawn.items() if n not in given and not (n in taken and taken[n].is_optional)}


def _check_reproducible(options: RunOptions) -> None:
    """Raises: UsageError for a reproducer of a run that nothing can be cut out of."""
    if options.repro is None:
        return
    if options.expect is None:
        raise click.UsageError("'--repro' is for '--expect'")
    if options.steps is not None or options.state is not None or options.ranks is not None:
        message = "'--repro' takes a single run from the initial states, without '--steps', '--state' and '--ranks'"
        raise click.UsageError(message)


def _compared(
    session: Session, ran: Ran, outputs: Mapping[str, Array], expected: Mapping[str, Array], options: RunOptions
) -> Comparison:
    """Returns the comparison of the outputs of a run with expected ones. If they differ, values inside are compared too
    for a reproducer.
    """
    api = session.api
    found = api.compare_run(
        ran.program,
        outputs,
        expected,
        engine=ran.engine,
        function=ran.function,
        rtol=options.rtol,
        atol=options.atol,
    )
    if found.is_within or options.repro is None:
        return found
    return api.compare(
        ran.program,
        expected,
        ran.drawn,
        engines=(ran.engine,),
        function=ran.function,
        seed=options.seed,
        rtol=options.rtol,
        atol=options.atol,
        repro=options.repro,
        findings=session.findings,
    )


def _summaries(session: Session, values: Mapping[str, Array]) -> list[ArraySummary]:
    return [session.arrays.summarize_array(name, array) for name, array in values.items()]


class _Result(NamedTuple):
    """The outputs of a run, and its random inputs."""

    outputs: Sequence[ArraySummary]
    random: Sequence[ArraySummary]
    seed: int
    saved: Mapping[str, str]
    """The files of what was saved."""
    empty: Sequence[str] = ()
    probabilities: Probabilities = MappingProxyType({})
    states: Sequence[ArraySummary] = ()
    comparison: Comparison | None = None
    is_rounded: bool = False
    """Whether products may be those of numbers in bfloat16."""

    def to_json(self) -> dict[str, JsonValue]:
        """Returns the result as JSON."""
        return {
            "outputs": [summary.to_json() for summary in self.outputs],
            "empty_outputs": list(self.empty),
            "probabilities": {name: dict(labels) for name, labels in self.probabilities.items()},
            "states": [summary.to_json() for summary in self.states],
            "random_inputs": [summary.to_json() for summary in self.random],
            "saved": self.saved.get("outputs"),
            "comparison": None if self.comparison is None else self.comparison.to_json(),
        }

    def write(self, out: Terminal) -> None:
        """Writes the result as text."""
        if self.random:
            from commonir.reports.rank_tables import by_name  # noqa: PLC0415  runs on given inputs start without it

            listed = by_name([(summary.name, summary.type) for summary in self.random])
            rest = len(listed) - _RANDOM_SHOWN
            if rest > 1:
                listed[_RANDOM_SHOWN:] = [f"and {rest} more (--save-inputs FILE writes them)"]
            out.line(f"random inputs (seed {self.seed}): {', '.join(listed)}")
        if self.is_rounded:
            out.line("products with constants are rounded to bfloat16, where the processor has them")
        _write_table("output", self.outputs, out)
        for name in self.empty:
            out.line(f"{name} is empty")
        _write_probabilities(self.probabilities, out)
        _write_states(self.states, out)
        for what, path in self.saved.items():
            out.line(f"{what} saved to {path}")
        if self.comparison is not None:
            from commonir.reports.comparison_tables import write_comparison  # noqa: PLC0415  few runs compare

            out.line()
            write_comparison(self.comparison, out, is_complete=False)


def _by_label(outputs: Mapping[str, Array], ports: Mapping[str, Port]) -> Probabilities:
    """Returns the probabilities of outputs with labels, by label."""
    return {
        name: {str(label): float(p) for label, p in zip(port.labels, outputs[name].reshape(-1), strict=False)}
        for name, port in ports.items()
        if port.labels and name in outputs
    }


def _write_states(states: Sequence[ArraySummary], out: Terminal) -> None:
    if states:
        out.line()
        _write_table("state", states, out)


def _write_table(title: str, summaries: Sequence[ArraySummary], out: Terminal) -> None:
    numbers = [Column(title, is_number=True) for title in ("min", "max", "mean")]
    columns = [Column(title), Column("type"), *numbers, Column("first values")]
    out.table(columns, [_row(summary) for summary in summaries])


def _write_probabilities(probabilities: Probabilities, out: Terminal) -> None:
    for name, labels in probabilities.items():
        best = sorted(labels.items(), key=lambda item: -item[1])[:_TOP_CLASSES]
        out.line()
        out.line(f"{name}, top {len(best)} of {plural(len(labels), 'class', 'classes')}", Style.STRONG)
        out.table([Column(""), Column("", is_number=True)], [(label, f"{p:.4f}") for label, p in best], indent=2)


def _row(summary: ArraySummary) -> tuple[str, ...]:
    first = ", ".join(_number(value) for value in summary.first)
    statistics = (summary.min, summary.max, summary.mean)
    counts = ((summary.nan_count, "nan"), (summary.inf_count, "inf"))
    odd = "".join(f"; {count:,} {name}" for count, name in counts if count)
    shown = type_text(summary.type)
    return (summary.name, shown, *("" if value is None else _number(value) for value in statistics), first + odd)


def _number(value: float | str) -> str:
    return f"{value:.5g}" if isinstance(value, float) else f"'{value}'" if isinstance(value, str) else f"{value}"


command = run
