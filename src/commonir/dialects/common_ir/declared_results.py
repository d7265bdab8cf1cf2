"""The declared types of results compared with those that follow from the nodes.

Within one declaration a name is one dimension, so `[n, m] -> [m, n]` promises that the result of every matrix has these
dims: an identity does not keep that promise, as nothing declares that `n` and `m` are equal. What follows from the
types is decided here; the rest is checked when the program runs. Source: Common IR specification, tensor shapes.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import count

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.dialects import onnx
from commonir.dialects.common_ir import rules
from commonir.dialects.common_ir.checks import nodes_of, place_of
from commonir.dialects.common_ir.instances import FunctionInstance, fill_beside
from commonir.dialects.common_ir.ordering import CyclicOrder
from commonir.dialects.common_ir.shape_checks import DeclaredValues
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import (
    ELEMENT_TYPES,
    ListType,
    OptionalType,
    SparseTensorType,
    TensorType,
    TupleType,
    Type,
    symbols_of,
    unknown,
)
from commonir.notation import NotationError
from commonir.ods import Derived, Op, infer
from commonir.ods.declared import DeclaredOp
from commonir.ods.declared_types import (
    DeclaredType,
    ListOf,
    Mismatch,
    OptionalOf,
    TensorOf,
    TupleOf,
    as_declared,
    conflicting_names,
)
from commonir.ods.specialize import specialized_type
from commonir.ods.verify import are_compatible
from commonir.symbolic import Dim, DimExpr, symbol, symbols
from commonir.symbolic.constraints import Constraint, without_implied

_SAMPLED_RANKS = range(4)
"""The numbers of dims that wildcards stand for where the ranks of values decide."""


class DeclaredTypes:
    """The declared types of the results in a graph or function, compared with those that its nodes give.

    `holder` is the graph or function of the body, `texts` the declared types that the type of a value cannot express,
    `assumed` the equations of dims that hold where the body runs.
    """

    def __init__(
        self,
        holder: Operation,
        body: Block,
        texts: Mapping[Value, DeclaredType],
        assumed: Sequence[Constraint] = (),
    ) -> None:
        last = body.last
        self._holder = holder
        self._body = body
        self._texts = texts
        self._assumed = assumed
        self._outputs = last.operands if isinstance(last, onnx.Return) else ()
        own = (*body.arguments, *self._outputs)
        self._declared = {v: as_declared(v.type) for v in own} | dict(texts)

    def findings(self) -> Iterator[Diagnostic]:
        """Yields a finding for each result whose declared type does not follow, unless only running decides."""
        for name in conflicting_names(self._declared.values()):
            text = f"'{name}' stands for one dimension and, as '{name}*', for any number of them"
            yield rules.ONE_OR_MANY.broken(text)
        numbers = {op: n for n, op in enumerate(nodes_of(self._body))}
        wrong = self.contradicted()
        for node, v, actual, problem in wrong:
            text = f"'{v.name}' is declared {self._texts.get(v, v.type)}, and the node gives {actual}: {problem}"
            yield rules.DECLARED_RESULTS.broken(text, where=place_of(node, numbers.get(node, 0)))
        if not wrong:
            yield from self._contradicted_at_a_rank()

    def contradicted(self) -> list[tuple[Operation, Value, Type, str]]:
        """Returns results, and inputs of nested graphs, with another type than declared: each with its node, that type,
        and the contradiction.
        """
        # A type that cannot be that of the result is E0506.
        results = [(node, v, type) for node, v, type in self.given() if are_compatible(v.type, type)]
        values = [*self._body.arguments, *(v for _, v, _ in results)]
        declared = {v: as_declared(v.type) for v in values} | dict(self._texts)
        known = DeclaredValues([v.type for v in values])
        for v in self._body.arguments:
            known.match(declared[v], v.type)
        own = symbols_of([v.type for v in self._body.arguments])
        out: list[tuple[Operation, Value, Type, str]] = []
        for node, v, type in results:
            # A name that no input has is the dim that it was first found to be.
            actual = specialized_type(
                _named(type, v.type, own), {name: dim for name, dim in known.dims.items() if name not in own}
            )
            if isinstance(node, DeclaredOp) and isinstance(actual, TensorType) and actual.shape is not None:
                # A dim that an operator does not determine may be that of any name that no input has.
                actual = actual.with_shape(tuple([d if _is_within(d, own) else None for d in actual.shape]))
            problem = self._difference(known, declared[v], actual, self._body)
            if problem:
                out.append((node, v, actual, problem))
        return out

    def given(self) -> Iterator[tuple[Operation, Value, Type]]:
        """Yields values that may have another type than declared, each with its node and the type from there."""
        for node, v, type in self.inferred():
            if (v.type is not type or v in self._texts) and unknown not in (v.type, type):
                yield node, v, type

    def inferred(self) -> Iterator[tuple[Operation, Value, Type]]:
        """Yields results, and inputs of nested graphs, each with its node and the type that the definition gives.

        A type that the caller changes counts for what follows.
        """
        for node, op, derived in _derived(self._body):
            for v, type in (*zip(op.results, derived.types, strict=False), *_received(op)):
                yield node, v, type

    def _contradicted_at_a_rank(self) -> Iterator[Diagnostic]:
        """Yields a finding if the declared types contradict the nodes for some number of dims that wildcards stand for.

        Numbers of dims that a node does not take do not count: not every node takes every number.
        """
        wild = any(leaf.pattern.has_wildcard for v in self._body.arguments for leaf in self._declared[v].leaves())
        if not wild or not all(are_compatible(v.type, type) for _, v, type in self.given()):
            return  # what cannot be is E0506
        for rank in _SAMPLED_RANKS:
            problem = self._problem_at(rank)
            if problem:
                yield rules.DECLARED_RESULTS.broken(problem)
                return

    def _problem_at(self, rank: int) -> str:
        """Returns in words which output is not what it is declared where wildcards stand for some number of dims."""
        sample = Sample(rank)
        inputs = self._body.arguments
        block = Block([sample.type(self._declared[v]) for v in inputs], [v.name for v in inputs])
        values = dict(zip(inputs, block.arguments, strict=True))
        if not self._fill(block, values):
            return ""
        known = DeclaredValues([v.type for v in values.values()])
        for v in inputs:
            known.match(self._declared[v], values[v].type)
        for v in (v for v in self._outputs if v in values):
            problem = self._difference(known, self._declared[v], values[v].type, block)
            if problem:
                shown = ", ".join([f"'{i.name}' of {values[i].type}" for i in inputs])
                return f"'{v.name}' is declared {self._declared[v]}, and is {values[v].type} for {shown}: {problem}"
        return ""

    def _fill(self, block: Block, values: dict[Value, Value]) -> bool:
        """Copies the nodes to a block with other inputs; returns whether they take these."""
        try:
            fill_beside(self._holder, FunctionInstance("", Region([block]), ()), self._body, block, values)
            for op in block.operations:
                if isinstance(op, Op) and not op.declares_results:
                    for v, type in zip(op.results, infer(op).types, strict=False):
                        v.retype(type)
        except (CyclicOrder, DiagnosticError, NotationError):
            return False
        return True

    def _difference(self, known: DeclaredValues, declared: DeclaredType, actual: Type, body: Block) -> str:
        """Returns in words why an actual type is not the declared one; "" where it is, or is if the nodes do not fail.

        Dims that are broadcast count as equal: whether one of them is 1 is found when the program runs.
        """
        try:
            constraints = known.match(declared, actual)
        except (Mismatch, NotationError) as error:
            return str(error)
        needed = [*self._assumed, *(e for _, op, d in _derived(body) for e in _equations(op, d))] if constraints else []
        for c in constraints:
            if c in without_implied((*needed, c)):
                return f"nothing declares that {c.lhs} and {c.rhs} are equal"
        return ""


class Sample:
    """Types that fit declared ones, with symbols as dims. Wildcards of different names stand for different numbers."""

    def __init__(self, rank: int) -> None:
        self._rank = rank
        self._numbers: dict[str, int] = {}
        self._unnamed = count()

    def type(self, declared: DeclaredType) -> Type:
        """Returns a type that fits a declared one; unknown where there is none."""
        match declared:
            case TensorOf(pattern=pattern) if pattern.element in ELEMENT_TYPES:
                result = SparseTensorType if declared.is_sparse else TensorType
                shape = None if pattern.dims is None else tuple(self._dims(pattern.dims))
                return result(ELEMENT_TYPES[pattern.element], shape)
            case ListOf(element=element):
                return ListType(self.type(element))
            case OptionalOf(element=element):
                return OptionalType(self.type(element))
            case TupleOf(elements=elements):
                return TupleType(tuple(map(self.type, elements)))
            case _:
                return unknown

    def _dims(self, names: Iterable[tuple[str, bool]]) -> Iterator[Dim]:
        for name, is_many in names:
            stem = name or f"any{next(self._unnamed)}"
            if not is_many:
                yield int(name) if name.isdigit() else symbol(stem)
                continue
            number = self._numbers.setdefault(name, self._rank + len(self._numbers)) if name else self._rank
            yield from (symbol(f"{stem}_{n}") for n in range(number))


def _named(type: Type, declared: Type, own: Container[str]) -> Type:
    """Returns a type whose unknown dims have the declared names that no input has."""
    if not isinstance(type, TensorType) or not isinstance(declared, TensorType) or type.rank != declared.rank:
        return type
    pairs = zip(type.shape or (), declared.shape or (), strict=True)
    dims = [name if d is None and not _is_within(name, own) else d for d, name in pairs]
    return type if type.shape is None else type.with_shape(tuple(dims))


def _is_within(dim: Dim | None, names: Container[str]) -> bool:
    """Returns whether a dim consists of some symbols."""
    return not isinstance(dim, DimExpr) or all(name in names for name in symbols(dim))


def _derived(body: Block) -> Iterator[tuple[Operation, Op, Derived]]:
    """Yields the operations of a graph and of those nested in it, each with its node and what its definition gives."""
    for top in body.operations:
        for op in top.walk() if top.regions else (top,):
            if isinstance(op, Op) and not op.declares_results and op.results:
                try:
                    derived = infer(op)
                except (DiagnosticError, NotationError):
                    continue  # reported by the verifier
                yield top, op, derived


def _received(op: Op) -> Iterator[tuple[Value, Type]]:
    """Yields the inputs of the graphs of an operation, each with the type that it receives."""
    try:
        entries = op.entry_types() if op.regions else ()
    except (DiagnosticError, NotationError):
        return  # reported by the verifier
    for region, types in zip(op.regions, entries, strict=False):
        yield from zip(region.block.arguments, types, strict=False)


def _equations(op: Op, derived: Derived) -> Iterator[Constraint]:
    """Yields the equations of dims without which an operation fails, labelled so that they are not dropped."""
    for c in derived.constraints:
        if c.relation == "==" and not c.unless_empty:
            yield Constraint(c.lhs, "==", c.rhs, c.why, c.label or op.name)
