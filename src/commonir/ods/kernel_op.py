"""Operations of MLIR dialects whose reference is a kernel in index notation."""

from __future__ import annotations

from commonir.ods.mlir_op import MlirOp


class KernelOp(MlirOp):
    """An operation whose result types, constraints and meaning follow from a kernel, as those of core operations do.

    Engines run the kernel, and conversions lower it.
    """

    infers_types = False
