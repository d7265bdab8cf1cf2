"""Restores what functions return by name, after a pass that replaced values.

A function with an identity operation (`Function.copies`) returns values under their own names, each once, and the
blocks in it return only what operations in them compute. Where a pass returns another value, a copy takes the place of
the one before.
"""

from __future__ import annotations

from commonir.base.tuples import NamedTuple
from commonir.ir.module import Function, Module
from commonir.ir.operation import Operation, Value
from commonir.ods import Op, traits
from commonir.passes.named_values import identity_definition


class Returned(NamedTuple):
    """The values that a terminator returned before a pass."""

    terminator: Operation
    values: tuple[Value, ...]
    function: Function


def returned_values(module: Module) -> list[Returned]:
    """Returns the values that blocks return, of functions with an identity operation."""
    return [
        Returned(op, op.operands, function)
        for function in module.functions.values()
        if function.copies
        for op in function.walk()
        if isinstance(op, Op) and op.has_trait(traits.Terminator)
    ]


def restore_returned_values(before: list[Returned]) -> None:
    """Inserts copies where blocks return other values than before a pass, and gives them the names from before."""
    for each in before:
        terminator = each.terminator
        # One that was erased has no operands.
        if terminator.operands != each.values and len(terminator.operands) == len(each.values):
            terminator.operands = tuple(_restored(each))


def _restored(before: Returned) -> list[Value]:
    block = before.terminator.parent
    assert block is not None
    definition = identity_definition(before.function)
    out: list[Value] = []
    for old, value in zip(before.values, before.terminator.operands, strict=True):
        owner = value.owner
        is_own = isinstance(owner, Op) and owner.parent is block and not owner.has_trait(traits.ConstantLike)
        if value is old or definition is None or not isinstance(old.owner, Operation):
            out.append(value)
            continue
        if is_own and value not in out and (value.name == old.name or _may_be_renamed(value, before)):
            old.name, value.name = "", old.name
            out.append(value)
            continue
        # Not inferred: values of templates have no types.
        copy = definition.build({definition.layout.inputs[0].name: value}, (value.type,))
        block.insert_before(before.terminator, copy)
        name, old.name = old.name, ""
        if value.name == name:
            value.name = ""
        copy.results[0].name = name
        out.append(copy.results[0])
    return out


def _may_be_renamed(value: Value, before: Returned) -> bool:
    """Returns whether a value may take the name of an output: its own is of no output, and nothing refers to it."""
    names = {v.name for v in before.values} | before.function.referred_names
    return value.name not in names
