"""Parts that recipes of networks share: seeded inputs, finished modules, the recipe of a network on images."""

from __future__ import annotations

import zlib

import numpy as np
import torch
from torch import nn

from tests.zoo.network import Array, DimRange, Recipe, Size, TensorInput
from tests.zoo.weights import calibrate_batch_norms, draw_weights


def random_generator(name: str) -> np.random.Generator:
    """Return the generator of the inputs of the network `name`."""
    return np.random.default_rng(zlib.crc32(name.encode()))


def half_exact(array: Array) -> Array:
    """Return the values rounded to half precision, in float32, so that every precision gets the same inputs."""
    return array.astype(np.float16).astype(np.float32)


def finished(module: nn.Module, name: str, calibration_shape: tuple[int, ...] | None = None) -> nn.Module:
    """Return `module` with weights drawn from a seed that follows from `name`, ready for inference."""
    seed = zlib.crc32(name.encode())
    module.eval().requires_grad_(False)
    draw_weights(module, seed)
    if calibration_shape is not None:
        batch = torch.randn(calibration_shape, generator=torch.Generator().manual_seed(seed + 1))
        calibrate_batch_norms(module, batch)
    return module


def image_side(size: Size) -> int:
    """Return height and width of the images that the classifiers take."""
    return 224 if size is Size.REAL else 32


def image_recipe(
    name: str,
    module: nn.Module,
    size: Size,
    *,
    side: int | None = None,
    output: str = "logits",
    dims: tuple[int | DimRange, ...] | None = None,
    further_shapes: tuple[tuple[int, ...], ...] = (),
) -> Recipe:
    """Return the recipe of a network from one tensor of images to one output."""
    side = side or image_side(size)
    generator = random_generator(name)
    finished(module, name, (4 if size is Size.REAL else 16, 3, side, side))
    shapes = ((1, 3, side, side), *further_shapes)
    return Recipe(
        module,
        (TensorInput("image", dims or shapes[0]),),
        (output,),
        tuple({"image": half_exact(generator.standard_normal(shape, dtype=np.float32))} for shape in shapes),
    )
