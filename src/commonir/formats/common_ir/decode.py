"""From the messages of a Common IR file and the libraries it imports to a module.

Nodes of operator sets are read as ONNX reads them. A node that names a declared operator becomes an operation of the
definition made of the declaration, one that names a function a `common_ir.call`, and one of the library that stands for
a dialect of this program (`org.commonir.core.add`) the operation of that dialect. What a file declares is found by bare
name, what libraries declare after the name of the library.

Nothing is converted, and nothing is read but the messages. Source: Common IR specification, extensible computation
graph model.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from commonir.base.codes import WRONG_ATTRIBUTE, WRONG_OPERAND_COUNT
from commonir.base.diagnostics import DiagnosticError, Diagnostics
from commonir.base.file_codes import MALFORMED_TYPE
from commonir.base.limits import DEFAULT_LIMITS, Limits
from commonir.base.text import escape, plural
from commonir.base.tuples import NamedTuple
from commonir.dialects import common_ir, onnx
from commonir.dialects.common_ir import rules
from commonir.dialects.common_ir.naming import operation_name
from commonir.formats.common_ir.declarations import DeclarationReader, read_imports
from commonir.formats.common_ir.imports import Imported
from commonir.formats.common_ir.operators import ABSENT_INPUTS, built, stored_attributes, written_names
from commonir.formats.common_ir.types import ValueTypes, has_wildcards, negative_dim
from commonir.formats.common_ir.values import ValueReader, fields_with_a_place, storage_of
from commonir.formats.onnx import unknown_fields
from commonir.formats.onnx.attributes import misplaced_value_in, text_of
from commonir.formats.onnx.declaring import declared_fields
from commonir.formats.onnx.decode import ModelDecoder
from commonir.formats.onnx.messages import (
    AttributeProto,
    FunctionDefProto,
    GraphProto,
    LibraryProto,
    ModelProto,
    NodeProto,
    OperatorDeclProto,
    ParameterDeclProto,
    ValueInfoProto,
    field_number,
)
from commonir.formats.onnx.node_reading import Malformed
from commonir.formats.onnx.opset_imports import opsets_of
from commonir.formats.onnx.references import node_part
from commonir.formats.onnx.scopes import NameScope
from commonir.formats.onnx.tensors import IN_MESSAGE, TensorReader
from commonir.formats.onnx.unknown_fields import keep
from commonir.ir.attributes import ArrayAttr, Attribute, DenseArrayAttr, DictionaryAttr, IntegerAttr, StringAttr
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import Type, i32, unknown
from commonir.ods import Dialects, Op, traits
from commonir.ods.declared import DeclaredOp, OperatorUse, choose
from commonir.ods.definition import ATTRIBUTE_REFERENCES

_LIBRARY_PREFIX = f"{common_ir.LIBRARY_DOMAIN}."
_INPUT = field_number(NodeProto, "input")
_OF_REFERENCE = frozenset([field_number(AttributeProto, name) for name in ("name", "ref_attr_name")])
_OF_PARAMETER = frozenset([f.number for f in declared_fields(ParameterDeclProto).values() if f.name != "doc_string"])
"""The numbers of fields that have a place in the program."""

Definitions = Mapping[str, tuple[type[DeclaredOp], ...]]


class NodeAttributes(NamedTuple):
    """The attributes of a node: values, graphs, and names of attributes of the function around, by name.

    `rest` has what else is said of them, `malformed` are those that are reported.
    """

    values: Mapping[str, Attribute]
    graphs: Mapping[str, tuple[Region, ...]]
    references: Mapping[str, str]
    rest: Mapping[str, DictionaryAttr]
    malformed: Collection[str] = ()


class CommonIrDecoder(ModelDecoder):
    """Decodes one file with the libraries it imports."""

    merges_constants = False

    def __init__(
        self,
        dialects: Dialects,
        diagnostics: Diagnostics,
        contents: TensorReader = IN_MESSAGE,
        *,
        keeps_unknown: bool = False,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        super().__init__(dialects, diagnostics, contents, keeps_unknown=keeps_unknown, limits=limits)
        self.types = ValueTypes(limits)
        self._limits_of_types = limits
        self._values = ValueReader(contents, lambda proto: self.types.read(proto)[0])
        # What nodes can call: by bare name in the current file, by the full name in libraries.
        self._operators: dict[str, tuple[type[DeclaredOp], ...]] = {}
        self._own_operators: dict[str, tuple[type[DeclaredOp], ...]] = {}
        self._definitions_by_name: dict[str, common_ir.FunctionDefinition | None] = {}
        self._own_functions: dict[str, common_ir.FunctionDefinition | None] = {}
        # Inputs and outputs of the graph, whose wildcards the graph keeps.
        self._interface: frozenset[str] = frozenset()

    # -- files

    def library_file(self, proto: LibraryProto, closure: Sequence[Imported]) -> Module:
        """The module of a library file: its libraries, and at the end itself."""
        module = Module()
        for imported in closure:
            module.body.append(self.library(imported.library, uri=imported.uri))
        module.body.append(self.library(proto))
        return module

    def graph_file(self, proto: ModelProto, closure: Sequence[Imported]) -> Module:
        """The module of a graph file: libraries, then what it declares, then its graph."""
        libraries = [(p, "", True) for p in proto.graph.library] + [(i.library, i.uri, False) for i in closure]
        declarations = Module()
        for library, uri, is_embedded in libraries:
            declarations.body.append(self.library(library, uri=uri, is_embedded=is_embedded))
        opsets = opsets_of(proto.opset_import)
        declared = [*read_imports(proto.graph.imported_libraries)]
        declared += self._declarations(proto.graph.operator, proto.graph.function, opsets, onnx.GRAPH, "")
        for op in declared:
            declarations.body.append(op)
        about = {common_ir.MODEL_AUTHOR: proto.model_author, common_ir.MODEL_LICENSE: proto.model_license}
        for name in ("model_author", "model_license", "common_ir_version"):
            proto.ClearField(name)
        for name in ("library", "imported_libraries", "operator", "function"):
            proto.graph.ClearField(name)
        states_zero = proto.HasField("model_version") and not proto.model_version
        module = self.module(proto)
        if states_zero:
            module.set_extra(onnx.MODEL_VERSION, IntegerAttr(0))
        for name, text in about.items():
            if text:
                module.set_extra(name, StringAttr(text))
        first = module.body.first
        for op in list(declarations.body.operations):
            op.detach()
            if first is None:
                module.body.append(op)
            else:
                module.body.insert_before(first, op)
        module.entry = proto.graph.name
        return module

    def library(self, proto: LibraryProto, *, uri: str = "", is_embedded: bool = False) -> common_ir.Library:
        """A library with all that it declares, which later files can call."""
        symbol = common_ir.qualified_name(proto.domain, proto.name)
        opsets = opsets_of(proto.opset_import)
        block = Block()
        for op in read_imports(proto.imported_libraries):
            block.append(op)
        for op in self._declarations(proto.operator, proto.function, opsets, symbol, symbol):
            block.append(op)
        arguments: dict[str, object] = {
            "sym_name": symbol,
            "identifier": proto.name,
            "domain": proto.domain,
            "content": Region([block]),
            "opset_import": opsets,
            "uri": uri,
            "is_embedded": is_embedded,
        }
        for name in _LIBRARY_METADATA:
            if proto.HasField(name):
                arguments[name] = getattr(proto, name)
        result = common_ir.Library(**arguments)  # pyright: ignore[reportArgumentType]  by the names of its fields
        self.keep_texts(result, proto.doc_string, ())
        return result

    def _declarations(
        self,
        operators: Iterable[OperatorDeclProto],
        functions: Iterable[FunctionDefProto],
        opsets: DictionaryAttr,
        place: str,
        library: str,
    ) -> list[Operation]:
        """Reads the declarations of a file and makes them known under bare names while it is read."""
        reader = DeclarationReader(self._values, self.diagnostics, place)
        out: list[Operation] = []
        self._own_operators, self._own_functions = {}, {}
        for proto in operators:
            built = reader.operator(proto)
            out.append(built)
            called = f"{library}.{proto.name}" if library else proto.name
            try:
                definitions = built.definitions(called)
                bare = built.definitions(proto.name) if library else definitions
            except ValueError:
                # The verifier reports errors of the signature.
                continue
            self._own_operators.setdefault(proto.name, bare)
            if library:
                self._operators.setdefault(called, definitions)
        listed = list(functions)
        for proto in listed:
            if proto.name in self._own_functions:
                text = f"'{escape(proto.name)}' is the name of two functions"
                self.diagnostics.extend([rules.ONE_NAMESPACE.broken(text, where=place)])
            self._own_functions.setdefault(proto.name, None)
        for proto in _callees_first(listed):
            built = self._function_definition(proto, opsets, reader, place)
            self._own_functions[proto.name] = built
            if library:
                self._definitions_by_name.setdefault(f"{library}.{proto.name}", built)
        in_order = [self._own_functions[name] for name in dict.fromkeys(p.name for p in listed)]
        out += [f for f in in_order if f is not None]
        return out

    # -- functions and graphs

    def _function_definition(
        self, proto: FunctionDefProto, around: DictionaryAttr, reader: DeclarationReader, place: str
    ) -> common_ir.FunctionDefinition:
        where = f"{place}.function '{escape(proto.name)}'"
        own = opsets_of(proto.opset_import)
        self.place = where
        self.use_versions(own if own.entries else around)
        outer, self.types = self.types, ValueTypes(self._limits_of_types)
        declared: list[tuple[str, Attribute]] = []
        types: dict[str, Type] = {}
        for p in (*proto.input_params, *proto.output_params):
            types[p.name] = self._parameter_type(p, reader, declared, where)
        names = [p.name for p in proto.input_params]
        block = Block([types[n] for n in names], names)
        scope = NameScope(types)
        for v in block.arguments:
            self.define(v.name, v, scope, "input")
        self.fill(block, proto.node, [p.name for p in proto.output_params], scope)
        self.check_references(proto.node, proto.attr)
        self.types = outer
        result = common_ir.FunctionDefinition(
            proto.name,
            Region([block]),
            tuple([reader.formal(a, where) for a in proto.attr]),
            DictionaryAttr(tuple(declared)),
            own,
        )
        self.keep_texts(result, proto.doc_string, ())
        parts = [("input", p) for p in proto.input_params] + [("output", p) for p in proto.output_params]
        forms = [(f"{part} {p.name}", DictionaryAttr(tuple(self.leftover(p, _OF_PARAMETER)))) for part, p in parts]
        keep(result, common_ir.PARAMETER_FORMS, [(name, form) for name, form in forms if form.entries])
        return result

    def _parameter_type(
        self,
        proto: ParameterDeclProto,
        reader: DeclarationReader,
        declared: list[tuple[str, Attribute]],
        place: str,
    ) -> Type:
        """The type of the value that stands for a parameter; one with wildcards is kept as text as well."""
        described = dict(reader.parameter(proto, place).entries)
        text = described["type"]
        if has_wildcards(proto.type) or any(d.dim_param.endswith("*") for d in proto.shape.dim):
            declared.append((proto.name, text))
        if "multiplicity" in described:
            self.report(WRONG_ATTRIBUTE, "a parameter of a function takes one value", f"parameter '{proto.name}'")
        return self.types.read(proto.type)[0]

    def graph(self, proto: GraphProto, opsets: DictionaryAttr) -> onnx.Graph:
        self._interface = frozenset(info.name for info in (*proto.input, *proto.output))
        return super().graph(proto, opsets)

    def _type(self, info: ValueInfoProto) -> Type:
        dim = negative_dim(info.type)
        if dim and not (info.name in self._interface and has_wildcards(info.type)):  # which are read as texts too
            help = "name a dim of unknown length"
            self.report(MALFORMED_TYPE, f"{dim} is not the length of a dim", f"value '{escape(info.name)}'", help)
        return super()._type(info)

    def _is_plain(self, info: ValueInfoProto, v: Value) -> bool:
        if not has_wildcards(info.type):
            return super()._is_plain(info, v)
        return info.name in self._interface and not info.doc_string and not len(info.metadata_props)

    def graph_operation(
        self, proto: GraphProto, opsets: DictionaryAttr, content: Region, defaults: DictionaryAttr
    ) -> onnx.Graph:
        reader = DeclarationReader(self._values, self.diagnostics, proto.name)
        declared: list[tuple[str, Attribute]] = []
        for info in (*proto.input, *proto.output):
            if has_wildcards(info.type):
                text = reader.text_of(info.type, info.name, proto.name)
                declared.append((info.name, StringAttr(text)))
        return common_ir.Graph(proto.name, opsets, content, defaults, DictionaryAttr(tuple(declared)))

    def nested(self, proto: GraphProto, around: NameScope | None) -> Region:
        region = super().nested(proto, around)
        block = region.block
        end = block.last
        before = None if end is None else end.previous
        is_ended = isinstance(before, Op) and before.has_trait(traits.Terminator)
        if is_ended and isinstance(end, onnx.Return) and not end.operands:
            # The graph of an operation of a dialect ends as that dialect says.
            end.erase()
        return region

    # -- nodes

    def operation(
        self, node: NodeProto, present: Mapping[int, Any], n: int, types: list[Type], scope: NameScope
    ) -> Operation:
        counts, control = tuple(node.input_arg_count), tuple(node.control_input)
        node.ClearField("input_arg_count")
        node.ClearField("control_input")
        called = node.op_type if not node.domain else f"{node.domain}.{node.op_type}"
        op = self._own(node, called, counts, n, types, scope)
        if op is None:
            definition = self.definition(node.domain, node.op_type) if counts else None
            if definition is not None:
                present = self._with_placeholders(definition, present, counts, node_part(node, n))
            op = super().operation(node, present, n, types, scope)
            if counts:
                op.set_extra(common_ir.INPUT_ARG_COUNT, DenseArrayAttr(i32, counts))
        if control:
            op.set_extra(common_ir.CONTROL_INPUT, ArrayAttr(tuple(map(StringAttr, control))))
        return op

    def _with_placeholders(
        self, definition: type[Op], present: Mapping[int, Any], counts: tuple[int, ...], part: str
    ) -> Mapping[int, Any]:
        """Returns the fields of a node in which inputs stand where ONNX has them: those with the count 0 are empty."""
        inputs = definition.layout.inputs
        names: list[str] = present.get(_INPUT, [])
        if len(counts) != len(inputs):
            return present  # the verifier reports it
        if min(counts, default=0) < 0 or sum(counts) != len(names):
            text = f"the argument counts {list(counts)} do not divide {plural(len(names), 'input')}"
            self.report(WRONG_OPERAND_COUNT, f"{definition.name}: {text}", part)
            return present
        placed: list[str] = []
        for f, count, stop in zip(inputs, counts, accumulate(counts), strict=True):
            if count > 1 and not f.variadic:
                text = f"parameter '{f.spelling}' takes one value, found {count}"
                self.report(WRONG_OPERAND_COUNT, f"{definition.name}: {text}", part)
                return present
            placed += names[stop - count : stop] or ([] if f.variadic else [""])
        return {**present, _INPUT: placed if len(placed) > len(names) else names}

    def _own(
        self, node: NodeProto, called: str, counts: tuple[int, ...], n: int, types: list[Type], scope: NameScope
    ) -> Operation | None:
        """The operation of a node that calls what a file declares, or a dialect; None for other nodes."""
        definitions = self._own_operators.get(called) or self._operators.get(called)
        is_function = called in self._own_functions or called in self._definitions_by_name
        is_dialect = called.startswith(_LIBRARY_PREFIX)
        is_built_in = called in common_ir.BUILT_IN_OPERATORS and definitions is None and not is_function
        if definitions is None and not (is_function or is_dialect or is_built_in):
            return None
        part = node_part(node, n)
        attributes = self._attributes(node, scope, part, keeps_form=definitions is not None or is_function)
        operands = tuple([scope.value(name) if name else None for name in node.input])
        single = {name: graphs[0] for name, graphs in attributes.graphs.items()}
        references = frozenset(attributes.references)
        use = OperatorUse(operands, attributes.values, counts or None, single, len(types), references)
        op: Op
        if not counts and operands:
            text = f"node '{escape(node.name or called)}' has no list of argument counts"
            broken = rules.STATES_COUNTS.broken(text, where=f"{self.place}.{part}", is_tolerated=True)
            self.diagnostics.extend([broken])
        if definitions is not None:
            try:
                choice = choose(definitions, use)
            except DiagnosticError:
                # It stays a node that matches no signature; the verifier reports why.
                _remove(node, attributes.malformed)
                return None
            op = choice.definition.build(choice.arguments, types)
        elif is_function:
            for name in attributes.graphs:
                text = f"attribute '{escape(name)}' is a graph, which functions do not take"
                self.report(WRONG_ATTRIBUTE, text, part)
            op = self._call(called, node, attributes, counts or None, types, scope)
            if counts and counts != (1,) * len(op.operands):
                op.set_extra(common_ir.INPUT_ARG_COUNT, DenseArrayAttr(i32, counts))
        else:
            try:
                control = common_ir.control_flow(called, use, self._callable()) if is_built_in else None
                name = operation_name(called.removeprefix(_LIBRARY_PREFIX))
                op = control or built(self.dialects, name, use, types, attributes.graphs)
            except DiagnosticError as error:
                where = f"{self.place}.{part}"
                self.faulty.add(where)
                self.diagnostics.extend(d.located(where=where) for d in error.diagnostics)
                return None
            for v, declared in zip(op.results, types, strict=False):
                v.retype(v.type if declared is unknown else declared)
        if references:
            pairs = tuple([(name, StringAttr(to)) for name, to in attributes.references.items()])
            op.set_extra(ATTRIBUTE_REFERENCES, DictionaryAttr(pairs))
        keep(op, unknown_fields.ATTRIBUTE_FIELDS, attributes.rest.items())
        if len(node.attribute):
            _keep_forms(op, node)
        if counts and None in operands:
            absent = [n for n, v in enumerate(operands) if v is None]
            op.set_extra(ABSENT_INPUTS, DenseArrayAttr(i32, tuple(absent)))
            op.set_extra(common_ir.INPUT_ARG_COUNT, DenseArrayAttr(i32, counts))
        return op

    def _callable(self) -> dict[str, common_ir.FunctionDefinition | None]:
        """Returns the functions that the current nodes can call, by the names they use; None where they are in it."""
        return {**self._definitions_by_name, **self._own_functions}

    def _call(
        self,
        called: str,
        node: NodeProto,
        attributes: NodeAttributes,
        counts: tuple[int, ...] | None,
        types: list[Type],
        scope: NameScope,
    ) -> common_ir.Call:
        function = self._own_functions.get(called) or self._definitions_by_name.get(called)
        arguments = tuple([scope.value(name) for name in node.input if name])
        if function is not None and any(t is unknown for t in types):
            try:
                inferred = function.result_types([v.type for v in arguments], counts)
            except (DiagnosticError, ValueError):
                # The verifier reports arguments that do not fit.
                inferred = ()
            types = [
                i if t is unknown else t for t, i in zip(types, [*inferred, *types[len(inferred) :]], strict=False)
            ]
        values = DictionaryAttr(tuple(attributes.values.items()))
        return common_ir.Call.build({"function": called, "arguments": arguments, "attributes": values}, types)

    def other_attribute(self, proto: AttributeProto) -> Attribute | None:
        try:
            return self._values.read(proto, keeps_form=True)
        except ValueError as error:
            raise Malformed(WRONG_ATTRIBUTE, f"attribute '{escape(proto.name)}': {error}") from None

    def _attributes(self, node: NodeProto, scope: NameScope, part: str, *, keeps_form: bool) -> NodeAttributes:
        values: dict[str, Attribute] = {}
        graphs: dict[str, tuple[Region, ...]] = {}
        references: dict[str, str] = {}
        rest: dict[str, DictionaryAttr] = {}
        malformed: list[str] = []
        for a in node.attribute:
            misplaced = misplaced_value_in(a)
            if misplaced is not None:
                self.report(WRONG_ATTRIBUTE, f"attribute '{escape(a.name)}': {misplaced}", part)
                malformed.append(a.name)
                continue
            left = self.leftover(a, _OF_REFERENCE if a.ref_attr_name else fields_with_a_place(a))
            if a.HasField("t"):
                of_tensor, _ = self.around_contents(a.t, named=False)
                left += [("t", DictionaryAttr(tuple(of_tensor)))] if of_tensor else []
            if left:
                rest[a.name] = DictionaryAttr(tuple(left))
            if a.name in values or a.name in graphs or a.name in references:
                self.report(WRONG_ATTRIBUTE, f"attribute '{escape(a.name)}' is given twice", part)
            elif a.ref_attr_name:
                references[a.name] = a.ref_attr_name
            elif a.HasField("g"):
                graphs[a.name] = (self.nested(a.g, scope),)
            elif len(a.graphs):
                graphs[a.name] = tuple([self.nested(g, scope) for g in a.graphs])
            else:
                try:
                    read = self._values.read(a, keeps_form=keeps_form)
                except ValueError as error:
                    self.report(WRONG_ATTRIBUTE, f"attribute '{escape(a.name)}': {error}", part)
                    malformed.append(a.name)
                    continue
                # A draft file does not determine the type of an empty list.
                values[a.name] = ArrayAttr(()) if read is None else read
        return NodeAttributes(values, graphs, references, rest, malformed)


def _remove(node: NodeProto, names: Collection[str]) -> None:
    """Removes attributes of a node."""
    for n in reversed(range(len(node.attribute))):
        if node.attribute[n].name in names:
            del node.attribute[n]  # pyright: ignore[reportIndexIssue]  a repeated field


def _keep_forms(op: Op, node: NodeProto) -> None:
    """Preserves the order of the attributes of a node, and the forms of those that have several."""
    stored = stored_attributes(op)
    words = {a.name: storage_of(a, stored.get(a.name)) for a in node.attribute}
    keep(op, unknown_fields.STORAGE, [(name, StringAttr(text)) for name, text in words.items() if text])
    names = [a.name for a in node.attribute]
    if names != written_names(op):
        unknown_fields.keep_names(op, unknown_fields.ATTRIBUTE_ORDER, names)


_LIBRARY_METADATA = ("ir_version", "model_version", "model_author", "model_license", "producer_tag", "producer_version")


def _called(node: NodeProto) -> list[str]:
    """Returns the names of the operator of a node and of the functions that control flow calls."""
    is_built_in = node.op_type in common_ir.BUILT_IN_OPERATORS
    return [node.op_type, *(text_of(a.s) for a in node.attribute if is_built_in)]


def _callees_first(functions: Sequence[FunctionDefProto]) -> list[FunctionDefProto]:
    """Functions of a file after those that they call, so that what these return is known; cycles are cut."""
    by_name = {f.name: f for f in reversed(functions)}
    out: dict[str, FunctionDefProto] = {}
    visited: set[str] = set()
    for start in by_name.values():
        pending: list[tuple[FunctionDefProto, bool]] = [(start, False)]
        while pending:
            f, is_done = pending.pop()
            if is_done:
                out[f.name] = f
            elif f.name not in visited:
                visited.add(f.name)
                pending.append((f, True))
                called = [name for node in f.node for name in _called(node) if name in by_name]
                pending.extend((by_name[name], False) for name in called if name not in visited)
    return list(out.values())
