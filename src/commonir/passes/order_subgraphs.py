"""Gives the operations of subgraphs an order that data and tokens allow, and makes subgraphs functions that run in it.

In the result no operation waits for a token: accesses to globals happen in program order. An order that does not exist,
or that decides what a program gives without the program saying so, is reported; nothing is run to find out.
Source: MLIR ml_program dialect; what orders accesses is a path of data or tokens from one to the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush

from commonir.base.codes import CYCLIC_ORDER, UNORDERED_ACCESSES, UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, Diagnostics
from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.dialects.mlir.ml_program import (
    Func,
    Global,
    GlobalLoad,
    GlobalLoadGraph,
    GlobalStore,
    GlobalStoreGraph,
    GlobalUse,
    Output,
    Return,
    Subgraph,
    Token,
)
from commonir.ir.attributes import DictionaryAttr
from commonir.ir.cloning import clone
from commonir.ir.module import Function, Invocation, Module, replace_function
from commonir.ir.operation import Block, Operation
from commonir.ir.types import FunctionType, token
from commonir.ods import path_of

_SHOWN = 5
"""Operations of a cycle that a message names."""


def order_subgraphs(module: Module) -> Module:
    """A module without subgraphs and tokens; the module itself when it has none.

    Raises: DiagnosticError (E0405, E0406, and E0601 where a token passes through an operation that knows none).
    """
    if not any(is_ordered_by_tokens(op) for op in module.nested()):
        return module
    check_order(module).raise_errors()
    result = clone(module)
    diagnostics = Diagnostics()
    for op in [op for op in result.nested() if isinstance(op, Subgraph)]:
        if not op.is_declaration:
            rearrange(op.body, data_order(op.body).operations)
    for op in list(result.nested()):
        _without_tokens(op)
    for op in [op for op in result.nested() if isinstance(op, Func | Subgraph)]:
        _as_function(op)
    for op in list(result.nested()):
        _remove_token(op, diagnostics)
    diagnostics.raise_errors()
    return result


def is_ordered_by_tokens(op: Operation) -> bool:
    """Whether an operation is a subgraph, makes or awaits tokens, or is given them."""
    if isinstance(op, Func):
        return any(t is token for t in (*op.function_type.inputs, *op.function_type.results))
    return isinstance(op, Subgraph | Token | GlobalLoadGraph | GlobalStoreGraph)


def check_order(module: Module) -> Diagnostics:
    """Returns the errors in the order of operations in the subgraphs of a program."""
    diagnostics = Diagnostics()
    effects = _Effects()
    for op in module.walk():
        if not isinstance(op, Subgraph) or op.is_declaration:
            continue
        order = data_order(op.body)
        if order.cycle:
            diagnostics.extend([_cyclic(op, order.cycle)])
            continue
        diagnostics.extend(_unordered(order, effects))
    return diagnostics


# -- the order


class Order(NamedTuple):
    """Operations in an order that data and tokens allow, the positions of those that each waits for, and a cycle.

    When there is a cycle, the order lacks what waits for it.
    """

    operations: list[Operation]
    behind: list[list[int]]
    cycle: list[Operation]


def data_order(block: Block) -> Order:
    """The operations of a block: those that wait for nothing as they are written."""
    operations = list(block.operations)
    place = {op: n for n, op in enumerate(operations)}
    waits = [_awaited(op, place) for op in operations]
    last = block.last
    if last is not None:
        # The end of the block comes last, whatever it returns.
        waits[-1] = list(range(len(operations) - 1))
    users: list[list[int]] = [[] for _ in operations]
    for n, awaited in enumerate(waits[:-1]):
        for m in awaited:
            users[m].append(n)
    missing = [len(awaited) for awaited in waits]
    free = [n for n, count in enumerate(missing[:-1]) if not count]
    heapify(free)
    order: list[int] = []
    while free:
        n = heappop(free)
        order.append(n)
        for user in users[n]:
            missing[user] -= 1
            if not missing[user]:
                heappush(free, user)
    if len(order) < len(operations) - 1:
        return Order([], [], _cycle(operations, waits, set(order)))
    order.append(len(operations) - 1)
    position = {n: k for k, n in enumerate(order)}
    behind = [[position[m] for m in waits[n]] for n in order[:-1]]
    return Order([operations[n] for n in order], [*behind, []], [])


def _awaited(op: Operation, place: Mapping[Operation, int]) -> list[int]:
    """The positions of the operations whose results an operation uses, also inside of its regions."""
    result: dict[int, None] = {}
    for value in op.values_used:
        owner = value.defining_op
        if owner is not None and owner in place:
            result[place[owner]] = None
    return list(result)


def _cycle(operations: Sequence[Operation], waits: Sequence[Sequence[int]], done: set[int]) -> list[Operation]:
    """Operations that wait for each other: from any that is not done, always to one that it waits for."""
    at = next(n for n in range(len(operations) - 1) if n not in done)
    seen: dict[int, int] = {}
    path: list[int] = []
    while at not in seen:
        seen[at] = len(path)
        path.append(at)
        at = next(m for m in waits[at] if m not in done)
    return [operations[n] for n in reversed(path[seen[at] :])]


def _cyclic(holder: Subgraph, cycle: Sequence[Operation]) -> Diagnostic:
    shown = ", ".join(_named(op) for op in cycle[:_SHOWN]) + (", ..." if len(cycle) > _SHOWN else "")
    message = f"operations of {holder.name} @{holder.sym_name} wait for each other: {shown}"
    return Diagnostic(CYCLIC_ORDER, message, where=path_of(cycle[0]))


def _named(op: Operation) -> str:
    names = [f"%{r.name}" for r in op.results if r.name]
    return f"{op.name} ({', '.join(names)})" if names else op.name


# -- accesses to globals


class _Effects:
    """Which globals operations read and replace, also in what they call."""

    def __init__(self) -> None:
        self._of_function: dict[Function, tuple[dict[Global, bool], dict[Function, None]]] = {}

    def of(self, op: Operation) -> dict[Global, bool]:
        """The globals that an operation uses; True for those that it replaces. Constants do not count."""
        out: dict[Global, bool] = {}
        called: dict[Function, None] = {}
        self._gather(op, out, called)
        pending = list(called)
        while pending:
            function = pending.pop()
            if function not in self._of_function:
                own: tuple[dict[Global, bool], dict[Function, None]] = {}, {}
                self._gather(function, *own)
                self._of_function[function] = own
            inside, calls = self._of_function[function]
            _merge(out, inside)
            pending += [f for f in calls if f not in called]
            called |= calls
        return out

    @staticmethod
    def _gather(op: Operation, out: dict[Global, bool], called: dict[Function, None]) -> None:
        for inner in op.walk():
            if isinstance(inner, GlobalUse):
                target = inner.target
                if target is not None and target.is_mutable:
                    _merge(out, {target: isinstance(inner, GlobalStore | GlobalStoreGraph)})
            callee = _callee(inner)
            if callee is not None:
                called[callee] = None


def _callee(op: Operation) -> Function | None:
    if isinstance(op, core.Call):
        return op.function()
    return op.callee if isinstance(op, Invocation) else None


def _merge(into: dict[Global, bool], more: Mapping[Global, bool]) -> None:
    for variable, is_replaced in more.items():
        into[variable] = into.get(variable, False) or is_replaced


def _unordered(order: Order, effects: _Effects) -> Iterator[Diagnostic]:
    """Accesses to a global, of which one replaces it, that nothing orders."""
    accesses: dict[Global, list[tuple[int, bool]]] = {}
    for n, op in enumerate(order.operations):
        if isinstance(op, GlobalUse | core.Call | Invocation) or op.regions:
            for variable, is_replaced in effects.of(op).items():
                accesses.setdefault(variable, []).append((n, is_replaced))
    ahead: list[list[int]] = [[] for _ in order.operations]
    for n, behind in enumerate(order.behind):
        for m in behind:
            ahead[m].append(n)
    for variable, uses in accesses.items():
        pair = _without_order(uses, order.behind, ahead)
        if pair is not None:
            first, second = (order.operations[n] for n in pair)
            message = (
                f"global @{variable.sym_name} is replaced, and nothing orders {_named(first)} and {_named(second)}"
            )
            help = "give one of them a token that the other produces"
            yield Diagnostic(UNORDERED_ACCESSES, message, where=path_of(second), help=help)


def _without_order(
    uses: Sequence[tuple[int, bool]], behind: Sequence[Sequence[int]], ahead: Sequence[Sequence[int]]
) -> tuple[int, int] | None:
    """Two accesses that no path connects: each store is compared with what lies between it and its neighbours.

    Stores that follow each other by paths are all in one order, so nothing further away needs a look.
    """
    stores = [k for k, (_, is_store) in enumerate(uses) if is_store]
    for number, k in enumerate(stores):
        at = uses[k][0]
        first = stores[number - 1] if number else 0
        last = stores[number + 1] if number + 1 < len(stores) else len(uses) - 1
        before = [n for n, _ in uses[first:k]]
        after = [n for n, _ in uses[k + 1 : last + 1]]
        reached = _reached(at, behind, before[0], at) if before else set[int]()
        result = next((n for n in before if n not in reached), None)
        if result is None and after:
            reached = _reached(at, ahead, at, after[-1])
            result = next((n for n in after if n not in reached), None)
        if result is not None:
            return min(result, at), max(result, at)
    return None


def _reached(start: int, edges: Sequence[Sequence[int]], lowest: int, highest: int) -> set[int]:
    """The positions in a range that paths from one of them lead to."""
    seen = {start}
    pending = [start]
    while pending:
        for n in edges[pending.pop()]:
            if n not in seen and lowest <= n <= highest:
                seen.add(n)
                pending.append(n)
    return seen


# -- what stands for subgraphs and tokens


def rearrange(block: Block, order: Iterable[Operation]) -> None:
    """Puts the operations of a block in another order."""
    operations = list(order)
    for op in operations:
        op.detach()
    for op in operations:
        block.append(op)


def _without_tokens(op: Operation) -> None:
    """Puts an access without tokens in the place of one that awaits and makes them."""
    block = op.parent
    if block is None:
        return
    if isinstance(op, GlobalLoadGraph):
        built: Operation = GlobalLoad.build({"global_": op.global_}, [op.result_.type], op.location)
        built.results[0].name = op.result_.name
        op.result_.replace_all_uses_with(built.results[0])
    elif isinstance(op, GlobalStoreGraph):
        built = GlobalStore.build({"global_": op.global_, "value": op.value}, [], op.location)
    else:
        return
    block.insert_before(op, built)
    stand_in = block.insert_before(op, Token())
    op.produce_token.replace_all_uses_with(stand_in.results[0])
    op.erase()


def _as_function(op: Func | Subgraph) -> None:
    """Puts a function without tokens in its interface in the place of a function."""
    inputs, results = op.function_type.inputs, op.function_type.results
    kept_inputs = [n for n, t in enumerate(inputs) if t is not token]
    kept_results = [n for n, t in enumerate(results) if t is not token]
    if isinstance(op, Func) and len(kept_inputs) == len(inputs) and len(kept_results) == len(results):
        return
    body = op.body_region.take()
    if body.blocks:
        _drop_arguments(body.blocks[0], kept_inputs)
    for block in body.blocks:
        last = block.last
        if isinstance(last, Return | Output):
            values = tuple([last.operands[n] for n in kept_results])
            built = block.insert_before(last, Return(values))
            built.location = last.location
            last.erase()
    signature = FunctionType(tuple([inputs[n] for n in kept_inputs]), tuple([results[n] for n in kept_results]))
    replace_function(
        op,
        Func(
            op.sym_name,
            signature,
            body,
            tuple([op.result_names[n] for n in kept_results]) if op.result_names else (),
            op.sym_visibility,
            _kept(op.arg_attrs, kept_inputs),
            _kept(op.res_attrs, kept_results),
        ),
    )


def _kept(items: tuple[DictionaryAttr, ...] | None, which: Iterable[int]) -> tuple[DictionaryAttr, ...] | None:
    return None if items is None else tuple([items[n] for n in which])


def _drop_arguments(block: Block, kept: Sequence[int]) -> None:
    dropped = [a for n, a in enumerate(block.arguments) if n not in kept]
    for argument in dropped:
        if argument.is_used:
            first = Token()
            if block.first is None:
                block.append(first)
            else:
                block.insert_before(block.first, first)
            argument.replace_all_uses_with(first.results[0])
    block.arguments = tuple([a for a in block.arguments if a not in dropped])
    for n, a in enumerate(block.arguments):
        a.index = n


def _remove_token(op: Operation, diagnostics: Diagnostics) -> None:
    if isinstance(op, Token):
        users = op.results[0].users
        for user in users:
            message = f"a token passes through {user.name}, which orders nothing"
            diagnostics.add(UNSUPPORTED_CONVERSION, message, where=path_of(user))
        if not users:
            op.erase()
