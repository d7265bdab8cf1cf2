// scf.if scf.yield
func.func @main(%condition: i1, %x: f32) -> f32 {
  %result = scf.if %condition -> (f32) {
    %sum = arith.addf %x, %x : f32
    scf.yield %sum : f32
  } else {
    scf.yield %x : f32
  }
  return %result : f32
}
// -----
// scf.for
func.func @main(%x: f32) -> f32 {
  %first = arith.constant 0 : index
  %end = arith.constant 3 : index
  %step = arith.constant 1 : index
  %result = scf.for %i = %first to %end step %step iter_args(%before = %x) -> (f32) {
    %after = arith.addf %before, %before : f32
    scf.yield %after : f32
  }
  return %result : f32
}
// -----
// scf.while scf.condition
func.func @main() -> i32 {
  %start = arith.constant 1 : i32
  %limit = arith.constant 100 : i32
  %result = scf.while (%n = %start) : (i32) -> i32 {
    %is_less = arith.cmpi slt, %n, %limit : i32
    scf.condition(%is_less) %n : i32
  } do {
  ^bb0(%n: i32):
    %next = arith.addi %n, %n : i32
    scf.yield %next : i32
  }
  return %result : i32
}
// -----
// scf.index_switch
func.func @main(%x: i32) -> i32 {
  %case = arith.constant 1 : index
  %result = scf.index_switch %case -> i32
  case 1 {
    %sum = arith.addi %x, %x : i32
    scf.yield %sum : i32
  }
  default {
    scf.yield %x : i32
  }
  return %result : i32
}
// -----
// scf.execute_region
func.func @main(%x: i32) -> i32 {
  %result = scf.execute_region -> i32 {
    %sum = arith.addi %x, %x : i32
    scf.yield %sum : i32
  }
  return %result : i32
}
// -----
// scf.forall scf.forall.in_parallel
func.func @main(%x: tensor<4xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %result = scf.forall (%i) in (4) shared_outs(%out = %init) -> (tensor<4xf32>) {
    %element = tensor.extract_slice %x[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
    %sum = arith.addf %element, %element : tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %out[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  return %result : tensor<4xf32>
}
// -----
// scf.parallel scf.reduce scf.reduce.return
func.func @main(%x: tensor<4xf32>) -> f32 {
  %first = arith.constant 0 : index
  %end = arith.constant 4 : index
  %step = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %result = scf.parallel (%i) = (%first) to (%end) step (%step) init (%zero) -> f32 {
    %element = tensor.extract %x[%i] : tensor<4xf32>
    scf.reduce(%element : f32) {
    ^bb0(%lhs: f32, %rhs: f32):
      %sum = arith.addf %lhs, %rhs : f32
      scf.reduce.return %sum : f32
    }
  }
  return %result : f32
}
