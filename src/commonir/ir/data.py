"""Contents of constant tensors, which may stay on disk until they are read.

Elements are in row-major order, little-endian; elements of fewer than eight bits are packed, the first in the least
significant bits, as in Core ML's weight files. numpy is imported only by `array`.
"""

from __future__ import annotations

import os
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise
from math import prod
from typing import TYPE_CHECKING, Any, BinaryIO

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import ELIDED_CONSTANT, FILE_NOT_ACCESSIBLE, LIMIT_EXCEEDED
from commonir.base.file_contents import contents_of, identity_of
from commonir.base.limits import DEFAULT_LIMITS
from commonir.base.text import plural
from commonir.ir.floats import bits_of, float_of
from commonir.ir.types import ELEMENT_TYPES, MORE_FLOATS, ElementType, TensorType, boolean, f16, f32, f64
from commonir.symbolic.errors import OutOfRangeError

if TYPE_CHECKING:
    from mmap import mmap

    import numpy as np
    from numpy.typing import NDArray

Scalar = int | float | bool | str

TEXT_KINDS = ("string", "dialect", "vector")
"""Kinds of element types whose elements are stored as strings."""

# Contents of up to this many bytes are compared by value, larger ones by identity, because hashing them would be slow.
_MAX_COMPARED_BYTES = 4096

# Copies through this process are done in chunks of this size.
_CHUNK_BYTES = 2**22

_STRUCT_CODES = {8: "b", 16: "h", 32: "i", 64: "q"}
_FLOAT_CODES = {f16: "e", f32: "f", f64: "d"}


class Data(ABC):
    """The elements of a constant tensor of a static type. Immutable; compared by identity."""

    __slots__ = ("type",)

    def __init__(self, type: TensorType) -> None:
        self.type = type

    @property
    def element(self) -> ElementType:
        """The element type."""
        return self.type.element

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        return self.type.static_shape

    @property
    def count(self) -> int:
        """Number of elements."""
        return self.type.count

    @property
    def size_bytes(self) -> int:
        """Bytes of the packed elements."""
        return self.element.size_bytes(self.count)

    @abstractmethod
    def buffer(self) -> memoryview:
        """Returns the packed bytes. They are only valid while this object lives."""

    def values(self) -> tuple[Scalar, ...]:
        """Returns every element as a Python value, in row-major order. For small tensors: it needs no numpy."""
        return tuple(_unpack(self.buffer(), self.element, self.count))

    def contents(self) -> bytes | tuple[Scalar, ...]:
        """Returns the packed elements, or the strings: a key that is equal for equal elements of one type."""
        return bytes(self.buffer()) if self.element.bits else self.values()

    def splat(self) -> Scalar | None:
        """Returns the value of all elements; None when they differ or there are none."""
        if not self.count:
            return None
        if self.element.bits and not self.element.bits % 8:
            content, width = self.buffer(), self.element.bits // 8
            first = bytes(content[:width])
            if len(content) > width and content[width:] != content[:-width]:
                return None
            return next(iter(_unpack(memoryview(first), self.element, 1)))
        values = self.values()
        return values[0] if all(v == values[0] for v in values) else None

    @property
    def identity(self) -> object:
        """A key that is equal for equal elements if comparing them is cheap, else only for the same object."""
        return id(self)

    def array(self) -> NDArray[np.generic]:
        """Returns the elements as a read-only numpy array of the declared shape, without a copy where possible."""
        from commonir.base.arrays import array_of_bytes  # noqa: PLC0415  loads numpy

        return array_of_bytes(self.buffer(), self.element.name, self.element.bits, self.shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.type})"


class InlineData(Data):
    """Elements in memory, as packed bytes."""

    __slots__ = ("_bytes",)

    def __init__(self, type: TensorType, content: bytes | memoryview) -> None:
        super().__init__(type)
        if len(content) != self.size_bytes:
            raise ValueError(f"{type} takes {self.size_bytes} bytes, but {len(content)} are given")
        self._bytes = content

    @property
    def identity(self) -> object:
        return bytes(self._bytes) if len(self._bytes) <= _MAX_COMPARED_BYTES else id(self)

    def buffer(self) -> memoryview:
        return memoryview(self._bytes)


class SplatData(Data):
    """Elements that are all equal; `element_bytes` are the packed bytes of one."""

    __slots__ = ("_expanded", "element_bytes")

    def __init__(self, type: TensorType, element_bytes: bytes) -> None:
        super().__init__(type)
        self.element_bytes = element_bytes
        self._expanded: bytes | None = None

    def splat(self) -> Scalar | None:
        if not self.count:
            return None
        return next(iter(_unpack(memoryview(self.element_bytes), self.element, 1)))

    @property
    def identity(self) -> object:
        return bytes(self.buffer()) if 0 < self.size_bytes <= _MAX_COMPARED_BYTES else (self.count, self.element_bytes)

    def buffer(self) -> memoryview:
        if self._expanded is None:
            if self.size_bytes > DEFAULT_LIMITS.max_tensor_bytes:
                message = f"a constant of {self.count:,} equal elements is needed element by element"
                raise DiagnosticError(Diagnostic(LIMIT_EXCEEDED, message))
            bits = self.element.bits
            if bits % 8:
                code = int.from_bytes(self.element_bytes, "little") & ((1 << bits) - 1)
                eight = sum(code << (n * bits) for n in range(_GROUP)).to_bytes(bits, "little")
                self._expanded = (eight * (-(-self.count // _GROUP)))[: self.size_bytes]
                spare = self.size_bytes * 8 - self.count * bits
                if spare:  # padding bits are zero
                    self._expanded = self._expanded[:-1] + bytes([self._expanded[-1] & (0xFF >> spare)])
            else:
                self._expanded = self.element_bytes * self.count
        return memoryview(self._expanded)


class ResourceData(InlineData):
    """Elements in the resource section of a text, under a key, with the alignment in bytes that the text declares."""

    __slots__ = ("alignment", "key")

    def __init__(self, type: TensorType, content: bytes | memoryview, key: str, alignment: int) -> None:
        super().__init__(type, content)
        self.key = key
        self.alignment = alignment

    @property
    def identity(self) -> object:
        return id(self)


class AbsentData(Data):
    """Elements of a resource that the text refers to but does not contain. Reading them raises E0242."""

    __slots__ = ("key",)

    def __init__(self, type: TensorType, key: str) -> None:
        super().__init__(type)
        self.key = key

    def buffer(self) -> memoryview:
        message = f"the text has no contents of the constant 'dense_resource<{self.key}>'"
        raise DiagnosticError(Diagnostic(ELIDED_CONSTANT, message))


class TextData(Data):
    """Elements that are strings: of type string, or of a dialect type whose elements are written as strings."""

    __slots__ = ("_strings",)

    def __init__(self, type: TensorType, strings: Sequence[str]) -> None:
        super().__init__(type)
        self._strings = tuple(strings)

    @property
    def identity(self) -> object:
        return self._strings

    def buffer(self) -> memoryview:
        raise TypeError("strings have no packed form")

    def values(self) -> tuple[Scalar, ...]:
        return self._strings

    def array(self) -> NDArray[np.generic]:
        from commonir.base.arrays import array_of_texts  # noqa: PLC0415  loads numpy

        return array_of_texts(self._strings, self.shape)


class MappedFile:
    """A file that is mapped into memory when first used, or read if it is small; shared by all the tensors it holds.

    `status` is the result of `stat` when the file was opened, which detects that the file was replaced.
    """

    __slots__ = ("_contents", "_identity", "path", "size_bytes")

    def __init__(self, path: str, size_bytes: int, status: os.stat_result | None = None) -> None:
        self.path = path
        self.size_bytes = size_bytes
        self._contents: bytes | mmap | None = None
        self._identity = None if status is None else identity_of(status)

    def ensure_mapped(self) -> None:
        """Maps the file now, so that reads are not affected when another file replaces it.

        Raises: FILE_NOT_ACCESSIBLE when it cannot be opened, was replaced already or became shorter.
        """
        self.view(0, min(1, self.size_bytes))

    def copy_to(self, stream: BinaryIO, offset: int, length: int) -> None:
        """Appends bytes `[offset, offset + length)` to a stream, inside the kernel where the system can.

        Raises: TRUNCATED_FILE; as `view`; OSError of the stream.
        """
        from commonir.base.copying import copy_range  # noqa: PLC0415  few programs stay in files

        try:
            with open(self.path, "rb") as file:
                if self._is_same(os.fstat(file.fileno())):
                    copy_range(file.fileno(), offset, length, stream)
                    return
        except OSError:
            if self._contents is None:
                raise
        end = offset + length
        stream.writelines(self.view(n, min(_CHUNK_BYTES, end - n)) for n in range(offset, end, _CHUNK_BYTES))

    def clone_to(self, path: str | os.PathLike[str]) -> bool:
        """Creates a copy of the file that shares its blocks on disk; returns False where the file system cannot."""
        from commonir.base.copying import clone_file  # noqa: PLC0415  as above

        try:
            with open(self.path, "rb") as file:
                return self._is_same(os.fstat(file.fileno())) and clone_file(file.fileno(), path)
        except OSError:
            return False

    def link_to(self, path: str | os.PathLike[str]) -> bool:
        """Creates a hard link to the file; returns whether that succeeded. Only for a file that is about to be removed:
        otherwise a write through one name would change the contents under the other.
        """
        if self._identity is None or not os.access(self.path, os.W_OK):
            return False
        try:
            os.link(self.path, path)
        except (OSError, NotImplementedError):
            return False
        if self._is_same(os.stat(path)):
            return True
        os.unlink(path)
        return False

    def is_at(self, path: str | os.PathLike[str]) -> bool:
        """Returns whether a path leads to this file, and not to one that has taken its place."""
        try:
            return self._identity is not None and self._is_same(os.stat(path))
        except OSError:
            return False

    def _is_same(self, status: os.stat_result) -> bool:
        return self._identity is None or self._identity == identity_of(status)

    def view(self, offset: int, length: int) -> memoryview:
        """Returns the bytes `[offset, offset + length)` without copying.

        Raises: FILE_NOT_ACCESSIBLE when it cannot be opened, was replaced or became shorter since it was loaded;
            ValueError when the range exceeds the file.
        """
        if offset < 0 or length < 0 or offset + length > self.size_bytes:
            raise ValueError(f"bytes {offset} to {offset + length} exceed {self.path}, which has {self.size_bytes}")
        if length == 0:
            return memoryview(b"")
        contents = self._contents
        if contents is None:
            contents = self._contents = self._opened()
        # Reading a page behind the end of a file ends the process.
        if (len(contents) if isinstance(contents, bytes) else contents.size()) < self.size_bytes:
            raise self._lost("it became shorter after it was loaded")
        return memoryview(contents)[offset : offset + length]

    def _opened(self) -> bytes | mmap:
        try:
            with open(self.path, "rb") as file:
                status = os.fstat(file.fileno())
                if status.st_size < self.size_bytes:
                    raise self._lost("it became shorter after it was loaded")
                if not self._is_same(status):
                    raise self._lost("it was replaced or changed after it was loaded")
                return contents_of(file)
        except OSError as error:
            raise self._lost((error.strerror or type(error).__name__).lower()) from error

    def _lost(self, reason: str) -> DiagnosticError:
        return DiagnosticError(
            Diagnostic(FILE_NOT_ACCESSIBLE, f"cannot be read: {reason}", file=self.path, help="load the model again")
        )


class FileData(Data):
    """Elements at an offset of a file. Units: `offset` and `length` in bytes."""

    __slots__ = ("file", "offset")

    def __init__(self, type: TensorType, file: MappedFile, offset: int) -> None:
        super().__init__(type)
        self.file = file
        self.offset = offset

    def buffer(self) -> memoryview:
        return self.file.view(self.offset, self.size_bytes)


class ArrayData(Data):
    """Elements in a numpy array, as conversions compute them."""

    __slots__ = ("_array",)

    def __init__(self, type: TensorType, array: NDArray[np.generic]) -> None:
        super().__init__(type)
        if array.shape != type.static_shape:
            raise ValueError(f"{type} cannot hold an array of shape {array.shape}")
        self._array = array

    def buffer(self) -> memoryview:
        from commonir.base.arrays import bytes_of_array  # noqa: PLC0415  loads numpy

        return memoryview(bytes_of_array(self._array, self.element.bits))

    def array(self) -> NDArray[np.generic]:
        return self._array


class DeferredData(Data):
    """Elements computed from other data when first needed, for example a transposed weight."""

    __slots__ = ("_compute", "_expanded")

    def __init__(self, type: TensorType, compute: Callable[[], Data]) -> None:
        super().__init__(type)
        self._compute = compute
        self._expanded: Data | None = None

    def _data(self) -> Data:
        if self._expanded is None:
            self._expanded = self._compute()
        return self._expanded

    def buffer(self) -> memoryview:
        return self._data().buffer()

    def values(self) -> tuple[Scalar, ...]:
        return self._data().values()

    def array(self) -> NDArray[np.generic]:
        return self._data().array()


def computed_data(type: TensorType, compute: Callable[[], NDArray[np.generic]]) -> Data:
    """Returns elements that are computed as an array when first needed."""
    return DeferredData(type, lambda: ArrayData(type, compute()))


def data_of_positions(element: ElementType, shape: tuple[int, ...]) -> Data:
    """Returns the numbers from 0 on in row-major order, which are computed when they are first needed."""

    def compute() -> NDArray[np.generic]:
        import numpy as np  # noqa: PLC0415  as for `array`

        from commonir.base.arrays import dtype_of  # noqa: PLC0415  loads numpy

        return np.arange(prod(shape)).astype(dtype_of(element.name)).reshape(shape)

    return computed_data(TensorType(element, shape), compute)


def data_of_array(array: Any) -> Data:
    """Returns a copy of the elements of a numpy array.

    Raises: ValueError for a dtype that no element type has.
    """
    from commonir.base.arrays import name_of  # noqa: PLC0415  loads numpy

    try:
        element = ELEMENT_TYPES[name_of(array.dtype)]
    except KeyError:
        raise ValueError(f"no element type is like {array.dtype}") from None
    return ArrayData(TensorType(element, tuple(array.shape)), array.copy(order="C"))


def copy_data(data: Data, stream: BinaryIO) -> None:
    """Appends the bytes of data to a stream."""
    if isinstance(data, FileData):
        data.file.copy_to(stream, data.offset, data.size_bytes)
    else:
        stream.write(data.buffer())


def data_of(element: ElementType, shape: tuple[int, ...], values: Sequence[Scalar]) -> Data:
    """Returns data of a few elements, from Python values.

    Raises: ValueError when the number of values is not that of the shape, OutOfRangeError for a number that the element
    type does not have.
    """
    type = TensorType(element, shape)
    if len(values) != type.count:
        raise ValueError(f"{type} has {plural(type.count, 'element')}, but {len(values)} are given")
    if element.kind in TEXT_KINDS:
        return TextData(type, [str(v) for v in values])
    try:
        return InlineData(type, _pack(element, values))
    except (struct.error, OverflowError):
        number = next(v for v in values if not _is_packed(element, v))
        raise OutOfRangeError(number, element) from None


def _is_packed(element: ElementType, value: Scalar) -> bool:
    try:
        _pack(element, (value,))
    except (struct.error, OverflowError):
        return False
    return True


def sparse_fault(values: Data, indices: Data, shape: tuple[int, ...]) -> str | None:
    """Returns why data are not the stored elements of a sparse tensor and their indices, coordinates or row-major ones;
    None if they are. Indices are ascending, each occurs once.

    Source: ONNX, onnx.proto, `SparseTensorProto`.
    """
    count, rank = values.count, len(shape)
    if len(values.shape) != 1 or indices.shape not in ((count,), (count, rank)):
        found = f"found values {values.type} and indices {indices.type}"
        return f"a sparse tensor of {plural(rank, 'dimension')} has values [n] and indices [n] or [n, {rank}]: {found}"
    if not indices.element.is_integer:
        return f"the indices of a sparse tensor are integers, found {indices.type}"
    numbers = [int(v) for v in indices.values() if not isinstance(v, str | complex)]
    limits = shape if len(indices.shape) > 1 else (prod(shape),)
    places = [tuple(numbers[n : n + len(limits)]) for n in range(0, len(numbers), len(limits) or 1)]
    for place in places:
        if not all(0 <= i < d for i, d in zip(place, limits, strict=True)):
            return f"index [{', '.join(map(str, place))}] of a sparse tensor is outside of {list(limits)}"
    if any(a >= b for a, b in pairwise(places)):
        return "the indices of a sparse tensor must be unique and ascending"
    return None


def rounded(value: float, element: ElementType) -> float:
    """Returns a value rounded to a floating-point type, ties to even; see `ir.floats` for overflow."""
    return float_of(bits_of(value, element.name), element.name) if element.is_float else value


def packed_codes(codes: Sequence[int], bits: int) -> bytes:
    """Returns codes of `bits` bits each, taken modulo 2**bits, as packed bytes."""
    if bits in _STRUCT_CODES:
        mask = (1 << bits) - 1
        return struct.pack(f"<{len(codes)}{_STRUCT_CODES[bits].upper()}", *[code & mask for code in codes])
    return _pack_bits(codes, bits)[: (len(codes) * bits + 7) // 8]


def codes_of(content: memoryview | bytes, bits: int, count: int) -> Sequence[int]:
    """Returns the codes in packed bytes, as unsigned integers."""
    if bits in _STRUCT_CODES:
        return struct.unpack(f"<{count}{_STRUCT_CODES[bits].upper()}", content)
    return [*islice(_unpack_bits(content, bits), count)] if bits else [0] * count


def _pack(element: ElementType, values: Sequence[Scalar]) -> bytes:
    if element is boolean:
        return bytes(bool(v) for v in values)
    if element in _FLOAT_CODES:
        return struct.pack(f"<{len(values)}{_FLOAT_CODES[element]}", *(float(v) for v in values))
    if element.is_integer or element.kind == "index":
        numbers = [int(v) for v in values]
        if element.bits in _STRUCT_CODES:
            code = _STRUCT_CODES[element.bits]
            return struct.pack(f"<{len(values)}{code.upper() if element.kind == 'uint' else code}", *numbers)
        return packed_codes(numbers, element.bits)
    if element.name in MORE_FLOATS:
        return packed_codes([bits_of(float(v), element.name) for v in values], element.bits)
    from commonir.base.arrays import bytes_of_values  # noqa: PLC0415  loads numpy

    return bytes_of_values(values, element.name, element.bits)


def _unpack(content: memoryview, element: ElementType, count: int) -> Iterator[Scalar]:
    if element is boolean:
        yield from (b != 0 for b in content)
    elif element in _FLOAT_CODES:
        yield from struct.unpack(f"<{count}{_FLOAT_CODES[element]}", content)
    elif element.kind in ("int", "uint", "index"):
        if element.kind != "uint" and element.bits in _STRUCT_CODES:
            yield from struct.unpack(f"<{count}{_STRUCT_CODES[element.bits]}", content)
            return
        sign = 0 if element.kind == "uint" or not element.bits else 1 << (element.bits - 1)
        yield from ((code ^ sign) - sign for code in codes_of(content, element.bits, count))
    elif element.name in MORE_FLOATS:
        yield from (float_of(code, element.name) for code in codes_of(content, element.bits, count))
    else:
        from commonir.base.arrays import values_of_bytes  # noqa: PLC0415  loads numpy

        yield from values_of_bytes(content, element.name, element.bits, count)


# Eight elements fill whole bytes for any element width.
_GROUP = 8


def _pack_bits(numbers: Sequence[int], bits: int) -> bytes:
    out = bytearray()
    mask = (1 << bits) - 1
    for start in range(0, len(numbers), _GROUP):
        group = 0
        for n, v in enumerate(numbers[start : start + _GROUP]):
            group |= (v & mask) << (n * bits)
        out += group.to_bytes(bits, "little")
    return bytes(out)


def _unpack_bits(content: memoryview | bytes, bits: int) -> Iterator[int]:
    mask = (1 << bits) - 1
    for start in range(0, len(content), bits):
        group = int.from_bytes(content[start : start + bits], "little")
        for n in range(_GROUP):
            yield group >> (n * bits) & mask
