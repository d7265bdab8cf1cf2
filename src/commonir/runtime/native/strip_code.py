"""Code of a node that is computed by strips: a loop over strips, which calls the functions of the parts.

What the parts pass on lies in scratch memory, and the next strip takes its place. A strip is a unit of work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from commonir.base.tuples import NamedTuple
from commonir.llvm.llvm_ir import I64, POINTER, Function, LlvmValue, Module
from commonir.runtime.kernel_graph.buffers import ALIGNMENT
from commonir.runtime.kernel_graph.graph import Strips
from commonir.runtime.kernel_graph.layouts import MemoryLayout, layout_of
from commonir.runtime.kernel_graph.strips import FIRST_ROW, outer_symbol
from commonir.runtime.native.work_units import ALL_UNITS
from commonir.runtime.values import compute_dtype
from commonir.symbolic import Dim


class PartCall(NamedTuple):
    """A call of the function of a part: its symbols, and the tensors that it receives."""

    function: str
    symbols: tuple[str, ...]
    tensors: tuple[str, ...]


def strip_count(strips: Strips) -> int:
    """Returns the number of strips."""
    return prod(strips.outer) * -(-strips.row_count // strips.rows)


def layout_of_part(layout: MemoryLayout, strips: Strips) -> MemoryLayout:
    """Returns the layout of the part of a node that a strip computes, from its first element on."""
    kept = sorted((strips.row_axis, strips.column_axis))
    order = tuple([kept.index(n) for n in layout.order if n in kept])
    plain = layout_of(strips.parts[-1].spec.shape)
    return plain._replace(strides=tuple([layout.strides[n] for n in kept]), order=order)


class StripCode:
    """The function of a node. Its parameters are as those of other kernels."""

    def __init__(
        self, module: Module, name: str, strips: Strips, layout: MemoryLayout, calls: Sequence[PartCall]
    ) -> None:
        self._strips = strips
        self._layout = layout
        own = {FIRST_ROW, *[outer_symbol(n) for n in range(len(strips.outer))]}
        self.symbols = tuple(sorted({s for call in calls for s in call.symbols if s not in own}))
        self.function = Function(module, "NAME", [POINTER, POINTER, I64, I64, *[I64] * len(self.symbols)])
        module.functions.pop()
        self._faults, self._scratch, self._first, self._last, *sizes = self.function.arguments
        inner = {part.name for part in strips.parts}
        outside = dict.fromkeys([t for call in calls for t in call.tensors if t not in inner])
        self.tensors = (name, *outside)
        pointers = {t: self.function.parameter(POINTER) for t in self.tensors}
        self.scratch_bytes = 0
        for part in strips.parts[:-1]:
            at = self.function.integer(self.scratch_bytes)
            pointers[part.name] = self.function.element(self._scratch, at, "i8")
            elements = prod([d for d in part.spec.shape if isinstance(d, int)])
            size = elements * compute_dtype(part.spec.element).itemsize
            self.scratch_bytes += -(-size // ALIGNMENT) * ALIGNMENT
        self._emit(calls, dict(zip(self.symbols, sizes, strict=True)), pointers)

    def _emit(self, calls: Sequence[PartCall], sizes: Mapping[str, LlvmValue], pointers: dict[str, LlvmValue]) -> None:
        f, strips = self.function, self._strips
        blocks = -(-strips.row_count // strips.rows)
        rest = f.element(self._scratch, f.integer(self.scratch_bytes), "i8")
        stop = f.intrinsic("smin", self._last, f.integer(strip_count(strips)))
        with f.loop(self._first, stop) as n:
            position = f.binary("udiv", "udiv", n, blocks)
            row = (n - position * blocks) * strips.rows
            first = f.intrinsic("smin", row, f.integer(strips.row_count - strips.rows))
            symbols = {**sizes, FIRST_ROW: first}
            positions = f.digits(position, [f.integer(size) for size in strips.outer])
            symbols.update({outer_symbol(axis): p for axis, p in enumerate(positions)})
            *_, last = strips.parts
            places = {**pointers, last.name: self._result(symbols, pointers[self.tensors[0]])}
            for call in calls:
                everything = [f.integer(0), f.integer(ALL_UNITS)]
                values = [symbols[s] for s in call.symbols]
                arguments = [self._faults, rest, *everything, *values, *[places[t] for t in call.tensors]]
                f.add_line(f"call void @{call.function}({', '.join(f'{a.type} {a.text}' for a in arguments)})")
        f.add_line("ret void")

    def _result(self, symbols: Mapping[str, LlvmValue], pointer: LlvmValue) -> LlvmValue:
        """Returns the place of the first element of a strip in the result."""
        f, strips, strides = self.function, self._strips, self._layout.strides
        at = symbols[FIRST_ROW] * _number(strides[strips.row_axis])
        for n, axis in enumerate(strips.outer_axes):
            at = at + symbols[outer_symbol(n)] * _number(strides[axis])
        return f.element(pointer, at, "float")


def _number(stride: Dim) -> int:
    assert isinstance(stride, int)
    return stride
