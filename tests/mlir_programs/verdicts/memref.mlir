// wrong: a load has an index for each dimension
func.func @f(%m: memref<4x4xf32>, %i: index) -> f32 {
  %0 = memref.load %m[%i] : memref<4x4xf32>
  return %0 : f32
}
// -----
// right
func.func @f(%m: memref<4x4xf32>, %i: index) -> f32 {
  %0 = memref.load %m[%i, %i] : memref<4x4xf32>
  return %0 : f32
}
// -----
// wrong: the element type of a load
func.func @f(%m: memref<4xf32>, %i: index) -> f64 {
  %0 = "memref.load"(%m, %i) : (memref<4xf32>, index) -> f64
  return %0 : f64
}
// -----
// wrong: a store has an index for each dimension
func.func @f(%m: memref<4xf32>, %v: f32, %i: index) {
  memref.store %v, %m[%i, %i] : memref<4xf32>
  return
}
// -----
// right
func.func @f(%m: memref<f32>, %v: f32) {
  memref.store %v, %m[] : memref<f32>
  return
}
// -----
// wrong: the stored element type
func.func @f(%m: memref<4xf32>, %v: f64, %i: index) {
  "memref.store"(%v, %m, %i) : (f64, memref<4xf32>, index) -> ()
  return
}
// -----
// wrong: an allocation has a size for each dynamic dimension
func.func @f(%n: index) {
  %0 = memref.alloc(%n) : memref<?x?xf32>
  return
}
// -----
// right
func.func @f(%n: index) {
  %0 = memref.alloc(%n, %n) : memref<?x?xf32>
  return
}
// -----
// wrong: an allocation has a symbol for each symbol of its layout
func.func @f() {
  %0 = memref.alloc() : memref<4xf32, affine_map<(d0)[s0] -> (d0 + s0)>>
  return
}
// -----
// right
func.func @f(%s: index) {
  %0 = memref.alloc()[%s] : memref<4xf32, affine_map<(d0)[s0] -> (d0 + s0)>>
  return
}
// -----
// wrong: alloca lies in an automatic allocation scope
"test.outer"() ({
  %0 = memref.alloca() : memref<4xf32>
}) : () -> ()
// -----
// right
func.func @f() {
  %0 = memref.alloca() {alignment = 8 : i64} : memref<4xf32>
  return
}
// -----
// wrong: an alignment is positive
func.func @f() {
  %0 = "memref.alloc"() <{alignment = -1 : i64, operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<4xf32>
  return
}
// -----
// wrong: a cast to another element type
func.func @f(%m: memref<4xf32>) {
  %0 = memref.cast %m : memref<4xf32> to memref<4xf64>
  return
}
// -----
// wrong: a cast to another static dimension
func.func @f(%m: memref<4xf32>) {
  %0 = memref.cast %m : memref<4xf32> to memref<5xf32>
  return
}
// -----
// wrong: a cast to another rank
func.func @f(%m: memref<4xf32>) {
  %0 = memref.cast %m : memref<4xf32> to memref<4x?xf32>
  return
}
// -----
// wrong: a cast to another memory space
func.func @f(%m: memref<4xf32>) {
  %0 = memref.cast %m : memref<4xf32> to memref<?xf32, 1>
  return
}
// -----
// wrong: a cast between unranked memrefs
func.func @f(%m: memref<*xf32>) {
  %0 = memref.cast %m : memref<*xf32> to memref<*xf32>
  return
}
// -----
// right
func.func @f(%m: memref<4xf32>) {
  %0 = memref.cast %m : memref<4xf32> to memref<?xf32>
  %1 = memref.cast %0 : memref<?xf32> to memref<*xf32>
  %2 = memref.cast %m : memref<4xf32> to memref<4xf32, strided<[?], offset: ?>>
  return
}
// -----
// wrong: a copy between shapes that differ
func.func @f(%a: memref<4xf32>, %b: memref<5xf32>) {
  memref.copy %a, %b : memref<4xf32> to memref<5xf32>
  return
}
// -----
// wrong: a copy between element types
func.func @f(%a: memref<4xf32>, %b: memref<4xf64>) {
  memref.copy %a, %b : memref<4xf32> to memref<4xf64>
  return
}
// -----
// right
func.func @f(%a: memref<4xf32>, %b: memref<?xf32, strided<[?], offset: ?>>) {
  memref.copy %a, %b : memref<4xf32> to memref<?xf32, strided<[?], offset: ?>>
  return
}
// -----
// wrong: the name of an undefined global
func.func @f() {
  %0 = memref.get_global @g : memref<4xf32>
  return
}
// -----
// wrong: the type of a global
memref.global "private" @g : memref<4xf32>
func.func @f() {
  %0 = memref.get_global @g : memref<5xf32>
  return
}
// -----
// right
memref.global "private" @g : memref<4xf32>
func.func @f() {
  %0 = memref.get_global @g : memref<4xf32>
  return
}
// -----
// wrong: the shape of an initial value
"memref.global"() <{sym_name = "g", type = memref<4xf32>, initial_value = dense<1.0> : tensor<5xf32>}> : () -> ()
// -----
// wrong: the element type of an initial value
"memref.global"() <{sym_name = "g", type = memref<4xf32>, initial_value = dense<1> : tensor<4xi32>}> : () -> ()
// -----
// wrong: an initial value is elements or unit
"memref.global"() <{sym_name = "g", type = memref<4xf32>, initial_value = 1.0 : f32}> : () -> ()
// -----
// wrong: a global has a static type
memref.global "private" @g : memref<?xf32>
// -----
// wrong: a global is a memref
"memref.global"() <{sym_name = "g", type = tensor<4xf32>}> : () -> ()
// -----
// wrong: a subview has a size for each dimension
func.func @f(%m: memref<4x4xf32>) {
  %0 = memref.subview %m[0] [2] [1] : memref<4x4xf32> to memref<2xf32, strided<[1]>>
  return
}
// -----
// wrong: the type of a subview
func.func @f(%m: memref<4x4xf32>) {
  %0 = memref.subview %m[0, 0] [2, 2] [1, 1] : memref<4x4xf32> to memref<3x2xf32, strided<[4, 1]>>
  return
}
// -----
// wrong: the strides of a subview
func.func @f(%m: memref<4x4xf32>) {
  %0 = memref.subview %m[0, 0] [2, 2] [1, 1] : memref<4x4xf32> to memref<2x2xf32, strided<[2, 1]>>
  return
}
// -----
// wrong: a subview out of bounds
func.func @f(%m: memref<4x4xf32>) {
  %0 = memref.subview %m[3, 0] [2, 2] [1, 1] : memref<4x4xf32> to memref<2x2xf32, strided<[4, 1], offset: 12>>
  return
}
// -----
// right
func.func @f(%m: memref<4x4xf32>) {
  %0 = memref.subview %m[0, 0] [2, 2] [1, 1] : memref<4x4xf32> to memref<2x2xf32, strided<[4, 1]>>
  %1 = memref.subview %m[1, 0] [1, 2] [1, 1] : memref<4x4xf32> to memref<2xf32, strided<[1], offset: 4>>
  return
}
// -----
// wrong: the number of elements of a collapsed shape
func.func @f(%m: memref<2x3xf32>) {
  %0 = memref.collapse_shape %m [[0, 1]] : memref<2x3xf32> into memref<7xf32>
  return
}
// -----
// wrong: a reassociation leaves a dimension out
func.func @f(%m: memref<2x3x4xf32>) {
  %0 = memref.collapse_shape %m [[0, 1]] : memref<2x3x4xf32> into memref<6xf32>
  return
}
// -----
// right
func.func @f(%m: memref<2x3xf32>) {
  %0 = memref.collapse_shape %m [[0, 1]] : memref<2x3xf32> into memref<6xf32>
  return
}
// -----
// wrong: the number of elements of an expanded shape
func.func @f(%m: memref<6xf32>) {
  %0 = memref.expand_shape %m [[0, 1]] output_shape [2, 4] : memref<6xf32> into memref<2x4xf32>
  return
}
// -----
// right
func.func @f(%m: memref<6xf32>) {
  %0 = memref.expand_shape %m [[0, 1]] output_shape [2, 3] : memref<6xf32> into memref<2x3xf32>
  return
}
// -----
// wrong: a transposition by a map that is not a permutation
func.func @f(%m: memref<2x3xf32>) {
  %0 = memref.transpose %m (i, j) -> (i, i) : memref<2x3xf32> to memref<2x2xf32>
  return
}
// -----
// wrong: the type of a transposition
func.func @f(%m: memref<2x3xf32>) {
  %0 = memref.transpose %m (i, j) -> (j, i) : memref<2x3xf32> to memref<2x3xf32, strided<[3, 1]>>
  return
}
// -----
// right
func.func @f(%m: memref<2x3xf32>) {
  %0 = memref.transpose %m (i, j) -> (j, i) : memref<2x3xf32> to memref<3x2xf32, strided<[1, 3]>>
  return
}
// -----
// wrong: a view of something else than bytes
func.func @f(%m: memref<64xf32>, %i: index) {
  %0 = memref.view %m[%i][] : memref<64xf32> to memref<4xf32>
  return
}
// -----
// wrong: a view has a size for each dynamic dimension
func.func @f(%m: memref<64xi8>, %i: index) {
  %0 = memref.view %m[%i][] : memref<64xi8> to memref<?xf32>
  return
}
// -----
// right
func.func @f(%m: memref<64xi8>, %i: index) {
  %0 = memref.view %m[%i][%i] : memref<64xi8> to memref<?xf32>
  return
}
// -----
// wrong: an update of integers by a sum of floats
func.func @f(%m: memref<4xi32>, %v: i32, %i: index) {
  %0 = memref.atomic_rmw addf %v, %m[%i] : (i32, memref<4xi32>) -> i32
  return
}
// -----
// wrong: an atomic update has an index for each dimension
func.func @f(%m: memref<4xf32>, %v: f32, %i: index) {
  %0 = memref.atomic_rmw addf %v, %m[%i, %i] : (f32, memref<4xf32>) -> f32
  return
}
// -----
// right
func.func @f(%m: memref<4xi32>, %v: i32, %i: index) {
  %0 = memref.atomic_rmw addi %v, %m[%i] : (i32, memref<4xi32>) -> i32
  return
}
// -----
// wrong: an update in place yields an element
func.func @f(%m: memref<4xf32>, %i: index, %v: f64) {
  %0 = memref.generic_atomic_rmw %m[%i] : memref<4xf32> {
  ^bb0(%old: f32):
    memref.atomic_yield %v : f64
  }
  return
}
// -----
// right
func.func @f(%m: memref<4xf32>, %i: index, %v: f32) {
  %0 = memref.generic_atomic_rmw %m[%i] : memref<4xf32> {
  ^bb0(%old: f32):
    memref.atomic_yield %v : f32
  }
  return
}
// -----
// wrong: sizes and strides of a new view differ in number from its rank
func.func @f(%m: memref<16xf32>) {
  %0 = memref.reinterpret_cast %m to offset: [0], sizes: [4], strides: [4, 1] : memref<16xf32> to memref<4xf32>
  return
}
// -----
// wrong: the static size of a new view
func.func @f(%m: memref<16xf32>) {
  %0 = memref.reinterpret_cast %m to offset: [0], sizes: [4], strides: [1] : memref<16xf32> to memref<5xf32>
  return
}
// -----
// wrong: the element type of a new view
func.func @f(%m: memref<16xf32>) {
  %0 = memref.reinterpret_cast %m to offset: [0], sizes: [4], strides: [1] : memref<16xf32> to memref<4xf64>
  return
}
// -----
// right
func.func @f(%m: memref<16xf32>, %n: index) {
  %0 = memref.reinterpret_cast %m to offset: [0], sizes: [%n], strides: [1] : memref<16xf32> to memref<?xf32, strided<[1]>>
  return
}
// -----
// wrong: the shape of a reshape has another rank
func.func @f(%m: memref<4x4xf32>, %s: memref<1xi32>) {
  %0 = memref.reshape %m(%s) : (memref<4x4xf32>, memref<1xi32>) -> memref<2x8xf32>
  return
}
// -----
// wrong: the element type of a reshape
func.func @f(%m: memref<4x4xf32>, %s: memref<2xi32>) {
  %0 = memref.reshape %m(%s) : (memref<4x4xf32>, memref<2xi32>) -> memref<2x8xf64>
  return
}
// -----
// right
func.func @f(%m: memref<4x4xf32>, %s: memref<2xi32>) {
  %0 = memref.reshape %m(%s) : (memref<4x4xf32>, memref<2xi32>) -> memref<2x8xf32>
  return
}
// -----
// wrong: an alignment is a power of two
func.func @f(%m: memref<4xf32>) {
  %0 = memref.assume_alignment %m, 3 : memref<4xf32>
  return
}
// -----
// right
func.func @f(%m: memref<4xf32>) {
  %0 = memref.assume_alignment %m, 4 : memref<4xf32>
  return
}
// -----
// wrong: a locality is from 0 to 3
func.func @f(%m: memref<4xf32>, %i: index) {
  memref.prefetch %m[%i], read, locality<5>, data : memref<4xf32>
  return
}
// -----
// wrong: a prefetch has an index for each dimension
func.func @f(%m: memref<4xf32>, %i: index) {
  memref.prefetch %m[%i, %i], read, locality<3>, data : memref<4xf32>
  return
}
// -----
// right
func.func @f(%m: memref<4xf32>, %i: index) {
  memref.prefetch %m[%i], write, locality<0>, instr : memref<4xf32>
  return
}
// -----
// wrong: a realloc of two dimensions
func.func @f(%m: memref<4x4xf32>) {
  %0 = memref.realloc %m : memref<4x4xf32> to memref<8x4xf32>
  return
}
// -----
// wrong: a realloc to another element type
func.func @f(%m: memref<4xf32>) {
  %0 = memref.realloc %m : memref<4xf32> to memref<8xf64>
  return
}
// -----
// wrong: a realloc to a dynamic dimension without a size
func.func @f(%m: memref<4xf32>) {
  %0 = memref.realloc %m : memref<4xf32> to memref<?xf32>
  return
}
// -----
// right
func.func @f(%m: memref<4xf32>, %n: index) {
  %0 = memref.realloc %m(%n) : memref<4xf32> to memref<?xf32>
  return
}
// -----
// wrong: another memory space with another element type
func.func @f(%m: memref<4xf32>) {
  %0 = memref.memory_space_cast %m : memref<4xf32> to memref<4xf64, 1>
  return
}
// -----
// right
func.func @f(%m: memref<4xf32>) {
  %0 = memref.memory_space_cast %m : memref<4xf32> to memref<4xf32, 1>
  return
}
// -----
// wrong: a scope ends with its own terminator
func.func @f() {
  "memref.alloca_scope"() ({
    "test.end"() : () -> ()
  }) : () -> ()
  return
}
// -----
// wrong: a scope returns as many values as it has results
func.func @f() {
  %0 = "memref.alloca_scope"() ({
    memref.alloca_scope.return
  }) : () -> i32
  return
}
// -----
// wrong: the dimension of a dim is an index
func.func @f(%m: memref<4xf32>, %i: i32) {
  %0 = "memref.dim"(%m, %i) : (memref<4xf32>, i32) -> index
  return
}
// -----
// wrong: distinct objects are more than none
func.func @f() {
  "memref.distinct_objects"() : () -> ()
  return
}
// -----
// wrong: metadata of another rank
func.func @f(%m: memref<4xf32>) {
  %a, %b, %c:2, %d:2 = "memref.extract_strided_metadata"(%m) : (memref<4xf32>) -> (memref<f32>, index, index, index, index, index)
  return
}
