// RUN: cir check --split-input-file --verify-diagnostics %s
// Blocks, branches and terminators.

func.func @branches(%c: i1, %x: i32) -> i32 {
  cf.cond_br %c, ^a, ^b(%x : i32)
^a:
  cf.br ^b(%x : i32)
^b(%y: i32):
  return %y : i32
}

// -----

func.func @undefined_block() {
  // expected-error@+1 {{reference to an undefined block '^a'}}
  cf.br ^a
}

// -----

func.func @defined_twice() {
  cf.br ^a
^a:
  return
// expected-error@+1 {{redefinition of block '^a'}}
^a:
  return
}

// -----

func.func @argument_count(%x: i32) {
  // expected-error@+2 {{cf.br: C1: branch has 1 operands for successor #0, but target block has 0}}
  // expected-error@+1 {{cf.br: successor 0 receives (i32), but its block has arguments ()}}
  cf.br ^a(%x : i32)
^a:
  return
}

// -----

func.func @argument_type(%x: i32) {
  // expected-error@+2 {{cf.br: C1: type mismatch for bb argument #0 of successor #0: expected f32, found i32}}
  // expected-error@+1 {{cf.br: successor 0 receives (i32), but its block has arguments (f32)}}
  cf.br ^a(%x : i32)
^a(%y: f32):
  return
}

// -----

func.func @no_terminator() {
  // expected-error@+1 {{func.func: block with no terminator, has arith.constant}}
  %0 = arith.constant 1 : i32
}

// -----

func.func @not_last() {
  // expected-error@+1 {{func.return: Terminator: a terminator must be the last operation of its block}}
  return
  return
}

// -----

func.func @does_not_dominate(%c: i1) -> i32 {
  cf.cond_br %c, ^a, ^b
^a:
  %0 = arith.constant 1 : i32
  cf.br ^b
^b:
  // expected-error@+1 {{func.return: operand 0 is used before it is defined}}
  return %0 : i32
}
