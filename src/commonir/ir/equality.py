"""Structural equality of programs, operation by operation."""

from __future__ import annotations

from collections.abc import Iterator

from commonir.base.text import plural
from commonir.ir.attributes import ArrayAttr, Attribute, DataAttr, DictionaryAttr
from commonir.ir.data import Data
from commonir.ir.operation import Block, Operation, Region, Value


def are_equal(a: Operation, b: Operation, *, names: bool = False, shared: bool = False) -> bool:
    """Returns whether two operations are structurally equal: names, types, attributes, constants and operands.

    `names` compares the names of values too. With `shared`, both belong to one program and must use the same values
    from outside. Locations are never compared.
    """
    return next(_differences(a, b, names, shared), None) is None


def first_difference(a: Operation, b: Operation, *, names: bool = False) -> str | None:
    """Returns a description of the first difference in program order; None when there is none."""
    return next(_differences(a, b, names, False), None)


def _differences(a: Operation, b: Operation, names: bool, shared: bool) -> Iterator[str]:
    same: dict[Value, Value] = {}
    blocks: dict[Block, Block] = {}
    used: list[tuple[Operation, Operation]] = []
    pending: list[tuple[Operation, Operation]] = [(a, b)]
    while pending:
        x, y = pending.pop()
        yield from _compare(x, y, names)
        used.append((x, y))
        same.update(zip(x.results, y.results, strict=False))
        inner: list[tuple[Operation, Operation]] = []
        for m, n in zip(_blocks(x), _blocks(y), strict=False):
            blocks[m] = n
            same.update(zip(m.arguments, n.arguments, strict=False))
            inner += zip(m.operations, n.operations, strict=False)
        pending.extend(reversed(inner))
    # Operands come last: in a graph region a value may be used before it is defined.
    for x, y in used:
        for n, (u, v) in enumerate(zip(x.operands, y.operands, strict=False)):
            if same.setdefault(u, u if shared else v) is not v:
                yield f"{x.name}: operand {n} is a different value"
        if tuple([blocks.get(s, s) for s in x.successors]) != y.successors:
            yield f"{x.name}: other successors"


def _compare(x: Operation, y: Operation, names: bool) -> Iterator[str]:
    if x.name != y.name or type(x) is not type(y):
        yield f"operation {x.name} against {y.name}"
        return
    if len(x.operands) != len(y.operands):
        yield f"{x.name}: {plural(len(x.operands), 'operand')} against {len(y.operands)}"
    if dict(x.properties).get("operandSegmentSizes") is not dict(y.properties).get("operandSegmentSizes"):
        yield f"{x.name}: different operand segment sizes"
    types = [r.type for r in x.results], [r.type for r in y.results]
    if types[0] != types[1]:
        yield f"{x.name}: results {types[0]} against {types[1]}"
    if names and [r.name for r in x.results] != [r.name for r in y.results]:
        yield f"{x.name}: results have different names"
    yield from _compare_attributes(x, y)
    if len(x.regions) != len(y.regions):
        yield f"{x.name}: {plural(len(x.regions), 'region')} against {len(y.regions)}"
    for r, s in zip(x.regions, y.regions, strict=False):
        yield from _compare_regions(x, r, s, names)


def _compare_attributes(x: Operation, y: Operation) -> Iterator[str]:
    left, right = ({**op.attribute_dictionary, **op.discardable} for op in (x, y))
    for key in {**left, **right}:
        if key not in left or key not in right or not same_attribute(left[key], right[key]):
            yield f"{x.name}: attribute '{key}' differs"


def _compare_regions(op: Operation, r: Region, s: Region, names: bool) -> Iterator[str]:
    if len(r.blocks) != len(s.blocks):
        yield f"{op.name}: {plural(len(r.blocks), 'block')} against {len(s.blocks)}"
    for m, n in zip(r.blocks, s.blocks, strict=False):
        if m.label != n.label:
            yield f"{op.name}: block '{m.label}' against '{n.label}'"
        if [v.type for v in m.arguments] != [v.type for v in n.arguments]:
            yield f"{op.name}: block arguments have different types"
        if names and [v.name for v in m.arguments] != [v.name for v in n.arguments]:
            yield f"{op.name}: block arguments have different names"
        if len(m) != len(n):
            yield f"{op.name}: {plural(len(m), 'operation')} in a block against {len(n)}"


def same_attribute(a: Attribute, b: Attribute) -> bool:
    """Returns whether two attributes are the same, constants compared by their contents."""
    if a is b:
        return True
    match a, b:
        case DataAttr(data=x), DataAttr(data=y):
            return same_data(x, y)
        case ArrayAttr(values=x), ArrayAttr(values=y):
            return len(x) == len(y) and all(map(same_attribute, x, y))
        case DictionaryAttr(entries=x), DictionaryAttr(entries=y):
            left, right = dict(x), dict(y)
            return left.keys() == right.keys() and all(same_attribute(left[k], right[k]) for k in left)
        case _:
            return False


def same_data(a: Data, b: Data) -> bool:
    """Returns whether two constants have one type and the same bits."""
    if a is b:
        return True
    if a.type is not b.type:
        return False
    return a.values() == b.values() if a.element.kind == "string" else a.buffer() == b.buffer()


def _blocks(op: Operation) -> Iterator[Block]:
    return (block for region in op.regions for block in region.blocks)
