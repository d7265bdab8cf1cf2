// arith.constant
func.func @main() -> (i32, tensor<2xf32>) {
  %number = arith.constant 3 : i32
  %tensor = arith.constant dense<[1.0, 2.5]> : tensor<2xf32>
  return %number, %tensor : i32, tensor<2xf32>
}
// -----
// arith.cmpf
func.func @main(%lhs: tensor<4xf32>, %rhs: tensor<4xf32>) -> tensor<4xi1> {
  %result = arith.cmpf olt, %lhs, %rhs : tensor<4xf32>
  return %result : tensor<4xi1>
}
// -----
// arith.cmpi
func.func @main(%lhs: tensor<4xi32>, %rhs: tensor<4xi32>) -> tensor<4xi1> {
  %result = arith.cmpi slt, %lhs, %rhs : tensor<4xi32>
  return %result : tensor<4xi1>
}
// -----
// arith.truncf
func.func @main() -> f16 {
  %in = arith.constant 0.1 : f32
  %out = arith.truncf %in : f32 to f16
  return %out : f16
}
// -----
// arith.trunci
func.func @main() -> i8 {
  %in = arith.constant 300 : i32
  %out = arith.trunci %in : i32 to i8
  return %out : i8
}
// -----
// arith.scaling_extf
func.func @main() -> tensor<2xf32> {
  %scale = arith.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %in = arith.constant dense<[1.0, 1.5]> : tensor<2xf8E4M3FN>
  %out = arith.scaling_extf %in, %scale : tensor<2xf8E4M3FN>, tensor<2xf32> to tensor<2xf32>
  return %out : tensor<2xf32>
}
// -----
// arith.scaling_truncf
func.func @main(%in: tensor<2xf32>) -> tensor<2xf16> {
  %scale = arith.constant dense<[0.5, 2.0]> : tensor<2xf32>
  %out = arith.scaling_truncf %in, %scale : tensor<2xf32>, tensor<2xf32> to tensor<2xf16>
  return %out : tensor<2xf16>
}
