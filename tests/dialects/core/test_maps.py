"""Core operations on maps: what they give and of which type, written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import commonir as cir
from commonir.base.arrays import dtype_of
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.ir import Value, tensor
from commonir.ir.types import (
    ElementType,
    ListType,
    MapType,
    TensorType,
    Type,
    bf16,
    boolean,
    complex64,
    f32,
    i64,
    string,
)
from commonir.symbolic import symbol

from tests.dialects.core.collections_running import ENGINES, outputs
from tests.runtime.programs import program

NAN = float("nan")

OF_TEXTS = Value(MapType(string, f32))
OF_SCALARS = Value(MapType(i64, tensor(f32)))


def _type(op: core.CoreOp) -> Type:
    return op.results[0].type


def test_keys_and_values_are_in_ascending_order_of_the_keys() -> None:
    inputs: Any = {"b": 1.5, "a": 2.5}
    keys, values = core.MapKeys(OF_TEXTS), core.MapValues(OF_TEXTS)
    assert keys.reference(inputs).tolist() == ["a", "b"]
    result = values.reference(inputs)
    assert (result.dtype, result.tolist()) == (np.float32, [2.5, 1.5])
    assert _type(keys) is TensorType(string, (None,))
    assert _type(values) is TensorType(f32, (None,))


def test_values_may_be_tensors_of_one_element() -> None:
    inputs: Any = {7: np.array(1.5, np.float32), 3: np.array(0.5, np.float32)}
    assert core.MapValues(OF_SCALARS).reference(inputs).tolist() == [0.5, 1.5]
    assert core.MapKeys(OF_SCALARS).reference(inputs).tolist() == [3, 7]


def test_a_map_for_each_row_has_the_elements_of_its_columns() -> None:
    keys, x = np.array(["n", "y"], object), np.array([[1, 2], [3, 4]], np.float32)
    op = core.MapsOfRows(Value(tensor(string, 2)), Value(tensor(f32, symbol("N"), 2)))
    assert op.reference(keys, x) == [{"n": 1.0, "y": 2.0}, {"n": 3.0, "y": 4.0}]
    assert _type(op) is ListType(MapType(string, tensor(f32)), symbol("N"))


def test_what_is_not_a_map_of_scalars_is_refused() -> None:
    with pytest.raises(DiagnosticError) as error:
        core.MapKeys(Value(tensor(f32, 2)))
    assert "operand 'x': expected map<K[], V[]>, found tensor<2xf32>" in error.value.diagnostics[0].message


NUMBERS = MapType(string, tensor(f32))


def _entries(m: Value, k: Value) -> tuple[Value, ...]:
    found = core.map_get(m, k, core.scalar(9.0, f32))
    changed = core.map_insert(m, k, found)
    return (
        found,
        core.map_has(m, k),
        changed,
        core.map_length(changed),
        core.map_keys(changed),
        core.map_values(changed),
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_entries_are_read_and_added_by_their_keys(engine: str) -> None:
    given = {"m": {"b": 1.5, "a": 2}, "k": np.array(["c", "b"], object)}
    result = outputs(_entries, {"m": NUMBERS, "k": tensor(string, symbol("N"))}, given, engine)
    changed = {"b": 1.5, "a": 2.0, "c": 9.0}
    assert result == [[9, 1.5], [False, True], changed, 3, ["a", "b", "c"], [2, 1.5, 9]]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("element", "keys", "expected"),
    [
        (i64, [3, 1, 3], {1: 2.0, 3: 3.0}),
        (string, ["b", "a", "b"], {"a": 2.0, "b": 3.0}),
        (f32, [NAN, 1.0, NAN], {1.0: 2.0, NAN: 3.0}),
        (boolean, [True, False, True], {False: 2.0, True: 3.0}),
        (bf16, [NAN, 2.0, NAN], {2.0: 2.0, NAN: 3.0}),
        (complex64, [1j, 1 - 1j, 1j], {1j: 3.0, 1 - 1j: 2.0}),
    ],
)
def test_of_equal_keys_the_last_one_counts(engine: str, element: ElementType, keys: list[Any], expected: Any) -> None:
    def build(k: Value, v: Value) -> tuple[Value, ...]:
        made = core.map_of(k, v)
        return core.map_keys(made), core.map_values(made), core.map_get(made, k), core.map_length(made)

    given = {"k": np.array(keys).astype(dtype_of(element.name)), "v": np.array([1, 2, 3], np.float32)}
    result = outputs(build, {"k": tensor(element, 3), "v": tensor(f32, 3)}, given, engine)
    assert repr(result) == repr([[*expected], [*expected.values()], [3.0, 2.0, 3.0], 2])


@pytest.mark.parametrize("engine", ENGINES)
def test_an_entry_is_erased(engine: str) -> None:
    types = {"m": MapType(i64, tensor(string)), "k": tensor(i64)}
    assert outputs(core.map_erase, types, {"m": {7: "x", 3: "y"}, "k": np.array(7)}, engine) == [{3: "y"}]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("build", [core.map_get, core.map_erase])
def test_a_missing_key_is_an_error(engine: str, build: Any) -> None:
    with pytest.raises(DiagnosticError, match=r"E0708.*core.map_\w+: no key 'z' in a map of 1"):
        outputs(build, {"m": NUMBERS, "k": tensor(string)}, {"m": {"a": 1}, "k": np.array("z", object)}, engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_map_may_be_empty(engine: str) -> None:
    def build(k: Value) -> tuple[Value, ...]:
        nothing = core.slice(k, (0,), (0,), (1,))
        empty = core.map_of(nothing, nothing)
        return empty, core.map_length(empty), core.map_keys(empty), core.map_has(empty, k)

    assert outputs(build, {"k": tensor(i64, 2)}, {"k": np.array([1, 2])}, engine) == [{}, 0, [], [False, False]]


def test_types_follow_from_keys_and_values() -> None:
    keys, values = Value(tensor(i64, symbol("N"))), Value(tensor(string, symbol("N")))
    made = core.MapOf(keys, values)
    assert _type(made) is MapType(i64, tensor(string))
    assert _type(core.MapGet(made.y, Value(tensor(i64, 2, symbol("M"))))) is tensor(string, 2, symbol("M"))
    assert _type(core.MapHas(made.y, keys)) is tensor(boolean, symbol("N"))
    assert _type(core.MapErase(made.y, keys)) is _type(made)
    assert _type(core.MapLength(made.y)) is tensor(i64)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: core.MapOf(Value(tensor(i64, 2)), Value(tensor(f32, 3))), "dimension n"),
        (lambda: core.MapGet(Value(NUMBERS), Value(tensor(i64))), "expected element type !builtin.string"),
        (
            lambda: core.MapInsert(Value(NUMBERS), Value(tensor(string)), Value(tensor(i64))),
            "expected element type f32",
        ),
        (lambda: core.MapHas(Value(tensor(f32)), Value(tensor(i64))), "expected map<K.., V..>, found tensor<f32>"),
    ],
)
def test_other_keys_and_values_are_refused(build: Any, message: str) -> None:
    with pytest.raises(DiagnosticError, match=message):
        build()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1], "E0703.*input 'm': expected a dictionary .*, found list"),
        ({1: 1.0}, "E0703.*input 'm.1.': expected element type !builtin.string, found i64"),
        ({"a": "x"}, "E0703.*input 'm.'a'.': expected element type f32, found !builtin.string"),
        ({"a": [1.0]}, "E0703.*input 'm.'a'.': expected rank 0 .*, found rank 1"),
    ],
)
def test_what_is_not_the_declared_map_is_refused(given: Any, message: str) -> None:
    module = program(core.map_length, {"m": NUMBERS})
    with pytest.raises(DiagnosticError, match=message):
        cir.run(module, {"m": given})


def test_random_maps_may_have_texts() -> None:
    module = program(core.map_values, {"m": MapType(i64, tensor(string))})
    (values,) = cir.run(module).values()
    assert [type(v) for v in values.tolist()] == [str, str]


@pytest.mark.parametrize("key", [string, i64, f32, boolean])
def test_random_maps_have_two_entries(key: ElementType) -> None:
    module = program(lambda m: (core.map_length(m), core.map_values(m)), {"m": MapType(key, tensor(f32))})
    for engine in ENGINES:
        length, values = cir.run(module, engine=engine).values()
        assert (length, values.dtype, values.shape) == (2, np.float32, (2,))
