"""Calls replaced by what they run."""

from __future__ import annotations

import numpy as np

from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.module import Module
from commonir.ir.operation import Block, Region
from commonir.ir.types import FunctionType, f32, tensor
from commonir.passes.inline_calls import inline_calls
from commonir.runtime.interpreter.engine import ENGINE as REFERENCE

from tests.conversions.programs import core_module

_KIND = tensor(f32, 2)


def test_module_without_calls_stays_itself() -> None:
    module = core_module(core.exp, {"x": _KIND})
    assert inline_calls(module) is module


def test_each_call_runs_on_its_own_operands() -> None:
    module = Module()
    block = Block([_KIND], ["v"])
    squared = block.append(core.Mul(block.arguments[0], block.arguments[0])).y
    block.append(ml_program.Return((squared,)))
    signature = FunctionType((_KIND,), (_KIND,))
    private = ml_program.Visibility.PRIVATE
    module.body.append(ml_program.Func("square", signature, Region([block]), sym_visibility=private))
    block = Block([_KIND], ["x"])
    once = block.append(core.Call("square", (_KIND,), (block.arguments[0],))).ys[0]
    other = block.append(core.Neg(once)).y
    twice = block.append(core.Call("square", (_KIND,), (other,))).ys[0]
    block.append(ml_program.Return((twice, once)))
    module.body.append(ml_program.Func("main", FunctionType((_KIND,), (_KIND, _KIND)), Region([block]), ("a", "b")))

    built = inline_calls(module)
    assert list(built.functions) == ["main"]
    assert [op.name for op in built.main.body.operations] == ["core.mul", "core.neg", "core.mul", "ml_program.return"]
    result = REFERENCE.prepare(built).run({"x": np.array([2, -3], np.float32)})
    np.testing.assert_array_equal(result["a"], [16, 81])
    np.testing.assert_array_equal(result["b"], [4, 9])
