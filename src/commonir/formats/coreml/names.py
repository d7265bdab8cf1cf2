"""Names that the format allows, and those under which a function is written.

A program read from a file keeps its names, also where nested blocks shadow names or sibling blocks repeat them. Where
names of values are not unique, as after a conversion, inputs and outputs keep theirs and every other value
gets one that is unique within the function.

Source: MIL specification, identifiers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from commonir.base.diagnostics import Diagnostic
from commonir.base.file_codes import INVALID_NAME
from commonir.dialects.mil.base import RESERVED, as_identifier
from commonir.dialects.mil.program import CompoundLiteral, Func, Literal, Return
from commonir.ir.operation import Block, Operation, Value

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_@]*")


def is_key(key: str) -> bool:
    """Returns whether attributes may have a key; keywords of MIL text are allowed."""
    return IDENTIFIER.fullmatch(key) is not None


def is_name(name: str) -> bool:
    """Returns whether functions and values may have a name."""
    return IDENTIFIER.fullmatch(name) is not None and name not in RESERVED


def bad_name(name: str, what: str, where: str = "") -> Diagnostic:
    """Returns the finding about a name or key that is not valid, of rule N1 or N2 (`verify.py`)."""
    if name in RESERVED:
        return Diagnostic(INVALID_NAME, f"N2: the {what} name '{name}' is a keyword of MIL text", where=where)
    message = f"N1: the {what} name '{name}' must be letters, digits, '_' and '@', and begin with a letter or '_'"
    return Diagnostic(INVALID_NAME, message, where=where)


class FunctionNames:
    """The names of the values of one function, and new ones on request."""

    def __init__(self, function: Func, *, is_read: bool) -> None:
        """Finds the names. `is_read`: the program comes from a file, so names that are not identifiers stay."""
        self._function = function
        self._names: dict[Value, str] = {}
        self._taken: set[str] | None = None
        self._is_read = is_read
        if not all(_has_unique_names(r.block, is_read=is_read) for r in function.specializations):
            self._assign()

    def __getitem__(self, value: Value) -> str:
        return self._names.get(value, value.name)

    def fresh(self, stem: str) -> str:
        """A name that no value of the function has."""
        if self._taken is None:
            self._taken = {v.name for r in self._function.specializations for v in _values(r.block)}
        name, n = stem, 0
        while not name or name in self._taken:
            name = f"{stem}_{n}"
            n += 1
        self._taken.add(name)
        return name

    def _assign(self) -> None:
        """Gives every value a name of its own."""
        inputs: dict[int, str] = {}
        self._taken = set()
        for region in self._function.specializations:
            for n, argument in enumerate(region.block.arguments):
                # The bodies of a function share the names of its inputs.
                self._names[argument] = inputs.setdefault(n, argument.name) or argument.name
        self._taken.update(inputs.values())
        for region in self._function.specializations:
            end = region.block.last
            for value, name in zip(end.values, end.names, strict=False) if isinstance(end, Return) else ():
                self._names.setdefault(value, name)
                self._taken.add(name)
        for region in self._function.specializations:
            for value in _values(region.block):
                if value not in self._names:
                    self._names[value] = self.fresh(self._stem(value))

    def _stem(self, value: Value) -> str:
        op = value.defining_op
        stem = value.name or ("" if op is None else op.name.partition(".")[2]) or "value"
        return stem if self._is_read else as_identifier(stem)


def _values(block: Block) -> Iterator[Value]:
    """Every value that a block defines, with those of nested blocks; literals have no names."""
    pending = [block]
    while pending:
        at = pending.pop()
        yield from at.arguments
        for op in at.operations:
            if not isinstance(op, Literal | CompoundLiteral):
                yield from op.results
            pending.extend([b for r in op.regions for b in r.blocks])


class _NameScope:
    """A block being looked at, with the operation whose results are defined after its last nested block."""

    __slots__ = ("names", "operations")

    def __init__(self, block: Block) -> None:
        self.names: dict[str, Value] = {a.name: a for a in block.arguments}
        self.operations = block.operations


def _has_unique_names(block: Block, *, is_read: bool) -> bool:
    """Whether every name in a block means the value it should, and is that of the output where it is one."""
    end = block.last
    if isinstance(end, Return) and tuple([v.name for v in end.values]) != end.names:
        return False
    if len({a.name for a in block.arguments}) != len(block.arguments):
        return False
    scopes = [_NameScope(block)]
    waiting: list[Operation] = []
    blocks: list[Iterator[Block]] = []
    while scopes:
        op = next(scopes[-1].operations, None)
        if op is not None:
            if not all(_means(v, scopes) for v in op.operands):
                return False
            waiting.append(op)
            blocks.append(b for r in op.regions for b in r.blocks)
        else:
            scopes.pop()
        if blocks:
            nested = next(blocks[-1], None)
            if nested is not None:
                if len({a.name for a in nested.arguments}) != len(nested.arguments):
                    return False
                scopes.append(_NameScope(nested))
                continue
            blocks.pop()
            if not _define(waiting.pop(), scopes[-1], is_read=is_read):
                return False
    return True


def _means(value: Value, scopes: list[_NameScope]) -> bool:
    """Whether the name of an operand leads to it."""
    if isinstance(value.owner, Literal | CompoundLiteral):
        return True
    result = next((s.names[value.name] for s in reversed(scopes) if value.name in s.names), None)
    # What nothing defines has a name that nothing has.
    return result is value if value.owner is not None else result is None


def _define(op: Operation, scope: _NameScope, *, is_read: bool) -> bool:
    if isinstance(op, Literal | CompoundLiteral):
        return True
    for value in op.results:
        name = value.name
        if is_read and not name:
            # It has none in its file either; it matters only where the value is used.
            continue
        if not name or name in scope.names or not (is_read or as_identifier(name) == name):
            return False
        scope.names[name] = value
    return True


def output_conflicts(function: Func) -> Mapping[str, str]:
    """Outputs that cannot have their names, each with the reason."""
    result: dict[str, str] = {}
    for region in function.specializations:
        end = region.block.last
        named: dict[Value, str] = {a: a.name for a in region.block.arguments}
        inputs = {a.name: a for a in region.block.arguments}
        for value, name in zip(end.values, end.names, strict=False) if isinstance(end, Return) else ():
            if inputs.get(name, value) is not value:
                result[name] = "an input has that name"
            elif named.setdefault(value, name) != name:
                result[name] = f"it is the value that is already called '{named[value]}'"
    return result
