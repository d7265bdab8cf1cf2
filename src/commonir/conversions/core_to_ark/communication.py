"""Rules for operations by which ranks exchange tensors: a stand-in for the buffer of the other rank, and tags.

What is sent lies in a buffer of its own, as a whole, and arrives in one. The sum of all ranks is made step by step, as
ARK does: with one tag for each rank, from the largest tag of the program on.
"""

from __future__ import annotations

from commonir.conversions.core_to_ark.building import Buffer, BufferPlace, FileTensor
from commonir.conversions.core_to_ark.context import ArkContext, Built, numbers_of, rule, storage_type
from commonir.conversions.core_to_ark.places import MOST_AXES, View
from commonir.dialects import ark, core
from commonir.dialects.core.communication import all_reduce_steps
from commonir.ir.operation import Value
from commonir.ir.types import f32


def _alone(place: BufferPlace, context: ArkContext) -> BufferPlace:
    """A tensor that is all of its buffer, which an operation wrote."""
    result = context.dense(place)
    is_whole = result.layout.start == 0 and result.layout.elements == result.buffer.count
    if is_whole and result.buffer.content is None:
        return result
    built = context.fresh(result.element, result.dims)
    context.copy_into(result, built)
    return built


def _view(place: BufferPlace) -> View:
    """All of a buffer: as its tensor is shaped, or as a row where that has too many axes."""
    dims = place.dims if 0 < len(place.dims) <= MOST_AXES else (place.layout.elements,)
    return View(dims, dims, (0,) * len(dims))


def _send(place: BufferPlace, destination: int, tag: int, context: ArkContext) -> None:
    builder, view = context.builder, _view(place)
    place.buffer.send_tags.add((destination, tag))
    proxy = Buffer(place.element, place.layout.elements, destination)
    proxy.recv_tags.add((ark.LOCAL, tag))
    sent = builder.read(place.buffer, view)
    builder.wait(builder.op(ark.Send, {"input": sent}, builder.write(proxy, view)))


def _received(like: BufferPlace, source: int, tag: int, context: ArkContext) -> FileTensor:
    builder, view = context.builder, _view(like)
    proxy = Buffer(like.element, like.layout.elements, source)
    proxy.send_tags.add((ark.LOCAL, tag))
    like.buffer.recv_tags.add((source, tag))
    stands = builder.write(proxy, view)
    return builder.op(ark.Recv, {"input": stands}, builder.write(like.buffer, view))


@rule(core.Send)
def send(op: core.Send, context: ArkContext, x: Value) -> Built:
    _send(_alone(context.place(x), context), op.destination, op.tag, context)
    return ()


@rule(core.Recv)
def recv(op: core.Recv, context: ArkContext) -> Built:
    result = context.fresh(storage_type(op.element), numbers_of(op.shape))
    _received(result, op.source, op.tag, context)
    return result


@rule(core.AllReduce)
def all_reduce(op: core.AllReduce, context: ArkContext, x: Value) -> Built:
    builder = context.builder
    own = _alone(context.place(x), context)
    view = _view(own)
    first = context.tag
    context.tag += builder.world_size
    result = context.fresh(own.element, own.dims)
    total = builder.op(ark.Copy, {"input": builder.read(own.buffer, view)}, builder.write(result.buffer, view))
    for step in all_reduce_steps(builder.rank, builder.world_size):
        _send(own, step.destination, first + builder.rank, context)
        part = context.fresh(own.element, own.dims)
        received = _received(part, step.source, first + step.source, context)
        total = builder.op(ark.Add, {"input": total, "other": received}, total)
    return result


@rule(core.Barrier)
def barrier(op: core.Barrier, context: ArkContext) -> Built:
    """All ranks wait for each other at a tensor that nothing else is made of."""
    builder = context.builder
    mark = context.fill(f32, (1,), 0.0)
    view = _view(mark)
    sent = builder.read(mark.buffer, view)
    other_ranks = builder.world_size - 1
    built = builder.op(ark.DeviceSync, {"input": sent}, sent, PeerNum=other_ranks, Rank=builder.rank)
    builder.keep(built)
    return ()
