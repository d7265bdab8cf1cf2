"""The programs that MIL texts are read as, and the findings for wrong texts."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.base.limits import DEFAULT_LIMITS, Limits
from commonir.dialects.mil.convolution import Conv
from commonir.dialects.mil.program import Compound, Func, attribute_value
from commonir.dialects.mil.shape import Concat
from commonir.formats.mil_text.read import parse, read_with_findings
from commonir.ir import Module, tensor
from commonir.ir.attributes import DictionaryAttr, StringAttr
from commonir.ir.data import Data, FileData
from commonir.ir.equality import first_difference
from commonir.ir.types import (
    ListType,
    MapType,
    StateType,
    TensorType,
    TupleType,
    Type,
    bf16,
    boolean,
    f8e4m3fn,
    f8e5m2,
    f16,
    f32,
    f64,
    i4,
    i32,
    string,
    u1,
    u3,
    u6,
)
from commonir.ir.unregistered import UnregisteredOperation
from commonir.ods import Dialects

from tests.formats.coreml import building as b

DIALECTS = Dialects()


def program(body: str, *, inputs: str = "tensor<fp32, [2]> x", outputs: str = "y", opset: str = "ios18") -> str:
    """A text with one function."""
    return f"program(1.3)\n{{\n    func main<{opset}>({inputs}) {{\n{body}\n    }} -> ({outputs});\n}}"


def read(text: str, limits: Limits = DEFAULT_LIMITS, dialects: Dialects = DIALECTS) -> Module:
    return parse(text, dialects, file="net.mil", limits=limits)


def constant(literal: str) -> Data | Compound:
    """The constant that a literal with its type is read as."""
    kind = literal.partition("(")[0]
    module = read(program(f'{kind} y = const()[name = string("y"), val = {literal}];'))
    value = module.main.outputs[0].owner.attribute_values[0]  # type: ignore[union-attr]  a constant
    assert isinstance(value, Data | Compound)
    return value


def values(literal: str) -> tuple[object, ...]:
    stored = constant(literal)
    assert isinstance(stored, Data)
    return stored.values()


def message(text: str, limits: Limits = DEFAULT_LIMITS) -> str:
    with pytest.raises(DiagnosticError) as caught:
        read(text, limits)
    return "\n".join(str(d) for d in caught.value.diagnostics)


def codes(text: str, limits: Limits = DEFAULT_LIMITS) -> list[str]:
    with pytest.raises(DiagnosticError) as caught:
        read(text, limits)
    return [d.code.id for d in caught.value.diagnostics]


# -- types


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("fp32", tensor(f32)),
        ("tensor<fp32, []>", tensor(f32)),
        ("tensor<fp16, [1, 3]>", tensor(f16, 1, 3)),
        ("tensor<fp16,[1,3]>", tensor(f16, 1, 3)),
        ("tensor < fp16 , [ 1 , 3 ] >", tensor(f16, 1, 3)),
        ("tensor<int32, [?, 4]>", tensor(i32, None, 4)),
        ("tensor<int32, [...]>", TensorType(i32, None)),
        ("tensor<uint3, [8]>", tensor(u3, 8)),
        ("tensor<uint6, [8]>", tensor(u6, 8)),
        ("tensor<uint1, [8]>", tensor(u1, 8)),
        ("tensor<int4, [8]>", tensor(i4, 8)),
        ("bf16", tensor(bf16)),
        ("fp64", tensor(f64)),
        ("fp8e4m3fn", tensor(f8e4m3fn)),
        ("fp8e5m2", tensor(f8e5m2)),
        ("bool", tensor(boolean)),
        ("string", tensor(string)),
        ("state<tensor<fp16, [2, 3]>>", StateType(tensor(f16, 2, 3))),
        ("list<tensor<int32, [2]>, ?>", ListType(tensor(i32, 2), None)),
        ("list<string, 3>", ListType(tensor(string), 3)),
        ("list<fp32>", ListType(tensor(f32), None)),
        ("dict<string, fp64>", MapType(tensor(string), tensor(f64))),
        ("dict<tensor<string, []>, tensor<string, []>>", MapType(tensor(string), tensor(string))),
        ("tuple<>", TupleType(())),
        ("tuple<int32, list<bool, ?>>", TupleType((tensor(i32), ListType(tensor(boolean), None)))),
    ],
)
def test_types(text: str, type: Type) -> None:
    module = read(program("", inputs=f"{text} x", outputs="x"))
    assert module.main.inputs[0].type is type


# -- constants


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        ("int32(-7)", (-7,)),
        ("int32(+7)", (7,)),
        ("tensor<int32, []>(1)", (1,)),
        ("uint64(18446744073709551615)", (2**64 - 1,)),
        ("bool(true)", (True,)),
        ("tensor<bool, [2]>([true, false])", (True, False)),
        ("fp32(0x1p-1)", (0.5,)),
        ("fp32(0x1.8p+3)", (12.0,)),
        ("fp32(0X1.8P3)", (12.0,)),
        ("fp32(-0x.8p1)", (-1.0,)),
        ("fp32(1.5e-2)", (struct.unpack("<f", struct.pack("<f", 0.015))[0],)),
        ("fp32(.5)", (0.5,)),
        ("fp32(3.)", (3.0,)),
        ("fp32(10)", (10.0,)),
        ("fp32(inf)", (math.inf,)),
        ("fp32(-inf)", (-math.inf,)),
        ("fp16(0x1p-24)", (2.0**-24,)),
        ("bf16(1.0)", (1.0,)),
        ("tensor<int4, [3]>([-8, 7, 1])", (-8, 7, 1)),
        ("tensor<uint3, [3]>([5, 6, 7])", (5, 6, 7)),
        ("tensor<fp32, [2, 2]>([[1, 2], [3, 4]])", (1.0, 2.0, 3.0, 4.0)),
        ("tensor<fp32, [2, 2]>([1, 2, 3, 4])", (1.0, 2.0, 3.0, 4.0)),
        ("tensor<fp32, [2, 1, 2]>([[[1, 2]], [[3, 4]]])", (1.0, 2.0, 3.0, 4.0)),
        ("tensor<int32, [2]>([1, // one\n 2])", (1, 2)),
        ("tensor<int32, [0]>([])", ()),
        ("tensor<int32, [2, 0]>([[], []])", ()),
        ("tensor<int32, [2, 0]>([])", ()),
        ('string("a\\"b\\\\\\n\\x41\u00e9")', ('a"b\\\nA\u00e9',)),
        ('tensor<string, [2]>(["a]", "b, c"])', ("a]", "b, c")),
    ],
)
def test_constants(literal: str, expected: tuple[object, ...]) -> None:
    assert values(literal) == expected


@pytest.mark.parametrize(
    ("literal", "bits"),
    [
        ("fp32(nan)", "0000c07f"),
        ("fp32(-nan)", "0000c0ff"),
        ("fp16(nan)", "007e"),
        ("fp16(nan(0x7e01))", "017e"),
        ("tensor<fp32, [2]>([nan(0x7f800001), -0.0])", "0100807f00000080"),
    ],
)
def test_every_bit_of_a_nan_and_the_sign_of_zero_is_kept(literal: str, bits: str) -> None:
    stored = constant(literal)
    assert isinstance(stored, Data)
    assert bytes(stored.buffer()).hex() == bits


def test_constants_inside_others_have_the_type_that_their_place_implies() -> None:
    stored = constant('dict<string, list<tensor<int32, [?]>, ?>>({{"a", [[1, 2], [3]]}, {"b", []}})')
    assert isinstance(stored, Compound)
    key, items, other, empty = stored.values
    assert isinstance(key, Data)
    assert isinstance(other, Data)
    assert (key.values(), other.values()) == (("a",), ("b",))
    assert isinstance(items, Compound)
    assert isinstance(empty, Compound)
    assert [v.type for v in items.values] == [tensor(i32, 2), tensor(i32, 1)]
    assert empty.values == ()


def test_constants_inside_others_may_state_their_type() -> None:
    stored = constant("tuple<int32, tensor<fp32, [?]>>((int32(3), tensor<fp32, [2]>([1, 2])))")
    assert isinstance(stored, Compound)
    assert [v.type for v in stored.values] == [tensor(i32), tensor(f32, 2)]


def test_flexible_shapes_are_kept_as_the_compiler_writes_them() -> None:
    text = """program(1.3)
{
    func main<ios17>(tensor<fp32, [?]> input) [FlexibleShapeInformation = tuple<tuple<string, dict<string,
        tensor<int32, [?]>>>, tuple<string, dict<string, list<tensor<int32, [2]>, ?>>>>((("DefaultShapes",
        {{"input", [4]}}), ("RangeDims", {{"input", [[0, 4]]}})))] {
            tensor<fp32, [?]> output = relu(x = input);
        } -> (output);
}"""
    preserved = read(text).main.extra["mil.attributes"]
    assert isinstance(preserved, DictionaryAttr)
    value = attribute_value(dict(preserved.entries)["FlexibleShapeInformation"])
    assert isinstance(value, Compound)
    _, ranges = value.values
    assert isinstance(ranges, Compound)
    assert isinstance(ranges.values[1], Compound)
    rows = ranges.values[1].values[1]
    assert isinstance(rows, Compound)
    assert [row.values() for row in rows.values if isinstance(row, Data)] == [(0, 4)]


# -- statements


def test_public_hand_written_style_is_read() -> None:
    text = (
        'program(1.3)\n[buildInfo = dict<string, string>({{"coremlc-version",\n "3505.4.1"}})]\n{ func main<ios16>('
        'tensor<fp16,[1,4,1,8]> x){tensor<string, []> pt=const()[name=string("pt"),val=string("valid")];'
        "tensor<int32,[2]> st=const()[val=tensor<int32,[2]>([1,1])];tensor<fp16,[4,4,1,1]> w = const()[name = "
        'tensor<string, []>("w"), val = tensor<fp16, [4, 4, 1, 1]>([1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1])];'
        "tensor<fp16,[1,4,1,8]> c=conv(dilations=st,groups=int32(1),pad=tensor<int32,[4]>([0,0,0,0]),pad_type=pt,"
        "strides=st,weight=w,x=x); tensor<fp16,[1,8,1,8]> y = concat(axis=int32(1), interleave=bool(false), "
        'values=(c, x))[name=string("y")]; } -> (y); }'
    )
    named = {op.results[0].name: op for op in read(text).main.body.operations if op.results}
    conv, concat = named["c"], named["y"]
    assert isinstance(conv, Conv)
    assert isinstance(concat, Concat)
    assert (conv.groups, conv.strides, conv.pad_type.value) == (1, (1, 1), "valid")
    assert ([v.name for v in concat.values], concat.axis, concat.interleave) == (["c", "x"], 1, False)


def test_the_name_of_an_operation_is_kept_where_it_differs() -> None:
    module = read(
        program(
            'tensor<fp32, [2]> a = relu(x = x)[name = string("a")];\n'
            'tensor<fp32, [2]> c = relu(x = a)[name = string("other")];\n'
            "tensor<fp32, [2]> y = relu(x = c);"
        )
    )
    assert [sorted(op.extra) for op in module.main.body.operations] == [[], ["name"], ["mil.unnamed"], []]


def test_results_that_are_several_and_none_at_all() -> None:
    text = program(
        "tensor<fp16, [2]> a, tensor<fp16, [2]> c = split(axis = int32(0), num_splits = int32(2), x = x);\n"
        "write_state(data = a, input = s);",
        inputs="state<tensor<fp16, [2]>> s, tensor<fp16, [4]> x",
        outputs="c",
    )
    ops = [op for op in read(text).main.body.operations if op.name != "mil.literal"]
    assert [(op.name, len(op.results)) for op in ops] == [("mil.split", 2), ("mil.write_state", 0), ("mil.return", 0)]


def test_nested_blocks_see_the_names_around_them() -> None:
    text = program(
        """
        bool p = const()[val = bool(true)];
        tensor<fp32, [2]> y = cond(pred = p)[name = string("y")] {
            tensor<fp32, [2]> a = relu(x = x);
        } -> (a) {
        } -> (x);
        int32 zero = const()[val = int32(0)];
        int32 n, tensor<fp32, [2]> z = while_loop(loop_vars = (zero, y)) (int32 i, tensor<fp32, [2]> v) {
            int32 three = const()[val = int32(3)];
            bool go = less(x = i, y = three);
        } -> (go) (int32 i, tensor<fp32, [2]> v) {
            int32 one = const()[val = int32(1)];
            int32 next = add(x = i, y = one);
            tensor<fp32, [2]> w = add(x = v, y = x);
        } -> (next, w);
        """,
        outputs="z",
    )
    module = read(text)
    nested = [op.name for op in module.main.body.operations if op.regions]
    assert nested == ["mil.cond", "mil.while_loop"]
    inner = [op for op in module.main.walk() if op.results and op.results[0].name == "w"]
    assert [v.name for v in inner[0].operands] == ["v", "x"]
    assert inner[0].operands[1] is module.main.inputs[0]


def test_classifier() -> None:
    text = program(
        'string label, dict<string, fp64> scores = classify(classes = list<string, 2>(["cat", "dog"]), '
        'probabilities = x)[name = string("c")];',
        outputs="label, scores",
    )
    module = read(text)
    assert [str(v.type) for v in module.outputs] == [
        "tensor<!builtin.string>",
        "!builtin.map<tensor<!builtin.string>, tensor<f64>>",
    ]


def test_several_functions_and_specializations() -> None:
    text = """program(1.3) {
        func first<ios18>(fp32 x) {} -> (x);
        func second<ios16>(fp32 x) <ios15> { fp32 y = relu(x = x); } -> (y) <ios16> {} -> (x);
    }"""
    module = read(text)
    assert list(module.functions) == ["first", "second"]
    second = module.functions["second"]
    assert isinstance(second, Func)
    assert (second.opset, [r.block.label for r in second.specializations]) == ("CoreML6", ["CoreML5", "CoreML6"])
    assert second.output_names == ("x",)


@pytest.mark.parametrize(
    ("name", "opset"),
    [("ios15", "CoreML5"), ("ios18", "CoreML8"), ("ios26", "CoreML9"), ("CoreML7", "CoreML7"), ("later", "later")],
)
def test_operation_sets(name: str, opset: str) -> None:
    function = read(program("", inputs="fp32 y", opset=name)).main
    assert isinstance(function, Func)
    assert function.opset == opset


def test_spacing_and_comments_say_nothing() -> None:
    dense = 'program(1.3){func main<ios18>(fp32 x){fp32 y=relu(x=x)[name=string("y")];}->(y);}'
    loose = (
        "\ufeffprogram ( 1.3 ) // a program\n{\tfunc main < ios18 > ( fp32 x , ) {\r\n fp32 y = relu ( x = x , ) "
        '// relu\n [ name = string ( "y" ) , ] ; } -> ( y ) ; } // end'
    )
    assert first_difference(read(dense), read(loose), names=True) is None


def test_both_syntaxes_give_equal_modules() -> None:
    old = """program(1.0) { func main<ios17>(tensor<fp32, [2]> x) {
        tensor<int32, []> axis = const()[name = tensor<string, []>("axis"), val = tensor<int32, []>(0)];
        tensor<fp32, [2]> y = softmax(axis = axis, x = x)[name = tensor<string, []>("y")]; } -> (y); }"""
    new = """program(1.3) { func main<ios17>(tensor<fp32, [2]> x) {
        int32 axis = const()[name = string("axis"), val = int32(0)];
        tensor<fp32, [2]> y = softmax(axis = axis, x = x)[name = string("y")]; } -> (y); }"""
    assert first_difference(read(old), read(new), names=True) is None


def test_weights_are_found_below_the_folder_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "w.bin").write_bytes(b.SIMPLE_WEIGHTS)
    literal = 'tensor<fp32, [2, 3]>(BLOBFILE(offset = uint64(64), path = string("@model_path/deep/w.bin")))'
    text = program(f"tensor<fp32, [2, 3]> y = const()[val = {literal}];")
    module = parse(text, DIALECTS, folder=tmp_path)
    data = module.main.outputs[0].owner.constant_data()  # type: ignore[union-attr]  a constant
    assert isinstance(data, FileData)
    assert data.values() == (1, 2, 3, 4, 5, 6)


def test_unknown_operations_are_kept_as_they_are(tmp_path: Path) -> None:
    place = tmp_path / "net.mil"
    place.write_text(program("tensor<fp32, [2]> y = reluu(modes = (x, x), x = x)[depth = int32(2)];"))
    module, diagnostics = read_with_findings(place, DIALECTS)
    assert [d.code.id for d in diagnostics] == ["E0501"]
    assert module is not None
    (op,) = [op for op in module.main.body.operations if isinstance(op, UnregisteredOperation)]
    assert (op.name, [v.name for v in op.operands]) == ("mil.reluu", ["x", "x", "x"])
    assert set(op.extra) == {"depth", "mil.parameters", "mil.unnamed"}


# -- faults


def test_message_of_a_syntax_error_names_line_and_column() -> None:
    assert message(
        "program(1.3)\n{\n    func main<ios18>(fp32 x) {\n        fp32 y relu(x = x);\n    } -> (y);\n}"
    ) == (
        "error[E0243]: expected '=', found 'relu'\n"
        "  --> net.mil:4:16\n"
        "   = 4 |         fp32 y relu(x = x);\n"
        "   =   |                ^"
    )


def test_message_of_an_undefined_name_points_at_its_use_and_suggests() -> None:
    text = program("tensor<fp32, [2]> scaled = relu(x = x);\ntensor<fp32, [2]> y = add(x = scaled, y = scaledd);")
    assert message(text) == (
        "error[E0401]: 'scaledd' is not defined\n"
        "  --> net.mil:5:43: main.block[CoreML8].operations[1] 'y'.inputs['y']\n"
        "   = 5 | tensor<fp32, [2]> y = add(x = scaled, y = scaledd);\n"
        "   =   |                                           ^\n"
        "   = help: did you mean 'scaled'?"
    )


def test_message_of_a_use_before_the_definition_says_where_that_is() -> None:
    text = program("tensor<fp32, [2]> y = relu(x = later);\n\ntensor<fp32, [2]> later = relu(x = x);")
    assert message(text) == (
        "error[E0401]: 'later' is used before it is defined\n"
        "  --> net.mil:4:32: main.block[CoreML8].operations[0] 'y'.inputs['x']\n"
        "   = line 6 defines it\n"
        "   = 4 | tensor<fp32, [2]> y = relu(x = later);\n"
        "   =   |                                ^"
    )


def test_message_of_a_number_that_does_not_fit_points_at_it() -> None:
    text = program("tensor<int8, [3]> y = const()[val = tensor<int8, [3]>([1,\n  200, 3])];")
    assert message(text) == (
        "error[E0207]: 200 is not a value of type int8\n"
        "  --> net.mil:4:55: main.block[CoreML8].operations[0] 'y'.attributes['val']\n"
        "   = 4 | tensor<int8, [3]> y = const()[val = tensor<int8, [3]>([1,\n"
        "   =   |                                                       ^"
    )


def test_message_of_an_unknown_type_suggests() -> None:
    assert message(program("float16 y = relu(x = x);")) == (
        "error[E0208]: 'float16' is not a type\n"
        "  --> net.mil:4:1\n"
        "   = 4 | float16 y = relu(x = x);\n"
        "   =   | ^\n"
        "   = help: types are bool, string, fp16, fp32, fp64, bf16, fp8e4m3fn, fp8e5m2, int8, int16, int32, int64, "
        "int4, uint8, uint16, uint32, uint64, uint4, uint2, uint1, uint6, uint3, tensor, list, dict, tuple, state"
    )


def test_message_of_an_unknown_parameter_points_at_it() -> None:
    assert message(program("tensor<fp32, [2]> y = relu(x = x, alhpa = fp32(1));")) == (
        "error[E0502]: mil.relu has no parameter 'alhpa'\n"
        "  --> net.mil:4:35: main.block[CoreML8].operations[0] 'y'.inputs['alhpa']\n"
        "   = 4 | tensor<fp32, [2]> y = relu(x = x, alhpa = fp32(1));\n"
        "   =   |                                   ^\n"
        "   = help: its parameters: x"
    )


def test_message_of_a_constant_that_was_left_out_says_what_to_do() -> None:
    assert message(program("tensor<fp32, [2]> y = const()[val = tensor<fp32, [2]>(...)];")) == (
        "error[E0242]: the elements of this constant were left out when the text was printed\n"
        "  --> net.mil:4:55\n"
        "   = 4 | tensor<fp32, [2]> y = const()[val = tensor<fp32, [2]>(...)];\n"
        "   =   |                                                       ^\n"
        "   = help: print it again with all contents: `elide=False`"
    )


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        ("tensor<fp32, [2]>([1, 2, 3])", "tensor<fp32, [2]> has 2 elements, found 3"),
        ("tensor<fp32, [2, 2]>([[1, 2, 3], [4]])", "the list is neither flat nor nested like tensor<fp32, [2, 2]>"),
        ("tensor<fp32, [2]>(1)", "tensor<fp32, [2]> takes a list of elements, found 1"),
        ("tensor<fp32, [?]>([1])", "the type of a constant must have no unknown dimension, found tensor<fp32, [?]>"),
        ("int32(1.5)", "1.5 is not a value of type int32"),
        ("int32(2147483648)", "2147483648 is not a value of type int32"),
        ("uint1(2)", "2 is not a value of type uint1"),
        ("fp16(70000)", "70000 is not a value of type fp16"),
        ("bool(1)", "1 is not a value of type bool"),
        ("fp16(nan(0x3c00))", "nan(0x3c00) is not a value of type fp16"),
        ("tensor<int32, [2]>([1, x])", "x is not a value of type int32"),
        ("tensor<int32, [2]>([1, ])", "nothing is not a value of type int32"),
        ("list<int32, 2>([1])", "list<int32, 2> is declared, but the list has 1 value"),
        ("tuple<int32>((1, 2))", "tuple<int32> is declared, but the tuple has 2 values"),
        ('dict<string, int32>({{"a"}})', "an entry of a dictionary is a key and a value, found 1 constant"),
        ("list<int32, ?>([fp32(1)])", "the constant must be int32, found fp32"),
        ('fp32(BLOBFILE(path = string("w")))', "BLOBFILE takes 'path', a string, and 'offset', a uint64"),
    ],
)
def test_constants_that_contradict_their_type(literal: str, text: str) -> None:
    kind = literal.partition("(")[0]
    result = message(program(f"{kind} y = const()[val = {literal}];"))
    assert result.splitlines()[0] == f"error[E0207]: {text}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "expected 'program', found the end of the text"),
        ("module {}", "expected 'program', found 'module'"),
        ("program(2.0) {}", "version 2.0 of MIL text is not known"),
        ("program(1.3) {} x", "expected the end of the text, found 'x'"),
        ("program(1.3) { func main<ios18>(fp32 x) {} -> (x) }", "expected '{', found '}'"),
        ("program(1.3) { func main<ios18>(fp32 x) { relu(x = x) } -> (x); }", "expected ';', found '}'"),
        (
            program("fp32 y = relu(x = [1]);"),
            "expected the name of a value, or a constant with its type, such as fp32(1), found '['",
        ),
        (
            program("fp32 y = relu(x = x)[a = 3];"),
            "expected a constant with its type, such as string(\"...\"), found '3'",
        ),
        (program('fp32 y = const()[val = fp32("1")];'), "expected a constant of type fp32, found '\"1\"'"),
        (program("string y = const()[val = string(1)];"), "expected a string, found '1'"),
        (program('string y = const()[val = string("\\q")];'), "'\\q' is not an escape sequence"),
        (program('string y = const()[val = string("a)];'), "unterminated or malformed string"),
        (program("fp32 y = relu(x = x) $;"), "unexpected character '$'"),
        (program("state<fp32> y = const()[val = state<fp32>(1)];"), "there are no constants of type state<fp32>"),
        (program("tensor<fp32, [1, x]> y = relu(x = x);"), "expected a number or '?', found 'x'"),
        (program("tensor<fp32, [-1]> y = relu(x = x);"), "'-1' is not a size of a dimension"),
        (
            program("list<fp32, 9223372036854775808> y = relu(x = x);"),
            "'9223372036854775808' is not a size of a dimension",
        ),
    ],
)
def test_syntax_errors(text: str, expected: str) -> None:
    assert message(text).splitlines()[0].partition("]: ")[2] == expected


def test_faults_of_names_and_constants_are_all_reported() -> None:
    text = program(
        "int8 a = const()[val = int8(300)];\n"
        "tensor<fp32, [2]> a = relu(x = b);\n"
        "tensor<fp32, [2]> y = nosuch(x = a);\n"
        "tensor<fp32, [2]> z = relu(x = (x, x));",
        outputs="missing",
    )
    assert codes(text) == ["E0207", "E0401", "E0402", "E0501", "E0502", "E0401"]


def test_an_operation_of_a_later_operation_set_is_reported_as_such() -> None:
    text = program("tensor<fp32, [2]> y = read_state(input = x);", opset="ios17")
    assert message(text).splitlines()[0] == (
        "error[E0501]: mil.read_state is an operation from CoreML8 on, but its block is written in CoreML7"
    )


def test_names_that_are_defined_twice() -> None:
    twice = "program(1.3) { func main<ios18>(fp32 x, fp32 x) {} -> (x); func main<ios18>(fp32 x) {} -> (x); }"
    assert codes(twice) == ["E0402", "E0402"]
    assert codes(program("fp32 y = relu(x = x, x = x)[a = int32(1), a = int32(2)];")) == ["E0402", "E0402"]
    assert codes("program(1.3) { func main<ios18>(fp32 x) <ios18> {} -> (x) <ios18> {} -> (x); }") == ["E0402"]


def test_a_path_out_of_the_bundle_is_refused(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(b.SIMPLE_WEIGHTS)
    folder = tmp_path / "bundle"
    folder.mkdir()
    for path in ("@model_path/../w.bin", str(tmp_path / "w.bin")):
        literal = f'tensor<fp32, [2, 3]>(BLOBFILE(path = string("{path}"), offset = uint64(64)))'
        text = program(f"tensor<fp32, [2, 3]> y = const()[val = {literal}];")
        with pytest.raises(DiagnosticError) as caught:
            parse(text, DIALECTS, folder=folder)
        assert [d.code.id for d in caught.value.diagnostics] == ["E0301"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("fp32 a = relu(x = x); fp32 b = relu(x = a); fp32 c = relu(x = b);", "E0303"),
        ("tensor<fp32, [3]> y = const()[val = tensor<fp32, [3]>([1, 2, 3])];", "E0303"),
        ("tensor<fp32, [1, 1, 1]> y = relu(x = x);", "E0303"),
        ("tensor<fp32, [1]> y = const()[val = tensor<fp32, [1]>([[[1]]])];", "E0207"),
        ("list<list<list<list<list<fp32>>>>> y = relu(x = x);", "E0302"),
        ("tuple<> y = const()[val = list<list<list<list<fp32>>>>([[[[[[1]]]]]])];", "E0302"),
        ("fp32 y = cond(pred = x) { fp32 z = cond(pred = x) { cond(pred = x) { cond(pred = x) {", "E0302"),
    ],
)
def test_limits(body: str, code: str) -> None:
    small = DEFAULT_LIMITS._replace(max_operations=2, max_immediate_elements=2, max_rank=2, max_nesting_depth=3)
    if code == "E0302":
        small = small._replace(max_operations=9)
    assert codes(program(body), small)[0] == code


def test_deep_input_is_refused_and_never_recursed_into() -> None:
    for text in (
        program("list<" * 5000),
        program(f"tensor<fp32, [1]> y = const()[val = tensor<fp32, [1]>({'[' * 5000}"),
        program("cond(pred = x) { " * 5000),
        program(f"tuple<> y = const()[val = list<list<fp32>>({'[' * 5000}"),
    ):
        assert codes(text)[0] in ("E0302", "E0243")


def test_a_huge_shape_without_elements_takes_no_memory() -> None:
    literal = "tensor<fp32, [0, 999999999999]>([])"
    assert values(literal) == ()
    assert codes(program("fp32 y = const()[val = tensor<fp32, [999999999999]>([1])];")) == ["E0207"]


def test_unusual_names_may_be_quoted() -> None:
    module = read(program('tensor<fp32, [2]> "a/b" = relu(x = x);\ntensor<fp32, [2]> y = relu(x = "a/b");'))
    assert [r.name for op in module.main.body.operations for r in op.results] == ["a/b", "y"]


def test_attributes_of_ours_hold_whole_mlir_attributes() -> None:
    text = """program(1.3)["mil.doc" = string("\\"text\\""), "other.key" = string("plain")] {}"""
    module = read(text)
    assert module.extra["mil.doc"] is StringAttr("text")
    preserved = module.extra["mil.attributes"]
    assert isinstance(preserved, DictionaryAttr)
    assert dict(preserved.entries) == {"other.key": StringAttr("plain")}
    for content in ("3 4", "{", "int32(3)"):
        literal = content if content.startswith("int") else f'string("{content}")'
        assert codes(f'program(1.3)["mil.doc" = {literal}] {{}}') == ["E0243"]
