"""Inlines calls, in place, and removes private functions that are not called any more.

Callees come before callers, and are simplified before they are copied. The body of a private function that is used
once moves. Calls within a cycle of functions are not inlined; where other functions call a cycle, it is inlined a few
times. A function with several blocks is inlined where the region of the call may have several. Calls stay when too many
operations have been copied. Source: MLIR, pass `inline`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator

from commonir.base.codes import NOT_INLINED
from commonir.base.diagnostics import Diagnostics
from commonir.base.limits import DEFAULT_LIMITS
from commonir.base.text import plural
from commonir.base.tuples import NamedTuple
from commonir.ir.attributes import UnitAttr
from commonir.ir.call_graph import in_cycles
from commonir.ir.cloning import clone
from commonir.ir.module import Function, Invocation, Module
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


def inline(module: Module, dialects: Dialects, simplify: Simplify, findings: Diagnostics) -> int:
    """Inlines calls of functions of a module; returns their number. `findings` receives a note about calls that stay
    because they stand for too many operations.
    """
    inlining = _Inlining(module, dialects.find("cf.br"), simplify)
    count = inlining.run()
    if inlining.remaining:
        most = f"{DEFAULT_LIMITS.max_inlined_operations:,}"
        message = f"{plural(inlining.remaining, 'call')} not inlined: {most} operations have been copied"
        findings.add(NOT_INLINED, message)
    return count


class _Inlining:
    """One run of the pass."""

    def __init__(self, module: Module, branch: type[Op] | None, simplify: Simplify) -> None:
        self._symbols = Symbols(module)
        self._branch = branch
        self._simplify = simplify
        self._functions = [f for f in self._symbols if isinstance(f, Function)]
        self._with_unknown = {f for f in self._functions if not all(_is_known(op) for op in f.walk())}
        used = Counter(target for op in module.walk() for target in self._symbols.referred(op))
        self._used_once = {f for f in self._functions if used[f] == 1 and self._symbols.is_private(f)}
        self._copied = 0
        self._sizes: dict[Function, int] = {}
        self._remaining: set[Operation] = set()

    def run(self) -> int:
        """Visits functions from callees to callers; returns the number of inlined calls."""
        calls = {
            f: [c for call in _calls_in(f) if (c := self._symbols.called(call)) is not None] for f in self._functions
        }
        cycles = list(in_cycles(self._functions, calls))
        for cycle in cycles:
            if len(cycle) > 1 or cycle[0] in calls[cycle[0]]:
                self._used_once.difference_update(cycle)
        count = sum([self._visit(cycle) for cycle in cycles if cycle[0] not in self._used_once])
        # A call may not fit its function, which stays then.
        unmoved = [cycle for cycle in cycles if cycle[0] in self._used_once]
        count += sum([self._visit(cycle) for cycle in unmoved if cycle[0].parent is not None])
        self._remove_uncalled()
        return count

    @property
    def remaining(self) -> int:
        """The number of calls that stay because too many operations have been copied."""
        return sum([op.parent is not None for op in self._remaining])

    def _visit(self, cycle: Collection[Function]) -> int:
        count = 0
        for _ in range(_ROUNDS):
            for function in cycle:
                self._simplify(function)
            result = sum([self._inline_in(f, cycle) for f in cycle])
            count += result
            if not result:
                break
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
                through = call.through if callee in self._used_once else call.through | {callee}
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
        return result if fits and result not in self._with_unknown else None

    def _put(self, op: Operation, callee: Function) -> list[Operation] | None:
        """Replaces a call by the body of a function; returns its operations, None if the call stays."""
        is_single = len(callee.regions[0].blocks) == 1
        if not is_single and self._branch is None:
            return None
        if callee in self._used_once:
            body = callee
        elif self._copied + self._size(callee) > DEFAULT_LIMITS.max_inlined_operations:
            self._remaining.add(op)
            return None
        else:
            self._copied += self._size(callee)
            body = clone(callee)
        built = _splice(op, body) if is_single or self._branch is None else _splice_blocks(op, body, self._branch)
        if body is callee:
            callee.detach()
        return built

    def _size(self, function: Function) -> int:
        """Returns the number of operations in a function to which nothing is done any more."""
        if function not in self._sizes:
            self._sizes[function] = len(function.walk_list())
        return self._sizes[function]

    def _remove_uncalled(self) -> None:
        """Removes private functions that nothing refers to, and those that only they referred to."""
        remaining = dict.fromkeys([f for f in self._functions if f.parent is not None])
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


def _blocks_of(body: Function, op: Operation) -> list[Block]:
    """Takes the blocks out of a function, applied to the operands of a call."""
    blocks = body.regions[0].take().blocks
    for argument, value in zip(blocks[0].arguments, op.operands, strict=True):
        argument.replace_all_uses_with(value)
    return blocks


def _splice(op: Operation, function: Function) -> list[Operation]:
    """Replaces a call by the operations of the only block of a function."""
    body = _blocks_of(function, op)[0]
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


def _splice_blocks(op: Operation, function: Function, branch: type[Op]) -> list[Operation]:
    """Replaces a call by the blocks of a function; the operations after the call become a block of their own."""
    block = op.parent
    assert block is not None
    region = block.parent
    assert region is not None
    blocks = _blocks_of(function, op)
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
