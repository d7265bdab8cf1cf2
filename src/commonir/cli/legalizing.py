"""`cir opt --legalize-to`: the options, and how paths are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonir.api import Dialect, Module, Rewrite
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


def _names(text: str | None) -> tuple[str, ...]:
    return tuple([name.strip() for name in (text or "").split(",") if name.strip()])
