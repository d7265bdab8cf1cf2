func.func @f(%a: i32, %h: !sample.handle, %i: index, %t: tensor<2x3xf32>, %c: i1) {
  %0 = sample.add %a, %a : i32
  %1 = sample.add %a, %a mode <b,a> : i32
  %2 = sample.paint %h depth %a [%i, %i] <green> fast named "x" count = 3 {other = 1 : i8}
  %3 = sample.paint %h <red> count = 8
  sample.tint dark
  sample.tint light {deep = true}
  sample.tint light {deep = false}
  sample.loop 3 {
    %4 = sample.add %a, %a : i32
  }
  %5, %6 = sample.hold <label="a b",of= i32, dims = 1,2> and #sample.both<4,"x"> with -> !sample.pair<0x4 x f32>, !sample.box<tensor< 4xf32 >,2>
  %7 = sample.element %t[%i, %i] step 2 slow : tensor<2x3xf32>
  sample.odd %a : i32
  "sample.plain"(%a) : (i32) -> ()
  "sample.cpp"() : () -> ()
  sample.jump %c to ^a or ^b, ^a
^a:
  return
^b:
  return
}
