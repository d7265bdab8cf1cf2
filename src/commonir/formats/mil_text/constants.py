"""Types and constants of MIL text.

Types that occur again are recognized by their text, and lists of numbers are converted as a whole: most of a program
are these. A constant that contradicts its type is reported and reading goes on behind it.

Limits: `Limits.max_nesting_depth`, `max_rank`, `max_immediate_elements`.
Source: MIL specification, Types and Values.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import ELIDED_CONSTANT, LIMIT_EXCEEDED, MALFORMED_TYPE, MALFORMED_VALUE, NESTING_TOO_DEEP
from commonir.base.limits import Limits
from commonir.base.suggestions import did_you_mean
from commonir.base.text import plural
from commonir.base.tuples import NamedTuple
from commonir.dialects.mil.program import Compound
from commonir.formats.coreml.types import MIL_NAMES
from commonir.formats.coreml.values import immediate_data
from commonir.formats.mil_text.lexer import MilScanner
from commonir.ir.data import Data, InlineData, Scalar, TextData, data_of
from commonir.ir.types import (
    ElementType,
    ListType,
    MapType,
    Shape,
    StateType,
    TensorType,
    TupleType,
    Type,
    boolean,
    string,
    tensor,
)
from commonir.ods import are_compatible
from commonir.symbolic import Dim

ELEMENTS: Mapping[str, ElementType] = MappingProxyType({name: element for element, name in MIL_NAMES.items()})
"""Element types by the words of MIL text."""
BLOB = "BLOBFILE"
"""The word before a reference to a weight file."""

_CONSTRUCTORS = ("tensor", "list", "dict", "tuple", "state")
_TENSOR = re.compile(
    r"tensor\s*+<\s*+(\w++)\s*+,\s*+\[((?:\s*+(?:\d{1,18}|\?)\s*+(?:,\s*+(?:\d{1,18}|\?)\s*+)*+)?)\s*+\]\s*+>", re.ASCII
)
_BRACKET = re.compile(r"[\[\]]")
# The fast path for a list of numbers leaves these to the slow path, which reports errors.
_UNUSUAL = re.compile(r"[^\s\[\],0-9A-Za-z.+-]|[^\[,\s]\s*+\[|\]\s*+[^\],\s]")
_NOT_STRUCTURE = re.compile(r"[^\[\],]+")
_NO_BRACKETS = {ord("["): None, ord("]"): None}
_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_PATTERN = re.compile(r"0x[0-9A-Fa-f]+")
_TRUTHS = {"true": True, "false": False}
_SPECIAL = ("inf", "infinity", "nan")
_MAX_DIMENSION = 2**63
# How much of a wrong number is shown.
_LONGEST = 40

Value = Data | Compound
Report = Callable[[DiagnosticError, int], None]
"""Receives what is wrong with a constant, and the offset that it is about."""
FindWeights = Callable[[str, int, TensorType], Data]
"""The tensor at a place in a weight file of a name."""


class _Elements(NamedTuple):
    """A list of scalars as it is written: its structure of brackets and commas, the scalars, and where each begins."""

    structure: str
    texts: list[str]
    offsets: list[int] | None


class ConstantReader:
    """Reads types and constants at the current place of a scanner."""

    def __init__(self, scanner: MilScanner, weights: FindWeights, report: Report, limits: Limits) -> None:
        self._scanner = scanner
        self._weights = weights
        self._report = report
        self._limits = limits
        self._types: dict[str, Type] = {}

    # -- types

    def type(self, depth: int = 0) -> Type:
        """A type.

        Raises: DiagnosticError.
        """
        scanner = self._scanner
        if scanner.text == "tensor":
            match = _TENSOR.match(scanner.source, scanner.start)
            if match is not None:
                known = self._types.get(match[0])
                if known is None:
                    dims = (
                        [None if d.strip() == "?" else int(d) for d in match[2].split(",")] if match[2].strip() else []
                    )
                    known = self._types[match[0]] = self._tensor(match[1], tuple(dims), scanner.start)
                scanner.move_to(match.end())
                return known
        return self._spelt_type(depth)

    def _spelt_type(self, depth: int) -> Type:
        scanner = self._scanner
        at = scanner.start
        if depth > self._limits.max_nesting_depth:
            limit = self._limits.max_nesting_depth
            scanner.fail(f"types are nested deeper than the limit of {limit}", code=NESTING_TOO_DEEP)
        word = scanner.expect_kind("word", "a type")
        match word:
            case "tensor":
                scanner.expect("<")
                name = scanner.expect_kind("word", "an element type")
                scanner.expect(",")
                shape = self._dimensions()
                scanner.expect(">")
                return self._tensor(name, shape, at)
            case "list":
                return self._list(depth)
            case "dict":
                scanner.expect("<")
                key = self.type(depth + 1)
                scanner.expect(",")
                result: Type = MapType(key, self.type(depth + 1))
                scanner.expect(">")
                return result
            case "tuple":
                scanner.expect("<")
                parts: list[Type] = []
                while not scanner.at(">"):
                    parts.append(self.type(depth + 1))
                    if not scanner.take(","):
                        break
                scanner.expect(">")
                return TupleType(tuple(parts))
            case "state":
                scanner.expect("<")
                result = StateType(self.type(depth + 1))
                scanner.expect(">")
                return result
            case _:
                return self._tensor(word, (), at)

    def _list(self, depth: int) -> Type:
        scanner = self._scanner
        scanner.expect("<")
        element = self.type(depth + 1)
        length: int | None = None
        if scanner.take(",") and not scanner.take("?"):
            length = self._dimension()
        scanner.expect(">")
        return ListType(element, length)

    def _tensor(self, name: str, shape: Shape | None, at: int) -> TensorType:
        element = ELEMENTS.get(name)
        if element is None:
            known = (*ELEMENTS, *_CONSTRUCTORS)
            help = did_you_mean(name, known) or f"types are {', '.join(known)}"
            self._scanner.fail(f"'{name}' is not a type", at=at, code=MALFORMED_TYPE, help=help)
        if shape is not None and len(shape) > self._limits.max_rank:
            message = f"a tensor type of rank {len(shape)} exceeds the limit of {self._limits.max_rank}"
            self._scanner.fail(message, at=at, code=LIMIT_EXCEEDED)
        return TensorType(element, shape)

    def _dimensions(self) -> Shape | None:
        scanner = self._scanner
        scanner.expect("[")
        if scanner.take("..."):
            scanner.expect("]")
            return None
        dims: list[int | None] = []
        while not scanner.at("]"):
            dims.append(None if scanner.take("?") else self._dimension())
            if not scanner.take(","):
                break
        scanner.expect("]")
        return tuple(dims)

    def _dimension(self) -> int:
        scanner = self._scanner
        at = scanner.start
        digits = scanner.expect_kind("number", "a number or '?'")
        if not digits.isdecimal() or len(digits) > len(str(_MAX_DIMENSION)) or int(digits) >= _MAX_DIMENSION:
            scanner.fail(f"'{digits[:_LONGEST]}' is not a size of a dimension", at=at, code=MALFORMED_TYPE)
        return int(digits)

    # -- constants

    def value(self, depth: int = 0) -> tuple[Type, Value | None]:
        """A type with a constant of it in parentheses; None for one that is wrong, which is reported.

        Raises: DiagnosticError.
        """
        kind = self.type(depth)
        at = self._scanner.start
        self._scanner.expect("(")
        built = self._payload(kind, depth)
        self._scanner.expect(")")
        if depth == 0 and isinstance(built, Data) and isinstance(kind, TensorType) and not kind.is_static:
            self._fault(f"the type of a constant must have no unknown dimension, found {type_name(kind)}", at)
            return kind, None
        return kind, built

    def _fault(self, message: str, at: int) -> None:
        self._report(DiagnosticError(Diagnostic(MALFORMED_VALUE, message)), at)

    def _payload(self, type: Type, depth: int) -> Value | None:
        scanner = self._scanner
        if depth > self._limits.max_nesting_depth:
            limit = self._limits.max_nesting_depth
            scanner.fail(f"constants are nested deeper than the limit of {limit}", code=NESTING_TOO_DEEP)
        if scanner.at("..."):
            message = "the elements of this constant were left out when the text was printed"
            scanner.fail(message, code=ELIDED_CONSTANT, help="print it again with all contents: `--no-elide`")
        match type:
            case TensorType():
                return self._tensor_payload(type)
            case ListType():
                scanner.expect("[")
                items, at = self._items("]", [type.element], depth)
                if items is not None and type.length is not None and type.length != len(items):
                    self._fault(f"{type_name(type)} is declared, but the list has {plural(len(items), 'value')}", at)
                    return None
                return None if items is None else Compound(type, items)
            case TupleType():
                scanner.expect("(")
                items, at = self._items(")", type.elements, depth)
                if items is not None and len(items) != len(type.elements):
                    self._fault(f"{type_name(type)} is declared, but the tuple has {plural(len(items), 'value')}", at)
                    return None
                return None if items is None else Compound(type, items)
            case MapType():
                return self._dictionary(type, depth)
            case _:
                return scanner.fail(f"there are no constants of type {type_name(type)}", code=MALFORMED_TYPE)

    def _items(self, close: str, kinds: Sequence[Type], depth: int) -> tuple[list[Value] | None, int]:
        """Constants up to a closing mark, and where they begin; the last type is that of all further ones."""
        scanner = self._scanner
        begin = scanner.start
        out: list[Value] = []
        is_complete = True
        while not scanner.at(close):
            n = len(out)
            built = self._item(kinds[min(n, len(kinds) - 1)] if kinds else tensor(string), depth + 1)
            is_complete = is_complete and built is not None
            if built is not None:
                out.append(built)
            if not scanner.take(","):
                break
        scanner.expect(close)
        return (out if is_complete else None), begin

    def _dictionary(self, type: MapType, depth: int) -> Compound | None:
        scanner = self._scanner
        scanner.expect("{")
        out: list[Value] = []
        is_complete = True
        while not scanner.at("}"):
            at = scanner.start
            scanner.expect("{")
            pair, _ = self._items("}", (type.key, type.value), depth)
            if pair is not None and len(pair) != 2:
                self._fault(f"an entry of a dictionary is a key and a value, found {plural(len(pair), 'constant')}", at)
                pair = None
            is_complete = is_complete and pair is not None
            out += pair or ()
            if not scanner.take(","):
                break
        scanner.expect("}")
        return Compound(type, out) if is_complete else None

    def _item(self, expected: Type, depth: int) -> Value | None:
        """A constant inside another, of a type that is known; it may state its type again."""
        scanner = self._scanner
        if scanner.text in (BLOB, "nan") or not scanner.is_type:
            return self._payload(expected, depth)
        at = scanner.start
        kind, result = self.value(depth)
        if result is not None and not are_compatible(expected, kind):
            self._fault(f"the constant must be {type_name(expected)}, found {type_name(kind)}", at)
            return None
        return result

    # -- tensors

    def _tensor_payload(self, type: TensorType) -> Data | None:
        scanner = self._scanner
        at = scanner.start
        if scanner.at(BLOB):
            return self._blob(type)
        if scanner.at("["):
            return self._shaped(type, self._list_of_scalars(type), at)
        text = self._scalar_text(type.element)
        if type.shape != ():
            self._fault(f"{type_name(type)} takes a list of elements, found {text}", at)
            return None
        return self._made(type, [text], [at], at)

    def _blob(self, type: TensorType) -> Data | None:
        scanner = self._scanner
        at = scanner.start
        scanner.advance()
        scanner.expect("(")
        result: dict[str, Value | None] = {}
        while not scanner.at(")"):
            key = scanner.expect_kind("word", "'path' or 'offset'")
            scanner.expect("=")
            result[key] = self.value(1)[1]
            if not scanner.take(","):
                break
        scanner.expect(")")
        path, offset = (_scalar(result.get(key)) for key in ("path", "offset"))
        if not isinstance(path, str) or isinstance(offset, str | float | bool | None) or len(result) != 2:
            self._fault(f"{BLOB} takes 'path', a string, and 'offset', a uint64", at)
            return None
        if not type.is_static:
            self._fault(f"the type of a constant must have no unknown dimension, found {type_name(type)}", at)
            return None
        try:
            return self._weights(path, offset, type)
        except DiagnosticError as error:
            self._report(error, at)
        return None

    def _scalar_text(self, element: ElementType) -> str:
        """Moves over a scalar and returns its text: for a string, its content."""
        scanner = self._scanner
        if element is string:
            return scanner.text_literal()
        if scanner.kind == "number":
            return scanner.advance()
        if scanner.kind == "word" and (scanner.text in _TRUTHS or scanner.text in _SPECIAL):
            word = scanner.advance()
            if word != "nan" or not scanner.take("("):
                return word
            if _PATTERN.fullmatch(scanner.text) is None:
                scanner.unexpected("the bits of a NaN such as 0x7e01")
            word = f"nan({scanner.advance()})"
            scanner.expect(")")
            return word
        return scanner.unexpected(f"a constant of type {MIL_NAMES[element]}")

    def _list_of_scalars(self, type: TensorType) -> _Elements:
        """The elements of a list at whose bracket the scanner is."""
        source, start = self._scanner.source, self._scanner.start
        depth = 0
        for match in _BRACKET.finditer(source, start) if type.element is not string else ():
            depth += 1 if match[0] == "[" else -1
            if depth == 0:
                segment = source[start : match.end()]
                if _UNUSUAL.search(segment):
                    break
                self._scanner.move_to(match.end())
                texts = segment.translate(_NO_BRACKETS).split(",")
                structure = _NOT_STRUCTURE.sub("", segment)
                return _Elements(structure, texts if any(map(str.strip, texts)) else [], None)
        return self._tokens_of_list(type.element)

    def _tokens_of_list(self, element: ElementType) -> _Elements:
        """Reads the same token by token: strings, lists with comments, and malformed lists, to report errors."""
        scanner = self._scanner
        structure: list[str] = []
        texts: list[str] = []
        offsets: list[int] = []
        depth = 0
        may_begin = True
        while True:
            if scanner.at("[") and may_begin:
                depth += 1
                if depth > self._limits.max_rank:
                    message = f"lists are nested deeper than the limit of {self._limits.max_rank}"
                    scanner.fail(message, code=NESTING_TOO_DEEP)
                structure.append(scanner.advance())
            elif scanner.at("]") and (not may_begin or structure[-1] == "["):
                depth -= 1
                may_begin = False
                structure.append(scanner.advance())
                if depth == 0:
                    return _Elements("".join(structure), texts, offsets)
            elif scanner.at(",") and not may_begin:
                may_begin = True
                structure.append(scanner.advance())
            elif may_begin:
                offsets.append(scanner.start)
                texts.append(self._scalar_text(element))
                may_begin = False
            else:
                scanner.unexpected("',' or ']'")

    def _shaped(self, type: TensorType, elements: _Elements, at: int) -> Data | None:
        """The tensor of a list that is nested as its shape is, or flat."""
        result = _shape_of(elements)
        shape = type.shape
        if shape is None or None in shape:
            if shape is not None and (len(result) != len(shape) or not _agree(result, shape)):
                self._fault(f"{type_name(type)} is declared, but the list has shape {list(result)}", at)
                return None
            type = TensorType(type.element, result)
        count = type.count
        if len(elements.texts) != count:
            self._fault(f"{type_name(type)} has {plural(count, 'element')}, found {len(elements.texts)}", at)
            return None
        is_flat = elements.structure == f"[{',' * (count - 1)}]"
        # The structure of a tensor with elements has no more of brackets than those elements allow.
        is_nested = (
            elements.structure == _structure(type.static_shape) if count else type.static_shape[: len(result)] == result
        )
        if not is_flat and not is_nested:
            self._fault(f"the list is neither flat nor nested like {type_name(type)}", at)
            return None
        return self._made(type, elements.texts, elements.offsets, at)

    def _made(self, type: TensorType, texts: list[str], offsets: list[int] | None, at: int) -> Data | None:
        element = type.element
        limit = self._limits.max_immediate_elements
        if len(texts) > limit:
            message = f"a constant of {len(texts):,} elements inside the program exceeds the limit of {limit:,}"
            self._report(DiagnosticError(Diagnostic(LIMIT_EXCEEDED, message)), at)
            return None
        if element is string:
            return TextData(type, texts)
        try:
            return immediate_data(type, bytes(_numbers(type, texts).buffer()))
        except (ValueError, struct.error, OverflowError):
            n = next(n for n, text in enumerate(texts) if not _is_element(element, text))
            place = at if offsets is None else offsets[n]
            shown = texts[n].strip()[:_LONGEST] or "nothing"
            self._fault(f"{shown} is not a value of type {MIL_NAMES[element]}", place)
            return None


def _numbers(type: TensorType, texts: Sequence[str]) -> Data:
    """The tensor of scalars that are written out.

    Raises: ValueError, struct.error, OverflowError.
    """
    element = type.element
    if element is boolean:
        return data_of(element, type.static_shape, [_truth(text) for text in texts])
    if element.is_integer:
        integers = [_integer(text) for text in texts]
        low = -(2 ** (element.bits - 1)) if element.kind == "int" else 0
        if integers and not low <= min(integers) <= max(integers) < low + 2**element.bits:
            raise ValueError("out of range")
        return data_of(element, type.static_shape, integers)
    data = data_of(element, type.static_shape, [_float(text) for text in texts])
    patterns = [(n, text) for n, text in enumerate(texts) if text.startswith("nan(")]
    return _with_patterns(data, patterns) if patterns else data


def _with_patterns(data: Data, patterns: Sequence[tuple[int, str]]) -> Data:
    """The same with the bits of some elements replaced, which must be those of a NaN.

    Raises: ValueError, OverflowError.
    """
    content = bytearray(data.buffer())
    width = data.element.size_bytes(1)
    for n, text in patterns:
        bits = int(text[len("nan(") : -1], 16).to_bytes(width, "little")
        value = InlineData(tensor(data.element), bits).values()[0]
        if not isinstance(value, float) or not math.isnan(value):
            raise ValueError(text)
        content[n * width : (n + 1) * width] = bits
    return InlineData(data.type, bytes(content))


def _truth(text: str) -> bool:
    result = _TRUTHS.get(text.strip())
    if result is None:
        raise ValueError(text)
    return result


def _integer(text: str) -> int:
    bare = text.strip()
    if _INTEGER.fullmatch(bare) is None:
        raise ValueError(text)
    return int(bare)


def _float(text: str) -> float:
    if "x" in text or "X" in text:
        return float("nan") if text.startswith("nan(") else float.fromhex(text)
    return float(text)


def _is_element(element: ElementType, text: str) -> bool:
    try:
        _numbers(tensor(element), [text])
    except (ValueError, struct.error, OverflowError):
        return False
    return True


def _scalar(value: Value | None) -> Scalar | None:
    """The scalar that a constant is, None for another."""
    return value.values()[0] if isinstance(value, Data) and value.shape == () else None


def _structure(shape: Sequence[int]) -> str:
    """The brackets and commas of a list that is nested like a tensor."""
    out = ""
    for dim in reversed(shape):
        out = f"[{','.join([out] * dim)}]"
    return out


def _shape_of(elements: _Elements) -> tuple[int, ...]:
    """The shape that a nested list has by the first entries of each level."""
    dims: list[int] = []
    depth = 0
    closed: set[int] = set()
    for char in elements.structure:
        if char == "[":
            depth += 1
            if depth > len(dims):
                dims.append(1)
        elif char == "]":
            closed.add(depth)
            depth -= 1
        elif depth not in closed:
            dims[depth - 1] += 1
    if not elements.texts:
        dims[-1] = 0
    return tuple(dims)


def _agree(actual: Sequence[int], declared: Shape) -> bool:
    return all(d is None or d == n for n, d in zip(actual, declared, strict=True))


def type_name(type: Type) -> str:
    """A type as text, in the syntax with plain scalars."""
    return "".join(type_tokens(type, scalars_as_tensors=False))


def type_tokens(type: Type, *, scalars_as_tensors: bool) -> Iterator[str]:
    """The text of a type, piece by piece; one that MIL text does not have is named as in MLIR."""
    pending: list[Type | str] = [type]
    while pending:
        match pending.pop():
            case str() as text:
                yield text
            case TensorType(element=element, shape=()) if not scalars_as_tensors:
                yield MIL_NAMES.get(element, str(element))
            case TensorType(element=element, shape=shape):
                dims = "..." if shape is None else ", ".join(map(_dim_text, shape))
                yield f"tensor<{MIL_NAMES.get(element, str(element))}, [{dims}]>"
            case ListType(element=inner, length=length):
                pending += [f", {_dim_text(length)}>", inner, "list<"]
            case MapType(key=key, value=contents):
                pending += [">", contents, ", ", key, "dict<"]
            case TupleType(elements=parts):
                separated = [piece for part in parts for piece in (", ", part)][1:]
                pending += [">", *reversed(separated), "tuple<"]
            case StateType(element=inner):
                pending += [">", inner, "state<"]
            case other:
                yield str(other)


def _dim_text(dim: Dim | None) -> str:
    # As in packages, a size that is an expression is unknown.
    return str(dim) if isinstance(dim, int) else "?"


def missing_type(type: Type) -> Type | None:
    """The part of a type that MIL text does not have; None when it has all of it."""
    pending: list[Type] = [type]
    while pending:
        match pending.pop():
            case TensorType(element=element):
                if element not in MIL_NAMES:
                    return element
            case ListType(element=inner) | StateType(element=inner):
                pending.append(inner)
            case MapType(key=key, value=contents):
                pending += [key, contents]
            case TupleType(elements=parts):
                pending += parts
            case other:
                return other
    return None
