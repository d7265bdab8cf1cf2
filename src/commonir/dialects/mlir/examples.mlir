// cf.assert
func.func @main(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %is_positive = arith.cmpf ogt, %x, %zero : f32
  cf.assert %is_positive, "expected a positive number"
  return %x : f32
}
// -----
// cf.br
func.func @main(%x: i32) -> i32 {
  cf.br ^end(%x : i32)
^end(%y: i32):
  return %y : i32
}
// -----
// cf.cond_br
func.func @main(%x: i32, %y: i32) -> i32 {
  %is_less = arith.cmpi slt, %x, %y : i32
  cf.cond_br %is_less, ^end(%x : i32), ^end(%y : i32)
^end(%least: i32):
  return %least : i32
}
// -----
// cf.switch
func.func @main(%x: i32, %y: i32) -> i32 {
  cf.switch %y : i32, [
    default: ^end(%x : i32),
    2: ^double
  ]
^double:
  %sum = arith.addi %x, %x : i32
  cf.br ^end(%sum : i32)
^end(%result: i32):
  return %result : i32
}
// -----
// func.func func.return
func.func @main(%x: f32) -> f32 {
  %result = arith.addf %x, %x : f32
  func.return %result : f32
}
// -----
// func.call
func.func @main(%x: f32) -> f32 {
  %result = func.call @twice(%x) : (f32) -> f32
  return %result : f32
}
func.func private @twice(%x: f32) -> f32 {
  %result = arith.addf %x, %x : f32
  return %result : f32
}
// -----
// func.call_indirect func.constant
func.func @main(%x: f32) -> f32 {
  %f = func.constant @twice : (f32) -> f32
  %result = func.call_indirect %f(%x) : (f32) -> f32
  return %result : f32
}
func.func private @twice(%x: f32) -> f32 {
  %result = arith.addf %x, %x : f32
  return %result : f32
}
// -----
// index.casts
func.func @main(%input: i32) -> index {
  %output = index.casts %input : i32 to index
  return %output : index
}
// -----
// index.castu
func.func @main(%input: i32) -> index {
  %output = index.castu %input : i32 to index
  return %output : index
}
// -----
// complex.constant
func.func @main() -> complex<f32> {
  %complex = complex.constant [1.0 : f32, 2.0 : f32] : complex<f32>
  return %complex : complex<f32>
}
// -----
// complex.bitcast
func.func @main(%operand: complex<f32>) -> i64 {
  %result = complex.bitcast %operand : complex<f32> to i64
  return %result : i64
}
// -----
// math.isfinite
func.func @main() -> tensor<4xi1> {
  %operand = arith.constant dense<[1.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<4xf32>
  %result = math.isfinite %operand : tensor<4xf32>
  return %result : tensor<4xi1>
}
// -----
// math.isinf
func.func @main() -> tensor<4xi1> {
  %operand = arith.constant dense<[1.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<4xf32>
  %result = math.isinf %operand : tensor<4xf32>
  return %result : tensor<4xi1>
}
// -----
// math.isnan
func.func @main() -> tensor<4xi1> {
  %operand = arith.constant dense<[1.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<4xf32>
  %result = math.isnan %operand : tensor<4xf32>
  return %result : tensor<4xi1>
}
// -----
// math.isnormal
func.func @main() -> tensor<4xi1> {
  %operand = arith.constant dense<[1.0, 0.0, 1.0e-40, 0x7FC00000]> : tensor<4xf32>
  %result = math.isnormal %operand : tensor<4xf32>
  return %result : tensor<4xi1>
}
// -----
// math.clampf
func.func @main(%value: tensor<4xf32>) -> tensor<4xf32> {
  %min = arith.constant dense<0.0> : tensor<4xf32>
  %max = arith.constant dense<1.0> : tensor<4xf32>
  %result = math.clampf %value to [%min, %max] : tensor<4xf32>
  return %result : tensor<4xf32>
}
// -----
// ml_program.func ml_program.return
ml_program.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %result = "stablehlo.add"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  ml_program.return %result : tensor<2xf32>
}
// -----
// ml_program.subgraph ml_program.output
ml_program.subgraph @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %result = "stablehlo.add"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  ml_program.output %result : tensor<2xf32>
}
// -----
// ml_program.global ml_program.global_load ml_program.global_store
ml_program.global private mutable @total(dense<0.0> : tensor<f32>) : tensor<f32>
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %before = ml_program.global_load @total : tensor<f32>
  %after = arith.addf %before, %x : tensor<f32>
  ml_program.global_store @total = %after : tensor<f32>
  return %after : tensor<f32>
}
// -----
// ml_program.global_load_const
ml_program.global private @weight(dense<2.0> : tensor<f32>) : tensor<f32>
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %weight = ml_program.global_load_const @weight : tensor<f32>
  %result = arith.mulf %weight, %x : tensor<f32>
  return %result : tensor<f32>
}
// -----
// ml_program.global_load_graph ml_program.global_store_graph ml_program.token
ml_program.global private mutable @total(dense<0.0> : tensor<f32>) : tensor<f32>
ml_program.subgraph @main(%x: tensor<f32>) -> (tensor<f32>, !ml_program.token) {
  %start = ml_program.token
  %before, %loaded = ml_program.global_load_graph @total ordering (%start -> !ml_program.token) : tensor<f32>
  %after = arith.addf %before, %x : tensor<f32>
  %stored = ml_program.global_store_graph @total = %after ordering (%loaded -> !ml_program.token) : tensor<f32>
  ml_program.output %after, %stored : tensor<f32>, !ml_program.token
}
// -----
// builtin.unrealized_conversion_cast
func.func @main(%input: i64) -> index {
  %output = builtin.unrealized_conversion_cast %input : i64 to index
  return %output : index
}
// -----
// ub.poison
func.func @main() -> i32 {
  %result = ub.poison : i32
  return %result : i32
}
// -----
// ub.unreachable
func.func @main(%condition: i1) {
  cf.cond_br %condition, ^then, ^else
^then:
  return
^else:
  ub.unreachable
}

// -----
// sdy.mesh sdy.sharding_constraint sdy.reshard sdy.propagation_barrier sdy.sharding_group
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<4x2xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {"x"}]> : tensor<4x2xf32>
  %2 = sdy.propagation_barrier %1 allowed_direction=NONE : tensor<4x2xf32>
  sdy.sharding_group %2 group_id=0 : tensor<4x2xf32>
  return %2 : tensor<4x2xf32>
}
