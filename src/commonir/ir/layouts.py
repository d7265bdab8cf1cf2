"""Attributes of the dlti dialect: what is known of the machine that a program is for, by keys.

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
"""What something is known of: a thing with a name, or a type."""


class LayoutEntryAttr(Attribute):
    """What is known of one key."""

    __slots__ = ("key", "value")

    key: Key
    value: Attribute

    def __new__(cls, key: Key, value: Attribute) -> Self:
        return cls._intern(key, value)

    def text(self, printer: ConstantPrinter, /) -> str:
        return f"#dlti.dl_entry<{_key(self.key, printer)}, {printer.attribute(self.value)}>"


class LayoutAttr(Attribute):
    """What is known of several keys. `kind` says of what: `dl_spec`, `map`, `target_device_spec` and so on."""

    __slots__ = ("kind", "entries")  # noqa: RUF023  the order of `_intern`

    kind: str
    entries: tuple[LayoutEntryAttr, ...]

    def __new__(cls, kind: str, entries: Sequence[LayoutEntryAttr]) -> Self:
        return cls._intern(kind, tuple(entries))

    def text(self, printer: ConstantPrinter, /) -> str:
        shown = [f"{_key(e.key, printer)} = {printer.attribute(e.value)}" for e in self.entries]
        return f"#dlti.{self.kind}<{', '.join(shown)}>"

    def faults(self) -> Iterator[str]:
        """Yields what is wrong with its keys and values."""
        met: set[Key] = set()
        for key, value in ((e.key, e.value) for e in self.entries):
            if key == "":
                yield "empty string as DLTI key is not allowed"
            elif key in met:
                yield f"repeated DLTI key: {shown_key(key)}"
            met.add(key)
            if self.kind == "target_system_spec" and not (
                isinstance(value, LayoutAttr) and value.kind == "target_device_spec"
            ):
                yield f"value associated with key {shown_key(key)} is not a DLTI device spec"


def shown_key(key: Key) -> str:
    """Returns a key as it is written."""
    return quoted(key) if isinstance(key, str) else str(key)


def _key(key: Key, printer: ConstantPrinter) -> str:
    return shown_key(key) if isinstance(key, str) else printer.type(key)


__all__ = ["Key", "LayoutAttr", "LayoutEntryAttr", "shown_key"]
