"""`cir check --fix`: removes faults that have only one right remedy, and says what it did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from commonir.base.diagnostics import Diagnostic, DiagnosticError, ExitStatus
from commonir.base.text import format_bytes, plural
from commonir.base.tuples import NamedTuple
from commonir.cli.answer import Answer
from commonir.cli.session import Session
from commonir.cli.terminal import Style, Terminal

if TYPE_CHECKING:
    from commonir.reports import FileEntry, JsonValue


class _Outcome(NamedTuple):
    """A program after fixing: its name, what was fixed, whether no error remains, the files, and the engine that ran
    the original and the result.
    """

    name: str
    fixed: Sequence[Diagnostic]
    is_sound: bool
    files: Sequence[FileEntry]
    engine: str

    def to_json(self) -> JsonValue:
        """Returns the outcome as JSON."""
        fixed: list[JsonValue] = [
            {"code": d.code.id, "where": d.where, "message": d.message, "fix": d.fix.text if d.fix else None}
            for d in self.fixed
        ]
        files = [file.to_json() for file in self.files]
        return {"file": self.name, "ok": self.is_sound, "fixed": fixed, "output": files, "engine": self.engine or None}


def fix_models(session: Session, models: Sequence[str], output: str | None, *, is_forced: bool) -> Answer:
    """Fixes the programs of some files, writes them if an output is named or `is_forced`, and returns the answer."""
    programs = session.programs(models)
    if output is not None and len(programs) > 1:
        raise click.UsageError(f"'-o' takes one program, found {len(programs)}")
    outcomes: list[_Outcome] = []
    status = ExitStatus.YES
    with session.progress("fixing", total=len(programs)) as progress:
        for files in programs:
            progress.step(f"fixing {', '.join(files)}")
            outcome, own_status = _fix(session, files, output or (files[0] if is_forced else None))
            outcomes.append(outcome)
            status = max(status, own_status)
            progress.advance()
    is_written = output is not None or is_forced
    result = {"files": [outcome.to_json() for outcome in outcomes]}
    return Answer(result, lambda out: _write(outcomes, out, is_written=is_written), status)


def _fix(session: Session, files: Sequence[str], output: str | None) -> tuple[_Outcome, ExitStatus]:
    paths = [session.input_path(file) for file in files]
    path = paths[0] if len(paths) == 1 else paths
    fixed = session.api.fix(path, dialects=session.dialects)
    session.findings.extend(fixed.remaining)
    if fixed.module is None:
        return _Outcome(files[0], (), False, (), ""), DiagnosticError(*fixed.remaining).status
    written: Sequence[FileEntry] = ()
    engine = ""
    if fixed.is_sound and fixed.fixed and output is not None:
        written, engine = session.api.save_fixed(path, fixed.module, output)
    is_faulty = not fixed.is_sound or (output is None and any(d.is_error for d in fixed.fixed))
    status = ExitStatus.NO if is_faulty else ExitStatus.YES
    return _Outcome(", ".join(files), fixed.fixed, fixed.is_sound, written, engine), status


def _write(outcomes: Sequence[_Outcome], out: Terminal, *, is_written: bool) -> None:
    for outcome in outcomes:
        count = plural(len(outcome.fixed), "fault")
        if not outcome.fixed:
            out.line(f"{outcome.name}: nothing to fix" if outcome.is_sound else f"{outcome.name}: nothing can be fixed")
            continue
        verb = "fixed" if outcome.files else "can fix"
        out.line(f"{outcome.name}: {verb} {count}", Style.STRONG)
        for d in outcome.fixed:
            assert d.fix is not None
            out.line(f"  {d.where}: {d.fix.text} ({d.code.id})")
        if not outcome.is_sound:
            out.line("  not written: what remains has no single right remedy", Style.WARNING)
        elif outcome.files:
            if outcome.engine:
                out.line(f"  outputs equal those of the original on random inputs ({outcome.engine})")
            else:
                out.line("  the original does not run, so its outputs were not compared")
            for file in outcome.files:
                out.line(f"  wrote {file.path} ({format_bytes(file.size_bytes)})")
        elif not is_written:
            out.line("  nothing is written yet: name the result with -o OUT, or replace the model with --force")
