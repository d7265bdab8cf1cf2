"""Lowering refuses a program that contradicts its definitions, and loses nothing on the way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.dialects.mil.activation import Relu
from commonir.dialects.mil.control import Cond
from commonir.dialects.mil.elementwise import Add, Tanh
from commonir.dialects.mil.program import Func, Return
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import boolean, f32, none, tensor
from commonir.passes.lower import lower

from tests.oracles import oracle

VECTOR = tensor(f32, 4)


def _module(inputs: Sequence[Value], operations: Sequence[Operation], outputs: Sequence[Value]) -> Module:
    block = Block([v.type for v in inputs], [v.name for v in inputs], "CoreML5")
    for operation in operations:
        block.append(operation)
    for arguments, argument in zip(inputs, block.arguments, strict=True):
        arguments.replace_all_uses_with(argument)
    stands = dict(zip(inputs, block.arguments, strict=True))
    values = tuple(stands.get(v, v) for v in outputs)
    block.append(Return.build({"values": values, "names": tuple(v.name for v in outputs)}, ()))
    module = Module()
    module.body.append(Func.build({"sym_name": "main", "opset": "CoreML5", "specializations": (Region([block]),)}, ()))
    return module


def _refused(module: Module) -> list[tuple[str, str]]:
    with pytest.raises(DiagnosticError) as refused:
        lower(module)
    return [(d.code.id, d.message) for d in refused.value.diagnostics]


def test_result_of_another_type_than_the_definition_gives_is_refused() -> None:
    x = Value(VECTOR, name="x")
    wrong = Relu.build({"x": x}, [tensor(f32, 5)])
    wrong.results[0].name = "y"
    assert _refused(_module([x], [wrong], wrong.results)) == [
        ("E0506", "mil.relu: result 'y' is declared tensor<5xf32>, but the definition gives tensor<4xf32>")
    ]


def test_wrong_number_of_results_is_refused() -> None:
    x = Value(VECTOR, name="x")
    many, none_ = Relu.build({"x": x}, [VECTOR, VECTOR]), Relu.build({"x": x}, [])
    assert _refused(_module([x], [many, none_], many.results)) == [
        ("E0506", "mil.relu: expected 1 result, found 2"),
        ("E0506", "mil.relu: expected 1 result, found 0"),
    ]


def test_missing_operand_is_refused() -> None:
    x = Value(VECTOR, name="x")
    missing = Add.build({"x": x}, [VECTOR])
    assert _refused(_module([x], [missing], missing.results)) == [("E0502", "mil.add: operand 'y' is missing")]


def test_value_that_nothing_defines_is_refused_where_it_is_used() -> None:
    x, nothing = Value(VECTOR, name="x"), Value(none, name="n")
    module = _module([x], [], [nothing])
    assert _refused(module) == [("E0401", "mil.return: operand 0 'n' is not defined")]


def test_what_follows_from_a_fault_is_not_reported() -> None:
    x = Value(VECTOR, name="x")
    wrong = Relu.build({"x": x}, [tensor(f32, 5)])
    after = Tanh.build({"x": wrong.results[0]}, [tensor(f32, 5)])
    assert [code for code, _ in _refused(_module([x], [wrong, after], after.results))] == ["E0506"]


def test_fault_in_a_nested_program_is_the_only_one_reported() -> None:
    x, pred = Value(VECTOR, name="x"), Value(tensor(boolean), name="pred")
    branches = [Region([Block()]), Region([Block()])]
    for branch in branches:
        wrong = branch.block.append(Relu.build({"x": x}, [tensor(f32, 5)]))
        branch.block.append(Return.build({"values": wrong.results, "names": ("y",)}, ()))
    cond = Cond.build({"pred": pred, "then": branches[0], "otherwise": branches[1]}, [tensor(f32, 5)])
    assert [code for code, _ in _refused(_module([x, pred], [cond], cond.results))] == ["E0506", "E0506"]


def test_nested_programs_of_core_operations_are_kept() -> None:
    x, condition = Value(VECTOR, name="x"), Value(tensor(boolean), name="condition")
    relu = Relu(x)
    branches = [Region([Block()]), Region([Block()])]
    for branch in branches:
        branch.block.append(core.Yield((relu.results[0],)))
    chosen = core.If(condition, *branches)
    lowered = lower(_module([x, condition], [relu, chosen], chosen.results))
    (preserved,) = [op for op in lowered.nested() if isinstance(op, core.If)]
    assert [[op.name for op in region.block.operations] for region in preserved.regions] == [
        ["core.yield"],
        ["core.yield"],
    ]


def test_a_branch_that_never_runs_is_not_lowered(tmp_path: Path) -> None:
    """`torch.tile` is exported so: whether `x` has fewer axes than repeats is asked of a shape that is known."""
    onnx = oracle("onnx")
    helper, info = onnx.helper, onnx.helper.make_tensor_value_info
    never = helper.make_graph(
        [helper.make_node("Reshape", ["x", "given"], ["t"])], "never", [], [info("t", 1, ["a", "b"])]
    )
    always = helper.make_graph([helper.make_node("Neg", ["x"], ["e"])], "always", [], [info("e", 1, ["n", 2])])
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Size", ["shape"], ["rank"]),
        helper.make_node("Less", ["rank", "least"], ["is_less"]),
        helper.make_node("If", ["is_less"], ["y"], then_branch=never, else_branch=always),
    ]
    inputs = [info("x", 1, ["n", 2]), info("given", 7, [2])]
    least = onnx.numpy_helper.from_array(np.array(2), "least")
    graph = helper.make_graph(nodes, "g", inputs, [info("y", 1, None)], [least])
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
    lowered = cir.lower(cir.load(path))
    assert [op.name for op in lowered.function(None).walk() if op.regions] == ["ml_program.func"]
    outputs = cir.run(lowered, {"x": np.array([[1, 2]], np.float32), "given": np.array([1, 2])})
    assert outputs["y"].tolist() == [[-1, -2]]
