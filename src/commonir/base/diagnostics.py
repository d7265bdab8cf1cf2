"""Diagnostics about the user's input: what is wrong, where, and how to correct it.

An error in the input is always a `Diagnostic`; a stage collects all of its diagnostics in a `Diagnostics` list and
continues. `DiagnosticError` carries diagnostics out of a call that cannot return a result. An error of this program is
an `InternalError`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum, IntEnum
from typing import TypeAlias

from commonir.base.advice import in_python
from commonir.base.text import escape, escape_html, message_line, shortened


class Severity(Enum):
    """The severity of a diagnostic."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class ExitStatus(IntEnum):
    """Exit codes of the command line."""

    YES = 0
    NO = 1
    USAGE = 2
    UNREADABLE = 3
    UNSUPPORTED = 4
    REFUSED = 5
    UNWRITABLE = 6
    OUR_BUG = 70
    INTERRUPTED = 130


_OPERATION = "NAME"


class Code:
    """The code of a diagnostic: its id, severity, and explanation, which ends with what the user can do, `remedy`."""

    __slots__ = ("explanation", "id", "remedy", "severity", "status", "title")

    def __init__(
        self,
        id: str,
        title: str,
        explanation: str,
        *,
        remedy: str = "",
        status: ExitStatus = ExitStatus.NO,
        severity: Severity = Severity.ERROR,
    ) -> None:
        self.id = id
        self.title = title
        self.explanation = " ".join(filter(None, (explanation, remedy)))
        self.remedy = remedy
        self.status = status
        self.severity = severity

    @property
    def advice(self) -> str:
        """The remedy as a help line: without capital and dot. "" for a remedy that names an operation, NAME."""
        if _OPERATION in self.remedy:
            return ""
        return self.remedy[:1].lower() + self.remedy[1:].removesuffix(".")

    def advice_for(self, operation: str) -> str | None:
        """Returns the remedy for an operation as a help line; None when it names none."""
        return self.remedy.replace(_OPERATION, operation).removesuffix(".") if _OPERATION in self.remedy else None

    def __repr__(self) -> str:
        return f"Code({self.id}, {self.title!r})"


def _read_so() -> None:
    """Changes nothing: the reader has taken the file as the fix says."""


class Fix:
    """The only right way to remove the cause of a diagnostic.

    `text` says what it does, such as "puts the nodes in order". `apply` changes the program that the diagnostic is
    about; a reader that has read a broken file as it must have been meant needs no change. Several diagnostics about
    one `target`, such as a block, may have the same fix.
    """

    __slots__ = ("apply", "target", "text")

    def __init__(self, text: str, apply: Callable[[], None] = _read_so, target: object = None) -> None:
        self.text = text
        self.apply = apply
        self.target = target

    def __repr__(self) -> str:
        return f"Fix({self.text!r})"


Help: TypeAlias = str | Callable[[], str | None] | None
"""A help text, or a search for it that is worth its time only when it is shown."""


class Diagnostic:
    """One finding.

    `where` is a path into the program, such as `main.block[CoreML7].operations[12] 'conv_3'.inputs['weight']`. `line`
    and `column` are positions in a text, from 1. `notes` are facts that help to understand it (`found: ...`) and `help`
    is what the user can do, with options of the command line (`advice` says the same for Python). `fix` removes the
    cause, where there is only one right way (`cir check --fix`).
    """

    __slots__ = ("_help", "code", "column", "file", "fix", "line", "message", "notes", "where")

    def __init__(
        self,
        code: Code,
        message: str,
        *,
        where: str = "",
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        notes: Iterable[str] = (),
        help: Help = None,
        fix: Fix | None = None,
    ) -> None:
        self.code = code
        self.message = message
        self.where = where
        self.file = file
        self.line = line
        self.column = column
        self.notes = tuple(notes)
        self._help = help
        self.fix = fix

    @property
    def help(self) -> str | None:
        """The remedy for the user; None when none is known."""
        if callable(self._help):
            self._help = self._help()
        return self._help

    @help.setter
    def help(self, help: str | None) -> None:
        self._help = help

    def without_search(self) -> Diagnostic:
        """Returns the diagnostic without a help that would still have to be searched for."""
        if callable(self._help):
            self._help = None
        return self

    @property
    def severity(self) -> Severity:
        """The severity of its code."""
        return self.code.severity

    @property
    def is_error(self) -> bool:
        """Whether it is an error rather than a warning or a note."""
        return self.code.severity is Severity.ERROR

    def located(self, *, file: str | None = None, where: str = "") -> Diagnostic:
        """Returns the diagnostic with the file filled in and the path prefixed."""
        path = f"{where}.{self.where}" if where and self.where else where or self.where
        return Diagnostic(
            self.code,
            self.message,
            where=path,
            file=self.file or file,
            line=self.line,
            column=self.column,
            notes=self.notes,
            help=self._help,
            fix=self.fix,
        )

    def prefixed(self, prefix: str) -> Diagnostic:
        """Returns the diagnostic with a prefix of its message."""
        result = self.located()
        result.message = prefix + self.message
        return result

    def advised(self, help: str) -> Diagnostic:
        """Returns the diagnostic with another help text added."""
        result = self.located()
        result.help = help if self.help is None else f"{self.help}; {help}"
        return result

    @property
    def command_line_advice(self) -> str:
        """Its help, else the remedy of its code; "" when neither is known."""
        return self.help or self.code.advice

    @property
    def advice(self) -> str:
        """The same in terms of Python: with arguments of functions instead of options of commands."""
        return in_python(self.command_line_advice)

    @property
    def place(self) -> str:
        """The file, with line and column if they are known: `net.mlir:3:21`."""
        if not self.file or not self.line:
            return self.file or ""
        return f"{self.file}:{self.line}" if self.column is None else f"{self.file}:{self.line}:{self.column}"

    def __str__(self) -> str:
        place = ": ".join(message_line(part) for part in (self.place, self.where) if part)
        lines = [f"{self.severity.value}[{self.code.id}]: {message_line(self.message)}"]
        if place:
            lines.append(f"  --> {place}")
        lines += [f"   = {message_line(note)}" for note in self.notes]
        if self.advice:
            lines.append(f"   = help: {message_line(self.advice)}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        where = f" at {self.place or self.where}" if self.place or self.where else ""
        return shortened(f"<{self.severity.value} {self.code.id}{escape(where)}: {escape(self.message)}", ">")

    def to_json(self, *, in_python: bool = True) -> dict[str, str | int | list[str] | None]:
        """Its fields as JSON values, as a command with `--json` lists them; `help` is in terms of Python."""
        return {
            "code": self.code.id,
            "severity": self.severity.value,
            "message": self.message,
            "file": self.file,
            "where": self.where,
            "line": self.line,
            "column": self.column,
            "notes": list(self.notes),
            "help": (self.advice if in_python else self.command_line_advice) or None,
            "fix": None if self.fix is None else self.fix.text,
        }

    def _repr_html_(self) -> str:
        """Returns its text for a notebook."""
        return f"<pre>{escape_html(str(self))}</pre>"


class DiagnosticError(Exception):
    """The input has errors and there is no result; `diagnostics` lists them."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("\n".join(str(d) for d in diagnostics))
        self.diagnostics: tuple[Diagnostic, ...] = diagnostics

    @property
    def status(self) -> ExitStatus:
        """The exit status of the first error."""
        return next((d.code.status for d in self.diagnostics if d.is_error), ExitStatus.NO)


class InternalError(Exception):
    """An error of this program, never of its input."""


class Diagnostics:
    """The diagnostics of one stage, in order."""

    __slots__ = ("_items",)

    def __init__(self, diagnostics: Iterable[Diagnostic] = ()) -> None:
        self._items = list(diagnostics)

    def add(
        self,
        code: Code,
        message: str,
        *,
        where: str = "",
        file: str | None = None,
        line: int | None = None,
        notes: Iterable[str] = (),
        help: str | None = None,
        fix: Fix | None = None,
    ) -> None:
        """Adds a diagnostic."""
        self._items.append(
            Diagnostic(code, message, where=where, file=file, line=line, notes=notes, help=help, fix=fix)
        )

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Adds diagnostics of another stage."""
        self._items.extend(diagnostics)

    def truncate(self, count: int) -> None:
        """Removes all diagnostics but the first ones."""
        del self._items[count:]

    @property
    def has_errors(self) -> bool:
        """Whether any diagnostic is an error."""
        return any(d.is_error for d in self._items)

    def raise_errors(self) -> None:
        """Raises all diagnostics if one of them is an error. Raises: DiagnosticError."""
        if self.has_errors:
            raise DiagnosticError(*self._items)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)
