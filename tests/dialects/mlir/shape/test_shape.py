"""Programs of the shape dialect: their text is mlir-opt's, what is wrong is refused by both, and they run."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.dialects.programs import run
from tests.dialects.upstream_text import assert_printed_equally, assert_refused_by_both

_ALL = """
func.func @f(%s: !shape.shape, %z: !shape.size, %i: index, %e: tensor<?xindex>, %t: tensor<2x?xf32>,
             %v: !shape.value_shape, %b: i1, %n: tensor<3xi32>) {
  %0 = shape.const_shape [1, 2] : !shape.shape
  %1 = shape.const_shape {a = 1} [1, 2] : tensor<2xindex>
  %2 = shape.const_shape [] : tensor<0xindex>
  %3 = shape.const_size 4
  %4 = shape.const_size -4 {b}
  %5 = shape.add %i, %z : index, !shape.size -> !shape.size
  %6 = shape.mul %i, %i : index, index -> index
  %7 = shape.div %i, %i : index, index -> !shape.size
  %8 = shape.max %s, %s : !shape.shape, !shape.shape -> !shape.shape
  %9 = shape.min %z, %z : !shape.size, !shape.size -> !shape.size
  %10 = shape.meet %s, %e, error = "x" : !shape.shape, tensor<?xindex> -> !shape.shape
  %11 = shape.index_to_size %i
  %12 = shape.size_to_index %z : !shape.size
  %13 = shape.rank %e : tensor<?xindex> -> index
  %14 = shape.num_elements %s : !shape.shape -> !shape.size
  %15 = shape.get_extent %e, %i : tensor<?xindex>, index -> index
  %16 = shape.dim %t, %i : tensor<2x?xf32>,index -> index
  %17 = shape.from_extents %i, %z : index, !shape.size
  %18 = shape.from_extent_tensor %e : tensor<?xindex>
  %19 = shape.to_extent_tensor %s : !shape.shape -> tensor<?xindex>
  %20 = shape.shape_of %t : tensor<2x?xf32> -> tensor<2xindex>
  %21 = shape.value_of %v : tensor<2xf32>
  %22 = shape.value_as_shape %n : tensor<3xi32> -> !shape.shape
  %23 = shape.with_shape %v, %s : !shape.value_shape, !shape.shape
  %24 = shape.broadcast %s, %e {error = "p"} : !shape.shape, tensor<?xindex> -> !shape.shape
  %25 = shape.is_broadcastable %s, %e : !shape.shape, tensor<?xindex>
  %26 = shape.shape_eq %s, %e : !shape.shape, tensor<?xindex>
  %27 = shape.any %s, %e : !shape.shape, tensor<?xindex> -> tensor<?xindex>
  %28 = shape.concat %s, %e : !shape.shape, tensor<?xindex> -> !shape.shape
  %h, %tl = "shape.split_at"(%s, %i) : (!shape.shape, index) -> (!shape.shape, !shape.shape)
  %29 = "shape.debug_print"(%s) : (!shape.shape) -> !shape.shape
  %w = shape.const_witness true
  %30 = shape.cstr_require %b, "msg" {a}
  %31 = shape.cstr_eq %s, %s : !shape.shape, !shape.shape
  %32 = shape.cstr_broadcastable %s, %e : !shape.shape, tensor<?xindex>
  %33 = shape.assuming_all %w, %30
  %34 = shape.reduce(%s, %z) : !shape.shape -> !shape.size {
  ^bb0(%q: index, %k: !shape.size, %acc: !shape.size):
    shape.yield %acc : !shape.size
  } {k}
  %35:2 = shape.reduce(%e, %i, %t) : tensor<?xindex> -> (index, tensor<2x?xf32>) {
  ^bb0(%q: index, %k: index, %acc: index, %ac2 : tensor<2x?xf32>):
    shape.yield %acc, %ac2 : index, tensor<2x?xf32>
  }
  %36 = shape.assuming %w -> (index) {
    shape.assuming_yield %i : index
  } {u}
  shape.assuming %w {
  }
  return
}
shape.func @sf(%a: !shape.value_shape) -> !shape.shape {
  %0 = shape_of %a : !shape.value_shape -> !shape.shape
  return %0 : !shape.shape
}
shape.func private @sf2(!shape.value_shape {a.b = 1}) -> (!shape.shape {c.d}) attributes {x}
shape.function_library @lib {
  func @same(%arg: !shape.value_shape) -> !shape.shape {
    %0 = shape_of %arg : !shape.value_shape -> !shape.shape
    return %0 : !shape.shape
  }
} mapping {
  std.atan = @same
}
shape.function_library @lib2 attributes {foo = 1} {
^bb0:
} mapping {
}
"""


def test_every_operation_is_printed_as_mlir_opt_prints_it() -> None:
    assert_printed_equally(_ALL)


_HEAD = "func.func @f(%s: !shape.shape, %z: !shape.size, %i: index, %e: tensor<3xindex>, %w: !shape.witness) {\n"


@pytest.mark.parametrize(
    "line",
    [
        "%0 = shape.const_shape [1] : tensor<2xindex>",
        "%0 = shape.add %z, %i : !shape.size, index -> index",
        "%0 = shape.max %z, %z : !shape.size, !shape.size -> !shape.shape",
        "%0 = shape.meet %i, %s : index, !shape.shape -> index",
        "%0 = shape.rank %s : !shape.shape -> index",
        "%0 = shape.get_extent %s, %i : !shape.shape, index -> index",
        "%0 = shape.num_elements %s : !shape.shape -> index",
        "%0 = shape.shape_of %e : tensor<3xindex> -> tensor<3xindex>",
        "%0 = shape.broadcast %e, %s : tensor<3xindex>, !shape.shape -> tensor<?xindex>",
        '%0 = "shape.assuming_all"() : () -> !shape.witness',
        "%0 = shape.cstr_broadcastable %e : tensor<3xindex>",
        "%0 = shape.assuming %w -> (index) { shape.assuming_yield %e : tensor<3xindex> }",
        "shape.assuming %w { shape.assuming_yield %e : tensor<3xindex> }",
        "%0 = shape.reduce(%s, %z) : !shape.shape -> !shape.size {\n^bb0(%q: index):\n shape.yield %z : !shape.size\n}",
        "shape.yield",
    ],
)
def test_what_breaks_a_rule_is_refused_by_both(line: str) -> None:
    assert_refused_by_both(f"{_HEAD}  {line}\n  return\n}}")


def test_shapes_are_computed() -> None:
    x = np.zeros((2, 3), np.float32)
    y = np.zeros((4, 1, 3), np.float32)
    source = """
    func.func @f(%x: tensor<2x3xf32>, %y: tensor<4x1x3xf32>)
        -> (tensor<?xindex>, index, index, index, tensor<?xindex>, i1) {
      %a = shape.shape_of %x : tensor<2x3xf32> -> tensor<2xindex>
      %b = shape.shape_of %y : tensor<4x1x3xf32> -> tensor<3xindex>
      %c = shape.broadcast %a, %b : tensor<2xindex>, tensor<3xindex> -> tensor<?xindex>
      %n = shape.num_elements %c : tensor<?xindex> -> index
      %r = shape.rank %c : tensor<?xindex> -> index
      %i = arith.constant 1 : index
      %e = shape.get_extent %c, %i : tensor<?xindex>, index -> index
      %d = shape.concat %a, %b : tensor<2xindex>, tensor<3xindex> -> tensor<?xindex>
      %t = shape.is_broadcastable %a, %b : tensor<2xindex>, tensor<3xindex>
      return %c, %n, %r, %e, %d, %t : tensor<?xindex>, index, index, index, tensor<?xindex>, i1
    }"""
    result = run(source, x, y)
    expected = [[4, 2, 3], 24, 3, 2, [2, 3, 4, 1, 3], True]
    for value, expected_value in zip(result, expected, strict=True):
        assert_array_equal(value, expected_value)


def test_a_reduction_goes_over_sizes_from_the_first() -> None:
    source = """
    func.func @f(%s: tensor<3xindex>, %z: index) -> index {
      %r = shape.reduce(%s, %z) : tensor<3xindex> -> index {
      ^bb0(%i: index, %n: index, %acc: index):
        %a = shape.mul %acc, %n : index, index -> index
        %b = shape.add %a, %i : index, index -> index
        shape.yield %b : index
      }
      return %r : index
    }"""
    (result,) = run(source, np.array([2, 3, 4]), np.array(5))
    assert result == ((5 * 2 + 0) * 3 + 1) * 4 + 2


def test_what_is_assumed_gives_what_its_region_yields() -> None:
    source = """
    func.func @f(%x: tensor<2xf32>, %s: tensor<2xindex>) -> (tensor<2xf32>, tensor<1xindex>, tensor<1xindex>) {
      %w = shape.cstr_eq %s, %s : tensor<2xindex>, tensor<2xindex>
      %y = shape.assuming %w -> (tensor<2xf32>) {
        %z = arith.addf %x, %x : tensor<2xf32>
        shape.assuming_yield %z : tensor<2xf32>
      }
      %i = arith.constant -1 : index
      %a, %b = "shape.split_at"(%s, %i) : (tensor<2xindex>, index) -> (tensor<1xindex>, tensor<1xindex>)
      return %y, %a, %b : tensor<2xf32>, tensor<1xindex>, tensor<1xindex>
    }"""
    y, a, b = run(source, np.array([1, 2], np.float32), np.array([7, 8]))
    assert_array_equal(y, [2, 4])
    assert_array_equal(a, [7])
    assert_array_equal(b, [8])
