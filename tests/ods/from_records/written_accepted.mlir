"written.o1"() : () -> ()
// custom:
module {
  written.o1 nos
}
// generic:
"builtin.module"() ({
  "written.o1"() <{d = 4 : i64}> : () -> ()
}) : () -> ()
// -----
"written.o1"() <{a = 3 : i32, u, d = 5, s = "x"}> : () -> ()
// custom:
module {
  written.o1 a 3 ? u d(5) "x"
}
// generic:
"builtin.module"() ({
  "written.o1"() <{a = 3 : i32, d = 5 : i64, s = "x", u}> : () -> ()
}) : () -> ()
// -----
"written.o1"() <{d = 4 : i64}> {extra = 1 : i8} : () -> ()
// custom:
module {
  written.o1 nos {extra = 1 : i8}
}
// generic:
"builtin.module"() ({
  "written.o1"() <{d = 4 : i64}> {extra = 1 : i8} : () -> ()
}) : () -> ()
// -----
written.o1 a 3 ? u d(9) "str" {q = 1}
// custom:
module {
  written.o1 a 3 ? u d(9) "str" {q = 1 : i64}
}
// generic:
"builtin.module"() ({
  "written.o1"() <{a = 3 : i32, d = 9 : i64, s = "str", u}> {q = 1 : i64} : () -> ()
}) : () -> ()
// -----
written.o1 nos {a = 3 : i32}
// custom:
module {
  written.o1 a 3 ? nos
}
// generic:
"builtin.module"() ({
  "written.o1"() <{a = 3 : i32, d = 4 : i64}> : () -> ()
}) : () -> ()
// -----
written.o1 nos {u = unit}
// custom:
module {
  written.o1 u nos
}
// generic:
"builtin.module"() ({
  "written.o1"() <{d = 4 : i64, u}> : () -> ()
}) : () -> ()
// -----
%0 = "test.x"() : () -> i8
"written.o2"(%0, %0) <{operandSegmentSizes = array<i32: 1, 1>}> : (i8, i8) -> ()
"written.o2"(%0) <{operandSegmentSizes = array<i32: 0, 1>, n = 3 : i32, fast}> {foo} : (i8) -> ()
"written.o2"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> ()
"written.o2"() <{operandSegmentSizes = array<i32: 0, 0>}> {bar = 2, operand = 3.0 : f32} : () -> ()
// custom:
module {
  %0 = "test.x"() : () -> i8
  written.o2 with(%0 : i8) all %0 : i8
  written.o2 all %0 : i8 fast n = 3 attributes {foo}
  written.o2
  written.o2 attributes {bar = 2 : i64, operand = 3.000000e+00 : f32}
}
// generic:
"builtin.module"() ({
  %0 = "test.x"() : () -> i8
  "written.o2"(%0, %0) <{operandSegmentSizes = array<i32: 1, 1>}> : (i8, i8) -> ()
  "written.o2"(%0) <{fast, n = 3 : i32, operandSegmentSizes = array<i32: 0, 1>}> {foo} : (i8) -> ()
  "written.o2"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> ()
  "written.o2"() <{operandSegmentSizes = array<i32: 0, 0>}> {bar = 2 : i64, operand = 3.000000e+00 : f32} : () -> ()
}) : () -> ()
// -----
%0 = "test.x"() : () -> i8
written.o2 n = 4 fast all %0, %0 : i8, i8 with(%0 : i8) attributes {k = 1}
// custom:
module {
  %0 = "test.x"() : () -> i8
  written.o2 with(%0 : i8) all %0, %0 : i8, i8 fast n = 4 attributes {k = 1 : i64}
}
// generic:
"builtin.module"() ({
  %0 = "test.x"() : () -> i8
  "written.o2"(%0, %0, %0) <{fast, n = 4 : i32, operandSegmentSizes = array<i32: 1, 2>}> {k = 1 : i64} : (i8, i8, i8) -> ()
}) : () -> ()
// -----
func.func @f(%c: i1, %x: i32) {
  written.o3 %c, %x, %c : i32, i1 -> ^a[^b, ^c]
^a:
  "written.o3"(%c)[^b] : (i1) -> ()
^b:
  written.o3 %c -> ^c[] {k = "v"}
^c:
  return
}
// custom:
module {
  func.func @f(%arg0: i1, %arg1: i32) {
    written.o3 %arg0, %arg1, %arg0 : i32, i1 -> ^bb1[^bb2, ^bb3]
  ^bb1:  // pred: ^bb0
    written.o3 %arg0 -> ^bb2[]
  ^bb2:  // 2 preds: ^bb0, ^bb1
    written.o3 %arg0 -> ^bb3[] {k = "v"}
  ^bb3:  // 2 preds: ^bb0, ^bb2
    return
  }
}
// generic:
"builtin.module"() ({
  "func.func"() <{function_type = (i1, i32) -> (), sym_name = "f"}> ({
  ^bb0(%arg0: i1, %arg1: i32):
    "written.o3"(%arg0, %arg1, %arg0)[^bb1, ^bb2, ^bb3] : (i1, i32, i1) -> ()
  ^bb1:  // pred: ^bb0
    "written.o3"(%arg0)[^bb2] : (i1) -> ()
  ^bb2:  // 2 preds: ^bb0, ^bb1
    "written.o3"(%arg0)[^bb3] {k = "v"} : (i1) -> ()
  ^bb3:  // 2 preds: ^bb0, ^bb2
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
func.func @f(%c: i1, %x: i32) {
  written.o3 %c -> ^bb1[]
^bb1:
  "written.o3"(%c, %c)[^bb1, ^bb1, ^bb2, ^bb2] : (i1, i1) -> ()
^bb2:
  "test.foo"() : () -> ()
  return
}
// custom:
module {
  func.func @f(%arg0: i1, %arg1: i32) {
    written.o3 %arg0 -> ^bb1[]
  ^bb1:  // 3 preds: ^bb0, ^bb1, ^bb1
    written.o3 %arg0, %arg0 : i1 -> ^bb1[^bb1, ^bb2, ^bb2]
  ^bb2:  // 2 preds: ^bb1, ^bb1
    "test.foo"() : () -> ()
    return
  }
}
// generic:
"builtin.module"() ({
  "func.func"() <{function_type = (i1, i32) -> (), sym_name = "f"}> ({
  ^bb0(%arg0: i1, %arg1: i32):
    "written.o3"(%arg0)[^bb1] : (i1) -> ()
  ^bb1:  // 3 preds: ^bb0, ^bb1, ^bb1
    "written.o3"(%arg0, %arg0)[^bb1, ^bb1, ^bb2, ^bb2] : (i1, i1) -> ()
  ^bb2:  // 2 preds: ^bb1, ^bb1
    "test.foo"() : () -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
"written.o4"() ({ }) : () -> ()
"written.o4"() ({
  "test.a"() : () -> ()
}) : () -> ()
"written.o4"() ({
^bb0(%a: i32):
  "test.a"(%a) : (i32) -> ()
^bb1:
  "test.b"() [^bb1] : () -> ()
}, { }, {
  "test.c"() : () -> ()
}) {k = 3 : i64} : () -> ()
// custom:
module {
  written.o4 {
  }
  written.o4 {
    "test.a"() : () -> ()
  }
  written.o4 {
  ^bb0(%arg0: i32):
    "test.a"(%arg0) : (i32) -> ()
  ^bb1:  // pred: ^bb1
    "test.b"()[^bb1] : () -> ()
  } more {
  }, {
    "test.c"() : () -> ()
  } {k = 3 : i64}
}
// generic:
"builtin.module"() ({
  "written.o4"() ({
  }) : () -> ()
  "written.o4"() ({
    "test.a"() : () -> ()
  }) : () -> ()
  "written.o4"() ({
  ^bb0(%arg0: i32):
    "test.a"(%arg0) : (i32) -> ()
  ^bb1:  // pred: ^bb1
    "test.b"()[^bb1] : () -> ()
  }, {
  }, {
    "test.c"() : () -> ()
  }) {k = 3 : i64} : () -> ()
}) : () -> ()
// -----
written.o4 { } more { }, { "test.x"() : () -> () }
// custom:
module {
  written.o4 {
  } more {
  }, {
    "test.x"() : () -> ()
  }
}
// generic:
"builtin.module"() ({
  "written.o4"() ({
  }, {
  }, {
    "test.x"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
"written.o5"() ({
  "written.o5_end"() : () -> ()
}, {
}) : () -> ()
"written.o5"() ({
  "test.x"() : () -> ()
  "written.o5_end"() : () -> ()
}, {
  "written.o5_end"() {k} : () -> ()
}) : () -> ()
"written.o5"() ({
^bb0(%a: i32):
  "written.o5_end"() : () -> ()
}, {
^bb0(%a: i32):
  "written.o5_end"() {k} : () -> ()
}) : () -> ()
// custom:
module {
  written.o5 {
  }
  written.o5 {
    "test.x"() : () -> ()
  } else {
    written.o5_end {k}
  }
  written.o5 {
  ^bb0(%arg0: i32):
  } else {
  ^bb0(%arg0: i32):
    written.o5_end {k}
  }
}
// generic:
"builtin.module"() ({
  "written.o5"() ({
    "written.o5_end"() : () -> ()
  }, {
  }) : () -> ()
  "written.o5"() ({
    "test.x"() : () -> ()
    "written.o5_end"() : () -> ()
  }, {
    "written.o5_end"() {k} : () -> ()
  }) : () -> ()
  "written.o5"() ({
  ^bb0(%arg1: i32):
    "written.o5_end"() : () -> ()
  }, {
  ^bb0(%arg0: i32):
    "written.o5_end"() {k} : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
written.o5 { }
// custom:
module {
  written.o5 {
  }
}
// generic:
"builtin.module"() ({
  "written.o5"() ({
    "written.o5_end"() : () -> ()
  }, {
  }) : () -> ()
}) : () -> ()
// -----
written.o5 { } else { }
// custom:
module {
  written.o5 {
  } else {
  }
}
// generic:
"builtin.module"() ({
  "written.o5"() ({
    "written.o5_end"() : () -> ()
  }, {
    "written.o5_end"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
written.o5 { written.o5_end {a} } else { "test.z"() : () -> () }
// custom:
module {
  written.o5 {
    written.o5_end {a}
  } else {
    "test.z"() : () -> ()
  }
}
// generic:
"builtin.module"() ({
  "written.o5"() ({
    "written.o5_end"() {a} : () -> ()
  }, {
    "test.z"() : () -> ()
    "written.o5_end"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
%a = "test.x"() : () -> tensor<2xf32>
%b = "test.x"() : () -> tensor<?xf32>
%r = "written.o6"(%a, %a) {z = 1.5 : f32} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
%s = "written.o6"(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// custom:
module {
  %0 = "test.x"() : () -> tensor<2xf32>
  %1 = "test.x"() : () -> tensor<?xf32>
  %2 = written.o6(%0, %0)[ {z = 1.500000e+00 : f32}] : tensor<2xf32>
  %3 = written.o6(%0, %0)[] : tensor<2xf32>
}
// generic:
"builtin.module"() ({
  %0 = "test.x"() : () -> tensor<2xf32>
  %1 = "test.x"() : () -> tensor<?xf32>
  %2 = "written.o6"(%0, %0) {z = 1.500000e+00 : f32} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = "written.o6"(%0, %0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
}) : () -> ()
// -----
%a = "test.x"() : () -> tensor<2xf32>
%t = written.o6(%a, %a)[] : tensor<2xf32>
%u = written.o6(%a, %a)[{k}] : tensor<2xf32>
// custom:
module {
  %0 = "test.x"() : () -> tensor<2xf32>
  %1 = written.o6(%0, %0)[] : tensor<2xf32>
  %2 = written.o6(%0, %0)[ {k}] : tensor<2xf32>
}
// generic:
"builtin.module"() ({
  %0 = "test.x"() : () -> tensor<2xf32>
  %1 = "written.o6"(%0, %0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = "written.o6"(%0, %0) {k} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
}) : () -> ()
// -----
%a = "written.o7"() <{v = 3 : i32, t = i8}> : () -> i32
%b = "written.o7"() <{v = 3 : i64, t = i8, t2 = tensor<?x2xf32>}> : () -> i64
%c = "written.o7"() <{v = dense<1.0> : tensor<2xf32>, t = (i32) -> i8, t2 = !written.unit}> : () -> tensor<2xf32>
%d = "written.o7"() <{v = true, t = none}> : () -> i1
%e = "written.o7"() <{v = #written.tagged<4> : i9, t = none}> : () -> i9
// custom:
module {
  %0 = written.o7 3 : i32 as i8
  %1 = written.o7 3 : i64 as i8 or tensor<?x2xf32>
  %2 = written.o7 dense<1.000000e+00> : tensor<2xf32> as (i32) -> i8 or !written.unit
  %3 = written.o7 true as none
  %4 = written.o7 #written.tagged<4> : i9 as none
}
// generic:
"builtin.module"() ({
  %0 = "written.o7"() <{t = i8, v = 3 : i32}> : () -> i32
  %1 = "written.o7"() <{t = i8, t2 = tensor<?x2xf32>, v = 3 : i64}> : () -> i64
  %2 = "written.o7"() <{t = (i32) -> i8, t2 = !written.unit, v = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
  %3 = "written.o7"() <{t = none, v = true}> : () -> i1
  %4 = "written.o7"() <{t = none, v = #written.tagged<4> : i9}> : () -> i9
}) : () -> ()
// -----
%a = "written.o7"() <{v = "str", t = i8}> : () -> none
// custom:
module {
  %0 = written.o7 "str" as i8
}
// generic:
"builtin.module"() ({
  %0 = "written.o7"() <{t = i8, v = "str"}> : () -> none
}) : () -> ()
// -----
%a = written.o7 3 as i8
// custom:
module {
  %0 = written.o7 3 : i64 as i8
}
// generic:
"builtin.module"() ({
  %0 = "written.o7"() <{t = i8, v = 3 : i64}> : () -> i64
}) : () -> ()
// -----
%a = written.o7 3.5 : f16 as i8 or tuple<>
// custom:
module {
  %0 = written.o7 3.500000e+00 : f16 as i8 or tuple<>
}
// generic:
"builtin.module"() ({
  %0 = "written.o7"() <{t = i8, t2 = tuple<>, v = 3.500000e+00 : f16}> : () -> f16
}) : () -> ()
// -----
"written.o8"() <{a = array<i64>, f = array<f32: 1.0, -0.0>, b = array<i1: true, false>, i = [1, 2 : i64], s = ["a", "b\n"]}> : () -> ()
// custom:
module {
  written.o8 [] [1.000000e+00, -0.000000e+00] [true, false] [1, 2] ["a", "b\0A"]
}
// generic:
"builtin.module"() ({
  "written.o8"() <{a = array<i64>, b = array<i1: true, false>, f = array<f32: 1.000000e+00, -0.000000e+00>, i = [1, 2], s = ["a", "b\0A"]}> : () -> ()
}) : () -> ()
// -----
"written.o8"() <{a = array<i64: -1, 4>, f = array<f32>, b = array<i1>, i = [], s = [], o = array<i8: 1>}> : () -> ()
// custom:
module {
  written.o8 [-1, 4] [] [] [] [] o [1]
}
// generic:
"builtin.module"() ({
  "written.o8"() <{a = array<i64: -1, 4>, b = array<i1>, f = array<f32>, i = [], o = array<i8: 1>, s = []}> : () -> ()
}) : () -> ()
// -----
written.o8 [1, 2] [1.0, 2.5e10] [true] [3] ["x"] o [4]
// custom:
module {
  written.o8 [1, 2] [1.000000e+00, 2.500000e+10] [true] [3] ["x"] o [4]
}
// generic:
"builtin.module"() ({
  "written.o8"() <{a = array<i64: 1, 2>, b = array<i1: true>, f = array<f32: 1.000000e+00, 2.500000e+10>, i = [3], o = array<i8: 4>, s = ["x"]}> : () -> ()
}) : () -> ()
// -----
written.o8 [1, 2] [1.0, 2.5e10] [1] [3] ["x"]
// custom:
module {
  written.o8 [1, 2] [1.000000e+00, 2.500000e+10] [true] [3] ["x"]
}
// generic:
"builtin.module"() ({
  "written.o8"() <{a = array<i64: 1, 2>, b = array<i1: true>, f = array<f32: 1.000000e+00, 2.500000e+10>, i = [3], s = ["x"]}> : () -> ()
}) : () -> ()
// -----
"written.o9"() <{a = #written<col red>, b = #written<colb{left}>, c = #written.bits<rw, x>, o = 2 : i64, e = #written<col red>}> : () -> ()
// custom:
module {
  written.o9  red {left} <r, w, x, rw> bb e  red
}
// generic:
"builtin.module"() ({
  "written.o9"() <{a = #written<col red>, b = #written<colb{left}>, c = #written.bits<r, w, x, rw>, e = #written<col red>, o = 2 : i64}> : () -> ()
}) : () -> ()
// -----
"written.o9"() <{a = #written<col "minus-one">, b = #written<colb{right}>, c = #written.bits<x, rw>, o = 1 : i64, e = #written<col green>}> : () -> ()
// custom:
module {
  written.o9  "minus-one" {right} <r, w, x, rw> aa
}
// generic:
"builtin.module"() ({
  "written.o9"() <{a = #written<col "minus-one">, b = #written<colb{right}>, c = #written.bits<r, w, x, rw>, e = #written<col green>, o = 1 : i64}> : () -> ()
}) : () -> ()
// -----
written.o9 red {left} <rw, r> bb
// custom:
module {
  written.o9  red {left} <r, w, rw> bb
}
// generic:
"builtin.module"() ({
  "written.o9"() <{a = #written<col red>, b = #written<colb{left}>, c = #written.bits<r, w, rw>, e = #written<col green>, o = 2 : i64}> : () -> ()
}) : () -> ()
// -----
written.o9 red {left} <none> d green aa e green
// custom:
module {
  written.o9  red {left} <none> d  green aa
}
// generic:
"builtin.module"() ({
  "written.o9"() <{a = #written<col red>, b = #written<colb{left}>, c = #written.bits<none>, d = #written<col green>, e = #written<col green>, o = 1 : i64}> : () -> ()
}) : () -> ()
// -----
written.o9 red {left} <none> d green aa e red
// custom:
module {
  written.o9  red {left} <none> d  green aa e  red
}
// generic:
"builtin.module"() ({
  "written.o9"() <{a = #written<col red>, b = #written<colb{left}>, c = #written.bits<none>, d = #written<col green>, e = #written<col red>, o = 1 : i64}> : () -> ()
}) : () -> ()
// -----
written.o9 red {left} <r, none> aa
// custom:
module {
  written.o9  red {left} <r> aa
}
// generic:
"builtin.module"() ({
  "written.o9"() <{a = #written<col red>, b = #written<colb{left}>, c = #written.bits<r>, e = #written<col green>, o = 1 : i64}> : () -> ()
}) : () -> ()
// -----
written.o9 "minus-one" {left} <r> aa
// custom:
module {
  written.o9  "minus-one" {left} <r> aa
}
// generic:
"builtin.module"() ({
  "written.o9"() <{a = #written<col "minus-one">, b = #written<colb{left}>, c = #written.bits<r>, e = #written<col green>, o = 1 : i64}> : () -> ()
}) : () -> ()
// -----
"written.o10"() <{sym_name = "a", f = @b, s = @c::@d}> : () -> ()
"written.o10"() <{sym_name = "a b", f = @"x y", s = @c, sym_visibility = "private"}> : () -> ()
// custom:
module {
  written.o10 @a = @b, @c::@d
  written.o10 "private" @"a b" = @"x y", @c
}
// generic:
"builtin.module"() ({
  "written.o10"() <{f = @b, s = @c::@d, sym_name = "a"}> : () -> ()
  "written.o10"() <{f = @"x y", s = @c, sym_name = "a b", sym_visibility = "private"}> : () -> ()
}) : () -> ()
// -----
written.o10 "public" @n = @f, @s::@t::@u
// custom:
module {
  written.o10 "public" @n = @f, @s::@t::@u
}
// generic:
"builtin.module"() ({
  "written.o10"() <{f = @f, s = @s::@t::@u, sym_name = "n", sym_visibility = "public"}> : () -> ()
}) : () -> ()
// -----
%0:2 = "test.x"() : () -> (i8, f32)
%1 = "written.o12"(%0#0) : (i8) -> i8
"written.o12"() : () -> ()
%2:2 = "written.o12"(%0#0, %0#1) {k} : (i8, f32) -> (i8, (i8) -> i8)
%3 = "written.o12"(%0#0) : (i8) -> ((i8) -> i8)
// custom:
module {
  %0:2 = "test.x"() : () -> (i8, f32)
  %1 = written.o12(%0#0) : (i8) -> i8
  written.o12() : () -> ()
  %2:2 = written.o12(%0#0, %0#1) {k} : (i8, f32) -> (i8, (i8) -> i8)
  %3 = written.o12(%0#0) : (i8) -> ((i8) -> i8)
}
// generic:
"builtin.module"() ({
  %0:2 = "test.x"() : () -> (i8, f32)
  %1 = "written.o12"(%0#0) : (i8) -> i8
  "written.o12"() : () -> ()
  %2:2 = "written.o12"(%0#0, %0#1) {k} : (i8, f32) -> (i8, (i8) -> i8)
  %3 = "written.o12"(%0#0) : (i8) -> ((i8) -> i8)
}) : () -> ()
// -----
%0:4 = "test.x"() : () -> (!written.pair<i8 x f32>, !written.sized<4>, !written.sized<5, in 3 : i8>, !written.pair<!written.pair<i1 x i2> x !written.unit>)
%1 = "written.o13"(%0#0, %0#1) : (!written.pair<i8 x f32>, !written.sized<4>) -> !written.shape<[1, 2]>
%2:2 = "written.o13"(%0#3, %0#2) {k} : (!written.pair<!written.pair<i1 x i2> x !written.unit>, !written.sized<5, in 3 : i8>) -> (!written.shape<[1, 2] : i8, f32>, !written.bare<i8>)
%3:2 = "written.o13"(%0#3, %0#2) {k} : (!written.pair<!written.pair<i1 x i2> x !written.unit>, !written.sized<5, in 3 : i8>) -> (!written.shape<[9] : i8>, !written<bare?>)
// custom:
module {
  %0:4 = "test.x"() : () -> (!written.pair<i8 x f32>, !written.sized<4>, !written.sized<5, in 3 : i8>, !written.pair<!written.pair<i1 x i2> x !written.unit>)
  %c = written.o13 %0#0, %0#1 : <i8 x f32>, !written.sized<4> -> <[1, 2]>
  %c_0, %d = written.o13 %0#3, %0#2 {k} : <!written.pair<i1 x i2> x !written.unit>, !written.sized<5, in 3 : i8> -> <[1, 2] : i8, f32> and !written.bare<i8>
  %c_1, %d_2 = written.o13 %0#3, %0#2 {k} : <!written.pair<i1 x i2> x !written.unit>, !written.sized<5, in 3 : i8> -> <[9] : i8> and !written<bare?>
}
// generic:
"builtin.module"() ({
  %0:4 = "test.x"() : () -> (!written.pair<i8 x f32>, !written.sized<4>, !written.sized<5, in 3 : i8>, !written.pair<!written.pair<i1 x i2> x !written.unit>)
  %1 = "written.o13"(%0#0, %0#1) : (!written.pair<i8 x f32>, !written.sized<4>) -> !written.shape<[1, 2]>
  %2:2 = "written.o13"(%0#3, %0#2) {k} : (!written.pair<!written.pair<i1 x i2> x !written.unit>, !written.sized<5, in 3 : i8>) -> (!written.shape<[1, 2] : i8, f32>, !written.bare<i8>)
  %3:2 = "written.o13"(%0#3, %0#2) {k} : (!written.pair<!written.pair<i1 x i2> x !written.unit>, !written.sized<5, in 3 : i8>) -> (!written.shape<[9] : i8>, !written<bare?>)
}) : () -> ()
// -----
%0 = "test.x"() : () -> !written.rec<x = 3, name = "a">
%1 = "test.x"() : () -> !written.rec<x = 3, y = 4, flag = true, name = "a">
%2 = "test.x"() : () -> !written.rec<x = 3, y = 7, flag = false, name = "a\0A\22b">
%3 = "test.x"() : () -> !written.rec<name = "", x = -3>
// custom:
module {
  %0 = "test.x"() : () -> !written.rec<x = 3, name = "a">
  %1 = "test.x"() : () -> !written.rec<x = 3, flag = true, name = "a", y = 4>
  %2 = "test.x"() : () -> !written.rec<x = 3, name = "a\0A\22b">
  %3 = "test.x"() : () -> !written.rec<x = -3, name = "">
}
// generic:
"builtin.module"() ({
  %0 = "test.x"() : () -> !written.rec<x = 3, name = "a">
  %1 = "test.x"() : () -> !written.rec<x = 3, flag = true, name = "a", y = 4>
  %2 = "test.x"() : () -> !written.rec<x = 3, name = "a\0A\22b">
  %3 = "test.x"() : () -> !written.rec<x = -3, name = "">
}) : () -> ()
// -----
%0 = "test.x"() : () -> !written.flt<1, "q">
// custom:
module {
  %0 = "test.x"() : () -> !written.flt<true, "q">
}
// generic:
"builtin.module"() ({
  %0 = "test.x"() : () -> !written.flt<true, "q">
}) : () -> ()
// -----
%0 = "test.x"() : () -> !written.sized<0x10>
// custom:
module {
  %0 = "test.x"() : () -> !written.sized<16>
}
// generic:
"builtin.module"() ({
  %0 = "test.x"() : () -> !written.sized<16>
}) : () -> ()
// -----
%0 = "test.x"() : () -> !written<bare?>
// custom:
module {
  %0 = "test.x"() : () -> !written<bare?>
}
// generic:
"builtin.module"() ({
  %0 = "test.x"() : () -> !written<bare?>
}) : () -> ()
// -----
written.o14 3 b 4 u "q" o(3) [] true
// custom:
module {
  written.o14 3 b 4 u "q" o(3) [] true
}
// generic:
"builtin.module"() ({
  "written.o14"() <{a = 3 : i64, ar = [], b = 4 : i32, bo = true, o = [3], s = "q", u}> : () -> ()
}) : () -> ()
// -----
"written.o15"() <{a = 3, x = 3 : i32}> : () -> ()
"written.o15"() <{a = 3, x = 3 : i32, b = 3 : i32, s = ["t"], u}> {w = 1.0} : () -> ()
"written.o15"() <{a = 3, x = 3 : i32, b = 4 : i32, s = []}> {w = 1.0} : () -> ()
// custom:
module {
  written.o15 <{a = 3 : i64, x = 3 : i32}>
  written.o15 <{a = 3 : i64, s = ["t"], u, x = 3 : i32}> {w = 1.000000e+00 : f64}
  written.o15 <{a = 3 : i64, b = 4 : i32, x = 3 : i32}> {w = 1.000000e+00 : f64}
}
// generic:
"builtin.module"() ({
  "written.o15"() <{a = 3 : i64, b = 3 : i32, s = [], u = false, x = 3 : i32}> : () -> ()
  "written.o15"() <{a = 3 : i64, b = 3 : i32, s = ["t"], u, x = 3 : i32}> {w = 1.000000e+00 : f64} : () -> ()
  "written.o15"() <{a = 3 : i64, b = 4 : i32, s = [], u = false, x = 3 : i32}> {w = 1.000000e+00 : f64} : () -> ()
}) : () -> ()
// -----
written.o15 <{a = 3, x = 4 : i32}>
// custom:
module {
  written.o15 <{a = 3 : i64, x = 4 : i32}>
}
// generic:
"builtin.module"() ({
  "written.o15"() <{a = 3 : i64, b = 3 : i32, s = [], u = false, x = 4 : i32}> : () -> ()
}) : () -> ()
// -----
"written.o16"() <{c = 0 : i32, b = 3 : i32}> : () -> ()
// custom:
module {
  written.o16 red bits<r, w, rw>
}
// generic:
"builtin.module"() ({
  "written.o16"() <{b = 3 : i32, c = 0 : i32, d = 0 : i32, o = []}> : () -> ()
}) : () -> ()
// -----
"written.o16"() <{c = 5 : i32, b = 9 : i32, d = 5 : i32, o = [7 : i32]}> : () -> ()
// custom:
module {
  written.o16 green bits<r, x> d green o "minus-one"
}
// generic:
"builtin.module"() ({
  "written.o16"() <{b = 9 : i32, c = 5 : i32, d = 5 : i32, o = [7 : i32]}> : () -> ()
}) : () -> ()
// -----
written.o16 red bits<r, x> d green o red
// custom:
module {
  written.o16 red bits<r, x> d green o red
}
// generic:
"builtin.module"() ({
  "written.o16"() <{b = 9 : i32, c = 0 : i32, d = 5 : i32, o = [0 : i32]}> : () -> ()
}) : () -> ()
// -----
written.o16 red bits<rw> o green
// custom:
module {
  written.o16 red bits<r, w, rw> o green
}
// generic:
"builtin.module"() ({
  "written.o16"() <{b = 3 : i32, c = 0 : i32, d = 0 : i32, o = [5 : i32]}> : () -> ()
}) : () -> ()
// -----
written.o16 "minus-one" bits<none>
// custom:
module {
  written.o16 "minus-one" bits<none>
}
// generic:
"builtin.module"() ({
  "written.o16"() <{b = 0 : i32, c = 7 : i32, d = 0 : i32, o = []}> : () -> ()
}) : () -> ()
// -----
written.o16 red bits<none> d "minus-one"
// custom:
module {
  written.o16 red bits<none> d "minus-one"
}
// generic:
"builtin.module"() ({
  "written.o16"() <{b = 0 : i32, c = 0 : i32, d = 7 : i32, o = []}> : () -> ()
}) : () -> ()
// -----
"written.o17"() <{m = affine_map<(d0)[s0] -> (d0 + s0)>, d = {a, b = 3 : i8}, a = [1, {}], x = 4 : i8, e = dense<1> : tensor<2xi8>}> : () -> ()
"written.o17"() <{m = affine_map<() -> ()>, d = {}, a = [], x = unit, e = dense<> : tensor<0xi8>}> {k = affine_set<(d0) : (d0 >= 0)>} : () -> ()
// custom:
#map = affine_map<(d0)[s0] -> (d0 + s0)>
#map1 = affine_map<() -> ()>
#set = affine_set<(d0) : (d0 >= 0)>
module {
  written.o17 #map {a, b = 3 : i8} [1, {}] x = 4 : i8, dense<1> : tensor<2xi8>
  written.o17 #map1 {} [] x = unit, dense<> : tensor<0xi8> {k = #set}
}
// generic:
#map = affine_map<(d0)[s0] -> (d0 + s0)>
#map1 = affine_map<() -> ()>
#set = affine_set<(d0) : (d0 >= 0)>
"builtin.module"() ({
  "written.o17"() <{a = [1, {}], d = {a, b = 3 : i8}, e = dense<1> : tensor<2xi8>, m = #map, x = 4 : i8}> : () -> ()
  "written.o17"() <{a = [], d = {}, e = dense<> : tensor<0xi8>, m = #map1, x}> {k = #set} : () -> ()
}) : () -> ()
// -----
written.o17 affine_map<(d0) -> (d0)> {} [] x = @foo, dense<[1, 2]> : tensor<2xi8>
// custom:
#map = affine_map<(d0) -> (d0)>
module {
  written.o17 #map {} [] x = @foo, dense<[1, 2]> : tensor<2xi8>
}
// generic:
#map = affine_map<(d0) -> (d0)>
"builtin.module"() ({
  "written.o17"() <{a = [], d = {}, e = dense<[1, 2]> : tensor<2xi8>, m = #map, x = @foo}> : () -> ()
}) : () -> ()
// -----
written.o17 affine_map<(d0) -> (d0)> {} [] x = i32, sparse<[[0]], [1]> : tensor<2xi8>
// custom:
#map = affine_map<(d0) -> (d0)>
module {
  written.o17 #map {} [] x = i32, sparse<0, 1> : tensor<2xi8>
}
// generic:
#map = affine_map<(d0) -> (d0)>
"builtin.module"() ({
  "written.o17"() <{a = [], d = {}, e = sparse<0, 1> : tensor<2xi8>, m = #map, x = i32}> : () -> ()
}) : () -> ()
// -----
%0:2 = "test.x"() : () -> (tensor<?x4xf16>, tensor<2xf16>)
%1 = "written.o18"(%0#0, %0#1) : (tensor<?x4xf16>, tensor<2xf16>) -> f16
%2 = written.o18 %0#0, %0#1 : tensor<?x4xf16>
// custom:
module {
  %0:2 = "test.x"() : () -> (tensor<?x4xf16>, tensor<2xf16>)
  %1 = written.o18 %0#0, %0#1 : tensor<?x4xf16>
  %2 = written.o18 %0#0, %0#1 : tensor<?x4xf16>
}
// generic:
"builtin.module"() ({
  %0:2 = "test.x"() : () -> (tensor<?x4xf16>, tensor<2xf16>)
  %1 = "written.o18"(%0#0, %0#1) : (tensor<?x4xf16>, tensor<2xf16>) -> f16
  %2 = "written.o18"(%0#0, %0#1) : (tensor<?x4xf16>, tensor<2xf16>) -> f16
}) : () -> ()
// -----
%0:2 = "test.x"() : () -> (i8, f16)
%1 = "written.o19"(%0#0) : (i8) -> i8
"written.o19"(%0#0) : (i8) -> ()
"written.o19"() <{n = 4 : i64}> : () -> ()
%2 = "written.o19"() <{n = 4 : i64}> : () -> f32
// custom:
module {
  %0:2 = "test.x"() : () -> (i8, f16)
  %1 = written.o19 %0#0 : i8 -> i8
  written.o19 %0#0 : i8
  written.o19 none 4
  %2 = written.o19 none 4 -> f32
}
// generic:
"builtin.module"() ({
  %0:2 = "test.x"() : () -> (i8, f16)
  %1 = "written.o19"(%0#0) : (i8) -> i8
  "written.o19"(%0#0) : (i8) -> ()
  "written.o19"() <{n = 4 : i64}> : () -> ()
  %2 = "written.o19"() <{n = 4 : i64}> : () -> f32
}) : () -> ()
// -----
written.o19 none 4 {k}
// custom:
module {
  written.o19 none 4 {k}
}
// generic:
"builtin.module"() ({
  "written.o19"() <{n = 4 : i64}> {k} : () -> ()
}) : () -> ()
// -----
%0:2 = "test.x"() : () -> (i32, index)
%1:2 = "written.o20"(%0#0, %0#1) <{f = 1.5 : f64, h = 3 : si8, bb = true}> : (i32, index) -> (i1, f32)
%2:2 = "written.o20"(%0#0, %0#1) <{f = 0x7FF0000000000000 : f64, h = -3 : si8, bb = false}> {k} : (i32, index) -> (i1, f32)
// custom:
module {
  %0:2 = "test.x"() : () -> (i32, index)
  %r, %s = written.o20 %0#0,
   %0#1 {1.500000e+00} [3<true>] ... ->
  %r_0, %s_1 = written.o20 %0#0,
   %0#1 {0x7FF0000000000000} [-3<false>] ... -> {k}
}
// generic:
"builtin.module"() ({
  %0:2 = "test.x"() : () -> (i32, index)
  %1:2 = "written.o20"(%0#0, %0#1) <{bb = true, f = 1.500000e+00 : f64, h = 3 : si8}> : (i32, index) -> (i1, f32)
  %2:2 = "written.o20"(%0#0, %0#1) <{bb = false, f = 0x7FF0000000000000 : f64, h = -3 : si8}> {k} : (i32, index) -> (i1, f32)
}) : () -> ()
// -----
%0:2 = "test.x"() : () -> (i32, index)
%1:2 = written.o20 %0#0, %0#1 { 2.5 } [3<true>] ... ->
// custom:
module {
  %0:2 = "test.x"() : () -> (i32, index)
  %r, %s = written.o20 %0#0,
   %0#1 {2.500000e+00} [3<true>] ... ->
}
// generic:
"builtin.module"() ({
  %0:2 = "test.x"() : () -> (i32, index)
  %1:2 = "written.o20"(%0#0, %0#1) <{bb = true, f = 2.500000e+00 : f64, h = 3 : si8}> : (i32, index) -> (i1, f32)
}) : () -> ()
// -----
%0:3 = "written.o22"() <{resultSegmentSizes = array<i32: 1, 1, 1>}> : () -> (i32, f32, i8)
"written.o22"() <{resultSegmentSizes = array<i32: 0, 0, 0>}> : () -> ()
%1:2 = "written.o22"() <{resultSegmentSizes = array<i32: 2, 0, 0>}> : () -> (i32, i32)
// custom:
module {
  %a, %b, %c = written.o22 i32 b f32 c i8
  written.o22  b  c 
  %a_0:2 = written.o22 i32, i32 b  c 
}
// generic:
"builtin.module"() ({
  %0:3 = "written.o22"() <{resultSegmentSizes = array<i32: 1, 1, 1>}> : () -> (i32, f32, i8)
  "written.o22"() <{resultSegmentSizes = array<i32: 0, 0, 0>}> : () -> ()
  %1:2 = "written.o22"() <{resultSegmentSizes = array<i32: 2, 0, 0>}> : () -> (i32, i32)
}) : () -> ()
// -----
%0:3 = written.o22 i32 b c i8, i9
// custom:
module {
  %a, %c:2 = written.o22 i32 b  c i8, i9
}
// generic:
"builtin.module"() ({
  %0:3 = "written.o22"() <{resultSegmentSizes = array<i32: 1, 0, 2>}> : () -> (i32, i8, i9)
}) : () -> ()
// -----
%0:3 = written.o22 i32 b f32 c i8 {resultSegmentSizes = array<i32: 1, 1, 1>}
// custom:
module {
  %a, %b, %c = written.o22 i32 b f32 c i8
}
// generic:
"builtin.module"() ({
  %0:3 = "written.o22"() <{resultSegmentSizes = array<i32: 1, 1, 1>}> : () -> (i32, f32, i8)
}) : () -> ()
// -----
%0:2 = "test.x"() : () -> (index, i1)
"written.o23"(%0#0, %0#0, %0#1) : (index, index, i1) -> ()
"written.o23"(%0#1) : (i1) -> ()
written.o23(%0#0, %0#0) to (%0#0, %0#0) if %0#1 {k}
// custom:
module {
  %0:2 = "test.x"() : () -> (index, i1)
  written.o23(%0#0) to(%0#0) if %0#1
  written.o23() to() if %0#1
  written.o23(%0#0, %0#0) to(%0#0, %0#0) if %0#1 {k}
}
// generic:
"builtin.module"() ({
  %0:2 = "test.x"() : () -> (index, i1)
  "written.o23"(%0#0, %0#0, %0#1) : (index, index, i1) -> ()
  "written.o23"(%0#1) : (i1) -> ()
  "written.o23"(%0#0, %0#0, %0#0, %0#0, %0#1) {k} : (index, index, index, index, i1) -> ()
}) : () -> ()
// -----
written.o24 3 [1] "x" [1, 2]
// custom:
module {
  written.o24 3 [1] "x" [1, 2]
}
// generic:
"builtin.module"() ({
  "written.o24"() <{a = 3 : i32, b = [1], c = "x", d = array<i64: 1, 2>}> : () -> ()
}) : () -> ()
// -----
%0:10 = "test.x"() : () -> (tensor<2xf32>, tensor<?xbf16>, vector<2x3xi32>, memref<f32>, complex<f32>, tuple<i32, f32>, tuple<>, index, none, () -> ())
written.o25 %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6, %0#7, %0#8, %0#9 : tensor<2xf32>, tensor<?xbf16>, vector<2x3xi32>, memref<f32>, complex<f32>, tuple<i32, f32>, tuple<>, index, none, () -> ()
// custom:
module {
  %0:10 = "test.x"() : () -> (tensor<2xf32>, tensor<?xbf16>, vector<2x3xi32>, memref<f32>, complex<f32>, tuple<i32, f32>, tuple<>, index, none, () -> ())
  written.o25 %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6, %0#7, %0#8, %0#9 : tensor<2xf32>, tensor<?xbf16>, vector<2x3xi32>, memref<f32>, complex<f32>, tuple<i32, f32>, tuple<>, index, none, () -> ()
}
// generic:
"builtin.module"() ({
  %0:10 = "test.x"() : () -> (tensor<2xf32>, tensor<?xbf16>, vector<2x3xi32>, memref<f32>, complex<f32>, tuple<i32, f32>, tuple<>, index, none, () -> ())
  "written.o25"(%0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6, %0#7, %0#8, %0#9) : (tensor<2xf32>, tensor<?xbf16>, vector<2x3xi32>, memref<f32>, complex<f32>, tuple<i32, f32>, tuple<>, index, none, () -> ()) -> ()
}) : () -> ()
// -----
%0:10 = "test.x"() : () -> (tensor<i8>, tensor<3xf64>, vector<[4]xi32>, memref<2x?xf32, strided<[1, 2]>, 3>, complex<i8>, tuple<f32>, tuple<i1, tuple<>>, i64, none, (i8) -> (i8))
written.o25 %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6, %0#7, %0#8, %0#9 : tensor<i8>, tensor<3xf64>, vector<[4]xi32>, memref<2x?xf32, strided<[1, 2]>, 3>, complex<i8>, tuple<f32>, tuple<i1, tuple<>>, i64, none, (i8) -> (i8)
// custom:
module {
  %0:10 = "test.x"() : () -> (tensor<i8>, tensor<3xf64>, vector<[4]xi32>, memref<2x?xf32, strided<[1, 2]>, 3>, complex<i8>, tuple<f32>, tuple<i1, tuple<>>, i64, none, (i8) -> i8)
  written.o25 %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6, %0#7, %0#8, %0#9 : tensor<i8>, tensor<3xf64>, vector<[4]xi32>, memref<2x?xf32, strided<[1, 2]>, 3>, complex<i8>, tuple<f32>, tuple<i1, tuple<>>, i64, none, (i8) -> i8
}
// generic:
"builtin.module"() ({
  %0:10 = "test.x"() : () -> (tensor<i8>, tensor<3xf64>, vector<[4]xi32>, memref<2x?xf32, strided<[1, 2]>, 3>, complex<i8>, tuple<f32>, tuple<i1, tuple<>>, i64, none, (i8) -> i8)
  "written.o25"(%0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6, %0#7, %0#8, %0#9) : (tensor<i8>, tensor<3xf64>, vector<[4]xi32>, memref<2x?xf32, strided<[1, 2]>, 3>, complex<i8>, tuple<f32>, tuple<i1, tuple<>>, i64, none, (i8) -> i8) -> ()
}) : () -> ()
// -----
%0:2 = "test.x"() : () -> (tensor<2x3xf32>, tensor<?x3xf32>)
%1 = written.o26 %0#0, %0#1 : tensor<2x3xf32>, tensor<?x3xf32> -> tensor<2x3xi8>
// custom:
module {
  %0:2 = "test.x"() : () -> (tensor<2x3xf32>, tensor<?x3xf32>)
  %1 = written.o26 %0#0, %0#1 : tensor<2x3xf32>, tensor<?x3xf32> -> tensor<2x3xi8>
}
// generic:
"builtin.module"() ({
  %0:2 = "test.x"() : () -> (tensor<2x3xf32>, tensor<?x3xf32>)
  %1 = "written.o26"(%0#0, %0#1) : (tensor<2x3xf32>, tensor<?x3xf32>) -> tensor<2x3xi8>
}) : () -> ()
// -----
%0 = "test.x"() : () -> (tensor<2x3xf32>)
%1 = "written.o28"(%0, %0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<9x9xf32>
// custom:
module {
  %0 = "test.x"() : () -> tensor<2x3xf32>
  %1 = "written.o28"(%0, %0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<9x9xf32>
}
// generic:
"builtin.module"() ({
  %0 = "test.x"() : () -> tensor<2x3xf32>
  %1 = "written.o28"(%0, %0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<9x9xf32>
}) : () -> ()
// -----
"test.x"() {a = array<f32: 0x7fc00000, 0x7F800000>} : () -> ()
// custom:
module {
  "test.x"() {a = array<f32: 0x7FC00000, 0x7F800000>} : () -> ()
}
// generic:
"builtin.module"() ({
  "test.x"() {a = array<f32: 0x7FC00000, 0x7F800000>} : () -> ()
}) : () -> ()
// -----
written.o8 [0x10, 2] [1.0] [true] [3] ["x"]
// custom:
module {
  written.o8 [16, 2] [1.000000e+00] [true] [3] ["x"]
}
// generic:
"builtin.module"() ({
  "written.o8"() <{a = array<i64: 16, 2>, b = array<i1: true>, f = array<f32: 1.000000e+00>, i = [3], s = ["x"]}> : () -> ()
}) : () -> ()
// -----
"test.x"() {a = array<i64: 9223372036854775808>} : () -> ()
// custom:
module {
  "test.x"() {a = array<i64: -9223372036854775808>} : () -> ()
}
// generic:
"builtin.module"() ({
  "test.x"() {a = array<i64: -9223372036854775808>} : () -> ()
}) : () -> ()
// -----
"test.x"() {a = array<f32: 0x10>} : () -> ()
// custom:
module {
  "test.x"() {a = array<f32: 2.242080e-44>} : () -> ()
}
// generic:
"builtin.module"() ({
  "test.x"() {a = array<f32: 2.242080e-44>} : () -> ()
}) : () -> ()
// -----
"test.x"() {a = array<i8: 200>} : () -> ()
// custom:
module {
  "test.x"() {a = array<i8: -56>} : () -> ()
}
// generic:
"builtin.module"() ({
  "test.x"() {a = array<i8: -56>} : () -> ()
}) : () -> ()
// -----
written.o5 { "test.q"() : () -> () }
// custom:
module {
  written.o5 {
    "test.q"() : () -> ()
  }
}
// generic:
"builtin.module"() ({
  "written.o5"() ({
    "test.q"() : () -> ()
    "written.o5_end"() : () -> ()
  }, {
  }) : () -> ()
}) : () -> ()
// -----
written.o5 { } { }
// custom:
module {
  written.o5 {
  }
}
// generic:
"builtin.module"() ({
  "written.o5"() ({
    "written.o5_end"() : () -> ()
  }, {
  }) : () -> ()
}) : () -> ()
