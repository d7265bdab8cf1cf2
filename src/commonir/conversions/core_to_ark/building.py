"""What a conversion to ARK writes down: buffers, tensors of files and operations, until a rank is complete.

Buffers are written once, or parts of them once each. A tensor that is another view of a buffer than what an operation
gave is a virtual operation on all that was written there, so that the edges between nodes say what depends on what.
Tags of a buffer stand wherever it is mentioned: so operations are made when all of them are known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import NamedTuple

from commonir.conversions.core_to_ark.places import Layout, View, dense, view_of
from commonir.dialects import ark
from commonir.ir.data import Data
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import ElementType, TensorType, bf16, f16, f32, i8, i32, u8, u32

GENERATION = "v3"
"""What is made at first; `passes/ark/generations` leads to the others."""

DATA_TYPES: Mapping[ElementType, str] = {
    f32: "FP32",
    f16: "FP16",
    bf16: "BF16",
    i32: "INT32",
    u32: "UINT32",
    i8: "INT8",
    u8: "UINT8",
}
"""How ARK calls element types."""


class Buffer:
    """Memory for some elements, on this rank or, as a stand-in, on another one."""

    __slots__ = ("content", "count", "element", "number", "rank", "recv_tags", "send_tags", "written")

    def __init__(self, number: int, element: ElementType, count: int, rank: int = ark.LOCAL) -> None:
        self.number = number
        self.element = element
        self.count = count
        self.rank = rank
        self.send_tags: set[tuple[int, int]] = set()
        self.recv_tags: set[tuple[int, int]] = set()
        self.content: Data | None = None
        """What it holds, all of it, and nothing changes that."""
        self.written: list[FileTensor] = []
        """What operations gave in it, in order."""


class Place(NamedTuple):
    """A tensor of the program: where it lies."""

    buffer: Buffer
    layout: Layout

    @property
    def element(self) -> ElementType:
        """What its elements are."""
        return self.buffer.element

    @property
    def sizes(self) -> tuple[int, ...]:
        """Its shape."""
        return self.layout.sizes


class FileTensor:
    """A tensor as files have it."""

    __slots__ = ("buffer", "maker", "number", "view")

    def __init__(self, number: int, buffer: Buffer, view: View) -> None:
        self.number = number
        self.buffer = buffer
        self.view = view
        self.maker: _Step | None = None

    @property
    def type(self) -> TensorType:
        """The type of the value that it becomes."""
        return TensorType(self.buffer.element, self.view.shape)


class _Step:
    """An operation to be."""

    __slots__ = ("arguments", "definition", "name", "number", "operands", "result")

    def __init__(
        self,
        number: int,
        definition: type[ark.ArkOp],
        operands: Mapping[str, FileTensor | tuple[FileTensor, ...]],
        arguments: Mapping[str, object],
        result: FileTensor | None,
        name: str,
    ) -> None:
        self.number = number
        self.definition = definition
        self.operands = operands
        self.arguments = arguments
        self.result = result
        self.name = name

    def mentioned(self) -> list[FileTensor]:
        """Its operands, in order."""
        return [t for held in self.operands.values() for t in (held if isinstance(held, tuple) else (held,))]


class Builder:
    """A rank while it is made."""

    def __init__(self, rank: int = 0, world_size: int = 1) -> None:
        self.rank = rank
        self.world_size = world_size
        self.name = ""
        """What operations are called that have no name of their own."""
        self._steps: list[_Step] = []
        self._buffers = 0
        self._tensors = 0
        self._names: dict[str, int] = {}
        self._views: dict[tuple[int, View], tuple[int, FileTensor]] = {}

    def reserve(self, name: str) -> str:
        """A name that nothing else gets; with a number where it is taken."""
        number = self._names.get(name)
        self._names[name] = 0 if number is None else number + 1
        if number is None:
            return name
        free = f"{name}_{number + 1}"
        return free if free not in self._names else self.reserve(free)

    def buffer(self, element: ElementType, count: int, rank: int = ark.LOCAL) -> Buffer:
        """A new buffer."""
        self._buffers += 1
        return Buffer(self._buffers - 1, element, count, rank)

    def held(self, name: str, element: ElementType, sizes: Sequence[int], content: Data | None = None) -> Place:
        """A tensor that is there before anything runs: an input, or a weight with its content."""
        buffer = self.buffer(element, prod(sizes))
        buffer.content = content
        view = View(tuple(sizes) or (1,), tuple(sizes) or (1,), (0,) * max(len(sizes), 1))
        made = self._tensor(buffer, view)
        self._step(ark.VirtualTensor, {}, {"content": content}, made, name)
        buffer.written.append(made)
        self._views[buffer.number, view] = (1, made)
        return Place(buffer, dense(sizes))

    def _tensor(self, buffer: Buffer, view: View) -> FileTensor:
        self._tensors += 1
        return FileTensor(self._tensors - 1, buffer, view)

    def _step(
        self,
        definition: type[ark.ArkOp],
        operands: Mapping[str, FileTensor | tuple[FileTensor, ...]],
        arguments: Mapping[str, object],
        result: FileTensor | None,
        name: str | None = None,
    ) -> None:
        made = _Step(len(self._steps), definition, operands, arguments, result, name or "")
        if name is None and not definition.is_virtual:
            made.name = self.reserve(self.name or _snake_case(definition.name.partition(".")[2]))
        if result is not None:
            result.maker = made
        self._steps.append(made)

    def read(self, buffer: Buffer, view: View) -> FileTensor:
        """A view of what a buffer holds now."""
        now = len(buffer.written)
        known = self._views.get((buffer.number, view))
        if known is not None and known[0] == now:
            return known[1]
        made = self._tensor(buffer, view)
        self._step(ark.VirtualTensor, {"inputs": tuple(buffer.written)}, {}, made)
        self._views[buffer.number, view] = (now, made)
        return made

    def write(self, buffer: Buffer, view: View, *, over: bool = False) -> FileTensor:
        """A view of a buffer to be written; `over`: after what was written there before."""
        return self.read(buffer, view) if over else self._tensor(buffer, view)

    def op(
        self,
        definition: type[ark.ArkOp],
        reads: Mapping[str, FileTensor],
        output: FileTensor,
        **arguments: object,
    ) -> FileTensor:
        """An operation that writes a tensor."""
        made = self._tensor(output.buffer, output.view)
        self._step(definition, {**reads, "output": output}, arguments, made)
        output.buffer.written.append(made)
        self._views[output.buffer.number, output.view] = (len(output.buffer.written), made)
        return made

    def wait(self, sent: FileTensor) -> None:
        """Waits until what was sent may be overwritten."""
        self._step(ark.SendDone, {"input": sent}, {}, self._tensor(sent.buffer, sent.view))

    def keep(self, place: FileTensor) -> None:
        """Keeps a tensor in the program that nothing else reads."""
        self._step(ark.Noop, {"input": place}, {}, None)

    def output(self, name: str, place: Place) -> None:
        """Names a tensor that the program returns, which an operation computed."""
        view = view_of(place.layout, place.buffer.count)
        if view is None:
            raise ValueError("an output must be stated as one view")
        made = self._tensor(place.buffer, view)
        self._step(ark.VirtualTensor, {"inputs": tuple(place.buffer.written)}, {}, made, name)

    def finish(self) -> ark.Rank:
        """The rank with all of its operations."""
        block = Block()
        values: dict[FileTensor, Value] = {}
        before: list[list[int]] = []
        after: list[list[int]] = [[] for _ in self._steps]
        for step in self._steps:
            sources = {t.maker.number for t in step.mentioned() if t.maker is not None}
            before.append(sorted(sources))
            for source in before[-1]:
                after[source].append(step.number)
            _put(step, block, values)
        return ark.Rank(
            f"rank{self.rank}",
            self.rank,
            self.world_size,
            GENERATION if self._steps else "",
            tuple(map(tuple, before)),
            tuple(map(tuple, after)),
            Region([block]),
        )


def _put(step: _Step, block: Block, values: dict[FileTensor, Value]) -> None:
    """Makes an operation, with the tensors that it is the first to mention."""
    for tensor in step.mentioned():
        if tensor not in values:
            made = ark.Tensor.build({"tensor_id": tensor.number, **_stated(tensor)}, [tensor.type])
            block.append(made)
            values[tensor] = made.results[0]
            made.results[0].name = f"t{tensor.number}"
    result = step.result
    arguments: dict[str, object] = {
        **{n: tuple([values[u] for u in t]) if isinstance(t, tuple) else values[t] for n, t in step.operands.items()},
        **step.arguments,
        "node": step.number,
        "op_name": step.name,
        "result_id": ark.NO_ID if result is None else result.number,
    }
    if step.definition.is_virtual and result is not None:
        arguments |= _stated(result)
    made = step.definition.build(arguments, [] if result is None else [result.type])
    block.append(made)
    if result is not None:
        is_named = step.definition.is_virtual and step.name
        made.results[0].name = step.name if is_named else f"t{result.number}"
        values[result] = made.results[0]


def _stated(tensor: FileTensor) -> dict[str, object]:
    buffer, view = tensor.buffer, tensor.view
    return {
        "data_type": DATA_TYPES[buffer.element],
        "buffer": buffer.number,
        "buffer_rank": buffer.rank,
        "send_tags": tuple(sorted(buffer.send_tags)),
        "recv_tags": tuple(sorted(buffer.recv_tags)),
        "strides": view.strides,
        "offsets": view.offsets,
        "padded_shape": view.shape,
    }


def _snake_case(name: str) -> str:
    return "".join([f"_{c.lower()}" if c.isupper() else c for c in name]).lstrip("_")


__all__ = ["DATA_TYPES", "Buffer", "Builder", "FileTensor", "Place"]
