"""The assembly format of each definition: its own, or a default one, parsed and checked once.

Source: MLIR operation definitions, declarative assembly format.
"""

from __future__ import annotations

from functools import cache

from commonir.base.tuples import NamedTuple
from commonir.ods import Op, attr_types
from commonir.ods.definition import RESULT_SIZES
from commonir.ods.fields import Field, FieldKind
from commonir.text.assembly import Custom, Element, PropertyDictionary, walk
from commonir.text.format_checks import check_format
from commonir.text.format_parser import FormatParser, Mentioned


class Format(NamedTuple):
    """A parsed format.

    `named`: attributes it names, which the attribute dictionary omits. `states_results`: whether it has the
    types of all results. `has_signature`: whether a directive prints the arguments of the first block of the region.
    `has_properties`: whether declared attributes have a dictionary of their own. `typed`: operands and results whose
    types it has.
    """

    elements: tuple[Element, ...]
    named: frozenset[Field]
    states_results: bool
    has_signature: bool
    has_properties: bool
    typed: frozenset[Field]


# Attributes that directives print although they are not among their arguments.
_IMPLIED_ATTRIBUTES = {"SwitchOpCases": ("case_operand_segments",)}


@cache
def format_of(definition: type[Op]) -> Format:
    """Returns the assembly format of a definition, its own or the default.

    Raises: InternalError for a format that is malformed, or lacks what the text needs to be read.
    """
    elements, mentioned = checked_elements(definition, definition.assembly or default_format(definition))
    layout = definition.layout
    directives = {e.name for e in walk(elements) if isinstance(e, Custom)}
    implied = {name for directive in directives for name in _IMPLIED_ATTRIBUTES.get(directive, ())}
    implied |= {f.group_sizes for f in mentioned.fields}
    if mentioned.types.issuperset([f for f in layout.results if f.variadic or f.optional]):
        implied.add(RESULT_SIZES)
    named = [f for f in mentioned.fields if f.kind is FieldKind.ATTRIBUTE]
    named += [f for f in layout.attributes if f.spelling in implied]
    typed = frozenset([f for f in (*layout.inputs, *layout.results) if mentioned.has_type(f)])
    return Format(
        elements,
        named=frozenset(named),
        states_results=typed.issuperset(layout.results),
        has_signature="FunctionSignature" in directives,
        has_properties=PropertyDictionary in mentioned.groups,
        typed=typed,
    )


def checked_elements(definition: type[Op], source: str) -> tuple[tuple[Element, ...], Mentioned]:
    """Returns the elements of a format for a definition, and what they mention.

    Raises: InternalError, as `format_of`.
    """
    parser = FormatParser(definition, source)
    elements = parser.parse()
    check_format(parser, elements)
    return elements, parser.mentioned


def default_format(definition: type[Op]) -> str:
    """Returns the format of a definition that has none.

    `%y = core.conv %x, %weight bias(%b) {strides = [2, 2]} : (...) -> ...`: required operands, then each optional one
    and each parameter that is bound to a value in a group under its name, other attributes, types, regions under their
    names. The single variadic operand of an operation without other such groups needs no name.
    """
    layout = definition.layout
    required = [f for f in layout.inputs if f.kind is FieldKind.OPERAND and f.is_required]
    grouped = [f for f in layout.inputs if f not in required]
    parts = [f"${f.spelling}" for f in layout.attributes if f.type is attr_types.symbol_name]
    parts += [" `,` ".join(f"${f.spelling}" for f in required)]
    if len(grouped) == 1 and grouped[0].variadic:
        name = grouped[0].spelling
        parts.append(f"(`,` ${name}^)?" if required else f"${name}")
    else:
        parts += [f"(`{f.spelling}` `` `(` ${f.spelling}^ `)`)?" for f in grouped]
    has_signature = bool(layout.inputs or layout.results)
    parts.append("attr-dict" if has_signature or len(layout.regions) != 1 else "attr-dict-with-keyword")
    if has_signature:
        parts.append("`:` signature")
    if len(layout.regions) == 1:
        parts.append(f"${layout.regions[0].spelling}")
    else:
        parts += [f"`{f.spelling}` ${f.spelling}" for f in layout.regions]
    if any(f.kind is FieldKind.SUCCESSOR for f in layout.by_name.values()):
        parts.append("`to` successors")
    return " ".join(filter(None, parts))
