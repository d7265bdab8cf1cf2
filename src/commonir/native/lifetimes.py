"""The memory of a program's tensors: which of them lie in the arena, and when each is needed.

Times count kernels and the beginnings and ends of loops and branches, in the order of the program. What a round of a
loop reads from before the loop is needed until its end. A name that stands for one tensor or another has no
memory: those that it may stand for are needed as long as it.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from commonir.native.control_code import places_of
from commonir.native.graph_code import GraphCode
from commonir.native.program import Intermediate
from commonir.runtime.kernel_graph.buffers import Lifetime
from commonir.runtime.kernel_graph.control import Branch, GraphProgram, Loop, Part, ReadSizes, Requirement, names_read
from commonir.runtime.kernel_graph.graph import KernelGraph, TensorSpec
from commonir.runtime.kernel_graph.layouts import MemoryLayout, layout_of, memory_dtype

_BEFORE = -1


class MemoryOfProgram:
    """The tensors of a program in the arena, and the lifetimes of all."""

    def __init__(self, program: GraphProgram, code: GraphCode) -> None:
        self._program = program
        self._code = code
        self._time = 0
        self._first = dict.fromkeys(program.inputs, _BEFORE)
        self._last = dict(self._first)
        # Names, and what each may stand for; those that are later in the program follow.
        self._moving: list[tuple[str, tuple[str, ...]]] = []
        # Tensors with memory of their own that are computed, with their layouts.
        self._stored: dict[str, tuple[MemoryLayout, TensorSpec]] = {}
        self._moved: set[str] = set()
        # Tensors that lie in the memory of others, and these.
        self._wholes: dict[str, str] = {}
        self._visit(program.parts)
        outputs = {code.tensor(name) for name in program.outputs}
        for name in outputs:
            self._use(name)
        for name, sources in reversed(self._moving):
            for source in sources:
                if source in self._last:
                    self._last[source] = max(self._last[source], self._last[name])
        for part, whole in self._wholes.items():
            self._first[whole] = min(self._first[whole], self._first[part])
            self._last[whole] = max(self._last[whole], self._last[part])
        self.intermediates = self._intermediates(outputs)

    def lifetime(self, name: str) -> Lifetime:
        """Returns when a tensor is needed; a constant is needed always."""
        return Lifetime(self._first.get(name, _BEFORE), self._last.get(name, self._time))

    def _define(self, name: str) -> None:
        self._first[name] = self._last[name] = self._time

    def _use(self, *names: str) -> None:
        for name in names:
            tensor = self._code.tensor(name)
            # Constants are not listed.
            if tensor in self._last:
                self._last[tensor] = max(self._last[tensor], self._time)

    def _visit(self, parts: Iterable[Part]) -> None:
        for part in parts:
            match part:
                case KernelGraph():
                    self._visit_graph(part)
                case Loop():
                    self._visit_loop(part)
                case Branch():
                    self._visit_branch(part)
                case ReadSizes() | Requirement():
                    self._use(*names_read(part))
            self._time += 1

    def _visit_graph(self, graph: KernelGraph) -> None:
        layouts = self._code.layouts[graph]
        self._wholes.update(graph.wholes)
        for name, node in graph.nodes.items():
            self._define(name)
            self._stored[name] = layouts[name], node.spec
            for read in node.reads:
                # A node of this graph has the name that it has here.
                self._use(read) if read not in graph.nodes else self._use_here(read)
            self._time += 1

    def _use_here(self, name: str) -> None:
        self._last[name] = max(self._last[name], self._time)

    def _visit_loop(self, loop: Loop) -> None:
        tensor, entry = self._code.tensor, self._time
        arrays = {tensor(s.name): tensor(s.array) for s in (*loop.read, *loop.written)}
        self._use(*[s.initial for s in loop.states], *[s.array for s in loop.read])
        owned: list[str] = []
        for s in loop.written:
            self._define(tensor(s.array))
            self._stored[tensor(s.array)] = layout_of(s.spec.shape), s.spec
            owned.append(tensor(s.array))
        for s in loop.stored:
            places = places_of(tensor(s.written))
            spec = self._program.specs[s.written]
            for place in places:
                self._define(place)
                self._stored[place] = layout_of(spec.shape), spec
            owned += places
            self._moving.append((tensor(s.written), places))
        for s in loop.states:
            self._define(s.name)
            written = tensor(s.written)
            memory = (arrays[written],) if written in arrays else places_of(written)
            self._moving.append((s.name, (tensor(s.initial), *memory)))
        for s in loop.read:
            self._define(s.name)
        self._time += 1
        self._visit(loop.test)
        self._use(loop.condition)
        self._visit(loop.body)
        self._moved.update([tensor(s.name) for s in loop.written], [tensor(s.written) for s in loop.stored])
        for name, last in self._last.items():
            if last >= entry and self._first[name] < entry:
                self._last[name] = self._time
        for name in (*owned, *[s.name for s in loop.states]):
            self._last[name] = self._time

    def _visit_branch(self, branch: Branch) -> None:
        self._use(branch.condition)
        self._time += 1
        self._visit(branch.then)
        self._visit(branch.orelse)
        for r in branch.results:
            self._use(r.then, r.orelse)
            self._define(r.name)
            self._moving.append((r.name, (self._code.tensor(r.then), self._code.tensor(r.orelse))))

    def _intermediates(self, outputs: set[str]) -> tuple[Intermediate, ...]:
        """Returns the tensors in the arena. Nothing else may be stored in a border, so its memory is kept always."""
        always = Lifetime(_BEFORE, self._time)
        out: list[Intermediate] = []
        # For each layout with a border the memories so far, and the last time that each is needed.
        bordered: dict[tuple[MemoryLayout, np.dtype[np.generic]], dict[str, int]] = {}
        for name, (layout, spec) in self._stored.items():
            if name in outputs or name in self._moved or name in self._wholes:
                continue
            dtype, lifetime, memory = memory_dtype(layout, spec.element), self.lifetime(name), name
            if layout.has_border:
                known = bordered.setdefault((layout, dtype), {})
                memory = next((m for m, last in known.items() if last < lifetime.first), name)
                known[memory] = lifetime.last
                lifetime = always
            out.append(Intermediate(name, dtype, layout.size, layout.offset, lifetime, layout.border_byte, memory))
        wholes = {t.name: t for t in out}
        for part, name in self._wholes.items():
            out.append(wholes[name]._replace(name=part, offset=self._stored[part][0].offset, border=None))
        return tuple(out)
