"""Types and attributes out of MLIR text.

`ConstantReader` is the part of the parser that needs no program. Nesting is limited by `Limits.max_nesting_depth`,
tensor literals by `max_immediate_elements`, ranks by `max_rank`.
Source: MLIR language reference, types and attributes; MLIR builtin dialect, as mlir-opt 22 reads it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from commonir.base.codes import DUPLICATE_NAME
from commonir.base.file_codes import ELIDED_CONSTANT
from commonir.base.lazy import LazyModule
from commonir.base.limits import DEFAULT_LIMITS, Limits
from commonir.base.suggestions import did_you_mean
from commonir.ir.affine import AffineMapAttr, IntegerSetAttr
from commonir.ir.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    BytesAttr,
    DataAttr,
    DenseArrayAttr,
    DialectAttr,
    DictionaryAttr,
    DimsAttr,
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
from commonir.symbolic import Dim
from commonir.text.affine import AffineReader, read_strided
from commonir.text.elements import Listed, Literal
from commonir.text.resources import Blob
from commonir.text.types import WITHOUT_OTHERS, Extent, TypeReader, parts_of_dialect

if TYPE_CHECKING:
    from commonir.text import layouts, own_forms
else:
    own_forms = LazyModule("commonir.text.own_forms")
    # Few programs say what machine they are for.
    layouts = LazyModule("commonir.text.layouts")

_LARGEST_PLACE = 2**32 - 1

# Dictionaries, arrays and maps that nest nothing and whose text alone says what they are: most recur in a program.
_DICTIONARY = re.compile(r'\{(?:[^{}"#!]|"[^{}"#!\\\n]*+"){0,1000}+\}')
_CONSTANT = re.compile(r"(?:array<[^<>\"#!]{0,1000}+|affine_map<[^<>\"#!]{0,1000}+->[^<>\"#!]{0,1000}+)>")
_TYPED_CONSTANT = re.compile(
    r"(?:dense<([^<>\"#!/]*+)>|(-?)(\d++\.\d*+(?:[eE][+-]?\d++)?+|\d++)) *: *([a-z][a-z0-9]*+|tensor<[^<>\"#!,]*+>)"
)
_DISTINCT = "distinct"


class ConstantReader(TypeReader):
    """Reads types and attributes at the current token."""

    def __init__(
        self, source: str, file: str = "<text>", limits: Limits = DEFAULT_LIMITS, lines_before: int = 0
    ) -> None:
        self.attribute_aliases: dict[str, Attribute] = {}
        self.attribute_readers: Mapping[str, Callable[[ConstantReader], Attribute]] = _ATTRIBUTES
        self.resources: Mapping[str, Blob] = {}
        self._distinct: dict[int, DistinctAttr] = {}
        self._dictionaries: dict[str, dict[str, Attribute]] = {}
        self._constants: dict[str, Attribute] = {}
        super().__init__(source, file, limits, lines_before)

    def define_alias(self) -> None:
        """Reads `#name = attribute` or `!name = type`."""
        # What stands in the definition is counted, also where it was read before.
        for known in (self.tensors, self._dictionaries, self._constants):
            known.clear()
        kind, name, start = self.kind, self.text[1:], self.start
        if "." in name:
            self.fail("the name of an alias has no point", at=start)
        if name in (self.type_aliases if kind == "type" else self.attribute_aliases):
            self.fail(f"redefinition of {kind} alias '{name}'", at=start, code=DUPLICATE_NAME)
        self.advance()
        self.expect("=")
        begin, parts = self.start, self.alias_parts
        self.defines_alias, self.alias_parts, self.deepest = True, 0, 0
        if kind == "type":
            built = self.type_aliases[name] = self.type()
        else:
            built = self.attribute_aliases[name] = self.attribute()
        own = self.source.count(",", begin, self.start) + 1
        if not isinstance(built, LocationAttr):
            held = min(own + self.alias_parts, self.limits.max_alias_parts + 1)
            self.extents[f"{'!' if kind == 'type' else '#'}{name}"] = Extent(held, self.deepest)
        self.defines_alias, self.alias_parts = False, parts

    def attribute(self, type: Type | None = None) -> Attribute:
        """Reads an attribute. Where the text around says its `type`, none is read after it."""
        with self.nested():
            match self.kind:
                case "string":
                    return StringAttr(self.string(), _stated(type))
                case "int" | "float":
                    return self._number(type)
                case "symbol":
                    return self.symbol_reference()
                case "attribute":
                    return self._dialect_attribute(type)
                case "type":
                    return TypeAttr(self.type())
                case "mark":
                    return self._marked_attribute(type)
                case "word":
                    return self._named_attribute(type)
                case _:
                    return self.unexpected("an attribute")

    def attribute_of_text(self, text: str, at: int) -> Attribute | None:
        """Returns the attribute that stands at an offset; None when a text is not all of it."""
        result = self._constants.get(text)
        if result is None:
            result = self._typed_constant(text, at)
        if result is None:
            self.move_to(at)
            result = self.attribute()
            if self.start < at + len(text) or self.source[at + len(text) : self.start].strip():
                return None
        self._constants[text] = result
        return result

    def _typed_constant(self, text: str, at: int) -> Attribute | None:
        """Returns the constant of a plain text `dense<...> : type` or `number : type`; None for any other."""
        found = _TYPED_CONSTANT.fullmatch(text)
        types = None if found is None else self.types_of_text(found[4], at + found.start(4))
        if found is None or types is None:
            return None
        type, literal = types[0], found[1]
        if literal is None and isinstance(type, ElementType):
            kind = "float" if "." in found[3] else "int"
            return self._number_of(found[3], kind, type, at + found.start(3), negative=bool(found[2]))
        if literal is None or not isinstance(type, TensorType) or not type.is_static:
            return None
        return DataAttr(self.elements(Literal(at + found.start(1), at + found.end(1)), type), type)

    def member(self) -> Attribute:
        """Reads an attribute in a list or dictionary, where a string may be followed by a type too."""
        if self.kind != "string":
            return self.attribute()
        text = self.string()
        return StringAttr(text, _stated(self.type())) if self.take(":") else StringAttr(text)

    def symbol_reference(self) -> SymbolRefAttr:
        """Reads `@a::@b`."""
        path = [self.symbol()]
        while self.take("::"):
            path.append(self.symbol())
        return SymbolRefAttr(*path)

    def dictionary(self) -> DictionaryAttr:
        """Reads `{name = attribute, name}`."""
        return DictionaryAttr(tuple(self.entries().items()))

    def entries(self) -> dict[str, Attribute]:
        """Reads what a dictionary holds, with its braces."""
        text = self.plain_dictionary()
        if text in self._dictionaries:
            self.move_to(self.start + len(text))
            return dict(self._dictionaries[text])
        self.expect("{")
        entries: dict[str, Attribute] = {}

        def entry() -> None:
            start = self.start
            name = self.key()
            if name in entries:
                self.fail(f"attribute '{name}' is given twice", at=start)
            entries[name] = self.member() if self.take("=") else UnitAttr()

        self.separated(entry, "}")
        if text:
            self._dictionaries[text] = dict(entries)
        return entries

    def plain_dictionary(self) -> str:
        """Returns the text of the dictionary at the current token if it alone says what it holds; "" for another."""
        found = _DICTIONARY.match(self.source, self.start)
        return "" if found is None or _DISTINCT in found[0] else found[0]

    def key(self) -> str:
        """Reads the name of an attribute."""
        if self.kind == "string":
            return self.string()
        return self.expect_kind("word", "the name of an attribute")

    def _marked_attribute(self, type: Type | None) -> Attribute:
        match self.text:
            case "[":
                self.advance()
                return ArrayAttr(tuple(self.separated(self.member, "]")))
            case "{":
                return self.dictionary()
            case "-":
                return self._number(type)
            case "(":
                return TypeAttr(self.function_type())
            case _:
                return self.unexpected("an attribute")

    def _named_attribute(self, type: Type | None) -> Attribute:
        recurring = _CONSTANT.match(self.source, self.start)
        if recurring is None:
            return self._attribute_named(self.text, type)
        known = self._constants.get(recurring[0])
        if known is not None:
            self.move_to(recurring.end())
            return known
        result = self._constants[recurring[0]] = self._attribute_named(self.text, type)
        return result

    def _attribute_named(self, name: str, type: Type | None) -> Attribute:
        match name:
            case "true" | "false":
                self.advance()
                return BoolAttr(name == "true")
            case "unit":
                self.advance()
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
                return TypeAttr(self.type())

    def _opens(self, name: str) -> bool:
        """Whether a bracket follows the name of an attribute, as it must."""
        self.advance()
        self.expect({"loc": "(", "distinct": "["}.get(name, "<"))
        return True

    def _built(self, name: str) -> Attribute:
        match name:
            case "affine_map":
                result: Attribute = AffineMapAttr(AffineReader(self).map())
            case "affine_set":
                result = IntegerSetAttr(AffineReader(self).set())
            case "strided":
                result = read_strided(self)
            case "loc":
                result = self.location()
                self.expect(")")
                return result
            case _:
                return self._distinct_attribute()
        self.expect(">")
        return result

    def _distinct_attribute(self) -> DistinctAttr:
        at = self.start
        number = self.whole(self.expect_kind("int", "a number"), at)
        if number >= 1 << 64:
            self.fail(f"{number} has more than 64 bits", at=at)
        self.expect("]")
        self.expect("<")
        content = None if self.at(">") else self.member()
        self.expect(">")
        known = self._distinct.setdefault(number, DistinctAttr(number, content))
        if known.content is not content:
            self.fail(f"distinct[{number}] was of other content before: {known.content}", at=at)
        return known

    # -- numbers

    def _number(self, type: Type | None) -> Attribute:
        start, negative = self.start, self.take("-")
        if self.kind not in ("int", "float"):
            self.unexpected("a number")
        literal, kind = self.text, self.kind
        self.advance()
        if type is None and self.take(":"):
            at = self.start
            type = self.type()
            if not isinstance(type, ElementType):
                self.fail(f"a number cannot be of type {type}", at=at)
        element = f64 if kind == "float" else i64
        if type is not None:
            if not isinstance(type, ElementType):
                self.fail(f"a number cannot be of type {type}", at=start)
            element = type
        at = start + len("-") if negative else start
        return self._number_of(literal, kind, element, at, negative=negative)

    def _number_of(
        self, literal: str, kind: str, element: ElementType, at: int, *, negative: bool
    ) -> IntegerAttr | FloatAttr | BoolAttr:
        """The number of a type that a token says."""
        code = self.number_code(literal, kind, element, at, negative=negative)
        if element.is_float:
            return FloatAttr.of_bits(code, element)
        if element is boolean:
            return BoolAttr(code != 0)
        return IntegerAttr(_signed(code, element), element)

    def integer_of(self, number: int, element: ElementType, at: int) -> IntegerAttr:
        """An integer of a type, which it must fit, read at a place without it."""
        code = self.number_code(str(abs(number)), "int", element, at, negative=number < 0)
        return IntegerAttr(_signed(code, element), element)

    def _dense_array(self) -> DenseArrayAttr:
        self.advance()
        self.expect("<")
        at = self.start
        element = self.element_type()
        if element.kind not in ("bool", "int", "uint", "float") or (element is not boolean and element.bits % 8):
            self.fail(f"an array has numbers of whole bytes or bools, not {element}", at=at)
        if self.take(">"):
            return DenseArrayAttr(element, ())
        self.expect(":")
        return DenseArrayAttr(element, tuple(self.separated(lambda: self._array_element(element), ">")))

    def _array_element(self, element: ElementType) -> int | float | bool:
        if element is boolean and self.kind != "word":
            self.unexpected("true or false")
        code = self.code(element)
        if element.is_float:
            return float_of(code, element.name)
        return code != 0 if element is boolean else _signed(code, element)

    # -- attributes of dialects

    def _dialect_attribute(self, type: Type | None) -> Attribute:
        name = self.text[1:]
        has_body = self.source.startswith("<", self.end)
        if "." not in name and not has_body:
            if name not in self.attribute_aliases:
                self.fail(f"undefined attribute alias '#{name}'", help=did_you_mean(name, self.attribute_aliases))
            self.use_alias(self.text)
            return self.attribute_aliases[name]
        if name in self.attribute_readers:
            self.advance()
            return self.attribute_readers[name](self)
        dialect, _, rest = name.partition(".")
        if not rest:
            inner = self._own_name(dialect, self.attribute_readers)
            if inner:
                built = self.attribute_readers[inner](self)
                self.expect(">")
                return built
        if dialect in WITHOUT_OTHERS:
            help = did_you_mean(name, self.attribute_readers)
            self.fail(f"unknown attribute '{self.text}'", at=self.start + len(dialect) + 2, help=help)
        own = self.own_forms(dialect)
        result = None if own is None else own_forms.read_own_attribute(self, own, type)
        if result is not None:
            return result
        at, start = self.start, self.end + 1
        body = self.body()
        if type is None and self.take(":"):
            type = self.type()
        if name == "ml_program.extern" and body and type is None:
            # The form of the specification, from before the type stood after a colon.
            return DialectAttr(dialect, rest, None, self._reread(body, start))
        mnemonic, held = parts_of_dialect(rest, body)
        built = DialectAttr(dialect, mnemonic, held, _stated(type))
        if own is not None:
            own_forms.check_kept(self, own, built, at)
        return built

    def _reread(self, body: str, start: int) -> Type:
        after = self.end, self.kind, self.text, self.start
        self.move_to(start)
        result = self.type()
        if self.start != start + len(body.rstrip()) and not self.at(">"):
            self.unexpected("'>'")
        self.end, self.kind, self.text, self.start = after
        return result

    # -- constant tensors

    def _shaped(self, type: Type | None) -> tuple[Type, TensorType]:
        """The type of a constant, given or read after its colon, and the tensor that has its elements."""
        at = self.start
        if type is None:
            self.expect(":")
            at = self.start
            type = self.type()
        match type:
            case TensorType():
                held = type
            case VectorType():
                held = TensorType(type.element, type.shape)
            case MemRefType(element=ElementType() as element, shape=shape):
                held = TensorType(element, shape)
            case _:
                self.fail(f"a constant is a tensor, a vector or memory, not {type}", at=at)
        if not held.is_static:
            self.fail(f"a constant needs a static shape, found {type}", at=at)
        return type, held

    def _dense(self, type: Type | None) -> DataAttr:
        self.advance()
        literal = self.literal()
        declared, held = self._shaped(type)
        return DataAttr(self.elements(literal, held), declared)

    def _resource(self, type: Type | None) -> DataAttr:
        self.advance()
        self.expect("<")
        start = self.start
        key = self.key()
        self.expect(">")
        declared, held = self._shaped(type)
        if key == ELIDED:
            self.fail("the contents of this constant were left out of the text", at=start, code=ELIDED_CONSTANT)
        blob = self.resources.get(key)
        if blob is None:
            return DataAttr(AbsentData(held, key), declared)
        try:
            return DataAttr(ResourceData(held, blob.content, key, blob.alignment), declared)
        except ValueError as error:
            self.fail(f"resource '{key}': {error}", at=start)

    def _sparse(self, type: Type | None) -> SparseAttr:
        self.advance()
        literal = self.literal()
        declared, held = self._shaped(type)
        after = self.end, self.kind, self.text, self.start
        self.move_to(literal.start)
        indices: Listed = Listed([], (0,))
        values = data_of(held.element, (0,), ())
        if self.start < literal.end:
            indices = self.listed(i64)
            self.expect(",")
            values = self._sparse_values(held.element, indices)
        if self.start != literal.end:
            self.unexpected("'>'")
        self.end, self.kind, self.text, self.start = after
        return SparseAttr(self._positions(indices, held, literal.start), values, declared)

    def _sparse_values(self, element: ElementType, indices: Listed) -> Data:
        """Values of as many positions as there are, each or one for all."""
        at = self.start
        kind = TensorType(element, (indices.shape[0] if indices.shape else 1,))
        if self.kind == "string" and element.kind not in TEXT_KINDS:
            literal = Literal(at, self.end)
            self.advance()
            return self.elements(literal, kind)
        found = self.listed(element)
        if found.shape not in ((), (kind.count,)):
            self.fail(f"{kind.count} positions have values of shape {found.shape}", at=at)
        values = found.values if found.shape else found.values * kind.count
        return self.data(kind, values)

    def _positions(self, indices: Listed, held: TensorType, at: int) -> Data:
        sizes = held.static_shape
        rank = len(sizes)
        values, shape = indices
        if not shape:
            values, shape = [*values] * rank, (1, rank)
        if values and not ((len(shape) == 1 and rank == 1) or (len(shape) == 2 and shape[1] == rank)):
            self.fail(f"positions of shape {shape} are none of {held}", at=at)
        numbers = [_signed(v, i64) for v in values if isinstance(v, int)]
        if any(not 0 <= n < sizes[k % rank] for k, n in enumerate(numbers)):
            self.fail(f"a position is not within {held}", at=at)
        return data_of(i64, shape, numbers)

    # -- locations

    def location(self) -> LocationAttr:
        """Reads what stands within `loc(...)`. What aliases stand for there is not counted: it is seldom written."""
        parts = self.alias_parts
        result = self._location()
        self.alias_parts = parts
        return result

    def _location(self) -> LocationAttr:
        with self.nested():
            if self.kind == "attribute":
                result = self.attribute_aliases.get(self.text[1:])
                if isinstance(result, LocationAttr):
                    self.advance()
                    return result
                self.unexpected("a location")
            if self.take("unknown"):
                return UnknownLoc()
            if self.take("callsite"):
                self.expect("(")
                callee = self.location()
                self.expect("at")
                caller = self.location()
                self.expect(")")
                return CallSiteLoc(callee, caller)
            if self.take("fused"):
                metadata = None
                if self.take("<"):
                    metadata = self.member()
                    self.expect(">")
                self.expect("[")
                return fused(self.separated(self.location, "]"), metadata)
            return self._place_or_name()

    def _place_or_name(self) -> LocationAttr:
        text = self.string()
        if self.take("("):
            child = self.location()
            self.expect(")")
            return NameLoc(text, child)
        if not self.take(":"):
            return NameLoc(text)
        line = self._place_number()
        if self.at(")"):
            return FileLineColLoc(text, line, 0)
        self.expect(":")
        column = self._place_number()
        if not self.take("to"):
            return FileLineColLoc(text, line, column)
        last = line if self.at(":") else self._place_number()
        self.expect(":")
        return FileLineColLoc(text, line, column, (last, self._place_number()))

    def _place_number(self) -> int:
        at = self.start
        number = self.whole(self.expect_kind("int", "a line or column"), at)
        if number > _LARGEST_PLACE:
            self.fail(f"{number} is not a line or column", at=at)
        return number


def _stated(type: Type | None) -> Type | None:
    """The type of an attribute; `none` says that it has none."""
    return None if type is none else type


def _signed(code: int, element: ElementType) -> int:
    """The number that a code of an integer type means."""
    if element.kind == "uint" or not element.bits:
        return code
    sign = 1 << (element.bits - 1)
    return (code ^ sign) - sign


def _dims(reader: ConstantReader) -> Attribute:
    def one() -> Dim:
        at = reader.start
        if reader.kind == "string":
            return reader.dimension(reader.string(), at)
        negative = reader.take("-")
        size = reader.whole(reader.expect_kind("int", "a dimension"), at)
        return -size if negative else size

    out = [one()]
    while reader.take(","):
        out.append(one())
    return DimsAttr(tuple(out))


def _bytes(reader: ConstantReader) -> Attribute:
    at = reader.start
    digits = reader.string()
    try:
        return BytesAttr(bytes.fromhex(digits.removeprefix("0x")))
    except ValueError:
        reader.fail("expected hexadecimal digits '0x...' in pairs", at=at)


def _bracketed(read: Callable[[ConstantReader], Attribute]) -> Callable[[ConstantReader], Attribute]:
    def within(reader: ConstantReader) -> Attribute:
        reader.expect("<")
        result = read(reader)
        reader.expect(">")
        return result

    return within


_ATTRIBUTES: Mapping[str, Callable[[ConstantReader], Attribute]] = MappingProxyType(
    {
        "commonir.dims": _bracketed(_dims),
        "commonir.bytes": _bracketed(_bytes),
        "dlti.dl_entry": layouts.read_entry,
        "dlti.function_pointer_alignment": layouts.read_function_pointer_alignment,
        **{
            f"dlti.{kind}": partial(layouts.read_layout, kind=kind)
            for kind in ("dl_spec", "map", "target_device_spec", "target_system_spec")
        },
    }
)
"""What reads the attributes that have classes here, by their names, at the token after the name."""
