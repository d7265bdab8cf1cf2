// Constants stand at the beginning as the program says them, whatever they hold.
func.func @constants_of_several_dialects(%x: f32) -> (complex<f32>, i32, complex<i1>, index, index) {
  %a = arith.negf %x : f32
  %c = complex.constant [1.0 : f32, -0.0 : f32] : complex<f32>
  %p = ub.poison : i32
  %t = complex.constant [true, false] : complex<i1>
  %i = index.constant 4
  %z = arith.constant 0 : index
  %0 = arith.shrui %i, %z : index
  %1 = arith.maxui %i, %i : index
  return %c, %p, %t, %0, %1 : complex<f32>, i32, complex<i1>, index, index
}
// -----
func.func @held_elsewhere(%x: f32) -> (tensor<2xf32>, f32) {
  %a = arith.negf %x : f32
  %c = arith.constant dense_resource<weights> : tensor<2xf32>
  return %c, %a : tensor<2xf32>, f32
}
{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F0000803F"
    }
  }
#-}
