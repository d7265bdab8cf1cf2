"""The order of nodes: each after those that make what it reads, and after those that its control inputs name.

Source: Common IR specification, nodes.
"""

from __future__ import annotations

from collections.abc import Mapping

from commonir.ir.attributes import ArrayAttr, StringAttr
from commonir.ir.operation import Block, Operation

CONTROL_INPUT = "common_ir.control_input"
"""The attribute of a node that names the nodes which must run before it, whatever it reads."""


class CyclicOrder(Exception):
    """Nodes that need each other; the text names them in a cycle."""

    def __init__(self, cycle: tuple[str, ...]) -> None:
        super().__init__(" -> ".join(cycle))
        self.cycle = cycle


def node_name(op: Operation) -> str:
    """The name of a node, "" when it has none."""
    return op.source_name


def control_inputs_of(op: Operation) -> tuple[str, ...]:
    """Names of the nodes that must run before one."""
    declared = op.extra.get(CONTROL_INPUT)
    values = declared.values if isinstance(declared, ArrayAttr) else ()
    return tuple([v.value for v in values if isinstance(v, StringAttr)])


def nodes_by_name(block: Block) -> Mapping[str, Operation]:
    """The nodes of a block that have a name; of two with one name the first."""
    out: dict[str, Operation] = {}
    for op in block.operations:
        name = node_name(op)
        if name:
            out.setdefault(name, op)
    return out


def needs_of(op: Operation, named: Mapping[str, Operation], block: Block) -> list[Operation]:
    """The nodes of the same block that must run before one: for data, then for control."""
    out: dict[Operation, None] = {}
    for v in op.values_used:
        owner = v.owner
        if isinstance(owner, Operation) and owner.parent is block:
            out[owner] = None
    for name in control_inputs_of(op):
        if name in named:
            out[named[name]] = None
    return list(out)


def ordered(block: Block, *, with_control: bool = True) -> list[Operation]:
    """The nodes of a block, each after those that it needs, and as they stand otherwise.

    Raises: CyclicOrder.
    """
    named: Mapping[str, Operation] = nodes_by_name(block) if with_control else {}
    done: dict[Operation, None] = {}
    # The last operation ends the block: nothing comes after it.
    for first in block.operations:
        path: dict[Operation, None] = {}
        pending: list[tuple[Operation, bool]] = [(first, False)]
        while pending:
            op, is_ready = pending.pop()
            if is_ready:
                del path[op]
                done[op] = None
            elif op in path:
                cycle = list(path)
                raise CyclicOrder(tuple([_shown(o) for o in [*cycle[cycle.index(op) :], op]]))
            elif op not in done:
                path[op] = None
                pending.append((op, True))
                pending.extend((o, False) for o in reversed(needs_of(op, named, block)) if o not in done)
    return list(done)


def _shown(op: Operation) -> str:
    return f"'{node_name(op)}'" if node_name(op) else next((f"'{r.name}'" for r in op.results if r.name), op.name)
