"""Runs passes in order: rewrite rules first, then a pipeline, on a copy of the program.

A pipeline is written as for mlir-opt: `canonicalize,cse`, with options `simplify{max-fold-bytes=0}`, and with or
without `builtin.module(...)` around it. `func.func(canonicalize,cse)` runs passes on each `func.func` directly in the
operation around it, `any(...)` on each isolated operation there.
Limits: `_MAX_TEXT`, `_MAX_NESTING`. Source: MLIR documentation, Pass Infrastructure, Textual Pass Pipeline
Specification.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from commonir.base.codes import RAN_ON_NOTHING, WRONG_USAGE
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.ir.cloning import clone
from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.ods import Op, traits
from commonir.ods.terms import Rewrite
from commonir.passes.definition import Pass, PassContext, Passes, PassOptions, PassResult
from commonir.passes.order_nodes import order_nodes
from commonir.passes.output_dims import declared_outputs, restore_output_names
from commonir.passes.returned_values import restore_returned_values, returned_values
from commonir.rewrite.explaining import explained
from commonir.rewrite.greedy import rewrite
from commonir.rewrite.rule_checks import check_types
from commonir.rewrite.rule_set import RuleSet

LEVELS = ("exact", "fast")
"""Whether results of an optimization are the same bit for bit, or may be rounded differently."""


def default_pipeline(level: str, fuse: str | None = None, *, keep_initializer_inputs: bool) -> str:
    """Returns the passes of an optimization. `fuse` are names of recognitions; None for none of them.

    Raises: DiagnosticError (E0901) for an unknown level.
    """
    if level not in LEVELS:
        help = did_you_mean(level, LEVELS) or f"levels: {', '.join(LEVELS)}"
        raise DiagnosticError(Diagnostic(WRONG_USAGE, f"no level of optimization is called '{level}'", help=help))
    simplify = f"simplify{{level={level}}}"
    if fuse is not None:
        simplify = f"{simplify},fuse{{names='{fuse}' level={level}}}"
    return simplify if keep_initializer_inputs else f"fix-default-inputs,{simplify}"


_MAX_TEXT = 1 << 16
_MAX_NESTING = 32
_MODULE = "builtin.module"
_ANY = "any"
_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_SPACE = re.compile(r"\s*")


class PlannedPass(NamedTuple):
    """A pass of a pipeline with the values of its options."""

    definition: Pass
    options: PassOptions


class NestedPipeline(NamedTuple):
    """Passes that run on each operation called `anchor`, or on each isolated one, directly in the one around it."""

    anchor: str
    items: Pipeline


Pipeline = Sequence[PlannedPass | NestedPipeline]


def passes_in(pipeline: Pipeline) -> Iterator[PlannedPass]:
    """Yields the passes of a pipeline in order, nested ones included."""
    for item in pipeline:
        if isinstance(item, NestedPipeline):
            yield from passes_in(item.items)
        else:
            yield item


def pipeline_of(passes: str | Sequence[str | Pass], available: Passes) -> Pipeline:
    """Returns the passes of a pipeline, given as text or one by one.

    Raises: DiagnosticError (E0901 for wrong syntax and wrong options, E0904 for an unknown pass).
    """
    if isinstance(passes, str):
        return _PipelineReader(passes, available).pipeline()
    planned: list[PlannedPass | NestedPipeline] = []
    for item in passes:
        if isinstance(item, Pass):
            planned.append(PlannedPass(item, item.options_from({})))
        elif isinstance(item, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # for callers without types
            planned += _PipelineReader(item, available).pipeline()
        else:
            raise TypeError(f"a pass is a name or a `Pass`, found {item!r}")
    return planned


class _PipelineReader:
    """Reads the text of a pipeline."""

    def __init__(self, text: str, passes: Passes) -> None:
        self._text = text
        self._available = passes
        self._at = 0

    def pipeline(self) -> Pipeline:
        if len(self._text) > _MAX_TEXT:
            raise self._error("the text is too long")
        is_anchored = re.match(rf"\s*({re.escape(_MODULE)}|{_ANY})\s*\(", self._text) is not None
        if is_anchored:
            self._at = self._text.index("(") + 1
        planned = self._items(")" if is_anchored else "", ())
        if is_anchored:
            self._expect(")")
        if self._peek():
            raise self._error(f"expected the end, found '{self._peek()}'")
        return planned

    def _items(self, closing: str, anchors: tuple[str, ...]) -> Pipeline:
        """Returns the passes up to the closing character; `anchors` are the operations around, the outermost first."""
        items: list[PlannedPass | NestedPipeline] = []
        if self._peek() in ("", closing):
            return items
        while True:
            items.append(self._item(anchors))
            if self._peek() != ",":
                return items
            self._at += 1

    def _item(self, anchors: tuple[str, ...]) -> PlannedPass | NestedPipeline:
        self._peek()
        match = _NAME.match(self._text, self._at)
        if match is None:
            raise self._error("expected the name of a pass")
        self._at = match.end()
        name = match[0]
        if self._peek() == "(":
            return self._nested(name, anchors)
        definition = self._available.get(name)
        if anchors and definition.run_nested is None:
            raise self._error(
                f"pass '{name}' runs on the whole program, and not on each '{anchors[-1]}'",
                help=f"write '{name}' outside of `{anchors[0]}(...)`",
            )
        return PlannedPass(definition, definition.options_from(self._options()))

    def _nested(self, anchor: str, anchors: tuple[str, ...]) -> NestedPipeline:
        """Returns the passes between parentheses, which follow the name of an operation."""
        suggestion = None if anchor in (_MODULE, _ANY) else did_you_mean(anchor, (_MODULE, _ANY))
        if suggestion is not None or ("." not in anchor and anchor != _ANY):
            help = suggestion or "write the name of an operation, such as `func.func(...)`"
            raise self._error(f"unknown anchor '{anchor}'", help=help)
        if len(anchors) >= _MAX_NESTING:
            raise self._error(f"passes are nested more than {_MAX_NESTING} deep")
        self._at += 1
        items = self._items(")", (*anchors, anchor))
        self._expect(")")
        return NestedPipeline(anchor, items)

    def _options(self) -> dict[str, str]:
        values: dict[str, str] = {}
        if self._peek() != "{":
            return values
        self._at += 1
        while self._peek() != "}":
            match = _NAME.match(self._text, self._at)
            if match is None:
                raise self._error("expected the name of an option")
            self._at = match.end()
            if self._text[self._at : self._at + 1] == "=":
                self._at += 1
                values[match[0]] = self._value()
            else:
                values[match[0]] = "true"
        self._at += 1
        return values

    def _value(self) -> str:
        """Returns the text of a value: up to a space or `}`, or between quotes or braces."""
        first = self._text[self._at : self._at + 1]
        closing = {"'": "'", '"': '"', "{": "}"}.get(first)
        if closing is not None:
            end = self._text.find(closing, self._at + 1)
            if end < 0:
                raise self._error(f"'{first}' is not closed")
            value = self._text[self._at + 1 : end]
            self._at = end + 1
            return value
        result = re.compile(r"[^\s}]+").match(self._text, self._at)
        if result is None:
            raise self._error("expected a value")
        self._at = result.end()
        return result[0]

    def _peek(self) -> str:
        """Returns the next character that is not a space; "" at the end."""
        match = _SPACE.match(self._text, self._at)
        self._at = match.end() if match is not None else self._at
        return self._text[self._at : self._at + 1]

    def _expect(self, char: str) -> None:
        if self._peek() != char:
            raise self._error(f"expected '{char}', found '{self._peek() or 'the end'}'")
        self._at += 1

    def _error(self, reason: str, help: str | None = None) -> DiagnosticError:
        message = f"the pass pipeline is not understood at character {self._at + 1}: {reason}"
        return DiagnosticError(Diagnostic(WRONG_USAGE, message, help=help))


def run_pipeline(module: Module, pipeline: Pipeline, context: PassContext, rules: Iterable[Rewrite] = ()) -> PassResult:
    """Runs rules, until none matches, and passes, in order, on a copy of a module.

    `context.reports` receives a report of each rule, and of passes that make one.

    Raises: TypeError for what is not a rule, DiagnosticError (E0604 to E0607 for rules; those of passes; E0901 for
    passes nested in an operation that is not isolated from above).
    """
    rewrites = list(rules)
    for rule in rewrites:
        if not isinstance(rule, Rewrite):  # pyright: ignore[reportUnnecessaryIsInstance]  # for callers without types
            raise TypeError(f"a rule is `term(...) >> term(...)`, found {rule!r}")
    ordered = order_nodes(module)
    copy = clone(module) if ordered is module else ordered
    changed = ordered is not module
    declared = declared_outputs(copy)
    if rewrites:
        Diagnostics(check_types(rewrites)).raise_errors()
        rule_set = RuleSet(rewrites)
        returned = returned_values(copy)
        applied = rewrite(copy, rule_set)
        restore_returned_values(returned)
        changed = changed or any(applied.values())
        if context.reports is not None:
            context.reports.extend(explained(copy, rule_set, applied))
    for item in pipeline:
        returned = returned_values(copy)
        if isinstance(item, NestedPipeline):
            changed |= _run_nested([copy], item, context)
        else:
            result = item.definition.run(copy, context, item.options)
            if not isinstance(result, PassResult):  # pyright: ignore[reportUnnecessaryIsInstance]  # as above
                raise TypeError(f"pass '{item.definition.name}' returns a `PassResult`, found {result!r}")
            copy, changed = result.module, changed or result.changed
        restore_returned_values(returned)
    restore_output_names(copy, declared)
    return PassResult(copy, changed)


def _run_nested(around: Sequence[Operation], pipeline: NestedPipeline, context: PassContext) -> bool:
    """Runs passes on the operations directly in some operations; returns whether any changed."""
    inside = [
        op for holder in around for region in holder.regions for block in region.blocks for op in block.operations
    ]
    operations = [op for op in inside if pipeline.anchor in (op.name, _ANY)]
    if pipeline.anchor == _ANY:
        operations = [op for op in operations if _is_isolated(op)]
    elif not operations and around:
        context.findings.extend([_ran_on_nothing(pipeline.anchor, around, inside)])
    elif not _is_isolated(operations[0]):
        message = f"passes cannot be nested in '{pipeline.anchor}', whose operations may use values from outside of it"
        raise DiagnosticError(Diagnostic(WRONG_USAGE, message))
    changed = False
    for item in pipeline.items if operations else ():
        if isinstance(item, NestedPipeline):
            changed |= _run_nested(operations, item, context)
        else:
            run = item.definition.run_nested
            assert run is not None, "the reader refuses other passes"
            changed |= run(operations, context, item.options)
    return changed


def _is_isolated(op: Operation) -> bool:
    return isinstance(op, Module) or (isinstance(op, Op) and op.has_trait(traits.IsolatedFromAbove))


def _ran_on_nothing(anchor: str, around: Sequence[Operation], inside: Sequence[Operation]) -> Diagnostic:
    names = sorted({op.name for op in inside if _is_isolated(op)})
    message = f"the passes of `{anchor}(...)` run on nothing: no '{anchor}' is directly in a '{around[0].name}'"
    help = did_you_mean(anchor, names) or (f"passes can be nested in {', '.join(names)} here" if names else None)
    return Diagnostic(RAN_ON_NOTHING, message, help=help)
