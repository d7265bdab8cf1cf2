// Private symbols that nothing refers to.

func.func private @unused() {
  return
}
func.func @kept() {
  return
}

// -----

func.func private @called() {
  return
}
func.func @caller() {
  func.call @called() : () -> ()
  return
}

// -----

func.func private @one() {
  func.call @two() : () -> ()
  return
}
func.func private @two() {
  func.call @one() : () -> ()
  return
}
func.func @cycle_of_unused() {
  return
}

// -----

func.func private @end() {
  return
}
func.func private @middle() {
  func.call @end() : () -> ()
  return
}
func.func @start() {
  func.call @middle() : () -> ()
  return
}

// -----

func.func nested @nested_visibility() {
  return
}
func.func @beside_nested() {
  return
}

// -----

module @inner {
  func.func private @unused_inside() {
    return
  }
  func.func nested @nested_inside() {
    return
  }
  func.func @public_inside() {
    return
  }
}

// -----

module @other attributes {sym_visibility = "private"} {
  func.func nested @referred() {
    return
  }
  func.func nested @not_referred() {
    return
  }
}
func.func @refers() {
  "x.use"() {s = @other::@referred} : () -> ()
  return
}

// -----

ml_program.global private @unused_global(dense<1> : tensor<2xi32>) : tensor<2xi32>
ml_program.global private @used_global(dense<1> : tensor<2xi32>) : tensor<2xi32>
ml_program.global public @public_global(dense<1> : tensor<2xi32>) : tensor<2xi32>
func.func @loads() -> tensor<2xi32> {
  %0 = ml_program.global_load_const @used_global : tensor<2xi32>
  return %0 : tensor<2xi32>
}

// -----

func.func private @by_value(%x: i32) -> i32 {
  return %x : i32
}
func.func @takes_it() -> ((i32) -> i32) {
  %f = func.constant @by_value : (i32) -> i32
  return %f : (i32) -> i32
}

// -----

func.func private @declared(i32)
func.func private @declared_and_called(i32)
func.func @uses_declared(%x: i32) {
  func.call @declared_and_called(%x) : (i32) -> ()
  return
}

// -----

func.func private @in_an_array() {
  return
}
func.func private @in_a_dictionary() {
  return
}
func.func @refers_deeply() attributes {x.list = [@in_an_array, 1 : i32], x.map = {a = {b = @in_a_dictionary}}} {
  return
}

// -----

module @open {
  func.func nested @nested_in_open() {
    return
  }
  func.func private @private_in_open() {
    return
  }
}
func.func @beside_open() {
  return
}
