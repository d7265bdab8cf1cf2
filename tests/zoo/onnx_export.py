"""Export of the zoo's torch networks to ONNX by torch itself, which benchmarks compare with."""

from __future__ import annotations

from pathlib import Path

import torch

from tests.zoo.network import Recipe, positional_inputs

ONNX_OPSET = 18


def export_onnx(recipe: Recipe, path: Path) -> None:
    """Write the network of `recipe` to `path` with the shapes of its first case and weights in the same file."""
    with torch.no_grad():
        torch.onnx.export(
            recipe.module,
            positional_inputs(recipe, recipe.cases[0]),
            path,
            input_names=[spec.name for spec in recipe.inputs],
            output_names=list(recipe.outputs),
            opset_version=ONNX_OPSET,
            dynamo=False,
        )
