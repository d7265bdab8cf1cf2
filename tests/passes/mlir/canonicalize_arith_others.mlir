// Comparisons, choices, conversions and floats.

func.func @comparisons_of_itself(%x: i32) -> (i1, i1, i1, i1, i1, i1, i1, i1, i1, i1) {
  %0 = arith.cmpi eq, %x, %x : i32
  %1 = arith.cmpi ne, %x, %x : i32
  %2 = arith.cmpi slt, %x, %x : i32
  %3 = arith.cmpi sle, %x, %x : i32
  %4 = arith.cmpi sgt, %x, %x : i32
  %5 = arith.cmpi sge, %x, %x : i32
  %6 = arith.cmpi ult, %x, %x : i32
  %7 = arith.cmpi ule, %x, %x : i32
  %8 = arith.cmpi ugt, %x, %x : i32
  %9 = arith.cmpi uge, %x, %x : i32
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : i1, i1, i1, i1, i1, i1, i1, i1, i1, i1
}

// -----

func.func @comparisons_of_constants() -> (i1, i1, i1, i1) {
  %a = arith.constant -1 : i32
  %b = arith.constant 2 : i32
  %0 = arith.cmpi slt, %a, %b : i32
  %1 = arith.cmpi ult, %a, %b : i32
  %2 = arith.cmpi eq, %a, %b : i32
  %3 = arith.cmpi sge, %a, %b : i32
  return %0, %1, %2, %3 : i1, i1, i1, i1
}

// -----

func.func @comparison_of_constant_left(%x: i32) -> (i1, i1, i1, i1) {
  %a = arith.constant 9 : i32
  %0 = arith.cmpi slt, %a, %x : i32
  %1 = arith.cmpi uge, %a, %x : i32
  %2 = arith.cmpi eq, %a, %x : i32
  %3 = arith.cmpi sle, %a, %x : i32
  return %0, %1, %2, %3 : i1, i1, i1, i1
}

// -----

func.func @comparison_of_truth(%x: i1) -> (i1, i1, i1, i1) {
  %t = arith.constant true
  %f = arith.constant false
  %0 = arith.cmpi eq, %x, %t : i1
  %1 = arith.cmpi ne, %x, %f : i1
  %2 = arith.cmpi eq, %x, %f : i1
  %3 = arith.cmpi ne, %x, %t : i1
  return %0, %1, %2, %3 : i1, i1, i1, i1
}

// -----

func.func @comparison_of_extension(%x: i8, %y: i1) -> (i1, i1, i1, i1) {
  %z = arith.constant 0 : i32
  %0 = arith.extui %y : i1 to i32
  %1 = arith.cmpi ne, %0, %z : i32
  %2 = arith.extsi %y : i1 to i32
  %3 = arith.cmpi ne, %2, %z : i32
  %4 = arith.extui %x : i8 to i32
  %5 = arith.extui %x : i8 to i32
  %6 = arith.cmpi slt, %4, %5 : i32
  %7 = arith.cmpi eq, %0, %z : i32
  return %1, %3, %6, %7 : i1, i1, i1, i1
}

// -----

func.func @comparison_with_extension_of_both(%x: i8, %y: i8) -> (i1, i1, i1) {
  %0 = arith.extsi %x : i8 to i32
  %1 = arith.extsi %y : i8 to i32
  %2 = arith.cmpi slt, %0, %1 : i32
  %3 = arith.extui %x : i8 to i32
  %4 = arith.extui %y : i8 to i32
  %5 = arith.cmpi slt, %3, %4 : i32
  %6 = arith.cmpi eq, %3, %4 : i32
  return %2, %5, %6 : i1, i1, i1
}

// -----

func.func @comparison_of_tensors(%x: tensor<4xi32>) -> (tensor<4xi1>, tensor<4xi1>) {
  %0 = arith.cmpi eq, %x, %x : tensor<4xi32>
  %c = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %d = arith.constant dense<[4, 3, 2, 1]> : tensor<4xi32>
  %1 = arith.cmpi slt, %c, %d : tensor<4xi32>
  return %0, %1 : tensor<4xi1>, tensor<4xi1>
}

// -----

func.func @choices(%c: i1, %x: i32, %y: i32) -> (i32, i32, i32) {
  %t = arith.constant true
  %f = arith.constant false
  %0 = arith.select %t, %x, %y : i32
  %1 = arith.select %f, %x, %y : i32
  %2 = arith.select %c, %x, %x : i32
  return %0, %1, %2 : i32, i32, i32
}

// -----

func.func @choices_of_truth(%c: i1, %d: i1) -> (i1, i1, i1, i1) {
  %t = arith.constant true
  %f = arith.constant false
  %0 = arith.select %c, %t, %f : i1
  %1 = arith.select %c, %f, %t : i1
  %2 = arith.select %c, %t, %d : i1
  %3 = arith.select %c, %d, %f : i1
  return %0, %1, %2, %3 : i1, i1, i1, i1
}

// -----

func.func @choices_of_numbers(%c: i1) -> (i32, i32, i32) {
  %a = arith.constant 1 : i32
  %b = arith.constant 0 : i32
  %m = arith.constant 5 : i32
  %0 = arith.select %c, %a, %b : i32
  %1 = arith.select %c, %b, %a : i32
  %2 = arith.select %c, %m, %b : i32
  return %0, %1, %2 : i32, i32, i32
}

// -----

func.func @choice_by_the_opposite(%c: i1, %x: i32, %y: i32) -> i32 {
  %t = arith.constant true
  %n = arith.xori %c, %t : i1
  %0 = arith.select %n, %x, %y : i32
  return %0 : i32
}

// -----

func.func @choice_by_equality(%x: i32, %y: i32) -> (i32, i32, i32) {
  %0 = arith.cmpi eq, %x, %y : i32
  %1 = arith.select %0, %x, %y : i32
  %2 = arith.cmpi ne, %x, %y : i32
  %3 = arith.select %2, %x, %y : i32
  %4 = arith.select %0, %y, %x : i32
  return %1, %3, %4 : i32, i32, i32
}

// -----

func.func @nested_choices(%c: i1, %d: i1, %x: i32, %y: i32, %z: i32) -> (i32, i32, i32, i32) {
  %0 = arith.select %c, %x, %y : i32
  %1 = arith.select %c, %0, %z : i32
  %2 = arith.select %c, %z, %0 : i32
  %3 = arith.select %d, %x, %y : i32
  %4 = arith.select %c, %3, %y : i32
  %5 = arith.select %c, %x, %3 : i32
  return %1, %2, %4, %5 : i32, i32, i32, i32
}

// -----

func.func @choices_of_constants() -> (tensor<4xi32>, i32) {
  %c = arith.constant dense<[true, false, true, false]> : tensor<4xi1>
  %x = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %y = arith.constant dense<9> : tensor<4xi32>
  %0 = arith.select %c, %x, %y : tensor<4xi1>, tensor<4xi32>
  %t = arith.constant true
  %a = arith.constant 5 : i32
  %b = arith.constant 6 : i32
  %1 = arith.select %t, %a, %b : i32
  return %0, %1 : tensor<4xi32>, i32
}

// -----

func.func @extensions_of_constants() -> (i32, i32, i8, i64, f32, i32) {
  %a = arith.constant -5 : i16
  %0 = arith.extsi %a : i16 to i32
  %1 = arith.extui %a : i16 to i32
  %2 = arith.trunci %a : i16 to i8
  %i = arith.constant 12 : index
  %3 = arith.index_cast %i : index to i64
  %b = arith.constant 1.5 : f16
  %4 = arith.extf %b : f16 to f32
  %f = arith.constant 1.0 : f32
  %5 = arith.bitcast %f : f32 to i32
  return %0, %1, %2, %3, %4, %5 : i32, i32, i8, i64, f32, i32
}

// -----

func.func @chains_of_extensions(%x: i8, %w: i32) -> (i32, i32, i32, i8, i8, i16, i16) {
  %0 = arith.extui %x : i8 to i16
  %1 = arith.extui %0 : i16 to i32
  %2 = arith.extsi %x : i8 to i16
  %3 = arith.extsi %2 : i16 to i32
  %4 = arith.extsi %0 : i16 to i32
  %5 = arith.trunci %1 : i32 to i8
  %6 = arith.trunci %w : i32 to i16
  %7 = arith.trunci %6 : i16 to i8
  %8 = arith.trunci %1 : i32 to i16
  %9 = arith.trunci %3 : i32 to i16
  return %1, %3, %4, %5, %7, %8, %9 : i32, i32, i32, i8, i8, i16, i16
}

// -----

func.func @positions_and_back(%x: index, %y: i32, %z: i8) -> (index, i32, index, index) {
  %0 = arith.index_cast %x : index to i64
  %1 = arith.index_cast %0 : i64 to index
  %2 = arith.index_cast %y : i32 to index
  %3 = arith.index_cast %2 : index to i32
  %4 = arith.extsi %z : i8 to i32
  %5 = arith.index_cast %4 : i32 to index
  %6 = arith.extui %z : i8 to i32
  %7 = arith.index_castui %6 : i32 to index
  return %1, %3, %5, %7 : index, i32, index, index
}

// -----

func.func @bit_casts(%x: f32) -> (f32, i32, f32) {
  %0 = arith.bitcast %x : f32 to i32
  %1 = arith.bitcast %0 : i32 to f32
  %2 = arith.bitcast %1 : f32 to i32
  %3 = arith.bitcast %x : f32 to f32
  return %1, %2, %3 : f32, i32, f32
}

// -----

func.func @floats_of_integers() -> (f32, f32, f64, i32, i32, i32) {
  %a = arith.constant -3 : i32
  %0 = arith.sitofp %a : i32 to f32
  %1 = arith.uitofp %a : i32 to f32
  %2 = arith.sitofp %a : i32 to f64
  %b = arith.constant -2.75 : f32
  %c = arith.constant 2.75 : f32
  %d = arith.constant 1.0e+20 : f32
  %3 = arith.fptosi %b : f32 to i32
  %4 = arith.fptoui %c : f32 to i32
  %5 = arith.fptosi %d : f32 to i32
  return %0, %1, %2, %3, %4, %5 : f32, f32, f64, i32, i32, i32
}

// -----

func.func @narrowed_floats() -> (f16, f16, bf16, f32, f32) {
  %a = arith.constant 1.5 : f32
  %b = arith.constant 1.0e-01 : f32
  %c = arith.constant 1.0e+10 : f32
  %d = arith.constant 1.0e-01 : f64
  %0 = arith.truncf %a : f32 to f16
  %1 = arith.truncf %b : f32 to f16
  %2 = arith.truncf %c : f32 to bf16
  %3 = arith.truncf %d : f64 to f32
  %4 = arith.truncf %d to_nearest_even : f64 to f32
  return %0, %1, %2, %3, %4 : f16, f16, bf16, f32, f32
}

// -----

func.func @chain_of_float_conversions(%x: f16, %y: f64) -> (f64, f16, f32) {
  %0 = arith.extf %x : f16 to f32
  %1 = arith.extf %0 : f32 to f64
  %2 = arith.truncf %0 : f32 to f16
  %3 = arith.truncf %1 : f64 to f32
  return %1, %2, %3 : f64, f16, f32
}

// -----

func.func @floats_of_constants() -> (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32) {
  %a = arith.constant 1.1 : f32
  %b = arith.constant -2.3 : f32
  %0 = arith.addf %a, %b : f32
  %1 = arith.subf %a, %b : f32
  %2 = arith.mulf %a, %b : f32
  %3 = arith.divf %a, %b : f32
  %4 = arith.remf %a, %b : f32
  %5 = arith.negf %a : f32
  %6 = arith.maximumf %a, %b : f32
  %7 = arith.minimumf %a, %b : f32
  %8 = arith.maxnumf %a, %b : f32
  %9 = arith.minnumf %a, %b : f32
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
}

// -----

func.func @float_identities(%x: f32) -> (f32, f32, f32, f32, f32, f32, f32, f32, f32) {
  %z = arith.constant 0.0 : f32
  %m = arith.constant -0.0 : f32
  %o = arith.constant 1.0 : f32
  %0 = arith.addf %x, %z : f32
  %1 = arith.addf %x, %m : f32
  %2 = arith.subf %x, %z : f32
  %3 = arith.subf %x, %m : f32
  %4 = arith.mulf %x, %o : f32
  %5 = arith.mulf %o, %x : f32
  %6 = arith.divf %x, %o : f32
  %7 = arith.mulf %x, %z : f32
  %8 = arith.subf %x, %x : f32
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : f32, f32, f32, f32, f32, f32, f32, f32, f32
}

// -----

func.func @float_extremes(%x: f32) -> (f32, f32, f32, f32, f32, f32) {
  %i = arith.constant 0x7F800000 : f32
  %n = arith.constant 0xFF800000 : f32
  %0 = arith.maximumf %x, %x : f32
  %1 = arith.maximumf %x, %n : f32
  %2 = arith.minimumf %x, %i : f32
  %3 = arith.maxnumf %x, %n : f32
  %4 = arith.minnumf %x, %i : f32
  %5 = arith.maximumf %x, %i : f32
  return %0, %1, %2, %3, %4, %5 : f32, f32, f32, f32, f32, f32
}

// -----

func.func @negations(%x: f32, %y: f32) -> (f32, f32, f32) {
  %0 = arith.negf %x : f32
  %1 = arith.negf %0 : f32
  %2 = arith.negf %y : f32
  %3 = arith.mulf %0, %2 : f32
  %4 = arith.divf %0, %2 : f32
  return %1, %3, %4 : f32, f32, f32
}

// -----

func.func @float_comparisons(%x: f32, %i: i32) -> (i1, i1, i1, i1, i1, i1) {
  %a = arith.constant 1.5 : f32
  %n = arith.constant 0x7FC00000 : f32
  %0 = arith.cmpf olt, %a, %a : f32
  %1 = arith.cmpf oeq, %a, %a : f32
  %2 = arith.cmpf ult, %n, %a : f32
  %3 = arith.cmpf true, %x, %a : f32
  %4 = arith.cmpf false, %x, %a : f32
  %5 = arith.cmpf olt, %a, %x : f32
  return %0, %1, %2, %3, %4, %5 : i1, i1, i1, i1, i1, i1
}

// -----

func.func @comparison_of_converted_integer(%i: i32) -> (i1, i1, i1, i1) {
  %0 = arith.sitofp %i : i32 to f32
  %a = arith.constant 4.4 : f32
  %1 = arith.cmpf olt, %0, %a : f32
  %b = arith.constant 4.0 : f32
  %2 = arith.cmpf oge, %0, %b : f32
  %3 = arith.cmpf oeq, %0, %a : f32
  %4 = arith.cmpf une, %0, %a : f32
  return %1, %2, %3, %4 : i1, i1, i1, i1
}

// -----

func.func @float_tensors() -> (tensor<2xf32>, tensor<2x2xf64>, tensor<2xf16>) {
  %a = arith.constant dense<[1.5, -2.5]> : tensor<2xf32>
  %b = arith.constant dense<2.0> : tensor<2xf32>
  %0 = arith.mulf %a, %b : tensor<2xf32>
  %c = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf64>
  %1 = arith.addf %c, %c : tensor<2x2xf64>
  %d = arith.constant dense<[1.5, 0.1]> : tensor<2xf16>
  %2 = arith.addf %d, %d : tensor<2xf16>
  return %0, %1, %2 : tensor<2xf32>, tensor<2x2xf64>, tensor<2xf16>
}

// -----

func.func @bf16_constants() -> (bf16, f16) {
  %a = arith.constant 1.1 : bf16
  %b = arith.constant 2.3 : bf16
  %0 = arith.mulf %a, %b : bf16
  %c = arith.constant 1.1 : f16
  %1 = arith.divf %c, %c : f16
  return %0, %1 : bf16, f16
}
