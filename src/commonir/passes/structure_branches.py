"""Turns a region of several blocks that branch to each other into one block with `scf.if` and `scf.while`.

Blocks in sequence are merged, two branches that meet again become `scf.if`, and a block that leads back to itself,
directly or through one other, becomes `scf.while`. The remaining blocks, such as those of loops with several entries or
exits, run in one loop over block numbers. Source: MLIR cf and scf dialects.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.dialects.mlir import arith, cf, scf, ub
from commonir.ir.attributes import BoolAttr, IntegerAttr
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import ElementType, Type, boolean, index
from commonir.ods import Op
from commonir.ods.traits import Terminator

Target = tuple["_Node", tuple[Value, ...]]
"""Where a branch leads, and the values it passes."""


class _Fork(NamedTuple):
    """The end of a block: one target, or two and the condition that chooses the first."""

    condition: Value | None
    targets: tuple[Target, ...]


class _Node:
    """A block without its terminator."""

    __slots__ = ("block", "end", "sources")

    def __init__(self, block: Block) -> None:
        self.block = block
        self.end: _Fork | None = None
        # One entry for each branch that leads here.
        self.sources: list[_Node] = []


def structure_region(region: Region) -> None:
    """Reduces a region to one equivalent block.

    Raises: DiagnosticError (E0601) for an unknown terminator, or if no path leaves the region.
    """
    if len(region.blocks) > 1:
        _Structuring(region).run()


class _Structuring:
    def __init__(self, region: Region) -> None:
        self.region = region
        self.nodes: dict[Block, _Node] = {block: _Node(block) for block in _reachable(region)}
        self.entry = self.nodes[region.blocks[0]]
        self.leaving: Operation | None = None
        self.exit = _Node(Block())
        # What stands for values that branches still mention.
        self.replaced: dict[Value, Value] = {}

    def run(self) -> None:
        ends = [last for b in self.nodes if (last := b.last) is not None]
        outs = [op for op in ends if not isinstance(op, (*_BRANCHES, ub.Unreachable))]
        if not outs:
            holder = "a region" if self.region.parent is None else self.region.parent.name
            message = f"{holder}: no way leads out of its blocks"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message))
        self.leaving = outs[0]
        types = [v.type for v in self.leaving.operands]
        self.exit.block.add_arguments(types)
        for block, node in list(self.nodes.items()):
            self._read_end(block, node)
        # Blocks that were added for cases of a switch are nodes, too.
        self._reduce()
        if self._is_done():
            self._finish(self.entry)
            return
        self._dispatch()

    def _is_done(self) -> bool:
        end = self.entry.end
        return end is not None and len(end.targets) == 1 and end.targets[0][0] is self.exit

    # -- ends of blocks

    def _read_end(self, block: Block, node: _Node) -> None:
        last = block.last
        match last:
            case cf.Br():
                end = _Fork(None, ((self.nodes[last.dest], last.destOperands),))
            case cf.CondBr():
                first = (self.nodes[last.trueDest], last.trueDestOperands)
                second = (self.nodes[last.falseDest], last.falseDestOperands)
                end = _Fork(last.condition, (first, second))
            case cf.Switch():
                self._read_switch(last, node)
                return
            case ub.Unreachable():
                values = [_append(block, _poison(a.type), last) for a in self.exit.block.arguments]
                end = _Fork(None, ((self.exit, tuple(values)),))
            case Op() if last.has_trait(Terminator) and not last.successors:
                end = _Fork(None, ((self.exit, last.operands),))
            case _:
                result = "nothing" if last is None else last.name
                message = f"a block that ends with {result} cannot be turned into conditions and loops"
                raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message))
        last.detach()
        if last is not self.leaving:
            last.erase()
        self._set_end(node, end)

    def _read_switch(self, last: cf.Switch, node: _Node) -> None:
        """Replaces a switch by comparisons with one case after the other."""
        flag, cases = last.flag, last.cases
        targets = [(self.nodes[b], last.successor_operands(n)) for n, b in enumerate(last.successors)]
        last.erase()
        current = node
        for n, case in enumerate(cases):
            number = _append(current.block, _integer(case, flag.type))
            chosen = _append(current.block, arith.CmpI(arith.CmpIPredicate.EQ, flag, number))
            otherwise = targets[0] if n == len(cases) - 1 else (_Node(Block()), ())
            self._set_end(current, _Fork(chosen, (targets[n + 1], otherwise)))
            current = otherwise[0]
            self.nodes.setdefault(current.block, current)
        if not cases:
            self._set_end(node, _Fork(None, (targets[0],)))

    def _set_end(self, node: _Node, end: _Fork | None) -> None:
        for target, _ in node.end.targets if node.end else ():
            target.sources.remove(node)
        node.end = end
        for target, _ in end.targets if end else ():
            target.sources.append(node)

    def _current(self, values: Iterable[Value]) -> tuple[Value, ...]:
        """Returns the current replacements of values."""
        out: list[Value] = []
        for v in values:
            current = v
            while current in self.replaced:
                current = self.replaced[current]
            out.append(current)
        return tuple(out)

    def _replace(self, old: Sequence[Value], new: Sequence[Value]) -> None:
        for a, b in zip(old, new, strict=True):
            a.replace_all_uses_with(b)
            self.replaced[a] = b

    # -- reductions

    def _reduce(self) -> None:
        pending = deque(self.nodes.values())
        waiting = set(pending)
        while pending:
            node = pending.popleft()
            waiting.discard(node)
            if node.block not in self.nodes:
                continue
            sources = list(node.sources)
            if self._reduce_at(node):
                targets = node.end.targets if node.end else ()
                for neighbour in (node, *sources, *(t for t, _ in targets)):
                    for candidate in (neighbour, *neighbour.sources):
                        if candidate not in waiting and candidate is not self.exit and candidate.block in self.nodes:
                            waiting.add(candidate)
                            pending.append(candidate)

    def _reduce_at(self, node: _Node) -> bool:
        end = node.end
        if end is None:
            return False
        if len(end.targets) == 1:
            return self._absorb(node, end.targets[0])
        return self._loop_on_itself(node, end) or self._loop_with_body(node, end) or self._choice(node, end)

    def _absorb(self, node: _Node, target: Target) -> bool:
        """Merges a block into its only predecessor."""
        other, values = target
        if other in (node, self.exit, self.entry) or other.sources != [node]:
            return False
        self._replace(other.block.arguments, self._current(values))
        _move(other.block, node.block)
        self._take_end(node, other)
        return True

    def _take_end(self, node: _Node, other: _Node) -> None:
        """Moves the end of a block that was merged to another one."""
        end = other.end
        self._set_end(other, None)
        self._set_end(node, end)
        self.nodes.pop(other.block)

    def _way(self, node: _Node, target: Target) -> tuple[_Node | None, Target] | None:
        """Returns a branch of a fork: the block that only it runs, or None, and the block to which it leads; None if it
        is more complex.
        """
        other, values = target
        if other.sources == [node] and other is not self.exit and other is not node and other is not self.entry:
            if other.end is None or len(other.end.targets) != 1:
                return None
            return other, other.end.targets[0]
        return None, (other, values)

    def _choice(self, node: _Node, end: _Fork) -> bool:
        """Replaces two branches that meet again by a condition."""
        paths = [self._way(node, t) for t in end.targets]
        first, second = paths
        if first is None or second is None or end.condition is None:
            return False
        join = first[1][0]
        if second[1][0] is not join:
            return False
        regions: list[Region] = []
        for (way, (_, values)), target in zip((first, second), end.targets, strict=True):
            block = Block()
            if way is not None:
                self._replace(way.block.arguments, self._current(target[1]))
                _move(way.block, block)
            block.append(scf.Yield.build({"results_": self._current(values)}, ()))
            regions.append(Region([block]))
        for way, _ in (first, second):
            if way is not None:
                self._set_end(way, None)
                self.nodes.pop(way.block)
        types = [a.type for a in join.block.arguments]
        (condition,) = self._current([end.condition])
        fields = {"condition": condition, "thenRegion": regions[0], "elseRegion": regions[1]}
        built = node.block.append(scf.If.build(fields, types))
        self._set_end(node, _Fork(None, ((join, built.results),)))
        return True

    # -- loops

    def _loop_on_itself(self, node: _Node, end: _Fork) -> bool:
        """Replaces a block that branches to itself by a loop; returns whether it did."""
        inside = [t for t in end.targets if t[0] is node]
        if len(inside) != 1 or end.condition is None:
            return False
        (leaves,) = [t for t in end.targets if t[0] is not node]
        before = self._loop_block(node)
        condition = self._condition(before, end, end.targets[0][0] is node)
        next_values, out = self._current(inside[0][1]), self._current(leaves[1])
        passed = self._passed(before, (*next_values, *out), None)
        after = Block([v.type for v in passed])
        inner = dict(zip(passed, after.arguments, strict=True))
        after.append(scf.Yield.build({"results_": tuple([inner.get(v, v) for v in next_values])}, ()))
        self._close_loop(node, before, after, condition, passed, (leaves[0], out))
        return True

    def _loop_with_body(self, node: _Node, end: _Fork) -> bool:
        """Replaces a block that branches to another one, whose only successor is the first, by a loop; returns whether
        it did.
        """
        bodies = [t for t in end.targets if self._is_body(node, t[0])]
        if len(bodies) != 1 or end.condition is None:
            return False
        body, arguments = bodies[0][0], bodies[0][1]
        (leaves,) = [t for t in end.targets if t[0] is not body]
        next_values = body.end.targets[0][1] if body.end else ()
        before = self._loop_block(node)
        condition = self._condition(before, end, end.targets[0][0] is body)
        self._replace(body.block.arguments, self._current(arguments))
        out = self._current(leaves[1])
        passed = self._passed(before, (*self._current(next_values), *out), body.block)
        after = Block([v.type for v in passed])
        _move(body.block, after)
        inner = dict(zip(passed, after.arguments, strict=True))
        for old, new in inner.items():
            _replace_inside(old, new, after)
        after.append(scf.Yield.build({"results_": tuple([inner.get(v, v) for v in self._current(next_values)])}, ()))
        self._set_end(body, None)
        self.nodes.pop(body.block)
        self._close_loop(node, before, after, condition, passed, (leaves[0], out))
        return True

    def _is_body(self, node: _Node, other: _Node) -> bool:
        if other in (node, self.exit, self.entry) or other.sources != [node] or other.end is None:
            return False
        return len(other.end.targets) == 1 and other.end.targets[0][0] is node

    def _loop_block(self, node: _Node) -> Block:
        """Returns the operations of a block with new arguments, for the first region of a loop."""
        before = Block([a.type for a in node.block.arguments])
        self._replace(node.block.arguments, before.arguments)
        _move(node.block, before)
        return before

    def _condition(self, before: Block, end: _Fork, goes_on: bool) -> Value:
        """Returns the condition of a fork, or its negation, such that it is true if the loop continues."""
        (condition,) = self._current([end.condition] if end.condition is not None else [])
        if goes_on:
            return condition
        truth = _append(before, arith.Constant(BoolAttr(True)))
        return _append(before, arith.XOrI(condition, truth))

    def _passed(self, before: Block, values: Iterable[Value], body: Block | None) -> list[Value]:
        """Returns the values of the first region of a loop that are used outside of it, in the second region or after
        the loop.
        """
        defined = [*before.arguments, *(r for op in before.operations for r in op.results)]
        used = set(values)
        # Branches that are not yet operations use values, too.
        for node in self.nodes.values():
            if node.block is not body and node.end is not None:
                used.update(v for _, passed in node.end.targets for v in self._current(passed))
                used.update(self._current([node.end.condition] if node.end.condition is not None else []))
        return [v for v in defined if v in used or any(_outermost(user, before) is None for user in v.users)]

    def _close_loop(
        self, node: _Node, before: Block, after: Block, condition: Value, passed: Sequence[Value], out: Target
    ) -> None:
        before.append(scf.Condition.build({"condition": condition, "args": tuple(passed)}, ()))
        starts = node.block.arguments
        fields = {"inits": starts, "before": Region([before]), "after": Region([after])}
        built = node.block.append(scf.While.build(fields, [v.type for v in passed]))
        results = dict(zip(passed, built.results, strict=True))
        for old, new in results.items():
            for user in old.users:
                if user is not built and _outermost(user, before) is None and _outermost(user, after) is None:
                    user.operands = tuple([new if v is old else v for v in user.operands])
        values = tuple([results.get(v, v) for v in out[1]])
        # Branches elsewhere mean the results of the loop.
        for other in self.nodes.values():
            if other is not node and other.end is not None:
                self._rename_end(other, results)
        for old, new in self.replaced.items():
            if new in results and old is not new:
                self.replaced[old] = results[new]
        self._set_end(node, _Fork(None, ((out[0], values),)))

    def _rename_end(self, node: _Node, new: dict[Value, Value]) -> None:
        end = node.end
        if end is None:
            return
        condition = None if end.condition is None else self._current([end.condition])[0]
        targets = tuple([(t, tuple([new.get(v, v) for v in self._current(passed)])) for t, passed in end.targets])
        node.end = _Fork(None if condition is None else new.get(condition, condition), targets)

    # -- the end

    def _finish(self, node: _Node) -> None:
        """Makes the entry the only block."""
        end, leaving = node.end, self.leaving
        assert end is not None
        assert leaving is not None
        node.block.append(leaving)
        leaving.operands = self._current(end.targets[0][1])
        for block in list(self.region.blocks):
            if block is not node.block:
                _clear(block)
                self.region.blocks.remove(block)

    def _dispatch(self) -> None:
        """Runs blocks by number in one loop, which carries all values that several blocks use."""
        nodes = [n for n in self.nodes.values() if n is not self.entry]
        number = {node: n for n, node in enumerate([*nodes, self.exit])}
        shared = self._shared_values(nodes)
        carried = [*(a for node in (*nodes, self.exit) for a in node.block.arguments), *shared]
        head = self.entry.block
        start = self._next_state(self.entry, head, number, carried, dict.fromkeys(carried))
        before = Block([v.type for v in start])
        exit_number = _append(before, _integer(number[self.exit], index))
        goes_on = _append(before, arith.CmpI(arith.CmpIPredicate.NE, before.arguments[0], exit_number))
        before.append(scf.Condition.build({"condition": goes_on, "args": before.arguments}, ()))
        after = Block([v.type for v in start])
        cases: list[Region] = []
        for node in nodes:
            inner = dict(zip(carried, after.arguments[1:], strict=True))
            block = Block()
            _move(node.block, block)
            defined = {r for op in block.operations for r in op.results}
            for old, new in inner.items():
                if old not in defined:
                    _replace_inside(old, new, block)
            state = self._next_state(
                node, block, number, carried, {v: (v if v in defined else inner[v]) for v in carried}
            )
            block.append(scf.Yield.build({"results_": state}, ()))
            cases.append(Region([block]))
        default = Block()
        default.append(scf.Yield.build({"results_": after.arguments}, ()))
        fields = {
            "arg": after.arguments[0],
            "cases": tuple(range(len(nodes))),
            "defaultRegion": Region([default]),
            "caseRegions": tuple(cases),
        }
        chosen = after.append(scf.IndexSwitch.build(fields, [v.type for v in start]))
        after.append(scf.Yield.build({"results_": chosen.results}, ()))
        regions = {"inits": start, "before": Region([before]), "after": Region([after])}
        loop = head.append(scf.While.build(regions, [v.type for v in start]))
        results = {v: loop.results[1 + n] for n, v in enumerate(carried)}
        for node in nodes:
            self._set_end(node, None)
            self.nodes.pop(node.block)
        self._set_end(self.entry, _Fork(None, ((self.exit, tuple([results[a] for a in self.exit.block.arguments])),)))
        self._finish(self.entry)

    def _shared_values(self, nodes: Sequence[_Node]) -> list[Value]:
        """Returns results of operations of blocks that other blocks use."""
        mentioned: dict[Value, set[_Node]] = {}
        for node in nodes:
            if node.end is not None:
                conditions = [] if node.end.condition is None else [node.end.condition]
                for v in self._current([*conditions, *(v for _, passed in node.end.targets for v in passed)]):
                    mentioned.setdefault(v, set()).add(node)
        out: list[Value] = []
        for node in nodes:
            for v in (r for op in node.block.operations for r in op.results):
                elsewhere = any(other is not node for other in mentioned.get(v, ()))
                if elsewhere or any(_outermost(user, node.block) is None for user in v.users):
                    out.append(v)
        return out

    def _next_state(
        self,
        node: _Node,
        block: Block,
        number: dict[_Node, int],
        carried: Sequence[Value],
        current: dict[Value, Value | None],
    ) -> tuple[Value, ...]:
        """Returns the number of the next block and the values that are carried to it, at the end of a block."""
        end = node.end
        assert end is not None

        def current_values(values: Iterable[Value]) -> list[Value]:
            return [value if (value := current.get(v)) is not None else v for v in self._current(values)]

        states: list[list[Value]] = []
        for target, passed in end.targets:
            arguments = dict(zip(target.block.arguments, current_values(passed), strict=True))
            state = [_append(block, _integer(number[target], index))]
            for v in carried:
                value = arguments.get(v) or current[v]
                state.append(_append(block, _poison(v.type)) if value is None else value)
            states.append(state)
        if len(states) == 1:
            return tuple(states[0])
        (condition,) = current_values([end.condition] if end.condition is not None else [])
        return tuple(
            [
                a if a is b else _append(block, arith.Select(condition, a, b))
                for a, b in zip(states[0], states[1], strict=True)
            ]
        )


_BRANCHES = (cf.Br, cf.CondBr, cf.Switch)


def _reachable(region: Region) -> list[Block]:
    """Returns the reachable blocks, in their order."""
    reached = {region.blocks[0]}
    pending = [region.blocks[0]]
    while pending:
        for successor in pending.pop().successors:
            if successor not in reached:
                reached.add(successor)
                pending.append(successor)
    return [b for b in region.blocks if b in reached]


def _clear(block: Block) -> None:
    """Removes the operations of an unreachable block."""
    for op in reversed(list(block.operations)):
        for r in op.results:
            r.replace_all_uses_with(Value(r.type))
        op.erase()


def _move(source: Block, target: Block) -> None:
    """Moves the operations of a block to the end of another one."""
    for op in list(source.operations):
        op.detach()
        target.append(op)


def _outermost(op: Operation, block: Block) -> Operation | None:
    """Returns the operation of a block that is an operation or contains it; None if there is none."""
    current: Operation | None = op
    while current is not None and current.parent is not block:
        current = current.parent_op
    return current


def _replace_inside(old: Value, new: Value, block: Block) -> None:
    """Replaces the uses of a value in a block and nested blocks."""
    for user in old.users:
        if _outermost(user, block) is not None:
            user.operands = tuple([new if v is old else v for v in user.operands])


def _append(block: Block, op: Op, before: Operation | None = None) -> Value:
    """Inserts an operation at the end of a block, or before one of its operations, and returns its result."""
    if before is None:
        block.append(op)
    else:
        block.insert_before(before, op)
    return op.results[0]


def _integer(value: int, type: Type) -> Op:
    """Returns a constant of an integer type."""
    if type is boolean or not isinstance(type, ElementType):
        return arith.Constant(BoolAttr(bool(value & 1)))
    return arith.Constant(IntegerAttr(value, type))


def _poison(type: Type) -> Op:
    """Returns a poison value."""
    return ub.Poison.build({}, (type,))
