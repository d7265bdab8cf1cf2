"""Compiled programs as entries of a cache, and back: a description, object code, and constants that are mapped.

Sizes that are not numbers are stored as text in the syntax of dimensions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from math import prod
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from commonir.base.file_cache import ALIGNMENT, Entry, Write
from commonir.llvm.target import Target
from commonir.native.program import Check, CompiledProgram, Intermediate, KernelCall, LimitedSize, ProgramTensor
from commonir.runtime.kernel_graph.buffers import Lifetime

if TYPE_CHECKING:
    from commonir.symbolic import Dim

Array = NDArray[Any]

OBJECT, CONSTANTS = "object", "constants"


def description_of(program: CompiledProgram) -> dict[str, Any]:
    """Returns a program without its object code and constants, as data that JSON has."""
    offsets = _offsets(program.constants)
    return {
        "target": list(program.target),
        "symbols": program.symbols,
        "table": program.table,
        "inputs": [_of_tensor(t) for t in program.inputs],
        "outputs": [_of_tensor(t) for t in program.outputs],
        "intermediates": [
            [t.name, t.dtype.name, _of_dim(t.size), _of_dim(t.offset), list(t.lifetime), t.border, t.memory]
            for t in program.intermediates
        ],
        "constants": {n: [a.dtype.name, a.shape, offsets[n]] for n, a in program.constants.items()},
        "scratch": [_of_dim(d) for d in program.scratch],
        "checks": [[c.tensor, c.axis, _of_dim(c.size)] for c in program.checks],
        "has_loops": program.has_loops,
        "changing": [
            [c.symbol, c.limit, _of_dim(c.initial), None if c.most is None else _of_dim(c.most)]
            for c in program.changing
        ],
        "counts": [_of_dim(d) for d in program.counts],
        "calls": [[*c[:4], _of_dim(c.units), c.unit_cost, c.origins, _of_dim(c.rounds)] for c in program.calls],
    }


def sections_of(program: CompiledProgram) -> dict[str, Write]:
    """Returns functions that write the sections of a program."""

    def write_constants(file: BinaryIO) -> None:
        start = file.tell()
        for name, offset in _offsets(program.constants).items():
            file.write(bytes(start + offset - file.tell()))
            file.write(program.constants[name].reshape(-1).view(np.uint8).data)

    return {OBJECT: lambda file: file.write(program.object_code), CONSTANTS: write_constants}


def program_of(entry: Entry) -> CompiledProgram:
    """Returns the program of an entry; its constants are the mapped ones."""
    stored = entry.description["program"]
    content = entry.sections[CONSTANTS]
    return CompiledProgram(
        target=Target(*stored["target"]),
        object_code=bytes(entry.sections[OBJECT]),
        symbols=tuple(stored["symbols"]),
        table=tuple(stored["table"]),
        inputs=tuple([_tensor_of(t) for t in stored["inputs"]]),
        outputs=tuple([_tensor_of(t) for t in stored["outputs"]]),
        intermediates=tuple(
            [
                Intermediate(name, _dtype_of(dtype), _dim_of(size), _dim_of(offset), Lifetime(*lifetime), *rest)
                for name, dtype, size, offset, lifetime, *rest in stored["intermediates"]
            ]
        ),
        constants={
            name: _constant_of(content, dtype, shape, offset)
            for name, (dtype, shape, offset) in stored["constants"].items()
        },
        has_loops=stored["has_loops"],
        changing=tuple(
            [
                LimitedSize(name, limit, _dim_of(first), None if most is None else _dim_of(most))
                for name, limit, first, most in stored["changing"]
            ]
        ),
        counts=tuple([_dim_of(d) for d in stored["counts"]]),
        scratch=tuple([_dim_of(d) for d in stored["scratch"]]),
        checks=tuple([Check(tensor, axis, _dim_of(size)) for tensor, axis, size in stored["checks"]]),
        calls=tuple(
            [
                KernelCall(
                    function,
                    node,
                    tuple(tensors),
                    tuple(symbols),
                    _dim_of(units),
                    cost,
                    tuple([(operation, value) for operation, value in origins]),
                    _dim_of(rounds),
                )
                for function, node, tensors, symbols, units, cost, origins, rounds in stored["calls"]
            ]
        ),
    )


def _offsets(constants: Mapping[str, Array]) -> dict[str, int]:
    """Returns where constants start in their section."""
    out: dict[str, int] = {}
    at = 0
    for name, array in constants.items():
        at += -at % ALIGNMENT
        out[name] = at
        at += array.nbytes
    return out


def _of_tensor(t: ProgramTensor) -> list[Any]:
    return [t.name, t.dtype.name, [_of_dim(d) for d in t.shape], list(t.lifetime)]


def _tensor_of(stored: Sequence[Any]) -> ProgramTensor:
    name, dtype, shape, lifetime = stored
    return ProgramTensor(name, _dtype_of(dtype), tuple([_dim_of(d) for d in shape]), Lifetime(*lifetime))


def _constant_of(content: memoryview, dtype: str, shape: Sequence[int], offset: int) -> Array:
    count = prod(shape)
    return np.frombuffer(content, _dtype_of(dtype), count, offset).reshape(shape) if count else np.empty(shape, dtype)


def _dtype_of(name: str) -> np.dtype[Any]:
    try:
        return np.dtype(name)
    except TypeError:
        # Types such as bfloat16 have names once their package is loaded.
        import_module("ml_dtypes")
        return np.dtype(name)


def _of_dim(dim: Dim) -> int | str:
    if isinstance(dim, int):
        return dim
    from commonir.symbolic import text  # noqa: PLC0415  only programs of unknown sizes need it

    return text(dim)


def _dim_of(stored: int | str) -> Dim:
    if isinstance(stored, int):
        return stored
    from commonir.symbolic import parse  # noqa: PLC0415  as above

    return parse(stored)
