func.func @reshape_lists(%a: tensor<1xf32>, %s: tensor<1xi64>, %b: tensor<?xf32>, %c: tensor<2x3xf32>, %s2: tensor<2xi64>) -> (tensor<1xf32>, tensor<?xf32>, tensor<2x3xf32>) {
  %0 = tensor.reshape %a(%s) : (tensor<1xf32>, tensor<1xi64>) -> tensor<1xf32>
  %1 = tensor.reshape %b(%s) : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
  %2 = tensor.reshape %c(%s2) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %0, %1, %2 : tensor<1xf32>, tensor<?xf32>, tensor<2x3xf32>
}
// -----
func.func @bitcasts(%a: tensor<4xf32>, %b: tensor<?xf32>) -> (tensor<4xf32>, tensor<?xf32>, tensor<4xi32>) {
  %0 = tensor.bitcast %a : tensor<4xf32> to tensor<4xf32>
  %1 = tensor.bitcast %b : tensor<?xf32> to tensor<?xf32>
  %2 = tensor.bitcast %a : tensor<4xf32> to tensor<4xui32>
  %3 = tensor.bitcast %2 : tensor<4xui32> to tensor<4xi32>
  return %0, %1, %3 : tensor<4xf32>, tensor<?xf32>, tensor<4xi32>
}
// -----
func.func @shapes_back(%a: tensor<f32>, %b: tensor<2x3xf32>, %c: tensor<6xf32>) -> (tensor<f32>, tensor<2x3xf32>, tensor<6xf32>, tensor<6xf32>) {
  %0 = tensor.collapse_shape %a [] : tensor<f32> into tensor<f32>
  %1 = tensor.collapse_shape %b [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  %2 = tensor.expand_shape %1 [[0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
  %3 = tensor.expand_shape %c [[0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
  %4 = tensor.collapse_shape %3 [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  %5 = tensor.expand_shape %c [[0, 1]] output_shape [3, 2] : tensor<6xf32> into tensor<3x2xf32>
  %6 = tensor.collapse_shape %5 [[0, 1]] : tensor<3x2xf32> into tensor<6xf32>
  return %0, %2, %4, %6 : tensor<f32>, tensor<2x3xf32>, tensor<6xf32>, tensor<6xf32>
}
// -----
func.func @shapes_at_once(%b: tensor<2x3x4xf32>) -> (tensor<24xf32>, tensor<2x3x2x2xf32>) {
  %1 = tensor.collapse_shape %b [[0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>
  %2 = tensor.collapse_shape %1 [[0, 1]] : tensor<6x4xf32> into tensor<24xf32>
  %3 = tensor.expand_shape %2 [[0, 1]] output_shape [6, 4] : tensor<24xf32> into tensor<6x4xf32>
  %4 = tensor.expand_shape %3 [[0, 1], [2, 3]] output_shape [2, 3, 2, 2] : tensor<6x4xf32> into tensor<2x3x2x2xf32>
  return %2, %4 : tensor<24xf32>, tensor<2x3x2x2xf32>
}
// -----
func.func @concat_of_one(%a: tensor<2x3xf32>, %b: tensor<?x3xf32>) -> (tensor<2x3xf32>, tensor<?x3xf32>, tensor<2x9xf32>) {
  %0 = tensor.concat dim(1) %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = tensor.concat dim(0) %b : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %2 = tensor.concat dim(1) %a, %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x9xf32>
  return %0, %1, %2 : tensor<2x3xf32>, tensor<?x3xf32>, tensor<2x9xf32>
}
// -----
func.func @known_slices(%a: tensor<4x8xf32>, %i: index) -> (tensor<4x8xf32>, tensor<2x3xf32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %0 = tensor.extract_slice %a[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> to tensor<4x8xf32>
  %1 = tensor.extract_slice %a[%c0, %c2] [2, 3] [1, 1] : tensor<4x8xf32> to tensor<2x3xf32>
  %2 = tensor.extract_slice %a[%c0, 0] [%c2, 8] [1, 1] : tensor<4x8xf32> to tensor<?x8xf32>
  return %0, %1, %2 : tensor<4x8xf32>, tensor<2x3xf32>, tensor<?x8xf32>
}
// -----
func.func @slices_put(%a: tensor<4x8xf32>, %d: tensor<4x8xf32>, %s: tensor<2x3xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<2x3xf32>) {
  %c0 = arith.constant 0 : index
  %0 = tensor.insert_slice %a into %d[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<4x8xf32>
  %1 = tensor.insert_slice %s into %d[%c0, 1] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x8xf32>
  %2 = tensor.extract_slice %1[0, 1] [2, 3] [1, 1] : tensor<4x8xf32> to tensor<2x3xf32>
  return %0, %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<2x3xf32>
}
// -----
func.func @pads(%a: tensor<4x8xf32>, %v: f32, %i: index) -> (tensor<4x8xf32>, tensor<6x8xf32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.pad %a low[0, 0] high[0, 0] {
  ^bb0(%x: index, %y: index):
    tensor.yield %v : f32
  } : tensor<4x8xf32> to tensor<4x8xf32>
  %1 = tensor.pad %a low[1, 0] high[1, 0] {
  ^bb0(%x: index, %y: index):
    tensor.yield %v : f32
  } : tensor<4x8xf32> to tensor<6x8xf32>
  %2 = tensor.pad %a low[%c1, 0] high[%c1, 0] {
  ^bb0(%x: index, %y: index):
    tensor.yield %v : f32
  } : tensor<4x8xf32> to tensor<?x8xf32>
  return %0, %1, %2 : tensor<4x8xf32>, tensor<6x8xf32>, tensor<?x8xf32>
}
// -----
func.func @known_empty(%i: index, %v: f32) -> (tensor<?xf32>, tensor<4xf32>, f32) {
  %c4 = arith.constant 4 : index
  %0 = tensor.empty(%c4) : tensor<?xf32>
  %1 = tensor.splat %v : tensor<4xf32>
  %2 = tensor.extract %1[%i] : tensor<4xf32>
  return %0, %1, %2 : tensor<?xf32>, tensor<4xf32>, f32
}
// -----
func.func @element_put(%t: tensor<4xf32>, %i: index, %v: f32) -> (f32, f32) {
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.insert %v into %t[%c2] : tensor<4xf32>
  %1 = tensor.extract %0[%c2] : tensor<4xf32>
  %2 = tensor.extract %0[%c1] : tensor<4xf32>
  return %1, %2 : f32, f32
}
// -----
func.func @generated(%n: index) -> (tensor<?xindex>, tensor<4xindex>, index) {
  %c4 = arith.constant 4 : index
  %0 = tensor.generate %c4 {
  ^bb0(%i: index):
    tensor.yield %i : index
  } : tensor<?xindex>
  %1 = tensor.generate {
  ^bb0(%i: index):
    tensor.yield %i : index
  } : tensor<4xindex>
  %2 = tensor.extract %1[%n] : tensor<4xindex>
  return %0, %1, %2 : tensor<?xindex>, tensor<4xindex>, index
}
// -----
func.func @dims_of_parts(%a: tensor<?x?xf32>, %i: index, %b: tensor<4x?xf32>) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.extract_slice %a[0, 0] [%i, 8] [1, 1] : tensor<?x?xf32> to tensor<?x8xf32>
  %1 = tensor.dim %0, %c0 : tensor<?x8xf32>
  %2 = tensor.cast %b : tensor<4x?xf32> to tensor<?x?xf32>
  %3 = tensor.dim %2, %c0 : tensor<?x?xf32>
  %4 = tensor.dim %2, %c1 : tensor<?x?xf32>
  return %1, %3, %4 : index, index, index
}
// -----
func.func @casts_back(%a: tensor<4xf32>, %b: tensor<?xf32>) -> (tensor<4xf32>, tensor<?xf32>, f32) {
  %c0 = arith.constant 0 : index
  %0 = tensor.cast %a : tensor<4xf32> to tensor<?xf32>
  %1 = tensor.cast %0 : tensor<?xf32> to tensor<4xf32>
  %2 = tensor.cast %b : tensor<?xf32> to tensor<4xf32>
  %3 = tensor.cast %2 : tensor<4xf32> to tensor<?xf32>
  %4 = tensor.extract %0[%c0] : tensor<?xf32>
  return %1, %3, %4 : tensor<4xf32>, tensor<?xf32>, f32
}
// -----
func.func @slice_of_slice(%a: tensor<4x8xf32>, %i: index) -> tensor<2x2xf32> {
  %0 = tensor.extract_slice %a[1, 2] [3, 4] [1, 1] : tensor<4x8xf32> to tensor<3x4xf32>
  %1 = tensor.extract_slice %0[1, 1] [2, 2] [1, 1] : tensor<3x4xf32> to tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
// -----
func.func @constants_in_shapes(%v: f32) -> (tensor<2x3xf32>, tensor<2x2xf32>, tensor<6xf32>) {
  %c = arith.constant dense<2.0> : tensor<4x8xf32>
  %0 = tensor.extract_slice %c[1, 2] [2, 3] [1, 1] : tensor<4x8xf32> to tensor<2x3xf32>
  %s = tensor.splat %v : tensor<4xf32>
  %1 = tensor.expand_shape %s [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %2 = tensor.collapse_shape %0 [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  return %0, %1, %2 : tensor<2x3xf32>, tensor<2x2xf32>, tensor<6xf32>
}
