"""The statements of the document on MIL programs, in `mil.toml`.

A case is a `MILSpec.Program` in the text format of protobuf, with names of data types. A short notation expands to it:

    FLOAT32[2, ?]                                     the type of a tensor; `*` is a variadic dimension
    FLOAT32[2](1.5, 2.5)                              an immediate value
    let y: FLOAT32[3] = add(x: a, y: FLOAT32[](1.0))  an operation; `(a, b)` binds a parameter to several values
    let y: FLOAT32[3] = cond(pred: p) {               with other fields in the next lines, until `}`

`coremltools = "refuses"` marks a case that the loader of coremltools does not accept, although the document allows it.
The test adds the description of the model that fits the program. `images` of a case are inputs that are images,
`described` the described outputs if they are not those of the program, and `default` the function where it is entered
if that is not the first. `blobs` are the contents of the weight file, each a number of its type and its bytes in
hexadecimal digits. `inputs` are
expressions of numpy, `outputs` those that a run must equal. A case that breaks a statement and has `inputs` breaks it
when it runs.
"""

from __future__ import annotations

import json
import re
import struct
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format

import commonir as cir
from commonir import api
from commonir.formats.coreml.messages import message_class

from tests.oracles import oracle
from tests.specifications import statements

DOCUMENT = statements.read("mil")

# The numbers of the document.
NUMBERS = {
    "UNUSED_TYPE": 0, "BOOL": 1, "STRING": 2,
    "FLOAT16": 10, "FLOAT32": 11, "FLOAT64": 12,
    "INT8": 21, "INT16": 22, "INT32": 23, "INT64": 24,
    "UINT8": 31, "UINT16": 32, "UINT32": 33, "UINT64": 34,
}  # fmt: skip
FIELDS = {
    "BOOL": "bools", "STRING": "strings", "FLOAT32": "floats", "FLOAT64": "doubles",
    "INT16": "ints", "UINT16": "ints", "INT32": "ints", "INT64": "longInts", "UINT64": "longInts",
}  # fmt: skip
_TENSOR = re.compile(rf"\b({'|'.join(NUMBERS)})\[([^\]]*)\](?:\(([^()]*)\))?")
_LET = re.compile(r"\blet\b ?(.*?) ?= (\w+)\((.*)\)( \{)?$", re.MULTILINE)
_ARRAYS = {11: 65568, 10: 65552, 23: 131104, 12: 65600, 21: 131080}


def _type(name: str, dims: str) -> str:
    known = {"?": "unknown {}", "*": "unknown { variadic: true }"}
    listed = [d.strip() for d in dims.split(",") if d.strip()]
    written = [f"dimensions {{ {known.get(d) or f'constant {{ size: {d} }}'} }}" for d in listed]
    return f"{{ tensorType {{ dataType: {NUMBERS[name]} rank: {len(listed)} {' '.join(written)} }} }}"


def _tensor(match: re.Match[str]) -> str:
    name, dims, content = match.groups()
    if content is None:
        return _type(name, dims)
    field = FIELDS.get(name, "bytes")
    values = f"values: {content}" if field == "bytes" else f"values: [{content}]"
    return f"{{ type {_type(name, dims)} immediateValue {{ tensor {{ {field} {{ {values} }} }} }} }}"


def _let(match: re.Match[str]) -> str:
    results, type, bindings, continues = match.groups()
    outputs = [f"outputs {{ name: {json.dumps(n)} type: {t} }}" for n, t in map(_pair, _split(results))]
    inputs: list[str] = []
    for key, bound in map(_pair, _split(bindings)):
        values = _split(bound[1:-1]) if bound.startswith("(") else [bound]
        arguments = [f"arguments {{ {f'value: {v}' if '[' in v else f'name: {json.dumps(v)}'} }}" for v in values]
        inputs.append(f'inputs {{ key: "{key}" value {{ {" ".join(arguments)} }} }}')
    return f'operations {{ type: "{type}" {" ".join(inputs)} {" ".join(outputs)}{"" if continues else " }"}'


def _split(text: str) -> list[str]:
    """Splits a text at its commas, except inside of brackets."""
    out = [""]
    depth = 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            out.append("")
        else:
            out[-1] += character
    return [part.strip() for part in out if part.strip()]


def _pair(text: str) -> tuple[str, str]:
    name, _, rest = text.rpartition(": ")
    return name, rest


def program(text: str) -> Any:
    """Returns the message of a case."""
    written = _TENSOR.sub(_tensor, _LET.sub(_let, text))
    return text_format.Parse(
        re.sub(r"dataType: ([A-Z]\w+)", lambda m: f"dataType: {NUMBERS[m[1]]}", written),
        message_class("MILSpec.Program")(),
    )


def _feature(into: Any, name: str, type: Any, image: str) -> None:
    """Describes an input or output as what it is, or if that is not possible, as a vector of one number."""
    into.name = name
    if type is not None and type.WhichOneof("type") == "dictionaryType":
        into.type.dictionaryType.stringKeyType.SetInParent()
        return
    tensor = None if type is None else type.tensorType
    if image and tensor is not None:
        into.type.imageType.colorSpace = {"GRAYSCALE": 10, "RGB": 20}[image]
        into.type.imageType.height, into.type.imageType.width = (
            [d.constant.size for d in tensor.dimensions[-2:]] if len(tensor.dimensions) > 1 else (1, 1)
        )
        return
    array = into.type.multiArrayType
    array.dataType = _ARRAYS.get(tensor.dataType if tensor is not None else 11, 65568)
    dims = (
        [d.constant.size if d.HasField("constant") else None for d in tensor.dimensions] if tensor is not None else []
    )
    array.shape.extend([2 if d is None else d for d in dims] or [1])
    if None in dims:
        for d in dims:
            array.shapeRange.sizeRanges.add(lowerBound=1 if d is None else d, upperBound=9 if d is None else d)


def _describe(into: Any, function: Any, case: statements.Case) -> None:
    blocks = {e.key: e.value for e in function.block_specializations}
    block = blocks.get(function.opset) or next(iter(blocks.values()), None)
    images: Any = case.other.get("images", {})
    types = {i.name: i.type for i in function.inputs}
    for value in function.inputs:
        if value.type.WhichOneof("type") == "stateType":
            state = into.state.add(name=value.name).type.stateType.arrayType
            state.dataType = 65552
            state.shape.extend([d.constant.size for d in value.type.stateType.wrappedType.tensorType.dimensions])
        else:
            _feature(into.input.add(), value.name, value.type, images.get(value.name, ""))
    if block is not None:
        types |= {o.name: o.type for op in block.operations for o in op.outputs}
        for name in case.other.get("described", block.outputs):  # pyright: ignore[reportGeneralTypeIssues]
            _feature(into.output.add(), name, types.get(name), "")


def model(case: statements.Case) -> Any:
    """Returns the message of a model with the program of a case, and a description that fits it."""
    result: Any = message_class("Model")()
    result.specificationVersion = case.other.get("specification", 9)
    result.mlProgram.CopyFrom(program(case.text))
    functions = list(result.mlProgram.functions)
    if len(functions) == 1 and functions[0].key == "main":
        _describe(result.description, functions[0].value, case)
    else:
        for entry in functions:
            described = result.description.functions.add(name=entry.key)
            _describe(described, entry.value, case)
        result.description.defaultFunctionName = case.other.get("default", functions[0].key if functions else "")
    return result


def _weights(blobs: list[list[Any]]) -> bytes:
    """Returns a weight file: a header, then for each blob 64 bytes about it and its contents."""
    out = bytearray(struct.pack("<II56x", len(blobs), 2))
    for number, digits in blobs:
        content = bytes.fromhex(digits)
        out += struct.pack("<IIQQQ32x", 0xDEADBEEF, number, len(content), len(out) + 64, 0) + content
        out += bytes(-len(out) % 64)
    return bytes(out)


def _path(case: statements.Case, folder: Path) -> Path:
    """Writes the package of a case."""
    data = folder / "net.mlpackage" / "Data" / "com.apple.CoreML"
    (data / "weights").mkdir(parents=True, exist_ok=True)
    data.joinpath("model.mlmodel").write_bytes(model(case).SerializeToString())
    blobs: Any = case.other.get("blobs")
    if blobs is not None:
        data.joinpath("weights", "weight.bin").write_bytes(_weights(blobs))
    entries = {
        str(n): {"path": f"com.apple.CoreML/{name}", "name": name, "author": "com.apple.CoreML", "description": name}
        for n, name in enumerate(("model.mlmodel", "weights"))
    }
    manifest = {"fileFormatVersion": "1.0.0", "itemInfoEntries": entries, "rootModelIdentifier": "0"}
    (folder / "net.mlpackage" / "Manifest.json").write_text(json.dumps(manifest), "utf-8")
    return folder / "net.mlpackage"


def _shown(finding: cir.Diagnostic) -> str:
    return f"{finding.code.id}: {finding.message}"


def _arrays(case: statements.Case) -> dict[str, Any]:
    inputs: Any = case.other.get("inputs", {})
    return {name: np.asarray(eval(text, {"np": np})) for name, text in inputs.items()}


def _run_case(case: statements.Case, folder: Path) -> None:
    """Runs a program on the inputs of a case and compares its outputs."""
    space: dict[str, object] = {"np": np}
    function: Any = case.other.get("function")
    arrays = _arrays(case)
    found = cir.run(cir.load(_path(case, folder)), arrays, function=function)
    outputs: Any = case.other["outputs"]
    assert sorted(found) == sorted(outputs)
    for name, text in outputs.items():
        expected = np.asarray(eval(text, space | arrays))
        actual: Any = np.asarray(found[name])
        assert (actual.shape, actual.dtype) == (expected.shape, expected.dtype), name
        np.testing.assert_allclose(actual, expected, rtol=1e-6, err_msg=name)


def findings_of(case: statements.Case, folder: Path) -> list[cir.Diagnostic]:
    """Returns the findings of a check of the package of a case."""
    return cir.check(_path(case, folder))[1]


@pytest.mark.parametrize("case", [pytest.param(case, id=id) for id, case in DOCUMENT.cases("obeys")])
def test_what_obeys_is_accepted(case: statements.Case, tmp_path: Path) -> None:
    assert [_shown(d) for d in findings_of(case, tmp_path)] == case.other.get("findings", [])
    path = _path(case, tmp_path)
    cir.save(cir.load(path), tmp_path / "again.mlpackage")
    assert _model_of(tmp_path / "again.mlpackage") == _model_of(path)
    if "outputs" in case.other:
        _run_case(case, tmp_path)


def _model_of(path: Path) -> Any:
    [file] = path.glob("Data/*/model.mlmodel")
    return message_class("Model").FromString(file.read_bytes())


@pytest.mark.parametrize("case", [pytest.param(case, id=id) for id, case in DOCUMENT.cases("breaks")])
def test_what_breaks_is_reported(case: statements.Case, tmp_path: Path) -> None:
    findings = findings_of(case, tmp_path)
    if "inputs" in case.other:
        module = cir.load(_path(case, tmp_path))
        findings += api.shape_mismatches(module, cir.run(module, _arrays(case)))
    [finding] = [d for d in findings if case.message in _shown(d)][:1] or [None]
    assert finding is not None, [str(d) for d in findings]
    assert finding.where == case.other.get("where", "")


def test_strings_are_utf_8(tmp_path: Path) -> None:
    text = DOCUMENT.statements[0].obeys[0].text
    case = statements.Case(text.replace("version: 1", 'version: 1 attributes { key: "a" value: STRING[]("größe") }'))
    assert findings_of(case, tmp_path) == []
    [file] = _path(case, tmp_path).glob("Data/*/model.mlmodel")
    file.write_bytes(file.read_bytes().replace("ö".encode(), b"\xff\xfe"))
    [finding] = cir.check(tmp_path / "net.mlpackage")[1]
    assert _shown(finding) == "E0201: text is not UTF-8"
    assert finding.where == "mlProgram.attributes[0].value.immediateValue.tensor.strings.values[0]"


@pytest.mark.slow  # test_what_obeys_is_accepted is the fast one
@pytest.mark.parametrize("case", [pytest.param(case, id=id) for id, case in DOCUMENT.cases("obeys")])
def test_coremltools_loads_what_obeys(case: statements.Case, tmp_path: Path) -> None:
    oracle("coremltools")
    from coremltools.converters.mil.frontend.milproto.load import load  # noqa: PLC0415  an oracle
    from coremltools.models.utils import load_spec  # noqa: PLC0415

    package = _path(case, tmp_path)
    spec: Any = load_spec(str(package))
    weights = str(package / "Data" / "com.apple.CoreML" / "weights")
    is_refused = case.other.get("coremltools") == "refuses"
    with pytest.raises((ValueError, NotImplementedError)) if is_refused else nullcontext():
        load(spec, specification_version=spec.specificationVersion, file_weights_dir=weights)
