"""The mil dialect: ML Programs of Core ML, one to one with their files."""

from __future__ import annotations

from commonir.dialects.mil import (
    activation,
    compression,
    control,
    convolution,
    custom,
    detection,
    elementwise,
    generation,
    image,
    indexing,
    linear,
    lists,
    normalization,
    pipeline,
    pooling,
    program,
    quantization,
    random,
    rearrangement,
    recurrent,
    reduction,
    sampling,
    shape,
    slicing,
)
from commonir.dialects.mil.base import VERSIONS, source_of, systems_text
from commonir.ods import Dialect, definitions_in

_MODULES = (
    program,
    elementwise,
    activation,
    linear,
    convolution,
    pooling,
    normalization,
    reduction,
    shape,
    slicing,
    rearrangement,
    recurrent,
    random,
    indexing,
    generation,
    image,
    sampling,
    detection,
    quantization,
    compression,
    control,
    lists,
    custom,
    pipeline,
)

DIALECT = Dialect(
    "mil",
    dict.fromkeys(d for module in _MODULES for d in definitions_in(vars(module), "mil")),
    summary="Operations of Core ML's ML Programs, as the versions of their operation sets define them.",
    keeps_names=True,
    versions=VERSIONS,
    source=source_of,
    systems=systems_text,
)

__all__ = ["DIALECT"]
