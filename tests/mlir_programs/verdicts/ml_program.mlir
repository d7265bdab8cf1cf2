// wrong: a constant global has a value
ml_program.global private @g : tensor<4xi32>
// -----
// right
ml_program.global private mutable @g : tensor<4xi32>
// -----
// wrong: an undefined global
ml_program.func @f() -> i32 {
  %0 = ml_program.global_load @g : i32
  ml_program.return %0 : i32
}
// -----
// wrong: a load of another type
ml_program.global private @g(dense<0> : tensor<4xi32>) : tensor<4xi32>
ml_program.func @f() {
  %0 = ml_program.global_load @g : tensor<?xi32>
  ml_program.return
}
// -----
// wrong: a constant load of a variable
ml_program.global private mutable @g : tensor<4xi32>
ml_program.func @f() {
  %0 = ml_program.global_load_const @g : tensor<4xi32>
  ml_program.return
}
// -----
// wrong: a store to a constant
ml_program.global private @g(dense<0> : tensor<4xi32>) : tensor<4xi32>
ml_program.func @f(%a: tensor<4xi32>) {
  ml_program.global_store @g = %a : tensor<4xi32>
  ml_program.return
}
// -----
// wrong: a store of another type
ml_program.global private mutable @g : tensor<4xi32>
ml_program.subgraph @f(%a: tensor<?xi32>) {
  %t = ml_program.global_store_graph @g = %a ordering(() -> !ml_program.token) : tensor<?xi32>
  ml_program.output
}
// -----
// wrong: a reference to something else than a global
func.func private @g()
ml_program.func @f() {
  %0 = ml_program.global_load @g : i32
  ml_program.return
}
// -----
// wrong: a return of a subgraph
ml_program.subgraph @f() {
  "ml_program.return"() : () -> ()
}
// -----
// wrong: an output of a function
ml_program.func @f() {
  "ml_program.output"() : () -> ()
}
// -----
// wrong: a subgraph of two blocks
ml_program.subgraph @f() {
  "cf.br"()[^b] : () -> ()
^b:
  ml_program.output
}
// -----
// wrong: as many outputs as declared
ml_program.subgraph @f() -> i32 {
  ml_program.output
}
// -----
// wrong: the type of a returned value
ml_program.func @f(%a: i32) -> i64 {
  ml_program.return %a : i32
}
// -----
// wrong: a visibility that does not exist
"ml_program.global"() <{sym_name = "g", type = i32, is_mutable, sym_visibility = "hidden"}> : () -> ()
// -----
// wrong: a token of another type
%0 = "ml_program.token"() : () -> i32
// -----
// wrong: an attribute of an argument has a dialect
ml_program.func private @f(i32 {a = 1 : i32})
// -----
// right
ml_program.func private @f(i32 {a.b = 1 : i32})
// -----
// right
ml_program.subgraph @f() -> f32 {
  %0 = arith.addf %0, %0 : f32
  ml_program.output %0 : f32
}
// -----
// right, refused here: the value of a global has its element type
ml_program.global private @g(dense<1.0> : tensor<4xf32>) : tensor<4xi32>
// -----
// right, refused here: the value of a global has its element type
ml_program.global private @g(1 : i64) : i32
