// What is stored to a global reaches the loads after it.

ml_program.global private mutable @g(dense<0.0> : tensor<4xf32>) : tensor<4xf32>
func.func @store_then_load(%x: tensor<4xf32>) -> tensor<4xf32> {
  ml_program.global_store @g = %x : tensor<4xf32>
  %0 = ml_program.global_load @g : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

ml_program.global private mutable @g(dense<0.0> : tensor<4xf32>) : tensor<4xf32>
func.func @two_loads() -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = ml_program.global_load @g : tensor<4xf32>
  %1 = ml_program.global_load @g : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

ml_program.global private mutable @g(dense<0.0> : tensor<4xf32>) : tensor<4xf32>
func.func @two_stores(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  ml_program.global_store @g = %x : tensor<4xf32>
  ml_program.global_store @g = %y : tensor<4xf32>
  return
}

// -----

ml_program.global private mutable @g(dense<0.0> : tensor<4xf32>) : tensor<4xf32>
func.func @store_load_store(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  ml_program.global_store @g = %x : tensor<4xf32>
  %0 = ml_program.global_load @g : tensor<4xf32>
  ml_program.global_store @g = %y : tensor<4xf32>
  %1 = ml_program.global_load @g : tensor<4xf32>
  %2 = arith.addf %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

ml_program.global private mutable @g(dense<0.0> : tensor<4xf32>) : tensor<4xf32>
ml_program.global private mutable @h(dense<0.0> : tensor<4xf32>) : tensor<4xf32>
func.func @two_globals(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  ml_program.global_store @g = %x : tensor<4xf32>
  ml_program.global_store @h = %y : tensor<4xf32>
  %0 = ml_program.global_load @g : tensor<4xf32>
  %1 = ml_program.global_load @h : tensor<4xf32>
  ml_program.global_store @g = %1 : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

ml_program.global private mutable @g(dense<0.0> : tensor<4xf32>) : tensor<4xf32>
func.func @loaded_and_stored_back() {
  %0 = ml_program.global_load @g : tensor<4xf32>
  ml_program.global_store @g = %0 : tensor<4xf32>
  return
}

// -----

ml_program.global private mutable @g(dense<0.0> : tensor<4xf32>) : tensor<4xf32>
func.func private @writes(%x: tensor<4xf32>) {
  ml_program.global_store @g = %x : tensor<4xf32>
  return
}
func.func @call_that_writes(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = ml_program.global_load @g : tensor<4xf32>
  func.call @writes(%x) : (tensor<4xf32>) -> ()
  %1 = ml_program.global_load @g : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

ml_program.global private mutable @g(dense<0.0> : tensor<4xf32>) : tensor<4xf32>
func.func private @reads() -> tensor<4xf32> {
  %0 = ml_program.global_load @g : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @call_that_reads(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  ml_program.global_store @g = %x : tensor<4xf32>
  %0 = func.call @reads() : () -> tensor<4xf32>
  %1 = ml_program.global_load @g : tensor<4xf32>
  ml_program.global_store @g = %y : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

ml_program.global private mutable @g(dense<0.0> : tensor<4xf32>) : tensor<4xf32>
func.func private @harmless(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @call_that_does_nothing(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  ml_program.global_store @g = %x : tensor<4xf32>
  %0 = func.call @harmless(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = ml_program.global_load @g : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

ml_program.global private mutable @g(dense<0.0> : tensor<4xf32>) : tensor<4xf32>
func.func private @declared()
func.func @call_of_a_declaration(%x: tensor<4xf32>) -> tensor<4xf32> {
  ml_program.global_store @g = %x : tensor<4xf32>
  func.call @declared() : () -> ()
  %0 = ml_program.global_load @g : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

ml_program.global private mutable @g(dense<0.0> : tensor<4xf32>) : tensor<4xf32>
func.func @branches(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  ml_program.global_store @g = %x : tensor<4xf32>
  cf.cond_br %c, ^one, ^two
^one:
  %0 = ml_program.global_load @g : tensor<4xf32>
  return %0 : tensor<4xf32>
^two:
  %1 = ml_program.global_load @g : tensor<4xf32>
  %2 = ml_program.global_load @g : tensor<4xf32>
  %3 = arith.addf %1, %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

ml_program.global private mutable @g(dense<0.0> : tensor<4xf32>) : tensor<4xf32>
func.func @regions(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  ml_program.global_store @g = %x : tensor<4xf32>
  scf.if %c {
    ml_program.global_store @g = %x : tensor<4xf32>
  }
  %0 = ml_program.global_load @g : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

ml_program.global private mutable @g(dense<0.0> : tensor<4xf32>) : tensor<4xf32>
func.func @unregistered_between(%x: tensor<4xf32>) -> tensor<4xf32> {
  ml_program.global_store @g = %x : tensor<4xf32>
  "x.effect"() : () -> ()
  %0 = ml_program.global_load @g : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

ml_program.global private mutable @g(dense<0.0> : tensor<4xf32>) : tensor<4xf32>
func.func private @recursive(%x: tensor<4xf32>) {
  func.call @recursive(%x) : (tensor<4xf32>) -> ()
  ml_program.global_store @g = %x : tensor<4xf32>
  return
}
func.func @call_of_recursive(%x: tensor<4xf32>) -> tensor<4xf32> {
  ml_program.global_store @g = %x : tensor<4xf32>
  func.call @recursive(%x) : (tensor<4xf32>) -> ()
  %0 = ml_program.global_load @g : tensor<4xf32>
  return %0 : tensor<4xf32>
}
