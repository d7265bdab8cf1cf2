"""Nodes of ONNX files as operations: of the definition of their operator, calls of local functions, or of none known.

Source: ONNX IR specification, nodes and attributes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from commonir.base.codes import DUPLICATE_NAME, WRONG_ATTRIBUTE
from commonir.base.diagnostics import Code, DiagnosticError, Diagnostics, Fix
from commonir.base.file_codes import QUESTIONABLE_MODEL
from commonir.base.limits import Limits
from commonir.base.text import escape
from commonir.base.tuples import NamedTuple
from commonir.dialects import onnx
from commonir.dialects.onnx.attribute_values import UNFIT_ATTRIBUTES, coerced, meant
from commonir.formats.onnx import unknown_fields
from commonir.formats.onnx.attributes import (
    PLAIN_VALUES,
    VALUE_NUMBERS,
    AttributeType,
    is_repeated,
    kind_of,
    literal_of,
    misplaced_value_in,
    value_of,
)
from commonir.formats.onnx.declaring import Listed, Message
from commonir.formats.onnx.messages import (
    AttributeProto,
    GraphProto,
    NodeProto,
    SparseTensorProto,
    StringStringEntryProto,
    TensorProto,
)
from commonir.formats.onnx.read_types import TypeReader
from commonir.formats.onnx.references import node_part
from commonir.formats.onnx.scopes import NameScope
from commonir.formats.onnx.tensors import TensorError
from commonir.formats.onnx.unknown_fields import array, form_of, keep, leftover
from commonir.ir.attributes import (
    ArrayAttr,
    Attribute,
    DataAttr,
    DenseArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    TypeAttr,
    UnitAttr,
)
from commonir.ir.data import Data
from commonir.ir.equality import are_equal
from commonir.ir.interface import are_keys
from commonir.ir.module import Instances
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.origins import Location
from commonir.ir.types import DialectType, ElementType, Type, i64, unknown
from commonir.notation import NotationError
from commonir.ods import Dialects, Op, attr_types, known_data
from commonir.ods.definition import ATTRIBUTE_REFERENCES, FieldLayout
from commonir.ods.fields import Field

if TYPE_CHECKING:
    from google.protobuf.descriptor import FieldDescriptor

_Open = TypeVar("_Open", onnx.Custom, onnx.Call)

# Numbers of the fields that have a place in an operation; the domain and the overload only where they say something.
_OF_NODE = frozenset({1, 2, 3, 4, 5, 6, 7, 9, 10})
_OF_CUSTOM = _OF_NODE | {8}
_INPUT, _OUTPUT, _NODE_NAME, _OP_TYPE, _ATTRIBUTE, _DOMAIN = 1, 2, 3, 4, 5, 7
# The fields of most nodes, and which of them are texts.
_PLAIN = frozenset({1, 2, 3, 4, 5, 7})
_TEXTS = {3: "name", 4: "op_type", 7: "domain"}
_NAME, _TYPE, _REFERENCE = 1, 20, 21
_OF_PLAIN = 3
"""Fields of an attribute that says its name, its kind and its value and no more."""
_DEFAULT_DOMAIN = "ai.onnx"
_GRAPH = AttributeType.GRAPH
_GRAPHS = (_GRAPH, AttributeType.GRAPHS)

_OPEN = (onnx.Custom, onnx.Call)

_REFERENCE_KINDS: Mapping[object, AttributeType] = MappingProxyType(
    {
        attr_types.number: AttributeType.FLOAT,
        attr_types.numbers: AttributeType.FLOATS,
        attr_types.integer: AttributeType.INT,
        attr_types.flag: AttributeType.INT,
        attr_types.element: AttributeType.INT,
        attr_types.integers: AttributeType.INTS,
        attr_types.string: AttributeType.STRING,
        attr_types.strings: AttributeType.STRINGS,
    }
)
"""Kinds of attributes that references state for kinds of fields, where there is one only."""

Rest = list[tuple[str, Attribute]]


class ReadAttribute(NamedTuple):
    """An attribute: its value, what of its message has no other place, and how a tensor is held.

    The value is None for a reference to an attribute of the function around, which is `reference`.
    """

    value: object
    rest: Sequence[tuple[str, Attribute]] = ()
    storage: str = ""
    reference: str = ""


class Malformed(Exception):
    """A node is not what the definition of its operator says."""

    def __init__(self, code: Code, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.help = help


class Misfit(Exception):
    """A node is not one of the definition of its operator. It can be kept as it is, and the verifier says why."""


class NodeDecoder(ABC):
    """Decodes nodes. `place` is the current location, for messages; `faulty` are locations with reported errors."""

    merges_constants = True
    """Several constants of one name are the last of them, which onnxruntime takes."""

    def __init__(self, dialects: Dialects, diagnostics: Diagnostics, limits: Limits, *, keeps_unknown: bool) -> None:
        self.dialects = dialects
        self.diagnostics = diagnostics
        self.types = TypeReader(limits)
        self.place = ""
        self.faulty: set[str] = set()
        self.keeps_unknown = keeps_unknown
        self.functions: dict[tuple[str, str, str], str] = {}
        self.local_functions: dict[str, onnx.LocalFunction] = {}
        self._instances = Instances()
        self._versions: Mapping[str, int] = {}
        self.assumed_versions: Mapping[str, int] = {}
        self._definitions: dict[tuple[str, str], type[Op] | None] = {}
        self._node_names: set[str] = set()
        self._empty: dict[tuple[str, ...], DictionaryAttr] = {}
        self._at: tuple[NodeProto, int] | None = None

    # -- graphs and tensors are defined in subclasses

    @abstractmethod
    def nested(self, proto: GraphProto, around: NameScope | None) -> Region:
        """A graph inside of an attribute."""

    @abstractmethod
    def data(self, proto: TensorProto) -> Data:
        """The contents of a tensor. Raises: TensorError."""

    @abstractmethod
    def around_contents(self, tensor: TensorProto, *, named: bool = True) -> tuple[Rest, str]:
        """Returns the fields of a tensor beyond its contents, and how it stores them; `named`: its name is that of a
        value.
        """

    # -- shared by all parts

    def use_versions(self, opsets: DictionaryAttr) -> None:
        """Reads nodes by these versions of operator sets from here on."""
        declared = {domain: v.value for domain, v in opsets.entries if isinstance(v, IntegerAttr)}
        self._versions = {**self.assumed_versions, **declared}
        self._definitions = {}

    def report(self, code: Code, message: str, part: str, help: str | None = None, fix: Fix | None = None) -> None:
        """Records a finding about a part of the current graph or function."""
        where = self._path(part)
        if fix is None:
            # What is read as it was meant can be verified.
            self.faulty.add(where)
        self.diagnostics.add(code, message, where=where, help=help, fix=fix)

    def _path(self, part: str) -> str:
        return f"{self.place}.{part}" if self.place else part

    def leftover(self, message: Message, values: frozenset[int], listed: Listed | None = None) -> Rest:
        """Returns the fields of a message that have no other place; `listed` are all its fields, where known."""
        return leftover(message, values, listed, keeps_unknown=self.keeps_unknown)

    def keep_texts(self, op: Operation, doc: str, metadata: Iterable[StringStringEntryProto]) -> None:
        """Keeps documentation and metadata of a part of a model."""
        if doc:
            op.set_extra(onnx.DOC_STRING, StringAttr(doc))
        entries = list(metadata)
        if not entries:
            return
        texts = tuple([(e.key, StringAttr(e.value)) for e in entries])
        is_whole = all(e.HasField("key") and e.HasField("value") and not self.has_unknown(e) for e in entries)
        if is_whole and are_keys([key for key, _ in texts]):
            op.set_extra(onnx.METADATA, DictionaryAttr(texts))
        else:
            op.set_extra(unknown_fields.METADATA_FORMS, array(map(form_of, entries)))

    def has_unknown(self, message: Message) -> bool:
        """Returns whether a message has unknown fields; these are preserved."""
        return self.keeps_unknown and unknown_fields.has_unknown(message)

    def define(self, name: str, value: Value, scope: NameScope, part: str) -> None:
        """Makes a name stand for a value from here on."""
        before = scope.values.get(name)
        if scope.define(name, value):
            return
        removed = _replace_constant(before, value) if before is not None and self.merges_constants else None
        if removed is not None:
            text = f"'{name}' is defined twice: the last constant of a name is its value everywhere, as in onnxruntime"
            self.diagnostics.add(QUESTIONABLE_MODEL, text, where=self._path(part), fix=Fix(removed))
            return
        self.report(DUPLICATE_NAME, f"'{name}' is defined twice", part, fix=_removal(value, before, scope))

    # -- nodes

    def node(self, node: NodeProto, n: int, block: Block, scope: NameScope) -> None:
        """Reads a node and puts it at the end of a block."""
        present: dict[int, Any] = {f.number: content for f, content in node.ListFields()}
        # As lists, because each look into a message makes its texts anew.
        if _INPUT in present:
            present[_INPUT] = present[_INPUT][:]
        outputs: list[str] = present[_OUTPUT][:] if _OUTPUT in present else []
        trailing = _without_trailing(outputs) if outputs and not outputs[-1] else 0
        declared = scope.declared
        types = [declared.get(name, unknown) for name in outputs]
        self._at = node, n
        op = self.operation(node, present, n, types, scope)
        name = present.get(_NODE_NAME)
        if name:
            op.location = Location(name=name)
        block.append(op)
        for v, output in zip(op.results, outputs, strict=False):
            v.name = output
        takes_any_attributes = isinstance(op, _OPEN)
        self.keep_node(op, node, present, trailing, takes_any_attributes=takes_any_attributes)
        if not takes_any_attributes and isinstance(op, Op):
            onnx.infer_results(op)
        part = node_part(node, n)
        for v in op.results:
            if v.name:
                if scope.hides(v.name):
                    op.set_extra(onnx.HIDING_RESULTS, UnitAttr())
                self.define(v.name, v, scope, part)
        if name:
            if name in self._node_names:
                # The writer makes names unique.
                op.set_extra(onnx.NODE_NAME, StringAttr(name))
            self._node_names.add(name)
        if (not outputs or "" in outputs) and op.results:
            op.set_extra(onnx.UNNAMED_RESULTS, UnitAttr())

    def keep_node(
        self, op: Operation, node: NodeProto, present: Mapping[int, Any], trailing: int, *, takes_any_attributes: bool
    ) -> None:
        """Preserves what a node says and its operation has no field for. `present` are its fields by number, `trailing`
        counts its empty outputs at the end. With `takes_any_attributes` it has no declared attributes.
        """
        if self.keeps_unknown or not _PLAIN.issuperset(present):
            keep(op, unknown_fields.FIELDS, self.leftover(node, _OF_CUSTOM if takes_any_attributes else _OF_NODE))
            self.keep_texts(op, node.doc_string, node.metadata_props[:])
            if len(node.device_configurations):
                op.set_extra(unknown_fields.DEVICES, array(map(form_of, node.device_configurations)))
        else:
            domain = present.get(_DOMAIN)
            if domain == "" or present.get(_NODE_NAME) == "" or present.get(_OP_TYPE) == "":
                empty = tuple([name for number, name in _TEXTS.items() if present.get(number) == ""])
                op.set_extra(unknown_fields.FIELDS, self._empty_texts(empty))
        inputs = present.get(_INPUT)
        before = _without_trailing(inputs[:]) if inputs and not inputs[-1] else 0
        if before or trailing:
            op.set_extra(onnx.TRAILING_NAMES, DenseArrayAttr(i64, (before, trailing)))
        if present.get(_DOMAIN) == _DEFAULT_DOMAIN and not takes_any_attributes:
            unknown_fields.add(op, unknown_fields.FIELDS, "domain", StringAttr(_DEFAULT_DOMAIN))

    def _empty_texts(self, names: tuple[str, ...]) -> DictionaryAttr:
        """The form of fields of a node that are there and empty. A file says the same of all of its nodes."""
        result = self._empty.get(names)
        if result is None:
            empty = StringAttr("")
            result = self._empty[names] = DictionaryAttr(tuple([(name, empty) for name in names]))
        return result

    def operation(
        self, node: NodeProto, present: Mapping[int, Any], n: int, types: list[Type], scope: NameScope
    ) -> Operation:
        """The operation of a node, in no block yet; `said` are its fields by number, and `types` those that the file
        states of its results.
        """
        if self.functions:
            called = self.functions.get((node.domain, node.op_type, node.overload))
            if called is not None:
                return self.call(called, node, types, scope)
        definition = self.definition(present.get(_DOMAIN, ""), present.get(_OP_TYPE, ""))
        if definition is not None:
            try:
                return self.defined(definition, present, types, scope)
            except Misfit:
                pass
            except Malformed as fault:
                self.report(fault.code, str(fault), node_part(node, n), fault.help)
        return self.custom(node, types, scope)

    def definition(self, domain: str, op_type: str) -> type[Op] | None:
        """Returns the definition of an operator in the version of the model."""
        key = domain, op_type
        if key not in self._definitions:
            name = onnx.operation_name(domain, op_type)
            version = self._versions.get(domain)
            is_default = domain in ("", _DEFAULT_DOMAIN)
            if version is None and is_default:
                version = self._versions.get("" if domain else _DEFAULT_DOMAIN)
            elif version is None and name is not None:
                version = onnx.newest_version(domain)  # as onnxruntime takes it; `check` reports that it is missing
            result = None
            if name is not None and version is not None:
                result = self.dialects.find(name, onnx.version_in(domain, version))
                if result is None and is_default:
                    result = self.dialects.find(onnx.added_name(op_type))
            self._definitions[key] = result
        return self._definitions[key]

    def defined(self, definition: type[Op], present: Mapping[int, Any], types: list[Type], scope: NameScope) -> Op:
        """An operation of a definition, of the fields of a node by number.

        Raises: Misfit for a node that has more than the operation can hold; Malformed.
        """
        layout = definition.layout
        operands, offsets = _operands(layout, present, scope)
        entries = present.get(_ATTRIBUTE)
        if entries is None:
            regions = _regions(layout, {}) if layout.regions else ()
            return definition.assembled(operands, offsets, layout.unset, regions, types)
        attributes = list(layout.unset)
        graphs: dict[int, Region] = {}
        read: list[tuple[str, ReadAttribute]] = []
        known, unfit = self._known(definition, entries)
        for place, attribute in known:
            f, value = layout.attributes[place], self.attribute(attribute, scope)
            if value.reference:
                _require_kind(f, attribute)
            else:
                try:
                    attributes[place] = coerced(f, value.value)
                except ValueError:
                    attributes[place] = _meant(f, value.value)
                    unfit.append(attribute)
                    continue
            read.append((f.spelling, value))
        if unfit and any(a.ref_attr_name or kind_of(a) in _GRAPHS for a in unfit):
            raise Misfit
        # Graphs are read once, when it is certain that the operation can hold them.
        for n, name, attribute in _graphs_in(layout, entries) if layout.regions else ():
            value = self.attribute(attribute, scope)
            if isinstance(value.value, Region):
                graphs[n] = value.value
            read.append((name, value))
        regions = _regions(layout, graphs) if layout.regions else ()
        op = definition.assembled(operands, offsets, tuple(attributes), regions, types)
        self._keep_attributes(op, list(dict.fromkeys([a.name for a in entries])), read, unfit)
        return op

    def _known(
        self, definition: type[Op], entries: Iterable[AttributeProto]
    ) -> tuple[list[tuple[int, AttributeProto]], list[AttributeProto]]:
        """Returns the attributes of a node with the places of their fields, and those that the definition lacks; graphs
        are left out.

        Raises: Malformed for one that has two values.
        """
        layout = definition.layout
        known: list[tuple[int, AttributeProto]] = []
        unknown: list[AttributeProto] = []
        first: dict[str, AttributeProto] = {}
        for attribute in entries:
            name = attribute.name
            if name in first:
                message = f"{definition.name}: attribute '{escape(name)}' is given twice"
                if attribute != first[name] or self._at is None:
                    raise Malformed(WRONG_ATTRIBUTE, message)
                fix = Fix(f"removed the second attribute '{escape(name)}', which is equal")
                self.report(WRONG_ATTRIBUTE, message, node_part(*self._at), fix=fix)
                continue
            first[name] = attribute
            place = layout.spelled.get(name)
            if place is None:
                unknown.append(attribute)
            elif place < len(layout.attributes):
                known.append((place, attribute))
        return known, unknown

    def _keep_attributes(
        self, op: Op, names: list[str], read: Iterable[tuple[str, ReadAttribute]], unfit: Sequence[AttributeProto]
    ) -> None:
        """Keeps what the attributes of a node state beyond the values of fields, and their order."""
        rest: Rest = []
        storage: Rest = []
        references: Rest = []
        for name, value in read:
            if value.rest or value.storage or value.reference:
                rest += [(name, DictionaryAttr(tuple(value.rest)))] if value.rest else ()
                storage += [(name, StringAttr(value.storage))] if value.storage else ()
                references += [(name, StringAttr(value.reference))] if value.reference else ()
        if unfit:
            rest += self._keep_unfit(op, unfit)
        keep(op, ATTRIBUTE_REFERENCES, references)
        keep(op, unknown_fields.ATTRIBUTE_FIELDS, rest)
        keep(op, unknown_fields.STORAGE, storage)
        if names != [*unknown_fields.written_attributes(op), *(name for name, _ in references)]:
            unknown_fields.keep_names(op, unknown_fields.ATTRIBUTE_ORDER, names)

    def _keep_unfit(self, op: Op, unfit: Sequence[AttributeProto]) -> Rest:
        """Keeps attributes that a definition does not have, or has with values of another type."""
        attributes, rest, _ = self.dictionary(unfit, None, node_part(*self._at) if self._at else "")
        op.set_extra(UNFIT_ATTRIBUTES, attributes)
        return rest

    def custom(self, node: NodeProto, types: list[Type], scope: NameScope) -> onnx.Custom:
        """An operator of which no definition is known."""
        arguments = {"op_type": node.op_type, "domain": node.domain, "overload": node.overload}
        return self._open(onnx.Custom, arguments, node, types, scope)

    def call(self, symbol: str, node: NodeProto, types: list[Type], scope: NameScope) -> onnx.Call:
        """A call of a local function."""
        op = self._open(onnx.Call, {"function": symbol}, node, types, scope)
        function = self.local_functions.get(symbol)
        # Functions are read before the graph; where one calls another, the types of its operands are not known yet.
        if function is not None and unknown in types and unknown not in [v.type for v in op.inputs]:
            for v, type in zip(op.results, self._result_types(op, function), strict=False):
                v.retype(type if v.type is unknown else v.type)
        return op

    def _result_types(self, op: onnx.Call, function: onnx.LocalFunction) -> tuple[Type, ...]:
        """Returns the types of the results of a call; empty if they cannot be inferred, which the verifier reports."""
        types = tuple([v.type for v in op.inputs])
        try:
            built = function.instance(types, op.attributes, op.absent, self._instances)
        except (DiagnosticError, NotationError):
            return ()
        return tuple([v.type for v in built.outputs])

    def _open(
        self, kind: type[_Open], arguments: Mapping[str, object], node: NodeProto, types: list[Type], scope: NameScope
    ) -> _Open:
        """An operation that takes any inputs and attributes."""
        names = list(node.input)
        _without_trailing(names)
        attributes, rest, graphs = self.dictionary(node.attribute, scope, node_part(*self._at) if self._at else "")
        references = [(a.name, StringAttr(a.ref_attr_name)) for a in node.attribute if a.ref_attr_name]
        op = kind.build(
            {
                **arguments,
                "attributes": attributes,
                "inputs": tuple([scope.value(name) for name in names if name]),
                "absent": tuple([n for n, name in enumerate(names) if not name]),
                "graphs": tuple([region for _, region in graphs]),
                "graph_names": tuple([name for name, _ in graphs]),
            },
            types,
        )
        keep(op, ATTRIBUTE_REFERENCES, references)
        keep(op, unknown_fields.ATTRIBUTE_FIELDS, rest)
        order = [a.name for a in node.attribute]
        if order != [*(name for name, _ in attributes.entries), *op.graph_names, *(name for name, _ in references)]:
            unknown_fields.keep_names(op, unknown_fields.ATTRIBUTE_ORDER, order)
        return op

    # -- attributes

    def dictionary(
        self, attributes: Iterable[AttributeProto], scope: NameScope | None, node: str = ""
    ) -> tuple[DictionaryAttr, Rest, list[tuple[str, Region]]]:
        """Attributes without a definition: their values, what their messages say beyond, and the graphs among them.

        The faults of a node that was read by its definition before are reported already.
        """
        is_reported = self._path(node) in self.faulty
        entries: Rest = []
        rests: Rest = []
        graphs: list[tuple[str, Region]] = []
        for attribute in attributes:
            element_type = kind_of(attribute)
            try:
                read = self.attribute(attribute, scope)
            except Malformed as fault:
                if not is_reported:
                    self.report(fault.code, str(fault), node or f"attribute '{attribute.name}'")
                continue
            rest: Rest = [*read.rest]
            if isinstance(read.value, Region):
                graphs.append((attribute.name, read.value))
            elif not read.reference:
                value = literal_of(attribute, element_type) or _attribute_of(read.value)
                entries.append((attribute.name, value or form_of(attribute)))
                if value is None:
                    rest = []
                if read.storage:
                    rest.append((unknown_fields.STORAGE, StringAttr(read.storage)))
            if rest:
                rests.append((attribute.name, DictionaryAttr(tuple(rest))))
        return DictionaryAttr(tuple(entries)), rests, graphs

    def attribute(self, attribute: AttributeProto, scope: NameScope | None) -> ReadAttribute:
        """The value of an attribute as a Python value; a message for kinds that have no other form.

        Raises: Malformed.
        """
        present = attribute.ListFields()
        if len(present) == _OF_PLAIN and not self.keeps_unknown:
            (first, _), (field, content), (last, declared) = present
            plain = PLAIN_VALUES.get(declared) if first.number == _NAME and last.number == _TYPE else None
            if plain is not None and field.number == plain.number:
                return ReadAttribute(plain.decoded(content))
        misplaced = misplaced_value_in(attribute)
        if misplaced is not None:
            raise Malformed(WRONG_ATTRIBUTE, f"attribute '{escape(attribute.name)}': {misplaced}")
        element_type = kind_of(attribute)
        if attribute.ref_attr_name:
            return ReadAttribute(
                None, self.leftover(attribute, frozenset({_NAME, _REFERENCE})), "", attribute.ref_attr_name
            )
        number = VALUE_NUMBERS.get(element_type)
        if number is None:
            other = self.other_attribute(attribute)
            if other is None:
                raise Malformed(WRONG_ATTRIBUTE, f"{attribute.type} is not a kind of attribute")
            return ReadAttribute(other)
        rest: Rest = []
        storage = ""
        if len(present) != (2 if is_repeated(element_type) and not _has(present, number) else 3) or self.keeps_unknown:
            rest = self.leftover(attribute, frozenset({_NAME, _TYPE, number}))
            if attribute.type and not is_repeated(element_type) and not _has(present, number):
                storage = unknown_fields.IMPLICIT
        if not attribute.type:
            # A kind that is stated as undefined says no more than none.
            storage, rest = unknown_fields.UNTYPED, [(name, form) for name, form in rest if name != "type"]
        try:
            value, more, content = self._value(attribute, element_type, scope)
        except TensorError as error:
            raise Malformed(WRONG_ATTRIBUTE, f"attribute '{attribute.name}': {error}") from None
        except DiagnosticError as error:
            first = error.diagnostics[0]
            raise Malformed(first.code, f"attribute '{attribute.name}': {first.message}", first.help) from None
        return ReadAttribute(value, [*rest, *more], " ".join(filter(None, (storage, content))))

    def other_attribute(self, proto: AttributeProto) -> Attribute | None:
        """Returns the value of an attribute whose type is not of ONNX; None for an unknown type. Raises: Malformed."""
        del proto
        return None

    def _value(self, proto: AttributeProto, kind: int, scope: NameScope | None) -> tuple[object, Rest, str]:
        """A value, what its message says beyond it, and how a tensor is held."""
        plain = PLAIN_VALUES.get(kind)
        if plain is not None:
            return plain.decoded(value_of(proto, kind)), [], ""
        match kind:
            case AttributeType.TENSOR:
                tensor = proto.t
                rest, storage = self.around_contents(tensor, named=False)
                kept_rest: Rest = [("t", DictionaryAttr(tuple(rest)))] if rest else []
                return self.data(tensor), kept_rest, storage
            case AttributeType.GRAPH:
                return self._graph(proto, scope), [], ""
            case AttributeType.TYPE_PROTO:
                type, is_exact = self.types.read(proto.tp)
                return (type, [], "") if is_exact else (type, [("tp", form_of(proto.tp))], unknown_fields.KEPT)
            case AttributeType.TYPE_PROTOS:
                read = [self.types.read(t) for t in proto.type_protos]
                forms: Rest = [("type_protos", array(map(form_of, proto.type_protos)))]
                is_exact = all(exact for _, exact in read)
                return (
                    tuple([t for t, _ in read]),
                    ([] if is_exact else forms),
                    ("" if is_exact else unknown_fields.KEPT),
                )
            case AttributeType.SPARSE_TENSOR:
                return (
                    self._sparse(proto.sparse_tensor),
                    [("sparse_tensor", form_of(proto.sparse_tensor))],
                    unknown_fields.KEPT,
                )
            case _:
                return proto, [], ""

    def _graph(self, proto: AttributeProto, scope: NameScope | None) -> Region:
        outer, at = self.place, self._at
        if at is not None:
            self.place = f"{outer}.{node_part(*at)}.{proto.name}"
        result = self.nested(proto.g, scope)
        self.place, self._at = outer, at
        return result

    def _sparse(self, proto: SparseTensorProto) -> DictionaryAttr:
        entries: Rest = [
            ("values", DataAttr(self.data(proto.values))),
            ("indices", DataAttr(self.data(proto.indices))),
            ("dims", DenseArrayAttr(i64, tuple(proto.dims))),
        ]
        return DictionaryAttr(tuple(entries))


def _operands(
    layout: FieldLayout, present: Mapping[int, Any], scope: NameScope
) -> tuple[tuple[Value, ...], tuple[int, ...] | None]:
    """The operands of a node, and where those of each input of its definition begin, as operations hold them.

    Raises: Misfit.
    """
    names: list[str] = present.get(_INPUT, [])
    inputs = layout.inputs
    if layout.is_plain and len(names) == len(inputs) and "" not in names:
        known, find = scope.values.get, scope.value
        return tuple([known(name) or find(name) for name in names]), None
    if len(names) > len(inputs) and not (inputs and inputs[-1].variadic):
        raise Misfit
    names = names[:]
    _without_trailing(names)
    operands: list[Value] = []
    offsets = [0]
    at = 0
    for f in inputs:
        if f.variadic:
            if "" in names[at:]:
                raise Misfit
            operands += [scope.value(name) for name in names[at:]]
            at = len(names)
        elif at < len(names):
            if names[at]:
                operands.append(scope.value(names[at]))
            at += 1
        offsets.append(len(operands))
    return tuple(operands), tuple(offsets)


def _regions(layout: FieldLayout, regions: Mapping[int, Region]) -> tuple[Region, ...]:
    """The regions of an operation by their places; one that need not be given is there without blocks."""
    return tuple([regions.get(n) or Region() for n, f in enumerate(layout.regions) if n in regions or f.optional])


def _without_trailing(names: list[str]) -> int:
    """Removes empty names from the end and returns their number."""
    before = len(names)
    while names and not names[-1]:
        names.pop()
    return before - len(names)


def _has(present: Iterable[tuple[FieldDescriptor, object]], number: int) -> bool:
    return any(f.number == number for f, _ in present)


def _graphs_in(layout: FieldLayout, entries: Iterable[AttributeProto]) -> Sequence[tuple[int, str, AttributeProto]]:
    """Returns the attributes of a node that are regions of its definition, with the number and name of the region.

    Raises: Misfit for one that is not a graph.
    """
    first = len(layout.attributes)
    named = {a.name: a for a in entries}
    result = [(place - first, n, a) for n, a in named.items() if (place := layout.spelled.get(n, -1)) >= first]
    if any(kind_of(a) != _GRAPH for _, _, a in result):
        raise Misfit
    return result


def _meant(f: Field, value: object) -> object:
    """Returns the only value of a field that a value of another type can stand for. Raises: Misfit."""
    result = meant(f, value)
    if result is None:
        raise Misfit
    return result.value


def _replace_constant(before: Value, value: Value) -> str | None:
    """Puts a constant in the place of an earlier one of the same graph, and returns what is removed; None unless both
    are constants.
    """
    old, new = before.defining_op, value.defining_op
    if old is None or new is None or old.parent is None or old.operands or new.operands:
        return None
    if known_data(before) is None or known_data(value) is None:
        return None
    is_equal = are_equal(new, old, names=True, shared=True)
    new.detach()
    old.parent.insert_before(old, new)
    before.replace_all_uses_with(value)
    old.erase()
    second, first = (
        f"removed the second definition of '{value.name}'",
        f"removed the first definition of '{value.name}'",
    )
    return f"{second}, which is equal" if is_equal else f"{first}, which the last one replaces"


def _removal(value: Value, before: Value | None, scope: NameScope) -> Fix | None:
    """Returns the fix for a second definition of a name that only repeats the first one, which keeps the name."""
    op, first = value.defining_op, None if before is None else before.defining_op
    if op is None or first is None or before is None or not are_equal(op, first, names=True, shared=True):
        return None
    scope.values[value.name] = before
    return Fix(f"removed the second definition of '{value.name}', which is equal", partial(_erase_unused, op))


def _erase_unused(op: Operation) -> None:
    if op.parent is not None and not any(v.is_used for v in op.results):
        op.erase()


def _require_kind(f: Field, proto: AttributeProto) -> None:
    """Raises: Malformed for a reference that states a kind of attributes that is not that of the field."""
    expected = _REFERENCE_KINDS.get(f.type)
    if expected is not None and proto.type not in (AttributeType.UNDEFINED, expected):
        found = next((k.name for k in AttributeType if k == proto.type), str(proto.type))
        raise Malformed(WRONG_ATTRIBUTE, f"attribute '{f.spelling}': expected {expected.name}, found {found}")


def _attribute_of(value: object) -> Attribute | None:
    """The form of a tensor or type that is the value of an attribute without a definition."""
    match value:
        case Attribute():
            return value
        case Data():
            return DataAttr(value)
        case ElementType() if not isinstance(value, DialectType):
            return None
        case Type():
            return TypeAttr(value)
        case tuple():
            types = [TypeAttr(t) for t in value if isinstance(t, Type)]  # pyright: ignore[reportUnknownVariableType]  of anything
            return ArrayAttr(tuple(types))
        case _:
            return None
