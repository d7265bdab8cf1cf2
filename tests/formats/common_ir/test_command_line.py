"""Common IR from the command line: the two-file model, shapes, bundles, libraries, conversions."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from commonir import api
from commonir.base.diagnostics import DiagnosticError
from commonir.cli.main import main

from tests.arrays import read_arrays
from tests.oracles import require_package

EXAMPLES = Path(__file__).parents[3] / "examples" / "common_ir"


class Done(NamedTuple):
    status: int
    result: Any
    codes: list[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(EXAMPLES, tmp_path / "m")
    monkeypatch.chdir(tmp_path / "m")
    return tmp_path / "m"


@pytest.fixture
def cir(folder: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: str) -> Done:
        status = main([*arguments, "--json"])
        document = json.loads(capsys.readouterr().out)
        return Done(status, document["result"], [d["code"] for d in document["diagnostics"]])

    return run


def run_imports(cir: Any, model: str, *options: str) -> np.ndarray[Any, Any]:
    np.savez("in.npz", x=np.array([[1, 2]], np.float32), w=np.ones((2, 3), np.float32), b=np.zeros(3, np.float32))
    done = cir("run", model, "@in.npz", "--save", "out.npz", *options)
    assert (done.status, done.codes) == (0, [])
    return read_arrays("out.npz")["y"]


def test_a_model_runs_with_a_library_from_a_relative_path(cir: Any) -> None:
    np.testing.assert_array_equal(run_imports(cir, "imports.cir.json"), [[3, 3, 3]])


def test_a_missing_library_is_found_with_library_path(cir: Any, folder: Path) -> None:
    shutil.move(folder / "libraries", folder / "elsewhere" / "libraries")
    assert cir("check", "imports.cir.json").codes[0] == "E0252"
    assert cir("run", "imports.cir.json").status == 3
    np.testing.assert_array_equal(run_imports(cir, "imports.cir.json", "--library-path", "elsewhere"), [[3, 3, 3]])


def test_a_bundle_needs_no_library(cir: Any, folder: Path) -> None:
    assert cir("bundle", "imports.cir.json", "-o", "alone.cir").status == 0
    shutil.rmtree(folder / "libraries")
    np.testing.assert_array_equal(run_imports(cir, "alone.cir"), [[3, 3, 3]])


@pytest.mark.parametrize("shape", ["q=f32[2,4]:ones", "q=f32[3,3]:ones"])
def test_shapes_that_wildcards_correlate_must_agree(cir: Any, shape: str) -> None:
    assert cir("run", "wildcards.cir.json").status == 0
    done = cir("run", "wildcards.cir.json", shape)
    assert (done.status, done.codes) == (2, ["E0703"])


@pytest.mark.parametrize(
    ("name", "declared", "inputs"),
    [
        ("Same", [["m*"], ["m*"]], [[2, 3], [3, 2]]),
        ("OneFewer", [["n", "m*"], ["m*"]], [[4, 3], [4]]),
        ("Contracted", [["*", "n"], ["n", "*"]], [[2, 3], [2, 3]]),
    ],
)
def test_sizes_that_contradict_a_declaration_are_found(cir: Any, name: str, declared: Any, inputs: Any) -> None:
    """The specification's own examples of correlated shapes, each with sizes that do not correlate."""

    def kind(dims: list[Any]) -> dict[str, Any]:
        sizes = [{"dim_value": d} if isinstance(d, int) else {"dim_param": d} for d in dims]
        return {"tensor_type": {"elem_type": "FLOAT", "shape": {"dim": sizes}}}

    def graph(sizes: list[Any]) -> dict[str, Any]:
        parameters = [{"name": n, "type": kind(d)} for n, d in zip("ab", declared, strict=True)]
        output = {"name": "c", "type": kind(["*"])}
        operator = {"name": name, "signature": [{"input_params": parameters, "output_params": [output]}]}
        return {
            "node": [{"input": ["a", "b"], "output": ["c"], "name": "n", "op_type": name, "input_arg_count": [1, 1]}],
            "name": "g",
            "doc_string": "A graph.",
            "input": [{"name": n, "type": kind(d)} for n, d in zip("ab", sizes, strict=True)],
            "output": [{"name": "c", "type": kind([2])}],
            "operator": [{**operator, "doc_string": "An operator."}],
        }

    about = {"ir_version": 10, "domain": "com.example", "model_version": 1, "common_ir_version": 1}
    right = {"Same": [[2, 3], [2, 3]], "OneFewer": [[4, 3], [3]], "Contracted": [[2, 3], [3, 2]]}
    Path("wrong.cir.json").write_text(json.dumps({"ModelProto": {**about, "graph": graph(inputs)}}))
    Path("right.cir.json").write_text(json.dumps({"ModelProto": {**about, "graph": graph(right[name])}}))
    assert cir("check", "right.cir.json").status == 0
    done = cir("check", "wrong.cir.json")
    assert done.status == 1
    assert set(done.codes) <= {"E0503", "E0504"}
    assert done.codes


@pytest.mark.parametrize("output", ["o.onnx", "o.mlpackage", "o.mlir", "o.cir", "o.cir.json"])
def test_a_graph_converts_and_computes_the_same(cir: Any, output: str) -> None:
    require_package("onnxruntime")
    done = cir("convert", "functions.cir.json", "-o", output, "--range", "n=1..8", "--check=2")
    assert done.status == 0


def test_an_onnx_file_converts_to_common_ir_and_back(cir: Any) -> None:
    require_package("onnxruntime")
    assert cir("convert", "plain_onnx.cir.json", "-o", "a.onnx", "--check").status == 0
    assert cir("convert", "a.onnx", "-o", "b.cir", "--check").status == 0
    assert cir("convert", "b.cir", "-o", "c.onnx", "--check").status == 0
    assert cir("check", "b.cir").codes == []


def test_a_library_is_not_a_program(cir: Any) -> None:
    assert cir("check", "libraries/layers.cir.json").status == 0
    assert cir("run", "libraries/layers.cir.json").status != 0
    assert cir("convert", "libraries/layers.cir.json", "-o", "o.onnx").status != 0


def test_what_cannot_hold_libraries_is_distinguished(cir: Any) -> None:
    assert cir("convert", "plain_onnx.cir.json", "-o", "plain.onnx").status == 0
    with pytest.raises(
        DiagnosticError,
        match=r"nothing to bundle: only Common IR graphs.*\n.*`commonir\.convert\(program, to='common_ir'\)`",
    ):
        api.bundle(api.load("plain.onnx"))
    with pytest.raises(DiagnosticError, match="a library holds no libraries, only a graph does"):
        api.bundle(api.load("libraries/layers.cir.json"))


def test_whether_a_model_can_be_read_is_found_by_reading_it(cir: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert cir("check", "imports.cir.json").status == 0


def test_info_reports_what_a_library_is(cir: Any) -> None:
    metadata = cir("info", "libraries/layers.cir.json").result["metadata"]
    assert metadata == {
        "name": "com.example.layers",
        "description": "Layers of networks.",
        "version": "1",
        "functions": "1",
        "imports": "activations.cir.json",
    }


def test_info_lists_the_functions_and_operators_of_a_file_with_their_types(cir: Any) -> None:
    assert cir("info", "libraries/layers.cir.json").result["declarations"] == [
        {
            "kind": "function",
            "name": "Layer",
            "signatures": ["(x: f32[n, k], w: f32[k, m], b: f32[m]) -> (y: f32[n, m])"],
            "summary": "The function Layer.",
        }
    ]
    assert [entry["signatures"] for entry in cir("info", "libraries/operators.cir.json").result["declarations"]] == [
        ["(x: f32[m*]) -> (y: f32[m*])", "(x: i64[m*]) -> (y: i64[m*])"]
    ]
    declared = cir("info", "functions.cir.json").result["declarations"]
    assert [entry["signatures"] for entry in declared] == [["(x: f32[n]; scale: f32[]) -> (y: f32[n])"]]


def test_info_reports_what_a_graph_imports(cir: Any) -> None:
    metadata = cir("info", "imports.cir.json").result["metadata"]
    assert metadata["libraries"] == "com.example.activations, com.example.layers"
    assert metadata["imports"] == "libraries/layers.cir.json"


@pytest.mark.slow
def test_a_dialect_is_written_as_a_library(cir: Any) -> None:
    done = cir("library", "core", "-o", "core.cir.json")
    assert (done.status, done.result["dialect"]) == (0, "core")
    assert cir("check", "core.cir.json").status == 0
    assert cir("library", "cor", "-o", "x.cir").codes == ["E0904"]
    assert cir("library", "core", "-o", "core.onnx").codes == ["E0801"]


@pytest.mark.parametrize("verb", ["edit", "extract"])
def test_a_graph_can_be_changed(cir: Any, verb: str) -> None:
    changes = ["--rename", "x=input", "--set-dim", "n=3"] if verb == "edit" else ["--to", "doubled"]
    assert cir(verb, "functions.cir.json", "-o", "o.cir.json", *changes).status == 0
    assert cir("check", "o.cir.json").codes == []
    assert cir("run", "o.cir.json").status == 0


def test_conversions_say_that_control_edges_are_lost(cir: Any) -> None:
    for output in ("o.onnx", "o.mlpackage"):
        done = cir("convert", "control_inputs.cir.json", "-o", output, "--range", "n=1..8")
        assert (done.status, "W0601" in done.codes) == (0, True)


@pytest.mark.parametrize("name", ["Leaky", "com.example.activations.Leaky"])
@pytest.mark.parametrize("model", ["libraries/activations.cir.json", "libraries/layers.cir.json", "imports.cir.json"])
@pytest.mark.parametrize(("slope", "expected"), [((), [-0.5, 2]), (("slope=0.5",), [-2, 2])])
def test_a_function_runs_by_its_name(
    cir: Any, model: str, name: str, slope: tuple[str, ...], expected: list[float]
) -> None:
    np.savez("in.npz", x=np.array([-4, 2], np.float32))
    done = cir("run", model, "@in.npz", "--function", name, *slope, "--save", "out.npz")
    assert (done.status, done.codes) == (0, [])
    np.testing.assert_array_equal(read_arrays("out.npz")["y"], expected)


def test_a_function_of_a_graph_runs_by_its_name(cir: Any) -> None:
    np.savez("in.npz", x=np.array([1, 2], np.float32))
    assert (
        cir("run", "functions.cir.json", "@in.npz", "--function", "Scaled", "scale=7", "--save", "out.npz").status == 0
    )
    np.testing.assert_array_equal(read_arrays("out.npz")["y"], [7, 14])


def test_a_function_of_matrices_runs_converts_and_is_compared(cir: Any) -> None:
    model = "libraries/layers.cir.json"
    np.savez("in.npz", x=np.array([[1, -2]], np.float32), w=np.ones((2, 3), np.float32), b=np.ones(3, np.float32))
    assert cir("run", model, "@in.npz", "--function", "Layer", "--save", "out.npz").status == 0
    np.testing.assert_array_equal(read_arrays("out.npz")["y"], [[0, 0, 0]])
    assert cir("compare", model, "--function", "Layer").status == 0
    assert cir("convert", model, "--function", "Layer", "-o", "layer.onnx").status == 0
    done = cir("convert", model, "--function", "Layer", "-o", "one/layer.cir.json")
    assert (done.status, done.codes) == (6, ["E0801"])
    done = cir("convert", model, "--function", "Layer", "-o", "layer.cir.json")
    assert (done.status, done.codes) == (0, [])
    assert cir("check", "layer.cir.json").codes == []
    shutil.rmtree("libraries")
    assert cir("run", "layer.cir.json", "@in.npz", "--save", "alone.npz").status == 0
    np.testing.assert_array_equal(read_arrays("alone.npz")["y"], [[0, 0, 0]])


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (["libraries/layers.cir.json"], "E0706", "com.example.layers.Layer"),
        (["libraries/layers.cir.json", "--function", "Laky"], "E0706", "did you mean 'Leaky' or 'Layer'?"),
        (["functions.cir.json", "--function", "scaled"], "E0706", "did you mean 'Scaled'?"),
        (["functions.cir.json", "--function", "Scaled", "scale=big"], "E0505", "expected a number, found 'big'"),
        (["libraries/operators.cir.json"], "E0706", "operators that are only declared cannot be run"),
    ],
)
def test_what_cannot_be_called_is_reported(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: str, expected: str
) -> None:
    assert main(["run", *arguments]) in (1, 2)
    reported = capsys.readouterr().err
    assert code in reported
    assert expected in reported


def test_two_functions_of_one_name_are_called_by_their_full_names(cir: Any, folder: Path) -> None:
    document = json.loads((folder / "functions.cir.json").read_text())
    document["ModelProto"]["graph"]["imported_libraries"] = [
        "libraries/float_twice.cir.json",
        "libraries/integer_twice.cir.json",
    ]
    (folder / "two.cir.json").write_text(json.dumps(document))
    assert cir("run", "two.cir.json", "--function", "Twice").codes == ["E0706"]
    np.savez("in.npz", x=np.array([1, 2], np.int64))
    done = cir("run", "two.cir.json", "@in.npz", "--function", "com.example.integer_twice.Twice", "--save", "out.npz")
    assert (done.status, done.codes) == (0, [])
    np.testing.assert_array_equal(read_arrays("out.npz")["y"], [2, 4])


def test_libraries_that_stay_behind_are_reported(cir: Any, folder: Path) -> None:
    (folder / "other").mkdir()
    done = cir("convert", "imports.cir.json", "-o", "other/moved.cir.json")
    assert (done.status, done.codes) == (0, ["W0254"])
    assert cir("convert", "libraries/layers.cir.json", "-o", "other/layers.cir").codes == ["W0254"]
    shutil.copytree("libraries", "other/libraries")
    assert cir("convert", "imports.cir.json", "-o", "other/moved.cir.json").codes == []
    assert cir("check", "other/moved.cir.json").codes == []
    assert cir("bundle", "imports.cir.json", "-o", "other/alone.cir").codes == []


def test_calling_gives_a_program_that_runs(folder: Path) -> None:
    library = api.load("libraries/activations.cir.json")
    x = np.array([-4, 2], np.float32)
    np.testing.assert_array_equal(api.run(api.calling(library, "Leaky", slope=0.25), {"x": x})["y"], [-1, 2])
    with pytest.raises(DiagnosticError, match="no attribute 'slop'"):
        api.calling(library, "Leaky", slop=1.0)


def test_weights_are_named_as_the_user_names_the_output(cir: Any) -> None:
    done = cir("convert", "weights.cir.json", "-o", "other.cir")
    assert [file["path"] for file in done.result["files"]] == ["other.cir", "other.safetensors"]


@pytest.mark.parametrize("name", ["core", "core.onnx", "core.json"])
def test_a_library_is_written_to_a_file_of_common_ir_alone(cir: Any, folder: Path, name: str) -> None:
    done = cir("library", "core", "-o", name)
    assert (done.status, done.codes) == (6, ["E0801"])
    assert not (folder / name).exists()


def test_collections_are_given_and_saved_as_json(cir: Any, folder: Path) -> None:
    inputs = ['prices={"tea": 2.5, "milk": 1.5}', 'item="tea"', "owner=7", 'given=["milk", 7]', "queue=[8, 9]"]
    weights = {"values": [-1, 4, 9], "indices": [0, 2, 4], "shape": [2, 3]}
    (folder / "weights.json").write_text(json.dumps(weights))
    done = cir("run", "collections.cir.json", *inputs, "weights=@weights.json", "--save", "out.json")
    assert (done.status, done.codes) == (0, [])
    assert {o["name"]: o["type"] for o in done.result["outputs"]}["rest[milk]"] == "f32[]"
    result = json.loads((folder / "out.json").read_text())
    assert result["rest"] == {"milk": 1.5}
    assert result["pair"] == ["tea", 7]
    assert result["remaining"] == {"values": [4, 9], "indices": [[0, 2], [1, 1]], "shape": [2, 3]}
    assert result["shorter"] == [9, 2.5]
    assert cir("run", "collections.cir.json", "given=[7]").codes == ["E0703"]
