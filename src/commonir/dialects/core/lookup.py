"""Core operations on tables of keys with values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonir.dialects.core.base import ANYTHING, CoreOp, function
from commonir.ir.operation import Value
from commonir.ir.types import string
from commonir.ods import element_type, operand, result, traits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]

KEYS = ANYTHING | element_type(string)


class Lookup(CoreOp, name="core.lookup", traits=(traits.Pure,)):
    """Looks up each element as a key of a table; keys that are missing give `otherwise`.

    Of equal keys the last one counts. NaN is a key like others.
    """

    x: Value = operand("K[s*]")
    keys: Value = operand("K[n]")
    values: Value = operand("V[n]")
    otherwise: Value = operand("V[]")
    y: Value = result("V[s*]")
    K = KEYS
    V = KEYS

    def reference(self, x: Array, keys: Array, values: Array, otherwise: Array) -> Array:
        import numpy as np  # noqa: PLC0415  loads numpy

        if x.dtype.kind == "O":
            table: dict[Any, Any] = dict(zip(keys.tolist(), values.tolist(), strict=True))
            missing = otherwise.item()
            found = [table.get(k, missing) for k in x.reshape(-1).tolist()]
            out = np.empty(len(found), values.dtype)
            out[:] = found
            return out.reshape(x.shape)
        if not keys.size:
            return np.full(x.shape, otherwise.item(), values.dtype)
        # A stable order of the reversed keys puts the last of equal ones first.
        order = keys.size - 1 - np.argsort(keys[::-1], kind="stable")
        ordered = keys[order]
        at = np.minimum(np.searchsorted(ordered, x.astype(keys.dtype)), keys.size - 1)
        hit = ordered[at] == x
        if x.dtype.kind == "f":
            hit |= np.isnan(ordered[at]) & np.isnan(x)
        return np.where(hit, values[order[at]], otherwise)


lookup = function(Lookup)
