"""The context of one command: its options, its findings, and the handling of exceptions.

The command line imports heavy packages (`commonir.api`, numpy) only here, when a command first uses them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, TypedDict

import click

from commonir.base import codes, file_codes
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics, ExitStatus
from commonir.base.text import escape
from commonir.base.tuples import NamedTuple
from commonir.cli.answer import MOST_FINDINGS, Answer, write_answer
from commonir.cli.help import HELP_NAMES, GroupedOption, VerbCommand
from commonir.cli.options import PATH
from commonir.cli.progress import Progress
from commonir.cli.replacing import Replacing
from commonir.cli.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path

    from commonir import Module
    from commonir.api import Array, Dialect, StoredModel
    from commonir.cli.limits import TimeLeft

_Body = Callable[Concatenate["Session", ...], Answer]

_STANDARD_INPUT = "<standard input>"
_PART_BYTES = 1 << 20
_MOST_INPUT_BYTES = 16 << 30
"""How much of standard input is kept in a temporary file: as much as the largest tensor may have."""
_OPENING = "Common IR and TableGen"
"""The section of the help that has the options of commands that open models."""


class _Allowed(TypedDict, total=False):
    library_path: tuple[str, ...]
    allow_fetch: bool
    dialects: tuple[Dialect, ...]


class Opening(NamedTuple):
    """The options of verbs that open models."""

    library_path: tuple[str, ...] = ()
    allow_fetch: bool = False
    definitions: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()


_OPENS_PLAINLY = Opening()


class Session:
    """The context of a command."""

    __slots__ = (
        "_allowed",
        "_closing",
        "_dialects",
        "_files",
        "_opened",
        "_replacing",
        "_reports_shortened",
        "_spooled",
        "definitions",
        "err",
        "findings",
        "include_dirs",
        "is_debugging",
        "is_json",
        "most_findings",
        "out",
        "verb",
    )

    def __init__(
        self,
        verb: str,
        *,
        is_json: bool,
        is_debugging: bool,
        opening: Opening = _OPENS_PLAINLY,
        replacing: Replacing,
    ) -> None:
        self.verb = verb
        self.is_json = is_json
        self.is_debugging = is_debugging or bool(os.environ.get("COMMONIR_DEBUG"))
        self.out = Terminal()
        self.err = Terminal(is_error=True)
        self.findings = Diagnostics()
        self.most_findings: int | None = MOST_FINDINGS
        self._closing = ExitStack()
        self._replacing = replacing
        self._spooled: str | None = None
        self._reports_shortened = False
        self._opened: set[str] = set()
        # All files of programs of several, by the first.
        self._files: dict[str, tuple[str, ...]] = {}
        # What the user allows reading beyond the model.
        self._allowed: _Allowed = {}
        if opening.library_path:
            self._allowed["library_path"] = opening.library_path
        if opening.allow_fetch:
            self._allowed["allow_fetch"] = True
        # TableGen files of dialects, and the folders of their includes; definitions are loaded on first use.
        self.definitions = opening.definitions
        self.include_dirs = opening.include_dirs
        self._dialects: tuple[Dialect, ...] | None = None

    @property
    def api(self):
        """The package `commonir.api`, imported on first use."""
        from commonir import api  # noqa: PLC0415

        return api

    @property
    def arrays(self):
        """Reading, describing and saving arrays; loads numpy."""
        self._report_shortened()
        from commonir.cli import arrays  # noqa: PLC0415

        return arrays

    @property
    def stored(self):
        """Reading results of runs; loads numpy."""
        from commonir.cli import stored_arrays  # noqa: PLC0415

        return stored_arrays

    def progress(self, label: str, *, total: int | None = None) -> Progress:
        """Shows progress while a `with` block runs."""
        return Progress(self.err, label, total=total, is_shown=not self.is_json)

    def check_replaced(self, output: str) -> None:
        """Checks that an output that the command names itself replaces no file that it reads.

        Raises: REPLACES_INPUT.
        """
        self._replacing.check(output, self.confirm)

    def confirm(self, output: str) -> bool:
        """Asks on a terminal whether an output may replace a file; returns False without a terminal."""
        can_ask = not self.is_json and self.err.is_terminal and sys.stdin.isatty()
        return can_ask and click.confirm(f"replace {escape(output)}?", err=True)

    def limited_time(self, seconds: float | None, *, is_watched: bool = True) -> AbstractContextManager[TimeLeft]:
        """Returns a context that limits the time of the command; only the engine ends a run that is not watched."""
        from commonir.cli.limits import TimeLeft, limited_time  # noqa: PLC0415  few commands run programs

        if not is_watched:
            return nullcontext(TimeLeft(seconds))
        return limited_time(seconds, self._answer_refusal)

    def limited_memory(self, limit_bytes: int | None) -> AbstractContextManager[None]:
        """Returns a context that limits the memory of the command."""
        from commonir.cli.limits import limited_memory  # noqa: PLC0415  as above

        return limited_memory(limit_bytes)

    def _answer_refusal(self, finding: Diagnostic) -> int:
        return write_answer(Answer.refused(finding), [finding], self.verb, self.out, self.err, self.is_json)

    def _is_mapped(self, path: str) -> bool:
        """Returns whether readers map the file at a path; a folder counts as one that they do."""
        from commonir.base.file_contents import LARGEST_COPY_BYTES  # noqa: PLC0415  few commands read no model

        with suppress(OSError):
            return os.path.isdir(path) or os.stat(path).st_size > LARGEST_COPY_BYTES
        return False

    def _report_shortened(self) -> None:
        """Reports files that become shorter until the command ends."""
        if not self._reports_shortened:
            from commonir.cli.shortened import reporting_shortened_files  # noqa: PLC0415  few files are mapped

            self._reports_shortened = True
            self._closing.enter_context(reporting_shortened_files(self._answer_refusal))

    def scratch_folder(self) -> Path:
        """Returns a temporary folder that is removed when the command ends."""
        from pathlib import Path  # noqa: PLC0415  few commands keep something
        from tempfile import TemporaryDirectory  # noqa: PLC0415  as above

        return Path(self._closing.enter_context(TemporaryDirectory(prefix="commonir-")))

    def input_path(self, model: str) -> str:
        """The path of a model; `-` is standard input, kept in a file because readers map what they read."""
        if model != "-":
            return model
        if self._spooled is None:
            path = self.scratch_folder() / "model"
            with path.open("wb") as copy:
                while part := sys.stdin.buffer.read(_PART_BYTES):
                    copy.write(part)
                    if copy.tell() > _MOST_INPUT_BYTES:
                        message = f"standard input has more than {_MOST_INPUT_BYTES:,} bytes"
                        help = "write it to a file, and name the file"
                        raise DiagnosticError(
                            Diagnostic(file_codes.LIMIT_EXCEEDED, message, file=_STANDARD_INPUT, help=help)
                        )
                is_empty = not copy.tell()
            if is_empty:
                help = "the command before the pipe wrote nothing: look at its messages, or redirect a file: `< FILE`"
                message = "standard input is empty"
                raise DiagnosticError(Diagnostic(file_codes.EMPTY_FILE, message, file=_STANDARD_INPUT, help=help))
            self._spooled = path.as_posix()
        return self._spooled

    @property
    def dialects(self) -> tuple[Dialect, ...]:
        """The dialects that the files of `--dialect` define."""
        if self._dialects is None:
            self._dialects = self.api.load_dialects(self.definitions, self.include_dirs) if self.definitions else ()
        return self._dialects

    def joined(self, models: Sequence[str]) -> list[str]:
        """Returns the first file of each program among some files, of which `load` then opens all files."""
        is_repeated = len(models) > 1 and len(set(models)) == 1
        programs = [(model,) for model in models] if is_repeated or len(models) == 1 else self.programs(models)
        self._files.update({files[0]: files for files in programs if len(files) > 1})
        return [files[0] for files in programs]

    def one_program(self, models: Sequence[str]) -> str:
        """Returns the first of the files of one program, of which `load` then opens all.

        Raises: UsageError when they are of several programs.
        """
        first, *others = self.joined(list(dict.fromkeys(models)))
        if others:
            raise click.UsageError(f"takes one program: '{others[0]}' does not belong to '{first}'")
        return first

    def files_of(self, program: str) -> tuple[str, ...]:
        """Returns the files of a program that the command line names, by the first of them."""
        return self._files.get(program, (program,))

    def found(self, first: str, *others: str) -> str:
        """Returns which programs were found among the models of a command, as the end of a message."""
        if others:
            names = ", ".join([f"'{name}'" for name in (first, *others)])
            return f"found {len(others) + 1}: {names}"
        files = self.files_of(first)
        return f"found one: '{first}'" if len(files) == 1 else f"and '{first}' and '{files[1]}' are ranks of one"

    def with_inputs(self, model: str, words: Sequence[str]) -> tuple[str, list[str]]:
        """Returns a program and the inputs among the words after it, which may begin with further files of the program.

        Raises: UsageError when a word is the file of another program.
        """
        # Asked first, because looking into files loads their formats.
        existing = [word for word in words if not word.startswith("@") and os.path.exists(word)]
        files = [word for word in existing if self.api.is_model(word)]
        return self.one_program([model, *files]), [word for word in words if word not in files]

    def load(self, model: str, *, lenient: bool = False, dialects: Sequence[Dialect] = ()) -> Module:
        """Opens a model and adds findings to those of the command. `dialects` are used in addition to `--dialect`."""
        used = (*self.dialects, *dialects)
        paths = [self.input_path(file) for file in self.files_of(model)]
        self._opened.update(paths)
        if any(map(self._is_mapped, paths)):
            self._report_shortened()
        path = paths[0] if len(paths) == 1 else paths
        module = self.api.load(path, findings=self.findings, lenient=lenient, **self._beyond(used))
        if self.api.maps_weights(module):
            self._report_shortened()
        return module

    def stored_model(self, model: str, *, engine: str | None, function: str | None) -> StoredModel | None:
        """Returns the place of the compiled program of a model; None if options change how the model is read."""
        if self._allowed or self.definitions or len(self.files_of(model)) > 1:
            return None
        return self.api.stored_model(self.input_path(model), engine=engine, function=function)

    def _beyond(self, dialects: Sequence[Dialect]) -> _Allowed:
        """Returns the options for opening a model: dialects, library folders, permission to fetch."""
        return {**self._allowed, "dialects": tuple(dialects)} if dialects else self._allowed

    def with_externs(self, program: Module, archives: Sequence[str]) -> Module:
        """Returns a program whose extern globals have the contents of archives."""
        if not archives:
            return program
        return self.api.with_externs(program, self.arrays.parse_inputs([f"@{path}" for path in archives], seed=0))

    def called(
        self, program: Module, function: str | None, texts: Sequence[str] = ()
    ) -> tuple[Module, str | None, list[str]]:
        """Returns a program that runs a function, the name of the function in it, and the remaining inputs.

        For a function of a Common IR file this is a new program that calls the function. Inputs with the name of an
        attribute of the function become attributes of the call.
        """
        names = self.api.call_attributes(program, function)
        if names is None:
            return program, function, list(texts)
        parts = [text.partition("=") for text in texts]
        values = {name: _value_of(value) for name, equals, value in parts if equals and name in names}
        rest = [text for text, (name, _, _) in zip(texts, parts, strict=True) if name not in names]
        return self.api.calling(program, function, **values), None, rest

    def read_labels(self, path: str) -> tuple[str, ...] | tuple[int, ...]:
        """Returns the labels in a file."""
        return self.api.read_labels(path)

    def inputs(
        self, program: Module, texts: Sequence[str], *, function: str | None, seed: int, resize: bool
    ) -> dict[str, Array]:
        """Returns the arrays of command-line inputs for a function of a program.

        Raises: WRONG_INPUT_ARGUMENT for several sets of inputs.
        """
        sets = self.input_sets(program, texts, function=function, seed=seed, resize=resize)
        if len(sets) > 1:
            message = f"the files have {len(sets)} sets of inputs, and one is expected here"
            help = "`cir run` and `cir compare` take several"
            raise DiagnosticError(Diagnostic(codes.WRONG_INPUT_ARGUMENT, message, help=help))
        return sets[0]

    def input_sets(
        self, program: Module, texts: Sequence[str], *, function: str | None, seed: int, resize: bool
    ) -> list[dict[str, Array]]:
        """Returns each set of the inputs of a command line: one, or as many as are in the files that have several.

        Raises: UsageError for files with different numbers of sets.
        """

        def image(name: str, path: str, form: str) -> Array:
            return self.api.read_image(program, name, path, form=form, function=function, resize=resize)

        def scalar(name: str, text: str) -> Array:
            return self.api.scalar_input(program, name, text, function=function)

        def json(name: str | None, text: str | bytes) -> dict[str, Array]:
            return self.api.json_inputs(program, text, name=name, function=function)

        readers = self.arrays.InputReaders(image, scalar, json)
        saved = [text for text in texts if text.startswith("@") and self.stored.has_sets(text[1:])]
        words = [t for t in texts if t not in saved]
        try:
            arrays = self.arrays.parse_inputs(words, seed=seed, readers=readers)
        except DiagnosticError as error:
            names = [word.partition("=")[0] for word in words if "=" in word and not word.startswith("@")]
            # Readers that need the type of an input report its name themselves.
            names = [name for name in names if not any(f"no input '{name}'" in d.message for d in error.diagnostics)]
            unknown = self.api.unknown_inputs(program, names, function=function)
            raise DiagnosticError(*unknown, *error.diagnostics) from None
        runs = self.stored.side_by_side([self.stored.read_stored(text[1:]) for text in saved], saved)
        return [
            self.api.fitted_inputs(
                program,
                {name: array for run in part for name, array in run.as_inputs.items()} | arrays,
                function=function,
                findings=self.findings,
            )
            for part in runs
        ]

    def programs(self, models: Sequence[str]) -> list[tuple[str, ...]]:
        """Returns the models as they were named; files of one program are grouped."""
        names = {self.input_path(model): model for model in models}
        return [tuple([names[path] for path in files]) for files in self.api.programs_of(list(names))]

    def check(self, path: str | Sequence[str], *, allow_unregistered: bool) -> tuple[Module | None, list[Diagnostic]]:
        """Opens and verifies the model of a path, or of all files of one program."""
        if any(map(self._is_mapped, [path] if isinstance(path, str) else path)):
            self._report_shortened()
        return self.api.check(path, allow_unregistered=allow_unregistered, **self._beyond(self.dialects))

    def check_pieces(
        self, path: str, *, split: bool, expects: bool, allow_unregistered: bool
    ) -> Iterator[tuple[Module | None, list[Diagnostic]]]:
        """Opens and verifies each program of an MLIR text."""
        return self.api.check_pieces(
            path, split=split, expects=expects, dialects=self.dialects, allow_unregistered=allow_unregistered
        )

    def pieces(self, model: str) -> Iterator[Module]:
        """Opens each program of an MLIR text.

        Raises: DiagnosticError for the first that cannot be read.
        """
        for module, diagnostics in self.check_pieces(
            self.input_path(model), split=True, expects=False, allow_unregistered=True
        ):
            if module is None:
                raise DiagnosticError(*diagnostics)
            yield module

    def readable_text(self, text: str) -> str:
        """Returns an MLIR text with mlir-opt's name for standard input instead of the temporary file."""
        return text if self._spooled is None else text.replace(f'"{self._spooled}"', '"<stdin>"')

    def run(self, action: Callable[[], Answer]) -> int:
        """Runs the command, writes the answer and returns the exit status. Interrupts and closed pipes propagate."""
        with self._closing:
            try:
                answer = action()
            except (click.ClickException, click.exceptions.Exit):
                raise
            except DiagnosticError as error:
                refusals = [self._in_file(finding) for finding in error.diagnostics]
                self.findings.extend(refusals)
                answer = Answer.refused(*refusals)
            except OSError as error:
                answer = self._refuse(_system_finding(error))
            except MemoryError:
                answer = self._refuse(Diagnostic(file_codes.LIMIT_EXCEEDED, "not enough memory"))
            except Exception as error:  # noqa: BLE001  whatever it is, the user hears that it is not their fault
                answer = self._refuse(self._bug(error))
            if answer.status is ExitStatus.YES and any(finding.is_error for finding in self.findings):
                # What could be read is shown, and the input is not what it should be.
                answer.status = DiagnosticError(*self.findings).status
            # An operation that is expanded may meet the same obstacle several times.
            findings = list({str(d): d for d in map(self._readable, self.findings)}.values())
            return write_answer(answer, findings, self.verb, self.out, self.err, self.is_json, self.most_findings)

    def _in_file(self, finding: Diagnostic) -> Diagnostic:
        """Returns a finding that names the file, if it is at a place in the only program that was opened."""
        if finding.where and len(self._opened) == 1:
            return finding.located(file=next(iter(self._opened)))
        return finding

    def _refuse(self, finding: Diagnostic) -> Answer:
        self.findings.extend([finding])
        return Answer.refused(finding)

    def _bug(self, error: Exception) -> Diagnostic:
        if self.is_debugging:
            # Only a fault of ours pays for this import.
            import traceback  # noqa: PLC0415

            self.err.lines("".join(traceback.format_exception(error)))
        return Diagnostic(
            codes.INTERNAL_ERROR,
            f"internal error: {type(error).__name__}: {error}",
            help="please report this, with the output of the same command with --debug"
            if not self.is_debugging
            else "please report this",
        )

    def _readable(self, finding: Diagnostic) -> Diagnostic:
        """Returns a finding that names standard input instead of the temporary file."""
        if self._spooled is None or finding.file != self._spooled:
            return finding
        result = finding.located()
        result.file = _STANDARD_INPUT
        return result


def _value_of(text: str) -> object:
    """Returns the value of a text: a number, a bool or a list in JSON syntax, otherwise the text itself."""
    from commonir.base import strict_json  # noqa: PLC0415  few commands are given values

    try:
        return strict_json.parse(text)
    except strict_json.JsonError:
        return text


def _system_finding(error: OSError) -> Diagnostic:
    reason = (error.strerror or type(error).__name__).lower()
    file = str(error.filename) if error.filename is not None else None
    return Diagnostic(file_codes.FILE_NOT_ACCESSIBLE, f"{reason}", file=file)


def verb(*examples: str, cls: type[VerbCommand] = VerbCommand, opens: bool = False) -> Callable[[_Body], click.Command]:
    """Makes a command of a function, which gets a session and the parameters that click's decorators declare.

    Name and help are those of the function; the help begins with the examples. Adds the options of all commands; with
    `opens`, also those of commands that open models.
    """

    def make(function: _Body) -> click.Command:
        @wraps(function)
        def callback(
            *,
            is_json: bool,
            is_debugging: bool,
            library_path: tuple[str, ...] = (),
            allow_fetch: bool = False,
            definitions: tuple[str, ...] = (),
            definition_dirs: tuple[str, ...] = (),
            **arguments: object,
        ) -> int:
            opening = Opening(library_path, allow_fetch, definitions, definition_dirs)
            replacing = Replacing(click.get_current_context())
            session = Session(
                function.__name__, is_json=is_json, is_debugging=is_debugging, opening=opening, replacing=replacing
            )

            def action() -> Answer:
                replacing.check_outputs(session.confirm)
                return function(session, **arguments)

            return session.run(action)

        settings = {"help_option_names": HELP_NAMES}
        command = click.command(function.__name__, cls=cls, context_settings=settings)(callback)
        command.params += _opening_options() if opens else []
        command.params += [
            click.Option(["--json", "is_json"], is_flag=True, help="Write the result and all findings as JSON."),
            click.Option(["--debug", "is_debugging"], is_flag=True, help="Show the traceback of an internal error."),
        ]
        command.examples = examples
        return command

    return make


def _opening_options() -> list[click.Parameter]:
    """Returns the options of commands that open models: where to find what a model refers to."""
    return [
        GroupedOption(
            ["--library-path"],
            section=_OPENING,
            metavar="FOLDER",
            multiple=True,
            type=click.Path(exists=True, file_okay=False),
            help="Also search this folder for imported libraries.",
        ),
        GroupedOption(
            ["--allow-fetch"],
            section=_OPENING,
            is_flag=True,
            help="Allow fetching imported libraries over https. The import must have a digest.",
        ),
        GroupedOption(
            ["--dialect", "definitions"],
            section=_OPENING,
            metavar="FILE.td",
            multiple=True,
            type=PATH,
            help="Load operation definitions from a TableGen file.",
        ),
        GroupedOption(
            ["-I", "definition_dirs"],
            section=_OPENING,
            metavar="DIR",
            multiple=True,
            type=PATH,
            help="Search this folder for included TableGen files.",
        ),
    ]
