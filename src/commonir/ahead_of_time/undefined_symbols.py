"""Names that an object file uses and does not define, read from its symbol table.

Sources: System V ABI, AMD64 supplement, symbol tables of ELF; Apple, `mach-o/nlist.h`; Microsoft, PE format, symbol
table of COFF. It reads only what LLVM has just written.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator


def undefined_symbols(data: bytes) -> tuple[str, ...]:
    """Returns the names, in order, of an object file of ELF, Mach-O or COFF with 64 bits."""
    if data.startswith(b"\x7fELF"):
        names = _of_elf(data)
    elif data[:4] == b"\xcf\xfa\xed\xfe":
        names = _of_mach_o(data)
    else:
        names = _of_coff(data)
    return tuple(sorted({n for n in names if n and n != "_GLOBAL_OFFSET_TABLE_"}))


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode(errors="replace")


def _of_elf(data: bytes) -> Iterator[str]:
    sections_at, entry_size, count = (
        struct.unpack_from(f, data, at)[0] for f, at in (("<Q", 40), ("<H", 58), ("<H", 60))
    )
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, sections_at + n * entry_size) for n in range(count)]
    for _, type, _, _, offset, size, link, *_ in sections:
        if type == 2:
            strings = sections[link][4]
            for at in range(offset + 24, offset + size, 24):
                name, _, _, section = struct.unpack_from("<IBBH", data, at)
                if section == 0:
                    yield _text(data, strings + name)


def _of_mach_o(data: bytes) -> Iterator[str]:
    (commands,) = struct.unpack_from("<I", data, 16)
    at = 32
    for _ in range(commands):
        command, size = struct.unpack_from("<II", data, at)
        if command == 2:
            symbols, count, strings, _ = struct.unpack_from("<IIII", data, at + 8)
            for n in range(count):
                name, type, _, _, _ = struct.unpack_from("<IBBHQ", data, symbols + 16 * n)
                if type & 0x0E == 0 and type & 0xE0 == 0:
                    yield _text(data, strings + name)
        at += size


def _of_coff(data: bytes) -> Iterator[str]:
    symbols, count = struct.unpack_from("<II", data, 8)
    strings = symbols + 18 * count
    n = 0
    while n < count:
        at = symbols + 18 * n
        short, value, section, _, storage, extra = struct.unpack_from("<8sIhHBB", data, at)
        if section == 0 and storage == 2 and value == 0:
            zeros, offset = struct.unpack_from("<II", short)
            yield _text(data, strings + offset) if zeros == 0 else short.rstrip(b"\0").decode()
        n += 1 + extra
