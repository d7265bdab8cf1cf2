"""The arith dialect of MLIR: arithmetic on integers without sign, positions and floats, element by element."""

from commonir.dialects.arith.comparison import CmpF, CmpFPredicate, CmpI, CmpIPredicate, Select
from commonir.dialects.arith.constants import Constant
from commonir.dialects.arith.conversions import (
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
from commonir.dialects.arith.floats import (
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
from commonir.dialects.arith.integers import (
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
from commonir.ods import Dialect, definitions_in

DIALECT = Dialect(
    "arith",
    definitions_in(globals(), "arith"),
    summary="Arithmetic on integers, positions and floats, on scalars, vectors and tensors alike; as in MLIR.",
    constants="arith.constant",
    rules="commonir.dialects.arith.rules:RULES",
)

__all__ = [
    "DIALECT", "AddF", "AddI", "AddUIExtended", "AndI", "Bitcast", "CeilDivSI", "CeilDivUI", "CmpF", "CmpFPredicate",
    "CmpI", "CmpIPredicate", "Constant", "DivF", "DivSI", "DivUI", "ExtF", "ExtSI", "ExtUI", "FPToSI", "FPToUI",
    "FloorDivSI", "IndexCast", "IndexCastUI", "MaxNumF", "MaxSI", "MaxUI", "MaximumF", "MinNumF", "MinSI", "MinUI",
    "MinimumF", "MulF", "MulI", "MulSIExtended", "MulUIExtended", "NegF", "OrI", "RemF", "RemSI", "RemUI", "SIToFP",
    "ScalingExtF", "ScalingTruncF", "Select", "ShLI", "ShRSI", "ShRUI", "SubF", "SubI", "TruncF", "TruncI", "UIToFP",
    "XOrI",
]  # fmt: skip
