"""Reads of elements: views of arrays where positions are linear, else elements taken by their positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.notation import Access, free
from commonir.runtime.kernel_graph.factors import linear_factor
from commonir.runtime.kernel_graph.loop_kernel import DataPosition, read_of
from commonir.runtime.numpy_engine.array_steps import Step, check_positions
from commonir.runtime.numpy_engine.operands import Block, NotPlanned, Operand, Read, all_numbers
from commonir.runtime.numpy_engine.recording import Recorder, numbers
from commonir.symbolic import Dim, linear_in

Array = NDArray[Any]


class ElementReads(Recorder):
    """Records reads of the tensors of a kernel, which has no views."""

    def access(self, e: Access) -> Operand:
        """Returns the elements of a read."""
        name = e.tensor.name
        flat = self.reads.array(name).reshape(-1)
        read = read_of(e, {}, self.full_extents)
        linear = linear_factor(name, read.address)
        if linear is not None:
            (start,), steps = all_numbers([linear.start]), numbers(linear.steps)
            if not read.data:
                axes = self.sorted(steps)
                self._check_inside(start, steps, flat.size)
                return Read(flat, start, steps, axes, self.shape_of(axes), is_constant=self.reads.is_constant(name))
            taken = self._taken(name, flat, start, steps, read.data[0]) if len(read.data) == 1 else None
            if taken is not None:
                return taken
        return self._gathered(name, flat, read.address, read.data)

    def _check_inside(self, start: int, steps: Mapping[str, int], size: int) -> None:
        """Checks that all blocks read inside of an array. Raises: NotPlanned."""
        ends = [s * (self.full_extents[i] - 1) for i, s in steps.items()]
        if start + sum([e for e in ends if e < 0]) < 0 or start + sum([e for e in ends if e > 0]) >= size:
            raise NotPlanned("positions outside of a tensor")

    def _checked(self, name: str, p: DataPosition) -> Operand:
        """Returns positions read from data, which are checked."""
        x = self.converted(self.operand(p.value), np.dtype(np.int64))
        (size,) = all_numbers([p.size])

        def bind(block: Block, out: Array) -> list[Step]:
            array = x.array(block)
            check = partial(check_positions, array, size, f"axis {p.axis} of '{name}'")
            return [check, partial(np.copyto, out, array)]

        return self.record(x.axes, x.dtype, [x], bind)

    def _taken(self, name: str, flat: Array, start: int, steps: Mapping[str, int], p: DataPosition) -> Operand | None:
        """Returns slices taken along one axis; None where positions do not separate."""
        axes = self.sorted([i for i in steps if i != p.name])
        outer = tuple([i for i in axes if steps[i] > steps[p.name]])
        inner = tuple([i for i in axes if i not in outer])
        if set(free(p.value)) & set(axes) or (*outer, *inner) != axes:
            return None
        shape = (*self.shape_of(outer), *all_numbers([p.size]), *self.shape_of(inner))
        read = Read(flat, start, steps, (*outer, p.name, *inner), shape)
        if not read.array(Block({}, flat)).flags.c_contiguous:
            return None
        positions = self._checked(name, p)
        order = (*outer, *positions.axes, *inner)
        if order != self.sorted(order):
            return None

        def bind(block: Block, out: Array) -> list[Step]:
            return [partial(np.take, read.array(block), positions.array(block), len(outer), out, "clip")]

        return self.record(order, flat.dtype, [positions], bind)

    def _gathered(self, name: str, flat: Array, address: Dim, data: Sequence[DataPosition]) -> Operand:
        """Returns elements at addresses that are computed for each of them."""
        parts: list[Operand] = []
        for p in data:
            step, address = linear_in(address, p.name)
            x = self._checked(name, p)
            parts.append(self.apply("multiply", [x, self.number(step, x.dtype)], x.dtype))
        place: Operand = self.positions(address, np.dtype(np.int64))
        for x in parts:
            place = self.apply("add", [place, x], x.dtype)

        def bind(block: Block, out: Array) -> list[Step]:
            return [partial(np.take, flat, place.array(block), None, out, "clip")]

        return self.record(place.axes, flat.dtype, [place], bind)
