func.func @concat_of_one(%a: tensor<?x?xi8>, %b: tensor<2x3xf32>) -> (tensor<?x?xi8>, tensor<2x3xf32>) {
  %0 = tosa.concat %a {axis = 1 : i32} : (tensor<?x?xi8>) -> tensor<?x?xi8>
  %1 = tosa.concat %b {axis = 0 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<?x?xi8>, tensor<2x3xf32>
}
// -----
func.func @concat_of_concat(%a: tensor<1x3xf32>) -> tensor<4x3xf32> {
  %0 = tosa.concat %a, %a {axis = 0 : i32} : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %1 = tosa.concat %0, %a, %a {axis = 0 : i32} : (tensor<2x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}
// -----
func.func @selected(%p: tensor<4xi1>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %t = "tosa.const"() <{values = dense<true> : tensor<4xi1>}> : () -> tensor<4xi1>
  %f = "tosa.const"() <{values = dense<false> : tensor<4xi1>}> : () -> tensor<4xi1>
  %0 = tosa.select %p, %a, %a : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.select %t, %a, %b : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = tosa.select %f, %a, %b : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %n = tosa.logical_not %p : (tensor<4xi1>) -> tensor<4xi1>
  %3 = tosa.select %n, %a, %b : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// -----
func.func @tiled_once(%a: tensor<2x3xf32>, %u: tensor<*xbf16>) -> (tensor<2x3xf32>, tensor<*xbf16>) {
  %s = tosa.const_shape {values = dense<1> : tensor<2xindex>} : () -> !tosa.shape<2>
  %s1 = tosa.const_shape {values = dense<1> : tensor<1xindex>} : () -> !tosa.shape<1>
  %0 = tosa.tile %a, %s : (tensor<2x3xf32>, !tosa.shape<2>) -> tensor<2x3xf32>
  %1 = tosa.tile %u, %s1 : (tensor<*xbf16>, !tosa.shape<1>) -> tensor<*xbf16>
  return %0, %1 : tensor<2x3xf32>, tensor<*xbf16>
}
// -----
func.func @padded_by_nothing(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %s = tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.pad %a, %s, %z : (tensor<2x3xf32>, !tosa.shape<4>, tensor<1xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// -----
func.func @sliced(%a: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<2x3xf32>) {
  %s = tosa.const_shape {values = dense<0> : tensor<2xindex>} : () -> !tosa.shape<2>
  %n = tosa.const_shape {values = dense<[4, 6]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %m = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.slice %a, %s, %n : (tensor<4x6xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<4x6xf32>
  %1 = tosa.slice %a, %s, %m : (tensor<4x6xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x3xf32>
  return %0, %1 : tensor<4x6xf32>, tensor<2x3xf32>
}
// -----
func.func @slice_of_concat(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %s = tosa.const_shape {values = dense<[0, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %n = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.concat %a, %b {axis = 1 : i32} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %1 = tosa.slice %0, %s, %n : (tensor<2x6xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
// -----
func.func @twice_applied(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %e = tosa.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %0 = tosa.log %e : (tensor<4xf32>) -> tensor<4xf32>
  %l = tosa.log %a : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.exp %l : (tensor<4xf32>) -> tensor<4xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %n = tosa.negate %a, %z, %z : (tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4xf32>
  %2 = tosa.negate %n, %z, %z : (tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4xf32>
  %c = tosa.ceil %a : (tensor<4xf32>) -> tensor<4xf32>
  %3 = tosa.ceil %c : (tensor<4xf32>) -> tensor<4xf32>
  %fl = tosa.floor %a : (tensor<4xf32>) -> tensor<4xf32>
  %4 = tosa.floor %fl : (tensor<4xf32>) -> tensor<4xf32>
  %r = tosa.reciprocal %a : (tensor<4xf32>) -> tensor<4xf32>
  %5 = tosa.reciprocal %r : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// -----
func.func @clamped(%a: tensor<4xf32>, %i: tensor<4xi8>) -> (tensor<4xf32>, tensor<4xi8>, tensor<4xf32>, tensor<4xi8>) {
  %0 = tosa.clamp %a {min_val = 0xFF800000 : f32, max_val = 0x7F800000 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.clamp %i {min_val = -128 : i8, max_val = 127 : i8} : (tensor<4xi8>) -> tensor<4xi8>
  %2 = tosa.clamp %a {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = tosa.clamp %2 {min_val = 1.0 : f32, max_val = 8.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %4 = tosa.clamp %i {min_val = -10 : i8, max_val = 20 : i8} : (tensor<4xi8>) -> tensor<4xi8>
  %5 = tosa.clamp %4 {min_val = -20 : i8, max_val = 10 : i8} : (tensor<4xi8>) -> tensor<4xi8>
  return %0, %1, %3, %5 : tensor<4xf32>, tensor<4xi8>, tensor<4xf32>, tensor<4xi8>
}
// -----
func.func @products(%a: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xf32>) {
  %sh = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %ione = "tosa.const"() <{values = dense<1> : tensor<4xi32>}> : () -> tensor<4xi32>
  %izero = "tosa.const"() <{values = dense<0> : tensor<4xi32>}> : () -> tensor<4xi32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  %0 = tosa.mul %a, %one, %sh : (tensor<4xf32>, tensor<1xf32>, tensor<1xi8>) -> tensor<4xf32>
  %1 = tosa.mul %i, %ione, %sh : (tensor<4xi32>, tensor<4xi32>, tensor<1xi8>) -> tensor<4xi32>
  %2 = tosa.mul %i, %izero, %sh : (tensor<4xi32>, tensor<4xi32>, tensor<1xi8>) -> tensor<4xi32>
  %3 = tosa.mul %a, %zero, %sh : (tensor<4xf32>, tensor<4xf32>, tensor<1xi8>) -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xf32>
}
// -----
func.func @along_one(%a: tensor<1x3xf32>, %b: tensor<2x3xf32>) -> (tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>) {
  %0 = tosa.reduce_sum %a {axis = 0 : i32} : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %1 = tosa.reduce_max %a {axis = 0 : i32} : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %2 = tosa.reverse %a {axis = 0 : i32} : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %3 = tosa.reduce_product %a {axis = 0 : i32} : (tensor<1x3xf32>) -> tensor<1x3xf32>
  return %0, %1, %2, %3 : tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>
}
// -----
func.func @pool_of_many(%a: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = tosa.max_pool2d %a {kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
// -----
func.func @pool_of_one(%a: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  %0 = tosa.max_pool2d %a {kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  return %0 : tensor<1x1x1x2xf32>
}
// -----
func.func @sums_of_constants() -> (tensor<2x3xi32>, tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x3xi1>, tensor<2x3xf32>) {
  %a = "tosa.const"() <{values = dense<3> : tensor<2x3xi32>}> : () -> tensor<2x3xi32>
  %b = "tosa.const"() <{values = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>}> : () -> tensor<2x3xi32>
  %f = "tosa.const"() <{values = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>}> : () -> tensor<2x3xf32>
  %g = "tosa.const"() <{values = dense<2.0> : tensor<2x3xf32>}> : () -> tensor<2x3xf32>
  %0 = tosa.add %a, %a : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %1 = tosa.add %g, %g : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = tosa.transpose %f {perms = array<i32: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %3 = tosa.greater %a, %a : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  %4 = tosa.add %f, %g : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1, %2, %3, %4 : tensor<2x3xi32>, tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x3xi1>, tensor<2x3xf32>
}
// -----
func.func @compared_with_itself(%x: tensor<2x3xi32>) -> (tensor<2x3xi1>, tensor<2x3xi1>, tensor<2x3xi1>, tensor<2x3xi32>) {
  %0 = tosa.equal %x, %x : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  %1 = tosa.greater %x, %x : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  %2 = tosa.greater_equal %x, %x : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  %3 = tosa.sub %x, %x : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  return %0, %1, %2, %3 : tensor<2x3xi1>, tensor<2x3xi1>, tensor<2x3xi1>, tensor<2x3xi32>
}
// -----
func.func @cast_and_reshape(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi8>, tensor<2x2xf32>) {
  %0 = tosa.cast %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.cast %x : (tensor<4xf32>) -> tensor<4xi32>
  %2 = tosa.cast %1 : (tensor<4xi32>) -> tensor<4xi8>
  %s = tosa.const_shape {values = dense<[2, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %c = "tosa.const"() <{values = dense<2.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  %3 = tosa.reshape %c, %s : (tensor<4xf32>, !tosa.shape<2>) -> tensor<2x2xf32>
  return %0, %2, %3 : tensor<4xf32>, tensor<4xi8>, tensor<2x2xf32>
}
// -----
func.func @ones_moved(%x: tensor<1x2x3x4xf32>) -> (tensor<1x3x2x4xf32>, tensor<2x1x3x4xf32>) {
  %0 = tosa.transpose %x {perms = array<i32: 0, 2, 1, 3>} : (tensor<1x2x3x4xf32>) -> tensor<1x3x2x4xf32>
  %1 = tosa.transpose %x {perms = array<i32: 1, 0, 2, 3>} : (tensor<1x2x3x4xf32>) -> tensor<2x1x3x4xf32>
  return %0, %1 : tensor<1x3x2x4xf32>, tensor<2x1x3x4xf32>
}
// -----
func.func @cast_constants() -> (tensor<1x3xi32>, tensor<i32>, tensor<4xf32>, tensor<4xi32>) {
  %b = "tosa.const"() <{values = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>}> : () -> tensor<2x3xi32>
  %0 = tosa.reduce_sum %b {axis = 0 : i32} : (tensor<2x3xi32>) -> tensor<1x3xi32>
  %c = "tosa.const"() <{values = dense<2> : tensor<4xi32>}> : () -> tensor<4xi32>
  %d = "tosa.const"() <{values = dense<[4.0, 1.0, -1.0, 0.5]> : tensor<4xf32>}> : () -> tensor<4xf32>
  %1 = tosa.cast %c : (tensor<4xi32>) -> tensor<4xf32>
  %2 = tosa.intdiv %c, %c : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %k = "tosa.const"() <{values = dense<7> : tensor<i32>}> : () -> tensor<i32>
  return %0, %k, %1, %2 : tensor<1x3xi32>, tensor<i32>, tensor<4xf32>, tensor<4xi32>
}
// -----
func.func @shapes_computed() -> (!tosa.shape<2>, !tosa.shape<2>, !tosa.shape<2>) {
  %a = tosa.const_shape {values = dense<[4, 6]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %b = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.add_shape %a, %b : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  %1 = tosa.mul_shape %a, %b : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  %2 = tosa.div_ceil_shape %a, %b : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  return %0, %1, %2 : !tosa.shape<2>, !tosa.shape<2>, !tosa.shape<2>
}
// -----
func.func @quotients(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %o = "tosa.const"() <{values = dense<1> : tensor<4xi32>}> : () -> tensor<4xi32>
  %z = "tosa.const"() <{values = dense<0> : tensor<4xi32>}> : () -> tensor<4xi32>
  %0 = tosa.intdiv %x, %o : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %1 = tosa.intdiv %z, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %2 = tosa.arithmetic_right_shift %z, %o {round = false} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0, %1, %2 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}
// -----
func.func @identity_kept(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tosa.identity %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.abs %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tosa.abs %1 : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
// -----
func.func @resized_to_itself(%x: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %s = tosa.const_shape {values = dense<[1, 1, 1, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %o = tosa.const_shape {values = dense<0> : tensor<2xindex>} : () -> !tosa.shape<2>
  %b = tosa.const_shape {values = dense<0> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.resize %x, %s, %o, %b {mode = NEAREST_NEIGHBOR} : (tensor<1x4x4x1xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x4x4x1xf32>
  return %0 : tensor<1x4x4x1xf32>
}
// -----
func.func @negated_logic(%x: tensor<4xi1>) -> tensor<4xi1> {
  %0 = tosa.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  %1 = tosa.logical_not %0 : (tensor<4xi1>) -> tensor<4xi1>
  return %1 : tensor<4xi1>
}
// -----
func.func @constants_of_one_number() -> (tensor<4xf32>, tensor<1xf32>, tensor<2x2xf32>, tensor<4xf32>) {
  %c = "tosa.const"() <{values = dense<2.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  %0 = tosa.exp %c : (tensor<4xf32>) -> tensor<4xf32>
  %one = "tosa.const"() <{values = dense<4.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %1 = tosa.reciprocal %one : (tensor<1xf32>) -> tensor<1xf32>
  %s = tosa.const_shape {values = dense<[2, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %m = "tosa.const"() <{values = dense<1.5> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %2 = tosa.tile %m, %s : (tensor<1x1xf32>, !tosa.shape<2>) -> tensor<2x2xf32>
  %3 = tosa.reverse %c {axis = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<1xf32>, tensor<2x2xf32>, tensor<4xf32>
}
// -----
func.func @constants_reshaped() -> (tensor<2x3xi32>, tensor<3x2xf32>) {
  %s = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %t = tosa.const_shape {values = dense<[3, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %c = "tosa.const"() <{values = dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>}> : () -> tensor<6xi32>
  %d = "tosa.const"() <{values = dense<2.0> : tensor<6xf32>}> : () -> tensor<6xf32>
  %0 = tosa.reshape %c, %s : (tensor<6xi32>, !tosa.shape<2>) -> tensor<2x3xi32>
  %1 = tosa.reshape %d, %t : (tensor<6xf32>, !tosa.shape<2>) -> tensor<3x2xf32>
  return %0, %1 : tensor<2x3xi32>, tensor<3x2xf32>
}
// -----
func.func @constant_used_twice() -> (tensor<2x3xi32>, tensor<6xi32>) {
  %s = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %c = "tosa.const"() <{values = dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>}> : () -> tensor<6xi32>
  %0 = tosa.reshape %c, %s : (tensor<6xi32>, !tosa.shape<2>) -> tensor<2x3xi32>
  return %0, %c : tensor<2x3xi32>, tensor<6xi32>
}
// -----
func.func @casts_of_constants() -> (tensor<4xf32>, tensor<4xi8>, tensor<4xi32>, tensor<4xf16>, tensor<4xi32>, tensor<4xi1>, tensor<4xf32>) {
  %c = "tosa.const"() <{values = dense<300> : tensor<4xi32>}> : () -> tensor<4xi32>
  %d = "tosa.const"() <{values = dense<-3> : tensor<4xi8>}> : () -> tensor<4xi8>
  %f = "tosa.const"() <{values = dense<2.5> : tensor<4xf32>}> : () -> tensor<4xf32>
  %b = "tosa.const"() <{values = dense<true> : tensor<4xi1>}> : () -> tensor<4xi1>
  %0 = tosa.cast %c : (tensor<4xi32>) -> tensor<4xf32>
  %1 = tosa.cast %c : (tensor<4xi32>) -> tensor<4xi8>
  %2 = tosa.cast %d : (tensor<4xi8>) -> tensor<4xi32>
  %3 = tosa.cast %f : (tensor<4xf32>) -> tensor<4xf16>
  %4 = tosa.cast %f : (tensor<4xf32>) -> tensor<4xi32>
  %5 = tosa.cast %c : (tensor<4xi32>) -> tensor<4xi1>
  %6 = tosa.cast %b : (tensor<4xi1>) -> tensor<4xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<4xf32>, tensor<4xi8>, tensor<4xi32>, tensor<4xf16>, tensor<4xi32>, tensor<4xi1>, tensor<4xf32>
}
// -----
func.func @reciprocals() -> (tensor<4xf32>, tensor<1xf32>, tensor<f32>, tensor<2xf32>, tensor<2xf16>) {
  %c = "tosa.const"() <{values = dense<4.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  %d = "tosa.const"() <{values = dense<3.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %e = "tosa.const"() <{values = dense<8.0> : tensor<f32>}> : () -> tensor<f32>
  %f = "tosa.const"() <{values = dense<[2.0, 4.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %g = "tosa.const"() <{values = dense<3.0> : tensor<2xf16>}> : () -> tensor<2xf16>
  %0 = tosa.reciprocal %c : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.reciprocal %d : (tensor<1xf32>) -> tensor<1xf32>
  %2 = tosa.reciprocal %e : (tensor<f32>) -> tensor<f32>
  %3 = tosa.reciprocal %f : (tensor<2xf32>) -> tensor<2xf32>
  %4 = tosa.reciprocal %g : (tensor<2xf16>) -> tensor<2xf16>
  return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<1xf32>, tensor<f32>, tensor<2xf32>, tensor<2xf16>
}
// -----
func.func @clamps_kept(%a: tensor<4xf32>, %i: tensor<4xi8>, %u: tensor<4xi16>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi8>) {
  %0 = tosa.clamp %a {min_val = -3.40282347E+38 : f32, max_val = 3.40282347E+38 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.clamp %a {min_val = 0xFF800000 : f32, max_val = 0x7F800000 : f32, nan_mode = IGNORE} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tosa.clamp %i {min_val = -128 : i8, max_val = 100 : i8} : (tensor<4xi8>) -> tensor<4xi8>
  %3 = tosa.clamp %2 {min_val = 101 : i8, max_val = 120 : i8} : (tensor<4xi8>) -> tensor<4xi8>
  return %0, %1, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xi8>
}
// -----
func.func @clamps_and_nan(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = tosa.clamp %a {min_val = 0.0 : f32, max_val = 6.0 : f32, nan_mode = IGNORE} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.clamp %0 {min_val = 1.0 : f32, max_val = 8.0 : f32, nan_mode = PROPAGATE} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tosa.clamp %a {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = tosa.clamp %2 {min_val = 1.0 : f32, max_val = 8.0 : f32, nan_mode = IGNORE} : (tensor<4xf32>) -> tensor<4xf32>
  %4 = tosa.clamp %0 {min_val = 1.0 : f32, max_val = 8.0 : f32, nan_mode = IGNORE} : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// -----
func.func @open_size_moved(%x: tensor<?x1x3xf32>, %y: tensor<1x?x1xf32>) -> (tensor<1x?x3xf32>, tensor<?x1x1xf32>) {
  %0 = tosa.transpose %x {perms = array<i32: 1, 0, 2>} : (tensor<?x1x3xf32>) -> tensor<1x?x3xf32>
  %1 = tosa.transpose %y {perms = array<i32: 1, 0, 2>} : (tensor<1x?x1xf32>) -> tensor<?x1x1xf32>
  return %0, %1 : tensor<1x?x3xf32>, tensor<?x1x1xf32>
}
// -----
func.func @slices_of_concat(%a: tensor<2x3xf32>, %b: tensor<2x?xf32>, %c: tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %s = tosa.const_shape {values = dense<[0, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %t = tosa.const_shape {values = dense<[0, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %n = tosa.const_shape {values = dense<[2, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.concat %a, %c {axis = 1 : i32} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %1 = tosa.slice %0, %s, %n : (tensor<2x6xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x2xf32>
  %2 = tosa.slice %0, %t, %n : (tensor<2x6xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x2xf32>
  return %1, %2 : tensor<2x2xf32>, tensor<2x2xf32>
}
// -----
func.func @broadcast_products(%a: tensor<4xi32>, %b: tensor<1xi32>, %f: tensor<4xf32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi1>, tensor<4xi1>) {
  %sh = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %o = "tosa.const"() <{values = dense<1> : tensor<4xi32>}> : () -> tensor<4xi32>
  %0 = tosa.mul %a, %z, %sh : (tensor<4xi32>, tensor<1xi32>, tensor<1xi8>) -> tensor<4xi32>
  %1 = tosa.mul %b, %o, %sh : (tensor<1xi32>, tensor<4xi32>, tensor<1xi8>) -> tensor<4xi32>
  %2 = tosa.equal %f, %f : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %3 = tosa.equal %a, %a : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  return %0, %1, %2, %3 : tensor<4xi32>, tensor<4xi32>, tensor<4xi1>, tensor<4xi1>
}
// -----
func.func @choice_of_what_is_repeated(%c: tensor<2x3x4xi1>, %d: tensor<?x3x4xi1>, %a: tensor<2x3x4xf32>, %b: tensor<?x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<?x3x4xf32>, tensor<2x3x4xf32>) {
  %t = "tosa.const"() {values = dense<true> : tensor<1x1x1xi1>} : () -> tensor<1x1x1xi1>
  %0 = tosa.select %c, %a, %a : (tensor<2x3x4xi1>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %1 = tosa.select %d, %b, %b : (tensor<?x3x4xi1>, tensor<?x3x4xf32>, tensor<?x3x4xf32>) -> tensor<?x3x4xf32>
  %2 = tosa.select %t, %a, %0 : (tensor<1x1x1xi1>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %0, %1, %2 : tensor<2x3x4xf32>, tensor<?x3x4xf32>, tensor<2x3x4xf32>
}
// -----
func.func @condition_of_nothing(%c: tensor<i1>, %a: tensor<4xf32>) {
  %0 = tosa.cond_if %c (%x = %a) : tensor<i1> (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%x: tensor<4xf32>):
      %s0 = tosa.const_shape {values = dense<[3, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
      %s1 = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
      %s = tosa.div_floor_shape %s0, %s1 : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
      tosa.yield %x : tensor<4xf32>
    } else {
    ^bb0(%x: tensor<4xf32>):
      tosa.yield %x : tensor<4xf32>
    }
  return
}
