"""Types of attributes, which check a declared attribute and convert between its Python value and its storage form.

Attribute types are values; a dialect may define its own.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Generic, TypeVar

from commonir.base.tuples import NamedTuple
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
    attribute_of,
    is_sequence,
)
from commonir.ir.data import Data, Scalar, data_of_array
from commonir.ir.types import ElementType, FunctionType, Type, boolean, f64, i64
from commonir.symbolic import Dim, DimExpr, parse

T = TypeVar("T")
N = TypeVar("N", int, float, bool)
TypeT = TypeVar("TypeT", bound=Type)
E = TypeVar("E", bound=Enum)


class WordsForm(NamedTuple):
    """The text of a dialect attribute that consists of words: `#tosa.nan_mode<IGNORE>`, `#arith.overflow<nsw, nuw>`.

    `has_brackets`: `#index<cmp_predicate slt>` has none. `stored` returns the attribute for words separated by commas.
    """

    dialect: str
    mnemonic: str
    words: tuple[str, ...]
    stored: Callable[[str], Attribute]
    has_brackets: bool = True
    takes_several: bool = False


class AttrType(Generic[T]):
    """The type of an attribute: checks, stores and writes its values.

    `coerce` converts an argument to the stored value and raises ValueError with the expected value; `to_attribute` and
    `from_attribute` convert between the stored value and the storage form; `from_elements` decodes the elements of a
    constant tensor, for parameters that a format binds to constants. In custom forms, `spelled` is the text of a value
    if it differs from that of its attribute, `cases` are the words that are values, and with `elides_type` the text of
    the attribute omits its type. `form` is the text of dialect attributes that consist of words; `prefix` is the name
    of a dialect attribute, such as `d.pair`, that custom forms omit; `element` is the type of the elements of a dense
    array, which they omit too.
    """

    __slots__ = (
        "cases",
        "coerce",
        "element",
        "elides_type",
        "form",
        "from_attribute",
        "from_elements",
        "name",
        "prefix",
        "spelled",
        "to_attribute",
    )

    def __init__(
        self,
        name: str,
        coerce: Callable[[object], T],
        to_attribute: Callable[[T], Attribute],
        from_attribute: Callable[[Attribute], T],
        from_elements: Callable[[tuple[int, ...], tuple[Scalar, ...]], T] | None = None,
        cases: tuple[str, ...] = (),
        *,
        spelled: Callable[[T], str] | None = None,
        elides_type: bool = False,
        form: WordsForm | None = None,
        prefix: str = "",
        element: ElementType | None = None,
    ) -> None:
        self.name = name
        self.element = element
        self.prefix = prefix
        self.coerce = coerce
        self.to_attribute = to_attribute
        self.from_attribute = from_attribute
        self.from_elements = from_elements
        self.cases = cases
        self.spelled = spelled
        self.elides_type = elides_type
        self.form = form

    def __repr__(self) -> str:
        return f"<attr type {self.name}>"


def _expect(value: object, cls: type[T], name: str) -> T:
    if not isinstance(value, cls):
        raise ValueError(f"expected {name}, found {value!r}")
    return value


def to_integer(value: object) -> int:
    """Returns an integer unchanged. Raises: ValueError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"expected an integer, found {value!r}")
    return int(value)


def to_number(value: object) -> float:
    """Returns a number as a float. Raises: ValueError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"expected a number, found {value!r}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError("expected a number of double precision, found a larger one") from None


def _to_bool(value: object) -> bool:
    return _expect(value, bool, "true or false")


def _to_string(value: object) -> str:
    return _expect(value, str, "a string")


def _to_dim(value: object) -> Dim:
    return value if isinstance(value, DimExpr) else to_integer(value)


def _one(convert: Callable[[object], T]) -> Callable[[tuple[int, ...], tuple[Scalar, ...]], T]:
    def decode(_shape: tuple[int, ...], elements: tuple[Scalar, ...]) -> T:
        if len(elements) != 1:
            raise ValueError(f"expected one element, found {len(elements)}")
        return convert(elements[0])

    return decode


def _each(convert: Callable[[object], T]) -> Callable[[tuple[int, ...], tuple[Scalar, ...]], tuple[T, ...]]:
    def decode(shape: tuple[int, ...], elements: tuple[Scalar, ...]) -> tuple[T, ...]:
        if len(shape) > 1:
            raise ValueError(f"expected a vector, found rank {len(shape)}")
        return tuple(map(convert, elements))

    return decode


def sequence_of(convert: Callable[[object], T], name: str) -> Callable[[object], tuple[T, ...]]:
    """Returns a function that converts each item of a tuple or list; `name` describes the expected value in errors."""

    def coerce(value: object) -> tuple[T, ...]:
        if not is_sequence(value):
            raise ValueError(f"expected {name}, found {value!r}")
        return tuple([convert(v) for v in value])

    return coerce


def _numbers(attr: Attribute) -> tuple[object, ...]:
    match attr:
        case DenseArrayAttr(values=values) | DimsAttr(values=values):
            return values
        case ArrayAttr(values=values):
            return tuple([_number(v) for v in values])
        case DataAttr(data=data):
            return data.values()
        case _:
            raise ValueError(f"expected an array, found {attr!r}")


def _number(attr: Attribute) -> object:
    match attr:
        case IntegerAttr(value=value) | FloatAttr(value=value) | BoolAttr(value=value) | StringAttr(value=value):
            return value
        case EnumAttr(keyword=keyword):
            return keyword
        case ArrayAttr() | DenseArrayAttr():
            return _numbers(attr)
        case _:
            raise ValueError(f"expected a literal, found {attr!r}")


integer: AttrType[int] = AttrType(
    "integer", to_integer, lambda v: IntegerAttr(v, i64), lambda a: to_integer(_number(a)), _one(to_integer)
)
number: AttrType[float] = AttrType(
    "float", to_number, lambda v: FloatAttr(v, f64), lambda a: to_number(_number(a)), _one(to_number)
)
flag: AttrType[bool] = AttrType("bool", _to_bool, BoolAttr, lambda a: _to_bool(_number(a)), _one(_to_bool))
string: AttrType[str] = AttrType("string", _to_string, StringAttr, lambda a: _to_string(_number(a)), _one(_to_string))


def _array(
    name: str, items: str, element: ElementType, convert: Callable[[object], N], decode: Callable[[object], N]
) -> AttrType[tuple[N, ...]]:
    """Returns the type of arrays of numbers; `decode` converts the items of attributes."""
    return AttrType(
        name,
        sequence_of(convert, items),
        lambda v: DenseArrayAttr(element, v),
        lambda a: tuple(map(decode, _numbers(a))),
        _each(convert),
    )


integers: AttrType[tuple[int, ...]] = _array("integers", "integers", i64, to_integer, to_integer)
numbers: AttrType[tuple[float, ...]] = _array("floats", "numbers", f64, to_number, to_number)
flags: AttrType[tuple[bool, ...]] = _array("bools", "bools", boolean, _to_bool, bool)
strings: AttrType[tuple[str, ...]] = AttrType(
    "strings",
    sequence_of(_to_string, "strings"),
    lambda v: ArrayAttr(tuple(map(StringAttr, v))),
    lambda a: tuple(map(_to_string, _numbers(a))),
    _each(_to_string),
)


def _read_dim(value: object) -> Dim:
    """Returns a dimension; in texts, expressions are strings."""
    return parse(value) if isinstance(value, str) else _to_dim(value)


dim: AttrType[Dim] = AttrType(
    "dimension", _to_dim, lambda v: DimsAttr((v,)), lambda a: _read_dim(_numbers(a)[0]), _one(_to_dim)
)
dims: AttrType[tuple[Dim, ...]] = AttrType(
    "dimensions",
    sequence_of(_to_dim, "dimensions"),
    DimsAttr,
    lambda a: tuple(map(_read_dim, _numbers(a))),
    _each(_to_dim),
)


def _to_pair(value: object) -> tuple[int, int]:
    pair = sequence_of(to_integer, "a pair of integers")(value)
    if len(pair) != 2:
        raise ValueError(f"expected a pair of integers, found {value!r}")
    return pair[0], pair[1]


pairs: AttrType[tuple[tuple[int, int], ...]] = AttrType(
    "pairs",
    sequence_of(_to_pair, "pairs of integers"),
    lambda v: ArrayAttr(tuple(DenseArrayAttr(i64, p) for p in v)),
    lambda a: tuple(map(_to_pair, _numbers(a))),
)


def _typed(cls: type[TypeT], name: str) -> AttrType[TypeT]:
    def decode(attr: Attribute) -> TypeT:
        return _expect(attr.type if isinstance(attr, TypeAttr) else attr, cls, name)

    return AttrType(name, lambda v: _expect(v, cls, name), TypeAttr, decode)


type_: AttrType[Type] = _typed(Type, "a type")
types: AttrType[tuple[Type, ...]] = AttrType(
    "types",
    sequence_of(lambda v: _expect(v, Type, "a type"), "types"),
    lambda v: ArrayAttr(tuple(map(TypeAttr, v))),
    lambda a: tuple(type_.from_attribute(v) for v in _expect(a, ArrayAttr, "an array of types").values),
)
element: AttrType[ElementType] = _typed(ElementType, "an element type")
function_type: AttrType[FunctionType] = _typed(FunctionType, "a function type")


def _to_data(value: object) -> Data:
    return data_of_array(value) if hasattr(value, "__array_interface__") else _expect(value, Data, "tensor data")


def _to_dictionary(value: object) -> DictionaryAttr:
    return _expect(attribute_of(value) if hasattr(value, "items") else value, DictionaryAttr, "a dictionary")


data: AttrType[Data] = AttrType("data", _to_data, DataAttr, lambda a: _expect(a, DataAttr, "tensor data").data)


def _flat_symbol(attr: Attribute) -> str:
    if not isinstance(attr, SymbolRefAttr):
        return _to_string(_number(attr))
    name, *nested = attr.path
    if nested:
        raise ValueError(f"expected a symbol without nested symbols, found {attr!r}")
    return name


symbol: AttrType[str] = AttrType("symbol", _to_string, SymbolRefAttr, _flat_symbol)
symbol_name: AttrType[str] = AttrType("symbol name", _to_string, StringAttr, lambda a: _to_string(_number(a)))
"""The name of a symbol; printed `@name`."""
unit: AttrType[bool] = AttrType(
    "unit",
    _to_bool,
    lambda v: UnitAttr() if v else BoolAttr(False),
    lambda a: _expect(a, UnitAttr, "unit") is UnitAttr(),
)
any_attribute: AttrType[Attribute] = AttrType(
    "any attribute",
    lambda v: _expect(v, Attribute, "an attribute, such as IntegerAttr(2, i32)"),
    lambda v: v,
    lambda a: a,
)
dictionary: AttrType[DictionaryAttr] = AttrType(
    "dictionary",
    _to_dictionary,
    lambda v: v,
    lambda a: _expect(a, DictionaryAttr, "a dictionary"),
)
dictionaries: AttrType[tuple[DictionaryAttr, ...]] = AttrType(
    "dictionaries",
    sequence_of(lambda v: _expect(v, DictionaryAttr, "a dictionary"), "dictionaries"),
    ArrayAttr,
    lambda a: tuple([_expect(v, DictionaryAttr, "a dictionary") for v in _expect(a, ArrayAttr, "dictionaries").values]),
)
raw: AttrType[bytes] = AttrType(
    "bytes", lambda v: _expect(v, bytes, "bytes"), BytesAttr, lambda a: _expect(a, BytesAttr, "bytes").value
)


def case_of(cases: type[E]) -> Callable[[object], E]:
    """Returns a function from a case or its keyword to the case. It raises ValueError for anything else."""
    by_keyword = {str(case.value): case for case in cases}

    def coerce(value: object) -> E:
        if isinstance(value, cases):
            return value
        result = by_keyword.get(value) if isinstance(value, str) else None
        if result is None:
            raise ValueError(f"expected one of {', '.join(by_keyword)}, found {value!r}")
        return result

    return coerce


def enumeration(cases: type[E]) -> AttrType[E]:
    """Returns the attribute type of an enumeration whose values are the keywords in texts and files."""
    coerce = case_of(cases)

    return AttrType(
        cases.__name__,
        coerce,
        lambda v: EnumAttr(str(v.value)),
        lambda a: coerce(_number(a)),
        _one(coerce),
        tuple([str(case.value) for case in cases]),
    )
