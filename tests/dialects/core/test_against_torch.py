"""Operations on which frameworks differ, compared with torch where it is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from commonir.dialects import core

from tests.dialects.core.drawing import Array, Draw
from tests.dialects.core.running import run as run_operation
from tests.oracles import oracle

torch = oracle("torch")
F = torch.nn.functional

SAMPLES = 12


def run(name: str, *operands: Array, **attributes: Any) -> Array:
    """The result of a core operation."""
    return run_operation(f"core.{name}", *operands, **attributes)


def t(x: Array) -> Any:
    return torch.from_numpy(x)


def agree(actual: Array, expected: Any, tolerance: float = 2e-6) -> None:
    expected_value = expected.numpy()
    assert actual.shape == expected_value.shape
    assert_allclose(actual, expected_value, rtol=tolerance, atol=tolerance)


def pads(*amounts: int) -> tuple[tuple[int, int], ...]:
    return tuple([(p, p) for p in amounts])


@pytest.mark.parametrize("number", range(SAMPLES))
def test_convolutions_in_groups(number: int) -> None:
    draw = Draw("torch conv", number)
    groups, strides, dilations = draw.integer(1, 3), draw.integers(2, 1, 3), draw.integers(2, 1, 2)
    amounts = draw.integers(2, 0, 2)
    x, weight = draw.array((2, groups * 2, 7, 9)), draw.array((groups * 3, 2, 2, 3))
    bias = draw.array((groups * 3,))
    inputs = {"strides": strides, "dilations": dilations, "pads": pads(*amounts), "groups": groups}
    expected = F.conv2d(t(x), t(weight), t(bias), strides, amounts, dilations, groups)
    agree(run("conv", x, weight, bias, **inputs), expected, 1e-5)


@pytest.mark.parametrize("number", range(SAMPLES))
def test_transposed_convolutions_in_groups_with_output_padding(number: int) -> None:
    draw = Draw("torch conv_transpose", number)
    groups, strides, dilations = draw.integer(1, 3), draw.integers(2, 1, 3), draw.integers(2, 1, 2)
    amounts = draw.integers(2, 0, 1)
    # torch asks for an output padding below the stride or the dilation.
    extra = tuple([draw.integer(0, max(s, d) - 1) for s, d in zip(strides, dilations, strict=True)])
    x, weight = draw.array((2, groups * 2, 4, 5)), draw.array((groups * 2, 3, 2, 3))
    inputs = {
        "strides": strides,
        "dilations": dilations,
        "pads": pads(*amounts),
        "output_padding": extra,
        "groups": groups,
    }
    expected = F.conv_transpose2d(t(x), t(weight), None, strides, amounts, extra, groups, dilations)
    agree(run("conv_transpose", x, weight, **inputs), expected, 1e-5)


@pytest.mark.parametrize("number", range(SAMPLES))
def test_pools_with_windows_beyond_the_end(number: int) -> None:
    draw = Draw("torch pool", number)
    kernel, strides = draw.integers(2, 1, 4), draw.integers(2, 1, 3)
    # torch asks for a padding of at most half of the window.
    amounts = tuple([draw.integer(0, k // 2) for k in kernel])
    ceil, whole = draw.flag(), draw.flag()
    x = draw.array((2, 2, *draw.integers(2, 5, 9)))
    inputs = {"kernel": kernel, "strides": strides, "pads": pads(*amounts), "ceil_mode": ceil}
    agree(run("max_pool", x, **inputs), F.max_pool2d(t(x), kernel, strides, amounts, ceil_mode=ceil))
    expected = F.avg_pool2d(t(x), kernel, strides, amounts, ceil, whole)
    agree(run("average_pool", x, **inputs, count_include_pad=whole), expected)


@pytest.mark.parametrize("number", range(SAMPLES))
def test_resampling(number: int) -> None:
    draw = Draw("torch resize", number)
    x, sizes = draw.array((1, 2, *draw.integers(2, 2, 6))), draw.integers(2, 1, 9)
    for aligned, coordinates in ((True, core.Coordinates.ALIGN_CORNERS), (False, core.Coordinates.HALF_PIXEL)):
        expected = F.interpolate(t(x), sizes, mode="bilinear", align_corners=aligned)
        agree(run("resize", x, sizes=sizes, coordinates=coordinates), expected)
    nearest = {"mode": "nearest", "coordinates": core.Coordinates.ASYMMETRIC, "rounding": core.Rounding.FLOOR}
    agree(run("resize", x, sizes=sizes, **nearest), F.interpolate(t(x), sizes, mode="nearest"))


@pytest.mark.parametrize("number", range(SAMPLES))
def test_attention_with_masks(number: int) -> None:
    draw = Draw("torch attention", number)
    length, size, e = draw.integers(3, 1, 5)
    q, k, v = draw.array((2, 3, length, e)), draw.array((2, 3, size, e)), draw.array((2, 3, size, 4))
    added = draw.array((length, size))
    preserved = draw.array((2, 1, length, size), "i1") | (np.arange(size) == 0)
    attention = F.scaled_dot_product_attention
    agree(run("attention", q, k, v), attention(t(q), t(k), t(v)), 1e-5)
    agree(run("attention", q, k, v, added), attention(t(q), t(k), t(v), t(added)), 1e-5)
    agree(run("attention", q, k, v, preserved, scale=0.3), attention(t(q), t(k), t(v), t(preserved), scale=0.3), 1e-5)


_FUNCTIONS: dict[str, tuple[dict[str, Any], Callable[[Any], Any]]] = {
    "gelu": ({}, F.gelu),
    "gelu tanh": ({"approximation": "tanh"}, lambda x: F.gelu(x, approximate="tanh")),
    "softplus": ({}, lambda x: F.softplus(x, threshold=1e9)),
    "silu": ({}, F.silu),
    "hard_swish": ({}, F.hardswish),
    "mish": ({}, F.mish),
    "hard_sigmoid": ({"alpha": 1 / 6}, F.hardsigmoid),
    "elu": ({"alpha": 0.7}, lambda x: F.elu(x, 0.7)),
    "leaky_relu": ({"alpha": 0.2}, lambda x: F.leaky_relu(x, 0.2)),
    "softsign": ({}, F.softsign),
    "log_softmax": ({}, lambda x: F.log_softmax(x, -1)),
    "layer_norm": ({}, lambda x: F.layer_norm(x, (64,))),
    "rms_norm": ({"epsilon": 1e-5}, lambda x: F.rms_norm(x, (64,), eps=1e-5)),
    "erf": ({}, torch.erf),
    "round": ({}, torch.round),
}


@pytest.mark.parametrize("name", _FUNCTIONS)
@pytest.mark.parametrize("element", ["f32", "f16"])
def test_functions_of_one_tensor(name: str, element: str) -> None:
    attributes, expected = _FUNCTIONS[name]
    x = Draw(f"torch {name}", 0).array((8, 64), element, -9, 9)
    wide = expected(t(x.astype(np.float32))).numpy().astype(x.dtype)
    result = run(name.split(maxsplit=1)[0], x, **attributes)
    assert result.dtype == x.dtype
    # Half precision within two units in the last place, and single precision within rounding of a few steps.
    tolerance = 2e-3 if element == "f16" else 3e-6
    assert_allclose(result.astype(np.float64), wide.astype(np.float64), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("number", range(SAMPLES))
def test_pads_that_mirror_and_repeat(number: int) -> None:
    draw = Draw("torch pad", number)
    x, (left, right) = draw.array((2, 3, 5)), draw.integers(2, 0, 4)
    for mode, name in (("reflect", "reflect"), ("edge", "replicate")):
        result = run("pad", x, before=(0, 0, left), after=(0, 0, right), mode=mode)
        agree(result, F.pad(t(x), (left, right), mode=name), 0)
