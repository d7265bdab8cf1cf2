"""Types of what nested programs receive, where a program states none: they follow from what is handed to them.

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
    """Infers the types of arguments of nested blocks that have no reliable type.

    A size is known in the nested program if it is a number, or an expression of sizes of the inputs of the function.
    """
    if not any(True for _ in _untyped(module)):
        return {}
    copies: dict[Value, Value] = {}
    copy = clone(module, copies)
    for v in _untyped(module):
        copies[v].retype(unknown)
    infer_shapes(copy)
    known = {name for f in copy.functions.values() for name in symbols_of([v.type for v in f.inputs])}
    return {v: _within(copies[v].type, known) for v in _untyped(module)}


def _untyped(module: Module) -> Iterator[Value]:
    for function in module.functions.values():
        if not function.is_template and not function.is_declaration:
            for op in function.body.operations:
                for inner in op.walk() if op.regions else ():
                    for region in inner.regions:
                        yield from (a for b in region.blocks for a in b.arguments if a.type is unknown)
                    if isinstance(inner, Op):
                        yield from inner.untrusted_arguments()


def _within(type: Type, known: set[str]) -> Type:
    if not isinstance(type, TensorType) or type.shape is None:
        return type
    sizes = [d if not isinstance(d, DimExpr) or known.issuperset(symbols(d)) else None for d in type.shape]
    return type.with_shape(tuple(sizes))
