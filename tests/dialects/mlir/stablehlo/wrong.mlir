// Wrong programs of stablehlo, each with a part of its message. `newer`: IREE 3.13 has no such operation,
// or does not look.
// -----
// parameter_of_another_type: parameter at index 1 is different
func.func @f(%a: tensor<4x3xf32>, %s: tensor<f32>) {
  %0 = "stablehlo.reduce"(%a, %s) <{dimensions = array<i64: 1>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<i32>):
    stablehlo.return %l : tensor<f32>
  }) : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
  return
}
// -----
// sum_of_fewer_bits: result type at index 0 is expected to be promotable
func.func @f(%i: tensor<4x3xi32>, %n: tensor<i32>) {
  %0 = "stablehlo.reduce"(%i, %n) <{dimensions = array<i64: 1>}> ({
  ^bb0(%l: tensor<i8>, %r: tensor<i8>):
    stablehlo.return %l : tensor<i8>
  }) : (tensor<4x3xi32>, tensor<i32>) -> tensor<4xi8>
  return
}
// -----
// sum_of_another_kind: expected to be promotable
func.func @f(%a: tensor<4x3xf32>, %s: tensor<f32>) {
  %0 = "stablehlo.reduce"(%a, %s) <{dimensions = array<i64: 1>}> ({
  ^bb0(%l: tensor<i32>, %r: tensor<i32>):
    stablehlo.return %l : tensor<i32>
  }) : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xi32>
  return
}
// -----
// updates_behind_the_end: updates bound is 5, operand bound is 3
func.func @f(%a: tensor<4x3xf32>, %k: tensor<2x1xi32>, %u: tensor<2x3xf32>) {
  %v = builtin.unrealized_conversion_cast %u : tensor<2x3xf32> to tensor<2x5xf32>
  %0 = "stablehlo.scatter"(%a, %k, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    stablehlo.return %l : tensor<f32>
  }) : (tensor<4x3xf32>, tensor<2x1xi32>, tensor<2x5xf32>) -> tensor<4x3xf32>
  return
}
// -----
// updates_without_positions: updates bound is 7, scatter_indices bound is 2
func.func @f(%a: tensor<4x3xf32>, %k: tensor<2x1xi32>, %u: tensor<2x3xf32>) {
  %v = builtin.unrealized_conversion_cast %u : tensor<2x3xf32> to tensor<7x3xf32>
  %0 = "stablehlo.scatter"(%a, %k, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    stablehlo.return %l : tensor<f32>
  }) : (tensor<4x3xf32>, tensor<2x1xi32>, tensor<7x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// shared_axes_of_other_sizes: should have one size, found 4 and 2
func.func @f(%a: tensor<4x3xf32>, %k: tensor<2x1xi32>, %u: tensor<2x3xf32>) {
  %v = builtin.unrealized_conversion_cast %u : tensor<2x3xf32> to tensor<2x3xf32>
  %0 = "stablehlo.scatter"(%a, %k, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    stablehlo.return %l : tensor<f32>
  }) : (tensor<4x3xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// shared_axis_that_has_positions: not to include index_vector_dim 1
func.func @f(%a: tensor<4x3xf32>, %k: tensor<2x1xi32>, %u: tensor<2x3xf32>) {
  %v = builtin.unrealized_conversion_cast %u : tensor<2x3xf32> to tensor<2x3xf32>
  %0 = "stablehlo.scatter"(%a, %k, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    stablehlo.return %l : tensor<f32>
  }) : (tensor<4x3xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// update_of_another_kind: argument at index 1 is expected to be promotable
func.func @f(%a: tensor<4x3xf32>, %k: tensor<2x1xi32>, %u: tensor<2x3xf32>) {
  %v = builtin.unrealized_conversion_cast %u : tensor<2x3xf32> to tensor<2x3xf32>
  %0 = "stablehlo.scatter"(%a, %k, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%l: tensor<i32>, %r: tensor<i32>):
    stablehlo.return %l : tensor<i32>
  }) : (tensor<4x3xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<4x3xi32>
  return
}
// -----
// shared_axis_that_is_not_there: to be in range [0, 2), got: [5]
func.func @f(%a: tensor<4x3xf32>, %k: tensor<2x1xi32>) {
  %0 = "stablehlo.gather"(%a, %k) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [5], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x3xf32>, tensor<2x1xi32>) -> tensor<2x1xf32>
  return
}
// -----
// shared_axis_with_a_position: has duplicated dimension from operand_batching_dims and others: 0
func.func @f(%a: tensor<4x3xf32>, %k: tensor<2x1xi32>) {
  %0 = "stablehlo.gather"(%a, %k) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x3xf32>, tensor<2x1xi32>) -> tensor<2x1xf32>
  return
}
// -----
// choice_among_other_numbers: select-region's parameter at index 0 to be tensor<f32>
func.func @f(%a: tensor<4x3xf32>, %s: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%a, %a, %s) <{window_dimensions = array<i64: 1, 1>}> ({
  ^bb0(%l: tensor<i32>, %r: tensor<i32>):
    %c = stablehlo.compare GE, %l, %r : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    stablehlo.return %l : tensor<f32>
  }) : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  return
}
// -----
// source_of_another_type: expects source-type to be of f32
func.func @f(%a: tensor<4x3xf32>, %i: tensor<4x3xi32>, %s: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%a, %i, %s) <{window_dimensions = array<i64: 1, 1>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %c = stablehlo.compare GE, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    stablehlo.return %l : tensor<f32>
  }) : (tensor<4x3xf32>, tensor<4x3xi32>, tensor<f32>) -> tensor<4x3xf32>
  return
}
// -----
// padding_of_one_number: padding-attribute to be {N, 2}, but got [2, 1]
func.func @f(%a: tensor<4x3xf32>, %s: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%a, %s) <{window_dimensions = array<i64: 1, 1>, padding = dense<0> : tensor<2x1xi64>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    stablehlo.return %l : tensor<f32>
  }) : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  return
}
// -----
// map_of_other_numbers: must match, but got: f32 and i32
func.func @f(%a: tensor<4x3xf32>, %s: tensor<f32>) {
  %0 = "stablehlo.map"(%a) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%l: tensor<i32>):
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// condition_with_an_axis: C1: the condition must be of rank 0
func.func @f(%a: tensor<4x3xf32>, %p: tensor<1xi1>) {
  %0 = "stablehlo.if"(%p) ({ stablehlo.return %a : tensor<4x3xf32> }, { stablehlo.return %a : tensor<4x3xf32> }) : (tensor<1xi1>) -> tensor<4x3xf32>
  return
}
// -----
// starts_of_two_types: start indices must have same element type
func.func @f(%a: tensor<4x3xf32>, %n: tensor<i32>, %w: tensor<i64>) {
  %0 = stablehlo.dynamic_slice %a, %n, %w, sizes = [1, 1] : (tensor<4x3xf32>, tensor<i32>, tensor<i64>) -> tensor<1x1xf32>
  return
}
// -----
// size_with_an_axis: size operand should be of rank-0
func.func @f(%a: tensor<4x3xf32>, %m: tensor<1xi32>) {
  %0 = stablehlo.set_dimension_size %a, %m, dim = 0 : (tensor<4x3xf32>, tensor<1xi32>) -> tensor<4x3xf32>
  return
}
// -----
// reshape_to_another_count: doesn't match: 12, 10
func.func @f(%a: tensor<4x3xf32>) {
  %v = stablehlo.constant dense<[5, 2]> : tensor<2xi64>
  %0 = stablehlo.dynamic_reshape %a, %v : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}
// -----
// iota_of_another_size: inferred shape [5] is incompatible
func.func @f() {
  %v = stablehlo.constant dense<[5]> : tensor<1xi64>
  %0 = stablehlo.dynamic_iota %v, dim = 0 : (tensor<1xi64>) -> tensor<4xf32>
  return
}
// -----
// random_numbers_of_another_shape: inferred shape [7] is incompatible
func.func @f(%s: tensor<f32>) {
  %v = stablehlo.constant dense<[7]> : tensor<1xi64>
  %0 = stablehlo.rng %s, %s, %v, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  return
}
// -----
// broadcast_to_another_size: size of operand dimension 1 (3) is not equal to 1
func.func @f(%a: tensor<4x3xf32>) {
  %v = stablehlo.constant dense<[2, 4, 1]> : tensor<3xi64>
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %v, dims = [1, 2] : (tensor<4x3xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  return
}
// -----
// elements_between_that_are_less_than_none: interior_padding must be non-negative, but got -1
func.func @f(%a: tensor<4x3xf32>, %s: tensor<f32>) {
  %v = stablehlo.constant dense<[-1, -1]> : tensor<2xi64>
  %0 = stablehlo.dynamic_pad %a, %s, %v, %v, %v : (tensor<4x3xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}
// -----
// pairs_with_one_source: duplicate sources not allowed
func.func @f(%a: tensor<4x3xf32>) {
  %0 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>}> : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// groups_of_more_than_parts: group size of replica_groups must be 4, got 2
func.func @f(%a: tensor<4x3xf32>) {
  %0 = "stablehlo.all_to_all"(%a) <{split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 4 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x3xf32>) -> tensor<1x12xf32>
  return
}
// -----
// channel_of_another_transfer: channel_type should be 1 for this transfer, but got 2
func.func @f(%a: tensor<4x3xf32>, %t: !stablehlo.token) {
  %0 = "stablehlo.send"(%a, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>}> : (tensor<4x3xf32>, !stablehlo.token) -> !stablehlo.token
  return
}
// -----
// layout_of_no_axes: expected to have elements of type array
func.func @f(%t: !stablehlo.token) {
  %0:2 = "stablehlo.infeed"(%t) <{infeed_config = "", layout = [0]}> : (!stablehlo.token) -> (tensor<4x3xf32>, !stablehlo.token)
  return
}
// -----
// order_of_other_axes: layout must be a permutation of [0, 2)
func.func @f(%a: tensor<4x3xf32>) {
  "stablehlo.custom_call"(%a) <{call_target_name = "f", operand_layouts = [dense<[0, 2]> : tensor<2xindex>], result_layouts = []}> : (tensor<4x3xf32>) -> ()
  return
}
// -----
// order_of_a_token: only tensor types can have non-empty layout
func.func @f(%t: !stablehlo.token) {
  "stablehlo.custom_call"(%t) <{call_target_name = "f", operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = []}> : (!stablehlo.token) -> ()
  return
}
// -----
// more_results_than_orders: number of results must match the number of result layouts, 2 != 1
func.func @f() {
  %0:2 = "stablehlo.custom_call"() <{call_target_name = "f", operand_layouts = [], result_layouts = [dense<0> : tensor<1xindex>]}> : () -> (tensor<2xf32>, tensor<2xf32>)
  return
}
// -----
// memory_of_an_operand_that_is_not_there: to be in range [0, 1), got 1
func.func @f(%g: tuple<tensor<1xf32>, tensor<2xf32>>) {
  %0 = "stablehlo.custom_call"(%g) <{call_target_name = "f", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 1, operand_tuple_indices = [1]>]}> : (tuple<tensor<1xf32>, tensor<2xf32>>) -> tuple<tensor<2xf32>>
  return
}
// -----
// memory_of_a_part_that_is_not_there: operand_tuple_indices of output_operand_alias are out of bounds
func.func @f(%g: tuple<tensor<1xf32>, tensor<2xf32>>) {
  %0 = "stablehlo.custom_call"(%g) <{call_target_name = "f", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = [2]>]}> : (tuple<tensor<1xf32>, tensor<2xf32>>) -> tuple<tensor<2xf32>>
  return
}
// -----
// memory_of_another_type: operand part has type tensor<1xf32>, output part tensor<2xf32>
func.func @f(%g: tuple<tensor<1xf32>, tensor<2xf32>>) {
  %0 = "stablehlo.custom_call"(%g) <{call_target_name = "f", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = [0]>]}> : (tuple<tensor<1xf32>, tensor<2xf32>>) -> tuple<tensor<2xf32>>
  return
}
// -----
// configuration_that_is_not_a_dictionary: API_VERSION_TYPED_FFI must be a dictionary
func.func @f(%a: tensor<4x3xf32>) {
  "stablehlo.custom_call"(%a) <{call_target_name = "f", api_version = 4 : i32, backend_config = "x"}> : (tensor<4x3xf32>) -> ()
  return
}
// -----
// composite_without_a_dialect: name must be a valid namespaced op name
func.func @g(%a: tensor<4x3xf32>) -> tensor<4x3xf32> {
  return %a : tensor<4x3xf32>
}
func.func @f(%a: tensor<4x3xf32>) {
  %0 = stablehlo.composite "x" %a {decomposition = @g} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// composite_of_another_result: result at index 0 has type tensor<4xf32>, but decomposition has type tensor<4x3xf32>
func.func @g(%a: tensor<4x3xf32>) -> tensor<4x3xf32> {
  return %a : tensor<4x3xf32>
}
func.func @f(%a: tensor<4x3xf32>) {
  %0 = stablehlo.composite "x.y" %a {decomposition = @g} : (tensor<4x3xf32>) -> tensor<4xf32>
  return
}
// -----
// kernel_of_another_type: compatible element type. Got: f32 and f16
func.func @f(%x: tensor<1x4x4x1xf32>, %z: tensor<3x3x1x1xf32>) {
  %v = builtin.unrealized_conversion_cast %z : tensor<3x3x1x1xf32> to tensor<3x3x1x1xf16>
  %0 = "stablehlo.convolution"(%x, %v) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<1x4x4x1xf32>, tensor<3x3x1x1xf16>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// directions_of_fewer_axes: window dimensions (2), but got 1
func.func @f(%x: tensor<1x4x4x1xf32>, %z: tensor<3x3x1x1xf32>) {
  %v = builtin.unrealized_conversion_cast %z : tensor<3x3x1x1xf32> to tensor<3x3x1x1xf32>
  %0 = "stablehlo.convolution"(%x, %v) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_reversal = array<i1: true>}> : (tensor<1x4x4x1xf32>, tensor<3x3x1x1xf32>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// program_of_no_exchange newer: region must contain a collective or slice operation, found stablehlo.add
func.func @f(%a: tensor<4x3xf32>) {
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%l: tensor<4x3xf32>):
    %r = stablehlo.add %l, %l : tensor<4x3xf32>
    stablehlo.return %r : tensor<4x3xf32>
  }) : (tensor<4x3xf32>) -> !stablehlo.future<tensor<4x3xf32>>
  return
}
// -----
// future_of_another_type newer: is not what will be given, tensor<1x3xf32>
func.func @f(%a: tensor<4x3xf32>) {
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%l: tensor<4x3xf32>):
    %r = stablehlo.slice %l [0:1, 0:3] : (tensor<4x3xf32>) -> tensor<1x3xf32>
    stablehlo.return %r : tensor<1x3xf32>
  }) : (tensor<4x3xf32>) -> !stablehlo.future<tensor<4x3xf32>>
  return
}
// -----
// process_of_each_that_is_not_a_number newer: must be a rank-1 i32 tensor
func.func @f(%a: tensor<4x3xf32>, %u: tensor<2x3xf32>) {
  %0 = "stablehlo.collective_broadcast"(%a, %u) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}> : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// axes_of_a_convolution_anywhere: expected b, f and spatial axes from 0, found [c, 0, 1, f]
module attributes {x.conv = #stablehlo.conv<[c, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>} {}
// -----
// axes_of_a_product_twice: 'rhs_batching_dimensions' is given twice
module attributes {x.dot = #stablehlo.dot<rhs_batching_dimensions = [1], rhs_batching_dimensions = [3]>} {}
// -----
// axes_of_a_gather_that_it_has_not: found 'foo'
module attributes {x.gather = #stablehlo.gather<offset_dims = [1], foo = [0]>} {}
// -----
// bounds_of_another_rank: a tensor of rank 2 has 2 bounds, found 1
func.func private @f(tensor<?x?xf32, #stablehlo.bounds<3>>)
// -----
// bound_of_a_static_dim: dimension 0 is 3 and has no bound but '?', found 4
func.func private @f(tensor<3x?xf32, #stablehlo.type_extensions<bounds = [4, 5]>>)
// -----
// bound_that_is_a_word: expected numbers or '?', found 'four'
func.func private @f(tensor<?xf32, #stablehlo.bounds<four>>)
// -----
// window_of_no_sizes newer: expects numbers of windows for each of the 2 axes
func.func @f(%a: tensor<4x3xf32>, %s: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%a, %a, %s) ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %c = stablehlo.compare GE, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    stablehlo.return %l : tensor<f32>
  }) : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  return
}
// -----
// tensors_of_other_axes_combined: has other axes than [4]
func.func @f(%a: tensor<4x3xf32>, %s: tensor<3xf32>) {
  %0 = "stablehlo.reduce"(%a, %s) <{dimensions = array<i64: 1>}> ({
  ^bb0(%l: tensor<3xf32>, %r: tensor<3xf32>):
    stablehlo.return %l : tensor<3xf32>
  }) : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}
// -----
// no_comma_before_the_axis: expected ',', found 'dim'
func.func @f(%a: tensor<4x1xf32>) {
  %0 = stablehlo.concatenate %a, %a dim = 1 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
  return
}
// -----
// groups_of_a_mesh_that_is_missing: mesh symbol 'missing_mesh' not found
func.func @f(%a: tensor<16x8xf32>) {
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 1 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @missing_mesh, axes = [#stablehlo.axis_ref<name = "x">]>}> : (tensor<16x8xf32>) -> tensor<16x16xf32>
  return
}
// -----
// two_bounded_dims: must be statically shaped or single bounded dimension tensor
func.func @f(%a: tensor<?x?xf32, #stablehlo.bounds<5, 5>>) {
  %0 = stablehlo.reshape %a : (tensor<?x?xf32, #stablehlo.bounds<5, 5>>) -> tensor<?x?xf32, #stablehlo.bounds<5, 5>>
  return
}
// -----
// sums_of_other_storage: requires compatible element types for all operands and results
func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 2.0:15>>) {
  %0 = chlo.broadcast_add %a, %a : (tensor<2x!quant.uniform<i8:f32, 2.0:15>>, tensor<2x!quant.uniform<i8:f32, 2.0:15>>) -> tensor<2x!quant.uniform<i16:f32, 2.0:15>>
  return
}
// -----
// number_of_another_type: but the definition gives tensor<1x2xf32>
func.func @f(%a: tensor<1x2xi64>) {
  %0 = "chlo.constant_like"(%a) <{value = 3.2 : f32}> : (tensor<1x2xi64>) -> tensor<1x2xi32>
  return
}
// -----
// ragged_group_sizes_of_another_rank: expected group_sizes to have rank 1, got 2
func.func @f(%a: tensor<11x5xf32>, %b: tensor<3x5x7xf32>, %g: tensor<3x2xi64>) {
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3x2xi64>) -> tensor<11x7xf32>
  return
}
// -----
// ragged_rhs_without_groups: exactly one group dimension in the rhs
func.func @f(%a: tensor<11x5xf32>, %b: tensor<3x5x7xf32>, %g: tensor<3xi64>) {
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]>}> : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return
}
// -----
// scan_past_the_last_axis newer: scan dimension of operand 0 is out of bounds
func.func @f(%a: tensor<2x3xf32>, %i: tensor<3xf32>) {
  %0:2 = chlo.scan(%a) inits(%i) dimension=2 {
  ^bb0(%x: tensor<3xf32>, %c: tensor<3xf32>):
    stablehlo.return %x, %c : tensor<3xf32>, tensor<3xf32>
  } : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)
  return
}
// -----
// scan_of_other_slices newer: operand and body argument 0 are incompatible
func.func @f(%a: tensor<2x3xf32>, %i: tensor<3xf32>) {
  %0:2 = chlo.scan(%a) inits(%i) dimension=0 {
  ^bb0(%x: tensor<2xf32>, %c: tensor<3xf32>):
    stablehlo.return %c, %c : tensor<3xf32>, tensor<3xf32>
  } : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)
  return
}
