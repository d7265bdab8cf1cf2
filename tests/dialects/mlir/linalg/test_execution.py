"""Results of operations, against loops over their iteration space that are written out here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.dialects.mlir.linalg.named import NamedOp, PointwiseOp
from commonir.dialects.mlir.linalg.windows import WindowOp

from tests.dialects.mlir.linalg.named_programs import (
    named_operations,
    pointwise_operations,
    pointwise_program,
    program,
)
from tests.dialects.programs import Array, arrays_of, run

Scalar = NDArray[Any]


def multiply_add(out: Scalar, a: Scalar, b: Scalar) -> Scalar:
    return out + a.astype(out.dtype) * b.astype(out.dtype)


def shifted(out: Scalar, a: Scalar, b: Scalar, p: Scalar, q: Scalar) -> Scalar:
    return out + (a.astype(out.dtype) - p) * (b.astype(out.dtype) - q)


def as_unsigned(x: Scalar, wide: np.dtype[np.generic]) -> Scalar:
    return x.view(f"u{x.dtype.itemsize}").astype(wide)


def combined(name: str) -> Callable[..., Scalar]:
    """Returns the result of an operation for the previous value and one element of each input."""
    if "pooling" in name:
        if name.endswith("sum"):
            return lambda out, x, _: out + x.astype(out.dtype)
        if name.endswith("unsigned"):
            choose = np.maximum if "max" in name else np.minimum
            return lambda out, x, _: choose(as_unsigned(out, np.dtype("u8")), as_unsigned(x, np.dtype("u8"))).astype(
                "i4"
            )
        choose = np.maximum if "max" in name else np.minimum
        return lambda out, x, _: choose(out, x.astype(out.dtype))
    return shifted if name.endswith("_q") or "quantized" in name else multiply_add


def looped(operation: type[NamedOp], steps: Mapping[str, Sequence[int]], arrays: Sequence[Array]) -> Array:
    """The result, point by point."""
    formula = operation.formula
    assert formula is not None
    *inputs, before = arrays
    out = before.copy()
    sizes = dict.fromkeys(range(len(formula.dims)), 0)
    for operand, array in zip(formula.operands, arrays, strict=True):
        for index, n in zip(operand, array.shape, strict=True):
            if len(index) == 1 and not index[0].factor:
                sizes[index[0].dim] = n
    combine = combined(operation.name)
    for point in product(*[range(n) for n in sizes.values()]):

        def at(operand: int, point: tuple[int, ...] = point) -> tuple[int, ...]:
            return tuple(
                [
                    sum(point[s.dim] * (steps[s.factor][s.number] if s.factor else 1) for s in index)
                    for index in formula.operands[operand]
                ]
            )

        arguments = [x[at(n)] for n, x in enumerate(inputs)]
        place = at(len(inputs))
        out[place] = combine(out[place], *arguments)
    return out


def _steps(text: str, count: int) -> dict[str, list[int]]:
    out = {"s": [1] * count, "d": [1] * count}
    for letter, name in (("s", "strides"), ("d", "dilations")):
        _, result, rest = text.partition(f"{name} = dense<[")
        if result:
            out[letter] = [int(n) for n in rest.partition("]")[0].split(",")]
    return out


@pytest.mark.fast_every(4)
@pytest.mark.parametrize(
    "operation", [d for d in named_operations() if d.name != "linalg.fill_rng_2d"], ids=lambda d: str(d.name)
)
def test_operation_computes_what_its_loops_do(operation: type[NamedOp]) -> None:
    random = Random(operation.name)
    text, types = program(operation, random)
    windows = operation.formula.windows if operation.formula is not None and issubclass(operation, WindowOp) else 0
    arrays = arrays_of(types, random)
    (result,) = run(text, *arrays)
    expected = looped(operation, _steps(text, windows), arrays)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


FUNCTIONS: dict[str, Callable[..., Array]] = {
    "exp": np.exp,
    "log": np.log,
    "abs": np.abs,
    "ceil": np.ceil,
    "floor": np.floor,
    "negf": np.negative,
    "reciprocal": np.reciprocal,
    "round": lambda x: np.trunc(x + np.copysign(0.5, x)),
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "square": np.square,
    "tanh": np.tanh,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "max": np.maximum,
    "min": np.minimum,
    "powf": np.power,
    "select": np.where,
    "copy": lambda x: x,
    "div_unsigned": lambda a, b: (a.view("u4") // b.view("u4")).view("i4"),
}


@pytest.mark.parametrize("operation", pointwise_operations(), ids=lambda d: str(d.name))
def test_operation_on_one_shape_computes_its_function(operation: type[PointwiseOp]) -> None:
    random = Random(operation.name)
    name = operation.name.removeprefix("linalg.")
    text, types = pointwise_program(operation, random)
    arrays = [np.abs(a) + 1 if a.dtype.kind in "fi" else a for a in arrays_of(types, random)]
    (result,) = run(text, *arrays)
    if name == "fill":
        expected = np.full_like(arrays[-1], arrays[0])
    elif name == "erf":
        from math import erf  # noqa: PLC0415

        expected = np.vectorize(erf)(arrays[0])
    else:
        expected = FUNCTIONS[name](*arrays[:-1])
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)
