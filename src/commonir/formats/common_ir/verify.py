"""Checks of a Common IR file beyond the definitions of its operations. Changes nothing.

Rules that only files show: what programs made in memory need not have, such as names, and what is inferred where a file
says nothing. Rules of ONNX for what both formats have (`formats/onnx/verify.py`) hold here too: M1, M3 and G9.
Source: Common IR specification; ONNX IR specification.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from commonir.base.diagnostics import Diagnostic
from commonir.base.file_codes import UNRESOLVED_IMPORT
from commonir.base.suggestions import did_you_mean
from commonir.dialects import common_ir, onnx
from commonir.dialects.common_ir import checks, rules
from commonir.formats.onnx import unknown_fields
from commonir.formats.onnx.verify import check_ir_version, check_opsets, located
from commonir.ir.attributes import DataAttr, DictionaryAttr, IntegerAttr
from commonir.ir.data import Data
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import string, unknown
from commonir.ods import Dialects, Op, path_of

_TYPE = "type"
"""The field of a message about a value that states its type."""


def verify_file(module: Module, dialects: Dialects) -> Iterator[Diagnostic]:
    """Everything in the module of a file that the format does not allow, in order."""
    declared = module.extra.get(onnx.IR_VERSION)
    if isinstance(declared, IntegerAttr):
        yield from check_ir_version(declared.value)
    for op in module.nested():
        yield from located(op, _misencoded(op))
        match op:
            case common_ir.Import():
                yield from _unknown_dialect(op, dialects)
            case common_ir.Graph():
                yield from _opsets(op.opset_import, f"{onnx.GRAPH}.")
                yield from located(op, _untyped_outputs(op, op.outputs))
                yield from located(op, _unnamed_outputs(op.body))
            case onnx.Return():
                yield from located(op.parent_op or op, _nested_graph(op))
            case common_ir.FunctionDefinition():
                yield from _opsets(op.opset_import, f"{path_of(op)}.")
                yield from located(op, _unnamed_outputs(op.body))
            case common_ir.Library():
                yield from check_ir_version(op.ir_version or 0, f"{op.symbol_name}.")
                yield from _opsets(op.opset_import, f"{op.symbol_name}.")
            case onnx.Initializer():
                yield from located(op, _unnamed_initializer(op.output))
            case onnx.SparseInitializer():
                yield from located(op, _unnamed_initializer(op.output))
                yield from located(op, op.misplaced())
            case _:
                pass


def _misencoded(op: Operation) -> Iterator[Diagnostic]:
    """Whether the strings in the attributes and constants of an operation are UTF-8."""
    for value in op.attribute_values if isinstance(op, Op) else ():
        data = value.data if isinstance(value, DataAttr) else value
        match data:
            case str():
                texts: Sequence[object] = (data,)
            case Data(element=element) if element is string:
                texts = data.values()
            case tuple():
                texts = [v for v in data if isinstance(v, str)]  # pyright: ignore[reportUnknownVariableType]  of anything
            case _:
                continue
        if not all(map(_is_utf8, texts)):
            yield rules.UTF8.broken("a string is not UTF-8")


def _is_utf8(text: object) -> bool:
    """Returns whether a string has no bytes that it was read with as they are."""
    return isinstance(text, str) and not any("\udc80" <= c <= "\udcff" for c in text)


def calls_into_libraries_missing(module: Module) -> Iterator[Operation]:
    """Nodes that call something by the name of a library that the module does not have."""
    known = {op.symbol_name for op in module.body.operations if isinstance(op, common_ir.Library)}
    for op in module.nested():
        if isinstance(op, onnx.Custom):
            library = f"{op.domain}.{op.op_type}".strip(".").rpartition(".")[0]
            if library and library not in known:
                yield op


def _unknown_dialect(op: common_ir.Import, dialects: Dialects) -> Iterator[Diagnostic]:
    """Whether an import that stands for a dialect names one that there is."""
    if op.uri.startswith(common_ir.BUILT_IN):
        name = op.uri.removeprefix(common_ir.BUILT_IN)
        if dialects.get(name) is None:
            text = f"the library '{op.uri}' is not found: no dialect is called '{name}'"
            yield Diagnostic(UNRESOLVED_IMPORT, text, help=did_you_mean(name, dialects.names()))


def _opsets(attributes: DictionaryAttr, prefix: str) -> Iterator[Diagnostic]:
    return check_opsets({domain: v.value for domain, v in attributes.entries if isinstance(v, IntegerAttr)}, prefix)


def _unnamed_initializer(value: Value) -> Iterator[Diagnostic]:
    if not value.name:
        yield rules.IDENTIFIERS.broken("an initializer has no name")


def _unnamed_outputs(block: Block) -> Iterator[Diagnostic]:
    """Nodes of which the file names no output, though their operators have some."""
    for n, op in enumerate(checks.nodes_of(block)):
        if op.results and not any(v.name for v in op.results):
            yield rules.HAS_OUTPUT.broken(f"a node of {op.name} has no output", where=checks.place_of(op, n))


def _nested_graph(end: onnx.Return) -> Iterator[Diagnostic]:
    """Yields the missing names and types of a graph in an attribute; `end` is the end of any graph."""
    if unknown_fields.UNNAMED in end.extra:
        yield rules.NAMED.broken("a nested graph has no name")
    yield from _untyped_outputs(end, end.outputs)


def _untyped_outputs(holder: Operation, outputs: Sequence[Value]) -> Iterator[Diagnostic]:
    """Outputs of which the file states no type, though one follows from the nodes; `holder` has what it states."""
    forms = holder.extra.get(unknown_fields.TYPE_FORMS)
    declared = dict(forms.entries) if isinstance(forms, DictionaryAttr) else {}
    for v in outputs:
        form = declared.get(f"output {v.name}")
        if v.type is not unknown and isinstance(form, DictionaryAttr) and _TYPE not in dict(form.entries):
            yield rules.TYPED_OUTPUTS.broken(f"output '{v.name}' has no type")
