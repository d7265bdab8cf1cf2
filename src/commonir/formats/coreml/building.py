"""Builds a program of the mil dialect, for the readers of packages and of MIL text.

A reader decodes names, types, constants and bindings; this module builds operations from them. Operations are looked up
by name and version of the operation set. Only `const` is treated specially, because lists and dictionaries have another
definition. An operation that does not fit its definition becomes an `UnregisteredOperation`, with the number of
operands of each parameter in `mil.parameters`, and the reason is reported. An undefined name becomes a value without an
owner.

Limits: `Limits.max_operations`.
Source: MIL specification, Program, Function, Block, Argument, Op.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from commonir.base.codes import (
    DUPLICATE_NAME,
    MALFORMED_REGION,
    UNDEFINED_VALUE,
    UNKNOWN_OPERATION,
    WRONG_ATTRIBUTE,
    WRONG_OPERAND_COUNT,
)
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Fix
from commonir.base.file_codes import LIMIT_EXCEEDED
from commonir.base.limits import Limits
from commonir.base.text import plural
from commonir.base.tuples import NamedTuple
from commonir.dialects.mil.base import OPERATION_NAME, VERSIONS, Structural
from commonir.dialects.mil.custom import CustomLayer
from commonir.dialects.mil.program import (
    MAP_ORDER,
    PARAMETERS,
    PROGRAM_ATTRIBUTES,
    UNNAMED,
    UNUSUAL,
    Compound,
    CompoundConstant,
    CompoundLiteral,
    Const,
    Func,
    Literal,
    Return,
    value_attribute,
)
from commonir.formats.coreml.findings import Findings, ProtoPlace
from commonir.formats.coreml.literals import natural_type
from commonir.ir.attributes import Attribute, DictionaryAttr, IntegerAttr, StringAttr, UnitAttr
from commonir.ir.data import Data
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import Type, none
from commonir.ir.unregistered import UnregisteredOperation
from commonir.ods import Dialects, Op
from commonir.ods.fields import Field, FieldKind
from commonir.ods.ordering import SORTED, sort_operations

DIALECT = "mil"
CONST = "const"
ORDER_SEPARATOR = " | "
"""Stands between inputs and attributes in the order of maps that an operation keeps."""

_UNIT = UnitAttr()

Bound = list[tuple[str, list[Value]]]
Attributes = list[tuple[str, Data | Compound]]


class Statement(NamedTuple):
    """The fields of one operation as read from a file.

    `name` is the name that it states, None for none; `attributes` are its other attributes, and `keys` those of all of
    them in the order of the file. `results` are names and types.
    """

    kind: str
    bound: Bound
    name: str | None
    attributes: Attributes
    keys: tuple[str, ...]
    regions: list[Region]
    results: Sequence[tuple[str, Type]]


class _Plan:
    """The facts of a definition that reading operations of one type and version needs."""

    __slots__ = ("attributes", "definition", "inputs", "regions", "rest")

    def __init__(self, definition: type[Op]) -> None:
        layout = definition.layout
        self.definition = definition
        self.inputs = {f.spelling: f for f in layout.inputs}
        self.attributes = {f.spelling: f for f in layout.attributes if f.kind is FieldKind.ATTRIBUTE}
        self.regions = layout.regions
        # Where inputs go whatever they are called.
        self.rest = layout.inputs[0] if issubclass(definition, CustomLayer) else None


class _EarlyUses(NamedTuple):
    """A block being read, and placeholders for the values that it uses before it defines them."""

    block: Block
    values: dict[str, Value]


class ProgramBuilder:
    """Builds the functions of one program. `version` is the operation set of the block being read."""

    __slots__ = ("_dialects", "_early", "_limits", "_operations", "_orders", "_plans", "_scopes", "findings", "version")

    def __init__(self, dialects: Dialects, limits: Limits) -> None:
        self.findings = Findings(limits)
        self.version = ""
        self._dialects = dialects
        self._limits = limits
        self._plans: dict[tuple[str, str], _Plan | None] = {}
        self._orders: dict[tuple[tuple[str, ...], tuple[str, ...]], StringAttr | None] = {}
        self._operations = 0
        # The names in sight, outermost scope first.
        self._scopes: list[dict[str, Value]] = []
        self._early: list[_EarlyUses] = []

    # -- functions and blocks

    def function(self, name: str, opset: str, regions: Sequence[Region]) -> Func:
        """A function with a region for each of its specializations."""
        return Func.build({"sym_name": name, "opset": opset, "specializations": tuple(regions)}, ())

    def report_repeated(self, names: Iterable[str], what: str, place: ProtoPlace, field: str = "") -> None:
        """Records each name of a list that occurs again."""
        for name in repeated(names):
            part = f".{field}['{name}']" if field else ""
            self.findings.add(DUPLICATE_NAME, f"the {what} '{name}' is defined twice", place, part)

    def report_repeated_functions(self, names: Iterable[str]) -> None:
        """Records each name of a function that occurs again."""
        for name in repeated(names):
            self.findings.add(DUPLICATE_NAME, f"the function '{name}' is defined twice", ProtoPlace(name))

    def enter(self, block: Block) -> None:
        """Begins a block whose arguments are made. Its names are a scope of their own."""
        self._scopes.append({argument.name: argument for argument in block.arguments})
        self._early.append(_EarlyUses(block, {}))

    def leave(self, block: Block, names: Sequence[str], place: ProtoPlace) -> Operation:
        """Ends the block begun last, which returns the values of these names; its end is returned."""
        values = [self.named(name, place, f".outputs[{n}]") for n, name in enumerate(names)]
        if any(v.owner is None for v in values):
            inline = sum(1 for op in block.operations if isinstance(op, Literal | CompoundLiteral))
            self.findings.faulty.add(f"{place}.operations[{len(block) - inline}] {Return.name}")
        scope = self._scopes.pop()
        for name, value in self._early.pop().values.items():
            if name in scope:
                value.replace_all_uses_with(scope[name])
        return block.append(Return.build({"values": values, "names": tuple(names)}, ()))

    def named(self, name: str, place: ProtoPlace, part: str) -> Value:
        """Returns the value of a visible name; reports any other name and returns an undefined value."""
        for scope in reversed(self._scopes):
            result = scope.get(name)
            if result is not None:
                return result
        notes = self.findings.notes_on(name, place)
        text = f"'{name}' is used before it is defined" if notes else f"'{name}' is not defined"
        help = None if notes else self.findings.suggestion(name, (n for scope in self._scopes for n in scope))
        result = Value(none, name=name)
        fix = None
        if notes:
            early = self._early[-1]
            result = early.values.setdefault(name, result)
            fix = Fix(SORTED, partial(sort_operations, early.block), early.block)
        self.findings.add(UNDEFINED_VALUE, text, place, part, notes=notes, help=help, fix=fix)
        return result

    def literal(self, value: Data | Compound | None, type: Type, block: Block, path: str) -> Value:
        """The value of an anonymous operation for a literal that the operation at `path` binds; None stands for one
        that could not be decoded.
        """
        if value is None:
            # The literal has no value, which verifying it would report again.
            self.findings.faulty.add(f"{path} {Literal.name}")
        arguments = {} if value is None else {"val": value}
        definition = CompoundLiteral if isinstance(value, Compound) else Literal
        return block.append(definition.build(arguments, (type,))).result

    # -- operations

    def count_operation(self, place: ProtoPlace) -> None:
        """Counts an operation that is about to be read.

        Raises: LIMIT_EXCEEDED.
        """
        self._operations += 1
        if self._operations > self._limits.max_operations:
            text = f"the program has more than {self._limits.max_operations:,} operations"
            raise DiagnosticError(place.locate(Diagnostic(LIMIT_EXCEEDED, text), ""))

    def constant(self, name: str, data: Data, block: Block) -> bool:
        """Makes a constant that states no more than a name and a value; False when that needs `operation`."""
        plan = self._plan_for(CONST, [])
        scope = self._scopes[-1]
        if plan is None or plan.definition is not Const or name in scope:
            return False
        built = block.append(Const.build({"val": data}, (data.type,))).results[0]
        built.name = name
        scope[name] = built
        return True

    def operation(self, statement: Statement, at: ProtoPlace, block: Block) -> Operation:
        """Makes an operation and puts it at the end of the block begun last."""
        kind, bound, _, attributes, _, regions, results = statement
        types = [kind for _, kind in results]
        if len(bound) > 1:
            for key in repeated([key for key, _ in bound]):
                self.findings.add(DUPLICATE_NAME, f"the parameter '{key}' is bound twice", at, f".inputs['{key}']")
        plan = self._plan_for(kind, attributes)
        known = None if plan is None else self._arguments(plan, bound, attributes, regions, at)
        if plan is None:
            self._report_unknown(kind, at)
        if plan is None or known is None:
            op: Operation = UnregisteredOperation(
                f"{DIALECT}.{kind}", (v for _, vs in bound for v in vs), {}, types, regions
            )
            op.set_extra(PARAMETERS, _counts(bound))
            undeclared = attributes
        else:
            op = plan.definition.build(known, types)
            if plan.rest is not None:
                op.set_extra(PARAMETERS, _counts(bound))
            declared = plan.attributes
            unusual = _unusual(declared, attributes, known)
            if unusual:
                op.set_extra(UNUSUAL, DictionaryAttr(unusual))
            undeclared = [(key, v) for key, v in attributes if key not in declared]
        for key, v in undeclared:
            op.set_extra(key, value_attribute(v))
        is_stated = any(not values for _, values in bound)
        order = self._order(tuple([key for key, _ in bound]), statement.keys, is_stated=is_stated)
        if order is not None:
            op.set_extra(MAP_ORDER, order)
        self._name(op, statement, at)
        return block.append(op)

    def _name(self, op: Operation, statement: Statement, at: ProtoPlace) -> None:
        """Names an operation and its results, and puts them in sight."""
        scope = self._scopes[-1]
        for r, (name, _) in zip(op.results, statement.results, strict=True):
            r.name = name
            if name in scope:
                self.findings.add(DUPLICATE_NAME, f"the name '{name}' is defined twice in one block", at)
            scope[name] = r
        implied = op.results[0].name if op.results else None
        if statement.name is None:
            if OPERATION_NAME not in op.extra:
                op.set_extra(UNNAMED, _UNIT)
        elif statement.name != implied:
            op.set_extra(OPERATION_NAME, StringAttr(statement.name))

    def attribute_list(self, items: Iterable[tuple[str, Data | Compound | None]], place: ProtoPlace) -> Attributes:
        """Returns attributes by name; reports duplicates and uses the last. None stands for undecoded ones."""
        out: dict[str, Data | Compound] = {}
        for key, value in items:
            if key in out:
                self.findings.add(DUPLICATE_NAME, f"the attribute '{key}' is defined twice", place)
            if value is not None:
                out[key] = value
        return list(out.items())

    # -- from what a file says to the fields of a definition

    def _plan_for(self, kind: str, attributes: Attributes) -> _Plan | None:
        """Returns the plan for operations of a type in the version of the program."""
        if kind == CONST and any(isinstance(v, Compound) for key, v in attributes if key == "val"):
            return _Plan(CompoundConstant)
        key = (kind, self.version)
        if key not in self._plans:
            result = self._in_operation_set(kind, self.version)
            self._plans[key] = None if result is None else _Plan(result)
        return self._plans[key]

    def _in_operation_set(self, kind: str, version: str) -> type[Op] | None:
        """Returns the definition of an operation type in an operation set, if it has one."""
        found = self._dialects.find(f"{DIALECT}.{kind}", version)
        return None if found is None or found.has_trait(Structural) else found

    def _report_unknown(self, kind: str, at: ProtoPlace) -> None:
        name = f"{DIALECT}.{kind}"
        oldest = next((d for d in (self._in_operation_set(kind, v) for v in VERSIONS) if d is not None), None)
        if oldest is not None:
            text = f"{name} is an operation from {oldest.since} on, but its block is written in {self.version}"
            self.findings.add(UNKNOWN_OPERATION, text, at)
            return
        if not kind:
            self.findings.add(UNKNOWN_OPERATION, "the operation has no type", at, help="name one that `cir ops` lists")
            return
        dialect = self._dialects.get(DIALECT)
        full = dialect.operations.items() if dialect is not None else ()
        known = [each.partition(".")[2] for each, forms in full if not forms[-1].has_trait(Structural)]
        help = self.findings.suggestion(kind, known) or "`cir ops` lists the operations that are known"
        self.findings.add(UNKNOWN_OPERATION, f"unknown operation '{name}'", at, help=help)

    def _arguments(
        self, plan: _Plan, bound: Bound, attributes: Attributes, regions: list[Region], at: ProtoPlace
    ) -> Mapping[str, object] | None:
        """Returns the arguments of a definition by field; None if the operation does not fit it, which is reported."""
        out: dict[str, object] = {}
        fits = True
        if plan.rest is not None:
            out[plan.rest.name] = tuple([v for _, values in bound for v in values])
            bound = []
        for key, values in bound:
            field = plan.inputs.get(key)
            if field is None:
                name = plan.definition.name
                is_attribute = key in plan.attributes
                known = f"its parameters: {', '.join(plan.inputs)}" if plan.inputs else "it has none"
                help = "it is an attribute" if is_attribute else self.findings.suggestion(key, plan.inputs) or known
                self.findings.add(
                    WRONG_OPERAND_COUNT, f"{name} has no parameter '{key}'", at, f".inputs['{key}']", help=help
                )
                fits = False
            elif field.variadic:
                out[field.name] = values
            elif len(values) == 1:
                out[field.name] = values[0]
            else:
                text = f"{plan.definition.name}: parameter '{key}' takes one value, found {len(values)}"
                self.findings.add(WRONG_OPERAND_COUNT, text, at, f".inputs['{key}']")
                fits = False
        for key, value in attributes:
            field = plan.attributes.get(key)
            if field is not None:
                fits = self._declared(field, value, out, at) and fits
        return out if self._take_regions(plan, regions, out, at) and fits else None

    def _declared(self, field: Field, value: Data | Compound, out: dict[str, object], at: ProtoPlace) -> bool:
        """Adds a declared attribute to the arguments; False when the constant is not of its kind."""
        type = field.type
        if type is None:
            return False
        try:
            out[field.name] = type.coerce(value)
        except ValueError as error:
            reason = error
        else:
            return True
        if isinstance(value, Data) and type.from_elements is not None:
            try:
                out[field.name] = type.from_elements(value.shape, value.values())
            except ValueError as error:
                reason = error
            else:
                return True
        self.findings.add(WRONG_ATTRIBUTE, f"'{field.spelling}': {reason}", at, f".attributes['{field.spelling}']")
        return False

    def _take_regions(self, plan: _Plan, regions: list[Region], out: dict[str, object], at: ProtoPlace) -> bool:
        declared = plan.regions
        if not declared and not regions:
            return True
        if len(declared) == 1 and declared[0].variadic:
            out[declared[0].name] = tuple(regions)
            return True
        if len(regions) == len(declared):
            out.update(zip([f.name for f in declared], regions, strict=True))
            return True
        text = f"{plan.definition.name} has {plural(len(declared), 'block')}, found {len(regions)}"
        self.findings.add(MALFORMED_REGION, text, at, ".blocks")
        return False

    def _order(
        self, inputs: tuple[str, ...], attributes: tuple[str, ...], *, is_stated: bool = False
    ) -> StringAttr | None:
        """The order of the two maps of an operation, None when both are in alphabetical order and need not be stated.

        It has to be when a parameter is bound to nothing, of which the operands show no sign.
        """
        key = (inputs, attributes)
        if key not in self._orders or is_stated:
            is_sorted = list(inputs) == sorted(inputs) and list(attributes) == sorted(attributes)
            text = f"{' '.join(inputs)}{ORDER_SEPARATOR}{' '.join(attributes)}"
            if is_stated:
                return StringAttr(text)
            self._orders[key] = None if is_sorted else StringAttr(text)
        return self._orders[key]


def _unusual(
    declared: Mapping[str, Field], attributes: Attributes, known: Mapping[str, object]
) -> tuple[tuple[str, Attribute], ...]:
    """The constants of attributes that are held as Python values, where these would become other constants."""
    out: list[tuple[str, Attribute]] = []
    for key, value in attributes:
        field = declared.get(key)
        content = None if field is None else known[field.name]
        if field is None or field.type is None or isinstance(content, Data | Compound):
            continue
        if natural_type(field.type, content) is not value.type:
            out.append((key, value_attribute(value)))
    return tuple(out)


def _counts(bound: Bound) -> DictionaryAttr:
    """For each parameter the number of its operands."""
    return DictionaryAttr(tuple([(key, IntegerAttr(len(values))) for key, values in bound]))


def keep_attributes(op: Operation, attributes: Attributes) -> None:
    """Keeps the attributes of a program, of a function, or of a block by its end."""
    if attributes:
        op.set_extra(PROGRAM_ATTRIBUTES, DictionaryAttr(tuple([(key, value_attribute(v)) for key, v in attributes])))


def repeated(names: Iterable[str]) -> Iterator[str]:
    """Each name that occurs again, at each further occurrence."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            yield name
        seen.add(name)
