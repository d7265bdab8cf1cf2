"""Rewrites of array programs that need to see more than one node."""

from __future__ import annotations

from collections.abc import Sequence

from commonir.runtime.array_graph import Graph, Node


def simplified(graph: Graph, outputs: Sequence[Node]) -> list[Node]:
    """The outputs of an equal, cheaper program."""
    return list(outputs)
