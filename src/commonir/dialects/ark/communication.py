"""Operations of ARK that send data to other ranks and wait for them. A transport executes them.

The buffers of their tensors declare the ranks and tags. A *proxy* represents a buffer of another rank. Source: ARK
model files, operations and execution rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.ark.base import INT, UINT32, V3, AnyTensor, ArkOp, dims_of, element_of
from commonir.dialects.ark.structure import rank_of
from commonir.ir.operation import Value
from commonir.ir.types import u8
from commonir.ods import attribute, operand, result, traits

MAX_OTHER_RANKS = 7


class CommunicationOp(ArkOp, traits=(traits.Communicates,)):
    """Base of the operations that communicate with other ranks."""


def size_bytes(value: Value) -> int:
    """Returns how many bytes the elements of a tensor take."""
    return prod(dims_of(value)) * element_of(value).bits // 8


class Send(CommunicationOp, name="ark.Send"):
    """Sends a tensor to another rank; the result represents the transfer.

    C1: the proxy has the data type and the number of elements of the tensor.
    """

    input: Value = operand(AnyTensor, doc="the tensor to send")
    output: Value = operand(AnyTensor, doc="the proxy on the rank that receives it")
    result_: Value = result(AnyTensor)

    def broken_rules(self) -> Iterator[Diagnostic]:
        yield from _check_equal_views(self, self.input, self.output)


def _check_equal_views(op: ArkOp, value: Value, taken: Value) -> Iterator[Diagnostic]:
    if element_of(value) is not element_of(taken) or prod(dims_of(value)) != prod(dims_of(taken)):
        yield op.broken("C1", f"expected the data type and as many elements as {value.type}, found {taken.type}")


class SendDone(CommunicationOp, name="ark.SendDone"):
    """Waits until a sent tensor may be overwritten."""

    writes = ()

    input: Value = operand(AnyTensor, doc="the result of the send")
    result_: Value = result(AnyTensor)

    @property
    def aliased(self) -> Value | None:
        return self.read_tensors[0] if self.read_tensors else None


class Recv(CommunicationOp, name="ark.Recv"):
    """Receives a tensor from another rank."""

    input: Value = operand(AnyTensor, doc="the proxy on the rank that sends it")
    output: Value = operand(AnyTensor, doc="the buffer that receives it")
    result_: Value = result(AnyTensor)


class SendPacket(CommunicationOp, name="ark.SendPacket"):
    """Sends a tensor in packets, half of whose bytes are flags.

    C1: the proxy is UINT8 and has twice the bytes of the tensor.
    """

    first_generation = V3

    input: Value = operand(AnyTensor, doc="the tensor to send")
    output: Value = operand(AnyTensor, doc="the proxy on the rank that receives it")
    Flag: int = attribute(UINT32, doc="the number that both sides expect in the packets")
    result_: Value = result(AnyTensor)

    def broken_rules(self) -> Iterator[Diagnostic]:
        yield from _packets(self, self.output, 2 * size_bytes(self.input))


def _packets(op: ArkOp, packets: Value, expected: int) -> Iterator[Diagnostic]:
    if element_of(packets) is not u8 or size_bytes(packets) != expected:
        yield op.broken("C1", f"packets must be {expected:,} bytes of UINT8, found {packets.type}")


class RecvPacket(CommunicationOp, name="ark.RecvPacket"):
    """Receives a tensor from another rank in packets.

    C1: the packets are UINT8 and have twice the bytes of the tensor.
    """

    first_generation = V3

    input: Value = operand(AnyTensor, doc="the proxy on the rank that sends it")
    scratch: Value = operand(AnyTensor, doc="the buffer that receives packets")
    output: Value = operand(AnyTensor, doc="the received tensor")
    Flag: int = attribute(UINT32, doc="the number that both sides expect in the packets")
    result_: Value = result(AnyTensor)

    def broken_rules(self) -> Iterator[Diagnostic]:
        yield from _packets(self, self.scratch, 2 * size_bytes(self.output))


class _RecvReduce(CommunicationOp):
    """Adds what all other ranks sent to a tensor, in the order of ranks, and sends the sum to all of them.

    C1: `NPeers` is the number of other ranks, at most seven. C2: there is one proxy for each. C3: `Rank` is the rank of
    the file. C4: input and output have the same type.
    """

    first_generation = V3
    writes = ("output", "proxies")

    input: Value = operand(AnyTensor, doc="the summand of this rank")
    scratch: Value = operand(AnyTensor, doc="the buffer that receives the summands of others")
    output: Value = operand(AnyTensor, doc="the sum")
    proxies: tuple[Value, ...] = operand(AnyTensor, variadic=True, doc="the proxy of the result on each other rank")
    NPeers: int = attribute(UINT32, doc="the number of other ranks")
    Rank: int = attribute(INT, doc="the rank of the file")
    result_: Value = result(AnyTensor)

    def broken_rules(self) -> Iterator[Diagnostic]:
        yield from _check_other_ranks(self, "NPeers", self.NPeers, self.Rank)
        if self.NPeers > MAX_OTHER_RANKS:
            yield self.broken("C1", f"'NPeers' must be at most {MAX_OTHER_RANKS}, found {self.NPeers}")
        if len(self.proxies) != self.NPeers:
            yield self.broken("C2", f"expected {self.NPeers} proxies, found {len(self.proxies)}")
        if self.input.type is not self.output.type:
            yield self.broken("C4", f"expected to write {self.input.type}, found {self.output.type}")


def _check_other_ranks(op: ArkOp, name: str, count: int, number: int) -> Iterator[Diagnostic]:
    holder = rank_of(op)
    if holder is None:
        return
    if count != holder.world_size - 1:
        yield op.broken("C1", f"'{name}' must be {holder.world_size - 1}, the number of other ranks, found {count}")
    if number != holder.rank:
        yield op.broken("C3", f"'Rank' must be {holder.rank}, the rank of the file, found {number}")


class RecvReduceSend(_RecvReduce, name="ark.RecvReduceSend"):
    """All-reduce step: adds the tensors received from all other ranks, in order of ranks, and sends the sum to them."""


class RecvReduceSendPacket(_RecvReduce, name="ark.RecvReduceSendPacket"):
    """All-reduce step in packets: adds the tensors received from all other ranks in order, and sends the sum to them.

    C5: the packets are UINT8 and have twice the bytes of the tensor for each other rank.
    """

    Flag: int = attribute(UINT32, doc="the number that all sides expect in the packets")

    def broken_rules(self) -> Iterator[Diagnostic]:
        yield from super().broken_rules()
        expected = 2 * size_bytes(self.input) * self.NPeers
        if element_of(self.scratch) is not u8 or size_bytes(self.scratch) != expected:
            yield self.broken("C5", f"packets must be {expected:,} bytes of UINT8, found {self.scratch.type}")


class DeviceSync(CommunicationOp, name="ark.DeviceSync"):
    """Synchronizes all ranks, and returns the tensor.

    C1: `PeerNum` is the number of other ranks. C3: `Rank` is the rank of the file.
    """

    first_generation = V3

    input: Value = operand(AnyTensor)
    output: Value = operand(AnyTensor)
    PeerNum: int = attribute(INT, doc="the number of other ranks")
    Rank: int = attribute(INT, doc="the rank of the file")
    result_: Value = result(AnyTensor)

    def broken_rules(self) -> Iterator[Diagnostic]:
        yield from _check_other_ranks(self, "PeerNum", self.PeerNum, self.Rank)
