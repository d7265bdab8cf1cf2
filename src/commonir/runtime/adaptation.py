"""Inputs of a program for one that was made from it, and outputs back.

A conversion may give inputs and outputs other names, and inputs other element types.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.ir.module import Function
from commonir.ir.types import TensorType

Array = NDArray[Any]


def adapted_inputs(before: Function, after: Function, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Returns arrays for the inputs of a converted function: by name, or by position where a name is new.

    A scalar gets the axis that a format without scalars gave the input.
    """
    names = {v.name for v in after.inputs}
    new = [v.name for v in after.inputs if v.name not in inputs]
    old = [v.name for v in before.inputs if v.name not in names and v.name in inputs]
    source = {**{name: name for name in inputs}, **dict(zip(new, old, strict=False))}
    out: dict[str, Array] = {}
    for v in after.inputs:
        array = inputs.get(source.get(v.name, v.name))
        if array is None:
            continue
        kind = v.type
        if not isinstance(kind, TensorType):
            out[v.name] = array
            continue
        expected = dtype_of(kind.element.name)
        given = array if array.dtype == expected else np.asarray(array).astype(expected)
        out[v.name] = given.reshape(1) if kind.shape == (1,) and not given.shape else given
    return out


def renamed_outputs(before: Function, outputs: Mapping[str, Array]) -> dict[str, Array]:
    """Outputs of a converted function under the names of the one before, and in its element types.

    Lists, maps and absent values are left as they are.
    """
    kinds = dict(zip(before.output_names, [v.type for v in before.outputs], strict=True))
    new = [name for name in outputs if name not in kinds]
    old = [name for name in kinds if name not in outputs]
    names = {**{name: name for name in outputs}, **dict(zip(new, old, strict=False))}
    out: dict[str, Array] = {}
    for name, array in outputs.items():
        mine = names[name]
        kind = kinds.get(mine)
        expected = dtype_of(kind.element.name) if isinstance(kind, TensorType) else None
        out[mine] = array if expected is None or array.dtype == expected else array.astype(expected)
    return out
