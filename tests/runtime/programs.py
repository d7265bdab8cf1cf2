"""Programs for tests, built from values as the bodies of composites are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from commonir.dialects import core
from commonir.ir.data import ArrayData
from commonir.ir.module import Function, Module, NamedValues
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import TensorType, Type, f16, f32
from commonir.ods import Op, attr_types, operand, operations_behind, region, traits
from commonir.ods.fields import attribute


class Give(Op, name="test.give", traits=(traits.Terminator,)):
    values: tuple[Value, ...] = operand("any", variadic=True)


class Program(Op, Function, name="test.func"):
    label: str = attribute(attr_types.string)
    names: tuple[str, ...] = attribute(attr_types.strings)
    content: Region = region()

    def infer(self) -> tuple[Type, ...]:
        return ()

    @property
    def symbol_name(self) -> str:
        return self.label

    @property
    def body(self) -> Block:
        return self.content.block

    @property
    def inputs(self) -> NamedValues:
        return NamedValues(self.body.arguments)

    @property
    def outputs(self) -> NamedValues:
        last = self.body.last
        assert last is not None
        return NamedValues(last.operands)

    @property
    def output_names(self) -> tuple[str, ...]:
        return self.names


def constant(array: NDArray[Any]) -> Value:
    """A constant of 16 or 32 bits with the numbers of an array."""
    element = {"float32": f32, "float16": f16}[array.dtype.name]
    return core.constant(ArrayData(TensorType(element, array.shape), array))


def program(build: Callable[..., Value | Sequence[Value]], inputs: Mapping[str, Type], name: str = "main") -> Module:
    """A module with one function; `build` receives its inputs and returns its outputs, named y0, y1, ..."""
    block = Block(inputs.values(), tuple(inputs))
    returned = build(*block.arguments)
    outputs = (returned,) if isinstance(returned, Value) else tuple(returned)
    for op in operations_behind(outputs):
        block.append(op)
    block.append(Give(outputs))
    module = Module()
    module.body.append(Program(name, tuple(f"y{n}" for n in range(len(outputs))), Region([block])))
    return module
