"""Simpler forms of operations of the cf dialect: known branches, blocks in a row, blocks that only pass on.

Source: MLIR cf dialect, canonicalization patterns.
"""

from __future__ import annotations

from commonir.dialects.mlir.cf import Assert, Br, CondBr, Switch
from commonir.ir.attributes import DataAttr
from commonir.ir.data import data_of
from commonir.ir.operation import Block, Value
from commonir.ods import Op, known_data
from commonir.ods.rules import Editor, Rules


def _jump(op: Op, target: Block, values: tuple[Value, ...], editor: Editor) -> bool:
    """Puts a branch to one block in the place of another branch."""
    editor.insert(Br(target, values), op)
    for block in op.successors:
        editor.touch(*block.operations)
    editor.erase(op)
    return True


def _take_known(op: CondBr | Switch, editor: Editor) -> bool:
    """Replaces a branch on a constant by a branch to the successor that is taken."""
    taken = op.taken_successor(known_data)
    return taken is not None and _jump(op, op.successors[taken], op.successor_operands(taken), editor)


def _merge_following(op: Br, editor: Editor) -> bool:
    """Merges a block into its only predecessor, which ends with this branch."""
    block, target = op.parent, op.dest
    region = None if block is None else block.parent
    if block is None or region is None or target is block or target is region.blocks[0]:
        return False
    if target.only_predecessor is not block or len(target.arguments) != len(op.destOperands):
        return False
    for argument, value in zip(target.arguments, op.destOperands, strict=True):
        editor.replace_uses(argument, value)
    editor.erase(op)
    for inner in list(target.operations):
        inner.detach()
        block.append(inner)
        editor.touch(inner)
    region.blocks.remove(target)
    target.parent = None
    return True


Way = tuple[Block, tuple[Value, ...]]
"""A block, and the values that are passed to it."""


def _passed_through(target: Block, values: tuple[Value, ...]) -> Way | None:
    """Returns the successor of a block that only branches, with the values it passes on; None in a cycle of such
    blocks.
    """
    last = target.last
    if not isinstance(last, Br) or target.first is not last or len(target.arguments) != len(values):
        return None
    if any(user is not last for a in target.arguments for user in a.users):
        return None
    seen = {target}
    at: Op | None = last
    while isinstance(at, Br):
        if at.dest in seen:
            return None
        seen.add(at.dest)
        at = at.dest.last if isinstance(at.dest.last, Op) else None
    stands = dict(zip(target.arguments, values, strict=True))
    return last.dest, tuple([stands.get(v, v) for v in last.destOperands])


def _pass_through(op: Br, editor: Editor) -> bool:
    result = _passed_through(op.dest, op.destOperands)
    return result is not None and _jump(op, *result, editor)


def _pass_through_either(op: CondBr, editor: Editor) -> bool:
    ways = [(op.trueDest, op.trueDestOperands), (op.falseDest, op.falseDestOperands)]
    result = [_passed_through(*way) for way in ways]
    if not any(result):
        return False
    (one, first), (two, second) = [new or way for new, way in zip(result, ways, strict=True)]
    editor.insert(CondBr(op.condition, one, two, first, second, op.branch_weights), op)
    editor.erase(op)
    return True


def _ways(op: Switch) -> list[Way]:
    """Returns the successors of a switch: the default one, then one for each case."""
    return [(block, op.successor_operands(n)) for n, block in enumerate(op.successors)]


def _with_ways(op: Switch, default: Way, cases: list[tuple[int, Way]], editor: Editor) -> bool:
    """Puts a switch with other ways in the place of one, or a branch when no case is left."""
    if not cases:
        return _jump(op, *default, editor)
    held = op.case_values
    if not isinstance(held, DataAttr):
        return False
    numbers = tuple([number for number, _ in cases])
    values = DataAttr(data_of(held.data.element, (len(numbers),), numbers))
    counts = tuple([len(passed) for _, (_, passed) in cases])
    blocks = tuple([block for _, (block, _) in cases])
    arguments = tuple([value for _, (_, passed) in cases for value in passed])
    editor.insert(Switch(op.flag, counts, default[0], blocks, default[1], arguments, values), op)
    for block in op.successors:
        editor.touch(*block.operations)
    editor.erase(op)
    return True


def _drop_cases(op: Switch, editor: Editor) -> bool:
    """Removes cases with the same successor and operands as the default."""
    default, *ways = _ways(op)
    kept = [(number, way) for number, way in zip(op.cases, ways, strict=True) if way != default]
    return (not ways or len(kept) < len(ways)) and _with_ways(op, default, kept, editor)


def _pass_through_any(op: Switch, editor: Editor) -> bool:
    ways = _ways(op)
    result = [_passed_through(*way) for way in ways]
    if not any(result):
        return False
    default, *cases = [new or way for new, way in zip(result, ways, strict=True)]
    return _with_ways(op, default, list(zip(op.cases, cases, strict=True)), editor)


def _switched_before(op: Switch, editor: Editor) -> bool:
    """Resolves a switch that follows a switch on the same value."""
    block = op.parent
    before = None if block is None else block.only_predecessor
    last = None if before is None else before.last
    if not isinstance(last, Switch) or last.flag is not op.flag or block is None:
        return False
    at = last.successors.index(block)
    default, *ways = _ways(op)
    if at:
        known = dict(zip(op.cases, ways, strict=True)).get(last.cases[at - 1], default)
        return _jump(op, *known, editor)
    kept = [(number, way) for number, way in zip(op.cases, ways, strict=True) if number not in last.cases]
    return len(kept) < len(ways) and _with_ways(op, default, kept, editor)


def _choose_values(op: CondBr, editor: Editor) -> bool:
    """Replaces a conditional branch with the same successor twice by a branch, with selections for the operands."""
    if op.trueDest is not op.falseDest:
        return False
    if op.trueDestOperands == op.falseDestOperands:
        return _jump(op, op.trueDest, op.trueDestOperands, editor)
    if any(block is not op.parent for block in op.trueDest.predecessors):
        return False
    values: list[Value] = []
    for one, two in zip(op.trueDestOperands, op.falseDestOperands, strict=True):
        chosen = None if one is two else editor.create("arith.select", (op.condition, one, two), (one.type,), op)
        if chosen is None and one is not two:
            return False
        values.append(one if chosen is None else chosen.results[0])
    return _jump(op, op.trueDest, tuple(values), editor)


def _leave_out_unreachable(op: CondBr, editor: Editor) -> bool:
    """Removes a successor that is never taken."""
    never = editor.find("ub.unreachable")
    for n, block in enumerate(op.successors):
        if never is not None and isinstance(block.first, never):
            return _jump(op, op.successors[1 - n], op.successor_operands(1 - n), editor)
    return False


def _use_known_condition(op: CondBr, editor: Editor) -> bool:
    """Replaces the condition by a constant in blocks that only one side of this branch reaches."""
    changed = False
    for block, is_true in ((op.trueDest, True), (op.falseDest, False)):
        users = op.condition.users_in(block)
        if not users or block.only_predecessor is not op.parent or block.first is None:
            continue
        known = editor.bool_constant(is_true, op)
        if known is None:
            return changed
        for user in users:
            editor.set_operands(user, [known if v is op.condition else v for v in user.operands])
        editor.touch(op)
        changed = True
    return changed


def _holds(op: Assert, editor: Editor) -> bool:
    """Removes an assertion whose condition is known to hold."""
    data = known_data(op.arg)
    if data is None or not data.values()[0]:
        return False
    editor.erase(op)
    return True


RULES = Rules(
    (),
    {
        Br: (_merge_following, _pass_through),
        CondBr: (_take_known, _pass_through_either, _choose_values, _use_known_condition, _leave_out_unreachable),
        Switch: (_take_known, _drop_cases, _pass_through_any, _switched_before),
        Assert: (_holds,),
    },
)
