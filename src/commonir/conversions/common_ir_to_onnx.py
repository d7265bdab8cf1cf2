"""A Common IR program as a plain ONNX model, without going through the core, where that is possible.

A graph of ONNX operators stays as it is; functions become local functions, those of libraries in a domain of the name
of the library. Shapes with wildcards of inputs are left out, those of outputs are what follows from the program.
Control edges, which ONNX does not have, are left out too: nodes stay in an order that obeys them. A program that calls
operators whose meaning ONNX cannot say has to go through the core.
"""

from __future__ import annotations

from collections.abc import Iterable

from commonir.base.codes import LOST_IN_CONVERSION
from commonir.base.diagnostics import DiagnosticError, Diagnostics
from commonir.conversions.common_ir_graphs import put_call
from commonir.dialects import common_ir, onnx
from commonir.ir.attributes import Attribute, DictionaryAttr, IntegerAttr, StringAttr
from commonir.ir.call_graph import CallGraph
from commonir.ir.cloning import clone
from commonir.ir.interface import metadata_of, set_metadata
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import TensorType
from commonir.ods import Dialects, is_not_known, verify
from commonir.passes.lower import lower

_LOCAL_DOMAIN = "local"
_FUNCTIONS_OPSET = 15
"""The version of the default operator set that local functions came with."""
_OF_ONNX = (onnx.OnnxOp, onnx.Custom, onnx.Call, onnx.Initializer, onnx.SparseInitializer, onnx.Return)


def common_ir_to_onnx(module: Module, diagnostics: Diagnostics) -> Module | None:
    """The program in the dialect onnx; None when it has to go through the core. The source is not touched.

    Raises: DiagnosticError for an invalid program, whose faults may not show in ONNX (E0506 and others).
    """
    graphs = [op for op in module.body.operations if isinstance(op, common_ir.Graph)]
    if len(graphs) != 1:
        return None
    conversion = _Conversion(module)
    graph = conversion.graph(graphs[0])
    if graph is None:
        return None
    errors = [d for d in verify(module, Dialects()) if d.is_error]
    if errors:
        raise DiagnosticError(*errors)
    result = Module(module.extra, "")
    # Readers of ONNX do not agree which of several versions of a domain counts.
    result.set_extra(onnx.OPSET_FORMS, None)
    for function in conversion.functions.values():
        result.body.append(function)
    result.body.append(graph)
    if conversion.functions:
        result.entry = graph.sym_name
    _infer_shapes(graph)
    _describe(module, result)
    _raise_ir_version(result, graph.opset_import)
    for what in conversion.lost:
        diagnostics.add(LOST_IN_CONVERSION, what)
    return result


def _infer_shapes(graph: onnx.Graph) -> None:
    """Gives the results that are declared without a shape the one that follows: outputs of ONNX have shapes."""
    for _, v, inferred in common_ir.DeclaredTypes(graph, graph.body, {}).inferred():
        declared = v.type
        if isinstance(declared, TensorType) and isinstance(inferred, TensorType) and declared.shape is None:
            v.retype(declared.with_shape(inferred.shape))


def _raise_ir_version(module: Module, opsets: DictionaryAttr) -> None:
    """Raises the version of the IR to the oldest that operator sets, and functions, belong to."""
    declared, opset = module.extra.get(onnx.IR_VERSION), dict(opsets.entries).get("")
    has_functions = any(isinstance(op, onnx.LocalFunction) for op in module.body.operations)
    newest = max(opset.value if isinstance(opset, IntegerAttr) else 0, _FUNCTIONS_OPSET if has_functions else 0)
    needed = max(onnx.FREE_INITIALIZERS, onnx.ir_version_of(newest))
    if isinstance(declared, IntegerAttr) and declared.value < needed:
        module.set_extra(onnx.IR_VERSION, IntegerAttr(needed))


def _describe(module: Module, graph: Module) -> None:
    """Author and licence are texts of metadata in ONNX."""
    texts = [graph.extra.get(key) for key in (common_ir.MODEL_AUTHOR, common_ir.MODEL_LICENSE)]
    author, license = [t.value if isinstance(t, StringAttr) else "" for t in texts]
    about = metadata_of(module)
    set_metadata(graph, about._replace(author=author or about.author, license=license or about.license))
    for key in (common_ir.MODEL_AUTHOR, common_ir.MODEL_LICENSE):
        graph.set_extra(key, None)


class _Conversion:
    """The conversion of one program."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self.functions: dict[str, onnx.LocalFunction] = {}
        self.lost: dict[str, None] = {}
        domain = module.extra.get(onnx.DOMAIN)
        self._own_domain = domain.value if isinstance(domain, StringAttr) and domain.value else _LOCAL_DOMAIN
        self._opsets = DictionaryAttr(())
        # The versions of operator sets that functions use.
        self._imported: dict[str, Attribute] = {}

    def graph(self, source: common_ir.Graph) -> onnx.Graph | None:
        """The graph; None when something in it has no form in ONNX."""
        self._opsets = source.opset_import
        calls = CallGraph([source], _called)
        if any(calls.cycles()):
            return None
        # Callees first, because functions may call each other deeper than Python does.
        functions = [f for f in calls.in_order() if isinstance(f, common_ir.FunctionDefinition)]
        if any(self._function(f) is None for f in functions):
            return None
        copy = clone(source)
        domains = self._body(source, copy)
        if domains is None:
            return None
        # Runtimes that inline functions need the domains of those that these call as well.
        own = DictionaryAttr(tuple((self._imported | dict(source.opset_import.entries)).items()))
        opsets = _with_domains(own, [*domains, *(f.domain for f in self.functions.values())])
        new_op = onnx.Graph(source.sym_name, opsets, copy.content.take(), source.defaults)
        if source.declared.entries:
            self._state_outputs(source, new_op)
        new_op.update_extra(copy.extra)
        for name, explicit in source.declared.entries:
            text = explicit.value if isinstance(explicit, StringAttr) else ""
            self.lost.setdefault(f"the declared type {text} of '{name}': ONNX has no wildcards")
        return new_op

    def _state_outputs(self, source: common_ir.Graph, module: onnx.Graph) -> None:
        """Gives outputs whose shapes are not stated those that follow from the program, if only inputs decide them."""
        try:
            inferred = lower(self._module, function=source.sym_name).function(source.sym_name).outputs
        except DiagnosticError as error:
            if is_not_known(error):
                return
            raise
        for v, known in zip(module.outputs, inferred, strict=True):
            if isinstance(v.type, TensorType) and v.type.shape is None:
                v.retype(known.type)

    def _body(
        self,
        source: common_ir.Graph | common_ir.FunctionDefinition,
        copy: common_ir.Graph | common_ir.FunctionDefinition,
    ) -> dict[str, None] | None:
        """Makes the body of a copy one of ONNX; the domains of the functions that it calls, None when it cannot be."""
        # What a name means is asked of the source, for the copy is part of no program.
        targets = [op.definition for op in source.walk() if isinstance(op, common_ir.Call)]
        calls = [op for op in copy.walk() if isinstance(op, common_ir.Call)]
        inner = [op for op in copy.walk() if op is not copy]
        if not all(isinstance(op, (*_OF_ONNX, common_ir.Call)) for op in inner):
            return None
        domains: dict[str, None] = {}
        for call, target in zip(calls, targets, strict=True):
            function = None if target is None else self._function(target)
            if target is None or function is None:
                return None
            domains.setdefault(function.domain)
            inputs = _packed(call, target)
            if inputs is None:
                return None
            arguments = {"attributes": target.literals(call.attributes), "inputs": inputs}
            types = [r.type for r in call.results]
            put_call(call, onnx.Call.build({"function": function.sym_name, **arguments}, types, call.location))
        try:
            _sort(copy.body)
        except common_ir.CyclicOrder:
            return None
        for op in inner:
            if common_ir.CONTROL_INPUT in op.extra:
                self.lost.setdefault("control edges: ONNX has none, and the order of nodes obeys them")
            for key in (common_ir.CONTROL_INPUT, common_ir.INPUT_ARG_COUNT, onnx.STORAGE):
                op.set_extra(key, None)
        return domains

    def _function(self, source: common_ir.FunctionDefinition) -> onnx.LocalFunction | None:
        """The local function that stands for a function; None when something in it has no form in ONNX."""
        library = next((a for a in source.ancestors() if isinstance(a, common_ir.Library)), None)
        domain = self._own_domain if library is None else library.sym_name
        symbol = onnx.function_symbol(domain, source.sym_name, "")
        if symbol in self.functions:
            return self.functions[symbol]
        around = self._opsets if library is None else library.opset_import
        copy = clone(source)
        versions = _versions_in(source.opset_import if source.opset_import.entries else around, self._opsets, copy)
        domains = None if versions is None else self._body(source, copy)
        if versions is None or domains is None:
            return None
        self._imported |= dict(versions.entries)
        formals = source.formal_attributes()
        if source.parameter_docs() or any(a.doc for a in formals):
            self.lost.setdefault("the documentation of parameters and attributes of functions")
        names = [(a.name, None if a.default is None else a.type.literal(a.default)) for a in formals]
        new_op = onnx.LocalFunction(
            symbol,
            source.sym_name,
            _with_domains(versions, domains),
            copy.content.take(),
            domain,
            "",
            tuple([name for name, default in names if default is None]),
            DictionaryAttr(tuple([(name, default) for name, default in names if default is not None])),
        )
        doc = source.extra.get(onnx.DOC_STRING)
        if doc is not None:
            new_op.set_extra(onnx.DOC_STRING, doc)
        self.functions[symbol] = new_op
        return new_op


def _called(op: Operation) -> Operation | None:
    """Returns the function that an operation calls; None if there is none."""
    return op.definition if isinstance(op, common_ir.Call) else None


def _versions_in(own: DictionaryAttr, model: DictionaryAttr, function: Operation) -> DictionaryAttr | None:
    """Returns the versions of operator sets of a function in a model of other versions, which count for both in ONNX.

    None if an operator means something else in the version of the model.
    """
    versions = dict(own.entries) | {d: v for d, v in model.entries if d in dict(own.entries)}
    dialects = Dialects()
    for op in function.walk():
        domain, _ = onnx.operator_of(op.name) if isinstance(op, onnx.OnnxOp) else ("", "")
        version, before = versions.get(domain), dict(own.entries).get(domain)
        if not isinstance(op, onnx.OnnxOp) or version == before or not isinstance(version, IntegerAttr):
            continue
        is_newer = isinstance(before, IntegerAttr) and before.value < version.value
        if not is_newer or dialects.find(op.name, onnx.version_in(domain, version.value)) is not type(op):
            return None
    return DictionaryAttr(tuple(versions.items()))


def _packed(call: common_ir.Call, target: common_ir.FunctionDefinition) -> tuple[Value, ...] | None:
    """Returns the inputs of a call of a local function, with lists of several values; None if they do not fit."""
    types = [v.type for v in call.arguments]
    inputs: list[Value] = []
    assert call.parent is not None
    try:
        groups, bindings = target.groups(types, call.counts), target.unified(types, call.counts)
    except DiagnosticError:
        return None
    for g in groups:
        own = call.arguments[g.start : g.stop]
        if not g.makes_list:
            inputs.append(own[0])
            continue
        element = g.element(bindings)
        dtype = element.element if isinstance(element, TensorType) else None
        new_op = onnx.SequenceConstruct(own) if own else onnx.SequenceEmpty(dtype=dtype)
        call.parent.insert_before(call, new_op)
        inputs.append(new_op.result)
    return tuple(inputs)


def _with_domains(opsets: DictionaryAttr, domains: Iterable[str]) -> DictionaryAttr:
    """Versions of operator sets with those of the domains of functions."""
    entries = dict(opsets.entries)
    for domain in domains:
        entries.setdefault(domain, IntegerAttr(1))
    return DictionaryAttr(tuple(entries.items()))


def _sort(block: Block) -> None:
    """Puts operations in an order that data and control edges allow. Raises: CyclicOrder."""
    order: list[Operation] = list(common_ir.ordered(block))
    if order == list(block.operations):
        return
    for op in order:
        op.detach()
        block.append(op)
