"""The section of an MLIR file that holds the bytes of its large constants.

Source: MLIR language reference, file metadata; a blob is the alignment as four little-endian bytes, then the contents.
"""

from __future__ import annotations

from commonir.text.lexer import Scanner

_ALIGNMENT_BYTES = 4


def read_resources(source: str, file: str) -> dict[str, bytes]:
    """The blobs by key, of all dialects. The section stands at the end of the text, after what refers to it.

    Raises: MALFORMED_TEXT.
    """
    start = source.rfind("{-#")
    if start < 0 or not source.rstrip().endswith("#-}"):
        return {}
    scanner = Scanner(source[: len(source.rstrip())], file)
    scanner.move_to(start)
    out: dict[str, bytes] = {}
    scanner.advance()
    while not scanner.take("#-}"):
        section = scanner.expect_kind("word", "the name of a section")
        scanner.expect(":")
        _section(scanner, out if section == "dialect_resources" else {})
        scanner.take(",")
    return out


def _section(scanner: Scanner, out: dict[str, bytes]) -> None:
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
                content = _blob(scanner.string())
                if content is None:
                    scanner.fail("expected hexadecimal digits '0x...' with the alignment first", at=at)
                out[name] = content
            else:
                scanner.advance()
            scanner.take(",")
        scanner.take(",")


def _key(scanner: Scanner) -> str:
    return scanner.string() if scanner.kind == "string" else scanner.expect_kind("word", "a key")


def _blob(digits: str) -> bytes | None:
    try:
        content = bytes.fromhex(digits.removeprefix("0x"))
    except ValueError:
        return None
    return content[_ALIGNMENT_BYTES:] if len(content) >= _ALIGNMENT_BYTES else None
