"""Builds elementary functions that numpy lacks from elementwise nodes of an array program."""

from __future__ import annotations

import numpy as np

from commonir.runtime.planner.array_graph import Graph, Node

# erf(x) = tanh(x * P(x^2)): least-squares fit of P to atanh(erf(x)) / x on [0, 4.6], weighted toward the largest error
# of erf; absolute error 1.3e-7 in single precision over all x. The leading coefficient is positive, so no argument
# needs clipping. Highest power first.
_ERF_COEFFICIENTS = (
    1.58898907e-07,
    -5.98484489e-06,
    8.97084584e-05,
    -0.000625710757,
    -0.000184391936,
    0.102765484,
    1.12837971,
)


def erf_of(graph: Graph, x: Node) -> Node:
    """Returns the error function: by its approximation in single precision, exact to rounding in double precision."""
    if x.dtype != np.dtype(np.float32):
        return graph.map("erf", [x], x.dtype)

    def number(value: float) -> Node:
        return graph.constant(np.asarray(value, np.float32))

    square = graph.map("multiply", [x, x], x.dtype)
    p = graph.map("multiply", [square, number(_ERF_COEFFICIENTS[0])], x.dtype)
    for c in _ERF_COEFFICIENTS[1:-1]:
        p = graph.map("multiply", [graph.map("add", [p, number(c)], x.dtype), square], x.dtype)
    p = graph.map("add", [p, number(_ERF_COEFFICIENTS[-1])], x.dtype)
    return graph.map("tanh", [graph.map("multiply", [p, x], x.dtype)], x.dtype)
