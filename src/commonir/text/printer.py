"""Printer of programs as MLIR text.

An operation with a definition is printed by its form: code, or an assembly format (`text/assembly.py`); one without a
definition, or one that its form cannot express because it violates its definition, in the generic form. Printed text
parses with `text/parser.py`, except elided constants. A program that comes from MLIR is printed as
mlir-opt prints it, byte for byte; programs of other formats keep their names. The form is described in
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
from commonir.ir.printing import Inexpressible, Nested, Part, Piece
from commonir.ods import Dialects, Op
from commonir.text.definitions import has_format
from commonir.text.form_printer import FormPrinter, VersionedPrinter
from commonir.text.lexer import VERSIONS
from commonir.text.resources import resource_lines

if TYPE_CHECKING:
    from commonir.text import format_writer, python_forms
else:
    # The generic form needs neither.
    format_writer = LazyModule("commonir.text.format_writer")
    python_forms = LazyModule("commonir.text.python_forms")


class Naming(Enum):
    """The names of values and blocks: those of the program, or those of mlir-opt with its exact text."""

    OWN = "own"
    MLIR = "mlir"


def naming_of(root: Operation, dialects: Dialects | None = None) -> Naming:
    """Returns OWN for a program with an operation of a dialect that keeps names, otherwise MLIR."""
    known = Dialects() if dialects is None else dialects
    prefixes = {d.name.partition(".")[0] for d in {type(op) for op in root.walk()} if issubclass(d, Op)}
    dialects_used = [known.get(prefix) for prefix in prefixes]
    return Naming.OWN if any(d is not None and d.keeps_names for d in dialects_used) else Naming.MLIR


def print_module(
    root: Operation,
    *,
    generic: bool = False,
    elide: int | None = DEFAULT_ELISION,
    locations: bool = False,
    names: bool = False,
    part: Part | None = None,
    dialects: Dialects | None = None,
    naming: Naming = Naming.OWN,
) -> str:
    """Returns the text of a program, or of any operation.

    `elide`: constants with more elements are neither printed nor read from their files. With None all are printed, and
    only then the text can be parsed. `locations` prints the locations of operations, `names` only their names. `part`
    is printed alone. `dialects` are those of the parser (default: all installed ones);
    the text states the version of a definition that is not the newest of them.
    """
    lines = print_lines(
        root,
        generic=generic,
        elide=elide,
        locations=locations,
        names=names,
        part=part,
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
    part: Part | None = None,
    dialects: Dialects | None = None,
    naming: Naming = Naming.OWN,
) -> Iterator[str]:
    """Yields the lines of `print_module`."""
    known = Dialects() if dialects is None else dialects
    printer_class, versions = (VersionedPrinter, {}) if generic else (CustomPrinter, versions_of(root, known))
    upstream = naming is Naming.MLIR
    printer = printer_class(
        known,
        versions,
        elide=elide,
        locations=locations,
        names=names,
        part=part,
        upstream=upstream,
        generic=generic,
    )
    if upstream:
        return printer.upstream_lines(root)
    return (
        _whole_lines(printer, root)
        if elide is None and part is None and isinstance(root, Module)
        else printer.lines(root)
    )


def _whole_lines(printer: VersionedPrinter, root: Module) -> Iterator[str]:
    """Yields the lines of a program that shall be read again: with the resources that it was read with."""
    printer.refers_to_resources = True
    yield from printer.lines(root)
    yield from resource_lines(printer.resources, root.tool_resources)


def versions_of(root: Operation, dialects: Dialects) -> dict[str, str]:
    """Returns the version of each dialect whose definitions fit most operations, if it is not the newest."""
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
        self._aliases.is_out_of_order = True
        try:
            return self._in_turn(self._formed(op))
        finally:
            self._aliases.is_out_of_order = False

    def _in_turn(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        for piece in pieces:
            if isinstance(piece, str):
                self._aliases.mark_used(piece)
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
        # The types of its operands select the overload of a declared operator, so the text has them.
        if not isinstance(op, Op) or op.is_declared or not self.is_expected(op):
            return self.generic
        if op.custom_form is not None:
            return partial(python_forms.written, self, op.custom_form)
        if not has_format(type(op)):
            return self.generic
        return partial(format_writer.compiled_format(type(op)).write, self)

    def _module(self, op: Module) -> Sequence[Piece]:
        extra = {**op.properties, **self.undeclared(op)}
        if self.versions:
            extra[VERSIONS] = DictionaryAttr(tuple([(d, StringAttr(v)) for d, v in sorted(self.versions.items())]))
        name = extra.pop("sym_name", None)
        symbol = f" {symbol_text(name.value)}" if isinstance(name, StringAttr) else ""
        if name is not None and not symbol:
            extra["sym_name"] = name
        attributes = f" attributes {self.dictionary(extra)}" if extra else ""
        return [f"{self.name(op)}{symbol}{attributes} ", Nested(op.regions[0], named=True)]
