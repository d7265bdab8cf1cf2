"""Prints programs for people to read: constants stand where they are used, and what only files need is left out.

Short constants are written in place of operands, as coremltools prints programs; others have their names there, and a
comment counts them. Undeclared attributes of a dialect, such as `mil.order`, are omitted. The
name of a node is its location, and `?` stands for dims that are long expressions. The text cannot be parsed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from commonir.base.lazy import lazy_pattern
from commonir.base.text import format_bytes, plural, with_short_dims
from commonir.ir.attributes import Attribute, StringAttr
from commonir.ir.constant_text import Constant
from commonir.ir.data import Data
from commonir.ir.literals import all_elements_text, quoted
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.printing import Part
from commonir.ir.value_names import OwnNames
from commonir.ods import Dialects, MlirOp, Op
from commonir.text.form_writer import is_stated
from commonir.text.printer import CustomPrinter

_MOST_ELEMENTS = 10
"""The longest constant that is written in place of operands; that of coremltools."""
_UNNAMED = "[...]"
_READABLE = lazy_pattern(r"[^\s,;=%#@^\"'(){}\[\]<>]+")
"""Names that are written as they are, as they stand in files: `/layer/Conv_output_0`, `x:0`."""


def abridged_text(root: Operation, *, elide: int | None, part: Part | None = None) -> str:
    """Returns the text of a program, or of a part of it; operations of `part` are shown also if they are constants."""
    printer = _AbridgedPrinter(Dialects(), {}, elide=elide, locations=False, names=True, part=part)
    return "\n".join(printer.lines(root)) + "\n"


def stored_contents(op: Operation) -> Data | None:
    """Returns the contents of an operation that states nothing but a constant; None for other operations, such as
    those that decompress weights.
    """
    if not isinstance(op, Op) or isinstance(op, MlirOp) or op.operands or op.regions or len(op.results) != 1:
        return None
    return op.constant_data() if sum(is_stated(op, f) for f in op.layout.attributes) == 1 else None


class _Names(OwnNames):
    """Names values, and short constants by their elements."""

    def __init__(self, shown: frozenset[Operation]) -> None:
        super().__init__()
        self._shown = shown
        self.inlined: set[Value] = set()

    def start(self, root: Operation) -> None:
        for op in root.walk():
            contents = None if op in self._shown else stored_contents(op)
            if contents is not None and contents.count <= _MOST_ELEMENTS:
                self._names[op.results[0]] = all_elements_text(contents)
                self.inlined.add(op.results[0])
            elif contents is not None and not op.results[0].name:
                self._names[op.results[0]] = _UNNAMED
        super().start(root)

    def spelled(self, name: str) -> str:
        return name if _READABLE.fullmatch(name) else super().spelled(name)


class _AbridgedPrinter(CustomPrinter):
    def __init__(self, dialects: Dialects, versions: Mapping[str, str], **options: Any) -> None:
        super().__init__(dialects, versions, **options)
        shown = frozenset[Operation]() if self.part is None else self.part.centre
        self.naming = names = _Names(shown)
        self.untyped = names.inlined
        self.is_partial = True

    def type(self, type: Constant) -> str:
        return with_short_dims(super().type(type))

    def is_expected(self, op: Operation) -> bool:  # noqa: ARG002  the text is not read, in no version
        return True

    def is_printed(self, op: Operation) -> bool:
        if self.part is not None and op in self.part.centre:
            return True
        return super().is_printed(op) and stored_contents(op) is None

    def omitted(self, block: Block) -> str:
        contents = [(op, stored_contents(op)) for op in block.operations if not self.is_printed(op)]
        constants = [data for op, data in contents if data is not None and op.results[0] not in self.untyped]
        others = sum(data is None for _, data in contents)
        size = format_bytes(sum(data.size_bytes for data in constants))
        notes = [f"{plural(len(constants), 'constant')} of {size}"] if constants else []
        return ", ".join([*notes, *([plural(others, "operation")] if others else [])])

    def undeclared(self, op: Operation) -> Mapping[str, Attribute]:
        return {k: v for k, v in op.discardable.items() if self._dialects.is_meaningful(k) and not _is_name(op, v)}

    def shown_attributes(self, op: Op, named: frozenset[str]) -> Mapping[str, Attribute]:
        # Attributes of files, such as `onnx.value_info`, may be declared.
        return {k: v for k, v in super().shown_attributes(op, named).items() if self._dialects.is_meaningful(k)}

    def location_of(self, op: Operation) -> str:
        name = op.source_name
        is_shown = name in [r.name for r in op.results] or (isinstance(op, Op) and name in op.attribute_values)
        return f" loc({quoted(name)})" if name and not is_shown else ""


def _is_name(op: Operation, value: Attribute) -> bool:
    return isinstance(value, StringAttr) and value.value == op.source_name
