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
