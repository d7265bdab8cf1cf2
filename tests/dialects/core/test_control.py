"""Operations with nested programs: their types, and what is wrong with one.

`tests/runtime/interpreter/test_control.py` runs them.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.codes import MALFORMED_REGION, UNKNOWN_SYMBOL
from commonir.dialects import core
from commonir.ir import Value, tensor
from commonir.ir.module import Module
from commonir.ir.operation import Block, Region
from commonir.ir.types import Type, boolean, f32, i64
from commonir.ods import operations_behind
from commonir.symbolic import symbol

from tests.runtime.programs import program

N = symbol("N")


def giving(*types: Type, receiving: Sequence[Type] = ()) -> Region:
    """A region that yields values of some types."""
    block = Block(receiving)
    block.append(core.Yield(tuple([Value(t) for t in types])))
    return Region([block])


FLAG = Value(tensor(boolean))


def findings(op: core.If | core.While | core.Call) -> list[str]:
    return [d.message for d in op.verify()]


def test_branches_of_one_type_give_that_type() -> None:
    op = core.If(FLAG, giving(tensor(f32, N, 2)), giving(tensor(f32, N, 2)))
    assert [v.type for v in op.ys] == [tensor(f32, N, 2)]
    assert findings(op) == []


def test_sizes_in_which_branches_differ_are_unknown() -> None:
    op = core.If(FLAG, giving(tensor(f32, 3, 2)), giving(tensor(f32, N, 2)))
    assert [v.type for v in op.ys] == [tensor(f32, None, 2)]
    assert findings(op) == []
    ranks = core.If(FLAG, giving(tensor(f32, 3)), giving(tensor(f32, 3, 1)))
    assert str(ranks.ys[0].type) == "tensor<*xf32>"
    assert findings(ranks) == []


def test_branches_of_different_element_types_or_counts_are_refused() -> None:
    types = core.If(FLAG, giving(tensor(f32, 3)), giving(tensor(i64, 3)))
    assert findings(types) == ["the second branch: value 0 has type tensor<*xi64>, expected tensor<*xf32>"]
    counts = core.If(FLAG, giving(tensor(f32, 3)), giving())
    assert findings(counts) == ["the second branch: expected 1 value, found 0"]
    assert all(d.code is MALFORMED_REGION for d in counts.verify())


def test_a_loop_gives_the_types_of_its_arguments() -> None:
    grown = [tensor(f32, None, 2)]
    condition, body = giving(tensor(boolean), receiving=grown), giving(tensor(f32, None, 2), receiving=grown)
    op = core.While((Value(tensor(f32, 1, 2)),), condition, body)
    assert [v.type for v in op.ys] == [tensor(f32, None, 2)]
    assert findings(op) == []


def test_a_loop_whose_parts_disagree_is_refused() -> None:
    kind = [tensor(f32, 2)]
    condition, body = giving(tensor(f32), receiving=[]), giving(tensor(f32, 3), receiving=kind)
    op = core.While((Value(kind[0]),), condition, body)
    assert findings(op) == [
        "arguments of the condition: expected 1 value, found 0",
        "results of the body: value 0 has type tensor<3xf32>, expected tensor<2xf32>",
        "the condition: value 0 has type tensor<f32>, expected tensor<i1>",
    ]


def test_a_loop_without_blocks_is_refused() -> None:
    op = core.While((Value(tensor(f32)),), Region([]), Region([]))
    assert findings(op)[:2] == [
        "arguments of the condition: expected 1 value, found 0",
        "arguments of the body: expected 1 value, found 0",
    ]


def _calling(callee: str, *types: Type) -> tuple[Module, core.Call]:
    """A module whose function `twice` doubles a vector, and whose main function makes a call."""
    module = program(lambda x: core.add(x, x), {"x": tensor(f32, N)}, "twice")
    caller = program(lambda x: core.call(callee, types, (x,)), {"x": tensor(f32, 4)})
    main = caller.main
    main.detach()
    module.body.append(main)
    (call,) = [op for op in module.walk() if isinstance(op, core.Call)]
    return module, call


def test_a_call_of_a_function_is_allowed_with_its_types() -> None:
    _, call = _calling("twice", tensor(f32, 4))
    assert findings(call) == []


def test_a_call_of_an_unknown_function_is_refused() -> None:
    _, call = _calling("thrice", tensor(f32, 4))
    assert findings(call) == ["core.call: the program has no function 'thrice'"]
    assert [d.code for d in call.verify()] == [UNKNOWN_SYMBOL]


def test_a_call_that_expects_other_results_is_refused() -> None:
    _, call = _calling("twice", tensor(i64, 4))
    assert findings(call) == ["core.call: 'twice', results: value 0 has type tensor<4xi64>, expected tensor<\"N\"xf32>"]


def test_what_a_region_yields_is_nothing_without_its_terminator() -> None:
    assert core.yielded(Region([Block()])) == ()
    value = Value(tensor(f32))
    block = Block()
    block.append(core.Yield((value,)))
    assert core.yielded(Region([block])) == (value,)


def _row(count: int) -> Type:
    return tensor(f32, count)


def test_a_scan_gives_the_last_states_and_stacks_the_rest() -> None:
    body = core.nested([tensor(f32), _row(2)], lambda s, x: (s, core.mul(x, s), x))
    op = core.Scan((Value(tensor(f32)),), (Value(tensor(f32, N, 2)),), body)
    assert [v.type for v in op.ys] == [tensor(f32), tensor(f32, N, 2), tensor(f32, N, 2)]
    assert list(op.verify()) == []


def test_sizes_of_what_a_scan_is_given_are_known_of_what_it_stacks() -> None:
    batch = tensor(f32, N, 2)
    body = core.nested([batch, batch], lambda s, x: (core.add(s, x), core.mul(s, x)))
    op = core.Scan((Value(batch),), (Value(tensor(f32, 5, N, 2)),), body)
    assert [v.type for v in op.ys] == [batch, tensor(f32, 5, N, 2)]


def test_a_scan_whose_parts_disagree_is_refused() -> None:
    op = core.Scan((Value(_row(2)),), (Value(tensor(f32, N, 2)),), giving(tensor(f32), receiving=[_row(2)]))
    assert [d.message for d in op.verify()] == [
        "arguments of the body: expected 2 values, found 1",
        "states from the body: value 0 has type tensor<f32>, expected tensor<2xf32>",
    ]


def test_what_does_not_depend_on_what_a_region_receives_stays_outside() -> None:
    outside = Value(_row(2))
    doubled = core.add(outside, outside)
    body = core.nested([_row(2)], lambda x: (core.mul(core.add(x, core.exp(doubled)), doubled),))
    assert [op.name for op in body.block.operations] == ["core.add", "core.mul", "core.yield"]
    scanned = core.Scan((), (Value(tensor(f32, 3, 2)),), body)
    behind = [op.name for op in operations_behind(scanned.ys)]
    assert behind == ["core.add", "core.exp", "core.scan"]


def test_random_numbers_are_drawn_inside_of_a_region() -> None:
    body = core.nested([tensor(f32)], lambda _: (core.random_uniform(core.vector((2,))),))
    assert [op.name for op in body.block.operations] == ["core.random_uniform", "core.yield"]
