"""Packages and descriptions that a verifier must reject.

Each row has the sentence or a part of it, and a package that breaks it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from commonir.base.codes import VIOLATED_CONSTRAINT
from commonir.base.file_codes import (
    DAMAGED_MESSAGE,
    INTERFACE_MISMATCH,
    INVALID_NAME,
    MALFORMED_MANIFEST,
    MISSING_PART,
    NEWER_FORMAT,
    NO_PROGRAM,
    NOT_IN_VERSION,
    PATH_OUTSIDE_MODEL,
    RISKY_PROGRAM,
)

from tests.formats.coreml import building as b
from tests.formats.coreml.rules import (
    FLOAT64,
    HALF,
    INT8,
    INT64,
    UINT8,
    Broken,
    Rule,
    X,
    classifier,
    edited,
    flexible,
    functions,
    image,
    main_of,
    program,
    relu,
    stateful,
)


def manifest(change: Callable[[dict[str, Any]], object]) -> Broken:
    """A package whose manifest has been changed."""
    declared = b.manifest()
    change(declared)
    return Broken(program(relu()), manifest=declared)


def item(**changes: object) -> Broken:
    """A package whose manifest contradicts the model."""
    return manifest(lambda m: m["itemInfoEntries"][b.MODEL_ITEM].update(changes))


def model_file(package: Path) -> Path:
    """Where the model of a package lies."""
    return package / "Data" / "com.apple.CoreML" / "model.mlmodel"


def as_folder(package: Path) -> None:
    """Puts a folder in the place of the model."""
    model_file(package).unlink()
    model_file(package).mkdir()


def described(change: Callable[[b.Message], object], content: b.Message | None = None) -> b.Message:
    """A model whose description has been changed."""
    return edited(lambda m: change(m.description), content)


def array(description: b.Message) -> b.Message:
    """The description of the first input as an array."""
    return description.input[0].type.multiArrayType


def listed() -> b.Message:
    """The type of a list of tensors."""
    kind = b.make("ValueType")
    kind.listType.type.CopyFrom(X)
    kind.listType.length.constant.size = 2
    return kind


def passing(kind: b.Message, code: int, version: int = 10) -> b.Message:
    """A model whose input of some type is only asked for its shape."""
    built = program(b.op("shape", {"x": "x"}, [("y", b.tensor(b.INT32, 2))]), inputs=[("x", kind)], opset="CoreML7")
    built.specificationVersion = version
    if not built.description.input:
        b.feature(built.description.input, "x", [2, 3])
    built.description.input[0].type.multiArrayType.dataType = code
    return built


def older(model: b.Message) -> None:
    """Takes the model back to version 7."""
    model.specificationVersion = 7
    main_of(model).opset = main_of(model).block_specializations[0].key = "CoreML6"


def optional(description: b.Message) -> None:
    """Makes the input optional without a default value."""
    description.input[0].type.isOptional = True


def enumerated_twice(version: int, *counts: int) -> b.Message:
    """A model with two enumerated inputs."""
    kind = b.tensor(b.FLOAT32, None, 3)
    add = b.op("add", {"x": "x", "y": "z"}, [("y", kind)])
    built = program(add, inputs=[("x", kind), ("z", kind)])
    built.specificationVersion = version
    del built.description.input[:]
    del built.description.output[:]
    for name, count in zip(("x", "z"), counts, strict=True):
        shapes = b.feature(built.description.input, name, [1, 3]).enumeratedShapes.shapes
        for n in range(1, count + 1):
            shapes.add(shape=[n, 3])
    b.feature(built.description.output, "y", [])
    return built


def deep(rank: int) -> b.Message:
    """A model whose values have a rank."""
    kind = b.tensor(b.FLOAT32, *[1] * rank)
    return program(relu(kind=kind), inputs=[("x", kind)])


def half(version: int) -> b.Message:
    """A model with half precision at the border."""
    built = program(relu(kind=HALF), inputs=[("x", HALF)])
    built.specificationVersion = version
    return built


def flexible_image(*sizes: tuple[int, int]) -> b.Message:
    """A model with an image of several sizes, the default being 8 wide and 4 high."""
    result = image((1, 3, None, None))
    for width, height in sizes:
        result.description.input[0].type.imageType.enumeratedSizes.sizes.add(width=width, height=height)
    return result


def ranged_image(width: tuple[int, int], height: tuple[int, int]) -> b.Message:
    """A model with an image in ranges of sizes, the default being 8 wide and 4 high."""
    result = image((1, 3, None, None))
    ranges = result.description.input[0].type.imageType.imageSizeRange
    ranges.widthRange.lowerBound, ranges.widthRange.upperBound = width
    ranges.heightRange.lowerBound, ranges.heightRange.upperBound = height
    return result


def multiplied(model: b.Message) -> b.Message:
    """A pipeline of one model, which states an older version."""
    outer: b.Message = type(model)(specificationVersion=model.specificationVersion - 1)
    outer.pipeline.models.add().CopyFrom(model)
    outer.pipeline.names.append("only")
    outer.description.CopyFrom(model.description)
    return outer


SOMETHING_ELSE = b"\x07\x07\x07\x07"

RESERVED = (
    "any bool program func tensor list dict tuple true false string bf16 fp16 fp32 fp64 int8 int16 int32 int64 "
    "uint8 uint16 uint32 uint64 state"
)

RULES: Sequence[Rule] = (
    # -- package
    Rule(
        "package: missing manifest keys",
        lambda: manifest(lambda m: m.pop("rootModelIdentifier")),
        MALFORMED_MANIFEST,
        "'rootModelIdentifier' must name an entry of 'itemInfoEntries', found nothing",
    ),
    Rule(
        "package: mistyped manifest keys",
        lambda: item(path=3),
        MALFORMED_MANIFEST,
        "'path' must be a string, found another value",
    ),
    Rule(
        "package: all four keys of an item are required",
        lambda: manifest(lambda m: m["itemInfoEntries"][b.MODEL_ITEM].pop("author")),
        MALFORMED_MANIFEST,
        "'author' must be a string, found none",
    ),
    Rule(
        "package: newer format version",
        lambda: manifest(lambda m: m.update(fileFormatVersion="2.0.0")),
        NEWER_FORMAT,
        "the package has format version 2.0.0; the newest known is 1.0.0",
    ),
    Rule(
        "package: item paths that leave Data/",
        lambda: item(path="../model.mlmodel"),
        PATH_OUTSIDE_MODEL,
        "a file name leads out of the folder of the model",
    ),
    Rule(
        "package: item paths that do not exist",
        lambda: item(path="com.apple.CoreML/other.mlmodel"),
        MISSING_PART,
        "'com.apple.CoreML/other.mlmodel', which the manifest lists, is missing",
    ),
    Rule(
        "package: root not a file",
        lambda: Broken(program(relu()), spoil=as_folder),
        MALFORMED_MANIFEST,
        "the model must be a file, but 'com.apple.CoreML/model.mlmodel' is a folder",
    ),
    Rule(
        "package: model that is not protobuf",
        lambda: Broken(SOMETHING_ELSE),
        DAMAGED_MESSAGE,
        "the model file cannot be read: 0 is not a field number",
    ),
    Rule(
        "package: a model of two types",
        lambda: Broken(program(relu()).SerializeToString() + b"\xa2\x1f\x00"),
        DAMAGED_MESSAGE,
        "the model file cannot be read: a model has one type, found 'mlProgram' and 'neuralNetwork'",
    ),
    Rule(
        "package: no mlProgram where one is expected",
        lambda: edited(lambda m: setattr(m, "neuralNetwork", b""), b.model(None)),
        NO_PROGRAM,
        "the model holds no ML Program: it is of type 'neuralNetwork'",
    ),
    # -- names of the description
    Rule(
        "description: names of inputs",
        lambda: described(lambda d: setattr(d.input[0], "name", "z")),
        INTERFACE_MISMATCH,
        "D2: the function has no input 'z'",
    ),
    Rule(
        "description: names of outputs",
        lambda: described(lambda d: setattr(d.output[0], "name", "z")),
        INTERFACE_MISMATCH,
        "D2: the function has no output 'z'",
    ),
    Rule(
        "description: names of states",
        lambda: described(lambda d: setattr(d.state[0], "name", "z"), stateful()),
        INTERFACE_MISMATCH,
        "D2: the function has no state 'z'",
    ),
    Rule(
        "description: names of functions",
        lambda: described(lambda d: setattr(d.functions[1], "name", "c"), functions(["a", "b"])),
        INTERFACE_MISMATCH,
        "D1: the program has no function 'c'",
    ),
    Rule(
        "description: names are described once",
        lambda: described(lambda d: b.feature(d.input, "x", [2, 3])),
        INTERFACE_MISMATCH,
        "D2: the input 'x' is described twice",
    ),
    Rule(
        "description: the single function is main",
        lambda: edited(lambda m: setattr(m.mlProgram.functions[0], "key", "other")),
        INTERFACE_MISMATCH,
        "D1: a model that lists no functions runs 'main', which the program does not have",
    ),
    Rule(
        "description: kind",
        lambda: described(lambda d: d.input[0].type.int64Type.SetInParent()),
        INTERFACE_MISMATCH,
        "D3: the input is described as a scalar, but its value is tensor<2x3xf32>",
    ),
    Rule(
        "description: element type",
        lambda: described(lambda d: setattr(array(d), "dataType", b.ARRAY_INT32)),
        INTERFACE_MISMATCH,
        "D3: the input is described as int32, but its value is tensor<2x3xf32>",
    ),
    Rule(
        "description: rank",
        lambda: described(lambda d: array(d).shape.append(1)),
        INTERFACE_MISMATCH,
        "D4: the input is described with rank 3, but its value is tensor<2x3xf32>",
    ),
    Rule(
        "description: fixed dims",
        lambda: described(lambda d: array(d).shape.__setitem__(0, 5)),
        INTERFACE_MISMATCH,
        "D4: dimension 0 of the input is described as 5, but it is fixed at 2",
    ),
    Rule(
        "description: default shape inside its range",
        lambda: flexible((3, 9), (3, 3)),
        INTERFACE_MISMATCH,
        "D5: the default size 2 of dimension 0 is outside of its range 3..9",
    ),
    Rule(
        "description: default shape inside its enumeration",
        lambda: flexible(shapes=[(4, 3), (5, 3)]),
        INTERFACE_MISMATCH,
        "D5: the default shape (2, 3) is not among the enumerated shapes",
    ),
    Rule(
        "description: one range for each dimension",
        lambda: flexible((1, 9)),
        INTERFACE_MISMATCH,
        "D5: there are 1 ranges of sizes for a default shape of rank 2",
    ),
    Rule(
        "description: fixed dims have lower = upper",
        lambda: flexible((1, 9), (1, 3)),
        INTERFACE_MISMATCH,
        "D4: dimension 1 of the input is described as 1..3, but it is fixed at 3",
    ),
    Rule(
        "description: ranges are not empty",
        lambda: flexible((5, 4), (3, 3)),
        INTERFACE_MISMATCH,
        "D5: the range 5..4 of dimension 0 is empty",
    ),
    Rule(
        "description: ML Programs need finite upper bounds on inputs",
        lambda: flexible((1, -1), (3, 3)),
        INTERFACE_MISMATCH,
        "D5: the range 1.. of dimension 0 of an input must have an upper bound",
    ),
    Rule(
        "description: at most 128 shapes",
        lambda: flexible(shapes=[(n, 3) for n in range(2, 131)]),
        INTERFACE_MISMATCH,
        "D5: at most 128 shapes can be enumerated, found 129",
    ),
    Rule(
        "description: before version 9 only one input may be enumerated",
        lambda: enumerated_twice(8, 2, 2),
        NOT_IN_VERSION,
        "D11: enumerated shapes of several inputs ('x', 'z') need version 9",
    ),
    Rule(
        "description: several enumerated inputs have equally many shapes",
        lambda: enumerated_twice(9, 2, 3),
        INTERFACE_MISMATCH,
        "D11: inputs with enumerated shapes must have equally many",
    ),
    Rule(
        "description: defaultFunctionName in functions",
        lambda: functions(["a", "b"], default="c"),
        INTERFACE_MISMATCH,
        "D6: the default function 'c' is not among the functions listed",
    ),
    Rule(
        "description: defaultFunctionName empty when functions is empty",
        lambda: described(lambda d: setattr(d, "defaultFunctionName", "main")),
        INTERFACE_MISMATCH,
        "D6: the default function is 'main', but no functions are listed",
    ),
    Rule(
        "description: several functions are described with the functions only",
        lambda: described(lambda d: b.feature(d.input, "x", [2, 3]), functions(["a", "b"])),
        INTERFACE_MISMATCH,
        "D12: inputs, outputs and states must be described with the functions only",
    ),
    Rule(
        "description: an optional input has a default value",
        lambda: described(optional),
        INTERFACE_MISMATCH,
        "D10: an optional input needs a default value",
    ),
    # -- images
    Rule(
        "image: shape",
        lambda: image((1, 3, 4, 9)),
        INTERFACE_MISMATCH,
        "D7: dimension 3 of the image must be 8, found 9",
    ),
    Rule(
        "image: channels",
        lambda: image((1, 3, 4, 8), color=10),
        INTERFACE_MISMATCH,
        "D7: dimension 1 of the image must be 1, found 3",
    ),
    Rule(
        "image: a known color space",
        lambda: image(color=0),
        INTERFACE_MISMATCH,
        "D7: the image has no known color space",
    ),
    Rule(
        "image: GRAYSCALE_FLOAT16 is fp16",
        lambda: image((1, 1, 4, 8), color=40),
        INTERFACE_MISMATCH,
        "D7: an image of color space GRAYSCALE_FLOAT16 is fp16, but its value is tensor<1x1x4x8xf32>",
    ),
    Rule(
        "image: uint8 only where it is grayscale",
        lambda: image(code=UINT8),
        INTERFACE_MISMATCH,
        "D7: only a grayscale image can be uint8",
    ),
    Rule(
        "image: uint8 from version 8",
        lambda: edited(older, image((1, 1, 4, 8), 10, UINT8)),
        NOT_IN_VERSION,
        "D13: an image of type uint8 needs specification version 8",
    ),
    Rule(
        "image: default size inside its enumeration",
        lambda: flexible_image((9, 4), (10, 4)),
        INTERFACE_MISMATCH,
        "D5: the default size 8 x 4 of the image is not among the enumerated sizes",
    ),
    Rule(
        "image: default size inside its range",
        lambda: ranged_image((9, 20), (4, 9)),
        INTERFACE_MISMATCH,
        "D5: the default width 8 of the image is outside of its range 9..20",
    ),
    Rule(
        "image: ranges are not empty",
        lambda: ranged_image((9, 2), (4, 9)),
        INTERFACE_MISMATCH,
        "D5: the range 9..2 of the width of the image is empty",
    ),
    Rule(
        "image: ranges of inputs have an upper bound",
        lambda: ranged_image((1, -1), (4, 9)),
        INTERFACE_MISMATCH,
        "D5: the range 1.. of the width of an input must have an upper bound",
    ),
    # -- classifiers
    Rule(
        "classifier: the label is an output",
        lambda: described(lambda d: setattr(d, "predictedFeatureName", "k"), classifier()),
        INTERFACE_MISMATCH,
        "D8: the label 'k' must be an output of type string or int64",
    ),
    Rule(
        "classifier: the probabilities are an output",
        lambda: described(lambda d: setattr(d, "predictedProbabilitiesName", "k"), classifier()),
        INTERFACE_MISMATCH,
        "D8: the probabilities 'k' must be an output that is a dictionary",
    ),
    Rule(
        "classifier: the label is described with its type",
        lambda: described(lambda d: d.output[0].type.int64Type.SetInParent(), classifier()),
        INTERFACE_MISMATCH,
        "D3: the output is described as int64, but its value is tensor<!builtin.string>",
    ),
    Rule(
        "classifier: the keys of the dictionary are described with their type",
        lambda: described(lambda d: d.output[1].type.dictionaryType.int64KeyType.SetInParent(), classifier()),
        INTERFACE_MISMATCH,
        "D3: the keys of the dictionary are described as int64, found "
        "!builtin.map<tensor<!builtin.string>, tensor<f64>>",
    ),
    Rule(
        "classifier: label count",
        lambda: classifier(labels=["a", "b"]),
        VIOLATED_CONSTRAINT,
        "mil.classify: C1: classes is a list of strings or integers, with one entry for each probability",
    ),
    Rule(
        "classifier: none among several functions",
        lambda: described(lambda d: setattr(d.functions[0], "predictedFeatureName", "y"), functions(["a", "b"])),
        INTERFACE_MISMATCH,
        "D8: a model with several functions cannot be a classifier",
    ),
    # -- versions
    Rule(
        "version: opset",
        lambda: edited(lambda m: setattr(m, "specificationVersion", 6), program(relu(), opset="CoreML6")),
        NOT_IN_VERSION,
        "V1: the operation set CoreML6 needs specification version 7, found 6",
    ),
    Rule(
        "version: ML Programs",
        lambda: edited(lambda m: setattr(m, "specificationVersion", 5)),
        NOT_IN_VERSION,
        "V1: ML Programs need specification version 6, found 5",
    ),
    Rule(
        "version: newer than all that are known",
        lambda: edited(lambda m: setattr(m, "specificationVersion", 99)),
        NEWER_FORMAT,
        "V1: specification version 99 is not known yet: 10 is the newest",
    ),
    Rule(
        "version: several functions",
        lambda: functions(["a", "b"], version=8),
        NOT_IN_VERSION,
        "V2: several functions need specification version 9, found 8",
    ),
    Rule(
        "version: state",
        lambda: stateful(version=8),
        NOT_IN_VERSION,
        "V1: the operation set CoreML8 needs specification version 9, found 8",
    ),
    Rule(
        "version: of a pipeline is the maximum of its parts",
        lambda: multiplied(program(relu(), opset="CoreML6")),
        NOT_IN_VERSION,
        "V4: model 0 needs specification version 7, the pipeline states 6",
    ),
    Rule(
        "version: fp16 at the border",
        lambda: half(6),
        NOT_IN_VERSION,
        "D13: an input or output of type fp16 needs specification version 7",
    ),
    Rule(
        "version: int8 at the border",
        lambda: passing(b.tensor(INT8, 2, 3), 131080, 9),
        NOT_IN_VERSION,
        "D13: an input or output of type int8 needs specification version 10",
    ),
    # -- what may cross the border
    Rule(
        "border: no fp64",
        lambda: passing(b.tensor(FLOAT64, 2, 3), b.ARRAY_DOUBLE),
        INTERFACE_MISMATCH,
        "D13: fp64 cannot be the type of an input or output",
    ),
    Rule(
        "border: no int64",
        lambda: passing(b.tensor(INT64, 2, 3), 0),
        INTERFACE_MISMATCH,
        "D13: an unknown type cannot be the type of an input or output",
    ),
    Rule(
        "border: no bool",
        lambda: passing(b.tensor(b.BOOL, 2, 3), 0),
        INTERFACE_MISMATCH,
        "D13: an unknown type cannot be the type of an input or output",
    ),
    Rule(
        "border: no uint8 arrays",
        lambda: passing(b.tensor(UINT8, 2, 3), 0),
        INTERFACE_MISMATCH,
        "D13: an unknown type cannot be the type of an input or output",
    ),
    Rule(
        "border: a list is not an input",
        lambda: passing(listed(), b.ARRAY_FLOAT32),
        INTERFACE_MISMATCH,
        "D3: the input is described as a multiarray, but its value is !builtin.list<tensor<2x3xf32>, 2>",
    ),
    Rule(
        "border: rank at most 5", lambda: deep(6), RISKY_PROGRAM, "R1: 'x' has rank 6, and Core ML runs rank 5 at most"
    ),
    Rule(
        "border: an output that is an input needs an identity",
        lambda: program(relu("x", "z"), outputs=["x"]),
        RISKY_PROGRAM,
        "R2: the output 'x' is an input; Core ML expects an identity in between",
    ),
    Rule(
        "border: an output that is a constant needs an identity",
        lambda: program(relu("x", "z"), b.const("y", b.immediate(X, "floats", [1.0] * 6))),
        RISKY_PROGRAM,
        "R2: the output 'y' is a constant; Core ML expects an identity in between",
    ),
    # -- states
    Rule(
        "state: only fp16",
        lambda: stateful(kind=X),
        INTERFACE_MISMATCH,
        "D9: a state must be fp16 with a fixed shape, found tensor<2x3xf32>",
    ),
    Rule(
        "state: listed in state, not in input",
        lambda: described(lambda d: b.feature(d.input, "s", [2, 3], b.ARRAY_FLOAT16), stateful()),
        INTERFACE_MISMATCH,
        "D2: the function has no input 's'",
    ),
    Rule(
        "state: fixed shape",
        lambda: described(
            lambda d: d.state[0].type.stateType.arrayType.shapeRange.sizeRanges.add(lowerBound=1, upperBound=2),
            stateful(),
        ),
        INTERFACE_MISMATCH,
        "D9: the shape of a state cannot be flexible",
    ),
    Rule(
        "state: described with its shape",
        lambda: described(lambda d: d.state[0].type.stateType.arrayType.shape.append(1), stateful()),
        INTERFACE_MISMATCH,
        "D9: the state is described as fp16 of shape (2, 3, 1), but its value is tensor<2x3xf16>",
    ),
    # -- names
    *(
        Rule(
            f"names: '{word}' is reserved",
            lambda word=word: program(relu(name=word), relu()),
            INVALID_NAME,
            f"N2: the output name '{word}' is a keyword of MIL text",
        )
        for word in RESERVED.split()
    ),
)
