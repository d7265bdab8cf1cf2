"""Rules of single messages: whether what is sent is what is received, and fits where it is put.

Source: ARK model files, execution rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from commonir.base.diagnostics import Diagnostic
from commonir.base.file_codes import ARK_MESSAGE, ARK_VIEWS
from commonir.dialects import ark
from commonir.dialects.ark.views import View
from commonir.formats.ark.rules.faults import Fault, RankTensors
from commonir.ir.operation import Operation, Value
from commonir.passes.ark.messages import Communication, Message
from commonir.passes.ark.views import buffer_bytes

_MAX_RUNS = 1 << 12

_PACKET_PUTS = (ark.SendPacket, ark.RecvReduceSendPacket)
_PACKET_TAKES = (ark.RecvPacket, ark.RecvReduceSendPacket)


def message_faults(communication: Communication, tensors: Mapping[int, RankTensors]) -> Iterator[Fault]:
    """Yields findings about messages at the operations that receive them, each once for an operation."""
    buffer_sizes = {
        rank: buffer_bytes([each.view_of(holder) for holder in each.holders if each.is_local(holder)])
        for rank, each in tensors.items()
    }
    reported: set[tuple[Operation, str]] = set()
    for message in communication.messages:
        for finding in _findings(message, tensors, buffer_sizes):
            if (message.take.op, finding.message) not in reported:
                reported.add((message.take.op, finding.message))
                yield Fault(message.take.op, message.take.op.node, finding)


def _findings(
    message: Message, tensors: Mapping[int, RankTensors], buffer_sizes: Mapping[int, Mapping[int, int]]
) -> Iterator[Diagnostic]:
    put, take, landing = message
    there = f"rank {put.source}, node {ark.node_id_of(put.op)} '{put.op.op_name}', sends it with tag {put.tag}"
    output = take.output if take.output is not None else _part(take.op)
    if output is None:
        return
    kinds = isinstance(put.op, _PACKET_PUTS), isinstance(take.op, _PACKET_TAKES)
    if kinds[0] is not kinds[1]:
        names = ("packets" if kind else "no packets" for kind in kinds)
        yield _wrong(take.op, "{} are sent, but {} are expected".format(*names), there)
        return
    if kinds[0] and _flag_of(put.op) != _flag_of(take.op):
        yield _wrong(take.op, f"expected the flag {_flag_of(take.op)}, found {_flag_of(put.op)}", there)
    expected, actual = _element_of(output), _element_of(put.payload)
    if expected != actual or prod(ark.dims_of(output)) != prod(ark.dims_of(put.payload)):
        text = f"expected the data type and as many elements as {output.type}, found {put.payload.type}"
        yield _wrong(take.op, text, there)
        return
    source, destination = tensors[put.source], tensors[take.destination]
    seen = source.view_of(source.holder_of(put.proxy))
    own = destination.view_of(destination.holder_of(_memory(take.op, output)))
    # Where it is put: in the buffer that the operation names, at the place that the sender sees.
    is_placed = landing is None or landing.is_explicit or kinds[0]
    buffer = landing.view.buffer if landing is not None and landing.is_explicit else own.buffer
    size_bytes = buffer_sizes[take.destination].get(buffer, 0)
    if is_placed and seen.span[1] > size_bytes:
        text = f"bytes {seen.span[0]:,} to {seen.span[1]:,} are written to buffer {buffer}, which has {size_bytes:,}"
        yield _wrong(take.op, text, there)
    elif take.output is not None and not kinds[0] and not _same_bytes(seen, own):
        yield Diagnostic(
            ARK_VIEWS, f"{take.op.name}: expects {_shown(own)}, but it is put at {_shown(seen)}", notes=[there]
        )


def _wrong(op: ark.ArkOp, message: str, note: str) -> Diagnostic:
    return Diagnostic(ARK_MESSAGE, f"{op.name}: {message}", notes=[note])


def _part(op: ark.ArkOp) -> Value | None:
    """The tensor that parts of a sum are like."""
    return op.input if isinstance(op, ark.RecvReduceSend | ark.RecvReduceSendPacket) else None


def _memory(op: ark.ArkOp, output: Value) -> Value:
    """The tensor in whose buffer a message arrives."""
    match op:
        case ark.RecvPacket() | ark.RecvReduceSend() | ark.RecvReduceSendPacket():
            return op.scratch
        case _:
            return output


def _flag_of(op: ark.ArkOp) -> int | None:
    match op:
        case ark.SendPacket() | ark.RecvPacket() | ark.RecvReduceSendPacket():
            return op.Flag
        case _:
            return None


def _element_of(value: Value) -> object:
    return getattr(value.type, "element", None)


def _same_bytes(a: View, b: View) -> bool:
    """Whether two views have the same bytes of their buffers, in the same order."""
    if a.span != b.span or a.run_count != b.run_count:
        return False
    if a.run_count == 1 or (a.shape, a.strides, a.offsets) == (b.shape, b.strides, b.offsets):
        return True
    return a.run_count <= _MAX_RUNS and list(a.runs()) == list(b.runs())


def _shown(view: View) -> str:
    return f"{list(view.shape)} at {list(view.offsets)} of {list(view.strides)}"
