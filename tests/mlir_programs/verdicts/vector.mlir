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
// -----
// right
#m0 = affine_map<(i, j, k) -> (i, k)>
#m1 = affine_map<(i, j, k) -> (k, j)>
#m2 = affine_map<(i, j, k) -> (i, j)>
#t = {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "reduction"]}
func.func @f(%a: vector<4x3xf32>, %b: vector<3x7xf32>, %c: vector<4x7xf32>) {
  %0 = vector.contract #t %a, %b, %c : vector<4x3xf32>, vector<3x7xf32> into vector<4x7xf32>
  return
}
// -----
// right
#m0 = affine_map<(i, j, k) -> (i, k)>
#m1 = affine_map<(i, j, k) -> (k, j)>
#m2 = affine_map<(i, j, k) -> (i, j)>
func.func @f(%a: vector<4x3xf32>, %b: vector<3x7xf32>, %c: vector<4x7xf32>) {
  %0 = vector.contract {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<maxnumf>} %a, %b, %c : vector<4x3xf32>, vector<3x7xf32> into vector<4x7xf32>
  return
}
// -----
// right
#m0 = affine_map<(i, j, k) -> (i, k)>
#m1 = affine_map<(i, j, k) -> (k, j)>
#m2 = affine_map<(i, j, k) -> (i, j)>
func.func @f(%a: vector<4x3xf32>, %b: vector<3x7xf32>, %c: vector<4x7xf32>) {
  %0 = vector.contract {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "reduction"]} %a, %b, %c {kind = #vector.kind<mul>, foo, bar = 3} : vector<4x3xf32>, vector<3x7xf32> into vector<4x7xf32>
  return
}
// -----
// wrong: a contraction: unexpected iterator_type (window)
#m0 = affine_map<(i, j, k) -> (i, k)>
#m1 = affine_map<(i, j, k) -> (k, j)>
#m2 = affine_map<(i, j, k) -> (i, j)>
func.func @f(%a: vector<4x3xf32>, %b: vector<3x7xf32>, %c: vector<4x7xf32>) {
  %0 = vector.contract {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "window"]} %a, %b, %c : vector<4x3xf32>, vector<3x7xf32> into vector<4x7xf32>
  return
}
// -----
// wrong: a contraction: expected "iterator_types" array attribute
#m0 = affine_map<(i, j, k) -> (i, k)>
#m1 = affine_map<(i, j, k) -> (k, j)>
#m2 = affine_map<(i, j, k) -> (i, j)>
func.func @f(%a: vector<4x3xf32>, %b: vector<3x7xf32>, %c: vector<4x7xf32>) {
  %0 = vector.contract {indexing_maps = [#m0, #m1, #m2]} %a, %b, %c : vector<4x3xf32>, vector<3x7xf32> into vector<4x7xf32>
  return
}
// -----
// wrong: a contraction: requires attribute 'indexing_maps'
func.func @f(%a: vector<4x3xf32>, %b: vector<3x7xf32>, %c: vector<4x7xf32>) {
  %0 = vector.contract {iterator_types = ["parallel", "parallel", "reduction"]} %a, %b, %c : vector<4x3xf32>, vector<3x7xf32> into vector<4x7xf32>
  return
}
// -----
// wrong: a contraction: expected attribute value
func.func @f(%a: vector<4x3xf32>, %b: vector<3x7xf32>, %c: vector<4x7xf32>) {
  %0 = vector.contract %a, %b, %c : vector<4x3xf32>, vector<3x7xf32> into vector<4x7xf32>
  return
}
// -----
// wrong: a contraction: expected ','
#m0 = affine_map<(i, j, k) -> (i, k)>
#m1 = affine_map<(i, j, k) -> (k, j)>
#m2 = affine_map<(i, j, k) -> (i, j)>
#t = {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "reduction"]}
func.func @f(%a: vector<4x3xf32>, %b: vector<3x7xf32>) {
  %0 = vector.contract #t %a, %b : vector<4x3xf32>, vector<3x7xf32> into vector<4x7xf32>
  return
}
// -----
// wrong: a contraction: a value of another type
#m0 = affine_map<(i, j, k) -> (i, k)>
#m1 = affine_map<(i, j, k) -> (k, j)>
#m2 = affine_map<(i, j, k) -> (i, j)>
#t = {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "reduction"]}
func.func @f(%a: vector<4x3xf32>, %b: vector<3x7xf32>) {
  %0 = vector.contract #t %a, %b, %b : vector<4x3xf32>, vector<3x7xf32> into vector<4x7xf32>
  return
}
// -----
// wrong: a contraction: invalid accumulator/result vector shape
#m0 = affine_map<(i, j, k) -> (i, k)>
#m1 = affine_map<(i, j, k) -> (k, j)>
#m2 = affine_map<(i, j, k) -> (i, j)>
#t = {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "reduction"]}
func.func @f(%a: vector<4x3xf32>, %b: vector<3x7xf32>) {
  %0 = vector.contract #t %a, %b, %b : vector<4x3xf32>, vector<3x7xf32> into vector<3x7xf32>
  return
}
// -----
// wrong: a contraction: unsupported contraction type
#m0 = affine_map<(i, j, k) -> (i, k)>
#m1 = affine_map<(i, j, k) -> (k, j)>
#m2 = affine_map<(i, j, k) -> (i, j)>
func.func @f(%a: vector<4x3xf32>, %b: vector<3x7xf32>, %c: vector<4x7xf32>) {
  %0 = vector.contract {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<and>} %a, %b, %c : vector<4x3xf32>, vector<3x7xf32> into vector<4x7xf32>
  return
}
// -----
// right
func.func @f(%v: vector<10xf32>, %s: f32) {
  %0 = vector.contract {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} %v, %v, %s : vector<10xf32>, vector<10xf32> into f32
  return
}
// -----
// right
func.func @f(%v: vector<10xf16>, %s: f32) {
  %0 = vector.contract {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} %v, %v, %s : vector<10xf16>, vector<10xf16> into f32
  return
}
// -----
// right
func.func @f(%v: vector<[4]xf32>, %s: f32) {
  %0 = vector.contract {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} %v, %v, %s : vector<[4]xf32>, vector<[4]xf32> into f32
  return
}
// -----
// wrong: a contraction: expected zero or exactly 2 vector mask operands
func.func @f(%v: vector<10xf32>, %s: f32, %m: vector<10xi1>) {
  %0 = vector.contract {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} %v, %v, %s, %m : vector<10xf32>, vector<10xf32> into f32
  return
}
// -----
// right
func.func @f(%v: vector<10xf32>, %s: f32) {
  %0 = vector.contract {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} %v, %v, %s {fastmath = #arith.fastmath<fast>} : vector<10xf32>, vector<10xf32> into f32
  return
}
// -----
// right
func.func @f(%v: vector<4xf32>, %w: vector<8xf32>) {
  %0 = vector.outerproduct %v, %w : vector<4xf32>, vector<8xf32>
  return
}
// -----
// right
func.func @f(%v: vector<4xf32>, %w: vector<8xf32>, %a: vector<4x8xf32>) {
  %0 = vector.outerproduct %v, %w, %a : vector<4xf32>, vector<8xf32>
  return
}
// -----
// right
func.func @f(%v: vector<4xf32>, %s: f32) {
  %0 = vector.outerproduct %v, %s : vector<4xf32>, f32
  return
}
// -----
// right
func.func @f(%v: vector<4xf32>, %s: f32) {
  %0 = vector.outerproduct %v, %s, %v {kind = #vector.kind<maximumf>} : vector<4xf32>, f32
  return
}
// -----
// wrong: an outer product: expected either both or only #2 operand dim to be scalable
func.func @f(%w: vector<8xf32>, %sv: vector<[4]xf32>) {
  %0 = vector.outerproduct %sv, %w : vector<[4]xf32>, vector<8xf32>
  return
}
// -----
// right
func.func @f(%v: vector<4xf32>, %sv: vector<[4]xf32>) {
  %0 = vector.outerproduct %v, %sv : vector<4xf32>, vector<[4]xf32>
  return
}
// -----
// right
func.func @f(%sv: vector<[4]xf32>) {
  %0 = vector.outerproduct %sv, %sv : vector<[4]xf32>, vector<[4]xf32>
  return
}
// -----
// wrong: an outer product: expected at least 2 operands
func.func @f(%v: vector<4xf32>) {
  %0 = vector.outerproduct %v : vector<4xf32>, vector<8xf32>
  return
}
// -----
// wrong: an outer product: a value of another type
func.func @f(%v: vector<4xf32>, %w: vector<8xf32>) {
  %0 = vector.outerproduct %v, %w, %v : vector<4xf32>, vector<8xf32>
  return
}
// -----
// wrong: an outer product: expected vector type for operand #1
func.func @f(%w: vector<8xf32>, %s: f32) {
  %0 = vector.outerproduct %s, %w : f32, vector<8xf32>
  return
}
// -----
// wrong: an outer product: expected 1-d vector for operand #1
func.func @f(%w: vector<8xf32>, %d: vector<2x2xf32>) {
  %0 = vector.outerproduct %d, %w : vector<2x2xf32>, vector<8xf32>
  return
}
// -----
// wrong: an outer product: expected 1-d vector for operand #2
func.func @f(%v: vector<4xf32>, %d: vector<2x2xf32>) {
  %0 = vector.outerproduct %v, %d : vector<4xf32>, vector<2x2xf32>
  return
}
// -----
// wrong: an outer product: failed to verify that rhs operand and result have same element type
func.func @f(%v: vector<4xf32>, %vi: vector<4xi32>) {
  %0 = vector.outerproduct %v, %vi : vector<4xf32>, vector<4xi32>
  return
}
// -----
// wrong: an outer product: unsupported outerproduct type
func.func @f(%v: vector<4xf32>, %w: vector<8xf32>, %a: vector<4x8xf32>) {
  %0 = vector.outerproduct %v, %w, %a {kind = #vector.kind<xor>} : vector<4xf32>, vector<8xf32>
  return
}
// -----
// right
func.func @f(%vi: vector<4xi32>) {
  %0 = vector.outerproduct %vi, %vi : vector<4xi32>, vector<4xi32>
  return
}
// -----
// right
func.func @f(%v: vector<4xf32>, %w: vector<8xf32>, %a: vector<4x8xf32>) {
  %0 = vector.outerproduct %v, %w, %a {x = 1, kind = #vector.kind<minnumf>} : vector<4xf32>, vector<8xf32>
  return
}
// -----
// right
func.func @f(%m: memref<?x?xf32>, %i: index, %s: f32) {
  %0 = vector.transfer_read %m[%i, %i], %s : memref<?x?xf32>, vector<4xf32>
  return
}
// -----
// right
func.func @f(%m: memref<?x?xf32>, %i: index, %s: f32, %k: vector<4xi1>) {
  %0 = vector.transfer_read %m[%i, %i], %s, %k : memref<?x?xf32>, vector<4xf32>
  return
}
// -----
// right
func.func @f(%m: memref<?x?xf32>, %i: index, %s: f32) {
  %0 = vector.transfer_read %m[%i, %i], %s {in_bounds = [true, false]} : memref<?x?xf32>, vector<4x3xf32>
  return
}
// -----
// right
func.func @f(%m: memref<?x?xf32>, %i: index, %s: f32, %k2t: vector<3x4xi1>) {
  %0 = vector.transfer_read %m[%i, %i], %s, %k2t {permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<?x?xf32>, vector<4x3xf32>
  return
}
// -----
// right
func.func @f(%m: memref<?x?xf32>, %i: index, %s: f32) {
  %0 = vector.transfer_read %m[%i, %i], %s {permutation_map = affine_map<(d0, d1) -> (0)>, in_bounds = [true]} : memref<?x?xf32>, vector<4xf32>
  return
}
// -----
// right
func.func @f(%m: memref<?x?xf32>, %i: index, %s: f32, %k: vector<4xi1>) {
  %0 = vector.transfer_read %m[%i, %i], %s, %k {permutation_map = affine_map<(d0, d1) -> (d0, 0)>, in_bounds = [false, true]} : memref<?x?xf32>, vector<4x3xf32>
  return
}
// -----
// right
func.func @f(%t: tensor<3x?xf32>, %i: index, %s: f32) {
  %0 = vector.transfer_read %t[%i, %i], %s {permutation_map = affine_map<(d0, d1) -> (d1)>} : tensor<3x?xf32>, vector<4xf32>
  return
}
// -----
// wrong: a transfer that reads: expected a custom permutation_map when rank(source) != rank(destination)
func.func @f(%m0: memref<f32>, %s: f32) {
  %0 = vector.transfer_read %m0[], %s : memref<f32>, vector<1xf32>
  return
}
// -----
// right
func.func @f(%m0: memref<f32>, %s: f32) {
  %0 = vector.transfer_read %m0[], %s : memref<f32>, vector<f32>
  return
}
// -----
// right
func.func @f(%m: memref<?x?xf32>, %i: index, %s: f32, %sk: vector<[4]xi1>) {
  %0 = vector.transfer_read %m[%i, %i], %s, %sk : memref<?x?xf32>, vector<[4]xf32>
  return
}
// -----
// wrong: a transfer that reads: requires 2 indices
func.func @f(%m: memref<?x?xf32>, %i: index, %s: f32) {
  %0 = vector.transfer_read %m[%i], %s : memref<?x?xf32>, vector<4xf32>
  return
}
// -----
// wrong: a transfer that reads: a value of another type
func.func @f(%m: memref<?x?xf32>, %i: index) {
  %0 = vector.transfer_read %m[%i, %i], %i : memref<?x?xf32>, vector<4xf32>
  return
}
// -----
// wrong: a transfer that reads: expected ','
func.func @f(%m: memref<?x?xf32>, %i: index) {
  %0 = vector.transfer_read %m[%i, %i] : memref<?x?xf32>, vector<4xf32>
  return
}
// -----
// wrong: a transfer that reads: requires two types
func.func @f(%m: memref<?x?xf32>, %i: index, %s: f32) {
  %0 = vector.transfer_read %m[%i, %i], %s : memref<?x?xf32>
  return
}
// -----
// wrong: a transfer that reads: requires vector type
func.func @f(%m: memref<?x?xf32>, %i: index, %s: f32) {
  %0 = vector.transfer_read %m[%i, %i], %s : memref<?x?xf32>, f32
  return
}
// -----
// wrong: a transfer that reads: requires memref or ranked tensor type
func.func @f(%i: index, %s: f32, %u: memref<*xf32>) {
  %0 = vector.transfer_read %u[%i, %i], %s : memref<*xf32>, vector<4xf32>
  return
}
// -----
// wrong: a transfer that reads: requires memref or ranked tensor type
func.func @f(%i: index, %s: f32, %v: vector<4xf32>) {
  %0 = vector.transfer_read %v[%i], %s : vector<4xf32>, vector<4xf32>
  return
}
// -----
// wrong: a transfer that reads: expected a custom permutation_map when rank(source) != rank(destination)
func.func @f(%m0: memref<f32>, %s: f32) {
  %0 = vector.transfer_read %m0[], %s : memref<f32>, vector<4xf32>
  return
}
// -----
// wrong: a transfer that reads: a value of another type
func.func @f(%m: memref<?x?xf32>, %i: index, %s: f32, %k2: vector<4x3xi1>) {
  %0 = vector.transfer_read %m[%i, %i], %s, %k2 : memref<?x?xf32>, vector<4xf32>
  return
}
// -----
// right
func.func @f(%mv: memref<?x?xvector<4x3xf32>>, %i: index, %vv: vector<4x3xf32>) {
  %0 = vector.transfer_read %mv[%i, %i], %vv : memref<?x?xvector<4x3xf32>>, vector<1x1x4x3xf32>
  return
}
// -----
// wrong: a transfer that reads: does not support masks with vector element type
func.func @f(%mv: memref<?x?xvector<4x3xf32>>, %i: index, %k: vector<4xi1>, %vv: vector<4x3xf32>) {
  %0 = vector.transfer_read %mv[%i, %i], %vv, %k : memref<?x?xvector<4x3xf32>>, vector<1x1x4x3xf32>
  return
}
// -----
// wrong: a transfer that reads: expects the in_bounds attr of same rank as permutation_map results
func.func @f(%m: memref<?x?xf32>, %i: index, %s: f32) {
  %0 = vector.transfer_read %m[%i, %i], %s {in_bounds = [true, true]} : memref<?x?xf32>, vector<4xf32>
  return
}
// -----
// wrong: a transfer that reads: requires a permutation_map with input dims of the same rank as the source type
func.func @f(%m: memref<?x?xf32>, %i: index, %s: f32) {
  %0 = vector.transfer_read %m[%i, %i], %s {permutation_map = affine_map<(d0) -> (d0)>} : memref<?x?xf32>, vector<4xf32>
  return
}
// -----
// right
func.func @f(%m: memref<?x?xf32>, %i: index, %s: f32) {
  %0 = vector.transfer_read %m[%i, %i], %s {foo = 1, in_bounds = [false]} : memref<?x?xf32>, vector<4xf32>
  return
}
// -----
// right
func.func @f(%m: memref<?x?xf32>, %i: index, %s: f32) {
  %0 = vector.transfer_read %m[%i, %i], %s {permutation_map = affine_map<(d0, d1) -> (d0, d1)>} : memref<?x?xf32>, vector<4x3xf32>
  return
}
// -----
// right
func.func @f(%m0: memref<f32>, %s: f32, %k1: vector<1xi1>) {
  %0 = vector.transfer_read %m0[], %s, %k1 : memref<f32>, vector<f32>
  return
}
// -----
// right
func.func @f(%m: memref<?x?xf32>, %i: index, %v: vector<4xf32>) {
  vector.transfer_write %v, %m[%i, %i] : vector<4xf32>, memref<?x?xf32>
  return
}
// -----
// right
func.func @f(%m: memref<?x?xf32>, %i: index, %v: vector<4xf32>, %k: vector<4xi1>) {
  vector.transfer_write %v, %m[%i, %i], %k : vector<4xf32>, memref<?x?xf32>
  return
}
// -----
// right
func.func @f(%t: tensor<3x?xf32>, %i: index, %v: vector<4xf32>) {
  %0 = vector.transfer_write %v, %t[%i, %i] {in_bounds = [true]} : vector<4xf32>, tensor<3x?xf32>
  return
}
// -----
// right
func.func @f(%t: tensor<3x?xf32>, %i: index, %v2: vector<4x3xf32>) {
  %0 = vector.transfer_write %v2, %t[%i, %i] {permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : vector<4x3xf32>, tensor<3x?xf32>
  return
}
// -----
// wrong: a transfer that writes: cannot name an operation with no results
func.func @f(%m: memref<?x?xf32>, %i: index, %v: vector<4xf32>) {
  %0 = vector.transfer_write %v, %m[%i, %i] : vector<4xf32>, memref<?x?xf32>
  return
}
// -----
// right
func.func @f(%t: tensor<3x?xf32>, %i: index, %v: vector<4xf32>) {
  vector.transfer_write %v, %t[%i, %i] : vector<4xf32>, tensor<3x?xf32>
  return
}
// -----
// wrong: a transfer that writes: should not have broadcast dimensions
func.func @f(%m: memref<?x?xf32>, %i: index, %v: vector<4xf32>) {
  vector.transfer_write %v, %m[%i, %i] {permutation_map = affine_map<(d0, d1) -> (0)>} : vector<4xf32>, memref<?x?xf32>
  return
}
// -----
// wrong: a transfer that writes: expected a custom permutation_map when rank(source) != rank(destination)
func.func @f(%m0: memref<f32>, %v1: vector<1xf32>) {
  vector.transfer_write %v1, %m0[] : vector<1xf32>, memref<f32>
  return
}
// -----
// right
func.func @f(%m0: memref<f32>, %v0: vector<f32>) {
  vector.transfer_write %v0, %m0[] : vector<f32>, memref<f32>
  return
}
// -----
// right
func.func @f(%mv: memref<?x?xvector<4x3xf32>>, %i: index, %v3: vector<1x1x4x3xf32>) {
  vector.transfer_write %v3, %mv[%i, %i] : vector<1x1x4x3xf32>, memref<?x?xvector<4x3xf32>>
  return
}
// -----
// wrong: a transfer that writes: requires vector type
func.func @f(%m: memref<?x?xf32>, %i: index, %v: vector<4xf32>) {
  vector.transfer_write %v, %m[%i, %i] : memref<?x?xf32>, vector<4xf32>
  return
}
// -----
// wrong: a transfer that writes: requires vector type
func.func @f(%m: memref<?x?xf32>, %i: index, %s: f32) {
  vector.transfer_write %s, %m[%i, %i] : f32, memref<?x?xf32>
  return
}
// -----
// wrong: a transfer that writes: a value of another type
func.func @f(%m: memref<?x?xf32>, %i: index, %v: vector<4xf32>, %k2: vector<4x3xi1>) {
  vector.transfer_write %v, %m[%i, %i], %k2 : vector<4xf32>, memref<?x?xf32>
  return
}
// -----
// right
func.func @f(%m: memref<?x?xf32>, %i: index, %sv: vector<[4]xf32>, %sk: vector<[4]xi1>) {
  vector.transfer_write %sv, %m[%i, %i], %sk {in_bounds = [true], aa} : vector<[4]xf32>, memref<?x?xf32>
  return
}
// -----
// right
func.func @f(%v: vector<4xf32>, %k: vector<4xi1>) {
  %0 = vector.mask %k { vector.reduction <add>, %v : vector<4xf32> into f32 } : vector<4xi1> -> f32
  return
}
// -----
// right
func.func @f(%m: memref<?x?xf32>, %i: index, %s: f32, %k: vector<4xi1>) {
  %0 = vector.mask %k { vector.transfer_read %m[%i, %i], %s : memref<?x?xf32>, vector<4xf32> } : vector<4xi1> -> vector<4xf32>
  return
}
// -----
// right
func.func @f(%m: memref<?x?xf32>, %i: index, %s: f32, %v: vector<4xf32>, %k: vector<4xi1>) {
  %0 = vector.mask %k, %v { vector.transfer_read %m[%i, %i], %s : memref<?x?xf32>, vector<4xf32> } : vector<4xi1> -> vector<4xf32>
  return
}
// -----
// right
func.func @f(%m: memref<?x?xf32>, %i: index, %v: vector<4xf32>, %k: vector<4xi1>) {
  vector.mask %k { vector.transfer_write %v, %m[%i, %i] : vector<4xf32>, memref<?x?xf32> } : vector<4xi1>
  return
}
// -----
// right
func.func @f(%t: tensor<3x?xf32>, %i: index, %v: vector<4xf32>, %k: vector<4xi1>) {
  %0 = vector.mask %k { vector.transfer_write %v, %t[%i, %i] : vector<4xf32>, tensor<3x?xf32> } : vector<4xi1> -> tensor<3x?xf32>
  return
}
// -----
// right
func.func @f(%k: vector<4xi1>) {
  vector.mask %k { } : vector<4xi1>
  return
}
// -----
// right
func.func @f(%v: vector<4xf32>, %k: vector<4xi1>) {
  %0 = vector.mask %k { vector.yield %v : vector<4xf32> } : vector<4xi1> -> vector<4xf32>
  return
}
// -----
// right
func.func @f(%v: vector<4xf32>, %k: vector<4xi1>) {
  %0 = vector.mask %k { %x = vector.reduction <add>, %v : vector<4xf32> into f32   vector.yield %x : f32 } : vector<4xi1> -> f32
  return
}
// -----
// wrong: a mask: expects a MaskableOpInterface within the mask region
func.func @f(%s: f32, %k: vector<4xi1>) {
  %0 = vector.mask %k { arith.addf %s, %s : f32 } : vector<4xi1> -> f32
  return
}
// -----
// wrong: a mask: expects only one operation to mask
func.func @f(%v: vector<4xf32>, %k: vector<4xi1>) {
  vector.mask %k { %x = vector.reduction <add>, %v : vector<4xf32> into f32   %y = vector.reduction <add>, %v : vector<4xf32> into f32 } : vector<4xi1>
  return
}
// -----
// wrong: a mask: expects a 'vector<4xi1>' mask
func.func @f(%v: vector<4xf32>, %k2: vector<4x3xi1>) {
  %0 = vector.mask %k2 { vector.reduction <add>, %v : vector<4xf32> into f32 } : vector<4x3xi1> -> f32
  return
}
// -----
// wrong: a mask: doesn't expect a passthru argument for this maskable operation
func.func @f(%s: f32, %v: vector<4xf32>, %k: vector<4xi1>) {
  %0 = vector.mask %k, %s { vector.reduction <add>, %v : vector<4xf32> into f32 } : vector<4xi1> -> f32
  return
}
// -----
// wrong: a mask: expects a result if passthru operand is provided
func.func @f(%s: f32, %v: vector<4xf32>, %k: vector<4xi1>) {
  vector.mask %k, %s { vector.reduction <add>, %v : vector<4xf32> into f32 } : vector<4xi1>
  return
}
// -----
// right
func.func @f(%v: vector<4xf32>, %v2: vector<4x3xf32>, %k2: vector<4x3xi1>) {
  %0 = vector.mask %k2 { vector.multi_reduction <mul>, %v2, %v [1] : vector<4x3xf32> to vector<4xf32> } {foo = 1} : vector<4x3xi1> -> vector<4xf32>
  return
}
// -----
// right
func.func @f(%s: f32, %sv: vector<[4]xf32>, %sk: vector<[4]xi1>) {
  %0 = vector.mask %sk { vector.reduction <maxnumf>, %sv, %s fastmath<nnan> : vector<[4]xf32> into f32 } : vector<[4]xi1> -> f32
  return
}
// -----
// right
func.func @f(%m: memref<?x?xf32>, %i: index, %s: f32, %k: vector<4xi1>) {
  %0 = vector.mask %k { vector.transfer_read %m[%i, %i], %s {permutation_map = affine_map<(d0, d1) -> (d0)>} : memref<?x?xf32>, vector<4xf32> } : vector<4xi1> -> vector<4xf32>
  %1 = arith.addf %0, %0 : vector<4xf32>
  return
}
// -----
// right
func.func @f(%s: f32, %k: vector<4xi1>) {
  %0 = vector.mask %k { vector.yield %s : f32 } : vector<4xi1> -> vector<4xf32>
  return
}
// -----
// wrong: a mask: expected ':'
func.func @f(%v: vector<4xf32>, %k: vector<4xi1>) {
  %0 = vector.mask %k { vector.reduction <add>, %v : vector<4xf32> into f32 } -> f32
  return
}
// -----
// wrong: a mask: expected '{' to begin a region
func.func @f(%v: vector<4xf32>, %k: vector<4xi1>) {
  %0 = vector.mask %k vector.reduction <add>, %v : vector<4xf32> into f32 : vector<4xi1> -> f32
  return
}
// -----
// right
func.func @f(%m: memref<?x?xf32>, %i: index, %v: vector<4xf32>, %k: vector<4xi1>, %vi: vector<4xi32>) {
  %0 = vector.mask %k { vector.gather %m[%i, %i] [%vi], %k, %v : memref<?x?xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32> } : vector<4xi1> -> vector<4xf32>
  return
}
// -----
// right
func.func @f(%v: vector<4xf32>, %v2: vector<4x3xf32>, %k2: vector<4x3xi1>, %w3: vector<3xf32>) {
  %0 = vector.mask %k2 { vector.outerproduct %v, %w3, %v2 {kind = #vector.kind<add>} : vector<4xf32>, vector<3xf32> } : vector<4x3xi1> -> vector<4x3xf32>
  return
}
// -----
// right
func.func @f(%s: f32, %v: vector<4xf32>, %k: vector<4xi1>) {
  %0 = vector.mask %k { vector.contract {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} %v, %v, %s : vector<4xf32>, vector<4xf32> into f32 } : vector<4xi1> -> f32
  return
}
// -----
// right, refused here: the custom form of mlir-opt drops the fourth operand
func.func @f(%v: vector<4xf32>, %a: vector<4x4xf32>) {
  %0 = vector.outerproduct %v, %v, %a, %a : vector<4xf32>, vector<4xf32>
  return
}
