#id = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
func.func @generic_identity(%x: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// -----
#id = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
func.func @generic_turn(%x: tensor<2x3xf32>, %o: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %0 = linalg.generic {indexing_maps = [#tr, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x3xf32>) outs(%o : tensor<3x2xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
// -----
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @generic_unused_input(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<2x3xf32>, tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = math.exp %b : f32
    linalg.yield %d : f32
  } -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// -----
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @generic_twice_input(%x: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %x : tensor<2x3xf32>, tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.addf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// -----
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @generic_unused_result(%x: tensor<2x3xf32>, %o: tensor<2x3xf32>, %p: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x3xf32>) outs(%o, %p : tensor<2x3xf32>, tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = math.exp %a : f32
    %e = math.sin %a : f32
    linalg.yield %d, %e : f32, f32
  } -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return %0#1 : tensor<2x3xf32>
}
// -----
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @generic_twice_output(%x: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x3xf32>) outs(%o, %o : tensor<2x3xf32>, tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = math.exp %a : f32
    linalg.yield %d, %d : f32, f32
  } -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xf32>
}
// -----
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @generic_constant(%x: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = arith.constant dense<2.0> : tensor<2x3xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %c : tensor<2x3xf32>, tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32):
    %e = arith.addf %a, %b : f32
    linalg.yield %e : f32
  } -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// -----
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @generic_cast(%x: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = tensor.cast %x : tensor<2x3xf32> to tensor<?x?xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<?x?xf32>) outs(%o : tensor<2x3xf32>) {
  ^bb0(%a: f32, %d: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// -----
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @generic_cast_out(%x: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %y = tensor.cast %o : tensor<2x3xf32> to tensor<?x?xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x3xf32>) outs(%y : tensor<?x?xf32>) {
  ^bb0(%a: f32, %d: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
// -----
func.func @matmul_cast(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>, %o: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %a = tensor.cast %x : tensor<2x3xf32> to tensor<?x?xf32>
  %b = tensor.cast %y : tensor<3x4xf32> to tensor<?x?xf32>
  %c = tensor.cast %o : tensor<2x4xf32> to tensor<?x?xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = tensor.cast %0 : tensor<?x?xf32> to tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
// -----
func.func @matmul_infer(%x: tensor<?x3xf32>, %y: tensor<3x4xf32>, %o: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = linalg.matmul ins(%x, %y : tensor<?x3xf32>, tensor<3x4xf32>) outs(%o : tensor<2x?xf32>) -> tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}
// -----
func.func @fill_reshape(%v: f32, %o: tensor<2x3xf32>) -> tensor<6xf32> {
  %0 = linalg.fill ins(%v : f32) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  return %1 : tensor<6xf32>
}
// -----
func.func @fill_expand(%v: f32, %o: tensor<6xf32>) -> tensor<2x3xf32> {
  %0 = linalg.fill ins(%v : f32) outs(%o : tensor<6xf32>) -> tensor<6xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
// -----
func.func @fill_pad(%v: f32, %o: tensor<2x3xf32>) -> tensor<4x5xf32> {
  %0 = linalg.fill ins(%v : f32) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = tensor.pad %0 low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<2x3xf32> to tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}
// -----
func.func @fill_extract(%v: f32, %o: tensor<2x3xf32>, %i: index) -> f32 {
  %0 = linalg.fill ins(%v : f32) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = tensor.extract %0[%i, %i] : tensor<2x3xf32>
  return %1 : f32
}
// -----
func.func @fill_insert(%v: f32, %o: tensor<2x3xf32>, %d: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = linalg.fill ins(%v : f32) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  %e = linalg.fill ins(%v : f32) outs(%d : tensor<4x5xf32>) -> tensor<4x5xf32>
  %1 = tensor.insert_slice %0 into %e[0, 0] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}
// -----
func.func @fill_twice(%v: f32, %w: f32, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.fill ins(%v : f32) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = linalg.fill ins(%w : f32) outs(%0 : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
// -----
func.func @fill_copy(%v: f32, %o: tensor<2x3xf32>, %p: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.fill ins(%v : f32) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = linalg.copy ins(%0 : tensor<2x3xf32>) outs(%p : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
// -----
func.func @copy_fill(%v: f32, %o: tensor<2x3xf32>, %p: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %1 = linalg.copy ins(%o : tensor<2x3xf32>) outs(%p : tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = linalg.fill ins(%v : f32) outs(%1 : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// -----
func.func @copy_self(%o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %1 = linalg.copy ins(%o : tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
// -----
func.func @fill_transpose(%v: f32, %o: tensor<2x3xf32>, %p: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %0 = linalg.fill ins(%v : f32) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = linalg.transpose ins(%0 : tensor<2x3xf32>) outs(%p : tensor<3x2xf32>) permutation = [1, 0]
  return %1 : tensor<3x2xf32>
}
// -----
func.func @transpose_identity(%o: tensor<2x3xf32>, %p: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %1 = linalg.transpose ins(%o : tensor<2x3xf32>) outs(%p : tensor<2x3xf32>) permutation = [0, 1]
  return %1 : tensor<2x3xf32>
}
// -----
func.func @transpose_twice(%o: tensor<2x3x4xf32>, %p: tensor<3x2x4xf32>, %q: tensor<4x2x3xf32>) -> tensor<4x2x3xf32> {
  %1 = linalg.transpose ins(%o : tensor<2x3x4xf32>) outs(%p : tensor<3x2x4xf32>) permutation = [1, 0, 2]
  %2 = linalg.transpose ins(%1 : tensor<3x2x4xf32>) outs(%q : tensor<4x2x3xf32>) permutation = [2, 1, 0]
  return %2 : tensor<4x2x3xf32>
}
// -----
func.func @transpose_broadcast(%o: tensor<2x3xf32>, %p: tensor<2x3x4xf32>, %q: tensor<4x2x3xf32>) -> tensor<4x2x3xf32> {
  %1 = linalg.broadcast ins(%o : tensor<2x3xf32>) outs(%p : tensor<2x3x4xf32>) dimensions = [2]
  %2 = linalg.transpose ins(%1 : tensor<2x3x4xf32>) outs(%q : tensor<4x2x3xf32>) permutation = [2, 0, 1]
  return %2 : tensor<4x2x3xf32>
}
// -----
func.func @transpose_broadcast2(%o: tensor<2x3xf32>, %p: tensor<2x3x4xf32>, %q: tensor<4x3x2xf32>) -> tensor<4x3x2xf32> {
  %1 = linalg.broadcast ins(%o : tensor<2x3xf32>) outs(%p : tensor<2x3x4xf32>) dimensions = [2]
  %2 = linalg.transpose ins(%1 : tensor<2x3x4xf32>) outs(%q : tensor<4x3x2xf32>) permutation = [2, 1, 0]
  return %2 : tensor<4x3x2xf32>
}
// -----
func.func @broadcast_nothing(%o: tensor<2x3xf32>, %p: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %1 = linalg.broadcast ins(%o : tensor<2x3xf32>) outs(%p : tensor<2x3xf32>) dimensions = []
  return %1 : tensor<2x3xf32>
}
// -----
func.func @broadcast_twice(%o: tensor<2xf32>, %p: tensor<2x3xf32>, %q: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %1 = linalg.broadcast ins(%o : tensor<2xf32>) outs(%p : tensor<2x3xf32>) dimensions = [1]
  %2 = linalg.broadcast ins(%1 : tensor<2x3xf32>) outs(%q : tensor<2x3x4xf32>) dimensions = [2]
  return %2 : tensor<2x3x4xf32>
}
// -----
func.func @broadcast_fill(%v: f32, %o: tensor<2xf32>, %p: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.fill ins(%v : f32) outs(%o : tensor<2xf32>) -> tensor<2xf32>
  %1 = linalg.broadcast ins(%0 : tensor<2xf32>) outs(%p : tensor<2x3xf32>) dimensions = [1]
  return %1 : tensor<2x3xf32>
}
// -----
func.func @empty_input(%x: tensor<0x3xf32>, %y: tensor<3x4xf32>, %o: tensor<0x4xf32>) -> tensor<0x4xf32> {
  %0 = linalg.matmul ins(%x, %y : tensor<0x3xf32>, tensor<3x4xf32>) outs(%o : tensor<0x4xf32>) -> tensor<0x4xf32>
  return %0 : tensor<0x4xf32>
}
// -----
func.func @map_identity(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.map ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>) (%a: f32, %b: f32) {
    linalg.yield %a : f32
  }
  return %0 : tensor<4xf32>
}
// -----
func.func @fill_dim(%v: f32, %o: tensor<4x?xf32>) -> (tensor<4x?xf32>, index) {
  %c = arith.constant 1 : index
  %0 = linalg.fill ins(%v : f32) outs(%o : tensor<4x?xf32>) -> tensor<4x?xf32>
  %d = tensor.dim %0, %c : tensor<4x?xf32>
  return %0, %d : tensor<4x?xf32>, index
}
// -----
func.func @pack_unpack(%x: tensor<2x3x8x4xf32>, %e: tensor<16x12xf32>, %d: tensor<2x3x8x4xf32>) -> tensor<2x3x8x4xf32> {
  %u = linalg.unpack %x inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %e : tensor<2x3x8x4xf32> -> tensor<16x12xf32>
  %p = linalg.pack %u inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %d : tensor<16x12xf32> -> tensor<2x3x8x4xf32>
  return %p : tensor<2x3x8x4xf32>
}
// -----
func.func @unpack_pack(%x: tensor<16x12xf32>, %e: tensor<16x12xf32>, %d: tensor<2x3x8x4xf32>) -> tensor<16x12xf32> {
  %p = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %d : tensor<16x12xf32> -> tensor<2x3x8x4xf32>
  %u = linalg.unpack %p inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %e : tensor<2x3x8x4xf32> -> tensor<16x12xf32>
  return %u : tensor<16x12xf32>
}
// -----
func.func @matmul_unused_out(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %0 = linalg.matmul ins(%x, %y : tensor<2x3xf32>, tensor<3x4xf32>) outs(%f : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
// -----
func.func @packs_of_others(%x: tensor<16x12xf32>, %e: tensor<16x12xf32>, %d: tensor<2x3x8x4xf32>, %f: tensor<4x2x4x6xf32>, %v: f32) -> (tensor<16x12xf32>, tensor<16x12xf32>) {
  %p = linalg.pack %x padding_value(%v : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %d : tensor<16x12xf32> -> tensor<2x3x8x4xf32>
  %u = linalg.unpack %p inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %e : tensor<2x3x8x4xf32> -> tensor<16x12xf32>
  %q = linalg.pack %u inner_dims_pos = [0, 1] inner_tiles = [4, 6] into %f : tensor<16x12xf32> -> tensor<4x2x4x6xf32>
  %w = linalg.unpack %q inner_dims_pos = [0, 1] inner_tiles = [4, 6] into %x : tensor<4x2x4x6xf32> -> tensor<16x12xf32>
  return %u, %w : tensor<16x12xf32>, tensor<16x12xf32>
}
// -----
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @forwards_two(%x: tensor<2x3xf32>, %y: tensor<?x3xf32>, %o: tensor<2x3xf32>, %p: tensor<2x?xf32>) -> (tensor<2x3xf32>, tensor<2x?xf32>) {
  %0:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<2x3xf32>, tensor<?x3xf32>) outs(%o, %p : tensor<2x3xf32>, tensor<2x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    linalg.yield %b, %a : f32, f32
  } -> (tensor<2x3xf32>, tensor<2x?xf32>)
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x?xf32>
}
// -----
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @forwards_what_was_there(%x: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x3xf32>) outs(%o : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %b : f32
  } -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// -----
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @writes_memory(%x: memref<2x3xf32>, %o: memref<2x3xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<2x3xf32>) outs(%o : memref<2x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  linalg.transpose ins(%x : memref<2x3xf32>) outs(%o : memref<2x3xf32>) permutation = [0, 1]
  return
}
// -----
func.func @window_of_casts(%x: tensor<1x8x8x3xf32>, %k: tensor<3x3x3x4xf32>, %o: tensor<1x6x6x4xf32>) -> tensor<?x?x?x?xf32> {
  %a = tensor.cast %x : tensor<1x8x8x3xf32> to tensor<?x?x?x?xf32>
  %b = tensor.cast %o : tensor<1x6x6x4xf32> to tensor<?x?x?x?xf32>
  %0 = linalg.conv_2d_nhwc_hwcf ins(%a, %k : tensor<?x?x?x?xf32>, tensor<3x3x3x4xf32>) outs(%b : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %0 : tensor<?x?x?x?xf32>
}
// -----
func.func @window_of_open_sizes(%x: tensor<1x8x8x3xf32>, %k: tensor<3x3x3x?xf32>, %o: tensor<?x6x6x4xf32>) -> tensor<?x6x6x4xf32> {
  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %k : tensor<1x8x8x3xf32>, tensor<3x3x3x?xf32>) outs(%o : tensor<?x6x6x4xf32>) -> tensor<?x6x6x4xf32>
  return %0 : tensor<?x6x6x4xf32>
}
// -----
func.func @reduction_of_open_sizes(%x: tensor<?x3xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.reduce ins(%x : tensor<?x3xf32>) outs(%o : tensor<?xf32>) dimensions = [1] (%a: f32, %b: f32) {
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  }
  return %0 : tensor<?xf32>
}
// -----
func.func @map_of_casts(%x: tensor<4xf32>, %y: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %a = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
  %0 = linalg.map ins(%a, %y : tensor<?xf32>, tensor<?xf32>) outs(%o : tensor<?xf32>) (%p: f32, %q: f32, %r: f32) {
    %c = arith.addf %p, %q : f32
    linalg.yield %c : f32
  }
  return %0 : tensor<?xf32>
}
// -----
func.func @cast_of_loop_result(%x: tensor<?x?xf32>, %o: tensor<?x?xf32>, %c: i1) -> (tensor<2x3xf32>, tensor<?x?xf32>) {
  %0 = linalg.exp ins(%x : tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = tensor.cast %0 : tensor<?x?xf32> to tensor<2x3xf32>
  return %1, %0 : tensor<2x3xf32>, tensor<?x?xf32>
}
// -----
func.func @cast_elsewhere(%x: tensor<?x?xf32>, %o: tensor<?x?xf32>, %c: i1, %z: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.exp ins(%x : tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = scf.if %c -> tensor<2x3xf32> {
    "test.x"() : () -> ()
    %1 = tensor.cast %0 : tensor<?x?xf32> to tensor<2x3xf32>
    scf.yield %1 : tensor<2x3xf32>
  } else {
    scf.yield %z : tensor<2x3xf32>
  }
  return %r : tensor<2x3xf32>
}
// -----
func.func @transpose_of_open_sizes(%o: tensor<?x3xf32>, %p: tensor<?x3x4xf32>, %q: tensor<4x3x?xf32>) -> tensor<4x3x?xf32> {
  %1 = linalg.broadcast ins(%o : tensor<?x3xf32>) outs(%p : tensor<?x3x4xf32>) dimensions = [2]
  %2 = linalg.transpose ins(%1 : tensor<?x3x4xf32>) outs(%q : tensor<4x3x?xf32>) permutation = [2, 1, 0]
  return %2 : tensor<4x3x?xf32>
}
// -----
func.func @broadcast_of_broadcast(%o: tensor<3xf32>, %p: tensor<2x3xf32>, %q: tensor<5x2x4x3xf32>) -> tensor<5x2x4x3xf32> {
  %1 = linalg.broadcast ins(%o : tensor<3xf32>) outs(%p : tensor<2x3xf32>) dimensions = [0]
  %2 = linalg.broadcast ins(%1 : tensor<2x3xf32>) outs(%q : tensor<5x2x4x3xf32>) dimensions = [0, 2]
  return %2 : tensor<5x2x4x3xf32>
}
// -----
func.func @note_on_operation(%x: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> tensor<?x3xf32> {
  %y = tensor.cast %x : tensor<2x3xf32> to tensor<?x3xf32>
  %0 = linalg.exp {note = 1 : i32} ins(%y : tensor<?x3xf32>) outs(%y : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}
