// tosa.conv2d
func.func @main(%input: tensor<1x3x3x1xf32>, %weight: tensor<1x2x2x1xf32>, %bias: tensor<1xf32>) -> tensor<1x2x2x1xf32> {
  %input_zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %weight_zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %output = tosa.conv2d %input, %weight, %bias, %input_zp, %weight_zp {acc_type = f32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x3x3x1xf32>, tensor<1x2x2x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  return %output : tensor<1x2x2x1xf32>
}
// -----
// tosa.depthwise_conv2d
func.func @main(%input: tensor<1x3x3x1xf32>, %weight: tensor<2x2x1x2xf32>, %bias: tensor<2xf32>) -> tensor<1x2x2x2xf32> {
  %input_zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %weight_zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %output = tosa.depthwise_conv2d %input, %weight, %bias, %input_zp, %weight_zp {acc_type = f32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x3x3x1xf32>, tensor<2x2x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>
  return %output : tensor<1x2x2x2xf32>
}
// -----
// tosa.conv3d
func.func @main(%input: tensor<1x2x3x3x1xf32>, %weight: tensor<1x2x2x2x1xf32>, %bias: tensor<1xf32>) -> tensor<1x1x2x2x1xf32> {
  %input_zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %weight_zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %output = tosa.conv3d %input, %weight, %bias, %input_zp, %weight_zp {acc_type = f32, pad = array<i64: 0, 0, 0, 0, 0, 0>, stride = array<i64: 1, 1, 1>, dilation = array<i64: 1, 1, 1>} : (tensor<1x2x3x3x1xf32>, tensor<1x2x2x2x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2x2x1xf32>
  return %output : tensor<1x1x2x2x1xf32>
}
// -----
// tosa.transpose_conv2d
func.func @main(%input: tensor<1x2x2x1xf32>, %weight: tensor<1x2x2x1xf32>, %bias: tensor<1xf32>) -> tensor<1x3x3x1xf32> {
  %input_zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %weight_zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %output = tosa.transpose_conv2d %input, %weight, %bias, %input_zp, %weight_zp {acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3x1xf32>
  return %output : tensor<1x3x3x1xf32>
}
// -----
// tosa.matmul
func.func @main(%a: tensor<1x2x3xf32>, %b: tensor<1x3x2xf32>) -> tensor<1x2x2xf32> {
  %a_zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %b_zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %output = tosa.matmul %a, %b, %a_zp, %b_zp : (tensor<1x2x3xf32>, tensor<1x3x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2xf32>
  return %output : tensor<1x2x2xf32>
}
// -----
// tosa.avg_pool2d
func.func @main(%input: tensor<1x2x4x1xf32>) -> tensor<1x1x2x1xf32> {
  %input_zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %output_zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %output = tosa.avg_pool2d %input, %input_zp, %output_zp {acc_type = f32, kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>} : (tensor<1x2x4x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2x1xf32>
  return %output : tensor<1x1x2x1xf32>
}
// -----
// tosa.max_pool2d
func.func @main(%input: tensor<1x2x4x1xf32>) -> tensor<1x1x2x1xf32> {
  %output = tosa.max_pool2d %input {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>} : (tensor<1x2x4x1xf32>) -> tensor<1x1x2x1xf32>
  return %output : tensor<1x1x2x1xf32>
}
// -----
// tosa.fft2d
func.func @main(%input_real: tensor<1x2x2xf32>, %input_imag: tensor<1x2x2xf32>) -> (tensor<1x2x2xf32>, tensor<1x2x2xf32>) {
  %output_real, %output_imag = tosa.fft2d %input_real, %input_imag {inverse = false} : (tensor<1x2x2xf32>, tensor<1x2x2xf32>) -> (tensor<1x2x2xf32>, tensor<1x2x2xf32>)
  return %output_real, %output_imag : tensor<1x2x2xf32>, tensor<1x2x2xf32>
}
// -----
// tosa.rfft2d
func.func @main(%input_real: tensor<1x2x4xf32>) -> (tensor<1x2x3xf32>, tensor<1x2x3xf32>) {
  %output_real, %output_imag = tosa.rfft2d %input_real : (tensor<1x2x4xf32>) -> (tensor<1x2x3xf32>, tensor<1x2x3xf32>)
  return %output_real, %output_imag : tensor<1x2x3xf32>, tensor<1x2x3xf32>
}
// -----
// tosa.mul
func.func @main(%input1: tensor<4xf32>, %input2: tensor<4xf32>) -> tensor<4xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %output = tosa.mul %input1, %input2, %shift : (tensor<4xf32>, tensor<4xf32>, tensor<1xi8>) -> tensor<4xf32>
  return %output : tensor<4xf32>
}
// -----
// tosa.negate
func.func @main(%input1: tensor<4xf32>) -> tensor<4xf32> {
  %input1_zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %output_zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %output = tosa.negate %input1, %input1_zp, %output_zp : (tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4xf32>
  return %output : tensor<4xf32>
}
// -----
// tosa.bitwise_and
func.func @main(%input1: tensor<4xi32>, %input2: tensor<4xi32>) -> tensor<4xi32> {
  %output = tosa.bitwise_and %input1, %input2 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %output : tensor<4xi32>
}
// -----
// tosa.bitwise_or
func.func @main(%input1: tensor<4xi32>, %input2: tensor<4xi32>) -> tensor<4xi32> {
  %output = tosa.bitwise_or %input1, %input2 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %output : tensor<4xi32>
}
// -----
// tosa.bitwise_xor
func.func @main(%input1: tensor<4xi32>, %input2: tensor<4xi32>) -> tensor<4xi32> {
  %output = tosa.bitwise_xor %input1, %input2 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %output : tensor<4xi32>
}
// -----
// tosa.logical_left_shift
func.func @main(%input1: tensor<4xi32>, %input2: tensor<4xi32>) -> tensor<4xi32> {
  %output = tosa.logical_left_shift %input1, %input2 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %output : tensor<4xi32>
}
// -----
// tosa.logical_right_shift
func.func @main(%input1: tensor<4xi32>, %input2: tensor<4xi32>) -> tensor<4xi32> {
  %output = tosa.logical_right_shift %input1, %input2 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %output : tensor<4xi32>
}
// -----
// tosa.arithmetic_right_shift
func.func @main(%input1: tensor<4xi32>, %input2: tensor<4xi32>) -> tensor<4xi32> {
  %output = tosa.arithmetic_right_shift %input1, %input2 {round = false} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %output : tensor<4xi32>
}
// -----
// tosa.bitwise_not
func.func @main(%input1: tensor<4xi32>) -> tensor<4xi32> {
  %output = tosa.bitwise_not %input1 : (tensor<4xi32>) -> tensor<4xi32>
  return %output : tensor<4xi32>
}
// -----
// tosa.reduce_all
func.func @main(%input: tensor<2x3xi1>) -> tensor<2x1xi1> {
  %output = tosa.reduce_all %input {axis = 1 : i32} : (tensor<2x3xi1>) -> tensor<2x1xi1>
  return %output : tensor<2x1xi1>
}
// -----
// tosa.reduce_any
func.func @main(%input: tensor<2x3xi1>) -> tensor<2x1xi1> {
  %output = tosa.reduce_any %input {axis = 1 : i32} : (tensor<2x3xi1>) -> tensor<2x1xi1>
  return %output : tensor<2x1xi1>
}
// -----
// tosa.clamp
func.func @main(%input: tensor<4xf32>) -> tensor<4xf32> {
  %output = tosa.clamp %input {min_val = 0.0 : f32, max_val = 1.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  return %output : tensor<4xf32>
}
// -----
// tosa.pad
func.func @main(%input1: tensor<2x2xf32>) -> tensor<3x3xf32> {
  %padding = tosa.const_shape {values = dense<[0, 1, 1, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %pad_const = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %output = tosa.pad %input1, %padding, %pad_const : (tensor<2x2xf32>, !tosa.shape<4>, tensor<1xf32>) -> tensor<3x3xf32>
  return %output : tensor<3x3xf32>
}
// -----
// tosa.reshape
func.func @main(%input1: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %shape = tosa.const_shape {values = dense<[3, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %output = tosa.reshape %input1, %shape : (tensor<2x3xf32>, !tosa.shape<2>) -> tensor<3x2xf32>
  return %output : tensor<3x2xf32>
}
// -----
// tosa.slice
func.func @main(%input1: tensor<3x3xf32>) -> tensor<2x2xf32> {
  %start = tosa.const_shape {values = dense<[1, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %size = tosa.const_shape {values = dense<[2, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %output = tosa.slice %input1, %start, %size : (tensor<3x3xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x2xf32>
  return %output : tensor<2x2xf32>
}
// -----
// tosa.tile
func.func @main(%input1: tensor<1x3xf32>) -> tensor<2x6xf32> {
  %multiples = tosa.const_shape {values = dense<[2, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %output = tosa.tile %input1, %multiples : (tensor<1x3xf32>, !tosa.shape<2>) -> tensor<2x6xf32>
  return %output : tensor<2x6xf32>
}
// -----
// tosa.gather
func.func @main(%values: tensor<1x3x2xf32>) -> tensor<1x2x2xf32> {
  %indices = "tosa.const"() <{values = dense<[[2, 0]]> : tensor<1x2xi32>}> : () -> tensor<1x2xi32>
  %output = tosa.gather %values, %indices : (tensor<1x3x2xf32>, tensor<1x2xi32>) -> tensor<1x2x2xf32>
  return %output : tensor<1x2x2xf32>
}
// -----
// tosa.scatter
func.func @main(%values_in: tensor<1x3x2xf32>, %input: tensor<1x2x2xf32>) -> tensor<1x3x2xf32> {
  %indices = "tosa.const"() <{values = dense<[[2, 0]]> : tensor<1x2xi32>}> : () -> tensor<1x2xi32>
  %output = tosa.scatter %values_in, %indices, %input : (tensor<1x3x2xf32>, tensor<1x2xi32>, tensor<1x2x2xf32>) -> tensor<1x3x2xf32>
  return %output : tensor<1x3x2xf32>
}
// -----
// tosa.transpose
func.func @main(%input1: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %output = tosa.transpose %input1 {perms = array<i32: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %output : tensor<3x2xf32>
}
// -----
// tosa.apply_scale
func.func @main(%value: tensor<4xi32>) -> tensor<4xi32> {
  %multiplier = "tosa.const"() <{values = dense<1073741824> : tensor<4xi32>}> : () -> tensor<4xi32>
  %shift = "tosa.const"() <{values = dense<31> : tensor<4xi8>}> : () -> tensor<4xi8>
  %output = tosa.apply_scale %value, %multiplier, %shift {rounding_mode = SINGLE_ROUND} : (tensor<4xi32>, tensor<4xi32>, tensor<4xi8>) -> tensor<4xi32>
  return %output : tensor<4xi32>
}
// -----
// tosa.rescale
func.func @main(%input: tensor<4xi32>) -> tensor<4xi8> {
  %multiplier = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %shift = "tosa.const"() <{values = dense<31> : tensor<1xi8>}> : () -> tensor<1xi8>
  %input_zp = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %output_zp = "tosa.const"() <{values = dense<1> : tensor<1xi8>}> : () -> tensor<1xi8>
  %output = tosa.rescale %input, %multiplier, %shift, %input_zp, %output_zp {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<4xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<4xi8>
  return %output : tensor<4xi8>
}
// -----
// tosa.table
func.func @main(%input1: tensor<4xi8>) -> tensor<4xi8> {
  %table = "tosa.const"() <{values = dense<3> : tensor<256xi8>}> : () -> tensor<256xi8>
  %output = tosa.table %input1, %table : (tensor<4xi8>, tensor<256xi8>) -> tensor<4xi8>
  return %output : tensor<4xi8>
}
// -----
// tosa.resize
func.func @main(%input: tensor<1x2x2x1xf32>) -> tensor<1x4x4x1xf32> {
  %scale = tosa.const_shape {values = dense<[4, 2, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %offset = tosa.const_shape {values = dense<[0, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %border = tosa.const_shape {values = dense<[2, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %output = tosa.resize %input, %scale, %offset, %border {mode = BILINEAR} : (tensor<1x2x2x1xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x4x4x1xf32>
  return %output : tensor<1x4x4x1xf32>
}
// -----
// tosa.add_shape
func.func @main() -> !tosa.shape<2> {
  %lhs = tosa.const_shape {values = dense<[7, 6]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %rhs = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %shape = tosa.add_shape %lhs, %rhs : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  return %shape : !tosa.shape<2>
}
// -----
// tosa.sub_shape
func.func @main() -> !tosa.shape<2> {
  %lhs = tosa.const_shape {values = dense<[7, 6]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %rhs = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %shape = tosa.sub_shape %lhs, %rhs : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  return %shape : !tosa.shape<2>
}
// -----
// tosa.mul_shape
func.func @main() -> !tosa.shape<2> {
  %lhs = tosa.const_shape {values = dense<[7, 6]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %rhs = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %shape = tosa.mul_shape %lhs, %rhs : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  return %shape : !tosa.shape<2>
}
// -----
// tosa.div_ceil_shape
func.func @main() -> !tosa.shape<2> {
  %lhs = tosa.const_shape {values = dense<[7, 6]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %rhs = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %shape = tosa.div_ceil_shape %lhs, %rhs : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  return %shape : !tosa.shape<2>
}
// -----
// tosa.div_floor_shape
func.func @main() -> !tosa.shape<2> {
  %lhs = tosa.const_shape {values = dense<[7, 6]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %rhs = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %shape = tosa.div_floor_shape %lhs, %rhs : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  return %shape : !tosa.shape<2>
}
// -----
// tosa.max_shape
func.func @main() -> !tosa.shape<2> {
  %lhs = tosa.const_shape {values = dense<[7, 6]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %rhs = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %shape = tosa.max_shape %lhs, %rhs : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  return %shape : !tosa.shape<2>
}
// -----
// tosa.min_shape
func.func @main() -> !tosa.shape<2> {
  %lhs = tosa.const_shape {values = dense<[7, 6]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %rhs = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %shape = tosa.min_shape %lhs, %rhs : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  return %shape : !tosa.shape<2>
}
// -----
// tosa.mod_shape
func.func @main() -> !tosa.shape<2> {
  %lhs = tosa.const_shape {values = dense<[7, 6]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %rhs = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %shape = tosa.mod_shape %lhs, %rhs : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  return %shape : !tosa.shape<2>
}
// -----
// tosa.exp2_shape
func.func @main() -> !tosa.shape<2> {
  %input = tosa.const_shape {values = dense<[3, 6]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %shape = tosa.exp2_shape %input : (!tosa.shape<2>) -> !tosa.shape<2>
  return %shape : !tosa.shape<2>
}
// -----
// tosa.log2_ceil_shape
func.func @main() -> !tosa.shape<2> {
  %input = tosa.const_shape {values = dense<[3, 6]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %shape = tosa.log2_ceil_shape %input : (!tosa.shape<2>) -> !tosa.shape<2>
  return %shape : !tosa.shape<2>
}
// -----
// tosa.log2_floor_shape
func.func @main() -> !tosa.shape<2> {
  %input = tosa.const_shape {values = dense<[3, 6]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %shape = tosa.log2_floor_shape %input : (!tosa.shape<2>) -> !tosa.shape<2>
  return %shape : !tosa.shape<2>
}
// -----
// tosa.concat_shape
func.func @main() -> !tosa.shape<3> {
  %first = tosa.const_shape {values = dense<[2]> : tensor<1xindex>} : () -> !tosa.shape<1>
  %second = tosa.const_shape {values = dense<[3, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %shape = tosa.concat_shape %first, %second : (!tosa.shape<1>, !tosa.shape<2>) -> !tosa.shape<3>
  return %shape : !tosa.shape<3>
}
// -----
// tosa.slice_shape
func.func @main() -> !tosa.shape<2> {
  %input = tosa.const_shape {values = dense<[2, 3, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %start = "tosa.const"() <{values = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
  %size = "tosa.const"() <{values = dense<2> : tensor<1xi32>}> : () -> tensor<1xi32>
  %shape = tosa.slice_shape %input, %start, %size : (!tosa.shape<3>, tensor<1xi32>, tensor<1xi32>) -> !tosa.shape<2>
  return %shape : !tosa.shape<2>
}
// -----
// tosa.const_shape
func.func @main() -> !tosa.shape<2> {
  %shape = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  return %shape : !tosa.shape<2>
}
// -----
// tosa.cond_if tosa.yield
func.func @main(%condition: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %output = tosa.cond_if %condition : tensor<i1> -> tensor<2xf32> {
    %sum = tosa.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    tosa.yield %sum : tensor<2xf32>
  } else {
    tosa.yield %x : tensor<2xf32>
  }
  return %output : tensor<2xf32>
}
// -----
// tosa.while_loop
func.func @main() -> tensor<i32> {
  %start = "tosa.const"() <{values = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %limit = "tosa.const"() <{values = dense<100> : tensor<i32>}> : () -> tensor<i32>
  %output = tosa.while_loop (%n = %start) : (tensor<i32>) -> tensor<i32> {
    %is_greater = tosa.greater %limit, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tosa.yield %is_greater : tensor<i1>
  } do {
  ^bb0(%n: tensor<i32>):
    %next = tosa.add %n, %n : (tensor<i32>, tensor<i32>) -> tensor<i32>
    tosa.yield %next : tensor<i32>
  }
  return %output : tensor<i32>
}
// -----
// tosa.variable tosa.variable_read tosa.variable_write
tosa.variable @total = dense<0.0> : tensor<2xf32>
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %before = tosa.variable_read @total : tensor<2xf32>
  %after = tosa.add %before, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tosa.variable_write @total, %after : tensor<2xf32>
  return %after : tensor<2xf32>
}
// -----
// tosa.custom
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %output = tosa.custom %x {domain_name = "my_domain", operator_name = "my_op", implementation_attrs = ""} : (tensor<2xf32>) -> tensor<2xf32>
  return %output : tensor<2xf32>
}
// -----
// tosa.cast_from_block_scaled
func.func @main(%input: tensor<1x32xf8E4M3FN>) -> tensor<1x32xf32> {
  %scale = "tosa.const"() <{values = dense<2.0> : tensor<1x1xf8E8M0FNU>}> : () -> tensor<1x1xf8E8M0FNU>
  %output = tosa.cast_from_block_scaled %input, %scale {block_size = BLOCK_SIZE_32} : (tensor<1x32xf8E4M3FN>, tensor<1x1xf8E8M0FNU>) -> tensor<1x32xf32>
  return %output : tensor<1x32xf32>
}
// -----
// tosa.cast_to_block_scaled
func.func @main(%input: tensor<1x32xf32>) -> (tensor<1x32xf8E4M3FN>, tensor<1x1xf8E8M0FNU>) {
  %output, %scale = tosa.cast_to_block_scaled %input {block_size = BLOCK_SIZE_32} : (tensor<1x32xf32>) -> (tensor<1x32xf8E4M3FN>, tensor<1x1xf8E8M0FNU>)
  return %output, %scale : tensor<1x32xf8E4M3FN>, tensor<1x1xf8E8M0FNU>
}
// -----
// tosa.matmul_t_block_scaled
func.func @main(%a: tensor<1x2x32xf8E4M3FN>, %b: tensor<1x2x32xf8E4M3FN>) -> tensor<1x2x2xf32> {
  %scale = "tosa.const"() <{values = dense<2.0> : tensor<1x2x1xf8E8M0FNU>}> : () -> tensor<1x2x1xf8E8M0FNU>
  %output = tosa.matmul_t_block_scaled %a, %scale, %b, %scale {block_size = BLOCK_SIZE_32} : (tensor<1x2x32xf8E4M3FN>, tensor<1x2x1xf8E8M0FNU>, tensor<1x2x32xf8E4M3FN>, tensor<1x2x1xf8E8M0FNU>) -> tensor<1x2x2xf32>
  return %output : tensor<1x2x2xf32>
}
