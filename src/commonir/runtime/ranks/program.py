"""Programs of several ranks: their functions, and the names of what all of them receive and give.

An input of one rank is called `rank0.NAME`; a plain `NAME` stands for the inputs of that name of all ranks. Outputs are
called `rank0.NAME`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from commonir.base.codes import UNKNOWN_INPUT, UNSUPPORTED_EXECUTION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.module import Function, Module
from commonir.ir.operation import Operation
from commonir.ods import path_of
from commonir.passes.select_function import with_called
from commonir.runtime.ports import names_of
from commonir.runtime.state import mutable_globals

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]

T = TypeVar("T")

_LISTED = 8


class Ranks(NamedTuple):
    """The functions that ranks run, in the order of ranks."""

    functions: tuple[Function, ...]

    @property
    def world_size(self) -> int:
        """How many ranks there are."""
        return len(self.functions)

    def by_rank(self, given: Mapping[str, T], names: Sequence[Sequence[str]], what: str) -> list[dict[str, T]]:
        """Returns what is given to each rank, of things that each calls by some names; `what` they are is told in
        errors.

        Raises: DiagnosticError (E0702) for names of none.
        """
        diagnostics = Diagnostics()
        out: list[dict[str, T]] = [{} for _ in self.functions]
        exact = {full_name(rank, name): (rank, name) for rank, own in enumerate(names) for name in own}
        for name, value in given.items():
            holders = [rank for rank, own in enumerate(names) if name in own]
            if name not in exact and not holders:
                known = [*exact, *{n for own in names for n in own}]
                help = did_you_mean(name, known) or f"the {what}s are {', '.join(exact) or 'none'}"
                diagnostics.add(UNKNOWN_INPUT, f"no rank has the {what} '{name}'", help=help)
            elif name not in exact:
                for rank in holders:
                    out[rank].setdefault(name, value)
        for name, (rank, own) in exact.items():
            if name in given:
                out[rank][own] = given[name]
        diagnostics.raise_errors()
        return out

    def inputs_by_rank(self, given: Mapping[str, Array]) -> list[dict[str, Array]]:
        """Returns the inputs of each rank. Raises: DiagnosticError (E0702)."""
        return self.by_rank(given, [names_of(f) for f in self.functions], "input")


def full_name(rank: int, name: str) -> str:
    """Returns the name by which a program calls what a rank calls otherwise."""
    return f"rank{rank}.{name}"


def joined_names(found: Sequence[Mapping[str, T]]) -> dict[str, T]:
    """Returns what ranks give, by the names that the program has for it."""
    return {full_name(rank, name): value for rank, own in enumerate(found) for name, value in own.items()}


def ranks_of(module: Module, function: str | None = None) -> Ranks | None:
    """Returns the ranks of a program that has several; None of any other, and when a function is named that is of no
    rank.

    Raises: DiagnosticError (E0709) when not all are there, or one of them is named.
    """
    functions = core.ranks_of(module)
    sizes = {f: reported[1] for f in functions if (reported := core.rank_of(f)) is not None}
    if not sizes or set(sizes.values()) == {1}:
        return None
    if function is not None:
        if module.function(function) not in sizes:
            return None
        message = f"'{function}' is what one of {max(sizes.values())} ranks runs, and these run together"
        help = "leave out the function"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_EXECUTION, message, help=help))
    found = list(_faults(module, sizes))
    if found:
        raise DiagnosticError(*found)
    return Ranks(functions)


def _faults(module: Module, sizes: Mapping[Function, int]) -> Iterator[Diagnostic]:
    """Yields what keeps a program from being run by all of its ranks."""
    world_size = max(sizes.values())
    for f, size in sizes.items():
        if size != world_size:
            message = f"'{f.symbol_name}' is of a program of {size} ranks, others are of one of {world_size}"
            yield Diagnostic(UNSUPPORTED_EXECUTION, message, where=path_of(f))
    declared = [(reported[0], f) for f in module.functions.values() if (reported := core.rank_of(f)) is not None]
    have = {rank for rank, _ in declared}
    # A file may state any number of ranks.
    first = [str(rank) for rank in islice((rank for rank in range(world_size) if rank not in have), _LISTED)]
    count = world_size - len([rank for rank in have if 0 <= rank < world_size])
    if first:
        more = f" and {count - len(first)} more" if count > len(first) else ""
        message = f"the program has {world_size} ranks, and {'rank' if count == 1 else 'ranks'} "
        message += f"{', '.join(first)}{more} {'is' if count == 1 else 'are'} not there"
        help = "open the files of all ranks: they lie in one folder, or are named one by one"
        yield Diagnostic(UNSUPPORTED_EXECUTION, message, help=help)
    if len(have) < len(declared) or any(not 0 <= rank < world_size for rank in have):
        message = f"ranks must be told apart and below {world_size}, found {', '.join(str(r) for r, _ in declared)}"
        yield Diagnostic(UNSUPPORTED_EXECUTION, message)
    for _, f in declared:
        for op in f.walk():
            yield from _peer_faults(op, world_size)


def _peer_faults(op: Operation, world_size: int) -> Iterator[Diagnostic]:
    peer = op.destination if isinstance(op, core.Send) else op.source if isinstance(op, core.Recv) else 0
    if not 0 <= peer < world_size:
        message = f"{op.name}: there is no rank {peer}: the program has {world_size}"
        yield Diagnostic(UNSUPPORTED_EXECUTION, message, where=path_of(op))


def states_of(module: Module, function: Function) -> tuple[str, ...]:
    """Returns the names of the states that a rank keeps: each rank has its own."""
    known = mutable_globals(module)
    uses = [op for f in with_called(function) for op in f.walk() if isinstance(op, ml_program.GlobalUse)]
    return tuple(dict.fromkeys([op.global_name for op in uses if op.global_name in known]))
