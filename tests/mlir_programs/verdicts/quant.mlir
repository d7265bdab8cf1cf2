// wrong: a storage type is an integer
func.func private @f(tensor<4x!quant.uniform<f16:f32, 1.0>>)
// -----
// wrong: a storage range fits the storage type
func.func private @f(tensor<4x!quant.uniform<i8<-200:100>:f32, 1.0>>)
// -----
// right
func.func private @f(tensor<4x!quant.uniform<i8<-100:100>:f32, 1.0>>)
// -----
// wrong: a cast between expressed types that differ
func.func @f(%a: tensor<4xf64>) {
  %0 = "quant.qcast"(%a) : (tensor<4xf64>) -> tensor<4x!quant.uniform<i8:f32, 1.0>>
  return
}
// -----
// right
func.func @f(%a: tensor<4xf32>) {
  %0 = "quant.qcast"(%a) : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 1.0>>
  return
}
// -----
// wrong: a storage cast to another storage type
func.func @f(%a: tensor<4xi16>) {
  %0 = "quant.scast"(%a) : (tensor<4xi16>) -> tensor<4x!quant.uniform<i8:f32, 1.0>>
  return
}
// -----
// wrong: a scale for each slice of the quantized axis
func.func @f(%a: tensor<4xf32>) {
  %0 = "quant.qcast"(%a) : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  return
}
// -----
// wrong: a quantized axis that does not exist
func.func @f(%a: tensor<4xf32>) {
  %0 = "quant.qcast"(%a) : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32:1, {1.0, 2.0}>>
  return
}
