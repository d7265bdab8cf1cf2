"""Checks of MLIR's C++ verifiers for operations that are only defined by records here.

Each check also covers the conditions on several values that the record states in C++. Source: MLIR's documentation of
the dialects memref, bufferization, quant and vector; the programs that mlir-opt 22 accepts and refuses.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from commonir.ods.from_records.verifiers import allocations, buffers, quantized, vector_memory, vectors
from commonir.ods.from_records.verifiers.values import Verifier

VERIFIERS: Mapping[str, Verifier] = MappingProxyType(
    {
        **allocations.VERIFIERS,
        **buffers.VERIFIERS,
        **quantized.VERIFIERS,
        **vectors.VERIFIERS,
        **vector_memory.VERIFIERS,
    }
)
"""The checks by the names of operations; each yields a message for each violation."""
