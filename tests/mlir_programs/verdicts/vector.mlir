// wrong: a broadcast of more dimensions
func.func @f(%a: vector<2x3xf32>) {
  %0 = vector.broadcast %a : vector<2x3xf32> to vector<3xf32>
  return
}
// -----
// wrong: a broadcast of another size
func.func @f(%a: vector<3xf32>) {
  %0 = vector.broadcast %a : vector<3xf32> to vector<2x4xf32>
  return
}
// -----
// wrong: a broadcast to another element type
func.func @f(%a: f32) {
  %0 = vector.broadcast %a : f32 to vector<4xf64>
  return
}
// -----
// right
func.func @f(%a: vector<1xf32>, %b: f32) {
  %0 = vector.broadcast %a : vector<1xf32> to vector<2x4xf32>
  %1 = vector.broadcast %b : f32 to vector<[4]xf32>
  return
}
// -----
// wrong: a bitcast to another width
func.func @f(%a: vector<4xf32>) {
  %0 = vector.bitcast %a : vector<4xf32> to vector<4xf64>
  return
}
// -----
// right
func.func @f(%a: vector<2x4xf32>) {
  %0 = vector.bitcast %a : vector<2x4xf32> to vector<2x2xi64>
  return
}
// -----
// wrong: a shape cast to another number of elements
func.func @f(%a: vector<2x3xf32>) {
  %0 = vector.shape_cast %a : vector<2x3xf32> to vector<7xf32>
  return
}
// -----
// wrong: a shape cast to another element type
func.func @f(%a: vector<2x3xf32>) {
  %0 = vector.shape_cast %a : vector<2x3xf32> to vector<6xi32>
  return
}
// -----
// wrong: a shape cast that makes a dimension scalable
func.func @f(%a: vector<2x3xf32>) {
  %0 = vector.shape_cast %a : vector<2x3xf32> to vector<[6]xf32>
  return
}
// -----
// right
func.func @f(%a: vector<2x3xf32>) {
  %0 = vector.shape_cast %a : vector<2x3xf32> to vector<6xf32>
  return
}
// -----
// wrong: a position outside of the vector
func.func @f(%a: vector<2x3xf32>) {
  %0 = vector.extract %a[2] : vector<3xf32> from vector<2x3xf32>
  return
}
// -----
// wrong: more positions than dimensions
func.func @f(%a: vector<3xf32>) {
  %0 = "vector.extract"(%a) <{static_position = array<i64: 0, 0>}> : (vector<3xf32>) -> f32
  return
}
// -----
// wrong: the type of an extracted vector
func.func @f(%a: vector<2x3xf32>) {
  %0 = "vector.extract"(%a) <{static_position = array<i64: 0>}> : (vector<2x3xf32>) -> vector<2xf32>
  return
}
// -----
// right
func.func @f(%a: vector<2x3xf32>, %i: index) {
  %0 = vector.extract %a[1] : vector<3xf32> from vector<2x3xf32>
  %1 = vector.extract %a[1, %i] : f32 from vector<2x3xf32>
  return
}
// -----
// right
func.func @f(%v: vector<2xf32>, %a: vector<2x3xf32>) {
  %0 = vector.insert %v, %a[0] : vector<2xf32> into vector<2x3xf32>
  return
}
// -----
// wrong: an inserted scalar has a position for each dimension
func.func @f(%v: f32, %a: vector<2x3xf32>) {
  %0 = vector.insert %v, %a[0] : f32 into vector<2x3xf32>
  return
}
// -----
// wrong: an inserted scalar of another type
func.func @f(%v: f64, %a: vector<3xf32>) {
  %0 = vector.insert %v, %a[0] : f64 into vector<3xf32>
  return
}
// -----
// right
func.func @f(%v: vector<3xf32>, %a: vector<2x3xf32>) {
  %0 = vector.insert %v, %a[1] : vector<3xf32> into vector<2x3xf32>
  return
}
// -----
// wrong: a slice out of bounds
func.func @f(%a: vector<8xf32>) {
  %0 = vector.extract_strided_slice %a {offsets = [6], sizes = [4], strides = [1]} : vector<8xf32> to vector<4xf32>
  return
}
// -----
// wrong: a slice by strides
func.func @f(%a: vector<8xf32>) {
  %0 = vector.extract_strided_slice %a {offsets = [0], sizes = [4], strides = [2]} : vector<8xf32> to vector<4xf32>
  return
}
// -----
// wrong: the type of a slice
func.func @f(%a: vector<8xf32>) {
  %0 = vector.extract_strided_slice %a {offsets = [0], sizes = [4], strides = [1]} : vector<8xf32> to vector<5xf32>
  return
}
// -----
// wrong: offsets, sizes and strides of a slice
func.func @f(%a: vector<8x8xf32>) {
  %0 = vector.extract_strided_slice %a {offsets = [0, 0], sizes = [4], strides = [1]} : vector<8x8xf32> to vector<4x8xf32>
  return
}
// -----
// right
func.func @f(%a: vector<8x2xf32>) {
  %0 = vector.extract_strided_slice %a {offsets = [4], sizes = [4], strides = [1]} : vector<8x2xf32> to vector<4x2xf32>
  return
}
// -----
// wrong: an inserted slice has an offset for each dimension
func.func @f(%v: vector<4xf32>, %a: vector<2x8xf32>) {
  %0 = vector.insert_strided_slice %v, %a {offsets = [0], strides = [1]} : vector<4xf32> into vector<2x8xf32>
  return
}
// -----
// wrong: an inserted slice out of bounds
func.func @f(%v: vector<4xf32>, %a: vector<2x8xf32>) {
  %0 = vector.insert_strided_slice %v, %a {offsets = [0, 6], strides = [1]} : vector<4xf32> into vector<2x8xf32>
  return
}
// -----
// right
func.func @f(%v: vector<4xf32>, %a: vector<2x8xf32>) {
  %0 = vector.insert_strided_slice %v, %a {offsets = [1, 4], strides = [1]} : vector<4xf32> into vector<2x8xf32>
  return
}
// -----
// wrong: an outer product of matrices
func.func @f(%a: vector<2x2xf32>, %b: vector<2xf32>) {
  %0 = "vector.outerproduct"(%a, %b) <{kind = #vector.kind<add>}> : (vector<2x2xf32>, vector<2xf32>) -> vector<2x2xf32>
  return
}
// -----
// wrong: the shape of an outer product
func.func @f(%a: vector<2xf32>, %b: vector<3xf32>) {
  %0 = "vector.outerproduct"(%a, %b) <{kind = #vector.kind<add>}> : (vector<2xf32>, vector<3xf32>) -> vector<2x2xf32>
  return
}
// -----
// wrong: an outer product of floats by bits
func.func @f(%a: vector<2xf32>, %b: vector<3xf32>) {
  %0 = "vector.outerproduct"(%a, %b) <{kind = #vector.kind<and>}> : (vector<2xf32>, vector<3xf32>) -> vector<2x3xf32>
  return
}
// -----
// right
func.func @f(%a: vector<2xf32>, %b: vector<3xf32>, %c: f32) {
  %0 = "vector.outerproduct"(%a, %b) <{kind = #vector.kind<add>}> : (vector<2xf32>, vector<3xf32>) -> vector<2x3xf32>
  %1 = "vector.outerproduct"(%a, %c) <{kind = #vector.kind<add>}> : (vector<2xf32>, f32) -> vector<2xf32>
  return
}
// -----
// wrong: a reduction of a matrix
func.func @f(%a: vector<2x3xf32>) {
  %0 = "vector.reduction"(%a) <{kind = #vector.kind<add>}> : (vector<2x3xf32>) -> f32
  return
}
// -----
// wrong: a reduction of floats by bits
func.func @f(%a: vector<4xf32>) {
  %0 = vector.reduction <or>, %a : vector<4xf32> into f32
  return
}
// -----
// wrong: a reduction to another type
func.func @f(%a: vector<4xf32>) {
  %0 = vector.reduction <add>, %a : vector<4xf32> into f64
  return
}
// -----
// right
func.func @f(%a: vector<4xf32>, %c: f32) {
  %0 = vector.reduction <add>, %a, %c : vector<4xf32> into f32
  return
}
// -----
// wrong: the type of a reduction along dimensions
func.func @f(%a: vector<4x5xf32>, %c: vector<5xf32>) {
  %0 = vector.multi_reduction <add>, %a, %c [1] : vector<4x5xf32> to vector<5xf32>
  return
}
// -----
// right
func.func @f(%a: vector<4x5xf32>, %c: vector<4xf32>) {
  %0 = vector.multi_reduction <add>, %a, %c [1] : vector<4x5xf32> to vector<4xf32>
  return
}
// -----
// wrong: a scan along a dimension that does not exist
func.func @f(%a: vector<4x5xf32>, %c: vector<4xf32>) {
  %0:2 = vector.scan <add>, %a, %c {inclusive = true, reduction_dim = 2} : vector<4x5xf32>, vector<4xf32>
  return
}
// -----
// wrong: the initial value of a scan
func.func @f(%a: vector<4x5xf32>, %c: vector<5xf32>) {
  %0:2 = vector.scan <add>, %a, %c {inclusive = true, reduction_dim = 1} : vector<4x5xf32>, vector<5xf32>
  return
}
// -----
// right
func.func @f(%a: vector<4x5xf32>, %c: vector<4xf32>) {
  %0:2 = vector.scan <add>, %a, %c {inclusive = true, reduction_dim = 1} : vector<4x5xf32>, vector<4xf32>
  return
}
// -----
// wrong: a contraction has a map for each operand
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
func.func @f(%a: vector<2x3xf32>, %b: vector<3x4xf32>, %c: vector<2x4xf32>) {
  %0 = "vector.contract"(%a, %b, %c) <{indexing_maps = [#a, #b], iterator_types = [#vector.iterator_type<parallel>, #vector.iterator_type<parallel>, #vector.iterator_type<reduction>], kind = #vector.kind<add>}> : (vector<2x3xf32>, vector<3x4xf32>, vector<2x4xf32>) -> vector<2x4xf32>
  return
}
// -----
// wrong: a contraction of sizes that differ
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
func.func @f(%a: vector<2x3xf32>, %b: vector<5x4xf32>, %c: vector<2x4xf32>) {
  %0 = "vector.contract"(%a, %b, %c) <{indexing_maps = [#a, #b, #c], iterator_types = [#vector.iterator_type<parallel>, #vector.iterator_type<parallel>, #vector.iterator_type<reduction>], kind = #vector.kind<add>}> : (vector<2x3xf32>, vector<5x4xf32>, vector<2x4xf32>) -> vector<2x4xf32>
  return
}
// -----
// wrong: a contraction without a reduction
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
func.func @f(%a: vector<2x3xf32>, %b: vector<3x4xf32>, %c: vector<2x4xf32>) {
  %0 = "vector.contract"(%a, %b, %c) <{indexing_maps = [#a, #b, #c], iterator_types = [#vector.iterator_type<parallel>, #vector.iterator_type<parallel>, #vector.iterator_type<parallel>], kind = #vector.kind<add>}> : (vector<2x3xf32>, vector<3x4xf32>, vector<2x4xf32>) -> vector<2x4xf32>
  return
}
// -----
// wrong: a contraction's map of another rank
#a = affine_map<(i, j, k) -> (i)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
func.func @f(%a: vector<2x3xf32>, %b: vector<3x4xf32>, %c: vector<2x4xf32>) {
  %0 = "vector.contract"(%a, %b, %c) <{indexing_maps = [#a, #b, #c], iterator_types = [#vector.iterator_type<parallel>, #vector.iterator_type<parallel>, #vector.iterator_type<reduction>], kind = #vector.kind<add>}> : (vector<2x3xf32>, vector<3x4xf32>, vector<2x4xf32>) -> vector<2x4xf32>
  return
}
// -----
// right
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
func.func @f(%a: vector<2x3xf32>, %b: vector<3x4xf32>, %c: vector<2x4xf32>) {
  %0 = "vector.contract"(%a, %b, %c) <{indexing_maps = [#a, #b, #c], iterator_types = [#vector.iterator_type<parallel>, #vector.iterator_type<parallel>, #vector.iterator_type<reduction>], kind = #vector.kind<add>}> : (vector<2x3xf32>, vector<3x4xf32>, vector<2x4xf32>) -> vector<2x4xf32>
  return
}
// -----
// wrong: a permutation with a repeated dimension
func.func @f(%a: vector<2x3xf32>) {
  %0 = vector.transpose %a, [0, 0] : vector<2x3xf32> to vector<2x2xf32>
  return
}
// -----
// wrong: the type of a transposition
func.func @f(%a: vector<2x3xf32>) {
  %0 = vector.transpose %a, [1, 0] : vector<2x3xf32> to vector<2x3xf32>
  return
}
// -----
// right
func.func @f(%a: vector<2x3xf32>) {
  %0 = vector.transpose %a, [1, 0] : vector<2x3xf32> to vector<3x2xf32>
  return
}
// -----
// wrong: an index of a shuffle that does not exist
func.func @f(%a: vector<2xf32>) {
  %0 = vector.shuffle %a, %a [0, 4] : vector<2xf32>, vector<2xf32>
  return
}
// -----
// wrong: the type of a shuffle
func.func @f(%a: vector<2xf32>) {
  %0 = "vector.shuffle"(%a, %a) <{mask = array<i64: 0, 1, 2>}> : (vector<2xf32>, vector<2xf32>) -> vector<2xf32>
  return
}
// -----
// right
func.func @f(%a: vector<2xf32>, %b: vector<3xf32>) {
  %0 = vector.shuffle %a, %b [0, 4, -1] : vector<2xf32>, vector<3xf32>
  return
}
// -----
// wrong: a mask has a size for each dimension
func.func @f(%i: index) {
  %0 = vector.create_mask %i : vector<2x3xi1>
  return
}
// -----
// wrong: a constant mask that is larger than its vector
func.func @f() {
  %0 = vector.constant_mask [2, 4] : vector<2x3xi1>
  return
}
// -----
// wrong: a constant mask that is partly empty
func.func @f() {
  %0 = vector.constant_mask [2, 0] : vector<2x3xi1>
  return
}
// -----
// right
func.func @f(%i: index) {
  %0 = vector.constant_mask [2, 1] : vector<2x3xi1>
  %1 = vector.create_mask %i, %i : vector<2x[3]xi1>
  return
}
// -----
// wrong: a load has an index for each dimension
func.func @f(%m: memref<8x8xf32>, %i: index) {
  %0 = vector.load %m[%i] : memref<8x8xf32>, vector<4xf32>
  return
}
// -----
// wrong: a load of another element type
func.func @f(%m: memref<8xf32>, %i: index) {
  %0 = vector.load %m[%i] : memref<8xf32>, vector<4xf64>
  return
}
// -----
// wrong: a load of elements that are not adjacent
func.func @f(%m: memref<8xf32, strided<[2]>>, %i: index) {
  %0 = vector.load %m[%i] : memref<8xf32, strided<[2]>>, vector<4xf32>
  return
}
// -----
// wrong: a store of another element type
func.func @f(%v: vector<4xf64>, %m: memref<8xf32>, %i: index) {
  vector.store %v, %m[%i] : memref<8xf32>, vector<4xf64>
  return
}
// -----
// right
func.func @f(%m: memref<8x8xf32>, %i: index) {
  %0 = vector.load %m[%i, %i] : memref<8x8xf32>, vector<4xf32>
  vector.store %0, %m[%i, %i] : memref<8x8xf32>, vector<4xf32>
  return
}
// -----
// wrong: a mask of another size
func.func @f(%m: memref<8xf32>, %i: index, %k: vector<3xi1>, %p: vector<4xf32>) {
  %0 = vector.maskedload %m[%i], %k, %p : memref<8xf32>, vector<3xi1>, vector<4xf32> into vector<4xf32>
  return
}
// -----
// wrong: what a masked load passes through
func.func @f(%m: memref<8xf32>, %i: index, %k: vector<4xi1>, %p: vector<3xf32>) {
  %0 = "vector.maskedload"(%m, %i, %k, %p) : (memref<8xf32>, index, vector<4xi1>, vector<3xf32>) -> vector<4xf32>
  return
}
// -----
// wrong: a masked store has an index for each dimension
func.func @f(%m: memref<8x8xf32>, %i: index, %k: vector<4xi1>, %p: vector<4xf32>) {
  vector.maskedstore %m[%i], %k, %p : memref<8x8xf32>, vector<4xi1>, vector<4xf32>
  return
}
// -----
// right
func.func @f(%m: memref<8xf32>, %i: index, %k: vector<4xi1>, %p: vector<4xf32>) {
  %0 = vector.maskedload %m[%i], %k, %p : memref<8xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  vector.maskedstore %m[%i], %k, %p : memref<8xf32>, vector<4xi1>, vector<4xf32>
  vector.compressstore %m[%i], %k, %p : memref<8xf32>, vector<4xi1>, vector<4xf32>
  %1 = vector.expandload %m[%i], %k, %p : memref<8xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  return
}
// -----
// wrong: a gather has an index for each element
func.func @f(%m: memref<8xf32>, %i: index, %x: vector<3xi32>, %k: vector<4xi1>, %p: vector<4xf32>) {
  %0 = vector.gather %m[%i] [%x], %k, %p : memref<8xf32>, vector<3xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  return
}
// -----
// wrong: a gather of another element type
func.func @f(%m: memref<8xf64>, %i: index, %x: vector<4xi32>, %k: vector<4xi1>, %p: vector<4xf32>) {
  %0 = vector.gather %m[%i] [%x], %k, %p : memref<8xf64>, vector<4xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  return
}
// -----
// wrong: a scatter of another size
func.func @f(%m: memref<8xf32>, %i: index, %x: vector<4xi32>, %k: vector<4xi1>, %p: vector<3xf32>) {
  vector.scatter %m[%i] [%x], %k, %p : memref<8xf32>, vector<4xi32>, vector<4xi1>, vector<3xf32>
  return
}
// -----
// right
func.func @f(%m: memref<8xf32>, %i: index, %x: vector<4xi32>, %k: vector<4xi1>, %p: vector<4xf32>) {
  %0 = vector.gather %m[%i] [%x], %k, %p : memref<8xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  vector.scatter %m[%i] [%x], %k, %p : memref<8xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32>
  return
}
// -----
// wrong: a transfer has an index for each dimension
func.func @f(%m: memref<8x8xf32>, %i: index, %p: f32) {
  %0 = "vector.transfer_read"(%m, %i, %p) <{in_bounds = [false], operandSegmentSizes = array<i32: 1, 1, 1, 0>, permutation_map = affine_map<(d0, d1) -> (d1)>}> : (memref<8x8xf32>, index, f32) -> vector<4xf32>
  return
}
// -----
// wrong: the padding of a transfer
func.func @f(%m: memref<8xf32>, %i: index, %p: f64) {
  %0 = "vector.transfer_read"(%m, %i, %p) <{in_bounds = [false], operandSegmentSizes = array<i32: 1, 1, 1, 0>, permutation_map = affine_map<(d0) -> (d0)>}> : (memref<8xf32>, index, f64) -> vector<4xf32>
  return
}
// -----
// wrong: bounds for each dimension of the vector
func.func @f(%m: memref<8x8xf32>, %i: index, %p: f32) {
  %0 = "vector.transfer_read"(%m, %i, %i, %p) <{in_bounds = [true, true], operandSegmentSizes = array<i32: 1, 2, 1, 0>, permutation_map = affine_map<(d0, d1) -> (d1)>}> : (memref<8x8xf32>, index, index, f32) -> vector<4xf32>
  return
}
// -----
// wrong: the map of a transfer has the rank of the vector
func.func @f(%m: memref<8x8xf32>, %i: index, %p: f32) {
  %0 = "vector.transfer_read"(%m, %i, %i, %p) <{in_bounds = [false, false], operandSegmentSizes = array<i32: 1, 2, 1, 0>, permutation_map = affine_map<(d0, d1) -> (d0, d1)>}> : (memref<8x8xf32>, index, index, f32) -> vector<4xf32>
  return
}
// -----
// wrong: the map of a transfer is a projection
func.func @f(%m: memref<8x8xf32>, %i: index, %p: f32) {
  %0 = "vector.transfer_read"(%m, %i, %i, %p) <{in_bounds = [false], operandSegmentSizes = array<i32: 1, 2, 1, 0>, permutation_map = affine_map<(d0, d1) -> (d0 + d1)>}> : (memref<8x8xf32>, index, index, f32) -> vector<4xf32>
  return
}
// -----
// wrong: a write does not broadcast
func.func @f(%v: vector<4xf32>, %m: memref<8x8xf32>, %i: index) {
  "vector.transfer_write"(%v, %m, %i, %i) <{in_bounds = [false], operandSegmentSizes = array<i32: 1, 1, 2, 0>, permutation_map = affine_map<(d0, d1) -> (0)>}> : (vector<4xf32>, memref<8x8xf32>, index, index) -> ()
  return
}
// -----
// wrong: the mask of a transfer
func.func @f(%m: memref<8x8xf32>, %i: index, %p: f32, %k: vector<3xi1>) {
  %0 = "vector.transfer_read"(%m, %i, %i, %p, %k) <{in_bounds = [false], operandSegmentSizes = array<i32: 1, 2, 1, 1>, permutation_map = affine_map<(d0, d1) -> (d1)>}> : (memref<8x8xf32>, index, index, f32, vector<3xi1>) -> vector<4xf32>
  return
}
// -----
// right
func.func @f(%m: memref<8x8xf32>, %i: index, %p: f32, %k: vector<4xi1>) {
  %0 = "vector.transfer_read"(%m, %i, %i, %p, %k) <{in_bounds = [true], operandSegmentSizes = array<i32: 1, 2, 1, 1>, permutation_map = affine_map<(d0, d1) -> (d1)>}> : (memref<8x8xf32>, index, index, f32, vector<4xi1>) -> vector<4xf32>
  "vector.transfer_write"(%0, %m, %i, %i) <{in_bounds = [false], operandSegmentSizes = array<i32: 1, 1, 2, 0>, permutation_map = affine_map<(d0, d1) -> (d1)>}> : (vector<4xf32>, memref<8x8xf32>, index, index) -> ()
  return
}
// -----
// wrong: a cast to vectors with other elements
func.func @f(%m: memref<2x3xf32>) {
  %0 = vector.type_cast %m : memref<2x3xf32> to memref<vector<7xf32>>
  return
}
// -----
// wrong: a cast of a buffer with gaps
func.func @f(%m: memref<2x3xf32, strided<[4, 1]>>) {
  %0 = vector.type_cast %m : memref<2x3xf32, strided<[4, 1]>> to memref<vector<2x3xf32>>
  return
}
// -----
// right
func.func @f(%m: memref<2x3xf32>) {
  %0 = vector.type_cast %m : memref<2x3xf32> to memref<vector<2x3xf32>>
  return
}
// -----
// wrong: a vector is made of its elements
func.func @f(%a: f32) {
  %0 = "vector.from_elements"(%a, %a) : (f32, f32) -> vector<3xf32>
  return
}
// -----
// right
func.func @f(%a: f32) {
  %0 = vector.from_elements %a, %a : vector<2xf32>
  %1:2 = vector.to_elements %0 : vector<2xf32>
  return
}
// -----
// wrong: interleaved vectors have one type
func.func @f(%a: vector<2xf32>, %b: vector<3xf32>) {
  %0 = "vector.interleave"(%a, %b) : (vector<2xf32>, vector<3xf32>) -> vector<5xf32>
  return
}
// -----
// wrong: an odd number of elements cannot be divided
func.func @f(%a: vector<3xf32>) {
  %0, %1 = vector.deinterleave %a : vector<3xf32> -> vector<1xf32>
  return
}
// -----
// right
func.func @f(%a: vector<2xf32>) {
  %0 = vector.interleave %a, %a : vector<2xf32> -> vector<4xf32>
  %1, %2 = vector.deinterleave %0 : vector<4xf32> -> vector<2xf32>
  return
}
// -----
// wrong: a position in a scalable vector that is not a multiple
func.func @f(%a: vector<[8]xf32>) {
  %0 = vector.scalable.extract %a[3] : vector<4xf32> from vector<[8]xf32>
  return
}
// -----
// wrong: a masked region of two operations
func.func @f(%k: vector<4xi1>, %a: vector<4xf32>) {
  %0 = "vector.mask"(%k) ({
    %1 = vector.reduction <add>, %a : vector<4xf32> into f32
    %2 = vector.reduction <mul>, %a : vector<4xf32> into f32
    vector.yield %1 : f32}) : (vector<4xi1>) -> f32
  return
}
// -----
// wrong: an operation that cannot be masked
func.func @f(%k: vector<4xi1>, %a: vector<4xf32>) {
  %0 = "vector.mask"(%k) ({
    %1 = arith.addf %a, %a : vector<4xf32>
    vector.yield %1 : vector<4xf32>}) : (vector<4xi1>) -> vector<4xf32>
  return
}
// -----
// right
func.func @f(%k: vector<4xi1>, %a: vector<4xf32>) {
  %0 = "vector.mask"(%k) ({
    %1 = vector.reduction <add>, %a : vector<4xf32> into f32
    vector.yield %1 : f32
  }) : (vector<4xi1>) -> f32
  return
}
// -----
// wrong: a fused multiply-add of two types
func.func @f(%a: vector<4xf32>, %b: vector<4xf64>) {
  %0 = "vector.fma"(%a, %a, %b) : (vector<4xf32>, vector<4xf32>, vector<4xf64>) -> vector<4xf32>
  return
}
// -----
// wrong: steps are indices
func.func @f() {
  %0 = "vector.step"() : () -> vector<4xi32>
  return
}
// -----
// wrong: the mask of a masked reduction
func.func @f(%k: vector<4xi1>, %a: vector<2xf32>) {
  %0 = "vector.mask"(%k) ({
    %1 = vector.reduction <add>, %a : vector<2xf32> into f32
    vector.yield %1 : f32
  }) : (vector<4xi1>) -> f32
  return
}
// -----
// wrong: a write to a tensor has a result
func.func @f(%v: vector<4xf32>, %m: tensor<8x8xf32>, %i: index) {
  "vector.transfer_write"(%v, %m, %i, %i) <{in_bounds = [false], operandSegmentSizes = array<i32: 1, 1, 2, 0>, permutation_map = affine_map<(d0, d1) -> (d1)>}> : (vector<4xf32>, tensor<8x8xf32>, index, index) -> ()
  return
}
// -----
// wrong: a transfer from a vector
func.func @f(%m: vector<8xf32>, %i: index, %p: f32) {
  %0 = "vector.transfer_read"(%m, %i, %p) <{in_bounds = [false], operandSegmentSizes = array<i32: 1, 1, 1, 0>, permutation_map = affine_map<(d0) -> (d0)>}> : (vector<8xf32>, index, f32) -> vector<4xf32>
  return
}
// -----
// wrong: an outer product with a scalable dimension on the left only
func.func @f(%a: vector<[2]xf32>, %b: vector<3xf32>) {
  %0 = "vector.outerproduct"(%a, %b) <{kind = #vector.kind<add>}> : (vector<[2]xf32>, vector<3xf32>) -> vector<[2]x3xf32>
  return
}
