"""Facts about definitions that a type checker must know. Read by pyright, and run by `test_cases_when_run.py`.

`assert_type` states what it infers; a line that must be refused carries an ignore of the rule, and an ignore that
refuses nothing is itself an error (`reportUnnecessaryTypeIgnoreComment`).
"""

from __future__ import annotations

from enum import Enum
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import commonir as cir
from commonir.dialects import core
from commonir.dialects.mlir.ml_program import Func, Global, GlobalLoadConst, Return, Visibility
from commonir.ir import Block, Data, Operation, Region, Value
from commonir.ir.module import Module, NamedValues
from commonir.ir.operation import Block as ValueOwner
from commonir.ir.types import FunctionType, Type
from commonir.ods import Op, attr_types, attribute, operand, parameter, region, result

from tests.ods.sample import Affine, Choose, Halves, Isolated, Mode, Scale, Sum, Window


def accessors(x: Value, w: Value, inner: Region, condition: Value) -> None:
    affine = Affine(x, w)
    assert_type(affine.x, Value)
    assert_type(affine.bias, Value | None)
    assert_type(affine.y, Value)
    scale = Scale(x, 0.5, Mode.EXACT)
    assert_type(scale.factor, float)
    assert_type(scale.mode, Mode)
    assert_type(scale.halved, float)
    total = Sum((x, w), offset=x)
    assert_type(total.xs, tuple[Value, ...])
    assert_type(total.offset, Value | None)
    window = Window(x, size=4)
    assert_type(window.size, int)
    halves = Halves(x)
    assert_type(halves.first, Value)
    assert_type(halves.count, Value | None)
    choose = Choose(condition, inner, inner)
    assert_type(choose.then, Region)
    assert_type(choose.outcome, tuple[Value, ...])
    assert_type(Isolated((inner, inner)).bodies, tuple[Region, ...])
    conv = core.Conv(x, w, strides=(2, 2))
    assert_type(conv.weight, Value)
    assert_type(conv.bias, Value | None)
    assert_type(conv.strides, tuple[int, ...])
    assert_type(core.conv(x, w, groups=4), Value)


def structure(kind: FunctionType, data: Data, body: Region) -> None:
    func = Func("main", kind, body, result_names=("y",), sym_visibility=Visibility.PRIVATE)
    assert_type(func.function_type, FunctionType)
    assert_type(func.sym_visibility, Visibility | None)
    assert_type(func.inputs, NamedValues)
    assert_type(func.body, Block)
    weights = Global.constant("w", data)
    assert_type(weights, Global)
    assert_type(weights.type, Type)
    assert_type(GlobalLoadConst.of(weights), GlobalLoadConst)
    assert_type(Return((func.inputs[0],)).operands_, tuple[Value, ...])


def refused(x: Value, w: Value, inner: Region) -> None:
    Affine(x)  # pyright: ignore[reportCallIssue]  # weight is missing
    Affine(x, w, x, x)  # pyright: ignore[reportCallIssue]  # one too many
    Affine(x, 3)  # pyright: ignore[reportArgumentType]  # not a value
    Affine(x, w, y=x)  # pyright: ignore[reportCallIssue]  # results are not arguments
    Affine(x, w, _offsets=None)  # pyright: ignore[reportCallIssue]  # nor is what stores them
    Scale(x, "two")  # pyright: ignore[reportArgumentType]  # not a number
    Scale(x, mode="exact")  # pyright: ignore[reportArgumentType]  # not a case of the enumeration
    Scale(x, speed=1)  # pyright: ignore[reportCallIssue]  # no such attribute
    Sum(x)  # pyright: ignore[reportArgumentType]  # a variadic operand takes a tuple
    Isolated(inner)  # pyright: ignore[reportArgumentType]  # so do variadic regions
    Window(x)  # pyright: ignore[reportCallIssue]  # size has no default
    core.Conv(x, w, groups="four")  # pyright: ignore[reportArgumentType]
    core.conv(x)  # pyright: ignore[reportCallIssue]
    print(Affine(x, w).wieght)  # pyright: ignore[reportAttributeAccessIssue]


def patterns(op: Operation) -> Value | None:
    match op:
        case Affine(x=Value(owner=Scale(x=source, factor=factor)), bias=None):
            assert_type(source, Value)
            assert_type(factor, float)
            return source
        case Affine(x, weight, Value() as bias):
            assert_type(x, Value)
            assert_type(weight, Value)
            assert_type(bias, Value)
            return bias
        case Affine() as affine:
            assert_type(affine, Affine)
            return affine.bias
        case Scale(mode=Mode.EXACT):
            assert_type(op, Scale)
            return op.x
        case Sum(xs=(first, *others)):
            assert_type(first, Value)
            assert_type(others, list[Value])
            return first
        case Choose(then=then):
            assert_type(then, Region)
            return None
        case Op():
            assert_type(op, Op)
            return None
        case _:
            assert_type(op, Operation)
            return None


def owners(value: Value) -> None:
    assert_type(value.owner, Operation | ValueOwner | None)
    assert_type(value.defining_op, Operation | None)


class Padding(Enum):
    """An enumeration of the user."""

    SAME = "same"
    VALID = "valid"


class Own(Op, name="own.op"):
    """A definition made outside of the package gets the same constructor."""

    x: Value = operand("f32[*]")
    more: Value | None = operand("f32[*]", default=None)
    rest: tuple[Value, ...] = operand("f32[*]", variadic=True, default=())
    axis: int = parameter(attr_types.integer, default=0)
    padding: Padding = attribute(attr_types.enumeration(Padding), default=Padding.SAME)
    scales: tuple[float, ...] | None = attribute(attr_types.numbers, default=None)
    bodies: tuple[Region, ...] = region(variadic=True, default=())
    y: Value = result("f32[*]")


def own(x: Value) -> None:
    result = Own(x, rest=(x, x), padding=Padding.VALID, scales=(1.0,))
    assert_type(result.padding, Padding)
    assert_type(result.scales, tuple[float, ...] | None)
    assert_type(result.rest, tuple[Value, ...])
    Own(x, padding="same")  # pyright: ignore[reportArgumentType]
    Own(x, scales=(1.0, "a"))  # pyright: ignore[reportArgumentType]


class Wrong(Op, name="own.wrong"):
    """Annotations that contradict the declaration are refused where it is declared."""

    rest: Value = operand("f32[*]", variadic=True)  # pyright: ignore[reportAssignmentType]  # it is a tuple
    axis: str = attribute(attr_types.integer)  # pyright: ignore[reportAssignmentType]  # it is an integer
    x: Value = operand("f32[*]", default=None)  # pyright: ignore[reportAssignmentType]  # it may be None
    mode: Mode = attribute(attr_types.enumeration(Mode), default=Padding.SAME)  # pyright: ignore[reportArgumentType, reportCallIssue]
    y: Value = result("f32[*]", optional=True)  # pyright: ignore[reportAssignmentType]  # it may be absent


def inputs_of_runs(module: Module) -> None:
    x = np.zeros(2, np.float32)
    outputs = cir.run(module, {"p": (x, [x]), "m": {"a": 1.5}, "h": 7, "s": cir.SparseArray(x, x, (4,)), "n": None})
    assert_type(outputs, dict[str, NDArray[np.generic]])
    arrays: dict[str, NDArray[np.float32]] = {"x": x}
    cir.run(module, arrays)
    cir.run(module, {"x": object()})  # pyright: ignore[reportArgumentType]
