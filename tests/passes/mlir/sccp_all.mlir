// Constants through branches, loops, regions and calls.

func.func @straight() -> i32 {
  %a = arith.constant 3 : i32
  %b = arith.constant 4 : i32
  %0 = arith.addi %a, %b : i32
  %1 = arith.muli %0, %0 : i32
  return %1 : i32
}

// -----

func.func @unknown(%x: i32) -> (i32, i32) {
  %a = arith.constant 3 : i32
  %0 = arith.addi %x, %a : i32
  %1 = arith.addi %a, %a : i32
  return %0, %1 : i32, i32
}

// -----

func.func @known_branch() -> i32 {
  %t = arith.constant true
  %a = arith.constant 1 : i32
  %b = arith.constant 2 : i32
  cf.cond_br %t, ^one(%a : i32), ^two(%b : i32)
^one(%x: i32):
  %0 = arith.addi %x, %x : i32
  cf.br ^end(%0 : i32)
^two(%y: i32):
  %1 = arith.muli %y, %y : i32
  cf.br ^end(%1 : i32)
^end(%r: i32):
  return %r : i32
}

// -----

func.func @same_on_both_ways(%c: i1) -> i32 {
  %a = arith.constant 1 : i32
  %b = arith.constant 1 : i32
  cf.cond_br %c, ^one, ^two
^one:
  cf.br ^end(%a : i32)
^two:
  cf.br ^end(%b : i32)
^end(%r: i32):
  %0 = arith.addi %r, %r : i32
  return %0 : i32
}

// -----

func.func @different_ways(%c: i1) -> i32 {
  %a = arith.constant 1 : i32
  %b = arith.constant 2 : i32
  cf.cond_br %c, ^end(%a : i32), ^end(%b : i32)
^end(%r: i32):
  return %r : i32
}

// -----

func.func @loop_that_keeps_a_constant(%n: i32) -> i32 {
  %z = arith.constant 0 : i32
  %o = arith.constant 1 : i32
  cf.br ^head(%z, %o : i32, i32)
^head(%i: i32, %k: i32):
  %c = arith.cmpi slt, %i, %n : i32
  cf.cond_br %c, ^body, ^end
^body:
  %j = arith.addi %i, %o : i32
  %l = arith.muli %k, %o : i32
  cf.br ^head(%j, %l : i32, i32)
^end:
  return %k : i32
}

// -----

func.func @loop_that_changes(%n: i32) -> i32 {
  %z = arith.constant 0 : i32
  %o = arith.constant 1 : i32
  cf.br ^head(%z : i32)
^head(%i: i32):
  %c = arith.cmpi slt, %i, %n : i32
  cf.cond_br %c, ^body, ^end
^body:
  %j = arith.addi %i, %o : i32
  cf.br ^head(%j : i32)
^end:
  return %i : i32
}

// -----

func.func @loop_not_entered() -> i32 {
  %z = arith.constant 0 : i32
  %o = arith.constant 1 : i32
  cf.br ^head(%z : i32)
^head(%i: i32):
  %c = arith.cmpi slt, %i, %z : i32
  cf.cond_br %c, ^body, ^end
^body:
  %j = arith.addi %i, %o : i32
  cf.br ^head(%j : i32)
^end:
  return %i : i32
}

// -----

func.func @known_switch() -> i32 {
  %f = arith.constant 2 : i32
  %a = arith.constant 10 : i32
  %b = arith.constant 20 : i32
  cf.switch %f : i32, [
    default: ^end(%a : i32),
    1: ^end(%a : i32),
    2: ^end(%b : i32)
  ]
^end(%r: i32):
  return %r : i32
}

// -----

func.func @if_on_constant(%x: i32) -> i32 {
  %t = arith.constant true
  %a = arith.constant 5 : i32
  %0 = scf.if %t -> i32 {
    scf.yield %a : i32
  } else {
    scf.yield %x : i32
  }
  %1 = arith.addi %0, %a : i32
  return %1 : i32
}

// -----

func.func @if_that_gives_the_same(%c: i1) -> i32 {
  %a = arith.constant 5 : i32
  %0 = scf.if %c -> i32 {
    scf.yield %a : i32
  } else {
    %b = arith.constant 5 : i32
    scf.yield %b : i32
  }
  return %0 : i32
}

// -----

func.func @if_that_differs(%c: i1) -> i32 {
  %a = arith.constant 5 : i32
  %0 = scf.if %c -> i32 {
    scf.yield %a : i32
  } else {
    %b = arith.constant 6 : i32
    scf.yield %b : i32
  }
  return %0 : i32
}

// -----

func.func @for_that_keeps(%n: index) -> i32 {
  %z = arith.constant 0 : index
  %o = arith.constant 1 : index
  %a = arith.constant 7 : i32
  %0 = scf.for %i = %z to %n step %o iter_args(%k = %a) -> i32 {
    %e = arith.constant 0 : i32
    %1 = arith.addi %k, %e : i32
    scf.yield %1 : i32
  }
  return %0 : i32
}

// -----

func.func @for_that_changes(%n: index) -> i32 {
  %z = arith.constant 0 : index
  %o = arith.constant 1 : index
  %a = arith.constant 7 : i32
  %0 = scf.for %i = %z to %n step %o iter_args(%k = %a) -> i32 {
    %1 = arith.addi %k, %a : i32
    scf.yield %1 : i32
  }
  return %0 : i32
}

// -----

func.func @while_that_keeps(%n: i32) -> i32 {
  %a = arith.constant 7 : i32
  %0 = scf.while (%k = %a) : (i32) -> i32 {
    %c = arith.cmpi slt, %k, %n : i32
    scf.condition(%c) %k : i32
  } do {
  ^bb0(%m: i32):
    scf.yield %m : i32
  }
  return %0 : i32
}

// -----

func.func private @callee(%x: i32) -> i32 {
  %a = arith.constant 1 : i32
  %0 = arith.addi %x, %a : i32
  return %0 : i32
}
func.func @caller() -> i32 {
  %a = arith.constant 3 : i32
  %0 = func.call @callee(%a) : (i32) -> i32
  return %0 : i32
}

// -----

func.func private @called_twice(%x: i32, %y: i32) -> (i32, i32) {
  return %x, %y : i32, i32
}
func.func @calls_twice() -> (i32, i32, i32, i32) {
  %a = arith.constant 3 : i32
  %b = arith.constant 4 : i32
  %0:2 = func.call @called_twice(%a, %a) : (i32, i32) -> (i32, i32)
  %1:2 = func.call @called_twice(%a, %b) : (i32, i32) -> (i32, i32)
  return %0#0, %0#1, %1#0, %1#1 : i32, i32, i32, i32
}

// -----

func.func @public_callee(%x: i32) -> i32 {
  return %x : i32
}
func.func @calls_public() -> i32 {
  %a = arith.constant 3 : i32
  %0 = func.call @public_callee(%a) : (i32) -> i32
  return %0 : i32
}

// -----

func.func private @constant_callee() -> i32 {
  %a = arith.constant 3 : i32
  return %a : i32
}
func.func @calls_constant() -> i32 {
  %0 = func.call @constant_callee() : () -> i32
  %1 = arith.addi %0, %0 : i32
  return %1 : i32
}

// -----

func.func private @recursive(%x: i32) -> i32 {
  %z = arith.constant 0 : i32
  %c = arith.cmpi eq, %x, %z : i32
  cf.cond_br %c, ^end, ^again
^again:
  %0 = func.call @recursive(%x) : (i32) -> i32
  return %0 : i32
^end:
  return %x : i32
}
func.func @calls_recursive() -> i32 {
  %z = arith.constant 0 : i32
  %0 = func.call @recursive(%z) : (i32) -> i32
  return %0 : i32
}

// -----

func.func private @never_called(%x: i32) -> i32 {
  %a = arith.constant 2 : i32
  %0 = arith.muli %a, %a : i32
  return %0 : i32
}
func.func @other() -> i32 {
  %a = arith.constant 2 : i32
  return %a : i32
}

// -----

func.func private @declared(i32) -> i32
func.func @calls_declared() -> i32 {
  %a = arith.constant 2 : i32
  %0 = func.call @declared(%a) : (i32) -> i32
  return %0 : i32
}

// -----

func.func @floats() -> (f32, i1) {
  %a = arith.constant 1.5 : f32
  %0 = arith.mulf %a, %a : f32
  %1 = arith.cmpf olt, %a, %0 : f32
  return %0, %1 : f32, i1
}

// -----

func.func @tensors() -> tensor<2xi32> {
  %a = arith.constant dense<[1, 2]> : tensor<2xi32>
  %b = arith.constant dense<5> : tensor<2xi32>
  %0 = arith.addi %a, %b : tensor<2xi32>
  return %0 : tensor<2xi32>
}

// -----

func.func @product_with_zero(%x: i32) -> i32 {
  %z = arith.constant 0 : i32
  %0 = arith.muli %x, %z : i32
  %a = arith.constant 5 : i32
  %1 = arith.addi %0, %a : i32
  return %1 : i32
}

// -----

func.func @unregistered() -> (i32, i32) {
  %a = arith.constant 1 : i32
  %0 = "x.y"(%a) ({
    %b = arith.addi %a, %a : i32
    "x.end"(%b) : (i32) -> ()
  }) : (i32) -> i32
  %1 = arith.addi %a, %a : i32
  return %0, %1 : i32, i32
}

// -----

func.func @choice(%x: i32) -> i32 {
  %t = arith.constant true
  %a = arith.constant 1 : i32
  %0 = arith.select %t, %a, %x : i32
  return %0 : i32
}
