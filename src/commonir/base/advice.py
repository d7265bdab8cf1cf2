"""Advice in terms of Python.

Help texts name options and commands of the command line, in backticks. A caller in Python reads `dims={'batch': 1}`
instead of `--set-dim batch=1`, and `commonir.edit(program, rename={OLD: NEW})` instead of
`cir edit --rename OLD=NEW`. Commands without a function in Python, and those of other programs, stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

_FUNCTIONS = {
    "check": "verify",
    "info": "summarize",
    "ops": "reference_page",
    "opt": "optimize",
    **{verb: verb for verb in ("compare", "compile", "convert", "diff", "edit", "extract")},
    **{verb: verb for verb in ("profile", "reduce", "run", "shapes", "show", "view")},
}
"""The functions of the package `commonir`, by the verbs that call them."""

_KEYWORDS = {
    "--to": "format",
    "--set": "dims",
    "--set-dim": "dims",
    "--range": "ranges",
    "--meta": "metadata",
    "--dialect": "dialects",
    "--drop-output": "drop_outputs",
    "--max-fold-bytes": "max_growth_bytes",
}
"""Parameters that are not called as the options are."""

_FLAGS = {
    "--allow-fetch": ("allow_fetch", "True"),
    "--allow-unregistered": ("allow_unregistered", "True"),
    "--no-elide": ("elide", "False"),
    "--partial": ("partial", "True"),
    "--resize": ("resize", "True"),
}

_WHOLE = {
    "cir --help": "help(commonir)",
    "cir VERB --help": "help(commonir.FUNCTION)",
    "cir ops": "commonir.operations()",
    "cir check --fix": "commonir.fix(path)",
    "cir compare --all": "str(comparison)",
    "--details": "to_json()",
    "--extern": "commonir.with_externs",
}

_PROGRAMS = ("M", "MODEL", "IN")


def in_python(text: str) -> str:
    """Returns a help text in which options and commands in backticks are keyword arguments and calls.

    Example:
        >>> in_python("fix it with `--set-dim batch=1`, or run `cir edit --rename OLD=NEW`")
        "fix it with `dims={'batch': 1}`, or run `commonir.edit(program, rename={OLD: NEW})`"
    """
    return re.sub(r"`([^`]+)`", lambda found: f"`{_fragment(found[1])}`", text) if "`" in text else text


def _fragment(text: str) -> str:
    if text in _WHOLE:
        return _WHOLE[text]
    first, *rest = text.split()
    if "--json" in text.split():
        # A report for a file, which only a shell writes so.
        return text
    if first.startswith("--"):
        return ", ".join(f"{name}={value}" for name, value in _arguments([first, *rest], _KEYWORDS, ""))
    function = _FUNCTIONS.get(rest[0]) if first == "cir" and rest else None
    return text if function is None else f"commonir.{function}({', '.join(_call(function, rest[1:]))})"


def _call(function: str, words: Sequence[str]) -> Iterator[str]:
    """Yields the arguments of a call: what stands before the options, then keyword arguments."""
    start = next((n for n, word in enumerate(words) if word.startswith("-")), len(words))
    before = [("inputs" if "@" in word else _value(word)) for word in words[:start] if word not in _PROGRAMS]
    if function != "reference_page":
        yield "program"
    yield from before
    of_function = {**_KEYWORDS, "--to": "to"} if function == "convert" else _KEYWORDS
    yield from (f"{name}={value}" for name, value in _arguments(words[start:], of_function, "..."))


def _arguments(words: Sequence[str], keywords: Mapping[str, str], otherwise: str) -> Iterator[tuple[str, str]]:
    """Yields the names and values of options; `otherwise` is the value of one that is only named."""
    folders = [word for option, word in pairwise(words) if option == "-I"]
    for n, word in enumerate(words):
        value = words[n + 1] if n + 1 < len(words) and not words[n + 1].startswith("-") else None
        if word == "--dialect" and value is not None:
            rest = "".join(f", [{_value(folder)}]" for folder in folders)
            yield keywords[word], f"commonir.load_dialects({_value(value)}{rest})"
        elif word in _FLAGS:
            yield _FLAGS[word]
        elif word.startswith("--"):
            name = keywords.get(word, word[2:].replace("-", "_"))
            yield name, otherwise if value is None else _value(value)


def _value(text: str) -> str:
    """Returns a value of the command line in Python's syntax; placeholders are in capitals."""
    key, equals, value = text.partition("=")
    first, dots, last = text.partition("..")
    if equals:
        return f"{{{_value(key)}: {_value(value)}}}"
    if dots:
        return f"({_value(first)}, {_value(last)})"
    return text if text.isupper() or text.isdecimal() else repr(text)
