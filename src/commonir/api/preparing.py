"""Prepares programs to run many times: loaded ones, and models by their path, which may be compiled already."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from commonir.api.stored_models import cache_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from commonir.api.opening import Path_
    from commonir.ir.module import Module
    from commonir.native.caching.model_cache import CachedModel, ModelCache
    from commonir.runtime.engine import EngineOptions, Executable
    from commonir.runtime.state import State

    Array = NDArray[np.generic]


def prepare(
    module: Module | Path_,
    *,
    engine: str | None = None,
    function: str | None = None,
    state: State | None = None,
    options: EngineOptions | None = None,
) -> Executable:
    """Prepares a function to run many times; its `state` is the given one, or a new one.

    Of a model given by its path, what the engine `native` compiles is stored in the cache folder of the user: another
    process then runs it without reading the model.

    Raises: DiagnosticError (E07xx) when the function, the engine or the state cannot be used, and as `load`.
    """
    if not isinstance(module, str | os.PathLike):
        return _prepared(module, engine, function, state, options)
    is_plain = state is None and (options is None or _is_plain(options))
    cache = cache_of(module, engine, function) if is_plain else None
    model = None if cache is None else cache.read(1 if options is None else options.threads)
    return _ModelExecutable(module, engine, function, options, cache, model, state)


def _prepared(
    module: Module, engine: str | None, function: str | None, state: State | None, options: EngineOptions | None
) -> Executable:
    # Loads the definitions of operations.
    from commonir.api import running  # noqa: PLC0415

    return running.prepare(module, engine=engine, function=function, state=state, options=options)


def _is_plain(options: EngineOptions) -> bool:
    """Returns whether options are those by default, besides the number of threads and what a run does not need."""
    from commonir.runtime.engine import DEFAULT_OPTIONS  # noqa: PLC0415  loaded, as there are options

    plain = DEFAULT_OPTIONS
    return options._replace(threads=plain.threads, seed=plain.seed, plan_ahead=plain.plan_ahead) == plain


class _ModelExecutable:
    """A model that runs as stored code while its inputs allow, and is read when they do not."""

    def __init__(
        self,
        path: Path_,
        engine: str | None,
        function: str | None,
        options: EngineOptions | None,
        cache: ModelCache | None,
        model: CachedModel | None,
        state: State | None,
    ) -> None:
        self._path = path
        self._engine = engine
        self._function = function
        self._options = options
        self._cache = cache
        self._model = model
        self._stored: set[object] = set()
        self._general: Executable | None = None
        if model is None:
            self._general = self._loaded(state)

    def __repr__(self) -> str:
        return f"<executable of {os.fspath(self._path)}>"

    @property
    def state(self) -> State:
        """The contents of mutable globals; see `Executable`."""
        return self._executable().state

    @state.setter
    def state(self, state: State) -> None:
        self._model = None
        self._executable().state = state

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Returns the outputs by name; see `Executable`."""
        results = None if self._model is None else self._model.run(inputs)
        if results is not None:
            return results
        executable = self._executable()
        outputs = executable.run(inputs)
        if self._cache is not None:
            self._store(self._cache, executable, inputs, outputs)
        return outputs

    def _executable(self) -> Executable:
        if self._general is None:
            self._general = self._loaded(None)
        return self._general

    def _loaded(self, state: State | None) -> Executable:
        from commonir.api.opening import load  # noqa: PLC0415  loads the definitions of operations
        from commonir.base.diagnostics import Diagnostics  # noqa: PLC0415  as above

        findings = Diagnostics()
        self._source = load(self._path, findings=findings)
        if len(findings):
            # They are reported each time.
            self._cache = None
        return _prepared(self._source, self._engine, self._function, state, self._options)

    def _store(
        self, cache: ModelCache, executable: Executable, inputs: Mapping[str, Array], outputs: Mapping[str, Array]
    ) -> None:
        """Stores the program after a run with inputs of some shapes."""
        from commonir.native.caching.whole_programs import store_run  # noqa: PLC0415  loads the definitions
        from commonir.runtime.values import is_array  # noqa: PLC0415  as above

        shapes = tuple([x.shape for x in inputs.values() if is_array(x)])
        if shapes not in self._stored:
            store_run(cache, self._source, executable, inputs, outputs)
            self._stored.add(shapes)
