"""Traits of records by name: known ones verify and infer types, others have only a name.

Source: MLIR operation definitions, traits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from commonir.ir.operation import Operation
from commonir.ir.types import FunctionType, MemRefType, TensorType, Type, VectorType, boolean
from commonir.ods import traits as known
from commonir.ods import type_rules as rules
from commonir.ods.from_records.expressions import MissingProperty, Path, normal, path_of
from commonir.ods.from_records.native_traits import NATIVE_TRAITS, WITHOUT_VERIFIER
from commonir.ods.from_records.operation_predicates import operation_test
from commonir.ods.from_records.predicates import Predicates
from commonir.ods.from_records.types import class_name
from commonir.ods.from_records.values import flat_traits, is_a, record_of, records_of, text_of, texts_of, title_of
from commonir.ods.traits import ImplicitTerminator, Trait, has_parent
from commonir.ods.type_rules import TypeRule, Typing, element_of, types_match_with
from commonir.tablegen import Record

_INFERENCE = ("InferTypeOp", "InferShapedTypeOp", "InferTensorType")
"""Names of interfaces that infer the types of results in C++."""

KNOWN_TRAITS: Mapping[str, Trait] = MappingProxyType(
    {
        "Pure": known.Pure,
        "Commutative": known.Commutative,
        "Terminator": known.Terminator,
        "IsolatedFromAbove": known.IsolatedFromAbove,
        "SingleBlock": known.SingleBlock,
        "ConstantLike": known.ConstantLike,
        "SymbolTable": known.SymbolTable,
        "Symbol": known.SymbolTrait,
        "HasOnlyGraphRegion": known.GraphRegion,
        "SameVariadicOperandSize": known.SameVariadicOperandSize,
        "SameOperandsAndResultType": rules.SameOperandsAndResultType,
        "SameTypeOperands": rules.SameTypeOperands,
        "SameOperandsShape": rules.SameOperandsShape,
        "SameOperandsAndResultShape": rules.SameOperandsAndResultShape,
        "SameOperandsElementType": rules.SameOperandsElementType,
        "SameOperandsAndResultElementType": rules.SameOperandsAndResultElementType,
        "SameOperandsAndResultRank": rules.SameOperandsAndResultRank,
    }
)
"""Traits by the names of their records."""

_MATCHING: Mapping[str, Callable[..., TypeRule]] = MappingProxyType(
    {
        "AllTypesMatch": rules.all_types_match,
        "AllElementTypesMatch": rules.all_element_types_match,
        "AllShapesMatch": rules.all_shapes_match,
        "AllRanksMatch": rules.all_ranks_match,
        "AllElementCountsMatch": rules.all_element_counts_match,
    }
)

_PARAMETERS = re.compile(r"\w+<(.*)>::Impl", re.DOTALL)
_FIELD_TYPE = re.compile(r"\$(\w+)\.getType\(\)")


class TraitContext:
    """The context in which the traits of one definition are read.

    `names` has the fields by their names in records, `operations` the operations by C++ class.
    """

    def __init__(
        self,
        names: Mapping[str, str],
        operations: Callable[[str], str | None],
        namespace: str,
        predicates: Predicates,
        first_attribute: str,
    ) -> None:
        self.names = names
        self.operations = operations
        self.namespace = namespace
        self.predicates = predicates
        self.first_attribute = first_attribute
        self.unknown: list[str] = []

    def named(self, fields: Sequence[str]) -> list[str]:
        """Returns the names of fields in the class."""
        return [self.names.get(f, f) for f in fields]

    def operation(self, cpp: str) -> str | None:
        """Returns the name of the operation of a C++ class; None when no definition is known."""
        own = class_name(cpp)
        return self.operations(own) or self.operations(f"{self.namespace}::{own}")


def traits_of(op: Record, context: TraitContext) -> list[Trait]:
    """Returns the traits of a definition in order, without duplicates."""
    out: dict[str, Trait] = {}
    # Without the interface, MLIR does not ask the trait.
    is_ordered = all(text_of(each, "cppInterfaceName") != "RegionKindInterface" for each in flat_traits(op))
    for record in flat_traits(op, {*KNOWN_TRAITS, *NATIVE_TRAITS}):
        if is_ordered and record.name_text == "HasOnlyGraphRegion":
            continue
        for trait in _new_traits(record, context):
            out.setdefault(trait.name, trait)
    if any(isinstance(each, ImplicitTerminator) for each in out.values()):
        out.pop(known.SingleBlock.name, None)
    return list(out.values())


def infers_in_cpp(op: Record) -> bool:
    """Returns whether C++ infers the types of the results of a definition, or their shapes."""
    names = [text_of(each, "trait") for each in flat_traits(op)]
    return any(stem in name for name in names for stem in _INFERENCE)


def infers_all_in_cpp(op: Record) -> bool:
    """Returns whether C++ infers the types of all results, so that formats may omit them."""
    return any(text_of(each, "cppInterfaceName") == "InferTypeOpInterface" for each in flat_traits(op))


def _new_traits(record: Record, context: TraitContext) -> Iterator[Trait]:
    name = record.name_text
    if name in KNOWN_TRAITS or name in NATIVE_TRAITS:
        yield from NATIVE_TRAITS.get(name, ()) or (KNOWN_TRAITS[name],)
        return
    title = title_of(record)
    parameters = _PARAMETERS.fullmatch(text_of(record, "trait"))
    if is_a(record, "SingleBlockImplicitTerminatorImpl") and parameters is not None:
        ending = context.operation(parameters[1])
        yield _mark(record, title) if ending is None else ImplicitTerminator(ending)
    elif is_a(record, "HasParent", "ParentOneOf") and parameters is not None:
        parents = [context.operation(each) for each in parameters[1].split(",")]
        names = [name for name in parents if name is not None]
        yield has_parent(*names) if len(names) == len(parents) else _mark(record, title)
    elif title in _MATCHING:
        yield _MATCHING[title](*context.named(texts_of(record, "values")))
    elif is_a(record, "ShapedTypeMatchesElementCountAndTypes"):
        shaped, elements = context.named([text_of(record, "shaped"), text_of(record, "elements")])
        yield rules.elements_match_shape(text_of(record, "summary"), shaped, elements)
    elif is_a(record, "TypesMatchWith"):
        yield from _typing(record, context)
    elif record.name_text == "FirstAttrDerivedResultType":
        yield _type_of_first_attribute(context.first_attribute)
    elif is_a(record, "TypeIs", "ElementTypeIs"):
        yield from _field_predicate(record, context)
    elif is_a(record, "PredTrait"):
        yield _predicate_trait(record, context)
    else:
        mark = _mark(record, title)
        if is_a(record, "NativeTrait") and not is_a(record, "Interface") and mark.name not in WITHOUT_VERIFIER:
            context.unknown.append(f"trait {mark.name if record.is_anonymous else title}")
        yield mark


def _predicate_trait(record: Record, context: TraitContext) -> Trait:
    """Returns the trait of a predicate on the operation."""
    summary, predicate = text_of(record, "summary"), record_of(record, "predicate")
    test = None if predicate is None else operation_test(predicate, context.predicates)
    if test is None:
        context.unknown.append(summary)
        return Trait(summary, f"{summary}: defined in C++, which is not checked")

    def check(op: Operation) -> Iterator[str]:
        if not test(op):
            yield f"failed to verify that {summary}"

    return Trait(summary, summary, check)


def _mark(record: Record, title: str) -> Trait:
    """Returns a trait that has only a name."""
    name = text_of(record, "trait").removesuffix("::Trait").rpartition("::")[2] or title
    return Trait(name if record.is_anonymous else record.name_text, "a trait of the record")


# -- types that are determined by others


def _i1_like(type: Type) -> Type:
    match type:
        case VectorType():
            return VectorType(boolean, type.shape, type.scalable)
        case TensorType():
            return TensorType(boolean, type.shape, type.encoding)
        case _:
            return boolean


def _tensor_of_memory(type: Type) -> Type | None:
    if not isinstance(type, MemRefType):
        return None
    element = type.element
    return TensorType(element, type.shape) if hasattr(element, "bits") else None  # pyright: ignore[reportArgumentType]


_TRANSFORMS: Mapping[str, Callable[[Type], Type | None]] = MappingProxyType(
    {
        "$_self": lambda t: t,
        "getI1SameShape($_self)": _i1_like,
        "getElementTypeOrSelf($_self)": element_of,
        "getTensorTypeFromMemRefType($_self)": _tensor_of_memory,
    }
)

_OF_FUNCTION = re.compile(r"cast<FunctionType>\(\$_self\)\.get(Inputs|Results)\(\)")


def _typing(record: Record, context: TraitContext) -> Iterator[Trait]:
    summary, text = text_of(record, "summary"), normal(text_of(record, "transformer"))
    source, target = context.named([text_of(record, "lhs"), text_of(record, "rhs")])
    several = _OF_FUNCTION.fullmatch(text)
    if several is not None:
        yield _from_function(summary, source, target, results=several[1] == "Results")
        return
    transform = _TRANSFORMS.get(text)
    if transform is None:
        path = path_of(text.removeprefix("::"))
        if path is None and "getNumElements(), " in text:
            path = path_of("getElementTypeOrSelf($_self)")
        transform = None if path is None else _along(path)
    if transform is None:
        context.unknown.append(text)
        yield TypeRule(
            f"TypesMatchWith({source}, {target})",
            f"{summary}: defined in C++, which is not understood",
            lambda _: iter(()),
            sources=lambda _: (source,),
            targets=lambda _: (target,),
        )
    else:
        yield types_match_with(summary, source, target, transform)


def _along(path: Path) -> Callable[[Type], Type | None]:
    def transform(type: Type) -> Type | None:
        try:
            result = path(type)
        except MissingProperty:
            return None
        return result if isinstance(result, Type) else None

    return transform


def _from_function(summary: str, source: str, target: str, *, results: bool) -> TypeRule:
    """Returns the rule that the types of values are the inputs or results of a function type."""

    def inferred(typing: Typing) -> tuple[Type, ...] | None:
        type = typing.of(source)
        if not isinstance(type, FunctionType):
            return None
        return type.results if results else type.inputs

    def problems(typing: Typing) -> Iterator[str]:
        expected, result = inferred(typing), typing.types.get(target)
        if expected is not None and result is not None and expected != result:
            yield summary

    def deduce(typing: Typing) -> None:
        expected = inferred(typing)
        if expected is not None and target not in typing.types:
            typing.types[target] = expected

    return TypeRule(
        f"TypesMatchWith({source}, {target})",
        summary,
        problems,
        deduce,
        sources=lambda _: (source,),
        targets=lambda _: (target,),
    )


def _type_of_first_attribute(name: str) -> TypeRule:
    def deduce(typing: Typing) -> None:
        known_type = typing.of(name)
        if known_type is not None:
            for result in typing.results:
                typing.set_default(result, known_type)

    def problems(typing: Typing) -> Iterator[str]:
        expected = typing.of(name)
        for result in typing.results:
            actual = typing.of(result)
            if expected is not None and actual is not None and actual is not expected:
                yield f"result type differs from that of '{name}': expected {expected}, found {actual}"

    return TypeRule(
        "FirstAttrDerivedResultType",
        f"the type of the result is that of '{name}'",
        problems,
        deduce,
        sources=lambda _: (name,),
        targets=lambda typing: typing.results,
    )


def _field_predicate(record: Record, context: TraitContext) -> Iterator[Trait]:
    """Yields the rule of `TypeIs<"name", Type>`: the type of one field is in a set."""
    predicate = record_of(record, "predicate")
    summary = text_of(record, "summary")
    match = None if predicate is None else _FIELD_TYPE.search(text_of(predicate, "replacement"))
    child = None if predicate is None else next(records_of(predicate, "children"), None)
    if match is None or child is None:
        context.unknown.append(summary)
        return
    name, test = context.names.get(match[1], match[1]), context.predicates.read(child)
    context.unknown += test.unknown

    def problems(typing: Typing) -> Iterator[str]:
        for type in typing.types.get(name, ()):
            if not test.holds(type):
                yield f"{summary}, found {type}"

    yield TypeRule(summary, summary, problems)
