// Calls become what they run.

func.func private @add(%x: i32, %y: i32) -> i32 {
  %0 = arith.addi %x, %y : i32
  return %0 : i32
}
func.func @one_call(%a: i32) -> i32 {
  %0 = call @add(%a, %a) : (i32, i32) -> i32
  return %0 : i32
}

// -----

func.func @public_add(%x: i32, %y: i32) -> i32 {
  %0 = arith.addi %x, %y : i32
  return %0 : i32
}
func.func @call_of_public(%a: i32) -> i32 {
  %0 = call @public_add(%a, %a) : (i32, i32) -> i32
  %1 = call @public_add(%0, %a) : (i32, i32) -> i32
  return %1 : i32
}

// -----

func.func private @leaf(%x: i32) -> i32 {
  %0 = arith.muli %x, %x : i32
  return %0 : i32
}
func.func private @middle(%x: i32) -> i32 {
  %0 = call @leaf(%x) : (i32) -> i32
  %1 = call @leaf(%0) : (i32) -> i32
  return %1 : i32
}
func.func @chain(%a: i32) -> i32 {
  %0 = call @middle(%a) : (i32) -> i32
  return %0 : i32
}

// -----

func.func private @choose(%c: i1, %x: i32, %y: i32) -> i32 {
  cf.cond_br %c, ^one, ^two
^one:
  return %x : i32
^two:
  return %y : i32
}
func.func @several_blocks(%c: i1, %a: i32, %b: i32) -> i32 {
  %0 = call @choose(%c, %a, %b) : (i1, i32, i32) -> i32
  %1 = arith.addi %0, %a : i32
  return %1 : i32
}

// -----

func.func private @itself(%x: i32) -> i32 {
  %0 = call @itself(%x) : (i32) -> i32
  return %0 : i32
}
func.func @calls_recursive(%a: i32) -> i32 {
  %0 = call @itself(%a) : (i32) -> i32
  return %0 : i32
}

// -----

func.func private @even(%x: i32) -> i32 {
  %0 = call @odd(%x) : (i32) -> i32
  return %0 : i32
}
func.func private @odd(%x: i32) -> i32 {
  %0 = call @even(%x) : (i32) -> i32
  return %0 : i32
}
func.func @calls_circle(%a: i32) -> i32 {
  %0 = call @even(%a) : (i32) -> i32
  return %0 : i32
}

// -----

func.func private @external(i32) -> i32
func.func @calls_external(%a: i32) -> i32 {
  %0 = call @external(%a) : (i32) -> i32
  return %0 : i32
}

// -----

func.func private @nothing() {
  return
}
func.func @calls_nothing() {
  call @nothing() : () -> ()
  return
}

// -----

func.func private @swap(%x: i32, %y: i32) -> (i32, i32) {
  return %y, %x : i32, i32
}
func.func @several_results(%a: i32, %b: i32) -> (i32, i32) {
  %0:2 = call @swap(%a, %b) : (i32, i32) -> (i32, i32)
  %1:2 = call @swap(%0#0, %0#1) : (i32, i32) -> (i32, i32)
  return %1#0, %1#1 : i32, i32
}

// -----

func.func private @inner(%x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32
  return %0 : i32
}
func.func @in_a_region(%c: i1, %a: i32) -> i32 {
  %0 = scf.if %c -> i32 {
    %1 = func.call @inner(%a) : (i32) -> i32
    scf.yield %1 : i32
  } else {
    scf.yield %a : i32
  }
  return %0 : i32
}

// -----

func.func private @blocks_inside(%c: i1, %x: i32) -> i32 {
  cf.cond_br %c, ^one, ^two
^one:
  return %x : i32
^two:
  return %x : i32
}
func.func @blocks_in_a_region(%c: i1, %a: i32) -> i32 {
  %0 = scf.if %c -> i32 {
    %1 = func.call @blocks_inside(%c, %a) : (i1, i32) -> i32
    scf.yield %1 : i32
  } else {
    scf.yield %a : i32
  }
  return %0 : i32
}

// -----

func.func private @with_constant(%x: i32) -> i32 {
  %c = arith.constant 3 : i32
  %0 = arith.addi %x, %c : i32
  return %0 : i32
}
func.func @folds_after(%a: i32) -> i32 {
  %c = arith.constant 4 : i32
  %0 = call @with_constant(%c) : (i32) -> i32
  %1 = call @with_constant(%0) : (i32) -> i32
  %2 = arith.addi %1, %a : i32
  return %2 : i32
}

// -----

func.func private @never_called(%x: i32) -> i32 {
  return %x : i32
}
func.func @alone(%a: i32) -> i32 {
  return %a : i32
}

// -----

func.func private @no_inlining(%x: i32) -> i32 attributes {no_inline} {
  return %x : i32
}
func.func @calls_no_inlining(%a: i32) -> i32 {
  %0 = call @no_inlining(%a) : (i32) -> i32
  return %0 : i32
}

// -----

func.func private @stores(%x: i32) -> i32 {
  "x.effect"(%x) : (i32) -> ()
  return %x : i32
}
func.func @calls_with_effect(%a: i32) {
  %0 = call @stores(%a) : (i32) -> i32
  return
}

// -----

func.func private @indirect(%x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32
  return %0 : i32
}
func.func @calls_by_value(%a: i32) -> i32 {
  %f = func.constant @indirect : (i32) -> i32
  %0 = call_indirect %f(%a) : (i32) -> i32
  return %0 : i32
}

// -----

module @nested {
  func.func private @innermost(%x: i32) -> i32 {
    %0 = arith.addi %x, %x : i32
    return %0 : i32
  }
  func.func @in_a_module(%a: i32) -> i32 {
    %0 = call @innermost(%a) : (i32) -> i32
    return %0 : i32
  }
}
func.func @beside(%a: i32) -> i32 {
  return %a : i32
}
