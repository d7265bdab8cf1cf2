"""The program of a Core ML model: from its message to a module of the mil dialect.

Operations are looked up by name and version of the operation set; nothing here knows a particular operation but
`const`, of which a list or dictionary is another definition. An operation that cannot take the form of its definition
is kept as an `UnregisteredOperation`, with the number of operands of each parameter in `mil.parameters`, and the reason
is told. A name that nothing defines becomes a value without an owner.

Limits: `Limits.max_operations`; nesting is limited by that of messages.
Source: MIL specification, Program, Function, Block, Argument, Op.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from commonir.base.codes import (
    DUPLICATE_NAME,
    LIMIT_EXCEEDED,
    MALFORMED_REGION,
    MALFORMED_TYPE,
    UNDEFINED_VALUE,
    UNKNOWN_OPERATION,
    WRONG_ATTRIBUTE,
    WRONG_OPERAND_COUNT,
)
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.limits import Limits
from commonir.base.text import plural
from commonir.dialects.mil.program import (
    DOCUMENTATION,
    MAP_ORDER,
    OPERATION_NAME,
    PARAMETERS,
    PROGRAM_ATTRIBUTES,
    PROGRAM_VERSION,
    RESIDUE,
    UNNAMED,
    Compound,
    CompoundConstant,
    CompoundLiteral,
    Func,
    Literal,
    Return,
    value_attribute,
)
from commonir.formats.coreml.blobs import UnusableWeightsError, WeightFiles
from commonir.formats.coreml.findings import Findings
from commonir.formats.coreml.residue import residue_of
from commonir.formats.coreml.types import TypeDecoder
from commonir.formats.coreml.values import ValueDecoder
from commonir.ir.attributes import DictionaryAttr, IntegerAttr, StringAttr, UnitAttr
from commonir.ir.data import Data
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Region, UnregisteredOperation, Value
from commonir.ir.types import Type, none, string, tensor
from commonir.ods import Dialects, Op
from commonir.ods.fields import Field, FieldKind

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from commonir.formats.coreml.message_types import (
        AnyMessage,
        ArgumentMessage,
        BlockMessage,
        FunctionMessage,
        NamedValueTypeMessage,
        OperationMessage,
        ProgramMessage,
        ValueEntryMessage,
        ValueMessage,
    )

DIALECT = "mil"
CONST = "const"

_TEXT = tensor(string)
_UNIT = UnitAttr()

Bound = list[tuple[str, list[Value]]]
Attributes = list[tuple[str, Data | Compound]]


class _Plan:
    """What reading operations of one type and version needs to know of their definition."""

    __slots__ = ("attributes", "definition", "inputs", "regions")

    def __init__(self, definition: type[Op]) -> None:
        layout = definition.layout
        self.definition = definition
        self.inputs = {f.spelling: f for f in layout.inputs}
        self.attributes = {f.spelling: f for f in layout.attributes if f.kind is FieldKind.ATTRIBUTE}
        self.regions = layout.regions


class _Reading:
    """A message being read, for what can be wrong with it. As text it is its place, as `ods.path_of` says it.

    `undecoded` are the places in the message of constants that could not be decoded; `has_residue` says that the
    message may say more than its form in the module.
    """

    __slots__ = ("has_residue", "place", "undecoded")

    def __init__(self, place: str) -> None:
        self.place = place
        self.has_residue = False
        self.undecoded: list[str] = []

    def __str__(self) -> str:
        return self.place


class _ReadingOperation(_Reading):
    """An operation being read; `around` is the block that holds it."""

    __slots__ = ("around", "index", "message")

    def __init__(self, place: str, around: BlockMessage, index: int, message: OperationMessage) -> None:
        self.place = place
        self.has_residue = False
        self.undecoded = []
        self.around = around
        self.index = index
        self.message = message

    def __str__(self) -> str:
        name = next((out.name for out in self.message.outputs if out.name), "")
        return f"{self.place}.operations[{self.index}]" + (f" '{name}'" if name else f" {DIALECT}.{self.message.type}")

    def notes_on(self, name: str) -> tuple[str, ...]:
        """Where in the same block a name is defined that is not defined yet."""
        for n, op in enumerate(self.around.operations):
            if n >= self.index and any(out.name == name for out in op.outputs):
                return (f"operations[{n}] of the same block defines it",)
        return ()


class ProgramReader:
    """Reads one program. `keeps_unknown` says that the message has fields that the declarations do not know."""

    def __init__(self, dialects: Dialects, weights: WeightFiles, limits: Limits, *, keeps_unknown: bool) -> None:
        self._dialects = dialects
        self._limits = limits
        self._keeps_unknown = keeps_unknown
        self._types = TypeDecoder(limits)
        self._values = ValueDecoder(self._types, weights, limits)
        self._findings = Findings(limits)
        self._plans: dict[tuple[str, str], _Plan | None] = {}
        self._orders: dict[tuple[tuple[str, ...], tuple[str, ...]], StringAttr | None] = {}
        self._operations = 0
        # While reading: the version of the operation set, and the names in sight, outermost scope first.
        self._version = ""
        self._scopes: list[dict[str, Value]] = []

    @property
    def faulty(self) -> Collection[str]:
        """Places of operations with errors."""
        return self._findings.faulty

    def findings(self) -> list[Diagnostic]:
        """What is wrong, in order."""
        return self._findings.complete()

    # -- program and functions

    def module(self, message: ProgramMessage) -> Module:
        """The module of a program.

        Raises: LIMIT_EXCEEDED.
        """
        module = Module()
        module.set_extra(PROGRAM_VERSION, IntegerAttr(message.version))
        if message.docString:
            module.set_extra(DOCUMENTATION, StringAttr(message.docString))
        self._keep_attributes(module, message.attributes, message, _Reading("program"))
        for name in _repeated(entry.key for entry in message.functions):
            self._findings.add(DUPLICATE_NAME, f"the function '{name}' is defined twice", name)
        for entry in message.functions:
            module.body.append(self._function(entry.key, entry.value))
        return module

    def _function(self, name: str, message: FunctionMessage) -> Func:
        reading = _Reading(name)
        names, types = self._inputs(message.inputs, reading)
        for label in _repeated(entry.key for entry in message.block_specializations):
            self._findings.add(DUPLICATE_NAME, f"the specialization '{label}' is defined twice", name)
        regions: list[Region] = []
        for entry in message.block_specializations:
            block = Block(types, names, entry.key)
            place = _Reading(f"{name}.block[{entry.key}]")
            for extra, kind in zip(*self._inputs(entry.value.inputs, place), strict=True):
                block.add_argument(kind, extra)
                text = f"the block of a function has no inputs of its own, found '{extra}'"
                self._findings.add(MALFORMED_REGION, text, place)
            self._version = entry.key
            self._fill(block, entry.value, place)
            regions.append(Region([block]))
        if not regions:
            regions.append(Region([Block(types, names)]))
        made = Func.build({"sym_name": name, "opset": message.opset, "specializations": tuple(regions)}, ())
        self._keep_attributes(made, message.attributes, message, reading)
        return made

    def _inputs(self, messages: Iterable[NamedValueTypeMessage], reading: _Reading) -> tuple[list[str], list[Type]]:
        """Names and types of the inputs of a function or block."""
        names: list[str] = []
        types: list[Type] = []
        for given in messages:
            names.append(given.name)
            types.append(self._type(given, reading, "inputs"))
        for name in _repeated(names):
            self._findings.add(DUPLICATE_NAME, f"the input '{name}' is defined twice", reading, f".inputs['{name}']")
        return names, types

    # -- blocks

    def _fill(self, block: Block, message: BlockMessage, reading: _Reading) -> None:
        """Reads the operations and outputs of a block whose arguments are made. Its names are a scope of their own."""
        place = reading.place
        scope: dict[str, Value] = {argument.name: argument for argument in block.arguments}
        self._scopes.append(scope)
        for n, op_message in enumerate(message.operations):
            at = _ReadingOperation(place, message, n, op_message)
            op = self._operation(op_message, at, block)
            for r in op.results:
                if r.name in scope:
                    self._findings.add(DUPLICATE_NAME, f"the name '{r.name}' is defined twice in one block", at)
                scope[r.name] = r
        names = tuple(message.outputs)
        values = [self._named(name, reading, f".outputs[{n}]") for n, name in enumerate(names)]
        if any(v.owner is None for v in values):
            self._findings.faulty.add(f"{place}.operations[{len(message.operations)}] {Return.name}")
        end = block.append(Return.build({"values": values, "names": names}, ()))
        self._keep_attributes(end, message.attributes, message, reading)
        self._scopes.pop()

    def _keep_attributes(
        self, op: Operation, entries: Iterable[ValueEntryMessage], message: AnyMessage, reading: _Reading
    ) -> None:
        """Keeps the attributes of a program, function or block, and what else its message says."""
        values = self._attributes(entries, reading)
        if values:
            op.set_extra(PROGRAM_ATTRIBUTES, DictionaryAttr(tuple([(key, value_attribute(v)) for key, v in values])))
        self._keep_residue(op, message, reading)

    def _keep_residue(self, op: Operation, message: AnyMessage, reading: _Reading) -> None:
        if reading.has_residue or reading.undecoded or self._keeps_unknown:
            whole: Message = message  # pyright: ignore[reportAssignmentType]  the class is made at run time
            residue = residue_of(whole, reading.undecoded)
            if residue is not None:
                op.set_extra(RESIDUE, residue)

    # -- operations

    def _operation(self, message: OperationMessage, at: _ReadingOperation, block: Block) -> Operation:
        """Reads an operation and puts it at the end of a block, after the literals that it uses."""
        self._operations += 1
        if self._operations > self._limits.max_operations:
            text = f"the program has more than {self._limits.max_operations:,} operations"
            raise DiagnosticError(Diagnostic(LIMIT_EXCEEDED, text, where=str(at)))
        bound = self._bindings(message, at, block)
        stated_name, attributes, keys = self._stated(message, at)
        blocks = message.blocks
        regions = [self._nested(b, n, len(blocks), at) for n, b in enumerate(blocks)] if blocks else []
        outputs = message.outputs
        types = [self._type(out, at, "outputs") for out in outputs]
        plan = self._plan_for(message.type, attributes)
        known = None if plan is None else self._arguments(plan, bound, attributes, regions, at)
        if plan is None:
            self._tell_unknown(message.type, at)
        if plan is None or known is None:
            op: Operation = UnregisteredOperation(
                f"{DIALECT}.{message.type}", (v for _, vs in bound for v in vs), {}, types, regions
            )
            op.set_extra(PARAMETERS, DictionaryAttr(tuple([(key, IntegerAttr(len(vs))) for key, vs in bound])))
            undeclared = attributes
        else:
            op = plan.definition.build(known, types)
            declared = plan.attributes
            undeclared = [(key, v) for key, v in attributes if key not in declared]
        for r, out in zip(op.results, outputs, strict=True):
            r.name = out.name
        self._keep_name(op, stated_name)
        for key, v in undeclared:
            op.set_extra(key, value_attribute(v))
        order = self._order(tuple([key for key, _ in bound]), keys)
        if order is not None:
            op.set_extra(MAP_ORDER, order)
        self._keep_residue(op, message, at)
        return block.append(op)

    def _keep_name(self, op: Operation, stated: str | None) -> None:
        """Keeps the name of an operation where it is not that of its first result."""
        implied = op.results[0].name if op.results else None
        if stated is None:
            if implied is not None and OPERATION_NAME not in op.extra:
                op.set_extra(UNNAMED, _UNIT)
        elif stated != implied:
            op.set_extra(OPERATION_NAME, StringAttr(stated))

    def _stated(
        self, message: OperationMessage, at: _ReadingOperation
    ) -> tuple[str | None, Attributes, tuple[str, ...]]:
        """The name that an operation states, its other attributes, and the keys of all attributes in order."""
        name: str | None = None
        keys: list[str] = []
        others: list[ValueEntryMessage] = []
        for entry in message.attributes:
            key = entry.key
            keys.append(key)
            if key == OPERATION_NAME and name is None:
                name = self._plain_text(entry.value)
                if name is not None:
                    continue
            others.append(entry)
        return name, self._attributes(others, at) if others else [], tuple(keys)

    def _plain_text(self, message: ValueMessage) -> str | None:
        """The text of a scalar string that says nothing else."""
        decoded = self._types.decode(message.type)
        if decoded.type is not _TEXT or decoded.has_residue or message.docString:
            return None
        texts = message.immediateValue.tensor.strings.values
        return texts[0] if len(texts) == 1 else None

    def _attributes(self, entries: Iterable[ValueEntryMessage], reading: _Reading) -> Attributes:
        out: dict[str, Data | Compound] = {}
        for entry in entries:
            key = entry.key
            value = self._value(entry.value, reading, f"attributes['{key}']", ".value")
            if key in out:
                self._findings.add(DUPLICATE_NAME, f"the attribute '{key}' is defined twice", reading)
            if value is not None:
                out[key] = value
        return list(out.items())

    def _bindings(self, message: OperationMessage, at: _ReadingOperation, block: Block) -> Bound:
        """The values that each parameter is bound to, in the order of the file."""
        out: Bound = []
        scopes = self._scopes
        for entry in message.inputs:
            key = entry.key
            values: list[Value] = []
            bindings = entry.value.arguments
            for n, binding in enumerate(bindings):
                # The empty name is not valid, so an empty text means that there is no name.
                name = binding.name
                if not name:
                    values.append(self._literal(entry.value, n, key, at, block))
                    continue
                found = scopes[-1].get(name)
                values.append(self._named(name, at, f".inputs['{key}']") if found is None else found)
            out.append((key, values))
        if len(out) > 1:
            for key in _repeated([key for key, _ in out]):
                self._findings.add(DUPLICATE_NAME, f"the parameter '{key}' is bound twice", at, f".inputs['{key}']")
        return out

    def _literal(self, message: ArgumentMessage, n: int, key: str, at: _ReadingOperation, block: Block) -> Value:
        """The value of an anonymous operation for a literal."""
        binding = message.arguments[n]
        part = f"inputs['{key}']" + (f".arguments[{n}]" if len(message.arguments) > 1 else "")
        if binding.WhichOneof("binding") != "value":
            self._findings.add(UNDEFINED_VALUE, "the parameter is bound to nothing", at, f".{part}")
            return Value(none)
        value = self._value(binding.value, at, f"inputs['{key}']", f".value.arguments[{n}].value", part)
        arguments = {} if value is None else {"val": value}
        definition = CompoundLiteral if isinstance(value, Compound) else Literal
        kind = self._types.decode(binding.value.type).type if value is None else value.type
        return block.append(definition.build(arguments, (kind,))).result

    def _nested(self, message: BlockMessage, n: int, count: int, at: _ReadingOperation) -> Region:
        reading = _Reading(f"{at}.block[{n}]" if count > 1 else str(at))
        names, types = self._inputs(message.inputs, reading)
        block = Block(types, names)
        self._fill(block, message, reading)
        return Region([block])

    # -- from the parts of a message to the fields of a definition

    def _plan_for(self, kind: str, attributes: Attributes) -> _Plan | None:
        """The plan for operations of a type in the version at hand."""
        if kind == CONST and any(isinstance(v, Compound) for key, v in attributes if key == "val"):
            return _Plan(CompoundConstant)
        key = (kind, self._version)
        if key not in self._plans:
            found = self._dialects.find(f"{DIALECT}.{kind}", self._version)
            self._plans[key] = None if found is None else _Plan(found)
        return self._plans[key]

    def _tell_unknown(self, kind: str, at: _ReadingOperation) -> None:
        name = f"{DIALECT}.{kind}"
        newest = self._dialects.find(name)
        if newest is not None:
            text = f"{name} is an operation from {newest.since} on, but its block is written in {self._version}"
            self._findings.add(UNKNOWN_OPERATION, text, at)
            return
        dialect = self._dialects.get(DIALECT)
        known = [full.partition(".")[2] for full in dialect.operations] if dialect is not None else []
        help = self._findings.suggestion(kind, known) or "`cir ops` lists the operations that are known"
        self._findings.add(UNKNOWN_OPERATION, f"unknown operation '{name}'", at, help=help)

    def _arguments(
        self, plan: _Plan, bound: Bound, attributes: Attributes, regions: list[Region], at: _ReadingOperation
    ) -> Mapping[str, object] | None:
        """The arguments of a definition by field; None when the operation cannot take that form, which is told."""
        out: dict[str, object] = {}
        fits = True
        for key, values in bound:
            field = plan.inputs.get(key)
            if field is None:
                name = plan.definition.name
                help = self._findings.suggestion(key, plan.inputs)
                self._findings.add(
                    WRONG_OPERAND_COUNT, f"{name} has no parameter '{key}'", at, f".inputs['{key}']", help=help
                )
                fits = False
            elif field.variadic:
                out[field.name] = values
            elif len(values) == 1:
                out[field.name] = values[0]
            else:
                text = f"{plan.definition.name}: parameter '{key}' takes one value, found {len(values)}"
                self._findings.add(WRONG_OPERAND_COUNT, text, at, f".inputs['{key}']")
                fits = False
        for key, value in attributes:
            field = plan.attributes.get(key)
            if field is not None:
                fits = self._declared(field, value, out, at) and fits
        return out if self._take_regions(plan, regions, out, at) and fits else None

    def _declared(self, field: Field, value: Data | Compound, out: dict[str, object], at: _ReadingOperation) -> bool:
        """Adds a declared attribute to the arguments; False when the constant is not of its kind."""
        kind = field.type
        if kind is None:
            return False
        try:
            out[field.name] = kind.coerce(value)
        except ValueError as error:
            reason = error
        else:
            return True
        if isinstance(value, Data) and kind.from_elements is not None:
            try:
                out[field.name] = kind.from_elements(value.shape, value.values())
            except ValueError as error:
                reason = error
            else:
                return True
        self._findings.add(WRONG_ATTRIBUTE, f"'{field.spelling}': {reason}", at, f".attributes['{field.spelling}']")
        return False

    def _take_regions(self, plan: _Plan, regions: list[Region], out: dict[str, object], at: _ReadingOperation) -> bool:
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
        self._findings.add(MALFORMED_REGION, text, at, ".blocks")
        return False

    def _order(self, inputs: tuple[str, ...], attributes: tuple[str, ...]) -> StringAttr | None:
        """The order of the two maps of an operation, None when both are in alphabetical order."""
        key = (inputs, attributes)
        if key not in self._orders:
            is_sorted = list(inputs) == sorted(inputs) and list(attributes) == sorted(attributes)
            self._orders[key] = None if is_sorted else StringAttr(f"{' '.join(inputs)} | {' '.join(attributes)}")
        return self._orders[key]

    # -- names, types and values

    def _named(self, name: str, reading: _Reading, part: str) -> Value:
        """The value of a name in sight; for any other, a value that nothing defines."""
        for scope in reversed(self._scopes):
            found = scope.get(name)
            if found is not None:
                return found
        notes = reading.notes_on(name) if isinstance(reading, _ReadingOperation) else ()
        text = f"'{name}' is used before it is defined" if notes else f"'{name}' is not defined"
        help = None if notes else self._findings.suggestion(name, {n: None for scope in self._scopes for n in scope})
        self._findings.add(UNDEFINED_VALUE, text, reading, part, notes=notes, help=help)
        return Value(none, name=name)

    def _type(self, message: NamedValueTypeMessage, reading: _Reading, part: str) -> Type:
        decoded = self._types.decode(message.type)
        if decoded.has_residue:
            reading.has_residue = True
        for fault in decoded.faults:
            self._findings.add(MALFORMED_TYPE, fault, reading, f".{part}['{message.name}'].type")
        return decoded.type

    def _value(
        self, message: ValueMessage, reading: _Reading, path: str, rest: str, part: str = ""
    ) -> Data | Compound | None:
        """A constant; None when it is malformed, which is told.

        `path` with `rest` is its place in the message, `part` what to tell of it (by default `path`).
        """
        decoded = self._types.decode(message.type)
        if decoded.has_residue or message.docString:
            reading.has_residue = True
        try:
            value = self._values.decode(message, decoded)
        except UnusableWeightsError as error:
            self._findings.unusable(error, reading, f".{part or path}")
        except DiagnosticError as error:
            self._findings.extend(error.diagnostics, reading, f".{part or path}")
        else:
            # What values inside say beyond their form is not known here.
            reading.has_residue = reading.has_residue or isinstance(value, Compound)
            return value
        reading.undecoded.append(path + rest)
        return None


def _repeated(names: Iterable[str]) -> Iterator[str]:
    """Each name that occurs again, at each further occurrence."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            yield name
        seen.add(name)
