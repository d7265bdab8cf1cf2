"""Networks in transformers' own implementations, wrapped so that they take and return plain tensors.

These are the modules that people convert; the wrappers only choose inputs and outputs. No pretrained weights are used:
nothing is downloaded.
"""

# Where torch is not installed, its classes are unknown.
# pyright: reportUntypedBaseClass=none

from __future__ import annotations

import torch
from torch import nn
from transformers import (
    BertConfig,
    BertModel,
    DynamicCache,
    GPT2Config,
    GPT2LMHeadModel,
    MobileNetV2Config,
    MobileNetV2ForImageClassification,
    PreTrainedModel,
    ResNetConfig,
    ResNetForImageClassification,
    ViTConfig,
    ViTForImageClassification,
)

from tests.zoo.network import Size


class ImageClassifier(nn.Module):
    """Images [n, 3, h, w] to logits [n, classes], of any image classification model of transformers."""

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.model(pixel_values=image).logits


class ImageProbabilities(nn.Module):
    """Images [n, 3, h, w] to class probabilities [n, classes]."""

    def __init__(self, classifier: nn.Module) -> None:
        super().__init__()
        self.classifier = classifier

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.classifier(image), dim=-1)


class BertEncoder(nn.Module):
    """Token numbers, attention mask and token types, all [n, s], to hidden states [n, s, d] and pooled ones [n, d]."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.model = BertModel(config)

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        result = self.model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
        return result.last_hidden_state, result.pooler_output


class SentenceEncoder(nn.Module):
    """Token numbers [n, s] and attention mask [n, s] to hidden states [n, s, d] and an embedding [n, d] of length one.

    The embedding is the mean of the hidden states of attended tokens, as sentence-transformers computes it for MiniLM.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.model = BertModel(config, add_pooling_layer=False)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        weights = attention_mask.unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
        return hidden, nn.functional.normalize(mean, p=2.0, dim=1)


class Gpt2(nn.Module):
    """Token numbers [n, s] to logits [n, s, vocabulary], every position attending to those up to itself.

    The causal mask is passed ready made: coremltools 9.0 cannot convert the code of transformers that makes it.
    """

    causal_mask: torch.Tensor

    def __init__(self, config: GPT2Config, length: int) -> None:
        super().__init__()
        self.model = GPT2LMHeadModel(config)
        blocked = torch.full((length, length), torch.finfo(torch.float32).min).triu(1)
        self.register_buffer("causal_mask", blocked[None, None])

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        return self.model(input_ids=input_ids, attention_mask=self.causal_mask, use_cache=False).logits


class Gpt2DecodeStep(nn.Module):
    """One new token [1, 1], its position [1, 1] and a cache to logits [1, 1, vocabulary] and the grown cache.

    Shapes: a cache is key and value of each layer in turn, [1, heads, p, d] in and [1, heads, p + 1, d] out.
    """

    def __init__(self, config: GPT2Config) -> None:
        super().__init__()
        self.model = GPT2LMHeadModel(config)

    def forward(
        self, input_ids: torch.Tensor, position_ids: torch.Tensor, *past: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        cache = DynamicCache()
        for layer in range(len(past) // 2):
            cache.update(past[2 * layer], past[2 * layer + 1], layer)
        result = self.model(input_ids=input_ids, position_ids=position_ids, past_key_values=cache, use_cache=True)
        outputs = [result.logits]
        for layer in result.past_key_values.layers:
            outputs += [layer.keys, layer.values]
        return tuple(outputs)


def resnet(size: Size) -> ImageClassifier:
    """Return a ResNet of bottleneck blocks: ResNet-50, or a narrow one with two blocks in two stages."""
    if size is Size.REAL:
        config = ResNetConfig(num_labels=1000)
    else:
        config = ResNetConfig(
            embedding_size=16, hidden_sizes=[32, 64], depths=[2, 2], layer_type="bottleneck", num_labels=10
        )
    return ImageClassifier(ResNetForImageClassification(config))


def mobilenet_v2(size: Size) -> ImageClassifier:
    """Return a MobileNetV2 with the paddings of TensorFlow: the real one, or a narrow one."""
    if size is Size.REAL:
        config = MobileNetV2Config(num_labels=1000)
    else:
        config = MobileNetV2Config(depth_multiplier=0.1, finegrained_output=False, num_labels=10)
    return ImageClassifier(MobileNetV2ForImageClassification(config))


def vit(size: Size) -> ImageClassifier:
    """Return a vision transformer: ViT-B/16, or two narrow layers."""
    if size is Size.REAL:
        config = ViTConfig(num_labels=1000)
    else:
        config = ViTConfig(
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=64,
            image_size=32,
            patch_size=8,
            num_labels=10,
        )
    return ImageClassifier(ViTForImageClassification(config))


def bert_config(size: Size) -> BertConfig:
    """Return the shape of BERT-base, or of two narrow layers."""
    if size is Size.REAL:
        return BertConfig()
    return BertConfig(
        vocab_size=128,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
    )


def minilm_config(size: Size) -> BertConfig:
    """Return the shape of MiniLM-L6, or of two narrow layers."""
    if size is Size.REAL:
        return BertConfig(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536)
    return bert_config(size)


def gpt2_config(size: Size) -> GPT2Config:
    """Return the shape of GPT-2 small (124 million parameters), or of two narrow layers."""
    if size is Size.REAL:
        return GPT2Config()
    return GPT2Config(vocab_size=128, n_positions=64, n_embd=32, n_layer=2, n_head=4)
