// Integer arithmetic: identities, folding, constants to the right, chains of constants.

func.func @add_zero(%x: i32) -> i32 {
  %c = arith.constant 0 : i32
  %0 = arith.addi %x, %c : i32
  return %0 : i32
}

// -----

func.func @zero_add(%x: i32) -> i32 {
  %c = arith.constant 0 : i32
  %0 = arith.addi %c, %x : i32
  return %0 : i32
}

// -----

func.func @constant_to_the_right(%x: i32, %y: i32) -> (i32, i32, i1) {
  %c = arith.constant 7 : i32
  %0 = arith.addi %c, %x : i32
  %1 = arith.muli %c, %y : i32
  %2 = arith.cmpi slt, %c, %y : i32
  return %0, %1, %2 : i32, i32, i1
}

// -----

func.func @add_of_constants() -> i32 {
  %a = arith.constant 3 : i32
  %b = arith.constant 4 : i32
  %0 = arith.addi %a, %b : i32
  return %0 : i32
}

// -----

func.func @all_of_constants() -> (i32, i32, i32, i32, i32, i32, i32, i32, i32) {
  %a = arith.constant -17 : i32
  %b = arith.constant 5 : i32
  %0 = arith.subi %a, %b : i32
  %1 = arith.muli %a, %b : i32
  %2 = arith.divsi %a, %b : i32
  %3 = arith.divui %a, %b : i32
  %4 = arith.remsi %a, %b : i32
  %5 = arith.remui %a, %b : i32
  %6 = arith.ceildivsi %a, %b : i32
  %7 = arith.floordivsi %a, %b : i32
  %8 = arith.ceildivui %a, %b : i32
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : i32, i32, i32, i32, i32, i32, i32, i32, i32
}

// -----

func.func @bits_of_constants() -> (i8, i8, i8, i8, i8, i8, i8, i8, i8, i8) {
  %a = arith.constant -100 : i8
  %b = arith.constant 3 : i8
  %0 = arith.andi %a, %b : i8
  %1 = arith.ori %a, %b : i8
  %2 = arith.xori %a, %b : i8
  %3 = arith.shli %a, %b : i8
  %4 = arith.shrsi %a, %b : i8
  %5 = arith.shrui %a, %b : i8
  %6 = arith.maxsi %a, %b : i8
  %7 = arith.maxui %a, %b : i8
  %8 = arith.minsi %a, %b : i8
  %9 = arith.minui %a, %b : i8
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : i8, i8, i8, i8, i8, i8, i8, i8, i8, i8
}

// -----

func.func @what_is_not_folded() -> (i32, i32, i32, i32, i32, i8, i32) {
  %a = arith.constant 17 : i32
  %z = arith.constant 0 : i32
  %m = arith.constant -128 : i8
  %n = arith.constant -1 : i8
  %w = arith.constant 32 : i32
  %0 = arith.divsi %a, %z : i32
  %1 = arith.divui %a, %z : i32
  %2 = arith.remsi %a, %z : i32
  %3 = arith.shli %a, %w : i32
  %4 = arith.shrui %a, %w : i32
  %5 = arith.divsi %m, %n : i8
  %6 = arith.shrsi %a, %w : i32
  return %0, %1, %2, %3, %4, %5, %6 : i32, i32, i32, i32, i32, i8, i32
}

// -----

func.func @subtractions(%x: i32, %y: i32) -> (i32, i32, i32, i32) {
  %z = arith.constant 0 : i32
  %0 = arith.subi %x, %x : i32
  %1 = arith.subi %x, %z : i32
  %2 = arith.addi %x, %y : i32
  %3 = arith.subi %2, %y : i32
  %4 = arith.subi %2, %x : i32
  return %0, %1, %3, %4 : i32, i32, i32, i32
}

// -----

func.func @sub_of_itself_in_a_tensor(%x: tensor<4xi32>, %y: tensor<?xi32>) -> (tensor<4xi32>, tensor<?xi32>) {
  %0 = arith.subi %x, %x : tensor<4xi32>
  %1 = arith.subi %y, %y : tensor<?xi32>
  return %0, %1 : tensor<4xi32>, tensor<?xi32>
}

// -----

func.func @add_of_sub(%x: i32, %y: i32) -> (i32, i32) {
  %0 = arith.subi %x, %y : i32
  %1 = arith.addi %0, %y : i32
  %2 = arith.addi %y, %0 : i32
  return %1, %2 : i32, i32
}

// -----

func.func @products(%x: i32) -> (i32, i32, i32) {
  %z = arith.constant 0 : i32
  %o = arith.constant 1 : i32
  %0 = arith.muli %x, %z : i32
  %1 = arith.muli %x, %o : i32
  %2 = arith.muli %o, %x : i32
  return %0, %1, %2 : i32, i32, i32
}

// -----

func.func @chains_of_constants(%x: i32) -> (i32, i32, i32, i32, i32) {
  %a = arith.constant 3 : i32
  %b = arith.constant 10 : i32
  %0 = arith.addi %x, %a : i32
  %1 = arith.addi %0, %b : i32
  %2 = arith.subi %0, %b : i32
  %3 = arith.subi %b, %0 : i32
  %4 = arith.muli %x, %a : i32
  %5 = arith.muli %4, %b : i32
  %6 = arith.subi %x, %a : i32
  %7 = arith.addi %6, %b : i32
  return %1, %2, %3, %5, %7 : i32, i32, i32, i32, i32
}

// -----

func.func @chains_of_sub(%x: i32) -> (i32, i32, i32, i32, i32) {
  %a = arith.constant 3 : i32
  %b = arith.constant 10 : i32
  %0 = arith.subi %x, %a : i32
  %1 = arith.subi %a, %x : i32
  %2 = arith.subi %0, %b : i32
  %3 = arith.subi %1, %b : i32
  %4 = arith.subi %b, %0 : i32
  %5 = arith.subi %b, %1 : i32
  %6 = arith.addi %1, %b : i32
  return %2, %3, %4, %5, %6 : i32, i32, i32, i32, i32
}

// -----

func.func @quotients(%x: i32) -> (i32, i32, i32, i32, i32, i32, i32, i32, i32) {
  %o = arith.constant 1 : i32
  %m = arith.constant -1 : i32
  %z = arith.constant 0 : i32
  %0 = arith.divsi %x, %o : i32
  %1 = arith.divui %x, %o : i32
  %2 = arith.ceildivsi %x, %o : i32
  %3 = arith.ceildivui %x, %o : i32
  %4 = arith.floordivsi %x, %o : i32
  %5 = arith.remsi %x, %o : i32
  %6 = arith.remui %x, %o : i32
  %7 = arith.divsi %x, %m : i32
  %8 = arith.divsi %z, %x : i32
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : i32, i32, i32, i32, i32, i32, i32, i32, i32
}

// -----

func.func @quotient_of_products(%x: i32, %y: i32) -> (i32, i32) {
  %0 = arith.muli %x, %y overflow<nsw> : i32
  %1 = arith.muli %x, %y overflow<nuw> : i32
  %2 = arith.divsi %0, %y : i32
  %3 = arith.divui %1, %y : i32
  return %2, %3 : i32, i32
}

// -----

func.func @conjunctions(%x: i32) -> (i32, i32, i32) {
  %z = arith.constant 0 : i32
  %o = arith.constant -1 : i32
  %0 = arith.andi %x, %z : i32
  %1 = arith.andi %x, %o : i32
  %2 = arith.andi %x, %x : i32
  return %0, %1, %2 : i32, i32, i32
}

// -----

func.func @conjunction_with_the_opposite(%x: i32, %y: i32) -> (i32, i32, i32, i32) {
  %o = arith.constant -1 : i32
  %n = arith.xori %x, %o : i32
  %0 = arith.andi %x, %n : i32
  %1 = arith.andi %n, %x : i32
  %2 = arith.ori %x, %n : i32
  %3 = arith.xori %n, %o : i32
  return %0, %1, %2, %3 : i32, i32, i32, i32
}

// -----

func.func @nested_and_or(%x: i32, %y: i32) -> (i32, i32, i32, i32) {
  %a = arith.constant 12 : i32
  %b = arith.constant 10 : i32
  %0 = arith.andi %x, %a : i32
  %1 = arith.andi %0, %b : i32
  %2 = arith.ori %x, %a : i32
  %3 = arith.ori %2, %b : i32
  %4 = arith.xori %x, %a : i32
  %5 = arith.xori %4, %b : i32
  %6 = arith.andi %x, %y : i32
  %7 = arith.andi %6, %y : i32
  return %1, %3, %5, %7 : i32, i32, i32, i32
}

// -----

func.func @disjunctions(%x: i32) -> (i32, i32, i32, i32, i32) {
  %z = arith.constant 0 : i32
  %o = arith.constant -1 : i32
  %0 = arith.ori %x, %z : i32
  %1 = arith.ori %x, %o : i32
  %2 = arith.ori %x, %x : i32
  %3 = arith.xori %x, %z : i32
  %4 = arith.xori %x, %x : i32
  return %0, %1, %2, %3, %4 : i32, i32, i32, i32, i32
}

// -----

func.func @xor_of_xor(%x: i32, %y: i32) -> (i32, i32, i32, i32) {
  %0 = arith.xori %x, %y : i32
  %1 = arith.xori %0, %y : i32
  %2 = arith.xori %0, %x : i32
  %3 = arith.xori %x, %0 : i32
  %4 = arith.xori %y, %0 : i32
  return %1, %2, %3, %4 : i32, i32, i32, i32
}

// -----

func.func @shifts(%x: i32) -> (i32, i32, i32) {
  %z = arith.constant 0 : i32
  %0 = arith.shli %x, %z : i32
  %1 = arith.shrsi %x, %z : i32
  %2 = arith.shrui %x, %z : i32
  return %0, %1, %2 : i32, i32, i32
}

// -----

func.func @extremes(%x: i8) -> (i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8) {
  %lo = arith.constant -128 : i8
  %hi = arith.constant 127 : i8
  %0 = arith.maxsi %x, %x : i8
  %1 = arith.minsi %x, %x : i8
  %2 = arith.maxsi %x, %lo : i8
  %3 = arith.maxsi %x, %hi : i8
  %4 = arith.minsi %x, %lo : i8
  %5 = arith.minsi %x, %hi : i8
  %z = arith.constant 0 : i8
  %m = arith.constant -1 : i8
  %6 = arith.maxui %x, %z : i8
  %7 = arith.maxui %x, %m : i8
  %8 = arith.minui %x, %z : i8
  %9 = arith.minui %x, %m : i8
  %10 = arith.maxui %x, %x : i8
  %11 = arith.minui %x, %x : i8
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11 : i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8
}

// -----

func.func @bools(%x: i1, %y: i1) -> (i1, i1, i1, i1, i1) {
  %t = arith.constant true
  %f = arith.constant false
  %0 = arith.andi %x, %t : i1
  %1 = arith.ori %x, %f : i1
  %2 = arith.xori %x, %t : i1
  %3 = arith.xori %2, %t : i1
  %4 = arith.addi %x, %f : i1
  %5 = arith.muli %x, %t : i1
  return %0, %1, %3, %4, %5 : i1, i1, i1, i1, i1
}

// -----

func.func @not_of_comparison(%x: i32, %y: i32) -> (i1, i1) {
  %t = arith.constant true
  %0 = arith.cmpi slt, %x, %y : i32
  %1 = arith.xori %0, %t : i1
  %2 = arith.cmpi ult, %x, %y : i32
  %3 = arith.xori %2, %t : i1
  return %1, %3 : i1, i1
}

// -----

func.func @extended(%x: i32) -> (i32, i1, i32, i32, i32, i32, i32, i1) {
  %z = arith.constant 0 : i32
  %o = arith.constant 1 : i32
  %m = arith.constant -1 : i32
  %0:2 = arith.addui_extended %x, %z : i32, i1
  %1:2 = arith.mulsi_extended %x, %o : i32
  %2:2 = arith.mului_extended %x, %z : i32
  %3:2 = arith.addui_extended %m, %o : i32, i1
  return %0#0, %0#1, %1#0, %1#1, %2#0, %2#1, %3#0, %3#1 : i32, i1, i32, i32, i32, i32, i32, i1
}

// -----

func.func @extended_constants() -> (i32, i32, i32, i32) {
  %a = arith.constant -5 : i32
  %b = arith.constant 7 : i32
  %0:2 = arith.mulsi_extended %a, %b : i32
  %1:2 = arith.mului_extended %a, %b : i32
  return %0#0, %0#1, %1#0, %1#1 : i32, i32, i32, i32
}

// -----

func.func @extended_low_half(%x: i32, %y: i32) -> (i32, i32) {
  %0:2 = arith.mulsi_extended %x, %y : i32
  %1:2 = arith.mului_extended %x, %y : i32
  return %0#0, %1#0 : i32, i32
}

// -----

func.func @tensors_of_constants() -> (tensor<4xi32>, tensor<2xi32>, vector<4xi32>) {
  %a = arith.constant dense<3> : tensor<4xi32>
  %b = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %0 = arith.addi %a, %b : tensor<4xi32>
  %c = arith.constant dense<5> : tensor<2xi32>
  %1 = arith.muli %c, %c : tensor<2xi32>
  %v = arith.constant dense<[1, -1, 2, -2]> : vector<4xi32>
  %2 = arith.subi %v, %v : vector<4xi32>
  return %0, %1, %2 : tensor<4xi32>, tensor<2xi32>, vector<4xi32>
}

// -----

func.func @positions(%x: index) -> (index, index, index, index) {
  %a = arith.constant 6 : index
  %b = arith.constant 4 : index
  %0 = arith.addi %a, %b : index
  %1 = arith.addi %x, %a : index
  %2 = arith.addi %1, %b : index
  %3 = arith.floordivsi %a, %b : index
  %4 = arith.ceildivsi %a, %b : index
  return %0, %2, %3, %4 : index, index, index, index
}

// -----

func.func @unused(%x: i32) {
  %a = arith.constant 3 : i32
  %0 = arith.addi %x, %a : i32
  %1 = arith.muli %0, %0 : i32
  return
}

// -----

func.func @two_uses_of_a_constant(%x: i32) -> (i32, i32, i32) {
  %a = arith.constant 3 : i32
  %0 = arith.muli %x, %a : i32
  %b = arith.constant 3 : i32
  %1 = arith.muli %0, %x : i32
  %2 = arith.shli %1, %b : i32
  %c = arith.constant 2 : i32
  %d = arith.constant 1 : i32
  %3 = arith.addi %c, %d : i32
  return %0, %2, %3 : i32, i32, i32
}

// -----

func.func @new_constants_in_order(%x: i32) -> (i32, i32, i32, i32) {
  %c5 = arith.constant 5 : i32
  %c6 = arith.constant 6 : i32
  %0 = arith.muli %c5, %c6 : i32
  %1 = arith.addi %x, %0 : i32
  %2 = arith.muli %c6, %c6 : i32
  %3 = arith.subi %c5, %c6 : i32
  %4 = arith.divsi %x, %c5 : i32
  return %1, %2, %3, %4 : i32, i32, i32, i32
}

// -----

func.func @flags(%x: i32, %y: i32) -> (i32, i32) {
  %a = arith.constant 3 : i32
  %b = arith.constant 10 : i32
  %0 = arith.addi %x, %a overflow<nsw> : i32
  %1 = arith.addi %0, %b overflow<nsw, nuw> : i32
  %2 = arith.subi %x, %a overflow<nuw> : i32
  %3 = arith.subi %2, %b overflow<nuw> : i32
  return %1, %3 : i32, i32
}
// -----
func.func @comparison_with_itself_keeps_nothing(%a: i32, %m: f32, %n: f32) -> f32 {
  %c = arith.constant 243 : i32
  %0 = arith.andi %a, %c : i32
  %1 = arith.cmpi slt, %0, %0 : i32
  %2 = arith.select %1, %m, %n : f32
  return %2 : f32
}
