"""The ark dialect: what ranks of ARK programs run, one to one with model files. Definitions only."""

from commonir.base.lazy import import_members
from commonir.ods import Dialect, definitions_in

import_members(
    globals(),
    {
        "base": (
            "ARGUMENTS BUFFER_FIELDS DATA_TYPES GENERATIONS LOCAL MERGING_GENERATIONS NO_ID OTHER_ARGUMENTS V1 V2 V3 "
            "V4 ArkOp buffer_content dims_of"
        ),
        "communication": (
            "MAX_OTHER_RANKS CommunicationOp DeviceSync Recv RecvPacket RecvReduceSend RecvReduceSendPacket Send "
            "SendDone SendPacket size_bytes"
        ),
        "elementwise": (
            "Add Cast Copy Div Exp Gelu Mul Relu Rope Rsqrt ScalarAdd ScalarAssign ScalarMul Sigmoid Sqrt Sub"
        ),
        "matmul": "Matmul",
        "shaping": "Embedding Noop ReduceMax ReduceMean ReduceSum Transpose",
        "structure": (
            "HoldsView Placeholder Problem Rank Tensor VirtualOp VirtualTensor node_id_of port_name rank_of view_of "
            "view_problems"
        ),
    },
)

DIALECT: Dialect = Dialect(
    "ark",
    definitions_in(globals(), "ark"),
    summary="What the ranks of ARK programs run: operations on views of buffers, sends and receives.",
    keeps_names=True,
)
