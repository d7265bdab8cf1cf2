"""The lines of `cases.py` give values of the types that pyright infers, and calls that it refuses raise.

The fast part of `test_typing.py`, which asks pyright.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from types import UnionType
from typing import Any, get_args, get_origin

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects.mlir.ml_program import Return
from commonir.ir import Region, Value
from commonir.ir.data import data_of
from commonir.ir.operation import Block, Operation
from commonir.ir.types import FunctionType, TensorType, boolean, f32, tensor

from tests.ods.sample import Affine, Choose, Mode, Scale, Sum
from tests.typing import cases

X = Value(TensorType(f32, None))
"""Of any shape, so that it is an operand of every definition."""


def _region(*values: Value) -> Region:
    block = Block()
    block.append(Return(values))
    return Region([block])


def _block_of_one() -> Block:
    block = Block()
    block.add_argument(tensor(f32, 2), "x")
    return block


def _is_of(value: object, expected: Any) -> bool:
    arguments = get_args(expected)
    match get_origin(expected):
        case None:
            return isinstance(value, expected)
        case origin if origin is UnionType:
            return any(value is None if one is type(None) else _is_of(value, one) for one in arguments)
        case origin:
            return (
                isinstance(value, (tuple, list))
                and isinstance(value, origin)
                and all(_is_of(one, arguments[0]) for one in value)
            )


@pytest.fixture
def asserted(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Makes `assert_type` check the value, and collects the types that it has checked."""
    results: list[object] = []

    def check(value: object, expected: object) -> None:
        assert _is_of(value, expected), f"{value!r} is not a {expected}"
        results.append(expected)

    monkeypatch.setattr(cases, "assert_type", check)
    return results


def _count(function: Callable[..., object]) -> int:
    return inspect.getsource(function).count("assert_type(")


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (cases.accessors, (X, X, _region(), Value(tensor(boolean)))),
        (
            cases.structure,
            (
                FunctionType((tensor(f32, 2),), (tensor(f32, 2),)),
                data_of(f32, (2,), [1.0, 2.0]),
                Region([_block_of_one()]),
            ),
        ),
        (cases.owners, (X,)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_values_have_the_types_that_are_inferred(
    function: Callable[..., object], arguments: tuple[object, ...], asserted: list[object]
) -> None:
    function(*arguments)
    assert len(asserted) == _count(function)


def test_a_definition_made_outside_has_values_of_the_types_that_are_inferred(asserted: list[object]) -> None:
    with pytest.raises(DiagnosticError, match="expected a number, found 'a'"):
        cases.own(X)
    assert len(asserted) == _count(cases.own)


@pytest.mark.parametrize(
    "operation",
    [
        Affine(Scale(X, 2.0).y, X),
        Affine(X, X, X),
        Affine(X, X),
        Scale(X, 2.0, Mode.EXACT),
        Scale(X, 2.0),
        Sum((X, X), offset=X),
        Choose(Value(tensor(boolean)), _region(), _region()),
    ],
    ids=lambda op: op.name,
)
def test_patterns_bind_values_of_the_types_that_are_inferred(operation: Operation, asserted: list[object]) -> None:
    cases.patterns(operation)
    assert asserted


def _refused_calls() -> list[str]:
    lines = inspect.getsource(cases.refused).splitlines()
    (function,) = ast.parse("\n".join(lines)).body
    assert isinstance(function, ast.FunctionDef)
    rules = ("reportCallIssue", "reportAttributeAccessIssue")
    return [ast.unparse(s) for s in function.body if any(rule in lines[s.lineno - 1] for rule in rules)]


@pytest.mark.parametrize("call", _refused_calls())
def test_a_call_that_is_refused_raises(call: str) -> None:
    with pytest.raises((TypeError, AttributeError)):
        exec(call, {**vars(cases), "x": X, "w": X, "inner": _region()})
