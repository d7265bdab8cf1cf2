// RUN: cir check --split-input-file --verify-diagnostics %s
// Attributes and constants.

#one = 1 : i32
func.func @aliases() attributes {a = #one, b = [#one, "text", unit], c = {d = true}} {
  return
}

// -----

// expected-error@+1 {{undefined attribute alias '#none'}}
func.func @undefined_alias() attributes {a = #none} {
  return
}

// -----

// expected-error@+1 {{attribute 'a' is given twice}}
func.func @twice() attributes {a = 1 : i32, a = 2 : i32} {
  return
}

// -----

func.func @dense() -> tensor<2x2xi8> {
  %0 = arith.constant dense<[[1, 2], [-3, 4]]> : tensor<2x2xi8>
  return %0 : tensor<2x2xi8>
}

// -----

func.func @ragged() {
  // expected-error@+1 {{expected 2 elements here, found 1}}
  %0 = arith.constant dense<[[1, 2], [3]]> : tensor<2x2xi8>
  return
}

// -----

func.func @too_few() {
  // expected-error@+1 {{expected 3 elements here, found 2}}
  %0 = arith.constant dense<[1, 2]> : tensor<3xi8>
  return
}

// -----

func.func @out_of_range() {
  // expected-error@+1 {{300 does not fit i8}}
  %0 = arith.constant dense<300> : tensor<2xi8>
  return
}

// -----

func.func @float_for_integer() {
  // expected-error@+1 {{expected an integer for type i8, found '1.5'}}
  %0 = arith.constant dense<1.5> : tensor<2xi8>
  return
}

// -----

func.func @dynamic_constant() {
  // expected-error@+1 {{a constant needs a static shape, found tensor<?xi8>}}
  %0 = arith.constant dense<1> : tensor<?xi8>
  return
}

// -----

func.func @hexadecimal() -> f32 {
  %0 = arith.constant 0x7F800000 : f32
  return %0 : f32
}

// -----

func.func @integer_out_of_range() {
  // expected-error@+1 {{256 does not fit i8}}
  %0 = arith.constant 256 : i8
  return
}

// -----

func.func @other_type() {
  // expected-error@+1 {{expected an integer for type i32, found '1.0'}}
  %0 = arith.constant 1.0 : i32
  return
}

// -----

func.func @text() attributes {a = "tab \t quote \22"} {
  return
}

// -----

// expected-error@+1 {{unterminated or malformed string}}
func.func @open_text() attributes {a = "open} {
  return
}

// -----

#limit = 1 : i32
module {
  func.func private @in_one_module() attributes {x.limit = #limit}
}
// expected-error@+1 {{redefinition of attribute alias 'limit'}}
#limit = 2 : i32
module {
  func.func private @in_another_module() attributes {x.limit = #limit}
}

// -----

#here = loc("a":1:1)
func.func private @located() loc(#here)
// expected-error@+1 {{redefinition of attribute alias 'here'}}
#here = loc("b":2:2)
