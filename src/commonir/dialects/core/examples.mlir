// core.if core.yield
ml_program.func @main(%condition: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %y = core.if %condition : (tensor<i1>) -> tensor<2xf32> then {
    %negative = core.neg %x : tensor<2xf32>
    core.yield %negative : (tensor<2xf32>) -> ()
  } orelse {
    core.yield %x : (tensor<2xf32>) -> ()
  }
  ml_program.return %y : tensor<2xf32>
}
// -----
// core.while
ml_program.func @main(%x: tensor<f32>) -> tensor<f32> {
  %y = core.while %x : (tensor<f32>) -> tensor<f32> condition {
  ^bb0(%before: tensor<f32>):
    %limit = core.constant {value = dense<100.0> : tensor<f32>} : tensor<f32>
    %is_less = core.less %before, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
    core.yield %is_less : (tensor<i1>) -> ()
  } body {
  ^bb0(%before: tensor<f32>):
    %after = core.add %before, %before : tensor<f32>
    core.yield %after : (tensor<f32>) -> ()
  }
  ml_program.return %y : tensor<f32>
}
// -----
// core.scan
ml_program.func @main(%initial: tensor<2xf32>, %rows: tensor<3x2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>) {
  %last, %sums = core.scan initial(%initial) sequences(%rows) : (tensor<2xf32>, tensor<3x2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>) {
  ^bb0(%before: tensor<2xf32>, %row: tensor<2xf32>):
    %after = core.add %before, %row : tensor<2xf32>
    core.yield %after, %after : (tensor<2xf32>, tensor<2xf32>) -> ()
  }
  ml_program.return %last, %sums : tensor<2xf32>, tensor<3x2xf32>
}
