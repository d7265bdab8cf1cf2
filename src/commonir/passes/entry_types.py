"""Infers the types of arguments of nested blocks where those that a program declares cannot be relied on.

ONNX lets the graph in a `Scan` or `Loop` leave out the types of its inputs. A shape that it declares may be that of the
first iteration only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from commonir.base.diagnostics import DiagnosticError
from commonir.ir.cloning import clone
from commonir.ir.module import Function
from commonir.ir.operation import Operation, Value
from commonir.ir.types import TensorType, Type, symbols_of, unknown
from commonir.notation import NotationError
from commonir.ods import Op
from commonir.passes.infer_shapes import infer_shapes_of
from commonir.symbolic import DimExpr, symbols


def entry_types(function: Function) -> Mapping[Value, Type]:
    """Returns inferred types for the arguments of nested blocks of a function that have no reliable type.

    A dim is used only if it is an integer, or an expression of dims of the inputs of the function.
    """
    untyped = list(_untyped(function))
    uncertain = [*untyped, *_received(function)]
    if not uncertain:
        return {}
    copies: dict[Value, Value] = {}
    copy = clone(function, copies)
    # It stands beside the function without being part of the program, so that calls inside find what they call.
    copy.parent = function.parent
    for v in untyped:
        copies[v].retype(unknown)
    infer_shapes_of(copy)
    in_scope = set(symbols_of([v.type for v in copy.inputs]))
    return {v: _within(copies[v].type, in_scope) for v in uncertain}


def _untyped(function: Function) -> Iterator[Value]:
    """Yields the arguments that have no type, and those whose declared type the operation does not count on."""
    for op in _with_regions(function):
        for region in op.regions:
            yield from (a for b in region.blocks for a in b.arguments if a.type is unknown)
        if isinstance(op, Op):
            yield from op.untrusted_arguments()


def _received(function: Function) -> Iterator[Value]:
    """Yields the arguments with dims that operations pass to their regions."""
    for op in _with_regions(function):
        try:
            entries = op.entry_types() if isinstance(op, Op) else ()
        except (DiagnosticError, NotationError):
            continue  # reported where the operation is lowered
        for region, types in zip(op.regions, entries, strict=False):
            # An optional region that is absent has no block.
            arguments = region.block.arguments[: len(types)] if region.blocks else ()
            yield from (a for a in arguments if isinstance(a.type, TensorType) and a.type.shape != ())


def _with_regions(function: Function) -> Iterator[Operation]:
    for op in function.body.operations:
        yield from (nested for nested in (op.walk() if op.regions else ()) if nested.regions)


def _within(type: Type, in_scope: set[str]) -> Type:
    if not isinstance(type, TensorType) or type.shape is None:
        return type
    dims = [d if not isinstance(d, DimExpr) or in_scope.issuperset(symbols(d)) else None for d in type.shape]
    return type.with_shape(tuple(dims))
