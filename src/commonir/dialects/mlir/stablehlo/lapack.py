"""Custom calls of LAPACK, as jaxlib writes them for CPUs: matrices of the last two axes, factored or solved.

LU and QR are loops over columns, as LAPACK's unblocked functions, so that pivots and signs are theirs. What else LAPACK
returns is as far as the meaning says: overwritten operands are not. Operands after the matrices are shapes of results,
for batches of symbolic size.
Sources: LAPACK, users' guide (potrf, trsm, getrf, geqrf, orgqr, syevd, gesdd); jaxlib's names and attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.stablehlo import contraction
from commonir.dialects.mlir.stablehlo.base import kind_of
from commonir.dialects.mlir.stablehlo.foreign_calls import result_shape, settings_of
from commonir.ir.operation import Value
from commonir.ir.types import i32, i64
from commonir.notation import NotationError
from commonir.ods.operand_shapes import known_dims_of, static_dims

if TYPE_CHECKING:
    from commonir.dialects.mlir.stablehlo.control import CustomCall

Results = tuple[Value, ...]
_UPPER, _TRANSPOSED, _UNIT, _LEFT = ord("U"), ord("T"), ord("U"), ord("L")
_WITH_VECTORS, _ALL, _SOME, _NONE = ord("V"), ord("A"), ord("S"), ord("N")
"""Letters of LAPACK, which jaxlib writes as numbers."""


def _cholesky(op: CustomCall, inputs: tuple[Value, ...]) -> Results:
    """`potrf`; its second result is 0 where a matrix is positive definite."""
    a = inputs[0]
    is_lower = settings_of(op).get("uplo", _UPPER) != _UPPER
    factor = contraction.cholesky(a, lower=is_lower)
    return factor, _failure(factor)


def _triangular_solution(op: CustomCall, inputs: tuple[Value, ...]) -> Results:
    """`trsm`."""
    settings = settings_of(op)
    a, b = inputs[:2]
    is_transposed = settings.get("trans_x") == _TRANSPOSED
    lower = (settings.get("uplo") != _UPPER) is not is_transposed
    is_left, is_unit = settings.get("side", _LEFT) == _LEFT, settings.get("diag") == _UNIT
    matrix = contraction.swapped(a) if is_transposed else a
    return (contraction.triangular_solution(matrix, b, left=is_left, lower=lower, unit=is_unit),)


def _failure(x: Value) -> Value:
    """Returns a number that is not 0 where a matrix has a NaN."""
    rank = len(known_dims_of(x))
    return core.reduce_max(core.cast(core.is_nan(x), i32), (rank - 2, rank - 1))


class _Matrices:
    """Picks rows and columns of matrices by their numbers."""

    def __init__(self, a: Value) -> None:
        self.sizes = known_dims_of(a)
        self.rank = len(self.sizes)
        self.height, self.width = static_dims(core.tensor_type(a).with_shape(self.sizes[-2:]))
        self.rows = core.reshape(core.iota((self.height,)), (self.height, 1))
        self.columns = core.iota((self.width,))
        self.steps = core.iota((min(self.height, self.width),))

    def row(self, a: Value, at: Value) -> Value:
        """Returns the row of a number, [.., 1, width]."""
        return core.reduce_sum(_where(core.equal(self.rows, at), a), (self.rank - 2,), True)

    def column(self, a: Value, at: Value) -> Value:
        """Returns the column of a number, [.., height, 1]."""
        return core.reduce_sum(_where(core.equal(self.columns, at), a), (self.rank - 1,), True)

    def entry(self, column: Value, at: Value) -> Value:
        """Returns the element of a column, [.., 1, 1]."""
        return core.reduce_sum(_where(core.equal(self.rows, at), column), (self.rank - 2,), True)


def _where(condition: Value, x: Value) -> Value:
    """Returns x where a condition holds, else 0."""
    return core.select(condition, x, core.splat(0, x))


def _lu(op: CustomCall, inputs: tuple[Value, ...]) -> Results:
    """`getrf`: both factors in one matrix, the rows that were exchanged, from 1 on, and the number of the first pivot
    that is 0.
    """
    del op
    a = inputs[0]
    m = _Matrices(a)
    batch = m.sizes[:-2]
    count = min(m.height, m.width)
    zero = core.scalar(0, i32)
    initial = (a, core.broadcast_to(zero, (*batch, count)), core.broadcast_to(zero, batch))

    def step(x: Value, pivots: Value, info: Value, at: Value) -> Sequence[Value]:
        column = m.column(x, at)
        magnitude = core.select(core.greater_equal(m.rows, at), core.abs(column), core.splat(-1, column))
        chosen = core.arg_max(magnitude, m.rank - 2, True)
        first, second = m.row(x, at), m.row(x, chosen)
        x = core.select(core.equal(m.rows, chosen), first, x)
        x = core.select(core.equal(m.rows, at), second, x)
        column = m.column(x, at)
        pivot = m.entry(column, at)
        is_zero = core.equal(pivot, core.splat(0, pivot))
        factors = core.div(column, core.select(is_zero, core.splat(1, pivot), pivot))
        below = core.greater(m.rows, at)
        x = core.select(core.logical_and(below, core.equal(m.columns, at)), factors, x)
        rest = core.sub(x, core.mul(factors, m.row(x, at)))
        x = core.select(core.logical_and(below, core.greater(m.columns, at)), rest, x)
        number = core.cast(core.add(core.reshape(chosen, (*batch, 1)), core.scalar(1, i64)), i32)
        pivots = core.select(core.equal(m.steps, at), number, pivots)
        fails = core.logical_and(core.reshape(is_zero, batch), core.equal(info, zero))
        return [x, pivots, core.select(fails, core.cast(core.add(at, core.scalar(1, i64)), i32), info)]

    body = core.nested([*[v.type for v in initial], core.tensor_type(core.scalar(0, i64))], step)
    return core.scan(initial, (m.steps,), body)


def _qr(op: CustomCall, inputs: tuple[Value, ...]) -> Results:
    """`geqrf`: R above the diagonal, the reflectors below it without their ones, and the factors of these."""
    del op
    a = inputs[0]
    m = _Matrices(a)
    initial = (a, core.broadcast_to(core.scalar(0.0, kind_of(a)), (*m.sizes[:-2], min(m.height, m.width))))

    def step(x: Value, factors: Value, at: Value) -> Sequence[Value]:
        column = m.column(x, at)
        alpha = m.entry(column, at)
        below = _where(core.greater(m.rows, at), column)
        # As the norm of LAPACK, that of large or small numbers is computed in parts of the largest one.
        largest = core.reduce_max(core.abs(below), (m.rank - 2,), True)
        is_reflected = core.greater(largest, core.splat(0, largest))
        scale = core.maximum(largest, core.abs(alpha))
        scale = core.select(core.greater(scale, core.splat(0, scale)), scale, core.splat(1, scale))
        parts = core.div(core.select(core.equal(m.rows, at), alpha, below), scale)
        norm = core.mul(core.sqrt(core.reduce_sum(core.mul(parts, parts), (m.rank - 2,), True)), scale)
        beta = core.select(core.less(alpha, core.splat(0, alpha)), norm, core.neg(norm))
        one = core.splat(1, beta)
        divisor = core.select(is_reflected, beta, one)
        factor = _where(is_reflected, core.div(core.sub(beta, alpha), divisor))
        tail = core.div(below, core.select(is_reflected, core.sub(alpha, beta), one))
        reflector = core.select(core.equal(m.rows, at), one, tail)
        products = core.reduce_sum(core.mul(reflector, x), (m.rank - 2,), True)
        rest = core.sub(x, core.mul(core.mul(factor, reflector), products))
        x = core.select(core.greater(m.columns, at), rest, x)
        diagonal = core.select(is_reflected, beta, alpha)
        built = core.select(core.equal(m.rows, at), diagonal, core.select(core.greater(m.rows, at), tail, column))
        x = core.select(core.equal(m.columns, at), built, x)
        return [x, core.select(core.equal(m.steps, at), core.squeeze(factor, (m.rank - 1,)), factors)]

    body = core.nested([*[v.type for v in initial], core.tensor_type(core.scalar(0, i64))], step)
    return core.scan(initial, (m.steps,), body)


def _orthogonal(op: CustomCall, inputs: tuple[Value, ...]) -> Results:
    """`orgqr`: the columns of the product of reflectors."""
    del op
    a, factors = inputs[:2]
    m = _Matrices(a)
    count = static_dims(core.tensor_type(factors).with_shape(known_dims_of(factors)[-1:]))
    steps = core.iota(count)
    start = core.cast(core.equal(m.rows, m.columns), kind_of(a))
    initial = core.broadcast_to(start, m.sizes)

    def step(q: Value, at: Value) -> Sequence[Value]:
        below = _where(core.greater(m.rows, at), m.column(a, at))
        reflector = core.select(core.equal(m.rows, at), core.splat(1, below), below)
        factor = core.reduce_sum(_where(core.equal(steps, at), factors), (m.rank - 2,), True)
        products = core.reduce_sum(core.mul(reflector, q), (m.rank - 2,), True)
        return [core.sub(q, core.mul(core.mul(core.unsqueeze(factor, (m.rank - 1,)), reflector), products))]

    body = core.nested([initial.type, core.tensor_type(core.scalar(0, i64))], step)
    return core.scan((initial,), (steps,), body, reverse=True)


def _eigenvalues(op: CustomCall, inputs: tuple[Value, ...]) -> Results:
    """`syevd`: eigenvectors, eigenvalues in ascending order, and whether they were found."""
    a = inputs[0]
    settings = settings_of(op)
    values, vectors = core.eigh(a, settings.get("uplo") != _UPPER)
    # Without vectors, what is in their place is not defined.
    return (vectors if settings.get("mode") == _WITH_VECTORS else a), values, _failure(vectors)


def _singular_values(op: CustomCall, inputs: tuple[Value, ...]) -> Results:
    """`gesdd`: a matrix that was overwritten, singular values in descending order, both bases, and whether they were
    found.
    """
    a = inputs[0]
    mode = settings_of(op).get("mode")
    if mode not in (_ALL, _SOME, _NONE):
        raise NotationError(f"'{op.call_target_name}' returns all vectors, some or none, found mode {mode}")
    left, values, right = core.svd(a, mode == _ALL)
    failure = _failure(left)
    if mode == _NONE:
        # What is in their place is not defined.
        left, right = [
            core.broadcast_to(core.scalar(0.0, kind_of(a)), tuple(result_shape(op, n, inputs))) for n in (2, 3)
        ]
    return a, values, left, right, failure


_FUNCTIONS: Mapping[str, Callable[[CustomCall, tuple[Value, ...]], Results]] = MappingProxyType(
    {
        "potrf": _cholesky,
        "trsm": _triangular_solution,
        "getrf": _lu,
        "geqrf": _qr,
        "orgqr": _orthogonal,
        "syevd": _eigenvalues,
        "gesdd": _singular_values,
    }
)
CALLS = MappingProxyType({f"lapack_{t}{name}_ffi": f for name, f in _FUNCTIONS.items() for t in "sd"})
"""The meanings of custom calls of single and double precision, by their names."""
