"""Simpler forms of operations of the linalg dialect: what only moves elements, casts around, known sizes.

Source: MLIR linalg dialect, folders and canonicalization patterns.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.dialects.mlir.linalg.access import plain_dim
from commonir.dialects.mlir.linalg.base import StructuredOp, Yield
from commonir.dialects.mlir.linalg.generic import Broadcast, Generic, Transpose
from commonir.dialects.mlir.linalg.named import Copy, Fill
from commonir.dialects.mlir.linalg.relayout import Pack, Unpack
from commonir.ir.cloning import clone
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import DYNAMIC, MemRefType, TensorType, Type, index
from commonir.ods import Op
from commonir.ods.operand_shapes import ranked_shape
from commonir.ods.rules import Editor, Rules
from commonir.ods.type_rules import dims_of, element_of, static_dims_of

CAST = "tensor.cast"


def _is_on_tensors(op: StructuredOp) -> bool:
    return bool(op.results) and not any(isinstance(v.type, MemRefType) for v in op.operands)


def _cast(value: Value, expected: Type, before: Operation, editor: Editor) -> Value | None:
    """A value as one of another type; None where no definition of casts is known."""
    if value.type is expected:
        return value
    built = editor.create(CAST, (value,), (expected,), before)
    return None if built is None else built.results[0]


def _on(op: StructuredOp, operands: Sequence[Value], editor: Editor) -> tuple[Value, ...]:
    """Puts an operation on other operands before one, with its body; its results have the types of what is written."""
    built = op.clone_shallow(tuple(operands), tuple([region.take() for region in op.regions]))
    for result, value in zip(built.results, built.written, strict=True):
        result.retype(value.type)
    editor.insert(built, op)
    return built.results


def _replace_on(op: StructuredOp, operands: Sequence[Value], editor: Editor) -> bool:
    """Puts an operation on other operands in the place of one, and casts where its results are of other types."""
    if editor.find(CAST) is None:
        return False
    values = [_cast(new, old.type, op, editor) for old, new in zip(op.results, _on(op, operands, editor), strict=True)]
    editor.replace(op, [v for v in values if v is not None])
    return True


# -- casts and sizes


def _is_more_static(one: Type, other: Type) -> bool:
    """Returns whether a tensor type has all static dims of another type, and more."""
    mine, its = dims_of(one), dims_of(other)
    if mine is None or its is None or len(mine) != len(its) or mine == its:
        return False
    return all(n is not None for n, m in zip(mine, its, strict=True) if m is not None)


def _source_of_cast(value: Value, editor: Editor) -> Value | None:
    """Returns the operand of a cast."""
    definition, owner = editor.find(CAST), value.owner
    return owner.operands[0] if definition is not None and isinstance(owner, definition) else None


def _take_casts(op: StructuredOp, editor: Editor) -> bool:
    """Operands from which a cast takes sizes are taken as they are."""
    if not _is_on_tensors(op):
        return False
    sources = [_source_of_cast(v, editor) for v in op.operands]
    new = [
        v if source is None or not _is_more_static(source.type, v.type) else source
        for v, source in zip(op.operands, sources, strict=True)
    ]
    return new != [*op.operands] and _replace_on(op, new, editor)


def _cast_before(op: StructuredOp, editor: Editor) -> bool:
    """Static dims of a cast of a result become those of the written operand."""
    definition = editor.find(CAST)
    if definition is None or not _is_on_tensors(op):
        return False
    for n, result in enumerate(op.results):
        for user in result.users:
            expected = user.results[0].type if isinstance(user, definition) else result.type
            if expected is not result.type and user.parent is op.parent and _is_more_static(expected, result.type):
                out = _cast(op.written[n], expected, op, editor)
                if out is not None:
                    written = [out if m == n else v for m, v in enumerate(op.written)]
                    return _replace_on(op, (*op.read, *written), editor)
    return False


def _propagate_dims(op: StructuredOp, editor: Editor) -> bool:
    """Static dims of one operand become those of all operands with the same iteration dimension."""
    if not _is_on_tensors(op):
        return False
    maps = op.indexing()
    places = [[plain_dim(e) for e in m.results] for m in maps]
    if any(d is None or dims.count(d) > 1 for dims in places for d in dims):
        return False
    known: dict[int | None, int] = {}
    for value, dims in zip(op.operands, places, strict=True):
        source = _source_of_cast(value, editor)
        for reported in (value, source):
            sizes = None if reported is None else dims_of(reported.type)
            for d, size in zip(dims, sizes or (), strict=False):
                if size is not None:
                    known.setdefault(d, size)
    new: list[Value] = []
    for value, dims in zip(op.operands, places, strict=True):
        type, expected = value.type, value.type
        if isinstance(type, TensorType) and type.shape is not None:
            sizes = [n if isinstance(n, int) else known.get(d) for n, d in zip(type.shape, dims, strict=True)]
            expected = type.with_shape(tuple(sizes))
        cast = _cast(value, expected, op, editor)
        new.append(value if cast is None else cast)
    return new != [*op.operands] and _replace_on(op, new, editor)


def _ask_what_is_written(op: StructuredOp, editor: Editor) -> bool:
    """A result has the sizes of what is written."""
    definition = editor.find("tensor.dim")
    if definition is None or not _is_on_tensors(op):
        return False
    changed = False
    for result, value in zip(op.results, op.written, strict=True):
        for user in result.users:
            if isinstance(user, definition):
                editor.set_operands(user, (value, *user.operands[1:]))
                editor.touch(op)
                changed = True
    return changed


# -- what only moves elements


def _forwards_elements(op: Generic, editor: Editor) -> bool:
    """A body that only hands elements on, each to its own place."""
    block = op.body.block
    if not _is_on_tensors(op) or not isinstance(block.first, Yield) or len(set(op.indexing())) != 1:
        return False
    values: list[Value] = []
    for operand, result in zip(block.first.operands, op.results, strict=True):
        if operand.owner is not block:
            return False
        value = op.operands[operand.index]
        if not (isinstance(value.type, TensorType) and isinstance(result.type, TensorType)):
            return False
        if dims_of(value.type) is None or value.type.element is not result.type.element:
            return False
        values.append(value)
    casts = [_cast(v, r.type, op, editor) for v, r in zip(values, op.results, strict=True)]
    built = [v for v in casts if v is not None]
    if len(built) < len(casts):
        return False
    editor.replace(op, built)
    return True


def _copies_itself(op: Copy, editor: Editor) -> bool:
    """A tensor copied onto itself."""
    return bool(op.results) and op.read == op.written and editor.forward(op, op.read[0])


def _filled_instead(op: Copy | Transpose, editor: Editor) -> bool:
    """Equal elements are equal wherever they are taken to."""
    fill = op.read[0].owner
    if not isinstance(fill, Fill) or not _is_on_tensors(op):
        return False
    if element_of(fill.written[0].type) is not element_of(op.written[0].type):
        return False
    return editor.substitute(op, _fill_of(fill, op.written[0]))


def _fill_of(fill: Fill, out: Value) -> Fill:
    """The same fill of another tensor."""
    result = clone(fill, {fill.written[0]: out})
    result.results[0].retype(out.type)
    return result


def _turned(op: Transpose, editor: Editor) -> bool:
    """Axes that stay in their order, two changes of their order, and what is repeated before it is turned."""
    if not _is_on_tensors(op):
        return False
    if op.permutation == tuple(range(len(op.permutation))):
        return editor.forward(op, op.input)
    before = op.input.owner
    if isinstance(before, Transpose):
        permutation = tuple([before.permutation[n] for n in op.permutation])
        return _rearranged(op, Transpose, before.input, permutation, editor)
    if isinstance(before, Broadcast):
        return _turn_before(op, before, editor)
    return False


def _rearranged(
    op: Transpose | Broadcast, made: type[Transpose | Broadcast], value: Value, axes: tuple[int, ...], editor: Editor
) -> bool:
    """Puts an operation that moves elements in the place of one."""
    name = made.layout.attributes[-1].name
    fields = {"input": value, "init": op.init, "region": _moving(element_of(value.type)), name: axes}
    return editor.substitute(op, made.build(fields, [r.type for r in op.results]))


def _moving(element: Type) -> Region:
    """The body that hands its first argument on."""
    block = Block([element, element])
    block.append(Yield((block.arguments[0],)))
    return Region([block])


def _turn_before(op: Transpose, before: Broadcast, editor: Editor) -> bool:
    """Transposes before a broadcast instead of after it, where the operand has axes to permute."""
    dimensions = tuple([n for n, axis in enumerate(op.permutation) if axis in before.dimensions])
    left = [axis for axis in op.permutation if axis not in before.dimensions]
    order = tuple([sorted(left).index(axis) for axis in left])
    value = before.input
    if order != tuple(range(len(order))):
        type, sizes = value.type, _sizes_made(value, op, editor)
        if not isinstance(type, TensorType) or sizes is None:
            return False
        turned_sizes = [sizes[n] for n in order]
        expected = type.with_shape(tuple([n if isinstance(n, int) else None for n in turned_sizes]))
        dynamic = tuple([n for n in turned_sizes if isinstance(n, Value)])
        empty = editor.create("tensor.empty", (dynamic,), (expected,), op)
        if empty is None:
            return False
        fields = {"input": value, "init": empty.results[0], "permutation": order}
        turned = Transpose.build({**fields, "region": _moving(type.element)}, (expected,))
        editor.insert(turned, op)
        value = turned.results[0]
    return _rearranged(op, Broadcast, value, dimensions, editor)


def _sizes_made(value: Value, before: Operation, editor: Editor) -> list[int | Value] | None:
    """Returns the dims of a tensor, with operations for the dynamic ones."""
    out: list[int | Value] = []
    for axis, size in enumerate(dims_of(value.type) or ()):
        place = editor.index_constant(axis, before) if size is None else None
        reported = None if place is None else editor.create("tensor.dim", (value, place), (index,), before)
        if size is None and reported is None:
            return None
        out.append(reported.results[0] if reported is not None else size or 0)
    return out


def _repeated(op: Broadcast, editor: Editor) -> bool:
    """Removes a broadcast along no axis, and merges two in a row."""
    if not _is_on_tensors(op):
        return False
    if not op.dimensions:
        return editor.forward(op, op.input)
    before = op.input.owner
    if not isinstance(before, Broadcast):
        return False
    rest = [axis for axis in range(len(op.indexing()[1].results)) if axis not in op.dimensions]
    dimensions = tuple(sorted([*op.dimensions, *[rest[axis] for axis in before.dimensions]]))
    return _rearranged(op, Broadcast, before.input, dimensions, editor)


def _packed_back(op: Pack | Unpack, editor: Editor) -> bool:
    """Tiles put together and cut in the same way, or the other way round."""
    before = op.source.owner
    if not isinstance(before, Unpack if isinstance(op, Pack) else Pack):
        return False
    if isinstance(op, Pack) and op.padding_value is not None:
        return False
    return _tiling(op) == _tiling(before) and editor.forward(op, before.source)


def _without_padding(op: Pack, editor: Editor) -> bool:
    """Tiles that are full need no padding value."""
    if op.padding_value is None or DYNAMIC in op.static_inner_tiles:
        return False
    shape = ranked_shape(op.source)
    for axis, tile in zip(op.inner_dims_pos, op.static_inner_tiles, strict=True):
        n = shape[axis]
        if not isinstance(n, int) or n % tile:
            return False
    fields = {
        "source": op.source,
        "dest": op.dest,
        "inner_dims_pos": op.inner_dims_pos,
        "static_inner_tiles": op.static_inner_tiles,
        "outer_dims_perm": op.outer_dims_perm,
    }
    return editor.substitute(op, Pack.build(fields, [r.type for r in op.results]))


def _tiling(op: Pack | Unpack) -> tuple[object, ...]:
    """Returns how a tensor is cut into tiles."""
    return op.inner_dims_pos, op.static_inner_tiles, op.inner_tiles, op.outer_dims_perm or ()


# -- equal elements


def _users(op: Fill, names: Sequence[str], editor: Editor) -> list[Op]:
    """The operations of some names that take what is filled first."""
    definitions = tuple([d for name in names if (d := editor.find(name)) is not None])
    filled = op.results[0] if op.results else None
    users = () if filled is None else filled.users
    return [u for u in users if isinstance(u, definitions) and u.operands[0] is filled]


def _shaped_before(op: Fill, editor: Editor) -> bool:
    """A tensor of equal elements in another shape is one that was brought to the shape before it was filled."""
    users = _users(op, ("tensor.collapse_shape", "tensor.expand_shape"), editor)
    for user in users:
        shaped = user.clone_shallow((op.written[0], *user.operands[1:]), ())
        editor.insert(shaped, user)
        editor.substitute(user, _fill_of(op, shaped.results[0]))
    return bool(users)


def _known_element(op: Fill, editor: Editor) -> bool:
    """Each element is the one that a tensor is filled with."""
    users = _users(op, ("tensor.extract",), editor)
    for user in users:
        editor.replace(user, op.read)
    return bool(users)


def _continued(op: Fill, editor: Editor) -> bool:
    """A tensor of equal elements that is continued by the same is a larger one."""
    changed = False
    for user in _users(op, ("tensor.pad",), editor):
        last, expected = user.regions[0].blocks[0].last, user.results[0].type
        if last is None or last.operands != op.read or static_dims_of(expected) is None:
            continue
        empty = editor.create("tensor.empty", ((),), (expected,), user)
        if empty is not None:
            editor.substitute(user, _fill_of(op, empty.results[0]))
            changed = True
    return changed


RULES = Rules(
    (),
    {
        StructuredOp: (_take_casts, _cast_before, _propagate_dims, _ask_what_is_written),
        Generic: (_forwards_elements,),
        Copy: (_filled_instead, _copies_itself),
        Transpose: (_turned, _filled_instead),
        Broadcast: (_repeated,),
        Pack: (_packed_back, _without_padding),
        Unpack: (_packed_back,),
        Fill: (_shaped_before, _known_element, _continued),
    },
)
