"""The part of a program between named values: it computes what the whole computes there, and holds nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import commonir as cir
from commonir.base.codes import IMPOSSIBLE_EDIT, UNDEFINED_VALUE, Code
from commonir.dialects import core
from commonir.dialects.mil.description import description_of
from commonir.ir.data import FileData
from commonir.ir.interface import DimRange
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import f32, tensor
from commonir.ods import known_data
from commonir.symbolic import symbol

from tests.conversions.programs import core_module
from tests.faults import MODELS, model
from tests.oracles import oracle

FORMS = ("mil", "onnx", "core")
ZOO = sorted(path.parent.name for path in MODELS.glob("*/model.mlpackage"))


def in_form(program: Module, form: str) -> Module:
    match form:
        case "onnx":
            return cir.convert(program, "onnx")
        case "core":
            return cir.lower(program)
        case _:
            return program


def refused(program: Module, code: Code, sources: list[str], targets: list[str]) -> str:
    with pytest.raises(cir.DiagnosticError) as caught:
        cir.extract(program, sources, targets)
    assert {d.code for d in caught.value.diagnostics} == {code}
    return str(caught.value)


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("network", "begin", "end"),
    [
        ("resnet_fp32", "input_27", "logits"),
        ("resnet_fp32", "image", "input_27"),
        ("bert_fp32", "hidden_states_7", "last_hidden_state"),
        ("mobilenet_v3_fp32", "input_43", "logits"),
    ],
)
def test_parts_one_after_another_are_the_whole(form: str, network: str, begin: str, end: str) -> None:
    program = in_form(model(network), form)
    inputs = cir.random_inputs(program)
    front = cir.extract(program, [], [begin]) if begin not in inputs else None
    back = cir.extract(program, [begin], [end])
    middle = inputs if front is None else cir.run(front, inputs, engine="reference")
    arguments = {v.name: {**inputs, **middle}[v.name] for v in back.inputs}
    got = cir.run(back, arguments, engine="reference")[end]
    whole = cir.edit(program, add_outputs=[end]) if end not in program.main.output_names else program
    np.testing.assert_array_equal(got, cir.run(whole, inputs, engine="reference")[end])


@pytest.mark.parametrize("form", FORMS)
def test_part_holds_what_it_needs_and_nothing_else(form: str) -> None:
    program = in_form(model("resnet_fp32"), form)
    part = cir.extract(program, ["input_31"], ["input_33"])
    computing = [op.name for op in part.main.body.operations if op.results and known_data(op.results[0]) is None]
    assert [name.partition(".")[2].lower() for name in computing] == ["relu"]
    assert [v.name for v in part.inputs] == ["input_31"]
    assert part.main.output_names == ("input_33",)


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("name", ZOO)
def test_half_of_every_program_is_valid_or_refused_with_a_reason(name: str) -> None:
    program = model(name)
    computing = [op for op in program.main.body.operations if op.results and known_data(op.results[0]) is None]
    target = computing[len(computing) // 2].results[0].name
    try:
        part = cir.extract(program, [], [target])
    except cir.DiagnosticError as error:
        assert {d.code for d in error.diagnostics} == {IMPOSSIBLE_EDIT}
        return
    assert part.main.output_names == (target,)
    assert len(list(part.nested())) <= len(list(program.nested()))


def test_constants_are_those_of_the_program_and_stay_in_its_file() -> None:
    program = model("resnet_fp32")
    part = cir.extract(program, ["input_27"], ["input_31"])
    whole = {r.name: known_data(r) for op in program.main.body.operations for r in op.results}
    weights = [(r.name, known_data(r)) for op in part.main.body.operations for r in op.results]
    files = [(name, data) for name, data in weights if isinstance(data, FileData)]
    assert files
    assert all(data is whole[name] for name, data in files)


def test_inputs_that_the_part_needs_besides_stay_inputs() -> None:
    program = model("bert_fp32")
    part = cir.extract(program, ["hidden_states_7"], ["last_hidden_state"])
    assert [v.name for v in part.inputs] == ["hidden_states_7", "attention_mask"]


def test_inputs_that_stay_keep_their_order() -> None:
    def build(a: Value, b: Value, c: Value, unused: Value) -> Value:
        del unused
        result = core.sub(core.neg(c), core.sub(b, a))
        result.name = "y"
        return result

    program = core_module(build, {name: tensor(f32, 2) for name in ("a", "b", "c", "unused")})
    part = cir.extract(program, [], ["y"])
    assert [v.name for v in part.inputs] == ["a", "b", "c"]


def test_several_values_begin_and_end_a_part() -> None:
    def build(x: Value) -> Value:
        a, b = core.exp(x), core.sin(x)
        a.name, b.name = "a", "b"
        c, d = core.add(a, b), core.mul(a, b)
        c.name, d.name = "c", "d"
        return core.sub(c, d)

    program = core_module(build, {"x": tensor(f32, 2)})
    part = cir.extract(program, ["b", "a"], ["d", "c"])
    assert [v.name for v in part.inputs] == ["b", "a"]
    got = cir.run(part, {"a": np.full(2, 3, np.float32), "b": np.full(2, 4, np.float32)})
    assert {name: array.tolist() for name, array in got.items()} == {"d": [12, 12], "c": [7, 7]}


def test_value_that_begins_a_part_may_end_it_too() -> None:
    part = cir.extract(model("resnet_fp32"), ["input_31"], ["input_31", "input_33"])
    assert part.main.output_names == ("input_31_out", "input_33")
    data = cir.random_inputs(part)
    np.testing.assert_array_equal(cir.run(part, data)["input_31_out"], data["input_31"])


# -- refusals


def test_unknown_names_are_refused_all_at_once() -> None:
    text = refused(model("resnet_fp32"), UNDEFINED_VALUE, ["input_2"], ["logit"])
    assert "'input_2'" in text
    assert "did you mean 'logits'?" in text


def test_beginning_that_the_end_does_not_depend_on_is_refused() -> None:
    text = refused(model("resnet_fp32"), IMPOSSIBLE_EDIT, ["input_33"], ["input_27"])
    assert "nothing that is asked for is computed from 'input_33'" in text


def test_value_inside_of_a_branch_cannot_begin_a_part() -> None:
    program = model("gru_fp32")
    loop = next(op for op in program.main.body.operations if op.name == "mil.while_loop")
    inner = next(op.results[0].name for op in loop.walk() if op.name == "mil.sigmoid")
    assert "computed inside of mil.while_loop" in refused(program, IMPOSSIBLE_EDIT, [inner], [])


def test_size_that_no_input_of_the_part_has_is_refused() -> None:
    n = symbol("n")

    def build(x: Value) -> Value:
        doubled = core.concat((x, x), 0)
        doubled.name = "doubled"
        return core.exp(doubled)

    program = core_module(build, {"x": tensor(f32, n)}, ["y"])
    text = refused(program, IMPOSSIBLE_EDIT, ["doubled"], ["y"])
    assert "'doubled' depends on the size 'n', which no input of the part has" in text
    fixed = cir.extract(cir.edit(program, dims={"n": 3}), ["doubled"], ["y"])
    assert str(fixed.inputs[0].type) == "tensor<6xf32>"


# -- kinds of programs


def test_sizes_of_a_new_input_follow_from_those_of_the_old() -> None:
    part = cir.extract(model("unet_flexible_size_fp32"), ["input_27"], ["scores"])
    port = part.main.input_ports["input_27"]
    # The image is 8 to 48 in each direction, 24 by default, and halved twice before.
    assert port.shape == (1, 16, 6, 6)
    assert port.ranges == (DimRange(1, 1), DimRange(16, 16), DimRange(2, 12), DimRange(2, 12))
    assert cir.verify(part) == []


def test_state_keeps_everything_that_reads_and_writes_it() -> None:
    program = model("llama_stateful_fp16")
    name = next(op.results[0].name for op in program.main.body.operations if op.name == "mil.read_state")
    part = cir.extract(program, [], [name])
    state = next(v.name for v in part.inputs if "state" in str(v.type))

    def users(of: Module) -> list[str]:
        return [op.name for op in of.main.body.operations if op.operands and op.operands[0].name == state]

    assert users(part) == users(program)
    description = description_of(part)
    assert description is not None
    assert state in {f.name for f in description.interfaces[0].states}


def test_loop_is_taken_as_a_whole() -> None:
    program = model("gru_fp32")
    loop = next(op for op in program.main.body.operations if op.name == "mil.while_loop")
    target = next(r for r in loop.results if "f32" in str(r.type)).name
    part = cir.extract(program, [], [target])
    assert "mil.while_loop" in [op.name for op in part.main.body.operations]
    inputs = cir.random_inputs(program)
    expected = cir.run(cir.edit(program, add_outputs=[target]), inputs)[target]
    np.testing.assert_array_equal(cir.run(part, inputs)[target], expected)


# -- files


def test_package_holds_only_the_weights_of_the_part_and_loads_in_coremltools(tmp_path: Path) -> None:
    coremltools = oracle("coremltools")
    program = model("resnet_fp32")
    part = cir.extract(program, ["input_27"], ["input_31"])
    cir.save(part, tmp_path / "part.mlpackage")
    spec = coremltools.utils.load_spec(str(tmp_path / "part.mlpackage"))
    assert [f.name for f in spec.description.input] == ["input_27"]
    assert list(spec.description.input[0].type.multiArrayType.shape) == [1, 32, 8, 8]
    (weights,) = (tmp_path / "part.mlpackage").rglob("*.bin")
    (whole,) = (MODELS / "resnet_fp32").rglob("*.bin")
    used = sum(
        data.size_bytes
        for op in part.main.body.operations
        for r in op.results
        if isinstance(data := known_data(r), FileData)
    )
    assert used <= weights.stat().st_size < used + 1024 < whole.stat().st_size
    loaded = cir.load(tmp_path / "part.mlpackage")
    inputs = cir.random_inputs(part)
    np.testing.assert_array_equal(cir.run(loaded, inputs)["input_31"], cir.run(part, inputs)["input_31"])
