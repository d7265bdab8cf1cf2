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
    assert cir.compare(module, result, rtol=1e-6, atol=1e-6, values="all").is_within


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


def test_results_in_another_set_are_those_of_the_package() -> None:
    module = cir.load(ROOT / "examples" / "mobilenet.mlpackage")
    inputs = dict(np.load(ROOT / "examples" / "mobilenet_inputs.npz"))
    expected = np.load(ROOT / "examples" / "mobilenet_outputs.npz")
    result = cir.run(cir.convert(module, "coreml", target="iOS17"), inputs)
    for name, values in result.items():
        np.testing.assert_allclose(np.asarray(values, np.float32), expected[name], rtol=1e-3, atol=1e-3)
