from __future__ import annotations

import math
from typing import Any

import pytest

from commonir.formats.common_ir.types import ValueTypes, has_wildcards, type_text, write_text, write_value_type
from commonir.formats.common_ir.values import MAX_DEPTH, ValueReader, ValueWriter
from commonir.formats.onnx.messages import AttributeProto, TypeProto, create
from commonir.ir.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    DataAttr,
    DenseArrayAttr,
    DictionaryAttr,
    DimsAttr,
    EnumAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TypeAttr,
    UnitAttr,
)
from commonir.ir.data import data_of
from commonir.ir.types import (
    ListType,
    MapType,
    OptionalType,
    SparseTensorType,
    TensorType,
    TupleType,
    Type,
    f32,
    f64,
    handle,
    i8,
    i64,
    string,
    tensor,
    u3,
    unknown,
)
from commonir.symbolic import symbol


def typed(text: str, *variables: str) -> TypeProto:
    result = create(TypeProto)
    write_text(text, result, variables)
    return result


# -- types


@pytest.mark.parametrize(
    "text",
    [
        "f32[]",
        "f32",
        "f32[n, m*]",
        "f32[*, 3]",
        "bf16[2, n]",
        "complex<f64>[n]",
        "!builtin.string[3]",
        "!builtin.handle[]",
        "ui3[n]",
        "sparse<f32[n, m]>",
        "list<f32[n]>",
        "list<list<i64[]>>",
        "optional<f32[*]>",
        "tuple<f32[n], !builtin.string[], list<i64[]>>",
        "tuple<>",
        "map<i64[], tuple<f32[n], i1[]>>",
        "any",
        "graph",
        "list<graph>",
        "type",
        "list<type>",
        "shape",
        "optional<shape>",
    ],
)
def test_a_declared_type_comes_back(text: str) -> None:
    assert type_text(typed(text)) == text


def test_a_type_variable_is_not_an_element_type() -> None:
    result = typed("T[m*]", "T")
    assert (result.tensor_type.elem_param, result.tensor_type.elem_type) == ("T", 0)
    assert type_text(result) == "T[m*]"


def test_a_dimension_of_which_nothing_is_said_comes_back_without_a_name() -> None:
    result = typed("f32[n, m]")
    result.tensor_type.shape.dim[1].ClearField("dim_param")
    assert type_text(result) == "f32[n, ?]"
    assert typed("f32[n, ?]") == result


@pytest.mark.parametrize("text", ["q[n]", "f32[n**]", "f32[m*, n*]", "sparse<list<f32[]>>", "map<f32[]>", "grph"])
def test_what_is_not_a_type_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a type|sparse<...> is|map<...> is"):
        typed(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("f32[n, *]", True), ("f32[n]", False), ("list<f32[m*]>", True), ("tuple<i64[], sparse<f32[*]>>", True)],
)
def test_wildcards_are_found_wherever_they_are(text: str, expected: bool) -> None:
    assert has_wildcards(typed(text)) is expected


VALUE_TYPES: list[Type] = [
    tensor(f32, symbol("n"), 3, None),
    TensorType(f32, None),
    tensor(handle),
    tensor(u3, 4),
    SparseTensorType(f64, (symbol("n"), 2)),
    ListType(tensor(i64)),
    OptionalType(tensor(f32, 2)),
    TupleType((tensor(i8), ListType(tensor(string)))),
    MapType(i64, tensor(f32)),
    unknown,
]


@pytest.mark.parametrize("type", VALUE_TYPES, ids=str)
def test_the_type_of_a_value_comes_back(type: Type) -> None:
    result = create(TypeProto)
    write_value_type(type, result)
    assert ValueTypes().read(result) == (type, True)


def test_a_value_of_a_type_with_a_wildcard_has_an_unknown_shape() -> None:
    assert ValueTypes().read(typed("f32[n, m*]"))[0] is TensorType(f32, None)
    assert ValueTypes().read(typed("list<f32[*]>"))[0] is ListType(TensorType(f32, None))


# -- values


def tagged(kind: str, content: Attribute) -> DictionaryAttr:
    return DictionaryAttr(((kind, content),))


_NUMBERS = DataAttr(data_of(i64, (2,), [1, 2]))
_TEXTS = DataAttr(data_of(string, (2,), ["a", "b"]))
VALUES: dict[str, Attribute] = {
    "float": FloatAttr(0.5, f32),
    "not a number": FloatAttr(math.nan, f32),
    "double": FloatAttr(0.1, f64),
    "int": IntegerAttr(-3),
    "text": StringAttr("naïve"),
    "floats": DenseArrayAttr(f32, (0.5, math.inf)),
    "doubles": DenseArrayAttr(f64, (0.1, 1e300)),
    "ints": DenseArrayAttr(i64, (1, 2)),
    "texts": ArrayAttr((StringAttr("a"), StringAttr(""))),
    "tensor": _NUMBERS,
    "tensors": ArrayAttr((_NUMBERS, _TEXTS)),
    "type": TypeAttr(tensor(i8, 2)),
    "types": ArrayAttr((TypeAttr(tensor(i8)), TypeAttr(TupleType(())))),
    "shape": DimsAttr((symbol("n"), 3)),
    "wild shape": DimsAttr((symbol("m*"), 3)),
    "shapes": ArrayAttr((DimsAttr((1,)), DimsAttr(()))),
    "sparse": DictionaryAttr((("values", _NUMBERS), ("indices", _NUMBERS), ("dims", DenseArrayAttr(i64, (6,))))),
    "handle": tagged("handle", IntegerAttr(2**63 - 1)),
    "tuple": tagged("tuple", ArrayAttr((IntegerAttr(1), tagged("handle", IntegerAttr(7)), StringAttr("t")))),
    "list": tagged("list", ArrayAttr((FloatAttr(0.1, f64), DenseArrayAttr(i64, (1,))))),
    "nested list": tagged("list", ArrayAttr((ArrayAttr((IntegerAttr(1),)), ArrayAttr(())))),
    "map": tagged("map", DictionaryAttr((("keys", _NUMBERS), ("values", _TEXTS)))),
    "pairs": ArrayAttr((DenseArrayAttr(i64, (1, 2)), DenseArrayAttr(i64, (3, 4)))),
    "dictionary": DictionaryAttr((("a", IntegerAttr(1)), ("b", DictionaryAttr(())))),
    "nothing": DictionaryAttr(()),
}


def plain(value: Attribute) -> Any:
    """A form in which equal contents of tensors are equal."""
    match value:
        case DataAttr(data=data):
            return data.type, data.values()
        case ArrayAttr(values=values):
            return [plain(v) for v in values]
        case DictionaryAttr(entries=entries):
            return {k: plain(v) for k, v in entries}
        case _:
            return value


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("is_typed", [False, True])
def test_an_attribute_comes_back(name: str, is_typed: bool) -> None:
    result = create(AttributeProto)
    ValueWriter().write(VALUES[name], result, is_typed=is_typed)
    read = ValueReader(type=lambda proto: ValueTypes().read(proto)[0]).read(result)
    assert read is not None
    assert plain(read) == plain(VALUES[name])


@pytest.mark.parametrize(
    ("inputs", "read"),
    [
        (BoolAttr(True), IntegerAttr(1)),
        (UnitAttr(), IntegerAttr(1)),
        (EnumAttr("same_upper"), StringAttr("same_upper")),
        (IntegerAttr(7, handle), tagged("handle", IntegerAttr(7))),
        (FloatAttr(0.5, f64), FloatAttr(0.5, f32)),
    ],
)
def test_what_only_programs_have_is_written_as_what_files_have(inputs: Attribute, read: Attribute) -> None:
    result = create(AttributeProto)
    ValueWriter().write(inputs, result)
    assert ValueReader().read(result) is read


def test_numbers_are_never_rounded() -> None:
    result = create(AttributeProto)
    ValueWriter().write(FloatAttr(0.1, f64), result)
    assert not result.HasField("f")
    assert list(result.value.dense.dims) == []
    assert ValueReader().read(result) is FloatAttr(0.1, f64)


def test_values_nest_to_a_limit() -> None:
    result = create(AttributeProto)
    result.type = 52
    at = result.value
    for _ in range(MAX_DEPTH + 2):
        at = at.seq.elements.add()
    at.handle.uid = 1
    with pytest.raises(ValueError, match="nested more than"):
        ValueReader().read(result)


def test_a_map_has_as_many_values_as_keys() -> None:
    result = create(AttributeProto)
    result.type = 52
    for tensor_of, count in ((result.value.map.keys, 2), (result.value.map.values, 1)):
        tensor_of.data_type = 7
        tensor_of.dims.append(count)
        tensor_of.int64_data.extend(range(count))
    with pytest.raises(ValueError, match="a map has 2 keys and 1 value"):
        ValueReader().read(result)
