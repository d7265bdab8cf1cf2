"""Distinguishes the encodings of Common IR files, and translates those of the drafts into current messages.

A file is decided by its first fields: a graph (stage A) begins with a node or a name, everything else with the version
of the IR; of that, a library has a number where a model has a text, and the other way round. A model that has fields of
Common IR, but neither versions of operator sets nor kinds of attributes, is of stage B. The stage must be known before
types are parsed: what was a tuple is a sequence today.

The version of the IR that a historic file states is kept as metadata; the one of the result is that of its encoding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import TypeVar

from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.file_codes import MALFORMED_HISTORIC
from commonir.base.limits import Limits
from commonir.base.tuples import NamedTuple
from commonir.dialects.common_ir import BUILT_IN_OPERATORS, checks, rules
from commonir.formats.common_ir import legacy_schema
from commonir.formats.common_ir.kinds import OwnType
from commonir.formats.onnx import messages
from commonir.formats.onnx.attributes import AttributeType
from commonir.formats.onnx.declaring import Message, declared_fields
from commonir.formats.onnx.messages import FIRST_EXTENSION, IR_VERSIONS
from commonir.formats.onnx.verify import check_ir_version
from commonir.formats.protobuf.wire import BYTES, VARINT, WireError, fields, parse

M = TypeVar("M", bound=Message)

EXTENSION_VERSION = 1
"""The version of the extensions of ONNX that files written today have."""
HISTORIC_IR_VERSION = "common_ir.historic_ir_version"
"""The text of metadata that keeps the version of the IR of a historic file."""

BUILT_IN_OPSET = 9
"""The version of the operator set of ONNX in which the operators of the drafts are read.

In it parameters are still attributes, as in the drafts, and comparisons already take integers.
"""

_MODEL_GRAPH, _MODEL_OPSETS = 7, 8
_LIBRARY = [messages.field_number(messages.LibraryProto, n) for n in ("doc_string", "operator", "function")]
"""Fields of a library with numbers that a model does not use."""
_VERSION_FIELD = messages.field_number(messages.ModelProto, "common_ir_version")
_UINT32 = 12
_KINDS: Mapping[str, int] = {
    "f": AttributeType.FLOAT,
    "i": AttributeType.INT,
    "s": AttributeType.STRING,
    "t": AttributeType.TENSOR,
    "g": AttributeType.GRAPH,
    "floats": AttributeType.FLOATS,
    "ints": AttributeType.INTS,
    "strings": AttributeType.STRINGS,
    "tensors": AttributeType.TENSORS,
    "graphs": AttributeType.GRAPHS,
    "type": AttributeType.TYPE_PROTO,
    "types": AttributeType.TYPE_PROTOS,
    "shape": OwnType.SHAPE,
    "shapes": OwnType.SHAPES,
}
"""The kind of an attribute by the historic field that holds its value."""


class Stage(Enum):
    """An encoding of Common IR in binary form."""

    GRAPH_A = "graph of stage A"
    MODEL_B = "model of stage B"
    LIBRARY_B = "library of stage B"
    MODEL = "model"
    LIBRARY = "library"


class Document(NamedTuple):
    """A file as a message of today: that of a model or that of a library."""

    stage: Stage
    model: messages.ModelProto | None = None
    library: messages.LibraryProto | None = None


def stage_of(content: memoryview) -> Stage:
    """The encoding of a file. Raises: WireError when it is not a protobuf message."""
    result: dict[int, int] = {}
    graph: memoryview | None = None
    for field in fields(content):
        result.setdefault(field.number, field.wire_type)
        if field.number == _MODEL_GRAPH and field.wire_type == BYTES:
            graph = content[field.content : field.end]
    # A library has numbers at 2 and 4 and a text at 5; a model and a graph have it the other way round.
    model = (result.get(2) == BYTES, result.get(4) == BYTES, result.get(5) == VARINT)
    library = (
        result.get(2) == VARINT,
        result.get(4) == VARINT,
        result.get(5) == BYTES,
        any(n in result for n in _LIBRARY),
    )
    is_library = any(library) and not any(model)
    if result.get(1, BYTES) == BYTES and not is_library:
        return Stage.GRAPH_A
    if is_library:
        return Stage.LIBRARY if _VERSION_FIELD in result else Stage.LIBRARY_B
    if _VERSION_FIELD in result or _MODEL_OPSETS in result:
        return Stage.MODEL
    extended = any(n >= FIRST_EXTENSION for n in result) or (graph is not None and _has_extensions(graph))
    return Stage.MODEL_B if extended and not _has_attr_types(content) else Stage.MODEL


def _has_extensions(graph: memoryview) -> bool:
    return any(field.number >= FIRST_EXTENSION for field in fields(graph))


def _has_attr_types(content: memoryview) -> bool:
    """Whether an attribute of a node says of what kind it is."""
    # Heavy, and only loaded where a message is read anyway.
    from google.protobuf.message import DecodeError  # noqa: PLC0415

    model = legacy_schema.historic_class(legacy_schema.ModelProto)()
    try:
        model.ParseFromString(content)
    except DecodeError:
        # Reading it as a current model reports the errors.
        return True
    functions = [node for f in model.graph.function for node in f.node]
    return any(a.HasField("discriminator") for node in (*model.graph.node, *functions) for a in node.attribute)


def read_document(content: memoryview, limits: Limits, file: str, diagnostics: Diagnostics) -> Document:
    """The message of a file in binary form, translated if it is historic; `found` receives what cannot be.

    Raises: DAMAGED_MESSAGE, TRUNCATED_FILE, LIMIT_EXCEEDED, NESTING_TOO_DEEP, MALFORMED_HISTORIC.
    """
    try:
        stage = stage_of(content)
    except WireError as error:
        message = f"the file cannot be read: {error.reason}"
        raise DiagnosticError(Diagnostic(error.code, message, file=file, notes=(f"at byte {error.offset}",))) from None
    translation = _Translation(diagnostics, file)
    match stage:
        case Stage.GRAPH_A:
            return Document(
                stage, translation.graph_file(_historic(legacy_schema.OldGraphProto, content, limits, file))
            )
        case Stage.MODEL_B:
            return Document(stage, translation.model(_historic(legacy_schema.ModelProto, content, limits, file)))
        case Stage.LIBRARY_B:
            old = _historic(legacy_schema.LibraryProto, content, limits, file)
            return Document(stage, library=translation.library(old))
        case Stage.LIBRARY:
            return Document(stage, library=_parsed(messages.create(messages.LibraryProto), content, limits, file))
        case Stage.MODEL:
            return Document(stage, _parsed(messages.create(messages.ModelProto), content, limits, file))


def _parsed(empty: M, content: memoryview, limits: Limits, file: str) -> M:
    return parse(type(empty), content, limits, file=file, where=type(empty).__name__)  # pyright: ignore[reportReturnType, reportArgumentType]  made by protobuf


def _historic(declared: type[M], content: memoryview, limits: Limits, file: str) -> M:
    """A message of an early draft. Raises: MALFORMED_HISTORIC for one with fields that the draft did not have."""
    message = _parsed(legacy_schema.historic_class(declared)(), content, limits, file)
    before = message.ByteSize()
    message.DiscardUnknownFields()
    if message.ByteSize() != before:
        text = "the file has fields that its draft of Common IR did not have"
        raise DiagnosticError(Diagnostic(MALFORMED_HISTORIC, text, file=file))
    return message


class _Translation:
    """Translates messages of one file; what has no meaning is reported with its location."""

    def __init__(self, diagnostics: Diagnostics, file: str) -> None:
        self._found = diagnostics
        self._file = file
        self._place = ""

    # -- files

    def model(self, old: legacy_schema.ModelProto) -> messages.ModelProto:
        """A model of stage B."""
        built = messages.create(messages.ModelProto)
        self._copy(old, built, legacy_schema.ModelProto)
        return self._dated(built, old)

    def library(self, old: legacy_schema.LibraryProto) -> messages.LibraryProto:
        """A library of stage B."""
        result = messages.create(messages.LibraryProto)
        self._copy(old, result, legacy_schema.LibraryProto)
        result.common_ir_version = EXTENSION_VERSION
        self._use_built_in(result, (), result.opset_import)
        return result

    def graph_file(self, old: legacy_schema.OldGraphProto) -> messages.ModelProto:
        """A graph of stage A, as the graph of a model."""
        built = messages.create(messages.ModelProto)
        built.producer_name = old.producer_tag
        built.producer_version = str(old.producer_version) if old.HasField("producer_version") else ""
        built.domain = old.domain
        self._old_graph(old, built.graph)
        return self._dated(built, old)

    def _dated(
        self, model: messages.ModelProto, old: legacy_schema.ModelProto | legacy_schema.OldGraphProto
    ) -> messages.ModelProto:
        """The model with the versions of its new encoding, the one it stated kept as metadata."""
        model.ir_version = max(IR_VERSIONS.values())
        model.common_ir_version = EXTENSION_VERSION
        self._use_built_in(model.graph, model.graph.node, model.opset_import)
        self._found.extend([d.located(file=self._file) for d in checks.ir_version(old.ir_version)])
        self._found.extend([d.located(file=self._file) for d in check_ir_version(old.ir_version)])
        if old.HasField("ir_version"):
            entry = model.metadata_props.add()
            entry.key, entry.value = HISTORIC_IR_VERSION, str(old.ir_version)
        return model

    def _use_built_in(
        self,
        holder: messages.GraphProto | messages.LibraryProto,
        nodes: Iterable[messages.NodeProto],
        opsets: messages.Repeated[messages.OperatorSetIdProto],
    ) -> None:
        """Takes operators without a declaration from ONNX: its first operators are those that the drafts had."""
        nodes = [*nodes, *(node for f in holder.function for node in f.node)]
        declared = {d.name for d in (*holder.operator, *holder.function)} | BUILT_IN_OPERATORS
        names = {node.op_type for node in _with_nested(nodes)} - declared
        used = sorted([name for name in names if name and "." not in name])
        if used:
            added = opsets.add()
            added.version = BUILT_IN_OPSET
            text = f"operators that are not declared are those of version {BUILT_IN_OPSET} of ONNX: {', '.join(used)}"
            self._found.extend([rules.DECLARED.broken(text, is_tolerated=True).located(file=self._file)])

    # -- stage A

    def _old_graph(self, old: legacy_schema.OldGraphProto, into: messages.GraphProto) -> None:
        into.name, into.doc_string = old.name, old.doc_string
        self._described(old.input, old.input_arg_info, into.input, "input")
        self._described(old.output, old.output_arg_info, into.output, "output")
        for tensor in old.initializer:
            self._tensor(tensor, into.initializer.add())
        for n, node in enumerate(old.node):
            self._old_node(node, into.node.add(), f"node[{n}]")
            self._described(node.output, node.output_arg_info, into.value_info, f"node[{n}].output")
        for function in old.function:
            built = into.function.add()
            built.name = function.name
            self._many(function.input_arg, built.input_params, legacy_schema.ParameterDeclProto)
            self._many(function.output_arg, built.output_params, legacy_schema.ParameterDeclProto)
            for n, node in enumerate(function.node):
                self._old_node(node, built.node.add(), f"function '{function.name}'.node[{n}]")
            for attribute in function.attr:
                self._attribute(attribute, built.attr.add(), f"function '{function.name}'")

    def _old_node(self, old: legacy_schema.OldNodeProto, into: messages.NodeProto, place: str) -> None:
        into.name, into.op_type, into.doc_string = old.name, old.op_type, old.doc_string
        into.input.extend(old.input)
        into.output.extend(old.output)
        into.input_arg_count.extend(old.input_arg_count)
        into.control_input.extend(old.control_input)
        for attribute in old.attribute:
            self._attribute(attribute, into.attribute.add(), f"{place} '{old.name or old.op_type}'")

    def _described(
        self,
        names: Iterable[str],
        infos: Iterable[legacy_schema.ArgInfoProto],
        into: messages.Repeated[messages.ValueInfoProto],
        place: str,
    ) -> None:
        """Values by name, with the types and shapes of a list beside the names."""
        listed, described = list(names), list(infos)
        if described and len(described) != len(listed):
            text = f"{place}: {len(listed)} names, but descriptions of {len(described)}"
            self._found.add(MALFORMED_HISTORIC, text, file=self._file)
        for name, info in zip(listed, [*described, *[None] * len(listed)], strict=False):
            built = into.add()
            built.name = name
            if info is not None and info.HasField("type"):
                self._type(info.type, built.type, f"{place} '{name}'")
                if info.HasField("shape"):
                    self._shape_beside(info.shape, built.type, f"{place} '{name}'")

    # -- what changed since

    def _copy(self, old: Message, into: Message, declared: type[Message]) -> None:
        """Copies the fields of a message, which have the names that they have today."""
        place = self._place
        for name, field in declared_fields(declared).items():
            if field.repeated:
                values = list(getattr(old, name))
                if field.type.islower():
                    getattr(into, name).extend(values)
                else:
                    self._many(values, getattr(into, name), _DECLARED[field.type], f"{place}{name}")
            elif old.HasField(name):
                if field.type.islower():
                    setattr(into, name, getattr(old, name))
                else:
                    self._place = f"{place}{name}."
                    self._message(getattr(old, name), getattr(into, name), _DECLARED[field.type])
        self._place = place

    def _many(
        self, old: Iterable[Message], into: messages.Repeated[M], declared: type[Message], place: str = ""
    ) -> None:
        outer = self._place
        for n, item in enumerate(old):
            name = getattr(item, "name", "")
            self._place = f"{place}[{n}] '{name}'." if name else f"{place}[{n}]."
            self._message(item, into.add(), declared)
        self._place = outer

    def _message(self, old: Message, into: Message, declared: type[Message]) -> None:
        into.SetInParent()
        place = self._place.removesuffix(".")
        match declared.__name__:
            case "TypeProto":
                self._type(old, into, place)  # pyright: ignore[reportArgumentType]  of this declaration
            case "AttributeProto":
                self._attribute(old, into, place)  # pyright: ignore[reportArgumentType]  as above
            case "TensorProto":
                self._tensor(old, into)  # pyright: ignore[reportArgumentType]  as above
            case "ParameterDeclProto":
                self._parameter(old, into, place)  # pyright: ignore[reportArgumentType]  as above
            case _:
                self._copy(old, into, declared)

    def _parameter(self, old: legacy_schema.ParameterDeclProto, into: messages.ParameterDeclProto, place: str) -> None:
        into.name = old.name
        if old.doc_string:
            into.doc_string = old.doc_string
        if not old.HasField("type"):
            self._found.add(MALFORMED_HISTORIC, f"parameter '{old.name}' has no type", where=place, file=self._file)
            return
        self._type(old.type, into.type, place)
        if old.HasField("shape"):
            self._shape_beside(old.shape, into.type, place)

    def _shape_beside(self, shape: messages.TensorShapeProto, into: messages.TypeProto, place: str) -> None:
        """Puts a shape that stood beside a type into it."""
        match into.WhichOneof("value"):
            case "tensor_type":
                holder = into.tensor_type.shape
            case "sparse_tensor_type":
                holder = into.sparse_tensor_type.shape
            case kind:
                text = f"a shape stands beside a type that has none: {kind or 'nothing'}"
                self._found.add(MALFORMED_HISTORIC, text, where=place, file=self._file)
                return
        if holder.dim:
            text = "a shape stands both in a type and beside it"
            self._found.add(MALFORMED_HISTORIC, text, where=place, file=self._file)
            return
        holder.SetInParent()
        self._copy(shape, holder, legacy_schema.TensorShapeProto)

    def _type(self, old: legacy_schema.TypeProto, into: messages.TypeProto, place: str) -> None:
        match old.WhichOneof("value"):
            case "tensor":
                into.tensor_type.elem_type = old.tensor.elem_type
                if old.tensor.HasField("shape"):
                    self._shape_beside(old.tensor.shape, into, place)
            case "sparse":
                into.sparse_tensor_type.elem_type = old.sparse.elem_type
                if old.sparse.HasField("shape"):
                    self._shape_beside(old.sparse.shape, into, place)
            case "handle":
                into.handle_type.SetInParent()
            case "tuple":
                into.tuple_type.SetInParent()
                for element in old.tuple.elem_type:
                    self._type(element, into.tuple_type.elem_type.add(), place)
            case "seq":
                self._type(old.seq.elem_type, into.sequence_type.elem_type, place)
            case "map":
                into.map_type.key_type = old.map.key_type
                value = into.map_type.value_type.tensor_type
                value.elem_type = old.map.value_type
                value.shape.SetInParent()
            case _:
                self._found.add(MALFORMED_HISTORIC, "a type says nothing", where=place, file=self._file)

    def _tensor(self, old: legacy_schema.TensorProto, into: messages.TensorProto) -> None:
        self._copy(old, into, legacy_schema.TensorProto)
        if old.data_type == _UINT32 and len(old.int64_data):
            into.uint64_data.extend(old.int64_data)
            del into.int64_data[:]  # pyright: ignore[reportIndexIssue]  a repeated field

    def _attribute(
        self,
        old: legacy_schema.AttributeProto | legacy_schema.OldAttributeProto,
        into: messages.AttributeProto,
        place: str,
    ) -> None:
        into.name = old.name
        present = [name for name in _KINDS if _is_present(old, name)]
        if len(present) > 1:
            text = f"attribute '{old.name}' has {len(present)} values: {', '.join(present)}"
            self._found.add(MALFORMED_HISTORIC, text, where=place, file=self._file)
            return
        if not present:
            # The operator declaration determines the type of an empty list.
            return
        kind = present[0]
        into.type = _KINDS[kind]
        content = getattr(old, kind)
        match kind:
            case "f" | "i" | "s":
                setattr(into, kind, content)
            case "floats" | "ints" | "strings":
                getattr(into, kind).extend(content)
            case "t":
                self._tensor(content, into.t)
            case "g":
                self._graph(content, into.g)
            case "type":
                self._type(content, into.tp, place)
            case "shape":
                self._copy(content, into.shape, legacy_schema.TensorShapeProto)
            case _:
                self._list(kind, content, into, place)

    def _list(self, kind: str, values: Iterable[Message], into: messages.AttributeProto, place: str) -> None:
        for item in values:
            match kind:
                case "tensors":
                    self._tensor(item, into.tensors.add())  # pyright: ignore[reportArgumentType]  of this declaration
                case "graphs":
                    self._graph(item, into.graphs.add())  # pyright: ignore[reportArgumentType]  as above
                case "types":
                    self._type(item, into.type_protos.add(), place)  # pyright: ignore[reportArgumentType]  as above
                case _:
                    self._copy(item, into.shapes.add(), legacy_schema.TensorShapeProto)

    def _graph(self, old: legacy_schema.GraphProto | legacy_schema.OldGraphProto, into: messages.GraphProto) -> None:
        into.SetInParent()
        if hasattr(old, "input_arg_info"):
            self._old_graph(old, into)  # pyright: ignore[reportArgumentType]  only those of stage A have it
        else:
            self._copy(old, into, legacy_schema.GraphProto)


def _with_nested(nodes: Iterable[messages.NodeProto]) -> Iterator[messages.NodeProto]:
    """Yields nodes and those of the graphs in their attributes."""
    pending = list(nodes)
    while pending:
        node = pending.pop()
        yield node
        for a in node.attribute:
            for graph in (a.g, *a.graphs):
                pending.extend(graph.node)


def _is_present(old: Message, name: str) -> bool:
    content = getattr(old, name)
    return bool(len(content)) if name.endswith("s") and name != "s" else old.HasField(name)


_DECLARED: Mapping[str, type[Message]] = {
    m.__name__: m
    for m in vars(legacy_schema).values()
    if isinstance(m, type) and issubclass(m, Message) and m is not Message
}
