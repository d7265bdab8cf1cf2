"""Convolutional networks in plain torch: MobileNetV3, U-Net, style transfer, super-resolution and a 3-D one.

No weights are set here.

Sources: Howard et al., "Searching for MobileNetV3", 2019, table 1, with the paddings and rounding of the authors' code;
Ronneberger et al., "U-Net", 2015, with padded convolutions and batch norms, as it is mostly used;
Johnson et al., "Perceptual Losses for Real-Time Style Transfer and Super-Resolution", 2016, with instance norms;
Shi et al., "Real-Time Single Image and Video Super-Resolution Using an Efficient Sub-Pixel Convolution", 2016 (ESPCN);
Tran et al., "Learning Spatiotemporal Features with 3D Convolutional Networks", 2015.
"""

# Where torch is not installed, its classes are unknown.
# pyright: reportUntypedBaseClass=none

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional


@dataclass(frozen=True)
class BottleneckConfig:
    """One row of table 1 of MobileNetV3."""

    kernel_size: int
    expanded_channels: int
    channels: int
    has_squeeze_excite: bool
    has_hard_swish: bool
    stride: int


MOBILENET_V3_LARGE = (
    BottleneckConfig(3, 16, 16, False, False, 1),
    BottleneckConfig(3, 64, 24, False, False, 2),
    BottleneckConfig(3, 72, 24, False, False, 1),
    BottleneckConfig(5, 72, 40, True, False, 2),
    BottleneckConfig(5, 120, 40, True, False, 1),
    BottleneckConfig(5, 120, 40, True, False, 1),
    BottleneckConfig(3, 240, 80, False, True, 2),
    BottleneckConfig(3, 200, 80, False, True, 1),
    BottleneckConfig(3, 184, 80, False, True, 1),
    BottleneckConfig(3, 184, 80, False, True, 1),
    BottleneckConfig(3, 480, 112, True, True, 1),
    BottleneckConfig(3, 672, 112, True, True, 1),
    BottleneckConfig(5, 672, 160, True, True, 2),
    BottleneckConfig(5, 960, 160, True, True, 1),
    BottleneckConfig(5, 960, 160, True, True, 1),
)

MOBILENET_V3_TINY = (
    BottleneckConfig(3, 8, 8, False, False, 1),
    BottleneckConfig(3, 24, 12, False, False, 2),
    BottleneckConfig(5, 36, 16, True, False, 2),
    BottleneckConfig(5, 48, 16, True, True, 1),
)


def round_to_multiple(channels: float, multiple: int = 8) -> int:
    """Return the multiple nearest to `channels`, but never less than 90 % of it."""
    rounded = max(multiple, int(channels + multiple / 2) // multiple * multiple)
    return rounded if rounded >= 0.9 * channels else rounded + multiple


class SqueezeExcite(nn.Module):
    """Scales each channel by a gate computed from all channel means."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        squeezed = round_to_multiple(channels / 4)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.reduce = nn.Conv2d(channels, squeezed, 1)
        self.expand = nn.Conv2d(squeezed, channels, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gate = functional.relu(self.reduce(self.pool(x)))
        return x * functional.hardsigmoid(self.expand(gate))


def convolution_norm(
    in_channels: int, out_channels: int, kernel_size: int, *, stride: int = 1, groups: int = 1
) -> list[nn.Module]:
    """Return a convolution without bias, padded to keep the size at stride 1, and its batch norm."""
    convolution = nn.Conv2d(
        in_channels, out_channels, kernel_size, stride, padding=kernel_size // 2, groups=groups, bias=False
    )
    return [convolution, nn.BatchNorm2d(out_channels, eps=1e-3)]


class Bottleneck(nn.Module):
    """Expands, convolves each channel on its own, gates, and projects; adds its input where the shapes agree."""

    def __init__(self, in_channels: int, config: BottleneckConfig) -> None:
        super().__init__()
        expanded = config.expanded_channels
        activation = nn.Hardswish if config.has_hard_swish else nn.ReLU
        layers: list[nn.Module] = []
        if expanded != in_channels:
            layers += [*convolution_norm(in_channels, expanded, 1), activation()]
        layers += convolution_norm(expanded, expanded, config.kernel_size, stride=config.stride, groups=expanded)
        layers.append(activation())
        if config.has_squeeze_excite:
            layers.append(SqueezeExcite(expanded))
        layers += convolution_norm(expanded, config.channels, 1)
        self.layers = nn.Sequential(*layers)
        self.is_residual = config.stride == 1 and config.channels == in_channels

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.layers(x)
        return x + y if self.is_residual else y


class MobileNetV3(nn.Module):
    """Image classifier: images [n, 3, h, w] to logits [n, classes]."""

    def __init__(self, bottlenecks: Sequence[BottleneckConfig], *, stem: int, hidden: int, classes: int) -> None:
        super().__init__()
        layers: list[nn.Module] = [*convolution_norm(3, stem, 3, stride=2), nn.Hardswish()]
        channels = stem
        for config in bottlenecks:
            layers.append(Bottleneck(channels, config))
            channels = config.channels
        layers += [*convolution_norm(channels, 6 * channels, 1), nn.Hardswish()]
        self.features = nn.Sequential(*layers)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Linear(6 * channels, hidden), nn.Hardswish(), nn.Linear(hidden, classes))

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.classifier(torch.flatten(self.pool(self.features(image)), 1))


def double_convolution(in_channels: int, out_channels: int) -> nn.Sequential:
    """Return two 3 x 3 convolutions, each with batch norm and relu."""
    layers: list[nn.Module] = []
    for channels in (in_channels, out_channels):
        layers += [nn.Conv2d(channels, out_channels, 3, padding=1, bias=False), nn.BatchNorm2d(out_channels), nn.ReLU()]
    return nn.Sequential(*layers)


class UNet(nn.Module):
    """Image segmentation: images [n, 3, h, w] to class scores [n, classes, h, w].

    The sides must divide by 2 ** depth. With `is_bilinear` the way up interpolates (corners aligned) and then
    convolves; otherwise it is a transposed convolution of stride 2.
    """

    def __init__(self, *, base: int, depth: int, classes: int, is_bilinear: bool) -> None:
        super().__init__()
        widths = [base * 2**level for level in range(depth + 1)]
        self.stem = double_convolution(3, base)
        self.down = nn.ModuleList(double_convolution(widths[level], widths[level + 1]) for level in range(depth))
        self.pool = nn.MaxPool2d(2)
        self.grow = nn.ModuleList()
        self.up = nn.ModuleList()
        for level in reversed(range(depth)):
            wide, narrow = widths[level + 1], widths[level]
            if is_bilinear:
                upsample = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
                self.grow.append(nn.Sequential(upsample, nn.Conv2d(wide, narrow, 1)))
            else:
                self.grow.append(nn.ConvTranspose2d(wide, narrow, 2, stride=2))
            self.up.append(double_convolution(wide, narrow))
        self.head = nn.Conv2d(base, classes, 1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        y = self.stem(image)
        skips: list[torch.Tensor] = []
        for stage in self.down:
            skips.append(y)
            y = stage(self.pool(y))
        for grow, stage in zip(self.grow, self.up, strict=True):
            y = stage(torch.cat([skips.pop(), grow(y)], dim=1))
        return self.head(y)


def reflected_convolution(in_channels: int, out_channels: int, kernel_size: int, stride: int = 1) -> list[nn.Module]:
    """Return a convolution padded by reflection, and its instance norm."""
    return [
        nn.ReflectionPad2d(kernel_size // 2),
        nn.Conv2d(in_channels, out_channels, kernel_size, stride),
        nn.InstanceNorm2d(out_channels, affine=True),
    ]


class ResidualBlock(nn.Module):
    """Two convolutions whose result is added to the input."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        first, second = (reflected_convolution(channels, channels, 3) for _ in range(2))
        self.layers = nn.Sequential(*first, nn.ReLU(), *second)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.layers(x)


class StyleTransfer(nn.Module):
    """Images [n, 3, h, w] of values 0..1 to images of the same size with values 0..255."""

    def __init__(self, *, base: int, blocks: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for in_channels, out_channels, kernel_size, stride in ((3, base, 9, 1), (base, 2 * base, 3, 2)):
            layers += [*reflected_convolution(in_channels, out_channels, kernel_size, stride), nn.ReLU()]
        layers += [ResidualBlock(2 * base) for _ in range(blocks)]
        layers += [nn.Upsample(scale_factor=2, mode="nearest"), *reflected_convolution(2 * base, base, 3), nn.ReLU()]
        layers += [nn.ReflectionPad2d(4), nn.Conv2d(base, 3, 9)]
        self.layers = nn.Sequential(*layers)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(self.layers(image)) * 255.0


class SuperResolution(nn.Module):
    """Images [n, 1, h, w] to images [n, 1, factor * h, factor * w]."""

    def __init__(self, *, wide: int, narrow: int, factor: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, wide, 5, padding=2),
            nn.Tanh(),
            nn.Conv2d(wide, narrow, 3, padding=1),
            nn.Tanh(),
            nn.Conv2d(narrow, factor * factor, 3, padding=1),
            nn.PixelShuffle(factor),
        )

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.layers(image)


class VideoClassifier(nn.Module):
    """Videos [n, 3, t, h, w] to logits [n, classes]."""

    def __init__(self, *, widths: Sequence[int], classes: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for in_channels, out_channels in itertools.pairwise((3, *widths)):
            layers += [nn.Conv3d(in_channels, out_channels, 3, padding=1), nn.ReLU()]
            layers.append(nn.MaxPool3d((1, 2, 2) if in_channels == 3 else 2))
        self.features = nn.Sequential(*layers)
        self.head = nn.Linear(widths[-1], classes)

    def forward(self, video: torch.Tensor) -> torch.Tensor:
        return self.head(self.features(video).mean((2, 3, 4)))
