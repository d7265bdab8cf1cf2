"""Loads rewrite rules from files, with the dialects that the same files define."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from commonir.base.codes import MALFORMED_RULE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.ods import Dialect, Dialects
from commonir.ods.from_records import load
from commonir.ods.terms import Rewrite
from commonir.rewrite.from_records import rules_of
from commonir.rewrite.native_calls import Function, RuleFunction
from commonir.rewrite.rule_set import RuleSet
from commonir.text.directives import DIRECTIVES
from commonir.text.loaded_definitions import faults_of_format

_NO_FUNCTIONS: Mapping[str, Function] = MappingProxyType({})


class Rules(NamedTuple):
    """Rules for `optimize`, and the dialects that are needed to read programs for them."""

    rewrites: tuple[Rewrite, ...]
    dialects: tuple[Dialect, ...]


def load_rules(
    path: str | os.PathLike[str],
    include_dirs: Sequence[str | os.PathLike[str]] = (),
    *,
    functions: Mapping[str, Function] = _NO_FUNCTIONS,
    dialects: Sequence[Dialect] = (),
    unambiguous: bool = False,
) -> Rules:
    """Returns the rules of a TableGen file, in today's form or in that of the specification.

    `functions` are Python functions that rules may call, by the names of the records of calls and constraints, by the
    text of a call, or by the function named in the text. `dialects` are used besides those that are installed; those
    that only the file defines are added. With `unambiguous`, two rules that match the same operations equally well are
    refused in today's form too.

    Raises: DiagnosticError with all errors (E0260 to E0264, E0307, E0604 to E0606, E0608).
    """
    available = Dialects(dialects)
    loaded = load(
        path,
        [os.fspath(folder) for folder in include_dirs],
        dialects=available,
        directives=frozenset(DIRECTIVES),
        check=faults_of_format,
    )
    new = [d for d in loaded.dialects if not _is_known(d, available)]
    replaced = {d.name for d in new}
    every = (*new, *[d for d in dialects if d.name not in replaced])
    rewrites = rules_of(loaded, Dialects(every), functions, is_unambiguous=unambiguous)
    if not rewrites:
        message = "there are no rules: no record derives from 'Pat' or 'Pattern'"
        raise DiagnosticError(Diagnostic(MALFORMED_RULE, message, file=os.fspath(path)))
    RuleSet(rewrites)  # says what is wrong with them
    return Rules(tuple(rewrites), every)


def _is_known(dialect: Dialect, available: Dialects) -> bool:
    """Returns whether other dialects define all operations of a dialect."""
    return all(available.find(name) is not None for name in dialect.operations)


__all__ = ["RuleFunction", "Rules", "load_rules"]
