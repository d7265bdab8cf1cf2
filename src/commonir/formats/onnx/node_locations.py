"""Locations of operations in a file, as in messages: `graph.node[3] 'conv'`, `graph.initializer 'w'`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from commonir.base.diagnostics import Diagnostic
from commonir.dialects import onnx
from commonir.formats.onnx.messages import NodeProto
from commonir.ir.operation import Block, Operation
from commonir.ods import Op, path_of

GRAPH = "graph"


def function_place(symbol: str) -> str:
    """The place of a local function."""
    return f"functions['{symbol}']"


def node_part(node: NodeProto, n: int) -> str:
    """The last part of the place of a node."""
    built = [name for name in node.output if name]
    return f"node[{n}] '{node.name or (built or [node.op_type])[0]}'"


class Places:
    """Places of the operations of one module."""

    def __init__(self) -> None:
        self._numbers: dict[Block, dict[Operation, int]] = {}

    def place_of(self, op: Operation) -> str:
        """The place of an operation; that of other formats for what is in no graph."""
        parts: list[str] = []
        at = op
        while (place := self.place_of_holder(at)) is None:
            block, holder = at.parent, at.parent_op
            if block is None or holder is None:
                return path_of(op)
            parts.append(self._part(at, block))
            if self.place_of_holder(holder) is None:
                parts.append(_attribute(holder, block))
            at = holder
        parts.append(place)
        return ".".join(reversed(list(filter(None, parts))))

    def located(self, op: Operation, diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
        """Findings about an operation, at its place."""
        for d in diagnostics:  # most operations have none, and locations are slow to compute
            yield d.located(where=self.place_of(op))

    def place_of_holder(self, op: Operation) -> str | None:
        """The place of what holds nodes that nothing else holds, a graph or a function; None for anything else."""
        match op:
            case onnx.Graph():
                return GRAPH
            case onnx.LocalFunction():
                return function_place(op.symbol_name)
            case _:
                return None

    def _part(self, op: Operation, block: Block) -> str:
        match op:
            case onnx.Return():
                return ""
            case onnx.Initializer():
                return f"initializer '{op.output.name}'"
            case onnx.SparseInitializer():
                return f"sparse_initializer '{op.output.name}'"
            case _:
                return f"node[{self._number(op, block)}] '{onnx.shown_name(op)}'"

    def _number(self, op: Operation, block: Block) -> int:
        if block not in self._numbers:
            nodes = [n for n in block.operations if not isinstance(n, onnx.Initializer | onnx.SparseInitializer)]
            self._numbers[block] = {node: n for n, node in enumerate(nodes)}
        return self._numbers[block][op]


def _attribute(holder: Operation, block: Block) -> str:
    """The attribute of an operation that holds a graph."""
    region = block.parent
    n = holder.regions.index(region) if region in holder.regions else -1
    if n < 0:
        return ""
    if isinstance(holder, onnx.Custom | onnx.Call):
        return holder.graph_names[n] if n < len(holder.graph_names) else ""
    return holder.layout.regions[n].spelling if isinstance(holder, Op) and n < len(holder.layout.regions) else ""
