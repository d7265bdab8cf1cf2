"""The first run of a small program: its operations as they stand, without lowering them or planning anything.

What inference has traced of an operation is run as it is, and kept for all operations of the same definition, types and
attributes. Only programs of known shapes and small operations are run in this way, and only once: what runs again is
lowered, and so is what fails, for the error that the lowered program gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from commonir.base.diagnostics import DiagnosticError
from commonir.ir.module import Function, Invocation, Module
from commonir.ir.operation import Operation, Value
from commonir.ir.types import TensorType, Type, unknown
from commonir.ods import Derived, Form, Op, check_operation, infer
from commonir.ods.traits import Terminator
from commonir.runtime.binding import bind
from commonir.runtime.blas import limited_threads
from commonir.runtime.control import Globals, is_control
from commonir.runtime.engine import EngineOptions, Executable
from commonir.runtime.evaluation import OutOfRange
from commonir.runtime.instances import is_static
from commonir.runtime.operations import constant_array, flat_values, operand_names
from commonir.runtime.reference import Evaluator, TooLargeError
from commonir.runtime.state import State
from commonir.runtime.strided import SmallKernel
from commonir.runtime.values import computed, copied, declared

Array = NDArray[Any]
Arrays = tuple[Array, ...]
Calculation = Callable[[Sequence[Array], Evaluator], Sequence[Array]]

MAX_ELEMENTS = 1 << 22
"""Elements of all values of a program together, which are held until its end."""


class _NotImmediate(Exception):
    """An operation is to be lowered."""


class _Step(NamedTuple):
    """An operation as a calculation on the values of its operands."""

    calculate: Calculation
    operands: tuple[Value, ...]
    results: tuple[Value, ...]


class _Steps(NamedTuple):
    """Operations in order, and the values that are known before."""

    steps: list[_Step]
    constants: dict[Value, Array]

    def run(self, values: dict[Value, Array], evaluator: Evaluator) -> None:
        """Adds what the operations compute to the values."""
        for calculate, operands, results in self.steps:
            found = calculate([values[v] for v in operands], evaluator)
            values.update(zip(results, found, strict=False))


def immediate(
    module: Module, function: str | None, options: EngineOptions, limit: int, later: Callable[[], Executable]
) -> ImmediateExecutable | None:
    """A function that is run as it stands once; None when it is to be lowered at once. `limit` is how many elements an
    operation may compute, `later` gives what runs it again.
    """
    if options.memory_limit_bytes is not None or options.time_limit_seconds is not None or options.seed is not None:
        # Only a plan knows what memory it takes, and seeds are told apart by places in the lowered program.
        return None
    functions = [op for op in module.body.operations if not (isinstance(op, Function) and op.is_template)]
    main = functions[0] if len(functions) == 1 else None
    if not isinstance(main, Function) or function not in (None, main.symbol_name) or len(main.regions) != 1:
        return None
    if len(main.regions[0].blocks) != 1 or not all(_is_certain(main, v.type) for v in main.inputs):
        return None
    try:
        steps = _Compiler(limit).program(main)
    except (_NotImmediate, TooLargeError, DiagnosticError):
        return None
    return ImmediateExecutable(main, steps, options, limit, later)


def _is_certain(function: Function, kind: Type) -> bool:
    """Whether values of a type have known sizes, and are in the core what they are here."""
    inner = kind
    while not isinstance(inner, TensorType):
        element = getattr(inner, "element", None)
        if not isinstance(element, Type):
            return False
        inner = element
    return inner.is_static and function.core_type(kind) is kind


class ImmediateExecutable:
    """A function that is run as it stands the first time."""

    def __init__(
        self, function: Function, steps: _Steps, options: EngineOptions, limit: int, later: Callable[[], Executable]
    ) -> None:
        self._function = function
        self._steps: _Steps | None = steps
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
        if self._made is None:
            self._made = self._make()
        return self._made

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs by name; see `Executable`."""
        steps, self._steps = self._steps, None
        if steps is None or self._made is not None:
            return self._later().run(inputs)
        try:
            return self._run(steps, inputs)
        except (TooLargeError, OutOfRange, DiagnosticError):
            return self._later().run(inputs)

    def _run(self, steps: _Steps, inputs: Mapping[str, Array]) -> dict[str, Array]:
        function = self._function
        bound = bind(function, inputs)
        evaluator = Evaluator(bound.sizes, Globals(), limit=self._limit)
        values = dict(steps.constants)
        values.update([(v, computed(x, v.type)) for v, x in zip(function.inputs, bound.arrays, strict=True)])
        with limited_threads(self._options.threads), np.errstate(all="ignore"):
            steps.run(values, evaluator)
        outputs = zip(function.output_names, function.outputs, strict=True)
        return {n: copied(declared(values[v], v.type)) for n, v in outputs}


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
            if not isinstance(op, Op) or op.regions or isinstance(op, Invocation) or is_control(op):
                raise _NotImmediate
            if op.has_trait(Terminator):
                break
            if not known.issuperset(op.operands):
                raise _NotImmediate
            for r in op.results:
                elements += self._size(r.type)
            known.update(op.results)
            constant = self._constant(op)
            if constant is not None:
                constants[op.results[0]] = constant
                continue
            steps.append(_Step(self._calculation(op, derived_of(op)), op.operands, op.results))
        if not known.issuperset(outputs) or elements > MAX_ELEMENTS:
            raise _NotImmediate
        return _Steps(steps, constants)

    def _checked(self, op: Op) -> Derived:
        """What follows from an operation in which nothing is wrong."""
        if len(check_operation(op)) or unknown in [r.type for r in op.results]:
            raise _NotImmediate
        return infer(op)

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
        found = constant_array(op, {}) if isinstance(kind, TensorType) and kind.is_static else None
        return None if found is None else computed(found, kind)

    def _calculation(self, op: Op, derived: Derived) -> Calculation:
        is_known = not derived.is_open and all(is_static(v.type) for v in (*op.operands, *op.results))
        match op.form:
            case Form.KERNEL if is_known:
                return self._kernels(op, derived)
            case Form.COMPOSITE if is_known and not op.states_types:
                return self._composite(op, derived)
            case Form.STRUCTURAL:
                raise _NotImmediate
            case _:
                return lambda arrays, evaluator: evaluator.apply(op, tuple(arrays))

    def _kernels(self, op: Op, derived: Derived) -> Calculation:
        names = operand_names(op)
        kernels: list[SmallKernel] = []
        for kernel, known in zip(derived.kernels, derived.extents, strict=True):
            extents = {n: d for n, d in known.items() if isinstance(d, int)}
            if len(extents) < len(known):
                raise _NotImmediate
            if prod(extents.values()) > self._limit:
                raise TooLargeError
            kernels.append(SmallKernel(kernel, extents))

        def calculate(arrays: Sequence[Array], _: Evaluator) -> list[Array]:
            given = dict(zip(names, arrays, strict=True))
            return [kernel.evaluate(given) for kernel in kernels]

        return calculate

    def _composite(self, op: Op, derived: Derived) -> Calculation:
        calculate = derived.calculation
        if calculate is None:
            calculate = derived.calculation = self._traced(derived)
        if not op.layout.parameters:
            return calculate
        places = {v: n for n, v in enumerate(op.operands)}
        read = [places[v] for v in flat_values(op.grouped_operands())]
        return lambda arrays, evaluator: calculate([arrays[n] for n in read], evaluator)

    def _traced(self, derived: Derived) -> Calculation:
        """What a reference was traced to."""
        inputs, outputs = flat_values(derived.inputs), derived.outputs
        steps = self._steps(derived.body, inputs, outputs, infer)

        def calculate(arrays: Sequence[Array], evaluator: Evaluator) -> list[Array]:
            values = dict(steps.constants)
            values.update(zip(inputs, arrays, strict=True))
            steps.run(values, evaluator)
            return [values[v] for v in outputs]

        return calculate
