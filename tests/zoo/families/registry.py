"""The table `FAMILIES` of all programs of one family."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from tests.zoo.families import compressed, elementwise, images, layers, sequences, shapes
from tests.zoo.families.sheet import Family, Float, Sheet
from tests.zoo.network import Array, Target

IOS15, IOS16, IOS17, IOS18 = Target.IOS15, Target.IOS16, Target.IOS17, Target.IOS18
SINGLE, HALF = np.float32, np.float16


Real = NDArray[np.float64]


def normal(*shape: int) -> Real:
    """Return seeded values of order one that half precision holds exactly."""
    return np.round(np.random.default_rng(sum(shape)).standard_normal(shape) * 64) / 64


def positive(*shape: int) -> Real:
    """Return such values between a quarter and four."""
    return np.round(np.random.default_rng(len(shape)).uniform(0.25, 4, shape) * 64) / 64


def distinct(*shape: int) -> Real:
    """Return values of which no two are equal."""
    return np.random.default_rng(7).permutation(int(np.prod(shape))).reshape(shape) / 4 - 2.0


def members(
    fill: Callable[[Sheet], None],
    inputs: Mapping[str, Array],
    *targets: tuple[Target, Float],
    **options: float | str | None,
) -> list[Family]:
    """Return a family at several targets."""
    tolerance, beyond = options.get("tolerance"), options.get("beyond_onnx")
    return [
        Family(
            f"{fill.__name__}_{target.value}",
            target,
            element,
            inputs,
            fill,
            tolerance if isinstance(tolerance, float) else None,
            beyond if isinstance(beyond, str) else None,
        )
        for target, element in targets
    ]


_BOTH = ((IOS15, SINGLE), (IOS17, HALF))


def all_families() -> Mapping[str, Family]:
    """Return the families by name, each at the targets that define its operations anew."""
    families = [*_of_layers(), *_of_shapes(), *_of_images(), *_of_sequences_and_weights()]
    return {family.name: family for family in families}


def _of_layers() -> list[Family]:
    return [
        *members(
            elementwise.unary,
            {"x": normal(2, 3, 4), "within_one": normal(2, 3) / 4, "positive": positive(2, 3)},
            *_BOTH,
        ),
        *members(
            elementwise.binary,
            {
                "x": normal(2, 3, 4),
                "y": normal(3, 1) + 0.015625,
                "positive": positive(2, 3, 4),
                "n": np.array([7, -8, 9, -3]),
                "m": np.array([2, 3, -4, -2]),
            },
            (IOS15, SINGLE),
            (IOS16, HALF),
        ),
        *members(elementwise.activation, {"x": normal(2, 3, 4, 5)}, *_BOTH),
        *members(
            layers.linear_algebra,
            {"x": normal(2, 3, 4), "y": normal(2, 4, 2), "nchw": normal(1, 2, 3, 4), "nwhu": normal(1, 4, 3, 2)},
            *_BOTH,
        ),
        *members(
            layers.attention,
            {
                "query": normal(1, 2, 3, 4),
                "key": normal(1, 2, 5, 4),
                "value": normal(1, 2, 5, 6),
                "mask": normal(1, 1, 3, 5),
            },
            (IOS18, SINGLE),
        ),
        *members(
            layers.convolution,
            {"line": normal(1, 2, 9), "plane": normal(1, 4, 7, 6), "volume": normal(1, 2, 3, 4, 5)},
            *_BOTH,
        ),
        *members(
            layers.pooling,
            {"x": distinct(1, 2, 7, 6), "line": normal(1, 2, 9), "volume": normal(1, 2, 3, 4, 5)},
            *_BOTH,
        ),
        *members(layers.normalization, {"x": normal(2, 3, 4, 5)}, *_BOTH),
        *members(
            layers.reduction,
            {"x": distinct(2, 3, 4), "positive": positive(2, 3, 4), "n": np.arange(6).reshape(2, 3)},
            *_BOTH,
        ),
    ]


def _of_shapes() -> list[Family]:
    x = normal(2, 3, 4)
    return [
        *members(shapes.shape, {"x": normal(2, 3, 4), "with_ones": normal(1, 3, 1, 2)}, (IOS15, SINGLE), (IOS18, HALF)),
        *members(shapes.rearrangement, {"x": normal(1, 8, 4, 6)}, (IOS15, SINGLE), (IOS16, HALF)),
        *members(shapes.slicing, {"x": x}, (IOS15, SINGLE)),
        *members(shapes.slicing, {"x": x, "update": normal(2, 2, 2)}, (IOS18, HALF)),
        *members(
            shapes.indexing,
            {
                "x": positive(3, 4),
                "indices": np.array([2, 0]),
                "updates": positive(3, 2),
                "along": np.array([[1, 0], [3, 2], [0, 3]]),
                "pairs": np.array([[0, 1], [2, 3], [1, 0]]),
            },
            (IOS15, SINGLE),
            (IOS16, HALF),
            (IOS17, SINGLE),
        ),
        *members(shapes.sorting, {"x": distinct(3, 4), "lengths": np.array([2, 4, 1])}, (IOS15, SINGLE), (IOS17, HALF)),
        *members(shapes.generation, {"x": x, "size": np.array([8])}, (IOS15, SINGLE), (IOS16, HALF)),
    ]


def _of_images() -> list[Family]:
    image = distinct(1, 2, 4, 5)
    matrix = np.array([[0.5, 0.25, 0.125, -0.25, 0.75, 0.0]])
    logits = np.array([[[2.0, -1.0], [1.0, 0.0], [-1.0, 1.5], [-2.0, -3.0]]])
    return [
        *members(images.resizing, {"x": image}, *_BOTH),
        *members(images.crops, {"x": image}, (IOS15, SINGLE), (IOS17, SINGLE)),
        *members(
            images.sampling,
            {"x": image, "grid": images.positions(5).numpy(), "matrix": matrix},
            (IOS15, SINGLE),
            (IOS16, HALF),
        ),
        *members(images.detector, {"offsets": normal(1, 4, 4) / 4, "logits": logits}, *_BOTH),
    ]


def _of_sequences_and_weights() -> list[Family]:
    probabilities = np.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]])
    x = normal(2, 3, 4)
    return [
        *members(
            sequences.recurrent,
            {"x": normal(5, 2, 3), "h": normal(2, 4), "c": normal(2, 4) / 2},
            (IOS15, SINGLE),
            (IOS17, HALF),
        ),
        *members(sequences.control, {"x": x, "limit": np.array([3])}, (IOS15, SINGLE), (IOS18, HALF)),
        *members(sequences.lists, {"x": normal(3, 4), "index": np.array([1])}, (IOS15, SINGLE), (IOS17, HALF)),
        *members(compressed.quantization, {"x": normal(3, 4) * 8}, (IOS17, SINGLE), (IOS18, HALF)),
        *members(compressed.constexpr_bytes, {"x": normal(3, 4)}, (IOS16, SINGLE), (IOS17, HALF)),
        *members(compressed.constexpr_chains, {"x": normal(3, 4)}, (IOS18, SINGLE)),
        *members(sequences.random, {"x": probabilities}, (IOS15, SINGLE), (IOS18, HALF), tolerance=0.05),
    ]


FAMILIES: Mapping[str, Family] = all_families()
