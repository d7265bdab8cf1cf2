"""Names, sizes, outputs and metadata of programs of every dialect, changed without touching what they compute."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import commonir as cir
from commonir.base.codes import (
    DUPLICATE_NAME,
    IMPOSSIBLE_EDIT,
    UNDEFINED_VALUE,
    UNKNOWN_DIMENSION,
    VIOLATED_CONSTRAINT,
    Code,
)
from commonir.base.file_codes import INVALID_NAME
from commonir.dialects import core
from commonir.dialects.mil.description import MODEL_ATTRIBUTE, description_of
from commonir.ir.equality import are_equal
from commonir.ir.interface import DimRange, metadata_of
from commonir.ir.module import Module
from commonir.ir.types import f32, tensor
from commonir.symbolic import symbol

from tests.conversions.programs import core_module
from tests.faults import MODELS, model
from tests.oracles import oracle

FORMS = ("mil", "onnx", "core")
ZOO = sorted(path.parent.name for path in MODELS.glob("*/model.mlpackage"))


def in_form(program: Module, form: str) -> Module:
    return {"mil": lambda: program, "onnx": lambda: cir.convert(program, "onnx"), "core": lambda: cir.lower(program)}[
        form
    ]()


def refused(program: Module, code: Code, **changes: object) -> str:
    with pytest.raises(cir.DiagnosticError) as caught:
        cir.edit(program, **changes)  # pyright: ignore[reportArgumentType]  by name
    assert {d.code for d in caught.value.diagnostics} == {code}
    return str(caught.value)


# -- names


@pytest.mark.parametrize("form", FORMS)
def test_renamed_program_computes_the_same_under_the_new_names(form: str) -> None:
    program = in_form(model("resnet_fp32"), form)
    (image,) = cir.random_inputs(program).values()
    renamed = cir.edit(program, rename={"image": "photo", "logits": "scores", "input_27": "inner"})
    assert [v.name for v in renamed.inputs] == ["photo"]
    assert renamed.main.output_names == ("scores",)
    assert "inner" in {r.name for op in renamed.main.body.operations for r in op.results}
    expected = cir.run(program, {"image": image})["logits"]
    np.testing.assert_array_equal(cir.run(renamed, {"photo": image})["scores"], expected)


@pytest.mark.parametrize("form", FORMS)
def test_program_that_is_edited_stays_as_it_is(form: str) -> None:
    program = in_form(model("resnet_fp32"), form)
    before = cir.show(program)
    cir.edit(program, rename={"image": "photo"}, add_outputs=["input_27"], metadata={"author": "A"})
    assert cir.show(program) == before


def test_two_names_can_be_exchanged() -> None:
    program = core_module(core.sub, {"a": tensor(f32), "b": tensor(f32)})
    exchanged = cir.edit(program, rename={"a": "b", "b": "a"})
    one, two = np.full((), 1, np.float32), np.full((), 2, np.float32)
    assert cir.run(exchanged, {"b": two, "a": one})["y0"] == 1
    assert [v.name for v in exchanged.inputs] == ["b", "a"]


def test_renaming_back_gives_the_same_program() -> None:
    program = model("bert_fp16")
    there = cir.edit(program, rename={"input_ids": "tokens", "pooler_output": "pooled"})
    back = cir.edit(there, rename={"tokens": "input_ids", "pooled": "pooler_output"})
    assert are_equal(back, program, names=True)


@pytest.mark.fast_every(3)
@pytest.mark.slow_cases("*_fp32*")
@pytest.mark.parametrize("name", ZOO)
def test_every_program_is_the_same_after_renaming_everything_there_and_back(name: str) -> None:
    program = model(name)
    function = program.main
    values = {r.name for op in function.body.operations for r in op.results if r.name}
    names = values | {v.name for v in function.inputs} | set(function.output_names)
    there = cir.edit(program, rename={n: f"{n}_renamed" for n in names})
    assert not are_equal(there, program, names=True)
    assert are_equal(cir.edit(there, rename={f"{n}_renamed": n for n in names}), program, names=True)


def test_name_that_is_taken_is_refused() -> None:
    assert "'input_27' is taken" in refused(model("resnet_fp32"), DUPLICATE_NAME, rename={"image": "input_27"})
    refused(model("resnet_fp32"), DUPLICATE_NAME, rename={"image": "a", "logits": "a"})


def test_unknown_name_is_refused_with_the_near_one() -> None:
    assert "did you mean 'image'?" in refused(model("resnet_fp32"), UNDEFINED_VALUE, rename={"imag": "x"})


@pytest.mark.parametrize("name", ["two words", "0first", "a-b", "tensor", "fp16", "ä"])
def test_name_that_core_ml_does_not_allow_is_refused(name: str) -> None:
    refused(model("resnet_fp32"), INVALID_NAME, rename={"image": name})


def test_name_that_core_ml_does_not_allow_is_fine_elsewhere() -> None:
    program = cir.convert(model("resnet_fp32"), "onnx")
    assert cir.edit(program, rename={"image": "two words"}).inputs[0].name == "two words"


# -- sizes


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("by_name", [True, False])
def test_fixed_dimensions_reach_every_shape(form: str, by_name: bool) -> None:
    program = in_form(model("unet_flexible_size_fp32"), form)
    sizes = {"image_2": 16, "image_3": 24} if by_name else {"image.2": 16, "image.3": 24}
    fixed = cir.edit(program, dims=sizes)
    assert str(fixed.inputs[0].type) == "tensor<1x3x16x24xf32>"
    assert str(fixed.outputs[0].type) == "tensor<1x2x16x24xf32>"
    (image,) = cir.random_inputs(fixed).values()
    expected = cir.run(program, {"image": image})["scores"]
    np.testing.assert_array_equal(cir.run(fixed, {"image": image})["scores"], expected)


def test_description_of_a_fixed_size_says_so() -> None:
    program = model("unet_flexible_size_fp32")
    one = cir.edit(program, dims={"image.2": 16})
    assert one.main.input_ports["image"].ranges[2:] == (DimRange(16, 16), DimRange(8, 48))
    both = cir.edit(one, dims={"image.3": 24})
    assert both.main.input_ports["image"].ranges == ()
    assert both.main.input_ports["image"].shape == (1, 3, 16, 24)
    assert both.main.output_ports["scores"].shape == (1, 2, 16, 24)


def test_size_outside_of_the_range_is_refused() -> None:
    text = refused(model("unet_flexible_size_fp32"), IMPOSSIBLE_EDIT, dims={"image_2": 4000})
    assert "axis 2 of 'image': size 4000 is outside of 8..48" in text


@pytest.mark.parametrize("form", FORMS)
def test_size_that_contradicts_an_operation_is_refused(form: str) -> None:
    text = refused(in_form(model("resnet_fp32"), form), VIOLATED_CONSTRAINT, dims={"image.0": 3})
    assert "reshape" in text.lower()


def test_fixed_size_can_be_another_where_operations_allow() -> None:
    program = core_module(core.exp, {"x": tensor(f32, 2, 3)})
    assert str(cir.edit(program, dims={"x.0": 5}).outputs[0].type) == "tensor<5x3xf32>"


@pytest.mark.parametrize("name", ["imag.2", "image.4", "image.x", "height"])
def test_unknown_dimension_is_refused(name: str) -> None:
    text = refused(model("unet_flexible_size_fp32"), UNKNOWN_DIMENSION, dims={name: 8})
    assert "dynamic dimensions: image_2, image_3" in text


def test_dimension_that_several_inputs_share_is_fixed_in_all() -> None:
    n = symbol("n")
    program = core_module(core.add, {"x": tensor(f32, n), "y": tensor(f32, n)})
    assert [str(v.type) for v in cir.edit(program, dims={"n": 4}).inputs] == ["tensor<4xf32>", "tensor<4xf32>"]


# -- outputs


@pytest.mark.parametrize("form", FORMS)
def test_added_output_is_what_the_operation_computes(form: str) -> None:
    program = in_form(model("resnet_fp32"), form)
    inputs = cir.random_inputs(program)
    more = cir.edit(program, add_outputs=["input_27"])
    assert more.main.output_names == ("logits", "input_27")
    got = cir.run(more, inputs)
    np.testing.assert_array_equal(got["logits"], cir.run(program, inputs)["logits"])
    assert got["input_27"].shape == (1, 32, 8, 8)
    assert np.all(got["input_27"].astype(np.float32) >= 0)  # the result of a relu


@pytest.mark.parametrize("form", ["mil", "onnx"])
def test_input_as_an_output_is_a_copy_with_a_name_of_its_own(form: str) -> None:
    program = in_form(model("resnet_fp32"), form)
    more = cir.edit(program, add_outputs=["image"])
    assert more.main.output_names == ("logits", "image_out")
    owner = more.outputs[1].defining_op
    assert owner is not None
    assert owner.name.lower() == f"{form}.identity"


@pytest.mark.parametrize("form", FORMS)
def test_dropped_output_takes_along_what_only_it_needs(form: str) -> None:
    program = in_form(model("bert_fp32"), form)
    less = cir.edit(program, drop_outputs=["pooler_output"])
    assert less.main.output_names == ("last_hidden_state",)
    assert len(list(less.nested())) < len(list(program.nested()))
    inputs = cir.random_inputs(program)
    expected = cir.run(program, inputs)["last_hidden_state"]
    np.testing.assert_array_equal(cir.run(less, inputs)["last_hidden_state"], expected)


def test_last_output_cannot_be_dropped() -> None:
    assert "would have no output" in refused(model("resnet_fp32"), IMPOSSIBLE_EDIT, drop_outputs=["logits"])


def test_output_can_be_replaced_by_another() -> None:
    other = cir.edit(model("resnet_fp32"), drop_outputs=["logits"], add_outputs=["input_27"])
    assert other.main.output_names == ("input_27",)


def test_unknown_outputs_are_refused_with_the_near_ones() -> None:
    text = refused(model("resnet_fp32"), UNDEFINED_VALUE, add_outputs=["input_2"], drop_outputs=["logit"])
    assert "did you mean 'logits'?" in text
    assert "did you mean 'input_" in text


def test_value_inside_of_a_loop_cannot_be_returned() -> None:
    program = model("gru_fp32")
    loop = next(op for op in program.main.body.operations if op.name == "mil.while_loop")
    inner = next(op.results[0].name for op in loop.walk() if op.name == "mil.sigmoid")
    text = refused(program, IMPOSSIBLE_EDIT, add_outputs=[inner])
    assert f"'{inner}' is computed inside of mil.while_loop and cannot leave it" in text


def test_output_of_a_type_that_no_model_may_have_is_refused() -> None:
    program = model("control_iOS15")
    name = next(op.results[0].name for op in program.main.body.operations if "i1>" in str(op.results[0].type))
    assert "element type i1" in refused(program, IMPOSSIBLE_EDIT, add_outputs=[name])


def test_output_that_is_there_already_is_refused() -> None:
    refused(model("resnet_fp32"), IMPOSSIBLE_EDIT, add_outputs=["logits"])


# -- what a Core ML model says of itself


def test_everything_else_in_a_description_stays() -> None:
    program = model("resnet_classifier_fp16")
    before = description_of(program)
    renamed = description_of(cir.edit(program, rename={"classLabel": "kind", "classLabel_probs": "scores"}))
    assert before is not None
    assert renamed is not None
    assert [f.name for f in renamed.interfaces[0].outputs] == ["kind", "scores"]
    assert (renamed.interfaces[0].label_name, renamed.interfaces[0].probabilities_name) == ("kind", "scores")
    assert [f.type for f in renamed.interfaces[0].outputs] == [f.type for f in before.interfaces[0].outputs]
    assert renamed.interfaces[0].inputs == before.interfaces[0].inputs


def test_image_stays_an_image_under_its_new_name() -> None:
    program = model("mobilenet_v2_image_fp32")
    (port,) = program.main.input_ports.values()
    renamed = cir.edit(program, rename={"image": "photo"})
    assert renamed.main.input_ports == {"photo": port}


def test_half_precision_output_raises_the_specification_version() -> None:
    program = model("gpt2_fp16")
    before, after = (description_of(m) for m in (program, cir.edit(program, add_outputs=["input_5_cast_fp16"])))
    assert before is not None
    assert after is not None
    assert (before.specification_version, after.specification_version) == (6, 7)


def test_metadata_need_no_function_that_runs() -> None:
    body = "(%x: tensor<4xf32>) -> tensor<4xf32> { func.return %x : tensor<4xf32> }"
    program = cir.loads(f"func.func @one{body}\nfunc.func @two{body}", format="mlir")
    assert metadata_of(cir.edit(program, metadata={"author": "A. Author"})).author == "A. Author"


def test_metadata_are_set_and_removed() -> None:
    program = model("resnet_fp32")
    first = cir.edit(program, metadata={"author": "A. Author", "license": "MIT", "origin": "here"})
    about = metadata_of(first)
    assert (about.author, about.license, dict(about.user_defined)["origin"]) == ("A. Author", "MIT", "here")
    second = metadata_of(cir.edit(first, metadata={"license": "", "origin": ""}))
    assert (second.author, second.license, dict(second.user_defined).get("origin")) == ("A. Author", "", None)
    assert first.extra[MODEL_ATTRIBUTE] is program.extra[MODEL_ATTRIBUTE]


# -- files


def weight_file(package: Path) -> bytes:
    (result,) = package.rglob("*.bin")
    return result.read_bytes()


def test_coremltools_sees_what_was_edited_and_weights_are_the_same_bytes(tmp_path: Path) -> None:
    coremltools = oracle("coremltools")
    program = model("bert_fp16")
    path = tmp_path / "m.mlpackage"
    edited = cir.edit(
        program,
        rename={"input_ids": "tokens", "pooler_output": "pooled"},
        metadata={"author": "A. Author"},
    )
    cir.save(edited, path)
    spec = coremltools.utils.load_spec(str(path))
    assert {f.name for f in spec.description.input} == {"tokens", "attention_mask", "token_type_ids"}
    assert [f.name for f in spec.description.output] == ["last_hidden_state", "pooled"]
    assert {f.name for f in spec.mlProgram.functions["main"].inputs} == {
        "tokens",
        "attention_mask",
        "token_type_ids",
    }
    assert spec.description.metadata.author == "A. Author"
    assert weight_file(path) == weight_file(MODELS / "bert_fp16" / "model.mlpackage")
    loaded = coremltools.models.MLModel(str(path), skip_model_load=True)
    assert loaded.get_spec().specificationVersion == spec.specificationVersion


def test_package_can_take_its_own_place(tmp_path: Path) -> None:
    path = tmp_path / "m.mlpackage"
    cir.save(model("resnet_fp32"), path)
    before = weight_file(path)
    for old, new in (("image", "photo"), ("photo", "picture")):
        cir.save(cir.edit(cir.load(path), rename={old: new}), path)
    assert cir.load(path).inputs[0].name == "picture"
    assert weight_file(path) == before
    assert [p.name for p in tmp_path.iterdir()] == ["m.mlpackage"]


# -- programs that have faults of their own


def unsorted_model(path: Path) -> Module:
    """A model without a graph name or a version of the operator set of one node, whose nodes are not sorted."""
    helper = oracle("onnx").helper
    nodes = [
        helper.make_node("Relu", ["t"], ["y"]),
        helper.make_node("Gelu", ["x"], ["t"], domain="com.microsoft"),
    ]
    x, y = [helper.make_tensor_value_info(name, 1, ["n", 3]) for name in "xy"]
    graph = helper.make_graph(nodes, "", [x], [y])
    path.write_bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    )
    return cir.load(path)


def test_edited_program_may_keep_the_faults_that_it_had(tmp_path: Path) -> None:
    program = unsorted_model(tmp_path / "m.onnx")
    assert {d.code.id for d in cir.verify(program) if d.is_error} >= {"E0401"}
    fixed = cir.edit(program, dims={"n": 2})
    x = np.array([[-1, 0, 1], [2, 3, 4]], np.float32)
    assert fixed.outputs[0].type is tensor(f32, 2, 3)
    np.testing.assert_array_equal(cir.run(fixed, {"x": x})["y"], cir.run(program, {"x": x})["y"])
    assert [op.name for op in fixed.main.body.operations][:2] == ["onnx.microsoft.Gelu", "onnx.Relu"]
    refused(program, UNKNOWN_DIMENSION, dims={"m": 2})
