"""Core operations on matrices as such."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.dialects.core.base import FLOATS, CoreOp, as_tensor, function, tensor_type
from commonir.ir.operation import Value
from commonir.ir.types import Type
from commonir.ods import operand, result, traits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]


class Det(CoreOp, name="core.det", traits=(traits.Pure,)):
    """The determinant of the square matrices of the last two axes; computed in at least single precision."""

    __slots__ = ()

    x: Value = operand("T[b*, n, n]")
    y: Value = result("T[b*]")
    T = FLOATS

    def infer(self) -> tuple[Type, ...]:
        kind = tensor_type(self.x)
        return (kind.with_shape(None if kind.shape is None else kind.shape[:-2]),)

    def reference(self, x: Array) -> Array:
        import numpy as np  # noqa: PLC0415  loads numpy

        from commonir.base.arrays import dtype_of  # noqa: PLC0415  loads numpy

        element = dtype_of(as_tensor(self.y.type).element.name)
        wide = x.astype(np.promote_types(x.dtype, np.float32) if x.dtype.kind == "f" else np.float32)
        return np.asarray(np.linalg.det(wide)).astype(element)


det = function(Det)
