"""Checks that are made once for all operations of a program that are alike.

Operations are alike that differ in nothing but what values of the same types they are given. Whether one is right is
asked of a stand-in that is nowhere, on values that nothing defines: if its definition asks for more than types and
attributes, as one that looks at the operation around it or at a constant that it is given, every one is checked by
itself. So no definition has to say what its checks depend on.
"""

from __future__ import annotations

from collections.abc import Callable, Sized

from commonir.ir.open_numbers import NumberAskedError
from commonir.ir.operation import Block, Operation
from commonir.ir.rows import Kind
from commonir.ods.operation import Op

_MOST = 50_000


class AlikeChecks:
    """What is known of one program, which must not change meanwhile.

    `check` gives everything that is wrong with an operation.
    """

    __slots__ = ("_check", "_families", "_known", "_right")

    def __init__(self, check: Callable[[Op], Sized]) -> None:
        self._check = check
        self._known: dict[object, bool | None] = {}
        self._right: set[Kind] = set()
        self._families: dict[Operation, bool] = {}

    def is_right(self, op: Operation) -> bool:
        """Whether an operation is known to be right wherever it stands, but for where its operands come from."""
        key = op.likeness()
        known = self._known.get(key)
        if known is None:
            known = isinstance(op, Op) and key is not None and self._is_right_anywhere(op)
            self._keep(key, known)
        return known

    def is_known_right(self, op: Operation) -> bool:
        """As `is_right`, for who asks of all operations of a program: not of the first of its kind, which may be the
        only one, as constants are.
        """
        key = op.likeness()
        known = self._known.get(key)
        if known is not None or key is None:
            return known is True
        if key in self._known:
            return self.is_right(op)
        self._keep(key, None)
        return False

    def _keep(self, key: object, known: bool | None) -> None:
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[key] = known

    def are_right(self, block: Block) -> bool:
        """Whether the rows that a block holds are known to be right."""
        rows = block.rows
        if rows is None:
            return False
        for kind in rows.distinct:
            if kind in self._right:
                continue
            if self._is_right_family(kind) or self.is_right(kind.like):
                self._right.add(kind)
            elif not self._is_right_in(block, kind.like, ends=kind is rows.kinds[-1] and rows.kinds.count(kind) == 1):
                return False
        # Whoever made operations of them asked for more than kinds tell.
        return block.rows is not None

    def _is_right_family(self, kind: Kind) -> bool:
        """Whether a kind is known to be right as all others are that differ from it in a number."""
        family = kind.family
        if family is None:
            return False
        known = self._families.get(family)
        if known is None:
            known = self._families[family] = isinstance(family, Op) and self._is_right_anywhere(family)
        return known

    def _is_right_in(self, block: Block, like: Operation, *, ends: bool) -> bool:
        made = like.stand_in()
        made.pretend(block, ends=ends)
        return isinstance(made, Op) and _is_right(made, self._check)

    def _is_right_anywhere(self, op: Op) -> bool:
        return _is_right(op.stand_in(), self._check)


def is_right_anywhere(op: Op, check: Callable[[Op], Sized]) -> bool:
    """Whether an operation that has no regions is known to be right wherever it stands, on any values of these types
    and with any undeclared attributes; `check` gives everything that is wrong with one.
    """
    return _is_right(op.stand_in(has_extra=False), check)


def _is_right(stand_in: Op, check: Callable[[Op], Sized]) -> bool:
    try:
        return not len(check(stand_in))
    except (AttributeError, NumberAskedError):
        # It asked for something that a stand-in has not.
        return False


__all__ = ["AlikeChecks", "is_right_anywhere"]
