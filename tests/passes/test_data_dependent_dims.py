"""Data-dependent dims: named while lowering, kept alive, bound as a program runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.dialects.mil.control import Cond
from commonir.dialects.mil.elementwise import Add
from commonir.dialects.mil.generation import Fill, NonZero
from commonir.dialects.mil.program import Const, Func, Return
from commonir.dialects.mil.shape import Reshape, Shape
from commonir.ir.module import Module
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import boolean, f32, i32, i64, tensor
from commonir.ods.data_dependent_dims import defined_dims
from commonir.passes.lower import lower
from commonir.passes.remove_unused import remove_unused
from commonir.symbolic import symbol

from tests.conversions.running import converted, run_onnx
from tests.dialects.mil.single_operations import ENGINES, data_of_array

Array = np.ndarray[Any, Any]
_X = np.array([[0, 7], [8, 9]], np.int32)


def lowered(block: Block, *outputs: Value) -> Module:
    block.label = "CoreML7"
    block.append(Return(outputs, tuple(f"y{n}" for n in range(len(outputs)))))
    module = Module()
    module.body.append(Func("main", "CoreML7", (Region([block]),)))
    return lower(module)


def agree(module: Module, *expected: object, **inputs: Array) -> None:
    result = [list(e.prepare(module).run(inputs).values()) for e in ENGINES.values()]
    result.append(run_onnx(converted(module), inputs))
    for values in result:
        assert [v.tolist() for v in values] == list(expected)


def counted() -> tuple[Block, Value]:
    """The positions of what is not zero: as many rows as there are."""
    block = Block([tensor(i32, 2, 2)], ["x"])
    positions = block.append(NonZero(block.arguments[0])).output
    positions.name = "found"
    return block, positions


def test_shape_arithmetic_goes_on_with_a_size_known_when_running() -> None:
    block, positions = counted()
    flat = block.append(Reshape(positions, block.append(Const(val=data_of_array([-1]))).output)).output
    module = lowered(block, flat, block.append(Shape(flat)).output)
    shape = core.tensor_type(module.main.outputs[0]).shape
    assert shape is not None
    assert str(shape[0]) == "2*found_0"
    agree(module, [0, 1, 1, 0, 1, 1], [6], x=_X)


def test_operation_that_only_gives_a_size_stays() -> None:
    block, positions = counted()
    sizes = block.append(Shape(positions)).output
    zeros = block.append(Fill(sizes, block.append(Const(val=data_of_array(1.5))).output)).output
    module = lowered(block, zeros)
    (result,) = [op for op in module.main.body.operations if isinstance(op, core.NonZero)]
    assert [s.name for s in defined_dims(result)] != []
    agree(module, [[1.5, 1.5]] * 3, x=_X)


def test_operation_whose_size_nothing_mentions_goes() -> None:
    block = Block([tensor(i32, 4)])
    result = block.append(core.NonZero(block.arguments[0]))
    result.results[0].type = tensor(i64, symbol("count", 0), 1)
    assert [s.name for s in defined_dims(result)] == ["count"]
    assert remove_unused(block) == 1


def test_sizes_of_two_branches_are_one_of_their_own_afterwards() -> None:
    block = Block([tensor(boolean), tensor(f32, None)], ["c", "x"])
    condition, x = block.arguments
    positions = block.append(NonZero(x)).output
    whole = block.append(Reshape(positions, block.append(Const(val=data_of_array([-1]))).output)).output

    def branch(value: Value) -> Region:
        inner = Block()
        inner.append(Return((value,), ("",)))
        return Region([inner])

    twice = Block()
    twice.append(Return((twice.append(Add(whole, whole)).output,), ("",)))
    chosen = block.append(Cond(condition, branch(block.append(Shape(x)).output), Region([twice])))
    sizes = block.append(Shape(chosen.outputs[0])).output
    module = lowered(block, chosen.outputs[0], sizes)
    x_value = np.array([1, 0, 3], np.float32)
    agree(module, [3], [1], c=np.array(True), x=x_value)
    agree(module, [0, 4], [2], c=np.array(False), x=x_value)


def test_sizes_that_contradict_each_other_are_refused_when_running() -> None:
    block = Block([tensor(f32, None), tensor(f32, None)], ["x", "y"])
    x, y = [block.append(NonZero(v)).output for v in block.arguments]
    module = lowered(block, block.append(Add(x, y)).output)
    inputs = {"x": np.array([1, 1, 0], np.float32), "y": np.array([1, 1, 1], np.float32)}
    for engine in ENGINES.values():
        with pytest.raises(DiagnosticError):
            engine.prepare(module).run(inputs)
