"""Machine code in memory from an object file, without a linker or LLVM.

Of an ELF object for x86-64, the sections that are loaded are put one after another, and distances between them are
filled in; addresses, in tables that are constant afterwards, when the image is loaded. Source: System V ABI, ELF-64
object files; AMD64 supplement, section 4.4.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import struct
import sys
from collections.abc import Callable, Mapping

from commonir.base.tuples import NamedTuple

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QIIq")
_MAGIC = b"\x7fELF\x02\x01"
_X86_64 = 62
_CONTENTS, _SYMBOLS, _RELOCATIONS = 1, 2, 4
_UNWINDING = 0x70000001
"""Tables for exceptions, which nothing raises."""

_IS_WRITTEN, _IS_LOADED = 1, 2
_TYPE_BITS, _FUNCTION = 15, 2
_ADDRESS = 1
"""R_X86_64_64: an address of 64 bits."""

_CONSTANT_ADDRESSES = ".data.rel.ro"
"""The section of data that is written by a linker only."""

_DISTANCES = (2, 4)
"""R_X86_64_PC32 and R_X86_64_PLT32: 32 bits from the place itself."""

_MAX_ALIGNMENT = 4096
"""A page: an image starts on one."""


class CodeImage(NamedTuple):
    """Code with its constants, where its functions start, and where addresses are to be stored, by what they lead to.

    All places are in bytes from the start.
    """

    content: bytes
    functions: Mapping[str, int]
    addresses: tuple[tuple[int, int], ...]


class _Section(NamedTuple):
    name: str
    type: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int


class _Symbol(NamedTuple):
    name: str
    is_function: bool
    section: int
    value: int


def is_loadable() -> bool:
    """Returns whether this process can run images: it is one of Linux on x86-64."""
    return sys.platform == "linux" and platform.machine() == "x86_64" and sys.maxsize > 1 << 32


def image_of(object_code: bytes) -> CodeImage | None:
    """Returns an object file as an image; None if it needs more than its own sections, and memory to write."""
    fields = _HEADER.unpack_from(object_code) if object_code.startswith(_MAGIC) else None
    if fields is None or fields[2] != _X86_64:
        return None
    start, count = fields[6], fields[12]
    sections = _sections(object_code, start, count, fields[13])
    table = next((s for s in sections if s.type == _SYMBOLS), None)
    content, places = bytearray(), dict[int, int]()
    for n, s in enumerate(sections):
        if s.flags & _IS_LOADED and s.size and s.type != _UNWINDING:
            is_constant = not s.flags & _IS_WRITTEN or s.name == _CONSTANT_ADDRESSES
            if s.type != _CONTENTS or not is_constant or s.alignment > _MAX_ALIGNMENT:
                return None
            content += bytes(-len(content) % max(s.alignment, 1))
            places[n] = len(content)
            content += object_code[s.offset : s.offset + s.size]
    if table is None:
        return None
    symbols = _symbols(object_code, table, sections[table.link])
    addresses: list[tuple[int, int]] = []
    for s in sections:
        if s.type == _RELOCATIONS and s.info in places:
            for at in range(s.offset, s.offset + s.size, _RELOCATION.size):
                place, type, number, addend = _RELOCATION.unpack_from(object_code, at)
                symbol = symbols[int(number)]
                if type not in (*_DISTANCES, _ADDRESS) or symbol.section not in places:
                    return None
                here, there = places[s.info] + place, places[symbol.section] + symbol.value + addend
                if type == _ADDRESS:
                    addresses.append((here, there))
                else:
                    struct.pack_into("<i", content, here, there - here)
    functions = {s.name: places[s.section] + s.value for s in symbols if s.is_function and s.section in places}
    return CodeImage(bytes(content), functions, tuple(addresses))


def _symbols(object_code: bytes, table: _Section, strings: _Section) -> list[_Symbol]:
    out: list[_Symbol] = []
    for at in range(table.offset, table.offset + table.size, _SYMBOL.size):
        name, info, _, section, value, _ = _SYMBOL.unpack_from(object_code, at)
        start = strings.offset + name
        out.append(_Symbol(_text(object_code, start), info & _TYPE_BITS == _FUNCTION, section, value))
    return out


def _sections(object_code: bytes, start: int, count: int, names: int) -> list[_Section]:
    rows = [_SECTION.unpack_from(object_code, start + n * _SECTION.size) for n in range(count)]
    out: list[_Section] = []
    for name, type, flags, _, offset, size, link, info, alignment, _ in rows:
        out.append(
            _Section(_text(object_code, rows[names][4] + name), type, flags, offset, size, link, info, alignment)
        )
    return out


def _text(object_code: bytes, start: int) -> str:
    return object_code[start : object_code.index(b"\0", start)].decode()


class LoadedImage:
    """An image in memory: its functions can be called while it lives. Raises: OSError where that is forbidden."""

    def __init__(self, image: CodeImage) -> None:
        self._functions = image.functions
        self._memory = mmap.mmap(-1, max(len(image.content), 1), prot=mmap.PROT_READ | mmap.PROT_WRITE)
        self._memory.write(image.content)
        self._start = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        for place, target in image.addresses:
            struct.pack_into("<Q", self._memory, place, self._start + target)
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        if protect(self._start, len(self._memory), mmap.PROT_READ | mmap.PROT_EXEC):
            raise OSError(ctypes.get_errno(), "memory cannot be made executable")

    def function(self, name: str, parameters: int) -> Callable[..., None]:
        """Returns a function whose parameters are addresses and integers of 64 bits."""
        prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * parameters)
        return prototype(self._start + self._functions[name])
