// linalg.generic linalg.yield
func.func @main(%x: tensor<2x3xf32>, %init: tensor<2xf32>) -> tensor<2xf32> {
  %result = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x3xf32>) outs(%init : tensor<2xf32>) {
  ^bb0(%element: f32, %before: f32):
    %sum = arith.addf %element, %before : f32
    linalg.yield %sum : f32
  } -> tensor<2xf32>
  return %result : tensor<2xf32>
}
// -----
// linalg.index
func.func @main(%init: tensor<2x3xindex>) -> tensor<2x3xindex> {
  %result = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%init : tensor<2x3xindex>) {
  ^bb0(%before: index):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %sum = arith.addi %i, %j : index
    linalg.yield %sum : index
  } -> tensor<2x3xindex>
  return %result : tensor<2x3xindex>
}
// -----
// linalg.map
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %result = linalg.map { arith.subf } ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%init : tensor<4xf32>)
  return %result : tensor<4xf32>
}
// -----
// linalg.reduce
func.func @main(%x: tensor<2x3xf32>, %init: tensor<2xf32>) -> tensor<2xf32> {
  %result = linalg.reduce ins(%x : tensor<2x3xf32>) outs(%init : tensor<2xf32>) dimensions = [1]
    (%element: f32, %before: f32) {
      %larger = arith.maximumf %element, %before : f32
      linalg.yield %larger : f32
    }
  return %result : tensor<2xf32>
}
// -----
// linalg.transpose
func.func @main(%x: tensor<2x3xf32>, %init: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %result = linalg.transpose ins(%x : tensor<2x3xf32>) outs(%init : tensor<3x2xf32>) permutation = [1, 0]
  return %result : tensor<3x2xf32>
}
// -----
// linalg.broadcast
func.func @main(%x: tensor<3xf32>, %init: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %result = linalg.broadcast ins(%x : tensor<3xf32>) outs(%init : tensor<2x3xf32>) dimensions = [0]
  return %result : tensor<2x3xf32>
}
// -----
// linalg.dot
func.func @main(%a: tensor<3xf32>, %b: tensor<3xf32>, %init: tensor<f32>) -> tensor<f32> {
  %result = linalg.dot ins(%a, %b : tensor<3xf32>, tensor<3xf32>) outs(%init : tensor<f32>) -> tensor<f32>
  return %result : tensor<f32>
}
// -----
// linalg.contract
func.func @main(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>, %init: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %result = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%a, %b : tensor<2x3xf32>, tensor<2x3xf32>) outs(%init : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %result : tensor<2x2xf32>
}
// -----
// linalg.elementwise
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %result = linalg.elementwise kind=#linalg.elementwise_kind<mul> ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%init : tensor<4xf32>) -> tensor<4xf32>
  return %result : tensor<4xf32>
}
// -----
// linalg.fill
func.func @main(%value: f32, %init: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %result = linalg.fill ins(%value : f32) outs(%init : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %result : tensor<2x3xf32>
}
// -----
// linalg.fill_rng_2d
func.func @main(%init: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %min = arith.constant 0.0 : f64
  %max = arith.constant 1.0 : f64
  %seed = arith.constant 42 : i32
  %result = linalg.fill_rng_2d ins(%min, %max, %seed : f64, f64, i32) outs(%init : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %result : tensor<2x3xf32>
}
// -----
// linalg.softmax
func.func @main(%x: tensor<2x3xf32>, %init: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %result = linalg.softmax dimension(1) ins(%x : tensor<2x3xf32>) outs(%init : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %result : tensor<2x3xf32>
}
// -----
// linalg.pack
func.func @main(%x: tensor<4x6xf32>, %init: tensor<2x2x2x3xf32>) -> tensor<2x2x2x3xf32> {
  %result = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %init : tensor<4x6xf32> -> tensor<2x2x2x3xf32>
  return %result : tensor<2x2x2x3xf32>
}
// -----
// linalg.unpack
func.func @main(%x: tensor<2x2x2x3xf32>, %init: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %result = linalg.unpack %x inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %init : tensor<2x2x2x3xf32> -> tensor<4x6xf32>
  return %result : tensor<4x6xf32>
}
// -----
// linalg.winograd_filter_transform
func.func @main(%filter: tensor<1x3x3x1xf32>, %init: tensor<4x4x1x1xf32>) -> tensor<4x4x1x1xf32> {
  %result = linalg.winograd_filter_transform fmr(F_2_3) ins(%filter : tensor<1x3x3x1xf32>) outs(%init : tensor<4x4x1x1xf32>) -> tensor<4x4x1x1xf32>
  return %result : tensor<4x4x1x1xf32>
}
// -----
// linalg.winograd_input_transform
func.func @main(%image: tensor<1x4x4x1xf32>, %init: tensor<4x4x1x1x1x1xf32>) -> tensor<4x4x1x1x1x1xf32> {
  %result = linalg.winograd_input_transform fmr(F_2_3) ins(%image : tensor<1x4x4x1xf32>) outs(%init : tensor<4x4x1x1x1x1xf32>) -> tensor<4x4x1x1x1x1xf32>
  return %result : tensor<4x4x1x1x1x1xf32>
}
// -----
// linalg.winograd_output_transform
func.func @main(%product: tensor<4x4x1x1x1x1xf32>, %init: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %result = linalg.winograd_output_transform fmr(F_2_3) ins(%product : tensor<4x4x1x1x1x1xf32>) outs(%init : tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  return %result : tensor<1x2x2x1xf32>
}
