"""Core operations on lists and on values that may be absent: what they give and of which type, written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.ir import Value, tensor
from commonir.ir.types import ListType, MapType, OptionalType, TensorType, TupleType, Type, f32, i64
from commonir.ods import Op
from commonir.symbolic import symbol

from tests.dialects.core.collections_running import ENGINES, outputs

Array = NDArray[Any]
N = symbol("N")


def _list(*shape: Any, length: Any = None) -> Value:
    return Value(ListType(tensor(f32, *shape), length))


def _type(op: Op) -> Type:
    return op.results[0].type


def _given(op: Op, *operands: Any) -> Any:
    return op.reference(*operands)


A, B = np.zeros((2, 3), np.float32), np.ones((2, 1), np.float32)
AT = Value(tensor(i64))


def test_a_list_has_what_its_tensors_have_in_common() -> None:
    op = core.ListOf((Value(tensor(f32, 2, 3)), Value(tensor(f32, 2, N))))
    assert _type(op) is ListType(tensor(f32, 2, None))
    assert [x is y for x, y in zip(_given(op, (A, B)), (A, B), strict=True)] == [True, True]


def test_tensors_of_two_ranks_have_no_rank_in_common() -> None:
    assert _type(core.ListOf((Value(tensor(f32, 2)), Value(tensor(f32))))) is ListType(TensorType(f32, None))


def test_an_empty_list_has_no_elements() -> None:
    op = core.ListEmpty(tensor(f32, None))
    assert _given(op) == []
    assert _type(op) is ListType(tensor(f32, None))
    length = core.ListLength(op.y)
    assert _given(length, []) == 0
    assert _type(length) is tensor(i64)


@pytest.mark.parametrize(("position", "actual"), [(0, "a"), (-1, "c"), (-3, "a")])
def test_positions_in_a_list_count_from_both_ends(position: int, actual: str) -> None:
    assert _given(core.ListAt(_list(2), AT), ["a", "b", "c"], np.asarray(position)) == actual


@pytest.mark.parametrize("position", [3, -4])
def test_positions_outside_of_a_list_are_errors(position: int) -> None:
    with pytest.raises(IndexError, match=f"position {position} in a list of 3"):
        _given(core.ListAt(_list(2), AT), ["a", "b", "c"], np.asarray(position))


@pytest.mark.parametrize(("position", "actual"), [(None, "abx"), (0, "xab"), (2, "abx"), (-1, "axb"), (-2, "xab")])
def test_a_tensor_goes_before_the_one_at_a_position(position: int | None, actual: str) -> None:
    at = None if position is None else np.asarray(position)
    op = core.ListInsert(_list(2), Value(tensor(f32, 3)), None if at is None else AT)
    assert "".join(_given(op, ["a", "b"], "x", at)) == actual
    assert _type(op) is ListType(tensor(f32, None))


@pytest.mark.parametrize(("position", "actual"), [(None, "ab"), (0, "bc"), (-2, "ac")])
def test_one_tensor_goes_out_of_a_list(position: int | None, actual: str) -> None:
    at = None if position is None else np.asarray(position)
    assert "".join(_given(core.ListErase(_list(2), None if at is None else AT), ["a", "b", "c"], at)) == actual


def test_tensors_of_a_list_are_joined_along_an_axis_or_a_new_one() -> None:
    joined, stacked = core.ListConcat(_list(2, None), 1), core.ListConcat(_list(2, 3), -1, True)
    assert _given(joined, [A, B]).tolist() == [[0, 0, 0, 1], [0, 0, 0, 1]]
    assert _given(stacked, [A, A + 1])[:, :, 1].tolist() == [[1, 1, 1], [1, 1, 1]]
    assert (_type(joined), _type(stacked)) == (tensor(f32, 2, None), tensor(f32, 2, 3, None))


def test_a_tensor_is_cut_into_pieces_of_one_size_and_a_rest() -> None:
    op = core.SplitToList(Value(tensor(f32, 5)), core.scalar(2, i64))
    assert [p.tolist() for p in _given(op, np.arange(5), np.asarray(2))] == [[0, 1], [2, 3], [4]]
    assert _type(op) is ListType(tensor(f32, None), 3)


def test_a_tensor_is_cut_into_pieces_of_sizes_given() -> None:
    op = core.SplitToList(Value(tensor(f32, 2, N)), core.vector((1, 4, 0)), 1)
    pieces = _given(op, np.zeros((2, 5)), np.asarray([1, 4, 0]))
    assert [p.shape for p in pieces] == [(2, 1), (2, 4), (2, 0)]
    assert _type(op) is ListType(tensor(f32, 2, None), 3)


def test_pieces_of_one_element_may_lose_their_axis() -> None:
    op = core.SplitToList(Value(tensor(f32, 3, 2)), core.scalar(1, i64), 0, False)
    assert [p.tolist() for p in _given(op, np.arange(6).reshape(3, 2), np.asarray(1))] == [[0, 1], [2, 3], [4, 5]]
    assert _type(op) is ListType(tensor(f32, 2), 3)


@pytest.mark.parametrize("sizes", [[3, 3], [6, -1], 0])
def test_pieces_that_do_not_make_up_the_axis_are_errors(sizes: Any) -> None:
    inputs = np.asarray(sizes)
    with pytest.raises(ValueError, match="pieces of size"):
        _given(core.SplitToList(Value(tensor(f32, 5)), Value(tensor(i64, *inputs.shape))), np.arange(5), inputs)


def test_a_value_is_absent_or_there() -> None:
    x = Value(tensor(f32, 2))
    there, absent = core.OptionalOf(x), core.OptionalNone(x.type)
    assert _type(there) is _type(absent) is OptionalType(x.type)
    assert _given(core.OptionalHas(there.y), A) == np.True_
    assert _given(core.OptionalHas(absent.y), None) == np.False_
    assert _given(core.OptionalGet(there.y), A) is A
    assert _type(core.OptionalGet(there.y)) is x.type
    assert _given(absent) is None


def test_an_absent_value_is_an_error_where_it_is_needed() -> None:
    with pytest.raises(ValueError, match="the value is absent"):
        _given(core.OptionalGet(Value(OptionalType(tensor(f32)))), None)


@pytest.mark.parametrize("engine", ENGINES)
def test_lists_hold_values_of_any_type(engine: str) -> None:
    """A list is added to at its tail, and removed from at its head."""

    def build(m: Value, n: Value) -> tuple[Value, ...]:
        pairs = core.list_of((core.tuple_of((m, n)), core.tuple_of((m, core.neg(n)))))
        longer = core.list_insert(pairs, core.tuple_of((core.map_insert(m, n, n), n)))
        shorter = core.list_erase(longer, core.scalar(0, i64))
        return shorter, core.list_length(shorter), core.tuple_get(core.list_at(shorter, core.scalar(-1, i64)), 1)

    result = outputs(build, {"m": MapType(i64, tensor(i64)), "n": tensor(i64)}, {"m": {}, "n": np.array(3)}, engine)
    assert result == [[({}, -3), ({3: 3}, 3)], 2, 3]


@pytest.mark.parametrize("other", [tensor(i64), ListType(tensor(f32)), TupleType((tensor(f32), tensor(f32)))])
def test_values_of_a_list_have_one_type(other: Type) -> None:
    with pytest.raises(DiagnosticError, match=r"E0503.*expected a type as of the other operands"):
        core.ListOf((Value(TupleType((tensor(f32),))), Value(other)))
    with pytest.raises(DiagnosticError, match=r"E0503.*expected a type as of the other operands"):
        core.ListInsert(Value(ListType(TupleType((tensor(f32),)))), Value(other))
