"""Converted programs checked by the rules of the format, loaded by coremltools and run by our engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from commonir.base.arrays import dtype_of
from commonir.base.diagnostics import Diagnostics
from commonir.conversions.conversion import ConversionOptions
from commonir.conversions.core_to_mil import core_to_mil
from commonir.dialects.core.base import tensor_type
from commonir.dialects.mil.description import description_of
from commonir.formats.coreml.verify import verify_program
from commonir.formats.coreml.write import write
from commonir.ir.module import Module
from commonir.ods import Dialects, verify
from commonir.passes.canonicalize import canonicalized
from commonir.passes.lower import lower
from commonir.runtime.interpreter.engine import ENGINE as REFERENCE

from tests.oracles import oracle

Array = np.ndarray[Any, Any]


def converted(module: Module, target: str | None = None, lost: Diagnostics | None = None, **options: Any) -> Module:
    """A lowered module as a Core ML module, in which the rules of operations and of the format find nothing wrong."""
    result = core_to_mil(canonicalized(module), ConversionOptions(target=target, **options), lost)
    description = description_of(result)
    assert description is not None
    assert [str(d) for d in (*verify(result, Dialects()), *verify_program(result, description))] == []
    return result


def run_mil(module: Module, arrays: Mapping[str, Array], function: str | None = None) -> list[Array]:
    """Returns what a Core ML module gives; inputs are converted to the types that it has, scalars to vectors."""
    lowered = lower(module)
    inputs = lowered.function(function).inputs
    arguments = {
        v.name: np.atleast_1d(a).astype(dtype_of(tensor_type(v).element.name))
        for v, a in zip(inputs, arrays.values(), strict=True)
    }
    return list(REFERENCE.prepare(lowered, function).run(arguments).values())


def load_in_coremltools(module: Module, folder: Path) -> Any:
    """The program as coremltools reads it from a package, which infers all types and shapes anew."""
    oracle("coremltools")
    from coremltools.converters.mil.frontend.milproto.load import load  # noqa: PLC0415  an oracle
    from coremltools.models.utils import load_spec  # noqa: PLC0415

    package = folder / "model.mlpackage"
    write(module, package)
    spec: Any = load_spec(str(package))
    weights = package / "Data" / "com.apple.CoreML" / "weights"
    return load(spec, specification_version=spec.specificationVersion, file_weights_dir=str(weights))


def operations(module: Module, function: str | None = None) -> list[str]:
    """The operations of a function in order, constants left out."""
    names = [op.name.removeprefix("mil.") for op in module.function(function).body.operations]
    return [name for name in names if name not in ("const", "literal", "compound_literal", "return")]
