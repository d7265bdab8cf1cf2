"""Compares two programs, or one program on two engines, value by value on the same inputs.

Values are matched by name, which lowering and conversions preserve. Both sides run piece by piece (`piecewise.py`), in
the order of the first, so that a value is compared as soon as both have it and is then dropped. Values inside loops and
branches are not compared, only the results of the enclosing operation.

A divergence is a value that differs although all shared values that it is computed from agree.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of, name_of
from commonir.base.codes import INTERFACES_DIFFER, NOTHING_TO_COMPARE
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.comparing.comparison import default_rtol
from commonir.comparing.measures import Measures, Requirements, Tolerance, measure, overflow_limit
from commonir.comparing.piecewise import PIECE_BYTES, PiecewiseRun, is_constant
from commonir.dialects.mlir import func
from commonir.ir.lookup import named_by_nodes
from commonir.ir.module import Function, Module
from commonir.ir.operation import Operation, Value
from commonir.ir.types import TensorType, Type
from commonir.ods import Op, are_compatible, traits
from commonir.passes.lower import Deferral, lower
from commonir.passes.thread_globals import thread_globals
from commonir.reports import Comparison, Divergence, ValueDifference
from commonir.runtime.engine import DEFAULT_OPTIONS, Engine, EngineOptions, is_stepwise, runs_as_it_is
from commonir.runtime.interpreter.control import Globals
from commonir.runtime.seeding import with_seeds
from commonir.runtime.values import flat_array
from commonir.symbolic import Dim, plain_symbol

Array = NDArray[np.generic]


class Side:
    """A function of a program on an engine, with its inputs, outputs and values by name.

    `initial` has the initial values of mutable globals.
    """

    def __init__(
        self,
        module: Module,
        engine: Engine,
        function: str | None = None,
        seed: int = 0,
        lowered: Module | None = None,
    ) -> None:
        """Lowers the program, unless it is known `lowered`.

        Raises: DiagnosticError when the program cannot be lowered (E0601) or has no such function (E0706).
        """
        # Values without names are compared by those of their nodes, such as locations of jax.
        module = named_by_nodes(module)
        self.original = module
        self.source = module.function(function)
        if runs_as_it_is(engine, module):
            self.module, threaded = module, ()
        else:
            # Mutable globals become inputs and outputs, and random operations get seeds, so that pieces share no state.
            known = lower(module, Deferral.OPEN, function=function) if lowered is None else lowered
            seeded = with_seeds(known, seed, self.source.symbol_name)
            self.module, threaded = thread_globals(seeded, self.source.symbol_name)
        self.engine = engine
        self.function = self.module.function(self.source.symbol_name)
        start = Globals()
        self.initial = {t.input: start.load(t.variable) for t in threaded}
        self.outputs = dict(zip(self.function.output_names, self.function.outputs, strict=True))
        self.inputs = {v.name or f"input{n}": v for n, v in enumerate(self.function.inputs)}
        self.values = _values_by_name(self.function)
        self._places: dict[Value, list[tuple[int, str]]] = {}
        for place, (name, v) in enumerate((*self.inputs.items(), *self.values.items())):
            self._places.setdefault(v, []).append((place, name))
        self.operations = _operations_by_result(self.source)

    @property
    def labelled(self) -> frozenset[str]:
        """The names of outputs whose elements have labels: vectors of probabilities."""
        return frozenset([name for name, port in self.function.output_ports.items() if port.labels])

    @property
    def lowered(self) -> Module:
        """The program in core operations, from which inputs are drawn; as it is if it cannot be lowered."""
        if self.module is not self.original:
            return self.module
        try:
            return lower(self.original, Deferral.OPEN, function=self.source.symbol_name)
        except DiagnosticError:
            return self.original

    def by_name(self, values: Iterable[Value]) -> dict[str, Value]:
        """Returns inputs and other values by name, in program order."""
        places = sorted([(place, name, v) for v in values for place, name in self._places.get(v, ())])
        return {name: v for _, name, v in places}

    def run(self, inputs: Mapping[str, Array], options: EngineOptions, piece_bytes: int) -> PiecewiseRun:
        """Returns a piecewise run on some inputs."""
        return PiecewiseRun(self.module, self.function, inputs, self.engine, options=options, piece_bytes=piece_bytes)

    def operation_name(self, name: str) -> str:
        """Returns the name of the operation that computes a value, in the dialect of the source program."""
        op = self._operation(name)
        return "" if op is None else op.name

    def node_name(self, name: str) -> str:
        """Returns the name that the source program gives the node that computes a value; "" where it is the value's."""
        op = self._operation(name)
        return "" if op is None or op.source_name == name else op.source_name

    def _operation(self, name: str) -> Operation | None:
        """Returns the operation of the source program that computes a value, else that of the lowered one."""
        op = self.operations.get(name)
        value = self.values.get(name) or self.outputs.get(name)
        return op if op is not None or value is None else value.defining_op


def _values_by_name(function: Function) -> dict[str, Value]:
    """Returns the results of operations in the body of a function by name, without ambiguous names."""
    by_name: dict[str, Value | None] = {}
    for op in function.body.operations:
        for v in op.results:
            if v.name:
                by_name[v.name] = None if v.name in by_name else v
    inputs = {v.name for v in function.inputs}
    out = {n: v for n, v in by_name.items() if v is not None and n not in inputs}
    for name, value in zip(function.output_names, function.outputs, strict=True):
        out.setdefault(name, value)
    return out


def _operations_by_result(function: Function) -> dict[str, Operation]:
    returned = zip(function.output_names, function.outputs, strict=False)
    outputs = {name: v.defining_op for name, v in returned if v.defining_op is not None}
    return outputs | {v.name: op for op in function.body.operations for v in op.results if v.name}


# -- inputs


def sizes_fixed_by(a: Side, b: Side, given: Mapping[str, Array]) -> dict[str, int]:
    """Returns the dims of one side's inputs that are fixed in the other, by name; given arrays fix their own."""
    of_given = {plain_symbol(d) for name, v in a.inputs.items() if name in given for d in _dims(v)}
    return {
        symbol: size
        for name, value in a.inputs.items()
        if name in b.inputs
        for dim, size in zip(_dims(value), _dims(b.inputs[name]), strict=False)
        if (symbol := plain_symbol(dim)) is not None and isinstance(size, int) and symbol not in of_given
    }


def _dims(value: Value) -> tuple[Dim | None, ...]:
    """Returns the dims of a tensor of known rank; nothing for other values."""
    return (value.type.shape or ()) if isinstance(value.type, TensorType) else ()


def counterparts(a: Side, b: Side) -> dict[str, str]:
    """Returns the inputs of the second side that have another name on the first, with that name.

    Names of values do not belong to a function of MLIR, and mlir-opt changes them: inputs without a namesake correspond
    by position if their types agree.
    """
    return _by_position(a, b, a.inputs, b.inputs)


def _by_position(a: Side, b: Side, first: Mapping[str, Value], second: Mapping[str, Value]) -> dict[str, str]:
    if not any(isinstance(side.source, func.Func) for side in (a, b)):
        return {}
    left, right = [n for n in first if n not in second], [n for n in second if n not in first]
    if len(left) != len(right) or len(first) != len(second):
        return {}
    pairs = list(zip(left, right, strict=True))
    return {m: n for n, m in pairs} if all(_correspond(first[n].type, second[m].type) for n, m in pairs) else {}


def _correspond(a: Type, b: Type) -> bool:
    """Returns whether a value of one type may be one of the other, of any precision."""
    if not isinstance(a, TensorType) or not isinstance(b, TensorType):
        return a is b
    return are_compatible(a, b.with_element(a.element))


def shared_inputs(a: Side, b: Side, arrays: Mapping[str, Array]) -> tuple[dict[str, Array], dict[str, Array]]:
    """Returns the inputs of each side from one set of arrays, in its declared element types.

    Raises: DiagnosticError (INTERFACES_DIFFER) for an input without an array, and an array without an input.
    """
    diagnostics = Diagnostics()
    out: list[dict[str, Array]] = []
    for side, other in ((a, b), (b, a)):
        missing = [n for n in side.inputs if n not in arrays]
        for name in missing:
            message = f"the input '{name}' of one program has no counterpart in the other"
            unmatched = [n for n in other.inputs if n not in side.inputs]
            near = did_you_mean(name, unmatched) or (f"the other has {', '.join(unmatched)}" if unmatched else None)
            remedy = "rename it with `cir edit --rename OLD=NEW`, or give values for the inputs of both"
            diagnostics.add(INTERFACES_DIFFER, message, notes=[near] if near else [], help=remedy)
        out.append({n: converted(arrays[n], v) for n, v in side.inputs.items() if n in arrays})
    known = {*a.inputs, *b.inputs}
    for name in arrays:
        if name not in known:
            help = did_you_mean(name, known) or f"the inputs are {', '.join(known) or 'none'}"
            diagnostics.add(INTERFACES_DIFFER, f"no program has an input '{name}'", help=help)
    diagnostics.raise_errors()
    return out[0], out[1]


def converted(array: Array, value: Value) -> Array:
    """Returns an array in the element type of a value if only the width differs and integers are preserved."""
    if not isinstance(value.type, TensorType):
        return array
    expected = dtype_of(value.type.element.name)
    actual = np.asarray(array)
    if actual.dtype == expected or "O" in (actual.dtype.kind, expected.kind):
        return actual
    is_float = [name_of(d).startswith(("f", "bf")) for d in (actual.dtype, expected)]
    if all(is_float):
        with np.errstate(over="ignore"):
            return actual.astype(expected)
    if not any(is_float):
        result = actual.astype(expected)
        return result if np.array_equal(result.astype(actual.dtype), actual) else actual
    return actual


# -- comparing


class Pair(NamedTuple):
    """A value that both sides have: `name` is its name on the first side, `other` on the second."""

    name: str
    other: str
    a: Value
    b: Value


def matched(a: Side, b: Side) -> list[Pair]:
    """Returns the values that both sides compute, in the program order of the first, without constants."""
    position = {v: n for n, v in enumerate(v for op in a.function.body.operations for v in op.results)}
    pairs = [Pair(n, m, a.values[n], b.values[m]) for n, m in same_names(a.values, b.values)]
    pairs += [Pair(n, m, a.outputs[n], b.outputs[m]) for m, n in _by_position(a, b, a.outputs, b.outputs).items()]
    returned = {*a.outputs.values()}, {*b.outputs.values()}
    pairs = [p for p in pairs if (p.a in returned[0] and p.b in returned[1]) or not _are_unrelated(p)]
    # An output is compared once, by the name of its value where both sides have that.
    pairs = list({(p.a, p.b): p for p in reversed(pairs)}.values())
    return sorted(pairs, key=lambda p: position.get(p.a, -1))


def _are_unrelated(pair: Pair) -> bool:
    """Returns whether both are constants, or one is a constant of another type whose name is equal by coincidence."""
    a, b = pair.a.type, pair.b.type
    if not is_constant(pair.a) and not is_constant(pair.b):
        return False
    if is_constant(pair.a) and is_constant(pair.b):
        return True
    return isinstance(a, TensorType) and isinstance(b, TensorType) and not are_compatible(a, b.with_element(a.element))


# The suffix that coremltools appends to the name of an operation that it converts to half precision.
_PRECISION_SUFFIXES = ("_cast_fp16",)
_NOT_AN_IDENTIFIER_CHARACTER = re.compile(r"[^A-Za-z0-9_]")


def same_names(first: Iterable[str], second: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yields pairs of corresponding names: equal ones, and those that differ only by how converters spell names."""
    first, second = dict.fromkeys(first), dict.fromkeys(second)
    yield from ((n, n) for n in first if n in second)
    unmatched = _by_plain_name(n for n in first if n not in second), _by_plain_name(n for n in second if n not in first)
    for plain, names in unmatched[0].items():
        matches = unmatched[1].get(plain, [])
        if len(names) == len(matches) == 1:
            yield names[0], matches[0]


def _by_plain_name(names: Iterable[str]) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for name in names:
        plain = name
        for suffix in _PRECISION_SUFFIXES:
            plain = plain.removesuffix(suffix)
        # Names that must be identifiers have `_` for all other characters, and before a leading digit.
        out.setdefault(_NOT_AN_IDENTIFIER_CHARACTER.sub("_", plain).lstrip("_"), []).append(name)
    return out


class ValueComparison:
    """Computes the values that both sides share, and their differences."""

    def __init__(
        self,
        a: Side,
        b: Side,
        inputs: Mapping[str, Array],
        *,
        required: Requirements = Requirements(),  # noqa: B008  immutable
        options: EngineOptions = DEFAULT_OPTIONS,
        piece_bytes: int = PIECE_BYTES,
    ) -> None:
        """Raises: DiagnosticError when the inputs of the programs differ, or they have no value in common."""
        self.a, self.b = a, b
        self.pairs = matched(a, b)
        if not self.pairs:
            message = "the programs have no value of the same name"
            help = "conversions of commonir preserve names: compare a program with its conversion"
            raise DiagnosticError(Diagnostic(NOTHING_TO_COMPARE, message, help=help))
        self.inputs = shared_inputs(a, b, inputs)
        self.options, self._piece_bytes = options, piece_bytes
        self.runs = self.run_again()
        self._precisions = precisions(a.function), precisions(b.function)
        returned = {*a.outputs.values()}, {*b.outputs.values()}
        self._returned = dict.fromkeys(p for p in self.pairs if p.a in returned[0] and p.b in returned[1])
        self._shared = {p.a for p in self.pairs}, {p.b for p in self.pairs}
        self._labelled = a.labelled, b.labelled
        self._stored: dict[str, tuple[Array, Array]] = {}
        # Differences of values that agree only because the type of one side overflows, without that rule.
        self.overflows: dict[str, ValueDifference] = {}
        self.required = required

    def differences(self) -> Iterator[ValueDifference]:
        """Yields the difference of each shared value, in program order.

        Raises: DiagnosticError as the engines do.
        """
        first = self.runs[0].values([p.a for p in self.pairs])
        second = self.runs[1].values([p.b for p in self.pairs])
        for pair in self.pairs:
            arrays = next(first), next(second)
            if pair in self._returned:
                self._stored[pair.name] = arrays
            yield self.difference(pair, *arrays)

    def whole_run_differences(self) -> Iterator[ValueDifference]:
        """Yields the differences of outputs in an ordinary run of each program.

        It needs the values that `differences` stores. Yields nothing if neither engine fuses operations, since the
        results would be the same.
        """
        if is_stepwise(self.a.engine) and is_stepwise(self.b.engine):
            return
        first = self._outputs(self.a, self.inputs[0], {p.a: self._stored[p.name][0] for p in self._returned})
        second = self._outputs(self.b, self.inputs[1], {p.b: self._stored[p.name][1] for p in self._returned})
        for pair in self._returned:
            yield self.difference(pair, first[pair.a], second[pair.b])

    def _outputs(self, side: Side, inputs: Mapping[str, Array], known: Mapping[Value, Array]) -> Mapping[Value, Array]:
        if is_stepwise(side.engine):
            return known
        outputs = side.engine.prepare(side.module, side.function.symbol_name, self.options).run(inputs)
        return {value: outputs[name] for name, value in side.outputs.items()}

    def slices(self, pair: Pair) -> tuple[Slice, Slice]:
        """Returns the operations of each side that compute a value from shared values."""
        return _slice(pair.a, self._shared[0], self.a), _slice(pair.b, self._shared[1], self.b)

    def run_again(self) -> tuple[PiecewiseRun, PiecewiseRun]:
        """Returns new runs of both sides on the same inputs."""
        a, b = self.inputs
        return self.a.run(a, self.options, self._piece_bytes), self.b.run(b, self.options, self._piece_bytes)

    def difference(self, pair: Pair, expected: Array, actual: Array) -> ValueDifference:
        """Returns the difference of one value."""
        if pair.name in self._labelled[0] or pair.other in self._labelled[1]:
            expected, actual = probabilities(expected, actual)
        default = self._precisions[0].get(pair.a, EXACT).joined(self._precisions[1].get(pair.b, EXACT))
        op_names = self.a.operation_name(pair.name), self.b.operation_name(pair.other)
        tolerance = self.required.of(pair.name, default.rtol, default.largest)
        result = self._described(pair, value_difference(pair.name, op_names, expected, actual, tolerance))
        if result.overflows:
            strict = value_difference(pair.name, op_names, expected, actual, tolerance._replace(strict=True))
            self.overflows[pair.name] = self._described(pair, strict)
        return result

    def _described(self, pair: Pair, difference: ValueDifference) -> ValueDifference:
        return difference.replaced(
            node=self.a.node_name(pair.name),
            other_node=self.b.node_name(pair.other),
            is_output=pair in self._returned,
        )


def probabilities(expected: Array, actual: Array) -> tuple[Array, Array]:
    """Returns probabilities of both sides as vectors: a classifier has one for each label, without the batch of one
    that the program before may have.
    """
    return (expected.reshape(-1), actual.reshape(-1)) if expected.size == actual.size else (expected, actual)


def value_difference(
    name: str, op_names: tuple[str, str], expected: Array, actual: Array, tolerance: Tolerance
) -> ValueDifference:
    """Returns the difference of a value; `op_names` are the names of the operations that compute it."""
    expected, actual = flat_array(expected), flat_array(actual)
    measures = measure(expected, actual, tolerance)
    types = name_of(expected.dtype), name_of(actual.dtype)
    rtol = tolerance.rtol
    if not isinstance(measures, Measures):
        none = (None, None, None, None)
        return ValueDifference(name, *op_names, *types, False, *none, tolerance.atol or 0.0, rtol, note=measures)
    return ValueDifference(
        name,
        *op_names,
        *types,
        measures.is_within,
        measures.absolute,
        measures.relative,
        measures.rmse,
        measures.cosine,
        measures.atol,
        rtol,
        measures.at,
        measures.beyond,
        int(np.size(expected)),
        snr=measures.snr,
        psnr=measures.psnr,
        failed=measures.failed,
        overflows=measures.overflows,
    )


def compare(
    comparing: ValueComparison, on_progress: Callable[[str], None] = lambda _: None, *, all_decide: bool = False
) -> Comparison:
    """Runs a comparison and returns its report, without reproducers; `on_progress` receives messages.

    The outputs decide whether the programs agree; all values do with `all_decide`, and without common outputs.
    """
    differences: list[ValueDifference] = []
    for difference in comparing.differences():
        differences.append(difference)
        on_progress(f"comparing values: {len(differences)} of {len(comparing.pairs)}")
    blamed = _fatal_overflows(comparing, differences)
    differences = [comparing.overflows[d.name] if d.name in blamed else d for d in differences]
    by_name = {p.name: (p, d) for p, d in zip(comparing.pairs, differences, strict=True)}
    shared = {p.a for p in comparing.pairs}, {p.b for p in comparing.pairs}
    differing = {d.name for d in differences if not d.is_within}
    first = roots(comparing.a.function, {p.name: p.a for p in comparing.pairs}, differing)
    whole: tuple[ValueDifference, ...] = ()
    if all(d.is_within for d in differences if d.is_output):
        on_progress("comparing the outputs of whole runs")
        whole = tuple(comparing.whole_run_differences())
    a, b = comparing.a, comparing.b
    return Comparison(
        all_decide=all_decide or not any(d.is_output for d in differences),
        engines=(a.engine.name, b.engine.name),
        function=a.source.symbol_name,
        values=tuple(differences),
        outputs=tuple([n for n in a.outputs if n in b.outputs]),
        only_first=tuple([n for n, v in a.values.items() if v not in shared[0] and not is_constant(v)]),
        only_second=tuple([n for n, v in b.values.items() if v not in shared[1] and not is_constant(v)]),
        divergences=tuple([_divergence(comparing, by_name[n]) for n in first]),
        peak_values=tuple([run.peak.values for run in comparing.runs]),
        peak_bytes=tuple([run.peak.size_bytes for run in comparing.runs]),
        whole=whole,
    )


def _fatal_overflows(comparing: ValueComparison, differences: Iterable[ValueDifference]) -> set[str]:
    """Returns the values that agree only because a type overflows, and from which infinite differences are computed."""
    pairs = {p.name: p for p in comparing.pairs} if comparing.overflows else {}
    pending = [pairs[d.name] for d in differences if d.name in pairs and not d.is_within and d.absolute == math.inf]
    out: set[str] = set()
    while pending:
        found = [n for n in comparing.slices(pending.pop())[0].inputs if n in comparing.overflows and n not in out]
        out.update(found)
        pending += [pairs[name] for name in found]
    return out


def _divergence(comparing: ValueComparison, pair_difference: tuple[Pair, ValueDifference]) -> Divergence:
    pair, difference = pair_difference
    slices = comparing.slices(pair)
    names = [_operation_texts(s.operations, side) for s, side in zip(slices, (comparing.a, comparing.b), strict=True)]
    return Divergence(
        difference=difference,
        inputs=tuple(slices[0].inputs),
        operations=tuple(names[0]),
        other_operations=tuple(names[1]),
        constants=tuple(_different_constants(slices[0], slices[1], difference.rtol)),
    )


class Slice(NamedTuple):
    """The operations that compute one value from shared values, among which is the cause of a difference.

    `inputs` are the shared values, by name.
    """

    inputs: dict[str, Value]
    operations: tuple[Operation, ...]
    constants: tuple[Value, ...]


def _slice(value: Value, shared: set[Value], side: Side) -> Slice:
    inputs: set[Value] = set()
    constants: dict[Value, None] = {}
    operations: dict[Operation, None] = {}
    pending = [value]
    while pending:
        current = pending.pop()
        owner = current.owner
        if is_constant(current):
            constants[current] = None
        elif not isinstance(owner, Operation) or (current is not value and current in shared):
            inputs.add(current)
        elif owner not in operations:
            operations[owner] = None
            pending += owner.values_used
    return Slice(side.by_name(inputs), tuple(reversed(operations)), tuple(constants))


def _operation_texts(operations: Iterable[Operation], side: Side) -> list[str]:
    """Returns texts of operations of the source program, without duplicates: `mil.conv 'name'`."""
    out: dict[str, None] = {}
    for op in operations:
        name = op.first_name or op.source_name
        source = side.operations.get(name, op)
        out[f"{source.name} '{name}'" if name else op.name] = None
    return list(out)


def _different_constants(a: Slice, b: Slice, rtol: float) -> Iterator[str]:
    """Yields the names of constants that both sides have and that differ."""
    others = {v.name: v for v in b.constants if v.name}
    for value in a.constants:
        other = others.get(value.name)
        if other is None or not isinstance(value.owner, Operation) or not isinstance(other.owner, Operation):
            continue
        data, other_data = value.owner.constant_data(), other.owner.constant_data()
        if data is None or other_data is None or data is other_data:
            continue
        measures = measure(data.array(), other_data.array(), Tolerance(rtol))
        if isinstance(measures, str) or not measures.is_within:
            yield value.name


def roots(function: Function, values: Mapping[str, Value], differing: set[str]) -> list[str]:
    """Returns the names of values that differ although their operands agree, in program order; `values` has those that
    are compared.
    """
    # One value may have several names, for example one as an output.
    names: dict[Value, list[str]] = {}
    for name, value in values.items():
        names.setdefault(value, []).append(name)
    affected: set[Value] = set()
    out: list[str] = []
    for op in function.body.operations:
        is_affected = any(v in affected for v in op.values_used)
        for v in op.results:
            differing_names = [n for n in names.get(v, ()) if n in differing]
            if differing_names or (is_affected and v not in names):
                affected.add(v)
            if differing_names and not is_affected:
                out.append(differing_names[0])
    return out


def single_divergence(side: Side, value: Value, difference: ValueDifference, shared: set[Value]) -> Divergence:
    """Returns the divergence of a value of one program from what is expected of it."""
    part = _slice(value, shared, side)
    names = tuple(_operation_texts(part.operations, side))
    return Divergence(difference=difference, inputs=tuple(part.inputs), operations=names, other_operations=names)


class Precision(NamedTuple):
    """The limits of the narrowest floats in the computation of a value: the relative tolerance, and the smallest
    magnitude that overflows.
    """

    rtol: float
    largest: float

    def joined(self, other: Precision) -> Precision:
        """Returns the precision of what is computed from two values."""
        return Precision(max(self.rtol, other.rtol), min(self.largest, other.largest))


EXACT = Precision(0.0, math.inf)


def precisions(function: Function) -> dict[Value, Precision]:
    """Returns the precision of each value: that of the narrowest float in its computation."""
    out: dict[Value, Precision] = {}
    for v in function.inputs:
        out[v] = _own_precision(v)
    for op in function.body.operations:
        if isinstance(op, Op) and op.has_trait(traits.Terminator):
            continue
        nested_values = (v for inner in op.walk() if inner is not op for v in inner.results if not is_constant(v))
        used = (out.get(v, EXACT) for v in op.values_used)
        inherited = reduce(Precision.joined, (*used, *map(_own_precision, nested_values)), EXACT)
        for v in op.results:
            # A constant is exact in its type.
            out[v] = EXACT if is_constant(v) else inherited.joined(_own_precision(v))
    return out


def _own_precision(value: Value) -> Precision:
    if not isinstance(value.type, TensorType):
        return EXACT
    element = value.type.element
    if element.kind not in ("float", "complex"):
        return EXACT
    return Precision(default_rtol([element.name]), overflow_limit(element.name))
