// Positions, functions of numbers, complex numbers.

func.func @positions_of_constants() -> (index, index, index, index, index, index, index, index, index, i1) {
  %a = index.constant 17
  %b = index.constant 5
  %0 = index.add %a, %b
  %1 = index.sub %b, %a
  %2 = index.mul %a, %b
  %3 = index.divs %a, %b
  %4 = index.ceildivs %a, %b
  %5 = index.floordivs %1, %b
  %6 = index.rems %1, %b
  %7 = index.maxs %a, %1
  %8 = index.shl %a, %b
  %9 = index.cmp slt(%a, %b)
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : index, index, index, index, index, index, index, index, index, i1
}

// -----

func.func @unsigned_positions() -> (index, index, index, index, index, index, index) {
  %a = index.constant 17
  %b = index.constant 5
  %0 = index.divu %a, %b
  %1 = index.remu %a, %b
  %2 = index.maxu %a, %b
  %3 = index.and %a, %b
  %4 = index.or %a, %b
  %5 = index.xor %a, %b
  %6 = index.ceildivu %a, %b
  return %0, %1, %2, %3, %4, %5, %6 : index, index, index, index, index, index, index
}

// -----

func.func @position_by_zero() -> (index, index) {
  %a = index.constant 17
  %z = index.constant 0
  %0 = index.divs %a, %z
  %1 = index.remu %a, %z
  return %0, %1 : index, index
}

// -----

func.func @position_identities(%x: index) -> (index, index, index, index, index, index) {
  %z = index.constant 0
  %o = index.constant 1
  %0 = index.add %x, %z
  %1 = index.sub %x, %z
  %2 = index.mul %x, %o
  %3 = index.mul %x, %z
  %4 = index.divs %x, %o
  %5 = index.sub %x, %x
  return %0, %1, %2, %3, %4, %5 : index, index, index, index, index, index
}

// -----

func.func @position_extremes(%x: index) -> (index, index, index) {
  %0 = index.maxs %x, %x
  %1 = index.and %x, %x
  %2 = index.or %x, %x
  return %0, %1, %2 : index, index, index
}

// -----

func.func @position_chains(%x: index) -> (index, index, index, index) {
  %a = index.constant 3
  %b = index.constant 4
  %0 = index.add %x, %a
  %1 = index.add %0, %b
  %2 = index.mul %x, %a
  %3 = index.mul %2, %b
  %4 = index.maxs %x, %a
  %5 = index.maxs %4, %b
  %6 = index.and %x, %a
  %7 = index.and %6, %b
  return %1, %3, %5, %7 : index, index, index, index
}

// -----

func.func @position_constant_left(%x: index) -> (index, i1) {
  %a = index.constant 3
  %0 = index.add %a, %x
  %1 = index.cmp slt(%a, %x)
  return %0, %1 : index, i1
}

// -----

func.func @position_comparisons(%x: index, %y: index) -> (i1, i1, i1) {
  %0 = index.cmp eq(%x, %x)
  %1 = index.cmp ult(%x, %x)
  %z = index.constant 0
  %2 = index.sub %x, %y
  %3 = index.cmp eq(%2, %z)
  return %0, %1, %3 : i1, i1, i1
}

// -----

func.func @position_casts(%x: index, %y: i64) -> (i32, index, index, i64) {
  %a = index.constant 12
  %0 = index.casts %a : index to i32
  %c = arith.constant -3 : i32
  %1 = index.casts %c : i32 to index
  %2 = index.casts %x : index to i64
  %3 = index.casts %2 : i64 to index
  %4 = index.castu %y : i64 to index
  %5 = index.castu %4 : index to i64
  return %0, %1, %3, %5 : i32, index, index, i64
}

// -----

func.func @bool_constants() -> (i1, i1) {
  %t = index.bool.constant true
  %u = index.bool.constant true
  return %t, %u : i1, i1
}

// -----

func.func @size_of() -> index {
  %0 = index.sizeof
  return %0 : index
}

// -----

func.func @functions_of_constants() -> (f32, f32, f32, f32, f32, f32, f32, f32) {
  %a = arith.constant 2.0 : f32
  %b = arith.constant -0.7 : f32
  %0 = math.sqrt %a : f32
  %1 = math.absf %b : f32
  %2 = math.ceil %b : f32
  %3 = math.floor %b : f32
  %4 = math.powf %a, %a : f32
  %5 = math.log2 %a : f32
  %6 = math.trunc %b : f32
  %7 = math.round %b : f32
  return %0, %1, %2, %3, %4, %5, %6, %7 : f32, f32, f32, f32, f32, f32, f32, f32
}

// -----

func.func @more_functions_of_constants() -> (f32, f32, f32, f32, f32, f32, f32, f32) {
  %a = arith.constant 0.5 : f32
  %0 = math.exp %a : f32
  %1 = math.log %a : f32
  %2 = math.sin %a : f32
  %3 = math.cos %a : f32
  %4 = math.tanh %a : f32
  %5 = math.erf %a : f32
  %6 = math.exp2 %a : f32
  %7 = math.log10 %a : f32
  return %0, %1, %2, %3, %4, %5, %6, %7 : f32, f32, f32, f32, f32, f32, f32, f32
}

// -----

func.func @functions_in_half() -> (f16, f16, bf16) {
  %a = arith.constant 0.5 : f16
  %0 = math.sqrt %a : f16
  %1 = math.absf %a : f16
  %b = arith.constant 0.5 : bf16
  %2 = math.exp %b : bf16
  return %0, %1, %2 : f16, f16, bf16
}

// -----

func.func @functions_in_double() -> (f64, f64, f64, f64) {
  %a = arith.constant 0.75 : f64
  %0 = math.sqrt %a : f64
  %1 = math.atan %a : f64
  %2 = math.expm1 %a : f64
  %3 = math.log1p %a : f64
  return %0, %1, %2, %3 : f64, f64, f64, f64
}

// -----

func.func @inverse_hyperbolic_functions() -> (f32, f32) {
  %a = arith.constant 0.5 : f32
  %b = arith.constant 1.5 : f32
  %0 = math.acosh %b : f32
  %1 = math.asinh %a : f32
  return %0, %1 : f32, f32
}

// -----

func.func @more_functions_of_angles() -> (f32, f32, f32, f32, f32, f32, f32) {
  %a = arith.constant 0.5 : f32
  %b = arith.constant 1.5 : f32
  %0 = math.acos %a : f32
  %2 = math.asin %a : f32
  %4 = math.atanh %a : f32
  %5 = math.atan2 %a, %b : f32
  %6 = math.cosh %a : f32
  %7 = math.sinh %a : f32
  %8 = math.tan %a : f32
  return %0, %2, %4, %5, %6, %7, %8 : f32, f32, f32, f32, f32, f32, f32
}

// -----

func.func @rest_of_math() -> (f32, f32, f32, f32, f32, f32, i1, i1) {
  %a = arith.constant 0.5 : f32
  %b = arith.constant -1.5 : f32
  %0 = math.cbrt %a : f32
  %1 = math.copysign %a, %b : f32
  %2 = math.fma %a, %a, %b : f32
  %3 = math.rsqrt %a : f32
  %4 = math.roundeven %b : f32
  %5 = math.erfc %a : f32
  %6 = math.isnan %a : f32
  %7 = math.isfinite %a : f32
  return %0, %1, %2, %3, %4, %5, %6, %7 : f32, f32, f32, f32, f32, f32, i1, i1
}

// -----

func.func @functions_of_integers() -> (i32, i32, i32, i32, i32) {
  %a = arith.constant -12 : i32
  %b = arith.constant 3 : i32
  %0 = math.absi %a : i32
  %1 = math.ctlz %b : i32
  %2 = math.cttz %a : i32
  %3 = math.ctpop %b : i32
  %4 = math.ipowi %a, %b : i32
  return %0, %1, %2, %3, %4 : i32, i32, i32, i32, i32
}

// -----

func.func @functions_of_tensors() -> (tensor<3xf32>, tensor<2xf64>) {
  %a = arith.constant dense<[1.0, 4.0, 9.0]> : tensor<3xf32>
  %0 = math.sqrt %a : tensor<3xf32>
  %b = arith.constant dense<-2.5> : tensor<2xf64>
  %1 = math.absf %b : tensor<2xf64>
  return %0, %1 : tensor<3xf32>, tensor<2xf64>
}

// -----

func.func @powers_of_tensors(%x: f32) -> (f32, f32) {
  %a = arith.constant 1.0 : f32
  %b = arith.constant 2.0 : f32
  %0 = math.powf %x, %a : f32
  %1 = math.powf %x, %b : f32
  return %0, %1 : f32, f32
}

// -----

func.func @repeated_functions(%x: f32) -> (f32, f32, f32) {
  %0 = math.absf %x : f32
  %1 = math.absf %0 : f32
  %2 = math.floor %x : f32
  %3 = math.floor %2 : f32
  %4 = math.ceil %x : f32
  %5 = math.ceil %4 : f32
  return %1, %3, %5 : f32, f32, f32
}

// -----

func.func @complex_parts(%a: f32, %b: f32) -> (f32, f32) {
  %0 = complex.create %a, %b : complex<f32>
  %1 = complex.re %0 : complex<f32>
  %2 = complex.im %0 : complex<f32>
  return %1, %2 : f32, f32
}

// -----

func.func @complex_constants() -> (f32, f32) {
  %0 = complex.constant [1.5 : f32, -2.5 : f32] : complex<f32>
  %1 = complex.re %0 : complex<f32>
  %2 = complex.im %0 : complex<f32>
  return %1, %2 : f32, f32
}

// -----

func.func @complex_identities(%x: complex<f32>, %y: complex<f32>) -> (complex<f32>, complex<f32>, complex<f32>, complex<f32>, complex<f32>) {
  %0 = complex.neg %x : complex<f32>
  %1 = complex.neg %0 : complex<f32>
  %2 = complex.conj %x : complex<f32>
  %3 = complex.conj %2 : complex<f32>
  %4 = complex.sub %x, %y : complex<f32>
  %5 = complex.add %4, %y : complex<f32>
  %6 = complex.add %x, %y : complex<f32>
  %7 = complex.sub %6, %y : complex<f32>
  %8 = complex.exp %x : complex<f32>
  %9 = complex.log %8 : complex<f32>
  return %1, %3, %5, %7, %9 : complex<f32>, complex<f32>, complex<f32>, complex<f32>, complex<f32>
}

// -----

func.func @complex_by_constants(%x: complex<f32>) -> (complex<f32>, complex<f32>, complex<f32>, complex<f32>) {
  %z = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  %o = complex.constant [1.0 : f32, 0.0 : f32] : complex<f32>
  %0 = complex.add %x, %z : complex<f32>
  %1 = complex.mul %x, %o : complex<f32>
  %2 = complex.div %x, %o : complex<f32>
  %3 = complex.sub %x, %z : complex<f32>
  return %0, %1, %2, %3 : complex<f32>, complex<f32>, complex<f32>, complex<f32>
}

// -----

func.func @complex_of_its_parts(%x: complex<f32>) -> (complex<f32>, f32, f32) {
  %r = complex.re %x : complex<f32>
  %i = complex.im %x : complex<f32>
  %0 = complex.create %r, %i : complex<f32>
  %n = complex.neg %x : complex<f32>
  %1 = complex.re %n : complex<f32>
  %2 = complex.im %n : complex<f32>
  return %0, %1, %2 : complex<f32>, f32, f32
}

// -----

func.func @complex_arithmetic_of_constants() -> (complex<f32>, complex<f32>) {
  %a = complex.constant [1.0 : f32, 2.0 : f32] : complex<f32>
  %b = complex.constant [3.0 : f32, -1.0 : f32] : complex<f32>
  %0 = complex.add %a, %b : complex<f32>
  %1 = complex.mul %a, %b : complex<f32>
  return %0, %1 : complex<f32>, complex<f32>
}

// -----

func.func @classes_of_functions_in_half() -> (f16, f16, f16, f16, f16, f16, i1) {
  %a = arith.constant 0.5 : f16
  %0 = math.ceil %a : f16
  %1 = math.floor %a : f16
  %2 = math.trunc %a : f16
  %3 = math.round %a : f16
  %4 = math.roundeven %a : f16
  %5 = math.copysign %a, %a : f16
  %6 = math.isnan %a : f16
  return %0, %1, %2, %3, %4, %5, %6 : f16, f16, f16, f16, f16, f16, i1
}

// -----

func.func @rest_of_functions() -> (f32, f32, f32, i1, i1, f32, f32) {
  %a = arith.constant 0.5 : f32
  %i = arith.constant 3 : i32
  %0 = math.fpowi %a, %i : f32, i32
  %1, %2 = math.sincos %a : f32
  %3 = math.isinf %a : f32
  %4 = math.isnormal %a : f32
  %5 = math.clampf %a to [%a, %a] : f32
  %6 = math.exp %a fastmath<fast> : f32
  return %0, %1, %2, %3, %4, %5, %6 : f32, f32, f32, i1, i1, f32, f32
}
