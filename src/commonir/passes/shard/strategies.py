"""Sharding strategies: weights of products for tensor parallelism, the batch for data parallelism."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from enum import Enum

from commonir.base.codes import CANNOT_BE_DIVIDED
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.ir.operation import Operation, Value
from commonir.ir.types import TensorType
from commonir.notation import Fold, walk
from commonir.ods import infer, path_of
from commonir.passes.shard.elementary import Elementary, Node
from commonir.passes.shard.indices import Run
from commonir.passes.shard.layout import Split
from commonir.passes.shard.plan import Conflict, Plan, Seed, Trial, hand_on_summands

_MOST_REFUSED = 20
"""The maximum number of reported operations that mix the batch."""


class Parallel(Enum):
    """The kind of parallelism: sharded weights of products, or a sharded batch."""

    TENSOR = "tensor"
    DATA = "data"


class Layer(NamedTuple):
    """A product with weights. `how` says along what it is divided: its columns, its rows, or nothing.

    Units: `weight_bytes` are those of the whole.
    """

    name: str
    weight: str
    type: str
    how: str
    weight_bytes: int
    reason: str = ""


class Divided(NamedTuple):
    """A plan, and what it makes of the layers of a program."""

    plan: Plan
    layers: tuple[Layer, ...]


# -- tensor parallelism


def divide_products(program: Elementary, ranks: int) -> Divided:
    """Divides the weights of pairs of products: the first by columns, so that all between them works on a part, and
    the second by rows, so that one sum over the ranks makes its result whole.
    """
    plan = Plan(program, ranks)
    products = {node: runs for node in program.nodes if (runs := _summed_with_weights(node, program, plan))}
    reasons: dict[Node, str] = {}
    kept: dict[Node, str] = {}
    for node, runs in products.items():
        if node in plan.divided:
            continue
        for run in runs:
            reason = _divide_from(plan, node, run, products, kept)
            if not reason:
                reasons.pop(node, None)
                break
            reasons.setdefault(node, reason)
    hand_on_summands(plan)
    return Divided(plan, tuple([_layer(plan, node, kept.get(node) or reasons.get(node, "")) for node in products]))


def _divide_from(
    plan: Plan, node: Node, run: Run, products: Mapping[Node, tuple[Run, ...]], kept: dict[Node, str]
) -> str:
    """Divides what leads to a product that is divided by rows; the reason when that is of no use. `kept` receives why
    others on the way stay whole.
    """
    size = run.places[0].size
    if size % plan.ranks or size == 0:
        return f"{size} does not divide by {plan.ranks}"
    trial = Trial(plan, Seed(node=node, run=run, period=size))
    try:
        trial.run()
    except Conflict as conflict:
        return conflict.reason
    columns = [n for n, r in trial.divided.items() if n in products and not r.is_summed]
    if not columns:
        reasons = [f": {c.reason}" for c in trial.reasons[:1]]
        return "".join(["no product before it can be divided with it", *reasons])
    plan.adopt(trial)
    for value, reason in trial.whole.items():
        kept.update((n, reason) for n in _products_behind(plan.program, value, products) if n not in plan.divided)
    return ""


def _products_behind(program: Elementary, value: Value, products: Mapping[Node, object]) -> Iterator[Node]:
    """The last products on the ways to a value."""
    pending, seen = [value], {value}
    while pending:
        maker = program.makers.get(pending.pop())
        if maker is None:
            continue
        if maker in products:
            yield maker
            continue
        new = [v for v in maker.used if v not in seen and v not in program.fixed]
        seen.update(new)
        pending += new


def _summed_with_weights(node: Node, program: Elementary, plan: Plan) -> tuple[Run, ...]:
    """The indices over which an operation sums products of weights with what is not a weight."""
    op = node.kernel
    if op is None or not any(v in program.fixed for v in op.operands) or all(v in program.fixed for v in op.operands):
        return ()
    if not any(isinstance(e, Fold) and e.fn == "add" for k in infer(op).kernels for e in walk(k.body)):
        return ()
    result: list[Run] = []
    for run in plan.indices.runs(op):
        fixed = {op.operands[p.number] in program.fixed for p in run.places if not p.is_result}
        if run.is_summed and fixed == {True, False}:
            result.append(run)
    return tuple(result)


def _layer(plan: Plan, node: Node, reason: str) -> Layer:
    weights = [v for v in node.op.operands if v in plan.program.fixed]
    weight = max(weights, key=_size_bytes)
    run = plan.divided.get(node)
    how = "whole" if run is None else "rows" if run.is_summed else "columns"
    name = node.source.first_name or node.op.first_name or node.source.name
    return Layer(name, _weight_name(plan.program, weight), str(weight.type), how, _size_bytes(weight), reason)


def _weight_name(program: Elementary, value: Value) -> str:
    """The name of the constant that a weight is made of."""
    pending = [value]
    while pending:
        here = pending.pop()
        maker = program.makers.get(here)
        if here.name and (maker is None or not maker.op.operands):
            return here.name
        pending += maker.op.operands if maker is not None else ()
    return value.name


def _size_bytes(value: Value) -> int:
    type = value.type
    return type.element.size_bytes(type.count) if isinstance(type, TensorType) and type.is_static else 0


# -- data parallelism


def divide_batch(program: Elementary, ranks: int) -> Divided:
    """Divides the first axis of inputs, and everything that follows.

    Raises: DiagnosticError (E0610) with the operations that mix the elements of a batch.
    """
    plan = Plan(program, ranks)
    inputs = _batch(program, ranks)
    plan.adopt(_followed(plan, *inputs[0]))
    for value, size in inputs[1:]:
        if value in plan.layouts:
            continue
        # What is as long as the batch, and meets nothing of it, may be a batch of its own or none.
        trial = Trial(plan, Seed(values=((value, Split(0, size)),)), batch=True)
        with contextlib.suppress(Conflict):
            trial.run()
            plan.adopt(trial)
    return Divided(plan, ())


def _followed(plan: Plan, value: Value, size: int) -> Trial:
    """Returns the consequences of sharding an input. Raises: DiagnosticError (E0610) with all objections."""
    barred: dict[Operation, Diagnostic] = {}
    while True:
        trial = Trial(plan, Seed(values=((value, Split(0, size)),)), batch=True, barred=barred)
        try:
            trial.run()
            break
        except Conflict as conflict:
            result = _mixing(conflict)
            if conflict.node is None or conflict.node.source in barred or len(barred) >= _MOST_REFUSED:
                raise DiagnosticError(*barred.values(), result) from None
            barred[conflict.node.source] = result
    if barred:
        raise DiagnosticError(*barred.values())
    return trial


def _mixing(conflict: Conflict) -> Diagnostic:
    where = path_of(conflict.node.source) if conflict.node is not None else ""
    help = "`--parallel tensor` divides weights instead of the batch"
    return Diagnostic(CANNOT_BE_DIVIDED, f"the batch cannot be divided: {conflict.reason}", where=where, help=help)


def _batch(program: Elementary, ranks: int) -> list[tuple[Value, int]]:
    """The inputs whose first axis is the batch, with its size: that of the first input that has axes.

    Raises: DiagnosticError (E0610) when there is none, or it does not divide.
    """
    shapes = [(v, v.type.shape) for v in program.inputs if isinstance(v.type, TensorType) and v.type.shape]
    if not shapes:
        message = "there is no batch to divide: no input has axes"
        raise DiagnosticError(Diagnostic(CANNOT_BE_DIVIDED, message))
    size = shapes[0][1][0]
    if not isinstance(size, int):
        message = f"the batch of '{shapes[0][0].name}' has the size {size}, which must be known to be divided"
        help = f"give it a value: `--set-dim {size}=SIZE`"
        raise DiagnosticError(Diagnostic(CANNOT_BE_DIVIDED, message, help=help))
    if size % ranks or size == 0:
        message = f"a batch of {size} ('{shapes[0][0].name}') does not divide by {ranks} ranks"
        raise DiagnosticError(Diagnostic(CANNOT_BE_DIVIDED, message))
    return [(v, size) for v, shape in shapes if shape[0] == size]
