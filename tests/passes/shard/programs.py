"""Programs of the core for tests of their division among ranks, and what is asked of the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import commonir as cir
from commonir.base.diagnostics import Diagnostics
from commonir.dialects import core
from commonir.ir.module import Function, Module
from commonir.ir.operation import Operation, Value
from commonir.ir.types import TensorType

Array = NDArray[Any]


def drawn(*shape: int, seed: int = 0) -> Array:
    """Normal numbers, others for each shape and seed."""
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def constant(name: str, array: Array) -> str:
    """A line that defines a constant."""
    kind = "x".join([*map(str, array.shape), "f32"])
    return f'%{name} = "core.constant"() <{{value = dense<{array.tolist()}> : tensor<{kind}>}}> : () -> tensor<{kind}>'


def move(name: str, operation: str, of: str, source: str, target: str, field: str = "shape", values: str = "") -> str:
    """A line that moves elements, from a shape to another one; its attribute is the new shape by default."""
    inputs = values or target.replace("x", ", ")
    kinds = f"(tensor<{source}xf32>) -> tensor<{target}xf32>"
    return f'%{name} = "core.{operation}"(%{of}) <{{{field} = array<i64: {inputs}>}}> : {kinds}'


def program(lines: Sequence[str], inputs: Mapping[str, str], outputs: Mapping[str, str]) -> Module:
    """A program of lines, with the types of its inputs and outputs by name; `%NAME` are values."""
    arguments = ", ".join(f"%{name}: {kind}" for name, kind in inputs.items())
    kinds = ", ".join(outputs.values())
    names = ", ".join(f'"{name}"' for name in outputs)
    body = "\n    ".join(lines)
    returned = ", ".join(f"%{name}" for name in outputs)
    text = f"""ml_program.func @main({arguments}) -> ({kinds}) attributes {{result_names = [{names}]}} {{
    {body}
    ml_program.return {returned} : {kinds}
  }}"""
    return cir.loads(text, format="mlir")


def divided(module: Module, ranks: int, parallel: str = "tensor") -> tuple[Module, Diagnostics]:
    """A program divided among ranks, which is right by all rules, and the findings."""
    diagnostics = Diagnostics()
    sharded = cir.shard(module, ranks, parallel, findings=diagnostics)
    assert [d for d in cir.verify(sharded) if d.is_error] == []
    return sharded, diagnostics


def run_divided(module: Module, ranks: int, inputs: Mapping[str, Array], parallel: str = "tensor") -> dict[str, Array]:
    """The outputs of a program that is divided among ranks to run it."""
    return cir.run(module, inputs, ranks=ranks, parallel=parallel, engine="reference")


def sums(module: Module) -> list[core.AllReduce]:
    """The sums over ranks, as rank 0 has them."""
    return [op for op in core.ranks_of(module)[0].walk() if isinstance(op, core.AllReduce)]


def maker(value: Value) -> Operation:
    """The operation that computes a value."""
    assert isinstance(value.owner, Operation)
    return value.owner


def user(value: Value) -> Operation:
    """The only operation that uses a value."""
    (result,) = value.users
    return result


def constants(function: Function) -> dict[str, tuple[int, ...]]:
    """The shapes of the constants of a function, by name."""
    result = [op for op in function.walk() if isinstance(op, core.Constant)]
    return {op.y.name: op.y.type.static_shape for op in result if isinstance(op.y.type, TensorType)}
