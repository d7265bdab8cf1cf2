"""The fields of ARK model files: what a document must have, by generation of files.

It gives plain data, and every finding with the path of its place, such as `Nodes[3].Op.ReadTensors[0].Strides[1]`. What
operations mean together does not concern this module.
Source: ARK model files, generations v1 to v4: structure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from commonir.base.diagnostics import Code, Diagnostic
from commonir.base.file_codes import ARK_EDGES, ARK_RANGE, ARK_TENSOR, MALFORMED_ARK_SCHEMA
from commonir.base.limits import DEFAULT_LIMITS
from commonir.base.strict_json import Json
from commonir.base.suggestions import did_you_mean
from commonir.base.text import escape, plural
from commonir.base.tuples import NamedTuple
from commonir.dialects import ark
from commonir.formats.ark.json_text import compact
from commonir.ods.fields import Field

T = TypeVar("T")
Object = dict[str, Json]

TOP = ("Rank", "WorldSize", "Nodes")
_LOW, _HIGH = -(1 << 63), (1 << 63) - 1
_TAG_LOW, _TAG_HIGH = -(1 << 31), (1 << 31) - 1
_SMALL = 1 << 62
_PAIR = 2
_SHOWN = 40


def node_fields(generation: str) -> tuple[str, ...]:
    """The fields of a node, in order."""
    return ("Id", "ProducerNodeIds", "ConsumerNodeIds", "Ops" if generation in ark.MERGING_GENERATIONS else "Op")


OP = ("Type", "Name", "IsVirtual", "ReadTensors", "WriteTensors", "ResultTensors", "Args")


def tensor_fields(generation: str) -> tuple[str, ...]:
    """The fields of a tensor, in order."""
    if generation == ark.V1:
        return ("Id", "DataType", "Buffer", "Shape", "Strides", "Offsets", "Pads")
    return ("Id", "DataType", "Shape", "Strides", "Offsets", "PaddedShape", "Buffer")


def buffer_fields(generation: str) -> tuple[str, ...]:
    """The fields of a buffer, in order."""
    external = ("IsExternal",) if generation == ark.V4 else ()
    return ("Id", "Rank", *external, "SendTags", "RecvTags")


def operation_types() -> Mapping[str, type[ark.ArkOp]]:
    """The definitions of operations by their types in files."""
    result = [definition for versions in ark.DIALECT.operations.values() for definition in versions]
    return {d.name.partition(".")[2]: d for d in result if issubclass(d, ark.ArkOp)}


def arguments_of(definition: type[ark.ArkOp], generation: str) -> dict[str, Field]:
    """The arguments that an operation has in a generation of files, by name in the order of files."""
    kinds = set(ark.ARGUMENTS.values())
    fields = [f for f in definition.layout.attributes if f.type in kinds]
    selected = [f for f in fields if generation == ark.V1 or f.spelling not in definition.v1_arguments]
    return {f.spelling: f for f in sorted(selected, key=lambda f: f.spelling)}


Mentioned = tuple[tuple[object, ...], str]
"""The content of a tensor or buffer, and the place where it is mentioned first."""


class BufferData(NamedTuple):
    """A buffer as a file states it."""

    id: int
    rank: int
    send_tags: tuple[tuple[int, int], ...]
    recv_tags: tuple[tuple[int, int], ...]
    is_external: bool | None


class TensorData(NamedTuple):
    """A tensor as a file states it; `padding` is `Pads` or `PaddedShape`."""

    id: int
    data_type: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offsets: tuple[int, ...]
    padding: tuple[int, ...]
    buffer: BufferData


class OpData(NamedTuple):
    """An operation as a file states it, and its place."""

    definition: type[ark.ArkOp]
    name: str
    reads: tuple[TensorData, ...]
    writes: tuple[TensorData, ...]
    results: tuple[TensorData, ...]
    arguments: Mapping[str, object]
    place: str


class NodeData(NamedTuple):
    """A node as a file states it; in a `RankData`, producers and consumers are the places of nodes."""

    id: int
    producers: tuple[int, ...]
    consumers: tuple[int, ...]
    ops: tuple[OpData, ...]


class RankData(NamedTuple):
    """The contents of a rank's file."""

    rank: int
    world_size: int
    generation: str
    nodes: tuple[NodeData, ...]


class Refused(Exception):
    """A part of the document cannot be read; the finding about it is kept."""


def generation_of(document: Object) -> str:
    """The generation of a document by what it has; "" for one without nodes."""
    nodes = [n for n in items_of(document.get("Nodes")) if isinstance(n, dict)]
    if not nodes:
        return ""
    empty: Object = {}
    tensor = next((t for n in nodes for t in tensors_in(n)), empty)
    buffer = tensor.get("Buffer")
    if "Op" in nodes[0]:
        return ark.V4 if isinstance(buffer, dict) and "IsExternal" in buffer else ark.V3
    return ark.V1 if "Pads" in tensor and "PaddedShape" not in tensor else ark.V2


def items_of(value: Json) -> Sequence[Json]:
    """The items of an array; none of what is not an array."""
    return value if isinstance(value, list) else ()


def tensors_in(node: Object) -> Iterator[Object]:
    """The tensors of the operations of a node or task, as far as they are objects."""
    for op in (*items_of(node.get("Ops")), node.get("Op")):
        if isinstance(op, dict):
            for field in ("ReadTensors", "WriteTensors", "ResultTensors"):
                yield from (t for t in items_of(op.get(field)) if isinstance(t, dict))


class Schema:
    """Reads one document. `found` is what is wrong with it, in order."""

    def __init__(self, file: str = "") -> None:
        self.diagnostics: list[Diagnostic] = []
        self._file = file
        self._generation = ""
        self._rank = ark.LOCAL
        self._types = operation_types()
        self._arguments: dict[type[ark.ArkOp], dict[str, Field]] = {}
        # What was read, by its text: most tensors are mentioned several times.
        self._read: dict[str, TensorData] = {}
        self._tensors: dict[int, Mentioned] = {}
        self._buffers: dict[int, Mentioned] = {}
        self._nodes: dict[int, str] = {}

    def read(self, document: Json) -> RankData | None:
        """Reads a document; returns None when too little of it can be read."""
        try:
            top = self._object(document, "", TOP, "a model file")
            self._generation = generation_of(top)
            rank = self._rank = self._number(top["Rank"], "Rank", 0)
            world = self._number(top["WorldSize"], "WorldSize", 1)
            if rank >= world:
                self._wrong("Rank", f"the rank must be less than 'WorldSize', {world}, found {rank}", ARK_RANGE)
            nodes = self._placed(self._each(top["Nodes"], "Nodes", self._node))
        except Refused:
            return None
        return None if self._has_errors() else RankData(rank, world, self._generation, tuple(nodes))

    def _placed(self, nodes: list[NodeData]) -> list[NodeData]:
        """The nodes with places of nodes instead of ids, which ARK numbers in the order of nodes."""
        places = {node.id: n for n, node in enumerate(nodes)}
        if self._has_errors() or all(id == n for id, n in places.items()):
            return nodes
        out: list[NodeData] = []
        for n, node in enumerate(nodes):
            fields = zip(("ProducerNodeIds", "ConsumerNodeIds"), (node.producers, node.consumers), strict=True)
            edges = [self._places_of(ids, places, f"Nodes[{n}].{field}") for field, ids in fields]
            out.append(NodeData(node.id, edges[0], edges[1], node.ops))
        return out

    def _places_of(self, ids: Sequence[int], places: Mapping[int, int], place: str) -> tuple[int, ...]:
        for n, id in enumerate(ids):
            if id not in places:
                self._wrong(f"{place}[{n}]", f"no node has the id {id}", ARK_EDGES)
        return tuple([places[id] for id in ids if id in places])

    def _has_errors(self) -> bool:
        return any(d.is_error for d in self.diagnostics)

    # -- findings

    def _wrong(self, place: str, message: str, code: Code = MALFORMED_ARK_SCHEMA, help: str | None = None) -> None:
        if len(self.diagnostics) < DEFAULT_LIMITS.max_diagnostics:
            self.diagnostics.append(Diagnostic(code, message, where=place, file=self._file or None, help=help))

    def _refuse(self, place: str, message: str, code: Code = MALFORMED_ARK_SCHEMA, help: str | None = None) -> Refused:
        self._wrong(place, message, code, help)
        return Refused()

    # -- JSON

    def _object(self, value: Json, place: str, fields: tuple[str, ...], what: str) -> Object:
        """An object that has all of some fields; others are reported. Raises: Refused."""
        if not isinstance(value, dict):
            raise self._refuse(place, f"{what} must be an object, found {_text_of(value)}")
        return self._members(value, place, fields, what, "field")

    def _members(self, value: Object, place: str, names: tuple[str, ...], what: str, member: str) -> Object:
        """An object that has all members of some names; others are reported. Raises: Refused."""
        if tuple(value) == names:
            return value
        missing = [f for f in names if f not in value]
        known = f"its {member}s: {', '.join(names)}" if names else f"it has no {member}s"
        for name in value:
            if name not in names:
                help = did_you_mean(name, missing) or known
                what_else = f"{what} of generation {self._generation}" if self._generation and place else what
                self._wrong(_at(place, name), f"{what_else} has no {member} '{escape(name)}'", help=help)
        for name in missing:
            self._wrong(place, f"{what} must have the {member} '{name}'")
        if missing:
            raise Refused
        return value

    def _each(self, value: Json, place: str, read: Callable[[Json, str], T]) -> list[T]:
        """The items of an array, those that can be read. Raises: Refused for what is none."""
        if not isinstance(value, list):
            raise self._refuse(place, f"expected an array, found {_text_of(value)}")
        out: list[T] = []
        for n, item in enumerate(value):
            try:
                out.append(read(item, f"{place}[{n}]"))
            except Refused:
                if len(self.diagnostics) >= DEFAULT_LIMITS.max_diagnostics:
                    raise
        return out

    def _number(self, value: Json, place: str, low: int = _LOW, high: int = _HIGH) -> int:
        """An integer. Raises: Refused."""
        if type(value) is not int:
            raise self._refuse(place, f"expected an integer, found {_text_of(value)}")
        if not low <= value <= high:
            is_below = high == _HIGH and low != _LOW and value < low
            expected = f"at least {low}" if is_below else f"between {low} and {high}"
            raise self._refuse(place, f"a number must be {expected}, found {_text_of(value)}", ARK_RANGE)
        return value

    def _integer(self, value: Json, place: str) -> int:
        return self._number(value, place)

    def _id(self, value: Json, place: str) -> int:
        return self._number(value, place, 0)

    def _numbers(self, value: Json, place: str) -> tuple[int, ...]:
        """Integers, all of them. Raises: Refused."""
        # The common case; the code below reports errors of others.
        plain = [v for v in items_of(value) if type(v) is int and -_SMALL < v < _SMALL]
        if isinstance(value, list) and len(plain) == len(value):
            return tuple(plain)
        result = self._each(value, place, self._integer)
        if len(result) != len(items_of(value)):
            raise Refused
        return tuple(result)

    def _ids(self, value: Json, place: str) -> tuple[int, ...]:
        if value == []:
            return ()
        return tuple(self._each(value, place, self._id))

    def _string(self, value: Json, place: str) -> str:
        if not isinstance(value, str):
            raise self._refuse(place, f"expected a string, found {_text_of(value)}")
        return value

    def _flag(self, value: Json, place: str) -> bool:
        if not isinstance(value, bool):
            raise self._refuse(place, f"expected true or false, found {_text_of(value)}")
        return value

    # -- nodes and operations

    def _node(self, value: Json, place: str) -> NodeData:
        fields = node_fields(self._generation)
        node = self._object(value, place, fields, "a node")
        number = self._id(node["Id"], f"{place}.Id")
        if number in self._nodes:
            message = f"the id {number} is that of {self._nodes[number]} too"
            self._wrong(f"{place}.Id", message, ARK_RANGE, "give each node an id of its own")
        self._nodes.setdefault(number, place)
        producers = self._ids(node["ProducerNodeIds"], f"{place}.ProducerNodeIds")
        consumers = self._ids(node["ConsumerNodeIds"], f"{place}.ConsumerNodeIds")
        content, inner = node[fields[-1]], f"{place}.{fields[-1]}"
        if fields[-1] == "Op":
            return NodeData(number, producers, consumers, (self._op(content, inner),))
        if content == []:
            raise self._refuse(inner, "a node must have at least one operation")
        return NodeData(number, producers, consumers, tuple(self._each(content, inner, self._op)))

    def _op(self, value: Json, place: str) -> OpData:
        op = self._object(value, place, OP, "an operation")
        definition = self._definition(op["Type"], f"{place}.Type")
        name = self._string(op["Name"], f"{place}.Name")
        is_virtual = self._flag(op["IsVirtual"], f"{place}.IsVirtual")
        if is_virtual is not definition.is_virtual:
            kind = "a virtual operation" if definition.is_virtual else "not a virtual operation"
            message = f"'{op['Type']}' is {kind}, so that 'IsVirtual' must be {compact(definition.is_virtual)}"
            self._wrong(f"{place}.IsVirtual", message)
        reads = self._each(op["ReadTensors"], f"{place}.ReadTensors", self._tensor)
        writes = self._each(op["WriteTensors"], f"{place}.WriteTensors", self._tensor)
        results = self._each(op["ResultTensors"], f"{place}.ResultTensors", self._tensor)
        arguments = self._args(op["Args"], f"{place}.Args", definition)
        inputs = definition.layout.inputs
        self._count(op, place, "ReadTensors", [f for f in inputs if f.name not in definition.writes])
        self._count(op, place, "WriteTensors", [f for f in inputs if f.name in definition.writes])
        self._count(op, place, "ResultTensors", definition.layout.results)
        return OpData(definition, name, tuple(reads), tuple(writes), tuple(results), arguments, place)

    def _definition(self, value: Json, place: str) -> type[ark.ArkOp]:
        name = self._string(value, place)
        result = self._types.get(name)
        if result is None:
            help = did_you_mean(name, self._types) or "`cir ops ark` lists the operations that are known"
            raise self._refuse(place, f"unknown operation type '{escape(name)}'", help=help)
        if ark.GENERATIONS.index(result.first_generation) > ark.GENERATIONS.index(self._generation):
            message = f"'{name}' came with generation {result.first_generation}, but the file is {self._generation}"
            self._wrong(place, message)
        return result

    def _count(self, op: Object, place: str, field: str, fields: Sequence[Field]) -> None:
        result = len(items_of(op[field]))
        least = sum(f.is_required for f in fields)
        if result < least or (result > least and not any(f.variadic for f in fields)):
            at_least = "at least " if any(f.variadic for f in fields) else ""
            message = f"'{op['Type']}' has {at_least}{plural(least, 'tensor')} here, found {result}"
            self._wrong(f"{place}.{field}", message)

    # -- arguments

    def _args(self, value: Json, place: str, definition: type[ark.ArkOp]) -> Mapping[str, object]:
        expected = self._arguments.get(definition)
        if expected is None:
            expected = self._arguments[definition] = arguments_of(definition, self._generation)
        what = f"'{definition.name.partition('.')[2]}'"
        if not isinstance(value, dict):
            raise self._refuse(place, f"the arguments of {what} must be an object, found {_text_of(value)}")
        arguments = self._members(value, place, tuple(expected), what, "argument")
        return {f.name: self._argument(arguments[name], f"{place}.{name}", f) for name, f in expected.items()}

    def _argument(self, value: Json, place: str, field: Field) -> object:
        kind = "" if field.type is None else field.type.name
        if not isinstance(value, dict) or len(value) != 1:
            text = ", ".join(map(escape, value)) if isinstance(value, dict) else _text_of(value)
            message = f'an argument must be an object with one type, {{"{kind}": ...}}, found {text or "none"}'
            raise self._refuse(place, message)
        declared, content = next(iter(value.items()))
        if declared != kind:
            known = (*ark.ARGUMENTS, *ark.OTHER_ARGUMENTS)
            message = f"the argument must have the type {kind}, found '{escape(declared)}'"
            help = None if declared in known else did_you_mean(declared, known)
            raise self._refuse(_at(place, declared), message, help=help)
        place = f"{place}.{kind}"
        if content is None and kind == "FLOAT":
            help = "ARK writes infinities and NaN as null, and the value is lost: state a number"
            raise self._refuse(place, "expected a number, found null", help=help)
        literal = self._numbers(content, place) if kind == "DIMS" else content
        assert field.type is not None
        try:
            result: object = field.type.coerce(literal)
        except ValueError as error:
            if type(content) in _NUMBERS[kind]:
                raise self._refuse(place, str(error), ARK_RANGE) from None
            shown = str(error) if kind == "DIMS" else f"expected {_EXPECTED[kind]}, found {_text_of(content)}"
            raise self._refuse(place, shown) from None
        return result

    # -- tensors

    def _tensor(self, value: Json, place: str) -> TensorData:
        key = repr(value)
        known = self._read.get(key)
        if known is not None:
            return known
        tensor = self._object(value, place, tensor_fields(self._generation), "a tensor")
        padding = "Pads" if self._generation == ark.V1 else "PaddedShape"
        data_type = self._string(tensor["DataType"], f"{place}.DataType")
        if data_type not in ark.DATA_TYPES:
            is_lower = data_type.upper() in ark.DATA_TYPES
            help = f"did you mean '{data_type.upper()}'?" if is_lower else f"data types: {', '.join(ark.DATA_TYPES)}"
            raise self._refuse(f"{place}.DataType", f"unknown data type '{escape(data_type)}'", help=help)
        before = len(self.diagnostics)
        lists = [self._numbers(tensor[f], f"{place}.{f}") for f in ("Shape", "Strides", "Offsets", padding)]
        number = self._id(tensor["Id"], f"{place}.Id")
        result = TensorData(
            number, data_type, lists[0], lists[1], lists[2], lists[3], self._buffer(tensor["Buffer"], f"{place}.Buffer")
        )
        if len(self.diagnostics) == before:
            self._check_view(result, place)
        names = ("Id", "DataType", "Shape", "Strides", "Offsets", padding, "Buffer")
        # What differs inside of a buffer is a fault of the buffer.
        content = (*result[:-1], result.buffer.id)
        self._same(self._tensors.setdefault(number, (content, place)), content, place, f"tensor {number}", names)
        self._read[key] = result
        return result

    def _check_view(self, data: TensorData, place: str) -> None:
        item_bytes = ark.DATA_TYPES[data.data_type].bits // 8
        is_v1 = self._generation == ark.V1
        padded, pads = (None, data.padding) if is_v1 else (data.padding, None)
        before = len(self.diagnostics)
        for p in ark.view_problems(data.shape, data.strides, data.offsets, padded, pads, item_bytes):
            self._wrong(f"{place}.{p.field}", p.message, p.code, p.help)
        if any(d.is_error for d in self.diagnostics[before:]):
            raise Refused

    def _buffer(self, value: Json, place: str) -> BufferData:
        buffer = self._object(value, place, buffer_fields(self._generation), "a buffer")
        result = BufferData(
            self._id(buffer["Id"], f"{place}.Id"),
            self._number(buffer["Rank"], f"{place}.Rank", ark.LOCAL, _TAG_HIGH),
            tuple(self._each(buffer["SendTags"], f"{place}.SendTags", self._tag)),
            tuple(self._each(buffer["RecvTags"], f"{place}.RecvTags", self._tag)),
            self._flag(buffer["IsExternal"], f"{place}.IsExternal") if self._generation == ark.V4 else None,
        )
        content = ark.buffer_content(self._rank, *result[1:])
        first = self._buffers.setdefault(result.id, (content, place))
        self._same(first, content, place, f"buffer {result.id}", ark.BUFFER_FIELDS)
        return result

    def _tag(self, value: Json, place: str) -> tuple[int, int]:
        if not isinstance(value, list) or len(value) != _PAIR:
            raise self._refuse(place, f"expected a pair [rank, tag], found {_shortened(compact(value))}")
        rank = self._number(value[0], f"{place}[0]", ark.LOCAL, _TAG_HIGH)
        return rank, self._number(value[1], f"{place}[1]", _TAG_LOW, _TAG_HIGH)

    def _same(
        self,
        first: Mentioned,
        data: tuple[object, ...],
        place: str,
        what: str,
        names: Sequence[str],
    ) -> None:
        """Reports a tensor or buffer that is stated with another content than where it was first."""
        if first[0] != data:
            name = next(name for name, old, new in zip(names, first[0], data, strict=True) if old != new)
            message = f"{what} has another '{name}' than at {first[1]}"
            self._wrong(place, message, ARK_TENSOR, "repeat it with the same fields, or give it another 'Id'")


_EXPECTED = {"BOOL": "true or false", "FLOAT": "a number", "DIMS": "an array of integers"} | dict.fromkeys(
    ("INT", "UINT32", "INT64", "UINT64"), "an integer"
)
_NUMBERS: Mapping[str, tuple[type, ...]] = {"BOOL": (), "FLOAT": (int, float), "DIMS": ()} | dict.fromkeys(
    ("INT", "UINT32", "INT64", "UINT64"), (int,)
)
"""Classes of numbers that an argument type has, which are out of range if it does not have one of them."""


def _at(place: str, name: str) -> str:
    return f"{place}.{escape(name)}" if place else escape(name)


def _text_of(value: Json) -> str:
    if isinstance(value, list | dict):
        return "an array" if isinstance(value, list) else "an object"
    return _shortened(compact(value))


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
