"""Types and attributes that records define: their parameters and their text.

Source: MLIR operation definitions, `AttrDef` and `TypeDef`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.ods.from_records.cpp_classes import BUILTIN
from commonir.ods.from_records.enumerations import Enumeration, canonical, enumeration_of
from commonir.ods.from_records.expressions import normal
from commonir.ods.from_records.types import class_name
from commonir.ods.from_records.values import finding, flag_of, is_a, record_of, states, text_of, value_of, wrong
from commonir.ods.parameter_forms import FormError, Parameter, ParameterCategory, ParameterForm, has_cpp, parsed_form
from commonir.tablegen import Record, Records
from commonir.tablegen.values import Dag, DefRef, String

_INTEGER = re.compile(r"(?:u?int(?:\d+_t)?|unsigned(?: int)?|size_t|APInt|long|int64_t)")
_NUMBER = re.compile(r"[+-]?\d+")
_WIDTH = re.compile(r"\d+")
_LIST = re.compile(r"ArrayRef<(.*)>")
_KINDS: Mapping[str, ParameterCategory] = MappingProxyType(
    {
        "Type": ParameterCategory.TYPE,
        "Attribute": ParameterCategory.ATTRIBUTE,
        "bool": ParameterCategory.BOOLEAN,
        "float": ParameterCategory.FLOAT,
        "double": ParameterCategory.FLOAT,
        "APFloat": ParameterCategory.FLOAT,
        "StringRef": ParameterCategory.STRING,
        "std::string": ParameterCategory.STRING,
        "string": ParameterCategory.STRING,
        "ShapedType": ParameterCategory.TYPE,
        "IntegerType": ParameterCategory.TYPE,
        "FloatType": ParameterCategory.TYPE,
        "VectorType": ParameterCategory.TYPE,
        "RankedTensorType": ParameterCategory.TYPE,
        "MemRefType": ParameterCategory.TYPE,
        "FunctionType": ParameterCategory.TYPE,
        "IntegerAttr": ParameterCategory.ATTRIBUTE,
        "StringAttr": ParameterCategory.ATTRIBUTE,
        "TypedAttr": ParameterCategory.ATTRIBUTE,
        "DictionaryAttr": ParameterCategory.ATTRIBUTE,
        "ArrayAttr": ParameterCategory.ATTRIBUTE,
        "SymbolRefAttr": ParameterCategory.ATTRIBUTE,
        "FlatSymbolRefAttr": ParameterCategory.ATTRIBUTE,
    }
)
"""Categories of parameters by their C++ type."""

_TESTED = (ParameterCategory.TYPE, ParameterCategory.ATTRIBUTE)


def forms_of(records: Records, faults: list[Diagnostic]) -> Mapping[str, ParameterForm]:
    """Returns the forms of types and attributes that records define, by `!dialect.mnemonic` and `#dialect.mnemonic`.

    Those with a form in C++, or with parameters that are not understood, are left out: their texts are stored as
    written. Adds the faults (WRONG_DEFINITION_RECORD) of invalid records.
    """
    enumerations = {
        class_name(f"{text_of(r, 'cppNamespace')}::{text_of(r, 'className')}"): enumeration_of(r)
        for r in records.derived_from("EnumInfo")
    }
    out: dict[str, ParameterForm] = {}
    for mark, kind in (("!", "TypeDef"), ("#", "AttrDef")):
        names: dict[str, str] = {}
        for record in records.derived_from(kind):
            dialect = record_of(record, "dialect")
            name = f"{'' if dialect is None else text_of(dialect, 'name')}.{text_of(record, 'mnemonic')}"
            if name in names and not name.endswith("."):
                faults.append(finding(record, f"'{mark}{name}' is defined twice, also by '{names[name]}'"))
            names[name] = record.name_text
            try:
                built = _form(record, enumerations)
            except DiagnosticError as error:
                faults += error.diagnostics
                continue
            if built is not None:
                out[f"{mark}{built.dialect}.{built.mnemonic}"] = built
    return MappingProxyType(out)


def _form(record: Record, enumerations: Mapping[str, Enumeration]) -> ParameterForm | None:
    dialect, mnemonic = record_of(record, "dialect"), text_of(record, "mnemonic")
    in_cpp, has_format = flag_of(record, "hasCustomAssemblyFormat"), states(record, "assemblyFormat")
    if in_cpp and has_format:
        raise wrong(record, f"'{record.name_text}' has a form in C++ and an assembly format")
    if dialect is None or not mnemonic or in_cpp:
        return None
    # C++ code in the namespace of the dialect omits the namespace.
    inside = class_name(f"{text_of(dialect, 'cppNamespace')}::")
    own = {name.removeprefix(inside): found for name, found in enumerations.items() if name.startswith(inside)}
    parameters = tuple(_parameters(record, {**own, **enumerations}))
    names = [p.name for p in parameters]
    if "" in names:
        raise wrong(record, f"a parameter of '{record.name_text}' has no name")
    if len(set(names)) < len(names):
        raise wrong(record, f"two parameters of '{record.name_text}' have the same name")
    if parameters and not has_format:
        raise wrong(record, f"'{record.name_text}' has a mnemonic and parameters, but no assembly format")
    try:
        elements = parsed_form(" ".join(text_of(record, "assemblyFormat").split()), parameters)
    except FormError as error:
        raise wrong(record, f"assembly format of '{record.name_text}': {error}") from None
    if has_cpp(elements) or any(p.kind is ParameterCategory.UNKNOWN for p in parameters):
        return None
    return ParameterForm(text_of(dialect, "name"), mnemonic, parameters, elements, text_of(record, "summary"))


def _parameters(record: Record, enumerations: Mapping[str, Enumeration]) -> Iterator[Parameter]:
    dag = value_of(record, "parameters")
    for value, name in dag.args if isinstance(dag, Dag) else ():
        if isinstance(value, String):
            yield _parameter(name or "", value.value, enumerations)
        elif isinstance(value, DefRef):
            parameter_record = value.record
            # Attributes that a dialect defines are parameters of others, by the C++ type that they state.
            if is_a(parameter_record, "AttrConstraint", "Property") and not is_a(parameter_record, "AttrDef"):
                what = f"'{parameter_record.name_text}', which is not a parameter of types or attributes"
                raise wrong(record, f"parameter '{name or ''}' of '{record.name_text}' is {what}")
            is_own = states(parameter_record, "parser") or states(parameter_record, "printer")
            # The type of the attribute itself, which its text has after its form.
            is_self = is_a(parameter_record, "AttributeSelfTypeParameter")
            plain = is_a(parameter_record, "StringRefParameter", "EnumParameter")
            parameter = _parameter(
                name or "",
                text_of(parameter_record, "cppType"),
                enumerations,
                optional=bool(text_of(parameter_record, "defaultValue")) or is_self,
            )
            is_unknown = is_self or (is_own and not plain)
            if is_unknown:
                yield parameter.replaced(kind=ParameterCategory.UNKNOWN)
            else:
                yield parameter.replaced(default=_default(parameter, parameter_record, enumerations))
        else:
            raise wrong(record, f"parameter '{name or ''}' of '{record.name_text}' has no C++ type")


def _default(parameter: Parameter, record: Record, enumerations: Mapping[str, Enumeration]) -> str | None:
    """Returns the text of a default value, as texts of the parameter have it; None if it is not known."""
    text = normal(text_of(record, "defaultValue")).strip()
    if not text or (parameter.is_list and text.endswith("()")):
        return "" if text else None
    match parameter.kind:
        case ParameterCategory.INTEGER:
            return "0" if text.endswith("()") else text if _NUMBER.fullmatch(text) else None
        case ParameterCategory.BOOLEAN:
            return "false" if text.endswith("()") else text if text in ("true", "false") else None
        case ParameterCategory.STRING:
            return '""' if text.endswith("()") else text if text.startswith('"') else None
        case ParameterCategory.CASE:
            found = enumerations.get(class_name(parameter.cpp))
            case = None if found is None else found.case_of(text)
            return None if case is None else case.word
        case _:
            return None


def _parameter(name: str, cpp: str, enumerations: Mapping[str, Enumeration], *, optional: bool = False) -> Parameter:
    text = normal(cpp).removeprefix("::").strip()
    several = _LIST.fullmatch(text)
    inner = several[1].removeprefix("::").strip() if several else text
    cases = enumerations.get(class_name(inner))
    if cases is not None:
        words = tuple([c.word for c in cases.cases])
        separator = cases.separator if cases.is_flags else ""
        joined = canonical(cases) if cases.is_flags else None
        return Parameter(
            name, ParameterCategory.CASE, several is not None, optional, words, separator, text, joined=joined
        )
    category = ParameterCategory.INTEGER if _INTEGER.fullmatch(inner) else _KINDS.get(inner, ParameterCategory.UNKNOWN)
    test = BUILTIN.get(class_name(inner)) if category in _TESTED else None
    parameter = Parameter(name, category, several is not None, optional, cpp=text, test=test)
    if category is not ParameterCategory.INTEGER or inner == "APInt":
        return parameter
    width = _WIDTH.search(inner)
    bits = int(width[0]) if width is not None else 64 if inner in ("long", "size_t") else 32
    return parameter.replaced(bits=bits, signed=not inner.startswith(("u", "size_t")))
