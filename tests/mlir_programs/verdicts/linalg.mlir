// wrong: a map for each operand
#id = affine_map<(d0) -> (d0)>
func.func @f(%a: tensor<4xf32>) {
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return
}
// -----
// wrong: a map with as many results as the operand has dimensions
#m = affine_map<(d0) -> (d0, d0)>
#id = affine_map<(d0) -> (d0)>
func.func @f(%a: tensor<4xf32>) {
  %0 = linalg.generic {indexing_maps = [#m, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return
}
// -----
// wrong: an iterator for each dimension
#id = affine_map<(d0) -> (d0)>
func.func @f(%a: tensor<4xf32>) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return
}
// -----
// wrong: sizes that the maps relate
#id = affine_map<(d0) -> (d0)>
func.func @f(%a: tensor<4xf32>, %b: tensor<5xf32>) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%b : tensor<5xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<5xf32>
  return
}
// -----
// wrong: the body has an argument for each operand
#id = affine_map<(d0) -> (d0)>
func.func @f(%a: tensor<4xf32>) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) {
  ^bb0(%x: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return
}
// -----
// wrong: the arguments have the element types
#id = affine_map<(d0) -> (d0)>
func.func @f(%a: tensor<4xf32>) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) {
  ^bb0(%x: f64, %y: f32):
    linalg.yield %y : f32
  } -> tensor<4xf32>
  return
}
// -----
// wrong: the body yields the element type
#id = affine_map<(d0) -> (d0)>
func.func @f(%a: tensor<4xf32>, %i: i32) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %i : i32
  } -> tensor<4xf32>
  return
}
// -----
// wrong: the body yields a value for each output
#id = affine_map<(d0) -> (d0)>
func.func @f(%a: tensor<4xf32>) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x, %y : f32, f32
  } -> tensor<4xf32>
  return
}
// -----
// wrong: the result has the type of the output
#id = affine_map<(d0) -> (d0)>
func.func @f(%a: tensor<4xf32>) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<?xf32>
  return
}
// -----
// right
#id = affine_map<(d0) -> (d0)>
func.func @f(%a: tensor<4xf32>) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return
}
// -----
// wrong: maps that cannot be inverted
#m = affine_map<(d0, d1) -> (d0)>
func.func @f(%a: tensor<4xf32>) {
  %0 = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return
}
// -----
// wrong: a product of matrices that do not fit
func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>, %c: tensor<2x5xf32>) {
  %0 = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<4x5xf32>) outs(%c : tensor<2x5xf32>) -> tensor<2x5xf32>
  return
}
// -----
// wrong: a product of three matrices
func.func @f(%a: tensor<2x3xf32>, %c: tensor<2x5xf32>) {
  %0 = linalg.matmul ins(%a, %a, %a : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) outs(%c : tensor<2x5xf32>) -> tensor<2x5xf32>
  return
}
// -----
// right
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x5xf32>, %c: tensor<2x5xf32>) {
  %0 = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x5xf32>) outs(%c : tensor<2x5xf32>) -> tensor<2x5xf32>
  return
}
// -----
// wrong: a fill of buffers has no result
func.func @f(%v: f32, %m: memref<4xf32>) {
  %0 = "linalg.fill"(%v, %m) <{operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }) : (f32, memref<4xf32>) -> memref<4xf32>
  return
}
// -----
// wrong: a transposition by a permutation
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>) {
  %0 = linalg.transpose ins(%a : tensor<2x3xf32>) outs(%b : tensor<3x2xf32>) permutation = [1, 1]
  return
}
// -----
// wrong: the shape of a transposition
func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  %0 = linalg.transpose ins(%a : tensor<2x3xf32>) outs(%b : tensor<2x3xf32>) permutation = [1, 0]
  return
}
// -----
// right
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>) {
  %0 = linalg.transpose ins(%a : tensor<2x3xf32>) outs(%b : tensor<3x2xf32>) permutation = [1, 0]
  return
}
// -----
// wrong: a broadcast adds dimensions
func.func @f(%a: tensor<2xf32>, %b: tensor<2x3xf32>) {
  %0 = linalg.broadcast ins(%a : tensor<2xf32>) outs(%b : tensor<2x3xf32>) dimensions = [0]
  return
}
// -----
// wrong: dimensions of a broadcast exist
func.func @f(%a: tensor<2xf32>, %b: tensor<2x3xf32>) {
  %0 = linalg.broadcast ins(%a : tensor<2xf32>) outs(%b : tensor<2x3xf32>) dimensions = [2]
  return
}
// -----
// wrong: a reduction drops its dimensions
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3xf32>) {
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<2x3xf32>) outs(%b : tensor<3xf32>) dimensions = [1]
  return
}
// -----
// right
func.func @f(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<2x3xf32>) outs(%b : tensor<2xf32>) dimensions = [1]
  return
}
// -----
// wrong: a mapped operation of another shape
func.func @f(%a: tensor<4xf32>, %b: tensor<5xf32>) {
  %0 = linalg.map { arith.negf } ins(%a : tensor<4xf32>) outs(%b : tensor<5xf32>)
  return
}
// -----
// wrong: an index beyond the loops
#id = affine_map<(d0) -> (d0)>
func.func @f(%a: tensor<4xindex>) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xindex>) outs(%a : tensor<4xindex>) {
  ^bb0(%x: index, %y: index):
    %i = linalg.index 1 : index
    linalg.yield %i : index
  } -> tensor<4xindex>
  return
}
// -----
// wrong: an index outside of a structured operation
func.func @f() {
  %i = linalg.index 0 : index
  return
}
// -----
// wrong: strides of a convolution for each dimension
func.func @f(%a: tensor<1x8x8x3xf32>, %b: tensor<3x3x3x4xf32>, %c: tensor<1x6x6x4xf32>) {
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<3xi64>} ins(%a, %b : tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) outs(%c : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  return
}
// -----
// wrong: the size of a convolution
func.func @f(%a: tensor<1x8x8x3xf32>, %b: tensor<3x3x3x4xf32>, %c: tensor<1x7x7x4xf32>) {
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a, %b : tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) outs(%c : tensor<1x7x7x4xf32>) -> tensor<1x7x7x4xf32>
  return
}
// -----
// wrong: a pack by tiles that do not divide, without padding
func.func @f(%a: tensor<5xf32>, %b: tensor<2x4xf32>) {
  %0 = linalg.pack %a inner_dims_pos = [0] inner_tiles = [4] into %b : tensor<5xf32> -> tensor<2x4xf32>
  return
}
// -----
// wrong: the positions of tiles differ
func.func @f(%a: tensor<8x8xf32>, %b: tensor<2x2x4x4xf32>) {
  %0 = linalg.pack %a inner_dims_pos = [0, 0] inner_tiles = [4, 4] into %b : tensor<8x8xf32> -> tensor<2x2x4x4xf32>
  return
}
// -----
// right
func.func @f(%a: tensor<8xf32>, %b: tensor<2x4xf32>) {
  %0 = linalg.pack %a inner_dims_pos = [0] inner_tiles = [4] into %b : tensor<8xf32> -> tensor<2x4xf32>
  return
}
// -----
// wrong: a softmax along a dimension that does not exist
func.func @f(%a: tensor<4xf32>) {
  %0 = linalg.softmax dimension(1) ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
// wrong: an elementwise operation of two operands
func.func @f(%a: tensor<4xf32>) {
  %0 = linalg.elementwise kind=#linalg.elementwise_kind<add> ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
// wrong: a transposition to a dynamic dim
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x?xf32>) {
  %0 = linalg.transpose ins(%a : tensor<2x3xf32>) outs(%b : tensor<3x?xf32>) permutation = [1, 0]
  return
}
// -----
// wrong: a reduction from a dynamic dim to a number
func.func @f(%a: tensor<?x3xf32>, %b: tensor<2xf32>) {
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<?x3xf32>) outs(%b : tensor<2xf32>) dimensions = [1]
  return
}
// -----
// wrong: a broadcast from a number to a dynamic dim
func.func @f(%a: tensor<2xf32>, %b: tensor<?x3xf32>) {
  %0 = linalg.broadcast ins(%a : tensor<2xf32>) outs(%b : tensor<?x3xf32>) dimensions = [1]
  return
}
// -----
// wrong: a mapped operation with a dynamic dim on one side
func.func @f(%a: tensor<?xf32>, %b: tensor<5xf32>) {
  %0 = linalg.map { arith.negf } ins(%a : tensor<?xf32>) outs(%b : tensor<5xf32>)
  return
}
// -----
// right
func.func @f(%a: tensor<?x3xf32>, %b: tensor<3x?xf32>) {
  %0 = linalg.transpose ins(%a : tensor<?x3xf32>) outs(%b : tensor<3x?xf32>) permutation = [1, 0]
  return
}
// -----
// wrong: a product of a vector, which is an element
func.func @f(%a: vector<2x2xf32>, %b: tensor<2x2xf32>) {
  %0 = linalg.matmul ins(%a, %b : vector<2x2xf32>, tensor<2x2xf32>) outs(%b : tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}
// -----
// wrong: an elementwise function of a vector
func.func @f(%a: vector<2xf32>, %b: tensor<2xf32>) {
  %0 = linalg.exp ins(%a : vector<2xf32>) outs(%b : tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// wrong: a map that reads one item of a vector
#m = affine_map<(i) -> (i)>
func.func @f(%a: vector<4xf32>, %b: tensor<4xf32>) {
  %0 = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]} ins(%a : vector<4xf32>) outs(%b : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return
}
// -----
// wrong: the argument of the body for a vector is an item of it
#m = affine_map<(i) -> (i)>
#z = affine_map<(i) -> ()>
func.func @f(%a: vector<2xf32>, %b: tensor<4xf32>) {
  %0 = linalg.generic {indexing_maps = [#z, #m], iterator_types = ["parallel"]} ins(%a : vector<2xf32>) outs(%b : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return
}
// -----
// right
#m = affine_map<(i) -> (i)>
#z = affine_map<(i) -> ()>
func.func @f(%a: vector<2xf32>, %b: tensor<4xf32>) {
  %0 = linalg.generic {indexing_maps = [#z, #m], iterator_types = ["parallel"]} ins(%a : vector<2xf32>) outs(%b : tensor<4xf32>) {
  ^bb0(%x: vector<2xf32>, %y: f32):
    linalg.yield %y : f32
  } -> tensor<4xf32>
  return
}
// -----
// right
func.func @f(%a: vector<2xf32>, %b: memref<4xvector<2xf32>>) {
  linalg.fill ins(%a : vector<2xf32>) outs(%b : memref<4xvector<2xf32>>)
  return
}
