"""Transformers of torch as ARK files of several ranks, in one process and over MPI, compared with onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import commonir as cir
from commonir.base.diagnostics import Diagnostics
from commonir.dialects import core

from tests.oracles import oracle
from tests.passes.shard.programs import Array

oracle("torch")
oracle("transformers")
oracle("onnxruntime")

from tests.coreml_models.running import run_onnx  # noqa: E402
from tests.mpiexec import run as mpi_run  # noqa: E402  needs what is asked for above
from tests.onnx_zoo.export import Exporter  # noqa: E402
from tests.passes.shard.networks import NAMES, exported  # noqa: E402

if TYPE_CHECKING:
    from tests.passes.shard.networks import Exported

RANKS = 4
TOLERANCE = 1e-3


@pytest.fixture(scope="module", params=NAMES)
def network(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    return exported(request.param, Exporter.SCRIPT, tmp_path_factory.mktemp("networks"))


def _converted(network: Exported, folder: Path, parallel: str) -> Path:
    """The file of the first of the ranks that a network is divided among."""
    program = cir.convert(cir.load(network.path), "ark", ranks=RANKS, parallel=parallel, findings=Diagnostics())
    cir.save(program, folder / "net.ark.json")
    result = sorted(p.name for p in folder.iterdir() if p.suffix == ".json")
    assert result == [f"net.rank{rank}.ark.json" for rank in range(RANKS)]
    return folder / result[0]


@pytest.mark.parametrize("parallel", ["tensor", "data"])
def test_files_of_ranks_compute_what_onnxruntime_does(network: Exported, tmp_path: Path, parallel: str) -> None:
    program = cir.load(_converted(network, tmp_path, parallel))
    assert [d for d in cir.verify(program) if d.is_error] == []
    ids = network.inputs["input_ids"].astype(np.int32)
    parts = np.split(ids, RANKS) if parallel == "data" else [ids] * RANKS
    outputs = cir.run(program, {f"rank{n}.input_ids": part for n, part in enumerate(parts)})
    expected: Array = run_onnx(network.path, network.inputs)["logits"]
    if parallel == "data":
        whole: Array = np.concatenate([outputs[f"rank{n}.logits"] for n in range(RANKS)])
        assert_allclose(whole, expected, atol=TOLERANCE, rtol=0)
    else:
        for n in range(RANKS):
            logits: Array = outputs[f"rank{n}.logits"]
            assert_allclose(logits, expected, atol=TOLERANCE, rtol=0)


def test_file_of_a_rank_has_its_part_of_the_weights(network: Exported, tmp_path: Path) -> None:
    program = cir.load(_converted(network, tmp_path, "tensor"))
    alone = cir.lower(cir.convert(cir.load(network.path), "ark", findings=Diagnostics())).main
    stored = [
        sum(op.value.size_bytes for op in f.walk() if isinstance(op, core.Constant))
        for f in (alone, *core.ranks_of(cir.lower(program)))
    ]
    assert max(stored[1:]) < 0.75 * stored[0]


def test_files_of_ranks_run_over_mpi_with_the_bits_of_one_process(network: Exported, tmp_path: Path) -> None:
    path = _converted(network, tmp_path, "tensor")
    ids = network.inputs["input_ids"].astype(np.int32)
    np.save(tmp_path / "ids.npy", ids)
    saved = tmp_path / "out.npz"
    inputs = f"input_ids=@{tmp_path / 'ids.npy'}"
    done = mpi_run(RANKS, ["-m", "commonir", "run", str(path), inputs, "--engine", "mpi", "--save", str(saved)])
    assert done.status == 0, done.err
    expected: Array = run_onnx(network.path, network.inputs)["logits"]
    in_one_process = cir.run(cir.load(path), {"input_ids": ids})
    with np.load(saved) as stored:
        assert set(stored) == set(in_one_process)
        for name, array in in_one_process.items():
            assert_array_equal(stored[name], array)
        for n in range(RANKS):
            assert_allclose(stored[f"rank{n}.logits"], expected, atol=TOLERANCE, rtol=0)


def test_program_is_divided_and_run_over_mpi_by_one_command(network: Exported, tmp_path: Path) -> None:
    np.save(tmp_path / "ids.npy", network.inputs["input_ids"])
    saved = tmp_path / "out.npz"
    inputs = f"input_ids=@{tmp_path / 'ids.npy'}"
    ranks = ["--ranks", str(RANKS), "--engine", "mpi"]
    done = mpi_run(RANKS, ["-m", "commonir", "run", str(network.path), inputs, *ranks, "--save", str(saved)])
    assert done.status == 0, done.err
    with np.load(saved) as stored:
        assert set(stored) == {"logits"}
        assert_allclose(stored["logits"], network.expected["logits"], atol=TOLERANCE, rtol=0)
