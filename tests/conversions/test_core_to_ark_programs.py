"""Programs as ARK models: inputs, outputs, weights, ranks; and refusals, all of them at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import commonir as cir
from commonir.base.diagnostics import Diagnostics
from commonir.base.safetensors import read_safetensors
from commonir.conversions.core_to_ark import core_to_ark
from commonir.dialects import ark, core
from commonir.ir.data import data_of
from commonir.ir.interface import Metadata, set_metadata
from commonir.ir.module import Module
from commonir.ir.operation import Operation, Value
from commonir.ir.types import TensorType, boolean, f8e5m2, f32, f64, i16, i64, tensor
from commonir.passes.straight_line import MOST_OPERATIONS
from commonir.symbolic import symbol

from tests.conversions.programs import Build, core_module, running_total
from tests.conversions.running_ark import Array, as_given, operations, written

KIND = tensor(f32, 2, 3)


def _refused(build: Build, inputs: Mapping[str, TensorType]) -> list[tuple[str, str]]:
    """The messages of a refusal, each with its first note."""
    with pytest.raises(cir.DiagnosticError) as error:
        core_to_ark(core_module(build, inputs), Diagnostics())
    assert {d.code.id for d in error.value.diagnostics} == {"E0601"}
    return [(d.message, d.notes[0] if d.notes else "") for d in error.value.diagnostics]


def test_everything_that_cannot_be_expressed_is_reported() -> None:
    def build(x: Value) -> list[Value]:
        return [core.non_zero(x), core.add(core.top_k(x, 2)[0], core.scalar(1.0, f32)), core.argsort(x)]

    assert _refused(build, {"x": KIND}) == [
        (f"core.{name} cannot be expressed in ark", f"no rule takes core.{name}, and it cannot be expanded")
        for name in ("non_zero", "top_k", "argsort")
    ]


def test_part_of_an_expanded_operation_names_it() -> None:
    kinds = {
        "x": tensor(f32, MOST_OPERATIONS, 1, 3),
        "w": tensor(f32, 1, 2, 3),
        "r": tensor(f32, 1, 2, 2),
        "h": tensor(f32, 1, 1, 2),
    }
    message, _ = _refused(lambda x, w, r, h: core.rnn(x, w, r, initial_h=h)[0], kinds)[0]
    assert message == "core.scan (part of core.rnn) cannot be expressed in ark"


@pytest.mark.parametrize(
    ("build", "kind", "message", "note"),
    [
        (
            core.exp,
            tensor(f8e5m2, 2),
            "input 'x' of tensor<2xf8E5M2> cannot be expressed in ark",
            "ARK has no f8E5M2; it has f32, f16, bf16, i32, ui32, i8, ui8",
        ),
        (
            core.exp,
            tensor(f32, 1, 2, 1, 2, 1),
            "input 'x' of tensor<1x2x1x2x1xf32> cannot be expressed in ark",
            "ARK has at most 4 axes, found 5",
        ),
        (
            core.exp,
            tensor(f32, 0, 2),
            "input 'x' of tensor<0x2xf32> cannot be expressed in ark",
            "ARK has no tensors without elements",
        ),
        (
            lambda x: core.reshape(x, (1, 2, 1, 3, 1)),
            KIND,
            "output 'y0' of tensor<1x2x1x3x1xf32> cannot be expressed in ark",
            "ARK has at most 4 axes, found 5",
        ),
        (
            lambda x: core.pow(x, x),
            KIND,
            "core.pow cannot be expressed in ark",
            "ARK has powers of constant exponents only, which are one number",
        ),
        (
            lambda x: core.add(x, core.constant(data_of(i64, (), [1 << 40]))),
            tensor(i64, 2),
            "core.add cannot be expressed in ark",
            "a constant does not fit into integers of 32 bits",
        ),
    ],
)
def test_what_ark_lacks_is_refused(build: Build, kind: TensorType, message: str, note: str) -> None:
    assert _refused(build, {"x": kind}) == [(message, note)]


def test_sizes_that_are_not_fixed_are_refused_by_name() -> None:
    kind = TensorType(f32, (symbol("batch"), 3))
    with pytest.raises(cir.DiagnosticError) as error:
        core_to_ark(core_module(core.exp, {"x": kind}), Diagnostics())
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.message == "ARK has fixed sizes only, and those named batch are not"
    assert diagnostic.help == "fix each with `--set-dim NAME=SIZE`"


def test_sizes_are_fixed_by_the_surface(tmp_path: Path) -> None:
    module = core_module(core.exp, {"x": TensorType(f32, (symbol("batch"), 3))})
    converted = cir.convert(module, "ark", dims={"batch": 2})
    assert [str(v.type) for v in _rank(converted).inputs] == ["tensor<2x3xf32>"]


def _rank(module: Module, number: int = 0) -> ark.Rank:
    rank = list(module.body.operations)[number]
    assert isinstance(rank, ark.Rank)
    return rank


def test_names_and_weights(tmp_path: Path) -> None:
    weight = core.constant(data_of(f32, (3, 2), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
    weight.name = "layer.weight"
    module = core_module(lambda x: core.matmul(x, weight), {"input.1": KIND}, ["logits"])
    module = written(core_to_ark(module, Diagnostics()), tmp_path)
    rank = _rank(module)
    assert [ark.port_name(v) for v in rank.inputs] == ["input.1"]
    assert rank.output_names == ("logits",)
    weights = read_safetensors(tmp_path / "net.ark.safetensors")
    assert {name: a.tolist() for name, a in weights.items()} == {"layer.weight": [[1, 2], [3, 4], [5, 6]]}
    assert cir.run(module, {"input.1": np.ones((2, 3), np.float32)})["logits"].tolist() == [[9, 12], [9, 12]]


def test_a_weight_is_transposed_when_it_is_written(tmp_path: Path) -> None:
    def build(x: Value) -> Value:
        weight = core.constant(data_of(f32, (2, 3), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
        return core.add(core.transpose(weight, (1, 0)), x)

    module = written(core_to_ark(core_module(build, {"x": tensor(f32, 3, 2)}), Diagnostics()), tmp_path)
    assert operations(module) == ["Add"]
    assert cir.run(module, {"x": np.zeros((3, 2), np.float32)})["y0"].tolist() == [[1, 4], [2, 5], [3, 6]]


def test_an_input_that_nothing_needs_stays(tmp_path: Path) -> None:
    module = core_module(lambda x, y: core.exp(y), {"x": KIND, "y": KIND})
    module = written(core_to_ark(module, Diagnostics()), tmp_path)
    assert operations(module) == ["Exp", "Noop"]
    assert sorted(ark.port_name(v) for v in _rank(module).inputs) == ["x", "y"]


def test_other_types_of_inputs_and_outputs_are_reported() -> None:
    def build(n: Value, c: Value, x: Value, m: Value) -> list[Value]:
        return [core.add(n, n), core.logical_not(c), core.exp(x), core.neg(m)]

    lost = Diagnostics()
    core_to_ark(
        core_module(build, {"n": tensor(i64, 2), "c": tensor(boolean, 2), "x": tensor(f64, 2), "m": tensor(i16, 2)}),
        lost,
    )
    assert [(d.code.id, d.message) for d in lost] == [
        ("N0601", "the input 'n' changes from i64 to i32: ARK has no i64"),
        ("N0601", "the input 'c' changes from i1 to ui8: ARK has no i1"),
        ("N0601", "the input 'x' changes from f64 to f32: ARK has no f64"),
        ("N0601", "the input 'm' changes from i16 to i32: ARK has no i16"),
        ("N0601", "the output 'y0' changes from i64 to i32: ARK has no i64"),
        ("N0601", "the output 'y1' changes from i1 to ui8: ARK has no i1"),
        ("N0601", "the output 'y2' changes from f64 to f32: ARK has no f64"),
        ("N0601", "the output 'y3' changes from i16 to i32: ARK has no i16"),
    ]


@pytest.mark.parametrize("generation", [1, 2, 3, 4])
def test_every_generation_is_written(generation: int, tmp_path: Path) -> None:
    module = core_module(lambda x, w: core.softmax(core.matmul(x, w), -1), {"x": KIND, "w": tensor(f32, 3, 4)})
    x, w = np.eye(2, 3, dtype=np.float32), np.arange(12, dtype=np.float32).reshape(3, 4)
    converted = written(cir.convert(module, "ark", opset=generation), tmp_path)
    assert _rank(converted).generation == f"v{generation}"
    e = np.exp(x @ w - (x @ w).max(-1, keepdims=True))
    np.testing.assert_allclose(_run(converted, {"x": x, "w": w})["y0"], e / e.sum(-1, keepdims=True), rtol=1e-6)


def test_conversion_is_deterministic() -> None:
    def build(x: Value) -> Value:
        return core.layer_norm(core.concat((x, core.exp(x)), 0))

    first, second = [cir.dumps(core_to_ark(core_module(build, {"x": KIND}), Diagnostics())) for _ in range(2)]
    assert first == second


def test_numbers_of_a_file_are_dense_and_in_order(tmp_path: Path) -> None:
    def build(x: Value) -> list[Value]:
        parts = core.split(core.concat((x, core.exp(x)), 0), 0, (1, 3))
        return [core.neg(parts[0]), core.transpose(parts[1], (1, 0))]

    rank = _rank(written(core_to_ark(core_module(build, {"x": KIND}), Diagnostics()), tmp_path))
    views = [op for op in rank.body.operations if isinstance(op, ark.HoldsView)]
    buffers = list(dict.fromkeys([v.buffer for v in views]))
    assert buffers == list(range(len(buffers)))
    numbers = [_number(op) for op in rank.body.operations]
    assert numbers == list(range(len(numbers)))
    assert all(list(ids) == sorted(ids) for ids in (*rank.producers, *rank.consumers))


def _number(op: Operation) -> int:
    match op:
        case ark.Tensor(tensor_id=number) | ark.ArkOp(result_id=number):
            return number
        case _:
            return -1


def test_what_files_have_no_place_for_is_reported() -> None:
    module = core_module(core.exp, {"x": KIND})
    set_metadata(module, Metadata(author="me", license="MIT"))
    lost = Diagnostics()
    result = core_to_ark(module, lost)
    assert [(d.code.id, d.message) for d in lost] == [
        ("W0601", "ARK files have no place for metadata: author, license")
    ]
    set_metadata(result, Metadata(author="me"))
    with pytest.raises(cir.DiagnosticError, match="no place for metadata, such as a description"):
        cir.dumps(result)


def test_a_state_becomes_an_input_and_an_output(tmp_path: Path) -> None:
    lost = Diagnostics()
    module = written(core_to_ark(running_total(), lost), tmp_path)
    assert [(d.code.id, d.message) for d in lost] == [
        ("N0601", "state 'total' becomes the input 'total' and the output 'total_out'")
    ]
    result = _run(module, {"x": np.ones(2, np.float32), "total": np.array([1, 2], np.float32)})
    assert {n: v.tolist() for n, v in result.items()} == {"y": [2, 3], "total_out": [2, 3]}


# -- ranks


def _ranks(builds: list[Build], inputs: Mapping[str, TensorType]) -> Module:
    """A program of ranks, each of the same inputs."""
    module = Module()
    for n, build in enumerate(builds):
        function = core_module(build, inputs, name=f"rank{n}").main
        function.detach()
        core.set_rank(function, n, len(builds))
        module.body.append(function)
    return module


def _run(module: Module, inputs: Mapping[str, Array]) -> dict[str, Any]:
    return dict(cir.run(module, {name: as_given(a) for name, a in inputs.items()}))


@pytest.mark.parametrize("count", [2, 3, 4])
def test_sum_of_all_ranks(count: int, tmp_path: Path) -> None:
    module = _ranks([lambda x: core.all_reduce(core.mul(x, core.scalar(2.0, f32)))] * count, {"x": KIND})
    path = written(core_to_ark(module, Diagnostics()), tmp_path)
    ring = ["Send", "SendDone", "Recv", "Add"] * (count - 1)
    assert operations(path) == ["ScalarMul", "Copy", *ring]
    x = np.random.default_rng(0).standard_normal((count, 2, 3)).astype(np.float32)
    result = _run(path, {f"rank{n}.x": x[n] for n in range(count)})
    for n in range(count):
        expected = x[n] * 2
        for k in range(1, count):
            expected = expected + x[n - k] * 2
        assert np.array_equal(result[f"rank{n}.y0"], expected), n


def test_tags_are_those_that_ark_picks() -> None:
    result = core_to_ark(_ranks([core.all_reduce] * 2, {"x": KIND}), Diagnostics())
    tags = [v.send_tags for v in _rank(result).body.operations if isinstance(v, ark.HoldsView) and v.send_tags]
    assert tags[0] == ((1, -(2**31)),)
    assert ((-1, 1 - 2**31),) in tags


_MESSAGES = """
ml_program.func @rank0(%x: tensor<2x3xf32>) -> tensor<2x3xf32>
    attributes {core.rank = 0 : i64, core.world_size = 2 : i64, result_names = ["y"]} {
  %t = "core.transpose"(%x) <{perm = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  "core.send"(%t) <{destination = 1 : i64, tag = 7 : i64}> : (tensor<3x2xf32>) -> ()
  "core.barrier"() : () -> ()
  %y = "core.exp"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  ml_program.return %y : tensor<2x3xf32>
}
ml_program.func @rank1(%x: tensor<2x3xf32>) -> tensor<3x2xf32>
    attributes {core.rank = 1 : i64, core.world_size = 2 : i64, result_names = ["y"]} {
  "core.barrier"() : () -> ()
  %r = "core.recv"() <{element = f32, shape = array<i64: 3, 2>, source = 0 : i64, tag = 7 : i64}>
    : () -> tensor<3x2xf32>
  %s = "core.all_reduce"(%r) : (tensor<3x2xf32>) -> tensor<3x2xf32>
  ml_program.return %s : tensor<3x2xf32>
}
"""


def test_messages_between_ranks(tmp_path: Path) -> None:
    text = _MESSAGES.replace('  %s = "core.all_reduce"(%r) : (tensor<3x2xf32>) -> tensor<3x2xf32>\n', "")
    module = cir.loads(text.replace("return %s", "return %r"), format="mlir")
    path = written(core_to_ark(module, Diagnostics()), tmp_path)
    assert operations(path) == ["Transpose", "Send", "SendDone", "ScalarAssign", "DeviceSync", "Noop", "Exp"]
    x = np.random.default_rng(0).standard_normal((2, 2, 3)).astype(np.float32)
    result = _run(path, {"rank0.x": x[0], "rank1.x": x[1]})
    assert np.array_equal(result["rank1.y"], x[0].T)


def test_tags_of_sums_come_after_those_of_messages() -> None:
    result = core_to_ark(cir.loads(_MESSAGES, format="mlir"), Diagnostics())
    tags = {t for v in _rank(result, 1).body.operations if isinstance(v, ark.HoldsView) for _, t in v.send_tags}
    assert tags == {7, 8, 9}
