"""MLIR texts for benchmarks: functions of many small operations in both forms, and constants in both notations.

What is made depends on the arguments alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

OPERATIONS_PER_FUNCTION = 1000
_SIZES = (1, 2, 3, 4, 8, 16, 32)


class _Line(NamedTuple):
    """One operation: its custom form, and its generic form, both without the name of the result; the result's type."""

    custom: str
    generic: str
    type: str


class _Function:
    """The values of a function being made, by type. Every value was defined before."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.matrix = f"tensor<{rng.choice(_SIZES)}x{rng.choice(_SIZES)}xf32>"
        self.types = ("f32", "i32", "index", "i1", self.matrix)
        self.values = {t: [f"%arg{n}"] for n, t in enumerate(self.types)}

    def any(self, type: str) -> str:
        """Returns one of the last values of a type."""
        return self.rng.choice(self.values[type][-20:])


def _float(f: _Function) -> _Line:
    name = f.rng.choice(("addf", "subf", "mulf", "maximumf"))
    a, b = f.any("f32"), f.any("f32")
    generic = f'"arith.{name}"({a}, {b}) <{{fastmath = #arith.fastmath<none>}}> : (f32, f32) -> f32'
    return _Line(f"arith.{name} {a}, {b} : f32", generic, "f32")


def _integer(f: _Function) -> _Line:
    name = f.rng.choice(("andi", "ori", "xori", "minsi"))
    a, b = f.any("i32"), f.any("i32")
    return _Line(f"arith.{name} {a}, {b} : i32", f'"arith.{name}"({a}, {b}) : (i32, i32) -> i32', "i32")


def _sum(f: _Function) -> _Line:
    a, b = f.any("index"), f.any("index")
    overflow = "<{overflowFlags = #arith.overflow<none>}>"
    return _Line(
        f"arith.addi {a}, {b} : index", f'"arith.addi"({a}, {b}) {overflow} : (index, index) -> index', "index"
    )


def _constant(f: _Function) -> _Line:
    text, type = f.rng.choice(
        (
            (str(f.rng.randrange(1000)), "i32"),
            (f"{f.rng.randrange(1000)}.5", "f32"),
            (str(f.rng.randrange(64)), "index"),
        )
    )
    return _Line(
        f"arith.constant {text} : {type}", f'"arith.constant"() <{{value = {text} : {type}}}> : () -> {type}', type
    )


def _compare(f: _Function) -> _Line:
    number, name = f.rng.choice(((0, "eq"), (2, "slt"), (4, "sgt")))
    a, b = f.any("i32"), f.any("i32")
    generic = f'"arith.cmpi"({a}, {b}) <{{predicate = {number} : i64}}> : (i32, i32) -> i1'
    return _Line(f"arith.cmpi {name}, {a}, {b} : i32", generic, "i1")


def _select(f: _Function) -> _Line:
    c, a, b = f.any("i1"), f.any("f32"), f.any("f32")
    return _Line(f"arith.select {c}, {a}, {b} : f32", f'"arith.select"({c}, {a}, {b}) : (i1, f32, f32) -> f32', "f32")


def _pointwise(f: _Function) -> _Line:
    name, t = f.rng.choice(("add", "sub", "maximum", "minimum")), f.matrix
    a, b = f.any(t), f.any(t)
    attributes = " <{nan_mode = #tosa.nan_mode<PROPAGATE>}>" if name in ("maximum", "minimum") else ""
    return _Line(
        f"tosa.{name} {a}, {b} : ({t}, {t}) -> {t}", f'"tosa.{name}"({a}, {b}){attributes} : ({t}, {t}) -> {t}', t
    )


def _unary(f: _Function) -> _Line:
    name, t, a = f.rng.choice(("tanh", "abs", "exp", "sigmoid")), f.matrix, f.any(f.matrix)
    return _Line(f"tosa.{name} {a} : ({t}) -> {t}", f'"tosa.{name}"({a}) : ({t}) -> {t}', t)


def _extract(f: _Function) -> _Line:
    t, a, i, j = f.matrix, f.any(f.matrix), f.any("index"), f.any("index")
    return _Line(
        f"tensor.extract {a}[{i}, {j}] : {t}", f'"tensor.extract"({a}, {i}, {j}) : ({t}, index, index) -> f32', "f32"
    )


def _insert(f: _Function) -> _Line:
    t, v, a, i, j = f.matrix, f.any("f32"), f.any(f.matrix), f.any("index"), f.any("index")
    generic = f'"tensor.insert"({v}, {a}, {i}, {j}) : (f32, {t}, index, index) -> {t}'
    return _Line(f"tensor.insert {v} into {a}[{i}, {j}] : {t}", generic, t)


def _size(f: _Function) -> _Line:
    t, a, i = f.matrix, f.any(f.matrix), f.any("index")
    return _Line(f"tensor.dim {a}, {i} : {t}", f'"tensor.dim"({a}, {i}) : ({t}, index) -> index', "index")


_LINES: tuple[tuple[Callable[[_Function], _Line], int], ...] = (
    (_float, 25),
    (_integer, 15),
    (_sum, 8),
    (_constant, 12),
    (_compare, 5),
    (_select, 5),
    (_pointwise, 12),
    (_unary, 8),
    (_extract, 5),
    (_insert, 3),
    (_size, 2),
)


def _function(number: int, rng: random.Random, *, generic: bool) -> Iterator[str]:
    f = _Function(rng)
    types = ", ".join(f.types)
    arguments = ", ".join([f"%arg{n}: {t}" for n, t in enumerate(f.types)])
    if generic:
        yield f'"func.func"() <{{function_type = ({types}) -> {f.matrix}, sym_name = "f{number}"}}> ({{'
        yield f"^bb0({arguments}):"
    else:
        yield f"func.func @f{number}({arguments}) -> {f.matrix} {{"
    makers, weights = zip(*_LINES, strict=True)
    for n, make in enumerate(rng.choices(makers, weights, k=OPERATIONS_PER_FUNCTION - 1)):
        line = make(f)
        yield f"  %{n} = {line.generic if generic else line.custom}"
        f.values[line.type].append(f"%{n}")
    last = f.any(f.matrix)
    yield f'  "func.return"({last}) : ({f.matrix}) -> ()' if generic else f"  return {last} : {f.matrix}"
    yield "}) : () -> ()" if generic else "}"


def program(operations: int, *, generic: bool, seed: int = 0) -> Iterator[str]:
    """Yields the lines of a module with a number of operations, in the generic form or in custom forms."""
    rng = random.Random(seed)
    yield '"builtin.module"() ({' if generic else "module {"
    for number in range(operations // OPERATIONS_PER_FUNCTION):
        yield from _function(number, rng, generic=generic)
    yield "}) : () -> ()" if generic else "}"


def hexadecimal_globals(size_bytes: int, *, count: int = 16, seed: int = 0) -> Iterator[str]:
    """Yields the lines of a module with constants of numbers in hexadecimal digits, of a size together."""
    rng = random.Random(seed)
    elements = size_bytes // count // 4
    for n in range(count):
        digits = rng.randbytes(4 * elements).hex().upper()
        yield f'ml_program.global private @g{n}(dense<"0x{digits}"> : tensor<{elements}xf32>) : tensor<{elements}xf32>'


def decimal_global(elements: int, *, seed: int = 0) -> Iterator[str]:
    """Yields the lines of a module with a constant of decimal numbers."""
    rng = random.Random(seed)
    numbers = ", ".join([f"{rng.uniform(-10, 10):.6e}" for _ in range(elements)])
    yield f"ml_program.global private @g(dense<[{numbers}]> : tensor<{elements}xf32>) : tensor<{elements}xf32>"
