values.q1 <5> : i8 or <7>
// -----
values.q1 #values.plain
// -----
values.q3 red rw slow
// -----
values.q3 <red> r, w slow
// -----
"test.x"() {a = #values.col<blue>} : () -> ()
// -----
values.q4 [<green>] [] [] [] [] [] [] [] []
// -----
values.q4 [] [1] [] [] [] [] [] [] []
// -----
values.q4 [] [] [] [1.0] [] [] [] [] []
// -----
values.q4 [] [] [] [] [1] [] [] [] []
// -----
values.q4 [] [] [] [] [] [@a::@b] [] [] []
// -----
values.q4 [] [] [] [] [] [] [] [] [3]
// -----
values.q4 [] [] [3] [] [] [] [] [] []
// -----
%0:4 = "test.x"() : () -> (i32, i64, i8, f32)
%3 = values.q5 %0#0 c %0#2 [%0#3, %0#2 : f32]
// -----
%0:4 = "test.x"() : () -> (i32, i64, i8, f32)
%1 = "values.q5"(%0#0, %0#1, %0#1, %0#2) <{operandSegmentSizes = array<i32: 1, 2, 1, 0>}> : (i32, i64, i64, i8) -> i32
// -----
%0:4 = "test.x"() : () -> (i32, i64, i8, f32)
%1 = "values.q5"(%0#0, %0#1, %0#2) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (i32, i64, i8) -> i32
// -----
%0:4 = "test.x"() : () -> (i32, i64, i8, f32)
%1 = "values.q5"(%0#2) <{operandSegmentSizes = array<i32: -1, 0, 1, 1>}> : (i8) -> i32
// -----
%0:4 = "test.x"() : () -> (i32, i64, i8, f32)
%1 = "values.q5"(%0#2) : (i8) -> i32
// -----
%0:3 = "test.x"() : () -> (tensor<2xf32>, tensor<?xf32>, tensor<*xf32>)
%1 = values.q6 %0#0 : tensor<2xf32> to tensor<3xf32>
// -----
%0:3 = "test.x"() : () -> (tensor<2xf32>, tensor<?xf32>, tensor<*xf32>)
%1 = values.q6 %0#0 : tensor<2xf32> to tensor<2xf16>
// -----
%0:3 = "test.x"() : () -> (tensor<2xf32>, tensor<?xf32>, tensor<*xf32>)
%1 = values.q6 %0#0 : tensor<2xf32> to tensor<2x1xf32>
// -----
%0:2 = "test.x"() : () -> (i32, i64)
%1 = values.q7 %0#0, %0#1 : i32
// -----
%0:2 = "test.x"() : () -> (i32, i64)
%2 = "values.q7"(%0#0, %0#1) : (i32, i64) -> i32
// -----
%0:2 = "test.x"() : () -> (tensor<2xi8>, tensor<?xf32>)
%1 = values.q8 %0#0, %0#1 : tensor<2xi8>, tensor<?xf32>
// -----
%0:2 = "test.x"() : () -> (tensor<2xi8>, tensor<3xf32>)
%1 = values.q8 %0#0, %0#1 : tensor<2xi8>, tensor<3xf32>
// -----
values.q9 { "test.a"() : () -> () ^bb1: "test.a"() : () -> () } ()
// -----
values.q10 f 1
// -----
values.q10 a 1 : i64
// -----
values.q10 d [1, 2,]
// -----
"values.q11"() <{x, y, z}> : () -> ()
"values.q11"() : () -> ()
values.q11 x y(unit) z
values.q11 nox
// -----
values.q11
// -----
values.q12 1, 256, 3, 4, 5, 6.0
// -----
values.q12 1, 2, 3, -4, 5, 6.0
// -----
values.q12 1, 2, 3, 65536, 5, 6.0
// -----
values.q12 1, 2, 2147483648, 6, 5, 6.0
// -----
values.q12 1, 2, 3, 4, 5, 6
// -----
values.q12 1.0, 2, 3, 4, 5, 6.0
// -----
values.q12 true, 2, 3, 4, 5, 6.0
// -----
%1:3 = "test.x"() : () -> (!values.opt1<>, !values.opt1<i8>)
// -----
%1 = "test.x"() : () -> !values.str1<i8>
// -----
%1 = "test.x"() : () -> !values.str1<f32, abc>
// -----
%0:4 = "test.x"() : () -> (i32, tensor<2xi8>, !values.opt1, !values.opt1<4>)
%1:3 = "test.x"() : () -> (!values.opt1<4, i8>, !values.str1<f32>, !values.str1<f16, "abc">)
values.q13 %0#1, %1#0, %1#2 : tensor<2xi8>, <4, i8>, <f32>
// -----
values.q14 i8, i32
// -----
values.q14 tensor<2xf32>, i64
// -----
values.q16 { ^bb0(%a: i8): values.q15 }
// -----
values.q15
// -----
values.q9 { values.q15 "test.a"() : () -> () } ( )
// -----
values.q17 [3000000000] : 7
// -----
values.q17 [] : 3
// -----
values.q18 [blue]
// -----
%0:3 = values.q19 i32, i32 and f32
// -----
%0:3 = "values.q19"() : () -> (i32, i32, f32)
// -----
%0:2 = "values.q19"() : () -> (f32, i32)
