// wrong: an integer power of a float by a float
func.func @f(%a: f32, %b: f32) {
  %0 = math.fpowi %a, %b : f32, f32
  return
}
// -----
// right
func.func @f(%a: f32, %b: i32) {
  %0 = math.fpowi %a, %b : f32, i32
  return
}
// -----
// wrong: a square root of an integer
func.func @f(%a: i32) {
  %0 = math.sqrt %a : i32
  return
}
// -----
// wrong: the power's operands have one shape
func.func @f(%a: vector<4xf32>, %b: vector<2xi32>) {
  %0 = "math.fpowi"(%a, %b) : (vector<4xf32>, vector<2xi32>) -> vector<4xf32>
  return
}
// -----
// wrong: a fused multiply-add of two types
func.func @f(%a: f32, %b: f64) {
  %0 = "math.fma"(%a, %a, %b) : (f32, f32, f64) -> f32
  return
}
// -----
// wrong: a class test gives bools
func.func @f(%a: f32) {
  %0 = "math.isnan"(%a) : (f32) -> i32
  return
}
// -----
// wrong: a class test gives bools of its shape
func.func @f(%a: vector<4xf32>) {
  %0 = "math.isfinite"(%a) : (vector<4xf32>) -> vector<3xi1>
  return
}
// -----
// wrong: sine and cosine have the type of their operand
func.func @f(%a: f32) {
  %0, %1 = "math.sincos"(%a) : (f32) -> (f32, f64)
  return
}
// -----
// wrong: a complex constant has two parts
%0 = "complex.constant"() <{value = [1.0 : f32]}> : () -> complex<f32>
// -----
// wrong: the parts of a complex constant have its element type
%0 = complex.constant [1.0 : f64, 2.0 : f64] : complex<f32>
// -----
// right
%0 = complex.constant [1.0 : f32, 2.0 : f32] : complex<f32>
// -----
// wrong: a complex number is made of its element type
func.func @f(%a: f32) {
  %0 = "complex.create"(%a, %a) : (f32, f32) -> complex<f64>
  return
}
// -----
// wrong: the real part has the element type
func.func @f(%a: complex<f32>) {
  %0 = "complex.re"(%a) : (complex<f32>) -> f64
  return
}
// -----
// wrong: a bitcast of a complex number to another width
func.func @f(%a: complex<f32>) {
  %0 = complex.bitcast %a : complex<f32> to i32
  return
}
// -----
// right
func.func @f(%a: complex<f32>) {
  %0 = complex.bitcast %a : complex<f32> to i64
  return
}
// -----
// wrong: a sum of complex numbers and reals
func.func @f(%a: complex<f32>, %b: f32) {
  %0 = "complex.add"(%a, %b) : (complex<f32>, f32) -> complex<f32>
  return
}
// -----
// wrong: a sum of two integers by index
func.func @f(%a: i32) {
  %0 = "index.add"(%a, %a) : (i32, i32) -> i32
  return
}
// -----
// wrong: a comparison without predicate
func.func @f(%a: index) {
  %0 = "index.cmp"(%a, %a) : (index, index) -> i1
  return
}
// -----
// wrong: a constant of index has an index value
%0 = "index.constant"() <{value = 1 : i32}> : () -> index
// -----
// right
%0 = index.constant 1
// -----
// wrong: a cast of index to itself
func.func @f(%a: index) {
  %0 = index.casts %a : index to index
  return
}
// -----
// wrong: a bool constant is a bool
%0 = "index.bool.constant"() <{value = 1 : i32}> : () -> i1
// -----
// wrong: the size of an index is an index
%0 = "index.sizeof"() : () -> i64
// -----
// wrong: poison has a value attribute of a dialect
%0 = "ub.poison"() <{value = 1 : i32}> : () -> i32
// -----
// right
%0 = ub.poison : i32
// -----
// wrong: unreachable ends its block
func.func @f() {
  ub.unreachable
  return
}
