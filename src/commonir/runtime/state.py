"""What the states of a program hold between runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from commonir.base.codes import UNKNOWN_INPUT, WRONG_INPUT
from commonir.base.diagnostics import Diagnostic, Diagnostics
from commonir.base.suggestions import did_you_mean
from commonir.ir.module import Module
from commonir.ir.types import TensorType

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from commonir.dialects.mlir.ml_program import Global

    Array = NDArray[np.generic]


class State(dict[str, "Array"]):
    """The contents of the states of a program by name, for runs that continue each other.

    An empty one stands for the start: a state that it does not name holds what the program says, which is zeros for
    the states of Core ML. Runs replace arrays and never write into them; a run that fails leaves all as it was.

    Example:
        >>> state = cir.State()  # doctest: +SKIP
        >>> for token in tokens:  # doctest: +SKIP
        ...     logits = cir.run(program, {"token": token}, state=state)["logits"]
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"State({', '.join(self)})"


def mutable_globals(module: Module) -> dict[str, Global]:
    """Returns the states of a lowered program by name."""
    # Everybody knows `State`, and few run something.
    from commonir.dialects.mlir.ml_program import Global  # noqa: PLC0415

    found = [op for op in module.body.operations if isinstance(op, Global) and op.is_mutable]
    return {op.sym_name: op for op in found}


def check_state(state: State, module: Module) -> None:
    """Raises: DiagnosticError (E0702, E0703) for contents that no state of a lowered program can have."""
    known = mutable_globals(module)
    diagnostics = Diagnostics()
    for name, array in state.items():
        if name not in known:
            help = did_you_mean(name, known) or f"the states are {', '.join(known) or 'none'}"
            diagnostics.add(UNKNOWN_INPUT, f"the program has no state '{name}'", help=help)
        else:
            diagnostics.extend(misfit(known[name], array))
    diagnostics.raise_errors()


def misfit(target: Global, array: Array) -> Iterable[Diagnostic]:
    """Yields what is wrong with an array as the contents of a global."""
    # Loads numpy, which only running needs.
    import numpy as np  # noqa: PLC0415

    from commonir.base.arrays import dtype_of  # noqa: PLC0415

    kind = target.type
    if not isinstance(kind, TensorType):
        return
    wanted = dtype_of(kind.element.name)
    array = np.asarray(array)
    if array.dtype != wanted or (kind.is_static and array.shape != kind.static_shape):
        shown = f"{array.dtype} of shape {list(array.shape)}"
        yield Diagnostic(WRONG_INPUT, f"state '{target.sym_name}': expected {kind}, found {shown}")
