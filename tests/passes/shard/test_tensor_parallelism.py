"""Tensor parallelism on small programs: which weights are divided how, where the sums stand, and what comes out.

Expected results are computed here with numpy.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import commonir as cir
from commonir.base.codes import CANNOT_BE_DIVIDED, DIVIDED, NOTHING_DIVIDED
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.ir.module import Module

from tests.passes.shard.programs import (
    Array,
    constant,
    constants,
    divided,
    drawn,
    maker,
    move,
    program,
    run_divided,
    sums,
    user,
)

X = drawn(4, 6)
W1, B1, W2, B2 = drawn(6, 8, seed=1), drawn(8, seed=2), drawn(8, 6, seed=3), drawn(6, seed=4)
MLP = [
    constant("w1", W1),
    constant("b1", B1),
    constant("w2", W2),
    constant("b2", B2),
    "%p = core.matmul %x, %w1 : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>",
    "%q = core.add %p, %b1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>",
    "%r = core.relu %q : tensor<4x8xf32>",
    "%s = core.matmul %r, %w2 : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>",
    "%y = core.add %s, %b2 : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>",
]


def _mlp() -> Module:
    return program(MLP, {"x": "tensor<4x6xf32>"}, {"y": "tensor<4x6xf32>"})


def _mlp_result(x: Array = X) -> Array:
    return np.maximum(x @ W1 + B1, 0) @ W2 + B2


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_perceptron_on_ranks_computes_what_it_does_alone(ranks: int) -> None:
    result = run_divided(_mlp(), ranks, {"x": X})
    assert_allclose(result["y"], _mlp_result(), rtol=1e-5, atol=1e-5)


def test_first_product_is_divided_by_columns_and_second_by_rows() -> None:
    sharded, reported = divided(_mlp(), 4)
    assert [f.symbol_name for f in core.ranks_of(sharded)] == ["rank0", "rank1", "rank2", "rank3"]
    for f in core.ranks_of(sharded):
        assert constants(f) == {"w1": (6, 2), "b1": (2,), "w2": (2, 6), "b2": (6,)}
    (finding,) = reported
    assert finding.code is DIVIDED
    assert finding.message == "2 of 2 products are divided among 4 ranks, with 1 sum over the ranks"
    assert finding.notes == (
        "w1 tensor<6x8xf32>: by columns, 48 bytes on each rank",
        "w2 tensor<8x6xf32>: by rows, 48 bytes on each rank",
        "each rank holds 128 of 440 bytes of constants",
    )


def test_each_rank_has_its_own_columns_and_rows() -> None:
    sharded, _ = divided(_mlp(), 4)
    for rank, f in enumerate(core.ranks_of(sharded)):
        stored = {op.y.name: op.value.array() for op in f.walk() if isinstance(op, core.Constant)}
        np.testing.assert_array_equal(stored["w1"], W1[:, 2 * rank : 2 * rank + 2])
        np.testing.assert_array_equal(stored["b1"], B1[2 * rank : 2 * rank + 2])
        np.testing.assert_array_equal(stored["w2"], W2[2 * rank : 2 * rank + 2])
        np.testing.assert_array_equal(stored["b2"], B2)


def test_sum_stands_between_the_second_product_and_its_bias() -> None:
    sharded, _ = divided(_mlp(), 2)
    (result,) = sums(sharded)
    assert isinstance(maker(result.x), core.MatMul)
    bias = user(result.y)
    assert isinstance(bias, core.Add)
    assert bias.result.name == "y"


def test_source_is_not_touched() -> None:
    module = _mlp()
    before = str(module)
    divided(module, 2)
    assert str(module) == before


def test_sizes_that_do_not_divide_leave_the_whole_on_each_rank_and_are_reported() -> None:
    sharded, reported = divided(_mlp(), 3)
    assert sums(sharded) == []
    (finding,) = reported
    assert finding.code is NOTHING_DIVIDED
    assert finding.message == "nothing could be divided: each of 3 ranks computes the whole program"
    assert "w2 tensor<8x6xf32>: whole, 192 bytes; 8 does not divide by 3" in finding.notes
    assert_allclose(run_divided(_mlp(), 3, {"x": X})["y"], _mlp_result(), rtol=1e-5, atol=1e-5)


def test_product_without_partner_stays_whole_and_is_reported() -> None:
    module = program(
        [
            *MLP,
            constant("w3", drawn(6, 4)),
            "%z = core.matmul %y, %w3 : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>",
        ],
        {"x": "tensor<4x6xf32>"},
        {"z": "tensor<4x4xf32>"},
    )
    sharded, reported = divided(module, 2)
    assert len(sums(sharded)) == 1
    assert constants(core.ranks_of(sharded)[0])["w3"] == (6, 4)
    (finding,) = reported
    assert any(n.startswith("w3 tensor<6x4xf32>: whole, 96 bytes; ") for n in finding.notes)


def test_linear_with_bias_is_written_out_so_that_its_bias_is_added_once() -> None:
    lines = [
        constant("w1", W1.T),
        constant("b1", B1),
        constant("w2", W2.T),
        constant("b2", B2),
        (
            '%p = "core.linear"(%x, %w1, %b1) <{operandSegmentSizes = array<i32: 1, 1, 1>}> :'
            " (tensor<4x6xf32>, tensor<8x6xf32>, tensor<8xf32>) -> tensor<4x8xf32>"
        ),
        "%r = core.relu %p : tensor<4x8xf32>",
        (
            '%y = "core.linear"(%r, %w2, %b2) <{operandSegmentSizes = array<i32: 1, 1, 1>}> :'
            " (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<4x6xf32>"
        ),
    ]
    module = program(lines, {"x": "tensor<4x6xf32>"}, {"y": "tensor<4x6xf32>"})
    sharded, _ = divided(module, 2)
    assert len(sums(sharded)) == 1
    assert_allclose(run_divided(module, 2, {"x": X})["y"], _mlp_result(), rtol=1e-5, atol=1e-5)


def test_two_branches_that_are_added_are_summed_over_the_ranks_once() -> None:
    lines = [
        *MLP[:4],
        "%p = core.matmul %x, %w1 : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>",
        "%q = core.tanh %p : tensor<4x8xf32>",
        "%r = core.relu %p : tensor<4x8xf32>",
        "%s = core.matmul %q, %w2 : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>",
        "%t = core.matmul %r, %w2 : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>",
        "%y = core.add %s, %t : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>",
    ]
    module = program(lines, {"x": "tensor<4x6xf32>"}, {"y": "tensor<4x6xf32>"})
    sharded, _ = divided(module, 2)
    assert len(sums(sharded)) == 1
    expected = np.tanh(X @ W1) @ W2 + np.maximum(X @ W1, 0) @ W2
    assert_allclose(run_divided(module, 2, {"x": X})["y"], expected, rtol=1e-5, atol=1e-5)


def test_convolutions_are_divided_by_channels() -> None:
    x, k1, k2 = drawn(1, 3, 5, 5), drawn(4, 3, 3, 3, seed=1), drawn(2, 4, 3, 3, seed=2)
    lines = [
        constant("k1", k1),
        constant("k2", k2),
        "%p = core.conv %x, %k1 : (tensor<1x3x5x5xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x3x3xf32>",
        "%q = core.relu %p : tensor<1x4x3x3xf32>",
        "%y = core.conv %q, %k2 : (tensor<1x4x3x3xf32>, tensor<2x4x3x3xf32>) -> tensor<1x2x1x1xf32>",
    ]
    module = program(lines, {"x": "tensor<1x3x5x5xf32>"}, {"y": "tensor<1x2x1x1xf32>"})
    sharded, _ = divided(module, 2)
    assert constants(core.ranks_of(sharded)[1]) == {"k1": (2, 3, 3, 3), "k2": (2, 2, 3, 3)}
    assert len(sums(sharded)) == 1
    hidden = np.zeros((4, 3, 3))
    for h, w in np.ndindex(3, 3):
        hidden[:, h, w] = np.maximum(np.einsum("cij,fcij->f", x[0, :, h : h + 3, w : w + 3], k1), 0)
    expected = np.einsum("chw,fchw->f", hidden, k2).reshape(1, 2, 1, 1)
    assert_allclose(run_divided(module, 2, {"x": x})["y"], expected, rtol=1e-4, atol=1e-4)


class Attention:
    """Attention of 3 positions with heads of 4 elements, of which some share a head of keys and values.

    The queries, keys and values come out of one product, as in GPT-2, or of one each.
    """

    def __init__(self, heads: int, key_heads: int, *, is_fused: bool = False) -> None:
        self.heads, self.key_heads = heads, key_heads
        widths = (heads * 4, key_heads * 4, key_heads * 4)
        self.x = drawn(3, 6)
        self.weights = [drawn(6, n, seed=5 + k) for k, n in enumerate(widths)]
        self.biases = [drawn(n, seed=8 + k) for k, n in enumerate(widths)]
        self.out = drawn(heads * 4, 6, seed=11)
        self.lines = [constant("out", self.out)]
        if is_fused:
            self._fused(widths)
        else:
            for name, weight, bias in zip("qkv", self.weights, self.biases, strict=True):
                self.lines += _product(f"w{name}", weight, bias, f"{name}0")
        self._heads()
        self.module = program(self.lines, {"x": "tensor<3x6xf32>"}, {"y": "tensor<3x6xf32>"})

    def _fused(self, widths: tuple[int, int, int]) -> None:
        fused, bias, whole = np.concatenate(self.weights, 1), np.concatenate(self.biases), sum(widths)
        kinds = ", ".join([f"tensor<3x{n}xf32>" for n in widths])
        sizes = ", ".join(map(str, widths))
        attributes = f"<{{axis = 1 : i64, sizes = array<i64: {sizes}>}}>"
        self.lines += _product("fused", fused, bias, "a")
        self.lines.append(f'%q0, %k0, %v0 = "core.split"(%a) {attributes} : (tensor<3x{whole}xf32>) -> ({kinds})')

    def _heads(self) -> None:
        h, g = self.heads, self.key_heads
        many, few = f"3x{h}x4", f"3x{g}x{h // g}x4"
        self.lines += [
            move("q1", "reshape", "q0", f"3x{h * 4}", many),
            move("q", "transpose", "q1", many, f"{h}x3x4", "perm", "1, 0, 2"),
        ]
        for n in "kv":
            self.lines += [
                move(f"{n}1", "reshape", f"{n}0", f"3x{g * 4}", f"3x{g}x1x4"),
                move(f"{n}2", "broadcast_to", f"{n}1", f"3x{g}x1x4", few),
                move(f"{n}3", "reshape", f"{n}2", few, many),
                move(n, "transpose", f"{n}3", many, f"{h}x3x4", "perm", "1, 0, 2"),
            ]
        kind = f"tensor<{h}x3x4xf32>"
        self.lines += [
            (
                '%c = "core.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> :'
                f" ({kind}, {kind}, {kind}) -> {kind}"
            ),
            move("c1", "transpose", "c", f"{h}x3x4", many, "perm", "1, 0, 2"),
            move("c2", "reshape", "c1", many, f"3x{h * 4}"),
            f"%y = core.matmul %c2, %out : (tensor<3x{h * 4}xf32>, tensor<{h * 4}x6xf32>) -> tensor<3x6xf32>",
        ]

    def result(self) -> Array:
        """Returns what it computes."""
        q, k, v = (self.x @ w + b for w, b in zip(self.weights, self.biases, strict=True))
        q = q.reshape(3, self.heads, 4).swapaxes(0, 1)
        repeats = self.heads // self.key_heads
        k, v = (np.repeat(t.reshape(3, self.key_heads, 4), repeats, 1).swapaxes(0, 1) for t in (k, v))
        scores = np.exp(q @ k.swapaxes(1, 2) / 2)
        context = scores / scores.sum(-1, keepdims=True) @ v
        return context.swapaxes(0, 1).reshape(3, -1) @ self.out

    def check(self, ranks: int) -> None:
        """Asks that ranks compute it with one sum over them."""
        assert len(sums(divided(self.module, ranks)[0])) == 1
        assert_allclose(run_divided(self.module, ranks, {"x": self.x})["y"], self.result(), rtol=1e-4, atol=1e-5)


def _product(name: str, weight: Array, bias: Array, result: str) -> list[str]:
    n = weight.shape[1]
    return [
        constant(name, weight),
        constant(f"{name}_bias", bias),
        f"%{result}_p = core.matmul %x, %{name} : (tensor<3x6xf32>, tensor<6x{n}xf32>) -> tensor<3x{n}xf32>",
        f"%{result} = core.add %{result}_p, %{name}_bias : (tensor<3x{n}xf32>, tensor<{n}xf32>) -> tensor<3x{n}xf32>",
    ]


@pytest.mark.parametrize(("heads", "ranks"), [(4, 2), (4, 4), (6, 3), (8, 4)])
def test_heads_of_attention_are_divided_also_out_of_one_product(heads: int, ranks: int) -> None:
    attention = Attention(heads, heads, is_fused=True)
    width = heads * 4 // ranks
    stored = constants(core.ranks_of(divided(attention.module, ranks)[0])[0])
    assert stored == {"fused": (6, 3 * width), "fused_bias": (3 * width,), "out": (width, 6)}
    attention.check(ranks)


def test_each_rank_has_queries_keys_and_values_of_its_heads() -> None:
    attention = Attention(4, 4, is_fused=True)
    sharded, _ = divided(attention.module, 2)
    for rank, f in enumerate(core.ranks_of(sharded)):
        stored = {op.y.name: op.value.array() for op in f.walk() if isinstance(op, core.Constant)}
        expected = np.concatenate([w[:, rank * 8 : rank * 8 + 8] for w in attention.weights], 1)
        np.testing.assert_array_equal(stored["fused"], expected)


def test_fewer_heads_of_keys_are_divided_where_ranks_allow_it() -> None:
    attention = Attention(8, 2)
    stored = constants(core.ranks_of(divided(attention.module, 2)[0])[0])
    assert (stored["wq"], stored["wk"], stored["wv"], stored["out"]) == ((6, 16), (6, 4), (6, 4), (16, 6))
    attention.check(2)


def test_fewer_key_heads_than_ranks_are_replicated_and_each_rank_slices_them() -> None:
    attention = Attention(8, 2)
    sharded, reported = divided(attention.module, 4)
    stored = constants(core.ranks_of(sharded)[0])
    assert (stored["wq"], stored["wk"], stored["wv"], stored["out"]) == ((6, 8), (6, 8), (6, 8), (8, 6))
    (finding,) = reported
    assert "wk tensor<6x8xf32>: whole, 192 bytes; core.reshape 'k3' cannot be divided in 4 parts" in finding.notes
    attention.check(4)


@pytest.mark.parametrize("ranks", [2, 4])
def test_queries_keys_and_values_of_different_sizes_from_one_product_are_split(ranks: int) -> None:
    attention = Attention(8, 2, is_fused=True)
    before = str(attention.module)
    attention.check(ranks)
    assert str(attention.module) == before
    _, reported = divided(attention.module, ranks)
    (finding,) = reported
    products = [note.partition(" tensor")[2].partition(",")[0] for note in finding.notes[:-1]]
    how = "by columns" if ranks == 2 else "whole"
    assert products == ["<6x32xf32>: by columns", f"<6x8xf32>: {how}", f"<6x8xf32>: {how}", "<32x6xf32>: by rows"]


def test_sizes_that_are_not_known_are_not_a_hindrance() -> None:
    lines = [line.replace("tensor<4x", "tensor<?x") for line in MLP]
    module = program(lines, {"x": "tensor<?x6xf32>"}, {"y": "tensor<?x6xf32>"})
    sharded, _ = divided(module, 2)
    assert len(sums(sharded)) == 1
    assert constants(core.ranks_of(sharded)[0]) == {"w1": (6, 4), "b1": (4,), "w2": (4, 6), "b2": (6,)}
    for rows in (3, 5):
        x = drawn(rows, 6)
        assert_allclose(run_divided(module, 2, {"x": x})["y"], _mlp_result(x), rtol=1e-5, atol=1e-5)
        inputs: Array = cir.run(sharded, {"x": x})["rank1.y"]
        assert_allclose(inputs, _mlp_result(x), rtol=1e-5, atol=1e-5)


def test_operation_that_only_passes_on_its_operand_is_not_a_hindrance() -> None:
    clip = '%r0 = "core.clip"(%r) <{low = 0xFFF0000000000000 : f64, high = 0x7FF0000000000000 : f64}>'
    lines = [
        *MLP[:-2],
        f"{clip} : (tensor<4x8xf32>) -> tensor<4x8xf32>",
        "%s = core.matmul %r0, %w2 : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>",
        MLP[-1],
    ]
    module = program(lines, {"x": "tensor<4x6xf32>"}, {"y": "tensor<4x6xf32>"})
    assert len(sums(divided(module, 2)[0])) == 1
    assert_allclose(run_divided(module, 2, {"x": X})["y"], _mlp_result(), rtol=1e-5, atol=1e-5)


def test_value_that_is_an_output_too_stays_whole() -> None:
    module = program(MLP, {"x": "tensor<4x6xf32>"}, {"y": "tensor<4x6xf32>", "r": "tensor<4x8xf32>"})
    result = run_divided(module, 2, {"x": X})
    assert_allclose(result["r"], np.maximum(X @ W1 + B1, 0), rtol=1e-5, atol=1e-5)
    assert_allclose(result["y"], _mlp_result(), rtol=1e-5, atol=1e-5)


def test_what_runs_conditionally_is_whole_on_each_rank() -> None:
    lines = [
        *MLP,
        '%z = "core.if"(%c) ({',
        '  "core.yield"(%y) : (tensor<4x6xf32>) -> ()',
        "}, {",
        '  "core.yield"(%x) : (tensor<4x6xf32>) -> ()',
        "}) : (tensor<i1>) -> tensor<4x6xf32>",
    ]
    module = program(lines, {"x": "tensor<4x6xf32>", "c": "tensor<i1>"}, {"z": "tensor<4x6xf32>"})
    for c, expected in ((True, _mlp_result()), (False, X)):
        result = run_divided(module, 2, {"x": X, "c": np.asarray(c)})
        assert_allclose(result["z"], expected, rtol=1e-5, atol=1e-5)


def _remembering() -> Module:
    """The perceptron, with a state that what it gives is added to."""
    lines = [
        *MLP,
        "%held = ml_program.global_load @sum : tensor<4x6xf32>",
        "%z = core.add %held, %y : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>",
        "ml_program.global_store @sum = %z : tensor<4x6xf32>",
    ]
    body = "\n".join(lines)
    return cir.loads(
        "ml_program.global private mutable @sum(dense<0.0> : tensor<4x6xf32>) : tensor<4x6xf32>\n"
        'ml_program.func @main(%x: tensor<4x6xf32>) -> (tensor<4x6xf32>) attributes {result_names = ["z"]} {\n'
        f"{body}\nml_program.return %z : tensor<4x6xf32>\n}}",
        format="mlir",
    )


def test_each_rank_keeps_the_states_of_the_program() -> None:
    module, state = _remembering(), cir.State()
    assert len(sums(divided(module, 2)[0])) == 1
    for n in (1, 2, 3):
        inputs: Array = cir.run(module, {"x": X}, ranks=2, state=state)["z"]
        preserved: Array = state["sum"]
        assert_allclose(inputs, n * _mlp_result(), rtol=1e-4, atol=1e-4)
        assert_allclose(preserved, n * _mlp_result(), rtol=1e-4, atol=1e-4)
        assert list(state) == ["sum"]


def test_program_with_states_is_not_divided_by_its_batch() -> None:
    with pytest.raises(DiagnosticError) as error:
        cir.shard(_remembering(), 2, "data")
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code is CANNOT_BE_DIVIDED
    assert diagnostic.message == "the batch cannot be divided: a state, 'sum', is kept between runs"


def test_random_numbers_without_a_seed_are_refused() -> None:
    lines = [
        '%s = "core.dims"() <{values = array<i64: 4, 6>}> : () -> tensor<2xi64>',
        '%d = "core.random_uniform"(%s) : (tensor<2xi64>) -> tensor<4x6xf32>',
        "%y = core.add %x, %d : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>",
    ]
    module = program(lines, {"x": "tensor<4x6xf32>"}, {"y": "tensor<4x6xf32>"})
    with pytest.raises(DiagnosticError) as error:
        cir.shard(module, 2)
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code is CANNOT_BE_DIVIDED
    assert diagnostic.message == "core.random_uniform draws other numbers on each rank"


def test_program_of_ranks_is_not_divided_again() -> None:
    sharded, _ = divided(_mlp(), 2)
    for act in (lambda: cir.shard(sharded, 2), lambda: cir.run(sharded, {"x": X}, ranks=2)):
        with pytest.raises(DiagnosticError) as error:
            act()
        assert error.value.diagnostics[0].code is CANNOT_BE_DIVIDED


def test_more_ranks_than_anybody_has_are_refused() -> None:
    with pytest.raises(DiagnosticError) as error:
        cir.shard(_mlp(), 100_000)
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code is CANNOT_BE_DIVIDED
    assert diagnostic.message == "100000 ranks are more than 1024, each of which has a function"


@pytest.mark.parametrize(("ranks", "parallel"), [(0, "tensor"), (2, "tensr")])
def test_wrong_ways_to_divide_are_reported(ranks: int, parallel: str) -> None:
    with pytest.raises(DiagnosticError):
        cir.shard(_mlp(), ranks, parallel)
