"""Packages compressed by coremltools compute what the packages do that it decompresses, here and in ONNX."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import commonir as cir
from commonir.conversions.core_to_onnx import core_to_onnx
from commonir.formats.onnx.write import dumps

from tests.conversions.running import run_onnx
from tests.oracles import oracle

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    ct = oracle("coremltools")
    import coremltools.optimize.coreml as cto
    from coremltools.converters.mil import Builder

ROWS, COLUMNS = 32, 64
X: Any = np.random.default_rng(3).standard_normal((2, COLUMNS)).astype(np.float32)

Array = np.ndarray[Any, Any]
Compress = Callable[[Any], Any]


def package(target: str, weight: Array | None = None, pipeline: Any = ct.PassPipeline.DEFAULT) -> Any:
    """Two products, the first of which has a weight to compress."""
    r = np.random.default_rng(4)
    first, second = (r.standard_normal(shape).astype(np.float32) for shape in ((ROWS, COLUMNS), (3, ROWS)))
    if weight is not None:
        first, second = weight, np.eye(ROWS, dtype=np.float32)

    def body(x: Any) -> Any:
        # Operations are registered when they are imported, which no checker of types sees.
        linear = getattr(Builder, "linear")  # noqa: B009
        return linear(x=linear(x=x, weight=first), weight=second, name="y")

    spec = [Builder.TensorSpec(shape=X.shape)]
    version = getattr(ct.target, target)
    program = Builder.program(input_specs=spec, opset_version=version)(body)
    return ct.convert(
        program,
        minimum_deployment_target=version,
        compute_precision=ct.precision.FLOAT32,
        pass_pipeline=pipeline,
        skip_model_load=True,
    )


def applied(apply: Callable[..., Any], options: Any, *, joint: bool = False) -> Compress:
    options.weight_threshold = 512
    config = cto.OptimizationConfig(global_config=options)
    return lambda model: apply(model, config, **({"joint_compression": True} if joint else {}))


def quantized(dtype: str, *, joint: bool = False, **more: Any) -> Compress:
    return applied(cto.linear_quantize_weights, cto.OpLinearQuantizerConfig(dtype=dtype, **more), joint=joint)


def palettized(bits: int, *, joint: bool = False, **more: Any) -> Compress:
    mode = "kmeans" if "cluster_dim" in more else "uniform"
    return applied(cto.palettize_weights, cto.OpPalettizerConfig(mode=mode, nbits=bits, **more), joint=joint)


def pruned(model: Any) -> Any:
    return applied(cto.prune_weights, cto.OpMagnitudePrunerConfig(target_sparsity=0.6))(model)


def then(*steps: Compress) -> Compress:
    def every(model: Any) -> Any:
        for step in steps:
            model = step(model)
        return model

    return every


BLOCKWISE = {"constexpr_blockwise_shift_scale"}
TABLE = {"constexpr_lut_to_dense"}
GROUPED: dict[str, Any] = {"granularity": "per_grouped_channel", "group_size": 8}
CASES: dict[str, tuple[str, Compress, set[str]]] = {
    "int8": ("iOS16", quantized("int8"), {"constexpr_affine_dequantize"}),
    "uint8 with offsets": ("iOS16", quantized("uint8", mode="linear"), {"constexpr_affine_dequantize"}),
    "table of 4 bits": ("iOS16", palettized(4), TABLE),
    "sparse": ("iOS16", pruned, {"constexpr_sparse_to_dense"}),
    **{
        f"{dtype} in blocks": (
            "iOS18", quantized(dtype, granularity="per_block", block_size=16, mode=mode), BLOCKWISE,
        )
        for dtype, mode in (("int4", "linear_symmetric"), ("uint4", "linear"), ("int8", "linear_symmetric"))
    },
    "blocks along both axes": (
        "iOS18", quantized("int4", granularity="per_block", block_size=[4, 16]), BLOCKWISE,
    ),
    **{f"tables of {bits} bits": ("iOS18", palettized(bits, **GROUPED), TABLE) for bits in (1, 2, 3, 4, 6)},
    "vectors": ("iOS18", palettized(4, cluster_dim=2), TABLE),
    "scales of channels": (
        "iOS18",
        palettized(4, enable_per_channel_scale=True),
        TABLE | BLOCKWISE,
    ),
    "quantized table": (
        "iOS18",
        then(palettized(4, **GROUPED), quantized("int8", joint=True, granularity="per_tensor")),
        TABLE | BLOCKWISE,
    ),
    "sparse table": (
        "iOS18", then(pruned, palettized(2, joint=True)), {"constexpr_lut_to_sparse", "constexpr_sparse_to_dense"},
    ),
    "sparse int8": (
        "iOS18",
        then(pruned, quantized("int8", joint=True)),
        {"constexpr_sparse_blockwise_shift_scale", "constexpr_sparse_to_dense"},
    ),
}  # fmt: skip


def _without_loss(case: str) -> Array:
    """A weight that a compression keeps as it is."""
    r = np.random.default_rng(5)
    match case:
        case "int8":  # from -127 to 127 in each row
            result = r.integers(-127, 128, (ROWS, COLUMNS))
            result[:, 0] = 127
        case "table of 4 bits":  # 16 values at the same distance
            result = r.integers(0, 16, (ROWS, COLUMNS)) - 7.5
        case _:  # 60 % are 0
            result = r.permutation(np.where(np.arange(ROWS * COLUMNS) < 0.6 * ROWS * COLUMNS, 0, 3.25))
    return result.reshape(ROWS, COLUMNS).astype(np.float32)


@pytest.mark.parametrize("case", ["int8", "table of 4 bits", "sparse"])
def test_package_compressed_without_loss_computes_with_its_weight(case: str, tmp_path: Path) -> None:
    target, compress, operations = CASES[case]
    weight = _without_loss(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compress(package(target, weight, ct.PassPipeline.EMPTY)).save(str(tmp_path / "small.mlpackage"))
    small = cir.load(tmp_path / "small.mlpackage")
    assert {op.name.removeprefix("mil.") for op in small.walk() if op.name.startswith("mil.constexpr")} == operations
    result: Any
    (result,) = cir.run(small, {small.main.inputs[0].name: X}).values()
    np.testing.assert_allclose(result, X @ weight.T, rtol=1e-5, atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_compressed_package_computes_what_the_decompressed_one_does(case: str, tmp_path: Path) -> None:
    target, compress, operations = CASES[case]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if case == "vectors":
            oracle("sklearn")
        compressed = compress(package(target))
        compressed.save(str(tmp_path / "small.mlpackage"))
        decompressed: Any = cto.decompress_weights(compressed)
        decompressed.save(str(tmp_path / "large.mlpackage"))
    small, large = cir.load(tmp_path / "small.mlpackage"), cir.load(tmp_path / "large.mlpackage")
    result = {op.name.removeprefix("mil.") for op in small.walk() if op.name.startswith("mil.constexpr")}
    assert result == operations
    name = small.main.inputs[0].name
    expected: Any
    got: Any
    (expected,) = cir.run(large, {name: X}).values()
    (got,) = cir.run(small, {name: X}).values()
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
    lowered = cir.lower(small)
    for opset in (18, 21):
        (converted,) = run_onnx(dumps(core_to_onnx(lowered, opset)), {name: X})
        np.testing.assert_allclose(converted, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "storage", "size"),
    [
        # Four bits for each weight, and a scale of four bytes for each block of sixteen.
        ("int4 in blocks", "int4 blocks of 16", 1024 + 512),
        # Indices of four bits, sixteen entries of four bytes, and a shape of two numbers.
        ("table of 4 bits", "palettized 4 bits", 1024 + 64 + 8),
    ],
)
def test_weights_are_listed_as_they_are_stored(case: str, storage: str, size: int, tmp_path: Path) -> None:
    target, compress, _ = CASES[case]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compress(package(target)).save(str(tmp_path / "small.mlpackage"))
    weights = cir.summarize(cir.load(tmp_path / "small.mlpackage"), with_weights=True).weights
    assert weights is not None
    found = [(w.type, w.parameter_count, w.storage, w.size_bytes) for w in weights if w.storage]
    assert found == [(f"tensor<{ROWS}x{COLUMNS}xf32>", ROWS * COLUMNS, storage, size)]
