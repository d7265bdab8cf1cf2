"""Declarations and nodes of any content: findings, never a traceback."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects.common_ir import OperatorDeclaration, signature_dictionary, signature_from
from commonir.dialects.common_ir.naming import markup_in
from commonir.ir.attributes import Attribute, attribute_of
from commonir.ir.operation import Value
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
    i64,
    unknown,
)
from commonir.ods import check_operation
from commonir.ods.declared import OperatorUse, choose
from commonir.ods.declared_types import declared_type
from commonir.symbolic import Dim, symbol

_NAMES = st.sampled_from(["x", "n", "n*", "m*", "*", "_", "operands", "name", "7", "", "a.b", "class", "results", "é"])
_ELEMENTS = st.sampled_from(["f32", "f64", "i64", "T", "U", "complex<f32>", "!builtin.string", "any", "graph", "f31"])


@st.composite
def _type_texts(draw: st.DrawFn, depth: int = 2) -> str:
    if depth and draw(st.booleans()):
        wrapper = draw(st.sampled_from(["list", "optional", "sparse", "tuple", "map", "set"]))
        parts = draw(st.lists(_type_texts(depth - 1), max_size=2))
        return f"{wrapper}<{', '.join(parts)}>"
    if draw(st.booleans()):
        return draw(_ELEMENTS)
    return f"{draw(_ELEMENTS)}[{', '.join(draw(st.lists(_NAMES, max_size=3)))}]"


_LITERALS = st.one_of(st.integers(-3, 3), st.floats(), st.text(max_size=3), st.lists(st.integers(0, 3), max_size=3))
_MULTIPLICITIES = st.sampled_from(["one", "optional", "many", "few"])
_PARAMETERS = st.fixed_dictionaries({"name": _NAMES}, optional={"type": _type_texts(), "multiplicity": _MULTIPLICITIES})
_ATTRIBUTES = st.fixed_dictionaries({"name": _NAMES}, optional={"type": _type_texts(), "default": _LITERALS})
_SIGNATURES = st.fixed_dictionaries(
    {"inputs": st.lists(_PARAMETERS, max_size=3), "outputs": st.lists(_PARAMETERS, max_size=3)},
    optional={
        "attributes": st.lists(_ATTRIBUTES, max_size=3),
        "types": st.dictionaries(st.sampled_from(["T", "U", "n"]), st.lists(st.sampled_from(["f32", "f64", "q"]))),
        "doc": st.text(max_size=20),
        "other": _LITERALS,
    },
)

_DIMS = st.one_of(st.none(), st.integers(0, 3), st.sampled_from([symbol("N"), symbol("M") + 1]))


def _shaped(dims: list[Dim | None] | None) -> TensorType:
    return TensorType(f32, None if dims is None else tuple(dims))


_TENSORS = st.one_of(st.none(), st.lists(_DIMS, max_size=3)).map(_shaped)
_TYPES: st.SearchStrategy[Type] = st.one_of(
    _TENSORS,
    _TENSORS.map(lambda t: TensorType(f64, t.shape)),
    _TENSORS.map(ListType),
    _TENSORS.map(OptionalType),
    _TENSORS.map(lambda t: SparseTensorType(f32, t.shape)),
    _TENSORS.map(lambda t: TupleType((t, t))),
    _TENSORS.map(lambda t: MapType(i64, t)),
    st.just(unknown),
)


@pytest.mark.slow
@given(_type_texts(3))
@settings(max_examples=3 * settings().max_examples, deadline=None)
def test_texts_of_types_are_read_or_refused_with_a_reason(text: str) -> None:
    with contextlib.suppress(ValueError):
        result = declared_type(text, ["T"])
        assert declared_type(str(result), ["T"]) == result


@given(st.text(alphabet="fi3264[]<>,*n !.complextuple\n", max_size=30))
@settings(max_examples=3 * settings().max_examples, deadline=None)
def test_any_text_is_read_as_a_type_or_refused(text: str) -> None:
    with contextlib.suppress(ValueError):
        declared_type(text)


@pytest.mark.slow
@given(
    st.lists(_SIGNATURES, min_size=1, max_size=3),
    st.lists(_TYPES, max_size=4),
    st.dictionaries(_NAMES, _LITERALS, max_size=2),
    st.one_of(st.none(), st.lists(st.integers(-1, 3), max_size=4)),
    st.integers(0, 3),
)
@settings(max_examples=4 * settings().max_examples, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_declaration_is_verified_and_any_node_of_it_chosen_or_refused(
    declared: list[dict[str, object]],
    types: list[Type],
    attributes: dict[str, object],
    counts: list[int] | None,
    results: int,
) -> None:
    dictionaries: list[Attribute] = [attribute_of(s) for s in declared]
    declaration = OperatorDeclaration.build({"sym_name": "F", "signatures": tuple(dictionaries)}, ())
    result = check_operation(declaration)
    try:
        definitions = declaration.definitions("F")
    except ValueError:
        assert any(d.is_error for d in result)
        return
    for definition in definitions:
        again = signature_from(signature_dictionary(definition.signature))
        assert str(again) == str(definition.signature)
    given_attributes = {name: attribute_of(value) for name, value in attributes.items()}
    use = OperatorUse(
        tuple(map(Value, types)), given_attributes, None if counts is None else tuple(counts), {}, results
    )
    with contextlib.suppress(DiagnosticError):
        choice = choose(definitions, use)
        check_operation(choice.definition.build(choice.arguments, [unknown] * results))


@given(st.text(alphabet="<>`~b /!-\n\\.:e", max_size=60))
@settings(max_examples=3 * settings().max_examples, deadline=None)
def test_any_documentation_is_looked_through(text: str) -> None:
    markup_in(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("```\n<b>", None), ("```\n<b>\n```\n<i>", "<i>"), ("`<b>`", None), ("` <b>", "<b>")],
)
def test_code_is_not_markup(text: str, expected: str | None) -> None:
    assert markup_in(text) == expected
