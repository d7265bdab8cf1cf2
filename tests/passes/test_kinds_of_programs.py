"""Edits and parts of every kind of Core ML program: what is written is one that coremltools and we read the same."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import commonir as cir
from commonir.base.codes import IMPOSSIBLE_EDIT
from commonir.dialects.mil.description import description_of
from commonir.ir.interface import ColorSpace
from commonir.ir.module import Module

from tests.faults import MODELS
from tests.oracles import oracle


def kind(name: str) -> Module:
    return cir.load(MODELS / "kinds" / f"{name}.mlpackage")


@pytest.fixture
def coremltools() -> ModuleType:
    return oracle("coremltools")


def saved(program: Module, folder: Path) -> Module:
    """The program written, checked and read again."""
    path = folder / "m.mlpackage"
    cir.save(program, path)
    module, diagnostics = cir.check(path)
    assert diagnostics == []
    assert module is not None
    return module


# -- several functions


def test_edit_of_one_function_leaves_the_others(tmp_path: Path, coremltools: ModuleType) -> None:
    program = kind("functions")
    edited = saved(cir.edit(program, rename={"x": "value", "y": "twice"}, function="double"), tmp_path)
    x = np.arange(12, dtype=np.float16)
    double, triple = (cir.run(program, {"x": x}, function=name)["y"].tolist() for name in ("double", "triple"))
    assert double != triple
    assert cir.run(edited, {"value": x}, function="double")["twice"].tolist() == double
    assert cir.run(edited, {"x": x}, function="triple")["y"].tolist() == triple
    spec = coremltools.utils.load_spec(str(tmp_path / "m.mlpackage"))
    inputs = {f.name: [i.name for i in f.input] for f in spec.description.functions}
    assert inputs == {"double": ["value"], "triple": ["x"]}
    assert spec.description.defaultFunctionName == program.entry


def test_part_of_one_function_is_a_model_of_that_function(tmp_path: Path, coremltools: ModuleType) -> None:
    part = saved(cir.extract(kind("functions"), ["mul_0"], ["y"], function="triple"), tmp_path)
    assert list(part.functions) == ["triple"]
    spec = coremltools.utils.load_spec(str(tmp_path / "m.mlpackage"))
    assert [f.name for f in spec.description.functions] == ["triple"]
    assert spec.description.defaultFunctionName == "triple"
    assert list(spec.mlProgram.functions) == ["triple"]


# -- flexible shapes


def test_listed_shapes_of_several_inputs_are_fixed_together(tmp_path: Path) -> None:
    fixed = saved(cir.edit(kind("enumerated"), dims={"a.1": 4}), tmp_path)
    assert [str(v.type) for v in fixed.inputs] == ["tensor<1x4xf32>", "tensor<5x1xf32>"]
    assert [p.shapes for p in fixed.main.input_ports.values()] == [(), ()]


@pytest.mark.parametrize("dims", [{"a.1": 4, "b.0": 3}, {"a.1": 3}])
def test_sizes_that_no_listed_shapes_have_are_refused(dims: dict[str, int]) -> None:
    with pytest.raises(cir.DiagnosticError) as caught:
        cir.edit(kind("enumerated"), dims=dims)
    assert [d.code for d in caught.value.diagnostics] == [IMPOSSIBLE_EDIT]


def test_image_of_listed_sizes_becomes_one_of_a_single_size(tmp_path: Path) -> None:
    fixed = saved(cir.edit(kind("image_sizes"), dims={"picture.2": 4}), tmp_path)
    (port,) = fixed.main.input_ports.values()
    assert (port.image, port.shape, port.shapes) == (ColorSpace.RGB, (1, 3, 4, 8), ())
    assert str(fixed.inputs[0].type) == "tensor<1x3x4x8xf32>"


# -- states


def test_states_can_be_renamed(tmp_path: Path, coremltools: ModuleType) -> None:
    edited = saved(cir.edit(kind("accumulator"), rename={"acc": "total"}), tmp_path)
    spec = coremltools.utils.load_spec(str(tmp_path / "m.mlpackage"))
    assert [f.name for f in spec.description.state] == ["total"]
    state = cir.State()
    one = np.ones((2, 3), np.float16)
    results = [cir.run(edited, {"x": one}, state=state)["y"].tolist() for _ in range(2)]
    assert results[1] == (2 * np.asarray(results[0])).tolist()
    assert list(state) == ["total"]


def test_dropped_output_leaves_what_changes_a_state(tmp_path: Path) -> None:
    less = saved(cir.edit(kind("cache"), drop_outputs=["n"]), tmp_path)
    state = cir.State()
    inputs = {"x": np.ones((1, 2), np.float16), "at": np.zeros(1, np.int32)}
    for _ in range(3):
        cir.run(less, inputs, state=state)
    assert state["count"].tolist() == [3.0]


def test_part_that_reads_a_state_also_writes_it(tmp_path: Path) -> None:
    part = saved(cir.extract(kind("accumulator"), [], ["read_state_0"]), tmp_path)
    state = cir.State()
    inputs = {"x": np.ones((2, 3), np.float16)}
    results = [float(cir.run(part, inputs, state=state)["read_state_0"][0, 0]) for _ in range(3)]
    assert results == [0.0, 1.0, 2.0]


def test_programs_with_states_are_compared_from_their_start() -> None:
    program = kind("cache")
    assert cir.compare(program, cir.edit(program, add_outputs=["add_0"]), values="all").is_within


# -- images, optional inputs, classifiers


@pytest.mark.parametrize("name", ["image_rgb", "image_bgr", "image_grayscale", "image_grayscale_half"])
def test_images_stay_images(tmp_path: Path, name: str) -> None:
    program = kind(name)
    inputs, outputs = program.main.input_ports, program.main.output_ports
    new = {old: f"{old}_new" for old in (*inputs, *outputs)}
    renamed = saved(cir.edit(program, rename=new), tmp_path)
    assert renamed.main.input_ports == {f"{k}_new": p for k, p in inputs.items()}
    assert renamed.main.output_ports == {f"{k}_new": p for k, p in outputs.items()}
    assert description_of(renamed) is not None


def test_default_of_an_optional_input_stays(tmp_path: Path) -> None:
    renamed = saved(cir.edit(kind("optional"), rename={"scale": "factor"}), tmp_path)
    x = np.array([1, 2, 3], np.float32)
    assert cir.run(renamed, {"x": x})["y"].tolist() == [2.5, 5.0, 7.5]


def test_classifier_keeps_its_labels_under_new_names(tmp_path: Path) -> None:
    program = kind("classifier_texts")
    renamed = saved(cir.edit(program, rename={"classLabel": "animal", "classLabel_probs": "chances"}), tmp_path)
    inputs = cir.random_inputs(program)
    before, after = cir.run(program, inputs), cir.run(renamed, inputs)
    assert after["animal"].tolist() == before["classLabel"].tolist()
    np.testing.assert_array_equal(after["chances"], before["classLabel_probs"])


# -- the text form

TEXT = """program(1.0)
{
    func main<ios17>(tensor<fp32, [?, 4]> x) [FlexibleShapeInformation = tuple<tuple<string, dict<string, \
tensor<int32, [?]>>>, tuple<string, dict<string, list<tensor<int32, [2]>, ?>>>>((("DefaultShapes", {{"x", [1, 4]}}), \
("RangeDims", {{"x", [[1, 8], [4, 4]]}})))] {
            tensor<fp32, [?, 4]> y = relu(x = x);
        } -> (y);
}
"""


def text_program(folder: Path) -> Module:
    path = folder / "model.mil"
    path.write_text(TEXT)
    return cir.load(path)


def test_flexible_shapes_of_the_text_form_follow_a_new_name(tmp_path: Path) -> None:
    edited = cir.edit(text_program(tmp_path), rename={"x": "value", "y": "out"})
    cir.save(edited, tmp_path / "edited.mil")
    text = (tmp_path / "edited.mil").read_text()
    assert '{"value", [1, 4]}' in text
    assert '{"value", [[1, 8], [4, 4]]}' in text
    assert '"x"' not in text
    (port,) = cir.load(tmp_path / "edited.mil").main.input_ports.values()
    assert [(r.lower, r.upper) for r in port.ranges] == [(1, 8), (4, 4)]


def test_flexible_shapes_of_the_text_form_that_would_no_longer_hold_are_refused(tmp_path: Path) -> None:
    with pytest.raises(cir.DiagnosticError, match="FlexibleShapeInformation would no longer hold"):
        cir.edit(text_program(tmp_path), dims={"x.0": 2})


# -- what cannot be changed


@pytest.mark.parametrize("name", ["pipeline", "detector", "specializations"])
def test_interface_that_cannot_be_changed_is_refused_and_metadata_can(tmp_path: Path, name: str) -> None:
    program = kind(name)
    for change in (
        lambda: cir.edit(program, rename={program.inputs[0].name: "other"}),
        lambda: cir.extract(program, [], [program.main.output_names[0]]),
    ):
        with pytest.raises(cir.DiagnosticError) as caught:
            change()
        assert [d.code for d in caught.value.diagnostics] == [IMPOSSIBLE_EDIT]
    about = saved(cir.edit(program, metadata={"author": "A. Author"}), tmp_path)
    assert cir.summarize(about).metadata["author"] == "A. Author"
