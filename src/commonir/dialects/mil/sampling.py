"""Sampling and cropping of images in the mil dialect.

Positions are formed in single precision.
Source: MIL operation reference, image_resizing.
"""

from __future__ import annotations

from enum import Enum

from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.dialects.mil.base import CORE_ML_6, CORE_ML_7, MilOp
from commonir.dialects.mil.image import SAMPLING_MODE, SamplingMode
from commonir.dialects.mil.operands import FLOATS, STRING, Condition, converted, element_of, same_size
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, Type, f16, f32, i8, i16, i32, u8, u16
from commonir.notation import NotKnownError, require
from commonir.ods import (
    attr_types,
    by_version,
    constraint,
    element_type,
    known_dims,
    one_of,
    operand,
    parameter,
    positive,
    result,
    traits,
)
from commonir.ods.operand_shapes import known_dims_of, ranked_shape
from commonir.symbolic import Dim


class Interpolation(Enum):
    """Reads between elements: a mean of four, or the nearest one."""

    BILINEAR = "bilinear"
    NEAREST = "nearest"


class PaddingMode(Enum):
    """Values outside of an image, for example left of three columns 1, 2, 3: 0, 0; 1, 1; 3, 2; or 2, 1."""

    CONSTANT = "constant"
    BORDER = "border"
    REFLECTION = "reflection"
    SYMMETRIC = "symmetric"


class CoordinatesMode(Enum):
    """Units of positions: elements, or [-1, 1] or [0, 1] within an image."""

    UNNORMALIZED = "unnormalized"
    MINUS_ONE_TO_ONE = "normalized_minus_one_to_one"
    ZERO_TO_ONE = "normalized_zero_to_one"


_MODES = {Interpolation.BILINEAR: core.ResizeMode.LINEAR, Interpolation.NEAREST: core.ResizeMode.NEAREST}
_BORDERS = {
    PaddingMode.CONSTANT: core.Border.CONSTANT,
    PaddingMode.BORDER: core.Border.EDGE,
    PaddingMode.REFLECTION: core.Border.REFLECT,
    PaddingMode.SYMMETRIC: core.Border.SYMMETRIC,
}


class Resample(MilOp, name="mil.resample", traits=(traits.Pure,)):
    """Samples images at coordinates (x, y), where x counts columns and y rows.

    With align_corners the bounds of the range of normalized coordinates are the centres of the first and last elements,
    else their outer edges. Halfway between two elements the nearest is the one with the even index, determined after
    coordinates outside are mirrored. With a constant border each neighbour outside has padding_value.
    """

    x: Value = operand("T[b, c, h, w]")
    coordinates: Value = operand("U[b, i, j, 2]")
    sampling_mode: Interpolation = parameter(attr_types.enumeration(Interpolation), spec=STRING)
    padding_mode: PaddingMode = parameter(attr_types.enumeration(PaddingMode), spec=STRING)
    padding_value: float = parameter(attr_types.number, spec="T[]")
    coordinates_mode: CoordinatesMode = parameter(attr_types.enumeration(CoordinatesMode), spec=STRING)
    align_corners: bool = parameter(attr_types.flag, spec="i1[]")
    output: Value = result("T[b, c, i, j]")
    T = FLOATS
    U = by_version(
        CoreML5=element_type(f32, i32),
        CoreML6=element_type(f16, f32, i32),
        CoreML7=element_type(f16, f32, i8, u8, i16, u16, i32),
    )

    def reference(self, x: Value, coordinates: Value) -> Value:
        grid = converted(coordinates, f32)
        unit = core.Unit.CENTRES if self.align_corners else core.Unit.EDGES
        match self.coordinates_mode:
            case CoordinatesMode.UNNORMALIZED:
                unit = core.Unit.PIXELS
            case CoordinatesMode.ZERO_TO_ONE:
                grid = core.sub(core.mul(grid, core.scalar(2.0, f32)), core.scalar(1.0, f32))
            case CoordinatesMode.MINUS_ONE_TO_ONE:
                pass
        border = _BORDERS[self.padding_mode]
        value = self.padding_value if border is core.Border.CONSTANT else 0.0
        return core.grid_sample(x, grid, _MODES[self.sampling_mode], border, unit, value)


class Affine(MilOp, name="mil.affine", traits=(traits.Pure,)):
    """Affine transformation of images: the element at (x, y) is read at (a0 x + a1 y + a2, b0 x + b1 y + b2).

    x counts columns and y rows, both from -1 at the centre of the first element to 1 at that of the last; of a single
    one, 0. A matrix holds a0, a1, a2, b0, b1, b2, for each image or for all. Neighbours outside of x count as 0.
    """

    x: Value = operand("T[b, c, h, w]")
    transform_matrix: Value = operand("T[d, 6]")
    output_height: int = parameter(attr_types.integer, spec="i32[]", check=positive)
    output_width: int = parameter(attr_types.integer, spec="i32[]", check=positive)
    sampling_mode: Interpolation = parameter(
        attr_types.enumeration(Interpolation), spec=STRING, check=one_of(Interpolation.BILINEAR)
    )
    padding_mode: PaddingMode = parameter(
        attr_types.enumeration(PaddingMode), spec=STRING, check=one_of(PaddingMode.CONSTANT)
    )
    padding_value: float = parameter(attr_types.number, spec="T[]", check=one_of(0.0))
    coordinates_mode: CoordinatesMode = parameter(
        attr_types.enumeration(CoordinatesMode), spec=STRING, check=one_of(CoordinatesMode.MINUS_ONE_TO_ONE)
    )
    align_corners: bool = parameter(attr_types.flag, spec="i1[]", check=one_of(True))
    output: Value = result("T[*]")
    T = FLOATS

    @constraint("C1")
    def _has_matrices(self) -> Condition:
        """there is one matrix, or one for each image."""
        matrices, images = ranked_shape(self.transform_matrix)[0], ranked_shape(self.x)[0]
        return matrices == 1 or same_size(matrices, images, "number of matrices")

    def reference(self, x: Value, transform_matrix: Value) -> Value:
        height, width = self.output_height, self.output_width
        matrix = core.unsqueeze(converted(transform_matrix, f32), (2, 3))
        a0, a1, a2, b0, b1, b2 = core.split(matrix, 1, (1,) * 6)
        columns, rows = _between_corners(width, (1, 1, 1, width)), _between_corners(height, (1, 1, height, 1))

        def transformed(of_column: Value, of_row: Value, shift: Value) -> Value:
            moved = core.add(core.add(core.mul(of_column, columns), core.mul(of_row, rows)), shift)
            return core.transpose(moved, (0, 2, 3, 1))

        grid = core.concat((transformed(a0, a1, a2), transformed(b0, b1, b2)), 3)
        if ranked_shape(transform_matrix)[0] == 1:
            grid = core.broadcast_to(grid, (known_dims_of(x)[0], height, width, 2))
        return core.grid_sample(x, grid, core.ResizeMode.LINEAR, core.Border.CONSTANT, core.Unit.CENTRES)


def _between_corners(count: int, shape: tuple[int, ...]) -> Value:
    """Equidistant numbers from -1 to 1, and 0 for one."""
    values = [2 * n / (count - 1) - 1 for n in range(count)] if count > 1 else [0.0]
    return core.constant(data_of(f32, shape, values))


class BoxMode(Enum):
    """The four numbers of a box: two opposite corners, or a centre and sizes; rows or columns first."""

    CORNERS_HEIGHT_FIRST = "CORNERS_HEIGHT_FIRST"
    CORNERS_WIDTH_FIRST = "CORNERS_WIDTH_FIRST"
    CENTER_SIZE_HEIGHT_FIRST = "CENTER_SIZE_HEIGHT_FIRST"
    CENTER_SIZE_WIDTH_FIRST = "CENTER_SIZE_WIDTH_FIRST"

    @property
    def is_center_size(self) -> bool:
        """Returns whether it is a centre and sizes."""
        return self in (BoxMode.CENTER_SIZE_HEIGHT_FIRST, BoxMode.CENTER_SIZE_WIDTH_FIRST)

    @property
    def is_width_first(self) -> bool:
        """Returns whether numbers of columns come first."""
        return self in (BoxMode.CORNERS_WIDTH_FIRST, BoxMode.CENTER_SIZE_WIDTH_FIRST)


class _Crop(NamedTuple):
    """Parameters of cutting boxes out of images and resizing them, by interpolation between four neighbours.

    Samples lie between the bounds of a box as `SamplingMode` defines for its elements, of which there is one more than
    the distance of the bounds; a box whose second bound is the lesser one is mirrored.
    """

    target_height: int
    target_width: int
    normalized_coordinates: bool
    spatial_scale: float
    box_coordinate_mode: BoxMode
    sampling_mode: SamplingMode
    pad_value: float | None

    def rows_and_columns(self, boxes: Value, height: Dim, width: Dim) -> tuple[Value, Value]:
        """Returns the positions of samples of boxes [n, 4] in f32: rows [n, target_height] and columns [n,
        target_width].
        """
        first, second, third, fourth = core.split(boxes, 1, (1,) * 4)
        if self.box_coordinate_mode.is_center_size:
            half = core.scalar(0.5, f32)
            reach, wider = core.mul(third, half), core.mul(fourth, half)
            first, third = core.sub(first, reach), core.add(first, reach)
            second, fourth = core.sub(second, wider), core.add(second, wider)
        rows, columns = (first, third), (second, fourth)
        if self.box_coordinate_mode.is_width_first:
            rows, columns = columns, rows
        return self._samples(rows, self.target_height, height), self._samples(columns, self.target_width, width)

    def _samples(self, bounds: tuple[Value, Value], count: int, size: Dim) -> Value:
        """Positions of samples between bounds of boxes, along one axis of the images."""
        start, end = [self._in_elements(v, size) for v in bounds]
        length = core.sub(end, start)
        if self.sampling_mode in (SamplingMode.ALIGN_CORNERS, SamplingMode.STRICT_ALIGN_CORNERS):
            single = 0.5 if self.sampling_mode is SamplingMode.ALIGN_CORNERS else 0.0
            parts = [n / (count - 1) for n in range(count)] if count > 1 else [single]
            return core.add(start, core.mul(length, _row(parts)))
        extent, one = core.abs(length), core.scalar(1.0, f32)
        shift = 0.0 if self.sampling_mode is SamplingMode.DEFAULT else 0.5
        step = core.add(extent, one)
        if self.sampling_mode is SamplingMode.OFFSET_CORNERS:
            step = core.maximum(extent, one)
        inside = core.mul(step, _row([(n + shift) / count for n in range(count)]))
        if self.sampling_mode is SamplingMode.UNALIGN_CORNERS:
            inside = core.sub(inside, core.scalar(0.5, f32))
        inside = core.minimum(core.maximum(inside, core.scalar(0.0, f32)), extent)
        return core.select(core.less(length, core.scalar(0.0, f32)), core.sub(start, inside), core.add(start, inside))

    def _in_elements(self, bound: Value, size: Dim) -> Value:
        if self.normalized_coordinates:
            bound = core.mul(bound, core.cast(core.reshape(core.dims((size - 1,), i32), ()), f32))
        return bound if self.spatial_scale == 1 else core.mul(bound, core.scalar(self.spatial_scale, f32))

    def cut(self, images: Value, boxes: Value) -> Value:
        """Boxes [n, 4] of images [n, c, h, w]; outside the images are mirrored, or have a value if one is given."""
        count = known_dims_of(boxes)[0]
        height, width = known_dims_of(images)[2:]
        rows, columns = self.rows_and_columns(converted(boxes, f32), height, width)
        sizes = (count, self.target_height, self.target_width, 1)
        down = core.broadcast_to(core.unsqueeze(rows, (2, 3)), sizes)
        across = core.broadcast_to(core.unsqueeze(columns, (1, 3)), sizes)
        border = core.Border.REFLECT if self.pad_value is None else core.Border.EDGE
        result = core.grid_sample(images, core.concat((across, down), 3), core.ResizeMode.LINEAR, border)
        if self.pad_value is None:
            return result
        inside = core.logical_and(
            core.unsqueeze(_within(rows, height), (1, 3)), core.unsqueeze(_within(columns, width), (1, 2))
        )
        return core.select(inside, result, core.splat(self.pad_value, result))


def _row(values: list[float]) -> Value:
    return core.constant(data_of(f32, (1, len(values)), values))


def _within(positions: Value, size: Dim) -> Value:
    """Returns whether positions lie between the first and the last of some elements."""
    last = core.cast(core.reshape(core.dims((size - 1,), i32), ()), f32)
    return core.logical_and(core.greater_equal(positions, core.scalar(0.0, f32)), core.less_equal(positions, last))


class CropResize(MilOp, name="mil.crop_resize", traits=(traits.Pure,)):
    """Crops boxes out of every image, or each out of one of them, and resizes them to one size.

    A box of five numbers begins with the index of its image. Samples outside of an image are not documented; as in the
    one published result, the image is mirrored about the centres of its border elements.
    """

    x: Value = operand("T[b, c, h, w]")
    roi: Value = operand("T[n, 1, k, 1, 1]")
    target_height: int = parameter(attr_types.integer, spec="i32[]", default=1, check=positive)
    target_width: int = parameter(attr_types.integer, spec="i32[]", default=1, check=positive)
    normalized_coordinates: bool = parameter(attr_types.flag, spec="i1[]", default=False)
    spatial_scale: float = parameter(attr_types.number, spec="f32[]", default=1.0)
    box_coordinate_mode: BoxMode = parameter(
        attr_types.enumeration(BoxMode), spec=STRING, default=BoxMode.CORNERS_HEIGHT_FIRST
    )
    sampling_mode: SamplingMode = parameter(SAMPLING_MODE, spec=STRING, default=SamplingMode.DEFAULT)
    output: Value = result("T[*]")
    T = FLOATS

    @constraint("C1")
    def _has_boxes(self) -> bool:
        """a box has four or five numbers."""
        count = ranked_shape(self.roi)[2]
        return not isinstance(count, int) or count in (4, 5)

    @property
    def crop(self) -> _Crop:
        """Returns the parameters of the crop."""
        return _Crop(*_how(self), None)

    def infer(self) -> tuple[Type, ...]:
        images, channels = ranked_shape(self.x)[:2]
        if ranked_shape(self.roi)[2] == 5 and images != 1:
            images = None  # coremltools 9 declares the number of images, the documentation 1
        shape = (ranked_shape(self.roi)[0], images, channels, self.target_height, self.target_width)
        return (TensorType(element_of(self.x), shape),)

    def reference(self, x: Value, roi: Value) -> Value:
        images, channels, height, width = known_dims_of(x)
        count, numbers = known_dims_of(roi)[0], known_dims_of(roi)[2]
        if not isinstance(numbers, int):
            raise NotKnownError("how many numbers a box has is not known before running")
        boxes = core.reshape(converted(roi, f32), (count, numbers))
        target = (self.target_height, self.target_width)
        if numbers == 5:
            which, boxes = core.split(boxes, 1, (1, 4))
            chosen = core.gather(x, core.cast(core.reshape(which, (count,)), i32), 0)
            return core.reshape(self.crop.cut(chosen, boxes), (count, 1, channels, *target))
        # Every box is cut out of all images at once: their channels count as channels of one image.
        together = core.reshape(x, (1, images * channels, height, width))
        each = core.broadcast_to(together, (count, images * channels, height, width))
        return core.reshape(self.crop.cut(each, boxes), (count, images, channels, *target))


class CropResizeCoreML6(CropResize, name="mil.crop_resize", since=CORE_ML_6):
    """Crops boxes out of every image, or each out of one of them; a sample outside of its image has the value
    pad_value.
    """

    pad_value: float = parameter(attr_types.number, spec="T[]", default=0.0)

    @property
    def crop(self) -> _Crop:
        """Returns the parameters of the crop."""
        return _Crop(*_how(self), self.pad_value)


class CropResizeCoreML7(MilOp, name="mil.crop_resize", traits=(traits.Pure,), since=CORE_ML_7):
    """Crops boxes out of images, and resizes them to one size; a sample outside of its image has the value pad_value.

    Without box_indices, box i is one of image i.
    """

    x: Value = operand("T[b, c, h, w]")
    boxes: Value = operand("U[n, 4]")
    box_indices: Value | None = operand("P[n]", default=None, by_value=True)
    target_height: int = parameter(attr_types.integer, spec="i32[]", default=1, check=positive)
    target_width: int = parameter(attr_types.integer, spec="i32[]", default=1, check=positive)
    normalized_coordinates: bool = parameter(attr_types.flag, spec="i1[]", default=False)
    spatial_scale: float = parameter(attr_types.number, spec="f32[]", default=1.0)
    box_coordinate_mode: BoxMode = parameter(
        attr_types.enumeration(BoxMode), spec=STRING, default=BoxMode.CORNERS_HEIGHT_FIRST
    )
    sampling_mode: SamplingMode = parameter(SAMPLING_MODE, spec=STRING, default=SamplingMode.DEFAULT)
    pad_value: float = parameter(attr_types.number, spec="T[]", default=0.0)
    output: Value = result("T[*]")
    T = FLOATS
    U = element_type(f16, f32, u16)
    P = element_type(u16, i32)

    @constraint("C1")
    def _has_images(self) -> Condition:
        """there is an image for each box, or box_indices are indices of images of x."""
        images, boxes = ranked_shape(self.x)[0], ranked_shape(self.boxes)[0]
        if self.box_indices is None:
            return images is None or boxes is None or require(boxes, "<=", images, "number of boxes")
        numbers = [n for n in known_dims(self.box_indices) or () if isinstance(n, int)]
        return not isinstance(images, int) or all(0 <= n < images for n in numbers)

    @constraint("C2")
    def _normalizes_floats(self) -> bool:
        """normalized coordinates are floats."""
        return not self.normalized_coordinates or element_of(self.boxes).is_float

    def reference(self, x: Value, boxes: Value, box_indices: Value | None) -> Value:
        which = core.iota((known_dims_of(boxes)[0],), 0, i32) if box_indices is None else converted(box_indices, i32)
        return _Crop(*_how(self), self.pad_value).cut(core.gather(x, which, 0), boxes)


def _how(op: CropResize | CropResizeCoreML7) -> tuple[int, int, bool, float, BoxMode, SamplingMode]:
    return (
        op.target_height,
        op.target_width,
        op.normalized_coordinates,
        op.spatial_scale,
        op.box_coordinate_mode,
        op.sampling_mode,
    )
