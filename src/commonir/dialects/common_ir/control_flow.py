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
from commonir.dialects import core
from commonir.dialects.common_ir.functions import Call, FunctionDefinition
from commonir.ir.attributes import StringAttr
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import Type
from commonir.ods import Op
from commonir.ods.declared import OperatorUse

CONDITIONAL = "Cond"
LOOP = "While"
BUILT_IN_OPERATORS = frozenset({CONDITIONAL, LOOP})
CONTROL_OPERATIONS = frozenset({core.If.name, core.While.name, core.Yield.name})
"""The operations that they are read as, which therefore need no import."""

Functions = Mapping[str, FunctionDefinition]


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
    groups = _divided(called, use)
    if called == LOOP:
        return _loop(named, groups[0], groups[1], functions)
    if len(groups[0]) != 1:
        text = f"'{called}' takes one predicate, found {len(groups[0])}"
        raise DiagnosticError(Diagnostic(WRONG_OPERAND_COUNT, text))
    branches = [_calling(name, (), given, functions) for name, given in zip(named, groups[1:], strict=True)]
    arguments = {"condition": groups[0][0], "then": branches[0], "orelse": branches[1]}
    return core.If.build(arguments, functions[named[0]].result_types([v.type for v in groups[1]]))


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


def _loop(named: Sequence[str], variables: Sequence[Value], constants: Sequence[Value], functions: Functions) -> Op:
    types = [v.type for v in variables]
    nested = [_calling(name, types, constants, functions) for name in named]
    return core.While.build({"initial": tuple(variables), "condition": nested[0], "body": nested[1]}, types)


def _calling(name: str, types: Sequence[Type], operands: Sequence[Value], functions: Functions) -> Region:
    """A nested program that calls a function on what it receives and on values from outside, and yields the outputs."""
    block = Block(types)
    arguments = (*block.arguments, *operands)
    results = functions[name].result_types([v.type for v in arguments])
    call = block.append(Call.build({"function": name, "arguments": arguments}, results))
    block.append(core.Yield(call.results))
    return Region([block])
