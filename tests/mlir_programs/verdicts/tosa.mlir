// wrong: an addition broadcasts
func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) {
  %0 = "tosa.add"(%a, %b) : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x3xf32>
  return
}
// -----
// wrong: an addition of element types
func.func @f(%a: tensor<2xf32>, %b: tensor<2xi32>) {
  %0 = "tosa.add"(%a, %b) : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  return
}
// -----
// wrong: an addition of ranks
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3xf32>) {
  %0 = "tosa.add"(%a, %b) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}
// -----
// right
func.func @f(%a: tensor<2x3xf32>, %b: tensor<1x3xf32>) {
  %0 = tosa.add %a, %b : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  return
}
// -----
// wrong: a concatenation of dimensions
func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) {
  %0 = tosa.concat %a, %b {axis = 0 : i32} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}
// -----
// wrong: a concatenation along an axis that does not exist
func.func @f(%a: tensor<2x3xf32>) {
  %0 = tosa.concat %a, %a {axis = 2 : i32} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// wrong: a transposition by a permutation
func.func @f(%a: tensor<2x3xf32>) {
  %0 = tosa.transpose %a {perms = array<i32: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}
// -----
// wrong: a permutation of another rank
func.func @f(%a: tensor<2x3xf32>) {
  %0 = tosa.transpose %a {perms = array<i32: 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}
// -----
// wrong: the type of a transposition
func.func @f(%a: tensor<2x3xf32>) {
  %0 = tosa.transpose %a {perms = array<i32: 1, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
// -----
// right
func.func @f(%a: tensor<2x3xf32>) {
  %0 = tosa.transpose %a {perms = array<i32: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}
// -----
// wrong: a reduction along an axis that does not exist
func.func @f(%a: tensor<2x3xf32>) {
  %0 = tosa.reduce_sum %a {axis = 2 : i32} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return
}
// -----
// wrong: a reduction gives 1 along its axis
func.func @f(%a: tensor<2x3xf32>) {
  %0 = tosa.reduce_sum %a {axis = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}
// -----
// right
func.func @f(%a: tensor<2x3xf32>) {
  %0 = tosa.reduce_sum %a {axis = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return
}
// -----
// wrong: an argmax along an axis that does not exist
func.func @f(%a: tensor<2x3xf32>) {
  %0 = tosa.argmax %a {axis = 2 : i32} : (tensor<2x3xf32>) -> tensor<2xi32>
  return
}
// -----
// wrong: the rank of an argmax
func.func @f(%a: tensor<2x3xf32>) {
  %0 = tosa.argmax %a {axis = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x1xi32>
  return
}
// -----
// wrong: a clamp whose minimum is larger
func.func @f(%a: tensor<2xf32>) {
  %0 = tosa.clamp %a {min_val = 2.0 : f32, max_val = 1.0 : f32} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// wrong: the bounds of a clamp have the element type
func.func @f(%a: tensor<2xf32>) {
  %0 = tosa.clamp %a {min_val = 0 : i32, max_val = 1 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// wrong: a convolution has four paddings
func.func @f(%x: tensor<1x8x8x3xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4xf32>, %z: tensor<1xf32>) {
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, pad = array<i64: 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x8x8x3xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x6x4xf32>
  return
}
// -----
// wrong: the stride of a convolution is positive
func.func @f(%x: tensor<1x8x8x3xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4xf32>, %z: tensor<1xf32>) {
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 0, 1>, dilation = array<i64: 1, 1>} : (tensor<1x8x8x3xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x6x4xf32>
  return
}
// -----
// wrong: the size of a convolution's result
func.func @f(%x: tensor<1x8x8x3xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4xf32>, %z: tensor<1xf32>) {
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x8x8x3xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x5x6x4xf32>
  return
}
// -----
// wrong: the bias of a convolution
func.func @f(%x: tensor<1x8x8x3xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<5xf32>, %z: tensor<1xf32>) {
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x8x8x3xf32>, tensor<4x3x3x3xf32>, tensor<5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x6x4xf32>
  return
}
// -----
// wrong: the accumulator of a convolution
func.func @f(%x: tensor<1x8x8x3xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4xf32>, %z: tensor<1xf32>) {
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x8x8x3xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x6x4xf32>
  return
}
// -----
// right
func.func @f(%x: tensor<1x8x8x3xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4xf32>, %z: tensor<1xf32>) {
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x8x8x3xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x6x4xf32>
  return
}
// -----
// right, refused here: a product of matrices that do not fit
func.func @f(%a: tensor<1x2x3xf32>, %b: tensor<1x4x5xf32>, %z: tensor<1xf32>) {
  %0 = tosa.matmul %a, %b, %z, %z : (tensor<1x2x3xf32>, tensor<1x4x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x5xf32>
  return
}
// -----
// right, refused here: the type of a product of matrices
func.func @f(%a: tensor<1x2x3xf32>, %b: tensor<1x3x5xf32>, %z: tensor<1xf32>) {
  %0 = tosa.matmul %a, %b, %z, %z : (tensor<1x2x3xf32>, tensor<1x3x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x4xf32>
  return
}
// -----
// wrong: a window that is larger than the padded image
func.func @f(%a: tensor<1x4x4x1xf32>) {
  %0 = "tosa.max_pool2d"(%a) {kernel = array<i64: 5, 5>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>) -> tensor<1x1x1x1xf32>
  return
}
// -----
// wrong: a padding as large as the kernel
func.func @f(%a: tensor<1x4x4x1xf32>) {
  %0 = "tosa.max_pool2d"(%a) {kernel = array<i64: 2, 2>, pad = array<i64: 2, 2, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>) -> tensor<1x7x3x1xf32>
  return
}
// -----
// wrong: the channels of a pooled image
func.func @f(%a: tensor<1x4x4x1xf32>) {
  %0 = "tosa.max_pool2d"(%a) {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x1xf32>) -> tensor<1x3x2x1xf32>
  return
}
// -----
// right
func.func @f(%a: tensor<1x4x4x1xf32>) {
  %0 = "tosa.max_pool2d"(%a) {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x1xf32>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// wrong: a reshape to another number of elements
func.func @f(%a: tensor<2x3xf32>) {
  %s = tosa.const_shape {values = dense<[7]> : tensor<1xindex>} : () -> !tosa.shape<1>
  %0 = tosa.reshape %a, %s : (tensor<2x3xf32>, !tosa.shape<1>) -> tensor<7xf32>
  return
}
// -----
// wrong: a reshape to another rank than its shape
func.func @f(%a: tensor<2x3xf32>) {
  %s = tosa.const_shape {values = dense<[6]> : tensor<1xindex>} : () -> !tosa.shape<1>
  %0 = tosa.reshape %a, %s : (tensor<2x3xf32>, !tosa.shape<1>) -> tensor<6x1xf32>
  return
}
// -----
// right
func.func @f(%a: tensor<2x3xf32>) {
  %s = tosa.const_shape {values = dense<[6]> : tensor<1xindex>} : () -> !tosa.shape<1>
  %0 = tosa.reshape %a, %s : (tensor<2x3xf32>, !tosa.shape<1>) -> tensor<6xf32>
  return
}
// -----
// right, refused here: a slice out of bounds
func.func @f(%a: tensor<4xf32>) {
  %s = tosa.const_shape {values = dense<[2]> : tensor<1xindex>} : () -> !tosa.shape<1>
  %n = tosa.const_shape {values = dense<[3]> : tensor<1xindex>} : () -> !tosa.shape<1>
  %0 = tosa.slice %a, %s, %n : (tensor<4xf32>, !tosa.shape<1>, !tosa.shape<1>) -> tensor<3xf32>
  return
}
// -----
// wrong: a pad of another rank
func.func @f(%a: tensor<4xf32>, %c: tensor<1xf32>) {
  %s = tosa.const_shape {values = dense<[1, 1, 1, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.pad %a, %s, %c : (tensor<4xf32>, !tosa.shape<4>, tensor<1xf32>) -> tensor<6xf32>
  return
}
// -----
// right, refused here: a tile of another size
func.func @f(%a: tensor<4xf32>) {
  %s = tosa.const_shape {values = dense<[2]> : tensor<1xindex>} : () -> !tosa.shape<1>
  %0 = tosa.tile %a, %s : (tensor<4xf32>, !tosa.shape<1>) -> tensor<9xf32>
  return
}
// -----
// wrong: a gather of another number of rows
func.func @f(%a: tensor<2x4x5xf32>, %i: tensor<3x6xi32>) {
  %0 = tosa.gather %a, %i : (tensor<2x4x5xf32>, tensor<3x6xi32>) -> tensor<2x6x5xf32>
  return
}
// -----
// right, refused here: a table for bytes has 256 entries
func.func @f(%a: tensor<4xi8>, %t: tensor<255xi8>) {
  %0 = tosa.table %a, %t : (tensor<4xi8>, tensor<255xi8>) -> tensor<4xi8>
  return
}
// -----
// wrong: a select of shapes that do not broadcast
func.func @f(%c: tensor<2xi1>, %a: tensor<3xf32>) {
  %0 = tosa.select %c, %a, %a : (tensor<2xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}
// -----
// wrong: a condition of a loop gives a bool
func.func @f(%a: tensor<i32>) {
  %0 = tosa.while_loop (%x = %a) : (tensor<i32>) -> tensor<i32> {
    tosa.yield %x : tensor<i32>
  } do {
  ^bb0(%x: tensor<i32>):
    tosa.yield %x : tensor<i32>
  }
  return
}
// -----
// wrong: both branches yield the results
func.func @f(%c: tensor<i1>, %a: tensor<f32>) {
  %0 = tosa.cond_if %c : tensor<i1> -> tensor<f32> {
    tosa.yield %a : tensor<f32>
  } else {
    tosa.yield %a, %a : tensor<f32>, tensor<f32>
  }
  return
}
// -----
// wrong: the shift of a product of floats is zero
func.func @f(%a: tensor<4xf32>, %s: tensor<1xi32>) {
  %0 = "tosa.mul"(%a, %a, %s) : (tensor<4xf32>, tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
  return
}
// -----
// wrong: a constant's type is that of its values
%0 = "tosa.const"() <{values = dense<1.0> : tensor<4xf32>}> : () -> tensor<5xf32>
// -----
// wrong: a constant shape has as many values as its rank
%0 = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<1>
// -----
// wrong: the multiplier and shift of a rescale have one size
func.func @f(%a: tensor<4xi8>, %m: tensor<1xi32>, %s: tensor<2xi8>, %z: tensor<1xi8>) {
  %0 = tosa.rescale %a, %m, %s, %z, %z {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<4xi8>, tensor<1xi32>, tensor<2xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<4xi8>
  return
}
// -----
// right, refused here: a rescale to another static shape
func.func @f(%a: tensor<4xi8>, %m: tensor<1xi32>, %s: tensor<1xi8>, %z: tensor<1xi8>) {
  %0 = tosa.rescale %a, %m, %s, %z, %z {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<4xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x3xi8>
  return
}
// -----
// right, refused here: a rescale keeps its shape
func.func @f(%a: tensor<4xi8>, %m: tensor<1xi32>, %s: tensor<1xi8>, %z: tensor<1xi8>) {
  %0 = tosa.rescale %a, %m, %s, %z, %z {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<4xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<?x3xi8>
  return
}
// -----
// wrong: a reverse along an axis that does not exist
func.func @f(%a: tensor<4xf32>) {
  %0 = tosa.reverse %a {axis = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
// wrong: a cast to another shape
func.func @f(%a: tensor<4xf32>) {
  %0 = tosa.cast %a : (tensor<4xf32>) -> tensor<5xi32>
  return
}
// -----
// wrong: a variable that does not exist
func.func @f() {
  %0 = tosa.variable_read @v : tensor<4xf32>
  return
}
// -----
// wrong: a variable is read with its type
tosa.variable @v = dense<1.0> : tensor<4xf32>
func.func @f() {
  %0 = tosa.variable_read @v : tensor<5xf32>
  return
}
// -----
// wrong: a constant of a dynamic shape
%0 = "tosa.const"() <{values = dense<1.0> : tensor<4xf32>}> : () -> tensor<?xf32>
// -----
// wrong: a reshape by a constant shape of other elements
func.func @f(%a: tensor<2x3xf32>) {
  %s = tosa.const_shape {values = dense<[7]> : tensor<1xindex>} : () -> !tosa.shape<1>
  %0 = tosa.reshape %a, %s : (tensor<2x3xf32>, !tosa.shape<1>) -> tensor<?xf32>
  return
}
// -----
// wrong: a pooling whose windows do not end at the edge
func.func @f(%a: tensor<1x4x4x1xf32>) {
  %0 = "tosa.max_pool2d"(%a) {kernel = array<i64: 2, 2>, pad = array<i64: 0, 1, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x1xf32>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// wrong: a convolution whose windows do not end at the edge
func.func @f(%x: tensor<1x8x8x3xf32>, %w: tensor<4x2x2x3xf32>, %b: tensor<4xf32>, %z: tensor<1xf32>) {
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, pad = array<i64: 0, 0, 1, 0>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>} : (tensor<1x8x8x3xf32>, tensor<4x2x2x3xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x4xf32>
  return
}
// -----
// wrong: a depthwise convolution whose windows do not end at the edge
func.func @f(%x: tensor<1x8x8x3xf32>, %w: tensor<2x2x3x1xf32>, %b: tensor<3xf32>, %z: tensor<1xf32>) {
  %0 = tosa.depthwise_conv2d %x, %w, %b, %z, %z {acc_type = f32, pad = array<i64: 0, 1, 0, 0>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>} : (tensor<1x8x8x3xf32>, tensor<2x2x3x1xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x3xf32>
  return
}
// -----
// wrong: the accumulator of a pooling
func.func @f(%x: tensor<1x8x8x3xi8>, %z: tensor<1xi8>) {
  %0 = tosa.avg_pool2d %x, %z, %z {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x8x8x3xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x4x3xi8>
  return
}
// -----
// right
func.func @f(%x: tensor<1x8x8x3x!quant.uniform<i8:f32, 1.0>>, %z: tensor<1xi8>) {
  %0 = tosa.avg_pool2d %x, %z, %z {acc_type = i32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x8x8x3x!quant.uniform<i8:f32, 1.0>>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x4x3x!quant.uniform<i8:f32, 1.0>>
  return
}
