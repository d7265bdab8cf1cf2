"""Folders and canonicalization rules of definitions, applied to programs."""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir import Block, Module, Region, Value, tensor
from commonir.ir.types import FunctionType, TensorType, f32
from commonir.passes.canonicalize import canonicalize, canonicalized


def program(input_type: TensorType, *steps: core.CoreOp) -> Module:
    """A function that returns the result of the last of some operations, which follow one another."""
    block = steps[0].operands[0].owner
    assert isinstance(block, Block)
    for op in steps:
        block.append(op)
    last = steps[-1].result
    block.append(ml_program.Return((last,)))
    module = Module()
    signature = FunctionType((input_type,), (last.type,))
    module.body.append(ml_program.Func("main", signature, Region([block]), ("y",)))
    return module


def argument(type: TensorType) -> Value:
    return Block([type], ["x"]).arguments[0]


def names(module: Module) -> list[str]:
    return [op.name for op in module.main.body.operations]


def test_two_transposes_are_one_and_those_that_cancel_are_none() -> None:
    kind = tensor(f32, 2, 3, 4)
    x = argument(kind)
    first = core.Transpose(x, (1, 2, 0))
    second = core.Transpose(first.y, (1, 2, 0))
    module = program(kind, first, second)
    canonicalize(module)
    (only, _) = module.main.body.operations
    assert isinstance(only, core.Transpose)
    assert only.perm == (2, 0, 1)

    x = argument(kind)
    there = core.Transpose(x, (1, 2, 0))
    back = core.Transpose(there.y, (2, 0, 1))
    module = program(kind, there, back)
    canonicalize(module)
    assert names(module) == ["ml_program.return"]
    assert module.outputs == module.inputs


def test_of_reshapes_in_a_row_only_the_last_counts_and_keeps_its_name() -> None:
    kind = tensor(f32, 2, 3, 4)
    x = argument(kind)
    first = core.Reshape(x, (6, 4))
    second = core.Reshape(first.y, (-1,))
    third = core.Reshape(second.y, (4, 6))
    third.y.name = "folded"
    module = program(kind, first, second, third)
    canonicalize(module)
    assert names(module) == ["core.reshape", "ml_program.return"]
    assert module.outputs[0].name == "folded"
    assert module.outputs[0].type is tensor(f32, 4, 6)


def test_a_value_with_other_users_stays() -> None:
    kind = tensor(f32, 2, 3)
    x = argument(kind)
    first = core.Transpose(x, (1, 0))
    both = core.Add(first.y, first.y)
    second = core.Transpose(first.y, (1, 0))
    product = core.MatMul(second.y, both.y)
    module = program(kind, first, both, second, product)
    assert canonicalize(module) == 2  # two become one, which changes nothing and goes
    assert names(module) == ["core.transpose", "core.add", "core.matmul", "ml_program.return"]


def test_the_module_given_is_not_touched_by_a_canonicalized_copy() -> None:
    kind = tensor(f32, 2, 3)
    x = argument(kind)
    module = program(kind, core.Relu(x), core.Transpose(x, (0, 1)))
    assert names(canonicalized(module)) == ["ml_program.return"]
    assert names(module) == ["core.relu", "core.transpose", "ml_program.return"]
