"""Functions from programs to programs: lowering, conversions, edits, legalization."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from commonir.api.opening import Path_, verify
from commonir.api.optimizing import evaluators_of, optimize
from commonir.base.codes import LOST_IN_CONVERSION, UNKNOWN_OPERATION, UNSUPPORTED_CONVERSION, WRONG_USAGE
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.files import unread_file
from commonir.base.limits import DEFAULT_LIMITS
from commonir.base.safe_paths import open_regular
from commonir.base.suggestions import did_you_mean
from commonir.base.text import listed
from commonir.base.tuples import NamedTuple
from commonir.formats.format import Format, Formats, record_format
from commonir.ir.module import Module
from commonir.ods import Dialect, Dialects
from commonir.reports import Entries, ShapeEntry

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commonir.conversions.conversion import Conversion, ConversionOptions, ImageInput
    from commonir.ir.data import Data
    from commonir.ir.operation import Operation
    from commonir.ir.types import Type
    from commonir.ods.terms import Rewrite
    from commonir.passes.half_precision import PrecisionLog
    from commonir.reports import LegalizationReport, PrecisionReport
    from commonir.rewrite.legalize import LegalizationRule


_SMALL_BYTES = 4096
"""How much larger than what it is computed from a constant of a converted program may be."""


def lower(module: Module, *, defer: bool = False, function: str | None = None) -> Module:
    """Returns the program lowered to `ml_program` and `core`; the program itself when it is lowered already.

    With `defer`, operations whose meaning is data-dependent are kept, and engines lower them at run time. Private
    functions that others call are inlined only, and so are public ones where each of a long chain would have a copy of
    all that follow; the one called `function` stays too.

    Raises: DiagnosticError (E0601, E0509) with every operation that cannot be lowered to core.
    """
    # Rewriting loads the core dialect, which opening a file does not need.
    from commonir.passes.lower import Deferral  # noqa: PLC0415
    from commonir.passes.lower import lower as lower_module  # noqa: PLC0415

    return lower_module(module, Deferral.OPEN if defer else Deferral.NONE, function=function)


def infer(module: Module) -> None:
    """Infers the types of all values of a program, with dims as expressions of the dims of inputs. Changes nothing
    else.
    """
    from commonir.passes.infer_through_core import infer_all_shapes  # noqa: PLC0415

    infer_all_shapes(module)


def shapes(
    module: Module, dims: Mapping[str, int] | None = None, *, with_constants: bool = False
) -> Entries[ShapeEntry]:
    """Returns the values of a program with their inferred types, in order; `dims` sets dimensions by name.

    Raises: DiagnosticError (E0712) for a dimension that the program does not have.
    """
    from commonir.inspection.summary import shape_entries  # noqa: PLC0415

    infer(module)
    return Entries(shape_entries(module, dims or {}, with_constants=with_constants))


def convert(
    module: Module,
    to: str,
    *,
    opset: int | None = None,
    function: str | None = None,
    target: str | None = None,
    precision: str | None = None,
    dims: Mapping[str, int] | None = None,
    ranges: Mapping[str, tuple[int, int]] | None = None,
    images: Mapping[str, ImageInput] | None = None,
    labels: Mapping[str, Sequence[str] | Sequence[int]] | Sequence[str] | Sequence[int] | None = None,
    docs: Mapping[str, str] | None = None,
    states: Mapping[str, str] | None = None,
    ranks: int | None = None,
    parallel: str | None = None,
    keep: Sequence[str] = (),
    fuse: str | None = None,
    reports: list[PrecisionReport] | None = None,
    findings: Diagnostics | None = None,
) -> Module:
    """Returns the program, or one function of it, in the dialect of another format; `findings` receives what is lost.

    `to` names the format, or a dialect that compilers read: linalg, tosa, tosa-linalg, stablehlo. `opset` is the number
    of an operation set, `target` a system that is to run the program, such as iOS17; the conversion chooses by default.
    `precision` float16 computes in half precision what is in single precision, but for the operations that `keep`
    names, by their names or types or patterns of them; `reports` receives what changed and what stayed. `dims` fixes
    dimensions by name, `ranges` bounds them, both ends included; `images` turns inputs and outputs into images;
    `labels` names the elements of probabilities, of the only such output or by the name of one, which makes a Core ML
    model a classifier; `docs` describes inputs and outputs by name; `states` has, by the name of an input, the output
    that it is in the next run, and Core ML keeps the two as a state; `ranks` shards the program, as `shard` does.
    `fuse` names operations that replace others in the result, which is simplified, as by `optimize`. A program in that
    dialect keeps every operation that the chosen version, system and precision have; without options it is returned
    unchanged, as is one for a format that holds any dialect. Such a format takes no opset, target, precision, images or
    fused operations (E0601), and ranges only for programs of the core (W0601).

    Raises: DiagnosticError (E0601 for operations without a counterpart, E0610 if it cannot be sharded, E0706).
    """
    from commonir.conversions.conversion import ConversionOptions, Conversions, refuse_options  # noqa: PLC0415
    from commonir.passes.half_precision import PrecisionLog, check_precision  # noqa: PLC0415

    diagnostics = Diagnostics() if findings is None else findings
    check_precision(precision, keep)
    choices = _Choices(to, function, precision, tuple(keep), dims, ranges, ranks, parallel)
    if to in Formats() and not Formats().get(to).dialect:
        given = {"opset": opset, "target": target, "precision": precision, "images": images or None, "fuse": fuse}
        _refuse_in_own_dialect(to, **given, labels=labels or None, docs=docs or None, states=states or None)
        return _in_any_dialect(module, choices, diagnostics)
    conversion = Conversions().get(to)
    if ranks is not None and not conversion.takes_ranks:
        raise _cannot_express_ranks(to)
    options = ConversionOptions(opset, target, images or {}, _labels_by_output(labels), docs or {}, states or {})
    refuse_options(to, conversion, options)
    log = PrecisionLog()
    result = _converted(module, conversion, options, choices, log, diagnostics)
    if precision is not None:
        _report_precision(log.report(), diagnostics, reports)
    if fuse is None:
        return result
    return optimize(result, fuse=fuse, keep_initializer_inputs=True, findings=diagnostics)


def _report_precision(report: PrecisionReport, diagnostics: Diagnostics, reports: list[PrecisionReport] | None) -> None:
    from commonir.passes.half_precision import precision_note  # noqa: PLC0415

    diagnostics.extend([precision_note(report)])
    if reports is not None:
        reports.append(report)


def _labels_by_output(
    labels: Mapping[str, Sequence[str] | Sequence[int]] | Sequence[str] | Sequence[int] | None,
) -> Mapping[str, tuple[str, ...] | tuple[int, ...]]:
    by_output = labels if isinstance(labels, Mapping) else {} if labels is None else {"": labels}
    out: dict[str, tuple[str, ...] | tuple[int, ...]] = {}
    for name, values in by_output.items():
        numbers = tuple([v for v in values if isinstance(v, int)])
        out[name] = numbers if len(numbers) == len(values) else tuple([str(v) for v in values])
    return out


class _Choices(NamedTuple):
    """The choices of users for a conversion, besides the options of the conversion itself."""

    to: str
    function: str | None
    precision: str | None
    keep: tuple[str, ...]
    dims: Mapping[str, int] | None
    ranges: Mapping[str, tuple[int, int]] | None
    ranks: int | None
    parallel: str | None


def _converted(
    module: Module,
    conversion: Conversion,
    options: ConversionOptions,
    choices: _Choices,
    log: PrecisionLog,
    diagnostics: Diagnostics,
) -> Module:
    """Returns a program in the dialect of a conversion: directly where it can be, else by way of the core."""
    from commonir.passes.defaults_to_constants import defaults_to_constants  # noqa: PLC0415
    from commonir.passes.describe_ports import with_described_ports  # noqa: PLC0415
    from commonir.passes.half_precision import in_half_precision  # noqa: PLC0415
    from commonir.passes.handles_to_integers import handles_to_integers  # noqa: PLC0415

    own, to = Formats().of_module(module), choices.to
    is_own = own is not None and to in Formats() and own.dialect == Formats().get(to).dialect
    if is_own and choices.function is not None:
        selected = conversion.selected(module, choices.function)
        module, choices = (module, choices) if selected is None else (selected, choices._replace(function=None))
    if is_own and choices.ranges:
        bounded_module = _bounded_in_dialect(module, choices.ranges)
        module, choices = (
            (module, choices) if bounded_module is None else (bounded_module, choices._replace(ranges=None))
        )
    if is_own:
        module, choices = _in_own_precision(module, conversion, choices, log)
    if all(choice is None for choice in (choices.function, choices.precision, choices.ranges or None, choices.ranks)):
        direct = _converted_directly(module, conversion, options, choices.dims, is_own, diagnostics)
        if direct is not None:
            return direct
    if not conversion.keeps_defaults:
        module = defaults_to_constants(module, diagnostics)
    lowered = _lowered(module, conversion, choices)
    _report_annotations(module, own, diagnostics)
    if choices.function is None:
        _report_left_out(module, lowered, diagnostics)
    if not conversion.keeps_handles:
        lowered = handles_to_integers(lowered, diagnostics)
    bounded = _bounded(lowered, choices.ranges or {})
    simpler = _simplified(bounded if choices.precision is None else in_half_precision(bounded, log))
    ranks = choices.ranks
    program = simpler if ranks is None else _divided(simpler, ranks, choices.parallel, diagnostics)
    program = with_described_ports(program, options.labels, options.docs, options.states, diagnostics)
    converted = conversion.convert(program, conversion.kept(module, options) if is_own else options, diagnostics)
    conversion.describe(module, converted, options)
    if conversion.format:
        record_format(Formats().get(conversion.format), converted)
    return converted


def _in_own_precision(
    module: Module, conversion: Conversion, choices: _Choices, log: PrecisionLog
) -> tuple[Module, _Choices]:
    """Returns a program that stays in its dialect with the dims and the precision chosen, and the remaining choices."""
    if choices.precision is None:
        return module, choices
    sized = _with_dims(module, choices.dims, choices.function)
    halved = conversion.halved(sized, choices.keep, log)
    return (module, choices) if halved is None else (halved, choices._replace(dims=None, precision=None))


def _in_any_dialect(module: Module, choices: _Choices, diagnostics: Diagnostics) -> Module:
    """Returns a program, or one function of it, as a format takes it that holds any dialect."""
    from commonir.passes.select_function import select_function  # noqa: PLC0415

    function, dims = choices.function, choices.dims
    kept = module if function is None else select_function(module, function)
    if choices.ranks is not None:
        kept = shard(kept, choices.ranks, choices.parallel, dims=dims, findings=diagnostics)
    else:
        kept = _sized(kept, dims, function)
    return _bounded_if_lowered(kept, choices.ranges or {}, choices.to, diagnostics)


def _sized(module: Module, dims: Mapping[str, int] | None, function: str | None = None) -> Module:
    """Returns a program with some dims fixed; the program itself when there are none to fix."""
    return edit(module, dims=dims, function=function) if dims else module


def _with_dims(module: Module, dims: Mapping[str, int] | None, function: str | None) -> Module:
    """Returns a program that stays in its dialect with some dims fixed, and the branches taken that these decide."""
    if not dims:
        return module
    from commonir.passes.simplify import take_branches  # noqa: PLC0415

    result = edit(module, dims=dims, function=function)
    take_branches(result.function(function), evaluators_of(_SMALL_BYTES)(None))
    return result


def _lowered(module: Module, conversion: Conversion, choices: _Choices) -> Module:
    """Returns a program, or one function of it, in the core, as a conversion takes it."""
    from commonir.passes.select_function import select_function  # noqa: PLC0415

    # Fixed dims can decide which branch runs, and with it ranks of results.
    sized = _sized(module, choices.dims, choices.function)
    function = choices.function
    lowered = _lowered_with_marks(sized, choices.keep, function) if choices.keep else lower(sized, function=function)
    if function is not None:
        return select_function(lowered, function)
    if not conversion.takes_ranks:
        _refuse_ranks(lowered, choices.to)
    return lowered


def _lowered_with_marks(module: Module, keep: Sequence[str], function: str | None) -> Module:
    """Returns a lowered program in which the operations that names select are marked to keep their precision."""
    from commonir.passes.half_precision import mark_kept, operations_to_keep  # noqa: PLC0415
    from commonir.passes.lower import PreservedOperations  # noqa: PLC0415
    from commonir.passes.lower import lower as lower_module  # noqa: PLC0415

    kept = operations_to_keep(module, keep)
    origins: dict[Operation, Operation] = {}
    preserved = PreservedOperations(_is_preserved, False, origins, set())
    lowered = lower_module(module, function=function, preserved=preserved)
    mark_kept([new for new, source in origins.items() if source in kept])
    return lowered


def _is_preserved(op: Operation) -> bool:
    """Returns that no operation stays as it is when a program is lowered."""
    del op
    return False


def _converted_directly(
    module: Module,
    conversion: Conversion,
    options: ConversionOptions,
    dims: Mapping[str, int] | None,
    is_own: bool,
    diagnostics: Diagnostics,
) -> Module | None:
    """Returns a program that need not be lowered, with all operations that the target has; None for others."""
    from commonir.conversions.conversion import DEFAULT_OPTIONS  # noqa: PLC0415
    from commonir.passes.order_nodes import order_nodes  # noqa: PLC0415

    if is_own:
        sized = _with_dims(module, dims, None)
        if options == DEFAULT_OPTIONS:
            return sized
        # Operations are transcribed in their order.
        return None if conversion.within is None else conversion.within(order_nodes(sized), options, diagnostics)
    return conversion.direct(module, diagnostics) if options == DEFAULT_OPTIONS and not dims else None


def _report_left_out(module: Module, lowered: Module, findings: Diagnostics) -> None:
    """Reports public functions that are inlined only, because the calls in them stand for too many operations."""
    from commonir.passes.inlined_functions import left_out  # noqa: PLC0415

    names = left_out(module, lowered)
    if names:
        message = f"{listed(names, 1)}: only in the place of their calls, which stand for too many operations together"
        findings.add(LOST_IN_CONVERSION, message, help="`--function` converts one of them")


def _report_annotations(module: Module, own: Format | None, findings: Diagnostics) -> None:
    """Reports annotations of the program's format, which a conversion loses."""
    for text in () if own is None else own.outline(module).annotations:
        findings.add(LOST_IN_CONVERSION, text)


def _cannot_express_ranks(to: str) -> DiagnosticError:
    message = f"a sharded program cannot be expressed in '{to}'"
    return DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, help="it can in ark and mlir"))


def _refuse_ranks(module: Module, to: str) -> None:
    from commonir.dialects.core import ranks_of  # noqa: PLC0415

    ranks = ranks_of(module)
    if len(ranks) > 1:
        message = f"a program of {len(ranks)} ranks cannot be expressed in '{to}', whose files are one program"
        help = (
            f"it can in ark and mlir; `--function {ranks[0].symbol_name}` converts what one rank runs, "
            "if it exchanges nothing with others"
        )
        raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, help=help))


def shard(
    module: Module,
    ranks: int,
    parallel: str | None = None,
    *,
    dims: Mapping[str, int] | None = None,
    function: str | None = None,
    findings: Diagnostics | None = None,
) -> Module:
    """Returns the program, or one function of it, sharded over ranks: a core program with one function for each rank.

    With `tensor` parallelism, the default, each rank has shards of weights, and partial results are summed. With `data`
    parallelism each rank has all weights and a shard of the batch, the first axis of inputs. `dims` fixes dimensions
    by name. `findings` receives what was sharded and what was not. All ranks together compute the same as the program,
    up to rounding.

    Raises: DiagnosticError (E0610 for what cannot be sharded; E0601, E0706).
    """
    from commonir.passes.select_function import select_function  # noqa: PLC0415

    lowered = lower(module, function=function)
    lowered = lowered if function is None else select_function(lowered, function)
    simpler = _simplified(_sized(lowered, dims))
    return _divided(simpler, ranks, parallel, Diagnostics() if findings is None else findings)


def _divided(simpler: Module, ranks: int, parallel: str | None, findings: Diagnostics) -> Module:
    from commonir.passes.shard import Parallel  # noqa: PLC0415
    from commonir.passes.shard import shard as divide  # noqa: PLC0415

    known = [kind.value for kind in Parallel]
    kind = Parallel.TENSOR.value if parallel is None else parallel
    if kind not in known or ranks < 1:
        message = f"no parallelism is called '{kind}'" if ranks > 0 else f"a program cannot have {ranks} ranks"
        help = did_you_mean(kind, known) or f"it is {' or '.join(known)}, among one rank or more"
        raise DiagnosticError(Diagnostic(WRONG_USAGE, message, help=help))
    return divide(simpler, ranks, Parallel(kind), findings)


def _simplified(module: Module) -> Module:
    """Returns a lowered program in canonical form, with small constants folded."""
    from commonir.passes.canonicalize import canonicalized  # noqa: PLC0415
    from commonir.passes.simplify import fold_constants  # noqa: PLC0415
    from commonir.runtime.engine import Engines  # noqa: PLC0415
    from commonir.runtime.fold_constants import Folding  # noqa: PLC0415

    simpler = canonicalized(module)
    exact = Engines().get("reference")
    fold_constants(simpler, Folding(exact, exact, _SMALL_BYTES))
    return simpler


def image_input(color: str, scale: float = 1.0, bias: Sequence[float] = (), layout: str = "") -> ImageInput:
    """Returns how an input or output is turned into an image: pixels from 0 to 255, times a scale plus a bias for each
    channel, are the values of an input; the values of an output, times the scale plus the bias, are pixels.

    `color` is rgb, bgr or grayscale; `layout` is nchw or nhwc, which follows from the shape where that is clear.
    """
    from commonir.conversions.conversion import ImageInput  # noqa: PLC0415
    from commonir.ir.interface import ColorSpace  # noqa: PLC0415

    return ImageInput(ColorSpace(color), scale, tuple(bias), layout)


def with_interface_of(
    converted: Module,
    module: Module,
    *,
    images: Mapping[str, ImageInput],
    states: Mapping[str, str],
    dims: Mapping[str, int] | None = None,
    function: str | None = None,
) -> Module:
    """Returns a program whose inputs and outputs are images and states where those of its conversion are.

    `dims` fixes dimensions of the function by name. The program itself is returned where it has the same interface.
    Raises: DiagnosticError (E0601 for one that cannot be an image, E0702 for an unknown name, E0712 for a dimension).
    """
    from commonir.conversions.core_to_mil import images as of_core  # noqa: PLC0415
    from commonir.ir.types import StateType  # noqa: PLC0415
    from commonir.passes.describe_ports import with_described_ports  # noqa: PLC0415
    from commonir.passes.ports_to_globals import ports_to_globals  # noqa: PLC0415

    keeps_states = any(isinstance(v.type, StateType) for f in converted.functions.values() for v in f.inputs)
    if not images and not keeps_states:
        return module
    lowered = lower(_sized(module, dims, function), function=function)
    if keeps_states:
        lowered = ports_to_globals(with_described_ports(lowered, {}, {}, states, Diagnostics()), Diagnostics())
    return of_core.with_images(lowered, images)


def read_labels(path: Path_) -> tuple[str, ...] | tuple[int, ...]:
    """Returns the class labels in a file: an array in JSON, an object of labels by index (`id2label`), or one in each
    line.

    Raises: DiagnosticError (E0101, E0102 for a file that cannot be read, E0901 for one without labels).
    """
    from commonir.ir.ports import labels_of_text  # noqa: PLC0415

    name = os.fspath(path)
    try:
        with open_regular(name) as stream:
            text = stream.read(DEFAULT_LIMITS.max_text_bytes).decode("utf-8-sig")
    except OSError as error:
        raise unread_file(name, error, "labels") from error
    except UnicodeDecodeError as error:
        raise _no_labels("the file is not UTF-8 text", name) from error
    labels = labels_of_text(text)
    if labels:
        return labels
    if text.lstrip().startswith(("[", "{")):
        raise _no_labels("the file is not JSON with an array of labels, or an object of labels by index", name)
    lines = tuple([line.strip() for line in text.rstrip().splitlines()])
    if not lines or "" in lines:
        raise _no_labels(f"line {lines.index('') + 1} is empty" if lines else "the file is empty", name)
    return lines


def _no_labels(reason: str, path: str) -> DiagnosticError:
    help = "write one label in each line, or an array in JSON"
    return DiagnosticError(Diagnostic(WRONG_USAGE, f"cannot read labels: {reason}", file=path, help=help))


def _refuse_in_own_dialect(to: str, **options: object) -> None:
    """Raises: DiagnosticError (E0601) if an option is set that a program which keeps its dialect cannot take."""
    from commonir.conversions.conversion import OPTION_CONTENTS  # noqa: PLC0415

    help = "convert it to a format that has, then the result to MLIR text"
    refused = [
        Diagnostic(
            UNSUPPORTED_CONVERSION,
            f"a program keeps its dialect in '{to}', which has no place for {OPTION_CONTENTS[name]}",
            help=help,
        )
        for name, value in options.items()
        if value is not None
    ]
    if refused:
        raise DiagnosticError(*refused)


def _bounded_if_lowered(
    module: Module, ranges: Mapping[str, tuple[int, int]], to: str, diagnostics: Diagnostics
) -> Module:
    """Returns a program with some dimensions bounded; one that is not lowered unchanged, which is reported."""
    from commonir.dialects.mlir import ml_program  # noqa: PLC0415

    if any(isinstance(f, ml_program.Func) for f in module.functions.values()):
        return _bounded(module, ranges)
    for name in ranges:
        text = f"the range of '{name}' is not written: '{to}' has ranges only for programs of the core"
        diagnostics.add(LOST_IN_CONVERSION, text)
    return module


def _bounded_in_dialect(module: Module, ranges: Mapping[str, tuple[int, int]]) -> Module | None:
    """Returns a program that stays in its dialect with some dimensions bounded; None where it cannot."""
    from commonir.ir.interface import DimRange  # noqa: PLC0415
    from commonir.passes.bound_dims import bound_dims_of_interfaces  # noqa: PLC0415

    return bound_dims_of_interfaces(module, {name: DimRange(*bounds) for name, bounds in ranges.items()})


def _bounded(module: Module, ranges: Mapping[str, tuple[int, int]]) -> Module:
    """Returns a lowered program with some dimensions bounded."""
    from commonir.ir.interface import DimRange  # noqa: PLC0415
    from commonir.passes.bound_dims import bound_dims  # noqa: PLC0415

    return bound_dims(module, {name: DimRange(*bounds) for name, bounds in ranges.items()})


def edit(
    module: Module,
    *,
    rename: Mapping[str, str] | None = None,
    dims: Mapping[str, int | str | tuple[int, int]] | None = None,
    inputs: Mapping[str, NDArray[Any] | None] | None = None,
    metadata: Mapping[str, str] | None = None,
    add_outputs: Sequence[str] = (),
    drop_outputs: Sequence[str] = (),
    function: str | None = None,
) -> Module:
    """Returns an edited copy of the program, which shares constants with the original.

    `rename` maps names of inputs, outputs and other values to new names. `dims` sets dimensions, each given by the
    name of a dynamic dimension or as `INPUT.AXIS`, to a number, or to the name or the range of a dynamic one. `inputs`
    makes inputs constants: arrays or, for None, their default values; constants that follow are folded, and branches on
    them are resolved. An output that would become an input or a constant is copied where the format demands that.
    `metadata` sets `description`, `version`, `author`, `license` or any other text; an empty text removes an entry.
    All names refer to the original program. Of a program of ranks, all are changed; `rank0.x` is the `x` of one rank of
    an ARK program.

    Raises: DiagnosticError (E0401, E0402, E0603, E0712) with every change that is impossible, and every error of the
    result that the program does not have.
    """
    from commonir.passes.edit import edit as edited  # noqa: PLC0415
    from commonir.passes.edits import Edits  # noqa: PLC0415
    from commonir.passes.order_nodes import order_nodes  # noqa: PLC0415

    # Types are inferred in the order of operations.
    module = order_nodes(module)
    contents = {name: None if array is None else _data_of(array) for name, array in (inputs or {}).items()}
    edits = Edits(rename or {}, dims or {}, tuple(add_outputs), tuple(drop_outputs), metadata or {}, contents)
    if not contents:
        return _as_valid_as(module, edited(module, edits, function=function))
    from commonir.runtime.engine import Engines  # noqa: PLC0415
    from commonir.runtime.fold_constants import Folding  # noqa: PLC0415

    engines = Engines()
    evaluate = Folding(engines.get("numpy"), engines.get("reference"))
    return _as_valid_as(module, edited(module, edits, function=function, evaluate=evaluate))


def _data_of(array: NDArray[Any]) -> Data:
    from commonir.base.arrays import name_of  # noqa: PLC0415  loads numpy
    from commonir.ir.data import ArrayData  # noqa: PLC0415
    from commonir.ir.types import ELEMENT_TYPES, tensor  # noqa: PLC0415

    return ArrayData(tensor(ELEMENT_TYPES[name_of(array.dtype)], *array.shape), array)


def extract(
    module: Module, sources: Sequence[str] = (), targets: Sequence[str] = (), *, function: str | None = None
) -> Module:
    """Returns the part of a function that computes the values `targets` from the values `sources`, as a program.

    Without sources it begins at the inputs, without targets it ends at the outputs. Inputs of the function that the
    part needs besides the sources remain inputs. Constants are shared with the original program.

    Raises: DiagnosticError (E0401, E0603, E0706) for a part that cannot be extracted, and every error of the result
    that the program does not have.
    """
    from commonir.passes.extract import extract as extracted  # noqa: PLC0415

    return _as_valid_as(module, extracted(module, sources, targets, function=function))


def legalize(
    module: Module,
    to: str | Sequence[str],
    *,
    rules: Sequence[Rewrite | LegalizationRule] = (),
    legal: Sequence[str] = (),
    illegal: Sequence[str] = (),
    dynamic: Mapping[str, Callable[[Operation], bool]] | None = None,
    partial: bool = False,
    convert_type: Callable[[Type], Type] | None = None,
    dialects: Sequence[Dialect] = (),
    reports: list[LegalizationReport] | None = None,
    findings: Diagnostics | None = None,
) -> Module:
    """Returns a program with operations of the dialects `to` only, by the cheapest path of rules for each operation.

    `rules` are rewrite rules (`load_rules`) and rules of legalizations; the references of operations and the
    conversions from the core count too, and rules are applied to what others give. `legal` and `illegal` are names of
    dialects and operations; `dynamic` maps such names to predicates of operations. With `partial`, operations without a
    path stay unless they are illegal. `convert_type` returns the type that block arguments and functions have instead
    of another one. Values are cast (`builtin.unrealized_conversion_cast`) where a rule changes a type that another
    operation needs. `dialects` are used besides those that are installed. `reports` receives the paths, `findings` what
    is lost.

    Raises: DiagnosticError (E0601 for each operation without a path, with the rules that were tried; E0604 to E0608 for
    rules).
    """
    from commonir.conversions.conversion import Conversions  # noqa: PLC0415
    from commonir.conversions.legalization import LegalizationRequest, legalize_to  # noqa: PLC0415  loads conversions

    request = LegalizationRequest(
        (to,) if isinstance(to, str) else tuple(to),
        tuple(rules),
        frozenset(legal),
        frozenset(illegal),
        dict(dynamic or {}),
        partial,
        convert_type,
    )
    lost = Diagnostics() if findings is None else findings
    result = legalize_to(module, request, Dialects(dialects), Conversions(), lost, reports)
    # Operations that no dialect defines are legal if users say so, or stay.
    errors = [d for d in verify(result) if d.is_error and d.code is not UNKNOWN_OPERATION]
    if errors:
        raise DiagnosticError(*errors)
    return result


def calling(module: Module, function: str | None, **attributes: object) -> Module:
    """Returns a program that calls a function of a Common IR graph or library, or of what it imports.

    Libraries and functions cannot be run directly. The function is named `NAME` or `domain.library.NAME`; the error for
    None lists those that exist. Its parameters become inputs, `attributes` are the values of its attributes.

    Raises: DiagnosticError (E0505 for invalid attributes, E0706 for an unknown function).
    """
    from commonir.passes.calling import calling as program_calling  # noqa: PLC0415

    return program_calling(module, function, attributes)


def call_attributes(module: Module, function: str | None) -> tuple[str, ...] | None:
    """Returns the names of the attributes of a function of a Common IR program; None for a function that runs directly.

    Raises: DiagnosticError (E0706) when there is no such function.
    """
    if module.functions if function is None else function in module.functions:
        return None
    if not any(op.name.startswith("common_ir.") for op in module.body.operations):
        return None
    from commonir.passes.calling import formal_attributes  # noqa: PLC0415

    return tuple(formal_attributes(module, function))


def bundle(module: Module) -> Module:
    """Returns a copy of a Common IR program that includes the libraries it imports, so that it is one file.

    Raises: DiagnosticError (E0254) for a program that cannot include libraries.
    """
    from commonir.passes.bundle_libraries import bundle_libraries  # noqa: PLC0415

    return bundle_libraries(module)


def _as_valid_as(source: Module, result: Module) -> Module:
    """Returns a program made from another one if it has no error that the other lacks.

    Raises: DiagnosticError with the errors that it has gained.
    """
    errors = [d for d in verify(result) if d.is_error]
    if errors:
        known = {(d.code, d.message) for d in verify(source)}
        gained = [d for d in errors if (d.code, d.message) not in known]
        if gained:
            raise DiagnosticError(*gained)
    return result


def valid(module: Module) -> Module:
    """Returns the module if it is valid. Raises: DiagnosticError with all its errors."""
    errors = [d for d in verify(module) if d.is_error]
    if errors:
        raise DiagnosticError(*errors)
    return module
