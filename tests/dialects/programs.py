"""Programs of MLIR run on arrays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import commonir as cir
from commonir.ir.module import distinct_names
from commonir.ods import Dialects
from commonir.ods.verify import verify
from commonir.text.parser import parse_module

from tests.mlir_runner import Call, results_of_calls

Array = NDArray[Any]

DTYPES = {
    "i1": "?",
    "i8": "i1",
    "i16": "i2",
    "i32": "i4",
    "i64": "i8",
    "f16": "f2",
    "f32": "f4",
    "f64": "f8",
    "index": "i8",
}


def arrays_of(types: Sequence[str], random: Random, unknown: int = 3) -> list[Array]:
    """Random arrays of types as texts say them; sizes that they leave open are `unknown`."""
    out: list[Array] = []
    for text in types:
        *sizes, element = re.sub(r"^tensor<|>$", "", text).split("x")
        if not text.startswith("tensor"):
            sizes, element = [], text
        shape = [unknown if n == "?" else int(n) for n in sizes]
        count = int(np.prod(shape, dtype=int))
        values = [random.randint(-4, 4) + (random.random() if element[0] == "f" else 0) for _ in range(count)]
        out.append(np.array(values).reshape(shape).astype(DTYPES[element]))
    return out


def run(source: str, *arrays: Array) -> list[Array]:
    """Returns the results of the first function of a program."""
    module = parse_module(source, Dialects())
    assert [str(d) for d in verify(module, Dialects())] == []
    function = next(iter(module.functions.values()))
    names = distinct_names([v.name for v in function.inputs], "arg")
    outputs = cir.run(module, dict(zip(names, arrays, strict=True)), function=function.symbol_name)
    return [np.asarray(v) for v in outputs.values()]


class Case(NamedTuple):
    """A function with one operation, its inputs and how far results may be apart."""

    name: str
    operation: str
    text: str
    arrays: tuple[Array, ...]
    tolerance: float = 0.0


def assert_agree(case: Case, actual: Sequence[Array], expected: Sequence[Array]) -> None:
    """Results are those of an oracle: integers the same, floats as near as the case says."""
    assert len(actual) == len(expected)
    for mine, its in zip([np.asarray(x) for x in actual], expected, strict=True):
        assert mine.shape == its.shape, (case.name, mine.shape, its.shape)
        if its.dtype.kind in "iub":
            assert np.array_equal(mine, its), (case.name, mine.tolist(), its.tolist())
        else:
            a, b = mine.astype("f8"), its.astype("f8")
            near = np.isclose(a, b, case.tolerance, case.tolerance, equal_nan=True)
            assert near.all(), (case.name, a[~near].tolist(), b[~near].tolist())


def assert_as_compiled(cases: Sequence[Case]) -> None:
    """Cases give what LLVM's tools make of them."""
    program = "\n".join(case.text for case in cases)
    calls = [Call(case.name, case.arrays) for case in cases]
    for case, expected in zip(cases, results_of_calls(program, calls), strict=True):
        assert_agree(case, run(case.text, *case.arrays), expected)
