// right
func.func @f(%a: !shape.shape) {
  %0 = "shape.broadcast"(%a) : (!shape.shape) -> !shape.shape
  return
}
// -----
// wrong: an error may follow from shapes only
func.func @f(%a: tensor<?xindex>, %b: !shape.shape) {
  %0 = "shape.add"(%a, %b) : (tensor<?xindex>, !shape.shape) -> !shape.size
  return
}
// -----
// wrong: sizes that may be errors give sizes
func.func @f(%a: !shape.size, %b: index) {
  %0 = "shape.add"(%a, %b) : (!shape.size, index) -> index
  return
}
// -----
// right
func.func @f(%a: !shape.size, %b: index) {
  %0 = shape.add %a, %b : !shape.size, index -> !shape.size
  return
}
// -----
// wrong: a reduction has an argument for each carried value
func.func @f(%s: tensor<?xindex>, %x: index) {
  %0 = shape.reduce(%s, %x) : tensor<?xindex> -> index {
  ^bb0(%i: index, %d: index):
    shape.yield %d : index
  }
  return
}
// -----
// wrong: the first argument of a reduction is an index
func.func @f(%s: tensor<?xindex>, %x: index) {
  %0 = shape.reduce(%s, %x) : tensor<?xindex> -> index {
  ^bb0(%i: f32, %d: index, %a: index):
    shape.yield %a : index
  }
  return
}
// -----
// wrong: an assuming region yields the results
func.func @f(%w: !shape.witness, %x: f32) {
  %0 = shape.assuming %w -> (f64) {
    shape.assuming_yield %x : f32
  }
  return
}
// -----
// wrong: a constant shape is an extent tensor
%0 = "shape.const_shape"() <{shape = dense<1> : tensor<2xi32>}> : () -> tensor<2xindex>
// -----
// wrong: the element of a shape may not be an error
func.func @f(%s: !shape.shape, %i: index) {
  %0 = "shape.get_extent"(%s, %i) : (!shape.shape, index) -> index
  return
}
// -----
// wrong: a size is not a float
func.func @f(%s: f32) {
  %0 = "shape.size_to_index"(%s) : (f32) -> index
  return
}
// -----
// wrong: the function of a library exists
module attributes {shape.lib = @lib} {
  shape.function_library @lib {
  } mapping {a.b = @x}
  shape.function_library @lib {
  } mapping {}
}
