"""Operations of the stablehlo dialect that sum products: matrices, convolutions, Fourier transforms, equations.

Numbers are multiplied and summed in the element type of the result.
Source: StableHLO specification, dot_general, convolution, fft, cholesky, triangular_solve.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core, integers
from commonir.dialects.mlir.stablehlo import forms
from commonir.dialects.mlir.stablehlo.accuracy import algorithm_faults, precision_faults
from commonir.dialects.mlir.stablehlo.base import (
    Analytic,
    AnyHlo,
    AnyQuantizedToo,
    CompatibleElements,
    FftType,
    FloatsOrComplexes,
    HloOp,
    Precision,
    StaticIntegers2D,
    Transposition,
    axes,
    axis,
    dialect_attribute,
    element,
    fft_type,
    flags,
    is_quantized,
    kind_of,
    like,
    numbers_in,
    positive,
    precision_config,
    rank_of,
    reshaped,
    shape_of,
    stated_shape,
    transposed,
    transposition,
)
from commonir.dialects.mlir.stablehlo.dimension_numbers import ConvDims, DotDims, conv_dims, dot_dims
from commonir.dialects.mlir.stablehlo.layout import padded
from commonir.dialects.mlir.stablehlo.number_types import is_complex_value, number_as
from commonir.dialects.mlir.stablehlo.quantization import convolution_faults, dot_faults
from commonir.dialects.mlir.stablehlo.reduction import Pairs, pairs_of, window_sizes
from commonir.ir.attributes import Attribute
from commonir.ir.data import Data
from commonir.ir.operation import Value
from commonir.ir.types import ComplexType, ElementType, Shape, TensorType, Type, boolean, i32, i64
from commonir.notation import NotationError
from commonir.ods import attr_types, attribute, operand, result, traits
from commonir.ods.operand_shapes import known_dims_of, static_dims
from commonir.ods.text_form import CustomForm
from commonir.ods.type_rules import are_compatible_shapes
from commonir.symbolic import Dim, element_count

# -- products


def _product(a: Value, b: Value, expected: ElementType) -> Value:
    """The product of matrices, in a type that holds it."""
    if isinstance(expected, ComplexType):
        return _complex_product(a, b)
    if expected is boolean:
        return core.not_equal(core.matmul(core.cast(a, i32), core.cast(b, i32)), core.scalar(0, i32))
    if expected.is_integer and expected is not i64:
        result = core.matmul(number_as(a, i64), number_as(b, i64))
        return integers.truncated(result, expected) if expected.kind == "int" else core.cast(result, expected)
    return core.matmul(number_as(a, expected), number_as(b, expected))


def _complex_product(a: Value, b: Value) -> Value:
    real, imag = core.real(a), core.imag(a)
    other, beside = core.real(b), core.imag(b)
    first = core.sub(core.matmul(real, other), core.matmul(imag, beside))
    return core.make_complex(first, core.add(core.matmul(real, beside), core.matmul(imag, other)))


def contracted(a: Value, b: Value, dims: DotDims, expected: ElementType) -> Value:
    """The sums of products over some axes of two tensors, which may share others."""
    left, right = known_dims_of(a), known_dims_of(b)
    rows = [n for n in range(len(left)) if n not in (*dims.lhs_batching_dimensions, *dims.lhs_contracting_dimensions)]
    columns = [
        n for n in range(len(right)) if n not in (*dims.rhs_batching_dimensions, *dims.rhs_contracting_dimensions)
    ]
    batch = [left[n] for n in dims.lhs_batching_dimensions]
    height, width = [left[n] for n in rows], [right[n] for n in columns]
    summed = [left[n] for n in dims.lhs_contracting_dimensions]
    first = transposed(a, [*dims.lhs_batching_dimensions, *rows, *dims.lhs_contracting_dimensions])
    second = transposed(b, [*dims.rhs_batching_dimensions, *dims.rhs_contracting_dimensions, *columns])
    if not batch and len(summed) == 1 and len(columns) == 1 and rows:
        return _product(first, second, expected)
    one = element_count(summed)
    first = reshaped(first, [*batch, element_count(height), one])
    second = reshaped(second, [*batch, one, element_count(width)])
    return reshaped(_product(first, second, expected), [*batch, *height, *width])


def dims_faults(dims: DotDims, left: Shape, right: Shape) -> Iterator[str]:
    """Yields the first fault of the axes of a product of tensors of two shapes."""
    pairs = (
        ("batching", dims.lhs_batching_dimensions, dims.rhs_batching_dimensions),
        ("contracting", dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions),
    )
    for what, a, b in pairs:
        if len(a) != len(b):
            yield f"C1: lhs and rhs should have the same number of {what} dimensions"
            return
    for what, held, shape in (
        ("lhs", (pairs[0][1], pairs[1][1]), left),
        ("rhs", (pairs[0][2], pairs[1][2]), right),
    ):
        both = [*held[0], *held[1]]
        if len(set(both)) != len(both):
            yield f"C2: has duplicated dimension from {what}: {both}"
            return
        if any(not 0 <= d < len(shape) for d in both):
            yield f"C2: {what} dimensions {both} are out of range: [0, {len(shape)})"
            return
    for what, a, b in pairs:
        for n, m in zip(a, b, strict=True):
            if isinstance(left[n], int) and isinstance(right[m], int) and left[n] != right[m]:
                yield f"C3: {what} dimension sizes must match for lhs/rhs: {left[n]} and {right[m]}"
                return


def product_shape(dims: DotDims, left: Shape, right: Shape) -> Shape:
    """Returns the shape of a product of tensors of two shapes: batching axes, then those of lhs, then those of rhs."""
    shared = (*dims.lhs_batching_dimensions, *dims.lhs_contracting_dimensions)
    others = (*dims.rhs_batching_dimensions, *dims.rhs_contracting_dimensions)
    return (
        *[left[n] for n in dims.lhs_batching_dimensions],
        *[d for n, d in enumerate(left) if n not in shared],
        *[d for n, d in enumerate(right) if n not in others],
    )


class Dot(HloOp, name="stablehlo.dot", traits=(traits.Pure,)):
    """Product of matrices or vectors. C1: the operands have rank 1 or 2. C2: the contracted axes have equal sizes."""

    custom_form: ClassVar[CustomForm | None] = forms.WordsForm(forms.PRECISION)

    lhs: Value = operand(AnyHlo)
    rhs: Value = operand(AnyQuantizedToo)
    precision_config: tuple[Precision, ...] | None = attribute(precision_config, default=None)
    result_: Value = result(AnyQuantizedToo)

    def verify(self) -> Iterator[Diagnostic]:
        yield from map(self.violated, precision_faults(self.precision_config))
        left, right = shape_of(self.lhs), shape_of(self.rhs)
        if not (1 <= len(left) <= 2 and 1 <= len(right) <= 2):
            yield self.violated(
                f"C1: expected both lhs/rhs ranks to be either 1 or 2, got {len(left)} and {len(right)}"
            )
            return
        if isinstance(left[-1], int) and isinstance(right[0], int) and left[-1] != right[0]:
            yield self.violated(f"C2: contracting dimension sizes must match: {left[-1]} and {right[0]}")
            return
        yield from self.check_result((*left[:-1], *right[1:]))

    def reference(self, lhs: Value, rhs: Value) -> Value:
        expected = element(self.result_)
        assert isinstance(expected, ElementType)
        dims = DotDims((), (), (len(known_dims_of(lhs)) - 1,), (0,))
        return contracted(lhs, rhs, dims, expected)


class DotGeneral(HloOp, name="stablehlo.dot_general", traits=(traits.Pure,)):
    """Contraction over contracting dimensions of two tensors, for each index of their batching dimensions. C1: both
    operands have equally many batching and contracting dimensions. C2: each is an axis, named once. C3: corresponding
    axes have equal sizes.
    """

    custom_form: ClassVar[CustomForm | None] = forms.DotForm()

    lhs: Value = operand(AnyHlo)
    rhs: Value = operand(AnyQuantizedToo)
    dot_dimension_numbers: DotDims = attribute(dot_dims)
    precision_config: tuple[Precision, ...] | None = attribute(precision_config, default=None)
    algorithm: Attribute | None = attribute(dialect_attribute, default=None)
    result_: Value = result(AnyQuantizedToo)

    def verify(self) -> Iterator[Diagnostic]:
        yield from map(self.violated, precision_faults(self.precision_config, self.algorithm))
        yield from map(self.violated, algorithm_faults(self.algorithm))
        contracting = self.dot_dimension_numbers.rhs_contracting_dimensions
        yield from map(self.violated, dot_faults(self.lhs, self.rhs, self.result_, contracting))
        dims = self.dot_dimension_numbers
        left, right = shape_of(self.lhs), shape_of(self.rhs)
        faults = list(dims_faults(dims, left, right))
        yield from map(self.violated, faults)
        if not faults:
            yield from self.check_result(product_shape(dims, left, right))

    def reference(self, lhs: Value, rhs: Value) -> Value:
        expected = element(self.result_)
        assert isinstance(expected, ElementType)
        return contracted(lhs, rhs, self.dot_dimension_numbers, expected)


class Einsum(
    HloOp,
    name="stablehlo.einsum",
    traits=(traits.Pure,),
    assembly="$lhs `,` $rhs `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)",
):
    """Einstein summation of two operands."""

    lhs: Value = operand(AnyHlo)
    rhs: Value = operand(AnyHlo)
    einsum_config: str = attribute(attr_types.string)
    result_: Value = result(AnyHlo)

    def reference(self, lhs: Value, rhs: Value) -> Value:
        return core.einsum((lhs, rhs), self.einsum_config)


class UnaryEinsum(
    HloOp,
    name="stablehlo.unary_einsum",
    traits=(traits.Pure,),
    assembly="$operand `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)",
):
    """Einstein summation of one operand."""

    operand: Value = operand(AnyHlo)
    einsum_config: str = attribute(attr_types.string)
    result_: Value = result(AnyHlo)

    def reference(self, operand: Value) -> Value:
        return core.einsum((operand,), self.einsum_config)


# -- convolutions


class _Convolution(HloOp, traits=(traits.Pure,)):
    """Base class of convolutions."""

    precision_config: tuple[Precision, ...] | None
    window_reversal: tuple[bool, ...] | None

    def check(
        self,
        operands: tuple[Value, Value],
        dims: ConvDims,
        windows: Sequence[Sequence[int] | None],
        pads: Pairs | None,
        groups: tuple[int, int],
    ) -> Iterator[Diagnostic]:
        """Yields the faults of axes, windows and dims."""
        yield from map(self.violated, precision_faults(self.precision_config))
        x, w = [shape_of(v) for v in operands]
        lists = (
            [dims.input_batch_dimension, dims.input_feature_dimension, *dims.input_spatial_dimensions],
            [
                dims.kernel_input_feature_dimension,
                dims.kernel_output_feature_dimension,
                *dims.kernel_spatial_dimensions,
            ],
            [dims.output_batch_dimension, dims.output_feature_dimension, *dims.output_spatial_dimensions],
        )
        if len(x) != len(w) or len(x) < 2:
            yield self.violated(f"C1: expects convolution arguments to have same rank of at least 2, got {len(x)}")
            return
        if any(sorted(held) != list(range(len(x))) for held in lists):
            yield self.violated("C2: expects each axis of input, kernel and output to be named once")
            return
        spatial = len(x) - 2
        yield from self._check_window(operands, [w[at] for at in dims.kernel_spatial_dimensions])
        for held in (*windows, pads):
            if held and len(held) != spatial:
                yield self.violated(f"C3: expects numbers of windows for each of the {spatial} spatial axes")
                return
        if any(held is not None and any(n < 1 for n in held) for held in windows):
            yield self.violated("C3: expects window strides and dilations to be positive")
            return
        features, channels = x[dims.input_feature_dimension], w[dims.kernel_input_feature_dimension]
        filters, batch = w[dims.kernel_output_feature_dimension], x[dims.input_batch_dimension]
        feature_groups, batch_groups = groups
        if min(groups) < 1:
            # Attributes of their own say so.
            return
        if isinstance(features, int) and isinstance(channels, int) and features != channels * feature_groups:
            message = f"C4: expects input feature dimension ({features}) / feature_group_count = kernel input feature"
            yield self.violated(f"{message} dimension ({channels}), feature_group_count is {feature_groups}")
            return
        for what, size, count in (("filters", filters, feature_groups), ("filters", filters, batch_groups)):
            if isinstance(size, int) and size % count:
                yield self.violated(f"C4: expects {what} ({size}) to be a multiple of the groups ({count})")
        if isinstance(batch, int) and batch % batch_groups:
            yield self.violated(f"C4: expects input batch dimension ({batch}) to be divisible by batch_group_count")
            return
        filters_at = dims.kernel_output_feature_dimension, dims.output_feature_dimension
        yield from map(self.violated, convolution_faults(*operands, self.results[0], filters_at))
        if pads is not None:
            yield from self.check_result(self._shape(operands, dims, windows, pads, batch_groups))

    def _check_window(self, operands: tuple[Value, Value], window: Sequence[Dim | None]) -> Iterator[Diagnostic]:
        """Yields the faults of elements, and of the window along spatial axes."""
        left, right = [element(v) for v in operands]
        if left is not right and not is_quantized(left) and not is_quantized(right):
            yield self.violated(f"C1: expects lhs and rhs to have compatible element type. Got: {left} and {right}")
        for n, size in enumerate(window):
            if size == 0:
                yield self.violated(f"C3: expects window to have positive value for {n}-th window dimension, but got 0")
        turned = self.window_reversal
        if turned and len(turned) != len(window):
            message = f"C3: expects window-reversal to have the size of window dimensions ({len(window)})"
            yield self.violated(f"{message}, but got {len(turned)}")

    def _shape(
        self,
        operands: tuple[Value, Value],
        dims: ConvDims,
        windows: Sequence[Sequence[int] | None],
        pads: Pairs,
        batch_groups: int,
    ) -> tuple[Dim | None, ...]:
        x, w = [shape_of(v) for v in operands]
        strides, base, spread = [held or (1,) * len(pads) for held in windows]
        kernel = [w[n] for n in dims.kernel_spatial_dimensions]
        spatial: list[Dim | None] = []
        for n, at in enumerate(dims.input_spatial_dimensions):
            size = kernel[n]
            if not isinstance(size, int):
                spatial.append(None)
                continue
            spatial += window_sizes((x[at],), (size,), (strides[n],), ((base[n],), (spread[n],)), (pads[n],))
        out: list[Dim | None] = [None] * len(x)
        batch = x[dims.input_batch_dimension]
        out[dims.output_batch_dimension] = batch // batch_groups if isinstance(batch, int) else None
        out[dims.output_feature_dimension] = w[dims.kernel_output_feature_dimension]
        for at, size in zip(dims.output_spatial_dimensions, spatial, strict=True):
            out[at] = size
        return tuple(out)


class Convolution(_Convolution, name="stablehlo.convolution"):
    """Convolution: sums of products of a kernel with each window of the input. C1: the operands have one rank. C2: the
    dimension numbers name each axis once. C3: strides, padding, dilations and reversal have one entry for each spatial
    axis. C4: group counts divide batches and features.
    """

    custom_form: ClassVar[CustomForm | None] = forms.ConvolutionForm()

    lhs: Value = operand(AnyHlo)
    rhs: Value = operand(AnyQuantizedToo)
    dimension_numbers: ConvDims = attribute(conv_dims)
    feature_group_count: int = attribute(axis, check=positive)
    batch_group_count: int = attribute(axis, check=positive)
    window_strides: tuple[int, ...] | None = attribute(axes, default=None)
    padding: Data | None = attribute(attr_types.data, default=None)
    lhs_dilation: tuple[int, ...] | None = attribute(axes, default=None)
    rhs_dilation: tuple[int, ...] | None = attribute(axes, default=None)
    window_reversal: tuple[bool, ...] | None = attribute(flags, default=None)
    precision_config: tuple[Precision, ...] | None = attribute(precision_config, default=None)
    result_: Value = result(AnyQuantizedToo)

    def verify(self) -> Iterator[Diagnostic]:
        windows = (self.window_strides, self.lhs_dilation, self.rhs_dilation)
        pads = pairs_of(self.padding, max(rank_of(self.lhs) - 2, 0))
        groups = self.feature_group_count, self.batch_group_count
        yield from self.check((self.lhs, self.rhs), self.dimension_numbers, windows, pads, groups)

    def reference(self, lhs: Value, rhs: Value) -> Value:
        windows = (self.window_strides, self.lhs_dilation, self.rhs_dilation, self.window_reversal)
        pads = pairs_of(self.padding, len(known_dims_of(lhs)) - 2)
        groups = self.feature_group_count, self.batch_group_count
        expected = element(self.result_)
        assert isinstance(expected, ElementType)
        return convolved(lhs, rhs, self.dimension_numbers, windows, pads, groups, expected)


class DynamicConv(_Convolution, name="stablehlo.dynamic_conv"):
    """Convolution with computed padding. C1: operands have one rank. C2: each of their axes is named once. C3: there
    are numbers for each spatial axis. C4: groups divide batches and features.
    """

    assembly = ""

    lhs: Value = operand(AnyHlo)
    rhs: Value = operand(AnyHlo)
    padding: Value = operand(StaticIntegers2D, by_value=True)
    dimension_numbers: ConvDims = attribute(conv_dims)
    feature_group_count: int = attribute(axis, check=positive)
    batch_group_count: int = attribute(axis, check=positive)
    window_strides: tuple[int, ...] | None = attribute(axes, default=None)
    lhs_dilation: tuple[int, ...] | None = attribute(axes, default=None)
    rhs_dilation: tuple[int, ...] | None = attribute(axes, default=None)
    window_reversal: tuple[bool, ...] | None = attribute(flags, default=None)
    precision_config: tuple[Precision, ...] | None = attribute(precision_config, default=None)
    result_: Value = result(AnyHlo)

    def verify(self) -> Iterator[Diagnostic]:
        windows = (self.window_strides, self.lhs_dilation, self.rhs_dilation)
        groups = self.feature_group_count, self.batch_group_count
        yield from self.check((self.lhs, self.rhs), self.dimension_numbers, windows, None, groups)
        expected = max(rank_of(self.lhs) - 2, 0), 2
        if not are_compatible_shapes(self.padding.type, TensorType(boolean, expected)):
            yield self.violated(f"C3: expects padding to be of shape {list(expected)}, but got {self.padding.type}")

    def reference(self, lhs: Value, rhs: Value, padding: Value) -> Value:
        windows = (self.window_strides, self.lhs_dilation, self.rhs_dilation, self.window_reversal)
        flat = numbers_in(padding)
        pads = tuple(zip(flat[::2], flat[1::2], strict=True))
        expected = element(self.result_)
        assert isinstance(expected, ElementType)
        groups = self.feature_group_count, self.batch_group_count
        return convolved(lhs, rhs, self.dimension_numbers, windows, pads, groups, expected)


def convolved(
    x: Value,
    w: Value,
    dims: ConvDims,
    windows: Sequence[Sequence[int] | None],
    pads: Pairs,
    groups: tuple[int, int],
    expected: ElementType,
) -> Value:
    """A convolution with any axes, windows and groups."""
    if isinstance(expected, ComplexType):
        raise NotationError("a convolution of complex numbers has no meaning here")
    count = len(pads)
    strides, base, spread = [held or (1,) * count for held in windows[:3]]
    reversal = windows[3] or (0,) * count
    accumulated = i64 if expected.is_integer or expected is boolean else expected
    x, w = number_as(x, accumulated), number_as(w, accumulated)
    image = transposed(x, [dims.input_batch_dimension, dims.input_feature_dimension, *dims.input_spatial_dimensions])
    kernel_axes = [dims.kernel_output_feature_dimension, dims.kernel_input_feature_dimension]
    kernel = transposed(w, [*kernel_axes, *dims.kernel_spatial_dimensions])
    turned = tuple([n + 2 for n, flipped in enumerate(reversal) if flipped])
    if turned:
        kernel = core.reverse(kernel, turned)
    if any(n > 1 for n in base) or any(min(p) < 0 for p in pads):
        low, high = [0, 0, *[p[0] for p in pads]], [0, 0, *[p[1] for p in pads]]
        image = padded(image, core.splat(0, image), low, high, [0, 0, *[n - 1 for n in base]])
        pads = ((0, 0),) * count
    back: list[int] = [0] * (count + 2)
    for place, at in enumerate(
        [dims.output_batch_dimension, dims.output_feature_dimension, *dims.output_spatial_dimensions]
    ):
        back[at] = place
    feature_groups, batch_groups = groups
    if batch_groups > 1:
        image = _batches_as_features(image, batch_groups)
        feature_groups = batch_groups
    sizes, window = known_dims_of(image)[2:], known_dims_of(kernel)[2:]
    fitting = window_sizes(sizes, [w for w in window if isinstance(w, int)], strides, ((1,) * count, spread), pads)
    if any(n == 0 for n in fitting):
        shape = (known_dims_of(image)[0], known_dims_of(kernel)[0], *[0 if n is None else n for n in fitting])
        result = core.broadcast_to(core.splat(0, image), shape)
    elif count:
        result = core.conv(image, kernel, None, tuple(strides), tuple(spread), pads, feature_groups)
    else:
        result = _pointwise(image, kernel, feature_groups)
    return transposed(_narrowed(result, expected), back)


def _narrowed(x: Value, expected: ElementType) -> Value:
    if kind_of(x) is expected:
        return x
    if expected is boolean:
        return core.not_equal(x, core.splat(0, x))
    return integers.truncated(x, expected) if expected.kind == "int" else core.cast(x, expected)


def _batches_as_features(image: Value, groups: int) -> Value:
    """Images in groups of batches, of which each becomes features of its own."""
    batch, features, *spatial = known_dims_of(image)
    rest = len(spatial)
    each = element_count([batch]) // groups if isinstance(batch, int) else batch // groups
    apart = core.reshape(image, (groups, each, features, *spatial))
    moved = core.transpose(apart, (1, 0, 2, *range(3, 3 + rest)))
    return core.reshape(moved, (each, groups * features, *spatial))


def _pointwise(image: Value, kernel: Value, groups: int) -> Value:
    wide = core.unsqueeze(image, (2,))
    return core.squeeze(core.conv(wide, core.unsqueeze(kernel, (2,)), None, (1,), (1,), ((0, 0),), groups), (2,))


# -- Fourier transforms


class Fft(
    HloOp,
    name="stablehlo.fft",
    traits=(traits.Pure,),
    assembly=(
        "$operand `,` `type` `=` $fft_type `,` `length` `=` $fft_length "
        "attr-dict `:` functional-type(operands, results)"
    ),
):
    """Fast Fourier transform, or its inverse, over the last axes. C1: there are one to three lengths, and at least as
    many axes. C2: the element type fits the type of the transform. C3: lengths are the sizes of the last axes; for the
    inverse of a real transform the last one is that of the result.
    """

    operand: Value = operand(FloatsOrComplexes)
    fft_type: FftType = attribute(fft_type)
    fft_length: tuple[int, ...] = attribute(axes)
    result_: Value = result(FloatsOrComplexes)

    def infer_results(self) -> tuple[Type, ...] | None:
        shape, element_type = stated_shape(self.operand), element(self.operand)
        if shape is None or not self.fft_length or len(shape) < len(self.fft_length):
            return None
        match self.fft_type:
            case FftType.RFFT if isinstance(element_type, ElementType) and not isinstance(element_type, ComplexType):
                last = self.fft_length[-1]
                return (
                    like(self.operand.type, (*shape[:-1], last // 2 + 1 if last else 0), ComplexType(element_type)),
                )
            case FftType.IRFFT if isinstance(element_type, ComplexType):
                return (like(self.operand.type, (*shape[:-1], self.fft_length[-1]), element_type.part),)
            case _:
                return (self.operand.type,)

    def verify(self) -> Iterator[Diagnostic]:
        shape, count = shape_of(self.operand), len(self.fft_length)
        if not 1 <= count <= 3 or len(shape) < count:
            yield self.violated(f"C1: rank must be between 1 and 3 and at most that of the operand, but got {count}")
            return
        is_real = not isinstance(element(self.operand), ComplexType)
        if is_real is not (self.fft_type is FftType.RFFT):
            wanted = "real" if self.fft_type is FftType.RFFT else "complex"
            yield self.violated(
                f"C2: {self.fft_type.value} requires {wanted} input type, but is given {self.operand.type}"
            )
            return
        result = list(shape[len(shape) - count :])
        expected = list(self.fft_length)
        if self.fft_type is FftType.IRFFT:
            expected[-1] = expected[-1] // 2 + 1
        if any(isinstance(a, int) and a != b and a for a, b in zip(result, expected, strict=True)):
            yield self.violated(
                f"C3: requires innermost dimensions match fft_length. Got: {result} but wanted {expected}"
            )

    def reference(self, operand: Value) -> Value:
        rank = len(known_dims_of(operand))
        at = [rank - len(self.fft_length) + n for n in range(len(self.fft_length))]
        match self.fft_type:
            case FftType.RFFT:
                pair = core.unsqueeze(operand, (rank,))
                found = core.dft(pair, self.fft_length[-1], at[-1] - rank - 1, False, True)
                return _joined(_transformed(found, at[:-1], inverse=False))
            case FftType.IRFFT:
                pair = _transformed(_parts(operand), at[:-1], inverse=True)
                built = core.dft(pair, self.fft_length[-1], at[-1] - rank - 1, True, True)
                return core.squeeze(built, (rank,))
            case _:
                return _joined(_transformed(_parts(operand), at, inverse=self.fft_type is FftType.IFFT))


def _parts(x: Value) -> Value:
    rank = len(known_dims_of(x))
    return core.concat((core.unsqueeze(core.real(x), (rank,)), core.unsqueeze(core.imag(x), (rank,))), rank)


def _transformed(pair: Value, axes: Sequence[int], *, inverse: bool) -> Value:
    rank = len(known_dims_of(pair))
    for at in axes:
        pair = core.dft(pair, static_dims(pair)[at], at - rank, inverse, False)
    return pair


def _joined_part(pair: Value, n: int) -> Value:
    sizes = known_dims_of(pair)
    rank = len(sizes)
    one = core.slice(pair, (*(0,) * (rank - 1), n), (*sizes[:-1], n + 1), (1,) * rank)
    return core.squeeze(one, (rank - 1,))


def _joined(pair: Value) -> Value:
    return core.make_complex(_joined_part(pair, 0), _joined_part(pair, 1))


# -- linear equations


class Cholesky(HloOp, name="stablehlo.cholesky", traits=(traits.Pure, CompatibleElements)):
    """Cholesky decomposition of symmetric positive-definite matrices. C1: the matrices are square."""

    custom_form: ClassVar[CustomForm | None] = forms.WordsForm(forms.flag("lower", "lower"), types=forms.SAME)

    a: Value = operand(Analytic)
    lower: bool | None = attribute(attr_types.flag, default=None)
    result_: Value = result(Analytic)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (self.a.type,)

    def verify(self) -> Iterator[Diagnostic]:
        yield from _check_square(self, self.a, "C1")

    def reference(self, a: Value) -> Value:
        return cholesky(a, lower=bool(self.lower))


def cholesky(a: Value, *, lower: bool) -> Value:
    """Returns the triangular factor of matrices, of which one triangle is read.

    Raises: NotationError for complex numbers.
    """
    if is_complex_value(a):
        raise NotationError("the factor of complex matrices has no meaning here")
    size = static_dims(a)[-1]
    rank = len(known_dims_of(a))
    result = _lower_factor(a if lower else swapped(a), size, rank)
    return result if lower else swapped(result)


def _check_square(op: HloOp, a: Value, label: str) -> Iterator[Diagnostic]:
    shape = shape_of(a)
    if len(shape) < 2:
        yield op.violated(f"{label}: argument 'a' must have rank >= 2, got {a.type}")
    elif isinstance(shape[-1], int) and isinstance(shape[-2], int) and shape[-1] != shape[-2]:
        yield op.violated(f"{label}: minor dimensions of 'a' must have equal size, got {shape[-2]} and {shape[-1]}")


def swapped(a: Value) -> Value:
    """The transposes of matrices of the last two axes."""
    rank = len(known_dims_of(a))
    return core.transpose(a, (*range(rank - 2), rank - 1, rank - 2))


def _lower_factor(a: Value, size: int, rank: int) -> Value:
    """The lower factor, column by column."""
    sizes = known_dims_of(a)
    columns = core.iota((size,))
    zeros = core.broadcast_to(core.splat(0.0, a), sizes)

    def step(factor: Value, at: Value) -> Sequence[Value]:
        unit = core.cast(core.equal(columns, at), kind_of(a))
        row = core.reduce_sum(core.mul(factor, core.reshape(unit, (size, 1))), (rank - 2,), True)
        column = core.reduce_sum(core.mul(a, unit), (rank - 1,))
        rest = core.sub(column, core.reduce_sum(core.mul(factor, row), (rank - 1,)))
        pivot = core.sqrt(core.reduce_sum(core.mul(rest, unit), (rank - 2,), True))
        built = core.select(core.greater_equal(columns, at), core.div(rest, pivot), core.splat(0.0, rest))
        return [core.add(factor, core.mul(core.unsqueeze(built, (rank - 1,)), unit))]

    body = core.nested([zeros.type, core.tensor_type(core.scalar(0, i64))], step)
    (result,) = core.scan((zeros,), (columns,), body)
    return result


class TriangularSolve(HloOp, name="stablehlo.triangular_solve", traits=(traits.Pure, CompatibleElements)):
    """Solves linear systems with triangular coefficient matrices. C1: the matrices are square. C2: the sizes of both
    operands agree.
    """

    assembly = ""

    a: Value = operand(FloatsOrComplexes)
    b: Value = operand(FloatsOrComplexes)
    left_side: bool = attribute(attr_types.flag)
    lower: bool = attribute(attr_types.flag)
    unit_diagonal: bool = attribute(attr_types.flag)
    transpose_a: Transposition = attribute(transposition)
    result_: Value = result(FloatsOrComplexes)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (self.b.type,)

    def verify(self) -> Iterator[Diagnostic]:
        yield from _check_square(self, self.a, "C1")
        left, right = shape_of(self.a), shape_of(self.b)
        if len(left) != len(right):
            yield self.violated(f"C2: operands must have equal rank, but got {self.a.type} and {self.b.type}")
            return
        batches = [TensorType(boolean, sizes[:-2]) for sizes in (left, right)]
        if not are_compatible_shapes(batches[0], batches[1]):
            message = "C2: batch dimensions of the operands must be compatible, but got"
            yield self.violated(f"{message} {self.a.type} and {self.b.type}")
        shared = right[-2 if self.left_side else -1] if len(right) > 1 else None
        if isinstance(shared, int) and isinstance(left[-1], int) and shared != left[-1]:
            yield self.violated(f"C2: shared dimension of operands 'a' and 'b' does not match, {left[-1]} and {shared}")
        if self.transpose_a is Transposition.TRANSPOSE_INVALID:
            yield self.violated("C2: invalid transpose option value for triangular solve")

    def reference(self, a: Value, b: Value) -> Value:
        is_transposed = self.transpose_a in (Transposition.TRANSPOSE, Transposition.ADJOINT)
        matrix = swapped(a) if is_transposed else a
        return triangular_solution(
            matrix, b, left=self.left_side, lower=self.lower is not is_transposed, unit=self.unit_diagonal
        )


def triangular_solution(a: Value, b: Value, *, left: bool, lower: bool, unit: bool) -> Value:
    """Returns x of a x = b, or of x a = b, for triangular matrices.

    Raises: NotationError for complex numbers.
    """
    if is_complex_value(a):
        raise NotationError("equations of complex numbers have no meaning here")
    if left:
        return _solved(a, b, lower=lower, unit=unit)
    return swapped(_solved(swapped(a), swapped(b), lower=not lower, unit=unit))


def _solved(a: Value, b: Value, *, lower: bool, unit: bool) -> Value:
    """The solution, row by row; what lies on the other side of the diagonal is not read."""
    sizes, rank, size = known_dims_of(b), len(known_dims_of(b)), static_dims(a)[-1]
    columns = core.iota((size,))
    zeros = core.broadcast_to(core.splat(0.0, b), sizes)

    def step(estimate: Value, at: Value) -> Sequence[Value]:
        unit_row = core.cast(core.equal(columns, at), kind_of(a))
        upright = core.reshape(unit_row, (size, 1))
        row = core.reduce_sum(
            core.select(core.equal(core.reshape(columns, (size, 1)), at), a, core.splat(0.0, a)), (rank - 2,), True
        )
        is_known = core.less(columns, at) if lower else core.greater(columns, at)
        known = core.select(is_known, row, core.splat(0.0, row))
        rest = core.reduce_sum(core.mul(b, upright), (rank - 2,), True)
        rest = core.sub(rest, core.matmul(known, estimate))
        if not unit:
            rest = core.div(rest, core.reduce_sum(core.mul(row, unit_row), (rank - 1,), True))
        return [core.add(estimate, core.mul(rest, upright))]

    body = core.nested([zeros.type, core.tensor_type(core.scalar(0, i64))], step)
    (result,) = core.scan((zeros,), (columns,), body, reverse=not lower)
    return result
