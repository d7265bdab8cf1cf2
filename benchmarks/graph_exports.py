"""Exports of torch as ONNX models, for `graph_optimization`: `python -m benchmarks.graph_exports FOLDER [NAMES]`.

Small networks of the zoo with random weights and calibrated normalizations, and a detector, in the forms that users
meet: of both exporters of torch, folded as by default and raw, with static dims (`tests.zoo`) and with dynamic ones
(`tests.onnx_zoo`). Needs torch, onnxscript, transformers and coremltools. A form that an exporter refuses is left out.
"""

# Where torch is not installed, its classes are unknown.
# pyright: reportUntypedBaseClass=none

from __future__ import annotations

import contextlib
import io
import logging
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

from tests.onnx_zoo import export as zoo_export
from tests.onnx_zoo import networks as onnx_networks
from tests.zoo import language_recipes, sequence_recipes, vision_recipes
from tests.zoo.network import Recipe, Size, positional_inputs
from tests.zoo.recipe_parts import image_recipe

_SCRIPT_OPSET = 17
_DYNAMO_OPSET = 20
_WIDTH, _CLASSES, _BINS = 8, 4, 8


def _convolution(inputs: int, outputs: int, kernel: int = 3, stride: int = 1) -> nn.Sequential:
    """Returns a convolution with normalization and SiLU, as detectors have."""
    convolution = nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.SiLU())


class _Stage(nn.Module):
    """Halves the image, then passes one half of the channels through convolutions and joins all results."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.halve = _convolution(inputs, outputs, stride=2)
        self.inner = nn.Sequential(_convolution(outputs // 2, outputs // 2), _convolution(outputs // 2, outputs // 2))
        self.join = _convolution(3 * outputs // 2, outputs, kernel=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first, second = self.halve(x).chunk(2, 1)
        return self.join(torch.cat([first, second, second + self.inner(second)], 1))


class Detector(nn.Module):
    """Objects in images [n, 3, h, w] as boxes and class scores [n, 4 + classes, anchors], without anchors' boxes.

    Two scales; distances to the sides of a box are expectations over bins, as YOLOv8 has them.
    """

    def __init__(self) -> None:
        super().__init__()
        self.stem = _convolution(3, _WIDTH, stride=2)
        self.stages = nn.ModuleList([_Stage(_WIDTH, 2 * _WIDTH), _Stage(2 * _WIDTH, 4 * _WIDTH)])
        self.merge = _convolution(6 * _WIDTH, 2 * _WIDTH, kernel=1)
        self.heads = nn.ModuleList([nn.Conv2d(n * _WIDTH, 4 * _BINS + _CLASSES, 1) for n in (2, 4)])

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        fine = self.stages[0](self.stem(image))
        coarse = self.stages[1](fine)
        fine = self.merge(torch.cat([fine, functional.interpolate(coarse, scale_factor=2.0)], 1))
        scales = [head(x) for head, x in zip(self.heads, (fine, coarse), strict=True)]
        found = torch.cat([x.reshape(x.shape[0], 4 * _BINS + _CLASSES, -1) for x in scales], 2)
        distances, classes = found.split((4 * _BINS, _CLASSES), 1)
        shares = distances.reshape(distances.shape[0], 4, _BINS, -1).transpose(1, 2).softmax(1)
        bins = torch.arange(_BINS, dtype=torch.float32).reshape(1, _BINS, 1, 1)
        starts, ends = (shares * bins).sum(1).chunk(2, 1)
        centers = torch.cat([_centers(x) for x in scales], 1)
        corners = centers - starts, centers + ends
        boxes = torch.cat([(corners[0] + corners[1]) / 2, corners[1] - corners[0]], 1)
        return torch.cat([boxes, classes.sigmoid()], 1)


def _centers(x: torch.Tensor) -> torch.Tensor:
    """Returns the coordinates of the centers of a map's cells, [2, h w]."""
    rows = torch.arange(x.shape[2], dtype=torch.float32) + 0.5
    columns = torch.arange(x.shape[3], dtype=torch.float32) + 0.5
    y, x = torch.meshgrid(rows, columns, indexing="ij")
    return torch.stack([x, y]).reshape(2, -1)


def _yolo(size: Size) -> Recipe:
    return image_recipe("yolo", Detector(), size, output="found")


RECIPES: Mapping[str, Callable[[Size], Recipe]] = {
    "bert": language_recipes.bert,
    "gpt2": language_recipes.gpt2,
    "llama": language_recipes.llama,
    "t5": language_recipes.t5_decoder,
    "whisper_encoder": language_recipes.whisper_encoder,
    "swin": vision_recipes.swin,
    "vit": vision_recipes.vit,
    "convnext": vision_recipes.convnext,
    "mobilenet3": vision_recipes.mobilenet_v3,
    "resnet": vision_recipes.resnet,
    "unet": vision_recipes.unet_transposed,
    "yolo": _yolo,
    "lstm": sequence_recipes.lstm,
    "gru": sequence_recipes.gru,
    "tcn": sequence_recipes.tcn,
}


def _script(recipe: Recipe, path: Path, *, is_raw: bool) -> None:
    torch.onnx.export(
        recipe.module,
        positional_inputs(recipe, recipe.cases[0]),
        path,
        input_names=[spec.name for spec in recipe.inputs],
        output_names=list(recipe.outputs),
        opset_version=_SCRIPT_OPSET,
        do_constant_folding=not is_raw,
        training=torch.onnx.TrainingMode.PRESERVE if is_raw else torch.onnx.TrainingMode.EVAL,
        dynamo=False,
    )


def _dynamo(recipe: Recipe, path: Path, *, is_raw: bool) -> None:
    torch.onnx.export(
        recipe.module,
        positional_inputs(recipe, recipe.cases[0]),
        path,
        input_names=[spec.name for spec in recipe.inputs],
        output_names=list(recipe.outputs),
        opset_version=_DYNAMO_OPSET,
        optimize=not is_raw,
        dynamo=True,
        external_data=False,
    )


def _exports(name: str) -> dict[str, Callable[[Path], object]]:
    """Returns the exports of a network, by the suffix of the file."""
    result: dict[str, Callable[[Path], object]] = {}
    if name in RECIPES:
        recipe = RECIPES[name](Size.SMALL)
        result["script"] = lambda path: _script(recipe, path, is_raw=False)
        result["script_raw"] = lambda path: _script(recipe, path, is_raw=True)
        result["dynamo"] = lambda path: _dynamo(recipe, path, is_raw=False)
        result["dynamo_raw"] = lambda path: _dynamo(recipe, path, is_raw=True)
    if name in onnx_networks.NETWORKS:
        network = onnx_networks.NETWORKS[name]
        module = network.module()
        for exporter in zoo_export.Exporter:
            result[f"{exporter.value}_dynamic"] = lambda path, exporter=exporter: zoo_export.export(
                network, module, exporter, path
            )
    return result


def main() -> int:
    """Writes the exports that a folder does not have yet."""
    folder, *names = sys.argv[1:] or [""]
    if not folder:
        sys.exit(__doc__)
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name in names or dict.fromkeys((*RECIPES, *onnx_networks.NETWORKS)):
        for suffix, export in _exports(name).items():
            path = Path(folder) / f"{name}.{suffix}.onnx"
            if not path.exists():
                _attempt(export, path)
    return 0


def _attempt(export: Callable[[Path], object], path: Path) -> None:
    """Exports, or prints why that is not possible."""
    logging.disable(logging.CRITICAL)
    try:
        with torch.no_grad(), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            export(path)
        print(path, flush=True)
    except Exception as error:  # noqa: BLE001  whatever exporters raise
        path.unlink(missing_ok=True)
        print(f"{path.name} is left out: {str(error).strip().splitlines()[:1]}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
