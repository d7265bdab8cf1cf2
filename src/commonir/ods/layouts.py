"""Verifies attributes `dlti.*`, which describe the target machine.

Source: MLIR's dlti dialect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from commonir.base.codes import WRONG_ATTRIBUTE
from commonir.base.diagnostics import Diagnostic
from commonir.ir.attributes import Attribute, DataAttr, IntegerAttr, StringAttr
from commonir.ir.dlti import DltiAttr, DltiEntryAttr
from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.ir.types import DialectType, ElementType, Type, i64, index

_NAMES: Mapping[str, str] = {f"dlti.{kind}": kind for kind in ("dl_spec", "map", "target_system_spec")}
_ENTRIES = frozenset(
    f"dlti.{name}"
    for name in (
        "alloca_memory_space",
        "default_memory_space",
        "endianness",
        "function_pointer_alignment",
        "global_memory_space",
        "legal_int_widths",
        "mangling_mode",
        "program_memory_space",
        "stack_alignment",
    )
)
_WITH_POINTERS = ("llvm", "ptr")
"""Dialects of which some types have a layout."""
_MOST_ALIGNMENTS = 2


def check_layout(op: Operation, name: str, value: Attribute) -> Iterator[Diagnostic]:
    """Yields errors in a dlti attribute of an operation."""
    kind = _NAMES.get(name)
    if kind is None:
        yield _fault(op, f"attribute '{name}' not supported by dialect")
    elif not isinstance(value, DltiAttr) or value.mnemonic != kind:
        yield _fault(op, f"'{name}' is expected to be a #{name} attribute")
    elif kind == "dl_spec" and isinstance(op, Module):
        for entry in value.entries:
            for message in _of_name(entry) if isinstance(entry.key, str) else _of_type(entry, entry.key):
                yield _fault(op, message)


def _fault(op: Operation, message: str) -> Diagnostic:
    return Diagnostic(WRONG_ATTRIBUTE, f"{op.name}: {message}")


def _of_name(entry: DltiEntryAttr) -> Iterator[str]:
    key, value = str(entry.key), entry.value
    if key == "dlti.endianness" and not (isinstance(value, StringAttr) and value.value in ("big", "little")):
        yield f"'{key}' data layout entry is expected to be either 'big' or 'little'"
    elif key.startswith("dlti.") and key not in _ENTRIES:
        yield f"unknown data layout entry name: {key}"


def _of_type(entry: DltiEntryAttr, type: Type) -> Iterator[str]:
    if type is index:
        if not isinstance(entry.value, IntegerAttr):
            yield "expected integer attribute in the data layout entry for 'index'"
    elif isinstance(type, ElementType) and (type.is_integer or type.is_float):
        yield from _alignments(entry)
    elif not isinstance(type, DialectType):
        yield "unexpected data layout for a built-in type"
    elif type.dialect not in _WITH_POINTERS:
        yield "data layout specified for a type that does not support it"


def _alignments(entry: DltiEntryAttr) -> Iterator[str]:
    data = entry.value.data if isinstance(entry.value, DataAttr) else None
    if data is None or data.type.element is not i64:
        yield f"expected a dense i64 elements attribute in the data layout entry {entry}"
        return
    values = [int(v) for v in data.values()[: _MOST_ALIGNMENTS + 1]]
    if not 1 <= len(values) <= _MOST_ALIGNMENTS:
        yield f"expected 1 or 2 elements in the data layout entry {entry}"
    elif values[-1] < values[0]:
        message = "preferred alignment is expected to be greater than or equal to the abi alignment"
        yield f"{message} in data layout entry {entry}"
