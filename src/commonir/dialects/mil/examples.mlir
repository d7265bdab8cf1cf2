// mil.cond mil.func mil.return
mil.func @main {opset = "CoreML5"} {
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
mil.func @main {opset = "CoreML5"} {
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
