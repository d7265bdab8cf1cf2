"""Reads an operation by the assembly format of its definition: the inverse of `text/printer.py`."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from typing import TYPE_CHECKING

from commonir.base.codes import WRONG_ATTRIBUTE, WRONG_OPERAND_COUNT
from commonir.base.diagnostics import DiagnosticError
from commonir.base.suggestions import did_you_mean
from commonir.ir.attributes import Attribute, StringAttr, UnitAttr
from commonir.ir.operation import Region, Value
from commonir.ir.types import Type
from commonir.ods import Op, kinds
from commonir.ods.fields import Field, FieldKind
from commonir.text.assembly import (
    AttributeDictionary,
    Custom,
    Element,
    FunctionalType,
    Literal,
    Operands,
    Optional,
    Regions,
    Results,
    Signature,
    TypeOf,
    Variable,
    format_of,
)
from commonir.text.directives import DIRECTIVES
from commonir.text.lexer import Use

if TYPE_CHECKING:
    from commonir.text.parser import Parser, Task

Group = Variable | Operands | Results


class FormReader:
    """Collects what the text of one operation says, then builds it.

    `operands`, `types` and `regions` are kept by field; types of all operands or all results, where they are given
    together, in `operand_types` and `result_types`.
    """

    def __init__(self, source: Parser, definition: type[Op], bound: int, start: int) -> None:
        self.source = source
        self.definition = definition
        self.bound = bound
        self.start = start
        self.form = format_of(definition)
        self.operands: dict[Field, list[Use]] = {}
        self.types: dict[Field, list[Type]] = {}
        self.all_operands: list[Use] | None = None
        self.operand_types: list[Type] | None = None
        self.result_types: list[Type] | None = None
        self.attributes: dict[Field, Attribute] = {}
        self.extra: dict[str, Attribute] = {}
        self.regions: dict[Field, list[Region]] = {}
        self.entry_arguments: list[tuple[str, int, Type]] | None = None

    def read(self) -> Generator[Task, object, Op]:
        """Reads the operation after its name."""
        yield from self._elements(self.form.elements)
        return self._build()

    # -- elements

    def _elements(self, elements: Iterable[Element]) -> Generator[Task, object, None]:
        for e in elements:
            if isinstance(e, Optional):
                yield from self._optional(e)
            elif isinstance(e, Variable) and e.field.kind is FieldKind.REGION:
                yield from self._region_field(e.field)
            elif isinstance(e, Regions):
                for f in self.definition.layout.regions:
                    yield from self._region_field(f)
            else:
                self._element(e)

    def _element(self, element: Element) -> None:
        match element:
            case Literal(text=text):
                if text.strip():
                    self._literal(text)
            case Variable(field=field):
                self._variable(field)
            case TypeOf(group=group):
                self._types(group)
            case Operands():
                self.all_operands = self._uses()
            case AttributeDictionary(keyword=keyword):
                if self.source.take("attributes") if keyword else self.source.at("{"):
                    self._dictionary()
            case FunctionalType(inputs=inputs, results=results):
                found = self.source.function_type()
                self._give(inputs, found.inputs)
                self._give(results, found.results)
            case Signature():
                self._signature()
            case Custom(name=name, arguments=arguments):
                DIRECTIVES[name].read(self, arguments)
            case Optional() | Regions() | Results():
                raise AssertionError("handled where elements are walked")

    def _literal(self, text: str) -> None:
        if not self.source.take(text):
            self.source.unexpected(f"'{text}'")

    def _optional(self, group: Optional) -> Generator[Task, object, None]:
        if not self._starts(group.elements[0]):
            yield from self._elements(group.otherwise)
            return
        anchor = group.elements[group.anchor]
        if isinstance(anchor, Variable) and anchor.field.type is kinds.unit:
            self.attributes[anchor.field] = UnitAttr()
        yield from self._elements(group.elements)

    def _starts(self, element: Element) -> bool:
        """Whether the current token can begin an element: how an optional group is recognized."""
        source = self.source
        match element:
            case Literal(text=text):
                return source.at(text)
            case Variable(field=field):
                if field.kind is FieldKind.REGION:
                    return source.at("{")
                if field.kind is not FieldKind.ATTRIBUTE:
                    return source.kind == "value"
                if field.type in (kinds.symbol_name, kinds.symbol):
                    return source.kind == "symbol"
                return source.kind in ("string", "int", "float") or source.at("[")
            case Operands():
                return source.kind == "value"
            case AttributeDictionary():
                return source.at("{")
            case _:
                return False

    def _variable(self, field: Field) -> None:
        if field.kind in (FieldKind.OPERAND, FieldKind.PARAMETER):
            if not field.variadic and (
                field.is_required or field.kind is FieldKind.PARAMETER or self.source.kind == "value"
            ):
                self.operands[field] = [self.source.use()]
            else:
                self.read_operands(field)
        elif field.type is not kinds.unit:
            self.attributes[field] = self._attribute(field)

    def read_operands(self, field: Field) -> None:
        """Reads the values of a variadic operand, perhaps none."""
        self.operands[field] = self._uses()

    def _uses(self) -> list[Use]:
        if self.source.kind != "value":
            return []
        out = [self.source.use()]
        while self.source.take(","):
            out.append(self.source.use())
        return out

    def _region_field(self, field: Field) -> Generator[Task, object, None]:
        found: list[Region] = []
        if self.source.at("{") or not field.variadic:
            while True:
                region = yield self.source.region(self.entry_arguments)
                assert isinstance(region, Region)
                found.append(region)
                if not field.variadic or not self.source.take(","):
                    break
        self.regions[field] = found

    # -- attributes

    def _attribute(self, field: Field) -> Attribute:
        """Reads the value of a declared attribute as `text/printer.py` writes it."""
        source = self.source
        if field.type is kinds.symbol_name and source.kind != "string":
            return StringAttr(source.symbol())
        if field.type is kinds.symbol and source.kind != "string":
            return source.symbol_reference()
        cases = field.type.cases if field.type is not None else ()
        if cases and source.kind == "word":
            if source.text not in cases:
                message = (
                    f"{self.definition.name}: '{field.spelling}' is one of {', '.join(cases)}, not '{source.text}'"
                )
                source.fail(message, code=WRONG_ATTRIBUTE, help=did_you_mean(source.text, cases))
            return StringAttr(source.advance())
        return source.attribute()

    def _dictionary(self) -> None:
        source = self.source
        fields = {f.spelling: f for f in self.definition.layout.attributes}
        source.expect("{")

        def entry() -> None:
            at = source.start
            name = source.key()
            field = fields.get(name)
            if name in self.extra or field in self.attributes:
                source.fail(f"attribute '{name}' is given twice", at=at)
            if not source.take("="):
                value: Attribute = UnitAttr()
            else:
                value = source.attribute() if field is None else self._attribute(field)
            if field is None:
                self.extra[name] = value
            else:
                self.attributes[field] = value

        source.separated(entry, "}")

    # -- types

    def _types(self, group: Group) -> None:
        if not isinstance(group, Variable):
            self._give(group, self.source.types())
        elif not group.field.variadic:
            self._give(group, (self.source.type(),))
        else:
            self._give(group, self.source.types() if self.operands.get(group.field, [1]) else ())

    def _give(self, group: Group, types: Sequence[Type]) -> None:
        match group:
            case Variable(field=field):
                self.types[field] = list(types)
            case Operands():
                self.operand_types = list(types)
            case Results():
                self.result_types = list(types)

    def _signature(self) -> None:
        source = self.source
        if source.at("("):
            found = source.function_type()
            self.operand_types, self.result_types = list(found.inputs), list(found.results)
        else:
            kind = source.type()
            self.operand_types = [kind] * sum(map(len, self.operands.values()))
            self.result_types = [kind]

    # -- building

    def _build(self) -> Op:
        definition, source = self.definition, self.source
        arguments: dict[str, object] = {}
        for f, attr in self.attributes.items():
            arguments[f.name] = source.decoded(definition, f, attr, self.start)
        for f in definition.layout.regions:
            found = self.regions.get(f, [])
            arguments[f.name] = tuple(found) if f.variadic else found[0] if found else Region()
        arguments |= self._operands()
        types = self._results()
        if types is not None:
            return source.built(definition, arguments, types, self.extra)
        self._require(arguments)
        try:
            op = definition(**arguments)
        except DiagnosticError as error:
            raise DiagnosticError(*[source.located(d, self.start) for d in error.diagnostics]) from None
        for key, value in self.extra.items():
            op.set_extra(key, value)
        return op

    def _require(self, arguments: dict[str, object]) -> None:
        for f in self.definition.layout.arguments:
            if f.is_required and f.name not in arguments:
                message = f"{self.definition.name}: attribute '{f.spelling}' is missing"
                self.source.fail(message, at=self.start, code=WRONG_ATTRIBUTE)

    def _operands(self) -> dict[str, object]:
        source = self.source
        inputs = self.definition.layout.inputs
        if self.all_operands is not None:
            values = self._resolved(self.all_operands, self.operand_types)
            return source.grouped(self.definition, values, None, self.start)
        flat = [u for f in inputs for u in self.operands.get(f, [])]
        stated = self.operand_types
        if stated is None and any(f in self.types for f in inputs):
            values = tuple([v for f in inputs for v in self._resolved(self.operands.get(f, []), self.types.get(f))])
        else:
            values = self._resolved(flat, stated)
        rest = iter(values)
        out: dict[str, object] = {}
        for f in inputs:
            group = tuple([next(rest) for _ in self.operands.get(f, [])])
            if f.variadic:
                out[f.name] = group
            elif group:
                out[f.name] = group[0]
        return out

    def _resolved(self, uses: Sequence[Use], types: Sequence[Type] | None) -> tuple[Value, ...]:
        if types is None:
            return tuple([self.source.resolve(u, None) for u in uses])
        if len(types) != len(uses):
            message = f"{self.definition.name}: {len(uses)} operands have {len(types)} types"
            self.source.fail(message, at=self.start, code=WRONG_OPERAND_COUNT)
        return tuple([self.source.resolve(u, t) for u, t in zip(uses, types, strict=True)])

    def _results(self) -> list[Type] | None:
        """Types of the results as stated; None when they are to be inferred."""
        if self.result_types is not None:
            return self.result_types
        fields = self.definition.layout.results
        if not self.form.states_results:
            return None
        return [t for f in fields for t in self.types.get(f, ())]
