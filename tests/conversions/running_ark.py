"""Converted programs written as ARK model files, read again and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import commonir as cir
from commonir.base.diagnostics import Diagnostics
from commonir.conversions.core_to_ark import core_to_ark
from commonir.ir.module import Module
from commonir.ir.types import (
    ElementType,
    TensorType,
    bf16,
    boolean,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    tensor,
    u8,
    u16,
    u32,
    u64,
)

from tests.conversions.programs import Build, core_module

Array = np.ndarray[Any, Any]

ELEMENTS: Mapping[str, ElementType] = {
    "float64": f64,
    "float32": f32,
    "float16": f16,
    "bfloat16": bf16,
    "int32": i32,
    "int64": i64,
    "uint32": u32,
    "uint64": u64,
    "int16": i16,
    "uint16": u16,
    "int8": i8,
    "uint8": u8,
    "bool": boolean,
}
GIVEN = {
    "float64": np.float32, "int64": np.int32, "uint64": np.int32, "int16": np.int32, "uint16": np.int32,
    "bool": np.uint8,
}  # fmt: skip
"""Types in which ARK programs take what they do not have."""


def type_of(array: Array) -> TensorType:
    return tensor(ELEMENTS[array.dtype.name], *array.shape)


def as_given(array: Array) -> Array:
    """An input as an ARK program takes it."""
    return array.astype(GIVEN.get(array.dtype.name, array.dtype)).reshape(array.shape or (1,))


def converted(build: Build, *arrays: Array) -> Module:
    """A program of inputs a, b, c and so on as a module of ARK."""
    return core_to_ark(
        core_module(build, {n: type_of(a) for n, a in zip("abcde", arrays, strict=False)}), Diagnostics()
    )


def written(module: Module, folder: Path) -> Module:
    """A module read from the files it was written to, which have no findings and come back byte for byte."""
    path = folder / "net.ark.json"
    files = cir.save(module, path)
    module = cir.load(files[0].path)
    assert [str(d) for d in cir.check(files[0].path)[1]] == []
    again = folder / "again"
    again.mkdir(exist_ok=True)
    for old, new in zip(files, cir.save(module, again / "net.ark.json"), strict=True):
        assert Path(old.path).read_bytes() == Path(new.path).read_bytes(), old.path
    return module


def operations(module: Module) -> list[str]:
    """Returns what the first rank computes, without views."""
    rank = module.body.first
    assert rank is not None
    ops = [op.name.partition(".")[2] for op in rank.regions[0].block.operations]
    return [name for name in ops if name not in ("tensor", "Tensor")]


def run_ark(module: Module, arrays: Sequence[Array]) -> list[Array]:
    """Returns what a program of inputs a, b, c and so on gives."""
    inputs = {n: as_given(a) for n, a in zip("abcde", arrays, strict=False)}
    return [np.asarray(v) for v in cir.run(module, inputs).values()]
