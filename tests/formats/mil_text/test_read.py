"""Texts of their own and compiled models as files: what is read, what is found wrong, what is written."""

from __future__ import annotations

import os
import random
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest

from commonir import api
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.limits import DEFAULT_LIMITS
from commonir.cli.main import main
from commonir.dialects.mil.description import (
    FILES_ATTRIBUTE,
    MANIFEST_ATTRIBUTE,
    Feature,
    Image,
    MultiArray,
    description_of,
)
from commonir.formats.coreml.messages import message_class
from commonir.formats.coreml.package import open_model
from commonir.formats.coreml.read import read
from commonir.formats.format import Formats
from commonir.formats.mil_text.printer import print_program
from commonir.formats.mil_text.read import check, read_with_findings
from commonir.formats.mil_text.write import write
from commonir.ir import Module
from commonir.ir.equality import first_difference
from commonir.ir.interface import DimRange, metadata_of
from commonir.ir.types import f32, i32
from commonir.ods import Dialects

from tests.formats.coreml import building as b
from tests.formats.mil_text import bundles

MODELS = Path(__file__).parents[2] / "models"
DIALECTS = Dialects()

# By hand, in the form in which Apple's compiler (version 3600) writes texts.
FLEXIBLE = """program(1.3)
[buildInfo = dict<string, string>({{"coremlc-component-MIL", "3600.16.1"}, {"coremlc-version", "3600.25.1"}})]
{
    func main<ios17>(tensor<fp32, [?, 4]> x) [FlexibleShapeInformation = tuple<tuple<string, dict<string, \
tensor<int32, [?]>>>, tuple<string, dict<string, list<tensor<int32, [2]>, ?>>>>((("DefaultShapes", {{"x", [1, 4]}}), \
("RangeDims", {{"x", [[1, 8], [4, 4]]}})))] {
            tensor<fp32, [4]> w = const()[val = tensor<fp32, [4]>([0x1p+0, 0x1p+1, 0x1.8p+1, 0x1p+2])];
            tensor<fp32, [?, 4]> y = add(x = x, y = w);
        } -> (y);
}
"""
ENUMERATED = """program(1.3)
{
    func main<ios17>(tensor<fp32, [?]> x) [FlexibleShapeInformation = tuple<tuple<string, dict<string, tensor<int32, \
[?]>>>, tuple<string, dict<string, dict<string, tensor<int32, [?]>>>>>((("DefaultShapes", {{"x", [4]}}), \
("EnumeratedShapes", {{"543d0f94", {{"x", [1]}}}, {"697b758f", {{"x", [2]}}}, {"9e38c1a4", {{"x", [4]}}}})))] {
            tensor<fp32, [?]> y = relu(x = x);
        } -> (y);
}
"""


def compiled(package: Path, folder: Path) -> Path:
    """The compiled model of a package, made by its own program, description and weights."""
    files = open_model(package, Diagnostics(), DEFAULT_LIMITS)
    content = message_class("Model")()
    content.ParseFromString(files.model.read_bytes())
    weights = files.folder / "weights" / "weight.bin"
    text = print_program(read(package, DIALECTS))
    return bundles.save(
        folder, text, data=bundles.model_data(content), weights=weights.read_bytes() if weights.is_file() else None
    )


def feature(module: Module, name: str) -> Feature:
    description = description_of(module)
    assert description is not None
    result = [f for i in description.interfaces for f in (*i.inputs, *i.outputs, *i.states) if f.name == name]
    return result[0]


def opened(path: Path) -> Module:
    module, diagnostics = read_with_findings(path, DIALECTS)
    assert module is not None, diagnostics
    assert [d.code.id for d in diagnostics if d.is_error] == []
    return module


# -- recognizing


def test_kinds_of_files(tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("// by hand\n" + FLEXIBLE)
    bundle = bundles.save(tmp_path, FLEXIBLE)
    assert (Formats().recognize(text).description, Formats().recognize(bundle).description) == (
        "MIL text",
        "compiled Core ML model",
    )
    formats = Formats()
    assert [formats.of_file(p).name for p in (text, bundle)] == ["mil", "mil"]
    assert formats.of_output("m.mil").name == "mil"


# -- compiled models


@pytest.mark.parametrize(
    "name", ["minilm_fp16", "resnet_fp32", "bert_flexible_length_fp16", "mobilenet_v2_image_fp32", "gpt2_decode_fp16"]
)
def test_a_compiled_model_is_the_module_of_its_package(name: str, tmp_path: Path) -> None:
    package = MODELS / name / "model.mlpackage"
    expected = read(package, DIALECTS)
    for key in (MANIFEST_ATTRIBUTE, FILES_ATTRIBUTE):
        expected.set_extra(key, None)
    bundle = compiled(package, tmp_path)
    assert first_difference(expected, opened(bundle), names=True) is None
    # The text inside is the same when it is given itself.
    assert first_difference(expected, opened(bundle / "model.mil"), names=True) is None
    _, diagnostics = check(bundle, DIALECTS)
    assert diagnostics == []


def test_the_data_of_a_compiled_model_may_have_other_gaps(tmp_path: Path) -> None:
    content = b.simple_model()
    content.description.metadata.author = "somebody"
    data = bundles.model_data(content)
    for n, extra in enumerate((b"", bytes(5), bytes(40))):
        at = data.index(b"generic") + len(b"generic")
        bundle = bundles.save(
            tmp_path,
            print_program(read(b.save(tmp_path / str(n), content), b.DIALECTS)),
            data=data[:at] + extra + data[at:],
            weights=b.SIMPLE_WEIGHTS,
            name=f"{n}.mlmodelc",
        )
        module = opened(bundle)
        assert metadata_of(module).author == "somebody"
        assert feature(module, "x").type == MultiArray(f32, (2, 3))


def test_without_data_the_description_comes_from_metadata_and_types(tmp_path: Path) -> None:
    text = """program(1.3) { func main<ios17>(tensor<fp32, [1, 3, 8, 6]> image, tensor<int32, [?]> ids) {
        tensor<fp32, [1, 3, 8, 6]> y = relu(x = image); } -> (y); }"""
    array = {"isOptional": "0", "shortDescription": ""}
    declared = bundles.schema(
        specificationVersion=8,
        author="somebody",
        shortDescription="a model",
        userDefinedMetadata={"key": "value"},
        inputSchema=[
            {**array, "name": "image", "type": "Image", "colorspace": "RGB", "width": "6", "height": "8"},
            {
                "name": "ids",
                "type": "MultiArray",
                "dataType": "Int32",
                "shape": "[2]",
                "shapeRange": "[[1, 4]]",
                "hasShapeFlexibility": "1",
                "isOptional": "1",
                "shortDescription": "tokens",
            },
        ],
        outputSchema=[{**array, "name": "y", "type": "MultiArray", "dataType": "Float32", "shape": "[1, 3, 8, 6]"}],
    )
    module, diagnostics = read_with_findings(bundles.save(tmp_path, text, metadata=declared), DIALECTS)
    assert module is not None
    assert [d.code.id for d in diagnostics] == ["W0202"]
    description = description_of(module)
    assert description is not None
    assert description.specification_version == 8
    assert feature(module, "image").type == Image(6, 8, "RGB")
    ids = feature(module, "ids")
    assert ids == Feature("ids", MultiArray(i32, (2,), ranges=(DimRange(1, 4),)), True, "tokens")
    about = metadata_of(module)
    assert (about.author, about.description, about.user_defined) == ("somebody", "a model", (("key", "value"),))


def test_flexible_shapes_of_a_text_become_those_of_its_description(tmp_path: Path) -> None:
    place = tmp_path / "net.mil"
    place.write_text(FLEXIBLE)
    ranges = (DimRange(1, 8), DimRange(4, 4))
    assert feature(opened(place), "x").type == MultiArray(f32, (1, 4), ranges=ranges)
    place.write_text(ENUMERATED)
    assert feature(opened(place), "x").type == MultiArray(f32, (4,), shapes=((4,), (1,), (2,)))


def test_text_of_the_compiler_prints_as_it_was(tmp_path: Path) -> None:
    for text in (FLEXIBLE, ENUMERATED):
        place = tmp_path / "net.mil"
        place.write_text(text)
        assert print_program(opened(place), syntax="1.3") == text


def pipeline(folder: Path, *names: str) -> tuple[Path, Path]:
    """A package of a pipeline of two programs, and the compiled model of it."""
    kind = b.tensor(b.FLOAT32, 2, 3)
    first = b.block([b.op("relu", {"x": "x"}, [("t", kind)])], ["t"])
    last = b.block([b.op("add", {"x": "t", "y": "x"}, [("y", kind)])], ["y"])
    content: b.Message = message_class("Model")(specificationVersion=8)
    for body, inputs in ((first, ["x"]), (last, ["t", "x"])):
        function = b.function([(name, kind) for name in inputs], body, "CoreML7")
        content.pipeline.models.add().CopyFrom(b.model(b.program({"main": function}), 8))
    content.pipeline.names.extend(names)
    b.feature(content.description.input, "x", [2, 3])
    b.feature(content.description.output, "y", [2, 3])
    package = b.save(folder, content)
    module = read(package, DIALECTS)
    bundle = bundles.save(folder, None, data=bundles.pipeline_data(content))
    for n, (stage, model) in enumerate(zip(module.modules, content.pipeline.models, strict=True)):
        bundles.save(bundle, print_program(stage), data=bundles.model_data(model), name=f"model{n}")
    (bundle / "modelNames").mkdir()
    data = bundles.names_data(*(names or ("model0", "model1")))
    (bundle / "modelNames" / "coremldata.bin").write_bytes(data)
    return package, bundle


@pytest.mark.parametrize("names", [(), ("clean", "sum")])
def test_a_compiled_pipeline_is_the_module_of_its_package(tmp_path: Path, names: tuple[str, ...]) -> None:
    package, bundle = pipeline(tmp_path, *names)
    expected = read(package, DIALECTS)
    for key in (MANIFEST_ATTRIBUTE, FILES_ATTRIBUTE):
        expected.set_extra(key, None)
    module = opened(bundle)
    assert first_difference(expected, module, names=True) is None
    assert check(bundle, DIALECTS)[1] == []
    outputs = api.run(module, {"x": np.array([[1, -2, 3], [-4, 5, -6]], np.float32)})
    assert outputs["y"].tolist() == [[2, -2, 6], [-4, 10, -6]]


def test_faults_of_a_stage_name_its_file_and_line(tmp_path: Path) -> None:
    _, bundle = pipeline(tmp_path)
    place = bundle / "model1" / "model.mil"
    place.write_text(place.read_text().replace("add(", "ad("))
    _, diagnostics = check(bundle, DIALECTS)
    assert (diagnostics[0].code.id, diagnostics[0].file, diagnostics[0].line) == ("E0501", str(place), 4)
    assert diagnostics[0].where == "modules[1].main.block[CoreML7].operations[0] 'y'"
    place.write_text(place.read_text().replace("ad(x = t, y = x)", "relu(x = t, alpha = x)"))
    place.write_text(place.read_text().replace(", alpha = x", "").replace("tensor<fp32, [2, 3]> y =", "fp32 y ="))
    _, diagnostics = check(bundle, DIALECTS)
    wrong = next(d for d in diagnostics if d.code.id == "E0506")
    assert (wrong.file, wrong.line, wrong.where) == (str(place), 4, "modules[1].main.block[CoreML7].operations[0] 'y'")


def test_a_pipeline_without_description_shows_which_programs_it_has(tmp_path: Path) -> None:
    bundle = bundles.save(tmp_path, None, data=b"\0" * 100)
    for n in range(2):
        bundles.save(bundle, FLEXIBLE, name=f"model{n}")
    _, (diagnostic,) = read_with_findings(bundle, DIALECTS)
    assert str(diagnostic) == (
        f"error[E0204]: the compiled model is a pipeline of 2 programs without a description\n  --> {bundle}\n"
        f"   = help: pass one of them: '{bundle / 'model0'}'"
    )


def test_a_compiled_model_of_another_type_is_reported_as_such(tmp_path: Path) -> None:
    network = bundles.save(tmp_path, None, data=struct.pack("<II", 500, 4) + bytes(90), name="a.mlmodelc")
    _, (diagnostic,) = read_with_findings(network, DIALECTS)
    assert diagnostic.message == "the compiled model holds no ML Program: it has no 'model.mil'"
    odd = bundles.save(tmp_path, FLEXIBLE, data=struct.pack("<II", 500, 4) + bytes(90), name="b.mlmodelc")
    _, (diagnostic,) = read_with_findings(odd, DIALECTS)
    assert diagnostic.message == "the compiled model holds no ML Program: it is of type 'neuralNetwork'"


@pytest.mark.skipif(os.name == "nt", reason="symbolic links")
def test_links_out_of_a_compiled_model_are_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret.mil"
    secret.write_text(FLEXIBLE)
    bundle = bundles.save(tmp_path, None)
    (bundle / "model.mil").symlink_to(secret)
    _, diagnostics = read_with_findings(bundle, DIALECTS)
    assert [d.code.id for d in diagnostics] == ["E0301"]


def test_metadata_that_is_not_json_is_refused(tmp_path: Path) -> None:
    bundle = bundles.save(tmp_path, FLEXIBLE, metadata="[{")
    _, diagnostics = read_with_findings(bundle, DIALECTS)
    assert [d.code.id for d in diagnostics] == ["W0202", "E0244"]


@pytest.mark.slow
def test_damaged_data_give_findings_only(tmp_path: Path) -> None:
    content = b.simple_model()
    text = print_program(read(b.save(tmp_path, content), b.DIALECTS))
    good = bundles.model_data(content)
    bundle = bundles.save(tmp_path, text, data=good, metadata=bundles.schema(), weights=b.SIMPLE_WEIGHTS)
    source = random.Random(3)
    for _ in range(300):
        damaged = bytearray(good)
        for _ in range(source.randrange(1, 4)):
            damaged[source.randrange(len(damaged))] = source.randrange(256)
        (bundle / "coremldata.bin").write_bytes(
            damaged[: source.randrange(len(damaged))] if source.random() < 0.3 else damaged
        )
        _, diagnostics = check(bundle, DIALECTS)
        assert all(isinstance(d, Diagnostic) for d in diagnostics)


# -- faults of files


def test_faults_of_operations_name_their_line(tmp_path: Path) -> None:
    place = tmp_path / "net.mil"
    place.write_text(
        "program(1.3) {\n    func main<ios17>(tensor<fp32, [2]> x) {\n"
        "        tensor<fp32, [3]> y = relu(x = x);\n    } -> (y); }"
    )
    _, (diagnostic,) = check(place, DIALECTS)
    assert str(diagnostic) == (
        "error[E0506]: mil.relu: result 'y' is declared tensor<3xf32>, but the definition gives tensor<2xf32>\n"
        f"  --> {place}:3:9: main.block[CoreML7].operations[0] 'y'\n"
        "   = 3 |         tensor<fp32, [3]> y = relu(x = x);\n"
        "   =   |         ^"
    )


def test_literal_that_cannot_be_read_is_reported_once(tmp_path: Path) -> None:
    place = tmp_path / "net.mil"
    place.write_text(
        "program(1.3) {\n    func main<ios17>(tensor<fp32, [2, 3]> x) {\n"
        "        tensor<fp32, [3, 2]> y = transpose(x = x, perm = tensor<int32, [2]>([1, 0, 2]));\n    } -> (y); }"
    )
    _, diagnostics = check(place, DIALECTS)
    assert [(d.code.id, d.message) for d in diagnostics] == [("E0207", "tensor<int32, [2]> has 2 elements, found 3")]


def test_text_that_is_not_utf8_or_too_long_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "net.mil"
    place.write_bytes(b"program(1.3) { // \xff\n}")
    _, (diagnostic,) = read_with_findings(place, DIALECTS)
    assert (diagnostic.code.id, diagnostic.message) == ("E0243", "the program is not UTF-8 text (byte 18)")
    _, (diagnostic,) = read_with_findings(place, DIALECTS, DEFAULT_LIMITS._replace(max_text_bytes=5))
    assert (diagnostic.code.id, diagnostic.message) == ("E0303", "a program of 21 bytes exceeds the limit of 5")


def test_a_missing_weight_file_is_reported_once(tmp_path: Path) -> None:
    blob = 'tensor<fp32, [2]>(BLOBFILE(path = string("@model_path/w.bin"), offset = uint64(64)))'
    place = tmp_path / "net.mil"
    place.write_text(
        f"program(1.3) {{ func main<ios17>() {{ tensor<fp32, [2]> a = const()[val = {blob}];\n"
        f"tensor<fp32, [2]> c = const()[val = {blob}]; }} -> (a, c); }}"
    )
    _, (diagnostic,) = read_with_findings(place, DIALECTS)
    assert diagnostic.code.id == "E0111"
    assert "1 more constant refers to it" in diagnostic.notes


# -- writing


@pytest.mark.parametrize("name", ["minilm_fp32", "mobilenet_v3_fp16", "unet_flexible_size_fp16"])
def test_a_package_written_as_text_and_back_is_the_same(name: str, tmp_path: Path) -> None:
    expected = read(MODELS / name / "model.mlpackage", DIALECTS)
    files = write(expected, tmp_path / "net.mil")
    assert [f.relative_to(tmp_path).as_posix() for f in files] == ["net.mil", "net.weights/weight.bin"]
    weights = MODELS / name / "model.mlpackage" / "Data" / "com.apple.CoreML" / "weights" / "weight.bin"
    assert files[1].read_bytes() == weights.read_bytes()
    again = opened(tmp_path / "net.mil")
    for key in (MANIFEST_ATTRIBUTE, FILES_ATTRIBUTE):
        expected.set_extra(key, None)
    assert first_difference(expected, again, names=True) is None
    # Over itself, while it is in use.
    write(again, tmp_path / "net.mil")
    assert first_difference(expected, opened(tmp_path / "net.mil"), names=True) is None
    assert sorted(p.name for p in tmp_path.iterdir()) == ["net.mil", "net.weights"]


def test_weight_files_keep_their_names_below_the_folder_of_the_text(tmp_path: Path) -> None:
    parts = [
        f'tensor<fp32, [2, 3]> v{n} = const()[val = tensor<fp32, [2, 3]>(BLOBFILE(path = string("@model_path/{path}"), '
        "offset = uint64(64)))];"
        for n, path in enumerate(("weights/a.bin", "old.weights/b.bin", "deep/weights/a.bin"))
    ]
    for path in ("weights/a.bin", "old.weights/b.bin", "deep/weights/a.bin", "a.bin"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(b.SIMPLE_WEIGHTS)
    place = tmp_path / "net.mil"
    place.write_text(f"program(1.3) {{ func main<ios17>() {{ {' '.join(parts)} }} -> (v0); }}")
    files = write(opened(place), tmp_path / "out.mil")
    assert [f.relative_to(tmp_path).as_posix() for f in files] == [
        "out.mil",
        "out.weights/a.bin",
        "out.weights/b.bin",
        "out.weights/deep/weights/a.bin",
    ]
    # Two files of one name keep their folders.
    place.write_text(place.read_text().replace("old.weights/b.bin", "a.bin"))
    files = write(opened(place), tmp_path / "two.mil")
    assert [f.relative_to(tmp_path).as_posix() for f in files[1:]] == [
        "two.weights/weights/a.bin",
        "two.weights/a.bin",
        "two.weights/deep/weights/a.bin",
    ]
    assert first_difference(opened(place), opened(tmp_path / "two.mil"), names=True) is None


def test_a_program_without_weights_is_one_file(tmp_path: Path) -> None:
    place = tmp_path / "net.mil"
    place.write_text(FLEXIBLE)
    assert write(opened(place), tmp_path / "out.mil") == (tmp_path / "out.mil",)
    assert not (tmp_path / "out.weights").exists()


def test_a_program_that_could_be_no_model_is_written_all_the_same(tmp_path: Path) -> None:
    place = tmp_path / "net.mil"
    place.write_text("program(1.3) { func main<ios17>(bool p) { bool y = logical_not(x = p); } -> (y); }")
    write(opened(place), tmp_path / "out.mil")
    assert first_difference(opened(place), opened(tmp_path / "out.mil"), names=True) is None


def test_constants_made_by_a_conversion_go_to_a_weight_file(tmp_path: Path) -> None:
    module = api.load(MODELS / "minilm_fp32" / "model.mlpackage")
    converted = api.convert(api.lower(module), "mil")
    files = write(converted, tmp_path / "net.mil")
    assert [f.name for f in files] == ["net.mil", "weight.bin"]
    inputs = api.random_inputs(module, seed=2)
    outputs, expected = api.run(opened(files[0]), inputs), api.run(module, inputs)
    assert all(np.allclose(outputs[name], expected[name], atol=1e-6) for name in expected)


def test_a_failure_leaves_no_trace(tmp_path: Path) -> None:
    module = read(MODELS / "minilm_fp32" / "model.mlpackage", DIALECTS)
    (tmp_path / "net.mil").mkdir()
    with pytest.raises(DiagnosticError) as caught:
        write(module, tmp_path / "net.mil")
    assert [d.code.id for d in caught.value.diagnostics] == ["E0803"]
    assert [p.name for p in tmp_path.iterdir()] == ["net.mil"]


def test_a_compiled_model_becomes_a_package_and_onnx(tmp_path: Path) -> None:
    package = MODELS / "minilm_fp16" / "model.mlpackage"
    bundle = compiled(package, tmp_path)
    module = api.load(bundle)
    api.save(api.convert(module, "coreml"), tmp_path / "back.mlpackage")
    back = read(tmp_path / "back.mlpackage", DIALECTS)
    expected = read(package, DIALECTS)
    for one in (back, expected):
        one.set_extra(MANIFEST_ATTRIBUTE, None)
        one.set_extra(FILES_ATTRIBUTE, None)
    assert first_difference(expected, back, names=True) is None
    api.save(api.convert(module, "onnx"), tmp_path / "net.onnx")
    inputs = api.random_inputs(module, seed=1)
    outputs = api.run(module, inputs)
    expected_outputs = api.run(api.load(package), inputs)
    assert all((outputs[name] == expected_outputs[name]).all() for name in expected_outputs)


def test_showing_a_program_as_mil(tmp_path: Path) -> None:
    shutil.copytree(MODELS / "minilm_fp16" / "model.mlpackage", tmp_path / "m.mlpackage")
    module = api.load(tmp_path / "m.mlpackage")
    text = api.show(module, syntax="mil")
    assert text.startswith("program(1.")
    assert "coreml.model" not in text
    with pytest.raises(DiagnosticError) as caught:
        api.show(api.lower(module), syntax="mil")
    assert [d.code.id for d in caught.value.diagnostics] == ["E0806"]
    with pytest.raises(DiagnosticError) as caught:
        api.show(module, syntax="onnx")
    assert [d.code.id for d in caught.value.diagnostics] == ["E0804"]


def test_the_command_line_reads_shows_and_converts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = compiled(MODELS / "minilm_fp16" / "model.mlpackage", tmp_path)
    assert main(["info", str(bundle)]) == 0
    assert "format      Core ML program, specification version" in capsys.readouterr().out
    assert main(["show", str(bundle), "--syntax", "mil"]) == 0
    assert capsys.readouterr().out.startswith("program(1.")
    assert main(["check", str(bundle)]) == 0
    text, package = tmp_path / "net.mil", tmp_path / "net.mlpackage"
    assert main(["convert", str(bundle), "-o", str(text)]) == 0
    assert main(["convert", str(text), "-o", str(package)]) == 0
    assert f"wrote {package}" in capsys.readouterr().out
    expected, back = read(MODELS / "minilm_fp16" / "model.mlpackage", DIALECTS), read(package, DIALECTS)
    for one in (expected, back):
        one.set_extra(MANIFEST_ATTRIBUTE, None)
        one.set_extra(FILES_ATTRIBUTE, None)
    assert first_difference(expected, back, names=True) is None
    text.write_text(text.read_text().replace("= linear(", "= liner("))
    assert main(["check", str(text)]) == 1
    assert "unknown operation 'mil.liner'" in capsys.readouterr().err
