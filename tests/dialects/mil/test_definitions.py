"""Compares every definition of the mil dialect with the operation registry of coremltools."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from enum import Enum
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from commonir.base.arrays import dtype_of
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import mil
from commonir.dialects.mil.base import VERSIONS
from commonir.ir.types import ELEMENT_TYPES, ElementType
from commonir.ods import Op
from commonir.ods.fields import MISSING, Field, FieldKind

from tests.dialects.mil.single_operations import Given, Program, definition_of, f16, i8, u8, u32
from tests.oracles import oracle

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    coremltools = oracle("coremltools")
    from coremltools.converters.mil.mil import types
    from coremltools.converters.mil.mil.input_type import TensorInputType
    from coremltools.converters.mil.mil.ops.registry import SSAOpRegistry

_TARGETS: dict[str, str] = dict(zip(VERSIONS, ("iOS15", "iOS16", "iOS17", "iOS18", "iOS26"), strict=True))
# What a file has beside operations: functions, what ends blocks, constants (compared below) and literals; then the
# kinds of model that a pipeline connects, which are not operations of MIL.
_STRUCTURE = {
    "mil.func", "mil.return", "mil.const", "mil.literal", "mil.compound_const", "mil.compound_literal",
    "mil.composition", "mil.run_model", "mil.hand_over", "mil.opaque_model", "mil.pick_top",
}  # fmt: skip
# Exist in files only; coremltools holds them as operations of a dialect, or of an app, of their own.
_FILES_ONLY = {"mil.write_state", "mil.custom_layer"}
_OPERATIONS = sorted(set(mil.DIALECT.operations) - _STRUCTURE - _FILES_ONLY)
_ELEMENTS = {
    "bool": "i1", "str": "!builtin.string", "string": "!builtin.string", "fp16": "f16", "fp32": "f32",
    **{f"int{n}": f"i{n}" for n in (4, 8, 16, 32)}, **{f"uint{n}": f"ui{n}" for n in (1, 2, 3, 4, 6, 8, 16, 32)},
}  # fmt: skip
# Absent operands have no default in a definition; what they mean is tested by running them.
_MEANT_BY_ABSENCE = {
    ("mil.fill", "value"), ("mil.fill_like", "value"), ("mil.one_hot", "on_value"), ("mil.one_hot", "off_value"),
    ("mil.linear", "bias"), ("mil.topk", "output_indices_dtype"),
    ("mil.random_bernoulli", "prob"), ("mil.random_normal", "mean"), ("mil.random_normal", "stddev"),
    ("mil.random_uniform", "low"), ("mil.random_uniform", "high"),
    ("mil.crop_resize", "box_indices"), ("mil.make_list", "init_length"),
}  # fmt: skip
_ONE_PER_AXIS = {"strides": 1, "dilations": 1, "pad": 0}


def _theirs(name: str, version: str) -> Any:
    """The newest class of an operation that is not newer than a version."""
    result = None
    target = getattr(coremltools.target, _TARGETS[version])
    for since, definition in SSAOpRegistry.core_ops.get(name.removeprefix("mil."), {}).items():
        if since is not None and since <= target:
            result = definition
    return result


def _pairs() -> Iterator[tuple[str, str]]:
    for name in _OPERATIONS:
        for version in VERSIONS:
            if mil.DIALECT.find(name, version) is not None or _theirs(name, version) is not None:
                yield name, version


_PAIRS = list(_pairs())


def _found(name: str, version: str) -> tuple[type[Op], Any]:
    ours, theirs = mil.DIALECT.find(name, version), _theirs(name, version)
    assert ours is not None, f"the mil dialect has no {name} in {version}"
    assert theirs is not None, f"coremltools has no {name} in {_TARGETS[version]}"
    return ours, theirs


def _inputs(definition: type[Op]) -> dict[str, Field]:
    """Returns the names of inputs in a file; the attributes of the iOS 16 constexpr operations count as such."""
    layout = definition.layout
    return {f.spelling: f for f in (*layout.inputs, *layout.attributes)}


def _their_inputs(definition: Any) -> dict[str, Any]:
    return {k: v for k, v in definition.input_spec.input_types.items() if not k.startswith("_")}


def _domain(definition: Any, spec: Any) -> set[ElementType]:
    domain = spec.type_domain if spec.type_domain_id is None else definition.type_domains[spec.type_domain_id]
    members = domain if isinstance(domain, tuple) else (domain,)
    return {ELEMENT_TYPES[_ELEMENTS[types.builtin_to_string(t)]] for t in members}


def _allowed(definition: type[Op], field: Field) -> set[ElementType] | None:
    """The element types of a field; None where its pattern does not say."""
    if field.pattern is None or field.pattern.element == "any":
        return None
    variable = definition.layout.variables.get(field.pattern.element)
    return {ELEMENT_TYPES[field.pattern.element]} if variable is None else set(variable.elements)


def _their_defaults(definition: Any) -> dict[str, object]:
    result = object.__new__(definition)
    result.x = SimpleNamespace(rank=4, shape=(1, 8, 5, 5), dtype=types.fp32)
    result.weight = SimpleNamespace(shape=(8, 8, 3, 3), dtype=types.fp32)
    result.return_indices = None
    result.box_indices, result.boxes = None, SimpleNamespace(shape=(1, 4))
    return dict(result.default_inputs().items())


def test_every_operation_of_the_registry_is_defined() -> None:
    assert len(SSAOpRegistry.core_ops) == 168
    # Builders of tests make it for themselves; no file has it.
    missing = {"_const_symbolic"}
    assert {f"mil.{name}" for name in SSAOpRegistry.core_ops.keys() - missing} == {*_OPERATIONS, "mil.const"}


def test_constant_has_the_parameter_of_the_registry() -> None:
    # It takes every type, strings and lists too, so that there is no pattern to compare.
    ours, theirs = _found("mil.const", "CoreML5")
    assert [f.spelling for f in ours.layout.attributes] == list(_their_inputs(theirs)) == ["val"]
    assert ours.layout.by_name["val"].is_required


@pytest.mark.parametrize(("name", "version"), _PAIRS)
def test_operation_exists_in_the_same_versions(name: str, version: str) -> None:
    _found(name, version)


@pytest.mark.parametrize(("name", "version"), _PAIRS)
def test_parameters_have_the_same_names_and_may_be_absent(name: str, version: str) -> None:
    ours, theirs = _found(name, version)
    expected = {k: v.optional for k, v in _their_inputs(theirs).items()}
    assert {k: not f.is_required and not f.variadic for k, f in _inputs(ours).items()} == expected


@pytest.mark.parametrize(("name", "version"), _PAIRS)
def test_parameters_must_be_constant(name: str, version: str) -> None:
    ours, theirs = _found(name, version)
    expected = {k: v.const for k, v in _their_inputs(theirs).items() if isinstance(v, TensorInputType)}
    result = {k: f.kind is not FieldKind.OPERAND or f.constant for k, f in _inputs(ours).items() if k in expected}
    assert result == expected


@pytest.mark.parametrize(("name", "version"), _PAIRS)
def test_parameters_take_the_same_element_types(name: str, version: str) -> None:
    ours, theirs = _found(name, version)
    specs = {k: v for k, v in _their_inputs(theirs).items() if isinstance(v, TensorInputType)}
    declared = {
        k: _allowed(ours, f) for k, f in _inputs(ours).items() if k in specs and f.kind is not FieldKind.ATTRIBUTE
    }
    assert declared == {k: _domain(theirs, specs[k]) for k in declared}


@pytest.mark.parametrize(("name", "version"), _PAIRS)
def test_parameters_share_element_types(name: str, version: str) -> None:
    ours, theirs = _found(name, version)
    expected: dict[str, set[str]] = {}
    for k, spec in _their_inputs(theirs).items():
        if isinstance(spec, TensorInputType) and spec.type_domain_id is not None:
            expected.setdefault(spec.type_domain_id, set()).add(k)
    results: dict[str, set[str]] = {}
    for k, f in _inputs(ours).items():
        variable = None if f.pattern is None else ours.layout.variables.get(f.pattern.element)
        # Of a variable with one member nothing is shared that is not said by the member itself.
        if f.pattern is not None and variable is not None and len(variable.elements) > 1:
            results.setdefault(f.pattern.element, set()).add(k)
    several = [
        g for k, g in expected.items() if len(g) > 1 and not g & _attributes(ours) and len(_members(theirs, k)) > 1
    ]
    assert sorted(map(sorted, several)) == sorted(sorted(g) for g in results.values() if len(g) > 1)


# Parameters that are attributes of an operation with good values for each; the results of iOS 16's compressions.
_GOOD: dict[str, dict[str, Given]] = {
    "mil.constexpr_affine_dequantize": {"quantized_data": i8([1]), "zero_point": i8(0), "scale": f16(1), "axis": 0},
    "mil.constexpr_cast": {"source_val": f16([1]), "output_dtype": "fp32"},
    "mil.constexpr_lut_to_dense": {"indices": u8([0]), "lut": f16([0, 1]), "shape": u32([8])},
    "mil.constexpr_sparse_to_dense": {"nonzero_data": f16([1]), "mask": u8([1]), "shape": u32([8])},
}


def test_every_operation_with_attributes_is_compared() -> None:
    definitions = [mil.DIALECT.find(name, version) for name, version in _PAIRS]
    assert {d.name for d in definitions if d is not None and _attributes(d)} == _GOOD.keys()


@pytest.mark.parametrize(("name", "parameter"), [(name, p) for name, inputs in _GOOD.items() for p in inputs])
def test_attributes_take_the_same_element_types(name: str, parameter: str) -> None:
    definition, good = definition_of(name.removeprefix("mil."), "CoreML6"), _GOOD[name]
    assert _attributes(definition) == good.keys()
    theirs = _theirs(name, "CoreML6")
    expected = _domain(theirs, _their_inputs(theirs)[parameter])
    if isinstance(good[parameter], str | int):
        # Kept as a value of Python, whose type says the element type.
        assert {e.name for e in expected} == {"!builtin.string" if isinstance(good[parameter], str) else "i32"}
        return
    results: set[ElementType] = set()
    for element in map(ELEMENT_TYPES.__getitem__, ("i8", "i16", "i32", "ui8", "ui16", "ui32", "f16", "f32", "i1")):
        array = np.asarray(good[parameter]).astype(dtype_of(element.name))
        try:
            Program(definition, {**good, parameter: array})
        except DiagnosticError:
            continue
        results.add(element)
    assert results == expected


def _members(definition: Any, domain: str) -> tuple[object, ...]:
    members = definition.type_domains[domain]
    return members if isinstance(members, tuple) else (members,)


def _attributes(definition: type[Op]) -> set[str]:
    return {f.spelling for f in definition.layout.attributes if f.kind is FieldKind.ATTRIBUTE}


@pytest.mark.parametrize(("name", "version"), _PAIRS)
def test_parameters_have_the_same_defaults(name: str, version: str) -> None:
    ours, theirs = _found(name, version)
    defaults = _their_defaults(theirs)
    for k, f in _inputs(ours).items():
        if (name, k) in _MEANT_BY_ABSENCE:
            assert f.default is None
            assert defaults[k] is not None
        else:
            assert _is_default(k, f.default, defaults.get(k)), (k, f.default, defaults.get(k))


def _is_default(parameter: str, ours: object, theirs: object) -> bool:
    if ours is MISSING or (ours == () and parameter not in _ONE_PER_AXIS):
        return theirs is None  # required, or variadic
    if ours == ():
        return list(np.ravel(np.asarray(theirs))) in ([_ONE_PER_AXIS[parameter]] * n for n in (2, 4))
    if parameter == "axes" and ours is None:
        return theirs is None or list(np.asarray(theirs)) == [0, 1, 2, 3]
    if isinstance(ours, Enum):
        return ours.value == theirs
    if isinstance(ours, float):
        return np.float32(ours) == np.float32(np.asarray(theirs))
    return ours == theirs
