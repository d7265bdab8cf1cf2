"""Custom directives of assembly formats: the parts of MLIR's syntax that have no declarative form.

Each writes and reads one piece of text for the fields it is given; a format uses it as `custom<Name>(...)`.
Source: MLIR ml_program dialect, syntax of its operations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from commonir.ir.attribute_text import attribute_text, dictionary_text, symbol_text
from commonir.ir.attributes import ArrayAttr, Attribute, DictionaryAttr, EnumAttr, StringAttr, TypeAttr
from commonir.ir.operation import Region
from commonir.ir.types import FunctionType, Type
from commonir.ods.fields import Field
from commonir.text.assembly import TypeOf, Variable

if TYPE_CHECKING:
    from commonir.text.custom_forms import FormReader
    from commonir.text.printer import Writer

Arguments = Sequence[Variable | TypeOf]


class Directive(NamedTuple):
    """How a directive is written and read."""

    write: Callable[[Writer, Arguments], None]
    read: Callable[[FormReader, Arguments], None]


def _fields(arguments: Arguments) -> list[Field]:
    """The fields that arguments name, in order."""
    out: list[Field] = []
    for a in arguments:
        group = a.group if isinstance(a, TypeOf) else a
        if isinstance(group, Variable):
            out.append(group.field)
    return out


# -- SymbolVisibility: `public`, `private` or `nested`


def _write_visibility(writer: Writer, arguments: Arguments) -> None:
    (field,) = _fields(arguments)
    value = writer.attribute(field)
    if isinstance(value, EnumAttr):
        writer.put(value.keyword)


def _read_visibility(reader: FormReader, arguments: Arguments) -> None:
    (field,) = _fields(arguments)
    cases = field.type.cases if field.type is not None else ()
    source = reader.source
    if source.kind == "word" and source.text in cases:
        reader.attributes[field] = StringAttr(source.advance())


# -- TypedInitialValue: `(value) : type`, where the value may be absent


def _write_initial_value(writer: Writer, arguments: Arguments) -> None:
    kind, value = _fields(arguments)
    held, stated = writer.attribute(value), writer.attribute(kind)
    if held is not None:
        writer.literal("(")
        writer.put(attribute_text(held, writer.printer.elide))
        writer.literal(")")
    if isinstance(stated, TypeAttr):
        writer.space = True
        writer.literal(":")
        writer.put(writer.printer.type(stated.type))


def _read_initial_value(reader: FormReader, arguments: Arguments) -> None:
    kind, value = _fields(arguments)
    source = reader.source
    if source.take("("):
        reader.attributes[value] = source.attribute()
        source.expect(")")
    source.expect(":")
    reader.attributes[kind] = TypeAttr(source.type())


# -- TokenOrdering: `ordering(%a, %b -> type)`, `ordering(() -> type)`


def _write_ordering(writer: Writer, arguments: Arguments) -> None:
    consumed, produced = _fields(arguments)
    tokens = writer.printer.values(writer.values(consumed)) or "()"
    types = [v.type for v in writer.values(produced)]
    writer.text += f" ordering({tokens} -> {', '.join(map(writer.printer.type, types))})"
    writer.space, writer.punctuation = True, False


def _read_ordering(reader: FormReader, arguments: Arguments) -> None:
    consumed, produced = _fields(arguments)
    source = reader.source
    source.expect("ordering")
    source.expect("(")
    if source.take("("):
        source.expect(")")
        reader.operands[consumed] = []
    else:
        reader.read_operands(consumed)
    source.expect("->")
    reader.types[produced] = [source.type()]
    source.expect(")")
    # Tokens have one type, so that of the consumed ones is that of the produced one.
    reader.types[consumed] = reader.types[produced] * len(reader.operands[consumed])


# -- FunctionSignature: `private @name(%x: type {..}) -> (type {..})`; arguments without names in a declaration


def _write_signature(writer: Writer, arguments: Arguments) -> None:
    visibility, name, kind, argument_attributes, result_attributes, body = _fields(arguments)
    _write_visibility(writer, [Variable(visibility)])
    symbol, stated = writer.attribute(name), writer.attribute(kind)
    if (
        not isinstance(symbol, StringAttr)
        or not isinstance(stated, TypeAttr)
        or not isinstance(stated.type, FunctionType)
    ):
        writer.refuse()
    region: object = writer.op.field_value(body)
    entry = region.blocks[0].arguments if isinstance(region, Region) and region.blocks else None
    inputs, results = stated.type.inputs, stated.type.results
    if entry is not None and tuple([v.type for v in entry]) != inputs:
        writer.refuse()
    of_inputs = _dictionaries(writer, argument_attributes, len(inputs))
    of_results = _dictionaries(writer, result_attributes, len(results))
    shown: list[str] = []
    for n, (t, extra) in enumerate(zip(inputs, of_inputs, strict=True)):
        label = "" if entry is None else f"{writer.printer.value(entry[n])}: "
        shown.append(f"{label}{writer.printer.type(t)}{extra}")
    text = f"{symbol_text(symbol.value)}({', '.join(shown)})"
    if results:
        outputs = ", ".join([f"{writer.printer.type(t)}{x}" for t, x in zip(results, of_results, strict=True)])
        alone = len(results) == 1 and not of_results[0] and not outputs.startswith("(")
        text += f" -> {outputs}" if alone else f" -> ({outputs})"
    writer.put(text)


def _dictionaries(writer: Writer, field: Field, count: int) -> list[str]:
    given = writer.attribute(field)
    if given is None:
        return [""] * count
    if not isinstance(given, ArrayAttr) or len(given.values) != count:
        writer.refuse()
    entries = [v.entries if isinstance(v, DictionaryAttr) else () for v in given.values]
    return [f" {dictionary_text(e, writer.printer.elide)}" if e else "" for e in entries]


def _read_signature(reader: FormReader, arguments: Arguments) -> None:
    visibility, name, kind, argument_attributes, result_attributes, _ = _fields(arguments)
    _read_visibility(reader, [Variable(visibility)])
    source = reader.source
    reader.attributes[name] = StringAttr(source.symbol())
    inputs: list[tuple[Type, DictionaryAttr]] = []
    names: list[tuple[str, int]] = []
    source.expect("(")
    start = source.start

    def one() -> None:
        if source.kind == "value":
            names.append((source.text, source.start))
            source.advance()
            source.expect(":")
        inputs.append(_typed(reader))

    source.separated(one, ")")
    if names and len(names) != len(inputs):
        source.fail("either all inputs have names or none", at=start)
    results: list[tuple[Type, DictionaryAttr]] = []
    if source.take("->"):
        if source.take("("):
            results = source.separated(lambda: _typed(reader), ")")
        else:
            results = [(source.type(), _NOTHING)]
    types = tuple([t for t, _ in inputs])
    reader.attributes[kind] = TypeAttr(FunctionType(types, tuple([t for t, _ in results])))
    for field, given in ((argument_attributes, inputs), (result_attributes, results)):
        if any(extra is not _NOTHING for _, extra in given):
            reader.attributes[field] = ArrayAttr(tuple[Attribute, ...]([extra for _, extra in given]))
    reader.entry_arguments = [(text, at, t) for (text, at), t in zip(names, types, strict=False)]


_NOTHING = DictionaryAttr(())


def _typed(reader: FormReader) -> tuple[Type, DictionaryAttr]:
    type = reader.source.type()
    return type, reader.source.dictionary() if reader.source.at("{") else _NOTHING


DIRECTIVES: Mapping[str, Directive] = MappingProxyType(
    {
        "FunctionSignature": Directive(_write_signature, _read_signature),
        "SymbolVisibility": Directive(_write_visibility, _read_visibility),
        "TokenOrdering": Directive(_write_ordering, _read_ordering),
        "TypedInitialValue": Directive(_write_initial_value, _read_initial_value),
    }
)
"""Directives by name."""
