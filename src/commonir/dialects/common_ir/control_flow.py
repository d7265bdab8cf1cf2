"""The control flow of historic files: the built-in operators `Cond` and `While`, whose branches are functions.

`Cond(p, true_inputs, false_inputs)` runs one of two functions, `While(vars, consts)` a function on the variables, as
long as another one says so; both functions get the constants after the variables. Argument counts divide the inputs.
How a node names its functions was never specified: here its two attributes are strings, names of functions that it can
call, in this order: for `Cond` what runs when the predicate holds and what otherwise, for `While` the condition and
the body. They are read as `core.if` and `core.while` whose nested programs call the functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commonir.base.codes import WRONG_ATTRIBUTE, WRONG_OPERAND_COUNT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.text import plural
from commonir.dialects import core
from commonir.dialects.common_ir import rules
from commonir.dialects.common_ir.functions import Call, FunctionDefinition
from commonir.ir.attributes import StringAttr
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import Type, unknown
from commonir.ods import Op
from commonir.ods.declared import OperatorUse

CONDITIONAL = "Cond"
LOOP = "While"
BUILT_IN_OPERATORS = frozenset({CONDITIONAL, LOOP})
CONTROL_OPERATIONS = frozenset({core.If.name, core.While.name, core.Yield.name})
"""The operations that they are read as, which therefore need no import."""

Functions = Mapping[str, FunctionDefinition | None]
"""The functions that a node can call; None for those that it is in, or that call the one that it is in."""

Known = Mapping[str, FunctionDefinition]


def control_flow(called: str, use: OperatorUse, functions: Functions) -> Op | None:
    """Returns the operation that a node of `Cond` or `While` stands for; None for other nodes. `functions` are those
    that the node can call.

    Raises: DiagnosticError (E0502, E0503, E0505) when it names no two functions, or they do not fit its inputs.
    """
    if called not in BUILT_IN_OPERATORS:
        return None
    named = [v.value for v in use.attributes.values() if isinstance(v, StringAttr) and v.value in functions]
    if len(named) != 2 or len(use.attributes) != 2:
        text = f"'{called}' must name two functions by string attributes, and have no others"
        help = f"functions that it can call: {', '.join(functions) or 'none'}"
        raise DiagnosticError(Diagnostic(WRONG_ATTRIBUTE, text, help=help))
    known = _defined(named, functions)
    groups = _divided(called, use)
    if called == LOOP:
        return _with_results(called, use, _loop(named, groups[0], groups[1], known))
    if len(groups[0]) != 1:
        text = f"'{called}' takes one predicate, found {len(groups[0])}"
        raise DiagnosticError(Diagnostic(WRONG_OPERAND_COUNT, text))
    branches = [_calling(name, (), given, known) for name, given in zip(named, groups[1:], strict=True)]
    arguments = {"condition": groups[0][0], "then": branches[0], "orelse": branches[1]}
    types = known[named[0]].result_types([v.type for v in groups[1]])
    return _with_results(called, use, core.If.build(arguments, types))


def _defined(named: Sequence[str], functions: Functions) -> dict[str, FunctionDefinition]:
    """The functions that a node names. Raises: DiagnosticError (E0255) for one that the node is in."""
    out = {name: f for name in named if (f := functions[name]) is not None}
    for name in named:
        if name not in out:
            raise DiagnosticError(rules.NO_RECURSION.broken(f"function '{name}' calls itself"))
    return out


def _with_results(called: str, use: OperatorUse, op: Op) -> Op:
    """The operation of a node. Raises: DiagnosticError (E0502) when the node has more outputs."""
    if use.results > len(op.results):
        text = f"'{called}' has {plural(len(op.results), 'output')} here, the node names {use.results}"
        raise DiagnosticError(Diagnostic(WRONG_OPERAND_COUNT, text))
    return op


def _divided(called: str, use: OperatorUse) -> list[tuple[Value, ...]]:
    """The inputs by parameter: predicate and inputs of the branches, or variables and constants."""
    expected = 2 if called == LOOP else 3
    counts = use.counts if use.counts is not None else (1,) * expected
    operands = [v for v in use.operands if v is not None]
    if len(counts) != expected or sum(counts) != len(operands) or min(counts) < 0:
        text = (
            f"'{called}' has {expected} parameters, which the argument counts must divide {len(operands)} inputs among"
        )
        raise DiagnosticError(Diagnostic(WRONG_OPERAND_COUNT, text, help="give the node an argument-count list"))
    out: list[tuple[Value, ...]] = []
    at = 0
    for count in counts:
        out.append(tuple(operands[at : at + count]))
        at += count
    return out


def _loop(named: Sequence[str], variables: Sequence[Value], constants: Sequence[Value], functions: Known) -> Op:
    types = _carried_types(named[1], variables, constants, functions)
    nested = [_calling(name, types, constants, functions) for name in named]
    return core.While.build({"initial": tuple(variables), "condition": nested[0], "body": nested[1]}, types)


def _carried_types(body: str, variables: Sequence[Value], constants: Sequence[Value], functions: Known) -> list[Type]:
    """The types of variables in all iterations: dims that the body changes are unknown."""
    types = [v.type for v in variables]
    while True:
        results = functions[body].result_types([*types, *(v.type for v in constants)])
        if len(results) != len(types):
            found = plural(len(results), "output")
            text = f"the body '{body}' of '{LOOP}' has {found} for {plural(len(types), 'variable')}"
            raise DiagnosticError(Diagnostic(WRONG_OPERAND_COUNT, text))
        joined = [unknown if unknown in (a, b) else core.common_type(a, b) for a, b in zip(types, results, strict=True)]
        if joined == types:
            return types
        types = joined


def _calling(name: str, types: Sequence[Type], operands: Sequence[Value], functions: Known) -> Region:
    """A nested program that calls a function on what it receives and on values from outside, and yields the outputs."""
    block = Block(types)
    arguments = (*block.arguments, *operands)
    results = functions[name].result_types([v.type for v in arguments])
    call = block.append(Call.build({"function": name, "arguments": arguments}, results))
    block.append(core.Yield(call.results))
    return Region([block])
