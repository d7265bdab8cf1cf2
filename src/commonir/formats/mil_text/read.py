"""Reads MIL text: a file of its own, or the program of a compiled model (`.mlmodelc`).

The module equals that of a package of the same program. Weights stay on disk. A text of its own has no description of
inputs and outputs beside its types and what its functions say of flexible shapes; a compiled model has that of the
package it was made from.

Limits: `Limits.max_text_bytes`, and those of `parser.py`.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.file_codes import FILE_NOT_ACCESSIBLE, LIMIT_EXCEEDED, MALFORMED_MIL_TEXT, NO_PROGRAM
from commonir.base.limits import DEFAULT_LIMITS, Limits
from commonir.dialects.mil.description import MAIN, MODEL_ATTRIBUTE, description_attribute, description_of
from commonir.formats.content import require_content
from commonir.formats.coreml.blobs import WeightFiles
from commonir.formats.coreml.derived import derived_description
from commonir.formats.coreml.package import MODEL_PATH, ModelFiles
from commonir.formats.coreml.verify import verify_model, verify_program
from commonir.formats.mil_text.bundle import (
    MODEL_DATA,
    flexible_description,
    has_flexible_shapes,
    pipeline_message,
    read_facts,
)
from commonir.formats.mil_text.parser import ParsedProgram, parse_program
from commonir.ir.interface import set_metadata
from commonir.ir.module import Module
from commonir.ods import Dialects, verify

PROGRAM = "model.mil"
"""The program of a compiled model."""
_STAGE = "model"
_STAGE_PATH = re.compile(r"modules\[(\d+)\]\.?")


def read_with_findings(
    path: str | os.PathLike[str], dialects: Dialects, limits: Limits = DEFAULT_LIMITS
) -> tuple[Module | None, list[Diagnostic]]:
    """Reads a program and returns the module and all errors found while reading; None if it is unreadable."""
    diagnostics = Diagnostics()
    try:
        program = _read(path, dialects, limits, diagnostics)
    except DiagnosticError as error:
        return None, [*diagnostics, *error.diagnostics]
    return program.module, list(diagnostics)


def check(
    path: str | os.PathLike[str], dialects: Dialects, limits: Limits = DEFAULT_LIMITS
) -> tuple[Module | None, list[Diagnostic]]:
    """Reads and verifies a program: everything that is wrong with it, each fault once."""
    diagnostics = Diagnostics()
    try:
        program = _read(path, dialects, limits, diagnostics)
    except DiagnosticError as error:
        return None, [*diagnostics, *error.diagnostics]
    module = program.module
    verified = _verify_format(module)
    # Verifying what could not be read would report the same error twice.
    verified += [d for d in verify(module, dialects) if d.where not in program.faulty]
    diagnostics.extend(map(program.locate, verified))
    return module, [d.located(file=os.fspath(path)) for d in diagnostics]


def parse(
    source: str,
    dialects: Dialects,
    *,
    folder: str | os.PathLike[str] = ".",
    file: str = "<text>",
    limits: Limits = DEFAULT_LIMITS,
) -> Module:
    """Reads a program from a string; `folder` is what `@model_path` stands for.

    Raises: DiagnosticError with everything that is wrong as far as reading shows.
    """
    weights = WeightFiles(ModelFiles(file, Path(folder) / PROGRAM, ""))
    try:
        program = parse_program(source, dialects, weights, limits, file)
    finally:
        weights.close()
    if program.findings:
        raise DiagnosticError(*program.findings)
    return program.module


def _verify_format(module: Module) -> list[Diagnostic]:
    """Returns violations of the format; without a description, those of the program alone."""
    if description_of(module) is not None:
        return verify_model(module)
    try:
        return verify_program(module, derived_description(module))
    except DiagnosticError as error:
        return list(error.diagnostics)


def _read(path: str | os.PathLike[str], dialects: Dialects, limits: Limits, diagnostics: Diagnostics) -> ParsedProgram:
    location = Path(path)
    place = location / PROGRAM if location.is_dir() else location
    if location.is_dir() and not place.is_file():
        return _read_pipeline(location, dialects, limits, diagnostics)
    files = ModelFiles(os.fspath(path), place, "")
    if location.is_dir():
        # A link under this name must not disclose what another file holds.
        files.weight_file(f"{MODEL_PATH}/{PROGRAM}")
    file = os.fspath(place)
    text = _text(place, limits)
    weights = WeightFiles(files)
    try:
        program = parse_program(text, dialects, weights, limits, file)
    finally:
        weights.close()
    diagnostics.extend(d.located(file=file) for d in program.findings)
    _describe(program.module, place, diagnostics, limits)
    return program


def _read_pipeline(bundle: Path, dialects: Dialects, limits: Limits, diagnostics: Diagnostics) -> ParsedProgram:
    """Reads the programs of a compiled pipeline, each a compiled model of its own."""
    # Loads protobuf, which `import commonir` must not.
    from commonir.formats.coreml.composition import compose_pipeline  # noqa: PLC0415
    from commonir.formats.coreml.model import decode_model  # noqa: PLC0415

    message = pipeline_message(bundle, limits)
    if message is None or not (bundle / f"{_STAGE}0").is_dir():
        raise DiagnosticError(_no_program(bundle))
    module = Module(entry=MAIN)
    model = decode_model(message, limits, os.fspath(bundle))
    stages: list[ParsedProgram] = []
    faulty: set[str] = set()
    while (folder := bundle / f"{_STAGE}{len(stages)}").is_dir():
        n = len(stages)
        if not (folder / PROGRAM).is_file():
            raise DiagnosticError(_no_program(folder))
        findings = Diagnostics()
        stages.append(_read(folder, dialects, limits, findings))
        diagnostics.extend(d.located(where=_stage_path(n)) for d in findings)
        faulty.update(f"{_stage_path(n)}.{place}" for place in stages[n].faulty)
        module.body.append(stages[n].module)
    module.set_extra(MODEL_ATTRIBUTE, model.attribute)
    set_metadata(module, model.metadata)
    compose_pipeline(module, diagnostics)

    def locate(diagnostic: Diagnostic) -> Diagnostic:
        inside = _STAGE_PATH.match(diagnostic.where)
        if inside is None or int(inside[1]) >= len(stages):
            return diagnostic
        n = int(inside[1])
        bare = Diagnostic(
            diagnostic.code,
            diagnostic.message,
            where=diagnostic.where[inside.end() :],
            notes=diagnostic.notes,
            help=diagnostic.help,
        )
        return stages[n].locate(bare).located(file=os.fspath(bundle), where=_stage_path(n))

    return ParsedProgram(module, list(diagnostics), faulty, locate)


def _stage_path(n: int) -> str:
    return f"modules[{n}]"


def _describe(module: Module, place: Path, diagnostics: Diagnostics, limits: Limits) -> None:
    """Adds the description of a model that the text itself does not state."""
    if MODEL_ATTRIBUTE in module.extra:
        return
    if (place.name == PROGRAM and (place.parent / MODEL_DATA).exists()) or place.parent.suffix == ".mlmodelc":
        facts = read_facts(place.parent, module, diagnostics, limits)
        if facts is not None:
            module.set_extra(MODEL_ATTRIBUTE, facts.attribute)
            set_metadata(module, facts.metadata)
            module.entry = facts.default_function or module.entry
    elif has_flexible_shapes(module):
        description = flexible_description(module)
        if description is not None:
            module.set_extra(MODEL_ATTRIBUTE, description_attribute(description))


def _text(place: Path, limits: Limits) -> str:
    file = os.fspath(place)
    require_content(place)
    try:
        size_bytes = place.stat().st_size
        if size_bytes > limits.max_text_bytes:
            message = f"a program of {size_bytes:,} bytes exceeds the limit of {limits.max_text_bytes:,}"
            raise DiagnosticError(Diagnostic(LIMIT_EXCEEDED, message, file=file))
        return place.read_bytes().decode("utf-8")
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise DiagnosticError(Diagnostic(FILE_NOT_ACCESSIBLE, f"cannot be read: {reason}", file=file)) from error
    except UnicodeDecodeError as error:
        message = f"the program is not UTF-8 text (byte {error.start})"
        raise DiagnosticError(Diagnostic(MALFORMED_MIL_TEXT, message, file=file)) from None


def _no_program(bundle: Path) -> Diagnostic:
    """Why a compiled model without a program is none that can be read."""
    stages = sorted(p.name for p in bundle.glob(f"{_STAGE}*") if (p / PROGRAM).is_file())
    if f"{_STAGE}0" in stages:
        message = f"the compiled model is a pipeline of {len(stages)} programs without a description"
        help = f"pass one of them: '{bundle / stages[0]}'"
        return Diagnostic(NO_PROGRAM, message, file=os.fspath(bundle), help=help)
    message = f"the compiled model holds no ML Program: it has no '{PROGRAM}'"
    help = "models of other types, such as neural networks, are compiled into files that are not text"
    return Diagnostic(NO_PROGRAM, message, file=os.fspath(bundle), help=help)
