"""Checks that nodes call operators declared in their file or in the closure of its imports.

Operators of ONNX are declared by the operator sets that a file imports, operations of other dialects by the library
that stands for the dialect. Source: Common IR specification, operators and importing libraries.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from commonir.base.codes import WRONG_OPERAND_COUNT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.suggestions import did_you_mean
from commonir.base.text import plural
from commonir.dialects import onnx
from commonir.dialects.common_ir import rules
from commonir.dialects.common_ir.checks import nodes_of, place_of
from commonir.dialects.common_ir.control_flow import CONTROL_OPERATIONS
from commonir.dialects.common_ir.functions import (
    INPUT_ARG_COUNT,
    Call,
    FunctionDefinition,
    Namespace,
    argument_counts,
    references_of,
)
from commonir.dialects.common_ir.operators import OperatorDeclaration, OperatorNode
from commonir.dialects.common_ir.signatures import LIBRARY_DOMAIN
from commonir.dialects.onnx.misfits import definition_of, misfits
from commonir.ir.attributes import DenseArrayAttr, DictionaryAttr, IntegerAttr
from commonir.ir.module import Module, Symbol
from commonir.ir.operation import Block, Operation, Value
from commonir.ods import Op
from commonir.ods.declared import OperatorUse, choose

_ALWAYS = frozenset({"builtin", "common_ir", "onnx"})
_DEFAULT_DOMAINS = frozenset({"", "ai.onnx"})
BUILT_IN = "commonir:"
"""The beginning of the URI of a library that stands for a dialect: it is found without a file."""


class Closure:
    """The operators that nodes of one file can call: its own by bare names, those of libraries by qualified names."""

    def __init__(self, own: Block, module: Module | None) -> None:
        self.symbols: dict[str, Symbol] = {}
        self.dialects: set[str] = set(_ALWAYS)
        self._definitions: dict[str, tuple[type[OperatorNode], ...]] = {}
        for op in own.operations:
            if isinstance(op, FunctionDefinition | OperatorDeclaration):
                self.symbols.setdefault(op.symbol_name, op)
            self._note_import(op)
        for op in () if module is None else module.body.operations:
            self._note_import(op)
            if isinstance(op, Namespace):
                self._note_library(op)

    def _note_import(self, op: Operation) -> None:
        uri = getattr(op, "uri", "")
        if isinstance(uri, str) and uri.startswith(BUILT_IN):
            self.dialects.add(uri.removeprefix(BUILT_IN))

    def _note_library(self, library: Namespace) -> None:
        domain, _, name = library.symbol_name.rpartition(".")
        if domain == LIBRARY_DOMAIN:
            self.dialects.add(name)
        for op in library.body.operations:
            if isinstance(op, FunctionDefinition | OperatorDeclaration):
                self.symbols.setdefault(f"{library.symbol_name}.{op.symbol_name}", op)

    def undeclared(self, block: Block, opsets: DictionaryAttr) -> Iterator[Diagnostic]:
        """The nodes of a graph or function that call what is not declared, or not as it is declared.

        `opsets` are the versions of the operator sets that it imports, by domain.
        """
        domains = {domain for domain, _ in opsets.entries}
        versions = {domain: v.value for domain, v in opsets.entries if isinstance(v, IntegerAttr)}
        if not domains.isdisjoint(_DEFAULT_DOMAINS):
            domains |= _DEFAULT_DOMAINS
        for n, node in enumerate(nodes_of(block)):
            for op in node.walk() if node.regions else (node,):
                found = self._undefined(op, versions) if isinstance(op, onnx.Custom) else self._node(op, domains)
                for d in found:
                    yield d.located(where=place_of(node, n))

    def _undefined(self, op: onnx.Custom, versions: Mapping[str, int]) -> Iterator[Diagnostic]:
        """Yields why a node has no definition, or does not fit it."""
        called = op.undefined_operator
        result = self.symbols.get(called)
        definition = definition_of(op, versions)
        if isinstance(result, OperatorDeclaration):
            yield from self._misfit(op, result, called)
        elif definition is not None:
            yield from misfits(op, definition)
        else:
            yield self._unknown("operator", called)

    def _node(self, op: Operation, domains: Collection[str]) -> Iterator[Diagnostic]:
        if isinstance(op, Call):
            result = self.symbols.get(op.function)
            if isinstance(result, FunctionDefinition):
                yield from _length(op, op.function, len(result.inputs))
            else:
                yield self._unknown("function", op.function)
        elif isinstance(op, Op):
            dialect = op.name.partition(".")[0]
            domain = onnx.operator_of(op.name)[0] if isinstance(op, onnx.OnnxOp) else None
            if domain is not None and domain not in domains:
                text = f"'{op.name}' is of the operator set '{domain or 'ai.onnx'}', which is not imported"
                yield rules.DECLARED.broken(text, help="state its version in `opset_import`")
            if INPUT_ARG_COUNT in op.extra:
                yield from _counts(op)
            if dialect not in self.dialects and op.name not in CONTROL_OPERATIONS:
                text = f"'{op.name}' is of the dialect '{dialect}', whose library is not imported"
                yield rules.DECLARED.broken(text, help=f"import '{BUILT_IN}{dialect}'")

    def _unknown(self, what: str, called: str) -> Diagnostic:
        if not called:
            return rules.DECLARED.broken("the node names no operator", help="state its `op_type`")
        if called in self.symbols:
            text = f"the {what} '{called}' is of a library that this file does not import"
            return rules.DECLARED.broken(text, help="import it where it is used")
        help = did_you_mean(called, self.symbols) or ""
        return rules.DECLARED.broken(f"the {what} '{called}' is not declared", help=help)

    def _misfit(self, op: onnx.Custom, declared: OperatorDeclaration, called: str) -> Iterator[Diagnostic]:
        """Yields why a node matches none of the definitions of a declared operator."""
        try:
            if called not in self._definitions:
                self._definitions[called] = declared.definitions(called)
            definitions = self._definitions[called]
        except ValueError:
            return  # reported at the declaration
        use = use_of(op)
        lengths = {len(d.layout.inputs) for d in definitions}
        if not definitions:
            return  # reported at the declaration
        if use.counts is not None and len(use.counts) not in lengths:
            known = " or ".join(map(str, sorted(lengths)))
            text = f"{called} has {known} parameters, found {plural(len(use.counts), 'count')}"
            yield rules.ONE_COUNT_EACH.broken(text)
            return
        try:
            choose(definitions, use)
        except DiagnosticError as error:
            yield from error.diagnostics


def _length(op: Operation, called: str, parameters: int) -> Iterator[Diagnostic]:
    """Yields an error unless a node has an argument count for each parameter, if it has any."""
    counts = argument_counts(op)
    if counts is not None and len(counts) != parameters:
        text = f"'{called}' has {plural(parameters, 'parameter')}, found {plural(len(counts), 'count')}"
        yield rules.ONE_COUNT_EACH.broken(text)


def _counts(op: Op) -> Iterator[Diagnostic]:
    """Yields an error for argument counts that are not those of the operands; an absent one may have an empty name."""
    counts = argument_counts(op) or ()
    inputs = op.layout.inputs
    yield from _length(op, op.name, len(inputs))
    fits = [
        c == n or (c == 1 and not f.variadic and not n)
        for f, c, n in zip(inputs, counts, op.segment_sizes, strict=False)
    ]
    if len(counts) == len(inputs) and not all(fits):
        shown = [f"[{', '.join(map(str, c))}]" for c in (op.segment_sizes, counts)]
        text = f"the parameters of '{op.name}' take {shown[0]} inputs, the argument counts are {shown[1]}"
        yield Diagnostic(WRONG_OPERAND_COUNT, text)


def use_of(op: onnx.Custom) -> OperatorUse:
    """Returns how a node of an unregistered operator uses it."""
    operands: list[Value | None] = list(op.inputs)
    for n in op.absent:
        operands.insert(n, None)
    trailing = op.extra.get(onnx.TRAILING_NAMES)
    operands += [None] * int(trailing.values[0]) if isinstance(trailing, DenseArrayAttr) else []
    return OperatorUse(
        tuple(operands),
        dict(op.attributes.entries),
        argument_counts(op),
        dict(zip(op.graph_names, op.graphs, strict=False)),
        len(op.results),
        frozenset(references_of(op)),
    )
