"""Programs of graphs: graphs of kernels, loops and branches one after another.

Tensors have names that are unique in a program. A graph computes its own from its inputs; a loop or a branch only says
which tensor another name stands for at some time. A back end that moves addresses copies nothing for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from commonir.base.tuples import NamedTuple
from commonir.notation import Constraint
from commonir.runtime.kernel_graph.graph import Array, KernelGraph, TensorSpec
from commonir.symbolic import Dim, element_count, symbols


class State(NamedTuple):
    """A tensor that each round passes to the next one.

    `name` is its value in a round, and after the last one; it begins as `initial`, and becomes what a kernel of the
    body, or a loop in it, has stored in `written`.
    """

    name: str
    initial: str
    written: str


class Slice(NamedTuple):
    """A tensor that is one slice of an array in each round, along the first axis of the array."""

    name: str
    array: str
    spec: TensorSpec

    @property
    def step(self) -> Dim:
        """The number of elements of a slice."""
        return element_count(self.spec.shape[1:])


class ChangingSize(NamedTuple):
    """A symbol whose value changes while a program runs: its first one, or the most that it can be.

    Both may have other such symbols.
    """

    symbol: str
    initial: Dim
    most: Dim | None = None


class RoundSize(NamedTuple):
    """A symbol that changes from round to round: its value in the first one, and in the next one after each."""

    symbol: str
    initial: Dim
    following: Dim


class ReadSizes(NamedTuple):
    """Symbols that are elements of tensors in i64, each with the most that it can be, and those computed from them."""

    numbers: tuple[tuple[str, str, Dim], ...]
    computed: tuple[tuple[str, Dim], ...]


class Requirement(NamedTuple):
    """A tensor of one element that must be true: else the program does not fit the run."""

    condition: str


class Loop(NamedTuple):
    """Rounds of a body: one for each of `length` slices, or as long as `condition` holds after `test` has run.

    Slices are `read` and `written`; the last ones are the first if it `is_reversed`. A state whose `written` is such a
    slice becomes that slice. `sizes` are symbols that change, and `results` have a value after the last round.
    """

    body: tuple[Part, ...]
    states: tuple[State, ...]
    read: tuple[Slice, ...] = ()
    written: tuple[Slice, ...] = ()
    length: Dim = 0
    is_reversed: bool = False
    test: tuple[Part, ...] = ()
    condition: str = ""
    sizes: tuple[RoundSize, ...] = ()
    results: tuple[tuple[str, Dim], ...] = ()

    @property
    def stored(self) -> list[State]:
        """The states that have memory of their own: two places, which are written by turns."""
        slices = {s.name for s in self.written}
        return [s for s in self.states if s.written not in slices]


class Choice(NamedTuple):
    """A tensor that is one of two others."""

    name: str
    then: str
    orelse: str


class Branch(NamedTuple):
    """Parts of which one or the other are run, and their results."""

    condition: str
    then: tuple[Part, ...]
    orelse: tuple[Part, ...]
    results: tuple[Choice, ...]


Part = KernelGraph | Loop | Branch | ReadSizes | Requirement


class GraphProgram(NamedTuple):
    """Parts, the tensors that they read from outside, and those that are their results.

    An output may be an input or a constant. `constants` are those that are outputs, or that loops and branches read;
    `specs` are the shapes and element types of all tensors but those of other constants. `constraints` must hold
    whenever one of their symbols has changed.
    """

    parts: tuple[Part, ...]
    inputs: Mapping[str, TensorSpec]
    outputs: Sequence[str]
    constants: Mapping[str, Array]
    specs: Mapping[str, TensorSpec]
    constraints: tuple[Constraint, ...] = ()

    @property
    def only_graph(self) -> KernelGraph | None:
        """The graph that the program consists of; None if there is more."""
        return self.parts[0] if len(self.parts) == 1 and isinstance(self.parts[0], KernelGraph) else None

    def graphs(self) -> Iterator[KernelGraph]:
        """Yields all graphs in order."""
        return (p for p in walk_parts(self.parts) if isinstance(p, KernelGraph))

    @property
    def may_refuse(self) -> bool:
        """Whether data decide if the program fits a run: they may say what sizes are, or what is required."""
        return any(isinstance(p, Requirement) for p in walk_parts(self.parts)) or bool(self.changing())

    def symbols(self) -> set[str]:
        """Returns the symbols of sizes that running the program takes."""
        out = {s for graph in self.graphs() for node in graph.nodes.values() for s in node.symbols()}
        for part in walk_parts(self.parts):
            if isinstance(part, Loop):
                dims = [part.length, *[d for s in (*part.read, *part.written) for d in s.spec.shape]]
                dims += [d for size in part.sizes for d in (size.initial, size.following)]
                out |= {s for d in (*dims, *[d for _, d in part.results]) for s in symbols(d)}
            elif isinstance(part, ReadSizes):
                out |= {s for _, d in part.computed for s in symbols(d)}
        return out | {s for c in self.constraints for s in c.symbols} | set(self.changing())

    def changing(self) -> dict[str, ChangingSize]:
        """Returns the symbols that change while the program runs, in order."""
        return changing_sizes(self.parts)


def program_of(graph: KernelGraph) -> GraphProgram:
    """Returns the program that consists of one graph."""
    specs = {**graph.inputs, **{name: node.spec for name, node in graph.nodes.items()}}
    return GraphProgram((graph,), graph.inputs, graph.outputs, graph.constants, specs)


def changing_sizes(parts: Iterable[Part]) -> dict[str, ChangingSize]:
    """Returns the symbols that change while parts run, in order."""
    out: list[ChangingSize] = []
    for part in walk_parts(parts):
        match part:
            case Loop():
                out += [ChangingSize(size.symbol, size.initial) for size in part.sizes]
                out += [ChangingSize(name, dim) for name, dim in part.results]
            case ReadSizes():
                out += [ChangingSize(name, 0, most) for name, _, most in part.numbers]
                out += [ChangingSize(name, 0, dim) for name, dim in part.computed]
            case _:
                pass
    return {size.symbol: size for size in out}


def walk_parts(parts: Iterable[Part]) -> Iterator[Part]:
    """Yields parts and those inside of them, each before its own."""
    for part in parts:
        yield part
        yield from walk_parts(parts_in(part))


def parts_in(part: Part) -> tuple[Part, ...]:
    """Returns the parts right inside of a loop or a branch."""
    match part:
        case Loop():
            return (*part.test, *part.body)
        case Branch():
            return (*part.then, *part.orelse)
        case _:
            return ()


def names_read(part: Part) -> list[str]:
    """Returns the tensors that a part needs from those around it or in it; those of graphs inside are not listed."""
    match part:
        case Loop():
            names = [*[s.initial for s in part.states], *[s.written for s in part.states], part.condition]
            return [*names, *[s.array for s in part.read], *[s.name for s in part.written]]
        case Branch():
            return [part.condition, *[n for c in part.results for n in (c.then, c.orelse)]]
        case Requirement():
            return [part.condition]
        case ReadSizes():
            return [tensor for _, tensor, _ in part.numbers]
        case _:
            return list(part.inputs)
