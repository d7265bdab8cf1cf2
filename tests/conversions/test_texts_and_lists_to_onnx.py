"""Core operations on texts, lists and narrow types through the rules to ONNX, run by the evaluator of the onnx package.

Expected values are written out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.base.arrays import name_of
from commonir.base.diagnostics import DiagnosticError
from commonir.conversions.core_to_onnx import core_to_onnx
from commonir.dialects import core
from commonir.formats.onnx.write import dumps
from commonir.ir.operation import Value
from commonir.ir.types import ELEMENT_TYPES, TensorType, f8e4m3fn, f8e8m0fnu, f32, i4, i32, i64, string, tensor, u32

from tests.conversions.programs import core_module
from tests.oracles import oracle

Array = NDArray[Any]


class Case(NamedTuple):
    """A program, the oldest operator set that can say it, values of its inputs, and what comes out."""

    opset: int
    build: Callable[..., Value | tuple[Value, ...]]
    inputs: tuple[Array, ...]
    expected: tuple[Any, ...]


def _texts(*values: str) -> Array:
    return np.asarray(values, object)


def _floats(*values: float) -> Array:
    return np.asarray(values, np.float32)


def _longs(*values: Any) -> Array:
    return np.asarray(values, np.int64)


def _list_program(x: Value, y: Value, p: Value) -> tuple[Value, ...]:
    result = core.list_insert(core.list_of((x, y)), x, p)
    shorter = core.list_erase(result, p)
    return (
        core.list_length(result),
        core.list_at(result, p),
        core.list_concat(shorter, 0),
        core.list_concat(result, 0, True),
    )


def _collected(x: Value) -> tuple[Value, ...]:
    """The rows in a list, their number twice, and the list as a tensor again."""
    empty = core.list_empty(tensor(f32, 2))

    def step(collected: Value, count: Value, row: Value) -> tuple[Value, ...]:
        return core.list_insert(collected, row, None), core.add(count, core.scalar(2, i64))

    body = core.nested([empty.type, tensor(i64), tensor(f32, 2)], step)
    rows, count = core.scan((empty, core.scalar(0, i64)), (x,), body)
    return count, core.list_concat(rows, 0, True)


CASES = {
    "core.narrow_cast": Case(
        19, lambda x: core.narrow_cast(x, f8e4m3fn), (_floats(0.3, 1000, -np.inf),), ([0.3125, 448.0, -448.0],)
    ),
    "core.narrow_cast without saturation": Case(
        19, lambda x: core.narrow_cast(x, f8e4m3fn, False), (_floats(0.3, 2),), ([0.3125, 2.0],)
    ),
    "core.narrow_cast to powers of two": Case(
        24, lambda x: core.narrow_cast(x, f8e8m0fnu, True, core.Toward.DOWN), (_floats(3, 0.7),), ([2.0, 0.5],)
    ),
    "core.narrow_cast to integers": Case(21, lambda x: core.narrow_cast(x, i4), (_floats(1.7, -3.2),), ([1.0, -3.0],)),
    "core.bit_cast": Case(26, lambda x: core.bit_cast(x, i32), (_floats(1.0),), ([1065353216],)),
    "core.bit_cast of integers": Case(
        18, lambda x: core.bit_cast(x, u32), (np.asarray([-1], np.int32),), ([2**32 - 1],)
    ),
    "core.parse_numbers": Case(18, lambda x: core.parse_numbers(x, i64), (_texts("12", "-3"),), ([12, -3],)),
    "core.format_numbers": Case(18, core.format_numbers, (_longs(12, -3),), (["12", "-3"],)),
    "core.string_concat": Case(20, core.string_concat, (_texts("a", "b"), _texts("c")), (["ac", "bc"],)),
    "core.string_split": Case(
        20, lambda x: core.string_split(x, "-", 1), (_texts("a-b-c", "d"),), ([["a", "b-c"], ["d", ""]], [2, 1])
    ),
    "core.string_normalize": Case(
        18, lambda x: core.string_normalize(x, ("an",), True, core.Case.UPPER), (_texts("an", "Ox"),), (["OX"],)
    ),
    "core.regex_full_match": Case(20, lambda x: core.regex_full_match(x, "a+"), (_texts("aa", "b"),), ([True, False],)),
    "core.ngram_counts": Case(
        18, lambda x: core.ngram_counts(x, (0,), (1, 0), numbers=(5, 6)), (_longs(6, 5, 6),), ([2.0, 1.0],)
    ),
    "core.unique": Case(
        18, lambda x: core.unique(x, None, False), (_longs(7, 5, 7),), ([7, 5], [0, 1], [0, 1, 0], [2, 1])
    ),
    "core.list_of, list_insert, list_erase, list_length, list_at, list_concat": Case(
        18, _list_program, (_floats(1), _floats(2), np.asarray(1, np.int64)),
        (3, [1.0], [1.0, 2.0], [[1.0], [1.0], [2.0]]),
    ),
    "core.list_empty": Case(
        18,
        lambda x: core.list_at(core.list_insert(core.list_empty(x.type), x), core.scalar(0, i64)),
        (_floats(1, 2),),
        ([1.0, 2.0],),
    ),
    "core.split_to_list": Case(
        18, lambda x: core.list_concat(core.split_to_list(x, core.scalar(1, i64), 0, False), 0, True),
        (_floats(1, 2),), ([1.0, 2.0],),
    ),
    "core.split_to_list by sizes": Case(
        18, lambda x, s: core.list_at(core.split_to_list(x, s), core.scalar(1, i64)), (_floats(1, 2, 3), _longs(1, 2)),
        ([2.0, 3.0],),
    ),
    "core.scan that carries a list": Case(
        18, _collected, (np.array([[1, 2], [3, 4], [5, 6]], np.float32),),
        (6, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
    ),
    "core.pad by repetition": Case(
        18, lambda x: core.pad(x, (2,), (1,), core.PadMode.WRAP), (_floats(1, 2, 3),), ([2.0, 3.0, 1.0, 2.0, 3.0, 1.0],)
    ),
    "core.pad by repetition, of newer operator sets": Case(
        19, lambda x: core.pad(x, (2,), (1,), core.PadMode.WRAP), (_floats(1, 2, 3),), ([2.0, 3.0, 1.0, 2.0, 3.0, 1.0],)
    ),
}  # fmt: skip


def _type(x: Array) -> TensorType:
    return tensor(string if x.dtype.kind == "O" else ELEMENT_TYPES[name_of(x.dtype)], *x.shape)


@pytest.mark.parametrize("name", CASES)
def test_converted_programs_give_the_expected_values(name: str) -> None:
    onnx = oracle("onnx")
    case = CASES[name]
    inputs = {f"x{n}": x for n, x in enumerate(case.inputs)}
    content = dumps(core_to_onnx(core_module(case.build, {n: _type(x) for n, x in inputs.items()}), case.opset))
    onnx.checker.check_model(onnx.load_from_string(content), full_check=True)
    result = oracle("onnx.reference").ReferenceEvaluator(onnx.load_from_string(content)).run(None, inputs)
    for f, expected in zip(result, case.expected, strict=True):
        plain = np.asarray(f)
        if plain.dtype.type.__module__ == ml_dtypes.bfloat16.__module__:
            plain = plain.astype(np.float32)
        assert plain.tolist() == expected


@pytest.mark.parametrize("name", ["core.narrow_cast", "core.bit_cast", "core.string_concat", "core.regex_full_match"])
def test_older_operator_sets_lack_what_came_later(name: str) -> None:
    case = CASES[name]
    inputs = {f"x{n}": _type(x) for n, x in enumerate(case.inputs)}
    with pytest.raises(DiagnosticError) as caught:
        core_to_onnx(core_module(case.build, inputs), 18)
    assert f"{name} cannot be expressed in onnx opset18" in str(caught.value)


def test_values_that_may_be_absent_are_those_of_onnxruntime() -> None:
    def build(x: Value) -> tuple[Value, ...]:
        there, absent = core.optional_of(x), core.optional_none(x.type)
        return core.optional_has(there), core.optional_has(absent), core.optional_get(there)

    content = dumps(core_to_onnx(core_module(build, {"x": tensor(f32, 1)}), 18))
    session = oracle("onnxruntime").InferenceSession(content, providers=["CPUExecutionProvider"])
    has, lacks, value = session.run(None, {"x": _floats(1)})
    assert (has.tolist(), lacks.tolist(), value.tolist()) == (True, False, [1.0])
