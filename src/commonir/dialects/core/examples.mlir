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
// -----
// core.call
ml_program.func private @twice(%x: tensor<2xf32>) -> tensor<2xf32> {
  %sum = core.add %x, %x : tensor<2xf32>
  ml_program.return %sum : tensor<2xf32>
}
ml_program.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %result = core.call %x {callee = "twice", types = [tensor<2xf32>]} : tensor<2xf32>
  ml_program.return %result : tensor<2xf32>
}
// -----
// core.constant
ml_program.func @main() -> tensor<2xf32> {
  %result = core.constant {value = dense<[1.0, 2.5]> : tensor<2xf32>} : tensor<2xf32>
  ml_program.return %result : tensor<2xf32>
}
// -----
// core.require
ml_program.func @main(%c: tensor<i1>) -> tensor<i1> {
  "core.require"(%c) <{message = "expected a true condition"}> : (tensor<i1>) -> ()
  ml_program.return %c : tensor<i1>
}
// -----
// core.send
ml_program.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  "core.send"(%x) <{destination = 1 : i64, tag = 7 : i64}> : (tensor<2xf32>) -> ()
  ml_program.return %x : tensor<2xf32>
}
// -----
// core.recv
ml_program.func @main() -> tensor<2xf32> {
  %x = "core.recv"() <{element = f32, shape = array<i64: 2>, source = 0 : i64, tag = 7 : i64}> : () -> tensor<2xf32>
  ml_program.return %x : tensor<2xf32>
}
// -----
// core.all_reduce
ml_program.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %sum = core.all_reduce %x : tensor<2xf32>
  ml_program.return %sum : tensor<2xf32>
}
// -----
// core.barrier
ml_program.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  "core.barrier"() : () -> ()
  ml_program.return %x : tensor<2xf32>
}
// -----
// core.map_keys core.map_values
ml_program.func @main(%x: !builtin.map<i64, tensor<f32>>) -> (tensor<?xi64>, tensor<?xf32>) {
  %keys = core.map_keys %x : (!builtin.map<i64, tensor<f32>>) -> tensor<?xi64>
  %values = core.map_values %x : (!builtin.map<i64, tensor<f32>>) -> tensor<?xf32>
  ml_program.return %keys, %values : tensor<?xi64>, tensor<?xf32>
}
// -----
// core.dims
ml_program.func @main(%x: tensor<"n"x3xf32>) -> tensor<2xi64> {
  %result = "core.dims"() <{values = #commonir.dims<"n", "2*n + 1">}> : () -> tensor<2xi64>
  ml_program.return %result : tensor<2xi64>
}
