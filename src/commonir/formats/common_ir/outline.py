"""The outline of a Common IR file: what it records about its graph or library beyond the program."""

from __future__ import annotations

from commonir.dialects import common_ir, onnx
from commonir.dialects.common_ir import pages
from commonir.formats.format import Outline
from commonir.formats.onnx.outline import outline as onnx_outline
from commonir.ir.attributes import StringAttr
from commonir.ir.module import Module
from commonir.ir.operation import Block
from commonir.reports import DeclarationEntry


def outline(module: Module) -> Outline:
    """Returns the outline of a file: metadata around its graph or library."""
    about = onnx_outline(module)
    libraries = [op for op in module.body.operations if isinstance(op, common_ir.Library)]
    if not any(isinstance(op, onnx.Graph) for op in module.body.operations):
        own = next((op for op in libraries if not op.uri), None)
        metadata = {} if own is None else _library_metadata(own)
        declared = () if own is None else declarations(own.body)
        producer = metadata.pop("producer", "")
        return Outline(title="Common IR library", producer=producer, metadata=metadata, declarations=declared)
    texts = {key: value.value for key, value in module.extra.items() if isinstance(value, StringAttr)}
    named = {
        "author": texts.get(common_ir.MODEL_AUTHOR, ""),
        "license": texts.get(common_ir.MODEL_LICENSE, ""),
        "libraries": ", ".join([op.sym_name + (" (inside)" if op.is_embedded else "") for op in libraries]),
        **_declared(module.body),
    }
    metadata = {**{k: v for k, v in named.items() if v}, **about.metadata}
    return Outline(
        title="Common IR graph",
        producer=about.producer,
        metadata=metadata,
        opsets=about.opsets,
        declarations=declarations(module.body),
        annotations=(*about.annotations, *_control_edges(module)),
    )


def _control_edges(module: Module) -> tuple[str, ...]:
    """Edges beside those of data, which the order of nodes obeys."""
    has_any = any(common_ir.CONTROL_INPUT in op.extra for op in module.nested())
    return ("control edges: the order of nodes obeys them",) if has_any else ()


def declarations(block: Block) -> tuple[DeclarationEntry, ...]:
    """The functions and operators that a file declares, in order, each with its signatures; not malformed ones."""
    out: list[DeclarationEntry] = []
    for op in block.operations:
        result = pages.definitions_of(op)
        if result:
            kind = "function" if isinstance(op, common_ir.FunctionDefinition) else "operator"
            signatures = tuple([pages.signature_text(d) for d in result])
            out.append(DeclarationEntry(kind, result[0].called, signatures, pages.declared_summary(result)))
    return tuple(out)


def _library_metadata(library: common_ir.Library) -> dict[str, str]:
    doc = library.extra.get(onnx.DOC_STRING)
    version = "" if library.producer_version is None else str(library.producer_version)
    named = {
        "name": library.sym_name,
        "description": doc.value if isinstance(doc, StringAttr) else "",
        "version": "" if library.model_version is None else str(library.model_version),
        "author": library.model_author or "",
        "license": library.model_license or "",
        "producer": " ".join(filter(None, (library.producer_tag, version))),
        **_declared(library.body),
    }
    return {key: value for key, value in named.items() if value}


def _declared(block: Block) -> dict[str, str]:
    """How many operators and functions a file declares, and what it imports."""
    operations = list(block.operations)
    operators = sum(isinstance(op, common_ir.OperatorDeclaration) for op in operations)
    functions = sum(isinstance(op, common_ir.FunctionDefinition) for op in operations)
    return {
        "operators": str(operators or ""),
        "functions": str(functions or ""),
        "imports": ", ".join([op.uri for op in operations if isinstance(op, common_ir.Import)]),
    }
