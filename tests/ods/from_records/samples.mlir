memref.global "private" @g : memref<2x3xf32>
func.func @f(%m: memref<?x4xf32>, %s: memref<2xindex>, %i: index, %b: memref<64xi8>, %v: f32) {
  %a0 = memref.alloc(%i) : memref<?x4xf32>
  %a1 = memref.alloca(%i) : memref<?x4xf32>
  %a2 = memref.assume_alignment %m, 4 : memref<?x4xf32>
  %a3 = memref.atomic_rmw addf %v, %m[%i, %i] : (f32, memref<?x4xf32>) -> f32
  %a4 = memref.load %m[%i, %i] : memref<?x4xf32>
  %a5 = memref.realloc %b : memref<64xi8> to memref<124xi8>
  %a6 = memref.cast %m : memref<?x4xf32> to memref<4x4xf32>
  %a7 = memref.dim %m, %i : memref<?x4xf32>
  %a8 = memref.extract_aligned_pointer_as_index %m : memref<?x4xf32> -> index
  %bb, %off, %sz:2, %st:2 = memref.extract_strided_metadata %m : memref<?x4xf32> -> memref<f32>, index, index, index, index, index
  %a9 = memref.get_global @g : memref<2x3xf32>
  %a10 = memref.memory_space_cast %m : memref<?x4xf32> to memref<?x4xf32, 5>
  %a11 = memref.rank %m : memref<?x4xf32>
  %a12 = memref.reinterpret_cast %m to offset: [0], sizes: [10, %i], strides: [%i, 1] : memref<?x4xf32> to memref<10x?xf32, strided<[?, 1], offset: 0>>
  %a13 = memref.reshape %m(%s) : (memref<?x4xf32>, memref<2xindex>) -> memref<?x?xf32>
  %a14 = memref.subview %m[%i, 0] [2, 2] [1, 1] : memref<?x4xf32> to memref<2x2xf32, strided<[4, 1], offset: ?>>
  %a16 = memref.view %b[%i][%i] : memref<64xi8> to memref<?x4xf32>
  %a17 = memref.expand_shape %m [[0, 1], [2]] output_shape [%i, 2, 4] : memref<?x4xf32> into memref<?x2x4xf32>
  %a18 = memref.collapse_shape %m [[0, 1]] : memref<?x4xf32> into memref<?xf32>
  %a19, %a20 = memref.distinct_objects %m, %b : memref<?x4xf32>, memref<64xi8>
  %c = bufferization.clone %m : memref<?x4xf32> to memref<?x4xf32>
  %t = bufferization.to_tensor %m restrict writable : memref<?x4xf32> to tensor<?x4xf32>
  %t1 = bufferization.to_buffer %t : tensor<?x4xf32> to memref<?x4xf32>
  bufferization.dealloc_tensor %t : tensor<?x4xf32>
  bufferization.materialize_in_destination %t in restrict writable %m : (tensor<?x4xf32>, memref<?x4xf32>) -> ()
  %true = arith.constant true
  %d:2 = bufferization.dealloc (%m, %b : memref<?x4xf32>, memref<64xi8>) if (%true, %true) retain (%m, %b : memref<?x4xf32>, memref<64xi8>)
  memref.store %v, %m[%i, %i] : memref<?x4xf32>
  memref.copy %m, %m : memref<?x4xf32> to memref<?x4xf32>
  memref.dealloc %m : memref<?x4xf32>
  %u = builtin.unrealized_conversion_cast %v : f32 to i32
  return
}
// -----
!q = !quant.uniform<i8:f32, 2.0:10>
func.func @q(%a: f32, %b: tensor<4xf32>, %c: !q, %d: tensor<4x!q>, %i: i8) {
  %0 = quant.qcast %a : f32 to !q
  %1 = quant.dcast %d : tensor<4x!q> to tensor<4xf32>
  %2 = quant.scast %i : i8 to !q
  return
}
// -----
func.func @a(%m: memref<4x4xf32>, %f: f32, %i: index, %t: tensor<?xf32>) -> f32 {
  %0 = memref.generic_atomic_rmw %m[%i, %i] : memref<4x4xf32> {
  ^bb0(%cur: f32):
    %1 = arith.addf %cur, %f : f32
    memref.atomic_yield %1 : f32
  } {a = 1 : i32}
  memref.alloca_scope {
    %2 = arith.addf %f, %f : f32
    memref.alloca_scope.return
  }
  %3 = memref.alloca_scope -> (f32) {
    %2 = arith.addf %f, %f : f32
    memref.alloca_scope.return %2 : f32
  }
  memref.alloca_scope {
    memref.alloca_scope.return
  } {k = 2 : i32}
  memref.prefetch %m[%i, %i], read, locality<3>, data : memref<4x4xf32>
  memref.prefetch %m[%i, %i], write, locality<1>, instr : memref<4x4xf32>
  %s4 = memref.transpose %m (i, j) -> (j, i) {y} : memref<4x4xf32> to memref<4x4xf32, strided<[1, 4]>>
  %5 = bufferization.alloc_tensor() : tensor<4xf32>
  %6 = bufferization.alloc_tensor(%i) : tensor<?xf32>
  %7 = bufferization.alloc_tensor() copy(%t) : tensor<?xf32>
  %8 = bufferization.alloc_tensor(%i) size_hint=%i {memory_space = 1 : i64} : tensor<?xf32>
  %9 = bufferization.alloc_tensor() copy(%t) {memory_space = 1 : i64} : tensor<?xf32>
  return %3 : f32
}
func.func @dma(%a: memref<1024xf32>, %b: memref<1024xf32, 1>, %tag: memref<1xi32>, %i: index) {
  memref.dma_start %a[%i], %b[%i], %i, %tag[%i] : memref<1024xf32>, memref<1024xf32, 1>, memref<1xi32>
  memref.dma_start %a[%i], %b[%i], %i, %tag[%i], %i, %i : memref<1024xf32>, memref<1024xf32, 1>, memref<1xi32>
  memref.dma_wait %tag[%i], %i : memref<1xi32>
  return
}
// -----
func.func @dma(%a: memref<1024xf32>, %b: memref<1024xf32, 1>, %tag: memref<1xi32>, %i: index, %z: memref<f32>) {
  "memref.prefetch"(%a, %i) <{isDataCache = true, isWrite = false, localityHint = 3 : i32}> : (memref<1024xf32>, index) -> ()
  "memref.dma_start"(%a, %i, %b, %i, %i, %tag, %i, %i, %i)   : (memref<1024xf32>, index, memref<1024xf32, 1>, index, index, memref<1xi32>, index, index, index) -> ()
  "memref.dma_start"(%z, %z, %i, %tag, %i)  : (memref<f32>, memref<f32>, index, memref<1xi32>, index) -> ()
  %0 = memref.generic_atomic_rmw %z[] : memref<f32> {
  ^bb0(%cur: f32):
    %1 = arith.addf %cur, %cur : f32
    memref.atomic_yield %1 : f32
  }
  memref.alloca_scope {
    memref.alloca_scope.return
  } {k}
  %5:2 = memref.alloca_scope -> (i32, index) {
    %c = arith.constant 0 : i32
    memref.alloca_scope.return {a} %c, %i : i32, index
  }
  %p = memref.transpose %z () -> () : memref<f32> to memref<f32, strided<[]>>
  return
}
func.func @u(%a: memref<*xf32>, %t: tensor<*xf32>, %d: tensor<?x?xf32>, %s: index) -> memref<*xf32> {
  %u = bufferization.alloc_tensor() copy(%d) {memory_space = "x", z} : tensor<?x?xf32>
  %v = bufferization.alloc_tensor(%s, %s) : tensor<?x?xf32>
  return %a : memref<*xf32>
}
// -----
ml_program.global private @g(dense<[1, 2]> : tensor<2xi32>) : tensor<2xi32>
func.func @global() -> tensor<2xi32> {
  %0 = ml_program.global_load_const @g : tensor<2xi32>
  return %0 : tensor<2xi32>
}
// -----
func.func @expand(%a: tensor<?x4xf32>, %n: index) -> tensor<?x2x4xf32> {
  %0 = tensor.expand_shape %a [[0, 1], [2]] output_shape [%n, 2, 4] : tensor<?x4xf32> into tensor<?x2x4xf32>
  return %0 : tensor<?x2x4xf32>
}
// -----
func.func @winograd(%f: tensor<2x3x3x5xf32>, %of: tensor<6x6x5x2xf32>, %i: tensor<2x10x10x5xf32>, %oi: tensor<6x6x2x2x2x5xf32>, %m: tensor<6x6x2x2x2x2xf32>, %oo: tensor<2x8x8x2xf32>) {
  %0 = linalg.winograd_filter_transform fmr(F_4_3) ins(%f : tensor<2x3x3x5xf32>) outs(%of : tensor<6x6x5x2xf32>) -> tensor<6x6x5x2xf32>
  %1 = linalg.winograd_input_transform fmr(F_4_3) ins(%i : tensor<2x10x10x5xf32>) outs(%oi : tensor<6x6x2x2x2x5xf32>) -> tensor<6x6x2x2x2x5xf32>
  %2 = linalg.winograd_output_transform fmr(F_4_3) ins(%m : tensor<6x6x2x2x2x2xf32>) outs(%oo : tensor<2x8x8x2xf32>) -> tensor<2x8x8x2xf32>
  return
}
// -----
func.func @tosa(%x: tensor<1x8x8x4xf32>, %w: tensor<3x3x4x2xf32>, %b: tensor<8xf32>, %v: tensor<8x3x3x4xf32>, %z: tensor<1xf32>) {
  %0 = tosa.depthwise_conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x8x8x4xf32>, tensor<3x3x4x2xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x8xf32>
  %1 = tosa.transpose_conv2d %x, %v, %b, %z, %z {acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x8x8x4xf32>, tensor<8x3x3x4xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x10x10x8xf32>
  return
}
// -----
module attributes {tosa.env = #tosa.target_env<specification_version = "1.1.draft", level = "8k", profiles = [pro_int, pro_fp], extensions = [int16, bf16]>} {
  func.func @env() {
    return
  }
}
// -----
module attributes {tosa.env = #tosa.target_env<specification_version = "1.0", level = none, profiles = [pro_int], extensions = [int16]>} {
}
