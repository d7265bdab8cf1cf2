"""Checks, made when a program runs, that values have the shapes that one declaration declares for them.

Source: Common IR specification, tensor shapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.dialects.common_ir import rules
from commonir.ir.operation import Value
from commonir.ir.types import ELEMENT_TYPES, ListType, OptionalType, SparseTensorType, TensorType, TupleType, Type
from commonir.notation import NotationError
from commonir.ods import Op, any_type, attr_types, attribute, operand
from commonir.ods.declared_types import (
    DeclaredType,
    ListOf,
    Mismatch,
    OptionalOf,
    TensorOf,
    TupleOf,
    Unification,
    declared_type,
)
from commonir.ods.patterns import Pattern
from commonir.symbolic import Dim
from commonir.symbolic.constraints import Constraint
from commonir.symbolic.errors import NotKnownError


class DeclaredValues:
    """The declared types of the values of one declaration, which share the names of dims."""

    def __init__(self, types: Iterable[Type]) -> None:
        self._unification = Unification({}, types)

    @property
    def dims(self) -> Mapping[str, Dim]:
        """The dims that names were found to be."""
        return self._unification.dims

    def match(self, declared: DeclaredType, actual: Type) -> tuple[Constraint, ...]:
        """Compares an actual type with the declared one; returns the new constraints on dims that must hold.

        Raises: Mismatch or NotationError when it does not fit.
        """
        before = self._unification.constraints
        self._unification.match(declared, actual)
        return tuple([c for c in self._unification.constraints if c not in before])


class CheckShapes(Op, name="common_ir.check_shapes"):
    """Ends the run if values do not have the shapes that one declaration declares for them.

    `types` are the declared types of the values, `names` their names; lowering puts it where a function returns.
    """

    types: tuple[str, ...] = attribute(attr_types.strings, doc="the declared type of each value")
    names: tuple[str, ...] = attribute(attr_types.strings, doc="the name of each value")
    values: tuple[Value, ...] = operand(any_type, variadic=True)

    def infer(self) -> tuple[Type, ...]:
        return ()

    def reference(self, values: tuple[Value, ...]) -> core.Require | tuple[()]:
        constraints, is_complete = _constraints(self.names, list(map(declared_type, self.types)), values)
        if not is_complete:
            raise NotKnownError("the rank of a value is not known before running")
        if not constraints:
            return ()
        holds = [core.equal(core.dims((c.lhs,)), core.dims((c.rhs,))) for _, c in constraints]
        shown = "; ".join([f"{name}: {c.lhs} and {c.rhs} must be equal" for name, c in constraints])
        condition = core.reshape(reduce(core.logical_and, holds), ())
        return core.Require(condition, f"the declared types do not hold: {shown}", ())

    def dynamic_reference(self, values: tuple[Value, ...]) -> tuple[()]:  # noqa: ARG002  of any
        """Where nothing is known of the rank of a value, a target cannot check it."""
        return ()


def shape_check(names: Sequence[str], types: Sequence[DeclaredType], values: Sequence[Value]) -> CheckShapes | None:
    """Returns an operation that checks the shapes of values when the program runs; None if they are known to fit.

    Raises: DiagnosticError (E0255) if they cannot fit.
    """
    constraints, is_complete = _constraints(names, types, values)
    return None if is_complete and not constraints else CheckShapes(tuple(map(str, types)), tuple(names), tuple(values))


def _constraints(
    names: Sequence[str], types: Sequence[DeclaredType], values: Sequence[Value]
) -> tuple[list[tuple[str, Constraint]], bool]:
    """Returns the constraints under which values fit, each with the name of a value, and whether the ranks are known.

    Raises: DiagnosticError (E0255) if they cannot fit.
    """
    known = DeclaredValues([v.type for v in values])
    out: list[tuple[str, Constraint]] = []
    is_complete = True
    for name, declared, v in zip(names, types, values, strict=True):
        for pattern, tensor in _tensors(declared, v.type):
            # What is inside of lists and tuples is compared as data.
            is_complete = is_complete and (tensor.shape is not None or not pattern.dims or bool(v.type.parts))
            try:
                out += [(name, c) for c in known.match(TensorOf(pattern), tensor)]
            except (Mismatch, NotationError) as error:
                text = f"'{name}' is declared {declared}, and is {v.type}: {error}"
                raise DiagnosticError(rules.DECLARED_RESULTS.broken(text)) from None
    return out, is_complete


def _tensors(declared: DeclaredType, actual: Type) -> Iterator[tuple[Pattern, TensorType]]:
    """Yields the tensors in a value with their declared types. Only shapes are of interest: the element types of a
    lowered program may be others.
    """
    match declared, actual:
        case TensorOf(pattern=pattern), TensorType(shape=shape) | SparseTensorType(shape=shape):
            element = ELEMENT_TYPES.get(pattern.element)
            if element is not None:
                yield pattern, TensorType(element, shape)
        case (ListOf(), ListType()) | (OptionalOf(), OptionalType()):
            yield from _tensors(declared.element, actual.element)
        case TupleOf(), TupleType() if len(declared.elements) == len(actual.elements):
            for part, type in zip(declared.elements, actual.elements, strict=True):
                yield from _tensors(part, type)
        case _:
            return
