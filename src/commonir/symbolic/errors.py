"""Errors of definitions whose dims do not fit, or are not known yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from commonir.symbolic.dims import Dim

Relation = Literal["==", "!=", "<=", "<", ">=", ">"]


class NotationError(ValueError):
    """A kernel that has no meaning: shapes that do not fit, element types that do not agree, an index without a range.

    `lhs`, `relation`, `rhs`, `why` and `label` describe the violated fact, when it is one about dimensions.
    """

    def __init__(
        self,
        message: str,
        *,
        lhs: Dim | None = None,
        relation: Relation | None = None,
        rhs: Dim | None = None,
        why: str = "",
        label: str | None = None,
    ) -> None:
        super().__init__(message)
        self.lhs = lhs
        self.relation: Relation | None = relation
        self.rhs = rhs
        self.why = why
        self.label = label


class OutOfRangeError(NotationError):
    """A number is not a value of the element type that a definition or a conversion gives it."""

    def __init__(self, number: complex | str, element: object, *, label: str | None = None) -> None:
        super().__init__(f"{number!r} is not a value of {element}", label=label)
        self.number = number


class NotKnownError(NotationError):
    """A rank, dim or element that a definition needs is known only when the program runs.

    The program is valid: engines compute the meaning of such an operation when execution reaches it.
    """
