"""Puts the bodies of functions in the place of calls of them, in place, and removes private functions that nothing
refers to any more.

Functions that call themselves, also by way of others, stay. A function with several blocks is inlined where the region
of the call may have several. Source: MLIR, pass `inline`.
"""

from __future__ import annotations

from collections.abc import Mapping

from commonir.ir.module import Function, Invocation, Module
from commonir.ir.operation import Block, Operation, clone
from commonir.ods import Dialects, Op, traits
from commonir.passes.remove_unused_symbols import remove_unused_symbols


def inline(module: Module, dialects: Dialects) -> int:
    """Inlines calls of functions of a module; how many."""
    functions = [op for op in module.nested() if isinstance(op, Function)]
    calls = {f: [c for op in f.walk() if (c := _callee(op)) is not None] for f in functions}
    branch = dialects.find("cf.br")
    count = 0
    for function in _callees_first(functions, calls):
        for op in list(function.walk()):
            callee = _callee(op)
            if callee is None or function in _reached(callee, calls) or not _fits(op, callee):
                continue
            if len(callee.regions[0].blocks) == 1:
                _splice(op, callee)
            elif branch is not None:
                _splice_blocks(op, callee, branch)
            else:
                continue
            count += 1
    if count:
        remove_unused_symbols(module)
    return count


def _callee(op: Operation) -> Function | None:
    """The function of this program that an operation calls, if it has a body and the call says nothing wrong."""
    if not isinstance(op, Invocation):
        return None
    found = op.callee
    if found is None or found.is_declaration or found.is_template or len(found.regions) != 1:
        return None
    types = [v.type for v in op.operands], [r.type for r in op.results]
    entry = found.regions[0].blocks[0] if found.regions[0].blocks else None
    fits = entry is not None and [a.type for a in entry.arguments] == types[0]
    return found if fits else None


def _callees_first(functions: list[Function], calls: Mapping[Function, list[Function]]) -> list[Function]:
    out: dict[Function, None] = {}
    entered: set[Function] = set()
    for start in functions:
        pending: list[tuple[Function, bool]] = [(start, False)]
        while pending:
            at, is_done = pending.pop()
            if is_done:
                out[at] = None
            elif at not in entered:
                entered.add(at)
                pending.append((at, True))
                pending += [(f, False) for f in reversed(calls.get(at, []))]
    return list(out)


def _reached(function: Function, calls: Mapping[Function, list[Function]]) -> set[Function]:
    """What running a function may run, itself among it."""
    seen = {function}
    pending = [function]
    while pending:
        for called in calls.get(pending.pop(), []):
            if called not in seen:
                seen.add(called)
                pending.append(called)
    return seen


def _fits(op: Operation, callee: Function) -> bool:
    """Whether the blocks of a function can stand where it is called."""
    blocks = callee.regions[0].blocks
    if len(blocks) == 1:
        return _returns(blocks[0])
    block = op.parent
    holder = None if block is None or block.parent is None else block.parent.parent
    return isinstance(holder, Function) and not (isinstance(holder, Op) and holder.has_trait(traits.SingleBlock))


def _returns(block: Block) -> bool:
    return isinstance(block.last, Op) and block.last.has_trait(traits.Terminator) and not block.last.successors


def _copied(op: Operation, callee: Function) -> list[Block]:
    """The blocks of a copy of a function, on the operands of a call."""
    copy = clone(callee)
    blocks = copy.regions[0].take().blocks
    for argument, value in zip(blocks[0].arguments, op.operands, strict=True):
        argument.replace_all_uses_with(value)
    return blocks


def _splice(op: Operation, callee: Function) -> None:
    """Puts the operations of the only block of a function in the place of a call."""
    body = _copied(op, callee)[0]
    block, last = op.parent, body.last
    assert block is not None
    assert last is not None
    for inner in list(body.operations):
        inner.detach()
        if inner is not last:
            block.insert_before(op, inner)
    for result, value in zip(op.results, last.operands, strict=True):
        result.replace_all_uses_with(value)
    last.erase()
    op.erase()


def _splice_blocks(op: Operation, callee: Function, branch: type[Op]) -> None:
    """Puts the blocks of a function in the place of a call: what follows the call becomes a block of its own."""
    block = op.parent
    assert block is not None
    region = block.parent
    assert region is not None
    blocks = _copied(op, callee)
    after = Block([r.type for r in op.results], [r.name for r in op.results])
    for result, argument in zip(op.results, after.arguments, strict=True):
        result.replace_all_uses_with(argument)
    _move_following(op, after)
    for inner in list(blocks[0].operations):
        inner.detach()
        block.append(inner)
    for made in (block, *blocks[1:]):
        last = made.last
        if last is not None and _returns(made):
            made.append(branch(last.operands, after))
            last.erase()
    place = region.blocks.index(block) + 1
    for n, made in enumerate((*blocks[1:], after)):
        made.parent = region
        region.blocks.insert(place + n, made)
    op.erase()


def _move_following(op: Operation, into: Block) -> None:
    following = op.next
    while following is not None:
        after = following.next
        following.detach()
        into.append(following)
        following = after


__all__ = ["inline"]
