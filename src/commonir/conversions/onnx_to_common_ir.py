"""An ONNX model as a Common IR model of the same nodes, without going through the core, where that is possible.

A plain ONNX graph is a graph of Common IR: nodes, initializers, versions of operator sets and metadata stay. Names
become C identifiers that are unique in the graph. Local functions become functions; their parameters have the types
that calls give them, for ONNX states none: a library holds those of one domain, the file itself those of several. A
model that calls operators which nothing declares, or functions in ways that no types can state, has to go through the
core.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count

from commonir.base.codes import CHANGED_IN_CONVERSION, LOST_IN_CONVERSION
from commonir.base.diagnostics import DiagnosticError, Diagnostics
from commonir.base.text import plural
from commonir.conversions.common_ir_graphs import (
    DEFAULT_DOMAIN,
    IDENTITY_OPSET,
    Names,
    end_graph,
    identifier,
    keep_names,
    name_values,
    put_call,
    report_renamed,
)
from commonir.dialects import common_ir, onnx
from commonir.dialects.common_ir.naming import is_dns_name, is_identifier, markup_in
from commonir.ir.attributes import (
    ArrayAttr,
    Attribute,
    DenseArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
)
from commonir.ir.cloning import clone
from commonir.ir.interface import metadata_of
from commonir.ir.module import Instances, Module
from commonir.ir.operation import Block, Operation, Region
from commonir.ir.types import ListType, OptionalType, TensorType, Type, string, unknown
from commonir.ods.declared_types import as_declared
from commonir.ods.verify import are_compatible, differ_in_shape
from commonir.symbolic import plain_symbol

_OF_ONNX = (onnx.OnnxOp, onnx.Call, onnx.Initializer, onnx.SparseInitializer, onnx.Return)
_STAYS = (onnx.DOC_STRING, onnx.METADATA)


def onnx_to_common_ir(module: Module, product_: Diagnostics) -> Module | None:
    """The model in the dialect common_ir; None when it has to go through the core. The source is not touched."""
    operations = list(module.body.operations)
    graphs = [op for op in operations if type(op) is onnx.Graph]
    functions = [op for op in operations if isinstance(op, onnx.LocalFunction)]
    if len(graphs) != 1 or len(graphs) + len(functions) != len(operations):
        return None
    source = graphs[0]
    inside = [op for holder in operations for op in holder.walk() if op is not holder]
    if not all(isinstance(op, _OF_ONNX) for op in inside):
        return None
    if any(v.type is unknown for v in (*source.inputs, *source.outputs)):
        return None
    uses = _uses_in(source)
    if uses is None:
        return None
    diagnostics = Diagnostics()
    conversion = _Conversion(list(uses), {onnx.operator_of(op.name)[1] for op in inside}, diagnostics)
    graph, renamed = conversion.graph(source)
    result = Module(module.extra, graph.sym_name)
    if conversion.has_new_names:
        _free_initializers(result, diagnostics)
    _describe(result, graph, diagnostics)
    keep_names(result, renamed)
    report_renamed(renamed, diagnostics)
    definitions = [conversion.function(f, use) for f, use in uses.items()]
    if any(d is None for d in definitions):
        return None
    for op in conversion.placed([d for d in definitions if d is not None], result):
        result.body.append(op)
    result.body.append(graph)
    _declare_nested(graph)
    _correct_results(graph, diagnostics)
    _make_literal(result, diagnostics)
    for f in functions:
        if f not in uses:
            diagnostics.add(
                LOST_IN_CONVERSION,
                f"the function '{f.sym_name}' is left out: nothing calls it, so its types are unknown",
            )
    product_.extend(diagnostics)
    return result


# -- how functions are used


class _Use:
    """The calls of a function: what it is given, and what it returns."""

    def __init__(self) -> None:
        self.types: list[tuple[Type, ...]] = []
        self.attributes: dict[str, list[Attribute]] = {}


def _uses_in(graph: onnx.Graph) -> dict[onnx.LocalFunction, _Use] | None:
    """How the functions that a graph calls, be it through others, are used; None when a call has no form here."""
    out: dict[onnx.LocalFunction, _Use] = {}
    pending: list[onnx.Graph | onnx.FunctionInstance] = [graph]
    seen: set[tuple[str, DictionaryAttr, tuple[Type, ...]]] = set()
    instances = Instances()
    while pending:
        for call in pending.pop().walk():
            if not isinstance(call, onnx.Call):
                continue
            types = tuple([v.type for v in call.inputs])
            key = (call.function, call.attributes, types)
            if key in seen:
                continue
            seen.add(key)
            target = call.callee
            if target is None or call.absent or call.graphs or len(types) != len(target.inputs):
                return None
            try:
                instance = target.instance(types, call.attributes, (), instances)
            except DiagnosticError:
                return None
            if len(instance.outputs) != len(target.outputs):
                return None
            use = out.setdefault(target, _Use())
            use.types.append((*types, *(v.type for v in instance.outputs)))
            for name, value in call.attributes.entries:
                use.attributes.setdefault(name, []).append(value)
            pending.append(instance)
    return out


def _common_type(types: Iterable[Type]) -> tuple[Type, str] | None:
    """The type that a parameter has in all calls, and as text when it is one with a wildcard; None without one."""
    result = list(dict.fromkeys(types))
    first = result[0]
    if isinstance(first, TensorType):
        if len(result) == 1 and first.shape is not None and all(isinstance(d, int) for d in first.shape):
            return first, ""
        if all(isinstance(t, TensorType) and t.element is first.element for t in result):
            return _of_any_shape(first)
        return None
    return (first, "") if len(result) == 1 and first is not unknown else None


def _of_any_shape(type: Type) -> tuple[Type, str]:
    """Returns the type of tensors, or of lists of or optional tensors, with the same elements, and its text.

    Other types stay, and have no text.
    """
    if isinstance(type, TensorType):
        element = str(as_declared(TensorType(type.element, ()))).removesuffix("[]")
        return TensorType(type.element, None), f"{element}[*]"
    if isinstance(type, ListType | OptionalType):
        content, text = _of_any_shape(type.element)
        wrapper = "list" if isinstance(type, ListType) else "optional"
        return (type.with_parts((content,)), f"{wrapper}<{text}>") if text else (type, "")
    return type, ""


def _attribute_type(value: Attribute) -> str | None:
    """The type of a formal attribute that takes a value; None when the value has no type that can be declared."""
    match value:
        case IntegerAttr():
            return "i64[]"
        case FloatAttr():
            return "f32[]"
        case StringAttr():
            return f"{string}[]"
        case DenseArrayAttr():
            return f"list<{value.element}[]>"
        case ArrayAttr(values=texts) if texts and all(isinstance(t, StringAttr) for t in texts):
            return f"list<{string}[]>"
        case _:
            return None


# -- the conversion


class _Conversion:
    """The conversion of one model."""

    def __init__(self, functions: Sequence[onnx.LocalFunction], operators: set[str], diagnostics: Diagnostics) -> None:
        self._diagnostics = diagnostics
        # Whether the graph has values of other names than its source.
        self.has_new_names = False
        self._library = _library_of(functions)
        names = Names()
        if self._library is None:
            # Bare names must not be those of operators of ONNX.
            for name in sorted(operators):
                names.take(name)
        self._names = {f.sym_name: names.take(f.function_name) for f in functions}
        for f in functions:
            if self._names[f.sym_name] != f.function_name:
                diagnostics.add(
                    CHANGED_IN_CONVERSION, f"the function '{f.sym_name}' is called '{self._names[f.sym_name]}'"
                )
        if functions and self._library is None:
            domains = ", ".join(dict.fromkeys([f"'{f.domain}'" for f in functions]))
            diagnostics.add(CHANGED_IN_CONVERSION, f"functions of the domain {domains} are in the domain of the model")

    def graph(self, source: onnx.Graph) -> tuple[common_ir.Graph, dict[str, str]]:
        """The graph, and new names of inputs and outputs by old ones where they changed."""
        copy = clone(source)
        names = Names()
        opsets, renamed = self._body(copy, names, is_library=False)
        inputs = {old.name: new.name for old, new in zip(source.inputs, copy.inputs, strict=True)}
        values = tuple([(inputs[name], value) for name, value in source.defaults.entries if name in inputs])
        name = identifier(source.sym_name) or "main"
        result = common_ir.Graph(name, opsets, copy.content.take(), DictionaryAttr(values))
        self.has_new_names = _value_names(source) != _value_names(result)
        _keep_texts(source, result, is_changed=self.has_new_names)
        return result, renamed

    def function(self, source: onnx.LocalFunction, use: _Use) -> common_ir.FunctionDefinition | None:
        """The function; None when its signature cannot be stated."""
        formals = self._formals(source, use)
        common = [_common_type(types) for types in zip(*use.types, strict=True)]
        known = [c for c in common if c is not None]
        if formals is None or len(known) != len(common):
            return None
        if any(text for _, text in known[: len(source.inputs)]):
            # What holds for the operands of the calls need not hold for operands of every shape.
            known = [_of_any_shape(type) for type, _ in known]
        copy = clone(source)
        names = Names()
        for name in source.attribute_names:
            names.take(name)
        opsets, _ = self._body(copy, names, is_library=self._library is not None)
        declared: list[tuple[str, Attribute]] = []
        for v, (type, text) in zip((*copy.inputs, *copy.outputs), known, strict=True):
            v.retype(type)
            if text:
                declared.append((v.name, StringAttr(text)))
        result = common_ir.FunctionDefinition(
            self._names[source.sym_name], copy.content.take(), formals, DictionaryAttr(tuple(declared)), opsets
        )
        _keep_texts(source, result, is_changed=True)
        if result.extra.get(onnx.METADATA) is not None:
            result.set_extra(onnx.METADATA, None)
            self._diagnostics.add(
                LOST_IN_CONVERSION, f"metadata of the function '{source.sym_name}': Common IR has none there"
            )
        return result

    def _formals(self, source: onnx.LocalFunction, use: _Use) -> tuple[DictionaryAttr, ...] | None:
        """The formal attributes of a function; None when one has no type."""
        defaults = dict(source.default_attributes.entries)
        out: list[DictionaryAttr] = []
        for name in source.attribute_names:
            values = use.attributes.get(name, [])
            values = [*values, defaults[name]] if name in defaults else values
            types = {_attribute_type(v) for v in values}
            type = types.pop() if len(types) == 1 else None
            if type is None or not is_identifier(name):
                return None
            entries: list[tuple[str, Attribute]] = [("name", StringAttr(name)), ("type", StringAttr(type))]
            if name in defaults:
                entries.append(("default", defaults[name]))
            out.append(DictionaryAttr(tuple(entries)))
        return tuple(out)

    def _body(
        self, copy: onnx.Graph | onnx.LocalFunction, names: Names, *, is_library: bool
    ) -> tuple[DictionaryAttr, dict[str, str]]:
        """Makes the body of a copy one of Common IR; the versions that it uses, and new names of its interface."""
        block = copy.body
        renamed: dict[str, str] = {}

        def taken(name: str) -> str:
            new = names.take(name)
            if name and new != name:
                renamed[name] = new
            return new

        for v in block.arguments:
            v.name = taken(v.name)
        outputs = {taken(v.name): v for v in copy.outputs}
        if block.last is not None:
            block.last.erase()
        uses_identity = end_graph(block, outputs)
        for op in list(copy.walk()):
            if isinstance(op, onnx.Call):
                self._replace(op, is_library=is_library)
            elif op is not copy:
                op.set_extra(onnx.NODE_NAME, None)
        name_values(block, names)
        opsets = dict(copy.opset_import.entries)
        if uses_identity and not {"", "ai.onnx"} & set(opsets):
            opsets[""] = IntegerAttr(IDENTITY_OPSET)
        return DictionaryAttr(tuple(opsets.items())), renamed

    def _replace(self, call: onnx.Call, *, is_library: bool) -> None:
        """Puts a call of a function in the place of one of a local function."""
        name = self._names[call.function]
        called = name if self._library is None or is_library else f"{self._library}.{name}"
        arguments = {"function": called, "arguments": call.inputs, "attributes": call.attributes}
        put_call(call, common_ir.Call.build(arguments, [r.type for r in call.results], call.location))

    def placed(self, functions: Sequence[common_ir.FunctionDefinition], module: Module) -> Iterable[Operation]:
        """The functions where nodes find them: in the library, else as they are."""
        if self._library is None or not functions:
            return functions
        domain, _, name = self._library.rpartition(".")
        block = Block()
        for function in functions:
            block.append(function)
        ir, model = map(module.extra.get, (onnx.IR_VERSION, onnx.MODEL_VERSION))
        library = common_ir.Library(
            self._library,
            name,
            domain,
            Region([block]),
            ir_version=ir.value if isinstance(ir, IntegerAttr) else None,
            model_version=model.value if isinstance(model, IntegerAttr) else None,
            is_embedded=True,
        )
        library.set_extra(onnx.DOC_STRING, StringAttr(f"Functions of the domain `{self._library}`."))
        return (library,)


def _keep_texts(source: Operation, new_op: Operation, *, is_changed: bool) -> None:
    """Keeps what a file says of a graph or function; what it says by names of values only where these stay."""
    for key, value in source.extra.items():
        if key in _STAYS or not is_changed:
            new_op.set_extra(key, value)


def _library_of(functions: Sequence[onnx.LocalFunction]) -> str | None:
    """The library that holds functions of one domain; None where several, or no name of a library, are needed."""
    domains = {f.domain for f in functions}
    domain, dot, name = next(iter(domains)).rpartition(".") if len(domains) == 1 else ("", "", "")
    return f"{domain}.{name}" if dot and is_dns_name(domain) and is_identifier(name) else None


def _value_names(graph: onnx.Graph) -> list[str]:
    nested = [a.name for op in graph.walk() for r in op.regions for b in r.blocks for a in b.arguments]
    return nested + [v.name for op in graph.walk() for v in op.results]


def _free_initializers(module: Module, diagnostics: Diagnostics) -> None:
    """States a version of the IR in which initializers are not inputs: which were is known by old names only."""
    declared = module.extra.get(onnx.IR_VERSION)
    if isinstance(declared, IntegerAttr) and declared.value < onnx.FREE_INITIALIZERS:
        module.set_extra(onnx.IR_VERSION, IntegerAttr(onnx.FREE_INITIALIZERS))
        text = f"the version of the IR is {onnx.FREE_INITIALIZERS}, was {declared.value}: initializers are not inputs"
        diagnostics.add(CHANGED_IN_CONVERSION, text)


def _describe(module: Module, graph: common_ir.Graph, diagnostics: Diagnostics) -> None:
    """Gives a module the metadata that a Common IR model must have and its source lacks, and author and licence."""
    about = metadata_of(module)
    texts = {key: text for key, text in about.user_defined if text}
    declared: Mapping[str, str] = {
        common_ir.MODEL_AUTHOR: about.author or texts.get("model_author", ""),
        common_ir.MODEL_LICENSE: about.license or texts.get("model_license", ""),
    }
    for key, text in declared.items():
        if text:
            module.set_extra(key, StringAttr(text))
    domain = module.extra.get(onnx.DOMAIN)
    if not isinstance(domain, StringAttr) or not is_dns_name(domain.value):
        before = domain.value if isinstance(domain, StringAttr) else ""
        why = f"'{before}' is not a DNS name" if before else "none is stated"
        module.set_extra(onnx.DOMAIN, StringAttr(DEFAULT_DOMAIN))
        diagnostics.add(CHANGED_IN_CONVERSION, f"the domain of the model is '{DEFAULT_DOMAIN}': {why}")
    versions = [v.value for d, v in graph.opset_import.entries if d in ("", "ai.onnx") and isinstance(v, IntegerAttr)]
    for what, key, value in (
        ("IR", onnx.IR_VERSION, onnx.ir_version_of(versions[0] if versions else IDENTITY_OPSET)),
        ("model", onnx.MODEL_VERSION, 1),
    ):
        if module.extra.get(key) is None:
            module.set_extra(key, IntegerAttr(value))
            diagnostics.add(CHANGED_IN_CONVERSION, f"the version of the {what} is {value}: none is stated")
    if not about.description and not {onnx.DOC_STRING} & {*module.extra, *graph.extra}:
        module.set_extra(onnx.DOC_STRING, StringAttr(f"The program `{graph.sym_name}`."))
        diagnostics.add(CHANGED_IN_CONVERSION, "the documentation is the name of the graph: none is stated")


def _declare_nested(graph: common_ir.Graph) -> None:
    """States the names of nested graphs and the types of their inputs and outputs, which ONNX may leave out."""
    for _, v, type in common_ir.DeclaredTypes(graph, graph.body, {}).inferred():
        v.retype(type if v.type is unknown else v.type)
    for op in graph.walk():
        if not isinstance(op, onnx.Return):
            continue
        op.set_extra(onnx.UNNAMED_GRAPH, None)
        forms = op.extra.get(onnx.TYPE_FORMS)
        if isinstance(forms, DictionaryAttr):
            said = [(k, f) for k, f in forms.entries if not (isinstance(f, DictionaryAttr) and len(f.entries) == 1)]
            op.set_extra(onnx.TYPE_FORMS, DictionaryAttr(tuple(said)) if said else None)


_MOST_ROUNDS = 8
"""How often types are corrected that follow from corrected ones."""


def _correct_results(graph: common_ir.Graph, diagnostics: Diagnostics) -> None:
    """Declares what follows from the nodes where the source declares something else, which are notes in ONNX."""
    before = {v: v.type for op in graph.body.operations for v in op.results}
    for _ in range(_MOST_ROUNDS):
        declared = common_ir.DeclaredTypes(graph, graph.body, {})
        wrong = [(v, t) for _, v, t, _ in declared.contradicted()]
        # What cannot be the type of a result is not among them.
        wrong += [
            (v, t)
            for node, v, t in declared.given()
            if v.defining_op is node and not are_compatible(v.type, t) and differ_in_shape(v.type, t)
        ]
        for v, actual in wrong:
            v.retype(_declarable(actual))
        if not wrong:
            break
    for v, old in before.items():
        if v.type is not old:
            diagnostics.add(
                CHANGED_IN_CONVERSION, f"'{v.name}' is {v.type}; its source declares {old}, which does not hold"
            )


def _declarable(type: Type) -> Type:
    """Returns a type without the dims that a declaration cannot express."""
    if not isinstance(type, TensorType) or type.shape is None:
        return type
    return type.with_shape(tuple([d if isinstance(d, int) or plain_symbol(d) else None for d in type.shape]))


def _make_literal(module: Module, diagnostics: Diagnostics) -> None:
    """Puts documentation strings with markup that is not Markdown into code blocks, where it says what it said."""
    changed = 0
    for op in module.walk():
        doc = op.extra.get(onnx.DOC_STRING)
        if isinstance(doc, StringAttr) and markup_in(doc.value) is not None:
            # A fence that is not in the text.
            fence = next(f for n in count(3) if (f := "`" * n) not in doc.value)
            op.set_extra(onnx.DOC_STRING, StringAttr(f"{fence}\n{doc.value}\n{fence}"))
            changed += 1
    if changed:
        strings = plural(changed, "documentation string")
        diagnostics.add(CHANGED_IN_CONVERSION, f"{strings} with HTML or other markup, now in code blocks")
