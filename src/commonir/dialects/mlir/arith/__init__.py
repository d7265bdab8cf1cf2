"""The arith dialect of MLIR: arithmetic on integers without sign, positions and floats, element by element."""

from __future__ import annotations

from commonir.ods.dialect import Dialect, LazyDefinitions

_MEMBERS = LazyDefinitions(
    __name__,
    {
        "comparison": "CmpF CmpFPredicate CmpI CmpIPredicate Select",
        "constants": "Constant",
        "conversions": (
            "Bitcast ExtF ExtSI ExtUI FPToSI FPToUI IndexCast IndexCastUI ScalingExtF ScalingTruncF SIToFP TruncF "
            "TruncI UIToFP"
        ),
        "floats": "AddF DivF MaximumF MaxNumF MinimumF MinNumF MulF NegF RemF SubF",
        "integers": (
            "AddI AddUIExtended AndI CeilDivSI CeilDivUI DivSI DivUI FloorDivSI MaxSI MaxUI MinSI MinUI MulI "
            "MulSIExtended MulUIExtended OrI RemSI RemUI ShLI ShRSI ShRUI SubI XOrI"
        ),
    },
)


def __getattr__(name: str) -> object:
    result = globals()[name] = _MEMBERS.member(name)
    return result


DIALECT: Dialect = Dialect(
    "arith",
    _MEMBERS,
    summary="Arithmetic on integers, positions and floats, on scalars, vectors and tensors; as in MLIR.",
    constants="arith.constant",
    rules="commonir.dialects.mlir.arith.rules:RULES",
    own="commonir.dialects.mlir.number_attributes:OWN",
)
