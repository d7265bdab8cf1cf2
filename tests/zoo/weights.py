"""Random weights that keep a network's values of order one and far from degenerate.

Networks as constructed have biases of zero, affine parameters of one and running statistics of (0, 1); a converter that
dropped any of them would pass unnoticed. `draw_weights` replaces every parameter, and `calibrate_batch_norms` sets the
running statistics to those of a random batch, so that activations neither vanish nor explode with depth.
"""

from __future__ import annotations

import torch
from torch import nn
from transformers.pytorch_utils import Conv1D


def draw_weights(module: nn.Module, seed: int) -> None:
    """Replace every parameter of `module` by a seeded random one, scaled by its fan-in."""
    generator = torch.Generator().manual_seed(seed)

    def normal(parameter: nn.Parameter | torch.Tensor | None, std: float) -> None:
        if parameter is not None:
            parameter.normal_(0.0, std, generator=generator)

    with torch.no_grad():
        for submodule in module.modules():
            match submodule:
                case nn.Conv2d() | nn.Linear():
                    normal(submodule.weight, submodule.weight[0].numel() ** -0.5)
                    normal(submodule.bias, 0.1)
                case nn.ConvTranspose2d():
                    # The kernel covers each output pixel kernel/stride times in each direction.
                    taps = submodule.weight[:, 0].numel() / (submodule.stride[0] * submodule.stride[1])
                    normal(submodule.weight, taps**-0.5)
                    normal(submodule.bias, 0.1)
                case Conv1D():
                    normal(submodule.weight, submodule.weight.shape[0] ** -0.5)
                    normal(submodule.bias, 0.1)
                case nn.Embedding():
                    normal(submodule.weight, submodule.embedding_dim**-0.5)
                case nn.BatchNorm2d() | nn.LayerNorm():
                    submodule.weight.uniform_(0.5, 1.5, generator=generator)
                    normal(submodule.bias, 0.2)
                    if isinstance(submodule, nn.BatchNorm2d):
                        # Around zero, relu makes a deep random network chaotic: the rounding of half precision then
                        # changes the result of a ResNet-50 by 3 %, against 0.1 % from here.
                        submodule.bias.add_(1.0)
                case nn.RNNBase():
                    # The spectral radius of a large matrix stays below one: above, a hundred steps are chaotic, and
                    # the last bit of a sum decides the result.
                    for parameter in submodule.parameters(recurse=False):
                        normal(parameter, min(0.5, 8 / submodule.hidden_size))
                case _:
                    for parameter in submodule.parameters(recurse=False):
                        normal(parameter, 0.5)


def calibrate_batch_norms(module: nn.Module, batch: torch.Tensor) -> None:
    """Set the running statistics of every batch norm to those it sees when `module` runs on `batch`."""
    batch_norms = [submodule for submodule in module.modules() if isinstance(submodule, nn.BatchNorm2d)]
    momenta = [batch_norm.momentum for batch_norm in batch_norms]
    for batch_norm in batch_norms:
        batch_norm.reset_running_stats()
        batch_norm.momentum = 1.0
        batch_norm.train()
    with torch.no_grad():
        module(batch)
    for batch_norm, momentum in zip(batch_norms, momenta, strict=True):
        batch_norm.momentum = momentum
        batch_norm.eval()
