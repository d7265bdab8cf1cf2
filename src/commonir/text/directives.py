"""Directives `custom<Name>(...)` of assembly formats that need Python code: writers and readers.

A directive writes to `Writer.text`, which ends with the blank before it.
Source: ml_program, memref, tensor, scf, cf and tosa dialects of MLIR.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from commonir.base.lazy import lazy_pattern
from commonir.base.tuples import NamedTuple
from commonir.ir.attributes import (
    ArrayAttr,
    Attribute,
    DataAttr,
    DenseArrayAttr,
    DictionaryAttr,
    EnumAttr,
    StringAttr,
    TypeAttr,
    UnitAttr,
)
from commonir.ir.data import data_of
from commonir.ir.literals import symbol_text
from commonir.ir.operation import Region, Value
from commonir.ir.printing import Nested
from commonir.ir.types import (
    DYNAMIC,
    ElementType,
    FunctionType,
    MemRefType,
    TensorType,
    Type,
    VectorType,
    i32,
    i64,
    index,
)
from commonir.ods.fields import Field
from commonir.ods.text_form import Argument, RegionRequest, Use
from commonir.text.assembly import AttributeDictionary, Literal, PropertyDictionary, Reference, TypeOf, Variable
from commonir.text.form_context import PLAIN_ARGUMENTS
from commonir.text.form_reader import FormReader, Reading
from commonir.text.form_writer import Writer
from commonir.text.lexer import BLANK
from commonir.text.types import PLAIN_TYPE, PLAIN_TYPES

Arguments = Sequence[Variable | TypeOf | Reference | Literal | AttributeDictionary | PropertyDictionary]


class Directive(NamedTuple):
    """The writer and reader of a directive; `read` ends with the current token after it."""

    write: Callable[[Writer, Arguments], None]
    read: Callable[[FormReader, Arguments], Reading | None]


def fields_of(arguments: Arguments) -> list[Field]:
    """Returns the fields that arguments name, in order, also in references."""
    out: list[Field] = []
    for a in arguments:
        inner = a.element if isinstance(a, Reference) else a
        group = inner.group if isinstance(inner, TypeOf) else inner
        if isinstance(group, Variable):
            out.append(group.field)
    return out


# -- SymbolVisibility: `public`, `private` or `nested`


def _visibility(writer: Writer, field: Field) -> str:
    value = writer.attribute(field)
    return value.keyword if isinstance(value, EnumAttr) else value.value if isinstance(value, StringAttr) else ""


def _write_visibility(writer: Writer, arguments: Arguments) -> None:
    (field,) = fields_of(arguments)
    writer.text += _visibility(writer, field) or "public"


def _read_visibility(reader: FormReader, arguments: Arguments) -> None:
    (field,) = fields_of(arguments)
    context = reader.context
    if context.tokens.kind == "word" and context.tokens.text in ("public", "private", "nested"):
        reader.attributes[field] = StringAttr(context.tokens.advance())


# -- TypedInitialValue: `(value) : type`, where the value may be absent


def _write_initial_value(writer: Writer, arguments: Arguments) -> None:
    type_field, value = fields_of(arguments)
    initial, declared = writer.attribute(value), writer.attribute(type_field)
    if initial is not None:
        # The text of `#ml_program.extern : T` and of a constant ends with its type, which is that of the global.
        writer.text += f"({writer.printer.attribute(initial)})"
    if isinstance(declared, TypeAttr):
        writer.text += f" : {writer.printer.type(declared.type)}"


def _read_initial_value(reader: FormReader, arguments: Arguments) -> None:
    type_field, value = fields_of(arguments)
    context = reader.context
    if context.tokens.take("("):
        reader.attributes[value] = context.attributes.attribute()
        context.tokens.expect(")")
    context.tokens.expect(":")
    reader.attributes[type_field] = TypeAttr(context.types.type())


# -- TokenOrdering: `ordering(%a, %b -> type)`, `ordering(() -> type)`


def _write_ordering(writer: Writer, arguments: Arguments) -> None:
    consumed, produced = fields_of(arguments)
    tokens = writer.printer.values(writer.values(consumed)) or "()"
    types = [v.type for v in writer.values(produced)]
    writer.text += f" ordering({tokens} -> {', '.join(map(writer.printer.type, types))})"


def _read_ordering(reader: FormReader, arguments: Arguments) -> None:
    consumed, produced = fields_of(arguments)
    context = reader.context
    context.tokens.expect("ordering")
    context.tokens.expect("(")
    if context.tokens.take("("):
        context.tokens.expect(")")
        reader.operands[consumed] = []
    else:
        reader.read_operands(consumed)
    context.tokens.expect("->")
    reader.types[produced] = [context.types.type()]
    context.tokens.expect(")")
    # Tokens have one type, so that of the consumed ones is that of the produced one.
    reader.types[consumed] = reader.types[produced] * len(reader.operands[consumed])


# -- FunctionSignature: `private @name(%x: type {..}) -> (type {..})`; arguments without names in a declaration


_PLAIN_SIGNATURE = lazy_pattern(
    rf"@([A-Za-z_][A-Za-z0-9_$.]*+){BLANK}\({BLANK}({PLAIN_ARGUMENTS}){BLANK}\){BLANK}"
    rf"(?:->{BLANK}(?:({PLAIN_TYPE})|\({BLANK}({PLAIN_TYPES}){BLANK}\))|(?!->))",
    re.ASCII,
)


def _write_signature(writer: Writer, arguments: Arguments) -> None:
    visibility, name, type_field, argument_attributes, result_attributes = fields_of(arguments)
    (body,) = writer.op.layout.regions
    symbol, declared = writer.attribute(name), writer.attribute(type_field)
    if (
        not isinstance(symbol, StringAttr)
        or not isinstance(declared, TypeAttr)
        or not isinstance(declared.type, FunctionType)
    ):
        writer.refuse()
    region: object = writer.op.field_value(body)
    entry = region.blocks[0].arguments if isinstance(region, Region) and region.blocks else None
    inputs, results = declared.type.inputs, declared.type.results
    if entry is not None and tuple([v.type for v in entry]) != inputs:
        writer.refuse()
    shown: list[str] = []
    for n, (t, extra) in enumerate(zip(inputs, _dictionaries(writer, argument_attributes, len(inputs)), strict=True)):
        place = "" if entry is None else writer.printer.argument_location(entry[n])
        label = "" if entry is None else f"{writer.printer.value(entry[n])}: "
        shown.append(f"{label}{writer.printer.type(t)}{extra}{place}")
    seen = _visibility(writer, visibility)
    text = f"{seen + ' ' if seen else ''}{symbol_text(symbol.value)}({', '.join(shown)})"
    if results:
        of_results = _dictionaries(writer, result_attributes, len(results))
        outputs = ", ".join([f"{writer.printer.type(t)}{x}" for t, x in zip(results, of_results, strict=True)])
        alone = len(results) == 1 and not of_results[0] and not outputs.startswith("(")
        text += f" -> {outputs}" if alone else f" -> ({outputs})"
    writer.text += text


def _dictionaries(writer: Writer, field: Field, count: int) -> list[str]:
    value = writer.attribute(field)
    if value is None:
        return [""] * count
    if not isinstance(value, ArrayAttr) or len(value.values) != count:
        writer.refuse()
    entries = [v.entries if isinstance(v, DictionaryAttr) else () for v in value.values]
    return [f" {writer.printer.dictionary(dict(e))}" if e else "" for e in entries]


def _read_plain_signature(reader: FormReader, name: Field, type_field: Field) -> bool:
    """Reads a signature with names and without attributes and locations; returns False, and consumes nothing, for
    any other.
    """
    tokens, types = reader.tokens, reader.context.types
    match = _PLAIN_SIGNATURE.match(tokens.source, tokens.start)
    if match is None:
        return False
    named = reader.context.plain_arguments(match.start(2), match.end(2))
    of_results = match[3] or match[4]
    results = types.types_of_text(of_results, match.start(3 if match[3] else 4)) if of_results else ()
    if named is None or results is None:
        return False
    tokens.move_to(match.end())
    reader.attributes[name] = StringAttr(match[1])
    reader.attributes[type_field] = TypeAttr(FunctionType(tuple([a.type for a in named]), results))
    reader.entry_arguments = named
    return True


def _read_signature(reader: FormReader, arguments: Arguments) -> None:
    visibility, name, type_field, argument_attributes, result_attributes = fields_of(arguments)
    _read_visibility(reader, [Variable(visibility)])
    reader.left_out = None if visibility in reader.attributes else visibility
    if _read_plain_signature(reader, name, type_field):
        return
    context = reader.context
    reader.attributes[name] = StringAttr(context.tokens.symbol())
    inputs: list[tuple[Type, DictionaryAttr]] = []
    named: list[Argument] = []
    context.tokens.expect("(")

    def one() -> None:
        if inputs and (context.tokens.kind == "value") is not bool(named):
            context.tokens.fail("either all inputs have names or none", at=context.tokens.start)
        if context.tokens.kind == "value":
            argument = context.argument(attributes=True)
            named.append(argument)
            inputs.append(
                (argument.type, DictionaryAttr(tuple(argument.attributes.items())) if argument.attributes else _EMPTY)
            )
        else:
            inputs.append(_type_and_attributes(reader))
            if context.tokens.at("loc"):
                context.location_suffix()

    context.tokens.separated(one, ")")
    results: list[tuple[Type, DictionaryAttr]] = []
    if context.tokens.take("->"):
        if context.tokens.take("("):
            results = context.tokens.separated(lambda: _type_and_attributes(reader), ")")
        else:
            results = [(context.types.type(), _EMPTY)]
    types = tuple([t for t, _ in inputs])
    reader.attributes[type_field] = TypeAttr(FunctionType(types, tuple([t for t, _ in results])))
    for field, typed in ((argument_attributes, inputs), (result_attributes, results)):
        if any(extra is not _EMPTY for _, extra in typed):
            reader.attributes[field] = ArrayAttr(tuple[Attribute, ...]([extra for _, extra in typed]))
    reader.entry_arguments = named


_EMPTY = DictionaryAttr(())


def _type_and_attributes(reader: FormReader) -> tuple[Type, DictionaryAttr]:
    type = reader.context.types.type()
    return type, reader.context.attributes.dictionary() if reader.context.tokens.at("{") else _EMPTY


# -- DynamicIndexList: `[2, %n, 4]`; values stand for the dynamic entries of the static list. A literal names brackets


_BRACKETS = {"Paren": "()", "Square": "[]", "LessGreater": "<>", "Braces": "{}"}
"""The brackets of a list by the name of the delimiter in C++."""


def _brackets(arguments: Arguments) -> str:
    names = [a.text.rpartition("::")[2] for a in arguments if isinstance(a, Literal)]
    return next((_BRACKETS[name] for name in names if name in _BRACKETS), "[]")


def dynamic_index_list(
    printer_values: Callable[[Value], str], values: Sequence[Value], static: Sequence[int], brackets: str = "[]"
) -> str:
    """Returns the text of sizes, of which some are values."""
    rest = iter(values)
    shown = [printer_values(next(rest)) if n == DYNAMIC else str(n) for n in static]
    return f"{brackets[0]}{', '.join(shown)}{brackets[1]}"


def _integers_of(writer: Writer, field: Field) -> Sequence[int]:
    """Returns the integers of an array, which most definitions store as such."""
    stored: object = writer.op.field_value(field)
    if isinstance(stored, tuple):
        return stored  # pyright: ignore[reportUnknownVariableType]  decoded as integers
    value = writer.attribute(field)
    if not isinstance(value, DenseArrayAttr):
        writer.refuse()
    return [int(v) for v in value.values]


def _write_index_list(writer: Writer, arguments: Arguments) -> None:
    values, static = fields_of(arguments)[:2]
    numbers = _integers_of(writer, static)
    dynamic = writer.values(values)
    if numbers.count(DYNAMIC) != len(dynamic):
        writer.refuse()
    writer.text += dynamic_index_list(writer.printer.value, dynamic, numbers, _brackets(arguments))


def _read_index_list(reader: FormReader, arguments: Arguments) -> None:
    values, static = fields_of(arguments)[:2]
    context = reader.context
    uses: list[Use] = []
    numbers: list[int] = []

    def one() -> None:
        if context.tokens.kind == "value":
            uses.append(context.use())
            if context.tokens.take(":"):
                context.types.type()
            numbers.append(DYNAMIC)
        else:
            numbers.append(context.tokens.integer())

    first, last = _brackets(arguments)
    plain = context.plain_integers() if first == "[" else None
    if plain is None:
        context.tokens.expect(first)
        context.tokens.separated(one, last)
    else:
        numbers = plain
    reader.operands[values] = uses
    reader.attributes[static] = DenseArrayAttr(i64, tuple(numbers))


# -- GlobalMemrefOpTypeAndInitialValue: `memref<2xf32> = dense<..>`, `= uninitialized`, or nothing more


def _write_memref_global(writer: Writer, arguments: Arguments) -> None:
    type_field, value = fields_of(arguments)
    declared, initial = writer.attribute(type_field), writer.attribute(value)
    if not isinstance(declared, TypeAttr):
        writer.refuse()
    writer.text += writer.printer.type(declared.type)
    if isinstance(initial, UnitAttr):
        writer.text += " = uninitialized"
    elif initial is not None:
        writer.text += f" = {writer.printer.attribute(initial, 'untyped')}"


def _read_memref_global(reader: FormReader, arguments: Arguments) -> None:
    type_field, value = fields_of(arguments)
    context = reader.context
    type = context.types.type()
    reader.attributes[type_field] = TypeAttr(type)
    if not context.tokens.take("="):
        return
    if context.tokens.take("uninitialized"):
        reader.attributes[value] = UnitAttr()
    else:
        reader.attributes[value] = context.attributes.attribute(tensor_of_memref(type))


def tensor_of_memref(type: Type) -> Type:
    """Returns the type of the contents of a buffer."""
    if isinstance(type, MemRefType) and isinstance(type.element, ElementType):
        return TensorType(type.element, type.shape)
    return type


# -- SwitchOpCases: `default: ^a(%x : i32), 42: ^b`, in brackets, each case on a line of its own


def _write_switch(writer: Writer, arguments: Arguments) -> None:
    default_operands, values, case_operands = _switch_fields(arguments)[1:]
    printer, op = writer.printer, writer.op
    sizes = writer.attribute(_field_of(op.layout.attributes, "case_operand_segments"))
    numbers = _case_numbers(writer.attribute(values))
    groups = [writer.values(default_operands)]
    rest = list(writer.values(case_operands))
    for n in [int(v) for v in sizes.values] if isinstance(sizes, DenseArrayAttr) else []:
        groups.append(tuple(rest[:n]))
        del rest[:n]
    if len(op.successors) != len(groups) or len(numbers) != len(groups) - 1:
        writer.refuse()
    lines = [
        f"{printer.margin}  {label}: {printer.successor(block, group)}"
        for label, block, group in zip(["default", *map(str, numbers)], op.successors, groups, strict=True)
    ]
    # The newline and the margin of the first line are written already; without cases the bracket closes on its line.
    writer.text += ",\n".join(lines)[len(printer.margin) :] + (f"\n{printer.margin}" if numbers else "")


def _switch_fields(arguments: Arguments) -> tuple[Field, Field, Field, Field]:
    """Returns the fields of the default block, its operands, the case values and their operands."""
    named = [a.field for a in arguments if isinstance(a, Variable)]
    default, default_operands, values, _, case_operands = named
    return default, default_operands, values, case_operands


def _field_of(fields: Sequence[Field], name: str) -> Field:
    return next(f for f in fields if f.spelling == name)


def _case_numbers(value: Attribute | None) -> list[int]:
    if isinstance(value, DataAttr):
        # mlir-opt prints them without sign.
        bits = value.data.element.bits
        return [int(v) & ((1 << bits) - 1) for v in value.data.values() if isinstance(v, int)]
    return [int(v) for v in value.values] if isinstance(value, DenseArrayAttr) else []


def _read_switch(reader: FormReader, arguments: Arguments) -> None:
    _, default_operands, values, case_operands = _switch_fields(arguments)
    context = reader.context
    context.tokens.expect("default")
    context.tokens.expect(":")
    block, uses, types = context.successor_and_uses()
    reader.blocks = [block]
    reader.operands[default_operands], reader.types[default_operands] = uses, types
    reader.operands[case_operands], reader.types[case_operands] = [], []
    numbers: list[int] = []
    sizes: list[int] = []
    while context.tokens.take(","):
        numbers.append(context.tokens.integer((1 << 64) - 1))
        context.tokens.expect(":")
        block, uses, types = context.successor_and_uses()
        reader.blocks.append(block)
        reader.operands[case_operands] += uses
        reader.types[case_operands] += types
        sizes.append(len(uses))
    flag = fields_of([a for a in arguments if isinstance(a, Reference)])[0]
    declared = reader.types.get(flag)
    element = declared[0] if declared else i64
    if not isinstance(element, ElementType):
        context.tokens.fail(f"expected an integer type, found {element}")
    reader.attributes[_field_of(reader.definition.layout.attributes, "case_operand_segments")] = DenseArrayAttr(
        i32, tuple(sizes)
    )
    if numbers:
        top, width = 1 << (element.bits - 1), 1 << element.bits
        data = data_of(element, (len(numbers),), [(n + top) % width - top for n in numbers])
        reader.attributes[values] = DataAttr(data, VectorType(element, (len(numbers),)))


# -- SwitchCases: `case 2 {..}`, each on a line of its own


def _write_cases(writer: Writer, arguments: Arguments) -> None:
    numbers, regions = fields_of(arguments)
    numbers_attr = writer.attribute(numbers)
    stored: object = writer.op.field_value(regions)
    if not isinstance(numbers_attr, DenseArrayAttr) or not isinstance(stored, tuple):
        writer.refuse()
    for number, region in zip(numbers_attr.values, stored, strict=True):  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
        writer.text += f"\n{writer.printer.margin}case {int(number)} "
        assert isinstance(region, Region)
        writer.done += (writer.text, Nested(region, named=True, empty_block=False))
        writer.text = ""


def _read_cases(reader: FormReader, arguments: Arguments) -> Reading:
    numbers, regions = fields_of(arguments)
    context = reader.context
    values: list[int] = []
    reader.regions[regions] = []
    while context.tokens.take("case"):
        values.append(context.tokens.integer())
        region = yield RegionRequest(None)
        assert isinstance(region, Region)
        reader.regions[regions].append(region)
    reader.attributes[numbers] = DenseArrayAttr(i64, tuple(values))


# -- VariableOpTypeOrInitialValue: `= dense<..> : tensor<..>` or `: tensor<..>`


def _write_variable(writer: Writer, arguments: Arguments) -> None:
    shape, type_field, value = fields_of(arguments)
    initial = writer.attribute(value)
    if initial is not None:
        writer.text += f"= {writer.printer.attribute(initial)}"
        return
    sizes, element = writer.attribute(shape), writer.attribute(type_field)
    if not isinstance(sizes, DataAttr) or not isinstance(element, TypeAttr):
        writer.refuse()
    dims = tuple([None if n == -1 else n for n in sizes.data.values() if isinstance(n, int)])
    if not isinstance(element.type, ElementType):
        writer.refuse()
    writer.text += f": {writer.printer.type(TensorType(element.type, dims))}"


def _read_variable(reader: FormReader, arguments: Arguments) -> None:
    shape, type_field, value = fields_of(arguments)
    context = reader.context
    at = context.tokens.start
    if context.tokens.take("="):
        initial = context.attributes.attribute()
        reader.attributes[value] = initial
        type: object = initial.data.type if isinstance(initial, DataAttr) else getattr(initial, "type", None)
    else:
        context.tokens.expect(":")
        type = context.types.type()
    if not isinstance(type, TensorType) or type.shape is None:
        context.tokens.fail("expected a ranked tensor", at=at)
    sizes = [n if isinstance(n, int) else -1 for n in type.shape]
    reader.attributes[shape] = DataAttr(data_of(index, (len(sizes),), sizes))
    reader.attributes[type_field] = TypeAttr(type.element)


DIRECTIVES: Mapping[str, Directive] = MappingProxyType(
    {
        "DynamicIndexList": Directive(_write_index_list, _read_index_list),
        "FunctionSignature": Directive(_write_signature, _read_signature),
        "GlobalMemrefOpTypeAndInitialValue": Directive(_write_memref_global, _read_memref_global),
        "SwitchCases": Directive(_write_cases, _read_cases),
        "SwitchOpCases": Directive(_write_switch, _read_switch),
        "SymbolVisibility": Directive(_write_visibility, _read_visibility),
        "TokenOrdering": Directive(_write_ordering, _read_ordering),
        "TypedInitialValue": Directive(_write_initial_value, _read_initial_value),
        "VariableOpTypeOrInitialValue": Directive(_write_variable, _read_variable),
    }
)
"""Directives by name."""
