"""A rank of an ARK program while it is built: buffers, tensors, and operations that are created at the end.

The tags of a buffer are repeated wherever it is mentioned, so operations are created when all tags are known. Nodes,
tensors and buffers are numbered in order of occurrence; edges lead from the producer of a tensor to its users.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from commonir.base.tuples import NamedTuple
from commonir.dialects import ark
from commonir.ir.data import Data
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import ElementType, TensorType

GENERATION = ark.V3
"""Of which generation ranks are made; `in_generation` leads to the others."""

DATA_TYPES: Mapping[ElementType, str] = {
    element: next(name for name, named in ark.DATA_TYPES.items() if named is element)
    for element in ark.DATA_TYPES.values()
}
"""How ARK calls element types: of several names the first."""


class View(NamedTuple):
    """A part of a buffer, as in ARK files."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offsets: tuple[int, ...]


FIRST_TAG = -(1 << 31)
"""The first tag that ARK picks where the program has none."""


def next_tag(used: Collection[int]) -> int:
    """Returns the first of the tags that ARK chooses for an all-reduce, for a program that uses others."""
    return max(used) + 1 if used else FIRST_TAG


class Buffer:
    """Memory for some elements on this rank or, as a proxy, on another one."""

    __slots__ = ("content", "count", "element", "rank", "recv_tags", "send_tags", "written")

    def __init__(self, element: ElementType, count: int, rank: int = ark.LOCAL) -> None:
        self.element = element
        self.count = count
        self.rank = rank
        self.send_tags: set[tuple[int, int]] = set()
        self.recv_tags: set[tuple[int, int]] = set()
        self.content: Data | None = None
        """Its contents if they are constant."""
        self.written: list[FileTensor] = []
        """The results of operations in it, in order."""


class FileTensor:
    """A tensor as in files."""

    __slots__ = ("buffer", "maker", "view")

    def __init__(self, buffer: Buffer, view: View) -> None:
        self.buffer = buffer
        self.view = view
        self.maker: TensorStep | None = None

    @property
    def type(self) -> TensorType:
        """The type of the value that it becomes."""
        return TensorType(self.buffer.element, self.view.shape)


class TensorStep:
    """An operation that will be created."""

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
        """Returns its operands, in order."""
        return [
            t for operand in self.operands.values() for t in (operand if isinstance(operand, tuple) else (operand,))
        ]


class Names:
    """Unique names of operations: a repeated name gets a number."""

    __slots__ = ("_numbers",)

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def reserve(self, name: str) -> str:
        """Returns a unique name."""
        number = self._numbers.get(name)
        self._numbers[name] = 0 if number is None else number + 1
        if number is None:
            return name
        free = f"{name}_{number + 1}"
        return free if free not in self._numbers else self.reserve(free)


def snake_case(name: str) -> str:
    """Returns the name that ARK gives to an operation of a type."""
    return "".join([f"_{c.lower()}" if c.isupper() else c for c in name]).lstrip("_")


def rank_of_steps(steps: Sequence[TensorStep], rank: int, world_size: int) -> ark.Rank:
    """Returns the rank with these operations, in order, each in a node of its own."""
    return _Writer(steps).rank(rank, world_size)


class _Writer:
    """Creates the operations of a rank, and numbers nodes, tensors and buffers in order of occurrence."""

    def __init__(self, steps: Sequence[TensorStep]) -> None:
        self._steps = steps
        self._block = Block()
        self._values: dict[FileTensor, Value] = {}
        self._buffers: dict[Buffer, int] = {}

    def rank(self, rank: int, world_size: int) -> ark.Rank:
        """Returns the rank."""
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

    def _put(self, step: TensorStep, node: int) -> None:
        """Creates an operation, and the tensors that it is the first to mention."""
        for tensor in step.mentioned():
            if tensor not in self._values:
                arguments = {"tensor_id": len(self._values), **self._view_attributes(tensor)}
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
            arguments |= self._view_attributes(result)
        is_named = step.definition.is_virtual and step.name
        self._keep(result, step.definition.build(arguments, [result.type]), step.name if is_named else f"t{number}")

    def _keep(self, tensor: FileTensor, op: ark.ArkOp | ark.Tensor, name: str) -> None:
        self._block.append(op)
        value = op.results[0]
        value.name = name
        self._values[tensor] = value

    def _view_attributes(self, tensor: FileTensor) -> dict[str, object]:
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
