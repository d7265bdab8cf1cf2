"""The specification's own definition, rules and short form, from a file as they are printed there, by Python and by
command; partial sources, the choice among rules, and what is refused.
"""

from __future__ import annotations

import json
from pathlib import Path

import onnx.parser
import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError
from commonir.cli.main import main
from commonir.ods import Dialects
from commonir.passes.rules import Rules, load_rules
from commonir.reports import RuleReport
from commonir.text.parser import parse_module
from commonir.text.printer import Naming, print_module

PRINTED = """
def TF_AddOp : Op<"tf.Add", [NoSideEffect]>,
               Arguments<(ins TF_Tensor:$lhs, TF_Tensor:$rhs)>,
               Results<[TF_Tensor]>,
               Traits<["BroadcastableOperandsAndResultType"]> {
  let summary = "Addition operator";

  let description = [{
    Returns lhs + rhs element-wise.

    The inputs and result must be of the same elemental type.
  }];

  let reference = [{
    auto ivs = makeBindables(lhsShape.size());
    block = edsc::Block({
      ForNest(ivs, 0, lhsShape, 1, {
        result[ivs] = lhs[ivs] + rhs[ivs]
      })});
    }
  }];
}

def : Pat<(TF_LeakyReluOp $arg, F32Attr:$a), (TFL_LeakyReluOp $arg, $a)>;
def : Pat<(TF_ReluOp (TF_AddOp $lhs, $rhs)), (TFL_AddOp $lhs, $rhs, TFL_AF_Relu)>;
def : Pat<(TF_BiasAddOp F32Tensor:$l, F32Tensor:$r),
          (TFL_AddOp $l, $r, TFL_AF_None)>;
"""

F, INT = "tensor<4xf32>", "tensor<4xi32>"
PROGRAM = f"""
func.func @f(%a: {F}, %b: {F}, %c: {INT}) -> ({F}, {F}, {INT}) {{
  %0 = "tf.Add"(%a, %b) : ({F}, {F}) -> {F}
  %1 = "tf.Relu"(%0) : ({F}) -> {F}
  %2 = "tf.LeakyRelu"(%1) {{a = 0.5 : f32}} : ({F}) -> {F}
  %3 = "tf.BiasAdd"(%2, %a) : ({F}, {F}) -> {F}
  %4 = "tf.BiasAdd"(%c, %c) : ({INT}, {INT}) -> {INT}
  return %2, %3, %4 : {F}, {F}, {INT}
}}
"""
REWRITTEN = f"""\
module {{
  func.func @f(%arg0: {F}, %arg1: {F}, %arg2: {INT}) -> ({F}, {F}, {INT}) {{
    %0 = tfl.Add %arg0, %arg1 {{fused_activation_function: "RELU" }}: {F}
    %1 = "tfl.LeakyRelu"(%0) {{a = 5.000000e-01 : f32}} : ({F}) -> {F}
    %2 = tfl.Add %1, %arg0 {{fused_activation_function: "NONE" }}: {F}
    %3 = "tf.BiasAdd"(%arg2, %arg2) : ({INT}, {INT}) -> {INT}
    return %1, %2, %3 : {F}, {F}, {INT}
  }}
}}
"""
OPERATIONS = """
def A : Op<"d.a", [NoSideEffect]>, Arguments<(ins AnyTensor:$x, AnyTensor:$y, I32Attr:$k)>, Results<[AnyTensor]>;
def B : Op<"d.b", [NoSideEffect]>, Arguments<(ins AnyTensor:$x, I32Attr:$why)>, Results<[AnyTensor]>;
def ONE : ConstantAttr<I32Attr, "1">;
def C : Op<"d.c", [NoSideEffect]>, Arguments<(ins AnyTensor:$x, StrAttr:$text)>, Results<[AnyTensor]>;
"""


def _file(folder: Path, text: str, name: str = "rules.td") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def _made(rules: Rules, program: str, reports: list[RuleReport] | None = None) -> str:
    module = parse_module(program, Dialects(rules.dialects))
    return print_module(cir.optimize(module, passes=(), rules=rules.rewrites, reports=reports), naming=Naming.MLIR)


def _why(folder: Path, patterns: str, attributes: str = "k = 1 : i32") -> str:
    """Returns what the attribute of the operation says that rules make of `d.a` on two arguments."""
    rules = load_rules(_file(folder, OPERATIONS + patterns))
    line = f'%0 = "d.a"(%a, %b) {{{attributes}}} : ({F}, {F}) -> {F}'
    result = _made(rules, f"func.func @f(%a: {F}, %b: {F}) -> {F} {{\n{line}\nreturn %0 : {F}\n}}")
    return result.partition("why = ")[2].partition(" ")[0]


def test_rules_as_printed_transform_a_program(tmp_path: Path) -> None:
    rules = load_rules(_file(tmp_path, PRINTED))
    assert _made(rules, PROGRAM).strip() == REWRITTEN.strip()


@pytest.mark.parametrize("is_first", [True, False])
def test_rule_over_more_operations_comes_before_one_for_what_stands_earlier(tmp_path: Path, is_first: bool) -> None:
    alone = "def : Pat<(TF_AddOp $lhs, $rhs), (TFL_AddOp $lhs, $rhs, TFL_AF_None)>;\n"
    head, pattern, rest = PRINTED.partition("def : Pat")
    rules = load_rules(_file(tmp_path, head + (alone if is_first else "") + pattern + rest + (alone * (not is_first))))
    assert _made(rules, PROGRAM).strip() == REWRITTEN.strip()


def test_short_form_reads_what_it_prints(tmp_path: Path) -> None:
    rules = load_rules(_file(tmp_path, PRINTED))
    assert _made(rules, REWRITTEN).strip() == REWRITTEN.strip()


def test_command_applies_rules_and_explains(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, out = _file(tmp_path, PROGRAM, "in.mlir"), tmp_path / "out.mlir"
    command = ["opt", str(program), "--rules", str(_file(tmp_path, PRINTED)), "--no-check", "--explain", "-o"]
    assert main([*command, str(out)]) == 0
    assert out.read_text().strip() == REWRITTEN.strip()
    reported = [line for line in capsys.readouterr().out.splitlines() if line.startswith(("rule", "  not"))]
    assert [line.rpartition(": ")[2] for line in reported] == [
        "applied 1 time",
        "applied 1 time",
        "applied 1 time",
        "'operands' of tf.BiasAdd must be tensor of 32-bit float values, found tensor<4xi32>",
    ]
    assert main([*command, str(out), "--json"]) == 0
    rules = json.loads(capsys.readouterr().out)["result"]["rules"]
    assert [(r["name"], r["applied"]) for r in rules[3:]] == [("simplify", 0)]
    assert [r["applied"] for r in rules[:3]] == [1, 1, 1]
    assert rules[2]["mismatches"][0]["where"] == "f.operations[3] tf.BiasAdd"


def test_explaining_needs_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in.mlir"
    path.write_text("func.func @f() {\n  return\n}\n")
    assert main(["opt", str(path), "--explain", "--passes", "canonicalize", "-o", str(tmp_path / "out.mlir")]) == 2
    assert "--explain needs rules (--rules FILE)" in capsys.readouterr().err


def test_rules_on_another_version_of_an_operation_are_distinguished(tmp_path: Path) -> None:
    text = (
        "<ir_version: 4, opset_import: ['' : 6]> g (float[2] x) => (float[2] y) { y = Clip <min = 0.0, max = 9.0> (x) }"
    )
    (tmp_path / "clip.onnx").write_bytes(onnx.parser.parse_model(text.replace("'", '"')).SerializeToString())
    rules = load_rules(
        _file(
            tmp_path,
            'def Relu : Op<"onnx.Relu">, Arguments<(ins AnyTensor:$X)>, Results<[AnyTensor]>;\n'
            'def Clip : Op<"onnx.Clip">, Arguments<(ins AnyTensor:$input, AnyTensor:$min, AnyTensor:$max)>, '
            "Results<[AnyTensor]>;\n"
            "def Back : Pat<(Clip $x, $min, $max), (Relu $x)>;",
        )
    )
    reports: list[RuleReport] = []
    cir.optimize(cir.load(tmp_path / "clip.onnx"), passes=(), rules=rules.rewrites, reports=reports)
    assert [(m.reason, m.count) for m in reports[0].mismatches] == [
        ("onnx.Clip is of another version than opset13 that the rule is for", 1)
    ]


def test_rules_on_one_class_of_several_versions_apply_to_all(tmp_path: Path) -> None:
    model = Path(__file__).parents[2] / "examples" / "mobilenet.mlpackage"
    text = (
        'def Relu : Op<"mil.relu">, Arguments<(ins AnyTensor:$x)>, Results<[AnyTensor]>;\n'
        'def Clip : Op<"mil.clip">, Arguments<(ins AnyTensor:$x, AnyAttr:$alpha, AnyAttr:$beta)>, '
        "Results<[AnyTensor]>;\n"
        'def Low : ConstantAttr<F32Attr, "0.0">;\ndef High : ConstantAttr<F32Attr, "1000.0">;\n'
    )
    to_clip = load_rules(_file(tmp_path, text + "def To : Pat<(Relu $x), (Clip $x, Low, High)>;"))
    reports: list[RuleReport] = []
    optimized = cir.optimize(cir.load(model), passes=(), rules=to_clip.rewrites, reports=reports)
    assert (reports[0].applied, reports[0].mismatches) == (14, ())
    cir.save(optimized, tmp_path / "clipped.mlpackage")
    back = load_rules(_file(tmp_path, text + "def Back : Pat<(Clip $x, Low, High), (Relu $x)>;"))
    reports.clear()
    cir.optimize(cir.load(tmp_path / "clipped.mlpackage"), passes=(), rules=back.rewrites, reports=reports)
    assert (reports[0].applied, reports[0].mismatches) == (14, ())


@pytest.mark.parametrize(
    ("patterns", "code", "message"),
    [
        (
            'def One : Pat<(A $x, $y), (B $x, ConstantAttr<I32Attr, "1">)>; def Two : Pat<(A $u), (B $u, ONE)>;',
            "E0606",
            "rules One and Two match the same operations and are equally discriminating",
        ),
        ("", "E0604", "there are no rules: no record derives from 'Pat' or 'Pattern'"),
        ("def One : Pat<(A $x, $y, $k), (B $x)>;", "E0605", "rule One: d.b is made without 'why'"),
        ("def One : Pat<(A $x, $y, $k), (B $x, $why)>;", "E0604", "rule One: $why is bound by nothing in its source"),
        ("def One : Pat<(A $x, $y, $k, $m), (A $x, $y, $k)>;", "E0604", "rule One: d.a has 3 arguments, 4 are given"),
    ],
)
def test_faults_are_refused_when_the_file_is_loaded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], patterns: str, code: str, message: str
) -> None:
    path = _file(tmp_path, OPERATIONS + patterns)
    with pytest.raises(DiagnosticError) as caught:
        load_rules(path)
    assert [(d.code.id, d.message) for d in caught.value.diagnostics] == [(code, message)]
    program = _file(tmp_path, PROGRAM, "in.mlir")
    assert main(["opt", str(program), "--rules", str(path), "-o", str(tmp_path / "out.mlir")]) == 1
    assert f"error[{code}]: {message}" in capsys.readouterr().err
    assert not (tmp_path / "out.mlir").exists()


def test_source_may_leave_out_what_does_not_matter(tmp_path: Path) -> None:
    assert _why(tmp_path, 'def : Pat<(A $x), (B $x, ConstantAttr<I32Attr, "0">)>;') == "0"


@pytest.mark.parametrize("is_reversed", [False, True])
def test_most_discriminating_rule_wins_in_any_order(tmp_path: Path, is_reversed: bool) -> None:
    rules = [
        'def : Pat<(A $x), (B $x, ConstantAttr<I32Attr, "0">)>;',
        'def : Pat<(A F32Tensor:$x), (B $x, ConstantAttr<I32Attr, "1">)>;',
        'def : Pat<(A F32Tensor:$x, F32Tensor:$y), (B $x, ConstantAttr<I32Attr, "2">)>;',
        'def : Pat<(A F32Tensor:$x, F32Tensor:$y, ConstantAttr<I32Attr, "7">), (B $x, ConstantAttr<I32Attr, "7">)>;',
    ]
    text = "\n".join(rules[::-1] if is_reversed else rules)
    assert _why(tmp_path, text, "k = 7 : i32") == "7"
    assert _why(tmp_path, text, "k = 1 : i32") == "2"


def test_constraint_of_the_definition_itself_discriminates_nothing(tmp_path: Path) -> None:
    with pytest.raises(DiagnosticError, match="E0606"):
        _why(tmp_path, "def : Pat<(A AnyTensor:$x), (A $x, $x, ONE)>;\ndef : Pat<(A $x), (B $x, ONE)>;")


def test_attribute_is_transformed_to_one_of_another_type(tmp_path: Path) -> None:
    path = _file(
        tmp_path,
        OPERATIONS + 'def Worded : NativeCodeCall<"worded($0)">;\ndef : Pat<(A $x, $y, $k), (C $x, (Worded $k))>;',
    )
    rules = load_rules(path, functions={"worded": lambda k: f"it was {k}"})
    line = f'%0 = "d.a"(%a, %a) {{k = 3 : i32}} : ({F}, {F}) -> {F}'
    assert 'text = "it was 3"' in _made(rules, f"func.func @f(%a: {F}) -> {F} {{\n{line}\nreturn %0 : {F}\n}}")


def test_operations_of_known_dialects_need_no_arguments_in_the_file(tmp_path: Path) -> None:
    rules = load_rules(
        _file(
            tmp_path,
            'def Abs : Op<"tosa.abs">; def Sub : Op<"tosa.sub">; def Add : Op<"tosa.add">;\n'
            "def : Pat<(Abs (Abs $x)), (Abs $x)>;\ndef : Pat<(Add (Sub $x, $y), $y), (replaceWithValue $x)>;",
        )
    )
    assert rules.dialects == ()
    lines = f"%0 = tosa.sub %a, %b : ({F}, {F}) -> {F}\n%1 = tosa.add %0, %b : ({F}, {F}) -> {F}"
    lines += f"\n%2 = tosa.abs %1 : ({F}) -> {F}\n%3 = tosa.abs %2 : ({F}) -> {F}\nreturn %3 : {F}"
    result = _made(rules, f"func.func @f(%a: {F}, %b: {F}) -> {F} {{\n{lines}\n}}")
    assert [line.strip() for line in result.splitlines()[2:4]] == [
        f"%0 = tosa.abs %arg0 : ({F}) -> {F}",
        f"return %0 : {F}",
    ]
