"""Numbers, and the elements of constant tensors, out of MLIR text.

A literal of a tensor is first only delimited, and read when its type is known: numbers in lists by a few passes over
the whole text, everything else, and whatever those passes do not take, token by token, which also finds the faults.
Limits: `Limits.max_immediate_elements`. Source: MLIR language reference, attributes; dense literals as mlir-opt 22
reads them.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence

from commonir.base.file_codes import LIMIT_EXCEEDED
from commonir.base.lazy import lazy_pattern
from commonir.base.limits import DEFAULT_LIMITS, Limits
from commonir.base.tuples import NamedTuple
from commonir.ir.data import TEXT_KINDS, Data, InlineData, SplatData, TextData, packed_codes
from commonir.ir.floats import OverflowedError, bits_of
from commonir.ir.storage import data_of_mlir_bytes, mlir_size_bytes
from commonir.ir.types import ComplexType, ElementType, TensorType, boolean, f32, f64, is_signless
from commonir.text.lexer import Scanner

_LONGEST_NUMBER = 400
_HEX_SIGN = '"0x'
# Up to the mark that closes a literal, over strings and comments.
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
    """The place of a literal between `<` and `>`, or before a comma."""

    start: int
    end: int


class Listed(NamedTuple):
    """Elements in nested lists, their codes or strings, and the shape of the lists; () of one without brackets."""

    values: list[int] | list[str]
    shape: tuple[int, ...]


class ElementReader(Scanner):
    """Reads numbers and literals of tensors at the current token."""

    def __init__(
        self, source: str, file: str = "<text>", limits: Limits = DEFAULT_LIMITS, lines_before: int = 0
    ) -> None:
        self.limits = limits
        super().__init__(source, file, lines_before)

    def place_missing(self) -> int:
        # Behind what stands before, which may end lines above: as mlir-opt does, which takes `//` there for a comment.
        source = self.source
        end = at = max(self.start - (self.kind == "end"), 0)
        while True:
            while end and source[end - 1] in " \t":
                end -= 1
            if not end:
                return at
            if source[end - 1] not in "\r\n":
                return end
            end -= 1
            begin = source.rfind("\n", 0, end) + 1
            comment = source.find("//", max(begin, source.rfind("\r", begin, end)), end)
            end = end if comment < 0 else comment

    def whole(self, digits: str, at: int) -> int:
        """The number that decimal or hexadecimal digits say."""
        if len(digits) > _LONGEST_NUMBER:
            self.fail(f"a number of {len(digits)} digits", at=at, code=LIMIT_EXCEEDED)
        return int(digits, 16) if digits.startswith("0x") else int(digits)

    def integer(self, most: int = (1 << 63) - 1) -> int:
        """Reads an integer, perhaps negative, which 64 bits hold."""
        start = self.start
        sign = -1 if self.take("-") else 1
        at = self.start
        number = sign * self.whole(self.expect_kind("int", "an integer"), at)
        if not -(1 << 63) <= number <= most:
            self.fail(f"{number} does not fit 64 bits", at=start)
        return number

    # -- one number

    def code(self, element: ElementType) -> int:
        """Reads one number of a type, and returns its code without a sign."""
        if isinstance(element, ComplexType):
            self.expect("(")
            real = self.code(element.part)
            self.expect(",")
            imaginary = self.code(element.part)
            self.expect(")")
            return imaginary << element.part.bits | real
        if self.kind == "word" and self.text in ("true", "false") and element is boolean:
            return int(self.advance() == "true")
        start, negative = self.start, self.take("-")
        if self.kind not in ("int", "float"):
            self.unexpected(f"a number of type {element}" if element.kind != "bool" else "true or false")
        literal, kind = self.text, self.kind
        self.advance()
        return self.number_code(literal, kind, element, start, negative=negative)

    def number_code(self, literal: str, kind: str, element: ElementType, start: int, *, negative: bool) -> int:
        """The code of a number of a type, from its token."""
        if element.is_float:
            return self._float_code(literal, kind, element, start, negative=negative)
        if element.kind not in ("bool", "int", "uint", "index"):
            self.fail(f"a number cannot be of type {element}", at=start)
        if kind == "float":
            self.fail(f"expected an integer for type {element}, found '{literal}'", at=start)
        value = self.whole(literal, start)
        bits = 1 if element is boolean else element.bits
        if negative:
            fits = element.kind != "uint" and (value <= 1 << (bits - 1) if bits else not value)
        else:
            has_sign = element.kind == "index" or (element.kind == "int" and not is_signless(element))
            fits = not value >> (bits - has_sign)
        if not fits:
            self.fail(f"{'-' if negative else ''}{literal} does not fit {element}", at=start)
        return (-value if negative else value) & ((1 << bits) - 1)

    def _float_code(self, literal: str, kind: str, element: ElementType, start: int, *, negative: bool) -> int:
        if kind == "float":
            value = float(literal)
            try:
                return bits_of(-value if negative else value, element.name, saturate=value - value != 0.0)
            except OverflowedError:
                pass
            self.fail(f"{literal} does not fit {element}", at=start)
        if not literal.startswith("0x") or negative:
            self.fail(f"expected a number with a point for type {element}, found '{literal}'", at=start)
        code = self.whole(literal, start)
        if code >> element.bits:
            self.fail(f"{literal} does not fit {element}", at=start)
        return code

    # -- literals of tensors

    def literal(self) -> Literal:
        """The literal after the current `<`, up to its `>`, which is moved over."""
        if not self.at("<"):
            self.unexpected("'<'")
        blank = _BLANKS.match(self.source, self.end)
        start = self.end if blank is None else blank.end()
        if self.source.startswith(_HEX_SIGN, start):
            end = self.source.find('"', start + 1) + 1
            after = _BLANKS.match(self.source, end)
            end = end if after is None else after.end()
            if self.source.startswith(">", end):
                self.move_to(end + 1)
                return Literal(start, end)
        found = _UP_TO_CLOSE.match(self.source, start)
        end = start if found is None else found.end()
        if not self.source.startswith(">", end):
            self.fail("unterminated literal", at=start)
        self.move_to(end + 1)
        return Literal(start, end)

    def elements(self, literal: Literal, type: TensorType) -> Data:
        """The elements that a literal says for a type of static shape."""
        is_text = type.element.kind in TEXT_KINDS
        if self.source.startswith('"', literal.start) and not is_text:
            return self._from_hex(literal, type)
        if type.count > self.limits.max_immediate_elements and (is_text or self.source.startswith("[", literal.start)):
            self.fail(f"a constant of {type.count} elements", at=literal.start, code=LIMIT_EXCEEDED)
        if type.element.size_bytes(type.count) > self.limits.max_tensor_bytes:
            self.fail(f"a constant of {type.count} elements", at=literal.start, code=LIMIT_EXCEEDED)
        result = None if is_text else self._number_of_all(literal, type)
        if result is None and not is_text:
            result = _quickly(self.source[literal.start : literal.end], type)
        return result or self._from_tokens(literal, type)

    def _number_of_all(self, literal: Literal, type: TensorType) -> Data | None:
        """The elements that a single number says; None for any other literal."""
        found = _NUMBER.fullmatch(self.source, literal.start, literal.end)
        if found is None or isinstance(type.element, ComplexType):
            return None
        kind = "float" if "." in found[2] else "int"
        code = self.number_code(found[2], kind, type.element, literal.start, negative=bool(found[1]))
        content = packed([code], type.element)
        return InlineData(type, content) if type.count == 1 else SplatData(type, content)

    def _from_hex(self, literal: Literal, type: TensorType) -> Data:
        from binascii import unhexlify  # noqa: PLC0415  few texts say constants so

        digits = self.source[literal.start : literal.end].rstrip()
        content = None
        if digits.startswith(_HEX_SIGN) and digits.endswith('"'):
            try:
                content = unhexlify(digits[len(_HEX_SIGN) : -1])
            except ValueError:
                content = None
        if content is None:
            self.fail("expected hexadecimal digits '0x...' in pairs", at=literal.start)
        result = data_of_mlir_bytes(type, content)
        if result is None:
            message = f"{type} takes {mlir_size_bytes(type)} bytes, but {len(content)} are given"
            self.fail(message, at=literal.start)
        return result

    def _from_tokens(self, literal: Literal, type: TensorType) -> Data:
        after = self.end, self.kind, self.text, self.start
        self.move_to(literal.start)
        is_text = type.element.kind in TEXT_KINDS
        values: list[int] = []
        texts: list[str] = []
        is_splat = False

        def one() -> None:
            if is_text:
                texts.append(self.string())
            else:
                values.append(self.code(type.element))

        if self.start >= literal.end:
            if type.count:
                self.fail(f"expected {type.count} elements, found none", at=literal.start)
        elif self.at("["):
            self._lists(type.static_shape, one)
        else:
            one()
            is_splat = True
        if self.start != literal.end:
            self.unexpected("'>'")
        self.end, self.kind, self.text, self.start = after
        if is_splat and type.count != 1:
            return TextData(type, texts * type.count) if is_text else SplatData(type, packed(values, type.element))
        return TextData(type, texts) if is_text else InlineData(type, packed(values, type.element))

    def listed(self, element: ElementType) -> Listed:
        """Reads one element, or lists of them nested to any shape."""
        values: list[int] = []
        texts: list[str] = []
        shape: list[int] = []
        counts: list[int] = []  # members so far of the lists that are open
        while True:
            if self.at("[") and (len(counts) < len(shape) or not (values or texts)):
                self.advance()
                if len(counts) == len(shape):
                    shape.append(-1)
                    if len(shape) > self.limits.max_rank:
                        self.fail(f"more than {self.limits.max_rank} dimensions", code=LIMIT_EXCEEDED)
                counts.append(0)
            elif len(counts) < len(shape):
                self.unexpected("'['")
            elif not (counts and not counts[-1] and self.at("]")):
                if element.kind in TEXT_KINDS:
                    texts.append(self.string())
                else:
                    values.append(self.code(element))
                if not counts:
                    return Listed(values or texts, ())
                counts[-1] += 1
            while not (counts[-1] and self.take(",")):
                if not self.at("]"):
                    if counts[-1]:
                        self.unexpected("',' or ']'")
                    break
                at = self.start
                self.advance()
                found = counts.pop()
                if shape[len(counts)] not in (-1, found):
                    self.fail(f"expected {shape[len(counts)]} elements in this list, found {found}", at=at)
                shape[len(counts)] = found
                if not counts:
                    return Listed(values or texts, tuple(shape))
                counts[-1] += 1

    @staticmethod
    def data(type: TensorType, values: Sequence[int | str]) -> Data:
        """The data of codes or strings."""
        if type.element.kind in TEXT_KINDS:
            return TextData(type, [v for v in values if isinstance(v, str)])
        return InlineData(type, packed([v for v in values if isinstance(v, int)], type.element))

    def _lists(self, shape: Sequence[int], one: Callable[[], None]) -> None:
        """Lists nested as deep as a shape says, with as many members as it says."""
        open_lists: list[tuple[int, int]] = []  # where each starts, and how many members it has so far
        while True:
            if len(open_lists) < len(shape):
                at = self.start
                self.expect("[")
                open_lists.append((at, 0))
            elif self.at("["):
                self.unexpected("one element")
            else:
                one()
                self._count_member(open_lists)
            while True:
                start, count = open_lists[-1]
                if count and self.take(","):
                    break
                if not self.at("]"):
                    if count:
                        self.unexpected("',' or ']'")
                    break
                self.advance()
                open_lists.pop()
                if count != shape[len(open_lists)]:
                    self.fail(f"expected {shape[len(open_lists)]} elements here, found {count}", at=start)
                if not open_lists:
                    return
                self._count_member(open_lists)

    @staticmethod
    def _count_member(open_lists: list[tuple[int, int]]) -> None:
        start, count = open_lists[-1]
        open_lists[-1] = start, count + 1


def packed(codes: Sequence[int], element: ElementType) -> bytes:
    """Codes of elements as the bytes that `Data` holds."""
    return bytes(codes) if element is boolean else packed_codes(codes, element.bits)


def _quickly(text: str, type: TensorType) -> Data | None:
    """The elements of a literal of plain numbers in lists of the right sizes; None for everything else."""
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
        except (ValueError, struct.error):  # too many digits, or not in the range: told token by token
            return None
        return InlineData(type, content)
    return None


def _members(text: str, shape: Sequence[int]) -> str | None:
    """The members of the innermost lists, separated by commas, when lists nest and are as long as a shape says."""
    if not shape or not all(shape) or '"' in text or "/" in text:
        return None
    rows = _LIST.findall(text)
    width = shape[-1]
    if any(row.count(",") + 1 != width for row in rows):
        return None
    outer = _LIST.sub("x", text)
    for size in reversed(shape[:-1]):
        lists = _LIST.findall(outer)
        if any(row.count("x") != size or _MEMBERS.fullmatch(row) is None for row in lists):
            return None
        outer = _LIST.sub("x", outer)
    return ",".join(rows) if outer.strip() == "x" else None
