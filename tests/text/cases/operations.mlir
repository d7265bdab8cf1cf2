// RUN: cir check --split-input-file --verify-diagnostics %s
// Generic and custom forms of operations, and what their definitions require.

func.func @generic(%x: i32) -> i32 {
  %0 = "arith.addi"(%x, %x) <{overflowFlags = #arith.overflow<nsw>}> : (i32, i32) -> i32
  return %0 : i32
}

// -----

func.func @unknown_of_a_known_dialect() {
  // expected-error@+1 {{unknown operation 'arith.addx'}}
  arith.addx
  return
}

// -----

func.func @unknown_dialect(%x: i32) {
  // expected-error@+1 {{unknown operation 'zzz.op'}}
  zzz.op %x : i32
  return
}

// -----

func.func @unregistered(%x: i32) {
  // expected-error@+1 {{unknown operation 'zzz.op'}}
  "zzz.op"(%x) {a = 1 : i32} : (i32) -> ()
  return
}

// -----

func.func @operand_count(%x: i32) {
  // expected-error@+1 {{arith.addi: takes 2 operands, found 1}}
  %0 = "arith.addi"(%x) : (i32) -> i32
  return
}

// -----

func.func @type_count(%x: i32) {
  // expected-error@+1 {{1 operands have 0 types}}
  "zzz.op"(%x) : () -> ()
  return
}

// -----

func.func @missing_type(%x: i32) {
  // expected-error@+1 {{expected ':', found 'return'}}
  %0 = arith.addi %x, %x
  return
}

// -----

func.func @wrong_constraint(%x: f32) {
  // expected-error@+2 {{arith.addi: operand 'lhs': must be signless-integer-like, found f32}}
  // expected-error@+1 {{arith.addi: operand 'rhs': must be signless-integer-like, found f32}}
  %0 = arith.addi %x, %x : f32
  return
}

// -----

func.func @not_equal_types(%x: i32, %y: i64) {
  // expected-error@+1 {{arith.addi: SameOperandsAndResultType: requires the same type for all operands and results, found i32 and i64}}
  %0 = "arith.addi"(%x, %y) : (i32, i64) -> i32
  return
}

// -----

// mlir-opt accepts: it drops properties that it does not know.
func.func @unknown_property(%x: i32) {
  // expected-error@+1 {{arith.addi: 'speed' is not an attribute of it}}
  %0 = "arith.addi"(%x, %x) <{speed = 1 : i32}> : (i32, i32) -> i32
  return
}

// -----

func.func @missing_attribute(%x: i32) {
  // expected-error@+1 {{arith.cmpi: requires attribute 'predicate'}}
  %0 = "arith.cmpi"(%x, %x) : (i32, i32) -> i1
  return
}

// -----

func.func @unknown_case(%x: i32) {
  // expected-error@+1 {{arith.cmpi: 'predicate' is one of eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge, not 'less'}}
  %0 = arith.cmpi less, %x, %x : i32
  return
}

// -----

func.func @case_of_another_type(%x: i32) {
  // expected-error@+1 {{arith.cmpi: attribute 'predicate': expected one of eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge, found 7 : i9}}
  %0 = "arith.cmpi"(%x, %x) <{predicate = 7 : i9}> : (i32, i32) -> i1
  return
}

// -----

func.func @wrong_result(%x: i32) {
  // expected-error@+2 {{arith.cmpi: result 'result': must be bool-like, found i32}}
  // expected-error@+1 {{arith.cmpi: TypesMatchWith(lhs, result): result type has i1 element type and same shape as operands: expected i1, found i32}}
  %0 = "arith.cmpi"(%x, %x) <{predicate = 0 : i64}> : (i32, i32) -> i32
  return
}

// -----

func.func @called() {
  // expected-error@+1 {{func.call: C1: 'absent' does not reference a valid function}}
  call @absent() : () -> ()
  return
}

// -----

// expected-error@+1 {{func.func: symbol declaration cannot have public visibility}}
func.func @same()
// expected-error@+2 {{'same' is defined twice}}
// expected-error@+1 {{func.func: symbol declaration cannot have public visibility}}
func.func @same()
