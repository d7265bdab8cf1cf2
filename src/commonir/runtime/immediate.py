"""The first runs of a small program: its operations as they stand, without lowering them or planning anything.

What inference has traced of an operation is run as it is, and kept for all operations of the same definition, types and
attributes. Only programs of known shapes and small operations are run in this way, and only a few times: what runs
often is lowered, and so is what fails, for the error that the lowered program gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
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
from commonir.ods.known import may_be_known
from commonir.ods.traits import Terminator
from commonir.passes.infer_shapes import infer_shapes
from commonir.rewrite.expand import Expansion, expand
from commonir.runtime.blas import limited_threads
from commonir.runtime.control import Globals, controls, run_control
from commonir.runtime.engine import EngineOptions, Executable
from commonir.runtime.evaluation import OutOfRange, grid_size
from commonir.runtime.instances import is_static
from commonir.runtime.numbered_steps import Calculation, StepEvaluator, Steps, StepsBuilder
from commonir.runtime.operations import data_of_array, flat_values
from commonir.runtime.reference import TooLargeError
from commonir.runtime.repeated_binding import Binder
from commonir.runtime.specialization import KEPT_STATEMENTS, content_of, copied_regions, read_operands, stated
from commonir.runtime.state import State
from commonir.runtime.strided import SmallKernel
from commonir.runtime.values import computed, copied, declared, value_type

Array = NDArray[Any]
Arrays = tuple[Array, ...]


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


class _Does(Enum):
    """What operations of a class do."""

    CALLS = "run a function"
    ENDS = "end a block"
    CONTROLS = "run nested programs, communicate, or may end the run"
    COMPUTES = "compute"


@lru_cache(1 << 10)
def _does(kind: type[Operation]) -> _Does:
    if issubclass(kind, _CALLS):
        return _Does.CALLS
    if issubclass(kind, Op) and kind.has_trait(Terminator):
        return _Does.ENDS
    return _Does.CONTROLS if controls(kind) else _Does.COMPUTES


class _Alike(NamedTuple):
    """What is known of all operations with one trace and one list of result types.

    `calculate` is nothing where it depends on the operation. Units: `held` and `elements` are elements of the results
    and of the grids.
    """

    is_right: bool
    held: int
    elements: int
    calculate: Calculation | None


class _Kept:
    """What is kept for all operations that one trace tells of."""

    def __init__(self) -> None:
        # What an operation of known sizes computes, and the elements of its grids.
        self.calculate: Calculation | None = None
        self.elements = 0
        self.by_contents: dict[object, Calculation] = {}
        self.alike: dict[tuple[Type, ...], _Alike] = {}


def _kept(derived: Derived) -> _Kept:
    if derived.calculation is None:
        derived.calculation = _Kept()
    kept: _Kept = derived.calculation
    return kept


class _Nested:
    """Runs the blocks of an operation."""

    peers = None

    def __init__(self, blocks: Mapping[Block, Steps], evaluator: StepEvaluator) -> None:
        self._blocks = blocks
        self._evaluator = evaluator

    def run_block(self, block: Block, values: dict[Value, Array]) -> None:
        """Adds what a block computes to the values. Raises: TooLargeError when it is run often."""
        self._evaluator.rounds += 1
        if self._evaluator.rounds > MAX_ROUNDS:
            raise TooLargeError
        _checked_sizes(block.arguments, [values[v] for v in block.arguments])
        steps = self._blocks[block]
        found = steps([values[v] for v in steps.inputs], self._evaluator)
        if block.last is not None:
            values.update(zip(block.last.operands, found, strict=True))

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


def _known(kind: Type, array: Array) -> Value:
    """A value whose elements are known."""
    if not isinstance(kind, TensorType):
        raise _NotImmediate
    if array.dtype.kind in "iu" and array.ndim <= 1:
        return Known(kind, tuple([int(n) for n in array.reshape(-1)])).result
    return Known(kind, None, data_of_array(kind, array)).result


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


def _runs(steps: Steps) -> int:
    """How often a function is run as it stands: until a plan has paid, by sizes alone, so that every process computes
    the same.
    """
    return max(1, min(MAX_RUNS, REPEATED_ELEMENTS * len(steps) // max(steps.elements, 1)))


class ImmediateExecutable:
    """A function that is run as it stands the first times."""

    def __init__(
        self, function: Function, steps: Steps, options: EngineOptions, limit: int, later: Callable[[bool], Executable]
    ) -> None:
        self._binder = Binder(function)
        self._inputs = [v.type for v in function.inputs]
        self._outputs = [(n, v.type) for n, v in zip(function.output_names, function.outputs, strict=True)]
        # Nothing when it has run, or cannot run, in this way.
        self._steps: Steps | None = steps
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

    def _run(self, steps: Steps, inputs: Mapping[str, Array]) -> dict[str, Array]:
        bound = self._binder.bind(inputs)
        evaluator = StepEvaluator(bound.sizes, Globals(), limit=self._limit)
        given = [computed(x, kind) for kind, x in zip(self._inputs, bound.arrays, strict=True)]
        with limited_threads(self._options.threads), np.errstate(all="ignore"):
            found = steps(given, evaluator)
        self._rounds_left -= evaluator.rounds
        if self._rounds_left < 0:
            self._runs_left = 0
        return {n: copied(declared(x, kind)) for (n, kind), x in zip(self._outputs, found, strict=True)}


class _Compiler:
    """Makes steps of operations whose results are small enough."""

    def __init__(self, limit: int) -> None:
        self._limit = limit

    def program(self, function: Function) -> Steps:
        """The steps of a function. Raises: _NotImmediate, TooLargeError, DiagnosticError."""
        made = StepsBuilder(function.inputs)
        self._add(function.body.operations, made, is_checked=False)
        return _finished(made, function.outputs)

    def _add(self, operations: Iterable[Operation], made: StepsBuilder, *, is_checked: bool) -> None:
        """Adds the steps of operations; `is_checked` says that nothing is wrong with them."""
        elements = 0
        for op in operations:
            does = _does(type(op))
            if not isinstance(op, Op) or does is _Does.CALLS:
                raise _NotImmediate
            if does is _Does.ENDS:
                break
            if not made.has(op.operands):
                raise _NotImmediate
            constant = self._constant(op)
            if constant is not None:
                made.constant(op.results[0], constant)
                elements += constant.size
            elif does is _Does.CONTROLS:
                elements += self._held(op)
                self._add_control(op, made, is_checked)
            elif op.regions:
                elements += self._held(op)
                self._add_expanded(op, made, is_checked)
            else:
                elements += self._add_step(op, made, is_checked)
        if elements > MAX_ELEMENTS:
            raise _NotImmediate

    def _add_step(self, op: Op, made: StepsBuilder, is_checked: bool) -> int:
        """Adds an operation without regions; returns the elements of its results."""
        kinds = tuple([r.type for r in op.results])
        if not is_checked and unknown in kinds:
            raise _UnknownType
        derived = infer(op)
        kept = _kept(derived)
        alike = kept.alike.get(kinds)
        if alike is None:
            alike = kept.alike[kinds] = self._alike(op, derived)
        if not (is_checked or alike.is_right):
            _check(op, derived)
        calculate = alike.calculate or self._calculation(op, derived)
        made.add(calculate, op.operands, op.results, alike.elements)
        return alike.held

    def _alike(self, op: Op, derived: Derived) -> _Alike:
        """What is known of all operations like one. Raises: _NotImmediate, TooLargeError, DiagnosticError."""
        held = self._held(op)
        is_known = not derived.is_open and all(is_static(v.type) for v in (*op.operands, *op.results))
        kept = _kept(derived)
        calculate = None
        if is_known and (op.form is Form.KERNEL or (op.form is Form.COMPOSITE and not op.states_types)):
            calculate = self._known(op, derived)
        return _Alike(False, held, kept.elements or held, calculate)

    def _add_expanded(self, op: Op, made: StepsBuilder, is_checked: bool) -> None:
        """Adds what an operation with regions says in terms of others."""
        if op.form is not Form.COMPOSITE:  # lowering tells that it has no meaning
            raise _NotImmediate
        if not is_checked:
            _check(op, infer(op))
        expansion = _expanded(op)
        self._add(expansion.operations, made, is_checked=is_checked)
        if not made.has(expansion.results):
            raise _NotImmediate
        made.same(op.results, expansion.results)

    def _add_control(self, op: Op, made: StepsBuilder, is_checked: bool) -> None:
        """Adds an operation that runs nested programs."""
        nested: dict[Block, Steps] = {}
        used = tuple(dict.fromkeys(op.values_used))
        if not made.has(used):
            raise _NotImmediate
        for block in [block for region in op.regions for block in region.blocks]:
            if block.last is None:
                raise _NotImmediate
            if unknown in [v.type for v in block.arguments]:
                raise _UnknownType
            needed = {v for inner in block.operations for v in inner.values_used}
            inside = StepsBuilder([*[v for v in used if v in needed], *block.arguments])
            self._add(block.operations, inside, is_checked=is_checked)
            nested[block] = _finished(inside, block.last.operands)

        def calculate(arrays: Sequence[Array], evaluator: StepEvaluator) -> Arrays:
            return run_control(op, dict(zip(used, arrays, strict=True)), _Nested(nested, evaluator))

        made.add(calculate, used, op.results)

    def _held(self, op: Op) -> int:
        """Elements of the results of an operation; of those of unknown size it is seen when they are computed."""
        elements = 0
        for result in op.results:
            count = result.type.count if isinstance(result.type, TensorType) and result.type.is_static else 0
            if count > self._limit:
                raise TooLargeError
            elements += count
        return elements

    def _constant(self, op: Op) -> Array | None:
        """The result of an operation on nothing but constants. Raises: TooLargeError."""
        results, has_operands = op.results, len(op.operands) > 0
        if len(results) != 1 or (has_operands and op.form is not Form.COMPOSITE):
            return None
        result, kind = results[0], results[0].type
        if not isinstance(kind, TensorType):
            return None
        may_be_dims = not has_operands or (kind.rank in (0, 1) and kind.element.is_integer)
        is_asked = may_be_known(type(op))
        if not (may_be_dims or is_asked) or not kind.is_static:
            return None
        data = known_data(result) if is_asked else None
        if data is not None:
            self._held(op)
            return computed(data.array(), kind)
        known = known_dims(result) if may_be_dims else None
        if known is None or not all(isinstance(dim, int) for dim in known):
            return None  # the sizes are known when it runs, from what it is computed of
        return computed(np.asarray(known, dtype_of(kind.element.name)).reshape(kind.static_shape), kind)

    def _calculation(self, op: Op, derived: Derived) -> Calculation:
        """What an operation computes of which that depends on itself."""
        match op.form:
            case Form.COMPOSITE:
                return self._by_contents(op, derived)
            case Form.STRUCTURAL:
                raise _NotImmediate
            case _:
                return lambda arrays, evaluator: _checked_sizes(op.results, evaluator.apply(op, tuple(arrays)))

    def _known(self, op: Op, derived: Derived) -> Calculation:
        """What all operations of known sizes compute that one trace tells of: a kernel or a composite."""
        kept = _kept(derived)
        if kept.calculate is not None:
            return kept.calculate
        if op.form is Form.KERNEL:
            kernels = self._small_kernels(op, derived)
            kept.calculate = _kernels(kernels)
            kept.elements = sum([k.grid for k in kernels])
            return kept.calculate
        steps = self._kept_steps(derived.body, flat_values(derived.inputs), derived.outputs)
        kept.elements = steps.elements
        calculate = kept.calculate = steps.calculation()
        if op.layout.parameters:
            places = {v: n for n, v in enumerate(op.operands)}
            read = [places[v] for v in flat_values(op.grouped_operands())]
            kept.calculate = lambda arrays, evaluator: calculate([arrays[n] for n in read], evaluator)
        return kept.calculate

    def _small_kernels(self, op: Op, derived: Derived) -> list[SmallKernel]:
        kernels: list[SmallKernel] = []
        names = operand_names(op)
        for kernel, known in zip(derived.kernels, derived.extents, strict=True):
            extents = {n: d for n, d in known.items() if isinstance(d, int)}
            if len(extents) < len(known):
                raise _NotImmediate
            if prod(extents.values()) > self._limit and grid_size(kernel.body, extents) > self._limit:
                raise TooLargeError
            kernels.append(SmallKernel(kernel, extents, names))
        return kernels

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
                return self._known(made, derived)
        statement = stated(op, arrays, types, read, {})
        given = list(statement.inputs)
        inputs = list(statement.inputs.values())
        operations = [inner for inner in statement.block.operations if inner is not statement.block.last]
        calculate = self._kept_steps(operations, inputs, statement.outputs).calculation()
        return lambda arrays, evaluator: calculate([arrays[n] for n in given], evaluator)

    def _kept_steps(self, operations: Iterable[Operation], inputs: Iterable[Value], outputs: Sequence[Value]) -> Steps:
        """The steps of what a reference consists of."""
        made = StepsBuilder(inputs, is_kept=True)
        self._add(operations, made, is_checked=True)
        return _finished(made, outputs)


def _finished(made: StepsBuilder, outputs: Sequence[Value]) -> Steps:
    """What was made, to give some values. Raises: _NotImmediate when one is not computed."""
    if not made.has(outputs):
        raise _NotImmediate
    return made.steps(outputs)


def _check(op: Op, derived: Derived) -> None:
    """Raises: _NotImmediate when something is wrong with an operation; _UnknownType."""
    if unknown in [r.type for r in op.results]:
        raise _UnknownType
    if len(check_operation(op, derived=derived)):
        raise _NotImmediate


def _kernels(kernels: Sequence[SmallKernel]) -> Calculation:
    """What kernels on the same operands compute."""
    if len(kernels) == 1:
        evaluate = kernels[0].evaluate
        return lambda arrays, _: (evaluate(arrays),)
    return lambda arrays, _: [kernel.evaluate(arrays) for kernel in kernels]
