"""Reads the attributes and types that dialects define, and refuses those that they do not have.

Source: MLIR, `#dialect.name<...>` and `#dialect<name ...>`; places as those of mlir-opt 22.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from commonir.base.suggestions import did_you_mean
from commonir.ir.attributes import Attribute, DialectAttr
from commonir.ods.attr_types import WordsForm
from commonir.ods.own_forms import OwnForms

if TYPE_CHECKING:
    from commonir.ir.types import Type
    from commonir.text.constants import ConstantReader
    from commonir.text.types import TypeReader

_NAME = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_$.]*)?", re.ASCII)


def read_own_type(reader: TypeReader, own: OwnForms) -> Type | None:
    """The type of a dialect at the current token, moved over; None, and nothing is moved, where it is kept as written.

    Raises: MALFORMED_TEXT for one that the dialect does not have.
    """
    if own.has_others:
        return None
    name, _ = _named(reader, own.types, "type")
    result = own.types[name]
    if result is not None:
        # What stands in brackets is passed over, as upstream does where nothing is read.
        reader.body()
    return result


def read_own_attribute(reader: ConstantReader, own: OwnForms, type: Type | None) -> Attribute | None:
    """The attribute of a dialect at the current token; as `read_own_type`. Where the text around does not say its
    `type`, one is taken after it.
    """
    if own.has_others:
        return None
    name, end = _named(reader, own.attributes, "attribute")
    result = own.attributes[name]
    if result is None:
        return None
    if not isinstance(result, WordsForm):
        reader.body()
    else:
        is_inside = "." not in reader.text
        if result.has_brackets and not reader.source.startswith("<", end) and not is_inside:
            reader.fail("expected '<'", at=end)
        reader.move_to(end)
        result = _words(reader, result)
        if is_inside:
            reader.expect(">")
    if type is None and reader.take(":"):
        # It has none, and upstream takes one all the same.
        reader.type()
    return result


def check_kept(reader: ConstantReader, own: OwnForms, made: DialectAttr, at: int) -> None:
    """Looks at an attribute that was kept as it is written. Raises: MALFORMED_TEXT for what its check refuses."""
    check = own.checks.get(made.mnemonic)
    if check is None:
        return
    try:
        check(made)
    except ValueError as error:
        reader.fail(f"#{made.dialect}.{made.mnemonic}: {error}", at=at)


def _named(reader: TypeReader, known: Iterable[str], what: str) -> tuple[str, int]:
    """The name of a type or attribute within its dialect, and where it ends."""
    dialect, _, name = reader.text[1:].partition(".")
    at, end = reader.start + len(dialect) + 2, reader.end
    if not name:
        found = _NAME.match(reader.source, reader.end + 1)
        if found is None or found[1] is None:
            reader.fail(f"expected the name of {'an' if what[0] == 'a' else 'a'} {what}", at=at)
        name, at, end = found[1], found.start(1), found.end()
    if name not in known:
        reader.fail(f"unknown {what} '{reader.text[0]}{dialect}.{name}'", at=at, help=did_you_mean(name, known))
    return name, end


def _words(reader: ConstantReader, form: WordsForm) -> Attribute:
    if form.has_brackets:
        reader.expect("<")
    at = reader.start
    found = [_word(reader, form, at)]
    while form.takes_several and reader.take(","):
        found.append(_word(reader, form, at))
    if form.has_brackets:
        reader.expect(">")
    return form.stored(",".join(found))


def _word(reader: ConstantReader, form: WordsForm, first: int) -> str:
    """A word; a wrong one is told where the first stands, as upstream does."""
    if reader.kind == "string":
        word = reader.string()
    elif reader.kind == "word":
        word = reader.advance()
    else:
        reader.unexpected(f"one of {', '.join(form.words)}", at=reader.start)
    if word not in form.words:
        message = f"expected {form.mnemonic} to be one of {', '.join(form.words)}, found '{word}'"
        reader.fail(message, at=first, help=did_you_mean(word, form.words))
    return word
