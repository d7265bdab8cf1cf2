"""Simpler forms of operations of the scf dialect: known conditions and rounds, values that need not be carried.

Source: MLIR scf dialect, canonicalization patterns.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.diagnostics import InternalError
from commonir.dialects.mlir.scf.base import ScfOp
from commonir.dialects.mlir.scf.control import Condition, ExecuteRegion, For, If, IndexSwitch, While, Yield
from commonir.dialects.mlir.scf.parallel_rules import PARALLEL
from commonir.ir.attributes import IntegerAttr
from commonir.ir.module import Function
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import boolean
from commonir.ods import Op, known_data, known_integer
from commonir.ods.effects import is_unneeded
from commonir.ods.region_carried_values import REGION_CARRIED_VALUES
from commonir.ods.rules import Editor, Rules


def _inline(op: ScfOp, region: Region, values: Sequence[Value], editor: Editor) -> bool:
    """Puts what a region does in the place of an operation."""
    editor.replace(op, editor.inline(region.block, op, values))
    return True


def _known_choice(op: If | IndexSwitch, editor: Editor) -> bool:
    """Inlines the region that a constant condition or index selects."""
    if known_data(op.operands[0]) is None:
        return False
    (way,) = op.entry_successors(known_data)
    if way.target is None:
        editor.erase(op)
        return True
    return _inline(op, op.regions[way.target], (), editor)


def _condition_inside(op: If, editor: Editor) -> bool:
    """Replaces the condition by a constant inside the regions."""
    changed = False
    # Many conditions of one value stand in a row: what is beside this one is in few blocks.
    inside = {u.parent for u in op.condition.users}
    inside.discard(op.parent)
    for region, is_true in ((op.elseRegion, False), (op.thenRegion, True)) if inside else ():
        if region is None or not region.blocks:
            continue
        users = [u for u in op.condition.users if u.parent in inside and _is_in(u, region)]
        known = editor.bool_constant(is_true, op) if users else None
        if known is None:
            continue
        for user in users:
            editor.set_operands(user, [known if v is op.condition else v for v in user.operands])
        editor.touch(op)
        changed = True
    return changed


def _is_in(op: Operation, region: Region) -> bool:
    block = op.parent
    while block is not None and block.parent is not None:
        if block.parent is region:
            return True
        holder = block.parent.parent
        block = None if holder is None else holder.parent
    return False


def _ends(op: If) -> tuple[Operation, Operation] | None:
    regions = [r for r in (op.thenRegion, op.elseRegion) if r is not None and r.blocks]
    ends = [r.blocks[0].last for r in regions]
    return (ends[0], ends[1]) if len(ends) == 2 and ends[0] is not None and ends[1] is not None else None


def _choose_values(op: If, editor: Editor) -> bool:
    """Replaces results that both regions only pass on by a selection."""
    ends = _ends(op)
    if ends is None or not op.results:
        return False
    outside = [
        not _is_made_in(op, a) and not _is_made_in(op, b) for a, b in zip(*[e.operands for e in ends], strict=True)
    ]
    if not any(outside):
        return False
    kept = [n for n, free in enumerate(outside) if not free]
    built = None if not kept and _is_empty(op) else _with_results(op, kept, editor)
    values: list[Value] = []
    for n, result in enumerate(op.results):
        one, two = ends[0].operands[n], ends[1].operands[n]
        if n in kept and built is not None:
            values.append(built.results[kept.index(n)])
        elif one is two:
            values.append(one)
        else:
            chosen = editor.create(
                "arith.select", (op.condition, one, two), (result.type,), op if built is None else built
            )
            if chosen is None:
                return False
            values.append(chosen.results[0])
    if built is not None:
        for end in ends:
            _yield_only(end, kept, editor)
    editor.replace(op, values)
    return True


def _give_condition(op: If, editor: Editor) -> bool:
    """Replaces a result that is true in one region and false in the other by the condition, or by its negation."""
    ends = _ends(op)
    if ends is None:
        return False
    changed = False
    for result, one, two in zip(op.results, ends[0].operands, ends[1].operands, strict=True):
        numbers = (known_integer(one), known_integer(two))
        if result.type is not boolean or not result.is_used or numbers not in ((0, 1), (1, 0)):
            continue
        value: Value | None = op.condition
        if not numbers[0]:
            true = editor.bool_constant(True, op)
            built = None if true is None else editor.create("arith.xori", (op.condition, true), (boolean,), op)
            value = None if built is None else built.results[0]
        if value is not None:
            editor.replace_uses(result, value)
            editor.touch(op)
            changed = True
    return changed


def _is_made_in(op: If, value: Value) -> bool:
    owner = value.owner
    return isinstance(owner, Operation) and any(_is_in(owner, r) for r in op.regions)


def _is_empty(op: If) -> bool:
    return all(len(block) == 1 for region in op.regions for block in region.blocks)


def _with_results(op: If, kept: Sequence[int], editor: Editor) -> If:
    """The same condition, before it, with some of its results; the regions are those of the first."""
    regions = {"thenRegion": op.thenRegion.take()}
    if op.elseRegion is not None:
        regions["elseRegion"] = op.elseRegion.take()
    result = If.build({"condition": op.condition, **regions}, [op.results[n].type for n in kept])
    editor.insert(result, op)
    return result


def _yield_only(end: Operation, kept: Sequence[int], editor: Editor) -> None:
    built = Yield(tuple([end.operands[n] for n in kept]))
    editor.insert(built, end)
    editor.erase(end)


def _drop_empty_else(op: If, editor: Editor) -> bool:
    """Removes an else region that does nothing."""
    region = op.elseRegion
    if op.results or region is None or not region.blocks or len(region.block) != 1:
        return False
    built = If.build({"condition": op.condition, "thenRegion": op.thenRegion.take()}, ())
    editor.insert(built, op)
    editor.erase(op)
    return True


def _decide_opposite(op: If, editor: Editor) -> bool:
    """Replaces a negated condition by the condition, with the regions exchanged."""
    condition = _opposite_of(op.condition)
    if op.elseRegion is None or condition is None:
        return False
    fields = {"condition": condition, "thenRegion": op.elseRegion.take(), "elseRegion": op.thenRegion.take()}
    built = If.build(fields, [r.type for r in op.results])
    return editor.substitute(op, built)


def _merge_nested(op: If, editor: Editor) -> bool:
    """Merges a conditional nested in another one without other operations into one on both conditions."""
    inner = op.thenRegion.block.first
    if not isinstance(inner, If) or inner.next is not op.thenRegion.block.last or not _only_yields(op.elseRegion):
        return False
    end, inside = op.thenRegion.block.last, inner.thenRegion.block.last
    if inside is None or end is None or not _only_yields(inner.elseRegion):
        return False
    otherwise = [() if held is None or not held.blocks else _values(held) for held in (op.elseRegion, inner.elseRegion)]
    arguments: list[Value] = []
    chosen: dict[int, tuple[Value, Value]] = {}
    for n, (value, other) in enumerate(zip(end.operands, otherwise[0], strict=True)):
        if value.owner is inner and otherwise[1][value.index] is other:
            arguments.append(inside.operands[value.index])
        elif not _is_made_in(op, value):
            arguments.append(value)
            chosen[n] = value, other
        else:
            return False
    both = editor.create("arith.andi", (op.condition, inner.condition), (boolean,), op)
    if both is None:
        return False
    for n, (value, other) in chosen.items():
        built = editor.create("arith.select", (op.condition, value, other), (value.type,), op)
        if built is None:
            return False
        editor.replace_uses(op.results[n], built.results[0])
    fields = {"condition": both.results[0], "thenRegion": inner.thenRegion.take()}
    if op.elseRegion is not None:
        fields["elseRegion"] = op.elseRegion.take()
    editor.substitute(inside, Yield(tuple(arguments)))
    return editor.substitute(op, If.build(fields, [r.type for r in op.results]))


def _only_yields(region: Region | None) -> bool:
    return region is None or not region.blocks or len(region.block) == 1


def _values(region: Region) -> tuple[Value, ...]:
    """Returns the values that a region yields; none for an absent region."""
    last = region.block.last
    return () if last is None else last.operands


def _merge_following(op: If, editor: Editor) -> bool:
    """Merges two conditionals in a row on the same condition, or on its negation."""
    before = op.previous
    if not isinstance(before, If):
        return False
    is_opposite = _opposite_of(op.condition) is before.condition or _opposite_of(before.condition) is op.condition
    if op.condition is not before.condition and not is_opposite:
        return False
    own = [op.thenRegion, op.elseRegion]
    regions = zip(
        ("thenRegion", "elseRegion"),
        (before.thenRegion, before.elseRegion),
        reversed(own) if is_opposite else own,
        strict=True,
    )
    fields: dict[str, object] = {"condition": before.condition}
    for name, first, second in regions:
        if first is not None and first.blocks and second is not None and second.blocks:
            _use_inside(before.results, _values(first), second, editor)
            fields[name] = _one_after_another(first, second, editor)
        elif first is not None and first.blocks:
            fields[name] = first.take()
        elif second is not None and second.blocks:
            fields[name] = second.take()
    built = If.build(fields, [r.type for r in (*before.results, *op.results)])
    editor.insert(built, op)
    editor.replace(before, built.results[: len(before.results)])
    editor.replace(op, built.results[len(before.results) :])
    return True


def _opposite_of(value: Value) -> Value | None:
    """The bool that a value is the opposite of."""
    owner = value.owner
    if not isinstance(owner, Op) or owner.name != "arith.xori" or known_integer(owner.operands[1]) != 1:
        return None
    return owner.operands[0]


def _use_inside(results: Sequence[Value], values: Sequence[Value], region: Region, editor: Editor) -> None:
    """Puts values in the place of results where these are used within a region."""
    stands = dict(zip(results, values, strict=True))
    for user in dict.fromkeys([u for r in results for u in r.users]):
        if _is_in(user, region):
            editor.set_operands(user, [stands.get(v, v) for v in user.operands])


def _one_after_another(first: Region, second: Region, editor: Editor) -> Region:
    """Returns a region with the operations of two, which yields the values of both."""
    end, last = first.block.last, second.block.last
    if end is None or last is None:
        raise ValueError("a region of a condition has an end")
    values = (*end.operands, *editor.inline(second.block, end, ()))
    editor.substitute(end, Yield(values))
    return first.take()


def _few_rounds(op: For, editor: Editor) -> bool:
    """Removes a loop without iterations, and inlines the body of a loop with one."""
    low, high, step = known_integer(op.lowerBound), known_integer(op.upperBound), known_integer(op.step)
    if op.lowerBound is op.upperBound or (low is not None and high is not None and low >= high and not op.unsignedCmp):
        editor.replace(op, op.initArgs)
        return True
    if low is not None and high is not None and step and not op.unsignedCmp and _only_yields(op.region):
        values = _values(op.region)
        if not any(_is_given_by(v, op.region) for v in values):
            editor.replace(op, values)
            return True
    if low is None or high is None or step is None or op.unsignedCmp or not low < high <= low + step:
        return False
    return _inline(op, op.region, (op.lowerBound, *op.initArgs), editor)


def _run_once(op: ExecuteRegion, editor: Editor) -> bool:
    """Inlines a region of one block that runs once."""
    if op.no_inline or len(op.region.blocks) != 1 or not isinstance(op.region.block.last, Yield):
        return False
    return _inline(op, op.region, (), editor)


def _run_in_place(op: ExecuteRegion, editor: Editor) -> bool:
    """Inlines the blocks of a region that runs once into the function, or the region of the same kind, around it."""
    block = op.parent
    region = None if block is None else block.parent
    branch = editor.find("cf.br")
    if op.no_inline or block is None or region is None or branch is None:
        return False
    if not isinstance(region.parent, Function | ExecuteRegion):
        return False
    # The last first: what follows one moves, and what follows several would move as often.
    in_row = [op]
    following = op.next
    while isinstance(following, Op) and following.next is not None:
        if isinstance(following, ExecuteRegion) and _has_blocks(following) and not is_unneeded(following):
            in_row.append(following)
        following = following.next
    for each in reversed(in_row):
        _set_in_place(each, block, region, branch, editor)
    return True


def _has_blocks(op: ExecuteRegion) -> bool:
    return not op.no_inline and len(op.region.blocks) > 1


def _set_in_place(op: ExecuteRegion, block: Block, region: Region, branch: type[Op], editor: Editor) -> None:
    taken = op.region.take().blocks
    after = Block([r.type for r in op.results])
    place = region.blocks.index(block) + 1
    region.blocks[place:place] = [*taken, after]
    for built in (*taken, after):
        built.parent = region
    for old, new in zip(op.results, after.arguments, strict=True):
        editor.replace_uses(old, new)
    following = op.next
    while following is not None:
        moved, following = following, following.next
        moved.detach()
        after.append(moved)
    editor.insert(branch.build({"dest": taken[0]}, ()), op)
    editor.erase(op)
    for each in taken:
        end = each.last
        editor.touch(*each.operations)
        if isinstance(end, Yield):
            editor.insert(branch.build({"dest": after, "destOperands": end.operands}, ()), end)
            editor.erase(end)


def _condition_holds(op: While, editor: Editor) -> bool:
    """Replaces the condition of the loop by true inside of the body."""
    last = op.before.block.last
    if not isinstance(last, Condition):
        return False
    changed = False
    for value, received in zip(last.args, op.after.block.arguments, strict=True):
        known = editor.bool_constant(True, op) if value is last.condition and received.is_used else None
        if known is not None:
            editor.replace_uses(received, known)
            changed = True
    return changed


def _comparison_holds(op: While, editor: Editor) -> bool:
    """Replaces a comparison in the body that repeats the condition of the loop."""
    last = op.before.block.last
    if not isinstance(last, Condition):
        return False
    decided = last.condition.owner
    if not isinstance(decided, Op) or decided.name != "arith.cmpi":
        return False
    received = dict(zip(last.args, op.after.block.arguments, strict=True))
    expected = [received.get(v) if _is_given_by(v, op.before) else v for v in decided.operands]
    first = expected[0]
    if first is None:
        return False
    same = _predicate(decided)
    for user in first.users:
        if type(user) is type(decided) and [*user.operands] == expected and user.parent is op.after.block:
            number = _predicate(user)
            known = editor.bool_constant(number == same, op) if number in (same, _OPPOSITES.get(same)) else None
            if known is not None:
                editor.replace(user, (known,))
                return True
    return False


_HALF_OF_OPPOSITES = {0: 1, 2: 5, 3: 4, 6: 9, 7: 8}
_OPPOSITES = {**_HALF_OF_OPPOSITES, **{v: k for k, v in _HALF_OF_OPPOSITES.items()}}
"""The numbers of comparisons of integers, and those that hold when these do not."""


def _predicate(op: Operation) -> int:
    result = op.attribute_dictionary["predicate"]
    if not isinstance(result, IntegerAttr):
        raise InternalError(f"{op.name} has no predicate")
    return result.value


def _is_given_by(value: Value, region: Region) -> bool:
    """Returns whether something in a region gives a value."""
    owner = value.owner
    if isinstance(owner, Operation):
        return _is_in(owner, region)
    return any(owner is block for block in region.blocks)


RULES = Rules(
    (),
    {
        If: (
            _known_choice,
            _condition_inside,
            _decide_opposite,
            _merge_following,
            _merge_nested,
            _give_condition,
            _choose_values,
            *REGION_CARRIED_VALUES,
            _drop_empty_else,
        ),
        For: (_few_rounds, *REGION_CARRIED_VALUES),
        ExecuteRegion: (_run_once, _run_in_place, *REGION_CARRIED_VALUES),
        IndexSwitch: (_known_choice, *REGION_CARRIED_VALUES),
        **PARALLEL,
        While: (_condition_holds, _comparison_holds, *REGION_CARRIED_VALUES),
    },
)
