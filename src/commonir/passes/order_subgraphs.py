"""Orders the operations of subgraphs by data and tokens, and replaces subgraphs by functions.

In the result, no operation waits for a token: accesses to globals happen in program order. Cycles are reported, and
accesses whose order would change the results but that nothing orders: both are valid programs that cannot run. Source:
MLIR ml_program dialect: accesses are ordered by paths of data or tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from commonir.base.codes import (
    CYCLIC_ORDER,
    NO_ORDER,
    SEVERAL_ORDERS,
    UNORDERED_ACCESSES,
)
from commonir.base.diagnostics import Code, Diagnostic, Diagnostics
from commonir.dialects import core
from commonir.dialects.mlir import arith
from commonir.dialects.mlir.function_operations import FunctionOp
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
from commonir.ir.attributes import BoolAttr, DictionaryAttr
from commonir.ir.cloning import clone
from commonir.ir.data_order import Order, data_order, rearrange
from commonir.ir.module import Function, Invocation, Module, replace_function
from commonir.ir.operation import Block, Operation
from commonir.ir.origins import located_at
from commonir.ir.types import FunctionType, TensorType, Type, boolean, token
from commonir.ods import path_of

_MAX_LISTED = 5
"""Operations of a cycle that a message names."""


def order_subgraphs(module: Module) -> Module:
    """Returns a module without subgraphs and tokens; the module itself if it has none.

    Raises: DiagnosticError (E0405, E0406).
    """
    if not any(is_ordered_by_tokens(op) for op in module.nested()):
        return module
    check_order(module).raise_errors()
    result = clone(module)
    for op in [op for op in result.nested() if isinstance(op, Subgraph)]:
        if not op.is_declaration:
            rearrange(op.body, data_order(op.body).operations)
    for op in list(result.nested()):
        _without_tokens(op)
    for op in [op for op in result.nested() if isinstance(op, Func | Subgraph)]:
        _as_function(op)
    for op in [op for op in result.nested() if isinstance(op, Token) and not op.results[0].is_used]:
        op.erase()
    for op in list(result.nested()):
        _as_flag(op)
    return result


def is_ordered_by_tokens(op: Operation) -> bool:
    """Returns whether an operation is a subgraph, or produces, awaits or receives tokens."""
    if isinstance(op, Func):
        return any(t is token for t in (*op.function_type.inputs, *op.function_type.results))
    return isinstance(op, Subgraph | Token | GlobalLoadGraph | GlobalStoreGraph)


def check_order(module: Module, *, runs: bool = True) -> Diagnostics:
    """Returns diagnostics of the order of operations in subgraphs: errors if the program `runs`, else warnings."""
    diagnostics = Diagnostics()
    cyclic, unordered = (CYCLIC_ORDER, UNORDERED_ACCESSES) if runs else (NO_ORDER, SEVERAL_ORDERS)
    effects = _Effects()
    for op in module.walk():
        if not isinstance(op, Subgraph) or op.is_declaration:
            continue
        order = data_order(op.body)
        if order.cycle:
            diagnostics.extend([_cyclic(cyclic, op, order.cycle)])
            continue
        diagnostics.extend(_unordered(unordered, order, effects))
    return diagnostics


def _cyclic(code: Code, holder: Subgraph, cycle: Sequence[Operation]) -> Diagnostic:
    shown = ", ".join(_named(op) for op in cycle[:_MAX_LISTED]) + (", ..." if len(cycle) > _MAX_LISTED else "")
    message = f"operations of {holder.name} @{holder.sym_name} wait for each other: {shown}"
    return located_at(Diagnostic(code, message, where=path_of(cycle[0])), cycle[0].location)


def _named(op: Operation) -> str:
    names = [f"%{r.name}" for r in op.results if r.name]
    return f"{op.name} ({', '.join(names)})" if names else op.name


# -- accesses to globals


class _Effects:
    """The globals that operations read and replace, including those of callees."""

    def __init__(self) -> None:
        self._of_function: dict[Function, tuple[dict[Global, bool], dict[Function, None]]] = {}

    def of(self, op: Operation) -> dict[Global, bool]:
        """Returns the globals that an operation uses, with True for those that it replaces. Constants are left out."""
        out: dict[Global, bool] = {}
        called: dict[Function, None] = {}
        self._gather(op, out, called)
        pending = list(called)
        while pending:
            function = pending.pop()
            if function not in self._of_function:
                direct: tuple[dict[Global, bool], dict[Function, None]] = {}, {}
                self._gather(function, *direct)
                self._of_function[function] = direct
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


def _unordered(code: Code, order: Order, effects: _Effects) -> Iterator[Diagnostic]:
    """Yields a diagnostic for each global that is replaced and whose accesses are not ordered."""
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
            found = Diagnostic(code, message, where=path_of(second), help=_how_to_order(first, second))
            yield located_at(found, second.location)


def _how_to_order(first: Operation, second: Operation) -> str:
    """Returns advice to order two accesses; those without tokens are to be replaced first."""
    ordered = [_WITH_TOKENS[type(op)] for op in (first, second) if type(op) in _WITH_TOKENS]
    use = f"use {' and '.join(dict.fromkeys(ordered))}, and " if ordered else ""
    return f"{use}give one of them a token that the other produces"


_WITH_TOKENS: Mapping[type[Operation], str] = MappingProxyType(
    {GlobalLoad: GlobalLoadGraph.name, GlobalStore: GlobalStoreGraph.name}
)
"""The accesses to globals that tokens order, by those that have none."""


def _without_order(
    uses: Sequence[tuple[int, bool]], behind: Sequence[Sequence[int]], ahead: Sequence[Sequence[int]]
) -> tuple[int, int] | None:
    """Returns two accesses that no path connects; each store is compared with the accesses up to its neighbouring
    stores.

    Stores that are connected one after another are totally ordered, so no other pairs need a check.
    """
    stores = [k for k, (_, is_store) in enumerate(uses) if is_store]
    for number, k in enumerate(stores):
        position = uses[k][0]
        first = stores[number - 1] if number else 0
        last = stores[number + 1] if number + 1 < len(stores) else len(uses) - 1
        before = [n for n, _ in uses[first:k]]
        after = [n for n, _ in uses[k + 1 : last + 1]]
        reached = _reached(position, behind, before[0], position) if before else set[int]()
        result = next((n for n in before if n not in reached), None)
        if result is None and after:
            reached = _reached(position, ahead, position, after[-1])
            result = next((n for n in after if n not in reached), None)
        if result is not None:
            return min(result, position), max(result, position)
    return None


def _reached(start: int, edges: Sequence[Sequence[int]], lowest: int, highest: int) -> set[int]:
    """Returns the positions in a range that are reachable from one of them."""
    seen = {start}
    pending = [start]
    while pending:
        for n in edges[pending.pop()]:
            if n not in seen and lowest <= n <= highest:
                seen.add(n)
                pending.append(n)
    return seen


# -- what stands for subgraphs and tokens


def _without_tokens(op: Operation) -> None:
    """Replaces an access that awaits and produces tokens by one without."""
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
    placeholder = block.insert_before(op, Token())
    op.produce_token.replace_all_uses_with(placeholder.results[0])
    op.erase()


def _as_function(op: Func | Subgraph) -> None:
    """Replaces a function or subgraph by a function without tokens in its interface."""
    inputs, results = op.function_type.inputs, op.function_type.results
    input_indices = [n for n, t in enumerate(inputs) if t is not token]
    result_indices = [n for n, t in enumerate(results) if t is not token]
    if isinstance(op, Func) and len(input_indices) == len(inputs) and len(result_indices) == len(results):
        return
    body = op.body_region.take()
    if body.blocks:
        _drop_arguments(body.blocks[0], input_indices)
    for block in body.blocks:
        last = block.last
        if isinstance(last, Return | Output):
            values = tuple([last.operands[n] for n in result_indices])
            built = block.insert_before(last, Return(values))
            built.location = last.location
            last.erase()
    signature = FunctionType(tuple([inputs[n] for n in input_indices]), tuple([results[n] for n in result_indices]))
    replace_function(
        op,
        Func(
            op.sym_name,
            signature,
            body,
            tuple([op.result_names[n] for n in result_indices]) if op.result_names else (),
            op.sym_visibility,
            _selected(op.arg_attrs, input_indices),
            _selected(op.res_attrs, result_indices),
        ),
    )


def _selected(items: tuple[DictionaryAttr, ...] | None, indices: Iterable[int]) -> tuple[DictionaryAttr, ...] | None:
    return None if items is None else tuple([items[n] for n in indices])


def _drop_arguments(block: Block, remaining: Sequence[int]) -> None:
    dropped = [a for n, a in enumerate(block.arguments) if n not in remaining]
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


def _as_flag(op: Operation) -> None:
    """Replaces tokens that regions, branches or calls forward by flags without a meaning: program order has theirs."""
    for region in op.regions:
        for block in region.blocks:
            for a in block.arguments:
                a.type = _without_token(a.type)
    for r in op.results:
        r.type = _without_token(r.type)
    block = op.parent
    if block is None:
        return
    if isinstance(op, Token):
        flag = block.insert_before(op, arith.Constant(BoolAttr(False)))
        op.results[0].replace_all_uses_with(flag.results[0])
        op.erase()
    elif isinstance(op, FunctionOp):
        types = (op.function_type.inputs, op.function_type.results)
        signature = FunctionType(*[tuple([_without_token(t) for t in each]) for each in types])
        if signature is not op.function_type:
            block.insert_before(op, op.with_attributes(function_type=signature))
            op.erase()


def _without_token(type: Type) -> Type:
    """Returns a type in which flags have replaced tokens."""
    if type is token:
        return boolean
    if isinstance(type, TensorType) and type.element is token:
        return TensorType(boolean, type.shape)
    return type
