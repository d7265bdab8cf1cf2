// Numbers that are not numbers, conversions in a row, and which constant stands for a result.
func.func @integers_as_narrow_floats(%x: i32, %v: vector<2xi8>) -> (f16, bf16, vector<2xf16>, f16) {
  %0 = arith.sitofp %x : i32 to f32
  %1 = arith.truncf %0 : f32 to f16
  %2 = arith.uitofp %x : i32 to f64
  %3 = arith.truncf %2 : f64 to bf16
  %4 = arith.uitofp %v : vector<2xi8> to vector<2xf32>
  %5 = arith.truncf %4 : vector<2xf32> to vector<2xf16>
  %6 = arith.truncf %2 to_nearest_even : f64 to f16
  return %1, %3, %5, %6 : f16, bf16, vector<2xf16>, f16
}
// -----
func.func @the_other_of_nan(%x: f32, %t: tensor<2xf32>) -> (f32, f32, f32, tensor<2xf32>) {
  %nan = arith.constant 0x7FC00000 : f32
  %nans = arith.constant dense<0x7FC00000> : tensor<2xf32>
  %a = arith.minnumf %nan, %x : f32
  %b = arith.maxnumf %x, %nan : f32
  %c = arith.maximumf %x, %nan : f32
  %d = arith.minnumf %t, %nans : tensor<2xf32>
  return %a, %b, %c, %d : f32, f32, f32, tensor<2xf32>
}
// -----
func.func @compared_with_nan(%x: f32, %t: tensor<2xf32>) -> (i1, i1, i1, i1, tensor<2xi1>) {
  %nan = arith.constant 0x7FC00000 : f32
  %nans = arith.constant dense<0x7FC00000> : tensor<2xf32>
  %a = arith.cmpf ule, %x, %nan : f32
  %b = arith.cmpf one, %nan, %x : f32
  %c = arith.cmpf true, %nan, %x : f32
  %d = arith.cmpf false, %x, %nan : f32
  %e = arith.cmpf uno, %t, %nans : tensor<2xf32>
  return %a, %b, %c, %d, %e : i1, i1, i1, i1, tensor<2xi1>
}
// -----
func.func @nothing_times_what_is_finite(%x: f32, %t: tensor<2xf32>) -> (f32, f32, f32, tensor<2xf32>) {
  %zero = arith.constant 0.0 : f32
  %m = arith.constant -0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<2xf32>
  %a = arith.mulf %x, %zero fastmath<nnan,nsz> : f32
  %b = arith.mulf %m, %x fastmath<fast> : f32
  %c = arith.mulf %x, %zero fastmath<nnan> : f32
  %d = arith.mulf %zeros, %t fastmath<fast> : tensor<2xf32>
  return %a, %b, %c, %d : f32, f32, f32, tensor<2xf32>
}
// -----
func.func @nan_made_narrow() -> (f16, bf16, f32) {
  %nan = arith.constant 0x7FC00000 : f32
  %big = arith.constant 0x7FF8000000000000 : f64
  %a = arith.truncf %nan : f32 to f16
  %b = arith.truncf %nan : f32 to bf16
  %c = arith.truncf %big : f64 to f32
  return %a, %b, %c : f16, bf16, f32
}
// -----
func.func @bits_as_nan() -> (f16, f32) {
  %m = arith.constant -1 : i16
  %n = arith.constant -1 : i32
  %a = arith.bitcast %m : i16 to f16
  %b = arith.bitcast %n : i32 to f32
  return %a, %b : f16, f32
}
// -----
func.func @zeros_of_either_sign() -> (f32, f32, f32, f32) {
  %z = arith.constant 0.0 : f32
  %m = arith.constant -0.0 : f32
  %a = arith.minnumf %z, %m : f32
  %b = arith.minnumf %m, %z : f32
  %c = arith.maxnumf %z, %m : f32
  %d = arith.maxnumf %m, %z : f32
  return %a, %b, %c, %d : f32, f32, f32, f32
}
// -----
func.func @which_constant(%x: i32) -> (i32, i8, i8, f32, index, i32) {
  %k = arith.constant 7 : i32
  %n = arith.constant 3 : i8
  %last = arith.constant 127 : i8
  %m = arith.constant -0.0 : f32
  %q = arith.constant 2.0 : f32
  %two = arith.constant 2 : index
  %a = arith.andi %k, %k : i32
  %b = arith.ori %n, %n : i8
  %c = arith.minsi %n, %last : i8
  %d = arith.addf %q, %m : f32
  %i = index.or %two, %two
  %e = arith.andi %i, %i : index
  %f = arith.addi %x, %k : i32
  return %a, %b, %c, %d, %e, %f : i32, i8, i8, f32, index, i32
}
