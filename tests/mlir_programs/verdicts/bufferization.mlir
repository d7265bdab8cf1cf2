// wrong: an allocation has a size for each dynamic dimension
func.func @f() {
  %0 = bufferization.alloc_tensor() : tensor<?xf32>
  return
}
// -----
// right
func.func @f(%n: index) {
  %0 = bufferization.alloc_tensor(%n) : tensor<?xf32>
  return
}
// -----
// wrong: a copied tensor gives the sizes
func.func @f(%n: index, %t: tensor<?xf32>) {
  %0 = "bufferization.alloc_tensor"(%n, %t) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (index, tensor<?xf32>) -> tensor<?xf32>
  return
}
// -----
// wrong: a copied tensor has the type of the result
func.func @f(%t: tensor<4xf32>) {
  %0 = "bufferization.alloc_tensor"(%t) <{operandSegmentSizes = array<i32: 0, 1, 0>}> : (tensor<4xf32>) -> tensor<5xf32>
  return
}
// -----
// wrong: a buffer of another shape
func.func @f(%t: tensor<4xf32>) {
  %0 = "bufferization.to_buffer"(%t) : (tensor<4xf32>) -> memref<5xf32>
  return
}
// -----
// wrong: a buffer of another element type
func.func @f(%t: tensor<4xf32>) {
  %0 = bufferization.to_buffer %t : tensor<4xf32> to memref<4xf64>
  return
}
// -----
// right
func.func @f(%t: tensor<4xf32>) {
  %0 = bufferization.to_buffer %t : tensor<4xf32> to memref<4xf32, strided<[?], offset: ?>>
  return
}
// -----
// right
func.func @f(%m: memref<4xf32>) {
  %0 = bufferization.clone %m : memref<4xf32> to memref<4xf64>
  return
}
// -----
// wrong: a condition for each buffer
func.func @f(%m: memref<4xf32>) {
  "bufferization.dealloc"(%m) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (memref<4xf32>) -> ()
  return
}
// -----
// wrong: a result for each retained buffer
func.func @f(%m: memref<4xf32>, %c: i1) {
  "bufferization.dealloc"(%m, %c, %m) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (memref<4xf32>, i1, memref<4xf32>) -> ()
  return
}
// -----
// right
func.func @f() {
  bufferization.dealloc
  return
}
// -----
// right
func.func @f(%m: memref<4xf32>, %c: i1) {
  bufferization.dealloc (%m : memref<4xf32>) if (%c)
  return
}
// -----
// wrong: a result without a destination to be restricted
func.func @f(%t: tensor<4xf32>) {
  %0 = "bufferization.materialize_in_destination"(%t, %t) <{restrict}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
// wrong: a destination in memory is writable
func.func @f(%t: tensor<4xf32>, %m: memref<4xf32>) {
  bufferization.materialize_in_destination %t in %m : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}
// -----
// wrong: a destination in memory gives no result
func.func @f(%t: tensor<4xf32>, %m: memref<4xf32>) {
  %0 = "bufferization.materialize_in_destination"(%t, %m) <{writable}> : (tensor<4xf32>, memref<4xf32>) -> tensor<4xf32>
  return
}
// -----
// wrong: a destination of another shape
func.func @f(%t: tensor<4xf32>, %m: tensor<5xf32>) {
  %0 = bufferization.materialize_in_destination %t in %m : (tensor<4xf32>, tensor<5xf32>) -> tensor<5xf32>
  return
}
// -----
// right
func.func @f(%t: tensor<4xf32>, %m: memref<4xf32>) {
  bufferization.materialize_in_destination %t in writable %m : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}
// -----
// wrong: a destination that is neither a tensor nor a buffer
func.func @f(%t: tensor<4xf32>, %m: vector<4xf32>) {
  "bufferization.materialize_in_destination"(%t, %m) <{writable}> : (tensor<4xf32>, vector<4xf32>) -> ()
  return
}
