"""Programs out of MIL text: a module of the mil dialect, equal to that of a package with the same program.

Syntax stops at its first fault; faults of names, types and constants are collected and reported together. Operations
are built by `formats/coreml/building.py`, without checks of their definitions: `ods.verify` does that.
Nested blocks are read in a loop, so they cost no recursion; types and constants nest only to a limit.

Limits: `Limits.max_operations`, `max_diagnostics`, and those of `constants.py`.
Nested blocks, quoted names and kept attributes are ours (docs/mil_text.md).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import NESTING_TOO_DEEP, NEWER_FORMAT
from commonir.base.limits import Limits
from commonir.base.tuples import NamedTuple
from commonir.dialects.mil.base import OPERATION_NAME
from commonir.dialects.mil.description import MAIN, MODEL_ATTRIBUTE
from commonir.dialects.mil.program import DOCUMENTATION, PROGRAM_VERSION, RESIDUE
from commonir.formats.coreml.blobs import UnusableWeightsError, WeightFiles
from commonir.formats.coreml.building import DIALECT, Bound, ProgramBuilder, Statement, keep_attributes
from commonir.formats.coreml.findings import ProtoPlace
from commonir.formats.coreml.verify import NEWEST_PROGRAM_VERSION
from commonir.formats.mil_text.constants import ConstantReader, Value
from commonir.formats.mil_text.lexer import OPSETS_BY_NAME, PLAIN_SYNTAX, SCALAR_SYNTAX, MilScanner
from commonir.ir.attributes import Attribute, IntegerAttr, StringAttr
from commonir.ir.data import Data, TextData
from commonir.ir.interface import METADATA
from commonir.ir.module import ENTRY, Module
from commonir.ir.operation import Block, Operation, Region
from commonir.ir.operation import Value as BoundValue
from commonir.ir.types import TensorType, Type, string, tensor
from commonir.ods import Dialects
from commonir.text.builtin_forms import attribute_reader
from commonir.text.lexer import TokenStream

KEPT = frozenset({DOCUMENTATION, RESIDUE, PROGRAM_VERSION, MODEL_ATTRIBUTE, METADATA, ENTRY})
"""Attributes whose constant is a string with an MLIR attribute: what MIL text has no form for."""

_TEXT = tensor(string)
_PART = re.compile(r"\.?(?:inputs|attributes)\['(.*?)'\]")
_OPERATION = re.compile(r".*\.operations\[\d+\]", re.DOTALL)
# Only the first and the last were seen.
_SYNTAXES = (SCALAR_SYNTAX, "1.1", "1.2", PLAIN_SYNTAX)


class ParsedProgram(NamedTuple):
    """A module, what is wrong with the program, and where.

    `faulty` are the places of operations with errors; `locate` adds to a finding on an operation the line it is on.
    """

    module: Module
    findings: list[Diagnostic]
    faulty: Collection[str]
    locate: Callable[[Diagnostic], Diagnostic]


def parse_program(source: str, dialects: Dialects, weights: WeightFiles, limits: Limits, file: str) -> ParsedProgram:
    """Reads a program.

    Raises: DiagnosticError (MALFORMED_MIL_TEXT and others) when the text breaks off the grammar or exceeds a limit.
    """
    parser = _Parser(source.removeprefix("\ufeff"), dialects, weights, limits, file)
    module = parser.module()
    return ParsedProgram(module, parser.findings.complete(), parser.findings.faulty, parser.locate)


def default_entry(names: Sequence[str]) -> str:
    """The function of a program that runs where the text does not say it."""
    return MAIN if MAIN in names else next(iter(names), "")


class _TextPlace(ProtoPlace):
    """A place in a text. `at` is the offset of what is being read, `keys` are the offsets of its parts by name."""

    __slots__ = ("at", "keys", "scanner")

    def __init__(self, path: str, scanner: MilScanner) -> None:
        self.path = path
        self.scanner = scanner
        self.at = scanner.start
        self.keys: dict[str, int] = {}

    def locate(self, diagnostic: Diagnostic, part: str) -> Diagnostic:
        key = _PART.match(part)
        at = self.at if key is None else self.keys.get(key[1], self.at)
        return self.scanner.about(super().locate(diagnostic, part), at)

    def notes_on(self, name: str) -> tuple[str, ...]:
        places = self.scanner.definitions.get(name, ())
        following = bisect_left(places, self.at)
        return (f"line {self.scanner.place(places[following])[0]} defines it",) if following < len(places) else ()


class _Header:
    """A statement whose nested blocks are yet to be read."""

    __slots__ = ("attributes", "bound", "kind", "place", "regions", "results")

    def __init__(self, kind: str, results: list[tuple[str, Type]], place: _TextPlace) -> None:
        self.kind = kind
        self.results = results
        self.place = place
        self.bound: Bound = []
        self.attributes = _NO_ATTRIBUTES
        self.regions: list[Region] = []


class _Frame:
    """A block being read; `owner` is the statement that it belongs to, None for the body of a function."""

    __slots__ = ("block", "count", "owner", "place")

    def __init__(self, block: Block, place: _TextPlace, owner: _Header | None) -> None:
        self.block = block
        self.place = place
        self.owner = owner
        self.count = 0


class _Attributes(NamedTuple):
    """The attributes in brackets: the explicit name, the others, all keys in order, and preserved attributes."""

    name: str | None
    values: list[tuple[str, Value | None]]
    keys: tuple[str, ...]
    preserved: list[tuple[str, Attribute]]


_NO_ATTRIBUTES = _Attributes(None, [], (), [])


class _Parser:
    def __init__(self, source: str, dialects: Dialects, weights: WeightFiles, limits: Limits, file: str) -> None:
        self._limits = limits
        self._weights = weights
        self._scanner = MilScanner(source, file)
        self._constants = ConstantReader(self._scanner, self._weight, self._report, limits)
        self._builder = ProgramBuilder(dialects, limits)
        self.findings = self._builder.findings
        self._places: dict[str, int] = {}
        # What is being read, and what of it.
        self._place = _TextPlace("program", self._scanner)
        self._part = ""

    def locate(self, diagnostic: Diagnostic) -> Diagnostic:
        """The same finding with the line of the operation that it is about."""
        place = _OPERATION.match(diagnostic.where)
        at = None if place is None else self._places.get(place[0])
        return diagnostic if at is None else self._scanner.about(diagnostic, at)

    def _weight(self, name: str, offset: int, type: TensorType) -> Data:
        return self._weights.data(name, offset, type)

    def _report(self, error: DiagnosticError, at: int) -> None:
        """Records what is wrong with a constant."""
        place = _TextPlace(str(self._place), self._scanner)
        place.at = at
        if isinstance(error, UnusableWeightsError):
            self.findings.unusable(error, place, self._part)
        else:
            self.findings.extend(error.diagnostics, place, self._part)

    # -- program and functions

    def module(self) -> Module:
        """The whole text."""
        scanner = self._scanner
        if not scanner.at("program"):
            scanner.unexpected("'program'")
        scanner.advance()
        scanner.expect("(")
        if scanner.kind == "number" and scanner.text not in _SYNTAXES:
            help = f"versions that are read: {SCALAR_SYNTAX} to {PLAIN_SYNTAX}"
            scanner.fail(f"version {scanner.text} of MIL text is not known", code=NEWER_FORMAT, help=help)
        scanner.expect_kind("number", "a version")
        scanner.expect(")")
        module = Module()
        module.set_extra(PROGRAM_VERSION, IntegerAttr(NEWEST_PROGRAM_VERSION))
        self._keep(module, self._attributes(self._place))
        scanner.expect("{")
        names: list[str] = []
        while not scanner.take("}"):
            names.append(self._function(module))
        if scanner.kind != "end":
            scanner.unexpected("the end of the text")
        entry = module.extra.get(ENTRY)
        module.set_extra(ENTRY, None)
        module.entry = entry.value if isinstance(entry, StringAttr) else default_entry(names)
        self._builder.report_repeated_functions(names)
        return module

    def _function(self, module: Module) -> str:
        scanner = self._scanner
        scanner.expect("func")
        name = scanner.name("the name of a function")
        opset = self._opset()
        place = self._place = _TextPlace(name, scanner)
        names, types = self._inputs(place)
        attributes = self._attributes(place)
        regions: list[Region] = []
        labels: list[str] = []
        while not scanner.take(";"):
            label = self._opset() if scanner.at("<") else opset
            labels.append(label)
            block = Block(types, names, label)
            self._builder.version = label
            self._body(block, f"{name}.block[{label}]")
            regions.append(Region([block]))
        if not regions:
            regions.append(Region([Block(types, names)]))
        self._builder.report_repeated(labels, "specialization", place)
        built = self._builder.function(name, opset, regions)
        self._place = place
        self._keep(built, attributes)
        module.body.append(built)
        return name

    def _opset(self) -> str:
        scanner = self._scanner
        scanner.expect("<")
        name = scanner.name("an operation set such as 'ios17'")
        scanner.expect(">")
        return OPSETS_BY_NAME.get(name, name)

    def _inputs(self, place: _TextPlace) -> tuple[list[str], list[Type]]:
        """Names and types of the inputs of a function or block."""
        scanner = self._scanner
        scanner.expect("(")
        names: list[str] = []
        types: list[Type] = []
        while not scanner.at(")"):
            types.append(self._constants.type())
            place.at = scanner.start
            names.append(scanner.name("the name of an input"))
            if not scanner.take(","):
                break
        scanner.expect(")")
        self._builder.report_repeated(names, "input", place, "inputs")
        return names, types

    # -- blocks

    def _body(self, block: Block, path: str) -> None:
        """A block with everything nested in it, from its brace to what it returns."""
        frames: list[_Frame] = []
        self._enter(frames, block, path, None)
        while frames:
            frame = frames[-1]
            if not self._scanner.take("}"):
                header = self._statement(frame)
            else:
                self._leave(frame)
                frames.pop()
                header = frame.owner
                if header is None:
                    return
                header.regions.append(Region([frame.block]))
            if self._scanner.take(";"):
                self._finish(header, frames[-1])
            else:
                self._nested(frames, header)

    def _enter(self, frames: list[_Frame], block: Block, path: str, owner: _Header | None) -> None:
        self._scanner.expect("{")
        if len(frames) > self._limits.max_nesting_depth:
            limit = self._limits.max_nesting_depth
            self._scanner.fail(f"blocks are nested deeper than the limit of {limit}", code=NESTING_TOO_DEEP)
        frames.append(_Frame(block, _TextPlace(path, self._scanner), owner))
        self._builder.enter(block)

    def _nested(self, frames: list[_Frame], header: _Header) -> None:
        """Begins the next block of a statement."""
        scanner = self._scanner
        if not scanner.at("{") and not scanner.at("("):
            scanner.unexpected("';'")
        path = f"{header.place}.block[{len(header.regions)}]"
        place = _TextPlace(path, scanner)
        names, types = self._inputs(place) if scanner.at("(") else ([], [])
        self._enter(frames, Block(types, names), path, header)

    def _leave(self, frame: _Frame) -> None:
        """Reads the results of a block, behind its closing brace."""
        scanner = self._scanner
        scanner.expect("->")
        scanner.expect("(")
        place = self._place = frame.place
        place.at = scanner.start
        names: list[str] = []
        while not scanner.at(")"):
            names.append(scanner.name("the name of a value"))
            if not scanner.take(","):
                break
        scanner.expect(")")
        end = self._builder.leave(frame.block, names, place)
        self._keep(end, self._attributes(place))

    # -- statements

    def _statement(self, frame: _Frame) -> _Header:
        """A statement up to its nested blocks, or to its semicolon."""
        scanner = self._scanner
        place = _TextPlace("", scanner)
        results: list[tuple[str, Type]] = []
        if scanner.kind not in ("word", "string"):
            scanner.unexpected("a statement or '}'")
        if scanner.following() != "(":
            while True:
                kind = self._constants.type()
                results.append((scanner.name("the name of a result"), kind))
                if not scanner.take(","):
                    break
            scanner.expect("=")
        kind_at = scanner.start
        kind = scanner.name("an operation")
        path = f"{frame.place.path}.operations[{frame.count}]"
        self._places[path] = place.at
        named = next((name for name, _ in results if name), "")
        place.path = f"{path} '{named}'" if named else f"{path} {DIALECT}.{kind}"
        place.at = kind_at
        frame.count += 1
        header = _Header(kind, results, place)
        self._place = place
        self._builder.count_operation(place)
        self._arguments(header, frame.block, path)
        place.at = scanner.start
        header.attributes = self._attributes(place)
        place.at = kind_at
        return header

    def _arguments(self, header: _Header, block: Block, path: str) -> None:
        scanner = self._scanner
        place = header.place
        offsets: dict[str, int] = {}
        scanner.expect("(")
        while not scanner.at(")"):
            at = scanner.start
            key = scanner.name("the name of a parameter")
            offsets[key] = at
            scanner.expect("=")
            self._part = f".inputs['{key}']"
            values: list[BoundValue] = []
            if scanner.take("("):
                while not scanner.at(")"):
                    values.append(self._operand(place, block, path))
                    if not scanner.take(","):
                        break
                scanner.expect(")")
            else:
                values.append(self._operand(place, block, path))
            header.bound.append((key, values))
            if not scanner.take(","):
                break
        scanner.expect(")")
        # Only now: while operands are read, each is at fault itself.
        place.keys = offsets

    def _operand(self, place: _TextPlace, block: Block, path: str) -> BoundValue:
        scanner = self._scanner
        place.at = scanner.start
        if scanner.is_type:
            kind, value = self._constants.value()
            return self._builder.literal(value, kind if value is None else value.type, block, path)
        if scanner.kind not in ("word", "string"):
            scanner.unexpected("the name of a value, or a constant with its type, such as fp32(1)")
        name = scanner.name("the name of a value")
        return self._builder.named(name, place, self._part)

    def _finish(self, header: _Header, frame: _Frame) -> None:
        """Makes the operation of a statement that is read to its end."""
        parsed = header.attributes
        attributes = self._builder.attribute_list(parsed.values, header.place)
        statement = Statement(
            header.kind, header.bound, parsed.name, attributes, parsed.keys, header.regions, header.results
        )
        op = self._builder.operation(statement, header.place, frame.block)
        for key, preserved in parsed.preserved:
            op.set_extra(key, preserved)

    # -- attributes

    def _attributes(self, place: _TextPlace) -> _Attributes:
        scanner = self._scanner
        if not scanner.take("["):
            return _NO_ATTRIBUTES
        name: str | None = None
        values: list[tuple[str, Value | None]] = []
        keys: list[str] = []
        preserved: list[tuple[str, Attribute]] = []
        while not scanner.at("]"):
            at = scanner.start
            is_quoted = scanner.kind == "string"
            key = scanner.name("the name of an attribute")
            scanner.expect("=")
            if is_quoted and key in KEPT:
                preserved.append((key, self._kept_attribute()))
            else:
                place.keys[key] = at
                keys.append(key)
                self._part = f".attributes['{key}']"
                value = self._typed_value()
                text = _plain_text(value)
                if key == OPERATION_NAME and name is None and text is not None:
                    name = text
                else:
                    values.append((key, value))
            if not scanner.take(","):
                break
        scanner.expect("]")
        return _Attributes(name, values, tuple(keys), preserved)

    def _typed_value(self) -> Value | None:
        if not self._scanner.is_type:
            self._scanner.unexpected('a constant with its type, such as string("...")')
        return self._constants.value()[1]

    def _kept_attribute(self) -> Attribute:
        """An attribute in MLIR's text form, inside a string."""
        scanner = self._scanner
        at = scanner.start
        text = _plain_text(self._typed_value())
        if text is None:
            scanner.fail("expected a string with an MLIR attribute", at=at)
        try:
            tokens = TokenStream(text, scanner.file, self._limits)
            result = attribute_reader(tokens).attribute()
            if tokens.kind != "end":
                tokens.unexpected("the end of the attribute")
            return result
        except DiagnosticError as error:
            scanner.fail(f"the string holds no MLIR attribute: {error.diagnostics[0].message}", at=at)

    def _keep(self, op: Operation, attributes: _Attributes) -> None:
        """Keeps the attributes of the program, of a function, or of the end of a block."""
        values = list(attributes.values)
        if attributes.name is not None:
            values.insert(attributes.keys.index(OPERATION_NAME), (OPERATION_NAME, TextData(_TEXT, (attributes.name,))))
        keep_attributes(op, self._builder.attribute_list(values, self._place))
        for key, preserved in attributes.preserved:
            op.set_extra(key, preserved)


def _plain_text(value: Value | None) -> str | None:
    """The text that a constant is, None for another."""
    return str(value.values()[0]) if isinstance(value, TextData) and value.shape == () else None
