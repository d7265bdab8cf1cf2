// Branches between blocks, conditions and loops.

func.func @branch_on_constant(%x: i32, %y: i32) -> i32 {
  %t = arith.constant true
  cf.cond_br %t, ^one(%x : i32), ^two(%y : i32)
^one(%a: i32):
  return %a : i32
^two(%b: i32):
  return %b : i32
}

// -----

func.func @both_ways_the_same(%c: i1, %x: i32) -> i32 {
  cf.cond_br %c, ^end(%x : i32), ^end(%x : i32)
^end(%a: i32):
  return %a : i32
}

// -----

func.func @both_ways_to_one_block(%c: i1, %x: i32, %y: i32) -> i32 {
  cf.cond_br %c, ^end(%x : i32), ^end(%y : i32)
^end(%a: i32):
  return %a : i32
}

// -----

func.func @chain_of_blocks(%x: i32) -> i32 {
  cf.br ^one(%x : i32)
^one(%a: i32):
  %0 = arith.addi %a, %a : i32
  cf.br ^two(%0 : i32)
^two(%b: i32):
  return %b : i32
}

// -----

func.func @block_that_only_passes(%c: i1, %x: i32, %y: i32) -> i32 {
  cf.cond_br %c, ^one, ^two
^one:
  cf.br ^end(%x : i32)
^two:
  cf.br ^end(%y : i32)
^end(%a: i32):
  return %a : i32
}

// -----

func.func @unreachable(%x: i32) -> i32 {
  return %x : i32
^never:
  %0 = arith.addi %x, %x : i32
  cf.br ^never
}

// -----

func.func @condition_known_in_its_block(%c: i1, %x: i32) -> i1 {
  cf.cond_br %c, ^one, ^two
^one:
  "x.use"(%c) : (i1) -> ()
  return %c : i1
^two:
  "x.other"(%c) : (i1) -> ()
  return %c : i1
}

// -----

func.func @known_switch(%x: i32, %y: i32) -> i32 {
  %f = arith.constant 2 : i32
  cf.switch %f : i32, [
    default: ^one(%x : i32),
    2: ^two(%y : i32)
  ]
^one(%a: i32):
  return %a : i32
^two(%b: i32):
  %0 = arith.addi %b, %b : i32
  return %0 : i32
}

// -----

func.func @unused_argument_of_a_loop(%c: i1, %x: i32) {
  cf.br ^head(%x : i32)
^head(%a: i32):
  %0 = arith.addi %a, %a : i32
  "x.effect"() : () -> ()
  cf.cond_br %c, ^head(%0 : i32), ^end
^end:
  return
}

// -----

func.func @assertions(%c: i1) {
  %t = arith.constant true
  cf.assert %t, "holds"
  cf.assert %c, "may fail"
  return
}

// -----

func.func @if_on_constant(%x: i32, %y: i32) -> (i32, i32) {
  %t = arith.constant true
  %f = arith.constant false
  %0 = scf.if %t -> i32 {
    %2 = arith.addi %x, %x : i32
    scf.yield %2 : i32
  } else {
    scf.yield %y : i32
  }
  %1 = scf.if %f -> i32 {
    scf.yield %x : i32
  } else {
    %3 = arith.muli %y, %y : i32
    scf.yield %3 : i32
  }
  return %0, %1 : i32, i32
}

// -----

func.func @if_that_chooses(%c: i1, %x: i32, %y: i32) -> i32 {
  %0 = scf.if %c -> i32 {
    scf.yield %x : i32
  } else {
    scf.yield %y : i32
  }
  return %0 : i32
}

// -----

func.func @if_with_an_unused_result(%c: i1, %x: i32) -> i32 {
  %0:2 = scf.if %c -> (i32, i32) {
    %1 = "x.a"() : () -> i32
    scf.yield %1, %x : i32, i32
  } else {
    %2 = "x.b"() : () -> i32
    %3 = "x.c"() : () -> i32
    scf.yield %2, %3 : i32, i32
  }
  return %0#0 : i32
}

// -----

func.func @condition_inside(%c: i1) -> i1 {
  %0 = scf.if %c -> i1 {
    "x.use"(%c) : (i1) -> ()
    scf.yield %c : i1
  } else {
    "x.other"(%c) : (i1) -> ()
    scf.yield %c : i1
  }
  return %0 : i1
}

// -----

func.func @empty_if(%c: i1) {
  scf.if %c {
  }
  scf.if %c {
  } else {
  }
  return
}

// -----

func.func @if_with_empty_else(%c: i1) {
  scf.if %c {
    "x.effect"() : () -> ()
  } else {
  }
  return
}

// -----

func.func @loop_of_no_rounds(%x: i32) -> i32 {
  %z = arith.constant 0 : index
  %o = arith.constant 1 : index
  %0 = scf.for %i = %z to %z step %o iter_args(%a = %x) -> i32 {
    %1 = arith.addi %a, %a : i32
    scf.yield %1 : i32
  }
  return %0 : i32
}

// -----

func.func @loop_of_one_round(%x: i32) -> i32 {
  %z = arith.constant 2 : index
  %e = arith.constant 4 : index
  %o = arith.constant 5 : index
  %0 = scf.for %i = %z to %e step %o iter_args(%a = %x) -> i32 {
    %1 = arith.index_cast %i : index to i32
    %2 = arith.addi %a, %1 : i32
    scf.yield %2 : i32
  }
  return %0 : i32
}

// -----

func.func @loop_with_kept_values(%n: index, %x: i32, %y: i32) -> (i32, i32) {
  %z = arith.constant 0 : index
  %o = arith.constant 1 : index
  %0:2 = scf.for %i = %z to %n step %o iter_args(%a = %x, %b = %y) -> (i32, i32) {
    %1 = arith.addi %b, %a : i32
    scf.yield %a, %1 : i32, i32
  }
  return %0#0, %0#1 : i32, i32
}

// -----

func.func @loop_without_use(%n: index, %x: i32) {
  %z = arith.constant 0 : index
  %o = arith.constant 1 : index
  %0 = scf.for %i = %z to %n step %o iter_args(%a = %x) -> i32 {
    %1 = arith.addi %a, %a : i32
    scf.yield %1 : i32
  }
  return
}

// -----

func.func @loop_with_effect(%n: index, %x: i32) -> i32 {
  %z = arith.constant 0 : index
  %o = arith.constant 1 : index
  %0 = scf.for %i = %z to %n step %o iter_args(%a = %x) -> i32 {
    %1 = "x.f"(%a) : (i32) -> i32
    scf.yield %1 : i32
  }
  return %0 : i32
}

// -----

func.func @region_that_runs_once(%x: i32) -> i32 {
  %0 = scf.execute_region -> i32 {
    %1 = arith.addi %x, %x : i32
    scf.yield %1 : i32
  }
  return %0 : i32
}

// -----

func.func @switch_on_constant(%x: i32, %y: i32) -> i32 {
  %i = arith.constant 1 : index
  %0 = scf.index_switch %i -> i32
  case 1 {
    scf.yield %x : i32
  }
  default {
    scf.yield %y : i32
  }
  return %0 : i32
}

// -----

func.func @constants_in_regions(%c: i1) -> i32 {
  %0 = scf.if %c -> i32 {
    %a = arith.constant 5 : i32
    "x.effect"() : () -> ()
    scf.yield %a : i32
  } else {
    %b = arith.constant 5 : i32
    %d = arith.constant 6 : i32
    "x.effect"() : () -> ()
    %1 = arith.addi %b, %d : i32
    scf.yield %1 : i32
  }
  return %0 : i32
}

// -----

func.func @while_of_no_rounds(%x: i32) -> i32 {
  %f = arith.constant false
  %0 = scf.while (%a = %x) : (i32) -> i32 {
    scf.condition(%f) %a : i32
  } do {
  ^bb0(%b: i32):
    %1 = arith.addi %b, %b : i32
    scf.yield %1 : i32
  }
  return %0 : i32
}
// -----
func.func @cycle_of_two(%x: index) {
  cf.br ^bb1
^bb1:
  cf.br ^bb2
^bb2:
  cf.br ^bb1
}
// -----
func.func @both_to_one(%c: i1) {
  cf.br ^bb2
^bb1:
  cf.br ^bb2
^bb2:
  cf.cond_br %c, ^bb1, ^bb1
}
// -----
func.func @waits(%c: i1) {
  cf.br ^bb1
^bb1:
  cf.cond_br %c, ^bb2, ^bb1
^bb2:
  cf.br ^bb2
}
// -----
func.func @cycle_of_three(%c: i1) {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  cf.br ^bb2
^bb2:
  cf.br ^bb3
^bb3:
  cf.br ^bb1
}
// -----
func.func @switch_in_circle(%0: i64) {
    cf.br ^bb2
  ^bb1:  // pred: ^bb2
    cf.br ^bb2
  ^bb2:  // 3 preds: ^bb0, ^bb1, ^bb2
    cf.switch %0 : i64, [
      default: ^bb2,
      5: ^bb1
    ]
}
// -----
func.func @switch_cases(%0: i64, %1: i64) {
   cf.switch %0 : i64, [
      default: ^bb1(%1 : i64),
      1: ^bb2,
      2: ^bb1(%1: i64),
      3: ^bb2
    ]
  ^bb1(%2: i64):
   "test.u"(%2) : (i64) -> ()
   cf.br ^bb3 {a.b = 1 : i8}
  ^bb2:
   cf.br ^bb3 {a.b = 1 : i8}
  ^bb3:
   return
}
// -----
func.func @switch_values(%0: i64, %1: i64) {
   cf.switch %0 : i64, [
      default: ^bb1(%0 : i64),
      2: ^bb1(%1: i64)
    ]
  ^bb1(%2: i64):
   "test.u"(%2) : (i64) -> ()
   return
}
// -----
func.func @switch_to_one(%0: i64) {
    cf.switch %0 : i64, [
      default: ^bb1,
      7: ^bb1
    ]
  ^bb1:
   return
}
// -----
func.func @weighted_to_circle(%c: i1) {
    cf.cond_br %c weights([3, 5]), ^bb1, ^bb2
  ^bb1:  // pred: ^bb0
    cf.br ^bb2
  ^bb2:  // 3 preds: ^bb0, ^bb1, ^bb2
    cf.br ^bb2
}
// -----
func.func @attributes_of_branches(%c: i1, %x: i32) -> i32 {
    cf.br ^bb1(%x : i32) {a.b}
  ^bb1(%y: i32):  // pred: ^bb0
    cf.br ^bb2(%y : i32) {c.d}
  ^bb2(%z: i32):
    %w = "test.op"(%z) : (i32) -> i1
    cf.cond_br %w, ^bb1(%z : i32), ^bb3
  ^bb3:
    return %x : i32
}
// -----
func.func @switch_after_switch(%0: i32) -> i32 {
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    cf.switch %0 : i32, [
      default: ^bb1,
      7: ^bb2,
      8: ^bb3
    ]
  ^bb1:
    "test.a"() : () -> ()
    cf.switch %0 : i32, [
      default: ^bb4(%c1 : i32),
      7: ^bb4(%c2 : i32),
      9: ^bb4(%c2 : i32)
    ]
  ^bb2:
    "test.b"() : () -> ()
    cf.switch %0 : i32, [
      default: ^bb4(%c2 : i32),
      7: ^bb4(%c1 : i32)
    ]
  ^bb3:
    "test.c"() : () -> ()
    cf.switch %0 : i32, [
      default: ^bb4(%c2 : i32),
      7: ^bb4(%c1 : i32)
    ]
  ^bb4(%r: i32):
   return %r : i32
}
// -----
func.func @switch_without_cases(%0: i32) -> i32 {
    cf.switch %0 : i32, [
      default: ^bb1
    ]
  ^bb1:
   return %0 : i32
}
// -----
ml_program.subgraph @store_whose_token_is_not_used(%t: !ml_program.token, %x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = ml_program.global_store_graph @s = %x ordering(%t -> !ml_program.token) : tensor<4xi32>
  ml_program.output %x : tensor<4xi32>
}
ml_program.global private mutable @s : tensor<4xi32>
