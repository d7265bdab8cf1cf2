"""Small programs with each named operation, made from the line that declares its indices."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from commonir.dialects.mlir.linalg import DIALECT
from commonir.dialects.mlir.linalg.named import NamedOp, PointwiseOp
from commonir.dialects.mlir.linalg.windows import WindowOp
from commonir.ir.affine import AffineMap

WHOLE = ("_unsigned", "_q", "quantized_")
"""Parts of names of operations on integers."""

INPUTS = {"select": ("i1", "f32", "f32"), "div_unsigned": ("i32", "i32"), "fill": ("scalar",), "copy": ("f32",)}
BINARY = ("add", "sub", "mul", "div", "max", "min", "powf")


def named_operations() -> list[type[NamedOp]]:
    """The operations whose maps follow from their name."""
    return [d[0] for d in DIALECT.operations.values() if issubclass(d[0], NamedOp) and d[0].formula is not None]


def pointwise_operations() -> list[type[PointwiseOp]]:
    """The operations on tensors of one shape."""
    return [d[0] for d in DIALECT.operations.values() if issubclass(d[0], PointwiseOp) and d[0].name]


def tensor(sizes: Sequence[int], element: str) -> str:
    """The text of a tensor type."""
    return f"tensor<{''.join(f'{n}x' for n in sizes)}{element}>"


def shape_under(map: AffineMap, sizes: Sequence[int]) -> list[int]:
    """The least shape that a map reads of."""
    return [e.evaluate([n - 1 for n in sizes]) + 1 for e in map.results]


def program(operation: type[NamedOp], random: Random) -> tuple[str, list[str]]:
    """A function `main` that applies an operation to its arguments, and the types of these."""
    formula = operation.formula
    assert formula is not None
    sizes = [random.randint(1, 3) for _ in formula.dims]
    attributes = ""
    steps: list[list[int]] = [[1] * formula.windows, [1] * formula.windows]
    if issubclass(operation, WindowOp) and random.random() < 0.7:
        steps = [[random.randint(1, 3) for _ in range(formula.windows)] for _ in steps]
        shown = [
            f"{n} = dense<{v}> : tensor<{len(v)}xi64>"
            for n, v in zip(("dilations", "strides"), steps[::-1], strict=True)
        ]
        attributes = f" {{{', '.join(shown)}}}"
    maps = formula.maps(*steps)
    is_whole = any(part in operation.name for part in WHOLE)
    scalars = [n for n, o in enumerate(formula.operands[:-1]) if not o]
    kinds = ["i8" if is_whole else "f32"] * formula.inputs + ["i32" if is_whole else "f32"]
    types = [
        k if n in scalars else tensor(shape_under(m, sizes), k)
        for n, (m, k) in enumerate(zip(maps, kinds, strict=True))
    ]
    for n in scalars:
        types[n] = "i32"
    if operation.name == "linalg.fill_rng_2d":
        types[:3] = ["f64", "f64", "i32"]
    return applied(operation.name, attributes, types), types


def pointwise_program(operation: type[PointwiseOp], random: Random) -> tuple[str, list[str]]:
    """As `program`, of an operation on tensors of one shape."""
    name = operation.name.removeprefix("linalg.")
    inputs = INPUTS.get(name) or (("f32", "f32") if name in BINARY else ("f32",))
    out = inputs[-1] if name == "div_unsigned" else "f32"
    shape = [random.randint(1, 3) for _ in range(random.randint(0, 3))]
    types = ["f32" if k == "scalar" else tensor(shape, k) for k in (*inputs, out)]
    return applied(operation.name, "", types), types


def applied(name: str, attributes: str, types: Sequence[str]) -> str:
    """A function that applies an operation to its arguments, of which the last is what is there before."""
    arguments = ", ".join([f"%{n}: {t}" for n, t in enumerate(types)])
    *inputs, out = [f"%{n}" for n in range(len(types))]
    operands = f" ins({', '.join(inputs)} : {', '.join(types[:-1])})" if inputs else ""
    return (
        f"func.func @main({arguments}) -> {types[-1]} {{\n"
        f"  %r = {name}{attributes}{operands} outs({out} : {types[-1]}) -> {types[-1]}\n"
        f"  return %r : {types[-1]}\n}}\n"
    )


def joined(programs: Sequence[str]) -> str:
    """One program of several, whose functions have different names."""
    return "".join([p.replace("@main", f"@f{n}") for n, p in enumerate(programs)])
