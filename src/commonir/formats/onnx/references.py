"""References of nodes to attributes of the function around them, by the kinds that both state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from commonir.base.tuples import NamedTuple
from commonir.formats.onnx.attributes import AttributeType, kind_of
from commonir.formats.onnx.messages import AttributeProto, NodeProto


class WrongReference(NamedTuple):
    """A node, its place in the function, and what is wrong with an attribute of it."""

    part: str
    message: str


def node_part(node: NodeProto, n: int) -> str:
    """Returns the last part of the path of a node: `node[3] 'conv'`."""
    name = node.name or next((name for name in node.output if name), node.op_type)
    return f"node[{n}] '{name}'"


def kinds_of(formals: Iterable[AttributeProto]) -> dict[str, int]:
    """The kinds of the attributes of a function that have one, by name."""
    return {a.name: element_type for a in formals if (element_type := kind_of(a)) != AttributeType.UNDEFINED}


def wrong_references(nodes: Iterable[NodeProto], formals: Mapping[str, int]) -> Iterator[WrongReference]:
    """References to attributes of another kind than the node states of its own, also in nested graphs."""
    pending = [(node, node_part(node, n)) for n, node in reversed(list(enumerate(nodes)))] if formals else []
    while pending:
        node, part = pending.pop()
        for a in node.attribute:
            formal = formals.get(a.ref_attr_name)
            if a.ref_attr_name and formal is not None and a.type not in (AttributeType.UNDEFINED, formal):
                own, other = _named(a.type), _named(formal)
                text = f"{node.op_type}: attribute '{a.name}' is {own}, and refers to '{a.ref_attr_name}'"
                yield WrongReference(part, f"{text} of the function, which is {other}")
            for graph in (*([a.g] if a.HasField("g") else ()), *a.graphs):
                inside = [(inner, f"{part}.{a.name}.{node_part(inner, n)}") for n, inner in enumerate(graph.node)]
                pending += reversed(inside)


def _named(kind: int) -> str:
    return next((k.name for k in AttributeType if k == kind), str(kind))
