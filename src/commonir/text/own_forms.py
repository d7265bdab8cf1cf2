"""Reads the attributes and types that dialects define, and rejects undefined ones.

Source: MLIR, `#dialect.name<...>` and `#dialect<name ...>`; positions of errors as in mlir-opt 22.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from commonir.base.suggestions import did_you_mean
from commonir.ir.attributes import Attribute, DialectAttr
from commonir.ir.types import DialectType, TensorType, Type
from commonir.ods import Dialects
from commonir.ods.attr_types import WordsForm
from commonir.ods.own_forms import OwnForms
from commonir.ods.unknown_dialects import UPSTREAM
from commonir.text.lexer import TokenStream
from commonir.text.types import TypeReader

_STORED = frozenset({("ptr", "ptr")})
"""The types of MLIR's dialects that memory may have as elements."""
_NAME = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_$.]*)?", re.ASCII)


class OwnFormReader:
    """Reads types and attributes of dialects; see `text.types.DialectForms`.

    `unknown` are those of dialects that are not known, `!d.name` or `#d.name`, with the offset of the first use.
    """

    def __init__(self, dialects: Dialects, unknown: dict[str, int]) -> None:
        self._dialects = dialects
        self._unknown = unknown

    def _forms(self, tokens: TokenStream, dialect: str) -> OwnForms | None:
        result = self._dialects.get(dialect)
        if result is None:
            self._unknown.setdefault(tokens.text, tokens.start)
            return None
        return result.own

    def read_type(self, types: TypeReader, dialect: str) -> Type | None:
        own = self._forms(types.tokens, dialect)
        if own is None or own.has_others:
            return None
        name, _ = _named(types.tokens, own.types, "type")
        result = own.types[name]
        if result is not None:
            # The text in brackets is skipped, as by mlir-opt for types without parameters.
            types.tokens.body()
        return result

    def read_attribute(self, types: TypeReader, dialect: str, type: Type | None) -> Attribute | None:
        own = self._forms(types.tokens, dialect)
        if own is None or own.has_others:
            return None
        tokens = types.tokens
        name, end = _named(tokens, own.attributes, "attribute")
        result = own.attributes[name]
        if result is None:
            return None
        if not isinstance(result, WordsForm):
            tokens.body()
        else:
            is_inside = "." not in tokens.text
            if result.has_brackets and not tokens.source.startswith("<", end) and not is_inside:
                tokens.fail("expected '<'", at=end)
            tokens.move_to(end)
            result = _words(tokens, result)
            if is_inside:
                tokens.expect(">")
        if type is None and tokens.take(":"):
            # The attribute has no type, but mlir-opt accepts one.
            types.type()
        return result

    def checked(self, types: TypeReader, attribute: DialectAttr, at: int) -> DialectAttr:
        dialect = self._dialects.get(attribute.dialect)
        own = None if dialect is None else dialect.own
        check = None if own is None else own.checks.get(attribute.mnemonic)
        if check is None:
            return attribute
        try:
            result = check(attribute)
        except ValueError as error:
            types.tokens.fail(f"#{attribute.dialect}.{attribute.mnemonic}: {error}", at=at)
        return result if isinstance(result, DialectAttr) else attribute

    def check_encoding(self, types: TypeReader, type: TensorType, at: int) -> None:
        encoding = type.encoding
        dialect = self._dialects.get(encoding.dialect) if isinstance(encoding, DialectAttr) else None
        if dialect is None or dialect.own is None or dialect.own.encoding_fault is None:
            return
        fault = dialect.own.encoding_fault(type)
        if fault is not None:
            types.tokens.fail(fault, at=at)

    def may_be_stored(self, type: DialectType) -> bool:
        dialect = self._dialects.get(type.dialect)
        if type.dialect in UPSTREAM:
            return (type.dialect, type.mnemonic) in _STORED
        return dialect is None or dialect.own is None or dialect.own.has_others


def _named(tokens: TokenStream, known: Iterable[str], what: str) -> tuple[str, int]:
    """Returns the name of a type or attribute within its dialect, and where it ends."""
    dialect, _, name = tokens.text[1:].partition(".")
    at, end = tokens.start + len(dialect) + 2, tokens.end
    if not name:
        match = _NAME.match(tokens.source, tokens.end + 1)
        if match is None or match[1] is None:
            tokens.fail(f"expected the name of {'an' if what[0] == 'a' else 'a'} {what}", at=at)
        name, at, end = match[1], match.start(1), match.end()
    if name not in known:
        tokens.fail(f"unknown {what} '{tokens.text[0]}{dialect}.{name}'", at=at, help=did_you_mean(name, known))
    return name, end


def _words(tokens: TokenStream, form: WordsForm) -> Attribute:
    if form.has_brackets:
        tokens.expect("<")
    at = tokens.start
    words = [_word(tokens, form, at)]
    while form.takes_several and tokens.take(","):
        words.append(_word(tokens, form, at))
    if form.has_brackets:
        tokens.expect(">")
    return form.stored(",".join(words))


def _word(tokens: TokenStream, form: WordsForm, first: int) -> str:
    """Reads a word; an invalid one is reported at the first word, as by mlir-opt."""
    if tokens.kind == "string":
        word = tokens.string()
    elif tokens.kind == "word":
        word = tokens.advance()
    else:
        tokens.unexpected(f"one of {', '.join(form.words)}", at=tokens.start)
    if word not in form.words:
        message = f"expected {form.mnemonic} to be one of {', '.join(form.words)}, found '{word}'"
        tokens.fail(message, at=first, help=did_you_mean(word, form.words))
    return word
