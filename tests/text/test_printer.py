"""The text of programs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from commonir.ir import (
    ArrayData,
    Block,
    FileData,
    MappedFile,
    Module,
    Operation,
    Region,
    UnregisteredOperation,
    Value,
    data_of,
    tensor,
)
from commonir.ir.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    BytesAttr,
    DataAttr,
    DenseArrayAttr,
    DialectAttr,
    DictionaryAttr,
    DimsAttr,
    EnumAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
    UnitAttr,
    attribute_text,
)
from commonir.ir.literals import float_text
from commonir.ir.printing import Part
from commonir.ir.types import (
    ElementType,
    bf16,
    boolean,
    complex64,
    f8e4m3fn,
    f16,
    f32,
    f64,
    i4,
    i8,
    i32,
    i64,
    index,
    string,
)
from commonir.ir.value_names import identifier
from commonir.symbolic import symbol
from commonir.text.formats import default_format
from commonir.text.printer import print_lines, print_module

from tests.ods.sample import Affine, Choose, Halves, Literal, Mode, Scale, Sum, Window, Yield


@pytest.mark.parametrize(
    ("attribute", "text"),
    [
        (UnitAttr(), "unit"),
        (BoolAttr(True), "true"),
        (IntegerAttr(-5, i32), "-5 : i32"),
        (IntegerAttr(3, index), "3 : index"),
        (FloatAttr(0.1, f32), "0.1 : f32"),
        (FloatAttr(1e-5, f32), "1.0e-05 : f32"),
        (FloatAttr(-0.0), "-0.0 : f64"),
        (FloatAttr(float("nan"), f32), "0x7FC00000 : f32"),
        (FloatAttr(float("-inf"), bf16), "0xFF80 : bf16"),
        (StringAttr('a"b\\c\n\u00e9'), r'"a\22b\\c\0A\C3\A9"'),
        (EnumAttr("fast"), '"fast"'),
        (TypeAttr(tensor(f32, 2, None)), "tensor<2x?xf32>"),
        (SymbolRefAttr("outer", "a b"), '@outer::@"a b"'),
        (ArrayAttr((StringAttr("a"), IntegerAttr(1))), '["a", 1 : i64]'),
        (DictionaryAttr((("plain", UnitAttr()), ("a b", BoolAttr(False)))), '{plain, "a b" = false}'),
        (DenseArrayAttr(i64, (1, -2)), "array<i64: 1, -2>"),
        (DenseArrayAttr(i64, ()), "array<i64>"),
        (DenseArrayAttr(boolean, (True, False)), "array<i1: true, false>"),
        (DenseArrayAttr(f64, (1, 0.5)), "array<f64: 1.0, 0.5>"),
        (DimsAttr((2, 3)), "array<i64: 2, 3>"),
        (DimsAttr((symbol("N") * 2, 3)), '#commonir.dims<"2*N", 3>'),
        (BytesAttr(b"\x00\xff"), '#commonir.bytes<"0x00FF">'),
        (DialectAttr("x", "y", "1, 2"), "#x.y<1, 2>"),
        (DialectAttr("ml_program", "extern", None, tensor(f32, 4)), "#ml_program.extern : tensor<4xf32>"),
        (DataAttr(data_of(f32, (2, 2), (1, 2, 3, 4))), "dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>"),
        (DataAttr(data_of(f32, (2, 2), (1, 1, 1, 1))), "dense<1.0> : tensor<2x2xf32>"),
        (DataAttr(data_of(f32, (), (1,))), "dense<1.0> : tensor<f32>"),
        (DataAttr(data_of(f32, (0, 2), ())), "dense<> : tensor<0x2xf32>"),
        (DataAttr(data_of(i4, (3,), (1, -2, 3))), "dense<[1, -2, 3]> : tensor<3xi4>"),
        (DataAttr(data_of(boolean, (2,), (1, 0))), "dense<[true, false]> : tensor<2xi1>"),
        (DataAttr(data_of(string, (2,), ("a", "b"))), 'dense<["a", "b"]> : tensor<2x!builtin.string>'),
        (DataAttr(data_of(i8, (17,), range(17))), "dense_resource<__elided__> : tensor<17xi8>"),
    ],
)
def test_attribute(attribute: Attribute, text: str) -> None:
    assert attribute_text(attribute) == text


def test_large_constant_is_the_hexadecimal_digits_of_its_bytes() -> None:
    data = data_of(i8, (101,), (*range(100), -1))
    digits = "".join(f"{n:02X}" for n in range(100)) + "FF"
    assert attribute_text(DataAttr(data), None) == f'dense<"0x{digits}"> : tensor<101xi8>'


@pytest.mark.parametrize(
    ("value", "element", "text"),
    [
        (65504.0, f16, "65504.0"),
        (3.4028234663852886e38, f32, "3.4028235e+38"),
        (0.3333333432674408, f32, "0.33333334"),
        (1 / 3, f64, "0.3333333333333333"),
        (1.401298464324817e-45, f32, "1.0e-45"),
        (16777216.0, f32, "16777216.0"),
        (448.0, f8e4m3fn, "448.0"),
    ],
)
def test_number_has_the_fewest_digits_that_read_back(value: float, element: ElementType, text: str) -> None:
    assert float_text(value, element) == text


def test_complex_elements_are_pairs() -> None:
    data = ArrayData(tensor(complex64, 2), np.array([1 + 2j, 3], np.complex64))
    assert attribute_text(DataAttr(data)) == "dense<[(1.0, 2.0), (3.0, 0.0)]> : tensor<2xcomplex<f32>>"


def test_elided_constant_is_not_read_from_its_file(tmp_path: Path) -> None:
    missing = FileData(tensor(f32, 1000), MappedFile(str(tmp_path / "missing"), 4000), 0)
    text = print_module(Literal(missing))
    assert text == "%0 = t.literal {value = dense_resource<__elided__> : tensor<1000xf32>} : tensor<1000xf32>\n"


# -- default forms


def _value(*shape: int, name: str = "") -> Value:
    return Value(tensor(f32, *shape), name=name)


def _line(op: Operation) -> str:
    return print_module(op).rstrip("\n")


def test_one_type_stands_for_all_when_all_are_the_same() -> None:
    op = Scale(_value(4, name="x"), 3.0, Mode.EXACT)
    op.y.name = "y"
    assert _line(op) == "%y = t.scale %x {factor = 3.0, mode = exact} : tensor<4xf32>"


def test_defaults_are_left_out() -> None:
    assert _line(Scale(_value(4, name="x"))) == "%0 = t.scale %x : tensor<4xf32>"


def test_optional_operand_is_a_group_under_its_name() -> None:
    x, w, b = _value(2, 8, name="x"), _value(8, 5, name="w"), _value(5, name="b")
    assert _line(Affine(x, w)) == "%0 = t.affine %x, %w : (tensor<2x8xf32>, tensor<8x5xf32>) -> tensor<2x5xf32>"
    assert _line(Affine(x, w, b)).startswith("%0 = t.affine %x, %w bias(%b) : (tensor<2x8xf32>,")


def test_variadic_operand_beside_an_optional_one_is_a_group() -> None:
    a, b, o = _value(4, name="a"), _value(4, name="b"), _value(name="o")
    assert _line(Sum((a, b), o)) == (
        "%0 = t.sum xs(%a, %b) offset(%o) : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>"
    )
    assert _line(Yield((a, b))) == "t.yield %a, %b : (tensor<4xf32>, tensor<4xf32>) -> ()"
    assert _line(Yield(())) == "t.yield : () -> ()"


def test_parameter_is_a_group_when_bound_and_an_attribute_when_literal() -> None:
    size = Literal(data_of(i32, (), (4,))).y
    size.name = "size"
    x = _value(9, name="x")
    literal, bound = Window(x, 4, 1), Window(x, size, 1)  # pyright: ignore[reportArgumentType]  # bound to a value
    assert _line(literal) == "%0 = t.window %x {size = 4, start = 1} : (tensor<9xf32>) -> tensor<4xf32>"
    assert _line(bound) == ("%0 = t.window %x size(%size) {start = 1} : (tensor<9xf32>, tensor<i32>) -> tensor<4xf32>")


def test_several_results() -> None:
    assert _line(Halves(_value(4, name="x"), counted=True)) == (
        "%0, %1, %2 = t.halves %x {counted = true} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<i32>)"
    )


def test_several_regions_stand_under_their_names() -> None:
    first, second = Block(), Block()
    one = first.append(Literal(data_of(f32, (), (1.0,)))).y
    first.append(Yield((one,)))
    two = second.append(Literal(data_of(f32, (), (2.0,)))).y
    second.append(Yield((two,)))
    op = Choose(Value(tensor(boolean), name="c"), Region([first]), Region([second]))
    assert (
        _line(op)
        == """\
%0 = t.choose %c : (tensor<i1>) -> tensor<f32> then {
  %1 = t.literal {value = dense<1.0> : tensor<f32>} : tensor<f32>
  t.yield %1 : (tensor<f32>) -> ()
} otherwise {
  %1 = t.literal {value = dense<2.0> : tensor<f32>} : tensor<f32>
  t.yield %1 : (tensor<f32>) -> ()
}"""
    )


def test_default_format_is_one_of_the_declarative_language() -> None:
    assert default_format(Affine) == "$x `,` $weight (`bias` `` `(` $bias^ `)`)? attr-dict `:` signature"


def test_operation_that_breaks_its_definition_is_printed_in_the_generic_form() -> None:
    assert _line(Affine.build({"x": _value(2, 8, name="x")}, [tensor(f32, 1)])) == (
        '%0 = "t.affine"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<2x8xf32>) -> tensor<1xf32>'
    )


def test_attribute_of_the_wrong_kind_is_printed_all_the_same() -> None:
    assert _line(Scale.build({"x": _value(4, name="x"), "factor": "much"}, [tensor(f32, 4)])) == (
        '%0 = t.scale %x {factor = "much"} : tensor<4xf32>'
    )


def test_undeclared_attributes_follow_the_declared_ones() -> None:
    op = Scale(_value(4, name="x"), 3.0)
    op.set_extra("onnx.domain", StringAttr("ai"))
    assert _line(op) == '%0 = t.scale %x {factor = 3.0, onnx.domain = "ai"} : tensor<4xf32>'


# -- generic form


def test_generic_form_says_everything() -> None:
    x, w, b = _value(2, 8, name="x"), _value(8, 5, name="w"), _value(5, name="b")
    op = Affine(x, w, b)
    op.set_extra("note", UnitAttr())
    assert str(op) == (
        '%0 = "t.affine"(%x, %w, %b) {note} : (tensor<2x8xf32>, tensor<8x5xf32>, tensor<5xf32>) -> tensor<2x5xf32>'
    )
    assert str(Scale(x, 3.0, Mode.EXACT)) == (
        '%0 = "t.scale"(%x) <{factor = 3.0 : f64, mode = "exact"}> : (tensor<2x8xf32>) -> tensor<2x8xf32>'
    )


def test_sizes_of_groups_are_printed_where_they_are_not_evident() -> None:
    a = _value(4, name="a")
    assert str(Sum((a, a))) == (
        '%0 = "t.sum"(%a, %a) <{operandSegmentSizes = array<i32: 2, 0>}> : '
        "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"
    )


# -- names, layout, parts


def test_names_are_made_identifiers_and_unique() -> None:
    block = Block([tensor(f32), tensor(f32)], ["a", "a"])
    for name in ("a", "in/put:0", "0", "a_0", ""):
        new_op = block.append(Scale(block.arguments[0]))
        new_op.y.name = name
    text = print_module(UnregisteredOperation("t.f", regions=[Region([block])]))
    assert (
        text
        == """\
"t.f"() ({
^bb0(%a: tensor<f32>, %a_0: tensor<f32>):
  %a_1 = t.scale %a : tensor<f32>
  %in_put_0 = t.scale %a : tensor<f32>
  %_0 = t.scale %a : tensor<f32>
  %a_0_0 = t.scale %a : tensor<f32>
  %0 = t.scale %a : tensor<f32>
}) : () -> ()
"""
    )


@pytest.mark.parametrize(("name", "expected"), [("a.b-c$_", "a.b-c$_"), ("7", "_7"), ("é/ü", "___"), (" ", "_")])
def test_identifier(name: str, expected: str) -> None:
    assert identifier(name) == expected


def test_sibling_regions_count_from_the_same_number() -> None:
    def function() -> UnregisteredOperation:
        block = Block()
        block.append(Literal(data_of(f32, (), (1.0,))))
        return UnregisteredOperation("t.f", regions=[Region([block])])

    module = Module()
    module.body.append(function())
    module.body.append(function())
    assert print_module(module).count("%0 = t.literal") == 2


def test_deep_programs_stop_growing_to_the_right() -> None:
    module = Module()
    block = module.body
    for _ in range(100):
        inner = Block()
        block.append(UnregisteredOperation("t.nest", regions=[Region([inner])]))
        block = inner
    widest = max(len(line) - len(line.lstrip()) for line in print_lines(module))
    assert widest == 80


def test_labels_of_blocks_are_kept() -> None:
    op = UnregisteredOperation("t.f", regions=[Region([Block(label="CoreML7"), Block(label="CoreML7"), Block()])])
    assert print_module(op) == '"t.f"() ({\n^CoreML7:\n^CoreML7_:\n^bb2:\n}) : () -> ()\n'


def test_only_a_part_is_printed_on_request() -> None:
    block = Block([tensor(f32)], ["x"])
    value = block.arguments[0]
    for n in range(9):
        op = block.append(Scale(value))
        value = op.y
        value.name = f"v{n}"
    ops = tuple(block.operations)
    module = Module()
    module.body.append(UnregisteredOperation("t.other"))
    outer = module.body.append(UnregisteredOperation("t.f", regions=[Region([block])]))
    shown = frozenset([ops[3], ops[5]])
    part = Part(shown, shown, shown | {outer, module}, {outer: "@f"})
    assert (
        print_module(module, part=part)
        == """\
// @f
%v3 = t.scale %v2 : tensor<f32>
%v5 = t.scale %v4 : tensor<f32>
"""
    )
    assert (
        print_module(module, part=Part(shown, shown | {outer}, shown | {outer, module}, {}))
        == """\
"t.f"() ({
^bb0(%x: tensor<f32>):
  // 7 operations
  %v3 = t.scale %v2 : tensor<f32>
  %v5 = t.scale %v4 : tensor<f32>
}) : () -> ()
"""
    )


def test_module_keeps_its_entry_and_name() -> None:
    module = Module({"sym_name": StringAttr("net"), "x": UnitAttr()}, entry="main")
    assert print_module(module) == 'module @net attributes {commonir.entry = "main", x} {\n}\n'


def test_symbolic_dimensions_are_quoted_expressions() -> None:
    n = symbol("N")
    assert _line(Scale(Value(tensor(f32, n * 2 + 1, 3), name="x"))) == '%0 = t.scale %x : tensor<"2*N + 1"x3xf32>'
