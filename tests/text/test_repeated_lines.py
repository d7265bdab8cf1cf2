"""What is read without the parser is what the parser reads: the same program, the same findings."""

from __future__ import annotations

import random
import re

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.base.limits import DEFAULT_LIMITS
from commonir.ods import Dialects
from commonir.ods.verify import verify
from commonir.text.parser import Parser, parse_module
from commonir.text.printer import Naming, print_module
from commonir.text.repeated_lines import RepeatedLines

from benchmarks.mlir_programs import program
from tests.mlir_programs.programs import makers, module

DIALECTS = Dialects()
_NAME = re.compile(r"%[\w.$-]+")


def _outcome(source: str) -> tuple[str, str, list[str]]:
    """The program with the places of its operations, the names its values have, and the findings."""
    try:
        made = parse_module(source, DIALECTS, file="x.mlir")
    except DiagnosticError as error:
        return "", "", [str(d) for d in error.diagnostics]
    located = print_module(made, elide=None, naming=Naming.MLIR, locations=True)
    return located, print_module(made, elide=None, generic=True), [str(d) for d in verify(made, DIALECTS)]


def _outcomes(source: str, monkeypatch: pytest.MonkeyPatch) -> tuple[object, object]:
    fast = _outcome(source)
    with monkeypatch.context() as patch:
        patch.setattr(RepeatedLines, "read", lambda _self, offset, *_: (offset, 0))
        patch.setattr(Parser, "_begin_rows", lambda _self, _block: None)
        return fast, _outcome(source)


def _short(seed: int, *, generic: bool) -> list[str]:
    """The lines of one function, short enough to be disturbed often."""
    lines = list(program(1000, generic=generic, seed=seed))
    return [*lines[:300], *lines[-3:]]


def _disturbed(lines: list[str], rng: random.Random) -> str:
    """The lines with some faults and oddities: other names, blanks, comments, lines twice or not at all."""
    out = list(lines)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(3, len(out) - 3)
        line = out[at]
        names = _NAME.findall(line) or ["%0"]
        other = rng.choice(("%nothing", "%arg0", "%arg4", "%7", "%290", "%x.y", "%3#0", "%4#1"))
        out[at] = rng.choice(
            (
                line.replace(rng.choice(names), other, 1),
                f"{line} // {other}",
                line.replace(" ", "  ", 3),
                line.replace(", ", " /", 1),
                f"{line}\n{line}",
                "",
                f"{line} {line.replace(names[0], other, 1)}",
                line.replace(names[0], f"{names[0]}:1", 1),
                f'%s{at} = "x.y"({other}) {{a = "{names[0]} %"}} : (f32) -> f32',
            )
        )
    return "\n".join(out)


@pytest.mark.parametrize("generic", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_faults_and_oddities_are_read_as_the_parser_reads_them(
    seed: int, generic: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast, full = _outcomes(_disturbed(_short(seed, generic=generic), random.Random(seed)), monkeypatch)
    assert fast == full


@pytest.mark.parametrize("generic", [False, True])
def test_program_is_read_as_the_parser_reads_it(generic: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    fast, full = _outcomes("\n".join(program(2000, generic=generic, seed=5)), monkeypatch)
    assert fast == full


def test_line_of_a_wording_that_was_met_does_not_reach_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"%{n + 1} = arith.addf %{n}, %{n - 1} : f32" for n in range(1, 50)]
    source = "\n".join(["func.func @f(%0: f32, %1: f32) {", *lines, "return", "}"])
    counts: list[int] = []
    read = RepeatedLines.read_rows

    def counted(self: RepeatedLines, *args: object) -> tuple[int, int]:
        found = read(self, *args)  # pyright: ignore[reportArgumentType]  as they were given
        counts.append(found[1])
        return found

    monkeypatch.setattr(RepeatedLines, "read_rows", counted)
    parse_module(source, DIALECTS)
    assert sum(counts) == 48


@pytest.mark.parametrize(
    "lines",
    [
        ('%a = "x.y"() {s = "%b"} : () -> f32', '%b = "x.y"() {s = "%c"} : () -> f32'),
        ('%a = "x.y"(%0, %0) : (f32, f32) -> f32', '%b = "x.y"(%a, %0) : (f32, f32) -> f32'),
        ("%a = arith.subf %0, %0 : f32", "%b = arith.subf %a, %0 : f32", "%c = arith.subf %0, %a : f32"),
        ('%a:2 = "x.y"() : () -> (f32, f32)', '%b:2 = "x.y"() : () -> (f32, f32)'),
        ('%a, %b = "x.y"() : () -> (f32, f32)', '%c, %d = "x.y"() : () -> (f32, f32)'),
        ('"x.y"(%0) : (f32) -> () loc("a")', '"x.y"(%0) : (f32) -> () loc("a")'),
        ('%a = "x.y"(%z) : (f32) -> f32', '%b = "x.y"(%z) : (f32) -> f32', '%z = "x.y"(%b) : (f32) -> f32'),
        ('%a = "x.y"(%0) : (f32) -> f32 // %1', '%b = "x.y"(%a) : (f32) -> f32 // %1'),
        ('%a = "x.y"(%0)', ": (f32) -> f32", '%b = "x.y"(%0)', ": (i32) -> f32"),
        ('"x.y"(%0) {d = distinct[0]<1>} : (f32) -> ()', '"x.y"(%1) {d = distinct[0]<1>} : (f32) -> ()'),
    ],
)
def test_lines_that_look_alike_are_read_as_the_parser_reads_them(
    lines: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "\n".join(['"t.graph"() ({', "^bb0(%0: f32, %1: f32):", *lines, "}) : () -> ()"])
    fast, full = _outcomes(source, monkeypatch)
    assert fast == full


def test_operation_that_stands_after_another_in_its_line_is_not_what_the_line_means(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    part = '"builtin.module"() ({ %0 = "arith.constant"() <{value = 1 : i32}> : () -> i32\n}) : () -> ()'
    fast, full = _outcomes("\n".join(['"builtin.module"() ({', *[part] * 3, "}) : () -> ()"]), monkeypatch)
    assert fast == full


def test_alias_that_is_defined_anew_changes_what_a_line_means(monkeypatch: pytest.MonkeyPatch) -> None:
    line = '  "x.y"() {v = #a} : () -> ()'
    holder = '"t.m"() ({\n%s\n}) : () -> ()'
    source = f"#a = 1\n{holder % line}\n#a = 2\n{holder % line}"
    fast, full = _outcomes(source, monkeypatch)
    assert fast == full


def test_lines_count_towards_the_limit_of_operations() -> None:
    lines = [f'%{n} = "x.y"() : () -> f32' for n in range(100)]
    source = "\n".join(['"t.m"() ({', *lines, "}) : () -> ()"])
    with pytest.raises(DiagnosticError, match="more than 50 operations"):
        parse_module(source, DIALECTS, limits=DEFAULT_LIMITS._replace(max_operations=50))


@pytest.mark.parametrize("seed", range(20))
def test_generated_programs_are_read_as_the_parser_reads_them(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    source = module(rng, makers(), count=30)
    # Each twice, so that lines recur.
    fast, full = _outcomes(f"module {{\n{source}\n}}\nmodule {{\n{source}\n}}", monkeypatch)
    assert fast == full
