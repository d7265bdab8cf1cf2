"""Names in an MLIR text: values, blocks and declared operators, and the regions in which they are defined.

A value may be used before its definition, also inside of regions. Source: MLIR language reference; scoping as in
mlir-opt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from commonir.base.codes import DUPLICATE_NAME, UNDEFINED_VALUE, WRONG_OPERAND_COUNT, WRONG_TYPE
from commonir.base.suggestions import did_you_mean
from commonir.ir.operation import Block, Value
from commonir.ir.types import Type
from commonir.ods.text_form import Use
from commonir.text.lexer import TokenStream

if TYPE_CHECKING:
    from commonir.ods.declared import DeclaredOp

_MAX_SUGGESTIONS = 20
Operators: TypeAlias = "dict[str, tuple[type[DeclaredOp], ...]]"


class _NameScope:
    """The names of one region.

    `names`: the values it defines. `unresolved`: placeholders of values used before their definition, and the offsets
    of the uses. `hidden`: the operators that those it declares hide, or (). `blocks`: those it defines or names;
    `undefined_blocks`: the offsets of labels that are only used so far.
    """

    __slots__ = ("blocks", "hidden", "names", "undefined_blocks", "unresolved")

    def __init__(self) -> None:
        self.names: list[str] = []
        self.unresolved: dict[str, tuple[Value, int]] = {}
        self.hidden: Operators = {}
        self.blocks: dict[str, Block] = {}
        self.undefined_blocks: dict[str, int] = {}


class NameScopes:
    """Defines and resolves names; reports errors to the token stream."""

    def __init__(self, tokens: TokenStream) -> None:
        self._tokens = tokens
        self._scopes: list[_NameScope] = []
        self._suggestions = 0
        # Names of closed scopes that had unresolved uses.
        self._closed_names: list[str] = []
        self.values: dict[str, Value] = {}
        """The visible values by name."""
        self.operators: Operators = {}
        """The operators that the text declares, where they are visible."""

    def open(self) -> None:
        """Opens the scope of a region."""
        self._scopes.append(_NameScope())

    def close(self) -> None:
        """Closes the scope of a region: removes its names, and moves its unresolved uses to the enclosing scope."""
        scope = self._scopes.pop()
        for name, at in scope.undefined_blocks.items():
            self._tokens.report(f"reference to an undefined block '{name}'", at, UNDEFINED_VALUE)
        if scope.unresolved and self._scopes:
            self._closed_names += scope.names
            outer = self._scopes[-1].unresolved
            for name, (value, at) in scope.unresolved.items():
                if name in outer:
                    value.replace_all_uses_with(outer[name][0])
                else:
                    outer[name] = (value, at)
        elif scope.unresolved:
            for name, (_, at) in scope.unresolved.items():
                self._tokens.report(f"use of undefined value '{name}'", at, UNDEFINED_VALUE, self._nearest(name))
        for name in scope.names:
            self.values.pop(name, None)
        self.operators.update(scope.hidden)

    # -- values

    def define(self, name: str, value: Value, at: int) -> None:
        """Defines the name of a value, and replaces the placeholder of earlier uses by it."""
        if name in self.values:
            self._tokens.report(f"value '{name}' is defined twice", at, DUPLICATE_NAME)
        if not name[1].isdigit():  # numbers are not kept as names
            value.name = name[1:].partition("#")[0] or value.name
        self.values[name] = value
        scope = self._scopes[-1]
        scope.names.append(name)
        if scope.unresolved and name in scope.unresolved:
            placeholder, used = scope.unresolved.pop(name)
            if placeholder.type is not value.type:
                message = f"value '{name}' has type {value.type}, but is used as {placeholder.type}"
                self._tokens.report(message, used, WRONG_TYPE)
            placeholder.replace_all_uses_with(value)

    def define_group(self, name: str, values: Sequence[Value], at: int) -> None:
        """Defines the names of several results: `%name` is the first, `%name#n` each."""
        for n, value in enumerate(values):
            self.define(f"{name}#{n}", value, at)
            if n == 0:
                self.values[name] = value
                self._scopes[-1].names.append(name)

    def resolve(self, use: Use, type: Type | None) -> Value:
        """Returns the value of a name. A use before the definition needs `type`."""
        name, at = use
        result = self.values.get(name)
        if result is None and name.endswith("#0"):
            result = self.values.get(name[:-2])
        if result is None:
            for scope in reversed(self._scopes):
                if name in scope.unresolved:
                    result = scope.unresolved[name][0]
                    break
        if result is None:
            if type is None:
                help = self._nearest(name)
                self._tokens.fail(f"use of undefined value '{name}'", at=at, code=UNDEFINED_VALUE, help=help)
            result = Value(type)
            self._scopes[-1].unresolved[name] = (result, at)
        if type is not None and result.type is not type:
            message = f"value '{name}' has type {result.type}, but is used as {type}"
            self._tokens.report(message, at, WRONG_TYPE)
        return result

    def resolve_all(self, uses: Sequence[Use], types: Sequence[Type], at: int, holder: str = "") -> tuple[Value, ...]:
        """Returns the values of names with their types. `at` and `holder` are for a wrong number of types."""
        if len(uses) != len(types):
            message = f"{holder}{len(uses)} operands have {len(types)} types"
            self._tokens.fail(message, at=at, code=WRONG_OPERAND_COUNT)
        return tuple([self.resolve(u, t) for u, t in zip(uses, types, strict=True)])

    def _nearest(self, name: str) -> str | None:
        # A suggestion compares with all visible names, so their number is limited.
        self._suggestions += 1
        return (
            did_you_mean(name, [*self.values, *self._closed_names]) if self._suggestions <= _MAX_SUGGESTIONS else None
        )

    # -- blocks

    def block(self, label: str, at: int) -> Block:
        """Returns the block of the current region that a label names, which may be defined later."""
        scope = self._scopes[-1]
        result = scope.blocks.get(label)
        if result is None:
            result = scope.blocks[label] = Block(label=_own_label(label))
            scope.undefined_blocks[label] = at
        return result

    def define_block(self, label: str, at: int) -> Block:
        """Returns the block that starts at a label."""
        scope = self._scopes[-1]
        result = scope.blocks.get(label)
        if result is None:
            result = scope.blocks[label] = Block(label=_own_label(label))
        elif scope.undefined_blocks.pop(label, None) is None:
            self._tokens.fail(f"redefinition of block '{label}'", at=at, code=DUPLICATE_NAME)
        return result

    # -- operators

    def declare(self, operators: Mapping[str, tuple[type[DeclaredOp], ...]]) -> None:
        """Declares operators, which are visible until the current region ends."""
        for name, definitions in operators.items():
            self._scopes[-1].hidden.setdefault(name, self.operators.get(name, ()))
            self.operators[name] = definitions


def _own_label(label: str) -> str:
    """Returns the name that a block keeps of its label; "" for a label that printers choose."""
    name = label[1:]
    return "" if name.removeprefix("bb").isdecimal() else name
