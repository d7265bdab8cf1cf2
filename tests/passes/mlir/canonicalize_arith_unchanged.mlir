// What stays as it is: rules for numbers that do not hold of vectors, of bools, or of positions of 32 bits.
func.func @numbers_chosen_for_vectors(%c: i1, %d: tensor<3xi1>) -> (vector<3xi16>, tensor<3xi1>, tensor<3xi1>, i16, i16, i1) {
  %one = arith.constant dense<1> : vector<3xi16>
  %zero = arith.constant dense<0> : vector<3xi16>
  %yes = arith.constant dense<true> : tensor<3xi1>
  %no = arith.constant dense<false> : tensor<3xi1>
  %k1 = arith.constant 1 : i16
  %k0 = arith.constant 0 : i16
  %true = arith.constant true
  %false = arith.constant false
  %a = arith.select %c, %one, %zero : vector<3xi16>
  %b = arith.select %d, %yes, %no : tensor<3xi1>, tensor<3xi1>
  %e = arith.select %c, %no, %yes : tensor<3xi1>
  %f = arith.select %c, %k1, %k0 : i16
  %g = arith.select %c, %k0, %k1 : i16
  %h = arith.select %c, %false, %true : i1
  return %a, %b, %e, %f, %g, %h : vector<3xi16>, tensor<3xi1>, tensor<3xi1>, i16, i16, i1
}
// -----
func.func @products_with_true(%x: i1, %y: i16) -> (i1, i1, i1, i1, i16, i16) {
  %true = arith.constant true
  %one = arith.constant 1 : i16
  %a:2 = arith.mulsi_extended %x, %true : i1
  %b:2 = arith.mului_extended %x, %true : i1
  %c:2 = arith.mulsi_extended %y, %one : i16
  return %a#0, %a#1, %b#0, %b#1, %c#0, %c#1 : i1, i1, i1, i1, i16, i16
}
// -----
func.func @constants_of_tensors(%x: tensor<2xi32>, %v: vector<2xi32>, %n: i32) -> (tensor<2xi32>, tensor<2xi32>, vector<2xi32>, i32) {
  %a = arith.constant dense<-4> : tensor<2xi32>
  %b = arith.constant dense<[1, 6]> : tensor<2xi32>
  %c = arith.constant dense<3> : vector<2xi32>
  %k = arith.constant 5 : i32
  %0 = arith.addi %x, %a : tensor<2xi32>
  %1 = arith.addi %0, %b : tensor<2xi32>
  %2 = arith.muli %x, %a : tensor<2xi32>
  %3 = arith.muli %2, %a : tensor<2xi32>
  %4 = arith.subi %c, %v : vector<2xi32>
  %5 = arith.addi %4, %c : vector<2xi32>
  %6 = arith.addi %n, %k : i32
  %7 = arith.subi %k, %6 : i32
  return %1, %3, %5, %7 : tensor<2xi32>, tensor<2xi32>, vector<2xi32>, i32
}
// -----
func.func @positions_beyond_32_bits() -> (index, index, index, index, index, index, i1, i1, index) {
  %m = arith.constant -1 : index
  %n = arith.constant 4294967296 : index
  %two = arith.constant 2 : index
  %far = arith.constant 40 : index
  %a = index.divu %m, %two
  %b = index.remu %m, %two
  %c = index.maxs %n, %two
  %d = index.shru %m, %two
  %e = index.shl %two, %far
  %f = index.mul %n, %two
  %g = index.cmp ult(%n, %two)
  %h = index.cmp slt(%m, %two)
  %i = index.divs %m, %two
  return %a, %b, %c, %d, %e, %f, %g, %h, %i : index, index, index, index, index, index, i1, i1, index
}
// -----
func.func @powers_of_zero() -> (i8, i8, i1, i1) {
  %zero = arith.constant 0 : i8
  %m = arith.constant -3 : i8
  %p = arith.constant 3 : i8
  %true = arith.constant true
  %false = arith.constant false
  %a = math.ipowi %zero, %m : i8
  %b = math.ipowi %zero, %p : i8
  %c = math.ipowi %false, %true : i1
  %d = math.ipowi %true, %true : i1
  return %a, %b, %c, %d : i8, i8, i1, i1
}
// -----
func.func @functions_below_where_they_begin() -> (f32, f64, f32, f64, f32, f32) {
  %m = arith.constant -2.0 : f32
  %z = arith.constant -0.0 : f64
  %one = arith.constant -1.0 : f32
  %a = math.sqrt %m : f32
  %b = math.log %z : f64
  %c = math.log10 %m : f32
  %d = math.log2 %z : f64
  %e = math.log1p %m : f32
  %f = math.log1p %one : f32
  return %a, %b, %c, %d, %e, %f : f32, f64, f32, f64, f32, f32
}
// -----
func.func @numbers_beyond_single_precision() -> (f32, f32, f32, f32) {
  %x = arith.constant 200.0 : f32
  %a = math.exp %x : f32
  %b = math.sinh %x : f32
  %c = math.cosh %x : f32
  %d = math.expm1 %x : f32
  return %a, %b, %c, %d : f32, f32, f32, f32
}
// -----
func.func @kinds_of_numbers_of_vectors() -> (vector<2xi1>, i1, tensor<2xi1>, tensor<2xi1>, vector<2xi1>) {
  %v = arith.constant dense<2.0> : vector<2xf32>
  %tiny = arith.constant 1.0e-40 : f32
  %t = arith.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %s = arith.constant dense<0x7F800000> : tensor<2xf32>
  %a = math.isnormal %v : vector<2xf32>
  %b = math.isnormal %tiny : f32
  %c = math.isfinite %t : tensor<2xf32>
  %d = math.isinf %s : tensor<2xf32>
  %e = arith.cmpf olt, %v, %v : vector<2xf32>
  return %a, %b, %c, %d, %e : vector<2xi1>, i1, tensor<2xi1>, tensor<2xi1>, vector<2xi1>
}
// -----
func.func @sizes_that_are_not_known(%x: tensor<?xi8>) -> (tensor<?xi1>, tensor<?xi8>) {
  %a = arith.cmpi ult, %x, %x : tensor<?xi8>
  %b = arith.xori %x, %x : tensor<?xi8>
  return %a, %b : tensor<?xi1>, tensor<?xi8>
}
// -----
func.func @quotients_of_the_least() -> (i8, i8) {
  %a = arith.constant 3 : i8
  %least = arith.constant -128 : i8
  %0 = arith.ceildivsi %a, %least : i8
  %1 = arith.ceildivsi %least, %a : i8
  return %0, %1 : i8, i8
}
// -----
func.func @distances_beyond_the_width() -> tensor<2xi8> {
  %a = arith.constant dense<[5, 6]> : tensor<2xi8>
  %b = arith.constant dense<[9, 1]> : tensor<2xi8>
  %0 = arith.shli %a, %b : tensor<2xi8>
  return %0 : tensor<2xi8>
}
// -----
func.func @angle_of_nothing() -> f32 {
  %z = arith.constant 0.0 : f32
  %0 = math.atan2 %z, %z : f32
  return %0 : f32
}
