"""Reads the reports that colour a drawing: what `cir compare`, `cir profile` and `cir check` print with `--json`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path, PurePath

from commonir.base import strict_json
from commonir.base.codes import WRONG_OVERLAY, all_codes
from commonir.base.diagnostics import Code, Diagnostic, DiagnosticError, Severity
from commonir.base.limits import DEFAULT_LIMITS
from commonir.base.strict_json import Json
from commonir.base.text import format_bytes
from commonir.formats.content import content_of
from commonir.inspection.viewing.overlays import Overlaid
from commonir.reports import Comparison, Profile, ProfileComparison
from commonir.reports.reading import ReportError, read_report

_VERBS = ("compare", "profile", "check")
_SEVERAL = 2


def read_overlay(path: str | os.PathLike[str], model: str | os.PathLike[str] | None = None) -> Overlaid:
    """Returns the report in a file; of findings about several files those in the file of a model.

    Raises: DiagnosticError (E01xx for a file that cannot be read, E0809 for one that is no such report).
    """
    file = os.fspath(path)
    content = content_of(path)
    if content.entries is not None or content.is_binary:
        raise _wrong(file, "it is a folder" if content.entries is not None else "it is not text")
    if content.size_bytes > DEFAULT_LIMITS.max_text_bytes:
        raise _wrong(file, f"it has {format_bytes(content.size_bytes)}")
    try:
        document = strict_json.parse(Path(path).read_bytes())
    except strict_json.JsonError as error:
        raise _wrong(file, f"it is not JSON: {error}", error.line) from None
    if not isinstance(document, dict) or not isinstance(document.get("schema"), str):
        raise _wrong(file, "it has no 'schema', with which every report begins")
    schema = str(document["schema"])
    verb = schema.removeprefix("commonir.").partition("/")[0]
    if verb not in _VERBS:
        raise _wrong(file, f"it is a report of '{schema}'")
    result = document.get("result")
    try:
        if verb == "check":
            return _findings(document, result, model)
        if result is None:
            raise ReportError("result: there is none, because the command failed")
        if verb == "compare":
            return read_report(Comparison, result)
        is_several = isinstance(result, dict) and "profiles" in result
        return read_report(ProfileComparison if is_several else Profile, result)
    except ReportError as error:
        raise _wrong(file, str(error)) from None


def _wrong(file: str, reason: str, line: int | None = None) -> DiagnosticError:
    message = "the overlay is not a report of `cir compare`, `cir profile` or `cir check`"
    help = "`cir profile MODEL --json > report.json` writes one; `compare` and `check` take `--json`, too"
    return DiagnosticError(Diagnostic(WRONG_OVERLAY, message, file=file, line=line, notes=[reason], help=help))


def _findings(document: Mapping[str, Json], result: Json, model: str | os.PathLike[str] | None) -> list[Diagnostic]:
    """Returns the findings of a report of `check`."""
    findings = document.get("diagnostics")
    if not isinstance(findings, list):
        raise ReportError("diagnostics: expected a list")
    files = result.get("files") if isinstance(result, dict) else None
    is_of_several = isinstance(files, list) and len(files) >= _SEVERAL
    codes = {code.id: code for code in all_codes()}
    diagnostics = [_finding(finding, codes, f"diagnostics[{n}]") for n, finding in enumerate(findings)]
    if model is None or not is_of_several:
        return diagnostics
    name = PurePath(os.fspath(model)).name
    return [d for d in diagnostics if d.file is None or PurePath(d.file).name == name]


def _finding(value: Json, codes: Mapping[str, Code], place: str) -> Diagnostic:
    if not isinstance(value, dict):
        raise ReportError(f"{place}: expected an object")
    id, message = value.get("code"), value.get("message")
    if not isinstance(id, str) or not isinstance(message, str):
        raise ReportError(f"{place}: expected the texts 'code' and 'message'")
    texts = {key: text for key, text in value.items() if isinstance(text, str)}
    line = value.get("line")
    severities = {severity.value: severity for severity in Severity}
    # A plugin, or a version after this one, may have codes of its own.
    code = codes.get(id) or Code(id, "", "", severity=severities.get(texts.get("severity", ""), Severity.ERROR))
    return Diagnostic(
        code,
        message,
        where=texts.get("where", ""),
        file=texts.get("file"),
        line=line if isinstance(line, int) else None,
        help=texts.get("help"),
    )
