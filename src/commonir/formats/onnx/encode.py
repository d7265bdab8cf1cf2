"""From a module of the onnx dialect to the messages of a model; contents of weights are left where they are.

Names are those of the values. Values without a name, or with one that is taken where they stand, get one here; inputs
and outputs are named first. What was kept of a file (`unknown_fields.py`) comes out as it was. Writes nothing, converts
nothing. Source: ONNX IR specification.
"""

from __future__ import annotations

from collections.abc import Iterable

from commonir.base.codes import NOT_IN_FORMAT
from commonir.base.diagnostics import Diagnostics
from commonir.base.tuples import NamedTuple
from commonir.dialects import onnx
from commonir.formats.onnx import unknown_fields
from commonir.formats.onnx.element_types import UNDEFINED
from commonir.formats.onnx.graph_writing import GraphEncoder, Weight, add_text, items, text, write_texts
from commonir.formats.onnx.messages import (
    IR_VERSIONS,
    FunctionProto,
    GraphProto,
    ModelProto,
    StringStringEntryProto,
    create,
)
from commonir.formats.onnx.opset_imports import write_opsets
from commonir.formats.onnx.unknown_fields import merge
from commonir.ir.attributes import IntegerAttr
from commonir.ir.interface import metadata_of
from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.ods import path_of


class Encoded(NamedTuple):
    """A model in parts: the message around the graph, the graph without its weights, and the weights in order.

    `nested` are tensors inside of nodes and of nested graphs, in these messages but without contents. `is_packed` says
    how numbers are written in all of them.
    """

    model: ModelProto
    graph: GraphProto
    weights: tuple[Weight, ...]
    nested: tuple[Weight, ...] = ()
    is_packed: bool = False


def encode(module: Module) -> Encoded:
    """The messages of a module, with large tensors of nodes and nested graphs apart.

    Raises: DiagnosticError (E0806) with everything that is not of the format.
    """
    encoder = ModelEncoder(module)
    encoder.nested = []
    return encoder.encoded()


class ModelEncoder:
    """Encodes one module. Formats that hold more than ONNX refine what they need to."""

    graph_encoder: type[GraphEncoder] = GraphEncoder

    def __init__(self, module: Module) -> None:
        self.module = module
        self.diagnostics = Diagnostics()
        self.node_names: set[str] = set()
        self.nested: list[Weight] | None = None
        """Receives large tensors of nodes and nested graphs; None leaves them in their messages."""

    def encoded(self) -> Encoded:
        """The messages. Raises: DiagnosticError (E0806) with everything that is not of the format."""
        operations = list(self.module.body.operations)
        graphs = [op for op in operations if isinstance(op, onnx.Graph)]
        functions = [op for op in operations if isinstance(op, onnx.LocalFunction)]
        self.refuse([op for op in operations if not isinstance(op, onnx.Graph | onnx.LocalFunction)])
        if len(graphs) != 1:
            self.diagnostics.add(NOT_IN_FORMAT, f"an ONNX model has one graph, found {len(graphs)}")
        self.diagnostics.raise_errors()
        encoder = self.graph_encoder(graphs[0], self.diagnostics, self.node_names)
        encoder.nested_weights = self.nested
        graph = encoder.graph()
        model = self.model(graphs[0])
        for function in functions:
            self.function(function, model.functions.add())
        self.diagnostics.raise_errors()
        is_packed = unknown_fields.PACKED in self.module.extra
        return Encoded(model, graph, tuple(encoder.weights), tuple(self.nested or ()), is_packed)

    def refuse(self, others: Iterable[Operation]) -> None:
        """Reports operations that are neither a graph nor a function."""
        for op in others:
            self.diagnostics.add(NOT_IN_FORMAT, f"{op.name} has no place in an ONNX model", where=path_of(op))

    def model(self, graph: onnx.Graph) -> ModelProto:
        """The message around the graph."""
        module = self.module
        model = create(ModelProto)
        write_opsets(graph.opset_import, module.extra.get(unknown_fields.OPSETS), model.opset_import)
        declared = module.extra.get(onnx.IR_VERSION)
        default = dict(graph.opset_import.entries).get("")
        oldest = IR_VERSIONS.get(_integer(default), max(IR_VERSIONS.values()))
        version = oldest if declared is None else _integer(declared)
        if version:  # a file may lack it
            model.ir_version = version
        about = metadata_of(module)
        for name, value in (
            ("producer_name", text(module.extra.get(onnx.PRODUCER_NAME))),
            ("producer_version", text(module.extra.get(onnx.PRODUCER_VERSION))),
            ("domain", text(module.extra.get(onnx.DOMAIN))),
            ("doc_string", about.description or text(module.extra.get(onnx.DOC_STRING))),
        ):
            if value:
                setattr(model, name, value)
        number = module.extra.get(onnx.MODEL_VERSION)
        if number is not None:
            model.model_version = _integer(number)
        self._write_metadata(model)
        for form in items(module.extra.get(unknown_fields.TRAINING)):
            merge(form, model.training_info.add())
        for form in items(module.extra.get(unknown_fields.CONFIGURATION)):
            merge(form, model.configuration.add())
        return merge(module.extra.get(unknown_fields.FIELDS), model)

    def _write_metadata(self, model: ModelProto) -> None:
        about = metadata_of(self.module)
        forms = [
            merge(form, create(StringStringEntryProto))
            for form in items(self.module.extra.get(unknown_fields.METADATA_FORMS))
        ]
        if forms and unknown_fields.metadata_from(model.doc_string, [(e.key, e.value) for e in forms]) == about:
            model.metadata_props.extend(forms)
            return
        for key, value in unknown_fields.metadata_entries(about):
            add_text(model.metadata_props, key, value)
        write_texts(self.module, model.metadata_props)

    def function(self, op: onnx.LocalFunction, into: FunctionProto) -> None:
        """Fills in a local function."""
        encoder = self.graph_encoder(op, self.diagnostics, self.node_names)
        encoder.nested_weights = self.nested
        encoder.function(op, into)
        write_opsets(op.opset_import, op.extra.get(unknown_fields.OPSETS), into.opset_import)


def _integer(value: object) -> int:
    return value.value if isinstance(value, IntegerAttr) else 0


__all__ = ["UNDEFINED", "Encoded", "ModelEncoder", "Weight", "encode"]
