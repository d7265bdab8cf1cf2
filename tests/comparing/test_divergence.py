"""Faults put deep into real programs are found where they are, whatever the two sides are."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

import commonir as cir
from commonir.base.codes import INTERFACES_DIFFER, NOTHING_TO_COMPARE
from commonir.comparing.divergence import Side, ValueComparison, compare
from commonir.dialects import core
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import f16, f32, i32, tensor
from commonir.reports import Comparison
from commonir.runtime.engine import DEFAULT_OPTIONS, EngineOptions, Engines
from commonir.symbolic import symbol

from tests.conversions.programs import core_module
from tests.faults import Faulty, model, with_other_operation, with_other_weight, with_other_weight_inside
from tests.oracles import oracle

PLACES = (0.2, 0.55, 0.9)
NETWORKS = ("resnet_fp32", "gpt2_fp16", "mobilenet_v3_fp32", "whisper_encoder_fp16", "unet_transposed_fp32")


def check_named(comparison: Comparison, fault: Faulty) -> None:
    first = comparison.first_divergence
    assert first is not None
    assert (first.name, first.operation) == (fault.name, fault.operation)
    assert not comparison.is_within


# -- faults


@pytest.mark.fast_every(4)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("network", NETWORKS)
def test_changed_weight_is_found_at_the_operation_that_uses_it(network: str, place: float) -> None:
    program = model(network)
    fault = with_other_weight(program, place)
    comparison = cir.compare(program, fault.program)
    check_named(comparison, fault)
    assert comparison.first_divergence is not None
    assert len(comparison.first_divergence.constants) == 1
    assert len(comparison.first_divergence.operations) == 1


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("engine", ["numpy", "onnxruntime"])
def test_changed_weight_is_found_in_a_conversion(engine: str, place: float) -> None:
    if engine == "onnxruntime":
        oracle("onnxruntime")
    program = model("resnet_fp32")
    fault = with_other_weight(program, place)
    converted = cir.convert(fault.program, "onnx")
    check_named(cir.compare(program, converted, engines=["numpy", engine]), fault)


def test_output_that_is_wired_to_another_value_is_found() -> None:
    def build(is_wrong: bool) -> Module:
        def body(x: Value) -> Value:
            right, wrong = core.exp(x), core.sin(x)
            right.name, wrong.name = "right", "wrong"
            return wrong if is_wrong else right

        return core_module(body, {"x": tensor(f32, 3)}, ["y"])

    comparison = cir.compare(build(False), build(True))
    assert [d.name for d in comparison.divergences] == ["y"]


def test_fault_inside_of_a_loop_is_found_at_the_loop() -> None:
    program = model("gru_fp32")
    fault = with_other_weight_inside(program, "mil.while_loop")
    first = cir.compare(program, fault.program).first_divergence
    assert first is not None
    assert first.operation == "mil.while_loop"


@pytest.mark.parametrize(
    ("network", "name", "other"),
    [
        pytest.param("bert_fp32", "mil.tanh", "mil.sigmoid", marks=pytest.mark.slow),
        ("bert_fp32", "mil.softmax", "mil.tanh"),
        ("resnet_fp16", "mil.relu", "mil.sigmoid"),
        pytest.param("llama_fp32", "mil.silu", "mil.tanh", marks=pytest.mark.slow),
    ],
)
def test_exchanged_operation_is_found(network: str, name: str, other: str) -> None:
    program = model(network)
    fault = with_other_operation(program, 0.5, name, other)
    check_named(cir.compare(program, fault.program), fault)


def test_overflow_of_half_precision_is_found_where_it_happens() -> None:
    def scaled(wide: bool) -> Module:
        element = f32 if wide else f16

        def build(x: Value) -> Value:
            y = core.add(x, x)
            y.name = "small"
            y = core.mul(y, y)
            y.name = "large"
            y = core.sqrt(y)
            y.name = "small_again"
            return y

        return core_module(build, {"x": tensor(element, 2)})

    inputs = {"x": np.array([1.0, 300.0], np.float32)}  # 600 squared is beyond 65504
    comparison = cir.compare(scaled(True), scaled(False), inputs, engines=["numpy", "reference"])
    first = comparison.first_divergence
    assert first is not None
    assert (first.name, first.difference.absolute, first.difference.at) == ("large", np.inf, (1,))
    assert [v.name for v in comparison.values if not v.is_within] == ["large", "small_again"]
    assert [d.name for d in comparison.divergences] == ["large"]


def test_faults_that_do_not_follow_from_each_other_are_all_found() -> None:
    def build(x: Value, is_faulty: bool) -> tuple[Value, Value]:
        left, right = core.exp(x), core.tanh(x) if is_faulty else core.sigmoid(x)
        left = core.neg(left) if is_faulty else left
        left.name, right.name = "left", "right"
        return left, right

    a = core_module(lambda x: build(x, False), {"x": tensor(f32, 3)})
    b = core_module(lambda x: build(x, True), {"x": tensor(f32, 3)})
    assert [d.name for d in cir.compare(a, b).divergences] == ["left", "right"]


class BrokenEngine:
    """The reference engine, with one operation that computes something else."""

    name = "broken"

    def prepare(self, module: Module, function: str | None = None, options: EngineOptions = DEFAULT_OPTIONS):
        broken = cir.lower(module)
        for op in list(broken.nested()):
            if isinstance(op, core.Softmax):
                op.result.replace_all_uses_with(op.operands[0])
        return Engines().get("reference").prepare(broken, function, options)


def test_operation_that_an_engine_gets_wrong_is_found() -> None:
    program = model("bert_fp32")
    a, b = Side(program, Engines().get("numpy")), Side(program, BrokenEngine())
    comparison = compare(ValueComparison(a, b, cir.random_inputs(program)))
    assert comparison.first_divergence is not None
    assert comparison.first_divergence.operation == "mil.softmax"
    assert comparison.engines == ("numpy", "broken")


class FusingEngine:
    """The reference engine, which gets a sine that follows a cosine wrong where it sees both."""

    name = "fusing"

    def prepare(self, module: Module, function: str | None = None, options: EngineOptions = DEFAULT_OPTIONS):
        broken = cir.edit(module)
        for op in list(broken.nested()):
            if isinstance(op, core.Sin) and isinstance(op.operands[0].owner, core.Cos):
                op.result.replace_all_uses_with(op.operands[0])
        return Engines().get("reference").prepare(broken, function, options)


def test_what_only_a_whole_run_gets_wrong_is_found_in_its_outputs() -> None:
    def build(x: Value) -> Value:
        inner = core.cos(x)
        inner.name = "inner"
        return core.sin(inner)

    program = core_module(build, {"x": tensor(f32, 2)}, ["y"])
    a, b = Side(program, Engines().get("reference")), Side(program, FusingEngine())
    comparison = compare(ValueComparison(a, b, cir.random_inputs(program), piece_bytes=0))
    assert all(v.is_within for v in comparison.values)
    assert [v.name for v in comparison.whole if not v.is_within] == ["y"]
    assert not comparison.is_within
    assert comparison.first_divergence is None


# -- agreement

AGREEING = ("bert_fp16", "segformer_fp32", "t5_encoder_int4_fp16", "control_iOS18", "gru_fp32")


@pytest.mark.slow_cases("bert_fp16", "segformer_fp32", "t5_encoder_int4_fp16")
@pytest.mark.parametrize(
    "network", ["bert_fp16", "segformer_fp32", "t5_encoder_int4_fp16", "control_iOS18", "gru_fp32"]
)
def test_engines_agree(network: str) -> None:
    oracle("onnxruntime")
    program = model(network)
    for engines in (["reference", "numpy"], ["numpy", "onnxruntime"]):
        comparison = cir.compare(program, engines=engines, values="all")
        assert comparison.is_within
        assert comparison.only_first == comparison.only_second == ()


@pytest.mark.slow_cases("llama_stateful_fp16", "segformer_fp16")
@pytest.mark.parametrize("network", ["greedy_decode_fp32", "llama_stateful_fp16", "segformer_fp16"])
def test_conversion_agrees_as_onnxruntime_runs_it(network: str) -> None:
    oracle("onnxruntime")
    program = model(network)
    comparison = cir.compare(program, cir.convert(program, "onnx"), engines=["numpy", "onnxruntime"], values="all")
    assert comparison.is_within
    assert set(comparison.outputs) >= set(program.main.output_names)


def test_random_operations_draw_the_same_on_both_sides() -> None:
    comparison = cir.compare(model("random_iOS15"), values="all")
    assert comparison.is_within


def test_states_are_compared_as_inputs_and_outputs() -> None:
    program = model("llama_stateful_fp16")
    comparison = cir.compare(program, engines=("reference", "numpy"), values="all")
    assert comparison.is_within
    assert [n for n in comparison.outputs if n.endswith("_out")]


def test_precisions_of_one_network_match_though_coremltools_renames_its_values() -> None:
    comparison = cir.compare(model("resnet_fp32"), model("resnet_fp16"), values="all")
    assert comparison.is_within
    assert comparison.only_first == comparison.only_second == ()
    assert {(v.type, v.other_type) for v in comparison.values} == {("f32", "f16")}


def test_tolerance_follows_from_the_narrowest_type_before_a_value() -> None:
    def build(x: Value) -> Value:
        wide = core.exp(x)
        wide.name = "wide"
        narrow = core.cast(core.exp(core.cast(x, f16)), f32)
        narrow.name = "narrow"
        return core.add(wide, narrow)

    comparison = cir.compare(core_module(build, {"x": tensor(f32, 2)}))
    assert {v.name: v.rtol for v in comparison.values} == {"wide": 1e-4, "narrow": 1e-2, "y0": 1e-2}


def test_few_values_are_held_however_long_the_program_is() -> None:
    program = model("resnet_fp32")
    inputs = cir.random_inputs(program)
    engine = Engines().get("numpy")
    comparison = compare(ValueComparison(Side(program, engine), Side(program, engine), inputs, piece_bytes=0))
    assert len(comparison.values) == 36
    # A residual, the operand of an operation and its result.
    assert comparison.peak_values == (3, 3)


# -- what cannot be compared


def test_inputs_of_other_names_are_refused_with_the_near_one() -> None:
    program = model("resnet_fp32")
    other = cir.edit(program, rename={"image": "images"})
    with pytest.raises(cir.DiagnosticError) as caught:
        cir.compare(program, other)
    assert {d.code for d in caught.value.diagnostics} == {INTERFACES_DIFFER}
    text = str(caught.value)
    assert "the input 'images' of one program has no counterpart" in text
    assert "did you mean 'image'?" in text
    assert "commonir.edit(program, rename=" in text


def test_inputs_of_other_names_are_compared_when_all_are_given() -> None:
    program = model("resnet_fp32")
    (image,) = cir.random_inputs(program).values()
    other = cir.edit(program, rename={"image": "photo"})
    assert cir.compare(program, other, {"image": image, "photo": image}).is_within


def test_programs_without_a_common_value_are_refused() -> None:
    a = core_module(core.exp, {"x": tensor(f32, 2)}, ["a"])
    b = core_module(core.exp, {"x": tensor(f32, 2)}, ["b"])
    with pytest.raises(cir.DiagnosticError) as caught:
        cir.compare(a, b)
    assert [d.code for d in caught.value.diagnostics] == [NOTHING_TO_COMPARE]


@pytest.mark.parametrize(
    ("other", "note"),
    [
        (lambda x: core.reshape(x, (2, 3)), "expected shape [6], found [2, 3]"),
        (lambda x: core.cast(x, i32), "expected f32, found i32"),
    ],
)
def test_values_of_other_shapes_and_kinds_differ(other: Callable[[Value], Value], note: str) -> None:
    a = core_module(core.abs, {"x": tensor(f32, 6)})
    b = core_module(other, {"x": tensor(f32, 6)})
    first = cir.compare(a, b).first_divergence
    assert first is not None
    assert (first.difference.note, first.difference.absolute) == (note, None)


def test_dynamic_sizes_are_those_given() -> None:
    n = symbol("n")
    program = core_module(lambda x: core.exp(core.exp(x)), {"x": tensor(f32, n, 3)})
    assert cir.compare(program, dims={"n": 7}).values[0].count == 21


def test_unknown_metric_is_refused_with_the_near_one() -> None:
    program = core_module(core.exp, {"x": tensor(f32, 2)})
    with pytest.raises(cir.DiagnosticError, match="did you mean 'cosine'"):
        cir.compare(program, metric="cosinus")
    with pytest.raises(cir.DiagnosticError, match="two sides"):
        cir.compare(program, engines=["numpy", "reference", "numpy"])


def test_given_inputs_are_used() -> None:
    a = core_module(core.relu, {"x": tensor(f32, 2)})
    b = core_module(core.abs, {"x": tensor(f32, 2)})
    positive: Mapping[str, NDArray[np.generic]] = {"x": np.ones(2, np.float32)}
    assert cir.compare(a, b, positive).is_within
    assert not cir.compare(a, b, {"x": -np.ones(2, np.float32)}).is_within


def test_random_inputs_have_the_sizes_that_one_side_fixes() -> None:
    n = symbol("N", 1)
    free, fixed = [core_module(core.exp, {"x": tensor(f32, size, 3)}, ["y"]) for size in (n, 7)]
    assert cir.compare(free, fixed).is_within
    assert cir.compare(fixed, free).is_within
    assert cir.compare(free, fixed, {"x": np.ones((7, 3), np.float32)}).is_within


def test_functions_of_mlir_are_compared_by_position_where_names_differ() -> None:
    """Names of values do not belong to MLIR's text: mlir-opt replaces those of this function by %arg0, %0, ..."""
    text = """
    func.func @main(%x: tensor<2xf32>, %y: tensor<3xf32>) -> (tensor<2xf32>, tensor<3xf32>) {{
      %{0} = arith.addf %x, %x : tensor<2xf32>
      %{1} = arith.mulf %y, %y : tensor<3xf32>
      return %{0}, %{1} : tensor<2xf32>, tensor<3xf32>
    }}"""
    named = cir.loads(text.format("sum", "square"), format="mlir")
    renamed = cir.loads(text.format("0", "1").replace("%x", "%arg0").replace("%y", "%arg1"), format="mlir")
    compared = cir.compare(named, renamed, {"x": np.ones(2, np.float32)})
    assert [(each.name, each.absolute) for each in compared.values if each.is_output] == [("sum", 0), ("square", 0)]
    assert cir.diff(named, renamed).interface == ()
    # Types that do not agree make them other inputs.
    wider = cir.loads(text.format("sum", "1").replace("%y", "%z").replace("3x", "4x"), format="mlir")
    with pytest.raises(cir.DiagnosticError, match="'z' of one program has no counterpart"):
        cir.compare(named, wider)


def test_outputs_that_are_constants_are_compared() -> None:
    text = "func.func @main(%x: f32) -> (f32, i32) {{ %c = arith.constant {} : i32 return %x, %c : f32, i32 }}"
    one, two = [cir.loads(text.format(n), format="mlir") for n in (1, 2)]
    assert cir.compare(one, one).is_within
    assert not cir.compare(one, two).is_within
