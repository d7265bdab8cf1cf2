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

    __slots__ = ("content", "count", "element", "rank", "recv_tags", "send_tags", "written")

    def __init__(self, element: ElementType, count: int, rank: int = ark.LOCAL) -> None:
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

    __slots__ = ("buffer", "maker", "view")

    def __init__(self, buffer: Buffer, view: View) -> None:
        self.buffer = buffer
        self.view = view
        self.maker: _Step | None = None

    @property
    def type(self) -> TensorType:
        """The type of the value that it becomes."""
        return TensorType(self.buffer.element, self.view.shape)


class _Step:
    """An operation to be."""

    __slots__ = ("arguments", "definition", "is_port", "name", "operands", "result")

    def __init__(
        self,
        definition: type[ark.ArkOp],
        operands: Mapping[str, FileTensor | tuple[FileTensor, ...]],
        arguments: Mapping[str, object],
        result: FileTensor | None,
        name: str = "",
        *,
        is_port: bool = False,
    ) -> None:
        self.definition = definition
        self.operands = operands
        self.arguments = arguments
        self.result = result
        self.name = name
        self.is_port = is_port
        """Whether it is there for an input or output, and not for what uses it."""

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
        self._names: dict[str, int] = {}
        self._views: dict[tuple[Buffer, View], tuple[int, FileTensor]] = {}

    def reserve(self, name: str) -> str:
        """A name that nothing else gets; with a number where it is taken."""
        number = self._names.get(name)
        self._names[name] = 0 if number is None else number + 1
        if number is None:
            return name
        free = f"{name}_{number + 1}"
        return free if free not in self._names else self.reserve(free)

    def held(self, name: str, element: ElementType, sizes: Sequence[int], content: Data | None = None) -> Place:
        """A tensor that is there before anything runs: an input, or a weight with its content."""
        buffer = Buffer(element, prod(sizes))
        buffer.content = content
        view = View(tuple(sizes) or (1,), tuple(sizes) or (1,), (0,) * max(len(sizes), 1))
        made = FileTensor(buffer, view)
        self._add(_Step(ark.VirtualTensor, {}, {"content": content}, made, name, is_port=content is None))
        buffer.written.append(made)
        self._views[buffer, view] = (1, made)
        return Place(buffer, dense(sizes))

    def _add(self, step: _Step) -> None:
        if not step.definition.is_virtual:
            step.name = self.reserve(self.name or _snake_case(step.definition.name.partition(".")[2]))
        if step.result is not None:
            step.result.maker = step
        self._steps.append(step)

    def read(self, buffer: Buffer, view: View) -> FileTensor:
        """A view of what a buffer holds now."""
        now = len(buffer.written)
        known = self._views.get((buffer, view))
        if known is not None and known[0] == now:
            return known[1]
        made = FileTensor(buffer, view)
        self._add(_Step(ark.VirtualTensor, {"inputs": tuple(buffer.written)}, {}, made))
        self._views[buffer, view] = (now, made)
        return made

    def write(self, buffer: Buffer, view: View, *, over: bool = False) -> FileTensor:
        """A view of a buffer to be written; `over`: after what was written there before."""
        return self.read(buffer, view) if over else FileTensor(buffer, view)

    def op(
        self,
        definition: type[ark.ArkOp],
        reads: Mapping[str, FileTensor],
        output: FileTensor,
        **arguments: object,
    ) -> FileTensor:
        """An operation that writes a tensor."""
        made = FileTensor(output.buffer, output.view)
        self._add(_Step(definition, {**reads, "output": output}, arguments, made))
        output.buffer.written.append(made)
        self._views[output.buffer, output.view] = (len(output.buffer.written), made)
        return made

    def wait(self, sent: FileTensor) -> None:
        """Waits until what was sent may be overwritten."""
        self._add(_Step(ark.SendDone, {"input": sent}, {}, FileTensor(sent.buffer, sent.view)))

    def keep(self, tensor: FileTensor) -> None:
        """Keeps a tensor in the program that nothing else reads."""
        self._add(_Step(ark.Noop, {"input": tensor}, {}, None))

    def output(self, name: str, place: Place) -> None:
        """Names a tensor that the program returns, which an operation computed."""
        view = view_of(place.layout, place.buffer.count)
        if view is None:
            raise ValueError("an output must be stated as one view")
        made = FileTensor(place.buffer, view)
        self._add(_Step(ark.VirtualTensor, {"inputs": tuple(place.buffer.written)}, {}, made, name, is_port=True))

    def finish(self) -> ark.Rank:
        """The rank with all operations that something needs. An input that nothing needs is kept by a `Noop`."""
        needed = self._needed()
        used = {t for step in needed for t in step.mentioned()}
        for step in needed:
            if step.is_port and not step.operands and step.result is not None and step.result not in used:
                self.keep(step.result)
        return _Writer(self._needed()).rank(self.rank, self.world_size)

    def _needed(self) -> list[_Step]:
        """The operations that something needs, in order."""
        wanted: set[FileTensor] = set()
        out: list[_Step] = []
        for step in reversed(self._steps):
            is_needed = step.is_port or issubclass(step.definition, ark.CommunicationOp | ark.Noop)
            if is_needed or step.result in wanted:
                out.append(step)
                wanted.update(step.mentioned())
        return out[::-1]


class _Writer:
    """Makes the operations of a rank, and counts nodes, tensors and buffers in the order in which they come."""

    def __init__(self, steps: Sequence[_Step]) -> None:
        self._steps = steps
        self._block = Block()
        self._values: dict[FileTensor, Value] = {}
        self._buffers: dict[Buffer, int] = {}

    def rank(self, rank: int, world_size: int) -> ark.Rank:
        """The rank."""
        numbers = {step: n for n, step in enumerate(self._steps)}
        before: list[list[int]] = []
        after: list[list[int]] = [[] for _ in self._steps]
        for n, step in enumerate(self._steps):
            before.append(sorted({numbers[t.maker] for t in step.mentioned() if t.maker is not None}))
            for source in before[-1]:
                after[source].append(n)
            self._put(step, n)
        edges = tuple(map(tuple, before)), tuple(map(tuple, after))
        generation = GENERATION if self._steps else ""
        return ark.Rank(f"rank{rank}", rank, world_size, generation, *edges, Region([self._block]))

    def _put(self, step: _Step, node: int) -> None:
        """Makes an operation, with the tensors that it is the first to mention."""
        for tensor in step.mentioned():
            if tensor not in self._values:
                arguments = {"tensor_id": len(self._values), **self._stated(tensor)}
                self._keep(tensor, ark.Tensor.build(arguments, [tensor.type]), f"t{len(self._values)}")
        result, values = step.result, self._values
        number = ark.NO_ID if result is None else len(values)
        operands = {
            n: tuple([values[u] for u in t]) if isinstance(t, tuple) else values[t] for n, t in step.operands.items()
        }
        arguments: dict[str, object] = {
            **operands,
            **step.arguments,
            "node": node,
            "op_name": step.name,
            "result_id": number,
        }
        if result is None:
            self._block.append(step.definition.build(arguments, []))
            return
        if step.definition.is_virtual:
            arguments |= self._stated(result)
        is_named = step.definition.is_virtual and step.name
        self._keep(result, step.definition.build(arguments, [result.type]), step.name if is_named else f"t{number}")

    def _keep(self, tensor: FileTensor, op: ark.ArkOp | ark.Tensor, name: str) -> None:
        self._block.append(op)
        value = op.results[0]
        value.name = name
        self._values[tensor] = value

    def _stated(self, tensor: FileTensor) -> dict[str, object]:
        buffer, view = tensor.buffer, tensor.view
        return {
            "data_type": DATA_TYPES[buffer.element],
            "buffer": self._buffers.setdefault(buffer, len(self._buffers)),
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
