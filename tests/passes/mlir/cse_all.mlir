// Repeated operations.

func.func @repeated(%x: i32, %y: i32) -> (i32, i32) {
  %0 = arith.addi %x, %y : i32
  %1 = arith.addi %x, %y : i32
  return %0, %1 : i32, i32
}

// -----

func.func @exchanged_operands(%x: i32, %y: i32) -> (i32, i32, i32, i32) {
  %0 = arith.addi %x, %y : i32
  %1 = arith.addi %y, %x : i32
  %2 = arith.subi %x, %y : i32
  %3 = arith.subi %y, %x : i32
  return %0, %1, %2, %3 : i32, i32, i32, i32
}

// -----

func.func @different_attributes(%x: i32, %y: i32) -> (i1, i1, i1) {
  %0 = arith.cmpi slt, %x, %y : i32
  %1 = arith.cmpi sgt, %x, %y : i32
  %2 = arith.cmpi slt, %x, %y : i32
  return %0, %1, %2 : i1, i1, i1
}

// -----

func.func @different_types(%x: i8) -> (i16, i32, i16) {
  %0 = arith.extsi %x : i8 to i16
  %1 = arith.extsi %x : i8 to i32
  %2 = arith.extsi %x : i8 to i16
  return %0, %1, %2 : i16, i32, i16
}

// -----

func.func @constants() -> (i32, i32, i64) {
  %a = arith.constant 1 : i32
  %b = arith.constant 1 : i32
  %c = arith.constant 1 : i64
  return %a, %b, %c : i32, i32, i64
}

// -----

func.func @chain(%x: i32) -> (i32, i32) {
  %0 = arith.addi %x, %x : i32
  %1 = arith.muli %0, %x : i32
  %2 = arith.addi %x, %x : i32
  %3 = arith.muli %2, %x : i32
  return %1, %3 : i32, i32
}

// -----

func.func @unused(%x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32
  %1 = arith.muli %0, %x : i32
  return %x : i32
}

// -----

func.func @dominated_blocks(%c: i1, %x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32
  cf.cond_br %c, ^one, ^two
^one:
  %1 = arith.addi %x, %x : i32
  cf.br ^end(%1 : i32)
^two:
  %2 = arith.muli %x, %x : i32
  cf.br ^end(%2 : i32)
^end(%r: i32):
  %3 = arith.muli %x, %x : i32
  %4 = arith.addi %x, %x : i32
  %5 = arith.addi %3, %4 : i32
  %6 = arith.addi %r, %5 : i32
  return %6 : i32
}

// -----

func.func @siblings(%c: i1, %x: i32) -> i32 {
  cf.cond_br %c, ^one, ^two
^one:
  %1 = arith.addi %x, %x : i32
  cf.br ^end(%1 : i32)
^two:
  %2 = arith.addi %x, %x : i32
  cf.br ^end(%2 : i32)
^end(%r: i32):
  return %r : i32
}

// -----

func.func @loop_blocks(%n: index, %x: i32) -> i32 {
  %z = arith.constant 0 : index
  cf.br ^head(%z, %x : index, i32)
^head(%i: index, %a: i32):
  %c = arith.cmpi slt, %i, %n : index
  %s = arith.addi %x, %x : i32
  cf.cond_br %c, ^body, ^end
^body:
  %t = arith.addi %x, %x : i32
  %b = arith.addi %a, %t : i32
  %o = arith.constant 1 : index
  %j = arith.addi %i, %o : index
  cf.br ^head(%j, %b : index, i32)
^end:
  %r = arith.addi %a, %s : i32
  return %r : i32
}

// -----

func.func @nested_regions(%c: i1, %x: i32) -> (i32, i32) {
  %0 = arith.addi %x, %x : i32
  %1 = scf.if %c -> i32 {
    %2 = arith.addi %x, %x : i32
    %3 = arith.muli %2, %2 : i32
    scf.yield %3 : i32
  } else {
    %4 = arith.muli %0, %0 : i32
    scf.yield %4 : i32
  }
  %5 = arith.muli %0, %0 : i32
  return %1, %5 : i32, i32
}

// -----

func.func @loops_of_scf(%n: index, %x: i32) -> (i32, i32) {
  %z = arith.constant 0 : index
  %o = arith.constant 1 : index
  %0 = scf.for %i = %z to %n step %o iter_args(%a = %x) -> i32 {
    %1 = arith.addi %x, %x : i32
    %2 = arith.addi %a, %1 : i32
    %3 = arith.addi %x, %x : i32
    %4 = arith.addi %2, %3 : i32
    scf.yield %4 : i32
  }
  %5 = arith.addi %x, %x : i32
  return %0, %5 : i32, i32
}

// -----

func.func @equal_regions(%c: i1, %x: i32) -> (i32, i32) {
  %0 = scf.if %c -> i32 {
    %2 = arith.addi %x, %x : i32
    scf.yield %2 : i32
  } else {
    scf.yield %x : i32
  }
  %1 = scf.if %c -> i32 {
    %2 = arith.addi %x, %x : i32
    scf.yield %2 : i32
  } else {
    scf.yield %x : i32
  }
  return %0, %1 : i32, i32
}

// -----

func.func @calls(%x: i32) -> (i32, i32) {
  %0 = func.call @other(%x) : (i32) -> i32
  %1 = func.call @other(%x) : (i32) -> i32
  return %0, %1 : i32, i32
}
func.func private @other(i32) -> i32

// -----

func.func @unregistered(%x: i32) -> (i32, i32) {
  %0 = "x.y"(%x) : (i32) -> i32
  %1 = "x.y"(%x) : (i32) -> i32
  return %0, %1 : i32, i32
}

// -----

func.func @several_results(%x: i32, %y: i32) -> (i32, i1, i32, i1) {
  %0:2 = arith.addui_extended %x, %y : i32, i1
  %1:2 = arith.addui_extended %x, %y : i32, i1
  return %0#0, %0#1, %1#0, %1#1 : i32, i1, i32, i1
}

// -----

func.func @tensors(%x: tensor<?x4xf32>) -> (index, index, tensor<?x4xf32>, tensor<?x4xf32>) {
  %c = arith.constant 0 : index
  %0 = tensor.dim %x, %c : tensor<?x4xf32>
  %1 = tensor.dim %x, %c : tensor<?x4xf32>
  %2 = arith.addf %x, %x : tensor<?x4xf32>
  %3 = arith.addf %x, %x : tensor<?x4xf32>
  return %0, %1, %2, %3 : index, index, tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

func.func @generics(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.add ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %f = tensor.empty() : tensor<4xf32>
  %1 = linalg.add ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @tosa(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = tosa.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %a = "tosa.const"() <{values = dense<1.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  %b = "tosa.const"() <{values = dense<1.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %2 = tosa.mul %0, %a, %s : (tensor<4xf32>, tensor<4xf32>, tensor<1xi8>) -> tensor<4xf32>
  %3 = tosa.mul %1, %b, %s : (tensor<4xf32>, tensor<4xf32>, tensor<1xi8>) -> tensor<4xf32>
  return %0, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

ml_program.global private mutable @g(dense<1.0> : tensor<4xf32>) : tensor<4xf32>
ml_program.global private @h(dense<2.0> : tensor<4xf32>) : tensor<4xf32>
func.func @loads() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = ml_program.global_load @g : tensor<4xf32>
  %1 = ml_program.global_load @g : tensor<4xf32>
  %2 = ml_program.global_load_const @h : tensor<4xf32>
  %3 = ml_program.global_load_const @h : tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

ml_program.global private mutable @g(dense<1.0> : tensor<4xf32>) : tensor<4xf32>
func.func @loads_around_a_store(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = ml_program.global_load @g : tensor<4xf32>
  ml_program.global_store @g = %x : tensor<4xf32>
  %1 = ml_program.global_load @g : tensor<4xf32>
  %2 = ml_program.global_load @g : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

ml_program.global private mutable @g(dense<1.0> : tensor<4xf32>) : tensor<4xf32>
func.func @unused_load() {
  %0 = ml_program.global_load @g : tensor<4xf32>
  return
}

// -----

func.func @unreachable(%x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32
  return %0 : i32
^never:
  %1 = arith.addi %x, %x : i32
  %2 = arith.addi %x, %x : i32
  %3 = arith.addi %1, %2 : i32
  return %3 : i32
}

// -----

ml_program.subgraph @graph(%x: tensor<4xf32>) -> tensor<4xf32> {
  %1 = arith.addf %0, %0 : tensor<4xf32>
  %0 = arith.addf %x, %x : tensor<4xf32>
  %2 = arith.addf %0, %0 : tensor<4xf32>
  %3 = arith.addf %1, %2 : tensor<4xf32>
  ml_program.output %3 : tensor<4xf32>
}
