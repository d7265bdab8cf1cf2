"""Programs and operations as text and as reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, overload

from commonir.api.opening import Path_
from commonir.api.programs import lower, valid
from commonir.base.codes import UNKNOWN_REFERENCE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.suggestions import did_you_mean, nearest, offered
from commonir.formats.format import MLIR, Formats
from commonir.ir.module import Module
from commonir.ods import Dialect, Dialects
from commonir.reports import Comparison, Entries, OperationEntry, Profile, ProfileComparison, RanksSummary, Summary

if TYPE_CHECKING:
    from commonir.inspection.differences import Side
    from commonir.inspection.viewing import Overlaid, View
    from commonir.reports import Differences, DoctorReport, SavedDrawing


def summarize(
    module: Module,
    *,
    with_flops: bool = False,
    with_weights: bool = False,
    with_ranks: bool = False,
    dims: Mapping[str, int] | None = None,
) -> Summary:
    """Returns a summary: interface, operations, metadata, number of weights, and on request each weight.

    `with_flops` counts floating-point operations and the memory of values, as formulas in the dynamic dims; `dims` sets
    dims by name. For programs of several ranks, the summary has on request the memory of each rank and the messages
    between them.

    Raises: DiagnosticError (E0712) for a dim that no value has.
    """
    from commonir.inspection.summary import summarize as describe  # noqa: PLC0415
    from commonir.inspection.summary import with_sizes  # noqa: PLC0415

    format = Formats().of_module(module)
    if dims:
        module = with_sizes(module, dims)
    return describe(
        module,
        format,
        _costs(module) if with_flops else None,
        with_weights=with_weights,
        ranks=_ranks(module) if with_ranks and _may_have_ranks(module) else None,
    )


_WITH_RANKS = frozenset({"ark", "core"})
"""The dialects that can express which rank runs a function: by the function itself, or by an attribute of it."""


def _may_have_ranks(module: Module) -> bool:
    """Returns whether a program may have ranks, without loading anything for other programs."""
    dialects = {name.partition(".")[0] for f in module.functions.values() for name in (f.name, *f.extra)}
    return not dialects.isdisjoint(_WITH_RANKS)


def _ranks(module: Module) -> RanksSummary | None:
    from commonir.passes.ranks_summary import ranks_summary  # noqa: PLC0415

    return ranks_summary(module)


def _costs(module: Module) -> tuple[str, str]:
    """Returns the number of operations and the bytes of values, each as a text."""
    from commonir.dialects import core  # noqa: PLC0415
    from commonir.passes.count_flops import count_flops  # noqa: PLC0415
    from commonir.passes.count_memory import peak_memory  # noqa: PLC0415
    from commonir.symbolic import Dim, largest, text, total  # noqa: PLC0415
    from commonir.symbolic.errors import NotKnownError  # noqa: PLC0415

    lowered = lower(module)
    functions = core.ranks_of(lowered) or (lowered.main,)

    def formula(compute: Callable[[], Dim]) -> str:
        try:
            return text(compute())
        except NotKnownError:  # of hundreds of symbols
            return "unknown"

    return (
        formula(lambda: total([count_flops(f) for f in functions])),
        formula(lambda: largest(0, *[peak_memory(f) for f in functions])),
    )


def show(
    module: Module,
    *,
    generic: bool = False,
    node: str | None = None,
    around: int | None = None,
    complete: bool = False,
    elide: bool = True,
    syntax: str = MLIR,
    names: str = "",
    locations: bool = False,
) -> str:
    """Returns the program, or the neighbourhood of one of its operations, as MLIR text or in the text of another
    format.

    Programs of other formats than MLIR are abridged, unless `complete`, `generic` or `locations` are set, or `elide` is
    not: constants stand where they are used, and attributes that only files need are omitted. The text of a whole
    program that is not abridged, nor has elided constants, can be parsed.

    `node` is the name of a value, a node or a type of operations, or a pattern of names with `*`; `around` is how
    many steps from users to operands and back are shown around each, by default 1 around one operation and none
    around several. `names`: `mlir` names values as mlir-opt does, `own` uses the names of the program; by default
    programs in MLIR dialects only are printed as by mlir-opt. `locations` adds locations.

    Raises: DiagnosticError (E0401 for an unknown operation; E0804 and E0806 for a syntax that the program does not
    have).
    """
    from commonir.inspection.showing import show as shown  # noqa: PLC0415

    return shown(
        module,
        generic=generic,
        node=node,
        around=around,
        complete=complete,
        elide=elide,
        syntax=syntax,
        names=names,
        locations=locations,
    )


@overload
def view(
    module: Module,
    *,
    other: Module | None = None,
    overlay: Overlaid | Sequence[Overlaid] | None = None,
    title: str = "",
    other_title: str = "",
) -> View: ...
@overload
def view(
    module: Module,
    path: Path_,
    *,
    other: Module | None = None,
    overlay: Overlaid | Sequence[Overlaid] | None = None,
    to: str | None = None,
    title: str = "",
    other_title: str = "",
) -> SavedDrawing: ...
def view(
    module: Module,
    path: Path_ | None = None,
    *,
    other: Module | None = None,
    overlay: Overlaid | Sequence[Overlaid] | None = None,
    to: str | None = None,
    title: str = "",
    other_title: str = "",
) -> SavedDrawing | View:
    """Draws a program: a graph of operations or, for several ranks, lanes with messages as arrows.

    With `other`, both programs are drawn as graphs side by side, with differences highlighted (see `diff`). `overlay`
    colours operations by a report about the program, or several: the error of a `Comparison`, the time and memory of a
    `Profile`, or the findings of `verify`; the page switches between them, images show the first.

    Without a path, the result is a `View`, which a notebook shows and whose `save` writes it. Otherwise the drawing is
    written as `to` says, by default by the suffix: `html` is a page with zoom, folding, search and details, `svg`,
    `png` and `pdf` are images.

    Raises: DiagnosticError (E0705 for `png` without Pillow, E0804 for another suffix, E0807 for a program that cannot
    be drawn, E0303 for one too large for `png`, E0809 for a report about another program, E08xx).
    """
    from commonir.inspection.viewing import View, draw, draw_beside, form_of, save_drawing  # noqa: PLC0415

    form = None if path is None else form_of(path, to)
    reports = _each_overlay(overlay)
    if other is None:
        drawing = draw(module, title or ("program" if path is None else Path(path).stem), reports)
    else:
        from commonir.inspection.differences import marks  # noqa: PLC0415

        a, b = [side.compared for side in _sides(module, other)]
        drawing = draw_beside(a, b, marks(a, b), (title or "first", other_title or "second"), reports)
    return View(drawing) if path is None or form is None else save_drawing(drawing, path, form)


def _each_overlay(overlay: Overlaid | Sequence[Overlaid] | None) -> list[Overlaid]:
    """Returns reports one by one; findings that stand alone are one. Raises: TypeError for anything else."""
    match overlay:
        case None:
            return []
        case Comparison() | Profile() | ProfileComparison():
            return [overlay]
        case list() | tuple():
            findings = [part for part in overlay if isinstance(part, Diagnostic)]
            reports = [report for part in overlay if not isinstance(part, Diagnostic) for report in _each_overlay(part)]
            return [*reports, findings] if findings or not reports else reports
        case _:
            message = f"overlay: expected a Comparison, a Profile or findings, found {type(overlay).__name__}"
            raise TypeError(message)


def load_overlay(path: Path_, model: Path_ | None = None) -> Overlaid:
    """Reads a report that `view` takes as overlay: what `cir compare`, `profile` or `check` print with `--json`.

    Of a report of `check` about several files, it takes the findings of `model`.

    Raises: DiagnosticError (E01xx for a file that cannot be read, E0809 for one that is no such report).
    """
    from commonir.inspection.viewing.report_files import read_overlay  # noqa: PLC0415

    return read_overlay(path, model)


def diff(a: Module, b: Module, *, tolerance: float | None = None, measure: bool = False) -> Differences:
    """Returns the differences of two programs without running them: interface, operations and operands, attributes,
    weights.

    Programs of one format are compared directly, others in the core dialect. Operations are matched by their operands
    and users, and by the names of values only if that is ambiguous. Weights are equal if all bits are, or with
    `tolerance` if their elements differ by no more than that times the largest magnitude; `measure` compares weights by
    value.

    Raises: DiagnosticError (as `lower`) when programs of two formats cannot be lowered.
    """
    from commonir.inspection.differences import differences  # noqa: PLC0415

    return differences(*_sides(a, b), tolerance=tolerance, measure=measure)


def _sides(a: Module, b: Module) -> tuple[Side, Side]:
    """Returns two programs in one dialect: unchanged when they have one format, else lowered to core."""
    from commonir.inspection.differences import Side  # noqa: PLC0415

    formats = [Formats().of_module(module) for module in (a, b)]
    is_one = len({"" if f is None else f.dialect or f.name for f in formats}) == 1
    first, second = (a, b) if is_one else (lower(a, defer=True), lower(b, defer=True))
    return Side(a, first, formats[0]), Side(b, second, formats[1])


def library(dialect: str) -> Module:
    """Returns a dialect as a Common IR library, with a declaration for each of its operations.

    Raises: DiagnosticError (E0904 for an unknown dialect, E0601 for one that cannot be declared).
    """
    from commonir.passes.dialect_library import dialect_library  # noqa: PLC0415

    dialects = Dialects()
    definitions = dialects.get(dialect)
    if definitions is None:
        raise DiagnosticError(_unknown("dialect", dialect, dialects.names()))
    return valid(dialect_library(definitions))


def operations(dialect: str | None = None, *, dialects: Sequence[Dialect] = ()) -> Entries[OperationEntry]:
    """Returns the known operations, of one dialect or of all; with `dialects`, of these."""
    from commonir.ods.documentation import summary_of  # noqa: PLC0415

    known = Dialects(dialects=dialects)
    names = sorted(d.name for d in dialects or known.working()) if dialect is None else [dialect]
    out: list[OperationEntry] = []
    for name in names:
        definition = known.get(name)
        if definition is None:
            raise DiagnosticError(_unknown("dialect", name, known.names()))
        out += [
            OperationEntry(op, summary_of(d[-1]), d[0].since, definition.systems(d[0].since))
            for op, d in definition.operations.items()
        ]
    return Entries(out)


def is_dialect(name: str) -> bool:
    """Returns whether an installed dialect has a name."""
    return Dialects().get(name) is not None


def tablegen_json(path: Path_, include_dirs: Sequence[str] = (), defines: Sequence[str] = ()) -> str:
    """Returns the records of a TableGen file as JSON, in the form of `llvm-tblgen --dump-json`.

    Raises: DiagnosticError (E0260 to E0263, E0307).
    """
    from commonir import tablegen  # noqa: PLC0415

    return tablegen.json_text(tablegen.records_json(tablegen.load(path, include_dirs, defines))) + "\n"


def declared_operations(module: Module) -> Sequence[OperationEntry]:
    """Returns the operators and functions that a Common IR file and its libraries declare."""
    from commonir.dialects.common_ir.pages import declared_in, declared_summary  # noqa: PLC0415

    return [OperationEntry(name, declared_summary(operations), "") for name, operations in declared_in(module).items()]


def declared_page(module: Module, name: str) -> str:
    """Returns the reference page of a library that a Common IR file is or imports, or of an operator or function of it.

    Raises: DiagnosticError (UNKNOWN_REFERENCE) when there is no such name.
    """
    from commonir.dialects.common_ir import pages  # noqa: PLC0415

    libraries = pages.libraries_in(module)
    if name in libraries:
        return pages.library_page(libraries[name])
    declared = pages.declared_in(module)
    if name not in declared:
        raise DiagnosticError(_unknown("library, operator or function", name, [*libraries, *declared]))
    return pages.declared_page(declared[name])


def reference_page(name: str, *, dialects: Sequence[Dialect] = ()) -> str:
    """Returns the reference page of an operation or a dialect, as Markdown. `dialects` is as of `load`.

    Raises: DiagnosticError (UNKNOWN_REFERENCE) when there is no such name.
    """
    from commonir.inspection.worked_examples import worked_example  # noqa: PLC0415
    from commonir.ods.documentation import dialect_page, operation_page  # noqa: PLC0415
    from commonir.ods.unknown_dialects import UPSTREAM, how_to_provide  # noqa: PLC0415

    known = Dialects(dialects=dialects)
    prefix = name.partition(".")[0]
    dialect = known.get(prefix)
    if dialect is None:
        operations = [op for each in known.working() for op in each.operations]
        help = how_to_provide(prefix) if prefix in UPSTREAM else None
        if "." not in name:
            help = offered(nearest(name, [*known.names(), *operations], _MOST_OFFERED)) or help
        raise DiagnosticError(_unknown("dialect or operation", name, known.names(), help))
    if "." not in name:
        return dialect_page(dialect)
    if name not in dialect.operations:
        raise DiagnosticError(_unknown("operation", name, dialect.operations))
    return operation_page(dialect, name, worked_example)


def doctor(*, clear_cache: bool = False) -> DoctorReport:
    """Returns a report on installed packages, plugins and engines, whether they work, and on the cache of compiled
    programs, which is emptied first with `clear_cache`.
    """
    from commonir.inspection.doctor import clear_compiled, examine  # noqa: PLC0415

    if clear_cache:
        clear_compiled()
    return examine()


_MOST_OFFERED = 6


def _unknown(what: str, name: str, known: Iterable[str], help: str | None = None) -> Diagnostic:
    help = help or did_you_mean(name, known) or "`cir ops` lists what is known"
    return Diagnostic(UNKNOWN_REFERENCE, f"no {what} is called '{name}'", help=help)
