"""Documents of one rank, made operation by operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.formats.ark import model_files as files
from tests.formats.ark.model_files import Document


class Building:
    """The operations of a rank. Tensors and buffers are numbered as they come."""

    def __init__(self, generation: str, rank: int = 0, world: int = 1) -> None:
        self.generation = generation
        self.ops: list[Document] = []
        self._rank = rank
        self._world = world
        self._tensors = 0
        self._buffers = 0

    def buffer(
        self, rank: int = -1, send: Sequence[tuple[int, int]] = (), recv: Sequence[tuple[int, int]] = ()
    ) -> Document:
        """A new buffer."""
        self._buffers += 1
        return files.buffer(self.generation, self._buffers - 1, rank, send, recv)

    def tensor(
        self,
        shape: Sequence[int],
        data_type: str = "FP32",
        held: Document | None = None,
        strides: Sequence[int] | None = None,
        offsets: Sequence[int] | None = None,
    ) -> Document:
        """A new tensor: all of a new buffer, or a view."""
        self._tensors += 1
        place = self.buffer() if held is None else held
        return files.tensor(
            self.generation, self._tensors - 1, shape, data_type, held=place, strides=strides, offsets=offsets
        )

    def again(self, tensor: Document, **changes: Any) -> Document:
        """A tensor like another one, with a number of its own and some fields changed; padding follows the shape."""
        self._tensors += 1
        result = {**tensor, "Id": self._tensors - 1, **changes}
        if "Shape" in changes:
            result["PaddedShape" if "PaddedShape" in result else "Pads"] = (
                [*changes["Shape"]] if "PaddedShape" in result else [1] * len(changes["Shape"])
            )
        return result

    def op(self, kind: str, reads: Sequence[Document], writes: Sequence[Document], **args: Any) -> Document:
        """An operation; returns the tensor that it gives."""
        results = [] if kind == "Noop" else [self.again((writes or reads)[0])]
        self.ops.append(files.op(kind, reads, writes, results, f"{kind.lower()}_{len(self.ops)}", **args))
        return results[0] if results else {}

    def document(self) -> Document:
        """The document, with an edge for each tensor that one operation gives and another mentions."""
        return files.document(self.generation, self.ops, files.edges_of(self.ops), self._rank, self._world)


def matmul_args(generation: str, a: Document, b: Document, y: Document, turn_a: bool, turn_b: bool) -> Document:
    """The arguments of a product of matrices."""
    args: Document = {"TransposeInput": ("BOOL", turn_a), "TransposeOther": ("BOOL", turn_b)}
    if generation != "v1":
        return args
    left, right = a["Shape"], b["Shape"]
    left = [1, *left] if len(left) == 1 else left
    right = [*right, 1] if len(right) == 1 else right
    rows, inner = left[-2:][::-1] if turn_a else left[-2:]
    columns = right[-2] if turn_b else right[-1]
    return {
        **args,
        "InputDimNC": ("DIMS", [1, 1, *left][-4:-2]),
        "OtherDimNC": ("DIMS", [1, 1, *right][-4:-2]),
        "ShapeMNK": ("DIMS", [rows, columns, inner]),
        "StridesACDB": ("DIMS", [a["Strides"][-1], y["Strides"][-1], y["Strides"][-1], b["Strides"][-1]]),
    }
