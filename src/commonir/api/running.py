"""Runs programs, and compares their results."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from commonir.api.opening import Path_
from commonir.api.programs import lower, shard
from commonir.base.codes import (
    CANNOT_BE_DIVIDED,
    UNSUPPORTED_CONVERSION,
    WRONG_INPUT,
)
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.tuples import NamedTuple
from commonir.ir.module import Module

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from commonir.api.stored_models import StoredModel
    from commonir.base.sparse import SparseArray
    from commonir.base.strict_json import Json
    from commonir.inputs.steps import Steps
    from commonir.ir.interface import Port
    from commonir.ir.module import Function
    from commonir.ir.types import Type
    from commonir.runtime.engine import EngineOptions, Executable, FastMath, RanksEngine
    from commonir.runtime.state import State

    Array = NDArray[np.generic]
    RunInput = Array | SparseArray | complex | str | Sequence[Any] | Mapping[Any, Any] | None
    """The types of an input: an array or scalar, a collection of such values, or nothing for one that is optional."""


def default_engine() -> str:
    """Returns the name of the engine that runs programs where none is named: `native` where it is installed."""
    from commonir.runtime.engine import default_engine_name  # noqa: PLC0415

    return default_engine_name()


def engine_for_one_run(options: EngineOptions | None = None) -> str:
    """Returns the name of the engine that runs programs once where none is named: compiling takes longer than a run."""
    return _engine_for_one_run(None, options) or default_engine()


def _engine_for_one_run(engine: str | None, options: EngineOptions | None) -> str | None:
    """Returns the name of the engine for a single run; None for the default engine, which may fall back on another."""
    from commonir.runtime.engine import DEFAULT_OPTIONS, engine_name_for_one_run  # noqa: PLC0415

    is_precise = options is None or options.fast_math == DEFAULT_OPTIONS.fast_math
    return engine or (engine_name_for_one_run() if is_precise else None)


def with_externs(module: Module, arrays: Mapping[str, Array]) -> Module:
    """Returns a program whose extern globals have the arrays of their names as values; the program itself if it has
    none.

    Raises: DiagnosticError (E0701 for a global without an array, E0703 for an array of another type).
    """
    from commonir.inputs import externs  # noqa: PLC0415

    return externs.with_externs(module, arrays)


def run(
    module: Module,
    inputs: Mapping[str, RunInput] | None = None,
    *,
    engine: str | None = None,
    function: str | None = None,
    seed: int = 0,
    state: State | None = None,
    options: EngineOptions | None = None,
    ranks: int | None = None,
    parallel: str | None = None,
    findings: Diagnostics | None = None,
) -> dict[str, Array]:
    """Runs a program once on arrays and collections by name, and returns its outputs by name.

    Missing inputs are random, by `seed`, and so are random operations without a seed, unless the options have one.
    `state` has the contents of mutable state and is updated; without it, state starts with its initial values.

    The ranks of a program run together: an input of one rank is `rank0.NAME`, and `NAME` stands for those of all ranks;
    outputs and states are `rank0.NAME`. With `ranks`, a program without ranks is first sharded as by `shard`, and keeps
    its inputs and outputs.

    Raises: DiagnosticError (E07xx) when inputs or the state are invalid, the engine is not available, or an operation
    fails.
    """
    from commonir.runtime.engine import DEFAULT_OPTIONS  # noqa: PLC0415

    began = time.monotonic()
    lowered = _lowered_for(module, engine, function)
    given: Mapping[str, Any] = fitted_inputs(module, inputs or {}, function=function, findings=findings)
    options = (options or DEFAULT_OPTIONS).seeded(seed)
    limit_bytes = options.memory_limit_bytes
    all_inputs = _drawn_inputs(lowered, function=function, seed=seed, given=given, memory_limit_bytes=limit_bytes)
    options = _with_time_left(options, began)
    engine = _engine_for_one_run(engine, options)
    with _noting_chosen_sizes(lowered, function, all_inputs, given):
        if ranks is not None:
            sharding = Sharding(ranks, parallel, findings)
            return _prepared_on_ranks(module, all_inputs, engine, function, state, options, sharding).run(all_inputs)
        return _prepared(module, lowered, engine, function, state, options).run(all_inputs)


def _with_time_left(options: EngineOptions, began: float) -> EngineOptions:
    """Returns options whose time limit is what is left of it, since the limit includes preparing the program."""
    limit = options.time_limit_seconds
    return (
        options if limit is None else options._replace(time_limit_seconds=max(limit - time.monotonic() + began, 1e-9))
    )


def prepare(
    module: Module,
    *,
    engine: str | None = None,
    function: str | None = None,
    state: State | None = None,
    options: EngineOptions | None = None,
) -> Executable:
    """Prepares a function to run many times; its `state` is the given one, or a new one.

    Raises: DiagnosticError (E07xx) when the function, the engine or the state cannot be used.
    """
    return _prepared(module, _lowered_for(module, engine, function), engine, function, state, options)


def _lowered_for(module: Module, engine: str | None, function: str | None) -> Module:
    """Returns a program lowered; as it is, if it cannot be lowered and the engine runs its dialect."""
    from commonir.runtime.engine import Engines, runs_as_it_is  # noqa: PLC0415

    try:
        return lower(module, defer=True, function=function)
    except DiagnosticError as error:
        is_undefined = all(d.code is UNSUPPORTED_CONVERSION for d in error.diagnostics)
        if engine is not None and is_undefined and runs_as_it_is(Engines().get(engine), module):
            return module
        raise


def _prepared(
    module: Module,
    lowered: Module,
    engine: str | None,
    function: str | None,
    state: State | None,
    options: EngineOptions | None,
) -> Executable:
    """Prepares a function to run. One that was lowered here may be lowered again for other sizes."""
    from commonir.runtime.engine import DEFAULT_OPTIONS, chosen_engine  # noqa: PLC0415
    from commonir.runtime.flexible import FlexibleExecutable  # noqa: PLC0415
    from commonir.runtime.ranks.execution import check_rank_states, prepare_ranks  # noqa: PLC0415
    from commonir.runtime.ranks.program import ranks_of  # noqa: PLC0415
    from commonir.runtime.state import check_state  # noqa: PLC0415

    ranks = ranks_of(lowered, function)
    if state is not None and ranks is None:
        check_state(state, lowered)
    elif state is not None and ranks is not None:
        check_rank_states(state, lowered, ranks)
    chosen = chosen_engine(engine)
    options = (options or DEFAULT_OPTIONS)._replace(plan_ahead=False)
    if ranks is not None:
        executable = prepare_ranks(chosen, lowered, ranks, options)
    else:
        executable = FlexibleExecutable(module, lowered, chosen, function, options)
    if state is not None:
        executable.state = state
    return executable


class Sharding(NamedTuple):
    """Parameters of sharding a program among ranks before it runs, and the receiver of its findings."""

    ranks: int
    parallel: str | None
    findings: Diagnostics | None


def _prepared_on_ranks(
    module: Module,
    inputs: Mapping[str, Array],
    engine: str | None,
    function: str | None,
    state: State | None,
    options: EngineOptions | None,
    sharding: Sharding,
) -> Executable:
    """Shards a function for inputs of some shapes, and prepares it to run."""
    from commonir.inputs.sharding import ShardedExecutable  # noqa: PLC0415
    from commonir.passes.lower import lower as lower_module  # noqa: PLC0415
    from commonir.runtime.ranks.program import ranks_of  # noqa: PLC0415
    from commonir.runtime.state import check_state  # noqa: PLC0415
    from commonir.runtime.values import is_array  # noqa: PLC0415

    if ranks_of(lower(module, defer=True, function=function), function) is not None:
        message = "the program has several ranks already"
        raise DiagnosticError(Diagnostic(CANNOT_BE_DIVIDED, message, help="leave out the number of ranks"))
    # Lists and maps have no shape.
    shapes = {name: tuple(array.shape) for name, array in inputs.items() if is_array(array)}
    whole = lower_module(module, shapes=shapes, function=function)
    divided = shard(whole, sharding.ranks, sharding.parallel, function=function, findings=sharding.findings)
    ranks = ranks_of(divided)
    if ranks is None:
        return _prepared(divided, divided, engine, None, state, options)
    result = ShardedExecutable(
        whole.function(function), ranks, _prepared(divided, divided, engine, None, None, options)
    )
    if state is not None:
        check_state(state, whole)
        result.state = state
    return result


def together(engine: str | None) -> AbstractContextManager[bool]:
    """Returns a context for the processes of an engine that has several: an error in one ends all.

    Yields whether this process reports results, which is True with other engines.

    Raises: DiagnosticError (E0705).
    """
    chosen = _engine_of_ranks(engine)
    return nullcontext(True) if chosen is None else chosen.together()


def runs_together(engine: str | None) -> bool:
    """Returns whether an engine of this name has several processes, which run a program together."""
    return _engine_of_ranks(engine) is not None


def _engine_of_ranks(name: str | None) -> RanksEngine | None:
    from commonir.runtime.engine import Engines, runs_ranks  # noqa: PLC0415

    if name is None:
        return None
    try:
        chosen = Engines().get(name)
    except DiagnosticError:
        # It is reported when the program runs, after errors of the program itself.
        return None
    return chosen if runs_ranks(chosen) else None


def read_image(
    module: Module, name: str, path: Path_, *, form: str = "", function: str | None = None, resize: bool = False
) -> Array:
    """Returns a PNG or JPEG file as the value of an input of a function, with `resize` resized to its size.

    An image input takes the pixels. For the input of a plain tensor, `form` says how they become its elements, such as
    `nchw,rgb,scale=1/255,mean=0.485/0.456/0.406,std=0.229/0.224/0.225`: (pixel * scale - mean) / std.

    Raises: DiagnosticError (E0703 for an input that no image fits, or an image of a wrong size; E0705 without Pillow;
    E0902 for a wrong form).
    """
    from commonir.inputs.images import image_input  # noqa: PLC0415

    return image_input(module.function(function), name, os.fspath(path), form=form, resize=resize)


def fitted_inputs(
    module: Module, inputs: Mapping[str, Any], *, function: str | None = None, findings: Diagnostics | None = None
) -> dict[str, Any]:
    """Returns inputs by name as arrays of the element types that a function declares, where their values fit.

    A conversion from floats that does not preserve every value of their type is added to `findings`. What does not fit
    stays as it is, and running reports it.
    """
    from commonir.runtime.binding.fitting import fitted_inputs as fit  # noqa: PLC0415

    try:
        called = module.function(function)
    except DiagnosticError:
        # A program of ranks has no function of this name.
        return dict(inputs)
    return fit(called, inputs, Diagnostics() if findings is None else findings)


def unknown_inputs(module: Module, names: Iterable[str], *, function: str | None = None) -> list[Diagnostic]:
    """Returns an error for each name that is not one of an input of a function (E0702); none for several ranks."""
    from commonir.runtime.binding.inputs import unknown_input  # noqa: PLC0415
    from commonir.runtime.binding.ports import names_of  # noqa: PLC0415

    ran = run_alone(module, function)
    known = () if ran is None else names_of(ran)
    return [unknown_input(name, known) for name in names if ran is not None and name not in known]


def scalar_input(module: Module, name: str, text: str, *, function: str | None = None) -> Array:
    """Returns a number, `true` or `false` as an array of rank 0 in the type of an input of a function.

    Raises: DiagnosticError (E0703 for an input that is not a scalar, and a number that is not a value of its type).
    """
    from commonir.inputs.scalars import scalar_input as read  # noqa: PLC0415

    return read(_taking(module, name, function), name, text)


def json_inputs(
    module: Module, text: str | bytes, *, name: str | None = None, function: str | None = None
) -> dict[str, Any]:
    """Returns the value of an input that a JSON text is, or of all inputs in an object of them by name.

    Raises: DiagnosticError (E0703 for a text that is not JSON, an unknown input, and a value of another type).
    """
    from commonir.base.strict_json import JsonError, parse  # noqa: PLC0415
    from commonir.inputs.json_values import input_of_json  # noqa: PLC0415

    try:
        value = parse(text)
    except JsonError as error:
        line = "" if error.line is None else f"line {error.line}: "
        raise DiagnosticError(Diagnostic(WRONG_INPUT, f"it is not JSON: {line}{error}")) from None
    named = {name: value} if name is not None else value
    if not isinstance(named, dict):
        raise DiagnosticError(Diagnostic(WRONG_INPUT, "it is not an object with a value for each input"))
    return {n: input_of_json(_taking(module, n, function), n, v) for n, v in named.items()}


def outputs_as_json(outputs: Mapping[str, Any]) -> dict[str, Json]:
    """Returns outputs as JSON by name, in the form in which inputs are read."""
    from commonir.inputs.json_values import json_of  # noqa: PLC0415

    return {name: json_of(value) for name, value in outputs.items()}


def _taking(module: Module, name: str, function: str | None) -> Function:
    """Returns the function that has an input: that of a rank for a program of several ranks."""
    from commonir.runtime.binding.ports import names_of  # noqa: PLC0415

    ran = run_alone(module, function)
    if ran is not None:
        return ran
    functions = list(module.functions.values())
    return next((f for f in functions if name in names_of(f)), functions[0] if functions else module.function(None))


def write_image(path: Path_, array: Array, port: Port) -> None:
    """Writes an image output as a PNG file: rounded to integers, halves to even, and limited to 0 and 255.

    Raises: DiagnosticError (E0703 for an output that is not an image, E0705 without Pillow, E08xx).
    """
    from commonir.base.images import write_image as write  # noqa: PLC0415
    from commonir.inputs.images import pixels_of  # noqa: PLC0415

    if port.image is None:
        raise DiagnosticError(Diagnostic(WRONG_INPUT, "the output is not an image", file=os.fspath(path)))
    write(path, pixels_of(array, port.image))


def engine_options(
    *,
    threads: int = 1,
    memory_limit_bytes: int | None = None,
    time_limit_seconds: float | None = None,
    fast_math: FastMath = "winograd",
) -> EngineOptions:
    """Returns options of an engine: threads, limits of a run, and how exact it is; see `EngineOptions`."""
    from commonir.runtime.engine import EngineOptions  # noqa: PLC0415

    return EngineOptions(threads, memory_limit_bytes, time_limit_seconds, fast_math=fast_math)


def run_steps(
    module: Module,
    inputs: Mapping[str, Array] | None = None,
    *,
    steps: int | None = None,
    engine: str | None = None,
    function: str | None = None,
    seed: int = 0,
    dims: Mapping[str, int] | None = None,
    state: State | None = None,
    options: EngineOptions | None = None,
    ranks: int | None = None,
    parallel: str | None = None,
    findings: Diagnostics | None = None,
    stored: StoredModel | None = None,
) -> Steps:
    """Runs a program several times with persistent state, and returns outputs stacked along a new first axis.

    An input with one more axis than declared has a slice for each step. Missing inputs are random, and different in
    each step. An output whose shape changes is returned as `stepN/NAME`. If `steps` is None the program runs once,
    without an axis of steps. `ranks`, `parallel` and `findings` are as for `run`. What is compiled is kept in `stored`.

    Raises: as `run`.
    """
    from commonir.inputs.steps import Steps, joined  # noqa: PLC0415

    lowered = _lowered_for(module, engine, function)
    step_inputs = [inputs or {}] if steps is None else _by_step(lowered, function, inputs or {}, steps)
    limit_bytes = None if options is None else options.memory_limit_bytes
    drawn = [
        _drawn_inputs(lowered, function=function, seed=seed + n, dims=dims, given=part, memory_limit_bytes=limit_bytes)
        for n, part in enumerate(step_inputs)
    ]
    engine = engine if steps is not None else _engine_for_one_run(engine, options)
    with _noting_chosen_sizes(lowered, function, drawn[0], step_inputs[0], dims):
        if ranks is None:
            executable = _prepared(module, lowered, engine, function, state, options)
        else:
            sharding = Sharding(ranks, parallel, findings)
            executable = _prepared_on_ranks(module, drawn[0], engine, function, state, options, sharding)
        outputs = [executable.run(part) for part in drawn]
    if stored is not None and ranks is None:
        from commonir.inputs.random_inputs import number_draws  # noqa: PLC0415  as all that runs programs

        is_drawn = not step_inputs[0] and not dims
        draws = number_draws(lowered.function(function), drawn[0]) if is_drawn else None
        stored.store(module, executable, drawn[0], outputs[0], draws)
    return Steps(drawn[0], outputs[0] if steps is None else joined(outputs), engine or default_engine())


def _by_step(lowered: Module, function: str | None, inputs: Mapping[str, Array], steps: int) -> list[dict[str, Array]]:
    """Returns the inputs of each step."""
    from commonir.inputs.rank_inputs import rank_inputs_by_step  # noqa: PLC0415
    from commonir.inputs.steps import inputs_by_step  # noqa: PLC0415
    from commonir.runtime.ranks.program import ranks_of  # noqa: PLC0415

    ranks = ranks_of(lowered, function)
    if ranks is not None:
        return rank_inputs_by_step(ranks, inputs, steps)
    return inputs_by_step(lowered.function(function), inputs, steps)


def input_ports(module: Module, *, function: str | None = None) -> Mapping[str, Port]:
    """Returns the ports of a function's inputs by name, where they are not empty; {} for a program of several ranks."""
    ran = run_alone(module, function)
    return {} if ran is None else ran.input_ports


def output_ports(module: Module, *, function: str | None = None) -> Mapping[str, Port]:
    """Returns the ports of a function's outputs by name, where they are not empty; {} for a program of several
    ranks.
    """
    ran = run_alone(module, function)
    return {} if ran is None else ran.output_ports


def runs(module: Module) -> tuple[str | None, ...]:
    """Returns the functions of a program that can be run; None stands for its main function, or for all ranks together.

    Raises: DiagnosticError (E0709) for a program of several ranks with missing ones.
    """
    from commonir.runtime.ranks.program import ranks_of  # noqa: PLC0415

    lowered = lower(module, defer=True)
    is_one = ranks_of(lowered) is not None or run_alone(lowered, None) is not None
    return (None,) if is_one else tuple(lowered.defined_functions)


def run_alone(module: Module, function: str | None) -> Function | None:
    """Returns the function that a run executes; None if it executes all ranks."""
    try:
        return module.function(function)
    except DiagnosticError:
        if function is not None:
            raise
        return None


def shape_mismatches(module: Module, outputs: Mapping[str, Array], *, function: str | None = None) -> list[Diagnostic]:
    """Returns diagnostics where the outputs of a run contradict the function's declared shapes."""
    from commonir.runtime.binding.ports import shape_mismatches as compared  # noqa: PLC0415

    ran = run_alone(module, function)
    return [] if ran is None else list(compared(ran, outputs))


def flat_arrays(
    module: Module, values: Mapping[str, Any], *, function: str | None = None
) -> tuple[dict[str, Array], list[str]]:
    """Returns the arrays in inputs or outputs of a run, in their declared element types, under names such as
    `scores[0]`, and the names of absent values and empty lists.
    """
    from commonir.base.arrays import flat_values  # noqa: PLC0415
    from commonir.runtime.binding.ports import names_of  # noqa: PLC0415
    from commonir.runtime.values import with_declared_entries  # noqa: PLC0415

    ran = run_alone(module, function)
    types: dict[str, Type] = {}
    if ran is not None:
        named = (*zip(names_of(ran), ran.inputs, strict=True), *zip(ran.output_names, ran.outputs, strict=True))
        types = {name: v.type for name, v in named}
    return flat_values({name: with_declared_entries(value, types.get(name)) for name, value in values.items()})


def run_converted(
    source: Module,
    converted: Module,
    inputs: Mapping[str, Array],
    *,
    function: str | None = None,
    state: State | None = None,
    options: EngineOptions | None = None,
) -> dict[str, Array]:
    """Runs a converted program on inputs of the original one, and returns outputs under the original names.

    A conversion may change names and element types: inputs and outputs with new names correspond by position. It may
    also have sharded the program. A program of several ranks has the same names before and after. `state` has the
    contents of states in the element types of the original one.
    """
    from commonir.inputs.adaptation import (  # noqa: PLC0415
        adapted_inputs,
        adapted_state,
        renamed_outputs,
        restored_state,
        states_as_inputs,
    )
    from commonir.inputs.sharding import shard_inputs, unshard_outputs  # noqa: PLC0415
    from commonir.passes.thread_globals import STATE_OUTPUT  # noqa: PLC0415
    from commonir.runtime.ranks.program import full_name, ranks_of  # noqa: PLC0415

    lowered, after = lower(source, defer=True, function=function), lower(converted, defer=True, function=function)
    ranks = ranks_of(after)
    if ranks is not None and ranks_of(lowered) is not None:
        return dict(run(converted, inputs, state=state, options=options))
    before = lowered.function(function)
    name = function if function in after.functions else None
    called = after.function(name) if ranks is None else ranks.functions[0]
    passed = states_as_inputs(lowered, after, called, state or {})
    inputs = {**inputs, **passed}
    if ranks is not None:
        own = None if passed else state
        outputs = dict(run(converted, shard_inputs(before, ranks, inputs), state=own, options=options))
        for n in passed:
            kept = [outputs.pop(full_name(rank, n + STATE_OUTPUT), passed[n]) for rank in range(ranks.world_size)]
            passed[n] = kept[0]
        result = unshard_outputs(before, ranks, outputs)
    else:
        contents = adapted_state(lowered, after, state or {})
        adapted = adapted_inputs(before, called, inputs)
        outputs = dict(run(converted, adapted, function=name, state=contents, options=options))
        passed = {n: outputs.pop(n + STATE_OUTPUT, array) for n, array in passed.items()}
        if state is not None:
            state.update(restored_state(lowered, contents))
        result = renamed_outputs(before, outputs, called)
    if state is not None:
        state.update(restored_state(lowered, passed))
    return result


def run_with_onnxruntime(
    path: Path_,
    inputs: Mapping[str, Array],
    *,
    source: Module | None = None,
    function: str | None = None,
    state: State | None = None,
    options: EngineOptions | None = None,
) -> dict[str, Array]:
    """Runs an ONNX file with onnxruntime, as a check by an independent implementation.

    With `source`, the program that was converted to the file, outputs that the conversion renamed have the names there.
    Inputs that were states before a conversion are taken from `state`, which receives their new values; without an
    entry there they have the initial values in `source`.

    Raises: DiagnosticError (E0705 without onnxruntime, E0708 and E0709 when it fails or refuses the file, E0711 when a
    time limit passes).
    """
    from commonir.engines.onnxruntime import run_file  # noqa: PLC0415
    from commonir.inputs.adaptation import renamed_outputs  # noqa: PLC0415
    from commonir.runtime.engine import DEFAULT_OPTIONS  # noqa: PLC0415
    from commonir.runtime.state import initial_contents  # noqa: PLC0415

    def initial() -> dict[str, Array]:
        return {} if source is None else initial_contents(lower(source, defer=True))

    outputs = run_file(path, inputs, state, options or DEFAULT_OPTIONS, initial)
    if source is None or set(source.function(function).output_names) <= set(outputs):
        return outputs
    return renamed_outputs(lower(source, defer=True, function=function).function(function), outputs)


def random_inputs(
    module: Module,
    *,
    function: str | None = None,
    seed: int = 0,
    dims: Mapping[str, int] | None = None,
    given: Mapping[str, Array] | None = None,
) -> dict[str, Array]:
    """Returns inputs for a function: those given, and seeded random ones for the others.

    `dims` sets symbolic dimensions by name; others are small. Inputs of several ranks with the same name and type are
    equal.
    """
    return _drawn_inputs(
        lower(module, defer=True, function=function), function=function, seed=seed, dims=dims, given=given
    )


def _noting_chosen_sizes(
    lowered: Module,
    function: str | None,
    inputs: Mapping[str, Array],
    given: Iterable[str],
    dims: Mapping[str, int] | None = None,
) -> AbstractContextManager[None]:
    """Returns a context whose errors say which sizes of random inputs were chosen; see `inputs.random_inputs`."""
    from commonir.inputs.random_inputs import noting_chosen_sizes  # noqa: PLC0415

    ran = run_alone(lowered, function)
    return nullcontext() if ran is None else noting_chosen_sizes(ran, inputs, given, dims or {})


def _drawn_inputs(
    lowered: Module,
    *,
    function: str | None,
    seed: int,
    dims: Mapping[str, int] | None = None,
    given: Mapping[str, Array] | None = None,
    memory_limit_bytes: int | None = None,
) -> dict[str, Array]:
    from commonir.inputs.random_inputs import random_inputs as draw  # noqa: PLC0415
    from commonir.inputs.rank_inputs import random_rank_inputs  # noqa: PLC0415
    from commonir.runtime.limits import no_memory  # noqa: PLC0415
    from commonir.runtime.ranks.program import ranks_of  # noqa: PLC0415

    ranks = ranks_of(lowered, function)
    if ranks is not None:
        return random_rank_inputs(
            lowered, ranks, seed=seed, dims=dims or {}, given=given or {}, memory_limit_bytes=memory_limit_bytes
        )
    try:
        return draw(
            lowered,
            function=function,
            seed=seed,
            dims=dims or {},
            given=given or {},
            memory_limit_bytes=memory_limit_bytes,
        )
    except MemoryError as error:
        raise no_memory(error) from error
