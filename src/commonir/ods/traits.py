"""Traits: properties of an operation that hold for all of its uses, some with a check of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.ir.types import TensorType


class Trait:
    """A named property. `check` yields violations by an operation."""

    __slots__ = ("check", "name", "summary")

    def __init__(self, name: str, summary: str, check: Callable[[Operation], Iterator[str]] | None = None) -> None:
        self.name = name
        self.summary = summary
        self.check = check

    def __repr__(self) -> str:
        return self.name


def _same_elements(op: Operation) -> Iterator[str]:
    elements = [v.type.element for v in (*op.operands, *op.results) if isinstance(v.type, TensorType)]
    for e in elements[1:]:
        if e is not elements[0]:
            yield f"operands and results must share one element type, found {elements[0]} and {e}"
            return


def _is_last(op: Operation) -> Iterator[str]:
    if op.next is not None:
        yield "a terminator must be the last operation of its block"


def _is_isolated(op: Operation) -> bool:
    claimed: object = getattr(op, "traits", ())
    return isinstance(claimed, tuple) and IsolatedFromAbove in claimed


def _sees_nothing_outside(op: Operation) -> Iterator[str]:
    # An isolated operation inside answers for itself: stopping there keeps the cost of deep nesting linear.
    inside: dict[Operation, None] = {}
    pending = [op]
    while pending:
        at = pending.pop()
        blocks = [block for region in at.regions for block in region.blocks]
        nested = [child for block in blocks for child in block.operations]
        inside |= dict.fromkeys(nested)
        pending.extend(reversed([child for child in nested if child.regions and not _is_isolated(child)]))
    holders = {op, *inside}
    for nested in inside:
        for n, value in enumerate(nested.operands):
            owner = value.owner
            if owner is None:
                # Nothing defines it, which `verify` reports.
                continue
            if isinstance(owner, Operation):
                seen = owner in inside
            else:
                holder = None if owner.parent is None else owner.parent.parent
                seen = holder in holders
            if not seen:
                yield f"operand {n} of {nested.name} inside refers to a value from outside"


def _single_block(op: Operation) -> Iterator[str]:
    for n, region in enumerate(op.regions):
        if len(region.blocks) > 1:
            yield f"region {n} must have one block, found {len(region.blocks)}"


def _is_in_a_symbol_table(op: Operation) -> Iterator[str]:
    holder = op.parent_op
    claimed: object = getattr(holder, "traits", None)
    if isinstance(claimed, tuple) and not isinstance(holder, Module) and SymbolTable not in claimed:
        yield "symbol's parent must have the SymbolTable trait"


def has_parent(*names: str) -> Trait:
    """The operation stands directly inside an operation of one of these names."""

    def check(op: Operation) -> Iterator[str]:
        holder = op.parent_op
        if holder is not None and holder.name not in names:
            yield f"must stand directly inside {' or '.join(names)}, found {holder.name}"

    return Trait(f"HasParent({', '.join(names)})", f"stands directly inside {' or '.join(names)}", check)


class ImplicitTerminator(Trait):
    """Each region has one block, which ends with an operation of a name that texts leave out where it says nothing."""

    __slots__ = ("terminator",)

    def __init__(self, terminator: str) -> None:
        def check(op: Operation) -> Iterator[str]:
            yield from _single_block(op)
            for n, region in enumerate(op.regions):
                last = region.blocks[0].last if len(region.blocks) == 1 else None
                if last is None and len(region.blocks) == 1:
                    yield f"region {n}: expects a non-empty block"
                elif last is not None and last.name != terminator:
                    yield f"region {n} must end with {terminator}, found {last.name}"

        super().__init__(f"SingleBlockImplicitTerminator({terminator})", f"its blocks end with {terminator}", check)
        self.terminator = terminator


def _equal_groups(op: Operation) -> Iterator[str]:
    fields: Iterable[Any] = getattr(getattr(op, "layout", None), "inputs", ())
    sizes: Iterable[int] = getattr(op, "segment_sizes", ())
    variadic = [n for f, n in zip(fields, sizes, strict=False) if f.variadic]
    if len(set(variadic)) > 1:
        yield f"groups of operands must be of one size, found {', '.join(map(str, variadic))}"


Pure = Trait("Pure", "has no effect: it may be removed when unused, repeated and moved")
RecursiveEffects = Trait("RecursiveMemoryEffects", "has no effect but those of the operations in it")
PureOnTensors = Trait("PureOnTensors", "has no effect unless it works on memory")
OnlyReads = Trait("MemRead", "has no effect but that it reads what others write: it may be removed when unused")
Communicates = Trait("Communicates", "waits for other ranks or sends them data: a transport executes it")
Groups = Trait("Groups", "its result is its operands together: what takes it apart finds them again")
TakesApart = Trait("TakesApart", "gives one of the values of a group, that of its attribute `index`")
Commutative = Trait("Commutative", "exchanging its operands does not change the result")
Elementwise = Trait("Elementwise", "each element of the result depends on the elements at the same position")
Broadcastable = Trait("Broadcastable", "operands are broadcast against each other as in numpy")
SameElementType = Trait("SameElementType", "all operands and results have one element type", _same_elements)
Terminator = Trait("Terminator", "ends a block", _is_last)
IsolatedFromAbove = Trait("IsolatedFromAbove", "uses no value defined outside of it", _sees_nothing_outside)
SingleBlock = Trait("SingleBlock", "each region has one block", _single_block)
ConstantLike = Trait("ConstantLike", "its result is known before the program runs")
Declares = Trait("Declares", "says what a value is or where it lies: nothing runs")
SymbolTable = Trait("SymbolTable", "holds symbols, which are found by name in it")
SymbolTrait = Trait("Symbol", "can be referred to by name in its module", _is_in_a_symbol_table)
Inline = Trait(
    "Inline", "is written inside the operation that uses it, so that it has no place of its own in its block"
)
ReadsState = Trait("ReadsState", "its result is a copy of what its first operand, a state, holds")
WritesState = Trait("WritesState", "what its first operand, a state, holds becomes its second operand")
Random = Trait("Random", "what it gives is drawn anew in every run: it is neither computed before nor shared")
RunsNested = Trait("RunsNested", "its reference runs nested programs, so that engines expand it before they run")
Unstructured = Trait("Unstructured", "control flow that becomes plain conditions and loops before it is lowered")
GraphRegion = Trait("GraphRegion", "its regions state no order: a value may be used before it is defined")
SameVariadicOperandSize = Trait(
    "SameVariadicOperandSize",
    "its groups of operands are of one size, so that nothing says how they divide",
    _equal_groups,
)
