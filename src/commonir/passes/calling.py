"""Makes a runnable program from a function of a Common IR file: a graph that calls it.

A function is a template, and a library has no graph, so neither runs by itself. The graph has the parameters of the
function as inputs and its results as outputs; formal attributes have the requested values, or their defaults.
"""

from __future__ import annotations

from collections.abc import Mapping

from commonir.base.codes import UNKNOWN_FUNCTION, WRONG_ATTRIBUTE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.suggestions import did_you_mean
from commonir.dialects import common_ir, onnx
from commonir.dialects.common_ir import FunctionDefinition, Library
from commonir.dialects.common_ir.signatures import attributes_from
from commonir.ir.attributes import Attribute, DictionaryAttr, IntegerAttr, StringAttr
from commonir.ir.cloning import clone
from commonir.ir.module import Function, Module
from commonir.ir.operation import Block, Region
from commonir.ods.declared import DeclaredAttribute
from commonir.passes.bundle_libraries import bundle_libraries


def callable_functions(module: Module) -> dict[str, FunctionDefinition]:
    """Returns the functions that a Common IR program declares or imports, by the names under which its graph calls
    them.
    """
    out: dict[str, FunctionDefinition] = {}
    for op in module.body.operations:
        if isinstance(op, FunctionDefinition):
            out.setdefault(op.sym_name, op)
        elif isinstance(op, Library):
            for nested in op.body.operations:
                if isinstance(nested, FunctionDefinition):
                    out.setdefault(f"{op.sym_name}.{nested.sym_name}", nested)
    return out


def callee_named(module: Module, name: str | None) -> str:
    """Returns the full name of a function from its full name, or from its last part if that is unambiguous.

    Raises: DiagnosticError (E0706) when there is no such function, or more than one.
    """
    functions = callable_functions(module)
    if name is None:
        message = "there is no graph to run: a library has functions alone"
        help = (
            f"name one of them: {', '.join(functions)}"
            if functions
            else "operators that are only declared cannot be run"
        )
        raise DiagnosticError(Diagnostic(UNKNOWN_FUNCTION, message, help=help))
    if name in functions:
        return name
    matching = [full for full in functions if full.rpartition(".")[2] == name]
    if len(matching) == 1:
        return matching[0]
    if matching:
        message = f"several functions are called '{name}'"
        raise DiagnosticError(Diagnostic(UNKNOWN_FUNCTION, message, help=f"name one of them: {', '.join(matching)}"))
    names = [*module.functions, *functions]
    near = did_you_mean(name, [*names, *(full.rpartition(".")[2] for full in functions)])
    help = near or f"functions: {', '.join(names) or 'none'}"
    raise DiagnosticError(Diagnostic(UNKNOWN_FUNCTION, f"the program has no function '{name}'", help=help))


def formal_attributes(module: Module, name: str | None) -> dict[str, DeclaredAttribute]:
    """Returns the formal attributes of a function by name. Raises: DiagnosticError (E0505, E0706)."""
    function = callable_functions(module)[callee_named(module, name)]
    try:
        return {a.name: a for a in attributes_from(function.attributes)}
    except ValueError as error:
        text = f"function '{function.sym_name}': {error}"
        raise DiagnosticError(Diagnostic(WRONG_ATTRIBUTE, text)) from None


def calling(module: Module, name: str | None, attributes: Mapping[str, object]) -> Module:
    """Returns a program that calls a function of a Common IR program, with Python values for some of its attributes.

    Raises: DiagnosticError (E0505 for attributes that do not fit, E0706 for an unknown function).
    """
    full = callee_named(module, name)
    function = callable_functions(module)[full]
    formals = formal_attributes(module, full)
    arguments = DictionaryAttr(tuple([(n, _attribute_value(function, n, v, formals)) for n, v in attributes.items()]))
    function.actual_attributes(arguments)
    graphs = [op for op in module.body.operations if isinstance(op, Function)]
    opsets = next((g.opset_import for g in graphs if isinstance(g, onnx.Graph)), _opsets_around(function))
    result = clone(module, keep=lambda op: op not in graphs)
    block = Block([v.type for v in function.inputs], [v.name for v in function.inputs])
    call = common_ir.Call.build(
        {"function": full, "arguments": block.arguments, "attributes": arguments}, [v.type for v in function.outputs]
    )
    for result_value, v in zip(call.results, function.outputs, strict=True):
        result_value.name = v.name
    block.append(call)
    block.append(onnx.Return(call.results))
    graph = common_ir.Graph(function.sym_name, opsets, Region([block]), DictionaryAttr(()), function.declared)
    result.body.append(graph)
    result.entry = graph.sym_name
    return result if graphs else _with_libraries(result, full)


def _with_libraries(module: Module, full: str) -> Module:
    """Returns a program with all libraries embedded, and with the attributes that a graph must declare."""
    library = module.symbols[full.rpartition(".")[0]]
    assert isinstance(library, Library)
    for name, number in ((onnx.IR_VERSION, library.ir_version), (onnx.MODEL_VERSION, library.model_version)):
        if number is not None:
            module.set_extra(name, IntegerAttr(number))
    module.set_extra(onnx.DOMAIN, StringAttr(library.domain))
    module.set_extra(onnx.DOC_STRING, StringAttr(f"Calls `{full}`."))
    return bundle_libraries(module)


def _opsets_around(function: FunctionDefinition) -> DictionaryAttr:
    holder = function.parent_op
    return holder.opset_import if isinstance(holder, Library) else function.opset_import


def _attribute_value(
    function: FunctionDefinition, name: str, value: object, formals: Mapping[str, DeclaredAttribute]
) -> Attribute:
    """Returns the value of an attribute in the form that calls store. Raises: DiagnosticError (E0505)."""
    formal = formals.get(name)
    if formal is None:
        help = did_you_mean(name, formals) or f"attributes: {', '.join(formals) or 'none'}"
        text = f"function '{function.sym_name}' has no attribute '{name}'"
        raise DiagnosticError(Diagnostic(WRONG_ATTRIBUTE, text, help=help))
    attr_type = formal.type.attr_type
    if attr_type is None:
        text = f"attribute '{name}' of function '{function.sym_name}' is a graph, of which no value can be given"
        raise DiagnosticError(Diagnostic(WRONG_ATTRIBUTE, text))
    try:
        return attr_type.to_attribute(attr_type.coerce(value))
    except ValueError as error:
        text = f"attribute '{name}' of function '{function.sym_name}': {error}"
        raise DiagnosticError(Diagnostic(WRONG_ATTRIBUTE, text)) from None
