// RUN: cir check --split-input-file --verify-diagnostics %s
// Uses and definitions of values.

// A value that is defined is used.
func.func @used(%x: i32) -> i32 {
  return %x : i32
}

// -----

func.func @undefined(%x: i32) -> i32 {
  // expected-error@+1 {{use of undefined value '%y'}}
  return %y : i32
}

// -----

func.func @twice(%x: i32) {
  // expected-error@+1 {{value '%x' is defined twice}}
  %x = arith.constant 1 : i32
  return
}

// -----

func.func @wrong_type(%x: i32) {
  // expected-error@+2 {{value '%x' has type i32, but is used as f32}}
  // expected-error@+1 {{value '%x' has type i32, but is used as f32}}
  %0 = arith.addf %x, %x : f32
  return
}

// -----

func.func @other_result_count() {
  // expected-error@+1 {{arith.constant has 1 result, but 2 are named}}
  %0:2 = arith.constant 1 : i32
  return
}

// -----

func.func @results_by_number() -> i32 {
  // expected-error@+1 {{unknown operation 'zzz.two'}}
  %0:2 = "zzz.two"() : () -> (i32, f32)
  return %0#0 : i32
}

// -----

func.func @result_out_of_range() -> i32 {
  %0:2 = "zzz.two"() : () -> (i32, f32)
  // expected-error@+1 {{use of undefined value '%0#2'}}
  return %0#2 : i32
}

// -----

func.func @use_before_definition() -> i32 {
  // expected-error@+2 {{arith.addi: operand 0 is used before it is defined}}
  // expected-error@+1 {{arith.addi: operand 1 is used before it is defined}}
  %1 = arith.addi %0, %0 : i32
  %0 = arith.constant 1 : i32
  return %1 : i32
}

// -----

func.func @not_visible_outside(%c: i1) -> i32 {
  scf.if %c {
    %0 = arith.constant 1 : i32
  }
  // expected-error@+1 {{use of undefined value '%0'}}
  return %0 : i32
}

// -----

func.func @returns_nothing() -> i32 {
  // expected-error@+1 {{func.return: has 0 operands, but enclosing function (@returns_nothing) returns 1}}
  return
}
