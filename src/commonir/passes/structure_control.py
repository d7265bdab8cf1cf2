"""Transforms control flow into the form that can be lowered: functions and regions of one block with `scf.if`,
`scf.for` and `scf.while`.

Branches become conditions and loops (`passes/structure_branches.py`), a switch becomes conditions, parallel loops
become sequential ones, and `scf.execute_region` is replaced by its region. If the first region of `scf.while` has
effects, it moves to the beginning of the loop body. The source does not change. Source: MLIR cf and scf dialects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.dialects.mlir import arith, scf, tensor, ub
from commonir.ir.attributes import BoolAttr, IntegerAttr
from commonir.ir.cloning import clone
from commonir.ir.dominance import Dominance
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import boolean, index
from commonir.ods import Op, path_of
from commonir.ods.traits import Pure
from commonir.ods.verify import check_operation, undefined_operand
from commonir.passes.structure_branches import structure_region
from commonir.passes.unstructured import is_unstructured

Bounds = tuple[Value, Value, Value]


def structure_control(module: Module) -> Module:
    """Returns a module whose functions have that form.

    Raises: DiagnosticError (E0601) for branches and loops that cannot be transformed, and the errors of those that
    contradict their definitions.
    """
    result = clone(module)
    diagnostics = Diagnostics()
    # What takes the place of branches are loops and switches that have to be looked at, too.
    for step in (_structure_regions, _structure):
        # Those that hold others come first in a walk: taken from the end, what is inside is done before.
        for op in reversed([op for op in result.nested() if is_unstructured(op)]):
            try:
                step(op)
            except DiagnosticError as error:
                diagnostics.extend(d.located(where=path_of(op)) for d in error.diagnostics)
        diagnostics.raise_errors()
    return result


def _structure_regions(op: Operation) -> None:
    # A program that was not verified may use what is computed on another way.
    faults = [fault for region in op.regions if len(region.blocks) > 1 for fault in _not_dominated(region)]
    if faults:
        raise DiagnosticError(*faults)
    for region in op.regions:
        structure_region(region)


def _not_dominated(region: Region) -> Iterator[Diagnostic]:
    """Yields the errors of operands that are not computed on every way to their operation."""
    dominance = Dominance(region)
    blocks = {block for block in region.blocks if dominance.is_reachable(block)}
    for block in blocks:
        for user in [inner for op in block.operations for inner in op.walk()]:
            for n, v in enumerate(user.operands):
                home = v.owner.parent if isinstance(v.owner, Operation) else v.owner
                if home in blocks and not dominance.dominates(home, block):
                    yield undefined_operand(user, n, v)


def _structure(op: Operation) -> None:
    # A program that was not verified may have less in its regions than is taken from them here.
    faults = [d for d in check_operation(op, inferring=False) if d.is_error] if isinstance(op, Op) else ()
    if faults:
        raise DiagnosticError(*faults)
    match op:
        case scf.ExecuteRegion():
            _inline_block(op, op.region.block)
        case scf.IndexSwitch():
            _structure_switch(op)
        case scf.Parallel():
            bounds = list(zip(op.lowerBound, op.upperBound, op.step, strict=True))
            _put_loops(op, bounds, op.initVals, lambda block, at, state: _reduced(op, block, at, state))
        case scf.Forall():
            bounds = [(_position(a, op), _position(b, op), _position(c, op)) for a, b, c in op.bounds]
            _put_loops(op, bounds, op.outputs, lambda block, at, state: _inserted(op, block, at, state))
        case scf.While() if not all(_only_computes(inner) for inner in op.before.block.operations):
            _move_condition_first(op)
        case _:
            pass


def _only_computes(op: Operation) -> bool:
    """Returns whether an operation may run twice."""
    return isinstance(op, Op) and op.has_trait(Pure) and not op.regions


def _position(value: int | Value, before: Operation) -> Value:
    return value if isinstance(value, Value) else _before(before, arith.Constant(IntegerAttr(value, index)))


def _before(anchor: Operation, op: Op) -> Value:
    """Inserts an operation before another one and returns its result."""
    assert anchor.parent is not None
    anchor.parent.insert_before(anchor, op)
    return op.results[0]


def _replace(op: Operation, values: Sequence[Value]) -> None:
    for old, new in zip(op.results, values, strict=True):
        old.replace_all_uses_with(new)
    op.erase()


def _inline_block(op: Operation, block: Block) -> None:
    """Replaces an operation by the operations of the block that it runs."""
    last = block.last
    assert last is not None
    values = last.operands
    last.erase()
    for inner in list(block.operations):
        inner.detach()
        if op.parent is not None:
            op.parent.insert_before(op, inner)
    _replace(op, values)


def _structure_switch(op: scf.IndexSwitch) -> None:
    """Replaces a switch by one condition per case, each in the else branch of the one before."""
    types = [r.type for r in op.results]
    otherwise = op.defaultRegion.take()
    regions = [r.take() for r in op.caseRegions]
    built: scf.If | None = None
    for case, region in reversed(list(zip(op.cases, regions, strict=True))):
        if built is not None:
            block = Block()
            for inner in _with_condition(built):
                block.append(inner)
            block.append(scf.Yield.build({"results_": built.results}, ()))
            otherwise = Region([block])
        number = arith.Constant(IntegerAttr(case, index))
        requested = arith.CmpI(arith.CmpIPredicate.EQ, op.arg, number.results[0])
        fields = {"condition": requested.results[0], "thenRegion": region, "elseRegion": otherwise}
        built = scf.If.build(fields, types)
    if built is None:
        block = otherwise.block
        _inline_block(op, block)
        return
    for inner in _with_condition(built):
        if op.parent is not None:
            op.parent.insert_before(op, inner)
    _replace(op, built.results)


def _with_condition(new_op: scf.If) -> tuple[Operation, ...]:
    """Returns the operations that compute whether the case of a switch is requested, and the conditional itself."""
    requested = new_op.condition.owner
    assert isinstance(requested, arith.CmpI)
    number = requested.rhs.owner
    assert isinstance(number, arith.Constant)
    return number, requested, new_op


# -- loops


def _put_loops(
    op: scf.Parallel | scf.Forall,
    bounds: Sequence[Bounds],
    initial: Sequence[Value],
    fill: Callable[[Block, Sequence[Value], Sequence[Value]], tuple[Value, ...]],
) -> None:
    """Replaces an operation by loops over all axes; `fill` fills the innermost block and returns the next values."""
    types = [v.type for v in initial]
    state = tuple(initial)
    loops: list[scf.For] = []
    positions: list[Value] = []
    for low, high, step in bounds:
        block = Block([index, *types])
        fields = {"lowerBound": low, "upperBound": high, "step": step, "initArgs": state, "region": Region([block])}
        loops.append(scf.For.build(fields, types))
        positions.append(block.arguments[0])
        state = block.arguments[1:]
    values = fill(loops[-1].region.block, positions, state)
    for outer, inner in zip([None, *loops], [*loops, None], strict=True):
        if outer is None:
            continue
        block = outer.region.block
        if inner is not None:
            block.append(inner)
            block.append(scf.Yield.build({"results_": inner.results}, ()))
        else:
            block.append(scf.Yield.build({"results_": values}, ()))
    assert op.parent is not None
    op.parent.insert_before(op, loops[0])
    _replace(op, loops[0].results)


def _place_body(source: Block, block: Block, values: Sequence[Value]) -> Operation:
    """Moves the operations of a block to the end of another one, with values for its arguments, and returns the
    terminator.
    """
    for argument, value in zip(source.arguments, values, strict=True):
        argument.replace_all_uses_with(value)
    last = source.last
    assert last is not None
    last.detach()
    for op in list(source.operations):
        op.detach()
        block.append(op)
    return last


def _reduced(op: scf.Parallel, block: Block, at: Sequence[Value], state: Sequence[Value]) -> tuple[Value, ...]:
    """Returns the values of an iteration of a parallel loop, combined by its reductions."""
    last = _place_body(op.region.block, block, at)
    if not isinstance(last, scf.Reduce):
        return tuple(state)
    out: list[Value] = []
    for before, operand, region in zip(state, last.operands, last.reductions, strict=True):
        end = _place_body(region.block, block, (before, operand))
        out.append(end.operands[0])
        end.erase()
    last.erase()
    return tuple(out)


def _inserted(op: scf.Forall, block: Block, at: Sequence[Value], state: Sequence[Value]) -> tuple[Value, ...]:
    """Returns the values of an iteration of a loop with shared results, after its insertions."""
    outputs = op.region.block.arguments[len(at) :]
    last = _place_body(op.region.block, block, (*at, *outputs))
    now = dict(zip(outputs, state, strict=True))
    inserting = list(last.region.block.operations) if isinstance(last, scf.InParallel) else []
    for inner in inserting:
        if not isinstance(inner, tensor.ParallelInsertSlice) or inner.dest not in now:
            message = f"{inner.name} in {op.name} is not an insertion into a result of the loop"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message))
        dest = inner.dest
        names = ("source", "offsets", "sizes", "strides", "static_offsets", "static_sizes", "static_strides")
        fields: dict[str, object] = {n: getattr(inner, n) for n in names}
        fields["dest"] = now[dest]
        now[dest] = block.append(tensor.InsertSlice.build(fields, [dest.type])).results[0]
    last.erase()
    # Reads of a shared result in the round see what the rounds before have put into it.
    for output, value in zip(outputs, state, strict=True):
        output.replace_all_uses_with(value)
    return tuple([now[v] for v in outputs])


def _move_condition_first(op: scf.While) -> None:
    """Replaces a loop whose first region has effects by one whose first region is only a condition.

    The loop carries whether it continues, the arguments of the first region, and the values that this passed on last.
    """
    before, after = op.before.block, op.after.block
    inputs, types = [v.type for v in op.inits], [r.type for r in op.results]
    carried = [boolean, *inputs, *types]
    block = Block(carried)
    last = _place_body(before, block, block.arguments[1 : 1 + len(inputs)])
    assert isinstance(last, scf.Condition)
    goes_on, passed = last.condition, last.args
    last.erase()
    body = Block()
    end = _place_body(after, body, passed)
    body.append(end)
    otherwise = Block()
    otherwise.append(scf.Yield.build({"results_": block.arguments[1 : 1 + len(inputs)]}, ()))
    fields = {"condition": goes_on, "thenRegion": Region([body]), "elseRegion": Region([otherwise])}
    following = block.append(scf.If.build(fields, inputs))
    block.append(scf.Yield.build({"results_": (goes_on, *following.results, *passed)}, ()))
    condition_block = Block(carried)
    condition_block.append(
        scf.Condition.build({"condition": condition_block.arguments[0], "args": condition_block.arguments}, ())
    )
    start = [_before(op, arith.Constant(BoolAttr(True)))]
    start += [*op.inits, *[_before(op, ub.Poison.build({}, (t,))) for t in types]]
    loop = {"inits": tuple(start), "before": Region([condition_block]), "after": Region([block])}
    assert op.parent is not None
    built = op.parent.insert_before(op, scf.While.build(loop, carried))
    _replace(op, built.results[1 + len(inputs) :])
