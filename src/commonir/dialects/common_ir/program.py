"""The structure of a Common IR program: graphs and libraries, the functions and operators they declare, their imports.

A module of a graph file holds one `common_ir.graph` with what it declares, and the libraries of the closure of its
imports, each one to one with its file; a module of a library file holds one `common_ir.library`. Common IR is a
superset of ONNX: nodes of operator sets are operations of the dialect `onnx`, and metadata that both have are kept as
there.
Source: Common IR specification, extensible computation graph model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from commonir.base.diagnostics import Diagnostic
from commonir.dialects import onnx
from commonir.dialects.common_ir import checks, rules
from commonir.dialects.common_ir.called_functions import faults_of_calls
from commonir.dialects.common_ir.closure import Closure
from commonir.dialects.common_ir.declared_results import DeclaredTypes
from commonir.dialects.common_ir.functions import NOTHING, FunctionDefinition, Namespace, module_around
from commonir.dialects.common_ir.operators import PREFIX, OperatorDeclaration
from commonir.dialects.common_ir.shape_checks import shape_check
from commonir.ir.attributes import Attribute, DictionaryAttr, IntegerAttr, StringAttr
from commonir.ir.interface import NO_PORT, Metadata, Port, metadata_of
from commonir.ir.module import Function, Module, replace_function
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.ports import NewInterface
from commonir.ir.types import Type
from commonir.ods import Op, attr_types, attribute, region, traits
from commonir.ods.declared import DeclaredOp
from commonir.ods.declared_types import DeclaredType, as_declared, declared_type
from commonir.ods.declares import Declares

MODEL_AUTHOR = "common_ir.model_author"
MODEL_LICENSE = "common_ir.model_license"
"""Attributes of a module that hold the metadata of a graph file which ONNX has no field for."""


class Graph(onnx.Graph, name="common_ir.graph", traits=(traits.GraphRegion, traits.PromisesShapes)):
    """The graph of a Common IR model.

    `declared` has, by the names of inputs and outputs, the declared types that a tensor type cannot say: those with
    wildcards, such as `f32[n, *]`.
    """

    declared: DictionaryAttr = attribute(
        attr_types.dictionary, default=NOTHING, doc="declared types with wildcards, by the name of the input or output"
    )

    @property
    def input_ports(self) -> Mapping[str, Port]:
        return self._with_declared(super().input_ports, self.inputs)

    @property
    def output_ports(self) -> Mapping[str, Port]:
        return self._with_declared({}, self.outputs)

    def described(self, about: Metadata) -> Metadata:
        holder = self.parent_op
        declared: Mapping[str, Attribute] = holder.extra if isinstance(holder, Module) else {}
        texts = [declared.get(key) for key in (MODEL_AUTHOR, MODEL_LICENSE)]
        author, license = [t.value if isinstance(t, StringAttr) else "" for t in texts]
        return super().described(about._replace(author=about.author or author, license=about.license or license))

    def _declared_types(self) -> Mapping[Value, DeclaredType]:
        """Returns the declared types with wildcards; malformed ones are reported by `declared_texts`."""
        out: dict[Value, DeclaredType] = {}
        texts = dict(self.declared.entries)
        for v in (*self.inputs, *self.outputs):
            text = texts.get(v.name)
            try:
                if isinstance(text, StringAttr):
                    out[v] = declared_type(text.value)
            except ValueError:
                continue
        return out

    def result_check(self, inputs: Sequence[Value], outputs: Sequence[Value]) -> Operation | None:
        own = (*self.inputs, *self.outputs)
        texts = self._declared_types()
        types = [texts.get(v) or as_declared(v.type) for v in own]
        return shape_check([v.name for v in own], types, (*inputs, *outputs))

    def _with_declared(self, ports: Mapping[str, Port], values: Iterable[Value]) -> Mapping[str, Port]:
        """Ports of some inputs or outputs, with the types that are declared of them."""
        explicit = dict(self.declared.entries)
        out = dict(ports)
        for v in values:
            text = explicit.get(v.name)
            if isinstance(text, StringAttr):
                out[v.name] = out.get(v.name, NO_PORT)._replace(declared=text.value)
        return out

    def verify(self) -> Iterator[Diagnostic]:
        yield from onnx.Graph.verify(self)
        yield from checks.limited(self._broken_rules())

    def _broken_rules(self) -> Iterator[Diagnostic]:
        holder = self.parent_op
        declared: Mapping[str, Attribute] = holder.extra if isinstance(holder, Module) else {}
        domain = declared.get(onnx.DOMAIN)
        yield from checks.identity(self.sym_name, domain.value if isinstance(domain, StringAttr) else "")
        ir_version = declared.get(onnx.IR_VERSION)
        number = ir_version.value if isinstance(ir_version, IntegerAttr) else None
        yield from checks.versions(number, declared.get(onnx.MODEL_VERSION))
        of_model = declared.get(onnx.DOC_STRING) or (
            metadata_of(holder).description if isinstance(holder, Module) else ""
        )
        of_graph = self.extra.get(onnx.DOC_STRING)
        if of_graph is None and not of_model:
            yield rules.DOCUMENTED.broken("there is no documentation string")
        yield from checks.documentation(of_graph)
        yield from checks.documentation(of_model, "model")
        yield from checks.documentation_within(self)
        names = list(checks.names_in(self.body))
        yield from checks.unique(names)
        yield from checks.nested_graphs(self.body)
        yield from checks.identifiers(name for name, _ in names)
        yield from checks.interface(self.inputs, self.outputs)
        yield from checks.declared_texts(self.declared)
        yield from checks.defined(self.body, [name for name, _ in names])
        yield from checks.order(self.body, is_free=False)
        yield from checks.outputs_named(self.body)
        yield from DeclaredTypes(self, self.body, self._declared_types()).findings()
        yield from checks.map_types((*self.inputs, *(v for op in self.body.operations for v in op.results)))
        if isinstance(holder, Module):
            yield from _of_declarations(holder.body, holder, self.opset_import)
            yield from faults_of_calls(op for part in _parts(holder.body, self) for op in part.walk())
            yield from Closure(holder.body, holder).undeclared(self.body, self.opset_import)

    def replace_interface(self, new: NewInterface) -> Function:
        new_op = onnx.Graph.replace_interface(self, new)
        names = {new.renamed.get(v.name, v.name): v.name for v in (*new_op.inputs, *new_op.outputs)}
        kept = tuple([(names[name], content) for name, content in self.declared.entries if name in names])
        assert isinstance(new_op, onnx.Graph)
        graph = Graph(
            new_op.sym_name, new_op.opset_import, new_op.content.take(), new_op.defaults, DictionaryAttr(kept)
        )
        return replace_function(new_op, graph)


def _parts(own: Block, *graphs: Operation) -> list[Operation]:
    """Returns the graph and functions of a file, which may call functions."""
    return [*graphs, *(op for op in own.operations if isinstance(op, FunctionDefinition))]


def _of_declarations(own: Block, module: Module | None, opsets: DictionaryAttr) -> Iterator[Diagnostic]:
    """Yields the faults of the names of the declarations of a file, and with what its functions call."""
    symbols: list[tuple[str, str]] = []
    closure = Closure(own, module)
    for op in own.operations:
        if isinstance(op, FunctionDefinition):
            symbols.append((op.symbol_name, "function"))
            for d in closure.undeclared(op.body, op.opset_import if op.opset_import.entries else opsets):
                yield d.located(where=f"function '{op.symbol_name}'")
        elif isinstance(op, OperatorDeclaration):
            symbols.append((op.symbol_name, "operator"))
    yield from checks.declared_names(symbols)


class Import(Op, name="common_ir.import", traits=(traits.Declares,)):
    """Refers to a library by an absolute URI, or by a path relative to the file that imports it."""

    uri: str = attribute(attr_types.string, doc="where the library is found")
    sha256: str = attribute(attr_types.string, default="", doc="the digest of its file, in hexadecimal digits")

    def infer(self) -> tuple[Type, ...]:
        return ()

    def verify(self) -> Iterator[Diagnostic]:
        yield from checks.import_form(self.uri)


class Library(
    Op,
    Namespace,
    Declares,
    name="common_ir.library",
    traits=(traits.IsolatedFromAbove, traits.SymbolTrait, traits.SymbolTable, traits.SingleBlock, traits.Declares),
):
    """A library: operators it declares, functions it defines, and libraries it imports; it has no graph of its own.

    Nodes call what it declares by `domain.name.declaration`.
    """

    sym_name: str = attribute(attr_types.symbol_name, doc="the domain and the name, with a dot between")
    identifier: str = attribute(attr_types.string, doc="the name of the library")
    domain: str = attribute(attr_types.string, doc="the domain of the library")
    content: Region = region(doc="declarations, functions and imports")
    ir_version: int | None = attribute(attr_types.integer, default=None)
    model_version: int | None = attribute(attr_types.integer, default=None)
    model_author: str | None = attribute(attr_types.string, default=None)
    model_license: str | None = attribute(attr_types.string, default=None)
    producer_tag: str | None = attribute(attr_types.string, default=None)
    producer_version: int | None = attribute(attr_types.integer, default=None)
    opset_import: DictionaryAttr = attribute(
        attr_types.dictionary, default=NOTHING, doc="versions of operator sets that its functions use, by domain"
    )
    uri: str = attribute(
        attr_types.string, default="", doc="where it was found, when it is imported from a file of its own"
    )
    is_embedded: bool = attribute(attr_types.flag, default=False, doc="whether it is part of the file of the graph")

    @property
    def symbol_name(self) -> str:
        return self.sym_name

    @property
    def body(self) -> Block:
        """The block with what it declares."""
        return self.content.block

    def declared(self) -> Mapping[str, tuple[type[DeclaredOp], ...]]:
        out: dict[str, tuple[type[DeclaredOp], ...]] = {}
        for op in self.body.operations:
            if isinstance(op, OperatorDeclaration):
                called = f"{self.sym_name}.{op.sym_name}"
                try:
                    out[PREFIX + called] = op.definitions(called)
                except ValueError:
                    continue  # reported by `verify`
        return out

    def infer(self) -> tuple[Type, ...]:
        return ()

    def verify(self) -> Iterator[Diagnostic]:
        yield from checks.limited(self._broken_rules())

    def _broken_rules(self) -> Iterator[Diagnostic]:
        yield from checks.identity(self.identifier, self.domain)
        yield from checks.versions(self.ir_version, self.model_version)
        doc = self.extra.get(onnx.DOC_STRING)
        if doc is None:
            yield rules.DOCUMENTED.broken("there is no documentation string")
        yield from checks.documentation(doc)
        for op in self.body.operations:
            if isinstance(op, onnx.Graph):
                yield rules.NO_GRAPH_IN_LIBRARY.broken(f"the library has the graph '{op.symbol_name}'")
        yield from _of_declarations(self.body, module_around(self), self.opset_import)
        yield from faults_of_calls(op for part in _parts(self.body) for op in part.walk())


def qualified_name(domain: str, library: str) -> str:
    """The symbol of a library, which begins the names of what nodes call in it."""
    return f"{domain}.{library}"
