"""From a module of the onnx dialect to the messages of a model; contents of weights are left where they are.

Names are those of the values. Values without a name, or with one that is taken where they stand, get one here; inputs
and outputs are named first. Writes nothing, converts nothing. Source: ONNX IR specification.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from commonir.base.codes import NOT_IN_FORMAT
from commonir.base.diagnostics import Diagnostics
from commonir.dialects import onnx
from commonir.formats.onnx.element_types import UNDEFINED, data_type, write_type
from commonir.formats.onnx.messages import (
    IR_VERSIONS,
    AttributeProto,
    GraphProto,
    ModelProto,
    NodeProto,
    StringStringEntryProto,
    TensorProto,
    ValueInfoProto,
    create,
)
from commonir.formats.onnx.messages import Repeated as RepeatedField
from commonir.ir.attributes import DataAttr, DictionaryAttr, IntegerAttr, StringAttr
from commonir.ir.data import Data
from commonir.ir.interface import metadata_of
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import ElementType, string
from commonir.ods import Op, kinds, path_of
from commonir.ods.fields import Field, FieldKind

_FLOAT, _INT, _STRING, _TENSOR, _GRAPH = 1, 2, 3, 4, 5
_FLOATS, _INTS, _STRINGS = 6, 7, 8

_DEEPEST = 31
"""How deep graphs nest: protobuf runtimes read messages nested at most 100 deep, of which the outermost graph with the
sizes of its values takes 6, and each one inside of it, in an attribute of a node, 3 more.
"""


class Weight(NamedTuple):
    """An initializer of the outermost graph: its message without contents, and where these are."""

    header: TensorProto
    data: Data


class Encoded(NamedTuple):
    """A model in parts: the message around the graph, the graph without its weights, and the weights in order."""

    model: ModelProto
    graph: GraphProto
    weights: tuple[Weight, ...]


def encode(module: Module) -> Encoded:
    """The messages of a module.

    Raises: DiagnosticError (E0806) with everything that is not of the format.
    """
    found = Diagnostics()
    graphs = [op for op in module.body.operations if isinstance(op, onnx.Graph)]
    others = [op for op in module.body.operations if not isinstance(op, onnx.Graph)]
    for op in others:
        found.add(NOT_IN_FORMAT, f"{op.name} has no place in an ONNX model", where=path_of(op))
    if len(graphs) != 1:
        found.add(NOT_IN_FORMAT, f"an ONNX model has one graph, found {len(graphs)}")
        found.raise_errors()
    found.raise_errors()
    encoder = _Encoder(graphs[0], found)
    graph = encoder.graph()
    model = _model(module, graphs[0])
    found.raise_errors()
    return Encoded(model, graph, tuple(encoder.weights))


def _model(module: Module, graph: onnx.Graph) -> ModelProto:
    model = create(ModelProto)
    versions = dict(graph.opset_import.entries)
    for domain, version in versions.items():
        imported = model.opset_import.add()
        imported.domain = domain
        imported.version = _integer(version)
    stated = module.extra.get(onnx.IR_VERSION)
    default = versions.get("")
    oldest = IR_VERSIONS.get(_integer(default), max(IR_VERSIONS.values()))
    model.ir_version = oldest if stated is None else _integer(stated)
    texts = module.extra
    model.producer_name = _text(texts.get(onnx.PRODUCER_NAME))
    model.producer_version = _text(texts.get(onnx.PRODUCER_VERSION))
    model.domain = _text(texts.get(onnx.DOMAIN))
    about = metadata_of(module)
    model.doc_string = _text(texts.get(onnx.DOC_STRING)) or about.description
    number = texts.get(onnx.MODEL_VERSION)
    if number is not None:
        model.model_version = _integer(number)
    named = {"author": about.author, "license": about.license, "version": about.version}
    for key, value in (*[(k, v) for k, v in named.items() if v], *about.user_defined):
        _add_text(model.metadata_props, key, value)
    _write_metadata(module, model.metadata_props)
    return model


def _integer(value: object) -> int:
    return value.value if isinstance(value, IntegerAttr) else 0


def _text(value: object) -> str:
    return value.value if isinstance(value, StringAttr) else ""


def _write_metadata(op: Operation, into: RepeatedField[StringStringEntryProto]) -> None:
    entries = op.extra.get(onnx.METADATA)
    for key, value in entries.entries if isinstance(entries, DictionaryAttr) else ():
        _add_text(into, key, _text(value))


def _add_text(into: RepeatedField[StringStringEntryProto], key: str, value: str) -> None:
    made = into.add()
    made.key, made.value = key, value


class _Encoder:
    """Encodes one graph with all that is nested in it."""

    def __init__(self, outer: onnx.Graph, found: Diagnostics) -> None:
        self.outer = outer
        self.found = found
        self.names = value_names(outer)
        self.weights: list[Weight] = []
        # Graphs to be encoded: the block, the message, and how many graphs are around it.
        self.pending: list[tuple[Block, GraphProto, int]] = []
        self._depth = 0
        self._is_too_deep = False
        self._node_names: set[str] = set()

    def graph(self) -> GraphProto:
        made = create(GraphProto)
        self.pending.append((self.outer.body, made, 0))
        while self.pending:
            block, into, self._depth = self.pending.pop()
            self._block(block, into)
        self._defaults()
        made.name = self.outer.sym_name
        made.doc_string = _text(self.outer.extra.get(onnx.DOC_STRING))
        _write_metadata(self.outer, made.metadata_props)
        return made

    def _defaults(self) -> None:
        """Initializers of the names of inputs, which stand for inputs that are not given."""
        held = dict(self.outer.defaults.entries)
        for v in self.outer.inputs:
            default = held.get(v.name)
            if isinstance(default, DataAttr):
                header = create(TensorProto)
                header.name = self.names.get(v, v.name)
                self._tensor_header(default.data, header)
                self.weights.append(Weight(header, default.data))

    def _block(self, block: Block, into: GraphProto) -> None:
        into.name = into.name or block.label
        for v in block.arguments:
            self._value_info(v, into.input.add())
        last = block.last
        results = last.outputs if isinstance(last, onnx.Return) else ()
        for v in results:
            self._value_info(v, into.output.add())
        shown = {*block.arguments, *results}
        for op in block.operations:
            match op:
                case onnx.Return():
                    continue
                case onnx.Initializer():
                    self._initializer(op, block, into)
                case Op() if isinstance(op, onnx.OnnxOp):
                    self._node(op, into.node.add())
                    for v in op.results:
                        if v not in shown and self._is_known(v):
                            self._value_info(v, into.value_info.add())
                case _:
                    self.found.add(NOT_IN_FORMAT, f"{op.name} is not an operator of ONNX", where=path_of(op))

    def _nested(self, block: Block, into: GraphProto) -> None:
        """Encodes a nested graph later, if it is not too deep; the first that is, is told."""
        if self._depth < _DEEPEST:
            self.pending.append((block, into, self._depth + 1))
        elif not self._is_too_deep:
            self._is_too_deep = True
            text = f"graphs are nested more than {_DEEPEST} deep, which readers of ONNX refuse"
            help = "unroll inner loops or branches"
            self.found.add(NOT_IN_FORMAT, text, where=self.outer.sym_name, help=help)

    def _node_name(self, op: Operation) -> str:
        """The name that the operation had; several made of one get a number, for names of nodes must differ."""
        name = stem = op.location.name if op.location is not None else ""
        number = 0
        while name in self._node_names:
            number += 1
            name = f"{stem}_{number}"
        if name:
            self._node_names.add(name)
        return name

    def _is_known(self, v: Value) -> bool:
        return v in self.names

    def _value_info(self, v: Value, into: ValueInfoProto) -> None:
        into.name = self.names.get(v, v.name)
        try:
            write_type(v.type, into.type)
        except ValueError as error:
            self.found.add(NOT_IN_FORMAT, f"value '{into.name}': {error}")

    def _initializer(self, op: onnx.Initializer, block: Block, into: GraphProto) -> None:
        is_outer = block is self.outer.body
        header = create(TensorProto) if is_outer else into.initializer.add()
        header.name = self.names[op.output]
        self._tensor_header(op.value, header)
        if op.value.element is string:
            write_strings(op.value, header)
        elif not is_outer:
            header.raw_data = bytes(op.value.buffer())
        if is_outer:
            self.weights.append(Weight(header, op.value))

    def _tensor_header(self, data: Data, into: TensorProto) -> None:
        try:
            into.data_type = data_type(data.element)
        except ValueError as error:
            self.found.add(NOT_IN_FORMAT, f"constant '{into.name}': {error}")
        into.dims.extend(data.shape)

    def _node(self, op: onnx.OnnxOp, into: NodeProto) -> None:
        into.op_type = op.name.removeprefix("onnx.")
        into.name = self._node_name(op)
        inputs: list[str] = []
        for f in op.layout.inputs:
            v: Value | tuple[Value, ...] | None = op.field_value(f)
            if isinstance(v, tuple):
                inputs += [self.names[u] for u in v]
            else:
                inputs.append("" if v is None else self.names[v])
        into.input.extend(_trimmed(inputs))
        into.output.extend(_trimmed([self.names.get(v, "") for v in op.results]))
        for f in op.layout.attributes:
            value = op.field_value(f)
            if value is not None and value != f.default:
                self._attribute(f, value, into.attribute.add())
        for f in op.layout.regions:
            made = into.attribute.add()
            made.name, made.type = f.spelling, _GRAPH
            block: Block = op.field_value(f).block
            made.g.name = block.label or f.name
            self._nested(block, made.g)
        into.doc_string = _text(op.extra.get(onnx.DOC_STRING))
        _write_metadata(op, into.metadata_props)

    def _attribute(self, f: Field, value: object, into: AttributeProto) -> None:
        into.name = f.spelling
        match value:
            case bool() | int():
                into.type, into.i = _INT, int(value)
            case float():
                into.type, into.f = _FLOAT, value
            case Enum():
                into.type, into.s = _STRING, str(value.value).encode()
            case str():
                into.type, into.s = _STRING, value.encode()
            case ElementType():
                into.type, into.i = _INT, data_type(value)
            case Data():
                into.type = _TENSOR
                self._tensor_header(value, into.t)
                write_contents(value, into.t)
            case Sequence():
                self._list(f, value, into)  # pyright: ignore[reportUnknownArgumentType]  a tuple of anything
            case _:
                self.found.add(NOT_IN_FORMAT, f"attribute '{f.name}' has no form in ONNX: {value!r}")

    def _list(self, f: Field, value: Sequence[object], into: AttributeProto) -> None:
        if f.type is kinds.integers:
            into.type = _INTS
            into.ints.extend(value)
        elif f.type is kinds.numbers:
            into.type = _FLOATS
            into.floats.extend(value)
        else:
            into.type = _STRINGS
            into.strings.extend(str(v).encode() for v in value)


def write_contents(data: Data, into: TensorProto) -> None:
    """Fills in the elements of a tensor."""
    if data.element is string:
        write_strings(data, into)
    else:
        into.raw_data = bytes(data.buffer())


def write_strings(data: Data, into: TensorProto) -> None:
    """Fills in the elements of a tensor of strings, which have no raw form."""
    into.string_data.extend(str(v).encode() for v in data.values())


def _trimmed(names: list[str]) -> list[str]:
    """Names without the absent ones at the end."""
    while names and not names[-1]:
        names.pop()
    return names


def value_names(graph: onnx.Graph) -> Mapping[Value, str]:
    """A name for every value of a graph and of those nested in it, unique where it can be seen.

    An optional result that has no name and no user is absent.
    """
    table = _Names(graph)
    pending: list[tuple[Block, dict[str, Value]]] = [(graph.body, {})]
    while pending:
        block, visible = pending.pop()
        last = block.last
        ends = last.outputs if isinstance(last, onnx.Return) else ()
        own = set(block.arguments)
        for op in block.operations:
            own.update(op.results)
        first = [*block.arguments, *(v for v in ends if v in own)]
        for v in first:
            table.keep(v, visible)
        for op in block.operations:
            for v in op.results:
                if v.name or v.is_used or not _is_optional(op, v):
                    table.keep(v, visible)
            pending.extend((b, visible) for region in op.regions for b in region.blocks)
        # Nested graphs see what is visible here, and add what is their own.
        pending = [(b, dict(seen) if seen is visible else seen) for b, seen in pending]
    table.fill(graph)
    return table.names


class _Names:
    """Names given to values."""

    def __init__(self, graph: onnx.Graph) -> None:
        self.names: dict[Value, str] = {}
        self.taken = {v.name for op in graph.walk() for v in op.results}
        self.taken |= {a.name for op in graph.walk() for r in op.regions for b in r.blocks for a in b.arguments}
        self.unnamed: list[Value] = []

    def keep(self, v: Value, visible: dict[str, Value]) -> None:
        """Gives a value its own name when that is free where it stands."""
        if v in self.names:
            return
        if v.name and v.name not in visible:
            self.names[v] = v.name
            visible[v.name] = v
        else:
            self.unnamed.append(v)

    def fill(self, graph: onnx.Graph) -> None:
        """Gives the remaining values names that nothing has."""
        numbers: dict[str, int] = {}
        for v in self.unnamed:
            owner = v.owner
            kind = owner.name.removeprefix("onnx.").lower() if isinstance(owner, Operation) else graph.sym_name
            stem = v.name or kind
            name = stem
            while not name or name in self.taken:
                numbers[stem] = numbers.get(stem, 0) + 1
                name = f"{stem}_{numbers[stem]}"
            self.taken.add(name)
            self.names[v] = name


def _is_optional(op: Operation, v: Value) -> bool:
    return isinstance(op, Op) and any(
        f.optional for f in op.layout.results[v.index : v.index + 1] if f.kind is FieldKind.RESULT
    )


__all__ = ["UNDEFINED", "Encoded", "Weight", "encode", "value_names", "write_contents"]
