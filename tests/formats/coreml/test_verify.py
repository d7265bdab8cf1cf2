"""Rules of the format: each broken by the test named after its label, and all kept by an ordinary model."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonir.base.file_codes import INTERFACE_MISMATCH, INVALID_NAME, MALFORMED_PROGRAM, NOT_IN_VERSION
from commonir.dialects.mil.description import MultiArray, description_of, read_description
from commonir.formats.coreml.read import check, read
from commonir.ir.attributes import DictionaryAttr
from commonir.ir.interface import DimRange
from commonir.ir.types import f32

from tests.formats.coreml import building as b

KIND = b.tensor(b.FLOAT32, 2, 3)
HALF = b.tensor(b.FLOAT16, 2, 3)
SOFTMAX = b.op("softmax", {"x": "x"}, [("y", KIND)])


def found_in(tmp_path: Path, content: b.Message, version: int = 6) -> list[tuple[str, str, str]]:
    whole = content if content.DESCRIPTOR.name == "Model" else b.model(content, version)
    module, diagnostics = check(b.save(tmp_path, whole), b.DIALECTS)
    assert module is not None
    return [(d.code.id, d.message, d.where) for d in diagnostics]


def main_of(*operations: b.Message, outputs: list[str], opset: str = "CoreML5") -> b.Message:
    return b.program({"main": b.function([("x", KIND)], b.block(operations, outputs), opset)})


def ordinary() -> b.Message:
    return b.model(main_of(SOFTMAX, outputs=["y"]))


def test_ordinary_model_keeps_all_rules(tmp_path: Path) -> None:
    assert found_in(tmp_path, b.simple_model()) == []


# -- names


@pytest.mark.parametrize("name", ["1y", "@y", "y.z", "y-z", "ÿ"])
def test_N1_names_are_identifiers(tmp_path: Path, name: str) -> None:
    content = main_of(b.op("softmax", {"x": "x"}, [(name, KIND)]), SOFTMAX, outputs=["y"])
    assert found_in(tmp_path, content) == [
        (
            INVALID_NAME.id,
            f"N1: the output name '{name}' must be letters, digits, '_' and '@', and begin with a letter or '_'",
            f"main.block[CoreML5].operations[0] '{name}'",
        )
    ]


def test_N1_holds_for_functions_inputs_block_inputs_and_attributes(tmp_path: Path) -> None:
    inner = b.block([], ["2"], [("2", KIND)])
    loop = b.op(
        "while_loop", {"loop_vars": ["1"]}, [("y", KIND)], blocks=[inner, inner], attributes={"3": b.integer(1)}
    )
    body = b.block([loop], ["y"])
    result = b.function([("1", KIND)], body)
    result.attributes.add(key="4", value=b.integer(1))
    messages = [
        m.split("'")[0] + m.split("'")[1]
        for _, m, _ in found_in(tmp_path, b.program({"main": result, "0": result}))
        if m.startswith("N1")
    ]
    assert sorted(set(messages)) == [
        "N1: the attribute name 3",
        "N1: the attribute name 4",
        "N1: the block input name 2",
        "N1: the function name 0",
        "N1: the input name 1",
    ]


def test_N1_allows_the_at_sign_after_the_first_character(tmp_path: Path) -> None:
    assert found_in(tmp_path, main_of(b.op("softmax", {"x": "x"}, [("y@1", KIND)]), outputs=["y@1"])) == []


@pytest.mark.parametrize("name", ["tensor", "int32", "true", "state"])
def test_N2_words_of_the_text_form_are_not_names(tmp_path: Path, name: str) -> None:
    content = main_of(b.op("softmax", {"x": "x"}, [(name, KIND)]), SOFTMAX, outputs=["y"])
    assert found_in(tmp_path, content) == [
        (
            INVALID_NAME.id,
            f"N2: the output name '{name}' is a keyword of MIL text",
            f"main.block[CoreML5].operations[0] '{name}'",
        )
    ]


# -- program, functions, versions


@pytest.mark.parametrize("version", [0, 2, -1])
def test_P1_version_of_a_program_is_1(tmp_path: Path, version: int) -> None:
    content = ordinary()
    content.mlProgram.version = version
    assert found_in(tmp_path, content) == [
        (MALFORMED_PROGRAM.id, f"P1: the version of a program must be 1, found {version}", "program.version")
    ]


def test_P2_program_has_a_function(tmp_path: Path) -> None:
    content = b.model(None)
    content.mlProgram.version = 1
    assert (MALFORMED_PROGRAM.id, "P2: the program has no function", "program.functions") in found_in(tmp_path, content)


def test_F1_function_has_the_specialization_it_names(tmp_path: Path) -> None:
    content = ordinary()
    content.mlProgram.functions[0].value.opset = "CoreML6"
    assert found_in(tmp_path, content) == [
        (MALFORMED_PROGRAM.id, "F1: no specialization for the operation set 'CoreML6' that the function names", "main")
    ]


def test_F1_function_without_any_specialization(tmp_path: Path) -> None:
    content = ordinary()
    del content.mlProgram.functions[0].value.block_specializations[:]
    assert "F1: no specialization for the operation set 'CoreML5' that the function names" in [
        m for _, m, _ in found_in(tmp_path, content)
    ]


def test_F2_specializations_have_the_same_outputs(tmp_path: Path) -> None:
    content = ordinary()
    other = b.block([b.op("softmax", {"x": "x"}, [("other", KIND)])], ["other"])
    content.mlProgram.functions[0].value.block_specializations.add(key="CoreML6", value=other)
    assert found_in(tmp_path, content) == [
        (MALFORMED_PROGRAM.id, "F2: the outputs of specialization 'CoreML6' differ from those of 'CoreML5'", "main")
    ]


def test_F3_specialization_is_named_after_an_operation_set(tmp_path: Path) -> None:
    content = b.model(main_of(SOFTMAX, outputs=["y"], opset="CoreML55"))
    module, diagnostics = check(b.save(tmp_path, content), b.DIALECTS)
    assert module is not None
    assert [(d.message, d.where) for d in diagnostics] == [
        ("F3: unknown operation set 'CoreML55'", "main.block[CoreML55]")
    ]
    assert diagnostics[0].help is not None
    assert "'CoreML5'" in diagnostics[0].help


def test_V1_operation_set_is_not_newer_than_the_specification_version(tmp_path: Path) -> None:
    content = b.model(main_of(SOFTMAX, outputs=["y"], opset="CoreML7"), 7)
    assert found_in(tmp_path, content) == [
        (
            NOT_IN_VERSION.id,
            "V1: the operation set CoreML7 needs specification version 8, found 7",
            "main.block[CoreML7]",
        )
    ]


def test_V1_older_specification_versions_have_no_programs(tmp_path: Path) -> None:
    diagnostics = found_in(tmp_path, b.model(main_of(SOFTMAX, outputs=["y"]), 5))
    assert (
        NOT_IN_VERSION.id,
        "V1: ML Programs need specification version 6, found 5",
        "specificationVersion",
    ) in diagnostics


def test_V2_several_functions_need_version_9(tmp_path: Path) -> None:
    content = ordinary()
    content.mlProgram.functions.add(key="second", value=content.mlProgram.functions[0].value)
    diagnostics = found_in(tmp_path, content)
    assert diagnostics[0] == (
        NOT_IN_VERSION.id,
        "V2: several functions need specification version 9, found 6",
        "specificationVersion",
    )


def state_type(wrapped: b.Message) -> b.Message:
    result = b.make("ValueType")
    result.stateType.wrappedType.CopyFrom(wrapped)
    return result


def with_state(*operations: b.Message, version: int = 9, kind: b.Message = HALF) -> b.Message:
    body = b.block([*operations, b.op("softmax", {"x": "x"}, [("y", HALF)])], ["y"])
    program = b.program(
        {"main": b.function([("x", HALF), ("s", state_type(kind))], body, "CoreML8" if version > 8 else "CoreML6")}
    )
    whole = b.model(program, version)
    state = whole.description.state.add(name="s")
    state.type.stateType.arrayType.dataType = b.ARRAY_FLOAT16
    state.type.stateType.arrayType.shape.extend([2, 3])
    return whole


def test_V3_states_need_version_9(tmp_path: Path) -> None:
    assert found_in(tmp_path, with_state(version=8)) == [
        (NOT_IN_VERSION.id, "V3: states need specification version 9, found 8", "main.inputs['s']")
    ]


def test_S1_state_is_only_read_and_written(tmp_path: Path) -> None:
    read_state = b.op("read_state", {"input": "s"}, [("r", HALF)])
    write_state = b.op("write_state", {"input": "s", "data": "r"})
    assert found_in(tmp_path, with_state(read_state, write_state)) == []


def test_S1_state_cannot_be_used_by_other_operations(tmp_path: Path) -> None:
    assert found_in(tmp_path, with_state(b.op("softmax", {"x": "s"}, [("q", HALF)]))) == [
        (
            MALFORMED_PROGRAM.id,
            "S1: the state 's' can only be used by read_state and write_state",
            "main.block[CoreML8].operations[0] 'q'",
        )
    ]


# -- classifiers


def classifier(*after: b.Message) -> b.Message:
    scores = b.make("ValueType")
    scores.dictionaryType.keyType.CopyFrom(b.tensor(b.STRING))
    scores.dictionaryType.valueType.CopyFrom(b.tensor(12))
    classify = b.op(
        "classify",
        {"probabilities": "x", "classes": b.strings_list("cat", "dog")},
        [("classLabel", b.tensor(b.STRING)), ("classLabel_probs", scores)],
    )
    whole = b.model(None)
    result = b.function([("x", KIND)], b.block([classify, *after], ["classLabel", "classLabel_probs"]))
    whole.mlProgram.CopyFrom(b.program({"main": result}))
    b.feature(whole.description.input, "x", [2, 3])
    whole.description.output.add(name="classLabel").type.stringType.SetInParent()
    whole.description.output.add(name="classLabel_probs").type.dictionaryType.stringKeyType.SetInParent()
    whole.description.predictedFeatureName = "classLabel"
    whole.description.predictedProbabilitiesName = "classLabel_probs"
    return whole


def test_classifier_keeps_all_rules(tmp_path: Path) -> None:
    assert found_in(tmp_path, classifier()) == []


def test_B1_classify_is_the_last_operation(tmp_path: Path) -> None:
    assert found_in(tmp_path, classifier(SOFTMAX)) == [
        (
            MALFORMED_PROGRAM.id,
            "B1: classify must be the last operation of its block",
            "main.block[CoreML5].operations[0] 'classLabel'",
        )
    ]


def test_B1_results_of_classify_are_only_returned(tmp_path: Path) -> None:
    diagnostics = found_in(tmp_path, classifier(b.op("softmax", {"x": "classLabel"}, [("z", KIND)])))
    assert [m for _, m, _ in diagnostics] == [
        "B1: classify must be the last operation of its block",
        "B1: 'classLabel', a result of classify, can only be returned",
    ]


def test_D8_label_of_a_classifier_is_an_output(tmp_path: Path) -> None:
    content = classifier()
    content.description.predictedFeatureName = "classLable"
    assert found_in(tmp_path, content) == [
        (
            INTERFACE_MISMATCH.id,
            "D8: the label 'classLable' must be an output of type string or int64",
            "description.predictedFeatureName",
        )
    ]


def test_D8_probabilities_of_a_classifier_are_an_output(tmp_path: Path) -> None:
    content = classifier()
    content.description.predictedProbabilitiesName = "classLabel"
    assert [m for _, m, _ in found_in(tmp_path, content)] == [
        "D8: the probabilities 'classLabel' must be an output that is a dictionary"
    ]


# -- description


def several() -> b.Message:
    one = b.function([("x", KIND)], b.block([SOFTMAX], ["y"]), "CoreML8")
    whole = b.model(None, 9)
    whole.mlProgram.CopyFrom(b.program({"first": one, "second": one}))
    whole.description.defaultFunctionName = "first"
    for name in ("first", "second"):
        described = whole.description.functions.add(name=name)
        b.feature(described.input, "x", [2, 3])
        b.feature(described.output, "y", [2, 3])
    return whole


def test_several_functions_keep_all_rules(tmp_path: Path) -> None:
    assert found_in(tmp_path, several()) == []
    assert read(b.save(tmp_path / "again", several()), b.DIALECTS).main.symbol_name == "first"


def test_D1_without_list_the_function_is_main(tmp_path: Path) -> None:
    content = ordinary()
    content.mlProgram.functions[0].key = "principal"
    assert found_in(tmp_path, content) == [
        (
            INTERFACE_MISMATCH.id,
            "D1: a model that lists no functions runs 'main', which the program does not have",
            "description",
        )
    ]


def test_D1_functions_described_are_those_of_the_program(tmp_path: Path) -> None:
    content = several()
    content.description.functions[1].name = "secnod"
    assert [(m, w) for _, m, w in found_in(tmp_path, content)] == [
        ("D1: the program has no function 'secnod'", "description.functions['secnod']"),
        ("D1: the function 'second' is not described", "description.functions"),
    ]


def test_D2_inputs_and_outputs_are_described_under_their_names(tmp_path: Path) -> None:
    content = ordinary()
    content.description.input[0].name = "X"
    content.description.output[0].name = "out"
    assert [(m, w) for _, m, w in found_in(tmp_path, content)] == [
        ("D2: the function has no input 'X'", "description.input['X']"),
        ("D2: the input 'x' of the function is not described", "description.input"),
        ("D2: the function has no output 'out'", "description.output['out']"),
        ("D2: the output 'y' of the function is not described", "description.output"),
    ]


def test_D3_feature_has_the_element_type_of_its_value(tmp_path: Path) -> None:
    content = ordinary()
    content.description.input[0].type.multiArrayType.dataType = b.ARRAY_INT32
    assert found_in(tmp_path, content) == [
        (
            INTERFACE_MISMATCH.id,
            "D3: the input is described as int32, but its value is tensor<2x3xf32>",
            "description.input['x']",
        )
    ]


def test_D3_feature_has_the_kind_of_its_value(tmp_path: Path) -> None:
    content = ordinary()
    content.description.input[0].type.dictionaryType.stringKeyType.SetInParent()
    assert [m for _, m, _ in found_in(tmp_path, content)] == [
        "D3: the input is described as a dictionary, but its value is tensor<2x3xf32>"
    ]


def test_D3_value_must_be_of_a_kind_that_can_be_described(tmp_path: Path) -> None:
    kind = b.make("ValueType")
    kind.tupleType.types.add().CopyFrom(KIND)
    content = ordinary()
    content.mlProgram.functions[0].value.inputs[0].type.CopyFrom(kind)
    assert [m for _, m, _ in found_in(tmp_path, content)] == [
        "D3: the input is described as a multiarray, but its value is tuple<tensor<2x3xf32>>"
    ]
    content.description.input[0].type.Clear()
    assert [m for _, m, _ in found_in(tmp_path / "again", content)] == [
        "D3: the input is described as nothing known, but its value is tuple<tensor<2x3xf32>>"
    ]


def test_D4_feature_has_the_rank_of_its_value(tmp_path: Path) -> None:
    content = ordinary()
    content.description.input[0].type.multiArrayType.shape.append(1)
    assert [m for _, m, _ in found_in(tmp_path, content)] == [
        "D4: the input is described with rank 3, but its value is tensor<2x3xf32>"
    ]


def test_D4_feature_has_the_fixed_dimensions_of_its_value(tmp_path: Path) -> None:
    content = ordinary()
    content.description.input[0].type.multiArrayType.shape[1] = 4
    assert [m for _, m, _ in found_in(tmp_path, content)] == [
        "D4: dimension 1 of the input is described as 4, but it is fixed at 3"
    ]


def flexible(*ranges: tuple[int, int], shape: tuple[int, ...] = (2, 3)) -> b.Message:
    kind = b.tensor(b.FLOAT32, None, 3)
    body = b.block([b.op("softmax", {"x": "x"}, [("y", kind)])], ["y"])
    whole = b.model(b.program({"main": b.function([("x", kind)], body)}))
    del whole.description.input[:]
    del whole.description.output[:]
    array = b.feature(whole.description.input, "x", shape)
    for low, high in ranges:
        array.shapeRange.sizeRanges.add(lowerBound=low, upperBound=high)
    b.feature(whole.description.output, "y", [])
    return whole


def test_flexible_shape_keeps_all_rules(tmp_path: Path) -> None:
    assert found_in(tmp_path, flexible((1, 10), (3, 3))) == []


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        (((5, 4), (3, 3)), "D5: the range 5..4 of dimension 0 is empty"),
        (((1, -1), (3, 3)), "D5: the range 1.. of dimension 0 of an input must have an upper bound"),
        (((3, 9), (3, 3)), "D5: the default size 2 of dimension 0 is outside of its range 3..9"),
        (((1, 9),), "D5: there are 1 ranges of sizes for a default shape of rank 2"),
        (((1, 9), (1, 3)), "D4: dimension 1 of the input is described as 1..3, but it is fixed at 3"),
    ],
)
def test_D5_ranges_are_well_formed(tmp_path: Path, ranges: tuple[tuple[int, int], ...], message: str) -> None:
    assert [m for _, m, _ in found_in(tmp_path, flexible(*ranges))] == [message]


def test_D5_default_shape_is_among_the_enumerated(tmp_path: Path) -> None:
    content = flexible()
    array = content.description.input[0].type.multiArrayType
    array.enumeratedShapes.shapes.add(shape=[4, 3])
    assert [m for _, m, _ in found_in(tmp_path, content)] == [
        "D5: the default shape (2, 3) is not among the enumerated shapes"
    ]


def test_D5_at_most_128_shapes_are_enumerated(tmp_path: Path) -> None:
    content = flexible()
    array = content.description.input[0].type.multiArrayType
    for n in range(2, 131):
        array.enumeratedShapes.shapes.add(shape=[n, 3])
    assert [m for _, m, _ in found_in(tmp_path, content)] == ["D5: at most 128 shapes can be enumerated, found 129"]


def test_D6_default_function_is_among_those_listed(tmp_path: Path) -> None:
    content = several()
    content.description.defaultFunctionName = "frist"
    assert [m for _, m, _ in found_in(tmp_path, content)] == [
        "D6: the default function 'frist' is not among the functions listed"
    ]


def test_D6_default_function_is_empty_without_list(tmp_path: Path) -> None:
    content = ordinary()
    content.description.defaultFunctionName = "main"
    assert [m for _, m, _ in found_in(tmp_path, content)] == [
        "D6: the default function is 'main', but no functions are listed"
    ]


def image_model(dims: tuple[int | None, ...], color: int, code: int = b.FLOAT32, version: int = 8) -> b.Message:
    kind = b.tensor(code, *dims)
    body = b.block([b.op("softmax", {"x": "x"}, [("y", KIND)])], ["y"])
    whole = b.model(b.program({"main": b.function([("x", kind)], body, "CoreML5")}), version)
    del whole.description.input[:]
    image = whole.description.input.add(name="x").type.imageType
    image.width, image.height, image.colorSpace = 8, 4, color
    return whole


@pytest.mark.parametrize(("dims", "color"), [((1, 3, 4, 8), 20), ((1, 1, 4, 8), 10), ((1, 3, None, None), 30)])
def test_image_keeps_all_rules(tmp_path: Path, dims: tuple[int | None, ...], color: int) -> None:
    assert found_in(tmp_path, image_model(dims, color)) == []


@pytest.mark.parametrize(
    ("dims", "color", "code", "message"),
    [
        ((3, 4, 8), 20, b.FLOAT32, "D7: an image is a tensor of rank 4, but its value is tensor<3x4x8xf32>"),
        ((1, 1, 4, 8), 20, b.FLOAT32, "D7: dimension 1 of the image must be 3, found 1"),
        ((1, 3, 4, 9), 20, b.FLOAT32, "D7: dimension 3 of the image must be 8, found 9"),
        ((1, 3, 4, 8), 99, b.FLOAT32, "D7: the image has no known color space"),
        ((1, 3, 4, 8), 20, 31, "D7: only a grayscale image can be uint8"),
        (
            (1, 1, 4, 8),
            40,
            b.FLOAT32,
            "D7: an image of color space GRAYSCALE_FLOAT16 is fp16, but its value is tensor<1x1x4x8xf32>",
        ),
    ],
)
def test_D7_image_is_a_tensor_of_its_form(
    tmp_path: Path, dims: tuple[int, ...], color: int, code: int, message: str
) -> None:
    assert [m for _, m, _ in found_in(tmp_path, image_model(dims, color, code))] == [message]


def test_D9_state_has_a_fixed_shape_in_half_precision(tmp_path: Path) -> None:
    assert [m for _, m, _ in found_in(tmp_path, with_state(kind=KIND))] == [
        "D9: a state must be fp16 with a fixed shape, found tensor<2x3xf32>"
    ]


def test_D9_state_is_described_with_its_shape(tmp_path: Path) -> None:
    content = with_state()
    content.description.state[0].type.stateType.arrayType.shape[0] = 5
    assert [m for _, m, _ in found_in(tmp_path, content)] == [
        "D9: the state is described as fp16 of shape (5, 3), but its value is tensor<2x3xf16>"
    ]


def test_D9_state_is_not_described_as_an_input(tmp_path: Path) -> None:
    content = with_state()
    b.feature(content.description.input, "s", [2, 3], b.ARRAY_FLOAT16)
    assert [m for _, m, _ in found_in(tmp_path, content)] == ["D2: the function has no input 's'"]


def test_D10_optional_input_has_a_default_value(tmp_path: Path) -> None:
    content = ordinary()
    content.description.input[0].type.isOptional = True
    assert [m for _, m, _ in found_in(tmp_path, content)] == ["D10: an optional input needs a default value"]
    content.description.input[0].type.multiArrayType.floatDefaultValue = 0.5
    assert found_in(tmp_path / "again", content) == []


def enumerated_twice(version: int, *counts: int) -> b.Message:
    kind = b.tensor(b.FLOAT32, None, 3)
    body = b.block([b.op("add", {"x": "x", "y": "z"}, [("y", kind)])], ["y"])
    whole = b.model(b.program({"main": b.function([("x", kind), ("z", kind)], body)}), version)
    del whole.description.input[:]
    del whole.description.output[:]
    for name, count in zip(("x", "z"), counts, strict=True):
        array = b.feature(whole.description.input, name, [1, 3])
        for n in range(1, count + 1):
            array.enumeratedShapes.shapes.add(shape=[n, 3])
    b.feature(whole.description.output, "y", [])
    return whole


def test_D11_enumerated_shapes_of_several_inputs_need_version_9(tmp_path: Path) -> None:
    assert [(c, m) for c, m, _ in found_in(tmp_path, enumerated_twice(8, 2, 2))] == [
        (NOT_IN_VERSION.id, "D11: enumerated shapes of several inputs ('x', 'z') need version 9")
    ]
    assert found_in(tmp_path / "again", enumerated_twice(9, 2, 2)) == []


def test_D11_enumerated_shapes_of_several_inputs_are_as_many(tmp_path: Path) -> None:
    assert [m for _, m, _ in found_in(tmp_path, enumerated_twice(9, 2, 3))] == [
        "D11: inputs with enumerated shapes must have equally many"
    ]


def test_D12_features_are_described_with_the_functions_only(tmp_path: Path) -> None:
    content = several()
    b.feature(content.description.input, "x", [2, 3])
    assert [m for _, m, _ in found_in(tmp_path, content)] == [
        "D12: inputs, outputs and states must be described with the functions only"
    ]


def test_D13_half_precision_needs_version_7(tmp_path: Path) -> None:
    body = b.block([b.op("softmax", {"x": "x"}, [("y", HALF)])], ["y"])
    content = b.program({"main": b.function([("x", HALF)], body)})
    assert [(c, m) for c, m, _ in found_in(tmp_path, content, 6)] == [
        (NOT_IN_VERSION.id, "D13: an input or output of type fp16 needs specification version 7")
    ] * 2
    assert found_in(tmp_path / "again", content, 7) == []


def test_D13_double_precision_cannot_cross_the_border(tmp_path: Path) -> None:
    content = ordinary()
    content.description.input[0].type.multiArrayType.dataType = b.ARRAY_DOUBLE
    assert "D13: fp64 cannot be the type of an input or output" in [m for _, m, _ in found_in(tmp_path, content)]


# -- the typed view


def test_description_shows_shapes_ranges_defaults_and_metadata(tmp_path: Path) -> None:
    content = flexible((1, 10), (3, 3))
    content.description.input[0].shortDescription = "what goes in"
    content.description.metadata.license = "none"
    description = description_of(read(b.save(tmp_path, content), b.DIALECTS))
    assert description is not None
    (interface,) = description.interfaces
    (x,) = interface.inputs
    assert (x.name, x.summary) == ("x", "what goes in")
    assert x.type == MultiArray(f32, (2, 3), ranges=(DimRange(1, 10), DimRange(3, 3)))
    assert description.metadata.license == "none"
    assert description.specification_version == 6


def test_description_of_nothing_is_empty() -> None:
    description = read_description(DictionaryAttr(()))
    assert [i.name for i in description.interfaces] == ["main"]
    assert description.interfaces[0].inputs == ()


def test_models_of_a_pipeline_may_take_dictionaries(tmp_path: Path) -> None:
    """As a vectorizer of dictionaries does behind an encoder."""
    whole = b.model(None, 1)
    b.feature(whole.description.input, "x", [1])
    b.feature(whole.description.output, "y", [3])
    encoder = whole.pipeline.models.add(specificationVersion=1)
    encoder.oneHotEncoder = b""
    b.feature(encoder.description.input, "x", [1])
    encoder.description.output.add(name="codes").type.dictionaryType.int64KeyType.SetInParent()
    vectorizer = whole.pipeline.models.add(specificationVersion=1)
    vectorizer.dictVectorizer = b""
    vectorizer.description.input.add(name="codes").type.dictionaryType.int64KeyType.SetInParent()
    b.feature(vectorizer.description.output, "y", [3])
    assert found_in(tmp_path, whole) == []
