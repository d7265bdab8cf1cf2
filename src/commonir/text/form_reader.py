"""Reads the elements of the assembly format of one operation, and builds the operation.

The inverse of `text/form_writer.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, TypeAlias, TypeVar

from commonir.base.codes import WRONG_ATTRIBUTE, WRONG_OPERAND_COUNT
from commonir.base.diagnostics import DiagnosticError
from commonir.base.lazy import lazy_pattern
from commonir.base.suggestions import did_you_mean
from commonir.ir.attributes import Attribute, BoolAttr, DenseArrayAttr, FloatAttr, IntegerAttr, StringAttr, UnitAttr
from commonir.ir.operation import Block, Region
from commonir.ir.types import DialectType, Type, boolean, i32, i64
from commonir.ods import MlirOp, Op, attr_types
from commonir.ods.definition import GROUP_SIZES, RESULT_SIZES
from commonir.ods.fields import Field, FieldKind
from commonir.ods.inference import result_fields
from commonir.ods.property_types import PropertyType
from commonir.ods.text_form import Argument, RegionRequest, Use
from commonir.ods.type_rules import type_of_attribute
from commonir.text import assembly, formats
from commonir.text.deduction import Deduction, StatedTypes
from commonir.text.form_context import FormContext
from commonir.text.python_forms import PythonReader

T = TypeVar("T")

Reading: TypeAlias = "Generator[RegionRequest, Region, None]"
"""Reads elements; yields requests for regions, and receives the regions."""

# A brace that is not that of a region: a name with a value or among others; a name alone, or none, before a region.
_NAME = r'(?:[\w.$-]+|"(?:[^"\\]|\\.)*")\s*'
_DICTIONARY = lazy_pattern(rf"\{{\s*(?:{_NAME}[=,]|(?:{_NAME})?\}}\s*\{{)")
# The first keywords of builtin attributes.
_ATTRIBUTE_WORDS = frozenset(
    [
        "true",
        "false",
        "array",
        "dense",
        "dense_resource",
        "sparse",
        "unit",
        "affine_map",
        "affine_set",
        "strided",
        "loc",
        "distinct",
    ]
)


def _may_be_region(element: assembly.Element) -> bool:
    if isinstance(element, assembly.Variable):
        return element.field.kind is FieldKind.REGION
    return isinstance(element, assembly.Regions | assembly.Custom)


def _has_its_type(field: Field) -> bool:
    """Returns whether a number has a type suffix in a dictionary, but not where a format names the attribute."""
    return field.type is not None and field.type.elides_type


class FormPlan:
    """A cache of the data of a definition for reading its form. `deduction` is None where the format has all types."""

    __slots__ = ("deduction", "definition", "ends_with_regions", "fields", "form")

    def __init__(self, definition: type[Op]) -> None:
        self.definition = definition
        self.form = formats.format_of(definition)
        deduces = bool(definition.type_rules) or issubclass(definition, MlirOp)
        self.deduction = Deduction(definition, states_results=self.form.states_results) if deduces else None
        self.fields = {f.spelling: f for f in definition.layout.attributes}
        # Whether a region may follow the attribute dictionary.
        elements = list(assembly.walk(self.form.elements))
        at = next((n for n, e in enumerate(elements) if isinstance(e, assembly.AttributeDictionary)), -1)
        self.ends_with_regions = any(_may_be_region(e) for e in elements[at + 1 :])


@cache
def plan_of(definition: type[Op]) -> FormPlan:
    """Returns the plan of a definition."""
    return FormPlan(definition)


class FormReader:
    """Reads the elements of one operation, then builds it.

    `operands`, `types` and `regions` are by field; types of all operands or all results, where the format has them
    together, are in `operand_types` and `result_types`.
    """

    def __init__(self, context: FormContext, plan: FormPlan, result_count: int, start: int) -> None:
        self.context = context
        self.tokens = context.tokens
        self.definition = plan.definition
        self.result_count = result_count
        self.start = start
        self.plan = plan
        self.operands: dict[Field, list[Use]] = {}
        self.types: dict[Field, list[Type]] = {}
        self.all_operands: list[Use] | None = None
        self.operand_types: list[Type] | None = None
        self.result_types: Sequence[Type] | None = None
        self.attributes: dict[Field, Attribute] = {}
        self.extra: dict[str, Attribute] = {}
        self.regions: dict[Field, list[Region]] = {}
        self.blocks: list[Block] = []
        self.entry_arguments: list[Argument] | None = None
        self.left_out: Field | None = None
        """A field that the syntax leaves out, and the dictionary does not give either."""

    # -- elements

    def read_regions(self) -> Reading:
        """Reads all regions."""
        for f in self.definition.layout.regions:
            yield from self.read_region(f)

    def read_functional_type(self, inputs: assembly.Group, results: assembly.Group) -> None:
        """Reads types of operands, an arrow and types of results."""
        of_inputs, of_results = self.context.types.signature()
        self._give(inputs, of_inputs)
        self._give(results, of_results)

    def read_type_of(self, group: assembly.Group, short: str) -> None:
        """Reads the types of a group; `short` names the type that may be written without its name.

        Nothing is left of its text where all its parameters are absent.
        """
        may_be_empty = self.tokens.kind != "type" and short in self.context.types.readers
        if short and (self.tokens.at("<") or may_be_empty):
            self._give(group, (self._short_type(short),))
        else:
            self._types(group)

    def read_attributes(self, *, keyword: bool) -> None:
        """Reads the attribute dictionary, if there is one."""
        if self.tokens.take("attributes") if keyword else self.tokens.at("{") and self._is_dictionary():
            self._dictionary(has_properties=False)

    def _is_dictionary(self) -> bool:
        """Returns whether a brace begins a dictionary; a region begins with a block or an operation, or is empty."""
        tokens = self.tokens
        is_last = not self.plan.ends_with_regions or len(self.regions) == len(self.definition.layout.regions)
        return is_last or _DICTIONARY.match(tokens.source, tokens.start) is not None

    def read_properties(self) -> None:
        """Reads the dictionary of properties, if there is one."""
        if self.tokens.take("<"):
            self._dictionary(has_properties=True)
            self.tokens.expect(">")

    def read_all_operands(self) -> None:
        """Reads all operands."""
        self.all_operands = self._uses()

    def read_all_successors(self) -> None:
        """Reads all successors, zero or more."""
        if self.tokens.kind == "block":
            self._successors()

    def _successors(self) -> None:
        self.blocks.append(self.context.successor())
        while self.tokens.take(","):
            self.blocks.append(self.context.successor())

    def starts(self, element: assembly.Element) -> bool:
        """Returns whether the current token can begin an element, which selects an optional group."""
        tokens = self.tokens
        match element:
            case assembly.Literal(text=text):
                return tokens.at(text)
            case assembly.Variable(field=field):
                return self._starts_variable(field)
            case assembly.Operands():
                return tokens.kind == "value"
            case assembly.Successors():
                return tokens.kind == "block"
            case assembly.AttributeDictionary(keyword=keyword):
                return tokens.at("attributes" if keyword else "{")
            case assembly.PropertyDictionary():
                return tokens.at("<")
            case assembly.Custom(name="DynamicIndexList"):
                return tokens.at("[")
            case _:
                return False

    def _starts_variable(self, field: Field) -> bool:
        tokens = self.tokens
        match field.kind:
            case FieldKind.REGION:
                return tokens.at("{")
            case FieldKind.SUCCESSOR:
                return tokens.kind == "block"
            case FieldKind.ATTRIBUTE:
                pass
            case _:
                return tokens.at("(") if field.group_sizes else tokens.kind == "value"
        if isinstance(field.type, PropertyType):
            return field.type.starts(self._python_reader())
        if field.type in (attr_types.symbol_name, attr_types.symbol):
            return tokens.kind == "symbol"
        if field.type is attr_types.string:
            return tokens.kind == "string"
        if field.type is not None and field.type.cases and tokens.kind == "word":
            return tokens.text in field.type.cases
        if tokens.at("<"):
            return issubclass(self.definition, MlirOp)
        if tokens.kind == "word":
            return tokens.text in _ATTRIBUTE_WORDS
        return tokens.kind in ("string", "int", "float", "attribute", "symbol") or tokens.at("[") or tokens.at("-")

    def read_variable(self, field: Field) -> None:
        if field.kind is FieldKind.SUCCESSOR:
            if not field.variadic:
                self.blocks.append(self.context.successor())
            elif self.tokens.kind == "block":
                self._successors()
        elif field.kind in (FieldKind.OPERAND, FieldKind.PARAMETER):
            if not field.variadic and (
                field.is_required or field.kind is FieldKind.PARAMETER or self.tokens.kind == "value"
            ):
                self.operands[field] = [self.context.use()]
            else:
                self.read_operands(field)
        else:
            self.attributes[field] = self.read_attribute(field)

    def read_operands(self, field: Field) -> None:
        """Reads the values of a variadic operand, zero or more; groups of them are in parentheses."""
        if not field.group_sizes:
            self.operands[field] = self._uses()
            return
        groups = self._groups(lambda: self.tokens.separated(self.context.use, ")"))
        self.operands[field] = [use for group in groups for use in group]
        of_sizes = self.plan.fields.get(field.group_sizes)
        if of_sizes is not None:
            self.attributes[of_sizes] = DenseArrayAttr(i32, tuple([len(group) for group in groups]))

    def _groups(self, item: Callable[[], list[T]]) -> list[list[T]]:
        """Reads groups in parentheses, zero or more; `item` reads one after its opening parenthesis."""
        groups: list[list[T]] = []
        while self.tokens.take("("):
            groups.append(item())
            # As in mlir-opt, a comma may follow the last group.
            if not self.tokens.take(","):
                break
        return groups

    def _uses(self) -> list[Use]:
        return self.context.uses()

    def read_region(self, field: Field) -> Reading:
        """Reads the regions of a field."""
        regions: list[Region] = []
        if self.tokens.at("{") or not field.variadic:
            while True:
                region = yield RegionRequest(self.entry_arguments)
                assert isinstance(region, Region)
                self.context.builder.end_region(self.definition, region)
                regions.append(region)
                if not field.variadic or not self.tokens.take(","):
                    break
        self.regions[field] = regions

    # -- attributes

    def read_attribute(self, field: Field) -> Attribute:
        """Reads the value of a declared attribute."""
        tokens, attributes, attr_type = self.tokens, self.context.attributes, field.type
        if isinstance(attr_type, PropertyType):
            return self._property(field, attr_type)
        if attr_type is attr_types.symbol_name and tokens.kind != "string":
            return StringAttr(tokens.symbol())
        if attr_type is attr_types.symbol and tokens.kind != "string":
            return attributes.symbol_reference()
        read = attributes.readers.get("" if attr_type is None else attr_type.prefix)
        if read is not None and tokens.kind != "attribute":
            return read(attributes)
        cases = attr_type.cases if attr_type is not None else ()
        if cases and tokens.kind == "word":
            if tokens.text not in cases:
                message = f"'{field.spelling}' is one of {', '.join(cases)}, not '{tokens.text}'"
                help = did_you_mean(tokens.text, cases)
                tokens.fail(f"{self.definition.name}: {message}", code=WRONG_ATTRIBUTE, help=help)
            return StringAttr(tokens.advance())
        if tokens.at("<") and attr_type is not attr_types.any_attribute:
            return StringAttr(self.context.bracketed())
        if attr_type is not None and attr_type.element is not None:
            tokens.expect("[")
            return attributes.array_items(attr_type.element, "]", signed=True)
        if attr_type is not None and attr_type.elides_type and (tokens.kind in ("int", "float") or tokens.at("-")):
            # A colon here begins the next element of the format, not the type of the number.
            typed = attr_type.to_attribute(0)
            if isinstance(typed, FloatAttr):
                return attributes.attribute(typed.type)
            at = tokens.start
            number = tokens.integer((1 << 64) - 1)
            typed = attr_type.to_attribute(number)
            of = boolean if isinstance(typed, BoolAttr) else typed.type if isinstance(typed, IntegerAttr) else i64
            return attributes.integer_of(number, of, at)
        return attributes.attribute()

    def _property(self, field: Field, type: PropertyType[Any]) -> Attribute:
        """Reads the value of a property, as the attribute that stores it."""
        at = self.tokens.start
        try:
            return type.to_attribute(type.read(self._python_reader()))
        except ValueError as error:
            self.tokens.fail(f"{self.definition.name}: '{field.spelling}': {error}", at=at, code=WRONG_ATTRIBUTE)

    def _python_reader(self) -> PythonReader:
        return PythonReader(self.context, self.definition, self.result_count, self.start)

    def _dictionary(self, *, has_properties: bool) -> None:
        context = self.context
        text = "" if self.attributes or self.extra else context.attributes.plain_dictionary()
        key = (self.definition, has_properties, text)
        known = context.dictionaries.get(key)
        if known is not None:
            context.tokens.move_to(context.tokens.start + len(text))
            self.attributes, self.extra = dict(known[0]), dict(known[1])
            return
        self._read_dictionary(has_properties=has_properties)
        if text:
            context.dictionaries[key] = dict(self.attributes), dict(self.extra)

    def _read_dictionary(self, *, has_properties: bool) -> None:
        tokens, attributes = self.tokens, self.context.attributes
        fields = self.plan.fields
        tokens.expect("{")

        def entry() -> None:
            at = tokens.start
            name = attributes.key()
            field = fields.get(name)
            if name in self.extra or field in self.attributes:
                tokens.fail(f"attribute '{name}' is given twice", at=at)
            if field is not None and field is self.left_out:
                tokens.fail(f"'{name}' is written before the name, not in the dictionary", at=at)
            if has_properties and field is None:
                message = f"{self.definition.name}: '{name}' is not an attribute of it"
                tokens.fail(message, at=at, code=WRONG_ATTRIBUTE, help=did_you_mean(name, fields))
            is_property = field is not None and isinstance(field.type, PropertyType)
            if is_property and not has_properties:
                tokens.fail(f"'{name}' is a property, which attributes do not give; the generic form does", at=at)
            if not tokens.take("="):
                value: Attribute = UnitAttr()
            elif field is None:
                value = attributes.member()
            elif is_property or self.definition.custom_form is not None or _has_its_type(field):
                value = attributes.attribute()
            else:
                value = self.read_attribute(field)
            if field is None:
                self.extra[name] = value
            else:
                self.attributes[field] = value

        tokens.separated(entry, "}")

    # -- types

    def _types(self, group: assembly.Group) -> None:
        if not isinstance(group, assembly.Variable):
            self._give(group, self.context.types.types())
        elif group.field.group_sizes:
            groups = self._groups(lambda: self.tokens.separated(self.context.types.type, ")"))
            self._give(group, [type for types in groups for type in types])
        elif not group.field.is_required and not self.operands.get(group.field) and self._at_no_type():
            self._give(group, ())
        elif not group.field.variadic:
            self._give(group, (self.context.types.type(),))
        else:
            self._give(group, self.context.types.types() if self.operands.get(group.field, [1]) else ())

    def _short_type(self, name: str) -> Type:
        """Reads a type of a dialect without its prefix."""
        read = self.context.types.readers.get(name)
        if read is not None:
            return read(self.context.types)
        dialect, _, mnemonic = name.partition(".")
        return DialectType(dialect, mnemonic, self.context.bracketed()[1:-1])

    def _at_no_type(self) -> bool:
        """Returns whether the current token cannot begin a type. mlir-opt prints such text but cannot read it."""
        if self.tokens.kind == "word":
            return not self.context.types.begins_type(self.tokens.text)
        return self.tokens.kind in ("mark", "value", "end") and not self.tokens.at("(")

    def _give(self, group: assembly.Group, types: Sequence[Type]) -> None:
        match group:
            case assembly.Variable(field=field):
                self.types[field] = list(types)
            case assembly.Operands():
                self.operand_types = list(types)
            case assembly.Results():
                self.result_types = list(types)

    def read_signature(self) -> None:
        context = self.context
        if context.tokens.at("("):
            self.operand_types, self.result_types = context.types.signature()
        else:
            kind = context.types.type()
            self.operand_types = [kind] * sum(map(len, self.operands.values()))
            self.result_types = [kind]

    # -- building

    def build(self) -> Op:
        """Builds the operation from the elements that were read."""
        definition, builder = self.definition, self.context.builder
        layout = definition.layout
        arguments: dict[str, object] = {}
        self._divide_results()
        for f, attr in self.attributes.items():
            arguments[f.name] = builder.decoded(definition, f, attr, self.start)
        regions: list[Region] = []
        for f in layout.regions:
            nested = self.regions.get(f, [])
            regions += nested if f.variadic else nested[:1] or [Region()]
        successors = builder.successor_arguments(definition, self.blocks, self.start)
        counts, uses = self._flat_operands()
        self._check_sizes(counts)
        operand_types, types = self._types_of(counts, uses, arguments)
        resolve = self.context.names.resolve
        operands = tuple([resolve(u, t) for u, t in zip(uses, operand_types, strict=True)])
        if types is not None and not layout.parameters:
            blocks = tuple(self.blocks)
            bodies = tuple(regions)
            return builder.assemble(
                definition, operands, counts, arguments, types, self.extra, self.start, bodies, blocks
            )
        arguments |= builder.region_arguments(definition, regions, self.start) | successors
        arguments |= builder.by_field(layout.inputs, counts, operands)
        if types is not None:
            return builder.build(definition, arguments, types, self.extra, self.start)
        op = self._constructed(arguments)
        op.update_extra(self.extra)
        return op

    def _check_sizes(self, counts: tuple[int, ...]) -> None:
        """Checks the sizes of operand groups if the dictionary repeats them."""
        sizes = self.extra.pop(GROUP_SIZES, None)
        if sizes is not None and not (isinstance(sizes, DenseArrayAttr) and sizes.values == counts):
            message = f"{self.definition.name}: '{GROUP_SIZES}' is {list(counts)} in this form, not {sizes}"
            self.tokens.fail(message, at=self.start, code=WRONG_ATTRIBUTE)

    def _flat_operands(self) -> tuple[tuple[int, ...], list[Use]]:
        """Returns how many operands each field has, and the uses of all."""
        inputs = self.definition.layout.inputs
        if self.all_operands is not None:
            total = len(self.all_operands)
            return self.context.builder.group_counts(self.definition, total, None, self.start), self.all_operands
        groups = [self.operands.get(f, []) for f in inputs]
        return tuple(map(len, groups)), [u for g in groups for u in g]

    def _types_of(
        self, counts: tuple[int, ...], uses: Sequence[Use], arguments: Mapping[str, object]
    ) -> tuple[Sequence[Type | None], Sequence[Type] | None]:
        """Returns the types of operands, None where unknown, and of results, None when these are inferred."""
        layout, deduction = self.definition.layout, self.plan.deduction
        stated: StatedTypes = {f.name: tuple(types) for f, types in self.types.items()}
        if self.operand_types is not None:
            self._check_count(len(uses), len(self.operand_types), min([u.at for u in uses], default=self.start))
            rest = iter(self.operand_types)
            stated |= {f.name: tuple(islice(rest, n)) for f, n in zip(layout.inputs, counts, strict=True)}
        first = 0
        for f, count in zip(layout.inputs, counts, strict=True):
            if f.name in stated:
                self._check_count(count, len(stated[f.name]), uses[first].at if count else self.start)
            first += count
        if deduction is None:
            groups = [stated.get(f.name, (None,) * n) for f, n in zip(layout.inputs, counts, strict=True)]
            return [t for g in groups for t in g], self._stated_results()
        if self.result_types is not None:
            for f, t in result_fields(layout.results, self.result_types):
                stated[f.name] = (*stated.get(f.name, ()), t)
        for f in self.attributes:
            type = type_of_attribute(arguments.get(f.name))
            if type is not None:
                stated[f.name] = (type,)
        of_operands, deduced = deduction.types(counts, stated, self.context.deduced)
        return of_operands, self.result_types if self.result_types is not None else deduced

    def _check_count(self, uses: int, types: int, at: int) -> None:
        if uses != types:
            message = f"{self.definition.name}: {uses} operands have {types} types"
            self.tokens.fail(message, at=at, code=WRONG_OPERAND_COUNT)

    def _constructed(self, arguments: dict[str, object]) -> Op:
        """Returns an operation whose result types its constructor infers."""
        tokens = self.tokens
        for f in self.definition.layout.arguments:
            if f.is_required and f.name not in arguments:
                message = f"{self.definition.name}: attribute '{f.spelling}' is missing"
                tokens.fail(message, at=self.start, code=WRONG_ATTRIBUTE)
        try:
            return self.definition(**arguments)
        except DiagnosticError as error:
            raise DiagnosticError(*[tokens.located(d, self.start) for d in error.diagnostics]) from None
        except TypeError as error:
            tokens.fail(str(error), at=self.start, code=WRONG_ATTRIBUTE)

    def _divide_results(self) -> None:
        """Sets the attribute with the number of results of each field, if there is one and the types are known."""
        sizes = self.definition.layout.by_name.get(RESULT_SIZES)
        if sizes is None or sizes not in self.plan.form.named:
            return
        results = self.definition.layout.results
        for f in results:
            if f.variadic or f.optional:
                self.types.setdefault(f, [])
        counts = [len(self.types[f]) if f in self.types else 1 for f in results]
        self.attributes[sizes] = DenseArrayAttr(i32, tuple(counts))

    def _stated_results(self) -> Sequence[Type] | None:
        """Returns the types of the results from the text; None when they are inferred."""
        if self.result_types is not None or not self.plan.form.states_results:
            return self.result_types
        return [t for f in self.definition.layout.results for t in self.types.get(f, ())]
