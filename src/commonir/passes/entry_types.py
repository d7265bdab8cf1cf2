"""Infers the types of arguments of nested blocks for which a program declares none.

ONNX lets the graph in a `Scan` or `Loop` leave out the types of its inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from commonir.ir.cloning import clone
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, Type, symbols_of, unknown
from commonir.ods import Op
from commonir.passes.infer_shapes import infer_shapes
from commonir.symbolic import DimExpr, symbols


def entry_types(module: Module) -> Mapping[Value, Type]:
    """Returns inferred types for the arguments of nested blocks that have no reliable type.

    A dim is used only if it is an integer, or an expression of dims of the inputs of the function.
    """
    if not any(True for _ in _untyped(module)):
        return {}
    copies: dict[Value, Value] = {}
    copy = clone(module, copies)
    for v in _untyped(module):
        copies[v].retype(unknown)
    infer_shapes(copy)
    symbols_in_scope = {name for f in copy.functions.values() for name in symbols_of([v.type for v in f.inputs])}
    return {v: _within(copies[v].type, symbols_in_scope) for v in _untyped(module)}


def _untyped(module: Module) -> Iterator[Value]:
    for function in module.functions.values():
        if not function.is_template and not function.is_declaration:
            for op in function.body.operations:
                for nested in op.walk() if op.regions else ():
                    for region in nested.regions:
                        yield from (a for b in region.blocks for a in b.arguments if a.type is unknown)
                    if isinstance(nested, Op):
                        yield from nested.untrusted_arguments()


def _within(type: Type, symbols_in_scope: set[str]) -> Type:
    if not isinstance(type, TensorType) or type.shape is None:
        return type
    dims = [d if not isinstance(d, DimExpr) or symbols_in_scope.issuperset(symbols(d)) else None for d in type.shape]
    return type.with_shape(tuple(dims))
