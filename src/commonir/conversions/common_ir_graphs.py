"""Shared by conversions to Common IR, and from there to ONNX: names that are C identifiers and unique in a graph,
outputs that nodes make, and calls.

Source: Common IR specification, names within a graph, nodes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from commonir.base.codes import CHANGED_IN_CONVERSION
from commonir.base.diagnostics import Diagnostics
from commonir.dialects import common_ir, onnx
from commonir.ir.attributes import DictionaryAttr, StringAttr
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.origins import Location
from commonir.ods import Op

DEFAULT_DOMAIN = "local.model"
"""The domain of a model whose source has none."""
NAME_KEY = "commonir.name."
"""The prefix of metadata with the name that an input or output had before it became a C
identifier."""
IDENTITY_OPSET = 21
"""The version of the default operator set of a graph that needs it for nothing but identities."""

_NO_IDENTIFIER = re.compile(r"[^A-Za-z0-9_]")


def identifier(name: str) -> str:
    """A C identifier that is like a name; "" for no name."""
    plain = _NO_IDENTIFIER.sub("_", name)
    return f"_{plain}" if plain[:1].isdigit() else plain


class Names:
    """Names that are taken, of everything in one graph."""

    def __init__(self) -> None:
        self._next: dict[str, int] = {}

    def take(self, name: str) -> str:
        """A C identifier like a name that nothing has yet."""
        expected = identifier(name) or "_"
        free = expected
        while free in self._next:
            number = self._next[expected] = self._next[expected] + 1
            free = f"{expected}_{number}"
        self._next[free] = 0
        return free


def end_graph(block: Block, outputs: Mapping[str, Value]) -> bool:
    """Ends a graph with outputs that its nodes make, each for one name; whether that takes an identity."""
    uses_identity = False
    returned: list[Value] = []
    for name, output in outputs.items():
        value = output
        is_own = isinstance(value.owner, Operation) and not isinstance(value.owner, onnx.Initializer)
        if not is_own or value in returned:
            uses_identity = True
            value = block.append(onnx.Identity(value)).output
        value.name = name
        returned.append(value)
    block.append(onnx.Return(tuple(returned)))
    return uses_identity


def name_values(block: Block, names: Names) -> None:
    """Gives every value, nested graph and node that has a name one of its own; inputs and outputs have theirs."""
    last = block.last
    done = set(last.outputs) if isinstance(last, onnx.Return) else set[Value]()
    nodes = [op for top in block.operations for op in top.walk()]
    for op in nodes:
        for r in op.regions:
            for b in r.blocks:
                b.label = identifier(b.label)
                for a in b.arguments:
                    a.name = names.take(a.name or "v")
        for v in op.results:
            if v not in done and not _is_left_out(op, v):
                v.name = names.take(v.name or "v")
    for op in nodes:
        if op.location is not None and op.location.name and isinstance(op, Op) and not isinstance(op, onnx.Initializer):
            op.location = Location(name=names.take(op.location.name))


def _is_left_out(op: Operation, v: Value) -> bool:
    """Whether a result is optional and nothing asks for it."""
    is_optional = isinstance(op, Op) and any(f.optional for f in op.layout.results[v.index : v.index + 1])
    return (is_optional or onnx.UNNAMED_RESULTS in op.extra) and not v.name and not v.is_used


def put_call(old: onnx.Call | common_ir.Call, new_op: onnx.Call | common_ir.Call) -> None:
    """Puts a call in the place of another one, with its names and what its file says of it."""
    new_op.update_extra(old.extra)
    assert old.parent is not None
    old.parent.insert_before(old, new_op)
    for before, after in zip(old.results, new_op.results, strict=True):
        after.name = before.name
        before.replace_all_uses_with(after)
    old.erase()


def keep_names(module: Module, renamed: Mapping[str, str]) -> None:
    """Keeps, as metadata, what inputs and outputs were called; `renamed` has their new names by old ones."""
    before = module.extra.get(onnx.METADATA)
    texts = dict(before.entries) if isinstance(before, DictionaryAttr) else {}
    texts |= {f"{NAME_KEY}{new}": StringAttr(old) for old, new in renamed.items()}
    if texts:
        module.set_extra(onnx.METADATA, DictionaryAttr(tuple(texts.items())))


def report_renamed(renamed: Mapping[str, str], diagnostics: Diagnostics) -> None:
    """Reports changed names; `renamed` maps old names to new ones."""
    for old, new in renamed.items():
        diagnostics.add(CHANGED_IN_CONVERSION, f"'{old}' is called '{new}': names in Common IR are C identifiers")
