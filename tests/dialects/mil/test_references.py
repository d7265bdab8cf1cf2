"""Results of operations that coremltools does not fold, or folds wrongly: written out, or from numpy and torch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.dialects.mil.single_operations import Given, Program, definition_of, f16, f32, i8, i32, u8, u32
from tests.oracles import oracle

Array = NDArray[Any]

ENGINES = pytest.mark.parametrize("engine", ["reference", "numpy"])
FLEXIBLE = pytest.mark.parametrize("flexible", [False, True], ids=["fixed", "flexible"])
_RNG = np.random.default_rng(21)


def floats(*shape: int) -> Array:
    return _RNG.standard_normal(shape).astype(np.float32)


def run(name: str, version: str, engine: str, inputs: dict[str, Given], **how: Any) -> list[Array]:
    return Program(definition_of(name, version), inputs, **how).results(engine)


def run_one(name: str, version: str, engine: str, inputs: dict[str, Given], **how: Any) -> Array:
    (result,) = run(name, version, engine, inputs, **how)
    return result


# -- convolutions and pools, against torch


@ENGINES
@FLEXIBLE
@pytest.mark.parametrize(
    ("shape", "filters", "more"),
    [
        ((2, 4, 7, 6), (6, 2, 3, 3), {"groups": 2, "strides": i32([2, 1]), "pad": i32([1, 2, 0, 1])}),
        ((1, 3, 9), (5, 3, 3), {"dilations": i32([2]), "pad": i32([0, 2])}),
        ((1, 2, 4, 5, 6), (3, 2, 2, 2, 2), {"strides": i32([1, 2, 1]), "pad": i32([0, 0, 1, 1, 0, 1])}),
    ],
    ids=["grouped", "one_axis", "three_axes"],
)
def test_conv_with_custom_padding_is_that_of_torch(
    shape: tuple[int, ...], filters: tuple[int, ...], more: dict[str, Given], flexible: bool, engine: str
) -> None:
    torch = oracle("torch")
    x, weight, bias = floats(*shape), floats(*filters), floats(filters[0])
    pad = np.asarray(more["pad"]).reshape(-1, 2)
    padded = torch.nn.functional.pad(torch.tensor(x), [int(n) for pair in reversed(pad) for n in pair])
    spatial = len(shape) - 2
    ones = [1] * spatial
    convolve = (torch.conv1d, torch.conv2d, torch.conv3d)[spatial - 1]
    expected = convolve(
        padded, torch.tensor(weight), torch.tensor(bias),
        stride=np.asarray(more.get("strides", ones)).tolist(),
        dilation=np.asarray(more.get("dilations", ones)).tolist(), groups=int(np.asarray(more.get("groups", 1))),
    )  # fmt: skip
    inputs: dict[str, Given] = {"x": x, "weight": weight, "bias": bias, "pad_type": "custom", **more}
    result = run_one("conv", "CoreML6", engine, inputs, flexible=flexible, constants=("weight",))
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


@ENGINES
@FLEXIBLE
@pytest.mark.parametrize(("kind", "before"), [("same", 0), ("same_lower", 1)])
def test_same_padding_puts_the_odd_unit_at_one_side(kind: str, before: int, flexible: bool, engine: str) -> None:
    # Size 6, window 3, stride 2: one unit of padding in all.
    inputs: dict[str, Given] = {
        "x": np.arange(1, 7, dtype=np.float32).reshape(1, 1, 6), "weight": np.ones((1, 1, 3), np.float32),
        "strides": i32([2]), "pad_type": kind,
    }  # fmt: skip
    result = run_one("conv", "CoreML6", engine, inputs, flexible=flexible, constants=("weight",))
    assert result.tolist() == [[[6, 12, 11]] if before == 0 else [[3, 9, 15]]]


@ENGINES
@FLEXIBLE
def test_conv_transpose_is_that_of_torch(flexible: bool, engine: str) -> None:
    torch = oracle("torch")
    x, weight, bias = floats(2, 4, 5, 6), floats(4, 3, 3, 2), floats(6)
    expected = torch.conv_transpose2d(
        torch.tensor(x),
        torch.tensor(weight),
        torch.tensor(bias),
        stride=[2, 3],
        padding=[1, 0],
        groups=2,
        dilation=[1, 2],
    )
    inputs: dict[str, Given] = {
        "x": x, "weight": weight, "bias": bias, "strides": i32([2, 3]), "pad_type": "custom",
        "pad": i32([1, 1, 0, 0]), "groups": 2, "dilations": i32([1, 2]),
    }  # fmt: skip
    result = run_one("conv_transpose", "CoreML5", engine, inputs, flexible=flexible)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


@ENGINES
def test_output_shape_of_conv_transpose_adds_at_the_end(engine: str) -> None:
    torch = oracle("torch")
    x, weight = floats(1, 2, 4), floats(2, 3, 3)
    expected = torch.conv_transpose1d(torch.tensor(x), torch.tensor(weight), stride=2, padding=1, output_padding=1)
    inputs: dict[str, Given] = {
        "x": x, "weight": weight, "strides": i32([2]), "pad_type": "custom", "pad": i32([1, 1]),
        "output_shape": i32([1, 3, 8]),
    }  # fmt: skip
    result = run_one("conv_transpose", "CoreML5", engine, inputs)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


@ENGINES
def test_conv_transpose_with_same_padding_multiplies_sizes_by_strides(engine: str) -> None:
    inputs: dict[str, Given] = {
        "x": f32([[[1, 2, 3]]]), "weight": f32([[[1, 10, 100]]]), "strides": i32([2]), "pad_type": "same",
    }  # fmt: skip
    # The full result is 1, 10, 102, 20, 203, 30, 300; one unit is cut, at the end.
    assert run_one("conv_transpose", "CoreML5", engine, inputs).tolist() == [[[1, 10, 102, 20, 203, 30]]]


@ENGINES
@FLEXIBLE
@pytest.mark.parametrize("ceil", [False, True])
def test_pools_are_those_of_torch(ceil: bool, flexible: bool, engine: str) -> None:
    torch = oracle("torch")
    x = floats(2, 3, 8, 7)
    how: dict[str, Given] = {
        "x": x, "kernel_sizes": i32([3, 2]), "strides": i32([2, 2]), "pad_type": "custom",
        "pad": i32([1, 1, 0, 0]), "ceil_mode": ceil,
    }  # fmt: skip
    functional, same = (
        torch.nn.functional,
        {"kernel_size": [3, 2], "stride": [2, 2], "padding": [1, 0], "ceil_mode": ceil},
    )
    expected = functional.max_pool2d(torch.tensor(x), **same)
    np.testing.assert_allclose(run_one("max_pool", "CoreML5", engine, how, flexible=flexible), expected, rtol=1e-6)
    for excluded in (False, True):
        expected = functional.avg_pool2d(torch.tensor(x), **same, count_include_pad=not excluded)
        inputs = {**how, "exclude_padding_from_average": excluded}
        result = run_one("avg_pool", "CoreML5", engine, inputs, flexible=flexible)
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


@ENGINES
@FLEXIBLE
def test_max_pool_with_same_padding_ignores_the_padding(flexible: bool, engine: str) -> None:
    inputs: dict[str, Given] = {
        "x": f32([[[-5, -4, -3, -2, -1]]]), "kernel_sizes": i32([3]), "strides": i32([2]), "pad_type": "same",
    }  # fmt: skip
    assert run_one("max_pool", "CoreML5", engine, inputs, flexible=flexible).tolist() == [[[-4, -2, -1]]]


@ENGINES
def test_l2_pool_sums_squares(engine: str) -> None:
    inputs: dict[str, Given] = {
        "x": f32([[[3, 4, 0, 5]]]), "kernel_sizes": i32([2]), "strides": i32([2]), "pad_type": "valid",
    }  # fmt: skip
    assert run_one("l2_pool", "CoreML5", engine, inputs).tolist() == [[[5, 5]]]


# -- normalizations


@ENGINES
@FLEXIBLE
def test_normalizations_are_those_of_torch(flexible: bool, engine: str) -> None:
    torch = oracle("torch")
    functional = torch.nn.functional
    x, mean, variance, gamma, beta = floats(2, 4, 5, 6), floats(4), np.abs(floats(4)), floats(4), floats(4)
    t = {k: torch.tensor(v) for k, v in (("x", x), ("m", mean), ("v", variance), ("g", gamma), ("b", beta))}
    scaled: dict[str, Given] = {"gamma": gamma, "beta": beta, "epsilon": 1e-3}
    result = run_one(
        "batch_norm", "CoreML5", engine, {"x": x, "mean": mean, "variance": variance, **scaled}, flexible=flexible
    )
    expected = functional.batch_norm(t["x"], t["m"], t["v"], t["g"], t["b"], eps=1e-3)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
    result = run_one("instance_norm", "CoreML7", engine, {"x": x, **scaled}, flexible=flexible)
    expected = functional.instance_norm(t["x"], weight=t["g"], bias=t["b"], eps=1e-3)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
    for size in (2, 3):
        inputs: dict[str, Given] = {"x": x, "size": size, "alpha": 0.3, "beta": 0.6, "k": 1.5}
        expected = functional.local_response_norm(t["x"], size, alpha=0.3, beta=0.6, k=1.5)
        result = run_one("local_response_norm", "CoreML5", engine, inputs, flexible=flexible)
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


@ENGINES
def test_layer_norm_without_axes_normalizes_over_all(engine: str) -> None:
    result = run_one("layer_norm", "CoreML5", engine, {"x": f32([[1, 2], [3, 6]]), "epsilon": 0.5})
    np.testing.assert_allclose(result, [[-1, -0.5], [0, 1.5]], rtol=1e-6)


# -- single cases in which coremltools is wrong, or that it cannot fold


@ENGINES
def test_matmul_of_a_vector_and_a_batch_keeps_the_batch(engine: str) -> None:
    x, y = floats(4), floats(2, 4, 5)
    np.testing.assert_allclose(run_one("matmul", "CoreML5", engine, {"x": x, "y": y}), x @ y, rtol=1e-5)
    np.testing.assert_allclose(run_one("matmul", "CoreML5", engine, {"x": y.mT, "y": x}), y.mT @ x, rtol=1e-5)


@ENGINES
@pytest.mark.parametrize("constant", ["x", "y"])
def test_matmul_converts_the_constant_to_the_type_of_the_other(constant: str, engine: str) -> None:
    inputs: dict[str, Given] = {"x": f16([[1, 2]]), "y": f32([[3], [4]])}
    result = run_one("matmul", "CoreML7", engine, inputs, constants=(constant,))
    assert result.tolist() == [[11]]
    assert result.dtype == (np.float32 if constant == "x" else np.float16)


@ENGINES
def test_clamped_relu_is_limited_below_zero_too(engine: str) -> None:
    inputs: dict[str, Given] = {"x": f32([-4, -1, 0, 3]), "alpha": 0.5, "beta": -1.0}
    assert run_one("clamped_relu", "CoreML5", engine, inputs).tolist() == [-2, -1, -1, -1]


@ENGINES
def test_softplus_parametric_does_not_overflow(engine: str) -> None:
    inputs: dict[str, Given] = {"x": f32([[[200, -200]]]), "alpha": f32([2]), "beta": f32([1])}
    assert run_one("softplus_parametric", "CoreML5", engine, inputs).tolist() == [[[400, 0]]]


@ENGINES
def test_select_takes_the_shape_of_a_larger_condition(engine: str) -> None:
    inputs: dict[str, Given] = {"cond": np.array([[True], [False]]), "a": f32([1, 2]), "b": f32(0)}
    assert run_one("select", "CoreML5", engine, inputs).tolist() == [[1, 2], [0, 0]]


@ENGINES
def test_round_takes_halves_to_the_even_number(engine: str) -> None:
    inputs: dict[str, Given] = {"x": f32([0.5, 1.5, 2.5, -0.5, -1.5])}
    assert run_one("round", "CoreML5", engine, inputs).tolist() == [0, 2, 2, 0, -2]


@ENGINES
def test_epsilon_of_log_is_zero_in_half_precision(engine: str) -> None:
    assert run_one("log", "CoreML5", engine, {"x": f16([0])}).tolist() == [-math.inf]
    np.testing.assert_allclose(run_one("log", "CoreML5", engine, {"x": f32([0])}), [-103.2789], rtol=1e-6)


@ENGINES
def test_concat_interleaves(engine: str) -> None:
    inputs: dict[str, Given] = {"values": [f32([[1, 2]]), f32([[3, 4]])], "axis": 1, "interleave": True}
    assert run_one("concat", "CoreML5", engine, inputs).tolist() == [[1, 3, 2, 4]]


@ENGINES
def test_exclusive_cumsum_starts_with_zero(engine: str) -> None:
    inputs: dict[str, Given] = {"x": f32([1, 2, 3]), "exclusive": True}
    assert run_one("cumsum", "CoreML5", engine, inputs).tolist() == [0, 1, 3]
    assert run_one("cumsum", "CoreML5", engine, {**inputs, "reverse": True}).tolist() == [5, 3, 0]


@ENGINES
def test_slice_by_size_of_zero_is_empty(engine: str) -> None:
    inputs: dict[str, Given] = {"x": f32([1, 2, 3]), "begin": i32([1]), "size": i32([0])}
    assert run_one("slice_by_size", "CoreML5", engine, inputs).tolist() == []


@ENGINES
def test_flatten2d_at_axis_0_gives_one_row(engine: str) -> None:
    assert run_one("flatten2d", "CoreML5", engine, {"x": floats(2, 3), "axis": 0}).shape == (1, 6)


@ENGINES
@FLEXIBLE
def test_topk_of_minus_one_takes_all(flexible: bool, engine: str) -> None:
    inputs: dict[str, Given] = {"x": f32([[1, 3, 2], [5, 5, 6]]), "k": -1}
    values, positions = run("topk", "CoreML7", engine, inputs, flexible=flexible)
    assert values.tolist() == [[3, 2, 1], [6, 5, 5]]
    assert positions.tolist() == [[1, 2, 0], [2, 0, 1]]
    assert positions.dtype == np.int32


@ENGINES
def test_band_part_keeps_infinities_out(engine: str) -> None:
    inputs: dict[str, Given] = {"x": np.full((2, 2), -np.inf, np.float32), "lower": 0}
    assert run_one("band_part", "CoreML5", engine, inputs).tolist() == [[-math.inf, -math.inf], [0, -math.inf]]


@ENGINES
@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("update", [[10, 2, 20]]), ("add", [[11, 2, 23]]), ("sub", [[-9, 2, -17]]), ("mul", [[10, 2, 60]]),
        ("div", [[0.1, 2, 0.15]]), ("max", [[10, 2, 20]]), ("min", [[1, 2, 3]]),
    ],
)  # fmt: skip
def test_scatter_modes(mode: str, expected: list[list[float]], engine: str) -> None:
    data, updates = f32([[1, 2, 3]]), f32([[10, 20]])
    inputs: dict[str, Given] = {"data": data, "indices": i32([[0, 2]]), "updates": updates, "axis": 1, "mode": mode}
    np.testing.assert_allclose(run_one("scatter_along_axis", "CoreML5", engine, inputs), expected, rtol=1e-6)
    inputs["indices"] = i32([0, -1])
    np.testing.assert_allclose(run_one("scatter", "CoreML5", engine, inputs), expected, rtol=1e-6)
    rows: dict[str, Given] = {"data": data, "indices": i32([[0, 0], [0, 2]]), "updates": updates[0], "mode": mode}
    np.testing.assert_allclose(run_one("scatter_nd", "CoreML7", engine, rows), expected, rtol=1e-6)


@ENGINES
def test_scatter_adds_by_default(engine: str) -> None:
    inputs: dict[str, Given] = {"data": f32([1, 2]), "indices": i32([1, 1]), "updates": f32([5, 6])}
    assert run_one("scatter", "CoreML5", engine, inputs).tolist() == [1, 13]


@ENGINES
@FLEXIBLE
def test_reverse_sequence_reverses_the_first_elements(flexible: bool, engine: str) -> None:
    inputs: dict[str, Given] = {
        "x": f32([[1, 2, 3, 4], [5, 6, 7, 8]]), "lengths": i32([3, 1]), "seq_axis": 1, "batch_axis": 0,
    }  # fmt: skip
    result = run_one("reverse_sequence", "CoreML5", engine, inputs, flexible=flexible)
    assert result.tolist() == [[3, 2, 1, 4], [5, 6, 7, 8]]


@ENGINES
def test_reshape_like_joins_parts_of_shapes(engine: str) -> None:
    inputs: dict[str, Given] = {
        "x": floats(2, 6), "ref_tensors": [floats(3, 5), floats(7, 2, 2)], "begins": [0, 1], "ends": [1, 0],
        "end_masks": [False, True],
    }  # fmt: skip
    assert run_one("reshape_like", "CoreML6", engine, inputs).shape == (3, 2, 2)


@ENGINES
def test_non_zero_lists_positions_in_row_major_order(engine: str) -> None:
    result = run_one("non_zero", "CoreML5", engine, {"x": i32([[0, 7], [8, 9]])})
    assert result.tolist() == [[0, 1], [1, 0], [1, 1]]
    assert result.dtype == np.int32


@ENGINES
def test_what_is_absent_has_the_documented_value(engine: str) -> None:
    filled = run_one("fill", "CoreML5", engine, {"shape": i32([2])})
    assert (filled.dtype, filled.tolist()) == (np.float32, [0, 0])
    filled = run_one("fill_like", "CoreML6", engine, {"ref_tensor": np.array([True])})
    assert (filled.dtype, filled.tolist()) == (np.float32, [0])
    hot = run_one("one_hot", "CoreML5", engine, {"indices": i32([1, -1, 9]), "one_hot_vector_size": 2})
    assert (hot.dtype, hot.tolist()) == (np.int32, [[0, 1], [0, 0], [0, 0]])


@ENGINES
def test_silu_is_x_times_its_sigmoid(engine: str) -> None:
    result = run_one("silu", "CoreML5", engine, {"x": f32([0, 1, -1])})
    np.testing.assert_allclose(result, [0, 0.7310586, -0.26894143], rtol=1e-6)


@ENGINES
@FLEXIBLE
def test_crop_and_sliding_windows_cut(flexible: bool, engine: str) -> None:
    x = floats(2, 5, 6)
    result = run_one(
        "crop", "CoreML5", engine, {"x": x, "crop_height": i32([1, 2]), "crop_width": i32([0, 3])}, flexible=flexible
    )
    assert result.tolist() == x[:, 1:3, :3].tolist()
    inputs: dict[str, Given] = {"x": f32([[1, 2, 3, 4, 5]]), "axis": -1, "size": 3, "stride": 2}
    assert run_one("sliding_windows", "CoreML5", engine, inputs, flexible=flexible).tolist() == [[[1, 2, 3], [3, 4, 5]]]


@ENGINES
def test_gather_nd_takes_rows_of_positions(engine: str) -> None:
    x = floats(2, 3, 4)
    result = run_one("gather_nd", "CoreML5", engine, {"x": x, "indices": i32([[0, 1], [1, -1]])})
    assert result.tolist() == x[[0, 1], [1, 2]].tolist()
    inputs: dict[str, Given] = {"x": x, "indices": i32([[[1], [0]], [[2], [2]]]), "batch_dims": 1}
    result = run_one("gather_nd", "CoreML6", engine, inputs)
    assert result.tolist() == [x[0, [1, 0]].tolist(), x[1, [2, 2]].tolist()]


@ENGINES
def test_one_hot_inserts_its_axis(engine: str) -> None:
    inputs: dict[str, Given] = {
        "indices": i32([0, 2]), "one_hot_vector_size": 3, "axis": 0, "on_value": 2.0, "off_value": -1.0,
    }  # fmt: skip
    assert run_one("one_hot", "CoreML5", engine, inputs).tolist() == [[2, -1], [-1, -1], [-1, 2]]


@ENGINES
def test_dequantize_scales_what_is_above_the_zero_point(engine: str) -> None:
    inputs: dict[str, Given] = {
        "input": i8([[1, -2], [3, 4]]),
        "scale": f32([0.5, 2]),
        "zero_point": i8([1, 2]),
        "axis": 0,
    }
    assert run_one("dequantize", "CoreML7", engine, inputs).tolist() == [[0, -1.5], [2, 4]]
    result = run_one("dequantize", "CoreML7", engine, {"input": u8([1, 201]), "scale": f16(0.5)})
    assert (result.dtype, result.tolist()) == (np.float16, [0.5, 100.5])


@ENGINES
@FLEXIBLE
def test_pixel_operations_number_blocks_by_the_trailing_part_of_the_channel(flexible: bool, engine: str) -> None:
    torch = oracle("torch")
    x = floats(2, 8, 2, 4)
    expected = torch.nn.functional.pixel_shuffle(torch.tensor(x), 2).numpy()
    result = run_one("pixel_shuffle", "CoreML5", engine, {"x": x, "upscale_factor": 2}, flexible=flexible)
    assert result.tolist() == expected.tolist()
    result = run_one(
        "pixel_unshuffle", "CoreML6", engine, {"x": expected, "downscale_factor": u32(2)}, flexible=flexible
    )
    assert result.tolist() == x.tolist()


@ENGINES
@FLEXIBLE
def test_depth_operations_number_blocks_by_the_leading_part_of_the_channel(flexible: bool, engine: str) -> None:
    # Channel (i * 2 + j) * 2 + c of x stands at row i, column j of the block of channel c.
    x = f32(np.arange(8).reshape(1, 8, 1, 1))
    expected = [[[[0, 2], [4, 6]], [[1, 3], [5, 7]]]]
    result = run_one("depth_to_space", "CoreML5", engine, {"x": x, "block_size": 2}, flexible=flexible)
    assert result.tolist() == expected
    result = run_one("space_to_depth", "CoreML5", engine, {"x": f32(expected), "block_size": 2}, flexible=flexible)
    assert result.tolist() == x.tolist()


@ENGINES
@FLEXIBLE
def test_batches_of_places_in_blocks(flexible: bool, engine: str) -> None:
    # Two images of one row; the columns of a block become batches, the first of all images before the second.
    x = f32([[[[1, 2, 3]]], [[[4, 5, 6]]]])
    inputs: dict[str, Given] = {"x": x, "block_shape": i32([1, 2]), "paddings": i32([[0, 0], [0, 1]])}
    batches = [[[[1, 3]]], [[[4, 6]]], [[[2, 0]]], [[[5, 0]]]]
    assert run_one("space_to_batch", "CoreML5", engine, inputs, flexible=flexible).tolist() == batches
    inputs = {"x": f32(batches), "block_shape": i32([1, 2]), "crops": i32([[0, 0], [0, 1]])}
    assert run_one("batch_to_space", "CoreML5", engine, inputs, flexible=flexible).tolist() == x.tolist()


# -- bounds that the program computes


@ENGINES
def test_computed_shapes_give_what_constant_ones_give(engine: str) -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)

    def computed(name: str, inputs: dict[str, Given], *which: str) -> list[Any]:
        return run_one(name, "CoreML5", engine, {"x": x, **inputs}, computed=which).tolist()

    assert computed("reshape", {"shape": i32([2, -1])}, "shape") == x.reshape(2, 6).tolist()
    assert computed("reshape", {"shape": i32([0, 4])}, "shape") == x.tolist()
    assert computed("tile", {"reps": i32([2, 1])}, "reps") == np.tile(x, (2, 1)).tolist()
    bounds: dict[str, Given] = {
        "begin": i32([1, -1]),
        "end": i32([3, 0]),
        "squeeze_mask": np.array([False, True]),
    }
    assert computed("slice_by_index", bounds, "begin", "end") == x[1:3, -1].tolist()
    bounds = {"begin": i32([9, 1]), "end": i32([9, 9]), "stride": i32([-1, 2]),
              "begin_mask": np.array([True, False]), "end_mask": np.array([True, False])}  # fmt: skip
    assert computed("slice_by_index", bounds, "begin", "end") == x[::-1, 1:9:2].tolist()
    sizes: dict[str, Given] = {"begin": i32([-2, 1]), "size": i32([2, -1])}
    assert computed("slice_by_size", sizes, "begin") == x[1:3, 1:].tolist()
    assert computed("slice_by_size", sizes, "begin", "size") == x[1:3, 1:].tolist()
    for mode, numpys in (("constant", "constant"), ("reflect", "reflect"), ("replicate", "edge")):
        amounts: dict[str, Given] = {"pad": i32([1, 2, 0, 3]), "mode": mode}
        assert computed("pad", amounts, "pad") == np.pad(x, ((1, 2), (0, 3)), numpys).tolist()  # pyright: ignore[reportCallIssue, reportArgumentType]  the modes of one family
    assert run_one("fill", "CoreML5", engine, {"shape": i32([2, 1]), "value": 7.0}, computed=("shape",)).tolist() == [
        [7],
        [7],
    ]
    hot = run_one("one_hot", "CoreML5", engine, {"indices": i32([1]), "one_hot_vector_size": 3, "axis": 0},
                  computed=("one_hot_vector_size",))  # fmt: skip
    assert hot.tolist() == [[0], [1], [0]]
    ends: dict[str, Given] = {"end": 7.0, "start": 1.0, "step": 2.5}
    assert run_one("range_1d", "CoreML5", engine, ends, computed=("end", "start", "step")).tolist() == [1, 3.5, 6]


# -- images: grid points for two elements and five samples are written out


@ENGINES
@FLEXIBLE
@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("STRICT_ALIGN_CORNERS", [0, 0.25, 0.5, 0.75, 1]), ("ALIGN_CORNERS", [0, 0.25, 0.5, 0.75, 1]),
        ("DEFAULT", [0, 0.4, 0.8, 1, 1]), ("OFFSET_CORNERS", [0.1, 0.3, 0.5, 0.7, 0.9]),
        ("UNALIGN_CORNERS", [0, 0.1, 0.5, 0.9, 1]),
    ],
)  # fmt: skip
def test_sampling_modes_place_samples(mode: str, expected: list[float], flexible: bool, engine: str) -> None:
    inputs: dict[str, Given] = {
        "x": f32([[[0, 1]]]), "target_size_height": 1, "target_size_width": 5, "sampling_mode": mode,
    }  # fmt: skip
    result = run_one("resize_bilinear", "CoreML5", engine, inputs, flexible=flexible)
    np.testing.assert_allclose(result.reshape(-1), expected, rtol=1e-6, atol=1e-7)


@ENGINES
def test_one_sample_of_aligned_corners_is_the_centre(engine: str) -> None:
    for mode, expected in (("ALIGN_CORNERS", 2), ("STRICT_ALIGN_CORNERS", 1)):
        inputs: dict[str, Given] = {"x": f32([[[1, 2, 3]]]), "sampling_mode": mode}
        assert run_one("resize_bilinear", "CoreML5", engine, inputs).tolist() == [[[expected]]]


@ENGINES
@FLEXIBLE
def test_nearest_neighbours_are_floored_by_the_old_operations_and_rounded_by_resize(
    flexible: bool, engine: str
) -> None:
    x = f32([[[0], [1]]])
    inputs: dict[str, Given] = {"x": x, "target_size_height": 3, "target_size_width": 1}
    assert run_one("resize_nearest_neighbor", "CoreML5", engine, inputs, flexible=flexible).tolist() == [
        [[0], [0], [1]]
    ]
    inputs = {"x": x, "scale_factor_height": 1.5, "scale_factor_width": 1.0}
    assert run_one("upsample_nearest_neighbor", "CoreML5", engine, inputs, flexible=flexible).tolist() == [
        [[0], [0], [1]]
    ]
    inputs = {"x": x, "shape": i32([3, 0]), "resized_dims": u32(2), "interpolation_mode": "NEAREST_NEIGHBOR"}
    assert run_one("resize", "CoreML7", engine, inputs, flexible=flexible).tolist() == [[[0], [1], [1]]]


@ENGINES
@FLEXIBLE
@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({}, [0, 1 / 3, 2 / 3, 1]), ({"align_corners": True}, [0, 1 / 3, 2 / 3, 1]),
        ({"align_corners": False}, [0, 0.25, 0.75, 1]),
        ({"align_corners": False, "half_pixel_centers": False}, [0, 0.5, 1, 1]),
    ],
)  # fmt: skip
def test_upsample_bilinear_places_samples(
    how: dict[str, Given], expected: list[float], flexible: bool, engine: str
) -> None:
    inputs: dict[str, Given] = {"x": f32([[[0, 1]]]), "scale_factor_height": 1, "scale_factor_width": 2, **how}
    result = run_one("upsample_bilinear", "CoreML6", engine, inputs, flexible=flexible)
    np.testing.assert_allclose(result.reshape(-1), expected, rtol=1e-6)


# -- compressed constants


@ENGINES
def test_compressed_constants_are_decoded(engine: str) -> None:
    # Two bits each, the first in the least significant bits: 0b11100100 holds 0, 1, 2, 3.
    table: dict[str, Given] = {
        "indices": u8([0b11100100, 0b01]),
        "lut": f32([0.5, 1, 2, 4]),
        "shape": u32([5, 1]),
    }
    assert run_one("constexpr_lut_to_dense", "CoreML6", engine, table).tolist() == [[0.5], [1], [2], [4], [1]]
    affine: dict[str, Given] = {
        "quantized_data": u8([[0, 10], [200, 255]]), "zero_point": u8([10, 100]), "scale": f16(0.5), "axis": i32(0),
    }  # fmt: skip
    assert run_one("constexpr_affine_dequantize", "CoreML6", engine, affine).tolist() == [[-5, 0], [50, 77.5]]
    sparse: dict[str, Given] = {
        "nonzero_data": f32([7, 8, 9]),
        "mask": u8([0b10110]),
        "shape": u32([2, 3]),
    }
    assert run_one("constexpr_sparse_to_dense", "CoreML6", engine, sparse).tolist() == [[0, 7, 8], [0, 9, 0]]
    cast: dict[str, Given] = {"source_val": f16([1.5]), "output_dtype": "fp32"}
    for version in ("CoreML6", "CoreML8"):
        result = run_one("constexpr_cast", version, engine, cast)
        assert (result.dtype, result.tolist()) == (np.float32, [1.5])


@ENGINES
def test_blocks_have_tables_and_scales_of_their_own(engine: str) -> None:
    ml_dtypes = oracle("ml_dtypes")
    scaled: dict[str, Given] = {
        "data": np.array([[1, 2, 3, 4], [-1, -2, -3, -4]], ml_dtypes.int4), "scale": f32([[1, 10], [2, 20]]),
        "offset": np.array([[1, 0], [0, 1]], ml_dtypes.int4),
    }  # fmt: skip
    result = run_one("constexpr_blockwise_shift_scale", "CoreML8", engine, scaled)
    assert result.tolist() == [[0, 1, 30, 40], [-2, -4, -80, -100]]
    table: dict[str, Given] = {
        "indices": np.array([[0, 1], [2, 3]], ml_dtypes.uint2),
        "lut": np.arange(16, dtype=np.float32).reshape(2, 1, 4, 2), "vector_axis": -1,
    }  # fmt: skip
    result = run_one("constexpr_lut_to_dense", "CoreML8", engine, table)
    assert result.tolist() == [[0, 1, 2, 3], [12, 13, 14, 15]]
