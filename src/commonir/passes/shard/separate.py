"""Splits products whose result is cut into pieces of different sizes, such as queries and fewer keys and values.

A sharding of an axis has blocks of one size. Pieces of different sizes become products of their own, on parts of the
weights; the results are the same.
"""

from __future__ import annotations

from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.ir.data import ArrayData, Data, DeferredData
from commonir.ir.module import Function
from commonir.ir.operation import Operation, Value
from commonir.ir.types import TensorType
from commonir.ods import operations_behind
from commonir.symbolic import Dim


class _Piece(NamedTuple):
    """A result that is a range of the last axis of a value."""

    result: Value
    start: int
    size: int


def separate_products(function: Function) -> int:
    """Splits products of a function, in place; returns their number."""
    count = 0
    for op in list(function.body.operations):
        for value in op.results:
            pieces = _pieces(value)
            if pieces is None or len({p.size for p in pieces}) == 1 or value in function.outputs:
                continue
            chain = _chain(value)
            if chain is not None:
                count += 1
                for piece in pieces:
                    _replace(chain, piece)
    return count


def _pieces(value: Value) -> list[_Piece] | None:
    """Returns the pieces of a value, if all users take ranges of the last axis; None otherwise."""
    shape = _shape(value)
    results: list[_Piece] = []
    for user in value.users:
        match user:
            case core.Split(axis=axis, sizes=sizes) if axis % len(shape) == len(shape) - 1:
                start = 0
                for size, result in zip(sizes, user.results, strict=True):
                    if not isinstance(size, int):
                        return None
                    results.append(_Piece(result, start, size))
                    start += size
            case core.Slice(starts=starts, y=y):
                length, first, axis_length = _shape(y)[-1], starts[-1], shape[-1]
                fits = _shape(y)[:-1] == shape[:-1] and all(step == 1 for step in user.steps)
                if not (fits and isinstance(length, int) and isinstance(first, int) and isinstance(axis_length, int)):
                    return None
                results.append(_Piece(y, first + axis_length if first < 0 else first, length))
            case _:
                return None
    return results or None


def _chain(value: Value) -> list[Operation] | None:
    """Returns the operations from a product with a constant to a value, last first; all preserve the last axis."""
    chain: list[Operation] = []
    current = value
    while True:
        op = current.owner
        if not isinstance(op, Operation) or (chain and current.use_count != 1):
            return None
        chain.append(op)
        match op:
            case core.Reshape(x=x) if _shape(x)[-1:] == _shape(current)[-1:] and isinstance(_shape(current)[-1], int):
                current = x
            case core.Add(a=a, b=b) if _is_vector(b, current):
                current = a
            case core.MatMul(b=b) if _constant(b) is not None and len(_shape(b)) == 2:
                return chain
            case core.Linear(weight=weight, bias=bias) if _constant(weight) is not None:
                return chain if bias is None or _constant(bias) is not None else None
            case _:
                return None


def _replace(chain: list[Operation], piece: _Piece) -> None:
    """Computes a piece by a copy of the operations on a part of the weights."""
    current: Value | None = None
    for op in reversed(chain):
        match op:
            case core.MatMul(a=a, b=b, transpose_a=transpose_a, transpose_b=transpose_b):
                current = core.matmul(a, _range(b, 0 if transpose_b else 1, piece), transpose_a, transpose_b)
            case core.Linear(x=x, weight=weight, bias=bias):
                current = core.linear(x, _range(weight, 0, piece), None if bias is None else _range(bias, 0, piece))
            case core.Add(b=b) if current is not None:
                current = core.add(current, _range(b, len(_shape(b)) - 1, piece))
            case core.Reshape(y=y) if current is not None:
                current = core.reshape(current, (*_shape(y)[:-1], piece.size))
            case _:
                raise AssertionError(op.name)
    assert current is not None
    last = chain[0]
    block = last.parent
    assert block is not None
    for built in operations_behind((current,)):
        built.location = last.location
        block.insert_before(last, built)
    current.name = piece.result.name
    piece.result.replace_all_uses_with(current)


def _range(value: Value, axis: int, piece: _Piece) -> Value:
    """Returns a range of an axis of a constant, as a constant."""
    data = _constant(value)
    assert data is not None
    shape = list(data.shape)
    shape[axis] = piece.size
    type = TensorType(data.element, tuple(shape))
    cut = (slice(None),) * axis + (slice(piece.start, piece.start + piece.size),)
    result = core.constant(DeferredData(type, lambda: ArrayData(type, data.array()[cut].copy())))
    result.name = value.name
    return result


def _constant(value: Value) -> Data | None:
    owner = value.owner
    return owner.constant_data() if isinstance(owner, core.Constant) else None


def _is_vector(value: Value, like: Value) -> bool:
    """Returns whether a value is a constant with only the last axis of another one."""
    shape = _shape(value)
    return _constant(value) is not None and shape[-1:] == _shape(like)[-1:] and all(n == 1 for n in shape[:-1])


def _shape(value: Value) -> tuple[Dim, ...]:
    shape = value.type.shape if isinstance(value.type, TensorType) else None
    return tuple([d for d in shape or () if d is not None])
