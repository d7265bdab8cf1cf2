// wrong: the type of a constant is that of its value
%0 = "arith.constant"() <{value = 1 : i32}> : () -> i64
// -----
// right
%0 = "arith.constant"() <{value = 1 : i32}> : () -> i32
// -----
// wrong: an integer constant is signless
%0 = "arith.constant"() <{value = 1 : si32}> : () -> si32
// -----
// wrong: a constant of scalable vectors is a splat
%0 = arith.constant dense<[1, 2]> : vector<[2]xi32>
// -----
// right
%0 = arith.constant dense<1> : vector<[2]xi32>
// -----
// wrong: a constant is a number or elements
%0 = "arith.constant"() <{value = "a"}> : () -> i32
// -----
// wrong: an extension to as many bits
func.func @f(%a: i32) {
  %0 = arith.extsi %a : i32 to i32
  return
}
// -----
// wrong: an extension to fewer bits
func.func @f(%a: f32) {
  %0 = arith.extf %a : f32 to f16
  return
}
// -----
// wrong: a truncation to more bits
func.func @f(%a: i8) {
  %0 = arith.trunci %a : i8 to i16
  return
}
// -----
// right
func.func @f(%a: i16) {
  %0 = arith.trunci %a : i16 to i8
  return
}
// -----
// wrong: a bitcast to another width
func.func @f(%a: i32) {
  %0 = arith.bitcast %a : i32 to f64
  return
}
// -----
// right
func.func @f(%a: i32) {
  %0 = arith.bitcast %a : i32 to f32
  return
}
// -----
// wrong: a cast between integers
func.func @f(%a: i32) {
  %0 = arith.index_cast %a : i32 to i64
  return
}
// -----
// wrong: a cast of vectors of other shapes
func.func @f(%a: vector<4xi32>) {
  %0 = arith.sitofp %a : vector<4xi32> to vector<5xf32>
  return
}
// -----
// wrong: a cast of a tensor to a vector
func.func @f(%a: tensor<4xi32>) {
  %0 = "arith.sitofp"(%a) : (tensor<4xi32>) -> vector<4xf32>
  return
}
// -----
// wrong: a predicate that does not exist
func.func @f(%a: i32) {
  %0 = "arith.cmpi"(%a, %a) <{predicate = 10 : i64}> : (i32, i32) -> i1
  return
}
// -----
// wrong: a comparison gives bools of its shape
func.func @f(%a: vector<4xi32>) {
  %0 = "arith.cmpi"(%a, %a) <{predicate = 0 : i64}> : (vector<4xi32>, vector<4xi32>) -> i1
  return
}
// -----
// wrong: a condition of another shape
func.func @f(%c: vector<3xi1>, %a: vector<4xi32>) {
  %0 = "arith.select"(%c, %a, %a) : (vector<3xi1>, vector<4xi32>, vector<4xi32>) -> vector<4xi32>
  return
}
// -----
// right
func.func @f(%c: i1, %a: vector<4xi32>) {
  %0 = arith.select %c, %a, %a : vector<4xi32>
  return
}
// -----
// wrong: a sum of floats by the operation of integers
func.func @f(%a: f32) {
  %0 = arith.addi %a, %a : f32
  return
}
// -----
// wrong: operands of two types
func.func @f(%a: i32, %b: i64) {
  %0 = "arith.addi"(%a, %b) : (i32, i64) -> i32
  return
}
// -----
// wrong: a sum with overflow has a bool of its shape
func.func @f(%a: vector<4xi32>) {
  %0, %1 = "arith.addui_extended"(%a, %a) : (vector<4xi32>, vector<4xi32>) -> (vector<4xi32>, i1)
  return
}
// -----
// wrong: an index cannot be negated as a float
func.func @f(%a: index) {
  %0 = arith.negf %a : index
  return
}
// -----
// wrong: a fast math flag that does not exist
func.func @f(%a: f32) {
  %0 = arith.addf %a, %a fastmath<quick> : f32
  return
}
// -----
// right
func.func @f(%a: f32) {
  %0 = arith.addf %a, %a fastmath<nnan,ninf> : f32
  return
}
// -----
// wrong: a rounding mode that does not exist
func.func @f(%a: f64) {
  %0 = arith.truncf %a nearest : f64 to f32
  return
}
// -----
// wrong: the scale of a scaled extension
func.func @f(%a: vector<4xf8E5M2>, %b: vector<2xf8E8M0FNU>) {
  %0 = arith.scaling_extf %a, %b : vector<4xf8E5M2>, vector<2xf8E8M0FNU> to vector<4xf32>
  return
}
// -----
// wrong: an operation with a missing operand
func.func @f(%a: i32) {
  %0 = "arith.addi"(%a) : (i32) -> i32
  return
}
// -----
// wrong: an operation with a region
func.func @f(%a: i32) {
  %0 = "arith.addi"(%a, %a) ({}) : (i32, i32) -> i32
  return
}
// -----
// wrong: an operation with successors
func.func @f(%a: i32) {
  %0 = "arith.addi"(%a, %a) [^b] : (i32, i32) -> i32
^b:
  return
}
// -----
// wrong: a literal with fewer levels than its type
%0 = arith.constant dense<[1, 2]> : tensor<2x2xi32>
// -----
// wrong: a literal of numbers with fewer levels than its vector
%0 = arith.constant dense<[1.0, 2.0]> : vector<2x2xf32>
// -----
// wrong: an empty literal with fewer levels than its type
%0 = arith.constant dense<[]> : tensor<0x2xi32>
// -----
// right
%0 = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
// -----
// wrong: a cast that makes a dimension scalable
func.func @f(%a: vector<4xi32>) {
  %0 = arith.sitofp %a : vector<4xi32> to vector<[4]xf32>
  return
}
