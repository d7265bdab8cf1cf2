"""The program graph: uses, moving, erasing, copying, and what size and depth cost."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import cache, partial

import pytest

from commonir.ir import Block, Module, Operation, Region, UnregisteredOperation, Value, clone, tensor
from commonir.ir.equality import are_equal, first_difference
from commonir.ir.interning import Interned
from commonir.ir.types import TensorType, f32, f64
from commonir.ods import Dialects, verify
from commonir.text.parser import parse_module
from commonir.text.printer import print_module

from tests.ods.sample import DIALECT, Affine, Isolated, Scale, Sum
from tests.work_counts import calls_of

DIALECTS = Dialects([DIALECT])


def _chain(length: int) -> tuple[Block, list[Scale]]:
    block = Block([tensor(f32, 4)], ["x"])
    value, ops = block.arguments[0], []
    for _ in range(length):
        op = block.append(Scale(value))
        ops.append(op)
        value = op.y
    return block, ops


def _module(block: Block) -> Module:
    built = Module()
    built.body.append(UnregisteredOperation("t.holder", regions=[Region([block])]))
    return built


# -- uses


def test_uses_are_counted_per_operation_and_position() -> None:
    x = Value(tensor(f32, 4))
    first, second = Sum((x, x)), Sum((x,))
    assert x.users == (first, second)
    assert x.use_count == 3
    assert list(x.uses) == [(first, 0), (first, 1), (second, 0)]


def test_replacing_all_uses_moves_every_operand() -> None:
    x, other = Value(tensor(f32, 4)), Value(tensor(f32, 4))
    op = Sum((x, other, x))
    x.replace_all_uses_with(other)
    assert op.xs == (other, other, other)
    assert not x.is_used
    assert other.use_count == 3


def test_setting_operands_updates_uses() -> None:
    x, other = Value(tensor(f32, 4)), Value(tensor(f32, 4))
    op = Scale(x)
    op.operands = (other,)
    assert not x.is_used
    assert other.users == (op,)


# -- blocks


def test_operations_are_inserted_around_others() -> None:
    block, (a, b, c) = _chain(3)
    before = block.insert_before(b, Scale(a.y))
    after = block.insert_after(c, Scale(a.y))
    assert list(block.operations) == [a, before, b, c, after]
    assert [op.index_in_block for op in block.operations] == [0, 1, 2, 3, 4]
    assert before.is_before(b)
    assert not after.is_before(c)
    assert (block.first, block.last, len(block)) == (a, after, 5)


def test_an_operation_is_in_one_block_only() -> None:
    block, (a, *_) = _chain(2)
    with pytest.raises(ValueError, match="already in a block"):
        Block().append(a)
    with pytest.raises(ValueError, match="anchor is in another block"):
        block.insert_before(Scale(Value(tensor(f32))), Scale(Value(tensor(f32))))


def test_the_current_operation_may_be_erased_while_walking() -> None:
    block, ops = _chain(6)
    for op in block.operations:
        if op in ops[1::2]:
            op.results[0].replace_all_uses_with(op.operands[0])
            op.erase()
    assert list(block.operations) == ops[::2]
    assert ops[2].x is ops[0].y


def test_erasing_what_is_used_is_refused() -> None:
    block, (a, b) = _chain(2)
    with pytest.raises(ValueError, match="its result is in use"):
        a.erase()
    b.erase()
    a.erase()
    assert not len(block)
    assert not block.arguments[0].is_used


def test_erasing_removes_what_is_nested_with_its_uses() -> None:
    x = Value(tensor(f32, 4))
    inner = Block()
    inner.append(Scale(inner.append(Scale(x)).y))
    holder = Block().append(UnregisteredOperation("t.holder", regions=[Region([inner])]))
    holder.erase()
    assert not x.is_used


# -- copies


def test_copy_is_equal_and_independent() -> None:
    block, ops = _chain(3)
    ops[0].y.name = "first"
    original = _module(block)
    copy = clone(original)
    assert are_equal(original, copy, names=True)
    assert not set(original.walk()) & set(copy.walk())
    ops[2].set_extra("t.mark", None)
    ops[2].erase()
    assert first_difference(original, copy) == "t.holder: 2 operations in a block against 3"


def test_copy_uses_the_mapping_for_values_from_outside() -> None:
    x, other = Value(tensor(f32, 4)), Value(tensor(f32, 4))
    mapping = {x: other}
    op = Scale(x, 3.0)
    copy = clone(op, mapping)
    assert isinstance(copy, Scale)
    assert (copy.x, copy.factor) == (other, 3.0)
    assert mapping[op.y] is copy.y


def test_difference_names_the_operation_and_what_differs() -> None:
    x = Value(tensor(f32, 4, 4))
    assert first_difference(Scale(x), Scale(x, 3.0)) == "t.scale: attribute 'factor' differs"
    assert first_difference(Affine(x, x), Scale(x)) == "operation t.affine against t.scale"
    assert first_difference(Sum((x, x)), Sum((x,))) == "t.sum: 2 operands against 1"


# -- interning


def test_types_of_equal_content_are_one_object() -> None:
    assert tensor(f32, 2, None) is tensor(f32, 2, None)
    assert tensor(f32, 2) is not tensor(f64, 2)
    assert TensorType(f32, None) is not tensor(f32)


def test_interned_objects_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match="immutable"):
        tensor(f32, 2).element = f64


@pytest.mark.slow
def test_types_nobody_uses_are_forgotten() -> None:
    built = tensor(f32, 123457)
    gc.collect()
    before = len(Interned._table)
    del built
    gc.collect()
    assert len(Interned._table) < before


# -- size and depth


@cache
def _deep(depth: int) -> Module:
    built = Module()
    block = built.body
    for _ in range(depth):
        inner = Block()
        block.append(UnregisteredOperation("t.nest", regions=[Region([inner])]))
        block = inner
    return built


@cache
def _wide(count: int) -> Module:
    return _module(_chain(count)[0])


def _read_back(program: Module) -> None:
    assert are_equal(parse_module(print_module(program), DIALECTS), program)


PASSES: dict[str, Callable[[Module], object]] = {
    "walk": lambda program: sum(1 for _ in program.walk()),
    "print": print_module,
    "print_generic": lambda program: print_module(program, generic=True),
    "str": str,
    "parse": _read_back,
    "clone": clone,
    "compare": lambda program: are_equal(program, program),
}


@pytest.mark.slow_cases("parse")
@pytest.mark.parametrize("name", PASSES)
def test_ten_thousand_nested_regions_do_not_recurse(name: str) -> None:
    PASSES[name](_deep(10_000))


@pytest.mark.parametrize("name", PASSES)
def test_twice_the_depth_takes_twice_the_calls(name: str) -> None:
    _grows_linearly(PASSES[name], _deep, 500)


@pytest.mark.slow_cases("parse")
@pytest.mark.parametrize("name", [*PASSES, "verify"])
def test_twice_the_operations_in_a_block_take_twice_the_calls(name: str) -> None:
    _grows_linearly({**PASSES, "verify": lambda p: verify(p, DIALECTS)}[name], _wide, 1000)


def test_nested_regions_are_verified_without_recursion() -> None:
    built = Module()
    block = built.body
    for _ in range(5_000):
        inner = Block()
        block.append(Isolated((Region([inner]),)))
        block = inner
    assert verify(built, DIALECTS) == []


def _grows_linearly(run: Callable[[Module], object], make: Callable[[int], Module], size: int) -> None:
    run(make(2))  # loading does not count
    small, large = (calls_of(partial(run, make(n))) for n in (size, 2 * size))
    assert large < 2.2 * small + 1000


def test_inserting_and_erasing_cost_no_scan() -> None:
    def calls(count: int) -> int:
        block, ops = _chain(count)

        def insert_and_erase() -> None:
            for op in ops[::2]:
                block.insert_before(op, Scale(block.arguments[0]))
            for op in reversed(ops):
                op.erase()
            assert len(block) == count // 2

        return calls_of(insert_and_erase)

    assert calls(2000) < 2.2 * calls(1000)


def test_operations_are_numbered_again_only_on_request() -> None:
    block, ops = _chain(1000)
    first: Operation = block.insert_before(ops[0], Scale(block.arguments[0]))
    assert ops[-1].index_in_block == 1000
    assert first.is_before(ops[0])
