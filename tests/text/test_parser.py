"""The programs that texts are read as, and the findings for wrong texts."""

from __future__ import annotations

import time

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.base.limits import DEFAULT_LIMITS
from commonir.dialects.mlir.ml_program import Global
from commonir.ir import Module, UnregisteredOperation, tensor
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
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
    UnitAttr,
    attribute_text,
)
from commonir.ir.locations import FileLineColLoc, NameLoc, UnknownLoc
from commonir.ir.types import (
    DialectType,
    ElementType,
    FunctionType,
    ListType,
    MapType,
    OptionalType,
    StateType,
    TensorType,
    TupleType,
    Type,
    bf16,
    boolean,
    complex64,
    f8e4m3fn,
    f16,
    f32,
    f64,
    handle,
    i4,
    i8,
    i32,
    i64,
    index,
    none,
    string,
    token,
    u8,
)
from commonir.ods import Dialects
from commonir.symbolic import symbol
from commonir.text.attributes import AttributeReader
from commonir.text.builtin_forms import attribute_reader
from commonir.text.lexer import TokenStream
from commonir.text.parser import parse_module

from tests.ods.sample import DIALECT, Affine, Mode, Scale, Window

DIALECTS = Dialects([DIALECT])
N = symbol("N")


def reader_of(text: str) -> AttributeReader:
    return attribute_reader(TokenStream(text))


def _read(text: str) -> Module:
    return parse_module(text, DIALECTS, file="test.mlir")


def _findings(text: str) -> list[tuple[str, int | None, int | None, str]]:
    with pytest.raises(DiagnosticError) as caught:
        _read(text)
    return [(d.code.id, d.line, d.column, d.message) for d in caught.value.diagnostics]


# -- types


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("i1", boolean),
        ("i4", i4),
        ("ui8", u8),
        ("si32", ElementType("si32", "int", 32)),
        ("i17", ElementType("i17", "int", 17)),
        ("bf16", bf16),
        ("f8E4M3FN", f8e4m3fn),
        ("tf32", ElementType("tf32", "float", 19)),
        ("complex<f32>", complex64),
        ("index", index),
        ("none", none),
        ("!ml_program.token", token),
        ("!builtin.string", string),
        ("!builtin.handle", handle),
        ("tensor<f32>", tensor(f32)),
        ("tensor<4x8xf32>", tensor(f32, 4, 8)),
        ("tensor<0xf32>", tensor(f32, 0)),
        ("tensor< 4 x ? x f32 >", tensor(f32, 4, None)),
        ("tensor<*xf32>", TensorType(f32, None)),
        ('tensor<"N"x"2*N + 1"xf16>', tensor(f16, N, N * 2 + 1)),
        ("tensor<2xcomplex<f32>>", tensor(complex64, 2)),
        ("tensor<2x!builtin.string>", tensor(string, 2)),
        ("tensor<2xindex>", tensor(index, 2)),
        ("tuple<>", TupleType(())),
        ("tuple<i32, tensor<2xf32>>", TupleType((i32, tensor(f32, 2)))),
        ("() -> ()", FunctionType((), ())),
        ("(i32, f32) -> (i64, i8)", FunctionType((i32, f32), (i64, i8))),
        ("(i32) -> ((f32) -> f64)", FunctionType((i32,), (FunctionType((f32,), (f64,)),))),
        ("!builtin.list<tensor<2xf32>>", ListType(tensor(f32, 2))),
        ("!builtin.list<i32, 3>", ListType(i32, 3)),
        ('!builtin.list<i32, "2*N">', ListType(i32, 2 * symbol("N"))),
        ("!builtin.map<!builtin.string, f32>", MapType(string, f32)),
        ("!builtin.optional<i32>", OptionalType(i32)),
        ("!builtin.state<tensor<2xf32>>", StateType(tensor(f32, 2))),
        ("!quant.uniform<i8<-128:127>:f32, 1.0>", DialectType("quant", "uniform", "i8:f32, 1.000000e+00")),
        ("!other.uniform<i8:f32, 1.0>", DialectType("other", "uniform", "i8:f32, 1.0")),
        ("!a.b<(x) -> [y<z>]>", DialectType("a", "b", "(x) -> [y<z>]")),
        ("!a.b", DialectType("a", "b")),
    ],
)
def test_type(text: str, type: Type) -> None:
    reader = reader_of(text)
    assert reader.types.type() is type
    assert reader.tokens.kind == "end"
    assert reader_of(str(type)).types.type() is type


# -- attributes


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("unit", UnitAttr()),
        ("true", BoolAttr(True)),
        ("1 : i1", BoolAttr(True)),
        ("5", IntegerAttr(5, i64)),
        ("-5 : i32", IntegerAttr(-5, i32)),
        ("0xFF : i8", IntegerAttr(-1, i8)),
        ("255 : ui8", IntegerAttr(255, u8)),
        ("3 : index", IntegerAttr(3, index)),
        ("1.", FloatAttr(1.0, f64)),
        ("-1.5e-3 : f32", FloatAttr(-0.0015, f32)),
        ("0x7FC00000 : f32", FloatAttr(float("nan"), f32)),
        ("0x7FF0000000000000 : f64", FloatAttr(float("inf"), f64)),
        (r'"a\22\n\C3\A9"', StringAttr('a"\n\u00e9')),
        ('"\u00e9"', StringAttr("\u00e9")),
        ("@a::@b", SymbolRefAttr("a", "b")),
        ('@"a b"', SymbolRefAttr("a b")),
        ("[1, 2.0, [true]]", ArrayAttr((IntegerAttr(1), FloatAttr(2.0), ArrayAttr((BoolAttr(True),))))),
        ("{}", DictionaryAttr(())),
        ('{a, b = 1, "c d" = i32}', DictionaryAttr((("a", UnitAttr()), ("b", IntegerAttr(1)), ("c d", TypeAttr(i32))))),
        ("array<i64>", DenseArrayAttr(i64, ())),
        ("array<i32: 1, -2>", DenseArrayAttr(i32, (1, -2))),
        ("array<i1: true, false>", DenseArrayAttr(boolean, (True, False))),
        ("array<f32: 1.5, -2.0>", DenseArrayAttr(f32, (1.5, -2.0))),
        ("tensor<2xf32>", TypeAttr(tensor(f32, 2))),
        ("(i32) -> f32", TypeAttr(FunctionType((i32,), (f32,)))),
        ('#commonir.dims<"N + 1", 3>', DimsAttr((N + 1, 3))),
        ('#commonir.bytes<"0x00FF">', BytesAttr(b"\x00\xff")),
        ("#x.y<1, <2>>", DialectAttr("x", "y", "1, <2>")),
        ("#x.y : i32", DialectAttr("x", "y", None, i32)),
        ("#ml_program.extern<tensor<4xi32>>", DialectAttr("ml_program", "extern", None, tensor(i32, 4))),
    ],
)
def test_attribute(text: str, attribute: Attribute) -> None:
    reader = reader_of(text)
    assert reader.attribute() is attribute
    assert reader.tokens.kind == "end"
    assert reader_of(attribute_text(attribute)).attribute() is attribute


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("dense<4> : tensor<3xi32>", (4, 4, 4)),
        ("dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>", (1, 2, 3, 4)),
        ("dense<> : tensor<0xf32>", ()),
        ("dense<[]> : tensor<0xf32>", ()),
        ("dense<-1.5> : tensor<f32>", (-1.5,)),
        ("dense<[true, false]> : tensor<2xi1>", (True, False)),
        ("dense<[1, -2, 3]> : tensor<3xi4>", (1, -2, 3)),
        ('dense<"0x0000803F00000040"> : tensor<2xf32>', (1.0, 2.0)),
        ('dense<"0x0000803F"> : tensor<2xf32>', (1.0, 1.0)),
        ('dense<["a>b", "c"]> : tensor<2x!builtin.string>', ("a>b", "c")),
        ('dense<"a"> : tensor<!builtin.string>', ("a",)),
        ("dense<[(1.0, -2.0), (3.0, 0.0)]> : tensor<2xcomplex<f32>>", (1 - 2j, 3)),
    ],
)
def test_constant_tensor(text: str, values: tuple[object, ...]) -> None:
    result = reader_of(text).attribute()
    assert isinstance(result, DataAttr)
    assert tuple(result.data.array().reshape(-1).tolist()) == values


def test_resource_is_read_from_the_end_of_the_text() -> None:
    result = _read("""
      "t.x"() {v = dense_resource<w> : tensor<2xf32>} : () -> ()
      {-#
        dialect_resources: { builtin: { w: "0x040000000000803F00000040" } },
        external_resources: { tool: { version: "3" } }
      #-}
    """)
    (op,) = result.body.operations
    value = op.extra["v"]
    assert isinstance(value, DataAttr)
    assert value.data.values() == (1.0, 2.0)


def test_resource_that_is_not_there_is_a_constant_without_contents() -> None:
    (op,) = _read('"t.x"() {v = dense_resource<w> : tensor<2xf32>} : () -> ()').body.operations
    value = op.extra["v"]
    assert isinstance(value, DataAttr)
    assert str(value) == "dense_resource<w> : tensor<2xf32>"
    with pytest.raises(DiagnosticError, match="E0242"):
        value.data.values()


# -- operations


def test_generic_operation_that_nobody_defines_is_kept() -> None:
    (op,) = _read('%a, %1:2 = "x.y z"() {k = 1} : () -> (i32, f32, f64)').body.operations
    assert isinstance(op, UnregisteredOperation)
    assert (op.name, dict(op.extra)) == ("x.y z", {"k": IntegerAttr(1)})
    assert [(r.name, r.type) for r in op.results] == [("a", i32), ("", f32), ("", f64)]
    assert op.location is not None
    assert (op.location.file, op.location.line, op.location.column) == ("test.mlir", 1, 12)


def test_one_of_several_results_is_used_by_its_number() -> None:
    a, b = _read('%0:2 = "x.a"() : () -> (i32, f32)\n"x.b"(%0#1, %0#0, %0) : (f32, i32, i32) -> ()').body.operations
    assert b.operands == (a.results[1], a.results[0], a.results[0])


def test_custom_form_gives_the_definition_its_fields() -> None:
    text = "%x = t.literal {value = dense<1.0> : tensor<2x8xf32>} : tensor<2x8xf32>\n"
    *_, op = _read(text + "%y = t.scale %x {factor = 3.0, mode = exact, note} : tensor<2x8xf32>").body.operations
    assert isinstance(op, Scale)
    assert (op.factor, op.mode, dict(op.extra)) == (3.0, Mode.EXACT, {"note": UnitAttr()})
    assert op.y.name == "y"


def test_generic_form_gives_the_definition_its_fields_from_either_dictionary() -> None:
    text = '%x = "x.x"() : () -> tensor<4xf32>\n'
    for attributes in ('<{factor = 3.0, mode = "exact"}>', '{factor = 3.0, mode = "exact"}'):
        *_, op = _read(f'{text}%y = "t.scale"(%x) {attributes} : (tensor<4xf32>) -> tensor<4xf32>').body.operations
        assert isinstance(op, Scale)
        assert (op.factor, op.mode, dict(op.extra)) == (3.0, Mode.EXACT, {})


def test_groups_of_operands_are_divided_by_their_sizes() -> None:
    text = '%x = "x.x"() : () -> tensor<9xf32>\n%s = t.literal {value = dense<4> : tensor<i32>} : tensor<i32>\n'
    generic = '%y = "t.window"(%x, %s) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : '
    *_, op = _read(text + generic + "(tensor<9xf32>, tensor<i32>) -> tensor<4xf32>").body.operations
    assert isinstance(op, Window)
    assert (op.start, op.size) == (0, 4)
    *_, op = _read(f"{text}%y = t.window %x size(%s) : (tensor<9xf32>, tensor<i32>) -> tensor<4xf32>").body.operations
    assert isinstance(op, Window)
    assert op.bound_value(Window.layout.by_name["size"]) is op.operands[1]


def test_optional_group_is_recognized_by_its_keyword() -> None:
    text = '%x, %w, %b = "x.x"() : () -> (tensor<2x8xf32>, tensor<8x5xf32>, tensor<5xf32>)\n'
    signature = "(tensor<2x8xf32>, tensor<8x5xf32>, tensor<5xf32>) -> tensor<2x5xf32>"
    *_, op = _read(f"{text}%y = t.affine %x, %w bias(%b) : {signature}").body.operations
    assert isinstance(op, Affine)
    assert op.bias is op.operands[2]


def test_aliases_stand_for_types_and_attributes() -> None:
    (op,) = _read('!t = tensor<2xf32>\n#a = [1, 2]\n%0 = "x.x"() {a = #a, t = !t} : () -> !t').body.operations
    assert op.result.type is tensor(f32, 2)
    assert op.extra["a"] is ArrayAttr((IntegerAttr(1), IntegerAttr(2)))


def test_locations_are_read() -> None:
    text = (
        '"x.a"() : () -> () loc("f.py":3:4)\n"x.b"() : () -> () loc("conv"("f.py":3:4))\n'
        '"x.c"() : () -> () loc(unknown)'
    )
    ops = list(_read(text).body.operations)
    place = FileLineColLoc("f.py", 3, 4)
    assert [op.location for op in ops] == [place, NameLoc("conv", place), UnknownLoc()]
    assert [(op.location.file, op.location.line, op.location.name) for op in ops if op.location is not None] == [
        ("f.py", 3, ""),
        ("f.py", 3, "conv"),
        ("", 0, ""),
    ]


def test_comments_and_blank_lines_mean_nothing() -> None:
    assert len(_read('// one\n\n"x.a"() : () -> () // two\n').body) == 1


def test_text_that_is_one_module_is_that_module() -> None:
    for text in (
        'module @m {\n"x.a"() : () -> ()\n}',
        '"builtin.module"() ({"x.a"() : () -> ()}) {sym_name = "m"} : () -> ()',
    ):
        module = _read(text)
        assert module.extra["sym_name"] is StringAttr("m")
        assert len(module.body) == 1
    assert len(_read("").body) == 0


def test_value_may_be_used_before_it_is_defined_in_a_graph() -> None:
    a, b = _read('"x.a"(%b) : (i32) -> ()\n%b = "x.b"() : () -> i32').body.operations
    assert a.operands == b.results
    assert b.result.users == (a,)


def test_nested_region_may_await_a_value_of_the_region_around_it() -> None:
    text = '"x.f"() ({ "x.a"(%b) : (i32) -> () }, { "x.a"(%b) : (i32) -> () }) : () -> ()\n%b = "x.b"() : () -> i32'
    *_, b = _read(text).body.operations
    assert b.result.use_count == 2


def test_old_form_of_extern_and_of_globals_is_read() -> None:
    (op,) = _read(
        "ml_program.global mutable @foobar(#ml_program.extern<tensor<4xi32>>)\n  : tensor<?xi32>"
    ).body.operations
    assert isinstance(op, Global)
    assert op.is_extern
    assert op.value is DialectAttr("ml_program", "extern", None, tensor(i32, 4))


# -- faults


@pytest.mark.parametrize(
    ("text", "code", "place", "message"),
    [
        ("%0 = ", "E0240", (1, 5), "expected an operation, found the end of the text"),
        ('"x.a"(', "E0240", (1, 6), "expected a value '%name', found the end of the text"),
        ('"x.a"() : ()', "E0240", (1, 12), "expected '->', found the end of the text"),
        ('"x.a"() : () -> i32\n  $', "E0240", (2, 3), "unexpected character '$'"),
        ('"x.a', "E0240", (1, 1), "unterminated or malformed string"),
        ('"x.a"() {a = 1, a = 2} : () -> ()', "E0240", (1, 17), "attribute 'a' is given twice"),
        ('"x.a"() : () -> tenso', "E0240", (1, 16), "expected a type, found 'tenso'"),
        ('"x.a"() : () -> tensor<4xf33>', "E0240", (1, 26), "expected an element type, found 'f33'"),
        ('"x.a"() : () -> tensor<"N +"xf32>', "E0240", (1, 25), "a dimension is not understood"),
        ('"x.a"() : () -> memref<4xnone>', "E0240", (1, 26), "memory has no elements of none"),
        ('"x.a"() : () -> tensor<*xf32, #e.e>', "E0240", (1, 29), "a tensor of unknown rank has no encoding"),
        (
            '"x.f"() ({ "cf.br"()[^bb1] : () -> () }) : () -> ()',
            "E0401",
            (1, 22),
            "reference to an undefined block '^bb1'",
        ),
        ('"x.a"() {v = dense<1> : tensor<?xi32>} : () -> ()', "E0240", (1, 25), "a constant needs a static shape"),
        ('"x.a"() {v = dense<[1]> : tensor<2xi32>} : () -> ()', "E0240", (1, 20), "expected 2 elements here, found 1"),
        ('"x.a"() {v = dense<300> : tensor<2xi8>} : () -> ()', "E0240", (1, 20), "300 does not fit i8"),
        ('"x.a"() {v = dense<1.5> : tensor<2xi8>} : () -> ()', "E0240", (1, 20), "expected an integer for type i8"),
        ('"x.a"() {v = dense<"0x00"> : tensor<2xi32>} : () -> ()', "E0240", (1, 20), "takes 8 bytes, but 1 are given"),
        ('"x.a"() {v = 1 : f32} : () -> ()', "E0240", (1, 14), "expected a number with a point for type f32"),
        ('"x.a"() {v = 1.0e39 : f32} : () -> ()', "E0240", (1, 14), "1.0e39 does not fit f32"),
        ('"x.a"() {v = #none} : () -> ()', "E0240", (1, 14), "undefined attribute alias '#none'"),
        (
            '"x.a"() {v = dense_resource<__elided__> : tensor<1xi8>} : () -> ()',
            "E0242",
            (1, 29),
            "the contents of this constant were left out of the text",
        ),
        ("t.scael", "E0501", (1, 1), "unknown operation 't.scael'"),
        ("t.scale %x : i32", "E0401", (1, 9), "use of undefined value '%x'"),
        ('%a = "x.a"() : () -> (i32, i32)', "E0240", (1, 1), "x.a has 2 results, but 1 are named"),
        ('"x.a"(%b) : () -> ()', "E0502", (1, 13), "1 operands have 0 types"),
        ('"t.affine"() : () -> ()', "E0502", (1, 1), "t.affine: takes 3 operands, found 0"),
        (
            'module { "x.a"() ({ ^a: "x.b"() : () -> () ^a: "x.b"() : () -> () }) : () -> () }',
            "E0402",
            (1, 44),
            "redefinition of block '^a'",
        ),
    ],
)
def test_fault_is_reported_with_its_place(text: str, code: str, place: tuple[int, int], message: str) -> None:
    ((diagnostics, line, column, reported),) = _findings(text)
    assert (diagnostics, (line, column)) == (code, place)
    assert message in reported


def test_custom_form_of_another_dialect_is_refused_with_the_ways_to_read_it() -> None:
    with pytest.raises(DiagnosticError) as caught:
        parse_module("zzz.qqq %x : i32", Dialects())
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.help == (
        "no dialect 'zzz' is known: `--dialect FILE.td` or an installed plugin defines one; without it, operations of "
        "'zzz' can be read in the generic form, which `mlir-opt --mlir-print-op-generic` prints"
    )


def test_custom_form_of_an_unknown_dialect_of_mlir_names_its_file() -> None:
    with pytest.raises(DiagnosticError) as caught:
        parse_module('memref.dealloc %x : memref<i32>\nvector.print %y : i32\n%0 = "torch.a"() : () -> i32', Dialects())
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.help or "").startswith(
        "'memref' is a dialect of MLIR: `--dialect DIR/mlir/Dialect/MemRef/IR/MemRefOps.td -I DIR` loads it"
    )
    assert diagnostic.notes[-1] == "not known either: vector, torch"


def test_faults_of_names_and_types_are_all_reported() -> None:
    diagnostics = _findings("""\
%a = "x.a"() : () -> i32
%a = "x.a"() : () -> i32
"x.b"(%a) : (f32) -> ()
"x.b"(%c) : (f32) -> ()
%x = "x.a"() : () -> tensor<4xf32>
%y = "t.scale"(%x) <{factor = "much", speed = 1}> : (tensor<4xf32>) -> tensor<4xf32>
""")
    assert diagnostics == [
        ("E0402", 2, 1, "value '%a' is defined twice"),
        ("E0503", 3, 7, "value '%a' has type i32, but is used as f32"),
        ("E0401", 4, 7, "use of undefined value '%c'"),
        ("E0505", 6, 6, "t.scale: 'speed' is not an attribute of it"),
        ("E0505", 6, 6, "t.scale: attribute 'factor': expected a number, found 'much'"),
    ]


def test_name_is_suggested_from_the_function_that_lacks_a_definition() -> None:
    with pytest.raises(DiagnosticError) as caught:
        _read('"x.f"() ({\n  %size = "x.a"() : () -> i32\n  "x.b"(%sice) : (i32) -> ()\n}) : () -> ()')
    assert [(d.message, d.help) for d in caught.value.diagnostics] == [
        ("use of undefined value '%sice'", "did you mean '%size'?")
    ]


def test_message_shows_the_line_and_suggests_the_nearest_name() -> None:
    with pytest.raises(DiagnosticError) as caught:
        _read('%size = "x.a"() : () -> tensor<4xf32>\n%y = t.scale %sice : tensor<4xf32>')
    assert (
        str(caught.value)
        == """\
error[E0401]: use of undefined value '%sice'
  --> test.mlir:2:14
   = 2 | %y = t.scale %sice : tensor<4xf32>
   =   |              ^
   = help: did you mean '%size'?"""
    )


def test_enumeration_lists_its_cases() -> None:
    ((code, _, _, message),) = _findings(
        '%x = "x.a"() : () -> tensor<4xf32>\n%y = t.scale %x {mode = exakt} : tensor<4xf32>'
    )
    assert (code, message) == ("E0505", "t.scale: 'mode' is one of fast, exact, not 'exakt'")


def test_nesting_is_limited_for_types_and_attributes_but_not_for_regions() -> None:
    types = [f'"x.a"() : () -> {start * 500}' for start in ("tuple<", "complex<", "!a.b<<")]
    for text in (f'"x.a"() {{v = {"[" * 500}', *types):
        ((code, *_),) = _findings(text)
        assert code == "E0302"


def test_sizes_are_limited() -> None:
    small = DEFAULT_LIMITS._replace(max_text_bytes=100, max_operations=2, max_immediate_elements=10, max_rank=3)
    for text in (
        " " * 101,
        '"x.a"() : () -> ()' * 3,
        '"x.a"() {v = dense<[1, 2]> : tensor<11xi8>} : () -> ()',
        '"x.a"() : () -> tensor<1x1x1x1xi8>',
    ):
        with pytest.raises(DiagnosticError) as caught:
            parse_module(text, DIALECTS, limits=small)
        assert caught.value.diagnostics[0].code.id == "E0303"


@pytest.mark.parametrize(
    "line",
    ['%{0} = "x.y"() : () -> f32', "%{0} = arith.constant {0} : i32", '"x.y"() ({{^bb0(%{0}: i32):\n}}) : () -> ()'],
    ids=["generic", "custom", "with_a_region"],
)
def test_every_line_counts_towards_the_limit_of_operations(line: str) -> None:
    lines = [line.format(n) for n in range(100)]
    source = "\n".join(['"t.m"() ({', *lines, "}) : () -> ()"])
    parse_module(source, DIALECTS, limits=DEFAULT_LIMITS._replace(max_operations=101))
    for limit in (50, 100):
        with pytest.raises(DiagnosticError, match=f"more than {limit} operations"):
            parse_module(source, DIALECTS, limits=DEFAULT_LIMITS._replace(max_operations=limit))


def test_an_unreadable_character_after_a_megabyte_of_blanks_is_reported_at_once() -> None:
    ((code, line, column, _),) = _findings(" " * 2**20 + "`")
    assert (code, line, column) == ("E0240", 1, 2**20 + 1)


@pytest.mark.slow
def test_many_undefined_values_are_reported_in_linear_time() -> None:
    begin = time.process_time()
    diagnostics = _findings("\n".join([f'%v{n} = "x.a"(%u{n}) : (tensor<f32>) -> tensor<f32>' for n in range(5000)]))
    assert len(diagnostics) == 5000
    assert time.process_time() - begin < 20
