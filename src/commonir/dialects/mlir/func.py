"""The func dialect of MLIR: functions, calls and returns.

Lowering puts what a function does in the place of each call of it, so functions that call themselves are refused.
Source: MLIR func dialect; messages as of MLIR 22.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from commonir.base.codes import UNKNOWN_SYMBOL, WRONG_OPERAND_COUNT, WRONG_TYPE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.dialects.mlir.function_operations import FunctionOp, ReturnOp, Visibility
from commonir.ir.attributes import DictionaryAttr
from commonir.ir.module import Function, Instances, Invocation, Module, Symbol, replace_function
from commonir.ir.operation import Operation, Region, Value
from commonir.ir.symbol_suggestions import symbol_help
from commonir.ir.types import FunctionType, Type
from commonir.ods import Dialect, MlirOp, attr_types, attribute, definitions_in, operand, result, traits
from commonir.ods.traits import has_parent
from commonir.ods.type_constraints import AnyType, FunctionConstraint
from commonir.ods.type_rules import TypeRule, Typing

if TYPE_CHECKING:
    from commonir.ir.ports import NewInterface


class Func(FunctionOp, name="func.func"):
    """A function, whose operations run in order; a declaration if it has no body."""

    default_dialect = "func"

    no_inline: bool = attribute(attr_types.unit, default=False, doc="whether its body must not take the place of calls")

    def replace_interface(self, new: NewInterface) -> Function:
        from commonir.ir.interface import NO_PORT, port_attributes  # noqa: PLC0415  few programs get another interface

        block = new.body
        values = tuple([v for _, v in new.outputs])
        block.append(Return(values))
        built = Func(
            self.sym_name,
            FunctionType(tuple([a.type for a in block.arguments]), tuple([v.type for v in values])),
            Region([block]),
            tuple([name for name, _ in new.outputs]),
            self.sym_visibility,
            port_attributes([new.input_ports.get(a.name, NO_PORT) for a in block.arguments]),
            port_attributes([new.output_ports.get(name, NO_PORT) for name, _ in new.outputs]),
        )
        return replace_function(self, built)


class Return(ReturnOp, name="func.return", traits=(has_parent("func.func"),)):
    """Returns values from a function."""

    gives = "return"


def _symbol_for(user: Operation, name: str) -> Symbol | None:
    """Returns the symbol that a name refers to at its use: the nearest enclosing module that has it decides."""
    for holder in user.ancestors():
        if isinstance(holder, Module) and (result := holder.symbol(name)) is not None:
            return result
    return None


def _function_for(user: Operation, name: str) -> Func | None:
    result = _symbol_for(user, name)
    return result if isinstance(result, Func) else None


def _is_in_a_module(op: Operation) -> bool:
    return any(isinstance(holder, Module) for holder in op.ancestors())


class Call(
    MlirOp,
    Invocation,
    name="func.call",
    assembly="$callee `(` $operands `)` attr-dict `:` functional-type($operands, results)",
):
    """Calls a function by its symbol and returns its results. C1: the callee is a function. C2: operands and results
    have the types of the function.
    """

    callee_: str = attribute(attr_types.symbol, doc="the function")
    operands_: tuple[Value, ...] = operand(AnyType, variadic=True)
    arg_attrs: tuple[DictionaryAttr, ...] | None = attribute(attr_types.dictionaries, default=None)
    res_attrs: tuple[DictionaryAttr, ...] | None = attribute(attr_types.dictionaries, default=None)
    no_inline: bool = attribute(attr_types.unit, default=False)
    results_: tuple[Value, ...] = result(AnyType, variadic=True)

    @property
    def callee(self) -> Func | None:
        return _function_for(self, self.callee_)

    def called_with(self, types: Sequence[Type], instances: Instances | None = None) -> Function | None:
        del types, instances
        called = self.callee
        if called is None or called.is_declaration:
            message = f"{self.name}: '{self.callee_}' has no body that could run"
            raise DiagnosticError(Diagnostic(UNKNOWN_SYMBOL, message))
        return called

    def verify(self) -> Iterator[Diagnostic]:
        if not _is_in_a_module(self):
            return
        called = self.callee
        if called is None:
            yield _unknown_function(self, self.callee_, "does not reference a valid function")
            return
        signature = called.function_type
        if len(self.operands) != len(signature.inputs):
            message = f"{self.name}: C2: incorrect number of operands for callee '{self.callee_}', "
            message += f"expected {len(signature.inputs)}, found {len(self.operands)}"
            yield Diagnostic(WRONG_OPERAND_COUNT, message)
            return
        for n, (v, t) in enumerate(zip(self.operands, signature.inputs, strict=True)):
            if v.type is not t:
                message = f"{self.name}: C2: operand type mismatch: expected operand type '{t}', but provided"
                yield Diagnostic(WRONG_TYPE, f"{message} '{v.type}' for operand number {n}")
        if len(self.results) != len(signature.results):
            message = f"{self.name}: C2: incorrect number of results for callee '{self.callee_}', "
            message += f"expected {len(signature.results)}, found {len(self.results)}"
            yield Diagnostic(WRONG_OPERAND_COUNT, message)
            return
        for n, (v, t) in enumerate(zip(self.results, signature.results, strict=True)):
            if v.type is not t:
                message = f"{self.name}: C2: result type mismatch at index {n}: expected {t}, found {v.type}"
                yield Diagnostic(WRONG_TYPE, message)


def _unknown_function(op: Operation, name: str, what: str) -> Diagnostic:
    return Diagnostic(UNKNOWN_SYMBOL, f"{op.name}: C1: '{name}' {what}", help=symbol_help(op, name, Func))


def _signature_problems(typing: Typing) -> Iterator[str]:
    callee = typing.of("callee")
    if not isinstance(callee, FunctionType):
        return
    for what, found, expected in (
        ("operand", typing.all(["callee_operands"]), callee.inputs),
        ("result", typing.all(["results_"]), callee.results),
    ):
        if tuple(found) != expected:
            wanted, given = (", ".join(map(str, t)) for t in (expected, found))
            yield f"callee {what} types do not match: expected ({wanted}), found ({given})"


def _infer_signature(typing: Typing) -> None:
    callee = typing.of("callee")
    if isinstance(callee, FunctionType):
        typing.types.setdefault("callee_operands", callee.inputs)
        typing.types.setdefault("results_", callee.results)


CALLEE_TYPES = TypeRule(
    "CalleeTypes", "operands and results have the types of the callee", _signature_problems, _infer_signature
)


class CallIndirect(
    MlirOp,
    name="func.call_indirect",
    traits=(CALLEE_TYPES,),
    assembly="$callee `(` $callee_operands `)` attr-dict `:` type($callee)",
):
    """Calls a function value."""

    callee: Value = operand(FunctionConstraint)
    callee_operands: tuple[Value, ...] = operand(AnyType, variadic=True)
    arg_attrs: tuple[DictionaryAttr, ...] | None = attribute(attr_types.dictionaries, default=None)
    res_attrs: tuple[DictionaryAttr, ...] | None = attribute(attr_types.dictionaries, default=None)
    results_: tuple[Value, ...] = result(AnyType, variadic=True)


class Constant(
    MlirOp,
    name="func.constant",
    traits=(traits.Pure, traits.ConstantLike),
    assembly="attr-dict $value `:` type(results)",
):
    """A reference to a function by its symbol, as a value. C1: the symbol is that of a function. C2: the result has the
    type of the function.
    """

    result_name = "f"

    value: str = attribute(attr_types.symbol, doc="the function")
    result_: Value = result(AnyType)

    def verify(self) -> Iterable[Diagnostic]:
        if not _is_in_a_module(self):
            return
        result = _function_for(self, self.value)
        if result is None:
            yield _unknown_function(self, self.value, "is not a function: reference to undefined function")
        elif result.function_type is not self.result_.type:
            message = f"{self.name}: C2: reference to function with mismatched type: expected {result.function_type}"
            yield Diagnostic(WRONG_TYPE, f"{message}, found {self.result_.type}")


DIALECT = Dialect(
    "func",
    definitions_in(globals(), "func"),
    summary="Functions, calls and returns; as in MLIR.",
    rules="commonir.dialects.mlir.func_rules:RULES",
    own="commonir.ods.own_forms:NOTHING",
)

__all__ = ["DIALECT", "Call", "CallIndirect", "Constant", "Func", "Return", "Visibility"]
