"""Results of the complex dialect, against numpy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import commonir

from tests.dialects.programs import Array, run

COUNT = 24
NUMBER = "complex<f32>"

UNARY: dict[str, tuple[Callable[[Array], Array], str]] = {
    "abs": (np.abs, "f32"),
    "angle": (np.angle, "f32"),
    "re": (np.real, "f32"),
    "im": (np.imag, "f32"),
    "neg": (np.negative, NUMBER),
    "conj": (np.conj, NUMBER),
    "exp": (np.exp, NUMBER),
    "expm1": (np.expm1, NUMBER),
    "log": (np.log, NUMBER),
    "log1p": (np.log1p, NUMBER),
    "sin": (np.sin, NUMBER),
    "cos": (np.cos, NUMBER),
    "tan": (np.tan, NUMBER),
    "tanh": (np.tanh, NUMBER),
    "sqrt": (np.sqrt, NUMBER),
    "rsqrt": (lambda x: 1 / np.sqrt(x), NUMBER),
    "sign": (lambda x: x / np.abs(x), NUMBER),
}
BINARY: dict[str, tuple[Callable[[Array, Array], Array], str]] = {
    "add": (np.add, NUMBER),
    "sub": (np.subtract, NUMBER),
    "mul": (np.multiply, NUMBER),
    "div": (np.divide, NUMBER),
    "pow": (np.power, NUMBER),
    "atan2": (lambda y, x: -1j * np.log((x + 1j * y) / np.sqrt(x * x + y * y)), NUMBER),
    "eq": (np.equal, "i1"),
    "neq": (np.not_equal, "i1"),
}


def _numbers(seed: int) -> Array:
    generator = np.random.default_rng(seed)
    return (generator.standard_normal(COUNT) + 1j * generator.standard_normal(COUNT)).astype("c8")


def _mapped(operation: str, result: str, *arrays: Array) -> Array:
    """Returns the results of an operation for all elements of tensors; it takes none itself."""
    kind, out = f"tensor<{COUNT}x{NUMBER}>", f"tensor<{COUNT}x{result}>"
    names = [f"%x{n}" for n in range(len(arrays))]
    inputs = ", ".join(f"{name}: {kind}" for name in names)
    inner = ", ".join(f"%a{n}: {NUMBER}" for n in range(len(arrays)))
    arguments = ", ".join(f"%a{n}" for n in range(len(arrays)))
    ins = f"ins({', '.join(names)} : {', '.join([kind] * len(arrays))})"
    (actual,) = run(
        f"""
func.func @main({inputs}) -> {out} {{
  %e = tensor.empty() : {out}
  %r = linalg.map {ins} outs(%e : {out}) ({inner}, %o: {result}) {{
    %s = complex.{operation} {arguments} : {NUMBER}
    linalg.yield %s : {result}
  }}
  return %r : {out}
}}
""",
        *arrays,
    )
    return actual


@pytest.mark.parametrize("operation", UNARY)
def test_function_of_one_number(operation: str) -> None:
    function, result = UNARY[operation]
    x = _numbers(1)
    assert np.allclose(_mapped(operation, result, x), function(x.astype("c16")), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("operation", BINARY)
def test_function_of_two_numbers(operation: str) -> None:
    function, result = BINARY[operation]
    x, y = _numbers(2), _numbers(3)
    y[:4] = x[:4]
    assert np.allclose(
        _mapped(operation, result, x, y), function(x.astype("c16"), y.astype("c16")), rtol=1e-3, atol=1e-4
    )


@pytest.mark.parametrize(("part", "expected"), [("f32", "f64"), ("tf32", "tf32"), ("i1", "i1")])
def test_constant_without_contents_in_bytes_has_a_summary(part: str, expected: str) -> None:
    parts = "true, false" if expected == "i1" else f"1.0 : {expected}, 2.0 : {expected}"
    text = f"func.func @main() -> complex<{part}> {{\n %0 = complex.constant [{parts}] : complex<{part}>"
    module = commonir.loads(f"{text}\n return %0 : complex<{part}>\n}}", format="mlir")
    (summary,) = commonir.summarize(module).functions
    assert len(summary.outputs) == 1
