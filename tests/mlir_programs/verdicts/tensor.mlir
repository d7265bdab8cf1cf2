// wrong: an index for each dimension
func.func @f(%t: tensor<4x4xf32>, %i: index) {
  %0 = tensor.extract %t[%i] : tensor<4x4xf32>
  return
}
// -----
// right
func.func @f(%t: tensor<4x4xf32>, %i: index) {
  %0 = tensor.extract %t[%i, %i] : tensor<4x4xf32>
  return
}
// -----
// wrong: the inserted element has the element type
func.func @f(%t: tensor<4xf32>, %v: f64, %i: index) {
  %0 = "tensor.insert"(%v, %t, %i) : (f64, tensor<4xf32>, index) -> tensor<4xf32>
  return
}
// -----
// wrong: as many elements as the tensor has
func.func @f(%a: f32) {
  %0 = tensor.from_elements %a, %a : tensor<3xf32>
  return
}
// -----
// wrong: elements of one type
func.func @f(%a: f32, %b: f64) {
  %0 = "tensor.from_elements"(%a, %b) : (f32, f64) -> tensor<2xf32>
  return
}
// -----
// wrong: a size for each dynamic dimension
func.func @f(%n: index) {
  %0 = tensor.empty(%n) : tensor<?x?xf32>
  return
}
// -----
// wrong: a cast to another static dimension
func.func @f(%t: tensor<4xf32>) {
  %0 = tensor.cast %t : tensor<4xf32> to tensor<5xf32>
  return
}
// -----
// wrong: a cast to another element type
func.func @f(%t: tensor<4xf32>) {
  %0 = tensor.cast %t : tensor<4xf32> to tensor<4xf64>
  return
}
// -----
// right
func.func @f(%t: tensor<4xf32>) {
  %0 = tensor.cast %t : tensor<4xf32> to tensor<*xf32>
  return
}
// -----
// wrong: the slice has another static size
func.func @f(%t: tensor<8xf32>) {
  %0 = tensor.extract_slice %t[0] [4] [1] : tensor<8xf32> to tensor<5xf32>
  return
}
// -----
// wrong: the slice is out of bounds
func.func @f(%t: tensor<8xf32>) {
  %0 = tensor.extract_slice %t[6] [4] [1] : tensor<8xf32> to tensor<4xf32>
  return
}
// -----
// right
func.func @f(%t: tensor<8x1xf32>) {
  %0 = tensor.extract_slice %t[4, 0] [4, 1] [1, 1] : tensor<8x1xf32> to tensor<4xf32>
  return
}
// -----
// wrong: an inserted slice of another size
func.func @f(%s: tensor<3xf32>, %t: tensor<8xf32>) {
  %0 = tensor.insert_slice %s into %t[0] [4] [1] : tensor<3xf32> into tensor<8xf32>
  return
}
// -----
// wrong: offsets of another rank
func.func @f(%s: tensor<4xf32>, %t: tensor<8xf32>) {
  %0 = "tensor.insert_slice"(%s, %t) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 4>, static_strides = array<i64: 1>}> : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}
// -----
// wrong: the sizes of an expanded shape
func.func @f(%t: tensor<6xf32>) {
  %0 = tensor.expand_shape %t [[0, 1]] output_shape [2, 4] : tensor<6xf32> into tensor<2x4xf32>
  return
}
// -----
// wrong: groups of a collapse are contiguous
func.func @f(%t: tensor<2x3x4xf32>) {
  %0 = tensor.collapse_shape %t [[0, 2], [1]] : tensor<2x3x4xf32> into tensor<8x3xf32>
  return
}
// -----
// right
func.func @f(%t: tensor<2x3x4xf32>) {
  %0 = tensor.collapse_shape %t [[0], [1, 2]] : tensor<2x3x4xf32> into tensor<2x12xf32>
  return
}
// -----
// wrong: a reshape to another number of elements
func.func @f(%t: tensor<6xf32>, %s: tensor<1xindex>) {
  %0 = tensor.reshape %t(%s) : (tensor<6xf32>, tensor<1xindex>) -> tensor<7xf32>
  return
}
// -----
// wrong: a reshape to the rank of another shape
func.func @f(%t: tensor<6xf32>, %s: tensor<3xindex>) {
  %0 = tensor.reshape %t(%s) : (tensor<6xf32>, tensor<3xindex>) -> tensor<2x3xf32>
  return
}
// -----
// wrong: a pad yields its element type
func.func @f(%t: tensor<4xf32>, %v: f64) {
  %0 = tensor.pad %t low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %v : f64
  } : tensor<4xf32> to tensor<6xf32>
  return
}
// -----
// wrong: a pad has an argument for each dimension
func.func @f(%t: tensor<4xf32>, %v: f32) {
  %0 = tensor.pad %t low[1] high[1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<4xf32> to tensor<6xf32>
  return
}
// -----
// wrong: the size of a padded tensor
func.func @f(%t: tensor<4xf32>, %v: f32) {
  %0 = tensor.pad %t low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %v : f32
  } : tensor<4xf32> to tensor<7xf32>
  return
}
// -----
// right
func.func @f(%t: tensor<4xf32>, %v: f32) {
  %0 = tensor.pad %t low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %v : f32
  } : tensor<4xf32> to tensor<6xf32>
  return
}
// -----
// wrong: a generated tensor yields its element type
func.func @f(%n: index) {
  %0 = tensor.generate %n {
  ^bb0(%i: index):
    tensor.yield %i : index
  } : tensor<?xf32>
  return
}
// -----
// wrong: a generated tensor has a size for each dynamic dimension
func.func @f(%v: f32) {
  %0 = "tensor.generate"() ({
  ^bb0(%i: index):
    tensor.yield %v : f32
  }) : () -> tensor<?xf32>
  return
}
// -----
// wrong: concatenation along a dimension that does not exist
func.func @f(%t: tensor<4xf32>) {
  %0 = tensor.concat dim(1) %t, %t : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}
// -----
// wrong: concatenation of tensors that differ in another dimension
func.func @f(%a: tensor<4x2xf32>, %b: tensor<4x3xf32>) {
  %0 = tensor.concat dim(0) %a, %b : (tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<8x2xf32>
  return
}
// -----
// wrong: concatenation of ranks
func.func @f(%a: tensor<4x2xf32>, %b: tensor<4xf32>) {
  %0 = tensor.concat dim(0) %a, %b : (tensor<4x2xf32>, tensor<4xf32>) -> tensor<8x2xf32>
  return
}
// -----
// wrong: a gather without dimensions
func.func @f(%t: tensor<4x5xf32>, %i: tensor<2x1xindex>) {
  %0 = tensor.gather %t[%i] gather_dims([]) : (tensor<4x5xf32>, tensor<2x1xindex>) -> tensor<2x1x5xf32>
  return
}
// -----
// wrong: a gather along a dimension that does not exist
func.func @f(%t: tensor<4x5xf32>, %i: tensor<2x1xindex>) {
  %0 = tensor.gather %t[%i] gather_dims([2]) : (tensor<4x5xf32>, tensor<2x1xindex>) -> tensor<2x1x5xf32>
  return
}
// -----
// wrong: the shape of a gather
func.func @f(%t: tensor<4x5xf32>, %i: tensor<2x1xindex>) {
  %0 = tensor.gather %t[%i] gather_dims([0]) : (tensor<4x5xf32>, tensor<2x1xindex>) -> tensor<2x4x5xf32>
  return
}
// -----
// right
func.func @f(%t: tensor<4x5xf32>, %i: tensor<2x1xindex>) {
  %0 = tensor.gather %t[%i] gather_dims([0]) : (tensor<4x5xf32>, tensor<2x1xindex>) -> tensor<2x1x5xf32>
  return
}
// -----
// wrong: a scatter is unique
func.func @f(%s: tensor<2x1x5xf32>, %t: tensor<4x5xf32>, %i: tensor<2x1xindex>) {
  %0 = tensor.scatter %s into %t[%i] scatter_dims([0]) : (tensor<2x1x5xf32>, tensor<4x5xf32>, tensor<2x1xindex>) -> tensor<4x5xf32>
  return
}
// -----
// wrong: a splat of another element type
func.func @f(%v: f32) {
  %0 = "tensor.splat"(%v) : (f32) -> tensor<4xf64>
  return
}
// -----
// wrong: a splat of a dynamic tensor needs its sizes
func.func @f(%v: f32) {
  %0 = "tensor.splat"(%v) : (f32) -> tensor<?xf32>
  return
}
// -----
// wrong: a bitcast to another width
func.func @f(%t: tensor<4xf32>) {
  %0 = tensor.bitcast %t : tensor<4xf32> to tensor<4xi64>
  return
}
// -----
// wrong: the dimension of a scalar tensor
func.func @f(%t: f32, %i: index) {
  %0 = "tensor.dim"(%t, %i) : (f32, index) -> index
  return
}
// -----
// wrong: a parallel insertion stands in a parallel loop
func.func @f(%s: tensor<4xf32>, %t: tensor<8xf32>) {
  "tensor.parallel_insert_slice"(%s, %t) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>, static_offsets = array<i64: 0>, static_sizes = array<i64: 4>, static_strides = array<i64: 1>}> : (tensor<4xf32>, tensor<8xf32>) -> ()
  return
}
// -----
// right, refused here: an output shape that is not that of the result
func.func @f(%t: tensor<6xf32>) {
  %0 = tensor.expand_shape %t [[0, 1]] output_shape [2, 4] : tensor<6xf32> into tensor<2x3xf32>
  return
}
