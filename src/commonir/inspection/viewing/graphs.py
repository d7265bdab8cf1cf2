"""Builds graphs of functions: boxes and lines for each block, and blocks within boxes.

Constants are not boxes, but shown by the operations that use them. In very large programs the middle of each block is
replaced by one box with the number of its operations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from commonir.base.text import plural
from commonir.base.tuples import NamedTuple
from commonir.ir.attributes import attribute_text
from commonir.ir.module import Function, Module, weight_name
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import TensorType, Type
from commonir.ods import Op, declared_operand_names, known_data, traits

MAX_BOXES = 3000
"""Of programs of more operations some are left out."""
_DEEPEST = 8
"""Blocks within more boxes than that are not drawn."""
_LEAST = 20
"""So many operations of a block are drawn in any case."""
_FEW_ELEMENTS = 8
_MAX_TOOLTIP_LINES = 24
_MOST_WEIGHTS = 3
_LONGEST_TEXT = 160


Marks = Mapping[Operation, Sequence[str]]
"""Highlighted operations, with at least one line of tooltip each."""
NO_MARKS: Marks = MappingProxyType({})


class Node(NamedTuple):
    """A box with its label, details and tooltip. `kind` is input, output, computes, weighs (it has weights),
    holds (it has blocks), skipped, or differs (from what stands for it in another program).
    """

    kind: str
    label: str
    detail: str
    tooltip: tuple[str, ...]
    notes: tuple[str, ...] = ()
    blocks: tuple[Graph, ...] = ()


class Line(NamedTuple):
    """A line between boxes of one block, by index, with the values that it carries. `is_back`: it goes up."""

    source: int
    target: int
    tooltip: tuple[str, ...]
    is_back: bool = False


class Graph(NamedTuple):
    """The boxes of a block and the lines between them; every line goes from a smaller index to a greater one."""

    title: str
    nodes: tuple[Node, ...]
    lines: tuple[Line, ...]


class Figure(NamedTuple):
    """The functions of a program as graphs, with the numbers of their operations and of those left out."""

    graphs: tuple[Graph, ...]
    operations: int
    skipped: int


def figure_of(module: Module, marks: Marks = NO_MARKS, name: str = "") -> Figure:
    """Returns the graphs of a program, with marked operations highlighted, and `name` before the names of its
    functions.
    """
    functions = list(module.defined_functions.values())
    total = sum([_is_drawn(op) for function in functions for op in function.walk()]) - len(functions)
    reading = _Reading(marks, 1.0 if total <= MAX_BOXES else MAX_BOXES / total)
    graphs = [graph for function in functions for graph in reading.graphs_of(function)]
    titled = [graph._replace(title=f"{name}: {graph.title}") for graph in graphs] if name else graphs
    return Figure(tuple(titled), total, reading.skipped)


def _is_drawn(op: Operation) -> bool:
    if isinstance(op, Op) and (op.has_trait(traits.ConstantLike) or op.has_trait(traits.Terminator)):
        return False
    return bool(op.operands) or op.constant_data() is None


class _Reading:
    """Builds graphs of blocks, innermost first. `part` is the number of operations drawn of each block."""

    def __init__(self, marks: Marks, part: float) -> None:
        self.skipped = 0
        self._marks = marks
        self._part = part
        self._graphs: dict[Block, Graph] = {}
        # What is used within an operation and made outside of it.
        self._captured: defaultdict[Operation, dict[Value, None]] = defaultdict(dict)

    def graphs_of(self, function: Function) -> tuple[Graph, ...]:
        """Returns the graphs of the blocks of a function."""
        graphs: list[Block] = []
        pending: list[tuple[Operation, int]] = [(function, 0)]
        while pending:
            op, depth = pending.pop()
            blocks = [block for region in op.regions for block in region.blocks]
            graphs += blocks
            if depth < _DEEPEST:
                pending += [(inner, depth + 1) for block in blocks for inner in block.operations if inner.regions]
        for block in reversed(graphs):
            self._graphs[block] = self._graph(block)
        return self._blocks_of(function)

    def _blocks_of(self, op: Operation) -> tuple[Graph, ...]:
        return tuple([self._graphs[b] for region in op.regions for b in region.blocks if b in self._graphs])

    def _graph(self, block: Block) -> Graph:
        holder = None if block.parent is None else block.parent.parent
        boxes = _Boxes(block, self._captured[holder] if holder is not None else {})
        for argument in block.arguments:
            boxes.add(_port("input", argument.name or f"input {argument.index}", argument.type), [], [argument])
        ops = [op for op in block.operations if _is_drawn(op)]
        room = max(_LEAST, round(self._part * len(ops))) if self._part < 1 else len(ops)
        skipped = ops[room - room // 2 : len(ops) - room // 2] if room < len(ops) else []
        for op in ops[: room - room // 2] if skipped else ops:
            boxes.add(*self._box(op))
        if skipped:
            self.skipped += len(skipped)
            label = f"{plural(len(skipped), 'operation')} left out"
            used, built = [v for op in skipped for v in op.values_used], [r for op in skipped for r in op.results]
            boxes.add(Node("skipped", label, "", (label,)), used, built)
            for op in ops[len(ops) - room // 2 :]:
                boxes.add(*self._box(op))
        for node, value in _ends(block, holder):
            boxes.add(node, value, [])
        return Graph(_title(block, holder), tuple(boxes.nodes), tuple(boxes.lines()))

    def _box(self, op: Operation) -> tuple[Node, list[Value], Sequence[Value]]:
        blocks = self._blocks_of(op)
        weights = [(name, v) for name, v in _named_operands(op) if _weight_type(v) is not None]
        spoken = [op, *[v.defining_op for _, v in weights if v.defining_op is not None]]
        marked = [self._marks[o] for o in spoken if o in self._marks]
        kind = "differs" if marked else "holds" if blocks else "weighs" if weights else "computes"
        notes = [f"{name} {_short(v.type)}" for name, v in weights[:_MOST_WEIGHTS]]
        if len(weights) > _MOST_WEIGHTS:
            notes.append(f"and {len(weights) - _MOST_WEIGHTS} more weights")
        detail = " · ".join(filter(None, [op.first_name, _short(op.results[0].type) if op.results else ""]))
        reported = [*_tooltip_lines(op), *dict.fromkeys([line for lines in marked for line in lines])]
        notes += dict.fromkeys([lines[0] for lines in marked])
        node = Node(kind, op.name.partition(".")[2] or op.name, detail, tuple(reported), tuple(notes), blocks)
        return node, [*op.operands, *self._captured.get(op, ())], op.results


class _Boxes:
    """The boxes of a block, ordered so that nearly all follow their operands."""

    def __init__(self, block: Block, outside: dict[Value, None]) -> None:
        self.nodes: list[Node] = []
        self._block = block
        self._outside = outside
        self._used: list[Sequence[Value]] = []
        self._makers: dict[Value, int] = {}

    def add(self, node: Node, used: Sequence[Value], results: Sequence[Value]) -> None:
        """Adds a box that uses some values and defines others."""
        self._makers.update(dict.fromkeys(results, len(self.nodes)))
        self.nodes.append(node)
        self._used.append(used)

    def lines(self) -> Iterator[Line]:
        """Yields the lines between boxes, one for all values with the same ends."""
        for target, used in enumerate(self._used):
            reported: dict[int, dict[str, None]] = {}
            for value in used:
                source = self._makers.get(value)
                if source is not None and source != target:
                    reported.setdefault(source, {})[_value_text(value)] = None
                elif source is None and _owner_block(value) is not self._block:
                    self._outside[value] = None
            for source, texts in reported.items():
                is_back = source > target
                yield Line(min(source, target), max(source, target), tuple(texts), is_back)


def _owner_block(value: Value) -> Block | None:
    maker = value.defining_op
    return maker.parent if maker is not None else value.owner if isinstance(value.owner, Block) else None


def _ends(block: Block, holder: Operation | None) -> Iterator[tuple[Node, list[Value]]]:
    """Yields the boxes at the end of a block: the outputs of a function, or the terminator."""
    if isinstance(holder, Function) and len(holder.regions[0].blocks) == 1:
        for name, value in zip(holder.output_names, holder.outputs, strict=False):
            yield _port("output", name, value.type), [value]
        return
    last = block.last
    if isinstance(last, Op) and last.has_trait(traits.Terminator):
        labels = ", ".join([f"^{b.label or n}" for n, b in enumerate(last.successors)])
        yield Node("output", last.name.partition(".")[2], labels, tuple(_tooltip_lines(last))), list(last.operands)


def _port(kind: str, name: str, type: Type) -> Node:
    return Node(kind, name, _short(type), (f"{kind} {name}: {type}",))


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


def _short(type: Type) -> str:
    """Returns a short form of a type."""
    text = str(type)
    return text[len("tensor<") : -1].replace('"', "") if isinstance(type, TensorType) else text


def _named_operands(op: Operation) -> list[tuple[str, Value]]:
    names = declared_operand_names(op) or [str(n) for n in range(len(op.operands))]
    return list(zip(names, op.operands, strict=False))


def _weight_type(value: Value) -> Type | None:
    """Returns the type of a large constant."""
    data = known_data(value)
    return value.type if data is not None and data.count > _FEW_ELEMENTS else None


def _value_text(value: Value) -> str:
    return f"{value.name}: {value.type}" if value.name else str(value.type)


def _tooltip_lines(op: Operation) -> Iterator[str]:
    """Yields the lines of the tooltip of an operation."""
    yield op.name
    for result in op.results[:_MAX_TOOLTIP_LINES]:
        yield f"gives {_value_text(result)}"
    for name, value in _named_operands(op)[:_MAX_TOOLTIP_LINES]:
        maker, data = value.defining_op, known_data(value)
        if data is not None and data.count <= _FEW_ELEMENTS:
            yield _cut(f"{name} = {list(data.values()) if data.shape else data.values()[0]}")
        elif data is not None and maker is not None:
            yield f"{name}: weight {weight_name(maker)}: {value.type}"
        else:
            yield f"{name}: {_value_text(value)}"
    for name, attribute in list(op.attribute_dictionary.items())[:_MAX_TOOLTIP_LINES]:
        yield _cut(f"{name} = {attribute_text(attribute, _FEW_ELEMENTS)}")


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"
