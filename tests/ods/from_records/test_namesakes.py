"""A dialect of records with the name of one of a format: the records alone define it."""

from __future__ import annotations

from pathlib import Path

from commonir.ods import Dialects
from commonir.ods.verify import verify
from commonir.text.loaded_definitions import load_dialects
from commonir.text.parser import parse_module
from commonir.text.printer import Naming, print_module

_RECORDS = """
include "mlir/IR/OpBase.td"
def Theirs : Dialect { let name = "onnx"; let cppNamespace = "::theirs"; }
def LeakyRelu : Op<Theirs, "LeakyRelu"> {
  let arguments = (ins AnyTensor:$X, DefaultValuedAttr<SI64Attr, "0">:$alpha);
  let results = (outs AnyTensor:$Y);
}
"""
_PROGRAM = """
func.func @f(%x: tensor<2xf32>) -> tensor<*xf32> {
  %y = "onnx.LeakyRelu"(%x) <{alpha = 1 : si64}> : (tensor<2xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
"""


def test_records_of_a_dialect_named_like_a_format_define_their_operations_alone(tmp_path: Path) -> None:
    path = tmp_path / "theirs.td"
    path.write_text(_RECORDS)
    dialects = Dialects(dialects=load_dialects([path]))
    module = parse_module(_PROGRAM, dialects)
    assert verify(module, dialects) == []
    printed = print_module(module, generic=True, naming=Naming.MLIR, dialects=dialects)
    assert '"onnx.LeakyRelu"(%arg0) <{alpha = 1 : si64}>' in printed
