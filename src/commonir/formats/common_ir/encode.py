"""From a module of the common_ir dialect to the messages of a file; contents of weights are left where they are.

Operations of ONNX are written as ONNX writes them; a graph that has nothing else is a plain ONNX model. Operations of
declared operators, calls of functions and operations of other dialects are nodes under the names that they are called
by, with their argument counts. Libraries that are in files of their own are referred to, not written.
Source: Common IR specification.
"""

from __future__ import annotations

from collections.abc import Iterable

from commonir.base.codes import NOT_IN_FORMAT
from commonir.base.diagnostics import Diagnostics
from commonir.base.tuples import NamedTuple
from commonir.dialects import common_ir, onnx
from commonir.dialects.common_ir.naming import library_name
from commonir.formats.common_ir.declarations import DeclarationWriter, import_text
from commonir.formats.common_ir.operators import stored_attributes, written_inputs, written_names
from commonir.formats.common_ir.stages import EXTENSION_VERSION
from commonir.formats.common_ir.types import ValueTypes, has_own_types, has_wildcards, write_text, write_value_type
from commonir.formats.common_ir.values import ValueWriter, attr_type_of, names_of, stored_form
from commonir.formats.onnx import unknown_fields
from commonir.formats.onnx.attributes import VALUE_NUMBERS, AttributeType
from commonir.formats.onnx.encode import Encoded, ModelEncoder
from commonir.formats.onnx.graph_writing import GraphEncoder, text, trailing_names, trimmed
from commonir.formats.onnx.messages import (
    AttributeProto,
    FunctionDefProto,
    FunctionProto,
    GraphProto,
    LibraryProto,
    NodeProto,
    ParameterDeclProto,
    TypeProto,
    ValueInfoProto,
    create,
)
from commonir.formats.onnx.opset_imports import write_opsets
from commonir.ir.attributes import ArrayAttr, Attribute, DictionaryAttr, StringAttr
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import unknown
from commonir.ods import Op, path_of
from commonir.ods.declared import DeclaredOp
from commonir.ods.definition import ATTRIBUTE_REFERENCES
from commonir.ods.fields import Field

_OF_ONNX = (onnx.OnnxOp, onnx.Custom, onnx.Call)


class EncodedFile(NamedTuple):
    """The messages of a file: those of a graph with its weights, or that of a library."""

    graph: Encoded | None = None
    library: LibraryProto | None = None


def encode_file(module: Module) -> EncodedFile:
    """The messages of a module.

    Raises: DiagnosticError (E0806) with everything that is not of the format.
    """
    if any(isinstance(op, onnx.Graph) for op in module.body.operations):
        return EncodedFile(graph=CommonIrEncoder(module).encoded())
    libraries = [op for op in module.body.operations if isinstance(op, common_ir.Library)]
    others = [op for op in module.body.operations if not isinstance(op, common_ir.Library)]
    own = [op for op in libraries if not op.uri]
    diagnostics = Diagnostics()
    for op in others:
        diagnostics.add(NOT_IN_FORMAT, f"{op.name} has no place in a library", where=path_of(op))
    if len(own) != 1:
        diagnostics.add(
            NOT_IN_FORMAT, f"a file has one graph, or is one library, found {len(own)} libraries and no graph"
        )
    diagnostics.raise_errors()
    built = create(LibraryProto)
    _Declarations(diagnostics).library(own[0], built)
    diagnostics.raise_errors()
    return EncodedFile(library=built)


class CommonGraphEncoder(GraphEncoder):
    """Encodes a graph or function."""

    def __init__(self, outer: onnx.Graph | onnx.LocalFunction, diagnostics: Diagnostics, node_names: set[str]) -> None:
        super().__init__(outer, diagnostics, node_names)
        self._types = ValueTypes()
        self._values = ValueWriter()
        self._declared = dict(outer.declared.entries) if isinstance(outer, common_ir.Graph) else {}

    def value_info(
        self, v: Value, part: str, holder: Operation | None, into: ValueInfoProto, repetition: int = 0
    ) -> None:
        declared = self._declared.get(v.name) if part in ("input", "output") and holder is self.outer else None
        if isinstance(declared, StringAttr):
            into.name = self.names.get(v, v.name)
            try:
                write_text(declared.value, into.type)
            except ValueError as error:
                self.diagnostics.add(NOT_IN_FORMAT, f"'{into.name}': {error}", where=self.outer.symbol_name)
            return
        probe = create(TypeProto)
        try:
            write_value_type(v.type, probe)
        except ValueError as error:
            self.diagnostics.add(NOT_IN_FORMAT, f"value '{v.name}': {error}", where=self.outer.symbol_name)
            return
        if not has_own_types(probe):
            super().value_info(v, part, holder, into, repetition)
            return
        into.name = self.names.get(v, v.name)
        into.type.ParseFromString(probe.SerializeToString())

    def operation(self, op: Operation, block: Block, into: GraphProto | FunctionProto) -> None:
        del block
        built = into.node.add()
        if isinstance(op, _OF_ONNX):
            self.node(op, built)
            counts = common_ir.argument_counts(op)
            if counts is not None:
                built.input_arg_count.extend(counts)
                if len(built.input) > sum(built.input_arg_count):
                    # Inputs with the count 0 have no name.
                    names = [name for name in built.input if name]
                    del built.input[:]  # pyright: ignore[reportIndexIssue]  a repeated field
                    built.input.extend(names)
        elif isinstance(op, Op):
            self._own_node(op, built)
        else:
            self.diagnostics.add(NOT_IN_FORMAT, f"'{op.name}' is not defined", where=path_of(op))
        control = op.extra.get(common_ir.CONTROL_INPUT)
        built.control_input.extend(names_of(control.values) if isinstance(control, ArrayAttr) else ())

    def definition(self, op: common_ir.FunctionDefinition, into: FunctionDefProto) -> None:
        """Fills in the nodes of a function."""
        holder: GraphProto = into  # pyright: ignore[reportAssignmentType]  it has nodes
        for inner in op.body.operations:
            if isinstance(inner, onnx.Initializer | onnx.SparseInitializer):
                message = "a function holds no constants: make them operations"
                self.diagnostics.add(NOT_IN_FORMAT, message, where=path_of(inner))
            elif not isinstance(inner, onnx.Return):
                self.operation(inner, op.body, holder)
        self._run()

    # -- nodes of Common IR

    def _own_node(self, op: Op, into: NodeProto) -> None:
        name = self._node_name(op)
        if name:
            into.name = name
        inputs = written_inputs(op, [self.name_of(v) for v in op.operands])
        into.input.extend(inputs.names)
        into.input_arg_count.extend(inputs.counts)
        outputs = trimmed([self.names.get(v, "") for v in op.results])
        into.output.extend([*outputs, *[""] * trailing_names(op)[1]])
        match op:
            case common_ir.Call():
                into.op_type = op.function
            case DeclaredOp():
                into.op_type = op.called
            case _:
                into.op_type = f"{common_ir.LIBRARY_DOMAIN}.{library_name(op.name)}"
        self._write_attributes(op, into)
        doc = text(op.extra.get(onnx.DOC_STRING))
        if doc:
            into.doc_string = doc
        metadata = op.extra.get(onnx.METADATA)
        for key, value in metadata.entries if isinstance(metadata, DictionaryAttr) else ():
            entry = into.metadata_props.add()
            entry.key, entry.value = key, text(value)
        self._merge(op.extra.get(unknown_fields.FIELDS), into, op)

    def _write_attributes(self, op: Op, into: NodeProto) -> None:
        """Fills in the attributes of a node in the order of its file."""
        values = stored_attributes(op)
        references = unknown_fields.stored(op, ATTRIBUTE_REFERENCES)
        storage = unknown_fields.stored(op, unknown_fields.STORAGE)
        rests = unknown_fields.stored(op, unknown_fields.ATTRIBUTE_FIELDS)
        graphs = {f.spelling: f for f in op.layout.regions}
        names = written_names(op)
        declared = unknown_fields.kept_names(op, unknown_fields.ATTRIBUTE_ORDER) or []
        known = {*names, *values}
        for name in [*(n for n in declared if n in known), *(n for n in names if n not in declared)]:
            built = into.attribute.add()
            built.name = name
            if name in references:
                built.ref_attr_name = text(references[name])
            elif name in graphs:
                self._graphs(op, graphs[name], built)
            else:
                self._value(op, name, values[name], text(storage.get(name)), built)
            self._merge(rests.get(name), built, op)

    def _value(self, op: Op, name: str, value: Attribute, storage: str, into: AttributeProto) -> None:
        try:
            self._values.write_form(stored_form(value, storage), into)
        except ValueError as error:
            message = f"{op.name}: attribute '{name}': {error}"
            self.diagnostics.add(NOT_IN_FORMAT, message, where=path_of(op))

    def _graphs(self, op: Op, f: Field, into: AttributeProto) -> None:
        content: Region | tuple[Region, ...] = op.field_value(f)
        into.type = AttributeType.GRAPHS if f.variadic else AttributeType.GRAPH
        for region in content if isinstance(content, tuple) else (content,):
            if len(region.blocks) == 1:
                self.nested(region.block, into.graphs.add() if f.variadic else into.g, f.spelling)
            else:
                message = f"{op.name}: the region '{f.spelling}' is not a single graph"
                self.diagnostics.add(NOT_IN_FORMAT, message, where=path_of(op))

    def open_attribute(self, value: Attribute, into: AttributeProto, storage: str) -> None:
        if attr_type_of(value) in VALUE_NUMBERS:
            super().open_attribute(value, into, storage)
            return
        try:
            self._values.write(value, into)
        except ValueError as error:
            self.diagnostics.add(NOT_IN_FORMAT, f"attribute '{into.name}': {error}")


class _Declarations:
    """Writes what files declare."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        self._found = diagnostics
        self._writer = DeclarationWriter(ValueWriter(), self._report)

    def _report(self, message: str, op: Operation) -> None:
        self._found.add(NOT_IN_FORMAT, message, where=path_of(op))

    def library(self, op: common_ir.Library, into: LibraryProto) -> None:
        """Fills in a library."""
        into.name, into.domain = op.identifier, op.domain
        for name in ("ir_version", "model_version", "model_author", "model_license", "producer_tag"):
            value = getattr(op, name)
            if value is not None:
                setattr(into, name, value)
        if op.producer_version is not None:
            into.producer_version = op.producer_version
        doc = text(op.extra.get(onnx.DOC_STRING))
        if doc:
            into.doc_string = doc
        write_opsets(op.opset_import, None, into.opset_import)
        into.common_ir_version = EXTENSION_VERSION
        for inner in op.body.operations:
            match inner:
                case common_ir.Import():
                    into.imported_libraries.append(import_text(inner))
                case common_ir.OperatorDeclaration():
                    self._writer.operator(inner, into.operator.add())
                case common_ir.FunctionDefinition():
                    self.function(inner, into.function.add())
                case _:
                    self._report(f"{inner.name} is not allowed in a library", inner)

    def declarations(self, operations: Iterable[Operation], into: GraphProto) -> bool:
        """Fills in what a graph declares and imports; whether there is anything."""
        is_any = False
        for op in operations:
            match op:
                case common_ir.Import():
                    into.imported_libraries.append(import_text(op))
                case common_ir.OperatorDeclaration():
                    self._writer.operator(op, into.operator.add())
                case common_ir.FunctionDefinition():
                    self.function(op, into.function.add())
                case common_ir.Library() if op.is_embedded:
                    self.library(op, into.library.add())
                case _:
                    continue
            is_any = True
        return is_any

    def function(self, op: common_ir.FunctionDefinition, into: FunctionDefProto) -> None:
        """Fills in a function."""
        into.name = op.sym_name
        declared = dict(op.declared.entries)
        encoder = CommonGraphEncoder(op, self._found, set())  # pyright: ignore[reportArgumentType]  a body with a name
        forms = unknown_fields.stored(op, common_ir.PARAMETER_FORMS)
        for part, values, built in (
            ("input", op.inputs, into.input_params),
            ("output", op.outputs, into.output_params),
        ):
            for v in values:
                added = built.add()
                self._parameter(v, declared, added, op, encoder)
                unknown_fields.merge(forms.get(f"{part} {v.name}"), added)
        for formal in op.attributes:
            self._writer.formal(formal, into.attr.add(), op)
        encoder.definition(op, into)
        write_opsets(op.opset_import, None, into.opset_import)
        doc = text(op.extra.get(onnx.DOC_STRING))
        if doc:
            into.doc_string = doc

    def _parameter(
        self,
        v: Value,
        declared: dict[str, Attribute],
        into: ParameterDeclProto,
        op: common_ir.FunctionDefinition,
        encoder: CommonGraphEncoder,
    ) -> None:
        into.name = encoder.names.get(v, v.name)
        explicit = declared.get(v.name)
        try:
            if isinstance(explicit, StringAttr):
                write_text(explicit.value, into.type)
            elif v.type is not unknown:
                write_value_type(v.type, into.type)
            else:
                raise ValueError("its type is not known")
        except ValueError as error:
            self._report(f"parameter '{into.name}' of function '{op.sym_name}': {error}", op)


class CommonIrEncoder(ModelEncoder):
    """Encodes the module of a graph file."""

    graph_encoder = CommonGraphEncoder

    def refuse(self, others: Iterable[Operation]) -> None:
        for op in others:
            known = common_ir.Import | common_ir.OperatorDeclaration | common_ir.FunctionDefinition | common_ir.Library
            if not isinstance(op, known):
                self.diagnostics.add(NOT_IN_FORMAT, f"{op.name} has no place in a Common IR file", where=path_of(op))

    def encoded(self) -> Encoded:
        encoded = super().encoded()
        operations = list(self.module.body.operations)
        is_extended = _Declarations(self.diagnostics).declarations(operations, encoded.graph)
        model = encoded.model
        for name, key in (("model_author", common_ir.MODEL_AUTHOR), ("model_license", common_ir.MODEL_LICENSE)):
            value = text(self.module.extra.get(key))
            if value:
                setattr(model, name, value)
                is_extended = True
        self.diagnostics.raise_errors()
        if is_extended or _mentions_extensions(encoded.graph):
            model.common_ir_version = EXTENSION_VERSION
        return encoded


def _mentions_extensions(graph: GraphProto) -> bool:
    """Whether a node of a graph or of those inside of it, or an input or output, has what plain ONNX has not."""
    pending = [graph]
    while pending:
        at = pending.pop()
        if any(has_own_types(v.type) or has_wildcards(v.type) for v in (*at.input, *at.output, *at.value_info)):
            return True
        for node in at.node:
            if len(node.input_arg_count) or len(node.control_input) or "." in node.op_type:
                return True
            pending.extend([a.g for a in node.attribute if a.HasField("g")])
    return False
