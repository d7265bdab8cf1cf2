"""Models as apps use them: class labels, metadata, descriptions and images, as coremltools reads them of a package."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import commonir as cir
from commonir.ir.module import Module
from commonir.ir.ports import labels_of_text

from tests.first_hour.models import write_models

_LABELS = ["red", "green", "blue"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("apps")
    write_models("tagger.onnx cat.png", folder)
    return folder


@pytest.fixture(scope="module")
def tagger(folder: Path) -> Module:
    return cir.load(folder / "tagger.onnx")


@pytest.mark.slow  # coremltools takes seconds to load
@pytest.mark.parametrize("labels", [_LABELS, [7, 8, 9]])
def test_coremltools_reads_a_classifier_with_its_descriptions(
    tagger: Module, tmp_path: Path, labels: list[str] | list[int]
) -> None:
    models = pytest.importorskip("coremltools").models
    converted = cir.convert(
        tagger,
        "coreml",
        images={"image": cir.image_input("rgb", 1 / 255, (-0.5, -0.5, -0.5))},
        labels=labels,
        docs={"image": "A photo", "probabilities": "How sure"},
    )
    metadata = {"author": "Me", "license": "MIT", "version": "2", "description": "Names colors", "note": "x"}
    cir.save(cir.edit(converted, metadata=metadata), tmp_path / "tagger.mlpackage")
    model = models.MLModel(str(tmp_path / "tagger.mlpackage"), skip_model_load=True)
    described = model.get_spec().description
    image, (label, scores) = described.input[0], described.output
    size = image.type.imageType
    assert (size.width, size.height, size.colorSpace) == (8, 8, size.RGB)
    assert (image.shortDescription, scores.shortDescription) == ("A photo", "How sure")
    assert (described.predictedFeatureName, described.predictedProbabilitiesName) == ("classLabel", "probabilities")
    keys = scores.type.dictionaryType.WhichOneof("KeyType")
    assert (label.type.WhichOneof("Type"), keys) == (
        ("stringType", "stringKeyType") if isinstance(labels[0], str) else ("int64Type", "int64KeyType")
    )
    assert (model.author, model.license, model.version, model.short_description) == ("Me", "MIT", "2", "Names colors")
    assert model.user_defined_metadata["note"] == "x"


@pytest.mark.parametrize("to", ["coreml", "onnx"])
def test_labels_name_the_probabilities_of_a_run(tagger: Module, to: str, folder: Path) -> None:
    converted = cir.convert(tagger, to, labels=_LABELS)
    assert converted.main.output_ports["probabilities"].labels == tuple(_LABELS)
    x = cir.read_image(tagger, "image", folder / "cat.png", form="scale=1/255")
    values = 4 * np.array([1, 128 / 255, 0])
    expected = np.exp(values) / np.exp(values).sum()
    found = cir.run(converted, {"image": x})
    np.testing.assert_allclose(np.asarray(found["probabilities"], np.float64).ravel(), expected, rtol=1e-5)
    if to == "coreml":
        assert str(found["classLabel"]) == "red"


def test_labels_images_and_descriptions_return_from_onnx(tagger: Module) -> None:
    images = {"image": cir.image_input("rgb", 1 / 255)}
    packaged = cir.convert(tagger, "coreml", images=images, labels=_LABELS, docs={"image": "A photo"})
    model = cir.loads(cir.dumps(cir.convert(packaged, "onnx")), format="onnx")
    again = cir.convert(model, "coreml")
    for module in (model, again):
        port = module.main.input_ports["image"]
        assert (port.doc, port.image and port.image.value) == ("A photo", "rgb")
        assert module.main.output_ports["probabilities"].labels == tuple(_LABELS)
    assert not [key for key, _ in cir.lower(again).extra.items() if "labels" in key]


def test_images_leave_the_operations_of_a_package(tagger: Module, folder: Path) -> None:
    plain = cir.convert(tagger, "coreml", target="iOS16")
    imaged = cir.convert(plain, "coreml", images={"image": cir.image_input("rgb", 1 / 255)})
    before, after = [[op.name for op in m.main.body.operations if op.name != "mil.const"] for m in (plain, imaged)]
    assert after == ["mil.mul", *before]
    assert not [d for d in cir.verify(imaged) if d.is_error]
    photo = folder / "cat.png"
    (expected,) = cir.run(plain, {"image": cir.read_image(plain, "image", photo, form="scale=1/255")}).values()
    (found,) = cir.run(imaged, {"image": cir.read_image(imaged, "image", photo)}).values()
    np.testing.assert_allclose(np.asarray(found, np.float32), np.asarray(expected, np.float32), rtol=1e-5)


def test_labels_and_descriptions_leave_the_operations_of_a_package(tagger: Module) -> None:
    plain = cir.convert(tagger, "coreml")
    labelled = cir.convert(plain, "coreml", labels=_LABELS, docs={"image": "A photo"})
    before, after = [[op.name for op in m.main.body.operations] for m in (plain, labelled)]
    assert [name for name in after if "classify" not in name and "compound" not in name] == before
    assert labelled.main.input_ports["image"].doc == "A photo"
    assert not [d for d in cir.verify(labelled) if d.is_error]


@pytest.mark.parametrize("layout", ["", "nhwc"])
def test_images_of_outputs_and_of_channels_that_come_last(layout: str, folder: Path) -> None:
    text = """func.func @main(%x: tensor<1x8x8x3xf32>) -> tensor<1x8x8x3xf32> {
      %0 = tosa.negate %x, %z, %z : (tensor<1x8x8x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x3xf32>
      return %0 : tensor<1x8x8x3xf32>
    }"""
    zero = '%z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>'
    module = cir.loads(text.replace("%0 =", f"{zero}\n%0 ="), format="mlir")
    name = module.main.output_names[0] or "output0"
    inverse = cir.image_input("bgr", 255.0, (255.0,), layout)
    images = {"x": cir.image_input("rgb", 1 / 255, (), layout), name: inverse}
    converted = cir.convert(module, "coreml", images=images)
    assert [str(v.type) for v in (*converted.inputs, *converted.outputs)] == ["tensor<1x3x8x8xf32>"] * 2
    (found,) = cir.run(converted, {"x": cir.read_image(converted, "x", folder / "cat.png")}).values()
    # 255 - pixel, of an orange square
    np.testing.assert_allclose(np.asarray(found, np.float32)[0, :, 3, 4], [0, 127, 255], atol=1e-3)


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ('["a", "b"]', ("a", "b")),
        ("[3, 4]", (3, 4)),
        ('{"1": "b", "0": "a"}', ("a", "b")),
        ('{"0": "a", "2": "c"}', ()),
        ('{"a": "b"}', ()),
        ('["a", 1]', ()),
        ("a", ()),
    ],
)
def test_labels_in_json(text: str, labels: tuple[object, ...]) -> None:
    assert labels_of_text(text) == labels


@pytest.mark.parametrize(
    ("content", "labels"),
    [("cat\ndog\n", ("cat", "dog")), ("\ufeffcat\r\ndog\r\n\r\n", ("cat", "dog")), ('["cat"]', ("cat",))],
)
def test_labels_of_a_file(tmp_path: Path, content: str, labels: tuple[str, ...]) -> None:
    (tmp_path / "labels.txt").write_bytes(content.encode())
    assert cir.read_labels(tmp_path / "labels.txt") == labels


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("cat\n\ndog\n", "line 2 is empty"),
        ('["cat", 3]', "an array of labels"),
        (b"\xff\xfe", "not UTF-8 text"),
        (None, "no such file"),
    ],
)
def test_file_without_labels_is_refused(tmp_path: Path, content: str | bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / "labels.txt").write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(cir.DiagnosticError, match=message):
        cir.read_labels(tmp_path / "labels.txt")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": ["a", "b"]}, "2 labels fit no output"),
        ({"labels": {"probs": _LABELS}}, "'tagger' has no output 'probs' for labels"),
        ({"docs": {"imge": "A photo"}}, "'tagger' has no input or output 'imge' to describe"),
        ({"images": {"probabilities": cir.image_input("rgb")}}, "the output 'probabilities' .* is not an image in rgb"),
        ({"images": {"image": cir.image_input("rgb", layout="nhwc")}}, "the input 'image' .* is not an image in rgb"),
    ],
)
def test_what_does_not_fit_is_refused(tagger: Module, options: dict[str, object], message: str) -> None:
    with pytest.raises(cir.DiagnosticError, match=message) as caught:
        cir.convert(tagger, "coreml", **options)  # pyright: ignore[reportArgumentType]  the options of one case
    assert len(caught.value.diagnostics) == 1
