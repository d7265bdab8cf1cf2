"""Suggests symbols, for messages about a reference that names none of the expected class."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from commonir.base.suggestions import did_you_mean
from commonir.ir.module import Module, Symbol
from commonir.ir.operation import Operation


def symbol_help(user: Operation, name: str, expected: type[Symbol]) -> Callable[[], str | None]:
    """Returns a search for help on a name to which no symbol of a class corresponds in the modules around an operation.

    The help says what has this name, or offers the nearest names of symbols of the class; None when nothing is near.
    """
    return partial(_help_of, user, name, expected)


def _help_of(user: Operation, name: str, expected: type[Symbol]) -> str | None:
    symbols = [s for a in user.ancestors() if isinstance(a, Module) for s in a.symbols.values()]
    unexpected = next((s for s in symbols if s.symbol_name == name and not isinstance(s, expected)), None)
    if unexpected is not None:
        return f"'{name}' names the operation {unexpected.name}"
    return did_you_mean(name, [s.symbol_name for s in symbols if isinstance(s, expected) and s.symbol_name != name])
