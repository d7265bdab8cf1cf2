"""Ranks of ARK programs, and tensors, which are views of buffers.

Source: ARK model files, generations v1 to v4: structure, memory model.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from math import prod
from typing import ClassVar

from commonir.base.codes import MALFORMED_REGION
from commonir.base.diagnostics import Code, Diagnostic
from commonir.base.file_codes import ARK_PADS, ARK_RANGE, ARK_TENSOR
from commonir.base.text import plural
from commonir.base.tuples import NamedTuple
from commonir.dialects.ark.base import (
    DATA_TYPES,
    GENERATIONS,
    LOCAL,
    MAX_RANK,
    NO_ID,
    V4,
    AnyTensor,
    ArkOp,
    Tensors,
    dims_of,
    element_of,
    read_operands,
    shape_of,
)
from commonir.dialects.ark.forms import (
    labels_text,
    lists_text,
    numbers_text,
    read_labels,
    read_lists,
    read_numbers,
    write_operands,
    written_types,
)
from commonir.dialects.ark.views import View, Views, contains, overlap
from commonir.ir.attributes import ArrayAttr, Attribute, DenseArrayAttr
from commonir.ir.data import Data
from commonir.ir.literals import quoted
from commonir.ir.module import Function, NamedValues, distinct_names
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import TensorType, Type, i64
from commonir.ods import MlirOp, Op, attr_types, attribute, one_of, operand, region, result, traits
from commonir.ods.attr_types import AttrType
from commonir.ods.text_form import CustomForm, FormReader, FormTask, FormWriter

_LIMIT = (1 << 63) - 1


def _lists_of(attr: Attribute) -> tuple[tuple[int, ...], ...]:
    if not isinstance(attr, ArrayAttr):
        raise ValueError(f"expected an array of arrays, found {attr}")
    return tuple([attr_types.integers.from_attribute(v) for v in attr.values])


id_lists: AttrType[tuple[tuple[int, ...], ...]] = AttrType(
    "lists of numbers",
    attr_types.sequence_of(attr_types.integers.coerce, "lists of numbers"),
    lambda v: ArrayAttr(tuple([DenseArrayAttr(i64, ids) for ids in v])),
    _lists_of,
)


class Problem(NamedTuple):
    """An error of a tensor, and the field that causes it."""

    code: Code
    field: str
    message: str
    help: str | None = None


def view_problems(
    shape: Sequence[int],
    strides: Sequence[int],
    offsets: Sequence[int],
    padded_shape: Sequence[int] | None,
    pads: Sequence[int] | None,
    item_bytes: int,
) -> Iterator[Problem]:
    """Yields diagnostics of what contradicts itself in a view of a buffer."""
    if not 0 < len(shape) <= MAX_RANK:
        yield Problem(ARK_RANGE, "Shape", f"a tensor has 1 to {MAX_RANK} dimensions, found {len(shape)}")
        return
    padding = {"PaddedShape": padded_shape} if padded_shape is not None else {"Pads": pads or ()}
    lists = {"Shape": shape, "Strides": strides, "Offsets": offsets, **padding}
    lengths = [
        Problem(
            ARK_TENSOR,
            field,
            f"expected {plural(len(shape), 'number')}, one for each dimension, found {len(given or ())}",
        )
        for field, given in lists.items()
        if len(given or ()) != len(shape)
    ]
    wrong = [
        Problem(ARK_RANGE, field, f"a number must be {'at least 0' if least == 0 else 'positive'}, found {number}")
        for field, given in lists.items()
        for least in (0 if field == "Offsets" else 1,)
        for number in given or ()
        if number < least
    ]
    if not (lengths or wrong) and prod(strides) * item_bytes > _LIMIT:
        wrong = [Problem(ARK_RANGE, "Strides", f"{' x '.join(map(str, strides))} elements do not fit into memory")]
    yield from lengths
    yield from wrong
    if not (lengths or wrong):
        yield from _bounds(shape, strides, offsets, padded_shape, pads)


def _bounds(
    shape: Sequence[int],
    strides: Sequence[int],
    offsets: Sequence[int],
    padded_shape: Sequence[int] | None,
    pads: Sequence[int] | None,
) -> Iterator[Problem]:
    used = shape if padded_shape is None else padded_shape
    for n, (size, wide, extent, start) in enumerate(zip(shape, used, strides, offsets, strict=True)):
        if wide < size:
            yield Problem(ARK_TENSOR, "PaddedShape", f"dimension {n} has size {size}, but is padded to {wide}")
        elif start + wide > extent:
            message = f"dimension {n} ends at {start} + {wide}, beyond the extent {extent} that 'Strides' states"
            help = "'Strides' are the sizes of the array that the tensor is a part of, not steps between elements"
            yield Problem(ARK_TENSOR, "Offsets", message, help)
    for n, (pad, extent) in enumerate(zip_longest(pads or (), strides, fillvalue=1)):
        if pads is not None and extent % pad:
            yield Problem(
                ARK_TENSOR, "Pads", f"dimension {n} has the extent {extent}, which is not a multiple of {pad}"
            )
        elif pad != 1 and pads is not None:
            yield Problem(ARK_PADS, "Pads", f"dimension {n} has the pad {pad}, which means nothing")


_PLAIN = {element: name for name, element in list(DATA_TYPES.items())[::-1]}
"""The default data type name of each element type: the first."""
_VIEW_FIELDS = (
    "data_type", "buffer", "buffer_rank", "send_tags", "recv_tags", "strides", "offsets", "padded_shape", "pads",
)  # fmt: skip


def _view_text(op: HoldsView) -> str:
    """Returns the text of a tensor's view; defaults are left out."""
    shape = dims_of(op.result_)
    words = [
        f"buffer {op.buffer}",
        "" if op.buffer_rank == LOCAL else f"rank {op.buffer_rank}",
        "" if _PLAIN.get(element_of(op.result_)) == op.data_type else f"as {quoted(op.data_type)}",
        f"at {numbers_text(op.offsets)}" if any(op.offsets) or len(op.offsets) != len(shape) else "",
        "" if op.strides == shape else f"in {numbers_text(op.strides)}",
        *_padding_text(op, shape),
        f"sent {lists_text(op.send_tags)}" if op.send_tags else "",
        f"received {lists_text(op.recv_tags)}" if op.recv_tags else "",
    ]
    return f" {' '.join(filter(None, words))}"


def _padding_text(op: HoldsView, shape: tuple[int, ...]) -> Iterator[str]:
    """Padding that is not plain: no `PaddedShape` or another one than the shape, `Pads`, by default all of them one."""
    padded, pads = op.padded_shape, op.pads
    if pads is not None:
        yield "pads" if pads == (1,) * len(shape) else f"pads {numbers_text(pads)}"
    elif padded is None:
        yield "unpadded"
    if padded is not None and (padded != shape or pads is not None):
        yield f"padded {numbers_text(padded)}"


def _read_view(reader: FormReader) -> dict[str, object]:
    """Reads the text that `_view_text` writes; fields that follow from the tensor's type are missing."""
    reader.expect("buffer")
    arguments: dict[str, object] = {"buffer": reader.integer()}
    arguments["buffer_rank"] = reader.integer() if reader.take("rank") else LOCAL
    if reader.take("as"):
        arguments["data_type"] = reader.string()
    for word, name in (("at", "offsets"), ("in", "strides")):
        if reader.take(word):
            arguments[name] = read_numbers(reader)
    if reader.take("pads"):
        arguments["padded_shape"] = None
        arguments["pads"] = read_numbers(reader) if reader.at("[") else ()
    elif reader.take("unpadded"):
        arguments["padded_shape"] = None
    if reader.take("padded"):
        arguments["padded_shape"] = read_numbers(reader)
    for word, name in (("sent", "send_tags"), ("received", "recv_tags")):
        arguments[name] = read_lists(reader) if reader.take(word) else ()
    return arguments


def _view_of_type(reader: FormReader, arguments: Mapping[str, object], type: Type) -> dict[str, object]:
    """Returns the fields of a view, with those that follow from the tensor's type."""
    shape = shape_of(Value(type))
    if shape is None or not isinstance(type, TensorType) or type.element not in _PLAIN:
        reader.fail(f"expected a tensor of known shape and of a data type of ARK, found {type}")
    plain: dict[str, object] = {
        "strides": shape,
        "padded_shape": shape,
        "offsets": (0,) * len(shape),
        "data_type": _PLAIN[type.element],
    }
    # Without numbers, they are all one.
    pads = {"pads": (1,) * len(shape)} if arguments.get("pads") == () else {}
    return {**plain, **arguments, **pads}


class _ViewForm:
    """The text of an operation that declares where a tensor is stored, and what it is a view of."""

    def read(self, reader: FormReader) -> FormTask:
        definition = reader.definition
        arguments: dict[str, object] = {}
        tensors = Tensors([], [])
        if issubclass(definition, VirtualOp):
            tensors = read_operands(reader, definition)
            arguments |= read_labels(reader, NO_ID)
        else:
            arguments["tensor_id"] = reader.integer()
        arguments |= _read_view(reader)
        extra = reader.dictionary()
        reader.expect(":")
        type = reader.type()
        if issubclass(definition, VirtualOp):
            arguments |= definition.shared(*tensors.resolved(reader))
        return reader.make(_view_of_type(reader, arguments, type), [type], extra)
        yield  # makes it a generator, as forms with regions are

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        if not isinstance(op, HoldsView) or shape_of(op.result_) is None or element_of(op.result_) not in _PLAIN:
            writer.refuse()
        if op.pads == ():
            writer.refuse()
        match op:
            case VirtualOp():
                write_operands(writer, op.inputs, op.written)
                writer.write(labels_text(op.node, op.op_name, op.result_id))
            case Tensor():
                writer.write(f" {op.tensor_id}")
            case _:
                writer.refuse()
        writer.write(_view_text(op))
        writer.write(writer.dictionary((*_VIEW_FIELDS, "tensor_id", "node", "op_name", "result_id")))
        writer.write(f" : {writer.type(op.result_.type)}{written_types(writer, op.operands)}")


class HoldsView(MlirOp, traits=(traits.Declares,)):
    """Base of the operations that declare where a tensor is stored: its buffer, and its part of that."""

    custom_form: ClassVar[CustomForm | None] = _ViewForm()

    data_type: str = attribute(attr_types.string, check=one_of(*DATA_TYPES), doc="the name of its data type in files")
    buffer: int = attribute(attr_types.integer, doc="the id of its buffer")
    buffer_rank: int = attribute(attr_types.integer, doc="the rank of the buffer; -1 is the rank of the file")
    send_tags: tuple[tuple[int, int], ...] = attribute(
        attr_types.pairs, doc="ranks and tags to which the buffer is sent"
    )
    recv_tags: tuple[tuple[int, int], ...] = attribute(attr_types.pairs, doc="ranks and tags from which it is received")
    strides: tuple[int, ...] = attribute(
        attr_types.integers, doc="extents of the array in the buffer that it is a part of"
    )
    offsets: tuple[int, ...] = attribute(attr_types.integers, doc="its offsets in that array")
    padded_shape: tuple[int, ...] | None = attribute(attr_types.integers, default=None, doc="its padded shape; not v1")
    pads: tuple[int, ...] | None = attribute(attr_types.integers, default=None, doc="pads of generation v1")
    is_external: bool | None = attribute(attr_types.flag, default=None, doc="`IsExternal` of the buffer; v4 only")
    content: Data | None = attribute(attr_types.data, default=None, doc="its initial contents, from a separate file")
    result_: Value = result(AnyTensor)

    def is_local(self, rank: int) -> bool:
        """Returns whether its buffer lies on the rank of the file, of which this is the number."""
        return self.buffer_rank in (LOCAL, rank)

    @property
    def view(self) -> View:
        """The part of its buffer that the tensor is. Raises: TypeError when it is of no known shape."""
        shape = dims_of(self.result_)
        return View(self.buffer, element_of(self.result_), shape, self.strides, self.offsets)

    @property
    def is_placed(self) -> bool:
        """Returns whether it says a part of a buffer: its shape is known, and there is a number for each dimension."""
        shape = shape_of(self.result_)
        return shape is not None and len(self.strides) == len(self.offsets) == len(shape) > 0

    def view_findings(self) -> Iterator[Diagnostic]:
        """Yields the faults of the view."""
        shape = shape_of(self.result_)
        if shape is None:
            yield Diagnostic(ARK_TENSOR, f"{self.name}: must be a tensor of known shape, found {self.result_.type}")
            return
        element = DATA_TYPES.get(self.data_type)
        if element is None:
            return
        if element is not element_of(self.result_):
            message = f"{self.name}: elements of {self.data_type} are {element}, found {self.result_.type}"
            yield Diagnostic(ARK_TENSOR, message)
        buffer = self.content
        if buffer is not None and (buffer.shape != shape or buffer.element is not element):
            yield Diagnostic(ARK_TENSOR, f"{self.name}: {self.result_.type} cannot hold the contents of {buffer.type}")
        padded = self.padded_shape
        given = (shape, self.strides, self.offsets, padded, self.pads, element.bits // 8)
        for code, field, message, help in view_problems(*given):
            yield Diagnostic(code, f"{self.name}: '{field}': {message}", help=help)
        if self.buffer < 0:
            yield Diagnostic(ARK_RANGE, f"{self.name}: the number of a buffer must be at least 0, found {self.buffer}")
        if self.buffer_rank < LOCAL:
            yield Diagnostic(ARK_RANGE, f"{self.name}: the rank of a buffer is at least -1, found {self.buffer_rank}")


class _Numbered(MlirOp):
    tensor_id: int = attribute(attr_types.integer, doc="the id of the tensor")


class Tensor(HoldsView, _Numbered, name="ark.tensor", traits=(traits.Pure,)):
    """A tensor that no operation computes: an input, a destination, a buffer of another rank, or another view of a
    buffer. Its elements are the contents of its buffer at that point.
    """

    @property
    def source_name(self) -> str:
        # Its location is a place in the file, and no name of a node.
        return ""

    def verify(self) -> Iterator[Diagnostic]:
        if self.tensor_id < 0:
            message = f"{self.name}: the number of a tensor must be at least 0, found {self.tensor_id}"
            yield Diagnostic(ARK_RANGE, message)
        yield from self.view_findings()


class VirtualOp(HoldsView, ArkOp):
    """Base of the operations that only return a view."""

    writes = ("written",)
    is_virtual = True

    inputs: tuple[Value, ...] = operand(
        AnyTensor, variadic=True, default=(), doc="the tensor that it is a view of, or comes after"
    )
    written: tuple[Value, ...] = operand(AnyTensor, variadic=True, default=(), doc="tensors declared as written")

    def infer_results(self) -> tuple[Type, ...] | None:
        return None

    @property
    def aliased(self) -> Value | None:
        return None

    def broken_rules(self) -> Iterator[Diagnostic]:
        yield from self.view_findings()


class VirtualTensor(VirtualOp, name="ark.Tensor"):
    """A view of a buffer, in uncompressed files: an input, a parameter, or a tensor in another shape."""


class Placeholder(VirtualOp, name="ark.Placeholder"):
    """An input in external memory."""

    first_generation = V4


def view_of(value: Value) -> HoldsView | None:
    """The operation that says where a tensor lies; None for a value that is not a tensor of a file."""
    at: Value | None = value
    while at is not None:
        owner = at.owner
        if isinstance(owner, HoldsView):
            return owner
        at = owner.aliased if isinstance(owner, ArkOp) else None
    return None


def _answers(producers: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Returns the successors of each node in ascending order, computed from the predecessors."""
    out: list[list[int]] = [[] for _ in producers]
    for node, befores in enumerate(producers):
        for before in dict.fromkeys(befores):
            if 0 <= before < len(out):
                out[before].append(node)
    return tuple(map(tuple, out))


class _RankForm:
    """`@rank0 0 of 2 "v3" { operations } after [[], [0]]`: for each node its predecessors. Its successors follow from
    these, unless `before` declares them; ids are the places of nodes, unless `ids` declares others.
    """

    def read(self, reader: FormReader) -> FormTask:
        arguments: dict[str, object] = {"sym_name": reader.symbol(), "rank": reader.integer()}
        reader.expect("of")
        arguments |= {"world_size": reader.integer(), "generation": reader.string()}
        attributes = reader.dictionary("attributes")
        body = yield reader.region()
        if not body.blocks:
            body.add(Block())
        producers = read_lists(reader) if reader.take("after") else ()
        consumers = read_lists(reader) if reader.take("before") else _answers(producers)
        node_ids = read_numbers(reader) if reader.take("ids") else ()
        arguments |= {"producers": producers, "consumers": consumers, "node_ids": node_ids, "content": body}
        return reader.make(arguments, (), attributes)

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        if not isinstance(op, Rank):
            writer.refuse()
        writer.write(f" {writer.symbol(op.sym_name)} {op.rank} of {op.world_size} {quoted(op.generation)}")
        hidden = ("sym_name", "rank", "world_size", "generation", "producers", "consumers", "node_ids")
        writer.write(f"{writer.dictionary(hidden, 'attributes')} ")
        writer.region(op.content)
        if writer.is_partial:
            return
        if op.producers:
            writer.write(f" after {lists_text(op.producers)}")
        if op.consumers != _answers(op.producers):
            writer.write(f" before {lists_text(op.consumers)}")
        if op.node_ids:
            writer.write(f" ids {numbers_text(op.node_ids)}")


class Rank(Op, Function, name="ark.rank", traits=(traits.IsolatedFromAbove, traits.SymbolTrait, traits.SingleBlock)):
    """The program of one rank: one model file. Its operations are in the order of the file, in which they run, each
    after the tensors that it mentions first.
    """

    on_memory = True
    default_dialect = "ark"
    custom_form: ClassVar[CustomForm | None] = _RankForm()

    sym_name: str = attribute(attr_types.symbol_name, doc="`rank` and its index")
    rank: int = attribute(attr_types.integer, doc="its index")
    world_size: int = attribute(attr_types.integer, doc="the number of ranks")
    generation: str = attribute(
        attr_types.string, check=one_of("", *GENERATIONS), doc="the generation of the file; empty when it has no nodes"
    )
    producers: tuple[tuple[int, ...], ...] = attribute(id_lists, doc="the predecessors of each node")
    consumers: tuple[tuple[int, ...], ...] = attribute(id_lists, doc="the successors of each node")
    content: Region = region(doc="the operations")
    node_ids: tuple[int, ...] = attribute(
        attr_types.integers, default=(), doc="the ids of nodes in the file; empty where they are the places of nodes"
    )

    def node_id(self, place: int) -> int:
        """Returns the id of the node at a place, by which messages call it."""
        return self.node_ids[place] if 0 <= place < len(self.node_ids) else place

    @property
    def symbol_name(self) -> str:
        return self.sym_name

    @property
    def body(self) -> Block:
        return self.content.block

    @property
    def inputs(self) -> NamedValues:
        return NamedValues([v for v in self.initial if not _has_content(v)])

    @property
    def views(self) -> dict[Value, HoldsView]:
        """Returns the views of tensors that have one, in program order."""
        result: dict[Value, HoldsView] = {}
        for op in self.body.operations:
            if isinstance(op, HoldsView):
                if not op.is_placed:
                    continue
                result[op.result_] = op
            elif isinstance(op, ArkOp) and op.results and (aliased := op.aliased) is not None and aliased in result:
                result[op.results[0]] = result[aliased]
        return result

    @property
    def is_placed(self) -> bool:
        """Returns whether all tensors that operations mention say where they lie."""
        views = self.views
        return all(value in views for op in self.body.operations for value in (*op.operands, *op.results))

    @property
    def initial(self) -> tuple[Value, ...]:
        """The tensors of local buffers that are read before anything fills them: inputs, and those of known content.

        Of each buffer the tensor that is read first, or what that is a view of, and others as far as that has not all
        of them: parts of one weight are inputs of their own.
        """
        return tuple([value for values in self._read_first().values() for value in values])

    @property
    def initial_names(self) -> dict[Value, str]:
        """The tensors of `initial` and their names as inputs, of which no two are equal."""
        initial = self.initial
        return dict(zip(initial, distinct_names([port_name(v) for v in initial], "arg"), strict=True))

    def _read_first(self) -> dict[int, list[Value]]:
        """The largest tensors that are read of what buffers hold at first, by the number of the buffer."""
        held = self.views
        views = {holder: holder.view for holder in dict.fromkeys(held.values())}
        read: dict[int, _Largest] = {}
        filled: dict[int, Views] = {}
        for op in self.body.operations:
            if not isinstance(op, ArkOp) or op.is_virtual:
                continue
            for holder in [held[v] for v in op.read_tensors if v in held]:
                view = views[holder]
                known = filled.get(view.buffer)
                if (known and view.buffer not in read) or not holder.is_local(self.rank) or holder.recv_tags:
                    continue
                if known is None or not (view in known or any(contains(other, view) for other in known.near(view))):
                    source = _source_of(holder.result_)
                    read.setdefault(view.buffer, _Largest()).add(source, views[held[source]])
            for holder in [held[v] for v in op.written_tensors if v in held]:
                filled.setdefault(views[holder].buffer, Views()).add(views[holder])
        # Unchanged inputs: only virtual operations read them.
        for value in self.outputs:
            source = _source_of(value)
            if source is not value and (buffer := held[value].buffer) not in filled:
                read.setdefault(buffer, _Largest()).add(source, views[held[source]])
        return {buffer: largest.values for buffer, largest in read.items()}

    @property
    def outputs(self) -> NamedValues:
        """The tensors that operations leave in local buffers: nothing reads or overwrites them later."""
        held, found = self.views, list[Value]()
        views = {holder: holder.view for holder in dict.fromkeys(held.values())}
        read: defaultdict[int, Views] = defaultdict(Views)
        written: defaultdict[int, Views] = defaultdict(Views)
        for op in reversed([op for op in self.body.operations if isinstance(op, ArkOp)]):
            result = op.results[0] if op.results else None
            if result is not None and self._is_left(op, result, held):
                view = views[held[result]]
                is_read = any(overlap(other, view) for other in read[view.buffer].near(view))
                if not is_read and not any(contains(other, view) for other in written[view.buffer].near(view)):
                    found.append(result)
            if not op.is_virtual and (op.results or op.written_tensors):
                for values, into in ((op.read_tensors, read), (op.written_tensors, written)):
                    for holder in [held[v] for v in values if v in held]:
                        into[views[holder].buffer].add(views[holder])
        return NamedValues(reversed(found), lambda: self.output_names)

    def _is_left(self, op: ArkOp, result: Value, values: Mapping[Value, HoldsView]) -> bool:
        """Returns whether a result is of a local buffer, and no operation that gives something mentions it."""
        # What a virtual operation makes of nothing is only said to be there.
        is_made = bool(op.operands) or not op.is_virtual
        is_local = result in values and values[result].is_local(self.rank)
        return is_made and is_local and not any(user.results for user in result.users)

    @property
    def output_names(self) -> tuple[str, ...]:
        return distinct_names([port_name(v) for v in self.outputs], "result")

    def infer(self) -> tuple[Type, ...]:
        return ()

    def verify(self) -> Iterator[Diagnostic]:
        if self.world_size < 1 or not 0 <= self.rank < self.world_size:
            yield Diagnostic(ARK_RANGE, f"{self.name}: rank {self.rank} of {self.world_size} ranks does not exist")
        if self.node_ids and not len(set(self.node_ids)) == len(self.node_ids) == len(self.producers):
            count = plural(len(self.producers), "node")
            yield Diagnostic(ARK_RANGE, f"{self.name}: expected different ids of {count}, found {list(self.node_ids)}")
        if not self.content.blocks:
            yield Diagnostic(MALFORMED_REGION, f"{self.name}: expected a block with what runs, found none")
            return
        for op in self.body.operations:
            if not isinstance(op, ArkOp | Tensor):
                yield Diagnostic(ARK_TENSOR, f"{self.name}: {op.name} is not an operation of ARK")


def rank_of(op: Operation) -> Rank | None:
    """The rank that an operation stands in."""
    holder = op.parent_op
    return holder if isinstance(holder, Rank) else None


def node_id_of(op: ArkOp) -> int:
    """Returns the id of the node of an operation, by which messages call it."""
    holder = rank_of(op)
    return op.node if holder is None else holder.node_id(op.node)


def _source_of(value: Value) -> Value:
    """Returns the tensor of the same buffer that a tensor views, as far as virtual operations say."""
    at = value
    while isinstance(view := at.owner, VirtualOp):
        result = [v for v in view.inputs if (of := view_of(v)) is not None and of.buffer == view.buffer]
        if not result:
            break
        at = result[0]
    return at


class _Largest:
    """Tensors of one buffer, without those that another one contains."""

    def __init__(self) -> None:
        self._found: dict[View, Value] = {}
        self._views = Views()

    @property
    def values(self) -> list[Value]:
        """The tensors, in the order in which they came."""
        return list(self._found.values())

    def add(self, value: Value, view: View) -> None:
        """Adds a tensor, unless another one has all of it; those that it has all of go."""
        near = self._views.near(view)
        if view in self._views or any(contains(other, view) for other in near):
            return
        for other in [other for other in near if contains(view, other)]:
            self._views.remove(other)
            del self._found[other]
        self._views.add(view)
        self._found[view] = value


def _has_content(value: Value) -> bool:
    view = view_of(value)
    return view is not None and view.content is not None


def port_name(value: Value) -> str:
    """The name of an input or output: that of the virtual operation that gives it, else `t` and its number."""
    match value.owner:
        case VirtualOp(op_name=name) if name:
            return name
        case ArkOp(result_id=number) | Tensor(tensor_id=number):
            return f"t{number}"
        case _:
            return value.name
