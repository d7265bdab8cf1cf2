"""Definitions from the older form of records: `Op<"tf.Add", [NoSideEffect]>, Arguments<(ins ..)>, Results<[..]>`.

A record without `Arguments` takes any operands and attributes, one without `Results` has any results. The short form is
a template, `tfl.Add $lhs, $rhs {fused: $fused}: ${type(self)}`, which becomes an assembly format. References in C++ are
stored as text, except the loop nest of the proposal. Source: MLIR operation definitions, the proposal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from textwrap import dedent
from types import MappingProxyType

from commonir.ir.types import TensorType, Type
from commonir.ods import traits as known
from commonir.ods.broadcasting import broadcast_dims
from commonir.ods.fields import FieldKind, SpelledField
from commonir.ods.from_records.operations import Defining, documentation
from commonir.ods.from_records.references import has_cpp_reference, is_cpp
from commonir.ods.from_records.traits import KNOWN_TRAITS
from commonir.ods.from_records.values import is_a, records_of, states, text_of, texts_of, wrong
from commonir.ods.traits import Trait
from commonir.ods.type_constraints import AnyType
from commonir.ods.type_rules import TypeRule, Typing, element_of

_PROPERTIES: Mapping[str, Trait] = MappingProxyType({"NoSideEffect": known.Pure, "Commutative": known.Commutative})

_PART = re.compile(
    r"\s*(?:\$\{\s*type\(\s*(\w+)\s*\)\s*\}|\$(\w+)|([A-Za-z_][\w$.]*)|(->|::|[,:=<>(){}\[\]?*+|/-]))", re.DOTALL
)
_RESULT = "self"
_CLOSE = "<>(){}[],"
"""Punctuation that formats write without a preceding blank."""


class DefiningOlder(Defining):
    """Builds a definition from a record in the older form, whose short forms have the types of results only."""

    omits_operand_types = True

    def collect(self) -> None:
        if states(self.record, "arguments"):
            self.collect_arguments()
        else:
            self.add("operands", SpelledField("operands", FieldKind.OPERAND, pattern=AnyType, variadic=True))
        if not is_a(self.record, "Results"):
            self.add("results", SpelledField("results", FieldKind.RESULT, pattern=AnyType, variadic=True))
            return
        types = list(records_of(self.record, "returnTypes"))
        for n, record in enumerate(types):
            self.add_value(record, "result" if len(types) == 1 else f"result{n}", FieldKind.RESULT)

    def traits(self) -> list[Trait]:
        named = [each.name_text for each in records_of(self.record, "properties")]
        result = [_PROPERTIES.get(name) or Trait(name, "as its definition states") for name in named]
        for name in texts_of(self.record, "traits"):
            built = _BY_NAME.get(name) or KNOWN_TRAITS.get(name)
            if built is None:
                self.unknown.append(f"trait {name}")
            result.append(built or Trait(name, "as its definition states"))
        self.unknown += [f"{name}: {_first_line(text)}" for name, text in self._code()]
        return result

    def _code(self) -> Iterator[tuple[str, str]]:
        """Yields the C++ code in the record."""
        for name in ("reference", "builder", "printer", "parser", "verifier"):
            if text_of(self.record, name).strip() and (name != "reference" or has_cpp_reference(self.record)):
                yield name, text_of(self.record, name)

    def assembly(self) -> str:
        text = text_of(self.record, "mnemonic").strip()
        return self._format_of(text) if text else ""

    def _format_of(self, template: str) -> str:
        name = text_of(self.record, "opName")
        if not template.startswith(name) or template[len(name) : len(name) + 1].strip():
            raise wrong(self.record, f"the short form of '{name}' does not begin with its name: '{template}'")
        fields = {f.spelling for f in self.fields.values()}
        results = [f.spelling for f in self.fields.values() if f.kind is FieldKind.RESULT]
        out: list[str] = []
        at, end = len(name), len(template)
        while template[at:end].strip():
            match = _PART.match(template, at)
            if match is None:
                raise wrong(self.record, f"the short form of '{name}' cannot be read from '{template[at:]}' on")
            typed, variable, word, mark = match.groups()
            of = (results[0] if results else "") if typed == _RESULT else typed or variable
            if of is not None and of not in fields:
                shown = typed or variable
                raise wrong(self.record, f"the short form of '{name}' names '{shown}', which is not a field of it")
            out += _layout(template[at : match.start(match.lastindex or 0)], mark or "")
            out.append(f"type(${of})" if typed else f"${variable}" if variable else f"`{word or mark}`")
            at = match.end()
        return " ".join([*out, "attr-dict"])

    def declared_format(self) -> str | None:
        text = self.assembly()
        return text or None

    def documentation(self) -> str:
        text = text_of(self.record, "reference")
        if not is_cpp(text):
            return documentation(self.record)
        return f"{documentation(self.record).rstrip()}\n\nReference, in C++:\n\n```\n{dedent(text).strip()}\n```\n"


def _layout(before: str, mark: str) -> list[str]:
    """Returns the format elements that reproduce the template's spacing around an element."""
    if not before.strip("${") and not before[:1].isspace():
        return ["``"]
    return ["` `"] if mark and mark in _CLOSE else []


def _first_line(text: str) -> str:
    line, _, rest = text.strip().partition("\n")
    return f"{line} .." if rest else line


# -- traits by the names of the proposal


def _broadcast(types: list[Type]) -> Type | None:
    """Returns the type of tensors of these types after broadcasting; None when it is not known."""
    tensors = [t for t in types if isinstance(t, TensorType)]
    if len(tensors) != len(types) or not tensors:
        return None
    shapes = [t.shape for t in tensors]
    if any(s is None for s in shapes):
        return TensorType(tensors[0].element, None)
    shape = broadcast_dims([s for s in shapes if s is not None])
    return None if shape is None else TensorType(tensors[0].element, shape)


def _operands(typing: Typing) -> list[Type] | None:
    """Returns the types of all operands; None when some are not known."""
    if any(name not in typing.types for name in typing.operands):
        return None
    return typing.all(typing.operands)


def _give_broadcast(typing: Typing) -> None:
    types = _operands(typing)
    broadcast = None if types is None else _broadcast(types)
    for name in typing.results if broadcast is not None else ():
        typing.set_default(name, broadcast)  # pyright: ignore[reportArgumentType]


def _wrong_broadcast(typing: Typing) -> Iterator[str]:
    types = [*typing.all(typing.operands), *typing.all(typing.results)]
    for t in types[1:]:
        if element_of(t) is not element_of(types[0]):
            yield f"operands and results must share one element type, found {types[0]} and {t}"
            return
    operands = typing.all(typing.operands)
    if operands and _broadcast(operands) is None:
        yield f"the shapes of operands cannot be broadcast: {', '.join(map(str, operands))}"


_BY_NAME: Mapping[str, Trait] = MappingProxyType(
    {
        "BroadcastableOperandsAndResultType": TypeRule(
            "BroadcastableOperandsAndResultType",
            "operands and results have one element type, and shapes that broadcast",
            _wrong_broadcast,
            _give_broadcast,
            sources=lambda typing: typing.operands,
            targets=lambda typing: typing.results,
        ),
        "NoSideEffect": known.Pure,
        "Commutative": known.Commutative,
    }
)
