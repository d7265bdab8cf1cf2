"""ONNX operators that sum products: of matrices, and by Einstein's notation.

Source: ONNX operator reference, default domain, MatMul, Gemm and Einsum.
"""

from __future__ import annotations

from string import ascii_letters

from commonir.dialects import core
from commonir.dialects.onnx.base import (
    FLOATS_1,
    NUMBERS,
    NUMBERS_1,
    WIDE_NUMBERS,
    WIDE_NUMBERS_1,
    OnnxOp,
    element_of,
    rank_of,
    tensor_type,
)
from commonir.ir.operation import Value
from commonir.ir.types import f64
from commonir.notation import NotationError
from commonir.ods import attr_types, attribute, by_version, operand, result


class MatMul(OnnxOp, name="onnx.MatMul"):
    """Matrix product, as in numpy."""

    A: Value = operand("T")
    B: Value = operand("T")
    Y: Value = result("T")
    T = by_version(opset1=FLOATS_1, opset9=WIDE_NUMBERS_1, opset13=WIDE_NUMBERS)

    def reference(self, A: Value, B: Value) -> Value:
        return core.matmul(A, B)


class AffineProduct(OnnxOp):
    """alpha A B + beta C of matrices, where A and B may be transposed and C is broadcast."""

    A: Value = operand("T[a, b]")
    B: Value = operand("T[c, d]")
    C: Value | None = operand("T", default=None)
    beta: float = attribute(attr_types.number, default=1.0)
    transB: bool = attribute(attr_types.flag, default=False)
    alpha: float = attribute(attr_types.number, default=1.0)
    transA: bool = attribute(attr_types.flag, default=False)
    Y: Value = result("T")

    def product(self, A: Value, B: Value, C: Value | None) -> Value:
        """The sum for these operands."""
        if C is not None and (self.alpha, self.beta, self.transA, self.transB) == (1.0, 1.0, False, True):
            rows, bias = tensor_type(B).shape, tensor_type(C).shape
            if rows is not None and bias is not None and bias == (rows[0],):
                return core.linear(A, B, C)
        y = scaled(core.matmul(A, B, self.transA, self.transB), self.alpha)
        return y if C is None else core.add(y, scaled(C, self.beta))


class Gemm(AffineProduct, name="onnx.Gemm"):
    """General matrix product: alpha A B + beta C, where A and B may be transposed and C is broadcast."""

    C: Value | None = operand("T", default=None, since="opset11", before=operand("T"))
    broadcast: bool = attribute(attr_types.flag, default=False, until="opset7")
    T = by_version(
        opset6=FLOATS_1, opset7=FLOATS_1, opset9=WIDE_NUMBERS_1, opset11=WIDE_NUMBERS_1, opset13=WIDE_NUMBERS
    )

    def reference(self, A: Value, B: Value, C: Value | None) -> Value:
        return self.product(A, B, C)


def scaled(x: Value, factor: float) -> Value:
    """A tensor times a factor; of integers the product is rounded toward zero."""
    if factor == 1.0:
        return x
    element = element_of(x)
    if element.is_float or factor.is_integer():
        return core.mul(x, core.splat(factor if element.is_float else int(factor), x))
    return core.cast(core.mul(core.cast(x, f64), core.scalar(factor, f64)), element)


class Einsum(OnnxOp, name="onnx.Einsum"):
    """Einstein summation; without an arrow, the result has the axes of `...`, then the letters that occur once, in
    alphabetical order.

    `...` stands for any number of axes, the same in each operand. Axes of size 1 are broadcast, as in numpy and
    onnxruntime.
    """

    Inputs: tuple[Value, ...] = operand("T", variadic=True)
    equation: str = attribute(attr_types.string)
    Output: Value = result("T")
    T = by_version(opset12=NUMBERS_1, opset28=NUMBERS)

    def reference(self, Inputs: tuple[Value, ...]) -> Value:
        left, _, right = explicit_equation(self.equation).partition("->")
        terms = left.split(",")
        if "." in left + right:
            terms, right = _without_ellipsis(Inputs, terms, right)
        operands, terms = _without_broadcast_axes(Inputs, terms)
        return core.einsum(operands, f"{','.join(terms)}->{right}")


def explicit_equation(equation: str) -> str:
    """An Einstein sum with its result."""
    equation = equation.replace(" ", "")
    if "->" in equation:
        return equation
    names = equation.replace(",", "").replace(".", "")
    kept = "".join(sorted(n for n in set(names) if names.count(n) == 1))
    return f"{equation}->{'...' if '...' in equation else ''}{kept}"


def _without_ellipsis(operands: tuple[Value, ...], terms: list[str], right: str) -> tuple[list[str], str]:
    """Terms and a result with letters for the axes of `...`, aligned at their end."""
    if len(terms) != len(operands):
        raise NotationError(f"{len(terms)} terms for {len(operands)} operands")
    unused = (c for c in ascii_letters if c not in "".join(terms) + right)
    counts = [rank_of(x) - len(t) + 3 if "..." in t else 0 for x, t in zip(operands, terms, strict=True)]
    names = [next(unused) for _ in range(max(counts))]
    results = [_spelled(x, t, names[len(names) - n :]) for x, t, n in zip(operands, terms, counts, strict=True)]
    given = {n for n, t in zip(counts, terms, strict=True) if "..." in t}
    if len(given) > 1:
        raise NotationError(f"'...' stands for {' and '.join(map(str, sorted(given)))} axes")
    return results, right.replace("...", "".join(names))


def _spelled(x: Value, term: str, names: list[str]) -> str:
    """A term with letters for the axes of `...`."""
    spelled = term.replace("...", "".join(names))
    if len(spelled) != rank_of(x) or "." in spelled:
        raise NotationError(f"'{term}' does not name the axes of a tensor of rank {rank_of(x)}")
    return spelled


def _without_broadcast_axes(operands: tuple[Value, ...], terms: list[str]) -> tuple[tuple[Value, ...], list[str]]:
    """Operands and their terms without the axes of size 1 that another operand has longer."""
    shapes = [tensor_type(x).shape for x in operands]
    named = [tuple(zip(t, s, strict=False)) for t, s in zip(terms, shapes, strict=False) if s is not None]
    if [len(n) for n in named] != [len(t) for t in terms] or len(named) != len(operands):
        return operands, terms  # which the sum checks, or leaves to the run
    longer = {c for axes in named for c, n in axes if n != 1}
    values, spelled = list[Value](), list[str]()
    for x, axes in zip(operands, named, strict=True):
        dropped = tuple([n for n, (c, size) in enumerate(axes) if size == 1 and c in longer])
        values.append(core.squeeze(x, dropped) if dropped else x)
        spelled.append("".join([c for n, (c, _) in enumerate(axes) if n not in dropped]))
    return tuple(values), spelled
