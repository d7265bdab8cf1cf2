"""The last step to stablehlo: sizes that are expressions are open. In place."""

from __future__ import annotations

from commonir.dialects import func
from commonir.ir.module import Module, put_in_place
from commonir.ir.types import FunctionType, TensorType, Type


def opened(type: Type) -> Type:
    """A type whose sizes are numbers or open."""
    match type:
        case TensorType(shape=shape) if shape is not None:
            return type.with_shape(tuple([d if isinstance(d, int) else None for d in shape]))
        case FunctionType(inputs=inputs, results=results):
            return FunctionType(tuple(map(opened, inputs)), tuple(map(opened, results)))
        case _:
            return type


def finish(module: Module) -> None:
    """Takes all types of a module to those of MLIR."""
    for op in module.walk():
        for result in op.results:
            result.retype(opened(result.type))
        for region in op.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    argument.retype(opened(argument.type))
    for op in list(module.body.operations):
        if isinstance(op, func.Func):
            put_in_place(op, op.with_attributes(function_type=opened(op.function_type)))


__all__ = ["finish", "opened"]
