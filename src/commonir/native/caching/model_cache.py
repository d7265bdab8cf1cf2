"""Whole programs in the cache: from the path of a model to code that is ready to run, without reading the model.

An entry is found by the state of the files of a model (place, size, times, number of the file), of this package and of
the processor. It is made after a first run, of a function that ran as one compiled graph, and has the inputs for which
it may be used; whatever else is given, such as other shapes or numbers to convert, takes the ordinary way. Sizes that
the program leaves open are stored for each set of shapes that ran.

Importing this module loads neither definitions nor a compiler: a process that finds an entry needs none.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir import base
from commonir.base.file_cache import FileCache
from commonir.base.tuples import NamedTuple
from commonir.base.version import __version__
from commonir.llvm.code_image import is_loadable
from commonir.llvm.compiled_cache import compiled_cache
from commonir.native.caching.stored_programs import description_of, program_of, sections_of
from commonir.native.compiled_graph import CompiledGraph
from commonir.native.program import CompiledProgram
from commonir.runtime.drawing import NumberDraw
from commonir.runtime.limits import reporting_out_of_range

Array = NDArray[Any]

_PROCESSOR = Path("/proc/cpuinfo")
_PROCESSOR_BYTES = 1 << 14
_PROCESSOR_FIELDS = (b"vendor_id", b"cpu family", b"model", b"stepping", b"flags")
_FOLDER_SUFFIX, _FILE_SUFFIX = ".mlpackage", ".onnx"
_MOST_FILES = 64


class InputSpec(NamedTuple):
    """An input of a model: its name, dtype and number of axes."""

    name: str
    dtype: str
    ndim: int


class WholeProgram(NamedTuple):
    """A function that runs as one compiled program. Its inputs and outputs are those of the program by position.

    `inputs` are all of the function, `used` those that the program reads, in its order; `outputs` are the names of the
    function's outputs for those of the program.
    """

    program: CompiledProgram
    inputs: tuple[InputSpec, ...]
    used: tuple[str, ...]
    outputs: tuple[str, ...]


class KnownShapes(NamedTuple):
    """Facts about shapes of the inputs: the values of the program's symbols, and whether a run is plain: inputs
    and outputs are arrays without further properties, and the outputs have the shapes that are declared.
    """

    dims: Mapping[str, int]
    is_plain: bool


class ModelCache:
    """The entries of one model and function."""

    def __init__(self, cache: FileCache, key: str) -> None:
        self._cache = cache
        self._key = f"model-{key}"

    def read(self, threads: int = 1) -> CachedModel | None:
        """Returns the program if it is stored, and belongs to the data files that it was made from."""
        entry = self._cache.read(self._key)
        if entry is None or any(_state_of(path) != state for path, state in entry.description["data"].items()):
            return None
        stored = entry.description
        inputs = tuple([InputSpec(*i) for i in stored["inputs"]])
        whole = WholeProgram(program_of(entry), inputs, tuple(stored["used"]), tuple(stored["outputs"]))
        return CachedModel(self, whole, threads)

    def write(self, whole: WholeProgram, data: Iterable[str]) -> None:
        """Stores a program that was made from a model and its files of data."""
        description = {
            "program": description_of(whole.program),
            "data": {path: _state_of(path) for path in data},
            "inputs": [list(i) for i in whole.inputs],
            "used": whole.used,
            "outputs": whole.outputs,
        }
        self._cache.write(self._key, description, sections_of(whole.program))

    def read_shapes(self, shapes: Sequence[tuple[int, ...]]) -> KnownShapes | None:
        """Returns the facts about shapes of the inputs; None if they have not run yet."""
        entry = self._cache.read(self._shapes_key(shapes))
        return None if entry is None else KnownShapes(**entry.description)

    def write_shapes(self, shapes: Sequence[tuple[int, ...]], known: KnownShapes) -> None:
        """Stores that the program runs for shapes of the inputs."""
        key = self._shapes_key(shapes)
        if self._cache.read(key) is None:
            self._cache.write(key, known._asdict(), {})

    def read_draws(self) -> list[NumberDraw] | None:
        """Returns how random inputs are drawn where none is given."""
        entry = self._cache.read(self._draws_key)
        if entry is None:
            return None
        return [
            NumberDraw(name, element, kind, tuple(shape), below)
            for name, element, kind, shape, below in entry.description["draws"]
        ]

    def write_draws(self, draws: Iterable[NumberDraw]) -> None:
        """Stores how random inputs are drawn where none is given."""
        if self._cache.read(self._draws_key) is None:
            self._cache.write(self._draws_key, {"draws": list(draws)}, {})

    @property
    def _draws_key(self) -> str:
        return f"{self._key}-draws"

    def _shapes_key(self, shapes: Sequence[tuple[int, ...]]) -> str:
        return f"{self._key}-{hashlib.sha256(json.dumps(shapes).encode()).hexdigest()[:32]}"


class CachedModel:
    """A stored program in memory."""

    def __init__(self, cache: ModelCache, whole: WholeProgram, threads: int) -> None:
        self._cache = cache
        self._whole = whole
        self._graph = CompiledGraph(whole.program, threads)
        self._known: dict[tuple[tuple[int, ...], ...], KnownShapes | None] = {}
        self._running = Lock()

    def run(self, inputs: Mapping[str, Any], *, is_plain: bool = False) -> dict[str, Array] | None:
        """Returns the outputs by name; None for inputs that take the ordinary way, and with `is_plain` for others than
        plain runs.

        Raises: DiagnosticError (E0708) for positions outside of a tensor.
        """
        arrays: list[Array] = []
        for spec in self._whole.inputs:
            x = _array_of(inputs.get(spec.name))
            if x is None or x.dtype != spec.dtype or x.ndim != spec.ndim:
                return None
            arrays.append(x)
        if len(inputs) != len(arrays):
            return None
        shapes = tuple([x.shape for x in arrays])
        with self._running:
            if shapes not in self._known:
                self._known[shapes] = self._cache.read_shapes(shapes)
            known = self._known[shapes]
            if known is None or (is_plain and not known.is_plain):
                return None
            with reporting_out_of_range():
                results = self._graph.run([inputs[name] for name in self._whole.used], known.dims)
        if results is None:
            return None
        program = self._whole.program
        kept = {*program.constants, *[t.name for t in program.inputs]}
        return {
            name: x.copy() if tensor.name in kept else x
            for name, x, tensor in zip(self._whole.outputs, results, program.outputs, strict=True)
        }


def model_cache(path: str | os.PathLike[str], function: str | None) -> ModelCache | None:
    """Returns the entries of a model; None if its programs are not stored, or this system cannot load them."""
    cache = compiled_cache() if is_loadable() else None
    files = _files_of(os.path.realpath(path)) if cache is not None else None
    if cache is None or files is None:
        return None
    try:
        states = {file: _state_of(file) for file in files}
        state = (__version__, _package_state(), _processor(), states, function)
    except OSError:
        return None
    return ModelCache(cache, hashlib.sha256(json.dumps(state).encode()).hexdigest())


def _files_of(path: str) -> list[str] | None:
    """Returns the files of a model that has no others but those of data; None for other formats."""
    if path.endswith(_FILE_SUFFIX):
        return [path]
    if not path.endswith(_FOLDER_SUFFIX):
        return None
    files = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names]
    return sorted(files) if 0 < len(files) <= _MOST_FILES else None


def _state_of(path: str) -> list[int] | None:
    """Returns the state of a file, which differs after every change; None if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def _array_of(value: object) -> Array | None:
    return value if isinstance(value, np.ndarray) else None  # pyright: ignore[reportUnknownVariableType]  its dtype is compared


@cache
def _package_state() -> str:
    """Returns a digest of the files of this package, which change without its version where it is developed."""
    files: list[str] = []
    pending = [os.path.dirname(folder) for folder in base.__path__]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    status = entry.stat()
                    files.append(f"{entry.path} {status.st_size} {status.st_mtime_ns}")
                elif entry.name != "__pycache__" and entry.is_dir():
                    pending.append(entry.path)
    return hashlib.sha256("\n".join(sorted(files)).encode()).hexdigest()


@cache
def _processor() -> str:
    """Returns the name and the features of the processor. Raises: OSError."""
    with _PROCESSOR.open("rb") as file:
        lines = file.read(_PROCESSOR_BYTES).split(b"\n\n")[0].splitlines()
    return b"\n".join([line for line in lines if line.startswith(_PROCESSOR_FIELDS)]).decode(errors="replace")
