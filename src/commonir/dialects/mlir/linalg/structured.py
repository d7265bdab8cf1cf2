"""A structured operation as its meaning sees it: lowered operands, maps, iterators and a lowered scalar program."""

from __future__ import annotations

from commonir.base.tuples import NamedTuple
from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.linalg.access import plain_dim
from commonir.ir.affine import AffineMap
from commonir.ir.operation import Block, Value
from commonir.symbolic import Dim
from commonir.symbolic.errors import NotationError, NotKnownError


class Structured(NamedTuple):
    """A structured operation: its operands, their maps, which dimensions are reduced, and the scalar program."""

    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    maps: tuple[AffineMap, ...]
    is_reduced: tuple[bool, ...]
    body: Block

    @property
    def operands(self) -> tuple[Value, ...]:
        """Inputs, then what is there before."""
        return (*self.inputs, *self.outputs)

    @property
    def rank(self) -> int:
        """The number of dimensions of the iteration space."""
        return len(self.is_reduced)

    def output_map(self, number: int) -> AffineMap:
        """The map of an output."""
        return self.maps[len(self.inputs) + number]

    def sizes(self) -> dict[int, Dim]:
        """Returns the extent of each iteration dimension, from the axes that it alone indexes; static ones first.

        Raises: NotKnownError when one is not known; NotationError when one cannot be inferred.
        """
        result: dict[int, Dim] = {}
        for v, m in zip(self.operands, self.maps, strict=True):
            shape = core.tensor_type(v).shape
            if shape is None:
                raise NotKnownError("the rank of an operand is not known before running")
            for e, size in zip(m.results, shape, strict=True):
                d = plain_dim(e)
                if d is not None and size is not None and not isinstance(result.get(d), int):
                    result[d] = size if isinstance(size, int) else result.get(d, size)
        missing = [d for d in range(self.rank) if d not in result]
        if missing:
            raise NotationError(f"the extent of dimension d{missing[0]} cannot be inferred")
        return result
