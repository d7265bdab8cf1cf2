func.func @f(%a: i32, %b: !standalone.custom<"x", [1, 2]>) -> i32 {
  %0 = standalone.foo %a : i32
  %1 = standalone.bar %b [1, 2] tag <3> : !standalone.custom<"x", [1, 2]> -> f32
  return %0 : i32
}
// -----
func.func @f(%a: i64) {
  %0 = "standalone.foo"(%a) : (i64) -> i64
  return
}
// -----
func.func @f(%b: !standalone.custom<"x">) {
  %1 = standalone.bar %b [1, -2] tag <3, false> : !standalone.custom<"x"> -> vector<2x2xf32>
  return
}
// -----
func.func @f(%b: !standalone.custom<4>) {
  return
}
