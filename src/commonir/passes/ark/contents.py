"""Propagates known contents of buffers to other tensors of the same memory."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.dialects import ark
from commonir.dialects.ark.views import View, contains, overlap
from commonir.ir.data import ArrayData, Data, DeferredData
from commonir.ir.types import TensorType

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def propagate_contents(before: ark.Rank, after: ark.Rank) -> None:
    """Copies known initial contents of buffers to tensors of another form of the rank that are read from the same
    memory.

    Raises: DiagnosticError (E0601) for a tensor of which only a part has known contents.
    """
    contents: dict[int, list[tuple[View, Data]]] = {}
    for holder in _holders(before):
        if holder.content is not None:
            contents.setdefault(holder.buffer, []).append((holder.view, holder.content))
    if not contents:
        return
    for holder in [h for h in _holders(after) if h.content is None and h.buffer in contents]:
        overlapping = [(view, content) for view, content in contents[holder.buffer] if overlap(view, holder.view)]
        if not overlapping:
            continue
        containing = [(view, content) for view, content in overlapping if contains(view, holder.view)]
        if not containing:
            message = f"'{ark.port_name(holder.result_)}' lies across contents of others, and is not a part of one"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, where=before.sym_name))
        _fill(holder, *containing[0])


def _holders(rank: ark.Rank) -> Iterator[ark.Tensor | ark.VirtualOp]:
    for value in rank.initial:
        if isinstance(value.owner, ark.Tensor | ark.VirtualOp):
            yield value.owner


def _fill(holder: ark.Tensor | ark.VirtualOp, view: View, content: Data) -> None:
    type, block = holder.result_.type, holder.parent
    assert isinstance(type, TensorType)
    assert block is not None
    expected = holder.view
    built = holder.with_attributes(
        content=DeferredData(type, lambda: ArrayData(type, _part(content.array(), view, expected)))
    )
    block.insert_before(holder, built)
    built.location = holder.location
    built.results[0].name = holder.result_.name
    holder.result_.replace_all_uses_with(built.results[0])
    holder.erase()


def _part(array: NDArray[np.generic], view: View, expected: View) -> NDArray[np.generic]:
    """Returns the elements of one view of a buffer from an array that is the content of another view."""
    import numpy as np  # noqa: PLC0415  only where contents are asked for

    from commonir.base.arrays import dtype_of  # noqa: PLC0415  loads numpy

    if not view.is_whole:
        around = np.zeros(view.strides, array.dtype)
        around[_slices(view)] = array
        array = around
    content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    dtype = dtype_of(expected.element.name)
    size_bytes = prod(expected.strides) * dtype.itemsize
    # The array around what is wanted may be larger than what is known, but not what is wanted.
    if content.size < size_bytes:
        content = np.concatenate([content, np.zeros(size_bytes - content.size, np.uint8)])
    return content[:size_bytes].view(dtype).reshape(expected.strides)[_slices(expected)]


def _slices(view: View) -> tuple[slice, ...]:
    return tuple([slice(o, o + n) for o, n in zip(view.offsets, view.shape, strict=True)])
