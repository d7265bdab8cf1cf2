"""The operation of the tosa dialect that resamples images.

Source: MLIR tosa dialect; TOSA specification 1.0, resize.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from commonir.base.diagnostics import Diagnostic
from commonir.base.tuples import NamedTuple
from commonir.dialects.lazy_core import core, integers
from commonir.dialects.mlir.tosa.base import (
    EnumForm,
    ResizeMode,
    Shape2,
    Shape4,
    Tensor4D,
    TosaOp,
    element,
    integers_in,
    known_integers,
    resize_mode,
    stated_shape,
)
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, f32, f64, i64
from commonir.ods import attribute, operand, result
from commonir.ods.operand_shapes import static_dims
from commonir.ods.text_form import CustomForm


class _Axis(NamedTuple):
    """The neighbours of each element of the result along an axis, and its distance from the first.

    `steps` counts in parts of `parts` of the distance of two elements.
    """

    before: list[int]
    after: list[int]
    steps: list[int]
    parts: int


def _resized(size: int, parts: int, step: int, offset: int, border: int) -> int:
    """The size of an axis of the result, whether or not it comes out even."""
    return ((size - 1) * parts - offset + border) // step + 1


def _axis(size: int, parts: int, step: int, offset: int, border: int) -> _Axis:
    at = [n * step + offset for n in range(_resized(size, parts, step, offset, border))]
    whole = [p // parts for p in at]
    return _Axis(
        [min(max(w, 0), size - 1) for w in whole],
        [min(max(w + 1, 0), size - 1) for w in whole],
        [p - w * parts for p, w in zip(at, whole, strict=True)],
        parts,
    )


class Resize(TosaOp, name="tosa.resize"):
    """Resizes images by nearest-neighbor or bilinear interpolation.

    `scale` has numerators and denominators for height and width, `offset` where the first element lies and `border` how
    far the last one is moved, in parts of the numerators. Integers are interpolated without dividing, so that results
    have more bits.

    C1: numerators and denominators are positive. C2: the result has the sizes that scale, offset and border give.
    """

    custom_form: ClassVar[CustomForm | None] = EnumForm()

    input: Value = operand(Tensor4D)
    scale: Value = operand(Shape4)
    offset: Value = operand(Shape2)
    border: Value = operand(Shape2)
    mode: ResizeMode = attribute(resize_mode)
    output: Value = result(Tensor4D)

    def verify(self) -> Iterator[Diagnostic]:
        scale, offset, border = [known_integers(v) for v in (self.scale, self.offset, self.border)]
        if scale is None or offset is None or border is None:
            return
        if any(s <= 0 for s in scale):
            yield self.violated(f"C1: expect all scale values to be > 0, got {list(scale)}")
            return
        shape, found = stated_shape(self.input), stated_shape(self.output)
        for n, what in ((0, "height"), (1, "width")):
            size = None if shape is None else shape[n + 1]
            given = None if found is None else found[n + 1]
            if not isinstance(size, int):
                continue
            exact = (size - 1) * scale[2 * n] - offset[n] + border[n]
            if exact % scale[2 * n + 1]:
                yield self.violated(
                    f"C2: {exact} is not a multiple of the denominator {scale[2 * n + 1]} of the {what}"
                )
            elif isinstance(given, int) and given != exact // scale[2 * n + 1] + 1:
                expected = exact // scale[2 * n + 1] + 1
                yield self.violated(f"C2: calculated output {what} did not match expected: {expected}, got {given}")
        if shape is not None and found is not None:
            for n, what in ((0, "batch"), (3, "channels")):
                if isinstance(shape[n], int) and isinstance(found[n], int) and shape[n] != found[n]:
                    yield self.violated(f"expect {what} of the input and output to match, got {self.output.type}")

    def reference(self, input: Value, scale: Value, offset: Value, border: Value) -> Value:
        _, height, width, _ = static_dims(input)
        s, o, b = integers_in(scale), integers_in(offset), integers_in(border)
        rows = _axis(height, s[0], s[1], o[0], b[0])
        columns = _axis(width, s[2], s[3], o[1], b[1])
        if self.mode is ResizeMode.NEAREST_NEIGHBOR:
            picked = core.gather(input, core.vector(_nearest(rows), i64), 1)
            return core.gather(picked, core.vector(_nearest(columns), i64), 2)
        element_type = element(input)
        wide = element_type if element_type is f64 else f32 if element_type.is_float else i64
        between = _between(core.cast(input, wide), rows, 1, wide)
        between = _between(between, columns, 2, wide)
        expected = element(self.output)
        return core.cast(between, expected) if wide is not i64 else integers.truncated(between, expected)


def _nearest(axis: _Axis) -> tuple[int, ...]:
    return tuple([b if 2 * r >= axis.parts else a for a, b, r in zip(axis.before, axis.after, axis.steps, strict=True)])


def _between(x: Value, axis: _Axis, at: int, element_type: ElementType) -> Value:
    """Elements along an axis made of their neighbours; of integers, times the number of parts."""
    rank = 4
    shape = tuple([len(axis.steps) if n == at else 1 for n in range(rank)])
    rest = [axis.parts - r for r in axis.steps]
    first = core.mul(
        core.gather(x, core.vector(tuple(axis.before), i64), at), _weights(rest, axis, shape, element_type)
    )
    second = core.mul(
        core.gather(x, core.vector(tuple(axis.after), i64), at), _weights(axis.steps, axis, shape, element_type)
    )
    return core.add(first, second)


def _weights(steps: Sequence[int], axis: _Axis, shape: tuple[int, ...], element_type: ElementType) -> Value:
    values = [s / axis.parts if element_type.is_float else s for s in steps]
    return core.reshape(core.constant(data_of(element_type, (len(values),), values)), shape)
