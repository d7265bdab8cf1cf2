"""Models that the checker of onnx accepts in whole or in part, and what is wrong with them."""

# ruff: noqa: E501  one case a line

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import GraphProto, ModelProto, TensorProto, helper, numpy_helper

import commonir as cir
from commonir.base.diagnostics import DiagnosticError, Diagnostics
from commonir.formats.onnx.read import check
from commonir.ods import Dialects

from tests.formats.onnx import odd_models

DIALECTS = Dialects()


def _info(name: str, *shape: int | str | None, kind: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def _model(
    nodes: list[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto] = (),
    outputs: Sequence[onnx.ValueInfoProto] = (),
    initializer: Sequence[TensorProto] = (),
    sparse_initializer: Sequence[onnx.SparseTensorProto] = (),
    value_info: Sequence[onnx.ValueInfoProto] = (),
) -> ModelProto:
    """A model of nodes that make `y` of `x`, both of two floats unless something else is given."""
    arguments = inputs or [_info("x", 2)]
    result = outputs or [_info("y", 2)]
    graph = helper.make_graph(
        nodes, "g", arguments, result, initializer, sparse_initializer=sparse_initializer, value_info=value_info
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def _found(model: ModelProto, tmp_path: Path) -> list[str]:
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    return [f"{d.code.id} {d.where}: {d.message}" for d in check(path, DIALECTS)[1]]


def _with(change: Callable[[ModelProto], object]) -> ModelProto:
    model = _model([helper.make_node("Relu", ["x"], ["y"], "n")])
    change(model)
    return model


def _softmax(axis: onnx.AttributeProto, op_type: str = "Softmax") -> onnx.NodeProto:
    return onnx.NodeProto(op_type=op_type, input=["x"], output=["y"], attribute=[axis])


def _named(*names: str) -> list[onnx.NodeProto]:
    return [helper.make_node("Relu", [a], [b], name) for a, b, name in zip("xt", "ty", names, strict=True)]


_F = helper.make_function(
    "f", "F", ["a"], ["b"], [helper.make_node("Neg", ["a"], ["b"])], [helper.make_opsetid("", 18)]
)
_W = numpy_helper.from_array(np.ones((3, 2), np.float32), "w")

_PLACES = numpy_helper.from_array(np.array([0, 1]), "i")

_OTHER_ELEMENTS = "'i' is declared tensor<2xf32>, but is tensor<2xi64>; onnxruntime refuses that"
_TWO_CONSTANTS = "'c' is defined twice: the last constant of a name is its value everywhere, as in onnxruntime"
CASES: dict[str, tuple[ModelProto, list[str]]] = {
    "wrong element type": (
        _model([helper.make_node("Relu", ["x"], ["y"])], inputs=[_info("x", 2, kind=TensorProto.BOOL)]),
        ["E0503 graph.node[0] 'y': onnx.Relu: operand 'X': expected element type"],
    ),
    "one variable, two types": (
        _model(
            [helper.make_node("Add", ["x", "z"], ["y"])], inputs=[_info("x", 2), _info("z", 2, kind=TensorProto.INT64)]
        ),
        [
            "E0503 graph.node[0] 'y': onnx.Add: operand 'B': expected element type f32 as of the other operands, found i64"
        ],
    ),
    "inner dimensions": (
        _model([helper.make_node("MatMul", ["x", "w"], ["y"])], inputs=[_info("x", 5, 4)], initializer=[_W]),
        ["E0504 graph.node[0] 'y': "],
    ),
    "wrong declared shape": (
        _model([helper.make_node("Relu", ["x"], ["y"])], outputs=[_info("y", 3)]),
        ["W0502 graph.node[0] 'y': onnx.Relu: result 'y' is declared tensor<3xf32>"],
    ),
    "wrong declared shape that others follow from": (
        _model(
            [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Transpose", ["y"], ["z"], perm=[0])],
            inputs=[_info("x", 3)],
            outputs=[_info("z", 3)],
            value_info=[_info("y", 2, 3, 4)],
        ),
        ["W0502 graph.node[0] 'y': onnx.Relu: result 'y' is declared tensor<2x3x4xf32>"],
    ),
    "wrong declared element type": (
        _model(
            [helper.make_node("Relu", ["x"], ["y"])],
            outputs=[helper.make_tensor_value_info("y", TensorProto.INT64, [2])],
        ),
        ["E0506 graph.node[0] 'y': onnx.Relu: result 'y' is declared tensor<2xi64>"],
    ),
    "two symbols that must be equal": (
        _model(
            [helper.make_node("MatMul", ["x", "z"], ["y"])],
            inputs=[_info("x", 2, "N"), _info("z", "M", 2)],
            outputs=[_info("y", 2, 2)],
        ),
        ["W0205 graph.node[0] 'y': G6: onnx.MatMul: N and M must be equal"],
    ),
    "a slice up to a large number, which leaves the size": (
        _model(
            [
                helper.make_node("Slice", ["x", "begin", "end"], ["s"]),
                helper.make_node("Concat", ["x", "s"], ["y"], axis=1),
            ],
            inputs=[_info("x", "N", 2)],
            outputs=[_info("y", "N", 4)],
            initializer=[helper.make_tensor(n, TensorProto.INT64, [1], [v]) for n, v in (("begin", 0), ("end", 10**9))],
        ),
        [],
    ),
    "a number for a size that is none": (
        _model([helper.make_node("Relu", ["x"], ["y"])], inputs=[_info("x", 2, "N")], outputs=[_info("y", 2, 7)]),
        ["W0205 graph.node[0] 'y': G10: onnx.Relu: axis 1 of 'y' is stated as 7, and the operator gives N"],
    ),
    "numbers for sizes that are none, of which two meet": (
        _model(
            [helper.make_node("Add", ["x", "z"], ["y"])],
            inputs=[_info("x", "N", "N"), _info("z", "N", "M")],
            outputs=[_info("y", 7, 7)],
        ),
        [
            "W0205 graph.node[0] 'y': G10: onnx.Add: axis 0 of 'y' is stated as 7, and the operator gives N",
            "W0205 graph.node[0] 'y': G10: onnx.Add: axis 1 of 'y' is stated as 7, and the operator gives max(M, N)",
        ],
    ),
    "two nodes of one name": (
        _model(_named("same", "same")),
        ["W0205 graph.node[1] 'same': G4: another node has the name 'same'"],
    ),
    "nodes that are wrong in the same way": (
        _model(
            [
                *[helper.make_node("Add", ["x", "z"], [name]) for name in "abc"],
                helper.make_node("Add", ["x", "x"], ["y"]),
            ],
            inputs=[_info("x", 2), _info("z", 2, kind=TensorProto.INT64)],
        ),
        [
            "E0503 graph.node[0] 'a': onnx.Add: operand 'B': expected element type f32",
            "E0503 graph.node[1] 'b': onnx.Add: operand 'B': expected element type f32",
            "E0503 graph.node[2] 'c': onnx.Add: operand 'B': expected element type f32",
        ],
    ),
    "one wrong node among nodes that contents of operands alone set apart": (
        _model(
            [helper.make_node("Reshape", ["x", f"s{n}"], [name]) for n, name in enumerate("abcy")],
            inputs=[_info("x", 4)],
            outputs=[_info("y", 2, 2)],
            initializer=[
                numpy_helper.from_array(np.array(shape), f"s{n}")
                for n, shape in enumerate([(2, 2), (2, 2), (2, 3), (2, 2)])
            ],
        ),
        ["E0504 graph.node[2] 'c': onnx.Reshape: number of elements: expected 4, found 6"],
    ),
    "one wrong node among nodes that attributes alone set apart": (
        _model(
            [
                helper.make_node("Softmax", ["x"], [name], axis=axis)
                for name, axis in zip("abcy", (0, 0, 7, 0), strict=True)
            ],
        ),
        ["E0504 graph.node[2] 'c': onnx.Softmax: axis 7 of a tensor of rank 1"],
    ),
    "symbols that must be equal in several nodes": (
        _model(
            [helper.make_node("MatMul", ["x", "z"], [name]) for name in "aby"],
            inputs=[_info("x", 2, "N"), _info("z", "M", 2)],
            outputs=[_info("y", 2, 2)],
        ),
        [f"W0205 graph.node[{n}] '{name}': G6: onnx.MatMul: N and M must be equal" for n, name in enumerate("aby")],
    ),
    "no such operator": (
        _model([helper.make_node("Relux", ["x"], ["y"])]),
        ["E0501 graph.node[0] 'y': G3: there is no operator 'Relux'"],
    ),
    "an operator of later versions": (
        _model([helper.make_node("Swish", ["x"], ["y"])]),
        ["E0501 graph.node[0] 'y': G3: 'Swish' is not in version 18 of its operator set"],
    ),
    "an operator of another domain": (
        _with(
            lambda m: (
                m.graph.node[0].MergeFrom(onnx.NodeProto(domain="own")),
                m.opset_import.add(domain="own", version=1),
            )
        ),
        ["W0204 graph.node[0] 'n': no definition of 'own.Relu' is known"],
    ),
    "a domain without version": (
        _with(lambda m: m.graph.node[0].MergeFrom(onnx.NodeProto(domain="own"))),
        [
            "E0209 graph.node[0] 'n': M2: no version of the operator set 'own' is stated",
            "W0204 graph.node[0] 'n': no definition of 'own.Relu' is known",
        ],
    ),
    "no operator set and no node": (
        _with(lambda m: (m.ClearField("opset_import"), m.graph.ClearField("node"), m.graph.ClearField("output"))),
        ["E0209 opset_import: M2: no operator set is stated"],
    ),
    "an operator set of the future": (
        _with(lambda m: m.opset_import[0].MergeFrom(onnx.OperatorSetIdProto(version=99))),
        ["E0203 opset_import: M3: version 99 of 'ai.onnx' is not known yet: 28 is the newest"],
    ),
    "an IR of the future": (
        _with(lambda m: m.MergeFrom(ModelProto(ir_version=99))),
        ["E0203 ir_version: M1: IR version 99 is not known yet: 14 is the newest"],
    ),
    "no version of the IR": (
        _with(lambda m: m.ClearField("ir_version")),
        ["E0209 ir_version: M1: the model states no version of the IR"],
    ),
    "no name of the graph": (_with(lambda m: m.graph.ClearField("name")), ["E0209 graph: G1: the graph has no name"]),
    "no name of an input": (
        _with(lambda m: m.graph.input.append(helper.make_tensor_value_info("", 1, [2]))),
        ["E0209 graph.input[1]: G2: an input has no name"],
    ),
    "no order": (
        _model([helper.make_node("Relu", ["t"], ["y"]), helper.make_node("Relu", ["x"], ["t"])]),
        ["E0401 graph.node[0] 'y': onnx.Relu: operand 0 't' is used before it is defined"],
    ),
    "no such value": (
        _model([helper.make_node("Add", ["x", "gone"], ["y"])]),
        ["E0401 graph.node[0] 'y': onnx.Add: operand 1 'gone' is not defined"],
    ),
    "two values of one name": (
        _model([helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Neg", ["x"], ["y"])]),
        ["E0402 graph.node[1] 'y': 'y' is defined twice"],
    ),
    "a branch that returns a value around under another type": (
        _model(
            [
                helper.make_node("Cast", ["x"], ["i"], to=7),
                helper.make_node("Cast", ["x"], ["b"], to=9),
                helper.make_node("ReduceMax", ["i"], ["m"], keepdims=0),
                helper.make_node("Cast", ["m"], ["c"], to=9),
                helper.make_node(
                    "If",
                    ["c"],
                    ["k"],
                    then_branch=helper.make_graph([], "t", [], [helper.make_tensor_value_info("i", 1, [2])]),
                    else_branch=helper.make_graph([], "e", [], [helper.make_tensor_value_info("i", 7, [2])]),
                ),
                helper.make_node("Cast", ["k"], ["y"], to=1),
            ]
        ),
        [f"W0205 graph.node[4] 'k'.then_branch.output 'i': {_OTHER_ELEMENTS}"],
    ),
    "two constants of one name": (
        _model(
            [
                helper.make_node("Constant", [], ["c"], value_floats=[1.0, 2.0]),
                helper.make_node("Mul", ["x", "c"], ["y"]),
                helper.make_node("Constant", [], ["c"], value_floats=[3.0, 4.0]),
            ]
        ),
        [f"W0205 graph.node[2] 'c': {_TWO_CONSTANTS}"],
    ),
    "fewer bytes than elements": (
        _model(
            [helper.make_node("Add", ["x", "s"], ["y"])], initializer=[TensorProto(name="s", data_type=1, dims=[2])]
        ),
        ["E0207 graph.initializer 's': tensor<2xf32> takes 8 bytes, found 0"],
    ),
    "elements beyond all memory": (
        _model(
            [helper.make_node("Add", ["x", "s"], ["y"])],
            initializer=[TensorProto(name="s", data_type=1, dims=[2**40] * 4)],
        ),
        ["E0207 graph.initializer 's': tensor<1099511627776x"],
    ),
    "a negative size": (
        _model(
            [helper.make_node("Add", ["x", "s"], ["y"])], initializer=[TensorProto(name="s", data_type=1, dims=[-2])]
        ),
        ["E0207 graph.initializer 's': a tensor has no size -2"],
    ),
    "an attribute of another kind": (
        _model([helper.make_node("Softmax", ["x"], ["y"], axis="last")]),
        ["E0505 graph.node[0] 'y': attribute 'axis': expected an integer, found 'last'"],
    ),
    "a value of another type than the attribute": (
        _model([_softmax(onnx.AttributeProto(name="axis", type="INT", f=1.0))]),
        ["E0505 graph.node[0] 'y': attribute 'axis': its type needs the field 'i', found 'f'"],
    ),
    "two values of an attribute": (
        _model([_softmax(onnx.AttributeProto(name="axis", type="INT", i=0, f=1.0))]),
        ["E0505 graph.node[0] 'y': attribute 'axis': expected one value, found the fields 'f' and 'i'"],
    ),
    "two values of an attribute of an unknown operator": (
        _model([_softmax(onnx.AttributeProto(name="axis", type="INT", i=0, s=b""), "Softmaxx")]),
        ["E0505 graph.node[0] 'y': attribute 'axis': expected one value, found the fields 'i' and 's'"],
    ),
    "an attribute that is none": (
        _model([helper.make_node("Softmax", ["x"], ["y"], axes=1)]),
        ["E0505 graph.node[0] 'y': onnx.Softmax has no attribute 'axes'"],
    ),
    "an attribute that is missing": (
        _model([helper.make_node("Concat", ["x"], ["y"])]),
        ["E0505 graph.node[0] 'y': onnx.Concat: attribute 'axis' is missing"],
    ),
    "too many inputs": (
        _model([helper.make_node("Relu", ["x", "x"], ["y"])]),
        ["E0502 graph.node[0] 'y': Relu takes 1 input, found 2"],
    ),
    "too few inputs": (
        _model([helper.make_node("Add", ["x"], ["y"])]),
        ["E0502 graph.node[0] 'y': onnx.Add: operand 'B' is missing"],
    ),
    "a function that nothing calls": (
        _with(lambda m: m.functions.append(_F)),
        ["W0205 functions['f::F']: F1: nothing calls the function"],
    ),
    "an annotation of nothing": (
        _with(lambda m: m.graph.quantization_annotation.add(tensor_name="gone")),
        ["E0401 graph.quantization_annotation[0]: G8: the graph has no value 'gone'"],
    ),
    "a deprecated operator": (
        _model([helper.make_node("Scatter", ["x", "i", "x"], ["y"])], initializer=[_PLACES]),
        ["E0501 graph.node[0] 'y': G3: 'Scatter' may not be used from opset11 on"],
    ),
    "pieces of unknown number": (
        _model([helper.make_node("Split", ["x"], ["y"])]),
        ["E0505 graph.node[0] 'y': onnx.Split: neither 'split' nor 'num_outputs' is given"],
    ),
    "a default of another type": (
        _model(
            [helper.make_node("Relu", ["x"], ["y"])], initializer=[numpy_helper.from_array(np.ones(3, np.float32), "x")]
        ),
        ["E0207 graph.initializer 'x': G7: 'x' is declared tensor<2xf32>, but its default is tensor<3xf32>"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_faults_are_reported_with_their_place(case: str, tmp_path: Path) -> None:
    model, expected = CASES[case]
    result = _found(model, tmp_path)
    assert len(result) == len(expected), result
    for text, start in zip(result, expected, strict=True):
        assert text.startswith(start)


def test_a_sound_model_has_no_findings(tmp_path: Path) -> None:
    assert _found(_model(_named("a", "b")), tmp_path) == []


def test_running_and_converting_report_the_place_that_checking_reports(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    nodes = [helper.make_node("Relu", ["x"], ["t"]), helper.make_node("Add", ["t", "w"], ["y"], "sum")]
    path.write_bytes(_model(nodes, inputs=[_info("x", 2), _info("w", 3)]).SerializeToString())
    for use in (cir.run, partial(cir.convert, to="coreml"), partial(cir.convert, to="stablehlo")):
        with pytest.raises(DiagnosticError) as caught:
            use(cir.load(path))
        assert [d.where for d in caught.value.diagnostics] == ["graph.node[1] 'sum'"]
    assert [d.where for d in check(path, DIALECTS)[1]] == ["graph.node[1] 'sum'"]


def test_faults_inside_of_nested_graphs_are_reported_with_their_place(tmp_path: Path) -> None:
    branch = helper.make_graph([helper.make_node("Relux", ["x"], ["t"])], "then", [], [_info("t", 2)])
    other = helper.make_graph([helper.make_node("Add", ["x"], ["s"], "a")], "else", [], [_info("s", 2)])
    node = helper.make_node("If", ["b"], ["y"], "if", then_branch=branch, else_branch=other)
    model = _model([node], inputs=[_info("b", kind=TensorProto.BOOL), _info("x", 2)])
    assert _found(model, tmp_path) == [
        "E0502 graph.node[0] 'if'.else_branch.node[0] 'a': onnx.Add: operand 'B' is missing",
        "E0501 graph.node[0] 'if'.then_branch.node[0] 't': G3: there is no operator 'Relux'",
    ]


def _sparse(indices: list[int], values: int = 2) -> ModelProto:
    stored = numpy_helper.from_array(np.ones(values, np.float32), "s")
    sparse = helper.make_sparse_tensor(stored, numpy_helper.from_array(np.array(indices)), [2])
    return _model([helper.make_node("Add", ["x", "s"], ["y"])], sparse_initializer=[sparse])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (_sparse([0, 2]), "G9: index [2] of a sparse tensor is outside of [2]"),
        (_sparse([-1, 0]), "G9: index [-1] of a sparse tensor is outside of [2]"),
        (_sparse([1, 0]), "G9: the indices of a sparse tensor must be unique and ascending"),
        (_sparse([0, 0]), "G9: the indices of a sparse tensor must be unique and ascending"),
        (
            _sparse([0]),
            (
                "G9: a sparse tensor of 1 dimension has values [n] and indices [n] or [n, 1]: "
                "found values tensor<2xf32> and indices tensor<1xi64>"
            ),
        ),
    ],
)
def test_places_of_sparse_constants_are_checked(model: ModelProto, message: str, tmp_path: Path) -> None:
    assert f"E0207 graph.sparse_initializer 's': {message}" in _found(model, tmp_path)
    with pytest.raises(DiagnosticError) as caught:
        cir.run(cir.loads(model.SerializeToString(), format="onnx"))
    assert caught.value.diagnostics[0].message == message


def _sharded(change: Callable[[ModelProto], object]) -> ModelProto:
    model = odd_models.several_devices()
    model.ClearField("training_info")
    change(model)
    return model


def _spec(model: ModelProto) -> onnx.ShardingSpecProto:
    return model.graph.node[0].device_configurations[0].sharding_spec[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda m: m.configuration[0].MergeFrom(onnx.DeviceConfigurationProto(name="three")),
            "S1: the configuration 'two'",
        ),
        (
            lambda m: m.graph.node[0].device_configurations.add(configuration_id="two"),
            "S1: the configuration 'two' is named twice",
        ),
        (
            lambda m: m.configuration.add(name="two", num_devices=1),
            "S2: a configuration needs a name of its own, found 'two'",
        ),
        (lambda m: m.configuration[0].device.append("c"), "S2: 'two' has 2 devices, and names 3"),
        (lambda m: _spec(m).device.append(2), "S3: there is no device 2: the configuration has 2"),
        (lambda m: _spec(m).index_to_device_group_map[0].value.append(7), "S3: there is no device 7"),
        (lambda m: _spec(m).ClearField("index_to_device_group_map"), "S3: there is no device -1"),
        (
            lambda m: _spec(m).MergeFrom(onnx.ShardingSpecProto(tensor_name="z")),
            "S4: the node has no input or output 'z'",
        ),
        (lambda m: _spec(m).sharded_dim[0].MergeFrom(onnx.ShardedDimProto(axis=2)), "S5: 'x' has 2 axes, found axis 2"),
        (lambda m: _spec(m).sharded_dim.append(_spec(m).sharded_dim[0]), "S5: axis 1 is sharded twice"),
        (lambda m: _spec(m).device.append(0), "S6: 'x' has 2 shards for 3 devices or groups"),
        (
            lambda m: _spec(m).sharded_dim[0].simple_sharding.add(dim_value=1, num_shards=0),
            "S6: axis 1 is cut into 0 parts",
        ),
        (
            lambda m: _spec(m).sharded_dim[0].simple_sharding.add(dim_value=4, num_shards=1),
            "S7: axis 1 of 'x' has size 4, its parts 16",
        ),
        (lambda m: _spec(m).sharded_dim[0].ClearField("axis"), "S5: an axis is not stated"),
        (lambda m: _spec(m).index_to_device_group_map[0].ClearField("value"), "S3: the group -1 has no devices"),
        (lambda m: _spec(m).index_to_device_group_map.add(key=-1, value=[0]), "S3: there are two groups -1"),
        (
            lambda m: m.graph.node[0].device_configurations[0].sharding_spec.append(_spec(m)),
            "S4: 'x' has a specification already",
        ),
    ],
)
def test_rules_of_sharding_are_checked(change: Callable[[ModelProto], object], message: str, tmp_path: Path) -> None:
    result = _found(_sharded(change), tmp_path)
    assert any(message in text for text in result), result


def test_an_axis_made_of_several_has_the_product_of_their_sizes_and_shards(tmp_path: Path) -> None:
    """Two axes of 2, each cut in two, are an axis of 4 in four shards once they are one."""

    def fuse(model: ModelProto) -> None:
        spec = _spec(model)
        del spec.sharded_dim[0].simple_sharding[:]
        for _ in range(2):
            spec.sharded_dim[0].simple_sharding.add(dim_value=2, num_shards=2)
        spec.device[:] = [0, 1, 0, 1]

    assert _found(_sharded(fuse), tmp_path) == []


def test_a_wrong_axis_of_sharding_is_reported_once_and_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(
        _sharded(lambda m: _spec(m).sharded_dim[0].MergeFrom(onnx.ShardedDimProto(axis=2))).SerializeToString()
    )
    (diagnostic,) = check(path, DIALECTS)[1]
    assert diagnostic.help == "count axes from 0 on, or from -1 back, each once"


def test_sound_sharding_has_no_findings(tmp_path: Path) -> None:
    assert _found(_sharded(lambda _: None), tmp_path) == []


@pytest.mark.parametrize(("to", "is_reported"), [("coreml", True), ("onnx", False), ("common_ir", False)])
def test_annotations_of_devices_are_kept_or_reported_as_lost(to: str, is_reported: bool, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(_sharded(lambda _: None), path)
    reported = Diagnostics()
    converted = cir.convert(cir.load(path), to, findings=reported)
    assert ("how nodes are distributed over devices" in [d.message for d in reported]) is is_reported
    assert any("onnx.device_configurations" in op.extra for op in converted.nested()) is not is_reported


def test_what_annotations_name_stays_when_a_model_becomes_simpler(tmp_path: Path) -> None:
    """An identity and constants that nothing uses stay where a quantization annotation or a shard is said of them."""
    model = _sharded(lambda _: None)
    (node,) = model.graph.node
    node.input[0] = _spec(model).tensor_name = "i"
    model.graph.node.insert(0, helper.make_node("Identity", ["x"], ["i"]))
    model.graph.node.insert(0, helper.make_node("Identity", ["x"], ["unused"]))
    model.graph.initializer.append(numpy_helper.from_array(np.asarray(0.5, np.float32), "scale"))
    del model.graph.quantization_annotation[:]
    annotation = model.graph.quantization_annotation.add(tensor_name="y")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="scale")
    path = tmp_path / "m.onnx"
    onnx.save(model, path)
    cir.save(cir.optimize(cir.load(path)), path)
    assert [d.message for d in check(path, DIALECTS)[1]] == []
    result = onnx.load(path).graph
    assert [n.op_type for n in result.node] == ["Identity", "MatMul"]
    assert [t.name for t in result.initializer] == ["w", "scale"]


def test_graphs_are_read_whatever_their_names(tmp_path: Path) -> None:
    graph = GraphProto(name="g 1/2", input=[_info("/a b", 2)], output=[_info("y.0", 2)])
    graph.node.append(helper.make_node("Relu", ["/a b"], ["y.0"], "/layer/0"))
    assert _found(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8), tmp_path) == []
