"""Constructing operations, and reading what they hold."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import onnx
from commonir.ir import Block, Region, TensorType, Value, data_of, tensor
from commonir.ir.attributes import EnumAttr, FloatAttr, IntegerAttr
from commonir.ir.types import boolean, f16, f32, f64, i16, i32, i64
from commonir.notation import Expr, Indices, Tensor
from commonir.ods import Op, attr_types, attribute, element_type, operand, result
from commonir.symbolic import symbol

from tests.ods.sample import Affine, Choose, Halves, Isolated, Literal, Mode, Scale, Sum, Window, Yield


def _value(*shape: int, element: object = f32) -> Value:
    return Value(tensor(f16 if element is f16 else f32, *shape))


def _codes(error: DiagnosticError) -> list[str]:
    return [d.code.id for d in error.diagnostics]


def test_arguments_may_be_given_by_position_or_by_name() -> None:
    x = _value(2, 3)
    for op in (Scale(x, 0.5, Mode.EXACT), Scale(x, mode=Mode.EXACT, factor=0.5), Scale(x=x, factor=0.5, mode="exact")):  # pyright: ignore[reportArgumentType]  # the keyword of a file
        assert (op.x, op.factor, op.mode, op.y.type) == (x, 0.5, Mode.EXACT, tensor(f32, 2, 3))


def test_defaults_fill_in_what_is_not_given() -> None:
    op = Scale(_value(2))
    assert (op.factor, op.mode) == (2.0, Mode.FAST)
    assert op.properties == {}, "defaults are not printed"
    assert op.attribute_dictionary == {"factor": FloatAttr(2.0, f64), "mode": EnumAttr("fast")}


@pytest.mark.parametrize(
    ("arguments", "named", "message"),
    [
        ((), {}, "missing argument 'x'"),
        ((1, 2, 3, 4), {}, "takes 3 arguments, 4 were given"),
        ((1,), {"x": 2}, "'x' is given twice"),
        ((1,), {"factro": 2}, "'factro' is not an argument"),
    ],
)
def test_wrong_arguments_are_a_type_error(
    arguments: tuple[object, ...], named: dict[str, object], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        Scale(*arguments, **named)  # pyright: ignore[reportArgumentType]


def test_derived_attribute_is_calculated() -> None:
    assert Scale(_value(2), factor=3.0).halved == 1.5


def test_result_type_follows_from_the_kernel() -> None:
    n = symbol("N")
    op = Affine(Value(tensor(f32, n, 4, 8)), _value(8, 5), _value(5))
    assert op.y.type is tensor(f32, n, 4, 5)
    assert Affine(Value(tensor(f32, None, 8)), _value(8, 5)).y.type is tensor(f32, None, 5)


def test_two_unknown_dimensions_are_not_taken_to_be_equal() -> None:
    op = Affine(Value(tensor(f32, None, 8)), Value(tensor(f32, 8, None)))
    assert op.y.type is tensor(f32, None, None)


def test_operands_of_unknown_rank_give_a_result_of_unknown_rank() -> None:
    assert Scale(Value(TensorType(f32, None))).y.type is TensorType(f32, None)


def test_optional_operand_is_none_when_absent() -> None:
    x, w, b = _value(2, 8), _value(8, 5), _value(5)
    without, with_bias = Affine(x, w), Affine(x, w, b)
    assert without.bias is None
    assert without.operands == (x, w)
    assert with_bias.bias is b
    assert with_bias.grouped_operands() == (x, w, b)


def test_variadic_operand_keeps_what_follows_it() -> None:
    a, b, offset = _value(3), _value(3), _value()
    op = Sum((a, b), offset)
    assert op.xs == (a, b)
    assert op.offset is offset
    assert op.operands == (a, b, offset)
    assert Sum((a,)).offset is None


def test_parameter_is_a_literal_or_bound_to_a_constant() -> None:
    x = _value(9)
    size = Literal(data_of(i32, (), (4,))).y
    literal, bound = Window(x, 4, 1), Window(x, size, 1)  # pyright: ignore[reportArgumentType]  # bound to a value
    assert (literal.size, bound.size) == (4, 4)
    assert literal.y.type is bound.y.type is tensor(f32, 4)
    size_field = Window.layout.by_name["size"]
    assert literal.bound_value(size_field) is None
    assert bound.bound_value(size_field) is size
    assert bound.operands == (x, size)
    assert "size" not in bound.attribute_dictionary
    assert literal.attribute_dictionary["size"] is IntegerAttr(4, i64)


def test_parameter_bound_to_what_is_computed_is_refused() -> None:
    with pytest.raises(DiagnosticError, match=r"'size' of t\.window must be constant"):
        Window(_value(9), _value())  # pyright: ignore[reportArgumentType]


def test_several_results_and_an_optional_one() -> None:
    two, three = Halves(_value(4)), Halves(_value(4), counted=True)
    assert (two.first, two.second) == two.results
    assert two.count is None
    assert three.count is three.results[2]
    assert three.second is three.results[1]
    with pytest.raises(ValueError, match="3 results, not one"):
        three.result  # noqa: B018


def test_regions_belong_to_their_operation() -> None:
    inner = Block()
    v = inner.append(Literal(data_of(f32, (), (1.0,)))).y
    inner.append(Yield((v,)))
    op = Choose(Value(tensor(boolean)), Region([inner]), Region([Block()]))
    assert op.then.parent is op
    assert op.then.block is inner
    assert [r.type for r in op.outcome] == [tensor(f32)]
    assert inner.first is not None
    assert inner.first.parent_op is op


def test_variadic_regions() -> None:
    bodies = Region([Block()]), Region([Block()])
    assert Isolated(bodies).bodies == bodies
    assert Isolated(()).bodies == ()


@pytest.mark.parametrize(
    ("make", "codes", "message"),
    [
        (lambda: Affine(_value(2, 8), _value(9, 5)), ["E0503"], "dimension k"),
        (lambda: Affine(_value(2, 8), Value(tensor(f16, 8, 5))), ["E0503"], "expected element type f32"),
        (lambda: Affine(_value(2, 8), _value(8)), ["E0503"], "expected rank 2"),
        (lambda: Scale(_value(2), factor=-1.0), ["E0505"], "'factor' must be positive, found -1.0"),
        (lambda: Scale(_value(2), mode="slow"), ["E0505"], "expected one of fast, exact, found 'slow'"),  # pyright: ignore[reportArgumentType]
        (lambda: Scale(_value(2), factor="two"), ["E0505"], "expected a number, found 'two'"),  # pyright: ignore[reportArgumentType]
        (lambda: Window(_value(9), 0, -1), ["E0504", "E0504"], "C1: the window starts inside of x"),
        (lambda: Window(_value(9), 4, parity=2), ["E0505"], "must be one of 0, 1, found 2"),
        (lambda: Sum(()), ["E0504"], "C1: there is at least one tensor"),
    ],
)  # fmt: skip
def test_construction_reports_every_violation(make: object, codes: list[str], message: str) -> None:
    assert callable(make)
    with pytest.raises(DiagnosticError) as caught:
        make()
    assert _codes(caught.value) == codes
    assert message in str(caught.value)


def test_failed_construction_leaves_no_use_behind() -> None:
    x = _value(2, 8)
    with pytest.raises(DiagnosticError):
        Affine(x, _value(9, 5))
    assert not x.is_used


def test_building_without_checks_keeps_what_is_wrong() -> None:
    op = Affine.build({"x": _value(2, 8)}, [tensor(f32, 7)])
    assert op.weight is None, "absent in spite of its type"
    assert op.y.type is tensor(f32, 7)
    assert Scale.build({"x": _value(2), "factor": -1.0}, [tensor(f32, 2)]).factor == -1.0


def test_attributes_can_be_exchanged() -> None:
    x = _value(2)
    op = Scale(x, 3.0, Mode.EXACT)
    changed = op.with_attributes(factor=4.0)
    assert (changed.factor, changed.mode, changed.x) == (4.0, Mode.EXACT, x)
    assert op.factor == 3.0


def test_exchanged_attribute_is_known_and_of_its_type() -> None:
    op = Scale(_value(2), 3.0)
    with pytest.raises(TypeError, match=r"t\.scale has no attribute 'factro': did you mean 'factor'\?"):
        op.with_attributes(factro=4.0)
    with pytest.raises(DiagnosticError, match=r"'factor' of t\.scale: expected a number, found 'x'"):
        op.with_attributes(factor="x")


def test_exchanged_parameter_is_a_literal_whatever_it_was_bound_to() -> None:
    x = _value(9)
    size = Literal(data_of(i32, (), (4,))).y
    changed = Window(x, size, 1).with_attributes(size=3)  # pyright: ignore[reportArgumentType]  # bound to a value
    assert (changed.operands, changed.size, changed.x) == ((x,), 3, x)


@pytest.mark.parametrize(
    ("name", "remedy"), [("factor", r"with_attributes\(factor="), ("x", "operands"), ("y", "uses")]
)
def test_assigning_to_a_field_says_how_to_change_it(name: str, remedy: str) -> None:
    with pytest.raises(AttributeError, match=rf"'{name}' of t\.scale cannot be changed: .*{remedy}"):
        setattr(Scale(_value(2)), name, 1)


def test_operand_other_than_a_value_is_a_type_error() -> None:
    message = "takes a value, found int"
    with pytest.raises(TypeError, match=f"t.scale: operand 'x' {message}"):
        Scale(1)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match=f"operand 'weight' {message}"):
        Affine(_value(2, 8), 1)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match=message):
        _value(2).replace_all_uses_with(1)  # pyright: ignore[reportArgumentType]


def test_patterns_match_by_field() -> None:
    x = _value(2, 8)
    op: object = Affine(Scale(x, 3.0).y, _value(8, 5))
    match op:
        case Affine(x=Value(owner=Scale(source, factor=factor)), bias=None):
            assert (source, factor) == (x, 3.0)
        case _:
            pytest.fail("the pattern must match")


def test_inference_is_traced_once_per_types_and_attributes() -> None:
    calls: list[int] = []

    class Counted(Op, name="t.counted"):
        x: Value = operand("T[s*]")
        factor: float = attribute(attr_types.number)
        y: Value = result("T[s*]")
        T = element_type(f32)

        def reference(self, x: Tensor, *, s: Indices) -> Expr:
            calls.append(1)
            return x[s] * self.factor

    for _ in range(5):
        Counted(_value(7), factor=3.0)
    assert len(calls) == 1
    Counted(_value(7), factor=5.0)
    assert len(calls) == 2


def test_negative_zero_and_nan_are_attributes_of_their_own() -> None:
    assert FloatAttr(0.0) is not FloatAttr(-0.0)
    assert FloatAttr(float("nan")) is FloatAttr(float("nan"))


def test_signature_of_a_definition_has_its_fields() -> None:
    assert str(inspect.signature(Scale)).startswith("(x: 'Value', factor: 'float' = 2.0, mode: 'Mode' = ")
    assert list(inspect.signature(Affine).parameters) == [f.name for f in Affine.layout.arguments]


def test_array_is_the_data_of_an_attribute() -> None:
    array = np.array([[1, 2], [3, 4]], np.int16).T
    op = onnx.Constant(value=array)  # pyright: ignore[reportArgumentType]  # what is converted
    array[:] = 0
    assert op.result.type == tensor(i16, 2, 2)
    assert op.value is not None
    assert op.value.values() == (1, 3, 2, 4), "a copy, in order of the axes"
    with pytest.raises(DiagnosticError, match=r"'value' of onnx\.Constant: no element type is like datetime64"):
        onnx.Constant(value=np.zeros(2, "M8[s]"))  # pyright: ignore[reportArgumentType]


def test_attribute_declared_with_a_python_type_is_a_type_error() -> None:
    with pytest.raises(TypeError, match=r"a type of `attr_types`, such as `attr_types\.number`, found <class 'float'>"):
        attribute(float)  # pyright: ignore[reportArgumentType]
