"""Graphs and local functions of the onnx dialect as messages, with all that is nested in them.

Source: ONNX IR specification, graphs and nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum

from commonir.base.codes import NOT_IN_FORMAT
from commonir.base.diagnostics import DiagnosticError, Diagnostics
from commonir.base.tuples import NamedTuple
from commonir.dialects import onnx
from commonir.dialects.onnx.attribute_values import UNFIT_ATTRIBUTES, unfit_attributes
from commonir.formats.onnx import unknown_fields
from commonir.formats.onnx.attributes import AttributeType, bytes_of, write_literal
from commonir.formats.onnx.element_types import data_type, write_type
from commonir.formats.onnx.external_data import source_of
from commonir.formats.onnx.messages import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    NodeProto,
    Repeated,
    StringStringEntryProto,
    TensorProto,
    ValueInfoProto,
    create,
)
from commonir.formats.onnx.read_types import TypeReader
from commonir.formats.onnx.tensors import write_contents, write_typed
from commonir.formats.onnx.unknown_fields import merge
from commonir.formats.onnx.value_names import value_names
from commonir.ir.attributes import ArrayAttr, Attribute, DataAttr, DenseArrayAttr, DictionaryAttr, StringAttr, TypeAttr
from commonir.ir.data import Data
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import DialectType, ElementType, Type, string, symbols_of, unknown
from commonir.ods import Op, attr_types, path_of
from commonir.ods.definition import ATTRIBUTE_REFERENCES
from commonir.ods.fields import MISSING, Field

_NAME = "name"
"""The field that a message about an attribute begins with."""
_DEEPEST = 31
"""How deep graphs nest: protobuf runtimes read messages nested at most 100 deep, of which the outermost graph with the
sizes of its values takes 6, and each one inside of it, in an attribute of a node, 3 more.
"""


_MAY_BE_EXTERNAL = 1024
"""The least size of tensors in nodes and nested graphs that become external. Units: bytes."""


class Weight(NamedTuple):
    """An initializer of the outermost graph, or another tensor: its message, and its contents when these are not in it.

    `is_typed` says that the file holds the contents in the field of their type.
    """

    header: TensorProto
    data: Data | None
    is_typed: bool = False


def items(attribute: Attribute | None) -> tuple[Attribute, ...]:
    """Returns the items of an array; an empty tuple when there is none."""
    return attribute.values if isinstance(attribute, ArrayAttr) else ()


def text(value: object) -> str:
    """A text; an empty one when there is none."""
    return value.value if isinstance(value, StringAttr) else ""


def write_texts(op: Operation, into: Repeated[StringStringEntryProto]) -> None:
    """Fills in the metadata that an operation has by their names."""
    entries = op.extra.get(onnx.METADATA)
    for key, value in entries.entries if isinstance(entries, DictionaryAttr) else ():
        add_text(into, key, text(value))


def add_text(into: Repeated[StringStringEntryProto], key: str, value: str) -> None:
    """Adds a text with its name."""
    built = into.add()
    built.key, built.value = key, value


class GraphEncoder:
    """Encodes one graph or function. Formats that hold more than ONNX refine what they need to."""

    def __init__(self, outer: onnx.Graph | onnx.LocalFunction, diagnostics: Diagnostics, node_names: set[str]) -> None:
        self.outer = outer
        self.diagnostics = diagnostics
        self.names: Mapping[Value, str] = value_names(outer)
        self.weights: list[Weight] = []
        self.nested_weights: list[Weight] | None = None
        """Receives tensors of nodes and nested graphs that may be external, without contents; None writes these."""
        # Graphs to be encoded: the block, the message, and how many graphs are around it.
        self._pending: list[tuple[Block, GraphProto, int]] = []
        self._depth = 0
        self._is_too_deep = False
        self._node_names = node_names
        self._types = TypeReader()

    def name_of(self, v: Value) -> str:
        """The name of a value; of one that nothing defines, the one that the file had."""
        return self.names.get(v, v.name)

    def graph(self) -> GraphProto:
        """The message of the outermost graph."""
        result = create(GraphProto)
        if self.outer.symbol_name or unknown_fields.UNNAMED not in self.outer.extra:
            result.name = self.outer.symbol_name
        self._pending.append((self.outer.body, result, 0))
        self._run()
        return result

    def function(self, op: onnx.LocalFunction, into: FunctionProto) -> None:
        """Fills in the message of a local function, without versions of operator sets."""
        into.name = op.function_name
        if op.domain:
            into.domain = op.domain
        if op.overload:
            into.overload = op.overload
        into.input.extend([self.names.get(v, v.name) for v in op.inputs])
        into.output.extend([self.names.get(v, v.name) for v in op.outputs])
        into.attribute.extend(op.required_attributes)
        self.dictionary(op, op.default_attributes, (), (), into.attribute_proto)
        for inner in op.body.operations:
            if not isinstance(inner, onnx.Return):
                self.operation(inner, op.body, into)
        self._value_infos(op, op.body, into.value_info)
        doc = text(op.extra.get(onnx.DOC_STRING))
        if doc:
            into.doc_string = doc
        self._metadata(op, into.metadata_props)
        self._merge(op.extra.get(unknown_fields.FIELDS), into, op)
        self._run()

    def nested(self, block: Block, into: GraphProto, name: str) -> None:
        """Defers the encoding of a nested graph; reports the first one that is too deep. `name` is the default name."""
        last = block.last
        if block.label or last is None or unknown_fields.UNNAMED not in last.extra:
            into.name = block.label or name
        if self._depth < _DEEPEST:
            self._pending.append((block, into, self._depth + 1))
        elif not self._is_too_deep:
            self._is_too_deep = True
            message = f"graphs are nested more than {_DEEPEST} deep, which readers of ONNX refuse"
            help = "unroll inner loops or branches"
            self.diagnostics.add(NOT_IN_FORMAT, message, where=self.outer.symbol_name, help=help)

    def _run(self) -> None:
        while self._pending:
            block, into, self._depth = self._pending.pop()
            self._block(block, into)

    def _merge(self, form: Attribute | None, into: unknown_fields.M, op: Operation) -> unknown_fields.M:
        """Puts back what was kept of a message."""
        try:
            return merge(form, into)
        except DiagnosticError as error:
            self.diagnostics.extend([d.located(where=path_of(op)) for d in error.diagnostics])
            return into

    def _metadata(self, op: Operation, into: Repeated[StringStringEntryProto]) -> None:
        """Fills in the metadata that a part of a model has."""
        write_texts(op, into)
        for form in items(op.extra.get(unknown_fields.METADATA_FORMS)):
            self._merge(form, into.add(), op)

    # -- graphs

    def _block(self, block: Block, into: GraphProto) -> None:
        last = block.last
        end = last if isinstance(last, onnx.Return) else None
        is_outer = block is self.outer.body
        holder: Operation | None = self.outer if is_outer else end
        results = () if end is None else end.outputs
        self._inputs(holder, block, into)
        repetitions = unknown_fields.Repetitions()
        for v in results:
            repetition = repetitions.of(self.names.get(v, v.name))
            self.value_info(v, "output", holder, into.output.add(), repetition)
        for op in block.operations:
            match op:
                case onnx.Return():
                    continue
                case onnx.Initializer():
                    self._initializer(op, into, is_outer=is_outer)
                case onnx.SparseInitializer():
                    self._sparse_initializer(op, into)
                case _:
                    self.operation(op, block, into)
        if is_outer:
            self._defaults()
        if holder is None:
            return
        self._value_infos(holder, block, into.value_info)
        doc = text(holder.extra.get(onnx.DOC_STRING))
        if doc:
            into.doc_string = doc
        self._metadata(holder, into.metadata_props)
        for form in items(holder.extra.get(unknown_fields.ANNOTATIONS)):
            self._merge(form, into.quantization_annotation.add(), holder)
        self._merge(holder.extra.get(unknown_fields.FIELDS), into, holder)

    def _inputs(self, holder: Operation | None, block: Block, into: GraphProto) -> None:
        declared = None if holder is None else unknown_fields.kept_names(holder, unknown_fields.DECLARED_INPUTS)
        if holder is None or declared is None:
            for v in block.arguments:
                self.value_info(v, "input", holder, into.input.add())
            return
        own = {self.names.get(v, v.name): v for v in block.arguments}
        constants = {
            self.name_of(op.output): op.output
            for op in block.operations
            if isinstance(op, onnx.Initializer | onnx.SparseInitializer)
        }
        # Those that came after the file was read come last.
        for name in [*declared, *(name for name in own if name not in declared)]:
            v = own.get(name) or constants.get(name)
            if v is not None:
                self.value_info(v, "input", holder, into.input.add())

    def _value_infos(self, holder: Operation, block: Block, into: Repeated[ValueInfoProto]) -> None:
        """Types of the values inside of a graph: those that the file states, or all that are known."""
        last = block.last
        outputs = last.outputs if isinstance(last, onnx.Return) else ()
        shown = {*block.arguments, *outputs}
        declared = unknown_fields.kept_names(holder, unknown_fields.VALUE_INFO)
        values = [v for op in block.operations for v in op.results if v in self.names]
        if declared is None:
            for v in values:
                if v not in shown and not isinstance(v.owner, onnx.Initializer | onnx.SparseInitializer):
                    self.value_info(v, "value", holder, into.add())
            return
        by_name = {self.name_of(v): v for v in (*block.arguments, *values)}
        forms = unknown_fields.stored(holder, unknown_fields.TYPE_FORMS)
        repetitions = unknown_fields.Repetitions()
        for name in declared:
            v, repetition = by_name.get(name), repetitions.of(name)
            key = unknown_fields.form_key("value", name, repetition)
            if v is not None:
                self.value_info(v, "value", holder, into.add(), repetition)
            elif key in forms:
                self._merge(forms[key], into.add(), holder)

    def value_info(
        self, v: Value, part: str, holder: Operation | None, into: ValueInfoProto, repetition: int = 0
    ) -> None:
        """Fills in what a graph says of a value: as the file did, when the type is still the same."""
        name = self.names.get(v, v.name)
        forms = {} if holder is None else unknown_fields.stored(holder, unknown_fields.TYPE_FORMS)
        form = forms.get(unknown_fields.form_key(part, name, repetition)) if forms else None
        other = None
        if forms and form is None and part == "output":
            other = forms.get(unknown_fields.form_key(part, name, repetition, v.type))
        if other is not None and holder is not None:
            self._merge(other, into, holder)
            return
        if form is not None and holder is not None:
            self._merge(form, into, holder)
            type, _ = self._types.knowing(symbols_of([v.type])).read(into.type)
            if type in (v.type, unknown) or part == "value" or isinstance(v.owner, onnx.Initializer):
                return
            into.ClearField("type")
        into.name = name
        if v.type is unknown:
            return
        try:
            write_type(v.type, into.type)
        except ValueError as error:
            self.diagnostics.add(NOT_IN_FORMAT, f"value '{into.name}': {error}")

    # -- constants

    def _defaults(self) -> None:
        """Initializers of the names of inputs, which stand for inputs that are not given."""
        if not isinstance(self.outer, onnx.Graph):
            return
        content = dict(self.outer.defaults.entries)
        for v in self.outer.inputs:
            default = content.get(v.name)
            if isinstance(default, DataAttr):
                header = create(TensorProto)
                header.name = self.names.get(v, v.name)
                storage = text(unknown_fields.stored(self.outer, unknown_fields.STORAGE).get(v.name))
                self._weight(header, default.data, storage)
                self._merge(
                    unknown_fields.stored(self.outer, unknown_fields.DEFAULT_FIELDS).get(v.name), header, self.outer
                )
        order = unknown_fields.kept_names(self.outer, unknown_fields.INITIALIZER_ORDER)
        if order is not None:
            places = {name: n for n, name in enumerate(order)}
            self.weights.sort(key=lambda w: places.get(w.header.name, len(places)))

    def _initializer(self, op: onnx.Initializer, into: GraphProto, *, is_outer: bool) -> None:
        header = create(TensorProto) if is_outer else into.initializer.add()
        header.name = self.name_of(op.output)
        storage = text(op.extra.get(unknown_fields.STORAGE))
        if op.constant_data() is None:
            self.diagnostics.add(NOT_IN_FORMAT, f"constant '{header.name}' has no contents", where=path_of(op))
        elif is_outer:
            self._weight(header, op.value, storage)
        else:
            self.tensor(op.value, header, storage)
        self._merge(op.extra.get(unknown_fields.FIELDS), header, op)

    def _weight(self, header: TensorProto, data: Data, storage: str) -> None:
        """Keeps an initializer of the outermost graph; contents that are raw stay where they are."""
        if data.element is string or unknown_fields.KEPT in storage:
            self.tensor(data, header, storage)
            self.weights.append(Weight(header, None))
        else:
            self._tensor_header(data, header)
            self.weights.append(Weight(header, data, unknown_fields.TYPED in storage))

    def _sparse_initializer(self, op: onnx.SparseInitializer, into: GraphProto) -> None:
        built = into.sparse_initializer.add()
        stored = unknown_fields.stored(op, unknown_fields.STORAGE)
        built.values.name = self.name_of(op.output)
        self.tensor(op.values, built.values, text(stored.get("values")))
        self.tensor(op.indices, built.indices, text(stored.get("indices")))
        built.dims.extend(op.dims)
        self._merge(op.extra.get(unknown_fields.FIELDS), built, op)

    def tensor(self, data: Data, into: TensorProto, storage: str = "") -> None:
        """Fills in a tensor."""
        self._tensor_header(data, into)
        if unknown_fields.TYPED in storage:
            write_typed(data, into)
        elif unknown_fields.KEPT not in storage:
            is_large = data.element is not string and (
                data.size_bytes >= _MAY_BE_EXTERNAL or source_of(data) is not None
            )
            if is_large and self.nested_weights is not None:
                self.nested_weights.append(Weight(into, data))
            else:
                write_contents(data, into)

    def _tensor_header(self, data: Data, into: TensorProto) -> None:
        try:
            into.data_type = data_type(data.element)
        except ValueError as error:
            self.diagnostics.add(NOT_IN_FORMAT, f"constant '{into.name}': {error}")
        into.dims.extend(data.shape)

    # -- nodes

    def operation(self, op: Operation, block: Block, into: GraphProto | FunctionProto) -> None:
        """Encodes an operation of a graph that is neither its end nor a constant."""
        del block
        if isinstance(op, onnx.OnnxOp | onnx.Custom | onnx.Call):
            self.node(op, into.node.add())
        else:
            self.diagnostics.add(NOT_IN_FORMAT, f"{op.name} is not an operator of ONNX", where=path_of(op))

    def node(self, op: Operation, into: NodeProto) -> None:
        """Fills in the message of an operator."""
        name = self._node_name(op)
        if name:
            into.name = name
        if isinstance(op, onnx.Custom | onnx.Call):
            inputs = self._open_node(op, into)
        elif isinstance(op, Op):
            inputs = self._defined_node(op, into)
        else:
            return
        outputs = trimmed([self.names.get(v, "") for v in op.results])
        of_inputs, of_outputs = trailing_names(op)
        into.input.extend([*inputs, *[""] * of_inputs])
        into.output.extend([*outputs, *[""] * of_outputs])
        if not op.extra:
            return
        doc = text(op.extra.get(onnx.DOC_STRING))
        if doc:
            into.doc_string = doc
        self._metadata(op, into.metadata_props)
        for form in items(op.extra.get(unknown_fields.DEVICES)):
            self._merge(form, into.device_configurations.add(), op)
        self._merge(op.extra.get(unknown_fields.FIELDS), into, op)

    def _node_name(self, op: Operation) -> str:
        """The name that the operation had; several made of one get a number, for names of nodes must differ."""
        declared = text(op.extra.get(onnx.NODE_NAME))
        if declared:
            return declared
        name = stem = op.source_name
        number = 0
        while name in self._node_names:
            number += 1
            name = f"{stem}_{number}"
        if name:
            self._node_names.add(name)
        return name

    def _defined_node(self, op: Op, into: NodeProto) -> list[str]:
        domain, into.op_type = onnx.operator_of(op.name)
        if domain:
            into.domain = domain
        inputs: list[str] = []
        for f in op.layout.inputs:
            v: Value | tuple[Value, ...] | None = op.field_value(f)
            if isinstance(v, tuple):
                inputs += [self.name_of(u) for u in v]
            else:
                inputs.append("" if v is None else self.name_of(v))
        self._attributes(op, into.attribute)
        return trimmed(inputs)

    def _attributes(self, op: Op, into: Repeated[AttributeProto]) -> None:
        """Fills in the attributes of a definition in the order of the file."""
        references = unknown_fields.stored(op, ATTRIBUTE_REFERENCES)
        unfit: Mapping[str, Attribute] = unfit_attributes(op) if UNFIT_ATTRIBUTES in op.extra else {}
        names = list(dict.fromkeys([*unknown_fields.written_attributes(op), *references, *unfit]))
        declared = unknown_fields.kept_names(op, unknown_fields.ATTRIBUTE_ORDER)
        if declared is not None:
            # What is a default now, but is stated, is written; what came later comes last.
            stated = set(declared)
            names = [*declared, *(name for name in names if name not in stated)]
        if not names:
            return
        fields = {f.spelling: f for f in (*op.layout.attributes, *op.layout.regions)}
        rests = unknown_fields.stored(op, unknown_fields.ATTRIBUTE_FIELDS)
        storage = unknown_fields.stored(op, unknown_fields.STORAGE)
        for name in names:
            f = fields.get(name)
            if name in unfit:
                self._open_attribute(name, unfit[name], rests.get(name), into.add(), op)
                continue
            if name in references:
                built = into.add()
                built.name, built.ref_attr_name = name, text(references[name])
            elif f is not None and (value := op.field_value(f)) is not None and value is not MISSING:
                built = into.add()
                self._attribute(f, value, built, text(storage.get(name)))
            else:
                continue
            self._merge(rests.get(name), built, op)

    def _open_node(self, op: onnx.Custom | onnx.Call, into: NodeProto) -> list[str]:
        if isinstance(op, onnx.Call):
            callee = op.callee
            if callee is None:
                self.diagnostics.add(NOT_IN_FORMAT, f"there is no function '{op.function}'", where=path_of(op))
            else:
                into.op_type = callee.function_name
                if callee.domain:
                    into.domain = callee.domain
                if callee.overload:
                    into.overload = callee.overload
        else:
            into.op_type = op.op_type
            if op.domain:
                into.domain = op.domain
            if op.overload:
                into.overload = op.overload
        self.dictionary(op, op.attributes, op.graph_names, op.graphs, into.attribute)
        arguments = iter([self.name_of(v) for v in op.inputs])
        count = len(op.inputs) + len(op.absent)
        return ["" if n in op.absent else next(arguments) for n in range(count)]

    def dictionary(
        self,
        op: Operation,
        attributes: DictionaryAttr,
        graph_names: Sequence[str],
        graphs: Sequence[Region],
        into: Repeated[AttributeProto],
    ) -> None:
        """Fills in attributes without a definition, in the order of the file."""
        values: dict[str, Attribute | Region] = dict(attributes.entries)
        values |= dict(zip(graph_names, graphs, strict=True))
        references = unknown_fields.stored(op, ATTRIBUTE_REFERENCES)
        values |= references
        rests = unknown_fields.stored(op, unknown_fields.ATTRIBUTE_FIELDS)
        declared = unknown_fields.kept_names(op, unknown_fields.ATTRIBUTE_ORDER) or []
        for name in [*(n for n in declared if n in values), *(n for n in values if n not in declared)]:
            built = into.add()
            value = values[name]
            if name in references:
                built.name, built.ref_attr_name = name, text(value)
                self._merge(rests.get(name), built, op)
            elif isinstance(value, Region):
                built.name, built.type = name, AttributeType.GRAPH
                self.nested(value.block, built.g, name)
                self._merge(rests.get(name), built, op)
            else:
                self._open_attribute(name, value, rests.get(name), built, op)

    def _open_attribute(
        self, name: str, value: Attribute, rest: Attribute | None, into: AttributeProto, op: Operation
    ) -> None:
        """Fills in an attribute without a definition, with what was kept of its message."""
        if isinstance(value, DictionaryAttr) and value.entries and value.entries[0][0] == _NAME:
            # A message that has no other form.
            self._merge(value, into, op)
            return
        entries = dict(rest.entries) if isinstance(rest, DictionaryAttr) else {}
        storage = text(entries.pop(unknown_fields.STORAGE, None))
        into.name = name
        self.open_attribute(value, into, storage)
        self._merge(DictionaryAttr(tuple(entries.items())), into, op)

    def open_attribute(self, value: Attribute, into: AttributeProto, storage: str) -> None:
        """Fills in an attribute without a definition."""
        match value:
            case DataAttr(data=data):
                into.type = AttributeType.TENSOR
                self.tensor(data, into.t, storage)
            case TypeAttr() if unknown_fields.KEPT in storage:
                into.type = AttributeType.TYPE_PROTO
            case ArrayAttr() if unknown_fields.KEPT in storage:
                into.type = AttributeType.TYPE_PROTOS
            case TypeAttr() | ArrayAttr():
                self._types_attribute([value] if isinstance(value, TypeAttr) else value.values, into, value)
            case DictionaryAttr() if self._sparse(value, into, storage):
                pass
            case _ if not write_literal(value, into):
                self.diagnostics.add(NOT_IN_FORMAT, f"attribute '{into.name}' has no form in ONNX")
            case _:
                pass
        _as_stored(into, storage)

    def _types_attribute(self, values: Iterable[Attribute], into: AttributeProto, whole: Attribute) -> None:
        types = [v.type for v in values if isinstance(v, TypeAttr)]
        if isinstance(whole, ArrayAttr) and not types:
            write_literal(whole, into)
            return
        self._types_of(types, into, is_list=isinstance(whole, ArrayAttr))

    def _types_of(self, types: Iterable[Type], into: AttributeProto, *, is_list: bool) -> None:
        into.type = AttributeType.TYPE_PROTOS if is_list else AttributeType.TYPE_PROTO
        for t in types:
            try:
                write_type(t, into.type_protos.add() if is_list else into.tp)
            except ValueError as error:
                self.diagnostics.add(NOT_IN_FORMAT, f"attribute '{into.name}': {error}")

    def _attribute(self, f: Field, value: object, into: AttributeProto, storage: str) -> None:
        into.name = f.spelling
        match value:
            case Region():
                into.type = AttributeType.GRAPH
                self.nested(value.block, into.g, f.name)
            case bool() | int():
                into.type, into.i = AttributeType.INT, int(value)
            case float():
                into.type, into.f = AttributeType.FLOAT, value
            case Enum():
                into.type, into.s = AttributeType.STRING, str(value.value).encode()
            case str():
                into.type, into.s = AttributeType.STRING, bytes_of(value)
            case ElementType() if not isinstance(value, DialectType):
                into.type, into.i = AttributeType.INT, data_type(value)
            case Data():
                into.type = AttributeType.TENSOR
                self.tensor(value, into.t, storage)
            case Type() if unknown_fields.KEPT in storage:
                into.type = AttributeType.TYPE_PROTO
            case Type():
                self._types_of([value], into, is_list=False)
            case DictionaryAttr() if self._sparse(value, into, storage):
                pass
            case Sequence():
                self._list(f, value, into)  # pyright: ignore[reportUnknownArgumentType]  a tuple of anything
            case _:
                self.diagnostics.add(NOT_IN_FORMAT, f"attribute '{f.spelling}' has no form in ONNX: {value!r}")
        _as_stored(into, storage)

    def _sparse(self, value: DictionaryAttr, into: AttributeProto, storage: str) -> bool:
        """Fills in a sparse tensor; returns False if the dictionary is not one."""
        if unknown_fields.KEPT in storage:
            into.type = AttributeType.SPARSE_TENSOR
            return True
        match value:
            case DictionaryAttr(
                entries=(
                    ("values", DataAttr(data=stored)),
                    ("indices", DataAttr(data=indices)),
                    ("dims", DenseArrayAttr(values=dims)),
                )
            ):
                into.type = AttributeType.SPARSE_TENSOR
                self.tensor(stored, into.sparse_tensor.values)
                self.tensor(indices, into.sparse_tensor.indices)
                into.sparse_tensor.dims.extend(map(int, dims))
                return True
            case _:
                return False

    def _list(self, f: Field, value: Sequence[object], into: AttributeProto) -> None:
        if f.type is attr_types.integers:
            into.type = AttributeType.INTS
            into.ints.extend(value)
        elif f.type is attr_types.numbers:
            into.type = AttributeType.FLOATS
            into.floats.extend(value)
        else:
            into.type = AttributeType.STRINGS
            into.strings.extend([bytes_of(str(v)) for v in value])


def _as_stored(into: AttributeProto, storage: str) -> None:
    """Takes away what the file leaves out: the kind of an attribute, or a value that is zero or empty."""
    if not storage:
        return
    words = storage.split()
    if unknown_fields.UNTYPED in words:
        into.ClearField("type")
    if unknown_fields.IMPLICIT in words and not into.f and not into.i and not into.s:
        for name in ("f", "i", "s"):
            into.ClearField(name)


def trailing_names(op: Operation) -> tuple[int, int]:
    """Returns the numbers of empty names that the inputs and outputs of a node end with in its file."""
    empty = op.extra.get(onnx.TRAILING_NAMES)
    of_inputs, of_outputs = empty.values if isinstance(empty, DenseArrayAttr) else (0, 0)
    return int(of_inputs), int(of_outputs)


def trimmed(names: list[str]) -> list[str]:
    """Names without the absent ones at the end."""
    while names and not names[-1]:
        names.pop()
    return names
