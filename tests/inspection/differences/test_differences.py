"""Differences of two programs: what was changed on purpose is found, and nothing else is reported."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import commonir as cir
from commonir import api
from commonir.base.diagnostics import ExitStatus
from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.reports import Change, Differences

from tests.command_lines import command_lines
from tests.faults import MODELS, copy_of, model, with_other_operation, with_other_weight

_SIZE = 16


class Chain:
    """A model of layers `Softmax(act(x @ w))` whose parts a test changes before it is made."""

    def __init__(self, layers: int = 4) -> None:
        rng = np.random.default_rng(0)
        self.weights = [rng.standard_normal((_SIZE, _SIZE)).astype(np.float32) for _ in range(layers)]
        self.activations = ["Relu"] * layers
        self.axes = [1] * layers
        self.inserted: int | None = None
        self.prefix = ""
        self.outputs = ["y"]
        self.producer = "test"

    def save(self, path: Path) -> Module:
        """Values are called by number, so that whatever is inserted gives other names to what follows."""
        nodes: list[onnx.NodeProto] = []

        def add(kind: str, *inputs: str, output: str = "", axis: int | None = None) -> str:
            name = output or f"{self.prefix}{len(nodes)}"
            nodes.append(helper.make_node(kind, list(inputs), [name], axis=axis))
            return name

        x = "x"
        for n in range(len(self.weights)):
            x = add("MatMul", x, f"{self.prefix}w{n}")
            if self.inserted == n:
                x = add("Neg", x)
            x = add("Softmax", add(self.activations[n], x), axis=self.axes[n])
        add("Identity", x, output="y")
        ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", _SIZE]) for name in ("x", *self.outputs)]
        weights = [numpy_helper.from_array(w, f"{self.prefix}w{n}") for n, w in enumerate(self.weights)]
        graph = helper.make_graph(nodes, "main", ports[:1], ports[1:], weights)
        opsets = [helper.make_opsetid("", 17)]
        onnx.save(helper.make_model(graph, opset_imports=opsets, producer_name=self.producer), path)
        return cir.load(path)


def _reported(differences: Differences) -> list[tuple[str, str, str]]:
    """The operations that differ, but for those with other names: in which way, what, and what it is called."""
    return [
        (d.kind, d.operation or d.other_operation, d.name or d.other_name)
        for d in differences.operations
        if d.kind != "renamed"
    ]


def test_names_of_values_make_no_difference(tmp_path: Path) -> None:
    other = Chain()
    other.prefix = "other."
    difference = api.diff(Chain().save(tmp_path / "a.onnx"), other.save(tmp_path / "b.onnx"))
    assert difference.are_same
    assert (difference.same_operations, difference.same_weights) == (15, 4)
    assert len(difference.of_kind("renamed")) == 12


def test_inserted_operation_is_all_that_differs(tmp_path: Path) -> None:
    other = Chain()
    other.inserted = 1
    difference = api.diff(Chain().save(tmp_path / "a.onnx"), other.save(tmp_path / "b.onnx"))
    assert _reported(difference) == [("changed", "onnx.Relu", "4"), ("added", "onnx.Neg", "4")]
    assert difference.operations[0].changes == (Change("X", "3", "4"),)
    assert difference.same_weights == 4


def test_inserted_layer_is_reported_with_its_weight(tmp_path: Path) -> None:
    difference = api.diff(Chain().save(tmp_path / "a.onnx"), Chain(5).save(tmp_path / "b.onnx"))
    added = [(d.other_operation, d.other_name) for d in difference.of_kind("added")]
    assert added == [("onnx.initializer", "w4"), ("onnx.MatMul", "12"), ("onnx.Relu", "13"), ("onnx.Softmax", "14")]
    assert [d.changes for d in difference.of_kind("changed")] == [(Change("input", "11", "14"),)]


def test_attribute_is_reported_on_both_sides(tmp_path: Path) -> None:
    other = Chain()
    other.axes[2] = 0
    difference = api.diff(Chain().save(tmp_path / "a.onnx"), other.save(tmp_path / "b.onnx"))
    assert _reported(difference) == [("changed", "onnx.Softmax", "8")]
    assert difference.operations[0].changes == (Change("axis", "1 : i64", "0 : i64"),)


def test_operation_that_became_another_one_is_one_difference(tmp_path: Path) -> None:
    other = Chain()
    other.activations[1] = "Sigmoid"
    difference = api.diff(Chain().save(tmp_path / "a.onnx"), other.save(tmp_path / "b.onnx"))
    assert _reported(difference) == [("changed", "onnx.Relu", "4")]
    assert difference.operations[0].changes == (Change("operation", "onnx.Relu", "onnx.Sigmoid"),)


def test_weights_are_reported_with_how_far_they_are_apart(tmp_path: Path) -> None:
    first, other = Chain(), Chain()
    other.weights[2] = other.weights[2].copy()
    other.weights[2][3, 4] += 0.5
    a, b = first.save(tmp_path / "a.onnx"), other.save(tmp_path / "b.onnx")
    (weight,) = api.diff(a, b, measure=True).weights
    expected = np.abs(first.weights[2].astype(np.float64) - other.weights[2]).max()
    assert (weight.name, weight.beyond, weight.largest) == ("w2", 1, expected)
    assert weight.relative == expected / np.abs(first.weights[2]).max()
    assert api.diff(a, b, tolerance=0.5).are_same
    assert not api.diff(a, b, tolerance=0.01).are_same


def test_weights_are_known_by_their_use_whatever_they_are_called(tmp_path: Path) -> None:
    other = Chain()
    other.prefix = "other."
    other.weights[1] = -other.weights[1]
    difference = api.diff(Chain().save(tmp_path / "a.onnx"), other.save(tmp_path / "b.onnx"))
    assert [(w.name, w.other_name) for w in difference.weights] == [("w1", "other.w1")]
    assert difference.same_weights == 3


def test_interface_and_what_files_say_are_distinguished(tmp_path: Path) -> None:
    first, other = Chain(), Chain()
    first.producer, other.producer = "one", "two"
    a = first.save(tmp_path / "a.onnx")
    difference = api.diff(a, other.save(tmp_path / "b.onnx"))
    assert difference.are_same
    assert difference.about == (Change("producer", "one", "two"),)
    other.outputs.append("0")
    difference = api.diff(a, other.save(tmp_path / "b.onnx"))
    assert difference.interface == (Change("output '0' of main", "", 'tensor<"N"x16xf32>'),)


def test_order_of_operations_makes_no_difference(tmp_path: Path) -> None:
    def saved(name: str, *, is_reversed: bool) -> Module:
        kinds = ["Relu", "Neg", "Abs", "Exp", "Sqrt"]
        nodes = [helper.make_node(kind, ["x"], [f"v{n}"]) for n, kind in enumerate(kinds)]
        nodes = nodes[::-1] if is_reversed else nodes
        nodes.append(helper.make_node("Sum", [f"v{n}" for n in range(len(kinds))], ["y"]))
        ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [3]) for n in ("x", "y")]
        graph = helper.make_graph(nodes, "main", ports[:1], ports[1:])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), tmp_path / name)
        return cir.load(tmp_path / name)

    difference = api.diff(saved("a.onnx", is_reversed=False), saved("b.onnx", is_reversed=True))
    assert difference.are_same
    assert not difference.operations


@pytest.mark.parametrize("network", ["bert_fp16", "gpt2_fp32", "resnet_fp32", "unet_flexible_size_fp16"])
def test_one_other_weight_is_found_in_a_network(network: str) -> None:
    program = model(network)
    fault = with_other_weight(program, 0.6)
    difference = api.diff(program, fault.program)
    users = [u.results[0].name for op in program.nested() for r in op.results for u in r.users if _is(op, difference)]
    assert len(difference.weights) == 1
    assert fault.name in users
    assert not _reported(difference)


def _is(op: Operation, differences: Differences) -> bool:
    return bool(op.results) and op.results[0].name == differences.weights[0].name


@pytest.mark.parametrize("network", ["bert_fp16", "convnext_fp32"])
def test_one_other_operation_is_found_in_a_network(network: str) -> None:
    program = model(network)
    fault = with_other_operation(program, 0.5, "mil.gelu", "mil.relu")
    difference = api.diff(program, fault.program)
    changed = [(d.operation, d.other_operation) for d in difference.of_kind("changed")]
    assert ("mil.gelu", "mil.relu") in changed
    assert not difference.weights


@pytest.mark.parametrize("network", ["llama_stateful_fp16", "control_iOS18", "detector_iOS15"])
def test_program_and_its_copy_are_the_same(network: str) -> None:
    program = model(network)
    difference = api.diff(program, copy_of(program))
    assert difference.are_same
    assert not difference.operations
    assert not difference.about


def test_programs_in_shuffled_order_with_new_names_are_the_same(tmp_path: Path) -> None:
    """A random graph of many equal operations: what stands for what follows from the wiring alone."""
    rng = random.Random(7)
    nodes: list[tuple[str, list[str], str]] = []
    known = ["x"]
    for n in range(120):
        kind = rng.choice(["Add", "Mul", "Relu"])
        inputs = [rng.choice(known) for _ in range(1 if kind == "Relu" else 2)]
        nodes.append((kind, inputs, f"v{n}"))
        known.append(f"v{n}")
    nodes.append(("Sum", known[1:], "y"))
    order = _shuffled(nodes, rng)
    names = {name: f"t{n}" for n, (_, _, name) in enumerate(order)} | {"x": "x", "y": "y"}
    renamed = [(kind, [names[i] for i in inputs], names[name]) for kind, inputs, name in order]
    difference = api.diff(_graph(nodes, tmp_path / "a.onnx"), _graph(renamed, tmp_path / "b.onnx"))
    assert difference.are_same


def _shuffled(nodes: list[tuple[str, list[str], str]], rng: random.Random) -> list[tuple[str, list[str], str]]:
    """Another order in which every operation comes behind what it uses."""
    left, done, out = list(nodes), {"x"}, list[tuple[str, list[str], str]]()
    while left:
        node = rng.choice([n for n in left if done.issuperset(n[1])])
        left.remove(node)
        done.add(node[2])
        out.append(node)
    return out


def _graph(nodes: list[tuple[str, list[str], str]], path: Path) -> Module:
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [3]) for n in ("x", "y")]
    result = [helper.make_node(kind, inputs, [name]) for kind, inputs, name in nodes]
    graph = helper.make_graph(result, "main", ports[:1], ports[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return cir.load(path)


def test_blocks_inside_of_operations_are_compared() -> None:
    text = """
    func.func @f(%n: index, %x: f32) -> f32 {{
      %a = arith.constant 0 : index
      %b = arith.constant 1 : index
      %r = scf.for %i = %a to %n step %b iter_args(%v = %x) -> (f32) {{
        %w = arith.{kind} %v, %x : f32
        scf.yield %w : f32
      }}
      return %r : f32
    }}"""
    a, b = (cir.loads(text.format(kind=kind), format="mlir") for kind in ("addf", "mulf"))
    difference = api.diff(a, b)
    assert [(d.kind, d.operation, d.other_operation) for d in difference.operations] == [
        ("changed", "arith.addf", "arith.mulf")
    ]
    assert difference.compared_as == "mlir"


def test_programs_of_two_formats_are_compared_in_the_core(tmp_path: Path) -> None:
    a = Chain().save(tmp_path / "a.onnx")
    difference = api.diff(a, cir.loads(cir.dumps(cir.lower(a), format="mlir"), format="mlir"))
    assert difference.formats == ("onnx", "core")
    assert difference.compared_as == "core"
    assert difference.are_same
    assert difference.same_weights == 4


def test_integers_of_64_bits_are_apart_by_one(tmp_path: Path) -> None:
    def saved(name: str, last: int) -> Module:
        values = np.array([1, 2, 3, 2**62 + last] * 10, np.int64)
        port = helper.make_tensor_value_info("y", TensorProto.INT64, [40])
        node = helper.make_node("Identity", ["w"], ["y"])
        graph = helper.make_graph([node], "main", [], [port], [numpy_helper.from_array(values, "w")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), tmp_path / name)
        return cir.load(tmp_path / name)

    (weight,) = api.diff(saved("a.onnx", 0), saved("b.onnx", 1), measure=True).weights
    assert (weight.largest, weight.beyond) == (1.0, 10)


def test_command_reports_and_its_status_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = command_lines(capsys)
    other = Chain()
    other.activations[1] = "Sigmoid"
    Chain().save(tmp_path / "a.onnx")
    other.save(tmp_path / "b.onnx")
    a, b = str(tmp_path / "a.onnx"), str(tmp_path / "b.onnx")
    same = run("diff", a, a)
    assert same.status == ExitStatus.YES
    assert same.out.splitlines() == [
        "onnx against onnx, compared as onnx: the same",
        "operations: 15 the same",
        "weights: 4 the same, 0 different",
    ]
    done = run("diff", a, b)
    assert done.status == ExitStatus.NO
    assert "onnx.Relu -> onnx.Sigmoid" in done.out
    assert "onnx.Sigmoid" not in run("diff", a, b, "--summary").out
    document = json.loads(run("diff", a, b, "--json").out)
    assert (document["schema"], document["ok"]) == ("commonir.diff/1", False)
    assert document["result"]["operations"][0]["changes"] == [
        {"what": "operation", "before": "onnx.Relu", "after": "onnx.Sigmoid"}
    ]


def test_operators_of_libraries_are_known_by_their_names() -> None:
    difference = api.diff(api.library("onnx"), api.library("core"))
    pairs = [
        (d.name, d.other_name)
        for d in difference.operations
        if d.operation == d.other_operation == "common_ir.operator"
    ]
    assert pairs == [("call", "call")]
    reported = {(d.kind, d.name or d.other_name) for d in difference.operations}
    assert {("removed", "AffineGrid"), ("added", "all_reduce")} <= reported


def test_functions_of_other_names_are_known_by_what_they_hold() -> None:
    negated = "func.func @{} (%x: f32) -> f32 {{ %y = arith.negf %x : f32  return %y : f32 }}"
    added = "func.func @{} (%x: f32) -> f32 {{ %y = arith.addf %x, %x : f32  return %y : f32 }}"
    texts = negated.format("a") + added.format("b"), added.format("c") + negated.format("d")
    difference = api.diff(*[cir.loads(text, format="mlir") for text in texts])
    assert {(d.name, d.other_name) for d in difference.operations if d.operation == "func.func"} == {
        ("a", "d"),
        ("b", "c"),
    }


def test_small_constant_is_reported_by_its_user() -> None:
    text = (
        "func.func @f(%x: f32) -> f32 {{ %c = arith.constant {} : f32  %y = arith.addf %x, %c : f32  return %y : f32 }}"
    )
    difference = api.diff(*[cir.loads(text.format(n), format="mlir") for n in ("1.5", "2.5")])
    assert [(d.name, d.changes) for d in difference.operations] == [("y", (Change("rhs", "1.5", "2.5"),))]
    assert difference.same_operations == 2  # the function and its return


def test_half_precision_changes_types_and_adds_casts_at_the_borders() -> None:
    program = model("pixel_shuffle_fp32")
    half = cir.convert(program, "coreml", precision="float16")
    difference = api.diff(program, half)
    assert {d.other_operation for d in difference.of_kind("added")} == {"mil.cast"}
    assert not difference.of_kind("removed")
    for entry in difference.of_kind("changed"):
        assert {change.what for change in entry.changes} <= {"x", "type", "values"}


def test_operand_that_one_program_leaves_out_shifts_no_others() -> None:
    older = model("convolution_iOS17")
    # By way of the core, which leaves out what is the default.
    newer = cir.convert(cir.lower(older), "coreml", target="iOS15")
    changes = {change for entry in api.diff(older, newer).of_kind("changed") for change in entry.changes}
    assert {c.after for c in changes if c.what == "dilations"} == {"default"}
    assert not {c for c in changes if c.what == "groups"}


def test_only_function_is_compared_with_the_entry_function_of_the_other_program() -> None:
    functions = cir.load(MODELS / "kinds/functions.mlpackage")
    one = cir.convert(functions, "coreml", function="triple")
    pairs = [(d.name, d.other_name) for d in api.diff(one, functions).operations if d.operation == "mil.func"]
    assert pairs == [("main", "triple")]
