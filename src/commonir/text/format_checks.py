"""Checks that an assembly format is unambiguous and has all that is needed to read an operation back.

Each operand, region and successor is in the format, and the attribute dictionary; types are there or follow from traits
or from constraints that a single type satisfies. What may be absent is in a group only with what is absent with it.
Source: MLIR operation definitions, declarative assembly format; the cases of mlir-tblgen 22.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from commonir.ods import MlirOp, attr_types
from commonir.ods.fields import Field, FieldKind
from commonir.ods.patterns import TypeConstraint
from commonir.ods.type_rules import implied_types
from commonir.text.assembly import (
    AnyOrder,
    AttributeDictionary,
    Custom,
    Element,
    FunctionalType,
    Literal,
    Operands,
    Optional,
    PropertyDictionary,
    TypeOf,
    Variable,
    walk,
)
from commonir.text.format_parser import FormatParser

_VALUES = (FieldKind.OPERAND, FieldKind.PARAMETER, FieldKind.RESULT)
_NAMES = {
    FieldKind.OPERAND: "operand",
    FieldKind.PARAMETER: "operand",
    FieldKind.RESULT: "result",
    FieldKind.REGION: "region",
    FieldKind.SUCCESSOR: "successor",
}


def check_format(parser: FormatParser, elements: Sequence[Element]) -> None:
    """Raises InternalError for a parsed format that is ambiguous or incomplete."""
    _check_presence(parser)
    for element in walk(elements):
        match element:
            case Optional():
                _check_group(parser, element)
            case AnyOrder(clauses=clauses):
                for clause in clauses:
                    _check_clause(parser, clause)
            case _:
                pass
    _check_order(parser, elements)
    _check_types(parser)


# -- completeness


def _check_presence(parser: FormatParser) -> None:
    layout, mentioned = parser.definition.layout, parser.mentioned
    if AttributeDictionary not in mentioned.groups:
        raise parser.fault("'attr-dict' is missing")
    successors = [f for f in layout.by_name.values() if f.kind is FieldKind.SUCCESSOR]
    for field in (*layout.inputs, *layout.regions, *successors):
        if not mentioned.has(field):
            name = _NAMES[field.kind]
            raise parser.fault(f"{name} '{field.spelling}' is missing: add '${field.spelling}'")


def _check_types(parser: FormatParser) -> None:
    """Checks that the types of operands and results are in the format, or follow from it."""
    definition, mentioned = parser.definition, parser.mentioned
    layout = definition.layout
    if not issubclass(definition, MlirOp):
        # Types of operands are those of their definitions, and `infer` has the types of results.
        return
    stated = [f.name for f in (*layout.inputs, *layout.results) if mentioned.has_type(f)]
    stated += [f.name for f in layout.attributes if f in mentioned.fields]
    implied = implied_types(
        definition.type_rules, stated, [f.name for f in layout.inputs], [f.name for f in layout.results]
    )
    inputs = () if definition.omits_operand_types else layout.inputs
    missing = [f for f in inputs if f.name not in implied and not _is_single(f, parser)]
    if not (_infers_results(definition) and not any(mentioned.has_type(f) for f in layout.results)):
        missing += [f for f in layout.results if f.name not in implied and not _is_single(f, parser)]
    for field in missing:
        name = f"{_NAMES[field.kind]} '{field.spelling}'"
        raise parser.fault(f"the type of {name} is not there and cannot be inferred: add 'type(${field.spelling})'")


def _is_single(field: Field, parser: FormatParser) -> bool:
    """Returns whether the type of a field is the only one that its constraint admits, as often as it has values."""
    if not isinstance(field.pattern, TypeConstraint) or not field.pattern.is_buildable:
        return False
    is_counted = Operands not in parser.mentioned.groups and field.kind is not FieldKind.RESULT
    return is_counted or not (field.variadic or field.optional)


def _infers_results(definition: type[MlirOp]) -> bool:
    """Returns whether code infers the types of results: of the definition, or C++ of its record."""
    return definition.infers_in_cpp or definition.infer_results is not MlirOp.infer_results


# -- groups


def _check_group(parser: FormatParser, group: Optional) -> None:
    for element in group.elements:
        _check_member(parser, element, is_anchor=element is group.anchor)
    for element in group.otherwise:
        _check_member(parser, element, is_anchor=False)
    first = next((e for e in group.elements if not _is_layout(e)), None)
    if not isinstance(first, Literal | Variable | Custom):
        raise parser.fault("an optional group begins with a literal, a field or custom<..>")


def _check_member(parser: FormatParser, element: Element, *, is_anchor: bool) -> None:
    """Checks that an element of an optional group may be absent."""
    match element:
        case Variable(field=field) if field.kind is FieldKind.ATTRIBUTE:
            if is_anchor and field.is_required:
                raise parser.fault(f"anchor '${field.spelling}' is neither optional nor has a default")
        case Variable(field=field) if field.kind in _VALUES:
            _check_absence(parser, field)
        case Variable(field=field) if field.kind is FieldKind.REGION:
            pass
        case TypeOf(group=Variable(field=field)):
            _check_absence(parser, field)
        case FunctionalType(inputs=Variable(field=inputs), results=Variable(field=results)):
            _check_absence(parser, inputs)
            _check_absence(parser, results)
        case Custom():
            pass
        case Literal() | Optional():
            if is_anchor:
                raise parser.fault("an anchor '^' follows a field or a type")
        case _:
            raise parser.fault("only literals, fields and their types may be in an optional group")


def _check_absence(parser: FormatParser, field: Field, where: str = "an optional group") -> None:
    # A parameter is absent where its value is an attribute.
    is_there = field.kind is not FieldKind.PARAMETER and not (field.variadic or field.optional)
    if is_there and (field.is_required or field.kind is FieldKind.RESULT):
        name = f"{_NAMES[field.kind]} '{field.spelling}'"
        raise parser.fault(f"{name} in {where} is neither variadic nor optional")


def _check_clause(parser: FormatParser, clause: Sequence[Element]) -> None:
    for element in walk(clause):
        field = element.field if isinstance(element, Variable) else None
        if isinstance(element, TypeOf) and isinstance(element.group, Variable):
            field = element.group.field
        if field is None or field.kind is FieldKind.REGION:
            continue
        if field.kind is FieldKind.ATTRIBUTE and field.is_required:
            raise parser.fault(f"'${field.spelling}' in oilist(..) is neither optional nor has a default")
        if field.kind in _VALUES:
            _check_absence(parser, field, "oilist(..)")


# -- ambiguity


def _is_layout(element: Element) -> bool:
    return isinstance(element, Literal) and not element.text.strip()


def _check_order(parser: FormatParser, elements: Sequence[Element]) -> None:
    """Checks elements that take the beginning of what follows them as their own."""
    definition = parser.definition
    untyped = definition.untyped_attributes if issubclass(definition, MlirOp) else frozenset[str]()

    def takes_colon(element: Element) -> bool:
        if not isinstance(element, Variable) or element.field.kind is not FieldKind.ATTRIBUTE:
            return False
        attr_type = element.field.type
        is_typed = attr_type is not None and attr_type.elides_type
        # Numbers that are not of one type may have it behind a colon.
        is_number = attr_type in (attr_types.number, attr_types.integer)
        return (element.qualified and not is_typed) or is_number or element.field.spelling in untyped

    def takes_brace(element: Element) -> bool:
        return isinstance(element, AttributeDictionary) and not element.keyword

    if _meets(elements, takes_colon, lambda e: isinstance(e, Literal) and e.text == ":"):
        raise parser.fault("the text of an attribute of any type would go on at the ':' after it")
    if _meets(elements, takes_brace, lambda e: isinstance(e, Variable) and e.field.kind is FieldKind.REGION):
        raise parser.fault("'attr-dict' before a region is ambiguous: use 'attr-dict-with-keyword'")
    taken: set[str] = set()
    for element in elements:
        words: set[str] = set()
        if isinstance(element, AnyOrder):
            words = {c[0].text for c in element.clauses if isinstance(c[0], Literal)}
        elif isinstance(element, Literal):
            words = {element.text}
        clash = taken & words
        if clash:
            raise parser.fault(f"'{min(clash)}' begins a clause of oilist(..) and what follows it")
        taken = taken | words if isinstance(element, AnyOrder) else set()


_Is = Callable[[Element], bool]


def _meets(elements: Sequence[Element], begins: _Is, ends: _Is) -> bool:
    """Returns whether a path through groups leads from an element to another, past what may be absent only."""
    return _scan(elements, begins, ends, reaches=False) is None


def _scan(elements: Iterable[Element], begins: _Is, ends: _Is, *, reaches: bool) -> bool | None:
    """Returns whether a path is open after the elements; None if it met its end."""
    for element in elements:
        if reaches and ends(element):
            return None
        if isinstance(element, Optional):
            # The first element of a group that is there is there.
            first, *rest = element.elements
            if reaches and ends(first):
                return None
            starts = _scan(rest, begins, ends, reaches=begins(first) or (reaches and _is_layout(first)))
            other = _scan(element.otherwise, begins, ends, reaches=reaches)
            if starts is None or other is None:
                return None
            reaches = reaches or starts or other
        elif begins(element):
            reaches = True
        elif not _may_be_absent(element):
            reaches = False
    return reaches


def _may_be_absent(element: Element) -> bool:
    match element:
        case Variable(field=field) if field.kind is FieldKind.ATTRIBUTE:
            return not field.is_required
        case Variable(field=field):
            return field.variadic or field.optional
        case AttributeDictionary() | PropertyDictionary():
            return True
        case _:
            return _is_layout(element)
