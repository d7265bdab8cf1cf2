"""Constants of every type, and programs with several weight files."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import commonir as cir

from tests.coreml_models.running import ENGINES, f32
from tests.formats.coreml.building import (
    FLOAT16,
    FLOAT32,
    INT32,
    STRING,
    blob,
    block,
    const,
    function,
    immediate,
    integer,
    make,
    model,
    op,
    program,
    save,
    strings_list,
    tensor,
    text,
    weight_file,
)

engines = pytest.mark.parametrize("engine", ENGINES)

KIND = tensor(FLOAT32, 3)


def tuple_of(*values: Any) -> Any:
    result = make("Value")
    result.type.tupleType.types.extend([v.type for v in values])
    result.immediateValue.tuple.values.extend(values)
    return result


def dictionary(keys: list[Any], values: list[Any]) -> Any:
    result = make("Value")
    result.type.dictionaryType.keyType.CopyFrom(keys[0].type)
    result.type.dictionaryType.valueType.CopyFrom(values[0].type)
    for key, value in zip(keys, values, strict=True):
        result.immediateValue.dictionary.values.add(key=key, value=value)
    return result


COMPOUND = {
    "list": strings_list("a", "b"),
    "tuple": tuple_of(integer(1), text("two"), immediate(tensor(FLOAT32, 2), "floats", [1.0, 2.0])),
    "dictionary": dictionary([text("k"), text("l")], [integer(1), integer(2)]),
    "nested": tuple_of(tuple_of(integer(1)), dictionary([integer(7)], [text("seven")])),
}


@pytest.mark.parametrize("name", COMPOUND)
def test_compound_constants_are_read_shown_checked_and_do_not_stand_in_the_way(tmp_path: Path, name: str) -> None:
    body = block([const("c", COMPOUND[name]), op("relu", {"x": "x"}, [("y", KIND)])], ["y"])
    module, diagnostics = cir.check(
        save(tmp_path, model(program({"main": function([("x", KIND)], body)})), weight_file())
    )
    assert diagnostics == []
    assert module is not None
    assert "mil.compound" in str(module)
    assert cir.run(module, {"x": f32(-1, 0, 2)})["y"].tolist() == [0, 0, 2]
    again = tmp_path / "again.mlpackage"
    cir.save(module, again)
    assert str(cir.load(again)) == str(module)


@engines
def test_weights_of_several_files_are_used(engine: str, tmp_path: Path) -> None:
    body = block(
        [
            const("a", blob(KIND, 64)),
            const("b", blob(KIND, 64, "@model_path/weights/second.bin")),
            const("c", blob(KIND, 64, "@model_path/third.bin")),
            op("mul", {"x": "x", "y": "a"}, [("xa", KIND)]),
            op("add", {"x": "xa", "y": "b"}, [("xab", KIND)]),
            op("sub", {"x": "xab", "y": "c"}, [("y", KIND)]),
        ],
        ["y"],
    )

    def weights(*values: float) -> bytes:
        return weight_file((2, struct.pack("<3f", *values)))

    package = save(tmp_path, model(program({"main": function([("x", KIND)], body)})), weights(1, 2, 3))
    data = package / "Data" / "com.apple.CoreML"
    (data / "weights" / "second.bin").write_bytes(weights(10, 20, 30))
    (data / "third.bin").write_bytes(weights(1, 1, 1))
    module, diagnostics = cir.check(package)
    assert diagnostics == []
    assert module is not None
    assert cir.run(module, {"x": f32(1, 1, 2)}, engine=engine)["y"].tolist() == [10, 21, 35]
    assert len(cir.summarize(module).files) == 3


IMMEDIATE = {
    "fp16": (FLOAT16, "bytes", np.array([1, -2.5, 65504], np.float16).tobytes(), [1, -2.5, 65504]),
    "fp32": (FLOAT32, "floats", [1.0, -2.5, 3e38], np.array([1, -2.5, 3e38], np.float32).tolist()),
    "int32": (INT32, "ints", [1, -2, 2**31 - 1], [1, -2, 2**31 - 1]),
}


@engines
@pytest.mark.parametrize("name", IMMEDIATE)
def test_constant_inside_the_program_is_what_was_written(engine: str, name: str, tmp_path: Path) -> None:
    code, field, written, expected = IMMEDIATE[name]
    kind = tensor(code, 3)
    body = block([const("c", immediate(kind, field, written)), op("identity", {"x": "c"}, [("y", kind)])], ["y"])
    content = model(program({"main": function([("x", KIND)], body, "CoreML6")}), 7)
    module, diagnostics = cir.check(save(tmp_path, content, weight_file()))
    assert diagnostics == []
    assert module is not None
    assert cir.run(module, {"x": f32(0, 0, 0)}, engine=engine)["y"].tolist() == expected


def test_text_and_bools_are_constants_too(tmp_path: Path) -> None:
    labels = immediate(tensor(STRING, 2), "strings", ["ja", "näin\n"])
    body = block([const("c", labels), op("relu", {"x": "x"}, [("y", KIND)])], ["y"])
    module, diagnostics = cir.check(
        save(tmp_path, model(program({"main": function([("x", KIND)], body)})), weight_file())
    )
    assert diagnostics == []
    assert module is not None
    (data,) = [d for o in module.walk() if (d := o.constant_data()) is not None]
    assert data.values() == ("ja", "näin\n")
