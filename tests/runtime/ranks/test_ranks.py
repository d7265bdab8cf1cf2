"""Programs of several ranks in one process: messages, order, deadlocks, failures, limits and names."""

from __future__ import annotations

import threading
import time
from _thread import interrupt_main

import numpy as np
import pytest

import commonir as cir
from commonir.api import default_engine
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.dialects import core
from commonir.dialects.core.communication import rank_of, set_rank
from commonir.ir.types import f32, tensor
from commonir.ods import Op, traits
from commonir.runtime.engine import EngineOptions

from tests.conversions.programs import core_module
from tests.passes.rank_programs import program, recv, send
from tests.runtime.ranks.programs import (
    DTYPES,
    FOREVER,
    all_reduce_program,
    all_reduced,
    deadlock_program,
    drawn,
    given,
    parsed,
    pipeline_program,
    pipelined,
    ring_program,
)

ENGINES = ("numpy", "reference")


def refused(text: str, **options: object) -> list[Diagnostic]:
    """Returns what a run of a program is refused for."""
    with pytest.raises(DiagnosticError) as error:
        cir.run(parsed(text), **options)  # pyright: ignore[reportArgumentType]  of many types
    return list(error.value.diagnostics)


# -- values


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("world", [2, 4, 8])
def test_ring_gives_the_sums_of_each_rank_in_its_order(world: int, engine: str) -> None:
    tensors = drawn(world)
    outputs = cir.run(parsed(ring_program(world)), given(tensors), engine=engine)
    assert list(outputs) == [f"rank{n}.y" for n in range(world)]
    for n, expected in enumerate(all_reduced(tensors)):
        np.testing.assert_array_equal(outputs[f"rank{n}.y"], expected, strict=True)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("element", DTYPES)
@pytest.mark.parametrize("world", [2, 4, 8])
def test_all_reduce_has_the_bits_of_sums_in_ring_order_rounded_after_each(
    world: int, element: str, engine: str
) -> None:
    tensors = drawn(world, (3, 5), DTYPES[element])
    outputs = cir.run(parsed(all_reduce_program(world, f"3x5x{element}")), given(tensors), engine=engine)
    for n, expected in enumerate(all_reduced(tensors)):
        np.testing.assert_array_equal(outputs[f"rank{n}.y"], expected, strict=True)


@pytest.mark.parametrize("engine", ENGINES)
def test_all_reduce_has_the_bits_of_the_expanded_ring(engine: str) -> None:
    tensors = drawn(4, (64,))
    folded = cir.run(parsed(all_reduce_program(4, "64xf32")), given(tensors), engine=engine)
    expanded = cir.run(parsed(ring_program(4, "64xf32")), given(tensors), engine=engine)
    for name, array in expanded.items():
        np.testing.assert_array_equal(folded[name], array, strict=True)


def test_integers_wrap_around_in_an_all_reduce() -> None:
    text = all_reduce_program(2, "2xi8")
    outputs = cir.run(parsed(text), {"x": np.array([100, -100], np.int8)})
    np.testing.assert_array_equal(outputs["rank1.y"], np.array([-56, 56], np.int8), strict=True)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("world", [2, 3, 5])
def test_pipeline_passes_on_what_each_rank_adds(world: int, engine: str) -> None:
    tensors = drawn(world)
    outputs = cir.run(parsed(pipeline_program(world)), given(tensors), engine=engine)
    for n, expected in enumerate(pipelined(tensors)):
        np.testing.assert_allclose(np.asarray(outputs[f"rank{n}.y"], np.float32), expected, rtol=1e-6)


def test_messages_of_a_tag_come_in_order_and_tags_in_any() -> None:
    # -2147483648 is the first tag that ARK chooses by itself.
    tags = (5, -2147483648, 5, 0)
    first = ["%two = core.add %x, %x : tensor<4xf32>", "%three = core.add %two, %x : tensor<4xf32>"]
    first += ["%four = core.add %two, %two : tensor<4xf32>"]
    first += [send(v, 1, tag) for v, tag in zip(("%x", "%two", "%three", "%four"), tags, strict=True)]
    first += ["%y = core.add %x, %x : tensor<4xf32>"]
    taken = [("%a", 0), ("%b", 5), ("%c", -2147483648), ("%d", 5)]
    second = [recv(name, 0, tag) for name, tag in taken]
    # 4 - 1 * 2 - 3 and so on gives each place.
    second += [
        "%ab = core.sub %a, %b : tensor<4xf32>",
        "%abc = core.mul %ab, %c : tensor<4xf32>",
        "%y = core.sub %abc, %d : tensor<4xf32>",
    ]
    x = np.array([1, 2, 3, -1], np.float32)
    outputs = cir.run(parsed(program([first, second])), {"x": x})
    np.testing.assert_array_equal(outputs["rank1.y"], (4 * x - x) * (2 * x) - 3 * x)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_sent_in_half_precision_is_rounded_to_it(engine: str) -> None:
    # 2048 + 1 is not a number of half precision; in single precision 1 would be left.
    text = program(
        [
            ["%s = core.add %x, %x : tensor<1xf16>", "%y = core.mul %x, %x : tensor<1xf16>", send("%y", 1, 0, "1xf16")],
            [recv("%r", 0, 0, "1xf16"), "%y = core.sub %r, %x : tensor<1xf16>"],
        ],
        "1xf16",
    )
    x = np.array([45.28], np.float16)
    square = (x.astype(np.float32) ** 2).astype(np.float16)
    outputs = cir.run(parsed(text), {"x": x}, engine=engine)
    np.testing.assert_array_equal(outputs["rank1.y"], square - x, strict=True)


def test_what_is_sent_is_the_tensor_at_that_time() -> None:
    array = np.array([1, 2, 3, 4], np.float32)
    text = program([[send("%x", 1, 0), "%y = core.add %x, %x : tensor<4xf32>"], [recv("%y", 0, 0)]])
    program_ = cir.prepare(parsed(text))
    first = program_.run({"rank0.x": array, "rank1.x": array})
    array += 1
    np.testing.assert_array_equal(first["rank1.y"], [1, 2, 3, 4])


def test_ranks_communicate_within_loops() -> None:
    def lines(rank: int) -> list[str]:
        return [
            "%from = arith.constant 0 : index",
            "%to = arith.constant 5 : index",
            "%by = arith.constant 1 : index",
            "%y = scf.for %i = %from to %to step %by iter_args(%held = %x) -> (tensor<4xf32>) {",
            "  " + send("%held", 1 - rank, 0),
            "  " + recv("%r", 1 - rank, 0),
            f"  %next = core.{'add' if rank else 'sub'} %held, %r : tensor<4xf32>",
            "  scf.yield %next : tensor<4xf32>",
            "}",
        ]

    tensors = drawn(2)
    outputs = cir.run(parsed(program([lines(0), lines(1)])), given(tensors))
    a, b = tensors
    for _ in range(5):
        a, b = a - b, b + a
    # Sums and differences in single precision have one result only.
    np.testing.assert_array_equal(outputs["rank0.y"], a, strict=True)
    np.testing.assert_array_equal(outputs["rank1.y"], b, strict=True)


def test_barrier_is_passed_by_all_ranks_together() -> None:
    lines = ["core.barrier", "%a = core.all_reduce %x : tensor<4xf32>", "core.barrier", "core.barrier"]
    text = program([[*lines, "%y = core.add %a, %x : tensor<4xf32>"]] * 3)
    outputs = cir.run(parsed(text), {"x": np.ones(4, np.float32)})
    np.testing.assert_array_equal(outputs["rank2.y"], np.full(4, 4, np.float32))


def test_program_runs_many_times() -> None:
    prepared = cir.prepare(parsed(all_reduce_program(3)))
    for n in range(3):
        result = prepared.run({f"rank{r}.x": np.full(4, n + r, np.float32) for r in range(3)})
        np.testing.assert_array_equal(result["rank1.y"], np.full(4, 3 * n + 3, np.float32))


def test_steps_give_each_rank_its_parts() -> None:
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    result = cir.run_steps(parsed(all_reduce_program(2)), {"rank0.x": x, "rank1.x": x[0]}, steps=2)
    np.testing.assert_array_equal(result.outputs["rank0.y"], [x[0] + x[0], x[1] + x[0]])


def test_each_rank_keeps_states_of_its_own() -> None:
    body = """
      %held = ml_program.global_load @sum : tensor<4xf32>
      %y = core.add %held, %x : tensor<4xf32>
      ml_program.global_store @sum = %y : tensor<4xf32>"""
    text = program([[body], [body]]).replace(
        "module {", "module {\n  ml_program.global private mutable @sum(dense<0.0> : tensor<4xf32>) : tensor<4xf32>"
    )
    state = cir.State()
    prepared = cir.prepare(parsed(text), state=state)
    one = np.ones(4, np.float32)
    prepared.run({"rank0.x": one, "rank1.x": 2 * one})
    result = prepared.run({"rank0.x": one, "rank1.x": 2 * one})
    assert (result["rank0.y"][0], result["rank1.y"][0]) == (2.0, 4.0)
    assert {name: x[0] for name, x in state.items()} == {"rank0.sum": 2.0, "rank1.sum": 4.0}
    with pytest.raises(DiagnosticError, match=r"no rank has the state 'rank2\.sum'"):
        cir.prepare(parsed(text), state=cir.State({"rank2.sum": one}))


# -- ranks that cannot go on


def test_deadlock_of_two_ranks_names_both_and_the_circle() -> None:
    (diagnostic,) = refused(deadlock_program(2))
    assert diagnostic.code.id == "E0717"
    assert diagnostic.message == "ranks 0 and 1 wait for each other, and none can go on"
    assert diagnostic.notes == (
        "rank 0 waits for rank 1, tag 7: core.recv at rank0.operations[0] 'r'",
        "rank 1 waits for rank 0, tag 7: core.recv at rank1.operations[0] 'r'",
        "cycle: rank 0 -> rank 1 -> rank 0",
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_deadlock_of_three_ranks_names_the_circle(engine: str) -> None:
    (diagnostic,) = refused(deadlock_program(3), engine=engine)
    assert diagnostic.message == "ranks 0, 1 and 2 wait for each other, and none can go on"
    assert diagnostic.notes[-1] == "cycle: rank 0 -> rank 1 -> rank 2 -> rank 0"


def test_rank_outside_of_a_cycle_is_reported_and_not_in_it() -> None:
    waits = [recv("%y", 1, 3)]
    bodies = [waits, [recv("%y", 2, 3)], [recv("%y", 1, 4)]]
    (diagnostic,) = refused(program(bodies))
    assert diagnostic.message == "ranks 1 and 2 wait for each other, and none can go on"
    assert diagnostic.notes[0].startswith("rank 0 waits for rank 1, tag 3")


def test_waiting_for_a_rank_that_has_ended_reports_what_was_sent_instead() -> None:
    bodies = [[send("%x", 1, 1), "%y = core.add %x, %x : tensor<4xf32>"], [recv("%y", 0, 2)]]
    (diagnostic,) = refused(program(bodies))
    assert diagnostic.message == "rank 1 waits for what never comes"
    assert diagnostic.notes == (
        "rank 1 waits for rank 0, tag 2, which has ended: core.recv at rank1.operations[0] 'y'",
        "sent, and not received: rank 0 to rank 1, tag 1",
    )


def test_barrier_that_a_rank_does_not_reach_is_reported() -> None:
    together = ["core.barrier", "%y = core.add %x, %x : tensor<4xf32>"]
    (diagnostic,) = refused(program([together, together[1:], together]))
    assert diagnostic.code.id == "E0717"
    assert (
        diagnostic.notes[0]
        == "rank 0 waits for rank 1, which has ended: core.barrier at rank0.operations[0] core.barrier"
    )


def test_rank_that_waits_for_itself_is_reported() -> None:
    (diagnostic,) = refused(program([[recv("%y", 0, 0)], ["%y = core.add %x, %x : tensor<4xf32>"]]))
    assert diagnostic.notes[-1] == "cycle: rank 0 -> rank 0"


def test_rank_that_fails_ends_all_with_its_finding() -> None:
    fails = [
        "%no = arith.constant false",
        'cf.assert %no, "it does not hold"',
        "%y = core.all_reduce %x : tensor<4xf32>",
    ]
    (diagnostic,) = refused(program([["%y = core.all_reduce %x : tensor<4xf32>"], fails, fails[2:]]))
    assert (diagnostic.code.id, diagnostic.message) == ("E0716", "it does not hold")
    assert diagnostic.where.startswith("rank1.")


def test_message_of_another_shape_is_refused() -> None:
    bodies = [[send("%x", 1, 0), "%y = core.add %x, %x : tensor<4xf32>"], [recv("%y", 0, 0), recv("%z", 0, 0, "2xf32")]]
    bodies[0].append(send("%x", 1, 0))
    (diagnostic,) = refused(program(bodies))
    assert diagnostic.code.id == "E0708"
    assert diagnostic.message == "core.recv: expected tensor<2xf32> from rank 0, tag 0, was sent tensor<4xf32>"


@pytest.mark.slow
def test_time_limit_ends_all_and_reports_who_waits() -> None:
    before = time.monotonic()
    text = program([["%y = core.all_reduce %x : tensor<4xf32>"], [*FOREVER, "%y = core.all_reduce %x : tensor<4xf32>"]])
    (diagnostic,) = refused(text, options=EngineOptions(time_limit_seconds=1))
    assert time.monotonic() - before < 20
    assert diagnostic.code.id == "E0711"
    assert diagnostic.notes == (
        "rank 0 waits for rank 1, an all-reduce: core.all_reduce at rank0.operations[0] 'y'",
        "rank 1 computes",
    )


@pytest.mark.slow
def test_interrupt_ends_at_once_and_reports_who_waits() -> None:
    text = program([["%y = core.all_reduce %x : tensor<4xf32>"], [*FOREVER, "%y = core.all_reduce %x : tensor<4xf32>"]])
    prepared = cir.prepare(parsed(text), options=EngineOptions(time_limit_seconds=30))
    x = np.ones(4, np.float32)
    timer = threading.Timer(1, interrupt_main)
    timer.start()
    before = time.monotonic()
    with pytest.raises(KeyboardInterrupt) as error:
        prepared.run({"rank0.x": x, "rank1.x": x})
    assert time.monotonic() - before < 20
    assert error.value.__notes__[0].startswith("rank 0 waits for rank 1, an all-reduce")
    # Nothing goes on in the background.
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("rank")]


# -- names and what is refused before anything runs


def test_input_of_one_rank_goes_before_that_of_all() -> None:
    outputs = cir.run(parsed(all_reduce_program(2)), {"x": np.zeros(4, np.float32), "rank1.x": np.ones(4, np.float32)})
    np.testing.assert_array_equal(outputs["rank0.y"], np.ones(4, np.float32))


def test_random_inputs_of_one_name_and_type_are_the_same_on_all_ranks() -> None:
    drawn_ = cir.random_inputs(parsed(all_reduce_program(2)), seed=3)
    assert list(drawn_) == ["rank0.x", "rank1.x"]
    np.testing.assert_array_equal(drawn_["rank0.x"], drawn_["rank1.x"])


def test_batch_is_divided_among_ranks_that_exchange_nothing() -> None:
    whole = core_module(core.neg, {"x": tensor(f32, 4, 3)}, ["y"])
    ranks = cir.shard(whole, 2, "data")
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    outputs = cir.run(ranks, {"x": x})
    np.testing.assert_array_equal(outputs["rank0.y"], -x[:2])
    np.testing.assert_array_equal(outputs["rank1.y"], -x[2:])
    own = cir.run(ranks, {"x": x, "rank1.x": x[:2]})
    np.testing.assert_array_equal(own["rank1.y"], -x[:2])
    with pytest.raises(DiagnosticError) as caught:
        cir.run(ranks, {"x": x[:3]})
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == "the input 'x' has the shape [3, 3], and each of 2 ranks takes [2, 3]"
    assert "the parts of all ranks joined along one axis" in (diagnostic.help or "")


def test_batch_is_not_divided_among_ranks_that_exchange_parts_of_sums() -> None:
    text = all_reduce_program(2)
    (name, array), *_ = given(drawn(2)).items()
    plain = name.partition(".")[2]
    with pytest.raises(DiagnosticError, match="each of 2 ranks takes") as caught:
        cir.run(parsed(text), {plain: np.concatenate([array, array])})
    assert "or each rank its own" in str(caught.value.diagnostics[0])


def test_edits_change_all_ranks_or_one() -> None:
    program = cir.shard(core_module(core.neg, {"x": tensor(f32, 4, 3)}, ["y"]), 2, "data")
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    renamed = cir.edit(program, rename={"x": "image", "y": "negative"})
    assert [rank_of(f) for f in renamed.functions.values()] == [(0, 2), (1, 2)]
    outputs = cir.run(renamed, {"image": x})
    np.testing.assert_array_equal(outputs["rank1.negative"], -x[2:])
    one = cir.edit(program, rename={"x": "image"}, function="rank1")
    assert [f.inputs.names for f in one.functions.values()] == [("x",), ("image",)]


def test_unknown_input_is_refused_with_the_nearest_name() -> None:
    (diagnostic,) = refused(all_reduce_program(2), inputs={"rank0.y": np.zeros(4, np.float32)})
    assert (diagnostic.code.id, diagnostic.message) == ("E0702", "no rank has the input 'rank0.y'")
    assert diagnostic.help == "did you mean 'rank0.x' or 'rank1.x'?"


def test_missing_rank_is_refused() -> None:
    text = all_reduce_program(2).replace("core.world_size = 2", "core.world_size = 4")
    (diagnostic,) = refused(text)
    assert diagnostic.code.id == "E0709"
    assert diagnostic.message == "the program has 4 ranks, but ranks 2, 3 are missing"


def test_function_of_one_rank_is_not_run_alone() -> None:
    (diagnostic,) = refused(all_reduce_program(2), function="rank1")
    assert diagnostic.code.id == "E0709"


def test_receiver_that_is_not_a_rank_is_refused() -> None:
    (diagnostic,) = refused(program([[send("%x", 2, 0), recv("%y", 1, 0)], [send("%x", 0, 0), recv("%y", 0, 0)]]))
    assert diagnostic.message == "core.send: there is no rank 2: the program has 2"


def test_engine_without_ranks_refuses() -> None:
    (diagnostic,) = refused(all_reduce_program(2), engine="onnxruntime")
    assert diagnostic.message == "the engine 'onnxruntime' cannot run programs of several ranks"


@pytest.mark.parametrize("engine", ENGINES)
def test_program_of_one_rank_has_plain_names_and_nobody_to_wait_for(engine: str) -> None:
    text = program([["core.barrier", "%y = core.all_reduce %x : tensor<4xf32>"]])
    outputs = cir.run(parsed(text), {"x": np.ones(4, np.float32)}, engine=engine)
    np.testing.assert_array_equal(outputs["y"], np.ones(4, np.float32))


@pytest.mark.parametrize("engine", ENGINES)
def test_receive_in_a_program_that_runs_as_one_is_refused(engine: str) -> None:
    (diagnostic,) = refused(program([[recv("%y", 0, 0)]]), engine=engine)
    assert diagnostic.code.id == "E0709"


# -- passes leave what communicates where it is


@pytest.mark.parametrize("name", ["simplify", "canonicalize", "cse", "inline", "sccp"])
def test_pass_neither_moves_nor_merges_nor_removes_what_communicates(name: str) -> None:
    lines = [
        "core.barrier",
        *[send("%x", 0, 0), send("%x", 1, 0)],
        *[recv("%a", 1, 0), recv("%b", 1, 0), recv("%unused", 1, 0)],
        "%c = core.all_reduce %a : tensor<4xf32>",
        "%d = core.all_reduce %a : tensor<4xf32>",
        "%known = arith.constant dense<1.0> : tensor<4xf32>",
        "%e = core.all_reduce %known : tensor<4xf32>",
        "core.barrier",
        "%f = core.add %c, %d : tensor<4xf32>",
        "%y = core.add %f, %e : tensor<4xf32>",
    ]
    before = parsed(program([lines, lines]))
    after = cir.optimize(before, passes=[name])
    for rank in range(2):
        assert communicating(after, rank) == communicating(before, rank)


def communicating(module: cir.Module, rank: int) -> list[str]:
    """The operations of a rank that communicate, in order."""
    result = module.functions[f"rank{rank}"].walk()
    return [op.name for op in result if isinstance(op, Op) and op.has_trait(traits.Communicates)]


def test_lowering_keeps_which_rank_a_function_is() -> None:
    module = parsed(program([[*FOREVER, "%y = core.all_reduce %x : tensor<4xf32>"]] * 2))
    assert [rank_of(f) for f in cir.lower(module).functions.values()] == [(0, 2), (1, 2)]
    set_rank(module.functions["rank0"], 1, 2)
    assert rank_of(module.functions["rank0"]) == (1, 2)


# -- comparisons


def test_engines_are_compared_by_the_outputs_of_all_ranks() -> None:
    comparison = cir.compare(parsed(all_reduce_program(3, "4xf16")))
    assert comparison.is_within
    assert comparison.engines == ("reference", default_engine())
    assert [value.name for value in comparison.values] == ["rank0.y", "rank1.y", "rank2.y"]
    assert comparison.values[0].rtol > 1e-4  # of half precision


def test_programs_of_ranks_that_differ_are_reported_by_output() -> None:
    text = pipeline_program(2)
    other = text.replace("core.add %r0, %x", "core.sub %r0, %x")
    comparison = cir.compare(parsed(text), parsed(other))
    assert not comparison.is_within
    assert [value.is_within for value in comparison.values] == [False, False]


def test_program_of_ranks_is_not_compared_with_one_of_other_ranks() -> None:
    with pytest.raises(DiagnosticError, match="different numbers of ranks"):
        cir.compare(parsed(all_reduce_program(2)), parsed(all_reduce_program(3)))


WHOLE = """
func.func @main(%x: tensor<4x2xf32>) -> (tensor<4x2xf32>) {
  %y = core.add %x, %x : tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}
"""


def test_ranks_are_compared_with_the_program_that_they_were_divided_from() -> None:
    whole = parsed(WHOLE)
    divided = cir.shard(whole, 2, "data")
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    for pair in ((whole, divided), (divided, whole)):
        comparison = cir.compare(*pair, {"x": x})
        assert comparison.is_within
        assert sorted(value.name for value in comparison.values) == ["rank0.y", "rank1.y"]
    wrong = parsed(WHOLE.replace("core.add %x, %x", "core.mul %x, %x"))
    comparison = cir.compare(wrong, divided, {"x": x})
    # |x * x - 2 x| is 3 at x = 3, the last of rank 0, and 35 at x = 7, the last of rank 1.
    assert {value.name: value.absolute for value in comparison.values} == {"rank0.y": 3, "rank1.y": 35}


def test_outputs_of_ranks_are_compared_with_stored_ones_of_the_whole_program() -> None:
    divided = cir.shard(parsed(WHOLE), 2, "data")
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    expected = {"y": x + x, "rank1.y": x[2:] + x[2:] + 1}  # a full name goes before
    comparison = cir.compare(divided, expected, {"rank0.x": x[:2], "rank1.x": x[2:]})
    assert {value.name: value.absolute for value in comparison.values} == {"rank0.y": 0, "rank1.y": 1}


def test_any_number_of_ranks_may_be_stated_and_only_some_are_listed() -> None:
    text = all_reduce_program(2).replace("core.world_size = 2", "core.world_size = 2147483647")
    (diagnostic,) = refused(text)
    missing = "2, 3, 4, 5, 6, 7, 8, 9 and 2147483637 more"
    assert diagnostic.message == f"the program has 2147483647 ranks, but ranks {missing} are missing"


def test_programs_are_not_compared_over_mpi() -> None:
    with pytest.raises(DiagnosticError, match="in one process"):
        cir.compare(parsed(all_reduce_program(2)), engines=["mpi", "numpy"])


@pytest.mark.parametrize("engine", ENGINES)
def test_all_reduce_of_sizes_known_only_from_inputs(engine: str) -> None:
    text = all_reduce_program(2, "?x2xf32")
    tensors = drawn(2, (3, 2))
    outputs = cir.run(parsed(text), given(tensors), engine=engine)
    np.testing.assert_array_equal(outputs["rank1.y"], tensors[1] + tensors[0], strict=True)


def test_all_reduce_of_other_sizes_on_each_rank_is_refused() -> None:
    with pytest.raises(DiagnosticError, match="E0708"):
        cir.run(parsed(all_reduce_program(2, "?x2xf32")), given([np.ones((n, 2), np.float32) for n in (3, 1)]))
