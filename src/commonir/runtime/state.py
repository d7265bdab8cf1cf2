"""The contents of the states of a program between runs."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.base.codes import UNKNOWN_INPUT, WRONG_INPUT
from commonir.base.diagnostics import Diagnostic, Diagnostics
from commonir.base.suggestions import did_you_mean
from commonir.dialects.mlir.ml_program import Global
from commonir.ir.module import Module
from commonir.ir.types import TensorType

Array = NDArray[np.generic]


class State(dict[str, Array]):
    """The contents of the states of a program by name, for consecutive runs.

    A state without an entry has the initial value of the program, which is zeros for the states of Core ML. Runs
    replace arrays and never write into them; a run that fails changes nothing.

    Example:
        state = cir.State()
        for token in tokens:
            logits = cir.run(program, {"token": token}, state=state)["logits"]
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"State({', '.join(self)})"


def mutable_globals(module: Module) -> dict[str, Global]:
    """Returns the states of a lowered program by name."""
    globals_ = [op for op in module.body.operations if isinstance(op, Global) and op.is_mutable]
    return {op.sym_name: op for op in globals_}


def initial_contents(module: Module) -> dict[str, Array]:
    """Returns the initial contents of the states of a lowered program by name, without those that begin with zeros."""
    found = {name: g.data for name, g in mutable_globals(module).items() if not g.begins_with_zeros}
    return {name: data.array() for name, data in found.items() if data is not None}


def check_state(state: State, module: Module) -> None:
    """Checks contents against the states of a lowered program. Raises: DiagnosticError (E0702, E0703)."""
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
    """Yields a diagnostic if an array does not have the type of a global."""
    type = target.type
    if not isinstance(type, TensorType):
        return
    expected = dtype_of(type.element.name)
    array = np.asarray(array)
    if array.dtype != expected or (type.is_static and array.shape != type.static_shape):
        shown = f"{array.dtype} of shape {list(array.shape)}"
        yield Diagnostic(WRONG_INPUT, f"state '{target.sym_name}': expected {type}, found {shown}")
