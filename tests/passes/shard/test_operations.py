"""Tests that operations are divisible as stated: each operation of the core on parts gives the parts of what an
outside oracle gives for the whole, or summands of it.
"""

from __future__ import annotations

import numpy as np
import pytest

import commonir as cir
from commonir.base.arrays import name_of
from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.module import Module
from commonir.ir.operation import Block, Region
from commonir.ir.types import ELEMENT_TYPES, FunctionType, TensorType
from commonir.passes.shard.elementary import Elementary
from commonir.passes.shard.indices import Indices
from commonir.passes.shard.layout import Split
from commonir.passes.shard.plan import Conflict, Plan, Seed, Trial
from commonir.passes.shard.writing import RankWriter, units

from tests.dialects.core.contraction_cases import CONTRACTION
from tests.dialects.core.drawing import Array, Case, Draw
from tests.dialects.core.elementwise_cases import ELEMENTWISE
from tests.dialects.core.indexing_cases import INDEXING
from tests.dialects.core.movement_cases import MOVEMENT
from tests.dialects.core.running import built, definition, flat_arrays, grouped, type_of

MAKERS = {**ELEMENTWISE, **MOVEMENT, **INDEXING, **CONTRACTION}
SAMPLES = 12

ALWAYS_DIVISIBLE = (
    "core.add", "core.sqrt", "core.select", "core.cast", "core.gelu", "core.silu", "core.softmax", "core.matmul",
    "core.einsum", "core.layer_norm", "core.rms_norm", "core.reduce_sum", "core.reduce_max", "core.transpose",
    "core.reshape", "core.concat", "core.split", "core.gather", "core.broadcast_to", "core.conv",
    "core.attention", "core.batch_norm", "core.linear", "core.cumsum",
)  # fmt: skip
SUMMED = ("core.matmul", "core.einsum", "core.reduce_sum", "core.conv")


def _ranks(size: int) -> int:
    """Among how many ranks an axis is divided here; 0 for none."""
    return 0 if size == 0 else next((n for n in (2, 3) if size % n == 0), 0)


def _module(name: str, case: Case) -> Module:
    arrays = flat_arrays(case.operands)
    block = Block([type_of(x) for x in arrays], [f"x{n}" for n in range(len(arrays))])
    op = block.append(built(definition(name), grouped(block.arguments, case.operands), case.attributes))
    block.append(ml_program.Return(op.results))
    kinds = FunctionType(tuple([a.type for a in block.arguments]), tuple([r.type for r in op.results]))
    names = tuple([f"y{n}" for n in range(len(op.results))])
    module = Module()
    module.body.append(ml_program.Func("main", kinds, Region([block]), names))
    return module


def _checked(module: Module, plan: Plan, case: Case, where: str) -> None:
    """Runs what is divided, and compares it with what the oracle gave for the whole."""
    main = module.main
    assert isinstance(main, ml_program.Func)
    todo = units(plan, main)
    result = Module()
    for rank in range(plan.ranks):
        result.body.append(RankWriter(plan, main, rank).function(todo))
    assert [d for d in cir.verify(result) if d.is_error] == [], where
    inputs: dict[str, Array] = {}
    for rank, f in enumerate(core.ranks_of(result)):
        for v, x in zip(f.inputs, flat_arrays(case.operands), strict=True):
            assert isinstance(v.type, TensorType)
            inputs[f"rank{rank}.{v.name}"] = _part(x, v.type.static_shape, rank)
    outputs = cir.run(result, inputs, engine="reference")
    for n, expected in enumerate(case.expected):
        parts = [outputs[f"rank{rank}.y{n}"] for rank in range(plan.ranks)]
        less = [a for a, (p, q) in enumerate(zip(parts[0].shape, expected.shape, strict=True)) if p != q]
        whole = np.concatenate(parts, less[0]) if less else parts[0]
        wide, truth = whole.astype(np.float64), expected.astype(np.float64)
        assert wide.shape == truth.shape, where
        # Summands are rounded before they are added.
        allowed = max(4 * case.tolerance, 4 * _step(expected)) * np.maximum(np.abs(truth), 1)
        with np.errstate(invalid="ignore"):
            same = (wide == truth) | (np.isnan(wide) & np.isnan(truth)) | (np.abs(wide - truth) <= allowed)
        assert np.all(same), f"{where}: {whole} instead of {expected}"


def _step(array: Array) -> float:
    kind = ELEMENT_TYPES[name_of(array.dtype)]
    return {"f16": 2e-3, "bf16": 2e-2, "f32": 2e-6}.get(kind.name, 0.0)


def _part(x: Array, shape: tuple[int, ...], rank: int) -> Array:
    cuts = [slice(None) if p == q else slice(rank * q, (rank + 1) * q) for p, q in zip(x.shape, shape, strict=True)]
    return x[tuple(cuts)]


def _cases(name: str) -> list[Case]:
    result = [MAKERS[name](Draw(name, number)) for number in range(SAMPLES)]
    return [case for case in result if flat_arrays(case.operands) and all(x.dtype.kind != "c" for x in case.expected)]


@pytest.mark.fast_every(4)
@pytest.mark.slow_cases("core.attention", "core.[c-m]*")
@pytest.mark.parametrize("name", sorted(MAKERS))
def test_operation_on_parts_of_operands_gives_parts_of_results(name: str) -> None:
    divisions = 0
    for case in _cases(name):
        module = _module(name, case)
        program = Elementary(module.main)
        for v in program.inputs:
            assert isinstance(v.type, TensorType)
            for axis, size in enumerate(v.type.static_shape):
                if not _ranks(size):
                    continue
                plan = Plan(program, _ranks(size))
                trial = Trial(plan, Seed(values=((v, Split(axis, size)),)), batch=True)
                try:
                    trial.run()
                except Conflict:
                    continue
                plan.adopt(trial)
                _checked(module, plan, case, f"{case.attributes} of {v.name} along {axis}")
                divisions += 1
    assert divisions or name not in ALWAYS_DIVISIBLE


@pytest.mark.fast_every(5)
@pytest.mark.parametrize("name", sorted(MAKERS))
def test_operation_on_parts_of_a_summed_axis_gives_summands(name: str) -> None:
    divisions = 0
    for case in _cases(name):
        module = _module(name, case)
        program = Elementary(module.main)
        for node in program.nodes:
            for run in Indices(2).runs(node.kernel) if node.kernel is not None else ():
                size = run.places[0].size
                if not run.is_summed or not _ranks(size):
                    continue
                plan = Plan(program, _ranks(size))
                trial = Trial(plan, Seed(node=node, run=run, period=size))
                try:
                    trial.run()
                except Conflict:
                    continue
                plan.adopt(trial)
                _checked(module, plan, case, f"{case.attributes} summed over {run.name}")
                divisions += 1
    assert divisions or name not in SUMMED
