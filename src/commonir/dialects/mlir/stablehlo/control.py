"""Operations of the stablehlo dialect that run nested programs, group values, or mean what only others know.

Source: StableHLO specification, control flow, tuples, custom_call, composite.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from commonir.base.codes import UNKNOWN_SYMBOL
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.text import plural
from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.stablehlo import forms
from commonir.dialects.mlir.stablehlo.base import (
    ApiVersion,
    Carried,
    CustomCallValue,
    Held,
    HloOp,
    I32Tensor,
    TensorOrToken,
    TensorTokenOrTuple,
    Truths,
    Tuple,
    api_version,
    element,
    rank_of,
    small,
)
from commonir.dialects.mlir.stablehlo.foreign_calls import alias_faults, layout_faults
from commonir.dialects.mlir.stablehlo.reduction import RETURNS, arguments_of, malformed, returned
from commonir.ir.attributes import ArrayAttr, Attribute, BoolAttr, DictionaryAttr, IntegerAttr, StringAttr
from commonir.ir.module import Function, Instances, Invocation, Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.symbol_suggestions import symbol_help
from commonir.ir.types import TensorType, TupleType, Type, boolean, i32
from commonir.ods import attr_types, attribute, operand, operations_behind, region, result, traits
from commonir.ods.branching import Conditional, KnownData, RegionBranch, RegionSuccessor
from commonir.ods.text_form import CustomForm
from commonir.ods.type_rules import are_compatible_types

if TYPE_CHECKING:
    from commonir.dialects.mlir.stablehlo import call_targets
else:
    from commonir.base.lazy import LazyModule

    # It uses most of the dialect, and only running a custom call needs it.
    call_targets = LazyModule("commonir.dialects.mlir.stablehlo.call_targets")


class Return(
    HloOp,
    name="stablehlo.return",
    traits=(traits.Pure, traits.Terminator),
    assembly="$results attr-dict (`:` type($results)^)?",
):
    """Returns values from a region to the enclosing operation."""

    results_: tuple[Value, ...] = operand(Carried, variadic=True)

    def reference(self, results_: tuple[Value, ...]) -> core.Yield:
        return core.Yield(results_)


def _differing(actual: Sequence[Value], expected: Sequence[Value]) -> str:
    """Returns how values differ from the expected ones; empty when they agree."""
    if len(actual) != len(expected):
        return f"expected {plural(len(expected), 'value')}, found {len(actual)}"
    for n, (a, b) in enumerate(zip(actual, expected, strict=True)):
        if not are_compatible_types(a.type, b.type):
            return f"expected value {n} to be of type {b.type}, found {a.type}"
    return ""


def _scalar_problem(op: HloOp, value: Value, what: str) -> Iterator[Diagnostic]:
    if isinstance(value.type, TensorType) and value.type.shape:
        yield op.violated(f"{what} must be of rank 0, found {value.type}")


class If(HloOp, Conditional, name="stablehlo.if", traits=(RETURNS,)):
    """Executes the first branch if a condition is true, else the second, and returns its results. C1: the condition has
    rank 0. C2: branches take no arguments and return values of the result types.
    """

    assembly = ""

    pred: Value = operand(Truths)
    true_branch: Region = region(doc="runs if `pred` is true")
    false_branch: Region = region(doc="runs if `pred` is false")
    results_: tuple[Value, ...] = result(Carried, variadic=True)

    def infer_results(self) -> tuple[Type, ...] | None:
        return tuple([v.type for v in returned(self.true_branch)])

    def choices(self) -> tuple[Region, Region]:
        return self.true_branch, self.false_branch

    def verify(self) -> Iterator[Diagnostic]:
        yield from _scalar_problem(self, self.pred, "C1: the condition")
        for name, nested in (("true_branch", self.true_branch), ("false_branch", self.false_branch)):
            yield from check_branch(self, name, nested)

    def reference(self, pred: Value, *, true_branch: Region, false_branch: Region) -> tuple[Value, ...] | core.If:
        new_op = core.If(_scalar(pred), true_branch, false_branch)
        return new_op.results or new_op


def check_branch(op: HloOp, name: str, nested: Region) -> Iterator[Diagnostic]:
    """Yields the faults of a nested program without arguments."""
    if arguments_of(nested):
        yield malformed(op, f"C2: {name} must have 0 arguments, but found {len(arguments_of(nested))}")
    problem = _differing(returned(nested), op.results)
    if problem:
        yield malformed(op, f"C2: {name} returns other types: {problem}")


def _scalar(x: Value) -> Value:
    return core.reshape(x, ()) if rank_of(x) else x


class Case(HloOp, RegionBranch, name="stablehlo.case", traits=(RETURNS,)):
    """Executes the branch of an index, the last one if it is out of range, and returns its results. C1: there is at
    least one branch. C2: branches take no arguments and return values of the result types.
    """

    assembly = ""

    index: Value = operand(I32Tensor)
    branches: tuple[Region, ...] = region(variadic=True, doc="the one at the index runs")
    results_: tuple[Value, ...] = result(Carried, variadic=True)

    def infer_results(self) -> tuple[Type, ...] | None:
        return tuple([v.type for v in returned(self.branches[0])]) if self.branches else None

    def entry_successors(self, known: KnownData) -> Iterator[RegionSuccessor]:
        data, last = known(self.index), len(self.regions) - 1
        if data is None:
            yield from map(RegionSuccessor, range(len(self.regions)))
            return
        number = data.values()[0]
        yield RegionSuccessor(number if isinstance(number, int) and 0 <= number < last else last)

    def verify(self) -> Iterator[Diagnostic]:
        if not self.branches:
            yield malformed(self, "C1: expect at least one branch")
        yield from _scalar_problem(self, self.index, "C1: the index")
        for n, nested in enumerate(self.branches):
            yield from check_branch(self, f"branch {n}", nested)

    def reference(self, index: Value, *, branches: tuple[Region, ...]) -> tuple[Value, ...] | core.If:
        if len(branches) == 1:
            return core.inlined(branches[0], ())
        at = _scalar(index)
        rest: Region = branches[-1]
        result: core.If | None = None
        for n in range(len(branches) - 2, -1, -1):
            chosen = core.equal(at, core.scalar(n, i32))
            result = core.If(chosen, branches[n], rest)
            if n:
                rest = _containing(result)
        assert result is not None
        return result.results or result


def _containing(op: core.If) -> Region:
    """A region that receives nothing, contains an operation that is in no block yet, and yields its results."""
    block = Block()
    for built in (*operations_behind(op.operands), op, core.Yield(op.results)):
        block.append(built)
    return Region([block])


class While(HloOp, name="stablehlo.while", traits=(RETURNS,)):
    """While loop: executes the body on loop-carried values while the condition on them is true. C1: both regions take
    arguments of the types of the operands. C2: the first returns a bool. C3: the second returns values of those types.
    """

    custom_form: ClassVar[CustomForm | None] = forms.WhileForm()

    operand: tuple[Value, ...] = operand(Carried, variadic=True)
    cond: Region = region(doc="returns whether there is another iteration")
    body: Region = region(doc="returns the next values")
    results_: tuple[Value, ...] = result(Carried, variadic=True)

    def argument_names(self, region: Region) -> Iterable[tuple[Value, str]]:
        return [(a, "iterArg") for a in arguments_of(region)]

    def infer_results(self) -> tuple[Type, ...] | None:
        return tuple([v.type for v in self.operand])

    def verify(self) -> Iterator[Diagnostic]:
        for name, nested in (("cond", self.cond), ("body", self.body)):
            problem = _differing(arguments_of(nested), self.operand)
            if problem:
                yield malformed(self, f"C1: expect operands to be compatible with {name} block arguments: {problem}")
        problem = _differing(returned(self.body), self.operand)
        if problem:
            yield malformed(self, f"C3: expect operands to be compatible with body block return types: {problem}")
        answer = returned(self.cond)
        if len(answer) != 1:
            yield malformed(self, f"C2: expect condition body returns a single value but got {len(answer)}")
        elif rank_of(answer[0]) or element(answer[0]) is not boolean:
            message = "C2: expect condition block return a zero-ranked tensor of i1"
            yield malformed(self, f"{message} but got {answer[0].type}")

    def reference(self, operand: tuple[Value, ...], *, cond: Region, body: Region) -> tuple[Value, ...] | core.While:
        new_op = core.While(operand, cond, body)
        return new_op.results or new_op


class OptimizationBarrier(HloOp, name="stablehlo.optimization_barrier", traits=(traits.Pure, traits.Annotates)):
    """Returns its operands, and prevents optimizations across it."""

    custom_form: ClassVar[CustomForm | None] = forms.BarrierForm()

    operand: tuple[Value, ...] = operand(TensorOrToken, variadic=True)
    result_: tuple[Value, ...] = result(TensorOrToken, variadic=True)

    def infer_results(self) -> tuple[Type, ...] | None:
        return tuple([v.type for v in self.operand])

    def reference(self, operand: tuple[Value, ...]) -> tuple[Value, ...]:
        return operand


# -- tuples


class MakeTuple(HloOp, name="stablehlo.tuple", traits=(traits.Pure,)):
    """Creates a tuple of values."""

    custom_form: ClassVar[CustomForm | None] = forms.WordsForm(types=forms.TupleTypes())

    val: tuple[Value, ...] = operand(Held, variadic=True)
    result_: Value = result(Tuple)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (TupleType(tuple([v.type for v in self.val])),)

    def reference(self, val: tuple[Value, ...]) -> Value:
        return core.tuple_of(val)


class GetTupleElement(
    HloOp,
    name="stablehlo.get_tuple_element",
    traits=(traits.Pure,),
    assembly="$operand `[` $index `]` attr-dict `:` functional-type(operands, results)",
):
    """Extracts one element of a tuple. C1: the index is less than the number of elements."""

    operand: Value = operand(Tuple)
    index: int = attribute(small)
    result_: Value = result(Held)

    def _elements(self) -> tuple[Type, ...]:
        return self.operand.type.elements if isinstance(self.operand.type, TupleType) else ()

    def infer_results(self) -> tuple[Type, ...] | None:
        result = self._elements()
        return (result[self.index],) if 0 <= self.index < len(result) else None

    def verify(self) -> Iterator[Diagnostic]:
        if not 0 <= self.index < len(self._elements()):
            message = f"C1: index {self.index} is out of bounds of operand with size {len(self._elements())}"
            yield self.violated(message)

    def reference(self, operand: Value) -> Value:
        return core.tuple_get(operand, self.index)

    def fold(self) -> Value | None:
        owner = self.operand.owner
        return owner.val[self.index] if isinstance(owner, MakeTuple) and self.index < len(owner.val) else None


# -- references by name


_NAMESPACED = re.compile(r"[A-Za-z_][\w$]*(\.[\w$]+)+", re.ASCII)


class Composite(
    HloOp,
    Invocation,
    name="stablehlo.composite",
    assembly=("$name operands (` ` `(` $composite_regions^ `)`)? attr-dict `:` functional-type(operands, results)"),
):
    """Calls a decomposition under a name that a backend may implement itself. C1: the decomposition is a function of
    these operand and result types. C2: the name has a namespace.
    """

    inputs: tuple[Value, ...] = operand(TensorTokenOrTuple, variadic=True)
    name_: str = attribute(attr_types.string)
    decomposition: str = attribute(attr_types.symbol)
    composite_regions: tuple[Region, ...] = region(variadic=True, doc="what the composite relies on")
    composite_attributes: DictionaryAttr | None = attribute(attr_types.dictionary, default=None)
    version: int | None = attribute(small, default=None)
    results_: tuple[Value, ...] = result(TensorTokenOrTuple, variadic=True)

    @property
    def callee(self) -> Function | None:
        """The function; None when no module around has one of this name."""
        for holder in self.ancestors():
            called = holder.symbol(self.decomposition) if isinstance(holder, Module) else None
            if isinstance(called, Function):
                return called
        return None

    def called_with(self, types: Sequence[Type], instances: Instances | None = None) -> Function | None:
        del types, instances
        called = self.callee
        if called is None or called.is_declaration:
            message = f"{self.name}: '{self.decomposition}' has no body that could run"
            raise DiagnosticError(Diagnostic(UNKNOWN_SYMBOL, message))
        return called

    def verify(self) -> Iterator[Diagnostic]:
        if not _NAMESPACED.fullmatch(self.name_):
            yield self.violated(f"C2: name must be a valid namespaced op name, found '{self.name_}'")
        modules = [a for a in self.ancestors() if isinstance(a, Module)]
        if not modules:
            return
        called = self.callee
        if called is None:
            message = f"{self.name}: C1: '{self.decomposition}' does not reference a valid function"
            yield Diagnostic(UNKNOWN_SYMBOL, message, help=symbol_help(self, self.decomposition, Function))
            return
        problem = _differing(self.operands, called.inputs)
        if problem:
            yield self.violated(f"C1: operands do not match those of '{self.decomposition}': {problem}")
        if called.is_declaration:
            return
        given = [v.type for v in called.outputs]
        if len(given) != len(self.results):
            yield self.violated(f"C1: has {len(self.results)} result(s), but decomposition has {len(given)}")
            return
        for n, (own, kind) in enumerate(zip(self.results, given, strict=True)):
            if not are_compatible_types(own.type, kind):
                yield self.violated(f"C1: result at index {n} has type {own.type}, but decomposition has type {kind}")


class CustomCall(HloOp, name="stablehlo.custom_call"):
    """Calls an external function by its name. `call_targets.py` has the functions that are known."""

    custom_form: ClassVar[CustomForm | None] = forms.CustomCallForm()
    implied: ClassVar[Mapping[str, Attribute]] = {
        "has_side_effect": BoolAttr(False),
        "api_version": IntegerAttr(1, i32),
        "called_computations": ArrayAttr(()),
        "output_operand_aliases": ArrayAttr(()),
    }

    inputs: tuple[Value, ...] = operand(CustomCallValue, variadic=True)
    call_target_name: str = attribute(attr_types.string)
    has_side_effect: bool | None = attribute(attr_types.flag, default=None)
    backend_config: Attribute | None = attribute(attr_types.any_attribute, default=None)
    api_version: ApiVersion | None = attribute(api_version, default=None)
    called_computations: Attribute | None = attribute(attr_types.any_attribute, default=None)
    operand_layouts: Attribute | None = attribute(attr_types.any_attribute, default=None)
    result_layouts: Attribute | None = attribute(attr_types.any_attribute, default=None)
    output_operand_aliases: Attribute | None = attribute(attr_types.any_attribute, default=None)
    result_tilings: Attribute | None = attribute(attr_types.any_attribute, default=None)
    results_: tuple[Value, ...] = result(CustomCallValue, variadic=True)

    def verify(self) -> Iterator[Diagnostic]:
        if (self.operand_layouts is None) is not (self.result_layouts is None):
            yield self.violated("layout attributes should be specified for either both operands and results or none")
        yield from map(self.violated, layout_faults("operand", self.operand_layouts, self.operands))
        yield from map(self.violated, layout_faults("result", self.result_layouts, self.results))
        yield from map(self.violated, alias_faults(self.output_operand_aliases, self.operands, self.results))
        is_typed = self.api_version is ApiVersion.TYPED_FFI
        config = self.backend_config
        if config is not None and not isinstance(config, DictionaryAttr if is_typed else StringAttr):
            version = (self.api_version or ApiVersion.ORIGINAL).value
            expected = "dictionary" if is_typed else "string"
            yield self.violated(f"backend_config for api_version {version} must be a {expected} attribute")

    def reference(self, inputs: tuple[Value, ...]) -> tuple[Value, ...] | Operation:
        return call_targets.meaning_of(self, inputs)
