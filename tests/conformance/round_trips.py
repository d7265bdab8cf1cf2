"""A program through the other forms it has: written as a package again, as MIL text, and made from the core.

Packages are compared by coremltools' own message classes, and opened by its own loader.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import commonir

from tests.conformance.samples import Arrays, Sample


class ModelMessage(Protocol):
    """The part of coremltools' message that is used."""

    specificationVersion: int  # noqa: N815  the name of the field


# What a package has beside its model is not part of a text.
NOT_IN_TEXT = ("coreml.manifest", "coreml.files")
MODEL_FOLDER = Path("Data/com.apple.CoreML")


def check_written_again(program: commonir.Module, package: Path, folder: Path) -> None:
    """Write a package again; raise unless its messages are equal field by field and its weights byte by byte."""
    again = folder / "again.mlpackage"
    commonir.save(program, again)
    if model_message(package) != model_message(again):
        raise ValueError("the model written again has other messages")
    if weights_of(package) != weights_of(again):
        raise ValueError("the package written again has other weights")


def model_message(package: Path) -> ModelMessage:
    """Return the model of a package in coremltools' own message class."""
    # Takes seconds to import.
    from coremltools.models.utils import load_spec  # noqa: PLC0415

    # Not the package: coremltools refuses one whose empty folder of weights git has dropped.
    return load_spec(str(package / MODEL_FOLDER / "model.mlmodel"))  # pyright: ignore[reportReturnType]  annotated as the module of its class


def weights_of(package: Path) -> dict[Path, bytes]:
    """Return the weight files of a package by place."""
    return {path.relative_to(package): path.read_bytes() for path in package.rglob("weights/*")}


def check_text(package: Path, folder: Path) -> None:
    """Write a program as MIL text and read it back; raise unless it is the same program."""
    path = folder / "model.mil"
    program = commonir.load(package)
    for key in NOT_IN_TEXT:
        program.set_extra(key, None)
    commonir.save(program, path)
    before, after = (commonir.show(module, elide=False) for module in (program, commonir.load(path)))
    for number, (old, new) in enumerate(zip(before.splitlines(), after.splitlines(), strict=False)):
        if old != new:
            raise ValueError(f"line {number} read from MIL text differs:\n       {old.strip()}\n       {new.strip()}")
    if before != after:
        raise ValueError("the program read from MIL text is longer or shorter")


def remade(program: commonir.Module, folder: Path) -> Path:
    """Return a package made from the core form of a program, which coremltools opens."""
    package = folder / "remade.mlpackage"
    commonir.save(commonir.convert(commonir.lower(program), "coreml"), package)
    open_with_coremltools(package)
    return package


def open_with_coremltools(package: Path) -> None:
    """Load a package into coremltools' own program form; raise what it raises."""
    # Takes seconds to import.
    from coremltools.converters.mil.frontend.milproto.load import load  # noqa: PLC0415

    model = model_message(package)
    weights = package / MODEL_FOLDER / "weights"
    load(model, specification_version=model.specificationVersion, file_weights_dir=str(weights))


def run_cases(program: commonir.Module, sample: Sample) -> dict[str, Arrays]:
    """Run a program on each case; steps share one state."""
    state = commonir.State()
    return {
        case: commonir.run(program, arrays, state=state if sample.are_steps else None)
        for case, arrays in sample.inputs.items()
    }
