"""Measures what the operations of a program cost, on one engine or several side by side."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from commonir.api.opening import Path_
from commonir.api.programs import lower
from commonir.api.running import default_engine, run_alone
from commonir.base.codes import UNKNOWN_OUTPUT_FORMAT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.ir.module import Module
from commonir.reports import Profile, ProfileComparison, ProfileEntry

_MEASURING = "numpy"
"""The engine that runs operations separately where another one times them: it is ready for each at once."""

if TYPE_CHECKING:
    from commonir.api.running import Array
    from commonir.comparing.profile import Repeats
    from commonir.runtime.engine import Engine, EngineOptions


def profile(
    module: Module,
    inputs: Mapping[str, Array] | None = None,
    *,
    engine: str | None = None,
    function: str | None = None,
    seed: int = 0,
    dims: Mapping[str, int] | None = None,
    warmup: int = 1,
    repeat: int = 5,
    options: EngineOptions | None = None,
    on_progress: Callable[[str], None] = lambda _: None,
) -> Profile:
    """Returns the costs of a program's operations on an engine, on the same inputs.

    Missing inputs are random, by `seed`. Operations are timed separately, `warmup` times untimed, then `repeat` times;
    `onnxruntime` times them in ordinary runs, and `iree` only the whole. Ranks are timed together, and what they send
    and wait for apart from what they compute. `on_progress` receives messages.

    Raises: DiagnosticError (E0709 for an engine that cannot run or time ranks, E07xx as `run`).
    """
    (result,) = profile_engines(
        module,
        inputs,
        engines=[engine or default_engine()],
        function=function,
        seed=seed,
        dims=dims,
        warmup=warmup,
        repeat=repeat,
        options=options,
        on_progress=on_progress,
    ).profiles
    return result


def profile_engines(
    module: Module,
    inputs: Mapping[str, Array] | None = None,
    *,
    engines: Sequence[str],
    function: str | None = None,
    seed: int = 0,
    dims: Mapping[str, int] | None = None,
    warmup: int = 1,
    repeat: int = 5,
    options: EngineOptions | None = None,
    on_progress: Callable[[str], None] = lambda _: None,
) -> ProfileComparison:
    """Returns the costs of a program's operations on several engines, on the same inputs; see `profile`.

    Raises: as `profile`.
    """
    from commonir.comparing import profile as profiling  # noqa: PLC0415
    from commonir.comparing.divergence import Side  # noqa: PLC0415
    from commonir.inputs.random_inputs import random_inputs as draw  # noqa: PLC0415
    from commonir.inspection.profiling.rows import compared, layers_of, with_layers  # noqa: PLC0415
    from commonir.runtime.engine import DEFAULT_OPTIONS, Engines, times_operations  # noqa: PLC0415

    chosen, repeats = options or DEFAULT_OPTIONS, profiling.Repeats(warmup, repeat)
    known = [Engines().get(name) for name in engines]
    if run_alone(module, function) is None:
        profiles = _profile_ranks(module, inputs, known, seed, dims, repeats, chosen, on_progress)
        return compared([with_layers(each, layers_of(each.entries)) for each in profiles])
    sides = [Side(module, each, function, seed) for each in known]
    drawn: Mapping[str, Array] = {}
    costs: Mapping[str, ProfileEntry] | None = None
    profiles: list[Profile] = []
    for side in sides:
        name = side.function.symbol_name
        all_inputs = {**side.initial, **(inputs or {}), **drawn}
        drawn = draw(side.lowered, function=name, seed=seed, dims=dims or {}, given=all_inputs)
        if times_operations(side.engine) and costs is None:
            costs = _costs(module, drawn, function, seed, chosen)
        result = profiling.profile(side, drawn, repeats, chosen, on_progress, costs or {})
        if result.method == "separate":
            costs = {e.name: e for e in result.entries}
        profiles.append(result)
    layers = layers_of(tuple((costs or {}).values()) or profiles[0].entries)
    return compared([with_layers(each, layers) for each in profiles])


def _costs(
    module: Module, inputs: Mapping[str, Array], function: str | None, seed: int, options: EngineOptions
) -> dict[str, ProfileEntry]:
    """Returns the operations and bytes of each value of a program, by name; {} where the program cannot be lowered."""
    from commonir.comparing import profile as profiling  # noqa: PLC0415
    from commonir.comparing.divergence import Side  # noqa: PLC0415
    from commonir.runtime.engine import Engines  # noqa: PLC0415

    try:
        side = Side(module, Engines().get(_MEASURING), function, seed)
        _, entries = profiling.pieces(side, inputs, profiling.Repeats(0, 1), options)
    except DiagnosticError:
        return {}
    return {e.name: e for e in entries}


def _profile_ranks(
    module: Module,
    inputs: Mapping[str, Array] | None,
    engines: Sequence[Engine],
    seed: int,
    dims: Mapping[str, int] | None,
    repeats: Repeats,
    options: EngineOptions,
    on_progress: Callable[[str], None],
) -> list[Profile]:
    """Returns the costs of a program of several ranks on each engine."""
    from commonir.comparing.rank_profile import profile_ranks  # noqa: PLC0415
    from commonir.inputs.rank_inputs import random_rank_inputs  # noqa: PLC0415
    from commonir.ir.lookup import named_by_nodes  # noqa: PLC0415
    from commonir.runtime.ranks.program import ranks_of  # noqa: PLC0415

    module = named_by_nodes(module)
    lowered = lower(module, defer=True)
    ranks = ranks_of(lowered)
    assert ranks is not None
    drawn = random_rank_inputs(lowered, ranks, seed=seed, dims=dims or {}, given=inputs or {})
    seeded = options.seeded(seed)
    return [profile_ranks(module, lowered, ranks, each, drawn, repeats, seeded, on_progress) for each in engines]


def save_profile(profiles: ProfileComparison, path: Path_, *, title: str = "") -> None:
    """Writes profiles as an HTML page: times by operation and layer, a roofline, memory over time, ranks.

    The page needs nothing but a browser. The peaks of this machine are measured, which takes a moment.

    Raises: DiagnosticError (E08xx; E0804 for another suffix than .html).
    """
    from commonir.base.files import atomic_file  # noqa: PLC0415
    from commonir.comparing.machine_peak import machine_peak  # noqa: PLC0415
    from commonir.inspection.profiling.page import page  # noqa: PLC0415

    if not os.fspath(path).lower().endswith((".html", ".htm")):
        message = f"a profile is drawn as an HTML page, and '{os.path.basename(path)}' is not called so"
        raise DiagnosticError(Diagnostic(UNKNOWN_OUTPUT_FORMAT, message, help="call it NAME.html"))
    content = page(profiles, machine_peak(), title)
    with atomic_file(path) as out:
        out.write(content.encode())


def save_trace(profiles: Profile | ProfileComparison, path: Path_) -> None:
    """Writes profiles for trace viewers such as chrome://tracing and Perfetto. Raises: DiagnosticError (E08xx)."""
    from commonir.comparing.profile import save_trace as save  # noqa: PLC0415

    save([profiles] if isinstance(profiles, Profile) else profiles.profiles, path)
