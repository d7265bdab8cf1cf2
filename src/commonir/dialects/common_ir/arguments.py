"""Operands of a call and the parameters of the function that they belong to.

Argument counts give operands to parameters from left to right. A parameter that is a list takes one list, or any number
of values, of which the function makes a list. Source: Common IR specification, nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from commonir.base.codes import WRONG_OPERAND_COUNT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.text import plural
from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.ir.operation import Block, Value
from commonir.ir.types import ListType, TensorType, Type, f32, unknown
from commonir.ods.declared_types import DeclaredType, ListOf, Undetermined, Unification


class Group(NamedTuple):
    """The operands of one parameter, by their types and the place of the first of them.

    `makes_list`: they are the elements of the list that the parameter is.
    """

    parameter: Value
    declared: DeclaredType
    types: tuple[Type, ...]
    start: int
    makes_list: bool

    def declared_operands(self) -> Iterator[DeclaredType]:
        """Yields the declared type of each operand."""
        element = self.declared.element if self.makes_list and isinstance(self.declared, ListOf) else self.declared
        yield from (element for _ in self.types)

    @property
    def stop(self) -> int:
        """The place after the last operand."""
        return self.start + len(self.types)

    def element(self, bindings: Unification) -> Type:
        """Returns the element type of the list that the operands make."""
        try:
            result = self.declared.resolve(bindings)
        except Undetermined:
            result = self.parameter.type
        return result.element if isinstance(result, ListType) else TensorType(f32, None)

    def received(self, block: Block, bindings: Unification) -> Value:
        """Returns the value of the parameter in a block that begins with the operands as arguments."""
        arguments = block.arguments[self.start : self.stop]
        if not self.makes_list:
            return arguments[0]
        element = self.element(bindings)
        if not arguments:
            return block.append(core.ListEmpty.build({"element": element}, [ListType(element)])).result
        return block.append(core.ListOf.build({"xs": arguments}, [ListType(element)])).result


def grouped(
    function: str,
    parameters: Sequence[Value],
    declared: Sequence[DeclaredType],
    types: Sequence[Type],
    counts: Sequence[int] | None,
) -> list[Group]:
    """Returns the operands of a call by parameter; without counts each parameter takes one.

    Raises: DiagnosticError (E0502) with every parameter whose number of operands does not fit.
    """
    known = (1,) * len(types) if counts is None else tuple(counts)
    if len(known) != len(parameters) or min(known, default=0) < 0 or sum(known) != len(types):
        text = f"function '{function}' takes {plural(len(parameters), 'input')}, found {len(types)}"
        if counts is not None:
            text = f"the argument counts {list(known)} do not divide {plural(len(types), 'input')} among the "
            text += f"{plural(len(parameters), 'parameter')} of function '{function}'"
        raise DiagnosticError(Diagnostic(WRONG_OPERAND_COUNT, text))
    out: list[Group] = []
    wrong: list[Diagnostic] = []
    for v, expected, stop, count in zip(parameters, declared, accumulate(known), known, strict=True):
        own = tuple(types[stop - count : stop])
        is_list = isinstance(expected, ListOf)
        out.append(Group(v, expected, own, stop - count, is_list and not _is_one_list(own)))
        if count != 1 and not is_list:
            text = f"parameter '{v.name}' of function '{function}' takes one value, found {count}"
            help = "declare it as a list to pass several" if count else None
            wrong.append(Diagnostic(WRONG_OPERAND_COUNT, text, help=help))
    if wrong:
        raise DiagnosticError(*wrong)
    return out


def _is_one_list(types: Sequence[Type]) -> bool:
    return len(types) == 1 and (types[0] is unknown or isinstance(types[0], ListType))
