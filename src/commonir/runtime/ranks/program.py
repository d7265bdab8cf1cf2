"""Programs of several ranks: their functions, and the names of the inputs and outputs of all ranks.

An input of one rank is called `rank0.NAME`; a plain `NAME` stands for the inputs of that name of all ranks. Outputs are
called `rank0.NAME`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from commonir.base.codes import UNKNOWN_INPUT, UNSUPPORTED_EXECUTION, WRONG_INPUT
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.module import Function, Module
from commonir.ir.operation import Operation
from commonir.ir.types import TensorType, Type
from commonir.ods import Op, path_of, traits
from commonir.passes.select_function import with_called
from commonir.runtime.binding.ports import names_of
from commonir.runtime.state import mutable_globals

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]

T = TypeVar("T")

_MAX_LISTED = 8


class Ranks(NamedTuple):
    """The functions of ranks, in the order of ranks."""

    functions: tuple[Function, ...]

    @property
    def world_size(self) -> int:
        """The number of ranks."""
        return len(self.functions)

    def by_rank(self, values: Mapping[str, T], names: Sequence[Sequence[str]], description: str) -> list[dict[str, T]]:
        """Returns values by rank and own name, from values by full or own name; `names` are those of each rank.

        `description` names them in errors. Raises: DiagnosticError (E0702) for unknown names.
        """
        diagnostics = Diagnostics()
        out: list[dict[str, T]] = [{} for _ in self.functions]
        exact = {full_name(rank, name): (rank, name) for rank, rank_names in enumerate(names) for name in rank_names}
        for name, value in values.items():
            holders = [rank for rank, rank_names in enumerate(names) if name in rank_names]
            if name not in exact and not holders:
                known = [*exact, *{n for rank_names in names for n in rank_names}]
                help = did_you_mean(name, known) or f"the {description}s are {', '.join(exact) or 'none'}"
                diagnostics.add(UNKNOWN_INPUT, f"no rank has the {description} '{name}'", help=help)
            elif name not in exact:
                for rank in holders:
                    out[rank].setdefault(name, value)
        for name, (rank, own_name) in exact.items():
            if name in values:
                out[rank][own_name] = values[name]
        diagnostics.raise_errors()
        return out

    def inputs_by_rank(self, inputs: Mapping[str, Array]) -> list[dict[str, Array]]:
        """Returns the inputs of each rank.

        Where ranks exchange nothing, an array under a plain name that is as large as the parts of all ranks along one
        axis is divided among them. Ranks that exchange something may need all of it each.

        Raises: DiagnosticError (E0702, E0703 for an array that is neither what a rank takes nor what all take).
        """
        out = self.by_rank(inputs, [names_of(f) for f in self.functions], "input")
        types = [{v.name: v.type for v in f.inputs} for f in self.functions]
        diagnostics = Diagnostics()
        for name, array in inputs.items():
            shapes = [shape_of(by_name.get(name)) for by_name in types]
            if any(shape is None or _fits(array, shape) for shape in shapes):
                continue
            parts = [part_of(array, shape, rank, self.world_size) for rank, shape in enumerate(shapes)]
            is_divided = not self._exchanges and all(map(_fits, parts, shapes))
            if not is_divided:
                diagnostics.extend([self._misfit(name, array, shapes[0])])
                continue
            for rank, part in enumerate(parts):
                if out[rank][name] is array:
                    out[rank][name] = part
        diagnostics.raise_errors()
        return out

    @property
    def _exchanges(self) -> bool:
        """Whether a rank sends, receives or waits for others."""
        return any(communicates(op) for f in self.functions for op in f.walk())

    def _misfit(self, name: str, array: Array, shape: Sequence[object] | None) -> Diagnostic:
        takes = f"each of {self.world_size} ranks takes {list(shape or ())}"
        message = f"the input '{name}' has the shape {list(array.shape)}, and {takes}"
        all_parts = "" if self._exchanges else "the parts of all ranks joined along one axis, "
        own = f"each rank its own: `{full_name(0, name)}=...`"
        help = f"give all ranks an array of {list(shape or ())}, {all_parts}or {own}"
        return Diagnostic(WRONG_INPUT, message, help=help)


def _fits(array: Array, shape: Sequence[object] | None) -> bool:
    """Returns whether an array has the known dims of a shape. One of another number of axes is checked elsewhere."""
    dims = getattr(array, "shape", ())
    if shape is None or len(shape) != len(dims):
        return True
    return all(not isinstance(d, int) or d == n for d, n in zip(shape, dims, strict=True))


def shape_of(type: Type | None) -> Sequence[object] | None:
    """Returns the dims of a tensor; None for another type, or an unknown rank."""
    return type.shape if isinstance(type, TensorType) else None


def part_of(array: Array, shape: Sequence[object] | None, rank: int, ranks: int) -> Array:
    """Returns the shard of an array that a rank has, if `ranks` shards of a shape make up the array along one axis;
    else the array.
    """
    if shape is None or len(shape) != getattr(array, "ndim", None):
        return array
    dims = [(n, dim) for n, dim in enumerate(shape) if isinstance(dim, int) and dim != array.shape[n]]
    if len(dims) != 1 or dims[0][1] * ranks != array.shape[dims[0][0]]:
        return array
    axis, dim = dims[0]
    return array[(slice(None),) * axis + (slice(rank * dim, (rank + 1) * dim),)]


def communicates(op: Operation) -> bool:
    """Returns whether an operation communicates with other ranks."""
    return isinstance(op, Op) and op.has_trait(traits.Communicates)


def full_name(rank: int, name: str) -> str:
    """Returns the full name of an input, output or state of a rank: `rank0.NAME`."""
    return f"rank{rank}.{name}"


def joined_names(by_rank: Sequence[Mapping[str, T]]) -> dict[str, T]:
    """Returns values of all ranks by full name."""
    return {
        full_name(rank, name): value for rank, rank_values in enumerate(by_rank) for name, value in rank_values.items()
    }


def ranks_of(module: Module, function: str | None = None) -> Ranks | None:
    """Returns the ranks of a program; None if it has a single one, or `function` is not that of a rank.

    Raises: DiagnosticError (E0709) when ranks are missing, or `function` is that of a rank.
    """
    functions = core.ranks_of(module)
    world_sizes = {f: declaration[1] for f in functions if (declaration := core.rank_of(f)) is not None}
    if not world_sizes or set(world_sizes.values()) == {1}:
        return None
    if function is not None:
        if module.function(function) not in world_sizes:
            return None
        message = f"'{function}' is the function of one of {max(world_sizes.values())} ranks, which only run together"
        help = "leave out the function"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_EXECUTION, message, help=help))
    diagnostics = list(_faults(module, world_sizes))
    if diagnostics:
        raise DiagnosticError(*diagnostics)
    return Ranks(functions)


def _faults(module: Module, world_sizes: Mapping[Function, int]) -> Iterator[Diagnostic]:
    """Yields a diagnostic for each reason why the ranks of a program cannot run together."""
    world_size = max(world_sizes.values())
    for f, declared_size in world_sizes.items():
        if declared_size != world_size:
            message = f"'{f.symbol_name}' belongs to a program of {declared_size} ranks, others to one of {world_size}"
            yield Diagnostic(UNSUPPORTED_EXECUTION, message, where=path_of(f))
    declared = [(declaration[0], f) for f in module.functions.values() if (declaration := core.rank_of(f)) is not None]
    present = {rank for rank, _ in declared}
    # A file may declare any number of ranks.
    first = [str(rank) for rank in islice((rank for rank in range(world_size) if rank not in present), _MAX_LISTED)]
    count = world_size - len([rank for rank in present if 0 <= rank < world_size])
    if first:
        more = f" and {count - len(first)} more" if count > len(first) else ""
        message = f"the program has {world_size} ranks, but {'rank' if count == 1 else 'ranks'} "
        message += f"{', '.join(first)}{more} {'is' if count == 1 else 'are'} missing"
        help = "open the files of all ranks: put them in one folder, or name each"
        yield Diagnostic(UNSUPPORTED_EXECUTION, message, help=help)
    if len(present) < len(declared) or any(not 0 <= rank < world_size for rank in present):
        message = f"ranks must be distinct and below {world_size}, found {', '.join(str(r) for r, _ in declared)}"
        yield Diagnostic(UNSUPPORTED_EXECUTION, message)
    for _, f in declared:
        for op in f.walk():
            yield from _other_rank_faults(op, world_size)


def _other_rank_faults(op: Operation, world_size: int) -> Iterator[Diagnostic]:
    other = op.destination if isinstance(op, core.Send) else op.source if isinstance(op, core.Recv) else 0
    if not 0 <= other < world_size:
        message = f"{op.name}: there is no rank {other}: the program has {world_size}"
        yield Diagnostic(UNSUPPORTED_EXECUTION, message, where=path_of(op))


def states_of(module: Module, function: Function) -> tuple[str, ...]:
    """Returns the names of the states of a rank."""
    known = mutable_globals(module)
    uses = [op for f in with_called(function) for op in f.walk() if isinstance(op, ml_program.GlobalUse)]
    return tuple(dict.fromkeys([op.global_name for op in uses if op.global_name in known]))
