"""Finds compiled programs of model files by their paths, and stores them.

Importing this module, and running what is stored, loads no definitions of operations.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from commonir.base.tuples import NamedTuple
from commonir.runtime.engine_variable import ENGINE_VARIABLE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from commonir.api.opening import Path_
    from commonir.ir.module import Module
    from commonir.native.caching.model_cache import ModelCache
    from commonir.runtime.drawing import NumberDraw
    from commonir.runtime.engine import Executable

    Array = NDArray[np.generic]

_COMPILING_ENGINE = "native"


def cache_of(path: Path_, engine: str | None, function: str | None) -> ModelCache | None:
    """Returns the stored programs of a model; None if the engine does not compile, or nothing can be stored."""
    if (engine or os.environ.get(ENGINE_VARIABLE) or _COMPILING_ENGINE) != _COMPILING_ENGINE:
        return None
    from commonir.native.caching.model_cache import model_cache  # noqa: PLC0415  loads numpy

    return model_cache(path, function)


class StoredRun(NamedTuple):
    """The inputs and outputs of a run by name."""

    inputs: dict[str, Array]
    outputs: dict[str, Array]


class StoredModel:
    """The compiled program of a model file, for runs by default options. Make it before the file is read.

    `compiles` says whether single runs compile, because the engine is named.
    """

    def __init__(self, cache: ModelCache, *, compiles: bool) -> None:
        self._cache = cache
        self.compiles = compiles

    def run(self, inputs: Callable[[], Mapping[str, Array]], *, seed: int, threads: int) -> StoredRun | None:
        """Runs the stored program; None if there is none for such inputs, or the model says more of them and of the
        outputs than that they are arrays. `inputs` returns the given ones; if there are none, all are random.
        """
        model = self._cache.read(threads)
        if model is None:
            return None
        arrays = dict(inputs())
        if not arrays:
            arrays = {draw.name: draw.array(seed) for draw in self._cache.read_draws() or ()}
        outputs = model.run(arrays, is_plain=True)
        return None if outputs is None else StoredRun(arrays, outputs)

    def store(
        self,
        module: Module,
        executable: Executable,
        inputs: Mapping[str, Array],
        outputs: Mapping[str, Array],
        draws: Sequence[NumberDraw] | None,
    ) -> None:
        """Stores the program of a run; `draws` say how its inputs were drawn, if they are random ones by default."""
        from commonir.native.caching.whole_programs import store_run  # noqa: PLC0415  loads the definitions

        store_run(self._cache, module, executable, inputs, outputs, draws)


def stored_model(path: Path_, *, engine: str | None = None, function: str | None = None) -> StoredModel | None:
    """Returns the place of the compiled program of a model; None if the engine does not compile, or cannot store."""
    cache = cache_of(path, engine, function)
    return None if cache is None else StoredModel(cache, compiles=bool(engine or os.environ.get(ENGINE_VARIABLE)))
