"""From the message of an ONNX model to a module of the onnx dialect.

Nodes become the operations that the onnx dialect defines for their operator set; those of which there is no definition
become `onnx.custom`. Values have the types that the file states; others have those that follow from definitions, and
`unknown` where none follows. Nothing is converted, and nothing is read but the message. What operations have no place
for is kept (`unknown_fields.py`).

Limits: `Limits.max_operations`; nesting is limited by that of messages.
Source: ONNX IR specification; onnx.proto of ONNX 1.23.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from commonir.base.codes import WRONG_ATTRIBUTE
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.file_codes import LIMIT_EXCEEDED, MALFORMED_TYPE, MALFORMED_VALUE, QUESTIONABLE_MODEL
from commonir.base.limits import DEFAULT_LIMITS, Limits
from commonir.dialects import onnx
from commonir.dialects.onnx.data_types import ELEMENTS
from commonir.formats.onnx import unknown_fields
from commonir.formats.onnx.external_data import EXTERNAL
from commonir.formats.onnx.messages import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    OperatorSetIdProto,
    Repeated,
    SparseTensorProto,
    TensorProto,
    ValueInfoProto,
)
from commonir.formats.onnx.node_reading import NodeDecoder, Rest
from commonir.formats.onnx.opset_imports import is_default_domain, only_version, opsets_of, uses_in
from commonir.formats.onnx.references import kinds_of, wrong_references
from commonir.formats.onnx.scopes import NameScope
from commonir.formats.onnx.tensors import IN_MESSAGE, TensorError, TensorReader, ToldError, WrappedError, contents_field
from commonir.formats.onnx.unknown_fields import keep, keep_names
from commonir.ir.attributes import Attribute, DataAttr, DictionaryAttr, IntegerAttr, StringAttr, UnitAttr
from commonir.ir.data import Data
from commonir.ir.interface import set_metadata, text_entry
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import TensorType, Type, string, unknown
from commonir.ods import Dialects
from commonir.ods.fields import MISSING

_FIRST_WITH_FREE_INITIALIZERS = 4
"""The IR version before which every constant of the graph had to be declared as an input too."""

# Numbers of the fields that have a place in the module.
_OF_MODEL = frozenset({1, 2, 3, 4, 5, 6, 7, 8, 14, 20, 25, 26})
_OF_GRAPH = frozenset({1, 2, 5, 10, 11, 12, 13, 14, 15, 16})
_OF_FUNCTION = frozenset({1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14})
_OF_TENSOR = frozenset({1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14})
_OF_SPARSE = frozenset({1, 2, 3})
_ABOUT_MODEL = frozenset({6, 14})
_TRAINING, _CONFIGURATION = 20, 26
_CONTENTS = frozenset({4, 5, 6, 7, 9, 10, 11})
_TENSOR_NAME, _RAW = 8, 9
_OF_UNNAMED = _OF_TENSOR - {_TENSOR_NAME}


def decode(
    model: ModelProto,
    dialects: Dialects,
    diagnostics: Diagnostics,
    contents: TensorReader = IN_MESSAGE,
    *,
    keeps_unknown: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> Module:
    """The module of a model; `found` receives what is wrong with it, `contents` gives those of tensors.

    `keeps_unknown` says that the message has fields that the declarations do not know.
    """
    return ModelDecoder(dialects, diagnostics, contents, keeps_unknown=keeps_unknown, limits=limits).module(model)


class ModelDecoder(NodeDecoder):
    """Decodes one model. Formats that hold more than ONNX refine what they need to."""

    def __init__(
        self,
        dialects: Dialects,
        diagnostics: Diagnostics,
        contents: TensorReader = IN_MESSAGE,
        *,
        keeps_unknown: bool = False,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        super().__init__(dialects, diagnostics, limits, keeps_unknown=keeps_unknown)
        self._contents = contents
        self._limits = limits
        self._operations = 0
        self._has_free_initializers = True

    # -- the model

    def module(self, model: ModelProto) -> Module:
        """The module of a model."""
        module = Module()
        self.describe(module, model)
        self._has_free_initializers = model.ir_version >= _FIRST_WITH_FREE_INITIALIZERS
        functions = model.functions[:]
        for f in functions:
            self.functions[f.domain, f.name, f.overload] = onnx.function_symbol(f.domain, f.name, f.overload)
        for function in functions:
            built = module.body.append(self.function(function))
            self.local_functions.setdefault(built.sym_name, built)
        opsets = opsets_of(model.opset_import)
        if not any(is_default_domain(domain) for domain, _ in opsets.entries):
            version = only_version("", uses_in(model.graph), model.ir_version)
            self.assumed_versions = {} if version is None else {"": version}
        graph = self.graph(model.graph, opsets)
        module.body.append(graph)
        if functions:
            module.entry = graph.sym_name
        return module

    def describe(self, module: Module, model: ModelProto) -> None:
        """Keeps what a message says of a model around its graph."""
        listed = model.ListFields()
        present = {f.number for f, v in listed if v}
        module.set_extra(onnx.IR_VERSION, IntegerAttr(model.ir_version))
        for name, text in (
            (onnx.PRODUCER_NAME, model.producer_name),
            (onnx.PRODUCER_VERSION, model.producer_version),
            (onnx.DOMAIN, model.domain),
        ):
            if text:
                module.set_extra(name, StringAttr(text))
        if model.model_version:
            module.set_extra(onnx.MODEL_VERSION, IntegerAttr(model.model_version))
        if not present.isdisjoint(_ABOUT_MODEL):
            self._keep_metadata(module, model)
        if not self._is_plain_list(model.opset_import):
            module.set_extra(
                unknown_fields.OPSETS, unknown_fields.array(map(unknown_fields.form_of, model.opset_import))
            )
        if _TRAINING in present:
            module.set_extra(
                unknown_fields.TRAINING, unknown_fields.array(map(unknown_fields.form_of, model.training_info))
            )
        if _CONFIGURATION in present:
            module.set_extra(
                unknown_fields.CONFIGURATION, unknown_fields.array(map(unknown_fields.form_of, model.configuration))
            )
        keep(module, unknown_fields.FIELDS, self.leftover(model, _OF_MODEL, listed))

    def _is_plain_list(self, imports: Repeated[OperatorSetIdProto]) -> bool:
        """Whether operator sets have a version each, and nothing else."""
        domains = {e.domain for e in imports if e.HasField("domain") and e.HasField("version")}
        return len(domains) == len(imports) and not any(map(self.has_unknown, imports))

    def _keep_metadata(self, module: Module, model: ModelProto) -> None:
        about = unknown_fields.metadata_from(model.doc_string, [(e.key, e.value) for e in model.metadata_props])
        set_metadata(module, about)
        forms = [unknown_fields.form_of(e) for e in model.metadata_props]
        if forms != [text_entry(*pair) for pair in unknown_fields.metadata_entries(about)]:
            module.set_extra(unknown_fields.METADATA_FORMS, unknown_fields.array(forms))

    # -- graphs and functions

    def graph(self, proto: GraphProto, opsets: DictionaryAttr) -> onnx.Graph:
        """The graph of a model."""
        self.place = onnx.GRAPH
        self.use_versions(opsets)
        block, defaults = self.outer_block(proto)
        result = self.graph_operation(proto, opsets, Region([block]), defaults)
        last = block.last
        if last is not None:
            result.update_extra(last.extra)
            for name in result.extra:
                last.set_extra(name, None)
        return result

    def graph_operation(
        self, proto: GraphProto, opsets: DictionaryAttr, content: Region, defaults: DictionaryAttr
    ) -> onnx.Graph:
        """The operation for the graph of a model."""
        arguments = {"sym_name": proto.name, "opset_import": opsets, "content": content, "defaults": defaults}
        return onnx.Graph.build(arguments, ())

    def outer_block(self, proto: GraphProto) -> tuple[Block, DictionaryAttr]:
        """The block of the outermost graph, and the constants for inputs that need not be given."""
        defaults: dict[str, Data] = {}
        block = self.block(proto, None, defaults)
        return block, DictionaryAttr(tuple([(name, DataAttr(data)) for name, data in defaults.items()]))

    def function(self, proto: FunctionProto) -> onnx.LocalFunction:
        """A local function."""
        symbol = onnx.function_symbol(proto.domain, proto.name, proto.overload)
        self.place = onnx.function_path(symbol)
        opsets = opsets_of(proto.opset_import)
        self.use_versions(opsets)
        names = tuple(proto.input)
        declared = {info.name: self._type(info) for info in proto.value_info}
        block = Block([declared.get(n, unknown) for n in names], names)
        scope = NameScope(declared)
        scope.values.update(zip(names, block.arguments, strict=True))
        end = self.fill(block, proto.node, list(proto.output), scope)
        self.check_references(proto.node, proto.attribute_proto)
        defaults, rest, _ = self.dictionary(proto.attribute_proto, scope)
        new_op = onnx.LocalFunction(
            symbol, proto.name, opsets, Region([block]), proto.domain, proto.overload, tuple(proto.attribute), defaults
        )
        keep(new_op, unknown_fields.ATTRIBUTE_FIELDS, rest)
        if not self._is_plain_list(proto.opset_import):
            new_op.set_extra(
                unknown_fields.OPSETS, unknown_fields.array(map(unknown_fields.form_of, proto.opset_import))
            )
        self.keep_texts(new_op, proto.doc_string, proto.metadata_props[:])
        self._keep_infos(new_op, proto.value_info, block, end.outputs)
        keep(new_op, unknown_fields.FIELDS, self.leftover(proto, _OF_FUNCTION))
        return new_op

    def check_references(self, nodes: Repeated[NodeProto], formals: Repeated[AttributeProto]) -> None:
        """Reports references to attributes of the function with a different type."""
        for wrong in wrong_references(nodes, kinds_of(formals)):
            self.report(WRONG_ATTRIBUTE, wrong.message, wrong.part)

    def nested(self, proto: GraphProto, around: NameScope | None) -> Region:
        """A graph inside of an attribute."""
        return Region([self.block(proto, around)])

    def block(self, proto: GraphProto, around: NameScope | None, defaults: dict[str, Data] | None = None) -> Block:
        """The block of a graph; with `defaults`, of the outermost one, which receives those of inputs."""
        initializers, outputs = proto.initializer[:], proto.output[:]
        constants = {tensor.name for tensor in initializers}
        frozen = constants if defaults is not None and not self._has_free_initializers else frozenset[str]()
        if defaults is not None:  # defaults of inputs are dense here
            frozen |= {sparse.values.name for sparse in proto.sparse_initializer[:]}
        inputs = [info for info in proto.input[:] if info.name not in frozen]
        types = [self._type(info) for info in inputs]
        declared = {info.name: self._type(info) for info in (*proto.value_info[:], *outputs)}
        names = [info.name for info in inputs]
        block = Block(types, names, proto.name)
        scope = NameScope(declared, around)
        for v in block.arguments:
            self.define(v.name, v, scope, "input")
        of_defaults: dict[str, Rest] = {unknown_fields.STORAGE: [], unknown_fields.DEFAULT_FIELDS: []}
        initialized = set(names) if defaults is not None else set[str]()
        for tensor in initializers:
            if tensor.name in initialized and defaults is not None:
                self._default(tensor, defaults, of_defaults)
            else:
                self._initializer(tensor, block, scope)
        for sparse in proto.sparse_initializer[:]:
            self._sparse_initializer(sparse, block, scope)
        end = self.fill(block, proto.node, [info.name for info in outputs], scope)
        scope.leave()
        self._keep_graph(end, proto, block, frozen, initialized & constants)
        for name, entries in of_defaults.items():
            keep(end, name, entries)
        return block

    def fill(self, block: Block, nodes: Iterable[NodeProto], outputs: Sequence[str], scope: NameScope) -> onnx.Return:
        """Reads the nodes of a graph or function whose inputs are defined, and ends its block."""
        for n, node in enumerate(nodes):
            self._operations += 1
            if self._operations > self._limits.max_operations:
                message = f"the model has more than {self._limits.max_operations:,} nodes"
                raise DiagnosticError(Diagnostic(LIMIT_EXCEEDED, message, where=self.place))
            self.node(node, n, block, scope)
        returned = tuple([scope.value(name) for name in outputs])
        return block.append(onnx.Return.build({"outputs": returned}, ()))

    # -- what is said of values

    def _type(self, info: ValueInfoProto) -> Type:
        type, _ = self.types.read(info.type)
        if type is unknown and info.type.WhichOneof("value") is not None:
            self.report(MALFORMED_TYPE, "the element type is not known", f"value '{info.name}'")
        return type

    def _keep_graph(
        self, end: onnx.Return, proto: GraphProto, block: Block, frozen: frozenset[str] | set[str], items: set[str]
    ) -> None:
        """Keeps what a graph says beside its nodes, at its end."""
        self.keep_texts(end, proto.doc_string, proto.metadata_props[:])
        if len(proto.quantization_annotation):
            end.set_extra(
                unknown_fields.ANNOTATIONS,
                unknown_fields.array(map(unknown_fields.form_of, proto.quantization_annotation)),
            )
        keep(end, unknown_fields.FIELDS, self.leftover(proto, _OF_GRAPH))
        if not proto.HasField("name"):
            end.set_extra(unknown_fields.UNNAMED, UnitAttr())
        forms = self._forms("input", [i for i in proto.input[:] if i.name not in frozen], block.arguments)
        forms += self._forms("output", proto.output[:], end.outputs)
        if frozen and any(info.name in frozen for info in proto.input):
            keep_names(end, unknown_fields.DECLARED_INPUTS, [info.name for info in proto.input])
            forms += [
                (f"input {info.name}", unknown_fields.form_of(info)) for info in proto.input if info.name in frozen
            ]
        if items:
            names = [tensor.name for tensor in proto.initializer]
            known = set(names)
            last = [name for name in dict.fromkeys(info.name for info in proto.input) if name in known]
            if names != [*(name for name in names if name not in items), *last]:
                keep_names(end, unknown_fields.INITIALIZER_ORDER, names)
        self._keep_infos(end, proto.value_info[:], block, end.outputs, forms)

    def _forms(self, part: str, infos: Iterable[ValueInfoProto], values: Sequence[Value]) -> Rest:
        """The messages about values that say more than their types, or other types than they have."""
        repetitions = unknown_fields.Repetitions()
        result: Rest = []
        for info, v in zip(infos, values, strict=True):
            repetition = repetitions.of(info.name)
            if not self._is_plain(info, v):
                type, _ = self.types.read(info.type)
                read_as = None if part == "input" or type in (v.type, unknown) else v.type
                if read_as is not None and _have_other_elements(type, read_as):
                    text = f"'{info.name}' is declared {type}, but is {read_as}; onnxruntime refuses that"
                    self.diagnostics.add(QUESTIONABLE_MODEL, text, where=self._path(f"{part} '{info.name}'"))
                key = unknown_fields.form_key(part, info.name, repetition, read_as)
                result.append((key, unknown_fields.form_of(info)))
        return result

    def _is_plain(self, info: ValueInfoProto, v: Value) -> bool:
        """Whether a message says a name and the type of a value, and no more."""
        type, is_exact = self.types.read(info.type)
        present = 1 if type is unknown else 2
        return is_exact and type is v.type and len(info.ListFields()) == present and not self.keeps_unknown

    def _keep_infos(
        self,
        op: Operation,
        infos: Iterable[ValueInfoProto],
        block: Block,
        outputs: Sequence[Value],
        forms: Iterable[tuple[str, Attribute]] = (),
    ) -> None:
        """Keeps which values inside of a graph the file states types of, and what it says beyond types."""
        results = {v.name: v for inner in block.operations for v in inner.results if v.name}
        shown = {v.name for v in (*block.arguments, *outputs)}
        expected = [
            name
            for name, v in results.items()
            if name not in shown and not isinstance(v.owner, onnx.Initializer | onnx.SparseInitializer)
        ]
        names: list[str] = []
        more: Rest = []
        repetitions = unknown_fields.Repetitions()
        for info in infos:
            v = results.get(info.name)
            names.append(info.name)
            repetition = repetitions.of(info.name)
            if v is None or info.name in shown or not self._is_plain(info, v):
                more.append((unknown_fields.form_key("value", info.name, repetition), unknown_fields.form_of(info)))
        if names != expected:
            keep_names(op, unknown_fields.VALUE_INFO, names)
        keep(op, unknown_fields.TYPE_FORMS, [*forms, *more])

    # -- constants

    def _default(self, tensor: TensorProto, defaults: dict[str, Data], end: dict[str, Rest]) -> None:
        data = self.tensor(tensor, f"initializer '{tensor.name}'")
        if data is None:
            return
        defaults[tensor.name] = data
        rest, form = self.around_contents(tensor)
        if form:
            end[unknown_fields.STORAGE].append((tensor.name, StringAttr(form)))
        if rest:
            end[unknown_fields.DEFAULT_FIELDS].append((tensor.name, DictionaryAttr(tuple(rest))))

    def _initializer(self, tensor: TensorProto, block: Block, scope: NameScope) -> None:
        part = f"initializer '{tensor.name}'"
        data = self.tensor(tensor, part)
        type = scope.declared.get(tensor.name, unknown) if data is None else data.type
        new_op = onnx.Initializer.build({"value": MISSING if data is None else data}, [type])
        block.append(new_op)
        self.keep_tensor(new_op, tensor)
        new_op.output.name = tensor.name
        self.define(tensor.name, new_op.output, scope, part)

    def _sparse_initializer(self, sparse: SparseTensorProto, block: Block, scope: NameScope) -> None:
        name = sparse.values.name
        part = f"sparse_initializer '{name}'"
        values, indices = self.tensor(sparse.values, part), self.tensor(sparse.indices, part)
        dims = tuple(sparse.dims)
        if values is None or indices is None or any(d < 0 for d in dims):
            return
        arguments = {"values": values, "indices": indices, "dims": dims}
        new_op = onnx.SparseInitializer.build(arguments, [TensorType(values.element, dims)])
        block.append(new_op)
        new_op.output.name = name
        around = {
            "values": self.around_contents(sparse.values),
            "indices": self.around_contents(sparse.indices, named=False),
        }
        rest = [(part, DictionaryAttr(tuple(r))) for part, (r, _) in around.items() if r]
        keep(new_op, unknown_fields.FIELDS, [*rest, *self.leftover(sparse, _OF_SPARSE)])
        keep(new_op, unknown_fields.STORAGE, [(part, StringAttr(form)) for part, (_, form) in around.items() if form])
        self.define(name, new_op.output, scope, part)

    def keep_tensor(self, op: Operation, tensor: TensorProto) -> None:
        """Keeps what a tensor says beyond its contents, and how it holds them."""
        rest, form = self.around_contents(tensor)
        if form:
            op.set_extra(unknown_fields.STORAGE, StringAttr(form))
        keep(op, unknown_fields.FIELDS, rest)

    def around_contents(self, tensor: TensorProto, *, named: bool = True) -> tuple[Rest, str]:
        listed = tensor.ListFields()
        numbers = {f.number for f, _ in listed}
        storage = unknown_fields.TYPED if self._contents.is_typed(tensor, numbers) else ""
        content = _OF_TENSOR if named else _OF_UNNAMED
        present = numbers & _CONTENTS
        is_external = tensor.data_location == EXTERNAL
        if len(present) > (0 if is_external else 1):
            # Contents in a second place count for nothing.
            element = None if is_external else ELEMENTS.get(tensor.data_type)
            is_raw = bool(tensor.raw_data) and element is not string
            used = 0 if element is None else _RAW if is_raw else contents_field(element)
            content -= _CONTENTS - {used}
        return self.leftover(tensor, content, listed), storage

    def data(self, proto: TensorProto, part: str = "") -> Data:
        """The contents of a tensor, which is a part of the current graph or function.

        Raises: TensorError.
        """
        element = ELEMENTS.get(proto.data_type)
        if element is None:
            raise TensorError(f"{proto.data_type} is not an element type")
        shape = tuple(proto.dims)
        if len(shape) > self._limits.max_rank:
            raise TensorError(f"the tensor has {len(shape)} dimensions, of {self._limits.max_rank} possible")
        if any(d < 0 for d in shape):
            raise TensorError(f"a tensor has no size {min(shape)}")
        try:
            return self._contents(proto, TensorType(element, shape))
        except WrappedError as error:
            where = ".".join(filter(None, (self.place, part)))
            help = "onnx and onnxruntime take its low bits, as is done here"
            self.diagnostics.add(QUESTIONABLE_MODEL, str(error), where=where, help=help)
            return error.data

    def tensor(self, proto: TensorProto, part: str) -> Data | None:
        """Returns the contents of a tensor; None if there are none, which is reported."""
        try:
            return self.data(proto, part)
        except ToldError:
            self.faulty.add(f"{self.place}.{part}" if self.place else part)
        except TensorError as error:
            self.report(MALFORMED_VALUE, str(error), part)
        except DiagnosticError as error:
            where = f"{self.place}.{part}" if self.place else part
            self.faulty.add(where)
            self.diagnostics.extend([d.located(where=where) for d in error.diagnostics])
        return None


def _have_other_elements(declared: Type, actual: Type) -> bool:
    return (
        isinstance(declared, TensorType) and isinstance(actual, TensorType) and declared.element is not actual.element
    )
