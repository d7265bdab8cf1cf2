"""Core programs for tests of conversions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.attributes import DataAttr
from commonir.ir.data import data_of
from commonir.ir.module import Module
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import FunctionType, Type, f32, tensor
from commonir.ods import operations_behind

Build = Callable[..., Value | Sequence[Value]]


def core_module(
    build: Build, inputs: Mapping[str, Type], names: Sequence[str] | None = None, name: str = "main"
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


def yielding(build: Build, *types: Type) -> Region:
    """A region for loops and branches; `build` receives its arguments and returns what it yields."""
    block = Block(types)
    returned = build(*block.arguments)
    values = (returned,) if isinstance(returned, Value) else tuple(returned)
    for op in operations_behind(values):
        block.append(op)
    block.append(core.Yield(values))
    return Region([block])


def running_total() -> Module:
    """A program that adds its input, two f32, to a state `total` that starts at zero, and returns the sum."""
    module = Module()
    kind = tensor(f32, 2)
    module.body.append(ml_program.Global("total", kind, DataAttr(data_of(f32, (2,), (0.0, 0.0))), True))
    block = Block([kind], ["x"])
    stored = block.append(ml_program.GlobalLoad.build({"global_": ("total",)}, [kind])).results[0]
    added = block.append(core.Add(stored, block.arguments[0])).results[0]
    block.append(ml_program.GlobalStore.build({"global_": ("total",), "value": added}, []))
    block.append(ml_program.Return((added,)))
    module.body.append(ml_program.Func("main", FunctionType((kind,), (kind,)), Region([block]), ("y",)))
    return module
