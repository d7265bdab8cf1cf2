"""Dims of Core ML programs that become dynamic, as coremltools writes flexible inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError

from tests.oracles import oracle

ROOT = Path(__file__).parents[3]
MOBILENET = ROOT / "examples" / "mobilenet.mlpackage"
KINDS = ROOT / "tests" / "models" / "kinds"


def test_a_fixed_dim_takes_a_range(tmp_path: Path) -> None:
    module = cir.load(MOBILENET)
    edited = cir.edit(module, dims={"image.2": (32, 128)})
    cir.save(edited, tmp_path / "flexible.mlpackage")
    read = cir.load(tmp_path / "flexible.mlpackage")
    port = read.main.input_ports["image"]
    assert (port.shape, [str(r) for r in port.ranges]) == ((1, 3, 96, 96), ["1..16", "3", "32..128", "96"])
    assert [op.name for op in read.nested()] == [op.name for op in module.nested()]
    assert not [d for d in cir.verify(read) if d.is_error]
    image = np.random.default_rng(0).random((1, 3, 40, 96), np.float32)
    assert cir.run(read, {"image": image})["logits"].shape == (1, 100)


@pytest.mark.slow
def test_a_range_does_not_change_results(tmp_path: Path) -> None:
    module = cir.load(MOBILENET)
    cir.save(cir.edit(module, dims={"image.2": (32, 128)}), tmp_path / "flexible.mlpackage")
    inputs = {"image": np.random.default_rng(0).random((1, 3, 96, 96), np.float32)}
    read = cir.load(tmp_path / "flexible.mlpackage")
    np.testing.assert_array_equal(cir.run(read, inputs)["logits"], cir.run(module, inputs)["logits"])


@pytest.mark.parametrize(
    ("model", "place", "bounds", "message"),
    [
        (MOBILENET, "image.1", (1, 4), "'image_1' cannot become dynamic: mil.conv works for 3 only"),
        (MOBILENET, "image.2", (8, 4), "8..4 is not a range of sizes"),
        (MOBILENET, "image.2", (1, 4), "its size by default, 96, is outside of 1..4"),
        (KINDS / "enumerated.mlpackage", "x.0", (1, 16), "the program lists the shapes that it may have"),
        (KINDS / "image_rgb.mlpackage", "image.2", (1, 99), "the program has no place for a range of it"),
    ],
)
def test_a_dim_that_cannot_be_dynamic_is_refused(
    model: Path, place: str, bounds: tuple[int, int], message: str
) -> None:
    module = cir.load(model)
    place = f"{next(iter(module.main.inputs)).name}.{place.partition('.')[2]}"
    with pytest.raises(DiagnosticError) as caught:
        cir.edit(module, dims={place: bounds})
    found = caught.value.diagnostics[0]
    assert (found.code.id, message in found.message) == ("E0603", True), found.message


def test_a_name_needs_a_range() -> None:
    with pytest.raises(DiagnosticError, match=r"give a range of sizes: `x\.0=1\.\.16`"):
        cir.edit(cir.load(KINDS / "classifier_texts.mlpackage"), dims={"x.0": "batch"})


@pytest.mark.slow  # coremltools converts for seconds
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_package_is_that_of_coremltools_with_range_dims(tmp_path: Path) -> None:
    oracle("coremltools")
    import coremltools  # noqa: PLC0415  an oracle
    from coremltools.converters.mil import Builder  # noqa: PLC0415
    from coremltools.converters.mil.mil import get_new_symbol  # noqa: PLC0415

    ct: Any = coremltools
    mb: Any = Builder

    def written(name: str, shape: tuple[object, ...], dims: tuple[object, ...]) -> Path:
        @mb.program(input_specs=[mb.TensorSpec(shape)])
        def program(x: object) -> object:
            y = mb.conv(x=x, weight=np.ones((4, 3, 3, 3), np.float32), pad_type="same", name="conv")
            return mb.relu(x=y, name="out")

        model = ct.convert(
            program,
            source="milinternal",
            convert_to="mlprogram",
            minimum_deployment_target=ct.target.iOS15,
            compute_precision=ct.precision.FLOAT32,
            inputs=[ct.TensorType("x", shape=ct.Shape(dims))],
        )
        model.save(str(tmp_path / f"{name}.mlpackage"))
        return tmp_path / f"{name}.mlpackage"

    fixed = written("fixed", (1, 3, 8, 8), (1, 3, 8, 8))
    ranged = ct.RangeDim(1, 16, default=1), 3, ct.RangeDim(4, 16, default=8), 8
    flexible = written("flexible", (get_new_symbol(), 3, get_new_symbol(), 8), ranged)
    cir.save(cir.edit(cir.load(fixed), dims={"x.0": (1, 16), "x.2": (4, 16)}), tmp_path / "edited.mlpackage")
    expected, found = [
        ct.models.MLModel(str(path), skip_model_load=True).get_spec()
        for path in (flexible, tmp_path / "edited.mlpackage")
    ]
    assert found.description.input == expected.description.input
    assert found.description.output == expected.description.output
    types = [
        [
            o.type
            for op in next(iter(spec.mlProgram.functions["main"].block_specializations.values())).operations
            for o in op.outputs
        ]
        for spec in (found, expected)
    ]
    assert types[0] == types[1]
