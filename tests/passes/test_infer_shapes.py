"""Shapes inferred through programs; the shapes expected follow from the operators' reference."""

from __future__ import annotations

from collections.abc import Sequence

from commonir.dialects import onnx
from commonir.ir.attributes import DictionaryAttr, IntegerAttr
from commonir.ir.data import data_of
from commonir.ir.module import Module
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import Type, boolean, f32, i64, tensor, unknown
from commonir.passes.infer_shapes import infer_shapes
from commonir.symbolic import symbol

N, M = symbol("N"), symbol("M")


def _module(inputs: dict[str, Type]) -> tuple[Module, Block]:
    block = Block(list(inputs.values()), tuple(inputs))
    module = Module()
    imports = DictionaryAttr((("", IntegerAttr(21)),))
    module.body.append(onnx.Graph("g", imports, Region([block])))
    return module, block


def _add(block: Block, op: onnx.OnnxOp, name: str, *, known: bool = False) -> Value:
    """Puts an operation at the end, of whose result the program says nothing unless it is `known`."""
    block.append(op)
    value = op.results[0]
    value.name = name
    if not known:
        value.type = unknown
    return value


def _ints(block: Block, *values: int) -> Value:
    return block.append(onnx.Initializer(data_of(i64, (len(values),), values))).output


def _inferred(module: Module, block: Block, outputs: Sequence[Value]) -> list[str]:
    block.append(onnx.Return(tuple(outputs)))
    infer_shapes(module)
    return [str(v.type) for v in outputs]


def test_sizes_of_results_are_expressions_of_those_of_inputs() -> None:
    module, block = _module({"x": tensor(f32, N, 3), "y": tensor(f32, M, 3)})
    x, y = block.arguments
    joined = _add(block, onnx.Concat((x, y), axis=0), "joined")
    flat = _add(block, onnx.Reshape.build({"data": joined, "shape": _ints(block, -1)}, [unknown]), "flat")
    assert _inferred(module, block, [joined, flat]) == ['tensor<"M + N"x3xf32>', 'tensor<"3*M + 3*N"xf32>']


def test_sizes_that_meet_in_a_broadcast_are_not_taken_to_be_equal() -> None:
    module, block = _module({"x": tensor(f32, N), "y": tensor(f32, M), "z": tensor(f32, 5)})
    x, y, z = block.arguments
    both = _add(block, onnx.Add.build({"A": x, "B": y}, [unknown]), "both")
    again = _add(block, onnx.Neg.build({"X": both}, [unknown]), "again")
    number = _add(block, onnx.Add.build({"A": x, "B": z}, [unknown]), "number")
    assert _inferred(module, block, [both, again, number]) == [
        'tensor<"max(M, N)"xf32>', 'tensor<"max(M, N)"xf32>', "tensor<5xf32>"
    ]  # fmt: skip


def test_a_size_known_only_when_running_has_a_name_that_goes_on() -> None:
    module, block = _module({"x": tensor(f32, N)})
    (x,) = block.arguments
    result = _add(block, onnx.NonZero.build({"X": x}, [unknown]), "found")
    turned = _add(block, onnx.Transpose.build({"data": result}, [unknown]), "turned")
    assert _inferred(module, block, [result, turned]) == [
        'tensor<1x"found_1 where found_1 >= 0"xi64>', 'tensor<"found_1 where found_1 >= 0"x1xi64>'
    ]  # fmt: skip


def test_unnamed_sizes_of_inputs_get_names_of_their_own() -> None:
    module, block = _module({"x": tensor(f32, None, 4), "y": tensor(f32, None, 4)})
    x, y = block.arguments
    z = _add(block, onnx.Concat.build({"inputs": (x, y), "axis": 0}, [unknown]), "z")
    assert _inferred(module, block, [x, y, z]) == [
        'tensor<"x_0"x4xf32>', 'tensor<"y_0"x4xf32>', 'tensor<"x_0 + y_0"x4xf32>'
    ]  # fmt: skip


def test_a_stated_number_is_kept_where_an_expression_follows() -> None:
    module, block = _module({"x": tensor(f32, N), "y": tensor(f32, M)})
    x, y = block.arguments
    joined = onnx.Concat((x, y), axis=0)
    block.append(joined)
    joined.results[0].type = tensor(f32, 7)
    assert _inferred(module, block, [joined.results[0]]) == ["tensor<7xf32>"]


def test_what_a_loop_carries_has_a_size_that_changes_from_round_to_round() -> None:
    module, block = _module({"x": tensor(f32, N, 3), "n": tensor(i64)})
    x, n = block.arguments
    inner = Block([tensor(i64), tensor(boolean), unknown], ("i", "c", "acc"))
    _, going, stored = inner.arguments
    longer = _add(inner, onnx.Concat.build({"inputs": (stored, x), "axis": 0}, [unknown]), "longer")
    first = _add(inner, onnx.Shape.build({"data": x}, [unknown]), "first")
    inner.append(onnx.Return((going, longer, first)))
    loop = onnx.Loop.build({"M": n, "v_initial": (x,), "body": Region([inner])}, [unknown, unknown])
    block.append(loop)
    assert _inferred(module, block, loop.results) == [
        'tensor<"Loop_0 where Loop_0 >= 0"x3xf32>', 'tensor<"Loop_0_2 where Loop_0_2 >= 0"x2xi64>'
    ]  # fmt: skip
    assert str(stored.type) == 'tensor<"acc_0 where acc_0 >= 0"x3xf32>'
    assert str(longer.type) == 'tensor<"N + acc_0 where acc_0 >= 0"x3xf32>'
