"""`cir reduce`: finds the smallest part of a model that still fails."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import click

from commonir.base import codes
from commonir.base.diagnostics import ExitStatus
from commonir.base.text import plural
from commonir.base.tuples import NamedTuple
from commonir.cli.answer import Answer
from commonir.cli.choices import parse_dims
from commonir.cli.options import OUTPUT, collected_as, dims_option, function_option, seed_option, time_limit_option
from commonir.cli.programs import inputs_arguments
from commonir.cli.session import Session, verb
from commonir.cli.terminal import Style, Terminal

if TYPE_CHECKING:
    from commonir import Module
    from commonir.api import Array, Part
    from commonir.reports import Reduction

    Condition = Callable[[Module, Mapping[str, Array]], bool]
    Words = Callable[[str, str], list[str]]

_CONVERT = "convert:"
_OPERATIONS_SHOWN = 8


class ReduceOptions(NamedTuple):
    """The options of `cir reduce`."""

    fails: str | None
    differs: str | None
    output: str | None
    fail_codes: tuple[int, ...]
    fail_text: str | None
    mode: str
    run_limit: float | None
    time_limit: float | None
    function: str | None
    seed: int
    dims: tuple[str, ...]


@verb(
    "cir reduce model.onnx --fails 'python check.py {}' -o small.onnx",
    "cir reduce model.onnx --fails convert:coreml",
    "cir reduce model.onnx --differs numpy,onnxruntime",
    opens=True,
)
@inputs_arguments
@click.option(
    "--fails",
    metavar="COMMAND",
    help="A command that fails on the model `{}`, with inputs `{inputs}`; or convert:FORMAT.",
)
@click.option("--differs", metavar="NAME,NAME", help="Two engines that compute different outputs.")
@click.option(
    "-o", "--output", metavar="OUT", type=OUTPUT, help="The part.  [default: reduced, with the suffix of MODEL]"
)
@click.option(
    "--fail-code", "fail_codes", metavar="N", multiple=True, type=int, help="Only this exit status is a failure."
)
@click.option("--fail-text", metavar="RE", help="What the output of a failure matches, or the error of convert:FORMAT.")
@click.option(
    "--mode",
    metavar="MODE",
    type=click.Choice(["bisect", "linear"]),
    default="bisect",
    show_default=True,
    help="How to search: bisect, or linear.",
)
@click.option(
    "--run-limit",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    help="Stop COMMAND after this time in each run.",
)
@time_limit_option()
@function_option("Reduce this function")
@seed_option()
@dims_option()
@collected_as(ReduceOptions)
def reduce(session: Session, model: str, inputs: tuple[str, ...], *, options: ReduceOptions) -> Answer:
    """Find the smallest part of a model that still fails.

    Cuts the end of the model, then its beginning, drops outputs, and turns single operations into inputs, as long as
    the failure stays. A linear search also finds failures that larger parts do not have. The smallest part so far is
    always in OUT, with its inputs beside it, also after an interrupt. The search is the same each time.

    The command runs without a shell. It fails if its exit status is not 0, or as --fail-code and --fail-text say. A
    run that --run-limit stops does not count as failing. A conversion fails with the first error of the
    whole model, or the first that --fail-text matches; its message decides, without names and sizes. Exit status 1 when
    the whole model does not fail.

    INPUT is as in `cir run`. Inputs of parts have the values of a run of the whole model on them.
    """
    holds, command = _condition(session, options)
    with session.limited_time(options.time_limit), session.progress(f"reading {model}") as progress:
        program = session.load(model)
        known = session.inputs(program, inputs, function=options.function, seed=options.seed, resize=False)
        output, inputs_files = _outputs(session, model, options)

        def keep(part: Part) -> str:
            session.api.save(part.module, output)
            return _save_inputs(session, part, inputs_files)

        runs = 0

        def counted(module: Module, arrays: Mapping[str, Array]) -> bool:
            nonlocal runs
            runs += 1
            return holds(module, arrays)

        def report(message: str) -> None:
            # How many runs to expect is said once, also where no progress is shown.
            if not runs and not session.is_json and not message.startswith("trying"):
                session.err.line(message)
            progress.step(message)

        try:
            part = session.api.reduce(
                program,
                counted,
                known,
                mode=options.mode,
                function=options.function,
                seed=options.seed,
                dims=parse_dims(options.dims, "--set"),
                on_progress=report,
                on_smaller=keep,
            )
        except KeyboardInterrupt as stop:
            if os.path.exists(output):
                stop.add_note(f"the smallest failing part so far is in {output}")
            raise
    if part is None:
        message = "the whole model does not fail"
        help = "run the command by hand on it" if command is not None else None
        session.findings.add(codes.NOTHING_FAILS, message, file=model, help=help)
        return Answer({"runs": runs}, lambda _: None, ExitStatus.NO)
    reduction = session.api.reduction_of(program, part, output, keep(part), runs, function=options.function)
    return Answer(reduction.to_json(), lambda out: _write(reduction, command, out))


def _outputs(session: Session, model: str, options: ReduceOptions) -> tuple[str, dict[str, str]]:
    """Returns the file of the part, and those that its inputs may be in, by suffix. Raises: DiagnosticError (E0808)."""
    output = options.output or f"reduced{os.path.splitext(model.rstrip('/'))[1]}"
    inputs_files = {suffix: f"{os.path.splitext(output)[0]}_inputs{suffix}" for suffix in (".npz", ".json")}
    for written in (output, *inputs_files.values()):
        session.check_replaced(written)
    return output, inputs_files


def _save_inputs(session: Session, part: Part, files: Mapping[str, str]) -> str:
    """Writes the inputs of a part to one of the files, by suffix, and returns it: JSON where one is not an array."""
    arrays, empty = session.api.flat_arrays(part.module, part.inputs)
    if not empty and list(arrays) == list(part.inputs):
        session.arrays.save_arrays(files[".npz"], arrays)
        return files[".npz"]
    session.arrays.save_json(files[".json"], session.api.outputs_as_json(part.inputs))
    return files[".json"]


def _condition(session: Session, options: ReduceOptions) -> tuple[Condition, Words | None]:
    """Returns the condition, and the words of the command for two files, if it is one."""
    if (options.fails is None) == (options.differs is None):
        raise click.UsageError("give what fails: --fails COMMAND, or --differs ENGINE,ENGINE")
    api = session.api
    if options.differs is not None:
        engines = options.differs.split(",")
        if len(engines) != 2:
            raise click.UsageError("'--differs': expected two engines, as in `--differs numpy,onnxruntime`")
        return api.differs(engines), None
    assert options.fails is not None
    try:
        text = None if options.fail_text is None else re.compile(options.fail_text)
    except re.error as error:
        raise click.UsageError(f"'--fail-text': {error}") from None
    if options.fails.startswith(_CONVERT):
        found = api.conversion_fails(options.fails.removeprefix(_CONVERT), text)
    else:
        found = api.command_fails(options.fails, options.fail_codes, text, options.run_limit)
    return found, found.words


def _write(reduction: Reduction, command: Words | None, out: Terminal) -> None:
    before, after = reduction.operations_before, reduction.operations_after
    verb = "fails" if after == 1 else "fail"
    found = f"found in {plural(reduction.runs, 'run')}"
    out.line(f"{after:,} of {plural(before, 'operation')} still {verb}, {found}", Style.STRONG)
    for name in reduction.operations[:_OPERATIONS_SHOWN]:
        out.line(f"  {name}")
    if len(reduction.operations) > _OPERATIONS_SHOWN:
        out.line("  ...")
    out.line(f"from {', '.join(reduction.inputs) or 'constants only'} to {', '.join(reduction.outputs)}")
    out.line(f"model: {reduction.output}")
    if reduction.inputs_file is not None:
        out.line(f"inputs: {reduction.inputs_file}")
    if command is not None:
        out.line(f"again: {shlex.join(command(reduction.output, reduction.inputs_file or ''))}")


command = reduce
