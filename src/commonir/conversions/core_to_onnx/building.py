"""Pieces that rules build with: constants, vectors of dimensions, casts. What is the same is built once for a function.

ONNX takes positions and shapes as i64 values: a dimension that is an expression is computed from the shape of an input
that has its symbols, or of the value that brings a size which only running tells.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.conversions.operands import element_of, runs_of
from commonir.dialects import onnx
from commonir.ir.data import Scalar, data_of
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, i64
from commonir.ods import Op
from commonir.rewrite.legalize import Context
from commonir.symbolic import Dim, DimExpr, Floor, Max, Mod, Symbol, bounds, terms_of
from commonir.symbolic.dims import Atom, symbols_in


def constant(context: Context, element: ElementType, shape: tuple[int, ...], values: Sequence[Scalar]) -> Value:
    """A constant of a few elements."""
    key = ("constant", element, shape, tuple(map(repr, values)))
    if key not in context.memo:
        context.memo[key] = context.hoist(onnx.Initializer(data_of(element, shape, values)))
    return context.memo[key]


def scalar(context: Context, value: Scalar, like: Value) -> Value:
    """A constant of rank 0 with the element type of another value."""
    return constant(context, element_of(like), (), (value,))


def filled(context: Context, value: float, like: Value, count: int) -> Value:
    """A constant vector of one value."""
    return constant(context, element_of(like), (count,), (value,) * count)


def integers(context: Context, values: Sequence[int]) -> Value:
    """A constant vector of positions or sizes."""
    return constant(context, i64, (len(values),), values)


def cast(value: Value, element: ElementType) -> Value:
    """The value in an element type."""
    return value if element_of(value) is element else onnx.Cast(value, to=element).output


def vector(context: Context, dims: Sequence[Dim]) -> Value:
    """A vector of dimensions."""
    numbers = [d for d in dims if isinstance(d, int)]
    if len(numbers) == len(dims):
        return integers(context, numbers)
    key = ("vector", tuple(dims))
    if key not in context.memo:
        parts = [integers(context, r) if isinstance(r, tuple) else dimension(context, r) for r in runs_of(dims)]
        return _shared(
            context, key, parts[0] if len(parts) == 1 else _early(context, onnx.Concat(tuple(parts), axis=0))
        )
    return context.memo[key]


def dimension(context: Context, dim: Dim) -> Value:
    """A dimension as a vector of one element.

    Raises: DiagnosticError (E0601) when no input has a symbol of it.
    """
    if isinstance(dim, int):
        return integers(context, (dim,))
    key = ("dimension", dim)
    return context.memo[key] if key in context.memo else _shared(context, key, _computed(context, dim))


def _early(context: Context, op: Op) -> Value:
    """The result of an operation that is hoisted when what it needs is there early enough."""
    return context.hoist(op) if all(map(context.is_early, op.operands)) else op.result


def _shared(context: Context, key: object, value: Value) -> Value:
    """Keeps a value for all rules when it is there early enough for all."""
    if context.is_early(value):
        context.memo[key] = value
    return value


def _computed(context: Context, dim: DimExpr) -> Value:
    carried = _carried(context, dim)
    if carried is not None:
        return carried
    total: Value | None = None
    for monomial, coefficient in terms_of(dim).items():
        product: Value | None = None
        for atom in monomial:
            factor = _atom(context, atom)
            product = factor if product is None else _early(context, onnx.Mul(product, factor))
        if product is None:
            product = integers(context, (coefficient,))
        elif coefficient != 1:
            product = _early(context, onnx.Mul(product, integers(context, (coefficient,))))
        total = product if total is None else _early(context, onnx.Add(total, product))
    return integers(context, (0,)) if total is None else total


# The first opset in which a part of a shape can be asked for.
_PARTS_OF_SHAPES = 15


def size_at(context: Context, value: Value, axis: int) -> Value:
    """The size of an axis as a vector of one element."""
    if opset_of(context) >= _PARTS_OF_SHAPES:
        return _early(context, onnx.Shape(value, start=axis, end=axis + 1))
    whole = _early(context, onnx.Shape(value))
    return _early(context, onnx.Slice(whole, integers(context, (axis,)), integers(context, (axis + 1,))))


def opset_of(context: Context) -> int:
    """The version of the default operator set that is made."""
    return int(context.target.version.removeprefix("opset"))


def _carried(context: Context, dim: DimExpr) -> Value | None:
    """A dimension that an input has as it is."""
    for argument in context.prologue.arguments:
        kind = argument.type
        for axis, size in enumerate((kind.shape or ()) if isinstance(kind, TensorType) else ()):
            if size == dim:
                return size_at(context, argument, axis)
    return None


def _atom(context: Context, atom: Atom) -> Value:
    match atom:
        case Symbol():
            return _symbol(context, atom)
        case Floor(num=num, den=den):
            return _quotient(context, num, den)
        case Mod(num=num, den=den):
            return _early(context, onnx.Mod(dimension(context, num), dimension(context, den)))
        case Max(args=args):
            return _early(context, onnx.Max(tuple([dimension(context, a) for a in args])))


def _quotient(context: Context, num: Dim, den: Dim) -> Value:
    dividend, divisor = dimension(context, num), dimension(context, den)
    if bounds(num)[0] < 0:
        # Division of integers drops the fraction: without the rest, which is not negative, there is none.
        rest = _early(context, onnx.Mod(dividend, divisor))
        dividend = _early(context, onnx.Sub(dividend, rest))
    return _early(context, onnx.Div(dividend, divisor))


def _symbol(context: Context, wanted: Symbol) -> Value:
    """A symbol, from an input that has it or a linear expression of it as a dimension."""
    plain = DimExpr({(wanted,): 1})
    found = _carried(context, plain)
    if found is not None:
        return found
    local = context.sizes.get(wanted.name)
    if local is not None:
        value, axis = local
        return size_at(context, value, axis)
    for argument in context.prologue.arguments:
        kind = argument.type
        for axis, size in enumerate((kind.shape or ()) if isinstance(kind, TensorType) else ()):
            if not isinstance(size, DimExpr) or symbols_in(size) != (wanted,):
                continue
            terms = dict(terms_of(size))
            factor, offset = terms.pop((wanted,), 0), terms.pop((), 0)
            if factor and not terms:
                value = size_at(context, argument, axis)
                if offset:
                    value = _early(context, onnx.Sub(value, integers(context, (offset,))))
                return _early(context, onnx.Div(value, integers(context, (factor,)))) if factor != 1 else value
    raise DiagnosticError(
        Diagnostic(UNSUPPORTED_CONVERSION, f"no input has the dimension '{wanted.name}' as the size of an axis")
    )
