"builtin.module"() ({
  "probe.ints"() <{a = 1 : i64, b = 2 : i32, c = [], d = 7 : i64}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.ints"() <{a = -1 : i64, b = 2 : i32, c = [5], d = 8 : i64}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.ints"() <{a = 1 : i64, b = 2 : i32, c = [], d = 7 : i64}> {z} : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.bare"() <{a = [], b = [], c = [], d = []}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.bare"() <{a = [3], b = ["q"], c = [true], d = [unit]}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.bare"() <{a = [], b = [], c = [false], d = [false]}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.dict"() <{a = 1 : i64, b = [], c = "s", d = true, e = false, f = "x", g = []}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.dict"() <{a = 1 : i64, b = [4], c = "s", d = false, e, f = "x", g = ["t"]}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.dict"() <{a = 1 : i64, b = [4], c = "s", d = false, e, f = "y", g = []}> {k} : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.lists"() <{a = [1, 2], b = array<i32: 3>, c = ["x"], d = [], e = [[], [1]]}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.lists"() <{a = [], b = array<i32>, c = [], d = [[4, 5]], e = []}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.lists"() <{a = [], b = array<i32>, c = [], d = [[]], e = [[]]}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.nested"() <{a = [], b = [], c = []}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.nested"() <{a = [[]], b = [1], c = [[]]}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.nested"() <{a = [[4]], b = [-1], c = [[1, 2], [3]]}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.enums"() <{a = 5 : i32, b = [], c = 0 : i32, d = 0 : i32}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.enums"() <{a = 0 : i32, b = [0 : i32], c = 3 : i32, d = 5 : i32}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.enums"() <{a = 0 : i32, b = [5 : i32], c = 2 : i32, d = 5 : i32}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.group"() <{a = [], b = false, c = false, d = array<i64>}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.group"() <{a = [4], b, c = true, d = array<i64: 1, 2>}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.group"() <{a = [-4], b = false, c = false, d = array<i64>}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.confined"() <{a = 1 : i64, b = []}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.confined"() <{a = 1 : i64, b = [4]}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  %0:3 = "probe.split"() <{resultSegmentSizes = array<i32: 1, 1, 1>}> : () -> (i32, i1, f32)
}) : () -> ()
// -----
"builtin.module"() ({
  %0:3 = "probe.split"() <{resultSegmentSizes = array<i32: 3, 0, 0>}> : () -> (i32, i32, i32)
}) : () -> ()
// -----
"builtin.module"() ({
  %0:3 = "probe.split"() <{resultSegmentSizes = array<i32: 0, 0, 3>}> : () -> (i32, i32, i1)
}) : () -> ()
// -----
"builtin.module"() ({
  %0:2 = "probe.split"() <{resultSegmentSizes = array<i32: 1, 1, 0>}> : () -> (i32, i1)
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.split"() <{resultSegmentSizes = array<i32: 0, 0, 0>}> {a = 1 : i8} : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  %0:3 = "probe.split"() <{resultSegmentSizes = array<i32: 1, 1, 1>}> : () -> (i32, i1, f32)
  %1:3 = "probe.both"(%0#0, %0#0, %0#0) <{operandSegmentSizes = array<i32: 1, 1, 1>, resultSegmentSizes = array<i32: 2, 1>}> : (i32, i32, i32) -> (f32, i1, i1)
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.both"() <{operandSegmentSizes = array<i32: 0, 0, 0>, resultSegmentSizes = array<i32: 0, 0>}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  %0:3 = "probe.split"() <{resultSegmentSizes = array<i32: 1, 1, 1>}> : () -> (i32, i1, f32)
  %1:3 = "probe.functional"(%0#0, %0#2) <{resultSegmentSizes = array<i32: 2, 1>}> : (i32, f32) -> (f32, i1, i1)
}) : () -> ()
// -----
"builtin.module"() ({
  %0 = "probe.functional"() <{resultSegmentSizes = array<i32: 1, 0>}> : () -> f32
}) : () -> ()
// -----
"builtin.module"() ({
  %0 = "probe.functional"() <{resultSegmentSizes = array<i32: 0, 1>}> : () -> i1
}) : () -> ()
// -----
"builtin.module"() ({
  %0:4 = "probe.fixed"() <{resultSegmentSizes = array<i32: 1, 1, 2>}> : () -> (i32, index, i1, i1)
}) : () -> ()
// -----
"builtin.module"() ({
  %0 = "probe.fixed"() <{resultSegmentSizes = array<i32: 0, 1, 0>}> : () -> index
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.units"() <{a = false, b = false, c = false}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.units"() <{a, b, c}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.flags"() <{a = 3 : i32, b = 3 : i32, c = [1 : i32, 3 : i32], d = [5 : i32]}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.flags"() <{a = 1 : i32, b = 0 : i32, c = [], d = []}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.formed"() <{a = 5 : i32, b = #probe.color<green>, c = [#probe.color<green>]}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.formed"() <{a = 0 : i32, b = #probe.color<red>, c = []}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.anchor"() <{a = "x", b = [], c = [], d = [3]}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.anchor"() <{a = "q", b = [""], c = [array<i64: 1>], d = [4]}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.anchor"() <{a = "q", b = [], c = [array<i64>], d = []}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.anchor"() <{a = "q", b = [], c = [array<i64>], d = [3]}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.ints"() <{a = 1 : i64, b = 3 : i32, c = [], d = 7 : i64}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.bare"() <{a = [], b = [""], c = [false], d = [unit]}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.ints"() <{a = 1 : i64, b = 4 : i32, c = [], d = 7 : i64}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.ints"() <{a = 1 : i64, b = 4 : i32, c = [], d = 7 : i64}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.enums"() <{a = 0 : i32, b = [], c = 0 : i32, d = 5 : i32}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.nested"() <{a = [[]], b = [], c = [[1], []]}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.bare"() <{a = [], b = ["a\22b\\c\09\C3\A9 \C3\A9\0A"], c = [], d = []}> : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "probe.bare"() <{a = [3], b = ["q"], c = [], d = []}> : () -> ()
}) : () -> ()
