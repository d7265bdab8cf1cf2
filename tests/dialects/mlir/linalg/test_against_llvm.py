"""All operations of linalg on random tensors, against LLVM's own lowering to loops."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from commonir.dialects.mlir.linalg import DIALECT

from tests.dialects.mlir.linalg.named_programs import (
    named_operations,
    pointwise_operations,
    pointwise_program,
    program,
)
from tests.dialects.mlir.linalg.relayout_programs import softmax_cases, tile_cases, winograd_cases
from tests.dialects.programs import Array, Case, arrays_of, assert_as_compiled

LEFT_OUT = {"linalg.index", "linalg.yield"}
"""Parts of other operations."""

SAMPLES = 2


def named_cases() -> list[Case]:
    """Two draws of each operation whose maps follow from its name, and of each on tensors of one shape."""
    result: list[Case] = []
    for sample in range(SAMPLES):
        for operation in named_operations():
            random = Random(f"{operation.name}{sample}")
            text, types = program(operation, random)
            result.append(_case(operation.name, sample, text, arrays_of(types, random)))
        for operation in pointwise_operations():
            random = Random(f"{operation.name}{sample}")
            text, types = pointwise_program(operation, random)
            # Logarithms, roots and quotients are of positive numbers here.
            arrays = [np.abs(a) + 1 if a.dtype.kind in "fi" else a for a in arrays_of(types, random)]
            result.append(_case(operation.name, sample, text, arrays))
    return result


def _case(operation: str, sample: int, text: str, arrays: list[Array]) -> Case:
    name = f"{operation.replace('.', '_')}_{sample}"
    return Case(name, operation, text.replace("@main", f"@{name}"), tuple(arrays), 2e-5)


def written(name: str, operation: str, inputs: str, result: str, body: str) -> Case:
    """A case of a program written out."""
    kinds = [text.partition(": ")[2] for text in inputs.split(", %")]
    text = f"func.func @{name}({inputs}) -> {result} {{\n{body}\n  return %r : {result}\n}}"
    return Case(name, operation, text, tuple(arrays_of(kinds, Random(name))), 2e-5)


F = "tensor<3x4xf32>"
W, R, RT = "tensor<5x4xf32>", "tensor<3x5xf32>", "tensor<5x3xf32>"
A, B = "tensor<2x3x4xf32>", "tensor<2x4x5xf32>"
C = "tensor<2x3x5xf32>"


def structured_cases() -> list[Case]:
    """Operations with a region or with maps of their own."""
    return [
        written("generic", "linalg.generic", f"%x: {F}, %y: tensor<4xi32>, %o: tensor<3xf32>, %p: {F}",
                "tensor<3xf32>", f"""
  %both:2 = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
      affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "reduction"]}}
      ins(%x, %y : {F}, tensor<4xi32>) outs(%o, %p : tensor<3xf32>, {F}) {{
    ^bb0(%a: f32, %b: i32, %c: f32, %d: f32):
      %i = linalg.index 0 : index
      %k = arith.index_cast %i : index to i32
      %s = arith.addi %b, %k : i32
      %t = arith.sitofp %s : i32 to f32
      %u = arith.mulf %a, %t : f32
      %v = arith.addf %c, %u : f32
      linalg.yield %v, %u : f32, f32
  }} -> (tensor<3xf32>, {F})
  %r = linalg.reduce ins(%both#1 : {F}) outs(%both#0 : tensor<3xf32>) dimensions = [1]
    (%in: f32, %init: f32) {{
      %m = arith.maximumf %in, %init : f32
      linalg.yield %m : f32
    }}"""),
        written("generic_dynamic", "linalg.generic", "%x: tensor<?x4xi32>, %o: tensor<4x?xi32>", "tensor<4x?xi32>", """
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x4xi32>) outs(%o : tensor<4x?xi32>) {
    ^bb0(%a: i32, %b: i32):
      %s = arith.muli %a, %b : i32
      linalg.yield %s : i32
  } -> tensor<4x?xi32>"""),
        written("map", "linalg.map", f"%x: {F}, %y: {F}, %o: {F}", F, f"""
  %r = linalg.map {{ arith.subf }} ins(%x, %y : {F}, {F}) outs(%o : {F})"""),
        written("reduce", "linalg.reduce", "%x: tensor<3x4x2xi32>, %o: tensor<4xi32>", "tensor<4xi32>", """
  %r = linalg.reduce { arith.addi } ins(%x : tensor<3x4x2xi32>) outs(%o : tensor<4xi32>) dimensions = [0, 2]"""),
        written("transpose", "linalg.transpose", "%x: tensor<2x3x4xf32>, %o: tensor<4x2x3xf32>",
                "tensor<4x2x3xf32>", """
  %r = linalg.transpose ins(%x : tensor<2x3x4xf32>) outs(%o : tensor<4x2x3xf32>) permutation = [2, 0, 1]"""),
        written("broadcast", "linalg.broadcast", "%x: tensor<3xf32>, %o: tensor<2x3x4xf32>", "tensor<2x3x4xf32>", """
  %r = linalg.broadcast ins(%x : tensor<3xf32>) outs(%o : tensor<2x3x4xf32>) dimensions = [0, 2]"""),
        written("elementwise", "linalg.elementwise", f"%x: {F}, %y: {F}, %o: {F}", F, f"""
  %r = linalg.elementwise kind=#linalg.elementwise_kind<mul> ins(%x, %y : {F}, {F}) outs(%o : {F}) -> {F}"""),
        written("contract", "linalg.contract", f"%x: {F}, %y: {W}, %o: {RT}", RT, f"""
  %r = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
      affine_map<(m, n, k) -> (n, m)>] ins(%x, %y : {F}, {W}) outs(%o : {RT}) -> {RT}"""),
        written("matmul", "linalg.matmul", f"%x: {F}, %y: {W}, %o: {R}", R, f"""
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
      affine_map<(m, n, k) -> (m, n)>] ins(%x, %y : {F}, {W}) outs(%o : {R}) -> {R}"""),
        written("matmul_int", "linalg.matmul", "%x: tensor<3x?xi8>, %y: tensor<?x5xi8>, %o: tensor<3x5xi32>",
                "tensor<3x5xi32>", """
  %r = linalg.matmul ins(%x, %y : tensor<3x?xi8>, tensor<?x5xi8>) outs(%o : tensor<3x5xi32>) -> tensor<3x5xi32>"""),
        written("batch_matmul", "linalg.batch_matmul", f"%x: {A}, %y: {B}, %o: {C}", C, f"""
  %r = linalg.batch_matmul ins(%x, %y : {A}, {B}) outs(%o : {C}) -> {C}"""),
        written("batch_reduce_matmul", "linalg.batch_reduce_matmul", f"%x: {A}, %y: {B}, %o: {R}", R, f"""
  %r = linalg.batch_reduce_matmul ins(%x, %y : {A}, {B}) outs(%o : {R}) -> {R}"""),
    ]  # fmt: skip


@pytest.mark.slow
def test_operations_give_what_llvm_makes_of_them() -> None:
    assert_as_compiled([*named_cases(), *structured_cases()])


def test_every_operation_is_run() -> None:
    cases = [*named_cases(), *structured_cases(), *softmax_cases(), *tile_cases(), *winograd_cases()]
    run_here = {f"linalg.{c.operation.removeprefix('linalg.')}" for c in cases}
    assert set(DIALECT.operations) - run_here == LEFT_OUT
