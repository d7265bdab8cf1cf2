"""Attributes of the dlti dialect out of MLIR text: keys and values in angle brackets.

Limits: those of `text/constants.py`. Source: MLIR's dlti dialect; what mlir-opt reads, prints and refuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.ir.attributes import Attribute, DialectAttr
from commonir.ir.dlti import DltiAttr, DltiEntryAttr

if TYPE_CHECKING:
    from commonir.text.constants import ConstantReader

_WITH_TYPES = ("dl_spec", "map")
"""The attributes that may have types as keys."""
_MAYBE_EMPTY = ("dl_spec", "map")


def read_entry(reader: ConstantReader) -> Attribute:
    """`<key, value>`."""
    reader.expect("<")
    key = reader.string() if reader.kind == "string" else reader.type()
    reader.expect(",")
    result = DltiEntryAttr(key, reader.member())
    reader.expect(">")
    return result


def read_layout(reader: ConstantReader, kind: str) -> Attribute:
    """`<key = value, ..>`, or entries as they stand alone, `<#dlti.dl_entry<key, value>, ..>`."""
    at = reader.start
    reader.expect("<")
    entries = reader.separated(lambda: _entry(reader, has_types=kind in _WITH_TYPES), ">")
    if not entries and kind not in _MAYBE_EMPTY:
        reader.fail("no DLTI entries provided", at=at - len(kind))
    result = DltiAttr(kind, entries)
    for message in result.faults():
        reader.fail(message, at=at - len(kind))
    return result


def _entry(reader: ConstantReader, *, has_types: bool) -> DltiEntryAttr:
    at = reader.start
    if reader.kind == "attribute":
        result = reader.attribute()
        if not isinstance(result, DltiEntryAttr):
            reader.fail(f"expected an entry, found {result}", at=at)
        return result
    if reader.kind == "string":
        key = reader.string()
    else:
        key = reader.type()
        if not has_types:
            reader.fail(f"a key is a text in quotes here, not {key}", at=at)
    reader.expect("=")
    return DltiEntryAttr(key, reader.member())


def read_function_pointer_alignment(reader: ConstantReader) -> Attribute:
    """`<64, function_dependent = true>`."""
    reader.expect("<")
    alignment = reader.integer((1 << 64) - 1) % (1 << 64)
    reader.expect(",")
    reader.expect("function_dependent")
    reader.expect("=")
    depends = reader.take("true")
    if not depends and not reader.take("false"):
        depends = reader.integer() != 0
    reader.expect(">")
    body = f"{alignment}, function_dependent = {'true' if depends else 'false'}"
    return DialectAttr("dlti", "function_pointer_alignment", body)
