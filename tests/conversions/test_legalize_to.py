"""Programs legalized to dialects: from ONNX, from mixed dialects, by rules of users; values are those of others."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx.parser
import pytest
from onnx import ModelProto

import commonir as cir
from commonir.base.diagnostics import DiagnosticError, Diagnostics
from commonir.cli.main import main
from commonir.conversions.conversion import Conversion, Conversions, CoreRules
from commonir.conversions.legalization import LegalizationRequest, legalize_to
from commonir.dialects import core
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import f32
from commonir.ods import Dialect, Dialects, Op, element_type, operand, result, traits
from commonir.reports import LegalizationReport
from commonir.rewrite.legality import Target
from commonir.rewrite.legalize import Context, Rules, rule

from tests.arrays import read_arrays
from tests.conversions.running_mlir import check_with_mlir_opt, text_of
from tests.iree import Compiled
from tests.oracles import oracle

NETWORK = """
<ir_version: 8, opset_import: ["" : 18]>
network (float[n, 4] x) => (float[n, 3] y)
<float[4, 3] w = {0.5, -1.0, 2.0, 1.5, 0.25, -0.75, -2.0, 1.0, 0.125, 0.0, 3.0, -1.5}, float[3] b = {0.1, -0.2, 0.3}>
{
    product = MatMul (x, w)
    sum = Add (product, b)
    relu = Relu (sum)
    y = Softmax <axis = -1> (relu)
}
"""
X = np.linspace(-2, 2, 8, dtype=np.float32).reshape(2, 4)

MIXED = """
func.func @f(%a: tensor<?x4xf32>, %b: tensor<4xf32>, %n: index) -> (tensor<?x4xf32>, index) {
  %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
  %1 = tosa.add %a, %0 : (tensor<?x4xf32>, tensor<1x4xf32>) -> tensor<?x4xf32>
  %2 = tosa.tanh %1 : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %c1 = arith.constant 1 : index
  %m = arith.addi %n, %c1 : index
  return %2, %m : tensor<?x4xf32>, index
}
"""
B = np.array([0.5, -0.5, 1.0, 0.25], np.float32)

RULES = """
def Double : Op<"my.double", [NoSideEffect]>, Arguments<(ins F32Tensor:$x)>, Results<[F32Tensor]>;
def Twice : Op<"my.twice", [NoSideEffect]>, Arguments<(ins F32Tensor:$x)>, Results<[F32Tensor]>;
def Odd : Op<"my.odd", [NoSideEffect]>, Arguments<(ins F32Tensor:$x)>, Results<[F32Tensor]>;
def Tosa_AddOp : Op<"tosa.add">;
def DoubleIsTwice : Pat<(Double $x), (Twice $x)>;
def TwiceIsAdd : Pat<(Twice $x), (Tosa_AddOp $x, $x)>;
"""
MINE = """
func.func @f(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = "my.double"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tosa.abs %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
"""


def _dialects(module: Module) -> set[str]:
    return {op.name.partition(".")[0] for op in module.nested()}


def _network() -> ModelProto:
    return onnx.parser.parse_model(NETWORK)


def _softmax(x: np.ndarray) -> np.ndarray:
    """The network by numpy."""
    w = np.array([0.5, -1.0, 2.0, 1.5, 0.25, -0.75, -2.0, 1.0, 0.125, 0.0, 3.0, -1.5], np.float32).reshape(4, 3)
    relu = np.maximum(x @ w + np.array([0.1, -0.2, 0.3], np.float32), 0)
    e = np.exp(relu - relu.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize(
    ("to", "expected"),
    [
        ("linalg", {"func", "linalg", "tensor", "arith", "math"}),
        ("stablehlo", {"func", "stablehlo"}),
        ("tosa", {"func", "tosa"}),
        ("core", {"ml_program", "core"}),
        ("onnx", {"onnx"}),
    ],
)
def test_onnx_network_computes_the_same_in_other_dialects(to: str, expected: set[str]) -> None:
    network = cir.loads(_network().SerializeToString(), format="onnx")
    result = cir.legalize(network, to)
    assert _dialects(result) == expected
    (y,) = cir.run(result, {"x": X}).values()
    np.testing.assert_allclose(np.asarray(y, np.float32), _softmax(X), rtol=1e-5)


def test_mixed_dialects_are_legalized_and_the_rest_stays() -> None:
    module = cir.loads(MIXED, format="mlir")
    result = cir.legalize(module, "linalg")
    assert _dialects(result) == {"func", "linalg", "tensor", "arith", "math"}
    values = cir.run(result, {"a": X, "b": B, "n": np.array(6)})
    np.testing.assert_allclose(np.asarray(next(iter(values.values())), np.float32), np.tanh(X + B), rtol=1e-6)
    assert int(list(values.values())[1]) == 7
    # The operation of stablehlo is the only one that is not legal.
    only = cir.legalize(module, ["tosa", "arith"])
    assert [op.name for op in only.main.body.operations] == [
        "tosa.const_shape",
        "tosa.reshape",
        "tosa.add",
        "tosa.tanh",
        "arith.constant",
        "arith.addi",
        "func.return",
    ]


def test_cast_that_no_rule_removes_is_an_error_or_stays() -> None:
    module = cir.loads(MIXED, format="mlir")
    with pytest.raises(DiagnosticError, match=r"E0601.*no rule converts index to tensor<i64>, which tosa.add needs"):
        cir.legalize(module, "tosa")
    partial = cir.legalize(module, "tosa", partial=True)
    assert "builtin" in _dialects(partial)


def _files(folder: Path, program: str = MINE) -> list[str]:
    (folder / "rules.td").write_text(RULES)
    (folder / "mine.mlir").write_text(program)
    return ["opt", str(folder / "mine.mlir"), "--rules", str(folder / "rules.td"), "-o", str(folder / "out.mlir")]


@pytest.mark.parametrize(
    ("to", "expected"),
    [("tosa", {"func", "tosa"}), ("linalg", {"func", "linalg", "tensor", "arith", "math"})],
)
def test_rules_of_a_file_lead_to_tosa_and_further(tmp_path: Path, to: str, expected: set[str]) -> None:
    assert main([*_files(tmp_path), "--legalize-to", to, "--no-check"]) == 0
    result = cir.load(tmp_path / "out.mlir")
    assert _dialects(result) == expected
    (y,) = cir.run(result, {result.main.inputs[0].name: X}).values()
    np.testing.assert_array_equal(y, np.abs(2 * X))


def test_paths_are_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [*_files(tmp_path), "--legalize-to", "linalg", "--no-check", "--explain"]
    assert main(arguments) == 0
    assert capsys.readouterr().out.partition("f.operations")[2] == (
        "[0] my.double:\n"
        "  my.double -> my.twice by rule DoubleIsTwice\n"
        "  my.twice -> tosa.add by rule TwiceIsAdd\n"
        "  tosa.add -> core.add by its reference\n"
        "  core.add -> tensor.empty, linalg.generic by rule kernel\n"
        "f.operations[1] tosa.abs:\n"
        "  tosa.abs -> core.abs by its reference\n"
        "  core.abs -> tensor.empty, linalg.generic by rule kernel\n"
    )
    assert main([*arguments, "--json"]) == 0
    path = json.loads(capsys.readouterr().out)["result"]["paths"][0]
    assert path["steps"][0] == {"operation": "my.double", "by": "rule DoubleIsTwice", "result": ["my.twice"]}


def test_reference_of_a_record_is_an_edge(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reference = "code reference = [{ result[i, j] = x[i, j] + x[i, j] }];"
    lines = [line for line in RULES.splitlines() if "my.double" in line]
    (tmp_path / "my.td").write_text(lines[0].replace(";", f" {{ {reference} }}", 1))
    (tmp_path / "mine.mlir").write_text(MINE)
    arguments = [
        "opt",
        str(tmp_path / "mine.mlir"),
        "--dialect",
        str(tmp_path / "my.td"),
        "-o",
        str(tmp_path / "o.mlir"),
    ]
    # The outputs are compared with those of the program, which can run by its reference.
    assert main([*arguments, "--legalize-to", "linalg", "--explain"]) == 0
    paths = capsys.readouterr().out.partition("f.operations")[2].splitlines()
    assert paths[1] == "  my.double -> tensor.empty, linalg.generic by rule foreign_kernel"
    result = cir.load(tmp_path / "o.mlir")
    (y,) = cir.run(result, {result.main.inputs[0].name: X}).values()
    np.testing.assert_array_equal(y, np.abs(2 * X))


def test_conversion_of_a_whole_program_is_the_end_of_a_path() -> None:
    reports: list[LegalizationReport] = []
    cir.legalize(cir.loads(MIXED, format="mlir"), "onnx", reports=reports)
    assert [(r.name, [(s.by, s.result) for s in r.steps]) for r in reports] == [
        (name, [("its reference and the conversion to onnx", ("onnx",))])
        for name in ("stablehlo.broadcast_in_dim", "tosa.add", "tosa.tanh", "arith.constant", "arith.addi")
    ]


def test_operation_without_a_path_is_reported_or_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [*_files(tmp_path, MINE.replace("my.double", "my.odd")), "--legalize-to", "linalg", "--no-check"]
    assert main(arguments) == 4
    assert capsys.readouterr().err.splitlines() == [
        "error[E0601]: my.odd cannot be expressed in linalg",
        f"  --> {tmp_path / 'mine.mlir'}:3:8: f.operations[0] my.odd",
        "   = no rule takes my.odd, and it cannot be expanded",
        "   = help: needed: a rule for my.odd that gives operations of linalg, core, my",
    ]
    assert main([*arguments, "--partial"]) == 0
    assert _dialects(cir.load(tmp_path / "out.mlir")) == {"func", "my", "linalg", "tensor", "math"}
    assert main([*arguments, "--partial", "--illegal", "my"]) == 4
    assert main([*arguments, "--legal", "my.odd"]) == 0


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--legal", "nodialect"], "no dialect 'nodialect' is known"),
        (["--legal", "tosa.ab"], "no operation 'tosa.ab' is known"),
        (["--illegal", "mth"], "no dialect 'mth' is known"),
        (["--illegal", "quux.one"], "no operation 'quux.one' is known"),
    ],
)
def test_names_of_nothing_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], message: str
) -> None:
    assert main([*_files(tmp_path, MINE), "--legalize-to", "linalg", "--no-check", *more]) == 4
    assert f"error[E0601]: {message}" in capsys.readouterr().err


@pytest.mark.parametrize("more", [["--partial"], ["--legal", "a"], ["--illegal", "a"], ["--legalize-to", " "]])
def test_options_need_a_target(tmp_path: Path, more: list[str]) -> None:
    assert main([*_files(tmp_path), *more]) == 2


def test_outputs_are_compared_and_named_passes_run_afterwards(tmp_path: Path) -> None:
    text = MINE.replace('"my.double"(%x)', "tosa.abs %x").replace("tosa.abs %0", "tosa.abs %x")
    arguments = _files(tmp_path, text)
    assert main([*arguments, "--legalize-to", "tosa", "--passes", "simplify"]) == 0
    names = [op.name for op in cir.load(tmp_path / "out.mlir").main.body.operations]
    assert names == ["tosa.abs", "func.return"]


def test_whole_programs_of_a_format_have_no_operations_of_others() -> None:
    module = cir.loads(MIXED, format="mlir")
    with pytest.raises(DiagnosticError, match="a program of onnx has no operations of other dialects"):
        cir.legalize(module, ["onnx", "tosa"])
    with pytest.raises(DiagnosticError, match=r"without `partial=True`"):
        cir.legalize(module, "onnx", partial=True)


@pytest.mark.slow
@pytest.mark.parametrize("to", ["linalg", "tosa", "tosa,linalg"])
def test_others_accept_the_programs_and_compute_the_same(to: str) -> None:
    network = cir.loads(_network().SerializeToString(), format="onnx")
    session = oracle("onnxruntime").InferenceSession(_network().SerializeToString())
    (expected,) = session.run(None, {"x": X})
    legalized = cir.legalize(network, to.split(","))
    check_with_mlir_opt(text_of(legalized))
    (result,) = Compiled(text_of(legalized, generic=True)).run("network", [X])
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_mlir_opt_accepts_partial_programs() -> None:
    module = cir.loads(MIXED, format="mlir")
    check_with_mlir_opt(text_of(cir.legalize(module, "tosa", partial=True)))
    check_with_mlir_opt(text_of(cir.legalize(module, ["tosa", "arith"])))
    check_with_mlir_opt(text_of(cir.legalize(module, "linalg")))


def _legalized(lines: str, to: str = "linalg", *, partial: bool = False) -> list[str]:
    """Returns the names of all operations of a legalized function of `%x` and `%n`."""
    text = f"func.func @f(%x: tensor<4xf32>, %n: i32) -> tensor<4xf32> {{\n{lines}\n}}"
    result = cir.legalize(cir.loads(text, format="mlir"), to, partial=partial)
    return [op.name for op in result.main.walk() if not op.name.startswith("func.")]


def test_scalars_become_tensors_by_operations_of_the_target() -> None:
    lines = """%0 = index.casts %n : i32 to index
    %1 = arith.index_cast %0 : index to i32
    %2 = tensor.from_elements %1 : tensor<1xi32>
    %3 = tosa.cast %2 : (tensor<1xi32>) -> tensor<1xf32>
    %4 = tosa.add %3, %x : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %4 : tensor<4xf32>"""
    names = _legalized(lines)
    assert "builtin.unrealized_conversion_cast" not in names
    assert not {name.partition(".")[0] for name in names} - {"arith", "tensor", "linalg"}


def test_what_is_in_an_operation_that_stays_is_as_its_definition_requires() -> None:
    # Groups of two processes cannot be expressed, so that the sum inside must stay too.
    lines = """%0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%lhs: tensor<f32>, %rhs: tensor<f32>):
      %sum = stablehlo.add %lhs, %rhs : tensor<f32>
      stablehlo.return %sum : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = stablehlo.abs %0 : tensor<4xf32>
    return %1 : tensor<4xf32>"""
    names = _legalized(lines, partial=True)
    assert [name for name in names if name.startswith("stablehlo.")] == [
        "stablehlo.all_reduce",
        "stablehlo.add",
        "stablehlo.return",
    ]


def test_operation_that_stays_keeps_unsigned_integers() -> None:
    # Programs of tosa have signless integers; those of others keep theirs.
    lines = """%0 = "foo.bytes"(%x) : (tensor<4xf32>) -> tensor<4xui8>
    %1 = stablehlo.add %0, %0 : tensor<4xui8>
    %2 = "foo.floats"(%1) : (tensor<4xui8>) -> tensor<4xf32>
    return %2 : tensor<4xf32>"""
    text = f"func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {{\n{lines}\n}}"
    result = cir.legalize(cir.loads(text, format="mlir"), "linalg", partial=True)
    types = {op.name: [str(v.type) for v in (*op.operands, *op.results)] for op in result.main.body.operations}
    assert types["foo.bytes"] == ["tensor<4xf32>", "tensor<4xui8>"]
    assert types["foo.floats"] == ["tensor<4xui8>", "tensor<4xf32>"]
    assert types["linalg.generic"][-1] == "tensor<4xi8>"


def test_nested_modules_are_legalized() -> None:
    text = """module { module @inner { func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = tosa.abs %x : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    } } func.func @g(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = tosa.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    } }"""
    names = [op.name for op in cir.legalize(cir.loads(text, format="mlir"), "linalg").walk()]
    assert {"math.absf", "math.tanh"} <= set(names)
    assert not [name for name in names if name.startswith("tosa")]


def test_regions_of_unknown_operations_are_legalized() -> None:
    lines = """%0 = "foo.region"(%x) ({
      %1 = tosa.abs %x : (tensor<4xf32>) -> tensor<4xf32>
      "foo.yield"(%1) : (tensor<4xf32>) -> ()
    }) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>"""
    names = _legalized(lines, partial=True)
    assert "tosa.abs" not in names
    assert {"foo.region", "foo.yield", "math.absf"} <= set(names)


def test_illegal_operation_is_not_replaced_by_itself_through_the_core(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [*_files(tmp_path), "--legalize-to", "tosa", "--illegal", "tosa.abs", "--no-check"]
    assert main(arguments) == 4
    found = capsys.readouterr().err.partition(" -->")[0].strip()
    assert found == "error[E0607]: the rules for core.abs lead back to it: core.abs -> tosa.abs -> core.abs"
    with (tmp_path / "rules.td").open("a") as file:
        file.write('def Tosa_AbsOp : Op<"tosa.abs">;\ndef Tosa_MaximumOp : Op<"tosa.maximum">;\n')
        file.write("def R : Pat<(Tosa_AbsOp (Tosa_AddOp $x, $y)), (Tosa_MaximumOp $x, $y)>;\n")
        file.write("def S : Pat<(Tosa_AbsOp $x), (Tosa_MaximumOp $x, $x)>;\n")
    assert main(arguments) == 0
    names = [op.name for op in cir.load(tmp_path / "out.mlir").main.body.operations]
    assert names == ["tosa.add", "tosa.maximum", "func.return"]


class Magnitude(Op, name="my.magnitude", traits=(traits.Pure,)):
    """An operation of a dialect that a package brings."""

    x: Value = operand("T[s*]")
    y: Value = result("T[s*]")
    T = element_type(f32)


@rule(core.Abs)
def magnitude(op: core.Abs, context: Context, x: Value) -> Value:
    del op, context
    return Magnitude(x).y


def test_conversion_of_a_package_is_an_edge() -> None:
    def refuse(module: Module, *_: object) -> Module:
        raise AssertionError(module)

    rules = CoreRules(Rules([magnitude]), Target("my"), finish=lambda _: None)
    conversions = Conversions([Conversion("my", refuse, core_rules=rules)])
    module = cir.loads(
        MINE.replace('"my.double"(%x)', "tosa.abs %x").replace("tosa.abs %0", "tosa.abs %x"), format="mlir"
    )
    request, dialects = LegalizationRequest(("my",)), Dialects([Dialect("my", (Magnitude,))])
    result = legalize_to(module, request, dialects, conversions, Diagnostics())
    assert [op.name for op in result.main.body.operations] == ["my.magnitude", "func.return"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["control_iOS18", "gru_fp32", "lists_iOS17"])
def test_core_ml_programs_compute_what_core_ml_tools_computed(name: str) -> None:
    folder = Path(__file__).parents[1] / "models" / name
    program = cir.load(next(p for p in folder.iterdir() if p.suffix == ".mlpackage"))
    result = cir.legalize(program, "linalg")
    inputs, outputs = read_arrays(folder / "inputs.npz"), read_arrays(folder / "outputs.npz")
    for output, array in cir.run(result, inputs).items():
        np.testing.assert_allclose(np.asarray(array, np.float64), outputs[output], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["collections", "imports", "bundled", "overloads"])
def test_declarations_of_common_ir_files_need_no_path(name: str) -> None:
    module = cir.load(Path(__file__).parents[2] / "examples/common_ir" / f"{name}.cir.json")
    assert {op.name.partition(".")[0] for op in cir.legalize(module, "core").nested()} <= {"core", "ml_program", "func"}
