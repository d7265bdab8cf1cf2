"""The names, domains and documentation that the Common IR allows.

Documentation is CommonMark without HTML: everything of CommonMark 0.31 but raw HTML blocks and inline HTML, which the
specification forbids. What stands in code spans and code blocks is literal, whatever it looks like.
Source: Common IR specification, metadata, names within a graph, graphs and libraries.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it.token import Token

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LABEL = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)")
_LAST_PARTS = frozenset({"com", "org", "net", "edu", "gov", "mil", "int", "info", "io", "ai", "dev"})
_MAX_DOMAIN = 253

_OTHER_MARKUP = re.compile(r"^\.\. \w+::|\\(?:begin|section|textbf)\{", re.MULTILINE)
_MAYBE_MARKUP = re.compile(r"<|\\|^\s*\.\.", re.MULTILINE)
_FIRST_TAG = re.compile(r"<[^>\n]*>|<\S+")
# Finding where code and HTML end takes more than linear time if they do not.
_LONGEST_DOC = 1 << 16


def is_identifier(name: str) -> bool:
    """Returns whether it is a C identifier."""
    return _IDENTIFIER.fullmatch(name) is not None


def is_dns_name(domain: str) -> bool:
    """Returns whether it is a valid DNS name."""
    return len(domain) <= _MAX_DOMAIN and all(_LABEL.fullmatch(part) for part in domain.split("."))


def is_reversed(domain: str) -> bool:
    """Returns whether a domain may be a reversed one: it has several parts and does not end like one in the usual
    order.
    """
    first, _, rest = domain.lower().partition(".")
    last = rest.rpartition(".")[2]
    return bool(rest) and (last not in _LAST_PARTS or first in _LAST_PARTS)


def markup_in(doc: str) -> str | None:
    """The first piece of a documentation string that is HTML or another markup than Markdown; None for plain Markdown.

    Only the beginning of a very long one is looked at.
    """
    beginning = doc[:_LONGEST_DOC]
    if _MAYBE_MARKUP.search(beginning) is None:
        return None
    from markdown_it import MarkdownIt  # noqa: PLC0415  few programs need it

    return next(_markup(MarkdownIt("commonmark").parse(beginning)), None)


def _markup(tokens: list[Token]) -> Iterator[str]:
    """Yields the HTML in the tokens of a text, and other markup in its prose."""
    for token in tokens:
        if token.type == "html_block":
            yield from _FIRST_TAG.findall(token.content)
        children = token.children or ()
        yield from [child.content for child in children if child.type == "html_inline"]
        prose = "".join([_PROSE.get(child.type, child.content) for child in children])
        yield from _OTHER_MARKUP.findall(prose)


_PROSE = {"softbreak": "\n", "hardbreak": "\n", "code_inline": " ", "html_inline": " "}
"""The text of tokens whose content is not prose."""


def library_name(operation: str) -> str:
    """Returns the qualified name of an operation in the library of its dialect: `core.add` for `core.add`.

    Further dots, as in `onnx.ml.Scaler`, are not part of an identifier and become two low lines.
    """
    dialect, _, name = operation.partition(".")
    return f"{dialect}.{name.replace('.', '__')}"


def operation_name(called: str) -> str:
    """The inverse of `library_name`."""
    dialect, _, name = called.partition(".")
    return f"{dialect}.{name.replace('__', '.')}"
