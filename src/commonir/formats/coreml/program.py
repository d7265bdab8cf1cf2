"""The program of a Core ML model: from its message to a module of the mil dialect.

What a message says is decoded here and made into operations by `building.py`; what it says beyond their form is kept as
residue.

Limits: `Limits.max_operations`; nesting is limited by that of messages.
Source: MIL specification, Program, Function, Block, Argument, Op.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from commonir.base.codes import MALFORMED_REGION, UNDEFINED_VALUE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.limits import Limits
from commonir.dialects.mil.base import OPERATION_NAME
from commonir.dialects.mil.program import (
    DOCUMENTATION,
    PROGRAM_VERSION,
    RESIDUE,
    Compound,
    Func,
)
from commonir.formats.coreml.blobs import UnusableWeightsError, WeightFiles
from commonir.formats.coreml.building import (
    CONST,
    DIALECT,
    Attributes,
    Bound,
    ProgramBuilder,
    Statement,
    keep_attributes,
)
from commonir.formats.coreml.findings import ProtoPlace
from commonir.formats.coreml.names import bad_name
from commonir.formats.coreml.residue import residue_of
from commonir.formats.coreml.types import TypeDecoder
from commonir.formats.coreml.values import ValueDecoder
from commonir.ir.attributes import IntegerAttr, StringAttr
from commonir.ir.data import Data
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import ListType, Type, none, string, tensor
from commonir.ods import Dialects

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from commonir.formats.coreml.messages import (
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

_TEXT = tensor(string)
_VALUE = "val"


class _Reading(ProtoPlace):
    """The place of a message being read, and what can be wrong with the message.

    `undecoded` are the places in the message of constants that could not be decoded; `has_residue` says that the
    message may say more than its form in the module.
    """

    __slots__ = ("has_residue", "undecoded")

    def __init__(self, path: str) -> None:
        self.path = path
        self.has_residue = False
        self.undecoded: list[str] = []


class _BlockNames:
    """The positions at which a block defines names, which few blocks are asked for."""

    __slots__ = ("_message", "_positions")

    def __init__(self, message: BlockMessage) -> None:
        self._message = message
        self._positions: dict[str, int] | None = None

    def last_position(self, name: str) -> int | None:
        """Returns the position of the last operation that defines a name; None if none does."""
        if self._positions is None:
            operations = enumerate(self._message.operations)
            self._positions = {out.name: n for n, op in operations for out in op.outputs}
        return self._positions.get(name)


class _ReadingOperation(_Reading):
    """An operation being read; `around` are the names of the block that holds it."""

    __slots__ = ("around", "index", "message")

    def __init__(self, path: str, around: _BlockNames, index: int, message: OperationMessage) -> None:
        self.path = path
        self.has_residue = False
        self.undecoded = []
        self.around = around
        self.index = index
        self.message = message

    def __str__(self) -> str:
        name = next((out.name for out in self.message.outputs if out.name), "")
        return f"{self.path}.operations[{self.index}]" + (f" '{name}'" if name else f" {DIALECT}.{self.message.type}")

    def notes_on(self, name: str) -> tuple[str, ...]:
        n = self.around.last_position(name)
        return (f"operations[{n}] of the same block defines it",) if n is not None and n >= self.index else ()


class ProgramReader:
    """Reads one program. `keeps_unknown` says that the message has fields that the declarations do not know."""

    def __init__(self, dialects: Dialects, weights: WeightFiles, limits: Limits, *, keeps_unknown: bool) -> None:
        self._keeps_unknown = keeps_unknown
        self._types = TypeDecoder(limits, self._faults_of)
        self._values = ValueDecoder(self._types, weights, limits)
        self._builder = ProgramBuilder(dialects, limits)
        self._findings = self._builder.findings

    @property
    def faulty(self) -> Collection[str]:
        """Places of operations with errors."""
        return self._findings.faulty

    def findings(self) -> list[Diagnostic]:
        """Returns the diagnostics in order."""
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
        self._builder.report_repeated_functions([entry.key for entry in message.functions])
        for entry in message.functions:
            module.body.append(self._function(entry.key, entry.value))
        return module

    def _function(self, name: str, message: FunctionMessage) -> Func:
        reading = _Reading(name)
        names, types = self._inputs(message.inputs, reading)
        labels = [entry.key for entry in message.block_specializations]
        self._builder.report_repeated(labels, "specialization", reading)
        regions: list[Region] = []
        for entry in message.block_specializations:
            block = Block(types, names, entry.key)
            place = _Reading(f"{name}.block[{entry.key}]")
            for extra, kind in zip(*self._inputs(entry.value.inputs, place), strict=True):
                block.add_argument(kind, extra)
                text = f"the block of a function has no inputs of its own, found '{extra}'"
                self._findings.add(MALFORMED_REGION, text, place)
            self._builder.version = entry.key
            self._fill(block, entry.value, place)
            regions.append(Region([block]))
        if not regions:
            regions.append(Region([Block(types, names)]))
        result = self._builder.function(name, message.opset, regions)
        self._keep_attributes(result, message.attributes, message, reading)
        return result

    def _inputs(self, messages: Iterable[NamedValueTypeMessage], reading: _Reading) -> tuple[list[str], list[Type]]:
        """Names and types of the inputs of a function or block."""
        names: list[str] = []
        types: list[Type] = []
        for statement in messages:
            names.append(statement.name)
            types.append(self._type(statement, reading, "inputs", len(types)))
        self._builder.report_repeated(names, "input", reading, "inputs")
        return names, types

    # -- blocks

    def _fill(self, block: Block, message: BlockMessage, reading: _Reading) -> None:
        """Reads the operations and outputs of a block whose arguments are made."""
        self._builder.enter(block)
        names = _BlockNames(message)
        for n, op_message in enumerate(message.operations):
            self._operation(op_message, _ReadingOperation(reading.path, names, n, op_message), block)
        end = self._builder.leave(block, tuple(message.outputs), reading)
        self._keep_attributes(end, message.attributes, message, reading)

    def _keep_attributes(
        self, op: Operation, entries: Iterable[ValueEntryMessage], message: AnyMessage, reading: _Reading
    ) -> None:
        """Keeps the attributes of a program, function or block, and what else its message says."""
        values = self._attributes(entries, reading)
        keep_attributes(op, values)
        self._keep_residue(op, message, reading)

    def _keep_residue(self, op: Operation, message: AnyMessage, reading: _Reading) -> None:
        if reading.has_residue or reading.undecoded or self._keeps_unknown:
            whole: Message = message  # pyright: ignore[reportAssignmentType]  the class is made at run time
            residue = residue_of(whole, reading.undecoded)
            if residue is not None:
                op.set_extra(RESIDUE, residue)

    # -- operations

    def _operation(self, message: OperationMessage, at: _ReadingOperation, block: Block) -> None:
        """Reads an operation and puts it at the end of a block, after the literals that it uses."""
        self._builder.count_operation(at)
        if message.type == CONST and self._constant(message, block):
            return
        bound = self._bindings(message, at, block)
        stated_name, attributes, keys = self._stated(message, at)
        blocks = message.blocks
        regions = [self._nested(b, n, len(blocks), at) for n, b in enumerate(blocks)] if blocks else []
        results = [(out.name, self._type(out, at, "outputs", n)) for n, out in enumerate(message.outputs)]
        statement = Statement(message.type, bound, stated_name, attributes, keys, regions, results)
        self._keep_residue(self._builder.operation(statement, at, block), message, at)

    def _constant(self, message: OperationMessage, block: Block) -> bool:
        """Reads a constant of the form that nearly all have, in half the time; False when it has another or a fault.

        Most operations of a program are constants. What is made is the same as when it is read like the others.
        """
        attributes, outputs = message.attributes, message.outputs
        if self._keeps_unknown or len(attributes) != 2 or len(outputs) != 1 or message.inputs or message.blocks:
            return False
        first, second = attributes
        out = outputs[0]
        name, value = out.name, second.value
        if first.key != OPERATION_NAME or second.key != _VALUE or self._plain_text(first.value) != name:
            return False
        type = self._types.decode(out.type)
        if type is not self._types.decode(value.type) or type.has_residue or value.docString:
            return False
        try:
            data = self._values.decode(value, type)
        except DiagnosticError:
            # Reported when it is read again.
            return False
        return isinstance(data, Data) and self._builder.constant(name, data, block)

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
            if "." in key:
                # It would be an attribute of some dialect.
                self._findings.extend([bad_name(key, "attribute")], at)
                at.undecoded.append(f"attributes['{key}'].value")
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
        result = ((e.key, self._value(e.value, reading, f"attributes['{e.key}']", ".value")) for e in entries)
        return self._builder.attribute_list(result, reading)

    def _bindings(self, message: OperationMessage, at: _ReadingOperation, block: Block) -> Bound:
        """The values that each parameter is bound to, in the order of the file."""
        out: Bound = []
        for entry in message.inputs:
            key = entry.key
            values: list[Value] = []
            for n, binding in enumerate(entry.value.arguments):
                # The empty name is not valid, so an empty text means that there is no name.
                name = binding.name
                if name:
                    values.append(self._builder.named(name, at, f".inputs['{key}']"))
                else:
                    values.append(self._literal(entry.value, n, key, at, block))
            out.append((key, values))
        return out

    def _literal(self, message: ArgumentMessage, n: int, key: str, at: _ReadingOperation, block: Block) -> Value:
        """The value of an anonymous operation for a literal."""
        binding = message.arguments[n]
        part = f"inputs['{key}']" + (f".arguments[{n}]" if len(message.arguments) > 1 else "")
        if binding.WhichOneof("binding") != "value":
            self._findings.add(UNDEFINED_VALUE, "the parameter is bound to nothing", at, f".{part}")
            return Value(none)
        value = self._value(binding.value, at, f"inputs['{key}']", f".value.arguments[{n}].value", part)
        type = self._types.decode(binding.value.type).type if value is None else value.type
        return self._builder.literal(value, type, block, f"{at.path}.operations[{at.index}]")

    def _nested(self, message: BlockMessage, n: int, count: int, at: _ReadingOperation) -> Region:
        reading = _Reading(f"{at}.block[{n}]" if count > 1 else str(at))
        names, types = self._inputs(message.inputs, reading)
        block = Block(types, names)
        self._fill(block, message, reading)
        return Region([block])

    # -- types and values

    def _type(self, message: NamedValueTypeMessage, reading: _Reading, part: str, n: int) -> Type:
        decoded = self._types.decode(message.type)
        if decoded.has_residue:
            reading.has_residue = True
        if not decoded.is_exact:
            reading.undecoded.append(f"{part}[{n}].type")
        if decoded.faults:
            located = [d.located(where="type") for d in decoded.faults]
            self._findings.extend(located, reading, f".{part}['{message.name}']")
        return decoded.type

    def _faults_of(self, message: ValueMessage) -> tuple[Diagnostic, ...]:
        """Returns the findings on the value of an attribute of a type."""
        try:
            self._values.decode(message, self._types.decode(message.type))
        except DiagnosticError as error:
            return error.diagnostics
        return ()

    def _value(
        self, message: ValueMessage, reading: _Reading, path: str, rest: str, part: str = ""
    ) -> Data | Compound | None:
        """Returns a constant; None if it is malformed, which is reported.

        `path` with `rest` is its location in the message, `part` the location to report (by default `path`).
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
            if not decoded.is_exact:
                reading.undecoded.append(f"{path}{rest}.type")
            if _is_empty_list(value) and message.WhichOneof("value") is not None:
                # A list of nothing has two forms; the other one is that of coremltools.
                reading.undecoded.append(path + rest)
            # What values inside say beyond their form is not known here.
            reading.has_residue = reading.has_residue or isinstance(value, Compound)
            return value
        reading.undecoded.append(path + rest)
        return None


def _is_empty_list(value: Data | Compound) -> bool:
    return isinstance(value, Compound) and isinstance(value.type, ListType) and not value.values
