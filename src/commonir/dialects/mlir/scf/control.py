"""Conditions and loops of the scf dialect.

Source: MLIR scf dialect; messages as of MLIR 22.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonir.base.codes import ENDLESS_LOOP
from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core, integers
from commonir.dialects.mlir.scf.base import (
    ScfOp,
    arguments_of,
    differing_types,
    end_region,
    end_with,
    last_of,
    write_loop_values,
    yielding,
    yields,
)
from commonir.ir.cloning import clone
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import FunctionType, Type, boolean, i64, index
from commonir.ods import attr_types, attribute, operand, region, result, traits
from commonir.ods.branching import Conditional, KnownData, RegionBranch, RegionSuccessor
from commonir.ods.known import known_integer
from commonir.ods.mlir_attr_types import array_of
from commonir.ods.requiring import Requiring
from commonir.ods.text_form import Argument, FormReader, FormTask, FormWriter, Use, read_assignments
from commonir.ods.traits import ImplicitTerminator, has_parent
from commonir.ods.type_constraints import I1, AnySignlessIntegerOrIndex, AnyType, Index
from commonir.ods.type_rules import all_types_match


class Yield(
    ScfOp,
    name="scf.yield",
    traits=(
        traits.Pure,
        traits.Terminator,
        has_parent("scf.execute_region", "scf.for", "scf.if", "scf.index_switch", "scf.while"),
    ),
    assembly="attr-dict ($results^ `:` type($results))?",
):
    """Yields values from a region to the enclosing operation."""

    results_: tuple[Value, ...] = operand(AnyType, variadic=True)

    def reference(self, results_: tuple[Value, ...]) -> core.Yield:
        return core.Yield(results_)


class Condition(
    ScfOp,
    name="scf.condition",
    traits=(traits.Pure, traits.Terminator, has_parent("scf.while")),
    assembly="`(` $condition `)` attr-dict ($args^ `:` type($args))?",
):
    """Ends the first region of a while loop: continues with the second region if the condition is true."""

    condition: Value = operand(I1)
    args: tuple[Value, ...] = operand(AnyType, variadic=True)

    def reference(self, condition: Value, args: tuple[Value, ...]) -> core.Yield:
        return core.Yield((condition, *args))


def yielded(nested: Region) -> tuple[Value, ...]:
    """Returns the values that a region yields; none when its terminator is not the expected one."""
    last = last_of(nested)
    return last.operands if isinstance(last, Yield) else ()


class _IfForm:
    """`%condition -> (types) { } else { }`."""

    def read(self, reader: FormReader) -> FormTask:
        condition = reader.resolve(reader.use(), boolean)
        types = reader.results() if reader.take("->") else ()
        then = yield reader.region()
        end_region(then, Yield)
        otherwise = Region()
        if reader.take("else"):
            otherwise = yield reader.region()
            end_region(otherwise, Yield)
        fields = {"condition": condition, "thenRegion": then, "elseRegion": otherwise}
        return reader.make(fields, types, reader.dictionary())

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        if not isinstance(op, If):
            writer.refuse()
        writer.write(f" {writer.value(op.condition)}")
        if op.results:
            writer.write(f" -> ({writer.types([r.type for r in op.results])})")
        writer.write(" ")
        shows_end = bool(op.results)
        writer.region(op.thenRegion, arguments=False, terminator=shows_end)
        if op.elseRegion is not None:
            writer.write(" else ")
            writer.region(op.elseRegion, arguments=False, terminator=shows_end)
        writer.write(writer.dictionary())


class If(ScfOp, Conditional, name="scf.if", traits=(traits.RecursiveEffects, ImplicitTerminator("scf.yield"))):
    """Executes the first region if a condition is true, else the second, and returns what it yields. C1: with results,
    there is a second region. C2: both regions yield values of the result types.
    """

    custom_form = _IfForm()

    condition: Value = operand(I1)
    thenRegion: Region = region(doc="runs if `condition` is true")
    elseRegion: Region | None = region(default=None, doc="runs if `condition` is false")
    results_: tuple[Value, ...] = result(AnyType, variadic=True)

    def infer_results(self) -> tuple[Type, ...] | None:
        return tuple([v.type for v in yielded(self.thenRegion)])

    def choices(self) -> tuple[Region, Region | None]:
        return self.thenRegion, self.elseRegion

    def verify(self) -> Iterator[Diagnostic]:
        types = [r.type for r in self.results]
        if types and self.elseRegion is None:
            yield self.malformed("C1: must have an else block if defining values")
        if not self.thenRegion.blocks:
            yield self.malformed("region #0 ('thenRegion') failed to verify constraint: region with 1 blocks")
        for what, nested in (("then", self.thenRegion), ("else", self.elseRegion)):
            if nested is None or not nested.blocks:
                continue
            if arguments_of(nested):
                yield self.malformed(f"the {what} region should have no arguments")
            yield from differing_types(self, f"C2: what the {what} region yields", yielded(nested), types)

    def reference(self, condition: Value, *, thenRegion: Region, elseRegion: Region) -> tuple[Value, ...] | core.If:
        new_op = core.If(condition, thenRegion, elseRegion if elseRegion.blocks else yielding())
        return new_op.results or new_op


class _ForForm:
    """`%i = %low to %high step %step iter_args(%a = %v) -> (types) : type { }`."""

    def read(self, reader: FormReader) -> FormTask:
        is_unsigned = reader.take("unsigned")
        variable = reader.use()
        bounds: list[Use] = []
        for mark in ("=", "to", "step"):
            reader.expect(mark)
            bounds.append(reader.use())
        names: list[Use] = []
        initial: list[Use] = []
        types: tuple[Type, ...] = ()
        if reader.take("iter_args"):
            reader.expect("(")
            names, initial = read_assignments(reader)
            reader.expect("->")
            types = reader.results()
            if len(types) != len(names):
                reader.fail(f"{len(names)} values of the loop have {len(types)} types")
        type = reader.type() if reader.take(":") else index
        entry = [Argument(u.name, u.at, t, {}) for u, t in zip([variable, *names], [type, *types], strict=True)]
        values = [reader.resolve(u, type) for u in bounds]
        carried = reader.resolve_all(initial, types)
        body = yield reader.region(entry)
        end_region(body, Yield)
        fields = {
            **dict(zip(("lowerBound", "upperBound", "step"), values, strict=True)),
            "initArgs": carried,
            "unsignedCmp": is_unsigned,
            "region": body,
        }
        return reader.make(fields, types, reader.dictionary())

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        if not isinstance(op, For) or not op.body_arguments:
            writer.refuse()
        variable, *carried = op.body_arguments
        low, high, step = (writer.value(v) for v in (op.lowerBound, op.upperBound, op.step))
        unsigned = " unsigned" if op.unsignedCmp else ""
        writer.write(f"{unsigned} {writer.value(variable)} = {low} to {high} step {step}")
        if op.initArgs:
            write_loop_values(writer, " iter_args", carried, op.initArgs)
            writer.write(f" -> ({writer.types([v.type for v in op.initArgs])})")
        writer.write(" ")
        if variable.type is not index:
            writer.write(f" : {writer.type(variable.type)} ")
        writer.region(op.region, arguments=False, terminator=bool(op.initArgs))
        writer.write(writer.dictionary(("unsignedCmp",)))


class For(
    ScfOp,
    RegionBranch,
    name="scf.for",
    traits=(
        traits.RecursiveEffects,
        all_types_match("lowerBound", "upperBound", "step"),
        ImplicitTerminator("scf.yield"),
    ),
):
    """Counted loop from a lower bound to an exclusive upper bound by a step, with loop-carried values.

    The region takes the induction variable and the current values, and yields the next values; the results are the last
    ones. A step that is not positive is a runtime error, unless there are no iterations.

    C1: the region takes the induction variable and one argument of the type of each initial value. C2: it yields values
    of those types. C3: there is one result of the type of each initial value.
    """

    custom_form = _ForForm()

    lowerBound: Value = operand(AnySignlessIntegerOrIndex)
    upperBound: Value = operand(AnySignlessIntegerOrIndex)
    step: Value = operand(AnySignlessIntegerOrIndex)
    initArgs: tuple[Value, ...] = operand(AnyType, variadic=True)
    region: Region = region(doc="one iteration: from the induction variable and the values, the next values")
    unsignedCmp: bool = attribute(attr_types.unit, default=False)
    results_: tuple[Value, ...] = result(AnyType, variadic=True)

    @property
    def body_arguments(self) -> tuple[Value, ...]:
        """Returns the arguments of the region."""
        return arguments_of(self.region)

    def infer_results(self) -> tuple[Type, ...] | None:
        return tuple([v.type for v in self.initArgs])

    def entry_successors(self, known: KnownData) -> Iterator[RegionSuccessor]:
        del known
        yield from (RegionSuccessor(0, self.initArgs), RegionSuccessor(None, self.initArgs))

    def region_successors(self, number: int, last: Operation, known: KnownData) -> Iterator[RegionSuccessor]:
        del number, known
        yield from (RegionSuccessor(0, last.operands), RegionSuccessor(None, last.operands))

    def verify(self) -> Iterator[Diagnostic]:
        types = [v.type for v in self.initArgs]
        if not self.region.blocks:
            yield self.malformed("region #0 ('region') failed to verify constraint: region with 1 blocks")
            return
        expected = [self.lowerBound.type, *types]
        yield from differing_types(self, "C1: what the region receives", self.body_arguments, expected)
        yield from differing_types(self, "C2: what the region yields", yielded(self.region), types)
        yield from differing_types(self, "C3: results", self.results, types)
        if self._advances(self.step) is False and self._has_rounds(self.lowerBound, self.upperBound) is not False:
            message = f"{self.name}: step {known_integer(self.step)} is not positive, so that the loop never ends"
            yield Diagnostic(ENDLESS_LOOP, message)

    def _advances(self, step: Value) -> bool | None:
        """Returns whether a step is positive; None when it is data-dependent."""
        known = known_integer(step)
        return None if known is None else known != 0 if self.unsignedCmp else known > 0

    def _has_rounds(self, lower: Value, upper: Value) -> bool | None:
        """Returns whether the lower bound lies below the upper one; None when it is data-dependent."""
        bounds = known_integer(lower), known_integer(upper)
        if bounds[0] is None or bounds[1] is None:
            return None
        first, last = ((n % (1 << 64) if self.unsignedCmp else n) for n in bounds if n is not None)
        return first < last

    def reference(
        self, lowerBound: Value, upperBound: Value, step: Value, initArgs: tuple[Value, ...], *, region: Region
    ) -> tuple[Value, ...] | core.While | Requiring:
        compare = integers.unsigned_comparison(core.less) if self.unsignedCmp else core.less
        block = region.block
        values = yields(block)
        end_with(block, core.add(block.arguments[0], step), *values)
        condition = Block([a.type for a in block.arguments])
        end_with(condition, compare(condition.arguments[0], upperBound))
        new_op = core.While((lowerBound, *initArgs), Region([condition]), region)
        if self._advances(step) or self._has_rounds(lowerBound, upperBound) is False:
            return new_op.results[1:] or new_op
        # A loop without results has no values, and would be left out.
        ends = core.logical_not(compare(lowerBound, upperBound))
        if self._advances(step) is None:
            ends = core.logical_or(compare(core.splat(0, step), step), ends)
        required = core.Require(ends, f"{self.name}: the step has to be positive, or the loop never ends", ())
        return Requiring(required, new_op.results[1:] or new_op.results)


class _WhileForm:
    """`(%a = %v) : (types) -> types { } do { } attributes { }`."""

    def read(self, reader: FormReader) -> FormTask:
        names: list[Use] = []
        initial: list[Use] = []
        if reader.take("("):
            names, initial = read_assignments(reader)
        reader.expect(":")
        signature = reader.function_type()
        if len(signature.inputs) != len(names):
            reader.fail(f"{len(names)} values of the loop have {len(signature.inputs)} types")
        values = reader.resolve_all(initial, signature.inputs)
        entry = [Argument(u.name, u.at, t, {}) for u, t in zip(names, signature.inputs, strict=True)]
        before = yield reader.region(entry)
        reader.expect("do")
        after = yield reader.region()
        end_region(after, Yield)
        fields = {"inits": values, "before": before, "after": after}
        return reader.make(fields, signature.results, reader.dictionary("attributes"))

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        if not isinstance(op, While):
            writer.refuse()
        if op.inits:
            write_loop_values(writer, " ", arguments_of(op.before), op.inits)
        signature = FunctionType(tuple([v.type for v in op.inits]), tuple([r.type for r in op.results]))
        writer.write(f" : {writer.type(signature)} ")
        writer.region(op.before, arguments=False)
        writer.write(" do ")
        writer.region(op.after)
        writer.write(writer.dictionary(keyword="attributes"))


class While(
    ScfOp, RegionBranch, name="scf.while", traits=(traits.RecursiveEffects, traits.SingleBlock, traits.Unstructured)
):
    """While loop: the first region computes a condition and values, on which the second region runs while it is true.

    The second region yields the next values for the first. When the condition is false, the values that the first
    region passes on are the results.

    C1: the first region takes arguments of the types of the initial values. C2: it ends with `scf.condition`, whose
    values have the result types, as the arguments of the second region have. C3: the second region yields values of the
    types of the initial values.
    """

    custom_form = _WhileForm()

    inits: tuple[Value, ...] = operand(AnyType, variadic=True)
    before: Region = region(doc="computes the condition, and values for the other region")
    after: Region = region(doc="computes the next values")
    results_: tuple[Value, ...] = result(AnyType, variadic=True)

    def entry_successors(self, known: KnownData) -> Iterator[RegionSuccessor]:
        del known
        yield RegionSuccessor(0, self.inits)

    def region_successors(self, number: int, last: Operation, known: KnownData) -> Iterator[RegionSuccessor]:
        if number or not isinstance(last, Condition):
            yield RegionSuccessor(0, last.operands)
            return
        data = known(last.condition)
        if data is None or data.values()[0]:
            yield RegionSuccessor(1, last.args)
        if data is None or not data.values()[0]:
            yield RegionSuccessor(None, last.args)

    def infer_results(self) -> tuple[Type, ...] | None:
        last = last_of(self.before)
        return tuple([v.type for v in last.args]) if isinstance(last, Condition) else None

    def verify(self) -> Iterator[Diagnostic]:
        given, types = [v.type for v in self.inits], [r.type for r in self.results]
        last = last_of(self.before)
        if not isinstance(last, Condition):
            yield self.malformed("C2: expects the 'before' region to terminate with 'scf.condition'")
            return
        if not isinstance(last_of(self.after), Yield):
            yield self.malformed("C3: expects the 'after' region to terminate with 'scf.yield'")
            return
        yield from differing_types(self, "C1: what the first region receives", arguments_of(self.before), given)
        yield from differing_types(self, "C2: what the condition passes on", last.args, types)
        yield from differing_types(self, "C2: what the second region receives", arguments_of(self.after), types)
        yield from differing_types(self, "C3: what the second region yields", yielded(self.after), given)

    def reference(self, inits: tuple[Value, ...], *, before: Region, after: Region) -> tuple[Value, ...] | core.While:
        # The first region runs once before the loop and then at the end of each round.
        first = _copied(before)
        state = core.inlined(first, inits)
        block = after.block
        # The loop carries the decision before the values.
        carried = [state[0].type, *[a.type for a in block.arguments]]
        answer, body = Block(carried), Block(carried)
        for a, b in zip(block.arguments, body.arguments[1:], strict=True):
            a.replace_all_uses_with(b)
        values, rest = yields(block), list(before.block.operations)
        core.inlined(before, values)
        for op in [*block.operations, *rest]:
            if op.parent is not None:
                op.detach()
            body.append(op)
        answer.append(core.Yield((answer.arguments[0],)))
        new_op = core.While(state, Region([answer]), Region([body]))
        return new_op.results[1:] or new_op


def _copied(nested: Region) -> Region:
    """A region of the same operations."""
    source = nested.block
    built = Block([a.type for a in source.arguments])
    values = dict(zip(source.arguments, built.arguments, strict=True))
    for op in source.operations:
        built.append(clone(op, values))
    return Region([built])


class _ExecuteForm:
    """`-> types no_inline { }`."""

    def read(self, reader: FormReader) -> FormTask:
        types = reader.results() if reader.take("->") else ()
        no_inline = reader.take("no_inline")
        body = yield reader.region()
        return reader.make({"region": body, "no_inline": no_inline}, types, reader.dictionary())

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        if not isinstance(op, ExecuteRegion):
            writer.refuse()
        if op.results:
            writer.write(f" -> {writer.result_types([r.type for r in op.results])}")
        writer.write(" no_inline " if op.no_inline else " ")
        writer.region(op.region, arguments=False)
        writer.write(writer.dictionary(("no_inline",)))


class ExecuteRegion(
    ScfOp, RegionBranch, name="scf.execute_region", traits=(traits.RecursiveEffects, traits.Unstructured)
):
    """Executes a region, which may have several blocks, exactly once. C1: the region is not empty, and its entry block
    has no arguments. C2: each block that yields, yields values of the result types.
    """

    custom_form = _ExecuteForm()

    region: Region = region(doc="runs once")
    no_inline: bool = attribute(attr_types.unit, default=False)
    results_: tuple[Value, ...] = result(AnyType, variadic=True)

    def entry_successors(self, known: KnownData) -> Iterator[RegionSuccessor]:
        del known
        yield RegionSuccessor(0)

    def verify(self) -> Iterator[Diagnostic]:
        if not self.region.blocks:
            yield self.malformed("C1: region needs to have at least one block")
        elif self.region.blocks[0].arguments:
            yield self.malformed("C1: region cannot have any arguments")
        types = [r.type for r in self.results]
        for block in self.region.blocks:
            if isinstance(block.last, Yield):
                yield from differing_types(self, "C2: what the region yields", block.last.operands, types)


class IndexSwitch(
    ScfOp,
    RegionBranch,
    name="scf.index_switch",
    traits=(traits.RecursiveEffects, ImplicitTerminator("scf.yield"), traits.Unstructured),
    assembly="$arg attr-dict (`->` type($results)^)? custom<SwitchCases>($cases, $caseRegions) `\\n` ``"
    " `default` $defaultRegion",
):
    """Executes the region whose case equals an index, or else the default region. C1: there is a region for each case.
    C2: the cases differ. C3: each region yields values of the result types.
    """

    arg: Value = operand(Index)
    cases: tuple[int, ...] = attribute(array_of(i64))
    defaultRegion: Region = region(doc="runs if no case equals the index")
    caseRegions: tuple[Region, ...] = region(variadic=True, doc="the one whose case equals the index runs")
    results_: tuple[Value, ...] = result(AnyType, variadic=True)

    def entry_successors(self, known: KnownData) -> Iterator[RegionSuccessor]:
        data = known(self.arg)
        if data is None:
            yield from map(RegionSuccessor, range(len(self.regions)))
            return
        arg = data.values()[0]
        yield RegionSuccessor(next((n + 1 for n, case in enumerate(self.cases) if case == arg), 0))

    def verify(self) -> Iterator[Diagnostic]:
        if len(self.cases) != len(self.caseRegions):
            yield self.malformed(f"C1: has {len(self.caseRegions)} case regions but {len(self.cases)} case values")
            return
        for case in sorted({c for c in self.cases if self.cases.count(c) > 1}):
            yield self.malformed(f"C2: has duplicate case value: {case}")
        types = [r.type for r in self.results]
        for what, nested in (("default region", self.defaultRegion), *self._named_cases()):
            last = last_of(nested)
            if not isinstance(last, Yield):
                yield self.malformed(f"C3: expected {what} to end with scf.yield")
                continue
            yield from differing_types(self, f"C3: what the {what} yields", last.operands, types)

    def _named_cases(self) -> list[tuple[str, Region]]:
        return [(f"region of case {c}", r) for c, r in zip(self.cases, self.caseRegions, strict=True)]
