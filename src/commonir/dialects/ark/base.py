"""Base classes of the operations of the ark dialect: data types, argument types, and the tensors read and written.

Source: ARK model files, generations v1 to v4.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import ClassVar, TypeVar

from commonir.base.codes import VIOLATED_CONSTRAINT
from commonir.base.diagnostics import Diagnostic
from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.dialects.ark.forms import labels_text, read_labels, read_types, write_operands, written_types
from commonir.ir.attributes import BoolAttr, DenseArrayAttr, FloatAttr, IntegerAttr
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, Type, bf16, f16, f32, f64, i8, i32, i64, integer_type, u8, u32
from commonir.ods import MlirOp, attr_types, attribute
from commonir.ods.attr_types import AttrType
from commonir.ods.fields import Field
from commonir.ods.text_form import CustomForm, FormReader, FormTask, FormWriter, Use
from commonir.ods.type_constraints import AnyRankedTensor

T = TypeVar("T")
Tags = tuple[tuple[int, int], ...]

GENERATIONS = V1, V2, V3, V4 = ("v1", "v2", "v3", "v4")
MERGING_GENERATIONS = (V1, V2)
"""The generations whose nodes may have several operations; a node of the others has one."""
MAX_RANK = 4
NO_ID = -1
"""The result of an operation that has none."""
LOCAL = -1
"""The rank of a buffer on the rank of the file; in tags, that rank itself."""
BUFFER_FIELDS = ("Rank", "SendTags", "RecvTags", "IsExternal")
"""The fields of a buffer that every mention of it repeats."""

DATA_TYPES: Mapping[str, ElementType] = {
    "FP32": f32,
    "FP16": f16,
    "BF16": bf16,
    "INT32": i32,
    "UINT32": u32,
    "INT8": i8,
    "UINT8": u8,
    "BYTE": u8,
}
"""Element types by their names in files."""

AnyTensor = AnyRankedTensor


def buffer_content(
    own: int, rank: int, send_tags: Tags, recv_tags: Tags, is_external: bool | None
) -> tuple[object, ...]:
    """Returns the `BUFFER_FIELDS` with `LOCAL` for the number of the rank of the file, `own`, which means the same."""

    def relative(number: int) -> int:
        return LOCAL if number == own else number

    sent, received = (tuple([(relative(n), tag) for n, tag in tags]) for tags in (send_tags, recv_tags))
    return relative(rank), sent, received, is_external


def _whole(name: str, element: ElementType, low: int, high: int) -> AttrType[int]:
    def coerce(value: object) -> int:
        number = attr_types.to_integer(value)
        if not low <= number <= high:
            raise ValueError(f"expected a number between {low} and {high}, found {number}")
        return number

    return AttrType(
        name, coerce, lambda v: IntegerAttr(v, element), lambda a: coerce(attr_types.integer.from_attribute(a))
    )


def _to_dims(value: object) -> tuple[int, ...]:
    result = attr_types.integers.coerce(value)
    if len(result) > MAX_RANK:
        raise ValueError(f"expected at most {MAX_RANK} numbers, found {len(result)}")
    return result


INT = _whole("INT", i32, -(1 << 31), (1 << 31) - 1)
UINT32 = _whole("UINT32", u32, 0, (1 << 32) - 1)
INT64 = _whole("INT64", i64, -(1 << 63), (1 << 63) - 1)
UINT64 = _whole("UINT64", integer_type(64, "unsigned"), 0, (1 << 64) - 1)
BOOL: AttrType[bool] = AttrType("BOOL", attr_types.flag.coerce, BoolAttr, attr_types.flag.from_attribute)


def _to_single(value: object) -> float:
    number = attr_types.to_number(value)
    try:
        struct.pack("<f", number)
    except OverflowError:
        raise ValueError(f"expected a number of single precision, between -3.4e38 and 3.4e38, found {value}") from None
    return number


FLOAT: AttrType[float] = AttrType(
    "FLOAT", _to_single, lambda v: FloatAttr(v, f64), lambda a: _to_single(attr_types.number.from_attribute(a))
)
"""A single-precision number; files store it in double precision."""
DIMS: AttrType[tuple[int, ...]] = AttrType(
    "DIMS", _to_dims, lambda v: DenseArrayAttr(i64, v), lambda a: _to_dims(attr_types.integers.from_attribute(a))
)

ARGUMENTS: Mapping[str, AttrType[int] | AttrType[bool] | AttrType[float] | AttrType[tuple[int, ...]]] = {
    kind.name: kind for kind in (INT, UINT32, INT64, UINT64, BOOL, FLOAT, DIMS)
}
"""The kinds of arguments that operations have, by their names in files."""
OTHER_ARGUMENTS = ("TENSOR", "OFFSET")
"""Argument types of the format that no operation has."""


class Tensors(NamedTuple):
    """The tensors that a text lists as read and written, before their types are known."""

    reads: list[Use]
    writes: list[Use]

    def resolved(self, reader: FormReader) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
        """The tensors; their types come next in the text."""
        uses = [*self.reads, *self.writes]
        values = reader.resolve_all(uses, read_types(reader, len(uses)))
        return values[: len(self.reads)], values[len(self.reads) :]


def read_operands(reader: FormReader, definition: type[ArkOp]) -> Tensors:
    """Reads what an operation reads and writes, as many tensors as it takes."""
    result = Tensors(reader.uses(), reader.uses() if reader.take("into") else [])
    for what, uses, is_written in (("read", result.reads, False), ("written", result.writes, True)):
        fields = [f for f in definition.layout.inputs if (f.name in definition.writes) is is_written]
        least = sum(not f.variadic for f in fields)
        if len(uses) < least or (len(uses) > least and least == len(fields)):
            reader.fail(f"expected {least} tensors that are {what}, found {len(uses)}")
    return result


class _OpForm:
    """The text of an operation. Results with other types than the written tensors need the generic form."""

    def read(self, reader: FormReader) -> FormTask:
        definition = reader.definition
        assert issubclass(definition, ArkOp)
        tensors = read_operands(reader, definition)
        labels = read_labels(reader, NO_ID)
        extra = reader.dictionary()
        reads, writes = tensors.resolved(reader)
        results = [value.type for value in (writes or reads)[:1]] if reader.result_count else []
        return reader.make({**definition.shared(reads, writes), **labels}, results, extra)
        yield  # makes it a generator, as forms with regions are

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        if not isinstance(op, ArkOp):
            writer.refuse()
        reads, writes = op.read_tensors, op.written_tensors
        given = [value.type for value in (writes or reads)[:1]]
        if [value.type for value in op.results] not in ([], given) or bool(op.results) is (op.result_id == NO_ID):
            writer.refuse()
        write_operands(writer, reads, writes)
        writer.write(labels_text(op.node, op.op_name, op.result_id if op.results else None))
        writer.write(writer.dictionary(("node", "op_name", "result_id")))
        writer.write(written_types(writer, op.operands))


class ArkOp(MlirOp):
    """Base of the operations of files.

    Operands are tensors, views of buffers: those named in `writes` are written, the others are read. The result is the
    first written tensor, after the operation.
    """

    writes: ClassVar[tuple[str, ...]] = ("output",)
    """The operands that are written, in the order of the file."""
    is_virtual: ClassVar[bool] = False
    """Whether it computes nothing."""
    first_generation: ClassVar[str] = V1
    """The generation of files that introduced it."""
    v1_arguments: ClassVar[frozenset[str]] = frozenset()
    """Arguments of generation v1 only, which follow from the tensors."""

    custom_form: ClassVar[CustomForm | None] = _OpForm()

    node: int = attribute(attr_types.integer, doc="the place of its node among all nodes")
    op_name: str = attribute(attr_types.string, doc="its name, which need not be unique")
    result_id: int = attribute(attr_types.integer, doc="the id of the tensor that it returns; -1 for none")

    @property
    def source_name(self) -> str:
        return self.op_name

    def infer_results(self) -> tuple[Type, ...] | None:
        aliased = self.aliased
        return () if aliased is None else (aliased.type,)

    @property
    def read_tensors(self) -> tuple[Value, ...]:
        """The tensors that are read, in the order of the file."""
        return self._operands_of(written=False)

    @property
    def written_tensors(self) -> tuple[Value, ...]:
        """The tensors that are written, in the order of the file."""
        return self._operands_of(written=True)

    def _operands_of(self, *, written: bool) -> tuple[Value, ...]:
        places, operands = _places_of(type(self), written), self.operands
        if places is not None and len(operands) == len(self.layout.inputs):
            return tuple([operands[n] for n in places])
        out: list[Value] = []
        at = 0
        for field, size in zip(self.layout.inputs, self.segment_sizes, strict=False):
            if (field.name in self.writes) is written:
                out += self.operands[at : at + size]
            at += size
        return tuple(out)

    @classmethod
    def shared(cls, reads: Sequence[T], writes: Sequence[T]) -> dict[str, T | tuple[T, ...]]:
        """Tensors that are read, and those that are written, by the fields that they are for."""
        inputs = cls.layout.inputs
        read = [f for f in inputs if f.name not in cls.writes]
        return {**_shared(read, reads), **_shared([f for f in inputs if f.name in cls.writes], writes)}

    @property
    def aliased(self) -> Value | None:
        """The tensor of which the result is a later state: same buffer, same view."""
        written = self.written_tensors
        return written[0] if written else None

    @property
    def written_shape(self) -> tuple[int, ...] | None:
        """Returns the shape of the written tensor by the rules; None if the operands do not determine it."""
        return None

    def broken(self, label: str, message: str) -> Diagnostic:
        """A finding about a rule of the definition."""
        return Diagnostic(VIOLATED_CONSTRAINT, f"{self.name}: {label}: {message}")

    def verify(self) -> Iterator[Diagnostic]:
        for n, value in enumerate(self.operands):
            if shape_of(value) is None:
                yield self.broken("C0", f"operand {n} must be a tensor of known shape, found {value.type}")
                return
        yield from self.broken_rules()

    def broken_rules(self) -> Iterator[Diagnostic]:
        """Yields diagnostics of what contradicts the rules of the definition; all operands are tensors of known
        shape.
        """
        return iter(())


def _shared(fields: Sequence[Field], values: Sequence[T]) -> dict[str, T | tuple[T, ...]]:
    """Values by the fields that they are for: one for each, what is left for a variadic one."""
    out: dict[str, T | tuple[T, ...]] = {}
    at = 0
    for n, field in enumerate(fields):
        if field.variadic:
            stop = len(values) - sum(not f.variadic for f in fields[n + 1 :])
            out[field.name] = tuple(values[at:stop])
            at = stop
        else:
            out[field.name] = values[at]
            at += 1
    return out


@cache
def _places_of(definition: type[ArkOp], written: bool) -> tuple[int, ...] | None:
    """The places of operands that are read or written; None where there may be more than one for a field."""
    inputs = definition.layout.inputs
    if any(field.variadic for field in inputs):
        return None
    return tuple([n for n, field in enumerate(inputs) if (field.name in definition.writes) is written])


def shape_of(value: Value) -> tuple[int, ...] | None:
    """The sizes of a tensor; None for what is none, or not of known shape."""
    type = value.type
    if not isinstance(type, TensorType) or type.shape is None:
        return None
    sizes = tuple([d for d in type.shape if isinstance(d, int)])
    return sizes if len(sizes) == len(type.shape) else None


def dims_of(value: Value) -> tuple[int, ...]:
    """The sizes of a tensor of known shape. Raises: TypeError for another."""
    result = shape_of(value)
    if result is None:
        raise TypeError(f"expected a tensor of known shape, found {value.type}")
    return result


def element_of(value: Value) -> ElementType:
    """The element type of a tensor."""
    return core.as_tensor(value.type).element


def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape that others have together by the rules of numpy; None when they do not fit."""
    rank = max(map(len, shapes))
    out = [1] * rank
    for shape in shapes:
        for n, size in enumerate(shape, rank - len(shape)):
            if size != 1 and out[n] not in (1, size):
                return None
            out[n] = size if size != 1 else out[n]
    return tuple(out)


def widened(value: Value) -> Value:
    """A tensor in the type in which ARK's numbers are computed: half precision in single precision."""
    return core.cast(value, f32) if element_of(value) in (f16, bf16) else value


def stored(computed: Value, output: Value) -> Value:
    """A computed tensor as it is written: rounded once, and repeated where what is written is larger."""
    element = element_of(output)
    rounded = computed if element_of(computed) is element else core.cast(computed, element)
    shape = dims_of(output)
    return rounded if dims_of(rounded) == shape else core.broadcast_to(rounded, shape)
