"""`cir run`: runs a program on given or random inputs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

import commonir
from commonir.base import codes
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.suggestions import did_you_mean
from commonir.base.text import plural
from commonir.base.tuples import NamedTuple
from commonir.cli.answer import Answer
from commonir.cli.choices import parse_dims
from commonir.cli.columns import Column
from commonir.cli.options import (
    PATH,
    collected_as,
    dims_option,
    extern_option,
    function_option,
    memory_limit_option,
    resize_option,
    seed_option,
    time_limit_option,
)
from commonir.cli.ranks import check_sharding, ranks_options
from commonir.cli.session import Session, verb
from commonir.cli.terminal import Style, Terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonir import Module, State
    from commonir.api import Array, Port
    from commonir.cli.arrays import ArraySummary
    from commonir.reports import JsonValue

_IMAGE = ".png"
_JSON = ".json"
_ARCHIVES = (".npz", ".safetensors")
_TOP_CLASSES = 5

Probabilities = dict[str, dict[str, float]]


class RunOptions(NamedTuple):
    """The options of `cir run`."""

    engine: str | None
    function: str | None
    seed: int
    dims: tuple[str, ...]
    is_resizing: bool
    steps: int | None
    state: str | None
    save_state: str | None
    ranks: int | None
    parallel: str | None
    externs: tuple[str, ...]
    time_limit: float | None
    mem_limit: int | None
    save: str | None


@verb(
    "cir run model.onnx image=@image.npy --save outputs.npz",
    "cir run model.mlpackage image=@cat.png --resize",
    "cir run model.onnx x=f32[1,3,8,8]:randn --seed 1",
    opens=True,
)
@click.argument("model", type=PATH)
@click.argument("inputs", metavar="[INPUT]...", nargs=-1)
@click.option("--engine", metavar="NAME", help="Run with this engine; `cir doctor` lists them.")
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
@click.option("--save-state", metavar="FILE", type=PATH, help="Write the final states to this archive.")
@ranks_options
@extern_option
@time_limit_option()
@memory_limit_option
@click.option(
    "--save",
    metavar="FILE",
    type=PATH,
    help="Write the outputs to an .npz, .safetensors or .json file. An image output is written to a .png file; "
    "NAME=FILE.png selects the output.",
)
@collected_as(RunOptions)
def run(session: Session, model: str, inputs: tuple[str, ...], *, options: RunOptions) -> Answer:
    """Run a program and summarize its outputs. Missing inputs have their default values, or seeded random values.

    \b
    INPUT is one of
      NAME=@file.npy               an array
      NAME=@file.npz:KEY           an array of an .npz or .safetensors archive
      @file.npz                    all arrays of an archive, by name
      NAME=@file.json, @file.json  a value, or the values of all inputs by name
      NAME=@photo.png              a PNG or JPEG image, for an image input
      NAME=f32[1,3,8,8]:randn      generated: randn, rand, zeros, ones, iota,
                                   randint(low,high) or a number
      NAME=3, NAME=-1.5, NAME=true the value of a scalar input
      NAME=[1,2], NAME={"a":1}     a value as JSON: arrays for tensors, lists and
                                   tuples, objects for maps

    For a Common IR file, --function also takes a function that it declares or imports, by its name or by
    domain.library.name. INPUT can then also be the value of an attribute of this function: NAME=3, NAME=[1,2] or
    NAME=text.
    """
    check_sharding(options.ranks, options.parallel)
    _check_suffix(options.save, *_ARCHIVES, _IMAGE, _JSON)
    _check_suffix(options.save_state, *_ARCHIVES)
    api, arrays = session.api, session.arrays
    with session.progress(f"reading {model}") as progress, api.together(options.engine) as is_reporting:
        program = session.with_externs(session.load(model), options.externs)
        program, function, texts = session.called(program, options.function, inputs)
        known = session.inputs(program, texts, function=function, seed=options.seed, resize=options.is_resizing)
        dims = parse_dims(options.dims, "--set")
        state = commonir.State(
            {} if options.state is None else arrays.parse_inputs([f"@{options.state}"], seed=options.seed)
        )
        progress.step(f"running {model}")
        drawn, outputs = api.run_steps(
            program,
            known,
            steps=options.steps,
            engine=options.engine,
            function=function,
            seed=options.seed,
            dims=dims,
            state=state,
            options=api.engine_options(memory_limit_bytes=options.mem_limit, time_limit_seconds=options.time_limit),
            ranks=options.ranks,
            parallel=options.parallel,
            findings=session.findings,
        )
    if not is_reporting:
        # Another process writes the answer.
        raise click.exceptions.Exit(0)
    if options.steps is None:
        session.findings.extend(
            d.located(file=model) for d in api.shape_mismatches(program, outputs, function=function)
        )
    return _answer(session, _Ran(program, function, known, drawn, outputs, state), options)


class _Ran(NamedTuple):
    """A run: the function, its explicit and random inputs, its outputs, and the final states."""

    program: Module
    function: str | None
    given: Mapping[str, Array]
    drawn: Mapping[str, Array]
    outputs: Mapping[str, Array]
    state: State


def _answer(session: Session, ran: _Ran, options: RunOptions) -> Answer:
    """Saves outputs and states as the options say, and returns the answer of a run."""
    api = session.api
    program, function, inputs, drawn, whole, states = ran
    ports = api.output_ports(program, function=function)
    outputs, empty = api.flat_arrays(program, whole, function=function)
    if options.save is not None and options.save.lower().endswith(_JSON):
        session.arrays.save_json(options.save, api.outputs_as_json(whole))
    else:
        _save(session, options.save, outputs, ports)
    if options.save_state is not None:
        _save_arrays(session, options.save_state, states)
    taken = api.input_ports(program, function=function)
    is_random = {name: name not in inputs and not (name in taken and taken[name].is_optional) for name in drawn}
    shown = {name: value for name, value in drawn.items() if is_random[name]}
    others = api.flat_arrays(program, shown, function=function)[0]
    saved = (("outputs", options.save), ("states", options.save_state))
    result = _Result(
        outputs=_summaries(session, outputs),
        empty=empty,
        probabilities={} if options.steps else _by_label(outputs, ports),
        states=_summaries(session, states),
        random=_summaries(session, others),
        seed=options.seed,
        saved={what: path for what, path in saved if path is not None},
    )
    return Answer(result.to_json(), result.write)


def _summaries(session: Session, values: Mapping[str, Array]) -> list[ArraySummary]:
    return [session.arrays.summarize_array(name, array) for name, array in values.items()]


class _Result(NamedTuple):
    """The outputs of a run, and its random inputs."""

    outputs: Sequence[ArraySummary]
    empty: Sequence[str]
    probabilities: Probabilities
    states: Sequence[ArraySummary]
    random: Sequence[ArraySummary]
    seed: int
    saved: Mapping[str, str]
    """The files of the saved outputs and states."""

    def to_json(self) -> dict[str, JsonValue]:
        """Returns the result as JSON."""
        return {
            "outputs": [summary.to_json() for summary in self.outputs],
            "empty_outputs": list(self.empty),
            "probabilities": {name: dict(labels) for name, labels in self.probabilities.items()},
            "states": [summary.to_json() for summary in self.states],
            "random_inputs": [summary.to_json() for summary in self.random],
            "saved": self.saved.get("outputs"),
        }

    def write(self, out: Terminal) -> None:
        """Writes the result as text."""
        if self.random:
            listed = ", ".join(f"{summary.name} {summary.type}" for summary in self.random)
            out.line(f"random inputs (seed {self.seed}): {listed}")
        _write_table("output", self.outputs, out)
        for name in self.empty:
            out.line(f"{name} is empty")
        _write_probabilities(self.probabilities, out)
        _write_states(self.states, out)
        for what, path in self.saved.items():
            out.line(f"{what} saved to {path}")


def _check_suffix(path: str | None, *known: str) -> None:
    """Raises: WRONG_USAGE for a file name with an unknown suffix, before anything is computed."""
    if path is not None and os.path.splitext(path)[1].lower() not in ("", *known):
        message = f"'{path}' must have the suffix {' or '.join(known)}"
        raise DiagnosticError(Diagnostic(codes.WRONG_USAGE, message, help="use a file name with one of these suffixes"))


def _by_label(outputs: Mapping[str, Array], ports: Mapping[str, Port]) -> Probabilities:
    """Returns the probabilities of outputs with labels, by label."""
    return {
        name: {str(label): float(p) for label, p in zip(port.labels, outputs[name].reshape(-1), strict=False)}
        for name, port in ports.items()
        if port.labels and name in outputs
    }


def _save(session: Session, save: str | None, outputs: Mapping[str, Array], ports: Mapping[str, Port]) -> None:
    if save is None:
        return
    if not save.lower().endswith(_IMAGE):
        _save_arrays(session, save, outputs)
        return
    name, equals, path = save.rpartition("=")
    images = {n: p for n, p in ports.items() if p.image is not None and n in outputs}
    expected = name if equals else next(iter(images), "") if len(images) == 1 else ""
    if expected not in images:
        listed = f"image outputs: {', '.join(images) or 'none'}"
        message = (
            f"the output '{expected}' is not an image"
            if expected
            else "there are several image outputs"
            if images
            else "the program has no image output"
        )
        help = did_you_mean(expected, images) or "name one, as in `--save image=out.png`, or save an .npz archive"
        raise DiagnosticError(Diagnostic(codes.WRONG_USAGE, message, notes=[listed], help=help))
    session.api.write_image(path if equals else save, outputs[expected], images[expected])


def _save_arrays(session: Session, path: str, arrays: Mapping[str, Array]) -> None:
    for name in session.arrays.save_arrays(path, arrays):
        session.findings.add(
            codes.WIDENED_OUTPUT, f"output '{name}' is saved as f32: numpy has no name for its type", file=path
        )


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
    return (summary.name, summary.type, *("" if value is None else _number(value) for value in statistics), first + odd)


def _number(value: float | str) -> str:
    return f"{value:.5g}" if isinstance(value, float) else f"'{value}'" if isinstance(value, str) else f"{value}"


command = run
