"""Sums of products over an iteration space as contractions and convolutions of the core.

Only the meaning counts, not the name: a `linalg.generic` that multiplies and adds becomes what `linalg.matmul` does.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence

from commonir.base.tuples import NamedTuple
from commonir.dialects.lazy_core import core, lifting
from commonir.dialects.mlir.linalg.access import along, dims_in, linear_form, ordered, plain_dim, read
from commonir.dialects.mlir.linalg.structured import Structured
from commonir.ir.operation import Block, Operation, Value
from commonir.symbolic import Dim, element_count, floor_div

_LETTERS = string.ascii_letters


class Factor(NamedTuple):
    """A factor of a summand: its value in the scalar program, the arguments it depends on, and the dimensions."""

    value: Value
    arguments: tuple[Value, ...]
    dims: tuple[int, ...]
    has_indices: bool


def contraction(op: Structured, summand: Value, remaining: Sequence[int], sizes: Mapping[int, Dim]) -> Value | None:
    """The sum of a product over the dimensions that are not kept, with axes for those that are.

    None when it is not one of several factors, or a dimension that is summed over is in none of them.
    Raises: NotLiftable.
    """
    factors = [_factor(op, v) for v in _factors(op.body, summand)]
    mentioned = {d for f in factors for d in f.dims}
    if len(factors) < 2 or len(sizes) > len(_LETTERS) or any(d not in mentioned for d in sizes if d not in remaining):
        return None
    result = _convolution(op, factors, remaining, sizes) if len(factors) == 2 else None
    if result is not None:
        return result
    values = tuple([_lifted(op, f, sizes) for f in factors])
    held = [d for d in remaining if d in mentioned]
    terms = ",".join(["".join([_LETTERS[d] for d in f.dims]) for f in factors])
    summed = core.einsum(values, f"{terms}->{''.join([_LETTERS[d] for d in held])}")
    return ordered(summed, held, remaining)


def _factors(body: Block, summand: Value) -> list[Value]:
    """Returns the factors of a product."""
    out: list[Value] = []
    pending = [summand]
    while pending:
        v = pending.pop()
        owner = v.owner
        if isinstance(owner, core.Mul) and owner.parent is body:
            pending += (owner.b, owner.a)
        else:
            out.append(v)
    return out


def _factor(op: Structured, value: Value) -> Factor:
    """Returns the dependencies of a value of the scalar program."""
    seen: dict[Value, None] = {}
    pending = [value]
    while pending:
        v = pending.pop()
        if v not in seen:
            seen[v] = None
            owner = v.owner
            if isinstance(owner, Operation) and owner.parent is op.body:
                pending += owner.values_used
    maps = dict(zip(op.body.arguments, op.maps, strict=True))
    arguments = tuple([a for a in op.body.arguments if a in seen])
    used = {d for a in arguments for e in maps[a].results for d in dims_in(e)}
    indices = {v.dim for v in seen if isinstance(v, lifting.LoopIndex)}
    return Factor(value, arguments, tuple(sorted(used | indices)), bool(indices))


def _only(lifter: lifting.Lifting, body: Block, expected: Value, arguments: Mapping[Value, Value]) -> Value:
    """One value of the scalar program, lifted with what it depends on and nothing else."""
    needed: set[Operation] = set()
    pending = [expected]
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, Operation) and owner.parent is body and owner not in needed:
            needed.add(owner)
            pending += owner.values_used
    lifter.run([o for o in body.operations if o in needed], arguments)
    return lifter.value(expected)


def _lifted(op: Structured, factor: Factor, sizes: Mapping[int, Dim]) -> Value:
    """A factor with an axis for each of its dimensions."""
    dims = factor.dims
    operands = dict(zip(op.body.arguments, zip(op.operands, op.maps, strict=True), strict=True))
    arguments = {a: read(*operands[a], dims, sizes) for a in factor.arguments}
    shape = tuple([sizes[d] for d in dims])
    lifter = lifting.Lifting(shape, lambda d: along(sizes[d], dims.index(d), len(dims)))
    return core.broadcast_to(_only(lifter, op.body, factor.value, arguments), shape)


# -- convolutions


class _Window(NamedTuple):
    """An axis of an image: the dimensions of the result and of the filter that walk along it, and their steps."""

    axis: int
    outer: int
    inner: int
    stride: int
    dilation: int


class _Roles(NamedTuple):
    """The roles of the dimensions of a convolution (batch, group, filter, channel) and its windows."""

    images: list[int]
    groups: list[int]
    filters: list[int]
    channels: list[int]
    windows: list[_Window]


def _convolution(
    op: Structured, factors: Sequence[Factor], remaining: Sequence[int], sizes: Mapping[int, Dim]
) -> Value | None:
    """The sum of products of two factors of which one is read through windows that the other one weighs."""
    for image, weight in (factors, factors[::-1]):
        if len(image.arguments) == 1 and not image.has_indices:
            roles = _roles(op, image, weight, remaining, sizes)
            if roles is not None:
                return _convolved(op, image, weight, roles, remaining, sizes)
    return None


def _roles(
    op: Structured, image: Factor, weight: Factor, remaining: Sequence[int], sizes: Mapping[int, Dim]
) -> _Roles | None:
    number = op.body.arguments.index(image.arguments[0])
    results, shape = op.maps[number].results, core.tensor_type(op.operands[number]).shape or ()
    windows: list[_Window] = []
    plain: list[int] = []
    for axis, e in enumerate(results):
        d = plain_dim(e)
        if d is not None:
            plain.append(d)
            continue
        form = linear_form(e)
        outer = [d for d in form.factors if d in remaining] if form is not None else []
        inner = [d for d in form.factors if d not in remaining] if form is not None else []
        if form is None or form.constant or len(outer) != 1 or len(inner) != 1:
            return None
        window = _Window(axis, outer[0], inner[0], form.factors[outer[0]], form.factors[inner[0]])
        size = shape[axis]
        if min(window.stride, window.dilation) < 1 or size is None:
            return None
        reach = (sizes[window.inner] - 1) * window.dilation + 1
        if floor_div(size - reach, window.stride) + 1 != sizes[window.outer]:
            return None
        windows.append(window)
    walking = [d for w in windows for d in (w.outer, w.inner)]
    if not windows or len({*plain, *walking}) != len(plain) + len(walking):
        return None
    if any(w.outer in weight.dims or w.inner not in weight.dims for w in windows):
        return None
    groups = [d for d in plain if d in weight.dims and d in remaining]
    images = [d for d in plain if d not in weight.dims]
    channels = [d for d in plain if d in weight.dims and d not in remaining]
    filters = [d for d in weight.dims if d in remaining and d not in groups]
    rest = [d for d in weight.dims if d not in (*groups, *channels, *filters, *walking)]
    if rest or any(d not in remaining for d in images):
        return None
    return _Roles(images, groups, filters, channels, windows)


def _convolved(
    op: Structured, image: Factor, weight: Factor, roles: _Roles, remaining: Sequence[int], sizes: Mapping[int, Dim]
) -> Value:
    argument = image.arguments[0]
    number = op.body.arguments.index(argument)
    operand, results = op.operands[number], op.maps[number].results
    shape = tuple([d for d in core.tensor_type(operand).shape or () if d is not None])
    # Elements are converted where they are, before windows repeat them.
    x = _only(lifting.Lifting(shape, _no_index), op.body, image.value, {argument: operand})
    axis_of = {d: n for n, e in enumerate(results) if (d := plain_dim(e)) is not None}
    windows, leading = roles.windows, [*roles.images, *roles.groups, *roles.channels]
    x = core.transpose(x, (*(axis_of[d] for d in leading), *(w.axis for w in windows)))

    def size(dims: Sequence[int]) -> Dim:
        return element_count([sizes[d] for d in dims])

    x = core.reshape(x, (size(roles.images), size([*roles.groups, *roles.channels]), *(shape[w.axis] for w in windows)))
    order = [*roles.groups, *roles.filters, *roles.channels, *(w.inner for w in windows)]
    w = ordered(_lifted(op, weight, sizes), weight.dims, order)
    count = size(roles.groups)
    w = core.reshape(
        w, (size([*roles.groups, *roles.filters]), size(roles.channels), *(sizes[v.inner] for v in windows))
    )
    if not isinstance(count, int):
        raise lifting.NotLiftable("a number of groups that is not known")
    strides, dilations = tuple([v.stride for v in windows]), tuple([v.dilation for v in windows])
    y = core.conv(x, w, None, strides, dilations, (), count)
    values = [*roles.images, *roles.groups, *roles.filters, *(v.outer for v in windows)]
    return ordered(core.reshape(y, tuple([sizes[d] for d in values])), values, remaining)


def _no_index(dim: int) -> Value:
    raise lifting.NotLiftable(f"position along d{dim}")
