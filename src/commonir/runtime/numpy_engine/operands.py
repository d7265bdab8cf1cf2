"""Arrays that the steps of kernels read and write, and the operands of steps, which have an array in each block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.runtime.kernel_graph.buffers import ALIGNMENT
from commonir.runtime.kernel_graph.integer_ranges import IntegerRanges
from commonir.runtime.limits import check_array
from commonir.runtime.numpy_engine.array_steps import Step
from commonir.symbolic import Dim

Array = NDArray[Any]


class NotPlanned(Exception):
    """The kernel has a form that is not known here; it is evaluated by the interpreter."""


def all_numbers(dims: Iterable[Dim]) -> list[int]:
    """Returns sizes, which are known. Raises: NotPlanned for others."""
    out: list[int] = []
    for d in dims:
        if not isinstance(d, int):
            raise NotPlanned(f"the size {d} is not known")
        out.append(d)
    return out


class Memory:
    """Arrays that steps read and write: those of the graph, and what is copied with padding around it."""

    def __init__(self, arrays: Mapping[str, Array], constants: Mapping[str, Array]) -> None:
        self.arrays = arrays
        self.constants = constants
        self.ranges = IntegerRanges(constants)
        self.size_bytes = 0
        self._placed: dict[object, Array] = {}
        self._scratch = np.empty(0, np.uint8)

    def tensor(self, name: str) -> Array:
        """Returns the array of a tensor of the graph."""
        return self.arrays[name] if name in self.arrays else self.constants[name]

    def unused_name(self, name: str) -> str:
        """Returns a name that no tensor of the graph has."""
        while name in self.arrays or name in self.constants:
            name += "'"
        return name

    def placed(self, key: object, shape: Sequence[int], fill: object, dtype: np.dtype[Any]) -> Array:
        """Returns an array filled with a value, the same one for equal keys."""
        result = self._placed.get(key)
        if result is None:
            check_array(shape, dtype.itemsize)
            result = self._placed[key] = np.full(shape, fill, dtype)
            self.size_bytes += result.nbytes
        return result

    def scratch(self, size_bytes: int) -> Array:
        """Returns memory that every step may overwrite."""
        if self._scratch.nbytes < size_bytes:
            self.size_bytes += size_bytes - self._scratch.nbytes
            raw = np.empty(size_bytes + ALIGNMENT, np.uint8)
            shift = -raw.ctypes.data % ALIGNMENT
            self._scratch = raw[shift : shift + size_bytes]
        return self._scratch


class Block(NamedTuple):
    """Where a block starts along its axes, and the scratch memory."""

    starts: Mapping[str, int]
    scratch: Array


class Operand:
    """The elements of an expression, with an axis for each index that it depends on."""

    def __init__(self, axes: tuple[str, ...], shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.axes = axes
        self.shape = shape
        self.dtype = dtype

    def array(self, block: Block) -> Array:
        """Returns the elements in a block."""
        raise NotImplementedError


class Read(Operand):
    """Elements of a contiguous array at linear positions."""

    def __init__(
        self,
        base: Array,
        start: int,
        steps: Mapping[str, int],
        axes: tuple[str, ...],
        shape: tuple[int, ...],
        *,
        is_constant: bool = False,
    ) -> None:
        super().__init__(axes, shape, base.dtype)
        self.base = base
        self.start = start
        self.steps = steps
        self.is_constant = is_constant

    def array(self, block: Block) -> Array:
        item = self.base.itemsize
        start = self.start + sum([block.starts.get(i, 0) * s for i, s in self.steps.items()])
        strides = [self.steps[i] * item for i in self.axes]
        return np.ndarray(self.shape, self.dtype, self.base, start * item, strides)


class Fixed(Operand):
    """Numbers that are the same in every run."""

    def __init__(
        self,
        axes: tuple[str, ...],
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        compute: Callable[[Mapping[str, int]], Array],
    ) -> None:
        super().__init__(axes, shape, dtype)
        self.compute = compute

    def array(self, block: Block) -> Array:
        return self.compute(block.starts)


class Temporary(Operand):
    """The result of a step: in scratch memory, or at last where the result of the kernel belongs."""

    def __init__(self, axes: tuple[str, ...], shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        super().__init__(axes, shape, dtype)
        self.offset = 0
        self.target: Read | None = None

    @property
    def size_bytes(self) -> int:
        """The bytes that it takes in scratch memory."""
        return 0 if self.target else prod(self.shape) * self.dtype.itemsize

    def array(self, block: Block) -> Array:
        if self.target is not None:
            return self.target.array(block)
        return np.ndarray(self.shape, self.dtype, block.scratch, self.offset)


class Instruction(NamedTuple):
    """The operands of steps, what they compute, and a function that returns them for a block.

    `is_elementwise` says that the result may take the memory of an operand of the same shape.
    """

    operands: tuple[Operand, ...]
    result: Temporary
    bind: Callable[[Block], Iterable[Step]]
    is_elementwise: bool = False
