"""Checks of an ONNX model beyond the definitions of its operators. Changes nothing.

Rules are labelled: M of the model, G of graphs, F of local functions, S of sharding (`sharding.py`).

M1. The model states a version of the IR, and one that is known.
M2. It states versions of the operator sets that its nodes use, and of one operator set at least.
M3. Operator sets are of versions that are known.
G1. Graphs have a name.
G2. Inputs and outputs of the graph have names and types.
G3. Operators of the domains of the format exist in the version of their operator set, and are not deprecated there.
G4. Names of nodes are unique (advice).
G5. A node output in a nested graph has no name that is visible around it (advice).
G6. Sizes of different names are not needed to be equal (advice).
G7. A constant that an input has by default is of its type.
G8. Quantization annotations name values of the graph.
G9. Places of sparse constants are in order, inside of the shape, and as many as its elements.
G10. Sizes that are stated as numbers follow from the operators as numbers (advice).
G11. Initializers are used (note).
G12. Types are stated of values that a graph has (note).
G13. Attributes state their kind (advice).
G14. A tensor has its contents in one place.
G15. A node has inputs or outputs.
F1. Functions are called (advice).
F2. A function states the versions of the operator sets that it uses.

Source: ONNX IR specification.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count

from commonir.base.codes import UNDEFINED_VALUE, UNKNOWN_OPERATION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Fix
from commonir.base.file_codes import (
    MALFORMED_PROGRAM,
    MALFORMED_TYPE,
    NEWER_FORMAT,
    QUESTIONABLE_MODEL,
    UNCHECKED_OPERATOR,
)
from commonir.base.suggestions import did_you_mean
from commonir.dialects import onnx
from commonir.dialects.onnx.misfits import definition_of, misfits
from commonir.formats.onnx import leftovers, unknown_fields
from commonir.formats.onnx.opset_imports import Use, is_default_domain, only_version, use_of
from commonir.formats.onnx.sharding import check_sharding
from commonir.ir.attributes import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr
from commonir.ir.module import Module, replace_function
from commonir.ir.operation import Operation, Value
from commonir.ir.origins import Location
from commonir.ir.types import TensorType, unknown
from commonir.notation import NotationError
from commonir.ods import Op, path_of
from commonir.ods.inference import infer
from commonir.symbolic import DimExpr

NEWEST_IR_VERSION = 14
_FIRST_IR_WITH_OPERATOR_SETS = 3
_GRAPH_NAME = "main"

Holder = onnx.Graph | onnx.LocalFunction
_NODES = (onnx.OnnxOp, onnx.Custom, onnx.Call)


def verify_model(module: Module) -> list[Diagnostic]:
    """Everything in a module that the format does not allow, in order."""
    graphs = [op for op in module.body.operations if isinstance(op, onnx.Graph)]
    functions = [op for op in module.body.operations if isinstance(op, onnx.LocalFunction)]
    result = list(_check_versions(module))
    result += _check_empty_imports(module, graphs)
    domains = {f.domain for f in functions}
    for holder in (*graphs, *functions):
        result += _check_holder(holder, domains)
    result += _check_functions(module, functions)
    result += check_sharding(module)
    return result


def located(op: Operation, diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yields diagnostics of an operation, with its path."""
    for d in diagnostics:  # most operations have none, and paths are slow to compute
        yield d.located(where=path_of(op))


def _check_versions(module: Module) -> Iterator[Diagnostic]:
    declared = module.extra.get(onnx.IR_VERSION)
    if declared is None:
        return  # the writer states it
    version = declared.value if isinstance(declared, IntegerAttr) else 0
    if version < 1:
        fix = Fix("stated the oldest version of the IR that has the operator sets", lambda: _unstate(module))
        yield Diagnostic(MALFORMED_PROGRAM, "M1: the model states no version of the IR", where="ir_version", fix=fix)
    else:
        yield from check_ir_version(version)


def _check_empty_imports(module: Module, graphs: Iterable[onnx.Graph]) -> Iterator[Diagnostic]:
    """Yields an error for a graph that states no operator set at all; where it has nodes, they have the error."""
    declared = module.extra.get(onnx.IR_VERSION)
    if not isinstance(declared, IntegerAttr) or declared.value < _FIRST_IR_WITH_OPERATOR_SETS:
        return
    for graph in graphs:
        if not graph.opset_import.entries and not any(isinstance(op, _NODES) for op in graph.body.operations):
            known = range(1, onnx.newest_version("") + 1)
            version = max([v for v in known if onnx.ir_version_of(v) <= declared.value])
            fix = _stating(graph, "", version)
            yield Diagnostic(MALFORMED_PROGRAM, "M2: no operator set is stated", where="opset_import", fix=fix)


def _stating(holder: Holder, domain: str, version: int) -> Fix:
    """Returns the fix that states the version of an operator set."""
    text = f"stated version {version} of the operator set '{domain or 'ai.onnx'}'"
    imports = DictionaryAttr((*holder.opset_import.entries, (domain, IntegerAttr(version))))
    return Fix(text, partial(_replace, holder, opset_import=imports), holder)


def _unstate(module: Module) -> None:
    """Leaves the version of the IR to the writer."""
    module.set_extra(onnx.IR_VERSION, None)


def check_ir_version(version: int, prefix: str = "") -> Iterator[Diagnostic]:
    """Yields an error for a version of the IR that is newer than those that are known."""
    if version > NEWEST_IR_VERSION:
        text = f"M1: IR version {version} is not known yet: {NEWEST_IR_VERSION} is the newest"
        yield Diagnostic(NEWER_FORMAT, text, where=f"{prefix}ir_version")


def _check_holder(holder: Holder, domains: set[str]) -> Iterator[Diagnostic]:
    place = holder.own_path
    opsets = {d: v.value for d, v in holder.opset_import.entries if isinstance(v, IntegerAttr)}
    yield from check_opsets(opsets, "" if isinstance(holder, onnx.Graph) else f"{place}.")
    if isinstance(holder, onnx.Graph):
        yield from _check_interface(holder, place)
    yield from _check_annotations(holder, place)
    yield from _check_leftovers(holder, place)
    has_nested = any(op.regions for op in holder.body.operations)
    visible = {v.name: v for v in holder.inputs if v.name}
    checks = _NodeChecks(holder, opsets, domains)
    names: dict[str, int] = {}
    for op in holder.walk_list():
        if op is holder:
            continue
        if isinstance(op, onnx.SparseInitializer):
            yield from located(op, op.misplaced())
        if op.extra:
            yield from located(op, leftovers.tensors_with_second_contents(op))
        if isinstance(op, _NODES):
            yield from located(op, checks.check(op))
            yield from located(op, leftovers.untyped_attributes(op))
            name = op.source_name
            if name in names:
                text = f"G4: another node has the name '{name}'"
                fix = Fix(f"renamed the second node '{name}'", partial(_rename_node, op, name, names))
                yield Diagnostic(QUESTIONABLE_MODEL, text, where=path_of(op), fix=fix)
            elif name:
                names[name] = 0
        if has_nested:
            yield from _check_hiding(op, holder, visible)


def _check_leftovers(holder: Holder, place: str) -> Iterator[Diagnostic]:
    for name, fields in unknown_fields.stored(holder, unknown_fields.DEFAULT_FIELDS).items():
        if isinstance(fields, DictionaryAttr):
            for d in leftovers.second_contents(dict(fields.entries)):
                yield d.located(where=f"{place}.initializer '{name}'")
    referred = holder.referred_names
    for end in holder.walk_list():
        if isinstance(end, onnx.Return) and end.parent is not None:
            is_outer = end.parent is holder.body
            found = [
                *leftovers.unused_constants(end.parent, referred),
                *leftovers.types_of_nothing(holder if is_outer else end, end.parent),
            ]
            where = place if is_outer or not found else path_of(end.parent_op or end)
            for d in found:
                yield d.located(where=where)


def check_opsets(opsets: Mapping[str, int], prefix: str) -> Iterator[Diagnostic]:
    """Versions of operator sets by domain; `prefix` begins the place of findings."""
    where = f"{prefix}opset_import"
    for domain, version in opsets.items():
        name = onnx.operation_name(domain, "")
        if name is None:
            continue
        newest = onnx.newest_version(domain)
        if version < 1:
            yield Diagnostic(MALFORMED_PROGRAM, f"M3: operator sets are counted from 1, found {version}", where=where)
        elif version > newest:
            text = f"M3: version {version} of '{domain or 'ai.onnx'}' is not known yet: {newest} is the newest"
            yield Diagnostic(NEWER_FORMAT, text, where=where)


def _check_interface(graph: onnx.Graph, place: str) -> Iterator[Diagnostic]:
    if not graph.sym_name:
        fix = Fix(f"named the graph '{_GRAPH_NAME}'", partial(_name_graph, graph))
        yield Diagnostic(MALFORMED_PROGRAM, "G1: the graph has no name", where=place, fix=fix)
    for part, values in (("input", graph.inputs), ("output", graph.outputs)):
        for n, v in enumerate(values):
            if not v.name and part == "input":
                help = "give it a name, by which runtimes are given its value"
                yield Diagnostic(MALFORMED_PROGRAM, "G2: an input has no name", where=f"{place}.input[{n}]", help=help)
            if v.type is unknown:
                text = f"G2: the type of '{v.name}' is not stated"
                yield Diagnostic(MALFORMED_TYPE, text, where=f"{place}.{part} '{v.name}'")


class _NodeChecks:
    """The checks of the nodes of a graph or function. A fix or suggestion that many nodes need is computed once."""

    def __init__(self, holder: Holder, opsets: Mapping[str, int], domains: set[str]) -> None:
        self._holder = holder
        self._opsets = opsets
        self._domains = domains
        self._label = "M2" if isinstance(holder, onnx.Graph) else "F2"
        self._uses: dict[str, list[Use]] | None = None
        self._fixes: dict[str, Fix | None] = {}
        self._suggestions: dict[str, str | None] = {}

    def check(self, op: Op) -> Iterator[Diagnostic]:
        """Yields what is wrong with a node beyond its definition."""
        domain = op.domain if isinstance(op, onnx.Custom) else onnx.operator_of(op.name)[0]
        if isinstance(op, onnx.Call):
            domain = op.callee.domain if op.callee is not None else ""
        opsets = self._opsets
        is_stated = domain in opsets or (is_default_domain(domain) and any(map(is_default_domain, opsets)))
        if not is_stated:
            text = f"{self._label}: no version of the operator set '{domain or 'ai.onnx'}' is stated"
            yield Diagnostic(MALFORMED_PROGRAM, text, fix=self._stating(domain))
        if op.name.startswith(onnx.added_name("")):
            text = f"G3: '{onnx.operator_of(op.name)[1]}' is an operator of onnxruntime, not of this version of ONNX"
            yield Diagnostic(QUESTIONABLE_MODEL, text)
        if not op.operands and onnx.UNNAMED_RESULTS in op.extra and not any(v.name for v in op.results):
            yield Diagnostic(MALFORMED_PROGRAM, "G15: the node has neither inputs nor outputs", help="remove it")
        if isinstance(op, onnx.Custom):
            yield from self._check_custom(op)
        elif isinstance(op, onnx.OnnxOp):
            if onnx.is_deprecated(type(op)):
                text = f"G3: '{onnx.operator_of(op.name)[1]}' may not be used from {op.deprecated_since} on"
                yield Diagnostic(UNKNOWN_OPERATION, text, help=f"use {op.successor}, or an older operator set")
            yield from _check_sizes(op)

    def _stating(self, domain: str) -> Fix | None:
        """Returns the fix that states the version of an operator set, where the operators can have one meaning only."""
        if domain not in self._fixes:
            root = self._holder.parent_op
            declared = root.extra.get(onnx.IR_VERSION) if root is not None else None
            ir_version = declared.value if isinstance(declared, IntegerAttr) else 0
            uses = self._uses_of(domain)
            version = only_version(domain, uses, ir_version) if uses else None
            self._fixes[domain] = None if version is None else _stating(self._holder, domain, version)
        return self._fixes[domain]

    def _uses_of(self, domain: str) -> Sequence[Use]:
        if self._uses is None:
            self._uses = {}
            for op in self._holder.walk_list():
                if isinstance(op, onnx.OnnxOp):
                    own = onnx.operator_of(op.name)[0]
                    self._uses.setdefault("" if is_default_domain(own) else own, []).append(use_of(op))
        return self._uses.get("" if is_default_domain(domain) else domain, ())

    def _check_custom(self, op: onnx.Custom) -> Iterator[Diagnostic]:
        name = onnx.operation_name(op.domain, op.op_type)
        shown = op.undefined_operator
        definition = definition_of(op, self._opsets)
        if definition is not None:
            yield from misfits(op, definition)
            return
        if name is None:
            if op.domain in self._domains:
                yield Diagnostic(UNKNOWN_OPERATION, f"G3: the model has no function '{shown}'")
            else:
                yield Diagnostic(UNCHECKED_OPERATOR, f"no definition of '{shown}' is known")
            return
        known = onnx.DIALECT.operations
        version = self._opsets.get(op.domain, self._opsets.get("", 0))
        if name not in known and op.domain in onnx.PARTLY_DEFINED:
            yield Diagnostic(UNCHECKED_OPERATOR, f"no definition of '{shown}' is known")
        elif name not in known:
            if name not in self._suggestions:
                self._suggestions[name] = did_you_mean(name, known)
            help = self._suggestions[name]
            yield Diagnostic(UNKNOWN_OPERATION, f"G3: there is no operator '{shown}'", help=help)
        else:
            since = onnx.first_version(name)
            if since <= onnx.OLDEST_OPSET:
                text = f"no definition of '{shown}' in version {version} is known: {since} is the oldest"
                yield Diagnostic(UNCHECKED_OPERATOR, text)
                return
            text = f"G3: '{shown}' is not in version {version} of its operator set"
            yield Diagnostic(UNKNOWN_OPERATION, text, notes=(f"it came with version {since}",) if since else ())


def _name_graph(graph: onnx.Graph) -> None:
    fields = unknown_fields.stored(graph, unknown_fields.FIELDS)
    fields.pop("name", None)
    graph.set_extra(unknown_fields.FIELDS, DictionaryAttr(tuple(fields.items())) if fields else None)
    graph.set_extra(unknown_fields.UNNAMED, None)
    _replace(graph, sym_name=_GRAPH_NAME)


def _replace(holder: Holder, **changes: object) -> None:
    """Changes attributes of a graph or function, unless another fix has replaced it."""
    if holder.parent is not None:
        replace_function(holder, holder.with_attributes(**changes))


def _rename_node(op: Operation, name: str, names: dict[str, int]) -> None:
    """Gives a node a name that no other one has. `names` has the last number that was added to each."""
    names[name] = next(k for k in count(names[name] + 1) if f"{name}_{k}" not in names)
    new_name = f"{name}_{names[name]}"
    names[new_name] = 0
    op.set_extra(onnx.NODE_NAME, None)
    op.location = Location(name=new_name)


def _check_sizes(op: onnx.OnnxOp) -> Iterator[Diagnostic]:
    """Reports dims with different names that must be equal for an operator to work."""
    for v in op.operands:
        if isinstance(v.type, TensorType) and not v.type.is_static:
            break
    else:
        return
    try:
        derived = infer(op)
    except (DiagnosticError, NotationError):
        return  # reported by the definition
    if not derived.constraints and derived.types == tuple([r.type for r in op.results]):
        return
    for c in derived.constraints:
        if c.relation != "==" or c.is_broadcast or not isinstance(c.lhs, DimExpr) or not isinstance(c.rhs, DimExpr):
            continue
        # An end of 1,000,000,000 in a slice stands for all: `N` and `min(N, 1000000000)` are one dim.
        if not c.holds({name: 2 * n + 3 for n, name in enumerate(c.symbols)}):
            yield Diagnostic(QUESTIONABLE_MODEL, f"G6: {op.name}: {c.lhs} and {c.rhs} must be equal")
    for v, type in zip(op.results, derived.types, strict=False):
        if not isinstance(v.type, TensorType) or not isinstance(type, TensorType) or v.type.rank != type.rank:
            continue
        for axis, (declared, actual) in enumerate(zip(v.type.shape or (), type.shape or (), strict=False)):
            if isinstance(declared, int) and isinstance(actual, DimExpr):
                reported = f"axis {axis} of '{v.name}' is stated as {declared}, and the operator gives {actual}"
                yield Diagnostic(QUESTIONABLE_MODEL, f"G10: {op.name}: {reported}")


def _check_hiding(op: Operation, holder: Holder, visible: dict[str, Value]) -> Iterator[Diagnostic]:
    """Reports a name of a node output in a nested graph that is visible around it."""
    block = op.parent
    is_nested = block is not None and block is not holder.body
    for v in op.results:
        if not v.name:
            continue
        before = visible.get(v.name)
        if before is None or not is_nested:
            visible[v.name] = v
        elif (
            before is not v
            and not isinstance(op, onnx.Initializer | onnx.SparseInitializer)
            and before.owner is not None
            and _is_around(before, op)
        ):
            text = f"G5: the graph around has a value '{v.name}' too"
            yield Diagnostic(QUESTIONABLE_MODEL, text, where=path_of(op))


def _is_around(value: Value, op: Operation) -> bool:
    """Returns whether a value is of a graph around an operation, and not a result of what the graphs belong to."""
    owner = value.owner
    block = owner.parent if isinstance(owner, Operation) else owner
    ancestors = list(op.ancestors())
    return owner not in ancestors and any(a.parent is block for a in ancestors)


def _check_annotations(holder: Holder, place: str) -> Iterator[Diagnostic]:
    annotations = holder.extra.get(unknown_fields.ANNOTATIONS)
    if not isinstance(annotations, ArrayAttr):
        return
    names = {v.name for op in holder.body.operations for v in op.results} | {v.name for v in holder.inputs}
    for n, annotation in enumerate(annotations.values):
        entries = dict(annotation.entries) if isinstance(annotation, DictionaryAttr) else {}
        referred = [entries.get("tensor_name")]
        parameters = entries.get("quant_parameter_tensor_names")
        pairs = parameters.values if isinstance(parameters, ArrayAttr) else ()
        referred += [dict(pair.entries).get("value") for pair in pairs if isinstance(pair, DictionaryAttr)]
        for name in referred:
            if not isinstance(name, StringAttr) or name.value not in names:
                shown = name.value if isinstance(name, StringAttr) else ""
                text = f"G8: the graph has no value '{shown}'"
                yield Diagnostic(UNDEFINED_VALUE, text, where=f"{place}.quantization_annotation[{n}]")


def _check_functions(module: Module, functions: Iterable[onnx.LocalFunction]) -> Iterator[Diagnostic]:
    called = {op.function for op in module.nested() if isinstance(op, onnx.Call)} if functions else set[str]()
    for f in functions:
        if f.sym_name not in called:
            yield Diagnostic(QUESTIONABLE_MODEL, "F1: nothing calls the function", where=f.own_path)
