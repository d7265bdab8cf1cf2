func.func @grid_without_positions(%a: index, %b: index, %s: index, %i: f32) -> f32 {
  %0 = scf.parallel (%x, %y) = (%a, %b) to (%b, %b) step (%s, %s) init (%i) -> f32 {
    %v = "test.op"(%x) : (index) -> f32
    scf.reduce(%v : f32) {
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %q : f32
      scf.reduce.return %t : f32
    }
  }
  return %0 : f32
}
// -----
func.func @grid_that_does_nothing(%a: index, %b: index, %s: index, %i: f32) {
  %0 = scf.parallel (%x) = (%a) to (%b) step (%s) init (%i) -> f32 {
    scf.reduce(%i : f32) {
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %q : f32
      scf.reduce.return %t : f32
    }
  }
  scf.parallel (%x) = (%a) to (%b) step (%s) {
    scf.reduce
  }
  return
}
// -----
func.func @region_gives_less(%c: i1, %x: f32, %y: f32) -> (f32, f32) {
  %0:3 = scf.execute_region -> (f32, f32, f32) no_inline {
    %v = "test.op"() : () -> f32
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    scf.yield %x, %v, %y : f32, f32, f32
  ^bb2:
    scf.yield %x, %y, %x : f32, f32, f32
  }
  return %0#0, %0#1 : f32, f32
}
// -----
func.func @loop_carries_less(%c: i1, %x: f32, %v: vector<4xf32>) {
  %0 = scf.while (%a = %c) : (i1) -> vector<4xf32> {
    "test.op"() : () -> ()
    scf.condition(%c) %v : vector<4xf32>
  } do {
  ^bb0(%b: vector<4xf32>):
    "test.other"() : () -> ()
    scf.yield %c : i1
  }
  return
}
// -----
func.func @loop_carries_one(%n: i32) -> i32 {
  %z = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %0:2 = scf.while (%a = %z, %b = %n) : (i32, i32) -> (i32, i32) {
    %c = arith.cmpi slt, %a, %n : i32
    scf.condition(%c) %a, %b : i32, i32
  } do {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %one : i32
    %t = arith.addi %b, %one : i32
    scf.yield %s, %t : i32, i32
  }
  return %0#0 : i32
}
// -----
func.func @branch_keeps_attributes(%x: index) {
  cf.br ^bb1(%x : index) {other.a = 1 : i8}
^bb1(%y: index):
  "test.op"() : () -> ()
  cf.br ^bb1(%x : index) {other.b = 1 : i8}
}
// -----
func.func @softmax_not_used(%x: tensor<2x3xf32>) {
  %0 = linalg.softmax dimension(1) ins(%x : tensor<2x3xf32>) outs(%x : tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
// -----
func.func @named_operation_keeps_its_name(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.reciprocal ins(%x : tensor<2x3xf32>) outs(%x : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// -----
func.func @named_operation_with_another_body(%x: tensor<2x3xf32>, %a: f64, %s: i32) -> tensor<2x3xf32> {
  %0 = linalg.fill_rng_2d ins(%a, %a, %s : f64, f64, i32) outs(%x : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// -----
func.func @loop_gives_what_was_before(%c: i1, %x: index) -> index {
  %0 = scf.while : () -> index {
    "test.op"() : () -> ()
    scf.condition(%c) %x : index
  } do {
  ^bb0(%b: index):
    "test.other"(%b) : (index) -> ()
    scf.yield
  }
  return %0 : index
}
