"""The structure of an ONNX program: graphs, their terminators and initializers.

A module has one `onnx.graph`; graphs nested in operators are regions that end in `onnx.return`, and the label of their
block is their name. Fields of the model around the graph are attributes of the module, under the names below. Source:
ONNX IR specification, models and graphs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol, runtime_checkable

from commonir.base.codes import MALFORMED_REGION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import MALFORMED_VALUE
from commonir.dialects import core
from commonir.ir.attributes import ArrayAttr, Attribute, DataAttr, DictionaryAttr, IntegerAttr, StringAttr
from commonir.ir.data import ArrayData, Data, DeferredData, FileData, Scalar, data_of, sparse_fault
from commonir.ir.interface import Metadata, Port, metadata_of
from commonir.ir.module import Function, Module, NamedValues, replace_function
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.ports import NO_PORT, ColorSpace, NewInterface, labels_of_text
from commonir.ir.types import TensorType, Type, string
from commonir.ods import DeclaredResults, Op, any_type, attr_types, attribute, operand, region, result, traits
from commonir.ods.type_rules import are_compatible_types
from commonir.symbolic import Dim

IR_VERSION = "onnx.ir_version"
PRODUCER_NAME = "onnx.producer_name"
PRODUCER_VERSION = "onnx.producer_version"
DOMAIN = "onnx.domain"
MODEL_VERSION = "onnx.model_version"
DOC_STRING = "onnx.doc_string"
METADATA = "onnx.metadata_props"
LABELS_KEY = "commonir.labels."
"""Begins the name of a text of metadata that lists the labels of an output's elements, as JSON."""
IMAGE_KEY = "commonir.image."
"""Begins the name of a text of metadata with the channels of an image: rgb, bgr or grayscale."""
DOC_KEY = "commonir.doc."
"""Begins the name of a text of metadata that describes an input or output."""
STATE_KEY = "commonir.state."
"""Begins the name of a text of metadata with the output that holds what an input is in the next run."""
_PORT_KEYS = (LABELS_KEY, IMAGE_KEY, DOC_KEY, STATE_KEY)
"""Attributes of a module that hold the fields of the model around the graph; `DOC_STRING` and `METADATA` of a graph,
operator or module hold its own."""
QUANTIZATION_ANNOTATION = "onnx.quantization_annotation"
DEVICE_CONFIGURATIONS = "onnx.device_configurations"
"""Attributes of a graph and of nodes that refer to values by name."""
STORAGE = "onnx.storage"
"""How the file holds a tensor, or by name the attributes of a node."""
TYPED = "typed"
"""The word of `STORAGE` for a tensor that is in the field of its type and not in raw form."""
TRAILING_NAMES = "onnx.trailing_names"
"""The numbers of empty names at the end of the inputs and of the outputs of a node."""
UNNAMED_RESULTS = "onnx.unnamed_results"
"""Says of a node that its file names none of the results without a name, which operators always have."""
HIDING_RESULTS = "onnx.hiding_results"
"""Says of a node in a nested graph that a result has the name of a value around that graph in its file."""
NODE_NAME = "onnx.node_name"
"""The attribute of a node whose name is not unique in its file."""
UNNAMED_GRAPH = "onnx.unnamed"
"""Says at the end of a nested graph that it has no name in its file."""
OPSET_FORMS = "onnx.opset_forms"
"""Messages about versions of operator sets, where the file states several of one domain or says more."""
TYPE_FORMS = "onnx.type_forms"
"""Messages about inputs, outputs and other values of a graph that say more than types do, or less, by part and name."""


PREFIXES = {"": "", "ai.onnx": "", "ai.onnx.ml": "ml", "ai.onnx.preview": "preview", "com.microsoft": "microsoft"}
"""The prefixes of operator names by domain, after the name of the dialect; versions follow it."""
PARTLY_DEFINED = ("com.microsoft",)
"""Domains of which not all operators have a definition here."""
ONNXRUNTIME_VERSION = "onnxruntime1"
"""The version of operators that onnxruntime adds to the default domain, where ONNX has none or not yet."""
_TRAINING = "ai.onnx.preview.training"
GRAPH = "graph"
"""The path of the graph of a model."""


# The maximum number of elements of a default value that are compared.
_FEW = 16


def version_of(opset: int) -> str:
    """The name of a version of the dialect."""
    return f"opset{opset}"


def default_operation_set(opset_import: DictionaryAttr) -> str:
    """Returns the version of the default domain among those of operator sets; "" if it is not imported."""
    version = dict(opset_import.entries).get("")
    return version_of(version.value) if isinstance(version, IntegerAttr) else ""


_FIRST_OPSETS = (7, 9, 10, 11, 12, 15, 19, 21, 23, 24, 25, 28)
"""The versions of the default operator set from which on the IR version is 3, 4 and so on."""

FREE_INITIALIZERS = 4
"""The version of the IR from which on an initializer need not be an input."""


def ir_version_of(opset: int) -> int:
    """The oldest version of the IR that a version of the default operator set belongs to."""
    return 2 + sum(first <= opset for first in _FIRST_OPSETS)


def operation_name(domain: str, op_type: str) -> str | None:
    """The name of an operator here; None for those of other domains."""
    if domain == _TRAINING:
        return f"onnx.preview.training.{op_type}"
    prefix = PREFIXES.get(domain)
    return None if prefix is None else f"onnx.{prefix}.{op_type}" if prefix else f"onnx.{op_type}"


def added_name(op_type: str) -> str:
    """The name here of an operator that onnxruntime adds to the default domain."""
    return f"onnx.onnxruntime.{op_type}"


@lru_cache(1 << 10)
def operator_of(name: str) -> tuple[str, str]:
    """The domain and the type of the operator of a name here: the inverse of `operation_name` and `added_name`."""
    prefix, _, op_type = name.removeprefix("onnx.").rpartition(".")
    if prefix == "preview.training":
        return _TRAINING, op_type
    domain = next((domain for domain, p in PREFIXES.items() if p == prefix), "")
    return domain, op_type


def version_in(domain: str, number: int) -> str:
    """The name of a version of the operators of a domain."""
    return f"training{number}" if domain == _TRAINING else f"{PREFIXES.get(domain) or 'opset'}{number}"


class Return(Op, name="onnx.return", traits=(traits.Terminator,)):
    """Ends a graph; the names of its operands are those of the outputs."""

    outputs: tuple[Value, ...] = operand(any_type, variadic=True)

    def infer(self) -> tuple[Type, ...]:
        return ()

    def reference(self, outputs: tuple[Value, ...]) -> Operation:
        return core.Yield(outputs)


def shown_name(op: Operation) -> str:
    """Returns the name that identifies a node to people: its own, else that of a result, else its operator's."""
    name = op.source_name
    kind = op.op_type if isinstance(op, Custom) else op.name.rpartition(".")[2]
    return next(filter(None, (name, *(v.name for v in op.results))), kind)


@runtime_checkable
class _NamesGraphs(Protocol):
    """A node of an operator without definition, which lists the names of its graphs."""

    graph_names: tuple[str, ...]


def path_in(holder: Operation, path: str, op: Operation) -> str | None:
    """Returns the path of an operation inside of a graph: `graph.node[3] 'loop'.body.node[0] 'add'`."""
    parts: list[str] = []
    while op is not holder:
        block, parent = op.parent, op.parent_op
        if block is None or parent is None:
            return None
        parts += (_path_part(op, block), "" if parent is holder else _graph_name(parent, block))
        op = parent
    return ".".join([path, *filter(None, reversed(parts))])


def _path_part(op: Operation, block: Block) -> str:
    match op:
        case Return():
            return ""
        case Initializer() | SparseInitializer():
            return f"{op.name.removeprefix('onnx.')} '{op.output.name}'"
        case _:
            return f"node[{block.positions(_is_node)[op]}] '{shown_name(op)}'"


def _is_node(op: Operation) -> bool:
    return not isinstance(op, Initializer | SparseInitializer)


def _graph_name(holder: Operation, block: Block) -> str:
    """Returns the name of the attribute of a node that holds a graph."""
    n = next((n for n, region in enumerate(holder.regions) if region is block.parent), -1)
    if isinstance(holder, _NamesGraphs):
        names: Sequence[str] = holder.graph_names
    else:
        names = [f.spelling for f in holder.layout.regions] if isinstance(holder, Op) else ()
    return names[n] if 0 <= n < len(names) else ""


def returned(graph: Region) -> tuple[Value, ...]:
    """The outputs of a nested graph; nothing when it does not end as it should."""
    last = graph.blocks[0].last if graph.blocks else None
    return last.outputs if isinstance(last, Return) else ()


_MOST_SHORT = 64
"""Elements up to which a new constant is held in the form that is shorter."""
_LONG_NUMBER_BYTES = 10
_BITS_OF_BYTE = 7


class Initializer(Op, name="onnx.initializer", traits=(traits.Pure, traits.ConstantLike)):
    """An initializer of the graph: a constant tensor."""

    attr_types_suffice = True

    value: Data = attribute(attr_types.data)
    output: Value = result(any_type)

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        if _is_shorter_typed(self.value):
            self.set_extra(STORAGE, StringAttr(TYPED))

    def infer(self) -> tuple[Type, ...]:
        return (self.value.type,)

    def reference(self) -> Value:
        return core.constant(self.value)

    def constant_data(self) -> Data | None:
        # A constant that a reader could not decode has no value.
        value = self.attribute_values[0]
        return value if isinstance(value, Data) else None

    def constant_dims(self) -> tuple[Dim, ...] | None:
        data = self.constant_data()
        return None if data is None else core.integer_values(data)


def _is_shorter_typed(data: Data) -> bool:
    """Whether a few integers, such as a shape, take fewer bytes as numbers of varying length than in raw form."""
    if not data.element.is_integer or isinstance(data, FileData) or not 0 < data.count <= _MOST_SHORT:
        return False
    numbers = [int(v) for v in data.values()]
    lengths = [_LONG_NUMBER_BYTES if n < 0 else -(-n.bit_length() // _BITS_OF_BYTE) or 1 for n in numbers]
    return sum(lengths) < data.size_bytes


class SparseInitializer(Op, name="onnx.sparse_initializer", traits=(traits.Pure, traits.ConstantLike)):
    """A sparse constant of the graph: its nonzero elements and their positions; its value is dense.

    `indices` has a row-major index, or a row of indices, for each of the `values`.
    """

    values: Data = attribute(attr_types.data)
    indices: Data = attribute(attr_types.data)
    dims: tuple[int, ...] = attribute(attr_types.integers, doc="the shape")
    output: Value = result(any_type)

    def infer(self) -> tuple[Type, ...]:
        return (TensorType(self.values.element, self.dims),)

    def reference(self) -> Value:
        return core.constant(self.dense())

    def constant_data(self) -> Data | None:
        return self.dense()

    def dense(self) -> Data:
        """The constant with its zeros."""
        type = TensorType(self.values.element, self.dims)
        return DeferredData(type, lambda: self._densified(type))

    def misplaced(self) -> Iterator[Diagnostic]:
        """Yields the faults of the places of the elements."""
        fault = sparse_fault(self.values, self.indices, self.dims)
        if fault is not None:
            yield Diagnostic(MALFORMED_VALUE, f"G9: {fault}")

    def _densified(self, type: TensorType) -> Data:
        """The elements at their places. Raises: DiagnosticError when there are none."""
        wrong = tuple(self.misplaced())
        if wrong:
            raise DiagnosticError(*wrong)
        return densified(type, self.values, self.indices)


def densified(type: TensorType, values: Data, indices: Data) -> Data:
    """A dense constant from the stored elements of a sparse one, and their indices: coordinates or row-major ones.

    Raises: ValueError when they contradict each other, or an index is out of range.
    """
    from commonir.base.sparse import SparseArray  # noqa: PLC0415  loads numpy

    dense = SparseArray(values.array(), indices.array(), type.static_shape).dense()
    if values.element is string:
        return data_of(string, type.static_shape, dense.reshape(-1).tolist())
    return ArrayData(type, dense)


def _names_in(attribute: Attribute | None, key: str) -> Iterator[str]:
    """Names of values in what is kept of annotations: of the tensors that they are about, and of parameters."""
    if isinstance(attribute, StringAttr) and key in ("tensor_name", "value"):
        yield attribute.value
    elif isinstance(attribute, ArrayAttr):
        for held in attribute.values:
            yield from _names_in(held, key)
    elif isinstance(attribute, DictionaryAttr):
        for name, held in attribute.entries:
            yield from _names_in(held, name)


class GraphFunction(Op, Function):
    """A function whose region is a graph: its inputs are the arguments of the block, its outputs what that returns."""

    ordered_by_data = True

    @property
    def own_path(self) -> str:
        """Its path in a file, "" for what is in none."""
        return ""

    def path_to(self, op: Operation) -> str | None:
        return path_in(self, self.own_path, op) if self.own_path else None

    @property
    def body(self) -> Block:
        return self.regions[0].block

    @property
    def inputs(self) -> NamedValues:
        return NamedValues(self.body.arguments)

    @property
    def outputs(self) -> NamedValues:
        return NamedValues(returned(self.regions[0]), lambda: self.output_names)

    @property
    def output_names(self) -> tuple[str, ...]:
        return tuple([v.name for v in self.outputs])

    def described(self, about: Metadata) -> Metadata:
        doc = self.extra.get(DOC_STRING)
        return about._replace(description=about.description or (doc.value if isinstance(doc, StringAttr) else ""))

    @property
    def referred_names(self) -> frozenset[str]:
        result: set[str] = set()
        for op in self.walk():
            for key in (QUANTIZATION_ANNOTATION, DEVICE_CONFIGURATIONS) if op.extra else ():
                result.update(_names_in(op.extra.get(key), key))
        return frozenset(result)

    def infer(self) -> tuple[Type, ...]:
        return ()


class Graph(
    GraphFunction, name="onnx.graph", traits=(traits.IsolatedFromAbove, traits.SymbolTrait, traits.SingleBlock)
):
    """The graph of a model. Its inputs are the arguments of its block, its outputs the operands of `onnx.return`.

    `opset_import` has the version of each operator set by its domain; the default domain is the empty name.
    """

    sym_name: str = attribute(attr_types.symbol_name, doc="the name of the graph")
    opset_import: DictionaryAttr = attribute(attr_types.dictionary, doc="operator set versions by domain")
    content: Region = region(doc="the body")
    defaults: DictionaryAttr = attribute(
        attr_types.dictionary, default=DictionaryAttr(()), doc="default values of inputs, by name"
    )

    @property
    def own_path(self) -> str:
        return GRAPH

    copies = "onnx.Identity"
    constants = "onnx.initializer"

    @property
    def symbol_name(self) -> str:
        return self.sym_name

    @property
    def input_ports(self) -> Mapping[str, Port]:
        defaults = {name: v.data for name, v in self.defaults.entries if isinstance(v, DataAttr)}
        types = {v.name: v.type for v in self.inputs}
        ports = {name: _port_of(types.get(name), data) for name, data in defaults.items()}
        return self._described(types, ports)

    @property
    def output_ports(self) -> Mapping[str, Port]:
        return self._described(self.output_names, {})

    def _described(self, names: Iterable[str], ports: Mapping[str, Port]) -> Mapping[str, Port]:
        """Returns ports with what the metadata of the model say of them, as a conversion to ONNX writes them."""
        holder = self.parent_op
        about = metadata_of(holder) if isinstance(holder, Module) else Metadata()
        texts = {key: text for key, text in about.user_defined if key.startswith(_PORT_KEYS)}
        if not texts:
            return ports
        out = dict(ports)
        for name in names:
            port = out.get(name, NO_PORT)
            color = next((c for c in ColorSpace if c.value == texts.get(f"{IMAGE_KEY}{name}")), port.image)
            labels = labels_of_text(texts.get(f"{LABELS_KEY}{name}", ""))
            doc, state = texts.get(f"{DOC_KEY}{name}", port.doc), texts.get(f"{STATE_KEY}{name}", port.state)
            port = port._replace(image=color, labels=labels, doc=doc, state=state)
            if port != NO_PORT:
                out[name] = port
        return out

    def described(self, about: Metadata) -> Metadata:
        rest = tuple([(key, text) for key, text in about.user_defined if not key.startswith(_PORT_KEYS)])
        return super().described(about._replace(user_defined=rest))

    @property
    def operation_set(self) -> str:
        return default_operation_set(self.opset_import)

    def replace_interface(self, new: NewInterface) -> Function:
        for name, value in new.outputs:
            value.name = name
        new.body.append(Return(tuple([v for _, v in new.outputs])))
        entries = dict(self.defaults.entries)
        old = {v.name: new.renamed.get(v.name, v.name) for v in new.body.arguments}
        defaults = DictionaryAttr(tuple([(name, entries[before]) for name, before in old.items() if before in entries]))
        return replace_function(self, Graph(self.sym_name, self.opset_import, Region([new.body]), defaults))

    def verify(self) -> Iterator[Diagnostic]:
        yield from check_graph(self.content)
        defaults = {name: v.data for name, v in self.defaults.entries if isinstance(v, DataAttr)}
        for v in self.inputs if defaults else ():
            default = defaults.get(v.name)
            if default is not None and not are_compatible_types(v.type, default.type):
                text = f"G7: '{v.name}' is declared {v.type}, but its default is {default.type}"
                yield Diagnostic(MALFORMED_VALUE, text, where=f"initializer '{v.name}'")


def _port_of(type: Type | None, default: Data) -> Port:
    """The port of an input that need not be given.

    A default whose elements are all equal is a number, where the type of the input says how many there are.
    """
    is_number = isinstance(type, TensorType) and type.is_static
    is_number = is_number and (default.element.is_integer or default.element.kind == "float")
    elements = set(default.values()) if is_number and 0 < default.count <= _FEW else set[Scalar]()
    number = next(iter(elements)) if len(elements) == 1 else None
    return Port(default=number) if isinstance(number, int | float) else Port(contents=default)


def check_graph(graph: Region) -> Iterable[Diagnostic]:
    """Yields the faults of the end of a graph."""
    last = graph.blocks[0].last if graph.blocks else None
    if not isinstance(last, Return):
        result = "nothing" if last is None else last.name
        yield Diagnostic(MALFORMED_REGION, f"a graph must end in onnx.return, found {result}")


class Custom(DeclaredResults, name="onnx.custom"):
    """An operator without a definition: of another domain, or not supported.

    Its results have the types that the file declares. `absent` has the positions of omitted inputs.
    """

    op_type: str = attribute(attr_types.string, doc="its name within the domain")
    domain: str = attribute(attr_types.string, default="")
    overload: str = attribute(attr_types.string, default="")
    attributes: DictionaryAttr = attribute(attr_types.dictionary, default=DictionaryAttr(()))
    inputs: tuple[Value, ...] = operand(any_type, variadic=True, default=())
    absent: tuple[int, ...] = attribute(attr_types.integers, default=())
    graphs: tuple[Region, ...] = region(variadic=True, default=(), doc="graphs of its attributes")
    graph_names: tuple[str, ...] = attribute(
        attr_types.strings, default=(), doc="names of the attributes that hold the graphs, in order"
    )
    outputs: tuple[Value, ...] = result(any_type, variadic=True)

    @property
    def undefined_operator(self) -> str:
        return f"{self.domain}.{self.op_type}" if self.domain else self.op_type
