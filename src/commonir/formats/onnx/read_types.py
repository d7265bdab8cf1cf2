"""Value types of ONNX files as types of the program.

A dimension is a number, a name, or nothing. A name that is an expression of names that inputs of the graph have, such
as `past + new`, is that expression; any other is a symbol of its own, however it is spelt, but for `?`: exporters
write it for every size that is open.
Source: onnx.proto of ONNX 1.23, `TypeProto`.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from functools import lru_cache
from typing import TYPE_CHECKING

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import LIMIT_EXCEEDED
from commonir.base.limits import DEFAULT_LIMITS, Limits
from commonir.dialects.onnx.data_types import ELEMENTS
from commonir.formats.onnx.element_types import write_type
from commonir.formats.onnx.messages import DimensionProto, SparseTensorTypeProto, TensorTypeProto, TypeProto, create
from commonir.ir.types import (
    DialectType,
    ListType,
    MapType,
    OptionalType,
    SparseTensorType,
    TensorType,
    Type,
    unknown,
)

if TYPE_CHECKING:
    from typing import Self
from commonir.symbolic import Dim, DimSyntaxError, parse, symbol
from commonir.symbolic.dims import symbols_in

_LONGEST_EXPRESSION = 200
_NO_NAMES = frozenset({"", "?"})
# The numbers of the fields of a type that is a tensor, of a tensor type, and of a dimension that is a size.
_TENSOR, _ELEMENT_AND_SHAPE, _SIZE = [1], [1, 2], [1]


@lru_cache(maxsize=1024)
def _sized(present: bytes) -> TensorType | None:
    """Returns a tensor type with fixed dims and nothing else, as nearly all types in files are; None for others.

    Models have the same few types.
    """
    proto = create(TypeProto)
    proto.ParseFromString(present)
    fields = proto.ListFields()
    if [f.number for f, _ in fields] != _TENSOR:
        return None
    inside = fields[0][1].ListFields()
    if [f.number for f, _ in inside] != _ELEMENT_AND_SHAPE:
        return None
    element, dims = ELEMENTS.get(inside[0][1]), inside[1][1].dim
    known: list[int] = []
    for d in dims:
        declared = d.ListFields()
        if [f.number for f, _ in declared] != _SIZE or declared[0][1] < 0:
            return None
        known.append(declared[0][1])
    return None if element is None else TensorType(element, tuple(known))


class TypeReader:
    """Reads types; what is a symbol depends on those read before."""

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self._dims: dict[str, Dim] = {}
        self._plain: set[str] = set()
        self._known: dict[bytes, tuple[Type, bool]] = {}
        self._max_rank = limits.max_rank

    def knowing(self, symbols: Iterable[str]) -> Self:
        """Returns a reader to which names are symbols, so that the text of a type of them is read as it was before."""
        result = copy(self)
        result._dims, result._known = {}, {}
        result._plain = set(symbols)
        return result

    def read(self, proto: TypeProto) -> tuple[Type, bool]:
        """The type that a message says, `unknown` where it says none, and whether it says no more than that."""
        key = proto.SerializeToString()
        result = self._known.get(key)
        if result is None:
            sized = _sized(key)
            if sized is None or len(sized.static_shape) > self._max_rank:
                result = self._any(proto)
            else:
                result = sized, True
            self._known[key] = result
        return result

    def _any(self, proto: TypeProto) -> tuple[Type, bool]:
        kind = self._read(proto)
        return kind, self._is_exact(kind, proto)

    def _write(self, type: Type, into: TypeProto) -> None:
        write_type(type, into)

    def _is_exact(self, type: Type, proto: TypeProto) -> bool:
        if type is unknown:
            return not proto.ListFields()
        again = create(TypeProto)
        try:
            self._write(type, again)
        except ValueError:
            return False
        return again == proto

    def _read(self, proto: TypeProto) -> Type:
        match proto.WhichOneof("value"):
            case "tensor_type":
                element = ELEMENTS.get(proto.tensor_type.elem_type)
                return unknown if element is None else TensorType(element, self._shape_of(proto.tensor_type))
            case "sparse_tensor_type":
                element = ELEMENTS.get(proto.sparse_tensor_type.elem_type)
                shape = self._shape_of(proto.sparse_tensor_type)
                return unknown if element is None else SparseTensorType(element, shape)
            case "sequence_type":
                return ListType(self._read(proto.sequence_type.elem_type))
            case "optional_type":
                return OptionalType(self._read(proto.optional_type.elem_type))
            case "map_type":
                key = ELEMENTS.get(proto.map_type.key_type)
                return unknown if key is None else MapType(key, self._read(proto.map_type.value_type))
            case "opaque_type":
                return DialectType("onnx", "opaque", f"{proto.opaque_type.domain}::{proto.opaque_type.name}")
            case _:
                return unknown

    def _shape_of(self, holder: TensorTypeProto | SparseTensorTypeProto) -> tuple[Dim | None, ...] | None:
        if not holder.HasField("shape"):
            return None
        dims = holder.shape.dim
        if len(dims) > self._max_rank:
            message = f"a type has {len(dims)} dimensions, of {self._max_rank} possible"
            raise DiagnosticError(Diagnostic(LIMIT_EXCEEDED, message))
        return tuple([self._dim(d) for d in dims])

    def _dim(self, proto: DimensionProto) -> Dim | None:
        match proto.WhichOneof("value"):
            case "dim_value":
                return proto.dim_value if proto.dim_value >= 0 else None
            case "dim_param":
                return None if proto.dim_param in _NO_NAMES else self._named(proto.dim_param)
            case _:
                return None

    def _named(self, name: str) -> Dim:
        result = self._dims.get(name)
        if result is None:
            result = self._dims[name] = self._expression(name)
        return result

    def _expression(self, name: str) -> Dim:
        if not name.isidentifier() and len(name) <= _LONGEST_EXPRESSION:
            try:
                parsed = parse(name)
            except DimSyntaxError:
                pass
            else:
                is_negative = isinstance(parsed, int) and parsed < 0
                if not is_negative and all(s.name in self._plain for s in symbols_in(parsed)):
                    return parsed
        self._plain.add(name)
        return symbol(name)
