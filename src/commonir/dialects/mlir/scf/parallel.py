"""Loops of the scf dialect whose rounds may run in any order.

Here they run one after the other: `passes/structure_control.py` turns them into `scf.for`.
Source: MLIR scf dialect; messages as of MLIR 22.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.mlir.scf.base import ScfOp, arguments_of, differing_types, end_region, last_of, write_loop_values
from commonir.ir.attributes import ArrayAttr, Attribute, attribute_text
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import DYNAMIC, Type, i64, index
from commonir.ods import attr_types, attribute, operand, region, result, traits
from commonir.ods.mlir_attr_types import array_of
from commonir.ods.text_form import Argument, FormReader, FormTask, FormWriter, Use, read_assignments
from commonir.ods.traits import ImplicitTerminator, has_parent
from commonir.ods.type_constraints import AnyRankedTensor, AnyType, Index

_numbers = array_of(i64)


def mixed(static: Sequence[int], dynamic: Sequence[Value]) -> list[int | Value]:
    """A list of numbers with values in place of those that operands give."""
    rest = iter(dynamic)
    return [next(rest) if n == DYNAMIC else n for n in static]


# -- scf.parallel


class Reduce(
    ScfOp,
    name="scf.reduce",
    traits=(traits.Terminator, traits.RecursiveEffects, has_parent("scf.parallel")),
    assembly="(`(` $operands^ `:` type($operands) `)`)? $reductions attr-dict",
):
    """Ends an iteration of a parallel loop: reduces each operand with those of other iterations by a region. C1: there
    is a region for each operand. C2: it takes two values of the type of the operand and returns one.
    """

    operands_: tuple[Value, ...] = operand(AnyType, variadic=True)
    reductions: tuple[Region, ...] = region(variadic=True, doc="combines a value with that of another iteration")

    def verify(self) -> Iterator[Diagnostic]:
        if len(self.reductions) != len(self.operands_):
            yield self.malformed(
                f"C1: expected number of reductions: {len(self.reductions)} to be equal to number of operands: "
                f"{len(self.operands_)}"
            )
            return
        for n, (v, nested) in enumerate(zip(self.operands_, self.reductions, strict=True)):
            what = f"{n}-th reduction"
            if not nested.blocks or nested.blocks[0].first is None:
                yield self.malformed(f"C2: {what} has an empty body")
                continue
            if [a.type for a in arguments_of(nested)] != [v.type, v.type]:
                yield self.malformed(f"C2: expected two block arguments with type '{v.type}' in the {what} region")
            if not isinstance(last_of(nested), ReduceReturn):
                yield self.malformed(f"C2: {what} region must end with 'scf.reduce.return'")


class ReduceReturn(
    ScfOp,
    name="scf.reduce.return",
    traits=(traits.Pure, traits.Terminator, has_parent("scf.reduce")),
    assembly="$result attr-dict `:` type($result)",
):
    """Returns the combined value from the region of a reduction. C1: the operand has the type of the region's
    arguments.
    """

    result_: Value = operand(AnyType)

    def verify(self) -> Iterator[Diagnostic]:
        block = self.parent
        if block is not None and block.arguments and block.arguments[0].type is not self.result_.type:
            expected = block.arguments[0].type
            yield self.malformed(f"C1: must have type {expected} (type of the reduction inputs)")


class _ParallelForm:
    """`(%i) = (%low) to (%high) step (%step) init (%v) -> types { }`."""

    def read(self, reader: FormReader) -> FormTask:
        reader.expect("(")
        variables = reader.separated(reader.use, ")")
        bounds: list[list[Use]] = []
        for mark in ("=", "to", "step"):
            reader.expect(mark)
            reader.expect("(")
            bounds.append(reader.separated(reader.use, ")"))
        initial: list[Use] = []
        if reader.take("init"):
            reader.expect("(")
            initial = reader.separated(reader.use, ")")
        types = reader.results() if reader.take("->") else ()
        values = [tuple([reader.resolve(u, index) for u in group]) for group in bounds]
        carried = reader.resolve_all(initial, types)
        body = yield reader.region([Argument(u.name, u.at, index, {}) for u in variables])
        end_region(body, Reduce)
        fields = dict(zip(("lowerBound", "upperBound", "step"), values, strict=True))
        return reader.make({**fields, "initVals": carried, "region": body}, types, reader.dictionary())

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        if not isinstance(op, Parallel):
            writer.refuse()
        low, high, step = (writer.values(v) for v in (op.lowerBound, op.upperBound, op.step))
        writer.write(f" ({writer.values(arguments_of(op.region))}) = ({low}) to ({high}) step ({step})")
        if op.initVals:
            writer.write(f" init ({writer.values(op.initVals)})")
        if op.results:
            writer.write(f" -> {writer.result_types([r.type for r in op.results])}")
        writer.write(" ")
        writer.region(op.region, arguments=False)
        writer.write(writer.dictionary())


class Parallel(
    ScfOp, name="scf.parallel", traits=(traits.RecursiveEffects, ImplicitTerminator("scf.reduce"), traits.Unstructured)
):
    """Parallel loop over a grid, whose iterations may reduce values.

    C1: there are a lower bound, an upper bound, a step and an induction variable for each dimension. C2: there are an
    initial value and a reduction of the type of each result.
    """

    custom_form = _ParallelForm()

    lowerBound: tuple[Value, ...] = operand(Index, variadic=True)
    upperBound: tuple[Value, ...] = operand(Index, variadic=True)
    step: tuple[Value, ...] = operand(Index, variadic=True)
    initVals: tuple[Value, ...] = operand(AnyType, variadic=True)
    region: Region = region(doc="one iteration")
    results_: tuple[Value, ...] = result(AnyType, variadic=True)

    def verify(self) -> Iterator[Diagnostic]:
        count = len(self.step)
        if not count:
            yield self.malformed("C1: needs at least one tuple element for lowerBound, upperBound and step")
            return
        if len(self.lowerBound) != count or len(self.upperBound) != count:
            yield self.malformed(
                f"C1: expects {count} bounds, found {len(self.lowerBound)} lower and {len(self.upperBound)} upper ones"
            )
        yield from differing_types(self, "C1: what the region receives", arguments_of(self.region), [index] * count)
        last = last_of(self.region)
        operands = last.operands if isinstance(last, Reduce) else ()
        types = [r.type for r in self.results]
        yield from differing_types(self, "C2: initial values", self.initVals, types)
        yield from differing_types(self, "C2: what is combined", operands, types)


# -- scf.forall


class _InParallelForm:
    """`{ }` with operations that insert into shared results."""

    def read(self, reader: FormReader) -> FormTask:
        body = yield reader.region()
        if not body.blocks:
            body.add(Block())
        return reader.make({"region": body}, (), reader.dictionary())

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        if not isinstance(op, InParallel):
            writer.refuse()
        writer.write(" ")
        writer.region(op.region, arguments=False)
        writer.write(writer.dictionary())


_INSERTING = ("tensor.parallel_insert_slice",)
"""The operations that combine values of parallel iterations (`ParallelCombiningOpInterface`)."""


class InParallel(
    ScfOp,
    name="scf.forall.in_parallel",
    traits=(traits.Pure, traits.Terminator, has_parent("scf.forall"), traits.SingleBlock),
):
    """Ends an iteration of a parallel loop: inserts slices into the shared results. C1: it holds nothing else."""

    custom_form = _InParallelForm()
    ends_blocks = False

    region: Region = region(doc="the slices that are inserted")

    def verify(self) -> Iterator[Diagnostic]:
        if not self.region.blocks:
            yield self.malformed("region #0 ('region') failed to verify constraint: region with 1 blocks")
        for op in [op for block in self.region.blocks for op in block.operations]:
            if op.name not in _INSERTING:
                yield self.malformed(f"C1: expected only operations that insert slices, found {op.name}")


class _ForallForm:
    """`(%i) in (4) shared_outs(%o = %t) -> (types) { }`, or with bounds `= (0) to (8) step (2)`."""

    def read(self, reader: FormReader) -> FormTask:
        reader.expect("(")
        variables = reader.separated(reader.use, ")")
        if reader.take("in"):
            upper = _read_bounds(reader)
            lower: _Bounds = ([], [0] * len(variables))
            step: _Bounds = ([], [1] * len(variables))
        else:
            reader.expect("=")
            lower = _read_bounds(reader)
            reader.expect("to")
            upper = _read_bounds(reader)
            reader.expect("step")
            step = _read_bounds(reader)
        names: list[Use] = []
        initial: list[Use] = []
        if reader.take("shared_outs"):
            reader.expect("(")
            names, initial = read_assignments(reader)
        types = reader.results() if reader.take("->") else ()
        fields: dict[str, object] = {"outputs": reader.resolve_all(initial, types)}
        for name, (values, numbers) in (("LowerBound", lower), ("UpperBound", upper), ("Step", step)):
            fields[f"dynamic{name}"] = tuple([reader.resolve(u, index) for u in values])
            fields[f"static{name}"] = tuple(numbers)
        entry = [Argument(u.name, u.at, index, {}) for u in variables]
        entry += [Argument(u.name, u.at, t, {}) for u, t in zip(names, types, strict=True)]
        fields["region"] = body = yield reader.region(entry)
        end_region(body, InParallel)
        return reader.make(fields, types, reader.dictionary())

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        if not isinstance(op, Forall):
            writer.refuse()
        count = len(op.staticUpperBound)
        arguments = arguments_of(op.region)
        writer.write(f" ({writer.values(arguments[:count])}) ")
        upper = _bounds_text(writer, op.staticUpperBound, op.dynamicUpperBound)
        if op.is_normalized:
            writer.write(f"in {upper}")
        else:
            lower = _bounds_text(writer, op.staticLowerBound, op.dynamicLowerBound)
            step = _bounds_text(writer, op.staticStep, op.dynamicStep)
            writer.write(f"= {lower} to {upper} step {step}")
        if op.outputs:
            write_loop_values(writer, " shared_outs", arguments[count:], op.outputs)
            writer.write(f" -> ({writer.types([r.type for r in op.results])})")
        writer.write(" ")
        last = last_of(op.region)
        says = isinstance(last, InParallel) and any(b.first is not None for b in last.region.blocks)
        writer.region(op.region, arguments=False, terminator=bool(op.results) or says)
        named = {f"{kind}{bound}" for kind in ("static", "dynamic") for bound in ("LowerBound", "UpperBound", "Step")}
        writer.write(writer.dictionary(named))


_Bounds = tuple[list[Use], list[int]]


def _read_bounds(reader: FormReader) -> _Bounds:
    values: list[Use] = []
    numbers: list[int] = []

    def one() -> None:
        if reader.at_value():
            values.append(reader.use())
            numbers.append(DYNAMIC)
        else:
            numbers.append(reader.integer())

    reader.expect("(")
    reader.separated(one, ")")
    return values, numbers


def _bounds_text(writer: FormWriter, static: Sequence[int], dynamic: Sequence[Value]) -> str:
    shown = [str(b) if isinstance(b, int) else writer.value(b) for b in mixed(static, dynamic)]
    return f"({', '.join(shown)})"


class Forall(
    ScfOp,
    name="scf.forall",
    traits=(traits.RecursiveEffects, ImplicitTerminator("scf.forall.in_parallel"), traits.Unstructured),
):
    """Parallel loop over a grid, whose iterations insert slices into shared tensors.

    C1: there are a lower bound, an upper bound, a step and an induction variable for each dimension. C2: there are a
    result and a region argument of the type of each shared output. C3: a mapping is an array with one entry for each
    dimension.
    """

    custom_form = _ForallForm()

    dynamicLowerBound: tuple[Value, ...] = operand(Index, variadic=True)
    dynamicUpperBound: tuple[Value, ...] = operand(Index, variadic=True)
    dynamicStep: tuple[Value, ...] = operand(Index, variadic=True)
    staticLowerBound: tuple[int, ...] = attribute(_numbers)
    staticUpperBound: tuple[int, ...] = attribute(_numbers)
    staticStep: tuple[int, ...] = attribute(_numbers)
    outputs: tuple[Value, ...] = operand(AnyRankedTensor, variadic=True)
    region: Region = region(doc="one iteration")
    mapping: Attribute | None = attribute(attr_types.any_attribute, default=None)
    results_: tuple[Value, ...] = result(AnyType, variadic=True)

    @property
    def is_normalized(self) -> bool:
        """Returns whether it counts from zero by one."""
        return not any(self.staticLowerBound) and all(n == 1 for n in self.staticStep)

    @property
    def bounds(self) -> list[tuple[int | Value, int | Value, int | Value]]:
        """The lower bound, the upper bound and the step of each axis."""
        return list(
            zip(
                mixed(self.staticLowerBound, self.dynamicLowerBound),
                mixed(self.staticUpperBound, self.dynamicUpperBound),
                mixed(self.staticStep, self.dynamicStep),
                strict=True,
            )
        )

    def infer_results(self) -> tuple[Type, ...] | None:
        return tuple([v.type for v in self.outputs])

    def verify(self) -> Iterator[Diagnostic]:
        count = len(self.staticUpperBound)
        for what, static, dynamic in (
            ("lower bound", self.staticLowerBound, self.dynamicLowerBound),
            ("upper bound", self.staticUpperBound, self.dynamicUpperBound),
            ("step", self.staticStep, self.dynamicStep),
        ):
            if len(static) != count:
                yield self.malformed(f"C1: expected {count} {what} values, found {len(static)}")
            if static.count(DYNAMIC) != len(dynamic):
                yield self.malformed(
                    f"C1: expected {static.count(DYNAMIC)} dynamic {what} values, found {len(dynamic)}"
                )
        types = [v.type for v in self.outputs]
        yield from differing_types(self, "C2: results", self.results, types)
        expected = [*([index] * count), *types]
        yield from differing_types(self, "C2: what the region receives", arguments_of(self.region), expected)
        mapping = self.mapping
        if mapping is not None and not isinstance(mapping, ArrayAttr):
            yield self.malformed(f"C3: the mapping must be an array, found {attribute_text(mapping)}")
        elif mapping is not None and mapping.values and len(mapping.values) != count:
            yield self.malformed("C3: mapping attribute size must match op rank")
