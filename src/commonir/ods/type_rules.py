"""Traits that relate the types of an operation's operands, results and attributes.

Each is used twice: to verify the types of a program, and to infer those that a text or a constructor call omits.

Source: MLIR operation definitions, type constraints over several operands and results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from commonir.ir.attributes import BoolAttr, DataAttr, FloatAttr, IntegerAttr, StringAttr, TypeAttr
from commonir.ir.data import Data
from commonir.ir.operation import Operation
from commonir.ir.types import ElementType, Shape, TensorType, Type, VectorType, boolean, none
from commonir.ods.traits import Trait


class Typing:
    """The known types of the values and typed attributes of one operation, by field.

    `counts` has the known numbers of values of fields.
    """

    __slots__ = ("counts", "operands", "results", "types")

    def __init__(
        self,
        operands: Sequence[str],
        results: Sequence[str],
        counts: Mapping[str, int],
        types: Mapping[str, tuple[Type, ...]],
    ) -> None:
        self.operands = operands
        self.results = results
        self.counts = counts
        self.types = dict(types)

    def of(self, name: str) -> Type | None:
        """Returns the type of a field: of its first value when it has several."""
        result = self.types.get(name)
        return result[0] if result else None

    def all(self, names: Iterable[str]) -> list[Type]:
        """Returns the types of all values of the named fields."""
        return [t for n in names for t in self.types.get(n, ())]

    def set_default(self, name: str, type: Type) -> None:
        """Sets the types of the values of a field, unless they are known."""
        if name not in self.types and name in self.counts:
            self.types[name] = (type,) * self.counts[name]


Deduce = Callable[[Typing], None]
Names = Callable[[Typing], Iterable[str]]
Problems = Callable[[Typing], Iterator[str]]


class TypeRule(Trait):
    """A trait that relates types. `deduce` infers types from others, `problems` yields contradictions.

    `copies`: `deduce` copies the type of one field to others. `sources` and `targets` are the fields from which it
    infers types, and those whose types it infers: of a shared type, from any of its sources; else, from all.
    """

    __slots__ = ("copies", "deduce", "problems", "sources", "targets")

    def __init__(
        self,
        name: str,
        summary: str,
        problems: Problems,
        deduce: Deduce | None = None,
        *,
        copies: bool = False,
        sources: Names | None = None,
        targets: Names | None = None,
    ) -> None:
        super().__init__(name, summary)
        self.problems = problems
        self.deduce = deduce
        self.copies = copies
        self.sources = sources
        self.targets = targets

    def implies(self, known: AbstractSet[str], typing: Typing) -> Iterable[str]:
        """Returns the fields whose types it infers from those of `known` fields; all, if it does not declare them."""
        if self.sources is None or self.targets is None:
            return () if self.deduce is None else _all(typing)
        found = [name in known for name in self.sources(typing)]
        return self.targets(typing) if (any(found) if self.copies else all(found)) else ()


def implied_types(
    rules: Sequence[TypeRule], known: Iterable[str], operands: Sequence[str], results: Sequence[str]
) -> AbstractSet[str]:
    """Returns the fields whose types are known, or follow from those by one rule, as MLIR applies them."""
    stated = frozenset(known)
    typing = Typing(operands, results, {}, {})
    return stated.union(*[rule.implies(stated, typing) for rule in rules])


def implying_fields(
    rules: Sequence[TypeRule], operands: Sequence[str], results: Sequence[str]
) -> AbstractSet[str] | None:
    """Returns the fields from whose types rules infer others; None if a rule does not declare them."""
    typing = Typing(operands, results, {}, {})
    out: set[str] = set()
    for rule in rules:
        if rule.deduce is not None and rule.sources is None:
            return None
        out.update(() if rule.sources is None else rule.sources(typing))
    return out


def deduce(rules: Sequence[TypeRule], single_types: Mapping[str, Type], typing: Typing) -> None:
    """Adds the types that follow from rules, and those of fields that admit a single type."""
    for name, type in single_types.items():
        typing.set_default(name, type)
    before = -1
    while before != len(typing.types):
        before = len(typing.types)
        for rule in rules:
            if rule.deduce is not None:
                rule.deduce(typing)


def element_of(type: Type) -> Type:
    """Returns the element type of a container with a shape, or the type itself."""
    result: object = getattr(type, "element", None) if shape_of(type) is not NO_SHAPE else None
    return result if isinstance(result, Type) else type


class NoShape:
    """Sentinel: the type has no shape, because it is a scalar or not a number."""


NO_SHAPE = NoShape()


def shape_of(type: Type) -> Shape | NoShape | None:
    """Returns the shape of a tensor, a vector or a memref, None when its rank is unknown."""
    if isinstance(type, TensorType):
        return type.shape
    result: object = getattr(type, "shape", NO_SHAPE)
    return result if result is None or isinstance(result, tuple) else NO_SHAPE  # pyright: ignore[reportUnknownVariableType]


def dims_of(type: Type) -> tuple[int | None, ...] | None:
    """Returns the dims of a type, None for each that is dynamic; None when the rank is unknown."""
    shape = shape_of(type)
    if shape is None or isinstance(shape, NoShape):
        return None
    return tuple([n if isinstance(n, int) else None for n in shape])


def static_dims_of(type: Type) -> tuple[int, ...] | None:
    """Returns the dims of a type if all are static."""
    dims = dims_of(type)
    known = () if dims is None else tuple([n for n in dims if n is not None])
    return None if dims is None or len(known) < len(dims) else known


def are_compatible_shapes(first: Type, second: Type) -> bool:
    """Returns whether the shapes of two types may be equal at run time: dynamic dims match any, scalable ones of
    vectors only scalable ones.
    """
    if isinstance(first, VectorType) and isinstance(second, VectorType) and first.scalable != second.scalable:
        return False
    a, b = shape_of(first), shape_of(second)
    if isinstance(a, NoShape) or isinstance(b, NoShape):
        return isinstance(a, NoShape) and isinstance(b, NoShape)
    if a is None or b is None:
        return True
    return len(a) == len(b) and all(
        x == y or not isinstance(x, int) or not isinstance(y, int) for x, y in zip(a, b, strict=True)
    )


def are_compatible_types(first: Type, second: Type) -> bool:
    """Returns whether two types have the same element type and container, and shapes that may be equal."""
    if first is second:
        return True
    return (
        type(first) is type(second)
        and element_of(first) is not first
        and element_of(first) is element_of(second)
        and are_compatible_shapes(first, second)
    )


def type_of_attribute(value: object) -> Type | None:
    """Returns the type of the constant in an attribute, if it has one."""
    match value:
        case BoolAttr():
            return boolean
        case IntegerAttr() | FloatAttr():
            return value.type
        case TypeAttr():
            return None
        case StringAttr():
            return none
        case DataAttr():
            return value.type
        case Data():
            return TensorType(value.element, value.shape)
        case _:
            result: object = getattr(value, "type", None)
            return result if isinstance(result, Type) else None


def with_element(type: Type, element: ElementType) -> Type:
    """Returns a type with another element type."""
    match type:
        case VectorType():
            return VectorType(element, type.shape, type.scalable)
        case TensorType():
            return TensorType(element, type.shape, type.encoding)
        case _:
            return element


def bools_like(type: Type) -> Type:
    """Returns the type of bools with the shape of a type."""
    return with_element(type, boolean)


def _agreeing(agree: Callable[[Type, Type], bool], message: str, names: Callable[[Typing], Iterable[str]]) -> Problems:
    """Returns the check that all types of the named fields agree with the first."""

    def problems(typing: Typing) -> Iterator[str]:
        types = typing.all(names(typing))
        for t in types[1:]:
            if t is not types[0] and not agree(types[0], t):
                yield f"{message}, found {types[0]} and {t}"
                return

    return problems


def _sharing(names: Callable[[Typing], Iterable[str]]) -> Deduce:
    """Returns the deduction that the named fields have the same type."""

    def deduce_shared(typing: Typing) -> None:
        shared = list(names(typing))
        known = next((t for n in shared if (t := typing.of(n)) is not None), None)
        if known is not None:
            for n in shared:
                typing.set_default(n, known)

    return deduce_shared


def _operands(typing: Typing) -> Iterable[str]:
    return typing.operands


def _all(typing: Typing) -> Iterable[str]:
    return (*typing.operands, *typing.results)


def _same_elements(first: Type, second: Type) -> bool:
    return element_of(first) is element_of(second)


def _same_shape(first: Type, second: Type) -> bool:
    return are_compatible_shapes(first, second) and shape_of(first) == shape_of(second)


def _same_rank(first: Type, second: Type) -> bool:
    a, b = shape_of(first), shape_of(second)
    if isinstance(a, NoShape) or isinstance(b, NoShape):
        return isinstance(a, NoShape) and isinstance(b, NoShape)
    return a is None or b is None or len(a) == len(b)


def _count(type: Type) -> int | None:
    shape = shape_of(type)
    if isinstance(shape, NoShape):
        return 1
    count = 1
    for d in shape or ():
        if not isinstance(d, int):
            return None
        count *= d
    return None if shape is None else count


def _same_count(first: Type, second: Type) -> bool:
    a, b = _count(first), _count(second)
    return a is None or b is None or a == b


def _rule(
    name: str,
    message: str,
    agree: Callable[[Type, Type], bool],
    fields: Callable[[Typing], Iterable[str]],
    *,
    shares: bool = False,
) -> TypeRule:
    problems = _agreeing(agree, message, fields)
    share = _sharing(fields) if shares else None
    return TypeRule(name, message, problems, share, copies=shares, sources=fields, targets=fields)


_SAME = "requires the same type for all operands and results"


def _same_types(typing: Typing) -> Iterator[str]:
    """Yields violations: operands must be compatible, and results have the type of the first one."""
    yield from _agreeing(are_compatible_types, _SAME, _operands)(typing)
    operands, results = typing.all(typing.operands), typing.all(typing.results)
    expected = (operands or results)[:1]
    for t in results:
        if t is not expected[0]:
            yield f"{_SAME}, found {expected[0]} and {t}"
            return


SameOperandsAndResultType = TypeRule(
    "SameOperandsAndResultType", _SAME, _same_types, _sharing(_all), copies=True, sources=_all, targets=_all
)
SameTypeOperands = _rule(
    "SameTypeOperands", "requires all operands to have the same type", are_compatible_types, _operands, shares=True
)
SameOperandsShape = _rule(
    "SameOperandsShape", "requires the same shape for all operands", are_compatible_shapes, _operands
)
SameOperandsAndResultShape = _rule(
    "SameOperandsAndResultShape", "requires the same shape for all operands and results", are_compatible_shapes, _all
)
SameOperandsElementType = _rule(
    "SameOperandsElementType", "requires the same element type for all operands", _same_elements, _operands
)
SameOperandsAndResultElementType = _rule(
    "SameOperandsAndResultElementType",
    "requires the same element type for all operands and results",
    _same_elements,
    _all,
)
SameOperandsAndResultRank = _rule(
    "SameOperandsAndResultRank", "requires the same rank for all operands and results", _same_rank, _all
)


def _same_non_scalars(op: Operation) -> Iterator[str]:
    operands, results = [[v.type for v in vs if shape_of(v.type) is not NO_SHAPE] for vs in (op.operands, op.results)]
    if bool(operands) != bool(results):
        yield "if an operand is non-scalar, then there must be at least one non-scalar result, and the other way round"
        return
    ranked = [(type(t), shape_of(t) is None) for t in (*operands, *results)]
    is_compatible = all(are_compatible_shapes(operands[0], t) for t in (*operands, *results))
    if len(set(ranked)) > 1 or not is_compatible:
        yield "all non-scalar operands/results must have the same shape and base type"


SameNonScalars = Trait(
    "SameNonScalars", "its non-scalars have the same container type, and shapes that may be equal", _same_non_scalars
)


def _named(
    trait: str, what: str, agree: Callable[[Type, Type], bool], names: Sequence[str], *, shares: bool = False
) -> TypeRule:
    message = f"all of {{{', '.join(names)}}} must have the same {what}"
    return _rule(f"{trait}({', '.join(names)})", message, agree, lambda _: names, shares=shares)


def all_types_match(*names: str) -> TypeRule:
    """Returns the trait that the named operands, results and attributes have the same type."""
    return _named("AllTypesMatch", "type", lambda a, b: a is b, names, shares=True)


def all_element_types_match(*names: str) -> TypeRule:
    """Returns the trait that the named operands and results have the same element type."""
    return _named("AllElementTypesMatch", "element type", _same_elements, names)


def all_shapes_match(*names: str) -> TypeRule:
    """Returns the trait that the named operands and results have the same shape, also the same dynamic dims."""
    return _named("AllShapesMatch", "shape", _same_shape, names)


def all_ranks_match(*names: str) -> TypeRule:
    """Returns the trait that the named operands and results have the same rank."""
    return _named("AllRanksMatch", "rank", _same_rank, names)


def all_element_counts_match(*names: str) -> TypeRule:
    """Returns the trait that the named operands and results have the same number of elements."""
    return _named("AllElementCountsMatch", "element count", _same_count, names)


def elements_match_shape(summary: str, shaped: str, elements: str) -> TypeRule:
    """Returns the trait that the values of a field are as many as the elements of another's type, and of their type."""

    def problems(typing: Typing) -> Iterator[str]:
        of, types = typing.of(shaped), typing.types.get(elements, ())
        count = None if of is None else _count(of)
        if of is not None and ((count is not None and count != len(types)) or any(t != element_of(of) for t in types)):
            yield f"{summary}: found {len(types)} values for {of}"

    def deduce_elements(typing: Typing) -> None:
        of = typing.of(shaped)
        if of is not None:
            typing.set_default(elements, element_of(of))

    return TypeRule(
        f"ShapedTypeMatchesElementCountAndTypes({shaped}, {elements})",
        summary,
        problems,
        deduce_elements,
        sources=lambda _: (shaped,),
        targets=lambda _: (elements,),
    )


def types_match_with(
    summary: str,
    source: str,
    target: str,
    transform: Callable[[Type], Type | None],
    agree: Callable[[Type, Type], bool] | None = None,
) -> TypeRule:
    """Returns the trait that the type of a field is a function of that of another; None if it is not determined.

    `agree` compares types that need not be identical.
    """

    def inferred(typing: Typing) -> Type | None:
        known = typing.of(source)
        return None if known is None else transform(known)

    def problems(typing: Typing) -> Iterator[str]:
        expected, actual = inferred(typing), typing.of(target)
        if expected is None or actual is None or actual is expected or (agree is not None and agree(expected, actual)):
            return
        yield f"{summary}: expected {expected}, found {actual}"

    def deduce_target(typing: Typing) -> None:
        expected = inferred(typing)
        if expected is not None:
            typing.set_default(target, expected)

    return TypeRule(
        f"TypesMatchWith({source}, {target})",
        summary,
        problems,
        deduce_target,
        sources=lambda _: (source,),
        targets=lambda _: (target,),
    )
