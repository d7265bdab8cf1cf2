"""Shards a lowered program among ranks, and reports what was sharded and what was not."""

from __future__ import annotations

from collections.abc import Iterable

from commonir.base.codes import CANNOT_BE_DIVIDED, DIVIDED, NOTHING_DIVIDED
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics, InternalError
from commonir.base.text import plural
from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.cloning import clone
from commonir.ir.module import Function, Module
from commonir.ods import Op, path_of, traits
from commonir.passes.remove_unused import remove_unused
from commonir.passes.shard.elementary import Elementary
from commonir.passes.shard.plan import Plan
from commonir.passes.shard.separate import separate_products
from commonir.passes.shard.strategies import Layer, Parallel, Sharded, shard_batch, shard_products
from commonir.passes.shard.writing import RankWriter, units

MAX_RANKS = 1024

_MAX_LISTED = 40


def shard(module: Module, ranks: int, parallel: Parallel, findings: Diagnostics) -> Module:
    """Returns a lowered program whose main function is sharded into one function for each rank, `rank0` and so on.

    Constants are shared with the source, or are shards of those. `findings` receives what was sharded.

    Raises: DiagnosticError (E0610) for a program that cannot be sharded.
    """
    if any(core.rank_of(f) for f in module.functions.values()):
        raise DiagnosticError(Diagnostic(CANNOT_BE_DIVIDED, "the program is one of ranks already"))
    if ranks > MAX_RANKS:
        message = f"{ranks} ranks are more than {MAX_RANKS}, each of which has a function"
        raise DiagnosticError(Diagnostic(CANNOT_BE_DIVIDED, message))
    main = module.main
    if not isinstance(main, ml_program.Func):
        raise InternalError(f"{main.name} is not a function of a lowered program")
    _check(main, parallel)
    if ranks > 1:
        main = _separated(module, main)
    program = Elementary(main)
    strategy = shard_batch if parallel is Parallel.DATA else shard_products
    sharded = strategy(program, ranks) if ranks > 1 else Sharded(Plan(program, ranks), ())
    rank_units = units(sharded.plan, main)
    result = Module(module.extra)
    calls = any(isinstance(op, core.Call) for op in main.walk())
    for op in module.body.operations:
        # Each rank has states of its own, under the same names.
        if isinstance(op, ml_program.Global) or (calls and op is not main):
            result.body.append(clone(op))
    for rank in range(ranks):
        result.body.append(RankWriter(sharded.plan, main, rank).function(rank_units))
    if ranks > 1:
        _report(sharded, main, result, parallel, findings)
    return result


def _check(main: Function, parallel: Parallel) -> None:
    """Checks that a program can be sharded. Raises: DiagnosticError (E0610)."""
    for op in main.walk():
        message, help = "", ""
        if parallel is Parallel.DATA and isinstance(op, ml_program.GlobalUse):
            message = f"the batch cannot be divided: a state, '{op.global_name}', is kept between runs"
            help = "`--parallel tensor` divides weights instead of the batch"
        is_seeded = isinstance(op, core.RandomTensor) and op.seed != core.ANY_SEED
        if isinstance(op, Op) and op.has_trait(traits.Random) and not is_seeded:
            message, help = f"{op.name} draws other numbers on each rank", "give it a seed"
        if message:
            raise DiagnosticError(Diagnostic(CANNOT_BE_DIVIDED, message, where=path_of(op), help=help))


def _separated(module: Module, main: ml_program.Func) -> ml_program.Func:
    """Returns the function with products split whose result is cut into pieces of different sizes; itself if there are
    none.
    """
    copy = Module(module.extra)
    built = copy.body.append(clone(main))
    if not separate_products(built):
        return main
    remove_unused(built.body)
    return built


def _report(sharded: Sharded, source: Function, module: Module, parallel: Parallel, findings: Diagnostics) -> None:
    ranks = sharded.plan.ranks
    sums = [op for op in core.ranks_of(module)[0].walk() if isinstance(op, core.AllReduce)]
    before, content = constant_bytes(source), max(constant_bytes(f) for f in core.ranks_of(module))
    notes = [f"each rank holds {content} of {before} bytes of constants"]
    if parallel is Parallel.DATA:
        split = [v.name for v in sharded.plan.program.inputs if v in sharded.plan.layouts]
        message = f"each of {ranks} ranks computes a part of the batch: inputs {', '.join(split)}"
        findings.add(DIVIDED, message, notes=notes)
        return
    sharded_layers = [layer for layer in sharded.layers if layer.mode != "whole"]
    if not sharded_layers:
        message = f"nothing could be divided: each of {ranks} ranks computes the whole program"
        help = "choose a number of ranks that divides the sizes, or `--parallel data`"
        findings.add(NOTHING_DIVIDED, message, notes=_listed(sharded.layers, ranks), help=help)
        return
    message = f"{len(sharded_layers)} of {len(sharded.layers)} products are divided among {ranks} ranks,"
    message += f" with {plural(len(sums), 'sum')} over the ranks"
    findings.add(DIVIDED, message, notes=[*_listed(sharded.layers, ranks), *notes])


def constant_bytes(function: Function) -> int:
    """Returns the bytes of the constants of a function."""
    return sum(op.value.size_bytes for op in function.walk() if isinstance(op, core.Constant))


def _listed(layers: Iterable[Layer], ranks: int) -> list[str]:
    lines: list[str] = []
    for layer in layers:
        name = layer.weight or layer.name
        if layer.mode == "whole":
            lines.append(f"{name} {layer.type}: whole, {layer.weight_bytes} bytes; {layer.reason}")
        else:
            lines.append(f"{name} {layer.type}: by {layer.mode}, {layer.weight_bytes // ranks} bytes on each rank")
    more = len(lines) - _MAX_LISTED
    return lines if more <= 0 else [*lines[:_MAX_LISTED], f"and {more} more"]
