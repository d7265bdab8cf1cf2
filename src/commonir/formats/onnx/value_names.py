"""Names for the values of ONNX graphs: their own where these are free, and new ones for the others."""

from __future__ import annotations

from collections.abc import Mapping

from commonir.dialects import onnx
from commonir.ir.operation import Block, Operation, Value
from commonir.ods import Op

_CONSTANT = "const"


def value_names(graph: onnx.Graph | onnx.LocalFunction) -> Mapping[Value, str]:
    """A name for every value of a graph and of those nested in it, unique where it can be seen.

    A result that has no name and no user is absent if it is optional, or the file has no name for it.
    """
    table = _Names()
    # Blocks to be named, and how many names were visible when one that was named began.
    pending: list[Block | int] = [graph.body]
    while pending:
        block = pending.pop()
        if isinstance(block, int):
            table.leave(block)
            continue
        # Nested graphs see what is visible here, and add what is their own.
        pending.append(len(table.changes))
        last = block.last
        ends = last.outputs if isinstance(last, onnx.Return) else ()
        own = set(block.arguments)
        for op in block.operations:
            own.update(op.results)
        first = [*block.arguments, *(v for v in ends if v in own)]
        for v in first:
            table.keep(v, block)
        for op in block.operations:
            is_unnamed = onnx.UNNAMED_RESULTS in op.extra
            for v in op.results:
                if v.name or v.is_used or not (is_unnamed or _is_optional(op, v)):
                    table.keep(v, block)
            pending.extend(b for region in op.regions for b in region.blocks)
    if table.unnamed:
        table.fill(graph)
    return table.names


class _Names:
    """Names given to values. `visible` are those that are visible at the current place, `changes` what became so with
    what its name stood for before.
    """

    def __init__(self) -> None:
        self.names: dict[Value, str] = {}
        self.unnamed: list[Value] = []
        self.visible: dict[str, Value] = {}
        self.changes: list[tuple[str, Value | None]] = []

    def leave(self, count: int) -> None:
        """Forgets the names that came into sight after the first ones."""
        while len(self.changes) > count:
            name, before = self.changes.pop()
            if before is None:
                del self.visible[name]
            else:
                self.visible[name] = before

    def keep(self, v: Value, block: Block) -> None:
        """Gives a value of a block its own name if that is free where it stands, or may be hidden in the block."""
        if v in self.names:
            return
        before = self.visible.get(v.name)
        if v.name and (before is None or _may_hide(v, before, block)):
            self.names[v] = v.name
            self.visible[v.name] = v
            self.changes.append((v.name, before))
        else:
            self.unnamed.append(v)

    def fill(self, graph: onnx.Graph | onnx.LocalFunction) -> None:
        """Gives the remaining values names that nothing has."""
        taken = {v.name for op in graph.walk() for v in op.results}
        taken |= {a.name for op in graph.walk() for r in op.regions for b in r.blocks for a in b.arguments}
        numbers: dict[str, int] = {}
        for v in self.unnamed:
            stem = name = v.name or _stem(v.owner, graph)
            while not name or name in taken:
                numbers[stem] = numbers.get(stem, 0) + 1
                name = f"{stem}_{numbers[stem]}"
            taken.add(name)
            self.names[v] = name


def _stem(owner: object, graph: onnx.Graph | onnx.LocalFunction) -> str:
    """Returns the start of the name of an unnamed value: the operator, or a short word for constants."""
    match owner:
        case onnx.Initializer() | onnx.SparseInitializer():
            return _CONSTANT
        case Operation():
            return owner.name.rpartition(".")[2].lower()
        case _:
            return graph.symbol_name


def _may_hide(v: Value, around: Value, block: Block) -> bool:
    """Returns whether a value of a block may have the name of one around it that nothing in the block uses.

    ONNX refuses this for results of nodes in the scope of the other value, but files have it. Runtimes find what graphs
    of unknown operators take and give by its name.
    """
    if isinstance(v.owner, Operation) and onnx.HIDING_RESULTS in v.owner.extra:
        is_inside = around.owner is block or (isinstance(around.owner, Operation) and around.owner.parent is block)
        return not is_inside and not _is_used_after(around, v.owner)
    if _is_seen(around, block):
        return False
    holder = None if block.parent is None else block.parent.parent
    if isinstance(v.owner, Block | onnx.Initializer | onnx.SparseInitializer) or isinstance(holder, onnx.Custom):
        return True
    return isinstance(around.owner, Operation) and not _is_visible(around.owner, holder)


def _is_visible(definition: Operation, holder: Operation | None) -> bool:
    """Whether the results of an operation are visible in the graphs of another one, which it comes before."""
    at = holder
    while at is not None and at.parent is not definition.parent:
        at = at.parent_op
    return at is None or (definition is not at and definition.is_before(at))


def _is_seen(value: Value, block: Block) -> bool:
    """Whether a block defines a value, or something in it uses it."""
    inside = [value.owner] if isinstance(value.owner, Operation) else []
    return value.owner is block or any(
        a.parent is block for op in (*inside, *value.users) for a in (op, *op.ancestors())
    )


def _is_used_after(value: Value, op: Operation) -> bool:
    """Whether something in the block of an operation uses a value after it."""
    places = [a for user in value.users for a in (user, *user.ancestors()) if a.parent is op.parent]
    return any(op.is_before(place) for place in places)


def _is_optional(op: Operation, v: Value) -> bool:
    if isinstance(op, onnx.Custom | onnx.Call):
        return True
    return isinstance(op, Op) and any(f.optional for f in op.layout.results[v.index : v.index + 1])
