"""Reading programs: everything in the file is in the module, and every fault is reported with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonir.base.codes import (
    DUPLICATE_NAME,
    MALFORMED_REGION,
    UNDEFINED_VALUE,
    UNKNOWN_OPERATION,
    WRONG_OPERAND_COUNT,
)
from commonir.base.diagnostics import DiagnosticError
from commonir.base.file_codes import LIMIT_EXCEEDED, MALFORMED_TYPE, MALFORMED_VALUE, NO_PROGRAM
from commonir.base.limits import DEFAULT_LIMITS
from commonir.dialects.mil.program import Compound, CompoundConstant, CompoundLiteral, Const, Func, Literal, Return
from commonir.formats.coreml.messages import message_class
from commonir.formats.coreml.model import encode_model
from commonir.formats.coreml.read import check, read, read_with_findings
from commonir.formats.coreml.residue import residue_of, restore
from commonir.ir.attributes import BytesAttr, DictionaryAttr, IntegerAttr, StringAttr, UnitAttr
from commonir.ir.data import FileData, TextData
from commonir.ir.module import Module
from commonir.ir.types import (
    ListType,
    MapType,
    StateType,
    TensorType,
    TupleType,
    boolean,
    f16,
    f32,
    f64,
    i32,
    string,
    u4,
)
from commonir.ir.types import tensor as ir_tensor
from commonir.ir.unregistered import UnregisteredOperation

from tests.formats.coreml import building as b

KIND = b.tensor(b.FLOAT32, 2, 3)


def module_of(tmp_path: Path, content: b.Message, version: int = 6) -> Module:
    return read(
        b.save(tmp_path, content if content.DESCRIPTOR.name == "Model" else b.model(content, version)), b.DIALECTS
    )


def findings_of(tmp_path: Path, content: b.Message, version: int = 6) -> list[tuple[str, str, str]]:
    whole = content if content.DESCRIPTOR.name == "Model" else b.model(content, version)
    _, diagnostics = read_with_findings(b.save(tmp_path, whole), b.DIALECTS)
    return [(d.code.id, d.message, d.where) for d in diagnostics]


def main_of(*operations: b.Message, outputs: list[str], opset: str = "CoreML5") -> b.Message:
    return b.program({"main": b.function([("x", KIND)], b.block(operations, outputs), opset)})


# -- what is read


def test_module_holds_names_types_and_operands(tmp_path: Path) -> None:
    module = module_of(tmp_path, b.simple_model())
    main = module.functions["main"]
    assert isinstance(main, Func)
    assert [(v.name, v.type) for v in main.inputs] == [("x", ir_tensor(f32, 2, 3))]
    assert main.output_names == ("z",)
    w, y, axis, z, end = main.body.operations
    assert isinstance(w, Const)
    assert isinstance(end, Return)
    assert [op.name for op in (w, y, axis, z)] == ["mil.const", "mil.add", "mil.const", "mil.softmax"]
    assert [op.result.name for op in (w, y, axis, z)] == ["w", "y", "axis", "z"]
    assert isinstance(y, b.Add)
    assert y.x is main.inputs[0]
    assert y.y is w.output
    assert isinstance(z, b.Softmax)
    assert z.axis == 1
    assert main.outputs == (z.output,)
    assert module.main is main


def test_weights_stay_in_the_file_until_used(tmp_path: Path) -> None:
    module = module_of(tmp_path, b.simple_model())
    w = module.main.body.first
    assert isinstance(w, Const)
    assert isinstance(w.val, FileData)
    assert w.val.offset == 128
    assert w.val.values() == (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)


def test_original_files_are_not_touched(tmp_path: Path) -> None:
    package = b.save(tmp_path, b.simple_model())
    before = {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in package.rglob("*") if p.is_file()}
    check(package, b.DIALECTS)
    assert {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in package.rglob("*") if p.is_file()} == before


def test_every_kind_of_type_is_read(tmp_path: Path) -> None:
    listed, paired, mapped, state = (b.make("ValueType") for _ in range(4))
    listed.listType.type.CopyFrom(KIND)
    paired.tupleType.types.add().CopyFrom(b.tensor(b.BOOL))
    paired.tupleType.types.add().CopyFrom(b.tensor(b.STRING))
    mapped.dictionaryType.keyType.CopyFrom(b.tensor(b.STRING))
    mapped.dictionaryType.valueType.CopyFrom(b.tensor(12))
    state.stateType.wrappedType.CopyFrom(b.tensor(b.FLOAT16, 4))
    unranked = b.make("ValueType")
    unranked.tensorType.dataType = b.INT32
    unranked.tensorType.rank = -1
    inputs = [
        ("l", listed),
        ("p", paired),
        ("m", mapped),
        ("s", state),
        ("u", unranked),
        ("d", b.tensor(b.UINT4, 1, None)),
    ]
    module = module_of(tmp_path, b.program({"main": b.function(inputs, b.block([], []))}))
    assert [v.type for v in module.main.inputs] == [
        ListType(ir_tensor(f32, 2, 3)),
        TupleType((ir_tensor(boolean), ir_tensor(string))),
        MapType(ir_tensor(string), ir_tensor(f64)),
        StateType(ir_tensor(f16, 4)),
        TensorType(i32, None),
        ir_tensor(u4, 1, None),
    ]


@pytest.mark.parametrize(
    ("code", "field", "inputs", "expected"),
    [
        (b.FLOAT32, "floats", [1.5, -0.0], (1.5, -0.0)),
        (12, "doubles", [1e300, 0.1], (1e300, 0.1)),
        (b.INT32, "ints", [-1, 2], (-1, 2)),
        (22, "ints", [-32768, 1], (-32768, 1)),
        (32, "ints", [65535, 1], (65535, 1)),
        (24, "longInts", [-(2**63), 1], (-(2**63), 1)),
        (34, "longInts", [-1, 1], (2**64 - 1, 1)),
        (b.BOOL, "bools", [True, False], (True, False)),
        (b.STRING, "strings", ["é", ""], ("é", "")),
        (b.FLOAT16, "bytes", b"\x00\x3c\x00\xc0", (1.0, -2.0)),
        (21, "bytes", b"\xff\x01", (-1, 1)),
        (31, "bytes", b"\xff\x01", (255, 1)),
        (33, "bytes", b"\xff\xff\xff\xff\x01\x00\x00\x00", (2**32 - 1, 1)),
        (b.UINT4, "bytes", b"\x21", (1, 2)),
        (25, "bytes", b"\xe1", (1, -2)),
        (39, "bytes", b"\x35", (5, 6)),
    ],
)
def test_immediate_values_are_decoded(tmp_path: Path, code: int, field: str, inputs: object, expected: object) -> None:
    value = b.immediate(b.tensor(code, 2), field, inputs)
    module = module_of(tmp_path, main_of(b.const("c", value), outputs=["c"]))
    c = module.main.body.first
    assert isinstance(c, Const)
    assert c.val.values() == expected


def test_literals_are_bound_to_anonymous_operations(tmp_path: Path) -> None:
    content = main_of(
        b.op("softmax", {"x": "x", "axis": b.integer(0)}, [("y", KIND)]),
        b.op(
            "classify",
            {"probabilities": "y", "classes": b.strings_list("cat", "dog")},
            [("l", b.tensor(b.STRING)), ("p", KIND)],
        ),
        outputs=["l", "p"],
    )
    module = module_of(tmp_path, content)
    literal, softmax, classes, classify, _ = module.main.body.operations
    assert isinstance(literal, Literal)
    assert literal.output.name == ""
    assert isinstance(softmax, b.Softmax)
    assert softmax.axis == 0
    assert isinstance(classes, CompoundLiteral)
    assert classes.output.type == ListType(ir_tensor(string), 2)
    assert isinstance(classify, b.Classify)
    assert classify.classes == ("cat", "dog")


def test_places_count_operations_of_the_file_not_literals(tmp_path: Path) -> None:
    content = main_of(
        b.op("softmax", {"x": "x", "axis": b.integer(0)}, [("y", KIND)]),
        b.op("nothing_known", {"x": "y"}, [("z", KIND)]),
        outputs=["z"],
    )
    _, diagnostics = check(b.save(tmp_path, b.model(content)), b.DIALECTS)
    assert [(d.code, d.where) for d in diagnostics if d.code is UNKNOWN_OPERATION] == [
        (UNKNOWN_OPERATION, "main.block[CoreML5].operations[1] 'z'")
    ]


def test_variadic_parameters_and_several_outputs_are_read(tmp_path: Path) -> None:
    content = main_of(
        b.op("concat", {"values": ["x", "x"], "axis": b.integer(1)}, [("c", b.tensor(b.FLOAT32, 2, 6))]),
        b.op("split", {"x": "c"}, [("a", KIND), ("b", KIND)]),
        outputs=["b", "a"],
    )
    main = module_of(tmp_path, content).main
    concat = main.outputs[0].defining_op
    assert main.output_names == ("b", "a")
    assert concat is not None
    assert [r.name for r in concat.results] == ["a", "b"]
    joined = concat.operands[0].defining_op
    assert isinstance(joined, b.Concat)
    assert joined.values == (main.inputs[0], main.inputs[0])


def test_nested_blocks_see_and_shadow_outer_names(tmp_path: Path) -> None:
    inner = b.block([b.op("add", {"x": "v", "y": "x"}, [("t", KIND)])], ["t"], [("v", KIND)])
    condition = b.block([b.const("go", b.immediate(b.tensor(b.BOOL), "bools", [True]))], ["go"], [("v", KIND)])
    shadow = b.block([b.op("add", {"x": "v", "y": "v"}, [("x", KIND)])], ["x"], [("v", KIND)])
    content = main_of(
        b.op("while_loop", {"loop_vars": ["x"]}, [("y", KIND)], blocks=[condition, inner]),
        b.op("while_loop", {"loop_vars": ["y"]}, [("z", KIND)], blocks=[condition, shadow]),
        outputs=["z"],
    )
    main = module_of(tmp_path, content).main
    first, second, _ = main.body.operations
    assert isinstance(first, b.WhileLoop)
    assert isinstance(second, b.WhileLoop)
    add = first.loop_body.block.first
    assert isinstance(add, b.Add)
    assert add.x is first.loop_body.block.arguments[0]
    assert add.y is main.inputs[0]
    last = second.loop_body.block.last
    assert isinstance(last, Return)
    assert last.values[0].owner is second.loop_body.block.first


def test_functions_and_specializations_keep_the_order_of_the_file(tmp_path: Path) -> None:
    body = b.block([b.op("softmax", {"x": "x"}, [("y", KIND)])], ["y"])
    result = b.function([("x", KIND)], body, "CoreML6")
    result.block_specializations.add(key="CoreML5", value=body)
    module = module_of(tmp_path, b.program({"zeta": result, "alpha": result, "main": result}))
    assert list(module.functions) == ["zeta", "alpha", "main"]
    main = module.functions["main"]
    assert isinstance(main, Func)
    assert [r.block.label for r in main.specializations] == ["CoreML6", "CoreML5"]
    assert main.body.label == "CoreML6"


def test_operations_take_the_definition_of_their_version(tmp_path: Path) -> None:
    table = b.immediate(b.tensor(b.FLOAT16, 1), "bytes", b"\x00\x3c")
    expand = b.op("constexpr_expand", {}, [("w", KIND)], attributes={"table": table, "axis": b.integer(3)})
    diagnostics = findings_of(tmp_path, main_of(expand, outputs=["w"], opset="CoreML5"))
    assert diagnostics == [
        (
            "E0501",
            "mil.constexpr_expand is an operation from CoreML6 on, but its block is written in CoreML5",
            "main.block[CoreML5].operations[0] 'w'",
        )
    ]


def test_attributes_of_old_compressed_weights_are_fields(tmp_path: Path) -> None:
    table = b.immediate(b.tensor(b.FLOAT16, 1), "bytes", b"\x00\x3c")
    expand = b.op("constexpr_expand", {}, [("w", KIND)], attributes={"table": table, "axis": b.integer(3)})
    op = module_of(tmp_path, main_of(expand, outputs=["w"], opset="CoreML6"), 7).main.body.first
    assert isinstance(op, b.Expand)
    assert op.table.values() == (1.0,)
    assert op.axis == 3


def test_bare_model_file_reads_weights_beside_it(tmp_path: Path) -> None:
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / "weight.bin").write_bytes(b.SIMPLE_WEIGHTS)
    place = tmp_path / "model.mlmodel"
    place.write_bytes(b.simple_model().SerializeToString())
    w = read(place, b.DIALECTS).main.body.first
    assert isinstance(w, Const)
    assert w.val.values()[-1] == 6.0


# -- what is kept


def test_everything_beside_the_program_is_kept(tmp_path: Path) -> None:
    content = b.simple_model()
    content.description.metadata.author = "somebody"
    content.description.metadata.userDefined.add(key="k", value="v")
    module = module_of(tmp_path, content)
    expected = message_class("Model")()
    expected.CopyFrom(content)
    expected.ClearField("mlProgram")
    assert encode_model(module) == expected
    declared = module.extra["coreml.manifest"]
    assert isinstance(declared, StringAttr)
    assert "rootModelIdentifier" in declared.value


def test_attributes_and_documentation_of_all_parts_are_kept(tmp_path: Path) -> None:
    body = b.block([b.op("softmax", {"x": "x"}, [("y", KIND)])], ["y"])
    body.attributes.add(key="of_block", value=b.integer(3))
    result = b.function([("x", KIND)], body)
    result.attributes.add(key="of_function", value=b.integer(2))
    content = b.program({"main": result})
    content.docString = "what it does"
    content.attributes.add(key="of_program", value=b.strings_list("a", "b"))
    module = module_of(tmp_path, content)
    assert module.extra["mil.doc"] == StringAttr("what it does")
    assert module.extra["mil.version"] == IntegerAttr(1)
    preserved = module.extra["mil.attributes"]
    assert isinstance(preserved, DictionaryAttr)
    assert preserved.entries[0][0] == "of_program"
    for op, name in ((module.main, "of_function"), (module.main.body.last, "of_block")):
        assert op is not None
        attrs = op.extra["mil.attributes"]
        assert isinstance(attrs, DictionaryAttr)
        assert [key for key, _ in attrs.entries] == [name]


def test_compound_constants_are_kept(tmp_path: Path) -> None:
    pairs = b.make("Value")
    pairs.type.dictionaryType.keyType.CopyFrom(b.tensor(b.STRING))
    pairs.type.dictionaryType.valueType.CopyFrom(b.tensor(b.INT32))
    entry = pairs.immediateValue.dictionary.values.add()
    entry.key.CopyFrom(b.text("k"))
    entry.value.CopyFrom(b.integer(7))
    both = b.make("Value")
    both.type.tupleType.types.add().CopyFrom(b.tensor(b.STRING))
    both.immediateValue.tuple.values.add().CopyFrom(b.text("t"))
    main = module_of(tmp_path, main_of(b.const("d", pairs), b.const("t", both), outputs=["d", "t"])).main
    d, t, _ = main.body.operations
    assert isinstance(d, CompoundConstant)
    assert isinstance(t, CompoundConstant)
    key, value = d.val.values
    assert isinstance(key, TextData)
    assert key.values() == ("k",)
    assert not isinstance(value, Compound)
    assert value.values() == (7,)
    assert t.val.type == TupleType((ir_tensor(string),))


def test_name_is_kept_only_where_it_is_not_that_of_the_first_result(tmp_path: Path) -> None:
    content = main_of(
        b.op("softmax", {"x": "x"}, [("p", KIND)]),
        b.op("softmax", {"x": "x"}, [("q", KIND)], name="other"),
        b.op("softmax", {"x": "x"}, [("r", KIND)], name=None),
        outputs=["p", "q", "r"],
    )
    p, q, r, _ = module_of(tmp_path, content).main.body.operations
    assert dict(p.extra) == {}
    assert dict(q.extra) == {"name": StringAttr("other")}
    assert dict(r.extra) == {"mil.unnamed": UnitAttr()}


def test_order_of_maps_is_kept_where_it_is_not_alphabetical(tmp_path: Path) -> None:
    swapped = b.op("add", {"y": "x", "x": "x"}, [("p", KIND)], attributes={"extra": b.integer(1)})
    plain = b.op("add", {"x": "x", "y": "x"}, [("q", KIND)])
    p, q, _ = module_of(tmp_path, main_of(swapped, plain, outputs=["p", "q"])).main.body.operations
    assert p.extra["mil.order"] == StringAttr("y x | name extra")
    assert "mil.order" not in q.extra


def test_residue_restores_what_the_module_has_no_room_for(tmp_path: Path) -> None:
    kind = b.make("ValueType")
    kind.CopyFrom(KIND)
    kind.tensorType.attributes.add(key="layout", value=b.integer(1))
    value = b.immediate(kind, "floats", [0.0] * 6)
    value.docString = "zeros"
    content = b.simple_model()
    first = content.mlProgram.functions[0].value.block_specializations[0].value.operations[0]
    first.CopyFrom(b.const("w", value))
    # Field 99 of a later version, in the operation and in a message below it.
    first.MergeFromString(b"\x9a\x06\x03abc")
    first.outputs[0].MergeFromString(b"\x98\x06\x05")
    w = module_of(tmp_path, content).main.body.first
    assert w is not None
    residue = w.extra["mil.residue"]
    assert isinstance(residue, DictionaryAttr)
    preserved = {path: attr.value for path, attr in residue.entries if isinstance(attr, BytesAttr)}
    assert set(preserved) == {
        "",
        "outputs[0]",
        "outputs[0].type.tensorType",
        "attributes['val'].value",
        "attributes['val'].value.type.tensorType",
    }
    plain = b.const("w", b.immediate(KIND, "floats", [0.0] * 6))
    restore(plain, preserved)
    assert plain.SerializeToString(deterministic=True) == first.SerializeToString(deterministic=True)


def test_groups_are_kept_as_residue(tmp_path: Path) -> None:
    content = b.simple_model()
    group = b"\x9b\x06\x08\x05\x9c\x06"
    operations = content.mlProgram.functions[0].value.block_specializations[0].value.operations
    operations[0].MergeFromString(group)
    w = module_of(tmp_path, content).main.body.first
    assert w is not None
    assert w.extra["mil.residue"] == DictionaryAttr((("", BytesAttr(group)),))


def test_message_without_surprises_has_no_residue() -> None:
    assert (
        residue_of(b.simple_model().mlProgram.functions[0].value.block_specializations[0].value.operations[1]) is None
    )


# -- what is wrong


def test_unknown_operation_is_kept_and_reported_with_a_suggestion(tmp_path: Path) -> None:
    package = b.save(
        tmp_path, b.model(main_of(b.op("sofmax", {"x": "x", "axes": ["x", "x"]}, [("y", KIND)]), outputs=["y"]))
    )
    module, diagnostics = read_with_findings(package, b.DIALECTS)
    assert [(d.code, d.message, d.where, d.help) for d in diagnostics] == [
        (
            UNKNOWN_OPERATION,
            "unknown operation 'mil.sofmax'",
            "main.block[CoreML5].operations[0] 'y'",
            "did you mean 'softmax'?",
        )
    ]
    assert module is not None
    op = module.main.body.first
    assert isinstance(op, UnregisteredOperation)
    assert op.name == "mil.sofmax"
    assert op.operands == (module.main.inputs[0],) * 3
    assert op.extra["mil.parameters"] == DictionaryAttr((("x", IntegerAttr(1)), ("axes", IntegerAttr(2))))


def test_unknown_parameter_is_reported_with_a_suggestion(tmp_path: Path) -> None:
    package = b.save(
        tmp_path, b.model(main_of(b.op("softmax", {"x": "x", "axes": b.integer(1)}, [("y", KIND)]), outputs=["y"]))
    )
    _, diagnostics = check(package, b.DIALECTS)
    assert [(d.code, d.message, d.where, d.help) for d in diagnostics] == [
        (
            WRONG_OPERAND_COUNT,
            "mil.softmax has no parameter 'axes'",
            "main.block[CoreML5].operations[0] 'y'.inputs['axes']",
            "did you mean 'axis'?",
        )
    ]


def test_parameter_bound_to_several_values_is_refused(tmp_path: Path) -> None:
    assert findings_of(tmp_path, main_of(b.op("softmax", {"x": ["x", "x"]}, [("y", KIND)]), outputs=["y"])) == [
        (
            WRONG_OPERAND_COUNT.id,
            "mil.softmax: parameter 'x' takes one value, found 2",
            "main.block[CoreML5].operations[0] 'y'.inputs['x']",
        )
    ]


def test_use_before_definition_reports_where_it_is_defined(tmp_path: Path) -> None:
    content = main_of(
        b.op("softmax", {"x": "later"}, [("y", KIND)]), b.op("softmax", {"x": "x"}, [("later", KIND)]), outputs=["y"]
    )
    _, diagnostics = check(b.save(tmp_path, b.model(content)), b.DIALECTS)
    assert [(d.code, d.message, d.where, d.notes) for d in diagnostics] == [
        (
            UNDEFINED_VALUE,
            "'later' is used before it is defined",
            "main.block[CoreML5].operations[0] 'y'.inputs['x']",
            ("operations[1] of the same block defines it",),
        )
    ]


def test_undefined_names_are_reported_with_a_suggestion(tmp_path: Path) -> None:
    content = main_of(b.op("softmax", {"x": "x"}, [("probabilities", KIND)]), outputs=["probabilites"])
    _, diagnostics = read_with_findings(b.save(tmp_path, b.model(content)), b.DIALECTS)
    assert [(d.code, d.message, d.where, d.help) for d in diagnostics] == [
        (
            UNDEFINED_VALUE,
            "'probabilites' is not defined",
            "main.block[CoreML5].outputs[0]",
            "did you mean 'probabilities'?",
        )
    ]


def test_duplicate_names_are_reported(tmp_path: Path) -> None:
    twice = b.op("softmax", {"x": "x"}, [("y", KIND)])
    content = main_of(twice, twice, outputs=["y"])
    content.functions.add(key="main", value=content.functions[0].value)
    diagnostics = findings_of(tmp_path, content)
    assert diagnostics[0] == (DUPLICATE_NAME.id, "the function 'main' is defined twice", "main")
    assert diagnostics[1] == (
        DUPLICATE_NAME.id,
        "the name 'y' is defined twice in one block",
        "main.block[CoreML5].operations[1] 'y'",
    )


def test_name_of_an_input_cannot_be_defined_again(tmp_path: Path) -> None:
    diagnostics = findings_of(tmp_path, main_of(b.op("softmax", {"x": "x"}, [("x", KIND)]), outputs=["x"]))
    assert [code for code, _, _ in diagnostics] == [DUPLICATE_NAME.id]


def test_wrong_number_of_blocks_is_reported(tmp_path: Path) -> None:
    one = b.block([], ["x"])
    diagnostics = findings_of(
        tmp_path, main_of(b.op("cond", {"pred": "x"}, [("y", KIND)], blocks=[one]), outputs=["y"])
    )
    assert diagnostics == [
        (MALFORMED_REGION.id, "mil.cond has 2 blocks, found 1", "main.block[CoreML5].operations[0] 'y'.blocks")
    ]


def test_function_block_with_inputs_of_its_own_is_reported(tmp_path: Path) -> None:
    content = b.program({"main": b.function([("x", KIND)], b.block([], ["own"], [("own", KIND)]))})
    diagnostics = findings_of(tmp_path, content)
    assert diagnostics == [
        (MALFORMED_REGION.id, "the block of a function has no inputs of its own, found 'own'", "main.block[CoreML5]")
    ]


def _type(code: int, rank: int, *dims: int) -> b.Message:
    result = b.tensor(code, *dims)
    result.tensorType.rank = rank
    return result


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (b.make("ValueType"), "the type is missing or of a kind that is not known"),
        (_type(99, 1, 2), "99 is not the number of a data type"),
        (_type(b.FLOAT32, 3, 2, 3), "the tensor type states rank 3 and has 2 dimensions"),
        (_type(b.FLOAT32, -2), "the tensor type states rank -2 and has 0 dimensions"),
        (_type(b.FLOAT32, 65, *[1] * 65), "a tensor type of rank 65 exceeds the limit of 64"),
    ],
)
def test_malformed_types_are_reported(tmp_path: Path, kind: b.Message, message: str) -> None:
    diagnostics = findings_of(tmp_path, main_of(b.op("softmax", {"x": "x"}, [("y", kind)]), outputs=["y"]))
    assert diagnostics == [(MALFORMED_TYPE.id, message, "main.block[CoreML5].operations[0] 'y'.outputs['y'].type")]


def _no_value() -> b.Message:
    return b.make("Value", type=KIND)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (b.immediate(KIND, "floats", [1.0]), "tensor<2x3xf32> has 6 elements, found 1"),
        (b.immediate(KIND, "ints", [1] * 6), "elements of type fp32 must be in the field 'floats', found 'ints'"),
        (b.immediate(b.tensor(b.FLOAT16, 2), "bytes", b"\0"), "tensor<2xf16> takes 4 bytes, found 1"),
        (b.immediate(b.tensor(22, 1), "ints", [40000]), "40000 is not a value of type int16"),
        (
            b.immediate(b.tensor(b.FLOAT32, None), "floats", [1.0]),
            "the type of a constant must have no unknown dimension, found tensor<?xf32>",
        ),
        (_no_value(), "the constant of type tensor<2x3xf32> has no value"),
    ],
)
def test_malformed_values_are_reported(tmp_path: Path, value: b.Message, message: str) -> None:
    content = main_of(b.const("c", value), b.op("softmax", {"x": "x"}, [("y", KIND)]), outputs=["y"])
    _, diagnostics = check(b.save(tmp_path, b.model(content)), b.DIALECTS)
    assert [(d.code, d.message, d.where) for d in diagnostics] == [
        (MALFORMED_VALUE, message, "main.block[CoreML5].operations[0] 'c'.attributes['val']")
    ]


def test_undecodable_constant_is_kept_as_it_was(tmp_path: Path) -> None:
    value = b.immediate(KIND, "ints", [1] * 6)
    c = module_of(tmp_path, main_of(b.const("c", value), outputs=["c"])).main.body.first
    assert isinstance(c, Const)
    assert c.constant_data() is None
    residue = c.extra["mil.residue"]
    assert isinstance(residue, DictionaryAttr)
    assert residue.entries == (("attributes['val'].value=", BytesAttr(value.SerializeToString())),)


def test_declared_type_of_a_constant_must_be_that_of_its_value(tmp_path: Path) -> None:
    wrong = b.op(
        "const", outputs=[("c", b.tensor(b.FLOAT32, 7))], attributes={"val": b.immediate(KIND, "floats", [0.0] * 6)}
    )
    package = b.save(tmp_path, b.model(main_of(wrong, b.op("softmax", {"x": "x"}, [("y", KIND)]), outputs=["y"])))
    _, diagnostics = check(package, b.DIALECTS)
    assert [(d.code.id, d.where) for d in diagnostics if "is declared" in d.message] == [
        ("E0506", "main.block[CoreML5].operations[0] 'c'")
    ]


def test_other_types_of_models_are_named(tmp_path: Path) -> None:
    content = b.model(None)
    content.neuralNetwork = b"\x0a\x02hi"
    package = b.save(tmp_path, content)
    module, diagnostics = read_with_findings(package, b.DIALECTS)
    assert module is None
    assert [(d.code, d.message) for d in diagnostics] == [
        (NO_PROGRAM, "the model holds no ML Program: it is of type 'neuralNetwork'")
    ]


def test_limits_are_kept(tmp_path: Path) -> None:
    package = b.save(tmp_path, b.simple_model())
    for limits in (
        DEFAULT_LIMITS._replace(max_operations=3),
        DEFAULT_LIMITS._replace(max_message_bytes=10),
    ):
        with pytest.raises(DiagnosticError) as caught:
            read(package, b.DIALECTS, limits)
        assert caught.value.diagnostics[0].code is LIMIT_EXCEEDED


def test_findings_end_at_their_limit(tmp_path: Path) -> None:
    package = b.save(
        tmp_path, b.model(main_of(*[b.op("no", {}, [(f"y{n}", KIND)]) for n in range(50)], outputs=["y1"]))
    )
    _, diagnostics = read_with_findings(package, b.DIALECTS, DEFAULT_LIMITS._replace(max_diagnostics=7))
    assert [d.code for d in diagnostics] == [UNKNOWN_OPERATION] * 7 + [LIMIT_EXCEEDED]


def test_check_lists_all_faults_of_one_run(tmp_path: Path) -> None:
    content = main_of(
        b.const("w", b.blob(KIND, 4)),
        b.op("sofmax", {"x": "x"}, [("a", KIND)]),
        b.op("add", {"x": "nowhere", "y": "x"}, [("b", KIND)]),
        b.op("add", {"x": "x", "y": "x"}, [("b", KIND)]),
        b.const("v", b.immediate(KIND, "floats", [1.0])),
        outputs=["b"],
    )
    _, diagnostics = check(b.save(tmp_path, b.model(content)), b.DIALECTS)
    assert [d.code.id for d in diagnostics] == ["E0205", "E0501", "E0401", "E0402", "E0207"]
