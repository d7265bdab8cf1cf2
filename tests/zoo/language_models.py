"""Language and speech networks of transformers, wrapped so that they take and return plain tensors.

No pretrained weights are used: nothing is downloaded. Masks are passed ready made, because coremltools 9.0 cannot
convert the code of transformers that makes them.
"""

# Where torch is not installed, its classes are unknown.
# pyright: reportUntypedBaseClass=none

from __future__ import annotations

import torch
from torch import nn
from transformers import (
    Cache,
    LlamaConfig,
    LlamaForCausalLM,
    T5Config,
    T5EncoderModel,
    T5ForConditionalGeneration,
    WhisperConfig,
)
from transformers.models.whisper.modeling_whisper import WhisperEncoder

from tests.zoo.network import Size

LOWEST = torch.finfo(torch.float32).min


def causal_mask(length: int) -> torch.Tensor:
    """Return the mask [1, 1, length, length] that hides later positions."""
    return torch.full((length, length), LOWEST).triu(1)[None, None]


def finite_mask(encoder_attention_mask: torch.Tensor) -> torch.Tensor:
    """Return what is added to scores to hide positions where the mask [n, s] is zero.

    That of transformers is `(1 - mask) * LOWEST`, which half precision turns into 0 * -infinity.
    """
    return (1.0 - encoder_attention_mask[:, None, None, :].to(torch.float32)) * -30000.0


class T5Encoder(nn.Module):
    """Token numbers and attention mask, both [n, s], to hidden states [n, s, d]."""

    def __init__(self, config: T5Config) -> None:
        super().__init__()
        self.model = T5EncoderModel(config)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        encoder = self.model.encoder
        hidden, bias, mask = self.model.shared(input_ids), None, finite_mask(attention_mask)
        positions = torch.arange(input_ids.shape[1])
        for block in encoder.block:
            hidden, bias = block(hidden, attention_mask=mask, position_bias=bias, cache_position=positions)[:2]
        return encoder.final_layer_norm(hidden)


class T5Decoder(nn.Module):
    """Token numbers [n, t], the encoder's hidden states [n, s, d] and its mask [n, s] to logits [n, t, vocabulary]."""

    causal_mask: torch.Tensor

    def __init__(self, config: T5Config, length: int) -> None:
        super().__init__()
        self.model = T5ForConditionalGeneration(config)
        self.model.decoder.invert_attention_mask = finite_mask
        self.register_buffer("causal_mask", causal_mask(length))

    def forward(
        self, decoder_input_ids: torch.Tensor, encoder_hidden_states: torch.Tensor, encoder_attention_mask: torch.Tensor
    ) -> torch.Tensor:
        hidden = self.model.decoder(
            input_ids=decoder_input_ids,
            attention_mask=self.causal_mask,
            encoder_hidden_states=encoder_hidden_states,
            encoder_attention_mask=encoder_attention_mask,
            use_cache=False,
        ).last_hidden_state
        return self.model.lm_head(hidden * self.model.model_dim**-0.5)


class SpeechEncoder(nn.Module):
    """Log-mel spectrograms [n, mels, 2 s] to hidden states [n, s, d]."""

    def __init__(self, config: WhisperConfig) -> None:
        super().__init__()
        self.model = WhisperEncoder(config)

    def forward(self, input_features: torch.Tensor) -> torch.Tensor:
        return self.model(input_features).last_hidden_state


class Llama(nn.Module):
    """Token numbers [n, s] to logits [n, s, vocabulary], without a cache."""

    causal_mask: torch.Tensor

    def __init__(self, config: LlamaConfig, length: int) -> None:
        super().__init__()
        self.model = LlamaForCausalLM(config)
        self.register_buffer("causal_mask", causal_mask(length))

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        return self.model(input_ids=input_ids, attention_mask=self.causal_mask, use_cache=False).logits


class SliceUpdateCache(Cache):
    """A cache in two buffers [layers, 1, heads, context, d], of which each step writes the slice of its positions."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__(layers=[])
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)

    def update(
        self,
        key_states: torch.Tensor,
        value_states: torch.Tensor,
        layer_idx: int,
        cache_kwargs: dict[str, torch.Tensor] | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        positions = (cache_kwargs or {})["cache_position"]
        begin, end = self.span(positions)
        self.keys[layer_idx, :, :, begin:end, :] = key_states
        self.values[layer_idx, :, :, begin:end, :] = value_states
        return self.keys[layer_idx, :, :, :end, :], self.values[layer_idx, :, :, :end, :]

    def span(self, positions: torch.Tensor) -> tuple[int, int]:
        """Return where the step begins and ends; traced, they stay computed from the shapes of the inputs."""
        return self.begin, self.end

    begin: int = 0
    end: int = 0

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return self.begin


class StatefulLlama(nn.Module):
    """Token numbers [1, s] and a mask [1, 1, s, p + s] to logits [1, s, vocabulary]; p tokens came in earlier calls.

    Keys and values of earlier tokens are in the states `key_cache` and `value_cache`.
    """

    key_cache: torch.Tensor
    value_cache: torch.Tensor

    def __init__(self, config: LlamaConfig, context: int) -> None:
        super().__init__()
        self.model = LlamaForCausalLM(config)
        shape = llama_cache_shape(config, context)
        self.cache = SliceUpdateCache(shape)
        self.register_buffer("key_cache", self.cache.keys)
        self.register_buffer("value_cache", self.cache.values)

    def forward(self, input_ids: torch.Tensor, causal_mask: torch.Tensor) -> torch.Tensor:
        self.cache.keys, self.cache.values = self.key_cache, self.value_cache
        self.cache.end = causal_mask.shape[-1]
        self.cache.begin = self.cache.end - input_ids.shape[-1]
        positions = torch.arange(self.cache.begin, self.cache.end)
        return self.model(
            input_ids=input_ids,
            attention_mask=causal_mask,
            position_ids=positions[None],
            cache_position=positions,
            past_key_values=self.cache,
            use_cache=True,
        ).logits


def llama_cache_shape(config: LlamaConfig, context: int) -> tuple[int, ...]:
    """Return the shape of one of the two cache buffers."""
    return (config.num_hidden_layers, 1, config.num_key_value_heads, context, config.head_dim)


def t5_config(size: Size) -> T5Config:
    """Return the shape of T5 small, or of two narrow layers."""
    if size is Size.REAL:
        return T5Config()
    return T5Config(vocab_size=64, d_model=24, d_kv=8, d_ff=48, num_layers=2, num_heads=3)


def whisper_config(size: Size) -> WhisperConfig:
    """Return the shape of Whisper tiny, or of two narrow layers on a second of sound."""
    if size is Size.REAL:
        return WhisperConfig()
    return WhisperConfig(
        num_mel_bins=16,
        encoder_layers=2,
        encoder_attention_heads=4,
        d_model=32,
        encoder_ffn_dim=64,
        max_source_positions=50,
    )


def llama_config(size: Size) -> LlamaConfig:
    """Return the shape of TinyLlama 1.1B, or of two narrow layers with two query heads for each key head."""
    if size is Size.REAL:
        return LlamaConfig(
            vocab_size=32000,
            hidden_size=2048,
            intermediate_size=5632,
            num_hidden_layers=22,
            num_attention_heads=32,
            num_key_value_heads=4,
            max_position_embeddings=2048,
        )
    return LlamaConfig(
        vocab_size=64,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
    )
