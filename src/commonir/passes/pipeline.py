"""Runs passes in order: rewrite rules first, then a pipeline, on a copy of the program.

A pipeline is written as for mlir-opt: `canonicalize,cse`, with options `simplify{max-fold-bytes=0}`, and with or
without `builtin.module(...)` around it. All passes run on the whole program; nested operations have no pipelines.
Limits: `_MAX_TEXT`. Source: MLIR documentation, Pass Infrastructure, Textual Pass Pipeline Specification.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from commonir.base.codes import WRONG_USAGE
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.ir.cloning import clone
from commonir.ir.module import Module
from commonir.ods.terms import Rewrite
from commonir.passes.definition import Pass, PassContext, Passes, PassOptions, PassResult
from commonir.passes.order_nodes import order_nodes
from commonir.passes.returned_values import restore_returned_values, returned_values
from commonir.rewrite.explaining import explained
from commonir.rewrite.greedy import rewrite
from commonir.rewrite.rule_checks import check_types
from commonir.rewrite.rule_set import RuleSet

DEFAULT_PIPELINE = "simplify"

_MAX_TEXT = 1 << 16
_ANCHORS = ("builtin.module", "any")
_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_SPACE = re.compile(r"\s*")


class PlannedPass(NamedTuple):
    """A pass of a pipeline with the values of its options."""

    definition: Pass
    options: PassOptions


def pipeline_of(passes: str | Sequence[str | Pass], available: Passes) -> list[PlannedPass]:
    """Returns the passes of a pipeline, given as text or one by one.

    Raises: DiagnosticError (E0901 for wrong syntax and wrong options, E0904 for an unknown pass).
    """
    if isinstance(passes, str):
        return _PipelineReader(passes, available).pipeline()
    planned: list[PlannedPass] = []
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

    def pipeline(self) -> list[PlannedPass]:
        if len(self._text) > _MAX_TEXT:
            raise self._error("the text is too long")
        anchor = next((a for a in _ANCHORS if re.match(rf"\s*{re.escape(a)}\s*\(", self._text)), None)
        if anchor is not None:
            self._at = self._text.index("(") + 1
        planned = self._passes(")" if anchor is not None else "")
        if anchor is not None:
            self._expect(")")
        if self._peek():
            raise self._error(f"expected the end, found '{self._peek()}'")
        return planned

    def _passes(self, closing: str) -> list[PlannedPass]:
        planned: list[PlannedPass] = []
        while self._peek() not in ("", closing):
            planned.append(self._pass())
            if self._peek() != ",":
                break
            self._at += 1
        return planned

    def _pass(self) -> PlannedPass:
        self._peek()
        match = _NAME.match(self._text, self._at)
        if match is None:
            raise self._error("expected the name of a pass")
        self._at = match.end()
        if self._peek() == "(":
            raise self._wrong_anchor(match[0])
        definition = self._available.get(match[0])
        return PlannedPass(definition, definition.options_from(self._options()))

    def _wrong_anchor(self, name: str) -> DiagnosticError:
        """Returns the error for an operation whose passes would be nested, or for what names no operation."""
        suggestion = did_you_mean(name, _ANCHORS)
        is_nested = suggestion is None and "." in name
        reason = (
            f"passes run on the whole program, and not on each '{name}'" if is_nested else f"unknown anchor '{name}'"
        )
        return self._error(reason, help=suggestion or "write `builtin.module(...)`, or the passes alone")

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


def run_pipeline(
    module: Module, pipeline: Iterable[PlannedPass], context: PassContext, rules: Iterable[Rewrite] = ()
) -> PassResult:
    """Runs rules, until none matches, and passes, in order, on a copy of a module.

    `context.reports` receives a report of each rule, and of passes that make one.

    Raises: TypeError for what is not a rule, DiagnosticError (E0604 to E0607 for rules; those of passes).
    """
    rewrites = list(rules)
    for rule in rewrites:
        if not isinstance(rule, Rewrite):  # pyright: ignore[reportUnnecessaryIsInstance]  # for callers without types
            raise TypeError(f"a rule is `term(...) >> term(...)`, found {rule!r}")
    ordered = order_nodes(module)
    copy = clone(module) if ordered is module else ordered
    changed = ordered is not module
    if rewrites:
        Diagnostics(check_types(rewrites)).raise_errors()
        rule_set = RuleSet(rewrites)
        returned = returned_values(copy)
        applied = rewrite(copy, rule_set)
        restore_returned_values(returned)
        changed = changed or any(applied.values())
        if context.reports is not None:
            context.reports.extend(explained(copy, rule_set, applied))
    for planned in pipeline:
        returned = returned_values(copy)
        result = planned.definition.run(copy, context, planned.options)
        restore_returned_values(returned)
        copy, changed = result.module, changed or result.changed
    return PassResult(copy, changed)
