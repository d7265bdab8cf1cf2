"""Attributes of the dlti dialect: properties of the target machine, by key.

Source: MLIR's dlti dialect.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

from commonir.ir.attributes import Attribute
from commonir.ir.constant_text import ConstantPrinter
from commonir.ir.literals import quoted
from commonir.ir.types import Type

Key = str | Type
"""The key of an entry: a name or a type."""


class DltiEntryAttr(Attribute):
    """An entry: a key and its value."""

    __slots__ = ("key", "value")

    key: Key
    value: Attribute

    def __new__(cls, key: Key, value: Attribute) -> Self:
        return cls._intern(key, value)

    def text(self, printer: ConstantPrinter, /) -> str:
        return f"#dlti.dl_entry<{_key(self.key, printer)}, {printer.attribute(self.value)}>"


class DltiAttr(Attribute):
    """Entries under a mnemonic: `dl_spec`, `map`, `target_device_spec` and so on."""

    __slots__ = ("mnemonic", "entries")  # noqa: RUF023  the order of `_intern`

    mnemonic: str
    entries: tuple[DltiEntryAttr, ...]

    def __new__(cls, mnemonic: str, entries: Sequence[DltiEntryAttr]) -> Self:
        return cls._intern(mnemonic, tuple(entries))

    def text(self, printer: ConstantPrinter, /) -> str:
        shown = [f"{_key(e.key, printer)} = {printer.attribute(e.value)}" for e in self.entries]
        return f"#dlti.{self.mnemonic}<{', '.join(shown)}>"

    def faults(self) -> Iterator[str]:
        """Yields a message for each invalid key or value."""
        seen: set[Key] = set()
        for key, value in ((e.key, e.value) for e in self.entries):
            if key == "":
                yield "empty string as DLTI key is not allowed"
            elif key in seen:
                yield f"repeated DLTI key: {shown_key(key)}"
            seen.add(key)
            if self.mnemonic == "target_system_spec" and not (
                isinstance(value, DltiAttr) and value.mnemonic == "target_device_spec"
            ):
                yield f"value associated with key {shown_key(key)} is not a DLTI device spec"


def shown_key(key: Key) -> str:
    """Returns the text of a key."""
    return quoted(key) if isinstance(key, str) else str(key)


def _key(key: Key, printer: ConstantPrinter) -> str:
    return shown_key(key) if isinstance(key, str) else printer.type(key)
