"""Traits of MLIR with a verifier in C++, whose conditions are stated here.

Source: MLIR, traits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from commonir.ir.operation import Operation, Value
from commonir.ir.types import Type
from commonir.ods import traits as known
from commonir.ods.broadcasting import ResultsBroadcastableShape
from commonir.ods.traits import Trait
from commonir.ods.type_constraints import I1, AnySignlessIntegerOrIndex, is_float
from commonir.ods.type_rules import SameNonScalars, element_of

_Values = Callable[[Operation], Sequence[Value]]


def _all_are(name: str, what: str, of: _Values, admits: Callable[[Type], bool]) -> Trait:
    message = f"requires {what}"

    def check(op: Operation) -> Iterator[str]:
        for value in of(op):
            if not admits(element_of(value.type)):
                yield f"{message}, found {value.type}"
                return

    return Trait(name, message, check)


def _operands(op: Operation) -> Sequence[Value]:
    return op.operands


def _results(op: Operation) -> Sequence[Value]:
    return op.results


def _has_no_region_arguments(op: Operation) -> Iterator[str]:
    for region in op.regions:
        if region.blocks and region.blocks[0].arguments:
            yield "region should have no arguments"


_OWN = (
    ResultsBroadcastableShape,
    Trait("NoRegionArguments", "its regions have no arguments", _has_no_region_arguments),
    _all_are("ResultsAreBoolLike", "a bool result type", _results, I1.admits),
    _all_are("ResultsAreFloatLike", "a float type", _results, is_float),
    _all_are("OperandsAreFloatLike", "a float type", _operands, is_float),
    _all_are("ResultsAreSignlessIntegerLike", "an integer or index type", _results, AnySignlessIntegerOrIndex.admits),
    _all_are("OperandsAreSignlessIntegerLike", "an integer or index type", _operands, AnySignlessIntegerOrIndex.admits),
)
NATIVE_TRAITS: Mapping[str, Sequence[Trait]] = MappingProxyType(
    {
        **{trait.name: (trait,) for trait in _OWN},
        "Elementwise": (known.Elementwise, SameNonScalars),
        "RecursiveMemoryEffects": (known.RecursiveEffects,),
    }
)
"""Traits by the names of their records."""

WITHOUT_VERIFIER = frozenset(
    [
        "AffineScope",
        "AlwaysSpeculatableImplTrait",
        "AttrSizedOperandSegments",
        "AttrSizedResultSegments",
        "AutomaticAllocationScope",
        "HasParallelRegion",
        "Idempotent",
        "InferShapedTypeOpAdaptor",
        "InferTypeOpAdaptor",
        "InferTypeOpAdaptorWithIsCompatible",
        "Involution",
        "MemRefsNormalizable",
        "NoMemoryEffect",
        "NoTerminator",
        "RecursivelySpeculatableImplTrait",
        "ReturnLike",
        "SameVariadicResultSize",
        "Scalarizable",
        "Tensorizable",
        "Vectorizable",
    ]
)
"""Traits of MLIR that state nothing to check, or what definitions check in another way."""
