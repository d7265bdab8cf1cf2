"""Lowers globals: each becomes a tensor in the module of the functions that use it.

A scalar becomes a tensor of rank 0, and a global of a nested module gets the names of the modules as a prefix. A
constant has the type of its contents, which may be more precise than that of the global.
"""

from __future__ import annotations

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, InternalError
from commonir.dialects.mlir.ml_program import Global, GlobalLoad, GlobalLoadConst, GlobalStore, GlobalUse, extern
from commonir.ir.attributes import Attribute, DataAttr
from commonir.ir.core_types import core_contents, core_type
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import TensorType
from commonir.ods import path_of


class LoweredGlobals:
    """The lowered globals of a module, created on first use."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._lowered: dict[Global, Global] = {}
        self._names = {*module.symbols}

    def get(self, source: Global) -> Global:
        """Returns the lowered global of a global.

        Raises: DiagnosticError (E0601) when its type cannot be lowered to core.
        """
        if source not in self._lowered:
            self._lowered[source] = _lowered(source, self._name(source))
        return self._lowered[source]

    @property
    def nested(self) -> tuple[Global, ...]:
        """Returns the lowered globals of nested modules that were used so far."""
        return tuple([built for source, built in self._lowered.items() if source.parent is not self._module.body])

    def access(self, op: GlobalUse, value: Value | None) -> GlobalLoad | GlobalLoadConst | GlobalStore:
        """Returns the load or store, if there is a value, of a lowered global that replaces another one.

        Raises: DiagnosticError (E0601) as `get`.
        """
        source = op.target
        if source is None:
            raise InternalError(f"{op.name} uses no global")
        result = self.get(source)
        if value is not None:
            return GlobalStore.to(result, value)
        return GlobalLoad.of(result) if result.is_mutable else GlobalLoadConst.of(result)

    def _name(self, source: Global) -> str:
        if source.parent is self._module.body:
            return source.sym_name
        names = [a.symbol_name for a in source.ancestors() if isinstance(a, Module) and a is not self._module]
        expected = name = ".".join([*reversed([n for n in names if n]), source.sym_name])
        number = 1
        while name in self._names:
            number += 1
            name = f"{expected}_{number}"
        self._names.add(name)
        return name


def is_lowered_global(op: Global) -> bool:
    """Returns whether a global has the form of lowered modules."""
    return core_type(op.type) is op.type and (
        op.value is None or op.is_extern or (op.data is not None and (op.is_mutable or op.data.type is op.type))
    )


def _lowered(source: Global, name: str) -> Global:
    if is_lowered_global(source) and name == source.sym_name:
        return source.clone_shallow((), ())
    type = core_type(source.type)
    value: Attribute | None = extern(type) if source.is_extern else None
    data = None if value is not None or source.value is None else core_contents(source.value)
    if not isinstance(type, TensorType) or (data is None and value is None and source.value is not None):
        message = f"global @{source.sym_name} of type {source.type} holds no tensor and no number"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, where=path_of(source)))
    if data is not None:
        value = DataAttr(data)
        type = type if source.is_mutable else data.type
    return Global(name, type, value, source.is_mutable, source.sym_visibility)
