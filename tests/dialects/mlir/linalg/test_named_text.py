"""Named operations are printed as mlir-opt prints them: bodies and maps too, which only the generic form shows."""

from random import Random

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.ods import Dialects
from commonir.text.parser import parse_module
from commonir.text.printer import Naming, print_module

from tests.dialects.mlir.linalg.named_programs import (
    joined,
    named_operations,
    pointwise_operations,
    pointwise_program,
    program,
)
from tests.dialects.upstream_text import assert_printed_equally, assert_refused_by_both


@pytest.mark.slow
def test_operations_with_indices_are_printed_as_upstream() -> None:
    random = Random(5)
    assert_printed_equally(joined([program(d, random)[0] for d in named_operations()]))


def test_operations_on_one_shape_are_printed_as_upstream() -> None:
    random = Random(6)
    assert_printed_equally(joined([pointwise_program(d, random)[0] for d in pointwise_operations() for _ in range(2)]))


def test_a_body_that_does_not_follow_from_the_name_is_not_lost() -> None:
    # mlir-opt prints `linalg.exp ins(..) outs(..)` here, which computes something else.
    source = """
    func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
      %0 = "linalg.exp"(%a, %b) <{operandSegmentSizes = array<i32: 1, 1>}> ({
      ^bb0(%x: f32, %y: f32):
        %1 = "math.tanh"(%x) : (f32) -> f32
        "linalg.yield"(%1) : (f32) -> ()
      }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }"""
    assert "math.tanh" in print_module(parse_module(source, Dialects()), naming=Naming.MLIR)


def test_steps_that_are_a_vector_stay_one_as_torch_mlir_writes_them() -> None:
    assert_printed_equally("""
    func.func @f(%x: tensor<1x3x8x8xf32>, %w: tensor<2x3x3x3xf32>, %o: tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32> {
      %0 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<[2, 2]> : tensor<2xi64>}
        ins(%x, %w : tensor<1x3x8x8xf32>, tensor<2x3x3x3xf32>) outs(%o : tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
      return %0 : tensor<1x2x3x3xf32>
    }""")


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ("linalg.copy ins(%x : tensor<2xf32>)", "linalg.copy: expects an output to write to"),
        ("linalg.fill outs(%x : tensor<2xf32>)", "linalg.fill: expects one input, found 0"),
        (
            "linalg.fill ins(%x, %x : tensor<2xf32>, tensor<2xf32>) outs(%x : tensor<2xf32>)",
            "linalg.fill: expects one input, found 2",
        ),
        (
            "linalg.matmul ins(%x : tensor<2xf32>) outs(%x : tensor<2xf32>)",
            "linalg.matmul: expects 2 inputs, found 1",
        ),
        (
            "linalg.matmul ins(%x, %x, %x : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) outs(%x : tensor<2xf32>)",
            "linalg.matmul: expects 2 inputs, found 3",
        ),
        (
            "linalg.contract indexing_maps = [affine_map<() -> ()>] ins(%x : tensor<2xf32>) outs(%x : tensor<2xf32>)",
            "linalg.contract: expects 2 inputs, found 1",
        ),
    ],
)
def test_operations_with_too_few_or_too_many_operands_are_refused_as_upstream(operation: str, message: str) -> None:
    source = f"func.func @f(%x: tensor<2xf32>) {{ %0 = {operation} -> tensor<2xf32> return }}"
    assert_refused_by_both(source)
    with pytest.raises(DiagnosticError) as caught:
        parse_module(source, Dialects())
    assert caught.value.diagnostics[0].message == message
