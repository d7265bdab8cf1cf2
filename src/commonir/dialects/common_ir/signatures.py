"""Signatures of operators and functions as attributes, and back.

A signature is a dictionary: `inputs` and `outputs` are lists of `{name, type, multiplicity, doc}`, `attributes` of
`{name, type, default, form, doc}`, `types` has the element types of each type variable, and `doc` is its description.
`form` describes how the file holds the default. Empty entries are left out. Source: Common IR specification, operators.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from commonir.base.suggestions import did_you_mean
from commonir.ir.attributes import ArrayAttr, Attribute, DictionaryAttr, StringAttr
from commonir.ir.types import ELEMENT_TYPES
from commonir.ods.declared import DeclaredAttribute, Multiplicity, Parameter, Signature
from commonir.ods.declared_attributes import declared_attr_type
from commonir.ods.declared_types import declared_type
from commonir.ods.patterns import ElementClass

LIBRARY_DOMAIN = "org.commonir"
"""The domain of the libraries that stand for dialects: `org.commonir.core.add` is the operation `core.add` itself."""


def signature_from(declared: DictionaryAttr) -> Signature:
    """The signature that a dictionary states. Raises: ValueError, which says what is wrong and where."""
    entries = dict(declared.entries)
    _refuse_others(entries, ("inputs", "outputs", "attributes", "types", "doc"), "a signature")
    variables = _variables(entries.get("types"))
    inputs = [_parameter(p, "input", variables) for p in _dictionaries(entries.get("inputs"), "inputs")]
    outputs = [_parameter(p, "output", variables) for p in _dictionaries(entries.get("outputs"), "outputs")]
    attributes = attributes_from(_dictionaries(entries.get("attributes"), "attributes"), variables)
    return Signature(tuple(inputs), tuple(outputs), attributes, variables, _text(entries.get("doc"), "doc"))


def attributes_from(declared: Iterable[DictionaryAttr], variables: Iterable[str] = ()) -> tuple[DeclaredAttribute, ...]:
    """The attributes that dictionaries declare. Raises: ValueError, which says what is wrong and where."""
    return tuple([_attribute(a, frozenset(variables)) for a in declared])


def _variables(declared: Attribute | None) -> dict[str, ElementClass]:
    if declared is None:
        return {}
    if not isinstance(declared, DictionaryAttr):
        raise ValueError("'types' must name type variables")
    out: dict[str, ElementClass] = {}
    for name, members in declared.entries:
        names = [_text(m, "a member of a type variable") for m in _items(members, f"types of '{name}'")]
        for n in names:
            if n not in ELEMENT_TYPES:
                near = did_you_mean(n, ELEMENT_TYPES)
                raise ValueError(
                    f"type variable '{name}': '{n}' is not an element type" + (f"; {near}" if near else "")
                )
        out[name] = ElementClass([ELEMENT_TYPES[n] for n in names])
    return out


def _parameter(declared: DictionaryAttr, what: str, variables: Iterable[str]) -> Parameter:
    entries = dict(declared.entries)
    _refuse_others(entries, ("name", "type", "multiplicity", "doc"), f"an {what}")
    name = _text(entries.get("name"), f"the name of an {what}")
    if "type" not in entries:
        raise ValueError(f"{what} '{name}' has no type")
    keyword = _text(entries.get("multiplicity"), "multiplicity") or Multiplicity.ONE.value
    result = {m.value: m for m in Multiplicity}.get(keyword)
    if result is None:
        raise ValueError(f"{what} '{name}': '{keyword}' is not a multiplicity: one, optional or many")
    try:
        kind = declared_type(_text(entries["type"], "type"), variables)
    except ValueError as error:
        raise type(error)(f"{what} '{name}': {error}") from None
    return Parameter(name, kind, result, _text(entries.get("doc"), "doc"))


def _attribute(declared: DictionaryAttr, variables: frozenset[str]) -> DeclaredAttribute:
    entries = dict(declared.entries)
    _refuse_others(entries, ("name", "type", "default", "form", "doc"), "an attribute")
    name = _text(entries.get("name"), "the name of an attribute")
    if "type" not in entries:
        raise ValueError(f"attribute '{name}' has no type")
    default = entries.get("default")
    try:
        kind = declared_attr_type(_text(entries["type"], "type"), variables)
        if default is not None and kind.attr_type is not None:
            kind.attr_type.from_attribute(default)
    except ValueError as error:
        raise type(error)(f"attribute '{name}': {error}") from None
    return DeclaredAttribute(name, kind, default, _text(entries.get("doc"), "doc"))


def _refuse_others(entries: Mapping[str, Attribute], known: Iterable[str], what: str) -> None:
    for key in entries:
        if key not in known:
            near = did_you_mean(key, known)
            raise ValueError(f"{what} has no '{key}'" + (f"; {near}" if near else ""))


def _text(attr: Attribute | None, what: str) -> str:
    if attr is None:
        return ""
    if not isinstance(attr, StringAttr):
        raise ValueError(f"{what} must be a string")
    return attr.value


def _items(attr: Attribute | None, what: str) -> tuple[Attribute, ...]:
    if attr is None:
        return ()
    if not isinstance(attr, ArrayAttr):
        raise ValueError(f"{what} must be a list")
    return attr.values


def _dictionaries(attr: Attribute | None, what: str) -> list[DictionaryAttr]:
    result = _items(attr, f"'{what}'")
    out = [v for v in result if isinstance(v, DictionaryAttr)]
    if len(out) != len(result):
        raise ValueError(f"'{what}' must be a list of dictionaries")
    return out


# -- writing


def signature_dictionary(signature: Signature) -> DictionaryAttr:
    """The dictionary that states a signature; the inverse of `signature_from`."""
    entries: list[tuple[str, Attribute]] = [
        ("inputs", ArrayAttr(tuple(map(parameter_dictionary, signature.inputs)))),
        ("outputs", ArrayAttr(tuple(map(parameter_dictionary, signature.outputs)))),
    ]
    if signature.attributes:
        entries.append(("attributes", ArrayAttr(tuple(map(attribute_dictionary, signature.attributes)))))
    if signature.variables:
        sets = [(n, _names(v)) for n, v in signature.variables.items()]
        entries.append(("types", DictionaryAttr(tuple(sets))))
    if signature.doc:
        entries.append(("doc", StringAttr(signature.doc)))
    return DictionaryAttr(tuple(entries))


def _names(variable: ElementClass) -> ArrayAttr:
    return ArrayAttr(tuple([StringAttr(name) for name in ELEMENT_TYPES if ELEMENT_TYPES[name] in variable.members]))


def parameter_dictionary(p: Parameter) -> DictionaryAttr:
    """The dictionary of a parameter."""
    entries: list[tuple[str, Attribute]] = [("name", StringAttr(p.name)), ("type", StringAttr(str(p.type)))]
    if p.multiplicity is not Multiplicity.ONE:
        entries.append(("multiplicity", StringAttr(p.multiplicity.value)))
    if p.doc:
        entries.append(("doc", StringAttr(p.doc)))
    return DictionaryAttr(tuple(entries))


def attribute_dictionary(a: DeclaredAttribute) -> DictionaryAttr:
    """The dictionary of an attribute."""
    entries: list[tuple[str, Attribute]] = [("name", StringAttr(a.name)), ("type", StringAttr(a.type.text))]
    if a.default is not None:
        entries.append(("default", a.default))
    if a.doc:
        entries.append(("doc", StringAttr(a.doc)))
    return DictionaryAttr(tuple(entries))
