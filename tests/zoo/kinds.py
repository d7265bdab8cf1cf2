"""Packages of each kind of program that Core ML has, as small as can be: `python -m tests.zoo.kinds --out DIR`.

Made with coremltools' own builders. What each computes is plain from its text here, so that tests write the expected
results out. Kept in `tests/models/kinds`; made again, they differ in dates and identifiers only.
"""

from __future__ import annotations

import argparse
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

os.environ.setdefault("TQDM_DISABLE", "1")
logging.getLogger("coremltools").setLevel(logging.ERROR)

import numpy as np  # noqa: E402

Model = Any
Spec = Any

# coremltools has no types.
ct: Any = import_module("coremltools")
mb: Any = import_module("coremltools.converters.mil").Builder
mil: Any = import_module("coremltools.converters.mil.mil")
types = mil.types
get_new_symbol = mil.get_new_symbol

F32 = np.float32
IOS16, IOS17, IOS18 = ct.target.iOS16, ct.target.iOS17, ct.target.iOS18


def spec(*shape: int, dtype: Any = types.fp32) -> Any:
    """The type of an input."""
    return mb.TensorSpec(shape, dtype=dtype)


def converted(program: Any, target: Any = IOS16, **inputs: Any) -> Model:
    """A program of the builder as a model, in single precision unless the program says otherwise."""
    return ct.convert(
        program,
        convert_to="mlprogram",
        skip_model_load=True,
        compute_precision=ct.precision.FLOAT32,
        minimum_deployment_target=target,
        **inputs,
    )


def renewed(model: Model, change: Callable[[Spec], None]) -> Model:
    """A model with its specification changed."""
    result = model.get_spec()
    change(result)
    return ct.models.MLModel(result, weights_dir=model.weights_dir, skip_model_load=True)


# -- states


def accumulator() -> Model:
    """acc += x; y = 2 * acc."""

    @mb.program(
        input_specs=[spec(2, 3, dtype=types.fp16), mb.StateTensorSpec((2, 3), dtype=types.fp16)],
        opset_version=IOS18,
    )
    def program(x: Any, acc: Any) -> Any:
        total = mb.add(x=mb.read_state(input=acc), y=x)
        after = mb.coreml_update_state(state=acc, value=total)
        return mb.mul(x=after, y=np.float16(2), name="y")

    return converted(program, IOS18)


def cache() -> Model:
    """Puts row x [1, 2] at position `at` of the cache [4, 2]; y is the sum of its rows, n their number."""

    @mb.program(
        input_specs=[
            spec(1, 2, dtype=types.fp16),
            spec(1, dtype=types.int32),
            mb.StateTensorSpec((4, 2), dtype=types.fp16),
            mb.StateTensorSpec((1,), dtype=types.fp16),
        ],
        opset_version=IOS18,
    )
    def program(x: Any, at: Any, rows: Any, count: Any) -> Any:
        values = mb.scatter(data=mb.read_state(input=rows), indices=at, updates=x, axis=0, mode="update")
        stored = mb.coreml_update_state(state=rows, value=values)
        more = mb.add(x=mb.read_state(input=count), y=np.array([1], np.float16))
        n = mb.coreml_update_state(state=count, value=more)
        return mb.reduce_sum(x=stored, axes=[0], keep_dims=False, name="y"), mb.identity(x=n, name="n")

    return converted(program, IOS18)


def state_in_branch() -> Model:
    """Where x is positive the state becomes state + x, else it stays; y is the state."""

    @mb.program(
        input_specs=[spec(1, dtype=types.fp16), mb.StateTensorSpec((1,), dtype=types.fp16)],
        opset_version=IOS18,
    )
    def program(x: Any, acc: Any) -> Any:
        positive = mb.squeeze(x=mb.greater(x=x, y=np.float16(0)))
        stored = mb.read_state(input=acc)
        total = mb.cond(pred=positive, _true_fn=lambda: mb.add(x=stored, y=x), _false_fn=lambda: mb.identity(x=stored))
        after = mb.coreml_update_state(state=acc, value=total)
        return mb.identity(x=after, name="y")

    return converted(program, IOS18)


# -- several functions


def functions() -> Model:
    """`double` and `triple` of x, from the same weight [1, 2, ..., 12]: y = 2 * x * w and y = 3 * x * w."""
    weight = np.arange(1, 13, dtype=np.float16)

    def times(factor: int) -> Model:
        @mb.program(input_specs=[spec(12, dtype=types.fp16)], opset_version=IOS18)
        def program(x: Any) -> Any:
            scaled = mb.mul(x=x, y=np.float16(factor))
            return mb.mul(x=scaled, y=weight, name="y")

        return converted(program, IOS18)

    return joined({"double": times(2), "triple": times(3)}, "double")


def shared_state() -> Model:
    """`add` and `take` of x: acc += x or acc -= x, on one state; y = acc."""

    def step(sign: int) -> Model:
        @mb.program(
            input_specs=[spec(2, dtype=types.fp16), mb.StateTensorSpec((2,), dtype=types.fp16)],
            opset_version=IOS18,
        )
        def program(x: Any, acc: Any) -> Any:
            total = mb.add(x=mb.read_state(input=acc), y=mb.mul(x=x, y=np.float16(sign)))
            return mb.identity(x=mb.coreml_update_state(state=acc, value=total), name="y")

        return converted(program, IOS18)

    return joined({"add": step(1), "take": step(-1)}, "add")


def joined(models: Mapping[str, Model], default: str) -> Model:
    """Models as the functions of one."""
    folder = Path(tempfile.mkdtemp())
    described = ct.utils.MultiFunctionDescriptor()
    for name, model in models.items():
        place = str(folder / f"{name}.mlpackage")
        model.save(place)
        described.add_function(place, src_function_name="main", target_function_name=name)
    described.default_function_name = default
    ct.utils.save_multifunction(described, str(folder / "all.mlpackage"))
    return ct.models.MLModel(str(folder / "all.mlpackage"), skip_model_load=True)


def specializations() -> Model:
    """y = x + 1; a second body, for an operation set that is not the active one, says x + 2."""

    @mb.program(input_specs=[spec(3)], opset_version=IOS16)
    def program(x: Any) -> Any:
        return mb.add(x=x, y=F32(1), name="y")

    def change(spec: Spec) -> None:
        main = spec.mlProgram.functions["main"]
        other = main.block_specializations["CoreML5"]
        other.CopyFrom(main.block_specializations["CoreML6"])
        for op in other.operations:
            if op.type == "const" and op.attributes["val"].immediateValue.tensor.HasField("floats"):
                op.attributes["val"].immediateValue.tensor.floats.values[:] = [2.0]

    return renewed(converted(program), change)


# -- shapes


def enumerated() -> Model:
    """y = sum of a and of b; the shapes of a and b belong together: [1, 2] with [3, 1], or [1, 4] with [5, 1]."""

    @mb.program(
        input_specs=[mb.TensorSpec((1, get_new_symbol())), mb.TensorSpec((get_new_symbol(), 1))],
        opset_version=IOS18,
    )
    def program(a: Any, b: Any) -> Any:
        first = mb.reduce_sum(x=a, axes=[0, 1], keep_dims=False)
        second = mb.reduce_sum(x=b, axes=[0, 1], keep_dims=False)
        return mb.add(x=first, y=second, name="y")

    shapes = {
        "a": ct.EnumeratedShapes([(1, 2), (1, 4)], default=(1, 2)),
        "b": ct.EnumeratedShapes([(3, 1), (5, 1)], default=(3, 1)),
    }
    inputs = [ct.TensorType(name=name, shape=shape) for name, shape in shapes.items()]
    return converted(program, IOS18, inputs=inputs)


def ranged() -> Model:
    """y = 2 * x for x of shape [1, 3..6], by default [1, 5]."""

    @mb.program(input_specs=[mb.TensorSpec((1, get_new_symbol()))], opset_version=IOS16)
    def program(x: Any) -> Any:
        return mb.mul(x=x, y=F32(2), name="y")

    shape = ct.Shape((1, ct.RangeDim(3, 6, default=5)))
    return converted(program, inputs=[ct.TensorType(name="x", shape=shape)])


def optional() -> Model:
    """y = x * scale, where scale is 2.5 when it is not given."""

    @mb.program(input_specs=[spec(3), spec(3)], opset_version=IOS16)
    def program(x: Any, scale: Any) -> Any:
        return mb.mul(x=x, y=scale, name="y")

    inputs = [
        ct.TensorType(name="x", shape=(3,)),
        ct.TensorType(name="scale", shape=(3,), default_value=np.full(3, 2.5, F32)),
    ]
    return converted(program, inputs=inputs)


# -- images


def image(color: str, dtype: Any = types.fp32, target: Any = IOS16) -> Model:
    """The negative of an image of 4 by 2 pixels (width by height): 255 - pixel."""
    channels = 3 if color in ("RGB", "BGR") else 1

    @mb.program(input_specs=[spec(1, channels, 2, 4, dtype=dtype)], opset_version=target)
    def program(picture: Any) -> Any:
        high = np.float16(255) if dtype is types.fp16 else F32(255)
        return mb.sub(x=high, y=picture, name="negative")

    layout = getattr(ct.colorlayout, color)
    kind = ct.ImageType(name="picture", shape=(1, channels, 2, 4), color_layout=layout)
    return with_image_output(converted(program, target, inputs=[kind]), color)


def with_image_output(model: Model, color: str) -> Model:
    """A model whose only output is an image of 4 by 2 pixels, which the builder cannot say."""

    def change(spec: Spec) -> None:
        kind = spec.description.output[0].type.imageType
        kind.width, kind.height = 4, 2
        kind.colorSpace = ct.proto.FeatureTypes_pb2.ImageFeatureType.ColorSpace.Value(color)

    return renewed(model, change)


def image_sizes() -> Model:
    """y = the mean over the pixels of a color image of 4 by 2 or 8 by 4 pixels (width by height)."""

    @mb.program(input_specs=[mb.TensorSpec((1, 3, get_new_symbol(), get_new_symbol()))], opset_version=IOS16)
    def program(picture: Any) -> Any:
        return mb.reduce_mean(x=picture, axes=[2, 3], keep_dims=False, name="y")

    shapes = ct.EnumeratedShapes([(1, 3, 2, 4), (1, 3, 4, 8)], default=(1, 3, 2, 4))
    return converted(program, inputs=[ct.ImageType(name="picture", shape=shapes)])


# -- classifiers


def classifier(labels: list[Any]) -> Model:
    """The softmax of three numbers, by label."""

    @mb.program(input_specs=[spec(1, 3)], opset_version=IOS16)
    def program(x: Any) -> Any:
        return mb.softmax(x=x, axis=-1, name="probabilities")

    return converted(program, classifier_config=ct.ClassifierConfig(labels))


# -- pipelines


def doubled() -> Model:
    """h = 2 * x."""

    @mb.program(input_specs=[spec(1, 3)], opset_version=IOS16)
    def program(x: Any) -> Any:
        return mb.mul(x=x, y=F32(2), name="h")

    return converted(program)


def pipeline() -> Model:
    """h = x * [1 .. 12]; y = h * [12 .. 1]: each model has a weight file of its own."""
    up = np.arange(1, 13, dtype=F32).reshape(1, 12)

    @mb.program(input_specs=[spec(1, 12)], opset_version=IOS16)
    def first(x: Any) -> Any:
        return mb.mul(x=x, y=up, name="h")

    @mb.program(input_specs=[spec(1, 12)], opset_version=IOS16)
    def second(h: Any) -> Any:
        return mb.mul(x=h, y=up[:, ::-1].copy(), name="y")

    return ct.utils.make_pipeline(converted(first), converted(second))


def stateful_pipeline() -> Model:
    """acc += x; y = 2 * acc; z = y + 1 in a second model."""

    @mb.program(input_specs=[spec(2, 3, dtype=types.fp16)], opset_version=IOS18)
    def program(y: Any) -> Any:
        return mb.add(x=y, y=np.float16(1), name="z")

    return ct.utils.make_pipeline(accumulator(), converted(program, IOS18))


def pipeline_classifier() -> Model:
    """h = 2 * x, then a classifier of h."""

    @mb.program(input_specs=[spec(1, 3)], opset_version=IOS16)
    def program(h: Any) -> Any:
        return mb.softmax(x=h, axis=-1, name="probabilities")

    second = converted(program, classifier_config=ct.ClassifierConfig(["a", "b", "c"]))
    return as_kind(ct.utils.make_pipeline(doubled(), second), "pipelineClassifier")


def as_kind(model: Model, kind: str) -> Model:
    """A pipeline as one of another purpose."""

    def change(spec: Spec) -> None:
        inner = spec.pipeline.__class__()
        inner.CopyFrom(spec.pipeline)
        getattr(spec, kind).pipeline.CopyFrom(inner)
        last = inner.models[-1].description
        spec.description.predictedFeatureName = last.predictedFeatureName
        spec.description.predictedProbabilitiesName = last.predictedProbabilitiesName

    return renewed(model, change)


def pipeline_regressor() -> Model:
    """h = 2 * x; y = h + [0, 1, 2]: a pipeline of the kind for one number, which this format does not check."""

    @mb.program(input_specs=[spec(1, 3)], opset_version=IOS16)
    def program(h: Any) -> Any:
        return mb.add(x=h, y=np.arange(3, dtype=F32)[None], name="y")

    return as_kind(ct.utils.make_pipeline(doubled(), converted(program)), "pipelineRegressor")


def image_pipeline() -> Model:
    """An image times 1.3, handed over as an image of eight bits for each channel, then its negative."""

    @mb.program(input_specs=[spec(1, 3, 2, 4)], opset_version=IOS16)
    def first(picture: Any) -> Any:
        return mb.mul(x=picture, y=F32(1.3), name="brighter")

    @mb.program(input_specs=[spec(1, 3, 2, 4)], opset_version=IOS16)
    def second(brighter: Any) -> Any:
        return mb.sub(x=F32(255), y=brighter, name="negative")

    def pictures(name: str) -> Any:
        return ct.ImageType(name=name, shape=(1, 3, 2, 4))

    stages = [
        with_image_output(converted(first, inputs=[pictures("picture")]), "RGB"),
        converted(second, inputs=[pictures("brighter")]),
    ]
    return ct.utils.make_pipeline(*stages)


def detector(kind: str) -> Model:
    """Boxes of a program, then the suppression of those that overlap; `kind` is `plain`, `per_class` or `fixed`."""

    @mb.program(input_specs=[spec(6, 2), spec(6, 4)], opset_version=IOS16)
    def program(scores: Any, boxes: Any) -> Any:
        return (
            mb.mul(x=scores, y=F32(0.5), name="raw_confidence"),
            mb.mul(x=boxes, y=F32(2), name="raw_coordinates"),
        )

    first = converted(program)
    second = ct.proto.Model_pb2.Model()
    second.specificationVersion = 4
    described = second.description
    suppression = second.nonMaximumSuppression
    float32 = ct.proto.FeatureTypes_pb2.ArrayFeatureType.FLOAT32
    for name, width in (("raw_confidence", 2), ("raw_coordinates", 4)):
        feature = described.input.add(name=name)
        feature.type.multiArrayType.dataType = float32
        feature.type.multiArrayType.shape.extend([6, width])
    if kind != "fixed":
        for name in ("iouThreshold", "confidenceThreshold"):
            feature = described.input.add(name=name)
            feature.type.doubleType.SetInParent()
            feature.type.isOptional = True
        suppression.iouThresholdInputFeatureName = "iouThreshold"
        suppression.confidenceThresholdInputFeatureName = "confidenceThreshold"
    for name, width in (("confidence", 2), ("coordinates", 4)):
        feature = described.output.add(name=name)
        feature.type.multiArrayType.dataType = float32
        rows = feature.type.multiArrayType.shapeRange.sizeRanges.add()
        rows.lowerBound, rows.upperBound = (4, 4) if kind == "fixed" else (0, -1)
        columns = feature.type.multiArrayType.shapeRange.sizeRanges.add()
        columns.lowerBound, columns.upperBound = width, width
    suppression.pickTop.perClass = kind == "per_class"
    suppression.stringClassLabels.vector.extend(["cat", "dog"])
    suppression.iouThreshold, suppression.confidenceThreshold = 0.45, 0.25
    suppression.confidenceInputFeatureName = "raw_confidence"
    suppression.coordinatesInputFeatureName = "raw_coordinates"
    suppression.confidenceOutputFeatureName = "confidence"
    suppression.coordinatesOutputFeatureName = "coordinates"
    return ct.utils.make_pipeline(first, ct.models.MLModel(second, skip_model_load=True))


def opaque_stage() -> Model:
    """h = 2 * x, then a model of a kind that is not a program: a scaler."""
    second = ct.proto.Model_pb2.Model()
    second.specificationVersion = 1
    for features, name in ((second.description.input, "h"), (second.description.output, "y")):
        feature = features.add(name=name)
        feature.type.multiArrayType.dataType = ct.proto.FeatureTypes_pb2.ArrayFeatureType.FLOAT32
        feature.type.multiArrayType.shape.extend([1, 3])
    second.scaler.shiftValue.extend([1.0])
    second.scaler.scaleValue.extend([3.0])
    return ct.utils.make_pipeline(doubled(), ct.models.MLModel(second, skip_model_load=True))


KINDS: Mapping[str, Callable[[], Model]] = {
    "accumulator": accumulator,
    "cache": cache,
    "state_in_branch": state_in_branch,
    "functions": functions,
    "shared_state": shared_state,
    "specializations": specializations,
    "enumerated": enumerated,
    "ranged": ranged,
    "optional": optional,
    "image_rgb": lambda: image("RGB"),
    "image_bgr": lambda: image("BGR"),
    "image_grayscale": lambda: image("GRAYSCALE"),
    "image_grayscale_half": lambda: image("GRAYSCALE_FLOAT16", types.fp16),
    "image_sizes": image_sizes,
    "classifier_texts": lambda: classifier(["cat", "dog", "fox"]),
    "classifier_numbers": lambda: classifier([10, 20, 30]),
    "pipeline": pipeline,
    "pipeline_states": stateful_pipeline,
    "pipeline_classifier": pipeline_classifier,
    "pipeline_regressor": pipeline_regressor,
    "pipeline_images": image_pipeline,
    "detector": lambda: detector("plain"),
    "detector_per_class": lambda: detector("per_class"),
    "detector_fixed": lambda: detector("fixed"),
    "pipeline_opaque": opaque_stage,
}


def main() -> None:
    """Makes the packages that are asked for, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.zoo.kinds", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *KINDS], metavar="NAMES")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    for name in arguments.names or KINDS:
        place = arguments.out / f"{name}.mlpackage"
        shutil.rmtree(place, ignore_errors=True)
        KINDS[name]().save(str(place))
        for folder in place.rglob("weights"):
            # git keeps no empty folders.
            if not any(folder.iterdir()):
                (folder / ".gitkeep").touch()
        print(place, flush=True)


if __name__ == "__main__":
    main()
