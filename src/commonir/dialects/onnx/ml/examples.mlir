// onnx.ml.DictVectorizer
onnx.graph @main attributes {opset_import = {"" = 21 : i64, ai.onnx.ml = 3 : i64}} {
^main(%counts: !builtin.map<!builtin.string, tensor<f32>>):
  %y = onnx.ml.DictVectorizer %counts {string_vocabulary = ["cat", "dog"]} : (!builtin.map<!builtin.string, tensor<f32>>) -> tensor<1x2xf32>
  onnx.return %y : (tensor<1x2xf32>) -> ()
}
