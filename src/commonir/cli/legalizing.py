"""`cir opt --legalize-to`: the options, and how paths are shown."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from commonir.cli.options import completed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonir import Module
    from commonir.api import Dialect, Rewrite
    from commonir.cli.answer import Answer
    from commonir.cli.session import Session
    from commonir.cli.terminal import Terminal
    from commonir.reports import JsonValue, LegalizationReport


class Legality:
    """The options of a legalization, and afterwards the paths of operations."""

    def __init__(self, to: Sequence[str], legal: Sequence[str], illegal: Sequence[str], *, is_partial: bool) -> None:
        self._to = to
        self._legal = legal
        self._illegal = illegal
        self._is_partial = is_partial
        self._reports: list[LegalizationReport] = []

    @classmethod
    def of(cls, to: str | None, legal: str | None, illegal: str | None, *, is_partial: bool) -> Legality | None:
        """Returns the options; None without `--legalize-to`.

        Raises: click.UsageError for options that need it, and if it names no dialect.
        """
        if to is None:
            if is_partial or legal is not None or illegal is not None:
                raise click.UsageError("--partial, --legal and --illegal need --legalize-to")
            return None
        names = _names(to)
        if not names:
            raise click.UsageError("--legalize-to needs the name of a dialect")
        return cls(names, _names(legal), _names(illegal), is_partial=is_partial)

    def legalized(
        self, session: Session, module: Module, rules: Sequence[Rewrite], dialects: Sequence[Dialect]
    ) -> Module:
        """Returns the legalized program. Raises: DiagnosticError (E0601, E0604 to E0608)."""
        return session.api.legalize(
            module,
            self._to,
            rules=rules,
            legal=self._legal,
            illegal=self._illegal,
            partial=self._is_partial,
            dialects=dialects,
            reports=self._reports,
            findings=session.findings,
        )

    def to_json(self) -> dict[str, JsonValue]:
        """Returns the paths for the JSON output."""
        return {"paths": [report.to_json() for report in self._reports]}

    def write(self, out: Terminal) -> None:
        """Writes the path of each operation, those of one name and path together."""
        for report in self._reports:
            more = f" and {report.count - 1:,} more" if report.count > 1 else ""
            out.line(f"{report.where}{more}{':' if report.steps else ' stays:'}")
            for step in report.steps:
                out.line(f"  {step.operation} -> {', '.join(step.result) or 'existing values'} by {step.by}")
            for reason in report.reasons:
                out.line(f"  {reason}")


_OPTIONS = (
    click.option(
        "--legalize-to",
        metavar="DIALECTS",
        shell_complete=completed("dialects"),
        help="Replace all operations by those of these dialects. They are separated by commas, and named passes run"
        " afterwards.",
    ),
    click.option("--partial", "is_partial", is_flag=True, help="Keep operations that no rules lead to the dialects."),
    click.option(
        "--legal", metavar="NAMES", help="Dialects and operations that are also legal. They are separated by commas."
    ),
    click.option(
        "--illegal",
        metavar="NAMES",
        help="Dialects and operations that must be replaced. This also holds with --partial.",
    ),
)


def legality_options(function: Callable[..., Answer]) -> Callable[..., Answer]:
    """Adds the options of a legalization to a command, which receives them as `legality`."""

    @wraps(function)
    def run(
        *arguments: Any,
        legalize_to: str | None,
        legal: str | None,
        illegal: str | None,
        is_partial: bool,
        **others: Any,
    ) -> Answer:
        legality = Legality.of(legalize_to, legal, illegal, is_partial=is_partial)
        return function(*arguments, legality=legality, **others)

    decorated: Callable[..., Answer] = run
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


def _names(text: str | None) -> tuple[str, ...]:
    return tuple([name.strip() for name in (text or "").split(",") if name.strip()])
