"""Traits: properties of all operations of a definition, some with a check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

from commonir.ir.attributes import EnumAttr
from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.ir.types import TensorType


class Trait:
    """A named property. `check` yields a message for each violation by an operation."""

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


def _uses_nothing_from_above(op: Operation) -> Iterator[str]:
    # A nested isolated operation is checked separately: stopping there keeps the cost of deep nesting linear.
    inside: dict[Operation, None] = {}
    pending = [op]
    while pending:
        at = pending.pop()
        blocks = [block for region in at.regions for block in region.blocks]
        nested = [child for block in blocks for child in block.operations]
        inside |= dict.fromkeys(nested)
        pending.extend(reversed([child for child in nested if child.regions and not _is_isolated(child)]))
    parents = {op, *inside}
    for nested in inside:
        for n, value in enumerate(nested.operands):
            owner = value.owner
            if owner is None:
                # It is undefined, which `verify` reports.
                continue
            if isinstance(owner, Operation):
                seen = owner in inside
            else:
                seen = owner.parent is not None and owner.parent.parent in parents
            if not seen:
                yield f"operand {n} of {nested.name} inside refers to a value from outside"


def _single_block(op: Operation) -> Iterator[str]:
    for n, region in enumerate(op.regions):
        if len(region.blocks) > 1:
            yield f"region {n} must have one block, found {len(region.blocks)}"


_VISIBILITIES = ("public", "private", "nested")


def _is_a_symbol(op: Operation) -> Iterator[str]:
    visibility = op.attribute_dictionary.get("sym_visibility")
    word = visibility.keyword if isinstance(visibility, EnumAttr) else getattr(visibility, "value", None)
    if visibility is not None and word not in _VISIBILITIES:
        yield f"the visibility must be one of {', '.join(_VISIBILITIES)}, found {visibility}"
    parent = op.parent_op
    claimed: object = getattr(parent, "traits", None)
    if isinstance(claimed, tuple) and not isinstance(parent, Module) and SymbolTable not in claimed:
        yield "symbol's parent must have the SymbolTable trait"


def has_parent(*names: str) -> Trait:
    """Returns the trait that the parent of an operation has one of `names`."""

    def check(op: Operation) -> Iterator[str]:
        parent = op.parent_op
        if parent is not None and parent.name not in names:
            yield f"must be directly inside {' or '.join(names)}, found {parent.name}"

    return Trait(f"HasParent({', '.join(names)})", f"is directly inside {' or '.join(names)}", check)


class ImplicitTerminator(Trait):
    """Each region has one block with a terminator of a certain name, which texts may omit."""

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


Compression = Literal["palettized", "quantized", "sparse", "cast"]


class Decodes(Trait):
    """Decodes a constant that is stored in compressed form; summaries count what it stands for.

    `codes` and `scales` are names of fields; the method `cast` stores elements in a narrower type. `block` and `bits`
    are names of attributes or properties: the elements of a block, and the bits of codes that are packed into bytes.
    `shape` are names of attributes with the dims of the decoded constant; without them it is the last result, or has
    the shape of the codes where the definition uses the constant itself (`is_used`).
    """

    __slots__ = ("bits", "block", "codes", "is_used", "method", "scales", "shape")

    def __init__(
        self,
        codes: str,
        method: Compression,
        *,
        scales: str = "",
        block: str = "",
        bits: str = "",
        shape: tuple[str, ...] = (),
        is_used: bool = False,
    ) -> None:
        super().__init__("Decodes", f"decodes `{codes}`, which is {method}")
        self.codes = codes
        self.method: Compression = method
        self.scales = scales
        self.block = block
        self.bits = bits
        self.shape = shape
        self.is_used = is_used


def _equal_groups(op: Operation) -> Iterator[str]:
    fields: Iterable[Any] = getattr(getattr(op, "layout", None), "inputs", ())
    counts: Iterable[int] = getattr(op, "segment_sizes", ())
    variadic = [n for f, n in zip(fields, counts, strict=False) if f.variadic]
    if len(set(variadic)) > 1:
        yield f"groups of operands must have equal sizes, found {', '.join(map(str, variadic))}"


Pure = Trait("Pure", "has no effect: it may be removed when unused, repeated and moved")
RecursiveEffects = Trait("RecursiveMemoryEffects", "has only the effects of the operations in it")
PureOnTensors = Trait("PureOnTensors", "has no effects unless it uses memory")
OnlyReads = Trait("MemRead", "only reads memory: it may be removed when unused")
Communicates = Trait("Communicates", "waits for other ranks or sends them data: a transport executes it")
Commutative = Trait("Commutative", "swapping its operands does not change the result")
Elementwise = Trait("Elementwise", "each element of the result depends on the elements at the same position")
Broadcastable = Trait("Broadcastable", "operands are broadcast against each other as in numpy")
SameElementType = Trait("SameElementType", "all operands and results have one element type", _same_elements)
Terminator = Trait("Terminator", "ends a block", _is_last)
IsolatedFromAbove = Trait("IsolatedFromAbove", "uses no value defined outside of it", _uses_nothing_from_above)
SingleBlock = Trait("SingleBlock", "each region has one block", _single_block)
ConstantLike = Trait("ConstantLike", "its result is known before the program runs")
Declares = Trait("Declares", "declares a value, a memory region, an operator or a function: nothing runs")
SymbolTable = Trait("SymbolTable", "defines a scope for names of symbols")
SymbolTrait = Trait("Symbol", "has a name in its symbol table", _is_a_symbol)
Inline = Trait("Inline", "is written inside the operation that uses it, and not counted in its block")
ReadsState = Trait("ReadsState", "its result is a copy of the contents of its first operand, a state")
WritesState = Trait("WritesState", "its second operand becomes the contents of its first operand, a state")
Random = Trait("Random", "its result is random in every run: it is neither folded nor merged with others")
RunsNested = Trait("RunsNested", "its reference runs nested programs: engines expand it first")
Annotates = Trait("Annotates", "returns its operands with a hint for compilers: they do not take its place")
Unstructured = Trait("Unstructured", "control flow that becomes conditions and loops before it is lowered")
PromisesShapes = Trait("PromisesShapes", "the declared shapes of results in its regions hold, or the program is wrong")
GraphRegion = Trait("GraphRegion", "its regions have no order: a value may be used before it is defined")
SameVariadicOperandSize = Trait(
    "SameVariadicOperandSize",
    "its groups of operands are equally long, so that no attribute has their sizes",
    _equal_groups,
)
