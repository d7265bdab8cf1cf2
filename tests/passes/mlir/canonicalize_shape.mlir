func.func @broadcastable(%a: !shape.shape, %b: !shape.shape) -> (i1, i1, i1, i1) {
  %0 = shape.is_broadcastable %a : !shape.shape
  %1 = shape.is_broadcastable %a, %a : !shape.shape, !shape.shape
  %2 = shape.is_broadcastable %a, %b, %a : !shape.shape, !shape.shape, !shape.shape
  %3 = shape.is_broadcastable %a, %b : !shape.shape, !shape.shape
  return %0, %1, %2, %3 : i1, i1, i1, i1
}
// -----
func.func @witnesses(%a: !shape.shape, %b: !shape.shape) -> (!shape.witness, !shape.witness, !shape.witness, !shape.witness) {
  %0 = shape.cstr_broadcastable %a, %a : !shape.shape, !shape.shape
  %1 = shape.cstr_broadcastable %a, %b, %a : !shape.shape, !shape.shape, !shape.shape
  %2 = shape.cstr_eq %a, %a : !shape.shape, !shape.shape
  %3 = shape.cstr_eq %a, %b : !shape.shape, !shape.shape
  return %0, %1, %2, %3 : !shape.witness, !shape.witness, !shape.witness, !shape.witness
}
// -----
func.func @all_witnesses(%a: !shape.witness, %b: !shape.witness) -> (!shape.witness, !shape.witness, !shape.witness, !shape.witness) {
  %t = shape.const_witness true
  %f = shape.const_witness false
  %0 = shape.assuming_all %a, %a, %a
  %1 = shape.assuming_all %a, %b, %t, %a
  %2 = shape.assuming_all %a, %f
  %3 = shape.assuming_all %t, %t
  return %0, %1, %2, %3 : !shape.witness, !shape.witness, !shape.witness, !shape.witness
}
// -----
func.func @joined_witnesses(%a: !shape.witness, %b: !shape.witness, %c: !shape.witness) -> !shape.witness {
  %0 = shape.assuming_all %a, %b
  %1 = shape.assuming_all %0, %c
  return %1 : !shape.witness
}
// -----
func.func @extremes(%a: !shape.size, %b: !shape.size) -> (!shape.size, !shape.size, !shape.size) {
  %0 = shape.min %a, %a : !shape.size, !shape.size -> !shape.size
  %1 = shape.max %a, %a : !shape.size, !shape.size -> !shape.size
  %2 = shape.max %a, %b : !shape.size, !shape.size -> !shape.size
  return %0, %1, %2 : !shape.size, !shape.size, !shape.size
}
// -----
func.func @conversions(%a: index, %s: !shape.size) -> (index, index, !shape.size) {
  %0 = shape.size_to_index %a : index
  %1 = shape.index_to_size %a
  %2 = shape.size_to_index %1 : !shape.size
  %3 = shape.size_to_index %s : !shape.size
  %4 = shape.index_to_size %3
  return %0, %2, %4 : index, index, !shape.size
}
// -----
func.func @ranks(%u: tensor<?x3xf32>, %w: tensor<*xf32>) -> (!shape.size, index, index, !shape.size) {
  %4 = shape.shape_of %u : tensor<?x3xf32> -> !shape.shape
  %5 = shape.shape_of %u : tensor<?x3xf32> -> tensor<?xindex>
  %6 = shape.shape_of %w : tensor<*xf32> -> tensor<?xindex>
  %0 = shape.rank %4 : !shape.shape -> !shape.size
  %1 = shape.rank %5 : tensor<?xindex> -> index
  %2 = shape.rank %6 : tensor<?xindex> -> index
  %s = shape.const_shape [1, 2, 3] : !shape.shape
  %3 = shape.rank %s : !shape.shape -> !shape.size
  return %0, %1, %2, %3 : !shape.size, index, index, !shape.size
}
// -----
func.func @computed_shapes() -> (index, !shape.size, index, !shape.shape, !shape.shape) {
  %s = shape.const_shape [1, 2, 3] : !shape.shape
  %t = shape.const_shape [4, 2, 3] : tensor<3xindex>
  %c1 = arith.constant 1 : index
  %s2 = shape.const_size 2
  %0 = shape.num_elements %t : tensor<3xindex> -> index
  %1 = shape.num_elements %s : !shape.shape -> !shape.size
  %2 = shape.get_extent %t, %c1 : tensor<3xindex>, index -> index
  %3 = shape.concat %s, %s : !shape.shape, !shape.shape -> !shape.shape
  %4 = shape.broadcast %s, %s : !shape.shape, !shape.shape -> !shape.shape
  return %0, %1, %2, %3, %4 : index, !shape.size, index, !shape.shape, !shape.shape
}
// -----
func.func @broadcast_shapes(%a: !shape.shape, %b: !shape.shape, %x: tensor<3xindex>) -> (!shape.shape, !shape.shape, !shape.shape, tensor<3xindex>, tensor<?xindex>) {
  %e = shape.const_shape [] : !shape.shape
  %0 = shape.broadcast %a, %e : !shape.shape, !shape.shape -> !shape.shape
  %1 = shape.broadcast %a, %b, %a : !shape.shape, !shape.shape, !shape.shape -> !shape.shape
  %2 = shape.broadcast %a, %b : !shape.shape, !shape.shape -> !shape.shape
  %3 = shape.broadcast %x, %x : tensor<3xindex>, tensor<3xindex> -> tensor<3xindex>
  %4 = shape.broadcast %x : tensor<3xindex> -> tensor<?xindex>
  return %0, %1, %2, %3, %4 : !shape.shape, !shape.shape, !shape.shape, tensor<3xindex>, tensor<?xindex>
}
// -----
func.func @requirements(%p: i1) -> (!shape.witness, !shape.witness, !shape.witness) {
  %t = arith.constant true
  %f = arith.constant false
  %0 = shape.cstr_require %t, "msg"
  %1 = shape.cstr_require %f, "msg"
  %2 = shape.cstr_require %p, "msg"
  return %0, %1, %2 : !shape.witness, !shape.witness, !shape.witness
}
// -----
func.func @assumed(%w: !shape.witness, %x: f32) -> (f32, f32) {
  %t = shape.const_witness true
  %0 = shape.assuming %t -> (f32) {
    %y = "test.op"(%x) : (f32) -> f32
    shape.assuming_yield %y : f32
  }
  %1:2 = shape.assuming %w -> (f32, f32) {
    %y = "test.op"(%x) : (f32) -> f32
    %z = "test.other"(%x) : (f32) -> f32
    shape.assuming_yield %y, %z : f32, f32
  }
  return %0, %1#1 : f32, f32
}
// -----
func.func @compared_shapes(%a: !shape.shape) -> (!shape.witness, !shape.witness, i1, i1) {
  %s = shape.const_shape [1, 2, 3] : !shape.shape
  %t = shape.const_shape [3] : !shape.shape
  %u = shape.const_shape [5] : !shape.shape
  %0 = shape.cstr_broadcastable %s, %t : !shape.shape, !shape.shape
  %1 = shape.cstr_eq %s, %t : !shape.shape, !shape.shape
  %2 = shape.is_broadcastable %s, %t : !shape.shape, !shape.shape
  %3 = shape.shape_eq %s, %t : !shape.shape, !shape.shape
  return %0, %1, %2, %3 : !shape.witness, !shape.witness, i1, i1
}
// -----
func.func @sums_of_sizes(%a: !shape.size) -> (!shape.size, !shape.size) {
  %z = shape.const_size 0
  %o = shape.const_size 1
  %0 = shape.add %a, %z : !shape.size, !shape.size -> !shape.size
  %1 = shape.mul %a, %o : !shape.size, !shape.size -> !shape.size
  return %0, %1 : !shape.size, !shape.size
}
// -----
func.func @extent_tensors(%i: index, %t: tensor<?xindex>, %u: tensor<3xindex>) -> (tensor<3xindex>, tensor<2xindex>, tensor<?xindex>, !shape.shape, index) {
  %c = arith.constant 2 : index
  %s = shape.const_shape [1, 2, 3] : !shape.shape
  %0 = shape.to_extent_tensor %s : !shape.shape -> tensor<3xindex>
  %1 = shape.from_extents %c, %c : index, index
  %2 = shape.to_extent_tensor %1 : !shape.shape -> tensor<2xindex>
  %3 = shape.to_extent_tensor %t : tensor<?xindex> -> tensor<?xindex>
  %4 = shape.from_extent_tensor %u : tensor<3xindex>
  %5 = shape.get_extent %u, %i : tensor<3xindex>, index -> index
  return %0, %2, %3, %4, %5 : tensor<3xindex>, tensor<2xindex>, tensor<?xindex>, !shape.shape, index
}
// -----
func.func @extents(%u: tensor<?x3xf32>) -> (index, index, !shape.size) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s1 = shape.const_size 1
  %5 = shape.shape_of %u : tensor<?x3xf32> -> tensor<?xindex>
  %6 = shape.shape_of %u : tensor<?x3xf32> -> !shape.shape
  %0 = shape.get_extent %5, %c0 : tensor<?xindex>, index -> index
  %1 = shape.get_extent %5, %c1 : tensor<?xindex>, index -> index
  %2 = shape.get_extent %6, %s1 : !shape.shape, !shape.size -> !shape.size
  return %0, %1, %2 : index, index, !shape.size
}
// -----
func.func @broadcast_together(%a: !shape.shape, %b: !shape.shape, %c: !shape.shape) -> !shape.witness {
  %0 = shape.cstr_broadcastable %a, %b : !shape.shape, !shape.shape
  %1 = shape.cstr_broadcastable %b, %c : !shape.shape, !shape.shape
  %2 = shape.assuming_all %0, %1
  return %2 : !shape.witness
}
// -----
func.func @equal_together(%a: !shape.shape, %b: !shape.shape, %c: !shape.shape) -> !shape.witness {
  %0 = shape.cstr_eq %a, %b : !shape.shape, !shape.shape
  %1 = shape.cstr_eq %b, %c : !shape.shape, !shape.shape
  %2 = shape.assuming_all %0, %1
  return %2 : !shape.witness
}
// -----
func.func @split_shape(%a: !shape.shape, %i: index) -> (!shape.shape, !shape.shape) {
  %c1 = arith.constant 1 : index
  %s = shape.const_shape [1, 2, 3] : !shape.shape
  %h, %t = "shape.split_at"(%s, %c1) : (!shape.shape, index) -> (!shape.shape, !shape.shape)
  return %h, %t : !shape.shape, !shape.shape
}
// -----
func.func @dims(%a: tensor<?xf32>, %d: tensor<4xf32>, %i: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  %0 = shape.dim %a, %c0 : tensor<?xf32>, index -> index
  %1 = shape.dim %d, %c0 : tensor<4xf32>, index -> index
  return %0, %1 : index, index
}
// -----
func.func @shape_of_vector(%a: vector<4xf32>) -> tensor<1xindex> {
  %1 = shape.shape_of %a : vector<4xf32> -> tensor<1xindex>
  return %1 : tensor<1xindex>
}
// -----
func.func @shape_of_tensor(%t: tensor<2x3xf32>) -> (tensor<2xindex>) {
  %2 = shape.shape_of %t : tensor<2x3xf32> -> tensor<2xindex>
  return %2 : tensor<2xindex>
}
// -----
func.func @open_shape(%t: tensor<?x3xf32>) -> (!shape.shape) {
  %2 = shape.shape_of %t : tensor<?x3xf32> -> !shape.shape
  return %2 : !shape.shape
}
// -----
func.func @open_extents(%t: tensor<?x3xf32>) -> (tensor<?xindex>) {
  %2 = shape.shape_of %t : tensor<?x3xf32> -> tensor<?xindex>
  return %2 : tensor<?xindex>
}
// -----
func.func @of_nothing() -> (!shape.shape, !shape.witness) {
  %0 = "shape.from_extents"() : () -> !shape.shape
  %1 = "shape.cstr_eq"() : () -> !shape.witness
  return %0, %1 : !shape.shape, !shape.witness
}
