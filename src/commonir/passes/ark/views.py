"""Tensors and buffers of an ARK program as its views show them.

Source: ARK model files, memory model.
"""

from __future__ import annotations

from collections.abc import Iterable

from commonir.dialects import ark
from commonir.dialects.ark.views import View
from commonir.ir.operation import Value


def view_of(value: Value) -> View:
    """The part of a buffer that a tensor is. Raises: TypeError for a value that is not a tensor of a file."""
    content = ark.view_of(value)
    if content is None:
        raise TypeError(f"expected a tensor of a buffer, found {value.type}")
    return content.view


def buffer_bytes(views: Iterable[View]) -> dict[int, int]:
    """The bytes of each buffer of which there are views, by number: as many as the largest array in it takes."""
    sizes: dict[int, int] = {}
    for view in views:
        sizes[view.buffer] = max(sizes.get(view.buffer, 0), view.array_bytes)
    return sizes
