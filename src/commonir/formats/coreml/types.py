"""Types of a program: from messages to types of the IR and back.

Source: MIL specification, Types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from types import MappingProxyType
from typing import TYPE_CHECKING

from commonir.base.codes import DUPLICATE_NAME
from commonir.base.diagnostics import Diagnostic
from commonir.base.file_codes import MALFORMED_TYPE
from commonir.base.limits import Limits
from commonir.base.text import plural
from commonir.base.tuples import NamedTuple
from commonir.formats.coreml.names import bad_name, is_key
from commonir.ir.types import (
    ElementType,
    ListType,
    MapType,
    StateType,
    TensorType,
    TupleType,
    Type,
    bf16,
    boolean,
    f8e4m3fn,
    f8e5m2,
    f16,
    f32,
    f64,
    i4,
    i8,
    i16,
    i32,
    i64,
    none,
    string,
    u1,
    u2,
    u3,
    u4,
    u6,
    u8,
    u16,
    u32,
    u64,
)
from commonir.symbolic import Dim

if TYPE_CHECKING:
    from commonir.formats.coreml.messages import (
        DimensionMessage,
        TensorTypeMessage,
        ValueEntryMessage,
        ValueMessage,
        ValueTypeMessage,
    )

DATA_TYPES: Mapping[int, ElementType] = MappingProxyType(
    {
        1: boolean,
        2: string,
        10: f16,
        11: f32,
        12: f64,
        13: bf16,
        21: i8,
        22: i16,
        23: i32,
        24: i64,
        25: i4,
        31: u8,
        32: u16,
        33: u32,
        34: u64,
        35: u4,
        36: u2,
        37: u1,
        38: u6,
        39: u3,
        40: f8e4m3fn,
        41: f8e5m2,
    }
)
"""Element types by their number in the enumeration `DataType`."""

MIL_NAMES: Mapping[ElementType, str] = MappingProxyType(
    {
        boolean: "bool",
        string: "string",
        **{e: f"fp{e.bits}" for e in (f16, f32, f64)},
        bf16: "bf16",
        f8e4m3fn: "fp8e4m3fn",
        f8e5m2: "fp8e5m2",
        **{e: f"{e.kind}{e.bits}" for e in DATA_TYPES.values() if e.is_integer},
    }
)
"""The names that Core ML has for element types, for messages."""

DATA_TYPE_NUMBERS: Mapping[ElementType, int] = MappingProxyType({e: n for n, e in DATA_TYPES.items()})
"""Numbers in the enumeration `DataType` by element type."""

UNKNOWN_RANK = -1

_NO_LENGTH = "length"


class DecodedType(NamedTuple):
    """A type, what is wrong with its message, and whether the message says more than the type.

    `is_exact` says that encoding the type gives the message again, as far as it has no residue.

    `element_count` is the number of elements of a tensor type whose dimensions are all known, else None.
    """

    type: Type
    faults: tuple[Diagnostic, ...]
    has_residue: bool
    is_exact: bool
    element_count: int | None


class TypeDecoder:
    """Decodes each distinct type of a program once. `faults_of` examines the values of attributes of types."""

    __slots__ = ("_faults_of", "_known", "_limits")

    def __init__(self, limits: Limits, faults_of: Callable[[ValueMessage], Iterable[Diagnostic]]) -> None:
        self._limits = limits
        self._faults_of = faults_of
        self._known: dict[bytes, DecodedType] = {}

    def decode(self, message: ValueTypeMessage) -> DecodedType:
        """The type of a message. A malformed part becomes unknown, and the type `none` stands for a missing one."""
        key = message.SerializeToString()
        result = self._known.get(key)
        if result is None:
            faults: list[Diagnostic] = []
            residue: list[str] = []
            kind = self._decode(message, faults, residue)
            is_exact = not faults and _NO_LENGTH not in residue
            count = kind.count if isinstance(kind, TensorType) and kind.is_static else None
            result = self._known[key] = DecodedType(kind, tuple(faults), bool(residue), is_exact, count)
        return result

    def _decode(self, message: ValueTypeMessage, faults: list[Diagnostic], residue: list[str]) -> Type:
        match message.WhichOneof("type"):
            case "tensorType":
                return self._tensor(message.tensorType, faults, residue)
            case "listType":
                kind = message.listType
                has_length = kind.HasField("length")
                if not has_length:
                    residue.append(_NO_LENGTH)
                length = _dim(kind.length, faults, residue) if has_length else None
                return ListType(self._decode(kind.type, faults, residue), length)
            case "tupleType":
                return TupleType(tuple([self._decode(t, faults, residue) for t in message.tupleType.types]))
            case "dictionaryType":
                pair = message.dictionaryType
                key = self._decode(pair.keyType, faults, residue)
                return MapType(key, self._decode(pair.valueType, faults, residue))
            case "stateType":
                return StateType(self._decode(message.stateType.wrappedType, faults, residue))
            case _:
                faults.append(_fault("the type is missing or of a kind that is not known"))
                return none

    def _tensor(self, message: TensorTypeMessage, faults: list[Diagnostic], residue: list[str]) -> Type:
        if message.attributes:
            residue.append("attributes")
            faults += self._attribute_faults(message.attributes)
        element = DATA_TYPES.get(message.dataType)
        rank = message.rank
        dims = message.dimensions
        if element is None:
            faults.append(_fault(f"{message.dataType} is not the number of a data type"))
        if rank == UNKNOWN_RANK and not dims:
            return none if element is None else TensorType(element, None)
        if rank != len(dims):
            faults.append(_fault(f"the tensor type states rank {rank} and has {plural(len(dims), 'dimension')}"))
        if len(dims) > self._limits.max_rank:
            faults.append(_fault(f"a tensor type of rank {len(dims)} exceeds the limit of {self._limits.max_rank}"))
            return none
        shape = tuple([_dim(d, faults, residue) for d in dims])
        if element is None:
            return none
        # coremltools writes one variadic dimension where it does not know the rank.
        return TensorType(element, None if any(d.unknown.variadic for d in dims) else shape)

    def _attribute_faults(self, entries: Iterable[ValueEntryMessage]) -> Iterator[Diagnostic]:
        seen: set[str] = set()
        for entry in entries:
            part = f"attributes['{entry.key}']"
            if not is_key(entry.key):
                yield bad_name(entry.key, "attribute", part)
            if entry.key in seen:
                yield Diagnostic(DUPLICATE_NAME, f"the attribute '{entry.key}' is defined twice", where=part)
            seen.add(entry.key)
            yield from (d.located(where=part) for d in self._faults_of(entry.value))


def _fault(message: str) -> Diagnostic:
    return Diagnostic(MALFORMED_TYPE, message)


def _dim(message: DimensionMessage, faults: list[Diagnostic], residue: list[str]) -> int | None:
    match message.WhichOneof("dimension"):
        case "constant":
            return message.constant.size
        case "unknown":
            if message.unknown.variadic:
                residue.append("variadic")
            return None
        case _:
            faults.append(_fault("a dimension of the type is neither constant nor unknown"))
            return None


class TypeEncoder:
    """Encodes each distinct type of a program once. Dimensions that are expressions become unknown."""

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: dict[Type, ValueTypeMessage] = {}

    def encode(self, type: Type, into: ValueTypeMessage) -> None:
        """Fills the message of a type; that of `none`, which stands for an unreadable type, stays empty.

        Raises: ValueError when the format has no such type.
        """
        built = self._made.get(type)
        if built is None:
            _fill(type, into)
            self._made[type] = deepcopy(into)
        else:
            into.CopyFrom(built)


def _fill(type: Type, into: ValueTypeMessage) -> None:
    match type:
        case TensorType():
            _fill_tensor(type, into.tensorType)
        case ListType(element=element, length=length):
            into.listType.SetInParent()
            _fill(element, into.listType.type)
            _fill_dim(length, into.listType.length)
        case TupleType(elements=elements):
            into.tupleType.SetInParent()
            for element in elements:
                _fill(element, into.tupleType.types.add())
        case MapType(key=key, value=value):
            into.dictionaryType.SetInParent()
            _fill(key, into.dictionaryType.keyType)
            _fill(value, into.dictionaryType.valueType)
        case StateType(element=element):
            into.stateType.SetInParent()
            _fill(element, into.stateType.wrappedType)
        case _ if type is none:
            return
        case _:
            raise ValueError(f"an ML Program has no type {type}")


def _fill_tensor(type: TensorType, into: TensorTypeMessage) -> None:
    number = DATA_TYPE_NUMBERS.get(type.element)
    if number is None:
        raise ValueError(f"an ML Program has no elements of type {type.element}")
    into.dataType = number
    if type.shape is None:
        into.rank = UNKNOWN_RANK
        return
    into.rank = len(type.shape)
    for dim in type.shape:
        _fill_dim(dim, into.dimensions.add())


def _fill_dim(dim: Dim | None, into: DimensionMessage) -> None:
    if isinstance(dim, int):
        into.constant.size = dim
        # A size of 0 is the default of its field, which alone would not make the message present.
        into.constant.SetInParent()
    else:
        into.unknown.SetInParent()
