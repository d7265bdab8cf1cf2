"""Core operations on matrices as such: determinants, and probabilities of classes from those of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.dialects.core.base import FLOATS, CoreOp, as_tensor, function, function_of_several, tensor_type
from commonir.ir.operation import Value
from commonir.ir.types import Type, f32, f64
from commonir.notation import require
from commonir.ods import attr_types, attribute, constraint, element_type, operand, positive, result, traits
from commonir.symbolic import smallest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]
    Floats = NDArray[np.float32 | np.float64]


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


class Eigh(CoreOp, name="core.eigh", traits=(traits.Pure,)):
    """Eigenvalues in ascending order, and eigenvectors as columns, of symmetric matrices; NaN where they are not found.

    Of a matrix one triangle is read. Vectors have length 1; their signs, and the vectors of equal values, are those of
    the library that computes them.
    """

    x: Value = operand("T[b*, n, n]")
    lower: bool = attribute(attr_types.flag, default=True)
    w: Value = result("T[b*, n]")
    v: Value = result("T[b*, n, n]")
    T = element_type(f32, f64)

    def infer(self) -> tuple[Type, ...]:
        type = tensor_type(self.x)
        return type.with_shape(None if type.shape is None else type.shape[:-1]), type

    def reference(self, x: Floats) -> tuple[Array, Array]:
        import numpy as np  # noqa: PLC0415  loads numpy

        try:
            values, vectors = np.linalg.eigh(x, "L" if self.lower else "U")
        except np.linalg.LinAlgError:
            return np.full(x.shape[:-1], np.nan, x.dtype), np.full(x.shape, np.nan, x.dtype)
        return values, vectors


class Svd(CoreOp, name="core.svd", traits=(traits.Pure,)):
    """Singular values in descending order, and the bases u, as columns, and vh, as rows: x is u diag(s) vh; NaN where
    they are not found.

    With `full` both bases are square. Vectors have length 1; their signs are those of the library that computes them.
    """

    x: Value = operand("T[b*, m, n]")
    full: bool = attribute(attr_types.flag, default=False)
    u: Value = result("T[b*, m, p]")
    s: Value = result("T[b*, k]")
    vh: Value = result("T[b*, q, n]")
    T = element_type(f32, f64)

    def infer(self) -> tuple[Type, ...]:
        type = tensor_type(self.x)
        if type.shape is None:
            return type, type, type
        *batch, m, n = type.shape
        k = smallest(m, n) if m is not None and n is not None else None
        shapes = ((m, m if self.full else k), (k,), (n if self.full else k, n))
        return tuple([type.with_shape((*batch, *shape)) for shape in shapes])

    def reference(self, x: Floats) -> tuple[Array, Array, Array]:
        import numpy as np  # noqa: PLC0415  loads numpy

        try:
            u, s, vh = np.linalg.svd(x, self.full)
        except np.linalg.LinAlgError:
            *batch, m, n = x.shape
            k = min(m, n)
            shapes = ((m, m if self.full else k), (k,), (n if self.full else k, n))
            u, s, vh = [np.full((*batch, *shape), np.nan, x.dtype) for shape in shapes]
        return u, s, vh


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
eigh = function_of_several(Eigh)
svd = function_of_several(Svd)
pairwise_coupling = function(PairwiseCoupling)
