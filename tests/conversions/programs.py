"""Core programs for tests of conversions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from commonir.dialects import ml_program
from commonir.ir.module import Module
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import FunctionType, TensorType
from commonir.ods import operations_behind

Build = Callable[..., Value | Sequence[Value]]


def core_module(
    build: Build, inputs: Mapping[str, TensorType], names: Sequence[str] | None = None, name: str = "main"
) -> Module:
    """A module with one function; `build` receives its inputs and returns its outputs, named y0, y1, ... by default."""
    block = Block(inputs.values(), tuple(inputs))
    returned = build(*block.arguments)
    outputs = (returned,) if isinstance(returned, Value) else tuple(returned)
    for op in operations_behind(outputs):
        block.append(op)
    block.append(ml_program.Return(outputs))
    kind = FunctionType(tuple(inputs.values()), tuple(v.type for v in outputs))
    named = tuple(names) if names is not None else tuple(f"y{n}" for n in range(len(outputs)))
    module = Module()
    module.body.append(ml_program.Func(name, kind, Region([block]), named))
    return module
