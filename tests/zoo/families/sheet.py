"""A sheet of operations: a program whose outputs each come with the array expected."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import coremltools as ct
import numpy as np
from coremltools.converters.mil import Builder
from coremltools.converters.mil.mil import Function, Program, Var, types

from tests.zoo.compression import as_package
from tests.zoo.network import DEPLOYMENT_TARGETS, Array, Target

Float = type[np.float32] | type[np.float16]

MIL_TYPES: Mapping[str, type] = {"float32": types.fp32, "float16": types.fp16, "int32": types.int32}


class Operations:
    """Coremltools' builder, whose functions are made at run time and so are unknown to type checkers."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return self.named(name)

    def named(self, name: str) -> Callable[..., Any]:
        """Return the function that makes the operations of one type."""
        return getattr(Builder, name)


mb = Operations()

# What may cross the border of a program; other element types are cast.
BORDER = {types.fp32: np.float32, types.fp16: np.float16, types.int32: np.int32}


@dataclass
class Sheet:
    """A sheet that a family fills in: inputs are given, outputs are added with their expected values."""

    target: Target
    float: Float
    """The element type of floating-point inputs and constants."""
    vars: Mapping[str, Var]
    arrays: Mapping[str, Array]
    outputs: list[Var] = field(default_factory=list)
    expected: dict[str, Array] = field(default_factory=dict)

    def input(self, name: str) -> tuple[Var, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
        """Return an input and its array, in double precision."""
        return self.vars[name], self.arrays[name].astype(np.float64)

    def integers(self, name: str) -> tuple[Var, np.ndarray[tuple[int, ...], np.dtype[np.int32]]]:
        """Return an integer input and its array."""
        return self.vars[name], self.arrays[name].astype(np.int32)

    def scalar(self, name: str) -> tuple[Var, int]:
        """Return an integer input of one element as a scalar, which cannot cross the border, and its value."""
        return mb.squeeze(x=self.vars[name]), int(self.arrays[name].item())

    def number(self, value: float | list[float]) -> Array:
        """Return a constant in the sheet's element type.

        The builder gives defaults single precision even where that contradicts the operation; so they are given here.
        """
        return np.asarray(value, self.float)[()]

    def out(self, name: str, var: Var, expected: object) -> None:
        """Add an output; what may not cross the border is cast."""
        if var.dtype not in BORDER:
            var = mb.cast(x=var, dtype="fp32")
        elif any(var is other for other in (*self.outputs, *self.vars.values())):
            var = mb.identity(x=var)
        var.set_name(name)
        if name in self.expected:
            raise ValueError(f"two outputs are named '{name}'")
        self.outputs.append(var)
        self.expected[name] = np.asarray(expected).astype(np.int32 if var.dtype is types.int32 else np.float32)

    @property
    def has_mixed_types(self) -> bool:
        """True if parameters may have another float type than the operand, which iOS 17 brought."""
        return self.target in (Target.IOS17, Target.IOS18)


@dataclass(frozen=True)
class Family:
    """A family of operations at one target."""

    name: str
    target: Target
    float: Float
    inputs: Mapping[str, Array]
    fill: Callable[[Sheet], None]
    tolerance: float | None = None
    """The error allowed, where it is not that of the element type."""
    beyond_onnx: str | None = None
    """Why ONNX cannot say it, if so."""

    def build(self, folder: Path) -> None:
        """Write package, inputs, expected outputs and description into `folder`."""
        arrays = {
            name: array.astype(self.float) if array.dtype.kind == "f" else array.astype(np.int32)
            for name, array in self.inputs.items()
        }
        specs = {name: Builder.TensorSpec(array.shape, MIL_TYPES[array.dtype.name]) for name, array in arrays.items()}
        opset = DEPLOYMENT_TARGETS[self.target]
        program = Program()
        with Function(specs, opset_version=opset) as function:
            sheet = Sheet(self.target, self.float, dict(function.inputs), arrays)
            self.fill(sheet)
            function.set_outputs(sheet.outputs)
        program.add_function("main", function)
        model = ct.convert(
            program,
            convert_to="mlprogram",
            minimum_deployment_target=opset,
            # A class property, which type checkers take for an object.
            pass_pipeline=ct.PassPipeline.EMPTY,  # pyright: ignore[reportArgumentType]
            compute_precision=ct.precision.FLOAT32,
            skip_model_load=True,
        )
        folder.mkdir(parents=True, exist_ok=True)
        as_package(model).save(str(folder / "model.mlpackage"))
        np.savez_compressed(folder / "inputs.npz", allow_pickle=False, **arrays)
        np.savez_compressed(folder / "outputs.npz", allow_pickle=False, **sheet.expected)
        (folder / "meta.json").write_text(json.dumps(self.description(), indent=1) + "\n")

    def description(self) -> dict[str, object]:
        """Return what `meta.json` holds."""
        description: dict[str, object] = {
            "name": self.name,
            "summary": (self.fill.__doc__ or "").partition("\n")[0].removesuffix("."),
            "source": "coremltools builder",
            "precision": "fp32" if self.float is np.float32 else "fp16",
            "target": self.target.value,
        }
        optional = {"tolerance": self.tolerance, "beyond_onnx": self.beyond_onnx}
        return description | {key: value for key, value in optional.items() if value is not None}
