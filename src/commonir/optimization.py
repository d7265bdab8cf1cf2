"""What makes a program smaller or faster without changing what it computes: passes by their names.

The names are those of MLIR where it has the pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from commonir.base.codes import UNKNOWN_REFERENCE, UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.dialects.core import CoreOp
from commonir.ir.cloning import clone
from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.ods import Dialects, Op, path_of, traits
from commonir.ods.terms import Rewrite
from commonir.passes.canonicalize import canonicalize_operations
from commonir.passes.eliminate_common import eliminate_common
from commonir.passes.expand_all_reduce import expand_all_reduce
from commonir.passes.fold_all_reduce import Reasons, fold_all_reduce
from commonir.passes.infer_shapes import infer_shapes
from commonir.passes.inline import inline
from commonir.passes.lower import lower
from commonir.passes.order_nodes import order_nodes
from commonir.passes.pipeline_globals import pipeline_globals
from commonir.passes.propagate_constants import propagate_constants
from commonir.passes.remove_unused_symbols import remove_unused_symbols
from commonir.passes.simpler_forms import SimplerForms
from commonir.passes.simplify import Evaluate, simplify
from commonir.reports import RuleReport
from commonir.rewrite.explaining import explained, report_of
from commonir.rewrite.greedy import rewrite
from commonir.rewrite.rule_set import RuleSet
from commonir.runtime.engine import Engines
from commonir.runtime.fold_constants import MAX_GROWTH_BYTES, Folding


class Means(NamedTuple):
    """What passes may use; `reports` receives what became of those that tell it, `found` receives warnings."""

    evaluate: Evaluate
    dialects: Dialects
    reports: list[RuleReport]
    found: Diagnostics


class Pass(NamedTuple):
    """A pass, which changes a module in place, or gives another one."""

    summary: str
    run: Callable[[Module, Means], Module | None]


def _simplify(module: Module, means: Means) -> None:
    infer_shapes(module)
    simplify(module, means.evaluate)


def _canonicalize(module: Module, means: Means) -> None:
    canonicalize_operations(module, SimplerForms(means.evaluate, means.dialects))


def _inline(module: Module, means: Means) -> None:
    # One for all functions: making rules ready takes longer than most functions do.
    forms = SimplerForms(means.evaluate, means.dialects)

    def simplify_function(function: Operation) -> None:
        canonicalize_operations(function, forms)

    inline(module, means.dialects, simplify_function)


def _propagate_constants(module: Module, means: Means) -> None:
    propagate_constants(module, means.evaluate, means.dialects)


def _fold_all_reduce(module: Module, means: Means) -> None:
    _require_core(module, "fold-all-reduce")
    reasons: Reasons = {}
    folded = fold_all_reduce(module, reasons)
    means.reports.append(report_of("fold-all-reduce", "", folded, reasons))


def _expand_all_reduce(module: Module, _: Means) -> None:
    _require_core(module, "expand-all-reduce")
    expand_all_reduce(module)


def _compress(module: Module, means: Means) -> None:
    from commonir.passes.ark.compress import compress  # noqa: PLC0415  loads a dialect that few programs use

    compress(module, means.found)


def _lower(module: Module, _: Means) -> Module:
    return lower(module)


def _require_core(module: Module, name: str) -> None:
    """Raises: UNSUPPORTED_CONVERSION where ranks exchange anything by other operations than those of the core."""
    for op in module.nested():
        if isinstance(op, Op) and op.has_trait(traits.Communicates) and not isinstance(op, CoreOp):
            message = f"'{name}' works on programs of the core, and this one has {op.name}"
            help = f"lower it before: `--passes lower,{name}`, and write MLIR"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, where=path_of(op), help=help))


def _alone(run: Callable[[Module], object]) -> Callable[[Module, Means], None]:
    def of_module(module: Module, _: Means) -> None:
        run(module)

    return of_module


_PASSES = {
    "simplify": Pass("constants, known shapes, repeated and unused operations of a model", _simplify),
    "canonicalize": Pass(
        "folders and canonicalization rules of definitions, constants at the beginning of functions", _canonicalize
    ),
    "cse": Pass("repeated operations become one", _alone(eliminate_common)),
    "inline": Pass("bodies of functions in the place of calls", _inline),
    "sccp": Pass(
        "values that are always the same become constants, along the branches that are taken", _propagate_constants
    ),
    "symbol-dce": Pass("private symbols that nothing refers to go", _alone(remove_unused_symbols)),
    "mlprogram-pipeline-globals": Pass(
        "what is stored to a global reaches the loads after it", _alone(pipeline_globals)
    ),
    "lower": Pass("programs of formats become programs of the core, which MLIR text holds", _lower),
    "fold-all-reduce": Pass("what ranks send to each other and add up becomes one all-reduce", _fold_all_reduce),
    "expand-all-reduce": Pass("an all-reduce becomes what ranks send to each other and add up", _expand_all_reduce),
    "compress": Pass("programs of ARK as ARK writes them: virtual operations go, nodes are merged", _compress),
}
PASSES: Mapping[str, Pass] = MappingProxyType(_PASSES)
"""The passes by name, in the order in which they are listed."""

DEFAULT_PASSES = ("simplify",)


def optimized(
    module: Module,
    passes: Sequence[str] = DEFAULT_PASSES,
    rules: Iterable[Rewrite] = (),
    max_growth_bytes: int | None = None,
    reports: list[RuleReport] | None = None,
    findings: Diagnostics | None = None,
) -> Module:
    """A copy of a module after rules, applied until none matches, and passes, in order.

    `reports` receives what became of each rule, and of passes that tell it; `findings` receives warnings.

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
    told: list[RuleReport] = [] if reports is None else reports
    found = Diagnostics() if findings is None else findings
    means = Means(Folding(engines.get("numpy"), engines.get("reference"), limit), Dialects(), told, found)
    ordered = order_nodes(module)
    copy = clone(module) if ordered is module else ordered
    if given:
        rule_set = RuleSet(given)
        applied = rewrite(copy, rule_set)
        if reports is not None:
            reports += explained(copy, rule_set, applied)
    for name in passes:
        made = PASSES[name].run(copy, means)
        copy = copy if made is None else made
    return copy
