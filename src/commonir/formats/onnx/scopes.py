"""The values that names of a graph stand for, those of the graphs around it included."""

from __future__ import annotations

from collections.abc import Mapping

from commonir.ir.operation import Value
from commonir.ir.types import Type, unknown


class NameScope:
    """The names of one graph. `declared` are the types that the file declares for its values.

    A name that is used before its definition gets a placeholder value, so that the verifier can report it.
    """

    __slots__ = ("_forward", "_outer", "declared", "values")

    def __init__(self, declared: Mapping[str, Type], outer: NameScope | None = None) -> None:
        self.declared = declared
        self.values: dict[str, Value] = {}
        self._outer = outer
        self._forward: dict[str, Value] = {}

    def value(self, name: str) -> Value:
        """The value that a name stands for here."""
        scope: NameScope | None = self
        while scope is not None:
            result = scope.values.get(name)
            if result is not None:
                return result
            scope = scope._outer
        result = self._forward.get(name)
        if result is None:
            result = self._forward[name] = Value(self.declared.get(name, unknown), None, 0, name)
        return result

    def hides(self, name: str) -> bool:
        """Returns whether a name stands for a value of a graph around this one, which a definition here hides."""
        scope = self._outer
        while scope is not None:
            if name in scope.values:
                return True
            scope = scope._outer
        return False

    def leave(self) -> None:
        """Passes undefined names at the end of a graph to the enclosing graph, which may define them later."""
        if self._outer is None:
            return
        for name, value in self._forward.items():
            same = self._outer._forward.setdefault(name, value)
            if same is not value:
                value.replace_all_uses_with(same)

    def define(self, name: str, value: Value) -> bool:
        """Makes a name stand for a value from here on; False when it stood for one of this graph."""
        is_new = name not in self.values
        self.values[name] = value
        if self._forward:
            before = self._forward.pop(name, None)
            if before is not None:
                before.replace_all_uses_with(value)
        return is_new
