"""A package with as many weights as asked for, for benchmarks of reading, copying and converting.

The program is a stack of `linear` and `relu` on square weights. Protobuf messages and weight file are written here,
byte by byte, with one layer in memory at a time: numpy is all it needs; neither coremltools nor commonir takes part.

Source: Model.proto, FeatureTypes.proto and MIL.proto of coremltools for the field numbers; its blob storage, version 2,
for the weight file.
"""

from __future__ import annotations

import json
import shutil
import struct
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

ALIGNMENT_BYTES = 64
BLOB_SENTINEL = 0xDEADBEEF
# MIL data type, blob data type and multiarray data type.
TYPE_CODES = {"float16": (10, 1, 65552), "float32": (11, 2, 65568)}
STRING_CODE = 2
WEIGHT_FILE = "@model_path/weights/weight.bin"


@dataclass(frozen=True)
class Stack:
    """The shape of a synthetic program: x [1, width] through `layers` layers."""

    layers: int
    width: int
    dtype: str
    """`float16` or `float32`."""

    @property
    def name(self) -> str:
        return f"linear_{self.layers}x{self.width}_{self.dtype}"

    @property
    def weight_bytes(self) -> int:
        return self.layers * (self.width + 1) * self.width * np.dtype(self.dtype).itemsize


GIGABYTE_FP32 = Stack(layers=64, width=2048, dtype="float32")
GIGABYTE_FP16 = Stack(layers=128, width=2048, dtype="float16")


def varint(value: int) -> bytes:
    """Return `value` in the variable-length form of protobuf."""
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def field(number: int, value: int | str | bytes) -> bytes:
    """Return one protobuf field: an integer, or a string, message or packed array with its length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def entry(key: str, value: bytes) -> bytes:
    """Return one entry of a protobuf map with string keys."""
    return field(1, key) + field(2, value)


def value_type(code: int, shape: tuple[int, ...]) -> bytes:
    """Return a ValueType that holds a tensor type."""
    dims = b"".join(field(3, field(1, field(1, dim))) for dim in shape)
    return field(1, field(1, code) + field(2, len(shape)) + dims)


def string_value(text: str) -> bytes:
    """Return an immediate Value that holds a rank-0 string."""
    return field(2, value_type(STRING_CODE, ())) + field(3, field(1, field(4, field(1, text))))


def operation(kind: str, name: str, result_type: bytes, operands: dict[str, str], value: bytes | None = None) -> bytes:
    """Return an Operation with one result of its own name; `value` is that of a const."""
    inputs = b"".join(field(2, entry(key, field(1, field(1, source)))) for key, source in operands.items())
    attributes = field(5, entry("name", string_value(name)))
    if value is not None:
        attributes += field(5, entry("val", value))
    return field(1, kind) + inputs + field(3, field(1, name) + field(2, result_type)) + attributes


def write_blob(file: BinaryIO, array: np.ndarray[tuple[int, ...], np.dtype[np.generic]], blob_code: int) -> int:
    """Append one blob and return the offset of its metadata, by which the program names it."""
    offset = -(-file.tell() // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
    file.write(bytes(offset - file.tell()))
    file.write(struct.pack("<IIQQQ32x", BLOB_SENTINEL, blob_code, array.nbytes, offset + ALIGNMENT_BYTES, 0))
    file.write(array.data)
    return offset


def write_layers(stack: Stack, file: BinaryIO) -> bytes:
    """Write the weights and return the operations that use them, as fields of a Block."""
    code, blob_code, _ = TYPE_CODES[stack.dtype]
    vector = value_type(code, (stack.width,))
    matrix = value_type(code, (stack.width, stack.width))
    row = value_type(code, (1, stack.width))
    generator = np.random.default_rng(0)
    file.write(struct.pack("<II56x", 2 * stack.layers, 2))
    operations: list[bytes] = []
    source = "x"
    for layer in range(stack.layers):
        name = f"linear_{layer}"
        # Uniform with the variance that keeps the size of values through relu.
        bound = (6 / stack.width) ** 0.5
        weight = generator.random((stack.width, stack.width), dtype=np.float32)
        weight *= 2 * bound
        weight -= bound
        bias = generator.standard_normal(stack.width, dtype=np.float32) * np.float32(0.1)
        for suffix, array, array_type in (("weight", weight, matrix), ("bias", bias, vector)):
            offset = write_blob(file, array.astype(stack.dtype, copy=False), blob_code)
            value = field(2, array_type) + field(5, field(1, WEIGHT_FILE) + field(2, offset))
            operations.append(operation("const", f"{name}_{suffix}", array_type, {}, value))
        operands = {"x": source, "weight": f"{name}_weight", "bias": f"{name}_bias"}
        operations.append(operation("linear", name, row, operands))
        source = "y" if layer == stack.layers - 1 else f"relu_{layer}"
        operations.append(operation("relu", source, row, {"x": name}))
    return b"".join(field(3, encoded) for encoded in operations)


def model_message(stack: Stack, operations: bytes) -> bytes:
    """Return the Model: interface and program, for iOS 16 so that half precision may cross the border."""
    code, _, array_code = TYPE_CODES[stack.dtype]
    opset = "CoreML6"
    block = field(2, "y") + operations
    function_input = field(1, "x") + field(2, value_type(code, (1, stack.width)))
    function = field(1, function_input) + field(2, opset) + field(3, entry(opset, block))
    program = field(1, 1) + field(2, entry("main", function))
    array_type = field(1, varint(1) + varint(stack.width)) + field(2, array_code)
    feature_type = field(3, field(5, array_type))
    description = field(1, field(1, "x") + feature_type) + field(10, field(1, "y") + feature_type)
    specification_version = 7
    return field(1, specification_version) + field(2, description) + field(502, program)


def write_package(stack: Stack, package: Path) -> None:
    """Write the package; the folder appears only when it is complete."""
    author = "com.apple.CoreML"
    partial = package.with_name(package.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    weights = partial / "Data" / author / "weights"
    weights.mkdir(parents=True)
    with (weights / "weight.bin").open("wb") as file:
        operations = write_layers(stack, file)
    (weights.parent / "model.mlmodel").write_bytes(model_message(stack, operations))
    names = {"model.mlmodel": "CoreML Model Specification", "weights": "CoreML Model Weights"}
    items = {
        f"00000000-0000-4000-8000-{number:012}": {
            "author": author,
            "description": description,
            "name": name,
            "path": f"{author}/{name}",
        }
        for number, (name, description) in enumerate(names.items())
    }
    manifest = {"fileFormatVersion": "1.0.0", "itemInfoEntries": items, "rootModelIdentifier": next(iter(items))}
    (partial / "Manifest.json").write_text(json.dumps(manifest, indent=4))
    partial.rename(package)


def synthetic_package(stack: Stack = GIGABYTE_FP32) -> Path:
    """Return the package of `stack`, made on the first call and kept in the system's folder of temporary files."""
    folder = Path(tempfile.gettempdir()) / "commonir-synthetic"
    folder.mkdir(exist_ok=True)
    package = folder / f"{stack.name}.mlpackage"
    if not package.exists():
        write_package(stack, package)
    return package
