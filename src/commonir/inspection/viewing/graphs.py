"""Builds graphs of functions: boxes and lines for each block, with blocks and groups of operations within boxes.

Constants are not boxes, but shown by the operations that use them. What a group uses from outside enters it at its
upper border and leaves it at its lower one, so that each line can be followed through.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from commonir.base.grouping import Interval, intervals, live_counts
from commonir.base.text import escape, plural
from commonir.base.tuples import NamedTuple
from commonir.inspection.viewing.details import Details, short_type, weights_of
from commonir.inspection.viewing.overlays import Highlight, Overlay
from commonir.inspection.viewing.styles import family_of
from commonir.ir.module import Function, Module
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.ports import NO_PORT, Port
from commonir.ods import Op, traits

_DEEPEST = 8
"""Blocks within more boxes than that are not drawn."""
_MOST_WEIGHTS = 3


class Node(NamedTuple):
    """A box. `role` is op, input, output, outer (a value from outside of a block), group, or port (of a group, where a
    line enters or leaves it).

    `item` is the number of its details, -1 for none. `family` colours operations; those with `marks` differ from what
    corresponds to them in another program. `graphs` are the blocks of an operation, or what is in a group. `highlights`
    has one for each overlay.
    """

    role: str
    label: str
    detail: str = ""
    notes: tuple[str, ...] = ()
    item: int = -1
    family: str = ""
    marks: tuple[str, ...] = ()
    graphs: tuple[Graph, ...] = ()
    highlights: tuple[Highlight | None, ...] = ()


class Line(NamedTuple):
    """A line between boxes by index, for one value. `is_back`: it goes up, from `target` to `source`.

    A line that begins or ends at a group has the index of its port in the graph of the group, else -1.
    """

    source: int
    target: int
    value: int
    is_back: bool = False
    source_port: int = -1
    target_port: int = -1


class Graph(NamedTuple):
    """Boxes and the lines between them; every line goes from a smaller index to a greater one.

    The first `entries` boxes are ports at the upper border, the last `exits` ones at the lower border.
    """

    title: str
    nodes: tuple[Node, ...]
    lines: tuple[Line, ...]
    entries: int = 0
    exits: int = 0


class Figure(NamedTuple):
    """The functions of a program as graphs, the number of its operations, and the details of all boxes."""

    graphs: tuple[Graph, ...]
    operations: int
    details: Details


def figure_of(module: Module, name: str, details: Details) -> Figure:
    """Returns the graphs of a program, with `name` before the names of its functions, if it is not empty. What the page
    shows of boxes is added to `details`.
    """
    functions = list(module.defined_functions.values())
    reading = _Reading(details)
    graphs = [graph for function in functions for graph in reading.graphs_of(function)]
    titled = [graph._replace(title=f"{name}: {graph.title}") for graph in graphs] if name else graphs
    return Figure(tuple(titled), reading.operations, reading.details)


def _is_drawn(op: Operation) -> bool:
    if isinstance(op, Op) and (op.has_trait(traits.ConstantLike) or op.has_trait(traits.Terminator)):
        return False
    return bool(op.operands) or op.constant_data() is None


class _Reading:
    """Builds graphs of blocks, innermost first."""

    def __init__(self, details: Details) -> None:
        self.operations = 0
        self.details = details
        self._graphs: dict[Block, Graph] = {}
        # What is used within an operation and made outside of it.
        self._captured: defaultdict[Operation, dict[Value, None]] = defaultdict(dict)

    def graphs_of(self, function: Function) -> tuple[Graph, ...]:
        """Returns the graphs of the blocks of a function."""
        blocks: list[Block] = []
        pending: list[tuple[Operation, int]] = [(function, 0)]
        while pending:
            op, depth = pending.pop()
            inner = [block for region in op.regions for block in region.blocks]
            blocks += inner
            if depth < _DEEPEST:
                pending += [(o, depth + 1) for block in inner for o in block.operations if o.regions]
        for block in reversed(blocks):
            self._graphs[block] = self._graph(block)
        return self._blocks_of(function)

    def _blocks_of(self, op: Operation) -> tuple[Graph, ...]:
        return tuple([self._graphs[b] for region in op.regions for b in region.blocks if b in self._graphs])

    def _graph(self, block: Block) -> Graph:
        holder = None if block.parent is None else block.parent.parent
        boxes = _Boxes()
        ports: Mapping[str, Port] = holder.input_ports if isinstance(holder, Function) else {}
        for argument in block.arguments:
            name = argument.name or f"input {argument.index}"
            item = self.details.add_port("input", name, argument, ports.get(argument.name, NO_PORT))
            boxes.add(Node("input", name, short_type(argument), item=item), [], [argument])
        first = len(boxes.nodes)
        ops = [op for op in block.operations if _is_drawn(op)]
        self.operations += len(ops)
        for op in ops:
            boxes.add(*self._box(op))
        self._add_ends(boxes, block, holder)
        uses = list(self._uses(boxes, block, holder))
        has_back = any(line.is_back for line in uses)
        groups = () if has_back else _groups(ops, uses, first)
        outer = {self.details.number_of(value): value for value in self._captured.get(holder, ())} if holder else {}
        nodes = [Node("outer", value.name or "from outside", short_type(value)) for value in outer.values()]
        graph = _Nesting(boxes.nodes, groups, self.details.overlays).graph(uses, _title(block, holder))
        by_number = dict(zip(outer, nodes, strict=True))
        entries = list(dict.fromkeys([line.value for line in uses if line.source < 0]))
        return graph._replace(nodes=(*[by_number[value] for value in entries], *graph.nodes[graph.entries :]))

    def _uses(self, boxes: _Boxes, block: Block, holder: Operation | None) -> Iterator[Line]:
        """Yields the lines of a block; a value from outside has the source -1."""
        for target, used in enumerate(boxes.used):
            for value in dict.fromkeys(used):
                source = boxes.makers.get(value)
                number = self.details.number_of(value)
                if source is not None and source != target:
                    yield Line(min(source, target), max(source, target), number, source > target)
                elif source is None and holder is not None and _is_outside(value, block):
                    self._captured[holder][value] = None
                    yield Line(-1, target, number)

    def _box(self, op: Operation) -> tuple[Node, list[Value], Sequence[Value]]:
        weights = weights_of(op)
        notes = [f"{name} {short_type(v)}" for name, v in weights[:_MOST_WEIGHTS]]
        if len(weights) > _MOST_WEIGHTS:
            notes.append(f"and {len(weights) - _MOST_WEIGHTS} more weights")
        marks = tuple(self.details.marks_of(op))
        inner = self._blocks_of(op)
        within = _combined(self.details.overlays, inner)
        highlights = tuple([own or found for own, found in zip(self.details.highlights_of(op), within, strict=True)])
        node = Node(
            "op",
            _label(op),
            " · ".join(filter(None, [op.first_name, short_type(op.results[0]) if op.results else ""])),
            (*_highlight_text(highlights), *notes, *marks),
            self.details.add_operation(op),
            family_of(type(op)),
            marks,
            inner,
            highlights,
        )
        return node, [*op.operands, *self._captured.get(op, ())], op.results

    def _add_ends(self, boxes: _Boxes, block: Block, holder: Operation | None) -> None:
        """Adds the boxes at the end of a block: the outputs of a function, or the terminator."""
        if isinstance(holder, Function) and len(holder.regions[0].blocks) == 1:
            ports = holder.output_ports
            for name, value in zip(holder.output_names, holder.outputs, strict=False):
                item = self.details.add_port("output", name, value, ports.get(name, NO_PORT))
                boxes.add(Node("output", name, short_type(value), item=item), [value], [])
            return
        last = block.last
        if isinstance(last, Op) and last.has_trait(traits.Terminator):
            labels = ", ".join([f"^{b.label or n}" for n, b in enumerate(last.successors)])
            node = Node("output", last.name.partition(".")[2], labels, item=self.details.add_operation(last))
            boxes.add(node, list(last.operands), [])


def _label(op: Operation) -> str:
    """Returns the name of an operation without its dialect; of an operator without a definition, what the file says."""
    called = op.undefined_operator if isinstance(op, Op) else ""
    return escape(called) or op.name.partition(".")[2] or op.name


class _Boxes:
    """The boxes of a block, ordered so that nearly all follow their operands, with what they use and make."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.used: list[Sequence[Value]] = []
        self.makers: dict[Value, int] = {}

    def add(self, node: Node, used: Sequence[Value], results: Sequence[Value]) -> None:
        """Adds a box that uses some values and defines others."""
        self.makers.update(dict.fromkeys(results, len(self.nodes)))
        self.nodes.append(node)
        self.used.append(used)


def _is_outside(value: Value, block: Block) -> bool:
    """Returns whether a value comes from a box outside of a block."""
    maker = value.defining_op
    if maker is not None:
        return maker.parent is not block and _is_drawn(maker)
    return isinstance(value.owner, Block) and value.owner is not block


# -- groups


def _groups(ops: Sequence[Operation], lines: Sequence[Line], first: int) -> tuple[Interval, ...]:
    """Returns the groups of the operations of a block, whose boxes begin with number `first`."""
    last_use: dict[tuple[int, int], int] = {}
    for line in lines:
        if line.source >= first:
            key = (line.source - first, line.value)
            last_use[key] = min(len(ops), max(last_use.get(key, 0), line.target - first))
    live = live_counts([(maker, user) for (maker, _), user in last_use.items()], len(ops))
    found = intervals([_path(op) for op in ops], [f"{op.name} {len(op.operands)}" for op in ops], live)
    return tuple([_shifted(interval, first) for interval in found])


def _shifted(interval: Interval, by: int) -> Interval:
    inner = tuple([_shifted(i, by) for i in interval.inner])
    return Interval(interval.start + by, interval.stop + by, interval.label, inner)


def _path(op: Operation) -> Sequence[str]:
    """Returns the modules in the name of an operation or of its result."""
    return [part for part in (op.source_name or op.first_name).split("/")[:-1] if part]


class _Part(NamedTuple):
    """A graph, with its ports by the value and its source or target outside."""

    graph: Graph
    entries: dict[int, int]
    exits: dict[int, int]


class _Nesting:
    """Puts the boxes of groups into graphs of their own."""

    def __init__(self, nodes: Sequence[Node], groups: Sequence[Interval], overlays: Sequence[Overlay]) -> None:
        self._nodes = nodes
        self._groups = groups
        self._overlays = overlays

    def graph(self, lines: Sequence[Line], title: str) -> Graph:
        """Returns the graph of the block."""
        return self._part(Interval(0, len(self._nodes), title, tuple(self._groups)), lines).graph

    def _part(self, part: Interval, lines: Sequence[Line]) -> _Part:
        """Returns the graph of an interval; of `lines`, both ends or one are in it."""
        # Where the boxes and groups of this graph are: by the first box that each has.
        inner = {group.start: group for group in part.inner}
        place: dict[int, int] = {}
        starts: list[int] = []
        n = part.start
        while n < part.stop:
            stop = inner[n].stop if n in inner else n + 1
            place |= dict.fromkeys(range(n, stop), len(starts))
            starts.append(n)
            n = stop
        crossing: dict[int, list[Line]] = {at: [] for at, start in enumerate(starts) if start in inner}
        entries: dict[int, int] = {}
        exits: dict[int, int] = {}
        for line in lines:
            source, target = place.get(line.source), place.get(line.target)
            if source is None:
                entries.setdefault(line.value, len(entries))
            if target is None:
                exits.setdefault(line.value, len(exits))
            for at in {n for n in (source, target) if n is not None} & crossing.keys():
                crossing[at].append(line)
        parts = {at: self._part(inner[starts[at]], crossed) for at, crossed in crossing.items()}
        nodes = [self._group(parts[at].graph) if at in parts else self._nodes[start] for at, start in enumerate(starts)]
        joined: dict[Line, None] = {}
        for line in lines:
            source, target = place.get(line.source), place.get(line.target)
            if source is not None and source == target:
                continue
            leaves, reaches = parts.get(-1 if source is None else source), parts.get(-1 if target is None else target)
            joined[
                Line(
                    entries[line.value] if source is None else source + len(entries),
                    (target if target is not None else len(nodes) + exits[line.value]) + len(entries),
                    line.value,
                    line.is_back,
                    leaves.exits[line.value] if leaves is not None else -1,
                    reaches.entries[line.value] if reaches is not None else -1,
                )
            ] = None
        port = Node("port", "")
        all_nodes = (*[port] * len(entries), *nodes, *[port] * len(exits))
        graph = Graph(part.label, all_nodes, tuple(joined), len(entries), len(exits))
        first_exit = len(entries) + len(nodes)
        return _Part(graph, entries, {value: first_exit + n for value, n in exits.items()})

    def _group(self, graph: Graph) -> Node:
        counts = Counter(_operations_in(graph))
        common = ", ".join([f"{n} {name}" if n > 1 else name for name, n in counts.most_common(4)])
        more = len(counts) - 4
        notes = [common + (", …" if more > 0 else "")]
        marked = _marked_in(graph)
        marks = (f"{marked} differ" if marked > 1 else "1 differs",) if marked else ()
        highlights = _combined(self._overlays, [graph])
        texts = (*_highlight_text(highlights), *notes, *marks)
        return Node(
            "group", graph.title, plural(counts.total(), "operation"), texts, -1, "", marks, (graph,), highlights
        )


def _combined(overlays: Sequence[Overlay], graphs: Sequence[Graph]) -> tuple[Highlight | None, ...]:
    """Returns for each overlay the highlight of all that is in some graphs."""
    result: list[Highlight | None] = []
    for n, overlay in enumerate(overlays):
        inner = [node.highlights[n] for graph in graphs for node in graph.nodes if node.highlights]
        known = [highlight for highlight in inner if highlight is not None]
        result.append(overlay.combined(known) if known else None)
    return tuple(result)


def _highlight_text(highlights: Sequence[Highlight | None]) -> tuple[str, ...]:
    """Returns the line of a box with its highlights, if it has any."""
    texts = [highlight.text for highlight in highlights if highlight is not None]
    return (" · ".join(texts),) if texts else ()


def _operations_in(graph: Graph) -> Iterator[str]:
    for node in graph.nodes:
        if node.role == "op":
            yield node.label
        for inner in node.graphs:
            yield from _operations_in(inner)


def _marked_in(graph: Graph) -> int:
    return sum(
        [
            sum(map(_marked_in, node.graphs))
            if node.role == "group"
            else bool(node.marks) + sum(map(_marked_in, node.graphs))
            for node in graph.nodes
        ]
    )


def _title(block: Block, holder: Operation | None) -> str:
    """Returns the role of a block in its parent operation."""
    if isinstance(holder, Function) and len(holder.regions[0].blocks) == 1:
        return holder.symbol_name
    if holder is None or block.parent is None:
        return ""
    number = holder.regions.index(block.parent)
    fields = holder.layout.regions if isinstance(holder, Op) else ()
    name = fields[number].name if number < len(fields) and not fields[number].variadic else f"region {number}"
    many = len(block.parent.blocks) > 1
    stem = holder.symbol_name if isinstance(holder, Function) else name
    return f"{stem} ^{block.label or block.parent.blocks.index(block)}" if many else stem
