"""`cir doctor`: shows installed packages, engines, formats and plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commonir.base.text import format_bytes, plural
from commonir.cli.answer import Answer
from commonir.cli.session import Session, verb
from commonir.cli.terminal import Style, Terminal
from commonir.reports.columns import Column

if TYPE_CHECKING:
    from commonir.reports import CacheReport, DoctorReport, EngineReport, PackageReport


@verb("cir doctor", "cir doctor --clear-cache")
@click.option("--clear-cache", is_flag=True, help="Remove all compiled programs from the cache first.")
def doctor(session: Session, *, clear_cache: bool) -> Answer:
    """Show installed versions, packages, engines, formats and plugins, and the cache of compiled programs."""
    report = session.api.doctor(clear_cache=clear_cache)
    return Answer(report.to_json(), lambda out: _write(report, out))


def _write(report: DoctorReport, out: Terminal) -> None:
    out.pairs(
        [
            ("commonir", report.version),
            ("Python", report.python),
            ("platform", report.platform),
            ("TableGen", report.headers),
            ("cache", _cache(report.cache)),
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


def _cache(cache: CacheReport) -> str:
    if not cache.most_bytes:
        return "off (COMMONIR_CACHE_MB is 0)"
    if not cache.folder:
        return "none, as the user has no home"
    entries = plural(cache.entries, "entry", "entries")
    return f"{entries}, {format_bytes(cache.size_bytes)} of {format_bytes(cache.most_bytes)}, in {cache.folder}"


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
