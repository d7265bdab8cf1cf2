"""Code of a node that is computed by strips: a loop over strips, which calls the functions of the parts.

What the parts pass on lies in scratch memory, and the next strip takes its place. A strip is a unit of work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commonir.base.tuples import NamedTuple
from commonir.llvm.llvm_ir import F32, I64, POINTER, Function, LlvmType, LlvmValue, Module
from commonir.native.kernels.position_code import PositionCode
from commonir.native.kernels.work_units import ALL_UNITS
from commonir.runtime.kernel_graph.buffers import ALIGNMENT
from commonir.runtime.kernel_graph.graph import Strips
from commonir.runtime.kernel_graph.layouts import MemoryLayout, layout_of, memory_dtype
from commonir.symbolic import Dim, ceil_div, element_count, symbols


class PartCall(NamedTuple):
    """A call of the function of a part: its symbols, and the tensors that it receives."""

    function: str
    symbols: tuple[str, ...]
    tensors: tuple[str, ...]


def strip_count(strips: Strips) -> Dim:
    """Returns the number of strips."""
    return element_count([ceil_div(a.extent, a.size) for a in strips.axes])


def layouts_of_parts(layout: MemoryLayout, strips: Strips) -> list[MemoryLayout]:
    """Returns the layouts of the parts, that of the last one in the layout of the node, from its first element on."""
    *inner, last = strips.parts
    out = [
        layout_of(p.spec.shape, i.order, i.border)._replace(is_narrow=i.is_narrow)
        for p, i in zip(inner, strips.inner, strict=True)
    ]
    order = tuple([strips.kept.index(n) for n in layout.order if n in strips.kept])
    plain = layout_of(last.spec.shape)._replace(order=order, is_narrow=layout.is_narrow)
    out.append(plain._replace(strides=tuple([layout.strides[n] for n in strips.kept])))
    return out


class StripCode:
    """The function of a node. Its parameters are as those of other kernels."""

    def __init__(
        self, module: Module, name: str, strips: Strips, layout: MemoryLayout, calls: Sequence[PartCall], lanes: int
    ) -> None:
        self._strips = strips
        self._layout = layout
        self._lanes = lanes
        needed = {s for call in calls for s in call.symbols} - strips.own_symbols()
        self.symbols = tuple(sorted(needed.union(*[symbols(a.extent) for a in strips.axes])))
        self.function = Function(module, "NAME", [POINTER, POINTER, I64, I64, *[I64] * len(self.symbols)])
        module.functions.pop()
        self._faults, self._scratch, self._first, self._last, *sizes = self.function.arguments
        inner = {part.name for part in strips.parts}
        outside = dict.fromkeys([t for call in calls for t in call.tensors if t not in inner])
        self.tensors = (name, *outside)
        pointers = {t: self.function.parameter(POINTER) for t in self.tensors}
        self.scratch_bytes = 0
        for part, memory in zip(strips.parts[:-1], layouts_of_parts(layout, strips)[:-1], strict=True):
            if part.name in pointers:
                continue
            dtype = memory_dtype(memory, part.spec.element)
            at = self.function.integer(self.scratch_bytes + _number(memory.offset) * dtype.itemsize)
            pointers[part.name] = self.function.element(self._scratch, at, "i8")
            size = _number(memory.size) * dtype.itemsize
            self.scratch_bytes += -(-size // ALIGNMENT) * ALIGNMENT
        self._fill_borders(pointers)
        self._emit(calls, dict(zip(self.symbols, sizes, strict=True)), pointers)

    def _fill_borders(self, pointers: Mapping[str, LlvmValue]) -> None:
        """Adds the numbers around the parts. Other functions use the same memory, so each call stores them again."""
        layouts = layouts_of_parts(self._layout, self._strips)[:-1]
        for part, memory, inner in zip(self._strips.parts[:-1], layouts, self._strips.inner, strict=True):
            if memory.has_border:
                axes = [a for a in memory.order if isinstance(part.spec.shape[a], int)]
                self._fill(pointers[part.name], memory, [_number(part.spec.shape[a]) for a in axes], axes, inner.fill)

    def _fill(
        self, pointer: LlvmValue, memory: MemoryLayout, sizes: Sequence[int], axes: Sequence[int], fill: float
    ) -> None:
        """Adds the border of some axes, the outermost first; `pointer` is to the first element inside of it."""
        f, (axis, *others), (size, *inner) = self.function, axes, sizes
        stride, (before, after) = _number(memory.strides[axis]), memory.border[axis]
        around = sum(_number(memory.strides[a]) * memory.border[a][0] for a in others)
        for first, count in ((-before, before), (size, after)):
            self._store(f.element_beside(pointer, f.integer(0), first * stride - around, "float"), count * stride, fill)
        if any(memory.border[a] != (0, 0) for a in others):
            with f.loop(f.integer(0), f.integer(size)) as n:
                self._fill(f.element(pointer, n * stride, "float"), memory, inner, others, fill)

    def _store(self, pointer: LlvmValue, count: int, fill: float) -> None:
        """Adds equal numbers from a place on."""
        f, whole = self.function, count // self._lanes * self._lanes
        for lanes, start, stop in ((self._lanes, 0, whole), (1, whole, count)):
            if start < stop:
                number = f.constant(LlvmType(F32.scalar, lanes), fill)
                with f.loop(f.integer(start), f.integer(stop), lanes) as n:
                    f.store(number, f.element(pointer, n, F32.scalar))

    def _emit(self, calls: Sequence[PartCall], sizes: Mapping[str, LlvmValue], pointers: dict[str, LlvmValue]) -> None:
        f, strips = self.function, self._strips
        rest = f.element(self._scratch, f.integer(self.scratch_bytes), "i8")
        of_program = PositionCode(f, sizes)
        counts = [of_program.size(ceil_div(a.extent, a.size)) for a in strips.axes]
        lasts = [of_program.size(a.extent - a.size) for a in strips.axes]
        stop = f.intrinsic("smin", self._last, of_program.size(strip_count(strips)))
        with f.loop(self._first, stop) as n:
            values = {**sizes}
            for a, number, most in zip(strips.axes, f.digits(n, counts), lasts, strict=True):
                values[a.first] = f.intrinsic("smin", number * a.size, most)
            for name, position in strips.positions:
                values[name] = PositionCode(f, values).size(position)
            *_, last = strips.parts
            places = {**pointers, last.name: self._result(values, pointers[self.tensors[0]])}
            self._call_parts(calls, values, places, rest)
        f.add_line("ret void")

    def _call_parts(
        self,
        calls: Sequence[PartCall],
        values: Mapping[str, LlvmValue],
        places: Mapping[str, LlvmValue],
        scratch: LlvmValue,
    ) -> None:
        """Adds calls of all of the work of the parts of a strip, some of them for each block of columns."""
        f, blocks = self.function, self._strips.blocks
        everything = [f.integer(0), f.integer(ALL_UNITS)]

        def add(some: Sequence[PartCall], values: Mapping[str, LlvmValue]) -> None:
            for call in some:
                sizes = [values[s] for s in call.symbols]
                arguments = [self._faults, scratch, *everything, *sizes, *[places[t] for t in call.tensors]]
                f.add_line(f"call void @{call.function}({', '.join(f'{a.type} {a.text}' for a in arguments)})")

        if blocks is None:
            add(calls, values)
            return
        add(calls[: blocks.start], values)
        with f.loop(f.integer(0), f.integer(blocks.rounds)) as n:
            add(calls[blocks.start : blocks.stop], {**values, blocks.number: n})
        add(calls[blocks.stop :], values)

    def _result(self, values: Mapping[str, LlvmValue], pointer: LlvmValue) -> LlvmValue:
        """Returns the place of the first element of a strip in the result."""
        f = self.function
        at = f.integer(0)
        for a in self._strips.axes:
            at = at + values[a.first] * _number(self._layout.strides[a.axis])
        bits = 8 * memory_dtype(self._layout, self._strips.parts[-1].spec.element).itemsize
        return f.element(pointer, at, f"i{bits}")


def _number(stride: Dim) -> int:
    assert isinstance(stride, int)
    return stride
