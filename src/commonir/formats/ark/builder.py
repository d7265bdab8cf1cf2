"""Programs of ARK in Python: tensors, operations and messages of several ranks.

What follows from the definitions is not asked for: numbers of nodes, tensors and buffers, edges, names that are not
given, tags of an all-reduce, shapes of results. Shapes and data types are checked where an operation is made.

Example:
    >>> from commonir.formats.ark.builder import Program
    >>> program = Program(world_size=2)
    >>> parts = [rank.op("ScalarMul", rank.tensor((64,), name="x"), Factor=0.5) for rank in program.ranks]
    >>> for rank, total in zip(program.ranks, program.all_reduce(parts)):
    ...     rank.output(total, "total")
    >>> module = program.module()
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from operator import index
from typing import TYPE_CHECKING

from commonir.base.diagnostics import Code, Diagnostic, DiagnosticError
from commonir.base.file_codes import ARK_RANGE, ARK_TENSOR, MALFORMED_ARK_SCHEMA
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.dialects import ark
from commonir.dialects.core.communication import all_reduce_steps
from commonir.formats.ark.checking import verify_program
from commonir.formats.ark.schema import arguments_of, operation_types
from commonir.ir.data import ArrayData, Data
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import TensorType
from commonir.ods import Dialects, verify
from commonir.ods.fields import Field
from commonir.passes.ark.generations import in_generation
from commonir.passes.ark.steps import (
    DATA_TYPES,
    GENERATION,
    Buffer,
    FileTensor,
    Names,
    TensorStep,
    View,
    next_tag,
    rank_of_steps,
    snake_case,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Tag = tuple[int, int]
"""A rank, and the tag of messages that are exchanged with it."""


class Tensor(NamedTuple):
    """A tensor of a program that is made: a view of a buffer, as some operation left it."""

    rank: int
    file_tensor: FileTensor

    @property
    def shape(self) -> tuple[int, ...]:
        """Its sizes."""
        return self.file_tensor.view.shape

    @property
    def type(self) -> TensorType:
        """Its data type and sizes."""
        return self.file_tensor.type


class RankProgram:
    """The operations that one rank runs, in order."""

    def __init__(self, rank: int, world_size: int) -> None:
        self.rank = rank
        self.world_size = world_size
        self._names = Names()
        self._steps: list[TensorStep] = []
        self._tags: set[int] = set()

    # -- tensors

    def tensor(
        self,
        shape: Sequence[int],
        data_type: str = "FP32",
        *,
        name: str = "",
        content: NDArray[np.generic] | None = None,
        on: int = ark.LOCAL,
        send_tags: Iterable[Tag] = (),
        recv_tags: Iterable[Tag] = (),
    ) -> Tensor:
        """A tensor that is all of a new buffer. With a `name` it is one that users address; `content` is what it holds
        at first. It lies on this rank, or stands for a buffer of the rank `on`.

        Raises: DiagnosticError (E0273 for shapes, data types and contents that a tensor cannot have).
        """
        known = {name: element for element, name in DATA_TYPES.items()}
        element = known.get(data_type)
        if element is None:
            help = did_you_mean(data_type, known) or f"data types: {', '.join(known)}"
            raise _refused(ARK_TENSOR, f"unknown data type '{data_type}'", help)
        dims = _sizes(shape) or (1,)
        for problem in ark.view_problems(dims, dims, (0,) * len(dims), dims, None, element.bits // 8):
            raise _refused(problem.code, f"'{problem.field}': {problem.message}", problem.help)
        buffer = Buffer(element, prod(dims), on)
        buffer.send_tags.update(send_tags)
        buffer.recv_tags.update(recv_tags)
        self._tags.update([tag for _, tag in (*buffer.send_tags, *buffer.recv_tags)])
        built = FileTensor(buffer, View(dims, dims, (0,) * len(dims)))
        if name or content is not None:
            data = None if content is None else _data(TensorType(element, dims), content)
            self._add(
                TensorStep(ark.VirtualTensor, {}, {"content": data}, built, self._names.reserve(name or "tensor"))
            )
        return Tensor(self.rank, built)

    def view(
        self,
        tensor: Tensor,
        shape: Sequence[int],
        *,
        offsets: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
        after: Sequence[Tensor] = (),
        name: str = "",
    ) -> Tensor:
        """Another view of the buffer of a tensor: a part of it from `offsets` on, or all of it in another shape.

        `strides` are the extents of the array that it is a part of: those of the tensor when `offsets` are given, else
        its own shape. `after` are tensors that must be there before, besides the one given.

        Raises: DiagnosticError (E0273) for a view that does not fit into the buffer.
        """
        stored, dims = tensor.file_tensor, _sizes(shape)
        starts = (0,) * len(dims) if offsets is None else tuple(offsets)
        extents = tuple(strides) if strides is not None else dims if offsets is None else stored.view.strides
        element = stored.buffer.element
        for problem in ark.view_problems(dims, extents, starts, dims, None, element.bits // 8):
            raise _refused(problem.code, f"'{problem.field}': {problem.message}", problem.help)
        if prod(extents) > stored.buffer.count:
            message = f"an array of {prod(extents):,} elements does not fit into a buffer of {stored.buffer.count:,}"
            raise _refused(ARK_TENSOR, message)
        built = FileTensor(stored.buffer, View(dims, extents, starts))
        inputs = tuple(self._own([tensor, *after]))
        self._add(
            TensorStep(ark.VirtualTensor, {"inputs": inputs}, {}, built, self._names.reserve(name) if name else "")
        )
        return Tensor(self.rank, built)

    def output(self, tensor: Tensor, name: str) -> None:
        """Names a tensor that the program gives."""
        built = FileTensor(tensor.file_tensor.buffer, tensor.file_tensor.view)
        inputs = tuple(self._own([tensor]))
        self._add(TensorStep(ark.VirtualTensor, {"inputs": inputs}, {}, built, self._names.reserve(name)))

    def _own(self, tensors: Iterable[Tensor]) -> list[FileTensor]:
        result = list(tensors)
        for other in [t.rank for t in result if t.rank != self.rank]:
            raise _refused(ARK_TENSOR, f"rank {self.rank} cannot use a tensor of rank {other}", "send it")
        return [t.file_tensor for t in result]

    def _add(self, step: TensorStep) -> None:
        if step.result is not None:
            step.result.maker = step
        self._steps.append(step)

    # -- operations

    def op(
        self,
        kind: str,
        *reads: Tensor,
        output: Tensor | Sequence[Tensor] | None = None,
        data_type: str = "",
        name: str = "",
        **arguments: object,
    ) -> Tensor:
        """An operation by its type in files, on what it reads in their order, and its arguments by name.

        `output` is what it writes, which may be one of those read; else a new tensor of the shape that follows, of
        `data_type` or of the data type of what is read last. Returns what it gives; what it reads first, if nothing.

        Raises: DiagnosticError (E0271, E0504) for operations, operands and arguments that do not fit.
        """
        known = {name: definition for name, definition in operation_types().items() if not definition.is_virtual}
        definition = known.get(kind)
        if definition is None:
            help = did_you_mean(kind, known) or "`cir ops ark` lists them; `tensor` and `view` make tensors"
            raise _refused(MALFORMED_ARK_SCHEMA, f"unknown operation type '{kind}'", help)
        declared = _stated(kind, definition, arguments)
        _check_count(kind, "read", [f for f in definition.layout.inputs if f.name not in definition.writes], reads)
        if output is None and definition.writes:
            element = data_type or DATA_TYPES[reads[-1].type.element] if reads else data_type
            output = self.tensor(_written_shape(kind, definition, reads, declared), element)
        written = () if output is None else (output,) if isinstance(output, Tensor) else tuple(output)
        _check_count(kind, "written", [f for f in definition.layout.inputs if f.name in definition.writes], written)
        operands = definition.shared(self._own(reads), self._own(written))
        _raise_errors(_draft(definition, reads, written, declared).verify())
        aliased = (*written, *reads)[0]
        result = FileTensor(aliased.file_tensor.buffer, aliased.file_tensor.view) if definition.layout.results else None
        self._add(TensorStep(definition, operands, declared, result, self._names.reserve(name or snake_case(kind))))
        return aliased if result is None else Tensor(self.rank, result)

    # -- messages

    def send(self, tensor: Tensor, to: int, tag: int) -> None:
        """Sends a tensor to another rank, and waits until it may be overwritten."""
        self._own([tensor])
        tensor.file_tensor.buffer.send_tags.add((to, tag))
        proxy = self.tensor(tensor.shape, DATA_TYPES[tensor.type.element], on=to, recv_tags=[(ark.LOCAL, tag)])
        self.op("SendDone", self.op("Send", tensor, output=proxy))

    def recv(self, shape: Sequence[int], data_type: str, source: int, tag: int) -> Tensor:
        """Waits for a tensor of another rank."""
        proxy = self.tensor(shape, data_type, on=source, send_tags=[(ark.LOCAL, tag)])
        return self.op("Recv", proxy, output=self.tensor(shape, data_type, recv_tags=[(source, tag)]))

    @property
    def tags(self) -> frozenset[int]:
        """The tags that are used."""
        return frozenset(self._tags)

    def finish(self) -> ark.Rank:
        """The rank as an operation."""
        return rank_of_steps(self._steps, self.rank, self.world_size)


class Program:
    """A program of one rank or several while it is made. Raises: DiagnosticError (E0272) for one of none."""

    def __init__(self, world_size: int = 1) -> None:
        if world_size < 1:
            raise _refused(ARK_RANGE, f"a program has one rank at least, found {world_size}")
        self.ranks = tuple([RankProgram(rank, world_size) for rank in range(world_size)])

    def all_reduce(self, parts: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """The sum of the tensors of all ranks, one for each, in the order of `core.all_reduce`: what ARK makes of it.

        Raises: DiagnosticError (E0273) for tensors that are not one of each rank, or differ in type.
        """
        if [part.rank for part in parts] != [rank.rank for rank in self.ranks]:
            raise _refused(ARK_TENSOR, "an all-reduce is of one tensor of each rank, in their order")
        if len({part.type for part in parts}) != 1:
            result = ", ".join([str(part.type) for part in parts])
            raise _refused(ARK_TENSOR, f"an all-reduce is of like tensors, found {result}")
        first = next_tag({tag for rank in self.ranks for tag in rank.tags})
        return tuple([self._reduced(rank, part, first) for rank, part in zip(self.ranks, parts, strict=True)])

    def _reduced(self, rank: RankProgram, own: Tensor, first: int) -> Tensor:
        total, data_type = rank.op("Copy", own), DATA_TYPES[own.type.element]
        for step in all_reduce_steps(rank.rank, len(self.ranks)):
            rank.send(own, step.destination, first + rank.rank)
            received = rank.recv(own.shape, data_type, step.source, first + step.source)
            total = rank.op("Add", total, received, output=total)
        return total

    def module(self, generation: str = GENERATION) -> Module:
        """The program, for files of a generation.

        Raises: DiagnosticError with everything that is wrong with it, and (E0601) what a generation cannot say.
        """
        module = Module()
        for rank in self.ranks:
            module.body.append(rank.finish())
        result = in_generation(module, generation)
        _raise_errors([*verify(result, Dialects()), *verify_program(result)])
        return result


def _sizes(shape: Sequence[int]) -> tuple[int, ...]:
    """Raises: DiagnosticError (E0273) for what are not integers."""
    try:
        return tuple([index(n) for n in shape])
    except TypeError:
        raise _refused(ARK_TENSOR, f"a shape is of integers, found {shape}") from None


def _refused(code: Code, message: str, help: str | None = None) -> DiagnosticError:
    return DiagnosticError(Diagnostic(code, message, help=help))


def _raise_errors(diagnostics: Iterable[Diagnostic]) -> None:
    errors = [d for d in diagnostics if d.is_error]
    if errors:
        raise DiagnosticError(*errors)


def _data(type: TensorType, content: NDArray[np.generic]) -> Data:
    """Raises: DiagnosticError (E0273) for an array of another shape or type."""
    from commonir.base.arrays import dtype_of  # noqa: PLC0415  loads numpy

    if content.shape != type.static_shape or content.dtype != dtype_of(str(type.element)):
        message = f"{type} cannot hold an array of shape {list(content.shape)} of {content.dtype}"
        raise _refused(ARK_TENSOR, message)
    return ArrayData(type, content)


def _stated(kind: str, definition: type[ark.ArkOp], arguments: Mapping[str, object]) -> dict[str, object]:
    """Arguments by the names of fields. Raises: DiagnosticError (E0271)."""
    expected = arguments_of(definition, GENERATION)
    for name in arguments:
        if name not in expected:
            help = did_you_mean(name, expected) or f"it has {', '.join(expected) or 'no arguments'}"
            raise _refused(MALFORMED_ARK_SCHEMA, f"'{kind}' has no argument '{name}'", help)
    out: dict[str, object] = {}
    for name, field in expected.items():
        if name not in arguments:
            raise _refused(MALFORMED_ARK_SCHEMA, f"'{kind}' must have the argument '{name}'")
        assert field.type is not None
        try:
            out[field.name] = field.type.coerce(arguments[name])
        except ValueError as error:
            raise _refused(MALFORMED_ARK_SCHEMA, f"argument '{name}' of '{kind}': {error}") from None
    return out


def _check_count(kind: str, what: str, fields: Sequence[Field], items: Sequence[Tensor]) -> None:
    """Raises: DiagnosticError (E0271) where fields and tensors are not as many."""
    least, is_variadic = sum(not f.variadic for f in fields), any(f.variadic for f in fields)
    if len(items) < least or (len(items) > least and not is_variadic):
        names = ", ".join(f.name for f in fields) or "none"
        message = (
            f"'{kind}' has {'at least ' if is_variadic else ''}{least} tensors that are {what}, found {len(items)}"
        )
        raise _refused(MALFORMED_ARK_SCHEMA, message, f"they are {names}")


def _draft(
    definition: type[ark.ArkOp], reads: Sequence[Tensor], written: Sequence[Tensor], declared: Mapping[str, object]
) -> ark.ArkOp:
    """An operation that stands nowhere, on tensors that nothing gives."""
    values = definition.shared([Value(t.type) for t in reads], [Value(t.type) for t in written])
    return definition.build({**values, **declared}, ())


def _written_shape(
    kind: str, definition: type[ark.ArkOp], reads: Sequence[Tensor], declared: Mapping[str, object]
) -> tuple[int, ...]:
    """The shape that follows for what is written. Raises: DiagnosticError."""
    if len(definition.writes) == 1 and reads:
        # What is written may be larger than what follows from what is read, but not here.
        draft = _draft(definition, reads, reads[:1], declared)
        shape = draft.written_shape
        if shape is not None:
            return shape
        _raise_errors(draft.verify())
    raise _refused(MALFORMED_ARK_SCHEMA, f"the output of '{kind}' cannot be inferred", "name a tensor by 'output'")
