// Sizes that follow from another tensor, casts between types without operations, limits of bools, full tiles.
func.func @of_one_of_several(%a: tensor<?x5xi8>, %b: tensor<3x?xi8>, %c: tensor<?x?xi8>) -> (tensor<?x?xi8>, tensor<?x5xi8>, tensor<?x5xi8>) {
  %0 = tensor.concat dim(0) %a, %b, %c : (tensor<?x5xi8>, tensor<3x?xi8>, tensor<?x?xi8>) -> tensor<?x?xi8>
  %1 = tensor.concat dim(1) %b, %c : (tensor<3x?xi8>, tensor<?x?xi8>) -> tensor<?x5xi8>
  %2 = tensor.concat dim(0) %c, %c : (tensor<?x?xi8>, tensor<?x?xi8>) -> tensor<?x5xi8>
  return %0, %1, %2 : tensor<?x?xi8>, tensor<?x5xi8>, tensor<?x5xi8>
}
// -----
func.func @of_all_together(%a: tensor<3x?xf32>, %b: tensor<4x?xf32>, %c: tensor<?x2xf32>) -> (tensor<?x?xf32>, tensor<7x?xf32>) {
  %0 = tensor.concat dim(0) %a, %b : (tensor<3x?xf32>, tensor<4x?xf32>) -> tensor<?x?xf32>
  %1 = tensor.concat dim(0) %a, %c : (tensor<3x?xf32>, tensor<?x2xf32>) -> tensor<7x?xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<7x?xf32>
}
// -----
func.func @casts_there_and_back(%a: i16, %b: f16) -> (i16, i16, f16, i16) {
  %0 = builtin.unrealized_conversion_cast %a : i16 to i16
  %1 = builtin.unrealized_conversion_cast %a : i16 to index
  %2 = builtin.unrealized_conversion_cast %1 : index to i16
  %3:2 = builtin.unrealized_conversion_cast %a, %b : i16, f16 to f32, f64
  %4:2 = builtin.unrealized_conversion_cast %3#0, %3#1 : f32, f64 to i16, f16
  %5 = builtin.unrealized_conversion_cast %3#0 : f32 to i16
  return %0, %2, %4#1, %5 : i16, i16, f16, i16
}
// -----
func.func @limits_of_bools(%a: tensor<4xi1>, %b: tensor<4xi8>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi8>) {
  %0 = tosa.clamp %a {min_val = false, max_val = true} : (tensor<4xi1>) -> tensor<4xi1>
  %1 = tosa.clamp %a {min_val = true, max_val = true} : (tensor<4xi1>) -> tensor<4xi1>
  %2 = tosa.clamp %b {min_val = 0 : i8, max_val = 1 : i8} : (tensor<4xi8>) -> tensor<4xi8>
  return %0, %1, %2 : tensor<4xi1>, tensor<4xi1>, tensor<4xi8>
}
// -----
func.func @full_tiles(%a: tensor<8x6xi8>, %b: tensor<7x6xi8>, %p: i8) -> (tensor<2x2x4x3xi8>, tensor<2x2x4x3xi8>) {
  %0 = tensor.empty() : tensor<2x2x4x3xi8>
  %1 = linalg.pack %a padding_value(%p : i8) inner_dims_pos = [0, 1] inner_tiles = [4, 3] into %0 : tensor<8x6xi8> -> tensor<2x2x4x3xi8>
  %2 = linalg.pack %b padding_value(%p : i8) inner_dims_pos = [0, 1] inner_tiles = [4, 3] into %0 : tensor<7x6xi8> -> tensor<2x2x4x3xi8>
  return %1, %2 : tensor<2x2x4x3xi8>, tensor<2x2x4x3xi8>
}
