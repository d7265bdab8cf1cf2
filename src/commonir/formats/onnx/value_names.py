"""Names for the values of ONNX graphs: their own where these are free, and new ones for the others."""

from __future__ import annotations

from collections.abc import Mapping

from commonir.dialects import onnx
from commonir.ir.operation import Block, Operation, Value
from commonir.ods import Op


def value_names(graph: onnx.Graph | onnx.LocalFunction) -> Mapping[Value, str]:
    """A name for every value of a graph and of those nested in it, unique where it can be seen.

    An optional result that has no name and no user is absent.
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
        pending.append(len(table.visible))
        last = block.last
        ends = last.outputs if isinstance(last, onnx.Return) else ()
        own = set(block.arguments)
        for op in block.operations:
            own.update(op.results)
        first = [*block.arguments, *(v for v in ends if v in own)]
        for v in first:
            table.keep(v)
        for op in block.operations:
            for v in op.results:
                if v.name or v.is_used or not _is_optional(op, v):
                    table.keep(v)
            pending.extend(b for region in op.regions for b in region.blocks)
    if table.unnamed:
        table.fill(graph)
    return table.names


class _Names:
    """Names given to values. `visible` are those that can be seen at the place at hand, in order."""

    def __init__(self) -> None:
        self.names: dict[Value, str] = {}
        self.unnamed: list[Value] = []
        self.visible: dict[str, None] = {}

    def leave(self, count: int) -> None:
        """Forgets the names that came into sight after the first ones."""
        while len(self.visible) > count:
            self.visible.popitem()

    def keep(self, v: Value) -> None:
        """Gives a value its own name when that is free where it stands."""
        if v in self.names:
            return
        if v.name and v.name not in self.visible:
            self.names[v] = v.name
            self.visible[v.name] = None
        else:
            self.unnamed.append(v)

    def fill(self, graph: onnx.Graph | onnx.LocalFunction) -> None:
        """Gives the remaining values names that nothing has."""
        taken = {v.name for op in graph.walk() for v in op.results}
        taken |= {a.name for op in graph.walk() for r in op.regions for b in r.blocks for a in b.arguments}
        numbers: dict[str, int] = {}
        for v in self.unnamed:
            owner = v.owner
            kind = owner.name.removeprefix("onnx.").lower() if isinstance(owner, Operation) else graph.symbol_name
            stem = v.name or kind
            name = stem
            while not name or name in taken:
                numbers[stem] = numbers.get(stem, 0) + 1
                name = f"{stem}_{numbers[stem]}"
            taken.add(name)
            self.names[v] = name


def _is_optional(op: Operation, v: Value) -> bool:
    if isinstance(op, onnx.Custom | onnx.Call):
        return True
    return isinstance(op, Op) and any(f.optional for f in op.layout.results[v.index : v.index + 1])
