"""From a module of the mil dialect to the message of its program; the inverse of `program.py` and `building.py`.

What was read is written as it was: the order of maps, the way a parameter is bound, whether a constant is inside the
program or in a weight file, and what the module has no room for (`residue.py`). A parameter that the module holds as
a Python value, as programs made here do, becomes a constant of its own.

Writes no file, converts nothing. Source: MIL specification, Program, Function, Block, Argument, Op.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from commonir.base.codes import NOT_IN_FORMAT
from commonir.base.diagnostics import Diagnostics
from commonir.base.file_codes import NESTING_TOO_DEEP
from commonir.base.limits import DEFAULT_LIMITS
from commonir.dialects.mil.base import OPERATION_NAME
from commonir.dialects.mil.program import (
    DOCUMENTATION,
    PROGRAM_ATTRIBUTES,
    PROGRAM_VERSION,
    RESIDUE,
    Compound,
    CompoundLiteral,
    Func,
    Literal,
    Return,
)
from commonir.formats.coreml.building import CONST
from commonir.formats.coreml.forms import PREFIX, constant_of, form_of, literal_of
from commonir.formats.coreml.names import FunctionNames, output_conflicts
from commonir.formats.coreml.residue import restore
from commonir.formats.coreml.types import TypeEncoder
from commonir.formats.coreml.values import Blob, ValueEncoder
from commonir.ir.attributes import Attribute, BytesAttr, DictionaryAttr, IntegerAttr, StringAttr
from commonir.ir.data import Data, TextData
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import string, tensor
from commonir.ods import path_of

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from commonir.formats.coreml.messages import (
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


class ProgramEncoder:
    """Encodes one program.

    `found` receives what is not of the format, `blobs` the constants that belong into a weight file; without it there
    are not weight files.
    """

    def __init__(
        self, module: Module, diagnostics: Diagnostics, specification_version: int, blobs: list[Blob] | None
    ) -> None:
        self._module = module
        self._parts = _Parts(diagnostics, specification_version, blobs)

    def encode(self, program: ProgramMessage) -> None:
        """Fills the message of the program."""
        declared = self._module.extra.get(PROGRAM_VERSION)
        program.version = declared.value if isinstance(declared, IntegerAttr) else NEWEST_VERSION
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
                self._parts.diagnostics.add(
                    NOT_IN_FORMAT, f"{op.name} has no place in an ML Program", where=path_of(op)
                )
        self._parts.block_attributes(self._module, program.attributes)
        self._parts.restore(self._module, program)

    def _function(self, function: Func, into: FunctionMessage) -> None:
        parts = self._parts
        for name, reason in output_conflicts(function).items():
            message = f"the output '{name}' cannot have that name: {reason}"
            parts.diagnostics.add(NOT_IN_FORMAT, message, where=path_of(function), help="return an `identity` of it")
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

    def __init__(self, diagnostics: Diagnostics, specification_version: int, blobs: list[Blob] | None) -> None:
        self.diagnostics = diagnostics
        self.types = TypeEncoder()
        self.values = ValueEncoder(self.types, specification_version, blobs)

    def refuse(self, op: Operation, reason: str) -> None:
        """Reports that an operation cannot be written."""
        self.diagnostics.add(NOT_IN_FORMAT, f"{op.name}: {reason}", where=path_of(op))

    def block_attributes(self, op: Operation, into: Repeated[ValueEntryMessage]) -> None:
        """Writes the attributes of a program, function or block."""
        stored = op.extra.get(PROGRAM_ATTRIBUTES)
        for key, attribute in stored.entries if isinstance(stored, DictionaryAttr) else ():
            self.attribute(key, attribute, into, op)

    def attribute(
        self, key: str, value: Attribute | Data | Compound, into: Repeated[ValueEntryMessage], op: Operation
    ) -> None:
        """Writes one attribute."""
        entry = into.add()
        entry.key = key
        try:
            self.values.encode(constant_of(value) if isinstance(value, Attribute) else value, entry.value)
        except ValueError as error:
            self.refuse(op, f"attribute '{key}': {error}")

    def restore(self, op: Operation, into: AnyMessage) -> None:
        """Puts back what the module has no room for."""
        stored = op.extra.get(RESIDUE)
        if not isinstance(stored, DictionaryAttr):
            return
        message: Message = into  # pyright: ignore[reportAssignmentType]  the class is made at run time
        try:
            restore(
                message, {path: content.value for path, content in stored.entries if isinstance(content, BytesAttr)}
            )
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
            built = into.add()
            built.name = self._names[value]
            try:
                self._parts.types.encode(value.type, built.type)
            except ValueError as error:
                self._parts.refuse(op, f"'{built.name}': {error}")

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
                case _ if op.name.startswith(PREFIX) and not isinstance(op, Func):
                    self._operation(op, into, depth)
                case _:
                    self._parts.refuse(op, "no operation of an ML Program")

    def _operation(self, op: Operation, block: BlockMessage, depth: int) -> None:
        form = form_of(op, self._names, lambda reason: self._parts.refuse(op, reason))
        bound = [
            (key, [self._made_constant(op, key, v, block) if isinstance(v, Data) else v for v in values])
            for key, values in form.inputs
        ]
        into = block.operations.add()
        into.type = form.kind
        for key, values in bound:
            entry = into.inputs.add()
            entry.key = key
            entry.value.SetInParent()
            for value in values:
                self._bind(value, entry.value.arguments.add(), op)
        self.named_types(op.results, into.outputs, op)
        for key, value in form.attributes:
            self._parts.attribute(key, value, into.attributes, op)
        for region in op.regions:
            for nested in region.blocks:
                built = into.blocks.add()
                self.named_types(nested.arguments, built.inputs, op)
                if (depth + 1) * _LEVELS_OF_A_BLOCK + _OTHER_LEVELS > DEFAULT_LIMITS.max_nesting_depth:
                    message = f"{op.name}: blocks are nested too deeply for a message"
                    self._parts.diagnostics.add(NESTING_TOO_DEEP, message)
                    continue
                self._pending.append((nested, built, depth + 1))
        self._parts.restore(op, into)

    # -- inputs

    def _made_constant(self, op: Operation, key: str, data: Data, block: BlockMessage) -> str:
        """Writes the constant of a parameter that is given as a Python value, and returns its name."""
        stem = self._names[op.results[0]] if op.results else op.name.removeprefix(PREFIX)
        name = self._names.fresh(f"{stem}_{key}_0")
        built = block.operations.add()
        built.type = CONST
        out = built.outputs.add()
        out.name = name
        self._parts.types.encode(data.type, out.type)
        self._parts.attribute(OPERATION_NAME, TextData(_TEXT, (name,)), built.attributes, op)
        self._parts.attribute("val", data, built.attributes, op)
        return name

    def _bind(self, content: Value | str, into: BindingMessage, op: Operation) -> None:
        if isinstance(content, str):
            into.name = content
            return
        literal = literal_of(content)
        if literal is None:
            name = self._names[content]
            if name:
                into.name = name
            return
        into.value.SetInParent()
        value = literal.attribute_values[0]
        if not isinstance(value, Data | Compound):
            # One that could not be decoded is in the residue.
            return
        try:
            self._parts.values.encode(value, into.value)
        except ValueError as error:
            self._parts.refuse(op, str(error))
