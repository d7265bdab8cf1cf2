"""Rewrite rules as data: terms over definitions, and `source >> result`.

A source term says what an operation must look like, as far as it matters: what it does not mention is free. The same
variable twice stands for the same value or attribute. Result terms say everything: values that are bound, operations
to be made, attributes that are bound or computed.

    x, k = variables("x k")
    rule = t.Scale.like(t.Scale.like(x, factor=1.0), factor=k) >> t.Scale.like(x, factor=k)

Source: MLIR operation definitions, rewrite pattern description.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from commonir.ir.attributes import is_sequence
from commonir.ods.fields import Check, FieldKind
from commonir.ods.patterns import TypeConstraint

if TYPE_CHECKING:
    from commonir.ods.definition import Definition

Condition = Callable[..., bool]


class Term:
    """A part of a rule."""

    __slots__ = ()

    def __rshift__(self, result: object) -> Rewrite:
        raise TypeError("the source of a rule is an operation: `Definition.like(...) >> result`")


class Variable(Term):
    """Stands for a value or an attribute; `constraint` must hold of the type of the value, or of the attribute."""

    __slots__ = ("constraint", "name")

    def __init__(self, name: str, constraint: TypeConstraint | Check | None = None) -> None:
        self.name = name
        self.constraint = constraint

    def of(self, constraint: TypeConstraint | Check) -> Variable:
        """The variable, for values or attributes of which something holds."""
        return Variable(self.name, constraint)

    def __repr__(self) -> str:
        return f"${self.name}"


class Anything(Term):
    """Matches whatever is there, and binds nothing."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "$_"


class Constant(Term):
    """An operand whose elements are known before running; `holds` is asked of them: a tuple of numbers, in order."""

    __slots__ = ("holds", "name", "text")

    def __init__(self, text: str, holds: Callable[[tuple[Any, ...]], bool] = lambda _: True, name: str = "") -> None:
        self.text = text
        self.holds = holds
        self.name = name

    def __repr__(self) -> str:
        return f"constant {self.text}"


class Computed(Term):
    """In a result: what a function makes of what is bound. It gets values as `Value`, attributes as Python values.

    It returns a value, an attribute value, or None when the rule does not apply after all.
    """

    __slots__ = ("arguments", "function", "name")

    def __init__(self, name: str, function: Callable[..., object], arguments: Sequence[object]) -> None:
        self.name = name
        self.function = function
        self.arguments = tuple(arguments)

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(map(repr, self.arguments))})"


def computed(function: Callable[..., object], *arguments: object) -> Computed:
    """What a function makes of variables, for the result of a rule."""
    return Computed(getattr(function, "__name__", "function"), function, arguments)


class OperationTerm(Term):
    """An operation: in a source what it must look like, in a result what is made.

    `fields` has a term or a Python value for each field that is mentioned; a variadic operand has a tuple of terms, or
    a variable for all of its values. `extra` has terms for attributes that the definition does not declare. `label`
    names the operation, so that results can refer to its values.
    """

    __slots__ = ("definition", "extra", "fields", "label", "swaps")

    def __init__(
        self,
        definition: type[Definition],
        fields: Mapping[str, object],
        *,
        label: str = "",
        swaps: bool = False,
        extra: Mapping[str, object] | None = None,
    ) -> None:
        self.definition = definition
        self.fields = dict(fields)
        self.extra = dict(extra or {})
        self.label = label
        self.swaps = swaps

    def named(self, label: str) -> OperationTerm:
        """The same under a name."""
        return OperationTerm(self.definition, self.fields, label=label, swaps=self.swaps, extra=self.extra)

    def either_way(self) -> OperationTerm:
        """The same, its first two operands in either order."""
        return OperationTerm(self.definition, self.fields, label=self.label, swaps=True, extra=self.extra)

    def __rshift__(self, result: object) -> Rewrite:
        return Rewrite(self, tuple(result) if is_sequence(result) else (result,))

    def __repr__(self) -> str:
        return f"{self.definition.name}({', '.join(f'{n}={t!r}' for n, t in self.fields.items())})"


class Restriction:
    """A condition on several bound terms, with the text that completes `must be such that ...`."""

    __slots__ = ("arguments", "holds", "text")

    def __init__(self, text: str, holds: Condition, arguments: Sequence[object]) -> None:
        self.text = text
        self.holds = holds
        self.arguments = tuple(arguments)


class Rewrite:
    """A rule: what it matches, what takes its place, and on which conditions.

    The last results stand for the results of the matched operation; those before are made because others use them.
    `benefit` is added to how discriminating the rule is. `place` is where it is written, for messages.
    """

    __slots__ = ("benefit", "name", "place", "restrictions", "results", "source")

    def __init__(
        self,
        source: OperationTerm,
        results: Sequence[object],
        restrictions: Sequence[Restriction] = (),
        *,
        benefit: int = 0,
        name: str = "",
        place: str = "",
    ) -> None:
        self.source = source
        self.results = tuple(results)
        self.restrictions = tuple(restrictions)
        self.benefit = benefit
        self.name = name
        self.place = place

    def where(self, text: str, holds: Condition, *arguments: object) -> Rewrite:
        """The rule with one more condition: a function of bound values and attributes."""
        return self._with(restrictions=(*self.restrictions, Restriction(text, holds, arguments)))

    def named(self, name: str) -> Rewrite:
        """The rule under a name."""
        return self._with(name=name)

    def preferred(self, benefit: int) -> Rewrite:
        """The rule with an advantage over others that match the same."""
        return self._with(benefit=benefit)

    def _with(
        self, restrictions: tuple[Restriction, ...] | None = None, name: str | None = None, benefit: int | None = None
    ) -> Rewrite:
        return Rewrite(
            self.source,
            self.results,
            self.restrictions if restrictions is None else restrictions,
            benefit=self.benefit if benefit is None else benefit,
            name=self.name if name is None else name,
            place=self.place,
        )

    def __repr__(self) -> str:
        return self.name or f"{self.source!r} >> {', '.join(map(repr, self.results))}"


def variables(names: str) -> tuple[Variable, ...]:
    """Variables by their names, separated by blanks."""
    return tuple(map(Variable, names.split()))


def fields_of(definition: type[Definition], terms: Sequence[object], named: Mapping[str, object]) -> dict[str, object]:
    """Terms by field, as a constructor takes its arguments: by position, by name, or not at all.

    Raises: TypeError for a name that is no field, and for more terms than there are fields.
    """
    declared = [f for f in definition.layout.arguments if f.kind is not FieldKind.REGION]
    if len(terms) > len(declared):
        raise TypeError(f"{definition.name} has {len(declared)} fields, {len(terms)} terms were given")
    out = {f.name: t for f, t in zip(declared, terms, strict=False)}
    known = {f.name for f in declared}
    for name, term in named.items():
        if name not in known or name in out:
            what = "is given twice" if name in out else "is no field"
            raise TypeError(f"{definition.name}: '{name}' {what}")
        out[name] = term
    return out


__all__ = [
    "Anything",
    "Computed",
    "Constant",
    "OperationTerm",
    "Restriction",
    "Rewrite",
    "Term",
    "Variable",
    "computed",
    "fields_of",
    "variables",
]
