"""Simpler forms of operations of the shape dialect: shapes, sizes and witnesses that are known or stated twice.

Source: MLIR shape dialect, folders and canonicalization patterns.
"""

from __future__ import annotations

from commonir.dialects.mlir.shape.assuming import (
    Assuming,
    AssumingAll,
    AssumingYield,
    ConstWitness,
    CstrBroadcastable,
    CstrEq,
    CstrRequire,
)
from commonir.dialects.mlir.shape.base import size, witness
from commonir.dialects.mlir.shape.shapes import (
    Broadcast,
    ConstShape,
    FromExtents,
    IsBroadcastable,
    ShapeOf,
    ToExtentTensor,
)
from commonir.dialects.mlir.shape.sizes import ConstSize, Dim_, IndexToSize, Max, Min, Rank, SizeToIndex
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, Type, i64
from commonir.ods import Op, known_data, known_integer
from commonir.ods.broadcasting import broadcast_dims
from commonir.ods.rules import Editor, Rules
from commonir.ods.type_rules import dims_of, static_dims_of


def _rebuilt(op: Op, operands: tuple[Value, ...], editor: Editor) -> bool:
    """Puts an operation on other operands in the place of one whose operands are one group."""
    (field,) = op.layout.inputs
    built = type(op).build({field.name: operands}, [r.type for r in op.results])
    return editor.substitute(op, built)


def _put_truth(op: Op, holds: bool, editor: Editor) -> bool:
    """Puts a constant in the place of an operation that gives a bool or a witness."""
    if op.results[0].type is witness:
        return editor.substitute(op, ConstWitness(holds))
    return editor.forward(op, editor.bool_constant(holds, op))


def _put_size(op: Op, number: int, editor: Editor) -> bool:
    """Puts a constant in the place of an operation that gives a size or a position."""
    if op.results[0].type is size:
        return editor.substitute(op, ConstSize(number))
    return editor.forward(op, editor.index_constant(number, op))


def _put_shape(op: Op, sizes: tuple[int, ...], editor: Editor) -> bool:
    """Puts a constant in the place of an operation that gives a shape."""
    result = ConstShape.from_data(data_of(i64, (len(sizes),), sizes), op.results[0].type)
    return result is not None and editor.substitute(op, result)


def _state_once(op: AssumingAll | Broadcast | CstrBroadcastable | IsBroadcastable, editor: Editor) -> bool:
    """Removes a repeated constraint."""
    once = tuple(dict.fromkeys(op.operands))
    if len(once) == len(op.operands):
        return False
    if isinstance(op, CstrBroadcastable) and len(once) == 1:
        return _put_truth(op, True, editor)
    return _rebuilt(op, once, editor)


def _fits_itself(op: IsBroadcastable, editor: Editor) -> bool:
    """A shape alone can be broadcast."""
    return len(op.shapes) <= 1 and _put_truth(op, True, editor)


def _known_shapes(op: Op) -> list[tuple[int, ...]] | None:
    """The sizes of all operands, where they are known."""
    data = [known_data(value) for value in op.operands]
    return None if None in data else [tuple(map(int, d.values())) for d in data if d is not None]


def _equals_itself(op: CstrEq, editor: Editor) -> bool:
    """A shape is itself."""
    known = _known_shapes(op)
    is_one = len(set(op.shapes)) <= 1 or (known is not None and len(set(known)) == 1)
    return is_one and _put_truth(op, True, editor)


def _fits(op: CstrBroadcastable, editor: Editor) -> bool:
    """Known shapes that can be broadcast against each other."""
    known = _known_shapes(op)
    return known is not None and broadcast_dims(known) is not None and _put_truth(op, True, editor)


def _required(op: CstrRequire, editor: Editor) -> bool:
    """A condition that is known."""
    data = known_data(op.pred)
    return data is not None and _put_truth(op, bool(data.values()[0]), editor)


def _is_scalar(value: Value) -> bool:
    data = known_data(value)
    return data is not None and data.count == 0


def _fits_scalars(op: CstrBroadcastable, editor: Editor) -> bool:
    """Shapes that can be broadcast whatever they are: all but one are those of scalars."""
    left = [v for v in op.shapes if not _is_scalar(v)]
    return len(left) <= 1 and _put_truth(op, True, editor)


def _drop_scalars(op: CstrBroadcastable | Broadcast, editor: Editor) -> bool:
    """Shapes of scalars do not matter."""
    left = tuple([v for v in op.shapes if not _is_scalar(v)])
    if len(left) == len(op.shapes) or len(left) < 2 - isinstance(op, Broadcast):
        return False
    return _rebuilt(op, left, editor)


def _forward_shape(op: Broadcast, editor: Editor) -> bool:
    """One shape is broadcast to itself."""
    if len(op.shapes) != 1:
        return False
    (only,) = op.shapes
    expected = op.result_.type
    if only.type is not expected:
        result = editor.create("tensor.cast", (only,), (expected,), op) if _are_extents(only.type, expected) else None
        return result is not None and editor.forward(op, result.results[0])
    return editor.forward(op, only)


def _are_extents(*types: Type) -> bool:
    return all(isinstance(t, TensorType) for t in types)


def _join(op: AssumingAll, editor: Editor) -> bool:
    """Witnesses of witnesses are stated together."""
    arguments: list[Value] = []
    for value in op.inputs:
        owner = value.owner
        arguments += owner.inputs if isinstance(owner, AssumingAll) else [value]
    return len(arguments) != len(op.inputs) and _rebuilt(op, tuple(arguments), editor)


def _known_witnesses(op: AssumingAll, editor: Editor) -> bool:
    """Witnesses that are known."""
    data = [known_data(value) for value in op.inputs]
    if any(d is not None and not d.values()[0] for d in data):
        return _put_truth(op, False, editor)
    left = tuple([value for value, d in zip(op.inputs, data, strict=True) if d is None])
    if not left:
        return _put_truth(op, True, editor)
    if len(left) == 1:
        return editor.forward(op, left[0])
    return len(left) < len(op.inputs) and _rebuilt(op, left, editor)


def _equal_together(op: AssumingAll, editor: Editor) -> bool:
    """Shapes that are equal to each other, in groups that share one, are all equal."""
    groups = [v.owner for v in op.inputs]
    declared = [g for g in groups if isinstance(g, CstrEq)]
    if not declared or len(declared) < len(groups):
        return False
    shapes = [*declared[0].shapes]
    for group in declared[1:]:
        if not set(group.shapes) & set(shapes):
            return False
        shapes += group.shapes
    built = CstrEq(tuple(shapes))
    return editor.substitute(op, built)


def _take_region(op: Assuming, editor: Editor) -> bool:
    """Replaces an operation that depends on a witness that holds by its region."""
    data = known_data(op.witness)
    if data is None or not data.values()[0] or len(op.doRegion.blocks) != 1:
        return False
    editor.replace(op, editor.inline(op.doRegion.block, op, ()))
    return True


def _drop_results(op: Assuming, editor: Editor) -> bool:
    """Removes unused results."""
    last = op.doRegion.blocks[0].last if len(op.doRegion.blocks) == 1 else None
    kept = [n for n, r in enumerate(op.results) if r.is_used]
    if not isinstance(last, AssumingYield) or len(kept) == len(op.results):
        return False
    editor.insert(AssumingYield(tuple([last.operands[n] for n in kept])), last)
    editor.erase(last)
    region = op.doRegion.take()
    built = Assuming.build({"witness": op.witness, "doRegion": region}, [op.results[n].type for n in kept])
    editor.insert(built, op)
    for n, new in zip(kept, built.results, strict=True):
        editor.replace_uses(op.results[n], new)
    editor.erase(op)
    return True


def _same_size(op: Max | Min, editor: Editor) -> bool:
    """Of a size and itself, that size."""
    return op.lhs is op.rhs and editor.forward(op, op.lhs)


def _back(op: SizeToIndex | IndexToSize | ToExtentTensor, editor: Editor) -> bool:
    """A conversion to the type that the operand has, or had before another one."""
    (value,), expected = op.operands, op.results[0].type
    owner = value.owner
    if value.type is not expected and isinstance(owner, SizeToIndex | IndexToSize):
        value = owner.operands[0]
    return editor.forward(op, value)


def _known_shape(op: ShapeOf, editor: Editor) -> bool:
    """The shape of a static type."""
    sizes = static_dims_of(op.arg.type)
    return sizes is not None and _put_shape(op, sizes, editor)


def _no_extents(op: FromExtents, editor: Editor) -> bool:
    """The shape of a scalar."""
    return not op.extents and _put_shape(op, (), editor)


def _known_rank(op: Rank, editor: Editor) -> bool:
    """Replaces the rank of a ranked type by a constant."""
    owner = op.shape.owner
    sizes = dims_of(owner.arg.type) if isinstance(owner, ShapeOf) else None
    return sizes is not None and _put_size(op, len(sizes), editor)


def _known_size(op: Dim_, editor: Editor) -> bool:
    """A static dim of a type."""
    sizes, place = dims_of(op.value.type), known_integer(op.index)
    number = sizes[place] if sizes is not None and place is not None and 0 <= place < len(sizes) else None
    return number is not None and _put_size(op, number, editor)


RULES = Rules(
    (),
    {
        AssumingAll: (_known_witnesses, _join, _equal_together, _state_once),
        Assuming: (_take_region, _drop_results),
        Broadcast: (_forward_shape, _state_once, _drop_scalars),
        CstrBroadcastable: (_fits, _fits_scalars, _state_once, _drop_scalars),
        CstrEq: (_equals_itself,),
        CstrRequire: (_required,),
        IsBroadcastable: (_fits_itself, _state_once),
        Max: (_same_size,),
        Min: (_same_size,),
        SizeToIndex: (_back,),
        IndexToSize: (_back,),
        ToExtentTensor: (_back,),
        ShapeOf: (_known_shape,),
        Rank: (_known_rank,),
        Dim_: (_known_size,),
        FromExtents: (_no_extents,),
    },
)
