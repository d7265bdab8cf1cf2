"""Reader of attributes of the dlti dialect in MLIR text: keys and values in angle brackets.

Limits: those of `text/attributes.py`. Source: MLIR's dlti dialect; the texts that mlir-opt reads, prints and rejects.
"""

from __future__ import annotations

from commonir.ir.attributes import Attribute, DialectAttr
from commonir.ir.dlti import DltiAttr, DltiEntryAttr
from commonir.text.attributes import AttributeReader

_WITH_TYPES = ("dl_spec", "map")
"""The attributes that may have types as keys."""
_MAYBE_EMPTY = ("dl_spec", "map")


def read_entry(reader: AttributeReader) -> Attribute:
    """Reads `<key, value>`."""
    tokens = reader.tokens
    tokens.expect("<")
    key = tokens.string() if tokens.kind == "string" else reader.types.type()
    tokens.expect(",")
    result = DltiEntryAttr(key, reader.member())
    tokens.expect(">")
    return result


def read_layout(reader: AttributeReader, kind: str) -> Attribute:
    """Reads `<key = value, ..>`, or complete entries, `<#dlti.dl_entry<key, value>, ..>`."""
    tokens = reader.tokens
    at = tokens.start
    tokens.expect("<")
    entries = tokens.separated(lambda: _entry(reader, has_types=kind in _WITH_TYPES), ">")
    if not entries and kind not in _MAYBE_EMPTY:
        tokens.fail("no DLTI entries provided", at=at - len(kind))
    result = DltiAttr(kind, entries)
    for message in result.faults():
        tokens.fail(message, at=at - len(kind))
    return result


def _entry(reader: AttributeReader, *, has_types: bool) -> DltiEntryAttr:
    tokens = reader.tokens
    at = tokens.start
    if tokens.kind == "attribute":
        result = reader.attribute()
        if not isinstance(result, DltiEntryAttr):
            tokens.fail(f"expected an entry, found {result}", at=at)
        return result
    if tokens.kind == "string":
        key = tokens.string()
    else:
        key = reader.types.type()
        if not has_types:
            tokens.fail(f"a key must be a quoted string here, found {key}", at=at)
    tokens.expect("=")
    return DltiEntryAttr(key, reader.member())


def read_function_pointer_alignment(reader: AttributeReader) -> Attribute:
    """Reads `<64, function_dependent = true>`."""
    tokens = reader.tokens
    tokens.expect("<")
    alignment = tokens.integer((1 << 64) - 1) % (1 << 64)
    tokens.expect(",")
    tokens.expect("function_dependent")
    tokens.expect("=")
    depends = tokens.take("true")
    if not depends and not tokens.take("false"):
        depends = tokens.integer() != 0
    tokens.expect(">")
    body = f"{alignment}, function_dependent = {'true' if depends else 'false'}"
    return DialectAttr("dlti", "function_pointer_alignment", body)
