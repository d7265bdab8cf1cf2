"""Parses the text form of ONNX into the message of a model.

Contents of tensors are put into the field of their type, as the parser of the onnx package does; elements of narrow
types are written as the numbers that this field holds.

Limits: `Limits.max_nesting_depth` for graphs in attributes and for types.
Source: ONNX textual syntax (docs/Syntax.md of ONNX 1.23).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import NoReturn

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import NESTING_TOO_DEEP
from commonir.base.limits import DEFAULT_LIMITS, Limits
from commonir.base.suggestions import did_you_mean
from commonir.base.text import escape
from commonir.formats.onnx.attributes import AttributeType, bytes_of
from commonir.formats.onnx.element_types import DATA_TYPE_NAMES
from commonir.formats.onnx.messages import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    OperatorSetIdProto,
    Repeated,
    SparseTensorTypeProto,
    StringStringEntryProto,
    TensorProto,
    TensorTypeProto,
    TypeProto,
    ValueInfoProto,
    create,
)
from commonir.formats.onnx_text.lexer import TokenKind, Word, fail, words_of

_TYPES = {name.lower(): number for number, name in enumerate(DATA_TYPE_NAMES) if number}
_WRAPPERS = frozenset({"seq", "map", "optional", "sparse_tensor", "opaque"})
_SPECIAL = frozenset({"nan", "inf", "infinity"})
_ATTRIBUTE_TYPES = {kind.name.lower(): kind for kind in AttributeType if kind}
_WHOLE_DATA = {"int64": "int64_data", "uint32": "uint64_data", "uint64": "uint64_data"}
_REAL_DATA = {"float": "float_data", "complex64": "float_data", "double": "double_data", "complex128": "double_data"}
_EXTERNAL = 1

Value = int | float | str


def parse_model(source: str, *, file: str = "", limits: Limits = DEFAULT_LIMITS) -> ModelProto:
    """The message of a model in text form.

    Raises: DiagnosticError (MALFORMED_ONNX_TEXT, NESTING_TOO_DEEP).
    """
    return _Parser(words_of(source, file), file, limits).model()


class _Parser:
    def __init__(self, words: list[Word], file: str, limits: Limits) -> None:
        self._words = words
        self._at = 0
        self._file = file
        self._deepest = limits.max_nesting_depth
        self._depth = 0

    # -- words

    @property
    def _word(self) -> Word:
        return self._words[self._at]

    def _next(self) -> Word:
        return self._words[min(self._at + 1, len(self._words) - 1)]

    def _take(self) -> Word:
        word = self._word
        self._at = min(self._at + 1, len(self._words) - 1)
        return word

    def _fail(self, expected: str) -> NoReturn:
        word = self._word
        result = "the end of the text" if word.kind is TokenKind.END else f"'{escape(word.text)}'"
        fail(f"expected {expected}, found {result}", word.line, self._file)

    def _is(self, mark: str) -> bool:
        return self._word.kind is TokenKind.MARK and self._word.text == mark

    def _accept(self, mark: str) -> bool:
        if not self._is(mark):
            return False
        self._take()
        return True

    def _expect(self, mark: str) -> None:
        if not self._accept(mark):
            self._fail(f"'{mark}'")

    def _several(self, end: str, one: Callable[[], None]) -> None:
        """Items with commas between them, up to a mark, which is taken."""
        while not self._accept(end):
            one()
            if not self._is(end):
                self._expect(",")

    def _name(self) -> str:
        if self._word.kind is not TokenKind.NAME:
            self._fail("a name")
        return self._take().text

    def _quotable(self) -> str:
        if self._word.kind not in (TokenKind.NAME, TokenKind.TEXT):
            self._fail("a name")
        return self._take().text

    def _text(self) -> str:
        if self._word.kind is not TokenKind.TEXT:
            self._fail("a text in quotes")
        return self._take().text

    def _integer(self) -> int:
        if self._word.kind is not TokenKind.INTEGER:
            self._fail("an integer")
        return int(self._take().text)

    @contextmanager
    def _nested(self) -> Generator[None]:
        self._depth += 1
        if self._depth > self._deepest:
            message = f"the text is nested deeper than {self._deepest} levels"
            raise DiagnosticError(Diagnostic(NESTING_TOO_DEEP, message, file=self._file or None, line=self._word.line))
        yield
        self._depth -= 1

    # -- models and functions

    def model(self) -> ModelProto:
        model = create(ModelProto)
        if self._accept("<"):
            self._several(">", lambda: self._model_entry(model))
        self._graph(model.graph)
        while self._word.kind is not TokenKind.END:
            self._function(model.functions.add())
        return model

    def _model_entry(self, model: ModelProto) -> None:
        key = self._entry_key()
        match key:
            case "ir_version" | "model_version":
                setattr(model, key, self._whole())
            case "producer_name" | "producer_version" | "domain" | "doc_string":
                setattr(model, key, self._text())
            case "opset_import":
                self._opsets(model.opset_import)
            case "metadata_props":
                self._texts(model.metadata_props)
            case _:
                self._unknown(key, ("ir_version", "opset_import", "producer_name", "domain", "doc_string"))

    def _entry_key(self) -> str:
        key = self._name()
        self._expect(":")
        return key

    def _unknown(self, key: str, known: tuple[str, ...]) -> None:
        help = did_you_mean(key, known) or f"known are {', '.join(known)}"
        fail(f"'{escape(key)}' is not known here; {help}", self._word.line, self._file)

    def _opsets(self, into: Repeated[OperatorSetIdProto]) -> None:
        def one() -> None:
            built = into.add()
            built.domain = self._text()
            self._expect(":")
            built.version = self._whole()

        self._expect("[")
        self._several("]", one)

    def _texts(self, into: Repeated[StringStringEntryProto]) -> None:
        def one() -> None:
            built = into.add()
            built.key = self._text()
            self._expect(":")
            built.value = self._text()

        self._expect("[")
        self._several("]", one)

    def _function(self, function: FunctionProto) -> None:
        if self._accept("<"):
            self._several(">", lambda: self._function_entry(function))
        function.name = self._quotable()
        if self._accept("<"):
            self._several(">", lambda: self._declared_attribute(function))
        for into in (function.input, function.output):
            self._expect("(")
            self._several(")", lambda into=into: into.append(self._parameter(function)))
            if into is function.input:
                self._expect("=>")
        if self._accept("<"):
            self._several(">", lambda: self._value_info(function.value_info.add()))
        self._nodes(function.node)

    def _function_entry(self, function: FunctionProto) -> None:
        key = self._entry_key()
        match key:
            case "domain" | "overload" | "doc_string":
                setattr(function, key, self._text())
            case "opset_import":
                self._opsets(function.opset_import)
            case "metadata_props":
                self._texts(function.metadata_props)
            case _:
                self._unknown(key, ("domain", "overload", "opset_import", "doc_string"))

    def _declared_attribute(self, function: FunctionProto) -> None:
        following = self._next()
        if following.kind is TokenKind.MARK and following.text in (",", ">"):
            function.attribute.append(self._name())
        else:
            self._attribute(function.attribute_proto.add())

    def _parameter(self, function: FunctionProto) -> str:
        if not self._has_type():
            return self._quotable()
        result = function.value_info.add()
        self._value_info(result)
        return result.name

    # -- graphs

    def _graph(self, graph: GraphProto) -> None:
        with self._nested():
            graph.name = self._quotable()
            self._expect("(")
            self._several(")", lambda: self._value(graph, graph.input))
            self._expect("=>")
            self._expect("(")
            self._several(")", lambda: self._value_info(graph.output.add()))
            if self._accept("<"):
                self._several(">", lambda: self._value(graph, None))
            self._nodes(graph.node)

    def _value(self, graph: GraphProto, inputs: Repeated[ValueInfoProto] | None) -> None:
        """An input or a value inside of a graph, or a constant."""
        info = create(ValueInfoProto)
        self._value_info(info)
        is_constant = self._accept("=")
        if inputs is not None:
            inputs.append(info)
        elif not is_constant:
            graph.value_info.append(info)
        if is_constant:
            self._constant(info, graph.initializer.add())

    def _constant(self, info: ValueInfoProto, tensor: TensorProto) -> None:
        self._tensor_type(info.type, tensor)
        tensor.name = info.name
        if self._is("["):
            tensor.data_location = _EXTERNAL
            self._texts(tensor.external_data)
        else:
            self._elements(tensor)

    def _tensor_type(self, type: TypeProto, tensor: TensorProto) -> None:
        """Gives a tensor the element type and the fixed shape of a type."""
        if type.WhichOneof("value") != "tensor_type":
            self._fail("the type of a tensor before a constant")
        tensor.data_type = type.tensor_type.elem_type
        for d in type.tensor_type.shape.dim:
            if d.WhichOneof("value") != "dim_value":
                self._fail("a fixed shape before a constant")
            tensor.dims.append(d.dim_value)

    def _elements(self, tensor: TensorProto) -> None:
        """The elements of a tensor whose type is known, in braces."""
        self._expect("{")
        name = DATA_TYPE_NAMES[tensor.data_type].lower()
        line = self._word.line
        values: list[Value] = []
        self._several("}", lambda: values.append(self._literal()))
        try:
            if name == "string":
                tensor.string_data.extend([bytes_of(str(v)) for v in values])
            elif name in _REAL_DATA:
                getattr(tensor, _REAL_DATA[name]).extend([float(v) for v in values])
            else:
                if any(not isinstance(v, int) for v in values):
                    raise ValueError("expected integers")
                getattr(tensor, _WHOLE_DATA.get(name, "int32_data")).extend(values)
        except (ValueError, TypeError) as error:
            fail(f"the elements are not of type {name}: {error}", line, self._file)

    def _literal(self) -> Value:
        word = self._word
        is_special = word.kind is TokenKind.NAME and word.text.lower() in _SPECIAL
        if word.kind not in (TokenKind.INTEGER, TokenKind.FLOAT, TokenKind.TEXT) and not is_special:
            self._fail("a number or a text")
        self._take()
        if word.kind is TokenKind.INTEGER:
            return int(word.text)
        return word.text if word.kind is TokenKind.TEXT else float(word.text)

    # -- types

    def _has_type(self) -> bool:
        """Whether a type comes before the next name."""
        word, following = self._word, self._next()
        if word.kind is not TokenKind.NAME or (word.text not in _TYPES and word.text not in _WRAPPERS):
            return False
        return following.kind in (TokenKind.NAME, TokenKind.TEXT) or following.text in ("[", "(")

    def _value_info(self, info: ValueInfoProto) -> None:
        if self._has_type():
            self._type(info.type)
        info.name = self._quotable()

    def _type(self, into: TypeProto) -> None:
        with self._nested():
            word = self._word
            name = self._name()
            match name:
                case "seq" | "optional":
                    self._expect("(")
                    self._type(into.sequence_type.elem_type if name == "seq" else into.optional_type.elem_type)
                    self._expect(")")
                case "map":
                    self._expect("(")
                    into.map_type.key_type = self._element_type(self._name(), word)
                    self._expect(",")
                    self._type(into.map_type.value_type)
                    self._expect(")")
                case "sparse_tensor":
                    self._expect("(")
                    self._dense(self._name(), into.sparse_tensor_type, word)
                    self._expect(")")
                case "opaque":
                    self._opaque(into)
                case _:
                    self._dense(name, into.tensor_type, word)

    def _opaque(self, into: TypeProto) -> None:
        into.opaque_type.SetInParent()
        self._expect("(")
        if self._accept(")"):
            return
        first = self._qualified()
        if self._accept(","):
            into.opaque_type.domain, into.opaque_type.name = first, self._name()
        else:
            into.opaque_type.name = first
        self._expect(")")

    def _element_type(self, name: str, word: Word) -> int:
        if name not in _TYPES:
            help = did_you_mean(name, _TYPES)
            fail(f"'{escape(name)}' is not an element type{f'; {help}' if help else ''}", word.line, self._file)
        return _TYPES[name]

    def _dense(self, name: str, into: TensorTypeProto | SparseTensorTypeProto, word: Word) -> None:
        into.elem_type = self._element_type(name, word)
        if not self._accept("["):
            into.shape.SetInParent()
            return
        if self._accept("]"):
            return  # of any rank

        def one() -> None:
            d = into.shape.dim.add()
            if self._accept("?"):
                return
            if self._word.kind is TokenKind.INTEGER:
                d.dim_value = self._whole()
            else:
                d.dim_param = self._quotable()

        self._several("]", one)

    def _whole(self) -> int:
        line, value = self._word.line, self._integer()
        if not -(2**63) <= value < 2**63:
            fail(f"{value} has more than 64 bits", line, self._file)
        return value

    # -- nodes

    def _nodes(self, into: Repeated[NodeProto]) -> None:
        self._expect("{")
        while not self._accept("}"):
            self._node(into.add())

    def _node(self, node: NodeProto) -> None:
        if self._accept("["):
            node.name = self._quotable()
            self._expect("]")
        while not self._accept("="):
            node.output.append(self._optional_name())
            if not self._is("="):
                self._expect(",")
        node.domain, _, node.op_type = self._qualified().rpartition(".")
        if self._accept(":"):
            node.overload = self._name()
        self._attributes(node)
        self._expect("(")
        self._several(")", lambda: node.input.append(self._optional_name()))
        self._attributes(node)

    def _optional_name(self) -> str:
        """Returns the name of an operand or result, which is empty where nothing stands before a comma."""
        return "" if self._is(",") else self._quotable()

    def _qualified(self) -> str:
        parts = [self._name()]
        while self._accept("."):
            parts.append(self._name())
        return ".".join(parts)

    def _attributes(self, node: NodeProto) -> None:
        if self._accept("<"):
            self._several(">", lambda: self._attribute(node.attribute.add()))

    def _attribute(self, into: AttributeProto) -> None:
        into.name = self._name()
        declared: AttributeType | None = None
        if self._accept(":"):
            word = self._word
            name = self._name()
            if name not in _ATTRIBUTE_TYPES:
                fail(f"'{escape(name)}' is not a kind of attribute", word.line, self._file)
            declared = _ATTRIBUTE_TYPES[name]
        self._expect("=")
        if self._accept("@"):
            into.ref_attr_name = self._name()
            if declared is not None:
                into.type = declared
        elif self._accept("["):
            self._list(into, declared)
        else:
            self._single(into, declared)

    def _single(self, into: AttributeProto, declared: AttributeType | None) -> None:
        if declared is AttributeType.TYPE_PROTO:
            self._type(into.tp)
            into.type = declared
        elif self._is_tensor(declared):
            self._tensor(into.t)
            into.type = AttributeType.TENSOR
        elif self._is_graph():
            self._graph(into.g)
            into.type = AttributeType.GRAPH
        else:
            line, value = self._word.line, self._literal()
            kind = declared or _kind_of([value])
            self._give(into, kind, [value], line)

    def _is_tensor(self, declared: AttributeType | None) -> bool:
        word = self._word
        is_type = word.kind is TokenKind.NAME and word.text in _TYPES
        return is_type and (declared is None or declared in (AttributeType.TENSOR, AttributeType.TENSORS))

    def _is_graph(self) -> bool:
        following = self._next()
        return (
            self._word.kind in (TokenKind.NAME, TokenKind.TEXT)
            and following.kind is TokenKind.MARK
            and following.text == "("
        )

    def _tensor(self, into: TensorProto) -> None:
        type = create(TypeProto)
        self._type(type)
        self._tensor_type(type, into)
        into.name = self._quotable() if self._word.kind in (TokenKind.NAME, TokenKind.TEXT) else ""
        self._accept("=")
        self._elements(into)

    def _list(self, into: AttributeProto, declared: AttributeType | None) -> None:
        line = self._word.line
        values: list[Value] = []

        def one() -> None:
            if declared is AttributeType.TYPE_PROTOS:
                self._type(into.type_protos.add())
            elif self._is_tensor(declared):
                self._tensor(into.tensors.add())
            elif self._is_graph():
                self._graph(into.graphs.add())
            else:
                values.append(self._literal())

        self._several("]", one)
        if len(into.tensors) or len(into.graphs) or len(into.type_protos):
            kinds = (
                (into.tensors, AttributeType.TENSORS),
                (into.graphs, AttributeType.GRAPHS),
                (into.type_protos, AttributeType.TYPE_PROTOS),
            )
            into.type = next(kind for field, kind in kinds if len(field))
        elif values or declared is not None:
            self._give(into, declared or _LISTS[_kind_of(values)], values, line)
        else:
            fail(f"an empty list needs the kind of its elements: `{into.name}: ints = []`", line, self._file)

    def _give(self, into: AttributeProto, kind: AttributeType, values: list[Value], line: int) -> None:
        """Gives an attribute its value. Raises: MALFORMED_ONNX_TEXT for one of another kind."""
        into.type = kind
        try:
            match kind:
                case AttributeType.FLOAT:
                    (into.f,) = [_real(v) for v in values]
                case AttributeType.INT:
                    (into.i,) = [_integer(v) for v in values]
                case AttributeType.STRING:
                    (into.s,) = [bytes_of(_string(v)) for v in values]
                case AttributeType.FLOATS:
                    into.floats.extend([_real(v) for v in values])
                case AttributeType.INTS:
                    into.ints.extend([_integer(v) for v in values])
                case AttributeType.STRINGS:
                    into.strings.extend([bytes_of(_string(v)) for v in values])
                case _ if values:
                    raise ValueError(f"found {values[0]!r}")
                case _:
                    pass
        except (ValueError, TypeError, struct.error) as error:
            fail(f"attribute '{into.name}' is not of type {kind.name.lower()}: {error}", line, self._file)


_LISTS = {
    AttributeType.INT: AttributeType.INTS,
    AttributeType.FLOAT: AttributeType.FLOATS,
    AttributeType.STRING: AttributeType.STRINGS,
}


def _kind_of(values: list[Value]) -> AttributeType:
    """The kind of attribute that literals are without one being stated."""
    if any(isinstance(v, str) for v in values):
        return AttributeType.STRING
    return AttributeType.FLOAT if any(isinstance(v, float) for v in values) else AttributeType.INT


def _real(value: Value) -> float:
    if isinstance(value, str):
        raise ValueError(f"found {value!r}")
    return float(value)


def _integer(value: Value) -> int:
    if not isinstance(value, int):
        raise ValueError(f"found {value!r}")
    return value


def _string(value: Value) -> str:
    if not isinstance(value, str):
        raise ValueError(f"found {value!r}")
    return value
