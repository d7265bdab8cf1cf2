"""Reader of attributes and locations in MLIR text.

Limits: those of `text/types.py`; tensor literals by `Limits.max_immediate_elements`.
Source: MLIR language reference, attributes; MLIR builtin dialect, as mlir-opt 22 reads it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from commonir.base.codes import DUPLICATE_NAME
from commonir.base.file_codes import ELIDED_CONSTANT
from commonir.base.suggestions import did_you_mean
from commonir.ir.affine import AffineMapAttr, IntegerSetAttr
from commonir.ir.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    DataAttr,
    DenseArrayAttr,
    DialectAttr,
    DictionaryAttr,
    DistinctAttr,
    FloatAttr,
    IntegerAttr,
    SparseAttr,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
    UnitAttr,
)
from commonir.ir.data import TEXT_KINDS, AbsentData, Data, ResourceData, data_of
from commonir.ir.floats import float_of
from commonir.ir.literals import ELIDED
from commonir.ir.locations import CallSiteLoc, FileLineColLoc, LocationAttr, NameLoc, UnknownLoc, fused
from commonir.ir.types import ElementType, MemRefType, TensorType, Type, VectorType, boolean, f64, i64, none
from commonir.text.affine import AffineReader, read_strided
from commonir.text.alias_table import Extent
from commonir.text.elements import ElementReader, Listed, Literal
from commonir.text.resources import Blob
from commonir.text.types import WITHOUT_OTHERS, TypeReader, parts_of_dialect

_LARGEST_PLACE = 2**32 - 1

# Dictionaries, arrays and maps without nested ones or aliases are cached by text, because most recur in a program.
_DICTIONARY = re.compile(r'\{(?:[^{}"#!]|"[^{}"#!\\\n]*+"){0,1000}+\}')
_CONSTANT = re.compile(r"(?:array<[^<>\"#!]{0,1000}+|affine_map<[^<>\"#!]{0,1000}+->[^<>\"#!]{0,1000}+)>")
_TYPED_CONSTANT = re.compile(
    r"(?:dense<([^<>\"#!/]*+)>|(-?)(\d++\.\d*+(?:[eE][+-]?\d++)?+|\d++)) *: *([a-z][a-z0-9]*+|tensor<[^<>\"#!,]*+>)"
)
_DISTINCT = "distinct"


AttributeReaders: TypeAlias = "Mapping[str, Callable[[AttributeReader], Attribute]]"
"""Readers of the attributes of dialects by name; the current token is the one after the name."""


class AttributeReader:
    """Reads attributes and locations at the current token."""

    def __init__(self, types: TypeReader, readers: AttributeReaders) -> None:
        self.tokens = types.tokens
        self.aliases = types.aliases
        self.elements = ElementReader(types.tokens)
        self.types = types
        types.attributes = self
        self.readers = readers
        self.resources: Mapping[str, Blob] = {}
        self._distinct: dict[int, DistinctAttr] = {}
        self._dictionaries: dict[str, dict[str, Attribute]] = {}
        self._constants: dict[str, Attribute] = {}

    def define_alias(self) -> None:
        """Reads `#name = attribute` or `!name = type`."""
        tokens = self.tokens
        # The definition is read without caches, as `extents` counts all types and attributes in it.
        for known in (self.types.tensors, self._dictionaries, self._constants):
            known.clear()
        kind, name, start = tokens.kind, tokens.text[1:], tokens.start
        if "." in name:
            tokens.fail("the name of an alias must not contain '.'", at=start)
        if name in (self.aliases.types if kind == "type" else self.aliases.attributes):
            tokens.fail(f"redefinition of {kind} alias '{name}'", at=start, code=DUPLICATE_NAME)
        tokens.advance()
        tokens.expect("=")
        begin, parts = tokens.start, self.aliases.parts
        self.aliases.is_defining, self.aliases.parts, tokens.deepest = True, 0, 0
        if kind == "type":
            built = self.aliases.types[name] = self.types.type()
        else:
            built = self.aliases.attributes[name] = self.attribute()
        own = tokens.source.count(",", begin, tokens.start) + 1
        if not isinstance(built, LocationAttr):
            part_count = min(own + self.aliases.parts, tokens.limits.max_alias_parts + 1)
            self.aliases.extents[f"{'!' if kind == 'type' else '#'}{name}"] = Extent(part_count, tokens.deepest)
        self.aliases.is_defining, self.aliases.parts = False, parts

    def attribute(self, type: Type | None = None) -> Attribute:
        """Reads an attribute. With `type`, no type is read after it."""
        tokens = self.tokens
        with tokens.nested():
            match tokens.kind:
                case "string":
                    return StringAttr(tokens.string(), _stated(type))
                case "int" | "float":
                    return self._number(type)
                case "symbol":
                    return self.symbol_reference()
                case "attribute":
                    return self._dialect_attribute(type)
                case "type":
                    return TypeAttr(self.types.type())
                case "mark":
                    return self._marked_attribute(type)
                case "word":
                    return self._named_attribute(type)
                case _:
                    return tokens.unexpected("an attribute")

    def typed_attribute(self, type: Type | None = None) -> Attribute:
        """Reads an attribute without its type, which is known."""
        result = self.attribute()
        if isinstance(result, IntegerAttr) and isinstance(type, ElementType):
            return IntegerAttr(result.value, type)
        if isinstance(result, FloatAttr) and isinstance(type, ElementType):
            return FloatAttr(result.value, type)
        return result

    def attribute_of_text(self, text: str, at: int) -> Attribute | None:
        """Returns the attribute of a text at an offset; None if it is not the whole text."""
        tokens = self.tokens
        result = self._constants.get(text)
        if result is None:
            result = self._typed_constant(text, at)
        if result is None:
            tokens.move_to(at)
            result = self.attribute()
            if not tokens.is_behind(at + len(text)):
                return None
        self._constants[text] = result
        return result

    def _typed_constant(self, text: str, at: int) -> Attribute | None:
        """Returns the constant of a plain text `dense<...> : type` or `number : type`; None for any other."""
        match = _TYPED_CONSTANT.fullmatch(text)
        types = None if match is None else self.types.types_of_text(match[4], at + match.start(4))
        if match is None or types is None:
            return None
        type, literal = types[0], match[1]
        if literal is None and isinstance(type, ElementType):
            kind = "float" if "." in match[3] else "int"
            return self._number_of(match[3], kind, type, at + match.start(3), negative=bool(match[2]))
        if literal is None or not isinstance(type, TensorType) or not type.is_static:
            return None
        return DataAttr(self.elements.elements(Literal(at + match.start(1), at + match.end(1)), type), type)

    def member(self) -> Attribute:
        """Reads an attribute in a list or dictionary, where a string may be followed by a type too."""
        tokens = self.tokens
        if tokens.kind != "string":
            return self.attribute()
        text = tokens.string()
        return StringAttr(text, _stated(self.types.type())) if tokens.take(":") else StringAttr(text)

    def symbol_reference(self) -> SymbolRefAttr:
        """Reads `@a::@b`."""
        tokens = self.tokens
        path = [tokens.symbol()]
        while tokens.take("::"):
            path.append(tokens.symbol())
        return SymbolRefAttr(*path)

    def dictionary(self) -> DictionaryAttr:
        """Reads `{name = attribute, name}`."""
        return DictionaryAttr(tuple(self.entries().items()))

    def entries(self) -> dict[str, Attribute]:
        """Reads the entries of a dictionary, with its braces."""
        tokens = self.tokens
        text = self.plain_dictionary()
        if text in self._dictionaries:
            tokens.move_to(tokens.start + len(text))
            return dict(self._dictionaries[text])
        tokens.expect("{")
        entries: dict[str, Attribute] = {}

        def entry() -> None:
            start = tokens.start
            name = self.key()
            if name in entries:
                tokens.fail(f"attribute '{name}' is given twice", at=start)
            entries[name] = self.member() if tokens.take("=") else UnitAttr()

        tokens.separated(entry, "}")
        if text:
            self._dictionaries[text] = dict(entries)
        return entries

    def plain_dictionary(self) -> str:
        """Returns the text of the dictionary at the current token; "" if it has nested ones or aliases."""
        match = _DICTIONARY.match(self.tokens.source, self.tokens.start)
        return "" if match is None or _DISTINCT in match[0] else match[0]

    def key(self) -> str:
        """Reads the name of an attribute."""
        tokens = self.tokens
        if tokens.kind == "string":
            return tokens.string()
        return tokens.expect_kind("word", "the name of an attribute")

    def _marked_attribute(self, type: Type | None) -> Attribute:
        tokens = self.tokens
        match tokens.text:
            case "[":
                tokens.advance()
                return ArrayAttr(tuple(tokens.separated(self.member, "]")))
            case "{":
                return self.dictionary()
            case "-":
                return self._number(type)
            case "(":
                return TypeAttr(self.types.function_type())
            case _:
                return tokens.unexpected("an attribute")

    def _named_attribute(self, type: Type | None) -> Attribute:
        tokens = self.tokens
        recurring = _CONSTANT.match(tokens.source, tokens.start)
        if recurring is None:
            return self._attribute_named(tokens.text, type)
        known = self._constants.get(recurring[0])
        if known is not None:
            tokens.move_to(recurring.end())
            return known
        result = self._constants[recurring[0]] = self._attribute_named(tokens.text, type)
        return result

    def _attribute_named(self, name: str, type: Type | None) -> Attribute:
        match name:
            case "true" | "false":
                self.tokens.advance()
                return BoolAttr(name == "true")
            case "unit":
                self.tokens.advance()
                return UnitAttr()
            case "dense":
                return self._dense(type)
            case "dense_resource":
                return self._resource(type)
            case "sparse":
                return self._sparse(type)
            case "array":
                return self._dense_array()
            case "affine_map" | "affine_set" | "strided" | "loc" | "distinct" if self._opens(name):
                return self._built(name)
            case _:
                return TypeAttr(self.types.type())

    def _opens(self, name: str) -> bool:
        """Reads the name of an attribute and the bracket after it; returns True."""
        self.tokens.advance()
        self.tokens.expect({"loc": "(", "distinct": "["}.get(name, "<"))
        return True

    def _built(self, name: str) -> Attribute:
        tokens = self.tokens
        match name:
            case "affine_map":
                result: Attribute = AffineMapAttr(AffineReader(tokens).map())
            case "affine_set":
                result = IntegerSetAttr(AffineReader(tokens).set())
            case "strided":
                result = read_strided(tokens)
            case "loc":
                result = self.location()
                tokens.expect(")")
                return result
            case _:
                return self._distinct_attribute()
        tokens.expect(">")
        return result

    def _distinct_attribute(self) -> DistinctAttr:
        tokens = self.tokens
        at = tokens.start
        number = tokens.integer_value(tokens.expect_kind("int", "a number"), at)
        if number >= 1 << 64:
            tokens.fail(f"{number} has more than 64 bits", at=at)
        tokens.expect("]")
        tokens.expect("<")
        content = None if tokens.at(">") else self.member()
        tokens.expect(">")
        known = self._distinct.setdefault(number, DistinctAttr(number, content))
        if known.content is not content:
            tokens.fail(f"distinct[{number}] is already defined with other contents: {known.content}", at=at)
        return known

    # -- numbers

    def _number(self, type: Type | None) -> Attribute:
        tokens = self.tokens
        start, negative = tokens.start, tokens.take("-")
        if tokens.kind not in ("int", "float"):
            tokens.unexpected("a number")
        literal, kind = tokens.text, tokens.kind
        tokens.advance()
        if type is None and tokens.take(":"):
            at = tokens.start
            type = self.types.type()
            if not isinstance(type, ElementType):
                tokens.fail(f"a number cannot be of type {type}", at=at)
        element = f64 if kind == "float" else i64
        if type is not None:
            if not isinstance(type, ElementType):
                tokens.fail(f"a number cannot be of type {type}", at=start)
            element = type
        at = start + len("-") if negative else start
        return self._number_of(literal, kind, element, at, negative=negative)

    def _number_of(
        self, literal: str, kind: str, element: ElementType, at: int, *, negative: bool
    ) -> IntegerAttr | FloatAttr | BoolAttr:
        """Returns a number of a type from its token."""
        code = self.elements.number_code(literal, kind, element, at, negative=negative)
        if element.is_float:
            return FloatAttr.of_bits(code, element)
        if element is boolean:
            return BoolAttr(code != 0)
        return IntegerAttr(_signed(code, element), element)

    def integer_of(self, number: int, element: ElementType, at: int) -> IntegerAttr:
        """Returns an integer of a type. Raises: MALFORMED_TEXT if it does not fit."""
        code = self.elements.number_code(str(abs(number)), "int", element, at, negative=number < 0)
        return IntegerAttr(_signed(code, element), element)

    def _dense_array(self) -> DenseArrayAttr:
        tokens = self.tokens
        tokens.advance()
        tokens.expect("<")
        at = tokens.start
        element = self.types.element_type()
        if element.kind not in ("bool", "int", "uint", "float") or (element is not boolean and element.bits % 8):
            tokens.fail(f"the elements of an array must have whole bytes or be bools, found {element}", at=at)
        if tokens.take(">"):
            return DenseArrayAttr(element, ())
        tokens.expect(":")
        return self.array_items(element, ">")

    def array_items(self, element: ElementType, end: str, *, signed: bool = False) -> DenseArrayAttr:
        """Reads the items of a dense array of an element type, and the mark after them. `signed`: 200 is too large for
        i8; otherwise it is -56.
        """
        tokens = self.tokens

        def item() -> int | float | bool:
            at, is_negative = tokens.start, tokens.at("-")
            if signed and element is boolean and tokens.text in ("0", "1"):
                return tokens.advance() == "1"
            value = self._array_element(element)
            if signed and element.is_integer and value < 0 and not is_negative:
                tokens.fail(f"{value + (1 << element.bits)} does not fit in {element}", at=at)
            return value

        return DenseArrayAttr(element, tuple(tokens.separated(item, end)))

    def _array_element(self, element: ElementType) -> int | float | bool:
        if element is boolean and self.tokens.kind != "word":
            self.tokens.unexpected("true or false")
        code = self.elements.code(element)
        if element.is_float:
            return float_of(code, element.name)
        return code != 0 if element is boolean else _signed(code, element)

    # -- attributes of dialects

    def _dialect_attribute(self, type: Type | None) -> Attribute:
        tokens = self.tokens
        name = tokens.text[1:]
        has_body = tokens.source.startswith("<", tokens.end)
        if "." not in name and not has_body:
            if name not in self.aliases.attributes:
                tokens.fail(f"undefined attribute alias '#{name}'", help=did_you_mean(name, self.aliases.attributes))
            self.aliases.use(tokens)
            return self.aliases.attributes[name]
        if name in self.readers:
            tokens.advance()
            return self.readers[name](self)
        dialect, _, rest = name.partition(".")
        if not rest:
            inner = self.types.own_name(dialect, self.readers)
            if inner:
                built = self.readers[inner](self)
                tokens.expect(">")
                return built
        if dialect in WITHOUT_OTHERS:
            help = did_you_mean(name, self.readers)
            tokens.fail(f"unknown attribute '{tokens.text}'", at=tokens.start + len(dialect) + 2, help=help)
        own = self.types.dialects
        result = None if own is None else own.read_attribute(self.types, dialect, type)
        if result is not None:
            return result
        at, start = tokens.start, tokens.end + 1
        body = tokens.body()
        if type is None and tokens.take(":"):
            type = self.types.type()
        if name == "ml_program.extern" and body and type is None:
            # The form of the specification; newer texts have the type after a colon.
            return DialectAttr(dialect, rest, None, self._reread(body, start))
        mnemonic, body = parts_of_dialect(rest, body)
        built = DialectAttr(dialect, mnemonic, body, _stated(type))
        return built if own is None else own.checked(self.types, built, at)

    def _reread(self, body: str, start: int) -> Type:
        tokens = self.tokens
        after = tokens.state()
        tokens.move_to(start)
        result = self.types.type()
        if tokens.start != start + len(body.rstrip()) and not tokens.at(">"):
            tokens.unexpected("'>'")
        tokens.restore(after)
        return result

    # -- constant tensors

    def _shaped(self, type: Type | None) -> tuple[Type, TensorType]:
        """Returns the type of a constant, which is read without `type`, and the tensor type of its elements."""
        tokens = self.tokens
        at = tokens.start
        if type is None:
            tokens.expect(":")
            at = tokens.start
            type = self.types.type()
        match type:
            case TensorType():
                tensor_type = type
            case VectorType():
                tensor_type = TensorType(type.element, type.shape)
            case MemRefType(element=ElementType() as element, shape=shape):
                tensor_type = TensorType(element, shape)
            case _:
                tokens.fail(f"a constant must be a tensor, a vector or a memref, found {type}", at=at)
        if not tensor_type.is_static:
            tokens.fail(f"a constant needs a static shape, found {type}", at=at)
        return type, tensor_type

    def _dense(self, type: Type | None) -> DataAttr:
        self.tokens.advance()
        literal = self.elements.literal()
        declared, tensor_type = self._shaped(type)
        return DataAttr(self.elements.elements(literal, tensor_type), declared)

    def _resource(self, type: Type | None) -> DataAttr:
        tokens = self.tokens
        tokens.advance()
        tokens.expect("<")
        start = tokens.start
        key = self.key()
        tokens.expect(">")
        declared, tensor_type = self._shaped(type)
        if key == ELIDED:
            tokens.fail("the contents of this constant were left out of the text", at=start, code=ELIDED_CONSTANT)
        blob = self.resources.get(key)
        if blob is None:
            return DataAttr(AbsentData(tensor_type, key), declared)
        try:
            return DataAttr(ResourceData(tensor_type, blob.content, key, blob.alignment), declared)
        except ValueError as error:
            tokens.fail(f"resource '{key}': {error}", at=start)

    def _sparse(self, type: Type | None) -> SparseAttr:
        tokens = self.tokens
        tokens.advance()
        literal = self.elements.literal()
        declared, tensor_type = self._shaped(type)
        after = tokens.state()
        tokens.move_to(literal.start)
        indices: Listed = Listed([], (0,))
        values = data_of(tensor_type.element, (0,), ())
        if tokens.start < literal.end:
            indices = self.elements.listed(i64)
            tokens.expect(",")
            values = self._sparse_values(tensor_type.element, indices)
        if tokens.start != literal.end:
            tokens.unexpected("'>'")
        tokens.restore(after)
        return SparseAttr(self._positions(indices, tensor_type, literal.start), values, declared)

    def _sparse_values(self, element: ElementType, indices: Listed) -> Data:
        """Reads the values of all positions: one for each, or one for all."""
        tokens = self.tokens
        at = tokens.start
        type = TensorType(element, (indices.shape[0] if indices.shape else 1,))
        if tokens.kind == "string" and element.kind not in TEXT_KINDS:
            literal = Literal(at, tokens.end)
            tokens.advance()
            return self.elements.elements(literal, type)
        listed = self.elements.listed(element)
        if listed.shape not in ((), (type.count,)):
            tokens.fail(f"{type.count} positions have values of shape {listed.shape}", at=at)
        values = listed.values if listed.shape else listed.values * type.count
        return self.elements.data(type, values)

    def _positions(self, indices: Listed, type: TensorType, at: int) -> Data:
        dims = type.static_shape
        rank = len(dims)
        values, shape = indices
        if not shape:
            values, shape = [*values] * rank, (1, rank)
        if values and not ((len(shape) == 1 and rank == 1) or (len(shape) == 2 and shape[1] == rank)):
            self.tokens.fail(f"positions of shape {shape} are not valid for {type}", at=at)
        numbers = [_signed(v, i64) for v in values if isinstance(v, int)]
        if any(not 0 <= n < dims[k % rank] for k, n in enumerate(numbers)):
            self.tokens.fail(f"a position is out of bounds of {type}", at=at)
        return data_of(i64, shape, numbers)

    # -- locations

    def location(self) -> LocationAttr:
        """Reads the location in `loc(...)`. Its aliases do not count in `parts`, as locations are seldom expanded."""
        parts = self.aliases.parts
        result = self._location()
        self.aliases.parts = parts
        return result

    def _location(self) -> LocationAttr:
        tokens = self.tokens
        with tokens.nested():
            if tokens.kind == "attribute":
                result = self.aliases.attributes.get(tokens.text[1:])
                if isinstance(result, LocationAttr):
                    tokens.advance()
                    return result
                tokens.unexpected("a location")
            if tokens.take("unknown"):
                return UnknownLoc()
            if tokens.take("callsite"):
                tokens.expect("(")
                callee = self.location()
                tokens.expect("at")
                caller = self.location()
                tokens.expect(")")
                return CallSiteLoc(callee, caller)
            if tokens.take("fused"):
                metadata = None
                if tokens.take("<"):
                    metadata = self.member()
                    tokens.expect(">")
                tokens.expect("[")
                return fused(tokens.separated(self.location, "]"), metadata)
            return self._place_or_name()

    def _place_or_name(self) -> LocationAttr:
        tokens = self.tokens
        text = tokens.string()
        if tokens.take("("):
            child = self.location()
            tokens.expect(")")
            return NameLoc(text, child)
        if not tokens.take(":"):
            return NameLoc(text)
        line = self._place_number()
        if tokens.at(")"):
            return FileLineColLoc(text, line, 0)
        tokens.expect(":")
        column = self._place_number()
        if not tokens.take("to"):
            return FileLineColLoc(text, line, column)
        last = line if tokens.at(":") else self._place_number()
        tokens.expect(":")
        return FileLineColLoc(text, line, column, (last, self._place_number()))

    def _place_number(self) -> int:
        tokens = self.tokens
        at = tokens.start
        number = tokens.integer_value(tokens.expect_kind("int", "a line or column"), at)
        if number > _LARGEST_PLACE:
            tokens.fail(f"{number} is not a line or column", at=at)
        return number


def _stated(type: Type | None) -> Type | None:
    """Returns the type of an attribute; None for the type `none`."""
    return None if type is none else type


def _signed(code: int, element: ElementType) -> int:
    """Returns the signed value of a code of an integer type."""
    if element.kind == "uint" or not element.bits:
        return code
    sign = 1 << (element.bits - 1)
    return (code ^ sign) - sign
