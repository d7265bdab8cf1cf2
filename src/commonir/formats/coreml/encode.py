"""From a module of the mil dialect to the message of its program; the inverse of `program.py` and `building.py`.

What was read is written as it was: the order of maps, the way a parameter is bound, whether a constant is inside the
program or in a weight file, and what the module has no room for (`residue.py`). A parameter that the module holds as
a Python value, as programs made here do, becomes a constant of its own.

Writes no file, converts nothing. Source: MIL specification, Program, Function, Block, Argument, Op.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, TypeGuard

from commonir.base.codes import NESTING_TOO_DEEP, NOT_IN_FORMAT
from commonir.base.diagnostics import Diagnostics
from commonir.base.limits import DEFAULT_LIMITS
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
    attribute_value,
)
from commonir.formats.coreml.building import CONST, DIALECT, ORDER_SEPARATOR
from commonir.formats.coreml.literals import parameter_data, plain_data
from commonir.formats.coreml.messages import message_class
from commonir.formats.coreml.names import FunctionNames, output_conflicts
from commonir.formats.coreml.residue import restore
from commonir.formats.coreml.types import TypeEncoder
from commonir.formats.coreml.values import Blob, ValueEncoder
from commonir.ir.attributes import Attribute, BytesAttr, DictionaryAttr, IntegerAttr, StringAttr
from commonir.ir.data import Data, TextData
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import string, tensor
from commonir.ods import Op, path_of
from commonir.ods.fields import BOUND, MISSING, Field, FieldKind

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from commonir.formats.coreml.message_types import (
        AnyMessage,
        BindingMessage,
        BlockMessage,
        FunctionMessage,
        NamedValueTypeMessage,
        ProgramMessage,
        Repeated,
        ValueEntryMessage,
    )

NEWEST_VERSION = 1

_TEXT = tensor(string)
# A nested block adds an operation and a block to the levels of messages; the constant inside it adds fewer than the
# program around it.
_LEVELS_OF_A_BLOCK = 2
_OTHER_LEVELS = 16

_PREFIX = f"{DIALECT}."

Bindings = dict[str, Sequence[Value]]


class ProgramEncoder:
    """Encodes one program. `found` receives what is not of the format."""

    def __init__(
        self, module: Module, found: Diagnostics, specification_version: int, *, has_weight_files: bool
    ) -> None:
        self._module = module
        self._parts = _Parts(found, specification_version, has_weight_files=has_weight_files)

    @property
    def blobs(self) -> list[Blob]:
        """The constants that belong into a weight file."""
        return self._parts.values.blobs

    def program(self) -> Message:
        """The message of the program."""
        message = message_class("MILSpec.Program")()
        program: ProgramMessage = message  # pyright: ignore[reportAssignmentType]  made at run time
        stated = self._module.extra.get(PROGRAM_VERSION)
        program.version = stated.value if isinstance(stated, IntegerAttr) else NEWEST_VERSION
        documentation = self._module.extra.get(DOCUMENTATION)
        if isinstance(documentation, StringAttr):
            program.docString = documentation.value
        for op in self._module.body.operations:
            if isinstance(op, Func):
                entry = program.functions.add()
                entry.key = op.sym_name
                entry.value.SetInParent()
                self._function(op, entry.value)
            else:
                self._parts.found.add(NOT_IN_FORMAT, f"{op.name} has no place in an ML Program", where=path_of(op))
        self._parts.block_attributes(self._module, program.attributes)
        self._parts.restore(self._module, program)
        return message

    def _function(self, function: Func, into: FunctionMessage) -> None:
        parts = self._parts
        for name, reason in output_conflicts(function).items():
            message = f"the output '{name}' cannot have that name: {reason}"
            parts.found.add(NOT_IN_FORMAT, message, where=path_of(function), help="return an `identity` of it")
        into.opset = function.opset
        encoder = _BodyEncoder(parts, FunctionNames(function, is_read=PROGRAM_VERSION in self._module.extra))
        encoder.named_types(function.inputs, into.inputs, function)
        for region in function.specializations:
            block = region.block
            if not len(block) and not block.label:
                # A function without a body is read as one with an empty block.
                continue
            entry = into.block_specializations.add()
            entry.key = block.label
            entry.value.SetInParent()
            encoder.body(block, entry.value)
        parts.block_attributes(function, into.attributes)
        parts.restore(function, into)


class _Parts:
    """Encodes what programs, functions, blocks and operations have in common."""

    def __init__(self, found: Diagnostics, specification_version: int, *, has_weight_files: bool) -> None:
        self.found = found
        self.types = TypeEncoder()
        self.values = ValueEncoder(self.types, specification_version, has_weight_files=has_weight_files)

    def refuse(self, op: Operation, reason: str) -> None:
        """Tells that an operation cannot be written."""
        self.found.add(NOT_IN_FORMAT, f"{op.name}: {reason}", where=path_of(op))

    def block_attributes(self, op: Operation, into: Repeated[ValueEntryMessage]) -> None:
        """Writes the attributes of a program, function or block."""
        kept = op.extra.get(PROGRAM_ATTRIBUTES)
        for key, attribute in kept.entries if isinstance(kept, DictionaryAttr) else ():
            self.attribute(key, attribute, into, op)

    def attribute(
        self, key: str, given: Attribute | Data | Compound, into: Repeated[ValueEntryMessage], op: Operation
    ) -> None:
        """Writes one attribute."""
        entry = into.add()
        entry.key = key
        try:
            self.values.encode(_constant(given) if isinstance(given, Attribute) else given, entry.value)
        except ValueError as error:
            self.refuse(op, f"attribute '{key}': {error}")

    def restore(self, op: Operation, into: AnyMessage) -> None:
        """Puts back what the module has no room for."""
        kept = op.extra.get(RESIDUE)
        if not isinstance(kept, DictionaryAttr):
            return
        message: Message = into  # pyright: ignore[reportAssignmentType]  the class is made at run time
        try:
            restore(message, {path: held.value for path, held in kept.entries if isinstance(held, BytesAttr)})
        except ValueError as error:
            self.refuse(op, str(error))


class _BodyEncoder:
    """Encodes the bodies of one function."""

    def __init__(self, parts: _Parts, names: FunctionNames) -> None:
        self._parts = parts
        self._names = names
        self._pending: list[tuple[Block, BlockMessage, int]] = []

    def body(self, block: Block, into: BlockMessage) -> None:
        """Writes a body with all blocks inside."""
        self._pending.append((block, into, 1))
        while self._pending:
            self._block(*self._pending.pop())

    def named_types(self, values: Iterable[Value], into: Repeated[NamedValueTypeMessage], op: Operation) -> None:
        """Writes names and types of inputs or outputs."""
        for value in values:
            made = into.add()
            made.name = self._names[value]
            made.type.SetInParent()
            try:
                self._parts.types.encode(value.type, made.type)
            except ValueError as error:
                self._parts.refuse(op, f"'{made.name}': {error}")

    def _block(self, block: Block, into: BlockMessage, depth: int) -> None:
        for op in block.operations:
            match op:
                case Return():
                    into.outputs.extend([self._names[v] for v in op.values])
                    self._parts.block_attributes(op, into.attributes)
                    self._parts.restore(op, into)
                case Literal() | CompoundLiteral():
                    # Written where it is used.
                    continue
                case _ if op.name.startswith(_PREFIX) and not isinstance(op, Func):
                    self._operation(op, into, depth)
                case _:
                    self._parts.refuse(op, "no operation of an ML Program")

    def _operation(self, op: Operation, block: BlockMessage, depth: int) -> None:
        bound = self._bindings(op, block)
        into = block.operations.add()
        into.type = CONST if isinstance(op, CompoundConstant) else op.name.removeprefix(_PREFIX)
        input_order, attribute_order = _orders(op)
        for key in _ordered(bound, input_order):
            entry = into.inputs.add()
            entry.key = key
            entry.value.SetInParent()
            for value in bound[key]:
                self._bind(value, entry.value.arguments.add(), op)
        self.named_types(op.results, into.outputs, op)
        attributes = self._attributes(op)
        for key in _ordered(attributes, attribute_order):
            self._parts.attribute(key, attributes[key], into.attributes, op)
        for region in op.regions:
            for nested in region.blocks:
                made = into.blocks.add()
                self.named_types(nested.arguments, made.inputs, op)
                if (depth + 1) * _LEVELS_OF_A_BLOCK + _OTHER_LEVELS > DEFAULT_LIMITS.max_nesting_depth:
                    message = f"{op.name}: blocks are nested too deeply for a message"
                    self._parts.found.add(NESTING_TOO_DEEP, message)
                    continue
                self._pending.append((nested, made, depth + 1))
        self._parts.restore(op, into)

    # -- inputs

    def _bindings(self, op: Operation, block: BlockMessage) -> dict[str, Sequence[Value | str]]:
        """What each parameter is bound to: values, or names of constants made for it."""
        if not isinstance(op, Op):
            return dict(self._unregistered_bindings(op))
        out: dict[str, Sequence[Value | str]] = {}
        for f in op.layout.inputs:
            stored = op.attribute_values[op.places[f].attribute] if f.kind is FieldKind.PARAMETER else BOUND
            if stored is not BOUND:
                if stored is not MISSING and stored is not None and stored != f.default:
                    out[f.spelling] = (self._made_constant(op, f, stored, block),)
                continue
            held: Value | tuple[Value, ...] | None = (
                op.bound_value(f) if f.kind is FieldKind.PARAMETER else op.field_value(f)
            )
            if isinstance(held, tuple):
                # A parameter that is bound to no value at all differs from one that is not bound.
                if held or f.spelling in _orders(op)[0]:
                    out[f.spelling] = held
            elif held is not None:
                out[f.spelling] = (held,)
        return out

    def _unregistered_bindings(self, op: Operation) -> Bindings:
        kept = op.extra.get(PARAMETERS)
        counts = {key: n.value for key, n in kept.entries if isinstance(n, IntegerAttr)} if _is_map(kept) else {}
        out: Bindings = {}
        start = 0
        for key, count in counts.items():
            out[key] = op.operands[start : start + count]
            start += count
        if start != len(op.operands):
            self._parts.refuse(op, f"'{PARAMETERS}' names {start} operands, found {len(op.operands)}")
        return out

    def _made_constant(self, op: Op, field: Field, value: object, block: BlockMessage) -> str:
        """Writes the constant of a parameter that is given as a Python value, and returns its name."""
        stem = self._names[op.results[0]] if op.results else op.name.removeprefix(_PREFIX)
        name = self._names.fresh(f"{stem}_{field.spelling}_0")
        try:
            data = parameter_data(op, field, value)
        except (ValueError, TypeError) as error:
            self._parts.refuse(op, f"parameter '{field.spelling}': {error}")
            return name
        made = block.operations.add()
        made.type = CONST
        out = made.outputs.add()
        out.name = name
        self._parts.types.encode(data.type, out.type)
        self._parts.attribute(OPERATION_NAME, TextData(_TEXT, (name,)), made.attributes, op)
        self._parts.attribute("val", data, made.attributes, op)
        return name

    def _bind(self, given: Value | str, into: BindingMessage, op: Operation) -> None:
        if isinstance(given, str):
            into.name = given
            return
        match given.owner:
            case Literal() | CompoundLiteral() as literal:
                into.value.SetInParent()
                value = literal.attribute_values[0]
                if not isinstance(value, Data | Compound):
                    # One that could not be decoded is in the residue.
                    return
                try:
                    self._parts.values.encode(value, into.value)
                except ValueError as error:
                    self._parts.refuse(op, str(error))
            case _:
                name = self._names[given]
                if name:
                    into.name = name

    # -- attributes

    def _attributes(self, op: Operation) -> dict[str, Attribute | Data | Compound]:
        out: dict[str, Attribute | Data | Compound] = {}
        name = self._operation_name(op)
        if name is not None:
            out[OPERATION_NAME] = name
        if isinstance(op, Op):
            for f in op.layout.attributes:
                stored = op.attribute_values[op.places[f].attribute]
                if f.kind is not FieldKind.ATTRIBUTE or stored is MISSING or stored is None:
                    continue
                if isinstance(stored, Data | Compound):
                    out[f.spelling] = stored
                    continue
                try:
                    out[f.spelling] = parameter_data(op, f, stored)
                except (ValueError, TypeError) as error:
                    self._parts.refuse(op, f"attribute '{f.spelling}': {error}")
        # Names with a dot are those of other dialects, which no name of the format can be.
        out.update({key: held for key, held in op.extra.items() if "." not in key and key != OPERATION_NAME})
        return out

    def _operation_name(self, op: Operation) -> Attribute | Data | None:
        """The name that the operation states; None when it states none."""
        stated = op.extra.get(OPERATION_NAME)
        if stated is not None or UNNAMED in op.extra:
            return stated
        if op.results:
            return TextData(_TEXT, (self._names[op.results[0]],))
        return TextData(_TEXT, (self._names.fresh(op.name.removeprefix(_PREFIX)),))


def _constant(attribute: Attribute) -> Data | Compound:
    """The constant for an undeclared attribute. Raises: ValueError when there is none."""
    try:
        return attribute_value(attribute)
    except ValueError:
        return plain_data(attribute)


def _is_map(attribute: Attribute | None) -> TypeGuard[DictionaryAttr]:
    return isinstance(attribute, DictionaryAttr)


def _orders(op: Operation) -> tuple[list[str], list[str]]:
    """The inputs and the attributes of an operation in the order of its file, as far as it is known."""
    kept = op.extra.get(MAP_ORDER)
    if not isinstance(kept, StringAttr):
        return [], []
    inputs, _, attributes = kept.value.partition(ORDER_SEPARATOR)
    return inputs.split(" "), attributes.split(" ")


def _ordered(keys: Collection[str], order: Sequence[str]) -> list[str]:
    """Keys in a stated order, followed by those that it lacks in alphabetical order."""
    known = [key for key in dict.fromkeys(order) if key in keys]
    return [*known, *sorted(set(keys).difference(known))]


__all__ = ["NEWEST_VERSION", "ProgramEncoder"]
