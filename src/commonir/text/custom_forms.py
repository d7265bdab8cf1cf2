"""Reads an operation by the assembly format of its definition: the inverse of `text/printer.py`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from commonir.base.codes import WRONG_ATTRIBUTE, WRONG_OPERAND_COUNT
from commonir.base.diagnostics import DiagnosticError
from commonir.base.suggestions import did_you_mean
from commonir.ir.attributes import Attribute, DenseArrayAttr, IntegerAttr, StringAttr, UnitAttr
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import DialectType, Type, i32, i64
from commonir.ods import MlirOp, Op, attr_types
from commonir.ods.definition import RESULT_SIZES
from commonir.ods.fields import MISSING, Field, FieldKind
from commonir.ods.inference import result_fields
from commonir.ods.property_types import PropertyType
from commonir.ods.text_form import Argument, Use
from commonir.ods.type_rules import type_of_attribute
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
    format_of,
)
from commonir.text.deduction import Deduction, StatedTypes
from commonir.text.directives import DIRECTIVES
from commonir.text.python_forms import PythonReader

if TYPE_CHECKING:
    from commonir.text.parser import Parser, Task

Reading: TypeAlias = "Generator[Task, object, None]"
Step: TypeAlias = "Callable[[FormReader], Reading | None]"
"""Reads an element of a form, or gives what reads it."""


def _has_its_type(field: Field) -> bool:
    """Whether a number is written with its type in a dictionary, though not where a form names the attribute."""
    return field.type is not None and field.type.elides_type


# The words that attributes of the syntax itself begin with.
_NUMBER_WORDS = frozenset({"true", "false", "array", "dense", "dense_resource", "sparse"})
_ATTRIBUTE_WORDS = _NUMBER_WORDS | {"unit", "affine_map", "affine_set", "strided", "loc", "distinct"}


class _Plan:
    """What follows from a definition for reading its form: made once.

    `has_tasks`: whether reading may come to regions. `is_simple`: an operation has one value for each operand, and
    beside operands, attributes and results nothing.
    """

    __slots__ = ("deduction", "fields", "form", "has_tasks", "input_count", "is_simple", "steps")

    def __init__(self, definition: type[Op]) -> None:
        layout = definition.layout
        self.form = format_of(definition)
        self.steps = _compiled(self.form.elements)
        self.has_tasks = _has_tasks(self.form.elements)
        deduces = bool(definition.type_rules) or issubclass(definition, MlirOp)
        self.deduction = Deduction(definition, states_results=self.form.states_results) if deduces else None
        self.input_count = len(layout.inputs)
        self.fields = {f.spelling: f for f in layout.attributes}
        of_operands = all(f.kind is FieldKind.OPERAND and f.is_required for f in layout.inputs)
        self.is_simple = of_operands and not layout.regions and not layout.successors and not layout.parameters
        self.is_simple = self.is_simple and layout.is_plain


@cache
def plan_of(definition: type[Op]) -> _Plan:
    """Returns how the form of a definition is read."""
    return _Plan(definition)


def _has_tasks(elements: Sequence[Element]) -> bool:
    for e in elements:
        match e:
            case Regions() | Custom() | AnyOrder():
                return True
            case Variable(field=field):
                if field.kind is FieldKind.REGION:
                    return True
            case Optional(elements=inner, otherwise=otherwise):
                if _has_tasks(inner) or _has_tasks(otherwise):
                    return True
            case _:
                pass
    return False


def _compiled(elements: Sequence[Element]) -> tuple[Step, ...]:
    """Returns the steps that read elements; layout alone needs none."""
    return tuple([_step(e) for e in elements if not (isinstance(e, Literal) and not e.text.strip())])


def _step(element: Element) -> Step:
    """Returns what reads an element."""
    match element:
        case Literal(text=text):
            return _literal(text)
        case Variable(field=field):
            return _variable(field)
        case TypeOf(group=group):
            short = element.short
            return lambda reader: reader.read_type_of(group, short)
        case Operands():
            return FormReader.read_all_operands
        case AttributeDictionary(keyword=keyword):
            return lambda reader: reader.read_attributes(keyword=keyword)
        case FunctionalType(inputs=inputs, results=results):
            return lambda reader: reader.read_functional_type(inputs, results)
        case Signature():
            return FormReader.read_signature
        case Successors():
            return FormReader.read_all_successors
        case PropertyDictionary():
            return FormReader.read_properties
        case Regions():
            return FormReader.read_regions
        case Custom(name=name, arguments=arguments):
            read = DIRECTIVES[name].read
            return lambda reader: read(reader, arguments)
        case Optional():
            return _optional(element)
        case AnyOrder():
            return _any_order(element)
        case Results() | Reference():
            raise AssertionError("only their types are read, and what they refer to")


def _literal(text: str) -> Step:
    def read(reader: FormReader) -> None:
        source = reader.source
        if not source.take(text):
            source.unexpected(f"'{text}'", at=source.start if text[0].isalpha() else None)

    return read


def _variable(field: Field) -> Step:
    def read_one(reader: FormReader) -> None:
        reader.operands[field] = [reader.source.use()]

    if field.kind is FieldKind.REGION:
        return lambda reader: reader.read_region(field)
    if field.kind is FieldKind.OPERAND and field.is_required:
        return read_one
    return lambda reader: reader.read_variable(field)


class _Part:
    """Elements that are read together, if they are there; flags that nothing else says are thereby set."""

    __slots__ = ("flags", "has_tasks", "steps")

    def __init__(self, elements: Sequence[Element], silent: Sequence[Element]) -> None:
        self.flags = [e.field for e in silent if isinstance(e, Variable)]
        read = [e for e in elements if e not in silent]
        self.steps = _compiled(read)
        self.has_tasks = _has_tasks(read)

    def read(self, reader: FormReader) -> Reading | None:
        """Reads the elements."""
        for field in self.flags:
            reader.attributes[field] = UnitAttr()
        if self.has_tasks:
            return self._tasks(reader)
        for step in self.steps:
            step(reader)
        return None

    def _tasks(self, reader: FormReader) -> Reading:
        for step in self.steps:
            task = step(reader)
            if task is not None:
                yield from task


def _optional(group: Optional) -> Step:
    first = next((e for e in group.elements if not (isinstance(e, Literal) and not e.text.strip())), None)
    there = _Part(group.elements, [e for e in group.elements if group.is_silent(e)])
    otherwise = _Part(group.otherwise, [e for e in group.otherwise if group.is_silent(e)])

    def read(reader: FormReader) -> Reading | None:
        return (otherwise if first is None or not reader.starts(first) else there).read(reader)

    return read


def _any_order(group: AnyOrder) -> Step:
    clauses = [(c[0], _Part(c, [e for e in c if group.is_silent(c, e)])) for c in group.clauses]

    def read(reader: FormReader) -> Reading:
        left = list(clauses)
        while True:
            found = next((c for c in left if reader.starts(c[0])), None)
            if found is None:
                if any(reader.starts(c[0]) for c in clauses if c not in left):
                    reader.source.fail(f"'{reader.source.text}' stands twice, but may stand once")
                return
            left.remove(found)
            task = found[1].read(reader)
            if task is not None:
                yield from task

    return read


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
        self.plan = plan_of(definition)
        self.form = self.plan.form
        self.operands: dict[Field, list[Use]] = {}
        self.types: dict[Field, list[Type]] = {}
        self.all_operands: list[Use] | None = None
        self.operand_types: list[Type] | None = None
        self.result_types: list[Type] | None = None
        self.attributes: dict[Field, Attribute] = {}
        self.extra: dict[str, Attribute] = {}
        self.regions: dict[Field, list[Region]] = {}
        self.blocks: list[Block] = []
        self.entry_arguments: list[Argument] | None = None

    def read(self) -> Generator[Task, object, Operation]:
        """Reads the operation after its name."""
        for step in self.plan.steps:
            task = step(self)
            if task is not None:
                yield from task
        return self._build()

    def read_at_once(self) -> Operation:
        """Reads the operation after its name, of a form without regions."""
        for step in self.plan.steps:
            step(self)
        return self._build()

    # -- elements

    def read_regions(self) -> Reading:
        """Reads all regions."""
        for f in self.definition.layout.regions:
            yield from self.read_region(f)

    def read_functional_type(self, inputs: Group, results: Group) -> None:
        """Reads types of operands, an arrow and types of results."""
        of_inputs, of_results = self.source.signature()
        self._give(inputs, of_inputs)
        self._give(results, of_results)

    def read_type_of(self, group: Group, short: str) -> None:
        """Reads the types of a group, of which that of a dialect may leave out its prefix."""
        if short and self.source.at("<"):
            self._give(group, (self._short_type(short),))
        else:
            self._types(group)

    def read_attributes(self, *, keyword: bool) -> None:
        """Reads the attribute dictionary, if there is one."""
        if self.source.take("attributes") if keyword else self.source.at("{"):
            self._dictionary(has_properties=False)

    def read_properties(self) -> None:
        """Reads the dictionary of properties, if there is one."""
        if self.source.take("<"):
            self._dictionary(has_properties=True)
            self.source.expect(">")

    def read_all_operands(self) -> None:
        """Reads all operands."""
        self.all_operands = self._uses()

    def read_all_successors(self) -> None:
        """Reads all successors, perhaps none."""
        if self.source.kind == "block":
            self._successors()

    def _successors(self) -> None:
        self.blocks.append(self.source.successor())
        while self.source.take(","):
            self.blocks.append(self.source.successor())

    def starts(self, element: Element) -> bool:
        """Whether the current token can begin an element: how an optional group is recognized."""
        source = self.source
        match element:
            case Literal(text=text):
                return source.at(text)
            case Variable(field=field):
                return self._starts_variable(field)
            case Operands():
                return source.kind == "value"
            case Successors():
                return source.kind == "block"
            case AttributeDictionary(keyword=keyword):
                return source.at("attributes" if keyword else "{")
            case PropertyDictionary():
                return source.at("<")
            case Custom(name="DynamicIndexList"):
                return source.at("[")
            case _:
                return False

    def _starts_variable(self, field: Field) -> bool:
        source = self.source
        match field.kind:
            case FieldKind.REGION:
                return source.at("{")
            case FieldKind.SUCCESSOR:
                return source.kind == "block"
            case FieldKind.ATTRIBUTE:
                pass
            case _:
                return source.kind == "value"
        if isinstance(field.type, PropertyType):
            return field.type.starts(self._tokens())
        if field.type in (attr_types.symbol_name, attr_types.symbol):
            return source.kind == "symbol"
        if field.type is attr_types.string:
            return source.kind == "string"
        if field.type is not None and field.type.cases and source.kind == "word":
            return source.text in field.type.cases
        if source.at("<"):
            return issubclass(self.definition, MlirOp)
        started = source.kind in ("string", "int", "float", "attribute", "symbol") or source.at("[") or source.at("-")
        return started or (source.kind == "word" and source.text in _ATTRIBUTE_WORDS)

    def read_variable(self, field: Field) -> None:
        if field.kind is FieldKind.SUCCESSOR:
            if not field.variadic:
                self.blocks.append(self.source.successor())
            elif self.source.kind == "block":
                self._successors()
        elif field.kind in (FieldKind.OPERAND, FieldKind.PARAMETER):
            if not field.variadic and (
                field.is_required or field.kind is FieldKind.PARAMETER or self.source.kind == "value"
            ):
                self.operands[field] = [self.source.use()]
            else:
                self.read_operands(field)
        else:
            self.attributes[field] = self._attribute(field)

    def read_operands(self, field: Field) -> None:
        """Reads the values of a variadic operand, perhaps none."""
        self.operands[field] = self._uses()

    def _uses(self) -> list[Use]:
        return self.source.uses()

    def read_region(self, field: Field) -> Generator[Task, object, None]:
        found: list[Region] = []
        if self.source.at("{") or not field.variadic:
            while True:
                region = yield self.source.region(self.entry_arguments, self.definition.default_dialect)
                assert isinstance(region, Region)
                self.source.end_region(self.definition, region)
                found.append(region)
                if not field.variadic or not self.source.take(","):
                    break
        self.regions[field] = found

    # -- attributes

    def _attribute(self, field: Field) -> Attribute:
        """Reads the value of a declared attribute as `text/printer.py` writes it."""
        source = self.source
        if isinstance(field.type, PropertyType):
            return self._property(field, field.type)
        if field.type is attr_types.symbol_name and source.kind != "string":
            return StringAttr(source.symbol())
        if field.type is attr_types.symbol and source.kind != "string":
            return source.symbol_reference()
        cases = field.type.cases if field.type is not None else ()
        if cases and source.kind == "word":
            if source.text not in cases:
                message = (
                    f"{self.definition.name}: '{field.spelling}' is one of {', '.join(cases)}, not '{source.text}'"
                )
                source.fail(message, code=WRONG_ATTRIBUTE, help=did_you_mean(source.text, cases))
            return StringAttr(source.advance())
        if source.at("<"):
            # An attribute of a dialect without its prefix, whose name is that of its kind.
            read = source.attribute_readers.get("" if field.type is None else field.type.name)
            return self._bracketed() if read is None else read(source)
        if field.type is not None and field.type.elides_type:
            if source.kind == "int" or source.at("-"):
                # What follows a colon here is not the type of the number, but what the format says next.
                at = source.start
                number = source.integer((1 << 64) - 1)
                typed = field.type.to_attribute(number)
                return source.integer_of(number, typed.type if isinstance(typed, IntegerAttr) else i64, at)
            if source.take("["):
                return field.type.to_attribute(tuple(source.separated(source.integer, "]")))
        return source.attribute()

    def _property(self, field: Field, kind: PropertyType[Any]) -> Attribute:
        """Reads the value of a property, as the attribute that holds it."""
        at = self.source.start
        try:
            return kind.to_attribute(kind.read(self._tokens()))
        except ValueError as error:
            self.source.fail(f"{self.definition.name}: '{field.spelling}': {error}", at=at, code=WRONG_ATTRIBUTE)

    def _tokens(self) -> PythonReader:
        return PythonReader(self.source, self.definition, self.bound, self.start)

    def _bracketed(self) -> Attribute:
        """What stands in angle brackets, brackets included: a dialect attribute without its prefix."""
        return StringAttr(self.source.bracketed())

    def _dictionary(self, *, has_properties: bool) -> None:
        source = self.source
        text = "" if self.attributes or self.extra else source.plain_dictionary()
        key = (self.definition, has_properties, text)
        known = source.form_dictionaries.get(key)
        if known is not None:
            source.move_to(source.start + len(text))
            self.attributes, self.extra = dict(known[0]), dict(known[1])
            return
        self._read_dictionary(has_properties=has_properties)
        if text:
            source.form_dictionaries[key] = dict(self.attributes), dict(self.extra)

    def _read_dictionary(self, *, has_properties: bool) -> None:
        source = self.source
        fields = self.plan.fields
        source.expect("{")

        def entry() -> None:
            at = source.start
            name = source.key()
            field = fields.get(name)
            if name in self.extra or field in self.attributes:
                source.fail(f"attribute '{name}' is given twice", at=at)
            is_property = field is not None and isinstance(field.type, PropertyType)
            if is_property and not has_properties:
                source.fail(f"'{name}' is a property, which attributes do not give; the generic form does", at=at)
            if not source.take("="):
                value: Attribute = UnitAttr()
            elif field is None or is_property or self.definition.custom_form is not None or _has_its_type(field):
                value = source.member() if field is None else source.attribute()
            else:
                value = self._attribute(field)
            if field is None:
                self.extra[name] = value
            else:
                self.attributes[field] = value

        source.separated(entry, "}")

    # -- types

    def _types(self, group: Group) -> None:
        if not isinstance(group, Variable):
            self._give(group, self.source.types())
        elif not group.field.is_required and not self.operands.get(group.field) and self._at_no_type():
            self._give(group, ())
        elif not group.field.variadic:
            self._give(group, (self.source.type(),))
        else:
            self._give(group, self.source.types() if self.operands.get(group.field, [1]) else ())

    def _short_type(self, name: str) -> Type:
        """A type of a dialect without its prefix."""
        read = self.source.type_readers.get(name)
        if read is not None:
            return read(self.source)
        dialect, _, mnemonic = name.partition(".")
        return DialectType(dialect, mnemonic, self.source.bracketed()[1:-1])

    def _at_no_type(self) -> bool:
        """Whether something stands here that no type begins with. mlir-opt does not read what it prints there."""
        return self.source.kind in ("mark", "value", "end") and not self.source.at("(")

    def _give(self, group: Group, types: Sequence[Type]) -> None:
        match group:
            case Variable(field=field):
                self.types[field] = list(types)
            case Operands():
                self.operand_types = list(types)
            case Results():
                self.result_types = list(types)

    def read_signature(self) -> None:
        source = self.source
        if source.at("("):
            self.operand_types, self.result_types = source.signature()
        else:
            kind = source.type()
            self.operand_types = [kind] * sum(map(len, self.operands.values()))
            self.result_types = [kind]

    # -- building

    def _build(self) -> Operation:
        definition, source = self.definition, self.source
        arguments: dict[str, object] = {}
        self._divide_results()
        for f, attr in self.attributes.items():
            arguments[f.name] = source.decoded(definition, f, attr, self.start)
        if self.plan.is_simple and self.all_operands is None and len(self.operands) == self.plan.input_count:
            types = self._deduced(arguments)
            return self._constructed(arguments) if types is None else self._simple(arguments, types)
        for f in definition.layout.regions:
            found = self.regions.get(f, [])
            arguments[f.name] = tuple(found) if f.variadic else found[0] if found else Region()
        arguments |= source.destinations(definition, self.blocks, self.start)
        types = self._deduced(arguments)
        arguments |= self._operands()
        if types is not None:
            return source.built(definition, arguments, types, self.extra, self.start)
        return self._make(arguments)

    def _constructed(self, arguments: dict[str, object]) -> Operation:
        """Returns an operation whose result types its constructor infers."""
        return self._make(arguments | self._operands())

    def _make(self, arguments: dict[str, object]) -> Operation:
        definition, source = self.definition, self.source
        self._require(arguments)
        try:
            op = definition(**arguments)
        except DiagnosticError as error:
            raise DiagnosticError(*[source.located(d, self.start) for d in error.diagnostics]) from None
        except TypeError as error:
            source.fail(str(error), at=self.start, code=WRONG_ATTRIBUTE)
        for key, value in self.extra.items():
            op.set_extra(key, value)
        return op

    def _simple(self, arguments: Mapping[str, object], types: Sequence[Type]) -> Operation:
        """Returns an operation that has one value for each operand, of values that the form named one by one."""
        source, definition, layout = self.source, self.definition, self.definition.layout
        uses = [self.operands[f][0] for f in layout.inputs]
        declared: Sequence[Type | None] | None = self.operand_types
        if declared is None:
            declared = [t[0] if (t := self.types.get(f)) else None for f in layout.inputs]
        self._check_count(len(uses), len(declared), uses[0].at if uses else self.start)
        operands = tuple([source.resolve(u, t) for u, t in zip(uses, declared, strict=True)])
        attributes = tuple([arguments.get(f.name, f.default) for f in layout.attributes])
        op = definition.assembled(operands, None, attributes, (), types)
        if any(v is MISSING for v in attributes):
            source.report_missing(op, self.start)
        for key, value in self.extra.items():
            op.set_extra(key, value)
        return op

    def _divide_results(self) -> None:
        """How results divide among those declared, which the types of each say where an attribute holds it."""
        sizes = self.definition.layout.by_name.get(RESULT_SIZES)
        if sizes is None or sizes not in self.form.named:
            return
        results = self.definition.layout.results
        for f in results:
            if f.variadic or f.optional:
                self.types.setdefault(f, [])
        counts = [len(self.types[f]) if f in self.types else 1 for f in results]
        self.attributes[sizes] = DenseArrayAttr(i32, tuple(counts))

    def _require(self, arguments: dict[str, object]) -> None:
        for f in self.definition.layout.arguments:
            if f.is_required and f.name not in arguments:
                message = f"{self.definition.name}: attribute '{f.spelling}' is missing"
                self.source.fail(message, at=self.start, code=WRONG_ATTRIBUTE)

    def _deduced(self, arguments: Mapping[str, object]) -> list[Type] | None:
        """Finds types that the text leaves out, of operands and results; those of results, None when unknown."""
        definition, deduction = self.definition, self.plan.deduction
        if deduction is None:
            return self._results()
        layout = definition.layout
        if self.all_operands is not None:
            flat = iter(self.all_operands)
            sizes = self.source.group_counts(definition, len(self.all_operands), None, self.start)
            for f, n in zip(layout.inputs, sizes, strict=True):
                self.operands[f] = [next(flat) for _ in range(n)]
            self.all_operands = None
        counts = tuple([len(self.operands.get(f, ())) for f in layout.inputs])
        stated: StatedTypes = {f.name: tuple(types) for f, types in self.types.items()}
        if self.operand_types is not None:
            at = min([u.at for uses in self.operands.values() for u in uses], default=self.start)
            self._check_count(sum(counts), len(self.operand_types), at)
            declared = iter(self.operand_types)
            stated |= {
                f.name: tuple([next(declared) for _ in range(n)]) for f, n in zip(layout.inputs, counts, strict=True)
            }
            self.operand_types = None
        if self.result_types is not None:
            for f, t in result_fields(layout.results, self.result_types):
                stated[f.name] = (*stated.get(f.name, ()), t)
        for f in self.attributes:
            held = type_of_attribute(arguments.get(f.name))
            if held is not None:
                stated[f.name] = (held,)
        inputs, results = deduction.types(counts, stated, self.source.deduced)
        self.types.update(inputs)
        return self.result_types if self.result_types is not None else results

    def _operands(self) -> dict[str, object]:
        source = self.source
        inputs = self.definition.layout.inputs
        if self.all_operands is not None:
            values = self._resolved(self.all_operands, self.operand_types)
            return source.grouped(self.definition, values, None, self.start)
        flat = [u for f in inputs for u in self.operands.get(f, [])]
        declared = self.operand_types
        if declared is None and any(f in self.types for f in inputs):
            values = tuple([v for f in inputs for v in self._resolved(self.operands.get(f, []), self.types.get(f))])
        else:
            values = self._resolved(flat, declared)
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
        self._check_count(len(uses), len(types), uses[0].at if uses else self.start)
        return tuple([self.source.resolve(u, t) for u, t in zip(uses, types, strict=True)])

    def _check_count(self, uses: int, types: int, at: int) -> None:
        if uses != types:
            message = f"{self.definition.name}: {uses} operands have {types} types"
            self.source.fail(message, at=at, code=WRONG_OPERAND_COUNT)

    def _results(self) -> list[Type] | None:
        """Types of the results as stated; None when they are to be inferred."""
        if self.result_types is not None:
            return self.result_types
        fields = self.definition.layout.results
        if not self.form.states_results:
            return None
        return [t for f in fields for t in self.types.get(f, ())]
