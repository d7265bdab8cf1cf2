// mil.cond mil.func mil.return
mil.func @main attributes {opset = "CoreML5"} {
^CoreML5(%x: tensor<2xf32>):
  %sum = mil.reduce_sum %x : (tensor<2xf32>) -> tensor<f32>
  %zero = mil.const {val = dense<0.0> : tensor<f32>} : tensor<f32>
  %is_positive = mil.greater %sum, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %result = mil.cond %is_positive : (tensor<i1>) -> tensor<2xf32> then {
    %twice = mil.add %x, %x : tensor<2xf32>
    mil.return %twice {names = [""]} : (tensor<2xf32>) -> ()
  } otherwise {
    %magnitude = mil.abs %x : tensor<2xf32>
    mil.return %magnitude {names = [""]} : (tensor<2xf32>) -> ()
  }
  mil.return %result {names = ["y"]} : (tensor<2xf32>) -> ()
}
// -----
// mil.while_loop
mil.func @main attributes {opset = "CoreML5"} {
^CoreML5(%x: tensor<2xf32>):
  %result = mil.while_loop %x : (tensor<2xf32>) -> tensor<2xf32> condition {
  ^bb0(%before: tensor<2xf32>):
    %sum = mil.reduce_sum %before : (tensor<2xf32>) -> tensor<f32>
    %limit = mil.const {val = dense<10.0> : tensor<f32>} : tensor<f32>
    %is_less = mil.less %sum, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
    mil.return %is_less {names = [""]} : (tensor<i1>) -> ()
  } body {
  ^bb0(%before: tensor<2xf32>):
    %after = mil.add %before, %before : tensor<2xf32>
    mil.return %after {names = [""]} : (tensor<2xf32>) -> ()
  }
  mil.return %result {names = ["y"]} : (tensor<2xf32>) -> ()
}
// -----
// mil.read_state mil.write_state
mil.func @main attributes {opset = "CoreML8"} {
^CoreML8(%x: tensor<2xf16>, %total: !builtin.state<tensor<2xf16>>):
  %before = mil.read_state %total : (!builtin.state<tensor<2xf16>>) -> tensor<2xf16>
  %after = mil.add %before, %x : tensor<2xf16>
  mil.write_state %total, %after : (!builtin.state<tensor<2xf16>>, tensor<2xf16>) -> ()
  %y = mil.read_state %total : (!builtin.state<tensor<2xf16>>) -> tensor<2xf16>
  mil.return %y {names = ["y"]} : (tensor<2xf16>) -> ()
}
// -----
// mil.classify mil.compound_const
mil.func @main attributes {opset = "CoreML5"} {
^CoreML5(%probabilities: tensor<1x3xf32>):
  %classes = mil.compound_const {val = {type = !builtin.list<tensor<!builtin.string>, 3>, values = ["cat", "dog", "fox"]}} : !builtin.list<tensor<!builtin.string>, 3>
  %label, %scores = mil.classify %probabilities, %classes : (tensor<1x3xf32>, !builtin.list<tensor<!builtin.string>, 3>) -> (tensor<!builtin.string>, !builtin.map<tensor<!builtin.string>, tensor<f64>>)
  mil.return %label, %scores {names = ["label", "scores"]} : (tensor<!builtin.string>, !builtin.map<tensor<!builtin.string>, tensor<f64>>) -> ()
}
// -----
// mil.compound_literal
mil.func @main attributes {opset = "CoreML5"} {
^CoreML5(%probabilities: tensor<1x2xf32>):
  %0 = mil.compound_literal {val = {type = !builtin.list<tensor<i64>, 2>, values = [dense<10> : tensor<i64>, dense<20> : tensor<i64>]}} : !builtin.list<tensor<i64>, 2>
  %label, %scores = mil.classify %probabilities, %0 : (tensor<1x2xf32>, !builtin.list<tensor<i64>, 2>) -> (tensor<i64>, !builtin.map<tensor<i64>, tensor<f64>>)
  mil.return %label, %scores {names = ["label", "scores"]} : (tensor<i64>, !builtin.map<tensor<i64>, tensor<f64>>) -> ()
}
// -----
// mil.constexpr_affine_dequantize
mil.func @main attributes {opset = "CoreML6"} {
^CoreML6():
  %y = mil.constexpr_affine_dequantize {quantized_data = dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xui8>, zero_point = dense<1> : tensor<ui8>, scale = dense<[0.5, 2.0]> : tensor<2xf32>, axis = 0} : tensor<2x3xf32>
  mil.return %y {names = ["y"]} : (tensor<2x3xf32>) -> ()
}
// -----
// mil.custom_layer
mil.func @main attributes {opset = "CoreML5"} {
^CoreML5(%x: tensor<2xf32>):
  %y = mil.custom_layer %x {class_name = "Twice", mil.parameters = {x = 1 : i64}} : tensor<2xf32>
  mil.return %y {names = ["y"]} : (tensor<2xf32>) -> ()
}
// -----
// mil.composition mil.run_model mil.hand_over
module {
  module {
    mil.func @main attributes {opset = "CoreML5"} {
    ^CoreML5(%image: tensor<1x1x1x3xf32>):
      %brighter = mil.add %image, %image : tensor<1x1x1x3xf32>
      mil.return %brighter {names = ["brighter"]} : (tensor<1x1x1x3xf32>) -> ()
    }
  }
  module {
    mil.func @main attributes {opset = "CoreML5"} {
    ^CoreML5(%brighter: tensor<1x1x1x3xf32>):
      %root = mil.sqrt %brighter : tensor<1x1x1x3xf32>
      mil.return %root {names = ["root"]} : (tensor<1x1x1x3xf32>) -> ()
    }
  }
  mil.composition @main attributes {defaults = {}} {
  ^bb0(%image: tensor<1x1x1x3xf32>):
    %brighter = mil.run_model %image {model = 0} : tensor<1x1x1x3xf32>
    %pixels = mil.hand_over %brighter {as_image = true} : tensor<1x1x1x3xf32>
    %y = mil.run_model %pixels {model = 1} : tensor<1x1x1x3xf32>
    mil.return %y {names = ["y"]} : (tensor<1x1x1x3xf32>) -> ()
  }
}
// -----
// mil.opaque_model
mil.composition @main attributes {defaults = {}} {
^bb0(%x: tensor<1x3xf32>):
  %y = mil.opaque_model %x {kind = "scaler"} : tensor<1x3xf32>
  mil.return %y {names = ["y"]} : (tensor<1x3xf32>) -> ()
}
// -----
// mil.pick_top
mil.composition @main attributes {defaults = {}} {
^bb0(%scores: tensor<3x1xf32>):
  %boxes = mil.const {val = dense<[[0.0, 0.0, 4.0, 4.0], [8.0, 8.0, 4.0, 4.0], [1.0, 0.0, 4.0, 4.0]]> : tensor<3x4xf32>} : tensor<3x4xf32>
  %half = mil.const {val = dense<0.5> : tensor<f32>} : tensor<f32>
  %least = mil.const {val = dense<-1.0> : tensor<f32>} : tensor<f32>
  %confidence, %coordinates = mil.pick_top %scores, %boxes, %half, %least {per_class = false} : (tensor<3x1xf32>, tensor<3x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<?x1xf32>, tensor<?x4xf32>)
  mil.return %confidence, %coordinates {names = ["confidence", "coordinates"]} : (tensor<?x1xf32>, tensor<?x4xf32>) -> ()
}
