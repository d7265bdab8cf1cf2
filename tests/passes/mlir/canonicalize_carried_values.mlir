func.func @if_same(%c: i1, %a: f32) -> f32 {
  %0 = scf.if %c -> f32 {
    "test.x"() : () -> ()
    scf.yield %a : f32
  } else {
    scf.yield %a : f32
  }
  return %0 : f32
}
// -----
func.func @if_dup(%c: i1) -> (f32, f32) {
  %0:2 = scf.if %c -> (f32, f32) {
    %x = "test.x"() : () -> f32
    scf.yield %x, %x : f32, f32
  } else {
    %x = "test.x"() : () -> f32
    scf.yield %x, %x : f32, f32
  }
  return %0#0, %0#1 : f32, f32
}
// -----
func.func @two_ifs(%c: i1) -> (f32, f32) {
  %0 = scf.if %c -> (f32) {
    %x = "test.x"() : () -> f32
    scf.yield %x : f32
  } else {
    %x = "test.y"() : () -> f32
    scf.yield %x : f32
  }
  %1 = scf.if %c -> (f32) {
    %x = "test.z"(%0) : (f32) -> f32
    scf.yield %x : f32
  } else {
    %x = "test.w"() : () -> f32
    scf.yield %x : f32
  }
  return %0, %1 : f32, f32
}
// -----
func.func @nested_ifs(%c: i1, %d: i1) {
  scf.if %c {
    scf.if %d {
      "test.x"() : () -> ()
    }
  }
  return
}
// -----
func.func @for_dup(%a: index, %b: index, %c: index, %x: f32) -> (f32, f32) {
  %0:2 = scf.for %i = %a to %b step %c iter_args(%p = %x, %q = %x) -> (f32, f32) {
    %y = "test.x"(%p, %q) : (f32, f32) -> f32
    scf.yield %y, %y : f32, f32
  }
  return %0#0, %0#1 : f32, f32
}
// -----
func.func @for_unused(%a: index, %b: index, %c: index, %x: f32) -> (f32) {
  %0:2 = scf.for %i = %a to %b step %c iter_args(%p = %x, %q = %x) -> (f32, f32) {
    %y = "test.x"(%p) : (f32) -> f32
    %z = arith.addf %q, %y : f32
    scf.yield %y, %z : f32, f32
  }
  return %0#0 : f32
}
// -----
func.func @for_swap(%a: index, %b: index, %c: index, %x: f32) -> (f32) {
  %0:2 = scf.for %i = %a to %b step %c iter_args(%p = %x, %q = %x) -> (f32, f32) {
    "test.x"(%p) : (f32) -> ()
    scf.yield %q, %p : f32, f32
  }
  return %0#0 : f32
}
// -----
func.func @while_unused(%x: f32, %k: f32) -> (f32) {
  %0:2 = scf.while (%p = %x, %q = %x) : (f32, f32) -> (f32, f32) {
    %c = "test.c"(%p) : (f32) -> i1
    scf.condition(%c) %p, %q : f32, f32
  } do {
  ^bb0(%p: f32, %q: f32):
    %y = "test.x"(%p) : (f32) -> f32
    %z = arith.addf %q, %y : f32
    scf.yield %y, %z : f32, f32
  }
  return %0#0 : f32
}
// -----
func.func @while_dup(%x: f32, %k: f32) -> (f32, f32) {
  %0:2 = scf.while (%p = %x) : (f32) -> (f32, f32) {
    %c = "test.c"(%p) : (f32) -> i1
    scf.condition(%c) %p, %p : f32, f32
  } do {
  ^bb0(%p: f32, %q: f32):
    %y = "test.x"(%p, %q) : (f32, f32) -> f32
    scf.yield %y : f32
  }
  return %0#0, %0#1 : f32, f32
}
// -----
func.func @while_cond(%x: f32, %k: f32) -> (f32) {
  %0 = scf.while (%p = %x) : (f32) -> (f32) {
    %c = "test.c"(%p) : (f32) -> i1
    scf.condition(%c) %p : f32
  } do {
  ^bb0(%p: f32):
    scf.yield %k : f32
  }
  return %0 : f32
}
// -----
func.func @while_inv(%x: f32, %k: f32) -> (f32, f32) {
  %0:2 = scf.while (%p = %x, %i = %k) : (f32, f32) -> (f32, f32) {
    %c = "test.c"(%p, %i) : (f32, f32) -> i1
    scf.condition(%c) %p, %i : f32, f32
  } do {
  ^bb0(%p: f32, %q: f32):
    %y = "test.x"(%p, %q) : (f32, f32) -> f32
    scf.yield %y, %q : f32, f32
  }
  return %0#0, %0#1 : f32, f32
}
// -----
func.func @while_true(%x: f32) -> (f32, i1) {
  %0:2 = scf.while (%p = %x) : (f32) -> (f32, i1) {
    %c = "test.c"(%p) : (f32) -> i1
    scf.condition(%c) %p, %c : f32, i1
  } do {
  ^bb0(%p: f32, %q: i1):
    %y = "test.x"(%p, %q) : (f32, i1) -> f32
    scf.yield %y : f32
  }
  return %0#0, %0#1 : f32, i1
}
// -----
func.func @while_false(%x: f32) -> (f32) {
  %f = arith.constant false
  %0 = scf.while (%p = %x) : (f32) -> (f32) {
    %z = "test.c"(%p) : (f32) -> f32
    scf.condition(%f) %z : f32
  } do {
  ^bb0(%p: f32):
    %y = "test.x"(%p) : (f32) -> f32
    scf.yield %y : f32
  }
  return %0 : f32
}
// -----
func.func @while_cmp(%x: i32, %y: i32) -> (i32) {
  %0 = scf.while (%p = %x) : (i32) -> (i32) {
    %c = arith.cmpi ne, %p, %y : i32
    scf.condition(%c) %p : i32
  } do {
  ^bb0(%p: i32):
    %c = arith.cmpi ne, %p, %y : i32
    %z = "test.x"(%p, %c) : (i32, i1) -> i32
    scf.yield %z : i32
  }
  return %0 : i32
}
// -----
func.func @region_with_effect(%c: i1, %a: index) -> index {
  %0 = scf.execute_region -> index {
    cf.cond_br %c, ^bb2(%a : index), ^bb1
  ^bb1:
    "test.x"() : () -> ()
    scf.yield %a : index
  ^bb2(%1: index):
    scf.yield %1 : index
  }
  return %0 : index
}
// -----
func.func @region_of_blocks(%c: i1, %a: index, %b: index) -> index {
  %0 = scf.execute_region -> index {
    cf.cond_br %c, ^bb2(%a : index), ^bb1
  ^bb1:
    "test.x"() : () -> ()
    scf.yield %b : index
  ^bb2(%1: index):
    "test.y"(%1) : (index) -> ()
    scf.yield %1 : index
  }
  return %0 : index
}
// -----
func.func @function_of_blocks(%c: i1, %a: index, %b: index) -> index {
    cf.cond_br %c, ^bb2(%a : index), ^bb1
  ^bb1:
    "test.x"() : () -> ()
    return %b : index
  ^bb2(%1: index):
    "test.y"(%1) : (index) -> ()
    return %1 : index
}
// -----
func.func @region_giving_what_was_before(%c: i1, %a: index, %b: index) -> index {
  %0 = scf.execute_region -> index {
    cf.cond_br %c, ^bb2(%a : index), ^bb1
  ^bb1:
    "test.x"() : () -> ()
    cf.br ^bb2(%b : index)
  ^bb2(%1: index):
    "test.y"(%1) : (index) -> ()
    scf.yield %a : index
  }
  return %0 : index
}
// -----
func.func @region_passing_on(%c: i1, %a: index, %b: index) -> index {
  %0 = scf.execute_region -> index {
    cf.cond_br %c, ^bb2(%a : index), ^bb1
  ^bb1:
    "test.x"() : () -> ()
    cf.br ^bb2(%a : index)
  ^bb2(%1: index):
    "test.y"(%1) : (index) -> ()
    scf.yield %1 : index
  }
  return %0 : index
}
// -----
func.func @region_of_equal_blocks(%c: i1, %a: index) -> index {
  %0 = scf.execute_region -> index {
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    scf.yield %a : index
  ^bb2:
    scf.yield %a : index
  }
  return %0 : index
}
// -----
func.func @region_of_equal_values(%c: i1, %a: index) -> index {
  %0 = scf.execute_region -> index {
    cf.cond_br %c, ^bb1(%a : index), ^bb2
  ^bb1(%1 : index):
    scf.yield %1 : index
  ^bb2:
    scf.yield %a : index
  }
  "test.x"() : () -> ()
  return %0 : index
}
// -----
func.func @switch_giving_one_value(%i: index, %a: f32) -> f32 {
  %0 = scf.index_switch %i -> f32 
  case 1 {
    scf.yield %a : f32
  }
  default {
    scf.yield %a : f32
  }
  return %0 : f32
}
// -----
func.func @switch_giving_twice(%i: index, %a: f32, %b: f32) -> (f32, f32) {
  %0:3 = scf.index_switch %i -> f32, f32, f32
  case 1 {
    "test.x"() : () -> ()
    scf.yield %a, %b, %b : f32, f32, f32
  }
  default {
    scf.yield %b, %a, %a : f32, f32, f32
  }
  return %0#1, %0#2 : f32, f32
}
// -----
func.func @region_giving_one_value(%c: i1, %a: index) -> index {
  %0 = scf.execute_region -> index {
    cf.cond_br %c, ^bb2(%a : index), ^bb1
  ^bb1:
    scf.yield %a : index
  ^bb2(%1: index):
    scf.yield %1 : index
  }
  return %0 : index
}
// -----
func.func @blocks_given_values(%c: i1, %a: index, %b: index) -> index {
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    %0 = "test.x"(%a) : (index) -> index
    cf.br ^bb3(%a, %a : index, index)
  ^bb2:
    cf.br ^bb3(%b, %a : index, index)
  ^bb3(%1: index, %2: index):
   %3 = "test.x"(%1, %2) : (index, index) -> index
    return %3 : index
}
// -----
func.func @opposite_ifs(%c: i1, %x: f32) -> (f32, f32) {
  %true = arith.constant true
  %n = arith.xori %c, %true : i1
  %0 = scf.if %c -> (f32) {
    %a = "test.x"() : () -> f32
    scf.yield %a : f32
  } else {
    %a = "test.y"() : () -> f32
    scf.yield %a : f32
  }
  %1 = scf.if %n -> (f32) {
    %a = "test.z"(%0) : (f32) -> f32
    scf.yield %a : f32
  } else {
    %a = "test.w"(%0) : (f32) -> f32
    scf.yield %a : f32
  }
  return %0, %1 : f32, f32
}
// -----
func.func @ifs_without_else(%c: i1) {
  scf.if %c {
    "test.x"() : () -> ()
  }
  scf.if %c {
    "test.y"() : () -> ()
  } else {
    "test.z"() : () -> ()
  }
  scf.if %c {
    "test.w"() : () -> ()
  }
  return
}
// -----
func.func @nested_ifs_giving(%c: i1, %d: i1, %x: f32) -> f32 {
  %0 = scf.if %c -> (f32) {
    %1 = scf.if %d -> (f32) {
      %a = "test.x"() : () -> f32
      scf.yield %a : f32
    } else {
      scf.yield %x : f32
    }
    scf.yield %1 : f32
  } else {
    scf.yield %x : f32
  }
  return %0 : f32
}
// -----
func.func @nested_ifs_giving_others(%c: i1, %d: i1, %x: f32, %y: f32) -> f32 {
  %0 = scf.if %c -> (f32) {
    %1 = scf.if %d -> (f32) {
      %a = "test.x"() : () -> f32
      scf.yield %a : f32
    } else {
      scf.yield %y : f32
    }
    scf.yield %1 : f32
  } else {
    scf.yield %x : f32
  }
  return %0 : f32
}
// -----
func.func @nested_ifs_and_more(%c: i1, %d: i1, %x: f32, %y: f32) -> (f32, f32) {
  %0:2 = scf.if %c -> (f32, f32) {
    %1 = scf.if %d -> (f32) {
      %a = "test.x"() : () -> f32
      scf.yield %a : f32
    } else {
      scf.yield %x : f32
    }
    scf.yield %1, %y : f32, f32
  } else {
    scf.yield %x, %x : f32, f32
  }
  return %0#0, %0#1 : f32, f32
}
// -----
func.func @attributes_stay(%a: index, %b: index, %c: index, %x: f32) -> f32 {
  %0:2 = scf.for %i = %a to %b step %c iter_args(%p = %x, %q = %x) -> (f32, f32) {
    %y = "test.x"(%p) : (f32) -> f32
    scf.yield %y, %y : f32, f32
  } {some.note = 1 : i32}
  return %0#0 : f32
}
// -----
func.func @loop_passing_round(%a: index, %b: index, %c: index, %x: f32, %y: f32) -> (f32, f32, f32) {
  %0:3 = scf.for %i = %a to %b step %c iter_args(%p = %x, %q = %y, %r = %x) -> (f32, f32, f32) {
    "test.x"(%p, %q, %r) : (f32, f32, f32) -> ()
    scf.yield %q, %p, %p : f32, f32, f32
  }
  return %0#0, %0#1, %0#2 : f32, f32, f32
}
// -----
func.func @region_in_region(%c: i1, %x: f32) -> f32 {
  %0 = scf.if %c -> f32 {
    %1 = scf.execute_region -> f32 {
      cf.cond_br %c, ^bb1, ^bb2
    ^bb1:
      %a = "test.x"() : () -> f32
      scf.yield %a : f32
    ^bb2:
      %b = "test.y"() : () -> f32
      scf.yield %b : f32
    }
    scf.yield %1 : f32
  } else {
    scf.yield %x : f32
  }
  return %0 : f32
}
// -----
func.func @region_that_may_not_end(%c: i1, %x: f32) -> f32 {
  %0:2 = scf.execute_region -> (f32, f32) no_inline {
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    %a = "test.x"() : () -> f32
    scf.yield %a, %x : f32, f32
  ^bb2:
    "test.y"() : () -> ()
    ub.unreachable
  }
  return %0#1 : f32
}
// -----
func.func @while_of_opposite(%x: i32, %y: i32) -> (i32) {
  %0 = scf.while (%p = %x) : (i32) -> (i32) {
    %c = arith.cmpi slt, %p, %y : i32
    scf.condition(%c) %p : i32
  } do {
  ^bb0(%p: i32):
    %c = arith.cmpi sge, %p, %y : i32
    %d = arith.cmpi sgt, %y, %p : i32
    %z = "test.x"(%p, %c, %d) : (i32, i1, i1) -> i32
    scf.yield %z : i32
  }
  return %0 : i32
}
// -----
func.func @unreachable_way(%c: i1, %a: index) -> index {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  ub.unreachable
^bb2:
  return %a : index
}
// -----
func.func @both_unreachable(%c: i1) {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  ub.unreachable
^bb2:
  ub.unreachable
}
// -----
func.func @unreachable_with_values(%c: i1, %a: index) -> index {
  cf.cond_br %c, ^bb2(%a : index), ^bb1(%a : index)
^bb1(%x: index):
  ub.unreachable
^bb2(%y: index):
  "test.x"(%y) : (index) -> ()
  return %y : index
}
// -----
func.func @reported_before_the_way_goes(%c: i1) -> i1 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  ub.unreachable
^bb2:
  return %c : i1
}
// -----
func.func @reported_before_the_other_way_goes(%c: i1) -> (i1, i1) {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %0 = "test.x"(%c) : (i1) -> i1
  return %c, %0 : i1, i1
^bb2:
  ub.unreachable
}
