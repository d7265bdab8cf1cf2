"""Compares every definition of the onnx dialect with the schema registry of the onnx package."""

from __future__ import annotations

import struct

import pytest
from onnx import AttributeProto, defs, helper

from commonir.dialects import onnx
from commonir.ir.types import ELEMENT_TYPES, ElementType
from commonir.ods import Op
from commonir.ods.fields import MISSING, Field, FieldKind

_STRUCTURE = {"onnx.graph", "onnx.return", "onnx.initializer"}
_OPERATORS = sorted(name for name in onnx.DIALECT.operations if name not in _STRUCTURE)
_OPSETS = range(onnx.OLDEST_OPSET, onnx.NEWEST_OPSET + 1)
_NAMES = {
    "bool": "i1", "string": "!builtin.string", "complex64": "complex<f32>", "complex128": "complex<f64>",
    "float16": "f16", "bfloat16": "bf16", "float": "f32", "double": "f64", "float4e2m1": "f4E2M1FN",
    "float8e4m3fn": "f8E4M3FN", "float8e4m3fnuz": "f8E4M3FNUZ", "float8e5m2": "f8E5M2", "float8e5m2fnuz": "f8E5M2FNUZ",
    **{f"int{n}": f"i{n}" for n in (4, 8, 16, 32, 64)}, **{f"uint{n}": f"ui{n}" for n in (4, 8, 16, 32, 64)},
}  # fmt: skip
_ATTRIBUTE_KINDS = {
    "INT": {"integer", "bool", "an element type"}, "FLOAT": {"float"}, "STRING": {"string"}, "INTS": {"integers"},
    "FLOATS": {"floats"}, "STRINGS": {"strings"}, "TENSOR": {"data"},
}  # fmt: skip
# What an element type of 0 says is said here by its absence.
_UNDEFINED = AttributeProto.UNDEFINED


def _cases() -> list[tuple[str, int]]:
    return [(name, opset) for name in _OPERATORS for opset in _OPSETS if _schema(name, opset) is not None]


def _schema(name: str, opset: int) -> defs.OpSchema | None:
    try:
        return defs.get_schema(name.removeprefix("onnx."), opset, "")
    except defs.SchemaError:
        return None


def _elements(types: list[str]) -> set[ElementType] | None:
    """The element types of a list of tensor types; None where other types are allowed too."""
    if any(not t.startswith("tensor(") for t in types):
        return None
    return {ELEMENT_TYPES[_NAMES[t.removeprefix("tensor(").removesuffix(")")]] for t in types}


def _allowed(definition: type[Op], field: Field) -> set[ElementType] | None:
    assert field.pattern is not None
    if field.pattern.element == "any":
        return None
    variable = definition.layout.variables.get(field.pattern.element)
    return {ELEMENT_TYPES[field.pattern.element]} if variable is None else set(variable.members)


def _formal(parameter: defs.OpSchema.FormalParameter) -> tuple[str, str]:
    # `data_0` is how the registry spells a variadic `data`.
    return parameter.name.removesuffix("_0"), str(parameter.option).rpartition(".")[2]


def _declared(field: Field) -> tuple[str, str]:
    option = "Variadic" if field.variadic else "Optional" if field.optional else "Single"
    return field.name.removesuffix("_"), option


def _kind(attribute: defs.OpSchema.Attribute) -> str:
    return str(attribute.type).rpartition(".")[2]


def _number(value: object) -> object:
    """A number as a single-precision attribute holds it."""
    return struct.unpack("f", struct.pack("f", value))[0] if isinstance(value, float) else value


def _default(attribute: defs.OpSchema.Attribute) -> object:
    if not attribute.default_value.name:
        return None
    value = helper.get_attribute_value(attribute.default_value)
    if isinstance(value, list):
        return tuple([v.decode() if isinstance(v, bytes) else v for v in value])
    return value.decode() if isinstance(value, bytes) else value


@pytest.mark.parametrize(("name", "opset"), _cases())
def test_definition_is_the_one_of_the_registry(name: str, opset: int) -> None:
    definition = onnx.DIALECT.find(name, onnx.version_of(opset))
    schema = _schema(name, opset)
    assert definition is not None
    assert schema is not None
    assert definition.since == f"opset{schema.since_version}"
    layout = definition.layout
    assert [_declared(f) for f in layout.inputs] == [_formal(p) for p in schema.inputs]
    assert [_declared(f) for f in layout.results] == [_formal(p) for p in schema.outputs]
    formals = [*schema.inputs, *schema.outputs]
    constraints = {c.type_param_str: list(c.allowed_type_strs) for c in schema.type_constraints}
    for field, formal in zip([*layout.inputs, *layout.results], formals, strict=True):
        types = constraints.get(formal.type_str, [formal.type_str])
        # A pattern does not say that each of several values may have another type.
        expected = _elements(types) if formal.is_homogeneous else None
        assert _allowed(definition, field) == expected, field.name


@pytest.mark.parametrize(("name", "opset"), _cases())
def test_attributes_and_defaults_are_those_of_the_registry(name: str, opset: int) -> None:
    definition = onnx.DIALECT.find(name, onnx.version_of(opset))
    schema = _schema(name, opset)
    assert definition is not None
    assert schema is not None
    graphs = {a.name for a in schema.attributes.values() if _kind(a) == "GRAPH"}
    assert {f.name for f in definition.layout.regions} == graphs
    # Sparse constants are not represented.
    expected = {n: a for n, a in schema.attributes.items() if n not in graphs and n != "sparse_value"}
    fields = {f.spelling: f for f in definition.layout.attributes}
    assert set(fields) == set(expected)
    for attribute_name, attribute in expected.items():
        field = fields[attribute_name]
        assert field.kind is FieldKind.ATTRIBUTE
        assert field.type is not None
        assert field.type.name in _ATTRIBUTE_KINDS[_kind(attribute)]
        assert (field.default is MISSING) == attribute.required
        if not attribute.required:
            default = _default(attribute)
            absent = field.type.name == "an element type" and default == _UNDEFINED
            if isinstance(field.default, ElementType):
                assert isinstance(default, int)
                assert _NAMES[helper.tensor_dtype_to_string(default).rpartition(".")[2].lower()] == field.default.name
                continue
            assert _number(field.default) == (None if absent else default), attribute_name


def test_every_definition_belongs_to_a_version_that_is_covered() -> None:
    found = {onnx.DIALECT.find(name, onnx.version_of(opset)) for name, opset in _cases()}
    assert {d for name in _OPERATORS for d in onnx.DIALECT.operations[name]} == found
