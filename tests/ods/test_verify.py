"""The verifier reports every violation, with its label and its place, and changes nothing."""

from __future__ import annotations

from commonir.dialects.mlir.ml_program import Func, Return
from commonir.ir import Block, Module, Operation, Region, UnregisteredOperation, Value, data_of, tensor
from commonir.ir.types import FunctionType, TensorType, Type, boolean, f16, f32, i32
from commonir.ods import Dialects, Op, operand, result, verify
from commonir.ods.known import known_data
from commonir.ods.traits import Pure
from commonir.symbolic import symbol

from tests.ods.sample import DIALECT, Affine, Choose, Isolated, Literal, Same, Scale, Sum, Window, Yield

DIALECTS = Dialects([DIALECT])


def _program(*ops: Operation, arguments: tuple[Value, ...] = ()) -> Module:
    built = Module()
    block = Block()
    block.arguments = arguments
    for n, v in enumerate(arguments):
        v.owner, v.index = block, n
    for op in ops:
        block.append(op)
    types = tuple(v.type for v in arguments)
    block.append(Return(()))
    built.body.append(Func("main", FunctionType(types, ()), Region([block])))
    return built


def _diagnostics(program: Module) -> list[tuple[str, str, str]]:
    return [(d.code.id, d.where, d.message) for d in verify(program, DIALECTS)]


def test_a_sound_program_has_no_findings() -> None:
    x = Value(tensor(f32, 2, 8))
    w = Value(tensor(f32, 8, 2))
    scaled = Scale(x)
    assert _diagnostics(_program(scaled, Affine(scaled.y, w), arguments=(x, w))) == []


def test_every_violation_of_every_operation_is_reported_in_order() -> None:
    x = Value(tensor(f32, 9))
    x.name = "x"
    bad_window = Window.build({"x": x, "start": -1, "size": 0}, [tensor(f32, 0)])
    bad_window.results[0].name = "w"
    bad_scale = Scale.build({"x": x, "factor": -2.0, "mode": "slow"}, [tensor(f32, 9)])
    missing = Affine.build({"x": x}, [tensor(f32, 9)])
    assert _diagnostics(_program(bad_window, bad_scale, missing, arguments=(x,))) == [
        ("E0504", "main.operations[0] 'w'", "t.window: C1: the window starts inside of x"),
        ("E0504", "main.operations[0] 'w'", "t.window: C2: the window has at least one element"),
        ("E0505", "main.operations[1] t.scale", "t.scale: attribute 'factor' must be positive, found -2.0"),
        (
            "E0505",
            "main.operations[1] t.scale",
            "t.scale: attribute 'mode': expected one of fast, exact, found 'slow'",
        ),
        ("E0502", "main.operations[2] t.affine", "t.affine: operand 'weight' is missing"),
    ]


def test_missing_attribute_is_reported_beside_a_wrong_operand() -> None:
    x = Value(tensor(f32, 2, 8))
    actual = _diagnostics(_program(Window.build({"x": x}, [tensor(f32, 2)]), arguments=(x,)))
    assert [(code, message) for code, _, message in actual] == [
        ("E0503", "t.window: operand 'x': expected rank 1 (f32[n]), found rank 2"),
        ("E0505", "t.window: attribute 'size' is missing"),
    ]


def test_declared_result_type_must_be_the_inferred_one() -> None:
    x = Value(tensor(f32, 4))
    ops = [Scale.build({"x": x}, [t]) for t in (tensor(f32, 5), tensor(f16, 4), tensor(f32, 4, 1))]
    assert [code for code, _, _ in _diagnostics(_program(*ops, arguments=(x,)))] == ["E0506"] * 3


def test_unknown_dimensions_and_ranks_of_a_declared_type_are_compatible() -> None:
    x = Value(tensor(f32, 4))
    n = symbol("N")
    ops = [Scale.build({"x": x}, [t]) for t in (tensor(f32, None), TensorType(f32, None), tensor(f32, n))]
    assert _diagnostics(_program(*ops, arguments=(x,))) == []


def test_wrong_number_of_results_is_reported() -> None:
    x = Value(tensor(f32, 4))
    actual = _diagnostics(_program(Scale.build({"x": x}, []), arguments=(x,)))
    assert actual == [("E0506", "main.operations[0] t.scale", "t.scale: expected 1 result, found 0")]


def test_use_before_definition_is_reported_with_the_name() -> None:
    x = Value(tensor(f32, 4))
    late = Scale(x)
    late.y.name = "late"
    early = Scale(late.y)
    actual = _diagnostics(_program(early, late, arguments=(x,)))
    assert actual == [("E0401", "main.operations[0] t.scale", "t.scale: operand 0 'late' is used before it is defined")]


def test_value_that_nothing_defines_is_reported_with_the_nearest_name() -> None:
    x = Value(tensor(f32, 4), name="weights")
    (diagnostic,) = verify(_program(Scale(Value(tensor(f32, 4), name="wieghts")), arguments=(x,)), DIALECTS)
    assert diagnostic.message == "t.scale: operand 0 'wieghts' is not defined"
    assert diagnostic.help == "did you mean 'weights'?"


def test_value_of_a_nested_region_is_not_seen_outside() -> None:
    x = Value(tensor(f32, 4))
    inner = Block()
    nested = inner.append(Scale(x))
    holder = UnregisteredOperation("ml_program.unknown", regions=[Region([inner])])
    actual = _diagnostics(_program(holder, Scale(nested.y), arguments=(x,)))
    assert [code for code, _, _ in actual] == ["E0501", "E0401"]


def test_unknown_operation_is_reported_with_the_nearest_name() -> None:
    actual = verify(_program(UnregisteredOperation("t.scael")), DIALECTS)
    assert [d.message for d in actual] == ["unknown operation 't.scael'"]
    assert actual[0].help is not None
    assert "t.scale" in actual[0].help


def test_trait_that_does_not_hold_is_reported_by_name() -> None:
    a, b = Value(tensor(f32, 4)), Value(tensor(f32, 5))
    same = Same.build({"a": a, "b": b}, [a.type])
    actual = _diagnostics(_program(same, arguments=(a, b)))
    message = (
        "t.same: SameOperandsAndResultType: requires the same type for all operands and results, "
        "found tensor<4xf32> and tensor<5xf32>"
    )
    assert actual == [("E0508", "main.operations[0] t.same", message)]


def test_terminator_must_be_last() -> None:
    actual = _diagnostics(_program(Yield(()), Literal(data_of(f32, (), (1.0,)))))
    assert actual == [
        (
            "E0508",
            "main.operations[0] t.yield",
            "t.yield: Terminator: a terminator must be the last operation of its block",
        )
    ]


def test_isolated_operation_must_not_use_values_from_outside() -> None:
    x = Value(tensor(f32, 4))
    inner = Block()
    inner.append(Scale(x))
    actual = _diagnostics(_program(Isolated((Region([inner]),)), arguments=(x,)))
    assert [code for code, _, _ in actual] == ["E0508"]
    assert "operand 0 of t.scale inside refers to a value from outside" in actual[0][2]


def test_regions_are_checked() -> None:
    condition = Value(tensor(boolean))
    op = Choose.build({"condition": condition, "then": Region([Block()])}, [])
    assert op.regions
    actual = _diagnostics(_program(op, arguments=(condition,)))
    assert [code for code, _, _ in actual] == ["E0403"]


def test_custom_verifier_is_part_of_the_verifier() -> None:
    condition = Value(tensor(boolean))
    first = Block()
    first.append(Yield(()))
    second = Block([tensor(f32)])
    second.append(Yield(()))
    op = Choose(condition, Region([first]), Region([second]))
    actual = _diagnostics(_program(op, arguments=(condition,)))
    assert actual == [
        ("E0403", "main.operations[0] t.choose", "t.choose: the second region takes no arguments"),
    ]


def test_parameter_that_is_computed_is_reported() -> None:
    x, size = Value(tensor(f32, 9)), Value(tensor(i32))
    op = Window.build({"x": x, "size": size}, [tensor(f32, 4)])
    actual = _diagnostics(_program(op, arguments=(x, size)))
    assert [(code, message) for code, _, message in actual] == [("E0507", "t.window: 'size' must be constant")]


def test_two_symbols_of_one_name_are_reported() -> None:
    program = _program()
    program.body.append(Func("main", FunctionType((), ()), Region(), sym_visibility=None))
    codes = [code for code, _, _ in _diagnostics(program)]
    assert "E0402" in codes


def test_verifying_changes_nothing() -> None:
    x = Value(tensor(f32, 9))
    program = _program(Window.build({"x": x, "start": -1, "size": 0}, [tensor(f32, 0)]), arguments=(x,))
    before = str(program)
    assert _diagnostics(program) == _diagnostics(program)
    assert str(program) == before


def test_unequal_element_types_of_a_variadic_operand_name_the_position() -> None:
    a, b = Value(tensor(f32, 4)), Value(tensor(f16, 4))
    op = Sum.build({"xs": (a, b)}, [tensor(f32, 4)])
    actual = _diagnostics(_program(op, arguments=(a, b)))
    assert actual[0][2].startswith("t.sum: operand 'xs'[1]: expected element type f32")


class Traced(Op, name="t.traced", traits=(Pure,)):
    """A definition that depends on what defines its operand."""

    x: Value = operand("f32[s*]")
    weight: Value = operand("f32[s*]")
    bias: Value | None = operand("f32[s*]", default=None)
    y: Value = result("f32[s*]")

    def trace_key(self) -> object:
        return known_data(self.weight) is not None

    def infer(self) -> tuple[Type, ...]:
        return (self.x.type,)


def test_missing_operand_is_reported_before_it_is_used() -> None:
    x = Value(tensor(f32, 4))
    missing = Traced.build({"x": x}, [tensor(f32, 4)])
    assert _diagnostics(_program(missing, arguments=(x,))) == [
        ("E0502", "main.operations[0] t.traced", "t.traced: operand 'weight' is missing")
    ]


class Parts(Op, name="t.parts", traits=(Pure,)):
    """A definition of which any number of operands must be constant."""

    xs: tuple[Value, ...] = operand("f32[s*]", variadic=True, constant=True)
    y: Value = result("f32[]")


def test_each_of_many_operands_that_must_be_constant_is_checked() -> None:
    x = Value(tensor(f32, 2))
    one = Literal(data_of(f32, (2,), (1.0, 2.0)))
    parts = Parts.build({"xs": (one.results[0], x, x)}, [tensor(f32)])
    assert [message for _, _, message in _diagnostics(_program(one, parts, arguments=(x,)))] == [
        "t.parts: 'xs' must be constant",
        "t.parts: 'xs' must be constant",
    ]
