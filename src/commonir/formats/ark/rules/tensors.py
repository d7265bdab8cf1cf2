"""Rules of what a file says about its tensors and buffers as a whole.

Source: ARK model files, memory model, table of operations.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonir.base.file_codes import ARK_RANK, ARK_REMOTE
from commonir.base.text import plural
from commonir.dialects import ark
from commonir.formats.ark.rules.faults import Fault, RankTensors, fault, holder_fault, number_of, place_of
from commonir.ir.operation import Value


def tensor_faults(tensors: RankTensors) -> Iterator[Fault]:
    """Yields findings about the tensors of a rank together."""
    nodes = tensors.nodes()
    by_buffer: dict[int, list[ark.HoldsView]] = {}
    for holder in tensors.holders:
        by_buffer.setdefault(holder.buffer, []).append(holder)
    for holders in by_buffer.values():
        if len(holders) == 1:
            continue
        yield from _contradictions(tensors, holders, nodes)
        yield from _reinterpretations(tensors, holders, nodes)
    yield from _doubled(tensors, nodes)
    yield from _grown(tensors)
    yield from _remote(tensors)
    yield from _padded_products(tensors)


def _contradictions(
    tensors: RankTensors, holders: list[ark.HoldsView], nodes: dict[ark.HoldsView, int]
) -> Iterator[Fault]:
    """Tensors that say something else about a buffer than the first."""
    declared = _content(tensors, holders[0])
    for holder in holders[1:]:
        for name, value, other in zip(ark.BUFFER_FIELDS, declared, _content(tensors, holder), strict=True):
            if value != other:
                message = f"buffer {holder.buffer} is stated with another '{name}' than before"
                yield holder_fault(holder, nodes.get(holder, 0), message, f"Buffer.{name}")
                break


def _content(tensors: RankTensors, holder: ark.HoldsView) -> tuple[object, ...]:
    own = tensors.rank.rank
    return ark.buffer_content(own, holder.buffer_rank, holder.send_tags, holder.recv_tags, holder.is_external)


def _reinterpretations(
    tensors: RankTensors, holders: list[ark.HoldsView], nodes: dict[ark.HoldsView, int]
) -> Iterator[Fault]:
    """Tensors whose arrays do not consist of whole elements of another data type that the buffer has."""
    by_width = {tensors.view_of(h).element.bits // 8: h.data_type for h in holders}
    if len(by_width) == 1:
        return
    largest = max(by_width)
    for holder in holders:
        size_bytes = tensors.view_of(holder).array_bytes
        if size_bytes % largest:
            message = (
                f"buffer {holder.buffer} holds {by_width[largest]} too, of {largest} bytes each, but as an array of "
                f"{holder.data_type} it has {size_bytes:,} bytes"
            )
            yield holder_fault(holder, nodes.get(holder, 0), message, "Strides")


def _doubled(tensors: RankTensors, nodes: dict[ark.HoldsView, int]) -> Iterator[Fault]:
    """Tensors of one number. One that is used before it is given is found by the rules of nodes."""
    known: set[int] = set()
    seen: set[int] = set()
    for op in tensors.rank.body.operations:
        if isinstance(op, ark.Tensor):
            if op.tensor_id in known or op.tensor_id in seen:
                message = f"two tensors have the number {op.tensor_id}"
                yield holder_fault(op, nodes.get(op, 0), message)
            known.add(op.tensor_id)
        elif isinstance(op, ark.ArkOp) and op.results:
            if op.result_id in seen:
                message = f"tensor {op.result_id} is given by two operations"
                yield Fault(op, op.node, holder_fault(tensors.holder_of(op.results[0]), 0, message).finding)
            seen.add(op.result_id)


def _grown(tensors: RankTensors) -> Iterator[Fault]:
    """Views of a tensor that need more memory than it has."""
    for op in tensors.ops:
        if not isinstance(op, ark.VirtualOp):
            continue
        sources = [tensors.holder_of(v) for v in op.read_tensors]
        sizes_bytes = [tensors.view_of(h).array_bytes for h in sources if h.buffer == op.buffer]
        needed = tensors.view_of(op).array_bytes
        if sizes_bytes and needed > max(sizes_bytes):
            message = f"the view spans {needed:,} bytes, but what it is a view of has only {max(sizes_bytes):,}"
            yield holder_fault(op, op.node, message, "Strides")


def _remote(tensors: RankTensors) -> Iterator[Fault]:
    """Operations that use memory of another rank where they cannot."""
    for op in tensors.ops:
        if op.is_virtual:
            continue
        for value in op.operands:
            holder = tensors.holder_of(value)
            if not tensors.is_local(holder) and value not in _proxies(op):
                yield _remote_fault(tensors, op, value, holder.buffer_rank)
                break


def _remote_fault(tensors: RankTensors, op: ark.ArkOp, value: Value, rank: int) -> Fault:
    message = f"{op.name}: tensor {number_of(value)} lies on rank {rank}"
    if rank >= tensors.rank.world_size:
        reason = f"which does not exist: the program has {plural(tensors.rank.world_size, 'rank')}"
        return fault(op, ARK_RANK, f"{message}, {reason}", place_of(op, value), "a buffer of the rank itself has -1")
    help = "send and receive it, and use what was received"
    return fault(op, ARK_REMOTE, f"{message}, which only a proxy may", place_of(op, value), help)


def _proxies(op: ark.ArkOp) -> tuple[object, ...]:
    """The operands that may stand for memory of another rank."""
    match op:
        case ark.Send() | ark.SendPacket():
            return (op.output,)
        case ark.Recv() | ark.RecvPacket():
            return (op.input,)
        case ark.RecvReduceSend() | ark.RecvReduceSendPacket():
            return op.proxies
        case ark.SendDone() | ark.DeviceSync() | ark.Noop():
            # They hand a tensor on and do not touch it.
            return op.operands
        case _:
            return ()


def _padded_products(tensors: RankTensors) -> Iterator[Fault]:
    """Products whose tensors do not fit with their padding, though they do without."""
    for op in tensors.ops:
        if not isinstance(op, ark.Matmul):
            continue
        holders = [tensors.holder_of(v) for v in op.operands]
        if all(h.padded_shape in (None, ark.dims_of(h.result_)) for h in holders):
            continue
        left, right, output = [h.padded_shape or ark.dims_of(h.result_) for h in holders]
        expected = op.product_shape(left, right)
        if expected != output:
            shown = "factors that fit" if expected is None else f"{list(expected)}"
            actual = f"{list(left)} and {list(right)} padded to {list(output)}"
            finding = op.broken("C5", f"expected {shown} with padding, found {actual}")
            yield Fault(op, op.node, finding.located(where=place_of(op, op.output)))
