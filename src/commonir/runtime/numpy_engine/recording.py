"""Records what computes a kernel in blocks of one shape: instructions, whose operands have an axis for each index.

An expression is an array over its free indices. Intermediate ones are in scratch memory, which all blocks share and
which stays in the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.notation import Expr, Fold, free, walk
from commonir.runtime.interpreter.array_functions import convert
from commonir.runtime.interpreter.evaluation import KernelGrid
from commonir.runtime.kernel_graph.buffers import Lifetime, arena_of
from commonir.runtime.kernel_graph.loop_kernel import LoopKernel
from commonir.runtime.limits import check_array
from commonir.runtime.numpy_engine.array_steps import Step, map_steps
from commonir.runtime.numpy_engine.kernel_reads import KernelReads
from commonir.runtime.numpy_engine.operands import (
    Block,
    Fixed,
    Instruction,
    Memory,
    Operand,
    Read,
    Temporary,
    all_numbers,
)
from commonir.runtime.values import compute_dtype
from commonir.symbolic import Dim, names

Array = NDArray[Any]


class Recorder:
    """The instructions for blocks of one shape; `extents` are those of indices in a block."""

    def __init__(self, kernel: LoopKernel, extents: Mapping[str, int], memory: Memory, reads: KernelReads) -> None:
        self.extents = extents
        self.full_extents = numbers(kernel.extents)
        self.memory = memory
        self.reads = reads
        self.instructions: list[Instruction] = []
        self.size_bytes = 0
        self._operands: dict[Expr, Operand] = {}
        every = [i for e in walk(kernel.body) for i in (e.over if isinstance(e, Fold) else free(e))]
        self._order = {i: n for n, i in enumerate(dict.fromkeys([*kernel.axes, *every]))}

    def operand(self, e: Expr) -> Operand:
        """Returns the elements of an expression, which is computed once."""
        result = self._operands.get(e)
        if result is None:
            result = self._operands[e] = self.recorded(e)
        return result

    def recorded(self, e: Expr) -> Operand:
        """Records an expression. Raises: NotPlanned."""
        raise NotImplementedError

    def finish(self, kernel: LoopKernel, out: Array) -> None:
        """Records the whole kernel, so that the last step writes where the result belongs."""
        steps = dict(zip(kernel.axes, all_numbers(kernel.steps), strict=True))
        (offset,) = all_numbers([kernel.offset])
        shape = self.shape_of(kernel.axes)
        target = Read(out.reshape(-1), offset, steps, kernel.axes, shape)
        result = self.operand(kernel.body)
        if self.instructions and self.instructions[-1].result is result and result.axes == kernel.axes:
            self.instructions[-1].result.target = target
        else:
            last = Temporary(kernel.axes, shape, out.dtype)
            last.target = target

            def bind(block: Block) -> list[Step]:
                source = self.aligned(result, kernel.axes, block)
                if source.dtype == np.float16 and source.shape == shape:
                    return [partial(convert, source, target.array(block))]
                return [partial(np.copyto, target.array(block), source, "unsafe")]

            self.instructions.append(Instruction((result,), last, bind))
        self._assign_scratch()

    def steps(self, starts: Mapping[str, int]) -> list[Step]:
        """Returns the steps of a block."""
        block = Block(starts, self.memory.scratch(self.size_bytes))
        return [step for i in self.instructions for step in i.bind(block)]

    def _assign_scratch(self) -> None:
        """Assigns memory to what steps compute; elementwise ones may take that of an operand."""
        last: dict[Operand, int] = {}
        for n, i in enumerate(self.instructions):
            last.update(dict.fromkeys(i.operands, n))
        places: dict[Operand, str] = {}
        lifetimes, sizes = dict[str, Lifetime](), dict[str, int]()
        for n, (operands, result, _, is_elementwise) in enumerate(self.instructions):
            if result.target is not None:
                continue
            like = [o for o in operands if (o.shape, o.dtype) == (result.shape, result.dtype) and o in places]
            ending = [places[o] for o in like if is_elementwise and last[o] == n]
            place = places[result] = ending[0] if ending else str(n)
            lifetimes[place] = Lifetime(lifetimes[place].first if ending else n, last.get(result, n))
            sizes[place] = result.size_bytes
        arena = arena_of(sizes, lifetimes)
        for i in self.instructions:
            if i.result in places:
                i.result.offset = arena.offsets[places[i.result]]
        self.size_bytes = arena.size_bytes

    # -- indices and axes

    def shape_of(self, axes: Sequence[str]) -> tuple[int, ...]:
        """Returns the extents of indices in a block."""
        return tuple([self.extents[i] for i in axes])

    def sorted(self, axes: Iterable[str]) -> tuple[str, ...]:
        """Returns indices without duplicates, in the order of the kernel."""
        return tuple(sorted(dict.fromkeys(axes), key=self._order.__getitem__))

    def aligned(self, x: Operand, axes: Sequence[str], block: Block) -> Array:
        """Returns elements with an axis for each of some indices, of size 1 where they do not depend on it."""
        array = x.array(block)
        if x.axes == tuple(axes) or not x.axes:
            return array
        return array[tuple([slice(None) if i in x.axes else None for i in axes])]

    # -- instructions

    def record(
        self,
        axes: tuple[str, ...],
        dtype: np.dtype[Any],
        operands: Sequence[Operand],
        bind: Callable[[Block, Array], Iterable[Step]],
        *,
        is_elementwise: bool = False,
    ) -> Temporary:
        """Adds an instruction; returns what it computes."""
        check_array(self.shape_of(axes), dtype.itemsize)
        result = Temporary(axes, self.shape_of(axes), dtype)

        def steps(block: Block) -> Iterable[Step]:
            return bind(block, result.array(block))

        self.instructions.append(Instruction(tuple(operands), result, steps, is_elementwise))
        return result

    def number(self, value: Any, dtype: np.dtype[Any]) -> Fixed:
        """Returns a number."""
        array = np.asarray(value, dtype)
        return Fixed((), (), array.dtype, lambda _: array)

    def positions(self, at: Dim, dtype: np.dtype[Any]) -> Fixed:
        """Returns the values of an index expression."""
        axes = self.sorted(names(at))
        shape = self.shape_of(axes)

        def compute(starts: Mapping[str, int]) -> Array:
            check_array(shape, np.dtype(np.int64).itemsize)
            ranges = {i: (starts.get(i, 0), starts.get(i, 0) + self.extents[i]) for i in axes}
            grid = KernelGrid(axes, ranges, self.extents, {}, compute_dtype)
            return np.broadcast_to(grid.positions(at), shape).astype(dtype)

        return Fixed(axes, shape, dtype, compute)

    def apply(self, fn: str, args: Sequence[Operand], dtype: np.dtype[Any]) -> Operand:
        """Returns a scalar function of operands, over the axes of all of them."""
        axes = self.sorted([i for a in args for i in a.axes])
        if all(isinstance(a, Fixed) for a in args):
            shape = self.shape_of(axes)

            def compute(starts: Mapping[str, int]) -> Array:
                out = np.empty(shape, dtype)
                with np.errstate(all="ignore"):
                    arrays = [self.aligned(a, axes, Block(starts, out)) for a in args]
                    for step in map_steps(fn, arrays, out):
                        step()
                return out

            return Fixed(axes, shape, dtype, compute)

        def bind(block: Block, out: Array) -> list[Step]:
            return map_steps(fn, [self.aligned(a, axes, block) for a in args], out)

        return self.record(axes, dtype, args, bind, is_elementwise=fn != "select")

    def converted(self, x: Operand, dtype: np.dtype[Any]) -> Operand:
        """Returns elements as another dtype, bools by comparison with zero."""
        if x.dtype == dtype:
            return x
        if dtype.kind == "b":
            zero = np.zeros((), x.dtype)
            return self.record(x.axes, dtype, [x], lambda b, out: [partial(np.not_equal, x.array(b), zero, out=out)])
        return self.record(x.axes, dtype, [x], lambda b, out: [partial(convert, x.array(b), out)])


def numbers(extents: Mapping[str, Dim]) -> dict[str, int]:
    """Returns the ranges of indices, which are known. Raises: NotPlanned for others."""
    return dict(zip(extents, all_numbers(extents.values()), strict=True))
