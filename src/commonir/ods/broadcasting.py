"""Broadcasting of types with static and dynamic dims, as definitions of MLIR verify it.

Symbolic dims of kernels are broadcast by `notation.broadcast_shape`. Source: MLIR, traits, broadcastable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from commonir.ir.operation import Operation
from commonir.ir.types import Shape
from commonir.ods.traits import Trait
from commonir.ods.type_rules import dims_of


def broadcast_dims(shapes: Sequence[Shape]) -> Shape | None:
    """Returns the dims of shapes that are broadcast, aligned at the end; None if two dims differ and neither is 1.

    A dynamic dim, None, is taken for 1 or for what another shape has.
    """
    out: list[object] = []
    for dims in zip_longest(*map(reversed, shapes), fillvalue=1):
        others = {d for d in dims if d != 1}
        known = others - {None}
        if len(known) > 1:
            return None
        out.append(next(iter(known or others), 1))
    return tuple(out[::-1])  # pyright: ignore[reportReturnType]  dims of the shapes


def _broadcasts(op: Operation) -> Iterator[str]:
    shapes = [s for v in op.operands if (s := dims_of(v.type)) is not None]
    if len(shapes) < len(op.operands):
        return
    expected = broadcast_dims(shapes)
    if expected is None:
        yield f"operands do not broadcast: {', '.join([str(v.type) for v in op.operands])}"
        return
    for r in op.results:
        actual = dims_of(r.type)
        if actual is not None and (
            len(actual) != len(expected)
            or any(None not in pair and pair[0] != pair[1] for pair in zip(actual, expected, strict=True))
        ):
            yield f"result {r.type} is not the shape that its operands broadcast to"


ResultsBroadcastableShape = Trait(
    "ResultsBroadcastableShape", "its result has the shape that its operands broadcast to", _broadcasts
)
