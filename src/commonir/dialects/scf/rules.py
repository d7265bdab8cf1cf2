"""Simpler forms of operations of the scf dialect: known conditions and rounds, values that need not be carried.

Source: MLIR scf dialect, canonicalization patterns.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.dialects.scf.base import ScfOp
from commonir.dialects.scf.control import Condition, ExecuteRegion, For, If, IndexSwitch, While, Yield
from commonir.dialects.scf.parallel import Parallel
from commonir.ir.data import Data
from commonir.ir.operation import Operation, Region, Value
from commonir.ir.types import boolean
from commonir.ods import Op, known_data, known_integer
from commonir.ods.rules import Editor, Rules


def _inline(op: ScfOp, region: Region, values: Sequence[Value], editor: Editor) -> bool:
    """Puts what a region does in the place of an operation."""
    editor.replace(op, editor.inline(region.block, op, values))
    return True


def _known_condition(op: If, editor: Editor) -> bool:
    """Of a condition that is known, the region that runs stands in the place."""
    condition = known_integer(op.condition)
    if condition is None:
        return False
    region = op.thenRegion if condition else op.elseRegion
    if region is None or not region.blocks:
        editor.erase(op)
        return True
    return _inline(op, region, (), editor)


def _condition_inside(op: If, editor: Editor) -> bool:
    """In the regions of a condition it is known."""
    changed = False
    for region, is_true in ((op.elseRegion, False), (op.thenRegion, True)):
        if region is None or not region.blocks:
            continue
        users = [u for u in op.condition.users if u is not op and _is_in(u, region)]
        known = editor.truth(is_true, op) if users else None
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
    """What both regions only pass on is chosen without them."""
    ends = _ends(op)
    if ends is None or not op.results:
        return False
    outside = [
        not _is_made_in(op, a) and not _is_made_in(op, b) for a, b in zip(*[e.operands for e in ends], strict=True)
    ]
    if not any(outside):
        return False
    kept = [n for n, free in enumerate(outside) if not free]
    made = None if not kept and _is_empty(op) else _with_results(op, kept, editor)
    values: list[Value] = []
    for n, result in enumerate(op.results):
        one, two = ends[0].operands[n], ends[1].operands[n]
        if n in kept and made is not None:
            values.append(made.results[kept.index(n)])
        elif one is two:
            values.append(one)
        else:
            chosen = editor.made("arith.select", (op.condition, one, two), (result.type,), op if made is None else made)
            if chosen is None:
                return False
            values.append(chosen.results[0])
    if made is not None:
        for end in ends:
            _yield_only(end, kept, editor)
    editor.replace(op, values)
    return True


def _give_condition(op: If, editor: Editor) -> bool:
    """A result that is true in one region and false in the other is the condition, or its opposite."""
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
            true = editor.truth(True, op)
            made = None if true is None else editor.made("arith.xori", (op.condition, true), (boolean,), op)
            value = None if made is None else made.results[0]
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
    made = If.build({"condition": op.condition, **regions}, [op.results[n].type for n in kept])
    editor.insert(made, op)
    return made


def _yield_only(end: Operation, kept: Sequence[int], editor: Editor) -> None:
    made = Yield(tuple([end.operands[n] for n in kept]))
    editor.insert(made, end)
    editor.erase(end)


def _take_over(op: Operation, made: Operation, kept: Sequence[int], editor: Editor) -> bool:
    """Puts the results of an operation in the place of those that are kept of another one, which goes; True."""
    for n, result in zip(kept, made.results, strict=True):
        editor.replace_uses(op.results[n], result)
    editor.erase(op)
    return True


def _drop_unused(op: If, editor: Editor) -> bool:
    """Results that nobody uses are not given."""
    kept = [n for n, r in enumerate(op.results) if r.is_used]
    ends = _ends(op)
    if len(kept) == len(op.results) or ends is None:
        return False
    made = _with_results(op, kept, editor)
    for end in ends:
        _yield_only(end, kept, editor)
    return _take_over(op, made, kept, editor)


def _drop_empty_else(op: If, editor: Editor) -> bool:
    """A second region that does nothing is not there."""
    region = op.elseRegion
    if op.results or region is None or not region.blocks or len(region.block) != 1:
        return False
    made = If.build({"condition": op.condition, "thenRegion": op.thenRegion.take()}, ())
    editor.insert(made, op)
    editor.erase(op)
    return True


def _few_rounds(op: For, editor: Editor) -> bool:
    """A loop that is known to run never or once."""
    low, high, step = known_integer(op.lowerBound), known_integer(op.upperBound), known_integer(op.step)
    if op.lowerBound is op.upperBound or (low is not None and high is not None and low >= high and not op.unsignedCmp):
        editor.replace(op, op.initArgs)
        return True
    if low is None or high is None or step is None or op.unsignedCmp or not low < high <= low + step:
        return False
    return _inline(op, op.region, (op.lowerBound, *op.initArgs), editor)


def _keep_outside(op: For, editor: Editor) -> bool:
    """Values that each round passes on as they are need not be carried, nor those that nobody asks for."""
    last = op.region.block.last
    if last is None:
        return False
    _, *carried = op.body_arguments
    kept: list[int] = []
    stands: dict[int, Value] = {}
    for n, (argument, initial, given) in enumerate(zip(carried, op.initArgs, last.operands, strict=True)):
        if (
            given is argument
            or (given is initial)
            or (not op.results[n].is_used and all(u is last for u in argument.users) and given is argument)
        ):
            stands[n] = initial
        else:
            kept.append(n)
    if not stands:
        return False
    block = op.region.block
    for n, initial in stands.items():
        editor.replace_uses(carried[n], initial)
    end = Yield(tuple([last.operands[n] for n in kept]))
    editor.insert(end, last)
    editor.erase(last)
    block.keep_arguments([0, *[n + 1 for n in kept]])
    fields = {
        "lowerBound": op.lowerBound,
        "upperBound": op.upperBound,
        "step": op.step,
        "initArgs": tuple([op.initArgs[n] for n in kept]),
        "unsignedCmp": op.unsignedCmp,
        "region": op.region.take(),
    }
    made = For.build(fields, [op.results[n].type for n in kept])
    editor.insert(made, op)
    editor.replace(op, [stands[n] if n in stands else made.results[kept.index(n)] for n in range(len(op.results))])
    return True


def _run_once(op: ExecuteRegion, editor: Editor) -> bool:
    """A region of one block that runs once stands in the place."""
    if op.no_inline or len(op.region.blocks) != 1 or not isinstance(op.region.block.last, Yield):
        return False
    return _inline(op, op.region, (), editor)


def _yields(op: ExecuteRegion) -> list[Yield] | None:
    """What ends the blocks of a region that hand on values; None where a block ends otherwise than within it."""
    ends = [block.last for block in op.region.blocks]
    return [end for end in ends if isinstance(end, Yield)] if all(isinstance(end, Op) for end in ends) else None


def _give_less(op: ExecuteRegion, editor: Editor) -> bool:
    """Results that nobody uses are not given, nor those that are one value from before in any case."""
    ends = _yields(op)
    if not ends:
        return False
    stands: dict[int, Value] = {}
    for n, result in enumerate(op.results):
        value = ends[0].operands[n]
        is_same = all(end.operands[n] is value for end in ends)
        if is_same and result.is_used and not _comes_from(value, op.region):
            stands[n] = value
    kept = [n for n, r in enumerate(op.results) if r.is_used and n not in stands]
    if len(kept) == len(op.results):
        return False
    for end in ends:
        _yield_only(end, kept, editor)
    fields = {"region": op.region.take(), "no_inline": op.no_inline}
    made = ExecuteRegion.build(fields, [op.results[n].type for n in kept])
    editor.insert(made, op)
    for n, value in stands.items():
        editor.replace_uses(op.results[n], value)
    return _take_over(op, made, kept, editor)


def _comes_from(value: Value, region: Region) -> bool:
    """Whether something in a region gives a value."""
    owner = value.owner
    if isinstance(owner, Operation):
        return _is_in(owner, region)
    return any(owner is block for block in region.blocks)


def _carry_less(op: While, editor: Editor) -> bool:
    """Values that nobody asks for are not carried: neither from the condition on nor from round to round."""
    condition, end = op.before.block.last, op.after.block.last
    if not isinstance(condition, Condition) or not isinstance(end, Yield):
        return False
    first, second = op.before.block, op.after.block
    handed = [n for n, r in enumerate(op.results) if r.is_used or second.arguments[n].is_used]
    carried = [n for n, a in enumerate(first.arguments) if a.is_used]
    if len(handed) == len(op.results) and len(carried) == len(op.inits):
        return False
    # What is carried may be used by what was handed on alone; the next look at the loop finds that.
    editor.insert(Condition(condition.condition, tuple([condition.args[n] for n in handed])), condition)
    editor.erase(condition)
    _yield_only(end, carried, editor)
    first.keep_arguments(carried)
    second.keep_arguments(handed)
    inits = tuple([op.inits[n] for n in carried])
    fields = {"inits": inits, "before": op.before.take(), "after": op.after.take()}
    made = While.build(fields, [op.results[n].type for n in handed])
    editor.insert(made, op)
    return _take_over(op, made, handed, editor)


def _gives_same(op: While, editor: Editor) -> bool:
    """Values from before the loop that it hands on are what it gives."""
    condition = op.before.block.last
    if not isinstance(condition, Condition):
        return False
    changed = False
    for value, argument, result in zip(condition.args, op.after.block.arguments, op.results, strict=True):
        if not _comes_from(value, op.before) and (argument.is_used or result.is_used):
            editor.replace_uses(argument, value)
            editor.replace_uses(result, value)
            editor.touch(op)
            changed = True
    return changed


def _no_rounds(op: Parallel, editor: Editor) -> bool:
    """A grid without positions."""
    bounds = zip(op.lowerBound, op.upperBound, strict=True)
    for low, high in bounds:
        numbers = known_integer(low), known_integer(high)
        if low is high or (numbers[0] is not None and numbers[1] is not None and numbers[0] >= numbers[1]):
            editor.replace(op, op.initVals)
            return True
    return False


def _known_case(op: IndexSwitch, editor: Editor) -> bool:
    """Of a position that is known, the region of its case stands in the place."""
    found: Data | None = known_data(op.arg)
    if found is None:
        return False
    (way,) = op.entered(known_data)
    return way.target is not None and _inline(op, op.regions[way.target], (), editor)


RULES = Rules(
    (),
    {
        If: (_known_condition, _condition_inside, _give_condition, _choose_values, _drop_unused, _drop_empty_else),
        For: (_few_rounds, _keep_outside),
        ExecuteRegion: (_run_once, _give_less),
        IndexSwitch: (_known_case,),
        Parallel: (_no_rounds,),
        While: (_gives_same, _carry_less),
    },
)
