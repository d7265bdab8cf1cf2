"""The table `NETWORKS` of all networks of the zoo."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import transformers
from torch import nn
from transformers.models.whisper.modeling_whisper import WhisperEncoder

from tests.zoo import compression, language_recipes, sequence_recipes, vision_recipes
from tests.zoo.compression import Compression
from tests.zoo.convolutional import MobileNetV3, StyleTransfer, SuperResolution, UNet, VideoClassifier
from tests.zoo.network import Network, Precision, Recipe, Size, Target
from tests.zoo.sequential import GreedyDecoder, TemporalConvolution


def entry(
    recipe: Callable[[Size], Recipe],
    source: type[nn.Module],
    fp32: Target | None = None,
    fp16: Target | None = None,
) -> Network:
    """Return the entry of the network that `recipe` makes, named and described after it."""
    package = source.__module__.partition(".")[0]
    version = f" {transformers.__version__}" if package == "transformers" else ""
    targets = {Precision.FP32: fp32, Precision.FP16: fp16}
    return Network(
        name=recipe.__name__,
        summary=(recipe.__doc__ or "").removeprefix("Return ").removesuffix("."),
        source=f"{source.__module__}{version}: {source.__name__}",
        recipe=recipe,
        targets={precision: target for precision, target in targets.items() if target is not None},
    )


def variant(network: Network, suffix: str, addition: str, method: Compression | None, **targets: Target) -> Network:
    """Return `network` under another name: with compressed weights, or for other targets."""
    return replace(
        network,
        name=f"{network.name}_{suffix}",
        summary=f"{network.summary}, {addition}",
        compression=method,
        targets={Precision(precision): target for precision, target in targets.items()},
    )


def plain_networks() -> tuple[Network, ...]:
    """Return the networks with weights as they are.

    Each target occurs with each kind of network that it converts differently; the attention operation needs iOS 18.
    """
    ios15, ios16, ios17, ios18 = Target.IOS15, Target.IOS16, Target.IOS17, Target.IOS18
    vision, language, sequence = vision_recipes, language_recipes, sequence_recipes
    return (
        entry(vision.resnet, transformers.ResNetForImageClassification, ios15, ios16),
        entry(vision.resnet_flexible_batch, transformers.ResNetForImageClassification, ios17, ios18),
        entry(vision.resnet_classifier, transformers.ResNetForImageClassification, ios16, ios17),
        entry(vision.mobilenet_v2, transformers.MobileNetV2ForImageClassification, ios16, ios17),
        entry(vision.mobilenet_v2_image, transformers.MobileNetV2ForImageClassification, ios15, ios16),
        entry(vision.mobilenet_v3, MobileNetV3, ios17, ios15),
        entry(vision.unet_transposed, UNet, ios16, ios18),
        entry(vision.unet_bilinear, UNet, ios15, ios17),
        entry(vision.unet_flexible_size, UNet, ios17, ios16),
        entry(language.bert, transformers.BertModel, ios15, ios16),
        entry(language.bert_flexible_length, transformers.BertModel, ios18, ios17),
        entry(language.minilm, transformers.BertModel, ios18, ios18),
        entry(language.gpt2, transformers.GPT2LMHeadModel, ios16, ios15),
        entry(language.gpt2_decode, transformers.GPT2LMHeadModel, ios17, ios18),
        entry(vision.vit, transformers.ViTForImageClassification, ios17, ios18),
        entry(vision.convnext, transformers.ConvNextForImageClassification, ios16, ios15),
        entry(vision.swin, transformers.SwinForImageClassification, ios15, ios17),
        entry(vision.segformer, transformers.SegformerForSemanticSegmentation, ios15, ios17),
        entry(vision.clip_image, transformers.CLIPVisionModelWithProjection, ios18, ios16),
        entry(language.clip_text, transformers.CLIPTextModelWithProjection, ios17, ios18),
        entry(vision.style_transfer, StyleTransfer, ios16, ios18),
        entry(vision.pixel_shuffle, SuperResolution, ios15, ios17),
        entry(vision.video, VideoClassifier, ios17, ios16),
        entry(language.t5_encoder, transformers.T5EncoderModel, ios16, ios18),
        entry(language.t5_decoder, transformers.T5ForConditionalGeneration, ios18, ios17),
        entry(language.whisper_encoder, WhisperEncoder, ios15, ios18),
        entry(language.llama, transformers.LlamaForCausalLM, ios16, ios18),
        entry(language.llama_stateful, transformers.LlamaForCausalLM, fp16=ios18),
        entry(sequence.lstm, nn.LSTM, ios15, ios18),
        entry(sequence.gru, nn.GRU, ios16, ios17),
        entry(sequence.rnn, nn.RNN, ios17, ios15),
        entry(sequence.tcn, TemporalConvolution, ios15, ios17),
        entry(sequence.greedy_decode, GreedyDecoder, ios16, ios18),
    )


def variants(networks: Mapping[str, Network]) -> tuple[Network, ...]:
    """Return networks that differ from others in target or in the compression of their weights.

    The compressed convolutional network and transformer are small; before iOS 18 other operations unpack the weights.
    """
    ios16, ios17, ios18 = Target.IOS16, Target.IOS17, Target.IOS18
    enlarger, tagger, encoder = networks["pixel_shuffle"], networks["tcn"], networks["t5_encoder"]
    palettized, linear, sparse, joint = (
        compression.palettized,
        compression.linear,
        compression.sparse,
        compression.joint,
    )
    return (
        variant(networks["gpt2"], "attention", "with the attention operation", None, fp32=ios18, fp16=ios18),
        variant(networks["llama_stateful"], "int4", "int4 in blocks of 16", linear("int4", block=16), fp16=ios18),
        variant(enlarger, "palettized4", "16 values for each weight", palettized(4), fp32=ios16, fp16=ios18),
        variant(enlarger, "int8", "int8 for each channel", linear("int8"), fp32=ios17, fp16=ios16),
        variant(enlarger, "uint8", "uint8 with zero points", linear("uint8", mode="linear"), fp32=ios18),
        variant(enlarger, "sparse", "60 % zeros", sparse(0.6), fp32=ios18, fp16=ios16),
        variant(tagger, "sparse_int8", "60 % zeros, the rest int8", joint(sparse(0.6), linear("int8")), fp32=ios18),
        variant(encoder, "palettized2", "4 values for groups of 8", palettized(2, group=8), fp32=ios18),
        variant(encoder, "palettized6", "64 values for each weight", palettized(6), fp16=ios17),
        variant(encoder, "int4", "int4 in blocks of 8", linear("int4", block=8), fp32=ios18, fp16=ios18),
        variant(encoder, "uint4", "uint4 with zero points", linear("uint4", mode="linear", block=8), fp32=ios18),
        variant(
            encoder,
            "sparse_palettized4",
            "half zeros, the rest of 16 values",
            joint(sparse(0.5), palettized(4)),
            fp32=ios18,
        ),
        variant(
            encoder,
            "palettized4_int8",
            "16 values, themselves int8",
            joint(palettized(4), linear("int8", is_for_tensor=True)),
            fp16=ios18,
        ),
    )


def all_networks() -> Mapping[str, Network]:
    """Return the networks by name."""
    plain = {network.name: network for network in plain_networks()}
    return {**plain, **{network.name: network for network in variants(plain)}}


NETWORKS: Mapping[str, Network] = all_networks()
