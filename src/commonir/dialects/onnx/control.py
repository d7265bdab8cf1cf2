"""ONNX operators that run nested graphs.

Source: ONNX operator reference, default domain, versions 1 to 25.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat

from commonir.base.codes import MALFORMED_REGION, UNTRUSTED_SHAPE, WRONG_TYPE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.text import plural
from commonir.dialects import core
from commonir.dialects.onnx.base import (
    ANY_1,
    OnnxOp,
    anything,
    axis_from_start,
    rank_of,
)
from commonir.dialects.onnx.program import check_graph, returned
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import ListType, OptionalType, TensorType, Type, boolean, i64, tensor, unknown
from commonir.notation import NotationError
from commonir.ods import (
    any_type,
    are_compatible,
    attr_types,
    attribute,
    differ_in_shape,
    known_dims,
    lists,
    operand,
    operations_behind,
    region,
    result,
    types,
)
from commonir.ods.branching import Conditional
from commonir.ods.patterns import version_number
from commonir.symbolic import Dim, DimExpr

_COUNTER, _ANSWER = tensor(i64), tensor(boolean)
_NO_LIMIT = 2**63 - 1
_ANY_SHAPES = 11
"""The version from which on the branches of `If` need not return values of one shape."""
_FORWARDED = anything(opset1=types(ANY_1), opset13=types(ANY_1, lists(ANY_1)))
"""The types of results of `If`, and of what `Loop` carries from round to round."""


def _stacked(type: Type, rounds: Dim | None = None) -> Type:
    """The type of values of one type, one for each round."""
    if not isinstance(type, TensorType) or type.shape is None:
        return type
    return type.with_shape((rounds, *type.shape))


def _with_declared_dims(type: Type, declared: Type) -> Type:
    """Returns a type with the static dims of another where it has none: no iteration may ever give them."""
    if not isinstance(type, TensorType) or not isinstance(declared, TensorType) or declared.shape is None:
        return type
    dims = type.shape or (None,) * len(declared.shape)
    if len(dims) != len(declared.shape):
        return type
    static = [d if isinstance(d, int) else None for d in declared.shape]
    return type.with_shape(tuple([s if d is None else d for d, s in zip(dims, static, strict=True)]))


def _size_along(sequences: Iterable[Value], axes: Iterable[int]) -> Dim | None:
    """Returns the common dim of sequences along an axis of each; None if it is unknown for all."""
    for v, axis in zip(sequences, axes, strict=False):
        shape = v.type.shape if isinstance(v.type, TensorType) else None
        if shape is not None and -len(shape) <= axis < len(shape) and shape[axis] is not None:
            return shape[axis]
    return None


def _carried(first: Type, next_: Type) -> Type:
    """The type of what a loop carries: what may be absent at first need not be when it is returned."""
    if isinstance(first, OptionalType) and not isinstance(next_, OptionalType):
        return next_
    return core.common_type(first, next_)


def _counts(op: Operation, graph: Region, inputs: int, outputs: int) -> Iterator[Diagnostic]:
    """Yields diagnostics where a nested graph has another number of inputs or outputs than its operator needs."""
    yield from check_graph(graph)
    if not graph.blocks:
        return
    result = len(graph.blocks[0].arguments)
    if result != inputs:
        yield Diagnostic(MALFORMED_REGION, f"{op.name}: the graph takes {result} inputs, expected {inputs}")
    result = len(returned(graph))
    if result < outputs:
        yield Diagnostic(MALFORMED_REGION, f"{op.name}: the graph gives {result} outputs, expected at least {outputs}")


def _without_names(declared: Type) -> Type:
    """A type without its symbolic dims, which in a nested graph may be any, and may be unbound."""
    return declared.without_symbolic_dims() if isinstance(declared, TensorType) else declared


def _may_follow(declared: Type, next_: Type) -> bool:
    """Returns whether a result of an iteration may be an argument of the next, as the graph declares it."""
    if not isinstance(declared, TensorType):
        return True
    return are_compatible(_without_names(declared), next_)


def _contradicted(graph: Region, received: Sequence[Type]) -> Iterator[tuple[Value, Type, bool]]:
    """The last inputs of a nested graph that are declared otherwise than what they receive, and whether that does not
    matter: Paddle begins loops with a scalar in the place of what each round computes before it is used.
    """
    arguments = graph.blocks[0].arguments if graph.blocks else ()
    for argument, kind in zip(arguments[len(arguments) - len(received) :], received, strict=False):
        declared = argument.type
        if not are_compatible(_without_names(declared), kind):
            yield argument, kind, not argument.is_used and differ_in_shape(declared, kind)


def _misfits(op: Operation, graph: Region, received: Sequence[Type]) -> Iterator[Diagnostic]:
    """Yields diagnostics where a nested graph declares other types for its last inputs than it receives."""
    for argument, kind, is_harmless in _contradicted(graph, received):
        message = f"{op.name}: the input '{argument.name}' of the graph is declared {argument.type}"
        yield Diagnostic(UNTRUSTED_SHAPE if is_harmless else MALFORMED_REGION, f"{message}, but receives {kind}")


def _unpromised(op: OnnxOp, graph: Region, received: Sequence[Type]) -> Iterator[Diagnostic]:
    """Yields diagnostics where a nested graph declares a number for a dim that may be another one."""
    if not op.keeps_declared_shapes:
        return
    arguments = graph.blocks[0].arguments if graph.blocks else ()
    for argument, kind in zip(arguments[len(arguments) - len(received) :], received, strict=False):
        declared = argument.type
        if not isinstance(declared, TensorType) or not isinstance(kind, TensorType) or declared.rank != kind.rank:
            continue
        if any(
            isinstance(d, int) and isinstance(k, DimExpr)
            for d, k in zip(declared.shape or (), kind.shape or (), strict=True)
        ):
            message = f"{op.name}: the input '{argument.name}' of the graph is declared {declared}, but receives {kind}"
            yield Diagnostic(MALFORMED_REGION, message)


def _untrusted(graph: Region, received: Sequence[Type]) -> list[Value]:
    return [argument for argument, _, is_harmless in _contradicted(graph, received) if is_harmless]


def _newer_types(op: OnnxOp, values: Iterable[Value], what: str) -> Iterator[Diagnostic]:
    """Yields diagnostics for values of types that an operator does not forward in its version."""
    for n, type in enumerate([v.type for v in values]):
        if type is unknown or _FORWARDED.at(op.since).admits(type):
            continue
        later = min([version_number(v) for v, known in _FORWARDED.versions.items() if known.admits(type)], default=0)
        message = f"{op.name}: {what} {n} has the type {type}"
        yield Diagnostic(WRONG_TYPE, f"{message}, which came with opset {later}" if later else message)


def _require_fit(op: Operation, graph: Region, received: Sequence[Type]) -> None:
    """Raises: DiagnosticError when a nested graph cannot receive values of some types."""
    _require(_misfits(op, graph, received))


def _require(faults: Iterable[Diagnostic]) -> None:
    result = tuple([d for d in faults if d.is_error])
    if result:
        raise DiagnosticError(*result)


def _yields(block: Block) -> tuple[Value, ...]:
    """Returns the values that a nested graph in the core yields, without its terminator."""
    last = block.last
    if not isinstance(last, core.Yield):
        raise NotationError("a nested graph does not end as it should")
    values = last.values
    last.erase()
    return values


def _append(block: Block, *values: Value) -> None:
    """Ends a nested graph of the core: what stands behind values and is in no block yet, and that they are yielded."""
    for op in (*operations_behind(values), core.Yield(values)):
        block.append(op)


def _scalar(value: Value) -> Value:
    """A value of one element, which may be given under any shape, as a scalar."""
    return value if value.type in (_COUNTER, _ANSWER) else core.reshape(value, ())


def _receive(block: Block, number: int, type: TensorType) -> Value:
    """Makes an argument of a nested graph one of rank 0; the graph sees it under the shape that it declares."""
    argument = block.arguments[number]
    declared = argument.type
    argument.retype(type)
    if isinstance(declared, TensorType) and declared.shape not in ((), None):
        users = argument.users
        shaped = core.Reshape(argument, (1,))
        for user in users:
            user.operands = tuple([shaped.y if v is argument else v for v in user.operands])
        if block.first is not None:
            block.insert_before(block.first, shaped)
    return argument


class If(
    OnnxOp, Conditional, name="onnx.If", since="opset1 opset11 opset13 opset16 opset19 opset21 opset23 opset24 opset25"
):
    """Executes one of two graphs and returns its outputs. The graphs have no inputs and capture outer values.

    Source: ONNX operator reference, If.
    """

    else_branch: Region = region(doc="runs if `cond` is false")
    then_branch: Region = region(doc="runs if `cond` is true")
    cond: Value = operand("i1")
    outputs: tuple[Value, ...] = result(any_type, variadic=True)

    def infer(self) -> tuple[Type, ...]:
        pairs = zip(returned(self.then_branch), returned(self.else_branch), strict=False)
        return tuple([core.common_type(a.type, b.type) for a, b in pairs])

    def choices(self) -> tuple[Region, Region]:
        return self.then_branch, self.else_branch

    def verify(self) -> Iterator[Diagnostic]:
        count = len(self.results)
        yield from _counts(self, self.then_branch, 0, count)
        yield from _counts(self, self.else_branch, 0, count)
        yield from _newer_types(self, self.results, "result")
        first, second = returned(self.then_branch), returned(self.else_branch)
        if len(first) != len(second):
            text = f"{self.name}: the branches give {len(first)} and {len(second)} outputs"
            yield Diagnostic(MALFORMED_REGION, text)
        for n, (a, b) in enumerate(zip(first, second, strict=False)):
            if are_compatible(a.type, b.type):
                continue
            text = f"{self.name}: output {n} of the branches has the types {a.type} and {b.type}"
            if not differ_in_shape(a.type, b.type):
                yield Diagnostic(MALFORMED_REGION, text)
            elif version_number(self.since) < _ANY_SHAPES:
                yield Diagnostic(MALFORMED_REGION, f"{text}; before opset {_ANY_SHAPES} they have one shape")

    def reference(self, cond: Value, *, else_branch: Region, then_branch: Region) -> tuple[Value, ...]:
        return core.if_(_scalar(cond), then_branch, else_branch)


class Loop(OnnxOp, name="onnx.Loop", since="opset1 opset11 opset13 opset16 opset19 opset21 opset23 opset24 opset25"):
    """Loop over a graph: up to M iterations, while its condition output is true; scan outputs are stacked.

    The graph takes the iteration number, the last condition and the loop-carried values; it returns the condition, the
    next values and the scan outputs, which are stacked along a new first axis. A false condition output ends the loop
    even if `cond` is omitted, as in onnxruntime and ONNX's reference evaluator; the specification ignores it then.

    Source: ONNX operator reference, Loop.
    """

    body: Region = region(doc="one iteration: from its number, the condition and the values, the next ones")
    M: Value | None = operand("i64", default=None)
    cond: Value | None = operand("i1", default=None)
    v_initial: tuple[Value, ...] = operand(any_type, variadic=True, default=())
    v_final_and_scan_outputs: tuple[Value, ...] = result(any_type, variadic=True)

    def infer(self) -> tuple[Type, ...]:
        carried, built = self.v_initial, returned(self.body)[1:]
        kept = [_carried(v.type, r.type) for v, r in zip(carried, built, strict=False)]
        return (*kept, *(_stacked(r.type) for r in built[len(carried) :]))

    def entry_types(self) -> tuple[tuple[Type, ...], ...]:
        declared = [a.type for a in self.body.block.arguments[:2]]
        first = [s if s == k.with_shape((1,)) else k for s, k in zip(declared, (_COUNTER, _ANSWER), strict=False)]
        return ((*first, *self.infer()[: len(self.v_initial)]),)

    def verify(self) -> Iterator[Diagnostic]:
        yield from _counts(self, self.body, len(self.v_initial) + 2, len(self.v_initial) + 1)
        yield from _newer_types(self, self.v_initial, "initial value")
        yield from _newer_types(self, self.results, "result")
        yield from _misfits(self, self.body, [v.type for v in self.v_initial])
        yield from _unpromised(self, self.body, [v.type for v in self.v_initial])

    def untrusted_arguments(self) -> list[Value]:
        return _untrusted(self.body, [v.type for v in self.v_initial])

    def reference(
        self, M: Value | None, cond: Value | None, v_initial: tuple[Value, ...], *, body: Region
    ) -> tuple[Value, ...]:
        _require_fit(self, body, [v.type for v in v_initial])
        block = body.block
        round_ = _receive(block, 0, _COUNTER)
        _receive(block, 1, _ANSWER)
        for argument, given in zip(block.arguments[2:], v_initial, strict=True):
            argument.retype(given.type if argument.type is unknown else argument.type)
        # Exporters write the largest number for an unlimited count.
        limit = None if M is None or known_dims(M) == (_NO_LIMIT,) else _scalar(M)
        types = [a.type for a in block.arguments]

        def goes_on(count: Value, answer: Value, *_: Value) -> tuple[Value]:
            return (answer if limit is None else core.logical_and(core.less(count, limit), answer),)

        condition = core.nested(types, goes_on)
        answer, *rest = _yields(block)
        for argument, next_ in zip(block.arguments[2:], rest, strict=False):
            if not _may_follow(argument.type, next_.type):
                raise NotationError(f"'{argument.name}' is carried as {argument.type}, and the next is {next_.type}")
        _append(block, core.add(round_, core.scalar(1, i64)), _scalar(answer), *rest)
        first = core.scalar(True, boolean) if cond is None else _scalar(cond)
        results = core.while_((core.scalar(0, i64), first, *v_initial), condition, body)[2:]
        for stack, slice_ in zip(results[len(v_initial) :], returned(self.body)[1 + len(v_initial) :], strict=False):
            stack.retype(_with_declared_dims(stack.type, _stacked(slice_.type)))
        return results


class Scan8(OnnxOp, name="onnx.Scan", since="opset8"):
    """As `Scan`, for each sample of a batch, the first axis of all operands and results.

    `sequence_lens` has the sequence length of each sample, by default the full length. Scan outputs of samples shorter
    than the longest are padded with zeros.

    Source: ONNX operator reference, Scan, version 8.
    """

    body: Region = region(doc="one step: from states and slices, the next states and slices of the outputs")
    num_scan_inputs: int = attribute(attr_types.integer)
    sequence_lens: Value | None = operand("i64", default=None)
    initial_state_and_scan_inputs: tuple[Value, ...] = operand(any_type, variadic=True, default=())
    directions: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    final_state_and_scan_outputs: tuple[Value, ...] = result(any_type, variadic=True)

    def infer(self) -> tuple[Type, ...]:
        states = len(self.initial_state_and_scan_inputs) - self.num_scan_inputs
        given = self.initial_state_and_scan_inputs
        carried, built = given[:states], returned(self.body)
        members, rounds = _size_along(given, repeat(0)), _size_along(given[states:], repeat(1))
        return (*(v.type for v in carried), *(_stacked(_stacked(r.type, rounds), members) for r in built[states:]))

    def verify(self) -> Iterator[Diagnostic]:
        given = self.initial_state_and_scan_inputs
        states = len(given) - self.num_scan_inputs
        yield from _counts(self, self.body, len(given), states)
        yield from self._miscounted()
        yield from _misfits(self, self.body, self._received(given))
        yield from _unpromised(self, self.body, self._received(given))

    def _miscounted(self) -> Iterator[Diagnostic]:
        """Attributes that do not have one entry for each scan input."""
        yield from _uncounted(self, self.num_scan_inputs, self.initial_state_and_scan_inputs)
        yield from _wrong_lengths(self, ("directions", self.directions, self.num_scan_inputs))

    def untrusted_arguments(self) -> list[Value]:
        return _untrusted(self.body, self._received(self.initial_state_and_scan_inputs))

    def _received(self, operands: Sequence[Value]) -> list[Type]:
        """The types of what the graph receives."""
        states = len(operands) - self.num_scan_inputs
        return [_slice(v.type if n < states else _slice(v.type, 1), 0) for n, v in enumerate(operands)]

    def reference(
        self, sequence_lens: Value | None, initial_state_and_scan_inputs: tuple[Value, ...], *, body: Region
    ) -> tuple[Value, ...]:
        given = initial_state_and_scan_inputs
        _require(self._miscounted())
        _require_fit(self, body, self._received(given))
        states = len(given) - self.num_scan_inputs
        reverse = self.directions or (0,) * self.num_scan_inputs
        lengths = () if sequence_lens is None else (sequence_lens,)

        def member(*values: Value) -> tuple[Value, ...]:
            """Returns the results of one member of the batch."""
            carried, count = values[:states], values[len(given) :]
            slices = [_first(v, count[0]) if count else v for v in values[states : len(given)]]
            slices = [core.reverse(v, (0,)) if r else v for v, r in zip(slices, reverse, strict=True)]
            result = core.scan(carried, tuple(slices), body)
            stacks = [_continued(v, core.dim(values[states], 0)) if count else v for v in result[states:]]
            return (*result[:states], *stacks)

        sequences = (*given, *lengths)
        rows = core.nested([_slice(v.type, 0) for v in sequences], member)
        return core.scan((), sequences, rows)


def _first(x: Value, count: Value) -> Value:
    """The first slices of a tensor, as many as a scalar says."""
    rank = rank_of(x)
    stops = [core.unsqueeze(core.dim(x, n) if n else count, (0,)) for n in range(rank)]
    return core.dynamic_slice(x, core.vector((0,) * rank, i64), core.concat(tuple(stops), 0), (1,) * rank)


def _continued(x: Value, count: Value) -> Value:
    """A tensor padded with zeros along its first axis to a number of slices given by a scalar."""
    rank = rank_of(x)
    more = core.unsqueeze(core.sub(count, core.dim(x, 0)), (0,))
    after = more if rank == 1 else core.concat((more, core.vector((0,) * (rank - 1), i64)), 0)
    return core.dynamic_pad(x, core.vector((0,) * rank, i64), after)


class Scan(OnnxOp, name="onnx.Scan", since="opset9 opset11 opset16 opset19 opset21 opset23 opset24 opset25"):
    """Runs a graph for each slice of its scan inputs; returns the final states and the stacked scan outputs.

    The graph takes the states and a slice of each scan input. A direction other than 0 reads a scan input, or stacks a
    scan output, in reverse order.

    Source: ONNX operator reference, Scan.
    """

    initial_state_and_scan_inputs: tuple[Value, ...] = operand(any_type, variadic=True)
    body: Region = region(doc="one step: from states and slices, the next states and slices of the outputs")
    num_scan_inputs: int = attribute(attr_types.integer)
    scan_input_axes: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    scan_input_directions: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    scan_output_axes: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    scan_output_directions: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    final_state_and_scan_outputs: tuple[Value, ...] = result(any_type, variadic=True)

    def infer(self) -> tuple[Type, ...]:
        states = len(self.initial_state_and_scan_inputs) - self.num_scan_inputs
        carried, built = self.initial_state_and_scan_inputs[:states], returned(self.body)
        kept = [core.common_type(v.type, r.type) for v, r in zip(carried, built, strict=False)]
        stacks = built[states:]
        axes = self.scan_output_axes or (0,) * len(stacks)
        sequences = self.initial_state_and_scan_inputs[states:]
        rounds = _size_along(sequences, self.scan_input_axes or repeat(0))
        return (*kept, *(_with_axis(r.type, a, rounds) for r, a in zip(stacks, axes, strict=False)))

    def entry_types(self) -> tuple[tuple[Type, ...], ...]:
        states = len(self.initial_state_and_scan_inputs) - self.num_scan_inputs
        return ((*self.infer()[:states], *self._slices(self.initial_state_and_scan_inputs[states:])),)

    def _slices(self, sequences: Sequence[Value]) -> list[Type]:
        """The types of the slices that the graph receives."""
        return [_slice(v.type, a) for v, a in zip(sequences, self.scan_input_axes or repeat(0), strict=False)]

    def verify(self) -> Iterator[Diagnostic]:
        given = self.initial_state_and_scan_inputs
        states = len(given) - self.num_scan_inputs
        yield from _counts(self, self.body, len(given), states)
        yield from self._miscounted()
        yield from self._misplaced()
        yield from _misfits(self, self.body, self._received(given))
        yield from _unpromised(self, self.body, self._received(given))

    def _miscounted(self) -> Iterator[Diagnostic]:
        """Attributes that do not have one entry for each scan input, or for each scan output."""
        given = self.num_scan_inputs
        yield from _uncounted(self, given, self.initial_state_and_scan_inputs)
        stacked = len(returned(self.body)) + given - len(self.initial_state_and_scan_inputs)
        yield from _wrong_lengths(
            self,
            ("scan_input_axes", self.scan_input_axes, given),
            ("scan_input_directions", self.scan_input_directions, given),
            ("scan_output_axes", self.scan_output_axes, stacked),
            ("scan_output_directions", self.scan_output_directions, stacked),
        )

    def _misplaced(self) -> Iterator[Diagnostic]:
        """Axes that scan inputs or outputs do not have, and scan inputs of different lengths."""
        states = len(self.initial_state_and_scan_inputs) - self.num_scan_inputs
        sequences, stacks = self.initial_state_and_scan_inputs[states:], returned(self.body)[states:]
        lengths: set[int] = set()
        for v, axis in zip(sequences, self.scan_input_axes or repeat(0), strict=False):
            shape = v.type.shape if isinstance(v.type, TensorType) else None
            if shape is not None and not -len(shape) <= axis < len(shape):
                yield Diagnostic(MALFORMED_REGION, f"{self.name}: '{v.name}' of rank {len(shape)} has no axis {axis}")
            elif shape is not None and isinstance(length := shape[axis], int):
                lengths.add(length)
        if len(lengths) > 1:
            shown = " and ".join(map(str, sorted(lengths)))
            yield Diagnostic(MALFORMED_REGION, f"{self.name}: the scan inputs have {shown} slices")
        for v, axis in zip(stacks, self.scan_output_axes or repeat(0), strict=False):
            rank = len(v.type.shape) + 1 if isinstance(v.type, TensorType) and v.type.shape is not None else None
            if rank is not None and not -rank <= axis < rank:
                message = f"{self.name}: slices '{v.name}' cannot be stacked along axis {axis} of {rank}"
                yield Diagnostic(MALFORMED_REGION, message)

    def untrusted_arguments(self) -> list[Value]:
        return _untrusted(self.body, self._received(self.initial_state_and_scan_inputs))

    def _received(self, operands: Sequence[Value]) -> list[Type]:
        """The types of what the graph receives."""
        states = len(operands) - self.num_scan_inputs
        return [*[v.type for v in operands[:states]], *self._slices(operands[states:])]

    def reference(self, initial_state_and_scan_inputs: tuple[Value, ...], *, body: Region) -> tuple[Value, ...]:
        count = self.num_scan_inputs
        states = len(initial_state_and_scan_inputs) - count
        initial, sequences = initial_state_and_scan_inputs[:states], initial_state_and_scan_inputs[states:]
        _require(self._miscounted())
        _require_fit(self, body, self._received(initial_state_and_scan_inputs))
        axes, reverse = self.scan_input_axes or (0,) * count, self.scan_input_directions or (0,) * count
        given = [_from_axis(v, a) for v, a in zip(sequences, axes, strict=True)]
        given = [core.reverse(v, (0,)) if r else v for v, r in zip(given, reverse, strict=True)]
        found = core.scan(initial, tuple(given), body)
        stacks = found[states:]
        axes, reverse = self.scan_output_axes or (0,) * len(stacks), self.scan_output_directions or (0,) * len(stacks)
        turned = [core.reverse(v, (0,)) if r else v for v, r in zip(stacks, reverse, strict=True)]
        return (*found[:states], *[_to_axis(v, a) for v, a in zip(turned, axes, strict=True)])


def _uncounted(op: Operation, count: int, operands: Sequence[Value]) -> Iterator[Diagnostic]:
    """Yields a diagnostic where operands are not as many as the scan inputs among them."""
    if not 1 <= count <= len(operands):
        yield Diagnostic(MALFORMED_REGION, f"{op.name}: num_scan_inputs is {count}, of {len(operands)} operands")


def _wrong_lengths(op: Operation, *rows: tuple[str, Sequence[int] | None, int]) -> Iterator[Diagnostic]:
    """Yields a diagnostic for each attribute, of a name, with another number of elements than expected."""
    for name, present, expected in rows:
        if present and len(present) != expected:
            message = f"{op.name}: {name} has {plural(len(present), 'element')}, expected {expected}"
            yield Diagnostic(MALFORMED_REGION, message)


def _slice(type: Type, axis: int) -> Type:
    """The type of the slices of a tensor along an axis."""
    if not isinstance(type, TensorType) or type.shape is None or not -len(type.shape) <= axis < len(type.shape):
        return type
    at = axis % len(type.shape)
    return type.with_shape((*type.shape[:at], *type.shape[at + 1 :]))


def _with_axis(type: Type, axis: int, rounds: Dim | None) -> Type:
    """The type of slices of one type put together along a new axis."""
    if not isinstance(type, TensorType) or type.shape is None:
        return type
    at = axis % (len(type.shape) + 1)
    return type.with_shape((*type.shape[:at], rounds, *type.shape[at:]))


def _from_axis(x: Value, axis: int) -> Value:
    """A tensor with an axis put first."""
    if axis == 0:
        return x
    rank = rank_of(x)
    at = axis_from_start(axis, rank)
    return core.transpose(x, (at, *[n for n in range(rank) if n != at]))


def _to_axis(x: Value, axis: int) -> Value:
    """A tensor with its first axis put elsewhere."""
    if axis == 0:
        return x
    rank = rank_of(x)
    at = axis_from_start(axis, rank)
    rest = list(range(1, rank))
    return core.transpose(x, (*rest[:at], 0, *rest[at:]))


class SequenceMap(OnnxOp, name="onnx.SequenceMap", since="opset17"):
    """Runs a graph for each element of a sequence; returns sequences of its outputs.

    Additional inputs that are sequences are iterated over too; tensors are passed unchanged to each iteration.

    Source: ONNX operator reference, SequenceMap.
    """

    body: Region = region(doc="runs for each element")
    input_sequence: Value = operand("S")
    additional_inputs: tuple[Value, ...] = operand(any_type, variadic=True, default=())
    out_sequence: tuple[Value, ...] = result(any_type, variadic=True)
    S = types(lists(ANY_1))

    def infer(self) -> tuple[Type, ...]:
        return tuple([ListType(v.type) for v in returned(self.body)])

    def entry_types(self) -> tuple[tuple[Type, ...], ...]:
        given = [v.type for v in (self.input_sequence, *self.additional_inputs)]
        return (tuple([t.element if isinstance(t, ListType) else t for t in given]),)

    def verify(self) -> Iterator[Diagnostic]:
        yield from _counts(self, self.body, 1 + len(self.additional_inputs), len(self.results))

    def reference(
        self, input_sequence: Value, additional_inputs: tuple[Value, ...], *, body: Region
    ) -> tuple[Value, ...]:
        given = (input_sequence, *additional_inputs)
        arguments = body.block.arguments
        empty = tuple([core.list_empty(_any_shape(v.type)) for v in core.yielded(body)])
        # Loop-invariant values are carried, so that dims in declared types are those of the operands.
        same = {n: v for n, v in enumerate(given) if not isinstance(v.type, ListType)}

        states = [*[v.type for v in empty], *[_known_type(arguments[n], v) for n, v in same.items()]]
        rounds = Block([*states, _COUNTER])
        built, kept = rounds.arguments[: len(empty)], dict(zip(same, rounds.arguments[len(empty) : -1], strict=True))
        for n, (argument, v) in enumerate(zip(arguments, given, strict=True)):
            inside = kept[n] if n in kept else core.list_at(v, rounds.arguments[-1])
            inside.retype(_known_type(argument, inside))
            argument.replace_all_uses_with(inside)
            if isinstance(inside.owner, Operation):
                rounds.append(inside.owner)
        outputs = _yields(body.block)
        for op in list(body.block.operations):
            op.detach()
            rounds.append(op)
        _append(rounds, *[core.list_insert(x, y, None) for x, y in zip(built, outputs, strict=True)], *kept.values())
        positions = core.range(core.scalar(0, i64), core.list_length(input_sequence), core.scalar(1, i64))
        return core.scan((*empty, *same.values()), (positions,), Region([rounds]))[: len(empty)]


def _known_type(argument: Value, value: Value) -> Type:
    """The type of an argument of a nested graph, which a file need not state."""
    return value.type if argument.type is unknown else argument.type


def _any_shape(type: Type) -> Type:
    return type.with_shape(None) if isinstance(type, TensorType) else type
