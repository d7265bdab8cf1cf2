"""Runs libraries that were compiled ahead of time. It needs no compiler, and never the program.

A library is checked before the system loads it, and asked whether the processor will do before anything else of it is
called.
"""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.ahead_of_time.library_file import COMPARED_BYTES, SCHEMA, description_of
from commonir.base.arrays import dtype_of
from commonir.base.codes import EXECUTION_FAILED, UNKNOWN_FUNCTION, WRONG_LIBRARY
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.strict_json import Json
from commonir.base.suggestions import did_you_mean, known_names
from commonir.base.tuples import NamedTuple
from commonir.dialects.mlir.ml_program import Func
from commonir.ir.interface import port_attributes
from commonir.ir.operation import Block, Region
from commonir.ir.ports import Port
from commonir.ir.types import ELEMENT_TYPES, FunctionType, TensorType
from commonir.runtime.binding.inputs import bind
from commonir.runtime.state import State
from commonir.symbolic import Dim, evaluate, parse

Array = NDArray[Any]


class _Entry(NamedTuple):
    """A function of a library: its symbol, its signature, the symbols of its sizes, and its outputs."""

    symbol: str
    signature: Func
    sizes: tuple[str, ...]
    outputs: tuple[tuple[str, TensorType], ...]
    has_states: bool


class _StatePlace(NamedTuple):
    """A state in the block of all states."""

    name: str
    type: TensorType
    place: int


class CompiledLibrary:
    """A library of compiled functions. `functions` are their names; the first one runs where none is named."""

    def __init__(self, path: Path) -> None:
        self._path = path
        found = description_of(path)
        described = found.entries
        if described.get("schema") != SCHEMA:
            raise self._wrong(f"its description has the schema {described.get('schema')!r}, not '{SCHEMA}'")
        self._read(described)
        self._check_system(str(described["triple"]))
        self._library = self._loaded(found.content)
        if not described["is_checked"] or not self._function("check_cpu", ctypes.c_int)():
            features = ", ".join(_texts(described["features"]))
            raise self._wrong(f"it was compiled for a processor with {features}, which this one may lack")
        self._weights = self._mapped_weights(described["weights"])
        size = described["workspace_bytes"]
        assert isinstance(size, int)
        self._workspace = None if described["is_static"] else np.empty(size, np.uint8)
        self._contents = np.zeros(_integer(described["state_bytes"]), np.uint8)
        self._views = {s.name: _view_of(self._contents, s) for s in self._states}
        # The arrays that `state` got from the last run, which are still where the library keeps them.
        self._known: dict[str, Array] = {}
        self._running = Lock()
        self.state = State()

    def _loaded(self, content: bytes) -> ctypes.CDLL:
        """Returns the library in memory. Raises: DiagnosticError (E0721).

        Where the process has an older file of this path in memory, the system would return that one: then a copy is
        loaded.
        """
        try:
            library = ctypes.CDLL(str(self._path))
            if self._is_described(library, content):
                return library
            with tempfile.TemporaryDirectory(prefix="cir-") as folder:
                copy = shutil.copy(self._path, folder)
                library = ctypes.CDLL(copy)
        except OSError as error:
            raise self._wrong(f"the system refuses it: {error}") from error
        if not self._is_described(library, content):
            raise self._wrong("the file changes while it is loaded")
        return library

    def _is_described(self, library: ctypes.CDLL, content: bytes) -> bool:
        """Returns whether a library in memory has a description."""
        try:
            there = ctypes.c_char.in_dll(library, f"{self._prefix}_description")
        except ValueError:
            return False
        # Descriptions have a number of their program near the start, so equal starts are equal descriptions.
        count = min(len(content), COMPARED_BYTES)
        return ctypes.string_at(ctypes.addressof(there), count) == content[:count]

    def _read(self, described: Mapping[str, Json]) -> None:
        """Reads names and types. Raises: DiagnosticError (E0721)."""
        try:
            self._prefix = str(described["prefix"])
            self._states = [
                _StatePlace(str(s["name"]), _type_of(s), _integer(s["place"])) for s in _objects(described["states"])
            ]
            self._entries = {str(f["name"]): _entry_of(f) for f in _objects(described["functions"])}
        except (KeyError, TypeError, ValueError) as error:
            raise self._wrong(f"its description is incomplete: {error}") from error

    def __repr__(self) -> str:
        return f"<compiled library {self._path.name}: {', '.join(self._entries)}>"

    @property
    def functions(self) -> tuple[str, ...]:
        """The names of its functions."""
        return tuple(self._entries)

    @property
    def state(self) -> State:
        """The contents of mutable globals between runs; an empty one stands for the initial values."""
        return self._state

    @state.setter
    def state(self, state: State) -> None:
        self._state = state

    def run(self, inputs: Mapping[str, Array], function: str | None = None) -> dict[str, Array]:
        """Returns the outputs of a function by name. Runs of several threads take turns.

        Raises: DiagnosticError (E0701 to E0703, E0706, E0707 when inputs do not fit; E0708 when a function fails on the
        values).
        """
        name = self.functions[0] if function is None else function
        entry = self._entries.get(name)
        if entry is None:
            help = did_you_mean(name, self.functions) or known_names("function", self.functions)
            raise DiagnosticError(Diagnostic(UNKNOWN_FUNCTION, f"the library has no function '{name}'", help=help))
        bound = bind(entry.signature, inputs)
        arrays = [np.ascontiguousarray(a) for a in bound.arrays]
        outputs = {
            n: np.empty([d if isinstance(d, int) else evaluate(d, bound.dims) for d in _dims(t)], _dtype(t))
            for n, t in entry.outputs
        }
        with self._running:
            self._call(entry, [bound.dims[s] for s in entry.sizes], [*arrays, *outputs.values()])
        return outputs

    def _call(self, entry: _Entry, sizes: Sequence[int], arrays: Iterable[Array]) -> None:
        pointers = [] if self._weights is None else [self._weights]
        pointers += [] if self._workspace is None else [self._workspace]
        if entry.has_states:
            self._restore_states()
            pointers.append(self._contents)
        arguments = [ctypes.c_void_p(a.ctypes.data) for a in pointers]
        arguments += [ctypes.c_int64(n) for n in sizes]
        arguments += [ctypes.c_void_p(a.ctypes.data) for a in arrays]
        error = getattr(self._library, entry.symbol)(*arguments)
        if error:
            text = self._function("message", ctypes.c_char_p)(ctypes.c_int(error)).decode()
            raise DiagnosticError(Diagnostic(EXECUTION_FAILED, text, help="other inputs may work"))
        if entry.has_states:
            # Runs never write into arrays of a state.
            self._known = {n: view.copy() for n, view in self._views.items()}
            self._state.update(self._known)

    def _restore_states(self) -> None:
        """Puts the contents of `state` where the library keeps them; it has initial values for the others."""
        missing = {n for n in self._views if n not in self._state}
        if missing:
            initial = np.empty_like(self._contents)
            arguments = [] if self._weights is None else [ctypes.c_void_p(self._weights.ctypes.data)]
            self._function("initialize", None)(*arguments, ctypes.c_void_p(initial.ctypes.data))
            for s in [s for s in self._states if s.name in missing]:
                self._views[s.name][...] = _view_of(initial, s)
        for name, view in self._views.items():
            array = self._state.get(name)
            if array is not None and array is not self._known.get(name):
                view[...] = array

    def _function(self, name: str, result: Any) -> Any:
        function = getattr(self._library, f"{self._prefix}_{name}")
        function.restype = result
        return function

    def _mapped_weights(self, described: Json) -> Array | None:
        """Returns the weights, mapped from the file beside the library; None if they are in it."""
        if not isinstance(described, dict):
            return None
        path = self._path.with_name(str(described["file"]))
        try:
            mapped = np.memmap(path, np.uint8, "r")
        except (OSError, ValueError) as error:
            raise self._wrong(f"its weights in '{path.name}' cannot be read: {error}") from error
        check = self._function("check_weights", ctypes.c_int)
        error = check(ctypes.c_void_p(mapped.ctypes.data), ctypes.c_size_t(mapped.size)) if mapped.size >= 64 else 1
        if error:
            text = self._function("message", ctypes.c_char_p)(ctypes.c_int(error)).decode()
            raise self._wrong(f"'{path.name}': {text}")
        return mapped

    def _check_system(self, triple: str) -> None:
        """Checks that the library is for this system and architecture. Raises: DiagnosticError (E0721)."""
        machine = platform.machine().lower()
        here = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
        architecture = triple.split("-", maxsplit=1)[0].replace("arm64", "aarch64")
        system = "windows" if os.name == "nt" else "apple" if sys.platform == "darwin" else "linux"
        if architecture != here or system not in triple:
            raise self._wrong(f"it was compiled for {triple}, and this is {here} with {system}")

    def _wrong(self, reason: str) -> DiagnosticError:
        message = f"the library cannot be loaded: {reason}"
        return DiagnosticError(Diagnostic(WRONG_LIBRARY, message, file=str(self._path)))


def _view_of(contents: Array, s: _StatePlace) -> Array:
    """Returns a state in the block of all states."""
    dtype = _dtype(s.type)
    size = int(np.prod(s.type.static_shape)) * dtype.itemsize
    return contents[s.place : s.place + size].view(dtype).reshape(s.type.static_shape)


def _objects(value: Json) -> list[dict[str, Json]]:
    if not isinstance(value, list):
        raise TypeError("expected a list")
    return [v for v in value if isinstance(v, dict)]


def _texts(value: Json) -> list[str]:
    return [str(v) for v in value] if isinstance(value, list) else []


def _integer(value: Json) -> int:
    if not isinstance(value, int):
        raise TypeError("expected an integer")
    return value


def _type_of(described: Mapping[str, Json]) -> TensorType:
    return TensorType(ELEMENT_TYPES[str(described["element"])], tuple(map(parse, _texts(described["shape"]))))


def _dims(type: TensorType) -> list[Dim]:
    return [d for d in type.shape or () if d is not None]


def _dtype(type: TensorType) -> np.dtype[Any]:
    return dtype_of(type.element.name)


def _entry_of(described: Mapping[str, Json]) -> _Entry:
    inputs = _objects(described["inputs"])
    outputs = [(str(o["name"]), _type_of(o)) for o in _objects(described["outputs"])]
    block = Block([_type_of(i) for i in inputs], [str(i["name"]) for i in inputs])
    types = FunctionType(tuple([a.type for a in block.arguments]), tuple([t for _, t in outputs]))
    ports = [Port(default=d if isinstance(d, int | float) else None) for d in [i.get("default") for i in inputs]]
    signature = Func(
        str(described["name"]), types, Region([block]), tuple([n for n, _ in outputs]), None, port_attributes(ports)
    )
    sizes = tuple(_texts(described["sizes"]))
    return _Entry(str(described["symbol"]), signature, sizes, tuple(outputs), described["has_states"] is True)
