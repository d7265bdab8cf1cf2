"""Values and operations when a program changes, and copies of them."""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.cloning import clone
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import f32, i64, tensor
from commonir.ods import known_dims
from commonir.symbolic import symbol

N = symbol("N")


def test_known_dims_are_computed_again_when_a_type_changes() -> None:
    x = Value(tensor(f32, N, 3))
    end = core.add(core.neg(core.slice(core.shape_of(x), (0,), (1,), (1,))), core.vector((1,)))
    assert known_dims(end) == (1 - N,)
    x.retype(tensor(f32, 5, 3))
    assert known_dims(end) == (-4,)


def test_known_dims_are_computed_again_when_an_operand_is_replaced() -> None:
    x, other = Value(tensor(i64, 2)), core.vector((4, 6))
    first = core.vector((1, 2))
    sum = core.add(first, first)
    end = core.neg(sum)
    assert known_dims(end) == (-2, -4)
    first.replace_all_uses_with(other)
    assert known_dims(end) == (-8, -12)
    other.replace_all_uses_with(x)
    assert known_dims(end) is None


def test_known_dims_are_computed_again_after_other_changes_of_operands() -> None:
    inner = core.neg(core.vector((1, 2)))
    end = core.neg(inner)
    assert known_dims(end) == (1, 2)
    assert inner.defining_op is not None
    inner.defining_op.operands = (core.vector((5, 7)),)
    assert known_dims(end) == (5, 7)
    inner.defining_op.replace_and_erase(core.vector((3, 4)))
    assert known_dims(end) == (-3, -4)


def test_retyping_with_the_same_type_keeps_known_dims() -> None:
    x = Value(tensor(f32, N, 3))
    negated = core.neg(core.shape_of(x))
    dims = known_dims(negated)
    x.retype(tensor(f32, N, 3))
    assert known_dims(negated) is dims


def test_copy_has_the_class_of_its_source() -> None:
    module = Module()
    assert clone(module).functions == {}


def test_a_value_is_replaced_at_each_of_its_uses_by_one_operation() -> None:
    a, b, c = [Value(tensor(f32, 2)) for _ in "abc"]
    end = ml_program.Return((a, b, a, c, a))
    a.replace_all_uses_with(b)
    assert end.operands == (b, b, b, c, b)
    assert (a.use_count, b.use_count) == (0, 4)
    c.replace_all_uses_with(a)
    assert end.operands == (b, b, b, a, b)
