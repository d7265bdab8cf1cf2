"""The scf dialect of MLIR: conditions and loops as operations with regions."""

from commonir.base.lazy import import_members
from commonir.ods import Dialect, definitions_in

import_members(
    globals(),
    {
        "control": "Condition ExecuteRegion For If IndexSwitch While Yield yielded",
        "parallel": "Forall InParallel Parallel Reduce ReduceReturn",
    },
)

DIALECT: Dialect = Dialect(
    "scf",
    definitions_in(globals(), "scf"),
    summary="Conditions and loops as operations with regions; as in MLIR.",
    rules="commonir.dialects.mlir.scf.rules:RULES",
    own="commonir.ods.own_forms:NOTHING",
)
