"""MIL text of a module of the mil dialect, as Apple's compiler lays it out; the inverse of `parser.py`.

Constants of weight files are references, as they are in packages; all others are written out, unless large ones are to
be left out. Floating-point numbers are hexadecimal, so that nothing of them is lost. What MIL text has no form for
(what a package says beyond its form in the module, and on request the description of the model) stands in attributes
with quoted names.

Nested blocks, quoted names and kept attributes are ours (docs/mil_text.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from commonir.base.codes import NOT_IN_FORMAT
from commonir.base.diagnostics import Diagnostics
from commonir.dialects.mil.base import CORE_ML_5, CORE_ML_6, CORE_ML_7
from commonir.dialects.mil.description import FILES_ATTRIBUTE, MANIFEST_ATTRIBUTE
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
from commonir.formats.coreml.blobs import BlobData
from commonir.formats.coreml.forms import PREFIX, constant_of, form_of, literal_of
from commonir.formats.coreml.names import FunctionNames, output_conflicts
from commonir.formats.coreml.verify import NEWEST_PROGRAM_VERSION
from commonir.formats.mil_text.constants import BLOB, missing_type, type_tokens
from commonir.formats.mil_text.lexer import OPSETS, PLAIN_SYNTAX, SCALAR_SYNTAX, name_text, quoted
from commonir.formats.mil_text.numbers import element_texts, is_inferable, nested
from commonir.formats.mil_text.parser import KEPT, default_entry
from commonir.ir.attributes import Attribute, DictionaryAttr, IntegerAttr, StringAttr, attribute_text
from commonir.ir.data import Data
from commonir.ir.module import ENTRY, Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import ListType, MapType, TupleType, Type, string, tensor, u64
from commonir.ods import path_of

_SCALAR_SYNTAX_OPSETS = frozenset({CORE_ML_5, CORE_ML_6, CORE_ML_7})
_ALWAYS_KEPT = frozenset({DOCUMENTATION, RESIDUE})
# What stands elsewhere, and what belongs to the folder of a package.
_NOT_OF_TEXTS = frozenset({PROGRAM_ATTRIBUTES, RESIDUE, MANIFEST_ATTRIBUTE, FILES_ATTRIBUTE})
_ELIDED = "..."
_BODY_INDENT = 8
_END_INDENT = 4

Reference = Callable[[Data], tuple[str, int] | None]
"""The file name and the place by which a text refers to a constant; None for one that is written out."""


def print_program(
    module: Module,
    *,
    syntax: str | None = None,
    elide: int | None = None,
    diagnostics: Diagnostics | None = None,
    keeps_model: bool = False,
    reference: Reference | None = None,
) -> str:
    """The text of a program.

    `syntax` is the version of the text: by default 1.3 from the operation set of iOS 18 on, else 1.0. Constants inside
    the program of more than `elide` elements are left out. `found` receives what cannot be said in MIL text; without
    it, that is left out silently, for those who only look. `keeps_model` keeps the description of the model as well.
    """
    return (
        "\n".join(_Printer(module, syntax, elide, diagnostics, keeps_model, reference or stated_reference).lines())
        + "\n"
    )


def stated_reference(data: Data) -> tuple[str, int] | None:
    """The reference to a constant as it was read."""
    return (data.name, data.metadata_offset) if isinstance(data, BlobData) else None


def syntax_of(module: Module) -> str:
    """The version of the text that Apple's compiler used when the operation sets of a program were new."""
    labels = {r.blocks[0].label for op in module.body.operations if isinstance(op, Func) for r in op.specializations}
    return SCALAR_SYNTAX if labels and labels <= _SCALAR_SYNTAX_OPSETS else PLAIN_SYNTAX


class _Printer:
    def __init__(
        self,
        module: Module,
        syntax: str | None,
        elide: int | None,
        diagnostics: Diagnostics | None,
        keeps_model: bool,
        reference: Reference,
    ) -> None:
        self._module = module
        self._syntax = syntax or syntax_of(module)
        self._elide = elide
        self._found = diagnostics
        self._keeps_model = keeps_model
        self._reference = reference
        self._types: dict[Type, str] = {}

    def _refuse(self, op: Operation, reason: str) -> None:
        if self._found is not None:
            self._found.add(NOT_IN_FORMAT, f"{op.name}: {reason}", where=path_of(op))

    # -- program and functions

    def lines(self) -> Iterator[str]:
        """The lines of the text."""
        yield f"program({self._syntax})"
        attributes = self._bracketed(self._program_attributes())
        if attributes:
            yield attributes
        yield "{"
        for op in self._module.body.operations:
            if isinstance(op, Func):
                yield from self._function(op)
            else:
                self._refuse(op, "has no place in an ML Program")
        yield "}"

    def _program_attributes(self) -> Iterator[tuple[str, str]]:
        module = self._module
        yield from self._block_attributes(module)
        version = module.extra.get(PROGRAM_VERSION)
        for key, value in module.extra.items():
            if key in _NOT_OF_TEXTS:
                continue
            if key == PROGRAM_VERSION:
                if isinstance(version, IntegerAttr) and version.value != NEWEST_PROGRAM_VERSION:
                    yield self._kept(key, value)
            elif self._keeps_model or key in _ALWAYS_KEPT:
                if key in KEPT:
                    yield self._kept(key, value)
                else:
                    self._refuse(module, f"attribute '{key}' has no form in MIL text")
        if self._keeps_model and module.entry != default_entry(list(module.functions)):
            yield self._kept(ENTRY, StringAttr(module.entry))

    def _function(self, function: Func) -> Iterator[str]:
        names = FunctionNames(function, is_read=PROGRAM_VERSION in self._module.extra)
        for name, reason in output_conflicts(function).items():
            self._refuse(function, f"the output '{name}' cannot have that name: {reason}")
        opset = function.opset
        head = f"    func {name_text(function.sym_name)}<{_opset(opset)}>{self._inputs(function.inputs, names)}"
        attributes = self._bracketed(self._block_attributes(function))
        if attributes:
            head += f" {attributes}"
        regions = [r for r in function.specializations if len(r.block) or r.block.label]
        labelled = [(_label(r.block.label, opset, len(regions)), r) for r in regions]
        yield from self._blocks(head, labelled, names, 4)

    def _inputs(self, values: Iterable[Value], names: FunctionNames) -> str:
        return f"({', '.join([f'{self._type(v.type)} {name_text(names[v])}' for v in values])})"

    # -- blocks

    def _blocks(
        self, head: str, regions: Sequence[tuple[str, Region]], names: FunctionNames, indent: int
    ) -> Iterator[str]:
        """Lines that begin with a head, followed by blocks with what stands before each; a loop, not a recursion."""
        pending: list[Iterator[str | tuple[str, Sequence[tuple[str, Region]], int]]] = [
            self._block_lines(head, regions, names, indent)
        ]
        while pending:
            piece = next(pending[-1], None)
            if piece is None:
                pending.pop()
            elif isinstance(piece, str):
                yield piece
            else:
                pending.append(self._block_lines(piece[0], piece[1], names, piece[2]))

    def _block_lines(
        self, head: str, regions: Sequence[tuple[str, Region]], names: FunctionNames, indent: int
    ) -> Iterator[str | tuple[str, Sequence[tuple[str, Region]], int]]:
        text = head
        for before, region in regions:
            block = region.block
            yield f"{text}{before} {{"
            inner = " " * (indent + _BODY_INDENT)
            end = ""
            for op in block.operations:
                match op:
                    case Return():
                        attributes = self._bracketed(self._block_attributes(op))
                        end = f"({', '.join([name_text(names[v]) for v in op.values])}){attributes}"
                    case Literal() | CompoundLiteral():
                        # Written where it is used.
                        continue
                    case _ if op.name.startswith(PREFIX) and not isinstance(op, Func):
                        line = inner + self._statement(op, names)
                        if op.regions:
                            yield line, [(self._parameters(r.block, names), r) for r in op.regions], len(inner)
                        else:
                            yield f"{line};"
                    case _:
                        self._refuse(op, "is not an operation of an ML Program")
            text = f"{' ' * (indent + _END_INDENT)}}} -> {end or '()'}"
        yield f"{text};"

    def _parameters(self, block: Block, names: FunctionNames) -> str:
        return f" {self._inputs(block.arguments, names)}" if block.arguments else ""

    def _statement(self, op: Operation, names: FunctionNames) -> str:
        """A statement without its nested blocks and its semicolon."""
        form = form_of(op, names, lambda reason: self._refuse(op, reason))
        inputs: list[str] = []
        for key, values in form.inputs:
            operands = [self._operand(v, names) for v in values]
            shown = operands[0] if len(operands) == 1 else f"({', '.join(operands)})"
            inputs.append(f"{name_text(key)} = {shown}")
        attributes = [(name_text(key), self._value(value)) for key, value in form.attributes]
        results = ", ".join([f"{self._type(r.type)} {name_text(names[r])}" for r in op.results])
        call = f"{name_text(form.kind)}({', '.join(inputs)}){self._bracketed(chain(attributes, self._extras(op)))}"
        return f"{results} = {call}" if results else call

    def _operand(self, value: Value | Data, names: FunctionNames) -> str:
        if isinstance(value, Data):
            return self._value(value)
        literal = literal_of(value)
        if literal is None:
            return name_text(names[value])
        content = literal.attribute_values[0]
        return self._value(content) if isinstance(content, Data | Compound) else f"{self._type(value.type)}({_ELIDED})"

    # -- attributes

    def _bracketed(self, entries: Iterable[tuple[str, str]]) -> str:
        shown = ", ".join([f"{key} = {value}" for key, value in entries])
        return f"[{shown}]" if shown else ""

    def _block_attributes(self, op: Operation) -> Iterator[tuple[str, str]]:
        """The attributes of a program, function or end of a block."""
        stored = op.extra.get(PROGRAM_ATTRIBUTES)
        for key, attribute in stored.entries if isinstance(stored, DictionaryAttr) else ():
            try:
                yield name_text(key), self._value(constant_of(attribute))
            except ValueError as error:
                self._refuse(op, f"attribute '{key}': {error}")
        yield from self._extras(op)

    def _extras(self, op: Operation) -> Iterator[tuple[str, str]]:
        residue = op.extra.get(RESIDUE)
        if residue is not None:
            yield self._kept(RESIDUE, residue)

    def _kept(self, key: str, value: Attribute) -> tuple[str, str]:
        """An attribute that MIL text has no form for, as MLIR text in a string."""
        return quoted(key), f"{self._type(tensor(string))}({quoted(attribute_text(value, None))})"

    # -- types and constants

    def _type(self, type: Type) -> str:
        known = self._types.get(type)
        if known is None:
            missing = missing_type(type)
            if missing is not None and self._found is not None:
                self._found.add(NOT_IN_FORMAT, f"an ML Program has no type {missing}")
            tokens = type_tokens(type, scalars_as_tensors=self._syntax == SCALAR_SYNTAX)
            known = self._types[type] = "".join(tokens)
        return known

    def _value(self, value: Data | Compound) -> str:
        return f"{self._type(value.type)}({self._payload(value)})"

    def _payload(self, value: Data | Compound) -> str:
        if isinstance(value, Compound):
            return self._compound(value)
        place = self._reference(value)
        if place is not None:
            path, offset = self._type(tensor(string)), self._type(tensor(u64))
            return f"{BLOB}(path = {path}({quoted(place[0])}), offset = {offset}({place[1]}))"
        if self._elide is not None and value.count > self._elide:
            return _ELIDED
        return nested(element_texts(value), value.shape)

    def _compound(self, value: Compound) -> str:
        match value.type:
            case ListType(element=element):
                return f"[{', '.join([self._item(element, v) for v in value.values])}]"
            case TupleType(elements=elements):
                shown = [self._item(kind, v) for kind, v in zip(elements, value.values, strict=False)]
                return f"({', '.join(shown)})"
            case MapType(key=key, value=content):
                pairs = zip(value.values[::2], value.values[1::2], strict=False)
                return f"{{{', '.join([f'{{{self._item(key, k)}, {self._item(content, v)}}}' for k, v in pairs])}}}"

    def _item(self, expected: Type, value: Data | Compound) -> str:
        """A constant inside another: without its type where that is implied."""
        return self._payload(value) if is_inferable(expected, value) else self._value(value)


def _opset(label: str) -> str:
    return OPSETS.get(label) or name_text(label)


def _label(label: str, opset: str, count: int) -> str:
    """Returns the label of a function body: the operation set, where it differs from that of the function."""
    return "" if label == opset and count == 1 else f" <{_opset(label)}>"
