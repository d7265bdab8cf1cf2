"""Values of every type as JSON, written out."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import commonir as cir
from commonir import api
from commonir.base.diagnostics import DiagnosticError
from commonir.ir.types import (
    ListType,
    MapType,
    OptionalType,
    SparseTensorType,
    TensorType,
    TupleType,
    Type,
    bf16,
    boolean,
    complex64,
    f16,
    f32,
    handle,
    i8,
    i64,
    string,
    tensor,
    u64,
)

from tests.dialects.core.collections_running import plain
from tests.runtime.programs import program

N = None
CASES: list[tuple[Type, str, Any]] = [
    (tensor(f32), "2.5", 2.5),
    (tensor(f32), "-3", -3.0),
    (tensor(f16, 2, 2), "[[1, 2], [3, 4.5]]", [[1, 2], [3, 4.5]]),
    (tensor(bf16, N), '["inf", "-inf", 1]', [float("inf"), -float("inf"), 1]),
    (tensor(u64), "18446744073709551615", 2**64 - 1),
    (tensor(boolean, 2), "[true, false]", [True, False]),
    (tensor(complex64, 2), '["1+2j", 3]', [1 + 2j, 3]),
    (tensor(string, 1, 2), '[["a", "\\u00e4"]]', [["a", "ä"]]),
    (tensor(f32, 0, 3), "[]", []),
    (tensor(f32, 2, 0), "[[], []]", [[], []]),
    (TensorType(f32, None), "[[1]]", [[1]]),
    (TensorType(handle, ()), "-9223372036854775808", -(2**63)),
    (ListType(tensor(i64, N)), "[[1], [2, 3], []]", [[1], [2, 3], []]),
    (TupleType((tensor(i64), TupleType((tensor(string),)))), '[1, ["x"]]', (1, ("x",))),
    (MapType(string, tensor(f32)), '{"a": 1, "b": 0.5}', {"a": 1.0, "b": 0.5}),
    (MapType(i64, tensor(string)), '{"-3": "x"}', {-3: "x"}),
    (MapType(boolean, tensor(i8)), '{"true": 1}', {True: 1}),
    (OptionalType(tensor(f32)), "null", None),
    (OptionalType(tensor(f32)), "1", 1),
    (
        SparseTensorType(f32, (2, 3)),
        '{"values": [1, 2], "indices": [[0, 1], [1, 0]], "shape": [2, 3]}',
        ([1, 2], [[0, 1], [1, 0]], (2, 3)),
    ),
    (SparseTensorType(f32, (2, 3)), '{"values": [7], "indices": [5], "shape": [2, 3]}', ([7], [[1, 2]], (2, 3))),
    (SparseTensorType(f32, (2, 3)), '{"values": [], "indices": [], "shape": [2, 3]}', ([], [], (2, 3))),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_a_value_is_read_and_bound_and_written(number: int) -> None:
    type, text, expected = CASES[number]
    module = program(lambda x: x, {"x": type})
    inputs = api.json_inputs(module, text, name="x")
    (output,) = cir.run(module, inputs).values()
    assert plain(output) == expected
    again = json.dumps(api.outputs_as_json({"x": output}))
    assert plain(api.json_inputs(module, again)["x"]) == plain(inputs["x"])


@pytest.mark.parametrize(
    ("type", "text", "message"),
    [
        (tensor(f32, 2), "[1, [2]]", "expected arrays of equal length"),
        (tensor(f32, 2, 2), "[[1, 2], [3]]", "expected arrays of equal length"),
        (tensor(f32), '"x"', 'input .x.: expected tensor<f32>, found "x"'),
        (tensor(f32), "true", "found true"),
        (tensor(f32), "1e300", "expected tensor<f32>, found 1e.300"),
        (tensor(i8), "128", "expected tensor<i8>, found 128"),
        (tensor(i64), "1.5", "expected tensor<i64>, found 1.5"),
        (tensor(boolean), "1", "expected tensor<i1>, found 1"),
        (tensor(string), "1", "found 1"),
        (tensor(f32), "{}", "found an object"),
        (tensor(f32), "[" * 65 + "]" * 65, "found an array"),
        (TupleType((tensor(f32),)), "[1, 2]", "expected tuple<tensor<f32>>, found an array"),
        (ListType(tensor(f32)), "[1, null]", r"input .x\[1\].: expected tensor<f32>, found null"),
        (MapType(i64, tensor(f32)), '{"a": 1}', 'expected i64, found "a"'),
        (MapType(string, tensor(f32)), '{"a": "b"}', r"input .x\[.a.\].: expected tensor<f32>"),
        (SparseTensorType(f32, (2,)), '{"values": [1], "indices": [0]}', "found an object"),
        (
            SparseTensorType(f32, (2,)),
            '{"values": [1], "indices": [2], "shape": [2]}',
            "a tensor of shape .2. has no position 2",
        ),
        (tensor(f32), "[", "it is not JSON: line 1"),
        (tensor(f32), "NaN", "it is not JSON: line 1: 'NaN' is not a number of JSON"),
        (tensor(f32), "[" * 100000, "it is not JSON: it is nested too deep"),
    ],
)
def test_what_is_not_a_value_of_the_type_is_refused(type: Type, text: str, message: str) -> None:
    with pytest.raises(DiagnosticError, match=rf"E0703.*{message}"):
        api.json_inputs(program(lambda x: x, {"x": type}), text, name="x")


def test_all_inputs_are_an_object() -> None:
    module = program(lambda x, y: (x, y), {"x": tensor(f32), "y": tensor(i64, 2)})
    result = api.json_inputs(module, '{"y": [1, 2], "x": 3}')
    assert {name: (v.dtype, v.tolist()) for name, v in result.items()} == {
        "y": (np.int64, [1, 2]),
        "x": (np.float32, 3.0),
    }
    with pytest.raises(DiagnosticError, match=r"E0703.*it is not an object with a value for each input"):
        api.json_inputs(module, "[1]")
    with pytest.raises(DiagnosticError, match=r"E0703.*the program has no input 'z'"):
        api.json_inputs(module, '{"z": 1}')


def test_what_is_not_a_tensor_has_a_value_for_each_step() -> None:
    module = program(lambda x, m: (x, m), {"x": tensor(f32), "m": MapType(string, tensor(f32))})
    given: Any = {"x": np.array([1, 2], np.float32), "m": {"a": 1.0}}
    outputs = cir.run_steps(module, given, steps=2).outputs
    assert {n: plain(v) for n, v in outputs.items()} == {"y0": [1, 2], "step0/y1": {"a": 1.0}, "step1/y1": {"a": 1.0}}


_LEAVES = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=3)
_KEYS = st.sampled_from(["values", "indices", "shape", "a", "1", "true", "nan"])
_JSON = st.recursive(_LEAVES, lambda j: st.lists(j, max_size=3) | st.dictionaries(_KEYS, j, max_size=3), max_leaves=4)
_PROGRAMS = [program(lambda x: x, {"x": type}) for type, _, _ in CASES[::2]]


@given(_JSON, st.sampled_from(_PROGRAMS))
def test_any_json_is_a_value_or_refused(value: Any, module: cir.Module) -> None:
    try:
        text = json.dumps(value, allow_nan=False)
    except ValueError:  # an infinity
        return
    try:
        inputs = api.json_inputs(module, text, name="x")
    except DiagnosticError:
        return
    again = api.json_inputs(module, json.dumps(api.outputs_as_json(inputs)))
    assert repr(plain(again["x"])) == repr(plain(inputs["x"]))
