# Written by `python -m tests.member_stubs` from the table in __init__.py.

from commonir.dialects.mlir.shape.assuming import Assuming as Assuming
from commonir.dialects.mlir.shape.assuming import AssumingAll as AssumingAll
from commonir.dialects.mlir.shape.assuming import AssumingYield as AssumingYield
from commonir.dialects.mlir.shape.assuming import ConstWitness as ConstWitness
from commonir.dialects.mlir.shape.assuming import CstrBroadcastable as CstrBroadcastable
from commonir.dialects.mlir.shape.assuming import CstrEq as CstrEq
from commonir.dialects.mlir.shape.assuming import CstrRequire as CstrRequire
from commonir.dialects.mlir.shape.functions import Func as Func
from commonir.dialects.mlir.shape.functions import FunctionLibrary as FunctionLibrary
from commonir.dialects.mlir.shape.functions import Return as Return
from commonir.dialects.mlir.shape.shapes import Any_ as Any_
from commonir.dialects.mlir.shape.shapes import Broadcast as Broadcast
from commonir.dialects.mlir.shape.shapes import Concat as Concat
from commonir.dialects.mlir.shape.shapes import ConstShape as ConstShape
from commonir.dialects.mlir.shape.shapes import DebugPrint as DebugPrint
from commonir.dialects.mlir.shape.shapes import FromExtentTensor as FromExtentTensor
from commonir.dialects.mlir.shape.shapes import FromExtents as FromExtents
from commonir.dialects.mlir.shape.shapes import IsBroadcastable as IsBroadcastable
from commonir.dialects.mlir.shape.shapes import Reduce as Reduce
from commonir.dialects.mlir.shape.shapes import ShapeEq as ShapeEq
from commonir.dialects.mlir.shape.shapes import ShapeOf as ShapeOf
from commonir.dialects.mlir.shape.shapes import SplitAt as SplitAt
from commonir.dialects.mlir.shape.shapes import ToExtentTensor as ToExtentTensor
from commonir.dialects.mlir.shape.shapes import ValueAsShape as ValueAsShape
from commonir.dialects.mlir.shape.shapes import ValueOf as ValueOf
from commonir.dialects.mlir.shape.shapes import WithShape as WithShape
from commonir.dialects.mlir.shape.shapes import Yield as Yield
from commonir.dialects.mlir.shape.sizes import Add as Add
from commonir.dialects.mlir.shape.sizes import ConstSize as ConstSize
from commonir.dialects.mlir.shape.sizes import Dim_ as Dim_
from commonir.dialects.mlir.shape.sizes import Div as Div
from commonir.dialects.mlir.shape.sizes import GetExtent as GetExtent
from commonir.dialects.mlir.shape.sizes import IndexToSize as IndexToSize
from commonir.dialects.mlir.shape.sizes import Max as Max
from commonir.dialects.mlir.shape.sizes import Meet as Meet
from commonir.dialects.mlir.shape.sizes import Min as Min
from commonir.dialects.mlir.shape.sizes import Mul as Mul
from commonir.dialects.mlir.shape.sizes import NumElements as NumElements
from commonir.dialects.mlir.shape.sizes import Rank as Rank
from commonir.dialects.mlir.shape.sizes import SizeToIndex as SizeToIndex
from commonir.ods import Dialect

DIALECT: Dialect
