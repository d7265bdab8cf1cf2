"""Results of stablehlo operations, against numpy: those that conversions of core programs do not make."""
# ruff: noqa: E501  an operation stands on one line

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.base.diagnostics import DiagnosticError
from commonir.ods import Dialects
from commonir.passes.lower import lower
from commonir.text.parser import parse_module

from tests.dialects.programs import run

Array = NDArray[Any]

_REDUCE = """  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = stablehlo.{} %x, %y : tensor<f32>
    stablehlo.return %z : tensor<f32>
"""


class Program(NamedTuple):
    """A function, inputs for it, and what it gives."""

    text: str
    inputs: tuple[Array, ...]
    wanted: Callable[..., Any]


def _floats(*shape: int) -> Array:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


_SQUARE = _floats(2, 4, 4) @ _floats(2, 4, 4).transpose(0, 2, 1) + 6 * np.eye(4, dtype=np.float32)
_TRIANGLE = np.tril(_floats(4, 4)) + 3 * np.eye(4, dtype=np.float32)
_SPECTRUM = (_floats(3, 8) + 1j * _floats(3, 8, 1)[..., 0]).astype(np.complex64)


def _unary(op: str, source: str, target: str) -> str:
    return f"func.func @f(%a: {source}) -> {target} {{ %0 = {op} : ({source}) -> {target}\n return %0 : {target} }}"


def _scattered_back(x: Array, source: Array) -> Array:
    out = np.zeros_like(x)
    for n, block in enumerate(x.reshape(-1, 2)):
        out[2 * n + int(block.argmax())] = source[n]
    return out


def _normalized(x: Array, scale: Array, offset: Array) -> list[Array]:
    mean, variance = x.mean((0, 2)), x.var((0, 2))
    apart = (x - mean[:, None]) / np.sqrt(variance[:, None] + np.float32(0.001))
    return [apart * scale[:, None] + offset[:, None], mean, variance]


PROGRAMS = {
    "cholesky": Program(
        "func.func @f(%a: tensor<2x4x4xf32>) -> tensor<2x4x4xf32> { %0 = stablehlo.cholesky %a, lower = true : tensor<2x4x4xf32>\n return %0 : tensor<2x4x4xf32> }",
        (_SQUARE,),
        np.linalg.cholesky,
    ),
    "triangular_solve": Program(
        """func.func @f(%a: tensor<4x4xf32>, %b: tensor<4x2xf32>) -> tensor<4x2xf32> {
        %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
        return %0 : tensor<4x2xf32> }""",
        (_TRIANGLE, _floats(4, 2)),
        lambda a, b: np.linalg.solve(a.T, b),
    ),
    "triangular_solve_on_the_right": Program(
        """func.func @f(%a: tensor<4x4xf32>, %b: tensor<2x4xf32>) -> tensor<2x4xf32> {
        %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
        return %0 : tensor<2x4xf32> }""",
        (_TRIANGLE, _floats(2, 4)),
        lambda a, b: np.linalg.solve(a.T, b.T).T,
    ),
    "fft": Program(
        _unary("stablehlo.fft %a, type =  FFT, length = [3, 8]", "tensor<3x8xcomplex<f32>>", "tensor<3x8xcomplex<f32>>"),
        (_SPECTRUM,),
        np.fft.fft2,
    ),
    "rfft": Program(
        _unary("stablehlo.fft %a, type =  RFFT, length = [6]", "tensor<2x6xf32>", "tensor<2x4xcomplex<f32>>"),
        (_floats(2, 6),),
        np.fft.rfft,
    ),
    "irfft": Program(
        _unary("stablehlo.fft %a, type =  IRFFT, length = [14]", "tensor<3x8xcomplex<f32>>", "tensor<3x14xf32>"),
        (_SPECTRUM,),
        lambda a: np.fft.irfft(a, 14),
    ),
    "select_and_scatter": Program(
        """func.func @f(%a: tensor<8xf32>, %b: tensor<4xf32>) -> tensor<8xf32> {
        %i = stablehlo.constant dense<0.0> : tensor<f32>
        %0 = "stablehlo.select_and_scatter"(%a, %b, %i) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
        ^bb0(%x: tensor<f32>, %y: tensor<f32>):
          %z = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %z : tensor<i1>
        }, {
        """ + _REDUCE.format("add") + """}) : (tensor<8xf32>, tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
        return %0 : tensor<8xf32> }""",
        (_floats(8), _floats(4)),
        _scattered_back,
    ),
    "batch_norm_training": Program(
        """func.func @f(%a: tensor<4x3x5xf32>, %s: tensor<3xf32>, %o: tensor<3xf32>) -> (tensor<4x3x5xf32>, tensor<3xf32>, tensor<3xf32>) {
        %0:3 = "stablehlo.batch_norm_training"(%a, %s, %o) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<4x3x5xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<4x3x5xf32>, tensor<3xf32>, tensor<3xf32>)
        return %0#0, %0#1, %0#2 : tensor<4x3x5xf32>, tensor<3xf32>, tensor<3xf32> }""",
        (_floats(4, 3, 5), _floats(3), _floats(3, 1)[:, 0]),
        _normalized,
    ),
    "dynamic_update_slice": Program(
        """func.func @f(%a: tensor<4x5xf32>, %u: tensor<2x2xf32>, %i: tensor<i32>) -> tensor<4x5xf32> {
        %0 = stablehlo.dynamic_update_slice %a, %u, %i, %i : (tensor<4x5xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x5xf32>
        return %0 : tensor<4x5xf32> }""",
        (_floats(4, 5), _floats(2, 2), np.array(3, np.int32)),
        # Positions are moved so that the update lies inside.
        lambda a, u, i: np.vstack([a[:2], np.hstack([a[2:, :3], u])]),
    ),
    "bits_of_wider_numbers": Program(
        _unary("stablehlo.bitcast_convert %a", "tensor<3xf32>", "tensor<3x4xui8>"),
        (_floats(3),),
        lambda a: a.view(np.uint8).reshape(3, 4),
    ),
    "bits_of_narrower_numbers": Program(
        _unary("stablehlo.bitcast_convert %a", "tensor<3x2xi16>", "tensor<3xi32>"),
        (np.array([[1, 2], [-1, 7], [-5, -6]], np.int16),),
        lambda a: a.view(np.int32).reshape(3),
    ),
    "case": Program(
        """func.func @f(%i: tensor<i32>, %a: tensor<2xf32>) -> tensor<2xf32> {
        %0 = "stablehlo.case"(%i) ({
          stablehlo.return %a : tensor<2xf32>
        }, {
          %n = stablehlo.negate %a : tensor<2xf32>
          stablehlo.return %n : tensor<2xf32>
        }, {
          %d = stablehlo.add %a, %a : tensor<2xf32>
          stablehlo.return %d : tensor<2xf32>
        }) : (tensor<i32>) -> tensor<2xf32>
        return %0 : tensor<2xf32> }""",
        (np.array(-1, np.int32), _floats(2)),
        lambda i, a: 2 * a,
    ),
    "map": Program(
        """func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
        %0 = "stablehlo.map"(%a, %b) <{dimensions = array<i64: 0, 1>}> ({
        ^bb0(%x: tensor<f32>, %y: tensor<f32>):
          %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %z = stablehlo.select %c, %x, %y : tensor<i1>, tensor<f32>
          stablehlo.return %z : tensor<f32>
        }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
        return %0 : tensor<2x3xf32> }""",
        (_floats(2, 3), _floats(2, 3, 1)[..., 0]),
        np.minimum,
    ),
    "reduction_by_any_program": Program(
        """func.func @f(%a: tensor<7x2xf32>, %k: tensor<7x2xi32>) -> (tensor<2xf32>, tensor<2xi32>) {
        %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
        %j = stablehlo.constant dense<0> : tensor<i32>
        %0:2 = stablehlo.reduce(%a init: %i), (%k init: %j) across dimensions = [0] : (tensor<7x2xf32>, tensor<7x2xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
         reducer(%x: tensor<f32>, %y: tensor<f32>) (%u: tensor<i32>, %v: tensor<i32>) {
          %c = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %z = stablehlo.select %c, %x, %y : tensor<i1>, tensor<f32>
          %w = stablehlo.select %c, %u, %v : tensor<i1>, tensor<i32>
          stablehlo.return %z, %w : tensor<f32>, tensor<i32>
        }
        return %0#0, %0#1 : tensor<2xf32>, tensor<2xi32> }""",
        (_floats(7, 2), np.repeat(np.arange(7, dtype=np.int32)[:, None], 2, 1)),
        lambda a, k: [a.max(0), a.argmax(0).astype(np.int32)],
    ),
    "sort_by_two_keys": Program(
        """func.func @f(%a: tensor<6xi32>, %b: tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>) {
        %0:2 = "stablehlo.sort"(%a, %b) <{dimension = 0 : i64}> ({
        ^bb0(%x: tensor<i32>, %y: tensor<i32>, %u: tensor<i32>, %v: tensor<i32>):
          %c = stablehlo.compare LT, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
          %e = stablehlo.compare EQ, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
          %d = stablehlo.compare GT, %u, %v : (tensor<i32>, tensor<i32>) -> tensor<i1>
          %g = stablehlo.and %e, %d : tensor<i1>
          %z = stablehlo.or %c, %g : tensor<i1>
          stablehlo.return %z : tensor<i1>
        }) : (tensor<6xi32>, tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>)
        return %0#0, %0#1 : tensor<6xi32>, tensor<6xi32> }""",
        (np.array([3, 1, 3, 2, 1, 1], np.int32), np.array([1, 5, 9, 4, 7, 6], np.int32)),
        lambda a, b: [np.array([1, 1, 1, 2, 3, 3], np.int32), np.array([7, 6, 5, 4, 9, 1], np.int32)],
    ),
    "convolution_of_groups_of_batches": Program(
        """func.func @f(%a: tensor<4x1x3xf32>, %w: tensor<2x1x2xf32>) -> tensor<2x2x2xf32> {
        %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<4x1x3xf32>, tensor<2x1x2xf32>) -> tensor<2x2x2xf32>
        return %0 : tensor<2x2x2xf32> }""",
        (_floats(4, 1, 3), _floats(2, 1, 2)),
        # The first filter sees the first half of the batches, the second one the other half.
        lambda a, w: np.stack([np.stack([np.correlate(a[2 * g + b, 0], w[g, 0]) for g in range(2)]) for b in range(2)]),
    ),
    "convert_to_integers_of_four_bits": Program(
        """func.func @f(%a: tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>) {
        %0 = stablehlo.convert %a : (tensor<6xi32>) -> tensor<6xi4>
        %1 = stablehlo.convert %0 : (tensor<6xi4>) -> tensor<6xi32>
        %2 = stablehlo.convert %a : (tensor<6xi32>) -> tensor<6xui4>
        %3 = stablehlo.convert %2 : (tensor<6xui4>) -> tensor<6xi32>
        return %1, %3 : tensor<6xi32>, tensor<6xi32> }""",
        (np.array([7, 8, -8, -9, 17, -1], np.int32),),
        lambda a: [np.array([7, -8, -8, 7, 1, -1]), np.array([7, 8, 8, 7, 1, 15])],
    ),
    "case_that_only_stores": Program(
        """ml_program.global private mutable @g(dense<0.0> : tensor<f32>) : tensor<f32>
        func.func @f(%i: tensor<i32>, %a: tensor<f32>) -> tensor<f32> {
        "stablehlo.case"(%i) ({
          ml_program.global_store @g = %a : tensor<f32>
          stablehlo.return
        }, {
          %s = stablehlo.add %a, %a : tensor<f32>
          ml_program.global_store @g = %s : tensor<f32>
          stablehlo.return
        }, {
          stablehlo.return
        }) : (tensor<i32>) -> ()
        %r = ml_program.global_load @g : tensor<f32>
        return %r : tensor<f32> }""",
        (np.array(1, np.int32), np.array(5, np.float32)),
        lambda i, a: a + a,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_gives_what_numpy_gives(name: str) -> None:
    program = PROGRAMS[name]
    expected = program.wanted(*program.inputs)
    result = run(program.text, *program.inputs)
    for f, w in zip(result, expected if isinstance(expected, list) else [expected], strict=True):
        assert f.shape == np.shape(w)
        np.testing.assert_allclose(f, w, rtol=2e-4, atol=2e-5)


def test_call_of_a_library_has_no_meaning() -> None:
    source = "func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> { %0 = stablehlo.custom_call @foo(%a) : (tensor<2xf32>) -> tensor<2xf32>\n return %0 : tensor<2xf32> }"
    with pytest.raises(DiagnosticError) as caught:
        lower(parse_module(source, Dialects()))
    assert "the function 'foo' is outside of the program" in caught.value.diagnostics[0].message
