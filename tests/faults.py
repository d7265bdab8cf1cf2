"""Faults put into programs, each in one operation whose name is given back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import commonir as cir
from commonir.ir.cloning import clone
from commonir.ir.data import Data, InlineData
from commonir.ir.module import Module
from commonir.ir.operation import Operation, Value
from commonir.ods import Dialects, Op, known_data

MODELS = Path(__file__).parent / "models"


class Faulty(NamedTuple):
    """A program with a fault: the name of the value that is wrong, and the operation that computes it."""

    program: Module
    name: str
    operation: str


def copy_of(program: Module) -> Module:
    result = clone(program)
    assert isinstance(result, Module)
    return result


def weights_of(op: Operation) -> tuple[Value, Data] | None:
    """The first constant of more than four floats, none of them zero, that an operation computes with."""
    for value in op.operands:
        data = known_data(value)
        if data is not None and data.count > 4 and data.element.kind == "float" and np.all(data.array() != 0):
            return value, data
    return None


def chosen(program: Module, place: float, condition: Callable[[Operation], bool]) -> Operation:
    """One of the operations for which a condition holds, by its place between the first (0) and the last (1)."""
    result = [op for op in program.main.body.operations if op.results and condition(op)]
    return result[round((len(result) - 1) * place)]


def with_other_weight(program: Module, place: float) -> Faulty:
    """A program with one weight of one operation changed to thirty times the largest."""
    result = copy_of(program)
    op = chosen(result, place, lambda o: weights_of(o) is not None)
    _change_weight(op)
    return Faulty(result, op.results[0].name, op.name)


def with_other_weight_inside(program: Module, holder: str) -> Faulty:
    """A program with one weight changed of an operation inside of the first one of a kind, such as a loop."""
    result = copy_of(program)
    outer = chosen(result, 0.0, lambda o: o.name == holder)
    _change_weight(next(op for op in outer.walk() if op is not outer and weights_of(op) is not None))
    return Faulty(result, outer.results[0].name, holder)


def _change_weight(op: Operation) -> None:
    result = weights_of(op)
    assert result is not None
    value, data = result
    array = data.array().copy()
    array.flat[array.size // 2] = 30 * np.abs(array).max()
    constant = value.owner
    assert isinstance(constant, Op)
    _replace(constant, constant.with_attributes(val=InlineData(data.type, array.tobytes())))


def with_other_operation(program: Module, place: float, name: str, other: str) -> Faulty:
    """A program with one operation of a kind replaced by one of another kind on the first operand."""
    result = copy_of(program)
    op = chosen(result, place, lambda o: o.name == name)
    definition = Dialects().find(other, result.main.operation_set)
    assert definition is not None
    made_op = definition(op.operands[0])
    _replace(op, made_op)
    return Faulty(result, made_op.results[0].name, name)


def _replace(old: Operation, new: Operation) -> None:
    assert old.parent is not None
    old.parent.insert_before(old, new)
    for before, after in zip(old.results, new.results, strict=True):
        after.name = before.name
        before.replace_all_uses_with(after)
    old.erase()


def model(name: str) -> Module:
    """A package of the zoo."""
    return cir.load(MODELS / name / "model.mlpackage")
