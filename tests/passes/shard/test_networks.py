"""GPT-2 and Llama, exported by torch, on 1, 2 and 4 ranks: torch and onnxruntime agree with what comes out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.testing import assert_allclose

import commonir as cir
from commonir.base.diagnostics import Diagnostics
from commonir.dialects import core

from tests.oracles import oracle
from tests.passes.shard.programs import Array, constants, maker, sums

oracle("torch")
oracle("transformers")
oracle("onnxruntime")

from tests.coreml_models.running import run_onnx  # noqa: E402  needs what is asked for above
from tests.onnx_zoo.export import Exporter  # noqa: E402
from tests.passes.shard.networks import HEADS, LAYERS, NAMES, exported  # noqa: E402

if TYPE_CHECKING:
    from tests.passes.shard.networks import Exported

Networks = Callable[[str, Exporter], "Exported"]


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> Networks:
    result: dict[tuple[str, Exporter], Exported] = {}

    def network(name: str, exporter: Exporter) -> Exported:
        key = (name, exporter)
        if key not in result:
            result[key] = exported(name, exporter, tmp_path_factory.mktemp(f"{name}_{exporter.value}"))
        return result[key]

    return network


@pytest.mark.parametrize("parallel", ["tensor", "data"])
@pytest.mark.parametrize("exporter", list(Exporter))
@pytest.mark.parametrize("name", NAMES)
def test_ranks_compute_what_torch_and_onnxruntime_do(
    networks: Networks, name: str, exporter: Exporter, parallel: str
) -> None:
    network = networks(name, exporter)
    program = cir.load(network.path)
    theirs = run_onnx(network.path, network.inputs)
    for ranks in (1, 2, 4):
        outputs = cir.run(program, network.inputs, ranks=ranks, parallel=parallel)
        assert outputs.keys() == network.expected.keys()
        logits: Array = outputs["logits"]
        assert_allclose(logits, network.expected["logits"], rtol=1e-4, atol=1e-4)
        assert_allclose(logits, theirs["logits"], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("exporter", list(Exporter))
@pytest.mark.parametrize("name", NAMES)
def test_layer_of_a_transformer_has_two_sums_over_the_ranks(
    networks: Networks, name: str, exporter: Exporter, ranks: int
) -> None:
    sharded = cir.shard(cir.load(networks(name, exporter).path), ranks)
    result = sums(sharded)
    assert len(result) == 2 * LAYERS
    for op in result:
        product = maker(op.x)
        while isinstance(product, core.Reshape):
            product = maker(product.x)
        assert isinstance(product, core.MatMul)


@pytest.mark.parametrize("exporter", list(Exporter))
@pytest.mark.parametrize("name", NAMES)
def test_all_weights_of_layers_are_divided_among_two(networks: Networks, name: str, exporter: Exporter) -> None:
    program = cir.load(networks(name, exporter).path)
    reported = Diagnostics()
    sharded = cir.shard(program, 2, findings=reported)
    (finding,) = reported
    whole = [note for note in finding.notes if ": whole, " in note]
    # What follows the last layer has no partner.
    assert len(whole) == 1
    assert "tensor<32x96xf32>" in whole[0]
    stored = [sum(np.prod(shape) for shape in constants(f).values()) for f in core.ranks_of(sharded)]
    assert len(set(stored)) == 1


def test_fewer_key_heads_than_ranks_leave_their_weights_whole(networks: Networks) -> None:
    program = cir.load(networks("llama_of_two_key_heads", Exporter.SCRIPT).path)
    reported = Diagnostics()
    cir.shard(program, HEADS, findings=reported)
    (finding,) = reported
    whole = [note for note in finding.notes if "tensor<32x16xf32>: whole" in note]
    assert len(whole) == 2 * LAYERS
    assert all("core.reshape" in note and "cannot be divided in 4 parts" in note for note in whole)
