"""`cir convert`: converts a program to another format, with an optional numeric check."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import click

from commonir.base import codes
from commonir.base.diagnostics import Diagnostic, DiagnosticError, ExitStatus, Severity
from commonir.base.text import plural
from commonir.base.tuples import NamedTuple
from commonir.cli.agreement import Agreement, Check, check_agreement, differences, write_agreement
from commonir.cli.answer import Answer
from commonir.cli.choices import parse_dims, parse_images, parse_labels, parse_pairs, parse_ranges
from commonir.cli.help import BareOptions
from commonir.cli.options import (
    BARE_FUSE,
    CHECK,
    ExternalData,
    GroupedOption,
    Tolerance,
    collected_as,
    completed,
    dims_option,
    extern_option,
    external_data_options,
    force_option,
    fuse_option,
    output_option,
    seed_option,
    time_limit_option,
    tolerance_options,
)
from commonir.cli.programs import program_argument
from commonir.cli.ranks import check_sharding, ranks_options
from commonir.cli.session import Session, verb
from commonir.cli.terminal import Terminal
from commonir.cli.writing import check_output, copy_to_standard_output, save_output, write_change

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commonir import Module
    from commonir.api import ImageInput
    from commonir.reports import FileEntry, PrecisionReport, Summary


class Convert(BareOptions):
    """`cir convert`, whose `--check` and `--fuse` may stand alone."""

    bare = MappingProxyType({"--check": "1", **BARE_FUSE})


_SHOWN_OUTPUTS = 4


class ConvertOptions(NamedTuple):
    """The options of `cir convert`."""

    output: str
    to: str | None
    opset: int | None
    target: str | None
    function: str | None
    externs: tuple[str, ...]
    precision: str | None
    keep: tuple[str, ...]
    fuse: str | None
    fixed: tuple[str, ...]
    ranges: tuple[str, ...]
    images: tuple[str, ...]
    labels: tuple[str, ...]
    docs: tuple[str, ...]
    states: tuple[str, ...]
    metadata: tuple[str, ...]
    ranks: int | None
    parallel: str | None
    runs: int | None
    inputs: tuple[str, ...]
    seed: int
    dims: tuple[str, ...]
    atol: Tolerance
    rtol: Tolerance
    time_limit: float | None
    is_strict: bool
    is_forced: bool


@verb(
    "cir convert model.onnx -o model.mlpackage --target iOS17 --check",
    "cir convert model.mlpackage -o model.onnx --opset 17",
    cls=Convert,
    opens=True,
)
@program_argument("IN")
@output_option()
@click.option(
    "--to",
    metavar="FORMAT",
    help="The format, if not that of the suffix of OUT. MLIR dialects for compilers: `linalg`,"
    " `tosa`, `tosa-linalg`, `stablehlo`.",
    shell_complete=completed("formats"),
)
@click.option(
    "--opset",
    metavar="N",
    type=click.IntRange(min=1),
    help="The ONNX opset to write, also for an ONNX model. The default is the oldest from 18 on that can express the"
    " model. For ARK it is the generation of the format, 1 to 4, by default 3.",
)
@click.option(
    "--target",
    metavar="SYSTEM",
    help="Core ML: the oldest system, such as iOS17. Also macOS14, watchOS10, tvOS17, visionOS1; also for a Core ML"
    " program, whose operations stay as they are where that system has them.",
    shell_complete=completed("systems"),
)
@click.option("--function", metavar="NAME", help="Convert only this function.", shell_complete=completed("functions"))
@extern_option
@click.option(
    "--precision",
    metavar="TYPE",
    type=click.Choice(["float16"]),
    help="Compute in `float16` instead of single precision. Inputs and outputs keep their types.",
)
@click.option(
    "--keep",
    "keep",
    metavar="NAME",
    multiple=True,
    help="Operations that keep their precision. A node, a value or a type such as `Softmax`; `*` and `?` stand for any"
    " characters.",
)
@fuse_option
@click.option(
    "--set-dim",
    "fixed",
    metavar="DIM=N",
    multiple=True,
    help="Fix a dynamic dim in the converted program.",
    shell_complete=completed("dims", "="),
)
@click.option(
    "--range",
    "ranges",
    metavar="DIM=LOW..HIGH",
    multiple=True,
    help="The range of a dynamic dim.",
    shell_complete=completed("dims", "="),
)
@click.option(
    "--image",
    "images",
    metavar="NAME=COLOR",
    multiple=True,
    help="Core ML: make an input or output an image. Its color is rgb, bgr or grayscale; `,scale=1/255` and"
    " `,bias=B/B/B` are for its pixels, `,layout=nhwc` for channels that come last.",
    shell_complete=completed("inputs", "="),
)
@click.option(
    "--labels",
    metavar="[OUTPUT=]FILE",
    multiple=True,
    help="Class labels, one in each line, or JSON. They make a Core ML model a classifier, and are for the only output"
    " of as many probabilities, or for OUTPUT.",
)
@click.option(
    "--describe",
    "docs",
    metavar="NAME=TEXT",
    multiple=True,
    help="Describe an input or output.",
)
@click.option(
    "--state",
    "states",
    metavar="INPUT=OUTPUT",
    multiple=True,
    help="Core ML: keep OUTPUT as a state. It is INPUT of the next run.",
)
@click.option(
    "--meta",
    "metadata",
    metavar="KEY=TEXT",
    multiple=True,
    help="Set metadata. Keys are author, license, version, description and others.",
)
@click.option(
    "--check",
    "runs",
    metavar="[=N]",
    type=click.IntRange(min=1),
    help="Run both programs on N seeded inputs and compare. The default is 1.",
)
@click.option(
    "--input",
    "inputs",
    cls=GroupedOption,
    section=CHECK,
    metavar="INPUT",
    multiple=True,
    help="An input in place of a random one, as for `cir run`: `x=@cat.png:scale=1/255`, `x=@file.npy`.",
)
@seed_option("Seed of the inputs.", CHECK)
@dims_option("Value of a dynamic dim.", CHECK)
@tolerance_options(CHECK)
@time_limit_option(CHECK)
@external_data_options
@ranks_options
@click.option("--strict", "is_strict", is_flag=True, help="Write nothing if the conversion is lossy.")
@force_option
@collected_as(ConvertOptions)
def convert(session: Session, model: str, *, options: ConvertOptions, external: ExternalData) -> Answer:
    """Convert a program to another format: that of the suffix of OUT.

    `cir doctor` lists the formats. Everything that the target cannot express is reported. With --check, onnxruntime
    runs the ONNX model and commonir's engine the other program; the exit status is 1 if an output differs beyond the
    tolerance. The default tolerance follows from the narrowest floating-point type of the program.
    """
    check_output(session, options.output)
    check_sharding(options.ranks, options.parallel)
    _refuse_inputs_without_check(options)
    api = session.api
    precision_reports: list[PrecisionReport] = []
    metadata = parse_pairs(options.metadata, "--meta", "KEY=TEXT")
    interface, bounds = _interface(session, options), parse_ranges(options.ranges)
    convert_to = partial(
        api.convert,
        opset=options.opset,
        target=options.target,
        precision=options.precision,
        keep=options.keep,
        fuse=options.fuse,
        reports=precision_reports,
        dims=interface.dims,
        ranges=bounds,
        images=interface.images,
        labels={output: session.read_labels(path) for output, path in parse_labels(options.labels).items()},
        docs=parse_pairs(options.docs, "--describe", "NAME=TEXT"),
        states=interface.states,
        ranks=options.ranks,
        parallel=options.parallel,
        findings=session.findings,
    )
    check = _chosen_check(options, bounds, interface.dims)
    with session.limited_time(options.time_limit) as left, session.progress(f"reading {model}") as progress:
        target = options.to or api.output_format(options.output)
        form = api.file_format(target)
        source = session.with_externs(session.load(model), options.externs)
        function = options.function
        if function is not None:
            source, function, _ = session.called(source, function)
        progress.step(f"converting to {target}")
        converted = convert_to(source, target, function=function)
        converted = api.edit(converted, metadata=metadata) if metadata else converted
        _refuse_losses(session, is_strict=options.is_strict)
        progress.step(f"writing {options.output}")
        path, files = save_output(session, converted, options.output, form, external, is_stated=True)
        agreement: Agreement | None = None
        if check is not None:
            # A program of several ranks is written to one file for each rank; opening one opens all.
            first = path if Path(path).exists() else files[0].path
            same = interface.given_to(session, source, converted, function)
            if same is not source:
                check = check.without_dims(interface.dims)
            agreement = check_agreement(session, same, converted, first, form, function, check, left, progress)
    before, after = api.summarize(source), api.summarize(converted)
    return _answer(session, before, after, files, options.output, form, agreement, next(iter(precision_reports), None))


class _Interface(NamedTuple):
    """The options for inputs and outputs that the program before has to share to be compared."""

    images: Mapping[str, ImageInput]
    states: Mapping[str, str]
    dims: Mapping[str, int]

    def given_to(self, session: Session, source: Module, converted: Module, function: str | None) -> Module:
        """Returns the program before with the interface of the converted one; itself if they have the same.

        Both take pixels where the converted one takes an image, and keep the states that it keeps.
        """
        return session.api.with_interface_of(
            converted, source, images=self.images, states=self.states, dims=self.dims, function=function
        )


def _interface(session: Session, options: ConvertOptions) -> _Interface:
    return _Interface(
        {name: session.api.image_input(*chosen) for name, chosen in parse_images(options.images).items()},
        parse_pairs(options.states, "--state", "INPUT=OUTPUT"),
        parse_dims(options.fixed),
    )


def _refuse_inputs_without_check(options: ConvertOptions) -> None:
    if options.dims and not options.runs:
        raise click.UsageError("'--set' sets the inputs of --check; '--set-dim' fixes a dim of the program")
    if options.inputs and not options.runs:
        raise click.UsageError("'--input' is for '--check'")


def _chosen_check(
    options: ConvertOptions, bounds: Mapping[str, tuple[int, int]], fixed_dims: Mapping[str, int]
) -> Check | None:
    """Returns the numeric check that the options ask for, with each bounded dim as small as may be."""
    lower = {name: low for name, (low, _) in bounds.items()}
    dims = {**lower, **fixed_dims, **parse_dims(options.dims, "--set")}
    if not options.runs:
        return None
    return Check(options.runs, options.seed, dims, options.atol, options.rtol, options.inputs)


def _answer(
    session: Session,
    before: Summary,
    after: Summary,
    files: Sequence[FileEntry],
    output: str,
    form: str,
    agreement: Agreement | None,
    precision: PrecisionReport | None,
) -> Answer:
    errors = agreement.errors if agreement is not None else ()
    is_within = all(error.is_within for run in errors for error in run)
    if not is_within:
        session.findings.add(
            codes.OUTPUTS_DIFFER,
            "the converted program computes different outputs",
            file=output,
            notes=differences(error for run in errors for error in run)[:_SHOWN_OUTPUTS],
            help=_advice(output),
        )
    result = {
        "output": output,
        "format": form,
        "files": [file.to_json() for file in files],
        "before": before.to_json(),
        "after": after.to_json(),
        "precision": None if precision is None else precision.to_json(),
        "check": None if agreement is None else [[error.to_json() for error in run] for run in errors],
        "explanation": None if agreement is None or agreement.explanation is None else agreement.explanation.to_json(),
    }

    def write(out: Terminal) -> None:
        if output == "-":
            copy_to_standard_output(files[0])
        else:
            write_change(before, after, files, out)
            if agreement is not None:
                write_agreement(agreement, form, out)

    return Answer(result, write, ExitStatus.YES if is_within else ExitStatus.NO)


def _refuse_losses(session: Session, *, is_strict: bool) -> None:
    lost = [finding for finding in session.findings if finding.severity is Severity.WARNING]
    if is_strict and lost:
        message = f"nothing is written: {plural(len(lost), 'warning')} with --strict"
        raise DiagnosticError(Diagnostic(codes.LOSSY_CONVERSION, message))


def _advice(output: str) -> str:
    return f"'{output}' was written; do not use it before the difference is understood"


command = convert
