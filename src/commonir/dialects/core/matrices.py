"""Core operations on matrices as such: determinants, and probabilities of classes from those of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.dialects.core.base import FLOATS, CoreOp, as_tensor, function, tensor_type
from commonir.ir.operation import Value
from commonir.ir.types import Type, f32, f64
from commonir.notation import require
from commonir.ods import attr_types, attribute, constraint, element_type, operand, positive, result, traits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]


class Det(CoreOp, name="core.det", traits=(traits.Pure,)):
    """The determinant of the square matrices of the last two axes; computed in at least single precision."""

    x: Value = operand("T[b*, n, n]")
    y: Value = result("T[b*]")
    T = FLOATS

    def infer(self) -> tuple[Type, ...]:
        type = tensor_type(self.x)
        return (type.with_shape(None if type.shape is None else type.shape[:-2]),)

    def reference(self, x: Array) -> Array:
        import numpy as np  # noqa: PLC0415  loads numpy

        from commonir.base.arrays import dtype_of  # noqa: PLC0415  loads numpy

        element = dtype_of(as_tensor(self.y.type).element.name)
        wide = x.astype(np.promote_types(x.dtype, np.float32) if x.dtype.kind == "f" else np.float32)
        return np.asarray(np.linalg.det(wide)).astype(element)


class PairwiseCoupling(CoreOp, name="core.pairwise_coupling", traits=(traits.Pure,)):
    """Class probabilities that agree best with the pairwise probabilities of each class against each later one, in
    order.

    x has one column for each pair of classes: the probability of the earlier one, above 0 and below 1. The result is
    that of the second method of Wu, Lin and Weng (2004), iterated until the error of each class is below 0.005 over
    their number.
    """

    x: Value = operand("T[n, p]")
    classes: int = attribute(attr_types.integer, check=positive)
    y: Value = result("T[n, c]")
    T = element_type(f32, f64)

    @constraint("C1")
    def columns_are_pairs(self) -> object:
        """There are as many columns as pairs of classes."""
        shape = tensor_type(self.x).shape
        columns = None if shape is None else shape[1]
        return columns is None or require(columns, "==", self.classes * (self.classes - 1) // 2, "number of columns")

    def infer(self) -> tuple[Type, ...]:
        shape = tensor_type(self.x).shape
        return (tensor_type(self.x).with_shape((None if shape is None else shape[0], self.classes)),)

    def reference(self, x: Array) -> Array:
        from commonir.dialects.core.coupling import coupled  # noqa: PLC0415  loads numpy

        return coupled(x, self.classes)


det = function(Det)
pairwise_coupling = function(PairwiseCoupling)
