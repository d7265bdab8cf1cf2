"""Proposals: operations that may compute the same as others."""

from __future__ import annotations

from collections.abc import Callable

from commonir.base.tuples import NamedTuple
from commonir.ir.data import Data
from commonir.ir.operation import Value
from commonir.passes.sample_runs import SampleSizes

Samples = tuple[Data, ...]
"""Contents of the inputs of a proposal, in order."""


class Proposal(NamedTuple):
    """An operation that may compute the same as a subgraph: `build` returns it for values of the inputs.

    `samples` are the contents that are compared. With `is_pointwise` the difference of an element is measured against
    its input, else against the largest result. `most` is the number of operations that it may take in a format: none of
    them may be the last one of the subgraph. `sizes` are those of the samples, where operations change shapes;
    `assumed` is what samples have that does not follow from the subgraph.
    """

    inputs: tuple[Value, ...]
    build: Callable[..., Value]
    samples: tuple[Samples, ...]
    is_pointwise: bool = False
    most: int = 1
    sizes: SampleSizes | None = None
    assumed: object = None
