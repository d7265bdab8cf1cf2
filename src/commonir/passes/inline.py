"""Inlines calls, in place, and removes private functions that are not called any more.

Callees come before callers, and are simplified before they are copied. Calls within a cycle of functions are not
inlined; where other functions call a cycle, it is inlined a few times. A function with several blocks is inlined where
the region of the call may have several. Source: MLIR, pass `inline`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from commonir.base.diagnostics import DiagnosticError
from commonir.base.limits import DEFAULT_LIMITS
from commonir.base.tuples import NamedTuple
from commonir.ir.attributes import UnitAttr
from commonir.ir.call_graph import in_cycles
from commonir.ir.cloning import clone
from commonir.ir.module import Function, Invocation, Module, too_many_inlined
from commonir.ir.operation import Block, Operation
from commonir.ods import Dialects, Op, traits
from commonir.passes.symbols import Symbols

_ROUNDS = 4
"""How often the calls that inlining a cycle leaves are looked at again."""

Simplify = Callable[[Operation], object]
"""Makes what an operation holds simpler."""


class _Call(NamedTuple):
    """A call, and the functions from whose bodies it was inlined."""

    op: Operation
    through: frozenset[Function]


def inline(module: Module, dialects: Dialects, simplify: Simplify) -> int:
    """Inlines calls of functions of a module; returns their number.

    Raises: DiagnosticError (E0303) when they stand for too many operations.
    """
    return _Inlining(module, dialects.find("cf.br"), simplify).run()


class _Inlining:
    """One run of the pass."""

    def __init__(self, module: Module, branch: type[Op] | None, simplify: Simplify) -> None:
        self._symbols = Symbols(module)
        self._branch = branch
        self._simplify = simplify
        self._functions = [f for f in self._symbols if isinstance(f, Function)]
        self._copied = 0

    def run(self) -> int:
        """Visits functions from callees to callers; returns the number of inlined calls."""
        calls = {
            f: [c for call in _calls_in(f) if (c := self._symbols.called(call)) is not None] for f in self._functions
        }
        count = 0
        for cycle in in_cycles(self._functions, calls):
            for _ in range(_ROUNDS):
                for function in cycle:
                    self._simplify(function)
                result = sum([self._inline_in(f, cycle) for f in cycle])
                count += result
                if not result:
                    break
        self._remove_uncalled()
        return count

    def _inline_in(self, function: Function, cycle: Collection[Function]) -> int:
        pending = [_Call(op, frozenset()) for op in reversed(list(_calls_in(function)))]
        count = 0
        while pending:
            call = pending.pop()
            callee = self._callee(call.op)
            if callee is None or callee in cycle or callee in call.through or not _fits(call.op, callee):
                continue
            built = self._put(call.op, callee)
            if built is not None:
                count += 1
                self._copied += len(built)
                through = call.through | {callee}
                pending += [_Call(op, through) for op in reversed(built) if isinstance(op, Invocation)]
        return count

    def _callee(self, op: Operation) -> Function | None:
        """Returns the function that an operation calls, if its body can be inlined there."""
        result = self._symbols.called(op) if isinstance(op, Invocation) else None
        if result is None or result.is_declaration or result.is_template or len(result.regions) != 1:
            return None
        if _forbids(op) or _forbids(result) or not result.regions[0].blocks:
            return None
        entry = result.regions[0].blocks[0]
        fits = [a.type for a in entry.arguments] == [v.type for v in op.operands]
        return result if fits and all(_is_known(inner) for inner in result.walk()) else None

    def _put(self, op: Operation, callee: Function) -> list[Operation] | None:
        """Replaces a call by a copy of the function; returns the copied operations, None if that is not possible.

        Raises: DiagnosticError (E0303) when too many have been copied.
        """
        if self._copied > DEFAULT_LIMITS.max_inlined_operations:
            raise DiagnosticError(too_many_inlined(callee.symbol_name))
        if len(callee.regions[0].blocks) == 1:
            return _splice(op, callee)
        return None if self._branch is None else _splice_blocks(op, callee, self._branch)

    def _remove_uncalled(self) -> None:
        """Removes private functions that nothing refers to, and those that only they referred to."""
        remaining = dict.fromkeys(self._functions)
        used: dict[Operation, int] = {}
        for op in self._symbols.root.walk():
            for target in self._symbols.referred(op):
                used[target] = used.get(target, 0) + 1
        pending = list(remaining)
        while pending:
            f = pending.pop()
            if f not in remaining or used.get(f) or not self._symbols.is_private(f) or f.is_declaration:
                continue
            del remaining[f]
            for op in f.walk():
                for target in self._symbols.referred(op):
                    used[target] -= 1
                    pending += [target] if isinstance(target, Function) else []
            f.detach()


def _calls_in(function: Function) -> Iterator[Invocation]:
    return (op for op in function.walk() if isinstance(op, Invocation))


def _is_known(op: Operation) -> bool:
    """Returns whether an operation has a definition."""
    return isinstance(op, Op)


def _forbids(op: Operation) -> bool:
    return isinstance(op.attribute_dictionary.get("no_inline"), UnitAttr)


def _fits(op: Operation, callee: Function) -> bool:
    """Returns whether the blocks of a function can replace a call."""
    blocks = callee.regions[0].blocks
    if len(blocks) == 1:
        return _returns(blocks[0])
    block = op.parent
    holder = None if block is None or block.parent is None else block.parent.parent
    return isinstance(holder, Function) and not (isinstance(holder, Op) and holder.has_trait(traits.SingleBlock))


def _returns(block: Block) -> bool:
    return isinstance(block.last, Op) and block.last.has_trait(traits.Terminator) and not block.last.successors


def _copied(op: Operation, callee: Function) -> list[Block]:
    """Returns the blocks of a copy of a function, applied to the operands of a call."""
    copy = clone(callee)
    blocks = copy.regions[0].take().blocks
    for argument, value in zip(blocks[0].arguments, op.operands, strict=True):
        argument.replace_all_uses_with(value)
    return blocks


def _splice(op: Operation, callee: Function) -> list[Operation]:
    """Replaces a call by the operations of the only block of a function."""
    body = _copied(op, callee)[0]
    built = [nested for child in body.operations for nested in child.walk()]
    block, last = op.parent, body.last
    assert block is not None
    assert last is not None
    for child in list(body.operations):
        child.detach()
        if child is not last:
            block.insert_before(op, child)
    for result, value in zip(op.results, last.operands, strict=True):
        result.replace_all_uses_with(value)
    last.erase()
    op.erase()
    return built


def _splice_blocks(op: Operation, callee: Function, branch: type[Op]) -> list[Operation]:
    """Replaces a call by the blocks of a function; the operations after the call become a block of their own."""
    block = op.parent
    assert block is not None
    region = block.parent
    assert region is not None
    blocks = _copied(op, callee)
    inside = [inner for built in blocks for child in built.operations for inner in child.walk()]
    after = Block([r.type for r in op.results], [r.name for r in op.results])
    for result, argument in zip(op.results, after.arguments, strict=True):
        result.replace_all_uses_with(argument)
    _move_following(op, after)
    for inner in list(blocks[0].operations):
        inner.detach()
        block.append(inner)
    for new_block in (block, *blocks[1:]):
        last = new_block.last
        if last is not None and _returns(new_block):
            new_block.append(branch(after, last.operands))
            last.erase()
    position = region.blocks.index(block) + 1
    for n, new_block in enumerate((*blocks[1:], after)):
        new_block.parent = region
        region.blocks.insert(position + n, new_block)
    op.erase()
    return inside


def _move_following(op: Operation, into: Block) -> None:
    following = op.next
    while following is not None:
        after = following.next
        following.detach()
        into.append(following)
        following = after
