"""Fused kernels compute what their parts compute one after another."""

from __future__ import annotations

import numpy as np
import pytest

from commonir.ir.types import f16, f32, i64
from commonir.notation import (
    Access,
    Kernel,
    NotationError,
    Tensor,
    call,
    fold,
    formula,
    fuse,
    index,
    is_fusible,
    join,
    lift,
    ranges,
    shape_of,
    total,
    walk,
)
from commonir.symbolic import symbol

from tests.notation import kernels
from tests.notation.kernels import tensor
from tests.notation.oracle import Array, run

N, M = symbol("N"), symbol("M")
i, j, k = index("i"), index("j"), index("k")


def reads(kernel: Kernel) -> set[str]:
    return {e.tensor.name for e in walk(kernel.body) if isinstance(e, Access)}


def data(*shape: int) -> Array:
    return (np.arange(np.prod(shape), dtype=np.float64) % 5 - 2).reshape(shape)


def test_a_chain_of_parts_is_one_softmax() -> None:
    shape = (2, 3)
    x, peak, e, norm = tensor("x", shape), tensor("peak", (2, 1)), tensor("e", shape), tensor("norm", (2, 1))
    producers = {
        "peak": fold("maximum", k, x[i, k]).by(i, 1),
        "e": call("exp", x[i, j] - peak[i, 0]).by(i, j),
        "norm": total(k, e[i, k]).by(i, 1),
    }
    fused = fuse((e[i, j] / norm[i, 0]).by(i, j), producers)
    assert reads(fused) == {"x"}
    assert ranges(fused)[1] == ()
    weights = np.exp(data(2, 3))
    np.testing.assert_allclose(run(fused, {"x": data(2, 3)}), weights / weights.sum(1, keepdims=True), rtol=1e-12)


def test_fusing_with_symbols_keeps_shape_and_constraints() -> None:
    product = kernels.matmul((N, 4), (M, 5))
    y = tensor("y", (N, 5))
    fused = fuse(call("exp", y[i, j]).by(i, j), {"y": product})
    extents, constraints = ranges(fused)
    assert shape_of(fused, extents) == (N, 5)
    assert [str(c) for c in constraints] == ["4 == M (index k over axis 0 of b)"]
    assert formula(fused) == "y[i, j] = exp(Σ_{y_k} a[i, y_k]·b[y_k, j])"


def test_indices_of_producers_do_not_capture() -> None:
    x, s = tensor("x", (3, 3)), tensor("s", (3,))
    fused = fuse(total(k, x[i, k] * s[k]).by(i), {"s": total(k, x[i, k]).by(i)})
    a = data(3, 3)
    np.testing.assert_array_equal(run(fused, {"x": a}), a @ a.sum(1))


def test_a_reshape_between_parts_disappears() -> None:
    built = tensor("y", (6, 2))
    fused = fuse((built[i, j] * 2).by(i, j), {"y": kernels.reshape((3, 4), (6, 2))})
    assert reads(fused) == {"x"}
    np.testing.assert_array_equal(run(fused, {"x": data(3, 4)}), data(3, 4).reshape(6, 2) * 2)


def test_a_flat_view_of_a_producer_is_resolved() -> None:
    y = tensor("y", (3, 4))
    fused = fuse(y.flat[i].by(i), {"y": (tensor("x", (3, 4))[i, j] + 1).by(i, j)})
    np.testing.assert_array_equal(run(fused, {"x": data(3, 4)}), data(3, 4).reshape(-1) + 1)


def test_border_padding_of_a_producer_is_resolved() -> None:
    y = tensor("y", (4,))
    consumer = y.padded((2,), (1,), "reflect")[i].by(i)
    fused = fuse(consumer, {"y": (tensor("x", (4,))[i] * 3).by(i)})
    np.testing.assert_array_equal(run(fused, {"x": data(4)}), np.pad(data(4) * 3, (2, 1), "reflect"))


def test_a_join_is_fused_into_both_sides() -> None:
    a, b, c = tensor("a", (2,)), tensor("b", (3,)), tensor("c", (5,))
    producers = {"b": (tensor("x", (3,))[i] + 10).by(i), "c": join(j, [a[j], b[j]]).by(j)}
    fused = fuse((c[i] * 2).by(i), producers)
    assert reads(fused) == {"a", "x"}
    np.testing.assert_array_equal(run(fused, {"a": data(2), "x": data(3)}), np.concatenate([data(2), data(3) + 10]) * 2)


def test_a_fill_producer_has_its_range_stated() -> None:
    z, x = tensor("z", (4,)), tensor("x", (4,))
    fused = fuse((x[i] + z[i]).by(i), {"z": lift(1.5, f32).by(i).where({i: 4})})
    np.testing.assert_array_equal(run(fused, {"x": data(4)}), data(4) + 1.5)


@pytest.mark.parametrize(
    "body",
    [
        tensor("y", (4,)).padded((1,), (1,))[i],
        tensor("y", (4,))[Tensor("at", (3,), i64)[i]],
        tensor("y", (4,)).dilated((2,))[i],
    ],
)
def test_reads_through_fill_values_or_data_are_not_fused(body: Access) -> None:
    producer = call("exp", tensor("x", (4,))[i]).by(i)
    assert not is_fusible(body, producer)
    with pytest.raises(NotationError, match="y is read through a fill value or from data: not fused"):
        fuse(body.by(i), {"y": producer})


def test_a_join_is_not_fused_at_a_computed_position() -> None:
    producer = kernels.concat(((2,), (3,)), 0)
    assert not is_fusible(tensor("y", (5,))[4 - i], producer)
    assert is_fusible(tensor("y", (5,))[i], producer)


def test_cycles_and_mismatches_are_refused() -> None:
    y = tensor("y", (4,))
    with pytest.raises(NotationError, match="y is defined by itself: y <- y"):
        fuse(y[i].by(i), {"y": (y[i] + 1).by(i)})
    with pytest.raises(NotationError, match="axis 0 of y, read and made: expected 5, found 4"):
        fuse(y[i].by(i), {"y": tensor("x", (5,))[i].by(i)})
    with pytest.raises(
        NotationError, match="read with rank 1 and element type f32, but made with rank 1 and element type f16"
    ):
        fuse(y[i].by(i), {"y": tensor("x", (4,), f16)[i].by(i)})
