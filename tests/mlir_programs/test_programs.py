"""Generated programs: mlir-opt accepts nearly all, and prints them as we do; what is wrong is refused by both.

`python -m tests.mlir_programs --seeds N` does the same for more seeds, and prints a table.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from commonir.formats.mlir.checking import check_piece
from commonir.text.pieces import Piece

from tests.mlir_programs import bodies, comparison, oracle, programs
from tests.mlir_programs.comparison import FORMS, Form

_SEEDS = (1,)
_RARE = (Path(__file__).parent / "rare_forms.mlir").read_text().split("// -----\n")
"""Programs that the generator does not make: right and wrong ones."""


@cache
def _programs(seed: int) -> tuple[str, ...]:
    """The programs of a seed that mlir-opt accepts."""
    result = comparison.generated(seed)
    answers = oracle.ask(result)
    return tuple([s for s, a in zip(result, answers, strict=True) if a.text is not None])


@pytest.mark.slow
@pytest.mark.parametrize("seed", _SEEDS)
def test_nearly_all_programs_are_accepted(seed: int) -> None:
    assert len(_programs(seed)) > 0.97 * len(comparison.generated(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", _SEEDS)
@pytest.mark.parametrize("form", FORMS, ids=[f.name for f in FORMS])
def test_programs_are_printed_as_mlir_opt_prints_them(form: Form, seed: int) -> None:
    result = list(comparison.differences(_programs(seed), form))
    assert not result, f"{len(result)} programs differ; the first:\n{result[0].lines}"


@pytest.mark.slow
@pytest.mark.parametrize("seed", _SEEDS)
def test_what_mlir_opt_prints_is_read_and_printed_equally(seed: int) -> None:
    texts = [a.text for a in oracle.ask(_programs(seed)) if a.text is not None]
    # Some forms of mlir-opt cannot be read, not by itself either: keys of attributes in quotes, for one.
    readable = [t for t, a in zip(texts, oracle.ask(texts), strict=True) if a.text is not None]
    result = list(comparison.read_back(readable))
    assert not result, f"{len(result)} programs differ; the first:\n{result[0].lines}"


@pytest.mark.slow
def test_every_operation_is_reached() -> None:
    reached: set[str] = set()
    for answer in oracle.ask(comparison.reaching(), oracle.GENERIC):
        reached |= programs.reached_in(answer.text or "")
    assert sorted(programs.KNOWN - reached) == []


@pytest.mark.slow
def test_verdicts_on_random_types_and_attributes_equal_those_of_mlir_opt() -> None:
    verdicts = list(comparison.verdicts(list(comparison.candidates(1, 2))))
    wrong = [v for v in verdicts if not v.agree and not comparison.is_known(v)]
    assert not wrong, f"{len(wrong)} of {len(verdicts)}; the first: {wrong[0]}"


@pytest.mark.slow
def test_both_say_the_same_of_programs_made_wrong() -> None:
    verdicts = list(comparison.verdicts(list(comparison.mutated(1, 6))))
    wrong = [v for v in verdicts if not v.agree and not comparison.is_known(v)]
    assert not wrong, f"{len(wrong)} of {len(verdicts)}; the first: {wrong[0]}"


@pytest.mark.slow
def test_both_say_the_same_of_changed_bodies() -> None:
    verdicts = list(comparison.verdicts(list(bodies.changed(1, 5))))
    wrong = [v for v in verdicts if not v.agree]
    assert not wrong, f"{len(wrong)} of {len(verdicts)}; the first: {wrong[0]}"


@pytest.mark.slow
def test_both_say_the_same_of_rare_forms() -> None:
    wrong = [v for v in comparison.verdicts([("", source) for source in _RARE]) if not v.agree]
    assert not wrong, f"{len(wrong)} of {len(_RARE)}; the first: {wrong[0]}"


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS, ids=[f.name for f in FORMS])
def test_rare_forms_are_printed_as_mlir_opt_prints_them(form: Form) -> None:
    good = [s for s, a in zip(_RARE, oracle.ask(_RARE), strict=True) if a.text is not None]
    assert len(good) > 0.4 * len(_RARE)
    result = list(comparison.differences(good, form))
    assert not result, f"{len(result)} programs differ; the first:\n{result[0].lines}"


def test_faults_that_mlir_opt_places_at_an_operation_are_placed_there() -> None:
    wrong = {
        '%0 = "arith.constant"() : () -> i32': (1, 6),
        '"func.func"() <{function_type = () -> ()}> ({ "func.return"() : () -> () }) : () -> ()': (1, 1),
        "func.func private @a()\nfunc.func private @b()\n  func.func private @a()": (3, 3),
    }
    for source, place in wrong.items():
        _, diagnostics = check_piece(Piece(source, 0), "<stdin>", oracle.DIALECTS)
        column = diagnostics[0].notes[-1].index("^") - diagnostics[0].notes[-1].index("|") - 1
        assert (diagnostics[0].line, column) == place
        assert oracle.first_place(source) == place


_WRONG_TEXTS = (
    "func.func @f(%a: i32, f32: f32) { return }",
    "func.func @f(%a: i32, %b: f32) -> (i32, ) { return }",
    "func.func private private @f()",
    "func.func @f(%a: indexed, %b: f32) { return }",
    "func.func @f(%a: tensor<? ?xf32>) { return }",
    "func.func @f(%a: tensor<4xf32 1>) { return }",
    "func.func @f(%a: i32) {\n  %0 = arith.addi %a, %a i32\n  return\n}",
    "func.func @f(%a: i32) {\n  %0 = arith.addi ,, %a : i32\n  return\n}",
    "func.func @f(%a: i32) {\n  // a comment\n\n  )\n  return\n}",
    "func.func @f(%a: i32) {\n  return %a, %a : i32\n}",
    "func.func @f(%a: i32) {\n  %0:2 = arith.addi %a, %a : i32\n  return\n}",
    "func.func @f(%a: i32) {\n  return loc(x)\n}",
    "func.func @f(%a: i32) {\n  return",
    "func.func @f(%a: i32) {\n  scf.execute_region { %1 = arith.addi %a, %a : i32 }\n  return\n}",
    "func.func @f(%a: i1) {\n  cf.cond_br %a, ^bb1, ^bb2\n^bb1:\n  %0 = arith.addi %a, %a : i1\n^bb2:\n  return\n}",
    'func.func @f() {\n  %0 = "x.é"() {a = "é", b = } : () -> i32\n  return\n}',
    "#map = affine_map(d0) -> (d0)>",
    "func.func private @f(!tosa.shape<a>)",
    "func.func private @f(!x.y<(>)",
)


@pytest.mark.parametrize("source", _WRONG_TEXTS)
def test_faults_of_texts_stand_where_mlir_opt_places_them(source: str) -> None:
    _, diagnostics = check_piece(Piece(source, 0), "<stdin>", oracle.DIALECTS)
    diagnostics = [d for d in diagnostics if "unknown operation" not in d.message]
    assert (diagnostics[0].line, diagnostics[0].column) == oracle.first_place(source)


def test_a_long_line_is_shown_around_the_fault() -> None:
    source = f"func.func private @f({'i32, ' * 100}i33 i34{', i32' * 100})"
    _, diagnostics = check_piece(Piece(source, 0), "<stdin>", oracle.DIALECTS)
    line, mark = diagnostics[0].notes
    assert line == f"1 | ...{source[444:604]}..."
    assert line[mark.index("^") - 1 :].startswith("3 i34")
