"""Finds operations and values by the names that users know: those of values, and those that the source gives its nodes.

A name of a value comes first, then a name of a node (an ONNX node, a MIL or ARK operation, a location `loc("name")` of
MLIR), then of a symbol (a function, a global), then a type of operation, with or without its dialect. Names of values
are taken with or without the `%` of the text, those of symbols with or without its `@`, and all in the spelling of
another format: `/stem/Conv` of an ONNX model is `_stem_Conv` in a package made from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from commonir.base.codes import AMBIGUOUS_NAME, UNDEFINED_VALUE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.lazy import lazy_pattern
from commonir.base.suggestions import did_you_mean
from commonir.base.text import listed
from commonir.ir.cloning import clone
from commonir.ir.module import Function, Module, Symbol
from commonir.ir.operation import Operation, Value

_MOST_CHOICES = 5
_NOT_IN_IDENTIFIERS = lazy_pattern(r"[^A-Za-z0-9_]")


def _identifier(name: str) -> str:
    """Returns a name in the characters that all formats allow."""
    text = _NOT_IN_IDENTIFIERS.sub("_", name)
    return f"_{text}" if text[:1].isdigit() else text


def names_of(op: Operation) -> Iterator[str]:
    """Yields the names of an operation: those of its results, its own in the source, and that of a symbol."""
    yield from [r.name for r in op.results if r.name]
    if op.source_name:
        yield op.source_name
    if isinstance(op, Symbol) and op.symbol_name:
        yield f"@{op.symbol_name}"


def operations_named(operations: Iterable[Operation], name: str) -> list[Operation]:
    """Returns the operations that a name selects: the one that defines a value of this name, else those with this name
    in the source, else the symbols of this name, else those of this type (`onnx.Conv`, `Conv`), else those whose name
    is the same in identifiers. Empty when there are none.
    """
    name = name.removeprefix("%")
    spelled = _identifier(name)
    by_value: list[Operation] = []
    by_node: list[Operation] = []
    by_symbol: list[Operation] = []
    by_type: list[Operation] = []
    by_text: list[Operation] = []
    for op in operations:
        if any(r.name == name for r in op.results):
            by_value.append(op)
        elif op.source_name == name:
            by_node.append(op)
        elif isinstance(op, Symbol) and op.symbol_name in (name, name.removeprefix("@")):
            by_symbol.append(op)
        elif name in (op.name, op.name.partition(".")[2]):
            by_type.append(op)
        elif any(_identifier(known) == spelled for known in names_of(op)):
            by_text.append(op)
    return by_value or by_node or by_symbol or by_type or by_text


def find_operations(module: Module, name: str) -> list[Operation]:
    """Returns the operations of a program that a name selects, or a pattern of names with `*`.

    Raises: DiagnosticError (E0401).
    """
    operations = list(module.nested())
    result = operations_named(operations, name)
    if not result and "*" in name:
        result = [op for op in operations if any(fnmatchcase(known, name) for known in names_of(op))]
    if not result:
        known = [n for op in operations for n in (*names_of(op), op.name)]
        message = f"no value, node, function or type of operation is called '{name}'"
        raise DiagnosticError(Diagnostic(UNDEFINED_VALUE, message, help=did_you_mean(name, known)))
    return result


def named_values(function: Function) -> dict[str, Value]:
    """Returns the inputs and outputs of a function, and the results of operations of its outermost block, by name.

    Of two values with one name, the first is returned; an output's name stands for the returned value.
    """
    out: dict[str, Value] = {}
    for value in (*function.inputs, *(v for op in function.body.operations for v in op.results)):
        if value.name:
            out.setdefault(value.name, value)
    return {**out, **dict(zip(function.output_names, function.outputs, strict=False))}


def operations_by_name(function: Function) -> dict[str, Operation]:
    """Returns the operations of the outermost block of a function by the names of their values and nodes.

    The name of a value comes first; a name that several nodes share is absent.
    """
    nodes: dict[str, list[Operation]] = {}
    for op in function.body.operations:
        nodes.setdefault(op.source_name, []).append(op)
    by_node = {name: ops[0] for name, ops in nodes.items() if name and len(ops) == 1}
    by_value = {name: value.defining_op for name, value in named_values(function).items()}
    return by_node | {name: op for name, op in by_value.items() if op is not None}


def find_value(function: Function, name: str) -> Value | None:
    """Returns the value of a name in the outermost block of a function, or the one that the node of this name computes;
    None when there is none.

    Raises: DiagnosticError (E0407 when several values may be meant).
    """
    name = name.removeprefix("%")
    values = named_values(function)
    spelled = _identifier(name)
    value = values.get(name) or next((v for n, v in values.items() if _identifier(n) == spelled), None)
    if value is not None:
        return value
    operations = list(function.body.operations)
    nodes = [op for op in operations if op.source_name == name]
    nodes = nodes or [op for op in operations if op.source_name and _identifier(op.source_name) == spelled]
    results = [v for op in nodes for v in op.results] or _inputs_at(function, name)
    used = [v for v in results if v.is_used]
    if len(used or results) > 1:
        raise DiagnosticError(_ambiguous(name, nodes, used or results))
    return next(iter(used or results), None)


def _inputs_at(function: Function, name: str) -> list[Value]:
    """Returns the inputs of a function whose locations have a name, as jax calls them."""
    origins = [(v, function.body.origin_of(v)) for v in function.inputs]
    return [v for v, origin in origins if origin is not None and origin.name == name]


def named_by_nodes(module: Module) -> Module:
    """Returns a copy in which a value without a name has that of the node that computes it, where the function has no
    other node or value of this name; the module itself where nothing gets a name.
    """
    if not any(_names_of_nodes(function) for function in module.functions.values()):
        return module
    result = clone(module)
    for function in result.functions.values():
        for value, name in _names_of_nodes(function):
            value.name = name
    return result


def _names_of_nodes(function: Function) -> list[tuple[Value, str]]:
    """Returns the values in a function that have no name but that of their node, with this."""
    operations = function.walk_list()
    nameless = [op for op in operations if op.source_name and len(op.results) == 1 and not op.results[0].name]
    if not nameless:
        return []
    counts = Counter([name for op in operations for name in names_of(op)])
    taken = {v.name for v in function.inputs}.union(function.output_names)
    return [(op.results[0], n) for op in nameless if counts[n := op.source_name] == 1 and n not in taken]


def suggested_value(function: Function, name: str) -> str | None:
    """Returns a help line that offers the values and nodes of a function whose names are near; None for none."""
    nodes = [op.source_name for op in function.body.operations if op.results]
    return did_you_mean(name, filter(None, (*named_values(function), *nodes)))


def _ambiguous(name: str, nodes: Sequence[Operation], values: Sequence[Value]) -> Diagnostic:
    what = f"{len(nodes)} nodes are called '{name}'" if len(nodes) > 1 else f"the node '{name}' has several results"
    choices = [f"'{v.name}'" if v.name else v.owner.name for v in values if isinstance(v.owner, Operation)]
    help = f"name one of their values: {listed(choices, _MOST_CHOICES)}"
    return Diagnostic(AMBIGUOUS_NAME, what, help=help)
