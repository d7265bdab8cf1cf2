"""Writing: what was read comes back whole, what is new is laid out as the format wants it, and old outputs survive."""

from __future__ import annotations

import json
import os
import random
import signal
import struct
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from commonir.base.codes import DISK_FULL, NOT_IN_FORMAT, OUTPUT_IN_THE_WAY, OUTPUT_TOO_LARGE
from commonir.base.diagnostics import DiagnosticError
from commonir.base.file_codes import FILE_NOT_ACCESSIBLE, NESTING_TOO_DEEP, PATH_OUTSIDE_MODEL
from commonir.dialects.mil.program import Const, Func, Return
from commonir.formats.coreml.messages import message_class
from commonir.formats.coreml.read import read, read_with_findings
from commonir.formats.coreml.write import write
from commonir.ir.attributes import DataAttr, DictionaryAttr, StringAttr
from commonir.ir.data import Data, FileData, InlineData, MappedFile, TextData, data_of
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import ElementType, TensorType, f16, f32, i8, i32, i64, string, tensor, u4
from commonir.ir.unregistered import UnregisteredOperation

from tests.formats.coreml import building as b
from tests.formats.coreml import odd_model as odd
from tests.formats.coreml.test_fuzz import damaged

KIND = b.tensor(b.FLOAT32, 2, 3)
DATA = Path("Data", "com.apple.CoreML")
WEIGHTS = DATA / "weights" / "weight.bin"


def contents(package: Path) -> dict[str, bytes]:
    return {p.relative_to(package).as_posix(): p.read_bytes() for p in package.rglob("*") if p.is_file()}


def model_of(package: Path) -> b.Message:
    return message_class("Model").FromString((package / DATA / "model.mlmodel").read_bytes())


def canonical(message: b.Message) -> bytes:
    """The bytes of a message with maps in order of their keys."""
    result = type(message)()
    result.CopyFrom(message)
    pending = [result]
    while pending:
        at = pending.pop()
        for field, value in at.ListFields():
            if field.message_type is None:
                continue
            items = list(value) if field.is_repeated else [value]
            if field.message_type.name.endswith("Entry"):
                value.sort(key=lambda entry: entry.key)
                for entry in items if "value" in field.message_type.fields_by_name else ():
                    # In a map, a message that is missing is an empty one.
                    if field.message_type.fields_by_name["value"].message_type is not None:
                        entry.value.SetInParent()
            pending.extend(items)
    return result.SerializeToString(deterministic=True)


def odd_package(tmp_path: Path, content: b.Message | None = None) -> Path:
    package = b.save(tmp_path, odd.odd_model() if content is None else content, odd.WEIGHTS)
    (package / DATA / "weights" / "more.bin").write_bytes(odd.MORE_WEIGHTS)
    return package


def lenient(package: Path) -> Module:
    module, _ = read_with_findings(package, b.DIALECTS)
    assert module is not None
    return module


def simple(tmp_path: Path) -> tuple[Path, Module]:
    package = b.save(tmp_path, b.simple_model())
    return package, read(package, b.DIALECTS)


# -- what was read


def test_package_that_was_read_is_written_byte_for_byte(tmp_path: Path) -> None:
    package, module = simple(tmp_path)
    assert write(module, tmp_path / "out.mlpackage") == (tmp_path / "out.mlpackage",)
    assert contents(tmp_path / "out.mlpackage") == contents(package)


def test_every_construct_of_a_message_is_written_as_it_was(tmp_path: Path) -> None:
    package = odd_package(tmp_path)
    write(lenient(package), tmp_path / "out.mlpackage")
    assert contents(tmp_path / "out.mlpackage") == contents(package)


def test_malformed_types_and_constants_are_written_as_they_were(tmp_path: Path) -> None:
    wrong_rank, no_type, no_element = b.tensor(b.FLOAT32, 2, 3), b.make("ValueType"), b.tensor(99, 2)
    wrong_rank.tensorType.rank = 7
    empty = b.make("Value", type=KIND)
    short = b.immediate(KIND, "floats", [1.0])
    lost = b.blob(KIND, 64, "@model_path/weights/lost.bin")
    far = b.blob(KIND, 4096)
    operations = [
        *[b.const(f"c{n}", value) for n, value in enumerate((empty, short, lost, far))],
        b.op("softmax", {"x": "x", "axis": b.immediate(b.tensor(b.INT32), "ints", [])}, [("s", wrong_rank)]),
        b.op("softmax", {"x": "undefined", "axis": b.make("Value")}, [("t", no_type), ("u", no_element)]),
        b.op("softmax", {"x": [b.make("Value")]}, [("z", KIND)], attributes={"a.b": b.integer(1)}),
        b.const("w", b.blob(KIND, 64)),
    ]
    operations[4].inputs[0].value.arguments.add()
    function = b.function([("x", KIND), ("y", no_type)], b.block(operations, ["z", "s", "missing"]))
    package = b.save(tmp_path, b.model(b.program({"main": function})))
    write(lenient(package), tmp_path / "out.mlpackage")
    assert canonical(model_of(tmp_path / "out.mlpackage")) == canonical(model_of(package))
    assert (tmp_path / "out.mlpackage" / WEIGHTS).read_bytes() == b.SIMPLE_WEIGHTS


@pytest.mark.parametrize("kind", ["pipeline", "pipelineClassifier", "pipelineRegressor"])
def test_models_of_a_pipeline_are_written_as_they_were(tmp_path: Path, kind: str) -> None:
    content: b.Message = message_class("Model")(specificationVersion=9)
    holder = getattr(content, kind)
    pipeline = holder if kind == "pipeline" else holder.pipeline
    pipeline.names.extend(["first", "second", "third"])
    pipeline.MergeFromString(odd.UNKNOWN_FIELD)
    pipeline.models.add().CopyFrom(odd.odd_model())
    inner = pipeline.models.add(specificationVersion=4)
    inner.description.metadata.author = "somebody else"
    inner.neuralNetwork = b"layers"
    last = pipeline.models.add(specificationVersion=3)
    last.pipeline.models.add().CopyFrom(b.simple_model())
    last.pipeline.models.add().nonMaximumSuppression.pickTop.perClass = True
    package = odd_package(tmp_path, content)
    write(lenient(package), tmp_path / "out.mlpackage")
    assert contents(tmp_path / "out.mlpackage") == contents(package)


@pytest.mark.parametrize(
    "axis",
    [b.integer(3), b.immediate(b.tensor(odd.LONG, 1), "longInts", [3]), b.immediate(b.tensor(31), "bytes", b"\3")],
)
def test_attributes_keep_the_types_of_their_constants(tmp_path: Path, axis: b.Message) -> None:
    table = b.immediate(b.tensor(b.FLOAT16, 1), "bytes", b"\x00\x3c")
    expand = b.op("constexpr_expand", {}, [("w", KIND)], attributes={"table": table, "axis": axis})
    content = b.program({"main": b.function([("x", KIND)], b.block([expand], ["w"]), "CoreML6")})
    package = b.save(tmp_path, b.model(content, 7))
    module = read(package, b.DIALECTS)
    write(module, tmp_path / "out.mlpackage")
    assert contents(tmp_path / "out.mlpackage") == contents(package)


def test_other_files_and_empty_folders_of_a_package_are_kept(tmp_path: Path) -> None:
    declared = b.manifest()
    item = {"path": "com.example/notes", "name": "notes", "author": "com.example", "description": "notes"}
    declared["itemInfoEntries"]["99999999-2222-3333-4444-555555555555"] = item
    declared["itemInfoEntries"]["88888888-2222-3333-4444-555555555555"] = {**item, "path": "com.example/empty"}
    declared["later"] = [1]
    package = b.save(tmp_path, b.simple_model(), stated=declared)
    (package / "Data" / "com.example" / "notes" / "deep").mkdir(parents=True)
    (package / "Data" / "com.example" / "notes" / "deep" / "a.txt").write_text("a")
    (package / "Data" / "com.example" / "empty").mkdir()
    (package / DATA / "weights" / "unused.bin").write_bytes(b"unused")
    write(read(package, b.DIALECTS), tmp_path / "out.mlpackage")
    assert contents(tmp_path / "out.mlpackage") == contents(package)
    assert (tmp_path / "out.mlpackage" / "Data" / "com.example" / "empty").is_dir()


def test_a_link_out_of_a_package_is_not_followed(tmp_path: Path) -> None:
    package, _ = simple(tmp_path)
    (tmp_path / "secret").write_text("secret")
    (package / DATA / "linked").symlink_to(tmp_path / "secret")
    write(read(package, b.DIALECTS), tmp_path / "out.mlpackage")
    assert not any(b"secret" in content for content in contents(tmp_path / "out.mlpackage").values())


def test_folder_for_weights_is_there_without_weights(tmp_path: Path) -> None:
    body = b.block([b.op("softmax", {"x": "x"}, [("y", KIND)])], ["y"])
    package = b.save(tmp_path, b.model(b.program({"main": b.function([("x", KIND)], body)})), None)
    write(read(package, b.DIALECTS), tmp_path / "out.mlpackage")
    assert (tmp_path / "out.mlpackage" / DATA / "weights").is_dir()


def test_bare_model_file_holds_its_constants(tmp_path: Path) -> None:
    _, module = simple(tmp_path)
    write(module, tmp_path / "out.mlmodel")
    again = read(tmp_path / "out.mlmodel", b.DIALECTS).main.body.first
    assert isinstance(again, Const)
    assert isinstance(again.val, InlineData)
    assert again.val.values() == (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)


def test_bare_model_file_without_weight_files_is_written_byte_for_byte(tmp_path: Path) -> None:
    body = b.block([b.op("softmax", {"x": "x", "axis": b.integer(1)}, [("y", KIND)])], ["y"])
    inputs = tmp_path / "given.mlmodel"
    inputs.write_bytes(b.model(b.program({"main": b.function([("x", KIND)], body)})).SerializeToString())
    write(read(inputs, b.DIALECTS), tmp_path / "out.mlmodel")
    assert (tmp_path / "out.mlmodel").read_bytes() == inputs.read_bytes()


def test_bare_model_file_beyond_the_size_of_a_message_is_refused_without_reading_it(tmp_path: Path) -> None:
    count = 2**31
    file = MappedFile(str(tmp_path / "missing.bin"), count)
    with pytest.raises(DiagnosticError) as raised:
        write(built(FileData(tensor(i8, count), file, 0)), tmp_path / "out.mlmodel")
    assert [d.code for d in raised.value.diagnostics] == [OUTPUT_TOO_LARGE]
    assert not (tmp_path / "out.mlmodel").exists()


@pytest.mark.parametrize("suffix", ["mlpackage", "mlmodel"])
def test_a_source_of_weights_that_is_gone_is_a_fault_of_the_input(tmp_path: Path, suffix: str) -> None:
    file = MappedFile(str(tmp_path / "missing.bin"), 100)
    with pytest.raises(DiagnosticError) as raised:
        write(built(FileData(tensor(i8, 100), file, 0)), tmp_path / f"out.{suffix}")
    assert [(d.code, d.file) for d in raised.value.diagnostics] == [
        (FILE_NOT_ACCESSIBLE, str(tmp_path / "missing.bin"))
    ]


def test_writing_is_deterministic(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write(built(), tmp_path / f"{name}.mlpackage")
    assert contents(tmp_path / "one.mlpackage") == contents(tmp_path / "two.mlpackage")


# -- weights


def weights_of(package: Path, path: Path = WEIGHTS) -> list[tuple[int, bytes]]:
    """Type codes and data of the tensors of a weight file, by its own walk."""
    content = (package / path).read_bytes()
    count, version = struct.unpack_from("<II", content)
    assert version == 2
    assert content[8:64] == bytes(56)
    results: list[tuple[int, bytes]] = []
    at, end = 64, 64
    for _ in range(count):
        assert content[end:at] == bytes(at - end)
        sentinel, code, size, start, _padding = struct.unpack_from("<IIQQQ", content, at)
        assert sentinel == 0xDEADBEEF
        assert start == at + 64
        assert content[at + 32 : at + 64] == bytes(32)
        end = start + size
        results.append((code, content[start:end]))
        at = -(-end // 64) * 64
    assert end == len(content)
    return results


def references(package: Path) -> dict[str, tuple[str, int]]:
    """Where constants lie, by name."""
    results: dict[str, tuple[str, int]] = {}
    for function in model_of(package).mlProgram.functions:
        for entry in function.value.block_specializations:
            for op in entry.value.operations:
                for attribute in op.attributes:
                    if attribute.value.HasField("blobFileValue"):
                        value = attribute.value.blobFileValue
                        results[op.outputs[0].name] = (value.fileName, value.offset)
    return results


def constant_of(module: Module, name: str) -> Const:
    return next(op for op in module.nested() if isinstance(op, Const) and op.output.name == name)


def replace(op: Const, data: Data) -> None:
    assert op.parent is not None
    result = op.parent.insert_before(op, Const.build({"val": data}, (data.type,)))
    result.output.name = op.output.name
    op.output.replace_all_uses_with(result.output)
    op.erase()


def several_weights(tmp_path: Path) -> Path:
    kind = b.tensor(b.FLOAT16, 12)
    content = b.weight_file(*[(1, bytes([n]) * 24) for n in range(3)])
    operations = [b.const(f"w{n}", b.blob(kind, 64 + 128 * n)) for n in range(3)]
    body = b.block([*operations, b.op("add", {"x": "x", "y": "w0"}, [("y", kind)])], ["y"])
    return b.save(tmp_path, b.model(b.program({"main": b.function([("x", kind)], body)})), content)


def test_new_constants_are_appended_to_the_copy_of_a_weight_file(tmp_path: Path) -> None:
    package = several_weights(tmp_path)
    module = read(package, b.DIALECTS)
    first = module.main.body.first
    assert first is not None
    added = module.main.body.insert_before(first, Const.build({"val": zeros(f32, 10)}, (tensor(f32, 10),)))
    added.output.name = "n"
    write(module, tmp_path / "out.mlpackage")
    assert weights_of(tmp_path / "out.mlpackage") == [*[(1, bytes([n]) * 24) for n in range(3)], (2, bytes(40))]
    name = "@model_path/weights/weight.bin"
    assert references(tmp_path / "out.mlpackage") == {
        "n": (name, 448),
        "w0": (name, 64),
        "w1": (name, 192),
        "w2": (name, 320),
    }


def test_weights_that_nothing_uses_any_more_are_left_out(tmp_path: Path) -> None:
    module = read(several_weights(tmp_path), b.DIALECTS)
    constant_of(module, "w1").erase()
    replace(constant_of(module, "w2"), data_of(f16, (12,), [1.0] * 12))
    write(module, tmp_path / "out.mlpackage")
    assert weights_of(tmp_path / "out.mlpackage") == [(1, bytes(24)), (1, b"\x00\x3c" * 12)]


def test_weights_that_no_program_used_are_kept(tmp_path: Path) -> None:
    kind = b.tensor(b.FLOAT16, 12)
    content = b.weight_file(*[(1, bytes([n]) * 24) for n in range(3)])
    body = b.block([b.const("w", b.blob(kind, 192))], ["w"])
    package = b.save(tmp_path, b.model(b.program({"main": b.function([("x", kind)], body)})), content)
    write(read(package, b.DIALECTS), tmp_path / "out.mlpackage")
    assert contents(tmp_path / "out.mlpackage") == contents(package)


def test_constants_that_functions_share_keep_one_place(tmp_path: Path) -> None:
    kind = b.tensor(b.FLOAT32, 2, 3)
    body = b.block([b.const("w", b.blob(kind, 64))], ["w"])
    one = b.function([("x", kind)], body, "CoreML8")
    package = b.save(tmp_path, b.model(b.program({"main": one, "other": one}), 9))
    module = read(package, b.DIALECTS)
    replace(constant_of(module, "w"), data_of(f32, (2, 3), [9.0] * 6))
    write(module, tmp_path / "out.mlpackage")
    assert weights_of(tmp_path / "out.mlpackage") == [(2, struct.pack("<6f", 1, 2, 3, 4, 5, 6))]


def test_equal_new_constants_share_a_place(tmp_path: Path) -> None:
    data = [zeros(f32, 12), zeros(f32, 12), data_of(f32, (3, 4), [0.0] * 12), zeros(f16, 24), zeros(i8, 48)]
    write(built(*data), tmp_path / "out.mlpackage")
    assert weights_of(tmp_path / "out.mlpackage") == [(2, bytes(48)), (1, bytes(48)), (4, bytes(48))]
    assert len(references(tmp_path / "out.mlpackage")) == len(data)


def test_constants_that_differ_at_their_end_only_keep_places_of_their_own(tmp_path: Path) -> None:
    data = [InlineData(tensor(i8, 400_000), bytes(399_999) + bytes([n])) for n in range(2)]
    write(built(*data), tmp_path / "out.mlpackage")
    assert [content[-1] for _, content in weights_of(tmp_path / "out.mlpackage")] == [0, 1]


@pytest.mark.parametrize(
    ("element", "count", "opset", "is_in_file"),
    [
        (f32, 10, "CoreML5", True),
        (f32, 9, "CoreML5", False),
        (i8, 10, "CoreML5", True),
        (i32, 10, "CoreML5", False),
        (i32, 10, "CoreML8", True),
        (u4, 10, "CoreML8", True),
        (i64, 100, "CoreML8", False),
    ],
)
def test_new_constants_go_where_coremltools_puts_them(
    tmp_path: Path, element: ElementType, count: int, opset: str, *, is_in_file: bool
) -> None:
    write(built(zeros(element, count), opset=opset), tmp_path / "out.mlpackage")
    assert (tmp_path / "out.mlpackage" / WEIGHTS).exists() == is_in_file
    assert [c.val.values() for c in constants(tmp_path / "out.mlpackage")] == [(0,) * count]


def test_padding_of_packed_elements_is_stated(tmp_path: Path) -> None:
    write(built(data_of(u4, (11,), [1] * 11), opset="CoreML8"), tmp_path / "out.mlpackage")
    content = (tmp_path / "out.mlpackage" / WEIGHTS).read_bytes()
    assert struct.unpack_from("<IIQQQ", content, 64) == (0xDEADBEEF, 11, 6, 128, 4)
    assert content[128:] == b"\x11\x11\x11\x11\x11\x01"


def test_a_file_of_weights_that_changed_is_refused(tmp_path: Path) -> None:
    package, module = simple(tmp_path)
    (package / WEIGHTS).write_bytes(b.SIMPLE_WEIGHTS + b"later")
    with pytest.raises(DiagnosticError) as raised:
        write(module, tmp_path / "out.mlpackage")
    assert [d.code for d in raised.value.diagnostics] == [FILE_NOT_ACCESSIBLE]
    assert not (tmp_path / "out.mlpackage").exists()


# -- programs made here


def zeros(element: ElementType, count: int) -> Data:
    return data_of(element, (count,), [0] * count)


def constants(package: Path) -> list[Const]:
    """The constants of a program without the one that is a parameter."""
    result = [op for op in read(package, b.DIALECTS).nested() if isinstance(op, Const)]
    return [op for op in result if op.output.name != "y_axis_0"]


def built(*data: Data, opset: str = "CoreML5") -> Module:
    """A program that returns its input, plus constants."""
    body = Block([tensor(f32, 2, 3)], ["x"], label=opset)
    for n, one in enumerate(data):
        body.append(Const(one)).output.name = f"c{n}"
    y = body.append(b.Softmax.build({"x": body.arguments[0], "axis": 1}, (tensor(f32, 2, 3),)))
    y.output.name = "y"
    return module_of(body, [y.output], ["y"], opset)


def module_of(body: Block, values: Iterable[Value], names: Iterable[str], opset: str = "CoreML5") -> Module:
    body.append(Return.build({"values": list(values), "names": tuple(names)}, ()))
    module = Module()
    arguments = {"sym_name": "main", "opset": opset, "specializations": (Region([body]),)}
    module.body.append(Func.build(arguments, ()))
    return module


def test_literal_parameters_become_constants(tmp_path: Path) -> None:
    write(built(), tmp_path / "out.mlpackage")
    const, softmax = (
        model_of(tmp_path / "out.mlpackage").mlProgram.functions[0].value.block_specializations[0].value.operations
    )
    assert canonical(const) == canonical(b.const("y_axis_0", b.integer(1)))
    assert canonical(softmax) == canonical(b.op("softmax", {"x": "x", "axis": "y_axis_0"}, [("y", KIND)]))


def test_description_of_a_program_without_one_follows_its_functions(tmp_path: Path) -> None:
    write(built(), tmp_path / "out.mlpackage")
    expected: b.Message = message_class("Model")(specificationVersion=6)
    b.feature(expected.description.input, "x", [2, 3])
    b.feature(expected.description.output, "y", [2, 3])
    model = model_of(tmp_path / "out.mlpackage")
    model.ClearField("mlProgram")
    assert model == expected


@pytest.mark.parametrize(
    ("opset", "element", "version"), [("CoreML5", f16, 7), ("CoreML7", f32, 8), ("CoreML8", f16, 9)]
)
def test_version_of_a_program_without_one_is_the_oldest_that_fits(
    tmp_path: Path, opset: str, element: ElementType, version: int
) -> None:
    body = Block([tensor(element, 2)], ["x"], label=opset)
    y = body.append(b.Softmax.build({"x": body.arguments[0]}, (tensor(element, 2),)))
    y.output.name = "y"
    write(module_of(body, [y.output], ["y"], opset), tmp_path / "out.mlpackage")
    assert model_of(tmp_path / "out.mlpackage").specificationVersion == version


def test_values_without_names_of_their_own_get_some(tmp_path: Path) -> None:
    kind = tensor(f32, 2, 3)
    body = Block([kind], ["x"], label="CoreML5")
    values = [body.arguments[0]]
    for name in ("", "", "a/b", "x", "string", "7"):
        op = body.append(b.Add.build({"x": values[-1], "y": values[-1]}, (kind,)))
        op.output.name = name
        values.append(op.output)
    write(module_of(body, [values[-1]], ["y"]), tmp_path / "out.mlpackage")
    operations = (
        model_of(tmp_path / "out.mlpackage").mlProgram.functions[0].value.block_specializations[0].value.operations
    )
    assert [op.outputs[0].name for op in operations] == ["add", "add_0", "a_b", "x_0", "_string", "y"]
    assert [op.inputs[0].value.arguments[0].name for op in operations] == ["x", "add", "add_0", "a_b", "x_0", "_string"]


def test_an_outer_value_that_a_nested_name_would_hide_gets_another_name(tmp_path: Path) -> None:
    kind = tensor(f32, 2, 3)
    body = Block([kind], ["x"], label="CoreML5")
    outer = body.append(b.Add.build({"x": body.arguments[0], "y": body.arguments[0]}, (kind,)))
    outer.output.name = "a"
    inner = Block()
    hiding = inner.append(b.Add.build({"x": body.arguments[0], "y": body.arguments[0]}, (kind,)))
    hiding.output.name = "a"
    both = inner.append(b.Add.build({"x": outer.output, "y": hiding.output}, (kind,)))
    both.output.name = "s"
    inner.append(Return.build({"values": [both.output], "names": ("s",)}, ()))
    other = Block()
    other.append(Return.build({"values": [outer.output], "names": ("a",)}, ()))
    regions = {"true_branch": Region([inner]), "false_branch": Region([other])}
    cond = body.append(b.Cond.build({"pred": outer.output, **regions}, (kind,)))
    cond.results[0].name = "y"
    write(module_of(body, cond.results, ["y"]), tmp_path / "out.mlpackage")
    again = read(tmp_path / "out.mlpackage", b.DIALECTS).main.body
    first, last = again.first, again.last
    assert first is not None
    assert last is not None
    branch = last.operands[0].defining_op
    assert branch is not None
    inside = list(branch.regions[0].block.operations)
    assert inside[1].operands == (first.results[0], inside[0].results[0])


def test_an_input_returned_under_another_name_is_refused(tmp_path: Path) -> None:
    body = Block([tensor(f32, 2)], ["x"], label="CoreML5")
    with pytest.raises(DiagnosticError) as raised:
        write(module_of(body, body.arguments, ["y"]), tmp_path / "out.mlpackage")
    (diagnostic,) = raised.value.diagnostics
    assert (diagnostic.code, diagnostic.message, diagnostic.where) == (
        NOT_IN_FORMAT,
        "the output 'y' cannot have that name: it is the value that is already called 'x'",
        "main",
    )


def test_what_no_program_holds_is_refused_all_at_once(tmp_path: Path) -> None:
    body = Block([tensor(f32, 2)], ["x"], label="CoreML5")
    bad = body.append(UnregisteredOperation("core.add", body.arguments, {}, (tensor(f32, 2),)))
    bad.results[0].name = "y"
    other = body.append(b.Softmax.build({"x": body.arguments[0]}, (tensor(ElementType("f4E2M1FN", "float", 4), 2),)))
    other.output.name = "z"
    with pytest.raises(DiagnosticError) as raised:
        write(module_of(body, bad.results, ["y"]), tmp_path / "out.mlpackage")
    assert [(d.code, d.message) for d in raised.value.diagnostics] == [
        (NOT_IN_FORMAT, "core.add: no operation of an ML Program"),
        (NOT_IN_FORMAT, "mil.softmax: 'z': an ML Program has no elements of type f4E2M1FN"),
    ]


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    kind = tensor(f32, 2)
    body = Block([kind], ["x"], label="CoreML5")
    x = body.arguments[0]
    at = body
    outermost: Operation | None = None
    for n in range(60):
        blocks = [Block(), Block()]
        blocks[1].append(Return.build({"values": [x], "names": ("x",)}, ()))
        op = at.append(
            b.Cond.build({"pred": x, "true_branch": Region([blocks[0]]), "false_branch": Region([blocks[1]])}, (kind,))
        )
        op.results[0].name = f"v{n}"
        if n:
            at.append(Return.build({"values": op.results, "names": (f"v{n}",)}, ()))
        outermost = outermost or op
        at = blocks[0]
    at.append(Return.build({"values": [x], "names": ("x",)}, ()))
    assert outermost is not None
    with pytest.raises(DiagnosticError) as raised:
        write(module_of(body, outermost.results, ["v0"]), tmp_path / "out.mlpackage")
    assert raised.value.diagnostics[0].code is NESTING_TOO_DEEP


# -- the file system


def test_the_package_that_is_being_read_can_be_replaced(tmp_path: Path) -> None:
    package = several_weights(tmp_path)
    module = read(package, b.DIALECTS)
    constant_of(module, "w0").output.name = "renamed"
    constant_of(module, "w1").erase()
    write(module, package)
    assert weights_of(package) == [(1, bytes(24)), (1, b"\x02" * 24)]
    assert list(references(package)) == ["renamed", "w2"]
    # What the module holds is what was read, and can be written once more.
    assert constant_of(module, "w2").val.buffer() == b"\x02" * 24
    write(module, package)
    assert weights_of(package) == [(1, bytes(24)), (1, b"\x02" * 24)]
    assert [p.name for p in tmp_path.iterdir()] == [package.name]


def test_output_through_a_link_replaces_what_it_leads_to(tmp_path: Path) -> None:
    package, module = simple(tmp_path)
    (tmp_path / "real").mkdir()
    write(module, tmp_path / "real" / "out.mlpackage")
    (tmp_path / "link.mlpackage").symlink_to(tmp_path / "real" / "out.mlpackage")
    main = module.main
    main.body.arguments[0].name = "renamed"
    write(module, tmp_path / "link.mlpackage")
    assert (tmp_path / "link.mlpackage").is_symlink()
    assert model_of(tmp_path / "real" / "out.mlpackage").mlProgram.functions[0].value.inputs[0].name == "renamed"
    assert contents(package)[WEIGHTS.as_posix()] == contents(tmp_path / "real" / "out.mlpackage")[WEIGHTS.as_posix()]


def test_a_folder_that_is_not_a_package_is_not_replaced(tmp_path: Path) -> None:
    _, module = simple(tmp_path)
    (tmp_path / "mine.mlpackage").mkdir()
    (tmp_path / "mine.mlpackage" / "thesis.txt").write_text("years of work")
    with pytest.raises(DiagnosticError) as raised:
        write(module, tmp_path / "mine.mlpackage")
    assert raised.value.diagnostics[0].code is OUTPUT_IN_THE_WAY
    assert contents(tmp_path / "mine.mlpackage") == {"thesis.txt": b"years of work"}


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
def test_weights_of_a_package_that_is_replaced_are_not_copied(tmp_path: Path) -> None:
    package, module = simple(tmp_path)
    before = (package / WEIGHTS).stat()
    module.main.body.arguments[0].name = "renamed"
    write(module, package)
    after = (package / WEIGHTS).stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_nlink) == (before.st_ino, before.st_mtime_ns, 1)


def test_weights_of_another_package_are_copied(tmp_path: Path) -> None:
    package, module = simple(tmp_path)
    write(module, tmp_path / "out.mlpackage")
    assert (package / WEIGHTS).stat().st_ino != (tmp_path / "out.mlpackage" / WEIGHTS).stat().st_ino


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_old_package_survives_a_full_disk(tmp_path: Path) -> None:
    package = several_weights(tmp_path)
    before = contents(package)
    script = f"""
import resource, signal
from pathlib import Path
from commonir.base.diagnostics import DiagnosticError
from commonir.formats.coreml.read import read
from commonir.formats.coreml.write import write
from tests.formats.coreml import building as b
module = read({os.fspath(package)!r}, b.DIALECTS)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (256, 256))
try:
    write(module, {os.fspath(package)!r})
except DiagnosticError as error:
    print(error.diagnostics[0].code.id)
"""
    done = run_python(script)
    assert done.stdout.strip() == DISK_FULL.id, done.stderr
    assert contents(package) == before
    assert [p.name for p in tmp_path.iterdir()] == [package.name]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_old_package_survives_a_kill(tmp_path: Path) -> None:
    package = several_weights(tmp_path)
    before = contents(package)
    script = f"""
import os, signal
from commonir.formats.coreml.read import read
from commonir.formats.coreml.write import write
from commonir.ir.data import MappedFile
from tests.formats.coreml import building as b
module = read({os.fspath(package)!r}, b.DIALECTS)
MappedFile.link_to = lambda *_: False
MappedFile.copy_to = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
write(module, {os.fspath(package)!r})
"""
    assert run_python(script).returncode == -signal.SIGKILL
    assert contents(package) == before


def run_python(script: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment)


def test_identifiers_of_items_follow_from_the_content(tmp_path: Path) -> None:
    write(built(), tmp_path / "one.mlpackage")
    write(built(zeros(f32, 3)), tmp_path / "two.mlpackage")
    one, two = (json.loads((tmp_path / f"{name}.mlpackage" / "Manifest.json").read_text()) for name in ("one", "two"))
    assert one["rootModelIdentifier"] != two["rootModelIdentifier"]
    assert one["fileFormatVersion"] == "1.0.0"
    assert [item["path"] for item in one["itemInfoEntries"].values()] == [
        "com.apple.CoreML/model.mlmodel",
        "com.apple.CoreML/weights",
    ]


@pytest.mark.parametrize("path", ["../outside", "/outside", "a/../../outside", "a\0b"])
def test_paths_of_further_files_that_lead_out_are_refused(tmp_path: Path, path: str) -> None:
    module = built()
    module.set_extra("coreml.files", DictionaryAttr(((path, DataAttr(zeros(i8, 3))),)))
    with pytest.raises(DiagnosticError) as raised:
        write(module, tmp_path / "out.mlpackage")
    assert [d.code for d in raised.value.diagnostics] == [PATH_OUTSIDE_MODEL]


def test_texts_are_written_inside_the_program(tmp_path: Path) -> None:
    write(built(TextData(TensorType(string, (12,)), ["é"] * 12)), tmp_path / "out.mlpackage")
    assert [c.val.values() for c in constants(tmp_path / "out.mlpackage")] == [("é",) * 12]


def test_attributes_set_here_are_written_as_constants(tmp_path: Path) -> None:
    module = built()
    softmax = next(op for op in module.nested() if isinstance(op, b.Softmax))
    softmax.set_extra("note", StringAttr("mine"))
    softmax.set_extra("commonir.note", StringAttr("ours"))
    write(module, tmp_path / "out.mlpackage")
    operations = (
        model_of(tmp_path / "out.mlpackage").mlProgram.functions[0].value.block_specializations[0].value.operations
    )
    assert [(a.key, a.value) for a in operations[1].attributes] == [("name", b.text("y")), ("note", b.text("mine"))]


# -- whatever was read


@pytest.mark.slow
def test_damaged_models_that_can_be_read_are_written_or_refused(tmp_path: Path) -> None:
    package = odd_package(tmp_path)
    place = package / DATA / "model.mlmodel"
    content = place.read_bytes()
    source = random.Random(11)
    written = 0
    for _ in range(200):
        place.write_bytes(damaged(content, source))
        module, diagnostics = read_with_findings(package, b.DIALECTS)
        if module is None:
            continue
        try:
            write(module, tmp_path / "out.mlpackage")
        except DiagnosticError:
            assert diagnostics
            continue
        written += 1
        if not any(d.is_error for d in diagnostics):
            assert canonical(model_of(tmp_path / "out.mlpackage")) == canonical(model_of(package))
    assert written > 4


@pytest.mark.parametrize(
    ("manifest", "reason"),
    [
        ('{"name": "an extension", "version": "1"}', "is not a package: its 'Manifest.json' is another one"),
        (None, "the package in its place also has 'thesis.txt'"),
    ],
)
def test_a_folder_with_other_files_is_not_replaced(tmp_path: Path, manifest: str | None, reason: str) -> None:
    package = tmp_path / "m.mlpackage"
    write(built(), package)
    (package / "thesis.txt").write_text("dear")
    if manifest is not None:
        (package / "Manifest.json").write_text(manifest)
    before = contents(package)
    with pytest.raises(DiagnosticError) as caught:
        write(built(zeros(f32, 3)), package)
    (diagnostic,) = caught.value.diagnostics
    assert reason in diagnostic.message
    assert contents(package) == before
