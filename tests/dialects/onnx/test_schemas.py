"""Compares every definition of the onnx dialect with the schema registry of the onnx package."""

from __future__ import annotations

import struct

import pytest
from onnx import AttributeProto, defs, helper

from commonir.dialects import onnx
from commonir.ir.types import ELEMENT_TYPES, ElementType
from commonir.ods import Op
from commonir.ods.fields import MISSING, Field, FieldKind
from commonir.ods.patterns import ElementClass, Mapped, Pattern, TypeClass, TypeVariable, Wrapped

_NAMES = {
    "bool": "i1", "string": "!builtin.string", "complex64": "complex<f32>", "complex128": "complex<f64>",
    "float16": "f16", "bfloat16": "bf16", "float": "f32", "double": "f64", "float4e2m1": "f4E2M1FN",
    "float6e2m3": "f6E2M3FN", "float6e3m2": "f6E3M2FN", "float8e8m0": "f8E8M0FNU",
    "float8e4m3fn": "f8E4M3FN", "float8e4m3fnuz": "f8E4M3FNUZ", "float8e5m2": "f8E5M2", "float8e5m2fnuz": "f8E5M2FNUZ",
    **{f"int{n}": f"i{n}" for n in (2, 4, 8, 16, 32, 64)}, **{f"uint{n}": f"ui{n}" for n in (2, 4, 8, 16, 32, 64)},
}  # fmt: skip
_SPELLED = {ELEMENT_TYPES[ours]: theirs for theirs, ours in _NAMES.items()}
ATTRIBUTE_KINDS = {
    "INT": {"integer", "bool", "an element type"}, "FLOAT": {"float"}, "STRING": {"string"}, "INTS": {"integers"},
    "FLOATS": {"floats"}, "STRINGS": {"strings"}, "TENSOR": {"data"},
}  # fmt: skip
# What an element type of 0 says is said here by its absence.
_UNDEFINED = AttributeProto.UNDEFINED
# Attributes of kinds that are kept by the reader and writer instead: sparse constants, and types.
_KEPT_BY_FORMAT = {"sparse_value", "type"}
_OLDEST, _NEWEST = 7, 28
_TAKEN_IN_ALL_TYPES = {("Constant", 1)}
"""Operators of which runtimes take more types than were documented."""


def _name(schema: defs.OpSchema) -> str:
    name = onnx.operation_name(schema.domain, schema.name)
    assert name is not None
    return name


def _is_defined(schema: defs.OpSchema) -> bool:
    """Returns whether there is a definition of just this version."""
    result = onnx.DIALECT.operations.get(_name(schema), ())
    return any(d.since == onnx.version_in(schema.domain, schema.since_version) for d in result)


def _current_schemas() -> list[defs.OpSchema]:
    """The schemas that are current in some version of their operator set that is covered, and older defined ones."""
    results: dict[tuple[str, str], list[defs.OpSchema]] = {}
    for schema in defs.get_all_schemas_with_history():
        results.setdefault((schema.domain, schema.name), []).append(schema)
    out: list[defs.OpSchema] = []
    for (domain, _), schemas in sorted(results.items()):
        ordered = sorted(schemas, key=lambda s: s.since_version)
        for schema, later in zip(ordered, [*ordered[1:], None], strict=True):
            if domain or later is None or later.since_version > _OLDEST or _is_defined(schema):
                out.append(schema)
    return out


_SCHEMAS = _current_schemas()
_CASES = pytest.mark.parametrize(
    "schema", [pytest.param(s, id=f"{s.domain or 'ai.onnx'}-{s.name}-{s.since_version}") for s in _SCHEMAS]
)


def _definition(schema: defs.OpSchema) -> type[Op]:
    definition = onnx.DIALECT.find(_name(schema), onnx.version_in(schema.domain, schema.since_version))
    assert definition is not None, "there is no definition"
    return definition


def _spelled(variable: TypeVariable) -> set[str]:
    """The types of a set as the registry spells them."""
    match variable:
        case ElementClass(members=members):
            return {f"tensor({_SPELLED[e]})" for e in members}
        case TypeClass(members=members):
            return set().union(*map(_spelled, members))
        case Wrapped(wrapper=wrapper, content=content):
            return {f"{_WRAPPERS[wrapper]}({t})" for t in _spelled(content)}
        case Mapped(key=key, content=content):
            keys, values = [[t.removeprefix("tensor(").removesuffix(")") for t in _spelled(v)] for v in (key, content)]
            return {f"map({k}, {v})" for k in keys for v in values}
        case _:
            raise AssertionError(variable)


_WRAPPERS = {"list": "seq", "optional": "optional", "sparse": "sparse_tensor"}


def allowed(definition: type[Op], pattern: Pattern) -> set[str]:
    if pattern.content is not None:
        return {f"{_WRAPPERS[pattern.wrapper]}({t})" for t in allowed(definition, pattern.content)}
    variable = definition.layout.variables.get(pattern.element)
    return {f"tensor({_SPELLED[ELEMENT_TYPES[pattern.element]]})"} if variable is None else _spelled(variable)


def _formal(parameter: defs.OpSchema.FormalParameter) -> tuple[str, str]:
    # `data_0` is how the registry spells a variadic `data`.
    return parameter.name.removesuffix("_0"), str(parameter.option).rpartition(".")[2]


def declared(field: Field) -> tuple[str, str]:
    option = "Variadic" if field.variadic else "Optional" if field.optional else "Single"
    return field.name.removesuffix("_"), option


def _kind(attribute: defs.OpSchema.Attribute) -> str:
    return str(attribute.type).rpartition(".")[2]


def number(value: object) -> object:
    """A number as a single-precision attribute holds it."""
    return struct.unpack("f", struct.pack("f", value))[0] if isinstance(value, float) else value


def _default(attribute: defs.OpSchema.Attribute) -> object:
    if not attribute.default_value.name:
        return None
    value = helper.get_attribute_value(attribute.default_value)
    if isinstance(value, list):
        return tuple([v.decode() if isinstance(v, bytes) else v for v in value])
    return value.decode() if isinstance(value, bytes) else value


def test_operators_are_deprecated_where_the_registry_says_so() -> None:
    result = {
        (schema.name, schema.since_version)
        for schema in defs.get_all_schemas_with_history()
        if (definition := onnx.DIALECT.find(_name(schema), onnx.version_in(schema.domain, schema.since_version)))
        and onnx.is_deprecated(definition)
    }
    deprecated = {(s.name, s.since_version) for s in defs.get_all_schemas_with_history() if s.deprecated}
    # That one was replaced by a definition of other operands; onnxruntime takes it, and exporters write it.
    assert result == deprecated - {("GroupNormalization", 18)}


@_CASES
def test_definition_is_the_one_of_the_registry(schema: defs.OpSchema) -> None:
    definition = _definition(schema)
    assert definition.since == onnx.version_in(schema.domain, schema.since_version)
    layout = definition.layout
    assert [declared(f) for f in layout.inputs] == [_formal(p) for p in schema.inputs]
    assert [declared(f) for f in layout.results] == [_formal(p) for p in schema.outputs]
    formals = [*schema.inputs, *schema.outputs]
    constraints = {c.type_param_str: set(c.allowed_type_strs) for c in schema.type_constraints}
    for field, formal in zip([*layout.inputs, *layout.results], formals, strict=True):
        assert field.pattern is not None
        if field.pattern.spec == "any":
            # A pattern does not say that each of several values may have another type.
            assert not formal.is_homogeneous, f"'{field.name}' takes any type"
            continue
        expected = constraints.get(formal.type_str, {formal.type_str})
        if (schema.name, schema.since_version) in _TAKEN_IN_ALL_TYPES:
            assert allowed(definition, field.pattern) > expected
            continue
        assert allowed(definition, field.pattern) == expected, field.name


@_CASES
def test_attributes_and_defaults_are_those_of_the_registry(schema: defs.OpSchema) -> None:
    definition = _definition(schema)
    graphs = {a.name for a in schema.attributes.values() if _kind(a) == "GRAPH"}
    assert {f.spelling for f in definition.layout.regions} == graphs
    expected = {n: a for n, a in schema.attributes.items() if n not in graphs and n not in _KEPT_BY_FORMAT}
    fields = {f.spelling: f for f in definition.layout.attributes if f.spelling not in _KEPT_BY_FORMAT}
    assert set(fields) == set(expected)
    for attribute_name, attribute in expected.items():
        field = fields[attribute_name]
        assert field.kind is FieldKind.ATTRIBUTE
        assert field.type is not None
        assert field.type.name in ATTRIBUTE_KINDS[_kind(attribute)]
        assert (field.default is MISSING) == attribute.required
        if not attribute.required:
            default = _default(attribute)
            absent = field.type.name == "an element type" and default == _UNDEFINED
            if isinstance(field.default, ElementType):
                assert isinstance(default, int)
                assert _NAMES[helper.tensor_dtype_to_string(default).rpartition(".")[2].lower()] == field.default.name
                continue
            assert number(field.default) == (None if absent else default), attribute_name


def test_there_is_no_definition_that_the_registry_lacks() -> None:
    registry = [s for s in defs.get_all_schemas_with_history() if onnx.operation_name(s.domain, s.name)]
    known = {(_name(s), onnx.version_in(s.domain, s.since_version)) for s in registry}
    ours = {(name, d.since) for name in onnx.DIALECT.operations for d in onnx.DIALECT.operations[name] if d.since}
    assert {(name, since) for name, since in ours if not is_of_onnxruntime(name)} <= known


def is_of_onnxruntime(name: str) -> bool:
    """Returns whether an operator is one that onnxruntime adds, which its registry has."""
    return name.startswith(("onnx.microsoft.", "onnx.onnxruntime."))
