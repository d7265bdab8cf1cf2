"""Attributes of nodes and declarations: messages and the attributes that stand for them in the program.

What ONNX has a kind for has the form that it has there. Beyond that, a shape is dimensions, and a value that ONNX
cannot say is a dictionary with one key, its kind: `{handle = 7}`, `{tuple = [...]}`, `{list = [...]}`, `{map = {keys,
values}}`, `{sparse = {values, indices, dims}}` or `{dense = ...}`; inside of one, a list is a list. A number that
single precision cannot hold is a dense value of one element, so that none is rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType

from commonir.base.text import plural
from commonir.base.tuples import NamedTuple
from commonir.dialects.onnx.data_types import ELEMENTS
from commonir.formats.common_ir.kinds import OwnType
from commonir.formats.common_ir.types import write_element, write_value_type
from commonir.formats.onnx.attributes import (
    VALUE_NUMBERS,
    AttributeType,
    kind_of,
    literal_of,
    misplaced_value_in,
    write_literal,
)
from commonir.formats.onnx.declaring import Message
from commonir.formats.onnx.element_types import data_type
from commonir.formats.onnx.messages import (
    AttributeProto,
    DataProto,
    GraphProto,
    SparseTensorProto,
    TensorProto,
    TensorShapeProto,
    TypeProto,
    field_number,
)
from commonir.formats.onnx.tensors import TensorError, read_contents, write_contents, write_typed
from commonir.formats.onnx.unknown_fields import TYPED, UNTYPED
from commonir.ir.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    BytesAttr,
    DataAttr,
    DenseArrayAttr,
    DictionaryAttr,
    DimsAttr,
    EnumAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
    UnitAttr,
)
from commonir.ir.data import Data, data_of, rounded
from commonir.ir.types import ElementType, TensorType, Type, boolean, f32, f64, handle, i64, string
from commonir.ods.declared_values import dense_in, items_of
from commonir.symbolic import Dim, symbol
from commonir.symbolic.dims import symbols_in

MAX_DEPTH = 32
"""How deep values of attributes nest."""

_STRING = 8
_INT64 = range(-(1 << 63), 1 << 63)

_NAME, _TYPE = (field_number(AttributeProto, name) for name in ("name", "type"))

ReadTensor = Callable[[TensorProto, TensorType], Data]
ReadType = Callable[[TypeProto], Type]


def attr_type_in(proto: AttributeProto) -> int:
    """Returns the type of an attribute: what it states, else that of the value that is there, 0 for none."""
    if proto.type:
        return proto.type
    numbers = {f.number for f, _ in proto.ListFields()}
    return next((kind for kind in OwnType if kind in numbers), 0) or kind_of(proto)


def fields_with_a_place(proto: AttributeProto) -> frozenset[int]:
    """Returns the numbers of the fields of an attribute that its value says."""
    kind = attr_type_in(proto)
    return frozenset({_NAME, _TYPE, VALUE_NUMBERS.get(kind, kind)})


class ValueReader:
    """Reads attributes. `contents` gives those of tensors, `type` reads types."""

    def __init__(self, contents: ReadTensor = read_contents, type: ReadType | None = None) -> None:
        self._contents = contents
        self._type = type

    def read(self, proto: AttributeProto, *, keeps_form: bool = False) -> Attribute | None:
        """Returns the attribute of a message; None for a graph, and for a list whose type is unknown.

        A dense value of at most one dimension is a literal, if its element type has one, unless `keeps_form`.
        Raises: ValueError, which says what is wrong.
        """
        result = self._read(proto)
        data = dense_in(result) if isinstance(result, DictionaryAttr) else None
        return result if keeps_form or data is None else _scalar_of(data)

    def _read(self, proto: AttributeProto) -> Attribute | None:
        misplaced = misplaced_value_in(proto)
        if misplaced is not None:
            raise ValueError(misplaced)
        type = attr_type_in(proto)
        literal = literal_of(proto, type)
        if literal is not None:
            return literal
        try:
            return self._other(proto, type)
        except TensorError as error:
            raise ValueError(str(error)) from None

    def _other(self, proto: AttributeProto, kind: int) -> Attribute | None:
        """Raises: ValueError; TensorError."""
        match kind:
            case AttributeType.TENSOR:
                return DataAttr(self.tensor(proto.t))
            case AttributeType.TENSORS:
                return ArrayAttr(tuple([DataAttr(self.tensor(t)) for t in proto.tensors]))
            case AttributeType.SPARSE_TENSOR:
                return self._sparse(proto.sparse_tensor)
            case AttributeType.SPARSE_TENSORS:
                return ArrayAttr(tuple(map(self._sparse, proto.sparse_tensors)))
            case AttributeType.TYPE_PROTO if self._type is not None:
                return TypeAttr(self._type(proto.tp))
            case AttributeType.TYPE_PROTOS if self._type is not None:
                return ArrayAttr(tuple([TypeAttr(self._type(t)) for t in proto.type_protos]))
            case OwnType.SHAPE:
                return read_dims(proto.shape)
            case OwnType.SHAPES:
                return ArrayAttr(tuple(map(read_dims, proto.shapes)))
            case OwnType.VALUE:
                return self._value(proto.value, 0)
            case OwnType.VALUES:
                return ArrayAttr(tuple([self._value(v, 1) for v in proto.values]))
            case AttributeType.UNDEFINED | AttributeType.GRAPH | AttributeType.GRAPHS:
                return None
            case _:
                raise ValueError(f"attributes of kind {kind} are not read")

    def tensor(self, proto: TensorProto) -> Data:
        """The contents of a tensor. Raises: TensorError."""
        element = ELEMENTS.get(proto.data_type)
        if element is None:
            raise TensorError(f"{proto.data_type} is not an element type")
        shape = tuple(proto.dims)
        if any(d < 0 for d in shape):
            raise TensorError(f"a tensor has no size {min(shape)}")
        return self._contents(proto, TensorType(element, shape))

    def _sparse(self, proto: SparseTensorProto) -> DictionaryAttr:
        return DictionaryAttr(
            (
                ("values", DataAttr(self.tensor(proto.values))),
                ("indices", DataAttr(self.tensor(proto.indices))),
                ("dims", DenseArrayAttr(i64, tuple(proto.dims))),
            )
        )

    def _value(self, proto: DataProto, depth: int) -> Attribute:
        """A value of any type. Raises: ValueError; TensorError."""
        if depth > MAX_DEPTH:
            raise ValueError(f"values are nested more than {MAX_DEPTH} deep")
        match proto.WhichOneof("value"):
            case "dense":
                data = self.tensor(proto.dense)
                return _scalar_of(data) if depth else _tagged("dense", DataAttr(data))
            case "sparse":
                return _tagged("sparse", self._sparse(proto.sparse))
            case "handle":
                return _tagged("handle", IntegerAttr(proto.handle.uid))
            case "tuple":
                elements = [self._value(v, depth + 1) for v in proto.tuple.elements]
                return _tagged("tuple", ArrayAttr(tuple(elements)))
            case "seq":
                listed = ArrayAttr(tuple([self._value(v, depth + 1) for v in proto.seq.elements]))
                return listed if depth else _tagged("list", listed)
            case "map":
                keys, values = self.tensor(proto.map.keys), self.tensor(proto.map.values)
                if keys.count != values.count:
                    raise ValueError(f"a map has {plural(keys.count, 'key')} and {plural(values.count, 'value')}")
                entries = ("keys", DataAttr(keys)), ("values", DataAttr(values))
                return _tagged("map", DictionaryAttr(entries))
            case "dictionary":
                keys = list(proto.dictionary.keys)
                items = [self._value(v, depth + 1) for v in proto.dictionary.values]
                if len(keys) != len(items):
                    raise ValueError(f"a dictionary has {plural(len(keys), 'key')} and {plural(len(items), 'value')}")
                return DictionaryAttr(tuple(zip(keys, items, strict=True)))
            case _:
                raise ValueError("a value says nothing")


def _tagged(kind: str, content: Attribute) -> DictionaryAttr:
    return DictionaryAttr(((kind, content),))


def _scalar_of(data: Data) -> Attribute:
    """A dense value: a number, text or list of numbers in its plain form."""
    element, rank = data.element, len(data.shape)
    is_plain = element in (f32, f64, i64) or (element is string and rank == 0)
    if rank > 1 or not is_plain:
        return _tagged("dense", DataAttr(data))
    values = list(data.values())
    if rank == 1:
        return DenseArrayAttr(element, tuple([v for v in values if not isinstance(v, str)]))
    (value,) = values
    if isinstance(value, str):
        return StringAttr(value)
    return FloatAttr(value, element) if element.is_float else IntegerAttr(int(value))


def read_dims(proto: TensorShapeProto) -> DimsAttr:
    """A shape as an attribute; names are symbols, wildcards too. Raises: ValueError for an empty dimension."""
    out: list[Dim] = []
    for d in proto.dim:
        kind = d.WhichOneof("value")
        if kind is None:
            raise ValueError("a dimension of a shape says nothing")
        out.append(d.dim_value if kind == "dim_value" else symbol(d.dim_param))
    return DimsAttr(tuple(out))


# -- writing


def attr_type_of(value: Attribute) -> int:
    """Returns the type of the attribute that a value is written as."""
    match _literal(_plain(value)):
        case FloatAttr() | IntegerAttr() | DenseArrayAttr() as literal:
            return _number_type(literal) if _is_exact(literal) else OwnType.VALUE
        case StringAttr() | BytesAttr():
            return AttributeType.STRING
        case DataAttr():
            return AttributeType.TENSOR
        case TypeAttr():
            return AttributeType.TYPE_PROTO
        case DimsAttr():
            return OwnType.SHAPE
        case ArrayAttr(values=values):
            # An empty list says nothing of its type, and is written as one of texts.
            of_items = {attr_type_of(v) for v in values} or {AttributeType.STRING}
            return _LISTS.get(of_items.pop(), OwnType.VALUES) if len(of_items) == 1 else OwnType.VALUES
        case DictionaryAttr(entries=(("values", _), ("indices", _), ("dims", _))):
            return AttributeType.SPARSE_TENSOR
        case _:
            return OwnType.VALUE


_LISTS: Mapping[int, int] = MappingProxyType(
    {
        AttributeType.STRING: AttributeType.STRINGS,
        AttributeType.TENSOR: AttributeType.TENSORS,
        AttributeType.TYPE_PROTO: AttributeType.TYPE_PROTOS,
        AttributeType.SPARSE_TENSOR: AttributeType.SPARSE_TENSORS,
        OwnType.SHAPE: OwnType.SHAPES,
    }
)
"""The type of an attribute that is a list, by the type that its items would have alone."""


def _number_type(value: FloatAttr | IntegerAttr | DenseArrayAttr) -> int:
    match value:
        case FloatAttr():
            return AttributeType.FLOAT
        case IntegerAttr():
            return AttributeType.INT
        case _:
            return AttributeType.INTS if value.element.is_integer else AttributeType.FLOATS


class ValueWriter:
    """Fills in attributes."""

    def __init__(self) -> None:
        self._is_typed = False

    def write_tensor(self, data: Data, into: TensorProto) -> None:
        """Fills in a tensor with its contents. Raises: ValueError for an element type that has no number."""
        into.data_type = data_type(data.element)
        into.dims.extend(data.shape)
        if self._is_typed:
            write_typed(data, into)
        else:
            write_contents(data, into)

    def write_form(self, form: StoredForm, into: AttributeProto) -> None:
        """Fills in a value in the form that its file had. Raises: ValueError for a value that has no encoding."""
        self.write(form.value, into, is_typed=form.is_typed, attr_type=form.attr_type)
        if not form.states_type:
            into.ClearField("type")

    def write(self, value: Attribute, into: AttributeProto, *, is_typed: bool = False, attr_type: int = 0) -> None:
        """Fills in a value; `is_typed` says that tensors hold their contents in the field of their type, `attr_type`
        which of several types of attributes it has, 0 for the one that `attr_type_of` returns.

        Raises: ValueError for a value that has no encoding.
        """
        self._is_typed = is_typed
        plain = _plain(value)
        into.type = attr_type or attr_type_of(plain)
        items = items_of(plain) if isinstance(plain, ArrayAttr | DenseArrayAttr) else ()
        match into.type:
            case AttributeType.TENSOR:
                self.write_tensor(_dense_form(plain), into.t)
            case AttributeType.TENSORS:
                for v in items:
                    self.write_tensor(_data(v), into.tensors.add())
            case AttributeType.TYPE_PROTO:
                _write_type(plain, into.tp)
            case AttributeType.TYPE_PROTOS:
                for v in items:
                    _write_type(v, into.type_protos.add())
            case OwnType.SHAPE:
                write_dims_attribute(plain, into.shape)
            case OwnType.SHAPES:
                for v in items:
                    write_dims_attribute(v, into.shapes.add())
            case AttributeType.SPARSE_TENSOR:
                self._sparse(plain, into.sparse_tensor)
            case AttributeType.SPARSE_TENSORS:
                for v in items:
                    self._sparse(v, into.sparse_tensors.add())
            case OwnType.VALUES:
                for v in items:
                    self._value(_plain(v), into.values.add())
            case OwnType.VALUE:
                self._value(plain, into.value)
            case _:
                write_literal(_literal(plain), into)

    def _sparse(self, value: Attribute, into: SparseTensorProto) -> None:
        values = _entries(value)
        self.write_tensor(_data(values.get("values")), into.values)
        self.write_tensor(_data(values.get("indices")), into.indices)
        dims = values.get("dims")
        into.dims.extend(map(int, dims.values) if isinstance(dims, DenseArrayAttr) else ())

    def _value(self, value: Attribute, into: DataProto) -> None:
        entries = _entries(value)
        kind, content = next(iter(entries.items())) if len(entries) == 1 else ("", value)
        match kind, content:
            case "sparse", DictionaryAttr():
                self._sparse(content, into.sparse)
            case "handle", IntegerAttr(value=uid):
                into.handle.uid = uid
            case "tuple", ArrayAttr(values=values):
                into.tuple.SetInParent()
                for v in values:
                    self._value(_plain(v), into.tuple.elements.add())
            case "list", ArrayAttr(values=values):
                into.seq.SetInParent()
                for v in values:
                    self._value(_plain(v), into.seq.elements.add())
            case "map", DictionaryAttr():
                parts = _entries(content)
                self.write_tensor(_data(parts.get("keys")), into.map.keys)
                self.write_tensor(_data(parts.get("values")), into.map.values)
            case "dense", DataAttr(data=data):
                self.write_tensor(data, into.dense)
            case _ if isinstance(value, DictionaryAttr):
                into.dictionary.SetInParent()
                for key, v in value.entries:
                    into.dictionary.keys.append(key)
                    self._value(_plain(v), into.dictionary.values.add())
            case _ if isinstance(value, ArrayAttr):
                self._value(_tagged("list", value), into)
            case _:
                self.write_tensor(_dense_form(value), into.dense)


def _entries(value: Attribute | None) -> dict[str, Attribute]:
    return dict(value.entries) if isinstance(value, DictionaryAttr) else {}


def _data(value: Attribute | None) -> Data:
    if not isinstance(value, DataAttr):
        raise ValueError("a part of a value is not a tensor")
    return value.data


def _dense_form(value: Attribute) -> Data:
    """A number, bool, text or list of them as a tensor. Raises: ValueError for what is none."""
    match value:
        case BoolAttr(value=truth):
            return data_of(boolean, (), [truth])
        case FloatAttr(value=number, type=element) | IntegerAttr(value=number, type=ElementType() as element):
            return data_of(element, (), [number])
        case StringAttr(value=text):
            return data_of(string, (), [text])
        case DenseArrayAttr(element=element, values=values):
            return data_of(element, (len(values),), list(values))
        case ArrayAttr(values=values) if all(isinstance(v, StringAttr) for v in values):
            return data_of(string, (len(values),), names_of(values))
        case DataAttr(data=data):
            return data
        case _:
            raise ValueError(f"{type(value).__name__} has no encoding")


def _plain(value: Attribute) -> Attribute:
    """The attribute that files have for one that only programs have."""
    match value:
        case UnitAttr():
            return BoolAttr(True)
        case EnumAttr(keyword=keyword):
            return StringAttr(keyword)
        case SymbolRefAttr(path=path):
            return StringAttr(path[-1])
        case IntegerAttr(value=number, type=type) if type is handle:
            return DictionaryAttr((("handle", IntegerAttr(number)),))
        case _:
            return value


def _literal(value: Attribute) -> Attribute:
    """The literal that attributes of files have for a value: bools are integers."""
    match value:
        case BoolAttr(value=truth):
            return IntegerAttr(int(truth))
        case DenseArrayAttr(element=element, values=values) if element is boolean:
            return DenseArrayAttr(i64, tuple(map(int, values)))
        case _:
            return value


def _is_exact(value: FloatAttr | IntegerAttr | DenseArrayAttr) -> bool:
    """Returns whether attributes, which have single precision and 64 bits, can store a number or list of numbers."""
    match value:
        case FloatAttr(value=number):
            return _is_single(number)
        case IntegerAttr(value=number):
            return _INT64.start <= number < _INT64.stop
        case DenseArrayAttr(element=element, values=values) if element.is_float:
            return all(_is_single(float(v)) for v in values)
        case DenseArrayAttr(values=values):
            return all(_INT64.start <= int(v) < _INT64.stop for v in values)


def _is_single(number: float) -> bool:
    return number != number or rounded(number, f32) == number  # noqa: PLR0124  NaN is NaN in any precision


def _write_type(value: Attribute, into: TypeProto) -> None:
    match value:
        case TypeAttr(type=ElementType() as element):
            write_element(element.name, into.tensor_type)
        case TypeAttr(type=type):
            write_value_type(type, into)
        case _:
            raise ValueError("an item of a list of types is not a type")


def write_dims_attribute(value: Attribute, into: TensorShapeProto) -> None:
    """Fills in a shape; a name alone is written as it is, an expression as its text. Raises: ValueError."""
    if not isinstance(value, DimsAttr):
        raise ValueError("an item of a list of shapes is not a shape")
    into.SetInParent()
    for d in value.values:
        built = into.dim.add()
        if isinstance(d, int):
            built.dim_value = d
        else:
            result = symbols_in(d)
            built.dim_param = (
                result[0].name if len(result) == 1 and d == symbol(result[0].name, result[0].least) else str(d)
            )


def storage_of(proto: AttributeProto, value: Attribute | None) -> str:
    """Returns words on how a file holds an attribute: that its tensors have their contents in the fields of their
    types, and the type of the attribute where `value`, which it is in the program, would be written as another one.
    """
    tensors = [t for t in _tensors_in(proto) if t.data_type != _STRING]
    words = [TYPED] if tensors and not any(t.HasField("raw_data") for t in tensors) else []
    kind = attr_type_in(proto)
    if value is not None and kind and kind != attr_type_of(value):
        words += [name for name, number in _TYPE_WORDS.items() if number == kind]
        words += [_LIST] if proto.value.HasField("seq") else []
    return " ".join([*words, UNTYPED] if value is not None and not proto.type else words)


class StoredForm(NamedTuple):
    """A value in the form that a file holds it: whether its tensors are typed, the type of the attribute, 0 for the
    usual one, and whether the attribute states its type.
    """

    value: Attribute
    is_typed: bool = False
    attr_type: int = 0
    states_type: bool = True


def stored_form(value: Attribute, words: str) -> StoredForm:
    """Returns a value in the form that `storage_of` describes. Raises: ValueError for a value that cannot have it."""
    parts = words.split()
    attr_type = next((_TYPE_WORDS[w] for w in parts if w in _TYPE_WORDS), 0)
    if attr_type == OwnType.VALUE:
        value = _tagged("list", ArrayAttr(tuple(items_of(value)))) if _LIST in parts else DataAttr(_dense_form(value))
    return StoredForm(value, TYPED in parts, attr_type, UNTYPED not in parts)


_LIST = "list"
_TYPE_WORDS: Mapping[str, int] = MappingProxyType({t.name.lower(): t for t in (*AttributeType, *OwnType)})


def _tensors_in(message: Message) -> Iterator[TensorProto]:
    """The tensors in a message, but for those of graphs. Nesting is limited by that of messages."""
    for field, content in message.ListFields():
        kind = "" if field.message_type is None else field.message_type.name
        if not kind or kind == GraphProto.__name__:
            continue
        for part in content if field.is_repeated else [content]:
            if kind == TensorProto.__name__:
                yield part
            else:
                yield from _tensors_in(part)


def names_of(values: Iterable[Attribute]) -> tuple[str, ...]:
    """The texts of a list of them."""
    return tuple([v.value for v in values if isinstance(v, StringAttr)])
