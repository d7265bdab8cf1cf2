"""Constants of a program: from messages to data, checked against their types, and back.

A constant of a weight file stays one (`BlobData`), and one inside the program stays there (`ImmediateData`). Others go
where coremltools would put them.

Limits: `Limits.max_immediate_elements` for a constant inside the program; for others, the size of the weight file.
Source: MIL specification, Values.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from commonir.base.codes import OUTPUT_TOO_LARGE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import LIMIT_EXCEEDED, MALFORMED_VALUE
from commonir.base.limits import DEFAULT_LIMITS, Limits
from commonir.base.text import plural
from commonir.base.tuples import NamedTuple
from commonir.dialects.mil.program import Compound
from commonir.formats.coreml.blobs import BLOB_CODES, BlobData, WeightFiles
from commonir.formats.coreml.types import MIL_NAMES, DecodedType, TypeDecoder, TypeEncoder
from commonir.formats.protobuf.wire import length_delimited
from commonir.ir.data import Data, InlineData, TextData, data_of
from commonir.ir.types import (
    ElementType,
    ListType,
    MapType,
    TensorType,
    TupleType,
    Type,
    boolean,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    string,
    tensors_in,
    u8,
    u16,
    u64,
)
from commonir.ods import are_compatible
from commonir.symbolic.errors import OutOfRangeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonir.formats.coreml.messages import (
        BlobFileValueMessage,
        ImmediateValueMessage,
        NumbersMessage,
        TensorValueField,
        TensorValueMessage,
        ValueMessage,
    )

FIELDS: Mapping[ElementType, TensorValueField] = MappingProxyType(
    {
        f32: "floats",
        i16: "ints",
        u16: "ints",
        i32: "ints",
        i64: "longInts",
        u64: "longInts",
        boolean: "bools",
        string: "strings",
        f64: "doubles",
    }
)
"""The field of `TensorValue` that holds elements of a type. All others are in `bytes`, little-endian and packed."""
PACKED: TensorValueField = "bytes"
_VALUES = 1

_U64_RANGE = 2**64
_I64_LIMIT = 2**63

# Programs have many equal constants of at most so many elements.
_SMALL_ELEMENTS = 8
# From this number of elements on, a constant is kept in a weight file if its element type allows.
_BLOB_ELEMENTS = 10
# What weight files may hold before version 9 of the specification.
_EARLY_BLOB_TYPES = frozenset({f16, f32, u8, i8})
_SUBBYTE_SINCE = 9


class ImmediateData(InlineData):
    """A constant that its file keeps inside the program although it might be in a weight file."""

    __slots__ = ()


class ValueDecoder:
    """Decodes the constants of one program. Small ones that are equal are one object."""

    __slots__ = ("_limits", "_small", "_types", "_weights")

    def __init__(self, types: TypeDecoder, weights: WeightFiles, limits: Limits) -> None:
        self._types = types
        self._weights = weights
        self._limits = limits
        self._small: dict[tuple[Type, bytes], Data | Compound] = {}

    def decode(self, message: ValueMessage, decoded: DecodedType) -> Data | Compound:
        """The constant of a message whose type is decoded.

        Raises: MALFORMED_VALUE, the faults of the type, MALFORMED_WEIGHTS, LIMIT_EXCEEDED; UnusableWeightsError.
        """
        if decoded.faults:
            raise DiagnosticError(*decoded.faults)
        match message.WhichOneof("value"):
            case "immediateValue":
                content = message.immediateValue
                if decoded.element_count is None or decoded.element_count > _SMALL_ELEMENTS:
                    return self._immediate(content, decoded)
                key = decoded.type, content.SerializeToString()
                result = self._small.get(key)
                if result is None:
                    result = self._small[key] = self._immediate(content, decoded)
                return result
            case "blobFileValue":
                blob = message.blobFileValue
                if not isinstance(decoded.type, TensorType):
                    raise _fault(f"a constant in a weight file must be a tensor, but {decoded.type} is declared")
                _known_count(decoded)
                return self._weights.data(blob.fileName, blob.offset, decoded.type)
            case _ if isinstance(decoded.type, ListType) and decoded.type.length == 0:
                return Compound(decoded.type, ())  # as coremltools writes a list of nothing
            case _:
                raise _fault(f"the constant of type {decoded.type} has no value")

    def _immediate(self, message: ImmediateValueMessage, decoded: DecodedType) -> Data | Compound:
        if not all(t.is_static for t in tensors_in(decoded.type)):
            raise _unknown_shape(decoded.type)
        match message.WhichOneof("value"), decoded.type:
            case "tensor", TensorType() as kind:
                return self._tensor(message.tensor, kind, _known_count(decoded))
            case "list", ListType() as kind:
                values = message.list.values
                if kind.length is not None and kind.length != len(values):
                    raise _fault(f"{kind} is declared, but the list has {plural(len(values), 'value')}")
                return Compound(kind, self._nested(values, (kind.element,) * len(values)))
            case "tuple", TupleType() as kind:
                values = message.tuple.values
                if len(values) != len(kind.elements):
                    raise _fault(f"{kind} is declared, but the tuple has {plural(len(values), 'value')}")
                return Compound(kind, self._nested(values, kind.elements))
            case "dictionary", MapType() as kind:
                pairs = message.dictionary.values
                keys = [pair.key.SerializeToString() for pair in pairs]
                if len(set(keys)) < len(keys):
                    first, second = next((keys.index(k), n) for n, k in enumerate(keys) if k in keys[:n])
                    raise _fault(f"entries {first} and {second} of the dictionary have one key")
                flat = [part for pair in pairs for part in (pair.key, pair.value)]
                return Compound(kind, self._nested(flat, (kind.key, kind.value) * len(pairs)))
            case unexpected, kind:
                raise _fault(f"{kind} is declared, but the constant is {f'a {unexpected}' if unexpected else 'empty'}")

    def _nested(self, messages: Sequence[ValueMessage], kinds: tuple[Type, ...]) -> list[Data | Compound]:
        out: list[Data | Compound] = []
        for n, (message, kind) in enumerate(zip(messages, kinds, strict=True)):
            value = self.decode(message, self._types.decode(message.type))
            if not are_compatible(kind, value.type):
                raise _fault(f"value {n} must be {kind}, found {value.type}")
            out.append(value)
        return out

    def _tensor(self, message: TensorValueMessage, type: TensorType, count: int) -> Data:
        element = type.element
        expected = FIELDS.get(element, PACKED)
        result = message.WhichOneof("value")
        if result != expected:
            name = MIL_NAMES[element]
            raise _fault(f"elements of type {name} must be in the field '{expected}', found '{result or 'none'}'")
        if count > self._limits.max_immediate_elements:
            limit = self._limits.max_immediate_elements
            text = f"a constant of {count:,} elements inside the program exceeds the limit of {limit:,}"
            raise DiagnosticError(Diagnostic(LIMIT_EXCEEDED, text))
        if expected == PACKED:
            packed = message.bytes.values
            if len(packed) != type.element.size_bytes(count):
                raise _fault(f"{type} takes {plural(element.size_bytes(count), 'byte')}, found {len(packed)}")
            return immediate_data(type, packed)
        if element is string:
            texts = message.strings.values
            _check_count(len(texts), type, count)
            return TextData(type, texts)
        holder: NumbersMessage = getattr(message, expected)
        numbers = holder.values
        _check_count(len(numbers), type, count)
        if element in (f32, f64):
            # Python's floats would lose the payload of a NaN.
            size_bytes = element.size_bytes(count)
            start = 1 + -(-size_bytes.bit_length() // 7)
            return immediate_data(type, holder.SerializeToString()[start : start + size_bytes])
        return _numbers(type, numbers)


def immediate_data(type: TensorType, content: bytes) -> Data:
    """Data inside the program, marked when a weight file might hold it."""
    is_marked = element_may_be_blob(type.element) and type.count >= _BLOB_ELEMENTS
    return (ImmediateData if is_marked else InlineData)(type, content)


def element_may_be_blob(element: ElementType) -> bool:
    """Whether weight files can hold elements of a type."""
    return element in BLOB_CODES


def _numbers(type: TensorType, numbers: Sequence[int | float | bool]) -> Data:
    element = type.element
    if element is u64:
        # `longInts` are signed: the upper half of the unsigned range is written as negative numbers.
        numbers = [int(n) % _U64_RANGE for n in numbers]
    try:
        data = data_of(element, type.static_shape, tuple(numbers))
    except OutOfRangeError as error:
        raise _fault(f"{error.number} is not a value of type {MIL_NAMES[element]}") from None
    return immediate_data(type, bytes(data.buffer()))


def _check_count(actual: int, type: TensorType, count: int) -> None:
    if actual != count:
        raise _fault(f"{type} has {plural(count, 'element')}, found {actual}")


def _known_count(decoded: DecodedType) -> int:
    if decoded.element_count is None:
        raise _unknown_shape(decoded.type)
    return decoded.element_count


def _unknown_shape(type: Type) -> DiagnosticError:
    return _fault(f"the type of a constant must have no unknown dimension, found {type}")


def _fault(message: str) -> DiagnosticError:
    return DiagnosticError(Diagnostic(MALFORMED_VALUE, message))


class Blob(NamedTuple):
    """A constant to be put into a weight file, and the message that is to say where."""

    data: Data
    reference: BlobFileValueMessage


class ValueEncoder:
    """Encodes the constants of one program.

    `blobs` receives those that belong into a weight file, whose places are not known yet. Without it there are no
    weight files, and all constants are kept inside the program.
    """

    __slots__ = ("_blobs", "_inside_bytes", "_specification_version", "_types")

    def __init__(self, types: TypeEncoder, specification_version: int, blobs: list[Blob] | None) -> None:
        self._types = types
        self._specification_version = specification_version
        self._blobs = blobs
        self._inside_bytes = 0

    def encode(self, value: Data | Compound, into: ValueMessage) -> None:
        """Fills the message of a constant.

        Raises: ValueError when the format has no such constant; OUTPUT_TOO_LARGE.
        """
        self._types.encode(value.type, into.type)
        if isinstance(value, Compound):
            if value.values or not isinstance(value.type, ListType):
                self._compound(value, into.immediateValue)
        elif self._blobs is not None and belongs_in_weights(value, self._specification_version):
            into.blobFileValue.SetInParent()
            self._blobs.append(Blob(value, into.blobFileValue))
        else:
            self._inside_bytes += value.size_bytes
            if self._inside_bytes > DEFAULT_LIMITS.max_message_bytes:
                raise too_large(f"constants of {self._inside_bytes:,} bytes and more")
            _fill_tensor(value, into.immediateValue.tensor)

    def _compound(self, value: Compound, into: ImmediateValueMessage) -> None:
        match value.type:
            case MapType():
                into.dictionary.SetInParent()
                for key, item in zip(value.values[::2], value.values[1::2], strict=True):
                    pair = into.dictionary.values.add()
                    self.encode(key, pair.key)
                    self.encode(item, pair.value)
            case ListType():
                into.list.SetInParent()
                for item in value.values:
                    self.encode(item, into.list.values.add())
            case TupleType():
                into.tuple.SetInParent()
                for item in value.values:
                    self.encode(item, into.tuple.values.add())


def belongs_in_weights(data: Data, specification_version: int) -> bool:
    """Whether a constant goes into a weight file: where it was read from, else where coremltools would put it."""
    if isinstance(data, BlobData | ImmediateData):
        return isinstance(data, BlobData)
    if data.count < _BLOB_ELEMENTS:
        return False
    if specification_version < _SUBBYTE_SINCE:
        return data.element in _EARLY_BLOB_TYPES
    return element_may_be_blob(data.element)


def too_large(actual: str) -> DiagnosticError:
    """Returns the error for a model that does not fit into one message."""
    message = f"the model file is larger than a message can be: at most {DEFAULT_LIMITS.max_message_bytes:,} bytes"
    help = "write a package, whose weights are in files of their own"
    return DiagnosticError(Diagnostic(OUTPUT_TOO_LARGE, message, notes=(f"found: {actual}",), help=help))


def _fill_tensor(data: Data, into: TensorValueMessage) -> None:
    element = data.element
    match FIELDS.get(element, PACKED):
        case "bytes":
            into.bytes.values = bytes(data.buffer())
            into.bytes.SetInParent()
        case "strings":
            into.strings.SetInParent()
            into.strings.values.extend([str(v) for v in data.values()])
        case field:
            holder: NumbersMessage = getattr(into, field)
            holder.SetInParent()
            if element in (f32, f64) and data.count:
                # As they are stored, for the sake of NaN.
                holder.MergeFromString(length_delimited(_VALUES, bytes(data.buffer())))
                return
            numbers = [v for v in data.values() if not isinstance(v, str)]
            if element is u64:
                numbers = [n - _U64_RANGE if n >= _I64_LIMIT else n for n in numbers]
            holder.values.extend(numbers)
