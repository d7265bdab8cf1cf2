"""The first runs of a small program: its operations as they stand, without lowering them or planning anything.

What inference has traced of an operation is run as it is, and kept for all operations of the same definition, types and
attributes. Only programs of known shapes and small operations are run in this way, and only a few times: what runs
often is lowered, and so is what fails, for the error that the lowered program gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.collecting import no_collection
from commonir.base.diagnostics import DiagnosticError, InternalError
from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.ir.cloning import clone
from commonir.ir.module import Function, Invocation, Module
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import TensorType, Type, unknown
from commonir.ods import Derived, Form, Known, Op, check_operation, infer, known_data, known_dims
from commonir.ods.inference import operand_names
from commonir.ods.traits import Terminator
from commonir.passes.infer_shapes import infer_shapes
from commonir.rewrite.expand import Expansion, expand
from commonir.runtime.blas import limited_threads
from commonir.runtime.control import Globals, is_control, run_control
from commonir.runtime.engine import EngineOptions, Executable
from commonir.runtime.evaluation import OutOfRange, grid_size
from commonir.runtime.instances import is_static
from commonir.runtime.operations import constant_array, data_of_array, flat_values
from commonir.runtime.reference import Evaluator, TooLargeError
from commonir.runtime.repeated_binding import Binder
from commonir.runtime.specialization import KEPT_STATEMENTS, content_of, copied_regions, read_operands, stated
from commonir.runtime.state import State
from commonir.runtime.strided import SmallKernel
from commonir.runtime.values import computed, copied, declared, value_type

Array = NDArray[Any]
Arrays = tuple[Array, ...]


class StepEvaluator(Evaluator):
    """Evaluates what is no step, and counts how often blocks of operations were run."""

    rounds = 0


Calculation = Callable[[Sequence[Array], StepEvaluator], Sequence[Array]]

MAX_OPERATIONS = 1 << 11
"""Operations of a program; whether a longer one can be run as it stands takes too long to find out."""

MAX_ROUNDS = 256
"""How often blocks of operations are run in one run; plans pay for more."""

REPEATED_ROUNDS = 32
"""How often they are run in all runs together, after which a plan has paid."""

MAX_ELEMENTS = 1 << 22
"""Elements of all values of a program together, which are held until its end."""

MAX_RUNS = 24
"""Runs after which a plan has paid, of operations for which what it saves does not depend on sizes."""

REPEATED_ELEMENTS = 1 << 22
"""Elements of the grid of each operation, in all runs together, after which a plan has paid whatever it costs."""


_CALLS = (Invocation, core.Call)


class _NotImmediate(Exception):
    """An operation is to be lowered."""


class _UnknownType(_NotImmediate):
    """Nothing is known of a value, where inference might tell."""


class _Step(NamedTuple):
    """An operation as a calculation on the values of its operands."""

    calculate: Calculation
    operands: tuple[Value, ...]
    results: tuple[Value, ...]
    elements: int = 0


class _Steps(NamedTuple):
    """Operations in order, and the values that are known before."""

    steps: list[_Step]
    constants: dict[Value, Array]

    @property
    def elements(self) -> int:
        """Elements of the grids of all operations."""
        return sum([step.elements for step in self.steps])

    def run(self, values: dict[Value, Array], evaluator: StepEvaluator) -> None:
        """Adds what the operations compute to the values."""
        for calculate, operands, results, _ in self.steps:
            found = calculate([values[v] for v in operands], evaluator)
            values.update(zip(results, found, strict=False))

    def as_steps(self) -> Iterator[_Step]:
        """The same without values that are known before."""
        for value, array in self.constants.items():
            yield _Step(partial(_given, array), (), (value,))
        yield from self.steps


class _Reference:
    """What a reference was traced to, as a calculation."""

    def __init__(self, steps: _Steps, inputs: Sequence[Value], outputs: Sequence[Value]) -> None:
        self.steps = steps
        self._inputs = inputs
        self._outputs = outputs

    def __call__(self, arrays: Sequence[Array], evaluator: StepEvaluator) -> Sequence[Array]:
        values = dict(self.steps.constants)
        values.update(zip(self._inputs, arrays, strict=True))
        self.steps.run(values, evaluator)
        return [values[v] for v in self._outputs]


class _Kept:
    """What is kept for all operations that one trace tells of."""

    def __init__(self) -> None:
        self.kernels: list[SmallKernel] | None = None
        self.reference: _Reference | None = None
        self.by_contents: dict[object, Calculation] = {}


def _kept(derived: Derived) -> _Kept:
    if derived.calculation is None:
        derived.calculation = _Kept()
    kept: _Kept = derived.calculation
    return kept


class _Nested:
    """Runs the blocks of an operation."""

    peers = None

    def __init__(self, blocks: Mapping[Block, _Steps], evaluator: StepEvaluator) -> None:
        self._blocks = blocks
        self._evaluator = evaluator

    def run_block(self, block: Block, values: dict[Value, Array]) -> None:
        """Adds what a block computes to the values. Raises: TooLargeError when it is run often."""
        self._evaluator.rounds += 1
        if self._evaluator.rounds > MAX_ROUNDS:
            raise TooLargeError
        _checked_sizes(block.arguments, [values[v] for v in block.arguments])
        steps = self._blocks[block]
        values.update(steps.constants)
        steps.run(values, self._evaluator)

    def call(self, function: Function, arguments: Arrays) -> Arrays:
        """No program with calls is run as it stands."""
        del arguments
        raise InternalError(f"a call of {function.symbol_name} in a program that is run as it stands")


def _checked_sizes(values: Sequence[Value], arrays: Arrays | Sequence[Array]) -> Arrays | Sequence[Array]:
    """Values as they are. Raises: TooLargeError when one has another size than the program says."""
    for v, x in zip(values, arrays, strict=False):
        shape = v.type.shape if isinstance(v.type, TensorType) else None
        if shape is None:
            continue
        if len(shape) != x.ndim or any(isinstance(d, int) and d != n for d, n in zip(shape, x.shape, strict=True)):
            raise TooLargeError
    return arrays


def _given(array: Array, _: Sequence[Array], __: StepEvaluator) -> Arrays:
    return (array,)


def _known(kind: Type, array: Array) -> Value:
    """A value whose elements are known."""
    if not isinstance(kind, TensorType):
        raise _NotImmediate
    if array.dtype.kind in "iu" and array.ndim <= 1:
        return Known(kind, tuple([int(n) for n in array.reshape(-1)])).result
    return Known(kind, None, data_of_array(kind, array)).result


def _unchanged(arrays: Sequence[Array], _: StepEvaluator) -> Sequence[Array]:
    return arrays


def _expanded(op: Op) -> Expansion:
    """What an operation with regions says, on copies of these that end as those of the core do."""
    regions = copied_regions(op)
    for block in [block for region in regions.values() for block in region.blocks]:
        last = block.last
        if isinstance(last, Op) and last.form is Form.COMPOSITE:
            for made in expand(last, last.operands).operations:
                block.insert_before(last, made)
            last.erase()
    return expand(op, op.operands, regions)


def immediate(
    module: Module, function: str | None, options: EngineOptions, limit: int, later: Callable[[bool], Executable]
) -> ImmediateExecutable | None:
    """A function that is run as it stands a few times; None when it is to be lowered at once. `limit` is how many
    elements an operation may compute, `later` gives what runs it when it has run, or cannot run, in this way.
    """
    if options.memory_limit_bytes is not None or options.time_limit_seconds is not None or options.seed is not None:
        # Only a plan knows what memory it takes, and seeds are told apart by places in the lowered program.
        return None
    functions = [op for op in module.body.operations if not (isinstance(op, Function) and op.is_template)]
    main = functions[0] if len(functions) == 1 else None
    if not isinstance(main, Function) or function not in (None, main.symbol_name) or not _is_simple(main):
        return None
    compiler = _Compiler(limit)
    try:
        with no_collection():
            try:
                steps = compiler.program(main)
            except _UnknownType:
                main = _with_types(module, main)
                steps = compiler.program(main)
    except (_NotImmediate, TooLargeError, DiagnosticError):
        return None
    return ImmediateExecutable(main, steps, options, limit, later)


def _is_simple(function: Function) -> bool:
    """Whether a function is one short block that receives values of known sizes."""
    blocks = [block for region in function.regions for block in region.blocks]
    return (
        len(blocks) == 1
        and len(blocks[0]) <= MAX_OPERATIONS
        and all(_is_certain(function, v.type) for v in function.inputs)
    )


def _with_types(module: Module, function: Function) -> Function:
    """A copy of a function in which types are inferred. Raises: _NotImmediate when it stays as it was."""
    copy = clone(module)
    infer_shapes(copy)
    if unknown in [r.type for op in copy.nested() for r in op.results]:
        raise _NotImmediate
    return copy.function(function.symbol_name)


def _is_certain(function: Function, kind: Type) -> bool:
    """Whether values of a type have known sizes, and are in the core what they are here."""
    inner = kind
    while not isinstance(inner, TensorType):
        element = getattr(inner, "element", None)
        if not isinstance(element, Type):
            return False
        inner = element
    return inner.is_static and function.core_type(kind) is kind


def _runs(steps: _Steps) -> int:
    """How often a function is run as it stands: until a plan has paid, by sizes alone, so that every process computes
    the same.
    """
    return max(1, min(MAX_RUNS, REPEATED_ELEMENTS * len(steps.steps) // max(steps.elements, 1)))


class ImmediateExecutable:
    """A function that is run as it stands the first times."""

    def __init__(
        self, function: Function, steps: _Steps, options: EngineOptions, limit: int, later: Callable[[bool], Executable]
    ) -> None:
        self._binder = Binder(function)
        self._inputs = function.inputs
        self._outputs = tuple(zip(function.output_names, function.outputs, strict=True))
        # Nothing when it has run, or cannot run, in this way.
        self._steps: _Steps | None = steps
        self._runs_left = _runs(steps)
        self._rounds_left = REPEATED_ROUNDS
        self._options = options
        self._limit = limit
        self._make = later
        self._made: Executable | None = None

    @property
    def state(self) -> State:
        """What mutable globals hold; see `Executable`."""
        return self._later().state

    @state.setter
    def state(self, state: State) -> None:
        self._later().state = state

    def _later(self) -> Executable:
        self._steps = None
        if self._made is None:
            # What has run often has the same sizes in every run, unless there are loops.
            self._made = self._make(not self._runs_left and self._rounds_left == REPEATED_ROUNDS)
        return self._made

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs by name; see `Executable`."""
        if self._steps is None or not self._runs_left:
            return self._later().run(inputs)
        self._runs_left -= 1
        try:
            return self._run(self._steps, inputs)
        except (_NotImmediate, TooLargeError, OutOfRange, DiagnosticError):
            return self._later().run(inputs)

    def _run(self, steps: _Steps, inputs: Mapping[str, Array]) -> dict[str, Array]:
        bound = self._binder.bind(inputs)
        evaluator = StepEvaluator(bound.sizes, Globals(), limit=self._limit)
        values = dict(steps.constants)
        values.update([(v, computed(x, v.type)) for v, x in zip(self._inputs, bound.arrays, strict=True)])
        with limited_threads(self._options.threads), np.errstate(all="ignore"):
            steps.run(values, evaluator)
        self._rounds_left -= evaluator.rounds
        if self._rounds_left < 0:
            self._runs_left = 0
        return {n: copied(declared(values[v], v.type)) for n, v in self._outputs}


class _Compiler:
    """Makes steps of operations whose results are small enough."""

    def __init__(self, limit: int) -> None:
        self._limit = limit

    def program(self, function: Function) -> _Steps:
        """The steps of a function. Raises: _NotImmediate, TooLargeError, DiagnosticError."""
        body = function.body
        return self._steps(body.operations, function.inputs, function.outputs, self._checked)

    def _steps(
        self,
        operations: Iterable[Operation],
        inputs: Iterable[Value],
        outputs: Iterable[Value],
        derived_of: Callable[[Op], Derived],
    ) -> _Steps:
        known = set(inputs)
        steps: list[_Step] = []
        constants: dict[Value, Array] = {}
        elements = 0
        for op in operations:
            if not isinstance(op, Op) or isinstance(op, _CALLS):
                raise _NotImmediate
            if op.has_trait(Terminator):
                break
            if not known.issuperset(op.operands):
                raise _NotImmediate
            for result in op.results:
                elements += self._size(result.type)
            constant = self._constant(op)
            if constant is not None:
                constants[op.results[0]] = constant
            elif is_control(op):
                steps.append(self._control(op, known, derived_of))
            elif op.regions:
                steps += self._with_regions(op, known, derived_of)
            else:
                steps.append(self._step(op, derived_of(op)))
            known.update(op.results)
        if not known.issuperset(outputs) or elements > MAX_ELEMENTS:
            raise _NotImmediate
        return _Steps(steps, constants)

    def _step(self, op: Op, derived: Derived) -> _Step:
        """An operation without regions."""
        calculate = self._calculation(op, derived)
        kept = _kept(derived)
        if kept.reference is not None:
            return _Step(calculate, op.operands, op.results, kept.reference.steps.elements)
        elements = sum([k.grid for k in kept.kernels or ()]) or sum([self._size(r.type) for r in op.results])
        return _Step(calculate, op.operands, op.results, elements)

    def _with_regions(self, op: Op, known: set[Value], derived_of: Callable[[Op], Derived]) -> Iterable[_Step]:
        """What an operation with regions says in terms of others."""
        derived_of(op)
        expansion = _expanded(op)
        for inner in expansion.operations:
            yield from self._steps([inner], known, inner.results, derived_of).as_steps()
            known.update(inner.results)
        yield _Step(_unchanged, expansion.results, op.results)

    def _control(self, op: Op, known: set[Value], derived_of: Callable[[Op], Derived]) -> _Step:
        """An operation that runs nested programs."""
        nested: dict[Block, _Steps] = {}
        for block in [block for region in op.regions for block in region.blocks]:
            if block.last is None:
                raise _NotImmediate
            if unknown in [v.type for v in block.arguments]:
                raise _UnknownType
            inside = {*known, *block.arguments}
            nested[block] = self._steps(block.operations, inside, block.last.operands, derived_of)
        used = tuple(dict.fromkeys(op.values_used))

        def calculate(arrays: Sequence[Array], evaluator: StepEvaluator) -> Arrays:
            return run_control(op, dict(zip(used, arrays, strict=True)), _Nested(nested, evaluator))

        return _Step(calculate, used, op.results)

    def _checked(self, op: Op) -> Derived:
        """What follows from an operation in which nothing is wrong."""
        if unknown in [r.type for r in op.results]:
            raise _UnknownType
        derived = infer(op)
        if len(check_operation(op, derived=derived)):
            raise _NotImmediate
        return derived

    def _size(self, kind: Type) -> int:
        """Elements of a value; of those of unknown size it is seen when they are computed."""
        count = kind.count if isinstance(kind, TensorType) and kind.is_static else 0
        if count > self._limit:
            raise TooLargeError
        return count

    def _constant(self, op: Op) -> Array | None:
        """The result of an operation on nothing but constants."""
        if len(op.results) != 1 or (op.operands and op.form is not Form.COMPOSITE):
            return None
        kind = op.results[0].type
        if not isinstance(kind, TensorType) or not kind.is_static:
            return None
        data = known_data(op.results[0])
        if data is not None:
            return computed(data.array(), kind)
        if op.operands and (not kind.element.is_integer or kind.rank not in (0, 1)):
            return None
        known = known_dims(op.results[0])
        if known is None or not all(isinstance(dim, int) for dim in known):
            return None  # the sizes are known when it runs, from what it is computed of
        found = constant_array(op, {})
        return None if found is None else computed(found, kind)

    def _calculation(self, op: Op, derived: Derived) -> Calculation:
        is_known = not derived.is_open and all(is_static(v.type) for v in (*op.operands, *op.results))
        match op.form:
            case Form.KERNEL if is_known:
                return self._kernels(op, derived)
            case Form.COMPOSITE if is_known and not op.states_types:
                return self._composite(op, derived)
            case Form.COMPOSITE:
                return self._by_contents(op, derived)
            case Form.STRUCTURAL:
                raise _NotImmediate
            case _:
                return lambda arrays, evaluator: _checked_sizes(op.results, evaluator.apply(op, tuple(arrays)))

    def _kernels(self, op: Op, derived: Derived) -> Calculation:
        kept = _kept(derived)
        if kept.kernels is None:
            kept.kernels = self._small_kernels(derived)
        names, kernels = operand_names(op), kept.kernels

        def calculate(arrays: Sequence[Array], _: StepEvaluator) -> list[Array]:
            given = dict(zip(names, arrays, strict=True))
            return [kernel.evaluate(given) for kernel in kernels]

        return calculate

    def _small_kernels(self, derived: Derived) -> list[SmallKernel]:
        kernels: list[SmallKernel] = []
        for kernel, known in zip(derived.kernels, derived.extents, strict=True):
            extents = {n: d for n, d in known.items() if isinstance(d, int)}
            if len(extents) < len(known):
                raise _NotImmediate
            if prod(extents.values()) > self._limit and grid_size(kernel.body, extents) > self._limit:
                raise TooLargeError
            kernels.append(SmallKernel(kernel, extents))
        return kernels

    def _composite(self, op: Op, derived: Derived) -> Calculation:
        kept = _kept(derived)
        if kept.reference is None:
            kept.reference = self._traced(derived)
        calculate = kept.reference
        if not op.layout.parameters:
            return calculate
        places = {v: n for n, v in enumerate(op.operands)}
        read = [places[v] for v in flat_values(op.grouped_operands())]
        return lambda arrays, evaluator: calculate([arrays[n] for n in read], evaluator)

    def _by_contents(self, op: Op, derived: Derived) -> Calculation:
        """An operation whose meaning depends on sizes or elements of what it receives. What was made of some is kept,
        for all operations that one trace tells of.
        """
        kept = _kept(derived).by_contents
        results = tuple([r.type for r in op.results])

        def calculate(arrays: Sequence[Array], evaluator: StepEvaluator) -> Sequence[Array]:
            read = read_operands(op, arrays)
            types = tuple([value_type(v, x) for v, x in zip(op.operands, arrays, strict=True)])
            key = (types, results, tuple([(n, content_of(arrays[n])) for n in read]))
            found = kept.get(key)
            if found is None:
                if len(kept) >= KEPT_STATEMENTS:
                    kept.clear()
                found = kept[key] = self._meant(op, arrays, types, read)
            return _checked_sizes(op.results, found(arrays, evaluator))

        return calculate

    def _meant(self, op: Op, arrays: Sequence[Array], types: Sequence[Type], read: Sequence[int]) -> Calculation:
        """What an operation means for operands of some types, and elements of those that it reads."""
        if not op.states_types:
            values = [_known(t, arrays[n]) if n in read else Value(t) for n, t in enumerate(types)]
            made = op.clone_shallow(tuple(values), ())
            derived = infer(made)
            if not derived.is_open:
                return self._composite(made, derived)
        statement = stated(op, arrays, types, read, {})
        given = list(statement.inputs)
        inputs = list(statement.inputs.values())
        operations = [inner for inner in statement.block.operations if inner is not statement.block.last]
        reference = _Reference(self._steps(operations, inputs, statement.outputs, infer), inputs, statement.outputs)
        return lambda arrays, evaluator: reference([arrays[n] for n in given], evaluator)

    def _traced(self, derived: Derived) -> _Reference:
        """What a reference was traced to."""
        inputs, outputs = flat_values(derived.inputs), derived.outputs
        return _Reference(self._steps(derived.body, inputs, outputs, infer), inputs, outputs)
