"""The aliases that a text has defined, and the sizes of their expansions.

Source: MLIR language reference, type and attribute aliases. Limits: `Limits.max_alias_parts`, `max_nesting_depth`.
"""

from __future__ import annotations

from commonir.base.file_codes import LIMIT_EXCEEDED
from commonir.base.tuples import NamedTuple
from commonir.ir.attributes import Attribute
from commonir.ir.types import Type
from commonir.text.lexer import TokenStream

_SMALL = 32
"""Uses of aliases of at most this many parts are not counted."""


class Extent(NamedTuple):
    """The size of an expanded alias: the number of parts between commas, and the depth of nesting."""

    parts: int
    depth: int


class AliasTable:
    """Types and attributes by the names of aliases, without `!` or `#`.

    `extents` are by names with `!` or `#`; aliases of locations have none, as they are not expanded. `parts` counts the
    parts of expanded aliases: in the definition of an alias (`is_defining`) of all, otherwise of large ones.
    """

    def __init__(self) -> None:
        self.types: dict[str, Type] = {}
        self.attributes: dict[str, Attribute] = {}
        self.extents: dict[str, Extent] = {}
        self.parts = 0
        self.is_defining = False

    def use(self, tokens: TokenStream) -> None:
        """Counts the parts of the alias at the current token, and consumes it.

        Raises: NESTING_TOO_DEEP, LIMIT_EXCEEDED.
        """
        name = tokens.text
        extent = self.extents.get(name)
        if extent is not None:
            tokens.reach(tokens.depth + extent.depth)
            if self.is_defining or extent.parts > _SMALL:
                self.parts += extent.parts
            most = tokens.limits.max_alias_parts
            if self.parts > most and not self.is_defining:
                message = f"with its aliases expanded, the text has more than {most:,} types and attributes up to here"
                help = f"use '{name}' less often, or shorten it and the aliases in it"
                tokens.fail(message, code=LIMIT_EXCEEDED, help=help)
        tokens.advance()
