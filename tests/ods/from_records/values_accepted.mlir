"values.q1"() <{t = #values.tagged<4> : i8, u = #values.tagged<-1> : tensor<2xi8>}> : () -> ()
"values.q1"() <{t = #values.tagged<4>}> : () -> ()
"values.q1"() <{t = #values.tagged<4> : none}> : () -> ()
// custom:
module {
  values.q1 <4> or <-1>
  values.q1 <4>
  values.q1 <4>
}
// generic:
"builtin.module"() ({
  "values.q1"() <{t = #values.tagged<4> : i8, u = #values.tagged<-1> : tensor<2xi8>}> : () -> ()
  "values.q1"() <{t = #values.tagged<4>}> : () -> ()
  "values.q1"() <{t = #values.tagged<4>}> : () -> ()
}) : () -> ()
// -----
values.q1 #values.tagged<5> : i8 or #values.tagged<7>
// custom:
module {
  values.q1 <5> or <7>
}
// generic:
"builtin.module"() ({
  "values.q1"() <{t = #values.tagged<5> : i8, u = #values.tagged<7>}> : () -> ()
}) : () -> ()
// -----
"test.x"() {a = #values.tagged<4> : i8, b = [#values.tagged<4> : i8, #values.tagged<4> : none]} : () -> ()
// custom:
module {
  "test.x"() {a = #values.tagged<4> : i8, b = [#values.tagged<4> : i8, #values.tagged<4>]} : () -> ()
}
// generic:
"builtin.module"() ({
  "test.x"() {a = #values.tagged<4> : i8, b = [#values.tagged<4> : i8, #values.tagged<4>]} : () -> ()
}) : () -> ()
// -----
"values.q2"() <{t = #values.opts<a = 3, b = "x">, u = #values.plain}> : () -> ()
// custom:
module {
  values.q2 a <a = 3 : i64, b = "x"> b or #values.plain
}
// generic:
"builtin.module"() ({
  "values.q2"() <{t = #values.opts<a = 3 : i64, b = "x">, u = #values.plain}> : () -> ()
}) : () -> ()
// -----
"values.q2"() <{t = #values.opts<b = "x">, v = #values.opts<a = 3 : i4>}> : () -> ()
// custom:
module {
  values.q2 a <b = "x"> b v <a = 3 : i4>
}
// generic:
"builtin.module"() ({
  "values.q2"() <{t = #values.opts<b = "x">, v = #values.opts<a = 3 : i4>}> : () -> ()
}) : () -> ()
// -----
values.q2 a <a = 3 : i8> b v <b = "s">
// custom:
module {
  values.q2 a <a = 3 : i8> b v <b = "s">
}
// generic:
"builtin.module"() ({
  "values.q2"() <{t = #values.opts<a = 3 : i8>, v = #values.opts<b = "s">}> : () -> ()
}) : () -> ()
// -----
values.q2 a b
// custom:
module {
  values.q2 a #values.opts b
}
// generic:
"builtin.module"() ({
  "values.q2"() <{t = #values.opts}> : () -> ()
}) : () -> ()
// -----
"values.q2"() <{t = #values.opts, u = #values.plain}> : () -> ()
// custom:
module {
  values.q2 a #values.opts b or #values.plain
}
// generic:
"builtin.module"() ({
  "values.q2"() <{t = #values.opts, u = #values.plain}> : () -> ()
}) : () -> ()
// -----
"values.q3"() <{c = #values.col<red>, b = #values<bits r|w>, m = 9 : i64}> : () -> ()
// custom:
module {
  values.q3 <red>  rw slow
}
// generic:
"builtin.module"() ({
  "values.q3"() <{b = #values<bits rw>, c = #values.col<red>, d = #values<bits rw>, m = 9 : i64}> : () -> ()
}) : () -> ()
// -----
values.q3 <red> r|w slow m2 = slow d w
// custom:
module {
  values.q3 <red>  rw slow m2 = slow d  w
}
// generic:
"builtin.module"() ({
  "values.q3"() <{b = #values<bits rw>, c = #values.col<red>, d = #values<bits w>, m = 9 : i64, m2 = 9 : i64}> : () -> ()
}) : () -> ()
// -----
values.q3 #values.col<red> rw slow
// custom:
module {
  values.q3 <red>  rw slow
}
// generic:
"builtin.module"() ({
  "values.q3"() <{b = #values<bits rw>, c = #values.col<red>, d = #values<bits rw>, m = 9 : i64}> : () -> ()
}) : () -> ()
// -----
"test.x"() {a = #values<bits rw>, b = #values<bits w | r>, c = #values.col< green >} : () -> ()
// custom:
module {
  "test.x"() {a = #values<bits rw>, b = #values<bits rw>, c = #values.col<green>} : () -> ()
}
// generic:
"builtin.module"() ({
  "test.x"() {a = #values<bits rw>, b = #values<bits rw>, c = #values.col<green>} : () -> ()
}) : () -> ()
// -----
"values.q4"() <{cs = [#values.col<red>], is = [1 : i32], us = [unit], fs = [1.0 : f32], bs = [true], ss = [@a], ms = [affine_map<(d0) -> (d0)>], ts = [i32, f32], i32 = [3 : i32]}> : () -> ()
// custom:
#map = affine_map<(d0) -> (d0)>
module {
  values.q4 [#values.col<red>] [1 : i32] [unit] [1.000000e+00 : f32] [true] [@a] [#map] [i32, f32] [3 : i32]
}
// generic:
#map = affine_map<(d0) -> (d0)>
"builtin.module"() ({
  "values.q4"() <{bs = [true], cs = [#values.col<red>], fs = [1.000000e+00 : f32], i32 = [3 : i32], is = [1 : i32], ms = [#map], ss = [@a], ts = [i32, f32], us = [unit]}> : () -> ()
}) : () -> ()
// -----
"values.q4"() <{cs = [], is = [], us = [], fs = [], bs = [], ss = [], ms = [], ts = [], i32 = []}> : () -> ()
// custom:
module {
  values.q4 [] [] [] [] [] [] [] [] []
}
// generic:
"builtin.module"() ({
  "values.q4"() <{bs = [], cs = [], fs = [], i32 = [], is = [], ms = [], ss = [], ts = [], us = []}> : () -> ()
}) : () -> ()
// -----
values.q4 [#values.col<green>] [1 : i32] [unit] [1.0 : f32] [true] [@a] [affine_map<() -> ()>] [i1] [3 : i32]
// custom:
#map = affine_map<() -> ()>
module {
  values.q4 [#values.col<green>] [1 : i32] [unit] [1.000000e+00 : f32] [true] [@a] [#map] [i1] [3 : i32]
}
// generic:
#map = affine_map<() -> ()>
"builtin.module"() ({
  "values.q4"() <{bs = [true], cs = [#values.col<green>], fs = [1.000000e+00 : f32], i32 = [3 : i32], is = [1 : i32], ms = [#map], ss = [@a], ts = [i1], us = [unit]}> : () -> ()
}) : () -> ()
// -----
%0:4 = "test.x"() : () -> (i32, i64, i8, f32)
%1 = "values.q5"(%0#0, %0#0, %0#1, %0#2, %0#3) <{operandSegmentSizes = array<i32: 2, 1, 1, 1>}> : (i32, i32, i64, i8, f32) -> i32
%2 = "values.q5"(%0#2) <{operandSegmentSizes = array<i32: 0, 0, 1, 0>}> : (i8) -> i32
%3 = values.q5 %0#0 c %0#2 [%0#3, %0#2 : f32, i8] {z}
%4 = values.q5 c %0#2
// custom:
module {
  %0:4 = "test.x"() : () -> (i32, i64, i8, f32)
  %1 = values.q5 %0#0, %0#0 b %0#1 c %0#2[%0#3 : f32]
  %2 = values.q5  c %0#2
  %3 = values.q5 %0#0 c %0#2[%0#3, %0#2 : f32, i8] {z}
  %4 = values.q5  c %0#2
}
// generic:
"builtin.module"() ({
  %0:4 = "test.x"() : () -> (i32, i64, i8, f32)
  %1 = "values.q5"(%0#0, %0#0, %0#1, %0#2, %0#3) <{operandSegmentSizes = array<i32: 2, 1, 1, 1>}> : (i32, i32, i64, i8, f32) -> i32
  %2 = "values.q5"(%0#2) <{operandSegmentSizes = array<i32: 0, 0, 1, 0>}> : (i8) -> i32
  %3 = "values.q5"(%0#0, %0#2, %0#3, %0#2) <{operandSegmentSizes = array<i32: 1, 0, 1, 2>}> {z} : (i32, i8, f32, i8) -> i32
  %4 = "values.q5"(%0#2) <{operandSegmentSizes = array<i32: 0, 0, 1, 0>}> : (i8) -> i32
}) : () -> ()
// -----
%0:4 = "test.x"() : () -> (i32, i64, i8, f32)
%1 = values.q5 c %0#2 {operandSegmentSizes = array<i32: 0, 0, 1, 0>}
// custom:
module {
  %0:4 = "test.x"() : () -> (i32, i64, i8, f32)
  %1 = values.q5  c %0#2
}
// generic:
"builtin.module"() ({
  %0:4 = "test.x"() : () -> (i32, i64, i8, f32)
  %1 = "values.q5"(%0#2) <{operandSegmentSizes = array<i32: 0, 0, 1, 0>}> : (i8) -> i32
}) : () -> ()
// -----
%0:3 = "test.x"() : () -> (tensor<2xf32>, tensor<?xf32>, tensor<*xf32>)
%1 = values.q6 %0#0 : tensor<2xf32> to tensor<?xf32>
%2 = values.q6 %0#2 : tensor<*xf32> to tensor<3xf32>
%3 = values.q6 %0#1 : tensor<?xf32> to tensor<3xf32>
// custom:
module {
  %0:3 = "test.x"() : () -> (tensor<2xf32>, tensor<?xf32>, tensor<*xf32>)
  %1 = values.q6 %0#0 : tensor<2xf32> to tensor<?xf32>
  %2 = values.q6 %0#2 : tensor<*xf32> to tensor<3xf32>
  %3 = values.q6 %0#1 : tensor<?xf32> to tensor<3xf32>
}
// generic:
"builtin.module"() ({
  %0:3 = "test.x"() : () -> (tensor<2xf32>, tensor<?xf32>, tensor<*xf32>)
  %1 = "values.q6"(%0#0) : (tensor<2xf32>) -> tensor<?xf32>
  %2 = "values.q6"(%0#2) : (tensor<*xf32>) -> tensor<3xf32>
  %3 = "values.q6"(%0#1) : (tensor<?xf32>) -> tensor<3xf32>
}) : () -> ()
// -----
%0:2 = "test.x"() : () -> (i32, i64)
%1 = values.q7 %0#0, %0#0 : i32
%2 = "values.q7"(%0#0, %0#0) : (i32, i32) -> i32
// custom:
module {
  %0:2 = "test.x"() : () -> (i32, i64)
  %1 = values.q7 %0#0, %0#0 : i32
  %2 = values.q7 %0#0, %0#0 : i32
}
// generic:
"builtin.module"() ({
  %0:2 = "test.x"() : () -> (i32, i64)
  %1 = "values.q7"(%0#0, %0#0) : (i32, i32) -> i32
  %2 = "values.q7"(%0#0, %0#0) : (i32, i32) -> i32
}) : () -> ()
// -----
%0:2 = "test.x"() : () -> (tensor<2xi8>, tensor<2xf32>)
%1 = values.q8 %0#0, %0#1 : tensor<2xi8>, tensor<2xf32>
// custom:
module {
  %0:2 = "test.x"() : () -> (tensor<2xi8>, tensor<2xf32>)
  %1 = values.q8 %0#0, %0#1 : tensor<2xi8>, tensor<2xf32>
}
// generic:
"builtin.module"() ({
  %0:2 = "test.x"() : () -> (tensor<2xi8>, tensor<2xf32>)
  %1 = "values.q8"(%0#0, %0#1) : (tensor<2xi8>, tensor<2xf32>) -> tensor<2xi8>
}) : () -> ()
// -----
"values.q9"() ({ "test.a"() : () -> () }) : () -> ()
"values.q9"() <{s = @a::@b}> ({ }, { "test.a"() : () -> () }, { ^bb0(%a: i8): }) : () -> ()
// custom:
module {
  values.q9 {
    "test.a"() : () -> ()
  }()
  values.q9 @a::@b : {
  }({
    "test.a"() : () -> ()
  }, {
  ^bb0(%arg0: i8):
  })
}
// generic:
"builtin.module"() ({
  "values.q9"() ({
    "test.a"() : () -> ()
  }) : () -> ()
  "values.q9"() <{s = @a::@b}> ({
  }, {
    "test.a"() : () -> ()
  }, {
  ^bb0(%arg0: i8):
  }) : () -> ()
}) : () -> ()
// -----
values.q9 @x : { } ( )
values.q9 { ^bb0: } ({ "test.a"() : () -> () }, {^bb0: })
// custom:
module {
  values.q9 @x : {
  }()
  values.q9 {
  }({
    "test.a"() : () -> ()
  }, {
  })
}
// generic:
"builtin.module"() ({
  "values.q9"() <{s = @x}> ({
  ^bb0:
  }) : () -> ()
  "values.q9"() ({
  ^bb0:
  }, {
    "test.a"() : () -> ()
  }, {
  ^bb0:
  }) : () -> ()
}) : () -> ()
// -----
values.q9 { } ({ })
// custom:
module {
  values.q9 {
  }({
  })
}
// generic:
"builtin.module"() ({
  "values.q9"() ({
  ^bb0:
  }, {
  ^bb0:
  }) : () -> ()
}) : () -> ()
// -----
"values.q10"() : () -> ()
"values.q10"() <{a = 3, s = "hi", f = 1.5 : f32, b = true, d = array<i64: 1, 2>, e = []}> : () -> ()
"values.q10"() <{a = 4, s = "ho", f = 2.5 : f32, b = false, d = array<i64: 1>, e = [4]}> : () -> ()
values.q10 a 3 s "hi" f 1.5 b true d [1, 2]
values.q10 a -3 s "" f -1.0e3 b false d [] {e = [2, 3]}
// custom:
module {
  values.q10
  values.q10
  values.q10 a 4 s "ho" f 2.500000e+00 b false d [1] {e = [4]}
  values.q10
  values.q10 a -3 s "" f -1.000000e+03 b false d [] {e = [2, 3]}
}
// generic:
"builtin.module"() ({
  "values.q10"() <{b = true, d = array<i64: 1, 2>, e = [], f = 1.500000e+00 : f32, s = "hi"}> : () -> ()
  "values.q10"() <{a = 3 : i64, b = true, d = array<i64: 1, 2>, e = [], f = 1.500000e+00 : f32, s = "hi"}> : () -> ()
  "values.q10"() <{a = 4 : i64, b = false, d = array<i64: 1>, e = [4], f = 2.500000e+00 : f32, s = "ho"}> : () -> ()
  "values.q10"() <{a = 3 : i64, b = true, d = array<i64: 1, 2>, e = [], f = 1.500000e+00 : f32, s = "hi"}> : () -> ()
  "values.q10"() <{a = -3 : i64, b = false, d = array<i64>, e = [2, 3], f = -1.000000e+03 : f32, s = ""}> : () -> ()
}) : () -> ()
// -----
values.q10 f 0x3F800000
// custom:
module {
  values.q10 f 1.000000e+00
}
// generic:
"builtin.module"() ({
  "values.q10"() <{b = true, d = array<i64: 1, 2>, e = [], f = 1.000000e+00 : f32, s = "hi"}> : () -> ()
}) : () -> ()
// -----
values.q10 b 1
// custom:
module {
  values.q10
}
// generic:
"builtin.module"() ({
  "values.q10"() <{b = true, d = array<i64: 1, 2>, e = [], f = 1.500000e+00 : f32, s = "hi"}> : () -> ()
}) : () -> ()
// -----
values.q11 nox y()
// custom:
module {
  values.q11 nox y()
}
// generic:
"builtin.module"() ({
  "values.q11"() <{y, z = false}> : () -> ()
}) : () -> ()
// -----
values.q12 1, 2, 3, 4, 5, 6.0
values.q12 -9223372036854775808, -128, -2147483648, 65535, -5, 1.0e308
values.q12 0x10, 0x7f, 0, 0, 0, 0x7FF0000000000000
// custom:
module {
  values.q12 1, 2, 3, 4, 5, 6.000000e+00
  values.q12 -9223372036854775808, -128, -2147483648, 65535, -5, 1.000000e+308
  values.q12 16, 127, 0, 0, 0, 0x7FF0000000000000
}
// generic:
"builtin.module"() ({
  "values.q12"() <{a = 1 : i64, b = 2 : i8, c = 3 : si32, d = 4 : ui16, e = 5 : index, f = 6.000000e+00 : f64}> : () -> ()
  "values.q12"() <{a = -9223372036854775808 : i64, b = -128 : i8, c = -2147483648 : si32, d = 65535 : ui16, e = -5 : index, f = 1.000000e+308 : f64}> : () -> ()
  "values.q12"() <{a = 16 : i64, b = 127 : i8, c = 0 : si32, d = 0 : ui16, e = 0 : index, f = 0x7FF0000000000000 : f64}> : () -> ()
}) : () -> ()
// -----
values.q12 1, 200, 3, 4, 5, 6.0
// custom:
module {
  values.q12 1, -56, 3, 4, 5, 6.000000e+00
}
// generic:
"builtin.module"() ({
  "values.q12"() <{a = 1 : i64, b = -56 : i8, c = 3 : si32, d = 4 : ui16, e = 5 : index, f = 6.000000e+00 : f64}> : () -> ()
}) : () -> ()
// -----
%0:4 = "test.x"() : () -> (i32, tensor<2xi8>, !values.opt1, !values.opt1<4>)
%1:3 = "test.x"() : () -> (!values.opt1<4, i8>, !values.str1<f32>, !values.str1<f16, "abc">)
%2:2 = values.q13 %0#0, %0#3, %1#1 : i32, <4>, <f32> -> !values.opt1<4>, !values.opt1
values.q13 %0#1, %1#0, %1#2 : tensor<2xi8>, <4, i8>, <f16, "abc">
values.q13 %0#1, %1#0, %1#2 : tensor<2xi8>, !values.opt1<4, i8>, !values.str1<f16, "abc">
// custom:
module {
  %0:4 = "test.x"() : () -> (i32, tensor<2xi8>, !values.opt1, !values.opt1<4>)
  %1:3 = "test.x"() : () -> (!values.opt1<4, i8>, !values.str1<f32>, !values.str1<f16, "abc">)
  %2:2 = values.q13 %0#0, %0#3, %1#1 : i32, <4>, <f32> -> !values.opt1<4>, !values.opt1
  values.q13 %0#1, %1#0, %1#2 : tensor<2xi8>, <4, i8>, <f16, "abc">
  values.q13 %0#1, %1#0, %1#2 : tensor<2xi8>, <4, i8>, <f16, "abc">
}
// generic:
"builtin.module"() ({
  %0:4 = "test.x"() : () -> (i32, tensor<2xi8>, !values.opt1, !values.opt1<4>)
  %1:3 = "test.x"() : () -> (!values.opt1<4, i8>, !values.str1<f32>, !values.str1<f16, "abc">)
  %2:2 = "values.q13"(%0#0, %0#3, %1#1) : (i32, !values.opt1<4>, !values.str1<f32>) -> (!values.opt1<4>, !values.opt1)
  "values.q13"(%0#1, %1#0, %1#2) : (tensor<2xi8>, !values.opt1<4, i8>, !values.str1<f16, "abc">) -> ()
  "values.q13"(%0#1, %1#0, %1#2) : (tensor<2xi8>, !values.opt1<4, i8>, !values.str1<f16, "abc">) -> ()
}) : () -> ()
// -----
%1:3 = "test.x"() : () -> (!values.opt1<0, i8>, !values.opt1<0>, !values.str1<f16, "dflt">)
// custom:
module {
  %0:3 = "test.x"() : () -> (!values.opt1, !values.opt1, !values.str1<f16>)
}
// generic:
"builtin.module"() ({
  %0:3 = "test.x"() : () -> (!values.opt1, !values.opt1, !values.str1<f16>)
}) : () -> ()
// -----
values.q14 tensor<2xf32>, i32
values.q14 tensor<*xf32>, i32, f16
// custom:
module {
  values.q14 tensor<2xf32>, i32
  values.q14 tensor<*xf32>, i32, f16
}
// generic:
"builtin.module"() ({
  "values.q14"() <{t = tensor<2xf32>, u = i32}> : () -> ()
  "values.q14"() <{t = tensor<*xf32>, u = i32, v = f16}> : () -> ()
}) : () -> ()
// -----
%0 = "test.x"() : () -> f32
%1 = values.q16 -> f32 { values.q15 %0 : f32 }
values.q16 { values.q15 } attributes {k}
values.q16 { "test.a"() : () -> () }
values.q16 { }
// custom:
module {
  %0 = "test.x"() : () -> f32
  %1 = values.q16 -> f32 {
    values.q15 %0 : f32
  }
  values.q16 {
  } attributes {k}
  values.q16 {
    "test.a"() : () -> ()
  }
  values.q16 {
  }
}
// generic:
"builtin.module"() ({
  %0 = "test.x"() : () -> f32
  %1 = "values.q16"() ({
    "values.q15"(%0) : (f32) -> ()
  }) : () -> f32
  "values.q16"() ({
    "values.q15"() : () -> ()
  }) {k} : () -> ()
  "values.q16"() ({
    "test.a"() : () -> ()
    "values.q15"() : () -> ()
  }) : () -> ()
  "values.q16"() ({
    "values.q15"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
values.q9 { values.q15 } ( )
// custom:
module {
  values.q9 {
    values.q15
  }()
}
// generic:
"builtin.module"() ({
  "values.q9"() ({
    "values.q15"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
"values.q17"() <{r = [1, 2], c = 4}> : () -> ()
// custom:
module {
  values.q17 [1, 2] : 4
}
// generic:
"builtin.module"() ({
  "values.q17"() <{a = [], c = 4 : i64, r = [1 : i32, 2 : i32], s = "x"}> : () -> ()
}) : () -> ()
// -----
values.q17 a 3 s "y" [1, 2] : 7
values.q17 s "x" [] : 7 {k}
// custom:
module {
  values.q17 a 3 s "y" [1, 2] : 7
  values.q17 [] : 7 {k}
}
// generic:
"builtin.module"() ({
  "values.q17"() <{a = [3], c = 7 : i64, r = [1 : i32, 2 : i32], s = "y"}> : () -> ()
  "values.q17"() <{a = [], c = 7 : i64, r = [], s = "x"}> {k} : () -> ()
}) : () -> ()
// -----
values.q18 [red, green] b [1, 2]
values.q18 []
// custom:
module {
  values.q18 [red, green] b [1, 2]
  values.q18 []
}
// generic:
"builtin.module"() ({
  "values.q18"() <{a = [0 : i32, 5 : i32], b = [[1, 2]]}> : () -> ()
  "values.q18"() <{a = [], b = []}> : () -> ()
}) : () -> ()
// -----
values.q18 [] b []
// custom:
module {
  values.q18 [] b []
}
// generic:
"builtin.module"() ({
  "values.q18"() <{a = [], b = [[]]}> : () -> ()
}) : () -> ()
// -----
"values.q18"() <{a = [0 : i32, 5 : i32], b = [[1, 2]]}> : () -> ()
// custom:
module {
  values.q18 [red, green] b [1, 2]
}
// generic:
"builtin.module"() ({
  "values.q18"() <{a = [0 : i32, 5 : i32], b = [[1, 2]]}> : () -> ()
}) : () -> ()
// -----
%0:4 = values.q19 i32, i32 and f32, f32
// custom:
module {
  %a:2, %b:2 = values.q19 i32, i32 and f32, f32
}
// generic:
"builtin.module"() ({
  %0:4 = "values.q19"() : () -> (i32, i32, f32, f32)
}) : () -> ()
