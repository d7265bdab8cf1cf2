"""Programs as MLIR text.

An operation with a definition is printed by its form: code, or an assembly format (`text/assembly.py`); one without a
definition, or one that its form cannot express because it breaks its definition, in the generic form. What is printed
reads back with `text/parser.py`, except constants that were left out. A program that comes from MLIR is printed as
mlir-opt prints it, letter by letter; programs of other formats keep the names they have. The form is described in
`docs/text.md`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any

from commonir.base.lazy import LazyModule
from commonir.ir.attributes import DictionaryAttr, StringAttr
from commonir.ir.constant_text import DEFAULT_ELISION
from commonir.ir.literals import symbol_text
from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.ir.printing import Inexpressible, Neighbourhood, Nested, Piece
from commonir.ods import Dialects, Op
from commonir.text.definitions import has_format
from commonir.text.form_printer import FormPrinter, VersionedPrinter
from commonir.text.lexer import VERSIONS

if TYPE_CHECKING:
    from commonir.text import format_writer, python_forms
else:
    # The generic form has no use for either.
    format_writer = LazyModule("commonir.text.format_writer")
    python_forms = LazyModule("commonir.text.python_forms")


class Naming(Enum):
    """What values and blocks are called, and whether the text is mlir-opt's letter by letter."""

    OWN = "own"
    MLIR = "mlir"


def naming_of(root: Operation, dialects: Dialects | None = None) -> Naming:
    """Its own naming for a program with an operation of a dialect that keeps names, otherwise mlir-opt's."""
    known = Dialects() if dialects is None else dialects
    prefixes = {kind.name.partition(".")[0] for kind in {type(op) for op in root.walk()} if issubclass(kind, Op)}
    found = [known.get(prefix) for prefix in prefixes]
    return Naming.OWN if any(d is not None and d.keeps_names for d in found) else Naming.MLIR


def print_module(
    root: Operation,
    *,
    generic: bool = False,
    elide: int | None = DEFAULT_ELISION,
    locations: bool = False,
    names: bool = False,
    around: Neighbourhood | None = None,
    dialects: Dialects | None = None,
    naming: Naming = Naming.OWN,
) -> str:
    """A program, or any operation, as text.

    `elide`: constants of more elements than this are left out, and not read from their files; None prints all, and only
    then the text reads back. `locations` prints where operations come from, `names` only what they are called. `around`
    prints only what is near some operations. `dialects` are those of the reader, to which the text says where a
    definition is not the newest; all that are installed when not given.
    """
    lines = print_lines(
        root,
        generic=generic,
        elide=elide,
        locations=locations,
        names=names,
        around=around,
        dialects=dialects,
        naming=naming,
    )
    return "\n".join(lines) + "\n"


def print_lines(
    root: Operation,
    *,
    generic: bool = False,
    elide: int | None = DEFAULT_ELISION,
    locations: bool = False,
    names: bool = False,
    around: Neighbourhood | None = None,
    dialects: Dialects | None = None,
    naming: Naming = Naming.OWN,
) -> Iterator[str]:
    """The lines of `print_module`, made as they are asked for."""
    known = Dialects() if dialects is None else dialects
    kind, versions = (VersionedPrinter, {}) if generic else (CustomPrinter, versions_of(root, known))
    upstream = naming is Naming.MLIR
    printer = kind(
        known,
        versions,
        elide=elide,
        locations=locations,
        names=names,
        around=around,
        upstream=upstream,
        generic=generic,
    )
    return printer.upstream_lines(root) if upstream else printer.lines(root)


def versions_of(root: Operation, dialects: Dialects) -> dict[str, str]:
    """For each dialect with versions, the newest under which most operations have the definition they use."""
    used = Counter(type(op) for op in root.walk() if isinstance(op, Op) and op.since)
    out: dict[str, str] = {}
    for prefix in {d.name.partition(".")[0] for d in used}:
        dialect = dialects.get(prefix)
        if dialect is not None:
            own = [(d, n) for d, n in used.items() if d.name.startswith(f"{prefix}.")]
            fitting = [sum(n for d, n in own if dialect.find(d.name, v) is d) for v in dialect.versions]
            best = max(fitting, default=0)
            newest = len(fitting) - 1 - fitting[::-1].index(best) if fitting else -1
            if newest != len(fitting) - 1:
                out[prefix] = dialect.versions[newest]
    return out


class CustomPrinter(FormPrinter):
    """Prints operations by their forms."""

    def __init__(self, dialects: Dialects, versions: Mapping[str, str], **options: Any) -> None:
        super().__init__(dialects, versions, **options)
        self._writers: dict[type[Operation], Callable[[Any], Iterable[Piece]]] = {}

    def pieces(self, op: Operation) -> Iterable[Piece]:
        if not self.upstream or not op.regions:
            return self._formed(op)
        self._aliases.is_ahead = True
        try:
            return self._in_turn(self._formed(op))
        finally:
            self._aliases.is_ahead = False

    def _in_turn(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        for piece in pieces:
            if isinstance(piece, str):
                self._aliases.met(piece)
            yield piece

    def _formed(self, op: Operation) -> Iterable[Piece]:
        write = self._writers.get(type(op))
        if write is None:
            write = self._writers[type(op)] = self._writer_of(op)
        try:
            return write(op)
        except Inexpressible:
            return self.generic(op)

    def _writer_of(self, op: Operation) -> Callable[[Any], Iterable[Piece]]:
        """Returns the function that writes operations of the definition of one."""
        if isinstance(op, Module):
            return self._module
        # The types of its operands choose the signature of a declared operator, so the text states them.
        if not isinstance(op, Op) or op.is_declared or not self.is_expected(op):
            return self.generic
        if op.custom_form is not None:
            return partial(python_forms.written, self, op.custom_form)
        if not has_format(type(op)):
            return self.generic
        return partial(format_writer.compiled_format(type(op)).write, self)

    def _module(self, op: Module) -> Sequence[Piece]:
        extra = {**op.properties, **op.discardable}
        if self.versions:
            extra[VERSIONS] = DictionaryAttr(tuple([(d, StringAttr(v)) for d, v in sorted(self.versions.items())]))
        name = extra.pop("sym_name", None)
        symbol = f" {symbol_text(name.value)}" if isinstance(name, StringAttr) else ""
        if name is not None and not symbol:
            extra["sym_name"] = name
        attributes = f" attributes {self.dictionary(extra)}" if extra else ""
        return [f"{self.name(op)}{symbol}{attributes} ", Nested(op.regions[0], named=True)]
