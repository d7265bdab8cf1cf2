"""Compares programs, engines and stored arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from commonir.api.opening import Path_, file_format
from commonir.api.programs import convert, lower
from commonir.api.running import default_engine, engine_for_one_run, flat_arrays, run, run_alone
from commonir.base.codes import INTERFACES_DIFFER, WRONG_USAGE
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.ir.module import Module
from commonir.reports import Comparison, Entries, OutputError, Reduction

if TYPE_CHECKING:
    import re

    import numpy as np
    from numpy.typing import NDArray

    from commonir.comparing.divergence import Side, ValueComparison
    from commonir.comparing.measures import Criterion, Requirements
    from commonir.comparing.ranks import RanksSide
    from commonir.inspection.faults.failing_commands import FailingCommand
    from commonir.inspection.faults.failing_conversions import FailingConversion
    from commonir.inspection.faults.reducing import Part
    from commonir.ir.operation import Value
    from commonir.runtime.engine import EngineOptions

    Array = NDArray[np.generic]

_SIDES = 2


def compare(
    a: Module | Mapping[str, Array],
    b: Module | Mapping[str, Array] | None = None,
    inputs: Mapping[str, Array] | None = None,
    *,
    engines: Sequence[str] = (),
    function: str | None = None,
    seed: int = 0,
    dims: Mapping[str, int] | None = None,
    rtol: float | Mapping[str, float] | None = None,
    atol: float | Mapping[str, float] | None = None,
    metric: str | Sequence[str] = "close",
    values: str = "outputs",
    exact_infinities: bool = False,
    repro: Path_ | None = None,
    explain: bool = True,
    options: EngineOptions | None = None,
    findings: Diagnostics | None = None,
    on_progress: Callable[[str], None] = lambda _: None,
) -> Comparison:
    """Compares two programs, or one program on two engines, value by value on the same inputs.

    Values are matched by name and compared one after another, without storing all of them. `engines` has one engine for
    each side, or one for both; a single program runs on `reference` and `numpy` by default. Missing inputs are random,
    by `seed`. See `comparing.measures.Tolerance` for metrics and their thresholds, such as `snr:40`; all must
    hold. Tolerances may be mappings by name of value; without `rtol` it follows for each value from the narrowest
    floating-point type that it is computed in. The outputs decide whether the programs agree, with `values="all"` all
    values. An infinity also equals a number that a type of one side overflows with, unless `exact_infinities`. `repro`
    is a folder for the operations of the first divergence as programs, with their inputs and results; `findings`
    receives the reason if there is none. With `explain`, the first divergence has its likely cause, tested on the
    numbers, and the values from it to an output. Limits in the options apply to each side. `on_progress` receives
    messages.

    Instead of a program, `b` may have the arrays that are expected of outputs and values inside, by name, or both sides
    may be such arrays; see `comparing.stored`. Programs of several ranks are compared by the outputs of all
    ranks, and with the program that they were divided from by what each rank has of its outputs.

    Raises: DiagnosticError (E0713 for programs with different inputs, E0714 for programs without a common value, E07xx
    as `run`).
    """
    from commonir.comparing import divergence  # noqa: PLC0415

    _require_folder_of_reproducer(repro)
    required = requirements(rtol, atol, metric)._replace(strict=exact_infinities)
    deciding = _Deciding(required, all_decide=_all_decide(values))
    run_as = _RunAs(engines[-1] if engines else engine_for_one_run(options), function, seed, dims or {}, options)
    if isinstance(a, Mapping) or isinstance(b, Mapping):
        return _compare_stored(a, b, inputs or {}, run_as, deciding, repro, findings, on_progress)
    names = _engines_of_sides(engines, is_one_program=b is None, once=run_as.engine)
    programs = (a, a if b is None else b)
    of_ranks = _compared_ranks(programs, names, function)
    if of_ranks is not None:
        _refuse_reproducer(repro, _OF_RANKS)
        run_as = run_as._replace(engine=names[0] if of_ranks[0] is None else names[1])
        return _compare_ranks(programs, of_ranks, inputs or {}, run_as, required)
    comparing = _value_comparison(programs, names, inputs or {}, run_as, required)
    result = divergence.compare(comparing, on_progress, all_decide=deciding.all_decide)
    if explain:
        result = _with_cause(result, comparing, on_progress)
    return result if repro is None else _reproduced(result, comparing, repro, findings)


def compare_run(
    module: Module,
    outputs: Mapping[str, Array],
    expected: Mapping[str, Array],
    *,
    engine: str,
    function: str | None = None,
    rtol: float | Mapping[str, float] | None = None,
    atol: float | Mapping[str, float] | None = None,
) -> Comparison:
    """Compares the outputs of a run on an engine with expected arrays by name; those of several ranks by the precision
    of their types.

    Raises: DiagnosticError (E0714 when no name is shared).
    """
    from commonir.comparing import stored  # noqa: PLC0415
    from commonir.comparing.divergence import Side  # noqa: PLC0415
    from commonir.runtime.engine import DEFAULT_OPTIONS, Engines  # noqa: PLC0415

    required = requirements(rtol, atol, "close")
    _check_names(required, [*outputs, *expected])
    if run_alone(module, function) is None:
        parts = _expected_of_ranks(module, expected, outputs)
        return stored.compare_stored(parts, outputs, required, (stored.STORED, engine))
    side = Side(module, Engines().get(engine), function)
    return stored.compare_with_stored(side, {}, expected, required, DEFAULT_OPTIONS, ran=outputs)


class _Deciding(NamedTuple):
    """The conditions under which values agree."""

    required: Requirements
    all_decide: bool


class _RunAs(NamedTuple):
    """How a program runs: engine, function, seed and dims of random inputs, options."""

    engine: str
    function: str | None
    seed: int
    dims: Mapping[str, int]
    options: EngineOptions | None

    @property
    def engine_options(self) -> EngineOptions:
        """The options, else those of all engines by default."""
        from commonir.runtime.engine import DEFAULT_OPTIONS  # noqa: PLC0415

        return self.options or DEFAULT_OPTIONS


def _engines_of_sides(engines: Sequence[str], *, is_one_program: bool, once: str) -> tuple[str, str]:
    """Returns the engines that were named for the sides of a comparison, or the default ones: a single program is
    compared on engines, and two are on the one for a single run.

    Raises: WRONG_USAGE.
    """
    if len(engines) > _SIDES:
        message = f"a comparison has two sides, and {len(engines)} engines were named"
        raise DiagnosticError(Diagnostic(WRONG_USAGE, message))
    if engines:
        return engines[0], engines[-1]
    return ("reference", default_engine()) if is_one_program else (once, once)


def _value_comparison(
    programs: tuple[Module, Module],
    engines: tuple[str, str],
    inputs: Mapping[str, Array],
    run_as: _RunAs,
    required: Requirements,
) -> ValueComparison:
    """Returns the comparison of two programs by their values, each on its engine of `engines`; missing inputs are
    random.
    """
    from commonir.comparing import divergence  # noqa: PLC0415
    from commonir.inputs.random_inputs import random_inputs as draw  # noqa: PLC0415
    from commonir.runtime.engine import Engines  # noqa: PLC0415

    known = Engines()
    left = divergence.Side(programs[0], known.get(engines[0]), run_as.function, run_as.seed)
    right = divergence.Side(programs[1], known.get(engines[1]), run_as.function, run_as.seed)
    all_inputs = {**right.initial, **left.initial, **inputs}
    name = left.function.symbol_name
    sizes = {**divergence.sizes_fixed_by(left, right, all_inputs), **run_as.dims}
    drawn = draw(left.lowered, function=name, seed=run_as.seed, dims=sizes, given=all_inputs)
    renamed = divergence.counterparts(left, right).items()
    drawn = {**drawn, **{other: drawn[own] for other, own in renamed if own in drawn and other not in drawn}}
    comparing = divergence.ValueComparison(left, right, drawn, required=required, options=run_as.engine_options)
    _check_names(required, [name for pair in comparing.pairs for name in pair[:2]])
    return comparing


def _compare_stored(
    a: Module | Mapping[str, Array],
    b: Module | Mapping[str, Array] | None,
    inputs: Mapping[str, Array],
    run_as: _RunAs,
    deciding: _Deciding,
    repro: Path_ | None,
    findings: Diagnostics | None,
    on_progress: Callable[[str], None],
) -> Comparison:
    """Compares a program with stored arrays, in either order, or arrays with arrays."""
    from commonir.comparing import stored  # noqa: PLC0415

    required = deciding.required
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        _refuse_reproducer(repro, "nothing runs where stored values are compared with others")
        _check_names(required, [*a, *b])
        return stored.compare_stored(a, b, required, (stored.STORED, stored.STORED))
    module, arrays = (b, a) if isinstance(a, Mapping) else (a, b)
    if not isinstance(module, Module) or not isinstance(arrays, Mapping):
        message = "arrays are compared with a program or with other arrays"
        raise DiagnosticError(Diagnostic(WRONG_USAGE, message))
    if run_alone(module, run_as.function) is None:
        _refuse_reproducer(repro, _OF_RANKS)
        ran = run(module, inputs, engine=run_as.engine, seed=run_as.seed, options=run_as.options)
        outputs = flat_arrays(module, ran)[0]
        parts = _expected_of_ranks(module, arrays, outputs)
        return stored.compare_stored(parts, outputs, required, (stored.STORED, run_as.engine))
    side, drawn = _side_and_inputs(module, inputs, run_as)
    _check_names(required, [*arrays, *side.values, *side.outputs])
    options = run_as.engine_options
    result = stored.compare_with_stored(
        side, drawn, arrays, required, options, all_decide=deciding.all_decide, on_progress=on_progress
    )
    if repro is None:
        return result
    from commonir.inspection.faults.reproduce import reproduce_stored  # noqa: PLC0415

    reproduce = partial(reproduce_stored, result, side, drawn, arrays, required, options, repro)
    return _with_reproducer(result, reproduce, findings)


def _expected_of_ranks(
    module: Module, expected: Mapping[str, Array], outputs: Mapping[str, Array]
) -> Mapping[str, Array]:
    from commonir.inputs.sharding import shard_expected  # noqa: PLC0415
    from commonir.runtime.ranks.program import ranks_of  # noqa: PLC0415

    ranks = ranks_of(lower(module, defer=True))
    return expected if ranks is None else shard_expected(ranks, expected, outputs)


def _side_and_inputs(module: Module, inputs: Mapping[str, Array], run_as: _RunAs) -> tuple[Side, dict[str, Array]]:
    """Returns a function as a side of a comparison, and all its inputs: missing ones are random."""
    from commonir.comparing.divergence import Side  # noqa: PLC0415
    from commonir.inputs.random_inputs import random_inputs as draw  # noqa: PLC0415
    from commonir.runtime.engine import Engines  # noqa: PLC0415

    side = Side(module, Engines().get(run_as.engine), run_as.function, run_as.seed)
    given = {**side.initial, **_of_declared_width(side.inputs, inputs)}
    return side, draw(side.lowered, function=side.function.symbol_name, seed=run_as.seed, dims=run_as.dims, given=given)


def stored_inputs(module: Module, arrays: Mapping[str, Array], *, function: str | None = None) -> dict[str, Array]:
    """Returns inputs that were stored for a program of another precision, in the types that this one declares."""
    ran = run_alone(module, function)
    return dict(arrays) if ran is None else _of_declared_width({v.name: v for v in ran.inputs}, arrays)


def _of_declared_width(inputs: Mapping[str, Value], arrays: Mapping[str, Array]) -> dict[str, Array]:
    from commonir.comparing.divergence import converted  # noqa: PLC0415

    return {name: converted(a, inputs[name]) if name in inputs else a for name, a in arrays.items()}


def computed_values(
    module: Module,
    inputs: Mapping[str, Array] | None = None,
    pattern: str = "*",
    *,
    engine: str | None = None,
    function: str | None = None,
    seed: int = 0,
    dims: Mapping[str, int] | None = None,
    options: EngineOptions | None = None,
) -> Iterator[tuple[str, Array]]:
    """Yields the values inside a function that have a name matching a pattern such as `*_out`, and their names, in
    program order. They are computed piece by piece, so that few are held at a time.

    Raises: DiagnosticError (E07xx as `run`).
    """
    from commonir.comparing import stored  # noqa: PLC0415

    run_as = _RunAs(engine or engine_for_one_run(options), function, seed, dims or {}, options)
    side, drawn = _side_and_inputs(module, inputs or {}, run_as)
    return stored.computed_values(side, drawn, pattern, run_as.engine_options)


def reduce(
    module: Module,
    fails: Callable[[Module, Mapping[str, Array]], bool],
    inputs: Mapping[str, Array] | None = None,
    *,
    mode: str = "bisect",
    function: str | None = None,
    seed: int = 0,
    dims: Mapping[str, int] | None = None,
    on_progress: Callable[[str], None] = lambda _: None,
    on_smaller: Callable[[Part], object] = lambda _: None,
) -> Part | None:
    """Returns a small part of a function on which something still fails, with the values of its inputs; None if it does
    not fail on the whole function.

    `fails` gets a program and its inputs. Values inside are those of a run on `inputs`, of which missing ones are
    random, by `seed`; where the program cannot run, parts have no inputs. `mode` is `bisect` or `linear`; see
    `inspection.faults.reducing`. `on_smaller` receives each part on which it fails that is smaller than the last.
    """
    from commonir.inspection.faults.reducing import Mode, Reducer, planned_runs  # noqa: PLC0415

    if mode not in [m.value for m in Mode]:
        raise DiagnosticError(Diagnostic(WRONG_USAGE, f"the modes are 'bisect' and 'linear', not '{mode}'"))
    run_as = _RunAs(engine_for_one_run(), function, seed, dims or {}, None)
    values = _values_inside(module, inputs or {}, run_as)
    search = Reducer(module, fails, values, function=function, on_progress=on_progress, on_smaller=on_smaller)
    runs = planned_runs(search.count, Mode(mode))
    on_progress(f"{search.count} operations: at most {runs} runs find the part, and one for each of its operations")
    return search.run(Mode(mode))


def reduction_of(
    module: Module, part: Part, output: str, inputs_file: str, runs: int, *, function: str | None = None
) -> Reduction:
    """Returns the report of a reduction whose part was written to files."""
    from commonir.inspection.faults.reducing import counted_operations  # noqa: PLC0415

    after = part.module.function(None if function not in part.module.functions else function)
    return Reduction(
        output=output,
        inputs_file=inputs_file if part.inputs else None,
        operations_before=len(counted_operations(module.function(function))),
        operations_after=len(part.operations),
        operations=part.operations,
        inputs=tuple([v.name for v in after.inputs]),
        outputs=tuple(after.output_names),
        runs=runs,
    )


def command_fails(
    command: str, codes: Sequence[int] = (), text: re.Pattern[str] | None = None, seconds: float | None = None
) -> FailingCommand:
    """Returns the condition that a command fails on a model; see `inspection.faults.failing_commands`."""
    from commonir.inspection.faults.failing_commands import FailingCommand, Failure  # noqa: PLC0415

    return FailingCommand(command, Failure(tuple(codes), text, seconds))


def differs(engines: Sequence[str]) -> Callable[[Module, Mapping[str, Array]], bool]:
    """Returns the condition that two engines compute different outputs. Raises: DiagnosticError (E0705)."""
    from commonir.runtime.engine import Engines  # noqa: PLC0415

    for name in engines:
        Engines().get(name)

    def holds(module: Module, inputs: Mapping[str, Array]) -> bool:
        try:
            return not compare(module, inputs=inputs, engines=engines).is_within
        except DiagnosticError:
            return False

    return holds


def conversion_fails(format: str, text: re.Pattern[str] | None = None) -> FailingConversion:
    """Returns the condition that a program cannot be converted to a format, for the first fault of the whole program,
    or the first that matches `text`. Raises: DiagnosticError (E0904).
    """
    from commonir.inspection.faults.failing_conversions import FailingConversion  # noqa: PLC0415

    file_format(format)
    return FailingConversion(lambda module: convert(module, format), format, text)


def _values_inside(
    module: Module, inputs: Mapping[str, Array], run_as: _RunAs
) -> Callable[[Sequence[str]], Mapping[str, Array]]:
    """Returns a function that computes values inside by name, without those that cannot be computed."""
    from commonir.comparing.piecewise import PIECE_BYTES  # noqa: PLC0415

    try:
        side, drawn = _side_and_inputs(module, inputs, run_as)
    except DiagnosticError:
        return lambda names: {n: inputs[n] for n in names if n in inputs}

    def values(names: Sequence[str]) -> Mapping[str, Array]:
        out = {n: drawn[n] for n in names if n in drawn}
        inside = {n: side.values[n] for n in names if n in side.values and n not in out}
        try:
            run = side.run(drawn, run_as.engine_options, PIECE_BYTES)
            out |= zip(inside, run.values(list(inside.values())), strict=True) if inside else ()
        except DiagnosticError:
            pass
        return out

    return values


def _with_cause(comparison: Comparison, comparing: ValueComparison, on_progress: Callable[[str], None]) -> Comparison:
    """Returns a comparison with the likely cause of its first divergence, if there is one."""
    if comparison.first_divergence is None:
        return comparison
    from commonir.inspection.faults.explaining import explained  # noqa: PLC0415

    on_progress("looking for the cause")
    return explained(comparing, comparison)


def _reproduced(
    comparison: Comparison, comparing: ValueComparison, folder: Path_, findings: Diagnostics | None
) -> Comparison:
    from commonir.inspection.faults.reproduce import reproduce  # noqa: PLC0415

    return _with_reproducer(comparison, partial(reproduce, comparing, comparison, folder), findings)


def _require_folder_of_reproducer(folder: Path_ | None) -> None:
    """Raises: DiagnosticError (E0803) for a folder with other files, which the reproducer might replace."""
    if folder is None:
        return
    from commonir.base.files import refuse_other_folder  # noqa: PLC0415
    from commonir.inspection.faults.reproduce import COMMAND_FILE  # noqa: PLC0415

    refuse_other_folder(folder, COMMAND_FILE)


def _with_reproducer(
    comparison: Comparison, reproduce: Callable[[], Comparison], findings: Diagnostics | None
) -> Comparison:
    """Returns a comparison after saving programs that reproduce its first divergence, if there is one."""
    if all(value.is_within for value in comparison.values):
        return comparison
    try:
        return reproduce()
    except DiagnosticError as error:
        if findings is None:
            raise
        findings.extend(error.diagnostics)
        return comparison


def requirements(
    rtol: float | Mapping[str, float] | None, atol: float | Mapping[str, float] | None, metric: str | Sequence[str]
) -> Requirements:
    """Returns tolerances and metrics. Raises: DiagnosticError (E0901) for an unknown metric, and a wrong threshold."""
    from commonir.comparing.measures import Requirements  # noqa: PLC0415

    names = (metric,) if isinstance(metric, str) else metric
    return Requirements(rtol, atol, tuple([_criterion(name) for name in names]))


def _criterion(text: str) -> Criterion:
    from commonir.comparing.measures import Metric, parse_criterion  # noqa: PLC0415

    known = [m.value for m in Metric]
    name = text.partition(":")[0].partition("=")[0]
    if name not in known:
        help = did_you_mean(name, known) or f"metrics: {', '.join(known)}"
        raise DiagnosticError(Diagnostic(WRONG_USAGE, f"no metric is called '{name}'", help=help))
    try:
        return parse_criterion(text)
    except ValueError as error:
        raise DiagnosticError(Diagnostic(WRONG_USAGE, f"metric '{text}': {error}")) from None


def _all_decide(values: str) -> bool:
    if values not in ("all", "outputs"):
        message = f"the values that decide are 'outputs' or 'all', not '{values}'"
        raise DiagnosticError(Diagnostic(WRONG_USAGE, message))
    return values == "all"


def _check_names(required: Requirements, known: Sequence[str]) -> None:
    """Raises: DiagnosticError (E0901) for a tolerance of a value that is not compared."""
    for name in required.names():
        if name not in known:
            help = did_you_mean(name, known) or "`cir compare --all` lists all values; `*` stands for any characters"
            message = f"there is a tolerance for '{name}', and no value of this name is compared"
            raise DiagnosticError(Diagnostic(WRONG_USAGE, message, help=help))


def _compared_ranks(
    programs: tuple[Module, Module], engines: tuple[str, str], function: str | None
) -> tuple[RanksSide | None, RanksSide | None] | None:
    """Returns the two sides of a comparison in which a program has several ranks, None for one that has not; None for
    other programs.

    Raises: DiagnosticError (E0713) when the programs have different numbers of ranks.
    """
    from commonir.comparing.ranks import RanksSide  # noqa: PLC0415
    from commonir.runtime.engine import Engines, runs_ranks  # noqa: PLC0415
    from commonir.runtime.ranks.program import ranks_of  # noqa: PLC0415

    if all(run_alone(module, function) is not None for module in programs):
        return None
    lowered = [lower(module, defer=True, function=function) for module in programs]
    known = Engines()
    sides = [
        None if ranks is None else RanksSide(module, ranks, known.get(engine))
        for module, engine in zip(lowered, engines, strict=True)
        for ranks in [ranks_of(module, function)]
    ]
    left, right = sides
    if left is None and right is None:
        return None
    if any(runs_ranks(known.get(engine)) for engine in engines):
        message = "programs are compared in one process"
        raise DiagnosticError(Diagnostic(WRONG_USAGE, message, help="name the engines numpy and reference"))
    if left is not None and right is not None and left.ranks.world_size != right.ranks.world_size:
        message = f"the programs have different numbers of ranks, {left.ranks.world_size} and {right.ranks.world_size}"
        help = "compare each with the program that they were divided from"
        raise DiagnosticError(Diagnostic(INTERFACES_DIFFER, message, help=help))
    return left, right


_OF_RANKS = "programs of ranks are compared by their outputs, and nothing is cut out of them"


def _refuse_reproducer(repro: Path_ | None, message: str) -> None:
    if repro is not None:
        raise DiagnosticError(Diagnostic(WRONG_USAGE, message, help="leave out the folder of the reproducer"))


def _compare_ranks(
    programs: tuple[Module, Module],
    of_ranks: tuple[RanksSide | None, RanksSide | None],
    inputs: Mapping[str, Array],
    run_as: _RunAs,
    required: Requirements,
) -> Comparison:
    """Compares programs of several ranks by their outputs on the same inputs; with the program that they were divided
    from on its inputs, each rank with what it has of the outputs. `run_as` is how that runs.
    """
    from commonir.comparing.ranks import WholeSide, compare_ranks  # noqa: PLC0415
    from commonir.inputs.rank_inputs import random_rank_inputs  # noqa: PLC0415

    seeded = run_as.engine_options.seeded(run_as.seed)
    left, right = of_ranks
    if left is not None and right is not None:
        drawn = random_rank_inputs(left.module, left.ranks, seed=run_as.seed, dims=run_as.dims, given=inputs)
        return compare_ranks(left, right, drawn, seeded, required)
    ranks = left or right
    assert ranks is not None
    side, drawn = _side_and_inputs(programs[0 if left is None else 1], inputs, run_as)
    whole, divided = WholeSide(side, ranks.ranks), ranks._replace(whole=side.function)
    first, second = (whole, divided) if left is None else (divided, whole)
    return compare_ranks(first, second, drawn, seeded, required)


def compare_outputs(
    expected: Mapping[str, Array],
    actual: Mapping[str, Array],
    *,
    rtol: float | Mapping[str, float],
    atol: float | Mapping[str, float] | None = None,
) -> Entries[OutputError]:
    """Returns the errors of arrays against the expected ones, output by output. Tolerances may be mappings by name."""
    from commonir.comparing import comparison  # noqa: PLC0415

    return Entries(comparison.compare_outputs(expected, actual, rtol=rtol, atol=atol))


def default_rtol(element_types: Iterable[str]) -> float:
    """Returns the relative tolerance for a program that computes values of these element types."""
    from commonir.comparing import comparison  # noqa: PLC0415

    return comparison.default_rtol(element_types)
