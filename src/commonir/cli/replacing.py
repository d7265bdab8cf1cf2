"""Which files a command may replace.

An output replaces an older file of its name without asking, as with onnxsim, coremltools, polygraphy and mlir-opt. A
file that the command reads is replaced only by a new version of itself: `edit`, `opt`, `extract` and `bundle` may write
over their model, and `run --save-state` over the states that it began with; an output option declares this
(`OutputPath.renews`). Elsewhere a terminal asks, and `--force` says that it is meant; verbs without that option refuse.

Data files of weights have a rule of their own, which the writers follow: `OUTPUT_IN_THE_WAY`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import cast

import click

from commonir.base import codes
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.cli.options import PATH, OutputPath

_FORCE = "is_forced"
_STANDARD = "-"


class Replacing:
    """The files that a command line reads, and a check that its outputs do not replace them."""

    __slots__ = ("_has_force", "_is_forced", "_outputs", "_read")

    def __init__(self, context: click.Context) -> None:
        self._has_force = _FORCE in context.params
        self._is_forced = bool(context.params.get(_FORCE))
        self._read: dict[str, list[str]] = {}
        self._outputs: list[tuple[str, str | None]] = []
        for param in context.command.params:
            name = param.name or ""
            words = _words(context.params.get(name))
            if isinstance(param.type, OutputPath):
                self._outputs += [(word, param.type.renews) for word in words]
            else:
                has_paths = isinstance(param, click.Argument) or param.type is PATH
                self._read[name] = [path for word in words for path in _files_in(word, is_path=has_paths)]

    def check_outputs(self, confirm: Callable[[str], bool]) -> None:
        """Checks each output that the command line names. Raises: REPLACES_INPUT."""
        for output, renews in self._outputs:
            self.check(output, confirm, renews=renews)

    def check(self, output: str, confirm: Callable[[str], bool], *, renews: str | None = None) -> None:
        """Checks that an output replaces no file that is read, except by the parameter `renews`; `confirm` asks.

        Raises: REPLACES_INPUT.
        """
        if output == _STANDARD or self._is_forced:
            return
        read = [path for name, paths in self._read.items() if name != renews for path in paths]
        places = _files_in(output, is_path=True)
        if not any(os.path.samefile(place, path) for place in places for path in read):
            return
        if self._has_force and confirm(output):
            return
        message = "the output is the input, which would be lost"
        help = "choose another name, or replace it with --force" if self._has_force else "choose another name"
        raise DiagnosticError(Diagnostic(codes.REPLACES_INPUT, message, file=output, help=help))


def _words(value: object) -> Sequence[str]:
    match value:
        case str():
            return (value,)
        case tuple():
            return [word for word in cast("tuple[object, ...]", value) if isinstance(word, str)]
        case _:
            return ()


def _files_in(word: str, *, is_path: bool) -> list[str]:
    """Returns the existing files that a word may name: a path, or in an input or output, such as `x=@file.npz:KEY`."""
    named = [word] if is_path else []
    for mark in ("=", "@"):
        _, found, rest = word.partition(mark)
        if found and (is_path or "@" in word):
            named += [rest, rest.partition(":")[0]]
    return [path for path in dict.fromkeys(named) if path not in ("", _STANDARD) and os.path.exists(path)]
