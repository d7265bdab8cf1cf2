func.func @f(%a: tensor<4xf32>) attributes {x.a = loc("a":1:2), x.b = loc(unknown), x.c = loc(fused["a", "b"])} { return }
// -----
func.func @"needs \22quote\22"() { return }
// -----
func.func @"größe"() { return }
// -----
func.func @"a b"(%a: i32 {x.y = @"a b"::@c}) { return }
// -----
module @"mod \5C x" attributes {a.b = "tab\09 \00 \FF", "quo ted.x" = 1} { }
// -----
func.func @f(%a: memref<4x?xf32, strided<[?, 1], offset: ?>, 3>, %b: memref<2xf32, affine_map<(d0)[s0, s1] -> (d0 * s0 + s1)>>) { return }
// -----
func.func @f() { %0 = arith.constant dense_resource<blob1> : tensor<3xi64> return }
{-# dialect_resources: { builtin: { blob1: "0x08000000010000000000000002000000000000000300000000000000" } } #-}
// -----
#CSR = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>
func.func @f(%a: tensor<4x4xf32, #CSR>) -> tensor<4x4xf32, #CSR> { return %a : tensor<4x4xf32, #CSR> }
// -----
func.func @f() attributes {x.m = affine_map<(d0, d1)[s0, s1] -> (d0 + s0 * 2 - 5, (d1 floordiv 3) mod s1, d0 ceildiv 4, -d1)>, x.s = affine_set<(d0)[s0] : (d0 - s0 >= 0, d0 mod 2 == 0)>, x.e = affine_map<() -> ()>, x.z = affine_map<()[s0] -> (s0)>} { return }
// -----
func.func @f() attributes {x.d = distinct[0]<"a">, x.e = distinct[1]<>, x.f = [distinct[0]<"a">]} { return }
// -----
func.func @f() attributes {x.o = #foo.bar<"baz" [1, 2]>, x.p = #foo<"some text">, x.q = !foo.t<i32>} { return }
// -----
func.func @f() attributes {x.a = array<i1: true, false>, x.b = array<f64: 1.0, 2.5e-3>, x.c = array<i32>, x.d = array<i8: -1, 127>} { return }
// -----
func.func @f() attributes {x.a = dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>, x.b = dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>, x.c = dense<["a", "b"]> : tensor<2x!x.str>, x.d = sparse<[[0, 1]], [3.0]> : tensor<2x2xf32>, x.e = dense<> : tensor<0x4xf32>, x.g = dense<"0x0A0B"> : tensor<2xi8>} { return }
// -----
func.func @f() attributes {x.a = 0x7FC00000 : f32, x.b = 1.0 : f8E5M2, x.c = 0x7F : f8E4M3FN, x.d = -0.0 : bf16, x.e = 1e400 : f128, x.f = 0.1 : f80, x.g = 1.5 : tf32} { return }
// -----
func.func @f(%c: i1) { cf.cond_br %c, ^bb1, ^bb2
^bb1: cf.br ^bb3
^bb2: cf.br ^bb3
^bb3: return }
// -----
func.func @f(%c: i1, %x: i32) -> i32 { cf.cond_br %c weights([1, 3]), ^bb1(%x : i32), ^bb2(%x, %x : i32, i32)
^bb1(%a: i32): cf.br ^bb2(%a, %a : i32, i32)
^bb2(%b: i32, %d: i32): return %b : i32 }
// -----
func.func @f(%x: i32) { cf.switch %x : i32, [ default: ^bb1, 1: ^bb2, -4: ^bb1 ]
^bb1: return
^bb2: return }
// -----
func.func @f(%c: i1) { %r = scf.execute_region -> i32 { cf.cond_br %c, ^a, ^b
^a: %1 = arith.constant 1 : i32 cf.br ^c(%1 : i32)
^b: %2 = arith.constant 2 : i32 cf.br ^c(%2 : i32)
^c(%z: i32): scf.yield %z : i32 } return }
// -----
func.func @f(%c: i1) { scf.execute_region no_inline { scf.yield } return }
// -----
func.func @f(%l: index, %u: index, %s: index) { scf.for %i = %l to %u step %s { } return }
// -----
func.func @f(%l: i32, %u: i32, %s: i32) { scf.for unsigned %i = %l to %u step %s : i32 { } return }
// -----
func.func @f(%l: i32, %u: i32, %s: i32, %x: f32) -> f32 { %0 = scf.for %i = %l to %u step %s iter_args(%a = %x) -> (f32) : i32 { scf.yield %a : f32 } {some.attr} return %0 : f32 }
// -----
func.func @f(%n: index) { scf.parallel (%i, %j) = (%n, %n) to (%n, %n) step (%n, %n) { scf.reduce } {x.mapping = [1]} return }
// -----
func.func @f(%n: index, %z: f32) -> f32 { %0 = scf.parallel (%i) = (%n) to (%n) step (%n) init (%z) -> f32 { scf.reduce(%z : f32) { ^bb0(%a: f32, %b: f32): %s = arith.addf %a, %b fastmath<reassoc,nnan> : f32 scf.reduce.return %s : f32 } } return %0 : f32 }
// -----
func.func @f(%t: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> { %0 = scf.forall (%i, %j) in (2, %n) shared_outs(%o = %t) -> (tensor<4x4xf32>) { %s = tensor.extract_slice %t[%i, 0] [1, %n] [1, 1] : tensor<4x4xf32> to tensor<1x?xf32> scf.forall.in_parallel { tensor.parallel_insert_slice %s into %o[%i, 0] [1, %n] [1, 1] : tensor<1x?xf32> into tensor<4x4xf32> } } {mapping = [#gpu.thread<x>, #gpu.thread<y>]} return %0 : tensor<4x4xf32> }
// -----
func.func @f(%t: tensor<4xf32>, %n: index) { scf.forall (%i) = (0) to (%n) step (2) { } return }
// -----
func.func @f(%x: index) -> i32 { %0 = scf.index_switch %x {a.b = 1} -> i32 case 2 { %1 = arith.constant 1 : i32 scf.yield %1 : i32 } case -5 { %1 = arith.constant 2 : i32 scf.yield %1 : i32 } default { %1 = arith.constant 3 : i32 scf.yield %1 : i32 } return %0 : i32 }
// -----
func.func @f(%x: i32) { %0:2 = scf.while (%a = %x) : (i32) -> (i32, i1) { %c = arith.constant true scf.condition(%c) %a, %c : i32, i1 } do { ^bb0(%b: i32, %d: i1): scf.yield %b : i32 } attributes {x.y = 2 : i8} return }
// -----
func.func @f(%a: f32, %b: vector<4xf32>, %c: f16) { %0 = arith.addf %a, %a fastmath<fast> : f32 %1 = arith.truncf %a to_nearest_even : f32 to f16 %2 = arith.extf %c fastmath<contract> : f16 to f32 %3 = arith.mulf %b, %b {x.y} : vector<4xf32> %4 = arith.cmpf uno, %a, %a fastmath<ninf,nsz> : f32 %5 = arith.truncf %a toward_zero fastmath<fast> : f32 to bf16 return }
// -----
func.func @f(%a: i32, %b: tensor<?xindex>) { %0 = arith.addi %a, %a overflow<nsw, nuw> : i32 %1 = arith.shli %a, %a overflow<nuw> : i32 %2 = arith.trunci %a overflow<nsw> : i32 to i8 %3 = arith.extui %a nneg : i32 to i64 %4 = arith.shrsi %a, %a exact : i32 %5 = arith.divui %a, %a exact : i32 %6:2 = arith.addui_extended %a, %a : i32, i1 %7 = arith.ori %a, %a disjoint : i32 return }
// -----
func.func @f(%t: tensor<?x4xf32>, %i: index) { %0 = tensor.expand_shape %t [[0, 1], [2]] output_shape [%i, 2, 4] : tensor<?x4xf32> into tensor<?x2x4xf32> %1 = tensor.collapse_shape %t [[0, 1]] : tensor<?x4xf32> into tensor<?xf32> %2 = tensor.pad %t nofold low[%i, 1] high[0, %i] { ^bb0(%a: index, %b: index): %z = arith.constant 0.0 : f32 tensor.yield %z : f32 } {x.y} : tensor<?x4xf32> to tensor<?x?xf32> return }
// -----
func.func @f(%s: tensor<4x4x4xf32>, %i: tensor<1x2x3xindex>, %d: tensor<4x4x4xf32>, %v: tensor<1x2x1x1x1xf32>) { %0 = tensor.gather %s[%i] gather_dims([0, 1, 2]) unique : (tensor<4x4x4xf32>, tensor<1x2x3xindex>) -> tensor<1x2x1x1x1xf32> %1 = tensor.scatter %v into %d[%i] scatter_dims([0, 1, 2]) unique : (tensor<1x2x1x1x1xf32>, tensor<4x4x4xf32>, tensor<1x2x3xindex>) -> tensor<4x4x4xf32> return }
// -----
func.func @f(%a: tensor<?xf32>, %n: index) { %0 = tensor.generate %n { ^bb0(%i: index): %z = arith.constant 0.0 : f32 tensor.yield %z : f32 } : tensor<?xf32> %1 = tensor.from_elements : tensor<0xf32> %2 = tensor.concat dim(0) %a, %a : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32> %3 = tensor.splat %n[%n] : tensor<?xindex> %4 = tensor.empty(%n) : tensor<?x3xf32, {a}> %5 = tensor.bitcast %a : tensor<?xf32> to tensor<?xi32> return }
// -----
func.func @f(%x: index) { %0 = index.constant -3 %1 = index.cmp ult(%0, %x) %2 = index.bool.constant true %3 = index.casts %x : index to i64 %4 = index.sizeof %5 = index.maxu %x, %x return }
// -----
func.func @f() { %0 = complex.constant [1.0 : f32, -0.0 : f32] : complex<f32> %1 = complex.abs %0 fastmath<fast> : complex<f32> %2 = complex.create %1, %1 : complex<f32> %3 = complex.bitcast %0 : complex<f32> to i64 return }
// -----
func.func @f() { %0 = ub.poison : tensor<4xf32> %1 = ub.poison <#ub.poison> : i32 ub.unreachable }
// -----
func.func @f(%s: !shape.shape) { %0 = shape.const_shape [1, 2] : tensor<2xindex> %1 = shape.const_shape [] : !shape.shape %w = shape.cstr_require %b, "msg \22q\22" %r = shape.assuming %w -> (i32) { %c = arith.constant 1 : i32 shape.assuming_yield %c : i32 } %b = arith.constant true return }
// -----
func.func @f(%s: !shape.shape, %z: !shape.size) { %b = arith.constant true %w = shape.cstr_require %b, "msg \22q\22" %r = shape.assuming %w -> (i32) { %c = arith.constant 1 : i32 shape.assuming_yield %c : i32 } %2 = shape.reduce(%s, %z) : !shape.shape -> !shape.size { ^bb0(%i: index, %d: !shape.size, %a: !shape.size): shape.yield %a : !shape.size } %3 = shape.broadcast %s, %s {error = "x"} : !shape.shape, !shape.shape -> !shape.shape return }
// -----
shape.function_library @lib { shape.func @a(%x: !shape.value_shape) -> !shape.shape { %0 = shape.shape_of %x : !shape.value_shape -> !shape.shape shape.return %0 : !shape.shape } } mapping { x.y = @a }
// -----
func.func @f(%a: tensor<2x3xf32>, %o: tensor<3x2xf32>) -> tensor<3x2xf32> { %e = tensor.empty() : tensor<1xf32> "x.y"() ({ }) : () -> () %0 = linalg.transpose ins(%a : tensor<2x3xf32>) outs(%o : tensor<3x2xf32>) permutation = [1, 0] {x.y = 1} return %0 : tensor<3x2xf32> }
// -----
func.func @f(%a: tensor<?x?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> { %0 = linalg.generic {doc = "it", library_call = "f", indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) attrs = {x.y} { ^bb0(%p: f32, %q: f32): %i = linalg.index 0 : index linalg.yield %p : f32 } -> tensor<?x?xf32> return %0 : tensor<?x?xf32> }
// -----
func.func @f(%a: memref<4xf32>, %o: memref<4xf32>) { linalg.exp {x.y} ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) linalg.map { math.absf } ins(%a : memref<4xf32>) outs(%o : memref<4xf32>) linalg.map { arith.addf {fastmath = #arith.fastmath<fast>} } ins(%a, %a : memref<4xf32>, memref<4xf32>) outs(%o : memref<4xf32>) return }
// -----
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %c: tensor<4x4xf32>) { %0 = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32> %1 = linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32> return }
// -----
func.func @f(%a: tensor<16x16xf32>, %d: tensor<2x2x8x8xf32>, %p: f32) { %0 = linalg.pack %a padding_value(%p : f32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [8, 8] into %d : tensor<16x16xf32> -> tensor<2x2x8x8xf32> %1 = linalg.unpack %d inner_dims_pos = [0, 1] inner_tiles = [8, 8] into %a : tensor<2x2x8x8xf32> -> tensor<16x16xf32> return }
// -----
func.func @f(%a: tensor<1x8x8x3xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4xf32>, %z: tensor<1xf32>) { %0 = tosa.conv2d %a, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, local_bound = true, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x8x8x3xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x6x4xf32> %1 = tosa.clamp %a {min_val = 0.0 : f32, max_val = 6.0 : f32, nan_mode = IGNORE} : (tensor<1x8x8x3xf32>) -> tensor<1x8x8x3xf32> %2 = tosa.custom %a {domain_name = "d", implementation_attrs = "", operator_name = "o"} : (tensor<1x8x8x3xf32>) -> tensor<1xf32> return }
// -----
tosa.variable @v = dense<1.0> : tensor<2xf32>
tosa.variable @"v w" : tensor<?x3xi8>
// -----
ml_program.global private mutable @g(dense<1> : tensor<2xi32>) : tensor<?xi32>
ml_program.global @e(#ml_program.extern<tensor<2xi32>>) : tensor<?xi32>
ml_program.global private @n : i32
// -----
ml_program.subgraph private @s(%a: i32 {x.y}) -> (i32 {x.z = 1}) attributes {x.w} { ml_program.output %a : i32 }
// -----
"other.op"() ({ ^bb0: "x.y"()[^bb1] : () -> () ^bb1(%a: i32): "x.z"(%a) : (i32) -> () }, { }) {a = 1, b} : () -> ()
// -----
func.func @f() { %0:3 = "x.y"() <{p = 1 : i32}> {q = "r"} : () -> (i32, f32, index) "x.u"(%0#0, %0#2) : (i32, index) -> () return }
// -----
func.func private @f(i32 {a.b = 1}, tensor<*xf32>) -> (i32 {c.d}, i64) attributes {sym_x.y = 1}
// -----
func.func nested @f() attributes {no_inline} { return }
// -----
func.func @f(%a: i32) -> () { %f = func.constant @f : (i32) -> () func.call_indirect %f(%a) : (i32) -> () func.call @f(%a) {x.y} : (i32) -> () return }
// -----
module { module @inner { func.func @g() { return } } func.func @f() { func.call @inner::@g() : () -> () return } }
// -----
func.func @f() { return } loc(fused<"m">["a":1:2, callsite("b":3:4 at "n"("c":5:6))])
// -----
func.func @f(%a: i32 loc("arg")) { return loc("x.py":1:2 to :5) } loc("x.py":1:2 to 3:4)
// -----
func.func @main(%arg0: tensor<i32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = tosa.while_loop (%a = %arg0, %b = %arg1) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) {
    %lim = "tosa.const"() {values = dense<3> : tensor<i32>} : () -> tensor<i32>
    %c = tosa.greater %lim, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tosa.yield %c : tensor<i1>
  } do {
  ^bb0(%a: tensor<i32>, %b: tensor<4xf32>):
    tosa.yield %a, %b : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}
// -----
func.func @f(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tosa.cond_if %c (%a = %x) : tensor<i1> (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
    tosa.yield %a : tensor<4xf32>
  } else {
    ^bb0(%a: tensor<4xf32>):
    tosa.yield %a : tensor<4xf32>
  } {x.y}
  return %0 : tensor<4xf32>
}
// -----
func.func @m(%a: tensor<4xf32>, %o: tensor<4xf32>, %r: tensor<f32>) {
  %0 = linalg.map ins(%a, %a : tensor<4xf32>, tensor<4xf32>) outs(%o : tensor<4xf32>) (%p: f32, %q: f32, %z: f32) {
    %s = arith.addf %p, %q : f32
    %t = arith.mulf %s, %q : f32
    linalg.yield %t : f32
  }
  %1 = linalg.reduce ins(%a : tensor<4xf32>) outs(%r : tensor<f32>) dimensions = [0] (%p: f32, %q: f32) {
    %s = arith.addf %p, %q : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  }
  %2 = linalg.reduce { arith.addf } ins(%a : tensor<4xf32>) outs(%r : tensor<f32>) dimensions = [0]
  %3 = linalg.map { math.exp } ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>)
  %4 = linalg.matmul ins(%m, %m : tensor<2x2xf32>, tensor<2x2xf32>) outs(%m : tensor<2x2xf32>) -> tensor<2x2xf32>
  %m = tensor.empty() : tensor<2x2xf32>
  return
}
// -----
func.func @m(%a: tensor<4xf32>, %o: tensor<4xf32>, %r: tensor<f32>) {
  %m = tensor.empty() : tensor<2x2xf32>
  %2 = linalg.reduce { arith.addf } ins(%a : tensor<4xf32>) outs(%r : tensor<f32>) dimensions = [0]
  %3 = linalg.map { math.exp } ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>)
  %4 = linalg.matmul ins(%m, %m : tensor<2x2xf32>, tensor<2x2xf32>) outs(%m : tensor<2x2xf32>) -> tensor<2x2xf32>
  %5 = linalg.fill ins(%c : f32) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  %6 = linalg.broadcast ins(%r : tensor<f32>) outs(%a : tensor<4xf32>) dimensions = [0]
  %7 = linalg.softmax dimension(0) ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  %8 = linalg.elementwise kind=#linalg.elementwise_kind<add> ins(%a, %a : tensor<4xf32>, tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @m(%a: tensor<4xf32>, %o: tensor<4xf32>, %r: tensor<f32>, %c: f32) {
  %m = tensor.empty() : tensor<2x2xf32>
  %2 = linalg.reduce { arith.addf {x.y} } ins(%a : tensor<4xf32>) outs(%r : tensor<f32>) dimensions = [0] {u.v}
  %3 = linalg.map { math.exp } ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) {u.v}
  %4 = linalg.matmul ins(%m, %m : tensor<2x2xf32>, tensor<2x2xf32>) outs(%m : tensor<2x2xf32>) {u.v} -> tensor<2x2xf32>
  %5 = linalg.fill ins(%c : f32) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  %6 = linalg.broadcast ins(%r : tensor<f32>) outs(%a : tensor<4xf32>) dimensions = [0]
  %7 = linalg.softmax dimension(0) ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  %8 = linalg.elementwise kind=#linalg.elementwise_kind<add> ins(%a, %a : tensor<4xf32>, tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
ml_program.func @f(%a: i32) -> i32 { ml_program.return %a : i32 }
ml_program.subgraph @g(%a: i32) -> i32 { ml_program.output %a : i32 }
// -----
func.func @f(%c: i1, %x: i32) {
  %0 = scf.if %c -> (i32) { scf.yield %x : i32 } else { scf.yield %x : i32 } {x.y}
  scf.if %c { } else { }
  scf.if %c { scf.yield } {a.b = 1}
  return
}
// -----
#map = affine_map<(d0) -> (d0)>
#set = affine_set<(d0) : (d0 >= 0)>
#m.x = 1
module {}
// -----
#map = affine_map<(d0) -> (d0)>
#map = affine_map<(d0, d1) -> (d0)>
module {}
// -----
!t = i32
!t = i64
module {}
// -----
func.func @f(%a: i32) { "x.y"(%a) {a = #undefined} : (i32) -> () return }
// -----
func.func @f(%a: i32) { %0 = "x.y"(%b) : (i32) -> i32 return }
// -----
func.func @f(%a: i32) { return }
func.func @f(%a: i32) { return }
// -----
func.func @f() attributes {x.a = opaque<"x", "0x12"> : tensor<2xf32>} { return }
// -----
func.func @f() attributes {x.a = dense_resource<r> : tensor<2xf32>, x.b = dense_resource<"q r"> : tensor<1xi8>} { return }
// -----
func.func @f() attributes {x.a = [unit, unit], x.b = {u, v = unit, w = {}}, x.c = @a::@"b c"::@d, x.d = i32, x.e = (i32) -> (), x.f = "s" : i32, x.g = 3 : index, x.h = -1 : si8, x.i = 255 : ui8, x.j = true} { return }
// -----
func.func @f(%a: vector<[4]x2xf32>, %b: vector<f32>, %c: complex<f8E4M3>, %d: tuple<>, %e: tensor<0x?xi1>, %g: memref<*xf32, "a">, %h: f8E3M4, %i: f6E2M3FN, %j: f6E3M2FN, %k: f8E8M0FNU, %l: f8E5M2FNUZ, %m: f8E4M3FNUZ) { return }
// -----
func.func @f() { cf.assert %c, "a \22 b\0A" return
 %c = arith.constant true }
// -----
func.func @f(%c : i1) { cf.assert %c, "a \22 b\0A" return }
// -----
func.func @f(%arg0: tensor<2x?xf32>) { %c = arith.constant 1 : index %0 = shape.shape_of %arg0 : tensor<2x?xf32> -> tensor<2xindex> %1 = shape.get_extent %0, %c : tensor<2xindex>, index -> index %2 = shape.num_elements %0 : tensor<2xindex> -> index %3 = shape.concat %0, %0 : tensor<2xindex>, tensor<2xindex> -> tensor<?xindex> %4 = shape.const_witness true %5 = shape.assuming_all %4, %4 %6 = shape.is_broadcastable %0, %0 : tensor<2xindex>, tensor<2xindex> %7 = shape.cstr_broadcastable %0, %0 : tensor<2xindex>, tensor<2xindex> return }
// -----
func.func @f(%v: vector<4xi32>, %p: vector<4xi1>) { %0 = arith.select %p, %v, %v : vector<4xi1>, vector<4xi32> %1 = arith.constant dense<[1, 2, 3, 4]> : vector<4xi32> %2 = arith.constant dense<1.0> : vector<[4]xf32> %3 = arith.index_cast %v : vector<4xi32> to vector<4xindex> return }
// -----
func.func @f(%a: tensor<4x4xf32>, %i: index) { %0 = tensor.extract_slice %a[%i, 0] [2, %i] [1, 2] {x.y} : tensor<4x4xf32> to tensor<2x?xf32> %1 = tensor.extract_slice %a[0, 0] [1, 4] [1, 1] : tensor<4x4xf32> to tensor<4xf32> %2 = tensor.insert_slice %1 into %a[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<4x4xf32> %3 = tensor.dim %a, %i : tensor<4x4xf32> %4 = tensor.reshape %a(%s) : (tensor<4x4xf32>, tensor<1xi32>) -> tensor<16xf32> %s = arith.constant dense<16> : tensor<1xi32> return }
// -----
func.func @f(%a: tensor<4x4xf32>) { %s = arith.constant dense<16> : tensor<1xi32> %4 = tensor.reshape %a(%s) : (tensor<4x4xf32>, tensor<1xi32>) -> tensor<16xf32> %5 = tensor.rank %a : tensor<4x4xf32> return }
// -----
func.func @f() attributes {x.f = "s" : i32} { return }
// -----
func.func @f() attributes {x.f = -1 : si8, x.i = 255 : ui8} { return }
// -----
func.func @f() attributes {x.a = [unit, unit], x.b = {u, v = unit, w = {}}} { return }
// -----
func.func @f() attributes {x.c = @a::@"b c"::@d, x.d = i32, x.e = (i32) -> ()} { return }
// -----
func.func @f(%a: i32) { %0 = arith.addi %a, %b : i32 return }
// -----
func.func @f(%a: i32) { %0 = arith.addi %a, %a : i64 return }
// -----
func.func @f(%a: i32) -> i32 { return }
// -----
func.func @f(%a: i32) { %a = arith.constant 1 : i32 return }
// -----
func.func @f(%a: i32) { cf.br ^bb1 return }
// -----
func.func @f(%a: i32) { cf.br ^bb1
^bb2: return }
// -----
func.func @f(%a: i32) { cf.br ^bb1(%a : i32)
^bb1: return }
// -----
func.func @f(%a: i32) { "x.y"(%a) : (i32, i32) -> () return }
// -----
func.func @f(%a: i32) { %0:2 = "x.y"(%a) : (i32) -> i32 return }
// -----
func.func @f(%a: tensor<4xf32>) { %0 = tensor.extract %a[] : tensor<4xf32> return }
// -----
func.func @f(%a: tensor<4xf32>, %i: index) { %0 = tensor.extract_slice %a[6] [2] [1] : tensor<4xf32> to tensor<2xf32> return }
// -----
func.func @f(%a: tensor<4xf32>, %i: index) { %0 = tensor.extract_slice %a[0] [2] [1] : tensor<4xf32> to tensor<3xf32> return }
// -----
func.func @f(%a: tensor<4xf32>) { %0 = tensor.cast %a : tensor<4xf32> to tensor<5xf32> return }
// -----
func.func @f(%a: tensor<4xf32>) { %0 = tensor.reshape %a(%a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<16xf32> return }
// -----
func.func @f(%a: tensor<4xf32>) { %0 = tensor.expand_shape %a [[0, 1]] output_shape [2, 3] : tensor<4xf32> into tensor<2x3xf32> return }
// -----
func.func @f(%a: tensor<4xf32>) { %0 = tensor.collapse_shape %a [[0], [1]] : tensor<4xf32> into tensor<4xf32> return }
// -----
func.func @f(%a: tensor<4xf32>) { %0 = tensor.concat dim(1) %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32> return }
// -----
func.func @f(%a: tensor<4xf32>) { %0 = tensor.pad %a low[1] high[1] { ^bb0(%i: index): tensor.yield %i : index } : tensor<4xf32> to tensor<6xf32> return }
// -----
func.func @f(%c: i1) { %0 = scf.if %c -> i32 { %1 = arith.constant 1 : i32 scf.yield %1 : i32 } return }
// -----
func.func @f(%c: i1) { scf.if %c { cf.br ^bb1
^bb1: scf.yield } return }
// -----
func.func @f(%l: index, %x: f32) { %0 = scf.for %i = %l to %l step %l iter_args(%a = %x) -> (f32) { scf.yield } return }
// -----
func.func @f(%l: index, %x: f32) { %0 = scf.for %i = %l to %l step %l iter_args(%a = %x) -> (i32) { scf.yield %a : f32 } return }
// -----
func.func @f(%l: index) { scf.for %i = %l to %l step %l { func.return } return }
// -----
func.func @f(%x: f32) { %0 = arith.addi %x, %x : f32 return }
// -----
func.func @f(%x: f32) { %0 = arith.cmpf foo, %x, %x : f32 return }
// -----
func.func @f(%x: f32) { %0 = "arith.cmpf"(%x, %x) <{predicate = 7 : i9}> : (f32, f32) -> i1 return }
// -----
func.func @f(%x: f32) { %0 = "arith.truncf"(%x) <{roundingmode = 1 : i64}> : (f32) -> f16 return }
// -----
func.func @f(%x: f32) { %0 = "arith.truncf"(%x) <{roundingmode = 1 : i32}> : (f32) -> f16 return }
// -----
func.func @f(%x: f32) { %0 = arith.addf %x, %x fastmath<foo> : f32 return }
// -----
func.func @f() { %0 = arith.constant 300 : i8 return }
// -----
func.func @f() { %0 = arith.constant dense<[1, 2]> : tensor<3xi32> return }
// -----
func.func @f() { %0 = arith.constant dense<[[1], [2, 3]]> : tensor<2x1xi32> return }
// -----
func.func @f() { %0 = arith.constant dense<"0x01"> : tensor<2xi32> return }
// -----
func.func @f() { %0 = arith.constant 1.0 : i32 return }
// -----
func.func @f() { %0 = arith.constant "a" return }
// -----
func.func @f() { %0 = arith.constant 1 : tensor<4xi32> return }
// -----
func.func @f() attributes {a.b = affine_map<(d0) -> (d1)>} { return }
// -----
func.func @f() attributes {a.b = affine_map<(d0, d0) -> (d0)>} { return }
// -----
func.func @f() attributes {a.b = affine_map<(d0) -> (d0 * d0)>} { return }
// -----
func.func @f() attributes {a.b = affine_map<(d0) -> (d0 mod 0)>} { return }
// -----
func.func @f() attributes {a.b = affine_set<(d0) : (d0 > 0)>} { return }
// -----
func.func @f() attributes {a = 1, a = 2} { return }
// -----
func.func @f() attributes {a.b = loc("x":1)} { return }
// -----
func.func @f() attributes {a.b = array<f32: 1>} { return }
// -----
func.func @f() attributes {a.b = array<i33: 1>} { return }
// -----
func.func @f() attributes {a.b = array<i3: 1>} { return }
// -----
func.func @f() attributes {a.b = sparse<[[0, 5]], [1]> : tensor<2x2xi32>} { return }
// -----
func.func @f() attributes {a.b = dense_resource<foo>} { return }
// -----
func.func @f() attributes {a.b = 0x7 : f32, a.c = 0x1FFFFFFFF : f32} { return }
// -----
func.func @f() attributes {a.b = @x::y} { return }
// -----
func.func @f(%a: tensor<4x-1xf32>) { return }
// -----
func.func @f(%a: vector<0xf32>) { return }
// -----
func.func @f(%a: vector<?xf32>) { return }
// -----
func.func @f(%a: memref<4xf32, strided<[1, 2]>>) { return }
// -----
func.func @f(%a: complex<index>) { return }
// -----
func.func @f(%a: tuple<i32, >) { return }
// -----
func.func @f(%a: tensor<4x4xtensor<4xf32>>) { return }
// -----
func.func @f(%a: i0) { return }
// -----
func.func @f(%a: i16777216) { return }
// -----
func.func @f(%a: si1, %b: ui1) { return }
// -----
func.func @f(i32) { return }
// -----
func.func @f(%a: i32, i32) { return }
// -----
func.func @f(%a: i32 loc("a")) loc("b") { return }
// -----
func.func private @f(%a: i32) -> i32
// -----
func.func public @f() 
// -----
func.func @f() { call @g() : () -> () return }
// -----
func.func @g(%a: i32) { return }
func.func @f() { call @g() : () -> () return }
// -----
func.func @g(%a: i32) { return }
func.func @f() { %0 = constant @g : () -> () return }
// -----
ml_program.global private @g : tensor<?xi32>
ml_program.func @f() { %0 = ml_program.global_load @h : tensor<?xi32> ml_program.return }
// -----
ml_program.global private @g : tensor<3xi32>
// -----
ml_program.subgraph @g() { ml_program.return }
// -----
ml_program.global private mutable @g : tensor<3xi32>
ml_program.func @f() { %0 = ml_program.global_load_const @g : tensor<3xi32> ml_program.return }
// -----
func.func @f(%a: tensor<2x3xf32>, %o: tensor<2x2xf32>) { %0 = linalg.matmul ins(%a, %a : tensor<2x3xf32>, tensor<2x3xf32>) outs(%o : tensor<2x2xf32>) -> tensor<2x2xf32> return }
// -----
func.func @f(%a: tensor<2x3xf32>, %o: tensor<2x2xf32>) { %0 = linalg.transpose ins(%a : tensor<2x3xf32>) outs(%o : tensor<2x2xf32>) permutation = [1, 1] return }
// -----
func.func @f(%a: tensor<2x3xf32>, %b: tensor<4xf32>) { %0 = tosa.add %a, %b : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32> return }
// -----
func.func @f(%a: tensor<2x3xf32>) { %0 = tosa.reduce_sum %a {axis = 2 : i32} : (tensor<2x3xf32>) -> tensor<2x1xf32> return }
// -----
func.func @f(%a: tensor<*xf32>) { %0 = tosa.reduce_sum %a {axis = 3 : i32} : (tensor<*xf32>) -> tensor<2x3xf32> return }
// -----
func.func @f(%a: tensor<*xf32>) { %0 = tosa.reduce_sum %a {axis = 3 : i32} : (tensor<*xf32>) -> tensor<*xf32> return }
// -----
func.func @f(%a: tensor<2x3xf32>) { %0 = tosa.transpose %a {perms = array<i32: 0, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32> return }
// -----
func.func @f(%a: index) { %0 = index.cmp foo(%a, %a) return }
// -----
func.func @f(%a: i32) { %0 = ub.poison : i32 %1 = "arith.addi"(%a) : (i32) -> i32 return }
// -----
func.func @f(%a: i32) { %1 = "arith.addi"(%a, %a) {overflowFlags = 3} : (i32, i32) -> i32 return }
// -----
func.func @f(%a: i32) { %1 = "arith.constant"() : () -> i32 return }
// -----
func.func @f(%a: i32) { "func.return"() ({ }) : () -> () }
// -----
func.func @f(%a: i32) { return } }
// -----
func.func @f(%a: i32) { %0 = arith.constant 1 : i32 return /* comment */ }
// -----
func.func @f(%a: i32) { return } // comment at the end
// -----
module @a { module @a { } func.func @a() { return } }
// -----
func.func @f() { module { } return }
// -----
"func.func"() <{sym_name = "f", function_type = () -> ()}> ({ ^bb0(%a: i32): "func.return"() : () -> () }) : () -> ()
// -----
"func.func"() <{function_type = () -> ()}> ({ "func.return"() : () -> () }) : () -> ()
// -----
"builtin.module"() ({ ^bb0: ^bb1: }) : () -> ()
// -----
"builtin.module"() ({ }, { }) : () -> ()
// -----
"x.y"() ({ module {builtin.module {}} }) : () -> ()
// -----
scf.execute_region { module { } scf.yield }
// -----
shape.function_library @l { module { } } mapping { }
// -----
func.func @f() { %0 = unrealized_conversion_cast to i32 return }
// -----
func.func @f() attributes {a.b = loc("x":1 to 2:3)} { return }

// -----
#trait = {
  indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
  iterator_types = ["parallel"], doc = "hello"
}
#trait2 = {
  indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
  iterator_types = ["parallel"], foo = 3 : i32
}
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic #trait ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) attrs = {bar = 1} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
  %1 = linalg.generic #trait2 ins(%0 : tensor<4xf32>) outs(%b : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
// -----
#trait = {
  indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
  iterator_types = ["parallel"], doc = "hello"
}
#trait2 = {
  indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
  iterator_types = ["parallel"], foo = 3 : i32
}
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic [1] ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) attrs = {bar = 1} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
  %1 = linalg.generic #trait2 ins(%0 : tensor<4xf32>) outs(%b : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
// -----
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<f32>, %t: tensor<4x4xf32>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) attrs = {linalg.memoized_indexing_maps = [affine_map<(d0) -> (d0)>]} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
  %1 = linalg.map { arith.addf } ins(%a, %a: tensor<4xf32>, tensor<4xf32>) outs(%b : tensor<4xf32>) {linalg.memoized_indexing_maps = [affine_map<(d0) -> (d0)>]}
  %2 = linalg.reduce { arith.addf } ins(%a : tensor<4xf32>) outs(%c : tensor<f32>) dimensions = [0] {linalg.memoized_indexing_maps = [affine_map<(d0) -> (d0)>]}
  %3 = linalg.transpose ins(%t:tensor<4x4xf32>) outs(%t: tensor<4x4xf32>) permutation = [1, 0] {linalg.memoized_indexing_maps = [affine_map<(d0) -> (d0)>], z = 1}
  %4 = linalg.broadcast ins(%a:tensor<4xf32>) outs(%t: tensor<4x4xf32>) dimensions = [1] {linalg.memoized_indexing_maps = [affine_map<(d0) -> (d0)>]}
  %k = arith.constant 1.0 : f32
  %5 = linalg.fill {linalg.memoized_indexing_maps = [affine_map<(d0) -> (d0)>]} ins(%k:f32) outs(%t: tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = linalg.matmul {linalg.memoized_indexing_maps = [affine_map<(d0) -> (d0)>]} ins(%t, %t:tensor<4x4xf32>, tensor<4x4xf32>) outs(%t: tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}
// -----
%0 = complex.constant [true, false] : complex<i1>
%1 = complex.constant [1 : i1, 0 : i1] : complex<i1>
%2 = complex.constant [1 : i8, 0 : i8] : complex<i8>
// -----
%0 = complex.constant [true, 1 : i8] : complex<i1>
// -----
func.func @f(%0: index) {
  "scf.index_switch"(%0) <{cases = [0]}> ({
    scf.yield
  }, {
    scf.yield
  }) : (index) -> ()
  return
}
// -----
func.func @f(%0: index) {
  "scf.index_switch"(%0) <{cases = array<i32: 0>}> ({
    scf.yield
  }, {
    scf.yield
  }) : (index) -> ()
  return
}
// -----
func.func @ops(f32 {a.b = 1}, i32) -> i32 {
^bb0(%a: f32, %b: i32):
  return %b : i32
}
func.func @none() {
^entry:
  cf.br ^end
^end:
  return
}
ml_program.func @ml(f32, i32) -> i32 {
^bb0(%a: f32, %b: i32):
  ml_program.return %b : i32
}
// -----
func.func @g(%x: i32) {
^bb1:
  return
}
// -----
func.func @g(i32) {
^bb0(%x: i64):
  return
}
// -----
func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.025:-1>>, %b: !quant.uniform<i8<-128:127>:f32, 2.0>, %c: !quant.uniform<u8:f32:1, {0.1, 0.2:3}>, %d: !quant.any<i8<-8:7>:f32>, %e: !quant.calibrated<f32<-0.998:1.2321>>, %f: !quant.uniform<i8<-127:127>:f32:{0:1, 1:2}, {{1.0:1, 2.0},{3.0, 4.0}}>, %g: !quant.any<i8>, %h: !quant.uniform<i4:f16, 1.5>, %i: tensor<2x!quant.uniform< u8 <1:255> : f32 , 3.9 : 1 >>) { return }
// -----
func.func @f() attributes {a.a = -0.998 : f64, a.b = -0.998 : f32, a.c = 1.2321: f64, a.d=0.075 : f64} {return}
func.func @g(%e: !quant.calibrated<f32<-0.998:0.998>>, %f: !quant.calibrated<f32<-1.5:0.1>>, %g: !quant.calibrated<f64<-1.0:3.4e38>>, %k: !quant.uniform<i8:f32, 0.998>,%l: !quant.uniform<i8:f32, 1.0:0>,%m: !quant.uniform<i8:f64, 1.23456789e-5:0>, %n: !quant.uniform<i1:f32, 1.0>, %o: !quant.uniform<u4<0:15>:bf16:0, {1.0:0}>, %p: !quant.any<i8<-128:127>>)  {return}
// -----
func.func private @f(!quant.uniform<i8:f32, 0>)
// -----
func.func private @f(!quant.uniform<i8:f32, -1.0>)
// -----
func.func private @f(!quant.uniform<i33:f32, 1.0>)
// -----
func.func private @f(!quant.uniform<i8<-129:0>:f32, 1.0>)
// -----
func.func private @f(!quant.uniform<i8:i32, 1.0>)
// -----
func.func private @f(!quant.uniform<i8:f32, 1.0:300>)
// -----
func.func private @f(!quant.uniform<si8:f32, 1.0>)
// -----
func.func private @f(!quant.uniform<i8:f32:0, {}>)
// -----
func.func private @f(!quant.uniform<i8:f16, 1.0e-10>)
// -----
func.func private @f(!quant.calibrated<f32<1.0:-1.0>>)
// -----
func.func private @f(!quant.uniform<i8:f32:{0:2,1:4}, {{1.0, 2.0:3}}>)
// -----
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32> loc("bee"), %c: tensor<2xf32>, %d: tensor<2x3xf32>, %s: f32, %tt: tensor<2x2xf32>) -> tensor<3x2xf32> {
  %0 = linalg.transpose ins(%a : tensor<2x3xf32>) outs(%b : tensor<3x2xf32>) permutation = [1, 0]
  %1 = linalg.broadcast ins(%c : tensor<2xf32>) outs(%a : tensor<2x3xf32>) dimensions = [1]
  %2 = linalg.transpose ins(%1 : tensor<2x3xf32>) outs(%0 : tensor<3x2xf32>) permutation = [1, 0]
  %3 = tensor.empty() : tensor<3x2xf32> loc("e"(fused["x", "y"]))
  %4 = linalg.transpose ins(%1 : tensor<2x3xf32>) outs(%3 : tensor<3x2xf32>) permutation = [1, 0] loc("own")
  %5 = linalg.map { arith.addf } ins(%a, %d : tensor<2x3xf32>, tensor<2x3xf32>) outs(%d : tensor<2x3xf32>)
  %6 = linalg.reduce { arith.addf } ins(%a : tensor<2x3xf32>) outs(%c : tensor<2xf32>) dimensions = [1]
  %7 = linalg.reduce { arith.addf } ins(%a : tensor<2x3xf32>) outs(%c : tensor<2xf32>) dimensions = [1] loc("red")
  %8 = linalg.fill ins(%s : f32) outs(%a : tensor<2x3xf32>) -> tensor<2x3xf32>
  %9 = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x2xf32>) outs(%tt: tensor<2x2xf32>) -> tensor<2x2xf32>
  return %4 : tensor<3x2xf32>
}
// -----
#early = loc("early")
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32> loc(#early)) -> tensor<3x2xf32> {
  %3 = tensor.empty() : tensor<3x2xf32> loc(#late)
  %4 = linalg.transpose ins(%a : tensor<2x3xf32>) outs(%3 : tensor<3x2xf32>) permutation = [1, 0] loc(#later)
  cf.br ^bb1(%4 : tensor<3x2xf32>)
^bb1(%x: tensor<3x2xf32> loc("blockarg")):
  %5 = linalg.transpose ins(%a : tensor<2x3xf32>) outs(%x : tensor<3x2xf32>) permutation = [1, 0]
  return %5 : tensor<3x2xf32>
}
#late = loc("late"("x.py":1:2))
#later = loc("later")
// -----
module attributes { dlti.dl_spec = #dlti.dl_spec<#dlti.dl_entry<i32, dense<32> : vector<2xi64>>, "dlti.endianness" = "little", index = 32> } { }
// -----
module attributes { dlti.map = #dlti.map<"a" = 1 : i32, i32 = 2> } { }
// -----
module attributes { dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"L1" = 4096 : i32>> } { }
// -----
"test.x"() {a = #dlti.dl_entry<"a" , 1>, b = #dlti.dl_spec< #dlti.dl_entry< "x",2:i32 > >, c = #dlti.dl_spec<>, d = #dlti.map<>, e = #dlti.map< i32=1,"b"="c" >, f = #dlti.function_pointer_alignment<64, function_dependent = true>} : () -> ()
// -----
"test.x"() {a = #dlti.dl_spec<"a" = 1, "a" = 2>} : () -> ()
// -----
"test.x"() {a = #dlti.dl_spec<"" = 1>} : () -> ()
// -----
"test.x"() {a = #dlti.target_system_spec<>} : () -> ()
// -----
"test.x"() {a = #dlti.target_device_spec<>} : () -> ()
// -----
"test.x"() {a = #dlti.target_device_spec<"x" = 3>} : () -> ()
// -----
"test.x"() {a = #dlti.target_system_spec<"CPU" = 3>} : () -> ()
// -----
"test.x"() {dlti.dl_spec = 3} : () -> ()
// -----
"test.x"() {dlti.foo = 3} : () -> ()
// -----
"test.x"() {a = #dlti.foo<3>} : () -> ()
// -----
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<#dlti.dl_entry<"L1", 4096 : i32>>, "GPU" = #dlti.target_device_spec<"max"=1>>} {}
// -----
"test.x"() {a = #dlti.dl_spec<!llvm.ptr = dense<64>: vector<4xi64>>} : () -> ()
// -----
"test.x"() {dlti.dl_spec = #dlti.dl_spec<>} : () -> ()
// -----
func.func @f() attributes {dlti.dl_spec = #dlti.dl_spec<>} {return}
// -----
module attributes {dlti.query = "x"} {}
// -----
module attributes {dlti.dl_spec = #dlti.dl_spec<"dlti.endianness" = "middle">} {}
// -----
module attributes {dlti.dl_spec = #dlti.dl_spec<"dlti.endianness" = 1>} {}
// -----
func.func @f() attributes {dlti.dl_spec = #dlti.dl_spec<"dlti.endianness" = 1>} {return}
// -----
module attributes {dlti.dl_spec = #dlti.dl_spec<"foo" = 1>} {}
// -----
module attributes {dlti.dl_spec = #dlti.dl_spec<"foo.x" = 1>} {}
// -----
module attributes {dlti.dl_spec = #dlti.dl_spec<"tosa.x" = 1>} {}
// -----
module attributes {dlti.dl_spec = #dlti.dl_spec<"dlti.x" = 1>} {}
// -----
module attributes {dlti.dl_spec = #dlti.dl_spec<"dlti.alloca_memory_space" = 1>} {}
// -----
module attributes {dlti.dl_spec = #dlti.dl_spec<"dlti.alloca_memory_space" = "s", "dlti.stack_alignment" = "x", "dlti.mangling_mode" = 3>} {}
// -----
module attributes {dlti.dl_spec = #dlti.dl_spec<"dlti.stack_alignment" = 128, "dlti.mangling_mode" = "e","dlti.global_memory_space" = 1 : ui64, "dlti.function_pointer_alignment"=#dlti.function_pointer_alignment<64, function_dependent = true>,"dlti.legal_int_widths"=array<i32: 1,2>>} {}
// -----
module attributes {dlti.dl_spec = #dlti.dl_spec<"dlti.legal_int_widths"=3>} {}
// -----
module attributes {dlti.dl_spec = #dlti.dl_spec<i32 = 3>} {}
// -----
module attributes {dlti.dl_spec = #dlti.dl_spec<i32 = dense<[32,16]>:vector<2xi64>>} {}
// -----
module attributes {dlti.dl_spec = #dlti.dl_spec<i32 = dense<[32,16,8]>:vector<3xi64>>} {}
// -----
module attributes {dlti.dl_spec = #dlti.dl_spec<i32 = dense<[32,16]>:vector<2xi32>>} {}
// -----
module attributes {dlti.dl_spec = #dlti.dl_spec<f32 = dense<[16]>:tensor<1xi64>, index=32:i32, vector<2xf32> = dense<1>:vector<2xi64>>} {}
// -----
module attributes {dlti.dl_spec = #dlti.dl_spec<index="a">} {}
// -----
module attributes {dlti.dl_spec = #dlti.dl_spec<complex<f32> = dense<1>:vector<2xi64>>} {}
// -----
module attributes {dlti.dl_spec = #dlti.dl_spec<tensor<2xf32> = dense<1>:vector<2xi64>>} {}
// -----
module attributes {dlti.dl_spec = #dlti.dl_spec<memref<2xf32> = dense<1>:vector<2xi64>>} {}
// -----
module attributes {dlti.dl_spec = #dlti.dl_spec<!foo.bar = dense<1>:vector<2xi64>>} {}
// -----
"test.x"() {a = #dlti.map<#dlti.dl_entry<"a",1>, "b"=1>} : () -> ()
// -----
"test.x"() {a = #dlti.target_system_spec<#dlti.dl_entry<"a",#dlti.target_device_spec<"x"=1>>>} : () -> ()
// -----
"test.x"() {a = #dlti.target_system_spec<i32 = #dlti.target_device_spec<"x"=1>>} : () -> ()
// -----
"test.x"() {a = #dlti.target_device_spec<i32 = 1>} : () -> ()
// -----
"test.x"() {a = #dlti.dl_entry<i32,1:i32>, b = #dlti.dl_entry<"",1:i32>} : () -> ()
// -----
"test.x"() {a = #dlti<dl_entry<i32,1:i32>>, b = #dlti<map<"a"= affine_map<(d0)->(d0)>>>} : () -> ()
// -----
"test.x"() {a = #dlti.map<a = 1>} : () -> ()
// -----
"test.x"() {a = #dlti.map<"a" : 1>} : () -> ()
// -----
"test.x"() {a = #dlti.map<"a" = >} : () -> ()
// -----
"test.x"() {a = #dlti.map<"a" = unit, "b" = "x" : i32, "c" = [1], "d"={a}, "e"=#dlti.map<"a"=true>, "a b" = @x::@y, "a\"b"=1>} : () -> ()
// -----
"test.x"() {a = #dlti.map<"a" = 1, i32 =2, i32=3>} : () -> ()
// -----
"test.x"() {a = #dlti.function_pointer_alignment<-1, function_dependent = true>} : () -> ()
// -----
"test.x"() {a = #dlti.function_pointer_alignment<64, function_dependent = 1>} : () -> ()
// -----
"test.x"() {a = #dlti.function_pointer_alignment<64,function_dependent =false >} : () -> ()
// -----
"test.x"() {dlti.map = #dlti.dl_spec<"a" = 1>} : () -> ()
// -----
"test.x"() {dlti.target_system_spec = #dlti.dl_spec<"a" = 1>} : () -> ()
// -----
"test.x"() {dlti.target_device_spec = #dlti.dl_spec<"a" = 1>} : () -> ()
// -----
func.func @f(%a: i32 {dlti.map = 1}, %b : i32 {dlti.foo}) { return }
// -----
module attributes {dlti.dl_spec = #dlti.dl_spec<!ub.x = 1>} {}
// -----
module attributes {dlti.dl_spec = #dlti.dl_spec<!shape.shape = 1>} {}
// -----
"test.x"() {a = #dlti.dl_spec<f32 = 1, "e" = 3 : i32,"e"=2>} : () -> ()
// -----
#spec = #dlti.dl_spec<"a" = 1>
"test.x"() {a = #spec} : () -> ()
// -----
func.func private @f(!quant.uniform<ui8:f32, 1.0>, !quant.uniform<ui8<1:200>:f32, 1.0:3>)
// -----
func.func private @f(!tosa.shape<0x4>, !tosa.shape< 04 >, !tosa<shape<4>>)
// -----
func.func private @f(!tosa.shape<-1>)
// -----
func.func private @f(!tosa.shape)
// -----
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} {x = 1 : i32} ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// -----
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} {x = 1 : i32} ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) attrs = {z, w = 2} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// -----
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} {x} ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) attrs = {x} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// -----
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} {indexing_maps = 3} ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// -----
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) attrs = {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// -----
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.add {x} ins(%a, %a : tensor<4xf32>, tensor<4xf32>) outs(%b : tensor<4xf32>) {y} -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// -----
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.add {x} ins(%a, %a : tensor<4xf32>, tensor<4xf32>) outs(%b : tensor<4xf32>) {x} -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// -----
func.func @f(%a1: tensor<*xf4E2M1FN>, %a2: tensor<2x3x4xf8E8M0FNU>, %b2: tensor<2x5x4xf8E8M0FNU>) -> tensor<7x3x5xf32> {
  %r = "tosa.matmul_t_block_scaled"(%a1, %a2, %a1, %b2) <{block_size = #tosa.block_size<BLOCK_SIZE_32>}> : (tensor<*xf4E2M1FN>, tensor<2x3x4xf8E8M0FNU>, tensor<*xf4E2M1FN>, tensor<2x5x4xf8E8M0FNU>) -> (tensor<7x3x5xf32>)
  return %r : tensor<7x3x5xf32>
}
// -----
func.func @g(%a1: tensor<*xf4E2M1FN>, %a2: tensor<2x3x4xf8E8M0FNU>, %b2: tensor<1x5x4xf8E8M0FNU>) -> tensor<2x3x5xf32> {
  %r = "tosa.matmul_t_block_scaled"(%a1, %a2, %a1, %b2) <{block_size = #tosa.block_size<BLOCK_SIZE_32>}> : (tensor<*xf4E2M1FN>, tensor<2x3x4xf8E8M0FNU>, tensor<*xf4E2M1FN>, tensor<1x5x4xf8E8M0FNU>) -> (tensor<2x3x5xf32>)
  return %r : tensor<2x3x5xf32>
}
// -----
func.func @h(%a1: tensor<*xf4E2M1FN>, %a2: tensor<2x3x4xf8E8M0FNU>, %b2: tensor<3x5x4xf8E8M0FNU>) -> tensor<2x3x5xf32> {
  %r = "tosa.matmul_t_block_scaled"(%a1, %a2, %a1, %b2) <{block_size = #tosa.block_size<BLOCK_SIZE_32>}> : (tensor<*xf4E2M1FN>, tensor<2x3x4xf8E8M0FNU>, tensor<*xf4E2M1FN>, tensor<3x5x4xf8E8M0FNU>) -> (tensor<2x3x5xf32>)
  return %r : tensor<2x3x5xf32>
}
// -----
func.func @i(%a1: tensor<?x3x?xf4E2M1FN>, %a2: tensor<?x?x4xf8E8M0FNU>, %b1: tensor<?x5x?xf4E2M1FN>,  %b2: tensor<?x?x3xf8E8M0FNU>) -> tensor<2x3x5xf32> {
  %r = "tosa.matmul_t_block_scaled"(%a1, %a2, %b1, %b2) <{block_size = #tosa.block_size<BLOCK_SIZE_32>}> : (tensor<?x3x?xf4E2M1FN>, tensor<?x?x4xf8E8M0FNU>, tensor<?x5x?xf4E2M1FN>, tensor<?x?x3xf8E8M0FNU>) -> (tensor<2x3x5xf32>)
  return %r : tensor<2x3x5xf32>
}
