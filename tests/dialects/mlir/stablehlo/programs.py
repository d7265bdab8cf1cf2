# ruff: noqa: E501  an operation stands on one line
"""Programs of stablehlo and chlo, each operation in its forms; written for these tests."""

from __future__ import annotations

ELEMENTWISE = (
    """
func.func @f(%a: tensor<4x3xf32>, %b: tensor<4x3xf32>, %i: tensor<4x3xi32>, %p: tensor<4x3xi1>, %z: tensor<4xcomplex<f32>>,
             %r: tensor<4xf32>, %s: tensor<f32>, %d: tensor<?x3xf32>, %h: tensor<f64>, %q: tensor<i1>) {
"""
    + "".join(
        [
            f"  %u{n} = stablehlo.{op} %a : tensor<4x3xf32>\n"
            for n, op in enumerate(
                (
                    "abs",
                    "cbrt",
                    "ceil",
                    "cosine",
                    "exponential",
                    "exponential_minus_one",
                    "floor",
                    "log",
                    "log_plus_one",
                    "logistic",
                    "negate",
                    "round_nearest_afz",
                    "round_nearest_even",
                    "rsqrt",
                    "sign",
                    "sine",
                    "sqrt",
                    "tan",
                    "tanh",
                )
            )
        ]
        + [
            f"  %b{n} = stablehlo.{op} %a, %b : tensor<4x3xf32>\n"
            for n, op in enumerate(
                (
                    "add",
                    "atan2",
                    "divide",
                    "maximum",
                    "minimum",
                    "multiply",
                    "power",
                    "remainder",
                    "subtract",
                )
            )
        ]
        + [
            f"  %i{n} = stablehlo.{op} %i, %i : tensor<4x3xi32>\n"
            for n, op in enumerate(
                (
                    "and",
                    "or",
                    "xor",
                    "shift_left",
                    "shift_right_arithmetic",
                    "shift_right_logical",
                )
            )
        ]
    )
    + """
  %c0 = stablehlo.not %i : tensor<4x3xi32>
  %c1 = stablehlo.popcnt %i : tensor<4x3xi32>
  %c2 = stablehlo.count_leading_zeros %i : tensor<4x3xi32>
  %c3 = stablehlo.compare LT, %a, %b : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xi1>
  %c4 = stablehlo.compare  GE, %a, %b,  TOTALORDER : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xi1>
  %c5 = stablehlo.select %p, %a, %b : tensor<4x3xi1>, tensor<4x3xf32>
  %c6 = stablehlo.select %q, %a, %b : (tensor<i1>, tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %c7 = stablehlo.clamp %s, %a, %s : (tensor<f32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  %c8 = stablehlo.clamp %a, %a, %b : tensor<4x3xf32>
  %c9 = stablehlo.complex %r, %r : tensor<4xcomplex<f32>>
  %d0 = stablehlo.real %z : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %d1 = stablehlo.imag %z : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %d2 = stablehlo.abs %z : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %d3 = stablehlo.is_finite %a : (tensor<4x3xf32>) -> tensor<4x3xi1>
  %d4 = stablehlo.convert %a : (tensor<4x3xf32>) -> tensor<4x3xi8>
  %d5 = stablehlo.convert %a : tensor<4x3xf32>
  %d6 = stablehlo.bitcast_convert %h : (tensor<f64>) -> tensor<2xi32>
  %d7 = stablehlo.reduce_precision %a, format = e5m10 : tensor<4x3xf32>
  %d8 = stablehlo.add %d, %d : tensor<?x3xf32>
  %d9 = stablehlo.add %d, %d : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<4x3xf32>
  %e0 = "stablehlo.exponential"(%a) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>}> : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %e1 = stablehlo.tanh %a {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>, mhlo.note = 3 : i32} : tensor<4x3xf32>
  return
}
"""
)

LAYOUT = """
func.func @f(%a: tensor<4x3xf32>, %v: tensor<3xf32>, %s: tensor<f32>, %i: tensor<i32>, %n: tensor<2xi64>, %k: tensor<2xi32>, %d: tensor<?x3xf32>) {
  %0 = stablehlo.constant dense<[1.000000e+00, 2.0]> : tensor<2xf32>
  %1 = stablehlo.constant {note = 1 : i64} dense<true> : tensor<i1>
  %2 = stablehlo.constant() <{value = dense<1> : tensor<2xi8>}> : () -> tensor<2xi8>
  %3 = stablehlo.iota dim = 1 : tensor<4x3xi32>
  %4 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<2xi64>) -> tensor<?x?xi32>
  %5 = stablehlo.reshape %a : (tensor<4x3xf32>) -> tensor<12xf32>
  %6 = stablehlo.dynamic_reshape %a, %n : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %7 = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<3xf32>) -> tensor<4x3xf32>
  %8 = stablehlo.dynamic_broadcast_in_dim %v, %n, dims = [1] {known_expanding_dimensions = array<i64: 0>} : (tensor<3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %9 = stablehlo.broadcast %v, sizes = [4] : (tensor<3xf32>) -> tensor<4x3xf32>
  %10 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %11 = stablehlo.reverse %a, dims = [0, 1] : tensor<4x3xf32>
  %12 = stablehlo.concatenate %a, %a, %d, dim = 0 : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %13 = stablehlo.slice %a [0:4:2, 1:3] : (tensor<4x3xf32>) -> tensor<2x2xf32>
  %14 = stablehlo.slice %s [] : (tensor<f32>) -> tensor<f32>
  %15 = stablehlo.real_dynamic_slice %a, %n, %n, %n : (tensor<4x3xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  %16 = stablehlo.dynamic_slice %a, %i, %i, sizes = [2, 2] : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
  %17 = stablehlo.dynamic_update_slice %a, %13, %i, %i : (tensor<4x3xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>
  %18 = stablehlo.pad %a, %s, low = [0, -1], high = [1, 1], interior = [0, 1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<5x5xf32>
  %19 = stablehlo.dynamic_pad %a, %s, %n, %n, %n : (tensor<4x3xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  %20 = stablehlo.get_dimension_size %d, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %21 = stablehlo.set_dimension_size %a, %i, dim = 0 : (tensor<4x3xf32>, tensor<i32>) -> tensor<?x3xf32, #stablehlo.bounds<4, ?>>
  %22 = "stablehlo.gather"(%a, %k) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>, indices_are_sorted = false}> : (tensor<4x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  %23 = "stablehlo.dynamic_gather"(%a, %k, %n) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<4x3xf32>, tensor<2xi32>, tensor<2xi64>) -> tensor<2x?xf32>
  %24 = "stablehlo.scatter"(%a, %k, %22) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }) : (tensor<4x3xf32>, tensor<2xi32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %25 = "stablehlo.torch_index_select"(%a, %k) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<4x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  return
}
"""

PRODUCTS = """
func.func @f(%a: tensor<2x4x3xf32>, %b: tensor<2x3x5xf32>, %m: tensor<4x3xf32>, %w: tensor<3x4xf32>, %x: tensor<1x8x8x3xf32>, %k: tensor<3x3x3x4xf32>,
             %p: tensor<2x2xi64>, %q: tensor<4x4xf32>, %c: tensor<8xcomplex<f32>>, %v: tensor<3xf32>, %i: tensor<2xi64>, %s: tensor<f32>, %g: tensor<2xui64>) {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x4x3xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
  %1 = stablehlo.dot_general %m, %w, contracting_dims = [1] x [0], precision = [DEFAULT, HIGHEST] : (tensor<4x3xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
  %2 = stablehlo.dot_general %m, %w, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<4x3xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
  %3 = stablehlo.dot %m, %w, precision = [HIGH, DEFAULT] : (tensor<4x3xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
  %4 = stablehlo.dot %m, %v : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4xf32>
  %5 = stablehlo.einsum %m, %w, config = "ij,jk->ik" : (tensor<4x3xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
  %6 = stablehlo.unary_einsum %m, config = "ij->i" : (tensor<4x3xf32>) -> tensor<4xf32>
  %7 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x4x4x4xf32>
  %8 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x6x6x4xf32>
  %9 = "stablehlo.dynamic_conv"(%x, %k, %p) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64}> : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>, tensor<2x2xi64>) -> tensor<1x?x?x4xf32>
  %10 = stablehlo.cholesky %q, lower = true : tensor<4x4xf32>
  %11 = stablehlo.cholesky %q : tensor<4x4xf32>
  %12 = "stablehlo.triangular_solve"(%q, %q) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %13 = stablehlo.fft %c, type =  FFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  %14 = "stablehlo.batch_norm_inference"(%x, %v, %v, %v, %v) <{epsilon = 1.000000e-03 : f32, feature_index = 3 : i64}> : (tensor<1x8x8x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x8x8x3xf32>
  %15:3 = "stablehlo.batch_norm_training"(%x, %v, %v) <{epsilon = 1.000000e-03 : f32, feature_index = 3 : i64}> : (tensor<1x8x8x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<1x8x8x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %16:3 = "stablehlo.batch_norm_grad"(%x, %v, %v, %v, %x) <{epsilon = 1.000000e-03 : f32, feature_index = 3 : i64}> : (tensor<1x8x8x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<1x8x8x3xf32>) -> (tensor<1x8x8x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %17 = stablehlo.rng %s, %s, %i, distribution =  UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
  %18, %19 = stablehlo.rng_bit_generator %g, algorithm =  THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  return
}
"""

NESTED = """
func.func @f(%a: tensor<4x3xf32>, %s: tensor<f32>, %i: tensor<i32>, %p: tensor<i1>, %k: tensor<4x3xi32>, %t: !stablehlo.token) -> tensor<4x3xf32> {
  %0 = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.reduce(%a init: %s) across dimensions = [0, 1] {note = 1 : i64} : (tensor<4x3xf32>, tensor<f32>) -> tensor<f32>
   reducer(%x: tensor<f32>, %y: tensor<f32>) {
    %z = stablehlo.subtract %x, %y : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }
  %2:2 = stablehlo.reduce(%a init: %s), (%k init: %i) across dimensions = [1] : (tensor<4x3xf32>, tensor<4x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
   reducer(%x: tensor<f32>, %y: tensor<f32>) (%u: tensor<i32>, %v: tensor<i32>) {
    %z = stablehlo.maximum %x, %y : tensor<f32>
    stablehlo.return %z, %u : tensor<f32>, tensor<i32>
  }
  %3 = "stablehlo.reduce_window"(%a, %s) <{window_dimensions = array<i64: 2, 1>, padding = dense<[[1, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = stablehlo.maximum %x, %y : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }) : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  %4 = "stablehlo.select_and_scatter"(%a, %a, %s) <{window_dimensions = array<i64: 1, 1>, window_strides = array<i64: 1, 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %z : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }) : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  %5 = "stablehlo.sort"(%a) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = stablehlo.compare LT, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %z : tensor<i1>
  }) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %6 = "stablehlo.map"(%a) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%x: tensor<f32>):
    %z = stablehlo.negate %x : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %7 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<4x3xf32>
  }, {
    stablehlo.return %6 : tensor<4x3xf32>
  }) : (tensor<i1>) -> tensor<4x3xf32>
  %8 = "stablehlo.case"(%i) ({
    stablehlo.return %a : tensor<4x3xf32>
  }, {
    stablehlo.return %7 : tensor<4x3xf32>
  }) : (tensor<i32>) -> tensor<4x3xf32>
  %9:2 = stablehlo.while(%iterArg = %i, %iterArg_0 = %a) : tensor<i32>, tensor<4x3xf32>
  cond {
    %x = stablehlo.compare LT, %iterArg, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %x : tensor<i1>
  } do {
    stablehlo.return %iterArg, %8 : tensor<i32>, tensor<4x3xf32>
  }
  stablehlo.while() attributes {note = 1 : i64}
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return
  }
  %10:2 = stablehlo.optimization_barrier %a, %s : tensor<4x3xf32>, tensor<f32>
  stablehlo.optimization_barrier ()
  %11 = stablehlo.tuple %a, %s : tuple<tensor<4x3xf32>, tensor<f32>>
  %12 = stablehlo.get_tuple_element %11[1] : (tuple<tensor<4x3xf32>, tensor<f32>>) -> tensor<f32>
  %13 = stablehlo.composite "my.op" %a {composite_attributes = {n = 1 : i64}, decomposition = @g} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %14 = stablehlo.custom_call @foo(%a) {backend_config = "x", mhlo.attr = 3 : i32} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %15:2 = "stablehlo.custom_call"(%a) <{call_target_name = "a b", has_side_effect = false, api_version = 1 : i32}> : (tensor<4x3xf32>) -> (tensor<f32>, tensor<f32>)
  return %14 : tensor<4x3xf32>
}
func.func private @g(%a: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = stablehlo.negate %a : tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
"""

PROCESSES = """
func.func @f(%a: tensor<4x4xf32>, %t: !stablehlo.token, %q: tensor<2x!quant.uniform<i8:f32, 5.000000e-01:3>>, %r: tensor<2xf32>) {
  %0 = stablehlo.create_token : !stablehlo.token
  %1 = stablehlo.after_all %t, %0 : !stablehlo.token
  %2 = stablehlo.after_all : !stablehlo.token
  %3 = stablehlo.replica_id : tensor<ui32>
  %4 = stablehlo.partition_id : tensor<ui32>
  %5 = "stablehlo.all_gather"(%a) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<4x4xf32>) -> tensor<4x8xf32>
  %6 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %7 = "stablehlo.reduce_scatter"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }) : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %8 = "stablehlo.all_to_all"(%a) <{concat_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4x4xf32>) -> tensor<2x8xf32>
  %9 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %10 = "stablehlo.collective_broadcast"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %11 = "stablehlo.cross-replica-sum"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %12:2 = "stablehlo.infeed"(%t) <{infeed_config = "c"}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  %13 = "stablehlo.outfeed"(%a, %t) : (tensor<4x4xf32>, !stablehlo.token) -> !stablehlo.token
  %14 = "stablehlo.send"(%a, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<4x4xf32>, !stablehlo.token) -> !stablehlo.token
  %15:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle< // a, b = 1
    handle = 1, type = 3 // from the host
  >, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  %16 = stablehlo.uniform_quantize %r : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 5.000000e-01:3>>
  %17 = stablehlo.uniform_dequantize %q : (tensor<2x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<2xf32>
  %18 = stablehlo.add %q, %q : tensor<2x!quant.uniform<i8:f32, 5.000000e-01:3>>
  %q1 = stablehlo.abs %q : (tensor<2x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<2x!quant.uniform<i8:f32, 2.500000e-01>>
  return
}
"""

CHLO = (
    "func.func @f(%a: tensor<4x3xf32>, %b: tensor<3xf32>, %p: tensor<4x3xi1>, %i: tensor<4x3xi32>, %g: tensor<2x3x5xf32>, %h: tensor<2xi64>) {\n"
    + "".join(
        [
            f"  %u{n} = chlo.{op} %a : tensor<4x3xf32> -> tensor<4x3xf32>\n"
            for n, op in enumerate(
                (
                    "acos",
                    "acosh",
                    "asin",
                    "asinh",
                    "atan",
                    "atanh",
                    "bessel_i1e",
                    "conj",
                    "cosh",
                    "digamma",
                    "erf",
                    "erf_inv",
                    "erfc",
                    "lgamma",
                    "sinh",
                    "square",
                    "tan",
                )
            )
        ]
        + [
            f"  %q{n} = chlo.{op} %a : tensor<4x3xf32> -> tensor<4x3xi1>\n"
            for n, op in enumerate(
                (
                    "is_inf",
                    "is_neg_inf",
                    "is_pos_inf",
                )
            )
        ]
        + [
            f"  %b{n} = chlo.broadcast_{op} %a, %b : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>\n"
            for n, op in enumerate(
                (
                    "add",
                    "atan2",
                    "divide",
                    "maximum",
                    "minimum",
                    "multiply",
                    "power",
                    "remainder",
                    "subtract",
                    "next_after",
                    "polygamma",
                    "zeta",
                )
            )
        ]
        + [
            f"  %i{n} = chlo.broadcast_{op} %i, %i : (tensor<4x3xi32>, tensor<4x3xi32>) -> tensor<4x3xi32>\n"
            for n, op in enumerate(
                (
                    "and",
                    "or",
                    "xor",
                    "shift_left",
                    "shift_right_arithmetic",
                    "shift_right_logical",
                )
            )
        ]
    )
    + """
  %c = chlo.broadcast_complex %a, %b {broadcast_dimensions = array<i64: 1>} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xcomplex<f32>>
  %k = chlo.constant dense<1> : tensor<2xi32>
  %v, %w = chlo.top_k(%a, k = 2) : tensor<4x3xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
  %n = chlo.next_after %a, %a : tensor<4x3xf32>, tensor<4x3xf32> -> tensor<4x3xf32>
  %y0 = chlo.polygamma %a, %a : tensor<4x3xf32>, tensor<4x3xf32> -> tensor<4x3xf32>
  %z = chlo.zeta %a, %a : tensor<4x3xf32>, tensor<4x3xf32> -> tensor<4x3xf32>
  %l = "chlo.constant_like"(%a) <{value = 2.500000e+00 : f64}> : (tensor<4x3xf32>) -> tensor<4x3xf64>
  %o = chlo.broadcast_compare %a, %b {compare_type = #chlo<comparison_type FLOAT>, comparison_direction = #chlo<comparison_direction LT>} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xi1>
  %s = chlo.broadcast_select %o, %a, %b : (tensor<4x3xi1>, tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %y = chlo._asin_acos_kernel %c : tensor<4x3xcomplex<f32>> -> tensor<4x3xcomplex<f32>>
  %m = "chlo.ragged_dot"(%a, %g, %h) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>, precision_config = [#chlo<precision DEFAULT>, #chlo<precision HIGH>]}> : (tensor<4x3xf32>, tensor<2x3x5xf32>, tensor<2xi64>) -> tensor<4x5xf32>
  return
}
"""
)

ALL = {
    "elementwise": ELEMENTWISE,
    "layout": LAYOUT,
    "products": PRODUCTS,
    "nested": NESTED,
    "processes": PROCESSES,
    "chlo": CHLO,
}
