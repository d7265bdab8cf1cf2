"""Makes the example of the README: `python -m examples.make_example`, from the root of the repository.

The network is a MobileNetV3-Small of half width for 100 classes and one to sixteen images of 96 x 96, with random
weights, converted from torch by coremltools. Needs what `tests.zoo` needs. Nothing of commonir takes part, so that the
expected outputs, torch's own, are independent of it.

Source: Howard et al., "Searching for MobileNetV3", 2019, table 2.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.zoo.convolutional import BottleneckConfig, MobileNetV3
from tests.zoo.network import DimRange, Precision, Recipe, Size, Target, convert, run_torch
from tests.zoo.registry import image_recipe

NAME = "mobilenet"
FOLDER = Path(__file__).parent

MOBILENET_V3_SMALL_HALF_WIDTH = (
    BottleneckConfig(3, 8, 8, True, False, 2),
    BottleneckConfig(3, 40, 16, False, False, 2),
    BottleneckConfig(3, 48, 16, False, False, 1),
    BottleneckConfig(5, 48, 24, True, True, 2),
    BottleneckConfig(5, 120, 24, True, True, 1),
    BottleneckConfig(5, 120, 24, True, True, 1),
    BottleneckConfig(5, 64, 24, True, True, 1),
    BottleneckConfig(5, 72, 24, True, True, 1),
    BottleneckConfig(5, 144, 48, True, True, 2),
    BottleneckConfig(5, 288, 48, True, True, 1),
    BottleneckConfig(5, 288, 48, True, True, 1),
)


def mobilenet() -> Recipe:
    """Return the network, its inputs and its weights."""
    side = 96
    return image_recipe(
        NAME,
        MobileNetV3(MOBILENET_V3_SMALL_HALF_WIDTH, stem=8, hidden=256, classes=100),
        Size.SMALL,
        side=side,
        dims=(DimRange(1, 16, 1), 3, side, side),
    )


def main() -> None:
    """Write the package, its inputs and torch's outputs next to this file."""
    recipe = mobilenet()
    convert(recipe, Precision.FP32, Target.IOS15).save(str(FOLDER / f"{NAME}.mlpackage"))
    case = recipe.cases[0]
    np.savez_compressed(FOLDER / f"{NAME}_inputs.npz", allow_pickle=False, **case)
    np.savez_compressed(FOLDER / f"{NAME}_outputs.npz", allow_pickle=False, **run_torch(recipe, case))


if __name__ == "__main__":
    main()
