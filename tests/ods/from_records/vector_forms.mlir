#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0) -> (d0)>
#map4 = affine_map<(d0) -> ()>
module {
  func.func @f0(%arg0: vector<4x3xf32>, %arg1: vector<3x7xf32>, %arg2: vector<4x7xf32>) {
    %0 = vector.contract {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %arg0, %arg1, %arg2 : vector<4x3xf32>, vector<3x7xf32> into vector<4x7xf32>
    return
  }
  func.func @f1(%arg0: vector<4x3xf32>, %arg1: vector<3x7xf32>, %arg2: vector<4x7xf32>) {
    %0 = vector.contract {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<maxnumf>} %arg0, %arg1, %arg2 : vector<4x3xf32>, vector<3x7xf32> into vector<4x7xf32>
    return
  }
  func.func @f2(%arg0: vector<4x3xf32>, %arg1: vector<3x7xf32>, %arg2: vector<4x7xf32>) {
    %0 = vector.contract {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<mul>} %arg0, %arg1, %arg2 {bar = 3 : i64, foo} : vector<4x3xf32>, vector<3x7xf32> into vector<4x7xf32>
    return
  }
  func.func @f3(%arg0: vector<10xf32>, %arg1: f32) {
    %0 = vector.contract {indexing_maps = [#map3, #map3, #map4], iterator_types = ["reduction"], kind = #vector.kind<add>} %arg0, %arg0, %arg1 : vector<10xf32>, vector<10xf32> into f32
    return
  }
  func.func @f4(%arg0: vector<10xf16>, %arg1: f32) {
    %0 = vector.contract {indexing_maps = [#map3, #map3, #map4], iterator_types = ["reduction"], kind = #vector.kind<add>} %arg0, %arg0, %arg1 : vector<10xf16>, vector<10xf16> into f32
    return
  }
  func.func @f5(%arg0: vector<[4]xf32>, %arg1: f32) {
    %0 = vector.contract {indexing_maps = [#map3, #map3, #map4], iterator_types = ["reduction"], kind = #vector.kind<add>} %arg0, %arg0, %arg1 : vector<[4]xf32>, vector<[4]xf32> into f32
    return
  }
  func.func @f6(%arg0: vector<10xf32>, %arg1: f32) {
    %0 = vector.contract {indexing_maps = [#map3, #map3, #map4], iterator_types = ["reduction"], kind = #vector.kind<add>} %arg0, %arg0, %arg1 {fastmath = #arith.fastmath<fast>} : vector<10xf32>, vector<10xf32> into f32
    return
  }
}

// -----
module {
  func.func @f0(%arg0: vector<4xf32>, %arg1: vector<8xf32>) {
    %0 = vector.outerproduct %arg0, %arg1 : vector<4xf32>, vector<8xf32>
    return
  }
  func.func @f1(%arg0: vector<4xf32>, %arg1: vector<8xf32>, %arg2: vector<4x8xf32>) {
    %0 = vector.outerproduct %arg0, %arg1, %arg2 {kind = #vector.kind<add>} : vector<4xf32>, vector<8xf32>
    return
  }
  func.func @f2(%arg0: vector<4xf32>, %arg1: f32) {
    %0 = vector.outerproduct %arg0, %arg1 : vector<4xf32>, f32
    return
  }
  func.func @f3(%arg0: vector<4xf32>, %arg1: f32) {
    %0 = vector.outerproduct %arg0, %arg1, %arg0 {kind = #vector.kind<maximumf>} : vector<4xf32>, f32
    return
  }
  func.func @f4(%arg0: vector<4xf32>, %arg1: vector<[4]xf32>) {
    %0 = vector.outerproduct %arg0, %arg1 : vector<4xf32>, vector<[4]xf32>
    return
  }
  func.func @f5(%arg0: vector<[4]xf32>) {
    %0 = vector.outerproduct %arg0, %arg0 : vector<[4]xf32>, vector<[4]xf32>
    return
  }
  func.func @f6(%arg0: vector<4xi32>) {
    %0 = vector.outerproduct %arg0, %arg0 : vector<4xi32>, vector<4xi32>
    return
  }
  func.func @f7(%arg0: vector<4xf32>, %arg1: vector<8xf32>, %arg2: vector<4x8xf32>) {
    %0 = vector.outerproduct %arg0, %arg1, %arg2 {kind = #vector.kind<minnumf>, x = 1 : i64} : vector<4xf32>, vector<8xf32>
    return
  }
}

// -----
#map = affine_map<(d0, d1) -> (d1, d0)>
#map1 = affine_map<(d0, d1) -> (0)>
#map2 = affine_map<(d0, d1) -> (d0, 0)>
module {
  func.func @f0(%arg0: memref<?x?xf32>, %arg1: index, %arg2: f32) {
    %0 = vector.transfer_read %arg0[%arg1, %arg1], %arg2 : memref<?x?xf32>, vector<4xf32>
    return
  }
  func.func @f1(%arg0: memref<?x?xf32>, %arg1: index, %arg2: f32, %arg3: vector<4xi1>) {
    %0 = vector.transfer_read %arg0[%arg1, %arg1], %arg2, %arg3 : memref<?x?xf32>, vector<4xf32>
    return
  }
  func.func @f2(%arg0: memref<?x?xf32>, %arg1: index, %arg2: f32) {
    %0 = vector.transfer_read %arg0[%arg1, %arg1], %arg2 {in_bounds = [true, false]} : memref<?x?xf32>, vector<4x3xf32>
    return
  }
  func.func @f3(%arg0: memref<?x?xf32>, %arg1: index, %arg2: f32, %arg3: vector<3x4xi1>) {
    %0 = vector.transfer_read %arg0[%arg1, %arg1], %arg2, %arg3 {permutation_map = #map} : memref<?x?xf32>, vector<4x3xf32>
    return
  }
  func.func @f4(%arg0: memref<?x?xf32>, %arg1: index, %arg2: f32) {
    %0 = vector.transfer_read %arg0[%arg1, %arg1], %arg2 {in_bounds = [true], permutation_map = #map1} : memref<?x?xf32>, vector<4xf32>
    return
  }
  func.func @f5(%arg0: memref<?x?xf32>, %arg1: index, %arg2: f32, %arg3: vector<4xi1>) {
    %0 = vector.transfer_read %arg0[%arg1, %arg1], %arg2, %arg3 {in_bounds = [false, true], permutation_map = #map2} : memref<?x?xf32>, vector<4x3xf32>
    return
  }
  func.func @f6(%arg0: tensor<3x?xf32>, %arg1: index, %arg2: f32) {
    %0 = vector.transfer_read %arg0[%arg1, %arg1], %arg2 : tensor<3x?xf32>, vector<4xf32>
    return
  }
  func.func @f7(%arg0: memref<f32>, %arg1: f32) {
    %0 = vector.transfer_read %arg0[], %arg1 : memref<f32>, vector<f32>
    return
  }
  func.func @f8(%arg0: memref<?x?xf32>, %arg1: index, %arg2: f32, %arg3: vector<[4]xi1>) {
    %0 = vector.transfer_read %arg0[%arg1, %arg1], %arg2, %arg3 : memref<?x?xf32>, vector<[4]xf32>
    return
  }
  func.func @f9(%arg0: memref<?x?xvector<4x3xf32>>, %arg1: index, %arg2: vector<4x3xf32>) {
    %0 = vector.transfer_read %arg0[%arg1, %arg1], %arg2 : memref<?x?xvector<4x3xf32>>, vector<1x1x4x3xf32>
    return
  }
  func.func @f10(%arg0: memref<?x?xf32>, %arg1: index, %arg2: f32) {
    %0 = vector.transfer_read %arg0[%arg1, %arg1], %arg2 {foo = 1 : i64} : memref<?x?xf32>, vector<4xf32>
    return
  }
  func.func @f11(%arg0: memref<?x?xf32>, %arg1: index, %arg2: f32) {
    %0 = vector.transfer_read %arg0[%arg1, %arg1], %arg2 : memref<?x?xf32>, vector<4x3xf32>
    return
  }
  func.func @f12(%arg0: memref<f32>, %arg1: f32, %arg2: vector<1xi1>) {
    %0 = vector.transfer_read %arg0[], %arg1, %arg2 : memref<f32>, vector<f32>
    return
  }
}

// -----
#map = affine_map<(d0, d1) -> (d1, d0)>
module {
  func.func @f0(%arg0: memref<?x?xf32>, %arg1: index, %arg2: vector<4xf32>) {
    vector.transfer_write %arg2, %arg0[%arg1, %arg1] : vector<4xf32>, memref<?x?xf32>
    return
  }
  func.func @f1(%arg0: memref<?x?xf32>, %arg1: index, %arg2: vector<4xf32>, %arg3: vector<4xi1>) {
    vector.transfer_write %arg2, %arg0[%arg1, %arg1], %arg3 : vector<4xf32>, memref<?x?xf32>
    return
  }
  func.func @f2(%arg0: tensor<3x?xf32>, %arg1: index, %arg2: vector<4xf32>) {
    %0 = vector.transfer_write %arg2, %arg0[%arg1, %arg1] {in_bounds = [true]} : vector<4xf32>, tensor<3x?xf32>
    return
  }
  func.func @f3(%arg0: tensor<3x?xf32>, %arg1: index, %arg2: vector<4x3xf32>) {
    %0 = vector.transfer_write %arg2, %arg0[%arg1, %arg1] {permutation_map = #map} : vector<4x3xf32>, tensor<3x?xf32>
    return
  }
  func.func @f4(%arg0: tensor<3x?xf32>, %arg1: index, %arg2: vector<4xf32>) {
    %0 = vector.transfer_write %arg2, %arg0[%arg1, %arg1] : vector<4xf32>, tensor<3x?xf32>
    return
  }
  func.func @f5(%arg0: memref<f32>, %arg1: vector<f32>) {
    vector.transfer_write %arg1, %arg0[] : vector<f32>, memref<f32>
    return
  }
  func.func @f6(%arg0: memref<?x?xvector<4x3xf32>>, %arg1: index, %arg2: vector<1x1x4x3xf32>) {
    vector.transfer_write %arg2, %arg0[%arg1, %arg1] : vector<1x1x4x3xf32>, memref<?x?xvector<4x3xf32>>
    return
  }
  func.func @f7(%arg0: memref<?x?xf32>, %arg1: index, %arg2: vector<[4]xf32>, %arg3: vector<[4]xi1>) {
    vector.transfer_write %arg2, %arg0[%arg1, %arg1], %arg3 {aa, in_bounds = [true]} : vector<[4]xf32>, memref<?x?xf32>
    return
  }
}

// -----
#map = affine_map<(d0, d1) -> (d0)>
#map1 = affine_map<(d0) -> (d0)>
#map2 = affine_map<(d0) -> ()>
module {
  func.func @f0(%arg0: vector<4xf32>, %arg1: vector<4xi1>) {
    %0 = vector.mask %arg1 { vector.reduction <add>, %arg0 : vector<4xf32> into f32 } : vector<4xi1> -> f32
    return
  }
  func.func @f1(%arg0: memref<?x?xf32>, %arg1: index, %arg2: f32, %arg3: vector<4xi1>) {
    %0 = vector.mask %arg3 { vector.transfer_read %arg0[%arg1, %arg1], %arg2 : memref<?x?xf32>, vector<4xf32> } : vector<4xi1> -> vector<4xf32>
    return
  }
  func.func @f2(%arg0: memref<?x?xf32>, %arg1: index, %arg2: f32, %arg3: vector<4xf32>, %arg4: vector<4xi1>) {
    %0 = vector.mask %arg4, %arg3 { vector.transfer_read %arg0[%arg1, %arg1], %arg2 : memref<?x?xf32>, vector<4xf32> } : vector<4xi1> -> vector<4xf32>
    return
  }
  func.func @f3(%arg0: memref<?x?xf32>, %arg1: index, %arg2: vector<4xf32>, %arg3: vector<4xi1>) {
    vector.mask %arg3 { vector.transfer_write %arg2, %arg0[%arg1, %arg1] : vector<4xf32>, memref<?x?xf32> } : vector<4xi1>
    return
  }
  func.func @f4(%arg0: tensor<3x?xf32>, %arg1: index, %arg2: vector<4xf32>, %arg3: vector<4xi1>) {
    %0 = vector.mask %arg3 { vector.transfer_write %arg2, %arg0[%arg1, %arg1] : vector<4xf32>, tensor<3x?xf32> } : vector<4xi1> -> tensor<3x?xf32>
    return
  }
  func.func @f5(%arg0: vector<4xi1>) {
    vector.mask %arg0 { vector.yield } : vector<4xi1>
    return
  }
  func.func @f6(%arg0: vector<4xf32>, %arg1: vector<4xi1>) {
    %0 = vector.mask %arg1 { vector.yield %arg0 : vector<4xf32> } : vector<4xi1> -> vector<4xf32>
    return
  }
  func.func @f7(%arg0: vector<4xf32>, %arg1: vector<4xi1>) {
    %0 = vector.mask %arg1 { vector.reduction <add>, %arg0 : vector<4xf32> into f32 } : vector<4xi1> -> f32
    return
  }
  func.func @f8(%arg0: vector<4xf32>, %arg1: vector<4x3xf32>, %arg2: vector<4x3xi1>) {
    %0 = vector.mask %arg2 { vector.multi_reduction <mul>, %arg1, %arg0 [1] : vector<4x3xf32> to vector<4xf32> } {foo = 1 : i64} : vector<4x3xi1> -> vector<4xf32>
    return
  }
  func.func @f9(%arg0: f32, %arg1: vector<[4]xf32>, %arg2: vector<[4]xi1>) {
    %0 = vector.mask %arg2 { vector.reduction <maxnumf>, %arg1, %arg0 fastmath<nnan> : vector<[4]xf32> into f32 } : vector<[4]xi1> -> f32
    return
  }
  func.func @f10(%arg0: memref<?x?xf32>, %arg1: index, %arg2: f32, %arg3: vector<4xi1>) {
    %0 = vector.mask %arg3 { vector.transfer_read %arg0[%arg1, %arg1], %arg2 {permutation_map = #map} : memref<?x?xf32>, vector<4xf32> } : vector<4xi1> -> vector<4xf32>
    %1 = arith.addf %0, %0 : vector<4xf32>
    return
  }
  func.func @f11(%arg0: f32, %arg1: vector<4xi1>) {
    %0 = vector.mask %arg1 { vector.yield %arg0 : f32 } : vector<4xi1> -> vector<4xf32>
    return
  }
  func.func @f12(%arg0: memref<?x?xf32>, %arg1: index, %arg2: vector<4xf32>, %arg3: vector<4xi1>, %arg4: vector<4xi32>) {
    %0 = vector.mask %arg3 { vector.gather %arg0[%arg1, %arg1] [%arg4], %arg3, %arg2 : memref<?x?xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32> } : vector<4xi1> -> vector<4xf32>
    return
  }
  func.func @f13(%arg0: vector<4xf32>, %arg1: vector<4x3xf32>, %arg2: vector<4x3xi1>, %arg3: vector<3xf32>) {
    %0 = vector.mask %arg2 { vector.outerproduct %arg0, %arg3, %arg1 {kind = #vector.kind<add>} : vector<4xf32>, vector<3xf32> } : vector<4x3xi1> -> vector<4x3xf32>
    return
  }
  func.func @f14(%arg0: f32, %arg1: vector<4xf32>, %arg2: vector<4xi1>) {
    %0 = vector.mask %arg2 { vector.contract {indexing_maps = [#map1, #map1, #map2], iterator_types = ["reduction"], kind = #vector.kind<add>} %arg1, %arg1, %arg0 : vector<4xf32>, vector<4xf32> into f32 } : vector<4xi1> -> f32
    return
  }
}
