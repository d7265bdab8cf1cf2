"""Export of a network by torch, with named sizes."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from enum import Enum
from pathlib import Path

import torch
from torch import nn

from tests.onnx_zoo.networks import Array, Network

OPSET = 18


class Exporter(Enum):
    """The two exporters of torch."""

    SCRIPT = "script"
    """By tracing, `dynamo=False`."""
    DYNAMO = "dynamo"
    """By `torch.export`, `dynamo=True`."""


def export(network: Network, module: nn.Module, exporter: Exporter, path: Path) -> None:
    """Write the network with weights in the same file."""
    arguments = tuple(torch.from_numpy(array) for array in network.cases()[0].values())
    with torch.no_grad(), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        logging.disable(logging.WARNING)
        try:
            if exporter is Exporter.SCRIPT:
                _export_script(network, module, arguments, path)
            else:
                _export_dynamo(network, module, arguments, path)
        finally:
            logging.disable(logging.NOTSET)


def _export_script(network: Network, module: nn.Module, arguments: tuple[torch.Tensor, ...], path: Path) -> None:
    torch.onnx.export(
        module,
        arguments,
        path,
        input_names=[spec.name for spec in network.inputs],
        output_names=list(network.outputs),
        dynamic_axes={spec.name: spec.dynamic for spec in network.inputs},
        opset_version=OPSET,
        dynamo=False,
    )


def _export_dynamo(network: Network, module: nn.Module, arguments: tuple[torch.Tensor, ...], path: Path) -> None:
    sizes = {name: torch.export.Dim(name, min=low, max=high) for name, (low, high) in network.ranges.items()}
    for name, step in (network.multiples or {}).items():
        low, high = network.ranges[name]
        sizes[name] = step * torch.export.Dim(f"{name}_by_{step}", min=low // step, max=high // step)
    torch.onnx.export(
        module,
        arguments,
        path,
        input_names=[spec.name for spec in network.inputs],
        output_names=list(network.outputs),
        dynamic_shapes=tuple({axis: sizes[name] for axis, name in spec.dynamic.items()} for spec in network.inputs),
        opset_version=OPSET,
        dynamo=True,
        external_data=False,
    )


def run_torch(module: nn.Module, case: dict[str, Array], outputs: tuple[str, ...]) -> dict[str, Array]:
    """Returns what torch gives."""
    with torch.no_grad():
        result = module(*(torch.from_numpy(array) for array in case.values()))
    tensors = result if isinstance(result, tuple) else (result,)
    return {name: tensor.numpy() for name, tensor in zip(outputs, tensors, strict=True)}
