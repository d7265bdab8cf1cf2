"""Names data-dependent dims, so that shape arithmetic works on them as on dims of inputs.

Source: `ods/data_dependent_dims.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeVar

from commonir.ir.interface import Port
from commonir.ir.module import Function
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.ports import NO_PORT
from commonir.ir.types import ListType, TensorType, Type, symbols_of
from commonir.ods import Op, infer
from commonir.passes.loop_carried_dims import set_loop_carried_dims
from commonir.symbolic import Dim, plain_symbol, symbol

_D = TypeVar("_D")
_NOT_A_SYMBOL_CHARACTER = re.compile(r"[^A-Za-z0-9_]")


class DimNames:
    """Creates symbols for unknown dims, with names that are unique in a function."""

    def __init__(self, inputs: Iterable[Value], used: Iterable[str] = ()) -> None:
        self._used = {*symbols_of([v.type for v in inputs]), *used}
        self._ports: dict[Function, Mapping[str, Port]] = {}
        """Ports of the inputs of functions, which are made each time that they are read."""

    def __len__(self) -> int:
        """Returns the number of names in use."""
        return len(self._used)

    def of_argument(self, argument: Value, type: Type, lower_bound: int = 0) -> Type:
        """Returns the type in the core of an argument with a symbol for each unknown dim, as `of_input`."""
        return self.of_input(argument, _without_list_dims(type), lower_bound)

    def of_input(self, argument: Value, type: Type, lower_bound: int = 0) -> Type:
        """Returns the type of an argument with a symbol for each unknown dim.

        Its name is the one that the port of the argument has, or begins with the name of the argument.
        """
        if isinstance(type, TensorType) and type.shape is not None and None in type.shape:
            type = self._with_names_of_port(argument, type, lower_bound)
        return self.named(type, argument.name or f"input{argument.index}", lower_bound)

    def _with_names_of_port(self, argument: Value, type: TensorType, lower_bound: int) -> TensorType:
        region = argument.owner.parent if isinstance(argument.owner, Block) else None
        function = None if region is None else region.parent
        if not isinstance(function, Function) or argument.owner is not function.body:
            return type
        if function not in self._ports:
            self._ports[function] = function.input_ports
        names = self._ports[function].get(argument.name, NO_PORT).dims
        shape = type.shape or ()
        if len(names) != len(shape):
            return type
        pairs = zip(shape, names, strict=True)
        return type.with_shape(tuple([symbol(n, lower_bound) if d is None and n else d for d, n in pairs]))

    def named(self, type: Type, stem: str, lower_bound: int = 0) -> Type:
        """Returns a type with a symbol for each unknown dim; its name begins with `stem`."""
        if not isinstance(type, TensorType) or type.shape is None or None not in type.shape:
            return type
        stem = _NOT_A_SYMBOL_CHARACTER.sub("_", stem)
        dims: list[Dim] = [
            symbol(self._unique(f"{stem}_{n}"), lower_bound) if d is None else d for n, d in enumerate(type.shape)
        ]
        return type.with_shape(tuple(dims))

    def _unique(self, name: str) -> str:
        base, number = name, 1
        while name in self._used:
            number += 1
            name = f"{base}_{number}"
        self._used.add(name)
        return name

    def name_results(self, first: Operation | None, stem: str) -> None:
        """Names the unknown dims of the results of an operation and of the following ones, and infers dependent types.

        Raises: DiagnosticError as inference does.
        """
        changed: set[Value] = set()
        op = first
        while op is not None:
            is_refined = isinstance(op, Op) and set_loop_carried_dims(op)
            if (
                isinstance(op, Op)
                and not op.declares_results
                and (is_refined or any(v in changed for v in op.operands))
            ):
                self._retype(op, infer(op).types, changed)
            self._retype(op, [self.named(r.type, r.name or stem) for r in op.results], changed)
            op = op.next

    @staticmethod
    def _retype(op: Operation, types: Iterable[Type], changed: set[Value]) -> None:
        for r, type in zip(op.results, types, strict=False):
            if r.type is not type:
                r.retype(type)
                changed.add(r)


def dims_by_name(inputs: Iterable[Value], dims: Mapping[str, _D]) -> dict[str, _D]:
    """Returns the values of dims, with the names of symbols in the place of `INPUT.AXIS`; others stay."""
    axes = {
        f"{value.name}.{axis}": name
        for value, type in named_inputs(inputs)
        for axis, d in enumerate((type.shape or ()) if isinstance(type, TensorType) else ())
        if (name := plain_symbol(d)) is not None
    }
    return {axes.get(text, text): dim for text, dim in dims.items()}


def named_inputs(inputs: Iterable[Value]) -> list[tuple[Value, Type]]:
    """Returns the inputs of a function, each with its type with a symbol for each unknown dim."""
    values = list(inputs)
    names = DimNames(values)
    return [(v, names.of_argument(v, v.type)) for v in values]


def _without_list_dims(type: Type) -> Type:
    """Returns a type without the symbolic dims of list elements, since each element may have others."""
    match type:
        case ListType(element=TensorType() as element):
            return ListType(element.without_symbolic_dims(), type.length)
        case _ if type.parts:
            return type.with_parts(tuple(map(_without_list_dims, type.parts)))
        case _:
            return type
