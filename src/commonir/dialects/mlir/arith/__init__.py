"""The arith dialect of MLIR: arithmetic on integers without sign, positions and floats, element by element."""

# ruff: noqa: F401
# pyright: reportUnusedImport=false
# The imports tell type checkers, and `LazyDefinitions`, which members the package has.

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.ods.dialect import Dialect, LazyDefinitions

if TYPE_CHECKING:
    from commonir.dialects.mlir.arith.comparison import CmpF, CmpFPredicate, CmpI, CmpIPredicate, Select
    from commonir.dialects.mlir.arith.constants import Constant
    from commonir.dialects.mlir.arith.conversions import (
        Bitcast,
        ExtF,
        ExtSI,
        ExtUI,
        FPToSI,
        FPToUI,
        IndexCast,
        IndexCastUI,
        ScalingExtF,
        ScalingTruncF,
        SIToFP,
        TruncF,
        TruncI,
        UIToFP,
    )
    from commonir.dialects.mlir.arith.floats import (
        AddF,
        DivF,
        MaximumF,
        MaxNumF,
        MinimumF,
        MinNumF,
        MulF,
        NegF,
        RemF,
        SubF,
    )
    from commonir.dialects.mlir.arith.integers import (
        AddI,
        AddUIExtended,
        AndI,
        CeilDivSI,
        CeilDivUI,
        DivSI,
        DivUI,
        FloorDivSI,
        MaxSI,
        MaxUI,
        MinSI,
        MinUI,
        MulI,
        MulSIExtended,
        MulUIExtended,
        OrI,
        RemSI,
        RemUI,
        ShLI,
        ShRSI,
        ShRUI,
        SubI,
        XOrI,
    )
else:

    def __getattr__(name):
        found = globals()[name] = _DEFINITIONS.member(name)
        return found


_DEFINITIONS = LazyDefinitions(__name__)

DIALECT = Dialect(
    "arith",
    _DEFINITIONS,
    summary="Arithmetic on integers, positions and floats, on scalars, vectors and tensors alike; as in MLIR.",
    constants="arith.constant",
    rules="commonir.dialects.mlir.arith.rules:RULES",
    own="commonir.dialects.mlir.number_attributes:OWN",
)
