"""Definitions made at run time: fields, inference, overloads, argument counts, text form and pages."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.ir.attributes import Attribute, DataAttr, DenseArrayAttr, FloatAttr, IntegerAttr, StringAttr
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import ListType, Type, f32, f64, i64, tensor
from commonir.ods import Dialect, Dialects, check_operation, infer
from commonir.ods.declared import (
    AmbiguousName,
    Declaration,
    DeclaredAttribute,
    DeclaredOp,
    Multiplicity,
    OperatorUse,
    Parameter,
    Signature,
    choose,
    define,
)
from commonir.ods.declared_attributes import declared_attr_type
from commonir.ods.declared_from import declaration_of
from commonir.ods.declared_types import declared_type
from commonir.ods.documentation import operation_page
from commonir.ods.patterns import element_type
from commonir.symbolic import symbol

N, M = symbol("N"), symbol("M")
NAME = "common_ir.op.com.example.Gemm"


def _parameter(text: str) -> Parameter:
    """`name: type`, `name?: type` or `name...: type`."""
    name, _, kind = text.partition(": ")
    many = Multiplicity.MANY if name.endswith("...") else Multiplicity.OPTIONAL if name[-1] == "?" else Multiplicity.ONE
    return Parameter(name.rstrip("?."), declared_type(kind, ["T"]), many)


def _signature(inputs: str, outputs: str, **attributes: str | tuple[str, Attribute]) -> Signature:
    built = [
        DeclaredAttribute(n, declared_attr_type(a))
        if isinstance(a, str)
        else DeclaredAttribute(n, declared_attr_type(a[0]), a[1])
        for n, a in attributes.items()
    ]
    arguments = [tuple([_parameter(p) for p in text.split("; ") if p]) for text in (inputs, outputs)]
    return Signature(arguments[0], arguments[1], tuple(built), {"T": element_type(f32, f64)})


def _defined(*signatures: Signature) -> tuple[type[DeclaredOp], ...]:
    return define(Declaration("Gemm", signatures, "Multiplies."), "com.example.Gemm", NAME, DeclaredOp)


GEMM = _signature("A: f32[n, k]; B: f32[k, m]", "Y: f32[n, m]", alpha=("f32[]", FloatAttr(1.0, f32)))
GEMM64 = _signature("A: f64[n, k]; B: f64[k, m]", "Y: f64[n, m]")


def _values(*types: Type) -> tuple[Value, ...]:
    return tuple(map(Value, types))


def _built(definition: Callable[..., DeclaredOp], *args: object, **named: object) -> DeclaredOp:
    """An operation of a definition of which type checkers know no fields."""
    return definition(*args, **named)


def _messages(error: pytest.ExceptionInfo[DiagnosticError]) -> str:
    return str(error.value)


def test_operands_results_and_attributes_are_read_by_their_declared_names() -> None:
    (gemm,) = _defined(GEMM)
    a, b = _values(tensor(f32, N, 4), tensor(f32, 4, 5))
    op = _built(gemm, a, b, alpha=2.0)
    fields = gemm.layout.by_name
    assert [op.field_value(fields[name]) for name in ("A", "alpha", "Y")] == [a, 2.0, op.result]
    assert op.result.type is tensor(f32, N, 5)
    assert _built(gemm, a, b).stored_attributes == {"alpha": 1.0}


def test_names_that_operations_use_themselves_may_be_declared() -> None:
    (built,) = _defined(_signature("operands: f32[n]; name: f32[n]", "results: f32[n]", parent="i64[]", class_="i64[]"))
    op = _built(built, *_values(tensor(f32, 3), tensor(f32, 3)), 7, 8)
    assert [f.spelling for f in built.layout.inputs] == ["operands", "name"]
    assert [f.spelling for f in built.layout.attributes] == ["parent", "class_"]
    assert "<{class_ = 8 : i64, parent = 7 : i64}>" in str(op) or "<{parent = 7" in str(op)
    assert infer(op).types == (tensor(f32, 3),)


def test_sizes_that_must_be_equal_are_a_constraint_of_the_definition() -> None:
    (gemm,) = _defined(GEMM)
    op = _built(gemm, *_values(tensor(f32, 2, N), tensor(f32, M, 3)))
    assert [str(c) for c in infer(op).constraints] == ["M == N (dimension k)"]


def test_operands_that_contradict_the_signature_are_reported_all_at_once() -> None:
    (gemm,) = _defined(GEMM)
    with pytest.raises(DiagnosticError) as error:
        _built(gemm, *_values(tensor(f64, 2, 3), tensor(f32, 3)))
    assert "E0503" in _messages(error)
    assert "operand 'A': expected element type f32, found f64" in _messages(error)
    assert "operand 'B': expected rank 2" in _messages(error)


def test_types_of_operands_choose_among_overloads() -> None:
    both = _defined(GEMM, GEMM64)
    for element, number in ((f32, 0), (f64, 1)):
        use = OperatorUse(_values(tensor(element, 2, 3), tensor(element, 3, 4)))
        assert choose(both, use).definition is both[number]


def test_no_overload_that_fits_shows_all_and_why_each_does_not() -> None:
    with pytest.raises(DiagnosticError) as error:
        choose(_defined(GEMM, GEMM64), OperatorUse(_values(tensor(f64, 2, 3), tensor(f64, 4, 5))))
    assert _messages(error) == (
        "error[E0510]: com.example.Gemm: none of its 2 signatures fits operands (tensor<2x3xf64>, tensor<4x5xf64>)\n"
        "   = signature 1 (A: f32[n, k], B: f32[k, m]; alpha: f32[]) -> (Y: f32[n, m]): "
        "operand 'A': expected element type f32, found f64\n"
        "   = signature 2 (A: f64[n, k], B: f64[k, m]) -> (Y: f64[n, m]): "
        "operand 'B': dimension k: expected 3, found 4\n"
        "   = help: convert an operand, or declare a further signature"
    )


def test_overloads_that_both_fit_are_an_error_that_names_both() -> None:
    both = _defined(_signature("x: f32[n, *]", "y: f32[n]"), _signature("x: f32[*, n]", "y: f32[n]"))
    with pytest.raises(DiagnosticError) as error:
        choose(both, OperatorUse(_values(tensor(f32, 2, 3))))
    assert "E0511" in _messages(error)
    assert "signature 1 (x: f32[n, *])" in _messages(error)
    assert "signature 2 (x: f32[*, n])" in _messages(error)


def test_attributes_choose_among_overloads_too() -> None:
    both = _defined(
        _signature("x: f32[n]", "y: f32[n]", axis="i64[]"), _signature("x: f32[n]", "y: f32[n]", scale="f32[]")
    )
    use = OperatorUse(_values(tensor(f32, 2)), {"scale": FloatAttr(2.0, f32)})
    assert choose(both, use).definition is both[1]


def test_argument_counts_give_inputs_to_parameters_from_left_to_right() -> None:
    (built,) = _defined(_signature("first: list<f32[*]>; second: list<f32[*]>", "y: f32[*]"))
    values = _values(*[tensor(f32, n) for n in range(5)])
    choice = choose((built,), OperatorUse(values, counts=(2, 3)))
    assert choice.arguments == {"first": values[:2], "second": values[2:]}


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ((2, 2), "the argument-count list [2, 2] does not divide 5 inputs"),
        ((5,), "the argument-count list [5] is not of 2 parameters"),
        ((6, -1), "does not divide 5 inputs"),
        (None, "no list of argument counts says how they go together"),
    ],
)
def test_argument_counts_that_do_not_fit_are_refused(counts: tuple[int, ...] | None, message: str) -> None:
    (built,) = _defined(_signature("first: list<f32[*]>; second: list<f32[*]>", "y: f32[*]"))
    values = _values(*[tensor(f32, n) for n in range(5)])
    with pytest.raises(DiagnosticError) as error:
        choose((built,), OperatorUse(values, counts=counts))
    assert "E0502" in _messages(error)
    assert message in _messages(error)


def test_a_missing_list_of_counts_means_one_to_one() -> None:
    (gemm,) = _defined(GEMM)
    values = _values(tensor(f32, 2, 3), tensor(f32, 3, 4))
    assert choose((gemm,), OperatorUse(values)).arguments == {"A": values[0], "B": values[1]}


def test_several_values_for_a_parameter_that_is_not_a_list_are_refused() -> None:
    (gemm,) = _defined(GEMM)
    values = _values(tensor(f32, 2, 3), tensor(f32, 3, 4))
    with pytest.raises(DiagnosticError, match="parameter 'A' takes one value, found 2"):
        choose((gemm,), OperatorUse(values, counts=(2, 0)))


def test_a_list_is_passed_whole_or_value_by_value() -> None:
    (built,) = _defined(_signature("xs: list<f32[n]>", "y: f32[n]"))
    whole = built.build({"xs": _values(ListType(tensor(f32, 3)))}, [tensor(f32, 3)])
    apart = built.build({"xs": _values(tensor(f32, 3), tensor(f32, 3))}, [tensor(f32, 3)])
    wrong = built.build({"xs": _values(tensor(f32, 3), tensor(f32, 4))}, [tensor(f32, 3)])
    assert infer(whole).types == infer(apart).types == (tensor(f32, 3),)
    assert [d.message for d in check_operation(wrong)] == [f"{NAME}: operand 'xs'[1]: dimension n: expected 3, found 4"]


def test_optional_operands_and_results_may_be_absent() -> None:
    (built,) = _defined(_signature("x: f32[n]; bias?: f32[n]", "y: f32[n]; mask?: i64[n]"))
    (x,) = _values(tensor(f32, 3))
    choice = choose((built,), OperatorUse((x,), counts=(1, 0)))
    short = built.build(choice.arguments, [tensor(f32, 3)])
    assert infer(short).types == (tensor(f32, 3),)
    full = built.build(choose((built,), OperatorUse((x, x), counts=(1, 1))).arguments, [tensor(f32, 3)] * 2)
    assert infer(full).types == (tensor(f32, 3), tensor(i64, 3))


def test_repeated_results_are_as_many_as_the_node_names() -> None:
    (built,) = _defined(_signature("x: f32[n, m]", "ys...: f32[m]"))
    op = built.build({"x": Value(tensor(f32, 2, 3))}, [tensor(f32, 3)] * 4)
    assert infer(op).types == (tensor(f32, 3),) * 4


@pytest.mark.parametrize(
    ("kind", "right", "wrong", "message"),
    [
        ("i64[]", IntegerAttr(3), FloatAttr(3.0), "expected i64[], found a number"),
        ("f32[]", FloatAttr(3.0), IntegerAttr(3), "expected f32[], found an integer"),
        ("!builtin.string[]", StringAttr("a"), IntegerAttr(3), "expected !builtin.string[], found an integer"),
        ("i64[2]", DenseArrayAttr(i64, (1, 2)), DenseArrayAttr(f32, (1.0,)), "expected i64[2], found a list of f32"),
        (
            "list<f32[]>",
            DenseArrayAttr(f32, (1.0,)),
            DenseArrayAttr(i64, (1,)),
            "element 0 of the list: expected f32[], found an integer",
        ),
        ("i1[]", IntegerAttr(1), IntegerAttr(2), "expected i1[], found 2, which is not a bool"),
        ("f32[n, m]", DataAttr(data_of(f32, (1, 1), [1.0])), FloatAttr(1.0), "expected f32[n, m], found a number"),
    ],
)
def test_attributes_must_have_the_declared_type(kind: str, right: Attribute, wrong: Attribute, message: str) -> None:
    (built,) = _defined(_signature("x: f32[n]", "y: f32[n]", a=kind))
    x = _values(tensor(f32, 1))
    choose((built,), OperatorUse(x, {"a": right}))
    with pytest.raises(DiagnosticError) as error:
        choose((built,), OperatorUse(x, {"a": wrong}))
    assert message in _messages(error)


def test_attributes_are_known_given_and_within_their_type() -> None:
    (built,) = _defined(_signature("x: f32[n]", "y: f32[n]", axis="ui8[]"))
    x = _values(tensor(f32, 1))
    with pytest.raises(DiagnosticError) as error:
        choose((built,), OperatorUse(x, {"axes": IntegerAttr(1)}))
    assert "has no attribute 'axes'" in _messages(error)
    assert "did you mean 'axis'?" in _messages(error)
    assert "attribute 'axis' is missing" in _messages(error)
    with pytest.raises(DiagnosticError, match="must be between 0 and 255, as ui8 is, found 300"):
        _built(built, *x, axis=300)


def test_sizes_of_attributes_are_dimension_variables_of_the_signature() -> None:
    (built,) = _defined(_signature("x: f32[n]", "y: f32[n]", weights="f32[n]"))
    _built(built, *_values(tensor(f32, 2)), weights=(1.0, 2.0))
    with pytest.raises(DiagnosticError, match="attribute 'weights': dimension n: expected 2, found 3"):
        _built(built, *_values(tensor(f32, 2)), weights=(1.0, 2.0, 3.0))


def test_a_reference_to_an_attribute_of_the_function_around_counts_as_given() -> None:
    (built,) = _defined(_signature("x: f32[n]", "y: f32[n]", axis="i64[]"))
    choose((built,), OperatorUse(_values(tensor(f32, 1)), references=frozenset({"axis"})))


def test_type_variables_are_one_choice_for_all_uses() -> None:
    (built,) = _defined(_signature("a: T[n]; b: T[n]", "y: T[n]"))
    assert _built(built, *_values(tensor(f64, 2), tensor(f64, 2))).result.type is tensor(f64, 2)
    with pytest.raises(DiagnosticError, match="expected element type f64 as of the other operands, found f32"):
        _built(built, *_values(tensor(f64, 2), tensor(f32, 2)))


def test_a_name_of_one_and_of_many_dimensions_is_refused() -> None:
    with pytest.raises(AmbiguousName, match="'n' stands for one dimension and, as 'n\\*', for any number of them"):
        _signature("a: f32[n]; b: f32[n*]", "y: f32[n]")


def test_a_result_type_that_no_input_determines_is_refused() -> None:
    with pytest.raises(ValueError, match="no input determines the element type T of 'y'"):
        _signature("a: f32[n]", "y: T[n]")


def test_pages_show_what_a_file_declares() -> None:
    page = operation_page(Dialect("common_ir", _defined(GEMM)), NAME)
    assert f"# `{NAME}`" in page
    assert "Multiplies." in page
    assert "| `A` | `f32[n, k]` |" in page
    assert "| `alpha` | float | default `1.0` |" in page
    assert "| `Y` | `f32[n, m]` |" in page


def test_definitions_of_dialects_are_declared_with_their_type_variables() -> None:
    conv = Dialects().find("core.conv")
    assert conv is not None
    declared = declaration_of(conv)
    (signature,) = declared.signatures
    assert declared.name == "conv"
    assert str(signature.inputs[0]) == "x: T[n, cin, s*]"
    assert str(signature.inputs[2]) == "bias?: T[f]"
    assert [a.name for a in signature.attributes] == ["strides", "dilations", "pads", "groups"]
    assert f32 in signature.variables["T"]


@pytest.mark.parametrize("dialect", ["core", "mil", "onnx", "ml_program"])
def test_every_definition_can_be_declared(dialect: str) -> None:
    actual = Dialects().get(dialect)
    assert actual is not None
    for name, definitions in actual.operations.items():
        declared = declaration_of(definitions[-1])
        assert define(declared, declared.name, f"common_ir.op.{declared.name}", DeclaredOp), name
