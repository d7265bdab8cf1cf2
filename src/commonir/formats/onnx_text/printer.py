"""Prints the message of a model in the text form of ONNX.

The text has all that a program means. What the syntax has no place for, such as documentation of nodes, is named in a
comment at the head. Source: ONNX textual syntax (docs/Syntax.md of ONNX 1.23).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from commonir.base.codes import NOT_IN_FORMAT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.dialects.onnx.data_types import ELEMENTS
from commonir.formats.onnx.attributes import AttributeType, kind_of, text_of
from commonir.formats.onnx.element_types import DATA_TYPE_NAMES
from commonir.formats.onnx.messages import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    OperatorSetIdProto,
    SparseTensorTypeProto,
    StringStringEntryProto,
    TensorProto,
    TensorTypeProto,
    TypeProto,
    ValueInfoProto,
    create,
)
from commonir.formats.onnx.tensors import TensorError, read_contents, typed_values, write_typed
from commonir.formats.onnx_text.lexer import named, quoted
from commonir.ir.types import TensorType

_INDENT = "  "


def print_model(model: ModelProto) -> str:
    """The text of a model whose tensors are all in it.

    Raises: DiagnosticError (NOT_IN_FORMAT) for what has no form in text: sparse constants, lists of them, training.
    """
    printer = _Printer()
    lines = [*printer.header(model), *printer.graph(model.graph, "")]
    for function in model.functions:
        lines += printer.function(function)
    lost = printer.lost
    if len(model.training_info):
        raise _impossible("training information")
    if len(model.configuration):
        lost.append("configurations of devices")
    comment = [f"# not in this text: {', '.join(dict.fromkeys(lost))}"] if lost else []
    return "\n".join([*comment, *lines, ""])


def _impossible(what: str) -> DiagnosticError:
    return DiagnosticError(Diagnostic(NOT_IN_FORMAT, f"{what} has no form in the text of ONNX models"))


class _Printer:
    """Prints one model; `lost` receives what the syntax has no place for."""

    def __init__(self) -> None:
        self.lost: list[str] = []

    # -- models and functions

    def header(self, model: ModelProto) -> Iterator[str]:
        """The entries of a model around its graph."""
        entries: list[str] = []
        if model.HasField("ir_version"):
            entries.append(f"ir_version: {model.ir_version}")
        entries.append(f"opset_import: {_opsets(model.opset_import)}")
        entries += [
            f"{key}: {quoted(value)}"
            for key, value in (
                ("producer_name", model.producer_name),
                ("producer_version", model.producer_version),
                ("domain", model.domain),
                ("doc_string", model.doc_string),
            )
            if value
        ]
        if model.model_version:
            entries.append(f"model_version: {model.model_version}")
        if len(model.metadata_props):
            entries.append(f"metadata_props: {_texts(model.metadata_props)}")
        yield from _entries(entries)

    def function(self, function: FunctionProto) -> Iterator[str]:
        """A local function."""
        entries = [f"domain: {quoted(function.domain)}"]
        if function.overload:
            entries.append(f"overload: {quoted(function.overload)}")
        entries.append(f"opset_import: {_opsets(function.opset_import)}")
        if function.doc_string:
            entries.append(f"doc_string: {quoted(function.doc_string)}")
        if len(function.metadata_props):
            entries.append(f"metadata_props: {_texts(function.metadata_props)}")
        yield from _entries(entries)
        declared = [*function.attribute, *(self.attribute(a, "") for a in function.attribute_proto)]
        shown = f" <{', '.join(declared)}>" if declared else ""
        inputs, outputs = (", ".join(map(named, names)) for names in (function.input, function.output))
        infos = ", ".join([self.value_info(info) for info in function.value_info])
        yield f"{named(function.name)}{shown} ({inputs}) => ({outputs})" + (f" <{infos}>" if infos else "")
        yield from self.nodes(function.node, "")

    # -- graphs

    def graph(self, graph: GraphProto, indent: str) -> Iterator[str]:
        """A graph: its head, and its nodes."""
        if graph.doc_string:
            self.lost.append("documentation of graphs")
        if len(graph.metadata_props):
            self.lost.append("metadata of graphs")
        if len(graph.quantization_annotation):
            self.lost.append("quantization annotations")
        if len(graph.sparse_initializer):
            raise _impossible("a sparse constant")
        constants = {tensor.name: tensor for tensor in graph.initializer}
        inputs = [self._input(info, constants) for info in graph.input]
        outputs = [self.value_info(info) for info in graph.output]
        yield f"{named(graph.name)} ({', '.join(inputs)}) => ({', '.join(outputs)})"
        values = [*(self.constant(t) for t in graph.initializer if t.name in constants)]
        values += [self.value_info(info) for info in graph.value_info]
        if values:
            inner = f",\n{indent}{_INDENT}".join(values)
            yield f"{indent}<\n{indent}{_INDENT}{inner}\n{indent}>"
        yield from self.nodes(graph.node, indent)

    def _input(self, info: ValueInfoProto, constants: dict[str, TensorProto]) -> str:
        """An input, with the constant that stands for it when it is not given."""
        tensor = constants.get(info.name)
        text = self.value_info(info)
        type = info.type.tensor_type
        if tensor is None or type.elem_type != tensor.data_type:
            return text
        if [d.dim_value for d in type.shape.dim] != list(tensor.dims):
            return text
        del constants[info.name]
        return f"{text} = {self.elements(tensor)}"

    def value_info(self, info: ValueInfoProto) -> str:
        """The type and the name of a value."""
        if info.doc_string:
            self.lost.append("documentation of values")
        if len(info.metadata_props):
            self.lost.append("metadata of values")
        name = named(info.name)
        return name if info.type.WhichOneof("value") is None else f"{self.type(info.type)} {name}"

    def constant(self, tensor: TensorProto) -> str:
        """An initializer."""
        return f"{_tensor_type(tensor)} {named(tensor.name)} = {self.elements(tensor)}"

    def elements(self, tensor: TensorProto) -> str:
        """The elements of a tensor as the numbers of the field of their type."""
        if tensor.doc_string or len(tensor.metadata_props):
            self.lost.append("documentation and metadata of constants")
        element = ELEMENTS.get(tensor.data_type)
        if element is None:
            raise _impossible(f"a constant of element type {tensor.data_type}")
        try:
            data = read_contents(tensor, TensorType(element, tuple(tensor.dims)))
        except TensorError as error:
            raise _impossible(f"the constant '{tensor.name}': {error}") from None
        typed = create(TensorProto)
        write_typed(data, typed)
        if len(typed.string_data):
            return "{" + ", ".join([quoted(text_of(s)) for s in typed.string_data]) + "}"
        is_single = len(typed.float_data) > 0
        return "{" + ", ".join([_number(v, is_single=is_single) for v in typed_values(typed, element)]) + "}"

    # -- types

    def type(self, proto: TypeProto) -> str:
        """A type."""
        if proto.denotation:
            self.lost.append("denotations")
        match proto.WhichOneof("value"):
            case "tensor_type":
                return self._dense(proto.tensor_type)
            case "sparse_tensor_type":
                return f"sparse_tensor({self._dense(proto.sparse_tensor_type)})"
            case "sequence_type":
                return f"seq({self.type(proto.sequence_type.elem_type)})"
            case "optional_type":
                return f"optional({self.type(proto.optional_type.elem_type)})"
            case "map_type":
                return f"map({_element(proto.map_type.key_type)}, {self.type(proto.map_type.value_type)})"
            case "opaque_type":
                content = proto.opaque_type
                return f"opaque({content.domain}, {content.name})" if content.domain else f"opaque({content.name})"
            case _:
                raise _impossible("a type of nothing")

    def _dense(self, proto: TensorTypeProto | SparseTensorTypeProto) -> str:
        name = _element(proto.elem_type)
        if not proto.HasField("shape"):
            return f"{name}[]"
        dims: list[str] = []
        for d in proto.shape.dim:
            if d.denotation:
                self.lost.append("denotations")
            match d.WhichOneof("value"):
                case "dim_value":
                    dims.append(str(d.dim_value))
                case "dim_param" if d.dim_param:
                    dims.append(named(d.dim_param))
                case _:
                    dims.append("?")
        return f"{name}[{', '.join(dims)}]" if dims else name

    # -- nodes

    def nodes(self, nodes: Iterable[NodeProto], indent: str) -> Iterator[str]:
        """The nodes of a graph or function, in braces."""
        yield indent + "{"
        for node in nodes:
            yield indent + _INDENT + self.node(node, indent + _INDENT)
        yield indent + "}"

    def node(self, node: NodeProto, indent: str) -> str:
        """One node."""
        if node.doc_string:
            self.lost.append("documentation of nodes")
        if len(node.metadata_props):
            self.lost.append("metadata of nodes")
        if len(node.device_configurations):
            self.lost.append("sharding of nodes")
        label = f"[{named(node.name)}] " if node.name else ""
        outputs, inputs = (", ".join(map(named, names)) for names in (node.output, node.input))
        kind = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
        overload = f":{node.overload}" if node.overload else ""
        attributes = ", ".join([self.attribute(a, indent) for a in node.attribute])
        shown = f" <{attributes}>" if attributes else ""
        return f"{label}{outputs} = {kind}{overload}{shown} ({inputs})"

    def attribute(self, attribute: AttributeProto, indent: str) -> str:
        """The name, the kind and the value of an attribute."""
        if attribute.doc_string:
            self.lost.append("documentation of attributes")
        element_type = kind_of(attribute)
        shown = AttributeType(element_type).name.lower() if element_type in AttributeType.__members__.values() else ""
        if attribute.ref_attr_name:
            return f"{attribute.name}{f': {shown}' if shown else ''} = @{attribute.ref_attr_name}"
        return f"{attribute.name}: {shown} = {self._value(attribute, element_type, indent)}"

    def _value(self, proto: AttributeProto, kind: int, indent: str) -> str:
        match kind:
            case AttributeType.FLOAT:
                return _number(proto.f)
            case AttributeType.INT:
                return str(proto.i)
            case AttributeType.STRING:
                return quoted(text_of(proto.s))
            case AttributeType.TENSOR:
                return self._tensor(proto.t)
            case AttributeType.GRAPH:
                return "\n".join(self.graph(proto.g, indent + _INDENT))
            case AttributeType.FLOATS:
                return _list([_number(v) for v in proto.floats])
            case AttributeType.INTS:
                return _list(list(map(str, proto.ints)))
            case AttributeType.STRINGS:
                return _list([quoted(text_of(s)) for s in proto.strings])
            case AttributeType.TENSORS:
                return _list([self._tensor(t) for t in proto.tensors])
            case AttributeType.GRAPHS:
                return _list(["\n".join(self.graph(g, indent + _INDENT)) for g in proto.graphs])
            case AttributeType.TYPE_PROTO:
                return self.type(proto.tp)
            case AttributeType.TYPE_PROTOS:
                return _list([self.type(t) for t in proto.type_protos])
            case _:
                raise _impossible(f"the attribute '{proto.name}'")

    def _tensor(self, tensor: TensorProto) -> str:
        name = f" {named(tensor.name)}" if tensor.name else ""
        return f"{_tensor_type(tensor)}{name} {self.elements(tensor)}"


def _entries(entries: Sequence[str]) -> Iterator[str]:
    yield "<"
    for n, entry in enumerate(entries):
        yield _INDENT + entry + ("," if n + 1 < len(entries) else "")
    yield ">"


def _opsets(opsets: Iterable[OperatorSetIdProto]) -> str:
    return _list([f"{quoted(entry.domain)}: {entry.version}" for entry in opsets])


def _texts(texts: Iterable[StringStringEntryProto]) -> str:
    return _list([f"{quoted(entry.key)}: {quoted(entry.value)}" for entry in texts])


def _list(items: Sequence[str]) -> str:
    return f"[{', '.join(items)}]"


def _element(number: int) -> str:
    if not 0 < number < len(DATA_TYPE_NAMES):
        raise _impossible(f"the element type {number}")
    return DATA_TYPE_NAMES[number].lower()


def _tensor_type(tensor: TensorProto) -> str:
    dims = ", ".join(map(str, tensor.dims))
    return f"{_element(tensor.data_type)}[{dims}]" if dims else _element(tensor.data_type)


def _number(value: float, *, is_single: bool = True) -> str:
    """A number from which the same one is read, with nine digits in single precision."""
    if isinstance(value, int):
        return str(value)
    text = f"{value:.9g}" if is_single else repr(value)
    if "n" in text:
        return text
    return text if "." in text or "e" in text else f"{text}.0"
