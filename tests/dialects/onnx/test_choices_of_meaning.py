"""Where evaluators disagree: what the text of an operator says decides, then what runtimes do."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper, numpy_helper

import commonir

from tests.dialects.onnx.onnx_programs import assert_same, program, run_here, run_with_onnxruntime
from tests.oracles import oracle

ENGINES = ("reference", "numpy")
SHAPED = {"x": np.arange(20, dtype=np.float32).reshape(1, 1, 4, 5)}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("factors", [(0.6, 1.5), (1.3, 0.4), (2.0, 1.7)])
@pytest.mark.parametrize("mode", ["linear", "nearest", "cubic"])
def test_corners_stay_when_a_factor_gives_no_whole_size(engine: str, factors: tuple[float, float], mode: str) -> None:
    body = f"""s = Constant<value_floats = [1.0, 1.0, {factors[0]}, {factors[1]}]>()
        y = Resize<mode = "{mode}", coordinate_transformation_mode = "align_corners">(x, , s)"""
    model = program(13, body, SHAPED, ["y"])
    assert_same(run_here(model, SHAPED, engine), run_with_onnxruntime(model, SHAPED), 1e-5)


def test_corners_stay_as_in_torch() -> None:
    torch = oracle("torch")
    body = """s = Constant<value_floats = [1.0, 1.0, 0.6, 1.5]>()
        y = Resize<mode = "linear", coordinate_transformation_mode = "align_corners">(x, , s)"""
    result = run_here(program(13, body, SHAPED, ["y"]), SHAPED, "numpy")
    resize = torch.nn.functional.interpolate
    expected = resize(torch.tensor(SHAPED["x"]), scale_factor=(0.6, 1.5), mode="bilinear", align_corners=True)
    np.testing.assert_allclose(result[0], expected.numpy(), rtol=1e-5)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("mode", ["linear", "nearest"])
def test_one_element_is_the_first_for_pytorch_half_pixel(engine: str, mode: str) -> None:
    body = f"""s = Constant<value_floats = [1.0, 1.0, 0.3, 0.6]>()
        y = Resize<mode = "{mode}", coordinate_transformation_mode = "pytorch_half_pixel">(x, , s)"""
    model = program(13, body, SHAPED, ["y"])
    assert_same(run_here(model, SHAPED, engine), run_with_onnxruntime(model, SHAPED), 1e-5)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("is_constant", [True, False])
@pytest.mark.parametrize("start", [-9, -6, -5, -2, -1, 9, -(2**31), -(2**63) + 1])
def test_slice_backward_from_before_the_first_element_takes_that_one(
    start: int, is_constant: bool, engine: str
) -> None:
    bounds = {"b": np.array([start]), "e": np.array([-(2**63) + 1]), "a": np.array([0]), "s": np.array([-2])}
    x = {"x": np.arange(5, dtype=np.float32)}
    inputs = x | ({} if is_constant else {"b": bounds["b"]})
    model = program(13, "y = Slice(x, b, e, a, s)", inputs, ["y"])
    model.graph.initializer.extend(numpy_helper.from_array(v, n) for n, v in bounds.items() if n not in inputs)
    for sizes in (["n"], [5]):
        model.graph.input[0].CopyFrom(helper.make_tensor_value_info("x", 1, sizes))
        assert_same(run_here(model, inputs, engine), run_with_onnxruntime(model, inputs))


@pytest.mark.parametrize("engine", ENGINES)
def test_slice_of_as_many_axes_as_any_operand_has(engine: str) -> None:
    inputs = {"x": np.arange(6, dtype=np.float32), "b": np.array([1]), "e": np.array([4])}
    model = program(13, "a = Constant<value_ints = [0]>() y = Slice(x, b, e, a)", inputs, ["y"])
    for info in model.graph.input:
        info.type.tensor_type.shape.dim[0].dim_param = f"n_{info.name}"
    assert_same(run_here(model, inputs, engine), [np.array([1, 2, 3], np.float32)])


@pytest.mark.parametrize("engine", ENGINES)
def test_batch_normalization_without_known_rank_does_not_train(engine: str) -> None:
    numbers = np.random.default_rng(0)
    inputs = {
        n: numbers.random(s, np.float32) for n, s in zip("xsbmv", ((2, 3, 4), (3,), (3,), (3,), (3,)), strict=True)
    }
    model = program(12, "y = BatchNormalization(x, s, b, m, v)", inputs, ["y"])
    for info in model.graph.input:
        info.type.tensor_type.ClearField("shape")
    assert_same(run_here(model, inputs, engine), run_with_onnxruntime(model, inputs), 1e-5)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("onesided", [0, 1])
def test_dft_runs_when_every_size_is_open(onesided: int, engine: str) -> None:
    inputs = {"x": np.random.default_rng(0).random((2, 7, 1), np.float32)}
    model = program(17, f"y = DFT<onesided = {onesided}>(x)", inputs, ["y"])
    for n, dim in enumerate(model.graph.input[0].type.tensor_type.shape.dim):
        dim.dim_param = f"n{n}"
    assert_same(run_here(model, inputs, engine), run_with_onnxruntime(model, inputs), 1e-4)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.filterwarnings("ignore:Since version 1.3.0, affine_grid")
@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("is_constant", [True, False])
def test_affine_grid_has_one_element_in_the_middle_as_torch(rank: int, is_constant: bool, engine: str) -> None:
    torch = oracle("torch")
    size = np.array([1, 2, 1, 3, 1][: rank + 2])
    theta = np.random.default_rng(0).random((1, rank, rank + 1), np.float32)
    inputs = {"theta": theta} | ({} if is_constant else {"size": size})
    model = program(20, "grid = AffineGrid<align_corners = 1>(theta, size)", inputs, ["grid"], 10)
    if is_constant:
        model.graph.initializer.append(numpy_helper.from_array(size, "size"))
    expected = torch.nn.functional.affine_grid(torch.tensor(theta), size.tolist(), align_corners=True)
    np.testing.assert_allclose(run_here(model, inputs, engine)[0], expected.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("engine", ENGINES)
def test_reshape_that_keeps_zeros_runs_when_sizes_are_open(engine: str) -> None:
    inputs = {"x": np.zeros((0, 4), np.float32)}
    body = "s = Constant<value_ints = [3, 0]>() y = Reshape<allowzero = 1>(x, s)"
    model = program(14, body, inputs, ["y"])
    for n, dim in enumerate(model.graph.input[0].type.tensor_type.shape.dim):
        dim.dim_param = f"n{n}"
    assert_same(run_here(model, inputs, engine), run_with_onnxruntime(model, inputs))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("mode", ["linear", "nearest", "cubic"])
def test_resize_to_no_element_gives_none(mode: str, engine: str) -> None:
    body = f'f = Constant<value_floats = [1.0, 1.0, 0.2, 2.0]>() y = Resize<mode = "{mode}">(x, , f)'
    result = run_here(program(13, body, SHAPED, ["y"]), SHAPED, engine)
    assert_same(result, [np.zeros((1, 1, 0, 10), np.float32)])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("sizes", [(4, 4), (1, 4), (4, 1)])
def test_only_the_shape_of_a_sum_of_two_open_sizes_is_used(sizes: tuple[int, int], engine: str) -> None:
    inputs = {n: np.ones(s, np.float32) for n, s in (("a", sizes[0]), ("b", sizes[1]), ("c", 1))}
    model = program(18, "y = Add(a, b) s = Shape(y) z = Expand(c, s)", inputs, ["z"])
    for info in model.graph.input[:2]:
        info.type.tensor_type.shape.dim[0].dim_param = f"n_{info.name}"
    expected = run_with_onnxruntime(model, inputs)
    assert_same(run_here(model, inputs, engine), expected)
    read = commonir.loads(model.SerializeToString(), format="onnx")
    ranges = {"n_a": (1, 8), "n_b": (1, 8)}
    for converted in (
        commonir.convert(read, "coreml", ranges=ranges),
        commonir.convert(commonir.lower(read), "onnx"),
        commonir.lower(read),
    ):
        assert_same(list(commonir.run(converted, dict(inputs), engine=engine).values()), expected)


@pytest.mark.parametrize("sizes", [(1, 4, 1), (1, 4, 4), (1, 1, 4), (4, 1, 4), (4, 4, 4)])
def test_where_of_open_sizes_converts_to_coreml(sizes: tuple[int, int, int]) -> None:
    numbers = np.random.default_rng(0)
    inputs = {n: numbers.random((s, 3), np.float32) for n, s in zip("abc", sizes, strict=True)}
    model = program(18, "z = Constant<value_float = 0.5>() g = Greater(a, z) y = Where(g, b, c)", inputs, ["y"])
    for info in model.graph.input:
        info.type.tensor_type.shape.dim[0].dim_param = f"n_{info.name}"
    ranges = {f"n_{n}": (1, 8) for n in inputs}
    converted = commonir.convert(commonir.loads(model.SerializeToString(), format="onnx"), "coreml", ranges=ranges)
    assert_same(list(commonir.run(converted, dict(inputs)).values()), run_with_onnxruntime(model, inputs))
