"""The ark dialect: what ranks of ARK programs run, one to one with model files. Definitions only."""

from commonir.dialects.ark.base import (
    ARGUMENTS,
    DATA_TYPES,
    GENERATIONS,
    LOCAL,
    MERGING_GENERATIONS,
    NO_ID,
    OTHER_ARGUMENTS,
    V1,
    V2,
    V3,
    V4,
    ArkOp,
    sizes_of,
)
from commonir.dialects.ark.communication import (
    MAX_PEERS,
    CommunicationOp,
    DeviceSync,
    Recv,
    RecvPacket,
    RecvReduceSend,
    RecvReduceSendPacket,
    Send,
    SendDone,
    SendPacket,
    size_bytes,
)
from commonir.dialects.ark.elementwise import (
    Add,
    Cast,
    Copy,
    Div,
    Exp,
    Gelu,
    Mul,
    Relu,
    Rope,
    Rsqrt,
    ScalarAdd,
    ScalarAssign,
    ScalarMul,
    Sigmoid,
    Sqrt,
    Sub,
)
from commonir.dialects.ark.matmul import Matmul
from commonir.dialects.ark.shaping import Embedding, Noop, ReduceMax, ReduceMean, ReduceSum, Transpose
from commonir.dialects.ark.structure import (
    HoldsView,
    Placeholder,
    Problem,
    Rank,
    Tensor,
    VirtualOp,
    VirtualTensor,
    port_name,
    rank_of,
    view_of,
    view_problems,
)
from commonir.ods import Dialect, definitions_in

DIALECT = Dialect(
    "ark",
    definitions_in(globals(), "ark"),
    summary="What the ranks of ARK programs run: operations on views of buffers, sends and receives.",
    keeps_names=True,
)

__all__ = [
    "ARGUMENTS", "DATA_TYPES", "DIALECT", "GENERATIONS", "LOCAL", "MAX_PEERS", "MERGING_GENERATIONS",
    "NO_ID", "OTHER_ARGUMENTS", "V1", "V2", "V3", "V4", "Add",
    "ArkOp", "Cast", "CommunicationOp", "Copy", "DeviceSync", "Div", "Embedding", "Exp", "Gelu", "HoldsView", "Matmul",
    "Mul", "Noop", "Placeholder", "Problem", "Rank", "Recv", "RecvPacket", "RecvReduceSend", "RecvReduceSendPacket",
    "ReduceMax", "ReduceMean", "ReduceSum", "Relu", "Rope", "Rsqrt", "ScalarAdd", "ScalarAssign", "ScalarMul", "Send",
    "SendDone", "SendPacket", "Sigmoid", "Sqrt", "Sub", "Tensor", "Transpose", "VirtualOp", "VirtualTensor",
    "port_name", "rank_of", "size_bytes", "sizes_of", "view_of", "view_problems",
]  # fmt: skip
