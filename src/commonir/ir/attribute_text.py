"""Attributes as MLIR text, for callers that need a single text rather than a printer.

Three attributes have no spelling in MLIR and are written as attributes of the dialect `commonir`: dimensions that are
expressions, bytes, and constants that were left out. A case of an enumeration is written as a string.
Source: MLIR language reference, attributes.
"""

from __future__ import annotations

from commonir.ir.attributes import Attribute
from commonir.ir.constant_text import DEFAULT_ELISION, ConstantPrinter
from commonir.ir.literals import ELIDED, dim_literal, float_text, key_text, quoted, scalar_text, symbol_text


def attribute_text(attr: Attribute, elide: int | None = DEFAULT_ELISION) -> str:
    """Returns an attribute as the generic form prints it.

    Constants of more than `elide` elements are left out; None keeps all.
    """
    return attr.text(ConstantPrinter(elide))


__all__ = [
    "DEFAULT_ELISION",
    "ELIDED",
    "ConstantPrinter",
    "attribute_text",
    "dim_literal",
    "float_text",
    "key_text",
    "quoted",
    "scalar_text",
    "symbol_text",
]
