"""Rewrite rules as data: terms over definitions, and `source >> result`.

A source term is a pattern of an operation; fields that it does not mention match anything. A repeated variable matches
equal values or attributes. Result terms are complete: bound values, new operations, bound or computed attributes.

    x, k = variables("x k")
    rule = term(t.Scale, term(t.Scale, x, factor=1.0), factor=k) >> term(t.Scale, x, factor=k)

Source: MLIR operation definitions, rewrite pattern description.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from typing import Any

from commonir.base.suggestions import did_you_mean
from commonir.ir.attributes import is_sequence
from commonir.ir.data import Data
from commonir.ods.definition import Definition
from commonir.ods.fields import Check, FieldKind
from commonir.ods.patterns import TypeConstraint

Condition = Callable[..., bool]


class Term:
    """A part of a rule."""

    __slots__ = ()

    def __rshift__(self, result: object) -> Rewrite:
        raise TypeError("the source of a rule is an operation: `term(Definition, ...) >> result`")


class Variable(Term):
    """A variable for a value or an attribute; `constraint` applies to the type of the value, or to the attribute."""

    __slots__ = ("constraint", "name")

    def __init__(self, name: str, constraint: TypeConstraint | Check | None = None) -> None:
        self.name = name
        self.constraint = constraint

    def of(self, constraint: TypeConstraint | Check) -> Variable:
        """Returns the variable with a constraint on its values or attributes."""
        return Variable(self.name, constraint)

    def __repr__(self) -> str:
        return f"${self.name}"


class StorageCheck(Check):
    """A condition on the storage form of an attribute."""

    __slots__ = ()


class Anything(Term):
    """Matches anything without binding it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "$_"


class Constant(Term):
    """An operand whose elements are known before running.

    `holds` is a condition on the tuple of elements or, with `is_splat`, on the number to which all are equal.
    """

    __slots__ = ("holds", "is_splat", "name", "text")

    def __init__(
        self, text: str, holds: Callable[[Any], bool] | None = None, name: str = "", *, is_splat: bool = False
    ) -> None:
        self.text = text
        self.holds = holds
        self.name = name
        self.is_splat = is_splat

    def admits(self, data: Data) -> bool:
        """Returns whether a constant with these contents matches."""
        if self.is_splat:
            one = data.splat()
            return one is not None and (self.holds is None or self.holds(one))
        return self.holds is None or self.holds(data.values())

    def named(self, name: str) -> Constant:
        """Returns the term with a name."""
        return Constant(self.text, self.holds, name, is_splat=self.is_splat)

    def __repr__(self) -> str:
        return f"constant {self.text}"


class Computed(Term):
    """In a result: the value of a function of bound values.

    The function takes values as `Value` and attributes as Python values. It returns a value, an attribute value, or
    None if the rule does not apply; the result of a supplement is ignored. `label` names the results; `count` is their
    number, if known.
    """

    __slots__ = ("arguments", "count", "function", "label", "location", "name", "pick")

    def __init__(
        self,
        name: str,
        function: Callable[..., object],
        arguments: Sequence[object],
        *,
        label: str = "",
        count: int | None = None,
        pick: int | None = None,
        location: LocationTerm | None = None,
    ) -> None:
        self.name = name
        self.function = function
        self.arguments = tuple(arguments)
        self.label = label
        self.count = count
        self.pick = pick
        self.location = location

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(map(repr, self.arguments))})"


def computed(function: Callable[..., object], *arguments: object) -> Computed:
    """Returns a term that applies a function to variables, for the result of a rule."""
    return Computed(getattr(function, "__name__", "function"), function, arguments)


class SourceCall(Term):
    """In a source: a function of an operand (its value) or of an attribute (its Python value).

    It returns the values of `outputs`, a tuple of several, True for none; None or False if the rule does not apply.
    """

    __slots__ = ("function", "name", "outputs")

    def __init__(self, name: str, function: Callable[..., object], outputs: Sequence[Variable | Anything]) -> None:
        self.name = name
        self.function = function
        self.outputs = tuple(outputs)

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(map(repr, self.outputs))})"


class Group(Term):
    """The operands of a variadic field as separate terms, with a name for all of them."""

    __slots__ = ("items", "name")

    def __init__(self, items: Sequence[object], name: str) -> None:
        self.items = tuple(items)
        self.name = name

    def __repr__(self) -> str:
        return f"({', '.join(map(repr, self.items))}):${self.name}"


class LocationTerm(Term):
    """In a result: the location of an operation, from those of variables, with a name or further text."""

    __slots__ = ("sources", "text")

    def __init__(self, text: str, sources: Sequence[Variable]) -> None:
        self.text = text
        self.sources = tuple(sources)


class OperationTerm(Term):
    """An operation: the pattern of one in a source, a new one in a result.

    `fields` has a term or a Python value for each field that is mentioned; a variadic operand has a tuple of terms, or
    a variable for all of its values. `extra` has terms for attributes that the definition does not declare. `label`
    names the operation, so that results can refer to its values; `pick` selects one of its results: by default all of
    them, or the first as a single operand. `swaps` are pairs of fields that a source matches in either order. In a
    result, `types` are the types of its results (types, variables that have the type, functions that return types), if
    they cannot be inferred, and `location` is its location.
    """

    __slots__ = ("definition", "extra", "fields", "label", "location", "pick", "swaps", "types")

    def __init__(
        self,
        definition: type[Definition],
        fields: Mapping[str, object],
        *,
        label: str = "",
        swaps: Sequence[tuple[str, str]] = (),
        extra: Mapping[str, object] | None = None,
        types: Sequence[object] = (),
        location: LocationTerm | None = None,
        pick: int | None = None,
    ) -> None:
        self.definition = definition
        self.fields = dict(fields)
        self.extra = dict(extra or {})
        self.label = label
        self.swaps = tuple(swaps)
        self.types = tuple(types)
        self.location = location
        self.pick = pick

    def named(self, label: str) -> OperationTerm:
        """Returns the term with a name."""
        return self._with(label=label)

    def either_way(self) -> OperationTerm:
        """Returns the term with its first two operands in either order."""
        if len(self.fields) < 2:
            raise TypeError(f"{self.definition.name}: swapping operands needs two fields")
        first, second, *_ = self.fields
        if any(self.definition.layout.by_name[n].kind is FieldKind.ATTRIBUTE for n in (first, second)):
            raise TypeError(f"{self.definition.name}: attributes have no other order")
        return self._with(swaps=((first, second),))

    def typed(self, *types: object) -> OperationTerm:
        """Returns the term with declared result types."""
        return self._with(types=types)

    def _with(
        self,
        label: str | None = None,
        swaps: Sequence[tuple[str, str]] | None = None,
        types: Sequence[object] | None = None,
    ) -> OperationTerm:
        return OperationTerm(
            self.definition,
            self.fields,
            label=self.label if label is None else label,
            swaps=self.swaps if swaps is None else swaps,
            extra=self.extra,
            types=self.types if types is None else types,
            location=self.location,
            pick=self.pick,
        )

    def __rshift__(self, result: object) -> Rewrite:
        return Rewrite(self, tuple(result) if is_sequence(result) else (result,))

    def __repr__(self) -> str:
        known = self.definition.layout.by_name
        shown = {**{known[n].spelling: t for n, t in self.fields.items()}, **self.extra}
        return f"{self.definition.name}({', '.join([f'{n}={t!r}' for n, t in shown.items()])})"


class Restriction:
    """A condition on several bound terms, with the text that completes `must be such that ...`.

    Attributes are passed as Python values, or with `is_stored` in storage form. `constraint` is the constraint that the
    types of all arguments satisfy, if the condition is one.
    """

    __slots__ = ("arguments", "constraint", "holds", "is_stored", "text")

    def __init__(
        self,
        text: str,
        holds: Condition,
        arguments: Sequence[object],
        *,
        is_stored: bool = False,
        constraint: TypeConstraint | None = None,
    ) -> None:
        self.text = text
        self.constraint = constraint
        self.holds = holds
        self.arguments = tuple(arguments)
        self.is_stored = is_stored


class Precedence(Enum):
    """The order of rules with equal benefit."""

    DISCRIMINATION = auto()
    """The more discriminating rule is first; equally discriminating ones are an error."""
    ORDER = auto()
    """Rules are tried in the order of the set, as by MLIR's drivers."""


class Rewrite:
    """A rule: a source pattern, the results that replace it, and conditions.

    The last results replace the results of the matched operation; earlier ones are operands of later ones, and
    `supplements` are built after them. `benefit` is added to the discrimination of the rule; `precedence` orders rules
    for which the sum is equal. `position` is the source position of the rule, for messages.
    """

    __slots__ = ("benefit", "name", "position", "precedence", "restrictions", "results", "source", "supplements")

    def __init__(
        self,
        source: OperationTerm,
        results: Sequence[object],
        restrictions: Sequence[Restriction] = (),
        *,
        supplements: Sequence[object] = (),
        benefit: int = 0,
        precedence: Precedence = Precedence.DISCRIMINATION,
        name: str = "",
        position: str = "",
    ) -> None:
        self.source = source
        self.results = tuple(results)
        self.restrictions = tuple(restrictions)
        self.supplements = tuple(supplements)
        self.benefit = benefit
        self.precedence = precedence
        self.name = name
        self.position = position

    def where(self, text: str, holds: Condition, *arguments: object) -> Rewrite:
        """Returns the rule with one more condition: a function of bound values and attributes."""
        return self._with(restrictions=(*self.restrictions, Restriction(text, holds, arguments)))

    def named(self, name: str) -> Rewrite:
        """Returns the rule with a name."""
        return self._with(name=name)

    def preferred(self, benefit: int) -> Rewrite:
        """Returns the rule with a benefit, by which it is preferred to others that match."""
        return self._with(benefit=benefit)

    def preceding(self, precedence: Precedence) -> Rewrite:
        """Returns the rule with another precedence."""
        return self._with(precedence=precedence)

    def _with(
        self,
        restrictions: tuple[Restriction, ...] | None = None,
        name: str | None = None,
        benefit: int | None = None,
        precedence: Precedence | None = None,
    ) -> Rewrite:
        return Rewrite(
            self.source,
            self.results,
            self.restrictions if restrictions is None else restrictions,
            supplements=self.supplements,
            benefit=self.benefit if benefit is None else benefit,
            precedence=self.precedence if precedence is None else precedence,
            name=self.name if name is None else name,
            position=self.position,
        )

    def __repr__(self) -> str:
        return self.name or f"{self.source!r} >> {', '.join(map(repr, self.results))}"


def variables(names: str) -> tuple[Variable, ...]:
    """Returns variables from their names, separated by blanks."""
    return tuple(map(Variable, names.split()))


def term(definition: type[Definition], *terms: object, **named: object) -> OperationTerm:
    """Returns a term of a rewrite rule: operations of a definition with these fields; others match
    anything.

    Arguments are as in the constructor.

    Raises: TypeError for an unknown field.
    """
    return OperationTerm(definition, _fields_of(definition, terms, named))


def _fields_of(definition: type[Definition], terms: Sequence[object], named: Mapping[str, object]) -> dict[str, object]:
    """Returns terms by field, from positional and named arguments as in the constructor.

    Raises: TypeError for an unknown field, and for more terms than there are fields.
    """
    if not isinstance(definition, type) or not issubclass(definition, Definition):  # pyright: ignore[reportUnnecessaryIsInstance]  # for callers without types
        raise TypeError(f"term takes the class of an operation, such as `onnx.Relu`, found {definition!r}")
    declared = [f for f in definition.layout.arguments if f.kind is not FieldKind.REGION]
    if len(terms) > len(declared):
        raise TypeError(f"{definition.name} has {len(declared)} fields, {len(terms)} terms were given")
    out = {f.name: t for f, t in zip(declared, terms, strict=False)}
    known = {f.name for f in declared}
    for name, value in named.items():
        if name not in known or name in out:
            help = did_you_mean(name, known)
            unknown = f"is not a field{f': {help}' if help else ''}"
            raise TypeError(f"{definition.name}: '{name}' {'is given twice' if name in out else unknown}")
        out[name] = value
    return out
