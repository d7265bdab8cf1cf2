"""The networks: modules of torch and transformers with inputs whose sizes are symbols."""

# Where torch is not installed, its classes are unknown.
# pyright: reportUntypedBaseClass=none

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from torch import nn
from transformers import (
    GPT2LMHeadModel,
    LlamaForCausalLM,
    PreTrainedModel,
    T5ForConditionalGeneration,
    WhisperConfig,
    WhisperForConditionalGeneration,
)

from tests.zoo import convolutional, language_models, sequential, transformers_models
from tests.zoo.network import Size
from tests.zoo.recipe_parts import finished, random_generator

Array: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.generic]]
Sizes: TypeAlias = Mapping[str, int]


@dataclass(frozen=True)
class Input:
    """An input: sizes by number or by name, and what its elements are."""

    name: str
    dims: tuple[int | str, ...]
    below: int | None = None
    """Integers from 1 up to this; None for normal ones."""
    is_mask: bool = False
    """Ones, and zeros in the last quarter of the last axis."""

    def draw(self, generator: np.random.Generator, sizes: Sizes) -> Array:
        """Random elements at some sizes."""
        shape = tuple(sizes[dim] if isinstance(dim, str) else dim for dim in self.dims)
        if self.is_mask:
            mask = np.ones(shape, np.int64)
            mask[..., shape[-1] - shape[-1] // 4 :] = 0
            return mask
        if self.below is not None:
            return generator.integers(1, self.below, shape, dtype=np.int64)
        return generator.standard_normal(shape, dtype=np.float32)

    @property
    def dynamic(self) -> dict[int, str]:
        """The named sizes by axis."""
        return {axis: dim for axis, dim in enumerate(self.dims) if isinstance(dim, str)}


@dataclass(frozen=True)
class Network:
    """A network with the sizes it is exported at, which are also the first to run it at, and others."""

    name: str
    module: Callable[[], nn.Module]
    inputs: tuple[Input, ...]
    outputs: tuple[str, ...]
    sizes: tuple[Sizes, Sizes]
    ranges: Mapping[str, tuple[int, int]]
    """Bounds of each size, for systems that want to know them."""
    multiples: Mapping[str, int] | None = None
    """Sizes that must be multiples of a number."""

    def cases(self) -> list[dict[str, Array]]:
        """Inputs at both sizes."""
        generator = random_generator(self.name)
        return [{i.name: i.draw(generator, sizes) for i in self.inputs} for sizes in self.sizes]


def traced_mask(tokens: torch.Tensor, attention_mask: torch.Tensor | None = None) -> torch.Tensor | None:
    """Return the causal mask [n, 1, s, s] where a network is traced, and elsewhere that of the text alone.

    Transformers makes the causal mask itself, by code that cannot be traced.
    """
    if not vars(torch.jit)["is_tracing"]():  # documented, but not exported
        return attention_mask
    positions = torch.arange(tokens.shape[1])
    visible = (positions[None, :] <= positions[:, None])[None, None]
    if attention_mask is not None:
        visible = visible & (attention_mask[:, None, None, :] != 0)
    return torch.where(visible, 0.0, language_models.LOWEST)


class Logits(nn.Module):
    """Token numbers and an attention mask, both [n, s], to logits [n, s, vocabulary]."""

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        mask = traced_mask(input_ids, attention_mask)
        return self.model(input_ids=input_ids, attention_mask=mask, use_cache=False).logits


class Translator(nn.Module):
    """Token numbers and mask [n, s] of a text, and token numbers [n, t], to logits [n, t, vocabulary]."""

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, decoder_input_ids: torch.Tensor
    ) -> torch.Tensor:
        return self.model(
            input_ids=input_ids, attention_mask=attention_mask, decoder_input_ids=decoder_input_ids, use_cache=False
        ).logits


class Transcriber(nn.Module):
    """Log-mel spectrograms [n, mels, 2 s] and token numbers [n, t] to logits [n, t, vocabulary]."""

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_features: torch.Tensor, decoder_input_ids: torch.Tensor) -> torch.Tensor:
        mask = traced_mask(decoder_input_ids)
        return self.model(
            input_features=input_features,
            decoder_input_ids=decoder_input_ids,
            decoder_attention_mask=mask,
            use_cache=False,
        ).logits


def whisper_config() -> WhisperConfig:
    """Return the shape of two narrow layers each way, on a second of sound."""
    return WhisperConfig(
        vocab_size=64,
        num_mel_bins=16,
        encoder_layers=2,
        encoder_attention_heads=4,
        decoder_layers=2,
        decoder_attention_heads=4,
        d_model=32,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_source_positions=50,
        max_target_positions=32,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
    )


def _images(name: str, module: Callable[[], nn.Module], side: int, output: str = "logits") -> Network:
    return Network(
        name,
        lambda: finished(module(), name, (16, 3, side, side)),
        (Input("image", ("batch", 3, side, side)),),
        (output,),
        ({"batch": 2}, {"batch": 3}),
        {"batch": (1, 8)},
    )


def _tokens(name: str, module: Callable[[], nn.Module], vocabulary: int) -> Network:
    return Network(
        name,
        lambda: finished(module(), name),
        (
            Input("input_ids", ("batch", "sequence"), below=vocabulary),
            Input("attention_mask", ("batch", "sequence"), is_mask=True),
        ),
        ("logits",),
        ({"batch": 2, "sequence": 8}, {"batch": 3, "sequence": 13}),
        {"batch": (1, 8), "sequence": (2, 32)},
    )


def _bert() -> Network:
    config = transformers_models.bert_config(Size.SMALL)
    plain = _tokens("bert", lambda: transformers_models.BertEncoder(config), config.vocab_size)
    types = Input("token_type_ids", ("batch", "sequence"), below=2)
    outputs = ("last_hidden_state", "pooler_output")
    return Network(plain.name, plain.module, (*plain.inputs, types), outputs, plain.sizes, plain.ranges)


def _unet() -> Network:
    return Network(
        "unet",
        lambda: finished(convolutional.UNet(base=8, depth=2, classes=2, is_bilinear=False), "unet", (16, 3, 24, 24)),
        (Input("image", ("batch", 3, "height", "width")),),
        ("scores",),
        ({"batch": 2, "height": 24, "width": 16}, {"batch": 1, "height": 16, "width": 32}),
        {"batch": (1, 4), "height": (8, 64), "width": (8, 64)},
        {"height": 4, "width": 4},
    )


def _whisper() -> Network:
    config = whisper_config()
    return Network(
        "whisper",
        lambda: finished(Transcriber(WhisperForConditionalGeneration(config)), "whisper"),
        (
            Input("input_features", ("batch", config.num_mel_bins, 2 * config.max_source_positions)),
            Input("decoder_input_ids", ("batch", "sequence"), below=config.vocab_size),
        ),
        ("logits",),
        ({"batch": 2, "sequence": 6}, {"batch": 3, "sequence": 9}),
        {"batch": (1, 8), "sequence": (2, 32)},
    )


def _lstm() -> Network:
    layer = {"num_layers": 2, "bidirectional": True, "batch_first": True}
    return Network(
        "lstm",
        lambda: finished(sequential.Tagger(nn.LSTM(8, 12, **layer), classes=5), "lstm"),
        (Input("sequence", ("batch", "steps", 8)),),
        ("scores", "hidden"),
        ({"batch": 2, "steps": 6}, {"batch": 3, "steps": 9}),
        {"batch": (1, 8), "steps": (2, 32)},
    )


def _t5() -> Network:
    config = language_models.t5_config(Size.SMALL)
    return Network(
        "t5",
        lambda: finished(Translator(T5ForConditionalGeneration(config)), "t5"),
        (
            Input("input_ids", ("batch", "source"), below=config.vocab_size),
            Input("attention_mask", ("batch", "source"), is_mask=True),
            Input("decoder_input_ids", ("batch", "target"), below=config.vocab_size),
        ),
        ("logits",),
        ({"batch": 2, "source": 8, "target": 5}, {"batch": 3, "source": 13, "target": 7}),
        {"batch": (1, 8), "source": (2, 32), "target": (2, 32)},
    )


def _mobilenet() -> nn.Module:
    return convolutional.MobileNetV3(convolutional.MOBILENET_V3_TINY, stem=8, hidden=64, classes=10)


def all_networks() -> Mapping[str, Network]:
    """Return the networks by name."""
    gpt2 = transformers_models.gpt2_config(Size.SMALL)
    llama = language_models.llama_config(Size.SMALL)
    networks = (
        _images("resnet", lambda: transformers_models.resnet(Size.SMALL), 32),
        _images("mobilenet", _mobilenet, 32),
        _images("vit", lambda: transformers_models.vit(Size.SMALL), 32),
        _unet(),
        _bert(),
        _tokens("gpt2", lambda: Logits(GPT2LMHeadModel(gpt2)), gpt2.vocab_size),
        _tokens("llama", lambda: Logits(LlamaForCausalLM(llama)), llama.vocab_size),
        _t5(),
        _whisper(),
        _lstm(),
    )
    return {network.name: network for network in networks}


NETWORKS: Mapping[str, Network] = all_networks()
