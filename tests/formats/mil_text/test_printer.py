"""How programs are printed as MIL text. Expected texts are written by hand, in the layout of Apple's compiler."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from commonir.base.diagnostics import Diagnostics
from commonir.dialects.mil.program import Func, Return
from commonir.formats.coreml.read import read
from commonir.formats.mil_text.numbers import hex_text
from commonir.formats.mil_text.printer import print_program
from commonir.formats.mil_text.read import parse
from commonir.ir import Module, tensor
from commonir.ir.operation import Block, Region
from commonir.ir.types import ListType, Type, complex64, f32
from commonir.ir.unregistered import UnregisteredOperation
from commonir.ods import Dialects
from commonir.symbolic import symbol

from tests.formats.coreml import building as b

DIALECTS = Dialects()


def package(folder: Path, program: b.Message, weights: bytes | None = b.SIMPLE_WEIGHTS) -> Module:
    """The module of a package with a program."""
    return read(b.save(folder, b.model(program), weights), b.DIALECTS)


def test_sample_of_the_new_syntax(tmp_path: Path) -> None:
    half = b.tensor(b.FLOAT16, 2, 3)
    state = b.make("ValueType")
    state.stateType.wrappedType.CopyFrom(half)
    body = b.block(
        [
            b.op("read_state", {"input": "acc"}, [("r", half)]),
            b.op("add", {"x": "r", "y": "x"}, [("s", half)]),
            b.op("write_state", {"data": "s", "input": "acc"}, name="w"),
            b.const("two", b.immediate(b.tensor(b.FLOAT16), "bytes", b"\x00\x40")),
            b.op("add", {"x": "s", "y": "two"}, [("y", half)]),
        ],
        ["y"],
    )
    program = b.program({"main": b.function([("acc", state), ("x", half)], body, "CoreML8")})
    info = b.make("Value")
    info.type.dictionaryType.keyType.CopyFrom(b.tensor(b.STRING))
    info.type.dictionaryType.valueType.CopyFrom(b.tensor(b.STRING))
    for key, value in (("coremlc-component-MIL", "3510.2.1"), ("coremlc-version", "3505.4.1")):
        pair = info.immediateValue.dictionary.values.add()
        pair.key.CopyFrom(b.text(key))
        pair.value.CopyFrom(b.text(value))
    program.attributes.add(key="buildInfo", value=info)
    assert print_program(package(tmp_path, program)) == (
        "program(1.3)\n"
        '[buildInfo = dict<string, string>({{"coremlc-component-MIL", "3510.2.1"}, {"coremlc-version", "3505.4.1"}})]\n'
        "{\n"
        "    func main<ios18>(state<tensor<fp16, [2, 3]>> acc, tensor<fp16, [2, 3]> x) {\n"
        '            tensor<fp16, [2, 3]> r = read_state(input = acc)[name = string("r")];\n'
        '            tensor<fp16, [2, 3]> s = add(x = r, y = x)[name = string("s")];\n'
        '            write_state(data = s, input = acc)[name = string("w")];\n'
        '            fp16 two = const()[name = string("two"), val = fp16(0x1p+1)];\n'
        '            tensor<fp16, [2, 3]> y = add(x = s, y = two)[name = string("y")];\n'
        "        } -> (y);\n"
        "}\n"
    )


def test_sample_of_the_old_syntax(tmp_path: Path) -> None:
    module = package(tmp_path, b.simple_model().mlProgram)
    assert print_program(module) == (
        "program(1.0)\n"
        "{\n"
        "    func main<ios15>(tensor<fp32, [2, 3]> x) {\n"
        '            tensor<fp32, [2, 3]> w = const()[name = tensor<string, []>("w"), val = tensor<fp32, [2, 3]>('
        'BLOBFILE(path = tensor<string, []>("@model_path/weights/weight.bin"), offset = tensor<uint64, []>(64)))];\n'
        '            tensor<fp32, [2, 3]> y = add(x = x, y = w)[name = tensor<string, []>("y")];\n'
        '            tensor<int32, []> axis = const()[name = tensor<string, []>("axis"), '
        "val = tensor<int32, []>(1)];\n"
        '            tensor<fp32, [2, 3]> z = softmax(x = y, axis = axis)[name = tensor<string, []>("z")];\n'
        "        } -> (z);\n"
        "}\n"
    )


def test_the_syntax_can_be_chosen(tmp_path: Path) -> None:
    module = package(tmp_path, b.simple_model().mlProgram)
    text = print_program(module, syntax="1.3")
    assert text.startswith("program(1.3)")
    assert 'int32 axis = const()[name = string("axis"), val = int32(1)];' in text


def test_nested_blocks_are_printed_behind_the_statement() -> None:
    text = (
        "program(1.3)\n"
        "{\n"
        "    func main<ios18>(bool p, tensor<fp32, [2]> x) {\n"
        "            tensor<fp32, [2]> y = cond(pred = p) {\n"
        "                    tensor<fp32, [2]> a = relu(x = x);\n"
        "                } -> (a) {\n"
        "                } -> (x);\n"
        '            tensor<fp32, [2]> z = while_loop(loop_vars = y)[name = string("z")] (tensor<fp32, [2]> v) {\n'
        "                    bool go = const()[val = bool(false)];\n"
        '                } -> (go)[note = string("condition")] (tensor<fp32, [2]> v) {\n'
        "                    tensor<fp32, [2]> w = cond(pred = p) {\n"
        "                        } -> (v) {\n"
        "                        } -> (x);\n"
        "                } -> (w);\n"
        "        } -> (z);\n"
        "}\n"
    )
    assert print_program(parse(text, DIALECTS)) == text


@pytest.mark.parametrize(
    "statement",
    [
        "int4 c = const()[val = int4(-8)];",
        "tensor<fp32, [2, 2]> c = const()[val = tensor<fp32, [2, 2]>([[0x1p+0, -0x1.8p-1], [inf, nan]])];",
        "tensor<fp16, [3]> c = const()[val = tensor<fp16, [3]>([0x1p-24, -nan, nan(0x7e01)])];",
        "tensor<bool, [2]> c = const()[val = tensor<bool, [2]>([true, false])];",
        "tensor<int32, [0, 3]> c = const()[val = tensor<int32, [0, 3]>([])];",
        'string c = const()[val = string("a\\"\\\\\\n\\t\\x07\u00e9")];',
        'dict<string, tensor<int32, [?]>> c = const()[val = dict<string, tensor<int32, [?]>>({{"a", [1, 2]}})];',
        "list<tensor<int32, [?]>, ?> c = const()[val = list<tensor<int32, [?]>, ?>([[1], tensor<int32, [0]>([])])];",
        "tuple<int32, tuple<>> c = const()[val = tuple<int32, tuple<>>((1, ()))];",
        "tensor<int32, [1]> c = concat(axis = int32(0), values = (x, x, int32(7)));",
        "tensor<int32, [1]> c = concat(values = x, axis = int32(0));",
        "tensor<int32, [1]> c = concat(axis = int32(0), values = ());",
        'tensor<int32, [1]> "a b" = identity(x = x)["odd-key" = int32(1), name = string("n")];',
        "list<tensor<fp32, [2, ?]>, ?> c = make_list(elem_shape = (int32(2), int32(2)));",
        "tensor<fp32, [...]> c = identity(x = x);",
        "tensor<fp8e4m3fn, [2]> c = const()[val = tensor<fp8e4m3fn, [2]>([0x1p+0, 0x1.8p+1])];",
        "tensor<bf16, [1]> c = const()[val = tensor<bf16, [1]>([0x1.8p+1])];",
        "uint64 c = const()[val = uint64(18446744073709551615)];",
        "fp64 c = const()[val = fp64(0x0.0000000000001p-1022)];",
    ],
)
def test_statements_print_as_they_were_read(statement: str) -> None:
    text = (
        "program(1.3)\n{\n    func main<ios18>(tensor<int32, [1]> x) {\n"
        f"            {statement}\n        }} -> (x);\n}}\n"
    )
    assert print_program(parse(text, DIALECTS)) == text


def test_functions_specializations_and_attributes_print_as_they_were_read() -> None:
    text = (
        "program(1.3)\n"
        '[a = int32(1), "b c" = string("d")]\n'
        "{\n"
        "    func first<ios18>(fp32 x) [f = int32(2)] {\n"
        "        } -> (x)[g = int32(3)];\n"
        "    func second<ios16>() <ios15> {\n"
        "        } -> () <ios16> {\n"
        "        } -> ();\n"
        "    func third<ios17>(fp32 x) <CoreML4> {\n"
        "        } -> (x);\n"
        "    func fourth<ios17>(fp32 x);\n"
        "}\n"
    )
    assert print_program(parse(text, DIALECTS)) == text


def test_large_constants_are_left_out_on_request(tmp_path: Path) -> None:
    module = package(tmp_path, b.simple_model().mlProgram)
    long = parse(
        "program(1.3) { func main<ios18>() { tensor<int32, [3]> c = const()[val = tensor<int32, [3]>([1, 2, 3])]; "
        "int32 d = const()[val = int32(4)]; } -> (c, d); }",
        DIALECTS,
    )
    assert "tensor<int32, [3]>(...)" in print_program(long, elide=2)
    assert "int32(4)" in print_program(long, elide=2)
    # What is in a weight file takes no room in the text.
    assert "offset = tensor<uint64, []>(64)" in print_program(module, elide=0)


def test_numbers_are_hexadecimal() -> None:
    assert [hex_text(v) for v in (0.0, -0.0, 1.0, 0.1, 3.0, -2.5e-10)] == [
        "0x0p+0",
        "-0x0p+0",
        "0x1p+0",
        "0x1.999999999999ap-4",
        "0x1.8p+1",
        "-0x1.12e0be826d695p-32",
    ]
    single = struct.unpack("<f", struct.pack("<f", 3.14))[0]
    assert hex_text(single) == "0x1.91eb86p+1"


def test_what_has_no_form_is_reported() -> None:
    module = Module()
    module.body.append(UnregisteredOperation("other.thing"))
    diagnostics = Diagnostics()
    assert print_program(module, diagnostics=diagnostics) == "program(1.3)\n{\n}\n"
    assert [d.message for d in diagnostics] == ["other.thing: has no place in an ML Program"]


def made(kind: Type, returned: str) -> Module:
    """A program, not read from a file, that returns its input."""
    block = Block([kind], ["x"], "CoreML8")
    block.append(Return.build({"values": tuple(block.arguments), "names": (returned,)}, ()))
    module = Module()
    module.body.append(Func.build({"sym_name": "main", "opset": "CoreML8", "specializations": (Region([block]),)}, ()))
    return module


def test_sizes_that_are_expressions_are_unknown() -> None:
    text = print_program(made(tensor(f32, symbol("N") * 2, 3), "x"))
    assert "func main<ios18>(tensor<fp32, [?, 3]> x) {" in text


def test_types_and_names_that_no_program_has_are_reported() -> None:
    diagnostics = Diagnostics()
    print_program(made(ListType(tensor(complex64, 2), None), "y"), diagnostics=diagnostics)
    assert [(d.code.id, d.message) for d in diagnostics] == [
        ("E0806", "mil.func: the output 'y' cannot have that name: it is the value that is already called 'x'"),
        ("E0806", "an ML Program has no type complex<f32>"),
    ]


def test_documentation_and_unknown_fields_of_a_package_are_kept(tmp_path: Path) -> None:
    program = b.simple_model().mlProgram
    program.docString = 'says "hello"'
    body = program.functions[0].value.block_specializations[0].value
    body.operations[2].attributes[1].value.docString = "an axis"
    module = package(tmp_path, program)
    text = print_program(module)
    assert r"""["mil.doc" = tensor<string, []>("\"says \\22hello\\22\"")]""" in text
    assert "mil.residue" in text
    read_again = parse(text, b.DIALECTS, folder=tmp_path / "model.mlpackage" / "Data" / "com.apple.CoreML")
    assert print_program(read_again) == text
    axis = [op for op in read_again.main.body.operations if op.results and op.results[0].name == "axis"]
    preserved = [op for op in module.main.body.operations if op.results and op.results[0].name == "axis"]
    assert axis[0].extra["mil.residue"] is preserved[0].extra["mil.residue"]
