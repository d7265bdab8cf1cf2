"""The bodies of functions compared with what they declare, for the attributes of each call.

What a node gives may depend on an attribute of the function around it, which has a value only where it is called.
Source: Common IR specification, function definitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.dialects.common_ir.declared_results import DeclaredTypes
from commonir.dialects.common_ir.functions import Call, FunctionDefinition, references_of
from commonir.dialects.common_ir.instances import copied, innermost_first
from commonir.dialects.common_ir.ordering import CyclicOrder, ordered
from commonir.ir.attributes import Attribute, DictionaryAttr
from commonir.ir.operation import Block, Operation, Region
from commonir.ods import Op, check_operation, infer

_MOST_CALLS = 1000
"""The different calls that are tried: functions that call each other may have exponentially many."""


def faults_of_calls(operations: Iterable[Operation]) -> Iterator[Diagnostic]:
    """Yields a finding for each contradiction in a function that some operations call, also through other functions.

    A function is tried once with each combination of attributes. What it contradicts without them is not reported.
    """
    pending = [op for op in operations if isinstance(op, Call) and not references_of(op)]
    done: set[tuple[FunctionDefinition, DictionaryAttr]] = set()
    for call in pending:
        function = call.definition
        if function is None or not function.attributes:
            continue
        try:
            actual = DictionaryAttr(tuple(function.actual_attributes(call.attributes).items()))
            if (function, actual) in done or len(done) >= _MOST_CALLS:
                continue
            done.add((function, actual))
            copy = _with_attributes(function, dict(actual.entries))
        except (CyclicOrder, DiagnosticError):
            continue  # reported by the verifiers of the call and of the function
        found = _faults(copy)
        known = {d.message for d in _faults(_with_attributes(function, None))} if found else set[str]()
        shown = ", ".join([f"{name} = {value}" for name, value in actual.entries])
        where = f"function '{function.sym_name}' with {shown}"
        for d in found:
            if d.message not in known:
                yield Diagnostic(d.code, d.message, where=where, help=d.help)
        pending += [op for op in copy.walk() if isinstance(op, Call) and not references_of(op)]


def _with_attributes(function: FunctionDefinition, actual: dict[str, Attribute] | None) -> FunctionDefinition:
    """Returns a copy in which values, if any, replace the references to attributes. Raises: DiagnosticError."""
    block = Block([v.type for v in function.inputs], [v.name for v in function.inputs])
    values = dict(zip(function.inputs, block.arguments, strict=True))
    for op in ordered(function.body):
        block.append(copied(op, values, actual))
    copy = FunctionDefinition(
        function.sym_name, Region([block]), function.attributes, function.declared, function.opset_import
    )
    # It stands beside the function without being part of the program, so that calls inside find what they call.
    copy.parent = function.parent
    return copy


def _faults(function: FunctionDefinition) -> list[Diagnostic]:
    """Returns the errors of the nodes of a function, else those of what it declares.

    The values inside get the types that follow.
    """
    outputs = set(function.outputs)
    wrong: list[Diagnostic] = []
    for op in (op for top in function.body.operations for op in innermost_first(top)):
        if not isinstance(op, Op):
            continue
        errors = [d for d in check_operation(op) if d.is_error]
        wrong += errors
        if errors or op.declares_results:
            continue
        for v, type in zip(op.results, infer(op).types, strict=False):
            if v not in outputs:
                v.retype(type)
    if wrong:
        return wrong
    try:
        texts = function.declared_types()
    except ValueError:
        return []  # reported by the verifier of the function
    declared = {v: texts[v.name] for v in (*function.inputs, *function.outputs) if v.name in texts}
    return list(DeclaredTypes(function, function.body, declared).findings())
