"""Networks of real size with random weights as ONNX models, for `networks`.

    python -m benchmarks.network_exports FOLDER [NAME ...] [--any-batch]

Encoders (MiniLM at batch 1 and 8, BERT, ViT, Whisper), image networks (ResNet-50, MobileNetV2, a U-Net with group norm,
a detector's head), a decoding step of GPT-2 with 127 cached positions, a Llama block of 512 positions, and an LSTM.
With `--any-batch` the first size of inputs is a symbol.
Needs torch, onnx and transformers.
"""

# Where torch is not installed, its classes are unknown.
# pyright: reportUntypedBaseClass=none

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import torch
import transformers
from torch import nn
from torch.nn import functional

OPSET = 17
TOKENS = 128


class Network(NamedTuple):
    """A module, and example inputs by name."""

    module: nn.Module
    inputs: dict[str, torch.Tensor]


class OneResult(nn.Module):
    """A module of transformers with positional inputs, whose result is one attribute of its output."""

    def __init__(self, inner: Any, attribute: str) -> None:
        super().__init__()
        self.inner = inner
        self.attribute = attribute

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return getattr(self.inner(*inputs), self.attribute)


def bert(width: int, layers: int, batch: int = 1) -> Network:
    """Returns an encoder of texts, whose feed-forward layers are four times as wide as it is."""
    config = transformers.BertConfig(
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=12,
        intermediate_size=4 * width,
        attn_implementation="eager",
    )
    ids = torch.randint(0, 1000, (batch, TOKENS))
    module = OneResult(transformers.BertModel(config, add_pooling_layer=False), "last_hidden_state")
    return Network(module, {"ids": ids, "mask": torch.ones_like(ids)})


def image() -> dict[str, torch.Tensor]:
    """Returns an image as classifiers have it."""
    return {"image": torch.randn(1, 3, 224, 224)}


def resnet() -> Network:
    """Returns ResNet-50 without its classifier."""
    config = transformers.ResNetConfig(depths=[3, 4, 6, 3], layer_type="bottleneck")
    return Network(OneResult(transformers.ResNetModel(config), "pooler_output"), image())


def mobilenet() -> Network:
    """Returns MobileNetV2 without its classifier."""
    return Network(OneResult(transformers.MobileNetV2Model(transformers.MobileNetV2Config()), "pooler_output"), image())


def vit() -> Network:
    """Returns ViT-base: 197 tokens."""
    config = transformers.ViTConfig(attn_implementation="eager")
    return Network(OneResult(transformers.ViTModel(config, add_pooling_layer=False), "last_hidden_state"), image())


def whisper() -> Network:
    """Returns the encoder of Whisper tiny: 1,500 positions."""
    config = transformers.WhisperConfig(
        d_model=384,
        encoder_layers=4,
        encoder_attention_heads=6,
        encoder_ffn_dim=1536,
        decoder_layers=1,
        attn_implementation="eager",
    )
    encoder = transformers.WhisperModel(config).encoder
    return Network(OneResult(encoder, "last_hidden_state"), {"spectrum": torch.randn(1, 80, 3000)})


class Residual(nn.Module):
    """Two convolutions with group norm, added to what they read."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(8, inputs), nn.GroupNorm(8, outputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.conv1(functional.silu(self.norm1(x)))
        return self.skip(x) + self.conv2(functional.silu(self.norm2(y)))


class UNet(nn.Module):
    """Three levels down by strided convolutions, and up by transposed ones."""

    def __init__(self, widths: Sequence[int] = (32, 64, 128, 256)) -> None:
        super().__init__()
        levels = list(pairwise(widths))
        self.first, self.last = nn.Conv2d(3, widths[0], 3, padding=1), nn.Conv2d(widths[0], 3, 1)
        self.blocks = nn.ModuleList([Residual(a, a) for a, _ in levels])
        self.down = nn.ModuleList([nn.Conv2d(a, b, 3, 2, 1) for a, b in levels])
        self.middle = Residual(widths[-1], widths[-1])
        self.up = nn.ModuleList([nn.ConvTranspose2d(b, a, 2, 2) for a, b in reversed(levels)])
        self.joins = nn.ModuleList([Residual(2 * a, a) for a, _ in reversed(levels)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x, levels = self.first(x), list[torch.Tensor]()
        for block, down in zip(self.blocks, self.down, strict=True):
            levels.append(block(x))
            x = down(levels[-1])
        x = self.middle(x)
        for up, join in zip(self.up, self.joins, strict=True):
            x = join(torch.cat([up(x), levels.pop()], 1))
        return self.last(x)


def convolution(inputs: int, outputs: int, size: int = 1, stride: int = 1) -> nn.Sequential:
    """Returns a convolution with SiLU."""
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, stride, size // 2), nn.SiLU())


class Split(nn.Module):
    """Passes half of the channels through two convolutions, and joins all results."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        half = outputs // 2
        self.first = convolution(inputs, outputs)
        self.inner = nn.Sequential(convolution(half, half, 3), convolution(half, half, 3))
        self.last = convolution(outputs + half, outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first, second = self.first(x).chunk(2, 1)
        return self.last(torch.cat([first, second, second + self.inner(second)], 1))


class DetectorHead(nn.Module):
    """Three scales joined upwards and downwards, then boxes as expectations over bins, and scores of 80 classes."""

    def __init__(self, widths: Sequence[int] = (64, 128, 256)) -> None:
        super().__init__()
        a, b, c = widths
        self.up1, self.up2 = Split(c + b, b), Split(b + a, a)
        self.down1, self.down2 = convolution(a, a, 3, 2), convolution(b, b, 3, 2)
        self.join1, self.join2 = Split(a + b, b), Split(b + c, c)
        heads = [nn.Sequential(convolution(n, 64, 3), convolution(64, 64, 3), nn.Conv2d(64, 144, 1)) for n in widths]
        self.heads = nn.ModuleList(heads)

    def forward(self, large: torch.Tensor, middle: torch.Tensor, small: torch.Tensor) -> torch.Tensor:
        def doubled(x: torch.Tensor) -> torch.Tensor:
            return functional.interpolate(x, scale_factor=2, mode="nearest")

        middle = self.up1(torch.cat([doubled(small), middle], 1))
        large = self.up2(torch.cat([doubled(middle), large], 1))
        middle = self.join1(torch.cat([self.down1(large), middle], 1))
        small = self.join2(torch.cat([self.down2(middle), small], 1))
        scales = [head(x).flatten(2) for head, x in zip(self.heads, (large, middle, small), strict=True)]
        boxes, scores = torch.cat(scales, 2).split((64, 80), 1)
        bins = torch.arange(16.0).view(1, 1, 16, 1)
        distances = (boxes.view(1, 4, 16, -1).softmax(2) * bins).sum(2)
        return torch.cat([distances, scores.sigmoid()], 1)


def detector_head() -> Network:
    """Returns the head of a detector, with resizing and joins."""
    scales = {"large": (64, 80), "middle": (128, 40), "small": (256, 20)}
    return Network(DetectorHead(), {name: torch.randn(1, c, n, n) for name, (c, n) in scales.items()})


class DecodingStep(nn.Module):
    """One step of GPT-2: the logits, and the keys and values of all positions."""

    def __init__(self) -> None:
        super().__init__()
        self.model = transformers.GPT2LMHeadModel(transformers.GPT2Config(attn_implementation="eager"))

    def forward(self, token: torch.Tensor, position: torch.Tensor, *cached: torch.Tensor) -> tuple[torch.Tensor, ...]:
        body = self.model.transformer
        x, kept = body.wte(token) + body.wpe(position), list[torch.Tensor]()
        for n, block in enumerate(body.h):
            parts = block.attn.c_attn(block.ln_1(x)).split(768, 2)
            q, k, v = [part.view(1, -1, 12, 64).transpose(1, 2) for part in parts]
            k, v = torch.cat([cached[2 * n], k], 2), torch.cat([cached[2 * n + 1], v], 2)
            kept += [k, v]
            y = torch.softmax(q @ k.transpose(2, 3) * 0.125, -1) @ v
            x = x + block.attn.c_proj(y.transpose(1, 2).reshape(1, -1, 768))
            x = x + block.mlp(block.ln_2(x))
        return (self.model.lm_head(body.ln_f(x)), *kept)


def gpt2_step() -> Network:
    """Returns a decoding step with 127 cached positions."""
    inputs = {"token": torch.zeros(1, 1, dtype=torch.long), "position": torch.full((1, 1), TOKENS - 1)}
    cached = {f"cached{n}": torch.randn(1, 12, TOKENS - 1, 64) for n in range(24)}
    return Network(DecodingStep(), inputs | cached)


class RootMeanSquare(nn.Module):
    """Divides by the root of the mean square."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


class LlamaBlock(nn.Module):
    """Attention with rotated queries and keys and a causal mask, and a gated feed-forward layer."""

    def __init__(self, width: int = 1024, heads: int = 16, inner: int = 2816, positions: int = 512) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = RootMeanSquare(width), RootMeanSquare(width)
        self.qkv = nn.ModuleList([nn.Linear(width, width, bias=False) for _ in range(3)])
        self.out = nn.Linear(width, width, bias=False)
        self.gate, self.up = nn.Linear(width, inner, bias=False), nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)
        half = torch.arange(0, width // heads, 2).float() / (width // heads)
        angles = torch.arange(positions).float()[:, None] * (10000**-half)[None]
        angles = torch.cat([angles, angles], 1)
        self.register_buffer("cosines", angles.cos())
        self.register_buffer("sines", angles.sin())
        self.register_buffer("mask", torch.triu(torch.full((positions, positions), -1e9), 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def rotated(y: torch.Tensor) -> torch.Tensor:
            first, second = y.chunk(2, -1)
            return y * self.cosines + torch.cat([-second, first], -1) * self.sines

        y = self.norm1(x)
        q, k, v = [m(y).unflatten(2, (self.heads, -1)).transpose(1, 2) for m in self.qkv]
        scores = rotated(q) @ rotated(k).transpose(2, 3) / q.shape[-1] ** 0.5 + self.mask
        x = x + self.out((torch.softmax(scores, -1) @ v).transpose(1, 2).flatten(2))
        y = self.norm2(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Recurrent(nn.Module):
    """Two layers of an LSTM."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.LSTM(256, 256, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)[0]


NETWORKS: dict[str, Callable[[], Network]] = {
    "minilm": lambda: bert(384, 6),
    "minilm_b8": lambda: bert(384, 6, 8),
    "bert": lambda: bert(768, 12),
    "resnet50": resnet,
    "mobilenetv2": mobilenet,
    "unet": lambda: Network(UNet(), {"image": torch.randn(1, 3, 128, 128)}),
    "gpt2_step": gpt2_step,
    "lstm": lambda: Network(Recurrent(), {"steps": torch.randn(64, 1, 256)}),
    "vit": vit,
    "whisper": whisper,
    "detector_head": detector_head,
    "llama_block": lambda: Network(LlamaBlock(), {"x": torch.randn(1, 512, 1024)}),
}


def main() -> None:
    """Writes the networks that are named, all by default."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--any-batch", action="store_true")
    arguments = parser.parse_args()
    folder, names = arguments.folder, arguments.names or list(NETWORKS)
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    for name in names:
        torch.manual_seed(0)
        module, inputs = NETWORKS[name]()
        with torch.no_grad():
            torch.onnx.export(
                module.eval(),
                tuple(inputs.values()),
                str(folder / f"{name}.onnx"),
                input_names=list(inputs),
                dynamic_axes={x: {0: "batch"} for x in inputs} if arguments.any_batch else None,
                opset_version=OPSET,
                dynamo=False,
            )
        print(name, flush=True)


if __name__ == "__main__":
    main()
