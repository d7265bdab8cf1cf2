"""Infers types and shapes from kernel references, by the range rule of the notation.

It is a separate module, because many programs have no operation with such a reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from commonir.base.tuples import NamedTuple
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, Type
from commonir.notation import Constraint, Expr, Index, Indices, Kernel, NotationError, Tensor, indices, ranges, shape_of
from commonir.ods.definition import Definition
from commonir.ods.fields import FieldKind
from commonir.ods.patterns import Bindings
from commonir.symbolic import Dim, index


class Kernels(NamedTuple):
    """The kernels of an operation, one for each result: types, constraints, and extents of indices."""

    types: tuple[Type, ...]
    constraints: tuple[Constraint, ...]
    kernels: tuple[Kernel, ...]
    extents: tuple[dict[str, Dim], ...]


def kernels_of(op: Definition, b: Bindings, shapes: Mapping[Value, tuple[Dim, ...] | None]) -> Kernels:
    """Returns the kernels of an operation, after the patterns of its operands were matched.

    Raises: NotationError.
    """

    def traced(v: Value, name: str) -> Tensor:
        shape = shapes[v]
        if not isinstance(v.type, TensorType) or shape is None:
            raise NotationError(f"'{name}' must be a ranked tensor, found {v.type}")
        return Tensor(name, shape, v.type.element)

    tensors: list[Any] = []
    for f in op.layout.inputs:
        if f.kind is FieldKind.OPERAND:
            v = op.field_value(f)
            many = f.variadic
            tensors.append(
                v
                if v is None
                else tuple([traced(u, f"{f.name}{n}") for n, u in enumerate(v)])
                if many
                else traced(v, f.name)
            )
    known: dict[str, Dim] = dict(b.one)
    for n, dims in b.many.items():
        known |= {f"{n}{k}": dim for k, dim in enumerate(dims)}
    passed = _indices_for(op, b)
    returned = op.reference(*tensors, **passed)
    bodies = _each(returned)
    kernels = tuple([_closed(body, op, n, passed) for n, body in enumerate(bodies)])
    types: list[Type] = []
    extents: list[dict[str, Dim]] = []
    constraints: tuple[Constraint, ...] = ()
    for k in kernels:
        inferred, more = ranges(k, known)
        types.append(TensorType(k.body.dtype, shape_of(k, inferred)))
        extents.append(inferred)
        constraints += more
    return Kernels(tuple(types), constraints, kernels, tuple(extents))


def _each(returned: Any) -> tuple[Kernel | Expr, ...]:
    return (returned,) if isinstance(returned, Kernel | Expr) else returned


def _indices_for(op: Definition, b: Bindings) -> dict[str, Index | Indices]:
    tied = [len(b.many[n]) for n in op.same_rank if n in b.many]
    out: dict[str, Index | Indices] = {}
    for n in op.index_names:
        if n in b.many:
            out[n] = indices(n, len(b.many[n]))
        elif n in op.same_rank:
            out[n] = indices(n, tied[0] if tied else 0)
        else:
            out[n] = index(n)
    return out


def _closed(body: Kernel | Expr, op: Definition, n: int, passed: dict[str, Index | Indices]) -> Kernel:
    """Returns a kernel; the axes of a bare expression are the names in the pattern of the result."""
    if isinstance(body, Kernel):
        return body
    pattern = op.layout.results[n].pattern
    axes: list[Dim] = []
    for name, _ in () if pattern is None or pattern.dims is None else pattern.dims:
        i = passed[name]
        axes.extend(i if isinstance(i, tuple) else (i,))
    return Kernel(tuple(axes), body)
