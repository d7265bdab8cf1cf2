"""The forms of references: the ways in which a definition specifies the meaning of an operation."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum


class Form(Enum):
    """The form of the reference of a definition."""

    COMPOSITE = "composite"
    KERNEL = "kernel"
    ALGORITHM = "algorithm"
    STRUCTURAL = "structural"


def form_of(reference: Callable[..., object]) -> Form:
    """Returns the form of a reference by its return annotation, because it must be known before the call.

    Raises: TypeError without one.
    """
    if "return" not in reference.__annotations__:
        name = getattr(reference, "__qualname__", "reference")
        expected = "`Value` for operations, `Expr` for index notation, `Array` for an algorithm on arrays"
        raise TypeError(f"{name}: annotate what it returns, which says how it defines the operation: {expected}")
    returns = str(reference.__annotations__["return"])
    if "Kernel" in returns or "Expr" in returns:
        return Form.KERNEL
    if "Array" in returns:
        return Form.ALGORITHM
    return Form.COMPOSITE
