// Tensors: sizes, casts, elements; TOSA: transposes, constants, reshapes.

func.func @known_sizes(%x: tensor<2x?x4xf32>) -> (index, index, index, index) {
  %a = arith.constant 0 : index
  %b = arith.constant 1 : index
  %c = arith.constant 2 : index
  %0 = tensor.dim %x, %a : tensor<2x?x4xf32>
  %1 = tensor.dim %x, %b : tensor<2x?x4xf32>
  %2 = tensor.dim %x, %c : tensor<2x?x4xf32>
  %3 = tensor.rank %x : tensor<2x?x4xf32>
  return %0, %1, %2, %3 : index, index, index, index
}

// -----

func.func @casts(%x: tensor<2x3xf32>, %y: tensor<?x?xf32>) -> (tensor<2x3xf32>, tensor<?x3xf32>, tensor<?x?xf32>) {
  %0 = tensor.cast %x : tensor<2x3xf32> to tensor<?x?xf32>
  %1 = tensor.cast %0 : tensor<?x?xf32> to tensor<2x3xf32>
  %2 = tensor.cast %0 : tensor<?x?xf32> to tensor<?x3xf32>
  %3 = tensor.cast %y : tensor<?x?xf32> to tensor<?x?xf32>
  return %1, %2, %3 : tensor<2x3xf32>, tensor<?x3xf32>, tensor<?x?xf32>
}

// -----

func.func @elements(%a: f32, %b: f32) -> (f32, f32) {
  %z = arith.constant 0 : index
  %o = arith.constant 1 : index
  %0 = tensor.from_elements %a, %b : tensor<2xf32>
  %1 = tensor.extract %0[%z] : tensor<2xf32>
  %2 = tensor.extract %0[%o] : tensor<2xf32>
  return %1, %2 : f32, f32
}

// -----

func.func @elements_of_constants() -> (f32, i32) {
  %z = arith.constant 0 : index
  %o = arith.constant 1 : index
  %c = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %d = arith.constant dense<7> : tensor<5xi32>
  %0 = tensor.extract %c[%o, %z] : tensor<2x2xf32>
  %1 = tensor.extract %d[%z] : tensor<5xi32>
  return %0, %1 : f32, i32
}

// -----

func.func @element_of_a_splat_at_any_place(%i: index) -> i32 {
  %d = arith.constant dense<7> : tensor<5xi32>
  %1 = tensor.extract %d[%i] : tensor<5xi32>
  return %1 : i32
}

// -----

func.func @elements_from_constants() -> tensor<2xf32> {
  %a = arith.constant 1.0 : f32
  %b = arith.constant 2.0 : f32
  %0 = tensor.from_elements %a, %b : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @splats() -> tensor<4xf32> {
  %a = arith.constant 1.5 : f32
  %0 = tensor.splat %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @size_of_an_empty_tensor(%n: index) -> (index, tensor<?x3xf32>) {
  %z = arith.constant 0 : index
  %0 = tensor.empty(%n) : tensor<?x3xf32>
  %1 = tensor.dim %0, %z : tensor<?x3xf32>
  return %1, %0 : index, tensor<?x3xf32>
}

// -----

func.func @inserted_then_extracted(%t: tensor<4xf32>, %v: f32, %i: index) -> f32 {
  %0 = tensor.insert %v into %t[%i] : tensor<4xf32>
  %1 = tensor.extract %0[%i] : tensor<4xf32>
  return %1 : f32
}

// -----

func.func @transposes(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = tosa.transpose %x {perms = array<i32: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = tosa.transpose %0 {perms = array<i32: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %2 = tosa.transpose %x {perms = array<i32: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1, %2 : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

func.func @transposes_in_a_row(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  %0 = tosa.transpose %x {perms = array<i32: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = tosa.transpose %0 {perms = array<i32: 1, 2, 0>} : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  return %1 : tensor<4x2x3xf32>
}

// -----

func.func @tosa_splats() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi32>) {
  %a = "tosa.const"() <{values = dense<1.5> : tensor<4xf32>}> : () -> tensor<4xf32>
  %b = "tosa.const"() <{values = dense<2.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  %c = "tosa.const"() <{values = dense<3> : tensor<4xi32>}> : () -> tensor<4xi32>
  %0 = tosa.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.sub %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = tosa.add %c, %c : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xi32>
}

// -----

func.func @tosa_identities(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>, tensor<4xf32>) {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  %n = "tosa.const"() <{values = dense<0> : tensor<4xi32>}> : () -> tensor<4xi32>
  %0 = tosa.add %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.add %i, %n : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %2 = tosa.sub %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xi32>, tensor<4xf32>
}

// -----

func.func @tosa_casts(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tosa.cast %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @tosa_reshapes(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>) {
  %s = tosa.const_shape {values = dense<[2, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %t = tosa.const_shape {values = dense<[4]> : tensor<1xindex>} : () -> !tosa.shape<1>
  %0 = tosa.reshape %x, %t : (tensor<4xf32>, !tosa.shape<1>) -> tensor<4xf32>
  %1 = tosa.reshape %x, %t : (tensor<4xf32>, !tosa.shape<1>) -> tensor<4xf32>
  %2 = tosa.reshape %1, %s : (tensor<4xf32>, !tosa.shape<2>) -> tensor<2x2xf32>
  return %0, %2 : tensor<4xf32>, tensor<2x2xf32>
}

// -----

func.func @tosa_constants_stay_apart() -> (tensor<4xf32>, tensor<4xf32>) {
  %a = "tosa.const"() <{values = dense<1.5> : tensor<4xf32>}> : () -> tensor<4xf32>
  %b = "tosa.const"() <{values = dense<1.5> : tensor<4xf32>}> : () -> tensor<4xf32>
  %0 = tosa.tanh %a : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.exp %b : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @tosa_inverses(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = tosa.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.log %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tosa.log %x : (tensor<4xf32>) -> tensor<4xf32>
  %3 = tosa.exp %2 : (tensor<4xf32>) -> tensor<4xf32>
  %4 = tosa.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  %5 = tosa.abs %4 : (tensor<4xf32>) -> tensor<4xf32>
  %6 = tosa.reciprocal %x : (tensor<4xf32>) -> tensor<4xf32>
  %7 = tosa.reciprocal %6 : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %3, %5, %7 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @nested_programs_without_effect_go(%i: tensor<4xf32>, %c: tensor<i1>, %w: !shape.witness) {
  %g = linalg.generic {indexing_maps = [affine_map<(d0)->(d0)>], iterator_types = ["parallel"]} outs(%i : tensor<4xf32>) {
  ^bb0(%x: f32):
    %y = arith.addf %x, %x : f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  %a = linalg.add ins(%i, %i : tensor<4xf32>, tensor<4xf32>) outs(%i : tensor<4xf32>) -> tensor<4xf32>
  %r = tosa.cond_if %c : tensor<i1> -> tensor<4xf32> {
    tosa.yield %i : tensor<4xf32>
  } else {
    %e = tosa.exp %i : (tensor<4xf32>) -> tensor<4xf32>
    tosa.yield %e : tensor<4xf32>
  }
  %t = shape.assuming %w -> (tensor<4xf32>) {
    shape.assuming_yield %i : tensor<4xf32>
  }

  %n = arith.constant 4 : index
  %d = tensor.generate %n {
  ^bb0(%x: index):
    %y = arith.index_cast %x : index to i32
    tensor.yield %y : i32
  } : tensor<?xi32>
  return
}

// -----

tosa.variable @v = dense<0.0> : tensor<4xf32>
func.func @nested_programs_that_store_stay(%c: tensor<i1>, %x: tensor<4xf32>) {
  %r = tosa.cond_if %c : tensor<i1> -> tensor<4xf32> {
    tosa.variable_write @v, %x : tensor<4xf32>
    tosa.yield %x : tensor<4xf32>
  } else {
    tosa.yield %x : tensor<4xf32>
  }
  return
}
