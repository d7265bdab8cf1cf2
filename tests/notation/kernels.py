"""Kernels that several tests use, written as a definition would write them."""

from __future__ import annotations

from collections.abc import Sequence

from commonir.ir.types import ElementType, f32
from commonir.notation import (
    Expr,
    Kernel,
    Tensor,
    broadcast,
    broadcast_shape,
    call,
    fold,
    index,
    indices,
    join,
    linear,
    require,
    total,
)
from commonir.symbolic import Dim, ceil_div, element_count, floor_div, largest, smallest

Shape = Sequence[Dim]


def tensor(name: str, shape: Shape, dtype: ElementType = f32) -> Tensor:
    return Tensor(name, tuple(shape), dtype)


def add(a: Shape, b: Shape) -> Kernel:
    shape, constraints = broadcast_shape(a, b)
    at = indices("i", len(shape))
    body = broadcast(tensor("a", a), at) + broadcast(tensor("b", b), at)
    return body.by(*at).where(dict(zip(at, shape, strict=True)), constraints)


def matmul(a: Shape, b: Shape) -> Kernel:
    shape, constraints = broadcast_shape(a[:-2], b[:-2])
    c = indices("c", len(shape))
    m, n, k = index("m"), index("n"), index("k")
    lead_a = broadcast(tensor("a", a[:-2]), c).at
    lead_b = broadcast(tensor("b", b[:-2]), c).at
    body = total(k, tensor("a", a)[(*lead_a, m, k)] * tensor("b", b)[(*lead_b, k, n)])
    return body.by(*c, m, n).where(dict(zip(c, shape, strict=True)), constraints)


def conv(
    x: Shape,
    weight: Shape,
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[tuple[int, int]],
    groups: int = 1,
) -> Kernel:
    filters, channels = weight[:2]
    whole = require(x[1], "==", channels * groups, "channels of x", label="C1")
    whole += require(filters % groups, "==", 0, "filters per group", label="C2")
    n, f, c = index("n"), index("f"), index("c")
    rank = len(strides)
    o, k = indices("o", rank), indices("k", rank)
    padded = tensor("x", x).padded((0, 0, *(p for p, _ in pads)), (0, 0, *(p for _, p in pads)))
    at = [s * i + d * j for s, d, i, j in zip(strides, dilations, o, k, strict=True)]
    group = 0 if groups == 1 else f // floor_div(filters, groups)
    body = total((c, *k), padded[(n, group * channels + c, *at)] * tensor("w", weight)[(f, c, *k)])
    return body.by(n, f, *o).where({}, whole)


def conv_transpose(x: Shape, weight: Shape, strides: Sequence[int], pads: Sequence[tuple[int, int]]) -> Kernel:
    n, f, c = index("n"), index("f"), index("c")
    rank = len(strides)
    o, k = indices("o", rank), indices("k", rank)
    reach = [m - 1 for m in weight[2:]]
    before = tuple(e - p for e, (p, _) in zip(reach, pads, strict=True))
    after = tuple(e - q for e, (_, q) in zip(reach, pads, strict=True))
    wide = tensor("x", x).dilated((1, 1, *strides)).padded((0, 0, *before), (0, 0, *after))
    at = [i + e - j for i, e, j in zip(o, reach, k, strict=True)]
    return total((c, *k), wide[(n, c, *at)] * tensor("w", weight)[(c, f, *k)]).by(n, f, *o)


def max_pool(x: Shape, window: Sequence[int], strides: Sequence[int]) -> Kernel:
    rank = len(window)
    lead, o, k = indices("b", len(x) - rank), indices("o", rank), indices("k", rank)
    at = [s * i + j for s, i, j in zip(strides, o, k, strict=True)]
    extents = dict(zip(k, window, strict=True))
    return fold("maximum", k, tensor("x", x)[(*lead, *at)]).by(*lead, *o).where(extents)


def concat(shapes: Sequence[Shape], axis: int) -> Kernel:
    at = indices("i", len(shapes[0]))
    return join(at[axis], [tensor(f"x{n}", s)[at] for n, s in enumerate(shapes)]).by(*at)


def slice_axis(x: Shape, start: int, stop: int, step: int) -> Kernel:
    """Python's slice of the only axis."""
    i, n = index("i"), x[0]
    low, high = (0, n) if step > 0 else (-1, n - 1)

    def clamped(v: int) -> Dim:
        return smallest(largest(v + n if v < 0 else v, low), high)

    first, last = clamped(start), clamped(stop)
    count = ceil_div(last - first, step) if step > 0 else ceil_div(first - last, -step)
    return tensor("x", x)[first + step * i].by(i).where({i: largest(count, 0)})


def reshape(x: Shape, shape: Shape) -> Kernel:
    at = indices("i", len(shape))
    whole = require(element_count(shape), "==", element_count(x), "number of elements")
    return tensor("x", x).flat[linear(at, shape)].by(*at).where(dict(zip(at, shape, strict=True)), whole)


def softmax(x: Shape) -> Kernel:
    """Along the last axis, as one kernel."""
    s, j, k = indices("s", len(x)), index("j"), index("k")
    t = tensor("x", x)

    def e(i: Dim) -> Expr:
        return call("exp", t[(*s[:-1], i)] - fold("maximum", k, t[(*s[:-1], k)]))

    return (e(s[-1]) / total(j, e(j))).by(*s)
