"written.o1"() <{d = 4 : i32}> : () -> ()
// -----
written.o1 u a 3 ?
// -----
written.o1 nos {u = 4}
// -----
written.o1
// -----
%0 = "test.x"() : () -> i8
written.o2 n = 4 n = 5
// -----
%0 = "test.x"() : () -> f32
written.o2 with(%0 : f32)
// -----
%0 = "test.x"() : () -> i8
"written.o2"(%0, %0, %0) <{operandSegmentSizes = array<i32: 2, 1>}> : (i8, i8, i8) -> ()
// -----
func.func @f(%c: i1, %x: i32) {
  "written.o3"(%c)[] : (i1) -> ()
}
// -----
"written.o4"() : () -> ()
// -----
written.o4 { ^bb0: } more { }
// -----
written.o4 {
  ^bb0(%x: f32):
}
// -----
written.o5 { "test.t"() : () -> () ^bb1: written.o5_end }
// -----
"written.o5"() ({
  "test.x"() : () -> ()
}, { }) : () -> ()
// -----
"written.o5"() ({
  "written.o5_end"() : () -> ()
}) : () -> ()
// -----
"written.o5"() ({
}, { }) : () -> ()
// -----
%a = "test.x"() : () -> i32
%t = written.o6(%a, %a)[] : i32
// -----
%a = "written.o7"() <{v = 3 : i32, t = i8}> : () -> i64
// -----
%a = "written.o7"() <{v = "str", t = i8}> : () -> i64
// -----
%a = "written.o7"() <{v = [1], t = i8}> : () -> none
// -----
written.o8 [1, 2] [1, 2.5e10] [true] [3] ["x"]
// -----
written.o8 [1, 2] [] [] [3 : i32] ["x"]
// -----
written.o8 [1, 2] [] [] [] ["x"] o [300]
// -----
written.o8 [1, 2] [] [] [] [x]
// -----
"written.o9"() <{a = #written<col red>, b = #written<colb{left}>, c = #written.bits<r, x>, o = 2 : i64, d = #written<col green>}> : () -> ()
"written.o9"() <{a = #written<col minus-one>, b = #written<colb{right}>, c = #written.bits<none>, o = 1 : i64, e = #written<col green>}> : () -> ()
// -----
written.o9 blue {left} <none> aa
// -----
written.o9 red {left} <> aa
// -----
written.o9 red {left} <r w> aa
// -----
written.o9 "red" {"left"} <"r"> "aa"
// -----
written.o9 minus-one {left} <r> aa
// -----
"written.o9"() <{a = 5 : i32, b = #written<colb{left}>, c = #written.bits<r, x>, o = 2 : i64}> : () -> ()
// -----
"written.o9"() <{a = #written<col red>, b = #written<colb{left}>, c = #written.bits<r, x>, o = 3 : i64}> : () -> ()
// -----
"written.o9"() <{a = #written<col red>, b = #written<colb{left}>, c = #written.bits<r, x>, o = 2 : i32}> : () -> ()
// -----
written.o10 @n = @f::@g, @s
// -----
written.o10 "hidden" @n = @f, @s
// -----
written.o11 (1, 2) <3> : i4 <a = 3> <(1, 2), #written<point(1, 2)> : []> [#written<point(1, 2)>]
// -----
written.o11 (1, 2) <3> : i4 <d = 3> <(1, 2), #written<point(1, 2)> : []> [#written<point(1, 2)>]
// -----
written.o11 (1, 2) <3> : i4 <a = 3, a = 4> <(1, 2), #written<point(1, 2)> : []> [#written<point(1, 2)>]
// -----
written.o11 #written<point(1, 2)> <3> : i4 <a = 3> <(1, 2), #written<point(1, 2)> : []> p2 (3, 4) [#written<point(1, 2)>]
// -----
%0:4 = "test.x"() : () -> (!written.pair<i8, f32>, !written.sized<4>, !written.sized<5, in 3 : i8>, !written.pair<!written.pair<i1 x i2> x !written.unit>)
// -----
%0:4 = "test.x"() : () -> (!written.pair<i8 x f32>, !written.sized<4>, !written.sized<5, in "s">, !written.pair<!written.pair<i1 x i2> x !written.unit>)
%1 = written.o13 %0#0, %0#1 : <i8 x f32>, !written.sized<4> -> <[3]>
%2:2 = written.o13 %0#0, %0#2 : !written.pair<i8 x f32>, !written.sized<5, in "s"> -> !written.shape<[3]> and <i8>
%3:2 = written.o13 %0#0, %0#2 : !written.pair<i8 x f32>, !written.sized<5, in "s"> -> !written.shape<[3]> and ?
%4:2 = written.o13 %0#0, %0#2 : !written.pair<i8 x f32>, !written.sized<5, in "s"> -> !written.shape<[3]> and
// -----
%0 = "test.x"() : () -> !written.rec<x = 3>
// -----
%0 = "test.x"() : () -> !written.rec<x = 3, name = "a", x = 3>
// -----
%0 = "test.x"() : () -> !written.sized<4294967296>
// -----
%0 = "test.x"() : () -> !written.bare
// -----
"written.o14"() <{a = 3, s = "x", ar = [1, 2], bo = true}> : () -> ()
"written.o14"() <{a = -3, b = 5 : i32, s = "", ar = array<i64: 3>, bo = false, u, o = [8]}> : () -> ()
// -----
"written.o14"() <{a = -3, b = -3 : i32, s = "\"", ar = array<i64>, bo = false, o = []}> {z = 1} : () -> ()
// -----
written.o14 99999999999999999999 "q" [] true
// -----
written.o14 3 b 3000000000 "q" [] true
// -----
written.o14 3 nou "q" 3 true
// -----
written.o15 <{a = 3}>
// -----
written.o15 <{a = 3, x = 4 : i32, zz = 3}>
// -----
written.o15 {a = 3, x = 4 : i32}
// -----
written.o16 red <none>
// -----
"written.o16"() <{c = 4 : i32, b = 3 : i32}> : () -> ()
// -----
%0:2 = "test.x"() : () -> (tensor<?x4xf16>, tensor<2xf16>)
%1 = "written.o18"(%0#0, %0#1) : (tensor<?x4xf16>, tensor<2xf16>) -> f32
// -----
%0:2 = "test.x"() : () -> (i8, f16)
%1 = written.o19 none -> i32
written.o19 %0#0 : i8
// -----
%0:2 = "test.x"() : () -> (i32, index)
%1:2 = written.o20 %0#0, %0#1 { 2.5 : f64 } [3 : si8<true>] ... ->
// -----
"written.o21"() ({ "test.a"(%0) : (i8) -> ()
 %0 = "test.b"() : () -> i8 }) : () -> ()
"written.o21"() <{name = "foo"}> ({ "test.a"() : () -> () }) {j = 3} : () -> ()
// -----
"written.o21"() ({ }) : () -> ()
// -----
%0 = "test.b"() : () -> i8
written.o21 { "test.a"(%0) : (i8) -> () }
// -----
written.o21 @x { written.o10 @a = @f, @g written.o10 @a = @f, @g }
// -----
%0:3 = "written.o22"() <{resultSegmentSizes = array<i32: 1, 2, 0>}> : () -> (i32, f32, f32)
// -----
%0:3 = "written.o22"() : () -> (i32, f32, f32)
// -----
%0:2 = "test.x"() : () -> (index, i1)
written.o23(%0#0, %0#0) to (%0#0) if %0#1 {k}
// -----
%0:2 = "test.x"() : () -> (index, i1)
"written.o23"(%0#0, %0#1) : (index, i1) -> ()
// -----
written.o24 1 [1] "x" [1, 2]
// -----
written.o24 3 [] "x" [1, 2]
// -----
written.o24 3 [1] "" [1, 2]
// -----
written.o24 3 [1] "x" [2, 1]
// -----
written.o24 3 [1] "x" [1, 2, 3]
// -----
%0:2 = "test.x"() : () -> (tensor<2x3xf32>, tensor<?x3xf16>)
%1 = written.o26 %0#0, %0#1 : tensor<2x3xf32>, tensor<?x3xf16> -> tensor<2x3xi8>
// -----
%0:2 = "test.x"() : () -> (tensor<2x3xf32>, tensor<?x3xf32>)
%1 = written.o26 %0#0, %0#1 : tensor<2x3xf32>, tensor<?x3xf32> -> tensor<3x3xi8>
// -----
written.o4 { %0 = written.o27 { "test.x"() : () -> () } : f32 %1 = written.o27 { } : tensor<2xf16> }
// -----
written.o4 { %0 = written.o27 { ^bb0(%x: i8): "test.x"() : () -> () } : f32 }
// -----
written.o4 { %0 = written.o27 { } : i32 }
// -----
%0 = written.o27 { } : f32
// -----
%0 = "test.x"() : () -> (tensor<2x3xf32>)
%1 = "written.o28"(%0) : (tensor<2x3xf32>) -> tensor<9x9xf32>
// -----
%0 = "test.x"() : () -> (tensor<2x3xf32>)
%1 = "written.o28"(%0, %0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<9xf32>
// -----
%0 = "test.x"() : () -> (tensor<2x3xf32>)
%1 = "written.o28"(%0, %0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<9x4xf16>
// -----
written.o8 [9223372036854775808] [1.0] [true] [3] ["x"]
// -----
written.o8 array<i64: 1> [1.0] [true] [3] ["x"]
// -----
"written.o8"() <{a = array<i64>, f = array<f32: 0x7F800000, 1e-40>, b = array<i1: true, false>, i = [], s = []}> : () -> ()
// -----
"written.o8"() <{a = array<i32>, f = array<f32: 1.0>, b = array<i1: true, false>, i = [], s = []}> : () -> ()
// -----
"written.o8"() <{a = array<i64>, f = array<f64: 1.0>, b = array<i1: true, false>, i = [], s = []}> : () -> ()
// -----
"written.o8"() <{a = array<i64>, f = [1.0], b = array<i1: true, false>, i = [], s = []}> : () -> ()
// -----
"written.o8"() <{a = array<i64>, f = array<f32>, b = array<i1>, i = array<i64: 1>, s = []}> : () -> ()
// -----
"written.o8"() <{a = array<i64>, f = array<f32>, b = array<i1>, i = [1 : i32], s = []}> : () -> ()
// -----
"written.o8"() <{a = array<i64>, f = array<f32>, b = array<i1>, i = [1.0], s = []}> : () -> ()
// -----
"written.o8"() <{a = array<i64>, f = array<f32>, b = array<i1>, i = [], s = [1]}> : () -> ()
// -----
"written.o17"() <{m = affine_map<() -> ()>, d = {}, a = [], x = unit, e = array<i8: 1, 2>}> : () -> ()
// -----
written.o17 affine_map<(d0) -> (d0)> {} [] x = <4>, dense<[1, 2]> : tensor<2xi8>
// -----
"written.foo"() : () -> ()
"test.x"() {a = array<i8: 200>} : () -> ()
// -----
"test.x"() {a = array<i8: -129>} : () -> ()
// -----
written.o8 [1, 2] [1.0] [true] [3] ["x"] o [200]
// -----
written.o8 [1, 2] [1.0] [true] [3] ["x"] o [-129]
// -----
%0:2 = written.o22 i32 b f32 c i32
// -----
%0 = "test.a"() : () -> (f32)
%1:2 = "written.o20"(%0, %0) <{f = 1.5 : f32, h = 3 : si8, bb = true}> : (f32, f32) -> (i1, f32)
// -----
%0:2 = "test.x"() : () -> (i32, index)
%1:2 = "written.o20"(%0#0, %0#1) <{f = 1.5 : f32, h = 3 : si8, bb = true}> : (i32, index) -> (i1, f32)
// -----
%0:2 = "test.x"() : () -> (i32, index)
%1:2 = "written.o20"(%0#0, %0#1) <{f = 1.5 : f64, h = 3 : i8, bb = true}> : (i32, index) -> (i1, f32)
// -----
written.o8 [] 0x10 [1.0] [true] [3] ["x"]
// -----
written.o24 [31] [1] "x" [1, 2]
