"""The views of tensors and buffers of an ARK program.

Source: ARK model files, memory model.
"""

from __future__ import annotations

from collections.abc import Iterable

from commonir.dialects import ark
from commonir.dialects.ark.views import View
from commonir.ir.operation import Value


def view_of(value: Value) -> View:
    """Returns the view of a buffer that a tensor is. Raises: TypeError for a value that is not a tensor of a file."""
    content = ark.view_of(value)
    if content is None:
        raise TypeError(f"expected a tensor of a buffer, found {value.type}")
    return content.view


def buffer_bytes(views: Iterable[View]) -> dict[int, int]:
    """Returns the bytes of each buffer by number: those of its largest view."""
    sizes_bytes: dict[int, int] = {}
    for view in views:
        sizes_bytes[view.buffer] = max(sizes_bytes.get(view.buffer, 0), view.array_bytes)
    return sizes_bytes
