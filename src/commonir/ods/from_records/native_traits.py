"""Traits of MLIR with a verifier in C++, whose conditions are stated here.

Source: MLIR, traits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from commonir.ir.operation import Operation, Value
from commonir.ir.types import ElementType, Type, boolean
from commonir.ods import traits as known
from commonir.ods.broadcasting import ResultsBroadcastableShape
from commonir.ods.traits import Trait
from commonir.ods.type_constraints import is_float
from commonir.ods.type_rules import SameNonScalars, element_of

_Values = Callable[[Operation], Sequence[Value]]


def _all_are(what: str, values: str, of: _Values, admits: Callable[[Type], bool]) -> Trait:
    message = f"requires {what}"

    def check(op: Operation) -> Iterator[str]:
        for value in of(op):
            if not admits(element_of(value.type)):
                yield f"{message}, found {value.type}"
                return

    return Trait(values, message, check)


def _operands(op: Operation) -> Sequence[Value]:
    return op.operands


def _results(op: Operation) -> Sequence[Value]:
    return op.results


def _is_signless(type: Type) -> bool:
    return isinstance(type, ElementType) and str(type).startswith("i") and (type.is_integer or str(type) == "index")


def _has_no_region_arguments(op: Operation) -> Iterator[str]:
    for region in op.regions:
        if region.blocks and region.blocks[0].arguments:
            yield "region should have no arguments"


NATIVE_TRAITS: Mapping[str, Sequence[Trait]] = MappingProxyType(
    {
        "Elementwise": (known.Elementwise, SameNonScalars),
        "RecursiveMemoryEffects": (known.RecursiveEffects,),
        "NoRegionArguments": (Trait("NoRegionArguments", "its regions have no arguments", _has_no_region_arguments),),
        "ResultsBroadcastableShape": (ResultsBroadcastableShape,),
        "ResultsAreBoolLike": (_all_are("a bool result type", "ResultsAreBoolLike", _results, lambda t: t is boolean),),
        "ResultsAreFloatLike": (_all_are("a float type", "ResultsAreFloatLike", _results, is_float),),
        "ResultsAreSignlessIntegerLike": (
            _all_are("an integer or index type", "ResultsAreSignlessIntegerLike", _results, _is_signless),
        ),
        "OperandsAreFloatLike": (_all_are("a float type", "OperandsAreFloatLike", _operands, is_float),),
        "OperandsAreSignlessIntegerLike": (
            _all_are("an integer or index type", "OperandsAreSignlessIntegerLike", _operands, _is_signless),
        ),
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
