"""Resampling of images in the mil dialect.

Source: MIL operation reference, image_resizing.
"""

from __future__ import annotations

import math
import struct
from enum import Enum
from fractions import Fraction

from commonir.dialects import core
from commonir.dialects.mil.base import CORE_ML_6, CORE_ML_7, MilOp
from commonir.dialects.mil.operands import FLOATS, NUMBERS, STRING, Condition, converted, element_of, rank_of
from commonir.ir.operation import Value
from commonir.ir.types import f32, i16, i32, i64, u16, u32
from commonir.notation import NotKnownError
from commonir.ods import (
    attr_types,
    constraint,
    element_type,
    known_dims,
    non_negative,
    operand,
    parameter,
    positive,
    result,
    traits,
)
from commonir.ods.operand_shapes import known_dims_of, ranked_shape
from commonir.symbolic import Dim, floor_div


class SamplingMode(Enum):
    """Positions of sample i of N among X elements; they are clamped to the first and the last.

    STRICT_ALIGN_CORNERS: i (X - 1) / (N - 1). ALIGN_CORNERS: the same, and (X - 1) / 2 when N is 1. DEFAULT: i X / N.
    OFFSET_CORNERS: d / 2 + i d with d = max(1, X - 1) / N. UNALIGN_CORNERS: (i + 1/2) X / N - 1/2.
    """

    DEFAULT = "DEFAULT"
    STRICT_ALIGN_CORNERS = "STRICT_ALIGN_CORNERS"
    ALIGN_CORNERS = "ALIGN_CORNERS"
    OFFSET_CORNERS = "OFFSET_CORNERS"
    UNALIGN_CORNERS = "UNALIGN_CORNERS"


SAMPLING_MODE = attr_types.enumeration(SamplingMode)
_COORDINATES = {
    SamplingMode.DEFAULT: core.Coordinates.ASYMMETRIC,
    SamplingMode.STRICT_ALIGN_CORNERS: core.Coordinates.ALIGN_CORNERS,
    SamplingMode.ALIGN_CORNERS: core.Coordinates.ALIGN_CENTRE,
    SamplingMode.OFFSET_CORNERS: core.Coordinates.OFFSET,
    SamplingMode.UNALIGN_CORNERS: core.Coordinates.HALF_PIXEL,
}


class Images(MilOp, traits=(traits.Pure,)):
    """Images in the last two axes, resampled."""

    x: Value = operand("T[*]")
    output: Value = result("T[*]")
    T = FLOATS

    @constraint("C1")
    def _has_images(self) -> bool:
        """x has rank 3 or more."""
        return rank_of(self.x) >= 3


class ResizeBilinear(Images, name="mil.resize_bilinear"):
    """Bilinear resize of images to a given size."""

    target_size_height: int = parameter(attr_types.integer, spec="i32[]", default=1, check=positive)
    target_size_width: int = parameter(attr_types.integer, spec="i32[]", default=1, check=positive)
    sampling_mode: SamplingMode = parameter(SAMPLING_MODE, spec=STRING, default=SamplingMode.DEFAULT)

    def reference(self, x: Value) -> Value:
        sizes = (self.target_size_height, self.target_size_width)
        return core.resize(x, sizes, core.ResizeMode.LINEAR, _COORDINATES[self.sampling_mode])


class ResizeNearestNeighbor(Images, name="mil.resize_nearest_neighbor"):
    """Nearest-neighbour resize of images to a given size; sample i of N takes element floor(i X / N) of X."""

    target_size_height: int = parameter(attr_types.integer, spec="i32[]", check=positive)
    target_size_width: int = parameter(attr_types.integer, spec="i32[]", check=positive)

    def reference(self, x: Value) -> Value:
        return _nearest(x, (self.target_size_height, self.target_size_width))


def _nearest(x: Value, sizes: tuple[Dim, ...]) -> Value:
    return core.resize(x, sizes, core.ResizeMode.NEAREST, core.Coordinates.ASYMMETRIC, core.Rounding.FLOOR)


class Upsample(Images):
    """Images scaled by two factors; a size is rounded down."""

    scale_factor_height: float = parameter(attr_types.number, spec="U[]", default=1.0, check=positive)
    scale_factor_width: float = parameter(attr_types.number, spec="U[]", default=1.0, check=positive)
    U = element_type(f32, i32)

    def sizes(self, x: Value) -> tuple[Dim, ...]:
        """The height and width of the result."""
        height, width = known_dims_of(x)[-2:]
        return _scaled(height, self.scale_factor_height), _scaled(width, self.scale_factor_width)


def _scaled(size: Dim, factor: float) -> Dim:
    """A size times a factor, rounded down. Of a number the product is rounded to single precision first, as in Core
    ML.
    """
    if isinstance(size, int):
        return math.floor(struct.unpack("<f", struct.pack("<f", size * factor))[0])
    exact = Fraction(factor)
    return floor_div(size * exact.numerator, exact.denominator)


class UpsampleNearestNeighbor(Upsample, name="mil.upsample_nearest_neighbor"):
    """Nearest-neighbour upsampling of images by two factors; sample i of N takes element floor(i X / N) of X."""

    def reference(self, x: Value) -> Value:
        return _nearest(x, self.sizes(x))


class UpsampleBilinear(Upsample, name="mil.upsample_bilinear"):
    """Bilinear upsampling of images by two factors; the first and last samples coincide when align_corners.

    Else samples lie at the centres of equal parts, or, when half_pixel_centers is false, sample i of N at i X / N of X
    elements. The factors are recomputed from the sizes.
    """

    align_corners: bool = parameter(attr_types.flag, spec="i1[]", default=True)
    half_pixel_centers: bool | None = parameter(attr_types.flag, spec="i1[]", default=None, since=CORE_ML_6)

    @constraint("C2", since=CORE_ML_6)
    def _places_once(self) -> bool:
        """align_corners and half_pixel_centers are not both true."""
        return not (self.align_corners and self.half_pixel_centers)

    def reference(self, x: Value) -> Value:
        mode = core.Coordinates.ASYMMETRIC
        if self.align_corners:
            mode = core.Coordinates.ALIGN_CORNERS
        elif self.half_pixel_centers is not False:
            mode = core.Coordinates.HALF_PIXEL
        return core.resize(x, self.sizes(x), core.ResizeMode.LINEAR, mode)


class InterpolationMode(Enum):
    """Interpolation between the neighbours of an element."""

    LINEAR = "LINEAR"
    NEAREST_NEIGHBOR = "NEAREST_NEIGHBOR"


class Resize(MilOp, name="mil.resize", traits=(traits.Pure,), since=CORE_ML_7):
    """Resizes the last resized_dims axes to the last dims of `shape`, where 0 keeps the dim of x.

    The nearest neighbour is that of the rounded coordinate; ties are unspecified in MIL, and rounded down here.
    Integers are interpolated in single precision and truncated.
    """

    x: Value = operand("T[*]")
    shape: Value = operand("U[r]", by_value=True)
    resized_dims: int = parameter(attr_types.integer, spec="ui32[]", check=non_negative)
    interpolation_mode: InterpolationMode = parameter(
        attr_types.enumeration(InterpolationMode), spec=STRING, default=InterpolationMode.LINEAR
    )
    sampling_mode: SamplingMode = parameter(SAMPLING_MODE, spec=STRING, default=SamplingMode.DEFAULT)
    output: Value = result("T[*]")
    T = NUMBERS
    U = element_type(i32, i16, u16, u32)

    @constraint("C1")
    def _has_sizes(self) -> Condition:
        """shape has at least resized_dims dims, and at most as many as x has axes."""
        (count,) = ranked_shape(self.shape)
        return not isinstance(count, int) or self.resized_dims <= count <= rank_of(self.x)

    def reference(self, x: Value, shape: Value) -> Value:
        if not self.resized_dims:
            return x
        sizes, mode = self._sizes(x, shape), _COORDINATES[self.sampling_mode]
        if self.interpolation_mode is InterpolationMode.NEAREST_NEIGHBOR:
            return core.resize_to(x, sizes, core.ResizeMode.NEAREST, mode, core.Rounding.HALF_DOWN)
        wide = x if element_of(x).is_float else core.cast(x, f32)
        found = core.resize_to(wide, sizes, core.ResizeMode.LINEAR, mode, core.Rounding.HALF_DOWN)
        return converted(found, element_of(x))

    def _sizes(self, x: Value, shape: Value) -> Value:
        """The sizes of the last axes of the result."""
        kept = known_dims_of(x)[-self.resized_dims :]
        known = known_dims(shape)
        if known is not None:
            expected = known[-self.resized_dims :]
            return core.dims(tuple([k if d == 0 else d for d, k in zip(expected, kept, strict=True)]))
        (count,) = ranked_shape(shape)
        if not isinstance(count, int):
            raise NotKnownError("the number of sizes is not known before running")
        given = core.slice(converted(shape, i64), (count - self.resized_dims,), (count,), (1,))
        return core.select(core.equal(given, core.scalar(0, i64)), core.dims(kept), given)
