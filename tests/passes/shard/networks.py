"""Small transformers of torch as ONNX files of one size, and what torch gives for them."""

# Where torch is not installed, its classes are unknown.
# pyright: reportUntypedBaseClass=none

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import torch
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, PreTrainedModel

from tests.onnx_zoo.export import Exporter, export, run_torch
from tests.onnx_zoo.networks import Input, Network, traced_mask
from tests.passes.shard.programs import Array
from tests.zoo.recipe_parts import finished

VOCABULARY = 96
LAYERS = 2
HEADS = 4


class Tokens(nn.Module):
    """Token numbers [n, s] to logits [n, s, vocabulary]."""

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        return self.model(input_ids=input_ids, attention_mask=traced_mask(input_ids), use_cache=False).logits


def _llama(key_heads: int) -> nn.Module:
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=key_heads,
        max_position_embeddings=32,
    )
    return Tokens(LlamaForCausalLM(config))


def _gpt2() -> nn.Module:
    return Tokens(
        GPT2LMHeadModel(GPT2Config(vocab_size=VOCABULARY, n_positions=32, n_embd=32, n_layer=LAYERS, n_head=HEADS))
    )


_MODULES: Mapping[str, Callable[[], nn.Module]] = {
    "gpt2": _gpt2,
    "llama": lambda: _llama(HEADS),
    "llama_of_two_key_heads": lambda: _llama(2),
}
NAMES = tuple(_MODULES)


class Exported(NamedTuple):
    """A network as a file, an input, and what torch gives for it."""

    path: Path
    inputs: Mapping[str, Array]
    expected: Mapping[str, Array]


def exported(name: str, exporter: Exporter, folder: Path) -> Exported:
    """A network written by an exporter of torch, with weights drawn from its name."""
    network = Network(
        name,
        lambda: finished(_MODULES[name](), name),
        (Input("input_ids", (4, 8), below=VOCABULARY),),
        ("logits",),
        ({}, {}),
        {},
    )
    module = network.module()
    inputs = network.cases()[0]
    path = folder / f"{name}.onnx"
    export(network, module, exporter, path)
    return Exported(path, inputs, run_torch(module, inputs, network.outputs))
