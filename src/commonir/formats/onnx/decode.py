"""From the message of an ONNX model to a module of the onnx dialect.

Nodes become the operations that the onnx dialect defines for their operator set; those of which there is no definition
become `onnx.custom`. Values have the types that the file states; others have those that follow from definitions, and
`unknown` where none follows. Nothing is converted, and nothing is read but the message.

Limits: `Limits.max_operations`; nesting is limited by that of messages.
Source: ONNX IR specification; onnx.proto of ONNX 1.23.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from commonir.base.codes import DUPLICATE_NAME, MALFORMED_TYPE, MALFORMED_VALUE, WRONG_ATTRIBUTE, WRONG_OPERAND_COUNT
from commonir.base.diagnostics import DiagnosticError, Diagnostics
from commonir.dialects import onnx
from commonir.formats.onnx.messages import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    OperatorSetIdProto,
    StringStringEntryProto,
    TensorProto,
    ValueInfoProto,
)
from commonir.formats.onnx.read_types import ELEMENTS, TypeReader
from commonir.formats.onnx.tensors import TensorError, read_contents
from commonir.ir.attributes import (
    ArrayAttr,
    Attribute,
    BytesAttr,
    DataAttr,
    DenseArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TypeAttr,
    is_sequence,
)
from commonir.ir.data import Data
from commonir.ir.module import Module
from commonir.ir.operation import Block, Location, Operation, Region, Value
from commonir.ir.types import TensorType, Type, f32, i64, unknown
from commonir.notation import NotationError
from commonir.ods import Dialects, Op, kinds
from commonir.ods.fields import Field, FieldKind
from commonir.ods.inference import infer

_FLOAT, _INT, _STRING, _TENSOR, _GRAPH = 1, 2, 3, 4, 5
_FLOATS, _INTS, _STRINGS, _TENSORS, _GRAPHS = 6, 7, 8, 9, 10
_TYPE, _TYPES = 13, 14

ReadTensor = Callable[[TensorProto, TensorType], Data]
"""Gives the contents of a tensor. Raises: TensorError."""

_FIRST_WITH_FREE_INITIALIZERS = 4
"""The IR version before which every constant of the graph had to be declared as an input too."""


def decode(model: ModelProto, dialects: Dialects, found: Diagnostics, contents: ReadTensor = read_contents) -> Module:
    """The module of a model; `found` receives what is wrong with it, `contents` gives those of tensors."""
    module = Module()
    _describe(module, model)
    decoder = _Decoder(model, dialects, found, contents)
    for function in model.functions:
        module.body.append(decoder.function(function))
    graph = decoder.graph(model.graph)
    module.body.append(graph)
    if model.functions:
        module.entry = graph.sym_name
    return module


def _describe(module: Module, model: ModelProto) -> None:
    module.set_extra(onnx.IR_VERSION, IntegerAttr(model.ir_version))
    for name, text in (
        (onnx.PRODUCER_NAME, model.producer_name),
        (onnx.PRODUCER_VERSION, model.producer_version),
        (onnx.DOMAIN, model.domain),
        (onnx.DOC_STRING, model.doc_string),
    ):
        if text:
            module.set_extra(name, StringAttr(text))
    if model.model_version:
        module.set_extra(onnx.MODEL_VERSION, IntegerAttr(model.model_version))
    _keep_metadata(module, model.metadata_props)


def _keep_metadata(op: Operation, entries: Iterable[StringStringEntryProto]) -> None:
    kept = tuple([(e.key, StringAttr(e.value)) for e in entries])
    if kept:
        op.set_extra(onnx.METADATA, DictionaryAttr(kept))


def _keep_doc(op: Operation, text: str) -> None:
    if text:
        op.set_extra(onnx.DOC_STRING, StringAttr(text))


def _imports(given: Iterable[OperatorSetIdProto]) -> dict[str, int]:
    return {entry.domain: entry.version for entry in given}


def _imports_attribute(imports: Mapping[str, int]) -> DictionaryAttr:
    return DictionaryAttr(tuple([(domain, IntegerAttr(version)) for domain, version in imports.items()]))


class _Scope:
    """The values that names stand for, of a graph and those around it."""

    __slots__ = ("declared", "forward", "values")

    def __init__(self, values: dict[str, Value], declared: dict[str, Type]) -> None:
        self.values = values
        self.declared = declared
        self.forward: dict[str, Value] = {}


class _Decoder:
    """Decodes one model."""

    def __init__(self, model: ModelProto, dialects: Dialects, found: Diagnostics, contents: ReadTensor) -> None:
        self._dialects = dialects
        self._found = found
        self._contents = contents
        self._types = TypeReader()
        self._ir_version = model.ir_version
        self._functions = {(f.domain, f.name, f.overload): f for f in model.functions}
        self._model_imports = _imports(model.opset_import)
        self._imports = self._model_imports
        self._definitions: dict[tuple[str, str], type[Op] | None] = {}
        self._path = ""

    # -- graphs and functions

    def graph(self, proto: GraphProto) -> onnx.Graph:
        """The graph of the model."""
        self._path = proto.name
        defaults: dict[str, Data] = {}
        block = self._block(proto, {}, defaults)
        held = DictionaryAttr(tuple([(name, DataAttr(data)) for name, data in defaults.items()]))
        graph = onnx.Graph(proto.name, _imports_attribute(self._model_imports), Region([block]), held)
        _keep_doc(graph, proto.doc_string)
        _keep_metadata(graph, proto.metadata_props)
        return graph

    def function(self, proto: FunctionProto) -> onnx.LocalFunction:
        """A local function."""
        symbol = onnx.function_symbol(proto.domain, proto.name, proto.overload)
        self._path = symbol
        imports = _imports(proto.opset_import)
        self._imports, outer = imports, self._imports
        self._definitions.clear()
        declared = self._declared(proto.value_info)
        names = tuple(proto.input)
        block = Block([declared.get(n, unknown) for n in names], names)
        scope = _Scope(dict(zip(names, block.arguments, strict=True)), declared)
        self._fill(block, proto.node, list(proto.output), scope)
        self._imports = outer
        self._definitions.clear()
        made = onnx.LocalFunction(
            symbol,
            proto.name,
            _imports_attribute(imports),
            Region([block]),
            proto.domain,
            proto.overload,
            tuple(proto.attribute),
            self._dictionary(proto.attribute_proto)[0],
        )
        _keep_doc(made, proto.doc_string)
        _keep_metadata(made, proto.metadata_props)
        return made

    def _declared(self, infos: Iterable[ValueInfoProto]) -> dict[str, Type]:
        return {info.name: self._type(info) for info in infos}

    def _type(self, info: ValueInfoProto) -> Type:
        kind = self._types.read(info.type)
        if kind is unknown and info.type.WhichOneof("value") is not None:
            where = f"{self._path}.{info.name}"
            self._found.add(MALFORMED_TYPE, f"'{info.name}' is of an element type that is not known", where=where)
        return kind

    def _block(self, proto: GraphProto, outer: dict[str, Value], defaults: dict[str, Data] | None = None) -> Block:
        """The block of a graph; with `defaults`, of the outermost one, which receives those of inputs."""
        inputs = {info.name: self._type(info) for info in proto.input}
        declared = self._declared(proto.value_info)
        outputs = [info.name for info in proto.output]
        declared |= {info.name: self._type(info) for info in proto.output}
        constants = {tensor.name: tensor for tensor in proto.initializer}
        if defaults is not None and self._ir_version < _FIRST_WITH_FREE_INITIALIZERS:
            inputs = {name: kind for name, kind in inputs.items() if name not in constants}
        block = Block(inputs.values(), tuple(inputs), proto.name)
        scope = _Scope(dict(outer), declared)
        scope.values.update(zip(inputs, block.arguments, strict=True))
        for name, tensor in constants.items():
            data = self._tensor(tensor, f"initializer '{name}'")
            if data is None:
                continue
            if defaults is not None and name in inputs:
                defaults[name] = data
                continue
            made = block.append(onnx.Initializer(data))
            made.output.name = name
            scope.values[name] = made.output
        self._fill(block, proto.node, outputs, scope)
        return block

    def _fill(self, block: Block, nodes: Iterable[NodeProto], outputs: Sequence[str], scope: _Scope) -> None:
        for n, node in enumerate(nodes):
            self._node(node, n, block, scope)
        block.append(onnx.Return(tuple([self._value(name, scope) for name in outputs])))

    def _value(self, name: str, scope: _Scope) -> Value:
        found = scope.values.get(name)
        if found is None:
            found = scope.forward.get(name)
            if found is None:
                found = scope.forward[name] = Value(scope.declared.get(name, unknown), None, 0, name)
        return found

    # -- nodes

    def _definition(self, domain: str, op_type: str) -> type[Op] | None:
        key = domain, op_type
        if key not in self._definitions:
            name = onnx.operation_name(domain, op_type)
            version = self._imports.get(domain, self._imports.get("ai.onnx" if not domain else ""))
            found = None
            if name is not None and version is not None:
                found = self._dialects.find(name, onnx.version_in(domain, version))
            self._definitions[key] = found
        return self._definitions[key]

    def _node(self, node: NodeProto, n: int, block: Block, scope: _Scope) -> None:
        op_type, domain = node.op_type, node.domain
        outputs = list(node.output)
        while outputs and not outputs[-1]:
            outputs.pop()
        types = [scope.declared.get(name, unknown) for name in outputs]
        where = f"{self._path}.node[{n}] '{node.name or op_type}'"
        called = self._functions.get((domain, op_type, node.overload))
        definition = None if called is not None else self._definition(domain, op_type)
        op = None
        if called is not None:
            op = self._call(called, node, types, scope)
        elif definition is not None:
            op = self._defined(definition, node, types, scope, where)
        if op is None:
            op = self._custom(node, types, scope)
        name = node.name
        op.location = Location(name=name) if name else None
        block.append(op)
        if not isinstance(op, onnx.Custom | onnx.Call):
            self._infer(op)
        for v, name in zip(op.results, outputs, strict=False):
            v.name = name
            if name:
                self._define(name, v, scope, where)
        _keep_doc(op, node.doc_string)
        _keep_metadata(op, node.metadata_props)

    def _define(self, name: str, v: Value, scope: _Scope, where: str) -> None:
        if name in scope.values:
            self._found.add(DUPLICATE_NAME, f"'{name}' is defined twice", where=where)
        scope.values[name] = v
        forward = scope.forward.pop(name, None)
        if forward is not None:
            forward.replace_all_uses_with(v)

    def _infer(self, op: Op) -> None:
        """Gives results that the file states nothing of the types that follow; the verifier tells what contradicts."""
        results = op.results
        if all(v.type is not unknown for v in results) and not any(f.optional for f in op.layout.results):
            return
        try:
            types = infer(op).types
        except (DiagnosticError, NotationError):
            return
        for v, t in zip(results, types, strict=False):
            if v.type is unknown:
                v.type = t
        if len(types) > len(results):
            count = len(results)
            op.results = (*results, *[Value(t, op, count + n) for n, t in enumerate(types[count:])])

    def _defined(
        self, definition: type[Op], node: NodeProto, types: list[Type], scope: _Scope, where: str
    ) -> Op | None:
        """An operation of a definition; None for a node that has more than the definition can hold, which is told."""
        arguments: dict[str, object] = {}
        names = list(node.input)
        at = 0
        for f in definition.layout.inputs:
            if f.variadic:
                arguments[f.name] = tuple([self._value(name, scope) for name in names[at:] if name])
                at = len(names)
            elif at < len(names):
                arguments[f.name] = self._value(names[at], scope) if names[at] else None
                at += 1
        if at < len(names) and any(names[at:]):
            text = f"{node.op_type} takes {len(definition.layout.inputs)} inputs, found {len(names)}"
            self._found.add(WRONG_OPERAND_COUNT, text, where=where)
            return None
        fields = {f.spelling: f for f in (*definition.layout.attributes, *definition.layout.regions)}
        references: list[tuple[str, Attribute]] = []
        for attribute in node.attribute:
            f = fields.get(attribute.name)
            if f is None:
                text = f"{node.op_type} has no attribute '{attribute.name}'"
                self._found.add(WRONG_ATTRIBUTE, text, where=where)
                return None
            if attribute.ref_attr_name:
                references.append((attribute.name, StringAttr(attribute.ref_attr_name)))
                continue
            value = self._field(f, attribute, scope, where)
            if value is not None:
                arguments[f.name] = value
        op = definition.build(arguments, types)
        if references:
            op.set_extra(onnx.ATTRIBUTE_REFERENCES, DictionaryAttr(tuple(references)))
        return op

    def _inputs(self, node: NodeProto, scope: _Scope) -> tuple[tuple[Value, ...], tuple[int, ...]]:
        names = list(node.input)
        while names and not names[-1]:
            names.pop()
        values = tuple([self._value(name, scope) for name in names if name])
        return values, tuple([n for n, name in enumerate(names) if not name])

    def _custom(self, node: NodeProto, types: list[Type], scope: _Scope) -> onnx.Custom:
        inputs, absent = self._inputs(node, scope)
        attributes, graphs = self._dictionary(node.attribute, scope)
        arguments = {
            "op_type": node.op_type,
            "domain": node.domain,
            "overload": node.overload,
            "attributes": attributes,
            "inputs": inputs,
            "absent": absent,
            "graphs": tuple([region for _, region in graphs]),
            "graph_names": tuple([name for name, _ in graphs]),
        }
        op = onnx.Custom.build(arguments, types)
        self._keep_references(op, node)
        return op

    def _call(self, function: FunctionProto, node: NodeProto, types: list[Type], scope: _Scope) -> onnx.Call:
        inputs, absent = self._inputs(node, scope)
        attributes, graphs = self._dictionary(node.attribute, scope)
        arguments = {
            "function": onnx.function_symbol(function.domain, function.name, function.overload),
            "attributes": attributes,
            "inputs": inputs,
            "absent": absent,
            "graphs": tuple([region for _, region in graphs]),
            "graph_names": tuple([name for name, _ in graphs]),
        }
        op = onnx.Call.build(arguments, types)
        self._keep_references(op, node)
        return op

    def _keep_references(self, op: Operation, node: NodeProto) -> None:
        found = [(a.name, StringAttr(a.ref_attr_name)) for a in node.attribute if a.ref_attr_name]
        if found:
            op.set_extra(onnx.ATTRIBUTE_REFERENCES, DictionaryAttr(tuple(found)))

    # -- attributes

    def _field(self, f: Field, attribute: AttributeProto, scope: _Scope, where: str) -> object:
        """The value of a field; None where the attribute has none of its kind, which is told."""
        try:
            return self._coerced(f, attribute, scope)
        except (ValueError, TensorError) as error:
            self._found.add(WRONG_ATTRIBUTE, f"attribute '{attribute.name}': {error}", where=where)
            return None

    def _coerced(self, f: Field, attribute: AttributeProto, scope: _Scope) -> object:
        value = self._plain(attribute, scope)
        if f.kind is FieldKind.REGION:
            if not isinstance(value, Region):
                raise ValueError("expected a graph")
            return value
        if f.type is kinds.flag and value in (0, 1):
            value = bool(value)
        elif f.type is kinds.element and isinstance(value, int):
            value = ELEMENTS.get(value, value)
        elif f.type is kinds.number and isinstance(value, float) and isinstance(f.default, float):
            # A default is written in decimal, and in single precision here.
            value = f.default if FloatAttr(f.default, f32).value == value else value
        return value if f.type is None else f.type.coerce(value)

    def _plain(self, attribute: AttributeProto, scope: _Scope) -> object:
        """The value of an attribute. Raises: ValueError for a kind that is not known; TensorError."""
        match attribute.type:
            case 1:
                return attribute.f
            case 2:
                return attribute.i
            case 3:
                return attribute.s.decode("utf-8", "surrogateescape")
            case 4:
                return self._data(attribute.t)
            case 5:
                return Region([self._block(attribute.g, scope.values)])
            case 6:
                return tuple(attribute.floats)
            case 7:
                return tuple(attribute.ints)
            case 8:
                return tuple([s.decode("utf-8", "surrogateescape") for s in attribute.strings])
            case 13:
                return self._types.read(attribute.tp)
            case 14:
                return tuple([self._types.read(t) for t in attribute.type_protos])
            case _:
                raise ValueError(f"attributes of type {attribute.type} are not read")

    def _dictionary(
        self, attributes: Iterable[AttributeProto], scope: _Scope | None = None
    ) -> tuple[DictionaryAttr, list[tuple[str, Region]]]:
        """Attributes of which no definition is known, and the graphs among them."""
        entries: list[tuple[str, Attribute]] = []
        graphs: list[tuple[str, Region]] = []
        around = _Scope({}, {}) if scope is None else scope
        for attribute in attributes:
            if attribute.ref_attr_name:
                continue
            try:
                value = self._plain(attribute, around)
            except (ValueError, TensorError) as error:
                self._found.add(WRONG_ATTRIBUTE, f"attribute '{attribute.name}': {error}", where=self._path)
                continue
            if isinstance(value, Region):
                graphs.append((attribute.name, value))
            else:
                entries.append((attribute.name, _attribute_of(attribute, value)))
        return DictionaryAttr(tuple(entries)), graphs

    # -- tensors

    def _data(self, proto: TensorProto) -> Data:
        """Raises: TensorError."""
        element = ELEMENTS.get(proto.data_type)
        if element is None:
            raise TensorError(f"{proto.data_type} is no element type")
        shape = tuple(proto.dims)
        if any(d < 0 for d in shape):
            raise TensorError(f"a tensor has no size {min(shape)}")
        return self._contents(proto, TensorType(element, shape))

    def _tensor(self, proto: TensorProto, what: str) -> Data | None:
        try:
            return self._data(proto)
        except TensorError as error:
            self._found.add(MALFORMED_VALUE, f"{what}: {error}", where=self._path)
            return None


def _attribute_of(proto: AttributeProto, value: object) -> Attribute:
    match proto.type:
        case 1:
            return FloatAttr(proto.f, f32)
        case 2:
            return IntegerAttr(proto.i)
        case 3:
            return _text_of(proto.s)
        case 6:
            return DenseArrayAttr(f32, tuple(proto.floats))
        case 7:
            return DenseArrayAttr(i64, tuple(proto.ints))
        case 8:
            return ArrayAttr(tuple([_text_of(s) for s in proto.strings]))
        case _ if isinstance(value, Data):
            return DataAttr(value)
        case _ if isinstance(value, Type):
            return TypeAttr(value)
        case _:
            types = value if is_sequence(value) else ()
            return ArrayAttr(tuple([TypeAttr(t) for t in types if isinstance(t, Type)]))


def _text_of(content: bytes) -> Attribute:
    try:
        return StringAttr(content.decode())
    except UnicodeDecodeError:
        return BytesAttr(content)
