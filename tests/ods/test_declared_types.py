"""Shapes that name dimensions and wildcards, as the Common IR specification explains them."""

from __future__ import annotations

import pytest

from commonir.ir.types import (
    ListType,
    MapType,
    OptionalType,
    SparseTensorType,
    TensorType,
    TupleType,
    Type,
    complex64,
    f32,
    f64,
    handle,
    i64,
    string,
    tensor,
    unknown,
)
from commonir.notation import NotationError
from commonir.ods.declared_types import Mismatch, Unification, as_declared, declared_type
from commonir.symbolic import symbol

N, M = symbol("N"), symbol("M")
UNRANKED = TensorType(f32, None)


def _unified(patterns: str, *types: Type) -> Unification:
    """The patterns are separated by `;` and all of f32."""
    result = Unification({}, types)
    for pattern, t in zip(patterns.split(";"), types, strict=True):
        result.match(declared_type(f"f32{pattern.strip()}"), t)
    return result


def _result(patterns: str, *types: Type) -> str:
    """Returns the type of the pattern after `->` when those before it match the types."""
    inputs, _, output = patterns.partition("->")
    return str(declared_type(f"f32{output.strip()}").resolve(_unified(inputs, *types)))


@pytest.mark.parametrize("shape", [(), (3,), (3, 4, 5)])
def test_a_simple_wildcard_is_zero_or_more_dimensions(shape: tuple[int, ...]) -> None:
    _unified("[*]", tensor(f32, *shape))


def test_a_wildcard_after_a_name_is_one_or_more_dimensions() -> None:
    _unified("[n, *]", tensor(f32, 3))
    _unified("[n, *]", tensor(f32, 3, 4, 5))
    with pytest.raises(Mismatch, match="expected rank 1 or more"):
        _unified("[n, *]", tensor(f32))


def test_simple_wildcards_do_not_correlate_shapes() -> None:
    assert _unified("[*]; [*]", tensor(f32, 3), tensor(f32, 4, 5)).constraints == ()


def test_a_named_wildcard_makes_shapes_the_same() -> None:
    assert _result("[m*]; [m*] -> [m*]", tensor(f32, 3, 4), tensor(f32, 3, 4)) == "tensor<3x4xf32>"
    assert _result("[m*]; [m*] -> [m*]", tensor(f32), tensor(f32)) == "tensor<f32>"
    with pytest.raises(NotationError, match="expected 4, found 5"):
        _unified("[m*]; [m*]", tensor(f32, 3, 4), tensor(f32, 3, 5))
    with pytest.raises(Mismatch, match=r"m\* stands for 2 dimensions elsewhere and for 1 here"):
        _unified("[m*]; [m*]", tensor(f32, 3, 4), tensor(f32, 3))


def test_a_name_before_a_wildcard_is_the_left_most_dimension() -> None:
    assert _result("[n, m*]; [m*] -> [n]", tensor(f32, 7, 3, 4), tensor(f32, 3, 4)) == "tensor<7xf32>"
    with pytest.raises(Mismatch):
        _unified("[n, m*]; [m*]", tensor(f32, 7, 3, 4), tensor(f32, 7, 3, 4))
    with pytest.raises(NotationError, match="expected 3, found 7"):
        _unified("[n, m*]; [m*]", tensor(f32, 7, 3), tensor(f32, 7))


def test_last_of_one_operand_is_first_of_another_whatever_their_ranks() -> None:
    assert _result("[*, n]; [n, *] -> [n]", tensor(f32, 2, 3, 5), tensor(f32, 5, 8)) == "tensor<5xf32>"
    _unified("[*, n]; [n, *]", tensor(f32, 5), tensor(f32, 5))
    with pytest.raises(NotationError, match="expected 5, found 6"):
        _unified("[*, n]; [n, *]", tensor(f32, 2, 5), tensor(f32, 6, 8))
    with pytest.raises(Mismatch):
        _unified("[*, n]; [n, *]", tensor(f32), tensor(f32, 5))


def test_a_product_of_matrices_as_the_specification_declares_it() -> None:
    assert _result("[K, M]; [M, N] -> [K, N]", tensor(f32, 2, 3), tensor(f32, 3, 4)) == "tensor<2x4xf32>"
    with pytest.raises(NotationError):
        _unified("[K, M]; [M, N]", tensor(f32, 2, 3), tensor(f32, 2, 3))


def test_numbers_and_variables_may_be_mixed() -> None:
    assert _result("[3, n] -> [n, 2]", tensor(f32, 3, N)) == 'tensor<"N"x2xf32>'
    with pytest.raises(NotationError, match="expected 3, found 4"):
        _unified("[3, n]", tensor(f32, 4, 5))


def test_program_symbols_that_must_be_equal_stay_two_with_a_constraint() -> None:
    result = _unified("[m*]; [m*]", tensor(f32, N, 4), tensor(f32, M, 4))
    assert [str(c) for c in result.constraints] == ["M == N (dimension m)"]


def test_an_unknown_dimension_is_what_it_must_be_equal_to() -> None:
    assert _result("[m*]; [m*] -> [m*]", tensor(f32, None, N), tensor(f32, 3, None)) == 'tensor<3x"N"xf32>'
    assert _unified("[m*]; [m*]", tensor(f32, None, N), tensor(f32, 3, None)).constraints == ()


def test_an_unknown_dimension_cannot_be_two_sizes() -> None:
    with pytest.raises(NotationError, match="3"):
        _unified("[m*]; [m*]; [m*]", tensor(f32, None), tensor(f32, 4), tensor(f32, 3))


def test_unknown_dimensions_that_nothing_determines_stay_unknown() -> None:
    assert _result("[n] -> [n, n]", tensor(f32, None)) == "tensor<?x?xf32>"


def test_operands_of_unknown_rank_take_that_of_others() -> None:
    assert _result("[m*]; [m*] -> [m*]", UNRANKED, tensor(f32, 3, N)) == 'tensor<3x"N"xf32>'
    assert _result("[n, m*]; [m*] -> [n, m*]", UNRANKED, tensor(f32, 3)) == "tensor<?x3xf32>"
    assert _result("[m*] -> [m*]", UNRANKED) == "tensor<*xf32>"
    assert _result("[*, n]; [n, *] -> [n]", UNRANKED, tensor(f32, 5, 8)) == "tensor<5xf32>"


def test_results_with_simple_wildcards_have_unknown_rank() -> None:
    assert _result("[n, *] -> [n, *]", tensor(f32, 3, 4)) == "tensor<*xf32>"


COLLECTIONS: dict[str, Type] = {
    "sparse<f32[n, m]>": SparseTensorType(f32, (3, 4)),
    "list<f32[n]>": ListType(tensor(f32, 3)),
    "optional<f32[n]>": OptionalType(tensor(f32, 3)),
    "tuple<f32[n], i64[]>": TupleType((tensor(f32, 3), tensor(i64))),
    "map<i64, f32[]>": MapType(i64, tensor(f32)),
    "map<!builtin.string[], f64[]>": MapType(string, tensor(f64)),
    "complex<f32>[n]": tensor(complex64, 3),
    "!builtin.handle[]": tensor(handle),
    "list<list<f32[n]>>": ListType(ListType(tensor(f32, 3))),
}


@pytest.mark.parametrize("text", COLLECTIONS)
def test_collections_match_their_types_and_give_them_back(text: str) -> None:
    declared, type = declared_type(text), COLLECTIONS[text]
    result = Unification({}, [type])
    result.match(declared, type)
    assert declared.resolve(result) is type
    assert declared_type(str(declared)) == declared


@pytest.mark.parametrize("text", COLLECTIONS)
def test_collections_refuse_other_types(text: str) -> None:
    with pytest.raises(Mismatch):
        Unification({}, []).match(declared_type(text), tensor(f64, 2, 2, 2))


def test_names_are_shared_with_what_is_inside_of_collections() -> None:
    result = Unification({}, [])
    result.match(declared_type("list<f32[n]>"), ListType(tensor(f32, 3)))
    with pytest.raises(NotationError, match="expected 3, found 4"):
        result.match(declared_type("f32[n]"), tensor(f32, 4))


def test_a_value_of_unknown_type_matches_and_implies_nothing() -> None:
    result = Unification({}, [unknown])
    result.match(declared_type("f32[n]"), unknown)
    assert result.is_partial
    assert str(declared_type("f32[n]").resolve(result)) == "tensor<?xf32>"


WRONG = {
    "f32[n*, m*]": "at most one wildcard",
    "f33[n]": "did you mean",
    "list<f32": "expected ',' or '>'",
    "sparse<list<f32>>": "sparse<...> is of a dense tensor",
    "f32[1.5]": "'1.5' is not a dimension",
    "f32[-1]": "'-1' is not a dimension",
    "map<i64>": "map<...> is of 2 types",
    "f32[n]x": "nothing may follow",
    "": "expected an element type",
    "list<" * 40: "nests deeper than 32",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_text_that_is_not_a_type_is_refused_with_the_reason(text: str) -> None:
    with pytest.raises(ValueError, match=WRONG[text].replace("(", r"\(").replace("<...>", "<...>")):
        declared_type(text)


def test_types_of_values_as_a_declaration_states_them() -> None:
    types = [tensor(f32, N, 3), tensor(f32, N, None), tensor(f32, N + 1), ListType(tensor(i64))]
    assert [str(as_declared(t)) for t in types] == ["f32[N, 3]", "f32[N, ?]", "f32[?]", "list<i64[]>"]
