"""The description of a model as attributes: nothing of the message is lost, and the typed view has its contents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.base.limits import DEFAULT_LIMITS
from commonir.dialects.mil.description import description_attribute, port_of_feature, read_description
from commonir.formats.coreml.messages import message_class
from commonir.formats.coreml.model import decode_model, encode_model
from commonir.formats.coreml.read import read
from commonir.formats.protobuf.attribute_form import to_attribute, to_message
from commonir.ir.attributes import BytesAttr, DictionaryAttr, IntegerAttr, StringAttr
from commonir.ir.interface import ColorSpace, DimRange, Metadata, Port, metadata_of, set_metadata
from commonir.ir.module import Module
from commonir.ods import Dialects
from commonir.passes.lower import lower
from commonir.text.parser import parse_module
from commonir.text.printer import print_module

MODELS = sorted((Path(__file__).parents[2] / "models").glob("*/*.mlpackage"))


def every_feature() -> Any:
    model: Any = message_class("Model")()
    model.specificationVersion = 9
    model.isUpdatable = True
    about = model.description
    array = about.input.add(name="x", shortDescription="what goes in").type.multiArrayType
    array.shape.extend([1, 4])
    array.dataType = 65568
    array.shapeRange.sizeRanges.add(lowerBound=1, upperBound=-1)
    array.shapeRange.sizeRanges.add(lowerBound=4, upperBound=4)
    array.floatDefaultValue = 0.1
    about.input[0].type.isOptional = True
    image = about.input.add(name="picture").type.imageType
    image.width, image.height, image.colorSpace = 8, 6, 30
    image.enumeratedSizes.sizes.add(width=8, height=6)
    image.enumeratedSizes.sizes.add(width=16, height=12)
    about.output.add(name="label").type.stringType.SetInParent()
    about.output.add(name="probabilities").type.dictionaryType.stringKeyType.SetInParent()
    sequence = about.output.add(name="sequence").type.sequenceType
    sequence.int64Type.SetInParent()
    sequence.sizeRange.upperBound = 7
    state = about.state.add(name="cache").type.stateType.arrayType
    state.shape.extend([2, 3])
    state.dataType = 65552
    about.predictedFeatureName = "label"
    about.predictedProbabilitiesName = "probabilities"
    return model


def test_attribute_form_of_a_message_is_the_message_again() -> None:
    model = every_feature()
    model.description.MergeFromString(b"\xa8\x3e\x07")
    form = to_attribute(model)
    assert to_message(message_class("Model"), form) == model
    assert to_message(message_class("Model"), form).SerializeToString(deterministic=True) == model.SerializeToString(
        deterministic=True
    )


def test_typed_view_written_as_attributes_is_the_same_message() -> None:
    model = every_feature()
    description = read_description(to_attribute(model))
    assert to_message(message_class("Model"), description_attribute(description)) == model


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.parent.name)
def test_models_of_the_zoo_keep_their_description(path: Path) -> None:
    module = read(path, Dialects())
    content = next((path / "Data").rglob("*.mlmodel")).read_bytes()
    expected = message_class("Model")()
    expected.ParseFromString(content)
    expected.ClearField("mlProgram")
    kind = expected.WhichOneof("Type") or ""
    if kind.startswith("pipeline"):
        # The models of a pipeline are modules of their own.
        stored = getattr(expected, kind)
        (stored if kind == "pipeline" else stored.pipeline).ClearField("models")
    assert encode_model(module) == expected


def test_metadata_move_to_an_attribute_of_no_format() -> None:
    model = every_feature()
    model.description.metadata.author = "somebody"
    model.description.metadata.userDefined.add(key="author", value="another")
    form = decode_model(model.SerializeToString(), DEFAULT_LIMITS)
    assert form.metadata == Metadata(author="somebody", user_defined=(("author", "another"),))
    module = Module({"coreml.model": form.attribute})
    set_metadata(module, form.metadata)
    assert encode_model(module) == model


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        (DictionaryAttr((("descripton", StringAttr("")),)), "'Model' has no field 'descripton'"),
        (DictionaryAttr((("description", IntegerAttr(1)),)), "'Model.description': expected a dictionary"),
        (DictionaryAttr((("specificationVersion", StringAttr("9")),)), "'Model' cannot be written"),
        (DictionaryAttr((("specificationVersion", IntegerAttr(2**40)),)), "'Model' cannot be written"),
        (DictionaryAttr((("", BytesAttr(b"\xff")),)), "'Model' cannot be written"),
    ],
)
def test_attribute_that_stands_for_no_message_is_refused(attribute: DictionaryAttr, message: str) -> None:
    with pytest.raises(DiagnosticError, match=message):
        to_message(message_class("Model"), attribute)


def test_ports_and_metadata_travel_through_lowering_and_text() -> None:
    path = next(p for p in MODELS if p.parent.name == "mobilenet_v2_image_fp32")
    lowered = lower(read(path, Dialects()))
    assert lowered.main.input_ports["image"] == Port("", ColorSpace.RGB, (1, 3, 48, 48))
    again = parse_module(print_module(lowered, elide=None), Dialects())
    assert again.main.input_ports == lowered.main.input_ports
    assert "com.github.apple.coremltools.version" in dict(metadata_of(again).user_defined)
    assert metadata_of(again) == metadata_of(lowered)


def test_image_feature_is_a_port_of_channels_first_shapes() -> None:
    description = read_description(to_attribute(every_feature()))
    port = port_of_feature(description.interfaces[0].inputs[1])
    assert port == Port("", ColorSpace.BGR, (1, 3, 6, 8), ((1, 3, 6, 8), (1, 3, 12, 16)))
    assert DimRange(1, None) == port_of_feature(description.interfaces[0].inputs[0]).ranges[0]
