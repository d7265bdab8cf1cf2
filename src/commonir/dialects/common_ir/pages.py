"""Reference pages of the operators and functions that a file declares, made of the definitions that they become."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import onnx
from commonir.dialects.common_ir.functions import FunctionDefinition
from commonir.dialects.common_ir.operators import PREFIX, OperatorDeclaration, OperatorNode
from commonir.dialects.common_ir.program import Import, Library
from commonir.dialects.common_ir.signatures import attributes_from
from commonir.ir.attributes import StringAttr
from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.ods import Dialect
from commonir.ods.declared import Declaration, Parameter, Signature, define
from commonir.ods.documentation import operation_page, summary_of

Declared = Mapping[str, tuple[type[OperatorNode], ...]]


def declared_in(module: Module) -> Declared:
    """Returns the operators that a file and its libraries declare, by the names that nodes of the file use. Malformed
    declarations are left out: the verifier reports them.
    """
    out: dict[str, tuple[type[OperatorNode], ...]] = {}
    for op in module.body.operations:
        inside = op.body.operations if isinstance(op, Library) else (op,)
        prefix = f"{op.sym_name}." if isinstance(op, Library) else ""
        for declared in inside:
            result = definitions_of(declared, prefix)
            if result:
                out[result[0].called] = result
    return out


def definitions_of(op: Operation, prefix: str = "") -> tuple[type[OperatorNode], ...]:
    """The definitions of an operator or function, one for each signature; none of what is neither, or is malformed."""
    try:
        if isinstance(op, OperatorDeclaration):
            return op.definitions(prefix + op.sym_name)
        if isinstance(op, FunctionDefinition):
            called = prefix + op.sym_name
            return define(_declaration(op), called, PREFIX + called, OperatorNode)
    except (ValueError, DiagnosticError):
        pass
    return ()


def _declaration(function: FunctionDefinition) -> Declaration:
    """Returns the declaration by which nodes call a function. Raises: ValueError."""
    parts = [("input", v.name) for v in function.inputs] + [("output", v.name) for v in function.outputs]
    docs = function.parameter_docs()
    types = function.signature_types()
    parameters = [Parameter(p[1], t, doc=docs.get(p, "")) for p, t in zip(parts, types, strict=True)]
    count = len(function.inputs)
    doc = function.extra.get(onnx.DOC_STRING)
    text = doc.value if isinstance(doc, StringAttr) else f"The function {function.sym_name}."
    attributes = attributes_from(function.attributes)
    built = Signature(tuple(parameters[:count]), tuple(parameters[count:]), attributes)
    return Declaration(function.sym_name, (built,), text)


def declared_summary(definitions: Sequence[type[OperatorNode]]) -> str:
    """The first sentence of the description of an operator or function."""
    return summary_of(definitions[0])


def signature_text(definition: type[OperatorNode]) -> str:
    """Parameters, attributes and results of an operator or function with their types, and its type variables."""
    signature = definition.signature
    variables = [f"{name}: {members}" for name, members in signature.variables.items()]
    return str(signature) + (f" where {'; '.join(variables)}" if variables else "")


def declared_page(definitions: Sequence[type[OperatorNode]]) -> str:
    """The reference page of a declared operator or function, as Markdown, with a section for each signature."""
    called = definitions[0].called
    pages = [operation_page(Dialect("common_ir", [d]), d.name) for d in definitions]
    if len(pages) == 1:
        return pages[0].replace(f"# `{PREFIX}{called}`", f"# `{called}`", 1)
    lines = [f"# `{called}`", "", f"{len(pages)} signatures: the types of the operands choose.", ""]
    for d, page in zip(definitions, pages, strict=True):
        body = re.sub(r"(?m)^## ", "### ", page.partition("\n")[2])
        lines += [f"## Signature {d.number + 1}", "", f"`{d.signature}`", body]
    return "\n".join(lines).rstrip() + "\n"


def libraries_in(module: Module) -> Mapping[str, Library]:
    """The libraries of a module by their names: that of a library file, or those that a graph imports."""
    return {op.sym_name: op for op in module.body.operations if isinstance(op, Library)}


def library_page(library: Library) -> str:
    """The reference page of a library, as Markdown: what it declares, each with its signatures."""
    doc = library.extra.get(onnx.DOC_STRING)
    text = [doc.value, ""] if isinstance(doc, StringAttr) else []
    lines = [f"# Library `{library.sym_name}`", "", *text]
    imports = [f"`{op.uri}`" for op in library.body.operations if isinstance(op, Import)]
    if imports:
        lines += [f"Imports: {', '.join(imports)}.", ""]
    for title, kind in (("Operators", OperatorDeclaration), ("Functions", FunctionDefinition)):
        declared = [definitions_of(op) for op in library.body.operations if isinstance(op, kind)]
        result = [d for d in declared if d]
        if result:
            lines += [f"## {title}", "", "| name | signature | meaning |", "|---|---|---|"]
            lines += [_library_row(definitions) for definitions in result] + [""]
    return "\n".join(lines).rstrip() + "\n"


def _library_row(definitions: Sequence[type[OperatorNode]]) -> str:
    signatures = "<br>".join(f"`{signature_text(d)}`" for d in definitions)
    return f"| `{definitions[0].called}` | {signatures} | {declared_summary(definitions)} |"
