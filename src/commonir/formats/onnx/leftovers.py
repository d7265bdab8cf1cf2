"""Parts of an ONNX file that its program does not need: constants that nothing uses, types of values that do not exist,
attributes without their kind, contents of tensors in a second place. Changes nothing by itself; a finding has its fix
where there is a single one.

Rules are labelled as in `verify.py`, which lists them. Source: ONNX IR specification; onnx.proto of ONNX 1.23.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from commonir.base.diagnostics import Diagnostic, Fix
from commonir.base.file_codes import MALFORMED_VALUE, QUESTIONABLE_MODEL, UNUSED_CONTENT
from commonir.base.text import listed, plural
from commonir.dialects import onnx
from commonir.formats.onnx import unknown_fields
from commonir.ir.attributes import Attribute, DictionaryAttr, StringAttr
from commonir.ir.operation import Block, Operation

_SHOWN = 5
_CONTENTS = ("float_data", "int32_data", "string_data", "int64_data", "raw_data", "double_data", "uint64_data")

Constant = onnx.Initializer | onnx.SparseInitializer


def unused_constants(block: Block, referred: Collection[str]) -> Iterator[Diagnostic]:
    """Yields a note for the initializers of a graph that nothing uses (G11); annotations use those in `referred`."""
    unused = [op for op in block.operations if isinstance(op, Constant) and not op.results[0].is_used]
    # A constant that repeats another one is reported as such.
    names = Counter(v.name for op in block.operations for v in op.results)
    unused = [op for op in unused if (name := op.results[0].name) not in referred and names[name] == 1]
    if unused:
        shown = _listed([op.results[0].name for op in unused])
        fix = Fix(f"removed {plural(len(unused), 'initializer')} that nothing uses: {shown}", partial(_erase, unused))
        yield Diagnostic(
            UNUSED_CONTENT, f"G11: nothing uses the initializer{'s' if len(unused) > 1 else ''} {shown}", fix=fix
        )


def types_of_nothing(holder: Operation, block: Block) -> Iterator[Diagnostic]:
    """Yields a note for the names whose types a graph states and that none of its values has (G12).

    `holder` keeps what the graph says beside its nodes.
    """
    stated = unknown_fields.kept_names(holder, unknown_fields.VALUE_INFO)
    if not stated:
        return
    names = {v.name for v in block.arguments} | {v.name for op in block.operations for v in op.results}
    gone = [name for name in stated if name not in names]
    if gone:
        fix = Fix(
            f"removed the types of {_listed(gone)}, which the graph does not have", partial(_forget, holder, gone)
        )
        yield Diagnostic(
            UNUSED_CONTENT, f"G12: the graph states types of values it does not have: {_listed(gone)}", fix=fix
        )


def untyped_attributes(op: Operation) -> Iterator[Diagnostic]:
    """Yields a warning for each attribute of a node whose kind the file does not state (G13)."""
    for name, words in unknown_fields.stored(op, unknown_fields.STORAGE).items():
        if isinstance(words, StringAttr) and unknown_fields.UNTYPED in words.value.split():
            fix = Fix(f"stated the kind of attribute '{name}'", partial(_state_kind, op, name))
            yield Diagnostic(QUESTIONABLE_MODEL, f"G13: attribute '{name}' does not state its kind", fix=fix)


def _listed(names: Sequence[str]) -> str:
    return listed([f"'{name}'" for name in names], _SHOWN)


def _erase(operations: Sequence[Operation]) -> None:
    for op in operations:
        if op.parent is not None and not op.results[0].is_used:
            op.erase()


def _forget(holder: Operation, names: Sequence[str]) -> None:
    gone = set(names)
    rest = [n for n in unknown_fields.kept_names(holder, unknown_fields.VALUE_INFO) or () if n not in gone]
    unknown_fields.keep_names(holder, unknown_fields.VALUE_INFO, rest)
    forms = unknown_fields.stored(holder, unknown_fields.TYPE_FORMS)
    remaining = [(key, form) for key, form in forms.items() if key.partition(" ")[2] not in gone]
    holder.set_extra(unknown_fields.TYPE_FORMS, DictionaryAttr(tuple(remaining)) if remaining else None)


def _state_kind(op: Operation, name: str) -> None:
    entries: list[tuple[str, StringAttr]] = []
    for key, words in unknown_fields.stored(op, unknown_fields.STORAGE).items():
        assert isinstance(words, StringAttr)
        rest = [w for w in words.value.split() if w != unknown_fields.UNTYPED or key != name]
        if rest:
            entries.append((key, StringAttr(" ".join(rest))))
    op.set_extra(unknown_fields.STORAGE, DictionaryAttr(tuple(entries)) if entries else None)


def second_contents(fields: Mapping[str, Attribute]) -> Iterator[Diagnostic]:
    """Yields an error for contents of a tensor beside those that are read (G14), by what is kept of its message.

    Source: `check_tensor` of onnx's checker.
    """
    for name in fields:
        if name in _CONTENTS:
            text = f"G14: the tensor has contents in '{name}' too, and readers differ in which of them they take"
            yield Diagnostic(MALFORMED_VALUE, text, help="keep one of them")


def tensors_with_second_contents(op: Operation) -> Iterator[Diagnostic]:
    """Yields the same for the tensors of a constant, or in the attributes of a node."""
    if isinstance(op, onnx.Initializer):
        yield from second_contents(unknown_fields.stored(op, unknown_fields.FIELDS))
    elif isinstance(op, onnx.SparseInitializer):
        for part in unknown_fields.stored(op, unknown_fields.FIELDS).values():
            yield from second_contents(_entries(part))
    else:
        for rest in unknown_fields.stored(op, unknown_fields.ATTRIBUTE_FIELDS).values():
            yield from second_contents(_entries(_entries(rest).get("t")))


def _entries(attribute: Attribute | None) -> Mapping[str, Attribute]:
    return dict(attribute.entries) if isinstance(attribute, DictionaryAttr) else {}
