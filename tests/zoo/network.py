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

from tests.zoo.compression import Compression, use_decompressed

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


# What coremltools calls the outputs of a classifier.
CLASS_LABEL = "classLabel"
CLASS_PROBABILITIES = "classLabel_probs"

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
    image_outputs: frozenset[str] = frozenset()
    """Outputs declared as RGB images; torch gives pixels 0..255 for them."""
    states: tuple[str, ...] = ()
    """Buffers of the module that are states of the package. Cases are then steps of one sequence, from zeros."""
    is_scripted: bool = False
    """Whether the module is compiled with its loops instead of traced."""

    def output_declarations(self) -> list[ct.TensorType | ct.ImageType]:
        return [
            ct.ImageType(name=name, color_layout=ct.colorlayout.RGB)
            if name in self.image_outputs
            else ct.TensorType(name=name)
            for name in self.outputs
        ]

    def state_declarations(self) -> list[ct.StateType]:
        buffers = dict(self.module.named_buffers())
        return [
            # The parameter is annotated as a class, but an instance is meant.
            ct.StateType(ct.TensorType(shape=tuple(buffers[name].shape), dtype=np.float16), name=name)  # pyright: ignore[reportArgumentType]
            for name in self.states
        ]

    def reset_states(self) -> None:
        for name, buffer in self.module.named_buffers():
            if name in self.states:
                buffer.zero_()


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
        """The outputs of the float32 network, in float32, under the same keys."""
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
    compression: Compression | None = None
    """The compression of the weights after the conversion."""

    def build(self, size: Size, precision: Precision, target: Target | None, folder: Path) -> Sample:
        """Make the network, convert it, and write package, inputs, outputs and description into `folder`."""
        target = target or self.targets[precision]
        recipe = self.recipe(size)
        sample = Sample(folder)
        folder.mkdir(parents=True, exist_ok=True)
        model = convert(recipe, precision, target)
        if self.compression is not None:
            model = self.compression(model)
            use_decompressed(recipe.module, model)
        model.save(str(sample.package))
        declared = declared_dtypes(model)
        inputs: dict[str, Array] = {}
        outputs: dict[str, Array] = {}
        recipe.reset_states()
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
            "cases_are_steps": bool(recipe.states),
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
    arrays: dict[str, Array] = {name: tensor.numpy() for name, tensor in zip(recipe.outputs, tensors, strict=True)}
    if recipe.class_labels is not None:
        (probabilities,) = arrays.values()
        arrays = {
            CLASS_LABEL: np.array(recipe.class_labels[int(probabilities.argmax())]),
            CLASS_PROBABILITIES: probabilities.reshape(-1),
        }
    return arrays


def convert(recipe: Recipe, precision: Precision, target: Target) -> ct.models.MLModel:
    """Trace the network on its first case and convert it to an ML Program."""
    with torch.no_grad():
        if recipe.is_scripted:
            program = torch.jit.freeze(torch.jit.script(recipe.module))
        else:
            arguments = positional_inputs(recipe, recipe.cases[0])
            program = torch.jit.trace(recipe.module, arguments, strict=False, check_trace=False)
    classifier = None
    outputs = None
    if recipe.class_labels is None:
        outputs = recipe.output_declarations()
    else:
        classifier = ct.ClassifierConfig(list(recipe.class_labels))
    model = ct.convert(
        program,
        inputs=[spec.declaration() for spec in recipe.inputs],
        outputs=outputs,
        states=recipe.state_declarations() or None,
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
