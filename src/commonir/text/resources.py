"""Reader and writer of the resource sections of MLIR text, with the bytes of large constants.

Source: MLIR language reference, file metadata; a blob is the alignment as four little-endian bytes, then the contents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from commonir.base.lazy import lazy_pattern
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.ir.data import ResourceData
from commonir.ir.literals import key_text
from commonir.text.lexer import TokenStream

_ALIGNMENT_BYTES = 4
_SIGN = '"0x'
_START, _END = "{-#", "#-}"
_TOKEN_WITH_START = lazy_pattern(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|\{-\#')
_OF_DIALECTS = "dialect_resources"
_OF_TOOLS = "external_resources"
_SECTIONS = (_OF_DIALECTS, _OF_TOOLS)
_BUILTIN = "builtin"
_NO_BLOB = "expected hexadecimal digits '0x...' with the alignment first"


class Blob(NamedTuple):
    """The contents of one resource, and its alignment. Units: `alignment` in bytes."""

    alignment: int
    content: bytes


class Resources(NamedTuple):
    """Blobs of all dialects by key, and the entries of each tool: values by key, as written.

    `ends` has the end of each section by its start.
    """

    blobs: dict[str, Blob]
    tools: dict[str, dict[str, str]]
    ends: dict[int, int]


def read_resources(tokens: TokenStream) -> Resources:
    """Reads the resources of a text, at any position; the token stream is at its start.

    Raises: MALFORMED_TEXT.
    """
    result = Resources({}, {}, {})
    for start in _sections(tokens):
        tokens.move_to(start)
        tokens.advance()
        if not tokens.at(_END):
            _section(tokens, result)
        while not tokens.at(_END):
            tokens.expect(",")
            _section(tokens, result)
        result.ends[start] = tokens.end
    if result.ends:
        tokens.move_to(0)
    return result


def _sections(tokens: TokenStream) -> Iterator[int]:
    """Yields the starts of the sections. The caller moves the token stream over each before the next one."""
    source, end = tokens.source, 0
    while (at := source.find(_START, end)) >= 0:
        line = max(source.rfind("\n", end, at), end)
        # Inside a string or a comment, it does not begin a section.
        token = next(t for t in _TOKEN_WITH_START.finditer(source, line) if t.end() > at)
        end = token.end()
        if token.start() == at:
            yield at
            end = tokens.end


def _section(tokens: TokenStream, resources: Resources) -> None:
    at = tokens.start
    section = tokens.expect_kind("word", "the name of a section")
    if section not in _SECTIONS:
        tokens.fail(f"unknown section '{section}'", at=at, help=did_you_mean(section, _SECTIONS))
    tokens.expect(":")
    tokens.expect("{")
    tokens.separated(lambda: _holder(tokens, resources, is_tools=section != _OF_DIALECTS), "}")


def _holder(tokens: TokenStream, resources: Resources, *, is_tools: bool) -> None:
    at = tokens.start
    holder = tokens.expect_kind("word", "the name of a tool" if is_tools else "the name of a dialect")
    if not is_tools and holder != _BUILTIN:
        tokens.fail(f"dialect '{holder}' has no resources, only '{_BUILTIN}' has", at=at)
    tokens.expect(":")
    tokens.expect("{")

    def entry() -> None:
        name = _key(tokens)
        tokens.expect(":")
        blob = _blob(tokens) if tokens.kind == "string" else None
        if not is_tools:
            if blob is None:
                tokens.fail(_NO_BLOB)
            resources.blobs[name] = blob
        else:
            if tokens.kind != "string" and tokens.text not in ("true", "false"):
                tokens.unexpected("a string, 'true' or 'false'")
            resources.tools.setdefault(holder, {})[name] = tokens.text if blob is None else _blob_text(*blob)
        tokens.advance()

    tokens.separated(entry, "}")


def _key(tokens: TokenStream) -> str:
    return tokens.string() if tokens.kind == "string" else tokens.expect_kind("word", "a key")


def _blob(tokens: TokenStream) -> Blob | None:
    literal = tokens.text
    if not literal.startswith(_SIGN):
        return None
    from binascii import unhexlify  # noqa: PLC0415  few texts have resources

    try:
        content = unhexlify(literal[len(_SIGN) : -1])
    except ValueError:
        content = b""
    if len(content) < _ALIGNMENT_BYTES:
        tokens.fail(_NO_BLOB)
    alignment, data = int.from_bytes(content[:_ALIGNMENT_BYTES], "little"), content[_ALIGNMENT_BYTES:]
    if alignment.bit_count() != 1 and (alignment or data):
        tokens.fail(f"an alignment is a power of two, found {alignment}")
    return Blob(alignment, data)


def _blob_text(alignment: int, content: bytes | memoryview) -> str:
    # Nothing has no alignment, as in mlir-opt.
    alignment = alignment if len(content) else 0
    return f'{_SIGN}{alignment.to_bytes(_ALIGNMENT_BYTES, "little").hex().upper()}{content.hex().upper()}"'


def resource_lines(printed: Mapping[str, object], tools: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Yields the lines of the sections with the data that a text refers to by key, and the entries of tools.

    Yields nothing if there are none.
    """
    blobs = {d.key: _blob_text(d.alignment, d.buffer()) for d in printed.values() if isinstance(d, ResourceData)}
    sections = {_OF_DIALECTS: {_BUILTIN: blobs}, _OF_TOOLS: tools}
    shown: list[str] = []
    for name, holders in sections.items():
        blocks = [_block(holder, values) for holder, values in holders.items() if values]
        if blocks:
            shown.append(f"  {name}: {{\n{_listed(blocks)}\n  }}")
    if shown:
        yield from ("", "{-#", _listed(shown), _END)


def _block(holder: str, values: Mapping[str, str]) -> str:
    entries = [f"      {key_text(key)}: {value}" for key, value in values.items()]
    return f"    {key_text(holder)}: {{\n{_listed(entries)}\n    }}"


def _listed(entries: list[str]) -> str:
    return ",\n".join(entries)
