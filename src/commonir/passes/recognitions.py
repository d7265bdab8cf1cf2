"""Recognitions: operations of the core that may replace several others.

A form proposes operations for a subgraph that has the primitives of their references, and says nothing of how the
subgraph computes them: on sample values both must compute the same (`sample_runs`). The order of products, powers in
place of roots or casts around an expression make no difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from commonir.base.codes import WRONG_USAGE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.ir.data import Data
from commonir.ir.operation import Block, Value
from commonir.ir.types import TensorType, Type, f32
from commonir.ods import Op, operations_behind
from commonir.passes.attention_parts import attention_ending_at, propose_attention
from commonir.passes.group_parts import group_norm_ending_at, propose_group_norm
from commonir.passes.parameters import MOST_ELEMENTS, covers, epsilons_among, of_shape
from commonir.passes.proposals import Proposal, Samples
from commonir.passes.rotary_parts import propose_rotary_embedding, rotary_embedding_ending_at
from commonir.passes.sample_runs import ROW_FACTORS, random_numbers, random_rows, spread_numbers
from commonir.passes.subgraphs import BOUNDS, ORDERS, Axes, Primitives, Subgraph, SubgraphFinder
from commonir.symbolic import Dim

Propose = Callable[[Subgraph], Iterator[Proposal]]
Find = Callable[[Op, SubgraphFinder], Iterator[tuple[Subgraph, Propose]]]


class Form(NamedTuple):
    """A form that a recognition looks for: `build` makes it of a tensor, and `keys` are the primitives that all ways of
    computing it have. `find` yields the subgraphs that end with an operation, for forms that are not of elements and
    of axes that are reduced. With `may_bound`, ways of computing a form of sums may bound values from below.
    """

    build: Callable[[Value], Value]
    keys: frozenset[type[Op]]
    propose: Propose
    find: Find | None = None
    may_bound: bool = False

    def may_be_in(self, primitives: Primitives) -> bool:
        """Returns whether it may be a part of operations with these primitives, which it is found by."""
        if self.find is not None:
            return False
        if self.keys & _SUMS:
            return bool(primitives.axes)
        return self.keys - BOUNDS <= primitives.classes and bool(self.keys & primitives.classes)

    def may_be(self, primitives: Primitives) -> bool:
        """Returns whether operations with these primitives may compute it."""
        own = primitives.classes - _FREE
        if self.find is not None:
            return False
        if self.keys & _SUMS:
            # Rows of samples need not reach the numbers that elements are compared with.
            is_compared = not ORDERS.isdisjoint(primitives.classes)
            others = own - BOUNDS if self.may_bound else own
            return bool(primitives.axes) and not is_compared and others <= _SUMS
        decisive = self.keys - BOUNDS
        return not primitives.axes and own - BOUNDS == decisive and (bool(decisive) or own == self.keys)


class Recognition(NamedTuple):
    """The forms that one operation of the core expresses, under the name that users choose it by."""

    name: str
    definition: type[Op]
    forms: tuple[Form, ...]


_ARITHMETIC = (core.Add, core.Sub, core.Mul, core.Div, core.Neg, core.Pow, core.Sqrt, core.Abs, core.Sign, core.Cast)
_CHOICES = (core.Select, core.Equal, core.NotEqual)
_FREE = frozenset[type[Op]]({*_ARITHMETIC, *_CHOICES, *ORDERS, core.Squeeze, core.Unsqueeze})
"""Primitives by which one way of computing something may differ from another one."""
_SUMS = frozenset[type[Op]]({core.ReduceMean, core.ReduceSum})


def _keys(build: Callable[[Value], Value]) -> frozenset[type[Op]]:
    """Returns the primitives of an operation, according to its reference, that all ways of computing it have."""
    (x,) = Block([TensorType(f32, (2, 3, 4, 5))]).arguments
    finder = SubgraphFinder()
    parts = [finder.primitives(op) for op in operations_behind([build(x)]) if isinstance(op, Op)]
    classes: frozenset[type[Op]] = frozenset()
    return classes.union(*[part.classes for part in parts if part is not None]) - _FREE


# -- functions of one element


def _pointwise(name: str, definition: type[Op], *functions: Callable[[Value], Value]) -> Recognition:
    """Returns the recognition of functions of one element."""

    def propose(function: Callable[[Value], Value], subgraph: Subgraph) -> Iterator[Proposal]:
        type = subgraph.x.type
        if not subgraph.others and subgraph.result.type is type and isinstance(type, TensorType):
            yield Proposal((subgraph.x,), function, ((spread_numbers(type),),), is_pointwise=True)

    return Recognition(name, definition, tuple([Form(f, _keys(f), partial(propose, f)) for f in functions]))


# -- normalizations

_SAMPLE_SIZE = 6
_Sizes = tuple[int, ...]


_AXES_OF_IMAGES = (-3, -2, -1)
"""Axes of an L2 normalization that stands for all: formats have it over these."""


class _OverAxes(NamedTuple):
    """The axes of the parameters of a normalization, and the attributes that say which axes it is over."""

    parameters: Axes
    attributes: dict[str, Axes]


def _normalization(
    name: str,
    definition: type[Op],
    build: Callable[..., Value],
    parameters: int,
    over: Callable[[Axes, int], _OverAxes | None],
    *,
    is_of_norm: bool = False,
) -> Recognition:
    """Returns the recognition of a normalization with up to some parameters; `over` returns what follows from the axes
    that a subgraph reduces, and the rank. One `is_of_norm` may divide by the maximum of a norm and a small number.
    """

    def propose(subgraph: Subgraph) -> Iterator[Proposal]:
        x, type = subgraph.x, subgraph.x.type
        if not isinstance(type, TensorType) or len(subgraph.primitives.axes) != 1 or type.shape is None:
            return
        if len(subgraph.others) > parameters or subgraph.result.type is not type:
            return
        (axes,) = subgraph.primitives.axes
        normalized = over(axes, len(type.shape))
        sizes = _sample_sizes(type.shape, axes)
        if not axes or normalized is None or math.prod(sizes) > MOST_ELEMENTS:
            return
        if not all(covers(v.type, type.shape, normalized.parameters) for v in subgraph.others):
            return
        epsilons = epsilons_among(subgraph.numbers)
        if subgraph.bounds != ():
            # Below the root, the square of the least norm does nearly the same: norms next to it are rounded.
            epsilons = tuple([n**2 for n in subgraph.bounds or () if n in epsilons])
        for others in (subgraph.others, subgraph.others[::-1])[: max(1, len(subgraph.others))]:
            samples = tuple(_normalization_samples(type, sizes, axes, [v.type for v in others]))
            for epsilon in epsilons:
                made = partial(build, **normalized.attributes, epsilon=epsilon)
                yield Proposal((x, *others), partial(_normalized, made, normalized.parameters), samples)

    return Recognition(name, definition, (Form(build, _keys(build), propose, may_bound=is_of_norm),))


def _over_any_axes(axes: Axes, _rank: int) -> _OverAxes:
    """Returns that parameters have the sizes of the normalized axes, which are an attribute."""
    return _OverAxes(axes, {"axes": axes})


def _behind_channels(axes: Axes, rank: int) -> _OverAxes | None:
    """Returns that parameters have an element for each channel, if all axes behind that of channels are normalized."""
    return _OverAxes((1,), {}) if axes and axes == tuple(range(2, rank)) else None


def _sample_sizes(shape: Sequence[Dim | None], axes: Sequence[int]) -> _Sizes:
    """Returns sizes for samples: those of normalized axes as they are, if they are known, others small."""
    small = iter((4, 3, *(2,) * len(shape)))
    known = [n if isinstance(n, int) else _SAMPLE_SIZE for n in shape]
    return tuple([n if n == 1 or a in axes else next(small) for a, n in enumerate(known)])


def _normalized(build: Callable[..., Value], axes: Axes, x: Value, *parameters: Value) -> Value:
    """Builds a normalization; its parameters, of the sizes of some axes, may have axes of size 1 too many."""
    shape = x.type.shape if isinstance(x.type, TensorType) else None
    dims = tuple([n for a in axes if (n := (shape or ())[a]) is not None])
    return build(x, *[of_shape(v, dims) for v in parameters])


def _normalization_samples(
    type: TensorType, sizes: _Sizes, axes: Sequence[int], parameters: Sequence[Type]
) -> Iterator[Samples]:
    for seed in range(-(-len(ROW_FACTORS) // math.prod([n for a, n in enumerate(sizes) if a not in axes]))):
        more: list[Data] = []
        for n, p in enumerate(parameters):
            assert isinstance(p, TensorType)
            dims = p.shape or ()
            shape = [1 if m == 1 else k for m, k in zip(dims, sizes[len(sizes) - len(dims) :], strict=True)]
            more.append(random_numbers(p, shape, 100 + 10 * n + seed))
        yield (random_rows(type, sizes, axes, seed), *more)


# -- normalizations of groups


def _propose_nothing(_: Subgraph) -> Iterator[Proposal]:
    yield from ()


def _find_group_norm(root: Op, finder: SubgraphFinder) -> Iterator[tuple[Subgraph, Propose]]:
    for subgraph, parts in group_norm_ending_at(root, finder):
        yield subgraph, partial(propose_group_norm, parts)


_GROUP_NORM = Form(
    core.group_norm, frozenset({core.ReduceMean, core.Mul, core.Add}), _propose_nothing, _find_group_norm
)

# -- attention


def _find_attention(root: Op, finder: SubgraphFinder) -> Iterator[tuple[Subgraph, Propose]]:
    for subgraph, parts in attention_ending_at(root, finder):
        yield subgraph, partial(propose_attention, parts)


def _self_attention(x: Value) -> Value:
    return core.attention(x, x, x)


_ATTENTION = Form(_self_attention, frozenset({core.Exp}), _propose_nothing, _find_attention)

# -- rotary embedding


def _find_rotary_embedding(root: Op, finder: SubgraphFinder) -> Iterator[tuple[Subgraph, Propose]]:
    for subgraph, parts in rotary_embedding_ending_at(root, finder):
        yield subgraph, partial(propose_rotary_embedding, parts)


def _self_rotation(x: Value) -> Value:
    assert isinstance(x.type, TensorType)
    batches, _, positions, size = x.type.static_shape
    angles = core.constant(random_numbers(x.type, (batches, positions, size // 2), 0))
    return core.rotary_embedding(x, angles, angles)


_ROTARY_EMBEDDING = Form(_self_rotation, frozenset({core.Mul}), _propose_nothing, _find_rotary_embedding)

RECOGNITIONS: tuple[Recognition, ...] = (
    _pointwise("gelu", core.Gelu, *[partial(core.gelu, approximation=form) for form in core.GeluForm]),
    _pointwise("silu", core.Silu, core.silu),
    _pointwise("hard_swish", core.HardSwish, core.hard_swish),
    _pointwise("mish", core.Mish, core.mish),
    _normalization("layer_norm", core.LayerNorm, core.layer_norm, 2, _over_any_axes),
    _normalization("rms_norm", core.RmsNorm, core.rms_norm, 1, _over_any_axes),
    _normalization("instance_norm", core.InstanceNorm, core.instance_norm, 2, _behind_channels),
    Recognition("group_norm", core.GroupNorm, (_GROUP_NORM,)),
    _normalization(
        "l2_norm", core.L2Norm, partial(core.l2_norm, axes=_AXES_OF_IMAGES), 0, _over_any_axes, is_of_norm=True
    ),
    Recognition("rotary_embedding", core.RotaryEmbedding, (_ROTARY_EMBEDDING,)),
    Recognition("attention", core.Attention, (_ATTENTION,)),
)
"""All recognitions; where several apply, the first one does."""


def chosen_recognitions(names: str) -> tuple[Recognition, ...]:
    """Returns the recognitions that names select, separated by commas: all without names, all but those with `-`.

    Raises: DiagnosticError (E0901) for an unknown name.
    """
    known = [r.name for r in RECOGNITIONS]
    wanted: set[str] = set()
    left_out: set[str] = set()
    for text in filter(None, [part.strip() for part in names.split(",")]):
        name = text.removeprefix("-")
        if name == ALL and not text.startswith("-"):
            wanted.update(known)
            continue
        if name not in known:
            help = did_you_mean(name, known) or f"recognitions: {', '.join(known)}"
            raise DiagnosticError(Diagnostic(WRONG_USAGE, f"no recognition is called '{name}'", help=help))
        (left_out if text.startswith("-") else wanted).add(name)
    return tuple([r for r in RECOGNITIONS if (r.name in wanted or not wanted) and r.name not in left_out])


ALL = "all"
"""The name that stands for all recognitions."""


def summary_of(recognition: Recognition) -> str:
    """Returns a sentence about the meaning of the operation that a recognition makes."""
    return " ".join((recognition.definition.__doc__ or "").split("\n\n")[0].split())
