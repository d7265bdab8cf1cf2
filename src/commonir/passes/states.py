"""Replaces states by globals: an input of a state type becomes a mutable global that is initially zero.

States of one name and type in several functions become one global, which they share. Traits mark operations that read
and write states; this module names none of them.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.attributes import DataAttr
from commonir.ir.data import Data, DeferredData, InlineData
from commonir.ir.module import Function, Module
from commonir.ir.operation import Value
from commonir.ir.types import StateType, TensorType, Type
from commonir.ods import Op, path_of


class States:
    """The globals that replace the states of a module."""

    def __init__(self, module: Module, diagnostics: Diagnostics) -> None:
        self._used_names: Container[str] = {*module.symbols}
        self._by_type: dict[tuple[str, Type], ml_program.Global] = {}
        self._by_input: dict[Value, ml_program.Global] = {}
        functions = [op for op in module.nested() if isinstance(op, Function)] if module.modules else None
        for function in functions or module.functions.values():
            for value in function.inputs:
                if isinstance(value.type, StateType):
                    self._add(function, value, diagnostics)

    @property
    def globals(self) -> tuple[ml_program.Global, ...]:
        """All of them, in the order of the functions."""
        return tuple(self._by_type.values())

    @property
    def by_input(self) -> Mapping[Value, ml_program.Global]:
        """Returns the global for each input of a function that is a state."""
        return self._by_input

    def _add(self, function: Function, value: Value, diagnostics: Diagnostics) -> None:
        assert isinstance(value.type, StateType)
        element_type = value.type.element
        if not isinstance(element_type, TensorType) or not element_type.is_static:
            message = f"state '{value.name}' of type {value.type} has no fixed shape to start with"
            diagnostics.add(UNSUPPORTED_CONVERSION, message, where=path_of(function))
            return
        key = (value.name, element_type)
        if key not in self._by_type:
            names = {g.sym_name for g in self._by_type.values()}
            name = value.name
            if name in names or name in self._used_names:
                # States of one name but different types belong to their functions.
                name = f"{function.symbol_name}.{name}"
            built = ml_program.Global(
                name, element_type, DataAttr(_zeros(element_type)), True, ml_program.Visibility.PUBLIC
            )
            self._by_type[key] = built
        self._by_input[value] = self._by_type[key]


def _zeros(type: TensorType) -> Data:
    # Caches are large, and most uses of a program never look at what they start with.
    return DeferredData(type, lambda: InlineData(type, bytes(type.element.size_bytes(type.count))))


def load(source: ml_program.Global) -> Op:
    """Returns an operation that reads a state."""
    return ml_program.GlobalLoad.of(source)


def store(target: ml_program.Global, value: Value) -> Op:
    """Returns an operation that replaces the contents of a state.

    The shape of a state is static; a value with dynamic dims is checked when it is stored.
    """
    if value.type is not target.type and isinstance(target.type, TensorType):
        value = core.reshape(value, target.type.static_shape)
    if value.type is not target.type:
        message = f"a value of type {value.type} does not fit the state '{target.sym_name}' of type {target.type}"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message))
    return ml_program.GlobalStore.to(target, value)
