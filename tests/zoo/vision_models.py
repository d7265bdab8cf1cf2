"""Vision networks of transformers, wrapped so that they take and return plain tensors, in their real and small sizes.

No pretrained weights are used: nothing is downloaded.
"""

# Where torch is not installed, its classes are unknown.
# pyright: reportUntypedBaseClass=none

from __future__ import annotations

import torch
from torch import nn
from transformers import (
    CLIPTextConfig,
    CLIPTextModelWithProjection,
    CLIPVisionConfig,
    CLIPVisionModelWithProjection,
    ConvNextConfig,
    ConvNextForImageClassification,
    SegformerConfig,
    SegformerForSemanticSegmentation,
    SwinConfig,
    SwinForImageClassification,
)

from tests.zoo.network import Size
from tests.zoo.transformers_models import ImageClassifier


class Segmenter(nn.Module):
    """Images [n, 3, h, w] to class scores [n, classes, h / 4, w / 4]."""

    def __init__(self, config: SegformerConfig) -> None:
        super().__init__()
        self.model = SegformerForSemanticSegmentation(config)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.model(pixel_values=image).logits


class ImageTower(nn.Module):
    """Images [n, 3, h, w] to embeddings [n, d]."""

    def __init__(self, config: CLIPVisionConfig) -> None:
        super().__init__()
        self.model = CLIPVisionModelWithProjection(config)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.model(pixel_values=image).image_embeds


class TextTower(nn.Module):
    """Token numbers [n, s] to embeddings [n, d], that of the end token, which has the largest number.

    The causal mask of the layers is passed ready made: tracing the code of transformers that makes it fails.
    """

    causal_mask: torch.Tensor

    def __init__(self, config: CLIPTextConfig, length: int) -> None:
        super().__init__()
        self.model = CLIPTextModelWithProjection(config)
        blocked = torch.full((length, length), torch.finfo(torch.float32).min).triu(1)
        self.register_buffer("causal_mask", blocked[None, None])

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        text = self.model.text_model
        hidden = text.embeddings(input_ids=input_ids)
        encoded = text.encoder(inputs_embeds=hidden, causal_attention_mask=self.causal_mask)
        normed = text.final_layer_norm(encoded.last_hidden_state)
        end = input_ids.to(torch.int).argmax(dim=-1)
        return self.model.text_projection(normed[torch.arange(normed.shape[0]), end])


def convnext(size: Size) -> ImageClassifier:
    """Return a ConvNeXt: the tiny one of the publication, or two narrow stages."""
    if size is Size.REAL:
        config = ConvNextConfig(num_labels=1000)
    else:
        config = ConvNextConfig(num_stages=2, hidden_sizes=[16, 24], depths=[1, 2], num_labels=10)
    return ImageClassifier(ConvNextForImageClassification(config))


def swin(size: Size) -> ImageClassifier:
    """Return a Swin transformer with shifted windows: the tiny one of the publication, or two narrow stages."""
    if size is Size.REAL:
        config = SwinConfig(num_labels=1000)
    else:
        config = SwinConfig(
            image_size=32,
            patch_size=4,
            embed_dim=12,
            depths=[1, 2],
            num_heads=[2, 4],
            window_size=4,
            mlp_ratio=2.0,
            num_labels=10,
        )
    return ImageClassifier(SwinForImageClassification(config))


def segformer(size: Size) -> Segmenter:
    """Return a SegFormer: B0, or two narrow stages."""
    if size is Size.REAL:
        config = SegformerConfig(num_labels=150)
    else:
        config = SegformerConfig(
            num_encoder_blocks=2,
            depths=[1, 1],
            sr_ratios=[4, 2],
            hidden_sizes=[16, 24],
            patch_sizes=[7, 3],
            strides=[4, 2],
            num_attention_heads=[1, 2],
            mlp_ratios=[2, 2],
            decoder_hidden_size=16,
            num_labels=4,
        )
    return Segmenter(config)


def clip_image(size: Size) -> ImageTower:
    """Return the image tower of CLIP: ViT-B/32, or two narrow layers."""
    if size is Size.REAL:
        return ImageTower(CLIPVisionConfig())
    config = CLIPVisionConfig(
        hidden_size=32,
        intermediate_size=64,
        projection_dim=16,
        num_hidden_layers=2,
        num_attention_heads=4,
        image_size=32,
        patch_size=8,
    )
    return ImageTower(config)


def clip_text_config(size: Size) -> CLIPTextConfig:
    """Return the shape of the text tower of CLIP ViT-B/32, or of two narrow layers."""
    if size is Size.REAL:
        return CLIPTextConfig()
    return CLIPTextConfig(
        vocab_size=128,
        hidden_size=32,
        intermediate_size=64,
        projection_dim=16,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=16,
    )
