"""Simpler forms of operations of the tosa dialect.

Source: MLIR tosa dialect, folders and canonicalization patterns.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from commonir.dialects.mlir.number_rules import splat_of
from commonir.dialects.mlir.tosa.base import NanMode
from commonir.dialects.mlir.tosa.elementwise import (
    Abs,
    Add,
    Cast,
    Clamp,
    Equal,
    IntDiv,
    LogicalNot,
    Mul,
    Negate,
    Select,
    Sub,
)
from commonir.dialects.mlir.tosa.layout import Concat, Const, Pad, Reshape, Reverse, Slice, Tile, Transpose
from commonir.dialects.mlir.tosa.reduction import ReduceAll, ReduceAny, ReduceMax, ReduceMin, ReduceProduct, ReduceSum
from commonir.dialects.mlir.tosa.sampling import Resize
from commonir.dialects.mlir.tosa.shapes import ConstShape
from commonir.dialects.mlir.tosa.windows import MaxPool2D
from commonir.ir.attributes import Attribute, BoolAttr, FloatAttr, IntegerAttr
from commonir.ir.data import Scalar, data_of
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, boolean, index
from commonir.ods import Op, known_data
from commonir.ods.rules import Editor, Rules
from commonir.ods.terms import computed, term, variables
from commonir.ods.type_rules import dims_of, static_dims_of

x, p, q, s = variables("x p q s")


def _one_after_another(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([first[n] for n in second])


def _undo_each_other(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    return _one_after_another(first, second) == tuple(range(len(first)))


def _keeps_order(op: Transpose, editor: Editor) -> bool:
    """Removes a transposition that moves no axis."""
    return op.perms == tuple(range(len(op.perms))) and editor.forward(op, op.input1)


def _adds_nothing(op: Add | Sub, editor: Editor) -> bool:
    """Removes an addition or subtraction of zero, where the other operand has the type of the result."""
    pairs = [(op.input1, op.input2)] if isinstance(op, Sub) else [(op.input1, op.input2), (op.input2, op.input1)]
    return any(splat_of(zero) == 0 and editor.forward(op, kept) for kept, zero in pairs)


def _changes_nothing(op: Cast | Reshape, editor: Editor) -> bool:
    """Removes a cast to the type of the operand; for a reshape, where its shape is static."""
    is_allowed = isinstance(op, Cast) or static_dims_of(op.output.type) is not None
    return is_allowed and editor.forward(op, op.operands[0])


def _put(op: Op, values: Sequence[Scalar], editor: Editor) -> bool:
    """Puts a constant in the place of an operation: all its elements, or one for all of them."""
    type = op.results[0].type
    if not isinstance(type, TensorType) or not type.is_static:
        return False
    all_values = values if len(values) == type.count else [values[0]] * type.count
    result = Const.from_data(data_of(type.element, type.static_shape, all_values), type)
    return result is not None and editor.substitute(op, result)


def _reshaped_constant(op: Reshape, editor: Editor) -> bool:
    """Reshapes a constant that has no other use, or a splat."""
    data = known_data(op.input1)
    if data is None or (data.splat() is None and len(op.input1.users) > 1):
        return False
    return _put(op, data.values(), editor)


def _multiplied(op: Mul, editor: Editor) -> bool:
    """Replaces a product with one by the other operand, and a product with zero by zero."""
    if splat_of(op.shift) != 0:
        return False
    for x, c in ((op.input1, op.input2), (op.input2, op.input1)):
        factor = splat_of(c)
        if factor == 1 and editor.forward(op, x):
            return True
        if factor == 0 and _put(op, [0], editor):
            return True
    return False


def _divided(op: IntDiv, editor: Editor) -> bool:
    """Replaces a quotient by one by the dividend, and a quotient of zero by zero."""
    if splat_of(op.input2) == 1 and editor.forward(op, op.input1):
        return True
    return splat_of(op.input1) == 0 and editor.forward(op, op.input1)


def _equals_itself(op: Equal, editor: Editor) -> bool:
    """Removes a rounding of integers."""
    type = op.input1.type
    if op.input1 is not op.input2 or not isinstance(type, TensorType) or not type.element.is_integer:
        return False
    return _put(op, [True], editor)


def _negated_twice(op: Negate, editor: Editor) -> bool:
    """Removes two negations in a row without zero points."""
    before = op.input1.owner
    if not isinstance(before, Negate) or any(
        splat_of(v) != 0 for v in (op.input1_zp, op.output_zp, before.input1_zp, before.output_zp)
    ):
        return False
    return editor.forward(op, before.input1)


def _selected(op: Select, editor: Editor) -> bool:
    """Resolves a selection between equal values or on a constant, and exchanges the values for a negated condition."""
    # What is chosen from may still have to be repeated along the condition where sizes differ or are not known.
    sizes = static_dims_of(op.output.type)
    known = splat_of(op.input1)
    if sizes is not None and static_dims_of(op.input1.type) == sizes:
        if op.input2 is op.input3 and editor.forward(op, op.input2):
            return True
        if known is not None and editor.forward(op, op.input2 if known else op.input3):
            return True
    opposite = op.input1.owner
    if not isinstance(opposite, LogicalNot):
        return False
    editor.set_operands(op, (opposite.input1, op.input3, op.input2))
    return True


def _limit(attr: Attribute) -> float | None:
    return attr.value if isinstance(attr, FloatAttr | IntegerAttr | BoolAttr) else None


def _clamped(op: Clamp, editor: Editor) -> bool:
    """Removes a clamp that bounds nothing, and merges two in a row."""
    low, high, type = _limit(op.min_val), _limit(op.max_val), op.input.type
    if low is None or high is None or not isinstance(type, TensorType):
        return False
    is_float = type.element.is_float
    everything = (-inf, inf) if is_float else (0, 1) if type.element is boolean else type.element.integer_limits
    if (low, high) == everything and (not is_float or op.nan_mode is NanMode.PROPAGATE):
        return editor.forward(op, op.input)
    before = op.input.owner
    if not isinstance(before, Clamp) or (op.nan_mode, before.nan_mode) == (NanMode.IGNORE, NanMode.PROPAGATE):
        return False
    first = (_limit(before.min_val), _limit(before.max_val))
    if first[0] is None or first[1] is None or first[0] > high or low > first[1]:
        return False
    fields = {
        "input": before.input,
        "min_val": op.min_val if low > first[0] else before.min_val,
        "max_val": op.max_val if high < first[1] else before.max_val,
        "nan_mode": op.nan_mode if op.nan_mode is before.nan_mode else NanMode.IGNORE,
    }
    built = Clamp.build(fields, (op.output.type,))
    return editor.substitute(op, built)


def _joined(op: Concat, editor: Editor) -> bool:
    """Replaces a concatenation of one tensor by it, and merges nested ones along the same axis."""
    if len(op.input1) == 1 and editor.forward(op, op.input1[0]):
        return True
    arguments: list[Value] = []
    for value in op.input1:
        owner = value.owner
        arguments += owner.input1 if isinstance(owner, Concat) and owner.axis == op.axis else [value]
    if len(arguments) == len(op.input1):
        return False
    built = Concat.build({"input1": tuple(arguments), "axis": op.axis}, (op.output.type,))
    return editor.substitute(op, built)


def _repeats_once(op: Tile, editor: Editor) -> bool:
    """Removes a tiling without repetitions."""
    return splat_of(op.multiples) == 1 and editor.forward(op, op.input1)


def _pads_nothing(op: Pad, editor: Editor) -> bool:
    """Removes a padding without amounts."""
    return splat_of(op.padding) == 0 and editor.forward(op, op.input1)


def _numbers(value: Value) -> tuple[int, ...] | None:
    data = known_data(value)
    return None if data is None else tuple(map(int, data.values()))


def _sliced(op: Slice, editor: Editor) -> bool:
    """Replaces a slice of all of a tensor by it, and slices the operand of a concatenation that has all of it."""
    sizes = dims_of(op.input1.type)
    if sizes is not None and None not in sizes and editor.forward(op, op.input1):
        return True
    start, size, before = _numbers(op.start), _numbers(op.size), op.input1.owner
    if start is None or size is None or not isinstance(before, Concat):
        return False
    at = start[before.axis]
    for value in before.input1:
        extents = dims_of(value.type)
        extent = None if extents is None else extents[before.axis]
        if extent is None:
            return False
        if at >= 0 and at + size[before.axis] <= extent:
            moved = [at if axis == before.axis else n for axis, n in enumerate(start)]
            place = ConstShape(data_of(index, (len(moved),), moved)) if moved != list(start) else None
            if place is not None:
                editor.insert(place, op)
            editor.set_operands(op, (value, op.start if place is None else place.results[0], op.size))
            return True
        at -= extent
        if at < 0:
            return False
    return False


_REDUCTIONS = (ReduceAll, ReduceAny, ReduceMax, ReduceMin, ReduceProduct, ReduceSum)


def _along_one(op: Op, editor: Editor) -> bool:
    """Removes operations along an axis of size 1 that change nothing."""
    value = op.operands[0]
    sizes = dims_of(value.type)
    axis = getattr(op, "axis", None)
    is_one = sizes is not None and isinstance(axis, int) and sizes[axis] == 1
    if not is_one and not (isinstance(op, Reverse) and splat_of(value) is not None):
        return False
    return editor.forward(op, value)


def _pools_one(op: MaxPool2D, editor: Editor) -> bool:
    """The largest of one pixel."""
    shapes = [dims_of(v.type) for v in (op.input, op.output)]
    return all(shape is not None and shape[1:3] == (1, 1) for shape in shapes) and editor.forward(op, op.input)


def _keeps_size(op: Resize, editor: Editor) -> bool:
    """Removes a resize to the size of the image."""
    scale, offset, border = _numbers(op.scale), _numbers(op.offset), _numbers(op.border)
    if scale is None or scale[0] != scale[1] or scale[2] != scale[3] or (offset, border) != ((0, 0), (0, 0)):
        return False
    return editor.forward(op, op.input)


def _moves_ones(op: Transpose, editor: Editor) -> bool:
    """Replaces a transposition that moves only axes of size 1: the elements stay in order."""
    sizes, expected = dims_of(op.input1.type), dims_of(op.output.type)
    if sizes is None or expected is None or sizes.count(None) > 1 or expected.count(None) != sizes.count(None):
        return False
    if sorted(op.perms) != list(range(len(sizes))):
        # The program was not verified.
        return False
    kept = [axis for axis in op.perms if sizes[axis] != 1]
    if kept != sorted(kept) or op.perms == tuple(range(len(op.perms))):
        return False
    shape = ConstShape(data_of(index, (len(expected),), [-1 if n is None else n for n in expected]))
    editor.insert(shape, op)
    built = Reshape.build({"input1": op.input1, "shape": shape.results[0]}, (op.output.type,))
    return editor.substitute(op, built)


RULES = Rules(
    (
        (term(Transpose, term(Transpose, x, p), q) >> x).where("they undo each other", _undo_each_other, p, q),
        term(Transpose, term(Transpose, x, p), q) >> term(Transpose, x, computed(_one_after_another, p, q)),
        term(Reshape, term(Reshape, x), s) >> term(Reshape, x, s),
        term(Abs, term(Abs, x).named("s")) >> s,
    ),
    {
        Add: (_adds_nothing,),
        Cast: (_changes_nothing,),
        Clamp: (_clamped,),
        Concat: (_joined,),
        Equal: (_equals_itself,),
        IntDiv: (_divided,),
        MaxPool2D: (_pools_one,),
        Mul: (_multiplied,),
        Negate: (_negated_twice,),
        Pad: (_pads_nothing,),
        Reshape: (_changes_nothing, _reshaped_constant),
        Resize: (_keeps_size,),
        Reverse: (_along_one,),
        Select: (_selected,),
        Slice: (_sliced,),
        Sub: (_adds_nothing,),
        Tile: (_repeats_once,),
        Transpose: (_keeps_order, _moves_ones),
        **dict.fromkeys(_REDUCTIONS, (_along_one,)),
    },
)
