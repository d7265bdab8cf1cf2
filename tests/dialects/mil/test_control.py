"""Nested blocks, classifier labels and states of the mil dialect."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from commonir.base.codes import MALFORMED_REGION
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import mil
from commonir.dialects.mil.control import Classify, Cond, WhileLoop
from commonir.dialects.mil.elementwise import Add, Greater, Less, Sub
from commonir.dialects.mil.program import Compound, CompoundLiteral, Const, Func, Return
from commonir.dialects.mil.reduction import ReduceSum
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import ListType, MapType, boolean, f32, f64, i64, string, tensor
from commonir.ods import Dialects, verify
from commonir.passes.lower import lower

from tests.conversions.running import converted, run_onnx
from tests.dialects.mil.single_operations import ENGINES, Array, Given, data_of_array
from tests.dialects.mil.single_operations import f32 as floats


def const(block: Block, value: Given) -> Value:
    return block.append(Const(val=data_of_array(value))).result


def module_of(block: Block, outputs: tuple[Value, ...], label: str = "CoreML5") -> Module:
    block.label = label
    block.append(Return(outputs, tuple(f"y{n}" for n in range(len(outputs)))))
    module = Module()
    module.body.append(Func("main", label, (Region([block]),)))
    return module


def nested(types: tuple[Value, ...], fill: Callable[[Block], tuple[Value, ...]]) -> Region:
    """A region of one block that returns what `fill` makes of it."""
    block = Block([v.type for v in types])
    outputs = fill(block)
    block.append(Return(outputs, ("",) * len(outputs)))
    return Region([block])


def run(module: Module, engine: str, **inputs: Array) -> list[object]:
    assert verify(module, Dialects()) == []
    return [np.asarray(v).tolist() for v in ENGINES[engine].prepare(lower(module)).run(inputs).values()]


def conditional() -> tuple[Module, Cond]:
    """x + 1 when the sum of x is positive, else x - 1."""
    block = Block([tensor(f32, 2)], ["x"])
    (x,) = block.arguments
    total = block.append(ReduceSum(x)).output
    pred = block.append(Greater(total, const(block, 0.0))).output
    first = nested((), lambda b: (b.append(Add(x, const(b, 1.0))).output,))
    second = nested((), lambda b: (b.append(Sub(x, const(b, 1.0))).output,))
    new_op = block.append(Cond(pred, first, second))
    return module_of(block, new_op.outputs), new_op


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_cond_runs_the_first_block_when_true(engine: str) -> None:
    assert run(conditional()[0], engine, x=floats([1, 2])) == [[2, 3]]
    assert run(conditional()[0], engine, x=floats([1, -2])) == [[0, -3]]


def loop(limit: float | list[float] = 10.0) -> tuple[Module, WhileLoop]:
    """Doubles x, which the body adds to itself, while its sum is less than the limit; counts the rounds."""
    block = Block([tensor(f32, 2)], ["x"])
    (x,) = block.arguments
    start = const(block, 0)

    def asks(b: Block) -> tuple[Value, ...]:
        total = b.append(ReduceSum(b.arguments[0])).output
        return (b.append(Less(total, const(b, limit))).output,)

    def doubles(b: Block) -> tuple[Value, ...]:
        value, rounds = b.arguments
        return b.append(Add(value, value)).output, b.append(Add(rounds, const(b, 1))).output

    new_op = block.append(WhileLoop((x, start), nested((x, start), asks), nested((x, start), doubles)))
    return module_of(block, new_op.outputs), new_op


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_while_loop_asks_before_each_round(engine: str) -> None:
    assert run(loop()[0], engine, x=floats([1, 2])) == [[4, 8], 2]
    assert run(loop()[0], engine, x=floats([20, 1])) == [[20, 1], 0]


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_condition_of_while_loop_may_be_a_vector_of_one_element(engine: str) -> None:
    assert run(loop([10.0])[0], engine, x=floats([1, 2])) == [[4, 8], 2]


def messages(op: Operation) -> list[str]:
    assert isinstance(op, Cond | WhileLoop)
    result = list(op.verify())
    assert {d.code for d in result} == {MALFORMED_REGION}
    return [d.message for d in result]


def test_blocks_of_cond_return_the_same_types() -> None:
    _, op = conditional()
    last = op.otherwise.block.last
    assert last is not None
    last.operands = (op.pred,)
    assert messages(op) == [
        "mil.cond: outputs of the second block: expected tensor<2xf32>, found '' of type tensor<i1>",
    ]


def test_blocks_of_while_loop_take_and_return_the_values_of_the_loop() -> None:
    _, op = loop()
    last = op.condition.block.last
    assert last is not None
    last.operands = op.condition.block.arguments[:1]
    op.body.block.add_argument(tensor(boolean))
    assert messages(op) == [
        "mil.while_loop: inputs of the body: expected 2 values, found 3",
        "mil.while_loop: outputs of the condition: expected tensor<i1>, found '' of type tensor<2xf32>",
    ]


def classifier(labels: list[str] | list[int]) -> tuple[Module, Classify]:
    block = Block([tensor(f32, 1, 3)], ["x"])
    element = string if isinstance(labels[0], str) else i64
    wide = [data_of_array(v if isinstance(v, str) else np.int64(v)) for v in labels]
    values = block.append(CompoundLiteral(val=Compound(ListType(tensor(element), len(labels)), wide))).output
    new_op = block.append(Classify(block.arguments[0], values))
    return module_of(block, new_op.results), new_op


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_classify_gives_the_most_probable_label_and_all_probabilities(engine: str) -> None:
    x = floats([[0.25, 0.5, 0.25]])
    module, op = classifier(["cat", "dog", "bird"])
    assert [r.type for r in op.results] == [tensor(string), MapType(tensor(string), tensor(f64))]
    assert run(module, engine, x=x) == ["dog", [0.25, 0.5, 0.25]]
    assert run(classifier([7, 8, 9])[0], engine, x=x) == [8, [0.25, 0.5, 0.25]]


def test_classify_C1() -> None:
    with pytest.raises(DiagnosticError, match="C1: classes is a list of strings or integers"):
        classifier(["cat", "dog"])


def test_classify_C2() -> None:
    _, op = classifier(["cat", "dog", "bird"])
    block = op.parent
    assert block is not None
    assert list(op.verify()) == []
    block.insert_after(op, Const(val=data_of_array(1.0)))
    assert [d.message for d in op.verify()] == [
        "mil.classify: C2: it is the last operation of its block, and only the block uses its results",
    ]


def test_definitions_of_the_dialect_are_found_by_version() -> None:
    assert mil.DIALECT.find("mil.scaled_dot_product_attention", "CoreML7") is None
    assert mil.DIALECT.find("mil.clip", "CoreML6") is mil.DIALECT.find("mil.clip", "CoreML5")
    assert mil.DIALECT.find("mil.clip", "CoreML9") is mil.DIALECT.find("mil.clip", "CoreML7")


@pytest.mark.parametrize("engine", [*sorted(ENGINES), "onnx"])
def test_names_may_hide_those_of_the_scope_around(engine: str) -> None:
    """y = x; for each of two rounds: y = (y = y + x), in a block that names its argument as the value outside."""
    block = Block([tensor(f32, 2)], ["x"])
    (x,) = block.arguments
    start = const(block, 0)

    def asks(b: Block) -> tuple[Value, ...]:
        return (b.append(Less(b.arguments[1], const(b, 2))).output,)

    def adds(b: Block) -> tuple[Value, ...]:
        value, rounds = b.arguments
        chosen = b.append(
            Cond(
                b.append(Less(rounds, const(b, 1))).output,
                nested((), lambda c: (c.append(Add(value, x)).output,)),
                nested((), lambda c: (c.append(Sub(value, x)).output,)),
            )
        )
        return chosen.outputs[0], b.append(Add(rounds, const(b, 1))).output

    new_op = block.append(WhileLoop((x, start), nested((x, start), asks), nested((x, start), adds)))
    module = module_of(block, new_op.outputs)
    for op in module.nested():
        for v in (*op.results, *(a for region in op.regions for inner in region.blocks for a in inner.arguments)):
            v.name = "x" if v.type is x.type else "n"
    inputs = floats([1, 2])
    if engine == "onnx":
        result = [v.tolist() for v in run_onnx(converted(lower(module)), {"x": inputs})]
    else:
        result = run(module, engine, x=inputs)
    assert result == [[1, 2], 2]
