"""The surface for programs and for the command line: load, verify, run, convert, save and ask about models.

Heavy packages are loaded only by the calls that need them: opening loads protobuf, running loads numpy.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from commonir.base.codes import (
    CANNOT_WRITE,
    UNKNOWN_REFERENCE,
    UNREAD_FORMAT,
    WRONG_FORMAT,
    WRONG_INPUT,
    WRONG_USAGE,
)
from commonir.base.collecting import no_collection
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.suggestions import did_you_mean
from commonir.formats.format import MLIR, Format, Formats, ReadOptions, WriteOptions
from commonir.formats.recognize import recognize
from commonir.ir.module import Module
from commonir.ods import Dialect, Dialects
from commonir.ods import verify as verify_operations
from commonir.reports import Comparison, FileEntry, OperationEntry, OutputError, ShapeEntry, Summary
from commonir.runtime.state import State

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from commonir.conversions.conversion import ImageInput
    from commonir.ir.interface import Port
    from commonir.ods.terms import Rewrite
    from commonir.reports import DoctorReport, RuleReport
    from commonir.rules import Rules
    from commonir.runtime.engine import EngineOptions, Executable
    from commonir.runtime.steps import Steps

    Array = NDArray[np.generic]

Path_ = str | os.PathLike[str]

DEFAULT_ENGINE = "numpy"
_SIDES = 2

_SMALL_BYTES = 4096
"""How much larger than what it is computed from a constant of a converted program may be."""


def load(
    path: Path_,
    *,
    format: str | None = None,
    findings: Diagnostics | None = None,
    lenient: bool = False,
    library_path: Sequence[Path_] = (),
    allow_fetch: bool = False,
    dialects: Sequence[Dialect] = (),
) -> Module:
    """Opens a model as a module of its format's dialect; weights stay on disk until something needs them.

    `findings` receives warnings. With `lenient` it also receives errors that leave something to open, for those who
    only look; `verify` tells what is wrong with the operations themselves. Libraries that a Common IR file imports are
    looked for beside it and in the folders of `library_path`, and fetched only with `allow_fetch`. `dialects` are used
    beside those that are installed, as those of `load_dialects`.

    Raises: DiagnosticError when the model cannot be opened, or without `lenient` not without errors.
    """
    formats = Formats()
    found = formats.of_file(path) if format is None else formats.get(format)
    if found.read is None:
        raise DiagnosticError(_not_read(found.name, path))
    if format is not None:
        _require_format(found, path)
    with no_collection():
        options = _read_options(library_path, allow_fetch=allow_fetch)
        module, diagnostics = found.opened(path, Dialects(given=dialects), options)
    if module is None or (not lenient and any(d.is_error for d in diagnostics)):
        raise DiagnosticError(*diagnostics)
    if findings is not None:
        findings.extend(diagnostics)
    return module


def load_dialects(paths: Sequence[Path_], include_dirs: Sequence[Path_] = ()) -> tuple[Dialect, ...]:
    """The dialects that TableGen files define; folders are those in which included files are looked for.

    Raises: DiagnosticError (E0260 to E0264, E0307).
    """
    from commonir.text.loaded_definitions import load_dialects as load_files  # noqa: PLC0415  loads the TableGen reader

    return load_files(paths, [os.fspath(folder) for folder in include_dirs])


def verify(module: Module, *, dialects: Sequence[Dialect] = ()) -> list[Diagnostic]:
    """Everything that is wrong with the operations of a program, in order. Changes nothing."""
    return verify_operations(module, Dialects(given=dialects))


def check(
    path: Path_,
    *,
    library_path: Sequence[Path_] = (),
    allow_fetch: bool = False,
    dialects: Sequence[Dialect] = (),
) -> tuple[Module | None, list[Diagnostic]]:
    """Opens and verifies a model: everything that is wrong with it, each fault once, and what could be opened of it.

    `dialects` is as of `load`; what their definitions leave to C++ is told in notes.
    """
    found = Formats().of_file(path)
    if found.check is None:
        raise DiagnosticError(_not_read(found.name, path))
    options = _read_options(library_path, allow_fetch=allow_fetch)
    module, diagnostics = found.checked(path, Dialects(given=dialects), options)
    if module is not None and dialects:
        from commonir.text.loaded_definitions import not_evaluable  # noqa: PLC0415  as above

        diagnostics = [*diagnostics, *not_evaluable(module)]
    return module, diagnostics


def check_pieces(
    path: Path_, *, split: bool = True, expects: bool = False, dialects: Sequence[Dialect] = ()
) -> Iterator[tuple[Module | None, list[Diagnostic]]]:
    """Each program of an MLIR text and what is wrong with it, as `check`; `split`: lines `// -----` part programs.

    `expects`: the findings are what differs from those that comments `// expected-error {{..}}` announce.

    Raises: DiagnosticError (E0904) for a file that is no MLIR text.
    """
    from commonir.formats.mlir.checking import check_pieces as checked_pieces  # noqa: PLC0415  loads the parser

    found = Formats().of_file(path)
    if found.name != MLIR:
        message = f"a file of format '{found.name}' is no MLIR text: it has no pieces and no comments"
        raise DiagnosticError(Diagnostic(WRONG_FORMAT, message, file=os.fspath(path)))
    return checked_pieces(path, Dialects(given=dialects), split=split, expects=expects)


def _read_options(library_path: Sequence[Path_], *, allow_fetch: bool) -> ReadOptions:
    return ReadOptions(tuple([os.fspath(folder) for folder in library_path]), allow_fetch)


def lower(module: Module, *, defer: bool = False) -> Module:
    """The program in `ml_program` and `core`; the program itself when it is there already.

    With `defer`, an operation stays as it is whose meaning depends on values that only running tells: engines state it
    when they reach it.

    Raises: DiagnosticError (E0601, E0509) with every operation that has no meaning in terms of the core.
    """
    # Rewriting loads the core dialect, which opening a file does not need.
    from commonir.passes.lower import Deferral  # noqa: PLC0415
    from commonir.passes.lower import lower as lower_module  # noqa: PLC0415

    return lower_module(module, Deferral.OPEN if defer else Deferral.NONE)


def infer(module: Module) -> None:
    """Fills in the types of all values of a program, as far as its definitions tell them: sizes become expressions of
    the sizes of inputs. Changes nothing else.
    """
    from commonir.passes.infer_shapes import infer_shapes  # noqa: PLC0415

    infer_shapes(module)


def shapes(
    module: Module, sizes: Mapping[str, int] | None = None, *, with_constants: bool = False
) -> tuple[ShapeEntry, ...]:
    """The values of a program with their inferred types, in order; `sizes` gives sizes to dimensions by name.

    Raises: DiagnosticError (E0712) for a dimension that the program does not have.
    """
    from commonir.summary import shape_entries  # noqa: PLC0415

    infer(module)
    return shape_entries(module, sizes or {}, with_constants=with_constants)


def convert(
    module: Module,
    to: str,
    *,
    opset: int | None = None,
    function: str | None = None,
    target: str | None = None,
    precision: str | None = None,
    sizes: Mapping[str, int] | None = None,
    ranges: Mapping[str, tuple[int, int]] | None = None,
    images: Mapping[str, ImageInput] | None = None,
    findings: Diagnostics | None = None,
) -> Module:
    """The program, or one function of it, in the dialect of another format; `findings` receives what is lost.

    `to` names the format, or a dialect that compilers read: linalg, tosa, tosa-linalg, stablehlo.

    `opset` is the number of an operation set, `target` a system that is to run the program, such as iOS17; without,
    the conversion chooses. `precision` float16 computes in half precision what is in single precision. `sizes` fixes
    dimensions by name, `ranges` bounds them, both ends included; `images` makes inputs images. A program that is in
    that dialect already stays as it is unless something is asked for, and so does every program for a format that
    holds any dialect.

    Raises: DiagnosticError (E0601 with every operation that the target cannot express, E0706 for an unknown function).
    """
    from commonir.conversions.conversion import ConversionOptions, Conversions  # noqa: PLC0415
    from commonir.passes.canonicalize import canonicalized  # noqa: PLC0415
    from commonir.passes.convert_elements import in_precision  # noqa: PLC0415
    from commonir.passes.select_function import select_function  # noqa: PLC0415
    from commonir.passes.simplify import fold_constants  # noqa: PLC0415
    from commonir.runtime.engine import Engines  # noqa: PLC0415
    from commonir.runtime.fold_constants import Folding  # noqa: PLC0415

    if to in Formats().names() and not Formats().get(to).dialect:
        return module if function is None else select_function(module, function)
    conversion = Conversions().get(to)
    own = Formats().of_module(module)
    is_own = own is not None and to in Formats().names() and own.dialect == Formats().get(to).dialect
    asked = (opset, function, target, precision, sizes or None, ranges or None, images or None)
    if is_own and all(choice is None for choice in asked):
        return module
    options = ConversionOptions(opset, target, images or {})
    if is_own and conversion.within is not None and all(choice is None for choice in asked[1:]):
        return conversion.within(module, options)
    told = Diagnostics() if findings is None else findings
    direct = conversion.direct(module, told) if all(choice is None for choice in asked) else None
    if direct is not None:
        return direct
    lowered = lower(module) if function is None else select_function(lower(module), function)
    prepared = in_precision(_of_sizes(lowered, sizes or {}, ranges or {}), precision)
    simpler = canonicalized(prepared)
    exact = Engines().get("reference")
    fold_constants(simpler, Folding(exact, exact, _SMALL_BYTES))
    return conversion.convert(simpler, options, told)


def image_input(color: str, scale: float = 1.0, bias: Sequence[float] = ()) -> ImageInput:
    """How an input becomes an image: pixels from 0 to 255, times a scale plus a bias for each channel.

    `color` is rgb, bgr or grayscale.
    """
    from commonir.conversions.conversion import ImageInput  # noqa: PLC0415
    from commonir.ir.interface import ColorSpace  # noqa: PLC0415

    return ImageInput(ColorSpace(color), scale, tuple(bias))


def _of_sizes(module: Module, sizes: Mapping[str, int], ranges: Mapping[str, tuple[int, int]]) -> Module:
    """A lowered program with some dimensions fixed and others bounded."""
    from commonir.ir.interface import SizeRange  # noqa: PLC0415
    from commonir.passes.bound_sizes import bound_sizes  # noqa: PLC0415

    fixed = edit(module, dims=sizes) if sizes else module
    return bound_sizes(fixed, {name: SizeRange(*bounds) for name, bounds in ranges.items()})


def edit(
    module: Module,
    *,
    rename: Mapping[str, str] | None = None,
    dims: Mapping[str, int] | None = None,
    metadata: Mapping[str, str] | None = None,
    add_outputs: Sequence[str] = (),
    drop_outputs: Sequence[str] = (),
    function: str | None = None,
) -> Module:
    """The program with changes; the one given is not touched, and constants are shared with it.

    `rename` gives new names by old ones, of inputs, outputs and any other value; `dims` gives sizes to dimensions, each
    by the name of a dynamic dimension or as `INPUT.AXIS`. An output that would be an input or a constant is a copy of
    it where the format demands that. `metadata` sets `description`, `version`, `author`, `license` or any other text;
    an empty one removes it. All names are those of the program as it is.

    Raises: DiagnosticError (E0401, E0402, E0603, E0712) with every change that cannot be made, and with everything
        that would be wrong with the result.
    """
    from commonir.passes.edit import Edits  # noqa: PLC0415
    from commonir.passes.edit import edit as edited  # noqa: PLC0415

    edits = Edits(rename or {}, dims or {}, tuple(add_outputs), tuple(drop_outputs), metadata or {})
    return _valid(edited(module, edits, function=function))


def extract(
    module: Module, sources: Sequence[str] = (), targets: Sequence[str] = (), *, function: str | None = None
) -> Module:
    """The part of a function that computes the values `targets` from the values `sources`, as a program of its format.

    Without sources it begins at the inputs, without targets it ends at the outputs. Inputs of the function that the
    part needs besides the sources stay inputs; constants are shared with the program given.

    Raises: DiagnosticError (E0401, E0603, E0706) for what cannot be cut out, and with everything that would be wrong
        with the result.
    """
    from commonir.passes.extract import extract as extracted  # noqa: PLC0415

    return _valid(extracted(module, sources, targets, function=function))


def optimize(
    module: Module,
    *,
    passes: Sequence[str] | None = None,
    rules: Sequence[Rewrite] = (),
    max_growth_bytes: int | None = None,
    reports: list[RuleReport] | None = None,
) -> Module:
    """The program without what computes nothing new: what depends on constants alone is computed, shape arithmetic that
    is known becomes constants, and operations that hand on an operand, repeat another or are not used go.

    `passes` are others to run instead, by name and in order; `rules` are rewrite rules that are applied before, until
    none matches; `reports` receives what became of each of them. `max_growth_bytes` is how much larger a constant may
    be than what it is computed from. The program given is not touched, and large constants are shared with it.
    """
    from commonir.optimization import DEFAULT_PASSES, optimized  # noqa: PLC0415

    return optimized(module, DEFAULT_PASSES if passes is None else passes, rules, max_growth_bytes, reports)


def load_rules(
    path: Path_,
    include_dirs: Sequence[Path_] = (),
    *,
    functions: Mapping[str, Callable[..., object]] | None = None,
    dialects: Sequence[Dialect] = (),
    unambiguous: bool = False,
) -> Rules:
    """The rewrite rules of a TableGen file for `optimize`, with dialects for `load`: those given and those it defines.

    `functions` are Python functions that rules may call, by the names of the records of calls and constraints, by the
    text of a call, or by what the text calls; no text is ever run. With `unambiguous`, two rules that match the same
    operations equally well are refused also in today's form, where else the first one is tried first.

    Raises: DiagnosticError with everything that is wrong (E0260 to E0264, E0307, E0604 to E0606, E0608).
    """
    from commonir.rules import load_rules as load_file  # noqa: PLC0415  loads the TableGen reader

    return load_file(path, include_dirs, functions=functions or {}, dialects=dialects, unambiguous=unambiguous)


def passes() -> Mapping[str, str]:
    """The passes that `optimize` can run, with what each does."""
    from commonir.optimization import PASSES  # noqa: PLC0415

    return {name: p.summary for name, p in PASSES.items()}


def bundle(module: Module) -> Module:
    """A Common IR program with the libraries that it imports inside, so that it is one file; the one given stays.

    Raises: DiagnosticError (E0254) for a program that cannot hold libraries.
    """
    from commonir.passes.bundle_libraries import bundle_libraries  # noqa: PLC0415

    return bundle_libraries(module)


def library(dialect: str) -> Module:
    """A dialect as a Common IR library: a declaration of each of its operations.

    Raises: DiagnosticError (E0904 for an unknown dialect, E0601 for one that cannot be declared).
    """
    from commonir.passes.dialect_library import dialect_library  # noqa: PLC0415

    dialects = Dialects()
    found = dialects.get(dialect)
    if found is None:
        raise DiagnosticError(_unknown("dialect", dialect, dialects.names()))
    return _valid(dialect_library(found))


def _valid(module: Module) -> Module:
    """The module. Raises: DiagnosticError with everything that is wrong with it."""
    own = Formats().of_module(module)
    found = [*verify(module), *(own.verify(module) if own is not None else ())]
    errors = [d for d in found if d.is_error]
    if errors:
        raise DiagnosticError(*errors)
    return module


def writable_format(module: Module) -> str:
    """The name of the format that a program is written in when nothing else is asked for."""
    own = Formats().of_module(module)
    return own.name if own is not None and own.write is not None else MLIR


def save(
    module: Module, path: Path_, *, format: str | None = None, external_data: bool | None = None
) -> tuple[FileEntry, ...]:
    """Writes a module in its own format, or as MLIR text, and returns the files written.

    `external_data` says of formats that leave the choice whether weights go to a file beside the model; without, their
    size decides. The old file survives any failure.

    Raises: DiagnosticError (E08xx) when it cannot be written.
    """
    formats = Formats()
    target = formats.of_output(path) if format is None else formats.get(format)
    own = formats.of_module(module)
    is_own = not target.dialect or (own is not None and own.dialect == target.dialect)
    if target.write is None or not is_own:
        message = f"a program of format '{own.name if own else 'core'}' cannot be written as '{target.name}'"
        help = f"convert it first: `convert(module, '{target.name}')`" if target.write else None
        raise DiagnosticError(Diagnostic(CANNOT_WRITE, message, file=os.fspath(path), help=help))
    written = target.written(module, path, WriteOptions(external_data))
    return tuple([FileEntry(str(p), _size_bytes(p)) for p in written])


def loads(
    data: bytes | str, *, format: str, findings: Diagnostics | None = None, dialects: Sequence[Dialect] = ()
) -> Module:
    """The module of the bytes or text of a file of a format; `findings` receives warnings, `dialects` are as of `load`.

    Raises: DiagnosticError when they are no such file, or one with errors, or of a format that is not one file.
    """
    found = Formats().get(format)
    if found.loads is None:
        raise DiagnosticError(Diagnostic(UNREAD_FORMAT, f"files of the format '{format}' are only read by their path"))
    module, diagnostics = found.loads(data.encode() if isinstance(data, str) else data, Dialects(dialects))
    if module is None or any(d.is_error for d in diagnostics):
        raise DiagnosticError(*diagnostics)
    if findings is not None:
        findings.extend(diagnostics)
    return module


def dumps(module: Module, *, format: str | None = None) -> bytes:
    """The bytes of the file that `save` would write, weights inside.

    Raises: DiagnosticError (E08xx) when it cannot be written, or its format is not one file.
    """
    target = Formats().get(format or writable_format(module))
    own = Formats().of_module(module)
    if target.dumps is None or (target.dialect and (own is None or own.dialect != target.dialect)):
        message = f"a program of format '{own.name if own else 'core'}' has no bytes of the format '{target.name}'"
        raise DiagnosticError(Diagnostic(CANNOT_WRITE, message, help="convert it first, or save it to a file"))
    return target.dumps(module)


def _size_bytes(path: Path) -> int:
    if path.is_dir():
        return sum(p.stat().st_size for p in path.rglob("*") if p.is_file())
    return path.stat().st_size


def with_externs(module: Module, arrays: Mapping[str, Array]) -> Module:
    """A program whose extern globals hold the arrays of their names; the program itself when it has none.

    Raises: DiagnosticError (E0701 for a global without an array, E0703 for an array that is not of its type).
    """
    from commonir.runtime import externs  # noqa: PLC0415

    return externs.with_externs(module, arrays)


def run(
    module: Module,
    inputs: Mapping[str, Array] | None = None,
    *,
    engine: str | None = None,
    function: str | None = None,
    seed: int = 0,
    state: State | None = None,
    options: EngineOptions | None = None,
) -> dict[str, Array]:
    """Runs a program once: arrays by name in, arrays by name out. Inputs that are not given are random, by `seed`, and
    so are random numbers for which the program has no seed, unless the options give one.

    What the program keeps between runs is taken from `state` and left there; without one it starts anew.

    Raises: DiagnosticError (E07xx) when inputs or the state do not fit, the engine cannot be had, or an operation fails
        on them.
    """
    from commonir.runtime.engine import DEFAULT_OPTIONS  # noqa: PLC0415

    lowered = lower(module, defer=True)
    given = random_inputs(lowered, function=function, seed=seed, given=inputs or {})
    chosen = DEFAULT_OPTIONS if options is None else options
    options = chosen if chosen.seed is not None else chosen._replace(seed=seed)
    return _prepared(module, lowered, engine, function, state, options).run(given)


def prepare(
    module: Module,
    *,
    engine: str | None = None,
    function: str | None = None,
    state: State | None = None,
    options: EngineOptions | None = None,
) -> Executable:
    """A function made ready to run many times; its `state` is the one given, or a new one.

    Raises: DiagnosticError (E07xx) when the function, the engine or the state cannot be used.
    """
    from commonir.runtime.engine import DEFAULT_OPTIONS, Engines, ImmediateEngine  # noqa: PLC0415

    def prepared() -> Executable:
        return _prepared(module, lower(module, defer=True), engine, function, state, options)

    chosen = Engines().get(engine or DEFAULT_ENGINE)
    if state is None and isinstance(chosen, ImmediateEngine):
        found = chosen.immediate(module, function, options or DEFAULT_OPTIONS, prepared)
        if found is not None:
            return found
    return prepared()


def _prepared(
    module: Module,
    lowered: Module,
    engine: str | None,
    function: str | None,
    state: State | None,
    options: EngineOptions | None,
) -> Executable:
    """A function made ready to run; one that was lowered here may be lowered again for other sizes."""
    from commonir.runtime.engine import DEFAULT_OPTIONS, Engines  # noqa: PLC0415
    from commonir.runtime.flexible import FlexibleExecutable  # noqa: PLC0415
    from commonir.runtime.state import check_state  # noqa: PLC0415

    if state is not None:
        check_state(state, lowered)
    chosen = Engines().get(engine or DEFAULT_ENGINE)
    options = (options or DEFAULT_OPTIONS)._replace(plans_at_once=False)
    if lowered is module:
        executable = chosen.prepare(lowered, function, options)
    else:
        executable = FlexibleExecutable(module, lowered, chosen, function, options)
    if state is not None:
        executable.state = state
    return executable


def read_picture(module: Module, name: str, path: Path_, *, function: str | None = None, resize: bool = False) -> Array:
    """The pixels of a PNG or JPEG file, for an image input of a function; with `resize` brought to its size.

    Raises: DiagnosticError (E0703 for an input that is no image, or a picture of a wrong size; E0705 without Pillow).
    """
    from commonir.runtime.pictures import picture_input  # noqa: PLC0415

    return picture_input(module.function(function), name, os.fspath(path), resize=resize)


def write_picture(path: Path_, array: Array, port: Port) -> None:
    """Writes an image output as a PNG file: rounded to whole numbers, halves to even, and limited to 0 and 255.

    Raises: DiagnosticError (E0703 for an output that is no image, E0705 without Pillow, E08xx).
    """
    from commonir.base.pictures import write_picture as write  # noqa: PLC0415
    from commonir.runtime.pictures import pixels_of  # noqa: PLC0415

    if port.image is None:
        raise DiagnosticError(Diagnostic(WRONG_INPUT, "the output is no image", file=os.fspath(path)))
    write(path, pixels_of(array, port.image))


def engine_options(
    *, threads: int = 1, memory_limit_bytes: int | None = None, time_limit_seconds: float | None = None
) -> EngineOptions:
    """What a caller may ask of an engine: threads for one operation, and limits of a run."""
    from commonir.runtime.engine import EngineOptions  # noqa: PLC0415

    return EngineOptions(threads, memory_limit_bytes, time_limit_seconds)


def run_steps(
    module: Module,
    inputs: Mapping[str, Array] | None = None,
    *,
    steps: int | None = None,
    engine: str | None = None,
    function: str | None = None,
    seed: int = 0,
    dims: Mapping[str, int] | None = None,
    state: State | None = None,
    options: EngineOptions | None = None,
) -> Steps:
    """Runs a program several times, what it keeps between runs going on; outputs have an axis of steps in front.

    An input with one axis more than the program asks for has a part for each step. Inputs that are not given are random
    and other ones in each step. An output whose shape changes is given as `stepN/NAME`. Without a number of steps the
    program runs once, and no array has an axis of steps.

    Raises: as `run`.
    """
    from commonir.runtime.steps import Steps, inputs_by_step, joined  # noqa: PLC0415

    lowered = lower(module, defer=True)
    executable = _prepared(module, lowered, engine, function, state, options)
    given = [inputs or {}] if steps is None else inputs_by_step(lowered.function(function), inputs or {}, steps)
    drawn = [
        random_inputs(lowered, function=function, seed=seed + n, dims=dims, given=part) for n, part in enumerate(given)
    ]
    outputs = [executable.run(part) for part in drawn]
    return Steps(drawn[0], outputs[0] if steps is None else joined(outputs))


def unlike_stated(module: Module, outputs: Mapping[str, Array], *, function: str | None = None) -> list[Diagnostic]:
    """What a run of a function shows to be other than it states: shapes of outputs."""
    from commonir.runtime.ports import unlike_stated as compared  # noqa: PLC0415

    return list(compared(module.function(function), outputs))


def run_converted(
    source: Module,
    converted: Module,
    inputs: Mapping[str, Array],
    *,
    function: str | None = None,
    state: State | None = None,
    options: EngineOptions | None = None,
) -> dict[str, Array]:
    """Runs a program made from another one on inputs of that one; gives outputs under its names.

    A conversion may change names and element types: inputs and outputs go by position where names are new.
    """
    from commonir.runtime.adaptation import adapted_inputs, renamed_outputs  # noqa: PLC0415

    before, after = lower(source, defer=True).function(function), lower(converted, defer=True)
    name = function if function in after.functions else None
    given = adapted_inputs(before, after.function(name), inputs)
    return renamed_outputs(before, run(converted, given, function=name, state=state, options=options))


def run_with_onnxruntime(
    path: Path_, inputs: Mapping[str, Array], *, state: State | None = None, options: EngineOptions | None = None
) -> dict[str, Array]:
    """Runs an ONNX file as onnxruntime reads it, for a check by an implementation that shares nothing with this one.

    Inputs that were states before a conversion are taken from `state`, and what they become is left there.

    Raises: DiagnosticError (E0705 without onnxruntime, E0708 and E0709 when it fails or refuses the file, E0711 when a
        time limit passes).
    """
    from commonir.engines.onnxruntime import run_file  # noqa: PLC0415
    from commonir.runtime.engine import DEFAULT_OPTIONS  # noqa: PLC0415

    return run_file(path, inputs, state, options or DEFAULT_OPTIONS)


def random_inputs(
    module: Module,
    *,
    function: str | None = None,
    seed: int = 0,
    dims: Mapping[str, int] | None = None,
    given: Mapping[str, Array] | None = None,
) -> dict[str, Array]:
    """Inputs for a function: those given, and seeded random ones for the others.

    `dims` gives sizes of symbolic dimensions; sizes that nothing decides are small.
    """
    from commonir.runtime.inputs import random_inputs as draw  # noqa: PLC0415

    return draw(lower(module, defer=True), function=function, seed=seed, dims=dims or {}, given=given or {})


def compare(
    a: Module,
    b: Module | None = None,
    inputs: Mapping[str, Array] | None = None,
    *,
    engines: Sequence[str] = (),
    function: str | None = None,
    seed: int = 0,
    dims: Mapping[str, int] | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    metric: str = "close",
    repro: Path_ | None = None,
    options: EngineOptions | None = None,
    findings: Diagnostics | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Comparison:
    """Compares two programs, or one program on two engines, value by value on the same inputs.

    Values are matched by name and compared one after another, never held all at once. `engines` names one for each
    side; one alone runs both programs, and a single program runs on `reference` and `numpy` by default. Inputs that are
    not given are random, by `seed`. What counts as agreement is described at `runtime.measures.Tolerance`; without
    `rtol` it follows for each value from the narrowest floating-point type it is computed in. `repro` is a folder that
    gets the operations of the first divergence as programs of their own, with their inputs and results; `findings`
    receives why it does not. Limits of the options are those of each side. `tell` hears how far the comparison is.

    Raises: DiagnosticError (E0713 for programs of other inputs, E0714 for programs without a common value, E07xx as
        `run`).
    """
    from commonir.runtime import divergence  # noqa: PLC0415
    from commonir.runtime.engine import DEFAULT_OPTIONS, Engines  # noqa: PLC0415
    from commonir.runtime.inputs import random_inputs as draw  # noqa: PLC0415
    from commonir.runtime.measures import Metric  # noqa: PLC0415

    names = tuple(engines) or ((DEFAULT_ENGINE, DEFAULT_ENGINE) if b is not None else ("reference", DEFAULT_ENGINE))
    metrics = [m.value for m in Metric]
    if metric not in metrics:
        help = did_you_mean(metric, metrics) or f"metrics: {', '.join(metrics)}"
        raise DiagnosticError(Diagnostic(WRONG_USAGE, f"no metric is called '{metric}'", help=help))
    if len(names) > _SIDES:
        message = f"a comparison has two sides, and {len(names)} engines were named"
        raise DiagnosticError(Diagnostic(WRONG_USAGE, message))
    known = Engines()
    left = divergence.Side(a, known.get(names[0]), function, seed)
    right = divergence.Side(a if b is None else b, known.get(names[-1]), function, seed)
    given = {**right.initial, **left.initial, **(inputs or {})}
    name = left.function.symbol_name
    drawn = draw(left.module, function=name, seed=seed, dims=dims or {}, given=given)
    chosen = options or DEFAULT_OPTIONS
    comparing = divergence.Comparing(left, right, drawn, rtol=rtol, atol=atol, metric=Metric(metric), options=chosen)
    found = divergence.compare(comparing, tell)
    if repro is None or found.first_divergence is None:
        return found
    from commonir.reproduce import reproduce  # noqa: PLC0415

    try:
        return reproduce(comparing, found, repro)
    except DiagnosticError as error:
        if findings is None:
            raise
        findings.extend(error.diagnostics)
        return found


def compare_outputs(
    expected: Mapping[str, Array], actual: Mapping[str, Array], *, rtol: float, atol: float | None = None
) -> tuple[OutputError, ...]:
    """How far arrays are from what was expected, output by output."""
    from commonir.runtime import comparison  # noqa: PLC0415

    return comparison.compare_outputs(expected, actual, rtol=rtol, atol=atol)


def default_rtol(element_types: Iterable[str]) -> float:
    """The relative tolerance for a program that computes values of these element types."""
    from commonir.runtime import comparison  # noqa: PLC0415

    return comparison.default_rtol(element_types)


def output_format(path: Path_) -> str:
    """The name of the format that the suffix of an output stands for.

    Raises: DiagnosticError when it names none.
    """
    return Formats().of_output(path).name


def file_format(to: str) -> str:
    """The name of the format in which a program is written that `convert` took to a format or dialect.

    Raises: DiagnosticError for a name of neither.
    """
    from commonir.conversions.conversion import Conversions  # noqa: PLC0415

    if to in Formats().names():
        return to
    known = Conversions()
    return (known.get(to).format if to in known.names() else "") or Formats().get(to).name


def summarize(module: Module, *, with_flops: bool = False, with_weights: bool = False) -> Summary:
    """What a program is: interface, operations, metadata, how many weights there are, and on request each of them."""
    from commonir.summary import summarize as describe  # noqa: PLC0415

    return describe(
        module, Formats().of_module(module), _flops(module) if with_flops else None, with_weights=with_weights
    )


def _flops(module: Module) -> str:
    from commonir.passes.count_flops import count_flops  # noqa: PLC0415
    from commonir.symbolic import text  # noqa: PLC0415

    return text(count_flops(lower(module).main))


def show(
    module: Module,
    *,
    generic: bool = False,
    node: str | None = None,
    around: int = 0,
    elide: bool = True,
    syntax: str = MLIR,
    names: str = "",
    locations: bool = False,
) -> str:
    """The program, or the surroundings of one of its operations, as MLIR text, or as that of another format.

    `names`: `mlir` prints as mlir-opt does, `own` keeps the names of the program; without, programs in dialects of MLIR
    alone are printed as mlir-opt does. `locations` adds where operations come from.

    Raises: DiagnosticError (E0401 for an unknown operation; E0804 and E0806 for another syntax that the program does
        not have).
    """
    from commonir.showing import show as shown  # noqa: PLC0415

    return shown(
        module,
        generic=generic,
        node=node,
        around=around,
        elide=elide,
        syntax=syntax,
        names=names,
        locations=locations,
    )


def operations(dialect: str | None = None, *, dialects: Sequence[Dialect] = ()) -> Sequence[OperationEntry]:
    """The operations that are known, of one dialect or of all; with `dialects`, of these."""
    from commonir.ods.documentation import summary_of  # noqa: PLC0415

    known = Dialects(given=dialects)
    names = sorted(d.name for d in dialects or known.working()) if dialect is None else [dialect]
    out: list[OperationEntry] = []
    for name in names:
        found = known.get(name)
        if found is None:
            raise DiagnosticError(_unknown("dialect", name, known.names()))
        out += [OperationEntry(op, summary_of(d[-1]), d[0].since) for op, d in found.operations.items()]
    return out


def tablegen_json(path: Path_, include_dirs: Sequence[str] = (), defines: Sequence[str] = ()) -> str:
    """The records of a TableGen file as JSON, as `llvm-tblgen --dump-json` prints them.

    Raises: DiagnosticError (E0260 to E0263, E0307).
    """
    from commonir import tablegen  # noqa: PLC0415

    return tablegen.json_text(tablegen.records_json(tablegen.load(path, include_dirs, defines))) + "\n"


def declared_operations(module: Module) -> Sequence[OperationEntry]:
    """The operators and functions that a Common IR file and its libraries declare."""
    from commonir.dialects.common_ir.pages import declared_in, declared_summary  # noqa: PLC0415

    return [OperationEntry(name, declared_summary(found), "") for name, found in declared_in(module).items()]


def declared_page(module: Module, name: str) -> str:
    """The reference page of an operator or function that a Common IR file or one of its libraries declares.

    Raises: DiagnosticError (UNKNOWN_REFERENCE) when there is no such name.
    """
    from commonir.dialects.common_ir import pages  # noqa: PLC0415

    declared = pages.declared_in(module)
    if name not in declared:
        raise DiagnosticError(_unknown("operator or function", name, declared))
    return pages.declared_page(declared[name])


def reference_page(name: str, *, dialects: Sequence[Dialect] = ()) -> str:
    """The reference page of an operation or a dialect, as Markdown. `dialects` is as of `load`.

    Raises: DiagnosticError (UNKNOWN_REFERENCE) when there is no such name.
    """
    from commonir.ods.documentation import dialect_page, operation_page  # noqa: PLC0415

    known = Dialects(given=dialects)
    dialect = known.get(name.partition(".")[0])
    if dialect is None:
        raise DiagnosticError(_unknown("dialect or operation", name, known.names()))
    if "." not in name:
        return dialect_page(dialect)
    if name not in dialect.operations:
        raise DiagnosticError(_unknown("operation", name, dialect.operations))
    return operation_page(dialect, name)


def doctor() -> DoctorReport:
    """What is installed and works."""
    from commonir.doctor import examine  # noqa: PLC0415

    return examine()


def _require_format(wanted: Format, path: Path_) -> None:
    kind = recognize(path)
    if kind not in wanted.kinds:
        message = f"the file is not of the format '{wanted.name}'"
        notes = (f"found: {kind.value}",)
        raise DiagnosticError(Diagnostic(WRONG_FORMAT, message, file=os.fspath(path), notes=notes))


def _not_read(format: str, path: Path_) -> Diagnostic:
    return Diagnostic(UNREAD_FORMAT, f"files of format '{format}' cannot be read", file=os.fspath(path))


def _unknown(what: str, name: str, known: Iterable[str]) -> Diagnostic:
    help = did_you_mean(name, known) or "`cir ops` lists what is known"
    return Diagnostic(UNKNOWN_REFERENCE, f"no {what} is called '{name}'", help=help)
