"""States of Core ML as inputs and outputs of ONNX, and pairs of those as states."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

import commonir as cir
from commonir.base.diagnostics import DiagnosticError, Diagnostics
from commonir.ir.module import Module
from commonir.ir.types import StateType

from tests.first_hour.models import write_models

MODELS = Path(__file__).parents[1] / "models"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Module:
    """A package of coremltools: the state `acc` adds up x."""
    folder = tmp_path_factory.mktemp("states")
    write_models("accumulator.mlpackage", folder)
    return cir.load(folder / "accumulator.mlpackage")


@pytest.fixture(scope="module")
def model() -> Module:
    """present = past + x, y = present * x, and outputs of other types."""
    floats = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [
            helper.make_node("Add", ["x", "past"], ["present"]),
            helper.make_node("Mul", ["present", "x"], ["y"]),
            helper.make_node("Flatten", ["y"], ["flat"], axis=0),
        ],
        "g",
        [helper.make_tensor_value_info(name, floats, [2, 3]) for name in ("x", "past")],
        [
            helper.make_tensor_value_info("y", floats, [2, 3]),
            helper.make_tensor_value_info("present", floats, [2, 3]),
            helper.make_tensor_value_info("flat", floats, [1, 6]),
        ],
    )
    built = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    return cir.loads(built.SerializeToString(), format="onnx")


def _interface(module: Module) -> tuple[list[str], tuple[str, ...], list[str]]:
    """The names of inputs, outputs and states."""
    states = [v.name for v in module.main.inputs if isinstance(v.type, StateType)]
    return [v.name for v in module.main.inputs if v.name not in states], module.main.output_names, states


def test_a_state_returns_from_onnx(package: Module) -> None:
    file = cir.loads(cir.dumps(cir.convert(package, "onnx")), format="onnx")
    assert _interface(file) == (["x", "acc"], ("y", "acc_out"), [])
    notes = Diagnostics()
    again = cir.convert(file, "coreml", findings=notes)
    assert _interface(again) == _interface(package) == (["x"], ("y",), ["acc"])
    assert [d.message for d in notes] == ["the input 'acc' and the output 'acc_out' become the state 'acc'"]
    before, after = cir.State(), cir.State()
    for n in range(3):
        x = {"x": np.full((2, 3), n + 0.5, np.float16)}
        found, expected = cir.run(again, x, state=after), cir.run(package, x, state=before)
        np.testing.assert_array_equal(found["y"], expected["y"])
    # It need not be written in between.
    assert _interface(cir.convert(cir.convert(package, "onnx"), "coreml")) == _interface(package)
    # A system without states has what they hold as inputs and outputs.
    assert _interface(cir.convert(file, "coreml", target="iOS17")) == (["x", "acc"], ("y", "acc_out"), [])


def test_inputs_and_outputs_of_any_model_become_states(model: Module, tmp_path: Path) -> None:
    notes = Diagnostics()
    built = cir.convert(model, "coreml", states={"past": "present"}, findings=notes)
    cir.save(built, tmp_path / "sum.mlpackage")
    package = cir.load(tmp_path / "sum.mlpackage")
    assert _interface(package) == (["x"], ("y", "flat"), ["past"])
    assert [d.message for d in notes] == [
        "the input 'past' and the output 'present' become the state 'past'",
        "the state 'past' changes from f32 to f16: Core ML has no others",
    ]
    state = cir.State()
    for expected in (1, 2, 3):
        found = cir.run(package, {"x": np.ones((2, 3), np.float32)}, state=state)
        np.testing.assert_array_equal(found["y"], np.full((2, 3), expected))


@pytest.mark.slow  # coremltools takes seconds to load
def test_coremltools_reads_the_state(model: Module, tmp_path: Path) -> None:
    models = pytest.importorskip("coremltools").models
    cir.save(cir.convert(model, "coreml", states={"past": "present"}), tmp_path / "sum.mlpackage")
    (state,) = models.MLModel(str(tmp_path / "sum.mlpackage"), skip_model_load=True).get_spec().description.state
    array = state.type.stateType.arrayType
    assert (state.name, list(array.shape), array.dataType) == ("past", [2, 3], array.FLOAT16)


@pytest.mark.parametrize(
    ("states", "code", "message"),
    [
        ({"pas": "present"}, "E0401", "'g' has no input 'pas' to be a state"),
        ({"past": "presen"}, "E0401", "'g' has no output 'presen' to be a state"),
        (
            {"past": "flat"},
            "E0601",
            "the input 'past' of tensor<2x3xf32> and the output 'flat' of tensor<1x6xf32> are not one state",
        ),
    ],
)
def test_pairs_that_are_not_states_are_refused(model: Module, states: dict[str, str], code: str, message: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        cir.convert(model, "coreml", states=states)
    assert [(d.code.id, d.message) for d in caught.value.diagnostics] == [(code, message)]


def test_states_of_an_onnx_model_are_metadata(model: Module) -> None:
    file = onnx.load_from_string(cir.dumps(cir.convert(model, "onnx", states={"past": "present"})))
    assert [(p.key, p.value) for p in file.metadata_props] == [("commonir.state.past", "present")]


def test_states_keep_their_order() -> None:
    package = cir.load(MODELS / "kinds" / "cache.mlpackage")
    again = cir.convert(cir.convert(package, "onnx"), "coreml")
    assert _interface(again) == _interface(package) == (["x", "at"], _interface(package)[1], ["rows", "count"])
