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


def hand_on_contents(before: ark.Rank, after: ark.Rank) -> None:
    """Gives what tensors of a rank hold at first to those that are read of the same memory in the rank that is made of
    it, where the tensors themselves are gone.

    Raises: DiagnosticError (E0601) for a tensor of which only a part has known contents.
    """
    known: dict[int, list[tuple[View, Data]]] = {}
    for holder in _holders(before):
        if holder.content is not None:
            known.setdefault(holder.buffer, []).append((holder.view, holder.content))
    if not known:
        return
    for holder in [h for h in _holders(after) if h.content is None and h.buffer in known]:
        arguments = [(view, content) for view, content in known[holder.buffer] if overlap(view, holder.view)]
        if not arguments:
            continue
        whole = [(view, content) for view, content in arguments if contains(view, holder.view)]
        if not whole:
            message = f"'{ark.port_name(holder.result_)}' lies across contents of others, and is not a part of one"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, where=before.sym_name))
        _fill(holder, *whole[0])


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
    """The elements of a view of a buffer in which an array lies as another view."""
    import numpy as np  # noqa: PLC0415  only where contents are asked for

    from commonir.base.arrays import dtype_of  # noqa: PLC0415  loads numpy

    if not view.is_whole:
        around = np.zeros(view.strides, array.dtype)
        around[_place(view)] = array
        array = around
    content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    dtype = dtype_of(expected.element.name)
    size_bytes = prod(expected.strides) * dtype.itemsize
    # The array around what is wanted may be larger than what is known, but not what is wanted.
    if content.size < size_bytes:
        content = np.concatenate([content, np.zeros(size_bytes - content.size, np.uint8)])
    return content[:size_bytes].view(dtype).reshape(expected.strides)[_place(expected)]


def _place(view: View) -> tuple[slice, ...]:
    return tuple([slice(o, o + n) for o, n in zip(view.offsets, view.shape, strict=True)])
