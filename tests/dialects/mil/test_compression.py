"""Compressed weights against what coremltools decompresses, and kept compressed in ONNX where it has the form."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.dialects.mil.program import Const, Func, Return
from commonir.ir import tensor
from commonir.ir.data import ArrayData, Data, DeferredData
from commonir.ir.module import Module
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import ELEMENT_TYPES, TensorType, f32
from commonir.passes.lower import lower

from tests.conversions.programs import core_module
from tests.conversions.running import converted, run_onnx
from tests.dialects.core.running import evaluator
from tests.dialects.mil.single_operations import ENGINES, Given, Program, data_of_array, definition_of, narrow
from tests.oracles import oracle

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    oracle("coremltools")
    from coremltools.converters.mil.mil.ops.defs.iOS16 import constexpr_ops
    from coremltools.converters.mil.mil.ops.defs.iOS18 import compression

Array = NDArray[Any]

ENGINE = pytest.mark.parametrize("engine", ENGINES)
POSITIONS = {1: "ui1", 2: "ui2", 3: "ui3", 4: "ui4", 6: "ui6", 8: "ui8"}

EVALUATOR = evaluator()


def random(*key: int) -> np.random.Generator:
    return np.random.default_rng([*key])


def as_theirs(axis: int | None) -> Any:
    """An axis as coremltools takes it."""
    return axis if axis is None else np.int32(axis)


def integers(element: str, array: Array) -> Data:
    """Constant integers, unpacked as numpy holds them."""
    kind = TensorType(ELEMENT_TYPES[element], array.shape)
    plain = ArrayData(kind, array)
    # As read from a file: packed bytes.
    return DeferredData(kind, lambda: ArrayData(kind, _unpacked(plain)))


def _unpacked(data: Data) -> Array:
    from commonir.base.arrays import array_of_bytes  # noqa: PLC0415

    return np.asarray(array_of_bytes(data.buffer(), data.element.name, data.element.bits, data.shape))


class Chain(NamedTuple):
    """Operations one after another, each on earlier results or constants by name, and the expected elements."""

    steps: list[tuple[str, dict[str, Given | str], tuple[str, ...]]]
    expected: Callable[[], Array]
    version: str = "CoreML8"


def weight_program(chain: Chain) -> tuple[Module, Array]:
    """A function that adds the result of a chain to its input, in single precision."""
    block = Block(label=chain.version)
    results: dict[str, Value] = {}
    for name, inputs, outputs in chain.steps:
        definition = definition_of(name, chain.version)
        fields = {f.spelling: f for f in (*definition.layout.inputs, *definition.layout.attributes)}
        arguments: dict[str, object] = {}
        for k, v in inputs.items():
            field = fields[k]
            if isinstance(v, str) and v in results:
                arguments[field.name] = results[v]
            elif field in definition.layout.inputs:
                arguments[field.name] = block.append(Const(val=data_of_array(v))).result
            else:
                data = data_of_array(v)
                kind = field.type
                assert kind is not None
                if kind.from_elements is None or kind.name == "data":
                    arguments[field.name] = data
                else:
                    arguments[field.name] = kind.from_elements(data.shape, data.values())
        op = block.append(definition(**arguments))
        results.update(zip(outputs, op.results, strict=True))
    weight = results[chain.steps[-1][2][-1]]
    expected = chain.expected()
    assert isinstance(weight.type, TensorType)
    x = block.add_argument(tensor(weight.type.element, *expected.shape), "x")
    add = definition_of("add", chain.version)
    block.append(Return((block.append(add(x=x, y=weight)).result,), ("y",)))
    module = Module()
    module.body.append(Func("main", chain.version, (Region([block]),)))
    return lower(module), expected


def lut(bits: int, shape: tuple[int, ...], groups: tuple[int, ...], size: int, axis: int | None, seed: int) -> Chain:
    r = random(seed, bits, size)
    positions = r.integers(0, 1 << bits, shape).astype(np.uint8)
    table = r.standard_normal((*groups, 1 << bits, size)).astype(np.float32)
    inputs: dict[str, Given | str] = {"indices": integers(POSITIONS[bits], positions), "lut": table}
    if axis is not None:
        inputs["vector_axis"] = axis
    expected = lambda: compression.constexpr_lut_to_dense.decompress(positions, table, as_theirs(axis))  # noqa: E731
    return Chain([("constexpr_lut_to_dense", inputs, ("w",))], expected)


def blockwise(element: str, counts: tuple[int, ...], offset: str | None, seed: int, dtype: Any = np.float32) -> Chain:
    r = random(seed, len(counts))
    bits, low = (
        ELEMENT_TYPES[element].bits,
        0 if element.startswith("ui") else -(1 << (ELEMENT_TYPES[element].bits - 1)),
    )
    data = r.integers(low, low + (1 << bits), (4, 6)).astype(np.uint8 if low == 0 else np.int8)
    scale = r.uniform(0.1, 1, counts).astype(dtype)
    inputs: dict[str, Given | str] = {"data": integers(element, data), "scale": scale}
    offsets: Array | None = None
    if offset == "same":
        offsets = r.integers(low, low + (1 << bits), counts).astype(data.dtype)
        inputs["offset"] = integers(element, offsets)
    elif offset is not None:
        offsets = r.uniform(-3, 3, counts).astype(offset)
        inputs["offset"] = offsets
    wide = None if offsets is None else offsets.astype(np.float32)
    decompress = compression.constexpr_blockwise_shift_scale.decompress
    expected = lambda: decompress(data.astype(np.float32), scale.astype(np.float32), wide).astype(dtype)  # noqa: E731
    return Chain([("constexpr_blockwise_shift_scale", inputs, ("w",))], expected)


def sparse_lut(size: int, axis: int | None, seed: int, *, groups: tuple[int, int] = (2, 1)) -> Chain:
    r = random(seed, size)
    mask = r.integers(0, 2, (4, 6)).astype(np.uint8)
    positions = r.integers(0, 4, int(mask.sum())).astype(np.uint8)
    table = r.standard_normal((*groups, 4, size)).astype(np.float32)
    inputs: dict[str, Given | str] = {
        "indices_mask": narrow("ui1", mask),
        "indices_nonzero_data": narrow("ui2", positions),
        "lut": table,
    }
    if axis is not None:
        inputs["vector_axis"] = axis

    def expected() -> Array:
        wide, values = compression.constexpr_lut_to_sparse.decompress(mask, positions, table, as_theirs(axis))
        return np.asarray(compression.constexpr_sparse_to_dense.decompress(values, wide))

    return Chain(
        [
            ("constexpr_lut_to_sparse", inputs, ("mask", "values")),
            ("constexpr_sparse_to_dense", {"nonzero_data": "values", "mask": "mask"}, ("w",)),
        ],
        expected,
    )


def sparse_scaled(seed: int, *, after_lut: bool) -> Chain:
    r = random(seed)
    mask = r.integers(0, 2, (4, 6)).astype(np.uint8)
    values = r.integers(0, 4 if after_lut else 128, int(mask.sum())).astype(np.uint8 if after_lut else np.int8)
    scale, offset = r.uniform(0.1, 1, (2, 3)).astype(np.float32), r.integers(-5, 5, (2, 3)).astype(np.int8)
    table = r.integers(-100, 100, (1, 1, 4, 1)).astype(np.int8)
    scaled: dict[str, Given | str] = {"scale": scale, "offset": offset}
    steps: list[tuple[str, dict[str, Given | str], tuple[str, ...]]] = []
    if after_lut:
        looked: dict[str, Given | str] = {
            "indices_mask": narrow("ui1", mask), "indices_nonzero_data": narrow("ui2", values), "lut": table,
        }  # fmt: skip
        steps.append(("constexpr_lut_to_sparse", looked, ("mask", "values")))
        scaled |= {"data_mask": "mask", "nonzero_data": "values"}
    else:
        scaled |= {"data_mask": narrow("ui1", mask), "nonzero_data": values}
    steps.append(("constexpr_sparse_blockwise_shift_scale", scaled, ("mask again", "scaled")))
    steps.append(("constexpr_sparse_to_dense", {"nonzero_data": "scaled", "mask": "mask again"}, ("w",)))

    def expected() -> Array:
        at = values
        if after_lut:
            at = compression.constexpr_lut_to_sparse.decompress(mask, values, table, None)[1]
        result = compression.constexpr_sparse_blockwise_shift_scale.decompress(mask, at, scale, offset)
        return np.asarray(compression.constexpr_sparse_to_dense.decompress(result[1], result[0]))

    return Chain(steps, expected)


def table_of_tables(seed: int) -> Chain:
    """A table whose entries are compressed themselves, and a scale for each row of what it gives."""
    r = random(seed)
    positions = r.integers(0, 4, (4, 6)).astype(np.uint8)
    entries = r.integers(-128, 128, (2, 1, 4, 1)).astype(np.int8)
    factor, scale = np.full((1, 1, 1, 1), 0.25, np.float32), r.uniform(0.1, 1, (4, 1)).astype(np.float32)

    def expected() -> Array:
        table = compression.constexpr_blockwise_shift_scale.decompress(entries, factor, None)
        result = compression.constexpr_lut_to_dense.decompress(positions, table, None)
        return np.asarray(compression.constexpr_blockwise_shift_scale.decompress(result, scale, None))

    return Chain(
        [
            ("constexpr_blockwise_shift_scale", {"data": entries, "scale": factor}, ("table",)),
            ("constexpr_lut_to_dense", {"indices": narrow("ui2", positions), "lut": "table"}, ("found",)),
            ("constexpr_blockwise_shift_scale", {"data": "found", "scale": scale}, ("w",)),
        ],
        expected,
    )


def older(name: str, seed: int) -> Chain:
    """The operations of iOS 16, whose parameters are attributes."""
    r = random(seed)
    shape = np.array([3, 5], np.uint32)
    if name == "constexpr_affine_dequantize":
        data, zero = r.integers(0, 256, (3, 5)).astype(np.uint8), r.integers(0, 256, 3).astype(np.uint8)
        scale = r.uniform(0.1, 1, 3).astype(np.float32)
        inputs: dict[str, Given | str] = {"quantized_data": data, "zero_point": zero, "scale": scale, "axis": 0}
        expected = lambda: constexpr_ops.constexpr_affine_dequantize.decompress(data, zero, scale, 0)  # noqa: E731
    elif name == "constexpr_lut_to_dense":
        table = r.standard_normal(64).astype(np.float32)
        packed = r.integers(0, 256, (15 * 6 + 7) // 8).astype(np.uint8)
        packed[-1] &= 0b11
        inputs = {"indices": packed, "lut": table, "shape": shape}
        expected = lambda: constexpr_ops.constexpr_lut_to_dense.decompress(table, packed, shape)  # noqa: E731
    else:
        mask = r.integers(0, 256, 2).astype(np.uint8)
        mask[-1] &= 0x7F
        values = r.standard_normal(int(np.unpackbits(mask).sum())).astype(np.float32)
        inputs = {"nonzero_data": values, "mask": mask, "shape": shape}
        expected = lambda: constexpr_ops.constexpr_sparse_to_dense.decompress(values, mask, shape)  # noqa: E731
    return Chain([(name, inputs, ("w",))], expected, "CoreML6")


CHAINS: dict[str, Chain] = {
    **{f"table of {bits} bits": lut(bits, (4, 6), (1, 1), 1, None, 1) for bits in POSITIONS},
    "tables of groups": lut(4, (4, 6), (2, 3), 1, None, 2),
    "vectors along the first axis": lut(3, (4, 6), (2, 1), 2, 0, 3),
    "vectors along the last axis": lut(6, (4, 6), (1, 3), 4, -1, 4),
    **{f"scale for each {e}": blockwise(e, (1, 1), None, 5) for e in ("i8", "ui8", "i4", "ui4")},
    **{f"scale for each row of {e}": blockwise(e, (4, 1), "same", 6) for e in ("i8", "ui8", "i4", "ui4")},
    **{f"blocks of {e}": blockwise(e, (4, 2), "same", 7) for e in ("i8", "ui8", "i4", "ui4")},
    "blocks along both axes": blockwise("i4", (2, 3), "same", 8),
    "offsets that are floats": blockwise("ui4", (4, 3), "float32", 9),
    "half precision": blockwise("i4", (4, 2), None, 10, np.float16),
    "sparse table": sparse_lut(1, None, 11),
    "sparse vectors": sparse_lut(2, 0, 12),
    "sparse vectors of groups": sparse_lut(3, 1, 13, groups=(2, 2)),
    "sparse scales": sparse_scaled(14, after_lut=False),
    "sparse table, scales": sparse_scaled(15, after_lut=True),
    "table of tables, scales": table_of_tables(16),
    **{name: older(f"constexpr_{name}", 17) for name in ("affine_dequantize", "lut_to_dense", "sparse_to_dense")},
}


@ENGINE
@pytest.mark.parametrize("name", CHAINS)
def test_weight_is_what_coremltools_decompresses(name: str, engine: str) -> None:
    module, expected = weight_program(CHAINS[name])
    (result,) = ENGINES[engine].prepare(module).run({"x": np.zeros(expected.shape, expected.dtype)}).values()
    assert result.dtype == expected.dtype
    np.testing.assert_allclose(result, expected, rtol=1e-3 if expected.dtype == np.float16 else 1e-6)


@pytest.mark.parametrize("opset", [18, 20, 21, 23])
@pytest.mark.parametrize("name", CHAINS)
def test_converted_weight_is_what_coremltools_decompresses(name: str, opset: int) -> None:
    module, expected = weight_program(CHAINS[name])
    (result,) = run_onnx(converted(module, opset), {"x": np.zeros(expected.shape, expected.dtype)})
    np.testing.assert_allclose(result, expected, rtol=2e-3 if expected.dtype == np.float16 else 1e-6)


@pytest.mark.parametrize(
    ("name", "opset", "operators", "initializers"),
    [
        ("scale for each i8", 18, ["Add", "DequantizeLinear"], {"INT8", "FLOAT"}),
        ("scale for each row of ui8", 18, ["Add", "DequantizeLinear"], {"UINT8", "FLOAT"}),
        ("scale for each row of i4", 18, ["Add"], {"FLOAT"}),
        ("scale for each row of i4", 21, ["Add", "DequantizeLinear"], {"INT4", "FLOAT"}),
        ("blocks of ui8", 18, ["Add"], {"FLOAT"}),
        ("blocks of ui4", 21, ["Add", "DequantizeLinear"], {"UINT4", "FLOAT"}),
        ("blocks along both axes", 21, ["Add"], {"FLOAT"}),
        ("offsets that are floats", 21, ["Add"], {"FLOAT"}),
        ("half precision", 21, ["Add", "DequantizeLinear"], {"INT4", "FLOAT16"}),
        ("table of 8 bits", 18, ["Add", "Cast", "Gather"], {"UINT8", "FLOAT"}),
        ("tables of groups", 21, ["Add"], {"FLOAT"}),
        ("sparse table, scales", 21, ["Add"], {"FLOAT"}),
        ("affine_dequantize", 18, ["Add", "DequantizeLinear"], {"UINT8", "FLOAT"}),
    ],
)
def test_weight_stays_compressed_where_onnx_can_say_it(
    name: str, opset: int, operators: list[str], initializers: set[str]
) -> None:
    onnx = oracle("onnx")
    model = onnx.load_from_string(converted(weight_program(CHAINS[name])[0], opset))
    assert sorted(n.op_type for n in model.graph.node) == operators
    assert {onnx.TensorProto.DataType.Name(t.data_type) for t in model.graph.initializer} == initializers


@pytest.mark.parametrize("scale", [(), (1, 1), (4, 1), (2, 3), (1, 6)])
@pytest.mark.parametrize("offset", [(), (1, 1), (4, 1), (2, 1), (4, 3), (2, 2)])
def test_scales_and_offsets_may_have_blocks_of_their_own(scale: tuple[int, ...], offset: tuple[int, ...]) -> None:
    r = random(18, len(scale), len(offset))
    data = r.integers(-128, 128, (4, 6)).astype(np.int8)
    factors, offsets = r.uniform(0.1, 1, scale).astype(np.float32), r.integers(-9, 9, offset).astype(np.int8)

    def spread(values: Array) -> Array:
        wide = values.reshape(values.shape or (1, 1))
        for axis, size in enumerate(data.shape):
            wide = np.repeat(wide, size // wide.shape[axis], axis)
        return wide

    op = core.Dequantize(*[core.constant(data_of_array(v)) for v in (data, factors, offsets)])
    known = op.constant_data()
    assert known is not None
    expected = (data.astype(np.float32) - spread(offsets)) * spread(factors)
    np.testing.assert_allclose(np.asarray(known.array(), np.float32), expected, rtol=1e-6)
    np.testing.assert_allclose(EVALUATOR.apply(op, (data, factors, offsets))[0], expected, rtol=1e-6)


@pytest.mark.parametrize("opset", [18, 21])
@pytest.mark.parametrize("offset", [(), (4, 1), (4, 3)])
@pytest.mark.parametrize("scale", [(), (4, 1), (1, 6)])
def test_scales_and_offsets_of_different_shapes_reach_onnx(
    scale: tuple[int, ...], offset: tuple[int, ...], opset: int
) -> None:
    r = random(19, len(scale), len(offset))
    data = r.integers(-128, 128, (4, 6)).astype(np.int8)
    inputs = (data, r.uniform(0.1, 1, scale).astype(np.float32), r.integers(-9, 9, offset).astype(np.int8))
    expected = EVALUATOR.apply(core.Dequantize(*[core.constant(data_of_array(v)) for v in inputs]), inputs)
    module = core_module(lambda: core.dequantize(*[core.constant(data_of_array(v)) for v in inputs]), {})
    np.testing.assert_allclose(run_onnx(converted(module, opset), {})[0], expected[0], rtol=1e-6)


def test_lowering_keeps_the_compressed_form() -> None:
    module, _ = weight_program(CHAINS["blocks of i4"])
    names = [op.name for op in module.main.body.operations]
    assert "core.dequantize" in names
    stored = [op.value.element.name for op in module.walk() if isinstance(op, core.Constant)]
    assert stored == ["i4", "f32", "i4"]


def test_values_that_do_not_fit_the_mask_are_reported_when_they_are_read() -> None:
    mask, values = core.constant(narrow("ui1", [1, 0])), core.constant(data_of_array(np.zeros(2, np.float32)))
    data = core.SparseToDense(mask, values).constant_data()
    assert data is not None
    assert data.type is tensor(f32, 2)
    with pytest.raises(DiagnosticError, match="sparse_to_dense: 2 values for 1 bits that are set"):
        data.array()


def test_position_outside_of_its_table_is_reported_when_it_is_read() -> None:
    positions = core.constant(data_of_array(np.array([1, 7], np.uint8)))
    tables = core.constant(data_of_array(np.zeros((1, 4, 1), np.float32)))
    data = core.TableLookup(positions, tables).constant_data()
    assert data is not None
    with pytest.raises(DiagnosticError, match="table_lookup: position 7 in a table of 4 entries"):
        data.array()


@ENGINE
@pytest.mark.parametrize("per_filter", [False, True])
def test_quantized_convolution_is_that_of_the_numbers_that_its_weight_stands_for(per_filter: bool, engine: str) -> None:
    scale, offset = ([0.5, 2], [-1, 3]) if per_filter else (0.5, -1)
    inputs: dict[str, Given] = {
        "x": np.array([[[1, 2, 3, 4]]], np.float32), "weight": np.array([[[2, 4]], [[0, 1]]], np.uint8),
        "bias": np.array([1, 10], np.uint8), "quantization_type": "linear",
        "quant_scale": np.array(scale, np.float32), "quant_bias": np.array(offset, np.float32),
    }  # fmt: skip
    (result,) = Program(definition_of("conv_quantized", "CoreML5"), inputs).results(engine)
    # Weights of the first filter: 0 and 1. Of the second: -1 and -0.5, or 3 and 5.
    second = [3 * a + 5 * b + 10 if per_filter else -a - b / 2 + 10 for a, b in ((1, 2), (2, 3), (3, 4))]
    assert result.tolist() == [[[3, 4, 5], second]]
