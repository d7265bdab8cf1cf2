"""Checks the arguments of public functions against their annotations, so that a wrong one is named at once.

An error of the input leaves them without the frames of this package: they say nothing about a model or a call.

A call with an argument of another type raises TypeError with the parameter, what it takes and what was passed. Only
types that are cheap to test are checked: programs, paths, strings, numbers, mappings and sequences; other annotations
accept anything.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, signature
from types import TracebackType
from typing import NamedTuple, ParamSpec, TypeGuard, TypeVar

from commonir.base.diagnostics import DiagnosticError
from commonir.base.text import escape

P = ParamSpec("P")
R = TypeVar("R")
_LONGEST = 40
_PACKAGE = __name__.partition(".")[0]


class ArgumentType(NamedTuple):
    """A part of an annotation: the values that it accepts, in words and as a test."""

    description: str
    accepts: Callable[[object], bool]


def _is_path(value: object) -> bool:
    return isinstance(value, str | os.PathLike)


def _is_number(value: object) -> bool:
    return hasattr(value, "__float__") or hasattr(value, "__index__")


def _is_sequence(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_integer(value: object) -> bool:
    return hasattr(value, "__index__")


def _is_mapping(value: object) -> TypeGuard[Mapping[object, object]]:
    return isinstance(value, Mapping)


def _is_none(value: object) -> bool:
    return value is None


def _is_any(value: object) -> bool:
    del value
    return True


def _is_program(value: object) -> bool:
    # There are programs only where their module is loaded, which a prepared model does not need.
    loaded = sys.modules.get("commonir.ir.module")
    return loaded is not None and isinstance(value, loaded.Module)


_TYPES: Mapping[str, ArgumentType] = {
    "Module": ArgumentType("a program", _is_program),
    "Path_": ArgumentType("a path", _is_path),
    "str": ArgumentType("a string", _is_text),
    "bool": ArgumentType("a bool", _is_any),
    "int": ArgumentType("an integer", _is_integer),
    "float": ArgumentType("a number", _is_number),
    "None": ArgumentType("None", _is_none),
    "Mapping": ArgumentType("a dictionary", _is_mapping),
    "Sequence": ArgumentType("a list", _is_sequence),
    "Iterable": ArgumentType("a list", _is_sequence),
}


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Returns a function that raises TypeError for arguments of other types than it is annotated with."""
    parameters = signature(function).parameters
    types = {name: _argument_types(parameter) for name, parameter in parameters.items()}
    by_position = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    names = [name for name, parameter in parameters.items() if parameter.kind in by_position]
    positional = [types[name] for name in names]

    @wraps(function)
    def call(*args: P.args, **named: P.kwargs) -> R:
        __tracebackhide__ = True  # IPython and pytest leave this frame out
        for n, (value, expected) in enumerate(zip(args, positional, strict=False)):
            if expected and not any(each.accepts(value) for each in expected):
                raise TypeError(_message(function.__name__, names[n], value, expected))
        for name, value in named.items():
            expected = types.get(name)
            if expected and not any(each.accepts(value) for each in expected):
                raise TypeError(_message(function.__name__, name, value, expected))
        try:
            return function(*args, **named)
        except DiagnosticError as error:
            # The message of a diagnostic says what the operating system reported.
            cause = None if isinstance(error.__cause__, OSError) else error.__cause__
            raise error.with_traceback(_frames_outside(error.__traceback__)) from cause

    return call


def _frames_outside(traceback: TracebackType | None) -> TracebackType | None:
    """Returns a traceback without the frames of this package: those of plugins and of functions of a rule stay."""
    entries: list[TracebackType] = []
    while traceback is not None:
        if str(traceback.tb_frame.f_globals.get("__name__")).partition(".")[0] != _PACKAGE:
            entries.append(traceback)
        traceback = traceback.tb_next
    kept: TracebackType | None = None
    for entry in reversed(entries):
        kept = TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return kept


def _argument_types(parameter: Parameter) -> tuple[ArgumentType, ...]:
    """Returns the types of values that a parameter accepts; none when they are not tested."""
    text = parameter.annotation
    if not isinstance(text, str) or parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
        return ()
    return _known([_type_of(part) for part in _alternatives(text)])


def _known(types: Sequence[ArgumentType | None]) -> tuple[ArgumentType, ...]:
    """Returns the types of a union; none when one of them is not tested."""
    known = [type for type in types if type is not None]
    return tuple(known) if len(known) == len(types) else ()


def _type_of(annotation: str) -> ArgumentType | None:
    """Returns the type of an annotation that is not a union; of dictionaries by name, also that of simple values."""
    name, _, inner = annotation.partition("[")
    members = _known([_TYPES.get(part) for part in _alternatives(inner.removeprefix("str, ").removesuffix("]"))])
    if name != "Mapping" or not inner.startswith("str, ") or not members:
        return _TYPES.get(name)

    def accepts(value: object) -> bool:
        if not _is_mapping(value):
            return False
        return all(any(member.accepts(part) for member in members) for part in value.values())

    return ArgumentType(f"a dictionary with {' or '.join([m.description for m in members])} for each name", accepts)


def _alternatives(annotation: str) -> Iterable[str]:
    """Yields the members of a union, which may have unions in brackets."""
    depth, start = 0, 0
    for n, char in enumerate(annotation):
        depth += (char == "[") - (char == "]")
        if char == "|" and not depth:
            yield annotation[start:n].strip()
            start = n + 1
    yield annotation[start:].strip()


def _message(function: str, name: str, value: object, expected: Iterable[ArgumentType]) -> str:
    words = [each.description for each in expected]
    takes = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
    if _TYPES["Module"] in expected and _is_path(value):
        path = escape(str(value))
        return f"commonir.{function}: '{name}' takes {takes}, found a path: load it first, with commonir.load('{path}')"
    text = escape(repr(value))
    shown = text if len(text) <= _LONGEST else type(value).__name__
    return f"commonir.{function}: '{name}' takes {takes}, found {shown}"
