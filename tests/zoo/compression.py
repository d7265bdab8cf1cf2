"""Compression of the weights of a converted network by coremltools, and the weights that result.

The expected outputs of a compressed package are those of the torch network with the weights that
`coremltools.optimize.coreml.decompress_weights` gives back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import coremltools as ct
import coremltools.optimize.coreml as cto
import numpy as np
import torch
from torch import nn

Compression: TypeAlias = Callable[[ct.models.MLModel], ct.models.MLModel]

# Weights of fewer elements stay as they are, and so does what the converter computes from them.
THRESHOLD = 440


def as_package(result: object) -> ct.models.MLModel:
    """Return the package among what functions of coremltools may give."""
    if not isinstance(result, ct.models.MLModel):
        raise TypeError(f"expected a package, found {type(result).__name__}")
    return result


def palettized(bits: int, group: int | None = None) -> Compression:
    """Return compression to a table of 2 ** bits values, one for the tensor or one for each group of channels."""
    options = cto.OpPalettizerConfig(
        mode="uniform",
        nbits=bits,
        granularity="per_tensor" if group is None else "per_grouped_channel",
        group_size=group or 32,
        weight_threshold=THRESHOLD,
    )
    return _compression(cto.palettize_weights, options)


def linear(
    dtype: str, *, mode: str = "linear_symmetric", block: int | None = None, is_for_tensor: bool = False
) -> Compression:
    """Return linear quantization for the tensor, for each channel or for each block of input channels."""
    granularity = "per_tensor" if is_for_tensor else "per_channel" if block is None else "per_block"
    options = cto.OpLinearQuantizerConfig(
        mode=mode, dtype=dtype, granularity=granularity, block_size=block or 32, weight_threshold=THRESHOLD
    )
    return _compression(cto.linear_quantize_weights, options)


def sparse(share: float) -> Compression:
    """Return pruning of that share of each weight."""
    options = cto.OpMagnitudePrunerConfig(target_sparsity=share, weight_threshold=THRESHOLD)
    config = cto.OptimizationConfig(global_config=options)
    return lambda model: as_package(cto.prune_weights(model, config))


def joint(first: Compression, second: Compression) -> Compression:
    """Return compression of what another left: of the values of pruned weights, or of tables."""
    return lambda model: second(first(model))


def _compression(
    apply: Callable[..., object], options: cto.OpPalettizerConfig | cto.OpLinearQuantizerConfig
) -> Compression:
    config = cto.OptimizationConfig(global_config=options)

    def compress(model: ct.models.MLModel) -> ct.models.MLModel:
        operations = model.get_spec().mlProgram.functions["main"].block_specializations
        is_compressed = any(
            op.type.startswith("constexpr_") for block in operations.values() for op in block.operations
        )
        return as_package(apply(model, config, joint_compression=is_compressed))

    return compress


def use_decompressed(module: nn.Module, model: ct.models.MLModel) -> None:
    """Give each parameter of `module` that was compressed in `model` the value that comes back from there.

    Parameters are found by shape, also transposed, and nearness: the networks' weights are random, no two are equal.
    """
    metadata = cto.get_weights_metadata(as_package(cto.decompress_weights(model)), weight_threshold=THRESHOLD)
    weights = [np.asarray(entry.val, np.float32) for entry in metadata.values()]
    count = 0
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            original = parameter.numpy()
            candidates = [w for w in (*weights, *(w.T for w in weights if w.ndim == 2)) if w.shape == original.shape]
            if original.size < THRESHOLD or not candidates:
                continue
            nearest = min(candidates, key=lambda w: float(np.square(w - original).sum()))
            distance = np.square(nearest - original).sum() / np.square(original).sum()
            if distance > 0.75:
                raise ValueError(f"no weight of the package is near '{name}': relative distance {distance:.2f}")
            parameter.copy_(torch.from_numpy(nearest))
            count += 1
    if count < len(weights):
        raise ValueError(f"{len(weights)} weights are compressed, but only {count} parameters were found for them")
