"""Files in the older form of operation definitions, as the specification prints them."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.ir.attributes import FloatAttr, IntegerAttr, StringAttr
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, f32, f64, i32
from commonir.ods import Dialects, check_operation, verify
from commonir.ods.from_records import Loaded, load, name_of
from commonir.text.parser import parse_module
from commonir.text.printer import Naming, print_module

_ADD = """
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
"""
_PATTERNS = """
def : Pat<(TF_LeakyReluOp $arg, F32Attr:$a), (TFL_LeakyReluOp $arg, $a)>;
def : Pat<(TF_ReluOp (TF_AddOp $lhs, $rhs)), (TFL_AddOp $lhs, $rhs, TFL_AF_Relu)>;
def : Pat<(TF_BiasAddOp F32Tensor:$l, F32Tensor:$r),
          (TFL_AddOp $l, $r, TFL_AF_None)>;
"""
_SHORT = """
def TFL_AddOp : Op<"tfl.Add", [NoSideEffect, Commutative]>,
                Arguments<(ins TF_Tensor:$lhs, TF_Tensor:$rhs, StrAttr:$fused_activation_function)>,
                Results<[TF_Tensor]>, Traits<["BroadcastableOperandsAndResultType"]> {
  let mnemonic = [{
    tfl.Add $lhs, $rhs {fused_activation_function:
                       $fused_activation_function }: ${type(self)}
  }];
}
"""


def _loaded(tmp_path: Path, *parts: str) -> Loaded:
    path = tmp_path / "older.td"
    path.write_text("".join(parts))
    return load(path)


def test_the_definition_of_the_specification_loads_as_printed(tmp_path: Path) -> None:
    actual = _loaded(tmp_path, _ADD, _PATTERNS)
    add = actual.definitions["TF_AddOp"]
    assert (add.name, [f.spelling for f in add.layout.inputs]) == ("tf.Add", ["lhs", "rhs"])
    assert [t.name for t in add.traits] == ["Pure", "BroadcastableOperandsAndResultType"]
    assert (add.__doc__ or "").startswith("Addition operator.\n\nReturns lhs + rhs element-wise.\n\nThe inputs and")
    assert "result[ivs] = lhs[ivs] + rhs[ivs]" in (add.__doc__ or "")
    # The loop nest is read as index notation.
    assert getattr(add, "unknown", None) == ()
    assert add.form.value == "kernel"
    assert {d.name for d in actual.dialects} == {"tf", "tfl"}


def test_operations_that_a_file_only_uses_take_anything(tmp_path: Path) -> None:
    actual = _loaded(tmp_path, _ADD, _PATTERNS)
    assert actual.declared == ("TF_LeakyReluOp", "TFL_LeakyReluOp", "TF_ReluOp", "TF_BiasAddOp")
    dialects = Dialects(dialects=actual.dialects)
    source = """func.func @f(%a: tensor<4xf32>, %b: i32) {
  %0:2 = "tf.LeakyRelu"(%a, %b) {alpha = 1.0 : f32} : (tensor<4xf32>, i32) -> (i1, tensor<?xf32>)
  "tf.BiasAdd"() : () -> ()
  return
}"""
    assert verify(parse_module(source, dialects), dialects) == []
    assert name_of(actual.records.defs["TFL_LeakyReluOp"]) == "tfl.LeakyRelu"


def test_names_of_the_prelude_are_types_attributes_and_values(tmp_path: Path) -> None:
    actual = _loaded(tmp_path, _ADD, _PATTERNS)
    defs = actual.records.defs
    singles = actual.type_constraint(defs["F32Tensor"])
    assert singles.admits(TensorType(f32, (4, None)))
    assert singles.admits(TensorType(f32, None))
    assert not singles.admits(TensorType(f64, (4,)))
    assert not singles.admits(f32)
    number = actual.attribute_check(defs["F32Attr"])
    assert number.admits(FloatAttr(1.0, f32))
    assert not number.admits(FloatAttr(1.0, f64))
    assert not number.admits(IntegerAttr(1, i32))
    assert actual.attribute_value(defs["TFL_AF_Relu"]) is StringAttr("RELU")
    assert actual.attribute_value(defs["TFL_AF_None"]) is StringAttr("NONE")
    assert actual.attribute_value(defs["F32Attr"]) is None


def test_the_short_form_is_read_and_printed_as_its_template_says(tmp_path: Path) -> None:
    actual = _loaded(tmp_path, _ADD, _SHORT)
    dialects = Dialects(dialects=actual.dialects)
    line = '%0 = tfl.Add %arg0, %arg1 {fused_activation_function: "RELU" }: tensor<4xf32> {more = 1 : i32}'
    source = f"""module {{
  func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<1xf32>) -> tensor<4xf32> {{
    {line}
    return %0 : tensor<4xf32>
  }}
}}

"""
    module = parse_module(source, dialects)
    assert verify(module, dialects) == []
    assert print_module(module, naming=Naming.MLIR, dialects=dialects) == source
    assert '<{fused_activation_function = "RELU"}> {more = 1 : i32}' in print_module(module, generic=True)


def test_the_trait_gives_the_result_and_refuses_what_does_not_broadcast(tmp_path: Path) -> None:
    add = _loaded(tmp_path, _ADD[: _ADD.index("  let reference")], "}\n").definitions["TF_AddOp"]
    built = add(Value(TensorType(f32, (4, 1))), Value(TensorType(f32, (3,))))
    assert built.results[0].type is TensorType(f32, (4, 3))
    wrong = add.build(
        {"lhs": Value(TensorType(f32, (4,))), "rhs": Value(TensorType(f32, (3,)))}, [TensorType(f32, (4,))]
    )
    (actual,) = [d.message for d in check_operation(wrong)]
    assert actual.startswith("tf.Add: BroadcastableOperandsAndResultType: ")
    assert actual.endswith("the shapes of operands cannot be broadcast: tensor<4xf32>, tensor<3xf32>")
    with pytest.raises(DiagnosticError, match="share one element type"):
        add(Value(TensorType(f32, (4,))), Value(TensorType(f64, (4,))))


@pytest.mark.parametrize(
    ("mnemonic", "message"),
    [
        ("tf.Other $lhs", "does not begin with its name"),
        ("tf.Neg $rhs", "names 'rhs', which is not a field"),
        ("tf.Neg $x ; $x", "cannot be read from"),
        ("tf.Neg $x : ${type(rhs)}", "names 'rhs', which is not a field"),
    ],
)
def test_a_wrong_short_form_is_refused(tmp_path: Path, mnemonic: str, message: str) -> None:
    record = f'def TF_NegOp : Op<"tf.Neg">, Arguments<(ins TF_Tensor:$x)> {{ let mnemonic = "{mnemonic}"; }}'
    with pytest.raises(DiagnosticError, match="E0264") as raised:
        _loaded(tmp_path, record)
    assert message in raised.value.diagnostics[0].message


def test_a_file_that_defines_names_of_the_prelude_keeps_its_own(tmp_path: Path) -> None:
    own = 'def TF_Tensor : Type<"isa<RankedTensorType>($_self)", "my tensor">;\n'
    lhs = _loaded(tmp_path, own, _ADD).definitions["TF_AddOp"].layout.inputs[0]
    assert str(lhs.pattern) == "my tensor"
