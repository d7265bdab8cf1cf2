"""The core as dialects name it in what their operations mean: loaded when a meaning is asked for.

Most programs are read, checked and printed, and few are run: no dialect loads the core when it is itself loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from commonir.base.lazy import LazyModule

if TYPE_CHECKING:
    from commonir.dialects import core
    from commonir.dialects.core import complex_numbers, integers, lifting, real_functions, special_functions
else:
    core = LazyModule("commonir.dialects.core")
    complex_numbers = LazyModule("commonir.dialects.core.complex_numbers")
    integers = LazyModule("commonir.dialects.core.integers")
    lifting = LazyModule("commonir.dialects.core.lifting")
    real_functions = LazyModule("commonir.dialects.core.real_functions")
    special_functions = LazyModule("commonir.dialects.core.special_functions")

P = ParamSpec("P")
Part = TypeVar("Part")
Result = TypeVar("Result")


def made_of(make: Callable[[Part], Callable[P, Result]], part: Part) -> Callable[P, Result]:
    """Returns a function that `make` builds from `part` when it is called."""

    def made(*args: P.args, **named: P.kwargs) -> Result:
        return make(part)(*args, **named)

    return made


__all__ = ["complex_numbers", "core", "integers", "lifting", "made_of", "real_functions", "special_functions"]
