"""Core operations on tuples and handles: what they give and of which type, written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.ir import Value, tensor
from commonir.ir.types import ListType, TensorType, TupleType, Type, boolean, f16, f32, handle, i64, string
from commonir.symbolic import symbol

from tests.dialects.core.collections_running import ENGINES, outputs
from tests.runtime.programs import program

N = symbol("N")
X = np.array([1, 2], np.float32)
PAIR = TupleType((tensor(f32, N), tensor(f32, N)))


def _type(op: core.CoreOp) -> Type:
    return op.results[0].type


def test_a_tuple_has_the_types_of_its_elements() -> None:
    a, b = Value(tensor(f32, N, None)), Value(ListType(tensor(string)))
    whole = core.TupleOf((a, b))
    assert _type(whole) is TupleType((a.type, b.type))
    assert _type(core.TupleGet(whole.y, 1)) is b.type
    assert _type(core.TupleLength(whole.y)) is tensor(i64)
    assert _type(core.TupleOf(())) is TupleType(())


@pytest.mark.parametrize("engine", ENGINES)
def test_elements_are_read_by_their_positions(engine: str) -> None:
    def build(a: Value, b: Value) -> tuple[Value, ...]:
        inner = core.tuple_of((b,))
        whole = core.tuple_of((a, inner))
        second = core.tuple_get(whole, 1)
        return core.tuple_get(whole, 0), core.tuple_get(second, 0), whole, core.tuple_length(whole)

    types = {"a": tensor(f16, N), "b": tensor(string)}
    result = outputs(build, types, {"a": X.astype(np.float16), "b": np.array("x", object)}, engine)
    assert result == [[1, 2], "x", ([1, 2], ("x",)), 2]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_tuple_is_carried_from_round_to_round(engine: str) -> None:
    """Fibonacci numbers: (1, 1), (1, 2), (2, 3), (3, 5)."""

    def build(steps: Value) -> Value:
        def step(pair: Value, _row: Value) -> tuple[Value, ...]:
            a, b = core.tuple_get(pair, 0), core.tuple_get(pair, 1)
            return (core.tuple_of((b, core.add(a, b))),)

        first = core.tuple_of((core.scalar(1, i64), core.scalar(1, i64)))
        return core.scan((first,), (steps,), core.nested([first.type, tensor(i64)], step))[0]

    assert outputs(build, {"steps": tensor(i64, N)}, {"steps": np.zeros(3, np.int64)}, engine) == [(3, 5)]


@pytest.mark.parametrize("engine", ENGINES)
def test_branches_may_give_tuples(engine: str) -> None:
    def build(condition: Value, x: Value) -> tuple[Value, ...]:
        whole = TupleType((x.type, tensor(i64)))
        branches = [core.nested([], lambda n=n: (core.tuple_of((x, core.scalar(n, i64))),)) for n in (1, 2)]
        (chosen,) = core.if_(condition, *branches)
        assert chosen.type is whole
        return core.tuple_get(chosen, 0), core.tuple_get(chosen, 1)

    types = {"condition": tensor(boolean), "x": tensor(f32, 2)}
    assert outputs(build, types, {"condition": np.array(False), "x": X}, engine) == [[1, 2], 2]


@pytest.mark.parametrize("given", [(X, X), [X, X], ([1.0, 2.0], X)])
def test_a_tuple_is_given_as_a_python_tuple_or_list(given: Any) -> None:
    build = lambda t: core.add(core.tuple_get(t, 0), core.tuple_get(t, 1))  # noqa: E731
    assert outputs(build, {"t": PAIR}, {"t": given}, "numpy") == [[2, 4]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((X,), "E0703.*input 't': expected a tuple of as many values .tuple<.*>., found tuple"),
        (X, "E0703.*input 't': expected a tuple of as many values"),
        ((X, X[:1]), r"E0707.*axis 0 of input 't\[1\]': 'N' is 2 .axis 0 of input 't\[0\]'., found 1"),
        (
            (X, np.full(2, 1e300)),
            r"E0703.*input 't\[1\]': expected element type f32, found f64; 1e.300 at .0. does not fit",
        ),
    ],
)
def test_what_is_not_the_declared_tuple_is_refused(given: Any, message: str) -> None:
    module = program(lambda t: core.tuple_get(t, 0), {"t": PAIR})
    with pytest.raises(DiagnosticError, match=message):
        cir.run(module, {"t": given})


def test_random_tuples_have_equal_dims_of_one_name() -> None:
    module = program(lambda t: core.tuple_of((core.tuple_get(t, 0), core.tuple_get(t, 1))), {"t": PAIR})
    drawn: Any = cir.random_inputs(module)["t"]
    assert isinstance(drawn, tuple)
    assert [x.dtype for x in drawn] == [np.float32, np.float32]
    assert drawn[0].shape == drawn[1].shape


@pytest.mark.parametrize("definition", [core.TupleLength, lambda x: core.TupleGet(x, 0)])
def test_what_is_not_a_tuple_is_refused(definition: Any) -> None:
    with pytest.raises(DiagnosticError, match=r"expected a tuple, found tensor<2xf32>"):
        definition(Value(tensor(f32, 2)))


H = TensorType(handle, ())


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("number", "is_equal"), [(-(2**63), True), (7, False)])
def test_a_handle_keeps_its_64_bits(engine: str, number: int, is_equal: bool) -> None:
    def build(h: Value, n: Value) -> tuple[Value, ...]:
        made = core.handle_of(n)
        return core.handle_value(h), core.handle_value(made), made, core.handle_equal(h, made)

    given = {"h": np.array(-(2**63)), "n": np.array(number)}
    assert outputs(build, {"h": H, "n": tensor(i64)}, given, engine) == [-(2**63), number, number, is_equal]


def test_a_handle_is_not_a_number() -> None:
    assert _type(core.HandleOf(Value(tensor(i64)))) is H
    with pytest.raises(DiagnosticError, match=r"E0503.*expected element type"):
        core.Add(Value(H), Value(H))
    with pytest.raises(DiagnosticError, match=r"E0503.*expected element type"):
        core.HandleValue(Value(tensor(i64)))
