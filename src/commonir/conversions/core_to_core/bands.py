"""The positions that a band of a matrix keeps, as a constant: for targets without an operation that tests them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.conversions.operands import require_computable
from commonir.dialects import core
from commonir.ir.data import computed_data
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, boolean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def band(op: core.BandPart, rows: int, columns: int) -> Value:
    """Returns which elements of a matrix are in the band of an operation.

    Raises: DiagnosticError (E0601) for a matrix that is too large for a constant.
    """
    require_computable(rows * columns)

    def inside() -> NDArray[np.generic]:
        import numpy as np  # noqa: PLC0415  only where contents are asked for

        below = np.subtract.outer(np.arange(rows), np.arange(columns))
        return ((op.lower < 0) | (below <= op.lower)) & ((op.upper < 0) | (-below <= op.upper))

    return core.constant(computed_data(TensorType(boolean, (rows, columns)), inside))
