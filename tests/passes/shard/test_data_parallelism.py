"""Data parallelism: parts of a batch give parts of results, and what mixes a batch is refused by name."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import commonir as cir
from commonir.base.codes import CANNOT_BE_DIVIDED, DIVIDED
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.dialects import core
from commonir.ir.module import Module
from commonir.ir.types import TensorType

from tests.passes.shard.programs import Array, constant, constants, divided, drawn, program, run_divided, sums

X = drawn(4, 6)
W, ROWS = drawn(6, 8, seed=1), drawn(4, 8, seed=2)
PRODUCT = [
    constant("w", W),
    constant("rows", ROWS),
    "%p = core.matmul %x, %w : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>",
    "%y = core.add %p, %rows : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>",
]


def _product() -> Module:
    return program(PRODUCT, {"x": "tensor<4x6xf32>"}, {"y": "tensor<4x8xf32>"})


def _refusal(module: Module, ranks: int = 2) -> Diagnostic:
    with pytest.raises(DiagnosticError) as error:
        cir.shard(module, ranks, "data")
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code is CANNOT_BE_DIVIDED
    return diagnostic


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_parts_of_a_batch_give_parts_of_the_result(ranks: int) -> None:
    result = run_divided(_product(), ranks, {"x": X}, "data")
    assert_allclose(result["y"], X @ W + ROWS, rtol=1e-5, atol=1e-5)


def test_inputs_and_outputs_have_a_part_of_the_batch_and_weights_are_whole() -> None:
    sharded, reported = divided(_product(), 2, "data")
    assert sums(sharded) == []
    for rank, f in enumerate(core.ranks_of(sharded)):
        assert [str(v.type) for v in (*f.inputs, *f.outputs)] == ["tensor<2x6xf32>", "tensor<2x8xf32>"]
        assert constants(f) == {"w": (6, 8), "rows": (2, 8)}
        (rows,) = [op.value.array() for op in f.walk() if isinstance(op, core.Constant) and op.y.name == "rows"]
        assert_array_equal(rows, ROWS[2 * rank : 2 * rank + 2])
    (finding,) = reported
    assert finding.code is DIVIDED
    assert finding.message == "each of 2 ranks computes a part of the batch: inputs x"


def test_outputs_of_ranks_are_the_parts_in_their_order() -> None:
    sharded, _ = divided(_product(), 2, "data")
    outputs = cir.run(sharded, {"rank0.x": X[:2], "rank1.x": X[2:]})
    whole: Array = np.concatenate([outputs["rank0.y"], outputs["rank1.y"]])
    assert_allclose(whole, X @ W + ROWS, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("line", "result", "reason"),
    [
        (
            '%y = "core.reduce_sum"(%x) <{axes = array<i64: 0>}> : (tensor<4x6xf32>) -> tensor<6xf32>',
            "tensor<6xf32>",
            "core.reduce_sum 'y' sums over the batch",
        ),
        (
            '%y = "core.reduce_max"(%x) <{axes = array<i64: 0>}> : (tensor<4x6xf32>) -> tensor<6xf32>',
            "tensor<6xf32>",
            "core.reduce_max 'y' needs the whole of axis 0",
        ),
        (
            '%y = "core.softmax"(%x) <{axis = 0 : i64}> : (tensor<4x6xf32>) -> tensor<4x6xf32>',
            "tensor<4x6xf32>",
            "core.softmax 'y' needs the whole of axis 0",
        ),
        (
            '%y = "core.cumsum"(%x) <{axis = 0 : i64}> : (tensor<4x6xf32>) -> tensor<4x6xf32>',
            "tensor<4x6xf32>",
            "core.cumsum 'y' needs the whole of axis 0",
        ),
        (
            '%y = "core.reshape"(%x) <{shape = array<i64: 3, 8>}> : (tensor<4x6xf32>) -> tensor<3x8xf32>',
            "tensor<3x8xf32>",
            "core.reshape 'y' cannot be divided in 2 parts",
        ),
        (
            '%y = "core.matmul"(%x, %x) <{transpose_b = true}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x4xf32>',
            "tensor<4x4xf32>",
            "core.matmul 'y' would be divided in two ways",
        ),
    ],
)
def test_what_mixes_the_batch_is_refused_by_name(line: str, result: str, reason: str) -> None:
    diagnostic = _refusal(program([line], {"x": "tensor<4x6xf32>"}, {"y": result}))
    assert diagnostic.message == f"the batch cannot be divided: {reason}"
    assert diagnostic.where == "main.operations[0] 'y'"


def test_all_operations_that_mix_the_batch_are_reported() -> None:
    lines = [
        '%y = "core.softmax"(%x) <{axis = 0 : i64}> : (tensor<4x6xf32>) -> tensor<4x6xf32>',
        '%z = "core.reduce_sum"(%x) <{axes = array<i64: 0>}> : (tensor<4x6xf32>) -> tensor<6xf32>',
    ]
    module = program(lines, {"x": "tensor<4x6xf32>"}, {"y": "tensor<4x6xf32>", "z": "tensor<6xf32>"})
    with pytest.raises(DiagnosticError) as error:
        cir.shard(module, 2, "data")
    assert sorted([d.where for d in error.value.diagnostics]) == ["main.operations[0] 'y'", "main.operations[1] 'z'"]


def test_batch_that_does_not_divide_is_refused() -> None:
    assert _refusal(_product(), 3).message == "a batch of 4 ('x') does not divide by 3 ranks"


def test_batch_of_unknown_size_is_refused_until_it_is_given_one() -> None:
    lines = ["%y = core.relu %x : tensor<?x6xf32>"]
    module = program(lines, {"x": "tensor<?x6xf32>"}, {"y": "tensor<?x6xf32>"})
    diagnostic = _refusal(module)
    assert "must be known to be divided" in diagnostic.message
    assert_array_equal(run_divided(module, 2, {"x": X}, "data")["y"], np.maximum(X, 0))


def test_program_without_a_batch_is_refused() -> None:
    module = program(["%y = core.relu %x : tensor<f32>"], {"x": "tensor<f32>"}, {"y": "tensor<f32>"})
    assert _refusal(module).message == "there is no batch to divide: no input has axes"


def test_input_that_is_as_long_as_the_batch_by_chance_stays_whole() -> None:
    lines = ["%y = core.add %x, %row : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>"]
    module = program(lines, {"x": "tensor<4x4xf32>", "row": "tensor<4xf32>"}, {"y": "tensor<4x4xf32>"})
    sharded, _ = divided(module, 2, "data")
    f = core.ranks_of(sharded)[0]
    assert [v.type.shape for v in f.inputs if isinstance(v.type, TensorType)] == [(2, 4), (4,)]
    x, row = drawn(4, 4), drawn(4)
    assert_array_equal(run_divided(module, 2, {"x": x, "row": row}, "data")["y"], x + row)


def test_output_that_needs_nothing_of_the_batch_stands_on_every_rank() -> None:
    lines = [*PRODUCT, "%z = core.relu %rows : tensor<4x8xf32>"]
    module = program(lines, {"x": "tensor<4x6xf32>"}, {"y": "tensor<4x8xf32>", "z": "tensor<4x8xf32>"})
    result = run_divided(module, 2, {"x": X}, "data")
    assert_allclose(result["y"], X @ W + ROWS, rtol=1e-5, atol=1e-5)
    assert_array_equal(result["z"], np.maximum(ROWS, 0))
