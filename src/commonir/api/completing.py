"""Names for shell completion: of formats, engines, systems, passes, operations, codes, and of what is in a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from commonir.base.codes import all_codes
from commonir.base.diagnostics import DiagnosticError

MAX_NAMES = 2000
"""The number of names offered from a model."""


def completions(what: str, path: str | None = None) -> list[tuple[str, str]]:
    """Returns names with a short description each: `formats`, `engines`, `systems`, `passes`, `recognitions`,
    `operations`, `dialects` or `codes`; of the model at a path `nodes` (values and nodes), `values`, `inputs`, `dims`
    or `functions`.

    Completion never fails: there are no names where a model cannot be read.
    """
    try:
        if path is not None:
            return list(dict.fromkeys(_of_model(what, path)))[:MAX_NAMES]
        return list(_KNOWN[what]())
    except (DiagnosticError, OSError):
        return []


def _formats() -> Iterator[tuple[str, str]]:
    from commonir.conversions.conversion import Conversions  # noqa: PLC0415
    from commonir.formats.format import Formats  # noqa: PLC0415

    written = {each.name: ", ".join(each.suffixes) for each in Formats().working() if each.is_writable}
    yield from written.items()
    yield from ((name, "MLIR dialect") for name in Conversions().names() if name not in written)


def _engines() -> Iterator[tuple[str, str]]:
    from commonir.runtime.engine import Engines  # noqa: PLC0415

    yield from ((name, "engine") for name in Engines().names())


def _systems() -> Iterator[tuple[str, str]]:
    from commonir.dialects.mil.base import SYSTEMS  # noqa: PLC0415

    yield from ((name.replace(" ", ""), opset) for opset, names in SYSTEMS.items() for name in names)


def _passes() -> Iterator[tuple[str, str]]:
    from commonir.passes.definition import Passes  # noqa: PLC0415

    yield from ((each.name, each.summary) for each in Passes())


def _recognitions() -> Iterator[tuple[str, str]]:
    from commonir.passes.recognitions import RECOGNITIONS, summary_of  # noqa: PLC0415

    yield from ((each.name, summary_of(each)) for each in RECOGNITIONS)


def _operations() -> Iterator[tuple[str, str]]:
    from commonir.api.reference import operations  # noqa: PLC0415

    yield from ((entry.name, entry.summary) for entry in operations())


def _dialects() -> Iterator[tuple[str, str]]:
    from commonir.ods import Dialects  # noqa: PLC0415

    yield from ((name, "dialect") for name in Dialects().names())


def _codes() -> Iterator[tuple[str, str]]:
    yield from ((code.id, code.title) for code in all_codes())


_KNOWN = {
    "formats": _formats,
    "engines": _engines,
    "systems": _systems,
    "passes": _passes,
    "recognitions": _recognitions,
    "operations": _operations,
    "dialects": _dialects,
    "codes": _codes,
}


def _of_model(what: str, path: str) -> Iterable[tuple[str, str]]:
    from commonir.api.opening import load  # noqa: PLC0415
    from commonir.ir.lookup import names_of  # noqa: PLC0415
    from commonir.ir.types import symbols_of  # noqa: PLC0415

    module = load(path, lenient=True)

    def inputs() -> list[tuple[str, str]]:
        return [(v.name, str(v.type)) for v in module.main.inputs if v.name]

    match what:
        case "functions":
            return [(name, "function") for name in module.functions]
        case "inputs":
            return inputs()
        case "dims":
            return [(name, "dim") for name in symbols_of([v.type for v in module.main.inputs])]
        case "values":
            return [*inputs(), *((v.name, op.name) for op in module.nested() for v in op.results if v.name)]
        case _:
            return [(name, op.name) for op in module.nested() for name in names_of(op)]
