"""A compiled program: what remains of a graph of kernels when its code has been generated.

It has the object code of one function and everything that a caller of it needs, as plain data, so it can be stored and
run by another process. This module imports neither a compiler nor what programs are built from.

The function receives a table of addresses, one for the first element of each tensor in `table`, the values of
`symbols` in 64 bits, two integers in which it stores a fault (the number of the check that failed, from 1 on, and the
position), scratch memory, and a watch (see `watching.py`) or null.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.llvm.target import Target
from commonir.runtime.kernel_graph.buffers import Lifetime

if TYPE_CHECKING:
    from commonir.symbolic import Dim

MAIN = "run"
"""The name of the function that computes a program."""


class Check(NamedTuple):
    """A position read from data that the code checks: of a tensor, on an axis of some size."""

    tensor: str
    axis: int
    size: Dim


class LimitedSize(NamedTuple):
    """A symbol whose value the code changes, and another one that limits it: memory is for smaller values.

    `initial` is its first value, or `most` a bound of all; both may have other symbols that change.
    """

    symbol: str
    limit: str
    initial: Dim
    most: Dim | None


BROKEN, OUTGROWN = -2, -3
"""Faults of data: they, or sizes that change, break what the program assumes, or sizes reach their limits."""


class KernelCall(NamedTuple):
    """A call of the main function: the function that computes a node, and the tensors and symbols it receives.

    The function divides its work into `units`, of which each has about the same cost; threads share it in so many
    `rounds` of a run. `prepares` says whether the function does some work again for each range of units. `origins` are
    the operations that it computes, with the names of their values, in order; each is a pair of texts.
    """

    function: str
    node: str
    tensors: tuple[str, ...]
    symbols: tuple[str, ...]
    units: Dim
    unit_cost: int
    origins: tuple[tuple[str, str], ...] = ()
    rounds: Dim = 1
    prepares: bool = False


class ProgramTensor(NamedTuple):
    """An input or output, whose elements are in row-major order, and when the code needs it."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[Dim, ...]
    lifetime: Lifetime


class Intermediate(NamedTuple):
    """A tensor in the arena: the number of its elements with those of a border, and the position of the first one.

    Tensors may share memory if their lifetimes are disjoint. Those with the same `memory` lie there together, and have
    its size and lifetime: parts of a tensor with the whole, and tensors that have the same border at the same place.
    The memory of a border is filled with a byte before the first run of some sizes, and is alive always. The byte is
    `border`, None without one.
    """

    name: str
    dtype: np.dtype[Any]
    size: Dim
    offset: Dim
    lifetime: Lifetime
    border: int | None
    memory: str


class CompiledProgram(NamedTuple):
    """The object code of a graph and the tensors that it reads and writes, which are known by their names.

    An output that no kernel computes has the name of an input or a constant. `constants` are as the code reads them.
    Scratch memory has at least the bytes of each size in `scratch`, and is not shared between threads. A run takes as
    many kernels as there are `calls` unless the program `has_loops`. Of the sizes that are `changing`, code stores the
    values among those of `symbols`; `counts` are numbers of elements that depend on them.
    """

    target: Target
    object_code: bytes
    symbols: tuple[str, ...]
    table: tuple[str, ...]
    inputs: tuple[ProgramTensor, ...]
    outputs: tuple[ProgramTensor, ...]
    intermediates: tuple[Intermediate, ...]
    constants: Mapping[str, NDArray[Any]]
    scratch: tuple[Dim, ...]
    checks: tuple[Check, ...]
    calls: tuple[KernelCall, ...]
    has_loops: bool
    changing: tuple[LimitedSize, ...] = ()
    counts: tuple[Dim, ...] = ()
