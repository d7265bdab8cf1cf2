"""One toolkit for machine-learning programs: opens, checks, explains, runs and converts them.

Example:
    >>> import commonir as cir
    >>> program = cir.load("examples/mobilenet.mlpackage")  # doctest: +SKIP
    >>> outputs = cir.run(program, {"image": image})  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.base.diagnostics import Diagnostic, DiagnosticError, InternalError
from commonir.base.version import __version__

if TYPE_CHECKING:
    # The names of `__all__` below, which is the one list of public names.
    from commonir.api import *

__all__ = [
    "Diagnostic",
    "DiagnosticError",
    "InternalError",
    "Module",
    "State",
    "__version__",
    "calling",
    "check",
    "compare",
    "compare_outputs",
    "convert",
    "diff",
    "dumps",
    "edit",
    "engine_options",
    "extract",
    "infer",
    "load",
    "load_dialects",
    "load_rules",
    "loads",
    "lower",
    "operations",
    "optimize",
    "prepare",
    "profile",
    "random_inputs",
    "read_image",
    "reference_page",
    "run",
    "run_steps",
    "save",
    "shapes",
    "shard",
    "show",
    "summarize",
    "verify",
    "view",
    "with_externs",
    "write_image",
]


def __getattr__(name: str) -> object:
    """Loads the surface when something of it is first used: the command line's help needs none of it."""
    if name not in __all__:
        raise AttributeError(f"module 'commonir' has no attribute '{name}'")
    from commonir import api  # noqa: PLC0415

    result = globals()[name] = getattr(api, name)  # the next time it is found without asking
    return result


def __dir__() -> list[str]:
    return __all__
