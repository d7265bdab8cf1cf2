"""Makes the examples of Common IR in this folder: for each feature of the specification a file that shows it alone.

Run it in the folder of the repository: `python examples/common_ir/make_examples.py`. The files are JSON with the field
names of the messages; weights are in safetensors files beside them.
"""

# ruff: noqa: INP001  a script in a folder of examples

from __future__ import annotations

import io
import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from commonir.formats.common_ir.sidecar import plan
from commonir.ir.data import Data, InlineData, data_of
from commonir.ir.types import bf16, complex128, f32, i4, tensor

HERE = Path(__file__).parent
DOMAIN = "com.example"
OPSET = 22

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]
Message = dict[str, Json]


# -- messages


def shape(*dims: int | str) -> Message:
    """A shape: numbers, names, and wildcards such as `m*`."""
    if not dims:
        return {}
    return {"dim": [{"dim_value": d} if isinstance(d, int) else {"dim_param": d} for d in dims]}


def tensor_type(element: str, *dims: int | str) -> Message:
    """A dense tensor."""
    return {"tensor_type": {"elem_type": element, "shape": shape(*dims)}}


def value(name: str, type: Message) -> Message:
    """An input or output of a graph, or a parameter."""
    return {"name": name, "type": type}


def attribute(name: str, kind: str, field: str, content: Json) -> Message:
    """An attribute of a node."""
    return {"name": name, field: content, "type": kind}


def node(
    op: str,
    inputs: Iterable[str],
    outputs: Iterable[str],
    *attributes: Message,
    name: str = "",
    counts: Sequence[int] | None = None,
    control: Sequence[str] = (),
) -> Message:
    """A node; `counts` are argument counts, which nodes of ONNX operators do not have."""
    made: Message = {"input": list(inputs), "output": list(outputs)}
    if name:
        made["name"] = name
    made["op_type"] = op
    if attributes:
        made["attribute"] = list(attributes)
    if counts is not None:
        made["input_arg_count"] = list(counts)
    if control:
        made["control_input"] = list(control)
    return made


def graph(
    name: str, inputs: Sequence[Message], outputs: Sequence[Message], nodes: Sequence[Message], **more: Json
) -> Message:
    """A graph."""
    doc = more.pop("doc_string", f"Shows {name.replace('_', ' ')}.")
    return {
        "node": list(nodes),
        "name": name,
        "doc_string": doc,
        "input": list(inputs),
        "output": list(outputs),
        **more,
    }


def model(of: Message, **more: Json) -> Message:
    """A file with a graph."""
    about: Message = {"ir_version": 10, "domain": DOMAIN, "model_version": 1, "graph": of}
    opsets: Json = [{"domain": "", "version": OPSET}]
    return {"ModelProto": {**about, "opset_import": opsets, **more, "common_ir_version": 1}}


def library(name: str, doc: str, **more: Json) -> Message:
    """A file with a library."""
    about: Message = {"ir_version": 10, "model_version": 1, "name": name, "domain": DOMAIN, "doc_string": doc}
    opsets: Json = [{"domain": "", "version": OPSET}]
    return {"LibraryProto": {**about, **more, "opset_import": opsets, "common_ir_version": 1}}


def function(
    name: str, inputs: Sequence[Message], outputs: Sequence[Message], nodes: Sequence[Message], *formals: Message
) -> Message:
    """A function with typed parameters."""
    made: Message = {"name": name, "input_params": list(inputs), "output_params": list(outputs), "node": list(nodes)}
    if formals:
        made["attr"] = list(formals)
    made["doc_string"] = f"The function {name}."
    return made


def signature(inputs: Sequence[Message], outputs: Sequence[Message], *attributes: Message, **more: Json) -> Message:
    """One overload of an operator."""
    made: Message = {"input_params": list(inputs), "output_params": list(outputs)}
    if attributes:
        made["input_attributes"] = list(attributes)
    return {**made, **more}


def operator(name: str, doc: str, *signatures: Message) -> Message:
    """The declaration of an operator."""
    return {"name": name, "signature": list(signatures), "doc_string": doc}


VECTOR = tensor_type("FLOAT", "n")
X, Y = value("x", VECTOR), value("y", VECTOR)


# -- one feature each


def metadata() -> Message:
    """All metadata, required and optional, with documentation in Markdown."""
    return model(
        graph(
            "metadata",
            [X],
            [Y],
            [node("Relu", ["x"], ["y"], name="only")],
            doc_string="Has *every* field of metadata:\n\n- name and domain\n- versions\n- author and `licence`",
        ),
        producer_name="commonir",
        producer_version="1",
        doc_string="What a file says about itself.",
        model_author="The authors of commonir",
        model_license="Apache-2.0",
    )


def functions() -> Message:
    """A function with an attribute that has a default, called twice."""
    scaled = function(
        "Scaled",
        [X],
        [Y],
        [
            node("Constant", [], ["factor"], {"name": "value_float", "ref_attr_name": "scale", "type": "FLOAT"}),
            node("Mul", ["x", "factor"], ["y"]),
        ],
        attribute("scale", "FLOAT", "f", 2.0),
    )
    nodes = [
        node("Scaled", ["x"], ["doubled"], name="double", counts=[1]),
        node("Scaled", ["doubled"], ["y"], attribute("scale", "FLOAT", "f", 5.0), name="times_five", counts=[1]),
    ]
    return model(graph("functions", [X], [Y], nodes, function=[scaled]))


def argument_counts() -> Message:
    """Five inputs for two parameters, the first three and the last two, as `[3, 2]` says."""
    matrix = tensor_type("FLOAT", "n", "m")
    many = {**value("rows", VECTOR), "multiplicity": 2}
    weights = {**value("weights", tensor_type("FLOAT")), "multiplicity": 2}
    blend = operator("Blend", "Stacks rows.", signature([many, weights], [value("blended", matrix)]))
    scalar = tensor_type("FLOAT")
    inputs = [value(n, VECTOR) for n in ("a", "b", "c")] + [value(n, scalar) for n in ("v", "w")]
    nodes = [node("Blend", ["a", "b", "c", "v", "w"], ["y"], name="blend", counts=[3, 2])]
    return model(graph("argument_counts", inputs, [value("y", matrix)], nodes, operator=[blend]))


def variadic_operands() -> Message:
    """Three values for one operand of an operation of the core."""
    axis = attribute("axis", "INT", "i", 0)
    inputs = [value(n, tensor_type("FLOAT", n)) for n in ("a", "b", "c")]
    nodes = [node("org.commonir.core.concat", ["a", "b", "c"], ["y"], axis, name="join", counts=[3])]
    output = value("y", tensor_type("FLOAT", "total"))
    return model(graph("variadic_operands", inputs, [output], nodes, imported_libraries=["commonir:core"]))


def control_inputs() -> Message:
    """An edge that carries no data: `second` runs after `first`, whatever it reads."""
    nodes = [
        node("Neg", ["x"], ["y"], name="first"),
        node("Abs", ["x"], ["z"], name="second", control=["first"]),
    ]
    return model(graph("control_inputs", [X], [Y, value("z", VECTOR)], nodes))


def attribute_kinds() -> Message:
    """Attributes of every kind, those that ONNX does not have included."""
    texts: Json = {"dims": [2], "data_type": "STRING", "string_data": ["one", "two"]}
    numbers: Json = {"dims": [2], "data_type": "INT64", "int64_data": [1, 2]}
    table: Json = {"map": {"keys": numbers, "values": texts}}
    pair: Json = {"tuple": {"elements": [{"handle": {"uid": 7}}, {"dense": texts}]}}
    sparse: Json = {
        "values": {"dims": [1], "data_type": "FLOAT", "float_data": [3.0]},
        "indices": {"dims": [1], "data_type": "INT64", "int64_data": [4]},
        "dims": [6],
    }
    scalar = tensor_type("FLOAT")
    text, whole = tensor_type("STRING"), tensor_type("INT64")
    opaque: dict[str, Message] = {
        name: {"opaque_type": {"domain": "org.commonir", "name": name}} for name in ("type", "shape")
    }
    declared: dict[str, Message] = {
        "a_number": scalar,
        "an_integer": whole,
        "a_text": text,
        "a_tensor": tensor_type("FLOAT", "*"),
        "numbers": {"sequence_type": {"elem_type": scalar}},
        "integers": {"sequence_type": {"elem_type": whole}},
        "texts": {"sequence_type": {"elem_type": text}},
        "a_type": opaque["type"],
        "a_shape": opaque["shape"],
        "a_sparse_tensor": {"sparse_tensor_type": {"elem_type": "FLOAT", "shape": shape(6)}},
        "a_tuple": {"tuple_type": {"elem_type": [{"handle_type": {}}, tensor_type("STRING", 2)]}},
        "a_map": {"map_type": {"key_type": "INT64", "value_type": text}},
    }
    given = [
        attribute("a_number", "FLOAT", "f", 0.5),
        attribute("an_integer", "INT", "i", -3),
        attribute("a_text", "STRING", "s", "linear"),
        attribute("a_tensor", "TENSOR", "t", {"dims": [2], "data_type": "FLOAT", "float_data": [1.0, 2.0]}),
        attribute("numbers", "FLOATS", "floats", [0.25, 0.75]),
        attribute("integers", "INTS", "ints", [1, 2, 3]),
        attribute("texts", "STRINGS", "strings", ["a", "b"]),
        attribute("a_type", "TYPE_PROTO", "tp", tensor_type("INT8", 2, "k")),
        attribute("a_shape", "SHAPE", "shape", shape("k", 3)),
        attribute("a_sparse_tensor", "SPARSE_TENSOR", "sparse_tensor", sparse),
        attribute("a_tuple", "VALUE", "value", pair),
        attribute("a_map", "VALUE", "value", table),
    ]
    parameters = [value(name, kind) for name, kind in declared.items()]
    described = operator("Described", "Takes everything.", signature([X], [Y], *parameters))
    nodes = [node("Described", ["x"], ["y"], *given, name="all", counts=[1])]
    return model(graph("attribute_kinds", [X], [Y], nodes, operator=[described]))


def overloads() -> Message:
    """One operator for floats and for integers: the types of inputs decide, and functions give it a meaning."""
    whole = tensor_type("INT64", "k")
    nodes = [
        node("com.example.operators.Twice", ["x"], ["y"], name="of_floats", counts=[1]),
        node("com.example.operators.Twice", ["i"], ["j"], name="of_integers", counts=[1]),
    ]
    imports = ["libraries/operators.cir.json", "libraries/float_twice.cir.json", "libraries/integer_twice.cir.json"]
    return model(
        graph(
            "overloads",
            [X, value("i", whole)],
            [Y, value("j", whole)],
            nodes,
            imported_libraries=imports,
        )
    )


def imports() -> Message:
    """A library in a file beside the graph, which imports another one itself."""
    nodes = [node("com.example.layers.Layer", ["x", "w", "b"], ["y"], name="layer", counts=[1, 1, 1])]
    inputs = [
        value("x", tensor_type("FLOAT", "n", 2)),
        value("w", tensor_type("FLOAT", 2, 3)),
        value("b", tensor_type("FLOAT", 3)),
    ]
    output = value("y", tensor_type("FLOAT", "n", 3))
    return model(graph("imports", inputs, [output], nodes, imported_libraries=["libraries/layers.cir.json"]))


def bundled() -> Message:
    """The same with both libraries inside of the file."""
    inside = imports()["ModelProto"]
    assert isinstance(inside, dict)
    of = inside["graph"]
    assert isinstance(of, dict)
    parts: list[Json] = []
    for made in (activations(), layers()):
        held = made["LibraryProto"]
        assert isinstance(held, dict)
        parts.append({k: v for k, v in held.items() if k != "imported_libraries"})
    rest = {k: v for k, v in of.items() if k != "imported_libraries"}
    return {"ModelProto": {**inside, "graph": {**rest, "name": "bundled", "library": parts}}}


def dimension_variables() -> Message:
    """Names are scoped to one declaration: `k` of the function is `m` and `n` of the graph."""
    product = function(
        "Product",
        [value("a", tensor_type("FLOAT", "k", "m")), value("b", tensor_type("FLOAT", "m", "n"))],
        [value("c", tensor_type("FLOAT", "k", "n"))],
        [node("MatMul", ["a", "b"], ["c"])],
    )
    inputs = [value("p", tensor_type("FLOAT", "m", "n")), value("q", tensor_type("FLOAT", "n", "m"))]
    nodes = [node("Product", ["p", "q"], ["square"], name="product", counts=[1, 1])]
    output = value("square", tensor_type("FLOAT", "m", "m"))
    return model(graph("dimension_variables", inputs, [output], nodes, function=[product]))


def wildcards() -> Message:
    """The correlations of the specification: `[m*],[m*]`, `[n,m*],[m*]` and `[*,n],[n,*]`."""

    def of(*dims: str) -> Message:
        return tensor_type("FLOAT", *dims)

    functions: list[Json] = [
        function(
            "Same",
            [value("a", of("m*")), value("b", of("m*"))],
            [value("c", of("m*"))],
            [node("Add", ["a", "b"], ["c"])],
        ),
        function(
            "OneFewer",
            [value("a", of("n", "m*")), value("b", of("m*"))],
            [value("c", of("n", "m*"))],
            [node("Mul", ["a", "b"], ["c"])],
        ),
        function(
            "Contracted",
            [value("a", of("*", "n")), value("b", of("n", "*"))],
            [value("c", of("*"))],
            [node("MatMul", ["a", "b"], ["c"])],
        ),
    ]
    inputs = [
        value("p", tensor_type("FLOAT", 2, 3)),
        value("q", tensor_type("FLOAT", 2, 3)),
        value("r", tensor_type("FLOAT", 3, 2)),
    ]
    nodes = [
        node("Same", ["p", "q"], ["same"], name="first", counts=[1, 1]),
        node("OneFewer", ["same", "row"], ["fewer"], name="second", counts=[1, 1]),
        node("Contracted", ["fewer", "r"], ["contracted"], name="third", counts=[1, 1]),
    ]
    row: Message = {"dims": [3], "data_type": "FLOAT", "float_data": [1.0, 10.0, 100.0], "name": "row"}
    outputs = [value("same", of("m*")), value("fewer", of("*")), value("contracted", tensor_type("FLOAT", 2, 2))]
    return model(graph("wildcards", inputs, outputs, nodes, initializer=[row], function=functions))


def data_types() -> Message:
    """Inputs and outputs of every type of the specification."""
    scalars = (
        *("FLOAT16", "FLOAT", "DOUBLE", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16"),
        *("COMPLEX64", "COMPLEX128", "STRING", "BOOL"),
    )
    types: dict[str, Message] = {name.lower(): tensor_type(name, 2) for name in scalars}
    others: dict[str, Message] = {
        "a_handle": {"handle_type": {}},
        "a_sparse_tensor": {"sparse_tensor_type": {"elem_type": "FLOAT", "shape": shape("n", "m")}},
        "a_list": {"sequence_type": {"elem_type": VECTOR}},
        "a_tuple": {"tuple_type": {"elem_type": [tensor_type("INT64"), tensor_type("STRING", 3)]}},
        "a_map": {"map_type": {"key_type": "STRING", "value_type": tensor_type("FLOAT")}},
    }
    variable: Message = {"tensor_type": {"elem_param": "T", "shape": shape("m*")}}
    members: Json = [{"name": "T", "types": [{"tensor_type": {"elem_type": name}} for name in scalars]}]
    same = signature([value("x", variable)], [value("y", variable)], type_constraint=members)
    operators: list[Json] = [operator("Passed", "Gives the tensor that it takes.", same)]
    nodes = [node("Passed", [name], [f"{name}_again"], name=f"pass_{name}", counts=[1]) for name in types]
    for name, kind in others.items():
        called = f"Passed_{name}"
        stated = signature([value("x", kind)], [value("y", kind)])
        operators.append(operator(called, "Gives what it takes.", stated))
        nodes.append(node(called, [name], [f"{name}_again"], name=f"pass_{name}", counts=[1]))
    all_types = {**types, **others}
    inputs = [value(name, kind) for name, kind in all_types.items()]
    outputs = [value(f"{name}_again", kind) for name, kind in all_types.items()]
    return model(graph("data_types", inputs, outputs, nodes, operator=operators))


def nested_graphs() -> Message:
    """Graphs inside of an attribute, as ONNX has them, with a call of a function inside."""
    triple = function("Triple", [X], [Y], [node("Add", ["x", "x"], ["two"]), node("Add", ["two", "x"], ["y"])])
    branches = [
        attribute(
            "then_branch",
            "GRAPH",
            "g",
            {"node": [node("Triple", ["x"], ["t"], counts=[1])], "name": "then", "output": [value("t", VECTOR)]},
        ),
        attribute(
            "else_branch",
            "GRAPH",
            "g",
            {"node": [node("Neg", ["x"], ["e"])], "name": "otherwise", "output": [value("e", VECTOR)]},
        ),
    ]
    inputs = [value("c", tensor_type("BOOL")), X]
    return model(
        graph("nested_graphs", inputs, [Y], [node("If", ["c"], ["y"], *branches, name="choose")], function=[triple])
    )


def plain_onnx() -> Message:
    """Nothing but ONNX: in binary form this is an ONNX file."""
    return without_extensions(model(graph("plain_onnx", [X], [Y], [node("Sigmoid", ["x"], ["y"], name="only")])))


def without_extensions(made: Message) -> Message:
    """A file that says of itself that it is nothing but ONNX."""
    held = made["ModelProto"]
    assert isinstance(held, dict)
    return {"ModelProto": {k: v for k, v in held.items() if k != "common_ir_version"}}


def append(data: Data, into: BinaryIO) -> None:
    """Appends the bytes of a weight to a stream."""
    into.write(data.buffer())


WEIGHTS = tuple([n / 1024 for n in range(1024)])


def weights() -> Message:
    """A small constant in the graph and large ones in a safetensors file beside it, of four element types."""
    count = len(WEIGHTS)
    large: dict[str, tuple[str, Data]] = {
        "w": ("FLOAT", data_of(f32, (count,), WEIGHTS)),
        "half": ("BFLOAT16", InlineData(tensor(bf16, count), b"".join(struct.pack("<f", v)[2:] for v in WEIGHTS))),
        "pairs": ("COMPLEX128", InlineData(tensor(complex128, 100), struct.pack("<200d", *range(200)))),
        "packed": ("INT4", data_of(i4, (4096,), [n % 16 - 8 for n in range(4096)])),
    }
    made = plan([(name, data) for name, (_, data) in large.items()])
    stream = io.BytesIO()
    made.write(stream, append)
    (HERE / "weights.safetensors").write_bytes(stream.getvalue())
    initializers: list[Json] = []
    for (name, (element, data)), placed in zip(large.items(), made.weights, strict=True):
        entries = {"location": "weights.safetensors", "offset": str(placed.offset), "length": str(data.size_bytes)}
        external: Json = [{"key": k, "value": v} for k, v in entries.items()]
        header: Message = {"dims": list(data.shape), "data_type": element, "name": name}
        initializers.append({**header, "external_data": external, "data_location": 1})
    initializers.append({"dims": [], "data_type": "FLOAT", "float_data": [0.5], "name": "small"})
    of_count = tensor_type("FLOAT", count)
    nodes = [
        node("Mul", ["x", "w"], ["scaled"], name="scale"),
        node("Add", ["scaled", "small"], ["y"], name="shift"),
        node("Cast", ["half"], ["h"], attribute("to", "INT", "i", 1), name="widen"),
        node("Cast", ["packed"], ["p"], attribute("to", "INT", "i", 7), name="unpack"),
        node("Identity", ["pairs"], ["c"], name="pass"),
    ]
    outputs = [
        value("y", of_count),
        value("h", of_count),
        value("p", tensor_type("INT64", 4096)),
        value("c", tensor_type("COMPLEX128", 100)),
    ]
    of = graph("weights", [value("x", of_count)], outputs, nodes, initializer=initializers)
    return without_extensions(model(of))


def core_operations() -> Message:
    """Nodes that are operations of the core, one of them with a graph inside."""
    nodes = [
        node("org.commonir.core.tanh", ["x"], ["t"], name="squash", counts=[1]),
        node("org.commonir.core.mul", ["t", "x"], ["y"], name="product", counts=[1, 1]),
    ]
    return model(graph("core_operations", [X], [Y], nodes, imported_libraries=["commonir:core"]))


def collections() -> Message:
    """Tuples, maps, handles, lists and sparse tensors: made, read and changed by operations of the core."""
    integer, text = tensor_type("INT64"), tensor_type("STRING")
    prices: Message = {"map_type": {"key_type": "STRING", "value_type": tensor_type("FLOAT")}}
    sparse: Message = {"sparse_tensor_type": {"elem_type": "FLOAT", "shape": shape(2, "n")}}
    pair: Message = {"tuple_type": {"elem_type": [text, {"handle_type": {}}]}}

    def core(name: str, inputs: Sequence[str], output: str, *attributes: Message) -> Message:
        return node(f"org.commonir.core.{name}", inputs, [output], *attributes, counts=[1] * len(inputs))

    nodes = [
        # The price of an item; a new item costs nothing.
        core("map_get", ["prices", "item", "nothing"], "price"),
        core("map_insert", ["prices", "item", "nothing"], "changed"),
        core("map_erase", ["changed", "item"], "rest"),
        core("map_keys", ["changed"], "items"),
        # What belongs together is one value, and its parts are read by their positions.
        node("org.commonir.core.tuple_of", ["item", "owner"], ["pair"], name="join", counts=[2]),
        core("tuple_get", ["given"], "given_owner", attribute("index", "INT", "i", 1)),
        core("handle_equal", ["owner", "given_owner"], "is_same"),
        core("handle_value", ["owner"], "number"),
        # Only the elements of a sparse tensor that are not zero are stored.
        core("to_dense", ["weights"], "dense"),
        node("Relu", ["dense"], ["positive"], name="only_positive"),
        core("to_sparse", ["positive"], "remaining"),
        core("sparse_indices", ["remaining"], "places"),
        core("sparse_length", ["remaining"], "count"),
        # A list is added to at its tail, and removed from at its head.
        node("org.commonir.core.list_insert", ["queue", "price"], ["longer"], name="push", counts=[1, 1, 0]),
        core("list_erase", ["longer", "first"], "shorter"),
        core("list_length", ["shorter"], "length"),
    ]
    queue: Message = {"sequence_type": {"elem_type": tensor_type("FLOAT")}}
    inputs: dict[str, Message] = {
        "prices": prices,
        "item": text,
        "owner": {"handle_type": {}},
        "given": pair,
        "weights": sparse,
        "queue": queue,
    }
    outputs: dict[str, Message] = {
        "price": tensor_type("FLOAT"),
        "rest": prices,
        "items": tensor_type("STRING", "k"),
        "pair": pair,
        "is_same": tensor_type("BOOL"),
        "number": integer,
        "remaining": sparse,
        "places": tensor_type("INT64", "count", 2),
        "count": integer,
        "shorter": queue,
        "length": integer,
    }
    constants: list[Json] = [
        {"dims": [], "data_type": "FLOAT", "float_data": [0.0], "name": "nothing"},
        {"dims": [], "data_type": "INT64", "int64_data": [0], "name": "first"},
    ]
    return model(
        graph(
            "collections",
            [value(name, kind) for name, kind in inputs.items()],
            [value(name, kind) for name, kind in outputs.items()],
            nodes,
            initializer=constants,
            imported_libraries=["commonir:core"],
        )
    )


# -- libraries


def activations() -> Message:
    """The library that `layers` imports."""
    leaky = function(
        "Leaky",
        [value("x", tensor_type("FLOAT", "m*"))],
        [value("y", tensor_type("FLOAT", "m*"))],
        [node("LeakyRelu", ["x"], ["y"], {"name": "alpha", "ref_attr_name": "slope", "type": "FLOAT"})],
        attribute("slope", "FLOAT", "f", 0.125),
    )
    return library("activations", "Activation functions.", function=[leaky])


def layers() -> Message:
    """A library that imports another one from its own folder."""
    layer = function(
        "Layer",
        [
            value("x", tensor_type("FLOAT", "n", "k")),
            value("w", tensor_type("FLOAT", "k", "m")),
            value("b", tensor_type("FLOAT", "m")),
        ],
        [value("y", tensor_type("FLOAT", "n", "m"))],
        [
            # The order of nodes in a function is free.
            node("com.example.activations.Leaky", ["sum"], ["y"], counts=[1]),
            node("Add", ["product", "b"], ["sum"]),
            node("MatMul", ["x", "w"], ["product"]),
        ],
    )
    return library("layers", "Layers of networks.", function=[layer], imported_libraries=["activations.cir.json"])


def operators() -> Message:
    """Declarations alone."""
    of = {name: [value("x", tensor_type(name, "m*"))] for name in ("FLOAT", "INT64")}
    to = {name: [value("y", tensor_type(name, "m*"))] for name in of}
    twice = operator("Twice", "Twice the input.", *[signature(of[name], to[name]) for name in of])
    return library("operators", "Operators that other libraries give a meaning.", operator=[twice])


def meaning(name: str, element: str) -> Message:
    """A meaning of `Twice` for one element type."""
    kind = tensor_type(element, "m*")
    twice = function("Twice", [value("x", kind)], [value("y", kind)], [node("Add", ["x", "x"], ["y"])])
    return library(name, f"What `Twice` is for {element}.", function=[twice])


EXAMPLES = (
    metadata,
    functions,
    argument_counts,
    variadic_operands,
    control_inputs,
    attribute_kinds,
    overloads,
    imports,
    bundled,
    dimension_variables,
    wildcards,
    data_types,
    nested_graphs,
    plain_onnx,
    weights,
    core_operations,
    collections,
)


def write(path: Path, document: Message) -> None:
    """Writes a document as text."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n")


def main() -> None:
    """Writes all examples."""
    for make in EXAMPLES:
        write(HERE / f"{make.__name__}.cir.json", make())
    for make in (activations, layers, operators):
        write(HERE / "libraries" / f"{make.__name__}.cir.json", make())
    write(HERE / "libraries" / "float_twice.cir.json", meaning("float_twice", "FLOAT"))
    write(HERE / "libraries" / "integer_twice.cir.json", meaning("integer_twice", "INT64"))


if __name__ == "__main__":
    main()
