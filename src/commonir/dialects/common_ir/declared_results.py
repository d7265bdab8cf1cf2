"""The declared types of results compared with those that follow from the nodes.

Within one declaration a name is one dimension, so `[n, m] -> [m, n]` promises that the result of every matrix has these
dims: an identity does not keep that promise, as nothing declares that `n` and `m` are equal. What follows from the
types is decided here; the rest is checked when the program runs. Source: Common IR specification, tensor shapes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.dialects import onnx
from commonir.dialects.common_ir import rules
from commonir.dialects.common_ir.checks import nodes_of, place_of
from commonir.dialects.common_ir.instances import FunctionInstance, copied
from commonir.dialects.common_ir.ordering import CyclicOrder, ordered
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
    unknown,
)
from commonir.notation import NotationError
from commonir.ods import Derived, Op, infer
from commonir.ods.declared_types import DeclaredType, ListOf, Mismatch, OptionalOf, TensorOf, TupleOf, as_declared
from commonir.ods.patterns import Pattern
from commonir.ods.verify import are_compatible
from commonir.symbolic import Dim, symbol
from commonir.symbolic.constraints import Constraint, without_implied

_SAMPLED_RANKS = range(4)
"""The numbers of dims that wildcards stand for where the ranks of values decide."""


def contradicted(holder: Operation, body: Block, texts: Mapping[Value, DeclaredType]) -> Iterator[Diagnostic]:
    """Yields a finding for each result of a node whose declared type does not follow, unless only running decides.

    `holder` is the graph or function of the body, `texts` the declared types that the type of a value cannot express.
    """
    wrong = list(_contradicted(body, texts))
    yield from wrong or _contradicted_at_all_ranks(holder, body, texts)


def _contradicted(body: Block, texts: Mapping[Value, DeclaredType]) -> Iterator[Diagnostic]:
    numbers = {op: n for n, op in enumerate(nodes_of(body))}
    results = [
        (node, v, type)
        for node, op, derived in _derived(body)
        for v, type in zip(op.results, derived.types, strict=False)
        # A type that cannot be that of the result is E0506.
        if (v.type is not type or v in texts) and unknown not in (v.type, type) and are_compatible(v.type, type)
    ]
    values = [*body.arguments, *(v for _, v, _ in results)]
    declared = {v: as_declared(v.type) for v in values} | dict(texts)
    known = DeclaredValues([v.type for v in values])
    for v in body.arguments:
        known.match(declared[v], v.type)
    for node, v, actual in results:
        problem = _difference(known, declared[v], actual, body)
        if problem:
            text = f"'{v.name}' is declared {texts.get(v, v.type)}, and the node gives {actual}: {problem}"
            yield rules.DECLARED_RESULTS.broken(text, where=place_of(node, numbers.get(node, 0)))


def _difference(known: DeclaredValues, declared: DeclaredType, actual: Type, body: Block) -> str:
    """Returns in words why an actual type is not the declared one; "" where it is, or is if the nodes do not fail.

    Dims that are broadcast count as equal: whether one of them is 1 is found when the program runs.
    """
    try:
        constraints = known.match(declared, actual)
    except (Mismatch, NotationError) as error:
        return str(error)
    needed = [c for _, op, derived in _derived(body) for c in _equations(op, derived)] if constraints else []
    for c in constraints:
        if c in without_implied((*needed, c)):
            return f"nothing declares that {c.lhs} and {c.rhs} are equal"
    return ""


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


def _equations(op: Op, derived: Derived) -> Iterator[Constraint]:
    """Yields the equations of dims without which an operation fails, labelled so that they are not dropped."""
    for c in derived.constraints:
        if c.relation == "==" and not c.unless_empty:
            yield Constraint(c.lhs, "==", c.rhs, c.why, c.label or op.name)


# -- wildcards


def _contradicted_at_all_ranks(
    holder: Operation, body: Block, texts: Mapping[Value, DeclaredType]
) -> Iterator[Diagnostic]:
    """Yields a finding if the declared types contradict the nodes whatever number of dims wildcards stand for."""
    last = body.last
    outputs = last.operands if isinstance(last, onnx.Return) else ()
    if not any(leaf.pattern.has_wildcard for v in body.arguments if v in texts for leaf in texts[v].leaves()):
        return
    problem = ""
    for rank in _SAMPLED_RANKS:
        sample = _at_rank(holder, body, texts, rank)
        problem = "" if sample is None else _problem(body.arguments, outputs, sample, texts)
        if not problem:
            return
    yield rules.DECLARED_RESULTS.broken(problem)


def _problem(
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    sample: tuple[Block, Mapping[Value, Value]],
    texts: Mapping[Value, DeclaredType],
) -> str:
    """Returns in words which output of a graph is not what it is declared; "" if all may be.

    `sample` is a copy of the graph with the values that stand for those of the graph.
    """
    block, values = sample
    own = [*inputs, *outputs]
    declared = {v: as_declared(v.type) for v in own} | dict(texts)
    known = DeclaredValues([values[v].type for v in own])
    for v in inputs:
        known.match(declared[v], values[v].type)
    for v in outputs:
        actual = values[v].type
        problem = _difference(known, declared[v], actual, block)
        if problem:
            shown = ", ".join([f"'{i.name}' of {values[i].type}" for i in inputs])
            return f"'{v.name}' is declared {declared[v]}, and is {actual} for {shown}: {problem}"
    return ""


def _at_rank(
    holder: Operation, body: Block, texts: Mapping[Value, DeclaredType], rank: int
) -> tuple[Block, dict[Value, Value]] | None:
    """Returns a copy of a graph whose wildcards stand for some number of dims; None if nodes do not take those."""
    unnamed = count()
    types = [_sample(texts[v], rank, unnamed) if v in texts else v.type for v in body.arguments]
    block = Block(types, [v.name for v in body.arguments])
    values = dict(zip(body.arguments, block.arguments, strict=True))
    instance = FunctionInstance("", Region([block]), ())
    # It stands beside the graph without being part of the program, so that calls inside find what they call.
    instance.parent = holder.parent
    try:
        for op in ordered(body):
            copy = block.append(copied(op, values, None))
            if isinstance(copy, Op) and not copy.declares_results:
                for v, type in zip(copy.results, infer(copy).types, strict=False):
                    v.retype(type)
    except (CyclicOrder, DiagnosticError, NotationError):
        return None
    return block, values


def _sample(declared: DeclaredType, rank: int, unnamed: Iterator[int]) -> Type:
    """Returns a type that fits a declared one, with symbols as dims."""

    def dims(pattern: Pattern) -> Iterator[Dim]:
        for name, is_many in pattern.dims or ():
            stem = name or f"any{next(unnamed)}"
            names = [f"{stem}_{n}" for n in range(rank)] if is_many else [stem]
            yield from (int(n) if n.isdigit() else symbol(n) for n in names)

    match declared:
        case TensorOf(pattern=pattern) if pattern.element in ELEMENT_TYPES:
            result = SparseTensorType if declared.is_sparse else TensorType
            return result(ELEMENT_TYPES[pattern.element], None if pattern.dims is None else tuple(dims(pattern)))
        case ListOf(element=element):
            return ListType(_sample(element, rank, unnamed))
        case OptionalOf(element=element):
            return OptionalType(_sample(element, rank, unnamed))
        case TupleOf(elements=elements):
            return TupleType(tuple([_sample(e, rank, unnamed) for e in elements]))
        case _:
            return unknown
