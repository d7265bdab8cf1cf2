"""`cir compare`: compares two programs, or one program on two engines, value by value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from commonir.base import codes
from commonir.base.diagnostics import ExitStatus
from commonir.base.tuples import NamedTuple
from commonir.cli.answer import Answer
from commonir.cli.choices import parse_dims
from commonir.cli.options import (
    Tolerance,
    collected_as,
    completed,
    dims_option,
    function_option,
    repro_option,
    resize_option,
    seed_option,
    time_limit_option,
    tolerance_options,
)
from commonir.cli.session import Session, verb
from commonir.reports import Comparison
from commonir.reports.comparison_tables import difference_of, write_comparison

if TYPE_CHECKING:
    from commonir.api import Array
    from commonir.cli.limits import TimeLeft


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
    help="The engines of A and B, or two engines for one program. The default is that of `cir run` for both; for one "
    "program it is compared with reference.",
    shell_complete=completed("engines"),
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
@repro_option()
@seed_option()
@dims_option()
@resize_option
@time_limit_option()
@click.option("--all", "is_complete", is_flag=True, help="List all values instead of the worst.")
@collected_as(CompareOptions)
def compare(session: Session, models: tuple[str, ...], *, options: CompareOptions) -> Answer:
    """Run two programs, or one on two engines, and compare value by value.

    A or B may also be stored values of a run, of another tool too: an .npz or .safetensors archive or a .json file with
    arrays by name (inputs as inputs/NAME), or what polygraphy saves. They are what is expected of a program; two such
    files are compared without running anything.

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
    paths = session.joined([text for text in models if not _is_input(text)])
    if not 1 <= len(paths) <= 2:
        raise click.UsageError(f"expected one or two models, found {len(paths)}")
    files = session.files_of(paths[0])
    if len(paths) == 1 and len(files) > 1 and options.engines is None:
        message = f"'{files[0]}' and '{files[1]}' are ranks of one program"
        advice = "name another program to compare it with, or two engines, as in `--engines reference,numpy`"
        raise click.UsageError(f"{message}: {advice}")
    with (
        session.limited_time(options.time_limit) as left,
        session.progress(f"reading {paths[0]}") as progress,
    ):
        texts = [text for text in models if _is_input(text)]
        comparison = Comparison.of_sets(list(_comparisons(session, paths, texts, options, left, progress.step)))
    if not comparison.is_within:
        session.findings.add(codes.OUTPUTS_DIFFER, difference_of(comparison), file=paths[-1])
    first = comparison.first_divergence
    result = {"first_divergence": first and first.to_json(), **comparison.to_json()}
    status = ExitStatus.YES if comparison.is_within else ExitStatus.NO
    return Answer(result, lambda out: write_comparison(comparison, out, is_complete=options.is_complete), status)


def _comparisons(
    session: Session,
    paths: Sequence[str],
    texts: Sequence[str],
    options: CompareOptions,
    left: TimeLeft,
    on_progress: Callable[[str], None],
) -> Iterator[Comparison]:
    """Yields the comparison of each set of inputs: one, or those in the files."""
    api, stored = session.api, session.stored
    archives = [path for path in paths if stored.is_stored(path)]
    names = _engine_names(options.engines, len(paths) - len(archives), is_stored=bool(archives))
    if len(paths) == len(archives) == 1:
        raise click.UsageError(f"expected a model or a second file to compare '{archives[0]}' with")
    runs = stored.side_by_side([stored.read_stored(path) for path in archives], archives)
    called = [session.called(session.load(p), options.function, texts) for p in paths if p not in archives]
    programs, function = [program for program, _, _ in called], called[0][1] if called else None
    sets: Sequence[Mapping[str, Array]] = [{}]
    if called:
        sets = session.input_sets(
            programs[0], called[0][2], function=function, seed=options.seed, resize=options.is_resizing
        )
    repro = options.repro
    for parts, with_run, known in stored.of_each_set(runs, sets):
        values = [part.all_values if not called else part.values for part in parts]
        a, b, *_ = *programs, *values, None
        assert a is not None
        comparison = api.compare(
            a,
            b,
            {**with_run, **known} if called else {},
            engines=names,
            function=function,
            seed=options.seed,
            dims=parse_dims(options.dims, "--set"),
            rtol=options.rtol,
            atol=options.atol,
            metric=[name for text in options.metrics for name in text.split(",")] or "close",
            values=options.values,
            exact_infinities=options.exact_infinities,
            repro=repro,
            options=api.engine_options(time_limit_seconds=left.seconds),
            findings=session.findings,
            on_progress=on_progress,
        )
        files = iter(archives)
        engines = tuple([next(files) if name == "stored" else name for name in comparison.engines])
        # The reproducer is that of the first set with a difference, which the report names.
        repro = None if comparison.divergences else repro
        yield comparison.replaced(engines=engines)


def _is_input(text: str) -> bool:
    return text.startswith("@") or "=" in text


def _engine_names(text: str | None, models: int, *, is_stored: bool) -> tuple[str, ...]:
    names = tuple([name.strip() for name in text.split(",")]) if text is not None else ()
    if is_stored:
        if len(names) > models:
            raise click.UsageError(f"'--engines': expected {models or 'no'} engine: stored values do not run")
        return names
    least = 2 if models == 1 else 1
    if text is not None and not least <= len(names) <= 2:
        expected = "two engines" if least > 1 else "one or two engines"
        raise click.UsageError(f"'--engines': expected {expected}, as in `--engines reference,onnxruntime`")
    return names


command = compare
