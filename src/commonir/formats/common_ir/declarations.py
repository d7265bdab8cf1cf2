"""Declarations of operators, formal parameters and imports: messages and the operations and attributes for them.

Errors are reported with their location; the remaining parts of a declaration are read.
Source: Common IR specification, operators, function definitions and importing libraries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from commonir.base.codes import WRONG_ATTRIBUTE
from commonir.base.diagnostics import Diagnostics
from commonir.base.file_codes import MALFORMED_TYPE
from commonir.base.text import escape
from commonir.dialects import onnx
from commonir.dialects.common_ir import Import, OperatorDeclaration
from commonir.formats.common_ir.imports import ImportUri, parse_import
from commonir.formats.common_ir.kinds import OwnType
from commonir.formats.common_ir.types import element_of, shape_texts, type_text, write_element, write_text
from commonir.formats.common_ir.values import ValueReader, ValueWriter, attr_type_in, storage_of, stored_form
from commonir.formats.onnx.attributes import AttributeType
from commonir.formats.onnx.messages import (
    AttributeProto,
    OperatorDeclProto,
    ParameterDeclProto,
    SignatureDeclProto,
    TypeConstraintProto,
    TypeProto,
)
from commonir.formats.onnx.messages import Repeated as RepeatedField
from commonir.ir.attributes import ArrayAttr, Attribute, DictionaryAttr, StringAttr
from commonir.ir.operation import Operation
from commonir.ir.types import ELEMENT_TYPES, handle

MULTIPLICITIES = ("one", "optional", "many")
"""Keywords of multiplicities by their numbers."""

_FORMAL_TYPES: Mapping[int, str] = {
    AttributeType.FLOAT: "f32[]",
    AttributeType.INT: "i64[]",
    AttributeType.STRING: "!builtin.string[]",
    AttributeType.TENSOR: "tensor",
    AttributeType.GRAPH: "graph",
    AttributeType.FLOATS: "list<f32[]>",
    AttributeType.INTS: "list<i64[]>",
    AttributeType.STRINGS: "list<!builtin.string[]>",
    AttributeType.TENSORS: "list<tensor>",
    AttributeType.GRAPHS: "list<graph>",
    AttributeType.SPARSE_TENSOR: "sparse_tensor",
    AttributeType.SPARSE_TENSORS: "list<sparse_tensor>",
    AttributeType.TYPE_PROTO: "type",
    AttributeType.TYPE_PROTOS: "list<type>",
    OwnType.SHAPE: "shape",
    OwnType.SHAPES: "list<shape>",
    OwnType.VALUE: "value",
    OwnType.VALUES: "list<value>",
}
"""The types of formal attributes of functions by their attribute type."""
_FORMAL_KINDS = {text: kind for kind, text in _FORMAL_TYPES.items()}


class DeclarationReader:
    """Reads the declarations of one file. `path` begins the places of findings."""

    def __init__(self, values: ValueReader, diagnostics: Diagnostics, path: str) -> None:
        self._values = values
        self._found = diagnostics
        self._path = path

    def operator(self, proto: OperatorDeclProto) -> OperatorDeclaration:
        """The declaration of an operator."""
        place = f"{self._path}.operator '{escape(proto.name)}'"
        signatures = [self._signature(s, f"{place}.signature[{n}]") for n, s in enumerate(proto.signature)]
        result = OperatorDeclaration(proto.name, tuple(signatures))
        if proto.doc_string:
            result.set_extra(onnx.DOC_STRING, StringAttr(proto.doc_string))
        return result

    def _signature(self, proto: SignatureDeclProto, place: str) -> DictionaryAttr:
        inputs = [self.parameter(p, f"{place}.input_params") for p in proto.input_params]
        outputs = [self.parameter(p, f"{place}.output_params") for p in proto.output_params]
        attributes = [self._attribute(p, f"{place}.input_attributes") for p in proto.input_attributes]
        variables = [(c.name, self._members(c, place)) for c in proto.type_constraint]
        entries: list[tuple[str, Attribute]] = [
            ("inputs", ArrayAttr(tuple(inputs))),
            ("outputs", ArrayAttr(tuple(outputs))),
        ]
        if attributes:
            entries.append(("attributes", ArrayAttr(tuple(attributes))))
        if variables:
            entries.append(("types", DictionaryAttr(tuple(variables))))
        if proto.doc_string:
            entries.append(("doc", StringAttr(proto.doc_string)))
        return DictionaryAttr(tuple(entries))

    def _members(self, proto: TypeConstraintProto, place: str) -> ArrayAttr:
        names: list[Attribute] = []
        for t in proto.types:
            element = handle if t.HasField("handle_type") else element_of(t.tensor_type)
            if element is None:
                shown = t.tensor_type.elem_param or t.tensor_type.elem_type
                text = f"type variable '{escape(proto.name)}': {escape(str(shown))} is not an element type"
                self._found.add(MALFORMED_TYPE, text, where=place)
            else:
                names.append(StringAttr(element.name))
        return ArrayAttr(tuple(names))

    def text_of(self, proto: TypeProto, name: str, place: str) -> str:
        """Returns the text of a type; `any` for an invalid type, which is reported elsewhere."""
        try:
            return type_text(proto)
        except ValueError as error:
            self._found.add(MALFORMED_TYPE, f"'{escape(name)}': {error}", where=place)
            return "any"

    def parameter(self, proto: ParameterDeclProto, place: str) -> DictionaryAttr:
        """A formal parameter."""
        text = self.text_of(proto.type, proto.name, place)
        if proto.HasField("shape"):
            text = self._with_shape(text, proto, place)
        entries: list[tuple[str, Attribute]] = [("name", StringAttr(proto.name)), ("type", StringAttr(text))]
        if proto.multiplicity:
            is_known = 0 <= proto.multiplicity < len(MULTIPLICITIES)
            keyword = MULTIPLICITIES[proto.multiplicity] if is_known else str(proto.multiplicity)
            entries.append(("multiplicity", StringAttr(keyword)))
        if proto.doc_string:
            entries.append(("doc", StringAttr(proto.doc_string)))
        return DictionaryAttr(tuple(entries))

    def _with_shape(self, text: str, proto: ParameterDeclProto, place: str) -> str:
        """A type with the shape that stands beside it, where it has none itself."""
        if "[" in text or "<" in text.removeprefix("complex<"):
            message = f"'{escape(proto.name)}': a shape stands both in the type and beside it, or beside no tensor"
            self._found.add(MALFORMED_TYPE, message, where=place)
            return text
        try:
            return f"{text}[{', '.join(shape_texts(proto.shape))}]"
        except ValueError as error:
            self._found.add(MALFORMED_TYPE, f"'{escape(proto.name)}': {error}", where=place)
            return text

    def _attribute(self, proto: ParameterDeclProto, place: str) -> DictionaryAttr:
        described = dict(self.parameter(proto, place).entries)
        entries = [("name", described["name"]), ("type", described["type"])]
        if proto.HasField("default"):
            entries += self._default(proto.default, place)
        if "doc" in described:
            entries.append(("doc", described["doc"]))
        return DictionaryAttr(tuple(entries))

    def _default(self, proto: AttributeProto, place: str) -> list[tuple[str, Attribute]]:
        """The entries of a declaration for a default: its value, and how the file holds it."""
        try:
            value = self._values.read(proto, keeps_form=True)
        except ValueError as error:
            self._found.add(WRONG_ATTRIBUTE, f"default of '{escape(proto.name)}': {error}", where=place)
            return []
        if value is None:
            return []
        form = storage_of(proto, value)
        return [("default", value), *([("form", StringAttr(form))] if form else [])]

    def formal(self, proto: AttributeProto, place: str) -> DictionaryAttr:
        """Returns a formal attribute of a function: its name, type and default."""
        text = _FORMAL_TYPES.get(attr_type_in(proto), "any")
        entries: list[tuple[str, Attribute]] = [("name", StringAttr(proto.name)), ("type", StringAttr(text))]
        has_value = any(f.name not in ("name", "type", "doc_string") for f, _ in proto.ListFields())
        if has_value:
            entries += self._default(proto, place)
        if proto.doc_string:
            entries.append(("doc", StringAttr(proto.doc_string)))
        return DictionaryAttr(tuple(entries))


def read_imports(texts: Iterable[str]) -> list[Import]:
    """The imports of a file."""
    return [Import(uri.uri, uri.sha256) for uri in map(parse_import, texts)]


# -- writing


class DeclarationWriter:
    """Fills in messages of declarations; what has no encoding is reported at its operation."""

    def __init__(self, values: ValueWriter, report: Callable[[str, Operation], None]) -> None:
        self._values = values
        self._report = report

    def operator(self, op: OperatorDeclaration, into: OperatorDeclProto) -> None:
        """Fills in the declaration of an operator."""
        into.name = op.sym_name
        doc = op.extra.get(onnx.DOC_STRING)
        if isinstance(doc, StringAttr):
            into.doc_string = doc.value
        for declared in op.signatures:
            content = dict(declared.entries)
            built = into.signature.add()
            variables = content.get("types")
            names = [name for name, _ in variables.entries] if isinstance(variables, DictionaryAttr) else []
            self.parameters(_dictionaries(content.get("inputs")), built.input_params, op, names)
            self.parameters(_dictionaries(content.get("outputs")), built.output_params, op, names)
            self.parameters(_dictionaries(content.get("attributes")), built.input_attributes, op, names)
            for name, members in variables.entries if isinstance(variables, DictionaryAttr) else ():
                self._constraint(name, members, built.type_constraint.add(), op)
            made_doc = _text(content.get("doc"))
            if made_doc:
                built.doc_string = made_doc

    def _constraint(self, name: str, members: Attribute, into: TypeConstraintProto, op: Operation) -> None:
        into.name = name
        for member in members.values if isinstance(members, ArrayAttr) else ():
            element = ELEMENT_TYPES.get(_text(member))
            built = into.types.add()
            if element is handle:
                built.handle_type.SetInParent()
                continue
            if element is None:
                self._report(f"type variable '{escape(name)}': '{escape(_text(member))}' is not an element type", op)
            else:
                write_element(element.name, built.tensor_type)

    def parameters(
        self,
        declared: Sequence[DictionaryAttr],
        into: RepeatedField[ParameterDeclProto],
        op: Operation,
        variables: Sequence[str] = (),
    ) -> None:
        """Fills in formal parameters or the attributes of a signature."""
        for entries in declared:
            content = dict(entries.entries)
            built = into.add()
            built.name = _text(content.get("name"))
            try:
                write_text(_text(content.get("type")), built.type, variables)
                default = content.get("default")
                if default is not None:
                    built.default.name = built.name
                    self._write_default(content, built.default)
            except ValueError as error:
                self._report(f"'{escape(built.name)}': {error}", op)
            keyword = _text(content.get("multiplicity"))
            if keyword in MULTIPLICITIES[1:]:
                built.multiplicity = MULTIPLICITIES.index(keyword)
            doc = _text(content.get("doc"))
            if doc:
                built.doc_string = doc

    def formal(self, declared: DictionaryAttr, into: AttributeProto, op: Operation) -> None:
        """Fills in a formal attribute of a function."""
        content = dict(declared.entries)
        into.name = _text(content.get("name"))
        try:
            if "default" in content:
                self._write_default(content, into)
        except ValueError as error:
            self._report(f"'{escape(into.name)}': {error}", op)
        declared_type = _FORMAL_KINDS.get(_text(content.get("type")))
        if "default" not in content and declared_type is not None:
            into.type = declared_type
        doc = _text(content.get("doc"))
        if doc:
            into.doc_string = doc

    def _write_default(self, declared: Mapping[str, Attribute], into: AttributeProto) -> None:
        """Fills in a default in the form that the file had. Raises: ValueError for a value without an encoding."""
        self._values.write_form(stored_form(declared["default"], _text(declared.get("form"))), into)


def _text(value: Attribute | None) -> str:
    return value.value if isinstance(value, StringAttr) else ""


def _dictionaries(value: Attribute | None) -> list[DictionaryAttr]:
    return [v for v in value.values if isinstance(v, DictionaryAttr)] if isinstance(value, ArrayAttr) else []


def import_text(op: Import) -> str:
    """An import as files say it."""
    return str(ImportUri(op.uri, op.sha256))
