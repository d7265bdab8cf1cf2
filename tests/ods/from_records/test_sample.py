"""A dialect that a TableGen file defines is as good as one in Python: read, printed, checked, made and documented."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.ir.operation import Value
from commonir.ir.types import DialectType, f32, i32
from commonir.ods import Dialect, Dialects, Op, verify
from commonir.ods.documentation import operation_page
from commonir.text.loaded_definitions import load_dialects
from commonir.text.parser import parse_module
from commonir.text.printer import Naming, print_module

from tests.tablegen.oracle import llvm_tblgen, mlir_include

_HERE = Path(__file__).parent
_HANDLE = DialectType("sample", "handle")


@cache
def _sample() -> Dialect:
    return next(d for d in load_dialects([_HERE / "sample.td"], [str(mlir_include())]) if d.name == "sample")


def _definition(name: str) -> type[Op]:
    return _sample().operations[f"sample.{name}"][-1]


def _printed(source: str, *, generic: bool = False) -> str:
    dialects = Dialects(dialects=[_sample()])
    module = parse_module(source, dialects)
    assert verify(module, dialects) == []
    return print_module(module, generic=generic, naming=Naming.MLIR, dialects=dialects)


def _findings(source: str) -> list[str]:
    dialects = Dialects(dialects=[_sample()])
    try:
        return [d.message for d in verify(parse_module(source, dialects), dialects)]
    except DiagnosticError as error:
        return [d.message for d in error.diagnostics]


def _refused_by_mlir(path: Path) -> bool:
    """Returns whether mlir-tblgen refuses what it generates definitions from."""
    program = Path(llvm_tblgen()).resolve().parent / "mlir-tblgen"
    kinds = ("--gen-op-defs", "--gen-attrdef-defs", "--gen-typedef-defs", "--gen-enum-defs")
    commands = [[str(program), kind, "-I", str(mlir_include()), str(path), "-o", "/dev/null"] for kind in kinds]
    return any(subprocess.run(c, capture_output=True, check=False).returncode for c in commands)


def test_mlir_accepts_the_sample() -> None:
    assert not _refused_by_mlir(_HERE / "sample.td")


# mlir-opt leaves a blank where it prints no properties, here after the region of a loop.
_CUSTOM = """\
module {
  func.func @f(%arg0: i32, %arg1: !sample.handle, %arg2: index, %arg3: tensor<2x3xf32>, %arg4: i1) {
    %0 = sample.add %arg0, %arg0 : i32
    %1 = sample.add %arg0, %arg0 mode <a, b> : i32
    %2 = sample.paint %arg1 depth %arg0[%arg2, %arg2] <green> fast named "x" count = 3 {other = 1 : i8}
    %3 = sample.paint %arg1 <red> count = 8
    sample.tint  dark
    sample.tint  light {deep = true}
    sample.tint  light
    sample.loop 3 {
      %5 = sample.add %arg0, %arg0 : i32
    }\x20
    %pair, %box = sample.hold <label = "a b", of = i32, dims = 1, 2> and #sample.both<4, "x"> with -> \
<4 x f32>, <tensor<4xf32>, 2>
    %4 = sample.element %arg3[%arg2, %arg2] slow step 2 : tensor<2x3xf32>
    sample.odd %arg0 : i32
    "sample.plain"(%arg0) : (i32) -> ()
    "sample.cpp"() : () -> ()
    sample.jump %arg4 to ^bb1 or ^bb2, ^bb1
  ^bb1:  // 2 preds: ^bb0, ^bb0
    return
  ^bb2:  // pred: ^bb0
    return
  }
}

"""


def test_custom_forms_are_read_and_printed_as_the_formats_say() -> None:
    assert _printed((_HERE / "sample.mlir").read_text()) == _CUSTOM


def test_the_generic_form_holds_defaults_segment_sizes_and_properties() -> None:
    generic = _printed((_HERE / "sample.mlir").read_text(), generic=True)
    for line in (
        '%0 = "sample.add"(%arg0, %arg0) <{mode = #sample.mode<none>}> : (i32, i32) -> i32',
        '%1 = "sample.add"(%arg0, %arg0) <{mode = #sample.mode<a, b>}> : (i32, i32) -> i32',
        '<{color = #sample.color<green>, count = 3 : i64, fast, name = "x", operandSegmentSizes = array<i32: 1, 1, ',
        "{other = 1 : i8} : (!sample.handle, i32, index, index) -> !sample.handle",
        '"sample.tint"() <{shade = #sample<shade dark>}> : () -> ()',
        '"sample.loop"() <{loud = false, times = 3 : i64}> ({',
        '"sample.stop"() : () -> ()',
        '"sample.jump"(%arg4)[^bb1, ^bb2, ^bb1] : (i1) -> ()',
    ):
        assert line in generic
    assert _printed(generic) == _CUSTOM


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("%0 = sample.add %i, %i : index", "sample.add: operand 'lhs': must be integer or floating-point, found index"),
        ("%0 = sample.add %a, %a mode <d> : i32", "expected one of none, a, b, c, found 'd'"),
        ("%0 = sample.paint %h <blue> count = 1", "expected one of red, green, found 'blue'"),
        ("%0 = sample.paint %h <red> count = 9", "whose maximum value is 8, found 9"),
        ('"sample.paint"(%h) <{count = 1 : i64}> : (!sample.handle) -> !sample.handle', "operandSegmentSizes"),
        ("sample.plain %a", "sample.plain has no custom form"),
        ("sample.cpp", "sample.cpp has no custom form"),
        ('"sample.add"(%a) : (i32) -> i32', "takes 2 operands, found 1"),
        ('"sample.loop"() <{times = 1 : i64}> ({}) : () -> ()', "region 'body' failed to verify constraint"),
        ('"t.t"() : () -> !sample.pair<4 y f32>', "expected 'x', found 'y'"),
        ('"t.t"() {a = #sample.both<4>} : () -> ()', "sample.both: parameter 'b' is missing"),
        ('"t.t"() {a = #sample.shape<label = "a", off = i32>} : () -> ()', "expected one of of, dims, found 'off'"),
    ],
)
def test_what_a_definition_does_not_allow_is_refused(body: str, message: str) -> None:
    actual = _findings(f"func.func @f(%a: i32, %i: index, %h: !sample.handle) {{\n  {body}\n  return\n}}")
    assert any(message in each for each in actual), actual


def test_operations_are_made_by_constructors_whose_results_follow() -> None:
    add, paint, element = _definition("add"), _definition("paint"), _definition("element")
    built = add(Value(f32), Value(f32))
    assert built.results[0].type is f32
    assert str(built.attribute_dictionary["mode"]) == "#sample.mode<none>"
    painted = paint(Value(_HANDLE), None, (), "red", name_="n", count=2)
    assert painted.results[0].type is _HANDLE
    assert {k: str(v) for k, v in painted.properties.items() if k != "operandSegmentSizes"} == {
        "color": "#sample.color<red>",
        "count": "2 : i64",
        "name": '"n"',
    }
    with pytest.raises(DiagnosticError, match="must be integer or floating-point"):
        add(Value(_HANDLE), Value(_HANDLE))
    with pytest.raises(TypeError, match="missing argument"):
        element()
    assert add.__match_args__ == ("lhs", "rhs", "mode")


def test_traits_are_found_by_name() -> None:
    assert {t.name for t in _definition("add").traits} >= {"Pure", "Commutative", "SameOperandsAndResultType"}
    assert [t.name for t in _definition("loop").traits] == ["SingleBlockImplicitTerminator(sample.stop)"]


def test_what_stays_in_cpp_is_reported() -> None:
    assert getattr(_definition("odd"), "unknown", ()) == ("(sample::isOdd($_self))",)
    assert getattr(_definition("plain"), "unknown", ()) == ("custom<Unheard>, so that there is the generic form only",)
    assert getattr(_definition("add"), "unknown", ()) == ()


def test_the_reference_page_has_the_description_with_its_code() -> None:
    page = operation_page(_sample(), "sample.add")
    assert page.startswith("# `sample.add`\n\nAdds two numbers.\n\nTwice the same type.\n\n```mlir\n%0 = sample.add")
    assert "| `mode` | Mode | must be modes; default `#sample.mode<none>` |" in page
    assert "what is painted" in operation_page(_sample(), "sample.paint")
    assert "Not checked, because it is stated in C++" in operation_page(_sample(), "sample.odd")


def test_results_divide_as_an_attribute_says() -> None:
    line = '%0:3 = "sample.split"() <{resultSegmentSizes = array<i32: 1, 0, 2>}> : () -> (i32, i32, i32)'
    dialects = Dialects(dialects=[_sample()])
    module = parse_module(line, dialects)
    op = next(iter(module.nested()))
    assert verify(module, dialects) == []
    assert isinstance(op, Op)
    fields = op.layout.by_name
    assert op.field_value(fields["first"]) == op.results[:1]
    assert op.field_value(fields["second"]) is None
    assert op.field_value(fields["third"]) == op.results[1:]
    assert line in print_module(module, generic=True, naming=Naming.MLIR, dialects=dialects)
    other = line.replace("1, 0, 2", "1, 1, 1")
    actual = [d.message for d in verify(parse_module(other, dialects), dialects)]
    assert actual == ["sample.split: result 'second' must be 1-bit signless integer, found i32"]


_HEAD = """\
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
def D : Dialect { let name = "d"; let cppNamespace = "::d"; }
"""


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ('def X_AOp : Op<D, "a"> { let assemblyFormat = "$nope attr-dict"; }', "no field is called 'nope'"),
        ('def X_AOp : Op<D, "a"> { let assemblyFormat = "(`x`)? attr-dict"; }', "needs an anchor"),
        ('def X_AOp : Op<D, "a"> { let assemblyFormat = "nonsense attr-dict"; }', "'nonsense' has no meaning"),
        ('def X_AOp : Op<D, "a"> { let arguments = (ins AnyRegion:$r); }', "neither an operand nor an attribute"),
        ('def X_AOp : Op<D, "a"> { let results = (outs I32Attr:$r); }', "is not a type constraint"),
        ('def X_AOp : Op<D, "a"> { let arguments = (ins I32:$r, I32:$r); }', "two fields of the name 'r'"),
        ('def X_AOp : Op<D, "a">;\ndef X_BOp : Op<D, "a">;', "'d.a' is defined twice"),
        (
            'def T : TypeDef<D, "T"> { let mnemonic = "t"; let parameters = (ins "int":$n); let assemblyFormat="$m"; }',
            "no parameter is called 'm'",
        ),
    ],
)
def test_wrong_records_are_refused_at_their_place_as_by_mlir(tmp_path: Path, record: str, message: str) -> None:
    path = tmp_path / "bad.td"
    path.write_text(_HEAD + record)
    with pytest.raises(DiagnosticError) as raised:
        load_dialects([path], [str(mlir_include())])
    actual = raised.value.diagnostics[0]
    assert (actual.code.id, actual.file) == ("E0264", str(path))
    assert actual.line is not None
    assert actual.line >= 4
    assert message in actual.message
    # Upstream notices two operations of one name only when C++ is compiled.
    assert _refused_by_mlir(path) or "twice" in message


def test_predicates_too_deep_within_each_other_are_refused(tmp_path: Path) -> None:
    lines = ['def P0 : CPred<"true">;', *[f"def P{n} : And<[P{n - 1}]>;" for n in range(1, 300)]]
    path = tmp_path / "deep.td"
    path.write_text(
        _HEAD + "\n".join(lines) + '\ndef X_AOp : Op<D, "a"> { let arguments = (ins TypeConstraint<P299, "deep">:$x); }'
    )
    with pytest.raises(DiagnosticError, match="deep within each other"):
        load_dialects([path], [str(mlir_include())])


def test_a_loaded_definition_replaces_ours_and_keeps_its_meaning(tmp_path: Path) -> None:
    path = tmp_path / "arith.td"
    path.write_text(
        """include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
def D : Dialect { let name = "arith"; let cppNamespace = "::mlir::arith"; }
def Arith_XOrIOp : Op<D, "xori", [SameOperandsAndResultType]> {
  let arguments = (ins I32:$lhs, I32:$rhs);
  let results = (outs I32:$result);
  let assemblyFormat = "$lhs `with` $rhs attr-dict";
}
"""
    )
    inputs = load_dialects([path], [str(mlir_include())])
    dialects = Dialects(dialects=inputs)
    body = "%0 = arith.xori %a with %a\n  %1 = arith.addi %0, %0 : i32"
    source = f"func.func @f(%a: i32) -> i32 {{\n  {body}\n  return %1 : i32\n}}"
    module = parse_module(source, dialects)
    assert verify(module, dialects) == []
    actual = next(op for op in module.walk() if op.name == "arith.xori")
    own = Dialects().find("arith.xori")
    assert own is not None
    assert isinstance(actual, own)
    assert "arith.xori %arg0 with %arg0\n" in print_module(module, naming=Naming.MLIR, dialects=dialects)
    assert actual.results[0].type is i32
    with pytest.raises(DiagnosticError, match="has type i1, but is used as i32"):
        parse_module("func.func @f(%a: i1) {\n  %0 = arith.xori %a with %a\n  return\n}", dialects)
