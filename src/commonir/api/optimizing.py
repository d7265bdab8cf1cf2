"""Optimization of programs: passes, and rewrite rules from TableGen files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from commonir.api.opening import Path_
from commonir.base.collecting import no_collection
from commonir.base.diagnostics import Diagnostic, Diagnostics
from commonir.ir.module import Module
from commonir.ods import Dialect, Dialects
from commonir.reports import PassEntry, PassOptionEntry

if TYPE_CHECKING:
    from commonir.ods.terms import Rewrite
    from commonir.passes.definition import Pass
    from commonir.passes.rules import Rules
    from commonir.passes.simplify import Evaluate
    from commonir.reports import RuleReport


def optimize(
    module: Module,
    *,
    passes: str | Sequence[str | Pass] | None = None,
    rules: Sequence[Rewrite] = (),
    level: str = "exact",
    fuse: str | None = None,
    keep_initializer_inputs: bool = False,
    max_growth_bytes: int | None = None,
    reports: list[RuleReport] | None = None,
    findings: Diagnostics | None = None,
) -> Module:
    """Returns an optimized copy of the program: folds constants and shape arithmetic, and removes no-ops, duplicates
    and unused operations.

    `passes` replaces the default passes: a pipeline as for mlir-opt, such as `"canonicalize,cse"` or
    `"builtin.module(func.func(canonicalize{max-fold-bytes=0}),cse)"`, or a list of names and passes. With the `level`
    "fast", the default passes also permit results that are rounded differently, such as those of a convolution with the
    weights of the normalization after it. `fuse` names the operations that replace others which together compute the
    same, up to rounding: "gelu,layer_norm", "all", or "-attention" for all but one; what looks like one of them and
    stays is reported (N0605). The default passes make constants of inputs with default values (N0601), unless
    `keep_initializer_inputs` is set.
    `rules` are rewrite rules that are applied before, until none matches; `reports` receives how often each was
    applied, `findings` receives warnings of passes, and notes about operations whose folders are C++ (N0265).
    `max_growth_bytes` limits by how much a folded constant may exceed its operands, unless an option of a pass does;
    without it, the default passes enlarge a program by no more than 1 % of its constants.
    The copy shares large constants with the program.

    Raises: DiagnosticError (E0901 for a wrong pipeline, E0904 for an unknown pass, E0604 to E0607 for rules).
    """
    with no_collection():
        # Loading this much code would have all of the program searched for garbage.
        from commonir.passes.definition import PassContext, Passes  # noqa: PLC0415
        from commonir.passes.pipeline import default_pipeline, passes_in, pipeline_of, run_pipeline  # noqa: PLC0415

        default = default_pipeline(level, fuse, keep_initializer_inputs=keep_initializer_inputs)
        pipeline = pipeline_of(default if passes is None else passes, Passes())
        warnings = Diagnostics() if findings is None else findings
        evaluators, is_limited = evaluators_of(max_growth_bytes), max_growth_bytes is not None
        context = PassContext(evaluators, Dialects(), reports, warnings, _from_core, is_limited)
        result = run_pipeline(module, pipeline, context, rules).module
        if findings is not None and any(planned.definition.folds for planned in passes_in(pipeline)):
            findings.extend(_not_folded(result))
        return result


def _from_core(module: Module, dialect: str, operation_set: str) -> Module | None:
    """Converts a core module of one function to a dialect, and an operation set of it."""
    from commonir.conversions.conversion import Conversions  # noqa: PLC0415  loads conversions

    conversion = Conversions().of_dialect(dialect)
    return None if conversion is None or conversion.beside is None else conversion.beside(module, operation_set)


def _not_folded(module: Module) -> Iterator[Diagnostic]:
    """Yields notes about loaded definitions whose folders are C++."""
    for definition in {type(op): None for op in module.walk()}:
        report: Callable[[], Iterator[Diagnostic]] | None = getattr(definition, "not_folded", None)
        yield from () if report is None else report()


def evaluators_of(max_growth_bytes: int | None) -> Callable[[int | None], Evaluate]:
    """Returns the function by which passes get engines for folding constants, one for each limit of growth."""
    from functools import cache  # noqa: PLC0415  few calls need it

    from commonir.runtime.engine import Engines  # noqa: PLC0415
    from commonir.runtime.fold_constants import MAX_GROWTH_BYTES, Folding  # noqa: PLC0415

    engines = Engines()
    default = MAX_GROWTH_BYTES if max_growth_bytes is None else max_growth_bytes

    @cache
    def evaluator(limit: int) -> Evaluate:
        return Folding(engines.get("numpy"), engines.get("reference"), limit)

    return lambda limit: evaluator(default if limit is None else limit)


def load_rules(
    path: Path_,
    include_dirs: Sequence[Path_] = (),
    *,
    functions: Mapping[str, Callable[..., object]] | None = None,
    dialects: Sequence[Dialect] = (),
    unambiguous: bool = False,
) -> Rules:
    """Returns the rewrite rules of a TableGen file for `optimize`, and dialects for `load`: those given and those it
    defines.

    `functions` are Python functions that rules may call, by the names of the records of calls and constraints, by the
    text of a call, or by the name in it. Text is never executed. With `unambiguous`, rules that match the same
    operations equally well are an error in today's form too, where otherwise the first one is tried first.

    Raises: DiagnosticError with all errors (E0260 to E0264, E0307, E0604 to E0606, E0608).
    """
    from commonir.passes.rules import load_rules as load_file  # noqa: PLC0415  loads the TableGen reader

    return load_file(path, include_dirs, functions=functions or {}, dialects=dialects, unambiguous=unambiguous)


def passes() -> tuple[PassEntry, ...]:
    """Returns the passes that `optimize` can run, including those of installed packages."""
    from commonir.passes.definition import Passes  # noqa: PLC0415

    return tuple(
        [
            PassEntry(p.name, p.summary, tuple([PassOptionEntry(o.name, o.type.value, o.summary) for o in p.options]))
            for p in Passes()
        ]
    )
