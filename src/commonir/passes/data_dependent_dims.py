"""Names for data-dependent sizes, so that shape arithmetic goes on with them as with those of inputs.

Source: `ods/data_dependent_dims.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from commonir.ir.operation import Operation, Value
from commonir.ir.types import ListType, OptionalType, TensorType, Type, symbols_of
from commonir.ods import Op, infer
from commonir.passes.loop_carried_dims import set_loop_carried_dims
from commonir.symbolic import Dim, symbol

_NO_CHARACTER_OF_A_SYMBOL = re.compile(r"[^A-Za-z0-9_]")


class DimNames:
    """Gives sizes names that a function does not have yet."""

    def __init__(self, inputs: Iterable[Value]) -> None:
        self._taken = set(symbols_of([v.type for v in inputs]))

    def of_argument(self, argument: Value, type: Type, least: int = 0) -> Type:
        """The type of an argument, its unknown sizes named after it."""
        return self.named(_without_shared_sizes(type), argument.name or f"input{argument.index}", least)

    def named(self, type: Type, stem: str, least: int = 0) -> Type:
        """A type with a symbol for each unknown size, of a name that begins with `stem`."""
        if not isinstance(type, TensorType) or type.shape is None or None not in type.shape:
            return type
        stem = _NO_CHARACTER_OF_A_SYMBOL.sub("_", stem)
        dims: list[Dim] = [
            symbol(self._unique(f"{stem}_{n}"), least) if d is None else d for n, d in enumerate(type.shape)
        ]
        return type.with_shape(tuple(dims))

    def _unique(self, name: str) -> str:
        expected, number = name, 1
        while name in self._taken:
            number += 1
            name = f"{expected}_{number}"
        self._taken.add(name)
        return name

    def settle(self, first: Operation | None, stem: str) -> None:
        """Names the sizes of the results of an operation and of those that follow it; types of other results follow.

        Raises: DiagnosticError as inference does.
        """
        changed: set[Value] = set()
        op = first
        while op is not None:
            kept = isinstance(op, Op) and set_loop_carried_dims(op)
            if isinstance(op, Op) and not op.declares_results and (kept or any(v in changed for v in op.operands)):
                self._retype(op, infer(op).types, changed)
            self._retype(op, [self.named(r.type, r.name or stem) for r in op.results], changed)
            op = op.next

    @staticmethod
    def _retype(op: Operation, types: Iterable[Type], changed: set[Value]) -> None:
        for r, type in zip(op.results, types, strict=False):
            if r.type is not type:
                r.retype(type)
                changed.add(r)


def _without_shared_sizes(type: Type) -> Type:
    """A type in which nothing is said of symbolic sizes of the elements of lists: each may have others."""
    match type:
        case ListType(element=TensorType() as element):
            return ListType(element.without_symbolic_dims(), type.length)
        case OptionalType():
            return OptionalType(_without_shared_sizes(type.element))
        case _:
            return type
