// stablehlo.dot_general
func.func @main(%lhs: tensor<2x2x3xf32>, %rhs: tensor<2x3x2xf32>) -> tensor<2x2x2xf32> {
  %result = stablehlo.dot_general %lhs, %rhs, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x2x3xf32>, tensor<2x3x2xf32>) -> tensor<2x2x2xf32>
  return %result : tensor<2x2x2xf32>
}
// -----
// stablehlo.convolution
func.func @main(%lhs: tensor<1x3x3x1xf32>, %rhs: tensor<2x2x1x1xf32>) -> tensor<1x2x2x1xf32> {
  %result = stablehlo.convolution(%lhs, %rhs) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x3x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x2x1xf32>
  return %result : tensor<1x2x2x1xf32>
}
// -----
// stablehlo.dynamic_conv
func.func @main(%lhs: tensor<1x3x3x1xf32>, %rhs: tensor<2x2x1x1xf32>) -> tensor<1x3x3x1xf32> {
  %padding = stablehlo.constant dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>
  %result = "stablehlo.dynamic_conv"(%lhs, %rhs, %padding) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64}> : (tensor<1x3x3x1xf32>, tensor<2x2x1x1xf32>, tensor<2x2xi64>) -> tensor<1x3x3x1xf32>
  return %result : tensor<1x3x3x1xf32>
}
// -----
// stablehlo.gather
func.func @main(%operand: tensor<3x2xf32>) -> tensor<2x2xf32> {
  %indices = stablehlo.constant dense<[2, 0]> : tensor<2xi32>
  %result = "stablehlo.gather"(%operand, %indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
  return %result : tensor<2x2xf32>
}
// -----
// stablehlo.dynamic_gather
func.func @main(%operand: tensor<3x2xf32>) -> tensor<2x2xf32> {
  %indices = stablehlo.constant dense<[2, 0]> : tensor<2xi32>
  %sizes = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %result = "stablehlo.dynamic_gather"(%operand, %indices, %sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x2xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
  return %result : tensor<2x2xf32>
}
// -----
// stablehlo.scatter
func.func @main(%input: tensor<3x2xf32>, %updates: tensor<2x2xf32>) -> tensor<3x2xf32> {
  %indices = stablehlo.constant dense<[2, 0]> : tensor<2xi32>
  %result = "stablehlo.scatter"(%input, %indices, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%before: tensor<f32>, %update: tensor<f32>):
    %sum = stablehlo.add %before, %update : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<3x2xf32>, tensor<2xi32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  return %result : tensor<3x2xf32>
}
// -----
// stablehlo.reduce stablehlo.return
func.func @main(%input: tensor<2x3xf32>) -> tensor<2xf32> {
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %result = stablehlo.reduce(%input init: %init) across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
   reducer(%lhs: tensor<f32>, %rhs: tensor<f32>) {
    %sum = stablehlo.add %lhs, %rhs : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }
  return %result : tensor<2xf32>
}
// -----
// stablehlo.reduce_window
func.func @main(%input: tensor<2x4xf32>) -> tensor<2x2xf32> {
  %init = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %result = "stablehlo.reduce_window"(%input, %init) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%lhs: tensor<f32>, %rhs: tensor<f32>):
    %larger = stablehlo.maximum %lhs, %rhs : tensor<f32>
    stablehlo.return %larger : tensor<f32>
  }) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x2xf32>
  return %result : tensor<2x2xf32>
}
// -----
// stablehlo.select_and_scatter
func.func @main(%operand: tensor<4xf32>, %source: tensor<2xf32>) -> tensor<4xf32> {
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %result = "stablehlo.select_and_scatter"(%operand, %source, %init) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%lhs: tensor<f32>, %rhs: tensor<f32>):
    %is_larger = stablehlo.compare GE, %lhs, %rhs : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %is_larger : tensor<i1>
  }, {
  ^bb0(%lhs: tensor<f32>, %rhs: tensor<f32>):
    %sum = stablehlo.add %lhs, %rhs : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  return %result : tensor<4xf32>
}
// -----
// stablehlo.sort
func.func @main(%input: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %result = "stablehlo.sort"(%input) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%lhs: tensor<f32>, %rhs: tensor<f32>):
    %is_less = stablehlo.compare LT, %lhs, %rhs : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %is_less : tensor<i1>
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %result : tensor<2x3xf32>
}
// -----
// stablehlo.map
func.func @main(%input: tensor<4xf32>) -> tensor<4xf32> {
  %result = "stablehlo.map"(%input) <{dimensions = array<i64: 0>}> ({
  ^bb0(%element: tensor<f32>):
    %product = stablehlo.multiply %element, %element : tensor<f32>
    stablehlo.return %product : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %result : tensor<4xf32>
}
// -----
// stablehlo.if
func.func @main(%pred: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %result = "stablehlo.if"(%pred) ({
    %sum = stablehlo.add %x, %x : tensor<2xf32>
    stablehlo.return %sum : tensor<2xf32>
  }, {
    stablehlo.return %x : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  return %result : tensor<2xf32>
}
// -----
// stablehlo.case
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %index = stablehlo.constant dense<1> : tensor<i32>
  %result = "stablehlo.case"(%index) ({
    stablehlo.return %x : tensor<2xf32>
  }, {
    %negative = stablehlo.negate %x : tensor<2xf32>
    stablehlo.return %negative : tensor<2xf32>
  }) : (tensor<i32>) -> tensor<2xf32>
  return %result : tensor<2xf32>
}
// -----
// stablehlo.while
func.func @main() -> tensor<i32> {
  %start = stablehlo.constant dense<1> : tensor<i32>
  %limit = stablehlo.constant dense<100> : tensor<i32>
  %result = stablehlo.while(%n = %start) : tensor<i32>
  cond {
    %is_less = stablehlo.compare LT, %n, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %is_less : tensor<i1>
  } do {
    %next = stablehlo.add %n, %n : tensor<i32>
    stablehlo.return %next : tensor<i32>
  }
  return %result : tensor<i32>
}
// -----
// stablehlo.composite
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %result = stablehlo.composite "my.twice" %x {decomposition = @twice} : (tensor<2xf32>) -> tensor<2xf32>
  return %result : tensor<2xf32>
}
func.func private @twice(%x: tensor<2xf32>) -> tensor<2xf32> {
  %sum = stablehlo.add %x, %x : tensor<2xf32>
  return %sum : tensor<2xf32>
}
// -----
// stablehlo.custom_call
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %result = stablehlo.custom_call @my_kernel(%x) {backend_config = "fast"} : (tensor<2xf32>) -> tensor<2xf32>
  return %result : tensor<2xf32>
}
// -----
// stablehlo.tuple stablehlo.get_tuple_element
func.func @main(%x: tensor<2xf32>, %y: tensor<f32>) -> tensor<f32> {
  %tuple = stablehlo.tuple %x, %y : tuple<tensor<2xf32>, tensor<f32>>
  %result = stablehlo.get_tuple_element %tuple[1] : (tuple<tensor<2xf32>, tensor<f32>>) -> tensor<f32>
  return %result : tensor<f32>
}
// -----
// stablehlo.optimization_barrier
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %result = stablehlo.optimization_barrier %x : tensor<2xf32>
  return %result : tensor<2xf32>
}
// -----
// stablehlo.clamp
func.func @main(%operand: tensor<4xf32>) -> tensor<4xf32> {
  %min = stablehlo.constant dense<0.0> : tensor<f32>
  %max = stablehlo.constant dense<1.0> : tensor<f32>
  %result = stablehlo.clamp %min, %operand, %max : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %result : tensor<4xf32>
}
// -----
// stablehlo.compare
func.func @main(%lhs: tensor<4xf32>, %rhs: tensor<4xf32>) -> tensor<4xi1> {
  %result = stablehlo.compare LT, %lhs, %rhs : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %result : tensor<4xi1>
}
// -----
// stablehlo.cholesky
func.func @main() -> tensor<2x2xf32> {
  %a = stablehlo.constant dense<[[4.0, 2.0], [2.0, 5.0]]> : tensor<2x2xf32>
  %result = stablehlo.cholesky %a, lower = true : tensor<2x2xf32>
  return %result : tensor<2x2xf32>
}
// -----
// stablehlo.triangular_solve
func.func @main(%b: tensor<2x1xf32>) -> tensor<2x1xf32> {
  %a = stablehlo.constant dense<[[2.0, 0.0], [1.0, 4.0]]> : tensor<2x2xf32>
  %result = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  return %result : tensor<2x1xf32>
}
// -----
// stablehlo.fft
func.func @main(%operand: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %result = stablehlo.fft %operand, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %result : tensor<4xcomplex<f32>>
}
// -----
// stablehlo.batch_norm_inference
func.func @main(%operand: tensor<2x3xf32>, %scale: tensor<3xf32>, %offset: tensor<3xf32>) -> tensor<2x3xf32> {
  %mean = stablehlo.constant dense<[1.0, 0.0, 0.5]> : tensor<3xf32>
  %variance = stablehlo.constant dense<[1.0, 4.0, 2.0]> : tensor<3xf32>
  %result = "stablehlo.batch_norm_inference"(%operand, %scale, %offset, %mean, %variance) <{epsilon = 1.0e-03 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %result : tensor<2x3xf32>
}
// -----
// stablehlo.rng
func.func @main() -> tensor<2x3xf32> {
  %min = stablehlo.constant dense<0.0> : tensor<f32>
  %max = stablehlo.constant dense<1.0> : tensor<f32>
  %shape = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %result = stablehlo.rng %min, %max, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %result : tensor<2x3xf32>
}
// -----
// stablehlo.rng_bit_generator
func.func @main(%state: tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>) {
  %next, %bits = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  return %next, %bits : tensor<2xui64>, tensor<4xui32>
}
// -----
// stablehlo.dynamic_iota
func.func @main() -> tensor<2x3xi32> {
  %shape = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %result = stablehlo.dynamic_iota %shape, dim = 1 : (tensor<2xi64>) -> tensor<2x3xi32>
  return %result : tensor<2x3xi32>
}
// -----
// stablehlo.dynamic_reshape
func.func @main(%operand: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %shape = stablehlo.constant dense<[3, 2]> : tensor<2xi64>
  %result = stablehlo.dynamic_reshape %operand, %shape : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<3x2xf32>
  return %result : tensor<3x2xf32>
}
// -----
// stablehlo.dynamic_broadcast_in_dim
func.func @main(%operand: tensor<3xf32>) -> tensor<2x3xf32> {
  %shape = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %result = stablehlo.dynamic_broadcast_in_dim %operand, %shape, dims = [1] : (tensor<3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %result : tensor<2x3xf32>
}
// -----
// stablehlo.dynamic_pad
func.func @main(%operand: tensor<3xf32>, %value: tensor<f32>) -> tensor<6xf32> {
  %low = stablehlo.constant dense<1> : tensor<1xi64>
  %high = stablehlo.constant dense<2> : tensor<1xi64>
  %interior = stablehlo.constant dense<0> : tensor<1xi64>
  %result = stablehlo.dynamic_pad %operand, %value, %low, %high, %interior : (tensor<3xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<6xf32>
  return %result : tensor<6xf32>
}
// -----
// stablehlo.real_dynamic_slice
func.func @main(%operand: tensor<6xf32>) -> tensor<2xf32> {
  %start = stablehlo.constant dense<1> : tensor<1xi64>
  %limit = stablehlo.constant dense<5> : tensor<1xi64>
  %strides = stablehlo.constant dense<2> : tensor<1xi64>
  %result = stablehlo.real_dynamic_slice %operand, %start, %limit, %strides : (tensor<6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>
  return %result : tensor<2xf32>
}
// -----
// stablehlo.dynamic_slice
func.func @main(%operand: tensor<3x4xf32>) -> tensor<2x2xf32> {
  %row = stablehlo.constant dense<1> : tensor<i32>
  %column = stablehlo.constant dense<0> : tensor<i32>
  %result = stablehlo.dynamic_slice %operand, %row, %column, sizes = [2, 2] : (tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
  return %result : tensor<2x2xf32>
}
// -----
// stablehlo.dynamic_update_slice
func.func @main(%operand: tensor<3x4xf32>, %update: tensor<2x2xf32>) -> tensor<3x4xf32> {
  %row = stablehlo.constant dense<1> : tensor<i32>
  %column = stablehlo.constant dense<0> : tensor<i32>
  %result = stablehlo.dynamic_update_slice %operand, %update, %row, %column : (tensor<3x4xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
  return %result : tensor<3x4xf32>
}
// -----
// stablehlo.torch_index_select
func.func @main(%operand: tensor<3x2xf32>) -> tensor<2x2xf32> {
  %index = stablehlo.constant dense<[2, 0]> : tensor<2xi32>
  %result = "stablehlo.torch_index_select"(%operand, %index) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
  return %result : tensor<2x2xf32>
}
// -----
// stablehlo.create_token stablehlo.after_all
func.func @main() -> !stablehlo.token {
  %first = stablehlo.create_token : !stablehlo.token
  %second = stablehlo.create_token : !stablehlo.token
  %both = stablehlo.after_all %first, %second : !stablehlo.token
  return %both : !stablehlo.token
}
// -----
// stablehlo.all_gather
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x4xf32> {
  %result = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x2xf32>) -> tensor<2x4xf32>
  return %result : tensor<2x4xf32>
}
// -----
// stablehlo.all_reduce
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %result = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%lhs: tensor<f32>, %rhs: tensor<f32>):
    %sum = stablehlo.add %lhs, %rhs : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %result : tensor<2x2xf32>
}
// -----
// stablehlo.reduce_scatter
func.func @main(%x: tensor<4x2xf32>) -> tensor<2x2xf32> {
  %result = "stablehlo.reduce_scatter"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}> ({
  ^bb0(%lhs: tensor<f32>, %rhs: tensor<f32>):
    %sum = stablehlo.add %lhs, %rhs : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<4x2xf32>) -> tensor<2x2xf32>
  return %result : tensor<2x2xf32>
}
// -----
// stablehlo.all_to_all
func.func @main(%x: tensor<4x2xf32>) -> tensor<2x4xf32> {
  %result = "stablehlo.all_to_all"(%x) <{concat_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4x2xf32>) -> tensor<2x4xf32>
  return %result : tensor<2x4xf32>
}
// -----
// stablehlo.collective_permute
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %result = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %result : tensor<2x2xf32>
}
// -----
// stablehlo.collective_broadcast
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %result = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %result : tensor<2x2xf32>
}
// -----
// stablehlo.cross-replica-sum
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %result = "stablehlo.cross-replica-sum"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %result : tensor<2x2xf32>
}
// -----
// stablehlo.infeed
func.func @main(%token: !stablehlo.token) -> tensor<4xf32> {
  %result, %after = "stablehlo.infeed"(%token) <{infeed_config = ""}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return %result : tensor<4xf32>
}
// -----
// stablehlo.outfeed
func.func @main(%x: tensor<4xf32>, %token: !stablehlo.token) -> !stablehlo.token {
  %after = "stablehlo.outfeed"(%x, %token) <{outfeed_config = ""}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return %after : !stablehlo.token
}
// -----
// stablehlo.send
func.func @main(%x: tensor<4xf32>, %token: !stablehlo.token) -> !stablehlo.token {
  %after = "stablehlo.send"(%x, %token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return %after : !stablehlo.token
}
// -----
// stablehlo.recv
func.func @main(%token: !stablehlo.token) -> tensor<4xf32> {
  %result, %after = "stablehlo.recv"(%token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return %result : tensor<4xf32>
}
// -----
// stablehlo.uniform_quantize stablehlo.uniform_dequantize
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %quantized = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  %result = stablehlo.uniform_dequantize %quantized : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2xf32>
  return %result : tensor<2xf32>
}
// -----
// stablehlo.async_start stablehlo.async_done
func.func @main(%x: tensor<2x2xf32>) -> tensor<1x2xf32> {
  %future = "stablehlo.async_start"(%x) ({
  ^bb0(%operand: tensor<2x2xf32>):
    %row = stablehlo.slice %operand [0:1, 0:2] : (tensor<2x2xf32>) -> tensor<1x2xf32>
    stablehlo.return %row : tensor<1x2xf32>
  }) : (tensor<2x2xf32>) -> !stablehlo.future<tensor<1x2xf32>>
  %result = "stablehlo.async_done"(%future) : (!stablehlo.future<tensor<1x2xf32>>) -> tensor<1x2xf32>
  return %result : tensor<1x2xf32>
}
// -----
// stablehlo.collective_reduce
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %result = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%lhs: tensor<f32>, %rhs: tensor<f32>):
    %sum = stablehlo.add %lhs, %rhs : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %result : tensor<2x2xf32>
}
// -----
// chlo.ragged_dot
func.func @main(%lhs: tensor<4x2xf32>, %rhs: tensor<2x2x3xf32>) -> tensor<4x3xf32> {
  %sizes = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
  %result = "chlo.ragged_dot"(%lhs, %rhs, %sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x2xf32>, tensor<2x2x3xf32>, tensor<2xi32>) -> tensor<4x3xf32>
  return %result : tensor<4x3xf32>
}
// -----
// interpreter.run_parallel
module {
  func.func private @one(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %result = "interpreter.run_parallel"(%x) <{programs = [[@one]]}> : (tensor<2xf32>) -> tensor<2xf32>
    return %result : tensor<2xf32>
  }
}
// -----
// chlo.scan
func.func @main(%x: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>) {
  %start = stablehlo.constant dense<0.0> : tensor<2xf32>
  %sums, %last = chlo.scan(%x) inits(%start) dimension=0 {
  ^bb0(%row: tensor<2xf32>, %before: tensor<2xf32>):
    %sum = stablehlo.add %row, %before : tensor<2xf32>
    stablehlo.return %sum, %sum : tensor<2xf32>, tensor<2xf32>
  } : (tensor<3x2xf32>, tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>)
  return %sums, %last : tensor<3x2xf32>, tensor<2xf32>
}
// -----
// chlo.constant_like
func.func @main(%operand: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %result = "chlo.constant_like"(%operand) <{value = 0.5 : f32}> : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return %result : tensor<4x3xf32>
}
// -----
// chlo.broadcast_compare
func.func @main(%lhs: tensor<4x3xf32>, %rhs: tensor<3xf32>) -> tensor<4x3xi1> {
  %result = chlo.broadcast_compare %lhs, %rhs {compare_type = #chlo<comparison_type FLOAT>, comparison_direction = #chlo<comparison_direction LT>} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xi1>
  return %result : tensor<4x3xi1>
}
