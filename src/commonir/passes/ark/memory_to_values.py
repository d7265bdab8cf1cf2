"""Lowers ARK programs to core: memory becomes values, in one function for each rank.

Operations become their reference, applied to the contents of the views that they read; their results are written to
memory (`memory.py`). Sends and receives become `core.send` and `core.recv`; a received tensor is written where the
message lands. A program of one rank becomes an ordinary one. Source: ARK model files, memory model, execution rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.collecting import no_collection
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics, InternalError
from commonir.dialects import ark, core
from commonir.dialects.ark.views import View
from commonir.dialects.mlir import ml_program
from commonir.ir.cloning import clone
from commonir.ir.data import Data
from commonir.ir.interface import neutral_attributes
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.origins import Location
from commonir.ir.types import ElementType, FunctionType, f32
from commonir.ods import check_operation, operations_behind, path_of
from commonir.passes.ark.memory import Memory
from commonir.passes.ark.messages import Communication, Put, Take, communicate
from commonir.passes.remove_unused import remove_unused
from commonir.rewrite.expand import Expansion, append

_IGNORED_ATTRIBUTES = frozenset({"node", "op_name", "result_id", "content"})
"""Attributes that say nothing of what an operation computes."""


def memory_to_values(module: Module) -> Module:
    """Returns the program with a core function for each rank.

    Raises: DiagnosticError (E0601, those of messages, and the findings of `ods.check_operation`), with every finding.
    """
    diagnostics = Diagnostics()
    for op in module.body.operations:
        if isinstance(op, ark.Rank):
            diagnostics.extend(_misplaced(op))
    diagnostics.raise_errors()
    communication = communicate(module)
    diagnostics.extend([wrong.finding.located(where=path_of(wrong.op)) for wrong in communication.faults])
    meanings = _Meanings()
    result = Module(neutral_attributes(module), module.entry)
    with no_collection():
        for op in module.body.operations:
            if isinstance(op, ark.Rank):
                result.body.append(_Lowering(op, communication, meanings, diagnostics).function())
            else:
                result.body.append(op.clone_shallow((), ()))
    diagnostics.raise_errors()
    return result


def _misplaced(rank: ark.Rank) -> Iterator[Diagnostic]:
    """Yields errors of a program that is not from a file: tensors without buffers, and operations of other dialects."""
    if len(rank.content.blocks) != 1:
        yield Diagnostic(UNSUPPORTED_CONVERSION, f"{rank.name}: there is nothing to run", where=path_of(rank))
        return
    content = rank.views
    for op in rank.body.operations:
        if isinstance(op, ark.HoldsView):
            yield from [d.located(where=path_of(op)) for d in op.view_findings() if d.is_error]
        elif not isinstance(op, ark.ArkOp):
            message = f"a program of ARK has no place for {op.name}"
            yield Diagnostic(UNSUPPORTED_CONVERSION, message, where=path_of(op))
        else:
            for n in [n for n, v in enumerate(op.operands) if v not in content]:
                message = f"{op.name}: operand {n} does not say which part of a buffer it is"
                yield Diagnostic(UNSUPPORTED_CONVERSION, message, where=path_of(op))


class _Meaning:
    """The computation of operations of one structure: a block on its operands, and its result."""

    __slots__ = ("block", "diagnostics", "result")

    def __init__(self, op: ark.ArkOp) -> None:
        self.diagnostics = list(check_operation(op))
        self.block = Block([v.type for v in op.operands])
        self.result: Value | None = None
        if not any(d.is_error for d in self.diagnostics):
            returned = op.reference(*self.block.arguments)
            assert isinstance(returned, Value)
            (self.result,) = append(self.block, Expansion((returned,), operations_behind((returned,))))


class _Meanings:
    """The computations of operations, cached by structure."""

    def __init__(self) -> None:
        self._cache: dict[object, _Meaning] = {}

    def get(self, op: ark.ArkOp) -> _Meaning:
        """Returns the computation of an operation. Raises: DiagnosticError when it cannot be expressed."""
        declared = [op.field_value(f) for f in op.layout.attributes if f.name not in _IGNORED_ATTRIBUTES]
        # Zeros of both signs are equal, but not the same number.
        attributes = tuple([repr(v) if isinstance(v, float) else v for v in declared])
        key = (type(op), attributes, tuple([v.type for v in op.operands]))
        result = self._cache.get(key)
        if result is None:
            result = self._cache[key] = _Meaning(op)
        return result


class _Lowering:
    """The lowering of one rank."""

    def __init__(
        self, rank: ark.Rank, communication: Communication, meanings: _Meanings, diagnostics: Diagnostics
    ) -> None:
        self._rank = rank
        self._meanings = meanings
        self._diagnostics = diagnostics
        self._messages = {(m.take.op, m.take.source): m for m in communication.messages}
        self._exchanged: dict[ark.ArkOp, list[Put | Take]] = {}
        for event in communication.events.get(rank.rank, ()):
            if isinstance(event, Put | Take):
                self._exchanged.setdefault(event.op, []).append(event)
        content = rank.views
        views = {holder: holder.view for holder in dict.fromkeys(content.values())}
        self._views = {value: views[holder] for value, holder in content.items()}
        self._block = Block()
        self._memory = Memory(self._sizes_bytes(), self._place)
        self._location: Location | None = None
        self._casts: dict[tuple[Value, ElementType], Value] = {}

    def _sizes_bytes(self) -> Mapping[int, int]:
        """Returns the bytes of buffers, including those that only messages use."""
        sizes_bytes: dict[int, int] = {}
        for view in self._views.values():
            sizes_bytes[view.buffer] = max(sizes_bytes.get(view.buffer, 0), view.array_bytes)
        declared = dict(sizes_bytes)
        for op, events in self._exchanged.items():
            for message in [self._messages.get((op, e.source)) for e in events if isinstance(e, Take)]:
                if message is not None and message.landing is not None:
                    view = message.landing.view
                    self._check_landing(op, message.put, view, declared.get(view.buffer, 0))
                    sizes_bytes[view.buffer] = max(sizes_bytes.get(view.buffer, 0), view.array_bytes)
        return sizes_bytes

    def _check_landing(self, op: ark.ArkOp, put: Put, view: View, size_bytes: int) -> None:
        if view.span[1] > size_bytes:
            message = f"{op.name}: what rank {put.source} sends lands beyond the {size_bytes:,} bytes of the buffer"
            self._diagnostics.extend([Diagnostic(UNSUPPORTED_CONVERSION, message).located(where=path_of(op))])

    def function(self) -> ml_program.Func:
        """Returns the function; adds errors of operations to the diagnostics."""
        rank, block = self._rank, self._block
        self._begin()
        for op in rank.body.operations:
            self._location = Location(name=op.op_name) if isinstance(op, ark.ArkOp) and op.op_name else None
            self._operation(op)
        output_tensors = rank.outputs
        outputs = tuple([self._memory.read(self._views[v]) for v in output_tensors])
        block.append(ml_program.Return(outputs))
        remove_unused(block)
        signature = FunctionType(tuple([a.type for a in block.arguments]), tuple([v.type for v in outputs]))
        result = ml_program.Func(rank.sym_name, signature, Region([block]), rank.output_names)
        result.location = rank.location
        if rank.world_size > 1:
            core.set_rank(result, rank.rank, rank.world_size)
        return result

    def _begin(self) -> None:
        """Fills memory with inputs and known contents."""
        for value, name in self._rank.initial_names.items():
            content = _content_of(value)
            if content is None:
                initial = self._block.add_argument(value.type, name)
            else:
                initial = self._block.append(core.Constant(content)).y
                initial.name = name
            self._memory.write(self._views[value], initial)

    def _place(self, value: Value) -> None:
        for op in operations_behind((value,)):
            self._append(op)

    def _append(self, op: Operation) -> None:
        op.location = op.location or self._location
        self._block.append(op)

    def _operation(self, op: Operation) -> None:
        try:
            match op:
                case ark.HoldsView() | ark.Noop() | ark.SendDone():
                    pass
                case ark.Send() | ark.SendPacket():
                    self._send_all(op)
                case ark.Recv() | ark.RecvPacket():
                    self._receive(op)
                case ark.RecvReduceSend() | ark.RecvReduceSendPacket():
                    self._reduce(op)
                case ark.DeviceSync():
                    self._append(core.Barrier())
                    self._forward(op)
                case ark.ArkOp():
                    self._compute(op)
                case _:
                    raise InternalError(f"a program of ARK has no place for {op.name}")
        except DiagnosticError as error:
            self._diagnostics.extend([d.located(where=path_of(op)) for d in error.diagnostics])

    def _compute(self, op: ark.ArkOp) -> None:
        meaning = self._meanings.get(op)
        if meaning.result is None:
            raise DiagnosticError(*meaning.diagnostics)
        written = op.written_tensors
        values = {
            argument: self._memory.read(self._views[operand])
            for argument, operand in zip(meaning.block.arguments, op.operands, strict=True)
            if argument.is_used or argument is meaning.result
        }
        for nested in meaning.block.operations:
            self._copy(nested, values)
        self._write(written[0], values[meaning.result], op)

    def _copy(self, op: Operation, values: dict[Value, Value]) -> None:
        """Appends a copy of an operation; each cast is created once."""
        if not isinstance(op, core.Cast):
            self._append(clone(op, values))
            return
        key = (values.get(op.x, op.x), op.to)
        if key not in self._casts:
            built = clone(op, values)
            self._append(built)
            self._casts[key] = built.y
        values[op.y] = self._casts[key]

    def _write(self, target: Value, value: Value, op: ark.ArkOp) -> None:
        if not value.name and op.results:
            value.name = op.results[0].name
        self._memory.write(self._views[target], value)

    def _forward(self, op: ark.DeviceSync) -> None:
        if self._views[op.input] != self._views[op.output]:
            value = self._memory.read(self._views[op.input])
            self._write(op.output, self._as(value, self._views[op.output], op), op)

    def _send_all(self, op: ark.ArkOp) -> None:
        for event in self._exchanged.get(op, ()):
            if isinstance(event, Put):
                value = self._memory.read(self._views[event.payload])
                self._append(core.Send(value, event.destination, event.tag))

    def _receive(self, op: ark.Recv | ark.RecvPacket) -> None:
        for event in self._exchanged.get(op, ()):
            if not isinstance(event, Take):
                continue
            message = self._messages.get((op, event.source))
            landing = None if message is None else message.landing
            view = self._views[op.output] if landing is None else landing.view
            value = self._as(self._arrived(event, view), view, op)
            value.name = value.name or op.results[0].name
            self._memory.write(view, value)

    def _arrived(self, event: Take, expected: View) -> Value:
        """Returns the received value as it was sent; as the expected type where that is not known."""
        message = self._messages.get((event.op, event.source))
        type = None if message is None else core.as_tensor(message.put.payload.type)
        element, shape = (expected.element, expected.shape) if type is None else (type.element, type.static_shape)
        new_op = core.Recv(event.source, event.tag, shape, element)
        self._append(new_op)
        return new_op.y

    def _as(self, value: Value, view: View, op: ark.ArkOp) -> Value:
        """Returns a value in the shape of a view. Raises: DiagnosticError when it does not fit."""
        type = core.as_tensor(value.type)
        if type.element is not view.element or prod(type.static_shape) != prod(view.shape):
            message = f"{op.name}: what arrives is {type}, which does not fit {list(view.shape)} of {view.element}"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message))
        if type.static_shape == view.shape:
            return value
        value = core.reshape(value, view.shape)
        self._place(value)
        return value

    def _reduce(self, op: ark.RecvReduceSend | ark.RecvReduceSendPacket) -> None:
        view = self._views[op.input]
        total = self._memory.read(view)
        element = view.element
        is_half = element.is_float and element.bits < f32.bits
        if is_half:
            total = core.cast(total, f32)
        for event in self._exchanged.get(op, ()):
            if isinstance(event, Take):
                part = self._as(self._arrived(event, view), view, op)
                total = core.add(total, core.cast(part, f32) if is_half else part)
        total = core.cast(total, element) if is_half else total
        self._place(total)
        self._write(op.output, self._as(total, self._views[op.output], op), op)
        self._send_all(op)


def _content_of(value: Value) -> Data | None:
    content = value.owner
    return content.content if isinstance(content, ark.HoldsView) else None
