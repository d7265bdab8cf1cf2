"""Simpler forms of operations of the tensor dialect on parts of tensors, and of tensors whose sizes are known.

Source: MLIR tensor dialect, folders and canonicalization patterns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commonir.dialects.mlir.tensor.elements import Dim_, Empty, Extract, Generate, Insert
from commonir.dialects.mlir.tensor.reshaping import Cast
from commonir.dialects.mlir.tensor.slicing import Concat, ExtractSlice, InsertSlice, Pad
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import DYNAMIC, TensorType, Type
from commonir.ods import Op, known_data, known_integer
from commonir.ods.effects import Effects, effects_of
from commonir.ods.rules import Editor, Simplification


def _stated(static: Sequence[int], dynamic: Sequence[Value]) -> tuple[tuple[int, ...], tuple[Value, ...]] | None:
    """Numbers with those values that are known among them; None when none is."""
    left = iter(dynamic)
    values = [next(left) if n == DYNAMIC else None for n in static]
    result = [n if v is None else known_integer(v) for n, v in zip(static, values, strict=True)]
    numbers = tuple([DYNAMIC if n is None or n < 0 else n for n in result])
    kept = tuple([v for n, v in zip(numbers, values, strict=True) if v is not None and n == DYNAMIC])
    return (numbers, kept) if len(kept) < len(dynamic) else None


def _with_fields(op: Op, fields: Mapping[str, object], result_type: Type, editor: Editor) -> bool:
    """Puts an operation with other fields in the place of one, and a cast where its type says more."""
    arguments = {f.name: op.field_value(f) for f in op.layout.arguments}
    regions = {f.name: op.regions[n].take() for n, f in enumerate(op.layout.regions)}
    built = type(op).build({**arguments, **regions, **fields}, (result_type,))
    editor.insert(built, op)
    result = built.results[0]
    if result_type is not op.results[0].type:
        cast = Cast.build({"source": result}, (op.results[0].type,))
        editor.insert(cast, op)
        result = cast.dest
    editor.replace(op, (result,))
    return True


def _known_part(op: ExtractSlice | InsertSlice, editor: Editor) -> bool:
    """Makes constant offsets, sizes and strides static."""
    type = op.results[0].type
    parts = {
        "offsets": _stated(op.static_offsets, op.offsets),
        # What is inserted would need the type that its sizes say.
        "sizes": None if isinstance(op, InsertSlice) else _stated(op.static_sizes, op.sizes),
        "strides": _stated(op.static_strides, op.strides),
    }
    sizes = parts["sizes"]
    if isinstance(op, ExtractSlice) and sizes is not None and isinstance(type, TensorType):
        gone = op.dropped(op.result_)
        kept = [n for axis, n in enumerate(sizes[0]) if axis not in gone]
        type = type.with_shape(tuple([None if n == DYNAMIC else n for n in kept]))
    known = {name: found for name, found in parts.items() if found is not None}
    fields: dict[str, object] = {name: values for name, (_, values) in known.items()}
    fields |= {f"static_{name}": numbers for name, (numbers, _) in known.items()}
    return bool(fields) and _with_fields(op, fields, type, editor)


def _is_whole(op: ExtractSlice | InsertSlice, whole: Type) -> bool:
    """Returns whether the part is all of a tensor of known sizes."""
    if not isinstance(whole, TensorType) or not whole.is_static:
        return False
    rank = len(whole.static_shape)
    given = (op.static_offsets, op.static_sizes, op.static_strides)
    return given == ((0,) * rank, whole.static_shape, (1,) * rank)


def _take_whole(op: ExtractSlice, editor: Editor) -> bool:
    """Replaces a slice of all of a tensor by it, of an insertion by the inserted tensor, of a splat by a splat."""
    if _is_whole(op, op.source.type) and editor.forward(op, op.source):
        return True
    before = op.source.owner
    if isinstance(before, InsertSlice) and _is_same_part(before, op) and editor.forward(op, before.source):
        return True
    data, type = known_data(op.source), op.result_.type
    one = None if data is None else data.splat()
    if data is None or one is None or not isinstance(type, TensorType) or not type.is_static:
        return False
    return editor.forward(op, editor.constant(data_of(data.element, type.static_shape, [one] * type.count), type, op))


def _is_same_part(a: InsertSlice, b: ExtractSlice) -> bool:
    static = [(x.static_offsets, x.static_sizes, x.static_strides) for x in (a, b)]
    return static[0] == static[1] and (a.offsets, a.sizes, a.strides) == (b.offsets, b.sizes, b.strides)


def _put_whole(op: InsertSlice, editor: Editor) -> bool:
    """Replaces an insertion over all of a tensor by the inserted tensor."""
    return _is_whole(op, op.dest.type) and editor.forward(op, op.source)


def _known_padding(op: Pad, editor: Editor) -> bool:
    """Makes constant amounts static."""
    fields: dict[str, object] = {}
    static = {"low": op.static_low, "high": op.static_high}
    for side, dynamic in (("low", op.low), ("high", op.high)):
        result = _stated(static[side], dynamic)
        if result is not None:
            fields[f"static_{side}"], fields[side] = result
            static[side] = result[0]
    type, source = op.result_.type, op.source.type
    if not fields or not isinstance(type, TensorType) or not isinstance(source, TensorType) or type.shape is None:
        return False
    rows = zip(type.shape, source.shape or (), static["low"], static["high"], strict=True)
    sizes = [s + lo + hi if isinstance(s, int) and DYNAMIC not in (lo, hi) else n for n, s, lo, hi in rows]
    return _with_fields(op, fields, type.with_shape(tuple(sizes)), editor)


def _pads_nothing(op: Pad, editor: Editor) -> bool:
    """Removes a padding without amounts."""
    return not op.nofold and not any((*op.static_low, *op.static_high)) and editor.forward(op, op.source)


def _known_sizes(op: Empty | Generate, editor: Editor) -> bool:
    """Makes constant sizes static in the type."""
    type = op.results[0].type
    if not isinstance(type, TensorType) or type.shape is None:
        return False
    name = op.layout.inputs[-1].name
    dynamic = op.dynamic_extents if isinstance(op, Generate) else op.dynamic_sizes
    result = _stated([n if isinstance(n, int) else DYNAMIC for n in type.shape], dynamic)
    if result is None:
        return False
    shape = tuple([None if n == DYNAMIC else n for n in result[0]])
    return _with_fields(op, {name: result[1]}, type.with_shape(shape), editor)


def _only_one(op: Concat, editor: Editor) -> bool:
    """Replaces a concatenation of one tensor by it."""
    return len(op.inputs) == 1 and editor.forward(op, op.inputs[0])


def _propagate_dims(op: Concat, editor: Editor) -> bool:
    """Refines the types of all tensors by the static dims of one of them."""
    shapes = [v.type.shape for v in op.inputs if isinstance(v.type, TensorType) and v.type.shape is not None]
    kind = op.result_.type
    if not isinstance(kind, TensorType) or kind.shape is None or len(shapes) != len(op.inputs):
        return False
    known = [next((n for n in sizes if isinstance(n, int)), None) for sizes in zip(*shapes, strict=True)]
    along = [s[op.dim] for s in shapes]
    total = sum([n for n in along if isinstance(n, int)]) if all(isinstance(n, int) for n in along) else None
    expected = [kind.with_shape((*known[: op.dim], n, *known[op.dim + 1 :])) for n in along]
    whole = kind.with_shape((*known[: op.dim], total, *known[op.dim + 1 :]))
    is_implied = all(n is None or n == have for n, have in zip(whole.shape or (), kind.shape, strict=True))
    if is_implied and all(v.type is type for v, type in zip(op.inputs, expected, strict=True)):
        return False
    arguments = tuple([_cast(v, type, op, editor) for v, type in zip(op.inputs, expected, strict=True)])
    built = Concat.build({"dim": op.dim, "inputs": arguments}, (kind if is_implied else whole,))
    editor.insert(built, op)
    editor.replace(op, (_cast(built.results[0], kind, op, editor),))
    return True


def _cast(value: Value, type: Type, before: Op, editor: Editor) -> Value:
    """A tensor as one of another type, cast where need be."""
    if value.type is type:
        return value
    cast = Cast.build({"source": value}, (type,))
    editor.insert(cast, before)
    return cast.results[0]


def _element_put(op: Extract, editor: Editor) -> bool:
    """Replaces an element by the one inserted at the same constant position; looks through casts."""
    source = op.tensor.owner
    if isinstance(source, Insert) and source.indices == op.indices and None not in map(known_integer, op.indices):
        editor.replace(op, (source.scalar,))
        return True
    if isinstance(source, Cast) and isinstance(source.source.type, TensorType) and source.source.type.shape is not None:
        editor.set_operands(op, (source.source, *op.indices))
        return True
    return False


def _inline_generated_element(op: Extract, editor: Editor) -> bool:
    """Replaces an element of a generated tensor by the body of its region at that position."""
    source = op.tensor.owner
    if not isinstance(source, Generate) or len(source.body.blocks) != 1:
        return False
    block = source.body.block
    if any(inner is not block.last and effects_of(inner) > Effects.NONE for inner in block.operations):
        return False
    editor.replace(op, editor.inline_copy(block, op, op.indices))
    return True


def _size_of_part(op: Dim_, editor: Editor) -> bool:
    """Replaces a dim of a slice or of a generated tensor by the operand that gives it."""
    source, axis, type = op.source.owner, known_integer(op.index), op.source.type
    if axis is None or not isinstance(type, TensorType) or type.shape is None or not 0 <= axis < len(type.shape):
        return False
    if isinstance(type.shape[axis], int):
        return False
    if isinstance(source, Generate):
        editor.replace(op, (source.dynamic_extents[sum(d is None for d in type.shape[:axis])],))
        return True
    if not isinstance(source, ExtractSlice) or source.dropped(source.result_):
        return False
    editor.replace(op, (source.sizes[sum(n == DYNAMIC for n in source.static_sizes[:axis])],))
    return True


SLICING: Mapping[type[Op], tuple[Simplification, ...]] = {
    Concat: (_only_one, _propagate_dims),
    Dim_: (_size_of_part,),
    Empty: (_known_sizes,),
    Extract: (_element_put, _inline_generated_element),
    ExtractSlice: (_take_whole, _known_part),
    Generate: (_known_sizes,),
    InsertSlice: (_put_whole, _known_part),
    Pad: (_pads_nothing, _known_padding),
}
