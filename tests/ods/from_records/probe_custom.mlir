module {
  probe.ints 1, 2 
}
// -----
module {
  probe.ints -1, 2 c 5 d 8 
}
// -----
module {
  probe.ints 1, 2  {z}
}
// -----
module {
  probe.bare none, none, none, none 
}
// -----
module {
  probe.bare 3, "q", true, some<unit> 
}
// -----
module {
  probe.bare none, none, false, some<unit_absent> 
}
// -----
module {
  probe.dict <{a = 1 : i64, c = "s", d = true}>
}
// -----
module {
  probe.dict <{a = 1 : i64, b = [4], c = "s", d = false, e, g = ["t"]}>
}
// -----
module {
  probe.dict <{a = 1 : i64, b = [4], c = "s", d = false, e, f = "y"}> {k}
}
// -----
module {
  probe.lists [1, 2], [3], ["x"], none, [none, 1]
}
// -----
module {
  probe.lists [], [], [], [4, 5], []
}
// -----
module {
  probe.lists [], [], [], [], [none]
}
// -----
module {
  probe.nested none, none, []
}
// -----
module {
  probe.nested some<none>, some<1>, [[]]
}
// -----
module {
  probe.nested some<4>, some<-1>, [[1, 2], [3]]
}
// -----
module {
  probe.enums green, paint<red>
}
// -----
module {
  probe.enums red, b red, c a, b, paint<green>
}
// -----
module {
  probe.enums red, b green, c b, paint<green>
}
// -----
module {
  probe.group
}
// -----
module {
  probe.group 4 x flag c true d [1, 2]
}
// -----
module {
  probe.group -4 x
}
// -----
module {
  probe.confined 1
}
// -----
module {
  probe.confined 1 b 4
}
// -----
module {
  %first, %second, %third = probe.split : one i32 two i1 three(f32)
}
// -----
module {
  %first:3 = probe.split : one i32, i32, i32
}
// -----
module {
  %third:3 = probe.split : three(i32, i32, i1)
}
// -----
module {
  %first, %second = probe.split : one i32 two i1
}
// -----
module {
  probe.split {a = 1 : i8} :
}
// -----
module {
  %first, %second, %third = probe.split : one i32 two i1 three(f32)
  %first_0:2, %second_1 = probe.both %first : i32 y %first z(%first : i32) -> (f32, i1) and i1
}
// -----
module {
  probe.both -> ()
}
// -----
module {
  %first, %second, %third = probe.split : one i32 two i1 three(f32)
  %first_0:2, %second_1 = probe.functional %first, %third : (i32, f32) -> (f32, i1) and(i1)
}
// -----
module {
  %first = probe.functional  : () -> f32 and()
}
// -----
module {
  %second = probe.functional  : () -> () and(i1)
}
// -----
module {
  %first, %second, %third:2 = probe.fixed : [i32] [i1, i1]
}
// -----
module {
  %second = probe.fixed : [] []
}
// -----
module {
  probe.units unit_absent
}
// -----
module {
  probe.units unit unit x y
}
// -----
module {
  probe.flags x|y paint<x|y> [x, x|y] d tint<green>
}
// -----
module {
  probe.flags x paint<> []
}
// -----
module {
  probe.formed green, green, green
}
// -----
module {
  probe.formed red, red, none
}
// -----
module {
  probe.anchor
}
// -----
module {
  probe.anchor "q", "" [1] c d some<4>
}
// -----
module {
  probe.anchor "q" [] c d none
}
// -----
module {
  probe.anchor "q" [] c
}
// -----
module {
  probe.ints 1, 3 
}
// -----
module {
  probe.bare none, "", false, some<unit> 
}
// -----
module {
  probe.ints 1, 4 
}
// -----
module {
  probe.ints 1, 4 
}
// -----
module {
  probe.enums red, paint<green>
}
// -----
module {
  probe.nested some<none>, none, [[1], []]
}
// -----
module {
  probe.bare none, "a\22b\\c\09\C3\A9 \C3\A9\0A", none, none 
}
// -----
module {
  probe.bare 3, "q", none, none 
}
