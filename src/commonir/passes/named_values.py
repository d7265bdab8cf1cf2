"""Values of functions by name, for passes that change what a function receives and returns."""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.codes import IMPOSSIBLE_EDIT, UNDEFINED_VALUE
from commonir.base.diagnostics import Diagnostic, DiagnosticError, InternalError
from commonir.base.suggestions import did_you_mean
from commonir.ir.module import Function
from commonir.ir.operation import Block, Operation, Value
from commonir.ods import Dialects, Op, path_of, traits


def named_values(function: Function) -> dict[str, Value]:
    """The inputs and outputs of a function and what operations of its outermost block define, by name.

    Of two values with one name it is the first; an output's name means what is returned under it.
    """
    out: dict[str, Value] = {}
    for value in (*function.inputs, *(v for op in function.body.operations for v in op.results)):
        if value.name:
            out.setdefault(value.name, value)
    return {**out, **dict(zip(function.output_names, function.outputs, strict=False))}


def find_value(function: Function, name: str) -> Value:
    """The value of a name in the outermost block of a function.

    Raises: DiagnosticError (E0401 when there is none, E0603 when it lies in a block inside).
    """
    known = named_values(function)
    if name in known:
        return known[name]
    for op in function.body.operations:
        for inner in op.walk():
            if inner is not op and any(r.name == name for r in inner.results):
                message = f"'{name}' is computed inside of {op.name} and cannot leave it"
                raise DiagnosticError(Diagnostic(IMPOSSIBLE_EDIT, message, where=path_of(inner)))
    message = f"no input and no operation of '{function.symbol_name}' has a value '{name}'"
    raise DiagnosticError(Diagnostic(UNDEFINED_VALUE, message, help=did_you_mean(name, known)))


def require_one_body(function: Function) -> None:
    """Raises: DiagnosticError (E0603) for a function with several blocks, of which one cannot be changed alone."""
    labels = [block.label for region in function.regions for block in region.blocks]
    if len(labels) != 1:
        listed = f": {', '.join(labels)}" if any(labels) else ""
        message = f"'{function.symbol_name}' has {len(labels)} bodies, of which one cannot be changed alone{listed}"
        raise DiagnosticError(Diagnostic(IMPOSSIBLE_EDIT, message, where=path_of(function)))


def taken_body(function: Function, kept: Sequence[Value]) -> Block:
    """The operations of a function in a block of their own, without the end, with some of its arguments: the others
    have no uses.
    """
    old = function.body
    block = Block([a.type for a in kept], [a.name for a in kept], old.label)
    for mine, its in zip(kept, block.arguments, strict=True):
        mine.replace_all_uses_with(its)
    for op in old.operations:
        if not (isinstance(op, Op) and op.has_trait(traits.Terminator)):
            op.detach()
            block.append(op)
    return block


def constant_definition(function: Function) -> type[Op] | None:
    """Returns the constant operation for functions of this dialect; None when none is known."""
    return _definition(function.constants, function)


def identity_definition(function: Function) -> type[Op] | None:
    """Returns the identity operation for functions that may only return results of operations; None for others."""
    return _definition(function.copies, function)


def _definition(name: str, function: Function) -> type[Op] | None:
    result = Dialects().find(name, function.operation_set) if name else None
    if name and result is None:
        raise InternalError(f"{name} is not defined")
    return result


def returnable(function: Function, block: Block, outputs: Sequence[tuple[str, Value]]) -> tuple[tuple[str, Value], ...]:
    """Outputs that a function of this kind may return, from a block without its end.

    Where it returns only what operations compute, inputs, constants and values that are returned already are copied.
    An output that would have the name of what it copies gets `_out` behind it, as names of such functions are unique.
    """
    definition = identity_definition(function)
    if definition is None:
        return tuple(outputs)
    taken = {v.name for op in block.operations for v in op.results} | {v.name for v in block.arguments}
    seen: set[Value] = set()
    out: list[tuple[str, Value]] = []
    for name, value in outputs:
        owner = value.owner
        computed = isinstance(owner, Operation) and not (isinstance(owner, Op) and owner.has_trait(traits.ConstantLike))
        if computed and value not in seen:
            seen.add(value)
            out.append((name, value))
        else:
            while name in taken:
                name += _COPY
            taken.add(name)
            out.append((name, block.append(definition(value)).result))
    return tuple(out)


_COPY = "_out"
