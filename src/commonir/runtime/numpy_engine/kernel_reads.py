"""The arrays that a kernel reads: tensors of the graph, and views of them, such as padded ones, as arrays of their own.

Steps before those of the kernel write what changes into the arrays of views; their other elements are written once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.ir.types import f16
from commonir.notation import Access, Dilated, Expr, Flat, Padded, Tensor, index, replace_accesses, resolve
from commonir.runtime.interpreter.evaluation import KernelGrid
from commonir.runtime.interpreter.strided import Placement, placement
from commonir.runtime.kernel_graph.loop_kernel import LoopKernel
from commonir.runtime.numpy_engine.array_steps import Step
from commonir.runtime.numpy_engine.operands import Memory, NotPlanned, all_numbers
from commonir.runtime.values import compute_dtype
from commonir.symbolic import Dim

Array = NDArray[Any]


class KernelReads:
    """The arrays of one kernel; `before` are the steps that write those of views."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._views: dict[Tensor, Array] = {}
        self._names: dict[Tensor, str] = {}
        self._arrays: dict[str, Array] = {}
        self._constant_views: set[str] = set()
        self.before: list[Step] = []

    def array(self, name: str) -> Array:
        """Returns a tensor of the kernel, which is contiguous."""
        return self._arrays[name] if name in self._arrays else self._memory.tensor(name)

    def is_constant(self, name: str) -> bool:
        """Returns whether a tensor of the kernel is the same in every run."""
        return name in self._constant_views or (name not in self._arrays and name in self._memory.constants)

    def without_views(self, kernel: LoopKernel) -> LoopKernel:
        """Returns the kernel with reads of arrays in place of those through views. Raises: NotPlanned."""

        def plain(a: Access) -> Expr:
            t = a.tensor
            if not t.steps:
                return a
            name = self._names.get(t)
            if name is None:
                name = self._names[t] = self._memory.unused_name(f"view {len(self._names)}")
                self._arrays[name] = self._viewed(t)
                self._memory.ranges.add(name, a)
                if t.name in self._memory.constants and all(isinstance(view, Flat) for view, _ in t.steps):
                    self._constant_views.add(name)
            return Access(Tensor(name, t.shape, a.dtype), a.at)

        return kernel._replace(body=replace_accesses(kernel.body, plain))

    def as_floats(self, name: str, dtype: np.dtype[Any]) -> Array:
        """Returns the integers of a tensor as floats."""
        source, is_constant = self.array(name), name in self._memory.constants
        key = (name, dtype) if is_constant else (source.shape, dtype, len(self.before), "floats")
        out = self._memory.placed(key, source.shape, 0, dtype)
        if is_constant:
            np.copyto(out, source)
        else:
            self.before.append(partial(np.copyto, out, source))
        return out

    def _viewed(self, tensor: Tensor) -> Array:
        """Returns the array of a tensor with its views applied."""
        if not tensor.steps:
            return self.array(tensor.name)
        result = self._views.get(tensor)
        if result is None:
            view, shape = tensor.steps[-1]
            source = self._viewed(Tensor(tensor.name, shape, tensor.dtype, tensor.steps[:-1]))
            result = self._views[tensor] = self._view_of(source, view, shape, all_numbers(tensor.shape))
        return result

    def _view_of(
        self, source: Array, view: Flat | Dilated | Padded, before: Sequence[Dim], shape: Sequence[int]
    ) -> Array:
        if isinstance(view, Flat):
            return source.reshape(-1)
        if 0 in source.shape or 0 in shape:
            raise NotPlanned("an empty operand")
        if isinstance(view, Padded) and view.mode != "constant":
            return self._repeated(source, view, before)
        placed = placement(view, source.shape)
        if placed is None or isinstance(placed.fill, complex):
            raise NotPlanned("padding of this kind")
        return self._placed(source, placed)

    def _placed(self, source: Array, placed: Placement) -> Array:
        """Returns an array of a value with a part of another array in it."""
        numbers = tuple([(s.start, s.stop, s.step) for s in placed.target])
        key = (placed.shape, numbers, repr(placed.fill), source.dtype, len(self._views))
        out = self._memory.placed(key, placed.shape, placed.fill, source.dtype)
        self.before.append(partial(np.copyto, out[placed.target], source[placed.inside]))
        return out

    def _repeated(self, source: Array, view: Padded, shape: Sequence[Dim]) -> Array:
        """Returns a tensor padded with its own elements, which are taken axis by axis."""
        for axis, (b, a) in enumerate(zip(view.before, view.after, strict=True)):
            if b == 0 and a == 0:
                continue
            (length,) = all_numbers([shape[axis] + b + a])
            (position,), _ = resolve(Tensor("line", (shape[axis],), f16).padded([b], [a], view.mode), [index("i")])
            grid = KernelGrid(("i",), {"i": (0, length)}, {"i": length}, {}, compute_dtype)
            positions = np.broadcast_to(grid.positions(position), (length,))
            size = (*source.shape[:axis], length, *source.shape[axis + 1 :])
            key = (size, axis, source.dtype, len(self._views), "repeated")
            out = self._memory.placed(key, size, 0, source.dtype)
            self.before.append(partial(np.take, source, positions, axis, out, "clip"))
            source = out
        return source
