// tensor.empty
func.func @main(%value: f32) -> tensor<2x3xf32> {
  %empty = tensor.empty() : tensor<2x3xf32>
  %result = linalg.fill ins(%value : f32) outs(%empty : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %result : tensor<2x3xf32>
}
// -----
// tensor.dim
func.func @main(%source: tensor<2x3xf32>) -> index {
  %axis = arith.constant 1 : index
  %result = tensor.dim %source, %axis : tensor<2x3xf32>
  return %result : index
}
// -----
// tensor.extract
func.func @main(%tensor: tensor<2x3xf32>) -> f32 {
  %i = arith.constant 1 : index
  %j = arith.constant 2 : index
  %result = tensor.extract %tensor[%i, %j] : tensor<2x3xf32>
  return %result : f32
}
// -----
// tensor.insert
func.func @main(%dest: tensor<2x3xf32>, %scalar: f32) -> tensor<2x3xf32> {
  %i = arith.constant 1 : index
  %j = arith.constant 2 : index
  %result = tensor.insert %scalar into %dest[%i, %j] : tensor<2x3xf32>
  return %result : tensor<2x3xf32>
}
// -----
// tensor.generate tensor.yield
func.func @main() -> tensor<2x3xindex> {
  %result = tensor.generate {
  ^bb0(%i: index, %j: index):
    %sum = arith.addi %i, %j : index
    tensor.yield %sum : index
  } : tensor<2x3xindex>
  return %result : tensor<2x3xindex>
}
// -----
// tensor.pad
func.func @main(%source: tensor<2x2xf32>, %value: f32) -> tensor<3x4xf32> {
  %result = tensor.pad %source low[1, 0] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %value : f32
  } : tensor<2x2xf32> to tensor<3x4xf32>
  return %result : tensor<3x4xf32>
}
// -----
// tensor.gather
func.func @main(%source: tensor<3x2xf32>) -> tensor<2x1x2xf32> {
  %indices = arith.constant dense<[[2], [0]]> : tensor<2x1xindex>
  %result = tensor.gather %source[%indices] gather_dims([0]) : (tensor<3x2xf32>, tensor<2x1xindex>) -> tensor<2x1x2xf32>
  return %result : tensor<2x1x2xf32>
}
// -----
// tensor.scatter
func.func @main(%source: tensor<2x1x2xf32>, %dest: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %indices = arith.constant dense<[[2], [0]]> : tensor<2x1xindex>
  %result = tensor.scatter %source into %dest[%indices] scatter_dims([0]) unique : (tensor<2x1x2xf32>, tensor<3x2xf32>, tensor<2x1xindex>) -> tensor<3x2xf32>
  return %result : tensor<3x2xf32>
}
// -----
// tensor.reshape
func.func @main(%source: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %shape = arith.constant dense<[3, 2]> : tensor<2xi32>
  %result = tensor.reshape %source(%shape) : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<3x2xf32>
  return %result : tensor<3x2xf32>
}
// -----
// tensor.parallel_insert_slice
func.func @main(%x: tensor<4xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %result = scf.forall (%i) in (4) shared_outs(%out = %init) -> (tensor<4xf32>) {
    %element = tensor.extract_slice %x[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
    %sum = arith.addf %element, %element : tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %out[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  return %result : tensor<4xf32>
}
