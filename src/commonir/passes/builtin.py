"""The definitions of our passes: name, summary, options, and a function that runs the pass, which is implemented in a
module of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from commonir.base.codes import CHANGED_IN_CONVERSION, NOT_FUSED, UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.dialects.core import CoreOp
from commonir.ir.data import Data
from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.ir.types import Type
from commonir.ods import Op, path_of, traits
from commonir.passes.canonicalize import canonicalize_operations
from commonir.passes.combine_operations import combine_operations
from commonir.passes.defaults_to_constants import defaults_to_constants
from commonir.passes.definition import OptionType, Pass, PassContext, PassOption, PassOptions, PassResult, RunNested
from commonir.passes.eliminate_common import eliminate_common
from commonir.passes.expand_all_reduce import expand_all_reduce
from commonir.passes.fold_all_reduce import Reasons, fold_all_reduce
from commonir.passes.fold_to_constants import is_computed
from commonir.passes.folding_growth import Growth
from commonir.passes.fuse import fuse
from commonir.passes.infer_shapes import infer_shapes
from commonir.passes.inline import inline
from commonir.passes.lower import Deferral, lower
from commonir.passes.move_transpositions import MOVED_TRANSPOSITIONS, move_transpositions
from commonir.passes.output_dims import interfaces_in, restore_interfaces
from commonir.passes.pipeline_globals import pipeline_globals
from commonir.passes.propagate_constants import propagate_constants
from commonir.passes.recognitions import chosen_recognitions
from commonir.passes.remove_unused_symbols import remove_unused_symbols
from commonir.passes.simpler_forms import SimplerForms
from commonir.passes.simplify import Evaluate, simplify
from commonir.rewrite.explaining import report_of
from commonir.text.printer import Naming, naming_of

_EXACT, _FAST = "exact", "fast"
_LEVEL = PassOption(
    "level", OptionType.STRING, "`exact`, or `fast` to permit results that are rounded differently", _EXACT
)
_NAMES = PassOption(
    "names", OptionType.STRING, "recognitions separated by commas, or with `-` all but those, in quotes", ""
)
_MOST_ROUNDS = 10
_LARGEST_SAMPLE_BYTES = 1 << 28
_MAX_FOLD_BYTES = PassOption(
    "max-fold-bytes", OptionType.INTEGER, "how much larger a constant may be than what it is computed from"
)


def _evaluator(context: PassContext, options: PassOptions) -> Evaluate:
    return context.evaluator(options.integer(_MAX_FOLD_BYTES.name))


def _forms(context: PassContext, options: PassOptions) -> SimplerForms:
    return SimplerForms(_evaluator(context, options), context.dialects)


def _simplify(module: Module, context: PassContext, options: PassOptions) -> PassResult:
    # Dims of programs in MLIR's own dialects have no names, and a result of another type would need a cast. What these
    # dialects declare to be simpler comes first, as do the constants that they fold to.
    declares_types = naming_of(module, context.dialects) is not Naming.OWN
    is_limited = context.has_growth_limit or options.integer(_MAX_FOLD_BYTES.name) is not None
    growth = None if is_limited else Growth(module, in_text=declares_types)
    evaluate = _evaluator(context, options)
    before, declared, changes = _types(module), interfaces_in(module), 0
    rounds = options.string(_LEVEL.name) == _FAST
    applied = Counter[str]()
    for _ in range(_MOST_ROUNDS):
        if declares_types:
            changes += _simplify_declared(module, evaluate, context, growth)
        else:
            infer_shapes(module)
            changes += simplify(module, evaluate, growth)
        combined = combine_operations(module, context.from_core, context.dialects, rounds=rounds)
        for function in module.defined_functions.values():
            saved = move_transpositions(function, context.from_core, context.dialects, rounds=rounds)
            combined += Counter({MOVED_TRANSPOSITIONS: saved} if saved else {})
        if not combined:
            break
        applied += combined
    restore_interfaces(declared)
    if context.reports is not None:
        context.reports.append(report_of(SIMPLIFY.name, "", changes, {}))
        context.reports.extend([report_of(name, "core", count, {}) for name, count in applied.most_common()])
    return PassResult(module, changes + applied.total() > 0 or _types(module) != before)


def _simplify_declared(module: Module, evaluate: Evaluate, context: PassContext, growth: Growth | None) -> int:
    """Simplifies a program that declares its types, in place, and returns the number of changes."""
    changes = 0
    if growth is not None:
        for function in module.defined_functions.values():
            growth.plan(function, is_computed)

    def limited(op: Op, operands: Sequence[Data]) -> Sequence[Data] | None:
        result = None if op.is_annotated else evaluate(op, operands)
        return result if result is None or growth is None or growth.permits(op, result) else None

    changes += canonicalize_operations(module, SimplerForms(limited, context.dialects))
    return changes + simplify(module, evaluate)


def _fuse(module: Module, context: PassContext, options: PassOptions) -> PassResult:
    recognitions = chosen_recognitions(options.string(_NAMES.name) or "")
    declared = interfaces_in(module)
    infer_shapes(module)
    evaluate = context.evaluator(_LARGEST_SAMPLE_BYTES)
    done = fuse(module, recognitions, evaluate, context.from_core, context.dialects)
    restore_interfaces(declared)
    for recognition in recognitions:
        name = recognition.name
        reasons = done.reasons.get(name, {})
        if context.reports is not None:
            context.reports.append(report_of(name, "core", done.applied[name], reasons))
        for reason, operations in reasons.items():
            first = next((r.name for r in operations[0].results if r.name), operations[0].name)
            places = "1 place looks" if len(operations) == 1 else f"{len(operations)} places look"
            message = f"{name}: {places} like it, and stay{'s' if len(operations) == 1 else ''}: '{first}': {reason}"
            context.findings.add(NOT_FUSED, message, where=path_of(operations[0]))
    if not done.applied:
        return PassResult(module, False)
    # What is fused may be simpler than its parts, and leaves operations that nothing uses.
    return PassResult(_simplify(module, context, options).module, True)


def _fix_default_inputs(module: Module, context: PassContext, _: PassOptions) -> PassResult:
    help = "`--keep-initializer-inputs` keeps them as inputs"
    result = defaults_to_constants(module, context.findings, CHANGED_IN_CONVERSION, help)
    return PassResult(result, result is not module)


def _types(module: Module) -> list[Type]:
    return [result.type for op in module.nested() for result in op.results]


def _canonicalize(operations: Sequence[Operation], context: PassContext, options: PassOptions) -> bool:
    forms = _forms(context, options)
    return sum([canonicalize_operations(op, forms) for op in operations]) > 0


def _cse(operations: Sequence[Operation], _: PassContext, __: PassOptions) -> bool:
    return sum(map(eliminate_common, operations)) > 0


def _inline(module: Module, context: PassContext, options: PassOptions) -> PassResult:
    # One for all functions: preparing the rules takes longer than applying them to most functions.
    forms = _forms(context, options)
    rewrites = 0

    def simplify_function(function: Operation) -> None:
        nonlocal rewrites
        rewrites += canonicalize_operations(function, forms)

    calls = inline(module, context.dialects, simplify_function, context.findings)
    return PassResult(module, calls + rewrites > 0)


def _sccp(operations: Sequence[Operation], context: PassContext, options: PassOptions) -> bool:
    evaluate = _evaluator(context, options)
    return sum([propagate_constants(op, evaluate, context.dialects) for op in operations]) > 0


def _fold_all_reduce(module: Module, context: PassContext, _: PassOptions) -> PassResult:
    _require_core(module, FOLD_ALL_REDUCE.name)
    reasons: Reasons = {}
    folded = fold_all_reduce(module, reasons)
    if context.reports is not None:
        context.reports.append(report_of(FOLD_ALL_REDUCE.name, "", folded, reasons))
    return PassResult(module, folded > 0)


def _expand_all_reduce(module: Module, _: PassContext, __: PassOptions) -> PassResult:
    _require_core(module, EXPAND_ALL_REDUCE.name)
    return PassResult(module, expand_all_reduce(module) > 0)


def _compress(module: Module, context: PassContext, _: PassOptions) -> PassResult:
    from commonir.passes.ark.compress import compress  # noqa: PLC0415  loads a dialect that few programs use

    return PassResult(module, compress(module, context.findings) > 0)


def _lower(module: Module, _: PassContext, options: PassOptions) -> PassResult:
    lowered = lower(module, Deferral.OPEN if options.flag("defer") else Deferral.NONE)
    return PassResult(lowered, lowered is not module)


def _require_core(module: Module, name: str) -> None:
    """Checks that ranks communicate by core operations. Raises: DiagnosticError (UNSUPPORTED_CONVERSION)."""
    for op in module.nested():
        if isinstance(op, Op) and op.has_trait(traits.Communicates) and not isinstance(op, CoreOp):
            message = f"'{name}' works on programs of the core, and this one has {op.name}"
            help = f"lower it before: `--passes lower,{name}`, and write MLIR"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, where=path_of(op), help=help))


def _counting(transform: Callable[[Module], int]) -> Callable[[Module, PassContext, PassOptions], PassResult]:
    """Returns the `run` function of a pass whose transformation takes a module and returns the number of changes."""

    def run(module: Module, _: PassContext, __: PassOptions) -> PassResult:
        return PassResult(module, transform(module) > 0)

    return run


def _nestable(
    name: str, summary: str, transform: RunNested, options: tuple[PassOption, ...] = (), *, folds: bool = False
) -> Pass:
    """Returns a pass that does the same to a program as to an operation in it."""

    def run(module: Module, context: PassContext, options: PassOptions) -> PassResult:
        return PassResult(module, transform([module], context, options))

    return Pass(name, summary, run, options, folds, transform)


SIMPLIFY = Pass(
    "simplify",
    "infers shapes (canonicalizes programs of MLIR), folds constants and known branches, removes duplicate and unused"
    " operations",
    _simplify,
    (_MAX_FOLD_BYTES, _LEVEL),
    folds=True,
)
FUSE = Pass(
    "fuse",
    "replaces operations that together compute what one operation of the format does, such as a layer normalization,"
    " and simplifies the result",
    _fuse,
    (_NAMES, _LEVEL),
)
FIX_DEFAULT_INPUTS = Pass(
    "fix-default-inputs",
    "makes constants of inputs with default values, as older exporters list weights",
    _fix_default_inputs,
)
CANONICALIZE = _nestable(
    "canonicalize",
    "applies folders and canonicalization patterns, moves constants to the beginning of functions",
    _canonicalize,
    (_MAX_FOLD_BYTES,),
    folds=True,
)
CSE = _nestable("cse", "eliminates common subexpressions and unused operations", _cse)
INLINE = Pass("inline", "inlines calls and simplifies the functions", _inline, (_MAX_FOLD_BYTES,))
SCCP = _nestable(
    "sccp", "propagates constants along the branches that may be taken", _sccp, (_MAX_FOLD_BYTES,), folds=True
)
SYMBOL_DCE = Pass("symbol-dce", "removes private symbols without uses", _counting(remove_unused_symbols))
PIPELINE_GLOBALS = Pass(
    "mlprogram-pipeline-globals",
    "forwards values stored to globals to the loads after them",
    _counting(pipeline_globals),
)
LOWER = Pass(
    "lower",
    "lowers operations of formats to the core dialect; the result is written as MLIR text",
    _lower,
    (PassOption("defer", OptionType.FLAG, "leave operations whose lowering depends on values known only at run time"),),
)
FOLD_ALL_REDUCE = Pass(
    "fold-all-reduce", "replaces sends, receives and additions of ranks by one all-reduce", _fold_all_reduce
)
EXPAND_ALL_REDUCE = Pass(
    "expand-all-reduce", "replaces each all-reduce by sends, receives and additions", _expand_all_reduce
)
COMPRESS = Pass(
    "compress", "removes virtual operations of ARK programs and merges nodes, as ARK does before writing", _compress
)
