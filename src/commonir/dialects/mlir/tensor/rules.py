"""Simpler forms of operations of the tensor dialect: known sizes, casts, elements that are known.

Source: MLIR tensor dialect, folders and canonicalization patterns.
"""

from __future__ import annotations

from collections.abc import Mapping

from commonir.dialects.mlir.tensor.elements import Dim_, Empty, Extract, FromElements, Rank
from commonir.dialects.mlir.tensor.reshaping import Cast
from commonir.dialects.mlir.tensor.reshaping_rules import RESHAPING
from commonir.dialects.mlir.tensor.slicing_rules import SLICING
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, Type
from commonir.ods import Op, known_data, known_integer
from commonir.ods.rules import Editor, Rules, Simplification
from commonir.ods.terms import computed, term, variables

x, z = variables("x z")


def _put(op: Dim_ | Rank, number: int, editor: Editor) -> bool:
    return editor.forward(op, editor.index_constant(number, op))


def _known_size(op: Dim_, editor: Editor) -> bool:
    """Replaces a dim by a constant from the type, or by the operand from which the tensor was made."""
    axis, type = known_integer(op.index), op.source.type
    if axis is None or not isinstance(type, TensorType) or type.shape is None or not 0 <= axis < len(type.shape):
        return False
    size = type.shape[axis]
    if isinstance(size, int):
        return _put(op, size, editor)
    source = op.source.owner
    if isinstance(source, Empty):
        editor.replace(op, (source.dynamic_sizes[sum(d is None for d in type.shape[:axis])],))
        return True
    if isinstance(source, Cast):
        editor.set_operands(op, (source.source, op.index))
        return True
    return False


def _known_rank(op: Rank, editor: Editor) -> bool:
    """Replaces the rank of a ranked type by a constant."""
    type = op.tensor.type
    return isinstance(type, TensorType) and type.shape is not None and _put(op, len(type.shape), editor)


def _known_element(op: Extract, editor: Editor) -> bool:
    """Replaces an element of a splat, or of a tensor built from elements, by the element."""
    source = op.tensor.owner
    data = known_data(op.tensor)
    if data is not None:
        one = data.splat()
        if one is None:
            return False
        return editor.forward(op, editor.constant(data_of(data.element, (), (one,)), op.result_.type, op))
    type = op.tensor.type
    if not isinstance(source, FromElements) or not isinstance(type, TensorType):
        return False
    at = 0
    for value, size in zip(op.indices, type.static_shape, strict=True):
        place = known_integer(value)
        if place is None or not 0 <= place < size:
            return False
        at = at * size + place
    editor.replace(op, (source.elements[at],))
    return True


def _cast_once(value: Value, result: Value) -> Value | None:
    """A cast of a cast as one, where nothing that only the type between states is lost."""
    owner = value.owner
    if not isinstance(owner, Cast) or not _is_lossless(owner.source.type, value.type, result.type):
        return None
    return (
        owner.source if owner.source.type is result.type else Cast.build({"source": owner.source}, (result.type,)).dest
    )


def _is_lossless(first: Type, between: Type, last: Type) -> bool:
    shapes = [t.shape if isinstance(t, TensorType) else None for t in (first, between, last)]
    if shapes[1] is None:
        return True
    if shapes[0] is None or shapes[2] is None:
        return False
    return all(b is None or b in (a, c) for a, b, c in zip(*shapes, strict=True))


def _same_type(op: Cast, editor: Editor) -> bool:
    """Removes a cast to the same type."""
    return editor.forward(op, op.source)


_ELEMENTS: Mapping[type[Op], tuple[Simplification, ...]] = {
    Dim_: (_known_size,),
    Rank: (_known_rank,),
    Extract: (_known_element,),
    Cast: (_same_type,),
}

RULES = Rules(
    (term(Cast, term(Cast).named("x")).named("z") >> computed(_cast_once, x, z),),
    {
        definition: tuple([step for steps in (_ELEMENTS, RESHAPING, SLICING) for step in steps.get(definition, ())])
        for definition in (*_ELEMENTS, *RESHAPING, *SLICING)
    },
)
