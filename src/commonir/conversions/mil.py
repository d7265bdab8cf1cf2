"""Conversions to Core ML: from the core, and from one operation set to another, newer or older.

An operation stays what it is where the other set has it with the same meaning. What has no such counterpart is
expressed by other operations of the set: its reference is expanded, and legalized from the core.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from commonir.base.codes import CHANGED_IN_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.conversions.conversion import PORT_OPTIONS, Conversion, ConversionOptions, ImageInput
from commonir.conversions.core_to_mil import DECOMPRESSING_RULES, RULES, core_to_mil, decompressed_weights
from commonir.conversions.core_to_mil.classifier import LABEL, Labels, put_labels
from commonir.conversions.core_to_mil.describe import Border, describe
from commonir.conversions.core_to_mil.finish import finish
from commonir.conversions.core_to_mil.images import put_images, with_colors
from commonir.conversions.core_to_mil.versions import HALVES, features_of, refuse_features, target_of, version_of
from commonir.conversions.counterparts import counterpart_of
from commonir.dialects.mil import DIALECT
from commonir.dialects.mil.base import SPECIFICATION_VERSIONS, VERSIONS, MilOp, systems_text
from commonir.dialects.mil.compression import Constexpr
from commonir.dialects.mil.description import MAIN, description_of
from commonir.dialects.mil.description_edits import describe_only, set_specification_version
from commonir.dialects.mil.elementwise import Cast
from commonir.dialects.mil.operands import DataType
from commonir.dialects.mil.program import Const, Func, Literal
from commonir.ir.cloning import clone
from commonir.ir.data import Data
from commonir.ir.interface import NO_PORT
from commonir.ir.module import Module, replace_function
from commonir.ir.operation import Operation, Value
from commonir.ir.types import ElementType, TensorType, f16, f32
from commonir.ods import Dialects, Op
from commonir.passes.describe_ports import described_ports
from commonir.passes.half_precision import PrecisionLog, operations_to_keep
from commonir.passes.half_precision_in_dialect import FloatForms, in_half_precision_of_dialect
from commonir.passes.infer_shapes import infer_shapes
from commonir.rewrite.legalize import Context, Mismatch, Result, Rules, legalize, rule


@rule(MilOp)
def counterpart(op: MilOp, context: Context, *operands: Value | tuple[Value, ...] | None) -> Result:
    """The operation of the same name in the operation set, where it has the same meaning."""
    definition = DIALECT.find(op.name, context.target.version)
    if definition is None:
        return Mismatch(f"{op.name} needs {systems_text(DIALECT.operations[op.name][0].since)}")
    result = counterpart_of(op, definition, context, operands)
    if not isinstance(result, Mismatch):
        result.update_extra(op.extra)
    return result


_RULES = Rules([*RULES.all(), counterpart])
_DECOMPRESSING_RULES = Rules([*DECOMPRESSING_RULES.all(), counterpart])


def in_version(module: Module, version: str, lost: Diagnostics) -> Module:
    """Returns a module of the mil dialect with the operations of another operation set.

    Raises: DiagnosticError (E0601) with everything that the set cannot express.
    """
    source = _specialized(module, version)
    infer_shapes(source)
    result = _legalized(source, version, lost)
    _finish(result, module, lost)
    set_specification_version(result, SPECIFICATION_VERSIONS[version])
    lost.extend(_replaced(source, version))
    return result


def _legalized(source: Module, version: str, lost: Diagnostics) -> Module:
    try:
        return legalize(source, _RULES, Dialects(), target_of(version))
    except DiagnosticError:
        if not any(isinstance(op, Constexpr) for op in source.nested()):
            raise
    result = legalize(source, _DECOMPRESSING_RULES, Dialects(), target_of(version))
    names = dict.fromkeys(op.name for op in source.nested() if isinstance(op, Constexpr))
    missing = {name: DIALECT.operations[name][0].since for name in names if DIALECT.find(name, version) is None}
    lost.extend(decompressed_weights(version, missing))
    return result


def _specialized(module: Module, version: str = "") -> Module:
    """Returns a copy whose functions have one body: the one that runs, as that of an operation set if there is one."""
    result = clone(module)
    for function in _functions(result):
        body = function.body
        body.label = version or body.label
        region = next(r for r in function.specializations if r.block is body)
        new = Func(function.sym_name, body.label, (region.take(),))
        replace_function(function, new)
    return result


def _finish(module: Module, source: Module, lost: Diagnostics) -> None:
    """Finishes the functions of a legalized module, and gives it the entry and the attributes of its source."""
    for function in _functions(module):
        finish(function, lost)
    module.entry = source.entry
    module.update_extra(source.extra)


def _functions(module: Module) -> Sequence[Func]:
    return [op for op in module.body.operations if isinstance(op, Func)]


def _replaced(source: Module, version: str) -> Iterator[Diagnostic]:
    """Yields a note for the operations of each name that the operation set lacks; weights are reported elsewhere."""
    operations = [op for op in source.nested() if isinstance(op, MilOp) and not isinstance(op, Constexpr)]
    for name, count in Counter(op.name for op in operations if DIALECT.find(op.name, version) is None).items():
        since = systems_text(DIALECT.operations[name][0].since)
        message = f"{name} needs {since}: {count:,} of them are expressed by operations of {systems_text(version)}"
        yield Diagnostic(CHANGED_IN_CONVERSION, message)


def _within(module: Module, options: ConversionOptions, lost: Diagnostics) -> Module | None:
    version = version_of(options)
    functions = module.functions.values()
    if options.states or not all(isinstance(f, Func) for f in functions):
        return None
    imaged = _with_images(module, options.images)
    result = imaged if version is None else _for_version(imaged, version, lost)
    return result if result is None else _described(result, options)


def _with_images(module: Module, images: Mapping[str, ImageInput]) -> Module:
    """Returns a module in which some inputs and outputs are images. Raises: DiagnosticError (E0601, E0702)."""
    if not images:
        return module
    source = _specialized(module)
    all_layouts = put_images(_functions(source), images)
    borders: dict[str, Border] = {}
    for function, layouts in zip(_functions(source), all_layouts, strict=True):
        names = [v.name for v in function.inputs], list(function.output_names)
        ports = [
            dict(zip(each, with_colors(each, old, images, of_side), strict=True))
            for each, old, of_side in zip(names, (function.input_ports, function.output_ports), layouts, strict=True)
        ]
        borders[function.sym_name] = Border(ports[0], ports[1], {})
    versions = [f.opset for f in _functions(source)]
    result = legalize(source, _RULES, Dialects(), target_of(max(versions, key=VERSIONS.index)))
    _finish(result, module, Diagnostics())
    return _described_again(result, borders)


def _for_version(module: Module, version: str, lost: Diagnostics) -> Module | None:
    if all(f.opset == version for f in _functions(module)):
        return module
    refuse_features(module, version)
    notes = Diagnostics()
    has_halves = VERSIONS.index(version) >= VERSIONS.index(HALVES.since) or HALVES not in features_of(module)
    source = module if has_halves else _with_single_interface(module, notes)
    try:
        result = in_version(source, version, notes)
        if not has_halves:
            result = _described_again(result, {f.sym_name: _border(f) for f in _functions(source)})
    except DiagnosticError:
        # By way of the core, elements get types that the operation set has.
        return None
    lost.extend(notes)
    return result


def _with_single_interface(module: Module, lost: Diagnostics) -> Module:
    """Returns a module whose inputs and outputs of f16 are of f32, and are cast."""
    result = _specialized(module)
    for function in _functions(result):
        body, last = function.body, function.body.last
        first = body.first
        assert first is not None, "a function ends with its outputs"
        assert last is not None, "a function ends with its outputs"
        cast = DIALECT.find(Cast.name, function.opset) or Cast
        for v in function.inputs:
            if isinstance(v.type, TensorType) and v.type.element is f16:
                _report_element(function, "input", v.name, lost)
                users = Value(v.type)
                v.replace_all_uses_with(users)
                v.retype(v.type.with_element(f32))
                half = body.insert_before(first, cast(v, DataType.FP16)).results[0]
                half.name = f"{v.name}_to_fp16"
                users.replace_all_uses_with(half)
        outputs: list[Value] = []
        for name, v in zip(function.output_names, function.outputs, strict=True):
            is_half = isinstance(v.type, TensorType) and v.type.element is f16
            if is_half:
                _report_element(function, "output", name, lost)
            outputs.append(body.insert_before(last, cast(v, DataType.FP32)).results[0] if is_half else v)
        last.operands = tuple(outputs)
    return result


def _report_element(function: Func, what: str, name: str, lost: Diagnostics) -> None:
    lost.add(CHANGED_IN_CONVERSION, f"the {what} '{name}' of '{function.sym_name}' changes from f16 to f32")


def _border(function: Func) -> Border:
    return Border(function.input_ports, function.output_ports, {})


def _described(module: Module, options: ConversionOptions) -> Module:
    """Returns a module with the labels and descriptions that users chose; it need not be a copy.

    Raises: DiagnosticError (E0401, E0601).
    """
    if not options.labels and not options.docs:
        return module
    result = clone(module)
    borders: dict[str, Border] = {}
    for function in _functions(result):
        inputs, outputs = described_ports(function, options.labels, options.docs, {})
        borders[function.sym_name] = Border(inputs, outputs, {})
        before = function.output_ports
        for name, port in outputs.items():
            if port.labels and not before.get(name, NO_PORT).labels:
                put_labels(function, Labels(port.labels, LABEL, name))
                finish(function, Diagnostics())
    return _described_again(result, borders)


def _described_again(module: Module, borders: Mapping[str, Border]) -> Module:
    """Returns the module with the description of its new inputs and outputs.

    Raises: DiagnosticError (E0601) for an input that cannot be described.
    """
    version = max((f.opset for f in _functions(module)), key=VERSIONS.index)
    known = description_of(module)
    diagnostics = Diagnostics()
    describe(module, version, borders, diagnostics)
    diagnostics.raise_errors()
    if known is not None:
        set_specification_version(module, max(known.specification_version, SPECIFICATION_VERSIONS[version]))
    return module


def _selected(module: Module, name: str) -> Module | None:
    """Returns a module of one function, which keeps all its operations. Raises: DiagnosticError (E0706)."""
    chosen = module.function(name)
    if not all(isinstance(f, Func) for f in module.functions.values()):
        return None
    result = clone(module, keep=lambda op: not isinstance(op, Func) or op is chosen)
    (only,) = _functions(result)
    replace_function(only, only.with_attributes(sym_name=MAIN))
    result.entry = ""
    describe_only(result, name)
    return result


def _kept(module: Module, options: ConversionOptions) -> ConversionOptions:
    """Returns options with the operation set that a module has, where users chose no system."""
    versions = [op.opset for op in module.nested() if isinstance(op, Func) and op.opset in VERSIONS]
    if options.target is not None or not versions:
        return options
    return options.replaced(target=max(versions, key=VERSIONS.index))


# -- half precision


class _Forms(FloatForms):
    """Casts and constants of an operation set."""

    def __init__(self, version: str) -> None:
        self.version = version

    def cast(self, value: Value, element: ElementType) -> Op:
        definition = DIALECT.find(Cast.name, self.version) or Cast
        return definition(value, DataType.FP16 if element is f16 else DataType.FP32)

    def is_cast(self, op: Operation) -> bool:
        return op.name == Cast.name

    def constant(self, like: Op, data: Data) -> Op:
        return (Literal if isinstance(like, Literal) else Const)(data)

    def is_compressed(self, op: Operation) -> bool:
        return isinstance(op, Constexpr)


def _halved(module: Module, keep: Sequence[str], log: PrecisionLog) -> Module | None:
    if not all(isinstance(f, Func) for f in module.functions.values()):
        return None
    result = _specialized(module)
    kept = operations_to_keep(result, keep)
    for function in _functions(result):
        in_half_precision_of_dialect(function, _Forms(function.opset), kept, log)
        finish(function, Diagnostics())
    return result


def _beside(module: Module, operation_set: str) -> Module:
    return core_to_mil(module, ConversionOptions(target=operation_set), is_part=True)


CONVERSION = Conversion(
    "coreml",
    core_to_mil,
    _within,
    _halved,
    _selected,
    _kept,
    takes=PORT_OPTIONS | {"target", "images"},
    beside=_beside,
)
