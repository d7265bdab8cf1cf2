"""A network of the zoo: how it is made, converted with coremltools, and kept with inputs and torch's outputs.

Nothing here runs a Core ML model; the expected outputs are those of the float32 torch network.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TypeAlias

import coremltools as ct
import numpy as np
import torch
from torch import nn

Array: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.generic]]


class Size(Enum):
    """How large a network is made."""

    SMALL = "small"
    """The operations of the real one in a package of a few hundred kilobytes."""
    REAL = "real"
    """The published size."""


class Precision(Enum):
    """The compute precision asked of coremltools."""

    FP32 = "fp32"
    FP16 = "fp16"


class Target(Enum):
    """The deployment target asked of coremltools; it decides the operation set."""

    IOS15 = "iOS15"
    IOS16 = "iOS16"
    IOS17 = "iOS17"
    IOS18 = "iOS18"


COMPUTE_PRECISIONS = {Precision.FP32: ct.precision.FLOAT32, Precision.FP16: ct.precision.FLOAT16}
DEPLOYMENT_TARGETS = {
    Target.IOS15: ct.target.iOS15,
    Target.IOS16: ct.target.iOS16,
    Target.IOS17: ct.target.iOS17,
    Target.IOS18: ct.target.iOS18,
}


@dataclass(frozen=True)
class DimRange:
    """A flexible dimension, bounds inclusive."""

    lower: int
    upper: int
    default: int


@dataclass(frozen=True)
class TensorInput:
    """A multiarray input. Integers are declared int32; floats as the precision and target make them."""

    name: str
    dims: tuple[int | DimRange, ...]
    is_integer: bool = False

    def declaration(self) -> ct.TensorType:
        dims = tuple(
            ct.RangeDim(dim.lower, dim.upper, dim.default) if isinstance(dim, DimRange) else dim for dim in self.dims
        )
        return ct.TensorType(name=self.name, shape=dims, dtype=np.int32 if self.is_integer else None)

    def as_network_sees(self, array: Array) -> torch.Tensor:
        return torch.from_numpy(array)


@dataclass(frozen=True)
class ImageInput:
    """An RGB image input with pixels 0..255; the package computes `scale * pixel + bias` itself."""

    name: str
    shape: tuple[int, int, int, int]
    scale: float
    bias: tuple[float, float, float]

    def declaration(self) -> ct.ImageType:
        return ct.ImageType(
            name=self.name,
            shape=self.shape,
            scale=self.scale,
            bias=list(self.bias),
            color_layout=ct.colorlayout.RGB,
        )

    def as_network_sees(self, array: Array) -> torch.Tensor:
        return torch.from_numpy(array) * self.scale + torch.tensor(self.bias).reshape(1, 3, 1, 1)


@dataclass(frozen=True)
class Recipe:
    """A network of one size, with its weights, and the inputs to run it with."""

    module: nn.Module
    inputs: tuple[TensorInput | ImageInput, ...]
    outputs: tuple[str, ...]
    cases: tuple[Mapping[str, Array], ...]
    """Values for each input; floats are exact in half precision. The first case has the default shapes."""
    class_labels: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Sample:
    """A converted network on disk."""

    folder: Path

    @property
    def package(self) -> Path:
        return self.folder / "model.mlpackage"

    @property
    def inputs(self) -> Path:
        """Arrays in the declared types. Keys: feature names; those of further cases are `case1/NAME` and so on."""
        return self.folder / "inputs.npz"

    @property
    def outputs(self) -> Path:
        """What the float32 network gives, in float32, under the same kind of keys."""
        return self.folder / "outputs.npz"

    @property
    def meta(self) -> Path:
        return self.folder / "meta.json"


@dataclass(frozen=True)
class Network:
    """One entry of the zoo."""

    name: str
    summary: str
    source: str
    """Where the torch implementation comes from."""
    recipe: Callable[[Size], Recipe]
    targets: Mapping[Precision, Target]
    """The target used for each precision when none is asked for; together the zoo covers all of them."""
    is_beyond_issue: bool = False
    """Whether commonir is not yet expected to run it."""

    def build(self, size: Size, precision: Precision, target: Target | None, folder: Path) -> Sample:
        """Make the network, convert it, and write package, inputs, outputs and description into `folder`."""
        target = target or self.targets[precision]
        recipe = self.recipe(size)
        sample = Sample(folder)
        folder.mkdir(parents=True, exist_ok=True)
        model = convert(recipe, precision, target)
        model.save(str(sample.package))
        declared = declared_dtypes(model)
        inputs: dict[str, Array] = {}
        outputs: dict[str, Array] = {}
        for number, case in enumerate(recipe.cases):
            prefix = f"case{number}/" if number else ""
            for name, array in case.items():
                inputs[prefix + name] = array.astype(declared[name])
            for name, array in run_torch(recipe, case).items():
                outputs[prefix + name] = array
        np.savez_compressed(sample.inputs, allow_pickle=False, **inputs)
        np.savez_compressed(sample.outputs, allow_pickle=False, **outputs)
        description = {
            "name": self.name,
            "summary": self.summary,
            "source": self.source,
            "size": size.value,
            "precision": precision.value,
            "target": target.value,
            "parameters": sum(parameter.numel() for parameter in recipe.module.parameters()),
        }
        sample.meta.write_text(json.dumps(description, indent=1) + "\n")
        return sample


def positional_inputs(recipe: Recipe, case: Mapping[str, Array]) -> tuple[torch.Tensor, ...]:
    """Return the arguments of the torch module for one case."""
    return tuple(spec.as_network_sees(case[spec.name]) for spec in recipe.inputs)


def run_torch(recipe: Recipe, case: Mapping[str, Array]) -> dict[str, Array]:
    """Run the float32 network and return its outputs by name."""
    with torch.no_grad():
        result = recipe.module(*positional_inputs(recipe, case))
    tensors = result if isinstance(result, tuple) else (result,)
    return {name: tensor.numpy() for name, tensor in zip(recipe.outputs, tensors, strict=True)}


def convert(recipe: Recipe, precision: Precision, target: Target) -> ct.models.MLModel:
    """Trace the network on its first case and convert it to an ML Program."""
    with torch.no_grad():
        traced = torch.jit.trace(
            recipe.module, positional_inputs(recipe, recipe.cases[0]), strict=False, check_trace=False
        )
    classifier = None
    outputs = None
    if recipe.class_labels is None:
        outputs = [ct.TensorType(name=name) for name in recipe.outputs]
    else:
        classifier = ct.ClassifierConfig(list(recipe.class_labels))
    model = ct.convert(
        traced,
        inputs=[spec.declaration() for spec in recipe.inputs],
        outputs=outputs,
        classifier_config=classifier,
        minimum_deployment_target=DEPLOYMENT_TARGETS[target],
        compute_precision=COMPUTE_PRECISIONS[precision],
        skip_model_load=True,
    )
    if not isinstance(model, ct.models.MLModel):
        raise TypeError(f"expected a package, found {type(model).__name__}")
    return model


# ArrayFeatureType.ArrayDataType of FeatureTypes.proto: FLOAT16, FLOAT32, INT32.
ARRAY_DTYPES: Mapping[int, type[np.generic]] = {65552: np.float16, 65568: np.float32, 131104: np.int32}


def declared_dtypes(model: ct.models.MLModel) -> dict[str, type[np.generic]]:
    """Return the element type that the package declares for each input; images hold float32 pixels."""
    dtypes: dict[str, type[np.generic]] = {}
    for feature in model.get_spec().description.input:
        is_image = feature.type.WhichOneof("Type") == "imageType"
        dtypes[feature.name] = np.float32 if is_image else ARRAY_DTYPES[feature.type.multiArrayType.dataType]
    return dtypes
