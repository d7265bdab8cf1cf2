"""Rearrangements between channels, batch and image positions in the mil dialect.

Source: MIL operation reference, tensor_transformation.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.mil.base import CORE_ML_6, MilOp
from commonir.dialects.mil.operands import FLOATS, PAIRS, is_multiple
from commonir.ir.operation import Value
from commonir.ods import attr_types, constraint, operand, parameter, positive, result, traits
from commonir.ods.operand_shapes import known_dims_of, ranked_shape
from commonir.symbolic import floor_div


class Rearrangement(MilOp, traits=(traits.Pure,)):
    """The elements of a batch of images in another arrangement."""

    x: Value = operand("T[n, c, h, w]")
    output: Value = result("T[m, d, i, j]")
    T = FLOATS


class DepthToSpace(Rearrangement, name="mil.depth_to_space"):
    """Rearranges channels into blocks of rows and columns; the leading part of the channel index is the position in a
    block.
    """

    block_size: int = parameter(attr_types.integer, spec="i32[]", check=positive)

    @constraint("C1")
    def _divides(self) -> bool:
        """block_size squared divides the channels."""
        return is_multiple(ranked_shape(self.x)[1], self.block_size**2)

    def reference(self, x: Value) -> Value:
        return core.depth_to_space(x, self.block_size, core.BlockOrder.DCR)


class SpaceToDepth(Rearrangement, name="mil.space_to_depth"):
    """Rearranges blocks of rows and columns into channels: the inverse of depth_to_space."""

    block_size: int = parameter(attr_types.integer, spec="i32[]", check=positive)

    @constraint("C1")
    def _divides(self) -> bool:
        """block_size divides height and width."""
        return all(is_multiple(d, self.block_size) for d in ranked_shape(self.x)[2:])

    def reference(self, x: Value) -> Value:
        return core.space_to_depth(x, self.block_size, core.BlockOrder.DCR)


class PixelShuffle(Rearrangement, name="mil.pixel_shuffle"):
    """Rearranges channels into blocks of rows and columns; the trailing part of the channel index is the position in a
    block.
    """

    upscale_factor: int = parameter(attr_types.integer, spec="i32[]", check=positive)

    @constraint("C1")
    def _divides(self) -> bool:
        """upscale_factor squared divides the channels."""
        return is_multiple(ranked_shape(self.x)[1], self.upscale_factor**2)

    def reference(self, x: Value) -> Value:
        return core.depth_to_space(x, self.upscale_factor, core.BlockOrder.CRD)


class PixelUnshuffle(Rearrangement, name="mil.pixel_unshuffle", since=CORE_ML_6):
    """Rearranges blocks of rows and columns into channels: the inverse of pixel_shuffle."""

    downscale_factor: int = parameter(attr_types.integer, spec="ui32[]", check=positive)

    @constraint("C1")
    def _divides(self) -> bool:
        """downscale_factor divides height and width."""
        return all(is_multiple(d, self.downscale_factor) for d in ranked_shape(self.x)[2:])

    def reference(self, x: Value) -> Value:
        return core.space_to_depth(x, self.downscale_factor, core.BlockOrder.CRD)


class SpaceToBatch(Rearrangement, name="mil.space_to_batch"):
    """Rearranges blocks of rows and columns into batches, after padding with zeros: one batch for each position in a
    block.

    Batch (i * block_width + j) * n + k of the result has the elements at position i, j of the blocks of batch k.
    """

    block_shape: tuple[int, ...] = parameter(attr_types.integers, spec="i32[*]", check=positive)
    paddings: tuple[tuple[int, int], ...] = parameter(PAIRS, spec="i32[*]")

    @constraint("C1")
    def _have_two(self) -> bool:
        """block_shape has two numbers, and paddings has two pairs."""
        return len(self.block_shape) == len(self.paddings) == 2

    @constraint("C2")
    def _divides(self) -> bool:
        """block_shape divides height and width with their padding."""
        padded = [
            None if d is None else d + a + b for d, (a, b) in zip(ranked_shape(self.x)[2:], self.paddings, strict=False)
        ]
        return all(is_multiple(d, k) for d, k in zip(padded, self.block_shape, strict=False))

    def reference(self, x: Value) -> Value:
        (top, bottom), (left, right) = self.paddings
        wide = core.pad(x, (0, 0, top, left), (0, 0, bottom, right))
        bh, bw = self.block_shape
        n, c, h, w = known_dims_of(wide)
        rows, columns = floor_div(h, bh), floor_div(w, bw)
        blocks = core.transpose(core.reshape(wide, (n, c, rows, bh, columns, bw)), (3, 5, 0, 1, 2, 4))
        return core.reshape(blocks, (n * (bh * bw), c, rows, columns))


class BatchToSpace(Rearrangement, name="mil.batch_to_space"):
    """Rearranges batches into blocks of rows and columns, which are then cropped: the inverse of space_to_batch."""

    block_shape: tuple[int, ...] = parameter(attr_types.integers, spec="i32[*]", check=positive)
    crops: tuple[tuple[int, int], ...] = parameter(PAIRS, spec="i32[*]")

    @constraint("C1")
    def _have_two(self) -> bool:
        """block_shape has two numbers, and crops has two pairs."""
        return len(self.block_shape) == len(self.crops) == 2

    @constraint("C2")
    def _divides(self) -> bool:
        """the product of block_shape divides the batch."""
        product = 1
        for b in self.block_shape:
            product *= b
        return is_multiple(ranked_shape(self.x)[0], product)

    def reference(self, x: Value) -> Value:
        bh, bw = self.block_shape
        n, c, h, w = known_dims_of(x)
        batch = floor_div(n, bh * bw)
        blocks = core.transpose(core.reshape(x, (bh, bw, batch, c, h, w)), (2, 3, 4, 0, 5, 1))
        whole = core.reshape(blocks, (batch, c, h * bh, w * bw))
        (top, bottom), (left, right) = self.crops
        stops = (batch, c, h * bh - bottom, w * bw - right)
        return core.slice(whole, (0, 0, top, left), stops, (1, 1, 1, 1))
