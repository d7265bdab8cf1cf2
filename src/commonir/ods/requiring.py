"""The result of a composite reference with a requirement that can only be checked at run time."""

from __future__ import annotations

from commonir.base.tuples import NamedTuple
from commonir.ir.operation import Operation, Value


class Requiring(NamedTuple):
    """Results, and an operation that ends the run if a requirement is not satisfied."""

    required: Operation
    results: tuple[Value, ...]
