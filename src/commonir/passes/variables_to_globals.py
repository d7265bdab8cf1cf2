"""Replaces variables that dialects define in their own ways (`ods/variables.py`) by globals of ml_program."""

from __future__ import annotations

from commonir.dialects.mlir.function_operations import Visibility
from commonir.dialects.mlir.ml_program import Global, GlobalLoad, GlobalStore
from commonir.ir.cloning import clone
from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.ods.variables import VariableDefinition, VariableUse


def variables_to_globals(module: Module) -> Module:
    """Returns a module with globals instead of variables; the module itself if it has none."""
    if not any(isinstance(op, VariableDefinition) for op in module.nested()):
        return module
    result = clone(module)
    for op in list(result.nested()):
        if isinstance(op, VariableDefinition):
            _put_global(op)
        elif isinstance(op, VariableUse):
            _put_access(op)
    return result


def _put_global(op: VariableDefinition) -> None:
    built = Global(op.symbol_name, op.variable_type, op.initial_contents, True, Visibility.PRIVATE)
    _put(op, built)


def _put_access(op: VariableUse) -> None:
    if op.stored is not None:
        _put(op, GlobalStore.build({"global_": (op.variable_name,), "value": op.stored}, ()))
        return
    built = GlobalLoad.build({"global_": (op.variable_name,)}, [op.results[0].type])
    built.results[0].name = op.results[0].name
    op.results[0].replace_all_uses_with(built.results[0])
    _put(op, built)


def _put(op: Operation, new_op: Operation) -> None:
    new_op.location = op.location
    assert op.parent is not None
    op.parent.insert_before(op, new_op)
    op.erase()
