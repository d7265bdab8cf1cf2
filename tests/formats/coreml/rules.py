"""A rule of the format with a package that breaks it, and programs to break rules with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commonir import api
from commonir.base.diagnostics import Code, DiagnosticError

from tests.formats.coreml import building as b

X = b.tensor(b.FLOAT32, 2, 3)
HALF = b.tensor(b.FLOAT16, 2, 3)
TRUTH = b.tensor(b.BOOL)
NUMBER = b.tensor(b.INT32)
UINT1, UINT8, INT8, INT64, FLOAT64 = 37, 31, 21, 24, 12
OPSETS = {"CoreML5": 6, "CoreML6": 7, "CoreML7": 8, "CoreML8": 9, "CoreML9": 10}


@dataclass(frozen=True)
class Broken:
    """A package that breaks a rule."""

    content: b.Message | bytes
    weights: bytes | None = b.SIMPLE_WEIGHTS
    manifest: Any = None
    spoil: Callable[[Path], object] | None = None
    """The change to the package after it has been written."""


@dataclass(frozen=True)
class Rule:
    """A sentence of a document, what breaks it, and the finding."""

    sentence: str
    broken: Callable[[], Broken | b.Message]
    code: Code
    message: str


def findings(folder: Path, inputs: Broken | b.Message) -> list[tuple[str, str, str]]:
    """Returns code, message and place of the findings of a package."""
    broken = inputs if isinstance(inputs, Broken) else Broken(inputs)
    package = b.save(folder, broken.content, broken.weights, broken.manifest)
    if broken.spoil is not None:
        broken.spoil(package)
    try:
        _, diagnostics = api.check(package)
    except DiagnosticError as error:
        diagnostics = list(error.diagnostics)
    return [(d.code.id, d.message, d.where) for d in diagnostics]


# -- programs


def relu(source: str = "x", name: str = "y", kind: b.Message = X) -> b.Message:
    """An operation that keeps all rules."""
    return b.op("relu", {"x": source}, [(name, kind)])


def program(
    *operations: b.Message,
    outputs: Iterable[str] = ("y",),
    inputs: Iterable[b.Output] = (("x", X),),
    opset: str = "CoreML5",
) -> b.Message:
    """A model of one function."""
    main = b.function(list(inputs), b.block(operations, list(outputs)), opset)
    return b.model(b.program({"main": main}), OPSETS.get(opset, 6))


def with_op(
    type: str,
    inputs: Mapping[str, Any],
    outputs: Iterable[b.Output] = (("y", X),),
    *constants: b.Message,
    opset: str = "CoreML5",
    **options: Any,
) -> b.Message:
    """A model of one operation, on `x` and constants."""
    named = list(outputs)
    return program(*constants, b.op(type, inputs, named, **options), outputs=[named[0][0]], opset=opset)


def constants(*values: b.Message) -> b.Message:
    """A model with constants that nothing uses."""
    return program(*(b.const(f"c{n}", value) for n, value in enumerate(values)), relu())


def edited(change: Callable[[b.Message], object], content: b.Message | None = None) -> b.Message:
    """A model after a change; by default one that keeps all rules."""
    built = program(relu()) if content is None else content
    change(built)
    return built


def main_of(content: b.Message) -> b.Message:
    """The function of a model of one function."""
    return content.mlProgram.functions[0].value


def block_of(content: b.Message) -> b.Message:
    """The block of a model of one function."""
    return main_of(content).block_specializations[0].value


def functions(names: Iterable[str], version: int = 9, default: str = "a") -> b.Message:
    """A model of several equal functions."""
    one = b.function([("x", X)], b.block([relu()], ["y"]), "CoreML8")
    model = b.model(b.program(dict.fromkeys(names, one)), version)
    model.ClearField("description")
    for name in names:
        described = model.description.functions.add(name=name)
        b.feature(described.input, "x", [2, 3])
        b.feature(described.output, "y", [2, 3])
    model.description.defaultFunctionName = default
    return model


def conditional(then: b.Message, otherwise: b.Message, *more: b.Message, pred: b.Message | None = None) -> b.Message:
    """A model with a `cond` of two blocks, or more."""
    truth = b.const("p", b.immediate(TRUTH, "bools", [True]) if pred is None else pred)
    return with_op("cond", {"pred": "p"}, [("y", X)], truth, blocks=[then, otherwise, *more])


def branch(name: str, kind: b.Message = X, inputs: Iterable[b.Output] = ()) -> b.Message:
    """A block of a `cond` that gives one value."""
    return b.block([relu("x", name, kind)], [name], inputs)


def loop(condition: b.Message, body: b.Message) -> b.Message:
    """A model with a `while_loop` over x."""
    return with_op("while_loop", {"loop_vars": ["x"]}, [("y", X)], blocks=[condition, body])


def asks(answer: b.Message | None = None, inputs: Iterable[b.Output] = (("v", X),)) -> b.Message:
    """The condition of a loop."""
    value = b.immediate(TRUTH, "bools", [False]) if answer is None else answer
    return b.block([b.const("go", value)], ["go"], inputs)


def repeats(kind: b.Message = X, inputs: Iterable[b.Output] = (("v", X),)) -> b.Message:
    """The body of a loop."""
    return b.block([relu("v", "w", kind)], ["w"], inputs)


def stateful(*operations: b.Message, kind: b.Message = HALF, version: int = 9) -> b.Message:
    """A model with a state `s`, whose block reads it into `r` first."""
    state = b.make("ValueType")
    state.stateType.wrappedType.CopyFrom(kind)
    read = b.op("read_state", {"input": "s"}, [("r", kind)])
    body = b.block([read, *operations, relu("r", "y", kind)], ["y"])
    model = b.model(b.program({"main": b.function([("s", state)], body, "CoreML8")}), version)
    del model.description.input[:]
    array = model.description.state.add(name="s").type.stateType.arrayType
    array.dataType = b.ARRAY_FLOAT16
    array.shape.extend([2, 3])
    return model


def classifier(
    *after: b.Message, labels: Iterable[str] = ("a", "b", "c"), outputs: Iterable[str] = ("l", "s")
) -> b.Message:
    """A model that classifies three probabilities."""
    kind = b.tensor(b.FLOAT32, 3)
    scores = b.make("ValueType")
    scores.dictionaryType.keyType.CopyFrom(b.tensor(b.STRING))
    scores.dictionaryType.valueType.CopyFrom(b.tensor(FLOAT64))
    inputs = {"probabilities": "x", "classes": b.strings_list(*labels)}
    classify = b.op("classify", inputs, [("l", b.tensor(b.STRING)), ("s", scores)])
    model = b.model(b.program({"main": b.function([("x", kind)], b.block([classify, *after], list(outputs)))}))
    del model.description.output[:]
    model.description.output.add(name="l").type.stringType.SetInParent()
    model.description.output.add(name="s").type.dictionaryType.stringKeyType.SetInParent()
    model.description.predictedFeatureName, model.description.predictedProbabilitiesName = "l", "s"
    return model


def flexible(
    *ranges: tuple[int, int], shape: tuple[int, ...] = (2, 3), shapes: Iterable[tuple[int, ...]] = ()
) -> b.Message:
    """A model whose input has an unknown first dimension, described by ranges or an enumeration."""
    kind = b.tensor(b.FLOAT32, None, 3)
    built = program(relu(kind=kind), inputs=[("x", kind)])
    del built.description.input[:]
    del built.description.output[:]
    array = b.feature(built.description.input, "x", shape)
    for low, high in ranges:
        array.shapeRange.sizeRanges.add(lowerBound=low, upperBound=high)
    for one in shapes:
        array.enumeratedShapes.shapes.add(shape=one)
    b.feature(built.description.output, "y", [])
    return built


def image(dims: tuple[int | None, ...] = (1, 3, 4, 8), color: int = 20, code: int = b.FLOAT32) -> b.Message:
    """A model that passes an image through, and is described as taking one of width 8 and height 4."""
    kind = b.tensor(code, *dims)
    shape = b.op("shape", {"x": "x"}, [("y", b.tensor(b.INT32, len(dims)))])
    built = program(shape, inputs=[("x", kind)], opset="CoreML7")
    del built.description.input[:]
    feature = built.description.input.add(name="x").type.imageType
    feature.width, feature.height, feature.colorSpace = 8, 4, color
    return built
