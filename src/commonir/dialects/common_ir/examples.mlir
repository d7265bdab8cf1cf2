// common_ir.function common_ir.call common_ir.graph
module attributes {onnx.ir_version = 8 : i64, onnx.domain = "com.example", onnx.model_version = 1 : i64, onnx.doc_string = "Twice x."} {
  common_ir.function @Twice attributes {opset_import = {"" = 21 : i64}} {
  ^bb0(%a: tensor<2xf32>):
    %b = onnx.Add %a, %a : tensor<2xf32>
    onnx.return %b : (tensor<2xf32>) -> ()
  }
  common_ir.graph @g attributes {opset_import = {"" = 21 : i64}} {
  ^g(%x: tensor<2xf32>):
    %y = common_ir.call %x {function = "Twice"} : tensor<2xf32>
    onnx.return %y : (tensor<2xf32>) -> ()
  }
}
// -----
// common_ir.import common_ir.library common_ir.operator
module attributes {onnx.ir_version = 3 : i64, onnx.domain = "com.example", onnx.model_version = 1 : i64, onnx.doc_string = "Scales x."} {
  common_ir.import {uri = "commonir:core"}
  common_ir.library @com.example.declared attributes {identifier = "declared", domain = "com.example", ir_version = 3, model_version = 1, onnx.doc_string = "Declares operators."} {
    common_ir.operator @Scale {signatures = [{inputs = [{name = "x", type = "f32[n]"}], outputs = [{name = "y", type = "f32[n]"}]}]}
  }
  common_ir.library @com.example.defined attributes {identifier = "defined", domain = "com.example", ir_version = 3, model_version = 1, onnx.doc_string = "Defines them."} {
    common_ir.function @Scale attributes {opset_import = {}} {
    ^bb0(%a: tensor<"n"xf32>):
      %b = core.add %a, %a : tensor<"n"xf32>
      onnx.return %b : (tensor<"n"xf32>) -> ()
    }
  }
  common_ir.graph @g attributes {opset_import = {}} {
  ^g(%x: tensor<2xf32>):
    %y = "common_ir.op.com.example.declared.Scale"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.return %y : (tensor<2xf32>) -> ()
  }
}
// -----
// common_ir.function_instance
module {
  common_ir.function_instance @Twice attributes {declared = ["f32[n]", "f32[n]"]} {
  ^bb0(%a: tensor<2xf32>):
    %b = onnx.Add %a, %a : tensor<2xf32>
    onnx.return %b : (tensor<2xf32>) -> ()
  }
}
// -----
// common_ir.check_shapes
ml_program.func @main(%a: tensor<"n"x"m"xf32>) -> tensor<"m"x"n"xf32> {
  %b = core.transpose %a {perm = [1, 0]} : (tensor<"n"x"m"xf32>) -> tensor<"m"x"n"xf32>
  common_ir.check_shapes %a, %b {types = ["f32[k, k]", "f32[k, k]"], names = ["a", "b"]} : (tensor<"n"x"m"xf32>, tensor<"m"x"n"xf32>) -> ()
  ml_program.return %b : tensor<"m"x"n"xf32>
}
