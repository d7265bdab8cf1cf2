"""The last step to a dialect of MLIR: types as MLIR has them.

Sizes that are expressions are open, integers state no sign, which operations say, and what a constant holds keeps its
bits. In place.
"""

from __future__ import annotations

from collections.abc import Callable

from commonir.dialects.mlir import func, ml_program
from commonir.ir.attributes import DataAttr
from commonir.ir.data import Data, DeferredData, InlineData, computed_data
from commonir.ir.module import Module, replace_function
from commonir.ir.types import ElementType, FunctionType, TensorType, Type, boolean, i8, integer_type


def signless(element: ElementType) -> ElementType:
    """An element type as operations of MLIR take it."""
    return integer_type(element.bits) if element.kind == "uint" else element


def erased(type: Type) -> Type:
    """A type as MLIR has it."""
    match type:
        case TensorType(element=element):
            return type.without_symbolic_dims().with_element(signless(element))
        case ElementType():
            return signless(type)
        case FunctionType(inputs=inputs, results=results):
            return FunctionType(tuple(map(erased, inputs)), tuple(map(erased, results)))
        case _:
            return type


def constant_value(data: Data) -> DataAttr:
    """Returns the contents of a constant, with signless integers."""
    element = signless(data.element)
    if element is data.element:
        return DataAttr(data)
    type = data.type.with_element(element)
    if element is boolean:
        # Of one bit each there, packed, and one byte here.
        return DataAttr(computed_data(type, lambda: data.array().astype(bool)))
    return DataAttr(DeferredData(type, lambda: InlineData(type, data.buffer())))


MAX_BOOLS = 100
"""Bools up to which a text lists them: of more it has their bytes, which versions of MLIR pack differently."""


def bytes_of_truth(data: Data) -> Data | None:
    """Bools as integers of 8 bits, where there are so many that a text would have their bytes."""
    if signless(data.element) is not boolean or data.count <= MAX_BOOLS:
        return None
    type = data.type.with_element(i8)
    return computed_data(type, lambda: data.array().astype("int8"))


def finish(module: Module) -> None:
    """Takes all types of a module to those of MLIR."""
    retype(module, erased)
    for op in list(module.body.operations):
        if isinstance(op, ml_program.Global):
            _finish_global(op)


def retype(module: Module, to: Callable[[Type], Type]) -> None:
    """Puts another type in the place of that of every value and function."""
    for op in module.walk():
        for result in op.results:
            result.retype(to(result.type))
        for region in op.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    argument.retype(to(argument.type))
    for op in list(module.body.operations):
        if isinstance(op, func.Func):
            replace_function(op, op.with_attributes(function_type=to(op.function_type)))


def _finish_global(op: ml_program.Global) -> None:
    value = op.value
    if isinstance(value, DataAttr):
        value = constant_value(value.data)
    built = op.with_attributes(type=erased(op.type), value=value)
    if op.parent is not None:
        op.parent.insert_before(op, built)
        op.erase()
