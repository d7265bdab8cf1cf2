"""Uses of a program take as much work for each operation of a long one as of a short one: lines of ours are counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import onnx
import pytest
from onnx import NodeProto, TensorProto, ValueInfoProto, helper

import commonir as cir

from tests.work_counts import lines_of

_SHORT, _MIDDLE, _LONG = 20, 40, 80
_NODE = helper.make_node


# Programs of other lengths have other types, so that those of one before, which are still there, save no work.


def _value(name: str, shape: Sequence[int | str]) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def _model(
    nodes: Sequence[NodeProto], inputs: Sequence[ValueInfoProto], outputs: Sequence[ValueInfoProto]
) -> onnx.ModelProto:
    graph = helper.make_graph(list(nodes), "g", list(inputs), list(outputs))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _distinct_dims_put_together(count: int) -> onnx.ModelProto:
    nodes = [_NODE("Exp", [f"x{n}"], [f"t{n}"]) for n in range(count)]
    nodes.append(_NODE("Concat", [f"t{n}" for n in range(count)], ["y"], axis=0))
    inputs = [_value(f"x{n}", [f"d{n}", count]) for n in range(count)]
    return _model(nodes, inputs, [_value("y", ["total", count])])


def _one_dim_put_together_again_and_again(count: int) -> onnx.ModelProto:
    nodes = [_NODE("Concat", [f"t{n}", "x"], [f"t{n + 1}"], axis=0) for n in range(count)]
    return _model(nodes, [_value("t0", [1, count]), _value("x", [1, count])], [_value(f"t{count}", [count + 1, count])])


def _put_together_with_itself(count: int) -> onnx.ModelProto:
    nodes = [_NODE("Concat", [f"t{n}", f"t{n}"], [f"t{n + 1}"], axis=0) for n in range(count // 4)]
    return _model(nodes, [_value("t0", [1, count])], [_value(f"t{count // 4}", [2 ** (count // 4), count])])


def _live_until_the_end(count: int) -> onnx.ModelProto:
    nodes = [_NODE("Exp", ["x"], [f"t{n}"]) for n in range(count)]
    nodes.append(_NODE("Sum", [f"t{n}" for n in range(count)], ["y"]))
    return _model(nodes, [_value("x", ["n", count])], [_value("y", ["n", count])])


def _one_node_with_many_outputs(count: int) -> onnx.ModelProto:
    names = [f"y{n}" for n in range(count)]
    return _model([_NODE("Split", ["x"], names, axis=0)], [_value("x", [count, 2])], [_value(n, [1, 2]) for n in names])


def _load(model: onnx.ModelProto) -> cir.Module:
    return cir.loads(model.SerializeToString(), format="onnx")


def _check(model: onnx.ModelProto) -> object:
    return cir.verify(_load(model))


def _info(model: onnx.ModelProto) -> object:
    return str(cir.summarize(_load(model), with_flops=True))


def _opt(model: onnx.ModelProto) -> object:
    return cir.optimize(_load(model))


def _onnx(model: onnx.ModelProto) -> object:
    return cir.convert(cir.lower(_load(model)), "onnx")


@pytest.mark.parametrize(
    ("use", "program"),
    [
        (_load, _one_node_with_many_outputs),
        (_check, _distinct_dims_put_together),
        (_info, _distinct_dims_put_together),
        (_info, _live_until_the_end),
        (_opt, _one_dim_put_together_again_and_again),
        (_opt, _put_together_with_itself),
        (_onnx, _distinct_dims_put_together),
    ],
)
def test_work_grows_as_the_program_does(
    use: Callable[[onnx.ModelProto], object], program: Callable[[int], onnx.ModelProto]
) -> None:
    use(program(4))  # loading does not count
    short, middle, long = [lines_of(partial(use, program(n))) for n in (_SHORT, _MIDDLE, _LONG)]
    # Twice as much is added for twice as many; with a part that is quadratic, up to four times.
    assert long - middle < 2.3 * (middle - short)


def test_formulas_of_too_many_symbols_are_reported_as_unknown() -> None:
    nodes = [_NODE("Exp", [f"x{n}"], [f"y{n}"]) for n in range(600)]
    values = {name: [_value(f"{name}{n}", [f"d{n}", 3]) for n in range(600)] for name in "xy"}
    module = cir.loads(_model(nodes, values["x"], values["y"]).SerializeToString(), format="onnx")
    summary = cir.summarize(module, with_flops=True)
    assert (summary.flops, "unknown" in str(summary)) == ("unknown", True)
