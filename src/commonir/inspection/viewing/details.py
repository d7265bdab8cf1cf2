"""Tables for the panel of the page: attributes, operands, results and users of operations, ports, values, weights."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from commonir.base.text import escape, with_short_dims
from commonir.base.tuples import NamedTuple
from commonir.inspection.viewing.drawing import JsonValue
from commonir.inspection.viewing.overlays import Highlight, Overlay
from commonir.inspection.viewing.styles import family_of
from commonir.inspection.viewing.weights import WeightReader
from commonir.ir.attributes import (
    ArrayAttr,
    Attribute,
    DenseArrayAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    attribute_text,
)
from commonir.ir.data import Data
from commonir.ir.module import weight_name
from commonir.ir.operation import Operation, Value
from commonir.ir.ports import NO_PORT, Port
from commonir.ir.types import TensorType
from commonir.ods import Dialects, Op, known_data
from commonir.ods.documentation import summary_of
from commonir.reports.columns import type_text

FEW_ELEMENTS = 8
"""Constants of more elements are weights; others are shown where they are used."""
_MOST_LISTED = 200
_MOST_IN_TOOLTIP = 24
_LONGEST_TEXT = 300
_SCALAR = re.compile(r"tensor<(\w+)>")
"""The type of a scalar inside another type."""

Marks = Mapping[Operation, Sequence[str]]
"""Highlighted operations, with at least one line of tooltip each."""
NO_MARKS: Marks = MappingProxyType({})


class Operand(NamedTuple):
    """An operand by its name in the definition: a value, a small constant as text, or a weight, by number."""

    name: str
    value: int | None = None
    literal: str = ""
    weight: int | None = None

    def json(self) -> JsonValue:
        """Returns it as the page reads it."""
        if self.value is not None:
            return [self.name, self.value]
        return [self.name, None, self.literal] if self.weight is None else [self.name, None, None, self.weight]


class Item(NamedTuple):
    """An operation, or an input or output; `role` says which of both, and is empty for an operation.

    `also` is a second name, `where` its position in a text, `marks` are lines about differences, `highlights` those of
    overlays, by number.
    """

    op: str
    role: str
    name: str
    also: str = ""
    operands: tuple[Operand, ...] = ()
    results: tuple[int, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    where: str = ""
    marks: tuple[str, ...] = ()
    highlights: tuple[tuple[int, tuple[str, ...]], ...] = ()

    def json(self) -> JsonValue:
        """Returns it as the page reads it, without what is empty."""
        return {
            **({"op": self.op} if self.op else {"port": self.role}),
            "name": self.name,
            **({"also": self.also} if self.also else {}),
            **({"in": [operand.json() for operand in self.operands]} if self.operands else {}),
            **({"out": self.results} if self.results else {}),
            **({"attributes": self.attributes} if self.attributes else {}),
            **({"where": self.where} if self.where else {}),
            **({"marks": self.marks} if self.marks else {}),
            **({"highlights": self.highlights} if self.highlights else {}),
        }


class _ValueRow(NamedTuple):
    name: str
    type: str
    makers: list[int]
    users: list[int]


class _WeightRow(NamedTuple):
    value: Value
    data: Data
    maker: Operation
    users: list[int]


class Details:
    """Tables of everything that the panel shows; boxes refer to items by number."""

    def __init__(self, marks: Marks = NO_MARKS, overlays: Sequence[Overlay] = ()) -> None:
        self._marks = marks
        self.overlays = tuple(overlays)
        self._dialects = Dialects()
        self._items: list[Item] = []
        self._numbers: dict[Value, int] = {}
        self._values: list[_ValueRow] = []
        self._weight_numbers: dict[Value, int] = {}
        self._weights: list[_WeightRow] = []
        self._definitions: dict[str, Sequence[str]] = {}

    def add_operation(self, op: Operation) -> int:
        """Adds an operation and returns its number."""
        number = len(self._items)
        name = op.first_name or op.source_name
        results = [self.number_of(value) for value in op.results[:_MOST_LISTED]]
        for result in results:
            self._values[result].makers.append(number)
        self._items.append(
            Item(
                op.name,
                "",
                cut(name),
                cut(op.source_name) if op.source_name != name else "",
                tuple([self._operand(name, value, number) for name, value in named_operands(op)[:_MOST_LISTED]]),
                tuple(results),
                tuple(_attributes(op, self._dialects)),
                _position(op),
                tuple(dict.fromkeys([line for lines in self._marked(op) for line in lines])),
                tuple(self._highlight_lines(op)),
            )
        )
        if op.name not in self._definitions:
            kind = type(op)
            self._definitions[op.name] = (family_of(kind), summary_of(kind) if issubclass(kind, Op) else "")
        return number

    def add_port(self, role: str, name: str, value: Value, port: Port = NO_PORT) -> int:
        """Adds an input or output, as `role` says, and returns its number."""
        number, at = len(self._items), self.number_of(value)
        is_input = role == "input"
        (self._values[at].makers if is_input else self._values[at].users).append(number)
        operands, results = ((), (at,)) if is_input else ((Operand("", at),), ())
        self._items.append(Item("", role, cut(name), "", operands, results, tuple(_port_lines(port))))
        return number

    def _marked(self, op: Operation) -> list[Sequence[str]]:
        makers = [value.defining_op for _, value in weights_of(op)]
        return [self._marks[o] for o in [op, *filter(None, makers)] if o in self._marks]

    def highlights_of(self, op: Operation) -> tuple[Highlight | None, ...]:
        """Returns the highlight of an operation in each overlay, None where it has none."""
        return tuple([overlay.highlights.get(op) for overlay in self.overlays])

    def _highlight_lines(self, op: Operation) -> Iterator[tuple[int, tuple[str, ...]]]:
        for n, highlight in enumerate(self.highlights_of(op)):
            if highlight is not None:
                yield n, tuple(map(cut, highlight.lines or (highlight.text,)))

    def marks_of(self, op: Operation) -> list[str]:
        """Returns the first lines of the marks of an operation and of its weights."""
        return list(dict.fromkeys([lines[0] for lines in self._marked(op)]))

    def _operand(self, name: str, value: Value, user: int) -> Operand:
        maker, data = value.defining_op, known_data(value)
        if data is None or maker is None:
            at = self.number_of(value)
            self._values[at].users.append(user)
            return Operand(name, at)
        if not is_weight(data):
            return Operand(name, literal=_literal(data))
        at = self._weight_numbers.setdefault(value, len(self._weights))
        if at == len(self._weights):
            self._weights.append(_WeightRow(value, data, maker, []))
        self._weights[at].users.append(user)
        return Operand(name, weight=at)

    def number_of(self, value: Value) -> int:
        """Returns the number of a value in the table of values."""
        at = self._numbers.setdefault(value, len(self._values))
        if at == len(self._values):
            self._values.append(_ValueRow(cut(value.name), cut(str(value.type)), [], []))
        return at

    def tooltip(self, number: int) -> Iterator[str]:
        """Yields the lines about an item in an image, which has no panel."""
        item = self._items[number]
        if not item.op:
            at = (*item.results, *[operand.value for operand in item.operands])[0]
            yield f"{item.role} {item.name}: {self._values[at or 0].type}"
            return
        yield item.op
        for at in item.results[:_MOST_IN_TOOLTIP]:
            yield f"gives {self._value_text(at)}"
        for operand in item.operands[:_MOST_IN_TOOLTIP]:
            if operand.value is not None:
                yield f"{operand.name}: {self._value_text(operand.value)}"
            elif operand.weight is None:
                yield f"{operand.name} = {operand.literal}"
            else:
                weight = self._weights[operand.weight]
                yield f"{operand.name}: weight {weight_name(weight.maker)}: {weight.value.type}"
        for name, text in item.attributes[:_MOST_IN_TOOLTIP]:
            yield f"{name} = {text}"
        yield from item.marks
        for n, lines in item.highlights:
            yield f"{self.overlays[n].title}: {'; '.join(lines)}"

    def _value_text(self, number: int) -> str:
        value = self._values[number]
        return f"{value.name}: {value.type}" if value.name else value.type

    def document(self) -> dict[str, JsonValue]:
        """Returns the tables for the page."""
        types = list(dict.fromkeys([value.type for value in self._values]))
        number_of = {type: n for n, type in enumerate(types)}
        reader = WeightReader()
        return {
            "items": [item.json() for item in self._items],
            "values": [
                [value.name, number_of[value.type], value.makers[0] if value.makers else None, value.users]
                for value in self._values
            ],
            "types": types,
            "definitions": self._definitions,
            "overlays": [overlay.title for overlay in self.overlays],
            "weights": [
                {
                    "name": cut(weight_name(row.maker) or row.value.name),
                    "type": str(row.value.type),
                    "users": row.users,
                    **reader.describe(row.data, row.maker),
                }
                for row in self._weights
            ],
        }


def is_weight(data: Data) -> bool:
    """Returns whether a constant is listed as a weight."""
    return data.count > FEW_ELEMENTS


def weights_of(op: Operation) -> list[tuple[str, Value]]:
    """Returns the operands of an operation that are weights, by name."""
    return [(name, v) for name, v in named_operands(op) if (data := known_data(v)) is not None and is_weight(data)]


def named_operands(op: Operation) -> list[tuple[str, Value]]:
    """Returns the operands of an operation with the names that its definition has for them, else their numbers."""
    names = op.field_names[0] or [str(n) for n in range(len(op.operands))]
    return list(zip(names, op.operands, strict=False))


def short_type(value: Value) -> str:
    """Returns a short form of the type of a value, such as `map<string, f64>`."""
    text = type_text(with_short_dims(str(value.type)))
    if isinstance(value.type, TensorType):
        return text[len("tensor<") : -1].replace('"', "")
    return _SCALAR.sub(r"\1", text)


def _position(op: Operation) -> str:
    place = op.location
    if place is None or not place.line:
        return ""
    return cut(f"{place.file.replace(chr(92), '/').rpartition('/')[2]}:{place.line}:{place.column}")


def _attributes(op: Operation, known: Dialects) -> Iterator[tuple[str, str]]:
    for name, attribute in list(op.attribute_dictionary.items())[:_MOST_LISTED]:
        if known.is_meaningful(name):
            yield name, cut(_attribute_text(attribute))


def _attribute_text(attribute: Attribute) -> str:
    """Returns numbers and strings without their types, other attributes as in the text of the program."""
    match attribute:
        case IntegerAttr(value=value) | FloatAttr(value=value):
            return str(value)
        case StringAttr(value=text):
            return text
        case DenseArrayAttr(values=values):
            return f"[{', '.join(map(str, values))}]"
        case ArrayAttr(values=attributes):
            return f"[{', '.join(map(_attribute_text, attributes))}]"
        case _:
            return attribute_text(attribute, FEW_ELEMENTS)


def _literal(data: Data) -> str:
    return cut(str(list(data.values()) if data.shape else data.values()[0]))


def _port_lines(port: Port) -> Iterator[tuple[str, str]]:
    facts = {
        "description": port.doc,
        "image": port.image.value if port.image else "",
        "shape": "x".join(map(str, port.shape)),
        "shapes": ", ".join(["x".join(map(str, shape)) for shape in port.shapes]),
        "ranges": " x ".join(map(str, port.ranges)),
        "default": "" if port.default is None else str(port.default),
        "labels": f"{len(port.labels)}: {', '.join(map(str, port.labels[:FEW_ELEMENTS]))}" if port.labels else "",
        "declared": port.declared,
    }
    yield from [(name, cut(text)) for name, text in facts.items() if text]


def cut(text: str) -> str:
    """Returns a text escaped, shortened to what a panel shows of it."""
    shown = escape(text)
    return shown if len(shown) <= _LONGEST_TEXT else shown[: _LONGEST_TEXT - 1] + "…"
