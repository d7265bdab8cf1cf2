"""Types of declarations: messages and the texts that stand for them in the program, such as `f32[n, m*]`.

Names and wildcards are dimension parameters. What plain ONNX has no type for is one of the types of Common IR; kinds of
attributes that are not values, such as `graph`, are opaque types of this project's domain.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from commonir.dialects.common_ir.signatures import LIBRARY_DOMAIN
from commonir.dialects.onnx.data_types import ELEMENTS
from commonir.formats.onnx.element_types import DATA_TYPES, data_type, write_shape, write_type
from commonir.formats.onnx.messages import OpaqueTypeProto, TensorShapeProto, TensorTypeProto, TypeProto
from commonir.formats.onnx.messages import SparseTensorTypeProto as SparseProto
from commonir.formats.onnx.read_types import TypeReader
from commonir.ir.types import (
    ELEMENT_TYPES,
    DialectType,
    ElementType,
    ListType,
    MapType,
    OptionalType,
    SparseTensorType,
    TensorType,
    TupleType,
    Type,
    UnknownType,
    handle,
    unknown,
)
from commonir.ods.declared_attributes import declared_attr_type
from commonir.ods.declared_types import (
    AnyOf,
    DeclaredType,
    DialectOf,
    ListOf,
    MapOf,
    OptionalOf,
    TensorOf,
    TupleOf,
    declared_type,
)

_OPAQUE_NAME = re.compile(r"[\w.-]*")
_NEGATIVE = re.compile(r"-\d+")
_DIMENSION = re.compile(r"[A-Za-z_]\w*\*?|\*")


def type_text(proto: TypeProto) -> str:
    """Returns the text of a type; a dimension of which nothing is said is `?`. Raises: ValueError."""
    match proto.WhichOneof("value"):
        case "tensor_type":
            return _tensor_text(proto.tensor_type)
        case "sparse_tensor_type":
            return f"sparse<{_tensor_text(proto.sparse_tensor_type)}>"
        case "sequence_type":
            return f"list<{type_text(proto.sequence_type.elem_type)}>"
        case "optional_type":
            return f"optional<{type_text(proto.optional_type.elem_type)}>"
        case "map_type":
            key = proto.map_type.key_param or ELEMENTS.get(proto.map_type.key_type)
            if key is None:
                raise ValueError(f"{proto.map_type.key_type} is not an element type")
            return f"map<{key}[], {type_text(proto.map_type.value_type)}>"
        case "tuple_type":
            return f"tuple<{', '.join(map(type_text, proto.tuple_type.elem_type))}>"
        case "handle_type":
            return f"{handle}[]"
        case "opaque_type" if proto.opaque_type.domain == LIBRARY_DOMAIN:
            return declared_attr_type(proto.opaque_type.name).text
        case "opaque_type":
            return str(_opaque(proto.opaque_type))
        case "type_param":
            return proto.type_param
        case _:
            raise ValueError("it has no type")


def _tensor_text(proto: TensorTypeProto | SparseProto) -> str:
    element = proto.elem_param
    if not element:
        known = ELEMENTS.get(proto.elem_type)
        if known is None:
            raise ValueError(f"{proto.elem_type} is not an element type")
        element = known.name
    return f"{element}[{', '.join(shape_texts(proto.shape))}]" if proto.HasField("shape") else element


def shape_texts(proto: TensorShapeProto) -> list[str]:
    """The dimensions of a shape. Raises: ValueError for a name that is none."""
    out: list[str] = []
    for d in proto.dim:
        match d.WhichOneof("value"):
            case "dim_value":
                if d.dim_value < 0:
                    raise ValueError(f"{d.dim_value} is not a size")
                out.append(str(d.dim_value))
            case "dim_param" if _DIMENSION.fullmatch(d.dim_param):
                out.append(d.dim_param)
            case "dim_param" if d.dim_param:
                raise ValueError(f"'{d.dim_param}' is not a dimension: a name, '*' or a name followed by '*'")
            case _:
                out.append("?")
    return out


def _opaque(proto: OpaqueTypeProto) -> DialectType:
    """An opaque type. Raises: ValueError for a domain or name that a text cannot have."""
    for name in (proto.domain, proto.name):
        if not _OPAQUE_NAME.fullmatch(name):
            raise ValueError(f"'{name}' is not the domain or name of an opaque type: letters, digits, '_', '-' and '.'")
    return DialectType("onnx", "opaque", f"{proto.domain}::{proto.name}")


def _parts_of(proto: TypeProto) -> Iterator[TypeProto]:
    """A type and those that it is made of."""
    yield proto
    match proto.WhichOneof("value"):
        case "sequence_type":
            yield from _parts_of(proto.sequence_type.elem_type)
        case "optional_type":
            yield from _parts_of(proto.optional_type.elem_type)
        case "map_type":
            yield from _parts_of(proto.map_type.value_type)
        case "tuple_type":
            for t in proto.tuple_type.elem_type:
                yield from _parts_of(t)
        case _:
            return


def has_wildcards(proto: TypeProto) -> bool:
    """Whether the shape of a tensor somewhere in a type has a wildcard."""
    return any(_is_wild(t.tensor_type.shape) or _is_wild(t.sparse_tensor_type.shape) for t in _parts_of(proto))


def negative_dim(proto: TypeProto) -> str:
    """Returns the first negative dim of a tensor somewhere in a type; "" if there is none."""
    shapes = [s for t in _parts_of(proto) for s in (t.tensor_type.shape, t.sparse_tensor_type.shape)]
    texts = [d.dim_param or str(d.dim_value) for s in shapes for d in s.dim]
    return next(filter(_NEGATIVE.fullmatch, texts), "")


def has_own_types(proto: TypeProto) -> bool:
    """Whether a type is, or is made of, one that plain ONNX does not have."""
    return any(
        t.WhichOneof("value") in ("tuple_type", "handle_type", "type_param")
        or bool(t.tensor_type.elem_param or t.sparse_tensor_type.elem_param or t.map_type.key_param)
        for t in _parts_of(proto)
    )


def _is_wild(shape: TensorShapeProto) -> bool:
    # A product of names, as in `2*n`, is a dimension of ONNX.
    return any(d.dim_param.startswith("*") or d.dim_param.endswith("*") for d in shape.dim)


def write_text(text: str, into: TypeProto, variables: Collection[str] = ()) -> None:
    """Fills in a type from its text. Raises: ValueError for a text that is none, or has no encoding."""
    try:
        declared = declared_type(text, variables)
    except ValueError:
        # What attributes can be beyond values, such as graphs; raises for a text that is not a type at all.
        kind = declared_attr_type(text, variables).text
        into.opaque_type.domain, into.opaque_type.name = LIBRARY_DOMAIN, kind
        return
    write_declared(declared, into)


def write_declared(declared: DeclaredType, into: TypeProto) -> None:
    """Fills in a declared type. Raises: ValueError for one that has no encoding."""
    match declared:
        case AnyOf():
            into.type_param = "any"
        case TensorOf():
            _write_tensor(declared, into)
        case ListOf(element=element):
            write_declared(element, into.sequence_type.elem_type)
        case OptionalOf(element=element):
            write_declared(element, into.optional_type.elem_type)
        case TupleOf(elements=elements):
            into.tuple_type.SetInParent()
            for element in elements:
                write_declared(element, into.tuple_type.elem_type.add())
        case MapOf(key=key, value=value):
            if not isinstance(key, TensorOf):
                raise ValueError(f"a map has keys of an element type, not {key}")
            element = ELEMENT_TYPES.get(key.pattern.element)
            if element is None:
                into.map_type.key_param = key.pattern.element
            else:
                into.map_type.key_type = data_type(element)
            write_declared(value, into.map_type.value_type)
        case DialectOf(type=type):
            write_type(type, into)
        case _:
            raise ValueError(f"{declared} has no encoding")


def _write_tensor(declared: TensorOf, into: TypeProto) -> None:
    pattern = declared.pattern
    element = ELEMENT_TYPES.get(pattern.element)
    if element is handle:
        if pattern.dims or declared.is_sparse:
            raise ValueError("a handle is one value, and no tensor of them")
        into.handle_type.SetInParent()
        return
    holder = into.sparse_tensor_type if declared.is_sparse else into.tensor_type
    write_element(pattern.element, holder)
    if pattern.dims is not None:
        write_dims([f"{name}*" if is_many else name for name, is_many in pattern.dims], holder.shape)


def write_element(name: str, into: TensorTypeProto | SparseProto) -> None:
    """Fills in the element type of a tensor type: a type variable, or an element type that has no number, by name."""
    element = ELEMENT_TYPES.get(name)
    if element is not None and element in DATA_TYPES:
        into.elem_type = data_type(element)
    else:
        into.elem_param = name


def write_dims(dims: list[str], into: TensorShapeProto) -> None:
    """Fills in a shape from texts of dimensions; nothing is said of one without a text."""
    into.SetInParent()
    for d in dims:
        built = into.dim.add()
        if d.isdigit():
            built.dim_value = int(d)
        elif d:
            built.dim_param = d


def write_value_type(type: Type, into: TypeProto) -> None:
    """Fills in the type of a value; one of which nothing is known leaves it empty.

    Raises: ValueError for a type that has no encoding.
    """
    match type:
        case TensorType(element=element, shape=()) if element is handle:
            into.handle_type.SetInParent()
        case TupleType(elements=elements):
            into.tuple_type.SetInParent()
            for element in elements:
                write_value_type(element, into.tuple_type.elem_type.add())
        case ListType(element=element):
            write_value_type(element, into.sequence_type.elem_type)
        case OptionalType(element=element):
            write_value_type(element, into.optional_type.elem_type)
        case TensorType(element=element) | SparseTensorType(element=element) if element is handle:
            raise ValueError("a handle is one value, and no tensor of them")
        case TensorType(element=element, shape=shape) if element not in DATA_TYPES:
            write_element(element.name, into.tensor_type)
            if shape is not None:
                write_shape(shape, into.tensor_type.shape)
        case SparseTensorType(element=element, shape=shape):
            write_element(element.name, into.sparse_tensor_type)
            if shape is not None:
                write_shape(shape, into.sparse_tensor_type.shape)
        case MapType(key=ElementType() as key, value=value):
            into.map_type.key_type = data_type(key)
            write_value_type(value, into.map_type.value_type)
        case UnknownType():
            return
        case ElementType() if not isinstance(type, DialectType):
            # The value of a map is a scalar.
            into.tensor_type.elem_type = data_type(type)
            into.tensor_type.shape.SetInParent()
        case _:
            write_type(type, into)


def element_of(proto: TensorTypeProto | SparseProto) -> ElementType | None:
    """The element type of a tensor type; None for a type variable and where it says none."""
    return ELEMENT_TYPES.get(proto.elem_param) if proto.elem_param else ELEMENTS.get(proto.elem_type)


class ValueTypes(TypeReader):
    """Reads types of values: those of ONNX, and those that only Common IR has. A shape with a wildcard is unknown."""

    def _write(self, type: Type, into: TypeProto) -> None:
        write_value_type(type, into)

    def _read(self, proto: TypeProto) -> Type:
        match proto.WhichOneof("value"):
            case "tuple_type":
                return TupleType(tuple([self._read(t) for t in proto.tuple_type.elem_type]))
            case "handle_type":
                return TensorType(handle, ())
            case "tensor_type" if _is_wild(proto.tensor_type.shape) or proto.tensor_type.elem_param:
                element = element_of(proto.tensor_type)
                shape = None if _is_wild(proto.tensor_type.shape) else self._shape_of(proto.tensor_type)
                return unknown if element is None else TensorType(element, shape)
            case "sparse_tensor_type":
                element = element_of(proto.sparse_tensor_type)
                shape = proto.sparse_tensor_type
                dims = None if _is_wild(shape.shape) else self._shape_of(shape)
                return unknown if element is None else SparseTensorType(element, dims)
            case _:
                return super()._read(proto)
