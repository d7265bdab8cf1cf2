"""Runs of models that are compiled already, which `cir run` does without reading the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from commonir.base.diagnostics import DiagnosticError
from commonir.cli.options import DEFAULT_FAST_MATH
from commonir.cli.saving import ARCHIVES, SaveOptions
from commonir.cli.session import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonir.api import StoredModel, StoredRun


class StoredRunOptions(SaveOptions, Protocol):
    """The options of a run that stored programs depend on."""

    @property
    def engine(self) -> str | None: ...
    @property
    def function(self) -> str | None: ...
    @property
    def sets(self) -> int | None: ...
    @property
    def state(self) -> str | None: ...
    @property
    def ranks(self) -> int | None: ...
    @property
    def externs(self) -> tuple[str, ...]: ...
    @property
    def threads(self) -> int: ...
    @property
    def fast_math(self) -> str: ...
    @property
    def time_limit(self) -> float | None: ...
    @property
    def mem_limit(self) -> int | None: ...
    @property
    def expect(self) -> str | None: ...


def stored_model_of(session: Session, model: str, options: StoredRunOptions) -> StoredModel | None:
    """Returns the place of the compiled program of a model; None for runs whose code would be another one."""
    is_limited = options.mem_limit is not None or options.time_limit is not None
    if is_limited or options.fast_math != DEFAULT_FAST_MATH or options.externs or options.ranks is not None:
        return None
    return session.stored_model(model, engine=options.engine, function=options.function)


def run_stored(
    session: Session, stored: StoredModel, inputs: Sequence[str], options: StoredRunOptions
) -> StoredRun | None:
    """Runs the stored program of a model; None if there is none, and for runs that need to know more of the model."""
    several = (options.steps, options.sets, options.state, options.save_state)
    beside = (options.save_inputs, options.save_all, options.expect)
    if any(option is not None for option in (*several, *beside)) or options.dims:
        return None
    if options.save is not None and not options.save.lower().endswith(ARCHIVES):
        return None
    try:
        return stored.run(
            lambda: session.arrays.parse_inputs(inputs, seed=options.seed), seed=options.seed, threads=options.threads
        )
    except DiagnosticError:
        # It is found again, and reported with what the model says.
        return None
