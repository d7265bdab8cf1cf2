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
from commonir.passes.shard.plan import Conflict, Plan, Seed, Trial, forward_summands

_MAX_REPORTED = 20
"""The maximum number of reported operations that mix the batch."""


class Parallel(Enum):
    """The type of parallelism: sharded weights of products, or a sharded batch."""

    TENSOR = "tensor"
    DATA = "data"


class Layer(NamedTuple):
    """A product with weights. `mode` says along what it is sharded: columns, rows, or whole (not at all).

    Units: `weight_bytes` are those of the whole weight.
    """

    name: str
    weight: str
    type: str
    mode: str
    weight_bytes: int
    reason: str = ""


class Sharded(NamedTuple):
    """A plan, and its effect on the layers of a program."""

    plan: Plan
    layers: tuple[Layer, ...]


# -- tensor parallelism


def shard_products(program: Elementary, ranks: int) -> Sharded:
    """Shards the weights of pairs of products: the first by columns, so that operations between them work on shards,
    and the second by rows, so that one sum over the ranks completes its result.
    """
    plan = Plan(program, ranks)
    products = {node: runs for node in program.nodes if (runs := _weight_sums(node, program, plan))}
    reasons: dict[Node, str] = {}
    replication_reasons: dict[Node, str] = {}
    for node, runs in products.items():
        if node in plan.sharded:
            continue
        for run in runs:
            reason = _shard_from(plan, node, run, products, replication_reasons)
            if not reason:
                reasons.pop(node, None)
                break
            reasons.setdefault(node, reason)
    forward_summands(plan)
    return Sharded(
        plan, tuple([_layer(plan, node, replication_reasons.get(node) or reasons.get(node, "")) for node in products])
    )


def _shard_from(
    plan: Plan, node: Node, run: Run, products: Mapping[Node, tuple[Run, ...]], replication_reasons: dict[Node, str]
) -> str:
    """Shards the operations that lead to a product that is sharded by rows. Returns the reason if that is useless, else
    "".

    `replication_reasons` receives why other products on the way stay whole.
    """
    size = run.places[0].size
    if size % plan.ranks or size == 0:
        return f"{size} does not divide by {plan.ranks}"
    trial = Trial(plan, Seed(node=node, run=run, period=size))
    try:
        trial.run()
    except Conflict as conflict:
        return conflict.reason
    columns = [n for n, r in trial.sharded.items() if n in products and not r.is_summed]
    if not columns:
        reasons = [f": {c.reason}" for c in trial.reasons[:1]]
        return "".join(["no product before it can be divided with it", *reasons])
    plan.adopt(trial)
    for value, reason in trial.replicated.items():
        replication_reasons.update(
            (n, reason) for n in _products_behind(plan.program, value, products) if n not in plan.sharded
        )
    return ""


def _products_behind(program: Elementary, value: Value, products: Mapping[Node, object]) -> Iterator[Node]:
    """Yields the last products on the paths to a value."""
    pending, seen = [value], {value}
    while pending:
        maker = program.makers.get(pending.pop())
        if maker is None:
            continue
        if maker in products:
            yield maker
            continue
        unseen = [v for v in maker.used if v not in seen and v not in program.fixed]
        seen.update(unseen)
        pending += unseen


def _weight_sums(node: Node, program: Elementary, plan: Plan) -> tuple[Run, ...]:
    """Returns the indices over which an operation sums products of weights and other values."""
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
    run = plan.sharded.get(node)
    mode = "whole" if run is None else "rows" if run.is_summed else "columns"
    name = node.source.first_name or node.op.first_name or node.source.name
    return Layer(name, _weight_name(plan.program, weight), str(weight.type), mode, _size_bytes(weight), reason)


def _weight_name(program: Elementary, value: Value) -> str:
    """Returns the name of the constant from which a weight is computed."""
    pending = [value]
    while pending:
        current = pending.pop()
        maker = program.makers.get(current)
        if current.name and (maker is None or not maker.op.operands):
            return current.name
        pending += maker.op.operands if maker is not None else ()
    return value.name


def _size_bytes(value: Value) -> int:
    type = value.type
    return type.element.size_bytes(type.count) if isinstance(type, TensorType) and type.is_static else 0


# -- data parallelism


def shard_batch(program: Elementary, ranks: int) -> Sharded:
    """Shards the first axis of inputs, and everything that follows.

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
    return Sharded(plan, ())


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
            if conflict.node is None or conflict.node.source in barred or len(barred) >= _MAX_REPORTED:
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
    """Returns the inputs whose first axis is the batch, with its size: that of the first input with axes.

    Raises: DiagnosticError (E0610) when there is none, or ranks do not divide it.
    """
    shapes = [(v, v.type.shape) for v in program.inputs if isinstance(v.type, TensorType) and v.type.shape]
    if not shapes:
        message = "there is no batch to divide: no input has axes"
        raise DiagnosticError(Diagnostic(CANNOT_BE_DIVIDED, message))
    batch = shapes[0][1][0]
    if not isinstance(batch, int):
        message = f"the batch of '{shapes[0][0].name}' has the size {batch}, which must be known to be divided"
        help = f"give it a value: `--set-dim {batch}=SIZE`"
        raise DiagnosticError(Diagnostic(CANNOT_BE_DIVIDED, message, help=help))
    if batch % ranks or batch == 0:
        message = f"a batch of {batch} ('{shapes[0][0].name}') does not divide by {ranks} ranks"
        raise DiagnosticError(Diagnostic(CANNOT_BE_DIVIDED, message))
    return [(v, batch) for v, shape in shapes if shape[0] == batch]
