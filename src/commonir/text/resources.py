"""The section of an MLIR file that holds the bytes of its large constants.

Source: MLIR language reference, file metadata; a blob is the alignment as four little-endian bytes, then the contents.
"""

from __future__ import annotations

from binascii import Error as HexError
from binascii import unhexlify
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from commonir.ir.data import ResourceData
from commonir.ir.literals import key_text
from commonir.text.lexer import Scanner

_ALIGNMENT_BYTES = 4
_SIGN = '"0x'


class Blob(NamedTuple):
    """The contents of one resource, and the alignment that the text states. Units: `alignment` in bytes."""

    alignment: int
    content: bytes


def read_resources(source: str, file: str) -> dict[str, Blob]:
    """The blobs by key, of all dialects. The section stands at the end of the text, after what refers to it.

    Raises: MALFORMED_TEXT.
    """
    start = source.rfind("{-#")
    if start < 0 or not source.rstrip().endswith("#-}"):
        return {}
    scanner = Scanner("", file)
    scanner.source = source
    scanner.move_to(start)
    out: dict[str, Blob] = {}
    scanner.advance()
    while not scanner.take("#-}"):
        section = scanner.expect_kind("word", "the name of a section")
        scanner.expect(":")
        _section(scanner, out if section == "dialect_resources" else {})
        scanner.take(",")
    return out


def _section(scanner: Scanner, out: dict[str, Blob]) -> None:
    scanner.expect("{")
    while not scanner.take("}"):
        _key(scanner)
        scanner.expect(":")
        scanner.expect("{")
        while not scanner.take("}"):
            name = _key(scanner)
            scanner.expect(":")
            at = scanner.start
            if scanner.kind == "string":
                blob = _blob(scanner.text)
                if blob is None:
                    scanner.fail("expected hexadecimal digits '0x...' with the alignment first", at=at)
                out[name] = blob
            scanner.advance()
            scanner.take(",")
        scanner.take(",")


def _key(scanner: Scanner) -> str:
    return scanner.string() if scanner.kind == "string" else scanner.expect_kind("word", "a key")


def _blob(literal: str) -> Blob | None:
    if not literal.startswith(_SIGN):
        return None
    try:
        content = unhexlify(literal[len(_SIGN) : -1])
    except (HexError, ValueError):
        return None
    if len(content) < _ALIGNMENT_BYTES:
        return None
    return Blob(int.from_bytes(content[:_ALIGNMENT_BYTES], "little"), content[_ALIGNMENT_BYTES:])


def resource_lines(resources: Mapping[str, object]) -> Iterator[str]:
    """The section that holds data which a text refers to by key, line by line; nothing when there is none."""
    held = [data for data in resources.values() if isinstance(data, ResourceData)]
    if not held:
        return
    yield from ("", "{-#", "  dialect_resources: {", "    builtin: {")
    for n, data in enumerate(held):
        digits = (data.alignment.to_bytes(_ALIGNMENT_BYTES, "little") + data.buffer()).hex().upper()
        yield f'      {key_text(data.key)}: "0x{digits}"{"," if n < len(held) - 1 else ""}'
    yield from ("    }", "  }", "#-}")
