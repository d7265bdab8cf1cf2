"""Functions of the core as ranks of ARK: their inputs and outputs.

Inputs come first, in order, then weights as they are needed; outputs come last. What cannot be expressed is collected,
so that all of it is reported at once.
"""

from __future__ import annotations

from collections.abc import Callable

from commonir.base.codes import CHANGED_IN_CONVERSION, UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import DiagnosticError, Diagnostics
from commonir.conversions.core_to_ark.building import Builder
from commonir.conversions.core_to_ark.context import ArkContext, shape_of, storage_type
from commonir.conversions.core_to_ark.places import MOST_AXES
from commonir.conversions.operands import dims_of, element_of, refused
from commonir.dialects import core
from commonir.dialects.core.base import tensor_type
from commonir.dialects.mlir import ml_program
from commonir.ir.module import Function
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import ElementType, TensorType, boolean, u8
from commonir.ods import Op
from commonir.rewrite.legalize import Mismatch, Target, rule


def port_type(element: ElementType) -> ElementType:
    """The type in which an input or output is given. Raises: DiagnosticError (E0601) for those that ARK lacks."""
    return u8 if element is boolean else storage_type(element)


def _element_of(value: Value) -> ElementType:
    """The element type of an input or output. Raises: DiagnosticError (E0601) for what is not a tensor."""
    if not isinstance(value.type, TensorType):
        raise refused("ARK has tensors only")
    return value.type.element


class Ranks(ArkContext):
    """Makes ranks; `changes` receives what is changed of their inputs and outputs."""

    def __init__(
        self,
        target: Target,
        versioned: Callable[[Op], Op | Mismatch],
        diagnostics: Diagnostics,
        *,
        first_tag: int,
        changes: Diagnostics,
    ) -> None:
        super().__init__(target, versioned, diagnostics)
        self._first_tag = first_tag
        self._changes = changes
        self._function = ""

    def start(self, source: Operation, block: Block | None) -> None:
        super().start(source, block)
        if block is None or not isinstance(source, Function):
            return
        self.begin(Builder(*(core.rank_of(source) or (0, 1))))
        self.tag = self._first_tag
        self._function = source.symbol_name
        for name in (*[v.name for v in source.inputs], *source.output_names):
            self.builder.reserve(name)
        for value, argument in zip(source.inputs, block.arguments, strict=True):
            self._input(argument, is_used=value.is_used)

    def _input(self, value: Value, *, is_used: bool) -> None:
        try:
            element, shape = port_type(_element_of(value)), shape_of(value)
            if len(shape) > MOST_AXES:
                raise refused(f"ARK has at most {MOST_AXES} axes, found {len(shape)}")
        except DiagnosticError as error:
            self._refuse(f"input '{value.name}' of {value.type}", error)
            return
        place = self.builder.stored_tensor(value.name, element, shape)
        self._report_type(f"input '{value.name}'", value, element)
        self.builder.name = value.name
        if is_used:
            self.put(value, self.cast(place, storage_type(element_of(value))))

    def _report_type(self, what: str, value: Value, element: ElementType) -> None:
        type = tensor_type(value)
        if type.element is not element:
            message = f"the {what} changes from {type.element} to {element}: ARK has no {type.element}"
            self._changes.add(CHANGED_IN_CONVERSION, message)
        if type.shape == ():
            self._changes.add(CHANGED_IN_CONVERSION, f"the {what}, one number, has the shape [1]")

    def _refuse(self, what: str, error: DiagnosticError) -> None:
        notes = [d.message for d in error.diagnostics]
        help = "fix sizes with `--set-dim NAME=SIZE`" if any("not fixed" in n for n in notes) else None
        message = f"{what} cannot be expressed in ark"
        self.diagnostics.add(UNSUPPORTED_CONVERSION, message, where=self._function, notes=notes, help=help)

    def output(self, name: str, value: Value) -> None:
        """Returns a value from the rank under a name."""
        if not self.is_known(value):
            return
        self.builder.name = name
        try:
            element = port_type(_element_of(value))
            if len(dims_of(value)) > MOST_AXES:
                raise refused(f"ARK has at most {MOST_AXES} axes, found {len(dims_of(value))}")
            place = self.cast(self.place(value), element)
            whole = self.dense(place)
            if not any(t.maker is not None and not t.maker.definition.is_virtual for t in whole.buffer.written):
                target = self.fresh(element, whole.dims)
                self.copy_into(whole, target)
                whole = target
        except DiagnosticError as error:
            self._refuse(f"output '{name}' of {value.type}", error)
            return
        self._report_type(f"output '{name}'", value, element)
        self.builder.output(name, whole)


@rule(ml_program.Func)
def function(op: ml_program.Func, context: Ranks) -> Operation:
    return context.builder.finish()


@rule(ml_program.Return)
def returned(op: ml_program.Return, context: Ranks, values: tuple[Value, ...]) -> tuple[()]:
    holder = op.parent_op
    names = holder.output_names if isinstance(holder, Function) else ()
    for name, value in zip(names, values, strict=True):
        context.output(name, value)
    return ()


def dynamic_dims(function: Function) -> list[str]:
    """The dims of inputs that are not fixed."""
    result: dict[str, None] = {}
    for value in function.inputs:
        if isinstance(value.type, TensorType) and value.type.shape is not None:
            result.update({str(n): None for n in value.type.shape if not isinstance(n, int)})
    return list(result)
