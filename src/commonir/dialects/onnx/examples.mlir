// onnx.If onnx.graph onnx.return
onnx.graph @main attributes {opset_import = {"" = 21 : i64}} {
^main(%condition: tensor<i1>, %x: tensor<2xf32>):
  %y = onnx.If %condition : (tensor<i1>) -> tensor<2xf32> else_branch {
    %same = onnx.Identity %x : tensor<2xf32>
    onnx.return %same : (tensor<2xf32>) -> ()
  } then_branch {
    %negative = onnx.Neg %x : tensor<2xf32>
    onnx.return %negative : (tensor<2xf32>) -> ()
  }
  onnx.return %y : (tensor<2xf32>) -> ()
}
// -----
// onnx.Loop
onnx.graph @main attributes {opset_import = {"" = 21 : i64}} {
^main(%x: tensor<2xf32>):
  %n = onnx.Constant {value = dense<3> : tensor<i64>} : tensor<i64>
  %last, %all = onnx.Loop M(%n) v_initial(%x) : (tensor<i64>, tensor<2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>) {
  ^body(%i: tensor<i64>, %condition: tensor<i1>, %before: tensor<2xf32>):
    %after = onnx.Add %before, %before : tensor<2xf32>
    onnx.return %condition, %after, %after : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> ()
  }
  onnx.return %last, %all : (tensor<2xf32>, tensor<3x2xf32>) -> ()
}
// -----
// onnx.Scan
onnx.graph @main attributes {opset_import = {"" = 21 : i64}} {
^main(%initial: tensor<2xf32>, %rows: tensor<3x2xf32>):
  %last, %sums = onnx.Scan %initial, %rows {num_scan_inputs = 1} : (tensor<2xf32>, tensor<3x2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>) {
  ^body(%before: tensor<2xf32>, %row: tensor<2xf32>):
    %after = onnx.Add %before, %row : tensor<2xf32>
    onnx.return %after, %after : (tensor<2xf32>, tensor<2xf32>) -> ()
  }
  onnx.return %last, %sums : (tensor<2xf32>, tensor<3x2xf32>) -> ()
}
// -----
// onnx.SequenceMap
onnx.graph @main attributes {opset_import = {"" = 21 : i64}} {
^main(%x: tensor<2xf32>, %z: tensor<3xf32>):
  %sequence = onnx.SequenceConstruct %x, %z : (tensor<2xf32>, tensor<3xf32>) -> !builtin.list<tensor<?xf32>>
  %negatives = onnx.SequenceMap %sequence : (!builtin.list<tensor<?xf32>>) -> !builtin.list<tensor<?xf32>> {
  ^body(%element: tensor<?xf32>):
    %negative = onnx.Neg %element : tensor<?xf32>
    onnx.return %negative : (tensor<?xf32>) -> ()
  }
  %one = onnx.Constant {value = dense<1> : tensor<i64>} : tensor<i64>
  %second = onnx.SequenceAt %negatives, %one : (!builtin.list<tensor<?xf32>>, tensor<i64>) -> tensor<?xf32>
  onnx.return %second : (tensor<?xf32>) -> ()
}
// -----
// onnx.function onnx.call
onnx.graph @main attributes {opset_import = {"" = 21 : i64, local = 1 : i64}} {
^main(%x: tensor<2xf32>):
  %y = onnx.call %x {function = @"local::Twice"} : tensor<2xf32>
  onnx.return %y : (tensor<2xf32>) -> ()
}
onnx.function @"local::Twice" attributes {function_name = "Twice", opset_import = {"" = 21 : i64}, domain = "local"} {
^bb0(%a: !builtin.unknown):
  %b = onnx.Add %a, %a : !builtin.unknown
  onnx.return %b : (!builtin.unknown) -> ()
}
// -----
// onnx.custom
onnx.graph @main attributes {opset_import = {"" = 21 : i64, com.example = 1 : i64}} {
^main(%x: tensor<2xf32>):
  %y = onnx.custom %x {op_type = "Twice", domain = "com.example", attributes = {mode = "exact"}} : tensor<2xf32>
  onnx.return %y : (tensor<2xf32>) -> ()
}
// -----
// onnx.preview.training.Gradient
onnx.graph @main attributes {opset_import = {"" = 21 : i64, ai.onnx.preview.training = 1 : i64}} {
^main(%x: tensor<2xf32>):
  %y = onnx.Mul %x, %x : tensor<2xf32>
  %dy = onnx.preview.training.Gradient %x {y = "y", xs = ["x"]} : tensor<2xf32>
  onnx.return %y, %dy : (tensor<2xf32>, tensor<2xf32>) -> ()
}
// -----
// onnx.function_instance
module {
  onnx.function_instance @Twice attributes {opset_import = {"" = 21 : i64}} {
  ^bb0(%a: tensor<2xf32>):
    %b = onnx.Add %a, %a : tensor<2xf32>
    onnx.return %b : (tensor<2xf32>) -> ()
  }
}
