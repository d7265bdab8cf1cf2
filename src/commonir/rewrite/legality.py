"""The target of a legalization: which operations are legal, illegal, or legal under a condition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from commonir.base.tuples import NamedTuple
from commonir.ir.operation import Operation
from commonir.ir.types import Type, is_collection

Predicate = Callable[[Operation], bool]
_NO_PREDICATES: Mapping[str, Predicate] = MappingProxyType({})


class Mismatch(NamedTuple):
    """A rule does not apply, and why; the reason completes `because ...`."""

    reason: str


class Target(NamedTuple):
    """The target of a legalization: a dialect and a version of it, and what is legal besides.

    `also_legal` and `illegal` are names of dialects and single operations, in any version. `dynamic` maps names of
    operations and dialects to predicates of operations; "" is for all operations that nothing else is said of. The name
    of an operation counts more than that of its dialect, and `illegal` more than the others. `name` is for messages.
    """

    dialect: str
    version: str = ""
    also_legal: frozenset[str] = frozenset()
    illegal: frozenset[str] = frozenset()
    dynamic: Mapping[str, Predicate] = _NO_PREDICATES
    name: str = ""

    def __str__(self) -> str:
        return self.name or f"{self.dialect} {self.version}".strip()

    def legality(self, op: Operation) -> bool | None:
        """Returns whether an operation is legal; None if nothing is said of it."""
        for name in (op.name, op.name.partition(".")[0]):
            if name in self.illegal:
                return False
            predicate = self.dynamic.get(name)
            if predicate is not None:
                return predicate(op)
            if name in self.also_legal or name == self.dialect:
                return True
        predicate = self.dynamic.get("")
        return None if predicate is None else predicate(op)

    def may_hold(self, name: str) -> bool:
        """Returns whether operations of a name may be legal."""
        for each in (name, name.partition(".")[0]):
            if each in self.illegal:
                return False
            if each in self.dynamic or each in self.also_legal or each == self.dialect:
                return True
        return "" in self.dynamic


def collection_help(type: Type) -> str | None:
    """Returns advice on values of a type that the target does not have; None for a tensor."""
    if not is_collection(type):
        return None
    return f"values of type {type} are converted where the program makes and reads them; pass their elements instead"
