// RUN: cir check --split-input-file --verify-diagnostics %s
// Builtin types.

func.func private @tensors(tensor<4x?xf32>, tensor<*xi8>, tensor<f64>, tensor<2x!quant.uniform<i8:f32, 0.5>>)

// -----

func.func private @vectors(vector<4xf32>, vector<[4]xi32>, vector<2x[4]xf16>)

// -----

func.func private @functions((i32) -> f32, () -> (), (i32, tuple<i32, f32>) -> (i1, index))

// -----

func.func private @memory(memref<4xf32, strided<[1], offset: 2>>, memref<?x4xi8, 1>)

// -----

func.func private @integers(i1, si8, ui16, i17)

// -----

// expected-error@+1 {{expected an element type, found 'f33'}}
func.func private @unknown_element(tensor<4xf33>)

// -----

// expected-error@+1 {{expected an element type, found '>'}}
func.func private @no_element(tensor<4x>)

// -----

// expected-error@+1 {{expected an element type, found '-'}}
func.func private @negative(tensor<-1xf32>)

// -----

// expected-error@+1 {{'none' is not a type of elements}}
func.func private @vector_of_none(vector<4xnone>)

// -----

// expected-error@+1 {{expected an element type, found '?'}}
func.func private @dynamic_vector(vector<?xf32>)

// -----

// expected-error@+1 {{a vector has sizes of 1 and more, found 0}}
func.func private @empty_vector(vector<0xf32>)

// -----

// expected-error@+1 {{expected a type, found 'i16777216'}}
func.func private @too_wide(i16777216)

// -----

// expected-error@+1 {{expected 'x' or '>', found ')'}}
func.func private @not_closed(tensor<4xf32)

// -----

// expected-error@+1 {{a tensor of unknown rank has no encoding}}
func.func private @unranked_encoding(tensor<*xf32, "a">)

// -----

// expected-error@+1 {{undefined type alias '!none_such'}}
func.func private @alias(!none_such)

// -----

!number = i32
func.func private @before_it_is_used(!number)
// expected-error@+1 {{redefinition of type alias 'number'}}
!number = i64
func.func private @after_it_was_used(!number)

// -----

!number = i32
module {
  func.func private @first(!number)
}
!other = tensor<4x!number>
module {
  func.func private @second(!number, !other)
}
