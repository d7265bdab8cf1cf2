"""The types and attributes of a dialect: the texts that are valid after its name.

Those with words of an enumeration are derived from the attribute types of fields (`ods/mlir_attr_types.py`). They are
read by `text/own_forms.py`. Source: MLIR, defining dialect attributes and types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Protocol

from commonir.base.tuples import NamedTuple
from commonir.ir.attributes import Attribute, DialectAttr
from commonir.ir.types import DialectType, TensorType
from commonir.ods.attr_types import WordsForm


class HasForm(Protocol):
    """An attribute type whose values are dialect attributes with words as text."""

    @property
    def form(self) -> WordsForm | None:
        """The form of its text."""
        ...


class OwnForms(NamedTuple):
    """The types and attributes of a dialect, by their mnemonics.

    A `WordsForm` describes the text of an attribute; an attribute or type as value has no parameters; None: the text is
    stored as written, and may have a check, which raises ValueError, and returns the attribute if it has another form.
    `has_others`: the dialect may have more of them. `encoding_fault` returns what is wrong with a tensor's encoding.
    """

    attributes: Mapping[str, WordsForm | DialectAttr | None]
    types: Mapping[str, DialectType | None]
    checks: Mapping[str, Callable[[Attribute], object]] = MappingProxyType({})
    has_others: bool = False
    encoding_fault: Callable[[TensorType], str | None] | None = None


def checked_forms(
    checks: Mapping[str, Callable[[Attribute], object]],
    encoding_fault: Callable[[TensorType], str | None] | None = None,
) -> OwnForms:
    """Returns the forms of a dialect that checks only some of its attributes."""
    return OwnForms({}, {}, checks, has_others=True, encoding_fault=encoding_fault)


def own_forms(*members: HasForm | DialectAttr | DialectType, attributes: str = "", types: str = "") -> OwnForms:
    """Returns the forms of a dialect; `attributes` and `types` name those that are stored as written."""
    known: dict[str, WordsForm | DialectAttr | None] = dict.fromkeys(attributes.split())
    kinds: dict[str, DialectType | None] = dict.fromkeys(types.split())
    for member in members:
        if isinstance(member, DialectType):
            kinds[member.mnemonic] = member
        elif isinstance(member, DialectAttr):
            known[member.mnemonic] = member
        elif member.form is not None:
            known[member.form.mnemonic] = member.form
    return OwnForms(known, kinds)


NOTHING = own_forms()
"""The forms of a dialect that defines neither types nor attributes."""
