"""The scf dialect of MLIR: conditions and loops as operations with regions."""

from commonir.dialects.mlir.scf.control import Condition, ExecuteRegion, For, If, IndexSwitch, While, Yield, yielded
from commonir.dialects.mlir.scf.parallel import Forall, InParallel, Parallel, Reduce, ReduceReturn
from commonir.ods import Dialect, definitions_in

DIALECT = Dialect(
    "scf",
    definitions_in(globals(), "scf"),
    summary="Conditions and loops as operations with regions; as in MLIR.",
    rules="commonir.dialects.mlir.scf.rules:RULES",
    own="commonir.ods.own_forms:NOTHING",
)

__all__ = [
    "DIALECT",
    "Condition",
    "ExecuteRegion",
    "For",
    "Forall",
    "If",
    "InParallel",
    "IndexSwitch",
    "Parallel",
    "Reduce",
    "ReduceReturn",
    "While",
    "Yield",
    "yielded",
]
