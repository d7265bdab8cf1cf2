// common_ir.function common_ir.call common_ir.graph
module attributes {onnx.ir_version = 8 : i64, onnx.domain = "com.example", onnx.model_version = 1 : i64, onnx.doc_string = "Twice x."} {
  common_ir.function @Twice {opset_import = {"" = 21 : i64}} {
  ^bb0(%a: tensor<2xf32>):
    %b = onnx.Add %a, %a : tensor<2xf32>
    onnx.return %b : (tensor<2xf32>) -> ()
  }
  common_ir.graph @g {opset_import = {"" = 21 : i64}} {
  ^g(%x: tensor<2xf32>):
    %y = common_ir.call %x {function = "Twice"} : tensor<2xf32>
    onnx.return %y : (tensor<2xf32>) -> ()
  }
}
