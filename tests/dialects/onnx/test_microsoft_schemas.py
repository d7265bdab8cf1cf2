"""Compares every definition of an operator that onnxruntime adds with its schema registry."""

from __future__ import annotations

from typing import Any

import pytest
from onnx import AttributeProto, helper
from onnxruntime.capi import onnxruntime_pybind11_state as onnxruntime  # pyright: ignore[reportAttributeAccessIssue]  has no stub

from commonir.dialects import onnx
from commonir.ods import Op
from commonir.ods.fields import MISSING

from tests.dialects.onnx.test_schemas import ATTRIBUTE_KINDS, allowed, declared, is_of_onnxruntime, number

_REGISTRY = {(s.domain, s.name): s for s in onnxruntime.get_all_operator_schema() if s.since_version == 1}
_DEFINED = sorted(name for name in onnx.DIALECT.operations if is_of_onnxruntime(name))


def _schema(name: str) -> Any:
    return _REGISTRY[onnx.operator_of(name)]


def _definition(name: str) -> type[Op]:
    (result,) = onnx.DIALECT.operations[name]
    return result


def _default(attribute: Any) -> object:
    proto = AttributeProto.FromString(attribute._default_value)
    value = helper.get_attribute_value(proto) if proto.name else None
    return value.decode() if isinstance(value, bytes) else value


@pytest.mark.parametrize("name", _DEFINED)
def test_operands_and_results_are_those_of_the_registry(name: str) -> None:
    schema, definition = _schema(name), _definition(name)
    layout = definition.layout
    formals = [*schema.inputs, *schema.outputs]
    spelled = [(p.name, str(p.option).rpartition(".")[2]) for p in formals]
    fields = [*layout.inputs, *layout.results]
    assert [declared(f) for f in fields] == spelled
    constraints = {c.type_param_str: set(c.allowed_type_strs) for c in schema.type_constraints}
    for field, formal in zip(fields, formals, strict=True):
        assert field.pattern is not None
        if field.pattern.spec == "any":
            assert not formal.isHomogeneous
        else:
            assert allowed(definition, field.pattern) == constraints.get(formal.typeStr, {formal.typeStr}), field.name


@pytest.mark.parametrize("name", _DEFINED)
def test_attributes_and_defaults_are_those_of_the_registry(name: str) -> None:
    expected = _schema(name).attributes
    fields = {f.spelling: f for f in _definition(name).layout.attributes}
    assert set(fields) == set(expected)
    for spelling, field in fields.items():
        attribute = expected[spelling]
        assert field.type is not None
        assert field.type.name in ATTRIBUTE_KINDS[str(attribute.type).rpartition(".")[2]], spelling
        assert (field.default is MISSING) == attribute.required, spelling
        if not attribute.required:
            assert number(field.default) == _default(attribute), spelling
