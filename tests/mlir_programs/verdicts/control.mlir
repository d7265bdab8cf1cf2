// wrong: as many values are returned as declared
func.func @f(%a: i32) -> i32 {
  return
}
// -----
// wrong: the types of returned values
func.func @f(%a: i32) -> i64 {
  "func.return"(%a) : (i32) -> ()
}
// -----
// wrong: a call of a function that does not exist
func.func @f() {
  call @g() : () -> ()
  return
}
// -----
// wrong: a call with another number of arguments
func.func private @g(i32)
func.func @f() {
  call @g() : () -> ()
  return
}
// -----
// wrong: a call with another result
func.func private @g() -> i32
func.func @f() {
  %0 = call @g() : () -> i64
  return
}
// -----
// right
func.func private @g(i32) -> i32
func.func @f(%a: i32) {
  %0 = call @g(%a) : (i32) -> i32
  return
}
// -----
// wrong: a constant of a function has its type
func.func private @g()
func.func @f() {
  %0 = func.constant @g : () -> i32
  return
}
// -----
// wrong: a constant of a function that does not exist
func.func @f() {
  %0 = func.constant @g : () -> ()
  return
}
// -----
// wrong: an indirect call of a value that is not a function
func.func @f(%a: i32) {
  "func.call_indirect"(%a) : (i32) -> ()
  return
}
// -----
// wrong: the entry block has the arguments of the function
"func.func"() <{sym_name = "f", function_type = (i32) -> ()}> ({
^bb0(%a: i64):
  "func.return"() : () -> ()
}) : () -> ()
// -----
// wrong: a declaration is not public
func.func @f()
// -----
// wrong: two functions of one name
func.func private @f()
func.func private @f()
// -----
// wrong: a branch passes the arguments of its block
func.func @f(%a: i32) {
  cf.br ^b
^b(%x: i32):
  return
}
// -----
// wrong: a branch passes their types
func.func @f(%a: i32) {
  "cf.br"(%a)[^b] : (i32) -> ()
^b(%x: i64):
  return
}
// -----
// right
func.func @f(%a: i32) {
  cf.br ^b(%a : i32)
^b(%x: i32):
  return
}
// -----
// wrong: a condition is a bool
func.func @f(%a: i32) {
  "cf.cond_br"(%a)[^b, ^b] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i32) -> ()
^b:
  return
}
// -----
// wrong: a weight for each successor
func.func @f(%a: i1) {
  "cf.cond_br"(%a)[^b, ^b] <{branch_weights = array<i32: 1>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
^b:
  return
}
// -----
// wrong: case values have the type of the flag
func.func @f(%a: i32) {
  "cf.switch"(%a)[^b, ^b] <{case_operand_segments = array<i32: 0>, case_values = dense<1> : vector<1xi64>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (i32) -> ()
^b:
  return
}
// -----
// wrong: a case value for each case
func.func @f(%a: i32) {
  "cf.switch"(%a)[^b, ^b] <{case_operand_segments = array<i32: 0>, case_values = dense<1> : vector<2xi32>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (i32) -> ()
^b:
  return
}
// -----
// wrong: the message of an assertion
func.func @f(%a: i1) {
  "cf.assert"(%a) : (i1) -> ()
  return
}
// -----
// wrong: a value is used before it is defined
func.func @f() {
  %0 = arith.addi %1, %1 : i32
  %1 = arith.constant 1 : i32
  return
}
// -----
// wrong: a value of a block that does not dominate
func.func @f(%c: i1) {
  cf.cond_br %c, ^a, ^b
^a:
  %0 = arith.constant 1 : i32
  cf.br ^c
^b:
  cf.br ^c
^c:
  %1 = arith.addi %0, %0 : i32
  return
}
// -----
// wrong: a block ends with a terminator
func.func @f() {
  %0 = arith.constant 1 : i32
}
// -----
// wrong: a terminator ends its block
func.func @f() {
  "func.return"() : () -> ()
  %0 = arith.constant 1 : i32
  return
}
// -----
// wrong: a function uses no value from outside
func.func @f(%a: i32) {
  "test.op"() ({
    func.func @g() {
      "test.use"(%a) : (i32) -> ()
      return
    }
  }) : () -> ()
  return
}
// -----
// wrong: a symbol lies in a symbol table
func.func @f() {
  func.func private @g()
  return
}
// -----
// wrong: a cast without operands and results
"builtin.unrealized_conversion_cast"() : () -> ()
// -----
// right
%0 = builtin.unrealized_conversion_cast to i32
// -----
// wrong: an attribute of a module has a dialect
module attributes {a = 1 : i32} {}
// -----
// wrong: a module has one block
"builtin.module"() ({
^a:
  "test.a"() : () -> ()
^b:
  "test.b"() : () -> ()
}) : () -> ()
// -----
// wrong: both branches give the results
func.func @f(%c: i1, %a: i32) {
  %0 = scf.if %c -> i32 {
    scf.yield %a : i32
  }
  return
}
// -----
// wrong: a branch yields another type
func.func @f(%c: i1, %a: i32, %b: i64) {
  %0 = scf.if %c -> i32 {
    scf.yield %a : i32
  } else {
    scf.yield %b : i64
  }
  return
}
// -----
// right
func.func @f(%c: i1, %a: i32) {
  %0 = scf.if %c -> i32 {
    scf.yield %a : i32
  } else {
    scf.yield %a : i32
  }
  return
}
// -----
// wrong: the bounds of a loop have the type of its variable
func.func @f(%a: index, %b: i32) {
  "scf.for"(%a, %a, %b) ({
  ^bb0(%i: index):
    scf.yield
  }) : (index, index, i32) -> ()
  return
}
// -----
// wrong: a loop yields as many values as it carries
func.func @f(%a: index, %x: f32) {
  %0 = scf.for %i = %a to %a step %a iter_args(%y = %x) -> f32 {
    scf.yield
  }
  return
}
// -----
// wrong: a loop carries values of the types of its results
func.func @f(%a: index, %x: f32) {
  %0 = "scf.for"(%a, %a, %a, %x) ({
  ^bb0(%i: index, %y: f32):
    scf.yield %y : f32
  }) : (index, index, index, f32) -> f64
  return
}
// -----
// right
func.func @f(%a: index, %x: f32) {
  %0 = scf.for %i = %a to %a step %a iter_args(%y = %x) -> f32 {
    scf.yield %y : f32
  }
  return
}
// -----
// wrong: the condition of a while passes the arguments of its body
func.func @f(%x: f32, %c: i1) {
  %0 = scf.while (%y = %x) : (f32) -> f64 {
    scf.condition(%c) %y : f32
  } do {
  ^bb0(%z: f64):
    scf.yield %x : f32
  }
  return
}
// -----
// wrong: the body of a while yields the arguments of its condition
func.func @f(%x: f32, %c: i1) {
  %0 = scf.while (%y = %x) : (f32) -> f32 {
    scf.condition(%c) %y : f32
  } do {
  ^bb0(%z: f32):
    scf.yield
  }
  return
}
// -----
// wrong: the condition of a while ends its first region
func.func @f(%x: f32, %c: i1) {
  %0 = "scf.while"(%x) ({
  ^bb0(%y: f32):
    scf.yield %y : f32
  }, {
  ^bb0(%z: f32):
    scf.yield %z : f32
  }) : (f32) -> f32
  return
}
// -----
// wrong: a parallel loop has as many steps as bounds
func.func @f(%a: index) {
  "scf.parallel"(%a, %a, %a, %a) <{operandSegmentSizes = array<i32: 1, 1, 2, 0>}> ({
  ^bb0(%i: index):
    scf.reduce
  }) : (index, index, index, index) -> ()
  return
}
// -----
// wrong: a parallel loop with a result reduces a value
func.func @f(%a: index, %x: f32) {
  %0 = scf.parallel (%i) = (%a) to (%a) step (%a) init (%x) -> f32 {
    scf.reduce
  }
  return
}
// -----
// wrong: a reduction returns the type of its operand
func.func @f(%a: index, %x: f32, %y: f64) {
  %0 = scf.parallel (%i) = (%a) to (%a) step (%a) init (%x) -> f32 {
    scf.reduce(%x : f32) {
    ^bb0(%l: f32, %r: f32):
      scf.reduce.return %y : f64
    }
  }
  return
}
// -----
// right
func.func @f(%a: index, %x: f32) {
  %0 = scf.parallel (%i) = (%a) to (%a) step (%a) init (%x) -> f32 {
    scf.reduce(%x : f32) {
    ^bb0(%l: f32, %r: f32):
      scf.reduce.return %l : f32
    }
  }
  return
}
// -----
// wrong: a switch has a region for each case
func.func @f(%a: index) {
  "scf.index_switch"(%a) <{cases = array<i64: 1, 2>}> ({
    scf.yield
  }, {
    scf.yield
  }) : (index) -> ()
  return
}
// -----
// wrong: the cases of a switch differ
func.func @f(%a: index) {
  scf.index_switch %a
  case 1 {
    scf.yield
  }
  case 1 {
    scf.yield
  }
  default {
  }
  return
}
// -----
// wrong: every case yields the results
func.func @f(%a: index, %x: f32) {
  %0 = scf.index_switch %a -> f32
  case 1 {
    scf.yield
  }
  default {
    scf.yield %x : f32
  }
  return
}
// -----
// wrong: an execute_region yields its results
func.func @f(%x: f32) {
  %0 = scf.execute_region -> f64 {
    scf.yield %x : f32
  }
  return
}
// -----
// wrong: the outputs of forall are ranked tensors
func.func @f(%x: f32) {
  %0 = "scf.forall"(%x) <{operandSegmentSizes = array<i32: 0, 0, 0, 1>, staticLowerBound = array<i64: 0>, staticStep = array<i64: 1>, staticUpperBound = array<i64: 4>}> ({
  ^bb0(%i: index, %y: f32):
    scf.forall.in_parallel {}
  }) : (f32) -> f32
  return
}
// -----
// wrong: the mapping of a forall has an entry for each dimension
func.func @f() {
  scf.forall (%i) in (4) {
  } {mapping = [#gpu.thread<x>, #gpu.thread<y>]}
  return
}
// -----
// wrong: the mapping of a forall is an array
func.func @f() {
  "scf.forall"() <{mapping = 1 : i32, operandSegmentSizes = array<i32: 0, 0, 0, 0>, staticLowerBound = array<i64: 0>, staticStep = array<i64: 1>, staticUpperBound = array<i64: 4>}> ({
  ^bb0(%i: index):
    scf.forall.in_parallel {}
  }) : () -> ()
  return
}
// -----
// right
func.func @f() {
  scf.forall (%i) in (4) {
  } {mapping = [#gpu.thread<x>]}
  return
}
// -----
// wrong: only parallel insertions stand in in_parallel
func.func @f(%t: tensor<8xf32>) {
  %0 = scf.forall (%i) in (4) shared_outs(%o = %t) -> tensor<8xf32> {
    scf.forall.in_parallel {
      %1 = arith.constant 1 : i32
    }
  }
  return
}
// -----
// wrong: a yield outside of a region of scf
func.func @f() {
  scf.yield
}
// -----
// wrong: a module without a block
"builtin.module"() ({}) : () -> ()
// -----
// right
"builtin.module"() ({
^bb0:
}) : () -> ()
// -----
// wrong: properties of an operation that has none
func.func @f(%a: i1) {
  "scf.if"(%a) <{}> ({"scf.yield"() : () -> ()}, {}) : (i1) -> ()
  return
}
// -----
// right
func.func @f(%a: i32) {
  %0 = "arith.addi"(%a, %a) <{}> : (i32, i32) -> i32
  return
}
