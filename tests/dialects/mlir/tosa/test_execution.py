"""Results of tosa operations, against LLVM's own lowering of them, and numbers written out where it has none."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import commonir as cir
from commonir.dialects.mlir.tosa import DIALECT
from commonir.ods import Dialects, Form, verify
from commonir.text.parser import parse_module

from tests.dialects.mlir.tosa.tosa_programs import cases
from tests.dialects.programs import Array, assert_as_compiled, run

NOT_RUN = {
    "tosa.cast_to_block_scaled": "only a draft of the specification says how scales are chosen",
    "tosa.custom": "only an implementation knows what it means",
}
"""Operations without a meaning here, and why."""

ELSEWHERE = {
    "tosa.cast_from_block_scaled", "tosa.cond_if", "tosa.const", "tosa.const_shape", "tosa.matmul_t_block_scaled",
    "tosa.variable", "tosa.variable_read", "tosa.variable_write", "tosa.while_loop", "tosa.yield",
}  # fmt: skip
"""Operations that the programs of this file run."""

SHAPES = {
    "add_shape": ([2, 3], [1, 4], [3, 7]),
    "sub_shape": ([5, 7], [2, 4], [3, 3]),
    "mul_shape": ([2, 3], [4, 1], [8, 3]),
    "div_ceil_shape": ([7, 6], [2, 3], [4, 2]),
    "div_floor_shape": ([7, 6], [2, 3], [3, 2]),
    "mod_shape": ([7, 8], [4, 5], [3, 3]),
    "max_shape": ([7, 2], [4, 5], [7, 5]),
    "min_shape": ([7, 2], [4, 5], [4, 2]),
    "exp2_shape": ([1, 3], None, [2, 8]),
    "log2_ceil_shape": ([5, 8], None, [3, 3]),
    "log2_floor_shape": ([5, 8], None, [2, 3]),
}


@pytest.mark.slow
def test_operations_give_what_llvm_makes_of_them() -> None:
    assert_as_compiled(cases())


def test_every_operation_with_a_meaning_is_run() -> None:
    run_here = {f"tosa.{c.operation}" for c in cases()} | ELSEWHERE | {f"tosa.{name}" for name in SHAPES}
    run_here |= {"tosa.concat_shape", "tosa.slice_shape", "tosa.dim"}
    assert set(DIALECT.operations) - run_here == set(NOT_RUN)
    assert all(DIALECT.operations[name][0].form is Form.STRUCTURAL for name in NOT_RUN)


def _const_shape(name: str, sizes: list[int]) -> str:
    count = len(sizes)
    attributes = f"dense<{sizes}> : tensor<{count}xindex>"
    return f"%{name} = tosa.const_shape {{values = {attributes}}} : () -> !tosa.shape<{count}>"


@pytest.mark.parametrize("operation", SHAPES)
def test_sizes_are_computed(operation: str) -> None:
    left, right, expected = SHAPES[operation]
    lines = [_const_shape("a", left)]
    operands = "%a" if right is None else "%a, %b"
    lines += [] if right is None else [_const_shape("b", right)]
    kinds = ", ".join(["!tosa.shape<2>"] * (1 if right is None else 2))
    lines.append(f"%s = tosa.{operation} {operands} : ({kinds}) -> !tosa.shape<2>")
    lines.append("%r = tosa.tile %x, %s : (tensor<1x1xf32>, !tosa.shape<2>) -> tensor<?x?xf32>")
    body = "\n".join([*lines, "return %r : tensor<?x?xf32>"])
    (result,) = run(f"func.func @main(%x: tensor<1x1xf32>) -> tensor<?x?xf32> {{\n{body}\n}}", np.ones((1, 1), "f4"))
    assert list(result.shape) == expected


def test_lists_of_sizes_are_joined_cut_and_read_from_tensors() -> None:
    (result,) = run(
        """
func.func @main(%x: tensor<2x3x4xf32>) -> tensor<?x?xf32> {
  %one = tosa.const_shape {values = dense<1> : tensor<1xindex>} : () -> !tosa.shape<1>
  %a = tosa.dim %x {axis = 2 : i32} : (tensor<2x3x4xf32>) -> !tosa.shape<1>
  %b = tosa.concat_shape %one, %a, %one : (!tosa.shape<1>, !tosa.shape<1>, !tosa.shape<1>) -> !tosa.shape<3>
  %start = "tosa.const"() <{values = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
  %size = "tosa.const"() <{values = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
  %c = tosa.slice_shape %b, %start, %size : (!tosa.shape<3>, tensor<1xi32>, tensor<1xi32>) -> !tosa.shape<1>
  %rest = tosa.const_shape {values = dense<-1> : tensor<1xindex>} : () -> !tosa.shape<1>
  %d = tosa.concat_shape %rest, %c : (!tosa.shape<1>, !tosa.shape<1>) -> !tosa.shape<2>
  %r = tosa.reshape %x, %d : (tensor<2x3x4xf32>, !tosa.shape<2>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
""",
        np.zeros((2, 3, 4), "f4"),
    )
    assert result.shape == (6, 4)


CONTROL = """
tosa.variable @sum = dense<[1, 2, 3]> : tensor<3xi32>
tosa.variable @last : tensor<?xi32>
func.func @step(%x: tensor<3xi32>) -> tensor<3xi32> {
  %s = tosa.variable_read @sum : tensor<3xi32>
  %r = tosa.add %s, %x : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  tosa.variable_write @sum, %r : tensor<3xi32>
  return %r : tensor<3xi32>
}
func.func @remember(%x: tensor<?xi32>) {
  tosa.variable_write @last, %x : tensor<?xi32>
  return
}
func.func @recall() -> tensor<?xi32> {
  %r = tosa.variable_read @last : tensor<?xi32>
  return %r : tensor<?xi32>
}
func.func @loop(%x: tensor<i32>, %y: tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) {
  %r:2 = tosa.while_loop (%a = %x, %b = %y) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) {
    %n = "tosa.const"() <{values = dense<9> : tensor<i32>}> : () -> tensor<i32>
    %c = tosa.greater %n, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tosa.yield %c : tensor<i1>
  } do {
  ^bb0(%a: tensor<i32>, %b: tensor<4xf32>):
    %two = "tosa.const"() <{values = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %n = tosa.add %a, %two : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %m = tosa.add %b, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tosa.yield %n, %m : tensor<i32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<i32>, tensor<4xf32>
}
func.func @choose(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = tosa.cond_if %c (%a = %x) : tensor<i1> (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %m = tosa.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tosa.yield %m : tensor<4xf32>
  } else {
  ^bb0(%a: tensor<4xf32>):
    tosa.yield %a : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
"""


def _called(function: str, *arrays: Array, state: cir.State | None = None) -> list[object]:
    program = parse_module(CONTROL, Dialects())
    assert verify(program, Dialects()) == []
    inputs = dict(zip([v.name for v in program.functions[function].inputs], arrays, strict=True))
    return [np.asarray(v).tolist() for v in cir.run(program, inputs, function=function, state=state).values()]


def test_variables_keep_what_is_written_from_one_run_to_the_next() -> None:
    state = cir.State()
    ones = np.ones(3, "i4")
    assert [_called("step", ones, state=state) for _ in range(2)] == [[[2, 3, 4]], [[3, 4, 5]]]
    assert _called("remember", np.array([7, 8], "i4"), state=state) == []
    assert _called("recall", state=state) == [[7, 8]]
    with pytest.raises(cir.DiagnosticError, match="before anything is stored"):
        _called("recall", state=cir.State())


def test_loops_and_choices_run_nested_programs() -> None:
    numbers = np.arange(4, dtype="f4")
    assert _called("loop", np.array(3, "i4"), numbers) == [9, [0, 8, 16, 24]]
    assert _called("loop", np.array(9, "i4"), numbers) == [9, [0, 1, 2, 3]]
    assert _called("choose", np.array(True), numbers) == [[0, 2, 4, 6]]
    assert _called("choose", np.array(False), numbers) == [[0, 1, 2, 3]]


def test_blocks_of_narrow_floats_share_scales() -> None:
    data = np.linspace(-3, 3, 2 * 64).reshape(2, 64).astype(ml_dtypes.float8_e4m3fn)
    scale = np.array([[1, 0.5], [4, 2]], ml_dtypes.float8_e8m0fnu)
    kinds = "tensor<2x64xf8E4M3FN>, tensor<2x2xf8E8M0FNU>"
    (result,) = run(
        f"""
func.func @main(%x: tensor<2x64xf8E4M3FN>, %s: tensor<2x2xf8E8M0FNU>) -> tensor<2x64xf32> {{
  %r = tosa.cast_from_block_scaled %x, %s {{block_size = BLOCK_SIZE_32}} : ({kinds}) -> tensor<2x64xf32>
  return %r : tensor<2x64xf32>
}}
""",
        data,
        scale,
    )
    expected = data.astype("f4") * scale.astype("f4").repeat(32, axis=1)
    assert np.array_equal(result, expected)
    a, s = "tensor<1x2x64xf8E4M3FN>", "tensor<1x2x2xf8E8M0FNU>"
    (result,) = run(
        f"""
func.func @main(%x: {a}, %s: {s}) -> tensor<1x2x2xf32> {{
  %r = tosa.matmul_t_block_scaled %x, %s, %x, %s {{block_size = BLOCK_SIZE_32}} :
    ({a}, {s}, {a}, {s}) -> tensor<1x2x2xf32>
  return %r : tensor<1x2x2xf32>
}}
""",
        data[None],
        scale[None],
    )
    assert np.allclose(result[0], expected @ expected.T, rtol=1e-6)
