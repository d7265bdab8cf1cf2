"""Makes Core ML packages for tests, message by message, independently of the reader."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from commonir.dialects.mil.base import VERSIONS
from commonir.dialects.mil.program import CompoundConstant, CompoundLiteral, Const, Func, Literal, Return
from commonir.formats.coreml.messages import message_class
from commonir.ir.data import Data
from commonir.ir.operation import Region, Value
from commonir.ods import DeclaredResults, Dialect, Dialects, attr_types, attribute, operand, parameter, region, result

Message = Any

FLOAT16, FLOAT32, INT32, BOOL, STRING, UINT4 = 10, 11, 23, 1, 2, 35
ARRAY_FLOAT16, ARRAY_FLOAT32, ARRAY_INT32, ARRAY_DOUBLE = 65552, 65568, 131104, 65600


# -- a dialect for tests: as little as exercises every way of binding


class Add(DeclaredResults, name="mil.add"):
    x: Value = operand("any")
    y: Value = operand("any")
    output: Value = result("any")


class Softmax(DeclaredResults, name="mil.softmax"):
    x: Value = operand("any")
    axis: int = parameter(attr_types.integer, default=-1)
    output: Value = result("any")


class Concat(DeclaredResults, name="mil.concat"):
    values: tuple[Value, ...] = operand("any", variadic=True)
    axis: int = parameter(attr_types.integer, default=0)
    output: Value = result("any")


class Split(DeclaredResults, name="mil.split"):
    x: Value = operand("any")
    outputs: tuple[Value, ...] = result("any", variadic=True)


class Cond(DeclaredResults, name="mil.cond"):
    pred: Value = operand("any")
    true_branch: Region = region()
    false_branch: Region = region()
    outputs: tuple[Value, ...] = result("any", variadic=True)


class WhileLoop(DeclaredResults, name="mil.while_loop"):
    loop_vars: tuple[Value, ...] = operand("any", variadic=True)
    condition: Region = region()
    loop_body: Region = region()
    outputs: tuple[Value, ...] = result("any", variadic=True)


class Expand(DeclaredResults, name="mil.constexpr_expand", since="CoreML6"):
    table: Data = attribute(attr_types.data)
    axis: int = attribute(attr_types.integer)
    output: Value = result("any")


class Classify(DeclaredResults, name="mil.classify"):
    probabilities: Value = operand("any")
    classes: tuple[str, ...] = parameter(attr_types.strings)
    label: Value = result("any")
    scores: Value = result("any")


class ReadState(DeclaredResults, name="mil.read_state", since="CoreML8"):
    input: Value = operand("any")
    output: Value = result("any")


class WriteState(DeclaredResults, name="mil.write_state", since="CoreML8"):
    input: Value = operand("any")
    data: Value = operand("any")


_STRUCTURE = (Func, Return, Const, Literal, CompoundConstant, CompoundLiteral)
_OPERATIONS = (Add, Softmax, Concat, Split, Cond, WhileLoop, Expand, Classify, ReadState, WriteState)
DIALECTS = Dialects([Dialect("mil", (*_STRUCTURE, *_OPERATIONS), versions=VERSIONS)], discover=False)


# -- types and values


def make(name: str, **inputs: Any) -> Message:
    """A message of the MIL specification."""
    return message_class(f"MILSpec.{name}")(**inputs)


def tensor(code: int, *dims: int | None) -> Message:
    """A tensor type; None is an unknown dimension."""
    result = make("ValueType")
    result.tensorType.dataType = code
    result.tensorType.rank = len(dims)
    for d in dims:
        dim = result.tensorType.dimensions.add()
        if d is None:
            dim.unknown.SetInParent()
        else:
            dim.constant.size = d
    return result


def immediate(type: Message, field: str, values: Any) -> Message:
    """A tensor inside the program."""
    result = make("Value", type=type)
    holder = getattr(result.immediateValue.tensor, field)
    holder.SetInParent()
    if field == "bytes":
        holder.values = values
    else:
        holder.values.extend(values)
    return result


def text(value: str) -> Message:
    """A scalar string."""
    return immediate(tensor(STRING), "strings", [value])


def integer(value: int) -> Message:
    """A scalar int32."""
    return immediate(tensor(INT32), "ints", [value])


def blob(type: Message, offset: int, name: str = "@model_path/weights/weight.bin") -> Message:
    """A tensor in a weight file."""
    result = make("Value", type=type)
    result.blobFileValue.fileName = name
    result.blobFileValue.offset = offset
    return result


def strings_list(*values: str) -> Message:
    """A list of scalar strings."""
    result = make("Value")
    result.type.listType.type.CopyFrom(tensor(STRING))
    result.type.listType.length.constant.size = len(values)
    for v in values:
        result.immediateValue.list.values.add().CopyFrom(text(v))
    return result


# -- operations, blocks, functions

Binding = str | Message
Output = tuple[str, Message]


def op(
    type: str,
    inputs: Mapping[str, Binding | Sequence[Binding]] | None = None,
    outputs: Iterable[Output] = (),
    *,
    attributes: Mapping[str, Message] | None = None,
    blocks: Iterable[Message] = (),
    name: str | None = "",
) -> Message:
    """An operation. Its name is that of its first output by default; None leaves the attribute out."""
    result = make("Operation", type=type)
    for key, arguments in (inputs or {}).items():
        entry = result.inputs.add(key=key)
        entry.value.SetInParent()
        for binding in arguments if isinstance(arguments, list | tuple) else [arguments]:
            place = entry.value.arguments.add()
            if isinstance(binding, str):
                place.name = binding
            else:
                place.value.CopyFrom(binding)
    for result_name, kind in outputs:
        result.outputs.add(name=result_name, type=kind)
    for nested in blocks:
        result.blocks.add().CopyFrom(nested)
    if name is not None:
        declared = name or next((n for n, _ in outputs), "op")
        result.attributes.add(key="name", value=text(declared))
    for key, value in (attributes or {}).items():
        result.attributes.add(key=key, value=value)
    return result


def const(name: str, value: Message) -> Message:
    """A constant."""
    return op("const", outputs=[(name, value.type)], attributes={"val": value})


def block(operations: Iterable[Message], outputs: Iterable[str], inputs: Iterable[Output] = ()) -> Message:
    """A block."""
    result = make("Block", outputs=list(outputs))
    for name, kind in inputs:
        result.inputs.add(name=name, type=kind)
    for one in operations:
        result.operations.add().CopyFrom(one)
    return result


def function(inputs: Iterable[Output], body: Message, opset: str = "CoreML5") -> Message:
    """A function with one specialization."""
    result = make("Function", opset=opset)
    for name, kind in inputs:
        result.inputs.add(name=name, type=kind)
    result.block_specializations.add(key=opset, value=body)
    return result


def program(functions: Mapping[str, Message], version: int = 1) -> Message:
    """A program."""
    result = make("Program", version=version)
    for name, one in functions.items():
        result.functions.add(key=name, value=one)
    return result


# -- models and packages


def feature(features: Message, name: str, shape: Sequence[int], code: int = ARRAY_FLOAT32) -> Message:
    """Adds a multi-array to the features of a description and returns its array type."""
    result = features.add(name=name)
    result.type.multiArrayType.dataType = code
    result.type.multiArrayType.shape.extend(shape)
    return result.type.multiArrayType


def model(content: Message | None, version: int = 6) -> Message:
    """A model whose description follows the function `main`, as far as it has fp32, fp16 or int32 tensors."""
    result: Message = message_class("Model")(specificationVersion=version)
    if content is None:
        return result
    result.mlProgram.CopyFrom(content)
    main = next((entry.value for entry in content.functions if entry.key == "main"), None)
    if main is None:
        return result
    body = next((e.value for e in main.block_specializations if e.key == main.opset), None)
    types = {inputs.name: inputs.type for inputs in main.inputs}
    types |= {out.name: out.type for one in (body.operations if body else ()) for out in one.outputs}
    for inputs in main.inputs:
        _describe(result.description.input, inputs.name, inputs.type)
    for name in body.outputs if body else ():
        if name in types:
            _describe(result.description.output, name, types[name])
    return result


def _describe(features: Message, name: str, type: Message) -> None:
    codes = {FLOAT32: ARRAY_FLOAT32, FLOAT16: ARRAY_FLOAT16, INT32: ARRAY_INT32}
    if type.WhichOneof("type") == "tensorType":
        shape = [d.constant.size for d in type.tensorType.dimensions]
        feature(features, name, shape or [1], codes.get(type.tensorType.dataType, 0))


def simple_model(version: int = 6, opset: str = "CoreML5") -> Message:
    """`y = x + w` with a weight in the weight file, `z = softmax(y)`."""
    kind = tensor(FLOAT32, 2, 3)
    body = block(
        [
            const("w", blob(kind, 64)),
            op("add", {"x": "x", "y": "w"}, [("y", kind)]),
            const("axis", integer(1)),
            op("softmax", {"x": "y", "axis": "axis"}, [("z", kind)]),
        ],
        ["z"],
    )
    return model(program({"main": function([("x", kind)], body, opset)}), version)


def weight_file(*entries: tuple[int, bytes]) -> bytes:
    """A weight file of (type code, data); the first metadata are at 64, the next at the following multiple of 64."""
    out = bytearray(struct.pack("<II56x", len(entries), 2))
    for code, data in entries:
        out += bytes(-len(out) % 64)
        out += struct.pack("<IIQQQ32x", 0xDEADBEEF, code, len(data), len(out) + 64, 0)
        out += data
    return bytes(out)


SIMPLE_WEIGHTS = weight_file((2, struct.pack("<6f", 1, 2, 3, 4, 5, 6)))

MODEL_ITEM = "11111111-2222-3333-4444-555555555555"
WEIGHTS_ITEM = "66666666-7777-8888-9999-000000000000"


def manifest() -> dict[str, Any]:
    """The manifest that coremltools would write."""
    author = "com.apple.CoreML"
    return {
        "fileFormatVersion": "1.0.0",
        "itemInfoEntries": {
            MODEL_ITEM: {
                "path": f"{author}/model.mlmodel",
                "name": "model.mlmodel",
                "author": author,
                "description": "the model",
            },
            WEIGHTS_ITEM: {
                "path": f"{author}/weights",
                "name": "weights",
                "author": author,
                "description": "the weights",
            },
        },
        "rootModelIdentifier": MODEL_ITEM,
    }


def save(folder: Path, content: Message | bytes, weights: bytes | None = SIMPLE_WEIGHTS, stated: Any = None) -> Path:
    """Writes a package below a folder and returns its path."""
    package = folder / "model.mlpackage"
    data = package / "Data" / "com.apple.CoreML"
    (data / "weights").mkdir(parents=True)
    (data / "model.mlmodel").write_bytes(content if isinstance(content, bytes) else content.SerializeToString())
    if weights is not None:
        (data / "weights" / "weight.bin").write_bytes(weights)
    (package / "Manifest.json").write_text(json.dumps(manifest() if stated is None else stated))
    return package
