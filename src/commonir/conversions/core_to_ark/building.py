"""The output of a conversion to ARK: buffers, tensors of files and operations, until a rank is complete.

Buffers are written once, or parts of them once each. A tensor that is another view of a buffer than what an operation
gave is a virtual operation on all that was written there, so that the edges between nodes say what depends on what.
Tags of a buffer stand wherever it is mentioned: so operations are made when all of them are known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from commonir.base.tuples import NamedTuple
from commonir.conversions.core_to_ark.places import BufferLayout, dense, view_of
from commonir.dialects import ark
from commonir.ir.data import Data
from commonir.ir.types import ElementType
from commonir.passes.ark.steps import DATA_TYPES, Buffer, FileTensor, Names, TensorStep, View, rank_of_steps, snake_case


class BufferPlace(NamedTuple):
    """A tensor of the program: where it lies."""

    buffer: Buffer
    layout: BufferLayout

    @property
    def element(self) -> ElementType:
        """Returns the type of its elements."""
        return self.buffer.element

    @property
    def dims(self) -> tuple[int, ...]:
        """Returns its shape."""
        return self.layout.dims


class Builder:
    """Builds a rank."""

    def __init__(self, rank: int = 0, world_size: int = 1) -> None:
        self.rank = rank
        self.world_size = world_size
        self.name = ""
        """The name of operations that have no name of their own."""
        self._steps: list[TensorStep] = []
        self._names = Names()
        self._views: dict[tuple[Buffer, View], tuple[int, FileTensor]] = {}

    def reserve(self, name: str) -> str:
        """A name that nothing else gets; with a number where it is taken."""
        return self._names.reserve(name)

    def stored_tensor(
        self, name: str, element: ElementType, dims: Sequence[int], content: Data | None = None
    ) -> BufferPlace:
        """A tensor that is there before anything runs: an input, or a weight with its content."""
        buffer = Buffer(element, prod(dims))
        buffer.content = content
        view = View(tuple(dims) or (1,), tuple(dims) or (1,), (0,) * max(len(dims), 1))
        built = FileTensor(buffer, view)
        self._add(TensorStep(ark.VirtualTensor, {}, {"content": content}, built, name, is_port=content is None))
        buffer.written.append(built)
        self._views[buffer, view] = (1, built)
        return BufferPlace(buffer, dense(dims))

    def _add(self, step: TensorStep) -> None:
        if not step.definition.is_virtual:
            step.name = self.reserve(self.name or snake_case(step.definition.name.partition(".")[2]))
        if step.result is not None:
            step.result.maker = step
        self._steps.append(step)

    def read(self, buffer: Buffer, view: View) -> FileTensor:
        """A view of what a buffer holds now."""
        now = len(buffer.written)
        known = self._views.get((buffer, view))
        if known is not None and known[0] == now:
            return known[1]
        result = FileTensor(buffer, view)
        self._add(TensorStep(ark.VirtualTensor, {"inputs": tuple(buffer.written)}, {}, result))
        self._views[buffer, view] = (now, result)
        return result

    def write(self, buffer: Buffer, view: View, *, over: bool = False) -> FileTensor:
        """A view of a buffer to be written; `over`: after what was written there before."""
        return self.read(buffer, view) if over else FileTensor(buffer, view)

    def op(
        self, definition: type[ark.ArkOp], reads: Mapping[str, FileTensor], output: FileTensor, **arguments: object
    ) -> FileTensor:
        """An operation that writes a tensor."""
        result = FileTensor(output.buffer, output.view)
        self._add(TensorStep(definition, {**reads, "output": output}, arguments, result))
        output.buffer.written.append(result)
        self._views[output.buffer, output.view] = (len(output.buffer.written), result)
        return result

    def wait(self, sent: FileTensor) -> None:
        """Waits until what was sent may be overwritten."""
        self._add(TensorStep(ark.SendDone, {"input": sent}, {}, FileTensor(sent.buffer, sent.view)))

    def keep(self, tensor: FileTensor) -> None:
        """Keeps a tensor in the program that nothing else reads."""
        self._add(TensorStep(ark.Noop, {"input": tensor}, {}, None))

    def output(self, name: str, place: BufferPlace) -> None:
        """Names a tensor that the program returns, which an operation computed."""
        view = view_of(place.layout, place.buffer.count)
        if view is None:
            raise ValueError("an output must be stated as one view")
        built = FileTensor(place.buffer, view)
        self._add(TensorStep(ark.VirtualTensor, {"inputs": tuple(place.buffer.written)}, {}, built, name, is_port=True))

    def finish(self) -> ark.Rank:
        """The rank with all operations that something needs. An input that nothing needs is kept by a `Noop`."""
        needed = self._needed()
        used = {t for step in needed for t in step.mentioned()}
        for step in needed:
            if step.is_port and not step.operands and step.result is not None and step.result not in used:
                self.keep(step.result)
        return rank_of_steps(self._needed(), self.rank, self.world_size)

    def _needed(self) -> list[TensorStep]:
        """The operations that something needs, in order."""
        expected: set[FileTensor] = set()
        out: list[TensorStep] = []
        for step in reversed(self._steps):
            is_needed = step.is_port or issubclass(step.definition, ark.CommunicationOp | ark.Noop)
            if is_needed or step.result in expected:
                out.append(step)
                expected.update(step.mentioned())
        return out[::-1]


__all__ = ["DATA_TYPES", "Buffer", "BufferPlace", "Builder", "FileTensor"]
