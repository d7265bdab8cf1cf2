func.func @forall_const(%o: tensor<4xf32>, %f: f32) -> tensor<4xf32> {
  %c4 = arith.constant 4 : index
  %0 = scf.forall (%i) in (%c4) shared_outs(%a = %o) -> tensor<4xf32> {
    %x = "test.x"(%i) : (index) -> tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %a[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  return %0 : tensor<4xf32>
}
// -----
func.func @forall_one(%o: tensor<4xf32>, %f: f32) -> tensor<4xf32> {
  %0 = scf.forall (%i, %j) in (1, 4) shared_outs(%a = %o) -> tensor<4xf32> {
    %x = "test.x"(%i, %j) : (index, index) -> tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %a[%j] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  return %0 : tensor<4xf32>
}
// -----
func.func @forall_none(%o: tensor<4xf32>, %f: f32) -> tensor<4xf32> {
  %0 = scf.forall (%i, %j) in (0, 4) shared_outs(%a = %o) -> tensor<4xf32> {
    %x = "test.x"(%i, %j) : (index, index) -> tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %a[%j] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  return %0 : tensor<4xf32>
}
// -----
func.func @forall_unused(%o: tensor<4xf32>, %p: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = scf.forall (%i) in (4) shared_outs(%a = %o, %b = %p) -> (tensor<4xf32>, tensor<4xf32>) {
    %x = "test.x"(%i) : (index) -> tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %a[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
      tensor.parallel_insert_slice %x into %b[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  return %0#0 : tensor<4xf32>
}
// -----
func.func @forall_untouched(%o: tensor<4xf32>, %p: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = scf.forall (%i) in (4) shared_outs(%a = %o, %b = %p) -> (tensor<4xf32>, tensor<4xf32>) {
    %x = "test.x"(%i, %b) : (index, tensor<4xf32>) -> tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %a[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
// -----
func.func @parallel_one(%a: index, %f: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.parallel (%i, %j) = (%c0, %c0) to (%c1, %a) step (%c1, %c1) init (%f) -> f32 {
    %x = "test.x"(%i, %j) : (index, index) -> f32
    scf.reduce(%x : f32) {
    ^bb0(%l: f32, %r: f32):
      %s = arith.addf %l, %r : f32
      scf.reduce.return %s : f32
    }
  }
  return %0 : f32
}
// -----
func.func @parallel_all_one(%a: index, %f: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.parallel (%i, %j) = (%c0, %c0) to (%c1, %c1) step (%c1, %c1) init (%f) -> f32 {
    %x = "test.x"(%i, %j) : (index, index) -> f32
    scf.reduce(%x : f32) {
    ^bb0(%l: f32, %r: f32):
      %s = arith.addf %l, %r : f32
      scf.reduce.return %s : f32
    }
  }
  return %0 : f32
}
// -----
func.func @parallel_nested(%a: index, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%a) step (%c1) {
    scf.parallel (%j) = (%c0) to (%b) step (%c1) {
      "test.x"(%i, %j) : (index, index) -> ()
      scf.reduce
    }
    scf.reduce
  }
  return
}
// -----
func.func @for_empty(%a: index, %b: index, %x: f32) -> f32 {
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %a to %b step %c1 iter_args(%p = %x) -> f32 {
    %y = arith.addf %x, %x : f32
    scf.yield %y : f32
  }
  return %0 : f32
}
// -----
func.func @for_yields_outside(%x: f32, %z: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %0 = scf.for %i = %c0 to %c5 step %c1 iter_args(%p = %x) -> f32 {
    scf.yield %z : f32
  }
  return %0 : f32
}
// -----
func.func @if_select_mixed(%c: i1, %x: f32, %y: f32) -> (f32, f32) {
  %0:2 = scf.if %c -> (f32, f32) {
    %a = "test.x"() : () -> f32
    scf.yield %a, %x : f32, f32
  } else {
    scf.yield %x, %y : f32, f32
  }
  return %0#0, %0#1 : f32, f32
}
// -----
func.func @if_empty(%c: i1, %x: f32) {
  scf.if %c {
  }
  return
}
// -----
func.func @if_empty_then(%c: i1, %x: f32) {
  scf.if %c {
  } else {
    "test.x"() : () -> ()
  }
  return
}
// -----
func.func @if_not(%c: i1, %x: f32) {
  %t = arith.constant true
  %n = arith.xori %c, %t : i1
  scf.if %n {
    "test.y"() : () -> ()
  } else {
    "test.x"() : () -> ()
  }
  return
}
// -----
func.func @if_not2(%c: i1, %x: f32) {
  %t = arith.constant true
  %n = arith.xori %c, %t : i1
  scf.if %n {
    "test.y"() : () -> ()
  }
  return
}
// -----
func.func @condition_of_call(%x: f32) -> f32 {
  %c = "test.c"() : () -> i1
  %0 = scf.if %c -> f32 {
    %a = "test.x"() : () -> f32
    scf.yield %a : f32
  } else {
    scf.yield %x : f32
  }
  return %0 : f32
}
// -----
func.func @mapped_places(%o: tensor<4xf32>) -> tensor<4xf32> {
  %0 = scf.forall (%i, %j) in (1, 4) shared_outs(%a = %o) -> tensor<4xf32> {
    %x = "test.x"(%i, %j) : (index, index) -> tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %a[%j] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  } {mapping = [#gpu.thread<x>, #gpu.thread<y>]}
  return %0 : tensor<4xf32>
}
// -----
func.func @grid_of_steps(%o: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c2 = arith.constant 2 : index
  %0 = scf.forall (%i, %j, %k) = (0, 5, %n) to (8, 6, %n) step (%c2, 7, 1) shared_outs(%a = %o) -> tensor<4xf32> {
    %x = "test.x"(%i, %j, %k) : (index, index, index) -> tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %a[%j] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  return %0 : tensor<4xf32>
}
// -----
func.func @grid_with_bounds_of_the_outer_one(%a: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%a) step (%c1) {
    scf.parallel (%j) = (%c0) to (%i) step (%c1) {
      "test.x"(%i, %j) : (index, index) -> ()
      scf.reduce
    }
    scf.reduce
  }
  return
}
