"""Models that say everything that ONNX files can say, made with the onnx package."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper


def info(name: str, *shape: int | str | None, kind: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def model_of(graph: GraphProto, opset: int = 22, **fields: object) -> ModelProto:
    """A model with one graph."""
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10, **fields)


def texts_everywhere() -> ModelProto:
    """Documentation and metadata at every place that has them, some present but empty."""
    node = helper.make_node("Relu", ["x"], ["y"], "n", doc_string="of the node")
    node.metadata_props.add(key="node", value="1")
    weight = numpy_helper.from_array(np.ones(3, np.float32), "w")
    weight.doc_string = "of the tensor"
    weight.metadata_props.add(key="tensor", value="2")
    x, y, z = info("x", 3), info("y", 3), info("z", 3)
    x.doc_string, y.doc_string, z.doc_string = "of the input", "of the value", ""
    x.metadata_props.add(key="input", value="3")
    x.type.denotation = "TENSOR"
    x.type.tensor_type.shape.dim[0].denotation = "DATA_CHANNEL"
    empty = helper.make_node("Add", ["y", "w"], ["z"], "", doc_string="")
    empty.name, empty.domain, empty.overload, empty.doc_string = "", "", "", ""
    graph = helper.make_graph([node, empty], "g", [x], [z], [weight], doc_string="of the graph", value_info=[y])
    graph.metadata_props.add(key="graph", value="4")
    model = model_of(graph, producer_name="p", producer_version="1", domain="d.e", model_version=7, doc_string="of all")
    for key, value in (("author", "A"), ("b", "c"), ("license", "L"), ("author", "B"), ("version", "3")):
        model.metadata_props.add(key=key, value=value)
    model.metadata_props.add(key="without a value")
    return model


def ways_of_attributes() -> ModelProto:
    """Defaults that are stated, another order, attributes without a kind or a value; empty names at the end."""
    node = NodeProto(op_type="Gemm", input=["a", "b", ""], output=["c"])
    for name, value in (("transB", 1), ("beta", 1.0), ("alpha", 0.5), ("transA", 0)):
        node.attribute.append(helper.make_attribute(name, value, doc_string="why" if name == "beta" else None))
    untyped = NodeProto(op_type="LeakyRelu", input=["c"], output=["d"], domain="ai.onnx")
    untyped.attribute.add(name="alpha", f=0.25)
    implicit = NodeProto(op_type="Concat", input=["d", "d"], output=["e"])
    implicit.attribute.add(name="axis", type=AttributeProto.INT)
    dropout = NodeProto(op_type="Dropout", input=["e", "", ""], output=["f", ""], name="same")
    again = NodeProto(op_type="Dropout", input=["f"], output=["g", "mask"], name="same")
    nodes = [node, untyped, implicit, dropout, again]
    infos = [info("c", None, None), info("not there", 4), info("a", 2, 3), helper.make_empty_tensor_value_info("f")]
    inputs = [info("a", 2, 3), helper.make_tensor_value_info("b", TensorProto.FLOAT, None)]
    return model_of(helper.make_graph(nodes, "g", inputs, [info("g", "?", "N+1")], value_info=infos))


def ways_of_tensors() -> ModelProto:
    """Tensors of every element type, in the field of their type and in raw form, empty ones, and scalars."""
    kinds = [k for k in TensorProto.DataType.values() if k not in (TensorProto.UNDEFINED, TensorProto.STRING)]
    stored: list[TensorProto] = []
    for kind in kinds:
        if kind >= 27:  # the helper of this version of onnx packs no elements of six bits
            stored.append(TensorProto(name=f"raw{kind}", data_type=kind, dims=[5], raw_data=b"\1\2\3\4"))
            continue
        stored.append(helper.make_tensor(f"typed{kind}", kind, [3], [1, 0, 1]))
        raw = numpy_helper.from_array(numpy_helper.to_array(stored[-1]), f"raw{kind}")
        stored.append(raw)
    stored.append(helper.make_tensor("negative", TensorProto.INT8, [2], [-1, -128]))
    stored.append(TensorProto(name="text", data_type=TensorProto.STRING, dims=[2], string_data=[b"a", b"\xff\xfe"]))
    stored.append(TensorProto(name="nothing", data_type=TensorProto.FLOAT, dims=[0, 4]))
    stored.append(TensorProto(name="nothing raw", data_type=TensorProto.FLOAT, dims=[0], raw_data=b""))
    stored.append(helper.make_tensor("scalar", TensorProto.FLOAT, [], [2.5]))
    stored[0].segment.begin, stored[0].segment.end = 0, 3
    stored[1].data_location = TensorProto.DEFAULT
    constant = helper.make_node(
        "Constant", [], ["k"], value=helper.make_tensor("its name", TensorProto.INT64, [1], [3])
    )
    constant.attribute[0].t.doc_string = "inside"
    texts = helper.make_node("Constant", [], ["l"], value_strings=["a", "b"])
    relu = helper.make_node("Relu", ["typed1"], ["y"])
    return model_of(helper.make_graph([constant, texts, relu], "g", [], [info("y", 3)], stored))


def old_model() -> ModelProto:
    """A model of IR version 3, where constants are inputs too."""
    weights = [numpy_helper.from_array(np.ones(3, np.float32), name) for name in ("w", "v")]
    nodes = [helper.make_node("Add", ["x", "w"], ["t"]), helper.make_node("Mul", ["t", "v"], ["y"])]
    inputs = [info("w", 3), info("x", 3), info("v", "C")]
    model = model_of(helper.make_graph(nodes, "g", inputs, [info("y", 3)], weights), 7)
    model.ir_version = 3
    return model


def defaults_of_inputs() -> ModelProto:
    """A model with inputs that need not be given, among other constants."""
    weights = [numpy_helper.from_array(np.full(3, n, np.float32), name) for n, name in enumerate("vwu")]
    weights[0].doc_string = "of a default"
    nodes = [helper.make_node("Sum", ["x", "v", "w", "u"], ["y"])]
    inputs = [info("u", 3), info("x", 3), info("v", 3)]
    return model_of(helper.make_graph(nodes, "g", inputs, [info("y", 3)], weights))


def kinds_of_types() -> ModelProto:
    """Inputs of every kind of type."""
    tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, [2, "n", None])
    sequence = helper.make_sequence_type_proto(tensor)
    mapping = onnx.TypeProto()
    mapping.map_type.key_type = TensorProto.INT64
    mapping.map_type.value_type.CopyFrom(tensor)
    opaque = onnx.TypeProto()
    opaque.opaque_type.domain, opaque.opaque_type.name = "d", "t"
    sparse = helper.make_sparse_tensor_type_proto(TensorProto.FLOAT, [3, 4])
    types = [tensor, sequence, helper.make_optional_type_proto(sequence), mapping, opaque, sparse, onnx.TypeProto()]
    types += [helper.make_sequence_type_proto(mapping), helper.make_tensor_type_proto(TensorProto.STRING, None)]
    inputs = [helper.make_value_info(f"x{n}", t) for n, t in enumerate(types)]
    node = helper.make_node("Optional", [], ["none"], type=sequence)
    custom = helper.make_node("Odd", ["x4", "", "x5", ""], ["", "p", ""], domain="my.domain", overload="o")
    return model_of(helper.make_graph([node, custom], "g", inputs, [helper.make_value_info("none", types[2])]))


def nested_graphs() -> ModelProto:
    """Graphs in attributes, with constants, documentation, and values of the graph around them."""
    inner = helper.make_graph(
        [helper.make_node("Add", ["x", "c"], ["s"])],
        "then",
        [],
        [info("s", 2)],
        [numpy_helper.from_array(np.ones(2, np.float32), "c")],
        doc_string="of the inner graph",
    )
    other = GraphProto(node=[helper.make_node("Neg", ["x"], ["t"])], output=[onnx.ValueInfoProto(name="t")])
    node = helper.make_node("If", ["b"], ["y"], then_branch=inner, else_branch=other)
    custom = helper.make_node("Graphs", ["x"], ["z"], domain="d", first=inner, number=1, both=[inner, other])
    inputs = [info("b", kind=TensorProto.BOOL), info("x", 2)]
    return model_of(helper.make_graph([node, custom], "g", inputs, [info("y", 2)]))


def local_functions() -> ModelProto:
    """Functions of the model with attributes, overloads and types, and calls of them."""
    opsets = [helper.make_opsetid("", 22)]
    scale = NodeProto(op_type="LeakyRelu", input=["a"], output=["b"], name="inner")
    scale.attribute.add(name="alpha", ref_attr_name="slope", type=AttributeProto.FLOAT)
    first = helper.make_function("f.d", "F", ["a"], ["b"], [scale], opsets, ["slope"], [helper.make_attribute("k", 2)])
    first.value_info.append(info("a", 2))
    first.doc_string, first.overload = "of the function", "one"
    second = helper.make_function("f.d", "F", ["a", "m"], ["b"], [helper.make_node("Neg", ["a"], ["b"])], opsets)
    second.metadata_props.add(key="k", value="v")
    second.value_info.append(info("b", 2))
    calls = [
        helper.make_node("F", ["x"], ["y"], domain="f.d", overload="one", slope=0.5, k=7),
        helper.make_node("F", ["y", ""], ["z"], domain="f.d", name="call"),
    ]
    model = model_of(helper.make_graph(calls, "g", [info("x", 2)], [info("z", 2)]))
    model.functions.extend([first, second])
    model.opset_import.add(domain="f.d", version=1)
    return model


def several_devices() -> ModelProto:
    """Sharded nodes, quantization annotations and training information."""
    node = helper.make_node("MatMul", ["x", "w"], ["y"], "mm")
    spec = node.device_configurations.add(configuration_id="two", pipeline_stage=1).sharding_spec.add(
        tensor_name="x", device=[0, -1]
    )
    spec.index_to_device_group_map.add(key=-1, value=[0, 1])
    spec.sharded_dim.add(axis=1).simple_sharding.add(dim_value=4, num_shards=2)
    weight = numpy_helper.from_array(np.ones((4, 2), np.float32), "w")
    model = model_of(helper.make_graph([node], "g", [info("x", 3, 4)], [info("y", 3, 2)], [weight]))
    model.configuration.add(name="two", num_devices=2, device=["a", "b"])
    annotation = model.graph.quantization_annotation.add(tensor_name="x")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="w")
    training = model.training_info.add()
    training.algorithm.CopyFrom(
        helper.make_graph([helper.make_node("Neg", ["w"], ["v"])], "step", [], [info("v", 4, 2)])
    )
    training.update_binding.add(key="w", value="v")
    return model


def sparse_constants() -> ModelProto:
    """Initializers that are sparse, by positions in the whole and by row."""
    values = numpy_helper.from_array(np.array([1, 2], np.float32), "flat")
    flat = helper.make_sparse_tensor(values, numpy_helper.from_array(np.array([1, 5])), [2, 3])
    rows = numpy_helper.from_array(np.array([3], np.float32), "rows")
    other = helper.make_sparse_tensor(rows, numpy_helper.from_array(np.array([[1, 2]]), "places"), [2, 3])
    node = helper.make_node("Add", ["flat", "rows"], ["y"])
    graph = helper.make_graph([node], "g", [], [info("y", 2, 3)], sparse_initializer=[flat, other])
    return model_of(graph)


def names_that_runtimes_look_for() -> ModelProto:
    """A graph inside of an operator of a runtime, with inputs and outputs that are called like those around it."""
    inner = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "decoder", [info("x", 2)], [info("y", 2)])
    node = helper.make_node("BeamSearch", ["x"], ["y"], domain="com.microsoft", decoder=inner)
    model = model_of(helper.make_graph([node], "g", [info("x", 2)], [info("y", 2)]))
    model.opset_import.add(domain="com.microsoft", version=1)
    return model


def unusual_metadata() -> ModelProto:
    """Texts of the same name, without a name, without a text, and with fields of a later version."""
    model = texts_everywhere()
    model.functions.append(
        helper.make_function("f.d", "F", ["a"], ["b"], [helper.make_node("Neg", ["a"], ["b"])], model.opset_import)
    )
    for part in (model, model.graph, model.graph.node[0], model.functions[0]):
        for key, value in (("k", "one"), ("k", "two"), ("", "three")):
            part.metadata_props.add(key=key, value=value)
        part.metadata_props.add(key="alone")
        part.metadata_props.add(value="alone")
        part.metadata_props.add(key="later", value="v").MergeFromString(b"\xfa\x3e\x03new")
    for opsets in (model.opset_import, model.functions[0].opset_import):
        opsets[0].MergeFromString(b"\xfa\x3e\x03new")
    return model


def unknown_fields() -> ModelProto:
    """Fields of a later version of the format, in several messages."""
    model = texts_everywhere()
    later = b"\xfa\x3e\x03new"  # field 1007, three bytes
    for part in (model, model.graph, model.graph.node[0], model.graph.initializer[0], model.graph.input[0]):
        part.MergeFromString(later)
    return model
