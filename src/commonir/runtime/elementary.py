"""Elementary functions that numpy lacks, as elementwise steps of an array program."""

from __future__ import annotations

import numpy as np

from commonir.runtime.array_graph import Graph, Node

_ERF_LIMIT = 3.832506856900711
# Odd rational approximation of erf of degree 13/8 on [-3.83, 3.83], absolute error 4.2e-7 in single precision. Coefficients of
# powers of x^2, highest first.
_ERF_NUMERATOR = (
    -2.72614225801306e-10,
    2.77068142495902e-08,
    -2.10102402082508e-06,
    -5.69250639462346e-05,
    -7.34990630326855e-04,
    -2.95459980854025e-03,
    -1.60960333262415e-02,
)
_ERF_DENOMINATOR = (
    -1.45660718464996e-05,
    -2.13374055278905e-04,
    -1.68282697438203e-03,
    -7.37332916720468e-03,
    -1.42647390514189e-02,
)


def erf_of(graph: Graph, x: Node) -> Node:
    """The error function: rational in single precision, exact to rounding in double precision."""
    if x.dtype != np.dtype(np.float32):
        return graph.map("erf", [x], x.dtype)

    def number(value: float) -> Node:
        return graph.constant(np.asarray(value, np.float32))

    def apply(fn: str, *args: Node) -> Node:
        return graph.map(fn, args, x.dtype)

    def polynomial(coefficients: tuple[float, ...], at: Node) -> Node:
        out = apply("multiply", at, number(coefficients[0]))
        for c in coefficients[1:-1]:
            out = apply("multiply", apply("add", out, number(c)), at)
        return apply("add", out, number(coefficients[-1]))

    inside = apply("maximum", apply("minimum", x, number(_ERF_LIMIT)), number(-_ERF_LIMIT))
    square = apply("multiply", inside, inside)
    top = apply("multiply", inside, polynomial(_ERF_NUMERATOR, square))
    return apply("divide", top, polynomial(_ERF_DENOMINATOR, square))
