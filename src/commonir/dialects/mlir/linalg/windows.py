"""Base classes of operations that move windows along axes, with strides and dilations.

Source: MLIR linalg dialect, named operations (OpDSL).
"""

from __future__ import annotations

from collections.abc import Iterator

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.mlir.linalg.bodies import (
    add_to,
    max_with,
    max_with_unsigned,
    min_with,
    min_with_unsigned,
    multiply_add,
    shifted_multiply_add,
)
from commonir.dialects.mlir.linalg.named import NamedOp
from commonir.ir.affine import AffineMap
from commonir.ir.attributes import Attribute, DataAttr
from commonir.ir.data import data_of
from commonir.ir.types import VectorType, i64
from commonir.ods import attr_types, attribute


class _OfVector(tuple[int, ...]):
    """Steps that a text gives as a vector, as torch-mlir does, and not as a tensor."""

    __slots__ = ()


def _numbers(attr: Attribute) -> tuple[int, ...]:
    if not isinstance(attr, DataAttr) or attr.data.element is not i64 or len(attr.data.shape) != 1:
        raise ValueError(f"expected 64-bit signless int elements of one axis, found {attr!r}")
    numbers = tuple([int(v) for v in attr.data.values() if not isinstance(v, str)])
    return _OfVector(numbers) if isinstance(attr.type, VectorType) else numbers


def _attribute(numbers: tuple[int, ...]) -> Attribute:
    count = len(numbers)
    return DataAttr(
        data_of(i64, (count,), numbers), VectorType(i64, (count,)) if isinstance(numbers, _OfVector) else None
    )


steps = attr_types.AttrType[tuple[int, ...]](
    "steps", attr_types.sequence_of(attr_types.to_integer, "integers"), _attribute, _numbers
)
"""Strides or dilations: `dense<2> : tensor<2xi64>`, or a vector."""


class PlainWindowOp(NamedOp):
    """Base of convolutions without strides and dilations."""

    scalars = staticmethod(multiply_add)


class WindowOp(NamedOp):
    """Base of operations with strides and dilations, of which there is one for each axis; none stand for ones. C1:
    there are as many as axes.
    """

    strides: tuple[int, ...] | None = attribute(steps, default=None)
    dilations: tuple[int, ...] | None = attribute(steps, default=None)

    def indexing(self) -> tuple[AffineMap, ...]:
        formula = self.formula
        assert formula is not None
        ones = (1,) * formula.windows
        strides, dilations = self.strides or ones, self.dilations or ones
        fit = len(strides) == len(dilations) == formula.windows
        return formula.maps(strides, dilations) if fit else formula.maps(ones, ones)

    def verify(self) -> Iterator[Diagnostic]:
        windows = 0 if self.formula is None else self.formula.windows
        for what, given in (("strides", self.strides), ("dilations", self.dilations)):
            if given is not None and len(given) != windows:
                message = f"attribute '{what}' failed to satisfy constraint: 64-bit signless int elements attribute"
                yield self.violated(f"{message} of shape [{windows}]")
                return
        yield from super().verify()


class ConvolutionOp(WindowOp):
    """Base of convolutions: inputs are converted to the type of the result, multiplied and added to what is there."""

    scalars = staticmethod(multiply_add)


class QuantizedConvolutionOp(WindowOp):
    """Base of convolutions of quantized tensors."""

    scalars = staticmethod(shifted_multiply_add)


class SumPoolingOp(WindowOp):
    """Base of sums of windows. The second operand determines the shape of the window; its elements do not matter."""

    scalars = staticmethod(add_to)


class MaxPoolingOp(WindowOp):
    """Base of largest elements of windows. The second operand determines the shape of the window."""

    scalars = staticmethod(max_with)


class MinPoolingOp(WindowOp):
    """Base of smallest elements of windows. The second operand determines the shape of the window."""

    scalars = staticmethod(min_with)


class MaxUnsignedPoolingOp(WindowOp):
    """Base of largest elements of windows as integers without sign."""

    scalars = staticmethod(max_with_unsigned)


class MinUnsignedPoolingOp(WindowOp):
    """Base of smallest elements of windows as integers without sign."""

    scalars = staticmethod(min_with_unsigned)
