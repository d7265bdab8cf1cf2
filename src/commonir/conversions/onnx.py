"""Conversions to ONNX: from the core, and from one version of the operator set to another, newer or older.

An operator stays what it is where the other version has it with the same meaning: as the definition that states both
versions, or, proven by references, as another one whose attributes were operands or the other way round. What has no
such counterpart is expressed by other operators of the version: its reference is expanded, and legalized from the core.
Source: ONNX operator reference, versions of the operator sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.conversions import axes_by_cases, successors
from commonir.conversions.axes_from_start import count_axes_from_start
from commonir.conversions.common_ir_to_onnx import common_ir_to_onnx
from commonir.conversions.conversion import PORT_OPTIONS, Conversion, ConversionOptions
from commonir.conversions.core_to_onnx import RULES, convert, core_to_onnx, port_texts
from commonir.conversions.core_to_onnx.building import opset_of
from commonir.conversions.core_to_onnx.legal_types import uses_illegal_types
from commonir.conversions.counterparts import counterpart_of
from commonir.conversions.model_fields import keep_model_fields
from commonir.conversions.operands import element_of
from commonir.dialects import core, onnx
from commonir.ir.attributes import DictionaryAttr, IntegerAttr
from commonir.ir.cloning import clone
from commonir.ir.data import Data
from commonir.ir.interface import metadata_of, set_metadata
from commonir.ir.module import Module, replace_function
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import ElementType
from commonir.ods import Dialects, Form, Op
from commonir.ods.patterns import version_number
from commonir.passes.describe_ports import described_ports
from commonir.passes.half_precision import PrecisionLog, operations_to_keep
from commonir.passes.half_precision_in_dialect import FloatForms, in_half_precision_of_dialect
from commonir.passes.infer_shapes import infer_shapes
from commonir.passes.node_names import number_nodes
from commonir.passes.output_dims import declared_outputs, restore_output_names
from commonir.rewrite.attempts import discard
from commonir.rewrite.legalize import Context, Mismatch, Result, Rules, Target, legalize, rule

# Versions of the IR from which on functions have defaults of attributes, and overloads.
_FUNCTION_DEFAULTS, _OVERLOADS = 9, 10
_MODULO_OF_FLOATS = 28


def in_opset(module: Module, opset: int) -> Module:
    """A module of the onnx dialect with the operators of another version of the default operator set.

    Raises: DiagnosticError (E0601) with every operator that the version cannot express.
    """
    if not onnx.OLDEST_OPSET <= opset <= onnx.NEWEST_OPSET:
        help = f"choose one from {onnx.OLDEST_OPSET} to {onnx.NEWEST_OPSET}"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, f"opset {opset} cannot be written", help=help))
    source = clone(module)
    infer_shapes(source)
    target = Target("onnx", onnx.version_of(opset), illegal=_removed(source, opset))
    result = legalize(source, _RULES, Dialects(), target)
    result.entry = module.entry
    _remove_forgotten(source, result)
    _keep_outputs(source, result, onnx.DIALECT.find(onnx.Identity.name, onnx.version_of(opset)) or onnx.Identity)
    count_axes_from_start(result, opset)
    result.update_extra(module.extra)
    for op in list(result.body.operations):
        if isinstance(op, onnx.Graph | onnx.LocalFunction):
            number_nodes(op.body)
            replace_function(op, op.with_attributes(opset_import=_imports(op.opset_import, opset)))
    result.set_extra(onnx.IR_VERSION, IntegerAttr(_ir_version(result, opset)))
    restore_output_names(result, declared_outputs(module))
    return result


def _removed(module: Module, opset: int) -> frozenset[str]:
    """The operators of a module that runtimes do not have in a version."""
    used = [op for op in module.nested() if isinstance(op, onnx.OnnxOp) and op.removed_in]
    return frozenset([op.name for op in used if version_number(op.removed_in) <= opset])


def _remove_forgotten(source: Module, module: Module) -> None:
    """Removes constants that something used before and nothing does now, since the version may not have their types,
    and what was built for rules that did not apply.
    """
    used = {op.output.name for op in source.nested() if isinstance(op, onnx.Initializer) and op.output.is_used}
    for op in reversed(list(module.nested())):
        # Rules that did not apply leave users without a place.
        discard([user for r in op.results for user in r.users if user.parent is None])
        if any(r.is_used for r in op.results):
            continue
        is_built = isinstance(op, onnx.OnnxOp) and bool(op.results) and not any(r.name for r in op.results)
        if (isinstance(op, onnx.Initializer) and (not op.output.name or op.output.name in used)) or is_built:
            op.erase()


def _keep_outputs(source: Module, module: Module, identity: type[Op]) -> None:
    """Copies outputs whose operator has become its operand: each has its name in the source, and is computed in its
    graph.
    """
    functions = [
        [op for op in m.body.operations if isinstance(op, onnx.Graph | onnx.LocalFunction)] for m in (source, module)
    ]
    for before, after in zip(*functions, strict=True):
        _copy_outputs(after.body, before.outputs, identity)
    received = {v.name for block in _nested_graphs(source) for v in _received_outputs(block)}
    for block in _nested_graphs(module):
        new = {v for v in _received_outputs(block) if v.name not in received}
        if new and block.last is not None:
            _copy_outputs(block, [Value(v.type) if v in new else v for v in block.last.operands], identity)


def _copy_outputs(block: Block, sources: Sequence[Value], identity: type[Op]) -> None:
    """Copies outputs of a graph that have another name than their sources, or are an output already."""
    last, outputs = block.last, list[Value]()
    if last is None:
        return
    for v, source in zip(last.operands, sources, strict=True):
        output = v
        if v.name != source.name or v in outputs:
            try:
                copy = identity(v)
            except DiagnosticError:
                # Older versions copy no lists, so that such an output has the name of its source.
                outputs.append(v)
                continue
            copy.location = source.owner.location if isinstance(source.owner, Operation) else None
            output = block.insert_before(last, copy).results[0]
            output.name = source.name
        outputs.append(output)
    last.operands = tuple(outputs)


def _nested_graphs(module: Module) -> Iterator[Block]:
    for op in module.nested():
        if isinstance(op, onnx.OnnxOp):
            yield from (block for region in op.regions for block in region.blocks)


def _received_outputs(block: Block) -> list[Value]:
    """The outputs of a graph that no operator in it computes."""
    outputs = () if block.last is None else block.last.operands
    return [v for v in outputs if not isinstance(v.owner, Operation) or v.owner.parent is not block]


def _ir_version(module: Module, opset: int) -> int:
    """The oldest version of the IR that has what a module uses, so that runtimes of the opset's time read it."""
    functions = [op for op in module.body.operations if isinstance(op, onnx.LocalFunction)]
    needed = [onnx.FREE_INITIALIZERS, onnx.ir_version_of(opset)]
    needed += [_OVERLOADS if f.overload else _FUNCTION_DEFAULTS for f in functions]
    return max(needed)


def _imports(before: DictionaryAttr, opset: int) -> DictionaryAttr:
    versions = [(d, IntegerAttr(opset) if d in ("", "ai.onnx") else v) for d, v in before.entries]
    return DictionaryAttr(tuple(versions))


@rule(onnx.OnnxOp)
def counterpart(op: onnx.OnnxOp, context: Context, *operands: Value | tuple[Value, ...] | None) -> Result:
    """The operator of the same name in the version, where it has the same meaning."""
    definition = onnx.DIALECT.find(op.name, context.target.version)
    if op.name in context.target.illegal:
        return Mismatch(f"{op.name} is gone in {context.target}")
    if definition is None:
        return Mismatch(f"{op.name} came with {onnx.DIALECT.operations[op.name][0].since}")
    if onnx.is_deprecated(definition):
        return Mismatch(f"{op.name} is deprecated in {context.target}")
    result = counterpart_of(op, definition, context, operands)
    if isinstance(result, Mismatch):
        return result
    count = len(definition.layout.results)
    has_same_fields = len(op.layout.inputs) == len(definition.layout.inputs) and len(op.layout.results) == count
    for key, value in op.extra.items():
        # Empty names at the end of inputs stand for those that another version may not have.
        if has_same_fields or key != onnx.TRAILING_NAMES:
            result.set_extra(key, value)
    return result


@rule(onnx.Mod)
def modulo_of_floats(op: onnx.Mod, context: Context, a: Value, b: Value) -> Result:
    """Runtimes of versions before 28 take floats with `fmod` only."""
    if op.fmod or not element_of(a).is_float or opset_of(context) >= _MODULO_OF_FLOATS:
        return Mismatch("this is the remainder, or of integers")
    return core.mod(a, b)


_RULES = Rules([*RULES.all(), modulo_of_floats, counterpart, *Rules.members(vars(axes_by_cases), vars(successors))])


def _within(module: Module, options: ConversionOptions, lost: Diagnostics) -> Module | None:
    del lost
    module = _described(module, options)
    if options.opset is None:
        return module
    try:
        built = in_opset(module, options.opset)
    except DiagnosticError:
        if _gains_in_core(module, options.opset):
            return None
        raise
    return None if uses_illegal_types(built, options.opset) else built


def _gains_in_core(module: Module, opset: int) -> bool:
    """Whether a module that the version cannot express may be expressed by way of the core.

    There, elements get wider types, functions are inlined, so that their attributes are known, and an operator with
    nested graphs becomes what it is made of.
    """
    version = onnx.version_of(opset)
    if any(isinstance(op, onnx.Call) for op in module.nested()):
        return True
    missing = [op for op in module.nested() if isinstance(op, onnx.OnnxOp) and op.regions]
    definitions = [(op, onnx.DIALECT.find(op.name, version)) for op in missing if op.form is Form.COMPOSITE]
    is_new = any(d is None or type(op).newest() is not d.newest() for op, d in definitions)
    return is_new or uses_illegal_types(module, opset)


def _described(module: Module, options: ConversionOptions) -> Module:
    """Returns a module with the labels and descriptions that users chose as metadata; it need not be a copy."""
    if not options.labels and not options.docs and not options.states:
        return module
    inputs, outputs = described_ports(module.main, options.labels, options.docs, options.states)
    result = clone(module)
    about = metadata_of(result)
    entries = dict(about.user_defined) | port_texts({**inputs, **outputs})
    set_metadata(result, about._replace(user_defined=tuple(entries.items())))
    return result


class _Forms(FloatForms):
    """Casts and constants of an operator set."""

    def __init__(self, version: str) -> None:
        self.version = version

    def cast(self, value: Value, element: ElementType) -> Op:
        definition = onnx.DIALECT.find(onnx.Cast.name, self.version) or onnx.Cast
        return definition(value, to=element)

    def is_cast(self, op: Operation) -> bool:
        return op.name == onnx.Cast.name

    def constant(self, like: Op, data: Data) -> Op:
        if isinstance(like, onnx.Initializer):
            return onnx.Initializer(data)
        definition = onnx.DIALECT.find(onnx.Constant.name, self.version) or onnx.Constant
        return definition(value=data)

    def is_compressed(self, op: Operation) -> bool:
        del op
        return False


def _halved(module: Module, keep: Sequence[str], log: PrecisionLog) -> Module | None:
    result = clone(module)
    infer_shapes(result)
    kept = operations_to_keep(result, keep)
    for graph in result.functions.values():
        if isinstance(graph, onnx.Graph):
            version = graph.operation_set
            in_half_precision_of_dialect(graph, _Forms(version), kept, log)
    restore_output_names(result, declared_outputs(module))
    return result


def _beside(module: Module, operation_set: str) -> Module:
    return core_to_onnx(module, version_number(operation_set))


CONVERSION = Conversion(
    "onnx",
    convert,
    _within,
    _halved,
    direct=common_ir_to_onnx,
    describe=keep_model_fields,
    takes=PORT_OPTIONS | {"opset"},
    keeps_defaults=True,
    beside=_beside,
)
