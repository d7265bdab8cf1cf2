"""The shape dialect of MLIR: shapes as values, and what may be assumed of them.

Source: MLIR shape dialect.
"""

from commonir.base.lazy import import_members
from commonir.ods import Dialect, definitions_in

import_members(
    globals(),
    {
        "assuming": "Assuming AssumingAll AssumingYield ConstWitness CstrBroadcastable CstrEq CstrRequire",
        "functions": "Func FunctionLibrary Return",
        "shapes": (
            "Any_ Broadcast Concat ConstShape DebugPrint FromExtents FromExtentTensor IsBroadcastable Reduce ShapeEq "
            "ShapeOf SplitAt ToExtentTensor ValueAsShape ValueOf WithShape Yield"
        ),
        "sizes": "Add ConstSize Dim_ Div GetExtent IndexToSize Max Meet Min Mul NumElements Rank SizeToIndex",
    },
)

DIALECT: Dialect = Dialect(
    "shape",
    definitions_in(globals(), "shape"),
    summary="Shapes as values, and what may be assumed of them.",
    constants="shape.const_shape shape.const_size shape.const_witness arith.constant",
    rules="commonir.dialects.mlir.shape.rules:RULES",
    own="commonir.dialects.mlir.shape.base:OWN",
)
