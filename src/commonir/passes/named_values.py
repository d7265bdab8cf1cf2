"""Finds values of functions by name, and builds function bodies, for passes that change interfaces."""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.codes import IMPOSSIBLE_EDIT, UNDEFINED_VALUE
from commonir.base.diagnostics import Diagnostic, DiagnosticError, InternalError
from commonir.ir.lookup import find_value, named_values, names_of, suggested_value
from commonir.ir.module import Function
from commonir.ir.operation import Block, Operation, Value
from commonir.ods import Dialects, Op, path_of, traits
from commonir.text.upstream_names import UpstreamNames


def required_value(function: Function, name: str) -> tuple[str, Value]:
    """Returns a value of the outermost block of a function, by its name or that of its node, and its own name.

    Raises: DiagnosticError (E0401 when there is none, E0407 when there are several, E0603 for one in a nested block).
    """
    value = find_value(function, name)
    if value is None and name.startswith("%"):
        value = _printed_as(function, name)
    if value is not None:
        return (name if named_values(function).get(name) is value else value.name or name.removeprefix("%")), value
    for op in function.body.operations:
        for nested in op.walk():
            if nested is not op and name in names_of(nested):
                message = f"'{name}' is computed inside of {op.name} and cannot leave it"
                raise DiagnosticError(Diagnostic(IMPOSSIBLE_EDIT, message, where=path_of(nested)))
    message = f"no input and no operation of '{function.symbol_name}' has a value or a node '{name}'"
    raise DiagnosticError(Diagnostic(UNDEFINED_VALUE, message, help=suggested_value(function, name)))


def _printed_as(function: Function, name: str) -> Value | None:
    """Returns the value of the outermost block of a function that the text of mlir-opt names so."""
    names = UpstreamNames(generic=False)
    names.start([function, *function.ancestors()][-1])
    body = function.body
    owners = {body, *body.operations}
    return next((v for v in names.named(name) if v.owner in owners), None)


def require_one_body(function: Function) -> None:
    """Checks that a function has one block, since one of several cannot be changed alone. Raises: DiagnosticError
    (E0603).
    """
    labels = [block.label for region in function.regions for block in region.blocks]
    if len(labels) != 1:
        listed = f": {', '.join(labels)}" if any(labels) else ""
        message = f"'{function.symbol_name}' has {len(labels)} bodies, of which one cannot be changed alone{listed}"
        raise DiagnosticError(Diagnostic(IMPOSSIBLE_EDIT, message, where=path_of(function)))


def taken_body(function: Function, arguments: Sequence[Value]) -> Block:
    """Moves the operations of a function, except its terminator, to a new block with some of its arguments, and returns
    the block. The other arguments must be unused.
    """
    old = function.body
    block = Block([a.type for a in arguments], [a.name for a in arguments], old.label)
    for argument, new_argument in zip(arguments, block.arguments, strict=True):
        argument.replace_all_uses_with(new_argument)
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
    """Returns outputs that a function of this dialect can return, for a block without terminator.

    If functions return only results of operations, then inputs, constants and repeated outputs are copied by an
    identity operation. If the name of such an output is taken, `_out` is appended.
    """
    definition = identity_definition(function)
    if definition is None:
        return tuple(outputs)
    used_names = {v.name for op in block.operations for v in op.results} | {v.name for v in block.arguments}
    returned: set[Value] = set()
    out: list[tuple[str, Value]] = []
    for name, value in outputs:
        owner = value.owner
        computed = isinstance(owner, Operation) and not (isinstance(owner, Op) and owner.has_trait(traits.ConstantLike))
        if computed and value not in returned:
            returned.add(value)
            out.append((name, value))
        else:
            while name in used_names:
                name += _COPY
            used_names.add(name)
            out.append((name, block.append(definition(value)).result))
    return tuple(out)


_COPY = "_out"
