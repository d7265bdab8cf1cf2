"""Image inputs and outputs: from arrays and files, in the order of channels that the program wants."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import commonir as cir
from commonir import api

from tests.coreml_models.running import ENGINES, Array, converted, diagnostic, load, run_onnx
from tests.formats.coreml import building
from tests.oracles import oracle

engines = pytest.mark.parametrize("engine", ENGINES)

# 4 by 2 pixels (width by height): each channel of each pixel is another number.
IMAGE: Array = (np.arange(24, dtype=np.uint8) * 10).reshape(2, 4, 3)
GRAY: Array = (np.arange(8, dtype=np.uint8) * 30).reshape(2, 4)


def planes(image: Array) -> Array:
    return image.transpose(2, 0, 1)[np.newaxis]


def saved(folder: Path, pixels: Array, name: str = "picture.png") -> str:
    path = folder / name
    oracle("PIL.Image").fromarray(pixels).save(path)
    return str(path)


@engines
@pytest.mark.parametrize("color", ["rgb", "bgr"])
def test_image_in_rows_is_put_in_the_order_of_the_channels(engine: str, color: str) -> None:
    result = cir.run(load(f"image_{color}"), {"picture": IMAGE}, engine=engine)["negative"]
    assert result.dtype == np.float32
    expected = planes(255 - IMAGE[:, :, :: 1 if color == "rgb" else -1])
    assert result.tolist() == expected.tolist()


@engines
@pytest.mark.parametrize(("name", "dtype"), [("image_grayscale", np.float32), ("image_grayscale_half", np.float16)])
def test_grayscale_image_has_one_channel(engine: str, name: str, dtype: type[np.generic]) -> None:
    result = cir.run(load(name), {"picture": GRAY}, engine=engine)["negative"]
    assert result.dtype == dtype
    assert result.tolist() == [[(255 - GRAY).tolist()]]


@engines
def test_tensor_of_pixels_is_taken_as_it_is(engine: str) -> None:
    module = load("image_bgr")
    for dtype in (np.uint8, np.float32):
        inputs = {"picture": planes(IMAGE).astype(dtype)}
        assert cir.run(module, inputs, engine=engine)["negative"].tolist() == planes(255 - IMAGE).tolist()


@pytest.mark.parametrize("inputs", [IMAGE[:, :, :2], IMAGE.astype(np.float32), GRAY])
def test_array_that_is_not_an_image_of_the_type_is_refused(inputs: Array) -> None:
    with pytest.raises(cir.DiagnosticError) as error:
        cir.run(load("image_rgb"), {"picture": inputs})
    assert diagnostic(error.value) == (
        "E0703 | input 'picture' is a rgb image: expected uint8 of shape [height, width, 3], or a tensor"
        f" [1, 3, height, width], found {inputs.dtype} of shape {list(inputs.shape)}"
    )


UINT8 = 31


@engines
def test_image_of_integers_stays_one(engine: str, tmp_path: Path) -> None:
    kind, result = building.tensor(UINT8, 1, 1, 2, 4), building.tensor(building.FLOAT32, 1, 1, 2, 4)
    cast = building.op("cast", {"x": "picture", "dtype": "kind"}, [("y", result)])
    body = building.block([building.const("kind", building.text("fp32")), cast], ["y"])
    content = building.model(building.program({"main": building.function([("picture", kind)], body, "CoreML7")}), 8)
    described = content.description.input[0].type.imageType
    described.width, described.height, described.colorSpace = 4, 2, 10
    module, diagnostics = cir.check(building.save(tmp_path, content))
    assert diagnostics == []
    assert module is not None
    assert str(module.inputs[0].type) == "tensor<1x1x2x4xui8>"
    assert cir.run(module, {"picture": GRAY}, engine=engine)["y"].tolist() == [[GRAY.tolist()]]
    pixels = api.read_image(module, "picture", saved(tmp_path, GRAY))
    assert cir.run(module, {"picture": pixels}, engine=engine)["y"].tolist() == [[GRAY.tolist()]]


def test_random_images_are_pixels() -> None:
    drawn: Array = cir.random_inputs(load("image_rgb"))["picture"]
    assert np.all((drawn >= 0) & (drawn <= 255) & (drawn == np.rint(drawn)))


def test_colors_are_described_in_onnx_and_computed(tmp_path: Path) -> None:
    onnx = oracle("onnx")
    path, result = converted("image_bgr", tmp_path)
    assert list(result) == []
    reported = {p.key: p.value for p in onnx.load(path).metadata_props}
    assert (reported["commonir.image.picture"], reported["commonir.image.negative"]) == ("bgr", "bgr")
    inputs = planes(IMAGE).astype(np.float32)
    assert run_onnx(path, {"picture": inputs})["negative"].tolist() == (255 - inputs).tolist()


# -- files


@pytest.mark.parametrize("color", ["rgb", "bgr"])
def test_file_is_read_as_the_input_wants_it(tmp_path: Path, color: str) -> None:
    module = load(f"image_{color}")
    pixels = api.read_image(module, "picture", saved(tmp_path, IMAGE))
    assert pixels.tolist() == IMAGE.tolist()
    expected = planes(255 - IMAGE[:, :, :: 1 if color == "rgb" else -1])
    assert cir.run(module, {"picture": pixels})["negative"].tolist() == expected.tolist()


def test_colors_become_shades_and_shades_become_colors(tmp_path: Path) -> None:
    gray = api.read_image(load("image_grayscale"), "picture", saved(tmp_path, IMAGE))
    weights = np.array([0.299, 0.587, 0.114])
    assert np.max(np.abs(gray - IMAGE @ weights)) <= 1
    colors = api.read_image(load("image_rgb"), "picture", saved(tmp_path, GRAY))
    assert colors.tolist() == np.repeat(GRAY[:, :, np.newaxis], 3, 2).tolist()


def test_file_of_another_size_is_refused_unless_it_may_be_resized(tmp_path: Path) -> None:
    path = saved(tmp_path, np.full((6, 3, 3), 7, np.uint8))
    with pytest.raises(cir.DiagnosticError) as error:
        api.read_image(load("image_rgb"), "picture", path)
    assert diagnostic(error.value) == (
        "E0703 | input 'picture': an image of 3x6 pixels is not allowed | expected: 4x2 (width x height)"
    )
    pixels = api.read_image(load("image_rgb"), "picture", path, resize=True)
    assert pixels.shape == (2, 4, 3)
    assert np.all(pixels == 7)


def test_file_of_one_of_several_sizes_is_taken(tmp_path: Path) -> None:
    module = load("image_sizes")
    for shape in ((2, 4, 3), (4, 8, 3)):
        pixels = api.read_image(module, "picture", saved(tmp_path, np.full(shape, 9, np.uint8)))
        assert cir.run(module, {"picture": pixels})["y"].tolist() == [[9, 9, 9]]
    with pytest.raises(cir.DiagnosticError) as error:
        api.read_image(module, "picture", saved(tmp_path, np.full((4, 4, 3), 9, np.uint8)))
    assert "expected: [1, 3, 2, 4], [1, 3, 4, 8]" in diagnostic(error.value)
    assert cir.summarize(module).functions[0].inputs[0].note == "RGB image 4x2, or 8x4"


def test_orientation_of_a_photo_is_followed(tmp_path: Path) -> None:
    image = oracle("PIL.Image")
    turned = image.fromarray(np.full((4, 2, 3), 200, np.uint8))
    exif = image.Exif()
    exif[0x0112] = 6
    path = tmp_path / "photo.jpg"
    turned.save(path, exif=exif)
    assert api.read_image(load("image_rgb"), "picture", path).shape == (2, 4, 3)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "cannot read the image: cannot identify image file"),
        (b"GIF89a" + bytes(40), "cannot read the image: cannot identify image file"),
        (b"\x89PNG\r\n\x1a\n" + bytes(40), "cannot read the image:"),
    ],
)
def test_file_that_is_not_an_image_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(content)
    with pytest.raises(cir.DiagnosticError) as error:
        api.read_image(load("image_rgb"), "picture", path)
    assert error.value.diagnostics[0].code.id == "E0902"
    assert error.value.diagnostics[0].message.startswith(message)


def test_transparency_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, np.zeros((2, 4, 4), np.uint8))
    with pytest.raises(cir.DiagnosticError, match="it has transparency"):
        api.read_image(load("image_rgb"), "picture", path)


def test_plain_tensor_takes_only_a_file_of_its_size(tmp_path: Path) -> None:
    with pytest.raises(cir.DiagnosticError) as error:
        api.read_image(load("ranged"), "x", saved(tmp_path, IMAGE))
    assert diagnostic(error.value) == (
        "E0703 | input 'x': an image of 4x2 pixels does not fit | expected: 4x1 (width x height)"
    )


def test_images_without_pillow_name_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path, IMAGE)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(cir.DiagnosticError) as error:
        api.read_image(load("image_rgb"), "picture", path)
    (diagnostic,) = error.value.diagnostics
    assert (diagnostic.code.id, diagnostic.help) == ("E0705", "python -m pip install 'commonir[image]'")


def test_image_output_is_rounded_to_even_and_limited(tmp_path: Path) -> None:
    values = np.array([0.5, 1.5, 2.5, -3, 300, np.nan, np.inf, 254.6], np.float32).reshape(1, 1, 2, 4)
    port = load("image_grayscale").main.output_ports["negative"]
    path = tmp_path / "out.png"
    api.write_image(path, values, port)
    result = np.asarray(oracle("PIL.Image").open(path))
    assert result.tolist() == [[0, 2, 2, 0], [255, 0, 255, 255]]


def test_colors_of_an_image_output_are_saved_in_their_order(tmp_path: Path) -> None:
    port = load("image_bgr").main.output_ports["negative"]
    path = tmp_path / "out.png"
    api.write_image(path, planes(IMAGE[:, :, ::-1]).astype(np.float32), port)
    assert np.asarray(oracle("PIL.Image").open(path)).tolist() == IMAGE.tolist()
