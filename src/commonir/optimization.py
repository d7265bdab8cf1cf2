"""What makes a program smaller or faster without changing what it computes: passes by their names.

The names are those of MLIR where it has the pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from commonir.base.codes import UNKNOWN_REFERENCE
from commonir.base.collecting import no_collection
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.suggestions import did_you_mean
from commonir.ir.module import Module
from commonir.ir.operation import clone
from commonir.ods import Dialects
from commonir.ods.terms import Rewrite
from commonir.passes.canonicalize import canonicalize_operations
from commonir.passes.eliminate_common import eliminate_common
from commonir.passes.infer_shapes import infer_shapes
from commonir.passes.inline import inline
from commonir.passes.pipeline_globals import pipeline_globals
from commonir.passes.propagate_constants import propagate_constants
from commonir.passes.remove_unused_symbols import remove_unused_symbols
from commonir.passes.simplify import Evaluate, simplify
from commonir.rewrite.greedy import rewrite
from commonir.rewrite.rule_set import RuleSet
from commonir.runtime.engine import Engines
from commonir.runtime.fold_constants import MAX_GROWTH_BYTES, Folding


class Means(NamedTuple):
    """What passes may use."""

    evaluate: Evaluate
    dialects: Dialects


class Pass(NamedTuple):
    """A pass that changes a module in place."""

    summary: str
    run: Callable[[Module, Means], object]


def _simplify(module: Module, means: Means) -> None:
    infer_shapes(module)
    simplify(module, means.evaluate)


_PASSES: dict[str, Pass] = {
    "simplify": Pass("constants, known shapes, repeated and unused operations of a model", _simplify),
    "canonicalize": Pass(
        "folders and canonicalization rules of definitions, constants at the beginning of functions",
        lambda m, means: canonicalize_operations(m, means.evaluate, means.dialects),
    ),
    "cse": Pass("repeated operations become one", lambda m, _: eliminate_common(m)),
    "inline": Pass("bodies of functions in the place of calls", lambda m, means: inline(m, means.dialects)),
    "sccp": Pass(
        "values that are always the same become constants, along the branches that are taken",
        lambda m, means: propagate_constants(m, means.evaluate, means.dialects),
    ),
    "symbol-dce": Pass("private symbols that nothing refers to go", lambda m, _: remove_unused_symbols(m)),
    "mlprogram-pipeline-globals": Pass(
        "what is stored to a global reaches the loads after it", lambda m, _: pipeline_globals(m)
    ),
}
PASSES: Mapping[str, Pass] = MappingProxyType(_PASSES)
"""The passes by name, in the order in which they are listed."""

DEFAULT_PASSES = ("simplify",)


def optimized(
    module: Module,
    passes: Sequence[str] = DEFAULT_PASSES,
    rules: Iterable[Rewrite] = (),
    max_growth_bytes: int | None = None,
) -> Module:
    """A copy of a module after rules, applied until none matches, and passes, in order.

    Raises: DiagnosticError (E0904 for an unknown pass, E0604 to E0607 for rules).
    """
    for name in passes:
        if name not in PASSES:
            message = f"no pass is called '{name}'"
            help = did_you_mean(name, PASSES) or f"passes: {', '.join(PASSES)}"
            raise DiagnosticError(Diagnostic(UNKNOWN_REFERENCE, message, help=help))
    given = list(rules)
    engines = Engines()
    limit = MAX_GROWTH_BYTES if max_growth_bytes is None else max_growth_bytes
    means = Means(Folding(engines.get("numpy"), engines.get("reference"), limit), Dialects())
    with no_collection():
        copy = clone(module)
        if given:
            rewrite(copy, RuleSet(given))
        for name in passes:
            PASSES[name].run(copy, means)
    return copy
