"""A function of the core as a rank of ARK, operation by operation.

An operation that no rule takes is replaced by what its reference says. What cannot be expressed is collected, so that
all of it is changes at once. Inputs come first, in order, then weights as they are needed; outputs come last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from commonir.base.codes import CHANGED_IN_CONVERSION, UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import DiagnosticError, Diagnostics, InternalError
from commonir.conversions.core_to_ark.building import Place
from commonir.conversions.core_to_ark.places import MOST_AXES
from commonir.conversions.core_to_ark.work import Made, Rule, Work, held_as, shape_of
from commonir.conversions.operands import element_of, refused, sizes_of
from commonir.dialects import ark, core
from commonir.dialects.core.base import tensor_type
from commonir.ir.module import Function
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import ElementType, TensorType, boolean, u8
from commonir.notation import NotKnownError
from commonir.ods import Form, Op, operations_behind, path_of, traits
from commonir.rewrite.expand import expand
from commonir.rewrite.legalize import MAX_EXPANSIONS, ByDefinition, Mismatch


def port_type(element: ElementType) -> ElementType:
    """The type in which an input or output is given. Raises: DiagnosticError (E0601) for those that ARK lacks."""
    return u8 if element is boolean else held_as(element)


def _element_of(value: Value) -> ElementType:
    """The element type of an input or output. Raises: DiagnosticError (E0601) for what is not a tensor."""
    if not isinstance(value.type, TensorType):
        raise refused("ARK has tensors only")
    return value.type.element


class _Frame:
    """Operations still to be done, and what to do then."""

    __slots__ = ("depth", "finish", "operations", "origin")

    def __init__(
        self,
        operations: Iterator[Operation],
        origin: Operation | None = None,
        finish: Callable[[], None] | None = None,
        depth: int = 0,
    ) -> None:
        self.operations = operations
        self.origin = origin
        self.finish = finish
        self.depth = depth


class Conversion:
    """The conversion of one function; `found` receives what cannot be expressed, `changes` what is changed."""

    def __init__(
        self, function: Function, work: Work, rules: ByDefinition[Rule], found: Diagnostics, changes: Diagnostics
    ) -> None:
        self._function = function
        self._work = work
        self._builder = work.builder
        self._rules = rules
        self._found = found
        self._changes = changes
        self._failed: set[Value] = set()
        self._stands: dict[Value, Value] = {}
        # Operations that rules made stand here once they are done, so that they are not taken for new ones.
        self._done = Block()

    def rank(self) -> ark.Rank | None:
        """The rank; None where something cannot be expressed."""
        names = [*[v.name for v in self._function.inputs], *self._function.output_names]
        for name in names:
            self._builder.reserve(name)
        before = len(list(self._found))
        for value in self._function.inputs:
            self._input(value)
        frames = [_Frame(iter(list(self._function.body.operations)))]
        while frames:
            op = next(frames[-1].operations, None)
            if op is None:
                finish = frames.pop().finish
                if finish is not None:
                    finish()
            elif not isinstance(op, Op) or not op.has_trait(traits.Terminator):
                self._step(op, frames)
        for name, value in zip(self._function.output_names, self._function.outputs, strict=True):
            self._output(name, value)
        return None if len(list(self._found)) > before else self._builder.finish()

    def _input(self, value: Value) -> None:
        try:
            element, sizes = port_type(_element_of(value)), shape_of(value)
            if len(sizes) > MOST_AXES:
                raise refused(f"ARK has at most {MOST_AXES} axes, found {len(sizes)}")
        except DiagnosticError as error:
            self._refuse(f"input '{value.name}' of {value.type}", error)
            self._failed.add(value)
            return
        place = self._builder.held(value.name, element, sizes)
        self._report_type(f"input '{value.name}'", value, element)
        self._builder.name = value.name
        if value.is_used:
            self._work.put(value, self._work.cast(place, held_as(element_of(value))))

    def _report_type(self, what: str, value: Value, element: ElementType) -> None:
        kind = tensor_type(value)
        if kind.element is not element:
            message = f"the {what} changes from {kind.element} to {element}: ARK has no {kind.element}"
            self._changes.add(CHANGED_IN_CONVERSION, message)
        if kind.shape == ():
            self._changes.add(CHANGED_IN_CONVERSION, f"the {what}, one number, has the shape [1]")

    def _refuse(self, what: str, error: DiagnosticError) -> None:
        notes = [d.message for d in error.diagnostics]
        help = "fix sizes with --set-dim NAME=SIZE" if any("not fixed" in n for n in notes) else None
        message = f"{what} cannot be expressed in ark"
        self._found.add(UNSUPPORTED_CONVERSION, message, where=self._function.symbol_name, notes=notes, help=help)

    def _output(self, name: str, value: Value) -> None:
        value = self._settled(value)
        if value in self._failed:
            return
        self._builder.name = name
        try:
            element = port_type(_element_of(value))
            if len(sizes_of(value)) > MOST_AXES:
                raise refused(f"ARK has at most {MOST_AXES} axes, found {len(sizes_of(value))}")
            place = self._work.cast(self._work.place(value), element)
            whole = self._work.dense(place)
            if not any(t.maker is not None and not t.maker.definition.is_virtual for t in whole.buffer.written):
                target = self._work.fresh(element, whole.sizes)
                self._work.copy_into(whole, target)
                whole = target
        except DiagnosticError as error:
            self._refuse(f"output '{name}' of {value.type}", error)
            return
        self._report_type(f"output '{name}'", value, element)
        self._builder.output(name, whole)

    def _settled(self, value: Value) -> Value:
        while value in self._stands:
            value = self._stands[value]
        return value

    # -- operations

    def _step(self, op: Operation, frames: list[_Frame]) -> None:
        frame = frames[-1]
        if op.parent is None:
            self._done.append(op)
        op_values = [self._settled(v) for v in op.operands]
        if any(v in self._failed for v in op_values):
            self._failed.update(op.results)
            return
        if not isinstance(op, Op):
            self._report(op, [], frame)
            return
        if isinstance(op, core.Constant):
            return
        origin = frame.origin or op
        self._builder.name = origin.first_name
        current = self._on_settled(op, op_values)
        reasons: list[str] = []
        for r in self._rules.for_definition(type(op)):
            built = self._built(r, current)
            if isinstance(built, Mismatch):
                reasons.append(built.reason)
                continue
            self._place(op, current, built, frames)
            return
        if op.form is Form.COMPOSITE and not op.regions:
            expansion = expand(current, current.operands)
            self._queue(op, current, expansion.results, expansion.operations, frames)
            return
        self._report(op, reasons, frame)

    def _on_settled(self, op: Op, values: Sequence[Value]) -> Op:
        """The operation on what stands for its operands now."""
        if tuple(values) == op.operands:
            return op
        copy = op.clone_shallow(tuple(values), ())
        for built, given in zip(copy.results, op.results, strict=True):
            built.name = given.name
        return copy

    def _built(self, r: Rule, op: Op) -> Made:
        try:
            return r.build(op, self._work)
        except DiagnosticError as error:
            return Mismatch("; ".join(d.message for d in error.diagnostics))
        except NotKnownError as reason:
            return Mismatch(str(reason))

    def _place(
        self,
        op: Op,
        current: Op,
        made: Place | Value | tuple[Place | Value, ...] | None,
        frames: list[_Frame],
    ) -> None:
        """Keeps what stands for the results of an operation."""
        found = () if made is None else made if type(made) is tuple else (made,)
        values = [m for m in found if isinstance(m, Value)]
        if values:
            self._queue(op, current, values, operations_behind(values), frames)
            return
        for result, place in zip(op.results, found, strict=True):
            if isinstance(place, Place):
                self._work.put(result, place)

    def _queue(
        self, op: Op, current: Op, values: Sequence[Value], operations: Sequence[Operation], frames: list[_Frame]
    ) -> None:
        """Other operations in the place of one."""
        frame = frames[-1]
        if frame.depth == MAX_EXPANSIONS:
            raise InternalError(f"the rules for {op.name} lead back to it")

        def finish() -> None:
            for result, value in zip(op.results, values, strict=True):
                stands = self._settled(value)
                if stands in self._failed:
                    self._failed.add(result)
                elif stands is not result:
                    self._stands[result] = stands
                    self._work.tell(stands, current)

        frames.append(_Frame(iter(operations), frame.origin or op, finish, frame.depth + 1))

    def _report(self, op: Operation, reasons: Sequence[str], frame: _Frame) -> None:
        origin = frame.origin or op
        within = "" if origin is op else f" (part of {origin.name})"
        notes = list(reasons) or [f"no rule takes {op.name}, and it cannot be expanded"]
        message = f"{op.name}{within} cannot be expressed in ark"
        self._found.add(UNSUPPORTED_CONVERSION, message, where=path_of(origin), notes=notes)
        self._failed.update(op.results)


def open_sizes(function: Function) -> list[str]:
    """The sizes of inputs that are not fixed."""
    result: dict[str, None] = {}
    for value in function.inputs:
        if isinstance(value.type, TensorType) and value.type.shape is not None:
            result.update({str(n): None for n in value.type.shape if not isinstance(n, int)})
    return list(result)


__all__ = ["Conversion", "open_sizes", "port_type"]
