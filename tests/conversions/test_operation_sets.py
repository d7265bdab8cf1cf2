"""Core ML programs in another operation set: every operation that the set has stays as it is."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import commonir as cir
from commonir.base.diagnostics import Diagnostics
from commonir.dialects.mil import DIALECT
from commonir.ir.module import Module

from tests.conformance.samples import read_sample, worst_error

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "tests" / "models"


def _operations(module: Module) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Returns name, operands and results of each operation; functions are left out."""
    return [
        (op.name, tuple([v.name for v in op.operands]), tuple([r.name for r in op.results]))
        for op in module.main.body.operations
    ]


@pytest.mark.parametrize("target", ["iOS16", "macOS14", "CoreML8", "watchOS10", "tvOS17"])
def test_operations_that_a_newer_set_has_stay(target: str) -> None:
    module = cir.load(ROOT / "examples" / "mobilenet.mlpackage")
    assert _operations(cir.convert(module, "coreml", target=target)) == _operations(module)


def test_dims_are_set_without_other_changes() -> None:
    module = cir.load(ROOT / "examples" / "mobilenet.mlpackage")
    result = cir.convert(module, "coreml", dims={"image_0": 1})
    assert _operations(result) == _operations(module)
    assert [str(v.type) for v in result.inputs] == ["tensor<1x3x96x96xf32>"]


# The operations that the iOS 18 operation set added, by the "since" of the MIL operation reference.
@pytest.mark.slow_cases("gpt2_attention_fp32-*")
@pytest.mark.parametrize(
    ("model", "target", "replaced"),
    [
        ("gpt2_attention_fp32", "iOS15", {"mil.scaled_dot_product_attention"}),
        ("slicing_iOS18", "iOS17", {"mil.slice_update"}),
        ("activation_iOS17", "iOS16", set[str]()),
    ],
)
def test_only_operations_that_an_older_set_lacks_are_replaced(model: str, target: str, replaced: set[str]) -> None:
    module = cir.load(MODELS / model / "model.mlpackage")
    notes = Diagnostics()
    result = cir.convert(module, "coreml", target=target, findings=notes)
    before = Counter(op.name for op in module.nested())
    after = Counter(op.name for op in result.nested())
    ignored = {"mil.const", "mil.literal"}
    assert {name for name, count in before.items() if after[name] < count} - ignored == replaced
    version = result.main.body.label
    assert all(DIALECT.find(name, version) is not None for name in after if name.startswith("mil."))
    assert not [d for d in cir.verify(result) if d.is_error]
    assert {d.message.partition(" ")[0] for d in notes} == replaced
    assert cir.compare(module, result, rtol=1e-5, atol=1e-5, values="all").is_within


@pytest.mark.parametrize(
    ("model", "message", "help"),
    [
        ("accumulator", "states need iOS 18 / macOS 15, and the target is iOS 17 / macOS 14", "--target iOS18"),
        ("functions", "several functions need iOS 18 / macOS 15, and the target is iOS 17", "--function NAME"),
        ("enumerated", "lists of shapes for several inputs need iOS 18 / macOS 15", "--set-dim"),
    ],
)
def test_missing_feature_is_one_message_with_its_system(model: str, message: str, help: str) -> None:
    module = cir.load(MODELS / "kinds" / f"{model}.mlpackage")
    with pytest.raises(cir.DiagnosticError) as caught:
        cir.convert(module, "coreml", target="iOS17")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message.startswith(message)
    assert help in (diagnostic.help or "")


def test_results_in_another_set_are_those_of_torch() -> None:
    sample = read_sample(MODELS / "slicing_iOS18")
    result = cir.convert(cir.load(sample.package), "coreml", target="iOS17")
    got = {case: cir.run(result, inputs) for case, inputs in sample.inputs.items()}
    assert worst_error(got, sample.expected) <= sample.tolerance


@pytest.mark.slow
def test_results_in_another_set_are_those_of_the_package() -> None:
    module = cir.load(ROOT / "examples" / "mobilenet.mlpackage")
    inputs = dict(np.load(ROOT / "examples" / "mobilenet_inputs.npz"))
    expected = np.load(ROOT / "examples" / "mobilenet_outputs.npz")
    result = cir.run(cir.convert(module, "coreml", target="iOS17"), inputs)
    for name, values in result.items():
        np.testing.assert_allclose(np.asarray(values, np.float32), expected[name], rtol=1e-3, atol=1e-3)


def test_one_function_stays_as_it_is(tmp_path: Path) -> None:
    module = cir.load(MODELS / "kinds" / "functions.mlpackage")
    only = cir.convert(module, "coreml", function="triple")
    assert list(only.functions) == ["main"]
    assert _names_of(only) == [[v.name for v in op.results] for op in module.functions["triple"].body.operations]
    assert (only.main.input_ports, only.main.output_ports) == (
        module.functions["triple"].input_ports,
        module.functions["triple"].output_ports,
    )
    # Written, it is the program of a model without functions.
    cir.save(only, tmp_path / "triple.mlpackage")
    again = cir.load(tmp_path / "triple.mlpackage")
    x = {"x": np.arange(12, dtype=np.float16)}
    np.testing.assert_array_equal(cir.run(again, x)["y"], cir.run(module, x, function="triple")["y"])
    with pytest.raises(cir.DiagnosticError, match="no function 'tripel'"):
        cir.convert(module, "coreml", function="tripel")


def _names_of(module: Module) -> list[list[str]]:
    return [[v.name for v in op.results] for op in module.main.body.operations]


def test_inputs_and_outputs_of_half_precision_are_cast_for_ios_15() -> None:
    module = cir.load(MODELS / "kinds" / "functions.mlpackage")
    notes = Diagnostics()
    older = cir.convert(module, "coreml", function="double", target="iOS15", findings=notes)
    assert [d.message for d in notes] == [
        "the input 'x' of 'main' changes from f16 to f32",
        "the output 'y' of 'main' changes from f16 to f32",
    ]
    names = [op.name for op in older.main.body.operations if op.name != "mil.const"]
    assert names == ["mil.cast", "mil.mul", "mil.mul", "mil.cast", "mil.return"]
    assert [str(v.type) for v in (*older.inputs, *older.outputs)] == ["tensor<12xf32>"] * 2
    assert not [d for d in cir.verify(older) if d.is_error]
    x = np.arange(12)
    found = cir.run(older, {"x": x.astype(np.float32)})["y"]
    np.testing.assert_array_equal(found, cir.run(module, {"x": x.astype(np.float16)}, function="double")["y"])


def test_ranges_change_nothing_but_the_description() -> None:
    module = cir.load(ROOT / "examples" / "mobilenet.mlpackage")
    result = cir.convert(module, "coreml", ranges={"image_0": (2, 4)})
    assert _operations(result) == _operations(module)
    port = result.main.input_ports["image"]
    assert (port.shape, str(port.ranges[0])) == ((2, 3, 96, 96), "2..4")
    with pytest.raises(cir.DiagnosticError, match="no input has a dimension 'batch'"):
        cir.convert(module, "coreml", ranges={"batch": (2, 4)})


def test_an_operation_set_that_nobody_chose_stays() -> None:
    """A way through the core would otherwise choose the oldest set that has all operations."""
    package = cir.load(MODELS / "kinds" / "functions.mlpackage")
    kept = cir.convert(cir.convert(package, "coreml", function="double"), "coreml", states={"x": "y"})
    assert (kept.main.operation_set, kept.outputs) == ("CoreML8", ())
