"""Parses declarative assembly formats into elements, and refuses an element that occurs twice or where it may not.

Source: MLIR operation definitions, declarative assembly format.
"""

from __future__ import annotations

from enum import Enum, auto

from commonir.base.diagnostics import InternalError
from commonir.ods import Op
from commonir.ods.fields import Field, FieldKind
from commonir.ods.form_tokens import FormTokens
from commonir.text.assembly import (
    AnyOrder,
    AttributeDictionary,
    Custom,
    Element,
    FunctionalType,
    Group,
    Literal,
    Operands,
    Optional,
    PropertyDictionary,
    Reference,
    Regions,
    Results,
    Signature,
    Successors,
    TypeOf,
    Variable,
)

_VALUES = (FieldKind.OPERAND, FieldKind.PARAMETER)


class Context(Enum):
    """Where an element is: at the top or in a group, in `type(..)`, in `custom<..>(..)`, in `ref(..)`."""

    TOP = auto()
    TYPE = auto()
    CUSTOM = auto()
    REFERENCE = auto()


class Mentioned:
    """The elements that a format has so far; each operand, attribute, region, successor and type may occur once.

    A directive for a whole group, such as `operands`, stands for its fields.
    """

    def __init__(self) -> None:
        self.fields: set[Field] = set()
        self.types: set[Field] = set()
        self.groups: set[type[Element]] = set()
        self.type_groups: set[type[Element]] = set()

    def has(self, field: Field) -> bool:
        """Returns whether a field occurs, alone or in its group."""
        return field in self.fields or _GROUPS.get(field.kind) in self.groups

    def has_type(self, field: Field) -> bool:
        """Returns whether the type of an operand or result occurs, alone or in its group."""
        return field in self.types or _GROUPS.get(field.kind) in self.type_groups

    def clash(self, element: Element) -> str:
        """Returns why an element may not occur now, after adding it; "" if it may."""
        match element:
            case Variable(field=field):
                taken = self.has(field)
                self.fields.add(field)
                return f"'{field.spelling}' occurs twice" if taken else ""
            case AttributeDictionary():
                return self._of_group(AttributeDictionary, "the attribute dictionary occurs twice")
            case PropertyDictionary():
                return self._of_group(PropertyDictionary, "'prop-dict' occurs twice")
            case Operands() | Regions() | Successors():
                name = type(element).__name__.lower()
                kinds = [kind for kind, group in _GROUPS.items() if isinstance(element, group)]
                taken = any(f.kind in kinds for f in self.fields)
                return self._of_group(type(element), f"'{name}' repeats what occurs before", taken=taken)
            case Signature():
                return self.type_clash(Operands()) or self.type_clash(Results())
            case _:
                return ""

    def _of_group(self, group: type[Element], message: str, *, taken: bool = False) -> str:
        taken = taken or group in self.groups
        self.groups.add(group)
        return message if taken else ""

    def type_clash(self, group: Group) -> str:
        """Returns why the types of a group may not occur now, after adding them; "" if they may."""
        if isinstance(group, Variable):
            taken = self.has_type(group.field)
            self.types.add(group.field)
            return f"the type of '{group.field.spelling}' occurs twice" if taken else ""
        kinds = [kind for kind, each in _GROUPS.items() if isinstance(group, each)]
        taken = type(group) in self.type_groups or any(f.kind in kinds for f in self.types)
        self.type_groups.add(type(group))
        return f"the types of '{type(group).__name__.lower()}' occur twice" if taken else ""


_GROUPS: dict[FieldKind, type[Element]] = {
    FieldKind.OPERAND: Operands,
    FieldKind.PARAMETER: Operands,
    FieldKind.RESULT: Results,
    FieldKind.REGION: Regions,
    FieldKind.SUCCESSOR: Successors,
}


class FormatFault(InternalError):
    """An invalid format: an internal error, as the formats of definitions are ours. `offset` is that of the fault."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


class FormatParser(FormTokens):
    """Parses one format. `mentioned` has its elements after `parse`."""

    def __init__(self, definition: type[Op], source: str) -> None:
        self.definition = definition
        self.mentioned = Mentioned()
        # A result may be called like an operand, which a format names more often.
        others = [f for f in definition.layout.by_name.values() if f.kind is not FieldKind.RESULT]
        self.fields = {f.spelling: f for f in (*definition.layout.results, *others)}
        super().__init__(source)

    def fault(self, message: str) -> FormatFault:
        """Returns the error that the format is invalid."""
        text = f"{self.definition.name}: assembly format: {message} in '{' '.join(self.source.split())}'"
        return FormatFault(text, self.position)

    def parse(self) -> tuple[Element, ...]:
        """Returns the elements of the format."""
        out: list[Element] = []
        while self.token[0] != "end":
            if self.token[0] == "mark" and self.token[1] != "(":
                raise self.fault(f"unexpected '{self.token[1]}'")
            out.append(self.element(Context.TOP))
        # What is wrong with all of it has the place where it begins.
        self.position = len(self.source) - len(self.source.lstrip())
        return tuple(out)

    def element(self, context: Context) -> Element:
        """Parses an element."""
        category, text = self.token
        if category == "mark" and text != "(":
            raise self.fault(f"unexpected '{text}'")
        self.advance()
        match category, text:
            case "literal", _:
                if context is not Context.TOP:
                    raise self.fault(f"literal '{text}' is inside a directive")
                self.check_literal(text)
                return Literal("\n" if text == "\\n" else text)
            case "variable", _:
                return self.bound(self.variable(text), context)
            case "mark", "(":
                if context is not Context.TOP:
                    raise self.fault("an optional group is inside a directive")
                return self.optional()
            case "string", _ if context is Context.CUSTOM:
                return Literal(text)
            case "string", _:
                raise self.fault(f"string '{text}' is not an argument of custom<..>")
            case _:
                return self.directive(text, context)

    def directive(self, word: str, context: Context) -> Element:
        """Parses a directive after its name."""
        match word:
            case "type":
                if context is Context.TYPE:
                    raise self.fault("type(..) is inside type(..)")
                return TypeOf(self.parenthesized_group(is_reference=context is Context.REFERENCE))
            case "functional-type":
                self.need_top(word, context)
                self.expect("(")
                inputs = self.group()
                self.expect(",")
                results = self.group()
                self.expect(")")
                return FunctionalType(inputs, results)
            case "custom":
                self.need_top(word, context)
                return self.custom()
            case "qualified":
                return self.qualified(context)
            case "ref":
                if context is not Context.CUSTOM:
                    raise self.fault("ref(..) is not an argument of custom<..>")
                self.expect("(")
                element = self.element(Context.REFERENCE)
                self.expect(")")
                return Reference(element)
            case "oilist":
                self.need_top(word, context)
                return self.any_order()
            case _ if word in _WORDS:
                return self.bound(_WORDS[word], context)
            case _:
                raise self.fault(f"'{word}' has no meaning")

    def need_top(self, word: str, context: Context) -> None:
        """Raises a fault for a directive that is inside another one."""
        if context is not Context.TOP:
            raise self.fault(f"'{word}' is inside a directive")

    def variable(self, name: str) -> Variable:
        """Returns the element of a field."""
        if name not in self.fields:
            raise self.fault(f"no field is called '{name}'")
        return Variable(self.fields[name])

    def bound(self, element: Element, context: Context) -> Element:
        """Adds an element to those mentioned. Raises: a fault where it may not be, or occurs twice."""
        if context is Context.TYPE:
            if isinstance(element, Operands | Results):
                return element
            if isinstance(element, Variable) and element.field.kind in (*_VALUES, FieldKind.RESULT):
                return element
            raise self.fault(f"type(..) takes operands or results, not {_shown(element)}")
        if isinstance(element, Results) or (isinstance(element, Variable) and element.field.kind is FieldKind.RESULT):
            raise self.fault(f"{_shown(element)} is a result, of which only the type is written: type(..)")
        if context is Context.REFERENCE:
            known = self.mentioned.has(element.field) if isinstance(element, Variable) else None
            if not (type(element) in self.mentioned.groups if known is None else known):
                raise self.fault(f"ref({_shown(element)}) refers to what the format does not have before")
            return element
        clash = self.mentioned.clash(element)
        if clash:
            raise self.fault(clash)
        return element

    def group(self, *, is_reference: bool = False) -> Group:
        """Parses operands or results whose types are written."""
        element = self.element(Context.TYPE)
        if not isinstance(element, Variable | Operands | Results):
            raise self.fault("type(..) takes operands or results")
        if is_reference:
            known = self.mentioned.has_type(element.field) if isinstance(element, Variable) else None
            if not (type(element) in self.mentioned.type_groups if known is None else known):
                raise self.fault(f"ref(type({_shown(element)})) refers to what the format does not have before")
            return element
        clash = self.mentioned.type_clash(element)
        if clash:
            raise self.fault(clash)
        return element

    def parenthesized_group(self, *, is_reference: bool) -> Group:
        """Parses a group in parentheses."""
        self.expect("(")
        group = self.group(is_reference=is_reference)
        self.expect(")")
        return group

    def qualified(self, context: Context) -> Element:
        """Parses `qualified(..)`: an attribute or a type with its prefix."""
        self.expect("(")
        inner = self.element(context)
        self.expect(")")
        if isinstance(inner, TypeOf):
            return TypeOf(inner.group, qualified=True)
        if isinstance(inner, Variable) and inner.field.kind is FieldKind.ATTRIBUTE:
            return Variable(inner.field, qualified=True)
        raise self.fault(f"qualified(..) takes an attribute or type(..), not {_shown(inner)}")

    def branch(self) -> tuple[tuple[Element, ...], list[Element]]:
        """Parses the elements of a branch of an optional group after `(`, and returns those marked by `^` too."""
        out: list[Element] = []
        anchors: list[Element] = []
        while True:
            out.append(self.element(Context.TOP))
            if self.takes("^"):
                anchors.append(out[-1])
            if self.takes(")"):
                return tuple(out), anchors
            if self.token[0] == "end":
                raise self.fault("expected ')', found the end")

    def optional(self) -> Optional:
        """Parses an optional group after `(`."""
        elements, anchors = self.branch()
        inverted = not anchors
        otherwise: tuple[Element, ...] = ()
        if self.takes(":"):
            self.expect("(")
            otherwise, more = self.branch()
            anchors += more
        self.expect("?")
        if not anchors:
            raise self.fault("an optional group needs an anchor '^'")
        if len(anchors) > 1:
            raise self.fault("an optional group has two anchors '^'")
        return Optional(elements, anchors[0], otherwise, inverted)

    def any_order(self) -> AnyOrder:
        """Parses `oilist(..)`."""
        self.expect("(")
        clauses: list[tuple[Element, ...]] = []
        while True:
            if self.token[0] != "literal":
                raise self.fault("a clause of oilist(..) starts with a word")
            elements: list[Element] = []
            while self.token not in (("mark", "|"), ("mark", ")")):
                elements.append(self.element(Context.TOP))
            clauses.append(tuple(elements))
            if self.takes(")"):
                return AnyOrder(tuple(clauses))
            self.expect("|")

    def custom(self) -> Custom:
        """Parses `custom<..>(..)`."""
        name = self.directive_name()
        arguments: list[Variable | TypeOf | Reference | Literal | AttributeDictionary | PropertyDictionary] = []
        while True:
            built = self.element(Context.CUSTOM)
            if not isinstance(
                built, Variable | TypeOf | Reference | Literal | AttributeDictionary | PropertyDictionary
            ) or (isinstance(built, TypeOf) and not isinstance(built.group, Variable)):
                raise self.fault(f"custom<{name}> takes fields, their types and dictionaries, not {_shown(built)}")
            arguments.append(built)
            if self.takes(")"):
                return Custom(name, tuple(arguments))
            self.expect(",")


def _shown(element: Element) -> str:
    """Returns an element as formats spell it."""
    match element:
        case Variable(field=field):
            return f"${field.spelling}"
        case TypeOf(group=group):
            return f"type({_shown(group)})"
        case _:
            words = [word for word, e in _WORDS.items() if type(e) is type(element) and e == element]
            return words[0] if words else type(element).__name__


_WORDS: dict[str, Element] = {
    "operands": Operands(),
    "results": Results(),
    "regions": Regions(),
    "successors": Successors(),
    "prop-dict": PropertyDictionary(),
    "attr-dict": AttributeDictionary(keyword=False),
    "attr-dict-with-keyword": AttributeDictionary(keyword=True),
    "signature": Signature(),
}
