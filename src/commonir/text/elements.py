"""Reader of numbers and of the elements of constant tensors in MLIR text.

The end of a tensor literal is found first, and its elements are read when its type is known. Lists of numbers are read
in a few passes over the whole text; other literals, and malformed ones, are read token by token.
Limits: `Limits.max_immediate_elements`. Source: MLIR language reference, attributes; dense literals as mlir-opt 22
reads them.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence

from commonir.base.file_codes import LIMIT_EXCEEDED
from commonir.base.lazy import lazy_pattern
from commonir.base.tuples import NamedTuple
from commonir.ir.data import TEXT_KINDS, Data, InlineData, SplatData, TextData, packed_codes
from commonir.ir.floats import OverflowedError, bits_of
from commonir.ir.storage import data_of_mlir_bytes, mlir_size_bytes
from commonir.ir.types import ComplexType, ElementType, TensorType, boolean, f32, f64, is_signless
from commonir.text.lexer import TokenStream

_HEX_SIGN = '"0x'
# Matches up to the mark that closes a literal, skipping strings and comments.
_UP_TO_CLOSE = lazy_pattern(r'(?>[^>"/]++|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"|//[^\n]*+|/)*+')
_BLANKS = lazy_pattern(r"[ \t\r\n]*+")
_LIST = lazy_pattern(r"\[([^\[\]]*+)\]")
_MEMBERS = lazy_pattern(r"\s*+x\s*+(?:,\s*+x\s*+)*+")
_FLOATS = lazy_pattern(
    r"\s*+-?\d++\.\d*+(?:[eE][+-]?\d++)?+\s*+(?:,\s*+-?\d++\.\d*+(?:[eE][+-]?\d++)?+\s*+)*+", re.ASCII
)
_INTEGERS = lazy_pattern(r"\s*+-?\d++\s*+(?:,\s*+-?\d++\s*+)*+", re.ASCII)
_NUMBER = lazy_pattern(r"(-?)(\d+\.\d*(?:[eE][+-]?\d+)?|0x[0-9A-Fa-f]+|\d+)", re.ASCII)
_STRUCT_CODES = {8: "b", 16: "h", 32: "i", 64: "q"}


class Literal(NamedTuple):
    """The range of a literal between `<` and `>`, or before a comma."""

    start: int
    end: int


class Listed(NamedTuple):
    """Codes or strings of elements in nested lists, and the shape of the lists; () for one without brackets."""

    values: list[int] | list[str]
    shape: tuple[int, ...]


class ElementReader:
    """Reads numbers and literals of tensors at the current token."""

    def __init__(self, tokens: TokenStream) -> None:
        self.tokens = tokens

    # -- one number

    def code(self, element: ElementType) -> int:
        """Reads one number of a type, and returns its code without a sign."""
        tokens = self.tokens
        if isinstance(element, ComplexType):
            tokens.expect("(")
            real = self.code(element.part)
            tokens.expect(",")
            imaginary = self.code(element.part)
            tokens.expect(")")
            return imaginary << element.part.bits | real
        if tokens.kind == "word" and tokens.text in ("true", "false") and element is boolean:
            return int(tokens.advance() == "true")
        start, negative = tokens.start, tokens.take("-")
        if tokens.kind not in ("int", "float"):
            tokens.unexpected(f"a number of type {element}" if element.kind != "bool" else "true or false")
        literal, kind = tokens.text, tokens.kind
        tokens.advance()
        return self.number_code(literal, kind, element, start, negative=negative)

    def number_code(self, literal: str, kind: str, element: ElementType, start: int, *, negative: bool) -> int:
        """Returns the code of a number of a type, from its token."""
        tokens = self.tokens
        if element.is_float:
            return self._float_code(literal, kind, element, start, negative=negative)
        if element.kind not in ("bool", "int", "uint", "index"):
            tokens.fail(f"a number cannot be of type {element}", at=start)
        if kind == "float":
            tokens.fail(f"expected an integer for type {element}, found '{literal}'", at=start)
        value = tokens.integer_value(literal, start)
        bits = element.width
        if negative:
            fits = element.kind != "uint" and (value <= 1 << (bits - 1) if bits else not value)
        else:
            has_sign = element.kind == "index" or (element.kind == "int" and not is_signless(element))
            fits = not value >> (bits - has_sign)
        if not fits:
            tokens.fail(f"{'-' if negative else ''}{literal} does not fit {element}", at=start)
        return (-value if negative else value) & ((1 << bits) - 1)

    def _float_code(self, literal: str, kind: str, element: ElementType, start: int, *, negative: bool) -> int:
        tokens = self.tokens
        if kind == "float":
            value = float(literal)
            try:
                return bits_of(-value if negative else value, element.name, saturate=value - value != 0.0)
            except OverflowedError:
                pass
            tokens.fail(f"{literal} does not fit {element}", at=start)
        if not literal.startswith("0x") or negative:
            tokens.fail(f"expected a number with a point for type {element}, found '{literal}'", at=start)
        code = tokens.integer_value(literal, start)
        if code >> element.bits:
            tokens.fail(f"{literal} does not fit {element}", at=start)
        return code

    # -- literals of tensors

    def literal(self) -> Literal:
        """Reads the literal between the current `<` and its `>`."""
        tokens = self.tokens
        if not tokens.at("<"):
            tokens.unexpected("'<'")
        blank = _BLANKS.match(tokens.source, tokens.end)
        start = tokens.end if blank is None else blank.end()
        if tokens.source.startswith(_HEX_SIGN, start):
            end = tokens.source.find('"', start + 1) + 1
            after = _BLANKS.match(tokens.source, end)
            end = end if after is None else after.end()
            if tokens.source.startswith(">", end):
                tokens.move_to(end + 1)
                return Literal(start, end)
        match = _UP_TO_CLOSE.match(tokens.source, start)
        end = start if match is None else match.end()
        if not tokens.source.startswith(">", end):
            tokens.fail("unterminated literal", at=start)
        tokens.move_to(end + 1)
        return Literal(start, end)

    def elements(self, literal: Literal, type: TensorType) -> Data:
        """Returns the elements of a literal of a type with static shape."""
        tokens = self.tokens
        is_text = type.element.kind in TEXT_KINDS
        if tokens.source.startswith('"', literal.start) and not is_text:
            return self._from_hex(literal, type)
        if type.count > tokens.limits.max_immediate_elements and (
            is_text or tokens.source.startswith("[", literal.start)
        ):
            tokens.fail(f"a constant of {type.count} elements", at=literal.start, code=LIMIT_EXCEEDED)
        result = None if is_text else self._number_of_all(literal, type)
        # One number for all elements stays one number, however many there are.
        if result is None and type.element.size_bytes(type.count) > tokens.limits.max_tensor_bytes:
            tokens.fail(f"a constant of {type.count} elements", at=literal.start, code=LIMIT_EXCEEDED)
        if result is None and not is_text:
            result = _quickly(tokens.source[literal.start : literal.end], type)
        return result or self._from_tokens(literal, type)

    def _number_of_all(self, literal: Literal, type: TensorType) -> Data | None:
        """Returns the elements of a literal of one number; None for any other literal."""
        match = _NUMBER.fullmatch(self.tokens.source, literal.start, literal.end)
        if match is None or isinstance(type.element, ComplexType):
            return None
        kind = "float" if "." in match[2] else "int"
        code = self.number_code(match[2], kind, type.element, literal.start, negative=bool(match[1]))
        content = packed([code], type.element)
        return InlineData(type, content) if type.count == 1 else SplatData(type, content)

    def _from_hex(self, literal: Literal, type: TensorType) -> Data:
        tokens = self.tokens
        from binascii import unhexlify  # noqa: PLC0415  few texts have such constants

        digits = tokens.source[literal.start : literal.end].rstrip()
        content = None
        if digits.startswith(_HEX_SIGN) and digits.endswith('"'):
            try:
                content = unhexlify(digits[len(_HEX_SIGN) : -1])
            except ValueError:
                content = None
        if content is None:
            tokens.fail("expected hexadecimal digits '0x...' in pairs", at=literal.start)
        result = data_of_mlir_bytes(type, content)
        if result is None:
            message = f"{type} takes {mlir_size_bytes(type)} bytes, but {len(content)} are given"
            tokens.fail(message, at=literal.start)
        return result

    def _from_tokens(self, literal: Literal, type: TensorType) -> Data:
        tokens = self.tokens
        after = tokens.state()
        tokens.move_to(literal.start)
        is_text = type.element.kind in TEXT_KINDS
        values: list[int] = []
        texts: list[str] = []
        is_splat = False

        def one() -> None:
            if is_text:
                texts.append(tokens.string())
            else:
                values.append(self.code(type.element))

        if tokens.start >= literal.end:
            if type.count:
                tokens.fail(f"expected {type.count} elements, found none", at=literal.start)
        elif tokens.at("["):
            self._lists(type.static_shape, one)
        else:
            one()
            is_splat = True
        if tokens.start != literal.end:
            tokens.unexpected("'>'")
        tokens.restore(after)
        if is_splat and type.count != 1:
            return TextData(type, texts * type.count) if is_text else SplatData(type, packed(values, type.element))
        return TextData(type, texts) if is_text else InlineData(type, packed(values, type.element))

    def listed(self, element: ElementType) -> Listed:
        """Reads one element, or lists of them nested to any shape."""
        tokens = self.tokens
        values: list[int] = []
        texts: list[str] = []
        shape: list[int] = []
        counts: list[int] = []  # members so far of the lists that are open
        while True:
            if tokens.at("[") and (len(counts) < len(shape) or not (values or texts)):
                tokens.advance()
                if len(counts) == len(shape):
                    shape.append(-1)
                    if len(shape) > tokens.limits.max_rank:
                        tokens.fail(f"more than {tokens.limits.max_rank} dimensions", code=LIMIT_EXCEEDED)
                counts.append(0)
            elif len(counts) < len(shape):
                tokens.unexpected("'['")
            elif not (counts and not counts[-1] and tokens.at("]")):
                if element.kind in TEXT_KINDS:
                    texts.append(tokens.string())
                else:
                    values.append(self.code(element))
                if not counts:
                    return Listed(values or texts, ())
                counts[-1] += 1
            while not (counts[-1] and tokens.take(",")):
                if not tokens.at("]"):
                    if counts[-1]:
                        tokens.unexpected("',' or ']'")
                    break
                at = tokens.start
                tokens.advance()
                count = counts.pop()
                if shape[len(counts)] not in (-1, count):
                    tokens.fail(f"expected {shape[len(counts)]} elements in this list, found {count}", at=at)
                shape[len(counts)] = count
                if not counts:
                    return Listed(values or texts, tuple(shape))
                counts[-1] += 1

    @staticmethod
    def data(type: TensorType, values: Sequence[int | str]) -> Data:
        """Returns the data of codes or strings."""
        if type.element.kind in TEXT_KINDS:
            return TextData(type, [v for v in values if isinstance(v, str)])
        return InlineData(type, packed([v for v in values if isinstance(v, int)], type.element))

    def _lists(self, shape: Sequence[int], one: Callable[[], None]) -> None:
        """Reads nested lists of a shape, with `one` for each element."""
        tokens = self.tokens
        open_lists: list[tuple[int, int]] = []  # where each starts, and how many members it has so far
        while True:
            if len(open_lists) < len(shape):
                at = tokens.start
                tokens.expect("[")
                open_lists.append((at, 0))
            elif tokens.at("["):
                tokens.unexpected("one element")
            else:
                one()
                self._count_member(open_lists)
            while True:
                start, count = open_lists[-1]
                if count and tokens.take(","):
                    break
                if not tokens.at("]"):
                    if count:
                        tokens.unexpected("',' or ']'")
                    break
                if not count and len(open_lists) < len(shape):
                    tokens.fail(f"expected lists of {len(shape)} levels, found {len(open_lists)}", at=start)
                tokens.advance()
                open_lists.pop()
                if count != shape[len(open_lists)]:
                    tokens.fail(f"expected {shape[len(open_lists)]} elements here, found {count}", at=start)
                if not open_lists:
                    return
                self._count_member(open_lists)

    @staticmethod
    def _count_member(open_lists: list[tuple[int, int]]) -> None:
        start, count = open_lists[-1]
        open_lists[-1] = start, count + 1


def packed(codes: Sequence[int], element: ElementType) -> bytes:
    """Returns codes of elements as the bytes of `Data`."""
    return bytes(codes) if element is boolean else packed_codes(codes, element.bits)


def _quickly(text: str, type: TensorType) -> Data | None:
    """Returns the elements of a literal of plain numbers in lists of the right shape; None for any other."""
    element = type.element
    listed = _members(text, type.static_shape)
    if listed is None:
        return None
    if element in (f32, f64):
        if _FLOATS.fullmatch(listed) is None:
            return None
        values = [*map(float, listed.split(","))]
        try:
            content = struct.pack(f"<{len(values)}{'f' if element is f32 else 'd'}", *values)
        except OverflowError:
            return None
        return None if element is f64 and any(v - v != 0.0 for v in values) else InlineData(type, content)
    if element.kind in ("int", "uint", "index") and element.bits in _STRUCT_CODES and _INTEGERS.fullmatch(listed):
        code = _STRUCT_CODES[element.bits]
        try:
            numbers = [*map(int, listed.split(","))]
            content = struct.pack(f"<{len(numbers)}{code.upper() if element.kind == 'uint' else code}", *numbers)
        except (ValueError, struct.error):  # too many digits, or not in the range: reported token by token
            return None
        return InlineData(type, content)
    return None


def _members(text: str, shape: Sequence[int]) -> str | None:
    """Returns the members of the innermost lists, separated by commas; None if the lists have another shape."""
    if not shape or not all(shape) or '"' in text or "/" in text:
        return None
    rows = _LIST.findall(text)
    width = shape[-1]
    if any(row.count(",") + 1 != width for row in rows):
        return None
    outer = _LIST.sub("x", text)
    for dim in reversed(shape[:-1]):
        lists = _LIST.findall(outer)
        if not lists or any(row.count("x") != dim or _MEMBERS.fullmatch(row) is None for row in lists):
            return None
        outer = _LIST.sub("x", outer)
    return ",".join(rows) if outer.strip() == "x" else None
