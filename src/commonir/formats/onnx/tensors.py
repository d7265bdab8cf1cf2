"""Contents of the tensors of ONNX files: in a raw field, in a field of their type, or in a file of their own.

Raw contents are the packed elements as `ir.data` has them. In fields by type, narrow elements are numbers of 32 bits.
Source: onnx.proto of ONNX 1.23, `TensorProto`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from commonir.base.text import plural
from commonir.dialects.onnx.data_types import ELEMENTS
from commonir.formats.onnx.attributes import bytes_of, text_of
from commonir.formats.onnx.messages import TensorProto, field_number
from commonir.formats.onnx.packed import OutOfRangeError, PackedError, check_varints, packed_varints, varint_count
from commonir.ir.data import Data, DeferredData, InlineData, TextData
from commonir.ir.types import ElementType, TensorType, f32, f64, i32, i64, string, u32, u64
from commonir.ir.types import complex64 as c64
from commonir.ir.types import complex128 as c128

_BYTE_BITS = 8
_WRITTEN_ELEMENTS = 2**16
"""Elements that are numbers of Python at one time while they are written."""

# The field that holds elements of a type, and the format of one number in it; narrow elements are in `int32_data`.
_FIELDS = {
    f32: ("float_data", "f"),
    c64: ("float_data", "f"),
    f64: ("double_data", "d"),
    c128: ("double_data", "d"),
    i64: ("int64_data", "q"),
    u64: ("uint64_data", "Q"),
    u32: ("uint64_data", "I"),
    i32: ("int32_data", "i"),
}
_WIDE = {"int32_data": "i", "uint64_data": "Q"}
"""The format of any number in a field whose numbers may be out of the range of the elements."""
_RAW, _EXTERNAL = (field_number(TensorProto, name) for name in ("raw_data", "external_data"))
_SIGNED = {8: "b", 16: "h"}
_UNSIGNED = {8: "B", 16: "H"}


class TensorError(Exception):
    """The contents of a tensor cannot be those of its type and shape."""


class ToldError(TensorError):
    """The contents of a tensor are not available, for a reason that was reported before."""


class WrappedData(InlineData):
    """Elements that are the low bits of integers in a file: `stated_numbers`, as packed numbers of the field."""

    __slots__ = ("stated_numbers",)

    def __init__(self, type: TensorType, content: bytes | memoryview, stated_numbers: bytes | memoryview) -> None:
        super().__init__(type, content)
        self.stated_numbers = stated_numbers


class WrappedError(TensorError):
    """Integers in the field of a type are out of its range. `data` are their low bits: what runtimes take."""

    def __init__(self, message: str, data: WrappedData) -> None:
        super().__init__(message)
        self.data = data


ReadTensor = Callable[[TensorProto, TensorType], Data]
"""Gives the contents of a tensor. Raises: TensorError."""


class TensorReader(Protocol):
    """Provides the contents of tensors, and how files store them."""

    def __call__(self, proto: TensorProto, type: TensorType) -> Data:
        """The contents of a tensor. Raises: TensorError."""
        ...

    def is_typed(self, proto: TensorProto, present: set[int]) -> bool:
        """Whether the contents lie in the message, in the field of their type; `present` are the numbers of fields."""
        ...


class InMessage:
    """Contents that messages hold themselves."""

    def __call__(self, proto: TensorProto, type: TensorType) -> Data:
        return read_contents(proto, type)

    def is_typed(self, proto: TensorProto, present: set[int]) -> bool:
        element = ELEMENTS.get(proto.data_type)
        if _EXTERNAL in present or element is None or element is string:
            return False
        return _RAW not in present or (not proto.raw_data and contents_field(element) in present)


IN_MESSAGE = InMessage()


def read_contents(proto: TensorProto, type: TensorType) -> Data:
    """The elements that a message holds itself.

    Raises: TensorError.
    """
    if type.element is string:
        return _texts(proto, type)
    raw = proto.raw_data
    expected = type.element.size_bytes(type.count)
    stated: bytes | None = None
    if not raw and expected:
        raw, stated = _packed(proto, type.element)
    if len(raw) != expected:
        raise TensorError(f"{type} takes {expected} bytes, found {len(raw)}")
    if stated is not None:
        raise _wrapped(_field(type.element)[0], WrappedData(type, raw, stated))
    return InlineData(type, raw)


def _texts(proto: TensorProto, type: TensorType) -> Data:
    texts = [text_of(content) for content in proto.string_data]
    if len(texts) != type.count:
        raise TensorError(f"{type} has {plural(type.count, 'element')}, found {len(texts)}")
    return TextData(type, texts)


def _field(element: ElementType) -> tuple[str, str]:
    result = _FIELDS.get(element)
    if result is not None:
        return result
    codes = _SIGNED if element.kind == "int" else _UNSIGNED
    # Elements of less than a byte are packed first.
    return "int32_data", codes[element.bits] if element.bits in codes and element.bits >= _BYTE_BITS else "B"


def contents_field(element: ElementType) -> int:
    """The number of the field of a message that holds elements of a type which are not in raw form."""
    return field_number(TensorProto, "string_data" if element is string else _field(element)[0])


def _wrapped(field: str, data: WrappedData) -> WrappedError:
    return WrappedError(f"an element of '{field}' is not of type {data.type.element}", data)


def _packed(proto: TensorProto, element: ElementType) -> tuple[bytes, bytes | None]:
    """Returns the packed elements of a field by type; if only the low bits of one count, also the numbers of the field.

    Raises: TensorError for bits of a float that has fewer.
    """
    name, code = _field(element)
    numbers: Iterable[int | float] = getattr(proto, name)
    arguments = tuple(numbers)
    try:
        return struct.pack(f"<{len(arguments)}{code}", *arguments), None
    except (struct.error, OverflowError):
        if not _wraps(element):
            raise TensorError(f"an element of '{name}' is not of type {element}") from None
        size_bytes = struct.calcsize(code)
        low = [int(n) % (1 << 8 * size_bytes) for n in arguments]
        stated = struct.pack(f"<{len(arguments)}{_WIDE[name]}", *arguments)
        return b"".join([n.to_bytes(size_bytes, "little") for n in low]), stated


def _wraps(element: ElementType) -> bool:
    """Whether of numbers out of range the low bits count, as for onnx and onnxruntime: those of floats are refused."""
    return element.kind in ("int", "uint", "bool")


def packed_contents(type: TensorType, field: str, pieces: Sequence[memoryview]) -> Data:
    """The elements of a field by type, given as they lie on the wire.

    Numbers of fixed width are taken as they are; others are checked, and decoded when something first needs them.
    Raises: TensorError.
    """
    element = type.element
    name, code = _field(element)
    expected = 0 if element is string or name != field else element.size_bytes(type.count)
    if is_fixed(element):
        result = sum(map(len, pieces))
    else:
        result = varint_count(pieces) * struct.calcsize(code)
    if result != expected:
        raise TensorError(
            f"{type} takes {element.size_bytes(type.count)} bytes, found {result if name == field else 0}"
        )
    if is_fixed(element):
        return InlineData(type, pieces[0] if len(pieces) == 1 else b"".join(pieces))
    is_narrow = name == "int32_data"
    try:
        check_varints(pieces, code, is_narrow=is_narrow)
    except OutOfRangeError:
        if not _wraps(element):
            raise TensorError(f"an element of '{name}' is not of type {element}") from None
        low = packed_varints(pieces, code, is_narrow=is_narrow, wraps=True)
        stated = packed_varints(pieces, _WIDE[name], is_narrow=is_narrow)
        raise _wrapped(name, WrappedData(type, low, stated)) from None
    except PackedError:
        raise TensorError(f"an element of '{name}' is not of type {element}") from None
    return DeferredData(type, lambda: InlineData(type, packed_varints(pieces, code, is_narrow=is_narrow)))


def is_fixed(element: ElementType) -> bool:
    """Whether the field by type holds elements as they lie in memory."""
    return element is not string and _field(element)[1] in ("f", "d")


def typed_field(element: ElementType) -> str:
    """The name of the field by type."""
    return _field(element)[0]


def write_contents(data: Data, into: TensorProto) -> None:
    """Fills in the elements of a tensor, in raw form where there is one."""
    if data.element is string:
        into.string_data.extend([bytes_of(str(v)) for v in data.values()])
    else:
        into.raw_data = bytes(data.buffer())


def write_typed(data: Data, into: TensorProto) -> None:
    """Fills in the elements of a tensor in the field of their type, instead of those that are there: integers as their
    file states them.
    """
    if data.element is string:
        write_contents(data, into)
        return
    name, code = _field(data.element)
    into.ClearField(name)
    content = data.buffer()
    if isinstance(data, WrappedData):
        content, code = memoryview(data.stated_numbers), _WIDE[name]
    size_bytes = struct.calcsize(code)
    for start in range(0, len(content), _WRITTEN_ELEMENTS * size_bytes):
        part = content[start : start + _WRITTEN_ELEMENTS * size_bytes]
        getattr(into, name).extend(struct.unpack(f"<{len(part) // size_bytes}{code}", part))


def typed_values(proto: TensorProto, element: ElementType) -> tuple[int | float, ...]:
    """The numbers in the field of a type."""
    values: Iterable[int | float] = getattr(proto, _field(element)[0])
    return tuple(values)
