// shape.assuming shape.assuming_yield
func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %x_shape = shape.shape_of %x : tensor<2x3xf32> -> tensor<2xindex>
  %y_shape = shape.shape_of %y : tensor<2x3xf32> -> tensor<2xindex>
  %witness = shape.cstr_eq %x_shape, %y_shape : tensor<2xindex>, tensor<2xindex>
  %result = shape.assuming %witness -> (tensor<2x3xf32>) {
    %sum = arith.addf %x, %y : tensor<2x3xf32>
    shape.assuming_yield %sum : tensor<2x3xf32>
  }
  return %result : tensor<2x3xf32>
}
// -----
// shape.function_library shape.func shape.return
shape.function_library @functions {
  shape.func @same_shape(%x: !shape.value_shape) -> !shape.shape {
    %shape = shape.shape_of %x : !shape.value_shape -> !shape.shape
    shape.return %shape : !shape.shape
  }
} mapping {my.op = @same_shape}
// -----
// shape.any
func.func @main(%x: tensor<2x3xf32>) -> tensor<2xindex> {
  %lhs = shape.shape_of %x : tensor<2x3xf32> -> tensor<2xindex>
  %rhs = shape.const_shape [2, 3] : tensor<2xindex>
  %result = shape.any %lhs, %rhs : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
  return %result : tensor<2xindex>
}
// -----
// shape.debug_print
func.func @main(%shape: !shape.shape) -> !shape.shape {
  %result = "shape.debug_print"(%shape) : (!shape.shape) -> !shape.shape
  return %result : !shape.shape
}
// -----
// shape.reduce shape.yield
func.func @main(%x: tensor<2x3xf32>) -> index {
  %shape = shape.shape_of %x : tensor<2x3xf32> -> tensor<2xindex>
  %one = arith.constant 1 : index
  %count = shape.reduce(%shape, %one) : tensor<2xindex> -> index {
  ^bb0(%axis: index, %dim: index, %before: index):
    %product = arith.muli %before, %dim : index
    shape.yield %product : index
  }
  return %count : index
}
// -----
// shape.split_at
func.func @main(%x: tensor<2x3x4xf32>) -> (tensor<?xindex>, tensor<?xindex>) {
  %shape = shape.shape_of %x : tensor<2x3x4xf32> -> tensor<?xindex>
  %one = arith.constant 1 : index
  %head, %tail = "shape.split_at"(%shape, %one) : (tensor<?xindex>, index) -> (tensor<?xindex>, tensor<?xindex>)
  return %head, %tail : tensor<?xindex>, tensor<?xindex>
}
// -----
// shape.to_extent_tensor
func.func @main(%x: tensor<2x3xf32>) -> tensor<2xindex> {
  %shape = shape.shape_of %x : tensor<2x3xf32> -> !shape.shape
  %result = shape.to_extent_tensor %shape : !shape.shape -> tensor<2xindex>
  return %result : tensor<2xindex>
}
// -----
// shape.value_as_shape
func.func @main() -> !shape.shape {
  %dims = arith.constant dense<[2, 3]> : tensor<2xindex>
  %result = shape.value_as_shape %dims : tensor<2xindex> -> !shape.shape
  return %result : !shape.shape
}
// -----
// shape.with_shape shape.value_of
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %shape = shape.shape_of %x : tensor<2x3xf32> -> !shape.shape
  %shaped = shape.with_shape %x, %shape : tensor<2x3xf32>, !shape.shape
  %value = shape.value_of %shaped : tensor<2x3xf32>
  return %value : tensor<2x3xf32>
}
// -----
// shape.max
func.func @main(%lhs: !shape.size, %rhs: !shape.size) -> !shape.size {
  %result = shape.max %lhs, %rhs : !shape.size, !shape.size -> !shape.size
  return %result : !shape.size
}
// -----
// shape.min
func.func @main(%lhs: !shape.size, %rhs: !shape.size) -> !shape.size {
  %result = shape.min %lhs, %rhs : !shape.size, !shape.size -> !shape.size
  return %result : !shape.size
}
// -----
// shape.const_shape
func.func @main() -> tensor<2xindex> {
  %result = shape.const_shape [2, 3] : tensor<2xindex>
  return %result : tensor<2xindex>
}
// -----
// shape.dim
func.func @main(%value: tensor<2x3xf32>) -> index {
  %axis = arith.constant 1 : index
  %extent = shape.dim %value, %axis : tensor<2x3xf32>, index -> index
  return %extent : index
}
// -----
// shape.get_extent
func.func @main(%x: tensor<2x3xf32>) -> index {
  %shape = shape.shape_of %x : tensor<2x3xf32> -> tensor<2xindex>
  %axis = arith.constant 1 : index
  %extent = shape.get_extent %shape, %axis : tensor<2xindex>, index -> index
  return %extent : index
}
