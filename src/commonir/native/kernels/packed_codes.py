"""Constants of less than a byte that loops without folds read: several in a byte, as they are stored.

Contractions have panels of their own (`stored_factors.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.ir.types import u8
from commonir.notation import Access, Apply, Cast, Expr, Kernel, Tensor, lift, replace_accesses
from commonir.runtime.kernel_graph.graph import KernelGraph
from commonir.symbolic import floor_div, modulo

Array = NDArray[Any]

LEAST_BYTES = 1 << 16
"""Smaller constants stay as bytes."""

_PACKED_BITS = (1, 2, 4)


def pack_codes(graph: KernelGraph) -> None:
    """Replaces reads of constants in loops by shifts of bytes that hold several codes each."""
    for name, array in list(graph.constants.items()):
        users = [node for user in graph.users(name) if not (node := graph.nodes[user]).has_folds and not node.strips]
        reads = [a for node in users for a in node.accesses if a.tensor.name == name]
        if not reads or array.nbytes < LEAST_BYTES or name in graph.outputs:
            continue
        element = reads[0].dtype
        if not element.is_integer or element.bits not in _PACKED_BITS:
            continue
        count = 8 // element.bits
        if array.shape[-1] % count or any(a.tensor.steps or isinstance(a.at[-1], Expr) for a in reads):
            continue
        shape = (*array.shape[:-1], array.shape[-1] // count)
        graph.constants[f"{name} in bytes"] = _packed(array, element.bits)
        tensor = Tensor(f"{name} in bytes", shape, u8)

        def shifted(a: Access, name: str = name, tensor: Tensor = tensor, count: int = count) -> Expr:
            *outer, last = a.at
            if a.tensor.name != name or isinstance(last, Expr):
                return a
            byte = Access(tensor, [*outer, floor_div(last, count)])
            shift = lift(modulo(last, count) * a.dtype.bits, u8)
            return Cast(Apply("shift_right", (byte, shift)), a.dtype)

        for node in users:
            graph.replace_kernel(
                node, Kernel(node.kernel.axes, replace_accesses(node.kernel.body, shifted)), node.extents
            )


def _packed(array: Array, bits: int) -> Array:
    """Returns codes of the last axis in bytes, the first one in the lowest bits."""
    count = 8 // bits
    codes = array.view(np.uint8).reshape(*array.shape[:-1], -1, count) & ((1 << bits) - 1)
    out = np.zeros(codes.shape[:-1], np.uint8)
    for n in range(count):
        out |= codes[..., n] << (n * bits)
    return out
