"""Softmax, and the transforms of convolutions after Winograd.

The matrices are those that upstream multiplies with: the product of all three is a convolution, whatever each one's
scale. Source: MLIR linalg dialect; S. Winograd, Arithmetic complexity of computations, 1980; A. Lavin and S. Gray, Fast
algorithms for convolutional neural networks, 2016.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum

from commonir.base.diagnostics import Diagnostic
from commonir.base.tuples import NamedTuple
from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.linalg.base import LinalgOp
from commonir.ir.data import data_of, rounded
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, VectorType, i32, i64
from commonir.ods import attribute, operand, result, traits
from commonir.ods.mlir_attr_types import numbered, typed_integer
from commonir.ods.type_constraints import AnyRankedTensor, AnyShaped, AnyType, tensor_rank_of
from commonir.ods.type_rules import all_element_types_match, element_of, shape_of
from commonir.symbolic import Dim
from commonir.symbolic.errors import NotKnownError


class Softmax(
    LinalgOp,
    name="linalg.softmax",
    traits=(traits.PureOnTensors,),
    assembly="attr-dict `dimension` `(` $dimension `)` `ins` `(` $input `:` type($input) `)`"
    " `outs` `(` $output `:` type($output) `)` (`->` type($results)^)?",
):
    """Softmax along a dimension: exponentials divided by their sum. C1: the dimension is an axis of the input. C2:
    input and output have one type.
    """

    input: Value = operand(AnyShaped)
    output: Value = operand(AnyShaped)
    dimension: int = attribute(typed_integer(i64))
    results_: tuple[Value, ...] = result(AnyRankedTensor, variadic=True)

    def verify(self) -> Iterator[Diagnostic]:
        shape = shape_of(self.input.type)
        rank = len(shape) if isinstance(shape, tuple) else 0
        if element_of(self.input.type) is not element_of(self.output.type):
            yield self.violated("failed to verify that input and output have same element type")
        elif shape != shape_of(self.output.type):
            yield self.violated("incompatible output shape")
        elif not 0 <= self.dimension < rank:
            yield self.violated("incorrect dimension specified")
        elif isinstance(self.output.type, VectorType) or isinstance(self.input.type, VectorType):
            yield self.violated("expected operands that are tensors or memrefs")
        elif [r.type for r in self.results] != [t for t in [self.output.type] if isinstance(t, TensorType)]:
            yield self.violated("C2: expected a result of the type of each output that is a tensor")

    def reference(self, input: Value, output: Value) -> tuple[Value, ...]:  # noqa: ARG002  only its type counts
        return (core.softmax(input, self.dimension),)


class WinogradConv2DFmr(Enum):
    """The number of results of a tile along an axis, and of elements of the filter."""

    F_2_3 = "F_2_3"
    F_4_3 = "F_4_3"
    F_2_5 = "F_2_5"


_fmr = numbered(WinogradConv2DFmr, i32)

Matrix = tuple[tuple[float, ...], ...]


class Transforms(NamedTuple):
    """Matrices for filters, tiles of inputs and tiles of results; and what results are multiplied by for each axis."""

    tile: int
    filter: Matrix
    input: Matrix
    output: Matrix
    scale: float


def _scaled(matrix: Sequence[Sequence[float]], divisor: float) -> Matrix:
    return tuple([tuple([v / divisor for v in row]) for row in matrix])


_TRANSFORMS: Mapping[WinogradConv2DFmr, Transforms] = {
    WinogradConv2DFmr.F_2_3: Transforms(
        2,
        _scaled([[-2, 0, 0], [1, -1, 1], [1, 1, 1], [0, 0, 2]], 2),
        _scaled([[-1, 0, 1, 0], [0, -1, 1, 0], [0, 1, 1, 0], [0, -1, 0, 1]], 1),
        _scaled([[1, 1, 1, 0], [0, -1, 1, 1]], 1),
        1.0,
    ),
    WinogradConv2DFmr.F_4_3: Transforms(
        4,
        _scaled([[12, 0, 0], [-4, 4, -4], [-4, -4, -4], [1, -2, 4], [1, 2, 4], [0, 0, 12]], 12),
        _scaled(
            [
                [4, 0, -5, 0, 1, 0],
                [0, 4, -4, -1, 1, 0],
                [0, -4, -4, 1, 1, 0],
                [0, 4, -2, -4, 2, 0],
                [0, -4, -2, 4, 2, 0],
                [0, 4, 0, -5, 0, 1],
            ],
            16,
        ),
        _scaled([[1, 2, 2, 1, 1, 0], [0, -2, 2, -2, 2, 0], [0, 2, 2, 4, 4, 0], [0, -2, 2, -8, 8, 4]], 8),
        32.0,
    ),
    WinogradConv2DFmr.F_2_5: Transforms(
        2,
        _scaled(
            [
                [60, 0, 0, 0, 0],
                [10, -10, 10, -10, 10],
                [-10, -10, -10, -10, -10],
                [-16, 8, -4, 2, -1],
                [1, 2, 4, 8, 16],
                [0, 0, 0, 0, 60],
            ],
            60,
        ),
        _scaled(
            [
                [2, 3, -4, -3, 2, 0],
                [0, 2, 1, -5, 2, 0],
                [0, -2, -5, -1, 2, 0],
                [0, 4, -2, -4, 2, 0],
                [0, -2, -4, 2, 4, 0],
                [0, 2, 3, -4, -3, 2],
            ],
            16,
        ),
        _scaled([[1, 2, 2, 4, 2, 0], [0, -2, 2, -2, 4, 1]], 2),
        16.0,
    ),
}


def _constant(matrix: Matrix, element: ElementType) -> Value:
    flat = [rounded(v, element) for row in matrix for v in row]
    return core.constant(data_of(element, (len(matrix), len(matrix[0])), flat))


def _shape(value: Value) -> tuple[int, ...]:
    type = core.tensor_type(value)
    if not type.is_static:
        raise NotKnownError("a transform of tensors whose sizes are not known")
    return type.static_shape


class _Transform(LinalgOp):
    """Base of the transforms. An axis along which the filter has size 1 is not transformed."""

    def wrong_result(self, output: Value, actual: Value) -> Iterator[Diagnostic]:
        if actual.type is not output.type:
            yield self.violated(
                f"expected type of operand #1 ('{output.type}') to match type of corresponding result ('{actual.type}')"
            )

    def wrong_sizes(self, output: Value, expected: Sequence[int | None]) -> Iterator[Diagnostic]:
        shape = core.as_tensor(output.type).shape or ()
        if len(shape) != len(expected) or any(
            e is not None and isinstance(n, int) and n != e for n, e in zip(shape, expected, strict=True)
        ):
            yield self.violated(f"the output shape is not expected: it should be {expected}")


def _known(sizes: Iterable[Dim | None]) -> list[int | None]:
    return [n if isinstance(n, int) else None for n in sizes]


class WinogradFilterTransform(
    _Transform,
    name="linalg.winograd_filter_transform",
    traits=(all_element_types_match("filter", "output"),),
    assembly="attr-dict `fmr` `(` $fmr `)` `ins` `(` $filter `:` type($filter) `)`"
    " `outs` `(` $output `:` type($output) `)` `->` type($result)",
):
    """Winograd transform of convolution filters [f, h, w, c] to matrices [a, b, c, f]. C1: the filter has size r, or 1,
    along each spatial axis.
    """

    filter: Value = operand(tensor_rank_of((AnyType,), (4,)))
    output: Value = operand(tensor_rank_of((AnyType,), (4,)))
    fmr: WinogradConv2DFmr = attribute(_fmr)
    result_: Value = result(tensor_rank_of((AnyType,), (4,)))

    def verify(self) -> Iterator[Diagnostic]:
        yield from self.wrong_result(self.output, self.result_)
        t = _TRANSFORMS[self.fmr]
        filters, height, width, channels = core.as_tensor(self.filter.type).shape or (None,) * 4
        size = len(t.filter[0])
        if height not in (size, 1) or width not in (size, 1):
            yield self.violated(f"expect filter height and width either equals to r({size}) or 1")
            return
        if height == width == 1:
            yield self.violated("expect either filter height or width equals to r")
            return
        alpha = len(t.filter)
        sizes = [alpha if height != 1 else 1, alpha if width != 1 else 1]
        yield from self.wrong_sizes(self.output, [*sizes, *_known((channels, filters))])

    def reference(self, filter: Value, output: Value) -> Value:  # noqa: ARG002  only its type counts
        t = _TRANSFORMS[self.fmr]
        _, height, width, _ = _shape(filter)
        matrix = _constant(t.filter, core.tensor_type(filter).element)
        x = core.transpose(filter, (1, 2, 3, 0))
        x = core.einsum((matrix, x), "ah,hwcf->awcf") if height != 1 else x
        return core.einsum((matrix, x), "bw,awcf->abcf") if width != 1 else x


class WinogradInputTransform(
    _Transform,
    name="linalg.winograd_input_transform",
    traits=(all_element_types_match("input", "output"),),
    assembly="attr-dict `fmr` `(` $fmr `)` `ins` `(` $input `:` type($input) `)`"
    " `outs` `(` $output `:` type($output) `)` `->` type($result)",
):
    """Winograd transform of images [n, h, w, c] to matrices [a, b, i, j, n, c] of overlapping tiles (i, j). C1: the
    tiles cover the images.
    """

    input: Value = operand(tensor_rank_of((AnyType,), (4,)))
    output: Value = operand(tensor_rank_of((AnyType,), (6,)))
    fmr: WinogradConv2DFmr = attribute(_fmr)
    result_: Value = result(tensor_rank_of((AnyType,), (6,)))

    def verify(self) -> Iterator[Diagnostic]:
        yield from self.wrong_result(self.output, self.result_)
        t = _TRANSFORMS[self.fmr]
        alpha, reach = len(t.input), len(t.filter[0]) - 1
        count, *image, channels = core.as_tensor(self.input.type).shape or (None,) * 4
        out = core.as_tensor(self.output.type).shape or (None,) * 6
        expected = _known(out[:2])
        for n, size in zip(out[:2], image, strict=True):
            if n not in (1, alpha) and isinstance(n, int):
                yield self.violated(f"expect output tile size equals to alpha({alpha}) or 1")
                return
            if not isinstance(size, int):
                expected.append(None)
            else:
                expected.append((size - (reach if n != 1 else 0)) // (t.tile if n != 1 else 1))
        expected += _known((count, channels))
        yield from self.wrong_sizes(self.output, expected)

    def reference(self, input: Value, output: Value) -> Value:
        t = _TRANSFORMS[self.fmr]
        expected = _shape(output)
        matrix = _constant(t.input, core.tensor_type(input).element)
        x = _tiled(_tiled(input, 2, t, expected[1], expected[3]), 1, t, expected[0], expected[2])
        # Its axes are image, tile and place along the height, tile and place along the width, channel.
        x = core.einsum((matrix, x), "pa,niajbc->nipjbc") if expected[0] != 1 else x
        x = core.einsum((matrix, x), "qb,nipjbc->nipjqc") if expected[1] != 1 else x
        return core.transpose(x, (2, 4, 1, 3, 0, 5))


def _tiled(x: Value, axis: int, t: Transforms, size: int, count: int) -> Value:
    """An axis as tiles and the places in each, which overlap with those of the next tile."""
    step = t.tile if size != 1 else 1
    first = core.unsqueeze(core.mul(core.iota((count,)), core.scalar(step, i64)), (1,))
    return core.gather(x, core.add(first, core.iota((size,))), axis)


class WinogradOutputTransform(
    _Transform,
    name="linalg.winograd_output_transform",
    traits=(all_element_types_match("value", "output"),),
    assembly="attr-dict `fmr` `(` $fmr `)` `ins` `(` $value `:` type($value) `)`"
    " `outs` `(` $output `:` type($output) `)` `->` type($result)",
):
    """Inverse Winograd transform of matrices [a, b, i, j, n, f] to images [n, h, w, f], added to the init operand. C1:
    tiles cover the images.
    """

    value: Value = operand(tensor_rank_of((AnyType,), (6,)))
    output: Value = operand(tensor_rank_of((AnyType,), (4,)))
    fmr: WinogradConv2DFmr = attribute(_fmr)
    result_: Value = result(tensor_rank_of((AnyType,), (4,)))

    def verify(self) -> Iterator[Diagnostic]:
        yield from self.wrong_result(self.output, self.result_)
        t = _TRANSFORMS[self.fmr]
        alpha = len(t.input)
        value = core.as_tensor(self.value.type).shape or (None,) * 6
        expected = _known((value[4],))
        for n, count in zip(value[:2], value[2:4], strict=True):
            if n not in (1, alpha) and isinstance(n, int):
                yield self.violated(f"expect value tile size equals to alpha({alpha}) or 1")
                return
            expected.append(count * (t.tile if n != 1 else 1) if isinstance(count, int) else None)
        expected += _known((value[5],))
        yield from self.wrong_sizes(self.output, expected)

    def reference(self, value: Value, output: Value) -> Value:
        t = _TRANSFORMS[self.fmr]
        element = core.tensor_type(value).element
        matrix, x, scale = _constant(t.output, element), value, 1.0
        if _shape(value)[0] != 1:
            x, scale = core.einsum((matrix, x), "pa,abijnf->pbijnf"), scale * t.scale
        if _shape(value)[1] != 1:
            x, scale = core.einsum((matrix, x), "qb,pbijnf->pqijnf"), scale * t.scale
        whole = core.reshape(core.transpose(x, (4, 2, 0, 3, 1, 5)), _shape(output))
        scaled = whole if scale == 1 else core.mul(whole, core.scalar(scale, element))
        return core.add(scaled, output)
