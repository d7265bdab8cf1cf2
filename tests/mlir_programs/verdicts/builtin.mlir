// right
func.func private @f(memref<4xf32, #gpu.address_space<global>>, memref<4xf32, #arith.fastmath<fast>>)

// -----
// right
func.func private @f(memref<4xf32, 1 : i8>, memref<4xf32, "shared">, memref<4xf32, {level = 1 : i64}>, memref<4xf32, true>)

// -----
// right
func.func private @f(memref<4xf32, false>) -> memref<4xf32, 0 : i8>

// -----
// wrong: a memory space that is an array
func.func private @f(memref<4xf32, [1]>)

// -----
// wrong: a memory space that is a type
func.func private @f(memref<4xf32, i32>)

// -----
// wrong: a memory space that is a float
func.func private @f(memref<4xf32, 1.0>)

// -----
// wrong: memory of tokens
func.func private @f(memref<4x!ml_program.token>)

// -----
// wrong: memory of types of the llvm dialect
func.func private @f(memref<4x!llvm.ptr>)

// -----
// right
func.func private @f(memref<4x!ptr.ptr<#ptr.generic_space>>)
