"""Messages that ranks add up are folded into all-reduces where they form one, and expanded again."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError
from commonir.cli.main import main
from commonir.dialects import ark, core
from commonir.formats.ark.builder import Program
from commonir.ir.data import data_of
from commonir.ir.module import Module
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import boolean, f32
from commonir.passes.definition import Passes
from commonir.passes.expand_all_reduce import expand_all_reduce
from commonir.passes.fold_all_reduce import Reasons, fold_all_reduce
from commonir.reports import RuleReport

from tests.formats.ark.model_files import exchange, text
from tests.passes.rank_programs import Array, add, program, recv, ring, run, send, summing


def _program(element: str) -> Module:
    module = cir.loads(element, format="mlir")
    assert cir.verify(module) == []
    return module


def _names(module: Module, rank: int = 0) -> list[str]:
    return [op.name.partition(".")[2] for op in module.functions[f"rank{rank}"].body.operations]


def _arrays(world: int, element: str, seed: int = 0) -> list[Array]:
    """Numbers of very different sizes, so that another order of additions gives other bits."""
    generator = np.random.default_rng(seed)
    dtype = np.float16 if element.endswith("xf16") else np.float32
    shape = [int(size) for size in element.split("x")[:-1]]
    return [
        (generator.normal(size=shape) * 4.0 ** generator.integers(-3, 3, shape)).astype(dtype) for _ in range(world)
    ]


@pytest.mark.parametrize("world", [2, 3, 4, 8])
@pytest.mark.parametrize("element", ["4xf32", "2x3xf16", "5xbf16", "3xi32"])
@pytest.mark.parametrize("rings", [1, 3])
def test_sum_of_all_ranks_is_one_all_reduce(world: int, element: str, rings: int) -> None:
    module = _program(summing(world, element, rings))
    assert fold_all_reduce(module) == rings
    for rank in range(world):
        square = ["cast", "cast", "mul", "cast"] if element.endswith("f16") else ["mul"]
        assert _names(module, rank) == [*square, *["all_reduce"] * rings, "return"]
    assert cir.verify(module) == []


@pytest.mark.parametrize("world", [1, 2, 3, 5])
@pytest.mark.parametrize("element", ["64xf32", "8x8xf16"])
def test_sums_are_the_same_bit_for_bit(world: int, element: str) -> None:
    inputs = _arrays(world, element)
    # The order that the definition of `core.all_reduce` states.
    expected: list[Array] = []
    squares = [(x.astype(np.float32) ** 2).astype(x.dtype) for x in inputs]
    for rank in range(world):
        total = squares[rank]
        for step in range(1, world):
            total = (total.astype(np.float32) + squares[(rank - step) % world].astype(np.float32)).astype(total.dtype)
        expected.append(total)
    lines = [*add("%p", "%x", "%x", element, "mul"), f"%y = core.all_reduce %p : tensor<{element}>"]
    folded = _program(program([lines] * world, element))
    expanded = _program(str(folded))
    assert expand_all_reduce(expanded) == 1
    assert "all_reduce" not in _names(expanded)
    for module in (folded, expanded):
        assert [y.tobytes() for y in run(module, inputs)] == [y.tobytes() for y in expected]
    assert fold_all_reduce(expanded) == (world > 1)
    if world > 1:
        assert str(expanded) == str(folded)


@pytest.mark.parametrize("engine", ["numpy", "reference"])
@pytest.mark.parametrize("element", ["16xf32", "4x4xf16"])
def test_engines_give_the_same_bits_for_both(engine: str, element: str) -> None:
    module = _program(summing(3, element, rings=2))
    inputs = {f"rank{rank}.x": x for rank, x in enumerate(_arrays(3, element))}
    folded = cir.optimize(module, passes=["fold-all-reduce"])
    expanded = cir.optimize(folded, passes=["expand-all-reduce"])
    assert _names(folded).count("all_reduce") == 2
    assert _names(expanded).count("send") == 4
    outputs = [cir.run(program, inputs, engine=engine) for program in (module, folded, expanded)]
    assert [y.tobytes() for y in outputs[1].values()] == [y.tobytes() for y in outputs[0].values()]
    assert [y.tobytes() for y in outputs[2].values()] == [y.tobytes() for y in outputs[0].values()]


def test_tags_of_the_program_are_not_used_again() -> None:
    bodies = [
        [
            *[send("%x", 1 - rank, 0), recv("%r", 1 - rank, 0), send("%r", 1 - rank, 2), recv("%s", 1 - rank, 2)],
            *["%a = core.all_reduce %s : tensor<4xf32>", "%y = core.all_reduce %a : tensor<4xf32>"],
        ]
        for rank in (0, 1)
    ]
    module = _program(program(bodies))
    assert expand_all_reduce(module) == 2
    sends = [op.tag for op in module.functions["rank0"].body.operations if isinstance(op, core.Send)]
    assert sends == [0, 2, 1, 3]


def test_order_of_operands_does_not_matter() -> None:
    result = summing(2).replace("core.add %p0, %y_r1", "core.add %y_r1, %p0")
    assert fold_all_reduce(_program(result)) == 1


def test_all_sends_may_come_first() -> None:
    bodies: list[list[str]] = []
    for rank in range(3):
        lines = ring(rank, 3, "%x")
        bodies.append([line for line in lines if "send" in line] + [line for line in lines if "send" not in line])
    assert fold_all_reduce(_program(program(bodies))) == 1


def test_sum_may_be_used_before_the_own_tensor_is_sent() -> None:
    late = [recv("%r", 0, 0), *add("%t", "%x", "%r"), *add("%y", "%t", "%t"), send("%x", 0, 1)]
    module = _program(program([[*ring(0, 2, "%x", "%t"), *add("%y", "%t", "%t")], late]))
    inputs = _arrays(2, "4xf32")
    expected = run(module, inputs)
    assert fold_all_reduce(module) == 1
    assert cir.verify(module) == []
    assert [y.tobytes() for y in run(module, inputs)] == [y.tobytes() for y in expected]


def test_own_tensor_may_be_used_otherwise() -> None:
    bodies = [
        [
            *[*ring(rank, 2, "%x", "%t"), send("%x", 1 - rank, 9), recv("%r", 1 - rank, 9)],
            *[*add("%u", "%x", "%t"), *add("%y", "%u", "%r")],
        ]
        for rank in (0, 1)
    ]
    module = _program(program(bodies))
    assert fold_all_reduce(module) == 1
    assert _names(module) == ["all_reduce", "send", "recv", "add", "add", "return"]


def _in_another_order(rank: int) -> str:
    bodies = [ring(r, 3, "%x") for r in range(3)]
    lines = [line for line in bodies[rank] if "core.add" not in line]
    bodies[rank] = [*lines, *add("%y1", "%x", "%y_r2"), *add("%y", "%y1", "%y_r1")]
    return program(bodies)


def _with_partial_sum_used() -> str:
    bodies = [ring(r, 3, "%x", "%t") for r in range(3)]
    return program([[*lines, *add("%y", "%t", "%t_t1")] for lines in bodies])


def _with_part_used() -> str:
    bodies = [ring(r, 3, "%x", "%t") for r in range(3)]
    return program([[*lines, *add("%y", "%t", "%t_r2")] for lines in bodies])


def _with_other_message_between() -> str:
    bodies: list[list[str]] = []
    for rank in (0, 1):
        first, *others = ring(rank, 2, "%x", "%t")
        more = [send("%x", 1 - rank, 7), recv("%o", 1 - rank, 7)]
        bodies.append([first, *more, *others, *add("%y", "%t", "%o")])
    return program(bodies)


def _with_another_tensor_sent() -> str:
    bodies = [ring(r, 3, "%x") for r in range(3)]
    lines = bodies[1]
    lines.insert(0, "%z = core.mul %x, %x : tensor<4xf32>")
    bodies[1] = [line.replace("send %x {destination = 0", "send %z {destination = 0") for line in lines]
    return program(bodies)


def _without_one_rank() -> str:
    """Ranks 0 and 1 of three add up among themselves; rank 2 does nothing."""
    return program([ring(0, 2, "%x"), ring(1, 2, "%x"), ["%y = core.neg %x : tensor<4xf32>"]])


@pytest.mark.parametrize("generation", ark.GENERATIONS)
def test_sum_of_files_of_ark_is_one_all_reduce(generation: str, tmp_path: Path) -> None:
    for rank in (0, 1):
        (tmp_path / f"net.rank{rank}.json").write_bytes(text(exchange(generation, rank), generation))
    lowered = cir.lower(cir.load(tmp_path / "net.rank0.json"))
    assert fold_all_reduce(lowered) == 1
    assert _names(lowered)[-2:] == ["all_reduce", "return"]


def test_folded_program_of_ark_becomes_files_of_the_same_sums(tmp_path: Path) -> None:
    program = Program(world_size=3)
    parts = [rank.op("Exp", rank.tensor((4, 5), "FP16", name="x")) for rank in program.ranks]
    for rank, total in zip(program.ranks, program.all_reduce(parts), strict=True):
        rank.output(total, "y")
    module = program.module()
    folded = cir.optimize(cir.lower(module), passes=["fold-all-reduce"])
    again = cir.convert(folded, "ark")
    cir.save(again, tmp_path / "net.ark.json")
    inputs = {f"rank{rank}.x": x for rank, x in enumerate(_arrays(3, "4x5xf16"))}
    expected = cir.run(module, inputs)
    for other in (folded, again, cir.load(tmp_path / "net.rank0.ark.json")):
        outputs = cir.run(other, inputs)
        assert {name: y.tobytes() for name, y in outputs.items()} == {n: y.tobytes() for n, y in expected.items()}
    assert fold_all_reduce(cir.lower(again)) == 1


NOT_FOLDED: list[tuple[Callable[[], str], str, str]] = [
    (
        lambda: _in_another_order(1),
        "the tensor of rank 2 is added where an all-reduce adds that of rank 0",
        "rank1.operations[3] 'y_r2'",
    ),
    (
        _with_partial_sum_used,
        "the tensor of rank 1 is not added, or a partial sum is used otherwise",
        "rank0.operations[1] 't_r1'",
    ),
    (
        _with_part_used,
        "the tensor of rank 1 is not added, or a partial sum is used otherwise",
        "rank0.operations[1] 't_r1'",
    ),
    (
        _with_other_message_between,
        "something else is exchanged between the messages of the sum",
        "rank0.operations[3] 't_r1'",
    ),
    (_with_another_tensor_sent, "other ranks do not form the sum that rank 0 forms", "rank0.operations[1] 'y_r1'"),
    (
        _without_one_rank,
        "the tensor of rank 1 is added where an all-reduce adds that of rank 2",
        "rank0.operations[1] 'y_r1'",
    ),
]


@pytest.mark.parametrize(("make", "reason", "where"), NOT_FOLDED)
def test_what_is_not_an_all_reduce_stays_and_is_reported(make: Callable[[], str], reason: str, where: str) -> None:
    module = _program(make())
    reports: list[RuleReport] = []
    after = cir.optimize(module, passes=["fold-all-reduce"], reports=reports)
    assert str(after) == str(module)
    assert [(r.name, r.applied) for r in reports] == [("fold-all-reduce", 0)]
    assert (reason, where) in [(m.reason, m.where) for m in reports[0].mismatches]


def _branching(rank: int, argument: Value, condition: Value) -> core.If:
    """The messages and the sum in one of two branches."""
    sums, other = Block(), Block()
    received = [core.Send(argument, 1 - rank, rank), core.Recv(1 - rank, 1 - rank, (4,), f32)]
    for op in received:
        sums.append(op)
    total = sums.append(core.Add(argument, received[1].results[0]))
    sums.append(core.Yield((total.result,)))
    other.append(core.Yield((argument,)))
    return core.If(condition, Region([sums]), Region([other]))


def test_messages_within_branches_stay() -> None:
    module = _program(program([["%y = core.neg %x : tensor<4xf32>"]] * 2))
    for rank, function in enumerate(module.functions.values()):
        first = function.body.first
        assert first is not None
        condition = function.body.insert_before(first, core.Constant(data_of(boolean, (), [1])))
        function.body.insert_before(first, _branching(rank, function.inputs[0], condition.result))
    assert cir.verify(module) == []
    reasons: Reasons = {}
    assert fold_all_reduce(module, reasons) == 0
    assert list(reasons) == ["messages are exchanged within branches or loops"]


NEVER = "ranks wait for each other forever"


def test_sums_in_several_orders_stay() -> None:
    """Ranks would wait for each other forever: such a program is left as it is."""
    square = "%z = core.mul %x, %x : tensor<4xf32>"
    for other, reason in (("%z", "ranks come to the sums in several orders"), ("%x", NEVER)):
        bodies: list[list[str]] = []
        for rank in (0, 1):
            sums = [ring(rank, 2, "%x", "%a"), ring(rank, 2, other, "%b", 2)]
            bodies.append([square, *sums[rank], *sums[1 - rank], *add("%y", "%a", "%b")])
        module = _program(program(bodies))
        with pytest.raises(RuntimeError, match="all ranks wait"):
            run(module, _arrays(2, "4xf32"))
        reasons: Reasons = {}
        assert fold_all_reduce(module, reasons) == 0
        assert reason in reasons


def test_missing_ranks_are_reported() -> None:
    module = _program(summing(3))
    module.functions["rank1"].detach()
    reasons: Reasons = {}
    assert fold_all_reduce(module, reasons) == 0
    assert list(reasons) == ["the functions are not those of all ranks"]


WRONG = [
    (["%y = core.all_reduce %x : tensor<4xf32>"], ["%y = core.neg %x : tensor<4xf32>"], "one rank has 1 all-reduces"),
    (
        ["%y = core.all_reduce %x : tensor<4xf32>"],
        [
            "%z = core.cast %x {to = f16} : (tensor<4xf32>) -> tensor<4xf16>",
            "%w = core.all_reduce %z : tensor<4xf16>",
            "%y = core.cast %w {to = f32} : (tensor<4xf16>) -> tensor<4xf32>",
        ],
        "all-reduce 0 is of tensor<4xf16>, that of the first rank of tensor<4xf32>",
    ),
]


@pytest.mark.parametrize(("first", "second", "message"), WRONG)
def test_ranks_of_other_all_reduces_are_refused(first: list[str], second: list[str], message: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        expand_all_reduce(_program(program([first, second])))
    assert caught.value.diagnostics[0].code.id == "E0601"
    assert caught.value.diagnostics[0].message.startswith(message)


def test_command_takes_files_of_ark_to_the_core_and_back(tmp_path: Path) -> None:
    program = Program(world_size=2)
    parts = [rank.op("Exp", rank.tensor((4,), name="x")) for rank in program.ranks]
    for rank, total in zip(program.ranks, program.all_reduce(parts), strict=True):
        rank.output(total, "y")
    cir.save(program.module("v2"), tmp_path / "net.ark.json")
    out, back = tmp_path / "core.mlir", tmp_path / "back.ark.json"
    command = ["opt", str(tmp_path / "net.rank0.ark.json"), "--passes", "lower,fold-all-reduce", "-o", str(out)]
    assert main(command) == 0
    assert out.read_text().count("core.all_reduce") == 2
    assert main(["convert", str(out), "-o", str(back)]) == 0
    inputs = {"x": np.linspace(0, 1, 4, dtype=np.float32)}
    expected = 2 * np.exp(inputs["x"])
    for rank in (0, 1):
        result = cir.run(cir.load(tmp_path / "back.rank0.ark.json"), inputs)[f"rank{rank}.y"]
        np.testing.assert_allclose(result.astype(np.float32), expected, rtol=1e-6)


def test_programs_of_ark_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for rank in (0, 1):
        (tmp_path / f"net.rank{rank}.json").write_bytes(text(exchange("v3", rank), "v3"))
    command = ["opt", str(tmp_path / "net.rank0.json"), "-o", str(tmp_path / "out.json"), "--no-check", "--passes"]
    for name in ("fold-all-reduce", "expand-all-reduce"):
        assert main([*command, name]) == 4
        assert f"'{name}' works on programs of the core, and this one has ark.Send" in capsys.readouterr().err


def test_command_folds_checks_and_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, out = tmp_path / "in.mlir", tmp_path / "out.mlir"
    bodies = [[*ring(rank, 3, "%x", "%t"), *ring(rank, 3, "%t", "%y", 3)] for rank in range(3)]
    bodies[2] = [line.replace("core.add %t, %y_r1", "core.add %y_r1, %x") for line in bodies[2]]
    model.write_text(program(bodies))
    command = ["opt", str(model), "--passes", "fold-all-reduce", "-o", str(out)]
    assert main([*command, "--explain"]) == 0
    reported = capsys.readouterr().out
    assert "pass fold-all-reduce: applied 1 time" in reported
    assert "  not to rank0.operations[2] 'y_r1': other ranks do not form the sum that rank 0 forms" in reported
    assert out.read_text().count("core.all_reduce") == 3
    assert main(["opt", str(out), "--passes", "expand-all-reduce", "-o", str(model)]) == 0
    assert "core.all_reduce" not in model.read_text()
    assert main(["opt", str(out), "--passes", "cse", "--explain", "-o", str(model)]) == 2
    assert "or the pass fold-all-reduce" in capsys.readouterr().err


CHANGING = ("lower", "fold-all-reduce", "expand-all-reduce", "compress")
"""Passes that do not leave programs of ARK as they are, or do not take them."""


@pytest.mark.fast_every(4)
@pytest.mark.parametrize("name", [p.name for p in Passes().own() if p.name not in CHANGING])
@pytest.mark.parametrize("generation", ark.GENERATIONS)
def test_other_passes_leave_programs_of_ark_as_they_are(name: str, generation: str, tmp_path: Path) -> None:
    files = [tmp_path / f"net.rank{rank}.json" for rank in (0, 1)]
    for rank, file in enumerate(files):
        file.write_bytes(text(exchange(generation, rank), generation))
    assert main(["opt", str(files[0]), "--passes", name, "-o", str(tmp_path / "out.ark.json")]) == 0
    for rank, file in enumerate(files):
        assert (tmp_path / f"out.rank{rank}.ark.json").read_bytes() == file.read_bytes()


def _ordered(lines: list[str], chance: random.Random) -> list[str]:
    """The messages of a sum with those that are sent first or last, or as they are."""
    sends = [line for line in lines if "core.send" in line]
    others = [line for line in lines if "core.send" not in line]
    return chance.choice([lines, lines, [*sends, *others], [*others, *sends]])


def _random_bodies(chance: random.Random) -> list[list[str]]:
    """Sums in and out of order, with other exchanges between them; some would wait forever if folded carelessly."""
    world = chance.choice([2, 3, 4])
    bodies: list[list[str]] = [[] for _ in range(world)]
    last = ["%x"] * world
    for n in range(chance.randrange(2, 6)):
        tag = n * world if chance.random() < 0.7 else 0
        what = chance.choice(["ring", "ring", "exchange", "late", "mixed"])
        if what == "exchange":
            a, b = chance.sample(range(world), 2)
            bodies[a].append(send(last[a], b, tag))
            bodies[b] += [recv(f"%e{n}", a, tag), *add(f"%v{n}", last[b], f"%e{n}")]
            last[b] = f"%v{n}"
            continue
        lines = [ring(rank, world, last[rank], f"%v{n}", tag) for rank in range(world)]
        if what == "mixed":
            lines = [_ordered(of_rank, chance) for of_rank in lines]
        if what == "late":
            # One rank sends something else between, which another one takes after the sum.
            a, b = chance.sample(range(world), 2)
            lines[a].insert(chance.randrange(len(lines[a]) + 1), send(last[a], b, 1000 + n))
            lines[b].append(recv(f"%e{n}", a, 1000 + n))
        for rank in range(world):
            bodies[rank] += lines[rank]
            last[rank] = f"%v{n}"
    return [[*body, *add("%y", value, value, kind="mul")] for body, value in zip(bodies, last, strict=True)]


def _outcome(module: Module, inputs: list[Array]) -> list[bytes] | str:
    try:
        return [y.tobytes() for y in run(module, inputs)]
    except RuntimeError as error:
        return str(error)


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_do_the_same_afterwards(seed: int) -> None:
    bodies = _random_bodies(random.Random(seed))
    module = _program(program(bodies))
    inputs = _arrays(len(bodies), "4xf32", seed)
    expected = _outcome(module, inputs)
    folded = cir.optimize(module, passes=["fold-all-reduce"])
    assert cir.verify(folded) == []
    assert _outcome(folded, inputs) == expected
    assert _outcome(cir.optimize(folded, passes=["expand-all-reduce"]), inputs) == expected
