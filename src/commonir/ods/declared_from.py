"""Derives declarations, as files have them, from the definitions of a dialect.

A declaration has no constraints, traits or reference. Where the type of a
parameter cannot be declared (a type variable that ranges over lists and tensors, a result whose type depends on an
attribute) it is `any`.

Source: Common IR specification, operators.
"""

from __future__ import annotations

from typing import Any

from commonir.ir.attributes import Attribute, BoolAttr, EnumAttr, StringAttr, SymbolRefAttr, UnitAttr
from commonir.ir.types import ELEMENT_TYPES
from commonir.ods import attr_types
from commonir.ods.attr_types import AttrType
from commonir.ods.declared import Declaration, DeclaredAttribute, Multiplicity, Parameter, Signature
from commonir.ods.declared_attributes import GRAPH, GRAPHS, DeclaredAttrType, declared_attr_type
from commonir.ods.declared_types import AnyOf, DeclaredType, ListOf, MapOf, OptionalOf, TensorOf
from commonir.ods.documentation import summary_of
from commonir.ods.fields import MISSING, Field, FieldKind
from commonir.ods.operation import Op
from commonir.ods.patterns import CLASSES, ElementClass, Pattern, TypeVariable, any_element

_STRING = "!builtin.string[]"
_DECLARED_TYPES: dict[AttrType[Any], str] = {
    attr_types.integer: "i64[]",
    attr_types.number: "f64[]",
    attr_types.flag: "i1[]",
    attr_types.unit: "i1[]",
    attr_types.string: _STRING,
    attr_types.symbol: _STRING,
    attr_types.symbol_name: _STRING,
    attr_types.integers: "list<i64[]>",
    attr_types.numbers: "list<f64[]>",
    attr_types.flags: "list<i1[]>",
    attr_types.strings: f"list<{_STRING}>",
    attr_types.dims: "shape",
    attr_types.type_: "type",
    attr_types.element: "type",
    attr_types.function_type: "type",
    attr_types.types: "list<type>",
}


def declaration_of(definition: type[Op]) -> Declaration:
    """Returns the declaration of an operation under its name within the dialect."""
    context = _DeclarationContext(definition.layout.variables)
    layout = definition.layout
    inputs = tuple([context.parameter(f) for f in layout.inputs])
    bound = {leaf.pattern.element for p in inputs for leaf in p.type.leaves()}
    outputs = tuple([context.parameter(f, bound) for f in layout.results])
    attributes = [_attribute(f) for f in layout.attributes if f.kind is FieldKind.ATTRIBUTE]
    graphs = [
        DeclaredAttribute(f.spelling, declared_attr_type(GRAPHS if f.variadic else GRAPH), doc=f.doc)
        for f in layout.regions
    ]
    used = {leaf.pattern.element for p in (*inputs, *outputs) for leaf in p.type.leaves()}
    variables = {name: v for name, v in context.variables.items() if name in used}
    signature = Signature(inputs, outputs, (*attributes, *graphs), variables)
    return Declaration(definition.name.partition(".")[2], (signature,), summary_of(definition))


class _DeclarationContext:
    """The type variables of one declaration: those of the definition, and one for each class of element types."""

    def __init__(self, variables: dict[str, TypeVariable]) -> None:
        self.variables = {name: v for name, v in variables.items() if isinstance(v, ElementClass)}

    def parameter(self, field: Field, bound: set[str] | None = None) -> Parameter:
        """Returns an operand or result; a result uses only type variables that operands bind."""
        declared = AnyOf() if field.pattern is None else self._type(field.pattern)
        free = {leaf.pattern.element for leaf in declared.leaves() if leaf.pattern.element in self.variables}
        if bound is not None and not free <= bound:
            declared = AnyOf()
        is_optional = field.optional or field.default is not MISSING
        many = Multiplicity.MANY if field.variadic else Multiplicity.OPTIONAL if is_optional else Multiplicity.ONE
        return Parameter(field.spelling, declared, many, field.doc)

    def _type(self, pattern: Pattern) -> DeclaredType:
        if pattern.content is not None:
            content = self._type(pattern.content)
            match pattern.wrapper:
                case "list":
                    return ListOf(content)
                case "optional":
                    return OptionalOf(content)
                case "map" if pattern.key is not None:
                    return MapOf(self._type(pattern.key), content)
                case _:
                    return TensorOf(content.pattern, is_sparse=True) if isinstance(content, TensorOf) else AnyOf()
        element = pattern.element
        if element == "any" and pattern.dims is None:
            return AnyOf()
        if element in ELEMENT_TYPES or element in self.variables:
            return TensorOf(pattern)
        element_type = any_element if not element else CLASSES.get(element)
        if element_type is None:
            return AnyOf()
        name = f"E{len(self.variables)}"
        self.variables[name] = ElementClass(element_type.members)
        return TensorOf(Pattern(name + pattern.spec.removeprefix(element)))


def _attribute(field: Field) -> DeclaredAttribute:
    type = field.type
    text = "any" if type is None else _STRING if type.cases else _DECLARED_TYPES.get(type, "any")
    attr_type = declared_attr_type(text)
    if field.default is MISSING:
        return DeclaredAttribute(field.spelling, attr_type, doc=field.doc)
    declared = None if type is None or field.default is None else _plain(type.to_attribute(field.default))
    if declared is not None and _fits(attr_type, declared):
        return DeclaredAttribute(field.spelling, attr_type, declared, field.doc)
    return DeclaredAttribute(field.spelling, declared_attr_type(f"optional<{text}>"), doc=field.doc)


def _plain(value: Attribute) -> Attribute:
    """Returns a default in the form of files."""
    match value:
        case EnumAttr(keyword=keyword):
            return StringAttr(keyword)
        case SymbolRefAttr(path=path):
            return StringAttr(path[-1])
        case UnitAttr():
            return BoolAttr(True)
        case _:
            return value


def _fits(attr_type: DeclaredAttrType, value: Attribute) -> bool:
    try:
        return attr_type.attr_type is not None and attr_type.attr_type.from_attribute(value) is not None
    except ValueError:
        return False
