"""Operations of the tosa dialect that run nested programs, keep variables between runs, or mean what only others know.

Source: MLIR tosa dialect; TOSA specification 1.0, control flow and variable operators.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from commonir.base.codes import UNKNOWN_SYMBOL, WRONG_TYPE
from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.tosa.base import AnyTosaTensor, TosaOp, TruthTensor, stated_shape
from commonir.dialects.mlir.tosa.layout import same_sizes
from commonir.ir.attributes import Attribute
from commonir.ir.data import Data
from commonir.ir.module import Module
from commonir.ir.operation import Region, Value
from commonir.ir.symbol_suggestions import symbol_help
from commonir.ir.types import ElementType, FunctionType, TensorType, Type, boolean
from commonir.ods import MlirOp, attr_types, attribute, operand, region, result
from commonir.ods.branching import Conditional
from commonir.ods.text_form import (
    Argument,
    CustomForm,
    FormReader,
    FormTask,
    FormWriter,
    Use,
    read_assignments,
    written_assignments,
)
from commonir.ods.traits import RecursiveEffects, SymbolTrait, Terminator
from commonir.ods.type_rules import element_of
from commonir.ods.variables import VariableDefinition, VariableUse


class Yield(TosaOp, name="tosa.yield", traits=(Terminator,), assembly="$inputs attr-dict `:` type($inputs)"):
    """Yields values from a region to the enclosing operation."""

    inputs: tuple[Value, ...] = operand(AnyTosaTensor, variadic=True)

    def reference(self, inputs: tuple[Value, ...]) -> core.Yield:
        return core.Yield(inputs)


def _yielded(nested: Region) -> tuple[Value, ...] | None:
    """Returns the values that a region yields; None when its terminator is not the expected one."""
    last = nested.blocks[-1].last if nested.blocks else None
    return last.operands if isinstance(last, Yield) else None


def _arguments(nested: Region) -> tuple[Value, ...]:
    return nested.blocks[0].arguments if nested.blocks else ()


def _assignments(reader: FormReader) -> tuple[list[Use], list[Use]]:
    """Reads `(%argument = %value, ...)`, perhaps nothing."""
    return read_assignments(reader) if reader.take("(") else ([], [])


def _written_assignments(writer: FormWriter, arguments: Sequence[Value], values: Sequence[Value]) -> str:
    if len(arguments) != len(values):
        writer.refuse()
    return f" {written_assignments(writer, arguments, values)}" if values else ""


def _result_types(writer: FormWriter, types: Sequence[Type]) -> str:
    return writer.type(types[0]) if len(types) == 1 else f"({writer.types(types)})"


class _IfForm:
    """`%condition (%a = %x) : type (types) -> types { } else { }`."""

    def read(self, reader: FormReader) -> FormTask:
        condition = reader.use()
        _, values = _assignments(reader)
        reader.expect(":")
        type = reader.type()
        types: list[Type] = []
        if values:
            reader.expect("(")
            types = reader.separated(reader.type, ")")
        results = reader.results() if reader.take("->") else ()
        fields: dict[str, object] = {
            "condition": reader.resolve(condition, type),
            "input_list": reader.resolve_all(values, types),
        }
        fields["then_graph"] = yield reader.region()
        fields["else_graph"] = Region()
        if reader.take("else"):
            fields["else_graph"] = yield reader.region()
        return reader.make(fields, results, reader.dictionary())

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        if not isinstance(op, CondIf):
            writer.refuse()
        values = op.input_list
        writer.write(f" {writer.value(op.condition)}")
        writer.write(_written_assignments(writer, _arguments(op.then_graph)[: len(values)], values))
        writer.write(f" : {writer.type(op.condition.type)}")
        if values:
            writer.write(f" ({writer.types([v.type for v in values])})")
        writer.write(f" -> {_result_types(writer, [r.type for r in op.results])} ")
        writer.region(op.then_graph)
        if op.else_graph.blocks:
            writer.write(" else ")
            writer.region(op.else_graph)
        writer.write(writer.dictionary())


class CondIf(MlirOp, Conditional, name="tosa.cond_if", traits=(RecursiveEffects,)):
    """Executes the first region if a condition is true, else the second, and returns what it yields. C1: the condition
    has one element. C2: both regions take the inputs and yield values of the result types.
    """

    custom_form: ClassVar[CustomForm | None] = _IfForm()

    condition: Value = operand(TruthTensor)
    input_list: tuple[Value, ...] = operand(AnyTosaTensor, variadic=True)
    then_graph: Region = region(doc="runs if the condition is true")
    else_graph: Region = region(doc="runs if the condition is false")
    output_list: tuple[Value, ...] = result(AnyTosaTensor, variadic=True)

    def infer_results(self) -> tuple[Type, ...] | None:
        result = _yielded(self.then_graph)
        return None if result is None else tuple([v.type for v in result])

    def choices(self) -> tuple[Region, Region]:
        return self.then_graph, self.else_graph

    def verify(self) -> Iterator[Diagnostic]:
        shape = stated_shape(self.condition)
        if shape is not None and any(isinstance(d, int) and d != 1 for d in shape):
            yield _violated(self, "C1: 'condition' must be a size 1 tensor")
        for what, nested in (("then_graph", self.then_graph), ("else_graph", self.else_graph)):
            yield from _check_types(self, f"C2: '{what}' arguments", _arguments(nested), self.input_list)
            yield from _check_end(self, f"C2: '{what}'", nested, self.results)

    def reference(
        self, condition: Value, input_list: tuple[Value, ...], *, then_graph: Region, else_graph: Region
    ) -> tuple[Value, ...] | core.If:
        for nested in (then_graph, else_graph):
            block = nested.block
            for argument, value in zip(block.arguments, input_list, strict=True):
                argument.replace_all_uses_with(value)
            block.arguments = ()
        new_op = core.If(core.reshape(condition, ()), then_graph, else_graph)
        return new_op.results or new_op


def _violated(op: MlirOp, message: str) -> Diagnostic:
    return Diagnostic(WRONG_TYPE, f"{op.name}: {message}")


def _check_types(op: MlirOp, what: str, actual: Sequence[Value], expected: Sequence[Value]) -> Iterator[Diagnostic]:
    if len(actual) != len(expected):
        yield _violated(op, f"{what}: require {len(expected)} values, found {len(actual)}")
        return
    for a, b in zip(actual, expected, strict=True):
        if element_of(a.type) is not element_of(b.type) or not same_sizes(stated_shape(a), stated_shape(b)):
            yield _violated(op, f"{what}: require types to match, expected {b.type}, found {a.type}")


def _check_end(op: MlirOp, what: str, nested: Region, expected: Sequence[Value]) -> Iterator[Diagnostic]:
    result = _yielded(nested)
    if result is None:
        yield _violated(op, f"{what}: must end in tosa.yield")
        return
    yield from _check_types(op, f"{what} results", result, expected)


class _WhileForm:
    """`(%a = %x) : (types) -> types { } do { }`."""

    def read(self, reader: FormReader) -> FormTask:
        names, values = _assignments(reader)
        reader.expect(":")
        type: FunctionType = reader.function_type()
        fields: dict[str, object] = {"input_list": reader.resolve_all(values, type.inputs)}
        entry = [Argument(u.name, u.at, t, {}) for u, t in zip(names, type.inputs, strict=True)]
        fields["cond_graph"] = yield reader.region(entry)
        reader.expect("do")
        fields["body_graph"] = yield reader.region()
        return reader.make(fields, type.results, reader.dictionary("attributes"))

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        if not isinstance(op, WhileLoop):
            writer.refuse()
        writer.write(_written_assignments(writer, _arguments(op.cond_graph), op.input_list))
        results = _result_types(writer, [r.type for r in op.results])
        writer.write(f" : ({writer.types([v.type for v in op.input_list])}) -> {results} ")
        writer.region(op.cond_graph, arguments=False)
        writer.write(" do ")
        writer.region(op.body_graph)
        writer.write(writer.dictionary(keyword="attributes"))


class WhileLoop(MlirOp, name="tosa.while_loop", traits=(RecursiveEffects,)):
    """While loop: runs the second region on loop-carried values while the first yields true for them.

    C1: both regions take the inputs, and the second yields values of their types, which are the result types. C2: the
    first yields one bool.
    """

    custom_form: ClassVar[CustomForm | None] = _WhileForm()

    input_list: tuple[Value, ...] = operand(AnyTosaTensor, variadic=True)
    cond_graph: Region = region(doc="returns whether there is another iteration")
    body_graph: Region = region(doc="returns the next values")
    output_list: tuple[Value, ...] = result(AnyTosaTensor, variadic=True)

    def infer_results(self) -> tuple[Type, ...] | None:
        return tuple([v.type for v in self.operands])

    def verify(self) -> Iterator[Diagnostic]:
        yield from _check_types(self, "C1: results", self.results, self.input_list)
        for what, nested in (("cond_graph", self.cond_graph), ("body_graph", self.body_graph)):
            yield from _check_types(self, f"C1: '{what}' arguments", _arguments(nested), self.input_list)
        yield from _check_end(self, "C1: 'body_graph'", self.body_graph, self.input_list)
        answer = _yielded(self.cond_graph)
        if answer is None or len(answer) != 1:
            yield _violated(self, "C2: require 'cond_graph' to yield one result")
        elif element_of(answer[0].type) is not boolean:
            yield _violated(self, f"C2: 'cond_graph' result must be a boolean tensor, got {answer[0].type}")
        else:
            shape = stated_shape(answer[0])
            if shape is not None and any(isinstance(d, int) and d != 1 for d in shape):
                yield _violated(self, f"C2: 'cond_graph' result must be a size 1 tensor, got {answer[0].type}")

    def reference(
        self, input_list: tuple[Value, ...], *, cond_graph: Region, body_graph: Region
    ) -> tuple[Value, ...] | core.While:
        block = cond_graph.block
        last = block.last
        if isinstance(last, core.Yield) and stated_shape(last.values[0]):
            scalar = core.Reshape(last.values[0], ())
            block.insert_before(last, scalar)
            last.operands = (scalar.y,)
        new_op = core.While(input_list, cond_graph, body_graph)
        return new_op.results or new_op


# -- variables


class Variable(
    MlirOp,
    VariableDefinition,
    name="tosa.variable",
    traits=(SymbolTrait,),
    assembly="$sym_name attr-dict custom<VariableOpTypeOrInitialValue>($var_shape, $type, $initial_value)",
):
    """A variable that persists between runs; a dim of -1 in its shape is dynamic."""

    sym_name: str = attribute(attr_types.symbol_name)
    var_shape: Data = attribute(attr_types.data)
    type: Type = attribute(attr_types.type_)
    initial_value: Attribute | None = attribute(attr_types.any_attribute, default=None)

    @property
    def symbol_name(self) -> str:
        return self.sym_name

    @property
    def variable_type(self) -> Type:
        if not isinstance(self.type, ElementType):
            return self.type
        shape = tuple([None if n == -1 else n for n in self.var_shape.values() if isinstance(n, int)])
        return TensorType(self.type, shape)

    @property
    def initial_contents(self) -> Attribute | None:
        return self.initial_value


class _VariableUse(MlirOp, VariableUse):
    """Reads or replaces a variable. C1: the variable is there, and of the type of the value."""

    name_: str = attribute(attr_types.symbol_name)

    @property
    def variable_name(self) -> str:
        return self.name_

    def verify(self) -> Iterator[Diagnostic]:
        holders = [a for a in self.ancestors() if isinstance(a, Module)]
        if not holders:
            return
        result = next((s for m in holders if isinstance(s := m.symbol(self.name_), Variable)), None)
        if result is None:
            message = f"{self.name}: C1: '{self.name_}' has not been declared"
            yield Diagnostic(UNKNOWN_SYMBOL, message, help=symbol_help(self, self.name_, Variable))
            return
        moved = (*self.operands, *self.results)[0]
        if not _fits(moved.type, result.variable_type):
            message = f"C1: require the type {result.variable_type} of '{self.name_}', found {moved.type}"
            yield _violated(self, message)


def _fits(type: Type, declared: Type) -> bool:
    if not isinstance(type, TensorType) or not isinstance(declared, TensorType):
        return False
    return type.element is declared.element and same_sizes(type.shape, declared.shape)


class VariableRead(_VariableUse, name="tosa.variable_read", assembly="$name attr-dict `:` type($output1)"):
    """Reads a variable. C1: the variable is declared with the type of the value."""

    output1: Value = result(AnyTosaTensor)

    @property
    def stored(self) -> Value | None:
        return None


class VariableWrite(_VariableUse, name="tosa.variable_write", assembly="$name attr-dict `,` $input1 `:` type($input1)"):
    """Writes a variable. C1: the variable is declared with the type of the value."""

    input1: Value = operand(AnyTosaTensor)

    @property
    def stored(self) -> Value | None:
        return self.input1


class Custom(MlirOp, name="tosa.custom", assembly="operands attr-dict `:` functional-type(operands, results)"):
    """An implementation-defined operator, identified by its domain and name."""

    operator_name: str = attribute(attr_types.string)
    domain_name: str = attribute(attr_types.string)
    implementation_attrs: str = attribute(attr_types.string)
    input_list: tuple[Value, ...] = operand(AnyTosaTensor, variadic=True)
    output_list: tuple[Value, ...] = result(AnyTosaTensor, variadic=True)
