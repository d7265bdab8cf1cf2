"""The last step to stablehlo: sizes that are expressions are open. In place."""

from __future__ import annotations

from commonir.conversions.to_mlir.finish import retype
from commonir.ir.module import Module
from commonir.ir.types import FunctionType, TensorType, Type


def opened(type: Type) -> Type:
    """A type whose sizes are numbers or open."""
    match type:
        case TensorType():
            return type.without_symbolic_dims()
        case FunctionType(inputs=inputs, results=results):
            return FunctionType(tuple(map(opened, inputs)), tuple(map(opened, results)))
        case _:
            return type


def finish(module: Module) -> None:
    """Takes all types of a module to those of MLIR."""
    retype(module, opened)
