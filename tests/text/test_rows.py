"""Blocks of which nobody asks for an operation hold rows; whoever asks finds what the parser alone would have made."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.inspection.summary import summarize
from commonir.ir.cloning import clone
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation
from commonir.ods import Dialects
from commonir.ods.verify import verify
from commonir.text.parser import Parser, parse_module
from commonir.text.printer import Naming, print_module

from benchmarks.mlir_programs import program
from tests.mlir_programs import oracle

DIALECTS = Dialects()
_NAME = re.compile(r"%[\w.$-]+")


def _parsed(source: str, monkeypatch: pytest.MonkeyPatch, *, rows: bool = True) -> Module:
    with monkeypatch.context() as patch:
        if not rows:
            patch.setattr(Parser, "_begin_rows", lambda _self, _block: None)
        return parse_module(source, DIALECTS, file="x.mlir")


def _blocks(module: Module) -> list[Block]:
    return [f.body for f in module.functions.values()]


def _outcome(source: str, monkeypatch: pytest.MonkeyPatch, *, rows: bool) -> object:
    """What is told of a program: as it is, and with its operations in sight."""
    try:
        module = _parsed(source, monkeypatch, rows=rows)
    except DiagnosticError as error:
        return [str(d) for d in error.diagnostics]
    found = [str(d) for d in verify(module, DIALECTS)]
    shown = [print_module(module, generic=g, elide=None, naming=n) for g in (True, False) for n in Naming]
    located = print_module(module, elide=None, naming=Naming.MLIR, locations=True)
    users = [[u.index_in_block for u in v.users] for op in module.nested() for v in op.results]
    users += [[u.index_in_block for u in a.users] for block in _blocks(module) for a in block.arguments]
    return found, shown, located, users, [v.name for op in module.nested() for v in op.results]


def _both(source: str, monkeypatch: pytest.MonkeyPatch) -> tuple[object, object]:
    return _outcome(source, monkeypatch, rows=True), _outcome(source, monkeypatch, rows=False)


@pytest.mark.parametrize("generic", [False, True])
def test_straight_program_is_verified_and_printed_without_its_operations(
    generic: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = _parsed("\n".join(program(3000, generic=generic)), monkeypatch)
    assert not verify(module, DIALECTS)
    shown = print_module(module, generic=generic, elide=None, naming=Naming.MLIR)
    assert all(block.rows is not None for block in _blocks(module))
    full = _parsed("\n".join(program(3000, generic=generic)), monkeypatch, rows=False)
    assert shown == print_module(full, generic=generic, elide=None, naming=Naming.MLIR)
    assert all(block.rows is None for block in _blocks(full))


_TOUCHES: dict[str, Callable[[Block], object]] = {
    "operations": lambda block: next(iter(block.operations)),
    "first": lambda block: block.first,
    "last": lambda block: block.last,
    "users": lambda block: block.arguments[0].users,
    "is_used": lambda block: block.arguments[0].is_used,
    "replace_all_uses_with": lambda block: block.arguments[0].replace_all_uses_with(block.arguments[0]),
    "append": lambda block: block.append(_parsed_op()),
    "walk": lambda block: list(block.parent.parent.walk()) if block.parent and block.parent.parent else None,
}


def _parsed_op() -> Operation:
    op = next(iter(parse_module('"x.y"() : () -> ()', DIALECTS).body.operations))
    op.detach()
    return op


@pytest.mark.parametrize("touch", _TOUCHES)
def test_whoever_touches_an_operation_finds_all_of_them(touch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "\n".join(program(1000, generic=True))
    (block,), (full,) = (_blocks(_parsed(source, monkeypatch, rows=rows)) for rows in (True, False))
    assert len(block) == len(full) == 1000
    assert block.rows is not None
    _TOUCHES[touch](block)
    _TOUCHES[touch](full)
    assert block.rows is None
    assert len(block) == len(full)
    assert [op.name for op in block.operations] == [op.name for op in full.operations]
    assert all(op.parent is block for op in block.operations)
    for ours, theirs in zip(block.arguments, full.arguments, strict=True):
        assert [op.index_in_block for op in ours.users] == [op.index_in_block for op in theirs.users]
        assert ours.use_count == theirs.use_count


def test_copy_of_rows_is_rows_whose_operations_are_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "\n".join(program(3000, generic=True))
    module = _parsed(source, monkeypatch)
    copy = clone(module)
    assert all(block.rows is not None for block in [*_blocks(module), *_blocks(copy)])
    for block in _blocks(copy):
        for op in list(block.operations)[:-1]:
            op.operands = ()
    assert all(block.rows is not None for block in _blocks(module))
    full = _parsed(source, monkeypatch, rows=False)
    assert print_module(module, elide=None, naming=Naming.MLIR) == print_module(full, elide=None, naming=Naming.MLIR)


def test_threads_that_ask_at_once_find_the_same_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(5):
        (block,) = _blocks(_parsed("\n".join(program(1000, generic=True)), monkeypatch))
        asked: list[Callable[[], list[Operation]]] = [
            lambda b=block: list(b.operations),
            lambda b=block: [op for op in b.operations if op in {u for a in b.arguments for u in a.users}],
            lambda b=block: sorted({u for a in b.arguments for u in a.users}, key=lambda op: op.index_in_block),
        ]
        with ThreadPoolExecutor(6) as pool:
            all_, using, users, *again = [f.result() for f in [pool.submit(ask) for ask in asked * 2]]
        assert len(all_) == 1000
        assert [all_, using, users] == again
        assert using == users


def _disturbed(lines: list[str], rng: random.Random) -> str:
    """The function twice, the second time with faults and oddities."""
    out = list(lines[1:-1])
    for _ in range(rng.randrange(1, 3)):
        at = rng.randrange(2, len(out) - 2)
        line = out[at]
        names = _NAME.findall(line) or ["%0"]
        other = rng.choice(("%nothing", "%arg0", "%arg4", "%7", "%90", "%x.y", "%3#0", "%4#1", "%07", names[-1]))
        out[at] = rng.choice(
            (
                line.replace(rng.choice(names), other, 1),
                f"{line} // {other}",
                line.replace(", ", " /", 1),
                f"{line}\n{line}",
                "",
                "// nothing",
                line.replace(names[0], f"{names[0]}:1", 1),
                line.replace(names[0], "%named", 1),
                f'%s{at} = "x.y"({other}) {{a = "{names[0]} %"}} : (f32) -> f32',
                f'"x.y"() ({{ "x.z"({other}) : (f32) -> () }}) : () -> ()\n{line}',
                f'{line} loc("here")',
                f"^bb1:\n{line}",
                f"{line}\nfunc.return",
                line.strip(),
                "\n".join(line.split(" ", 5)),
            )
        )
    second = "\n".join(out).replace("f0", "f1", 1)
    return "\n".join([*lines[:-1], second, lines[-1]])


@pytest.mark.parametrize("generic", [False, True])
@pytest.mark.parametrize("seed", range(60))
def test_what_is_told_of_a_program_is_what_is_told_without_rows(
    seed: int, generic: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = list(program(1000, generic=generic, seed=seed % 7))
    rows, full = _both(_disturbed([*lines[:100], *lines[-3:]], random.Random(seed)), monkeypatch)
    assert rows == full


def test_names_of_values_outlast_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"%a{n + 1} = arith.addf %a{n}, %a{n} : f32" for n in range(50)]
    module = _parsed("\n".join(["func.func @f(%a0: f32) -> f32 {", *lines, "return %a50 : f32", "}"]), monkeypatch)
    (block,) = _blocks(module)
    assert block.rows is not None
    assert [op.result.name for op in block.operations if op.results] == [f"a{n + 1}" for n in range(50)]


@pytest.mark.parametrize("generic", [False, True])
def test_summary_is_told_without_operations(generic: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"%r{n} = arith.addf %r{n - 1}, %arg0 : f32" for n in range(1, 50)]
    body = "\n".join(
        ["(%r0: f32, %m: tensor<2xf16>) {", *lines, "return %r49, %m, %r48 : f32, tensor<2xf16>, f32", "}"]
    )
    named = "func.func @named" + body.replace(") {", ") -> (f32, tensor<2xf16>, f32) {", 1).replace("%arg0", "%r0")
    source = "\n".join([*list(program(2000, generic=False))[:-1], named, "}"])
    if generic:
        source = print_module(parse_module(source, DIALECTS), generic=True, elide=None, naming=Naming.OWN)
    rows, full = _parsed(source, monkeypatch), _parsed(source, monkeypatch, rows=False)
    told = summarize(rows, None)
    assert all(block.rows is not None for block in _blocks(rows))
    assert told == summarize(full, None)
    assert [port.name for port in told.functions[-1].outputs] == ["r49", "m", "r48"]


def test_operations_of_rows_do_not_change_with_the_one_that_was_read_first(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"%{n + 1} = arith.addf %{n}, %{n} fastmath<fast> : f32" for n in range(50)]
    body = "\n".join(["(%0: f32) -> f32 {", *lines, "return %50 : f32", "}"])
    module = _parsed(f"func.func @f{body}\nfunc.func @g{body}", monkeypatch)
    first, second = _blocks(module)
    for op in list(first.operations):
        op.set_extra("x.y", None)
        op.operands = first.arguments * len(op.operands)
    assert [len(op.operands) for op in second.operations] == [2] * 50 + [1]
    assert [u.index_in_block for u in second.arguments[0].users] == [0]


@pytest.mark.parametrize(
    ("ending", "message"),
    [
        ("return %3 : f32\nreturn %2 : f32", "a terminator must be the last operation of its block"),
        ("return", "has 0 operands, but enclosing function (@f) returns 1"),
        ("%x = arith.addf %3, %3 : f32", "block with no terminator, has arith.addf"),
    ],
)
def test_wrong_ending_is_found(ending: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"%{n + 1} = arith.addf %{n}, %{n} : f32" for n in range(30)]
    source = "\n".join(["func.func @f(%0: f32) -> f32 {", *lines, ending, "}"])
    (found,) = verify(_parsed(source, monkeypatch), DIALECTS)
    assert message in str(found)


@pytest.mark.parametrize("generic", [False, True])
def test_operations_that_are_alike_are_printed_with_their_own_locations(generic: bool) -> None:
    source = "\n".join([*program(1000, generic=generic), ""])
    (answer,) = oracle.ask([source], oracle.LOCATIONS, *([oracle.GENERIC] if generic else []))
    assert oracle.ours(source, generic=generic, locations=True) == answer.text
