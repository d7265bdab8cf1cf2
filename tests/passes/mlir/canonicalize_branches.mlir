// Branches that become simple because of what follows them.
func.func @one_condition_in_a_row(%c: i1) {
  cf.cond_br %c, ^first, ^last
^first:
  cf.cond_br %c, ^second, ^last
^second:
  cf.br ^last
^last:
  return
}
// -----
func.func @blocks_of_which_nothing_is_used(%n: i32, %m: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %0 = arith.addi %n, %m : i32
  %is = arith.cmpi eq, %0, %zero : i32
  cf.cond_br %is, ^one, ^two
^one:
  %1 = arith.muli %0, %m : i32
  cf.br ^last
^two:
  %2 = arith.subi %0, %m : i32
  cf.br ^last
^last:
  return %zero : i32
}
