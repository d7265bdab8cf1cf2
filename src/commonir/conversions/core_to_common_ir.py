"""From the core to Common IR: a function becomes a graph whose nodes are operations of the core themselves.

The library `org.commonir.core` declares them, so there is nothing to translate but the structure: constants become
initializers, names become C identifiers that are unique in the graph, and what the program keeps between runs becomes
inputs and outputs. `passes.lower` is the way back. Files are never touched.
"""

from __future__ import annotations

from commonir.base.codes import LOST_IN_CONVERSION
from commonir.base.diagnostics import Diagnostics
from commonir.base.version import __version__
from commonir.conversions.common_ir_graphs import (
    DEFAULT_DOMAIN,
    IDENTITY_OPSET,
    Names,
    end_graph,
    identifier,
    keep_names,
    name_values,
    report_renamed,
)
from commonir.conversions.conversion import Conversion, ConversionOptions
from commonir.conversions.core_to_core.foreign_kernels import kernel_rule
from commonir.conversions.model_fields import keep_model_fields
from commonir.conversions.onnx_to_common_ir import onnx_to_common_ir
from commonir.dialects import common_ir, core, onnx
from commonir.dialects.mlir import ml_program
from commonir.ir.attributes import DictionaryAttr, IntegerAttr, StringAttr
from commonir.ir.interface import metadata_of, neutral_attributes
from commonir.ir.module import Function, Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.origins import Location
from commonir.ir.types import i64
from commonir.ods import Dialects
from commonir.ods.kernel_op import KernelOp
from commonir.passes.inline_calls import inline_calls
from commonir.passes.output_dims import name_output_dims
from commonir.passes.remove_unused import remove_unused
from commonir.passes.thread_globals import thread_globals
from commonir.passes.without_requirements import without_requirements
from commonir.rewrite.legalize import Rules, Target, legalize

_KERNELS = Rules([kernel_rule(i64)])


def core_to_common_ir(module: Module, diagnostics: Diagnostics | None = None) -> Module:
    """The main function of a lowered module as a Common IR model. What changes for its users is metadata to `found`.

    Raises: DiagnosticError (E0601) for functions that call themselves.
    """
    module, threaded = thread_globals(inline_calls(without_requirements(module, diagnostics)))
    if any(isinstance(op, KernelOp) for op in module.nested()):
        module = legalize(module, _KERNELS, Dialects(), Target(core.DIALECT.name, also_legal=frozenset({"ml_program"})))
    source = module.main
    graph, renamed = _Graph(source).build()
    result = Module(neutral_attributes(module), graph.symbol_name)
    result.body.append(common_ir.Import(f"{common_ir.BUILT_IN}{core.DIALECT.name}"))
    result.body.append(graph)
    _describe(result, source)
    keep_names(result, renamed)
    if diagnostics is not None:
        report_renamed(renamed, diagnostics)
        diagnostics.extend(t.change() for t in threaded)
    return result


def _describe(module: Module, source: Function) -> None:
    """Gives a module the metadata that a Common IR model must have, and those that it may."""
    metadata = metadata_of(module)
    module.set_extra(onnx.DOMAIN, StringAttr(DEFAULT_DOMAIN))
    module.set_extra(onnx.IR_VERSION, IntegerAttr(onnx.ir_version_of(IDENTITY_OPSET)))
    module.set_extra(onnx.MODEL_VERSION, IntegerAttr(int(metadata.version) if metadata.version.isdecimal() else 1))
    module.set_extra(onnx.PRODUCER_NAME, StringAttr("commonir"))
    module.set_extra(onnx.PRODUCER_VERSION, StringAttr(__version__))
    module.set_extra(onnx.DOC_STRING, StringAttr(metadata.description or f"The program `{source.symbol_name}`."))
    if metadata.author:
        module.set_extra(common_ir.MODEL_AUTHOR, StringAttr(metadata.author))
    if metadata.license:
        module.set_extra(common_ir.MODEL_LICENSE, StringAttr(metadata.license))


class _Graph:
    """A graph that is being made of a function."""

    def __init__(self, source: Function) -> None:
        self.source = source
        self.names = Names()
        self.values: dict[Value, Value] = {}

    def build(self) -> tuple[common_ir.Graph, dict[str, str]]:
        """The graph, and new names of inputs and outputs by old ones where they changed."""
        renamed: dict[str, str] = {}
        body = self.source.body
        block = Block([a.type for a in body.arguments])
        for n, (old, new) in enumerate(zip(body.arguments, block.arguments, strict=True)):
            new.name = self.names.take(old.name or f"input{n}")
            self.values[old] = new
            if old.name and new.name != old.name:
                renamed[old.name] = new.name
        outputs = [self.names.take(name or f"output{n}") for n, name in enumerate(self.source.output_names)]
        pairs = zip(self.source.output_names, outputs, strict=True)
        renamed |= {old: new for old, new in pairs if old and new != old}
        for op in body.operations:
            if not isinstance(op, ml_program.Return):
                block.append(self._copied(op))
        returned = [self.values[v] for v in self.source.outputs]
        uses_identity = end_graph(block, dict(zip(outputs, returned, strict=True)))
        remove_unused(block)
        name_output_dims(block, self.source)
        name_values(block, self.names)
        imports = (("", IntegerAttr(IDENTITY_OPSET)),) if uses_identity else ()
        name = identifier(self.source.symbol_name) or "main"
        return common_ir.Graph(name, DictionaryAttr(imports), Region([block])), renamed

    def _copied(self, source: Operation) -> Operation:
        """A copy of an operation with everything nested in it."""
        regions: dict[Operation, tuple[Region, ...]] = {}
        for op in source.walk():
            regions[op] = tuple([Region([self._block_like(b) for b in r.blocks]) for r in op.regions])
        copies: dict[Operation, Operation] = {}
        # Values do not flow out of nested blocks, so whatever is inside may be copied after what is around it.
        for op in source.walk():
            copies[op] = self._one(op, regions[op])
            self.values.update(zip(op.results, copies[op].results, strict=True))
        for op in source.walk():
            for r, built in zip(op.regions, regions[op], strict=True):
                for b, into in zip(r.blocks, built.blocks, strict=True):
                    for inner in b.operations:
                        into.append(copies[inner])
        return copies[source]

    def _one(self, op: Operation, regions: tuple[Region, ...]) -> Operation:
        operands = tuple([self.values[v] for v in op.operands])
        result: Operation = (
            onnx.Initializer.build({"value": op.value}, [r.type for r in op.results])
            if isinstance(op, core.Constant) and op.parent is self.source.body
            else op.clone_shallow(operands, regions)
        )
        for old, new in zip(op.results, result.results, strict=True):
            new.name = old.name
        name = op.source_name
        result.location = Location(name=name) if name else None
        return result

    def _block_like(self, source: Block) -> Block:
        result = Block([a.type for a in source.arguments], [a.name for a in source.arguments], source.label)
        self.values.update(zip(source.arguments, result.arguments, strict=True))
        return result


def convert(module: Module, options: ConversionOptions, lost: Diagnostics) -> Module:
    """The conversion as users choose it; there is nothing to choose. Raises: as `core_to_common_ir`."""
    del options
    for name, other in module.functions.items():
        if other is not module.main:
            lost.add(LOST_IN_CONVERSION, f"the function '{name}' is left out: a graph is one program")
    return core_to_common_ir(module, lost)


CONVERSION = Conversion(
    "common_ir",
    convert,
    direct=onnx_to_common_ir,
    describe=keep_model_fields,
    takes=frozenset(),
    keeps_defaults=True,
    keeps_handles=True,
)
