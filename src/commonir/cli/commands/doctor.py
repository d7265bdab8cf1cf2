"""`cir doctor`: shows installed packages, engines, formats and plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.cli.answer import Answer
from commonir.cli.session import Session, verb
from commonir.cli.terminal import Style, Terminal
from commonir.reports.columns import Column

if TYPE_CHECKING:
    from commonir.reports import DoctorReport, EngineReport, PackageReport


@verb("cir doctor")
def doctor(session: Session) -> Answer:
    """Show installed versions, packages, engines, formats and plugins."""
    report = session.api.doctor()
    return Answer(report.to_json(), lambda out: _write(report, out))


def _write(report: DoctorReport, out: Terminal) -> None:
    out.pairs(
        [
            ("commonir", report.version),
            ("Python", report.python),
            ("platform", report.platform),
            ("TableGen", report.headers),
        ]
    )
    for title, rows in (
        ("packages", [(package.name, _version(package)) for package in report.packages]),
        ("engines", [(engine.name, _of_engine(engine)) for engine in report.engines]),
        (
            "formats",
            [
                (form.name, " ".join(form.suffixes), _abilities(is_read=form.is_read, is_written=form.is_written))
                for form in report.formats
            ],
        ),
        ("plugins", [(p.name, p.kind, p.package, "works" if p.is_available else p.note) for p in report.plugins]),
    ):
        if rows:
            out.line()
            out.line(title, Style.STRONG)
            out.table([Column("")] * len(rows[0]), rows, indent=2)


def _version(package: PackageReport) -> str:
    if package.version is not None:
        return package.version
    return f"not installed: python -m pip install 'commonir[{package.extra}]'" if package.extra else "not installed"


def _of_engine(engine: EngineReport) -> str:
    if not engine.is_available:
        return engine.note
    return f"works, {engine.note}" if engine.note else "works"


def _abilities(*, is_read: bool, is_written: bool) -> str:
    return " and ".join(name for name, is_able in (("read", is_read), ("written", is_written)) if is_able)


command = doctor
