"""`cir compare`: compares two programs, or one program on two engines, value by value."""

from __future__ import annotations

import click

from commonir.base import codes
from commonir.base.diagnostics import ExitStatus
from commonir.base.tuples import NamedTuple
from commonir.cli.answer import Answer
from commonir.cli.choices import parse_dims
from commonir.cli.comparison_tables import difference_of, write_comparison
from commonir.cli.options import (
    PATH,
    Tolerance,
    collected_as,
    dims_option,
    function_option,
    resize_option,
    seed_option,
    time_limit_option,
    tolerance_options,
)
from commonir.cli.session import Session, verb


class CompareOptions(NamedTuple):
    """The options of `cir compare`."""

    engines: str | None
    function: str | None
    atol: Tolerance
    rtol: Tolerance
    metrics: tuple[str, ...]
    values: str
    exact_infinities: bool
    repro: str | None
    seed: int
    dims: tuple[str, ...]
    is_resizing: bool
    time_limit: float | None
    is_complete: bool


@verb(
    "cir compare model.onnx model.mlpackage image=@image.npy",
    "cir compare model.onnx --engines reference,onnxruntime --repro found",
    opens=True,
)
@click.argument("models", metavar="A [B] [INPUT]...", nargs=-1, required=True)
@click.option(
    "--engines",
    metavar="NAME[,NAME]",
    help="The engines of A and B, or two engines for one program. The default is numpy for two programs, "
    "reference,numpy for one.",
)
@function_option("Compare this function")
@tolerance_options()
@click.option(
    "--metric",
    "metrics",
    metavar="NAME[:X]",
    multiple=True,
    help="What decides, with a threshold; by default close. All must hold: close, max-abs, max-rel, rmse, cosine, snr"
    " and psnr (in dB), top-k=K, quantile=Q.",
)
@click.option(
    "--values",
    metavar="WHICH",
    type=click.Choice(["outputs", "all"]),
    default="outputs",
    show_default=True,
    help="The values that decide: outputs, or all.",
)
@click.option("--exact-infinities", is_flag=True, help="Infinities equal no finite number, however large.")
@click.option("--repro", metavar="DIR", type=PATH, help="Save the first divergence as a small reproducer.")
@seed_option()
@dims_option()
@resize_option
@time_limit_option()
@click.option("--all", "is_complete", is_flag=True, help="List all values instead of the worst.")
@collected_as(CompareOptions)
def compare(session: Session, models: tuple[str, ...], *, options: CompareOptions) -> Answer:
    """Run two programs, or one on two engines, and compare value by value.

    Values are matched by name; conversions preserve names. Exit status 1 when an output differs; with --values all,
    when any value differs. The first diverging operation is the first, in program order, whose operands agree and whose
    result does not. Loops and branches are compared by their results.

    The default of --rtol follows from the narrowest floating-point type of the computation; the default of --atol is
    this tolerance times the largest magnitude of the value. Integers, bools and strings must be equal. NaN equals NaN
    only. An infinity equals an infinity of the same sign, and a number of the same sign that the narrower type of the
    two cannot represent: -3.4e38 of f32 is -inf in f16.

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
            metric=[name for text in options.metrics for name in text.split(",")] or "close",
            values=options.values,
            exact_infinities=options.exact_infinities,
            repro=options.repro,
            options=session.api.engine_options(time_limit_seconds=options.time_limit),
            findings=session.findings,
            on_progress=progress.step,
        )
    if not comparison.is_within:
        session.findings.add(codes.OUTPUTS_DIFFER, difference_of(comparison), file=paths[-1])
    first = comparison.first_divergence
    result = {"first_divergence": first and first.to_json(), **comparison.to_json()}
    status = ExitStatus.YES if comparison.is_within else ExitStatus.NO
    return Answer(result, lambda out: write_comparison(comparison, out, is_complete=options.is_complete), status)


def _is_input(text: str) -> bool:
    return text.startswith("@") or "=" in text


def _engine_names(text: str | None, models: int) -> tuple[str, ...]:
    names = tuple([name.strip() for name in text.split(",")]) if text is not None else ()
    least = 2 if models == 1 else 1
    if text is not None and not least <= len(names) <= 2:
        expected = "two engines" if least > 1 else "one or two engines"
        raise click.UsageError(f"'--engines': expected {expected}, as in `--engines reference,onnxruntime`")
    return names


command = compare
