# Written by `python -m tests.member_stubs` from the table in __init__.py.

from commonir.dialects.mlir.tensor.elements import Dim_ as Dim_
from commonir.dialects.mlir.tensor.elements import Empty as Empty
from commonir.dialects.mlir.tensor.elements import Extract as Extract
from commonir.dialects.mlir.tensor.elements import FromElements as FromElements
from commonir.dialects.mlir.tensor.elements import Generate as Generate
from commonir.dialects.mlir.tensor.elements import Insert as Insert
from commonir.dialects.mlir.tensor.elements import Rank as Rank
from commonir.dialects.mlir.tensor.elements import Splat as Splat
from commonir.dialects.mlir.tensor.elements import Yield as Yield
from commonir.dialects.mlir.tensor.reshaping import Bitcast as Bitcast
from commonir.dialects.mlir.tensor.reshaping import Cast as Cast
from commonir.dialects.mlir.tensor.reshaping import CollapseShape as CollapseShape
from commonir.dialects.mlir.tensor.reshaping import ExpandShape as ExpandShape
from commonir.dialects.mlir.tensor.reshaping import Reshape as Reshape
from commonir.dialects.mlir.tensor.slicing import Concat as Concat
from commonir.dialects.mlir.tensor.slicing import ExtractSlice as ExtractSlice
from commonir.dialects.mlir.tensor.slicing import Gather as Gather
from commonir.dialects.mlir.tensor.slicing import InsertSlice as InsertSlice
from commonir.dialects.mlir.tensor.slicing import Pad as Pad
from commonir.dialects.mlir.tensor.slicing import ParallelInsertSlice as ParallelInsertSlice
from commonir.dialects.mlir.tensor.slicing import Scatter as Scatter
from commonir.ods import Dialect

DIALECT: Dialect
