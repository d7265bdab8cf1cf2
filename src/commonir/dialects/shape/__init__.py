"""The shape dialect of MLIR: shapes as values, and what may be assumed of them.

Source: MLIR shape dialect.
"""

from commonir.dialects.shape.assuming import (
    Assuming,
    AssumingAll,
    AssumingYield,
    ConstWitness,
    CstrBroadcastable,
    CstrEq,
    CstrRequire,
)
from commonir.dialects.shape.functions import Func, FunctionLibrary, Return
from commonir.dialects.shape.shapes import (
    Any_,
    Broadcast,
    Concat,
    ConstShape,
    DebugPrint,
    FromExtents,
    FromExtentTensor,
    IsBroadcastable,
    Reduce,
    ShapeEq,
    ShapeOf,
    SplitAt,
    ToExtentTensor,
    ValueAsShape,
    ValueOf,
    WithShape,
    Yield,
)
from commonir.dialects.shape.sizes import (
    Add,
    ConstSize,
    Dim_,
    Div,
    GetExtent,
    IndexToSize,
    Max,
    Meet,
    Min,
    Mul,
    NumElements,
    Rank,
    SizeToIndex,
)
from commonir.ods import Dialect, definitions_in

DIALECT = Dialect(
    "shape", definitions_in(globals(), "shape"), summary="Shapes as values, and what may be assumed of them."
)

__all__ = [
    "DIALECT",
    "Add",
    "Any_",
    "Assuming",
    "AssumingAll",
    "AssumingYield",
    "Broadcast",
    "Concat",
    "ConstShape",
    "ConstSize",
    "ConstWitness",
    "CstrBroadcastable",
    "CstrEq",
    "CstrRequire",
    "DebugPrint",
    "Dim_",
    "Div",
    "FromExtentTensor",
    "FromExtents",
    "Func",
    "FunctionLibrary",
    "GetExtent",
    "IndexToSize",
    "IsBroadcastable",
    "Max",
    "Meet",
    "Min",
    "Mul",
    "NumElements",
    "Rank",
    "Reduce",
    "Return",
    "ShapeEq",
    "ShapeOf",
    "SizeToIndex",
    "SplitAt",
    "ToExtentTensor",
    "ValueAsShape",
    "ValueOf",
    "WithShape",
    "Yield",
]
